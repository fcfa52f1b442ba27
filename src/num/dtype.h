/* SPDX-License-Identifier: Apache-2.0
 * Element types: the one list, with names, widths and classes. Knows nothing of tensors or expressions. */
#ifndef TIRC_NUM_DTYPE_H
#define TIRC_NUM_DTYPE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum num_class { NUM_BOOL, NUM_SIGNED, NUM_UNSIGNED, NUM_FLOAT } num_class;

/* X(enumerator, "script name", bits, class, "alias or empty") */
#define NUM_DTYPES(X)                                                                                        \
    X(NUM_DTYPE_BOOL, "bool", 8, NUM_BOOL, "boolean")                                                        \
    X(NUM_DTYPE_I8, "int8", 8, NUM_SIGNED, "i8")                                                             \
    X(NUM_DTYPE_I16, "int16", 16, NUM_SIGNED, "i16")                                                         \
    X(NUM_DTYPE_I32, "int32", 32, NUM_SIGNED, "i32")                                                         \
    X(NUM_DTYPE_I64, "int64", 64, NUM_SIGNED, "i64")                                                         \
    X(NUM_DTYPE_U8, "uint8", 8, NUM_UNSIGNED, "u8")                                                          \
    X(NUM_DTYPE_U16, "uint16", 16, NUM_UNSIGNED, "u16")                                                      \
    X(NUM_DTYPE_U32, "uint32", 32, NUM_UNSIGNED, "u32")                                                      \
    X(NUM_DTYPE_U64, "uint64", 64, NUM_UNSIGNED, "u64")                                                      \
    X(NUM_DTYPE_F16, "float16", 16, NUM_FLOAT, "f16")                                                        \
    X(NUM_DTYPE_BF16, "bfloat16", 16, NUM_FLOAT, "bf16")                                                     \
    X(NUM_DTYPE_TF32, "tfloat32", 32, NUM_FLOAT, "tf32")                                                     \
    X(NUM_DTYPE_F32, "float32", 32, NUM_FLOAT, "f32")                                                        \
    X(NUM_DTYPE_F64, "float64", 64, NUM_FLOAT, "f64")                                                        \
    X(NUM_DTYPE_F8E3M4, "float8_e3m4", 8, NUM_FLOAT, "")                                                     \
    X(NUM_DTYPE_F8E4M3, "float8_e4m3", 8, NUM_FLOAT, "")                                                     \
    X(NUM_DTYPE_F8E4M3FN, "float8_e4m3fn", 8, NUM_FLOAT, "e4m3")                                             \
    X(NUM_DTYPE_F8E4M3FNUZ, "float8_e4m3fnuz", 8, NUM_FLOAT, "")                                             \
    X(NUM_DTYPE_F8E4M3B11FNUZ, "float8_e4m3b11fnuz", 8, NUM_FLOAT, "")                                       \
    X(NUM_DTYPE_F8E5M2, "float8_e5m2", 8, NUM_FLOAT, "e5m2")                                                 \
    X(NUM_DTYPE_F8E5M2FNUZ, "float8_e5m2fnuz", 8, NUM_FLOAT, "")                                             \
    X(NUM_DTYPE_F8E8M0FNU, "float8_e8m0fnu", 8, NUM_FLOAT, "ue8m0")                                          \
    X(NUM_DTYPE_F6E2M3FN, "float6_e2m3fn", 6, NUM_FLOAT, "e2m3")                                             \
    X(NUM_DTYPE_F6E3M2FN, "float6_e3m2fn", 6, NUM_FLOAT, "e3m2")                                             \
    X(NUM_DTYPE_F4E2M1FN, "float4_e2m1fn", 4, NUM_FLOAT, "e2m1")

typedef enum num_dtype {
    NUM_DTYPE_NONE,
#define X(enumerator, name, bits, class, alias) enumerator,
    NUM_DTYPES(X)
#undef X
        NUM_DTYPE_COUNT
} num_dtype;

/* The table made from the list; what is no element type has the row of NONE. */
typedef struct num_dtype_row {
    const char *name, *alias;
    uint8_t bits, class;
} num_dtype_row;
extern const num_dtype_row num_dtype_rows[NUM_DTYPE_COUNT];
static inline const num_dtype_row *num_dtype_row_of(num_dtype dtype) {
    return &num_dtype_rows[(unsigned)dtype < NUM_DTYPE_COUNT ? dtype : NUM_DTYPE_NONE];
}

const char *num_dtype_name(num_dtype dtype);
static inline unsigned num_dtype_bits(num_dtype dtype) {
    return num_dtype_row_of(dtype)->bits;
}
/* Storage of one element, rounded up: 6 and 4 bits give 1. */
static inline unsigned num_dtype_bytes(num_dtype dtype) {
    return (num_dtype_bits(dtype) + 7) / 8;
}
/* Of an element in an array: those of 6 bits take a byte each, those of 4 bits lie two in a byte. */
static inline unsigned num_dtype_storage_bits(num_dtype dtype) {
    return num_dtype_bits(dtype) == 6 ? 8 : num_dtype_bits(dtype);
}
static inline num_class num_dtype_class(num_dtype dtype) {
    return (num_class)num_dtype_row_of(dtype)->class;
}
static inline bool num_dtype_is_integer(num_dtype dtype) { /* signed or unsigned, not bool */
    num_class class = num_dtype_class(dtype);
    return dtype != NUM_DTYPE_NONE && (class == NUM_SIGNED || class == NUM_UNSIGNED);
}
static inline bool num_dtype_is_float(num_dtype dtype) {
    return num_dtype_class(dtype) == NUM_FLOAT;
}
/* Accepts names and aliases; NUM_DTYPE_NONE when unknown. */
num_dtype num_dtype_find(const char *name, size_t size);
#endif
