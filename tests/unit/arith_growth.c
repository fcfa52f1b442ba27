/* SPDX-License-Identifier: Apache-2.0
 * Work and memory of the analyzer grow with the number of distinct parts of an expression, not with its depth
 * nor with its size written out: counted in steps and bytes, on expressions of 1,000 to 100,000 operations.
 * With TIRC_TABLE=1 it prints the table of docs/analyzer.md. */
#include "unit/unit.h"
#include "arith/arith_rewrite.h"
#include <stdio.h>
#include <stdlib.h>

typedef struct builder {
    ir_module *m;
    arith_facts *facts;
    const ir_expr *x, *y, *n;
} builder;

static const ir_expr *number(builder *b, int64_t value) {
    return ir_int(b->m, NUM_DTYPE_I32, value);
}
static const ir_expr *op(builder *b, ir_op o, const ir_expr *l, const ir_expr *r) {
    const ir_expr *args[] = {l, r};
    return ir_make(b->m, o, o >= IR_EQ && o <= IR_OR ? ir_type_prim(NUM_DTYPE_BOOL, 1) : l->type, args, 2);
}

/* ((x + y) * 3 - x) + y ...: as deep as it is large. */
static const ir_expr *deep_chain(builder *b, int size) {
    const ir_expr *e = b->x;
    static const ir_op ops[] = {IR_ADD, IR_MUL, IR_SUB, IR_MAX};
    for (int i = 0; i < size; i++)
        e = op(b, ops[i % 4], e, i % 4 == 1 ? number(b, 3) : i % 8 < 4 ? b->y : b->x);
    return e;
}

/* Quotients of quotients of sums: rules apply all along. */
static const ir_expr *divisions(builder *b, int size) {
    const ir_expr *e = b->x;
    for (int i = 0; i < size; i += 4) {
        e = op(b, IR_ADD, op(b, IR_MUL, e, number(b, 8)), op(b, IR_FLOORMOD, b->y, number(b, 8)));
        e = op(b, IR_FLOORMOD, op(b, IR_FLOORDIV, e, number(b, 8)), number(b, 1000 + i));
    }
    return e;
}

/* Every level uses the one below twice: 2^size when written out. */
static const ir_expr *shared(builder *b, int size) {
    const ir_expr *e = b->x;
    for (int i = 0; i < size; i += 2)
        e = op(b, IR_MIN, op(b, IR_ADD, e, i % 4 ? b->y : number(b, i)), e);
    return e;
}

static const ir_expr *tree(builder *b, int size, int *next) {
    if (size <= 1) {
        ++*next;
        return op(b, IR_MUL, *next % 2 ? b->x : b->y, number(b, *next));
    }
    const ir_expr *left = tree(b, size / 2, next);
    return op(b, IR_ADD, left, tree(b, size - size / 2, next));
}

static const ir_expr *balanced(builder *b, int size) {
    int next = 0;
    return tree(b, size / 2, &next);
}

/* (x < 1 or ...) and (x + 1 < n or ...) ...: each comparison asks for proofs. */
static const ir_expr *conditions(builder *b, int size) {
    const ir_expr *e = op(b, IR_LT, b->x, b->n);
    for (int i = 0; i < size; i += 3)
        e = op(b, i % 2 ? IR_AND : IR_OR, e, op(b, IR_LT, op(b, IR_ADD, b->x, number(b, i)), b->n));
    return e;
}

static const struct {
    const char *name;
    const ir_expr *(*build)(builder *b, int size);
} shapes[] = {{"deep chain", deep_chain},
              {"divisions", divisions},
              {"shared", shared},
              {"balanced sum", balanced},
              {"conditions", conditions}};
enum { SHAPES = 5, SIZES = 3 };
static const int sizes[SIZES] = {1000, 10000, 100000};

typedef struct effort {
    double steps, bytes;
} effort;

static effort measure(int shape, int size) {
    base_heap *heap = base_heap_create(NULL);
    base_heap_set_chunk(heap, 4096); /* what is used counts, not what a large chunk still has */
    base_arena *arena = base_arena_create(heap), *work = base_arena_create(heap);
    base_sources *sources = base_sources_create(arena);
    builder b = {.m = ir_module_create(arena, base_diagnostics_create(arena, sources))};
    b.facts = arith_facts_create(work, NULL);
    const ir_expr **uses[] = {&b.x, &b.y, &b.n};
    for (int i = 0; i < 3; i++) {
        ir_var *var = ir_var_create(b.m, "x", ir_type_prim(NUM_DTYPE_I32, 1), IR_VAR_PARAMETER, BASE_NO_SPAN);
        arith_bind(b.facts, var, (arith_range){true, 0, 100}, (arith_modular){1, 0});
        *uses[i] = ir_var_use(b.m, var);
    }
    arith_enter(b.facts, op(&b, IR_LT, b.y, b.n), true);
    const ir_expr *e = shapes[shape].build(&b, size);
    size_t before = base_heap_used(heap);
    arith_rewriter *rewriter = arith_rewriter_create(work, b.m, b.facts);
    arith_simplify(rewriter, e);
    effort result = {(double)(arith_steps(b.facts) + rewriter->steps),
                     (double)(base_heap_used(heap) - before)};
    base_heap_destroy(heap);
    return result;
}

static void test_growth(void **state) {
    (void)state;
    for (int shape = 0; shape < SHAPES; shape++) {
        effort found[SIZES];
        for (int i = 0; i < SIZES; i++)
            found[i] = measure(shape, sizes[i]);
        if (getenv("TIRC_TABLE"))
            printf("# | %s | %.1f | %.1f | %.1f | %.0f | %.0f | %.0f |\n", shapes[shape].name,
                   found[0].steps / sizes[0], found[1].steps / sizes[1], found[2].steps / sizes[2],
                   found[0].bytes / sizes[0], found[1].bytes / sizes[1], found[2].bytes / sizes[2]);
        for (int i = 1; i < SIZES; i++) {
            double times = found[i].steps / found[i - 1].steps, memory = found[i].bytes / found[i - 1].bytes;
            if (times > 13 || memory > 20 || found[i].steps < sizes[i] / 4)
                fail_msg("%s, %d to %d: %.1f times the steps, %.1f times the memory", shapes[shape].name,
                         sizes[i - 1], sizes[i], times, memory);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_growth)};
    return cmocka_run_group_tests_name("arith_growth", tests, NULL, NULL);
}
