/* SPDX-License-Identifier: Apache-2.0
 * Output: CUDA, PTX, both forms of the IR, and the launch plan; and code for the machine. */
#include "api/api_private.h"
#include "cuda/cuda.h"
#include <inttypes.h>
#include <string.h>

#ifdef TIRC_TEST
enum { VERIFY_PASSES = 1 };
#else
enum { VERIFY_PASSES = 0 };
#endif

bool api_lower(tirc_module *module, const lower_options *options, lower_result **lowered) {
    lower_options with = *options;
    with.verify = VERIFY_PASSES;
    *lowered = lower_module(module->session->arena, module->ir, &with);
    return *lowered != NULL;
}

static bool same_text(const char *a, const char *b) {
    return !strcmp(a ? a : "", b ? b : "");
}

api_code *api_code_get(tirc_module *module, bool no_contract, const char *skip) {
    base_arena *arena = module->session->arena;
    for (api_code *code = module->codes; code; code = code->next)
        if (code->no_contract == no_contract && same_text(code->skip, skip))
            return code;
    api_code *code = BASE_NEW(arena, api_code);
    code->no_contract = no_contract;
    code->skip = skip ? base_arena_string(arena, skip, strlen(skip)) : NULL;
    code->ptx = module->ptx;
    if (module->ir) {
        lower_options options = {.goal = LOWER_FOR_PTX, .skip = code->skip};
        if (!api_lower(module, &options, &code->lowered))
            return NULL;
        ptx_build_options build = {.contract = !no_contract};
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

/* ---- the plan ---- */
static void dimension_words(const ir_expr *const *dims, base_builder *out) {
    for (int i = 0; i < 3; ++i) {
        base_builder_string(out, i ? ", " : "(");
        ir_expr_print(dims[i], out);
    }
    base_builder_char(out, ')');
}

static void parameter_words(const ir_function *function, base_builder *out) {
    for (size_t i = 0; i < function->parameters.count; ++i) {
        const ir_parameter *parameter = &function->parameters.items[i];
        base_builder_format(out, "  parameter %zu  %-12s ", i, parameter->name);
        if (!parameter->tensor) {
            ir_type_print(parameter->var->type, out);
            base_builder_char(out, '\n');
            continue;
        }
        const ir_tensor_type *type = &parameter->tensor->type;
        base_builder_format(out, "%s (", num_dtype_name(type->dtype));
        for (uint32_t d = 0; d < type->rank; ++d) {
            if (d)
                base_builder_string(out, ", ");
            ir_expr_print(type->shape[d], out);
        }
        base_builder_format(out, ") align %u", type->align);
        if (type->layout) {
            base_builder_string(out, " layout ");
            layout_print(type->layout, out);
        }
        for (uint32_t d = 0; type->strides && d < type->rank; ++d) {
            base_builder_string(out, d ? ", " : " strides (");
            ir_expr_print(type->strides[d], out);
        }
        if (type->strides)
            base_builder_char(out, ')');
        if (type->origin) {
            base_builder_string(out, " origin ");
            ir_expr_print(type->origin, out);
        }
        base_builder_char(out, '\n');
    }
}

static void plan_text(const lower_plan *plan, base_builder *out) {
    const ir_launch *launch = &plan->function->launch;
    base_builder_format(out, "kernel %s\n", plan->kernel_name);
    if (launch->present) {
        base_builder_string(out, "  grid   ");
        dimension_words(launch->grid, out);
        base_builder_string(out, "\n  block  ");
        dimension_words(launch->block, out);
        base_builder_char(out, '\n');
        if (launch->cluster[0]) {
            base_builder_string(out, "  cluster ");
            dimension_words(launch->cluster, out);
            base_builder_char(out, '\n');
        }
    } else {
        base_builder_string(out, "  no device entry: --grid and --block say how to launch it\n");
    }
    parameter_words(plan->function, out);
    base_builder_format(out, "  shared memory  static %" PRIu64 " bytes, dynamic %" PRIu64 " bytes\n",
                        plan->static_smem_bytes, plan->dynamic_smem_bytes);
    for (size_t i = 0; i < plan->shared.count; ++i) {
        const lower_shared *shared = &plan->shared.items[i];
        base_builder_format(out, "    %-7s offset %6" PRIu64 "  %8" PRIu64 " bytes  align %4" PRIu64 "  %s\n",
                            shared->dynamic ? "dynamic" : "static", shared->offset, shared->bytes,
                            shared->align, shared->name);
    }
    for (size_t i = 0; i < plan->locals.count; ++i)
        base_builder_format(out, "  local %-12s %s: %s\n", plan->locals.items[i].name,
                            plan->locals.items[i].in_registers ? "registers" : ".local memory",
                            plan->locals.items[i].reason);
}

static void json_string(base_builder *out, const char *text) {
    base_builder_char(out, '"');
    base_builder_json(out, text, strlen(text));
    base_builder_char(out, '"');
}

/* An integer where it is constant, else the expression as a string. */
static void json_expression(base_arena *arena, const ir_expr *e, base_builder *out) {
    int64_t value;
    if (ir_is_int(e, &value)) {
        base_builder_format(out, "%" PRId64, value);
        return;
    }
    base_builder text;
    base_builder_start(&text, arena);
    ir_expr_print(e, &text);
    json_string(out, text.data);
}

static void json_dimensions(base_arena *arena, const char *key, const ir_expr *const *dims,
                            base_builder *out) {
    base_builder_format(out, ",\"%s\":[", key);
    for (int i = 0; i < 3; ++i) {
        if (i)
            base_builder_char(out, ',');
        json_expression(arena, dims[i], out);
    }
    base_builder_char(out, ']');
}

static void json_parameters(base_arena *arena, const ir_function *function, base_builder *out) {
    base_builder_string(out, ",\"parameters\":[");
    for (size_t i = 0; i < function->parameters.count; ++i) {
        const ir_parameter *parameter = &function->parameters.items[i];
        base_builder_string(out, i ? ",{\"name\":" : "{\"name\":");
        json_string(out, parameter->name);
        if (parameter->tensor) {
            const ir_tensor_type *type = &parameter->tensor->type;
            base_builder_format(out, ",\"dtype\":\"%s\",\"align\":%u,\"shape\":[",
                                num_dtype_name(type->dtype), type->align);
            for (uint32_t d = 0; d < type->rank; ++d) {
                if (d)
                    base_builder_char(out, ',');
                json_expression(arena, type->shape[d], out);
            }
            base_builder_char(out, ']');
            for (uint32_t d = 0; type->strides && d < type->rank; ++d) {
                base_builder_string(out, d ? "," : ",\"strides\":[");
                json_expression(arena, type->strides[d], out);
            }
            if (type->strides)
                base_builder_char(out, ']');
            if (type->origin) {
                base_builder_string(out, ",\"origin\":");
                json_expression(arena, type->origin, out);
            }
        } else {
            base_builder_string(out, ",\"dtype\":\"");
            ir_type_print(parameter->var->type, out);
            base_builder_char(out, '"');
        }
        base_builder_char(out, '}');
    }
    base_builder_char(out, ']');
}

static void plan_json(base_arena *arena, const lower_plan *plan, base_builder *out) {
    const ir_launch *launch = &plan->function->launch;
    base_builder_string(out, "{\"kernel\":");
    json_string(out, plan->kernel_name);
    if (launch->present) {
        json_dimensions(arena, "grid", launch->grid, out);
        json_dimensions(arena, "block", launch->block, out);
        if (launch->cluster[0])
            json_dimensions(arena, "cluster", launch->cluster, out);
    }
    json_parameters(arena, plan->function, out);
    base_builder_format(out,
                        ",\"static_smem_bytes\":%" PRIu64 ",\"dynamic_smem_bytes\":%" PRIu64 ",\"shared\":[",
                        plan->static_smem_bytes, plan->dynamic_smem_bytes);
    for (size_t i = 0; i < plan->shared.count; ++i) {
        const lower_shared *shared = &plan->shared.items[i];
        base_builder_string(out, i ? ",{\"name\":" : "{\"name\":");
        json_string(out, shared->name);
        base_builder_format(
            out, ",\"dynamic\":%s,\"offset\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"align\":%" PRIu64 "}",
            shared->dynamic ? "true" : "false", shared->offset, shared->bytes, shared->align);
    }
    base_builder_string(out, "],\"locals\":[");
    for (size_t i = 0; i < plan->locals.count; ++i) {
        base_builder_string(out, i ? ",{\"name\":" : "{\"name\":");
        json_string(out, plan->locals.items[i].name);
        base_builder_format(
            out, ",\"in_registers\":%s,\"reason\":", plan->locals.items[i].in_registers ? "true" : "false");
        json_string(out, plan->locals.items[i].reason);
        base_builder_char(out, '}');
    }
    base_builder_string(out, "]}\n");
}

/* ---- emit ---- */
typedef struct emit_call {
    tirc_module *module;
    tirc_emit_format format;
    const tirc_emit_options *options;
    base_builder out;
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
    base_arena *arena = call->module->session->arena;
    const tirc_emit_options *options = call->options;
    ptx_build_options build = {.target = options->target, .contract = !options->no_contract};
    ptx_module *ptx = ptx_build(arena, lowered, &build);
    if (!ptx || !ptx_verify(ptx, true))
        return false;
    ptx_print_options print = {.origins = true, .lines = options->lines};
    ptx_print(ptx, &print, &call->out);
    return true;
}

static bool emit_from_ir(emit_call *call) {
    tirc_module *module = call->module;
    const tirc_emit_options *options = call->options;
    if (call->format == TIRC_EMIT_IR && !options->dump_after) {
        ir_module_print(module->ir, &call->out);
        return true;
    }
    base_builder dump;
    base_builder_start(&dump, module->session->arena);
    lower_options lower = {.goal = call->format == TIRC_EMIT_CUDA ? LOWER_FOR_CUDA : LOWER_FOR_PTX,
                           .skip = options->skip,
                           .dump_after = options->dump_after,
                           .dump = options->dump_after ? &dump : NULL,
                           .sorted_parameters = options->sorted_parameters};
    lower_result *lowered;
    bool done = api_lower(module, &lower, &lowered);
    if (options->dump_after) {
        call->out = dump;
        return done;
    }
    if (!done)
        return false;
    cuda_options cuda = {.line_directives = options->lines};
    switch (call->format) {
    case TIRC_EMIT_CUDA:
        return cuda_print(lowered, &cuda, &call->out);
    case TIRC_EMIT_PTX:
        return emit_ptx(call, lowered);
    case TIRC_EMIT_IR:
    case TIRC_EMIT_FLAT:
        ir_module_print(lowered->module, &call->out);
        return true;
    case TIRC_EMIT_PLAN:
        for (size_t i = 0; i < lowered->plans.count; ++i)
            plan_text(lowered->plans.items[i], &call->out);
        return true;
    case TIRC_EMIT_PLAN_JSON:
        for (size_t i = 0; i < lowered->plans.count; ++i)
            plan_json(module->session->arena, lowered->plans.items[i], &call->out);
        return true;
    }
    return false;
}

static void emit_body(void *argument) {
    emit_call *call = argument;
    tirc_session *session = call->module->session;
    size_t first = base_diagnostics_count(session->diagnostics);
    base_builder_start(&call->out, session->arena);
    bool done = call->module->ptx ? emit_from_ptx(call) : emit_from_ir(call);
    call->status = api_status_since(session, first);
    if (!done && call->status == TIRC_OK)
        call->status = TIRC_BUG;
}

tirc_status tirc_emit(tirc_module *module, tirc_emit_format format, const tirc_emit_options *options,
                      tirc_sink sink, void *user) {
    static const tirc_emit_options none = {.size = sizeof none};
    if (!module || !sink || (unsigned)format > TIRC_EMIT_PLAN_JSON ||
        (options && options->size != sizeof *options))
        return TIRC_USAGE;
    emit_call call = {.module = module, .format = format, .options = options ? options : &none};
    tirc_status status = api_protect(module->session->heap, emit_body, &call, &call.status);
    if (status == TIRC_OK && call.out.size && !sink(user, call.out.data, call.out.size))
        return TIRC_ERROR;
    return status;
}
