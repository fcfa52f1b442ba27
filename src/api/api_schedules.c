/* SPDX-License-Identifier: Apache-2.0
 * The same launch under every schedule: early, late, each kind of asynchronous work late alone, three seeds.
 * The results are those of the first run; results or findings that another schedule gives are errors. */
#include <inttypes.h>
#include <string.h>
#include "api/api_run.h"
#include "check/check.h"

enum { SEEDS = 3 };

typedef struct schedule_entry {
    vm_schedule schedule;
    uint32_t classes;
    uint64_t seed;
    const char *name;
} schedule_entry;

typedef struct trial {
    api_run *run;
    base_arena *arena;
    void **before, **first; /* per buffer: its bytes before the runs and after the first; NULL: read-only */
    BASE_VECTOR(schedule_entry) entries;
} trial;

static void add(trial *t, vm_schedule schedule, uint32_t classes, uint64_t seed, const char *name) {
    schedule_entry entry = {schedule, classes, seed, name};
    base_vector_push(t->arena, &t->entries, entry);
}

/* Only kinds of work that the first run had. */
static void list_entries(trial *t, uint32_t used) {
    add(t, VM_SCHEDULE_LATE, 0, 0, "late");
    for (uint32_t class = 0; class < VM_ASYNC_CLASSES; class ++)
        if (used >> class & 1 && used != 1u << class)
            add(t, VM_SCHEDULE_LATE, 1u << class, class,
                base_arena_format(t->arena, "late:%s", vm_async_class_name(class)));
    for (uint64_t i = 0; i < SEEDS; i++) {
        uint64_t seed = t->run->launch->seed + i + 1;
        add(t, VM_SCHEDULE_RANDOM, 0, seed, base_arena_format(t->arena, "%" PRIu64, seed));
    }
}

static void save(trial *t, void **to) {
    for (size_t i = 0; i < t->run->machine.buffer_count; i++) {
        const vm_buffer *buffer = &t->run->machine.buffers[i];
        if (!buffer->read_only && buffer->bytes)
            to[i] = base_arena_copy(t->arena, buffer->data, buffer->bytes);
    }
}

static void restore(const trial *t, void *const *from) {
    for (size_t i = 0; i < t->run->machine.buffer_count; i++)
        if (from[i] != NULL)
            memcpy(t->run->machine.buffers[i].data, from[i], t->run->machine.buffers[i].bytes);
}

static void compare(const trial *t, const char *name) {
    base_diagnostics *list = t->run->module->session->diagnostics;
    for (size_t i = 0; i < t->run->machine.buffer_count; i++) {
        const vm_buffer *buffer = &t->run->machine.buffers[i];
        if (t->first[i] == NULL || memcmp(t->first[i], buffer->data, buffer->bytes) == 0)
            continue;
        const uint8_t *a = t->first[i], *b = buffer->data;
        uint64_t at = 0, count = 0;
        while (a[at] == b[at])
            at++;
        for (uint64_t k = at; k < buffer->bytes; k++)
            count += a[k] != b[k];
        base_diagnostic *diagnostic = base_report(list, BASE_ERROR, "T0780", BASE_NO_SPAN,
                                                  "`%s` depends on the schedule: under `%s` %" PRIu64
                                                  " bytes differ from `early`, the first "
                                                  "is byte %" PRIu64,
                                                  buffer->name ? buffer->name : "?", name, count, at);
        base_help(
            list, diagnostic,
            "a wait or a barrier is missing, or the order of float atomics shows; run with --schedule %s",
            name);
    }
}

/* What an earlier schedule has not found yet. */
static void report_new(const trial *t, const vm_result *result, const char *name, vm_result *seen) {
    base_diagnostics *list = t->run->module->session->diagnostics;
    vm_result fresh = *result;
    vm_finding *findings =
        BASE_NEW_ARRAY(t->arena, vm_finding, result->finding_count + seen->finding_count + 1);
    size_t count = 0, old = seen->finding_count;
    for (size_t i = 0; i < result->finding_count; i++) {
        const vm_finding *finding = &result->findings[i];
        bool known = false;
        for (size_t k = 0; k < old; k++)
            known |= seen->findings[k].kind == finding->kind &&
                     seen->findings[k].instruction == finding->instruction &&
                     seen->findings[k].other == finding->other;
        if (!known)
            findings[count++] = *finding;
    }
    fresh.findings = findings;
    fresh.finding_count = count;
    fresh.findings_dropped = 0;
    if (count == 0)
        return;
    base_report(list, BASE_ERROR, "T0780", BASE_NO_SPAN,
                "under the schedule `%s` there are other findings:", name);
    check_report_findings(list, t->run->code->ptx, &fresh);
    vm_finding *all = BASE_NEW_ARRAY(t->arena, vm_finding, old + count);
    memcpy(all, seen->findings, old * sizeof *all);
    memcpy(all + old, findings, count * sizeof *all);
    seen->findings = all;
    seen->finding_count = old + count;
}

bool api_run_schedules(api_run *run) {
    base_arena *arena = run->module->session->arena;
    size_t buffers = run->machine.buffer_count;
    trial t = {.run = run, .arena = arena};
    t.before = BASE_NEW_ARRAY(arena, void *, buffers + 1);
    t.first = BASE_NEW_ARRAY(arena, void *, buffers + 1);
    save(&t, t.before);
    run->machine.schedule = VM_SCHEDULE_EARLY;
    run->result = api_run_machine(run, &run->machine);
    check_report_findings(run->module->session->diagnostics, run->code->ptx, run->result);
    save(&t, t.first);
    if (run->result->status == VM_BAD_LAUNCH || run->result->status == VM_NO_MEMORY ||
        run->result->status == VM_STOPPED)
        return true;
    list_entries(&t, run->result->async_classes);
    vm_result seen = *run->result;
    size_t errors = base_diagnostics_errors(run->module->session->diagnostics);
    for (size_t i = 0; i < t.entries.count; i++) {
        const schedule_entry *entry = &t.entries.items[i];
        vm_launch launch = run->machine;
        launch.schedule = entry->schedule;
        launch.late_classes = entry->classes;
        launch.seed = entry->seed;
        launch.print = NULL;
        restore(&t, t.before);
        const vm_result *result = api_run_machine(run, &launch);
        report_new(&t, result, entry->name, &seen);
        if (result->status == VM_COMPLETE && run->result->status == VM_COMPLETE)
            compare(&t, entry->name);
        if (result->status == VM_STOPPED || result->status == VM_NO_MEMORY)
            break;
    }
    restore(&t, t.first);
    return base_diagnostics_errors(run->module->session->diagnostics) == errors;
}
