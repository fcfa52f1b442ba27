/* SPDX-License-Identifier: Apache-2.0
 * Scopes: what a condition, an early exit or a loop says holds inside its scope and is gone after it;
 * conditions that read memory say nothing. Random guarded values never leave what was claimed. covers: A49
 * A50 */
#include "unit/unit.h"
#include "arith/arith_prove.h"
#include <inttypes.h>
#include <stdlib.h>

typedef struct fixture {
    base_arena *arena;
    ir_module *m;
    arith_facts *facts;
    const ir_expr *x, *n, *load;
} fixture;

static const ir_expr *number(fixture *f, int64_t value) {
    return ir_int(f->m, NUM_DTYPE_I32, value);
}
static const ir_expr *op(fixture *f, ir_op o, const ir_expr *a, const ir_expr *b) {
    return ir_binary(f->m, o, a, b);
}
static const ir_expr *variable(fixture *f, const char *name) {
    return ir_var_use(
        f->m, ir_var_create(f->m, name, ir_type_prim(NUM_DTYPE_I32, 1), IR_VAR_PARAMETER, BASE_NO_SPAN));
}

static fixture start(void **state) {
    fixture f = {.arena = *state};
    f.m = ir_module_create(f.arena, base_diagnostics_create(f.arena, base_sources_create(f.arena)));
    f.facts = arith_facts_create(f.arena, NULL);
    f.x = variable(&f, "x");
    f.n = variable(&f, "n");
    const ir_expr *one = number(&f, 1), *zero = number(&f, 0);
    ir_tensor_type type = {
        .dtype = NUM_DTYPE_I32, .lanes = 1, .scope = IR_SCOPE_LOCAL, .rank = 1, .shape = &one, .align = 64};
    f.load =
        ir_load(f.m, ir_tensor_create(f.m, "s", &type, IR_TENSOR_ALLOCATION, NULL, BASE_NO_SPAN), &zero, 1);
    return f;
}

static void expect(fixture *f, const ir_expr *e, int64_t low, int64_t high) {
    arith_range r = arith_bounds(f->facts, e);
    assert_true(r.known);
    assert_int_equal(r.low, low);
    assert_int_equal(r.high, high);
}

static void test_bounds(void **state) {
    fixture f = start(state);
    const ir_expr *sum = op(&f, IR_ADD, f.x, number(&f, 3));
    arith_enter(f.facts,
                op(&f, IR_AND, op(&f, IR_LE, number(&f, 0), f.x), op(&f, IR_LT, f.x, number(&f, 10))), true);
    expect(&f, f.x, 0, 9);
    expect(&f, sum, 3, 12);
    arith_enter(f.facts, op(&f, IR_LT, sum, number(&f, 8)),
                true); /* through the sum, which cannot overflow */
    expect(&f, f.x, 0, 4);
    arith_leave_to(f.facts, 2);
    expect(&f, f.x, 0, 9);
    arith_enter(f.facts, op(&f, IR_LT, op(&f, IR_FLOORDIV, f.x, number(&f, 4)), number(&f, 2)), true);
    expect(&f, f.x, 0, 7);
    arith_leave_to(f.facts, 1);
    expect(&f, f.x, INT32_MIN, INT32_MAX);
    arith_enter(f.facts, op(&f, IR_LT, sum, number(&f, 8)), true); /* x + 3 may wrap: x may be large */
    expect(&f, f.x, INT32_MIN, INT32_MAX);
    arith_leave_to(f.facts, 1);
    arith_enter(f.facts, op(&f, IR_OR, op(&f, IR_LT, f.x, number(&f, 5)), op(&f, IR_GT, f.x, number(&f, 8))),
                false);
    expect(&f, f.x, 5, 8);
}

static void test_residues(void **state) {
    fixture f = start(state);
    arith_enter(f.facts, op(&f, IR_EQ, op(&f, IR_FLOORMOD, f.x, number(&f, 4)), number(&f, 2)), true);
    assert_true(arith_is_multiple(f.facts, op(&f, IR_ADD, f.x, number(&f, 2)), 4));
    assert_true(arith_is_never_multiple(f.facts, f.x, 4));
    assert_true(arith_can_prove(f.facts, op(&f, IR_NE, f.x, number(&f, 8))));
    arith_leave_to(f.facts, 1);
    assert_false(arith_is_multiple(f.facts, op(&f, IR_ADD, f.x, number(&f, 2)), 4));
    arith_enter(f.facts, op(&f, IR_EQ, op(&f, IR_BITAND, f.x, number(&f, 7)), number(&f, 0)), true);
    assert_true(arith_is_multiple(f.facts, f.x, 8));
}

static void test_order(void **state) {
    fixture f = start(state);
    const ir_expr *y = variable(&f, "y");
    arith_enter(f.facts, op(&f, IR_LT, f.x, f.n), true);
    assert_true(arith_can_prove(f.facts, op(&f, IR_LT, f.x, f.n)));
    assert_true(arith_can_prove(f.facts, op(&f, IR_NE, f.x, f.n)));
    assert_int_equal(arith_compare(f.facts, IR_GE, f.x, f.n), -1);
    assert_false(arith_can_prove(f.facts, op(&f, IR_LT, f.n, f.x)));
    /* x + 1 <= n only where x + 1 does not wrap: it cannot, below n. But the sum's own bounds say it may. */
    arith_enter(f.facts, op(&f, IR_LE, f.n, y), true);
    assert_true(arith_can_prove(f.facts, op(&f, IR_LT, f.x, y)));
    arith_leave_to(f.facts, 1);
    assert_false(arith_can_prove(f.facts, op(&f, IR_LT, f.x, f.n)));
}

/* Memory may change between two reads. */
static void test_memory(void **state) {
    fixture f = start(state);
    const ir_expr *below = op(&f, IR_LT, f.load, number(&f, 8));
    arith_enter(f.facts, below, true);
    assert_false(arith_can_prove(f.facts, below));
    expect(&f, f.load, INT32_MIN, INT32_MAX);
    arith_leave_to(f.facts, 1);
    arith_enter(f.facts, op(&f, IR_LT, f.x, f.load), true);
    assert_false(arith_can_prove(f.facts, op(&f, IR_LT, f.x, f.load)));
}

static ir_stmt *block_with(fixture *f, ir_stmt_kind kind) {
    ir_stmt *block = ir_stmt_create(f->m, IR_STMT_BLOCK, BASE_NO_SPAN);
    if (kind != IR_STMT_BLOCK)
        ir_block_add(f->m, block, ir_stmt_create(f->m, kind, BASE_NO_SPAN));
    return block;
}

static void test_statements(void **state) {
    fixture f = start(state);
    ir_stmt *branch = ir_stmt_create(f.m, IR_STMT_IF, BASE_NO_SPAN);
    branch->as.branch.condition = op(&f, IR_GE, f.x, number(&f, 8));
    branch->as.branch.then_body = block_with(&f, IR_STMT_RETURN);
    arith_enter_after(f.facts, branch);
    expect(&f, f.x, INT32_MIN, 7);
    arith_leave_to(f.facts, 1);
    branch->as.branch.then_body = block_with(&f, IR_STMT_EVALUATE); /* goes on: says nothing */
    branch->as.branch.then_body->as.block.body.items[0]->as.evaluate.value = number(&f, 0);
    arith_enter_after(f.facts, branch);
    expect(&f, f.x, INT32_MIN, INT32_MAX);

    ir_stmt *loop = ir_stmt_create(f.m, IR_STMT_FOR, BASE_NO_SPAN);
    ir_var *i = ir_var_create(f.m, "i", ir_type_prim(NUM_DTYPE_I32, 1), IR_VAR_LOOP, BASE_NO_SPAN);
    loop->as.loop.var = i;
    loop->as.loop.start = number(&f, 0);
    loop->as.loop.extent = f.n;
    loop->as.loop.step = number(&f, 1);
    loop->as.loop.body = block_with(&f, IR_STMT_BLOCK);
    arith_enter_loop(f.facts, loop);
    assert_true(arith_can_prove(f.facts, op(&f, IR_LT, ir_var_use(f.m, i), f.n)));
    expect(&f, f.n, 1, INT32_MAX);
    arith_leave_to(f.facts, 1);
    assert_false(arith_can_prove(f.facts, op(&f, IR_LT, ir_var_use(f.m, i), f.n)));
}

/* Random conditions over two small variables: every value that passes them is inside every claim. */
typedef struct random_state {
    fixture *f;
    uint64_t seed;
    const ir_expr *vars[2];
} random_state;

static uint64_t bits(random_state *r) {
    r->seed ^= r->seed << 13, r->seed ^= r->seed >> 7, r->seed ^= r->seed << 17;
    return r->seed;
}

static const ir_expr *random_value(random_state *r, int depth) {
    static const ir_op ops[] = {IR_ADD, IR_SUB, IR_MUL, IR_FLOORDIV, IR_FLOORMOD, IR_MIN, IR_MAX, IR_BITAND};
    uint64_t b = bits(r);
    if (depth == 0 || b % 3 == 0)
        return b / 3 % 3 ? r->vars[b / 9 % 2] : number(r->f, (int64_t)(b / 9 % 9) - 2);
    ir_op o = ops[b / 9 % 8];
    const ir_expr *a = random_value(r, depth - 1);
    if (o == IR_FLOORDIV || o == IR_FLOORMOD || (b & 4096))
        return op(r->f, o, a, number(r->f, o == IR_BITAND ? 3 : (int64_t)(b >> 13) % 5 + 1));
    return op(r->f, o, a, random_value(r, depth - 1));
}

static const ir_expr *random_condition(random_state *r, int depth) {
    static const ir_op compare[] = {IR_LT, IR_LE, IR_GT, IR_GE, IR_EQ, IR_NE};
    uint64_t b = bits(r);
    if (depth == 0 || b % 3)
        return op(r->f, compare[b / 3 % 6], random_value(r, 2), random_value(r, 1));
    return op(r->f, b / 3 % 2 ? IR_AND : IR_OR, random_condition(r, depth - 1),
              random_condition(r, depth - 1));
}

/* By substitution and folding: an evaluator that shares nothing with the facts. */
typedef struct values {
    random_state *r;
    int64_t at[2];
} values;
static const ir_expr *put(void *user, const ir_expr *e) {
    values *v = user;
    for (int i = 0; i < 2; i++)
        if (e == v->r->vars[i])
            return number(v->r->f, v->at[i]);
    return e;
}
static bool value_at(values *v, const ir_expr *e, int64_t *value) {
    return ir_is_int(ir_expr_rewrite(v->r->f->m, e, NULL, put, v, NULL), value);
}

static void test_random(void **state) {
    int narrowed = 0;
    for (uint64_t round = 1; round <= 400; round++) {
        fixture f = start(state);
        random_state r = {&f, round * UINT64_C(0x9e3779b97f4a7c15), {f.x, f.n}};
        for (int i = 0; i < 2; i++)
            arith_bind(f.facts, r.vars[i]->at.var, (arith_range){true, -6, 9}, (arith_modular){1, 0});
        const ir_expr *conditions[2] = {random_condition(&r, 2), random_condition(&r, 1)};
        bool truths[2] = {bits(&r) % 2, bits(&r) % 2};
        for (int i = 0; i < 2; i++)
            arith_enter(f.facts, conditions[i], truths[i]);
        const ir_expr *asked[8];
        for (int i = 0; i < 8; i++)
            asked[i] = i < 2 ? r.vars[i] : i < 5 ? random_value(&r, 2) : random_condition(&r, 1);
        narrowed += arith_bounds(f.facts, f.x).high < 9;
        for (int64_t x = -6; x <= 9; x++)
            for (int64_t n = -6; n <= 9; n++) {
                values v = {&r, {x, n}};
                int64_t a, b, value;
                if (!value_at(&v, conditions[0], &a) || !value_at(&v, conditions[1], &b) || a != truths[0] ||
                    b != truths[1])
                    continue;
                for (int i = 0; i < 8; i++) {
                    arith_range claim = arith_bounds(f.facts, asked[i]);
                    arith_modular set = arith_modular_set(f.facts, asked[i]);
                    if (!value_at(&v, asked[i], &value))
                        continue;
                    if (value < claim.low || value > claim.high ||
                        (set.modulus ? (value - set.remainder) % set.modulus : value - set.remainder))
                        fail_msg("round %" PRIu64 ": %" PRId64 " at %" PRId64 ", %" PRId64
                                 " is outside [%" PRId64 ", %" PRId64 "], %" PRId64 " mod %" PRId64,
                                 round, value, x, n, claim.low, claim.high, set.remainder, set.modulus);
                }
            }
    }
    assert_true(narrowed > 40);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(test_bounds), UNIT_WITH_ARENA(test_residues),   UNIT_WITH_ARENA(test_order),
        UNIT_WITH_ARENA(test_memory), UNIT_WITH_ARENA(test_statements), UNIT_WITH_ARENA(test_random),
    };
    return cmocka_run_group_tests_name("arith_context", tests, NULL, NULL);
}
