/* SPDX-License-Identifier: Apache-2.0
 * Tensors, parameters and the launch: what stands outside the statements of a function. */
#include "ir/ir_verify.h"

/* Over constants and parameters alone, so that the host can compute it. */
static void check_host_leaf(void *user, const ir_expr *e) {
    bool *good = user;
    bool allowed = e->op == IR_VAR
                       ? e->at.var->kind == IR_VAR_PARAMETER
                       : (ir_op_information(e->op)->flags & IR_FLAG_PURE) && !ir_expr_reads(e) &&
                             ir_op_attribute(e->op) != IR_ATTRIBUTE_TENSOR && e->op != IR_THREAD_IDX &&
                             e->op != IR_BLOCK_IDX && e->op != IR_BLOCK_DIM && e->op != IR_GRID_DIM &&
                             !(e->effects & IR_FLAG_DIVERGENT);
    *good = *good && allowed;
}

static bool is_host_expr(const ir_expr *e) {
    bool good = true;
    ir_expr_visit(e, check_host_leaf, &good);
    return good;
}

/* A positive integer that the host can compute. */
static void check_host(ir_verifier *v, const char *code, const char *what, const char *name,
                       const ir_expr *e) {
    int64_t value;
    if (!ir_verifier_root(v, e))
        return;
    if (!ir_type_is_integer(e->type) || e->type.lanes != 1)
        ir_verifier_report(v, code, NULL, "%s of %s is `%s` of type %s; expected an integer", what, name,
                           ir_verifier_shown(v, e), ir_verifier_type(v, e->type));
    else if (!is_host_expr(e))
        ir_verifier_report(v, code, NULL, "%s of %s is `%s`; expected constants and parameters only", what,
                           name, ir_verifier_shown(v, e));
    else if (ir_is_int(e, &value) && value <= 0)
        ir_verifier_report(v, code, NULL, "%s of %s is %lld; expected a positive number", what, name,
                           (long long)value);
}

/* ---- tensors ---- */

static void check_size(ir_verifier *v, const ir_tensor *tensor) {
    uint64_t bytes = (uint64_t)num_dtype_bytes(tensor->type.dtype) * tensor->type.lanes;
    for (uint32_t i = 0; i < tensor->type.rank; i++) {
        int64_t extent;
        if (!ir_is_int(tensor->type.shape[i], &extent) || extent <= 0)
            return;
        if (__builtin_mul_overflow(bytes, (uint64_t)extent, &bytes) || bytes > INT64_MAX / 2) {
            ir_verifier_report(v, "T0329", NULL, "`%s` is larger than any memory", tensor->name);
            return;
        }
    }
}

/* Integers of any sign; a view may use what its kernel computes, but nothing that is read. */
static void check_stride(ir_verifier *v, const ir_tensor *tensor, const char *what, const ir_expr *e) {
    if (!ir_verifier_root(v, e))
        return;
    if (!ir_type_is_integer(e->type) || e->type.lanes != 1)
        ir_verifier_report(v, "T0329", NULL, "%s of `%s` is `%s` of type %s; expected an integer", what,
                           tensor->name, ir_verifier_shown(v, e), ir_verifier_type(v, e->type));
    else if (tensor->kind == IR_TENSOR_VIEW ? ir_expr_reads(e) || ir_expr_has_effect(e) : !is_host_expr(e))
        ir_verifier_report(v, "T0329", NULL, "%s of `%s` is `%s`; expected constants and parameters only",
                           what, tensor->name, ir_verifier_shown(v, e));
}

static void check_strides(ir_verifier *v, const ir_tensor *tensor) {
    const ir_tensor_type *type = &tensor->type;
    if (type->origin && !type->strides)
        ir_verifier_report(v, "T0329", NULL, "`%s` has an origin without strides", tensor->name);
    if (!type->strides)
        return;
    if (type->layout || tensor->kind == IR_TENSOR_ALLOCATION)
        ir_verifier_report(v, "T0329", NULL, "`%s` has strides beside %s", tensor->name,
                           type->layout ? "a layout" : "storage of its own, whose size is a constant");
    for (uint32_t i = 0; i < type->rank; i++)
        check_stride(v, tensor, base_arena_format(v->arena, "stride %u", i), type->strides[i]);
    if (type->origin)
        check_stride(v, tensor, "the origin", type->origin);
}

void ir_verify_tensor(ir_verifier *v, const ir_tensor *tensor) {
    const ir_tensor_type *type = &tensor->type;
    if (type->dtype <= NUM_DTYPE_NONE || type->dtype >= NUM_DTYPE_COUNT || type->lanes == 0) {
        ir_verifier_report(v, "T0329", NULL, "`%s` has no element type", tensor->name);
        return;
    }
    if (type->align == 0 || (type->align & (type->align - 1)))
        ir_verifier_report(v, "T0329", NULL, "the alignment of `%s` is %u; expected a power of two",
                           tensor->name, type->align);
    for (uint32_t i = 0; i < type->rank; i++)
        check_host(v, "T0329", base_arena_format(v->arena, "extent %u", i),
                   base_arena_format(v->arena, "`%s`", tensor->name), type->shape[i]);
    check_strides(v, tensor);
    check_size(v, tensor);
}

/* ---- parameters ---- */

static void define_size(void *user, const ir_expr *e) {
    ir_verifier *v = user;
    if (e->op == IR_VAR && e->at.var->kind == IR_VAR_PARAMETER && !ir_verifier_is_live(v, e->at.var))
        ir_verifier_define(v, e->at.var, e->at.var->name, e->at.var->span);
}

static void check_parameter(ir_verifier *v, const ir_parameter *parameter) {
    if (!parameter->tensor == !parameter->var) {
        ir_verifier_report(v, "T0333", NULL, "a parameter is neither a tensor nor a scalar, or both");
        return;
    }
    if (parameter->tensor) {
        v->span = parameter->tensor->span;
        if (parameter->tensor->kind != IR_TENSOR_PARAMETER ||
            parameter->tensor->type.scope != IR_SCOPE_GLOBAL)
            ir_verifier_report(v, "T0333", NULL,
                               "parameter `%s` is in scope %s; expected a tensor in global memory",
                               parameter->tensor->name, ir_scope_name(parameter->tensor->type.scope));
        ir_verify_tensor(v, parameter->tensor);
        return;
    }
    v->span = parameter->var->span;
    ir_type type = parameter->var->type;
    if (parameter->var->kind != IR_VAR_PARAMETER ||
        (type.kind != IR_TYPE_POINTER && type.kind != IR_TYPE_PRIM))
        ir_verifier_report(v, "T0333", NULL, "parameter `%s` is no scalar of the kernel",
                           parameter->var->name);
}

/* ---- launch ---- */

static void check_block_size(ir_verifier *v, const ir_launch *launch) {
    int64_t threads = 1;
    for (int i = 0; i < 3; i++) {
        int64_t extent;
        if (!launch->block[i] || !ir_is_int(launch->block[i], &extent) || extent <= 0)
            return;
        if (extent > 1024 || (threads *= extent) > 1024) {
            ir_verifier_report(v, "T0334", NULL, "a block of more than 1024 threads cannot be launched");
            return;
        }
    }
}

static void check_launch(ir_verifier *v, const ir_launch *launch) {
    static const char *const axes[] = {"x", "y", "z"};
    if (!launch->present)
        return;
    v->span = launch->span;
    for (int i = 0; i < 3; i++) {
        check_host(v, "T0334", axes[i], "the grid", launch->grid[i]);
        check_host(v, "T0334", axes[i], "the block", launch->block[i]);
        if (!launch->cluster[i] != !launch->cluster[0])
            ir_verifier_report(v, "T0334", NULL, "a cluster has three extents");
        else if (launch->cluster[i])
            check_host(v, "T0334", axes[i], "the cluster", launch->cluster[i]);
    }
    check_block_size(v, launch);
    const ir_expr *bytes = launch->dynamic_smem_bytes;
    if (bytes && ir_verifier_root(v, bytes) &&
        (!ir_type_is_integer(bytes->type) || bytes->type.lanes != 1 || !is_host_expr(bytes)))
        ir_verifier_report(v, "T0334", NULL,
                           "dynamic_smem_bytes is `%s`; expected an integer over constants and parameters",
                           ir_verifier_shown(v, bytes));
    if (launch->min_blocks_per_sm < 0 || launch->max_blocks_per_cluster < 0 || launch->max_registers < 0)
        ir_verifier_report(v, "T0334", NULL, "a limit of the launch is negative");
}

/* Parameters are known in the whole function, and so are the sizes that their shapes bring. */
void ir_verify_head(ir_verifier *v, const ir_function *function) {
    for (size_t i = 0; i < function->parameters.count; i++) {
        const ir_parameter *parameter = &function->parameters.items[i];
        if (parameter->tensor)
            ir_verifier_define(v, parameter->tensor, parameter->tensor->name, parameter->tensor->span);
        else if (parameter->var)
            ir_verifier_define(v, parameter->var, parameter->var->name, parameter->var->span);
    }
    for (size_t i = 0; i < function->parameters.count; i++) {
        const ir_tensor *tensor = function->parameters.items[i].tensor;
        for (uint32_t axis = 0; tensor && axis < tensor->type.rank; axis++) {
            if (tensor->type.shape[axis])
                ir_expr_visit(tensor->type.shape[axis], define_size, v);
            if (tensor->type.strides && tensor->type.strides[axis])
                ir_expr_visit(tensor->type.strides[axis], define_size, v);
        }
        if (tensor && tensor->type.origin)
            ir_expr_visit(tensor->type.origin, define_size, v);
    }
    for (size_t i = 0; i < function->parameters.count; i++)
        check_parameter(v, &function->parameters.items[i]);
    check_launch(v, &function->launch);
}
