/* SPDX-License-Identifier: Apache-2.0
 * Index arithmetic against the layout algebra: for random layouts, shapes and coordinates the lowered
 * expression has the value that layout_apply gives, and the footprint covers it. covers: A16 A17 A22 A23 */
#include "unit/unit.h"
#include "lower/lower_internal.h"
#include "num/num.h"

typedef struct fixture {
    base_arena *arena;
    ir_module *module;
    lower_context context;
    uint64_t seed;
} fixture;

static unsigned pick(fixture *f, unsigned below) {
    f->seed ^= f->seed << 13, f->seed ^= f->seed >> 7, f->seed ^= f->seed << 17;
    return (unsigned)(f->seed >> 20) % below;
}

/* Plain evaluation over the ops that index arithmetic uses. */
static int64_t evaluate(const ir_expr *e, const ir_var *const *vars, const int64_t *values) {
    int64_t a, b;
    if (e->op == IR_INT)
        return e->at.integer;
    if (e->op == IR_VAR) {
        for (int i = 0; i < 4; i++)
            if (vars[i] == e->at.var)
                return values[i];
        fail_msg("a variable of nobody's");
    }
    a = evaluate(e->args[0], vars, values);
    b = e->count > 1 ? evaluate(e->args[1], vars, values) : 0;
    num_dtype t = (num_dtype)e->type.dtype;
    switch (e->op) {
    case IR_ADD:
        return num_wrap(t, a + b);
    case IR_SUB:
        return num_wrap(t, a - b);
    case IR_MUL:
        return num_wrap(t, a * b);
    case IR_BITXOR:
        return num_wrap(t, a ^ b);
    case IR_BITAND:
        return num_wrap(t, a & b);
    case IR_SHR:
        return num_wrap(t, a >> b);
    case IR_SHL:
        return num_wrap(t, (int64_t)((uint64_t)a << b));
    case IR_FLOORDIV:
        return num_floor_divide(t, a, b);
    case IR_FLOORMOD:
        return num_floor_modulo(t, a, b);
    case IR_CAST:
        return num_wrap(t, a);
    default:
        fail_msg("op %s in an index", ir_op_information(e->op)->name);
        return 0;
    }
}

/* Iters and a shape of the same product; the shape need not follow the iters. */
static uint32_t random_case(fixture *f, layout_iter *iters, uint32_t *count, int64_t *shape) {
    int64_t size = 1, rest;
    *count = 1 + pick(f, 4);
    for (uint32_t i = 0; i < *count; i++) {
        iters[i] = (layout_iter){1 + pick(f, 4), pick(f, 40), LAYOUT_AXIS_M};
        size *= iters[i].extent;
    }
    if (pick(f, 2)) { /* the iters' own shape, neighbours sometimes joined */
        uint32_t rank = 0;
        shape[0] = 1;
        for (uint32_t i = 0; i < *count; i++) {
            if (i && pick(f, 2))
                shape[++rank] = 1;
            shape[rank] *= iters[i].extent;
        }
        return rank + 1;
    }
    uint32_t rank = 0;
    for (rest = size; rank < 3 && rest > 1; rank++) {
        int64_t factor = 1 + pick(f, (unsigned)rest);
        while (rest % factor)
            factor--;
        shape[rank] = factor;
        rest /= factor;
    }
    shape[rank] = rest;
    return rank + 1;
}

static ir_tensor *make_tensor(fixture *f, const layout_tile *layout, const int64_t *shape, uint32_t rank) {
    const ir_expr *extents[4];
    for (uint32_t d = 0; d < rank; d++)
        extents[d] = ir_int(f->module, NUM_DTYPE_I32, shape[d]);
    ir_tensor_type type = {.dtype = NUM_DTYPE_F32,
                           .lanes = 1,
                           .scope = IR_SCOPE_SHARED,
                           .rank = rank,
                           .shape = extents,
                           .layout = layout,
                           .align = 64};
    return ir_tensor_create(f->module, "t", &type, IR_TENSOR_ALLOCATION, NULL, BASE_NO_SPAN);
}

static void check_coordinates(fixture *f, const ir_tensor *tensor, const int64_t *shape, uint32_t rank,
                              const layout_tile *layout) {
    const ir_var *vars[4] = {0};
    const ir_expr *indices[4];
    int64_t factor[4], constant[4]; /* an index is variable * factor + constant */
    for (uint32_t d = 0; d < rank; d++) {
        vars[d] =
            ir_var_create(f->module, "i", ir_type_prim(NUM_DTYPE_I32, 1), IR_VAR_PARAMETER, BASE_NO_SPAN);
        factor[d] = pick(f, 3) ? 1 : 1 + pick(f, (unsigned)shape[d]);
        while (shape[d] % factor[d])
            factor[d]--;
        constant[d] = factor[d] > 1 ? pick(f, (unsigned)factor[d]) : pick(f, 4) == 0;
        int64_t first = factor[d] > 1 ? 0 : -constant[d];
        if (pick(f, 2)) /* bounds known, as of a loop variable: cheaper forms become provable */
            arith_bind(f->context.facts, vars[d],
                       (arith_range){true, first, shape[d] / factor[d] - 1 + first}, (arith_modular){1, 0});
        indices[d] = ir_binary(f->module, IR_MUL, ir_var_use(f->module, vars[d]),
                               ir_int(f->module, NUM_DTYPE_I32, factor[d]));
        indices[d] = ir_binary(f->module, IR_ADD, indices[d], ir_int(f->module, NUM_DTYPE_I32, constant[d]));
    }
    const ir_expr *index = lower_index(&f->context, tensor, indices, BASE_NO_SPAN);
    assert_non_null(index);
    uint64_t footprint;
    assert_true(lower_footprint(&f->context, tensor, BASE_NO_SPAN, &footprint));
    for (int sample = 0; sample < 12; sample++) {
        int64_t values[4], at[4], position[LAYOUT_AXIS_COUNT] = {0};
        for (uint32_t d = 0; d < rank; d++) {
            values[d] = pick(f, (unsigned)(shape[d] / factor[d]));
            if (factor[d] == 1)
                values[d] -= constant[d];
            at[d] = values[d] * factor[d] + constant[d];
        }
        uint32_t axes;
        layout_error error = {0};
        assert_true(layout_apply(layout, at, rank, shape, position, &axes, &error, f->arena));
        int64_t got = evaluate(index, vars, values);
        assert_int_equal(got, position[LAYOUT_AXIS_M]);
        assert_true(got >= 0 && (uint64_t)got < footprint);
    }
}

static void random_layouts(void **state) {
    fixture f = {.arena = *state, .seed = 88172645463325252u};
    base_diagnostics *diagnostics = base_diagnostics_create(f.arena, base_sources_create(f.arena));
    f.module = ir_module_create(f.arena, diagnostics);
    ir_function *function = ir_function_create(f.module, "k", BASE_NO_SPAN);
    f.context = (lower_context){
        .arena = f.arena, .diagnostics = diagnostics, .module = f.module, .function = function};
    f.context.facts = arith_facts_create(f.arena, function);
    for (int round = 0; round < 8000; round++) {
        layout_iter iters[4];
        int64_t shape[8];
        uint32_t count;
        uint32_t rank = random_case(&f, iters, &count, shape);
        if (rank > 4)
            continue;
        int64_t offsets[LAYOUT_AXIS_COUNT] = {0};
        offsets[LAYOUT_AXIS_M] = pick(&f, 3) ? 0 : pick(&f, 100);
        layout_error error = {0};
        const layout_tile *layout =
            layout_make(f.arena, iters, count, NULL, 0, offsets, 1u << LAYOUT_AXIS_M, &error);
        assert_non_null(layout);
        if (pick(&f, 3) == 0) { /* under a swizzle, in both directions */
            uint8_t length = (uint8_t)pick(&f, 4);
            layout_swizzle swizzle = {true, pick(&f, 3) == 0, (uint8_t)pick(&f, 4), length,
                                      (uint8_t)(length + pick(&f, 3))};
            layout = layout_compose(f.arena, layout, swizzle, &error);
            assert_non_null(layout);
        }
        check_coordinates(&f, make_tensor(&f, layout, shape, rank), shape, rank, layout);
        const layout_tile *dense = layout_row_major(f.arena, shape, rank, &error);
        check_coordinates(&f, make_tensor(&f, NULL, shape, rank), shape, rank, dense);
    }
    assert_int_equal(base_diagnostics_count(diagnostics), 0);
}

/* Element 319 * 7864320 does not fit 32 bits: the arithmetic widens, the value does not wrap. */
static void wide_offsets(void **state) {
    fixture f = {.arena = *state, .seed = 1};
    base_diagnostics *diagnostics = base_diagnostics_create(f.arena, base_sources_create(f.arena));
    f.module = ir_module_create(f.arena, diagnostics);
    ir_function *function = ir_function_create(f.module, "k", BASE_NO_SPAN);
    f.context = (lower_context){
        .arena = f.arena, .diagnostics = diagnostics, .module = f.module, .function = function};
    f.context.facts = arith_facts_create(f.arena, function);
    int64_t shape[2] = {320, 7864320}, values[4] = {319, 0, 0, 0};
    const ir_var *vars[4] = {
        ir_var_create(f.module, "i", ir_type_prim(NUM_DTYPE_I32, 1), IR_VAR_PARAMETER, BASE_NO_SPAN)};
    const ir_expr *indices[2] = {ir_var_use(f.module, vars[0]), ir_int(f.module, NUM_DTYPE_I32, 0)};
    const ir_expr *index = lower_index(&f.context, make_tensor(&f, NULL, shape, 2), indices, BASE_NO_SPAN);
    assert_int_equal(index->type.dtype, NUM_DTYPE_I64);
    assert_int_equal(evaluate(index, vars, values), INT64_C(2508718080));
}

int main(void) {
    const struct CMUnitTest tests[] = {UNIT_WITH_ARENA(random_layouts), UNIT_WITH_ARENA(wide_offsets)};
    return cmocka_run_group_tests_name("lower_index", tests, NULL, NULL);
}
