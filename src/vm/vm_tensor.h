/* SPDX-License-Identifier: Apache-2.0
 * The matrix unit in the machine: how its instructions are encoded in operations, and what a CTA remembers
 * about them. For vm_tensor_*.c and vm_decode_tensor.c. */
#ifndef TIRC_VM_VM_TENSOR_H
#define TIRC_VM_VM_TENSOR_H
#include "vm/vm_async.h"
#include "vm/vm_proxy.h"
#include "vm/vm_tensor_operand.h"
#include "vm/vm_tmem_machine.h"

/* imm of TENSOR_MMA. Its list: d, a, b, idesc, enable-input-d, then the scale factors of A and B or the zero
 * column mask and none, then the words of disable-output-lane. */
#define VM_TENSOR_KIND(imm)        ((vm_tensor_kind)((imm)&7))
#define VM_TENSOR_PAIR             (1u << 3)
#define VM_TENSOR_WS               (1u << 4)
#define VM_TENSOR_A_IN_TMEM        (1u << 5)
#define VM_TENSOR_SCALE_VEC_SHIFT  6  /* 0, 1, 2, 4 */
#define VM_TENSOR_SCALE_D_SHIFT    9  /* 0 to 15 */
#define VM_TENSOR_MASK_SHIFT       13 /* words: 0, 4, 8 */
#define VM_TENSOR_BUFFER_SHIFT     17 /* collector: 0 that of A, 1 to 4 those of B */
#define VM_TENSOR_COLLECTOR_SHIFT  20 /* vm_tensor_collector */
#define VM_TENSOR_ZERO_MASK        (1u << 22)
#define VM_TENSOR_ASHIFT           (1u << 23)
#define VM_TENSOR_FIELD(imm, name) ((uint32_t)(imm) >> VM_TENSOR_##name##_SHIFT)
typedef enum vm_tensor_collector {
    VM_TENSOR_DISCARD,
    VM_TENSOR_LASTUSE,
    VM_TENSOR_USE,
    VM_TENSOR_FILL
} vm_tensor_collector;
enum {
    VM_TENSOR_LIST_D,
    VM_TENSOR_LIST_A,
    VM_TENSOR_LIST_B,
    VM_TENSOR_LIST_IDESC,
    VM_TENSOR_LIST_ENABLE,
    VM_TENSOR_LIST_FACTOR_A,
    VM_TENSOR_LIST_FACTOR_B,
    VM_TENSOR_LIST_MASK
};
static inline vm_tensor_form vm_tensor_form_of(uint64_t imm) {
    return (vm_tensor_form){.kind = VM_TENSOR_KIND(imm),
                            .cta_group = imm & VM_TENSOR_PAIR ? 2 : 1,
                            .ws = (imm & VM_TENSOR_WS) != 0,
                            .a_in_tmem = (imm & VM_TENSOR_A_IN_TMEM) != 0,
                            .shifts_a = (imm & VM_TENSOR_ASHIFT) != 0,
                            .scale_vec = VM_TENSOR_FIELD(imm, SCALE_VEC) & 7};
}
/* imm of TENSOR_CP; list: taddr, descriptor */
#define VM_TENSOR_CP_IMM(shape, unpack) ((uint64_t)(shape) << 4 | (uint64_t)(unpack) << 8)
#define VM_TENSOR_CP_SHAPE(imm)         ((imm) >> 4 & 15)
#define VM_TENSOR_CP_UNPACK(imm)        ((vm_tensor_unpack)((imm) >> 8 & 3))
/* imm of TENSOR_SHIFT: VM_TENSOR_PAIR; list: taddr */
/* imm of TENSOR_COMMIT; list: address, mask of CTAs */
#define VM_TENSOR_SHARED    (1u << 4)
#define VM_TENSOR_MULTICAST (1u << 5)

/* An accumulator that operations on their way write: MMAs of the same shape on it follow each other. */
typedef struct vm_tensor_accumulator {
    uint32_t address;
    uint16_t m, n;
    uint16_t agent;
    bool pair, half;
    char datapath;
    uint32_t count; /* operations that nobody has observed */
    vm_cta *ctas[2];
    uint64_t flights[2];
} vm_tensor_accumulator;

typedef struct vm_tensor_cta {
    vm_tensor_multiply multiply;
    uint8_t *memory; /* of which the aligned buffers below are parts */
    uint8_t *scratch, *a, *b;
    BASE_VECTOR(vm_tensor_accumulator *) accumulators;
    uint32_t uncommitted[VM_LANES]; /* per warp: lanes that have issued work since their last commit */
    uint32_t uncommitted_pc;
    bool collector[5];     /* filled, and not given up */
    uint64_t collected[5]; /* descriptor or address of what fills it */
} vm_tensor_cta;
vm_tensor_cta *vm_tensor_cta_of(vm_cta *cta);

/* The CTAs that a tcgen05 instruction of this group works in: one, or the pair with the even one first.
 * Returns how many; 0 after reporting that the peer is not there. */
unsigned vm_tensor_ctas(vm_warp *warp, uint32_t pc, unsigned lane, bool pair, vm_cta *ctas[2]);
/* Operations of a CTA or a pair complete in the order of issue. */
uint64_t vm_tensor_order(vm_cta *const ctas[2]);
void vm_tensor_issued(vm_warp *warp, uint32_t pc, unsigned lane);
/* A finding with text lines of a base_builder made in vm_finding_arena. */
vm_finding *vm_tensor_report(vm_warp *warp, vm_finding_kind kind, uint32_t pc, unsigned lane,
                             uint64_t address, uint64_t size, uint64_t required);
/* The async proxy reads 16 bytes of the own shared memory: see vm_proxy.h. */
typedef struct vm_tensor_reader {
    vm_warp *warp;
    uint32_t pc;
    unsigned lane;
} vm_tensor_reader;
bool vm_tensor_read(void *reader, uint32_t address);
/* VM_PROXY_LAYOUT of a tile under a descriptor (atoms of 32 bytes are 1 in a tensor map, too). */
static inline uint32_t vm_tensor_tile_layout(vm_tensor_swizzle swizzle) {
    static const uint8_t bytes[] = {16, 32, 64, 128, 128};
    return VM_PROXY_LAYOUT(bytes[swizzle], swizzle == VM_TENSOR_SWIZZLE_128B_32B ? 1 : 0);
}
/* The rows of an area of whole partitions will move: marks them. kind: VM_TMEM_SHIFT, or VM_TMEM_ASHIFT. */
uint64_t vm_tensor_shift_begin(vm_warp *warp, uint32_t pc, vm_cta *cta, const vm_tmem_area *area,
                               vm_tmem_kind kind);
/* They move, unless the columns were given back meanwhile. */
void vm_tensor_shift_rows(vm_cta *cta, const vm_tmem_area *area);
/* Cells of the area that a matrix result was written to last, in a layout that `own` does not continue. what:
 * 'D' (accumulated on; own: VM_TMEM_LAYOUT of this product), 'A' (own: the result that tf32 A can be, or 0)
 * or 'S' (own: 0). */
void vm_tensor_layout_check(vm_warp *warp, uint32_t pc, unsigned lane, vm_cta *cta, const vm_tmem_area *area,
                            char what, uint16_t own);
/* Executed by more than one lane: reported once. */
void vm_tensor_single(vm_warp *warp, uint32_t pc, uint32_t mask, vm_finding_kind kind);
#endif
