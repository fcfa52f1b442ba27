/* SPDX-License-Identifier: Apache-2.0
 * Loading: text of any kind to a module, and what the module's kernels look like from outside. */
#include "api/api_private.h"
#include "script/script.h"
#include <string.h>

typedef struct load_call {
    tirc_session *session;
    base_arena *arena; /* of the module that is made */
    const tirc_source *source;
    tirc_module **module;
    tirc_sink sink;
    void *user;
    tirc_status status;
} load_call;

static bool ends_with(const char *name, const char *ending) {
    size_t n = strlen(name), e = strlen(ending);
    return n >= e && !strcmp(name + n - e, ending);
}

static tirc_kind kind_of(const tirc_source *source) {
    if (source->kind != TIRC_KIND_AUTO)
        return source->kind;
    if (ends_with(source->name, ".ptx"))
        return TIRC_KIND_PTX;
    return ends_with(source->name, ".tir") ? TIRC_KIND_IR : TIRC_KIND_SCRIPT;
}

typedef struct add_call {
    tirc_session *session;
    const char *name, *text;
    size_t size;
    uint32_t *file;
} add_call;

static void add_import(void *argument) {
    const add_call *call = argument;
    *call->file = base_sources_add(call->session->sources, call->name, call->text, call->size);
}

/* A file of the sources for what the caller's function found. */
static uint32_t read_import(void *user, const char *path) {
    const load_call *call = user;
    const tirc_source *source = call->source;
    tirc_imported found = {0};
    if (!source->find_import(source->import_user, path, &found))
        return 0;
    uint32_t file = 0;
    if (found.text || !found.text_size) {
        add_call add = {call->session, found.name ? found.name : path, found.text ? found.text : "",
                        found.text_size, &file};
        /* under a run of its own, so that what was found is released whatever happens */
        base_outcome outcome = base_heap_run(call->session->heap, add_import, &add);
        if (source->release_import)
            source->release_import(source->import_user, &found);
        if (outcome != BASE_DONE)
            base_heap_escape(call->session->heap, outcome);
    }
    return file;
}

static script_options options_of(load_call *call) {
    script_options options = {0};
    script_define *defines = BASE_NEW_ARRAY(call->arena, script_define, call->source->define_count);
    for (size_t i = 0; i < call->source->define_count; ++i)
        defines[i] = (script_define){call->source->defines[i].name, call->source->defines[i].text};
    options.defines = defines;
    options.define_count = call->source->define_count;
    if (call->source->find_import) {
        options.read = read_import;
        options.read_user = call;
    }
    return options;
}

static bool source_usable(const tirc_session *session, const tirc_source *source) {
    return session && source && source->size == sizeof *source && source->name &&
           (source->text || !source->text_size) && (source->defines || !source->define_count) &&
           (unsigned)source->kind <= TIRC_KIND_PTX;
}

static uint32_t add_source(const load_call *call) {
    const tirc_source *source = call->source;
    return base_sources_add(call->session->sources, source->name, source->text ? source->text : "",
                            source->text_size);
}

/* ---- kernels as seen from outside ---- */
static bool is_size_variable(const ir_function *function, const ir_var *var) {
    for (size_t i = 0; i < function->parameters.count; ++i) {
        const ir_tensor *tensor = function->parameters.items[i].tensor;
        for (uint32_t d = 0; tensor && d < tensor->type.rank; ++d)
            if ((tensor->type.shape[d]->op == IR_VAR && tensor->type.shape[d]->at.var == var) ||
                (tensor->type.strides && tensor->type.strides[d]->op == IR_VAR &&
                 tensor->type.strides[d]->at.var == var))
                return true;
    }
    return false;
}

static void describe_ir_parameter(base_arena *arena, const ir_function *function, const ir_parameter *from,
                                  tirc_parameter *to) {
    to->name = from->name;
    if (!from->tensor) {
        bool is_map = ir_type_is_tensor_map(from->var->type);
        to->dtype = from->var->type.kind == IR_TYPE_PRIM ? num_dtype_name(from->var->type.dtype)
                    : is_map                             ? "tensormap"
                                                         : "handle";
        to->bytes = from->var->type.kind == IR_TYPE_PRIM
                        ? (uint64_t)num_dtype_bytes(from->var->type.dtype) * from->var->type.lanes
                    : is_map ? 128
                             : 8;
        to->is_size = is_size_variable(function, from->var);
        return;
    }
    const ir_tensor_type *type = &from->tensor->type;
    int64_t *shape = BASE_NEW_ARRAY(arena, int64_t, type->rank + 1);
    to->is_tensor = true;
    to->dtype = num_dtype_name(type->dtype);
    to->rank = type->rank;
    to->shape = shape;
    for (uint32_t d = 0; d < type->rank; ++d)
        if (!ir_is_int(type->shape[d], &shape[d]))
            shape[d] = -1;
    if (type->lanes > 1) /* elements that are vectors: their lanes are the last axis */
        shape[to->rank++] = type->lanes;
}

static void describe_ir(tirc_module *module) {
    base_arena *arena = module->arena;
    size_t count = module->ir->functions.count;
    module->kernels = BASE_NEW_ARRAY(arena, tirc_kernel, count);
    module->kernel_of = BASE_NEW_ARRAY(arena, void *, count);
    module->kernel_count = count;
    for (size_t i = 0; i < count; ++i) {
        ir_function *function = module->ir->functions.items[i];
        size_t parameters = function->parameters.count;
        tirc_parameter *list = BASE_NEW_ARRAY(arena, tirc_parameter, parameters);
        for (size_t p = 0; p < parameters; ++p)
            describe_ir_parameter(arena, function, &function->parameters.items[p], &list[p]);
        module->kernels[i] = (tirc_kernel){.name = function->name,
                                           .parameter_count = parameters,
                                           .parameters = list,
                                           .has_launch = function->launch.present,
                                           .follows = function->launch.follows};
        module->kernel_of[i] = function;
    }
}

static void describe_ptx(tirc_module *module) {
    base_arena *arena = module->arena;
    size_t all = module->ptx->functions.count;
    module->kernels = BASE_NEW_ARRAY(arena, tirc_kernel, all);
    module->kernel_of = BASE_NEW_ARRAY(arena, void *, all);
    for (size_t i = 0; i < all; ++i) {
        ptx_function *function = module->ptx->functions.items[i];
        if (!function->is_entry || !function->has_body)
            continue;
        size_t parameters = function->parameters.count;
        tirc_parameter *list = BASE_NEW_ARRAY(arena, tirc_parameter, parameters);
        for (size_t p = 0; p < parameters; ++p)
            list[p] = (tirc_parameter){.name = function->parameters.items[p]->name,
                                       .bytes = function->parameters.items[p]->bytes};
        module->kernel_of[module->kernel_count] = function;
        module->kernels[module->kernel_count++] =
            (tirc_kernel){.name = function->name, .parameter_count = parameters, .parameters = list};
    }
}

/* ---- the three kinds ---- */
static void keep_entry(ir_module *ir, const char *entry) {
    size_t kept = 0;
    for (size_t i = 0; i < ir->functions.count; ++i)
        if (!strcmp(ir->functions.items[i]->name, entry))
            ir->functions.items[kept++] = ir->functions.items[i];
    ir->functions.count = kept;
}

static void report_missing_entry(tirc_session *session, const char *name, const char *entry,
                                 const ir_module *ir) {
    base_builder names;
    base_builder_start(&names, session->arena);
    for (size_t i = 0; ir && i < ir->functions.count; ++i)
        base_builder_format(&names, "%s`%s`", i ? ", " : "", ir->functions.items[i]->name);
    base_diagnostic *diagnostic = base_report(session->diagnostics, BASE_ERROR, "T0801", BASE_NO_SPAN,
                                              "%s has no kernel `%s`", name, entry);
    if (names.size)
        base_help(session->diagnostics, diagnostic, "it has %s", names.data);
}

static ir_module *load_ir_module(load_call *call, uint32_t file, tirc_kind kind) {
    tirc_session *session = call->session;
    ir_module *ir;
    if (kind == TIRC_KIND_IR) {
        ir = ir_module_parse(call->arena, session->diagnostics, file);
    } else {
        script_options options = options_of(call);
        options.names = base_names_create(call->arena);
        base_arena *tree = base_arena_create(session->heap); /* nothing of the module is in it */
        script_ast *ast = script_parse(tree, session->diagnostics, file, &options);
        ir = script_evaluate(call->arena, session->diagnostics, ast, call->source->entry, &options);
        base_arena_destroy(tree);
    }
    size_t errors = base_diagnostics_errors(session->diagnostics);
    if (!ir || errors > 0)
        return ir;
    if (kind == TIRC_KIND_IR && call->source->entry) {
        ir_module whole = *ir;
        keep_entry(ir, call->source->entry);
        if (!ir->functions.count)
            report_missing_entry(session, call->source->name, call->source->entry, &whole);
    }
    if (!ir_verify(ir, IR_FORM_TENSOR) && base_diagnostics_errors(session->diagnostics) == errors)
        call->status = TIRC_BUG;
    return ir;
}

static void load_module(load_call *call, uint32_t file, size_t first) {
    tirc_session *session = call->session;
    tirc_module *module = BASE_NEW(call->arena, tirc_module);
    module->session = session;
    module->arena = call->arena;
    module->kind = kind_of(call->source);
    call->status = TIRC_OK;
    if (module->kind == TIRC_KIND_PTX) {
        module->ptx = ptx_parse(call->arena, session->diagnostics, file);
        if (module->ptx && api_status_since(session, first) == TIRC_OK)
            (void)(ptx_verify(module->ptx, false) && ptx_verify_groups(module->ptx));
    } else {
        module->ir = load_ir_module(call, file, module->kind);
    }
    if (call->status == TIRC_OK)
        call->status = api_status_since(session, first);
    if (call->status == TIRC_OK && !module->ptx && !module->ir)
        call->status = TIRC_BUG;
    if (call->status != TIRC_OK)
        return;
    if (module->ptx)
        describe_ptx(module);
    else
        describe_ir(module);
    *call->module = module;
}

static void load_body(void *argument) {
    load_call *call = argument;
    size_t first = base_diagnostics_count(call->session->diagnostics);
    uint32_t file = add_source(call);
    call->arena = base_arena_create(call->session->heap);
    load_module(call, file, first);
    if (call->status != TIRC_OK)
        base_arena_destroy(call->arena);
}

tirc_status tirc_load(tirc_session *session, const tirc_source *source, tirc_module **module) {
    if (!source_usable(session, source) || !module)
        return TIRC_USAGE;
    *module = NULL;
    load_call call = {.session = session, .source = source, .module = module};
    return api_protect(session->heap, load_body, &call, &call.status);
}

tirc_status tirc_module_destroy(tirc_module *module) {
    if (!module)
        return TIRC_OK;
    if (module->codes) /* reports, devices and GPUs may hold what was made for the machine */
        return TIRC_USAGE;
    base_arena_destroy(module->arena);
    return TIRC_OK;
}

/* ---- texts of a script itself ---- */
static void format_body(void *argument) {
    load_call *call = argument;
    tirc_session *session = call->session;
    size_t first = base_diagnostics_count(session->diagnostics);
    uint32_t file = add_source(call);
    base_builder out;
    call->arena = base_arena_create(session->heap);
    base_builder_start(&out, call->arena);
    bool done = script_format(call->arena, session->diagnostics, file, &out);
    call->status = api_status_since(session, first);
    if (done && out.size && !call->sink(call->user, out.data, out.size))
        call->status = TIRC_ERROR;
    base_arena_destroy(call->arena);
}

static void dump_body(void *argument) {
    load_call *call = argument;
    tirc_session *session = call->session;
    size_t first = base_diagnostics_count(session->diagnostics);
    uint32_t file = add_source(call);
    call->arena = base_arena_create(session->heap);
    script_options options = options_of(call);
    base_builder out;
    base_builder_start(&out, call->arena);
    script_ast_print(script_parse(call->arena, session->diagnostics, file, &options), &out);
    call->status = api_status_since(session, first);
    if (out.size && !call->sink(call->user, out.data, out.size))
        call->status = TIRC_ERROR;
    base_arena_destroy(call->arena);
}

tirc_status tirc_format_script(tirc_session *session, const tirc_source *source, tirc_sink sink, void *user) {
    if (!source_usable(session, source) || !sink)
        return TIRC_USAGE;
    load_call call = {.session = session, .source = source, .sink = sink, .user = user};
    return api_protect(session->heap, format_body, &call, &call.status);
}

tirc_status tirc_dump_script(tirc_session *session, const tirc_source *source, tirc_sink sink, void *user) {
    if (!source_usable(session, source) || !sink)
        return TIRC_USAGE;
    load_call call = {.session = session, .source = source, .sink = sink, .user = user};
    return api_protect(session->heap, dump_body, &call, &call.status);
}

size_t tirc_kernel_count(const tirc_module *module) {
    return module ? module->kernel_count : 0;
}

const tirc_kernel *tirc_kernel_at(const tirc_module *module, size_t index) {
    return module && index < module->kernel_count ? &module->kernels[index] : NULL;
}
