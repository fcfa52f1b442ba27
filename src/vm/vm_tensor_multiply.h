/* SPDX-License-Identifier: Apache-2.0
 * The product of one tcgen05.mma as plain data: operands as element codes, accumulator columns as pointers.
 * level/vm_tensor.c has the loops, one build per processor level; all levels give the same bits. Knows no
 * descriptors, no datapaths and no machine. */
#ifndef TIRC_VM_VM_TENSOR_MULTIPLY_H
#define TIRC_VM_VM_TENSOR_MULTIPLY_H
#include "vm/vm_fused_sum.h"

enum {
    VM_TENSOR_ROWS = 128, /* of A and D in one CTA */
    VM_TENSOR_COLUMNS = 256,
    VM_TENSOR_DEPTH = 64,
    VM_TENSOR_CHUNK = 16 /* rows of D that stand in adjacent lanes in every datapath */
};

typedef struct vm_tensor_job {
    vm_fused_model model; /* output F32 or F16; unused for integers */
    num_dtype a_type, b_type;
    unsigned rows, columns, depth; /* rows: a multiple of VM_TENSOR_CHUNK */
    bool negate_a, negate_b;
    bool enable_d; /* false: D counts as zero */
    bool integer, saturate;
    /* Codes, row by row without gaps: one byte per element of 8, 6 and 4 bits, else 2 or 4. B: a row is a
     * column of the product. Aligned to 4 bytes. */
    const void *a, *b;
    /* Scale factors: block elements along K share one; 0: none. [row or column][k / block] */
    unsigned block;
    num_dtype scale_type;
    const uint8_t (*factor_a)[4], (*factor_b)[4];
    /* Row r of column n is d[n][lane[r / 16] + r % 16]. Lanes in keep stay as they are (bit l % 32 of
     * keep[l / 32]); lanes count from column_lane[n], which d[n] includes. */
    uint32_t *const *d;
    const uint8_t *column_lane;
    const uint8_t *lane;
    uint32_t keep[4];
} vm_tensor_job;

/* scratch: VM_TENSOR_SCRATCH bytes, aligned to 64. */
#define VM_TENSOR_SCRATCH (512u * 1024u)
typedef void (*vm_tensor_multiply)(const vm_tensor_job *job, void *scratch);
/* For this processor level ("x86-64-v4" ...; NULL: the best that runs here); NULL when it does not run here.
 */
vm_tensor_multiply vm_tensor_multiply_choose(const char *level);
#endif
