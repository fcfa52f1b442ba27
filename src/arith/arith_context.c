/* SPDX-License-Identifier: Apache-2.0
 * The facts of a function: variables from their bindings, index queries from the launch, everything else
 * computed children first and once per scope; and the scopes, in which conditions refine what they compare.
 * Must not know how operations transform facts (arith_bounds.c) nor any pass. */
#include "arith/arith_fact.h"
#include "arith/arith_prove.h"
#include "num/num.h"

typedef arith_wide wide;

/* What was known of an expression before a scope refined it. */
typedef struct saved {
    uint64_t key;
    void *before;
} saved;

/* What a scope assumes is worked out when something is asked inside: of most, nothing ever is. */
typedef struct scope {
    enum { SCOPE_FUNCTION, SCOPE_CONDITION, SCOPE_LOOP } kind;
    bool truth;                    /* CONDITION */
    const ir_expr *condition;      /* CONDITION */
    const ir_expr *start, *extent; /* LOOP */
    const ir_var *var;
    ir_memo *memo; /* arith_fact by expression; NULL until one is kept */
    bool shared;   /* the memo is an outer scope's */
    size_t saved_count, relation_count;
    uint64_t number;
} scope;

typedef struct frame {
    const ir_expr *e;
    uint32_t next;
} frame;

struct arith_facts {
    base_arena *arena;
    const ir_function *function;
    base_map *vars;        /* ir_var id + 1 -> arith_fact */
    base_map *definitions; /* ir_var id + 1 -> pure ir_expr of a let */
    base_map *refined;     /* ir_expr id + 1 -> arith_fact that holds in the open scopes */
    BASE_VECTOR(saved) saved;
    BASE_VECTOR(scope) scopes; /* the first is the function */
    size_t settled;            /* scopes from here on are not worked out */
    bool settling, unwalked;
    BASE_VECTOR(frame) stack;
    arith_relations relations;
    uint64_t steps, scopes_made;
    bool proving;
};

/* Scopes nest as statements do; a refinement goes this deep into what a condition compares. */
enum { REFINE_DEPTH = 16 };

/* Of those that are worked out. */
static scope *innermost(const arith_facts *facts) {
    return &facts->scopes.items[facts->settled - 1];
}
static void settle(arith_facts *facts);
static inline void get_ready(arith_facts *facts) {
    if ((facts->settled < facts->scopes.count && !facts->settling) || facts->unwalked)
        settle(facts);
}
static const arith_fact *find(const arith_facts *facts, const ir_expr *e) {
    const ir_memo *memo = innermost(facts)->memo;
    return memo ? ir_memo_get(memo, e) : NULL;
}
static void *keep(arith_facts *facts, arith_fact f) {
    return base_arena_copy(facts->arena, &f, sizeof f);
}
static const arith_fact *set(arith_facts *facts, const ir_expr *e, arith_fact f) {
    scope *s = innermost(facts);
    if (!s->memo)
        s->memo = ir_memo_open(e->module);
    const arith_fact *kept = keep(facts, f);
    ir_memo_set(s->memo, e, kept);
    return kept;
}

/* ---- index queries ---- */
static const int64_t block_limit[3] = {1024, 1024, 64};
static const int64_t grid_limit[3] = {2147483647, 65535, 65535};

/* Bounds of a launch dimension, inside what hardware allows. */
static arith_range dimension(arith_facts *facts, const ir_expr *const *sizes, int axis,
                             const int64_t *limits) {
    arith_range r = {true, 1, limits[axis]};
    if (!facts->function || !facts->function->launch.present || !sizes[axis])
        return r;
    arith_range given = arith_bounds(facts, sizes[axis]);
    if (given.known && given.low > r.low && given.low <= r.high)
        r.low = given.low;
    if (given.known && given.high < r.high && given.high >= r.low)
        r.high = given.high;
    return r;
}

static arith_fact query(arith_facts *facts, const ir_expr *e) {
    static const ir_launch none;
    const ir_launch *launch = facts->function ? &facts->function->launch : &none;
    int axis = (int)e->at.integer;
    arith_range r;
    switch (e->op) {
    case IR_THREAD_IDX:
        return arith_fact_within(0, dimension(facts, launch->block, axis, block_limit).high - 1);
    case IR_BLOCK_IDX:
        return arith_fact_within(0, dimension(facts, launch->grid, axis, grid_limit).high - 1);
    case IR_BLOCK_DIM:
        r = dimension(facts, launch->block, axis, block_limit);
        return arith_fact_within(r.low, r.high);
    case IR_GRID_DIM:
        r = dimension(facts, launch->grid, axis, grid_limit);
        return arith_fact_within(r.low, r.high);
    default:
        break;
    }
    int64_t threads = 1;
    for (int i = 0; i < 3; i++)
        threads *= dimension(facts, launch->block, i, block_limit).high;
    threads = threads > 1024 ? 1024 : threads;
    if (e->op == IR_LANE_ID)
        return arith_fact_within(0, threads < 32 ? threads - 1 : 31);
    return e->op == IR_WARP_ID ? arith_fact_within(0, (threads - 1) / 32) : arith_fact_within(0, threads - 1);
}

/* ---- one expression ---- */
static bool is_query(ir_op op) {
    return op == IR_THREAD_IDX || op == IR_BLOCK_IDX || op == IR_BLOCK_DIM || op == IR_GRID_DIM ||
           op == IR_LANE_ID || op == IR_WARP_ID || op == IR_LINEAR_THREAD;
}

/* Whether the facts of the arguments say something about e. */
static bool is_transparent(const ir_expr *e) {
    return e->count && arith_is_integral(e->type) && (ir_op_information(e->op)->flags & IR_FLAG_PURE);
}

static bool is_comparison(ir_op op) {
    return op >= IR_EQ && op <= IR_GE;
}

static arith_fact compute(arith_facts *facts, const ir_expr *e) {
    if (!arith_is_integral(e->type))
        return arith_fact_unknown(e->type);
    arith_fact *bound;
    if (e->op == IR_INT)
        return e->type.dtype == NUM_DTYPE_U64 && e->at.integer < 0
                   ? arith_fact_unknown(e->type)
                   : arith_fact_within(e->at.integer, e->at.integer);
    if (e->op == IR_VAR) {
        bound = base_map_get(facts->vars, (uint64_t)e->at.var->id + 1);
        return bound ? *bound : arith_fact_unknown(e->type);
    }
    if (is_query(e->op))
        return query(facts, e);
    if (!is_transparent(e))
        return arith_fact_unknown(e->type);
    if (e->op == IR_SELECT || e->op == IR_IF_THEN_ELSE)
        return arith_fact_join(e->type, *find(facts, e->args[1]), *find(facts, e->args[2]));
    if (e->count == 2 && arith_is_integral(e->args[0]->type) && arith_is_integral(e->args[1]->type)) {
        arith_fact f = arith_fact_of_binary(e, *find(facts, e->args[0]), *find(facts, e->args[1]));
        if (!is_comparison(e->op) || f.range.low == f.range.high)
            return f;
        /* A relation may be about what contains this comparison: a proof does not start another. */
        if (facts->proving)
            return f;
        facts->proving = true;
        int answer = arith_relations_compare(facts, e->op, e->args[0], e->args[1]);
        facts->proving = false;
        return arith_fact_within(answer > 0, answer >= 0);
    }
    return e->count == 1 ? arith_fact_of_unary(e, *find(facts, e->args[0])) : arith_fact_unknown(e->type);
}

/* Computed and kept; the facts of its arguments are there. */
static const arith_fact *finish(arith_facts *facts, const ir_expr *e) {
    facts->steps++;
    arith_fact f = arith_fact_settle(compute(facts, e));
    const arith_fact *refined = base_map_get(facts->refined, (uint64_t)e->id + 1);
    if (refined)
        f = arith_fact_settle(arith_fact_meet(f, *refined));
    return set(facts, e, f);
}

/* Deeper expressions are looked at with a stack of their own. */
enum { RECURSION_DEPTH = 200 };

static const arith_fact *shallow(arith_facts *facts, const ir_expr *e) {
    if (is_transparent(e))
        for (uint32_t i = 0; i < e->count; i++)
            if (!find(facts, e->args[i]))
                shallow(facts, e->args[i]);
    return finish(facts, e);
}

/* Never deeper than what has no facts yet. */
static const arith_fact *deep(arith_facts *facts, const ir_expr *root) {
    size_t base = facts->stack.count;
    base_vector_push(facts->arena, &facts->stack, (frame){root, 0});
    while (facts->stack.count > base) {
        frame *top = &facts->stack.items[facts->stack.count - 1];
        const ir_expr *e = top->e;
        if (top->next < e->count && is_transparent(e)) {
            const ir_expr *child = e->args[top->next++];
            if (!find(facts, child))
                base_vector_push(facts->arena, &facts->stack, (frame){child, 0});
            continue;
        }
        finish(facts, e);
        facts->stack.count--;
    }
    return find(facts, root);
}

arith_fact arith_fact_of(arith_facts *facts, const ir_expr *e) {
    if (e->op == IR_INT)
        return compute(facts, e);
    get_ready(facts);
    const arith_fact *known = find(facts, e);
    if (!known)
        known = e->depth > RECURSION_DEPTH ? deep(facts, e) : shallow(facts, e);
    return *known;
}

void arith_type_bounds(ir_type type, wide *low, wide *high) {
    arith_range r = arith_type_range(type);
    *low = r.known ? r.low : 0;
    *high = r.known ? r.high : (wide)UINT64_MAX; /* uint64 */
}

void arith_wide_bounds(arith_facts *facts, const ir_expr *e, wide *low, wide *high) {
    arith_range r = arith_fact_of(facts, e).range;
    arith_type_bounds(e->type, low, high);
    if (r.known)
        *low = r.low, *high = r.high;
}

const ir_expr *arith_definition(arith_facts *facts, const ir_var *var) {
    get_ready(facts);
    return base_map_get(facts->definitions, (uint64_t)var->id + 1);
}

const arith_relations *arith_known_relations(arith_facts *facts) {
    get_ready(facts);
    return &facts->relations;
}
void arith_relation_add(arith_facts *facts, const arith_linear *sum) {
    base_vector_push(facts->arena, &facts->relations, *sum);
}
void arith_count_steps(arith_facts *facts, uint64_t steps) {
    facts->steps += steps;
}

/* ---- scopes ---- */
static void drop_memo(scope *s) {
    if (s->memo && !s->shared)
        ir_memo_close(s->memo);
    s->memo = NULL;
}

static void refine(arith_facts *facts, const ir_expr *e, arith_fact with, int depth);

static void save(arith_facts *facts, const ir_expr *e, arith_fact f) {
    uint64_t key = (uint64_t)e->id + 1;
    const arith_fact *before = base_map_get(facts->refined, key);
    if (before)
        f = arith_fact_meet(*before, f);
    base_vector_push(facts->arena, &facts->saved, (saved){key, (void *)(uintptr_t)before});
    base_map_set(facts->refined, key, keep(facts, f));
}

/* The exact value of a op b stays inside the type. */
static bool stays_inside(arith_facts *facts, const ir_expr *e) {
    wide al, ah, bl, bh, low, high, least, most;
    arith_wide_bounds(facts, e->args[0], &al, &ah);
    arith_wide_bounds(facts, e->args[1], &bl, &bh);
    arith_type_bounds(e->type, &least, &most);
    if (e->op == IR_MUL) { /* by a constant that is not negative */
        if (bl != bh || bl < 0)
            return false;
        low = al * bl, high = ah * bl;
    } else {
        low = e->op == IR_ADD ? al + bl : al - bh;
        high = e->op == IR_ADD ? ah + bh : ah - bl;
    }
    return low >= least && high <= most;
}

static arith_fact shifted(arith_fact f, int64_t by) {
    arith_range r = f.range;
    if (__builtin_add_overflow(r.low, by, &r.low) || __builtin_add_overflow(r.high, by, &r.high))
        r.known = false;
    return (arith_fact){f.range.known ? r : f.range, arith_modular_add(f.modular, (arith_modular){0, by}, 1)};
}

/* e = x op constant has this fact: so x has another. */
static void refine_through(arith_facts *facts, const ir_expr *e, arith_fact f, int64_t c, int depth) {
    const ir_expr *x = e->args[0];
    switch (e->op) {
    case IR_ADD:
    case IR_SUB:
        if (c != INT64_MIN && stays_inside(facts, e))
            refine(facts, x, shifted(f, e->op == IR_ADD ? -c : c), depth);
        break;
    case IR_MUL:
        if (c > 0 && f.range.known && stays_inside(facts, e)) {
            wide low = arith_floor_divide((wide)f.range.low + c - 1, c);
            refine(facts, x,
                   (arith_fact){{true, (int64_t)low, (int64_t)arith_floor_divide(f.range.high, c)},
                                arith_any_residue},
                   depth);
        }
        break;
    case IR_FLOORDIV:
        if (c > 0 && f.range.known) {
            wide low = (wide)f.range.low * c, high = (wide)f.range.high * c + c - 1;
            if (low >= INT64_MIN && high <= INT64_MAX)
                refine(facts, x, (arith_fact){{true, (int64_t)low, (int64_t)high}, arith_any_residue}, depth);
        }
        break;
    case IR_FLOORMOD:
    case IR_TRUNCMOD: /* equal where the remainder is 0 */
        if (c > 0 && f.range.known && f.range.low == f.range.high &&
            (e->op == IR_FLOORMOD || f.range.low == 0))
            refine(facts, x, (arith_fact){{false, 0, 0}, arith_modular_make(c, f.range.low)}, depth);
        break;
    case IR_BITAND: /* low bits */
        if (c > 0 && c < INT64_MAX && (c & (c + 1)) == 0 && f.range.known && f.range.low == f.range.high)
            refine(facts, x, (arith_fact){{false, 0, 0}, arith_modular_make((wide)c + 1, f.range.low)},
                   depth);
        break;
    default:
        break;
    }
}

/* e has this fact here, on top of what is known. */
static void refine(arith_facts *facts, const ir_expr *e, arith_fact with, int depth) {
    int64_t value;
    const ir_expr *definition;
    if (depth == 0 || !arith_is_integral(e->type) || ir_expr_reads(e) || e->op == IR_INT)
        return;
    arith_fact f = arith_fact_settle(arith_fact_meet(arith_fact_of(facts, e), with));
    save(facts, e, f);
    if (e->op == IR_VAR && (definition = arith_definition(facts, e->at.var)))
        refine(facts, definition, f, depth - 1);
    else if (e->op == IR_CAST && arith_is_integral(e->args[0]->type) && e->type.dtype != NUM_DTYPE_BOOL) {
        wide low, high, least, most; /* a conversion that keeps the value */
        arith_wide_bounds(facts, e->args[0], &low, &high);
        arith_type_bounds(e->type, &least, &most);
        if (low >= least && high <= most)
            refine(facts, e->args[0], f, depth - 1);
    } else if (e->count == 2 && ir_is_int(e->args[1], &value) &&
               !(e->type.dtype == NUM_DTYPE_U64 && value < 0))
        refine_through(facts, e, f, value, depth - 1);
    else if ((e->op == IR_MIN || e->op == IR_MAX) && f.range.known)
        for (int side = 0; side < 2; side++) { /* both sides of a minimum are at least it */
            arith_range r = arith_type_range(e->type);
            if (r.known) {
                r.low = e->op == IR_MIN ? f.range.low : r.low;
                r.high = e->op == IR_MAX ? f.range.high : r.high;
                refine(facts, e->args[side], (arith_fact){r, arith_any_residue}, depth - 1);
            }
        }
}

static void refine_below(arith_facts *facts, const ir_expr *a, const ir_expr *b, int64_t distance) {
    arith_range ra = arith_fact_of(facts, a).range, rb = arith_fact_of(facts, b).range, r;
    if (rb.known && !__builtin_sub_overflow(rb.high, distance, &r.high)) {
        r = (arith_range){true, ra.known ? ra.low : 0, r.high}; /* unknown: uint64 */
        if (r.low <= r.high)
            refine(facts, a, (arith_fact){r, arith_any_residue}, REFINE_DEPTH);
    }
    if (ra.known && rb.known && !__builtin_add_overflow(ra.low, distance, &r.low)) {
        r = (arith_range){true, r.low, rb.high};
        if (r.low <= r.high)
            refine(facts, b, (arith_fact){r, arith_any_residue}, REFINE_DEPTH);
    }
}

static ir_op negated(ir_op op) {
    switch (op) {
    case IR_EQ:
        return IR_NE;
    case IR_NE:
        return IR_EQ;
    case IR_LT:
        return IR_GE;
    case IR_LE:
        return IR_GT;
    case IR_GT:
        return IR_LE;
    default:
        return IR_LT;
    }
}

static void refine_unequal(arith_facts *facts, const ir_expr *a, const ir_expr *b) {
    arith_fact fa = arith_fact_of(facts, a), fb = arith_fact_of(facts, b);
    if (!fa.range.known || !fb.range.known || fb.range.low != fb.range.high || fa.range.low == fa.range.high)
        return;
    arith_range r = fa.range;
    if (fb.range.low == r.low)
        r.low++;
    else if (fb.range.low == r.high)
        r.high--;
    else
        return;
    refine(facts, a, (arith_fact){r, arith_any_residue}, REFINE_DEPTH);
}

static void assume_comparison(arith_facts *facts, ir_op op, const ir_expr *a, const ir_expr *b) {
    if (op == IR_GT || op == IR_GE) {
        assume_comparison(facts, op == IR_GT ? IR_LT : IR_LE, b, a);
        return;
    }
    arith_relations_assume(facts, op, a, b);
    if (op == IR_EQ) {
        arith_fact fa = arith_fact_of(facts, a), fb = arith_fact_of(facts, b);
        refine(facts, a, fb, REFINE_DEPTH);
        refine(facts, b, fa, REFINE_DEPTH);
    } else if (op == IR_NE) {
        refine_unequal(facts, a, b);
        refine_unequal(facts, b, a);
    } else
        refine_below(facts, a, b, op == IR_LT);
}

static void assume(arith_facts *facts, const ir_expr *c, bool truth, int depth) {
    if (depth == 0 || !ir_type_is_bool(c->type) || c->type.lanes != 1 || c->op == IR_INT)
        return;
    if (!ir_expr_reads(c))
        save(facts, c, arith_fact_within(truth, truth));
    const ir_expr *definition;
    if (c->op == IR_NOT)
        assume(facts, c->args[0], !truth, depth - 1);
    else if ((c->op == IR_AND && truth) || (c->op == IR_OR && !truth)) {
        assume(facts, c->args[0], truth, depth - 1);
        assume(facts, c->args[1], truth, depth - 1);
    } else if (c->op == IR_VAR && (definition = arith_definition(facts, c->at.var)))
        assume(facts, definition, truth, depth - 1);
    else if (is_comparison(c->op) && arith_is_integral(c->args[0]->type) && !ir_expr_reads(c))
        assume_comparison(facts, truth ? c->op : negated(c->op), c->args[0], c->args[1]);
}

static void assume_loop(arith_facts *facts, const scope *loop) {
    const ir_expr *extent = loop->extent, *start = loop->start, *var = ir_var_use(start->module, loop->var);
    int64_t zero;
    /* The body runs, so there is a first round. */
    arith_range r = arith_fact_of(facts, extent).range;
    if (r.known && r.low < 1 && r.high >= 1)
        refine(facts, extent, (arith_fact){{true, 1, r.high}, arith_any_residue}, REFINE_DEPTH);
    if (!ir_is_int(start, &zero))
        arith_relations_assume(facts, IR_LE, start, var);
    else if (zero == 0 && extent->op != IR_INT)
        arith_relations_assume(facts, IR_LT, var, extent);
}

/* What is asked while assumptions are added must not mix with what was computed outside, nor stay when more
 * is known: each side of the additions has a memo of its own. Without additions, the outer one serves on. */
static void settle_next(arith_facts *facts) {
    scope *s = &facts->scopes.items[facts->settled++];
    s->saved_count = facts->saved.count;
    s->relation_count = facts->relations.count;
    if (s->kind == SCOPE_CONDITION)
        assume(facts, s->condition, s->truth, REFINE_DEPTH);
    else
        assume_loop(facts, s);
    drop_memo(s);
    if (facts->saved.count == s->saved_count && facts->relations.count == s->relation_count) {
        s->memo = s[-1].memo;
        s->shared = s->memo != NULL;
    }
}

static void walk(arith_facts *facts, const ir_stmt *s);

/* The walk over the function starts from the function's scope, whatever is open by now. */
static void walk_now(arith_facts *facts) {
    size_t open = facts->scopes.count - 1;
    scope *opened = base_arena_copy(facts->arena, facts->scopes.items + 1, open * sizeof *opened);
    facts->unwalked = false;
    facts->scopes.count = 1;
    walk(facts, facts->function->body);
    for (size_t i = 0; i < open; i++)
        base_vector_push(facts->arena, &facts->scopes, opened[i]);
}

static void settle(arith_facts *facts) {
    if (facts->unwalked)
        walk_now(facts);
    facts->settling = true;
    while (facts->settled < facts->scopes.count)
        settle_next(facts);
    facts->settling = false;
}

static void open_scope(arith_facts *facts, scope fresh) {
    fresh.number = ++facts->scopes_made;
    base_vector_push(facts->arena, &facts->scopes, fresh);
}

void arith_enter(arith_facts *facts, const ir_expr *condition, bool truth) {
    if (condition->op != IR_INT)
        open_scope(facts, (scope){.kind = SCOPE_CONDITION, .condition = condition, .truth = truth});
}

void arith_enter_loop(arith_facts *facts, const ir_stmt *loop) {
    const ir_expr *extent = loop->as.loop.extent, *start = loop->as.loop.start;
    if (arith_is_integral(loop->as.loop.var->type) && (start->op != IR_INT || extent->op != IR_INT))
        open_scope(facts,
                   (scope){.kind = SCOPE_LOOP, .start = start, .extent = extent, .var = loop->as.loop.var});
}

/* Nothing follows the block's last statement. */
static bool leaves(const ir_stmt *block) {
    if (!block || block->as.block.body.count == 0)
        return false;
    const ir_stmt *last = block->as.block.body.items[block->as.block.body.count - 1];
    switch (last->kind) {
    case IR_STMT_RETURN:
    case IR_STMT_BREAK:
    case IR_STMT_CONTINUE:
        return true;
    case IR_STMT_BLOCK:
        return leaves(last);
    case IR_STMT_IF:
        return leaves(last->as.branch.then_body) && leaves(last->as.branch.else_body);
    default:
        return false;
    }
}

void arith_enter_after(arith_facts *facts, const ir_stmt *s) {
    if (s->kind == IR_STMT_EVALUATE && s->as.evaluate.value->op == IR_TRAP_UNLESS)
        arith_enter(facts, s->as.evaluate.value->args[0], true);
    if (s->kind != IR_STMT_IF)
        return;
    if (leaves(s->as.branch.then_body))
        arith_enter(facts, s->as.branch.condition, false);
    else if (leaves(s->as.branch.else_body))
        arith_enter(facts, s->as.branch.condition, true);
}

size_t arith_depth(const arith_facts *facts) {
    return facts->scopes.count;
}

void arith_leave_to(arith_facts *facts, size_t depth) {
    while (facts->scopes.count > depth) {
        scope *s = &facts->scopes.items[--facts->scopes.count];
        if (facts->settled <= facts->scopes.count)
            continue;
        facts->settled--;
        drop_memo(s);
        while (facts->saved.count > s->saved_count) {
            saved *last = &facts->saved.items[--facts->saved.count];
            base_map_set(facts->refined, last->key, last->before);
        }
        facts->relations.count = s->relation_count;
    }
}

uint64_t arith_scope_number(const arith_facts *facts) {
    return facts->scopes.items[facts->scopes.count - 1].number;
}

uint64_t arith_steps(const arith_facts *facts) {
    return facts->steps;
}

/* ---- variables ---- */
static void bind(arith_facts *facts, const ir_var *var, arith_fact f) {
    base_map_set(facts->vars, (uint64_t)var->id + 1, keep(facts, arith_fact_settle(f)));
}

void arith_bind(arith_facts *facts, const ir_var *var, arith_range range, arith_modular modular) {
    get_ready(facts);
    bind(facts, var, (arith_fact){range, modular});
}

/* The variable runs from start below start + extent in steps. */
static void bind_loop(arith_facts *facts, const ir_stmt *loop) {
    ir_type type = loop->as.loop.var->type;
    arith_fact start = arith_fact_of(facts, loop->as.loop.start),
               extent = arith_fact_of(facts, loop->as.loop.extent);
    int64_t step = 1;
    ir_is_int(loop->as.loop.step, &step);
    arith_modular m = arith_modular_make(arith_gcd(start.modular.modulus, step), start.modular.remainder);
    arith_fact f = {arith_type_range(type), m};
    if (start.range.known && extent.range.known) {
        arith_wide high = (arith_wide)start.range.high + extent.range.high - 1;
        if (start.range.low == start.range.high && extent.range.high > 0)
            high -= (extent.range.high - 1) % step;
        if (high < start.range.low) /* never runs */
            high = start.range.low;
        arith_range all = arith_type_range(type);
        if (all.known && high <= all.high)
            f.range = (arith_range){true, start.range.low, (int64_t)high};
        else if (all.known)
            f.range.low = start.range.low;
    }
    /* Stepping may pass the end of the type only by wrapping, which leaves powers of two. */
    if (!f.range.known || f.range.high == arith_type_range(type).high)
        f.modular = arith_modular_make(
            arith_gcd(m.modulus, (arith_wide)1 << num_dtype_bits((num_dtype)type.dtype)), m.remainder);
    bind(facts, loop->as.loop.var, f);
}

static void bind_let(arith_facts *facts, const ir_stmt *let) {
    const ir_expr *value = let->as.let.value;
    if (!arith_is_integral(let->as.let.var->type))
        return;
    bind(facts, let->as.let.var, arith_fact_of(facts, value));
    if (!ir_expr_reads(value))
        base_map_set(facts->definitions, (uint64_t)let->as.let.var->id + 1, (void *)(uintptr_t)value);
}

static void walk(arith_facts *facts, const ir_stmt *s) {
    if (!s)
        return;
    size_t depth = arith_depth(facts);
    switch (s->kind) {
    case IR_STMT_BLOCK:
        for (size_t i = 0; i < s->as.block.body.count; i++) {
            walk(facts, s->as.block.body.items[i]);
            arith_enter_after(facts, s->as.block.body.items[i]);
        }
        break;
    case IR_STMT_LET:
        bind_let(facts, s);
        break;
    case IR_STMT_IF:
        arith_enter(facts, s->as.branch.condition, true);
        walk(facts, s->as.branch.then_body);
        arith_leave_to(facts, depth);
        arith_enter(facts, s->as.branch.condition, false);
        walk(facts, s->as.branch.else_body);
        break;
    case IR_STMT_FOR:
        if (arith_is_integral(s->as.loop.var->type))
            bind_loop(facts, s);
        arith_enter_loop(facts, s);
        walk(facts, s->as.loop.body);
        break;
    case IR_STMT_WHILE:
        arith_enter(facts, s->as.while_loop.condition, true);
        walk(facts, s->as.while_loop.body);
        break;
    default:
        break;
    }
    arith_leave_to(facts, depth);
}

arith_facts *arith_facts_create_later(base_arena *arena, const ir_function *function) {
    arith_facts *facts = BASE_NEW(arena, arith_facts);
    facts->arena = arena;
    facts->function = function;
    facts->vars = base_map_create(arena);
    facts->definitions = base_map_create(arena);
    facts->refined = base_map_create(arena);
    base_vector_push(arena, &facts->scopes, (scope){.kind = SCOPE_FUNCTION});
    facts->settled = 1;
    if (!function)
        return facts;
    /* A variable that is the size of a tensor parameter cannot be negative. */
    for (size_t i = 0; i < function->parameters.count; i++) {
        const ir_tensor *tensor = function->parameters.items[i].tensor;
        for (uint32_t d = 0; tensor && d < tensor->type.rank; d++) {
            const ir_expr *size = tensor->type.shape[d];
            arith_range r = arith_type_range(size->type);
            if (size->op == IR_VAR && r.known)
                bind(facts, size->at.var, (arith_fact){{true, 0, r.high}, arith_any_residue});
        }
    }
    facts->unwalked = true;
    return facts;
}

arith_facts *arith_facts_create(base_arena *arena, const ir_function *function) {
    arith_facts *facts = arith_facts_create_later(arena, function);
    get_ready(facts);
    return facts;
}

void arith_facts_release(arith_facts *facts) {
    if (facts) {
        arith_leave_to(facts, 1);
        drop_memo(innermost(facts));
    }
}

/* ---- questions ---- */
arith_range arith_bounds(arith_facts *facts, const ir_expr *e) {
    return arith_fact_of(facts, e).range;
}
arith_modular arith_modular_set(arith_facts *facts, const ir_expr *e) {
    return arith_fact_of(facts, e).modular;
}
bool arith_is_non_negative(arith_facts *facts, const ir_expr *e) {
    arith_range r = arith_fact_of(facts, e).range;
    return (e->type.dtype == NUM_DTYPE_U64 && arith_is_integral(e->type)) || (r.known && r.low >= 0);
}
bool arith_is_positive(arith_facts *facts, const ir_expr *e) {
    arith_range r = arith_fact_of(facts, e).range;
    return r.known && r.low > 0;
}
bool arith_is_multiple(arith_facts *facts, const ir_expr *e, int64_t divisor) {
    arith_modular m = arith_fact_of(facts, e).modular;
    return divisor > 0 && m.modulus % divisor == 0 && m.remainder % divisor == 0;
}
bool arith_is_never_multiple(arith_facts *facts, const ir_expr *e, int64_t divisor) {
    arith_modular m = arith_fact_of(facts, e).modular;
    arith_wide g = arith_gcd(m.modulus, divisor);
    return g > 1 && m.remainder % g != 0;
}
bool arith_is_constant(arith_facts *facts, const ir_expr *e, int64_t *value) {
    arith_range r = arith_fact_of(facts, e).range;
    if (r.known && r.low == r.high)
        *value = r.low;
    return r.known && r.low == r.high;
}
