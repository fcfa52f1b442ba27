/* SPDX-License-Identifier: Apache-2.0
 * Bounds and modular sets must contain every value that evaluation gives; facts flow through lets and loops
 * and never through memory. covers: A49 A50 */
#include "unit/unit.h"
#include "arith/arith_bounds.h"
#include "num/num.h"
#include <inttypes.h>
#include <stdlib.h>

typedef struct fixture {
    base_heap *heap;
    base_arena *arena;
    ir_module *module;
    uint64_t seed;
} fixture;

static int start(void **state) {
    fixture *f = calloc(1, sizeof *f);
    f->heap = base_heap_create(NULL);
    f->arena = base_arena_create(f->heap);
    base_sources *sources = base_sources_create(f->arena);
    f->module = ir_module_create(f->arena, base_diagnostics_create(f->arena, sources));
    f->seed = 88172645463325252u;
    *state = f;
    return 0;
}
static int stop(void **state) {
    fixture *f = *state;
    base_heap_destroy(f->heap);
    free(f);
    return 0;
}

static uint64_t random_bits(fixture *f) {
    f->seed ^= f->seed << 13, f->seed ^= f->seed >> 7, f->seed ^= f->seed << 17;
    return f->seed;
}

/* An independent evaluator: a plain walk over the ops, in the arithmetic that the op table states. */
typedef struct values {
    const ir_var *vars[3];
    int64_t at[3];
} values;
static bool evaluate(const ir_expr *e, const values *v, int64_t *result) {
    int64_t a = 0, b = 0, c = 0;
    num_dtype t = (num_dtype)e->type.dtype;
    if ((e->count > 0 && !evaluate(e->args[0], v, &a)) || (e->count > 1 && !evaluate(e->args[1], v, &b)) ||
        (e->count > 2 && !evaluate(e->args[2], v, &c)))
        return false;
    switch (e->op) {
    case IR_INT:
        *result = e->at.integer;
        return true;
    case IR_VAR:
        for (int i = 0; i < 3; i++)
            if (v->vars[i] == e->at.var)
                *result = v->at[i];
        return true;
    case IR_ADD:
        *result = num_wrap(t, (int64_t)((uint64_t)a + (uint64_t)b));
        return true;
    case IR_SUB:
        *result = num_wrap(t, (int64_t)((uint64_t)a - (uint64_t)b));
        return true;
    case IR_MUL:
        *result = num_wrap(t, (int64_t)((uint64_t)a * (uint64_t)b));
        return true;
    case IR_NEG:
        *result = num_wrap(t, (int64_t)(0 - (uint64_t)a));
        return true;
    case IR_BITNOT:
        *result = num_wrap(t, ~a);
        return true;
    case IR_BITAND:
        *result = a & b;
        return true;
    case IR_BITOR:
        *result = a | b;
        return true;
    case IR_BITXOR:
        *result = a ^ b;
        return true;
    case IR_MIN:
        *result = num_compare(t, a, b) < 0 ? a : b;
        return true;
    case IR_MAX:
        *result = num_compare(t, a, b) > 0 ? a : b;
        return true;
    case IR_ABS:
        *result = num_wrap(t, a < 0 ? (int64_t)(0 - (uint64_t)a) : a);
        return true;
    case IR_CAST:
        *result = num_wrap(t, a);
        return true;
    case IR_SHL:
    case IR_SHR: {
        int64_t bits = num_dtype_bits(t);
        if (b < 0)
            return false;
        if (e->op == IR_SHL)
            *result = b >= bits ? 0 : num_wrap(t, (int64_t)((uint64_t)a << b));
        else if (num_dtype_class(t) == NUM_SIGNED)
            *result = a >> (b >= bits ? bits - 1 : b);
        else
            *result = b >= bits ? 0 : (int64_t)((uint64_t)a >> b);
        return true;
    }
    case IR_FLOORDIV:
    case IR_FLOORMOD:
    case IR_TRUNCDIV:
    case IR_TRUNCMOD:
        if (b == 0)
            return false;
        *result = e->op == IR_FLOORDIV   ? num_floor_divide(t, a, b)
                  : e->op == IR_FLOORMOD ? num_floor_modulo(t, a, b)
                  : e->op == IR_TRUNCDIV ? num_truncate_divide(t, a, b)
                                         : num_truncate_modulo(t, a, b);
        return true;
    case IR_LT:
        *result = num_compare((num_dtype)e->args[0]->type.dtype, a, b) < 0;
        return true;
    case IR_SELECT:
        *result = a ? b : c;
        return true;
    default:
        return false;
    }
}

static const num_dtype types[] = {NUM_DTYPE_I32, NUM_DTYPE_U32, NUM_DTYPE_I64,
                                  NUM_DTYPE_U64, NUM_DTYPE_I8,  NUM_DTYPE_U8};

static int64_t random_constant(fixture *f, num_dtype t) {
    static const int64_t likely[] = {0, 1, 2, 3, 4, 7, 8, 12, 16, 31, 32, -1, -2, -8, 128, 1000};
    uint64_t r = random_bits(f);
    return num_wrap(t, r % 8 ? likely[r / 8 % 16] : (int64_t)random_bits(f));
}

static const ir_expr *random_expr(fixture *f, const ir_var *const *vars, num_dtype t, int depth) {
    static const ir_op ops[] = {IR_ADD,      IR_SUB, IR_MUL, IR_FLOORDIV, IR_FLOORMOD, IR_TRUNCDIV,
                                IR_TRUNCMOD, IR_MIN, IR_MAX, IR_BITAND,   IR_BITOR,    IR_BITXOR,
                                IR_SHL,      IR_SHR, IR_MUL, IR_ADD};
    uint64_t r = random_bits(f);
    ir_type type = ir_type_prim(t, 1);
    if (depth == 0 || r % 5 == 0) {
        if (r & 64)
            return ir_int(f->module, t, random_constant(f, t));
        const ir_expr *v = ir_var_use(f->module, vars[r / 128 % 3]);
        return ir_type_equal(v->type, type) ? v : ir_make(f->module, IR_CAST, type, &v, 1);
    }
    const ir_expr *a = random_expr(f, vars, t, depth - 1);
    if (r / 5 % 16 == 0) {
        static const ir_op unary[] = {IR_NEG, IR_BITNOT};
        return ir_make(f->module, unary[r / 128 % 2], type, &a, 1);
    }
    const ir_expr *b = random_expr(f, vars, t, depth - 1);
    if (r / 5 % 16 == 1) {
        const ir_expr *compare[] = {a, b};
        const ir_expr *args[] = {ir_make(f->module, IR_LT, ir_type_prim(NUM_DTYPE_BOOL, 1), compare, 2), b,
                                 random_expr(f, vars, t, depth - 1)};
        return ir_make(f->module, IR_SELECT, type, args, 3);
    }
    const ir_expr *args[] = {a, b};
    return ir_make(f->module, ops[r / 128 % 16], type, args, 2);
}

static void check_value(const ir_expr *e, arith_range range, arith_modular m, int64_t value) {
    bool is_u64 = e->type.dtype == NUM_DTYPE_U64;
    if (range.known && (value < range.low || value > range.high))
        fail_msg("value %" PRId64 " outside [%" PRId64 ", %" PRId64 "]", value, range.low, range.high);
    __int128 v = is_u64 ? (__int128)(uint64_t)value : value;
    if (m.modulus == 0 ? v != m.remainder : (v - m.remainder) % m.modulus != 0)
        fail_msg("value %" PRId64 " is not %" PRId64 " modulo %" PRId64, value, m.remainder, m.modulus);
}

static void test_random(void **state) {
    fixture *f = *state;
    int useful = 0;
    for (int round = 0; round < 3000; round++) {
        arith_facts *facts = arith_facts_create(f->arena, NULL);
        values v;
        int64_t low[3], steps[3], modulus[3];
        const ir_var *vars[3];
        for (int i = 0; i < 3; i++) {
            vars[i] =
                ir_var_create(f->module, "x", ir_type_prim(NUM_DTYPE_I32, 1), IR_VAR_PARAMETER, BASE_NO_SPAN);
            modulus[i] = 1 + (int64_t)(random_bits(f) % 9);
            low[i] = i == 0 ? 0 : (int64_t)(random_bits(f) % 200) - 100;
            steps[i] = i == 2 && round % 4 == 0 ? 100000000 / modulus[i] : (int64_t)(random_bits(f) % 40);
            int64_t high = low[i] + steps[i] * modulus[i];
            int64_t remainder = ((low[i] % modulus[i]) + modulus[i]) % modulus[i];
            arith_bind(facts, vars[i], (arith_range){true, low[i], high},
                       (arith_modular){modulus[i], remainder});
            v.vars[i] = vars[i];
        }
        const ir_expr *e = random_expr(f, vars, types[random_bits(f) % 6], 1 + round % 4);
        arith_range range = arith_bounds(facts, e);
        arith_modular m = arith_modular_set(facts, e);
        useful += m.modulus != 1 || (range.known && range.high < 100000);
        for (int sample = 0; sample < 40; sample++) {
            for (int i = 0; i < 3; i++)
                v.at[i] = low[i] + modulus[i] * (sample == 0 ? 0
                                                 : sample == 1
                                                     ? steps[i]
                                                     : (int64_t)(random_bits(f) % (uint64_t)(steps[i] + 1)));
            int64_t value;
            if (evaluate(e, &v, &value))
                check_value(e, range, m, value);
        }
    }
    assert_true(useful > 1000); /* sound because it says nothing would be worthless */
}

/* x: let = thread_idx * 4 keeps its facts through the let; the same value through memory does not. */
static void test_lets_and_memory(void **state) {
    fixture *f = *state;
    ir_module *m = f->module;
    ir_function *function = ir_function_create(m, "f", BASE_NO_SPAN);
    function->launch.present = true;
    for (int i = 0; i < 3; i++) {
        function->launch.grid[i] = ir_int(m, NUM_DTYPE_I32, 1);
        function->launch.block[i] = ir_int(m, NUM_DTYPE_I32, i == 0 ? 128 : 1);
    }
    const ir_expr *four = ir_int(m, NUM_DTYPE_I32, 4), *zero = ir_int(m, NUM_DTYPE_I32, 0);
    ir_stmt *let = ir_stmt_create(m, IR_STMT_LET, BASE_NO_SPAN);
    ir_var *x = ir_var_create(m, "x", ir_type_prim(NUM_DTYPE_I32, 1), IR_VAR_LET, BASE_NO_SPAN);
    let->as.let.var = x;
    let->as.let.value = ir_binary(m, IR_MUL, ir_query(m, IR_THREAD_IDX, 0), four);
    ir_block_add(m, function->body, let);
    const ir_expr *one = ir_int(m, NUM_DTYPE_I32, 1);
    ir_tensor_type type = {
        .dtype = NUM_DTYPE_I32, .lanes = 1, .scope = IR_SCOPE_LOCAL, .rank = 1, .shape = &one, .align = 64};
    ir_tensor *scalar = ir_tensor_create(m, "s", &type, IR_TENSOR_ALLOCATION, NULL, BASE_NO_SPAN);
    arith_facts *facts = arith_facts_create(f->arena, function);
    const ir_expr *use = ir_var_use(m, x), *load = ir_load(m, scalar, &zero, 1);
    arith_range range = arith_bounds(facts, use);
    assert_true(range.known);
    assert_int_equal(range.low, 0);
    assert_int_equal(range.high, 508);
    assert_true(arith_is_multiple(facts, use, 4));
    assert_false(arith_is_multiple(facts, use, 8));
    assert_true(arith_is_never_multiple(facts, ir_binary(m, IR_ADD, use, one), 4));
    assert_false(arith_is_never_multiple(facts, use, 8));
    assert_false(arith_is_multiple(facts, load, 2));
    assert_false(arith_is_non_negative(facts, load));
    assert_true(arith_is_multiple(facts, ir_binary(m, IR_MUL, load, four), 4)); /* even when it wraps */
    const ir_expr *three = ir_int(m, NUM_DTYPE_I32, 3);
    assert_false(arith_is_multiple(facts, ir_binary(m, IR_MUL, load, three), 3)); /* wraps at 2^32 */
}

static void test_loops(void **state) {
    fixture *f = *state;
    ir_module *m = f->module;
    ir_function *function = ir_function_create(m, "f", BASE_NO_SPAN);
    ir_stmt *loop = ir_stmt_create(m, IR_STMT_FOR, BASE_NO_SPAN);
    ir_var *i = ir_var_create(m, "i", ir_type_prim(NUM_DTYPE_I32, 1), IR_VAR_LOOP, BASE_NO_SPAN);
    loop->as.loop.var = i;
    loop->as.loop.start = ir_int(m, NUM_DTYPE_I32, 3);
    loop->as.loop.extent = ir_int(m, NUM_DTYPE_I32, 18); /* 3, 8, 13, 18 */
    loop->as.loop.step = ir_int(m, NUM_DTYPE_I32, 5);
    loop->as.loop.body = ir_stmt_create(m, IR_STMT_BLOCK, BASE_NO_SPAN);
    ir_block_add(m, function->body, loop);
    arith_facts *facts = arith_facts_create(f->arena, function);
    arith_range range = arith_bounds(facts, ir_var_use(m, i));
    arith_modular modular = arith_modular_set(facts, ir_var_use(m, i));
    assert_int_equal(range.low, 3);
    assert_int_equal(range.high, 18);
    assert_int_equal(modular.modulus, 5);
    assert_int_equal(modular.remainder, 3);
    int64_t value;
    const ir_expr *seven = ir_int(m, NUM_DTYPE_I32, 5);
    assert_true(arith_is_constant(facts, ir_binary(m, IR_FLOORMOD, ir_var_use(m, i), seven), &value));
    assert_int_equal(value, 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_random, start, stop),
        cmocka_unit_test_setup_teardown(test_lets_and_memory, start, stop),
        cmocka_unit_test_setup_teardown(test_loops, start, stop),
    };
    return cmocka_run_group_tests_name("arith", tests, NULL, NULL);
}
