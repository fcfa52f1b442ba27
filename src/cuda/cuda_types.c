/* SPDX-License-Identifier: Apache-2.0
 * Types and literals of CUDA C++. Only types that every compiler of CUDA knows without the C library are
 * used, so that the text suits NVRTC too. Knows nothing of statements. */
#include "cuda/cuda_internal.h"
#include "num/num.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct type_row {
    num_dtype dtype;
    const char *text, *vector; /* stem of CUDA's own vector types */
    unsigned lanes, includes;  /* most lanes of those */
} type_row;

/* clang-format off */
static const type_row rows[] = {
    {NUM_DTYPE_BOOL, "bool", "", 0, 0},
    {NUM_DTYPE_I8, "signed char", "char", 4, 0},
    {NUM_DTYPE_I16, "short", "short", 4, 0},
    {NUM_DTYPE_I32, "int", "int", 4, 0},
    {NUM_DTYPE_I64, "long long", "longlong", 2, 0},
    {NUM_DTYPE_U8, "unsigned char", "uchar", 4, 0},
    {NUM_DTYPE_U16, "unsigned short", "ushort", 4, 0},
    {NUM_DTYPE_U32, "unsigned int", "uint", 4, 0},
    {NUM_DTYPE_U64, "unsigned long long", "ulonglong", 2, 0},
    {NUM_DTYPE_F16, "half", "", 0, CUDA_FP16},
    {NUM_DTYPE_BF16, "nv_bfloat16", "", 0, CUDA_BF16},
    {NUM_DTYPE_TF32, "float", "float", 4, 0},
    {NUM_DTYPE_F32, "float", "float", 4, 0},
    {NUM_DTYPE_F64, "double", "double", 2, 0},
    {NUM_DTYPE_F8E4M3FN, "__nv_fp8_e4m3", "", 0, CUDA_FP8},
    {NUM_DTYPE_F8E5M2, "__nv_fp8_e5m2", "", 0, CUDA_FP8},
    {NUM_DTYPE_F8E8M0FNU, "__nv_fp8_e8m0", "", 0, CUDA_FP8},
    {NUM_DTYPE_F6E2M3FN, "__nv_fp6_e2m3", "", 0, CUDA_FP6},
    {NUM_DTYPE_F6E3M2FN, "__nv_fp6_e3m2", "", 0, CUDA_FP6},
    {NUM_DTYPE_F4E2M1FN, "__nv_fp4_e2m1", "", 0, CUDA_FP4},
};
/* clang-format on */

static const type_row *find_row(num_dtype dtype) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].dtype == dtype)
            return &rows[i];
    return NULL;
}

bool cuda_is_own_float(num_dtype dtype) {
    return num_dtype_is_float(dtype) && !find_row(dtype);
}

const char *cuda_scalar(cuda_writer *w, num_dtype dtype) {
    const type_row *row = find_row(dtype);
    if (!row)
        return "unsigned char";
    w->includes |= row->includes;
    return row->text;
}

const char *cuda_storage(cuda_writer *w, num_dtype dtype) {
    return num_dtype_bits(dtype) == 4 ? "unsigned char" : cuda_scalar(w, dtype);
}

bool cuda_vector_is_builtin(num_dtype dtype, unsigned lanes) {
    const type_row *row = find_row(dtype);
    return row && lanes >= 2 && lanes <= row->lanes;
}

static const char *own_vector(cuda_writer *w, num_dtype dtype, unsigned lanes) {
    for (size_t i = 0; i < w->vectors.count; i++)
        if (w->vectors.items[i].dtype == dtype && w->vectors.items[i].lanes == lanes)
            return w->vectors.items[i].name;
    cuda_scalar(w, dtype);
    cuda_vector_type fresh = {dtype, lanes,
                              base_arena_format(w->arena, "tirc_vector_%sx%u", num_dtype_name(dtype), lanes)};
    base_vector_push(w->arena, &w->vectors, fresh);
    return fresh.name;
}

const char *cuda_type(cuda_writer *w, ir_type type) {
    num_dtype dtype = (num_dtype)type.dtype;
    if (type.kind == IR_TYPE_VOID)
        return "void";
    if (type.kind == IR_TYPE_STRING)
        return "const char*";
    if (type.kind == IR_TYPE_POINTER)
        return dtype == NUM_DTYPE_NONE ? "void*" : base_arena_format(w->arena, "%s*", cuda_storage(w, dtype));
    if (type.lanes == 1)
        return cuda_scalar(w, dtype);
    if (cuda_vector_is_builtin(dtype, type.lanes))
        return base_arena_format(w->arena, "%s%u", find_row(dtype)->vector, type.lanes);
    return own_vector(w, dtype, type.lanes);
}

void cuda_use(cuda_writer *w, cuda_helper helper) {
    w->helpers |= (uint64_t)1 << helper;
}

/* ---- literals ---- */
void cuda_literal_integer(cuda_writer *w, num_dtype dtype, int64_t value) {
    base_builder *out = w->out;
    switch (dtype) {
    case NUM_DTYPE_BOOL:
        base_builder_string(out, value ? "true" : "false");
        return;
    case NUM_DTYPE_I32:
        if (value == INT32_MIN)
            base_builder_string(out, "(-2147483647 - 1)");
        else
            base_builder_decimal(out, value);
        return;
    case NUM_DTYPE_I64:
        if (value == INT64_MIN)
            base_builder_string(out, "(-9223372036854775807ll - 1)");
        else
            base_builder_format(out, "%lldll", (long long)value);
        return;
    case NUM_DTYPE_U32:
        base_builder_format(out, "%lluu", (unsigned long long)value);
        return;
    case NUM_DTYPE_U64:
        base_builder_format(out, "%lluull", (unsigned long long)value);
        return;
    default:
        base_builder_format(out, "((%s)%lld)", cuda_scalar(w, dtype), (long long)value);
        return;
    }
}

/* The shortest decimal that reads back as the same float (digits of the narrower type suffice). */
static void decimal(base_builder *out, double value, bool is_double) {
    char text[64];
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (is_double ? strtod(text, NULL) == value : strtof(text, NULL) == (float)value)
            break;
    }
    for (char *c = text; *c; c++) /* the process may have a locale with another decimal point */
        if (!strchr("0123456789+-e", *c))
            *c = '.';
    base_builder_string(out, text);
    if (!strpbrk(text, ".e"))
        base_builder_string(out, ".0");
    if (!is_double)
        base_builder_char(out, 'f');
}

void cuda_literal_float(cuda_writer *w, num_dtype dtype, double value) {
    base_builder *out = w->out;
    if (cuda_is_own_float(dtype)) {
        base_builder_format(out, "((unsigned char)0x%02llx)",
                            (unsigned long long)num_encode(dtype, value, NUM_RN, false));
        return;
    }
    if (dtype == NUM_DTYPE_F8E5M2 && isinf(value)) { /* its constructor would saturate */
        cuda_use(w, HELPER_BITS);
        base_builder_format(out, "tirc_bits<%s>((unsigned char)0x%02llx)", cuda_scalar(w, dtype),
                            (unsigned long long)num_encode(dtype, value, NUM_RN, false));
        return;
    }
    bool is_double = dtype == NUM_DTYPE_F64,
         plain = is_double || dtype == NUM_DTYPE_F32 || dtype == NUM_DTYPE_TF32;
    if (!plain) {
        const char *type = cuda_scalar(w, dtype);
        base_builder_format(out, "%s(",
                            dtype == NUM_DTYPE_F16    ? "__float2half_rn"
                            : dtype == NUM_DTYPE_BF16 ? "__float2bfloat16_rn"
                                                      : type);
    }
    if (isnan(value) || isinf(value)) {
        w->includes |= CUDA_CONSTANTS;
        base_builder_format(out, "%s%s%s", value < 0 ? "-" : "", isnan(value) ? "CUDART_NAN" : "CUDART_INF",
                            is_double ? "" : "_F");
    } else {
        decimal(out, value, is_double);
    }
    if (!plain)
        base_builder_char(out, ')');
}

void cuda_literal_string(cuda_writer *w, const char *text) {
    base_builder_char(w->out, '"');
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            base_builder_format(w->out, "\\%c", *c);
        else if (*c == '\n')
            base_builder_string(w->out, "\\n");
        else if (*c == '\t')
            base_builder_string(w->out, "\\t");
        else if (*c < 32 || *c > 126 || *c == '?') /* no trigraphs */
            base_builder_format(w->out, "\\%03o", *c);
        else
            base_builder_char(w->out, (char)*c);
    }
    base_builder_char(w->out, '"');
}
