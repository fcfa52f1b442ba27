/* SPDX-License-Identifier: Apache-2.0
 * Puts together what the CTAs found and printed, in the order of the CTAs, whichever worker ran them. Text
 * goes out as soon as every earlier CTA is done. The lock of the grid protects all of this; memory is a heap
 * of its own. */
#include "vm/vm_tmem_record.h"

typedef struct part part;
struct part { /* finished CTAs [first, first + count) that wait for earlier ones */
    part *next;
    uint64_t first, count, steps;
    vm_status status;
    uint64_t status_cta;
    base_arena *arena;
    const vm_found *found;
    size_t found_count;
    uint64_t dropped;
    const vm_tmem_event *events;
    size_t event_count;
    const char *text;
    size_t text_size;
};

struct vm_commit {
    vm_grid *run;
    base_heap *heap;
    base_arena *arena;
    part *waiting; /* sorted by first */
    BASE_VECTOR(vm_found) found;
    BASE_VECTOR(vm_tmem_history) histories;
    uint64_t histories_dropped;
    uint64_t dropped, steps, ctas;
    vm_status status;
    bool closed; /* a CTA stopped the run: later ones do not count */
};

vm_commit *vm_commit_create(vm_grid *run, base_heap *heap) {
    base_arena *arena = base_arena_create(heap);
    vm_commit *commit = BASE_NEW(arena, vm_commit);
    commit->run = run;
    commit->heap = heap;
    commit->arena = arena;
    commit->status = VM_COMPLETE;
    return commit;
}

static vm_finding copy_finding(base_arena *arena, const vm_finding *finding) {
    vm_finding copy = *finding;
    if (copy.text != NULL)
        copy.text = base_arena_string(arena, copy.text, strlen(copy.text));
    return copy;
}

static void merge_found(vm_commit *commit, const vm_found *found) {
    for (size_t i = 0; i < commit->found.count; i++)
        if (commit->found.items[i].pc == found->pc && commit->found.items[i].other_pc == found->other_pc &&
            commit->found.items[i].finding.kind == found->finding.kind) {
            commit->found.items[i].finding.count += found->finding.count;
            return;
        }
    uint32_t limit = commit->run->launch->finding_limit ? commit->run->launch->finding_limit : 100;
    if (commit->found.count >= limit) {
        commit->dropped++;
        return;
    }
    vm_found copy = {copy_finding(commit->arena, &found->finding), found->pc, found->other_pc};
    base_vector_push(commit->arena, &commit->found, copy);
}

/* What one CTA did with tensor memory: as an earlier one, or something new. */
static void merge_history(vm_commit *commit, const vm_tmem_event *events, size_t count) {
    for (size_t i = 0; i < commit->histories.count; i++) {
        vm_tmem_history *known = &commit->histories.items[i];
        if (known->event_count == count && vm_tmem_record_same(known->events, events, count)) {
            known->ctas++;
            return;
        }
    }
    if (commit->histories.count == VM_TMEM_HISTORIES) {
        commit->histories_dropped++;
        return;
    }
    vm_tmem_history made = {1, count, vm_tmem_record_copy(commit->arena, events, count)};
    base_vector_push(commit->arena, &commit->histories, made);
}

static void merge_histories(vm_commit *commit, const part *ready) {
    for (size_t i = 0, end; i < ready->event_count; i = end) {
        for (end = i + 1; end < ready->event_count && ready->events[end].cta == ready->events[i].cta; end++)
            continue;
        merge_history(commit, ready->events + i, end - i);
    }
}

static void close_at(vm_commit *commit, vm_status status, uint64_t cta) {
    commit->status = status;
    commit->closed = true;
    if (commit->run->stop_at > cta)
        commit->run->stop_at = cta;
}

static void drain(vm_commit *commit) {
    vm_grid *run = commit->run;
    while (commit->waiting != NULL && commit->waiting->first == run->next_commit) {
        part *ready = commit->waiting;
        commit->waiting = ready->next;
        run->next_commit = ready->first + ready->count;
        base_arena *arena = ready->arena;
        if (!commit->closed) {
            for (size_t i = 0; i < ready->found_count; i++)
                merge_found(commit, &ready->found[i]);
            commit->dropped += ready->dropped;
            merge_histories(commit, ready);
            commit->steps += ready->steps;
            commit->ctas += ready->count;
            if (ready->text_size && run->launch->print)
                run->launch->print(run->launch->print_user, ready->text, ready->text_size);
            if (ready->status != VM_COMPLETE) {
                close_at(commit, ready->status, ready->status_cta);
            } else if (run->launch->step_limit && commit->steps > run->launch->step_limit) {
                vm_found limit = {0};
                limit.finding.kind = VM_FIND_STEP_LIMIT;
                limit.finding.count = 1;
                limit.finding.function = run->kernel->source;
                limit.finding.required = run->launch->step_limit;
                limit.pc = UINT32_MAX;
                merge_found(commit, &limit);
                close_at(commit, VM_STEP_LIMIT, run->next_commit - 1);
            }
        }
        base_arena_destroy(arena);
    }
}

typedef struct add_arguments {
    vm_commit *commit;
    vm_cta *cta;
    uint64_t first, count, steps;
} add_arguments;

static void add_body(void *argument) {
    add_arguments *a = argument;
    vm_commit *commit = a->commit;
    vm_cta *cta = a->cta;
    base_arena *arena = base_arena_create(commit->heap);
    part *made = BASE_NEW(arena, part);
    made->arena = arena;
    made->first = a->first;
    made->count = a->count;
    made->steps = a->steps;
    made->status = cta->status;
    made->status_cta = cta->linear;
    made->dropped = cta->found_dropped;
    if (cta->found.count) {
        vm_found *found = BASE_NEW_ARRAY(arena, vm_found, cta->found.count);
        for (size_t i = 0; i < cta->found.count; i++) {
            found[i].pc = cta->found.items[i].pc;
            found[i].other_pc = cta->found.items[i].other_pc;
            found[i].finding = copy_finding(arena, &cta->found.items[i].finding);
        }
        made->found = found;
        made->found_count = cta->found.count;
    }
    if (cta->tmem_events.count) {
        made->events = vm_tmem_record_copy(arena, cta->tmem_events.items, cta->tmem_events.count);
        made->event_count = cta->tmem_events.count;
    }
    if (cta->print.size) {
        made->text = base_arena_copy(arena, cta->print.data, cta->print.size);
        made->text_size = cta->print.size;
    }
    part **place = &commit->waiting;
    while (*place != NULL && (*place)->first < made->first)
        place = &(*place)->next;
    made->next = *place;
    *place = made;
    if (made->status != VM_COMPLETE && commit->run->stop_at > made->status_cta)
        commit->run->stop_at = made->status_cta;
    drain(commit);
}

/* The common case, nothing to report and nobody before us: no memory is taken. */
static bool add_plain(vm_commit *commit, const vm_cta *cta, uint64_t first, uint64_t count, uint64_t steps) {
    vm_grid *run = commit->run;
    if (run->next_commit != first || commit->closed || cta->found.count || cta->found_dropped ||
        cta->print.size || cta->tmem_events.count || cta->status != VM_COMPLETE ||
        (run->launch->step_limit && commit->steps + steps > run->launch->step_limit))
        return false;
    run->next_commit += count;
    commit->steps += steps;
    commit->ctas += count;
    return commit->waiting == NULL || commit->waiting->first != run->next_commit ? true
                                                                                 : (drain(commit), true);
}

void vm_commit_add(vm_grid *run, vm_cta *cta, uint64_t first, uint64_t count, uint64_t steps) {
    add_arguments arguments = {run->commit, cta, first, count, steps};
    pthread_mutex_lock(&run->lock);
    if (!add_plain(run->commit, cta, first, count, steps) &&
        base_heap_run(run->commit->heap, add_body, &arguments) != BASE_DONE) {
        run->lost_memory = true;
        run->stop = true;
    }
    pthread_mutex_unlock(&run->lock);
    if (cta->report != NULL) {
        base_arena_destroy(cta->report);
        cta->report = NULL;
    }
    memset(&cta->found, 0, sizeof cta->found);
    memset(&cta->print, 0, sizeof cta->print);
    memset(&cta->tmem_events, 0, sizeof cta->tmem_events);
    cta->found_dropped = 0;
}

void vm_commit_skip(vm_grid *run, uint64_t linear) {
    vm_cta nothing = {.status = VM_COMPLETE, .linear = linear};
    vm_commit_add(run, &nothing, linear, 1, 0);
}

/* A read of memory that nothing had written where a write races with the read: it came too early, by the
 * schedule. */
static bool is_only_early(const vm_commit *commit, const vm_found *found) {
    bool races = false;
    for (size_t i = 0; found->finding.kind == VM_FIND_UNINITIALISED && i < commit->found.count; i++)
        races |= commit->found.items[i].finding.kind == VM_FIND_RACE_READ_WRITE &&
                 commit->found.items[i].pc == found->pc;
    return races;
}

void vm_commit_finish(const vm_commit *commit, base_arena *arena, vm_result *result) {
    const vm_grid *run = commit->run;
    result->status = run->lost_memory ? VM_NO_MEMORY : commit->status;
    if (result->status == VM_COMPLETE && commit->ctas != run->cta_count)
        result->status = VM_STOPPED;
    result->warp_instructions = commit->steps;
    result->ctas = commit->ctas;
    result->async_classes = run->async_classes;
    result->findings_dropped = commit->dropped;
    vm_finding *findings = BASE_NEW_ARRAY(arena, vm_finding, commit->found.count);
    size_t count = 0;
    for (size_t i = 0; i < commit->found.count; i++) {
        if (is_only_early(commit, &commit->found.items[i]))
            continue;
        vm_finding *finding = &findings[count++];
        *finding = copy_finding(arena, &commit->found.items[i].finding);
        if (finding->allocation != NULL)
            finding->allocation = base_arena_string(arena, finding->allocation, strlen(finding->allocation));
    }
    vm_tmem_history *histories = BASE_NEW_ARRAY(arena, vm_tmem_history, commit->histories.count);
    for (size_t i = 0; i < commit->histories.count; i++) {
        histories[i] = commit->histories.items[i];
        histories[i].events = vm_tmem_record_copy(arena, histories[i].events, histories[i].event_count);
    }
    result->tmem_histories = histories;
    result->tmem_history_count = commit->histories.count;
    result->tmem_ctas_dropped = commit->histories_dropped;
    result->findings = findings;
    result->finding_count = count;
}
