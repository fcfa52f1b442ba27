/* SPDX-License-Identifier: Apache-2.0
 * Operands of tcgen05 as element codes, and where things stand in tensor memory: matrices in shared memory
 * under a descriptor, A and scale factors in tensor memory, the datapaths of D, the rows of tcgen05.cp. Pure:
 * bytes in, bytes out. */
#ifndef TIRC_VM_VM_TENSOR_OPERAND_H
#define TIRC_VM_VM_TENSOR_OPERAND_H
#include "vm/vm_tensor_descriptor.h"
#include "vm/vm_tensor_multiply.h"

/* Bytes per element of vm_tensor_job: 4 tf32, 2 f16 and bf16, 1 the others. */
unsigned vm_tensor_code_bytes(num_dtype type);
/* Codes of `rows` rows (along M or N) and `depth` elements along K, row by row. size: bytes of shared memory.
 * False: a byte lies outside; *outside is its address. */
bool vm_tensor_gather(const vm_tensor_matrix *matrix, vm_tensor_kind kind, num_dtype type, bool mn_major,
                      unsigned rows, unsigned depth, const uint8_t *shared, uint32_t size, void *codes,
                      uint32_t *outside);
/* Calls visit for the address of each 16 bytes that vm_tensor_gather reads, until it answers false. */
void vm_tensor_visit(const vm_tensor_matrix *matrix, vm_tensor_kind kind, num_dtype type, bool mn_major,
                     unsigned rows, unsigned depth, bool (*visit)(void *user, uint32_t address), void *user);
/* The bytes that such a tile spans: [*begin, *end). */
void vm_tensor_span(const vm_tensor_matrix *matrix, vm_tensor_kind kind, num_dtype type, bool mn_major,
                    unsigned rows, unsigned depth, uint32_t *begin, uint32_t *end);
/* A in tensor memory, one row of 32 bytes: its 8 cells, as codes (PTX ISA 9.7.16.10.2). */
void vm_tensor_row_codes(vm_tensor_kind kind, num_dtype type, const uint32_t cells[8], void *codes);

/* Datapath of D (PTX ISA 9.7.16.10.5): 'A' to 'G'; 0: there is none. */
char vm_tensor_datapath(unsigned m, unsigned cta_group, bool ws, bool sparse);
typedef struct vm_tensor_place {
    unsigned rows;                                  /* of one CTA */
    unsigned folds;                                 /* column ranges side by side on the lanes */
    unsigned columns;                               /* of tensor memory */
    uint8_t lane[VM_TENSOR_ROWS / VM_TENSOR_CHUNK]; /* first lane of each 16 rows, fold 0 */
    unsigned fold_lanes;                            /* lanes from one fold to the next */
} vm_tensor_place;
/* half: lane field 16 of the address, for C and F. */
vm_tensor_place vm_tensor_place_of(char datapath, unsigned n, bool half);
/* Bits of all lanes that D takes. */
void vm_tensor_place_lanes(const vm_tensor_place *place, uint32_t lanes[4]);

/* Scale factors of index i (a row of A or a column of B of `count`): the lane, of the first replica, and the
 * column. halves: those of the upper half stand 64 lanes higher (B of a pair with M = 128). */
void vm_tensor_factor_place(unsigned i, unsigned count, bool halves, uint32_t *lane, uint32_t *column);

typedef enum vm_tensor_cp_shape {
    VM_TENSOR_CP_128X256B,
    VM_TENSOR_CP_4X256B,
    VM_TENSOR_CP_128X128B,
    VM_TENSOR_CP_64X128B_02_13,
    VM_TENSOR_CP_64X128B_01_23,
    VM_TENSOR_CP_32X128B,
    VM_TENSOR_CP_COUNT
} vm_tensor_cp_shape;
typedef struct vm_tensor_cp {
    unsigned rows, chunks;  /* of the source; chunks of 16 bytes */
    unsigned copies, step;  /* lanes that one row is written to, and their distance */
    unsigned spread, outer; /* lane of row r: r * spread, and `outer` more for rows 32 and up */
    unsigned last;          /* lane offset of the last lane written */
} vm_tensor_cp;
extern const vm_tensor_cp vm_tensor_cps[VM_TENSOR_CP_COUNT];
static inline unsigned vm_tensor_cp_lane(const vm_tensor_cp *cp, unsigned row) {
    return row * cp->spread + (row >= 32 ? cp->outer : 0);
}
typedef enum vm_tensor_unpack {
    VM_TENSOR_UNPACK_NONE,
    VM_TENSOR_UNPACK_B6,
    VM_TENSOR_UNPACK_B4
} vm_tensor_unpack;
/* 16 bytes of the source to 16 bytes of tensor memory. */
void vm_tensor_unpack_chunk(vm_tensor_unpack unpack, const uint8_t from[16], uint8_t to[16]);
#endif
