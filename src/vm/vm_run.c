/* SPDX-License-Identifier: Apache-2.0
 * Runs a grid: CTAs on worker threads, each with a heap of its own; or, where the order of CTAs could show
 * (fill in vm_function.serial), all on the calling thread in one fixed interleaving: a CTA that only polls
 * gives way to the next ones. Results do not depend on the number of workers. */
#include <unistd.h>
#include "vm/vm_sm.h"

enum { CHUNK_LIMIT = 64, RESIDENT_LIMIT = 4096, SERIAL_DEADLOCK_ROUNDS = 1 << 10 };

typedef struct worker {
    vm_grid *run;
    base_heap *heap;
    bool calling; /* the caller's thread: reports progress */
    uint64_t chunk;
    pthread_t thread;
} worker;

static void progress(const worker *self) {
    vm_grid *run = self->run;
    const vm_launch *launch = run->launch;
    if (self->calling && launch->progress &&
        !launch->progress(launch->progress_user, run->next_commit, run->cta_count))
        run->stop = true;
}

static bool take(vm_grid *run, uint64_t chunk, uint64_t *first, uint64_t *count) {
    pthread_mutex_lock(&run->lock);
    *first = run->next_cta;
    uint64_t units = run->grouped ? run->group_count : run->cta_count, left = units - run->next_cta;
    *count = left < chunk ? left : chunk;
    if (run->stop || *first > run->stop_at)
        *count = 0;
    run->next_cta += *count;
    pthread_mutex_unlock(&run->lock);
    return *count != 0;
}

static void parallel_body(void *argument) {
    worker *self = argument;
    vm_grid *run = self->run;
    vm_cta *cta = vm_schedule_create(run, base_arena_create(self->heap));
    uint64_t first, count;
    while (take(run, self->chunk, &first, &count)) {
        uint64_t steps = 0, done = 0;
        while (done < count) {
            vm_schedule_start(cta, first + done);
            vm_schedule_run(cta, true);
            steps += cta->steps;
            done++;
            if (cta->status != VM_COMPLETE)
                break;
        }
        if (cta->status == VM_STOPPED)
            return; /* somebody before us ended the run, or the caller did */
        vm_commit_add(run, cta, first, done, steps);
        progress(self);
    }
}

/* One interleaving: the oldest CTA that can move runs; when all that are resident only poll, one more starts.
 */
typedef struct residents {
    BASE_VECTOR(vm_cta *) running;
    BASE_VECTOR(vm_cta *) spare;
} residents;

static bool admit(worker *self, base_arena *arena, residents *all) {
    vm_grid *run = self->run;
    if (run->next_cta >= run->cta_count || run->next_cta > run->stop_at ||
        (all->running.count >= RESIDENT_LIMIT && !run->launch->cooperative))
        return false;
    vm_cta *cta = all->spare.count ? all->spare.items[--all->spare.count] : vm_schedule_create(run, arena);
    vm_schedule_start(cta, run->next_cta++);
    base_vector_push(arena, &all->running, cta);
    return true;
}

/* A CTA that is done, or that no longer matters because an earlier one ended the run. */
static void retire(vm_grid *run, base_arena *arena, residents *all, size_t index) {
    vm_cta *cta = all->running.items[index];
    if (cta->status != VM_STOPPED)
        vm_commit_add(run, cta, cta->linear, 1, cta->steps);
    base_vector_push(arena, &all->spare, cta);
    all->running.count--;
    for (size_t i = index; i < all->running.count; i++)
        all->running.items[i] = all->running.items[i + 1];
}

static void serial_body(void *argument) {
    worker *self = argument;
    vm_grid *run = self->run;
    base_arena *arena = base_arena_create(self->heap);
    residents all = {0};
    uint64_t idle = 0;
    while (!run->stop && (all.running.count || admit(self, arena, &all))) {
        bool moved = false;
        for (size_t i = 0; i < all.running.count && !run->stop;) {
            vm_cta *cta = all.running.items[i];
            uint64_t writes = cta->writes;
            vm_progress result = vm_schedule_run(cta, false);
            moved |= cta->writes != writes || result == VM_CTA_DONE;
            progress(self);
            if (result == VM_CTA_DONE)
                retire(run, arena, &all, i);
            else
                i++;
        }
        if (moved)
            idle = 0;
        else if (!admit(self, arena, &all) && ++idle > SERIAL_DEADLOCK_ROUNDS && all.running.count) {
            vm_deadlock(all.running.items[0]);
            retire(run, arena, &all, 0);
        }
    }
}

/* ---- groups of SMs ---- */
static void group_body(void *argument) {
    worker *self = argument;
    vm_grid *run = self->run;
    vm_group *group = vm_group_create(run, base_arena_create(self->heap));
    uint64_t index, count;
    while (take(run, 1, &index, &count)) {
        vm_group_start(group, index);
        for (vm_group_step step; (step = vm_group_run(group)) != VM_GROUP_DONE; progress(self))
            if (step == VM_GROUP_STALLED && !vm_group_unblock(group)) {
                vm_group_deadlock(group);
                break;
            }
    }
}

/* All groups in one interleaving; one more starts when those that have started only wait. */
static void serial_group_body(void *argument) {
    worker *self = argument;
    vm_grid *run = self->run;
    base_arena *arena = base_arena_create(self->heap);
    vm_group **groups = BASE_NEW_ARRAY(arena, vm_group *, run->group_count);
    uint64_t started = 0, done = 0, idle = 0;
    while (!run->stop && done < run->group_count) {
        bool moved = false;
        for (uint64_t i = 0; i < started; i++) {
            vm_group_step step = groups[i] ? vm_group_run(groups[i]) : VM_GROUP_STALLED;
            moved |= step != VM_GROUP_STALLED;
            if (step != VM_GROUP_DONE)
                continue;
            if (groups[i]->failed)
                return;
            groups[i] = NULL;
            done++;
        }
        progress(self);
        for (uint64_t i = 0; !moved && i < started; i++)
            moved = groups[i] && vm_async_advance(groups[i]->async);
        if (!moved && started < run->group_count) {
            groups[started] = vm_group_create(run, arena);
            vm_group_start(groups[started], started);
            started++;
            moved = true;
        }
        idle = moved ? 0 : idle + 1;
        vm_group *first = NULL;
        bool any = false;
        for (uint64_t i = 0; !moved && i < started; i++) {
            first = first || !groups[i] ? first : groups[i];
            any |= groups[i] && vm_group_unblock(groups[i]);
        }
        if (!moved && !any && first != NULL && idle > SERIAL_DEADLOCK_ROUNDS) {
            vm_group_deadlock(first);
            return;
        }
    }
}

static void run_worker(worker *self) {
    const vm_grid *grid = self->run;
    void (*body)(void *) = grid->grouped  ? (grid->serial ? serial_group_body : group_body)
                           : grid->serial ? serial_body
                                          : parallel_body;
    base_outcome outcome = base_heap_run(self->heap, body, self);
#if defined(__SSE2__)
    __builtin_ia32_sfence(); /* what put_row (level/vm_access.c) streamed is in memory before anybody joins us
                              */
#endif
    if (outcome != BASE_DONE) {
        pthread_mutex_lock(&self->run->lock);
        self->run->lost_memory = true;
        self->run->stop = true;
        pthread_mutex_unlock(&self->run->lock);
    }
}

static void *worker_main(void *argument) {
    run_worker(argument);
    return NULL;
}

static uint32_t worker_count(const vm_grid *run) {
    if (run->serial)
        return 1;
    uint64_t count = run->launch->threads;
    if (count == 0) {
        long online = sysconf(_SC_NPROCESSORS_ONLN);
        count = online > 0 ? (uint64_t)online : 1;
    }
    if (count > 256)
        count = 256;
    uint64_t units = run->grouped ? run->group_count : run->cta_count;
    return (uint32_t)(count < units ? count : units);
}

static void run_workers(vm_grid *run, worker *workers, uint32_t count) {
    uint64_t chunk = run->cta_count / ((uint64_t)count * 16);
    chunk = chunk < 1 ? 1 : chunk > CHUNK_LIMIT ? CHUNK_LIMIT : chunk;
    base_heap_options options = {0};
    options.limit_bytes = (run->launch->memory_limit ? run->launch->memory_limit : (uint64_t)8 << 30) / count;
    uint32_t started = 1;
    for (uint32_t i = 0; i < count; i++) {
        workers[i] =
            (worker){.run = run, .heap = base_heap_create(&options), .calling = i == 0, .chunk = chunk};
        if (workers[i].heap == NULL) {
            count = i;
            break;
        }
    }
    if (count == 0) {
        run->lost_memory = true;
        return;
    }
    /* a thread that cannot be started is work for the others */
    while (started < count &&
           pthread_create(&workers[started].thread, NULL, worker_main, &workers[started]) == 0)
        started++;
    run_worker(&workers[0]);
    for (uint32_t i = 1; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    for (uint32_t i = 0; i < count; i++)
        base_heap_destroy(workers[i].heap);
}

typedef struct run_arguments {
    base_arena *arena;
    const vm_program *program;
    vm_launch *launch;
    vm_result *result;
    base_heap *commit_heap;
} run_arguments;

typedef struct commit_arguments {
    vm_grid *run;
    base_heap *heap;
} commit_arguments;
static void commit_body(void *argument) {
    commit_arguments *a = argument;
    a->run->commit = vm_commit_create(a->run, a->heap);
}

static void run_body(void *argument) {
    run_arguments *a = argument;
    base_arena *scratch = base_arena_create(base_arena_heap(a->arena));
    vm_grid *run = BASE_NEW(scratch, vm_grid);
    if (!vm_launch_prepare(run, scratch, a->arena, a->program, a->launch, a->result)) {
        base_arena_destroy(scratch);
        return;
    }
    pthread_mutex_init(&run->lock, NULL);
    pthread_mutex_init(&run->atomic_lock, NULL);
    run->stop_at = UINT64_MAX;
    uint32_t count = worker_count(run);
    worker *workers = BASE_NEW_ARRAY(scratch, worker, count);
    commit_arguments made = {run, a->commit_heap};
    if (base_heap_run(a->commit_heap, commit_body, &made) == BASE_DONE) {
        run_workers(run, workers, count);
        vm_commit_finish(run->commit, a->arena, a->result);
    } else {
        a->result->status = VM_NO_MEMORY;
    }
    a->result->level = run->level->name;
    a->result->threads = count;
    pthread_mutex_destroy(&run->lock);
    pthread_mutex_destroy(&run->atomic_lock);
    base_arena_destroy(scratch);
}

vm_result *vm_run(base_arena *arena, const vm_program *program, vm_launch *launch) {
    run_arguments arguments = {arena, program, launch, BASE_NEW(arena, vm_result), base_heap_create(NULL)};
    if (arguments.commit_heap == NULL) {
        arguments.result->status = VM_NO_MEMORY;
        return arguments.result;
    }
    base_outcome outcome = base_heap_run(base_arena_heap(arena), run_body, &arguments);
    base_heap_destroy(arguments.commit_heap);
    if (outcome != BASE_DONE)
        base_heap_escape(base_arena_heap(arena), outcome);
    return arguments.result;
}
