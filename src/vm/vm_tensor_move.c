/* SPDX-License-Identifier: Apache-2.0
 * tcgen05.cp and commit (PTX ISA 9.7.16.9, 9.7.16.12), and what all instructions of the matrix unit share:
 * which CTAs they work in, order, and the state of a CTA. In a pair, cp fills each CTA's tensor memory from
 * its own shared memory. */
#include "vm/vm_cluster.h"
#include "vm/vm_proxy.h"
#include "vm/vm_tensor.h"
#include "vm/vm_tmem_record.h"

/* ---- shared by the instructions ---- */
vm_tensor_cta *vm_tensor_cta_of(vm_cta *cta) {
    if (cta->tensor != NULL)
        return cta->tensor;
    vm_tensor_cta *state = cta->tensor = BASE_NEW(cta->arena, vm_tensor_cta);
    size_t a_bytes = VM_TENSOR_ROWS * VM_TENSOR_DEPTH, b_bytes = VM_TENSOR_COLUMNS * VM_TENSOR_DEPTH;
    state->memory = base_arena_allocate(cta->arena, VM_TENSOR_SCRATCH + a_bytes + b_bytes + 64);
    state->scratch = state->memory + (64 - ((uintptr_t)state->memory & 63));
    state->a = state->scratch + VM_TENSOR_SCRATCH;
    state->b = state->a + a_bytes;
    state->multiply = vm_tensor_multiply_choose(cta->run->level->name);
    return state;
}

void vm_tensor_start(vm_cta *cta) {
    if (cta->tensor == NULL)
        return;
    memset(cta->tensor->uncommitted, 0, sizeof cta->tensor->uncommitted);
    memset(cta->tensor->collector, 0, sizeof cta->tensor->collector);
    for (size_t i = 0; i < cta->tensor->accumulators.count; i++)
        cta->tensor->accumulators.items[i]->count = 0;
}

vm_finding *vm_tensor_report(vm_warp *warp, vm_finding_kind kind, uint32_t pc, unsigned lane,
                             uint64_t address, uint64_t size, uint64_t required) {
    vm_finding *finding = vm_finding_add(warp->cta, kind, pc, warp, lane);
    if (finding != NULL) {
        finding->address = address;
        finding->size = size;
        finding->required = required;
    }
    return finding;
}

unsigned vm_tensor_ctas(vm_warp *warp, uint32_t pc, unsigned lane, bool pair, vm_cta *ctas[2]) {
    vm_cta *cta = warp->cta;
    ctas[0] = cta;
    ctas[1] = NULL;
    if (!pair)
        return 1;
    vm_cta *peer = vm_cluster_size(cta) > 1 ? vm_cluster_rank(cta, cta->rank ^ 1) : NULL;
    if (peer == NULL) {
        vm_tensor_report(warp, VM_FIND_TMEM_PEER, pc, lane, 0, 0, 0);
        return 0;
    }
    ctas[cta->rank & 1] = cta;
    ctas[(cta->rank & 1) ^ 1] = peer;
    return 2;
}

uint64_t vm_tensor_order(vm_cta *const ctas[2]) {
    return ctas[0]->linear + 1;
}

void vm_tensor_issued(vm_warp *warp, uint32_t pc, unsigned lane) {
    vm_tensor_cta *state = vm_tensor_cta_of(warp->cta);
    state->uncommitted[warp->index % VM_LANES] |= 1u << lane;
    state->uncommitted_pc = pc;
}

void vm_tensor_single(vm_warp *warp, uint32_t pc, uint32_t mask, vm_finding_kind kind) {
    if ((mask & (mask - 1)) != 0)
        vm_tensor_report(warp, kind, pc, vm_first_lane(mask), mask, (uint64_t)__builtin_popcount(mask), 1);
}

/* Bytes that an ordinary instruction wrote need a fence; most come from copies, and have no tag. */
bool vm_tensor_read(void *user, uint32_t address) {
    const vm_tensor_reader *r = user;
    const struct vm_proxy *proxy = r->warp->cta->proxy;
    uint32_t granule = address / VM_PROXY_GRANULE;
    if (proxy == NULL || granule >= proxy->granules)
        return false;
    uint32_t tag = proxy->tags[granule], when = tag >> 5;
    if (tag != 0 && proxy->fenced[tag & 31] <= when && proxy->fenced[r->warp->index] <= when) {
        vm_proxy_read(r->warp, r->pc, r->lane, address, VM_PROXY_GRANULE);
        return false; /* one is enough */
    }
    return true;
}

/* ---- cp ---- */
typedef struct copy { /* payload */
    uint64_t descriptor;
    uint32_t taddr, imm, lane, cta_count;
    vm_cta *ctas[2];
    uint64_t flights[2];
} copy;
_Static_assert(sizeof(copy) <= VM_ASYNC_BYTES, "payload");

static vm_tmem_area copy_area(const copy *c, const vm_tensor_cp *cp) {
    vm_tmem_area area = {.column = VM_TMEM_COLUMN(c->taddr), .columns = 4 * cp->chunks};
    for (unsigned r = 0; r < cp->rows; r++)
        for (unsigned k = 0; k < cp->copies; k++) {
            unsigned lane = VM_TMEM_LANE(c->taddr) + vm_tensor_cp_lane(cp, r) + k * cp->step;
            if (lane < VM_TMEM_LANES)
                area.lanes[lane / 32] |= 1u << lane % 32;
        }
    return area;
}

static void complete_copy(vm_async *o) {
    const copy *c = (const copy *)(const void *)o->of.bytes;
    const vm_tensor_cp *cp = &vm_tensor_cps[VM_TENSOR_CP_SHAPE(c->imm)];
    vm_tensor_matrix matrix;
    vm_tensor_violations violations;
    vm_tensor_matrix_decode(c->descriptor, &matrix, &violations);
    vm_tmem_area area = copy_area(c, cp);
    vm_tmem_allocation found;
    for (unsigned i = 0; i < c->cta_count; i++) {
        vm_cta *cta = c->ctas[i];
        vm_tmem *t = vm_tmem_of(cta);
        uint32_t column;
        if (vm_tmem_check(t, &area, cta->linear, &column, &found) != VM_TMEM_FINE)
            continue;
        for (unsigned r = 0; r < cp->rows; r++)
            for (unsigned chunk = 0; chunk < cp->chunks; chunk++) {
                uint32_t address = vm_tensor_matrix_address(&matrix, 8, false, r, 16 * chunk), words[4];
                uint8_t bytes[16];
                if (address > cta->shared_bytes || cta->shared_bytes - address < 16) {
                    vm_tensor_report(o->warp, VM_FIND_TENSOR_TILE, o->pc, c->lane, address, 16,
                                     cta->shared_bytes);
                    return;
                }
                vm_tensor_unpack_chunk(VM_TENSOR_CP_UNPACK(c->imm), cta->shared + address, bytes);
                memcpy(words, bytes, 16);
                for (unsigned w = 0; w < 4; w++)
                    for (unsigned k = 0; k < cp->copies; k++)
                        t->cells[area.column + 4 * chunk + w]
                                [VM_TMEM_LANE(c->taddr) + vm_tensor_cp_lane(cp, r) + k * cp->step] = words[w];
            }
    }
}

static void observed_copy(vm_async *o) {
    const copy *c = (const copy *)(const void *)o->of.bytes;
    for (unsigned i = 0; i < c->cta_count; i++)
        vm_tmem_flight_end(vm_tmem_of(c->ctas[i]), c->flights[i]);
}

static void issue_copy(vm_warp *warp, uint32_t pc, uint32_t imm, const uint32_t *list, unsigned lane) {
    copy c = {.descriptor = vm_operand64(warp, list[1], lane),
              .taddr = vm_operand32(warp, list[0], lane),
              .imm = imm,
              .lane = lane};
    const vm_tensor_cp *cp = &vm_tensor_cps[VM_TENSOR_CP_SHAPE(imm)];
    vm_tensor_matrix matrix;
    vm_tensor_violations violations;
    vm_tmem_group(warp, pc, lane, imm & VM_TENSOR_PAIR ? 2 : 1);
    c.cta_count = vm_tensor_ctas(warp, pc, lane, imm & VM_TENSOR_PAIR, c.ctas);
    vm_tensor_issued(warp, pc, lane);
    vm_tensor_matrix_decode(c.descriptor, &matrix, &violations);
    vm_tensor_matrix_check(&matrix, NUM_DTYPE_U8, 8, false, &violations);
    if (violations.count != 0) {
        vm_finding *finding = vm_tensor_report(warp, VM_FIND_TENSOR_MATRIX, pc, lane, c.descriptor, 0, 0);
        base_builder text;
        base_builder_start(&text, vm_finding_arena(warp->cta));
        vm_tensor_violations_print(&violations, &text);
        if (finding != NULL)
            finding->text = text.data;
        return;
    }
    unsigned most = VM_TMEM_LANES - 1 - cp->last;
    if (VM_TMEM_LANE(c.taddr) > most) {
        vm_tensor_report(warp, VM_FIND_TENSOR_LANE, pc, lane, c.taddr, 'C', most);
        return;
    }
    vm_tmem_area area = copy_area(&c, cp);
    vm_range ranges[2];
    for (unsigned i = 0; i < c.cta_count; i++) {
        uint32_t low = UINT32_MAX, high = 0;
        for (unsigned r = 0; r < cp->rows; r++)
            for (unsigned chunk = 0; chunk < cp->chunks; chunk++) {
                uint32_t address = vm_tensor_matrix_address(&matrix, 8, false, r, 16 * chunk);
                low = address < low ? address : low;
                high = address + 16 > high ? address + 16 : high;
            }
        ranges[i] = (vm_range){.space = VM_RANGE_SHARED, .cta = c.ctas[i], .begin = low, .end = high};
        if (high > c.ctas[i]->shared_bytes) {
            vm_tensor_report(warp, VM_FIND_TENSOR_TILE, pc, lane, low, high - low, c.ctas[i]->shared_bytes);
            return;
        }
        if (!vm_tmem_allowed(warp, pc, lane, c.ctas[i], &area, true))
            return;
    }
    if (c.cta_count == 0)
        return;
    for (unsigned i = 0; i < c.cta_count; i++) {
        vm_async_conflict(warp, pc, lane, &ranges[i], NULL);
        vm_tensor_reader reader = {warp, pc, lane};
        for (unsigned r = 0; c.ctas[i] == warp->cta && r < cp->rows; r++)
            for (unsigned chunk = 0; chunk < cp->chunks; chunk++)
                vm_tensor_read(&reader, vm_tensor_matrix_address(&matrix, 8, false, r, 16 * chunk));
        if (c.ctas[i]->proxy != NULL)
            vm_proxy_tile(warp, pc, lane, c.ctas[i], matrix.start, vm_tensor_tile_layout(matrix.swizzle));
        /* of the copies only .4x256b follows a shift without a wait (9.7.16.6.2) */
        uint32_t kinds = VM_TMEM_LOAD | VM_TMEM_STORE | VM_TMEM_MMA |
                         (warp->cta->run->launch->strict_ptx ? (uint32_t)VM_TMEM_MMA_SOURCE : 0u) |
                         (VM_TENSOR_CP_SHAPE(imm) == VM_TENSOR_CP_4X256B ? 0u : (uint32_t)VM_TMEM_SHIFT);
        if (!vm_tmem_conflict(warp, pc, lane, c.ctas[i], &area, kinds))
            vm_tmem_engine_ordered(warp, pc, lane, c.ctas[i], &area);
        vm_tmem_written(warp, pc, c.ctas[i], &area, false, 0);
        c.flights[i] =
            vm_tmem_flight_begin(vm_tmem_of(c.ctas[i]), VM_TMEM_COPY, vm_tmem_agent(warp), pc, &area);
    }
    if (vm_tmem_recorded(warp->cta))
        vm_tmem_record_access(warp, VM_TMEM_EVENT_COPY, pc, &area, 1, 0, c.cta_count == 2, lane);
    vm_async *o = vm_async_new(warp, VM_ASYNC_TENSOR, 1u << lane);
    o->complete = complete_copy;
    o->observed = observed_copy;
    o->order = vm_tensor_order(c.ctas);
    o->range_count = c.cta_count;
    memcpy(o->ranges, ranges, c.cta_count * sizeof *ranges);
    memcpy(o->of.bytes, &c, sizeof c);
    vm_async_issue(o);
}

vm_action vm_external_TENSOR_CP(vm_warp *warp, const vm_op *op, uint32_t mask) {
    const uint32_t *list = warp->cta->run->program->extras.items + op->x + 1;
    uint32_t pc = warp->splits[warp->current].pc;
    vm_tensor_single(warp, pc, mask, VM_FIND_TENSOR_LANES);
    VM_FOR_LANES(lane, mask)
    issue_copy(warp, pc, (uint32_t)op->imm, list, lane);
    return VM_GO;
}

/* ---- commit ---- */
typedef struct arrival { /* payload */
    vm_cta *cta;
    uint32_t offset;
} arrival;

static void complete_commit(vm_async *o) {
    const arrival *a = (const arrival *)(const void *)o->of.bytes;
    vm_async_signal(o, a->cta, a->offset, 1, 0);
}

/* The launch asks who waited for it. */
static void observed_commit(vm_async *o) {
    const arrival *a = (const arrival *)(const void *)o->of.bytes;
    vm_tmem_record_committed(o->warp, o->pc, a->cta, a->offset);
}

/* A commit covers what its own thread has issued: with nothing of it, the barrier is reached at once. */
static void check_commit(vm_warp *warp, uint32_t pc, unsigned lane) {
    vm_tensor_cta *state = vm_tensor_cta_of(warp->cta);
    uint32_t *own = &state->uncommitted[warp->index % VM_LANES];
    if ((*own >> lane & 1) != 0) {
        *own &= ~(1u << lane);
        return;
    }
    for (unsigned i = 0; i < VM_LANES; i++)
        if (state->uncommitted[i] != 0) {
            vm_finding *finding = vm_tensor_report(warp, VM_FIND_TENSOR_COMMIT_OTHER, pc, lane, i, 0, 0);
            if (finding != NULL)
                finding->other = vm_program_instruction_at(warp->cta->run->program, state->uncommitted_pc);
            return;
        }
}

vm_action vm_external_TENSOR_COMMIT(vm_warp *warp, const vm_op *op, uint32_t mask) {
    const uint32_t *list = warp->cta->run->program->extras.items + op->x + 1;
    uint32_t pc = warp->splits[warp->current].pc, offset;
    vm_space space = op->imm & VM_TENSOR_SHARED ? VM_SHARED : VM_GENERIC;
    vm_tensor_single(warp, pc, mask, VM_FIND_TENSOR_COMMIT_LANES);
    vm_warp_released(warp);
    VM_FOR_LANES(lane, mask) {
        vm_cta *ctas[2];
        vm_tmem_group(warp, pc, lane, op->imm & VM_TENSOR_PAIR ? 2 : 1);
        if (vm_tensor_ctas(warp, pc, lane, op->imm & VM_TENSOR_PAIR, ctas) == 0)
            continue;
        if ((mask & (mask - 1)) == 0)
            check_commit(warp, pc, lane);
        else
            vm_tensor_cta_of(warp->cta)->uncommitted[warp->index % VM_LANES] &= ~(1u << lane);
        uint64_t address = vm_operand64(warp, list[0], lane);
        vm_cta *first = vm_cluster_shared(warp, pc, lane, space, address, 8, 8, true, &offset);
        if (first == NULL)
            continue;
        uint32_t targets = op->imm & VM_TENSOR_MULTICAST ? vm_operand32(warp, list[1], lane) & 0xffff : 0;
        if (vm_tmem_recorded(warp->cta))
            vm_tmem_record_commit(warp, pc, lane, offset,
                                  op->imm & VM_TENSOR_MULTICAST ? (uint32_t)__builtin_popcount(targets) : 1,
                                  op->imm & VM_TENSOR_PAIR);
        for (uint32_t rank = 0; rank < 16; rank++) {
            vm_cta *cta = op->imm & VM_TENSOR_MULTICAST ? NULL : rank == 0 ? first : NULL;
            if (op->imm & VM_TENSOR_MULTICAST && targets >> rank & 1) {
                cta = vm_cluster_rank(warp->cta, rank);
                if (cta == NULL)
                    vm_tensor_report(warp, VM_FIND_TENSOR_TARGET, pc, lane, targets, rank,
                                     vm_cluster_size(warp->cta));
            }
            if (cta == NULL)
                continue;
            vm_async *o = vm_async_new(warp, VM_ASYNC_TENSOR, 1u << lane);
            arrival a = {cta, offset};
            o->complete = complete_commit;
            if (vm_tmem_recorded(warp->cta))
                o->observed = observed_commit;
            o->order = vm_tensor_order(ctas);
            memcpy(o->of.bytes, &a, sizeof a);
            vm_async_issue(o);
        }
    }
    return VM_GO;
}
