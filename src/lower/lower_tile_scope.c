/* SPDX-License-Identifier: Apache-2.0
 * Whether the threads of a tile operation's scope come to it together: conditions and loop bounds around it
 * that depend on the thread index are tried for every thread of the block. Knows nothing of operations. */
#include "lower/lower_tile.h"

typedef struct guard {
    const ir_expr *condition;
    base_span span;
    lower_tile_guard kind;
} guard;

enum { THREADS_LIMIT = 1024, DEPTH_LIMIT = 100, WORDS = THREADS_LIMIT / 64 };

/* In which threads a condition holds, and in which that is known: a bit each. */
typedef struct truths {
    uint64_t known[WORDS], holds[WORDS];
} truths;

struct lower_tile_guards {
    lower_context *context;
    base_map *lets;   /* ir_var -> value */
    base_map *truths; /* condition -> its truths: many operations stand under one */
    BASE_VECTOR(guard) stack;
    int64_t block[3];
    int64_t threads; /* 0: not a constant, nothing is tried */
};

lower_tile_guards *lower_tile_guards_create(lower_context *context) {
    lower_tile_guards *guards = BASE_NEW(context->arena, lower_tile_guards);
    guards->context = context;
    guards->lets = base_map_create(context->arena);
    guards->truths = base_map_create(context->arena);
    guards->threads = context->function->launch.present;
    for (int i = 0; i < 3 && guards->threads; i++) {
        if (!arith_is_constant(context->facts, context->function->launch.block[i], &guards->block[i]) ||
            guards->block[i] < 1 || guards->block[i] > THREADS_LIMIT)
            guards->threads = 0;
        guards->threads *= guards->block[i];
    }
    if (guards->threads > THREADS_LIMIT)
        guards->threads = 0;
    return guards;
}

void lower_tile_guards_let(lower_tile_guards *guards, const ir_var *var, const ir_expr *value) {
    base_map_set(guards->lets, BASE_KEY(var), (void *)(uintptr_t)value);
}

void lower_tile_guards_push(lower_tile_guards *guards, const ir_expr *condition, base_span span,
                            lower_tile_guard kind) {
    guard g = {condition, span, kind};
    base_vector_push(guards->context->arena, &guards->stack, g);
}

void lower_tile_guards_pop(lower_tile_guards *guards) {
    guards->stack.count--;
}

/* ---- the value of an expression in one thread ---- */

typedef struct trial {
    const lower_tile_guards *guards;
    int64_t thread;
} trial;

static bool value_of(const trial *t, const ir_expr *e, unsigned depth, int64_t *value);

static bool arithmetic(const ir_expr *e, int64_t a, int64_t b, int64_t *value) {
    switch (e->op) {
    case IR_ADD:
        return !__builtin_add_overflow(a, b, value);
    case IR_SUB:
        return !__builtin_sub_overflow(a, b, value);
    case IR_MUL:
        return !__builtin_mul_overflow(a, b, value);
    case IR_FLOORDIV:
    case IR_TRUNCDIV:
        *value = b > 0 ? a / b : 0;
        return a >= 0 && b > 0;
    case IR_FLOORMOD:
    case IR_TRUNCMOD:
        *value = b > 0 ? a % b : 0;
        return a >= 0 && b > 0;
    case IR_SHR:
        *value = b >= 0 && b < 63 ? a >> b : 0;
        return b >= 0 && b < 63;
    case IR_BITAND:
        *value = a & b;
        return true;
    case IR_BITOR:
        *value = a | b;
        return true;
    case IR_BITXOR:
        *value = a ^ b;
        return true;
    case IR_MIN:
        *value = a < b ? a : b;
        return true;
    case IR_MAX:
        *value = a > b ? a : b;
        return true;
    case IR_EQ:
        *value = a == b;
        return true;
    case IR_NE:
        *value = a != b;
        return true;
    case IR_LT:
        *value = a < b;
        return true;
    case IR_LE:
        *value = a <= b;
        return true;
    case IR_GT:
        *value = a > b;
        return true;
    case IR_GE:
        *value = a >= b;
        return true;
    default:
        return false;
    }
}

/* One side decides and and or. */
static bool logic(const trial *t, const ir_expr *e, unsigned depth, int64_t *value) {
    int64_t a, b;
    bool left = value_of(t, e->args[0], depth, &a), right = value_of(t, e->args[1], depth, &b);
    bool stop = e->op == IR_OR;
    *value = stop;
    if ((left && (a != 0) == stop) || (right && (b != 0) == stop))
        return true;
    *value = !stop;
    return left && right;
}

static bool value_of(const trial *t, const ir_expr *e, unsigned depth, int64_t *value) {
    const int64_t *block = t->guards->block;
    int64_t a, b;
    if (depth > DEPTH_LIMIT || (e->type.kind == IR_TYPE_PRIM && e->type.lanes > 1))
        return false;
    switch (e->op) {
    case IR_INT:
        *value = e->at.integer;
        return true;
    case IR_VAR: {
        const ir_expr *bound = base_map_get(t->guards->lets, BASE_KEY(e->at.var));
        return bound && value_of(t, bound, depth + 1, value);
    }
    case IR_LINEAR_THREAD:
        *value = t->thread;
        return true;
    case IR_LANE_ID:
        *value = t->thread % 32;
        return true;
    case IR_WARP_ID:
        *value = t->thread / 32;
        return true;
    case IR_BLOCK_DIM:
        *value = block[e->at.integer];
        return true;
    case IR_THREAD_IDX:
        *value = e->at.integer == 0   ? t->thread % block[0]
                 : e->at.integer == 1 ? t->thread / block[0] % block[1]
                                      : t->thread / block[0] / block[1];
        return true;
    case IR_CAST:
        return ir_type_is_integer(e->type) && ir_type_is_integer(e->args[0]->type) &&
               value_of(t, e->args[0], depth + 1, value);
    case IR_NOT:
        if (!value_of(t, e->args[0], depth + 1, &a))
            return false;
        *value = !a;
        return true;
    case IR_AND:
    case IR_OR:
        return logic(t, e, depth + 1, value);
    default:
        return e->count == 2 && value_of(t, e->args[0], depth + 1, &a) &&
               value_of(t, e->args[1], depth + 1, &b) && arithmetic(e, a, b, value);
    }
}

/* Whether something inside may differ between threads: what nothing is known of may. */
static bool depends_on_thread(const ir_expr *e, const lower_tile_guards *guards, unsigned depth) {
    if (depth > DEPTH_LIMIT || (e->effects & (IR_FLAG_READS | IR_FLAG_DIVERGENT | IR_FLAG_SYNC)))
        return true;
    if (e->op == IR_VAR && e->at.var->kind == IR_VAR_LET) {
        const ir_expr *bound = base_map_get(guards->lets, BASE_KEY(e->at.var));
        return !bound || depends_on_thread(bound, guards, depth + 1);
    }
    if (e->op == IR_VAR)
        return e->at.var->kind == IR_VAR_REGISTER;
    for (uint32_t i = 0; i < e->count; i++)
        if (depends_on_thread(e->args[i], guards, depth + 1))
            return true;
    return false;
}

/* Two threads of one group that the condition tells apart. */
static bool tells_apart(const lower_tile_guards *guards, const ir_expr *condition, int64_t group,
                        int64_t *first, int64_t *second) {
    for (int64_t begin = 0; begin < guards->threads; begin += group)
        for (int64_t i = begin, known = -1, kept = 0; i < begin + group && i < guards->threads; i++) {
            trial t = {guards, i};
            int64_t value;
            if (!value_of(&t, condition, 0, &value))
                continue;
            if (known < 0) {
                known = i;
                kept = value;
            } else if (value != kept) {
                *first = known;
                *second = i;
                return true;
            }
        }
    return false;
}

static const truths *truths_of(const lower_tile_guards *guards, const ir_expr *condition) {
    truths *found = base_map_get(guards->truths, BASE_KEY(condition));
    if (found)
        return found;
    found = BASE_NEW(guards->context->arena, truths);
    for (int64_t i = 0; i < guards->threads; i++) {
        trial t = {guards, i};
        int64_t value;
        if (!value_of(&t, condition, 0, &value))
            continue;
        found->known[i / 64] |= UINT64_C(1) << i % 64;
        found->holds[i / 64] |= (uint64_t)(value != 0) << i % 64;
    }
    base_map_set(guards->truths, BASE_KEY(condition), found);
    return found;
}

/* Threads of the block that come here; 0 where a condition is not over the thread's index alone. */
static int64_t issuers(const lower_tile_guards *guards) {
    uint64_t coming[WORDS] = {0};
    int64_t count = 0;
    for (int64_t i = 0; i < guards->threads; i++)
        coming[i / 64] |= UINT64_C(1) << i % 64;
    for (size_t k = 0; k < guards->stack.count; k++) {
        const guard *g = &guards->stack.items[k];
        if (g->kind == LOWER_TILE_BOUND)
            continue;
        const truths *t = truths_of(guards, g->condition);
        bool open = false;
        for (int w = 0; w < WORDS; w++) {
            uint64_t holds = g->kind == LOWER_TILE_HOLDS ? t->holds[w] : ~t->holds[w];
            open = open || (coming[w] & ~t->known[w]);
            coming[w] &= holds | ~t->known[w];
        }
        if (open && depends_on_thread(g->condition, guards, 0))
            return 0;
    }
    for (int w = 0; w < WORDS; w++)
        count += __builtin_popcountll(coming[w]);
    return count;
}

bool lower_tile_guards_single(lower_tile_guards *guards, const lower_tile *op) {
    int64_t count = op->scope == LAYOUT_SCOPE_THREAD ? issuers(guards) : 0;
    if (count < 2)
        return true;
    base_diagnostic *d =
        base_report(guards->context->diagnostics, BASE_ERROR, "T0565", op->span,
                    "%lld threads come to this %s, and each would issue it", (long long)count, op->name);
    base_help(guards->context->diagnostics, d, "let one thread do it: if tx == 0, or one that a warp elects");
    return false;
}

/* Whether something inside differs between CTAs: their index, or what an instruction says. */
static bool depends_on_cta(const ir_expr *e, const lower_tile_guards *guards, unsigned depth) {
    if (depth > DEPTH_LIMIT || e->op == IR_BLOCK_IDX || e->op == IR_PTX || (e->effects & IR_FLAG_READS))
        return true;
    if (e->op == IR_VAR && e->at.var->kind == IR_VAR_LET) {
        const ir_expr *bound = base_map_get(guards->lets, BASE_KEY(e->at.var));
        return !bound || depends_on_cta(bound, guards, depth + 1);
    }
    for (uint32_t i = 0; i < e->count; i++)
        if (depends_on_cta(e->args[i], guards, depth + 1))
            return true;
    return false;
}

/* The CTAs of a cluster, which conditions may part as they part threads. */
static bool check_cluster(const lower_tile_guards *guards, const lower_tile *op) {
    base_diagnostics *diagnostics = guards->context->diagnostics;
    for (size_t i = 0; i < guards->stack.count; i++) {
        const guard *g = &guards->stack.items[i];
        if (!depends_on_cta(g->condition, guards, 0))
            continue;
        base_builder text;
        base_builder_start(&text, guards->context->arena);
        ir_expr_print(g->condition, &text);
        base_diagnostic *d = base_report(
            diagnostics, BASE_ERROR, "T0564", op->span,
            "all CTAs of the cluster do %s together, but `%s` may tell them apart", op->name, text.data);
        base_note(diagnostics, d, g->span, "here they part");
        base_help(diagnostics, d, "take it out of there, or use scope cta: cta.%s is done by each CTA alone",
                  op->name);
        return false;
    }
    return true;
}

bool lower_tile_guards_check(lower_tile_guards *guards, const lower_tile *op) {
    base_diagnostics *diagnostics = guards->context->diagnostics;
    int64_t group = op->scope == LAYOUT_SCOPE_WARP ? 32 : op->scope == LAYOUT_SCOPE_WARPGROUP ? 128 : 0;
    if (op->scope == LAYOUT_SCOPE_THREAD || guards->threads == 0)
        return true;
    if (op->scope == LAYOUT_SCOPE_CLUSTER && !check_cluster(guards, op))
        return false;
    if (group == 0)
        group = guards->threads;
    for (size_t i = 0; i < guards->stack.count; i++) {
        const guard *g = &guards->stack.items[i];
        int64_t first, second;
        if (!tells_apart(guards, g->condition, group, &first, &second))
            continue;
        base_builder text;
        base_builder_start(&text, guards->context->arena);
        ir_expr_print(g->condition, &text);
        base_diagnostic *d = base_report(
            diagnostics, BASE_ERROR, "T0564", op->span,
            "all threads of the %s do %s together, but `%s` tells threads %lld and %lld apart",
            lower_tile_scope_word(op->scope), op->name, text.data, (long long)first, (long long)second);
        base_note(diagnostics, d, g->span, "here they part");
        base_help(diagnostics, d,
                  "take it out of there, or use a narrower scope: thread.%s is done by each thread alone",
                  op->name);
        return false;
    }
    return true;
}
