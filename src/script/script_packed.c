/* SPDX-License-Identifier: Apache-2.0
 * Packed pairs as the older cuda.* words hold them: two float32 in a uint64, two bfloat16 in a uint32, the
 * first one in the low bits. They become shifts, conversions and arithmetic that the IR has, each rounded
 * once. */
#include "script/script_evaluate.h"

static const ir_expr *bits_as(script_evaluator *e, const ir_expr *x, num_dtype dtype) {
    return ir_reinterpret(e->module, ir_type_prim(dtype, 1), x);
}

static const ir_expr *argument(script_evaluator *e, const script_call *call, size_t i, num_dtype dtype) {
    return script_to_type(e, call->value[i], ir_type_prim(dtype, 1), call->place[i]);
}

/* One half of a word twice as wide. */
static const ir_expr *half_of(script_evaluator *e, const ir_expr *packed, bool high, num_dtype bits) {
    num_dtype wide = (num_dtype)packed->type.dtype;
    if (high)
        packed = ir_binary(e->module, IR_SHR, packed, ir_int(e->module, wide, num_dtype_bits(bits)));
    return ir_cast(e->module, ir_type_prim(bits, 1), packed);
}

static const ir_expr *pack(script_evaluator *e, const ir_expr *low, const ir_expr *high, num_dtype bits,
                           num_dtype wide) {
    ir_type type = ir_type_prim(wide, 1);
    low = ir_cast(e->module, type, bits_as(e, low, bits));
    high = ir_cast(e->module, type, bits_as(e, high, bits));
    high = ir_binary(e->module, IR_SHL, high, ir_int(e->module, wide, num_dtype_bits(bits)));
    return ir_binary(e->module, IR_BITOR, low, high);
}

static const ir_expr *float_of(script_evaluator *e, const ir_expr *packed, bool high) {
    return bits_as(e, half_of(e, packed, high, NUM_DTYPE_U32), NUM_DTYPE_F32);
}

static const ir_expr *pack_bf16(script_evaluator *e, const ir_expr *x, const ir_expr *y) {
    ir_type type = ir_type_prim(NUM_DTYPE_BF16, 1);
    return pack(e, ir_cast(e->module, type, x), ir_cast(e->module, type, y), NUM_DTYPE_U16, NUM_DTYPE_U32);
}

static script_value give(const ir_expr *x) {
    return x ? script_expr(x) : script_poison();
}

/* make_float2(x, y), float22bfloat162_rn(x, y) */
script_value script_word_make_pair(script_evaluator *e, const script_call *call) {
    const ir_expr *x = argument(e, call, 0, NUM_DTYPE_F32), *y = argument(e, call, 1, NUM_DTYPE_F32);
    if (!x || !y)
        return script_poison();
    return give(call->word->data ? pack(e, x, y, NUM_DTYPE_U32, NUM_DTYPE_U64) : pack_bf16(e, x, y));
}

/* float2_x, float2_y: also of a vector of two */
script_value script_word_pair_part(script_evaluator *e, const script_call *call) {
    bool second = call->word->data == 1;
    const ir_expr *x =
        script_is_ir(call->value[0]) ? script_to_expr(e, call->value[0], call->place[0]) : NULL;
    if (x && x->type.kind == IR_TYPE_PRIM && x->type.dtype == NUM_DTYPE_F32 && x->type.lanes == 2)
        return script_expr(ir_lane(e->module, x, second));
    const ir_expr *packed = argument(e, call, 0, NUM_DTYPE_U64);
    return give(packed ? float_of(e, packed, second) : NULL);
}

/* fmul2_rn, fadd2_rn */
script_value script_word_pair_arithmetic(script_evaluator *e, const script_call *call) {
    const ir_expr *a = argument(e, call, 0, NUM_DTYPE_U64), *b = argument(e, call, 1, NUM_DTYPE_U64),
                  *part[2];
    if (!a || !b)
        return script_poison();
    for (int i = 0; i < 2; i++)
        part[i] =
            ir_binary(e->module, (ir_op)call->word->data, float_of(e, a, i == 1), float_of(e, b, i == 1));
    return give(pack(e, part[0], part[1], NUM_DTYPE_U32, NUM_DTYPE_U64));
}

/* float22bfloat162_rn_from_float2, bfloat1622float2 */
script_value script_word_pair_convert(script_evaluator *e, const script_call *call) {
    bool widens = call->word->data == 1;
    const ir_expr *packed = argument(e, call, 0, widens ? NUM_DTYPE_U32 : NUM_DTYPE_U64), *part[2];
    if (!packed)
        return script_poison();
    if (!widens)
        return give(pack_bf16(e, float_of(e, packed, false), float_of(e, packed, true)));
    for (int i = 0; i < 2; i++) {
        const ir_expr *half = bits_as(e, half_of(e, packed, i == 1, NUM_DTYPE_U16), NUM_DTYPE_BF16);
        part[i] = ir_cast(e->module, ir_type_prim(NUM_DTYPE_F32, 1), half);
    }
    return give(pack(e, part[0], part[1], NUM_DTYPE_U32, NUM_DTYPE_U64));
}

/* hmin2, hmax2: of bfloat16, as min and max of the language are */
script_value script_word_pair_least(script_evaluator *e, const script_call *call) {
    const ir_expr *packed[2], *part[2];
    for (int i = 0; i < 2; i++)
        if (!(packed[i] = argument(e, call, (size_t)i, NUM_DTYPE_U32)))
            return script_poison();
    for (int i = 0; i < 2; i++) {
        const ir_expr *a = bits_as(e, half_of(e, packed[0], i == 1, NUM_DTYPE_U16), NUM_DTYPE_BF16),
                      *b = bits_as(e, half_of(e, packed[1], i == 1, NUM_DTYPE_U16), NUM_DTYPE_BF16);
        part[i] = ir_binary(e->module, (ir_op)call->word->data, a, b);
    }
    return give(pack(e, part[0], part[1], NUM_DTYPE_U16, NUM_DTYPE_U32));
}

/* half2float, bfloat162float */
script_value script_word_half_to_float(script_evaluator *e, const script_call *call) {
    const ir_expr *x = argument(e, call, 0, (num_dtype)call->word->data);
    return give(x ? ir_cast(e->module, ir_type_prim(NUM_DTYPE_F32, 1), x) : NULL);
}

/* fp8x4_e4m3_from_float4: the first in the low byte */
script_value script_word_four_bytes(script_evaluator *e, const script_call *call) {
    ir_type word = ir_type_prim(NUM_DTYPE_U32, 1), byte = ir_type_prim(NUM_DTYPE_F8E4M3FN, 1);
    const ir_expr *all = NULL;
    for (size_t i = 0; i < 4; i++) {
        const ir_expr *x = argument(e, call, i, NUM_DTYPE_F32);
        if (!x)
            return script_poison();
        x = ir_cast(e->module, word, bits_as(e, ir_cast(e->module, byte, x), NUM_DTYPE_U8));
        if (i)
            x = ir_binary(e->module, IR_SHL, x, ir_int(e->module, NUM_DTYPE_U32, (int64_t)i * 8));
        all = all ? ir_binary(e->module, IR_BITOR, all, x) : x;
    }
    return give(all);
}

/* fdividef: CUDA's __fdividef is this instruction. */
script_value script_word_fast_quotient(script_evaluator *e, const script_call *call) {
    const ir_expr *args[4] = {ir_string(e->module, "div.approx.f32 %0, $0, $1"),
                              ir_string(e->module, "float32"), argument(e, call, 0, NUM_DTYPE_F32),
                              argument(e, call, 1, NUM_DTYPE_F32)};
    if (!args[2] || !args[3])
        return script_poison();
    return give(ir_make(e->module, IR_PTX, ir_type_prim(NUM_DTYPE_F32, 1), args, 4));
}

/* ffs_u32: place of the lowest one bit, from 1; 0 for none. 32 - clz of the bit alone is both. */
script_value script_word_ffs(script_evaluator *e, const script_call *call) {
    script_value x = give(argument(e, call, 0, NUM_DTYPE_U32)), zero = script_int(0);
    if (script_is_poison(x))
        return x;
    script_value lowest = script_binary(e, SCRIPT_OP_BITAND, x,
                                        script_binary(e, SCRIPT_OP_SUB, zero, x, call->span), call->span);
    if (script_is_poison(lowest))
        return lowest;
    const ir_expr *zeros =
        ir_cast(e->module, ir_type_prim(NUM_DTYPE_I32, 1), ir_unary(e->module, IR_CLZ, lowest.as.expr));
    return give(ir_binary(e->module, IR_SUB, ir_int(e->module, NUM_DTYPE_I32, 32), zeros));
}
