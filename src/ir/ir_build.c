/* SPDX-License-Identifier: Apache-2.0
 * Modules, functions, statements, and the raw constructors of expressions: every expression of a module is
 * interned in one table, so equal structure is one pointer, and ids follow the order of creation. Does not
 * fold (ir_fold.c) and does not check (ir_verify.c). */
#include "ir/ir_private.h"
#include <string.h>

enum { EFFECT_FLAGS = IR_FLAG_READS | IR_FLAG_WRITES | IR_FLAG_SYNC | IR_FLAG_DIVERGENT | IR_FLAG_BOUNDED };

ir_module *ir_module_create(base_arena *arena, base_diagnostics *diagnostics) {
    return ir_module_create_with(arena, diagnostics, base_names_create(arena));
}

ir_module *ir_module_create_with(base_arena *arena, base_diagnostics *diagnostics, base_names *names) {
    ir_module *module = BASE_NEW(arena, ir_module);
    module->arena = arena;
    module->names = names;
    module->diagnostics = diagnostics;
    module->intern = BASE_NEW(arena, struct ir_intern);
    module->patterns.arena = arena;
    return module;
}

ir_function *ir_function_create(ir_module *module, const char *name, base_span span) {
    ir_function *function = BASE_NEW(module->arena, ir_function);
    function->name = base_name_of(module->names, name ? name : "kernel");
    function->span = span;
    function->module = module;
    function->body = ir_stmt_create(module, IR_STMT_BLOCK, span);
    base_vector_push(module->arena, &module->functions, function);
    return function;
}

ir_var *ir_var_create(ir_module *module, const char *name, ir_type type, ir_var_kind kind, base_span span) {
    ir_var *var = BASE_NEW(module->arena, ir_var);
    var->name = base_name_of(module->names, name ? name : "v");
    var->type = type;
    var->kind = kind;
    var->id = module->intern->next_var++;
    module->next_var = module->intern->next_var;
    var->span = span;
    return var;
}

ir_var *ir_var_copy(ir_module *module, const ir_var *var) {
    ir_var *fresh = BASE_NEW(module->arena, ir_var);
    fresh->name = var->name;
    fresh->type = var->type;
    fresh->kind = var->kind;
    fresh->id = module->intern->next_var++;
    module->next_var = module->intern->next_var;
    fresh->span = var->span;
    return fresh;
}

ir_tensor *ir_tensor_create(ir_module *module, const char *name, const ir_tensor_type *type,
                            ir_tensor_kind kind, const ir_expr *data, base_span span) {
    ir_tensor *tensor = BASE_NEW(module->arena, ir_tensor);
    tensor->name = base_name_of(module->names, name ? name : "t");
    tensor->type = *type;
    if (type->rank)
        tensor->type.shape =
            base_arena_copy(module->arena, type->shape, type->rank * sizeof(const ir_expr *));
    if (type->strides)
        tensor->type.strides =
            base_arena_copy(module->arena, type->strides, type->rank * sizeof(const ir_expr *));
    if (tensor->type.lanes == 0)
        tensor->type.lanes = 1;
    if (tensor->type.align == 0)
        tensor->type.align = 64;
    tensor->kind = kind;
    tensor->data = data;
    tensor->id = module->intern->next_tensor++;
    module->next_tensor = module->intern->next_tensor;
    tensor->span = span;
    return tensor;
}

/* ---- interning ---- */

/* Multiply to 128 bits and fold: every input bit reaches every output bit. */
static inline uint64_t mix(uint64_t a, uint64_t b) {
    unsigned __int128 product =
        (unsigned __int128)(a ^ UINT64_C(0x9e3779b97f4a7c15)) * (b ^ UINT64_C(0xd6e8feb86659fd93));
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Never 0, which says that a slot is free; the high bits pick the slot. */
static inline uint32_t hash_expr(ir_op op, ir_type type, const ir_expr *const *args, uint32_t count,
                                 ir_attribute attribute) {
    uint64_t hash = mix((uint64_t)op << 40 | (uint64_t)type.kind << 32 | (uint64_t)type.dtype << 24 |
                            (uint64_t)type.scope << 16 | type.lanes,
                        attribute.bits);
    for (uint32_t i = 0; i < count; i++)
        hash = mix(hash, args[i]->id);
    return (uint32_t)(hash >> 32) | 1;
}

static inline bool same_expr(const ir_expr *e, ir_op op, ir_type type, const ir_expr *const *args,
                             uint32_t count, ir_attribute attribute) {
    if (e->op != op || e->count != count || !ir_type_equal(e->type, type) ||
        e->at.integer != attribute.integer)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (e->args[i] != args[i])
            return false;
    return true;
}

enum { TABLE_FIRST_LOG2 = 8 };

static void grow_table(ir_module *module, struct ir_intern *intern) {
    size_t old = intern->capacity;
    unsigned shift = old ? intern->shift - 1 : 32 - TABLE_FIRST_LOG2;
    size_t capacity = (size_t)1 << (32 - shift), mask = capacity - 1;
    const ir_expr **slots = BASE_NEW_ARRAY(module->arena, const ir_expr *, capacity);
    uint32_t *hashes = BASE_NEW_ARRAY(module->arena, uint32_t, capacity);
    for (size_t i = 0; i < old; i++) {
        uint32_t hash = intern->hashes[i];
        if (!hash)
            continue;
        size_t at = hash >> shift;
        while (hashes[at])
            at = (at + 1) & mask;
        slots[at] = intern->slots[i];
        hashes[at] = hash;
    }
    intern->slots = slots;
    intern->hashes = hashes;
    intern->capacity = capacity;
    intern->shift = shift;
    intern->room = capacity / 4 * 3;
}

/* What e adds to what its arguments have inside. */
static unsigned own_effects(const ir_expr *e) {
    unsigned effects = ir_op_information(e->op)->flags & EFFECT_FLAGS;
    if (e->type.kind == IR_TYPE_PRIM && e->type.lanes > 1)
        effects |= IR_INSIDE_LANES;
    if (num_dtype_bits((num_dtype)e->type.dtype) == 4)
        effects |= IR_INSIDE_NIBBLE;
    switch (e->op) {
    case IR_REGISTER:
        return effects | IR_INSIDE_REGISTER;
    case IR_FLOORDIV:
    case IR_FLOORMOD:
    case IR_TRUNCDIV:
    case IR_TRUNCMOD: {
        const ir_expr *divisor = e->args[1]->op == IR_BROADCAST ? e->args[1]->args[0] : e->args[1];
        if (divisor->op != IR_INT || divisor->at.integer == 0)
            effects |= IR_INSIDE_DIVISION;
        effects |= IR_INSIDE_QUOTIENT;
        break;
    }
    case IR_DIV:
    case IR_SHL:
    case IR_SHR:
        effects |= IR_INSIDE_QUOTIENT;
        break;
    case IR_AND:
    case IR_OR:
    case IR_IF_THEN_ELSE:
        effects |= IR_INSIDE_LAZY;
        break;
    case IR_LOAD:
    case IR_ADDRESS:
    case IR_REGION:
    case IR_DATA:
        effects |= IR_INSIDE_TENSOR;
        break;
    case IR_REINTERPRET:
        effects |= IR_INSIDE_REINTERPRET;
        break;
    case IR_POINTER_LOAD:
        effects |= IR_INSIDE_POINTER_LOAD;
        break;
    case IR_POINTER_ADDRESS:
        effects |= IR_INSIDE_POINTER_ADDRESS;
        break;
    default:
        break;
    }
    return effects & IR_FLAG_READS ? effects | IR_INSIDE_MEMORY : effects;
}

static uint64_t own_variables(const ir_expr *e) {
    switch (e->op) {
    case IR_VAR:
    case IR_REGISTER:
        return UINT64_C(1) << e->at.var->id % 64;
    case IR_POINTER_LOAD:
    case IR_POINTER_ADDRESS:
        return e->at.origin ? e->at.origin->variables : 0;
    default:
        return 0;
    }
}

/* Apart from the search, which mostly finds. */
__attribute__((noinline)) static ir_expr *create_expr(ir_module *module, ir_op op, ir_type type,
                                                      const ir_expr *const *args, uint32_t count,
                                                      ir_attribute attribute) {
    ir_expr *e = base_arena_allocate(module->arena, sizeof(ir_expr) + count * sizeof(const ir_expr *));
    uint64_t size = 1, variables = 0;
    unsigned effects = 0, depth = 0;
    for (uint32_t i = 0; i < count; i++) {
        const ir_expr *arg = args[i];
        e->args[i] = arg;
        effects |= arg->effects;
        variables |= arg->variables;
        size += arg->size;
        if (depth <= arg->depth)
            depth = arg->depth + 1u;
    }
    e->op = op;
    e->type = type;
    e->count = count;
    e->size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
    e->depth = depth > UINT16_MAX ? UINT16_MAX : (uint16_t)depth;
    e->module = module;
    e->at.integer = attribute.integer;
    e->effects = (uint16_t)(effects | own_effects(e));
    e->variables = variables | own_variables(e);
    return e;
}

const ir_expr *ir_intern_expr(ir_module *module, ir_op op, ir_type type, const ir_expr *const *args,
                              uint32_t count, ir_attribute attribute) {
    struct ir_intern *intern = module->intern;
    if (intern->count == intern->room)
        grow_table(module, intern);
    uint32_t hash = hash_expr(op, type, args, count, attribute), found;
    size_t at = hash >> intern->shift, mask = intern->capacity - 1;
    for (; (found = intern->hashes[at]) != 0; at = (at + 1) & mask)
        if (found == hash && same_expr(intern->slots[at], op, type, args, count, attribute)) {
            module->next_expr = intern->next_expr;
            return intern->slots[at];
        }
    ir_expr *e = create_expr(module, op, type, args, count, attribute);
    e->id = intern->next_expr++;
    module->next_expr = intern->next_expr;
    intern->slots[at] = e;
    intern->hashes[at] = hash;
    intern->count++;
    return e;
}

/* ---- raw constructors ---- */

const ir_expr *ir_make(ir_module *module, ir_op op, ir_type type, const ir_expr *const *args,
                       uint32_t count) {
    return ir_intern_expr(module, op, type, args, count, (ir_attribute){0});
}

const ir_expr *ir_int(ir_module *module, num_dtype dtype, int64_t value) {
    value = num_wrap(dtype, value);
    const ir_expr **recent = &module->intern->ints[((uint64_t)value + (uint64_t)dtype * 37) % IR_RECENT_INTS];
    if (!*recent || (*recent)->at.integer != value || (*recent)->type.dtype != dtype)
        *recent =
            ir_intern_expr(module, IR_INT, ir_type_prim(dtype, 1), NULL, 0, (ir_attribute){.integer = value});
    module->next_expr = module->intern->next_expr;
    return *recent;
}

/* Rounds to the type, so that equal values are one expression whoever computed them; all NaNs are one. */
const ir_expr *ir_float(ir_module *module, num_dtype dtype, double value) {
    if (dtype != NUM_DTYPE_F64)
        value = num_decode(dtype, num_encode(dtype, value, NUM_RN, false));
    if (value != value)
        value = (double)__builtin_nanf("");
    return ir_intern_expr(module, IR_FLOAT, ir_type_prim(dtype, 1), NULL, 0, (ir_attribute){.real = value});
}

const ir_expr *ir_bool(ir_module *module, bool value) {
    return ir_int(module, NUM_DTYPE_BOOL, value);
}

const ir_expr *ir_string(ir_module *module, const char *string) {
    return ir_intern_expr(module, IR_STRING, (ir_type){.kind = IR_TYPE_STRING, .lanes = 1}, NULL, 0,
                          (ir_attribute){.string = base_name_of(module->names, string)});
}

const ir_expr *ir_var_use(ir_module *module, const ir_var *var) {
    return ir_intern_expr(module, var->kind == IR_VAR_REGISTER ? IR_REGISTER : IR_VAR, var->type, NULL, 0,
                          (ir_attribute){.var = var});
}

const ir_expr *ir_query(ir_module *module, ir_op op, int axis) {
    ir_attribute attribute = {.integer = ir_op_attribute(op) == IR_ATTRIBUTE_INTEGER ? axis : 0};
    ir_type type = ir_type_prim(op == IR_CLOCK ? NUM_DTYPE_I64 : NUM_DTYPE_I32, 1);
    return ir_intern_expr(module, op, type, NULL, 0, attribute);
}

ir_type ir_tensor_element(const ir_tensor *tensor) {
    return ir_type_prim(tensor->type.dtype, tensor->type.lanes);
}

const ir_expr *ir_load(ir_module *module, const ir_tensor *tensor, const ir_expr *const *indices,
                       uint32_t count) {
    ir_type type;
    ir_infer(IR_LOAD, indices, count, (ir_attribute){.tensor = tensor}, &type);
    return ir_intern_expr(module, IR_LOAD, type, indices, count, (ir_attribute){.tensor = tensor});
}

const ir_expr *ir_address(ir_module *module, const ir_tensor *tensor, const ir_expr *const *indices,
                          uint32_t count) {
    ir_type type;
    ir_infer(IR_ADDRESS, indices, count, (ir_attribute){.tensor = tensor}, &type);
    return ir_intern_expr(module, IR_ADDRESS, type, indices, count, (ir_attribute){.tensor = tensor});
}

const ir_expr *ir_region(ir_module *module, const ir_tensor *tensor, const ir_expr *const *starts,
                         const ir_expr *const *extents) {
    uint32_t rank = tensor->type.rank;
    const ir_expr **parts = BASE_NEW_ARRAY(module->arena, const ir_expr *, 2 * rank + 1);
    ir_type type;
    for (uint32_t i = 0; i < rank; i++) {
        parts[2 * i] = starts[i];
        parts[2 * i + 1] = extents[i];
    }
    ir_infer(IR_REGION, parts, 2 * rank, (ir_attribute){.tensor = tensor}, &type);
    return ir_intern_expr(module, IR_REGION, type, parts, 2 * rank, (ir_attribute){.tensor = tensor});
}

const ir_expr *ir_data(ir_module *module, const ir_tensor *tensor) {
    ir_type type;
    ir_infer(IR_DATA, NULL, 0, (ir_attribute){.tensor = tensor}, &type);
    return ir_intern_expr(module, IR_DATA, type, NULL, 0, (ir_attribute){.tensor = tensor});
}

const ir_expr *ir_pointer_load(ir_module *module, ir_type type, const ir_expr *base, const ir_expr *index,
                               const ir_expr *origin) {
    return ir_intern_expr(module, IR_POINTER_LOAD, type, (const ir_expr *[]){base, index}, 2,
                          (ir_attribute){.origin = origin});
}

const ir_expr *ir_pointer_address(ir_module *module, ir_type type, const ir_expr *base, const ir_expr *index,
                                  const ir_expr *origin) {
    return ir_intern_expr(module, IR_POINTER_ADDRESS, type, (const ir_expr *[]){base, index}, 2,
                          (ir_attribute){.origin = origin});
}

/* ---- statements ---- */

ir_stmt *ir_stmt_create(ir_module *module, ir_stmt_kind kind, base_span span) {
    ir_stmt *statement = BASE_NEW(module->arena, ir_stmt);
    statement->kind = kind;
    statement->span = span;
    return statement;
}

void ir_block_add(ir_module *module, ir_stmt *block, ir_stmt *statement) {
    base_vector_push(module->arena, &block->as.block.body, statement);
}
