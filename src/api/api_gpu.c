/* SPDX-License-Identifier: Apache-2.0
 * The GPU through the public interface: runs with copies, and handles for programs that keep data on the
 * device. */
#include "api/api_gpu.h"
#include <stdlib.h>
#include <string.h>
#include "cuda/cuda.h"
#include "gpu/gpu.h"

struct tirc_gpu {
    tirc_session *session;
    gpu_device *device;
};
struct tirc_gpu_kernel {
    tirc_gpu *gpu;
    tirc_module *module;
    size_t kernel; /* in module->kernels */
    gpu_code *code;
};

/* A problem of the gpu module as a diagnostic. What the machine lacks is incomplete, what the caller did an
 * error. */
static tirc_status report_with(tirc_session *session, const gpu_problem *problem, const lower_plan *plan) {
    static const char *const lacking[] = {"T0910", "T0911", "T0912", "T0913", "T0920", "T0923"};
    base_diagnostic *diagnostic =
        base_report(session->diagnostics, BASE_ERROR, problem->code, BASE_NO_SPAN, "%s", problem->text);
    if (problem->help[0])
        base_help(session->diagnostics, diagnostic, "%s", problem->help);
    if (plan && !strcmp(problem->code, "T0916"))
        lower_plan_note_largest(session->diagnostics, diagnostic, plan);
    for (size_t i = 0; i < sizeof lacking / sizeof lacking[0]; ++i)
        if (!strcmp(problem->code, lacking[i]))
            return TIRC_INCOMPLETE;
    return TIRC_ERROR;
}

static tirc_status report(tirc_session *session, const gpu_problem *problem) {
    return report_with(session, problem, NULL);
}

/* ---- code for a device ---- */
static const char *target_of(base_arena *arena, const gpu_facts *facts) {
    return base_arena_format(arena, "sm_%d%d%s", facts->major, facts->minor, facts->major >= 9 ? "a" : "");
}

/* The kernel's CUDA text through NVRTC; false after diagnostics. */
static bool compile_text(tirc_module *module, const gpu_facts *facts, const tirc_emit_options *with,
                         base_builder *out, tirc_status *status) {
    tirc_session *session = module->session;
    base_builder text;
    lower_options lower = {.goal = LOWER_FOR_CUDA, .skip = with->skip};
    lower_result *lowered;
    cuda_options cuda = {.line_directives = with->lines};
    gpu_problem problem;
    const char *ptx;
    size_t size;
    if (!module->ir) {
        base_diagnostic *d = base_report(session->diagnostics, BASE_ERROR, "T0920", BASE_NO_SPAN,
                                         "NVRTC compiles CUDA text, and this is PTX already");
        base_help(session->diagnostics, d, "leave out --via nvrtc");
        return false;
    }
    base_builder_start(&text, session->arena);
    if (!api_lower(session->arena, module, &lower, &lowered) || !cuda_print(lowered, &cuda, &text))
        return false;
    base_builder_start(out, session->arena);
    if (!gpu_nvrtc(session->arena, text.data, with->target ? with->target : target_of(session->arena, facts),
                   !with->no_contract, &ptx, &size, &problem)) {
        *status = report(session, &problem);
        return false;
    }
    base_builder_add(out, ptx, size);
    return true;
}

/* The kernel's PTX as text; false after diagnostics. */
static bool print_code(tirc_module *module, const gpu_facts *facts, const tirc_emit_options *with,
                       base_builder *out, tirc_status *status) {
    base_arena *arena = module->session->arena;
    bool no_contract = with && with->no_contract;
    const char *skip = with ? with->skip : NULL;
    ptx_module *ptx = module->ptx;
    if (with && with->via_nvrtc)
        return compile_text(module, facts, with, out, status);
    if (module->ir) {
        api_code *code = api_code_get(module, no_contract, skip, false);
        ptx_build_options build = {.target = with && with->target ? with->target : target_of(arena, facts),
                                   .contract = !no_contract,
                                   .compile = api_compile,
                                   .compile_user = module->session};
        ptx = code ? ptx_build(arena, code->lowered, &build) : NULL;
        if (!ptx || !ptx_verify(ptx, true))
            return false;
    }
    ptx_print_options options = {.lines = with && with->lines};
    base_builder_start(out, arena);
    ptx_print(ptx, &options, out);
    return true;
}

/* ---- a run with copies ---- */
typedef struct gpu_run {
    api_run *run;
    gpu_device *device;
    uint64_t *addresses; /* per buffer */
    void **values;       /* per argument */
    gpu_problem problem;
} gpu_run;

static bool copy_in(gpu_run *g) {
    vm_launch *machine = &g->run->machine;
    for (size_t i = 0; i < machine->buffer_count; ++i) {
        const vm_buffer *buffer = &g->run->buffers[i];
        if (!gpu_allocate(g->device, buffer->bytes, &g->addresses[i], &g->problem) ||
            !gpu_write(g->device, g->addresses[i], buffer->data, buffer->bytes, &g->problem))
            return false;
    }
    return true;
}

static bool copy_out(gpu_run *g) {
    vm_launch *machine = &g->run->machine;
    for (size_t i = 0; i < machine->buffer_count; ++i) {
        const vm_buffer *buffer = &g->run->buffers[i];
        if (!buffer->read_only &&
            !gpu_read(g->device, buffer->data, g->addresses[i], buffer->bytes, &g->problem))
            return false;
    }
    return true;
}

/* The driver's map of a tensor that is on the device. */
static bool place_map(gpu_run *g, size_t index) {
    const vm_argument *argument = &g->run->arguments[index];
    vm_tensor_map map;
    vm_tensor_map_read(argument->bytes, &map);
    map.address += g->addresses[argument->buffer] + argument->byte_offset;
    g->values[index] = base_arena_allocate(g->run->module->session->arena, VM_TENSOR_MAP_BYTES);
    return gpu_tensor_map(g->device, &map, g->values[index], &g->problem);
}

static bool place_values(gpu_run *g) {
    base_arena *arena = g->run->module->session->arena;
    for (size_t i = 0; i < g->run->machine.argument_count; ++i) {
        const vm_argument *argument = &g->run->arguments[i];
        if (argument->kind == VM_ARGUMENT_TENSOR_MAP) {
            if (!place_map(g, i))
                return false;
        } else if (argument->kind == VM_ARGUMENT_BYTES) {
            g->values[i] = (void *)(uintptr_t)argument->bytes;
        } else {
            uint64_t address = g->addresses[argument->buffer] + argument->byte_offset;
            g->values[i] = base_arena_copy(arena, &address, sizeof address);
        }
    }
    return true;
}

static int order(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static bool time_launches(gpu_run *g, gpu_code *code, const gpu_launch *launch, tirc_statistics *numbers) {
    const tirc_launch *asked = g->run->launch;
    if (!asked->repeat)
        return true;
    float *times = BASE_NEW_ARRAY(g->run->module->session->arena, float, asked->repeat);
    if (!gpu_time(code, launch, asked->warm_up, asked->repeat, times, &g->problem))
        return false;
    qsort(times, asked->repeat, sizeof *times, order);
    numbers->launches = asked->repeat;
    numbers->seconds = 1e-3 * (double)times[asked->repeat / 2];
    numbers->seconds_least = 1e-3 * (double)times[0];
    numbers->seconds_most = 1e-3 * (double)times[asked->repeat - 1];
    return true;
}

/* What the kernel asks for, and what the caller says instead. */
static gpu_launch launch_of(const api_run *run, void *const *values) {
    const vm_launch *machine = &run->machine;
    const tirc_launch *asked = run->launch;
    const ir_launch *planned =
        run->plan && run->plan->function->launch.present ? &run->plan->function->launch : NULL;
    gpu_launch launch = {.dynamic_shared_bytes = machine->dynamic_shared_bytes,
                         .parameters = values,
                         .cooperative = asked->cooperative,
                         .programmatic = asked->programmatic,
                         .has_priority = asked->has_priority,
                         .priority = asked->priority,
                         .has_carveout = asked->has_carveout,
                         .carveout = asked->carveout};
    if (planned) {
        launch.cooperative |= planned->cooperative;
        launch.programmatic |= planned->programmatic;
        if (!launch.has_priority) {
            launch.has_priority = planned->has_priority;
            launch.priority = planned->priority;
        }
        if (!launch.has_carveout) {
            launch.has_carveout = planned->has_carveout;
            launch.carveout = planned->carveout;
        }
        launch.cluster_policy = (int32_t)planned->cluster_policy;
        launch.sync_domain = (int32_t)planned->sync_domain;
        launch.has_domain_map = planned->has_domain_map;
        for (int i = 0; i < 2; ++i)
            launch.domain_map[i] = (uint8_t)planned->domain_map[i];
        for (int i = 0; i < 3; ++i)
            launch.preferred[i] = (uint32_t)planned->preferred[i];
    }
    uint64_t ctas = (uint64_t)machine->cluster[0] * machine->cluster[1] * machine->cluster[2],
             preferred = (uint64_t)launch.preferred[0] * launch.preferred[1] * launch.preferred[2];
    ctas = preferred > ctas ? preferred : ctas;
    launch.non_portable_cluster =
        planned && planned->cluster_size == IR_CLUSTER_SIZE_ANY
            ? true
            : ctas > 8 && !(planned && planned->cluster_size == IR_CLUSTER_SIZE_PORTABLE);
    for (int i = 0; i < 3; ++i) {
        launch.grid[i] = machine->grid[i];
        launch.block[i] = machine->block[i];
        launch.cluster[i] = machine->cluster[i];
    }
    return launch;
}

static bool run_on(gpu_run *g, const base_builder *ptx, tirc_statistics *numbers) {
    gpu_code *code = gpu_load(g->device, ptx->data, ptx->size, api_machine_kernel(g->run), &g->problem);
    if (!code || !copy_in(g))
        return false;
    if (!place_values(g))
        return false;
    gpu_launch launch = launch_of(g->run, g->values);
    if (!gpu_start(code, &launch, &g->problem) || !gpu_wait(g->device, NULL, &g->problem) || !copy_out(g))
        return false;
    const gpu_code_facts *facts = gpu_code_describe(code);
    numbers->gpu_registers = (uint32_t)facts->registers;
    numbers->static_shared_bytes = facts->shared_bytes;
    numbers->local_bytes = facts->local_bytes;
    numbers->dynamic_shared_bytes = launch.dynamic_shared_bytes;
    numbers->ctas = (uint64_t)launch.grid[0] * launch.grid[1] * launch.grid[2];
    return time_launches(g, code, &launch, numbers);
}

static gpu_device *session_gpu(tirc_session *session, uint32_t index, gpu_problem *problem) {
    for (api_gpu *held = session->gpus; held; held = held->next)
        if (held->index == index)
            return held->device;
    gpu_device *device = gpu_open(session->arena, (int)index, problem);
    if (!device)
        return NULL;
    api_gpu *held = BASE_NEW(session->arena, api_gpu);
    *held = (api_gpu){index, device, session->gpus};
    session->gpus = held;
    return device;
}

void api_gpu_run(api_run *run) {
    base_arena *arena = run->module->session->arena;
    gpu_run g = {.run = run};
    g.device = session_gpu(run->module->session, run->launch->gpu_index, &g.problem);
    if (!g.device) {
        run->status = report(run->module->session, &g.problem);
        return;
    }
    g.addresses = BASE_NEW_ARRAY(arena, uint64_t, run->machine.buffer_count + 1);
    g.values = BASE_NEW_ARRAY(arena, void *, run->machine.argument_count + 1);
    tirc_emit_options options = {.no_contract = run->launch->no_contract,
                                 .skip = run->launch->skip,
                                 .via_nvrtc = run->launch->via_nvrtc};
    tirc_statistics numbers = {0};
    base_builder ptx;
    run->status = TIRC_ERROR;
    if (print_code(run->module, gpu_describe(g.device), &options, &ptx, &run->status)) {
        if (run_on(&g, &ptx, &numbers)) {
            api_unpack_storage(run);
            run->report = BASE_NEW(arena, tirc_report);
            run->report->session = run->module->session;
            run->report->plan = run->plan;
            run->report->statistics = numbers;
            run->report->statistics.gpu =
                base_arena_string(arena, gpu_describe(g.device)->name, strlen(gpu_describe(g.device)->name));
            run->status = TIRC_OK;
        } else {
            run->status = report_with(run->module->session, &g.problem, run->plan);
        }
    }
    for (size_t i = 0; i < run->machine.buffer_count; ++i)
        gpu_free(g.device, g.addresses[i]);
}

/* ---- handles ---- */
tirc_status tirc_gpu_count(tirc_session *session, int32_t *count) {
    gpu_problem problem;
    int devices = 0;
    if (!session || !count)
        return TIRC_USAGE;
    bool good = gpu_count(&devices, &problem);
    *count = devices;
    return good ? TIRC_OK : report(session, &problem);
}

typedef struct gpu_call {
    tirc_session *session;
    tirc_gpu *gpu;
    tirc_gpu_kernel *kernel;
    tirc_module *module;
    const char *name;
    const tirc_emit_options *options;
    const tirc_argument *arguments;
    size_t count;
    uint32_t index;
    void *stream;
    tirc_status status;
} gpu_call;

static void open_body(void *argument) {
    gpu_call *call = argument;
    gpu_problem problem;
    gpu_device *device = gpu_open(call->session->arena, (int)call->index, &problem);
    if (!device) {
        call->status = report(call->session, &problem);
        return;
    }
    call->gpu = BASE_NEW(call->session->arena, tirc_gpu);
    *call->gpu = (tirc_gpu){call->session, device};
    call->status = TIRC_OK;
}

tirc_status tirc_gpu_open(tirc_session *session, uint32_t index, tirc_gpu **gpu) {
    if (!session || !gpu)
        return TIRC_USAGE;
    gpu_call call = {.session = session, .index = index};
    tirc_status status = api_protect(session->heap, open_body, &call, &call.status);
    *gpu = call.gpu;
    return status;
}

void tirc_gpu_close(tirc_gpu *gpu) {
    if (gpu && gpu->device)
        gpu_close(gpu->device);
    if (gpu)
        gpu->device = NULL;
}

void tirc_gpu_describe(const tirc_gpu *gpu, tirc_gpu_facts *facts) {
    if (!facts)
        return;
    *facts = (tirc_gpu_facts){0};
    if (!gpu || !gpu->device)
        return;
    const gpu_facts *from = gpu_describe(gpu->device);
    *facts = (tirc_gpu_facts){.name = from->name,
                              .major = from->major,
                              .minor = from->minor,
                              .multiprocessors = from->multiprocessors,
                              .driver_version = from->driver_version,
                              .memory_bytes = from->memory_bytes,
                              .shared_default = from->shared_default,
                              .shared_opt_in = from->shared_opt_in};
}

static void load_body(void *argument) {
    gpu_call *call = argument;
    tirc_session *session = call->gpu->session;
    size_t first = base_diagnostics_count(session->diagnostics), index;
    base_builder ptx;
    call->status = TIRC_ERROR;
    if (!api_find_kernel(call->module, call->name, &index))
        return;
    if (!print_code(call->module, gpu_describe(call->gpu->device), call->options, &ptx, &call->status)) {
        tirc_status status = api_status_since(session, first);
        if (call->status == TIRC_ERROR)
            call->status = status == TIRC_OK ? TIRC_BUG : status;
        return;
    }
    gpu_problem problem;
    api_run names = {.module = call->module, .kernel = index};
    api_code *code = call->module->ir
                         ? api_code_get(call->module, call->options && call->options->no_contract,
                                        call->options ? call->options->skip : NULL, false)
                         : NULL;
    if (code)
        names.plan = code->lowered->plans.items[index];
    gpu_code *loaded = gpu_load(call->gpu->device, ptx.data, ptx.size, api_machine_kernel(&names), &problem);
    if (!loaded) {
        call->status = report(session, &problem);
        return;
    }
    call->kernel = BASE_NEW(session->arena, tirc_gpu_kernel);
    *call->kernel = (tirc_gpu_kernel){call->gpu, call->module, index, loaded};
    call->status = TIRC_OK;
}

tirc_status tirc_gpu_load(tirc_gpu *gpu, tirc_module *module, const char *kernel,
                          const tirc_emit_options *options, tirc_gpu_kernel **out) {
    if (!gpu || !gpu->device || !module || !out || module->session != gpu->session ||
        (options && options->size != sizeof *options))
        return TIRC_USAGE;
    gpu_call call = {.gpu = gpu, .module = module, .name = kernel, .options = options};
    tirc_status status = api_protect(gpu->session->heap, load_body, &call, &call.status);
    *out = call.kernel;
    return status;
}

tirc_status tirc_gpu_allocate(tirc_gpu *gpu, uint64_t bytes, uint64_t *address) {
    gpu_problem problem;
    if (!gpu || !gpu->device || !address)
        return TIRC_USAGE;
    return gpu_allocate(gpu->device, bytes, address, &problem) ? TIRC_OK : report(gpu->session, &problem);
}

void tirc_gpu_free(tirc_gpu *gpu, uint64_t address) {
    if (gpu && gpu->device)
        gpu_free(gpu->device, address);
}

tirc_status tirc_gpu_write(tirc_gpu *gpu, uint64_t address, const void *from, uint64_t bytes) {
    gpu_problem problem;
    if (!gpu || !gpu->device || (bytes && !from))
        return TIRC_USAGE;
    return gpu_write(gpu->device, address, from, bytes, &problem) ? TIRC_OK : report(gpu->session, &problem);
}

tirc_status tirc_gpu_read(tirc_gpu *gpu, void *to, uint64_t address, uint64_t bytes) {
    gpu_problem problem;
    if (!gpu || !gpu->device || (bytes && !to))
        return TIRC_USAGE;
    return gpu_read(gpu->device, to, address, bytes, &problem) ? TIRC_OK : report(gpu->session, &problem);
}

static gpu_launch copied(const tirc_gpu_launch *launch) {
    gpu_launch with = {.dynamic_shared_bytes = launch->dynamic_shared_bytes,
                       .parameters = launch->parameters,
                       .stream = launch->stream,
                       .cooperative = launch->cooperative,
                       .programmatic = launch->programmatic,
                       .non_portable_cluster = launch->non_portable_cluster,
                       .has_priority = launch->has_priority,
                       .priority = launch->priority,
                       .has_carveout = launch->has_carveout,
                       .carveout = launch->carveout,
                       .cluster_policy = launch->cluster_policy,
                       .sync_domain = launch->sync_domain,
                       .has_domain_map = launch->has_sync_domain_map};
    for (int i = 0; i < 2; ++i)
        with.domain_map[i] = launch->sync_domain_map[i];
    for (int i = 0; i < 3; ++i) {
        with.grid[i] = launch->grid[i];
        with.block[i] = launch->block[i];
        with.cluster[i] = launch->cluster[i];
        with.preferred[i] = launch->preferred_cluster[i];
    }
    return with;
}

static bool launch_usable(const tirc_gpu_kernel *kernel, const tirc_gpu_launch *launch) {
    return kernel && kernel->gpu->device && launch && launch->size == sizeof *launch;
}

tirc_status tirc_gpu_start(tirc_gpu_kernel *kernel, const tirc_gpu_launch *launch) {
    gpu_problem problem;
    if (!launch_usable(kernel, launch))
        return TIRC_USAGE;
    gpu_launch with = copied(launch);
    return gpu_start(kernel->code, &with, &problem) ? TIRC_OK : report(kernel->gpu->session, &problem);
}

tirc_status tirc_gpu_time(tirc_gpu_kernel *kernel, const tirc_gpu_launch *launch, uint32_t warm_up,
                          uint32_t count, float *milliseconds) {
    gpu_problem problem;
    if (!launch_usable(kernel, launch) || (count && !milliseconds))
        return TIRC_USAGE;
    gpu_launch with = copied(launch);
    return gpu_time(kernel->code, &with, warm_up, count, milliseconds, &problem)
               ? TIRC_OK
               : report(kernel->gpu->session, &problem);
}

tirc_status tirc_gpu_wait(tirc_gpu *gpu, void *stream) {
    gpu_problem problem;
    if (!gpu || !gpu->device)
        return TIRC_USAGE;
    return gpu_wait(gpu->device, stream, &problem) ? TIRC_OK : report(gpu->session, &problem);
}

/* Tensors lie on the device: their addresses are passed on, and layouts are taken as they are. */
static void call_body(void *argument) {
    gpu_call *call = argument;
    tirc_session *session = call->kernel->gpu->session;
    size_t first = base_diagnostics_count(session->diagnostics);
    tirc_launch launch = {.size = sizeof launch, .arguments = call->arguments, .argument_count = call->count};
    api_run run = {.module = call->kernel->module, .launch = &launch, .kernel = call->kernel->kernel};
    run.device_data = true;
    call->status = TIRC_ERROR;
    run.code = api_code_get(run.module, false, NULL, false);
    if (run.code && run.code->lowered)
        run.plan = run.code->lowered->plans.items[run.kernel];
    if (!run.code || !api_bind_names(&run) || !(run.plan ? api_bind_script(&run) : api_bind_ptx(&run)) ||
        !api_bind_launch(&run)) {
        tirc_status status = api_status_since(session, first);
        call->status = status == TIRC_OK ? TIRC_BUG : status;
        return;
    }
    gpu_run g = {.run = &run, .device = call->kernel->gpu->device};
    g.addresses = BASE_NEW_ARRAY(session->arena, uint64_t, run.machine.buffer_count + 1);
    g.values = BASE_NEW_ARRAY(session->arena, void *, run.machine.argument_count + 1);
    for (size_t i = 0; i < run.machine.buffer_count; ++i)
        g.addresses[i] = (uint64_t)(uintptr_t)run.buffers[i].data;
    if (!place_values(&g)) {
        call->status = report(session, &g.problem);
        return;
    }
    gpu_launch with = launch_of(&run, g.values);
    with.stream = call->stream;
    call->status = gpu_start(call->kernel->code, &with, &g.problem)
                       ? TIRC_OK
                       : report_with(session, &g.problem, run.plan);
}

tirc_status tirc_gpu_call(tirc_gpu_kernel *kernel, const tirc_argument *arguments, size_t count,
                          void *stream) {
    if (!kernel || !kernel->gpu->device || (count && !arguments))
        return TIRC_USAGE;
    gpu_call call = {.kernel = kernel, .arguments = arguments, .count = count, .stream = stream};
    return api_protect(kernel->gpu->session->heap, call_body, &call, &call.status);
}
