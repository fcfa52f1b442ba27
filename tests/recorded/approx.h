/* SPDX-License-Identifier: Apache-2.0
 * Approximate instructions as they are recorded on a GPU (approx_record.c) and checked against the machine
 * (approx_replay.c): every form with all its inputs, in blocks of one sign and exponent. */
#ifndef TIRC_TESTS_APPROX_H
#define TIRC_TESTS_APPROX_H
#include <stdint.h>

typedef enum approx_kind { APPROX_F32, APPROX_F64, APPROX_F16 } approx_kind;
typedef struct approx_form {
    const char *text; /* NULL ends */
    approx_kind kind;
    unsigned exponent_bits; /* of the input */
} approx_form;
static const approx_form approx_forms[] = {
    {"rcp.approx.f32", APPROX_F32, 8},        {"rcp.approx.ftz.f32", APPROX_F32, 8},
    {"rsqrt.approx.f32", APPROX_F32, 8},      {"rsqrt.approx.ftz.f32", APPROX_F32, 8},
    {"sqrt.approx.f32", APPROX_F32, 8},       {"sqrt.approx.ftz.f32", APPROX_F32, 8},
    {"sin.approx.f32", APPROX_F32, 8},        {"sin.approx.ftz.f32", APPROX_F32, 8},
    {"cos.approx.f32", APPROX_F32, 8},        {"cos.approx.ftz.f32", APPROX_F32, 8},
    {"lg2.approx.f32", APPROX_F32, 8},        {"lg2.approx.ftz.f32", APPROX_F32, 8},
    {"ex2.approx.f32", APPROX_F32, 8},        {"ex2.approx.ftz.f32", APPROX_F32, 8},
    {"tanh.approx.f32", APPROX_F32, 8},       {"rcp.approx.ftz.f64", APPROX_F64, 11},
    {"rsqrt.approx.ftz.f64", APPROX_F64, 11}, {"ex2.approx.f16", APPROX_F16, 5},
    {"tanh.approx.f16", APPROX_F16, 5},       {"ex2.approx.ftz.bf16", APPROX_F16, 8},
    {"tanh.approx.bf16", APPROX_F16, 8},      {0}};
enum { APPROX_MOST_BLOCKS = 4096 };

/* Inputs of a form: all 16-bit ones, all 32-bit ones, or all upper words of doubles over a lower word of 0.
 */
static inline uint64_t approx_inputs(const approx_form *form) {
    return form->kind == APPROX_F16 ? 1u << 16 : (uint64_t)1 << 32;
}
/* A block is one sign and exponent; of 16-bit forms all inputs are one block. */
static inline uint32_t approx_shift(const approx_form *form) {
    return form->kind == APPROX_F16 ? 16 : 31 - form->exponent_bits;
}
static inline uint32_t approx_blocks(const approx_form *form) {
    return form->kind == APPROX_F16 ? 1 : 2u << form->exponent_bits;
}
/* The digest of a block is the sum over its inputs. */
static inline uint64_t approx_mix(uint32_t input, uint32_t result) {
    uint64_t x = input * UINT64_C(0x9e3779b97f4a7c15) + result;
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    return x ^ x >> 32;
}

/* What is brought back as a whole, to find the tables of. */
typedef struct approx_range {
    const char *form;
    uint32_t first, step, count;
} approx_range;
#define APPROX_EXPONENT(form, e)                                                                             \
    { form, (127u + (uint32_t)(e)) << 23, 1, 1u << 23 }
static const approx_range approx_ranges[] = {APPROX_EXPONENT("rcp.approx.ftz.f32", 0),
                                             APPROX_EXPONENT("rsqrt.approx.ftz.f32", 0),
                                             APPROX_EXPONENT("rsqrt.approx.ftz.f32", 1),
                                             APPROX_EXPONENT("sqrt.approx.ftz.f32", 0),
                                             APPROX_EXPONENT("sqrt.approx.ftz.f32", 1),
                                             APPROX_EXPONENT("sin.approx.ftz.f32", -3),
                                             APPROX_EXPONENT("sin.approx.ftz.f32", -2),
                                             APPROX_EXPONENT("sin.approx.ftz.f32", -1),
                                             APPROX_EXPONENT("sin.approx.ftz.f32", 0),
                                             APPROX_EXPONENT("lg2.approx.ftz.f32", 0),
                                             APPROX_EXPONENT("ex2.approx.ftz.f32", 0),
                                             {"tanh.approx.f32", 0, 1u << 11, 1u << 20},
                                             APPROX_EXPONENT("tanh.approx.f32", -10),
                                             APPROX_EXPONENT("tanh.approx.f32", -9),
                                             APPROX_EXPONENT("tanh.approx.f32", -8),
                                             APPROX_EXPONENT("tanh.approx.f32", -7),
                                             APPROX_EXPONENT("tanh.approx.f32", -6),
                                             APPROX_EXPONENT("tanh.approx.f32", -5),
                                             APPROX_EXPONENT("tanh.approx.f32", -4),
                                             APPROX_EXPONENT("tanh.approx.f32", -3),
                                             APPROX_EXPONENT("tanh.approx.f32", -2),
                                             APPROX_EXPONENT("tanh.approx.f32", -1),
                                             APPROX_EXPONENT("tanh.approx.f32", 0),
                                             APPROX_EXPONENT("tanh.approx.f32", 1),
                                             APPROX_EXPONENT("tanh.approx.f32", 2),
                                             {"rcp.approx.ftz.f64", 1023u << 20, 1, 1u << 20},
                                             {"rsqrt.approx.ftz.f64", 1023u << 20, 1, 1u << 20},
                                             {"rsqrt.approx.ftz.f64", 1024u << 20, 1, 1u << 20},
                                             {"ex2.approx.f16", 0, 1, 1u << 16},
                                             {"tanh.approx.f16", 0, 1, 1u << 16},
                                             {"ex2.approx.ftz.bf16", 0, 1, 1u << 16},
                                             {"tanh.approx.bf16", 0, 1, 1u << 16},
                                             {0}};
#endif
