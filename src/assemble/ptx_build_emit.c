/* SPDX-License-Identifier: Apache-2.0
 * Emission: instructions, registers, immediates and labels of the kernel being built. Must not know what is
 * computed. */
#include "assemble/ptx_build_internal.h"
#include "num/num.h"
#include <stdarg.h>
#include <string.h>

static const struct {
    const char *stem;
    ptx_type type;
    ptx_mod mod;
    unsigned bits;
} classes[PTX_CLASS_COUNT] = {
    [PTX_CLASS_PRED] = {"%p", PTX_TYPE_PRED, PTX_MOD_PRED, 1},
    [PTX_CLASS_R32] = {"%r", PTX_TYPE_B32, PTX_MOD_B32, 32},
    [PTX_CLASS_R64] = {"%rd", PTX_TYPE_B64, PTX_MOD_B64, 64},
    [PTX_CLASS_F32] = {"%f", PTX_TYPE_F32, PTX_MOD_F32, 32},
    [PTX_CLASS_F64] = {"%fd", PTX_TYPE_F64, PTX_MOD_F64, 64},
    [PTX_CLASS_HALF] = {"%h", PTX_TYPE_B16, PTX_MOD_B16, 16},
    [PTX_CLASS_BYTE] = {"%rs", PTX_TYPE_B16, PTX_MOD_B16, 16},
};

ptx_mod ptx_build_bits_mod(ptx_build_class class) {
    return classes[class].mod;
}

unsigned ptx_build_class_bits(ptx_build_class class) {
    return classes[class].bits;
}

ptx_build_class ptx_build_class_of(ir_type type) {
    if (type.kind == IR_TYPE_POINTER)
        return type.scope == IR_SCOPE_GLOBAL ? PTX_CLASS_R64 : PTX_CLASS_R32;
    if (type.kind != IR_TYPE_PRIM)
        return PTX_CLASS_R64;
    switch ((num_dtype)type.dtype) {
    case NUM_DTYPE_BOOL:
        return PTX_CLASS_PRED;
    case NUM_DTYPE_F16:
    case NUM_DTYPE_BF16:
        return PTX_CLASS_HALF;
    case NUM_DTYPE_F32:
    case NUM_DTYPE_TF32:
        return PTX_CLASS_F32;
    case NUM_DTYPE_F64:
        return PTX_CLASS_F64;
    default:
        break;
    }
    if (num_dtype_is_float(type.dtype))
        return PTX_CLASS_BYTE;
    return num_dtype_bits(type.dtype) > 32 ? PTX_CLASS_R64 : PTX_CLASS_R32;
}

void ptx_build_error(ptx_builder *b, const char *code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    base_report_list(b->diagnostics, BASE_ERROR, code, b->span, format, arguments);
    va_end(arguments);
    b->failed = true;
}

/* Script places become .loc, so that tools that read the text find the script's lines. */
static void set_line(ptx_builder *b, ptx_instruction *instruction) {
    if (!b->span.file)
        return;
    if (b->placed.file != b->span.file || b->placed.begin != b->span.begin) {
        b->place = base_span_place(base_diagnostics_sources(b->diagnostics), b->span);
        b->placed = b->span;
    }
    base_place place = b->place;
    if (b->span.file < b->module->files.count && place.line) {
        instruction->loc_file = b->span.file;
        instruction->loc_line = place.line;
        instruction->loc_column = place.column;
    }
}

ptx_instruction *ptx_build_emit(ptx_builder *b, ptx_op op, const ptx_mod *mods, unsigned mod_count,
                                const ptx_operand *args, unsigned count) {
    ptx_instruction fresh = {0};
    fresh.op = op;
    fresh.span = b->span;
    for (unsigned i = 0; i < mod_count && i < PTX_MODS_MAX; i++) {
        fresh.mods[fresh.mod_count++] = mods[i];
        if ((unsigned)mods[i] >= PTX_TYPE_COUNT)
            continue;
        if (fresh.type == PTX_TYPE_NONE)
            fresh.type = (ptx_type)mods[i];
        else if (fresh.type2 == PTX_TYPE_NONE)
            fresh.type2 = (ptx_type)mods[i];
    }
    fresh.operand_count = (uint8_t)count;
    if (count)
        fresh.operands = base_arena_copy(b->arena, args, count * sizeof(*args));
    set_line(b, &fresh);
    if (b->in_prologue) {
        base_vector_push(b->arena, &b->prologue, fresh);
        return &b->prologue.items[b->prologue.count - 1];
    }
    base_vector_push(b->arena, &b->function->instructions, fresh);
    return &b->function->instructions.items[b->function->instructions.count - 1];
}

ptx_operand ptx_build_register(ptx_builder *b, ptx_build_class class) {
    char text[24], digits[12], *first = digits + sizeof(digits) - 1, *to;
    unsigned number = ++b->counters[class];
    *first = '\0';
    do
        *--first = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    to = stpcpy(text, classes[class].stem);
    size_t size = (size_t)(digits + sizeof(digits) - first);
    memcpy(to, first, size);
    const char *name = base_arena_copy(b->arena, text, (size_t)(to - text) + size);
    ptx_operand operand = {.kind = PTX_OPERAND_REGISTER};
    operand.of.reg = ptx_register_create_named(b->module, b->function, name, classes[class].type);
    return operand;
}

ptx_operand ptx_build_result(ptx_builder *b, ptx_build_class class) {
    if (b->want && !b->in_prologue) {
        ptx_operand wanted = *b->want;
        b->want = NULL;
        return wanted;
    }
    return ptx_build_register(b, class);
}

ptx_operand ptx_build_compute(ptx_builder *b, ptx_build_class class, ptx_op op, const ptx_mod *mods,
                              unsigned mod_count, const ptx_operand *args, unsigned count) {
    ptx_operand all[8];
    all[0] = ptx_build_result(b, class);
    if (count)
        memcpy(all + 1, args, count * sizeof(*args));
    ptx_build_emit(b, op, mods, mod_count, all, count + 1);
    return all[0];
}

void ptx_build_move(ptx_builder *b, ptx_build_class class, ptx_operand to, ptx_operand from) {
    if (from.kind == PTX_OPERAND_REGISTER && from.of.reg == to.of.reg && !from.negated)
        return;
    if (class == PTX_CLASS_PRED && from.kind == PTX_OPERAND_IMMEDIATE)
        from = ptx_build_int(from.bits ? -1 : 0);
    ptx_build_emit(b, PTX_OP_MOV, PTX_MODS(classes[class].mod), PTX_ARGS(to, from));
}

ptx_operand ptx_build_int(int64_t value) {
    ptx_operand operand = {.kind = PTX_OPERAND_IMMEDIATE, .immediate = PTX_IMMEDIATE_INT};
    operand.bits = (uint64_t)value;
    return operand;
}

ptx_operand ptx_build_f32_bits(uint32_t bits) {
    ptx_operand operand = {.kind = PTX_OPERAND_IMMEDIATE, .immediate = PTX_IMMEDIATE_F32};
    operand.bits = bits;
    return operand;
}

ptx_operand ptx_build_f64_bits(uint64_t bits) {
    ptx_operand operand = {.kind = PTX_OPERAND_IMMEDIATE, .immediate = PTX_IMMEDIATE_F64};
    operand.bits = bits;
    return operand;
}

ptx_operand ptx_build_f32(double value) {
    return ptx_build_f32_bits((uint32_t)num_encode(NUM_DTYPE_F32, value, NUM_RN, false));
}

ptx_operand ptx_build_f64(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return ptx_build_f64_bits(bits);
}

ptx_operand ptx_build_variable(ptx_variable *variable, int64_t offset) {
    ptx_operand operand = {.kind = PTX_OPERAND_VARIABLE};
    operand.bits = (uint64_t)offset;
    operand.of.variable = variable;
    return operand;
}

ptx_operand ptx_build_group(ptx_builder *b, ptx_operand_kind kind, const ptx_operand *args, unsigned count) {
    ptx_operand operand = {.kind = (uint8_t)kind};
    operand.count = (uint16_t)count;
    operand.args = base_arena_copy(b->arena, args, count * sizeof(*args));
    return operand;
}

ptx_operand ptx_build_negated(ptx_operand predicate) {
    predicate.negated = !predicate.negated;
    return predicate;
}

bool ptx_build_is_immediate(ptx_operand operand) {
    return operand.kind == PTX_OPERAND_IMMEDIATE;
}

/* Runs the move among the instructions of the entry, which no branch can skip. */
static ptx_operand at_entry(ptx_builder *b, ptx_build_class class, uint64_t key, ptx_operand source) {
    ptx_operand *known = base_map_get(b->constants, key);
    if (known)
        return *known;
    bool nested = b->in_prologue;
    base_span span = b->span;
    b->in_prologue = true;
    b->span = BASE_NO_SPAN;
    known = BASE_NEW(b->arena, ptx_operand);
    *known = ptx_build_register(b, class);
    ptx_build_move(b, class, *known, source);
    b->in_prologue = nested;
    b->span = span;
    base_map_set(b->constants, key, known);
    return *known;
}

ptx_operand ptx_build_special(ptx_builder *b, ptx_special special, ptx_build_class class) {
    ptx_operand source = {.kind = PTX_OPERAND_SPECIAL};
    source.bits = (uint64_t)special;
    return at_entry(b, class, base_hash_mix(1, (uint64_t)special), source);
}

ptx_operand ptx_build_constant(ptx_builder *b, ptx_build_class class, ptx_operand immediate) {
    uint64_t key = base_hash_mix(base_hash_mix(2 + (uint64_t) class, immediate.kind), immediate.bits);
    if (immediate.kind == PTX_OPERAND_VARIABLE)
        key = base_hash_mix(key,
                            base_hash(immediate.of.variable->name, strlen(immediate.of.variable->name), 3));
    return at_entry(b, class, key, immediate);
}

ptx_operand ptx_build_in_register(ptx_builder *b, ptx_build_class class, ptx_operand operand) {
    return operand.kind == PTX_OPERAND_REGISTER ? operand : ptx_build_constant(b, class, operand);
}

ptx_label *ptx_build_label(ptx_builder *b, const char *stem) {
    ptx_label *label = BASE_NEW(b->arena, ptx_label);
    label->name = base_arena_format(b->arena, "$%s_%u", stem, (unsigned)++b->labels);
    return label;
}

void ptx_build_place(ptx_builder *b, ptx_label *label) {
    label->target = (uint32_t)b->function->instructions.count;
    base_vector_push(b->arena, &b->function->labels, label);
}

void ptx_build_branch(ptx_builder *b, ptx_operand predicate, bool negated, ptx_label *label) {
    ptx_operand target = {.kind = PTX_OPERAND_LABEL};
    target.of.label = label;
    ptx_instruction *branch;
    if (predicate.kind == PTX_OPERAND_NONE) {
        ptx_build_emit(b, PTX_OP_BRA, NULL, 0, PTX_ARGS(target));
        return;
    }
    branch = ptx_build_emit(b, PTX_OP_BRA, NULL, 0, PTX_ARGS(target));
    branch->guard = predicate.of.reg;
    branch->guard_negated = negated != predicate.negated;
}
