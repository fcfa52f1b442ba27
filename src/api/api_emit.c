/* SPDX-License-Identifier: Apache-2.0
 * Output: CUDA, PTX and both forms of the IR; and code for the machine. The plan is api_plan.c's. */
#include "api/api_private.h"
#include "cuda/cuda.h"
#include <inttypes.h>
#include <string.h>

#ifdef TIRC_TEST
enum { VERIFY_PASSES = 1 };
#else
enum { VERIFY_PASSES = 0 };
#endif

bool api_lower(base_arena *arena, tirc_module *module, const lower_options *options, lower_result **lowered) {
    lower_options with = *options;
    with.verify = VERIFY_PASSES;
    *lowered = lower_module(arena, module->ir, &with);
    return *lowered != NULL;
}

static bool same_text(const char *a, const char *b) {
    return !strcmp(a ? a : "", b ? b : "");
}

api_code *api_code_get(tirc_module *module, bool no_contract, const char *skip, bool unwritten_stay) {
    base_arena *arena = module->session->arena;
    for (api_code *code = module->codes; code; code = code->next)
        if (code->no_contract == no_contract && code->unwritten_stay == unwritten_stay &&
            same_text(code->skip, skip))
            return code;
    api_code *code = BASE_NEW(arena, api_code);
    code->no_contract = no_contract;
    code->unwritten_stay = unwritten_stay;
    code->skip = skip ? base_arena_string(arena, skip, strlen(skip)) : NULL;
    code->ptx = module->ptx;
    if (module->ir) {
        lower_options options = {.goal = LOWER_FOR_PTX, .skip = code->skip, .unwritten_stay = unwritten_stay};
        if (!api_lower(arena, module, &options, &code->lowered))
            return NULL;
        ptx_build_options build = {
            .contract = !no_contract, .compile = api_compile, .compile_user = module->session};
        code->ptx = ptx_build(arena, code->lowered, &build);
        if (!code->ptx || !ptx_verify(code->ptx, true))
            return NULL;
    }
    code->program = vm_load(arena, code->ptx);
    if (!code->program)
        return NULL;
    code->next = module->codes;
    module->codes = code;
    return code;
}

vm_program *api_code_program(base_arena *arena, api_code *code, const tirc_launch *launch) {
    if (launch->tools & (TIRC_TOOL_INITCHECK | TIRC_TOOL_RACECHECK)) {
        vm_approximations way = (vm_approximations)launch->approximations;
        if (!code->checked[way])
            code->checked[way] = vm_load_checked(arena, code->ptx, way);
        return code->checked[way];
    }
    if (launch->approximations != TIRC_APPROXIMATE_H200)
        return code->program;
    if (!code->program_h200)
        code->program_h200 = vm_load_with(arena, code->ptx, VM_APPROXIMATE_H200);
    return code->program_h200;
}

/* ---- emit ---- */
typedef struct emit_call {
    tirc_module *module;
    tirc_emit_format format;
    const tirc_emit_options *options;
    base_arena *arena; /* of this call: all that is made on the way, and the text */
    base_builder out;
    tirc_sink sink;
    void *user;
    tirc_status status;
} emit_call;

static bool emit_from_ptx(emit_call *call) {
    if (call->format == TIRC_EMIT_PTX) {
        ptx_print_options options = {.origins = true, .lines = call->options->lines};
        ptx_print(call->module->ptx, &options, &call->out);
        return true;
    }
    base_report(call->module->session->diagnostics, BASE_ERROR, "T0802", BASE_NO_SPAN,
                "a PTX module can only be emitted as ptx");
    return false;
}

static bool emit_ptx(emit_call *call, lower_result *lowered) {
    const tirc_emit_options *options = call->options;
    ptx_build_options build = {.target = options->target,
                               .contract = !options->no_contract,
                               .compile = api_compile,
                               .compile_user = call->module->session};
    ptx_module *ptx = ptx_build(call->arena, lowered, &build);
    if (!ptx || !ptx_verify(ptx, true))
        return false;
    ptx_print_options print = {.origins = true, .lines = options->lines};
    ptx_print(ptx, &print, &call->out);
    return true;
}

/* What the target would refuse at the launch is said now. */
static bool check_plans(emit_call *call, const lower_result *lowered) {
    const char *target = call->options->target ? call->options->target : "sm_90a";
    const lower_device *device = lower_device_find(target);
    bool good = true;
    if (!device && (call->format == TIRC_EMIT_PLAN || call->format == TIRC_EMIT_PLAN_JSON)) {
        base_builder known;
        base_builder_start(&known, call->arena);
        for (size_t i = 0; lower_device_at(i); ++i)
            base_builder_format(&known, i ? ", %s" : "%s", lower_device_at(i)->name);
        base_report(call->module->session->diagnostics, BASE_ERROR, "T0464", BASE_NO_SPAN,
                    "no limits are known of the target '%s'; they are of %s", target, known.data);
        return false;
    }
    for (size_t i = 0; device && i < lowered->plans.count; ++i)
        good = lower_plan_check(call->module->session->diagnostics, lowered->plans.items[i], device) && good;
    return good;
}

/* CUDA text for a target that is named: what PTX would refuse for it (T0604) is said here as well, and not
 * left to nvcc. Whatever else the road to PTX has to say does not count. */
static bool check_target(emit_call *call) {
    tirc_module *module = call->module;
    base_diagnostics *all = base_diagnostics_create(call->arena, module->session->sources);
    lower_options options = {.goal = LOWER_FOR_PTX, .diagnostics = all, .skip = call->options->skip};
    lower_result *lowered;
    if (api_lower(call->arena, module, &options, &lowered)) {
        ptx_build_options build = {.target = call->options->target};
        ptx_module *ptx = ptx_build(call->arena, lowered, &build);
        if (ptx)
            ptx_verify(ptx, true);
    }
    bool good = true;
    for (size_t i = 0; i < base_diagnostics_count(all); ++i) {
        const base_diagnostic *d = base_diagnostics_at(all, i);
        if (strcmp(d->code, "T0604") != 0)
            continue;
        base_diagnostic *said =
            base_report(module->session->diagnostics, d->severity, "T0604", d->span, "%s", d->text);
        if (d->help)
            base_help(module->session->diagnostics, said, "%s", d->help);
        good = false;
    }
    return good;
}

static bool emit_from_ir(emit_call *call) {
    tirc_module *module = call->module;
    const tirc_emit_options *options = call->options;
    if (call->format == TIRC_EMIT_IR && !options->dump_after) {
        ir_module_print(module->ir, &call->out);
        return true;
    }
    base_builder dump;
    base_builder_start(&dump, call->arena);
    lower_options lower = {.goal = call->format == TIRC_EMIT_CUDA || call->format == TIRC_EMIT_CUDA_HOST
                                       ? LOWER_FOR_CUDA
                                       : LOWER_FOR_PTX,
                           .skip = options->skip,
                           .dump_after = options->dump_after,
                           .dump = options->dump_after ? &dump : NULL,
                           .sorted_parameters = options->sorted_parameters};
    lower_result *lowered;
    bool done = api_lower(call->arena, module, &lower, &lowered);
    if (options->dump_after) {
        call->out = dump;
        return done;
    }
    if (!done)
        return false;
    if (call->format != TIRC_EMIT_IR && call->format != TIRC_EMIT_FLAT && !check_plans(call, lowered))
        return false;
    cuda_options cuda = {.line_directives = options->lines, .host = call->format == TIRC_EMIT_CUDA_HOST};
    switch (call->format) {
    case TIRC_EMIT_CUDA:
    case TIRC_EMIT_CUDA_HOST:
        if (options->target && !check_target(call))
            return false;
        return cuda_print(lowered, &cuda, &call->out);
    case TIRC_EMIT_PTX:
        return emit_ptx(call, lowered);
    case TIRC_EMIT_IR:
    case TIRC_EMIT_FLAT:
        ir_module_print(lowered->module, &call->out);
        return true;
    case TIRC_EMIT_PLAN:
        for (size_t i = 0; i < lowered->plans.count; ++i)
            api_plan_text(module->session, lowered->plans.items[i], options->target, &call->out);
        return true;
    case TIRC_EMIT_PLAN_SVG:
        api_plan_svg(module->session, lowered, options->target, &call->out);
        return true;
    case TIRC_EMIT_PLAN_JSON:
        for (size_t i = 0; i < lowered->plans.count; ++i)
            api_plan_json(module->session, lowered->plans.items[i], options->target, &call->out);
        return true;
    }
    return false;
}

static void emit_body(void *argument) {
    emit_call *call = argument;
    tirc_session *session = call->module->session;
    size_t first = base_diagnostics_count(session->diagnostics);
    call->arena = base_arena_create(session->heap);
    base_builder_start(&call->out, call->arena);
    bool done = call->module->ptx ? emit_from_ptx(call) : emit_from_ir(call);
    call->status = api_status_since(session, first);
    if (!done && call->status == TIRC_OK)
        call->status = TIRC_BUG;
    if (call->status == TIRC_OK && call->out.size && !call->sink(call->user, call->out.data, call->out.size))
        call->status = TIRC_ERROR;
    base_arena_destroy(call->arena);
}

tirc_status tirc_emit(tirc_module *module, tirc_emit_format format, const tirc_emit_options *options,
                      tirc_sink sink, void *user) {
    static const tirc_emit_options none = {.size = sizeof none};
    if (!module || !sink || (unsigned)format > TIRC_EMIT_PLAN_SVG ||
        (options && options->size != sizeof *options))
        return TIRC_USAGE;
    emit_call call = {
        .module = module, .format = format, .options = options ? options : &none, .sink = sink, .user = user};
    return api_protect(module->session->heap, emit_body, &call, &call.status);
}
