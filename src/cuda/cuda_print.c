/* SPDX-License-Identifier: Apache-2.0
 * The translation unit: what the kernels need, then the kernels. Kernels are written first, to know what they
 * use; nothing unused is emitted. */
#include "cuda/cuda_internal.h"
#include "num/num.h"
#include <string.h>

static const struct {
    const char *text;
    unsigned includes;
} helper_rows[] = {
#define CUDA_HELPER(enumerator, includes, text) {text, includes},
#include "cuda/cuda_helpers.def"
#undef CUDA_HELPER
};

static const struct {
    unsigned bit;
    const char *header;
} headers[] = {{CUDA_FP16, "cuda_fp16.h"}, {CUDA_BF16, "cuda_bf16.h"}, {CUDA_FP8, "cuda_fp8.h"},
               {CUDA_FP6, "cuda_fp6.h"},   {CUDA_FP4, "cuda_fp4.h"},   {CUDA_CONSTANTS, "math_constants.h"},
               {CUDA_STDIO, "stdio.h"},    {CUDA_DRIVER, "cuda.h"}};

static void write_headers(unsigned includes, base_builder *out) {
    size_t before = out->size;
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        if (includes & headers[i].bit)
            base_builder_format(out, "#include <%s>\n", headers[i].header);
    if (out->size != before)
        base_builder_char(out, '\n');
}

/* Whole vectors move in one access, so the type is as aligned as it is large, up to 16 bytes. */
static void write_vector_type(cuda_writer *w, const cuda_vector_type *type, base_builder *out) {
    const char *scalar = cuda_scalar(w, type->dtype);
    unsigned bytes = num_dtype_bytes(type->dtype) * type->lanes, align = bytes & (0 - bytes);
    align = align > 16 ? 16 : align;
    base_builder_format(out, "struct alignas(%u) %s {\n  %s ", align, type->name, scalar);
    if (type->lanes > 4)
        base_builder_format(out, "v[%u]", type->lanes);
    else
        for (unsigned i = 0; i < type->lanes; i++)
            base_builder_format(out, "%s%c", i ? ", " : "", "xyzw"[i]);
    base_builder_string(out, ";\n};\n\n");
}

/* ---- functions that the script brings as text ---- */
typedef struct source_list {
    base_arena *arena;
    base_map *seen; /* by name */
    BASE_VECTOR(const ir_expr *) calls;
} source_list;

static void find_source(void *user, const ir_expr *e) {
    source_list *list = user;
    if (e->op != IR_SOURCE_CALL || base_map_get(list->seen, BASE_KEY(e->args[0])))
        return;
    base_map_set(list->seen, BASE_KEY(e->args[0]), list);
    base_vector_push(list->arena, &list->calls, e);
}

static void find_in_expression(void *user, const ir_expr **e) {
    if (*e)
        ir_expr_visit(*e, find_source, user);
}

static void find_in_statement(void *user, ir_stmt *statement) {
    ir_stmt_expressions(statement, find_in_expression, user);
}

/* As it stands, without the empty lines that a Python string has around it. */
static void write_source(const char *text, base_builder *out) {
    size_t size;
    text += strspn(text, "\n");
    for (size = strlen(text); size > 0 && text[size - 1] == '\n';)
        size--;
    base_builder_add(out, text, size);
    base_builder_string(out, "\n\n");
}

static source_list find_sources(base_arena *arena, const lower_result *lowered) {
    source_list list = {arena, base_map_create(arena), {0}};
    for (size_t i = 0; i < lowered->plans.count; i++)
        ir_stmt_visit(lowered->plans.items[i]->function->body, find_in_statement, &list);
    return list;
}

static cuda_writer write_kernels(const lower_result *lowered, const cuda_options *options, bool reserve_half,
                                 const source_list *sources, base_builder *kernels) {
    base_arena *arena = kernels->arena;
    cuda_writer w = {.arena = arena,
                     .diagnostics = lowered->module->diagnostics,
                     .options = options,
                     .module = lowered->module,
                     .out = kernels,
                     .externs = base_map_create(arena),
                     .reserve_half = reserve_half};
    cuda_scope_open(&w);
    for (size_t i = 0; i < lowered->plans.count; i++)
        cuda_name_take(&w, lowered->plans.items[i]->kernel_name);
    for (size_t i = 0; i < sources->calls.count; i++)
        cuda_name_take(&w, sources->calls.items[i]->args[0]->at.string);
    for (size_t i = 0; i < lowered->plans.count; i++) {
        if (i)
            base_builder_char(kernels, '\n');
        cuda_kernel(&w, lowered->plans.items[i]);
    }
    if (options && options->host) {
        base_builder host;
        base_builder_start(&host, arena);
        w.out = &host;
        for (size_t i = 0; i < lowered->plans.count; i++)
            cuda_host(&w, lowered->plans.items[i]);
        w.out = kernels;
        cuda_host_helpers(&host, kernels);
        base_builder_add(kernels, host.data ? host.data : "", host.size);
    }
    for (unsigned h = 0; h < CUDA_HELPER_COUNT; h++)
        if (w.helpers >> h & 1)
            w.includes |= helper_rows[h].includes;
    return w;
}

bool cuda_print(const lower_result *lowered, const cuda_options *options, base_builder *out) {
    base_diagnostics *diagnostics = lowered->module->diagnostics;
    size_t errors = base_diagnostics_errors(diagnostics);
    base_builder kernels;
    base_builder_start(&kernels, out->arena);
    source_list sources = find_sources(out->arena, lowered);
    cuda_writer w = write_kernels(lowered, options, false, &sources, &kernels);
    if (w.includes & (CUDA_FP16 | CUDA_BF16 | CUDA_FP8 | CUDA_FP6 | CUDA_FP4)) {
        /* Those headers take names that the author may have used. */
        base_builder_start(&kernels, out->arena);
        w = write_kernels(lowered, options, true, &sources, &kernels);
    }
    if (options && options->host)
        base_builder_string(out, "#include <cuda_runtime.h>\n#include <mutex>\n\n");
    write_headers(w.includes, out);
    for (size_t i = 0; i < w.vectors.count; i++)
        write_vector_type(&w, &w.vectors.items[i], out);
    for (unsigned h = 0; h < CUDA_HELPER_COUNT; h++)
        if (w.helpers >> h & 1)
            base_builder_format(out, "%s\n", helper_rows[h].text);
    for (size_t i = 0; i < w.instructions.count; i++)
        base_builder_format(out, "%s\n", w.instructions.items[i].text);
    for (size_t i = 0; i < sources.calls.count; i++)
        write_source(sources.calls.items[i]->args[1]->at.string, out);
    base_builder_add(out, kernels.data ? kernels.data : "", kernels.size);
    return base_diagnostics_errors(diagnostics) == errors;
}
