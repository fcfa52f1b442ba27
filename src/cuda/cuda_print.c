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
} headers[] = {
    {CUDA_FP16, "cuda_fp16.h"}, {CUDA_BF16, "cuda_bf16.h"}, {CUDA_FP8, "cuda_fp8.h"},
    {CUDA_FP6, "cuda_fp6.h"},   {CUDA_FP4, "cuda_fp4.h"},   {CUDA_CONSTANTS, "math_constants.h"},
    {CUDA_STDIO, "stdio.h"},    {CUDA_DRIVER, "cuda.h"},    {CUDA_COOPERATIVE, "cooperative_groups.h"}};

void cuda_write_headers(unsigned includes, base_builder *out) {
    size_t before = out->size;
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        if (includes & headers[i].bit)
            base_builder_format(out, "#include <%s>\n", headers[i].header);
    if (includes & CUDA_STDINT) /* NVRTC knows these names without it */
        base_builder_string(out, "#ifndef __CUDACC_RTC__\n#include <stdint.h>\n#endif\n");
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

void cuda_write_vector_types(cuda_writer *w, base_builder *out) {
    for (size_t i = 0; i < w->vectors.count; i++)
        write_vector_type(w, &w->vectors.items[i], out);
}

static cuda_writer write_kernels(const lower_result *lowered, const cuda_options *options, bool reserve_half,
                                 const cuda_sources *sources, base_builder *kernels) {
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
        cuda_name_take(&w, sources->calls.items[i].call->args[0]->at.string);
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
    cuda_sources sources = cuda_sources_find(out->arena, lowered);
    cuda_writer w = write_kernels(lowered, options, false, &sources, &kernels);
    if (w.took_half && w.includes & (CUDA_FP16 | CUDA_BF16 | CUDA_FP8 | CUDA_FP6 | CUDA_FP4)) {
        /* Those headers take names that the author may have used. */
        base_builder_start(&kernels, out->arena);
        w = write_kernels(lowered, options, true, &sources, &kernels);
    }
    if (options && options->host)
        base_builder_string(out, "#include <cuda_runtime.h>\n#include <mutex>\n\n");
    cuda_write_headers(w.includes | cuda_sources_includes(&sources), out);
    cuda_write_vector_types(&w, out);
    for (unsigned h = 0; h < CUDA_HELPER_COUNT; h++)
        if (w.helpers >> h & 1)
            base_builder_format(out, "%s\n", helper_rows[h].text);
    for (size_t i = 0; i < w.instructions.count; i++)
        base_builder_format(out, "%s\n", w.instructions.items[i].text);
    for (size_t i = 0; i < sources.functions.count; i++)
        cuda_write_source(sources.functions.items[i].call, out);
    base_builder_add(out, kernels.data ? kernels.data : "", kernels.size);
    return base_diagnostics_errors(diagnostics) == errors;
}
