/* SPDX-License-Identifier: Apache-2.0
 * Pointers, loads and stores: where tensors lie, address arithmetic with immediate offsets, access widths.
 * Index arithmetic of 32-bit signed type is taken not to overflow, as in C. */
#include "assemble/ptx_build_internal.h"
#include "num/num.h"
#include <string.h>

ptx_space ptx_build_space(ir_scope scope) {
    switch (scope) {
    case IR_SCOPE_SHARED:
    case IR_SCOPE_SHARED_DYN:
        return PTX_SPACE_SHARED;
    case IR_SCOPE_LOCAL:
        return PTX_SPACE_LOCAL;
    case IR_SCOPE_TMEM:
        return PTX_SPACE_TENSOR;
    case IR_SCOPE_GLOBAL:
        break;
    }
    return PTX_SPACE_GLOBAL;
}

ptx_mod ptx_build_space_mod(ptx_space space) {
    return space == PTX_SPACE_SHARED  ? PTX_MOD_SHARED
           : space == PTX_SPACE_LOCAL ? PTX_MOD_LOCAL
           : space == PTX_SPACE_PARAM ? PTX_MOD_PARAM
                                      : PTX_MOD_GLOBAL;
}

static ptx_build_class class_of_space(ptx_space space) {
    return space == PTX_SPACE_GLOBAL ? PTX_CLASS_R64 : PTX_CLASS_R32;
}

/* ---- storage ---- */

/* As the CUDA writer and the plan count it: up to the highest address that the layout maps. */
static uint64_t allocation_bytes(ptx_builder *b, const ir_tensor *tensor) {
    uint64_t bytes = lower_tensor_bytes(tensor);
    if (bytes > INT32_MAX) {
        ptx_build_error(b, "T0654", "storage of %s is larger than 2 GiB", tensor->name);
        return 0;
    }
    return bytes;
}

/* Names of PTX variables: the tensor's, made unique in the kernel. */
static const char *symbol(ptx_builder *b, const char *name) {
    for (size_t i = 0; i < b->function->variables.count; i++)
        if (!strcmp(b->function->variables.items[i]->name, name))
            return base_arena_format(b->arena, "%s_%u", name, (unsigned)++b->symbols);
    return name;
}

static ptx_variable *storage(ptx_builder *b, const ir_tensor *tensor, ptx_space space) {
    ptx_variable *variable = BASE_NEW(b->arena, ptx_variable);
    variable->name = symbol(b, tensor->name);
    variable->space = space;
    variable->type = PTX_TYPE_B8;
    variable->align = tensor->type.align ? tensor->type.align : 16;
    variable->vector = 1;
    variable->is_array = true;
    variable->bytes = allocation_bytes(b, tensor);
    variable->elements = (int64_t)variable->bytes;
    variable->span = tensor->span;
    return variable;
}

/* The arena of dynamic shared memory: of unknown size, one symbol for all kernels that name it alike. */
static ptx_variable *dynamic_storage(ptx_builder *b, const ir_tensor *tensor) {
    const char *name = tensor->name;
    uint32_t align = tensor->type.align ? tensor->type.align : 16;
    for (size_t i = 0; i < b->module->variables.count; i++) {
        ptx_variable *known = b->module->variables.items[i];
        if (strcmp(known->name, name))
            continue;
        if (known->linkage == PTX_LINK_EXTERN) {
            known->align = known->align > align ? known->align : align;
            return known;
        }
    }
    ptx_variable *variable = BASE_NEW(b->arena, ptx_variable);
    variable->name = name;
    variable->space = PTX_SPACE_SHARED;
    variable->type = PTX_TYPE_B8;
    variable->linkage = PTX_LINK_EXTERN;
    variable->align = align;
    variable->vector = 1;
    variable->is_array = true;
    variable->span = tensor->span;
    base_vector_push(b->arena, &b->module->variables, variable);
    return variable;
}

static const ptx_build_address *tensor_address(ptx_builder *b, const ir_tensor *tensor) {
    ptx_build_address *known = base_map_get(b->tensors, (uint64_t)tensor->id + 1);
    if (known)
        return known;
    known = BASE_NEW(b->arena, ptx_build_address);
    known->space = ptx_build_space(tensor->type.scope);
    base_map_set(b->tensors, (uint64_t)tensor->id + 1, known);
    if (tensor->type.scope == IR_SCOPE_TMEM || tensor->type.scope == IR_SCOPE_GLOBAL) {
        ptx_build_error(b, "T0655", "%s: storage in %s memory has no PTX form yet", tensor->name,
                        ir_scope_name(tensor->type.scope));
        known->base = ptx_build_int(0);
        return known;
    }
    ptx_variable *variable;
    if (tensor->type.scope == IR_SCOPE_SHARED_DYN) {
        variable = dynamic_storage(b, tensor);
    } else {
        variable = storage(b, tensor, known->space);
        variable->owner = b->function;
        base_vector_push(b->arena, &b->function->variables, variable);
    }
    known->base = ptx_build_variable(variable, 0);
    return known;
}

/* ---- pointers ---- */

ptx_operand ptx_build_pointer_value(ptx_builder *b, ptx_build_address address) {
    ptx_build_class class = class_of_space(address.space);
    if (address.base.kind == PTX_OPERAND_VARIABLE)
        return ptx_build_constant(b, class, ptx_build_variable(address.base.of.variable, address.offset));
    if (address.offset == 0)
        return ptx_build_in_register(b, class, address.base);
    if (ptx_build_is_immediate(address.base))
        return ptx_build_constant(b, class, ptx_build_int((int64_t)address.base.bits + address.offset));
    return ptx_build_compute(b, class, PTX_OP_ADD,
                             PTX_MODS(class == PTX_CLASS_R64 ? PTX_MOD_S64 : PTX_MOD_S32),
                             PTX_ARGS(address.base, ptx_build_int(address.offset)));
}

ptx_operand ptx_build_pointer(ptx_builder *b, const ir_expr *pointer) {
    const ptx_operand *want = b->want;
    b->want = NULL;
    ptx_build_address address = ptx_build_address_of(b, pointer);
    b->want = want;
    return ptx_build_pointer_value(b, address);
}

ptx_operand ptx_build_generic(ptx_builder *b, ptx_build_address address) {
    ptx_mod space = ptx_build_space_mod(address.space);
    ptx_operand base = address.base;
    if (base.kind == PTX_OPERAND_VARIABLE)
        base = ptx_build_constant(b, PTX_CLASS_R64, ptx_build_variable(base.of.variable, 0));
    else if (address.space != PTX_SPACE_GLOBAL)
        base = ptx_build_compute(b, PTX_CLASS_R64, PTX_OP_CVT, PTX_MODS(PTX_MOD_U64, PTX_MOD_U32),
                                 PTX_ARGS(base));
    ptx_operand generic =
        ptx_build_compute(b, PTX_CLASS_R64, PTX_OP_CVTA, PTX_MODS(space, PTX_MOD_U64), PTX_ARGS(base));
    if (address.offset == 0)
        return generic;
    return ptx_build_compute(b, PTX_CLASS_R64, PTX_OP_ADD, PTX_MODS(PTX_MOD_S64),
                             PTX_ARGS(generic, ptx_build_int(address.offset)));
}

ptx_operand ptx_build_pointer_bits(ptx_builder *b, const ir_expr *e) {
    ptx_build_address address = ptx_build_address_of(b, e->args[0]);
    if (num_dtype_bits(e->type.dtype) == 32 && address.space != PTX_SPACE_GLOBAL)
        return ptx_build_pointer_value(b, address);
    ptx_operand bits = ptx_build_generic(b, address);
    if (num_dtype_bits(e->type.dtype) == 64)
        return bits;
    return ptx_build_cast(b, ir_type_scalar(e->type), ir_type_prim(NUM_DTYPE_U64, 1), bits);
}

/* A pointer made of an integer: 64 bits are a generic address, 32 bits one of the space. */
static ptx_operand pointer_of_bits(ptx_builder *b, ptx_space space, const ir_expr *bits) {
    ptx_operand value = ptx_build_in_register(b, ptx_build_class_of(bits->type), ptx_build_scalar(b, bits));
    bool wide = ptx_build_class_of(bits->type) == PTX_CLASS_R64;
    if (!wide && space != PTX_SPACE_GLOBAL)
        return value;
    if (!wide)
        value = ptx_build_compute(b, PTX_CLASS_R64, PTX_OP_CVT, PTX_MODS(PTX_MOD_U64, PTX_MOD_U32),
                                  PTX_ARGS(value));
    value = ptx_build_compute(b, PTX_CLASS_R64, PTX_OP_CVTA,
                              PTX_MODS(PTX_MOD_TO, ptx_build_space_mod(space), PTX_MOD_U64), PTX_ARGS(value));
    if (space == PTX_SPACE_GLOBAL)
        return value;
    return ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_CVT, PTX_MODS(PTX_MOD_U32, PTX_MOD_U64),
                             PTX_ARGS(value));
}

static ptx_build_address reinterpreted(ptx_builder *b, const ir_expr *pointer) {
    const ir_expr *from = pointer->args[0];
    ptx_space space = ptx_build_space(pointer->type.scope);
    if (from->type.kind == IR_TYPE_POINTER) {
        ptx_build_address address = ptx_build_address_of(b, from);
        if (address.space != space)
            ptx_build_error(b, "T0655", "a pointer to %s memory cannot become one to %s memory",
                            ir_scope_name(from->type.scope), ir_scope_name(pointer->type.scope));
        return address;
    }
    return (ptx_build_address){space, pointer_of_bits(b, space, from), 0};
}

/* rest + constant, as far as the sum is signed (unsigned ones may wrap on purpose) or the space has 32 bits.
 */
static bool split_index(const ir_expr *index, const ir_expr **rest, int64_t *constant) {
    *rest = index, *constant = 0;
    if (ir_is_int(index, constant)) {
        *rest = NULL;
        return true;
    }
    if ((index->op != IR_ADD && index->op != IR_SUB) || index->type.kind != IR_TYPE_PRIM ||
        num_dtype_class(index->type.dtype) != NUM_SIGNED)
        return false;
    if (!ir_is_int(index->args[1], constant)) {
        *constant = 0;
        return false;
    }
    *rest = index->args[0];
    if (index->op == IR_SUB)
        *constant = -*constant;
    return true;
}

/* index * size in 64 bits, once for all pointers that have this index. */
static ptx_operand wide_product(ptx_builder *b, const ir_expr *index, ptx_operand value, int64_t size) {
    const ir_expr *factors[2] = {ir_make(b->ir, IR_CAST, ir_type_prim(NUM_DTYPE_I64, 1), &index, 1),
                                 ir_int(b->ir, NUM_DTYPE_I64, size)};
    const ir_expr *key = ir_make(b->ir, IR_MUL, factors[0]->type, factors, 2);
    unsigned traits = ptx_build_traits(index);
    ptx_build_memo *memo = traits & PTX_TRAIT_READS ? &b->fleeting : &b->pure;
    bool remember = !(traits & PTX_TRAIT_EFFECT) && (b->keep_fleeting || memo == &b->pure);
    const ptx_operand *known = remember ? ptx_build_recall(memo, key->id) : NULL;
    if (known)
        return *known;
    bool is_signed = num_dtype_class(index->type.dtype) == NUM_SIGNED;
    ptx_operand product = ptx_build_compute(b, PTX_CLASS_R64, PTX_OP_MUL,
                                            PTX_MODS(PTX_MOD_WIDE, is_signed ? PTX_MOD_S32 : PTX_MOD_U32),
                                            PTX_ARGS(value, ptx_build_int(size)));
    if (remember)
        ptx_build_remember(b, memo, key->id, base_arena_copy(b->arena, &product, sizeof(product)));
    return product;
}

/* base + index * size. */
static ptx_operand scaled_sum(ptx_builder *b, ptx_space space, ptx_operand base, const ir_expr *index,
                              int64_t size, const ptx_operand *want) {
    int64_t factor;
    bool known = ptx_build_recall(&b->pure, index->id) || ptx_build_recall(&b->fleeting, index->id);
    bool scales = index->op == IR_MUL && ir_is_int(index->args[1], &factor) && factor > 0 &&
                  factor <= INT32_MAX / size && num_dtype_class(index->type.dtype) == NUM_SIGNED;
    if (scales && !known && ptx_build_use_count(b, index) <= 1) {
        size *= factor;
        index = index->args[0];
    }
    bool wide_index = ptx_build_class_of(index->type) == PTX_CLASS_R64;
    ptx_operand value = ptx_build_in_register(b, ptx_build_class_of(index->type), ptx_build_scalar(b, index));
    if (space != PTX_SPACE_GLOBAL) {
        if (wide_index)
            value = ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_CVT, PTX_MODS(PTX_MOD_U32, PTX_MOD_U64),
                                      PTX_ARGS(value));
        base = ptx_build_in_register(b, PTX_CLASS_R32, base);
        b->want = want;
        if (size == 1)
            return ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_ADD, PTX_MODS(PTX_MOD_S32),
                                     PTX_ARGS(base, value));
        return ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_MAD, PTX_MODS(PTX_MOD_LO, PTX_MOD_S32),
                                 PTX_ARGS(value, ptx_build_int(size), base));
    }
    base = ptx_build_in_register(b, PTX_CLASS_R64, base);
    if (!wide_index) /* ptxas takes a product and a sum faster than mad.wide, which it splits */
        value = wide_product(b, index, value, size);
    b->want = want;
    if (!wide_index || size == 1)
        return ptx_build_compute(b, PTX_CLASS_R64, PTX_OP_ADD, PTX_MODS(PTX_MOD_S64), PTX_ARGS(base, value));
    return ptx_build_compute(b, PTX_CLASS_R64, PTX_OP_MAD, PTX_MODS(PTX_MOD_LO, PTX_MOD_S64),
                             PTX_ARGS(value, ptx_build_int(size), base));
}

static ptx_build_address indexed(ptx_builder *b, const ir_expr *base, const ir_expr *index, int64_t size) {
    const ptx_operand *want = b->want;
    const ir_expr *rest;
    int64_t constant, bytes;
    split_index(index, &rest, &constant);
    b->want = !rest && constant == 0 ? want : NULL;
    ptx_build_address address = ptx_build_address_of(b, base);
    b->want = NULL;
    if (__builtin_mul_overflow(constant, size, &bytes) ||
        __builtin_add_overflow(address.offset, bytes, &address.offset)) {
        ptx_build_error(b, "T0654", "the offset of an access is outside 64 bits");
        return address;
    }
    if (!rest)
        return address;
    /* The sum without its constant part is what accesses share, so that is what is remembered. */
    const ir_expr *key = ir_pointer_address(b->ir, ir_type_pointer(NUM_DTYPE_U8, 1, base->type.scope), base,
                                            ir_make(b->ir, IR_BROADCAST, rest->type, &rest, 1), NULL);
    key =
        size == 1 ? key : ir_pointer_address(b->ir, key->type, key, ir_int(b->ir, NUM_DTYPE_I64, size), NULL);
    unsigned traits = ptx_build_traits(rest) | ptx_build_traits(base);
    ptx_build_memo *memo = traits & PTX_TRAIT_READS ? &b->fleeting : &b->pure;
    bool remember = !(traits & PTX_TRAIT_EFFECT) && (b->keep_fleeting || memo == &b->pure);
    const ptx_operand *known = remember ? ptx_build_recall(memo, key->id) : NULL;
    if (known) {
        address.base = *known;
        return address;
    }
    address.base = scaled_sum(b, address.space, address.base, rest, size, address.offset ? NULL : want);
    if (remember && !ptx_build_is_mutable(b, address.base))
        ptx_build_remember(b, memo, key->id, base_arena_copy(b->arena, &address.base, sizeof(address.base)));
    return address;
}

static unsigned element_bytes(ir_type type) {
    return type.kind == IR_TYPE_PRIM || (type.kind == IR_TYPE_POINTER && type.dtype != NUM_DTYPE_NONE)
               ? num_dtype_bytes(type.dtype)
               : 1;
}

ptx_build_address ptx_build_address_of(ptx_builder *b, const ir_expr *pointer) {
    const ptx_build_address *known;
    switch (pointer->op) {
    case IR_DATA:
        return *tensor_address(b, pointer->at.tensor);
    case IR_VAR:
        known = base_map_get(b->addresses, (uint64_t)pointer->at.var->id + 1);
        if (known)
            return *known;
        break;
    case IR_POINTER_OFFSET:
        return indexed(b, pointer->args[0], pointer->args[1], 1);
    case IR_POINTER_ADDRESS:
        return indexed(b, pointer->args[0], pointer->args[1], element_bytes(pointer->type));
    case IR_REINTERPRET:
    case IR_CAST:
        return reinterpreted(b, pointer);
    default:
        break;
    }
    return (ptx_build_address){ptx_build_space(pointer->type.scope), ptx_build_scalar(b, pointer), 0};
}

ptx_operand ptx_build_memory_operand(ptx_builder *b, ptx_build_address address) {
    if (address.offset < INT32_MIN || address.offset > INT32_MAX) { /* offsets are 32-bit immediates */
        address.base = ptx_build_pointer_value(b, address);
        address.offset = 0;
    }
    if (ptx_build_is_immediate(address.base))
        address.base = ptx_build_in_register(b, class_of_space(address.space), address.base);
    ptx_operand operand = ptx_build_group(b, PTX_OPERAND_MEMORY, &address.base, 1);
    operand.bits = (uint64_t)address.offset;
    return operand;
}

/* ---- accesses ---- */

/* How a run of lanes travels: type and number of the elements of one instruction. */
typedef struct access_shape {
    ptx_mod type;
    ptx_build_class class;
    unsigned bytes; /* of one element */
    unsigned count; /* elements in all */
    bool packed;    /* elements are 32-bit words that hold several lanes */
} access_shape;

static ptx_mod memory_mod(ir_type type, bool is_store) {
    unsigned bytes = element_bytes(type);
    ptx_build_class class = ptx_build_class_of(type);
    if (class == PTX_CLASS_F32 || class == PTX_CLASS_F64)
        return ptx_build_bits_mod(class);
    if (bytes >= 4)
        return bytes == 8 ? PTX_MOD_B64 : PTX_MOD_B32;
    bool is_signed = class == PTX_CLASS_R32 && num_dtype_class(type.dtype) == NUM_SIGNED;
    if (is_store || class == PTX_CLASS_HALF || class == PTX_CLASS_BYTE)
        return bytes == 1 ? PTX_MOD_B8 : PTX_MOD_B16;
    if (bytes == 1)
        return is_signed ? PTX_MOD_S8 : PTX_MOD_U8;
    return is_signed ? PTX_MOD_S16 : PTX_MOD_U16;
}

static access_shape shape_of(ir_type type, bool is_store) {
    unsigned lanes = type.kind == IR_TYPE_PRIM && type.lanes > 1 ? type.lanes : 1;
    ir_type lane = type.kind == IR_TYPE_PRIM ? ir_type_scalar(type) : type;
    access_shape shape = {memory_mod(lane, is_store), ptx_build_class_of(lane), element_bytes(lane), lanes,
                          false};
    if (type.kind == IR_TYPE_POINTER)
        shape.bytes = ptx_build_class_bits(shape.class) / 8;
    if (shape.class == PTX_CLASS_PRED)
        shape.class = PTX_CLASS_R32;
    if (shape.bytes < 4 && lanes > 4 && shape.bytes * lanes % 4 == 0)
        shape = (access_shape){PTX_MOD_B32, PTX_CLASS_R32, 4, shape.bytes * lanes / 4, true};
    return shape;
}

/* The largest of 4, 2, 1 elements that fits 16 bytes and what is left. */
static unsigned chunk_of(const access_shape *shape, unsigned left) {
    unsigned most = 16 / shape->bytes;
    for (unsigned n = 4; n > 1; n /= 2)
        if (n <= most && n <= left)
            return n;
    return 1;
}

static const ir_expr *root_of(const ir_expr *pointer) {
    while (pointer->op == IR_POINTER_ADDRESS || pointer->op == IR_POINTER_OFFSET ||
           (pointer->op == IR_REINTERPRET && pointer->args[0]->type.kind == IR_TYPE_POINTER))
        pointer = pointer->args[0];
    return pointer;
}

/* The tensor that a pointer points into; NULL when it is not known. */
static const ir_tensor *root_tensor(ptx_builder *b, const ir_expr *pointer) {
    pointer = root_of(pointer);
    for (unsigned i = 0; i < 64 && (pointer->op == IR_VAR || pointer->op == IR_REGISTER); i++) {
        const ir_expr *value = base_map_get(b->pointer_values, (uint64_t)pointer->at.var->id + 1);
        if (!value)
            return NULL;
        pointer = root_of(value);
    }
    return pointer->op == IR_DATA ? pointer->at.tensor : NULL;
}

/* Parameters do not overlap (they are __restrict__ in the CUDA text), so one that is never stored to is
 * read-only for the whole kernel: what .nc asks for (PTX ISA, ld.global.nc). */
static bool is_read_only(ptx_builder *b, const ir_expr *base) {
    const ir_tensor *tensor = root_tensor(b, base);
    return tensor && tensor->kind == IR_TENSOR_PARAMETER && tensor->type.scope == IR_SCOPE_GLOBAL &&
           !b->stores_anywhere && !base_map_get(b->stored, (uint64_t)tensor->id + 1);
}

static void load_chunk(ptx_builder *b, const access_shape *shape, ptx_build_address address, bool read_only,
                       ptx_operand *to, unsigned count, const ptx_origin *origin) {
    ptx_mod mods[4];
    unsigned n = 0;
    mods[n++] = ptx_build_space_mod(address.space);
    if (read_only)
        mods[n++] = PTX_MOD_NC;
    if (count > 1)
        mods[n++] = count == 2 ? PTX_MOD_V2 : PTX_MOD_V4;
    mods[n++] = shape->type;
    ptx_operand where = ptx_build_memory_operand(b, address);
    for (unsigned i = 0; i < count; i++)
        to[i] = ptx_build_result(b, shape->class);
    ptx_operand destination = count > 1 ? ptx_build_group(b, PTX_OPERAND_VECTOR, to, count) : to[0];
    ptx_build_emit(b, PTX_OP_LD, mods, n, PTX_ARGS(destination, where))->origin = origin;
}

const ptx_operand *ptx_build_load(ptx_builder *b, const ir_expr *e, const ptx_operand *want) {
    access_shape shape = shape_of(e->type, false);
    unsigned lanes = e->type.kind == IR_TYPE_PRIM && e->type.lanes > 1 ? e->type.lanes : 1;
    ptx_build_address address = indexed(b, e->args[0], e->args[1], element_bytes(e->type));
    bool read_only = is_read_only(b, e->args[0]);
    const ptx_origin *origin = ptx_build_origin(b, e->at.origin, e->args[0], e->args[1], false);
    ptx_operand *elements = BASE_NEW_ARRAY(b->arena, ptx_operand, shape.count);
    bool is_bool = ir_type_is_bool(e->type);
    for (unsigned i = 0; i < shape.count;) {
        unsigned count = chunk_of(&shape, shape.count - i);
        b->want = lanes == 1 && !is_bool ? want : NULL;
        load_chunk(b, &shape, address, read_only, elements + i, count, origin);
        b->want = NULL;
        address.offset += (int64_t)count * shape.bytes;
        i += count;
    }
    if (!shape.packed && !is_bool)
        return elements;
    ptx_operand *values = BASE_NEW_ARRAY(b->arena, ptx_operand, lanes);
    if (shape.packed) {
        ptx_build_unpack(b, e->type, elements, values);
        return values;
    }
    for (unsigned i = 0; i < lanes; i++)
        values[i] = ptx_build_compute(b, PTX_CLASS_PRED, PTX_OP_SETP, PTX_MODS(PTX_MOD_NE, PTX_MOD_S32),
                                      PTX_ARGS(elements[i], ptx_build_int(0)));
    return values;
}

static void store_chunk(ptx_builder *b, const access_shape *shape, ptx_build_address address,
                        const ptx_operand *from, unsigned count, const ptx_origin *origin) {
    ptx_mod mods[3];
    unsigned n = 0;
    mods[n++] = ptx_build_space_mod(address.space);
    if (count > 1)
        mods[n++] = count == 2 ? PTX_MOD_V2 : PTX_MOD_V4;
    mods[n++] = shape->type;
    ptx_operand where = ptx_build_memory_operand(b, address);
    ptx_operand source = count > 1 ? ptx_build_group(b, PTX_OPERAND_VECTOR, from, count) : from[0];
    ptx_build_emit(b, PTX_OP_ST, mods, n, PTX_ARGS(where, source))->origin = origin;
}

void ptx_build_store(ptx_builder *b, const ir_stmt *statement) {
    const ir_expr *value = statement->as.pointer_store.value, *base = statement->as.pointer_store.base;
    const ir_expr *index = statement->as.pointer_store.index;
    access_shape shape = shape_of(value->type, true);
    const ptx_operand *lanes = ptx_build_value(b, value);
    unsigned lane_count = value->type.kind == IR_TYPE_PRIM && value->type.lanes > 1 ? value->type.lanes : 1;
    ptx_build_address address = indexed(b, base, index, element_bytes(value->type));
    const ptx_origin *origin = ptx_build_origin(b, statement->as.pointer_store.origin, base, index, true);
    ptx_operand *elements =
        BASE_NEW_ARRAY(b->arena, ptx_operand, lane_count > shape.count ? lane_count : shape.count);
    if (shape.packed) {
        ptx_build_pack(b, value->type, lanes, elements);
    } else if (ir_type_is_bool(value->type)) {
        for (unsigned i = 0; i < lane_count; i++)
            elements[i] =
                ptx_build_cast(b, ir_type_prim(NUM_DTYPE_U32, 1), ir_type_prim(NUM_DTYPE_BOOL, 1), lanes[i]);
    } else {
        memcpy(elements, lanes, lane_count * sizeof(*lanes));
    }
    for (unsigned i = 0; i < shape.count;) {
        unsigned count = chunk_of(&shape, shape.count - i);
        store_chunk(b, &shape, address, elements + i, count, origin);
        address.offset += (int64_t)count * shape.bytes;
        i += count;
    }
}

/* ---- what the kernel writes ---- */

static void note_store(ptx_builder *b, const ir_expr *pointer) {
    if (pointer->type.kind != IR_TYPE_POINTER || pointer->type.scope != IR_SCOPE_GLOBAL)
        return;
    const ir_tensor *tensor = root_tensor(b, pointer);
    if (tensor)
        base_map_set(b->stored, (uint64_t)tensor->id + 1, (void *)(uintptr_t)tensor);
    else
        b->stores_anywhere = true;
}

static void visit_writes(void *user, const ir_expr *e) {
    bool is_atomic = e->op >= IR_ATOMIC_ADD && e->op <= IR_ATOMIC_CAS;
    if (is_atomic && e->count)
        note_store(user, e->args[0]);
    for (uint32_t i = 2; (e->op == IR_PTX || e->op == IR_SOURCE_CALL) && i < e->count; i++)
        note_store(user, e->args[i]);
    /* A pointer that becomes a number may come back as one we do not recognise. */
    if (e->op == IR_REINTERPRET && e->type.kind == IR_TYPE_PRIM && e->args[0]->type.kind == IR_TYPE_POINTER)
        note_store(user, e->args[0]);
}

static void visit_statement_expression(void *user, const ir_expr **e) {
    ptx_builder *b = user;
    ir_expr_visit_new(b->met, *e, visit_writes, b);
}

static void find_stores(ptx_builder *b, const ir_stmt *s, bool bind) {
    switch (s->kind) {
    case IR_STMT_BLOCK:
        for (size_t i = 0; i < s->as.block.body.count; i++)
            find_stores(b, s->as.block.body.items[i], bind);
        return;
    case IR_STMT_IF:
        find_stores(b, s->as.branch.then_body, bind);
        if (s->as.branch.else_body)
            find_stores(b, s->as.branch.else_body, bind);
        break;
    case IR_STMT_FOR:
        find_stores(b, s->as.loop.body, bind);
        break;
    case IR_STMT_WHILE:
        find_stores(b, s->as.while_loop.body, bind);
        break;
    case IR_STMT_LET:
    case IR_STMT_ASSIGN:
        /* Every assignment of a pointer register stays in one tensor: passes make them so (the first counts).
         */
        if (bind && s->as.let.var->type.kind == IR_TYPE_POINTER &&
            !base_map_get(b->pointer_values, (uint64_t)s->as.let.var->id + 1))
            base_map_set(b->pointer_values, (uint64_t)s->as.let.var->id + 1,
                         (void *)(uintptr_t)s->as.let.value);
        break;
    case IR_STMT_POINTER_STORE:
        if (!bind)
            note_store(b, s->as.pointer_store.base);
        break;
    default:
        break;
    }
    if (!bind)
        ir_stmt_expressions((ir_stmt *)(uintptr_t)s, visit_statement_expression, b);
}

void ptx_build_find_stores(ptx_builder *b, const ir_stmt *body) {
    b->met = ir_memo_open(b->ir);
    find_stores(b, body, true);
    find_stores(b, body, false);
    ir_memo_close(b->met);
}
