/* SPDX-License-Identifier: Apache-2.0
 * Operations with an effect: barriers, fences, warp collectives, atomics, printf, traps. */
#include "assemble/ptx_build_internal.h"
#include "num/num.h"
#include <string.h>

static const ptx_operand *keep(ptx_builder *b, ptx_operand operand) {
    return base_arena_copy(b->arena, &operand, sizeof(operand));
}

static const ir_type bool_type = {.kind = IR_TYPE_PRIM, .dtype = NUM_DTYPE_BOOL, .lanes = 1};
static const ir_type u32_type = {.kind = IR_TYPE_PRIM, .dtype = NUM_DTYPE_U32, .lanes = 1};

static ptx_operand truth(ptx_builder *b, const ir_expr *e) {
    return ptx_build_as_predicate(
        b, ptx_build_cast(b, bool_type, ir_type_scalar(e->type), ptx_build_scalar(b, e)));
}

/* A 32-bit word: masks and shuffle lanes may come as any integer type. */
static ptx_operand word(ptx_builder *b, const ir_expr *e) {
    return ptx_build_cast(b, u32_type, ir_type_scalar(e->type), ptx_build_scalar(b, e));
}

/* ---- barriers and fences ---- */

static ptx_operand barrier_vote(ptx_builder *b, const ir_expr *e) {
    ptx_operand predicate = truth(b, e->args[0]);
    ptx_mod op = e->op == IR_CTA_SYNC_AND ? PTX_MOD_AND : PTX_MOD_OR;
    ptx_operand held =
        ptx_build_compute(b, PTX_CLASS_PRED, PTX_OP_BAR, PTX_MODS(PTX_MOD_RED, op, PTX_MOD_PRED),
                          PTX_ARGS(ptx_build_int(0), predicate));
    return ptx_build_cast(b, ir_type_scalar(e->type), bool_type, held);
}

/* Every thread of its block waits while one of them meets those of the other blocks at a word of the launch's
 * workspace, whose address a cooperative launch leaves in %envreg1 and %envreg2: as the runtime's own barrier
 * does, so that the driver's workspace serves. Each block adds 1, the first one what is missing to 2^31: the
 * sign flips when the last has come. */
static ptx_operand any_of(ptx_builder *b, ptx_special x, ptx_special y, ptx_special z) {
    ptx_operand first = ptx_build_compute(
        b, PTX_CLASS_R32, PTX_OP_OR, PTX_MODS(PTX_MOD_B32),
        PTX_ARGS(ptx_build_special(b, x, PTX_CLASS_R32), ptx_build_special(b, y, PTX_CLASS_R32)));
    return ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_OR, PTX_MODS(PTX_MOD_B32),
                             PTX_ARGS(first, ptx_build_special(b, z, PTX_CLASS_R32)));
}

static ptx_operand environment_register(ptx_builder *b, uint64_t number) {
    ptx_operand special = {.kind = PTX_OPERAND_SPECIAL, .bits = PTX_SPECIAL_ENVREG | number << 16};
    return ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_MOV, PTX_MODS(PTX_MOD_B32), PTX_ARGS(special));
}

static ptx_operand block_count(ptx_builder *b) {
    ptx_operand plane =
        ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_MUL, PTX_MODS(PTX_MOD_LO, PTX_MOD_U32),
                          PTX_ARGS(ptx_build_special(b, PTX_SPECIAL_NCTAID_X, PTX_CLASS_R32),
                                   ptx_build_special(b, PTX_SPECIAL_NCTAID_Y, PTX_CLASS_R32)));
    return ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_MUL, PTX_MODS(PTX_MOD_LO, PTX_MOD_U32),
                             PTX_ARGS(plane, ptx_build_special(b, PTX_SPECIAL_NCTAID_Z, PTX_CLASS_R32)));
}

static ptx_operand compare_word(ptx_builder *b, ptx_mod how, ptx_operand x) {
    return ptx_build_compute(b, PTX_CLASS_PRED, PTX_OP_SETP, PTX_MODS(how, PTX_MOD_S32),
                             PTX_ARGS(x, ptx_build_int(0)));
}

static void meet_blocks(ptx_builder *b, ptx_operand workspace) {
    static const ptx_origin origin = {.tensor = "grid barrier", .space = "global", .is_store = true};
    ptx_operand place = ptx_build_group(b, PTX_OPERAND_MEMORY, &workspace, 1);
    place.bits = 4; /* behind the workspace's own size */
    ptx_operand is_first =
        compare_word(b, PTX_MOD_EQ, any_of(b, PTX_SPECIAL_CTAID_X, PTX_SPECIAL_CTAID_Y, PTX_SPECIAL_CTAID_Z));
    ptx_operand rest = ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_SUB, PTX_MODS(PTX_MOD_S32),
                                         PTX_ARGS(ptx_build_int(-INT64_C(0x7fffffff)), block_count(b)));
    ptx_operand step = ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_SELP, PTX_MODS(PTX_MOD_B32),
                                         PTX_ARGS(rest, ptx_build_int(1), is_first));
    ptx_operand before = ptx_build_register(b, PTX_CLASS_R32), now = ptx_build_register(b, PTX_CLASS_R32);
    ptx_build_emit(b, PTX_OP_ATOM, PTX_MODS(PTX_MOD_RELEASE, PTX_MOD_GPU, PTX_MOD_ADD, PTX_MOD_U32),
                   PTX_ARGS(before, place, step))
        ->origin = &origin;
    ptx_label *again = ptx_build_label(b, "grid");
    ptx_build_place(b, again);
    ptx_build_emit(b, PTX_OP_LD, PTX_MODS(PTX_MOD_ACQUIRE, PTX_MOD_GPU, PTX_MOD_B32), PTX_ARGS(now, place))
        ->origin = &origin;
    ptx_operand changed =
        ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_XOR, PTX_MODS(PTX_MOD_B32), PTX_ARGS(now, before));
    ptx_build_branch(b, compare_word(b, PTX_MOD_GE, changed), false, again);
}

static void grid_barrier(ptx_builder *b) {
    ptx_build_mark mark = ptx_build_scope_open(b);
    ptx_operand halves[2] = {environment_register(b, 2), environment_register(b, 1)};
    ptx_operand workspace = ptx_build_compute(b, PTX_CLASS_R64, PTX_OP_MOV, PTX_MODS(PTX_MOD_B64),
                                              PTX_ARGS(ptx_build_group(b, PTX_OPERAND_VECTOR, halves, 2)));
    ptx_operand missing = ptx_build_compute(b, PTX_CLASS_PRED, PTX_OP_SETP, PTX_MODS(PTX_MOD_EQ, PTX_MOD_U64),
                                            PTX_ARGS(workspace, ptx_build_int(0)));
    ptx_build_emit(b, PTX_OP_TRAP, NULL, 0, NULL, 0)->guard = missing.of.reg;
    ptx_build_emit(b, PTX_OP_BAR, PTX_MODS(PTX_MOD_SYNC), PTX_ARGS(ptx_build_int(0)));
    ptx_label *others = ptx_build_label(b, "others");
    ptx_build_branch(
        b, compare_word(b, PTX_MOD_NE, any_of(b, PTX_SPECIAL_TID_X, PTX_SPECIAL_TID_Y, PTX_SPECIAL_TID_Z)),
        false, others);
    meet_blocks(b, workspace);
    ptx_build_scope_close(b, mark);
    ptx_build_place(b, others);
    ptx_build_emit(b, PTX_OP_BAR, PTX_MODS(PTX_MOD_SYNC), PTX_ARGS(ptx_build_int(0)));
}

/* ---- warp collectives ---- */

/* The third operand of shfl: segment mask in bits 8-12, clamp in bits 0-4, as CUDA's __shfl_*_sync derives it
 * from the width (PTX ISA, shfl). */
static ptx_operand shuffle_clamp(ptx_builder *b, ir_op op, const ir_expr *width) {
    int64_t constant, clamp = op == IR_SHUFFLE_UP ? 0 : 0x1f;
    if (ir_is_int(width, &constant))
        return ptx_build_int(((32 - constant) << 8 & 0x1f00) | clamp);
    ptx_operand lanes = word(b, width);
    lanes = ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_SUB, PTX_MODS(PTX_MOD_S32),
                              PTX_ARGS(ptx_build_int(32), lanes));
    lanes = ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_SHL, PTX_MODS(PTX_MOD_B32),
                              PTX_ARGS(lanes, ptx_build_int(8)));
    return ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_OR, PTX_MODS(PTX_MOD_B32),
                             PTX_ARGS(lanes, ptx_build_int(clamp)));
}

static const ptx_operand *shuffle(ptx_builder *b, const ir_expr *e) {
    ptx_mod mode = e->op == IR_SHUFFLE        ? PTX_MOD_IDX
                   : e->op == IR_SHUFFLE_UP   ? PTX_MOD_UP
                   : e->op == IR_SHUFFLE_DOWN ? PTX_MOD_DOWN
                                              : PTX_MOD_BFLY;
    ir_type type = e->type;
    ptx_operand mask = word(b, e->args[0]), lane = word(b, e->args[2]);
    const ptx_operand *value = ptx_build_value(b, e->args[1]);
    ptx_operand clamp = shuffle_clamp(b, e->op, e->args[3]);
    unsigned lanes = type.lanes > 1 ? type.lanes : 1;
    unsigned words = (lanes * num_dtype_bytes(type.dtype) + 3) / 4;
    ptx_build_class class = ptx_build_class_of(type);
    bool direct = lanes == words && (class == PTX_CLASS_F32 || class == PTX_CLASS_R32);
    ptx_operand *from = BASE_NEW_ARRAY(b->arena, ptx_operand, words + 1);
    ptx_operand *to = BASE_NEW_ARRAY(b->arena, ptx_operand, words + 1);
    if (direct)
        memcpy(from, value, words * sizeof(*from));
    else
        ptx_build_pack(b, type, value, from);
    if (!direct)
        class = PTX_CLASS_R32;
    for (unsigned i = 0; i < words; i++) {
        ptx_operand source = ptx_build_in_register(b, class, from[i]);
        to[i] = ptx_build_compute(b, class, PTX_OP_SHFL, PTX_MODS(PTX_MOD_SYNC, mode, PTX_MOD_B32),
                                  PTX_ARGS(source, lane, clamp, mask));
    }
    if (direct)
        return to;
    ptx_operand *values = BASE_NEW_ARRAY(b->arena, ptx_operand, lanes);
    ptx_build_unpack(b, type, to, values);
    return values;
}

static ptx_operand vote(ptx_builder *b, const ir_expr *e) {
    ptx_operand mask = word(b, e->args[0]), predicate = truth(b, e->args[1]);
    if (e->op == IR_VOTE_BALLOT)
        return ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_VOTE,
                                 PTX_MODS(PTX_MOD_SYNC, PTX_MOD_BALLOT, PTX_MOD_B32),
                                 PTX_ARGS(predicate, mask));
    ptx_mod mode = e->op == IR_VOTE_ALL ? PTX_MOD_ALL : PTX_MOD_ANY;
    ptx_operand held =
        ptx_build_compute(b, PTX_CLASS_PRED, PTX_OP_VOTE, PTX_MODS(PTX_MOD_SYNC, mode, PTX_MOD_PRED),
                          PTX_ARGS(predicate, mask));
    return ptx_build_cast(b, ir_type_scalar(e->type), bool_type, held);
}

static ptx_operand redux(ptx_builder *b, const ir_expr *e) {
    ptx_operand mask = word(b, e->args[0]);
    ptx_operand value = ptx_build_in_register(b, PTX_CLASS_R32, ptx_build_scalar(b, e->args[1]));
    ptx_mod op = e->op == IR_REDUX_ADD ? PTX_MOD_ADD : e->op == IR_REDUX_MIN ? PTX_MOD_MIN : PTX_MOD_MAX;
    bool is_signed = num_dtype_class(e->type.dtype) == NUM_SIGNED;
    if (num_dtype_bits(e->type.dtype) != 32 || !ir_type_is_integer(e->type))
        ptx_build_error(b, "T0656", "a warp reduction of %s: only int32 and uint32 have one",
                        num_dtype_name(e->type.dtype));
    return ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_REDUX,
                             PTX_MODS(PTX_MOD_SYNC, op, is_signed ? PTX_MOD_S32 : PTX_MOD_U32),
                             PTX_ARGS(value, mask));
}

/* ---- atomics ---- */

static ptx_mod atomic_op(ir_op op) {
    static const ptx_mod ops[] = {PTX_MOD_ADD, PTX_MOD_MIN, PTX_MOD_MAX,  PTX_MOD_AND,
                                  PTX_MOD_OR,  PTX_MOD_XOR, PTX_MOD_EXCH, PTX_MOD_CAS};
    return ops[op - IR_ATOMIC_ADD];
}

/* The PTX type of the operation; NONE when PTX has none. */
static ptx_mod atomic_type(ir_op op, num_dtype dtype) {
    unsigned bits = num_dtype_bits(dtype);
    bool is_float = num_dtype_is_float(dtype), is_signed = num_dtype_class(dtype) == NUM_SIGNED;
    if (dtype == NUM_DTYPE_F16 || dtype == NUM_DTYPE_BF16)
        return op != IR_ATOMIC_ADD ? PTX_MOD_NONE : dtype == NUM_DTYPE_F16 ? PTX_MOD_F16 : PTX_MOD_BF16;
    if (bits != 32 && bits != 64)
        return PTX_MOD_NONE;
    switch (op) {
    case IR_ATOMIC_ADD:
        if (is_float)
            return bits == 64 ? PTX_MOD_F64 : PTX_MOD_F32;
        return bits == 64 ? PTX_MOD_U64 : is_signed ? PTX_MOD_S32 : PTX_MOD_U32;
    case IR_ATOMIC_MIN:
    case IR_ATOMIC_MAX:
        if (is_float)
            return PTX_MOD_NONE;
        if (bits == 64)
            return is_signed ? PTX_MOD_S64 : PTX_MOD_U64;
        return is_signed ? PTX_MOD_S32 : PTX_MOD_U32;
    default:
        return bits == 64 ? PTX_MOD_B64 : PTX_MOD_B32;
    }
}

static ptx_operand atomic(ptx_builder *b, const ir_expr *e, bool used) {
    ir_type type = ir_type_scalar(e->args[1]->type);
    ptx_build_class class = ptx_build_class_of(type);
    ptx_mod operation = atomic_op(e->op), type_mod = atomic_type(e->op, type.dtype);
    const ir_expr *pointer = e->args[0];
    ptx_build_address address = ptx_build_address_of(b, pointer);
    if (type_mod == PTX_MOD_NONE || address.space == PTX_SPACE_LOCAL) {
        ptx_build_error(b, "T0656", "%s of %s in %s memory has no PTX form", ir_op_information(e->op)->name,
                        num_dtype_name(type.dtype), ir_scope_name((ir_scope)pointer->type.scope));
        return ptx_build_in_register(b, class, ptx_build_int(0));
    }
    ptx_operand args[4];
    unsigned n = 0;
    bool has_reduction = e->op != IR_ATOMIC_EXCHANGE && e->op != IR_ATOMIC_CAS;
    bool returns = used || !has_reduction;
    ptx_operand values[2];
    for (uint32_t i = 1; i < e->count && i < 3; i++)
        values[i - 1] = ptx_build_in_register(b, class, ptx_build_scalar(b, e->args[i]));
    if (returns)
        args[n++] = ptx_build_result(b, class);
    args[n++] = ptx_build_memory_operand(b, address);
    for (uint32_t i = 1; i < e->count && i < 3; i++)
        args[n++] = values[i - 1];
    ptx_mod mods[5];
    unsigned m = 0;
    mods[m++] = ptx_build_space_mod(address.space);
    mods[m++] = operation;
    if (class == PTX_CLASS_HALF)
        mods[m++] = PTX_MOD_NOFTZ;
    mods[m++] = type_mod;
    const ir_expr *origin = pointer->op == IR_POINTER_ADDRESS ? pointer->at.origin : NULL;
    const ir_expr *index = pointer->op == IR_POINTER_ADDRESS ? pointer->args[1] : NULL;
    const ptx_origin *place = ptx_build_origin(b, origin, pointer, index, true);
    ptx_build_emit(b, returns ? PTX_OP_ATOM : PTX_OP_RED, mods, m, args, n)->origin = place;
    return args[0];
}

/* ---- printf ---- */

ptx_variable *ptx_build_call_parameter(ptx_builder *b, ptx_type type, const char *name) {
    ptx_variable *variable = BASE_NEW(b->arena, ptx_variable);
    variable->name = name;
    variable->space = PTX_SPACE_PARAM;
    variable->type = type;
    variable->vector = 1;
    variable->elements = 1;
    variable->bytes = ptx_type_bits(type) / 8;
    return variable;
}

/* int vprintf(const char *format, const void *arguments): the one call that CUDA's printf becomes. */
static ptx_function *vprintf_function(ptx_builder *b) {
    ptx_function *known = ptx_function_find(b->module, "vprintf");
    if (known)
        return known;
    known = ptx_function_create(b->module, "vprintf", false);
    known->linkage = PTX_LINK_EXTERN;
    base_vector_push(b->arena, &known->returns, ptx_build_call_parameter(b, PTX_TYPE_B32, "vprintf_result"));
    base_vector_push(b->arena, &known->parameters,
                     ptx_build_call_parameter(b, PTX_TYPE_B64, "vprintf_format"));
    base_vector_push(b->arena, &known->parameters,
                     ptx_build_call_parameter(b, PTX_TYPE_B64, "vprintf_values"));
    return known;
}

/* A zero-terminated string in global memory; equal texts share one. */
static ptx_variable *text_variable(ptx_builder *b, const char *text) {
    size_t size = strlen(text) + 1;
    unsigned count = 0;
    for (size_t i = 0; i < b->module->variables.count; i++) {
        ptx_variable *known = b->module->variables.items[i];
        if (known->space != PTX_SPACE_GLOBAL || known->linkage != PTX_LINK_NONE)
            continue;
        count++;
        bool equal = known->initial.count == size;
        for (size_t k = 0; equal && k < size; k++)
            equal = known->initial.items[k].bits == (uint8_t)text[k];
        if (equal)
            return known;
    }
    ptx_variable *variable = BASE_NEW(b->arena, ptx_variable);
    variable->name = base_arena_format(b->arena, "$text_%u", count + 1);
    variable->space = PTX_SPACE_GLOBAL;
    variable->type = PTX_TYPE_B8;
    variable->align = 1;
    variable->vector = 1;
    variable->is_array = true;
    variable->elements = (int64_t)size;
    variable->bytes = size;
    for (size_t k = 0; k < size; k++)
        base_vector_push(b->arena, &variable->initial, (ptx_initial){.bits = (uint8_t)text[k]});
    base_vector_push(b->arena, &b->module->variables, variable);
    return variable;
}

ptx_operand ptx_build_text(ptx_builder *b, const char *text) {
    return ptx_build_generic(
        b, (ptx_build_address){PTX_SPACE_GLOBAL, ptx_build_variable(text_variable(b, text), 0), 0});
}

/* As C promotes arguments of "...": floats to double, small integers to 32 bits. */
static ptx_operand promoted(ptx_builder *b, const ir_expr *e, ptx_mod *mod) {
    ir_type type = ir_type_scalar(e->type);
    if (e->op == IR_STRING) {
        *mod = PTX_MOD_B64;
        return ptx_build_text(b, e->at.string);
    }
    if (type.kind == IR_TYPE_POINTER) {
        *mod = PTX_MOD_B64;
        return ptx_build_generic(b, ptx_build_address_of(b, e));
    }
    ptx_operand value = ptx_build_scalar(b, e);
    if (ir_type_is_float(type)) {
        *mod = PTX_MOD_F64;
        return ptx_build_cast(b, ir_type_prim(NUM_DTYPE_F64, 1), type, value);
    }
    *mod = ptx_build_class_of(type) == PTX_CLASS_R64 ? PTX_MOD_B64 : PTX_MOD_B32;
    if (ir_type_is_bool(type))
        return ptx_build_cast(b, u32_type, type, value);
    return value;
}

/* The buffer of one kernel's printf values, as large as the longest list needs. */
static ptx_variable *value_buffer(ptx_builder *b, uint64_t bytes) {
    if (!b->printf_values) {
        b->printf_values = ptx_build_call_parameter(b, PTX_TYPE_B8, "printf_values");
        b->printf_values->space = PTX_SPACE_LOCAL;
        b->printf_values->is_array = true;
        b->printf_values->align = 8;
        b->printf_values->owner = b->function;
        base_vector_push(b->arena, &b->function->variables, b->printf_values);
    }
    if (b->printf_values->bytes < bytes) {
        b->printf_values->bytes = bytes;
        b->printf_values->elements = (int64_t)bytes;
    }
    return b->printf_values;
}

static void call_vprintf(ptx_builder *b, ptx_operand format, ptx_operand values) {
    if (!b->printf_result) {
        b->vprintf = vprintf_function(b);
        b->printf_argument[0] = ptx_build_call_parameter(b, PTX_TYPE_B64, "printf_argument0");
        b->printf_argument[1] = ptx_build_call_parameter(b, PTX_TYPE_B64, "printf_argument1");
        b->printf_result = ptx_build_call_parameter(b, PTX_TYPE_B32, "printf_result");
        ptx_variable *all[3] = {b->printf_argument[0], b->printf_argument[1], b->printf_result};
        for (int i = 0; i < 3; i++) {
            all[i]->owner = b->function;
            base_vector_push(b->arena, &b->function->variables, all[i]);
        }
    }
    ptx_operand sources[2] = {format, values}, arguments[2];
    for (int i = 0; i < 2; i++) {
        arguments[i] = ptx_build_variable(b->printf_argument[i], 0);
        ptx_operand place = ptx_build_group(b, PTX_OPERAND_MEMORY, &arguments[i], 1);
        ptx_build_emit(b, PTX_OP_ST, PTX_MODS(PTX_MOD_PARAM, PTX_MOD_B64), PTX_ARGS(place, sources[i]));
    }
    ptx_operand result = ptx_build_variable(b->printf_result, 0), callee = {.kind = PTX_OPERAND_FUNCTION};
    callee.of.function = b->vprintf;
    ptx_operand returned = ptx_build_group(b, PTX_OPERAND_LIST, &result, 1);
    ptx_operand passed = ptx_build_group(b, PTX_OPERAND_LIST, arguments, 2);
    ptx_build_emit(b, PTX_OP_CALL, PTX_MODS(PTX_MOD_UNI), PTX_ARGS(returned, callee, passed));
}

static void print(ptx_builder *b, const char *format, const ir_expr *const *values, uint32_t count) {
    ptx_operand pointer = ptx_build_int(0);
    uint64_t offset = 0;
    for (uint32_t i = 0; i < count; i++) {
        ptx_mod mod;
        ptx_operand value = promoted(b, values[i], &mod);
        uint64_t size = mod == PTX_MOD_B32 ? 4 : 8;
        offset = (offset + size - 1) / size * size;
        ptx_operand base = ptx_build_variable(value_buffer(b, offset + size), 0);
        ptx_operand place = ptx_build_group(b, PTX_OPERAND_MEMORY, &base, 1);
        place.bits = offset;
        ptx_origin *origin = BASE_NEW(b->arena, ptx_origin);
        *origin = (ptx_origin){.tensor = "printf", .space = "local", .is_store = true};
        ptx_build_emit(b, PTX_OP_ST, PTX_MODS(PTX_MOD_LOCAL, mod), PTX_ARGS(place, value))->origin = origin;
        offset += size;
    }
    if (count)
        pointer = ptx_build_generic(
            b, (ptx_build_address){PTX_SPACE_LOCAL, ptx_build_variable(b->printf_values, 0), 0});
    call_vprintf(b, ptx_build_text(b, format), pointer);
}

static void trap_unless(ptx_builder *b, const ir_expr *e) {
    int64_t constant;
    if (ir_is_int(e->args[0], &constant) && constant)
        return;
    ptx_operand condition = truth(b, e->args[0]);
    bool has_message = e->count > 1 && e->args[1]->op == IR_STRING;
    if (!has_message) {
        ptx_instruction *trap = ptx_build_emit(b, PTX_OP_TRAP, NULL, 0, NULL, 0);
        trap->guard = condition.of.reg;
        trap->guard_negated = !condition.negated;
        return;
    }
    ptx_label *good = ptx_build_label(b, "good");
    ptx_build_branch(b, condition, false, good);
    ptx_build_mark mark = ptx_build_scope_open(b);
    print(b, "%s\n", &e->args[1], 1);
    ptx_build_emit(b, PTX_OP_TRAP, NULL, 0, NULL, 0);
    ptx_build_scope_close(b, mark);
    ptx_build_place(b, good);
}

const ptx_operand *ptx_build_effect(ptx_builder *b, const ir_expr *e, bool used) {
    switch (e->op) {
    case IR_CTA_SYNC:
        ptx_build_emit(b, PTX_OP_BAR, PTX_MODS(PTX_MOD_SYNC), PTX_ARGS(ptx_build_int(0)));
        break;
    case IR_WARP_SYNC:
        ptx_build_emit(b, PTX_OP_BAR_WARP_SYNC, NULL, 0, PTX_ARGS(ptx_build_int(-1)));
        break;
    case IR_THREAD_FENCE:
        ptx_build_emit(b, PTX_OP_MEMBAR, PTX_MODS(PTX_MOD_GL), NULL, 0);
        break;
    case IR_GRID_SYNC:
        grid_barrier(b);
        break;
    case IR_NANOSLEEP:
        ptx_build_emit(b, PTX_OP_NANOSLEEP, PTX_MODS(PTX_MOD_U32), PTX_ARGS(word(b, e->args[0])));
        break;
    case IR_CTA_SYNC_AND:
    case IR_CTA_SYNC_OR:
        return keep(b, barrier_vote(b, e));
    case IR_SHUFFLE:
    case IR_SHUFFLE_UP:
    case IR_SHUFFLE_DOWN:
    case IR_SHUFFLE_XOR:
        return shuffle(b, e);
    case IR_VOTE_ALL:
    case IR_VOTE_ANY:
    case IR_VOTE_BALLOT:
        return keep(b, vote(b, e));
    case IR_ACTIVE_MASK:
        return keep(b,
                    ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_ACTIVEMASK, PTX_MODS(PTX_MOD_B32), NULL, 0));
    case IR_REDUX_ADD:
    case IR_REDUX_MIN:
    case IR_REDUX_MAX:
        return keep(b, redux(b, e));
    case IR_PRINTF:
        if (e->count && e->args[0]->op == IR_STRING)
            print(b, e->args[0]->at.string, e->args + 1, e->count - 1);
        else
            ptx_build_error(b, "T0656", "printf needs a constant format text first");
        break;
    case IR_TRAP_UNLESS:
        trap_unless(b, e);
        break;
    case IR_PTX:
        return ptx_build_pattern(b, e);
    case IR_SOURCE_CALL:
        return ptx_build_source_call(b, e);
    default:
        if (e->op >= IR_ATOMIC_ADD && e->op <= IR_ATOMIC_CAS)
            return keep(b, atomic(b, e, used));
        ptx_build_error(b, "T0650", "operation %s has no PTX form: this is a bug in tirc",
                        ir_op_information(e->op)->name);
        break;
    }
    return keep(b, ptx_build_int(0));
}
