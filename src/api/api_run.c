/* SPDX-License-Identifier: Apache-2.0
 * Running a module on the machine: bind, launch, word the findings, report. */
#include "api/api_device.h"
#include "api/api_gpu.h"
#include "api/api_run.h"
#include "check/check.h"
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

bool api_find_kernel(tirc_module *module, const char *name, size_t *index) {
    base_diagnostics *list = module->session->diagnostics;
    for (size_t i = 0; name && i < module->kernel_count; ++i)
        if (!strcmp(module->kernels[i].name, name)) {
            *index = i;
            return true;
        }
    if (!name && module->kernel_count == 1) {
        *index = 0;
        return true;
    }
    base_builder names;
    base_builder_start(&names, module->session->arena);
    for (size_t i = 0; i < module->kernel_count; ++i)
        base_builder_format(&names, "%s`%s`", i ? ", " : "", module->kernels[i].name);
    base_diagnostic *diagnostic =
        name ? base_report(list, BASE_ERROR, "T0801", BASE_NO_SPAN, "there is no kernel `%s`", name)
             : base_report(list, BASE_ERROR, "T0801", BASE_NO_SPAN,
                           module->kernel_count ? "the module has several kernels; say which"
                                                : "the module has no kernel");
    if (names.size)
        base_help(list, diagnostic, "it has %s", names.data);
    return false;
}

const char *api_machine_kernel(const api_run *run) {
    return run->plan ? run->plan->kernel_name : run->module->kernels[run->kernel].name;
}

static void kernel_statistics(const api_run *run, tirc_statistics *statistics) {
    vm_kernel_info info;
    for (size_t i = 0; vm_kernel(run->code->program, i, &info); ++i) {
        if (strcmp(info.name, api_machine_kernel(run)))
            continue;
        statistics->virtual_registers = info.virtual_registers;
        statistics->allocated_rows = info.allocated_rows;
        statistics->static_shared_bytes = info.shared_bytes;
        statistics->local_bytes = info.local_bytes;
    }
    statistics->local_count = run->plan ? run->plan->locals.count : 0;
}

static void fill_report(api_run *run) {
    tirc_report *report = BASE_NEW(run->module->session->arena, tirc_report);
    const vm_result *result = run->result;
    report->session = run->module->session;
    report->plan = run->plan;
    report->result = result;
    report->ptx = run->code->ptx;
    report->kernel = run->module->kernels[run->kernel].name;
    report->statistics = (tirc_statistics){.ctas = result->ctas,
                                           .warp_instructions = result->warp_instructions,
                                           .threads = result->threads,
                                           .level = result->level,
                                           .dynamic_shared_bytes = run->machine.dynamic_shared_bytes,
                                           .seconds = run->seconds};
    kernel_statistics(run, &report->statistics);
    run->report = report;
}

typedef struct print_bridge {
    tirc_sink sink;
    void *user;
} print_bridge;

static void print_text(void *user, const char *text, size_t size) {
    const print_bridge *bridge = user;
    bridge->sink(bridge->user, text, size);
}

static void copy_options(api_run *run, print_bridge *bridge) {
    const tirc_launch *from = run->launch;
    vm_launch *to = &run->machine;
    to->kernel = api_machine_kernel(run);
    to->arguments = run->arguments;
    to->buffers = run->buffers;
    to->threads = from->threads;
    to->schedule = (vm_schedule)from->schedule;
    to->seed = from->seed;
    to->late_classes = from->late_classes;
    to->sms = from->sms;
    to->ctas_per_sm = from->ctas_per_sm;
    to->tmem_base = from->tmem_base;
    to->numerics = (vm_numerics)from->numerics;
    to->tmem_random = from->tmem_random;
    to->tmem_lanes_release = from->tmem_lanes_release;
    to->tmem_unpack_preserves = from->tmem_unpack_preserves;
    to->strict_ptx = from->strict_ptx;
    to->cooperative = from->cooperative || (run->plan && run->plan->function->launch.cooperative);
    to->check = (from->tools & TIRC_TOOL_RACECHECK ? VM_CHECK_RACES : 0) |
                (from->tools & TIRC_TOOL_INITCHECK ? VM_CHECK_INITIAL : 0);
    to->tmem_history = from->tmem_history;
    to->step_limit = from->step_limit ? from->step_limit : UINT64_C(1000000000000);
    to->level = from->level;
    if (from->print) {
        bridge->sink = from->print;
        bridge->user = from->print_user;
        to->print = print_text;
        to->print_user = bridge;
    }
    to->progress = from->progress;
    to->progress_user = from->progress_user;
}

static tirc_status status_of(const vm_result *result) {
    switch (result->status) {
    case VM_COMPLETE:
        for (size_t i = 0; i < result->finding_count; i++)
            if (!vm_finding_is_note(result->findings[i].kind))
                return TIRC_FINDINGS;
        return result->findings_dropped ? TIRC_FINDINGS : TIRC_OK;
    case VM_FAULTED:
    case VM_DEADLOCK:
        return TIRC_FINDINGS;
    case VM_STEP_LIMIT:
    case VM_STOPPED:
    case VM_UNSUPPORTED:
        return TIRC_INCOMPLETE;
    case VM_NO_MEMORY:
        return TIRC_NO_MEMORY;
    case VM_BAD_LAUNCH:
        return TIRC_ERROR;
    }
    return TIRC_BUG;
}

vm_result *api_run_machine(api_run *run, vm_launch *launch) {
    base_arena *arena = run->module->session->arena;
    vm_result *result = vm_run(arena, api_code_program(arena, run->code, run->launch), launch);
    uint32_t tools = run->launch->tools;
    vm_finding *kept = BASE_NEW_ARRAY(arena, vm_finding, result->finding_count + 1);
    size_t count = 0;
    for (size_t i = 0; tools && i < result->finding_count; i++) {
        uint32_t tool = check_finding_tool(result->findings[i].kind);
        if (tool == 0 || tool & tools)
            kept[count++] = result->findings[i];
    }
    if (tools) {
        result->findings = kept;
        result->finding_count = count;
    }
    return result;
}

static void run_body(void *argument) {
    api_run *run = argument;
    tirc_session *session = run->module->session;
    size_t first = base_diagnostics_count(session->diagnostics);
    run->status = TIRC_BUG;
    if (!api_find_kernel(run->module, run->launch->kernel, &run->kernel)) {
        run->status = TIRC_ERROR;
        return;
    }
    bool good = run->launch->parameters || api_bind_names(run);
    run->code = api_code_get(run->module, run->launch->no_contract, run->launch->skip,
                             run->launch->tools & TIRC_TOOL_INITCHECK);
    if (run->code && run->code->lowered)
        run->plan = run->code->lowered->plans.items[run->kernel];
    if (good && run->code)
        good = (run->plan                 ? api_bind_script(run)
                : run->launch->parameters ? api_bind_values(run)
                                          : api_bind_ptx(run)) &&
               api_bind_launch(run);
    if (!good || !run->code) {
        tirc_status status = api_status_since(session, first);
        /* the same words as in an earlier call are not said twice */
        if (status == TIRC_OK)
            status = base_diagnostics_errors(session->diagnostics) ? TIRC_ERROR : TIRC_BUG;
        run->status = status;
        return;
    }
    if (run->launch->on_gpu) {
        api_gpu_run(run);
        return;
    }
    print_bridge bridge;
    copy_options(run, &bridge);
    if (run->launch->device && !api_device_bind(run->launch->device, run->code->program, &run->machine)) {
        run->status = TIRC_NO_MEMORY;
        return;
    }
    double start = now();
    bool same = true, all = run->launch->schedule == TIRC_SCHEDULE_ALL;
    if (all)
        same = api_run_schedules(run);
    else
        run->result = api_run_machine(run, &run->machine);
    run->seconds = now() - start;
    api_unpack_storage(run);
    if (!all)
        check_report_findings(session->diagnostics, run->code->ptx, run->result);
    fill_report(run);
    run->status = status_of(run->result);
    if (!same && run->status == TIRC_OK)
        run->status = TIRC_FINDINGS;
}

tirc_status tirc_run(tirc_module *module, const tirc_launch *launch, tirc_report **report) {
    if (!module || !launch || launch->size != sizeof *launch ||
        (launch->argument_count && !launch->arguments) ||
        (launch->parameters && (module->kind != TIRC_KIND_PTX || launch->argument_count)) ||
        (launch->device && !launch->parameters) || (unsigned)launch->schedule > TIRC_SCHEDULE_ALL ||
        (unsigned)launch->numerics > TIRC_NUMERICS_EXACT ||
        (unsigned)launch->approximations > TIRC_APPROXIMATE_H200 || launch->tools > TIRC_TOOL_ALL ||
        (launch->schedule == TIRC_SCHEDULE_ALL && (launch->device || launch->on_gpu)))
        return TIRC_USAGE;
    api_run run = {.module = module, .launch = launch};
    tirc_status status = api_protect(module->session->heap, run_body, &run, &run.status);
    if (report)
        *report = run.report;
    return status;
}

static void inspect_body(void *argument) {
    api_run *run = argument;
    size_t first = base_diagnostics_count(run->module->session->diagnostics);
    run->status = TIRC_ERROR;
    if (!api_find_kernel(run->module, run->launch->kernel, &run->kernel))
        return;
    run->code = api_code_get(run->module, false, NULL, false);
    run->status = api_status_since(run->module->session, first);
    if (!run->code) {
        run->status = run->status == TIRC_OK ? TIRC_BUG : run->status;
        return;
    }
    if (run->code->lowered)
        run->plan = run->code->lowered->plans.items[run->kernel];
    run->report = BASE_NEW(run->module->session->arena, tirc_report);
    run->report->session = run->module->session;
    kernel_statistics(run, &run->report->statistics);
}

tirc_status tirc_inspect(tirc_module *module, const char *kernel, tirc_statistics *statistics) {
    if (!module || !statistics)
        return TIRC_USAGE;
    tirc_launch launch = {.size = sizeof launch, .kernel = kernel};
    api_run run = {.module = module, .launch = &launch};
    tirc_status status = api_protect(module->session->heap, inspect_body, &run, &run.status);
    *statistics = run.report ? run.report->statistics : (tirc_statistics){0};
    return status;
}

void tirc_report_statistics(const tirc_report *report, tirc_statistics *statistics) {
    if (statistics)
        *statistics = report ? report->statistics : (tirc_statistics){0};
}

bool tirc_report_local(const tirc_report *report, size_t index, tirc_local *local) {
    if (!report || !local || !report->plan || index >= report->plan->locals.count)
        return false;
    const lower_local *from = &report->plan->locals.items[index];
    *local = (tirc_local){from->name, from->in_registers, from->reason};
    return true;
}

const char *tirc_async_name(unsigned index) {
    return index < VM_ASYNC_CLASSES ? vm_async_class_name((vm_async_class)index) : NULL;
}
