/* SPDX-License-Identifier: Apache-2.0
 * The queue of asynchronous operations (vm_async.h): order, completion by schedule, ranges in flight. One
 * queue per group of CTAs that run together, so that the order of issue is one sequence; one worker at a time
 * uses it. Knows no instruction; mbarriers are vm_mbarrier.c. */
#include "vm/vm_async.h"
#include "vm/vm_cluster.h"
#include "vm/vm_copy.h"
#include "vm/vm_mbarrier.h"
#include "vm/vm_race.h"
#include "vm/vm_slot.h"

enum { STATE_FREE, STATE_NEW, STATE_PENDING, STATE_DONE };
enum { DATA_CLASSES = 16, DATA_SMALLEST = 256 };

typedef struct async_list {
    vm_async *first, *last;
    uint32_t count;
} async_list;
typedef struct data_block data_block;
struct data_block {
    data_block *next;
};
struct vm_async_queue {
    vm_grid *run;
    base_arena *arena;
    uint64_t sequence, random;
    uint64_t round; /* EARLY: what was issued up to here, before the last round of turns began */
    async_list pending[VM_ASYNC_CLASSES];
    async_list done; /* complete, and nobody has observed it: their ranges are still in flight */
    vm_async *free_operations;
    data_block *free_data[DATA_CLASSES];
};

static void list_append(async_list *list, vm_async *operation) {
    operation->next = NULL;
    operation->previous = list->last;
    *(list->last ? &list->last->next : &list->first) = operation;
    list->last = operation;
    list->count++;
}

static void list_remove(async_list *list, vm_async *operation) {
    *(operation->previous ? &operation->previous->next : &list->first) = operation->next;
    *(operation->next ? &operation->next->previous : &list->last) = operation->previous;
    list->count--;
}

vm_async_queue *vm_async_create(vm_grid *run, base_arena *arena, uint64_t seed) {
    vm_async_queue *queue = BASE_NEW(arena, vm_async_queue);
    queue->run = run;
    queue->arena = arena;
    vm_async_seed(queue, seed);
    return queue;
}

void vm_async_seed(vm_async_queue *queue, uint64_t seed) {
    queue->random = base_hash_mix(queue->run->launch->seed, seed);
}

static vm_async_queue *queue_of(vm_cta *cta) {
    if (cta->async == NULL)
        cta->async = vm_async_create(cta->run, cta->arena, cta->linear);
    return cta->async;
}

vm_async *vm_async_new(vm_warp *warp, vm_async_class class, uint32_t mask) {
    vm_async_queue *queue = queue_of(warp->cta);
    vm_async *operation = queue->free_operations;
    if (operation != NULL)
        queue->free_operations = operation->next;
    else
        operation = BASE_NEW(queue->arena, vm_async);
    memset(operation, 0, sizeof *operation);
    operation->cta = warp->cta;
    operation->warp = warp;
    operation->pc = warp->splits[warp->current].pc;
    operation->mask = mask;
    operation->class = class;
    operation->state = STATE_NEW;
    return operation;
}

void *vm_async_data(vm_async *operation, size_t bytes) {
    vm_async_queue *queue = queue_of(operation->cta);
    uint32_t class = 0;
    while (class + 1 < DATA_CLASSES && (size_t)DATA_SMALLEST << class < bytes)
        class ++;
    data_block *block = queue->free_data[class];
    if (block != NULL) {
        queue->free_data[class] = block->next;
    } else {
        uintptr_t memory =
            (uintptr_t)base_arena_allocate(queue->arena, ((size_t)DATA_SMALLEST << class) + 64);
        block = (data_block *)((memory + 63) & ~(uintptr_t)63);
    }
    operation->data = block;
    operation->data_class = class;
    return block;
}

/* ---- ranges in flight ---- */
/* Granules of shared memory count the ranges over them, so that ordinary accesses look at one number. */
void vm_async_count(vm_cta *cta, uint64_t begin, uint64_t end, int by) {
    uint32_t granules = cta->shared_bytes / VM_FLIGHT_GRANULE + 1;
    if (cta->flight == NULL)
        cta->flight = BASE_NEW_ARRAY(cta->arena, uint16_t, granules);
    uint64_t last = (end - 1) / VM_FLIGHT_GRANULE, first = begin / VM_FLIGHT_GRANULE;
    uint16_t *flight = cta->flight;
    last = last < granules ? last : granules - 1;
    /* four at a time: no counter passes zero or its end */
    uint64_t g = first, ones = 0x0001000100010001u, every = by > 0 ? ones : 0 - ones;
    for (uint64_t four; g + 3 <= last; g += 4) {
        memcpy(&four, flight + g, sizeof four);
        four += every;
        memcpy(flight + g, &four, sizeof four);
    }
    for (; g <= last; g++)
        flight[g] = (uint16_t)(flight[g] + by);
    cta->flights = (uint32_t)((int64_t)cta->flights + by);
}

static void count_range(vm_async *operation, const vm_range *range, int by) {
    if (range->space == VM_RANGE_SHARED && range->begin < range->end)
        vm_async_count(range->cta ? range->cta : operation->cta, range->begin, range->end, by);
}

static void count_ranges(vm_async *operation, int by) {
    if (vm_unchecked(operation->cta))
        return;
    for (uint32_t i = 0; i < operation->range_count; i++)
        count_range(operation, &operation->ranges[i], by);
}

static void release(vm_async_queue *queue, vm_async *operation) {
    count_ranges(operation, -1);
    vm_race_observed(operation);
    if (operation->observed != NULL)
        operation->observed(operation);
    if (operation->data != NULL) {
        data_block *block = operation->data;
        block->next = queue->free_data[operation->data_class];
        queue->free_data[operation->data_class] = block;
    }
    operation->state = STATE_FREE;
    operation->next = queue->free_operations;
    queue->free_operations = operation;
}

/* ---- completion ---- */
static void run_one(vm_async_queue *queue, vm_async *operation) {
    list_remove(&queue->pending[operation->class], operation);
    operation->state = STATE_DONE;
    list_append(&queue->done, operation);
    operation->complete(operation);
    operation->cta->writes++;
    if (operation->range_count == 0 && operation->signal_cta == NULL && operation->observed == NULL) {
        list_remove(&queue->done, operation);
        release(queue, operation);
    }
}

static vm_async *first_of_order(const vm_async_queue *queue, vm_async *operation) {
    if (operation->order == 0)
        return operation;
    for (vm_async *other = queue->pending[operation->class].first; other != operation; other = other->next)
        if (other->order == operation->order)
            return other;
    return operation;
}

/* After those before it in its order. */
static void run_in_order(vm_async_queue *queue, vm_async *operation) {
    for (;;) {
        vm_async *first = first_of_order(queue, operation);
        run_one(queue, first);
        if (first == operation)
            return;
    }
}

static uint32_t draw(vm_async_queue *queue, uint32_t below) {
    queue->random = base_hash_mix(queue->random, 0x9e37);
    return (uint32_t)(queue->random >> 32) % below;
}

/* Work that other warps wait for through an mbarrier takes at least one turn of each of them. Otherwise a
 * warp could start and end two phases of a barrier before another one looks at the first, which no hardware
 * does to a warp that only waits for its turn. */
static bool signals_others(const vm_async *operation) {
    const vm_cta *cta = operation->cta;
    return (operation->class == VM_ASYNC_BULK || operation->class == VM_ASYNC_TENSOR ||
            operation->class == VM_ASYNC_REMOTE) &&
           (cta->live_warps > 1 || cta->group != NULL);
}

static bool starts_complete(vm_async_queue *queue, const vm_async *operation) {
    const vm_launch *launch = queue->run->launch;
    switch (launch->schedule) {
    case VM_SCHEDULE_EARLY:
        return !signals_others(operation);
    case VM_SCHEDULE_LATE:
        return launch->late_classes != 0 && !(launch->late_classes >> operation->class & 1);
    default:
        return draw(queue, 4) == 0;
    }
}

void vm_async_issue(vm_async *operation) {
    vm_async_queue *queue = operation->cta->async;
    operation->sequence = ++queue->sequence;
    operation->state = STATE_PENDING;
    if (!(queue->run->async_classes >> operation->class & 1))
        queue->run->async_classes |= 1u << operation->class;
    vm_race_issue(operation);
    list_append(&queue->pending[operation->class], operation);
    count_ranges(operation, 1);
    if (starts_complete(queue, operation) && first_of_order(queue, operation) == operation)
        run_one(queue, operation);
}

bool vm_async_round(vm_async_queue *queue) {
    bool pending = false;
    if (queue == NULL || queue->run->launch->schedule != VM_SCHEDULE_EARLY)
        return false;
    for (uint32_t class = 0; class < VM_ASYNC_CLASSES; class ++) {
        async_list *list = &queue->pending[class];
        pending |= list->first != NULL;
        while (list->first != NULL && list->first->sequence <= queue->round)
            run_one(queue, list->first);
    }
    queue->round = queue->sequence;
    return pending;
}

bool vm_async_advance(vm_async_queue *queue) {
    if (queue == NULL)
        return false;
    if (queue->run->launch->schedule == VM_SCHEDULE_RANDOM)
        for (int tries = 0; tries < 4; tries++) {
            async_list *list = &queue->pending[draw(queue, VM_ASYNC_CLASSES)];
            if (list->first != NULL) {
                run_one(queue, list->first);
                return true;
            }
        }
    /* the classes in turn, the seed says which is the last one; of unordered work the newest first */
    uint32_t start = (uint32_t)((queue->run->launch->seed + 1) % VM_ASYNC_CLASSES);
    for (uint32_t i = 0; i < VM_ASYNC_CLASSES; i++) {
        const async_list *list = &queue->pending[(start + i) % VM_ASYNC_CLASSES];
        if (list->last != NULL) {
            run_one(queue, first_of_order(queue, list->last));
            return true;
        }
    }
    return false;
}

void vm_async_turn(vm_async_queue *queue) {
    for (uint32_t class = 0; class < VM_ASYNC_CLASSES; class ++) {
        const async_list *list = &queue->pending[class];
        if (list->first == NULL || draw(queue, 4) != 0)
            continue;
        vm_async *operation = list->first;
        for (uint32_t skip = draw(queue, list->count < 8 ? list->count : 8); skip; skip--)
            operation = operation->next;
        run_one(queue, first_of_order(queue, operation));
    }
}

/* ---- waits ---- */
uint32_t vm_async_finish(vm_cta *cta, bool (*wanted)(const vm_async *operation, void *user), void *user) {
    vm_async_queue *queue = cta->async;
    uint32_t count = 0;
    for (uint32_t class = 0; queue != NULL && class < VM_ASYNC_CLASSES; class ++)
        for (;;) {
            vm_async *found = queue->pending[class].first;
            while (found != NULL && !wanted(found, user))
                found = found->next;
            if (found == NULL)
                break;
            run_in_order(queue, found);
            count++;
        }
    for (vm_async *o = queue ? queue->done.first : NULL; o != NULL;) {
        vm_async *next = o->next;
        if (wanted(o, user)) {
            o->race_waited = true;
            list_remove(&queue->done, o);
            release(queue, o);
        }
        o = next;
    }
    return count;
}

/* For the race checker: whoever sees this signal knows of the operation and of those before it in its order.
 */
static void race_label(vm_async *operation, uint32_t stamp, uint32_t lane) {
    operation->race_stamp = stamp;
    operation->race_lane = lane;
    const vm_async_queue *queue = operation->cta->async;
    for (vm_async *o = queue->done.first; operation->order != 0 && o != NULL; o = o->next)
        if (o->race_stamp == 0 && o->class == operation->class && o->order == operation->order) {
            o->race_stamp = stamp;
            o->race_lane = lane;
        }
}

void vm_async_signal(vm_async *operation, vm_cta *cta, uint32_t offset, uint32_t arrivals, uint32_t bytes) {
    uint32_t stamp = 0;
    uint64_t phase = vm_mbarrier_signal(operation, cta, offset, arrivals, bytes, &stamp);
    uint32_t rank = cta->rank % VM_CLUSTER_LIMIT;
    if (operation->signal_cta != NULL && operation->signal_offset != offset)
        return;
    if (operation->signal_cta == NULL && stamp != 0)
        race_label(operation, stamp, VM_RACE_BARRIER_LANE(offset));
    operation->signal_cta = cta;
    operation->signal_offset = offset;
    operation->signal_ranks |= 1u << rank;
    operation->signal_phase[rank] = phase;
}

static bool signals(const vm_async *operation, const vm_cta *cta) {
    return operation->signal_cta != NULL && operation->signal_ranks >> cta->rank % VM_CLUSTER_LIMIT & 1 &&
           (operation->signal_cta == cta ||
            (cta->cluster != NULL && operation->signal_cta->cluster == cta->cluster));
}

/* What was issued before in the same order is observed with the operation that signalled. */
static void observe_order(vm_async_queue *queue, const vm_async *seen) {
    for (vm_async *o = queue->done.first; o != NULL;) {
        vm_async *next = o->next;
        if (o != seen && o->class == seen->class && o->order == seen->order && o->order != 0 &&
            o->sequence < seen->sequence) {
            list_remove(&queue->done, o);
            release(queue, o);
        }
        o = next;
    }
}

void vm_async_observe(vm_cta *cta, uint32_t offset, uint64_t phase) {
    vm_async_queue *queue = cta->async;
    for (vm_async *o = queue ? queue->done.first : NULL; o != NULL;) {
        if (!signals(o, cta) || o->signal_offset != offset ||
            o->signal_phase[cta->rank % VM_CLUSTER_LIMIT] > phase) {
            o = o->next;
            continue;
        }
        observe_order(queue, o);
        vm_async *next = o->next;
        list_remove(&queue->done, o);
        release(queue, o);
        o = next;
    }
}

/* ---- conflicts ---- */
static bool overlaps(const vm_range *a, const vm_cta *a_cta, const vm_range *b, const vm_cta *b_cta) {
    return a->space == b->space && (a->write || b->write) && a->begin < b->end && b->begin < a->end &&
           (a->space == VM_RANGE_GLOBAL || a_cta == b_cta) &&
           (a->space != VM_RANGE_TENSOR || (a->lane_begin < b->lane_end && b->lane_begin < a->lane_end));
}

static const vm_async *find_conflict(const async_list *list, const vm_range *access, const vm_cta *cta,
                                     const vm_async *except, const vm_range **which) {
    for (const vm_async *o = list->first; o != NULL; o = o->next)
        for (uint32_t i = 0; o != except && i < o->range_count; i++)
            if (overlaps(access, cta, &o->ranges[i], o->ranges[i].cta ? o->ranges[i].cta : o->cta)) {
                *which = &o->ranges[i];
                return o;
            }
    return NULL;
}

bool vm_async_conflict(vm_warp *warp, uint32_t pc, unsigned lane, const vm_range *access,
                       const vm_async *except) {
    static const ptx_space spaces[] = {[VM_RANGE_SHARED] = PTX_SPACE_SHARED,
                                       [VM_RANGE_GLOBAL] = PTX_SPACE_GLOBAL,
                                       [VM_RANGE_TENSOR] = PTX_SPACE_TENSOR};
    const vm_async_queue *queue = warp->cta->async;
    const vm_cta *cta = access->cta ? access->cta : warp->cta;
    const vm_range *range = NULL;
    const vm_async *other = NULL;
    vm_cta *owner = access->cta ? access->cta : warp->cta;
    if (access->write && access->space == VM_RANGE_SHARED && cta->guards) {
        vm_mbarrier_written(warp, pc, lane, owner, access->begin, access->end);
        vm_slot_written(warp, pc, lane, owner, access->begin, access->end);
    }
    if (!access->write && access->space == VM_RANGE_SHARED && cta->flights)
        vm_slot_read(warp, pc, lane, owner, access->begin, access->end);
    for (uint32_t class = 0; queue != NULL && other == NULL && class < VM_ASYNC_CLASSES; class ++)
        other = find_conflict(&queue->pending[class], access, cta, except, &range);
    if (queue != NULL && other == NULL)
        other = find_conflict(&queue->done, access, cta, except, &range);
    if (other == NULL)
        return false;
    vm_finding *finding = vm_finding_add(warp->cta, VM_FIND_IN_FLIGHT, pc, warp, lane);
    if (finding == NULL)
        return true;
    finding->space = spaces[access->space];
    finding->address = access->begin;
    finding->size = access->end - access->begin;
    finding->is_store = access->write;
    finding->allocation_begin = range->begin;
    finding->allocation_bytes = range->end - range->begin;
    const ptx_instruction *instruction = vm_program_instruction_at(warp->cta->run->program, other->pc);
    base_builder text;
    base_builder_start(&text, vm_finding_arena(warp->cta));
    base_builder_format(&text, "%s", instruction ? ptx_op_name(instruction->op) : "?");
    if (instruction && instruction->loc_line)
        base_builder_format(&text, " of line %u", instruction->loc_line);
    base_builder_format(&text, " %s it (warp %u)", range->write ? "writes" : "reads", other->warp->index);
    finding->text = text.data;
    return true;
}

/* ---- ends ---- */
static bool touches(const vm_async *operation, const vm_cta *cta) {
    bool found = operation->cta == cta || operation->signal_cta == cta;
    for (uint32_t i = 0; i < operation->range_count; i++)
        found |= operation->ranges[i].cta == cta;
    return found;
}

/* An operation of another CTA uses the shared memory of one that ends. */
static void report_foreign(const async_list *list, const vm_cta *cta) {
    for (const vm_async *o = list->first; o != NULL; o = o->next)
        for (uint32_t i = 0; o->cta != cta && i < o->range_count; i++)
            if (o->ranges[i].cta == cta && o->ranges[i].space == VM_RANGE_SHARED) {
                vm_cluster_report_exited(o->warp, o->pc, vm_first_lane(o->mask), cta, o->ranges[i].begin);
                break;
            }
}

void vm_async_leave(vm_cta *cta) {
    vm_async_queue *queue = cta->async;
    vm_copy_finish(cta);
    for (uint32_t class = 0; queue != NULL && class < VM_ASYNC_CLASSES; class ++)
        report_foreign(&queue->pending[class], cta);
    if (queue != NULL)
        report_foreign(&queue->done, cta);
    for (uint32_t class = 0; queue != NULL && class < VM_ASYNC_CLASSES; class ++)
        for (vm_async *o = queue->pending[class].first; o != NULL;) {
            if (touches(o, cta)) {
                run_in_order(queue, o);
                o = queue->pending[class].first;
            } else {
                o = o->next;
            }
        }
    for (vm_async *o = queue ? queue->done.first : NULL; o != NULL;) {
        vm_async *next = o->next;
        if (touches(o, cta)) {
            list_remove(&queue->done, o);
            release(queue, o);
        }
        o = next;
    }
}

void vm_async_reset(vm_async_queue *queue) {
    if (queue == NULL)
        return;
    for (uint32_t class = 0; class <= VM_ASYNC_CLASSES; class ++) {
        async_list *list = class < VM_ASYNC_CLASSES ? &queue->pending[class] : &queue->done;
        while (list->first != NULL) {
            vm_async *operation = list->first;
            list_remove(list, operation);
            release(queue, operation);
        }
    }
    queue->sequence = 0;
}
