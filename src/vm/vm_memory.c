/* SPDX-License-Identifier: Apache-2.0
 * Memory lane by lane: finds the host place of an address, reports what is out of bounds, misaligned,
 * read-only or in the wrong space, and goes on (a bad load gives 0, a bad store is dropped). The fast road is
 * level/vm_access.c. */
#include "vm/vm_async.h"
#include "vm/vm_cluster.h"
#include "vm/vm_proxy.h"
#include "vm/vm_race.h"

const vm_allocation *vm_memory_below(const vm_grid *run, uint64_t address) {
    size_t low = 0, high = run->allocation_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (run->allocations[middle].begin <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &run->allocations[low - 1] : NULL;
}

const vm_allocation *vm_memory_find(const vm_grid *run, uint64_t address) {
    const vm_allocation *below = vm_memory_below(run, address);
    return below && address < below->end ? below : NULL;
}

uint64_t vm_memory_address(const vm_warp *warp, const vm_op *op, unsigned lane) {
    switch (VM_ACCESS_FORM(op->sub)) {
    case VM_ADDRESS_FIXED:
        return op->imm + (VM_ACCESS_SPACE(op->sub) == VM_SHARED ? warp->cta->window : 0);
    case VM_ADDRESS_32:
        return (uint32_t)(vm_operand32(warp, op->a, lane) + (uint32_t)op->imm);
    case VM_ADDRESS_INDEXED: {
        uint32_t index = vm_operand32(warp, op->b, lane);
        uint64_t wide = op->c & 1 ? (uint64_t)(int64_t)(int32_t)index : index;
        return vm_operand64(warp, op->a, lane) + (wide << (op->c >> 1)) + op->imm;
    }
    default:
        return vm_operand64(warp, op->a, lane) + op->imm;
    }
}

static ptx_space space_of(vm_space space) {
    static const ptx_space spaces[] = {
        [VM_GLOBAL] = PTX_SPACE_GLOBAL, [VM_SHARED] = PTX_SPACE_SHARED, [VM_LOCAL] = PTX_SPACE_LOCAL,
        [VM_CONST] = PTX_SPACE_CONST,   [VM_PARAM] = PTX_SPACE_PARAM,   [VM_GENERIC] = PTX_SPACE_GENERIC,
        [VM_FRAME] = PTX_SPACE_LOCAL};
    return spaces[space];
}

/* The space that a generic address points into, and the offset there. */
static vm_space resolve(uint64_t *address) {
    uint64_t window = *address >> VM_WINDOW_BITS, offset = *address & (VM_WINDOW(1) - 1);
    static const vm_space windows[] = {VM_GLOBAL, VM_SHARED, VM_LOCAL, VM_CONST, VM_PARAM};
    if (window == 0 || window >= sizeof windows / sizeof windows[0])
        return VM_GLOBAL;
    *address = offset;
    return windows[window];
}

/* Addresses are truncated to the width of their space (PTX ISA 6.4.1), for .shared 32 bits: of a generic
 * address of shared memory the offset stays. */
static uint64_t truncated(const vm_warp *warp, vm_space space, uint64_t address) {
    return space == VM_SHARED && address >> VM_WINDOW_BITS == VM_SHARED_BASE >> VM_WINDOW_BITS &&
                   !warp->cta->run->launch->strict_ptx
               ? (uint32_t)address
               : address;
}

typedef struct place {
    uint8_t *host;         /* NULL: local memory */
    uint32_t local_offset; /* LOCAL */
} place;

/* False after reporting. */
static bool locate(vm_warp *warp, uint32_t pc, unsigned lane, vm_space space, uint64_t address, uint64_t size,
                   uint64_t align, bool store, place *out) {
    vm_cta *cta = warp->cta;
    const vm_grid *run = cta->run;
    uint64_t given = address;
    ptx_space named = space_of(space);
    vm_space real = space;
    address = truncated(warp, space, address);
    if (space == VM_GENERIC) {
        real = resolve(&address);
        named = space_of(real);
    } else if (space != VM_GLOBAL && address >> VM_WINDOW_BITS) {
        vm_finding_access(warp, VM_FIND_BAD_SPACE, pc, lane, named, given, size, 0, store);
        return false;
    } else if (space == VM_GLOBAL && address < VM_GLOBAL_BASE && address >> VM_WINDOW_BITS) {
        vm_finding_access(warp, VM_FIND_BAD_SPACE, pc, lane, named, given, size, 0, store);
        return false;
    }
    if (align > 1 && address % align != 0) {
        vm_finding_access(warp, VM_FIND_MISALIGNED, pc, lane, named, given, size, align, store);
        return false;
    }
    uint64_t limit = 0;
    out->host = NULL;
    switch (real) {
    case VM_SHARED: {
        vm_cta *owner = cta;
        uint32_t offset = (uint32_t)address;
        if (cta->cluster_size) {
            owner = vm_cluster_cta(cta, address, &offset);
            address = offset;
        }
        if (owner != NULL && owner->exited) {
            vm_cluster_report_exited(warp, pc, lane, owner, offset);
            return false;
        }
        limit = owner ? owner->shared_bytes : 0;
        out->host = owner ? owner->shared : NULL;
        if (owner != NULL && (owner->flights || (store && owner->guards)) && address < limit &&
            size <= limit - address) {
            vm_range access = {.space = VM_RANGE_SHARED,
                               .write = store,
                               .cta = owner,
                               .begin = address,
                               .end = address + size};
            vm_async_conflict(warp, pc, lane, &access, NULL);
        }
        break;
    }
    case VM_CONST:
        limit = run->program->const_bytes;
        out->host = run->const_bank;
        break;
    case VM_PARAM:
        limit = run->parameter_bytes;
        out->host = run->parameters;
        break;
    case VM_LOCAL:
    case VM_FRAME: {
        const vm_frame *frame = warp->splits[warp->current].frame;
        limit = (uint64_t)frame->local + frame->function->local_bytes + frame->stack;
        if (real == VM_FRAME)
            address += frame->local;
        out->local_offset = (uint32_t)address;
        break;
    }
    default: {
        const vm_allocation *allocation = vm_memory_find(run, address);
        if (allocation == NULL || allocation->end - address < size) {
            vm_finding_access(warp, VM_FIND_OUT_OF_BOUNDS, pc, lane, PTX_SPACE_GLOBAL, given, size, 0, store);
            return false;
        }
        if (store && allocation->read_only) {
            vm_finding_access(warp, VM_FIND_WRITE_READ_ONLY, pc, lane, PTX_SPACE_GLOBAL, given, size, 0,
                              store);
            return false;
        }
        out->host = allocation->host + (address - allocation->begin);
        return true;
    }
    }
    if (size > limit || address > limit - size) {
        vm_finding_access(warp, VM_FIND_OUT_OF_BOUNDS, pc, lane, named, given, size, limit, store);
        return false;
    }
    if (store && (real == VM_CONST || real == VM_PARAM)) {
        vm_finding_access(warp, VM_FIND_WRITE_READ_ONLY, pc, lane, named, given, size, 0, store);
        return false;
    }
    if (out->host)
        out->host += address;
    return true;
}

uint8_t *vm_memory_host(vm_warp *warp, uint32_t pc, unsigned lane, vm_space space, uint64_t address,
                        uint64_t size, bool store) {
    place found;
    if (!locate(warp, pc, lane, space, address, size, size, store, &found))
        return NULL;
    if (found.host == NULL)
        vm_finding_access(warp, VM_FIND_BAD_SPACE, pc, lane, PTX_SPACE_LOCAL, address, size, 0, store);
    return found.host;
}

uint8_t *vm_memory_range(vm_warp *warp, uint32_t pc, unsigned lane, vm_space space, uint64_t address,
                         uint64_t size, bool store) {
    place found;
    if (!locate(warp, pc, lane, space, address, size, 1, store, &found))
        return NULL;
    if (found.host == NULL)
        vm_finding_access(warp, VM_FIND_BAD_SPACE, pc, lane, PTX_SPACE_LOCAL, address, size, 0, store);
    return found.host;
}

static void copy_local(vm_warp *warp, unsigned lane, uint32_t offset, void *data, uint64_t size, bool store) {
    uint8_t *bytes = data;
    for (uint64_t i = 0; i < size; i++) {
        uint32_t at = offset + (uint32_t)i;
        uint8_t *byte = warp->local + (size_t)(at >> 2) * VM_ROW_BYTES + lane * 4 + (at & 3);
        if (store)
            *byte = bytes[i];
        else
            bytes[i] = *byte;
    }
}

static bool transfer(vm_warp *warp, uint32_t pc, unsigned lane, vm_space space, uint64_t address,
                     uint64_t size, uint64_t align, void *data, bool store) {
    place found;
    if (!locate(warp, pc, lane, space, address, size, align, store, &found))
        return false;
    if (found.host == NULL)
        copy_local(warp, lane, found.local_offset, data, size, store);
    else if (store)
        memcpy(found.host, data, size);
    else
        memcpy(data, found.host, size);
    if (store)
        warp->cta->writes++;
    if (store && found.host != NULL)
        vm_proxy_write_at(warp, found.host, (uint32_t)size);
    return true;
}

bool vm_memory_read(vm_warp *warp, uint32_t pc, unsigned lane, vm_space space, uint64_t address, void *to,
                    uint64_t size) {
    vm_race_touch_at(warp, pc, lane, space, address, (uint32_t)size, VM_RACE_READ);
    return transfer(warp, pc, lane, space, address, size, 1, to, false);
}

bool vm_memory_write(vm_warp *warp, uint32_t pc, unsigned lane, vm_space space, uint64_t address,
                     const void *from, uint64_t size) {
    uint8_t copy[16];
    memcpy(copy, from, size);
    vm_race_touch_at(warp, pc, lane, space, address, (uint32_t)size, VM_RACE_WRITE);
    return transfer(warp, pc, lane, space, address, size, 1, copy, true);
}

/* Local memory grows by doubling in the worker's arena; words keep their place. */
bool vm_memory_local_reserve(vm_warp *warp, uint32_t bytes) {
    if (bytes > VM_LOCAL_LIMIT)
        return false;
    if (bytes <= warp->local_capacity)
        return true;
    uint32_t capacity = warp->local_capacity ? warp->local_capacity : 256;
    while (capacity < bytes)
        capacity *= 2;
    uint8_t *memory = base_arena_allocate(warp->cta->arena, (size_t)capacity * VM_LANES + 64);
    memory += 64 - ((uintptr_t)memory & 63);
    if (warp->local_capacity)
        memcpy(memory, warp->local, (size_t)warp->local_capacity * VM_LANES);
    warp->local = memory;
    warp->local_capacity = capacity;
    return true;
}

/* Extends a loaded element to its register. */
static uint64_t extend(const uint8_t *data, unsigned log2, bool sign) {
    uint64_t value = 0;
    memcpy(&value, data, log2 >= 3 ? 8 : (size_t)1 << log2);
    unsigned bits = 8u << log2;
    if (sign && bits < 64 && value >> (bits - 1) & 1)
        value |= UINT64_MAX << bits;
    return value;
}

vm_action vm_memory_access(vm_warp *warp, const vm_op *op, uint32_t mask) {
    unsigned log2 = VM_ACCESS_LOG2(op->sub), count = VM_ACCESS_COUNT(op->sub), size = 1u << log2;
    bool store =
             op->code == VM_CODE_STORE || op->code == VM_CODE_STORE_ROW || op->code == VM_CODE_CHECK_STORE,
         wide = VM_ACCESS_WIDE(op->sub) || log2 == 3;
    uint32_t pc = warp->splits[warp->current].pc, bytes = count << log2;
    const uint32_t *list = count > 1 ? warp->cta->run->program->extras.items + op->x + 1 : &op->d;
    VM_FOR_LANES(lane, mask) {
        uint8_t data[64] = {0};
        uint64_t address = truncated(warp, VM_ACCESS_SPACE(op->sub), vm_memory_address(warp, op, lane));
        if (VM_ACCESS_SPACE(op->sub) == VM_SHARED && !(op->sub & VM_ACCESS_CLUSTER) &&
            warp->cta->cluster_size && address >> VM_RANK_SHIFT != warp->cta->rank &&
            address >> VM_RANK_SHIFT < warp->cta->cluster_size) /* another CTA's, with .shared::cta */
            vm_finding_access(warp, VM_FIND_BAD_SPACE, pc, lane, PTX_SPACE_SHARED, address, bytes, 0, store);
        for (unsigned k = 0; store && k < count; k++) {
            const uint8_t *row = vm_operand(warp, list[k]);
            if (log2 == 4) {
                memcpy(data + k * 16, row + 8 * lane, 8);
                memcpy(data + k * 16 + 8, row + 2 * VM_ROW_BYTES + 8 * lane, 8);
            } else {
                memcpy(data + k * size, row + (wide ? 8 : 4) * lane, size);
            }
        }
        if (!transfer(warp, pc, lane, VM_ACCESS_SPACE(op->sub), address, bytes, bytes, data, store) && !store)
            memset(data, 0, sizeof data);
        for (unsigned k = 0; !store && k < count; k++) {
            if (list[k] == VM_REF_NONE)
                continue;
            void *row = vm_operand(warp, list[k]);
            if (log2 == 4) {
                memcpy((uint64_t *)row + lane, data + k * 16, 8);
                memcpy((uint64_t *)row + VM_LANES + lane, data + k * 16 + 8, 8);
            } else if (wide) {
                ((uint64_t *)row)[lane] = extend(data + k * size, log2, VM_ACCESS_SIGNED(op->sub));
            } else {
                ((uint32_t *)row)[lane] = (uint32_t)extend(data + k * size, log2, VM_ACCESS_SIGNED(op->sub));
            }
        }
    }
    return warp->cta->status == VM_COMPLETE ? VM_GO : VM_HALT;
}

vm_action vm_external_ACCESS(vm_warp *warp, const vm_op *op, uint32_t mask) {
    return vm_memory_access(warp, op, mask);
}

vm_action vm_external_ISSPACEP(vm_warp *warp, const vm_op *op, uint32_t mask) {
    uint32_t *result = vm_operand(warp, op->d);
    VM_FOR_LANES(lane, mask) {
        uint64_t address = vm_operand64(warp, op->a, lane), window = address >> VM_WINDOW_BITS;
        static const vm_space windows[] = {VM_GLOBAL, VM_SHARED, VM_LOCAL, VM_CONST, VM_PARAM};
        vm_space space = window < 5 ? windows[window] : VM_GLOBAL;
        bool is = window == 0 ? false : space == (vm_space)(op->imm & 7);
        const vm_cta *cta = warp->cta;
        if (is && space == VM_SHARED && cta->cluster_size && !(op->imm & 8)) /* .shared::cta: the own one */
            is = (address & (VM_WINDOW(1) - 1)) >> VM_RANK_SHIFT == cta->rank;
        *result = (*result & ~(1u << lane)) | (uint32_t)is << lane;
    }
    return VM_GO;
}
