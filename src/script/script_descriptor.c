/* SPDX-License-Identifier: Apache-2.0
 * Descriptors of matrix instructions: the 64-bit matrix descriptor of tcgen05 and of wgmma, and the
 * instruction descriptor of tcgen05.mma (PTX ISA 9.0, 9.7.16.4 and 9.7.15.5). Knows bits, not what
 * multiplies. */
#include "script/script_evaluate.h"
#include <string.h>

static const ir_expr *u64(script_evaluator *e, const ir_expr *x) {
    return ir_cast(e->module, ir_type_prim(NUM_DTYPE_U64, 1), x);
}

static const ir_expr *field(script_evaluator *e, const ir_expr *x, int64_t mask, int shift) {
    ir_module *module = e->module;
    x = ir_binary(module, IR_BITAND, u64(e, x), ir_int(module, NUM_DTYPE_U64, mask));
    return ir_binary(module, IR_SHL, x, ir_int(module, NUM_DTYPE_U64, shift));
}

/* Stores into what the pointer names: address_of(x), x.data, or the scalar itself. */
static bool store(script_evaluator *e, const script_call *call, const ir_expr *value) {
    script_value v = call->value[0];
    const ir_expr **zero = BASE_NEW_ARRAY(e->arena, const ir_expr *, 1);
    zero[0] = ir_int(e->module, NUM_DTYPE_I32, 0);
    ir_tensor *tensor = NULL;
    const ir_expr *const *indices = zero;
    uint32_t count = 1;
    if (v.kind == SCRIPT_VALUE_TENSOR && script_is_single(v.as.tensor)) {
        tensor = v.as.tensor;
    } else if (v.kind == SCRIPT_VALUE_EXPR &&
               (v.as.expr->op == IR_DATA || v.as.expr->op == IR_ADDRESS || v.as.expr->op == IR_LOAD)) {
        tensor = (ir_tensor *)(uintptr_t)v.as.expr->at.tensor;
        if (v.as.expr->op != IR_DATA) {
            indices = v.as.expr->args;
            count = v.as.expr->count;
        }
    }
    if (!tensor || tensor->type.rank != count || tensor->type.dtype != (num_dtype)value->type.dtype) {
        base_diagnostic *d =
            script_error(e, "T0525", call->place[0], "the descriptor goes into one %s, not %s",
                         num_dtype_name((num_dtype)value->type.dtype), script_value_name(e->arena, v));
        base_help(e->diagnostics, d, "desc: T.%s, and then T.address_of(desc)",
                  num_dtype_name((num_dtype)value->type.dtype));
        return false;
    }
    script_store(e, tensor, indices, count, script_expr(value), call->place[0], call->span);
    return true;
}

/* Modes as cuTensorMapEncode numbers them: none, 32, 64, 128 bytes, 128 bytes by atoms of 32. */
script_value script_word_matrix_descriptor(script_evaluator *e, const script_call *call) {
    static const int64_t tcgen05[] = {0, 6, 4, 2, 1}, wgmma[] = {0, 3, 2, 1};
    bool blackwell = call->word->data == 0;
    int64_t swizzle;
    const ir_expr *address = NULL, *parts[2];
    if (!script_need_kernel(e, call->span, call->word->path) ||
        !script_constant_int(e, call->value[4], &swizzle, call->place[4], "the swizzle of a descriptor"))
        return script_poison();
    if (swizzle < 0 || swizzle > (blackwell ? 4 : 3)) {
        script_error(e, "T0525", call->place[4],
                     "swizzle %lld; it is 0 (none), 1 (32 bytes), 2 (64), 3 (128)%s", (long long)swizzle,
                     blackwell ? " or 4 (128 by atoms of 32)" : "");
        return script_poison();
    }
    script_value pointer = call->value[1];
    if (pointer.kind == SCRIPT_VALUE_EXPR && pointer.as.expr->op == IR_REINTERPRET &&
        ir_is_int(pointer.as.expr->args[0], NULL)) /* a null pointer: the address is added later */
        address = ir_int(e->module, NUM_DTYPE_U32, 0);
    else
        address = script_ptx_shared_address(e, pointer, call->place[1]);
    parts[0] = script_to_index(e, call->value[2], call->place[2], "the leading dimension offset");
    parts[1] = script_to_index(e, call->value[3], call->place[3], "the stride dimension offset");
    if (!address || !parts[0] || !parts[1])
        return script_poison();
    ir_module *module = e->module;
    const ir_expr *four = ir_int(module, NUM_DTYPE_U32, 4);
    const ir_expr *x = field(e, ir_binary(module, IR_SHR, address, four), 0x3fff, 0);
    x = ir_binary(module, IR_BITOR, x, field(e, parts[0], 0x3fff, 16));
    x = ir_binary(module, IR_BITOR, x, field(e, parts[1], 0x3fff, 32));
    uint64_t rest =
        blackwell ? (uint64_t)1 << 46 | (uint64_t)tcgen05[swizzle] << 61 : (uint64_t)wgmma[swizzle] << 62;
    x = ir_binary(module, IR_BITOR, x, ir_int(module, NUM_DTYPE_U64, (int64_t)rest));
    return store(e, call, x) ? script_none() : script_poison();
}

/* ---- instruction descriptors ---- */

typedef struct instruction_fields {
    num_dtype d, a, b;
    int64_t m, n, groups, sfa_id, sfb_id;
    bool transpose_a, transpose_b, negate_a, negate_b, saturate, sparse;
    bool e8m0; /* scale factors */
} instruction_fields;

static bool truth(script_evaluator *e, const script_call *call, const char *name, bool *value) {
    const script_value *v = script_argument_of(call, name);
    *value = false;
    return !v || script_constant_bool(e, *v, value, script_argument_span(call, name), name);
}

static bool dtype(script_evaluator *e, const script_call *call, const char *name, num_dtype *value) {
    ir_type type;
    const script_value *v = script_argument_of(call, name);
    *value = NUM_DTYPE_NONE;
    if (!v || !script_to_dtype(e, *v, &type, script_argument_span(call, name)))
        return !v;
    *value = (num_dtype)type.dtype;
    return true;
}

/* Type codes of A and B; -1: none. */
static int64_t input_code(num_dtype type) {
    switch (type) {
    case NUM_DTYPE_F16:
    case NUM_DTYPE_F8E4M3FN:
    case NUM_DTYPE_U8:
        return 0;
    case NUM_DTYPE_BF16:
    case NUM_DTYPE_F8E5M2:
    case NUM_DTYPE_I8:
        return 1;
    case NUM_DTYPE_F32:
    case NUM_DTYPE_TF32:
        return 2;
    case NUM_DTYPE_F6E2M3FN:
        return 3;
    case NUM_DTYPE_F6E3M2FN:
        return 4;
    case NUM_DTYPE_F4E2M1FN:
        return 5;
    default:
        return -1;
    }
}

static int64_t result_code(num_dtype type) {
    return type == NUM_DTYPE_F16 ? 0 : type == NUM_DTYPE_F32 ? 1 : type == NUM_DTYPE_I32 ? 2 : -1;
}

static bool refuse(script_evaluator *e, const script_call *call, const char *name, const char *text) {
    const script_value *v = script_argument_of(call, name);
    script_error(e, "T0525", script_argument_span(call, name), "%s=%s: %s", name,
                 v ? script_value_name(e->arena, *v) : "", text);
    return false;
}

/* Shapes of the table of kinds (PTX ISA 9.0, table of tcgen05.mma shapes): M by the pair, N by M. */
static bool check_shape(script_evaluator *e, const script_call *call, const instruction_fields *f,
                        bool scaled) {
    bool pair = f->groups == 2;
    if (f->groups != 1 && f->groups != 2)
        return refuse(e, call, "n_cta_groups", "1 or 2");
    bool good_m =
        pair ? f->m == 256 || f->m == 128 : f->m == 128 || (!scaled && f->m == 64) || (!scaled && f->m == 32);
    if (!good_m)
        return refuse(e, call, "M",
                      pair ? "a pair multiplies 128 or 256 rows"
                           : "one block multiplies 128 rows, 64, or (.ws) 32");
    int64_t step = f->m == 256 || (f->m == 128 && !pair) ? 16 : 8;
    if (f->a == NUM_DTYPE_I8 || f->a == NUM_DTYPE_U8)
        step = 16;
    bool eight = f->n == 8;
    if (f->n < 8 || f->n > 256 || (f->n % step && !(eight && f->m != 256 && !pair)))
        return refuse(e, call, "N", step == 16 ? "a multiple of 16 up to 256" : "a multiple of 8 up to 256");
    return true;
}

static bool read_fields(script_evaluator *e, const script_call *call, instruction_fields *f, bool scaled) {
    num_dtype scale = NUM_DTYPE_NONE, other = NUM_DTYPE_NONE;
    bool good = dtype(e, call, "d_dtype", &f->d) && dtype(e, call, "a_dtype", &f->a) &&
                dtype(e, call, "b_dtype", &f->b) && script_argument_int(e, call, "M", 0, &f->m) &&
                script_argument_int(e, call, "N", 0, &f->n) &&
                script_argument_int(e, call, "n_cta_groups", 1, &f->groups) &&
                truth(e, call, "trans_a", &f->transpose_a) && truth(e, call, "trans_b", &f->transpose_b) &&
                truth(e, call, "neg_a", &f->negate_a) && truth(e, call, "neg_b", &f->negate_b) &&
                truth(e, call, "is_sparse", &f->sparse);
    if (!good)
        return false;
    if (scaled && (!dtype(e, call, "sfa_dtype", &scale) || !dtype(e, call, "sfb_dtype", &other)))
        return false;
    if (!scaled && !truth(e, call, "sat_d", &f->saturate))
        return false;
    f->e8m0 = scale == NUM_DTYPE_F8E8M0FNU;
    if (result_code(f->d) < 0)
        return refuse(e, call, "d_dtype", "float16, float32 or int32");
    if (input_code(f->a) < 0)
        return refuse(e, call, "a_dtype", "no operand of tcgen05.mma");
    if (input_code(f->b) < 0)
        return refuse(e, call, "b_dtype", "no operand of tcgen05.mma");
    if (scaled && (scale != other || (!f->e8m0 && scale != NUM_DTYPE_F8E4M3FN)))
        return refuse(e, call, "sfa_dtype", "both scale types are float8_e8m0fnu, or float8_e4m3fn");
    return check_shape(e, call, f, scaled);
}

static int64_t common_bits(const instruction_fields *f) {
    return (int64_t)f->sparse << 2 | input_code(f->a) << 7 | input_code(f->b) << 10 |
           (int64_t)f->negate_a << 13 | (int64_t)f->negate_b << 14 | (int64_t)f->transpose_a << 15 |
           (int64_t)f->transpose_b << 16 | (f->n >> 3) << 17;
}

script_value script_word_instruction_descriptor(script_evaluator *e, const script_call *call) {
    instruction_fields f = {0};
    if (!script_need_kernel(e, call->span, call->word->path) || !read_fields(e, call, &f, false))
        return script_poison();
    int64_t bits = common_bits(&f) | (int64_t)f.saturate << 3 | result_code(f.d) << 4 | (f.m >> 4) << 24;
    return store(e, call, ir_int(e->module, NUM_DTYPE_U32, bits)) ? script_none() : script_poison();
}

/* Ids of the byte or half in a cell of scale factors come from bits 30 and 31 of their addresses. */
script_value script_word_scaled_descriptor(script_evaluator *e, const script_call *call) {
    instruction_fields f = {0};
    ir_module *module = e->module;
    if (!script_need_kernel(e, call->span, call->word->path) || !read_fields(e, call, &f, true))
        return script_poison();
    bool fours = f.a == NUM_DTYPE_F4E2M1FN && f.b == NUM_DTYPE_F4E2M1FN;
    int64_t codes = fours ? 1 << 7 | 1 << 10 : input_code(f.a) << 7 | input_code(f.b) << 10;
    int64_t bits =
        (common_bits(&f) & ~(int64_t)(7 << 7 | 7 << 10)) | codes | (int64_t)f.e8m0 << 23 | (f.m >> 7) << 27;
    const ir_expr *x = ir_int(module, NUM_DTYPE_U32, bits);
    static const char *const names[] = {"sfa_tmem_addr", "sfb_tmem_addr"};
    for (int i = 0; i < 2; i++) {
        const ir_expr *address =
            script_to_type(e, *script_argument_of(call, names[i]), ir_type_prim(NUM_DTYPE_U32, 1),
                           script_argument_span(call, names[i]));
        if (!address)
            return script_poison();
        const ir_expr *id = ir_binary(module, IR_SHR, address, ir_int(module, NUM_DTYPE_U32, 30));
        x = ir_binary(module, IR_BITOR, x,
                      ir_binary(module, IR_SHL, id, ir_int(module, NUM_DTYPE_U32, i ? 4 : 29)));
    }
    return store(e, call, x) ? script_none() : script_poison();
}

/* ---- the bits of a float ---- */

script_value script_word_same_bits(script_evaluator *e, const script_call *call) {
    bool to_float = call->word->data == 0;
    const ir_expr *x = script_to_type(
        e, call->value[0], ir_type_prim(to_float ? NUM_DTYPE_U32 : NUM_DTYPE_F32, 1), call->place[0]);
    if (!x)
        return script_poison();
    const ir_expr *made =
        ir_make(e->module, IR_REINTERPRET, ir_type_prim(to_float ? NUM_DTYPE_F32 : NUM_DTYPE_U32, 1), &x, 1);
    return script_expr(ir_rebuild(e->module, made, &x));
}
