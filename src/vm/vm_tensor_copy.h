/* SPDX-License-Identifier: Apache-2.0
 * One tensor copy (cp.async.bulk.tensor and its reduction) as a list of rows: which bytes of global memory
 * meet which bytes of shared memory, what is filled, and where the swizzle puts them. Plain data; knows no
 * machine state: the caller finds the memory of each row. */
#ifndef TIRC_VM_VM_TENSOR_COPY_H
#define TIRC_VM_VM_TENSOR_COPY_H
#include "vm/vm_tensor_map.h"

typedef enum vm_tensor_form {
    VM_TENSOR_TILE,
    VM_TENSOR_GATHER4,  /* loads: coordinate {column, row, row, row, row} */
    VM_TENSOR_SCATTER4, /* stores */
    VM_TENSOR_IM2COL_LOAD,
    VM_TENSOR_IM2COL_NO_OFFSETS, /* stores */
    VM_TENSOR_WIDE,              /* loads: im2col::w */
    VM_TENSOR_WIDE_128           /* im2col::w::128 */
} vm_tensor_form;
typedef enum vm_tensor_direction { VM_TENSOR_LOAD, VM_TENSOR_STORE, VM_TENSOR_REDUCE } vm_tensor_direction;
typedef enum vm_tensor_reduction {
    VM_TENSOR_ADD,
    VM_TENSOR_MIN_MAX,
    VM_TENSOR_INC_DEC,
    VM_TENSOR_BITS /* and, or, xor */
} vm_tensor_reduction;
typedef struct vm_tensor_request {
    const vm_tensor_map *map; /* passed vm_tensor_map_check */
    vm_tensor_form form;
    vm_tensor_direction direction;
    uint32_t rank;                 /* of the instruction: .2d is 2 */
    vm_tensor_reduction reduction; /* REDUCE */
    int32_t coordinate[VM_TENSOR_RANK];
    uint32_t offset[3]; /* IM2COL_LOAD: along W, H, D; WIDE: wHalo, wOffset */
} vm_tensor_request;

/* What an instruction may not ask of a map. In the text %i is the dimension, %v the value, %l what it should
 * be. On an H200 the first seven end the kernel with "illegal instruction". */
/* clang-format off */
#define VM_TENSOR_FAULTS(X) \
    X(COORDINATE_ALIGN, "coordinate %i is %v: the box must start at a multiple of 16 bytes, here %l elements") \
    X(COORDINATE_NEGATIVE, "coordinate %i of a store is %v: the box of a store starts inside the tensor") \
    X(COORDINATE_PACKED, "coordinate 0 is %v: a multiple of 128 for this packed type") \
    X(OUTSIDE_BOX, "coordinate %i is %v, outside the pixel box, whose limit is %l") \
    X(STORE_BOX, "the pixel box of a store starts at %v along dimension %i, outside the tensor") \
    X(OFFSET, "im2col offset %i is %v: 0 to %l") \
    X(RANK, "the instruction is for rank %l, the map has rank %v") \
    X(MODE, "a tiled map with an im2col instruction, or the reverse") \
    X(WIDE, "a map of im2col::w, im2col::w::128 or im2col with an instruction of another of these modes") \
    X(WIDE_OPERAND, "%w is %v: 0 to %l") \
    X(ROWS, "gather4 and scatter4 need a map of rank 2 with boxDim[1] 1, this one has %v") \
    X(ROWS_INTERLEAVE, "gather4 and scatter4 take no interleaved layout") \
    X(STORE_TYPE, "16U4_ALIGN16B cannot be stored") \
    X(REDUCE_TYPE, "this reduction does not take the map's type %v") \
    X(STORE_FLIP, "the swizzle that flips 8 bytes is for loads only") \
    X(LOAD_ATOM_64, "16U6_ALIGN16B and 16U4_ALIGN16B are not loaded with the 128B swizzle of 64-byte atoms")
/* clang-format on */
typedef enum vm_tensor_fault_kind {
#define X(name, text) VM_TENSOR_FAULT_##name,
    VM_TENSOR_FAULTS(X)
#undef X
        VM_TENSOR_FAULT_COUNT
} vm_tensor_fault_kind;
typedef struct vm_tensor_fault {
    vm_tensor_fault_kind kind;
    uint32_t index;
    int64_t value, limit;
} vm_tensor_fault;
enum { VM_TENSOR_FAULTS_MAX = 24 };
size_t vm_tensor_request_check(const vm_tensor_request *request,
                               vm_tensor_fault faults[VM_TENSOR_FAULTS_MAX]);
void vm_tensor_fault_text(const vm_tensor_fault *fault, char *text, size_t size);
/* What PTX does not say of a request that is otherwise right, and the machine does not guess; NULL: nothing.
 */
const char *vm_tensor_request_open(const vm_tensor_request *request);

/* Bytes that complete_tx counts: the whole box, filled elements too, padding of rows and types not. */
uint32_t vm_tensor_request_bytes(const vm_tensor_request *request);
/* Bytes of shared memory from the first byte of the box on: its rows stand at multiples of the swizzle's
 * span, or close together without a swizzle. */
uint32_t vm_tensor_request_extent(const vm_tensor_request *request);
uint32_t vm_tensor_request_align(const vm_tensor_map *map); /* of the shared address: 128 */

/* Bytes of one row. `before` and `after` are filled by loads and skipped by stores. */
typedef struct vm_tensor_row {
    uint64_t global; /* address of the first byte inside the tensor; 0 when there is none */
    uint32_t shared; /* from the start of the box, before swizzling */
    uint32_t before, inside, after;
} vm_tensor_row;
/* Calls visit for each row, in the order of shared memory, until it answers false; then answers false. */
bool vm_tensor_request_walk(const vm_tensor_request *request,
                            bool (*visit)(void *user, const vm_tensor_row *row), void *user);

/* The most common copy: every row of the box lies in the tensor and is copied as it is. */
typedef struct vm_tensor_box {
    uint64_t global, stride; /* address of the first row, bytes to the next */
    uint32_t rows, bytes;    /* of a row */
    uint32_t pitch;          /* rows in shared memory */
} vm_tensor_box;
/* False: it is no such copy. */
bool vm_tensor_request_box(const vm_tensor_request *request, vm_tensor_box *box);
/* host: of the first row. address: absolute, of the box. */
void vm_tensor_box_load(const vm_tensor_map *map, const vm_tensor_box *box, uint8_t *shared, uint32_t address,
                        const uint8_t *host);
void vm_tensor_box_store(const vm_tensor_map *map, const vm_tensor_box *box, const uint8_t *shared,
                         uint32_t address, uint8_t *host);

/* Puts a row into shared memory at the absolute address `address` of the box: fills, converts and swizzles.
 * from: its inside bytes. */
void vm_tensor_row_load(const vm_tensor_map *map, uint8_t *shared, uint32_t address, const vm_tensor_row *row,
                        const uint8_t *from);
/* Collects a row's inside bytes, at most VM_TENSOR_ROW_BYTES, from shared memory. */
enum { VM_TENSOR_ROW_BYTES = 256 * 32 };
void vm_tensor_row_store(const vm_tensor_map *map, const uint8_t *shared, uint32_t address,
                         const vm_tensor_row *row, uint8_t *to);
#endif
