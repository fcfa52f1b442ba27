/* SPDX-License-Identifier: Apache-2.0
 * Rows: what the lanes of a whole warp load or store when their elements stand side by side in global memory.
 * The engine and vm_access.c use it; anything else answers NULL and goes the general way. */
#ifndef TIRC_VM_ROW_H
#define TIRC_VM_ROW_H
#include "vm/level/vm_level.h"

/* The allocation of a global address: a kernel that reads one buffer and writes another finds both
 * remembered. */
VM_INLINE const vm_allocation *allocation_of(vm_cta *cta, u64 address) {
    const vm_allocation *allocation = cta->recent[0];
    if (address - allocation->begin < allocation->end - allocation->begin)
        return allocation;
    allocation = cta->recent[1];
    if (address - allocation->begin < allocation->end - allocation->begin)
        return allocation;
    allocation = vm_memory_find(cta->run, address);
    if (allocation == NULL)
        return NULL;
    cta->recent[1] = cta->recent[0];
    cta->recent[0] = allocation;
    return allocation;
}

/* What follows a row is the next warp's, or the next CTA's in a kernel of tiles: asked for now, it is there
 * by then. An address behind the buffer does no harm: a prefetch never faults. */
VM_INLINE void fetch_ahead(const uint8_t *row, u32 bytes) {
    for (u32 at = 0; at < bytes; at += 64)
        __builtin_prefetch(row + bytes + at);
}

/* Each lane's value is 1 << log2 more than that of the lane before it? */
VM_INLINE bool counts_up(const u32 *b, unsigned log2) {
    const u32 first = b[0];
#if VM_LEVEL == 4
    const __m512i lanes =
        _mm512_slli_epi32(_mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), log2);
    const __m512i low = _mm512_add_epi32(lanes, _mm512_set1_epi32((int)first));
    const __m512i high = _mm512_add_epi32(lanes, _mm512_set1_epi32((int)(first + (16u << log2))));
    return !(_mm512_cmpneq_epu32_mask(_mm512_loadu_si512(b), low) |
             _mm512_cmpneq_epu32_mask(_mm512_loadu_si512(b + 16), high));
#elif defined(VM_CHUNK)
    static const _Alignas(64)
        u32 lanes[VM_LANES] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                               16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
    u32_chunk different = {0};
    for (unsigned i = 0; i < VM_LANES * sizeof(u32) / VM_CHUNK; i++)
        different |= ((const u32_chunk *)b)[i] ^ ((((const u32_chunk *)lanes)[i] << log2) + first);
    return VM_MASK_32(different != 0) == 0;
#else
    u32 different = 0;
    VM_LOOP {
        different |= (b[l] - (l << log2)) ^ first;
    }
    return different == 0;
#endif
}
/* LOAD_ROW, STORE_ROW of a whole warp whose elements stand side by side: their place in global memory. */
VM_INLINE uint8_t *row_of_elements(const vm_warp *w, const vm_op *op, bool store,
                                   const vm_allocation **allocation) {
    enum { BYTES = 4 };
    const u32 *b = vm_operand(w, op->b);
    u32 first = b[0];
    bool sign = op->c & 1;
    if (!counts_up(b, 0) || (sign ? (s32)b[31] < (s32)first : b[31] < first))
        return NULL;
    u64 address =
        *(const u64 *)vm_operand(w, op->a) + ((sign ? (u64)(s64)(s32)first : first) * BYTES) + op->imm;
    const vm_allocation *found = allocation_of(w->cta, address);
    if (found == NULL || found->end - address < VM_LANES * (u64)BYTES || address & (BYTES - 1) ||
        (store && found->read_only))
        return NULL;
    *allocation = found;
    return found->host + (address - found->begin);
}

/* Whole lines of a buffer that no cache holds are not read first only to be overwritten. The worker's end
 * orders such stores (vm_run.c); its own thread sees them at once. */
VM_INLINE void put_row(const vm_allocation *allocation, uint8_t *host, const u32 *row) {
#ifdef VM_CHUNK
    enum { STREAMED_BYTES = 32 << 20 };
    if (((uintptr_t)host & 63) == 0 && allocation->end - allocation->begin >= STREAMED_BYTES) {
        for (unsigned i = 0; i < 4 * VM_LANES; i += VM_CHUNK)
            VM_STREAM(host + i, (const uint8_t *)row + i);
        return;
    }
#else
    (void)allocation;
#endif
    memcpy(host, row, 4 * VM_LANES);
}
VM_INLINE bool load_row(const vm_warp *w, const vm_op *op) {
    const vm_allocation *allocation;
    const uint8_t *host = row_of_elements(w, op, false, &allocation);
    if (host == NULL)
        return false;
    fetch_ahead(host, 4 * VM_LANES);
    memcpy(vm_operand(w, op->d), host, 4 * VM_LANES);
    return true;
}
VM_INLINE bool store_row(const vm_warp *w, const vm_op *op) {
    const vm_allocation *allocation;
    uint8_t *host = row_of_elements(w, op, true, &allocation);
    if (host == NULL)
        return false;
    w->cta->writes++;
    put_row(allocation, host, vm_operand(w, op->d));
    return true;
}
#endif
