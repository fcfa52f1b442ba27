/* SPDX-License-Identifier: Apache-2.0
 * Instructions that the script names itself: the pattern of IR_PTX with registers. What they do is not known
 * here. */
#include "ptx/ptx_pattern.h"
#include "assemble/ptx_build_internal.h"
#include "num/num.h"
#include <string.h>

typedef struct instance {
    ptx_builder *b;
    const ir_expr *e;
    const ptx_pattern *pattern;
    ptx_operand *results;
    const ptx_operand *arguments; /* pointers: none */
    bool is_global;               /* the instruction names global memory */
    const ptx_origin *origin;
    ptx_operand wide[4]; /* registers of 128 bits whose halves are results, by their first one's place */
    const ptx_pattern_operand *wide_of[4];
    unsigned wide_count;
} instance;

static const ir_expr *argument(const instance *in, uint32_t index) {
    return in->e->args[index + 2];
}

static bool is_short(ir_type type) {
    return type.kind == IR_TYPE_PRIM && num_dtype_bits((num_dtype)type.dtype) == 16 &&
           ir_type_is_integer(type);
}

/* As the instruction takes it: 16-bit integers, which live in 32-bit registers, in one of 16 bits. */
static ptx_operand argument_value(ptx_builder *b, const ir_expr *e) {
    ptx_operand x = ptx_build_scalar(b, e);
    if (ir_type_is_bool(e->type))
        return ptx_build_as_predicate(b, x);
    if (is_short(e->type) && ptx_build_is_immediate(x)) /* ptxas takes no number as a mask of CTAs */
        return ptx_build_in_register(b, PTX_CLASS_BYTE, x);
    if (!is_short(e->type))
        return x;
    return ptx_build_compute(b, PTX_CLASS_BYTE, PTX_OP_CVT, PTX_MODS(PTX_MOD_U16, PTX_MOD_U32), PTX_ARGS(x));
}

static ptx_build_class class_of(ir_type type) {
    return is_short(type) ? PTX_CLASS_BYTE : ptx_build_class_of(type);
}

/* Registers hold 8- and 16-bit integers extended. */
static ptx_operand result_value(ptx_builder *b, ir_type type, ptx_operand x, bool is_predicate) {
    if (is_predicate && !ir_type_is_bool(type))
        return ptx_build_cast(b, type, ir_type_prim(NUM_DTYPE_BOOL, 1), x);
    if (is_short(type)) {
        bool is_signed = num_dtype_class((num_dtype)type.dtype) == NUM_SIGNED;
        return is_signed ? ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_CVT, PTX_MODS(PTX_MOD_S32, PTX_MOD_S16),
                                             PTX_ARGS(x))
                         : ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_CVT, PTX_MODS(PTX_MOD_U32, PTX_MOD_U16),
                                             PTX_ARGS(x));
    }
    if (ir_type_is_integer(type) && num_dtype_bits((num_dtype)type.dtype) == 8)
        return ptx_build_wrap(b, (num_dtype)type.dtype, x);
    return x;
}

/* ---- addresses ---- */

static void note_origin(instance *in, const ir_expr *pointer) {
    if (in->origin)
        return;
    bool is_element = pointer->op == IR_POINTER_ADDRESS;
    in->origin = ptx_build_origin(in->b, is_element ? pointer->at.origin : NULL, pointer,
                                  is_element ? pointer->args[1] : NULL, in->pattern->results == 0);
}

static ptx_operand address(instance *in, const ptx_pattern_operand *from) {
    ptx_builder *b = in->b;
    const ir_expr *e = from->args[0].kind == PTX_PATTERN_ARGUMENT ? argument(in, from->args[0].index) : NULL;
    ptx_build_address place = {.space = PTX_SPACE_SHARED};
    if (e && e->op == IR_SHARED_ADDRESS) {
        note_origin(in, e->args[0]);
        place = ptx_build_address_of(b, e->args[0]);
        if (place.space != PTX_SPACE_SHARED)
            place = (ptx_build_address){PTX_SPACE_SHARED, ptx_build_scalar(b, e), 0};
    } else if (e && ir_type_is_tensor_map(e->type)) {
        place = (ptx_build_address){PTX_SPACE_GLOBAL, ptx_build_scalar(b, e), 0};
    } else if (e && e->type.kind == IR_TYPE_POINTER) {
        note_origin(in, e);
        place = ptx_build_address_of(b, e);
        if (place.space != PTX_SPACE_GLOBAL || !in->is_global)
            place = (ptx_build_address){PTX_SPACE_GLOBAL, ptx_build_generic(b, place), 0};
    } else if (e) {
        ptx_build_class class = ptx_build_class_of(e->type);
        place.space = class == PTX_CLASS_R64 ? PTX_SPACE_GLOBAL : PTX_SPACE_SHARED;
        place.base = ptx_build_in_register(b, class, in->arguments[from->args[0].index]);
    }
    place.offset += (int64_t)from->bits;
    return ptx_build_memory_operand(b, place);
}

static ptx_operand operand(instance *in, const ptx_pattern_operand *from, bool in_group);

static void move_halves(ptx_builder *b, ptx_operand to, ptx_operand from) {
    ptx_build_emit(b, PTX_OP_MOV, PTX_MODS(PTX_MOD_B128), PTX_ARGS(to, from));
}

static ptx_operand halves_of(instance *in, const ptx_pattern_operand *from) {
    ptx_operand halves[2];
    for (unsigned i = 0; i < 2; i++)
        halves[i] = operand(in, &from->args[i], true);
    return ptx_build_group(in->b, PTX_OPERAND_VECTOR, halves, 2);
}

/* 128 bits: put together before the instruction, taken apart after it. What a guard may leave out keeps what
 * the halves have. */
static ptx_operand wide(instance *in, const ptx_pattern_operand *from) {
    ptx_builder *b = in->b;
    bool is_written = from->args[0].kind == PTX_PATTERN_RESULT;
    ptx_operand q = {.kind = PTX_OPERAND_REGISTER};
    q.of.reg = ptx_register_create(b->module, b->function, base_arena_format(b->arena, "%%q%u", ++b->wides),
                                   PTX_TYPE_B128);
    if (!is_written || in->pattern->keep_count)
        move_halves(b, q, halves_of(in, from));
    if (is_written && in->wide_count < sizeof(in->wide) / sizeof(in->wide[0])) {
        in->wide[in->wide_count] = q;
        in->wide_of[in->wide_count++] = from;
    }
    return q;
}

static ptx_operand operand(instance *in, const ptx_pattern_operand *from, bool in_group) {
    ptx_builder *b = in->b;
    ptx_operand to = {.kind = PTX_OPERAND_SINK}, *args;
    switch (from->kind) {
    case PTX_PATTERN_RESULT:
        return in->results[from->index];
    case PTX_PATTERN_ARGUMENT:
        to = in->arguments[from->index];
        if (in_group || to.kind == PTX_OPERAND_VARIABLE || is_short(argument(in, from->index)->type))
            to = ptx_build_in_register(b, class_of(argument(in, from->index)->type), to);
        return from->negated ? ptx_build_negated(to) : to;
    case PTX_PATTERN_CONSTANT:
        to.kind = PTX_OPERAND_IMMEDIATE;
        to.immediate = from->immediate;
        to.bits = from->bits;
        return to;
    case PTX_PATTERN_SINK:
        return to;
    case PTX_PATTERN_SPECIAL:
        to.kind = PTX_OPERAND_SPECIAL;
        to.bits = from->bits;
        return to;
    case PTX_PATTERN_WIDE:
        return wide(in, from);
    case PTX_PATTERN_ADDRESS:
        to = address(in, from);
        if (from->count == 1)
            return to;
        args = BASE_NEW_ARRAY(b->arena, ptx_operand, from->count);
        args[0] = to.args[0];
        for (uint32_t i = 1; i < from->count; i++)
            args[i] = operand(in, &from->args[i], true);
        to.args = args;
        to.count = (uint16_t)from->count;
        return to;
    default:
        args = BASE_NEW_ARRAY(b->arena, ptx_operand, from->count);
        for (uint32_t i = 0; i < from->count; i++)
            args[i] = operand(in, &from->args[i], true);
        return ptx_build_group(b, from->kind == PTX_PATTERN_PAIR ? PTX_OPERAND_PAIR : PTX_OPERAND_VECTOR,
                               args, from->count);
    }
}

static bool is_predicate_result(const ptx_pattern *pattern, ir_type type, uint32_t result) {
    if (ir_type_is_bool(type))
        return true;
    for (uint32_t i = 0; i < pattern->operand_count; i++) {
        const ptx_pattern_operand *o = &pattern->operands[i];
        if (o->kind == PTX_PATTERN_PAIR && o->args[1].kind == PTX_PATTERN_RESULT &&
            o->args[1].index == result)
            return true;
    }
    return false;
}

/* A result starts with the value that it keeps where the guard is false. */
static void start_result(instance *in, uint32_t result, ptx_build_class class) {
    if (in->pattern->keep_count == 0)
        return;
    ptx_operand kept = in->arguments[in->pattern->keep[result]];
    if (class == PTX_CLASS_PRED)
        kept = ptx_build_as_predicate(in->b, kept);
    ptx_build_move(in->b, class, in->results[result], kept);
}

/* A register of 8 bits, with the lower bits of x; a result has them to keep where a guard is false. */
static ptx_operand byte_of(instance *in, uint32_t i, ptx_operand x) {
    ptx_builder *b = in->b;
    ptx_operand c = {.kind = PTX_OPERAND_REGISTER};
    c.of.reg = ptx_register_create(b->module, b->function, base_arena_format(b->arena, "%%c%u", ++b->bytes),
                                   PTX_TYPE_B8);
    if (in->pattern->operands[i].kind != PTX_PATTERN_RESULT || in->pattern->keep_count)
        ptx_build_emit(b, PTX_OP_CVT, PTX_MODS(PTX_MOD_U8, PTX_MOD_U32),
                       PTX_ARGS(c, ptx_build_in_register(b, PTX_CLASS_R32, x)));
    return c;
}

static void emit(instance *in) {
    const ptx_pattern *pattern = in->pattern;
    ptx_operand *operands = BASE_NEW_ARRAY(in->b->arena, ptx_operand, pattern->operand_count + 1);
    for (uint32_t i = 0; i < pattern->operand_count; i++)
        operands[i] = operand(in, &pattern->operands[i], false);
    for (uint32_t i = 0; i < pattern->operand_count; i++)
        if (ptx_pattern_is_byte(pattern, i))
            operands[i] = byte_of(in, i, operands[i]);
        else if (ptx_pattern_is_register(pattern, i))
            operands[i] = ptx_build_in_register(in->b, PTX_CLASS_R32, operands[i]);
    ptx_operand guard = {0};
    if (pattern->guard >= 0)
        guard = ptx_build_in_register(in->b, PTX_CLASS_PRED, in->arguments[pattern->guard]);
    if (!in->origin && ptx_op_is_memory(pattern->op)) {
        ptx_origin *origin = BASE_NEW(in->b->arena, ptx_origin);
        base_builder name;
        base_builder_start(&name, in->b->arena);
        ptx_pattern_print_name(pattern, &name);
        *origin = (ptx_origin){.tensor = name.data, .space = "", .is_store = pattern->results == 0};
        in->origin = origin;
    }
    ptx_instruction *made = ptx_build_emit(in->b, pattern->op, pattern->mods, pattern->mod_count, operands,
                                           pattern->operand_count);
    made->origin = in->origin;
    if (pattern->guard >= 0) {
        made->guard = guard.of.reg;
        made->guard_negated = pattern->guard_negated != guard.negated;
    }
    if (pattern->results && ptx_pattern_is_byte(pattern, 0))
        ptx_build_emit(in->b, PTX_OP_CVT, PTX_MODS(PTX_MOD_U32, PTX_MOD_U8),
                       PTX_ARGS(in->results[0], operands[0]));
    for (unsigned i = 0; i < in->wide_count; i++)
        move_halves(in->b, halves_of(in, in->wide_of[i]), in->wide[i]);
}

const ptx_operand *ptx_build_pattern(ptx_builder *b, const ir_expr *e) {
    ptx_pattern pattern;
    base_builder why;
    const ptx_operand *want = b->want;
    b->want = NULL;
    base_builder_start(&why, b->arena);
    if (!ptx_pattern_parse(b->arena, &b->ir->patterns, e->args[0]->at.string, &pattern, &why) ||
        pattern.arguments + 2 != e->count) {
        ptx_build_error(b, "T0650", "the pattern `%s` does not read: this is a bug in tirc",
                        e->args[0]->at.string);
        return ptx_build_zero(b);
    }
    ir_type type = ir_type_scalar(e->type);
    ptx_operand *arguments = BASE_NEW_ARRAY(b->arena, ptx_operand, pattern.arguments + 1);
    instance in = {.b = b, .e = e, .pattern = &pattern, .arguments = arguments};
    in.results = BASE_NEW_ARRAY(b->arena, ptx_operand, pattern.results + 1);
    for (uint32_t i = 0; i < pattern.mod_count; i++)
        in.is_global |= pattern.mods[i] == PTX_MOD_GLOBAL;
    for (uint32_t i = 0; i < pattern.arguments; i++)
        if (argument(&in, i)->type.kind == IR_TYPE_PRIM && argument(&in, i)->op != IR_SHARED_ADDRESS)
            arguments[i] = argument_value(b, argument(&in, i));
    for (uint32_t i = 0; i < pattern.arguments; i++) /* outside an address the number itself is wanted */
        if (argument(&in, i)->op == IR_SHARED_ADDRESS)
            arguments[i] = ptx_build_scalar(b, argument(&in, i));
    bool plain = pattern.results == 1 && !is_short(type) && want &&
                 (pattern.keep_count == 0 || (arguments[pattern.keep[0]].kind == PTX_OPERAND_REGISTER &&
                                              arguments[pattern.keep[0]].of.reg == want->of.reg));
    for (uint32_t i = 0; i < pattern.results; i++) {
        ptx_build_class class = is_predicate_result(&pattern, type, i) ? PTX_CLASS_PRED : class_of(type);
        b->want = plain ? want : NULL;
        in.results[i] = ptx_build_result(b, class);
        b->want = NULL;
        start_result(&in, i, class);
    }
    emit(&in);
    for (uint32_t i = 0; i < pattern.results; i++)
        in.results[i] = result_value(b, type, in.results[i], is_predicate_result(&pattern, type, i));
    return in.results;
}

ptx_operand ptx_build_shared_address(ptx_builder *b, const ir_expr *pointer) {
    ptx_build_address place = ptx_build_address_of(b, pointer);
    if (place.space == PTX_SPACE_SHARED)
        return ptx_build_in_register(b, PTX_CLASS_R32, ptx_build_pointer_value(b, place));
    if (place.space != PTX_SPACE_GLOBAL) {
        ptx_build_error(b, "T0655", "a pointer to local memory has no address in shared memory");
        return ptx_build_int(0);
    }
    ptx_operand generic = ptx_build_generic(b, place);
    ptx_operand shared = ptx_build_compute(
        b, PTX_CLASS_R64, PTX_OP_CVTA, PTX_MODS(PTX_MOD_TO, PTX_MOD_SHARED, PTX_MOD_U64), PTX_ARGS(generic));
    return ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_CVT, PTX_MODS(PTX_MOD_U32, PTX_MOD_U64),
                             PTX_ARGS(shared));
}
