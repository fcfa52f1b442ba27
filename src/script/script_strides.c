/* SPDX-License-Identifier: Apache-2.0
 * Layouts with extents or strides that only the launch knows: S[(m, n) : (lda, 1)] + first. They stand beside
 * the layout algebra, which is of constants: one extent and one stride per axis, no threads, no swizzle. */
#include "script/script_evaluate.h"
#include <string.h>

enum { MAX_RANK = 16 };

static const ir_expr *number(script_evaluator *e, int64_t value) {
    return ir_int(e->module, value == (int32_t)value ? NUM_DTYPE_I32 : NUM_DTYPE_I64, value);
}

static const ir_expr *times(script_evaluator *e, const ir_expr *a, const ir_expr *b) {
    const ir_expr *x, *y;
    if (!script_promote(e, script_expr(a), script_expr(b), &x, &y, BASE_NO_SPAN))
        return a;
    return ir_binary(e->module, IR_MUL, x, y);
}

const ir_expr *script_layout_symbol_of(script_evaluator *e, script_value v, base_span span,
                                       const char *what) {
    int64_t constant;
    if (v.kind != SCRIPT_VALUE_EXPR || script_expr_constant(e, v.as.expr, &constant))
        return NULL;
    const ir_expr *x = script_to_index(e, v, span, what);
    if (x && ir_expr_reads(x)) {
        base_diagnostic *d = script_error(
            e, "T0210", span, "%s is a constant, a parameter or a let, not a value in memory", what);
        base_help(e->diagnostics, d, "bind it first: stride: T.let = ...");
        return NULL;
    }
    return x;
}

bool script_is_symbolic(script_value v) {
    return v.kind == SCRIPT_VALUE_LAYOUT_SPEC && (v.as.spec->symbols.count > 0 || v.as.spec->origin);
}

static const ir_expr *extent_of(script_evaluator *e, const script_layout_spec *spec, size_t i) {
    return i < spec->symbols.count && spec->symbols.items[i].extent ? spec->symbols.items[i].extent
                                                                    : number(e, spec->shard.items[i].extent);
}

static const ir_expr *stride_of(script_evaluator *e, const script_layout_spec *spec, size_t i) {
    return i < spec->symbols.count && spec->symbols.items[i].stride ? spec->symbols.items[i].stride
                                                                    : number(e, spec->shard.items[i].stride);
}

static const ir_expr *origin_of(script_evaluator *e, const script_layout_spec *spec) {
    const ir_expr *x, *y, *fixed = number(e, spec->offset[LAYOUT_AXIS_M]);
    if (!spec->origin)
        return spec->offset[LAYOUT_AXIS_M] ? fixed : NULL;
    if (!script_promote(e, script_expr(spec->origin), script_expr(fixed), &x, &y, BASE_NO_SPAN))
        return NULL;
    return ir_binary(e->module, IR_ADD, x, y);
}

static bool same_extent(const ir_expr *a, const ir_expr *b) {
    int64_t x, y;
    return a == b || (ir_is_int(a, &x) && ir_is_int(b, &y) && x == y);
}

static const char *extent_text(script_evaluator *e, const ir_expr *x) {
    base_builder text;
    base_builder_start(&text, e->arena);
    ir_expr_print(x, &text);
    return text.data;
}

/* Only plain strides can be values of the launch. */
static bool check_plain(script_evaluator *e, const script_layout_spec *spec, base_span span) {
    const char *what = NULL;
    for (size_t i = 0; i < spec->shard.count && !what; i++)
        if (spec->shard.items[i].axis != LAYOUT_AXIS_M)
            what = layout_axis_name(spec->shard.items[i].axis);
    for (int i = 0; i < LAYOUT_AXIS_COUNT && !what; i++)
        if (i != LAYOUT_AXIS_M && (spec->offset_axes & (1u << i)))
            what = layout_axis_name((layout_axis)i);
    if (!what && spec->replica.count == 0)
        return true;
    base_diagnostic *d =
        script_error(e, "T0210", span, "a layout with values of the launch is on axis m only; this one %s %s",
                     what ? "is also on" : "has", what ? what : "replicas");
    base_help(e->diagnostics, d, "make its extents and strides constants");
    return false;
}

static bool strided_type(script_evaluator *e, const script_layout_spec *spec, ir_tensor_type *type,
                         base_span span) {
    if (!check_plain(e, spec, span))
        return false;
    if (spec->shard.count != type->rank) {
        base_diagnostic *d =
            script_error(e, "T0211", span, "%zu extents with values of the launch for a tensor of %u ax%s",
                         spec->shard.count, type->rank, type->rank == 1 ? "is" : "es");
        base_help(e->diagnostics, d, "such a layout has one extent and one stride per axis");
        return false;
    }
    const ir_expr **strides = BASE_NEW_ARRAY(e->arena, const ir_expr *, type->rank);
    for (uint32_t i = 0; i < type->rank; i++) {
        const ir_expr *extent = extent_of(e, spec, i);
        if (!same_extent(extent, type->shape[i])) {
            script_error(e, "T0213", span, "extent %u of the layout is %s, axis %u of the shape has %s", i,
                         extent_text(e, extent), i, extent_text(e, type->shape[i]));
            return false;
        }
        strides[i] = stride_of(e, spec, i);
    }
    type->layout = NULL;
    type->strides = strides;
    type->origin = origin_of(e, spec);
    return true;
}

bool script_type_layout(script_evaluator *e, script_value v, ir_tensor_type *type, base_span span) {
    type->layout = NULL;
    type->strides = NULL;
    type->origin = NULL;
    if (script_is_symbolic(v))
        return strided_type(e, v.as.spec, type, span);
    return script_to_layout(e, v, &type->layout, span) && script_spread_swizzle(e, v, type, span);
}

const ir_expr *const *script_dense_strides(script_evaluator *e, const ir_tensor_type *type) {
    const ir_expr **strides = BASE_NEW_ARRAY(e->arena, const ir_expr *, type->rank + 1);
    const ir_expr *step = number(e, 1);
    for (uint32_t i = type->rank; i-- > 0;) {
        strides[i] = step;
        step = times(e, type->shape[i], step);
    }
    return strides;
}

script_value script_strided_layout(script_evaluator *e, const ir_tensor_type *type) {
    script_layout_spec *spec = BASE_NEW(e->arena, script_layout_spec);
    const ir_expr *const *strides = type->strides ? type->strides : script_dense_strides(e, type);
    for (uint32_t i = 0; i < type->rank; i++) {
        layout_iter iter = {1, 1, LAYOUT_AXIS_M};
        script_layout_symbol symbol = {ir_is_int(type->shape[i], &iter.extent) ? NULL : type->shape[i],
                                       ir_is_int(strides[i], &iter.stride) ? NULL : strides[i]};
        base_vector_push(e->arena, &spec->shard, iter);
        base_vector_push(e->arena, &spec->symbols, symbol);
    }
    spec->origin = type->origin;
    return (script_value){.kind = SCRIPT_VALUE_LAYOUT_SPEC, .as.spec = spec};
}

/* ---- where such layouts may stand ---- */

static void check_leaf(void *user, const ir_expr *x) {
    bool *good = user;
    if ((x->count == 0 && x->op != IR_INT && !(x->op == IR_VAR && x->at.var->kind == IR_VAR_PARAMETER)) ||
        ir_expr_reads(x))
        *good = false;
}

bool script_check_strides(script_evaluator *e, const ir_tensor_type *type, bool is_parameter,
                          base_span span) {
    if (!type->strides)
        return true;
    if (!is_parameter) {
        base_diagnostic *d = script_error(
            e, "T0210", span, "storage has a constant size: its strides and origin are constants");
        base_help(e->diagnostics, d, "values of the launch are strides of parameters and of declarations");
        return false;
    }
    bool good = true;
    for (uint32_t i = 0; i < type->rank; i++)
        ir_expr_visit(type->strides[i], check_leaf, &good);
    if (type->origin)
        ir_expr_visit(type->origin, check_leaf, &good);
    if (good)
        return true;
    base_diagnostic *d =
        script_error(e, "T0210", span,
                     "a stride of a parameter is known at launch: constants, sizes and scalar parameters");
    base_help(e->diagnostics, d, "declare a view with this stride: decl_tensor(A.data, ...)");
    return false;
}

/* ---- apply ---- */

script_value script_strided_apply(script_evaluator *e, const script_layout_spec *spec,
                                  const ir_expr *const *coordinate, uint32_t rank, base_span span) {
    const ir_expr *sum = origin_of(e, spec), *x, *y;
    int64_t constant;
    if (!check_plain(e, spec, span))
        return script_poison();
    if (rank != spec->shard.count) {
        script_error(e, "T0211", span, "%u coordinates for a layout of %zu axes", rank, spec->shard.count);
        return script_poison();
    }
    for (uint32_t i = rank; i-- > 0;) {
        const ir_expr *term = times(e, coordinate[i], stride_of(e, spec, i));
        if (sum && script_promote(e, script_expr(term), script_expr(sum), &x, &y, span))
            term = ir_binary(e->module, IR_ADD, x, y);
        sum = term;
    }
    script_value dict = script_list_make(e->arena, SCRIPT_VALUE_DICT);
    script_list_add(e->arena, dict, script_string(e->arena, "m", 1));
    script_list_add(e->arena, dict, ir_is_int(sum, &constant) ? script_int(constant) : script_expr(sum));
    return dict;
}
