/* SPDX-License-Identifier: Apache-2.0
 * PTX instructions as functions of inline assembly, one for each pattern and operand types: called in place,
 * written once above the kernels. The text is volatile and orders memory, so that the compiler neither drops
 * nor moves it. */
#include "cuda/cuda_internal.h"
#include "num/num.h"
#include "ptx/ptx_pattern.h"
#include <string.h>

typedef struct instruction {
    cuda_writer *w;
    const ir_expr *e;
    ptx_pattern pattern;
    base_builder *out;
} instruction;

typedef enum carrier { CARRIER_SELF, CARRIER_HALF, CARRIER_WORD, CARRIER_PREDICATE } carrier;

static num_dtype dtype_of(ir_type type) {
    return (num_dtype)type.dtype;
}

/* Halves travel as 16 bits, bytes and truth as words: asm has no constraint for them. */
static carrier carrier_of(ir_type type) {
    if (type.kind == IR_TYPE_POINTER)
        return CARRIER_SELF;
    if (ir_type_is_bool(type))
        return CARRIER_PREDICATE;
    if (num_dtype_bits(dtype_of(type)) <= 8)
        return CARRIER_WORD;
    return ir_type_is_float(type) && num_dtype_bits(dtype_of(type)) == 16 ? CARRIER_HALF : CARRIER_SELF;
}

static const char *carrier_type(carrier c) {
    return c == CARRIER_HALF ? "unsigned short" : "unsigned int";
}

static char constraint_of(ir_type type) {
    unsigned bits = type.kind == IR_TYPE_POINTER ? 64 : num_dtype_bits(dtype_of(type));
    if (type.kind != IR_TYPE_POINTER && ir_type_is_float(type) && bits >= 32)
        return bits == 64 ? 'd' : 'f';
    return bits == 64 ? 'l' : bits == 16 ? 'h' : 'r';
}

static uint32_t result_count(const ir_expr *e) {
    return e->type.kind == IR_TYPE_VOID ? 0 : e->type.lanes;
}

static bool is_pair_predicate(const instruction *in, uint32_t result) {
    for (uint32_t i = 0; i < in->pattern.operand_count; i++) {
        const ptx_pattern_operand *o = &in->pattern.operands[i];
        if (o->kind == PTX_PATTERN_PAIR && o->args[1].kind == PTX_PATTERN_RESULT &&
            o->args[1].index == result)
            return true;
    }
    return false;
}

static bool result_is_predicate(const instruction *in, uint32_t result) {
    return ir_type_is_bool(in->e->type) || is_pair_predicate(in, result);
}

/* ---- the text of the assembly ---- */

/* A register of 8 bits, c and the operand's number: asm has no constraint for one. */
static bool is_byte(const instruction *in, const ptx_pattern_operand *o) {
    for (uint32_t i = 0; i < in->pattern.operand_count; i++)
        if (o == &in->pattern.operands[i])
            return ptx_pattern_is_byte(&in->pattern, i);
    return false;
}

static void operand(instruction *in, const ptx_pattern_operand *o) {
    base_builder *out = in->out;
    uint32_t results = result_count(in->e);
    switch (o->kind) {
    case PTX_PATTERN_RESULT:
        if (is_byte(in, o))
            base_builder_string(out, "c0");
        else if (result_is_predicate(in, o->index))
            base_builder_format(out, "q%u", o->index);
        else
            base_builder_format(out, "%%%u", o->index);
        return;
    case PTX_PATTERN_ARGUMENT:
        if (ir_type_is_bool(in->e->args[o->index + 2]->type))
            base_builder_format(out, "%sp%u", o->negated ? "!" : "", o->index);
        else if (is_byte(in, o))
            base_builder_format(out, "c%u", (unsigned)(o - in->pattern.operands));
        else
            base_builder_format(out, "%%%u", results + o->index);
        return;
    case PTX_PATTERN_CONSTANT:
        if (o->immediate == PTX_IMMEDIATE_INT)
            base_builder_format(out, "%lld", (long long)o->bits);
        else
            base_builder_format(out, o->immediate == PTX_IMMEDIATE_F32 ? "0f%08llX" : "0d%016llX",
                                (unsigned long long)o->bits);
        return;
    case PTX_PATTERN_SINK:
        base_builder_char(out, '_');
        return;
    case PTX_PATTERN_SPECIAL:
        base_builder_format(out, "%%%%%s", ptx_special_name((ptx_special)o->bits));
        return;
    case PTX_PATTERN_WIDE:
        base_builder_format(out, "w%u", (unsigned)(o - in->pattern.operands));
        return;
    case PTX_PATTERN_PAIR:
        operand(in, &o->args[0]);
        base_builder_char(out, '|');
        operand(in, &o->args[1]);
        return;
    default:
        break;
    }
    bool is_vector = o->kind == PTX_PATTERN_VECTOR;
    base_builder_char(out, is_vector ? '{' : '[');
    for (uint32_t i = 0; i < o->count; i++) {
        base_builder_string(out, i ? ", " : "");
        operand(in, &o->args[i]);
        if (i == 0 && !is_vector && o->bits)
            base_builder_format(out, "+%lld", (long long)o->bits);
    }
    base_builder_char(out, is_vector ? '}' : ']');
}

/* A register of 128 bits between its halves and the instruction. */
static bool is_written(const ptx_pattern_operand *o) {
    return o->kind == PTX_PATTERN_WIDE && o->args[0].kind == PTX_PATTERN_RESULT;
}

static void join_halves(instruction *in, const ptx_pattern_operand *o, bool apart) {
    unsigned number = (unsigned)(o - in->pattern.operands);
    base_builder_string(in->out, apart ? " mov.b128 {" : "mov.b128 ");
    if (!apart)
        base_builder_format(in->out, "w%u, {", number);
    operand(in, &o->args[0]);
    base_builder_string(in->out, ", ");
    operand(in, &o->args[1]);
    if (apart)
        base_builder_format(in->out, "}, w%u;", number);
    else
        base_builder_string(in->out, "}; ");
}

static void declare_wide(instruction *in) {
    const ptx_pattern *pattern = &in->pattern;
    for (uint32_t i = 0; i < pattern->operand_count; i++) {
        if (pattern->operands[i].kind != PTX_PATTERN_WIDE)
            continue;
        base_builder_format(in->out, ".reg .b128 w%u; ", i);
        if (!is_written(&pattern->operands[i]) || pattern->keep_count)
            join_halves(in, &pattern->operands[i], false);
    }
}

static void declare_bytes(instruction *in) {
    const ptx_pattern *pattern = &in->pattern;
    for (uint32_t i = 0; i < pattern->operand_count; i++) {
        const ptx_pattern_operand *o = &pattern->operands[i];
        if (!ptx_pattern_is_byte(pattern, i))
            continue;
        base_builder_format(in->out, ".reg .b8 c%u; ", i);
        if (o->kind == PTX_PATTERN_ARGUMENT)
            base_builder_format(in->out, "cvt.u8.u32 c%u, %%%u; ", i, result_count(in->e) + o->index);
        else if (pattern->keep_count)
            base_builder_format(in->out, "cvt.u8.u32 c%u, %%%u; ", i, o->index);
    }
}

static void select_result(instruction *in, uint32_t result) {
    ir_type type = ir_type_scalar(in->e->type);
    bool is_bool = ir_type_is_bool(type);
    unsigned bits = is_bool ? 32 : num_dtype_bits(dtype_of(type));
    if (!is_bool && ir_type_is_float(type) && bits == 32)
        base_builder_format(in->out, " selp.f32 %%%u, 0f3F800000, 0f00000000, q%u;", result, result);
    else
        base_builder_format(in->out, " selp.b%u %%%u, 1, 0, q%u;", bits < 16 ? 32 : bits, result, result);
}

static void assembly(instruction *in) {
    base_builder *out = in->out;
    const ptx_pattern *pattern = &in->pattern;
    uint32_t results = result_count(in->e);
    bool block = false;
    for (uint32_t i = 0; i < results; i++)
        block |= result_is_predicate(in, i);
    for (uint32_t i = 0; i < pattern->arguments; i++)
        block |= ir_type_is_bool(in->e->args[i + 2]->type);
    for (uint32_t i = 0; i < pattern->operand_count; i++)
        block |= pattern->operands[i].kind == PTX_PATTERN_WIDE || ptx_pattern_is_byte(pattern, i);
    base_builder_string(out, block ? "{ " : "");
    declare_wide(in);
    declare_bytes(in);
    for (uint32_t i = 0; i < pattern->arguments; i++)
        if (ir_type_is_bool(in->e->args[i + 2]->type))
            base_builder_format(out, ".reg .pred p%u; setp.ne.b32 p%u, %%%u, 0; ", i, i, results + i);
    for (uint32_t i = 0; i < results; i++)
        if (result_is_predicate(in, i)) {
            base_builder_format(out, ".reg .pred q%u; ", i);
            if (pattern->keep_count)
                base_builder_format(out, "setp.ne.b32 q%u, %%%u, 0; ", i, i);
        }
    if (pattern->guard >= 0)
        base_builder_format(out, "@%sp%u ", pattern->guard_negated ? "!" : "", (unsigned)pattern->guard);
    ptx_pattern_print_name(pattern, out);
    for (uint32_t i = 0; i < pattern->operand_count; i++) {
        base_builder_string(out, i ? ", " : " ");
        operand(in, &pattern->operands[i]);
    }
    base_builder_char(out, ';');
    if (results && ptx_pattern_is_byte(pattern, 0))
        base_builder_string(out, " cvt.u32.u8 %0, c0;");
    for (uint32_t i = 0; i < pattern->operand_count; i++)
        if (is_written(&pattern->operands[i]))
            join_halves(in, &pattern->operands[i], true);
    for (uint32_t i = 0; i < results; i++)
        if (result_is_predicate(in, i))
            select_result(in, i);
    base_builder_string(out, block ? " }" : "");
}

/* ---- the function around it ---- */

static const char *lane_name(const instruction *in, uint32_t lane) {
    base_arena *arena = in->w->arena;
    if (in->e->type.lanes == 1)
        return "r";
    bool own = !cuda_vector_is_builtin(dtype_of(in->e->type), in->e->type.lanes);
    return own && in->e->type.lanes > 4 ? base_arena_format(arena, "r.v[%u]", lane)
                                        : base_arena_format(arena, "r.%c", "xyzw"[lane]);
}

static void parameters(instruction *in) {
    for (uint32_t i = 0; i < in->pattern.arguments; i++) {
        ir_type type = in->e->args[i + 2]->type;
        base_builder_format(in->out, "%s%s a%u", i ? ", " : "",
                            type.kind == IR_TYPE_POINTER ? "const void*" : cuda_type(in->w, type), i);
    }
}

/* An argument as its constraint takes it. */
static void argument_text(instruction *in, uint32_t i) {
    ir_type type = in->e->args[i + 2]->type;
    carrier c = carrier_of(type);
    if (c == CARRIER_HALF) {
        cuda_use(in->w, HELPER_BITS);
        base_builder_format(in->out, "tirc_bits<unsigned short>(a%u)", i);
    } else if (c == CARRIER_WORD && ir_type_is_float(type)) {
        cuda_use(in->w, HELPER_BITS);
        base_builder_format(in->out, "(unsigned int)tirc_bits<unsigned char>(a%u)", i);
    } else if (c != CARRIER_SELF) {
        base_builder_format(in->out, "(unsigned int)a%u", i);
    } else {
        base_builder_format(in->out, "a%u", i);
    }
}

static void declare_results(instruction *in) {
    uint32_t results = result_count(in->e);
    carrier c = carrier_of(ir_type_scalar(in->e->type));
    base_builder_format(in->out, "  %s r;\n", cuda_type(in->w, in->e->type));
    for (uint32_t i = 0; i < results; i++) {
        if (c != CARRIER_SELF)
            base_builder_format(in->out, "  %s d%u", carrier_type(c), i);
        else if (in->pattern.keep_count)
            base_builder_format(in->out, "  %s", lane_name(in, i));
        else
            continue;
        if (in->pattern.keep_count) {
            base_builder_string(in->out, " = ");
            argument_text(in, in->pattern.keep[i]);
        }
        base_builder_string(in->out, ";\n");
    }
}

static void return_results(instruction *in) {
    ir_type type = ir_type_scalar(in->e->type);
    carrier c = carrier_of(type);
    for (uint32_t i = 0; c != CARRIER_SELF && i < result_count(in->e); i++) {
        base_builder_format(in->out, "  %s = ", lane_name(in, i));
        const char *text = cuda_type(in->w, type);
        if (c == CARRIER_HALF || (c == CARRIER_WORD && ir_type_is_float(type))) {
            cuda_use(in->w, HELPER_BITS);
            base_builder_format(in->out, "tirc_bits<%s>(%sd%u);\n", text,
                                c == CARRIER_WORD ? "(unsigned char)" : "", i);
        } else if (c == CARRIER_PREDICATE) {
            base_builder_format(in->out, "d%u != 0;\n", i);
        } else {
            base_builder_format(in->out, "(%s)d%u;\n", text, i);
        }
    }
    base_builder_string(in->out, "  return r;\n");
}

static void function_text(instruction *in, const char *name) {
    base_builder *out = in->out;
    uint32_t results = result_count(in->e);
    base_builder_format(out, "static __device__ __forceinline__ %s %s(",
                        results ? cuda_type(in->w, in->e->type) : "void", name);
    parameters(in);
    base_builder_string(out, ") {\n");
    if (results)
        declare_results(in);
    base_builder_string(out, "  asm volatile(\"");
    assembly(in);
    base_builder_string(out, "\"\n      :");
    ir_type type = ir_type_scalar(in->e->type);
    for (uint32_t i = 0; i < results; i++) {
        char c = carrier_of(type) == CARRIER_HALF   ? 'h'
                 : carrier_of(type) != CARRIER_SELF ? 'r'
                                                    : constraint_of(type);
        const char *place =
            carrier_of(type) != CARRIER_SELF ? base_arena_format(in->w->arena, "d%u", i) : lane_name(in, i);
        base_builder_format(out, "%s\"%c%c\"(%s)", i ? ", " : " ", in->pattern.keep_count ? '+' : '=', c,
                            place);
    }
    base_builder_string(out, "\n      :");
    for (uint32_t i = 0; i < in->pattern.arguments; i++) {
        ir_type given = in->e->args[i + 2]->type;
        char c = carrier_of(given) == CARRIER_HALF   ? 'h'
                 : carrier_of(given) != CARRIER_SELF ? 'r'
                                                     : constraint_of(given);
        base_builder_format(out, "%s\"%c\"(", i ? ", " : " ", c);
        argument_text(in, i);
        base_builder_char(out, ')');
    }
    base_builder_string(out, "\n      : \"memory\");\n");
    if (results)
        return_results(in);
    base_builder_string(out, "}\n");
}

/* "tvm_builtin_ptx_tcgen05_ld_sync_aligned_32x32b_x4_b32": dots become _, :: becomes __. */
static const char *function_name(instruction *in) {
    base_builder name, text;
    base_builder_start(&name, in->w->arena);
    base_builder_start(&text, in->w->arena);
    ptx_pattern_print_name(&in->pattern, &text);
    base_builder_string(&name, "tvm_builtin_ptx_");
    for (const char *c = text.data; *c; c++)
        base_builder_char(&name, *c == '.' || *c == ':' ? '_' : *c);
    base_builder_string(&name, in->pattern.guard >= 0 ? "_pred" : "");
    unsigned same = 0;
    for (size_t i = 0; i < in->w->instructions.count; i++)
        same += strcmp(in->w->instructions.items[i].stem, name.data) == 0;
    const char *stem = name.data;
    cuda_instruction made = {.of = in->e, .stem = stem};
    made.name = same ? base_arena_format(in->w->arena, "%s_v%u", stem, same + 1) : stem;
    base_vector_push(in->w->arena, &in->w->instructions, made);
    return made.name;
}

/* One function serves both: the same text, and operands of the same types. */
static bool same_function(const ir_expr *a, const ir_expr *b) {
    if (a->args[0] != b->args[0] || a->args[1] != b->args[1] || a->count != b->count)
        return false;
    for (uint32_t i = 2; i < a->count; i++)
        if ((a->args[i]->type.kind != IR_TYPE_POINTER || b->args[i]->type.kind != IR_TYPE_POINTER) &&
            !ir_type_equal(a->args[i]->type, b->args[i]->type))
            return false;
    return true;
}

bool cuda_ptx(cuda_writer *w, const ir_expr *e) {
    if (e->op == IR_SHARED_ADDRESS) {
        base_builder_string(w->out, "(unsigned int)__cvta_generic_to_shared(");
        cuda_expr(w, e->args[0], false);
        base_builder_char(w->out, ')');
        return true;
    }
    if (e->op != IR_PTX)
        return false;
    const char *name = NULL;
    for (size_t i = 0; !name && i < w->instructions.count; i++)
        if (same_function(w->instructions.items[i].of, e))
            name = w->instructions.items[i].name;
    if (!name) {
        base_builder text, why;
        instruction in = {.w = w, .e = e, .out = &text};
        base_builder_start(&text, w->arena);
        base_builder_start(&why, w->arena);
        if (!ptx_pattern_parse(w->arena, &w->module->patterns, e->args[0]->at.string, &in.pattern, &why)) {
            base_report(w->diagnostics, BASE_ERROR, "T0451", w->span, "`%s` does not read: %s",
                        e->args[0]->at.string, why.data ? why.data : "");
            return true;
        }
        name = function_name(&in);
        size_t at = w->instructions.count - 1;
        function_text(&in, name);
        w->instructions.items[at].text = text.data;
    }
    cuda_apply(w, name, e->args + 2, e->count - 2);
    return true;
}
