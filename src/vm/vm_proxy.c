/* SPDX-License-Identifier: Apache-2.0
 * Ordinary writes and the async proxy (vm_proxy.h). A fence counts when the writing warp ran it after its
 * write, or the reading warp before its read: PTX wants a fence on the way from one to the other, and
 * programs put it at one of the two ends. */
#include "vm/vm_proxy.h"

void vm_proxy_start(vm_cta *cta) {
    if (!cta->run->program->proxies || vm_unchecked(cta))
        return;
    uint32_t granules = (cta->shared_bytes + VM_PROXY_GRANULE - 1) / VM_PROXY_GRANULE;
    uint32_t blocks = granules / VM_PROXY_BLOCK + 1, lines = cta->shared_bytes / VM_PROXY_LINE + 1;
    size_t tags = (sizeof(struct vm_proxy) + sizeof(uint32_t) * granules + 15) / 16 * 16;
    size_t marks = tags + sizeof(struct vm_proxy_line) * lines, all = marks + sizeof(uint32_t) * blocks;
    if (cta->proxy == NULL)
        cta->proxy = base_arena_allocate(cta->arena, all);
    memset(cta->proxy, 0, all);
    cta->proxy->clock = 1;
    cta->proxy->granules = granules;
    cta->proxy->lines = (struct vm_proxy_line *)(void *)((uint8_t *)cta->proxy + tags);
    cta->proxy->marked = (uint32_t *)(void *)((uint8_t *)cta->proxy + marks);
}

void vm_proxy_fence(vm_warp *warp) {
    struct vm_proxy *proxy = warp->cta->proxy;
    if (proxy == NULL)
        return;
    if (proxy->clock < UINT32_MAX >> 5)
        proxy->clock++;
    proxy->fenced[warp->index] = proxy->clock;
}

void vm_proxy_clean(vm_cta *cta, uint32_t offset, uint32_t bytes, uint32_t layout, uint32_t pc) {
    struct vm_proxy *proxy = cta->proxy;
    if (proxy == NULL || bytes == 0)
        return;
    uint32_t first = offset / VM_PROXY_GRANULE, end = (offset + bytes - 1) / VM_PROXY_GRANULE + 1;
    end = end < proxy->granules ? end : proxy->granules;
    for (uint32_t g = first; g < end; g = (g / 8 + 1) * 8)
        proxy->lines[g / 8] = (struct vm_proxy_line){layout, pc};
    while (first < end) {
        uint32_t block = first / VM_PROXY_BLOCK, next = (block + 1) * VM_PROXY_BLOCK;
        uint32_t until = next < end ? next : end;
        if (proxy->marked[block] != 0)
            memset(proxy->tags + first, 0, (until - first) * sizeof *proxy->tags);
        if (first % VM_PROXY_BLOCK == 0 && (until == next || until == proxy->granules))
            proxy->marked[block] = 0;
        first = until;
    }
}

uint32_t vm_proxy_layout(const vm_cta *cta, uint32_t offset, uint32_t *pc) {
    const struct vm_proxy *proxy = cta->proxy;
    uint32_t granule = offset / VM_PROXY_GRANULE;
    if (proxy == NULL || granule >= proxy->granules || proxy->tags[granule] != 0)
        return 0;
    *pc = proxy->lines[offset / VM_PROXY_LINE].pc;
    return proxy->lines[offset / VM_PROXY_LINE].layout;
}

void vm_proxy_tile(vm_warp *warp, uint32_t pc, unsigned lane, const vm_cta *cta, uint32_t offset,
                   uint32_t layout) {
    uint32_t copy = 0, written = vm_proxy_layout(cta, offset, &copy);
    if (written == 0 || written == layout || written == VM_PROXY_LAYOUT(16, 0))
        return; /* data that is swizzled in global memory comes without a swizzle */
    vm_finding *finding = vm_finding_add(warp->cta, VM_FIND_TENSOR_SWIZZLE, pc, warp, lane);
    if (finding == NULL)
        return;
    finding->address = offset;
    finding->size = written;
    finding->required = layout;
    finding->other = vm_program_instruction_at(warp->cta->run->program, copy);
}

bool vm_proxy_tagged(const vm_cta *cta, uint32_t begin, uint32_t end) {
    const struct vm_proxy *proxy = cta->proxy;
    if (proxy == NULL || begin >= end)
        return false;
    uint32_t g = begin / VM_PROXY_GRANULE, last = (end - 1) / VM_PROXY_GRANULE + 1;
    last = last < proxy->granules ? last : proxy->granules;
    while (g < last) {
        uint32_t next = (g / VM_PROXY_BLOCK + 1) * VM_PROXY_BLOCK, until = next < last ? next : last;
        for (uint32_t i = g; proxy->marked[g / VM_PROXY_BLOCK] != 0 && i < until; i++)
            if (proxy->tags[i] != 0)
                return true;
        g = until;
    }
    return false;
}

void vm_proxy_read(vm_warp *warp, uint32_t pc, unsigned lane, uint32_t offset, uint32_t bytes) {
    struct vm_proxy *proxy = warp->cta->proxy;
    if (proxy == NULL || bytes == 0)
        return;
    uint32_t last = (offset + bytes - 1) / VM_PROXY_GRANULE;
    for (uint32_t g = offset / VM_PROXY_GRANULE; g <= last && g < proxy->granules; g++) {
        if (proxy->marked[g / VM_PROXY_BLOCK] <
            proxy->fenced[warp->index]) { /* this warp's fence came after */
            g |= VM_PROXY_BLOCK - 1;
            continue;
        }
        uint32_t tag = proxy->tags[g], when = tag >> 5, writer = tag & 31;
        if (tag == 0 || proxy->fenced[writer] > when || proxy->fenced[warp->index] > when)
            continue;
        vm_finding *finding = vm_finding_add(warp->cta, VM_FIND_COPY_PROXY, pc, warp, lane);
        if (finding != NULL) {
            finding->space = PTX_SPACE_SHARED;
            finding->address = g * VM_PROXY_GRANULE;
            finding->size = bytes;
            finding->required = writer;
        }
        return;
    }
}

vm_action vm_external_PROXY_FENCE(vm_warp *warp, const vm_op *op, uint32_t mask) {
    (void)op;
    (void)mask;
    vm_proxy_fence(warp);
    return VM_GO;
}
