/* SPDX-License-Identifier: Apache-2.0
 * The innermost loops of the matrix unit: blocks of columns by rows that stay in registers, and what brings
 * operands into their order. Plain numbers in, plain numbers out. Operands stand as a[k][row], VM_TENSOR_ROWS
 * apart, and b[column][k], `depth` apart. Up to VM_TENSOR_ROWS rows are read and written, whatever `rows`. */
#ifndef TIRC_VM_TENSOR_BLOCK_H
#define TIRC_VM_TENSOR_BLOCK_H
#include "vm/level/vm_level.h"
#include "vm/vm_tensor_multiply.h"

enum { VM_TENSOR_BLOCK = 4 }; /* columns at once */
#ifndef VM_CHUNK
#define VM_CHUNK     16
#define VM_VECTOR(T) typedef T T##_chunk __attribute__((vector_size(VM_CHUNK), aligned(16), may_alias));
/* clang-format off */
VM_VECTOR(u32) VM_VECTOR(s32) VM_VECTOR(f32) VM_VECTOR(u64) VM_VECTOR(f64)
/* clang-format on */
#endif

#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

    /* f16 to f32, exactly; NaN of any kind. */
    void VM_NAME(vm_tensor_decode_f16)(const uint16_t *codes, f32 *to, size_t count, u32 flip);
/* from[row][k], depth apart, to to[k][row]; both whole multiples of 8, rows of 16. */
void VM_NAME(vm_tensor_transpose)(const f32 *from, f32 *to, size_t rows, size_t depth);

/* fp32: one fused multiply-add per product, k increasing. to may be start. True: some sum is NaN. */
bool VM_NAME(vm_tensor_chain)(const f32 *a, const f32 *b, unsigned depth,
                              const f32 *const start[VM_TENSOR_BLOCK], f32 *const to[VM_TENSOR_BLOCK],
                              size_t rows);

/* hw: a cell is a double whose unit in the last place is the quantum of the cell, 2^(emax - 25); it begins as
 * 1.5 * 2^52 of them and the accumulator. As long as the sum stays below 2^50, adding a product cuts it down
 * to whole quanta, when the processor rounds toward zero. Its halves are words: low has the sum. */
enum { VM_TENSOR_DOUBLE_EXPONENT = 1023 + 52 - 127 - 25, VM_TENSOR_DOUBLE_HALF = 1 << 19 };
typedef struct vm_tensor_origin {
    const f32 *from[VM_TENSOR_BLOCK];     /* accumulators */
    const uint8_t *emax[VM_TENSOR_BLOCK]; /* + 127, by row */
    const uint8_t *more[VM_TENSOR_BLOCK]; /* quanta to be added, by row; NULL, all of them: none */
} vm_tensor_origin;
/* Rows of f32 as f64, in the order that vm_tensor_cut reads them. */
void VM_NAME(vm_tensor_widen)(const f32 *from, f64 *to, size_t count);
/* Adds the products; the sums, less than 2^31 quanta, as f32. to may be from. */
void VM_NAME(vm_tensor_cut)(const f64 *a, const f64 *b, unsigned depth, const vm_tensor_origin *start,
                            f32 *const to[VM_TENSOR_BLOCK], size_t rows);
/* The same with longer sums, which are left as the halves of doubles. */
typedef struct vm_tensor_cells {
    _Alignas(64) u32 low[VM_TENSOR_BLOCK][VM_TENSOR_ROWS];
    _Alignas(64) u32 high[VM_TENSOR_BLOCK][VM_TENSOR_ROWS];
} vm_tensor_cells;
void VM_NAME(vm_tensor_cut_long)(const f64 *a, const f64 *b, unsigned depth, const vm_tensor_origin *start,
                                 vm_tensor_cells *cells, size_t rows);
#endif
