/* SPDX-License-Identifier: Apache-2.0
 * Distributed shared memory: which CTA a shared address belongs to (PTX ISA 3.3, 5.1.7, 9.7.9.23). */
#include "vm/vm_cluster.h"

uint32_t vm_cluster_size(const vm_cta *cta) {
    return cta->cluster_size ? cta->cluster_size : 1;
}

vm_cta *vm_cluster_rank(vm_cta *cta, uint32_t rank) {
    if (rank == cta->rank)
        return cta;
    return rank < cta->cluster_size ? cta->peers[rank] : NULL;
}

vm_cta *vm_cluster_cta(vm_cta *cta, uint64_t address, uint32_t *offset) {
    if (cta->cluster_size == 0) {
        *offset = (uint32_t)address;
        return address <= UINT32_MAX ? cta : NULL;
    }
    *offset = (uint32_t)address & ((1u << VM_RANK_SHIFT) - 1);
    return address >> VM_RANK_SHIFT < cta->cluster_size
               ? vm_cluster_rank(cta, (uint32_t)(address >> VM_RANK_SHIFT))
               : NULL;
}

vm_cta *vm_cluster_shared(vm_warp *warp, uint32_t pc, unsigned lane, vm_space space, uint64_t address,
                          uint64_t size, uint64_t align, bool store, uint32_t *offset) {
    uint64_t inside = address;
    if (space == VM_GENERIC) {
        if (address >> VM_WINDOW_BITS != VM_SHARED_BASE >> VM_WINDOW_BITS) {
            vm_finding_access(warp, VM_FIND_BAD_SPACE, pc, lane, PTX_SPACE_SHARED, address, size, 0, store);
            return NULL;
        }
        inside = address - VM_SHARED_BASE;
    }
    if (align > 1 && inside % align != 0) {
        vm_finding_access(warp, VM_FIND_MISALIGNED, pc, lane, PTX_SPACE_SHARED, address, size, align, store);
        return NULL;
    }
    vm_cta *cta = vm_cluster_cta(warp->cta, inside, offset);
    if (cta == NULL || size > cta->shared_bytes || *offset > cta->shared_bytes - size) {
        vm_finding_access(warp, VM_FIND_OUT_OF_BOUNDS, pc, lane, PTX_SPACE_SHARED, address, size,
                          cta ? cta->shared_bytes : 0, store);
        return NULL;
    }
    return cta;
}
