/* SPDX-License-Identifier: Apache-2.0
 * Distributed shared memory: which CTA a shared address belongs to (PTX ISA 3.3, 5.1.7, 9.7.9.23). */
#include "vm/vm_race.h"

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
    } else {
        /* Addresses are truncated to the width of their space (PTX ISA 6.4.1), for .shared 32 bits; libraries
         * pass generic addresses of shared memory here, whose low half is the address inside it. */
        inside = (uint32_t)address;
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
    if (cta->exited)
        vm_cluster_report_exited(warp, pc, lane, cta, *offset);
    return cta;
}

void vm_cluster_report_exited(vm_warp *warp, uint32_t pc, unsigned lane, const vm_cta *owner,
                              uint64_t offset) {
    vm_finding *finding = vm_finding_add(warp->cta, VM_FIND_CLUSTER_EXITED, pc, warp, lane);
    if (finding == NULL)
        return;
    finding->space = PTX_SPACE_SHARED;
    finding->address = offset;
    base_builder text;
    base_builder_start(&text, vm_finding_arena(warp->cta));
    base_builder_format(&text, "CTA (%u,%u,%u)", owner->id[0], owner->id[1], owner->id[2]);
    finding->text = text.data;
}

/* ---- barrier.cluster (PTX ISA 9.7.13.4) ---- */
vm_cluster *vm_cluster_of(vm_cta *cta) {
    if (cta->cluster == NULL) {
        cta->cluster = BASE_NEW(cta->arena, vm_cluster);
        cta->cluster->size = cta->cluster->left = 1;
        cta->cluster->ctas[0] = cta;
    }
    return cta->cluster;
}

static uint32_t missing_lanes(const vm_cta *cta) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < cta->warp_count; i++)
        count += (uint32_t)__builtin_popcount(cta->warps[i].live & ~cta->warps[i].cluster_arrived);
    return count;
}

/* Completes the phase when every thread that has not ended has arrived. */
static void advance(vm_cluster *cluster) {
    uint32_t arrived = 0;
    for (uint32_t rank = 0; rank < cluster->size; rank++) {
        const vm_cta *cta = cluster->ctas[rank];
        if (cta->exited)
            continue;
        if (missing_lanes(cta))
            return;
        for (uint32_t i = 0; i < cta->warp_count; i++)
            arrived |= cta->warps[i].cluster_arrived;
    }
    if (arrived == 0)
        return;
    cluster->phase++;
    vm_race_pour(cluster->ctas[0], &cluster->race_done, &cluster->race_arrived);
    for (uint32_t rank = 0; rank < cluster->size; rank++)
        vm_race_ended(cluster->ctas[rank], &cluster->race_done);
    for (uint32_t rank = 0; rank < cluster->size; rank++) {
        vm_cta *cta = cluster->ctas[rank];
        for (uint32_t i = 0; i < cta->warp_count; i++)
            cta->warps[i].cluster_arrived = 0;
        cta->writes++;
        if (!cta->exited)
            vm_schedule_wake(cta, VM_PARK_CLUSTER, UINT64_MAX);
    }
}

void vm_cluster_exit(vm_cta *cta) {
    if (cta->cluster != NULL)
        advance(cta->cluster);
}

static void misuse(vm_warp *warp, uint32_t lanes, const char *text) {
    vm_finding *finding = vm_finding_add(warp->cta, VM_FIND_CLUSTER_BARRIER, warp->splits[warp->current].pc,
                                         warp, vm_first_lane(lanes));
    if (finding != NULL)
        finding->text = text;
}

vm_action vm_external_CLUSTER_ARRIVE(vm_warp *warp, const vm_op *op, uint32_t mask) {
    (void)op;
    vm_cluster *cluster = vm_cluster_of(warp->cta);
    if (warp->cluster_owed & mask)
        misuse(warp, warp->cluster_owed & mask, "a second arrival without a wait between");
    warp->cluster_arrived |= mask;
    warp->cluster_owed |= mask;
    vm_race_release(warp, mask, &cluster->race_arrived);
    vm_warp_released(warp);
    advance(cluster);
    return VM_GO;
}

vm_action vm_external_CLUSTER_WAIT(vm_warp *warp, const vm_op *op, uint32_t mask) {
    (void)op;
    if (mask & ~warp->cluster_owed)
        misuse(warp, mask & ~warp->cluster_owed, "a wait without an arrival before it");
    uint32_t waiting = warp->cluster_arrived & mask;
    if (waiting == 0) {
        warp->cluster_owed &= ~mask;
        vm_race_acquire(warp, mask, vm_cluster_of(warp->cta)->race_done);
        vm_warp_acquired(warp);
        warp->cluster_acquired = warp->acquired;
        return VM_GO;
    }
    vm_control_isolate(warp, waiting);
    vm_schedule_park(warp, VM_PARK_CLUSTER, 0);
    return VM_AGAIN;
}

void vm_cluster_describe(const vm_cta *cta, base_builder *text) {
    const vm_cluster *cluster = cta->cluster;
    base_builder_format(text, "waits at the barrier of the cluster (phase %llu), where",
                        (unsigned long long)cluster->phase);
    const char *separator = " ";
    for (uint32_t rank = 0; rank < cluster->size; rank++) {
        const vm_cta *other = cluster->ctas[rank];
        uint32_t missing = other->exited ? 0 : missing_lanes(other);
        if (missing)
            base_builder_format(text, "%s%u threads of CTA (%u,%u,%u)", separator, missing, other->id[0],
                                other->id[1], other->id[2]);
        if (missing)
            separator = ", ";
    }
    base_builder_string(text, " have not arrived");
}

/* ---- addresses of other CTAs ---- */
/* mapa; imm: 1 generic addresses, 2 64-bit; extras: address, rank, result. */
vm_action vm_external_CLUSTER_MAP(vm_warp *warp, const vm_op *op, uint32_t mask) {
    const uint32_t *list = warp->cta->run->program->extras.items + op->x + 1;
    vm_cta *cta = warp->cta;
    uint32_t size = cta->run->cluster_size ? cta->run->cluster_size : 1;
    VM_FOR_LANES(lane, mask) {
        uint64_t address =
            op->imm & 2 ? vm_operand64(warp, list[0], lane) : vm_operand32(warp, list[0], lane);
        uint32_t rank = vm_operand32(warp, list[1], lane);
        if (rank >= size) {
            vm_finding *finding =
                vm_finding_add(cta, VM_FIND_CLUSTER_RANK, warp->splits[warp->current].pc, warp, lane);
            if (finding != NULL) {
                finding->size = rank;
                finding->required = size;
            }
        }
        uint64_t ranks = (uint64_t)0xff << VM_RANK_SHIFT;
        address = (address & ~ranks) | ((uint64_t)(rank & 0xff) << VM_RANK_SHIFT);
        if (op->imm & 2)
            ((uint64_t *)vm_operand(warp, list[2]))[lane] = address;
        else
            ((uint32_t *)vm_operand(warp, list[2]))[lane] = (uint32_t)address;
    }
    return VM_GO;
}

/* getctarank; imm as of mapa; extras: address, result. */
vm_action vm_external_CLUSTER_RANK(vm_warp *warp, const vm_op *op, uint32_t mask) {
    const uint32_t *list = warp->cta->run->program->extras.items + op->x + 1;
    VM_FOR_LANES(lane, mask) {
        uint64_t address =
            op->imm & 2 ? vm_operand64(warp, list[0], lane) : vm_operand32(warp, list[0], lane);
        ((uint32_t *)vm_operand(warp, list[1]))[lane] = (uint32_t)(address >> VM_RANK_SHIFT & 0xff);
    }
    return VM_GO;
}
