/* SPDX-License-Identifier: Apache-2.0
 * Element types of gemm_async: which kind of tcgen05.mma multiplies them, with which accumulators and scale
 * factors (PTX ISA 9.7.16.2.1, 9.7.16.10.7), and their codes in the instruction descriptor (tables 42 to 44).
 * Must not know layouts. */
#include "lower/lower_tile_mma.h"
#include <string.h>

typedef struct type_row {
    num_dtype type;
    const char *kind;
    uint32_t code;
    int64_t depth;
    bool is_padded; /* narrower than the byte that an element takes */
} type_row;

static const type_row rows[] = {
    {NUM_DTYPE_F16, "f16", 0, 16, false},         {NUM_DTYPE_BF16, "f16", 1, 16, false},
    {NUM_DTYPE_F32, "tf32", 2, 8, false},         {NUM_DTYPE_TF32, "tf32", 2, 8, false},
    {NUM_DTYPE_F8E4M3FN, "f8f6f4", 0, 32, false}, {NUM_DTYPE_F8E5M2, "f8f6f4", 1, 32, false},
    {NUM_DTYPE_F6E2M3FN, "f8f6f4", 3, 32, true},  {NUM_DTYPE_F6E3M2FN, "f8f6f4", 4, 32, true},
    {NUM_DTYPE_F4E2M1FN, "f8f6f4", 5, 32, true},  {NUM_DTYPE_U8, "i8", 0, 32, false},
    {NUM_DTYPE_I8, "i8", 1, 32, false},
};

static const type_row *row_of(num_dtype type) {
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].type == type)
            return &rows[i];
    return NULL;
}

/* A_type= and B_type= say what the bytes of a uint8 tensor hold. */
static const char *element_type(lower_tile *op, const lower_tile_region *region, const char *word,
                                num_dtype *out, bool *in_bytes) {
    const ir_expr *given = lower_tile_attribute(op, word, 0);
    *out = region->tensor->type.dtype;
    *in_bytes = given != NULL;
    if (!given)
        return NULL;
    const char *name = given->at.string;
    num_dtype type = num_dtype_find(name, strlen(name));
    const type_row *row = row_of(type);
    if (!row || !row->is_padded || *out != NUM_DTYPE_U8)
        return base_arena_format(op->context->arena,
                                 "%s=\"%s\": it says which elements the bytes of a uint8 tensor hold, "
                                 "float4_e2m1fn, float6_e2m3fn or float6_e3m2fn, and '%s' is %s",
                                 word, name, region->tensor->name, num_dtype_name(*out));
    *out = type;
    return NULL;
}

static const char *no_kind(lower_tile *op, const lower_tile_mma *p) {
    return base_arena_format(
        op->context->arena, "there is no MMA of %s with %s%s: %s", num_dtype_name(p->a_type),
        num_dtype_name(p->b_type), p->is_scaled ? " and scale factors" : "",
        p->is_scaled ? "float4_e2m1fn with itself, or float8_e4m3fn, float8_e5m2 and bytes of narrower types"
                     : "float16 or bfloat16 with itself, float32 (as tf32), float8_e4m3fn, float8_e5m2 and "
                       "bytes of narrower types, int8 and uint8");
}

/* Elements of 6 and 4 bits stand in bytes; but with scale factors both operands of 4 bits are packed. */
static const char *check_bytes(lower_tile *op, const lower_tile_region *region, num_dtype type, bool in_bytes,
                               const char *word) {
    if (!row_of(type)->is_padded || in_bytes)
        return NULL;
    return base_arena_format(
        op->context->arena,
        "'%s' is a tensor of %s; this MMA reads 16 bytes of memory for 16 elements: a uint8 tensor with "
        "%s=\"%s\"%s",
        region->tensor->name, num_dtype_name(type), word, num_dtype_name(type),
        type == NUM_DTYPE_F4E2M1FN ? "; packed operands are both of 4 bits, with SFA= and SFB=" : "");
}

static const char *check_accumulator(lower_tile *op, lower_tile_mma *p) {
    num_dtype d = p->d->tensor->type.dtype;
    bool half_too = !p->is_scaled && (!strcmp(p->kind, "f8f6f4") ||
                                      (p->a_type == NUM_DTYPE_F16 && p->b_type == NUM_DTYPE_F16));
    p->is_integer = !strcmp(p->kind, "i8");
    p->is_half = d == NUM_DTYPE_F16;
    if (d == (p->is_integer ? NUM_DTYPE_I32 : NUM_DTYPE_F32) || (p->is_half && half_too))
        return NULL;
    return base_arena_format(op->context->arena, "the accumulator '%s' is %s; of %s with %s%s it is %s",
                             p->d->tensor->name, num_dtype_name(d), num_dtype_name(p->a_type),
                             num_dtype_name(p->b_type), p->is_scaled ? " and scale factors" : "",
                             p->is_integer ? "int32"
                             : half_too    ? "float32 or float16"
                                           : "float32");
}

/* The type of the factors says, with how many there are for a row, how many elements share one. */
static const char *scaled_kind(lower_tile *op, lower_tile_mma *p, bool packed) {
    num_dtype factors = p->sfa.tensor->type.dtype, other = p->sfb.tensor->type.dtype;
    base_arena *arena = op->context->arena;
    if (factors != other || (factors != NUM_DTYPE_F8E8M0FNU && factors != NUM_DTYPE_F8E4M3FN))
        return base_arena_format(arena,
                                 "'%s' is %s and '%s' is %s; scale factors are both float8_e8m0fnu, or of "
                                 "float4_e2m1fn both float8_e4m3fn",
                                 p->sfa.tensor->name, num_dtype_name(factors), p->sfb.tensor->name,
                                 num_dtype_name(other));
    if (!packed) {
        p->kind = "mxf8f6f4";
        p->per = 1;
        return factors == NUM_DTYPE_F8E8M0FNU
                   ? NULL
                   : base_arena_format(arena, "scale factors of %s are float8_e8m0fnu, and '%s' is %s",
                                       num_dtype_name(p->a_type), p->sfa.tensor->name,
                                       num_dtype_name(factors));
    }
    int64_t columns = p->sfa.size[p->sfa.rank - 1], k = p->a->size[p->a->rank - 1];
    p->per = factors == NUM_DTYPE_F8E4M3FN || (k > 0 && columns == k / 16) ? 4 : 2;
    p->kind = p->per == 4 ? "mxf4nvf4" : "mxf4";
    return NULL;
}

const char *lower_tile_mma_types(lower_tile *op, lower_tile_mma *p) {
    bool a_bytes, b_bytes;
    const char *reason = element_type(op, p->a, "A_type", &p->a_type, &a_bytes);
    if (reason || (reason = element_type(op, p->b, "B_type", &p->b_type, &b_bytes)))
        return reason;
    const type_row *a = row_of(p->a_type), *b = row_of(p->b_type);
    if (!a || !b || strcmp(a->kind, b->kind) || (p->is_scaled && strcmp(a->kind, "f8f6f4")) ||
        (a != b && strcmp(a->kind, "f8f6f4") && strcmp(a->kind, "i8")))
        return no_kind(op, p);
    bool packed = p->is_scaled && p->a_type == NUM_DTYPE_F4E2M1FN && p->b_type == NUM_DTYPE_F4E2M1FN &&
                  !a_bytes && !b_bytes;
    if (!packed && ((reason = check_bytes(op, p->a, p->a_type, a_bytes, "A_type")) ||
                    (reason = check_bytes(op, p->b, p->b_type, b_bytes, "B_type"))))
        return reason;
    p->kind = a->kind;
    p->depth = packed ? 64 : a->depth;
    if (p->is_scaled && (reason = scaled_kind(op, p, packed)))
        return reason;
    if ((reason = check_accumulator(op, p)))
        return reason;
    if (packed)
        p->descriptor = 1u << 7 | 1u << 10;
    else
        p->descriptor = a->code << 7 | b->code << 10;
    if (p->is_scaled)
        p->descriptor |= (uint32_t)(p->sfa.tensor->type.dtype == NUM_DTYPE_F8E8M0FNU) << 23;
    else
        p->descriptor |= (uint32_t)(p->is_integer ? 2 : p->is_half ? 0 : 1) << 4;
    return NULL;
}
