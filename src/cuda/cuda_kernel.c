/* SPDX-License-Identifier: Apache-2.0
 * One kernel: attributes, parameters in the plan's order, body. Knows nothing of headers. */
#include "cuda/cuda_internal.h"

/* Product of the block's extents when all are constants and it is not one thread. */
static bool constant_threads(const ir_launch *launch, int64_t *threads) {
    *threads = 1;
    for (int i = 0; i < 3; i++) {
        int64_t extent;
        if (!launch->block[i] || !ir_is_int(launch->block[i], &extent))
            return false;
        *threads *= extent;
    }
    return *threads != 1;
}

static void attributes(cuda_writer *w, const ir_launch *launch) {
    base_builder *out = w->out;
    int64_t threads, cluster[3];
    base_builder_string(out, "extern \"C\" __global__ void");
    if (!launch->present) {
        base_builder_char(out, '\n');
        return;
    }
    bool clustered = !launch->preferred[0]; /* a size on the kernel would rule out the preferred one */
    for (int i = 0; i < 3; i++)
        clustered = clustered && launch->cluster[i] && ir_is_int(launch->cluster[i], &cluster[i]);
    if (clustered)
        base_builder_format(out, " __cluster_dims__(%lld, %lld, %lld)", (long long)cluster[0],
                            (long long)cluster[1], (long long)cluster[2]);
    if (launch->max_registers) {
        base_builder_format(out, " __maxnreg__(%lld)", (long long)launch->max_registers);
    } else if (constant_threads(launch, &threads)) {
        base_builder_format(out, " __launch_bounds__(%lld", (long long)threads);
        if (launch->min_blocks_per_sm)
            base_builder_format(out, ", %lld", (long long)launch->min_blocks_per_sm);
        /* ptxas takes a fixed cluster or the most of one, not both; that the fixed one fits is checked. */
        if (launch->min_blocks_per_sm && launch->max_blocks_per_cluster && !clustered)
            base_builder_format(out, ", %lld", (long long)launch->max_blocks_per_cluster);
        base_builder_char(out, ')');
    }
    base_builder_char(out, '\n');
}

static void parameters(cuda_writer *w) {
    for (size_t i = 0; i < w->function->parameters.count; i++) {
        const ir_parameter *p = &w->function->parameters.items[i];
        if (i)
            base_builder_string(w->out, ", ");
        if (p->tensor && p->tensor->map) {
            const char *name = cuda_name_new(w, p->tensor, p->name, "");
            w->includes |= CUDA_DRIVER;
            base_builder_format(w->out, "const __grid_constant__ CUtensorMap %s", name);
        } else if (p->tensor) {
            const char *name = cuda_name_new(w, p->tensor, p->name, "_ptr");
            base_builder_format(w->out, "%s* __restrict__ %s", cuda_storage(w, p->tensor->type.dtype), name);
        } else if (ir_type_is_tensor_map(p->var->type)) {
            w->includes |= CUDA_DRIVER;
            base_builder_format(w->out, "const __grid_constant__ CUtensorMap %s",
                                cuda_name_new(w, p->var, p->name, ""));
        } else {
            const char *name = cuda_name_new(w, p->var, p->name, "");
            base_builder_format(w->out, "%s %s", cuda_type(w, p->var->type), name);
        }
    }
}

/* Registers have no declaration of their own; only lowering for PTX makes them. */
static void declare_register(void *user, ir_stmt *s) {
    cuda_writer *w = user;
    if (s->kind != IR_STMT_ASSIGN || base_map_get(w->names, BASE_KEY(s->as.assign.var)))
        return;
    const char *name = cuda_name_new(w, s->as.assign.var, s->as.assign.var->name, "");
    cuda_line(w);
    base_builder_format(w->out, "%s %s;\n", cuda_type(w, s->as.assign.var->type), name);
}

void cuda_kernel(cuda_writer *w, const lower_plan *plan) {
    w->plan = plan;
    w->function = plan->function;
    w->span = plan->function->span;
    w->names = base_map_create(w->arena);
    w->facts = arith_facts_create_later(w->arena, plan->function);
    w->line_file = 0;
    cuda_find_contexts(w);
    cuda_scope_open(w);
    attributes(w, &plan->function->launch);
    base_builder_format(w->out, "%s(", plan->kernel_name);
    parameters(w);
    base_builder_string(w->out, ") {\n");
    w->indent = 1;
    ir_stmt_visit(plan->function->body, declare_register, w);
    cuda_block(w, plan->function->body);
    w->indent = 0;
    base_builder_string(w->out, "}\n");
    arith_facts_release(w->facts);
    cuda_scope_close(w);
}
