/* SPDX-License-Identifier: Apache-2.0
 * The warp-level matrix instructions as data: what a form multiplies, which element of which matrix each
 * register of each lane holds, and the product itself. Nothing here knows warps, splits or memory. */
#ifndef TIRC_VM_VM_MATRIX_H
#define TIRC_VM_VM_MATRIX_H
#include "ptx/ptx.h"
#include "vm/vm_fused_sum.h"

enum { VM_MATRIX_LANES = 32, VM_MATRIX_M = 32 /* of a warp */, VM_MATRIX_N = 256, VM_MATRIX_K = 256 };

/* One product of m x k by k x n. */
typedef struct vm_matrix_form {
    uint16_t m, n, k;
    ptx_type d, a, b, c;  /* element types; c is that of the operand */
    ptx_type scale;       /* PTX_TYPE_UE8M0 or UE4M3; NONE: not block-scaled */
    uint8_t scales;       /* scale factors of a row of A */
    bool a_column, b_row; /* m8n8k4 of f16 only */
    bool wmma;            /* fragments as wmma has them */
    bool quads;           /* m8n8k4 of f16: four products, each by 8 lanes */
    bool packed;          /* 4-bit floats stand in half bytes; else 4- and 6-bit ones in bytes */
    bool saturate;        /* .satfinite of integers */
    bool exclusive;       /* b1: xor, else and */
    bool negate_a, negate_b;
    num_rounding rounding; /* f64 */
    vm_fused_unit unit;
    uint8_t d_count, a_count, b_count, c_count; /* registers */
} vm_matrix_form;

/* Reads the modifiers of mma. False: not a form that this machine has. */
bool vm_matrix_form_read(const ptx_instruction *instruction, vm_matrix_form *form);

/* The same of wmma.mma. */
bool vm_matrix_form_read_wmma(const ptx_instruction *instruction, vm_matrix_form *form);

/* wmma.load and wmma.store: a fragment and the matrix in memory. */
typedef struct vm_matrix_move {
    vm_matrix_form form;
    char which; /* 'a', 'b', 'c', 'd' */
    ptx_type type;
    bool column; /* .col */
    bool store;
    char space;       /* 's', 'g'; 0: generic */
    uint8_t count;    /* registers */
    uint32_t leading; /* elements from line to line when the instruction does not say */
} vm_matrix_move;
bool vm_matrix_move_read(const ptx_instruction *instruction, vm_matrix_move *move);
/* Index in memory of an element of register r of a lane, with this many elements from line to line. */
uint64_t vm_matrix_move_index(const vm_matrix_move *move, unsigned r, unsigned lane, unsigned e,
                              uint64_t leading);

/* Elements in a 32-bit register (1 in a 64-bit one), and their width there. */
unsigned vm_matrix_per_register(const vm_matrix_form *form, ptx_type type);
bool vm_matrix_is_float(ptx_type type);

/* Codes of the elements as the registers hold them. registers[r] points to 32 lanes (of 64 bits for f64).
 * a: [m][k]; b: [n][k]; c and d: [m][n]. part: which of the four products of m8n8k4; 0. */
void vm_matrix_take_a(const vm_matrix_form *form, const void *const *registers, unsigned part, uint64_t *a);
void vm_matrix_take_b(const vm_matrix_form *form, const void *const *registers, unsigned part, uint64_t *b);
void vm_matrix_take_c(const vm_matrix_form *form, const void *const *registers, unsigned part, uint64_t *c);
/* Writes the lanes of `mask`. */
void vm_matrix_put_d(const vm_matrix_form *form, void *const *registers, unsigned part, uint32_t mask,
                     const uint64_t *d);
/* The bits of operand A or B of this type (of one element) as they stand in its container. */
uint32_t vm_matrix_element(const vm_matrix_form *form, ptx_type type, uint32_t container);

/* One row of A times up to some columns of B in hw, up to the sums (level/vm_matrix.c). Significands are
 * signed; arrays over columns have room for a multiple of 16. */
typedef struct vm_matrix_sums {
    unsigned k, columns, stride,
        up; /* B's arrays: [k][stride]; up: bits to shift a product up to the quantum */
    const int32_t *a_significand, *a_exponent, *b_significand, *b_exponent, *c_exponent;
    int32_t *largest; /* exponent */
    int64_t *sum;     /* of the products, without c */
} vm_matrix_sums;
typedef void (*vm_matrix_add_function)(const vm_matrix_sums *job);
/* Of a processor level by its name. */
vm_matrix_add_function vm_matrix_add_choose(const char *level);

/* d = a * b + c. scale_a: [m][scales], scale_b: [n][scales], NULL without. Codes as above. */
void vm_matrix_multiply(const vm_matrix_form *form, vm_numerics numerics, unsigned sm, const uint64_t *a,
                        const uint64_t *b, const uint64_t *c, const uint32_t *scale_a,
                        const uint32_t *scale_b, vm_matrix_add_function add, uint64_t *d);

/* 16 elements of 4 or 6 bits at the start of 16 bytes, each into a byte (ldmatrix .b8x16). */
void vm_matrix_unpack16(const uint8_t from[16], unsigned bits, uint8_t to[16]);
#endif
