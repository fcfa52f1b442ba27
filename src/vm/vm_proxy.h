/* SPDX-License-Identifier: Apache-2.0
 * Proxies of shared memory: bytes that ordinary instructions wrote are seen by copies and matrix units (the
 * async proxy) only after fence.proxy.async (PTX ISA 9.7.9.25.2, 8.6). For each 16 bytes: who wrote them
 * last, and when. Kept only for programs in which something of the async proxy reads shared memory
 * (vm_program.proxies). */
#ifndef TIRC_VM_VM_PROXY_H
#define TIRC_VM_VM_PROXY_H
#include "vm/vm_internal.h"

#define VM_PROXY_GRANULE 16u
#define VM_PROXY_BLOCK   64u
/* How a tensor copy laid out a tile: bytes of its swizzle (16: none), and what its atoms are. 0: not known.
 */
#define VM_PROXY_LAYOUT(bytes, atom) ((uint32_t)(bytes) | (uint32_t)(atom) << 8)
#define VM_PROXY_LINE                128u
struct vm_proxy_line {
    uint32_t layout, pc; /* of the tensor copy that wrote the line last */
};
struct vm_proxy {
    uint32_t clock;            /* counts fences; starts at 1 */
    uint32_t fenced[VM_LANES]; /* per warp: clock of its last fence */
    uint32_t granules;
    uint32_t *marked; /* per VM_PROXY_BLOCK granules: clock of the last ordinary write; 0: there is no tag */
    struct vm_proxy_line *lines;
    uint32_t tags[]; /* clock << 5 | warp of the last ordinary write; 0: none since the async proxy wrote */
};

void vm_proxy_start(vm_cta *cta);   /* a CTA begins */
void vm_proxy_fence(vm_warp *warp); /* fence.proxy.async */
/* An ordinary write to the own shared memory. */
static inline void vm_proxy_write(const vm_warp *warp, uint32_t offset, uint32_t bytes) {
    struct vm_proxy *proxy = warp->cta->proxy;
    if (proxy == NULL || bytes == 0)
        return;
    uint32_t last = (offset + bytes - 1) / VM_PROXY_GRANULE, first = offset / VM_PROXY_GRANULE;
    if (first == last && first < proxy->granules) {
        proxy->tags[first] = proxy->clock << 5 | warp->index;
        proxy->marked[first / VM_PROXY_BLOCK] = proxy->clock;
        return;
    }
    for (uint32_t g = offset / VM_PROXY_GRANULE; g <= last && g < proxy->granules; g++) {
        proxy->tags[g] = proxy->clock << 5 | warp->index;
        proxy->marked[g / VM_PROXY_BLOCK] = proxy->clock;
    }
}
/* The same for lanes that write at most a granule each, in the own shared memory. */
static inline void vm_proxy_write_lanes(const vm_warp *warp, const uint32_t *offset, uint32_t mask) {
    struct vm_proxy *proxy = warp->cta->proxy;
    const uint32_t tag = proxy->clock << 5 | warp->index, clock = proxy->clock, granules = proxy->granules;
    VM_FOR_LANES(lane, mask) {
        uint32_t g = offset[lane] / VM_PROXY_GRANULE;
        if (g >= granules)
            continue;
        proxy->tags[g] = tag;
        proxy->marked[g / VM_PROXY_BLOCK] = clock;
    }
}
/* The same for a host address, which may be anywhere. */
static inline void vm_proxy_write_at(const vm_warp *warp, const uint8_t *host, uint32_t bytes) {
    const vm_cta *cta = warp->cta;
    if (cta->proxy != NULL && host >= cta->shared && host < cta->shared + cta->shared_bytes)
        vm_proxy_write(warp, (uint32_t)(host - cta->shared), bytes);
}
/* The async proxy wrote: a tensor copy at pc in this layout, or, with layout 0, something else. */
void vm_proxy_clean(vm_cta *cta, uint32_t offset, uint32_t bytes, uint32_t layout, uint32_t pc);
/* The layout of the tensor copy that wrote the byte last, when nothing else has since; 0: not known. */
uint32_t vm_proxy_layout(const vm_cta *cta, uint32_t offset, uint32_t *pc);
/* A matrix unit reads a tile there in this layout: reports when a tensor copy wrote it with another swizzle.
 */
void vm_proxy_tile(vm_warp *warp, uint32_t pc, unsigned lane, const vm_cta *cta, uint32_t offset,
                   uint32_t layout);
/* An ordinary write since the async proxy's own somewhere in [begin, end). */
bool vm_proxy_tagged(const vm_cta *cta, uint32_t begin, uint32_t end);
/* The async proxy is about to read what the warp's instruction names: reports bytes without a fence. */
void vm_proxy_read(vm_warp *warp, uint32_t pc, unsigned lane, uint32_t offset, uint32_t bytes);
#endif
