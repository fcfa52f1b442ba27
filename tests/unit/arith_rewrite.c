/* SPDX-License-Identifier: Apache-2.0
 * The rule table: every rule tried on all values of small widths, every rule used by the rewriter on
 * expressions of each integer type and compared with evaluation. */
#include "unit/unit.h"
#include "unit/arith_model.h"
#include "arith/arith_rewrite.h"
#include "num/num.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- the shape of the table ---- */
/* Cost of a tree as a sum: what its own operations and leaves cost, and how often each slot's cost counts. */
typedef struct cost {
    unsigned own, slots[ARITH_SLOTS];
} cost;

static cost cost_of(const arith_node *n) {
    cost c = {0};
    if (n->is_constant || n->kind == ARITH_NODE_NUMBER) {
        c.own = 1;
        return c;
    }
    if (n->kind != ARITH_NODE_OP) {
        c.slots[n->slot] = 1;
        return c;
    }
    bool divides =
        n->op == IR_FLOORDIV || n->op == IR_FLOORMOD || n->op == IR_TRUNCDIV || n->op == IR_TRUNCMOD;
    c.own = n->op == IR_MUL || n->op == IR_SHR ? 2 : divides ? 8 : 1;
    divides |= n->op == IR_SHR;
    c.own += n->op == IR_TRUNCDIV || n->op == IR_TRUNCMOD;
    for (unsigned i = 0; i < n->count; i++) {
        cost part = cost_of(arith_node_arg(n, i));
        unsigned times = divides && i == 0 ? 2 : 1;
        c.own += part.own * times;
        for (unsigned s = 0; s < ARITH_SLOTS; s++)
            c.slots[s] += part.slots[s] * times;
    }
    return c;
}

static void count_uses(const arith_node *n, unsigned *uses) {
    if (n->kind == ARITH_NODE_VARIABLE || n->kind == ARITH_NODE_TRUTH)
        uses[n->slot]++;
    for (unsigned i = 0; i < n->count; i++)
        count_uses(arith_node_arg(n, i), uses);
}

static void test_table(void **state) {
    (void)state;
    size_t count;
    const arith_rule *rules = arith_rules(&count);
    assert_true(count > 80);
    for (size_t i = 0; i < count; i++) {
        const arith_rule *rule = &rules[i];
        cost before = cost_of(rule->pattern), after = cost_of(rule->result);
        unsigned uses[ARITH_SLOTS] = {0}, sum_before = before.own, sum_after = after.own;
        count_uses(rule->result, uses);
        for (unsigned s = 0; s < ARITH_SLOTS; s++) {
            if (uses[s] > rule->uses[s] || after.slots[s] > before.slots[s])
                fail_msg("%s: the result uses %c more than the pattern", rule->name, arith_slot_names[s]);
            sum_before += before.slots[s];
            sum_after += after.slots[s];
        }
        if (sum_after >= sum_before || after.own > before.own)
            fail_msg("%s: the result costs %u, the pattern %u", rule->name, sum_after, sum_before);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(rule->name, rules[j].name);
    }
}

/* ---- every rule on all values of a small width ---- */
typedef struct tally {
    uint64_t applied, skipped;
} tally;

static void check_one(model *m, const arith_rule *rule, tally *t) {
    if (!conditions_hold(m, rule)) {
        t->skipped++;
        return;
    }
    m->undefined = m->overflows = false;
    wide before = evaluate(m, rule->pattern);
    bool defined = !m->undefined, fits = !m->overflows;
    if (!defined)
        return;
    t->applied++;
    m->overflows = false;
    wide after = evaluate(m, rule->result);
    if (before != after || m->undefined || (m->is_signed && fits && m->overflows))
        fail_msg("%s, %u bits %s: x %d y %d z %d p %d q %d C %d D %d E %d: %d becomes %d%s", rule->name,
                 m->bits, m->is_signed ? "signed" : "unsigned", (int)m->slots[0], (int)m->slots[1],
                 (int)m->slots[2], (int)m->slots[3], (int)m->slots[4], (int)m->slots[5], (int)m->slots[6],
                 (int)m->slots[7], (int)before, (int)after,
                 m->undefined   ? " (divides by 0)"
                 : m->overflows ? " (overflows)"
                                : "");
}

static void try_all(model *m, const arith_rule *rule, unsigned slot, tally *t) {
    while (slot < ARITH_SLOTS && rule->uses[slot] == 0)
        slot++;
    if (slot == ARITH_SLOTS) {
        check_one(m, rule, t);
        return;
    }
    bool truth = slot == 3 || slot == 4;
    wide low = truth || !m->is_signed ? 0 : -((wide)1 << (m->bits - 1));
    wide span = truth ? 2 : (wide)1 << m->bits;
    for (wide v = low; v < low + span; v++) {
        m->slots[slot] = v;
        try_all(m, rule, slot + 1, t);
    }
}

static void test_all_values(void **state) {
    (void)state;
    size_t count;
    const arith_rule *rules = arith_rules(&count);
    for (size_t i = 0; i < count; i++) {
        tally total = {0};
        unsigned slots = 0;
        for (unsigned s = 0; s < ARITH_SLOTS; s++)
            slots += rules[i].uses[s] != 0;
        for (unsigned bits = 2; bits <= (slots <= 3 ? 5u : slots == 4 ? 4u : 3u); bits++)
            for (int is_signed = 0; is_signed < 2; is_signed++) {
                model m = {.bits = bits, .is_signed = is_signed != 0};
                try_all(&m, &rules[i], 0, &total);
            }
        if (total.applied < 10)
            fail_msg("%s: its conditions hold for %u values only", rules[i].name, (unsigned)total.applied);
    }
}

/* ---- the rewriter at work ---- */
static const num_dtype types[] = {NUM_DTYPE_I8, NUM_DTYPE_I16, NUM_DTYPE_I32, NUM_DTYPE_I64,
                                  NUM_DTYPE_U8, NUM_DTYPE_U16, NUM_DTYPE_U32, NUM_DTYPE_U64};

static int64_t random_constant(fixture *f, num_dtype t) {
    static const int64_t likely[] = {0, 1, 2, 3, 4, 5, 7, 8, 12, 16, 15, 32, -1, -2, -8, -4, 64, 24};
    uint64_t r = random_bits(f);
    switch (r % 16) {
    case 0:
        return num_wrap(t, (int64_t)random_bits(f));
    case 1:
        return num_minimum(t);
    case 2:
        return num_wrap(t, (int64_t)num_maximum(t));
    default:
        return num_wrap(t, likely[r / 16 % 18]);
    }
}

typedef struct instance {
    ir_var *vars[5];
    int64_t low[5], high[5], modulus[5], at[5];
    const ir_expr *slots[ARITH_SLOTS];
    num_dtype dtype;
    int relation; /* 0: none, 1: x < y, 2: y <= x is assumed */
} instance;

/* Variables with random facts: small, negative, unbounded, multiples. */
static void random_instance(fixture *f, instance *in, num_dtype t, arith_facts *facts) {
    in->dtype = t;
    bool is_signed = num_dtype_class(t) == NUM_SIGNED;
    for (int i = 0; i < 5; i++) {
        num_dtype type = i < 3 ? t : NUM_DTYPE_BOOL;
        in->vars[i] = ir_var_create(f->module, "x", ir_type_prim(type, 1), IR_VAR_PARAMETER, BASE_NO_SPAN);
        in->slots[i] = ir_var_use(f->module, in->vars[i]);
        uint64_t r = random_bits(f);
        in->modulus[i] = 1;
        if (i >= 3) {
            in->low[i] = 0, in->high[i] = 1;
            continue;
        }
        if (r % 4 == 0) { /* unbounded */
            in->low[i] = t == NUM_DTYPE_U64 ? 0 : num_minimum(t);
            in->high[i] = t == NUM_DTYPE_U64 ? -1 : (int64_t)num_maximum(t);
            if (r / 4 % 2)
                in->modulus[i] = (int64_t)1 << r / 8 % 5;
        } else {
            in->low[i] = r / 4 % 3 && is_signed ? -(int64_t)(r / 12 % 20) : (int64_t)(r / 12 % 12);
            in->high[i] = in->low[i] + (int64_t)(r / 1000 % 12);
            if (r / 20000 % 3 == 0)
                in->modulus[i] = 1 + (int64_t)(r / 60000 % 16);
        }
        int64_t first = in->low[i];
        bool all = t == NUM_DTYPE_U64 && in->high[i] == -1;
        if (in->modulus[i] > 1) /* multiples of the modulus, so that all is 0 modulo it */
            while (first % in->modulus[i] != 0 && (all || first < in->high[i]))
                first++;
        if (first % in->modulus[i] != 0)
            in->modulus[i] = 1, first = in->low[i];
        in->low[i] = first;
        arith_bind(facts, in->vars[i], (arith_range){!all, in->low[i], in->high[i]},
                   (arith_modular){in->modulus[i], 0});
    }
    for (int i = 5; i < ARITH_SLOTS; i++)
        in->slots[i] = ir_int(f->module, t, random_constant(f, t));
    in->relation = (int)(random_bits(f) % 3);
    if (in->relation)
        arith_enter(facts, ir_binary(f->module, IR_LT, in->slots[0], in->slots[1]), in->relation == 1);
}

static const ir_expr *instantiate(fixture *f, const instance *in, const arith_node *n) {
    ir_type type = ir_type_prim(in->dtype, 1), truth = ir_type_prim(NUM_DTYPE_BOOL, 1);
    if (n->kind == ARITH_NODE_NUMBER)
        return n->is_truth ? ir_bool(f->module, n->number != 0) : ir_int(f->module, in->dtype, n->number);
    if (n->kind != ARITH_NODE_OP)
        return in->slots[n->slot];
    const ir_expr *args[3];
    for (unsigned i = 0; i < n->count; i++)
        args[i] = instantiate(f, in, arith_node_arg(n, i));
    if (n->exchange && n->count == 2 && random_bits(f) % 2) {
        const ir_expr *first = args[0];
        args[0] = args[1], args[1] = first;
    }
    return ir_make(f->module, n->op, n->is_truth ? truth : type, args, n->count);
}

static int64_t random_value(fixture *f, const instance *in, int i) {
    if (in->dtype == NUM_DTYPE_U64 && i < 3 && in->high[i] == -1)
        return (int64_t)(random_bits(f) / (uint64_t)in->modulus[i] * (uint64_t)in->modulus[i]);
    wide span = (wide)in->high[i] - in->low[i];
    uint64_t steps = (uint64_t)(span / in->modulus[i]);
    uint64_t r = random_bits(f), step = r % 4 == 0            ? 0
                                        : r % 4 == 1          ? steps
                                        : steps == UINT64_MAX ? random_bits(f)
                                                              : random_bits(f) % (steps + 1);
    return (int64_t)((uint64_t)in->low[i] + step * (uint64_t)in->modulus[i]);
}

/* An independent walk over the ops of the IR. False: not defined there. */
static bool value_of(const ir_expr *e, const instance *in, int64_t *result) {
    if (e->op == IR_INT) {
        *result = e->at.integer;
        return true;
    }
    if (e->op == IR_VAR) {
        for (int i = 0; i < 5; i++)
            if (in->vars[i] == e->at.var)
                *result = in->at[i];
        return true;
    }
    wide v[3] = {0};
    num_dtype from = (num_dtype)e->args[0]->type.dtype;
    for (uint32_t i = 0; i < e->count; i++) {
        int64_t part;
        if (!value_of(e->args[i], in, &part))
            return false;
        v[i] = (num_dtype)e->args[i]->type.dtype == NUM_DTYPE_U64 ? (wide)(uint64_t)part : part;
    }
    if (e->op == IR_SELECT) {
        *result = (int64_t)(v[0] ? v[1] : v[2]);
        return true;
    }
    model m = {.bits = from == NUM_DTYPE_BOOL ? 64 : num_dtype_bits(from)};
    if ((e->op == IR_SHL || e->op == IR_SHR) && v[1] < 0)
        return false;
    if (e->op == IR_SHL && v[1] < m.bits) /* 128 bits may not hold the product */
        *result = (int64_t)((uint64_t)v[0] << v[1]);
    else
        *result = (int64_t)operate(&m, e->op, v[0], v[1]);
    *result = ir_type_is_bool(e->type) ? *result != 0 : num_wrap((num_dtype)e->type.dtype, *result);
    return !m.undefined;
}

static void compare(fixture *f, instance *in, const ir_expr *before, const ir_expr *after, const char *name) {
    for (int sample = 0; sample < 24; sample++) {
        for (int i = 0; i < 5; i++)
            in->at[i] = random_value(f, in, i);
        int64_t a, b;
        int order = num_compare(in->dtype, in->at[0], in->at[1]);
        if ((in->relation == 1 && order >= 0) || (in->relation == 2 && order < 0) ||
            !value_of(before, in, &a))
            continue;
        bool defined = value_of(after, in, &b);
        if (!defined || a != b) {
            base_builder text;
            base_builder_start(&text, f->arena);
            ir_expr_print(before, &text);
            base_builder_string(&text, " became ");
            ir_expr_print(after, &text);
            fail_msg("%s, %s: %s: %" PRId64 " and %" PRId64 " at %" PRId64 ", %" PRId64 ", %" PRId64, name,
                     num_dtype_name(in->dtype), text.data, a, b, in->at[0], in->at[1], in->at[2]);
        }
    }
}

static void test_every_rule(void **state) {
    fixture *f = *state;
    size_t count;
    const arith_rule *rules = arith_rules(&count);
    arith_rewriter *rewriter = arith_rewriter_create(f->arena, f->module, NULL);
    unsigned never = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned hits = 0;
        for (int round = 0; round < 8000 && hits < 40; round++) {
            /* What a round makes is dropped with it. */
            base_arena *arena = base_arena_create(f->heap);
            ir_module *module = ir_module_create(arena, f->module->diagnostics);
            fixture inner = {f->heap, arena, module, f->seed};
            unsigned t = (unsigned)round % 8;
            instance in;
            arith_facts *facts = arith_facts_create(arena, NULL);
            random_instance(&inner, &in, types[t], facts);
            const ir_expr *before = instantiate(&inner, &in, rules[i].pattern);
            uint64_t hits_before = rewriter->hits[i];
            rewriter->arena = arena;
            rewriter->module = module;
            rewriter->facts = facts;
            const ir_expr *after = arith_rewrite(rewriter, before);
            hits += rewriter->hits[i] != hits_before;
            if (after != before)
                compare(&inner, &in, before, after, rules[i].name);
            f->seed = inner.seed;
            base_arena_destroy(arena);
        }
        if (!hits)
            print_error("%s is never used\n", rules[i].name);
        never += !hits;
    }
    assert_int_equal(never, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_table, start, stop),
        cmocka_unit_test_setup_teardown(test_all_values, start, stop),
        cmocka_unit_test_setup_teardown(test_every_rule, start, stop),
    };
    return cmocka_run_group_tests_name("arith_rewrite", tests, NULL, NULL);
}
