/* SPDX-License-Identifier: Apache-2.0
 * How vm_decode_memory.c tells vm_atomic.c about an atomic: imm is the address offset (32 bits, signed), the
 * access bits (16), the operation (8) and the type (8). */
#ifndef TIRC_VM_VM_ATOMIC_H
#define TIRC_VM_VM_ATOMIC_H
#include "vm/vm_internal.h"

typedef enum vm_atomic_operation {
    VM_ATOMIC_ADD,
    VM_ATOMIC_AND,
    VM_ATOMIC_OR,
    VM_ATOMIC_XOR,
    VM_ATOMIC_EXCHANGE,
    VM_ATOMIC_COMPARE,
    VM_ATOMIC_MIN,
    VM_ATOMIC_MAX,
    VM_ATOMIC_INC,
    VM_ATOMIC_DEC
} vm_atomic_operation;
#define VM_ATOMIC_IMM(offset, access, operation, type)                                                       \
    ((uint64_t)(uint32_t)(offset) | (uint64_t)(access) << 32 | (uint64_t)(operation) << 48 |                 \
     (uint64_t)(type) << 56)
#define VM_ATOMIC_OPERATION(imm) ((vm_atomic_operation)((imm) >> 48 & 0xff))
#define VM_ATOMIC_TYPE(imm)      ((ptx_type)((imm) >> 56))
/* The operation that the modifiers of an atom, red or red.async name. False: none. */
bool vm_decode_atomic_operation(const ptx_instruction *i, vm_atomic_operation *operation);
/* The new value of one element. ftz: subnormal f32 count as 0. */
uint64_t vm_atomic_combine(uint64_t old, uint64_t b, uint64_t c, vm_atomic_operation operation, ptx_type type,
                           bool ftz);
#endif
