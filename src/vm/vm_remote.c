/* SPDX-License-Identifier: Apache-2.0
 * Asynchronous stores and reductions (st.async, red.async: PTX ISA 9.7.9.13, 9.7.13.7), cluster launch
 * control (9.7.13.17), and the registers of setmaxnreg (9.7.19.5). */
#include "vm/vm_async.h"
#include "vm/vm_atomic.h"
#include "vm/vm_cluster.h"
#include "vm/vm_race.h"
#include "vm/vm_sm.h"

/* ---- st.async, red.async ---- */
typedef struct remote { /* payload */
    vm_cta *cta, *barrier_cta;
    uint8_t *host;
    uint32_t barrier, bytes;
    uint8_t element, operation, type; /* log2; ASYNC_REDUCE */
    bool signals, reduces;
    uint8_t data[32];
} remote;
_Static_assert(sizeof(remote) <= VM_ASYNC_BYTES, "the payload of an operation");

static void complete(vm_async *async) {
    remote what;
    memcpy(&what, async->of.bytes, sizeof what);
    if (what.reduces) {
        uint32_t size = 1u << what.element;
        for (uint32_t at = 0; at < what.bytes; at += size) {
            uint64_t old = 0, value = 0;
            memcpy(&old, what.host + at, size);
            memcpy(&value, what.data + at, size);
            value = vm_atomic_combine(old, value, 0, (vm_atomic_operation)what.operation, (ptx_type)what.type,
                                      false);
            memcpy(what.host + at, &value, size);
        }
    } else {
        memcpy(what.host, what.data, what.bytes);
    }
    if (what.signals)
        vm_async_signal(async, what.barrier_cta, what.barrier, 0, what.bytes);
}

/* imm: log2 of an element | elements << 4 | generic address << 8 | to global memory << 9 | operation << 16 |
 * type << 24; extras: address, barrier or none, elements. */
static vm_action issue(vm_warp *warp, const vm_op *op, uint32_t mask, bool reduces) {
    const uint32_t *list = warp->cta->run->program->extras.items + op->x + 1;
    uint32_t pc = warp->splits[warp->current].pc, element = op->imm & 15, count = op->imm >> 4 & 15;
    uint32_t size = 1u << element;
    bool global = op->imm >> 9 & 1;
    vm_space space = op->imm >> 8 & 1 ? VM_GENERIC : VM_SHARED;
    VM_FOR_LANES(lane, mask) {
        remote what = {.bytes = size * count, .element = (uint8_t)element, .reduces = reduces};
        uint64_t address = vm_operand64(warp, list[0], lane);
        uint32_t offset = 0;
        if (global) {
            what.host = vm_memory_host(warp, pc, lane, VM_GENERIC, address, what.bytes, true);
        } else {
            what.cta =
                vm_cluster_shared(warp, pc, lane, space, address, what.bytes, what.bytes, true, &offset);
            what.barrier_cta = vm_cluster_shared(warp, pc, lane, space, vm_operand64(warp, list[1], lane), 8,
                                                 8, true, &what.barrier);
            what.signals = true;
            what.host = what.cta ? what.cta->shared + offset : NULL;
        }
        if (what.host == NULL || (what.signals && what.barrier_cta == NULL))
            continue;
        if (what.signals && what.barrier_cta != what.cta) {
            vm_finding *finding = vm_finding_add(warp->cta, VM_FIND_MBARRIER_REMOTE, pc, warp, lane);
            if (finding != NULL) {
                finding->space = PTX_SPACE_SHARED;
                finding->address = vm_operand64(warp, list[1], lane);
                finding->text = "its mbarrier must be in the CTA that the data goes to";
            }
            continue;
        }
        what.operation = (uint8_t)(op->imm >> 16);
        what.type = (uint8_t)(op->imm >> 24);
        for (uint32_t k = 0; k < count; k++) {
            uint64_t value =
                size == 8 ? vm_operand64(warp, list[2 + k], lane) : vm_operand32(warp, list[2 + k], lane);
            memcpy(what.data + k * size, &value, size);
        }
        vm_async *async = vm_async_new(warp, VM_ASYNC_REMOTE, 1u << lane);
        async->complete = complete;
        if (!global && !reduces) /* reductions may meet each other */
            async->ranges[async->range_count++] = (vm_range){.space = VM_RANGE_SHARED,
                                                             .write = true,
                                                             .cta = what.cta,
                                                             .begin = offset,
                                                             .end = offset + what.bytes};
        memcpy(async->of.bytes, &what, sizeof what);
        vm_async_issue(async);
    }
    return warp->cta->status == VM_COMPLETE ? VM_GO : VM_HALT;
}

vm_action vm_external_ASYNC_STORE(vm_warp *warp, const vm_op *op, uint32_t mask) {
    vm_warp_released(warp);
    return issue(warp, op, mask, false);
}

vm_action vm_external_ASYNC_REDUCE(vm_warp *warp, const vm_op *op, uint32_t mask) {
    vm_warp_released(warp);
    return issue(warp, op, mask, true);
}

/* ---- cluster launch control ---- */
typedef struct cancellation { /* payload */
    vm_cta *cta;
    uint32_t offset, barrier;
    bool all;
} cancellation;

/* The response: words 0 to 2 the first CTA, word 3 bit 0: cancelled. PTX keeps it opaque. */
static void cancel(vm_async *async) {
    cancellation what;
    memcpy(&what, async->of.bytes, sizeof what);
    vm_cta *cta = async->cta;
    uint32_t response[4] = {0};
    uint64_t cluster = cta->group ? vm_group_cancel(cta->group) : UINT64_MAX;
    if (cluster != UINT64_MAX) {
        vm_cluster_place(cta->run, cluster, 0, response);
        response[3] = 1;
    }
    uint32_t count = what.all ? vm_cluster_of(cta)->size : 1;
    for (uint32_t rank = 0; rank < count; rank++) {
        vm_cta *to = what.all ? vm_cluster_of(cta)->ctas[rank] : what.cta;
        memcpy(to->shared + what.offset, response, sizeof response);
        to->writes++;
        vm_race_landed(async, to, what.offset, 16, what.barrier);
        vm_async_signal(async, to, what.barrier, 0, 16);
    }
}

/* imm: 1 generic addresses, 2 multicast to all CTAs of the cluster; extras: address, barrier. */
vm_action vm_external_TRY_CANCEL(vm_warp *warp, const vm_op *op, uint32_t mask) {
    const uint32_t *list = warp->cta->run->program->extras.items + op->x + 1;
    uint32_t pc = warp->splits[warp->current].pc;
    vm_space space = op->imm & 1 ? VM_GENERIC : VM_SHARED;
    VM_FOR_LANES(lane, mask) {
        cancellation what = {.all = op->imm & 2};
        what.cta = vm_cluster_shared(warp, pc, lane, space, vm_operand64(warp, list[0], lane), 16, 16, true,
                                     &what.offset);
        const vm_cta *other = vm_cluster_shared(warp, pc, lane, space, vm_operand64(warp, list[1], lane), 8,
                                                8, true, &what.barrier);
        if (what.cta == NULL || other == NULL)
            continue;
        vm_async *async = vm_async_new(warp, VM_ASYNC_BULK, 1u << lane);
        async->complete = cancel;
        async->ranges[async->range_count++] = (vm_range){.space = VM_RANGE_SHARED,
                                                         .write = true,
                                                         .cta = what.cta,
                                                         .begin = what.offset,
                                                         .end = what.offset + 16};
        memcpy(async->of.bytes, &what, sizeof what);
        vm_async_issue(async);
    }
    return warp->cta->status == VM_COMPLETE ? VM_GO : VM_HALT;
}

/* imm: 0 is_canceled, 1 the three coordinates, 2 to 4 one of them; extras: response, results. */
vm_action vm_external_QUERY_CANCEL(vm_warp *warp, const vm_op *op, uint32_t mask) {
    const uint32_t *list = warp->cta->run->program->extras.items + op->x + 1;
    const uint64_t *response = vm_operand(warp, list[0]);
    VM_FOR_LANES(lane, mask) {
        uint64_t low = response[lane], high = response[VM_LANES + lane];
        uint32_t words[4] = {(uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high, (uint32_t)(high >> 32)};
        if (op->imm == 0) {
            uint32_t *p = vm_operand(warp, list[1]);
            *p = (*p & ~(1u << lane)) | (words[3] & 1) << lane;
            continue;
        }
        if (!(words[3] & 1)) { /* undefined in PTX */
            vm_finding_add(warp->cta, VM_FIND_CANCEL, warp->splits[warp->current].pc, warp, lane);
        }
        for (uint32_t k = 0; k < 4; k++)
            if (op->imm == 1 ? list[1 + k] != VM_REF_NONE : k == 0)
                ((uint32_t *)vm_operand(warp, list[1 + k]))[lane] =
                    op->imm == 1 ? (k < 3 ? words[k] : 0) : words[op->imm - 2];
    }
    return VM_GO;
}

/* ---- setmaxnreg ---- */
/* Registers of a thread at launch: what .maxnreg says, or what ptxas gives each thread of the largest CTA
 * that the kernel allows. 0: not known, and setmaxnreg does nothing, as ptxas ignores it then. */
static uint32_t registers_at_launch(const vm_grid *run) {
    const ptx_function *source = run->kernel->source;
    if (source->max_registers)
        return source->max_registers;
    uint64_t threads = 1, given = 0;
    for (int i = 0; i < 3; i++) {
        uint32_t most = source->required_threads[i] ? source->required_threads[i] : source->max_threads[i];
        given |= most;
        threads *= most ? most : 1;
    }
    if (!given || threads > 1024)
        return 0;
    threads = (threads + VM_LANES - 1) / VM_LANES * VM_LANES;
    uint64_t most =
        VM_SM_REGISTERS / (threads * (source->min_blocks ? source->min_blocks : 1)) & ~(uint64_t)7;
    return most < 8 ? 8 : most > 256 ? 256 : (uint32_t)most;
}

/* imm: count | inc << 16. The registers of warps that have ended do not come back. */
vm_action vm_external_REGISTERS(vm_warp *warp, const vm_op *op, uint32_t mask) {
    vm_cta *cta = warp->cta;
    uint32_t count = op->imm & 0xffff,
             now = warp->registers ? warp->registers : registers_at_launch(cta->run);
    bool more = op->imm >> 16 & 1;
    if (now == 0)
        return VM_GO;
    if (more ? count < now : count > now) {
        vm_finding *finding =
            vm_finding_add(cta, VM_FIND_REGISTERS, warp->splits[warp->current].pc, warp, vm_first_lane(mask));
        if (finding != NULL) {
            finding->size = count;
            finding->required = now;
            finding->is_store = more;
        }
        return VM_GO;
    }
    uint32_t wanted = (more ? count - now : now - count) * VM_LANES;
    if (more && wanted > cta->registers) {
        vm_schedule_park(warp, VM_PARK_REGISTERS, wanted);
        return VM_AGAIN;
    }
    cta->registers = more ? cta->registers - wanted : cta->registers + wanted;
    warp->registers = count;
    if (!more)
        vm_schedule_wake(cta, VM_PARK_REGISTERS, UINT64_MAX);
    return VM_GO;
}
