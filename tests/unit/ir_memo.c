/* SPDX-License-Identifier: Apache-2.0
 * Tables by expression: what one holds, clearing, growing while it is used, lending; visits that remember;
 * and what an expression says of its inside. */
#include "unit/unit.h"
#include "ir/ir.h"

enum { COUNT = 2000 };

static const ir_expr *number(ir_module *module, int64_t value) {
    return ir_int(module, NUM_DTYPE_I32, value);
}

static void values(void **state) {
    ir_module *module = ir_module_create(*state, NULL);
    ir_memo *memo = ir_memo_open(module), *other = ir_memo_open(module);
    assert_ptr_not_equal(memo, other);
    for (int i = 0; i < COUNT; i++) { /* expressions are made while the table is in use */
        const ir_expr *e = number(module, i);
        assert_null(ir_memo_get(memo, e));
        ir_memo_set(memo, e, e);
        assert_null(ir_memo_get(other, e));
    }
    for (int i = 0; i < COUNT; i++)
        assert_ptr_equal(ir_memo_get(memo, number(module, i)), number(module, i));
    ir_memo_set(memo, number(module, 7), NULL);
    assert_null(ir_memo_get(memo, number(module, 7)));
    ir_memo_clear(memo);
    for (int i = 0; i < COUNT; i++)
        assert_null(ir_memo_get(memo, number(module, i)));
    ir_memo_set(memo, number(module, 3), memo);
    ir_memo_close(memo);
    ir_memo *again = ir_memo_open(module);
    assert_ptr_equal(again, memo); /* lent once more, empty */
    assert_null(ir_memo_get(again, number(module, 3)));
}

/* Old stamps do not come back when their numbers run out. */
static void stamps_wrap(void **state) {
    ir_module *module = ir_module_create(*state, NULL);
    ir_memo *memo = ir_memo_open(module);
    memo->stamp = 1;
    ir_memo_set(memo, number(module, 1), memo);
    memo->stamp = UINT32_MAX;
    ir_memo_set(memo, number(module, 2), memo);
    ir_memo_clear(memo);
    assert_null(ir_memo_get(memo, number(module, 1)));
    assert_null(ir_memo_get(memo, number(module, 2)));
}

static void count(void *user, const ir_expr *e) {
    assert_non_null(e);
    ++*(int *)user;
}

static void visits(void **state) {
    ir_module *module = ir_module_create(*state, NULL);
    ir_var *x = ir_var_create(module, "x", ir_type_prim(NUM_DTYPE_I32, 1), IR_VAR_LET, BASE_NO_SPAN);
    const ir_expr *sum = ir_binary(module, IR_ADD, ir_var_use(module, x), number(module, 5));
    const ir_expr *square = ir_binary(module, IR_MUL, sum, sum);
    ir_memo *met = ir_memo_open(module);
    int all = 0, fresh = 0, more = 0;
    ir_expr_visit(square, count, &all);
    ir_expr_visit_new(met, sum, count, &fresh);
    ir_expr_visit_new(met, square, count, &more);
    assert_int_equal(all, 4);
    assert_int_equal(fresh, 3);
    assert_int_equal(more, 1);
}

static const ir_expr *over(ir_module *module, ir_op op, const ir_expr *a, int64_t divisor) {
    const ir_expr *args[] = {a, number(module, divisor)};
    return ir_make(module, op, a->type, args, 2);
}

static void insides(void **state) {
    ir_module *module = ir_module_create(*state, NULL);
    ir_type type = ir_type_prim(NUM_DTYPE_I32, 1);
    ir_var *x = ir_var_create(module, "x", type, IR_VAR_LET, BASE_NO_SPAN);
    ir_var *r = ir_var_create(module, "r", type, IR_VAR_REGISTER, BASE_NO_SPAN);
    const ir_expr *use = ir_var_use(module, x), *mutable = ir_var_use(module, r);
    assert_int_equal(use->variables, UINT64_C(1) << x->id % 64);
    assert_int_equal(use->effects, 0);
    assert_true(mutable->effects & IR_INSIDE_REGISTER);
    assert_false(mutable->effects & IR_INSIDE_MEMORY);
    const ir_expr *both = ir_binary(module, IR_ADD, use, mutable);
    assert_int_equal(both->variables, use->variables | mutable->variables);
    assert_true(both->effects & IR_INSIDE_REGISTER);
    assert_false(over(module, IR_FLOORDIV, use, 3)->effects & IR_INSIDE_DIVISION);
    assert_true(over(module, IR_FLOORMOD, use, 0)->effects & IR_INSIDE_DIVISION);
    const ir_expr *args[] = {use, both};
    assert_true(ir_make(module, IR_TRUNCDIV, type, args, 2)->effects & IR_INSIDE_DIVISION);
    const ir_expr *lanes = ir_make(module, IR_BROADCAST, ir_type_prim(NUM_DTYPE_I32, 4), &use, 1);
    assert_true(lanes->effects & IR_INSIDE_LANES);
    assert_true(ir_lane(module, lanes, 0) == use || ir_lane(module, lanes, 0)->effects & IR_INSIDE_LANES);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(values),
        UNIT_WITH_ARENA(stamps_wrap),
        UNIT_WITH_ARENA(visits),
        UNIT_WITH_ARENA(insides),
    };
    return cmocka_run_group_tests_name("ir_memo", tests, NULL, NULL);
}
