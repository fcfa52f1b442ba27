/* SPDX-License-Identifier: Apache-2.0
 * Groups of SMs (vm_sm.h): which CTAs live together, and the one interleaving of them. A CTA runs until it
 * waits; then the next one. When all wait, asynchronous work completes; then waits that may fail do; then it
 * is a deadlock of the group. */
#include <stdio.h>
#include "vm/vm_sm.h"
#include "vm/vm_tmem_machine.h"

enum { TIMEOUT_ROUNDS = 1 << 10 };

/* ---- sizes ---- */
static uint32_t at_most(uint64_t a, uint64_t b) {
    return (uint32_t)(a < b ? a : b);
}

/* How many CTAs an SM holds at a time (CUDA programming guide, compute capability 10.0). */
static uint32_t residents(const vm_grid *run) {
    uint32_t shared = (run->shared_bytes + 127u) & ~127u, threads = run->warps_per_cta * VM_LANES;
    uint32_t count = at_most(VM_SM_CTAS, VM_SM_THREADS / threads);
    count = at_most(count, VM_SM_SHARED_BYTES / shared);
    uint32_t registers = run->kernel->source->max_registers;
    if (registers)
        count = at_most(count, VM_SM_REGISTERS / ((uint64_t)((registers + 7u) & ~7u) * threads));
    if (run->launch->ctas_per_sm)
        count = at_most(count, run->launch->ctas_per_sm);
    return count ? count : 1;
}

bool vm_launch_groups(vm_grid *run, char *problem, size_t size) {
    const vm_launch *launch = run->launch;
    const ptx_function *source = run->kernel->source;
    bool given = launch->cluster[0] || launch->cluster[1] || launch->cluster[2];
    bool fixed = source->cluster[0] || source->cluster[1] || source->cluster[2];
    uint64_t count = 1;
    problem[0] = 0;
    for (int i = 0; i < 3; i++) {
        uint32_t want = launch->cluster[i] ? launch->cluster[i] : 1;
        uint32_t need = source->cluster[i] ? source->cluster[i] : 1;
        if (fixed && given && want != need)
            snprintf(
                problem, size,
                "the kernel requires clusters of %u x %u x %u CTAs (.reqnctapercluster), the launch has %u "
                "x %u x %u",
                source->cluster[0] ? source->cluster[0] : 1, source->cluster[1] ? source->cluster[1] : 1,
                source->cluster[2] ? source->cluster[2] : 1, launch->cluster[0] ? launch->cluster[0] : 1,
                launch->cluster[1] ? launch->cluster[1] : 1, launch->cluster[2] ? launch->cluster[2] : 1);
        run->cluster[i] = fixed ? need : want;
        count *= run->cluster[i];
    }
    if (problem[0])
        return false;
    if (source->explicit_cluster && !given && !fixed) {
        snprintf(problem, size, "the kernel must be launched with a cluster size (.explicitcluster)");
        return false;
    }
    uint32_t most = source->max_cluster_rank && source->max_cluster_rank < VM_CLUSTER_LIMIT
                        ? source->max_cluster_rank
                        : VM_CLUSTER_LIMIT;
    if (count > most) {
        snprintf(problem, size, "a cluster of %llu CTAs; at most %u are possible%s",
                 (unsigned long long)count, most, most < VM_CLUSTER_LIMIT ? " (.maxclusterrank)" : "");
        return false;
    }
    for (int i = 0; i < 3; i++)
        if (launch->grid[i] % run->cluster[i] != 0) {
            snprintf(problem, size, "grid.%c is %u, which is no multiple of the cluster's %u", "xyz"[i],
                     launch -> grid[i], run -> cluster[i]);
            return false;
        }
    run->grouped = run->kernel->grouped || count > 1;
    run->cluster_size = given || fixed ? (uint32_t)count : 0;
    uint32_t sms = launch->sms ? launch->sms : VM_SMS;
    if (run->grouped && sms < count) {
        snprintf(problem, size, "a cluster of %llu CTAs does not fit on %u SMs", (unsigned long long)count,
                 sms);
        return false;
    }
    run->cluster_count = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2] / count;
    uint64_t groups = sms / count;
    run->group_count = groups < run->cluster_count ? groups : run->cluster_count;
    run->residents = residents(run);
    return true;
}

/* ---- start ---- */
void vm_cluster_place(const vm_grid *run, uint64_t cluster, uint32_t rank, uint32_t id[3]) {
    const uint32_t *size = run->cluster, *grid = run->launch->grid;
    uint32_t wide = grid[0] / size[0], high = grid[1] / size[1];
    id[0] = (uint32_t)(cluster % wide) * size[0] + rank % size[0];
    id[1] = (uint32_t)(cluster / wide % high) * size[1] + rank / size[0] % size[1];
    id[2] = (uint32_t)(cluster / wide / high) * size[2] + rank / size[0] / size[1];
}

vm_group *vm_group_create(vm_grid *run, base_arena *arena) {
    vm_group *group = BASE_NEW(arena, vm_group);
    group->run = run;
    group->arena = arena;
    uint64_t each = (run->cluster_count + run->group_count - 1) / run->group_count;
    group->slot_count = at_most(run->residents, each);
    group->slots = BASE_NEW_ARRAY(arena, vm_cluster, group->slot_count);
    group->async = vm_async_create(run, arena, 0);
    return group;
}

void vm_group_start(vm_group *group, uint64_t index) {
    vm_grid *run = group->run;
    uint32_t size = run->cluster[0] * run->cluster[1] * run->cluster[2];
    vm_async_reset(group->async);
    vm_async_seed(group->async, index);
    group->index = group->next = index;
    group->timeouts = 0;
    group->failed = false;
    group->random = base_hash_mix(run->launch->seed, index);
    for (uint32_t i = 0; i < size; i++) {
        group->sms[i].id = (uint32_t)index * size + i;
        group->sms[i].permit = NULL;
        group->sms[i].group = group;
        vm_tmem_sm_start(&group->sms[i], run->launch);
    }
    for (uint32_t i = 0; i < group->slot_count; i++)
        group->slots[i].size = 0;
}

static void start_cta(vm_group *group, vm_cluster *cluster, uint32_t rank) {
    vm_grid *run = group->run;
    if (cluster->ctas[rank] == NULL)
        cluster->ctas[rank] = vm_schedule_create(run, group->arena);
    vm_cta *cta = cluster->ctas[rank];
    uint32_t id[3], turn = 0;
    vm_cluster_place(run, cluster->index, rank, id);
    /* a seed turns the SMs that the CTAs of a cluster come to */
    if (run->launch->schedule == VM_SCHEDULE_RANDOM)
        turn = (uint32_t)(base_hash_mix(run->launch->seed, cluster->index) >> 32);
    const uint32_t *grid = run->launch->grid;
    cta->group = group;
    cta->async = group->async;
    cta->cluster = cluster;
    cta->sm = &group->sms[(rank + turn % cluster->size) % cluster->size];
    cta->rank = rank;
    bool windows = run->cluster_size > 0 && run->program->clustered;
    cta->cluster_size = windows ? cluster->size : 0;
    cta->peers = cluster->ctas;
    cta->window = windows ? rank << VM_RANK_SHIFT : 0;
    for (unsigned lane = 0; lane < VM_LANES; lane++)
        cta->rows[VM_CTA_WINDOW][lane] = cta->window;
    vm_schedule_start(cta, id[0] + (uint64_t)grid[0] * (id[1] + (uint64_t)grid[1] * id[2]));
}

static void find_oldest(vm_group *group) {
    group->oldest = UINT64_MAX;
    VM_FOR_GROUP_CTAS(cta, group)
    if (cta->linear < group->oldest)
        group->oldest = cta->linear;
    for (uint32_t rank = 0; group->next < group->run->cluster_count && rank < 1; rank++) {
        uint32_t id[3];
        const uint32_t *grid = group->run->launch->grid;
        vm_cluster_place(group->run, group->next, 0, id);
        uint64_t linear = id[0] + (uint64_t)grid[0] * (id[1] + (uint64_t)grid[1] * id[2]);
        if (linear < group->oldest)
            group->oldest = linear;
    }
}

static void admit(vm_group *group) {
    vm_grid *run = group->run;
    for (uint32_t i = 0; i < group->slot_count && group->next < run->cluster_count; i++) {
        vm_cluster *cluster = &group->slots[i];
        if (cluster->size != 0)
            continue;
        cluster->index = group->next;
        group->next += run->group_count;
        cluster->size = cluster->left = run->cluster[0] * run->cluster[1] * run->cluster[2];
        cluster->phase = 0;
        for (uint32_t rank = 0; rank < cluster->size; rank++)
            start_cta(group, cluster, rank);
    }
    find_oldest(group);
}

/* ---- ends ---- */
void vm_sm_wake(vm_sm *sm) {
    VM_FOR_GROUP_CTAS(cta, sm->group)
    if (cta->sm == sm && !cta->exited)
        vm_schedule_wake(cta, VM_PARK_ALLOC, UINT64_MAX);
}

static void leave(vm_cta *cta) {
    cta->exited = true;
    cta->cluster->left--;
    vm_cluster_exit(cta);
    if (cta->sm->permit == cta) { /* exit gives the permit back; columns stay taken (tcgen05.md 8.10) */
        cta->sm->permit = NULL;
        vm_sm_wake(cta->sm);
    }
}

static void retire(vm_group *group, vm_cluster *cluster) {
    for (uint32_t rank = 0; rank < cluster->size; rank++) {
        vm_cta *cta = cluster->ctas[rank];
        vm_commit_add(group->run, cta, cta->linear, 1, cta->steps);
    }
    cluster->size = 0;
}

/* The run ends with what happened in this CTA. What comes before it in CTA order and has not ended cannot end
 * any more: the finding and the status move to the first of those. */
static void take_findings(vm_cta *to, const vm_cta *from) {
    base_arena *report = vm_finding_arena(to);
    for (size_t i = 0; i < from->found.count; i++) {
        vm_found copy = from->found.items[i];
        if (copy.finding.text != NULL)
            copy.finding.text = base_arena_string(report, copy.finding.text, strlen(copy.finding.text));
        base_vector_push(report, &to->found, copy);
    }
    for (size_t i = 0; i < from->tmem_events.count; i++)
        base_vector_push(report, &to->tmem_events, from->tmem_events.items[i]);
}

static void fail(vm_group *group, vm_cta *cta) {
    vm_cta *first = cta;
    VM_FOR_GROUP_CTAS(other, group)
    if (other->linear < first->linear)
        first = other;
    VM_FOR_GROUP_CTAS(other, group)
    if (other != first && other != cta)
        take_findings(first, other);
    if (first != cta)
        take_findings(first, cta);
    first->status = cta->status;
    vm_commit_add(group->run, first, first->linear, 1, first->steps);
    group->failed = true;
}

/* ---- steps ---- */
static bool run_cta(vm_group *group, vm_cta *cta, bool *moved) {
    uint64_t writes = cta->writes;
    cta->moved = false;
    cta->stop_key = group->oldest;
    vm_progress progress = vm_schedule_run(cta, false);
    *moved |= cta->writes != writes;
    *moved |= cta->moved && group->timeouts == 0;
    group->active |= cta->moved;
    if (progress != VM_CTA_DONE)
        return true;
    *moved = true;
    if (cta->status == VM_STOPPED) {
        group->failed = true;
        return false;
    }
    if (cta->status != VM_COMPLETE) {
        fail(group, cta);
        return false;
    }
    leave(cta);
    if (cta->cluster->left == 0)
        retire(group, cta->cluster);
    return true;
}

static uint32_t list_ctas(vm_group *group, vm_cta **list, uint32_t limit) {
    uint32_t count = 0;
    VM_FOR_GROUP_CTAS(cta, group)
    if (!cta->exited && count < limit)
        list[count++] = cta;
    vm_schedule schedule = group->run->launch->schedule;
    for (uint32_t i = 0; schedule == VM_SCHEDULE_LATE && i < count / 2; i++) {
        vm_cta *swap = list[i];
        list[i] = list[count - 1 - i];
        list[count - 1 - i] = swap;
    }
    for (uint32_t i = count; schedule == VM_SCHEDULE_RANDOM && i > 1; i--) {
        group->random = base_hash_mix(group->random, i);
        uint32_t other = (uint32_t)(group->random >> 32) % i;
        vm_cta *swap = list[i - 1];
        list[i - 1] = list[other];
        list[other] = swap;
    }
    return count;
}

vm_group_step vm_group_run(vm_group *group) {
    vm_cta *list[VM_CLUSTER_LIMIT * VM_SM_CTAS];
    bool moved = false;
    admit(group);
    uint32_t count = list_ctas(group, list, VM_CLUSTER_LIMIT * VM_SM_CTAS);
    if (count == 0 || group->run->stop)
        return VM_GROUP_DONE;
    group->active = false;
    for (uint32_t i = 0; i < count; i++)
        if (!run_cta(group, list[i], &moved))
            return VM_GROUP_DONE;
    moved |= vm_async_round(group->async);
    if (moved)
        group->timeouts = 0;
    return moved || group->active ? VM_GROUP_MOVED : VM_GROUP_STALLED;
}

bool vm_group_unblock(vm_group *group) {
    if (vm_async_advance(group->async))
        return true;
    bool any = false;
    if (group->timeouts >= TIMEOUT_ROUNDS)
        return false;
    group->timeouts++;
    VM_FOR_GROUP_CTAS(cta, group)
    if (!cta->exited)
        any |= vm_schedule_time_out(cta) || cta->polled;
    VM_FOR_GROUP_CTAS(cta, group)
    any = any || (!cta->exited && vm_tmem_force(cta));
    return any;
}

void vm_group_deadlock(vm_group *group) {
    vm_cta *first = NULL;
    base_builder text;
    VM_FOR_GROUP_CTAS(cta, group)
    if (!cta->exited && (first == NULL || cta->linear < first->linear))
        first = cta;
    if (first == NULL)
        return;
    base_builder_start(&text, vm_finding_arena(first));
    VM_FOR_GROUP_CTAS(cta, group)
    if (!cta->exited)
        vm_deadlock_describe(cta, &text);
    vm_deadlock_report(first, &text);
    fail(group, first);
}

uint64_t vm_group_cancel(vm_group *group) {
    vm_grid *run = group->run;
    uint64_t cluster = group->next;
    if (cluster >= run->cluster_count)
        return UINT64_MAX;
    group->next += run->group_count;
    uint32_t size = run->cluster[0] * run->cluster[1] * run->cluster[2];
    for (uint32_t rank = 0; rank < size; rank++) {
        uint32_t id[3];
        const uint32_t *grid = run->launch->grid;
        vm_cluster_place(run, cluster, rank, id);
        vm_commit_skip(run, id[0] + (uint64_t)grid[0] * (id[1] + (uint64_t)grid[1] * id[2]));
    }
    return cluster;
}
