/* SPDX-License-Identifier: Apache-2.0
 * The two descriptors of tcgen05: the 32-bit instruction descriptor and the 64-bit shared-memory matrix
 * descriptor (PTX ISA 9.7.16.4 and 9.7.16.5), decoded and checked bit by bit, and the addresses that a matrix
 * descriptor gives. Pure: knows nothing of the machine, of warps or of memory. */
#ifndef TIRC_VM_VM_TENSOR_DESCRIPTOR_H
#define TIRC_VM_VM_TENSOR_DESCRIPTOR_H
#include "base/text.h"
#include "num/num.h"

typedef enum vm_tensor_kind {
    VM_TENSOR_F16,
    VM_TENSOR_TF32,
    VM_TENSOR_F8F6F4,
    VM_TENSOR_I8,
    VM_TENSOR_MXF8F6F4,
    VM_TENSOR_MXF4,
    VM_TENSOR_MXF4NVF4,
    VM_TENSOR_KIND_COUNT
} vm_tensor_kind;
const char *vm_tensor_kind_name(vm_tensor_kind kind);

/* What the words of the instruction say, as opposed to its descriptor. */
typedef struct vm_tensor_form {
    vm_tensor_kind kind;
    unsigned cta_group; /* 1 or 2 */
    bool ws, sparse, a_in_tmem;
    bool shifts_a;      /* .ashift */
    unsigned scale_vec; /* factors per row of one instruction: 1, 2 or 4; 0: kinds without block scale */
} vm_tensor_form;

/* Bits [low, high] of a descriptor hold a value that is not accepted there. */
typedef struct vm_tensor_violation {
    const char *field;
    unsigned low, high;
    uint32_t value;
    const char *accepted;
} vm_tensor_violation;
enum { VM_TENSOR_VIOLATIONS = 24 };
typedef struct vm_tensor_violations {
    unsigned count;
    vm_tensor_violation list[VM_TENSOR_VIOLATIONS];
} vm_tensor_violations;
/* One line each: "bits 17-22, N >> 3, hold 33: accepted are ..." */
void vm_tensor_violations_print(const vm_tensor_violations *violations, base_builder *out);

typedef struct vm_tensor_instruction {
    num_dtype a, b, d;
    num_dtype scale; /* of the factors; NONE without block scale */
    unsigned m, n, k;
    bool saturate, sparse, negate_a, negate_b;
    bool transpose_a, transpose_b;         /* MN-major */
    unsigned sparsity_selector, max_shift; /* max_shift: rows of B, .ws only */
    unsigned factor_a, factor_b;           /* first byte of the scale factors in their cell */
} vm_tensor_instruction;
/* All violations of one descriptor; with none, *result is what it says. */
void vm_tensor_instruction_decode(uint32_t descriptor, const vm_tensor_form *form,
                                  vm_tensor_instruction *result, vm_tensor_violations *violations);

typedef enum vm_tensor_swizzle {
    VM_TENSOR_SWIZZLE_NONE,
    VM_TENSOR_SWIZZLE_32B,
    VM_TENSOR_SWIZZLE_64B,
    VM_TENSOR_SWIZZLE_128B,
    VM_TENSOR_SWIZZLE_128B_32B /* 128 bytes in atoms of 32 */
} vm_tensor_swizzle;

typedef struct vm_tensor_matrix {
    uint32_t start, leading, stride; /* bytes */
    unsigned base_offset;
    vm_tensor_swizzle swizzle;
} vm_tensor_matrix;
/* Bits of one element in shared memory: 4-bit types of mxf4 and mxf4nvf4 are packed, those of the other kinds
 * and all 6-bit types stand in groups of 16 elements to 16 bytes, so that addresses count them as bytes. */
unsigned vm_tensor_container_bits(vm_tensor_kind kind, num_dtype type);
/* What holds for every matrix descriptor. */
void vm_tensor_matrix_decode(uint64_t descriptor, vm_tensor_matrix *result, vm_tensor_violations *violations);
/* What an operand of elements of this width adds: swizzles per major order, and a start that agrees with the
 * phase of its swizzle. `type` is the element type, `bits` its container. */
void vm_tensor_matrix_check(const vm_tensor_matrix *matrix, num_dtype type, unsigned bits, bool mn_major,
                            vm_tensor_violations *violations);
static inline unsigned vm_tensor_atom_bytes(vm_tensor_swizzle swizzle) {
    static const unsigned bytes[] = {16, 32, 64, 128, 128};
    return bytes[swizzle];
}
/* The address that an unswizzled one moves to. */
static inline uint32_t vm_tensor_swizzled(vm_tensor_swizzle swizzle, uint32_t address) {
    switch (swizzle) {
    case VM_TENSOR_SWIZZLE_32B:
        return address ^ (address >> 7 & 1) << 4;
    case VM_TENSOR_SWIZZLE_64B:
        return address ^ (address >> 7 & 3) << 4;
    case VM_TENSOR_SWIZZLE_128B:
        return address ^ (address >> 7 & 7) << 4;
    case VM_TENSOR_SWIZZLE_128B_32B:
        return address ^ (address >> 7 & 3) << 5;
    default:
        return address;
    }
}
/* Byte address in shared memory of the element (row, k), row being the index along M or N. Elements of 4 bits
 * share a byte, low nibble first.
 * The canonical layouts of 9.7.16.3.3; strides in bytes. Without swizzle the stride byte offset walks eight
 * rows and the leading one 16 bytes of K; in MN-major order the two swap what they walk once a swizzle is on.
 */
static inline uint32_t vm_tensor_matrix_address(const vm_tensor_matrix *matrix, unsigned bits, bool mn_major,
                                                uint32_t row, uint32_t k) {
    uint32_t bytes = bits / 8, width = vm_tensor_atom_bytes(matrix->swizzle), offset;
    bool plain = matrix->swizzle == VM_TENSOR_SWIZZLE_NONE;
    if (!mn_major) {
        uint32_t along = bits == 4 ? k / 2 : k * bytes;
        offset = plain ? row % 8 * 16 + row / 8 * matrix->stride + along / 16 * matrix->leading + along % 16
                       : row % 8 * width + row / 8 * matrix->stride + along;
    } else if (bytes == 0) {
        return matrix->start; /* refused by vm_tensor_matrix_check */
    } else {
        uint32_t across = width / bytes, group = matrix->swizzle == VM_TENSOR_SWIZZLE_128B_32B ? 4 : 8;
        offset = row % across * bytes + k % group * width +
                 (plain ? row / across * matrix->stride + k / group * matrix->leading
                        : row / across * matrix->leading + k / group * matrix->stride);
    }
    uint32_t address = matrix->start + offset, in_pattern = address - 128 * matrix->base_offset;
    return address ^ in_pattern ^ vm_tensor_swizzled(matrix->swizzle, in_pattern);
}
#endif
