/* SPDX-License-Identifier: Apache-2.0
 * mbarrier instructions (PTX ISA 9.7.13.15): init, inval, arrive, expect_tx, complete_tx, test_wait,
 * try_wait, pending_count, and the signals of asynchronous operations. What PTX leaves undefined is a
 * finding; then the run goes on with the nearest defined meaning. */
#include "vm/vm_mbarrier.h"
#include "vm/vm_cluster.h"
#include "vm/vm_race.h"

enum { LIMIT = (1 << 20) - 1 }; /* of arrivals, and of transactions in both directions */

struct vm_mbarriers {
    BASE_VECTOR(vm_mbarrier) all;
    uint16_t *slot_of; /* per 8 bytes of shared memory: index + 1 */
    uint32_t slots;
};

static struct vm_mbarriers *table_of(vm_cta *cta) {
    if (cta->mbarriers == NULL) {
        cta->mbarriers = BASE_NEW(cta->arena, struct vm_mbarriers);
        cta->mbarriers->slots = cta->shared_bytes / 8 + 1;
        cta->mbarriers->slot_of = BASE_NEW_ARRAY(cta->arena, uint16_t, cta->mbarriers->slots);
    }
    return cta->mbarriers;
}

static vm_mbarrier *slot_at(const vm_cta *cta, uint32_t offset) {
    const struct vm_mbarriers *table = cta->mbarriers;
    uint16_t slot = table && offset / 8 < table->slots ? table->slot_of[offset / 8] : 0;
    return slot ? &table->all.items[slot - 1] : NULL;
}

const vm_mbarrier *vm_mbarrier_at(const vm_cta *cta, uint32_t offset) {
    const vm_mbarrier *barrier = slot_at(cta, offset);
    return barrier && barrier->live ? barrier : NULL;
}

void vm_mbarrier_guard(vm_cta *cta, uint32_t offset, int by) {
    if (cta->guard == NULL)
        cta->guard = BASE_NEW_ARRAY(cta->arena, uint8_t, cta->shared_bytes / VM_FLIGHT_GRANULE + 1);
    uint8_t *granule = &cta->guard[offset / VM_FLIGHT_GRANULE];
    *granule = (uint8_t)(*granule + by);
    cta->guards = (uint32_t)((int64_t)cta->guards + by);
}

static void forget_clocks(vm_cta *cta, vm_mbarrier *barrier) {
    vm_race_drop(cta, &barrier->race_arrived);
    vm_race_drop(cta, &barrier->race_done);
}

void vm_mbarrier_start(vm_cta *cta) {
    struct vm_mbarriers *table = cta->mbarriers;
    for (size_t i = 0; table != NULL && i < table->all.count; i++)
        if (table->all.items[i].live)
            vm_mbarrier_guard(cta, table->all.items[i].offset, -1);
    for (size_t i = 0; table != NULL && i < table->all.count; i++) {
        table->slot_of[table->all.items[i].offset / 8] = 0;
        forget_clocks(cta, &table->all.items[i]);
    }
    if (table != NULL)
        table->all.count = 0;
}

/* ---- the image in shared memory ---- */
static void store_image(vm_cta *cta, vm_mbarrier *barrier) {
    barrier->image = (uint64_t)1 << 62 | (barrier->phase & 0xfffff) << 41 | (uint64_t)barrier->pending << 21 |
                     ((uint64_t)barrier->transactions & 0x1fffff);
    memcpy(cta->shared + barrier->offset, &barrier->image, 8);
    cta->writes++;
}

/* Who is at work: the place of findings. */
typedef struct actor {
    vm_warp *warp;
    uint32_t pc;
    unsigned lane;
    uint32_t lanes;               /* all of them; 0: lane alone */
    const struct vm_clock *clock; /* what they published when they started this, if that was before */
} actor;

static uint32_t lanes_of(const actor *by) {
    return by->lanes ? by->lanes : 1u << by->lane;
}

static vm_finding *report(const actor *by, vm_finding_kind kind, const vm_mbarrier *barrier, uint32_t offset,
                          uint64_t had, uint64_t allowed) {
    vm_finding *finding = vm_finding_add(by->warp->cta, kind, by->pc, by->warp, by->lane);
    if (finding == NULL)
        return NULL;
    finding->space = PTX_SPACE_SHARED;
    finding->address = offset;
    finding->size = had;
    finding->required = allowed;
    if (barrier != NULL && barrier->live) {
        base_builder text;
        base_builder_start(&text, vm_finding_arena(by->warp->cta));
        base_builder_format(&text, "in phase %llu, %u of %u arrivals pending, %lld bytes outstanding",
                            (unsigned long long)barrier->phase, barrier->pending, barrier->expected,
                            (long long)barrier->transactions);
        finding->text = text.data;
    }
    return finding;
}

/* The live barrier, or NULL after reporting. */
static vm_mbarrier *live_at(const actor *by, vm_cta *cta, uint32_t offset) {
    vm_mbarrier *barrier = slot_at(cta, offset);
    if (barrier == NULL || !barrier->live) {
        report(by, VM_FIND_MBARRIER_UNINITIALISED, NULL, offset, 0, 0);
        return NULL;
    }
    uint64_t now;
    memcpy(&now, cta->shared + offset, 8);
    if (now != barrier->image) {
        if (!barrier->written)
            report(by, VM_FIND_MBARRIER_OVERWRITTEN, barrier, offset, now, barrier->image);
        barrier->written = false;
        store_image(cta, barrier);
    }
    return barrier;
}

void vm_mbarrier_written(vm_warp *warp, uint32_t pc, unsigned lane, vm_cta *cta, uint64_t begin,
                         uint64_t end) {
    struct vm_mbarriers *table = cta->mbarriers;
    for (size_t i = 0; table != NULL && i < table->all.count; i++) {
        vm_mbarrier *barrier = &table->all.items[i];
        if (!barrier->live || barrier->offset >= end || barrier->offset + 8 <= begin)
            continue;
        vm_finding *finding = vm_finding_add(warp->cta, VM_FIND_MBARRIER_DATA, pc, warp, lane);
        barrier->written = true;
        if (finding == NULL)
            continue;
        const ptx_instruction *init = vm_program_instruction_at(warp->cta->run->program, barrier->init_pc);
        base_builder text;
        base_builder_start(&text, vm_finding_arena(warp->cta));
        if (init && init->loc_line)
            base_builder_format(&text, "initialised in line %u, ", init->loc_line);
        base_builder_format(&text, "in phase %llu, %u of %u arrivals pending",
                            (unsigned long long)barrier->phase, barrier->pending, barrier->expected);
        finding->text = text.data;
        finding->space = PTX_SPACE_SHARED;
        finding->address = begin;
        finding->size = end - begin;
        finding->required = barrier->offset;
    }
}

/* ---- phases ---- */
static void settle(vm_cta *cta, vm_mbarrier *barrier) {
    if (barrier->pending == 0 && barrier->transactions == 0) {
        barrier->phase++;
        barrier->pending = barrier->expected;
        vm_race_pour(cta, &barrier->race_done, &barrier->race_arrived);
        vm_schedule_wake(cta, VM_PARK_MBARRIER, barrier->offset);
    }
    store_image(cta, barrier);
}

/* For reports of deadlocks: who has come so far. */
static void remember(vm_mbarrier *barrier, uint32_t pc) {
    for (uint32_t i = 0; i < barrier->from_count; i++)
        if (barrier->from[i] == pc)
            return;
    if (barrier->from_count < sizeof barrier->from / sizeof barrier->from[0])
        barrier->from[barrier->from_count++] = pc;
}

static void add_transactions(const actor *by, vm_mbarrier *barrier, int64_t bytes) {
    if (bytes < 0)
        remember(barrier, by->pc);
    barrier->transactions += bytes;
    if (barrier->transactions > LIMIT || barrier->transactions < -LIMIT) {
        report(by, VM_FIND_MBARRIER_TRANSACTIONS, barrier, barrier->offset,
               (uint64_t)(barrier->transactions < 0 ? -barrier->transactions : barrier->transactions), LIMIT);
        barrier->transactions = barrier->transactions < 0 ? -LIMIT : LIMIT;
    }
}

static void take_arrivals(const actor *by, vm_mbarrier *barrier, uint32_t count, bool drop) {
    /* at least one wait must see each phase complete before the next phase's first arrival */
    if (barrier->phase > barrier->observed)
        report(by, VM_FIND_MBARRIER_UNOBSERVED, barrier, barrier->offset, barrier->phase - 1, 0);
    if (count > barrier->pending) {
        report(by, VM_FIND_MBARRIER_COUNT, barrier, barrier->offset, count, barrier->pending);
        count = barrier->pending;
    }
    barrier->pending -= count;
    if (drop)
        barrier->expected -= count < barrier->expected ? count : barrier->expected;
    remember(barrier, by->pc);
}

uint64_t vm_mbarrier_signal(const vm_async *operation, vm_cta *cta, uint32_t offset, uint32_t arrivals,
                            uint32_t bytes, uint32_t *race_stamp) {
    actor by = {.warp = operation->warp, .pc = operation->pc, .lane = vm_first_lane(operation->mask)};
    vm_mbarrier *barrier = live_at(&by, cta, offset);
    if (barrier == NULL)
        return UINT64_MAX;
    uint64_t phase = barrier->phase;
    vm_race_learn(cta, &barrier->race_arrived, operation->race_clock);
    *race_stamp = vm_race_async_done(operation, cta, offset, &barrier->race_arrived);
    if (bytes)
        add_transactions(&by, barrier, -(int64_t)bytes);
    if (arrivals)
        take_arrivals(&by, barrier, arrivals, false);
    settle(cta, barrier);
    return phase;
}

void vm_mbarrier_increment(const vm_async *operation, vm_cta *cta, uint32_t offset, uint32_t arrivals) {
    actor by = {.warp = operation->warp, .pc = operation->pc, .lane = vm_first_lane(operation->mask)};
    vm_mbarrier *barrier = live_at(&by, cta, offset);
    if (barrier == NULL)
        return;
    if (barrier->pending + arrivals > LIMIT) {
        report(&by, VM_FIND_MBARRIER_COUNT, barrier, offset, (uint64_t)barrier->pending + arrivals, LIMIT);
        return;
    }
    barrier->pending += arrivals;
    store_image(cta, barrier);
}

/* ---- init, inval ---- */
static void start(const actor *by, vm_cta *cta, uint32_t offset, uint32_t count) {
    struct vm_mbarriers *table = table_of(cta);
    vm_mbarrier *barrier = slot_at(cta, offset);
    if (count == 0 || count > LIMIT) {
        report(by, VM_FIND_MBARRIER_COUNT, NULL, offset, count, LIMIT);
        count = count == 0 ? 1 : LIMIT;
    }
    if (barrier != NULL && barrier->live) {
        uint64_t now;
        memcpy(&now, cta->shared + offset, 8);
        report(by, now == barrier->image ? VM_FIND_MBARRIER_BUSY : VM_FIND_MBARRIER_OVERWRITTEN, barrier,
               offset, now, barrier->image);
    }
    if (barrier == NULL) {
        if (table->all.count >= UINT16_MAX)
            return;
        vm_mbarrier fresh = {.offset = offset};
        base_vector_push(cta->arena, &table->all, fresh);
        table->slot_of[offset / 8] = (uint16_t)table->all.count;
        barrier = &table->all.items[table->all.count - 1];
    }
    if (!barrier->live)
        vm_mbarrier_guard(cta, offset, 1);
    forget_clocks(cta, barrier);
    vm_race_touch(by->warp, by->pc, by->lane, cta, offset, 8, VM_RACE_WRITE);
    *barrier =
        (vm_mbarrier){.offset = offset, .live = true, .expected = count, .pending = count, .init_pc = by->pc};
    store_image(cta, barrier);
}

static bool has_waiters(const vm_cta *cta, uint32_t offset) {
    for (uint32_t i = 0; i < cta->warp_count; i++)
        for (uint32_t s = 0; s < cta->warps[i].split_count; s++) {
            const vm_split *split = &cta->warps[i].splits[s];
            if (split->state == VM_SPLIT_PARKED && split->wait == VM_PARK_MBARRIER && split->detail == offset)
                return true;
        }
    return false;
}

static void stop(const actor *by, vm_cta *cta, uint32_t offset) {
    vm_mbarrier *barrier = live_at(by, cta, offset);
    if (barrier == NULL)
        return;
    if (barrier->pending != barrier->expected || barrier->transactions != 0 || has_waiters(cta, offset))
        report(by, VM_FIND_MBARRIER_BUSY, barrier, offset, barrier->pending, barrier->expected);
    barrier->live = false;
    vm_race_touch(by->warp, by->pc, by->lane, cta, offset, 8, VM_RACE_WRITE);
    vm_mbarrier_guard(cta, offset, -1);
}

/* ---- arrive ---- */
static uint64_t state_of(const vm_mbarrier *barrier) {
    return barrier->phase << 32 | barrier->pending;
}

typedef struct arrival { /* payload of an arrival at another CTA */
    vm_cta *cta;
    uint32_t offset, arrivals, expect, complete;
    bool drop;
} arrival;
_Static_assert(sizeof(arrival) <= VM_ASYNC_BYTES, "the payload of an operation");

static uint64_t arrive(const actor *by, const arrival *what, bool no_complete) {
    vm_mbarrier *barrier = live_at(by, what->cta, what->offset);
    if (barrier == NULL)
        return 0;
    uint64_t state = state_of(barrier);
    if (by->clock == NULL)
        vm_race_touch(by->warp, by->pc, by->lane, what->cta, what->offset, 8, VM_RACE_READ | VM_RACE_CHECK);
    if (by->clock != NULL)
        vm_race_learn(what->cta, &barrier->race_arrived, by->clock);
    else if (what->arrivals)
        vm_race_release(by->warp, lanes_of(by), &barrier->race_arrived);
    if (what->expect)
        add_transactions(by, barrier, what->expect);
    if (what->complete)
        add_transactions(by, barrier, -(int64_t)what->complete);
    if (what->arrivals)
        take_arrivals(by, barrier, what->arrivals, what->drop);
    if (no_complete && barrier->pending == 0 && barrier->transactions == 0)
        report(by, VM_FIND_MBARRIER_NO_COMPLETE, barrier, what->offset, what->arrivals, 0);
    settle(what->cta, barrier);
    return state;
}

static void complete_remote(vm_async *operation) {
    arrival what;
    memcpy(&what, operation->of.bytes, sizeof what);
    actor by = {.warp = operation->warp,
                .pc = operation->pc,
                .lane = vm_first_lane(operation->mask),
                .clock = operation->race_clock};
    if (what.cta->exited)
        vm_cluster_report_exited(by.warp, by.pc, by.lane, what.cta, what.offset);
    else
        arrive(&by, &what, false);
}

static uint64_t arrive_at(const actor *by, const arrival *what, bool no_complete) {
    if (what->cta == by->warp->cta)
        return arrive(by, what, no_complete);
    vm_async *operation = vm_async_new(by->warp, VM_ASYNC_REMOTE, 1u << by->lane);
    operation->complete = complete_remote;
    operation->order = by->warp->index + 1 + ((uint64_t)by->warp->cta->linear << 8);
    memcpy(operation->of.bytes, what, sizeof *what);
    vm_async_issue(operation);
    return 0;
}

/* ---- waits ---- */
/* Has the phase completed that this lane waits for? */
static bool is_done(const actor *by, vm_cta *cta, uint32_t offset, uint64_t operand, bool parity) {
    vm_mbarrier *barrier = live_at(by, cta, offset);
    if (barrier == NULL)
        return true;
    vm_race_touch(by->warp, by->pc, by->lane, cta, offset, 8, VM_RACE_READ | VM_RACE_CHECK);
    uint64_t waited = parity ? barrier->phase - 1 : operand >> 32;
    bool done = parity ? (barrier->phase & 1) != (operand & 1) : (barrier->phase & 0xffffffffu) > waited;
    if (!parity && (barrier->phase & 0xffffffffu) > waited + 1)
        report(by, VM_FIND_MBARRIER_PHASE, barrier, offset, waited, barrier->phase);
    if (done && barrier->phase > 0) {
        if (barrier->observed < barrier->phase) { /* the first to see it */
            barrier->observed = barrier->phase;
            cta->observer = by->warp;
            vm_async_observe(cta, offset, barrier->phase - 1);
            cta->observer = NULL;
        }
        if (cta == by->warp->cta)
            barrier->seen[by->warp->index] = (uint32_t)barrier->phase;
        vm_race_acquire(by->warp, lanes_of(by), barrier->race_done);
        vm_warp_acquired(by->warp);
        by->warp->cluster_acquired = by->warp->acquired; /* whoever arrived may be in another CTA */
    }
    return done;
}

/* The shared offset of one lane's barrier, and whose it is; NULL after reporting. */
static vm_cta *resolve(const actor *by, const vm_op *op, uint64_t address, uint32_t *offset) {
    vm_warp *warp = by->warp;
    vm_space space = op->imm & VM_MBARRIER_GENERIC ? VM_GENERIC : VM_SHARED;
    vm_cta *cta = vm_cluster_shared(warp, by->pc, by->lane, space, address, 8, 8, true, offset);
    vm_mbarrier_kind kind = VM_MBARRIER_KIND(op->imm);
    bool may_be_remote =
        op->imm & VM_MBARRIER_CLUSTER ||
        (op->imm & VM_MBARRIER_GENERIC && (kind == VM_MBARRIER_EXPECT_TX || kind == VM_MBARRIER_COMPLETE_TX));
    if (cta != NULL && cta != warp->cta && !may_be_remote) {
        report(by, VM_FIND_MBARRIER_REMOTE, NULL, *offset, 0, 0);
        return NULL;
    }
    return cta;
}

/* Do all lanes say the same? */
static bool is_uniform(const vm_warp *warp, uint32_t ref, bool wide, uint32_t mask) {
    unsigned first = vm_first_lane(mask);
    uint64_t different = 0;
    if (ref == VM_REF_NONE)
        return true;
    if (wide) {
        const uint64_t *row = vm_operand(warp, ref);
        VM_FOR_LANES(lane, mask)
        different |= row[lane] ^ row[first];
    } else {
        const uint32_t *row = vm_operand(warp, ref);
        VM_FOR_LANES(lane, mask)
        different |= row[lane] ^ row[first];
    }
    return different == 0;
}

static vm_action wait(vm_warp *warp, const vm_op *op, uint32_t mask, const uint32_t *list) {
    vm_split *current = &warp->splits[warp->current];
    uint32_t done = 0, first_offset = UINT32_MAX, together = 0;
    bool parity = op->imm & VM_MBARRIER_PARITY;
    bool same = is_uniform(warp, list[0], true, mask) && is_uniform(warp, list[1], !parity, mask);
    uint32_t asked = same ? mask & (0u - mask) : mask; /* one lane speaks for all */
    VM_FOR_LANES(lane, asked) {
        actor by = {.warp = warp, .pc = current->pc, .lane = lane, .lanes = same ? mask : 0};
        uint32_t offset = 0;
        vm_cta *cta = resolve(&by, op, vm_operand64(warp, list[0], lane), &offset);
        uint64_t operand = parity ? vm_operand32(warp, list[1], lane) : vm_operand64(warp, list[1], lane);
        if (cta == NULL || is_done(&by, cta, offset, operand, parity)) {
            done |= 1u << lane;
            continue;
        }
        if (first_offset == UINT32_MAX)
            first_offset = offset;
        together |= (uint32_t)(first_offset == offset) << lane;
    }
    if (same) {
        done = done ? mask : 0;
        together = together ? mask : 0;
    }
    if (warp->cta->status != VM_COMPLETE)
        return VM_HALT;
    if (done == 0 && VM_MBARRIER_KIND(op->imm) == VM_MBARRIER_TRY_WAIT && !current->timed_out) {
        if (together != mask)
            vm_control_isolate(warp, together);
        vm_schedule_park(warp, VM_PARK_MBARRIER, first_offset);
        return VM_AGAIN;
    }
    current->timed_out = false;
    if (list[2] != VM_REF_NONE) {
        uint32_t *d = vm_operand(warp, list[2]);
        *d = (*d & ~mask) | done;
    }
    return VM_GO;
}

static uint64_t execute(const actor *by, const vm_op *op, vm_cta *cta, uint32_t offset, uint32_t operand) {
    vm_warp *warp = by->warp;
    arrival what = {.cta = cta, .offset = offset};
    switch (VM_MBARRIER_KIND(op->imm)) {
    case VM_MBARRIER_INIT:
        start(by, cta, offset, operand);
        return 0;
    case VM_MBARRIER_INVAL:
        stop(by, cta, offset);
        return 0;
    case VM_MBARRIER_EXPECT_TX:
        what.expect = operand;
        break;
    case VM_MBARRIER_COMPLETE_TX:
        what.complete = operand;
        break;
    default:
        what.arrivals = op->imm & (VM_MBARRIER_ONE | VM_MBARRIER_EXPECT) ? 1 : operand;
        what.expect = op->imm & VM_MBARRIER_EXPECT ? operand : 0;
        what.drop = op->imm & VM_MBARRIER_DROP;
        if (what.arrivals == 0 || what.arrivals > LIMIT) {
            report(by, VM_FIND_MBARRIER_COUNT, slot_at(cta, offset), offset, what.arrivals, LIMIT);
            return 0;
        }
    }
    if (what.expect > LIMIT || what.complete > LIMIT) {
        report(by, VM_FIND_MBARRIER_TRANSACTIONS, slot_at(cta, offset), offset, operand, LIMIT);
        what.expect = what.expect ? LIMIT : 0;
        what.complete = what.complete ? LIMIT : 0;
    }
    (void)warp;
    return arrive_at(by, &what, op->imm & VM_MBARRIER_NO_COMPLETE);
}

/* Arrivals of one each that nobody wants a state of, all in one phase: at once. */
static bool arrive_together(vm_warp *warp, const vm_op *op, uint32_t mask, const uint32_t *list) {
    uint32_t offset = 0, count = (uint32_t)__builtin_popcount(mask);
    if (VM_MBARRIER_KIND(op->imm) != VM_MBARRIER_ARRIVE || !(op->imm & VM_MBARRIER_ONE) ||
        op->imm & (VM_MBARRIER_NO_COMPLETE | VM_MBARRIER_DROP) || list[2] != VM_REF_NONE || count == 1 ||
        !is_uniform(warp, list[0], true, mask))
        return false;
    actor by = {
        .warp = warp, .pc = warp->splits[warp->current].pc, .lane = vm_first_lane(mask), .lanes = mask};
    vm_cta *cta = resolve(&by, op, vm_operand64(warp, list[0], by.lane), &offset);
    const vm_mbarrier *barrier = cta == warp->cta ? vm_mbarrier_at(cta, offset) : NULL;
    if (barrier == NULL || barrier->pending < count)
        return false;
    arrival what = {.cta = cta, .offset = offset, .arrivals = count};
    arrive(&by, &what, false);
    return true;
}

vm_action vm_external_MBARRIER(vm_warp *warp, const vm_op *op, uint32_t mask) {
    const uint32_t *list = warp->cta->run->program->extras.items + op->x + 1;
    vm_mbarrier_kind kind = VM_MBARRIER_KIND(op->imm);
    if (kind == VM_MBARRIER_TEST_WAIT || kind == VM_MBARRIER_TRY_WAIT)
        return wait(warp, op, mask, list);
    if (arrive_together(warp, op, mask, list))
        return VM_GO;
    uint32_t pc = warp->splits[warp->current].pc;
    vm_warp_released(warp);
    VM_FOR_LANES(lane, mask) {
        uint64_t address = vm_operand64(warp, list[0], lane), result = 0;
        if (kind == VM_MBARRIER_PENDING_COUNT) { /* the operand is a state */
            ((uint32_t *)vm_operand(warp, list[2]))[lane] = (uint32_t)(address & LIMIT);
            continue;
        }
        actor by = {.warp = warp, .pc = pc, .lane = lane};
        uint32_t offset = 0;
        vm_cta *cta = resolve(&by, op, address, &offset);
        if (cta != NULL)
            result =
                execute(&by, op, cta, offset, list[1] != VM_REF_NONE ? vm_operand32(warp, list[1], lane) : 0);
        if (list[2] != VM_REF_NONE)
            ((uint64_t *)vm_operand(warp, list[2]))[lane] = result;
    }
    return warp->cta->status == VM_COMPLETE ? VM_GO : VM_HALT;
}

void vm_mbarrier_describe(const vm_warp *warp, const vm_split *split, base_builder *text) {
    const vm_mbarrier *barrier = vm_mbarrier_at(warp->cta, (uint32_t)split->detail);
    base_builder_format(text, "waits at the mbarrier at shared address %llu",
                        (unsigned long long)split->detail);
    if (barrier == NULL) {
        base_builder_string(text, ", which is no longer valid");
        return;
    }
    base_builder_format(text, " for phase %llu: %u of %u arrivals", (unsigned long long)barrier->phase,
                        barrier->pending, barrier->expected);
    if (barrier->transactions < 0)
        base_builder_format(text, " are missing, and %lld bytes came that nobody expects",
                            (long long)-barrier->transactions);
    else
        base_builder_format(text, " and %lld bytes are missing", (long long)barrier->transactions);
    uint32_t seen = barrier->seen[warp->index];
    if (seen)
        base_builder_format(text, "; this warp saw phase %u complete last", seen - 1);
    if (seen && seen < barrier->phase)
        base_builder_format(text, ", and missed phase %llu", (unsigned long long)barrier->phase - 1);
    const vm_program *program = warp->cta->run->program;
    base_builder_string(text, "; initialised in ");
    vm_deadlock_place(program, barrier->init_pc, text);
    if (barrier->from_count == 0)
        base_builder_string(text, ", nothing has arrived yet");
    for (uint32_t i = 0; i < barrier->from_count; i++) {
        base_builder_string(text, i ? ", " : ", arrivals so far come from ");
        vm_deadlock_place(program, barrier->from[i], text);
    }
    base_builder_string(text, "; waits");
}
