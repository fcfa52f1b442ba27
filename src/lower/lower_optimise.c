/* SPDX-License-Identifier: Apache-2.0
 * Questions that the optimise_* passes ask: what an expression reads, what a statement changes, which sum of
 * products an index is. Must not rewrite anything. */
#include "lower/lower_optimise.h"
#include <string.h>

/* ---- what a statement changes ---- */

static void note_expression(void *user, const ir_expr **e) {
    lower_effects *effects = user;
    if (ir_expr_has_effect(*e))
        effects->writes = true;
}

/* Tensors stand beside variables in the map of what is defined: from the other end of the numbers. */
static uint64_t tensor_key(const ir_tensor *tensor) {
    return ~(uint64_t)tensor->id;
}

static void note_statement(void *user, ir_stmt *s) {
    lower_effects *effects = user;
    if (s->kind == IR_STMT_LET)
        base_map_set(effects->defined, (uint64_t)s->as.let.var->id + 1, s);
    else if (s->kind == IR_STMT_FOR)
        base_map_set(effects->defined, (uint64_t)s->as.loop.var->id + 1, s);
    else if (s->kind == IR_STMT_ASSIGN)
        base_map_set(effects->assigned, (uint64_t)s->as.assign.var->id + 1, s);
    else if (s->kind == IR_STMT_ALLOCATE)
        base_map_set(effects->defined, tensor_key(s->as.allocate.tensor), s);
    else if (s->kind == IR_STMT_POINTER_STORE)
        effects->writes = true;
    ir_stmt_expressions(s, note_expression, effects);
}

void lower_effects_of(lower_context *context, ir_stmt *statement, lower_effects *effects) {
    *effects = (lower_effects){base_map_create(context->arena), base_map_create(context->arena), false};
    lower_visit_statements(statement, note_statement, effects);
}

static const char yes, no; /* addresses that stand for answers in the memo */

static void visit_invariance(void *user, const ir_expr *e) {
    lower_invariance *v = user;
    if (ir_memo_get(v->memo, e))
        return;
    bool same = true;
    if (e->op == IR_VAR)
        same = !base_map_get(v->effects->defined, (uint64_t)e->at.var->id + 1);
    else if (e->op == IR_DATA)
        same = !base_map_get(v->effects->defined, tensor_key(e->at.tensor));
    else if (e->op == IR_REGISTER)
        same = !base_map_get(v->effects->assigned, (uint64_t)e->at.var->id + 1);
    else if (ir_op_information(e->op)->flags & (IR_FLAG_READS | IR_FLAG_WRITES | IR_FLAG_SYNC))
        same = false;
    for (uint32_t i = 0; i < e->count && same; i++)
        same = ir_memo_get(v->memo, e->args[i]) == &yes;
    ir_memo_set(v->memo, e, same ? &yes : &no);
}

bool lower_is_invariant(lower_invariance *invariance, const ir_expr *e) {
    const void *known = ir_memo_get(invariance->memo, e);
    if (!known) {
        ir_expr_visit(e, visit_invariance, invariance);
        known = ir_memo_get(invariance->memo, e);
    }
    return known == &yes;
}

bool lower_has_continue(const ir_stmt *s) {
    switch (s->kind) {
    case IR_STMT_CONTINUE:
        return true;
    case IR_STMT_BLOCK:
        for (size_t i = 0; i < s->as.block.body.count; i++)
            if (lower_has_continue(s->as.block.body.items[i]))
                return true;
        return false;
    case IR_STMT_IF:
        return lower_has_continue(s->as.branch.then_body) ||
               (s->as.branch.else_body && lower_has_continue(s->as.branch.else_body));
    default: /* loops keep theirs */
        return false;
    }
}

/* ---- sums of products ---- */

static bool same_atoms(const lower_term *a, const lower_term *b) {
    return a->count == b->count &&
           !memcmp((const void *)a->atoms, (const void *)b->atoms, a->count * sizeof(a->atoms[0]));
}

static bool add_term(lower_sum *sum, const lower_term *term) {
    if (term->coefficient == 0)
        return true;
    if (term->count == 0)
        return !__builtin_add_overflow(sum->constant, term->coefficient, &sum->constant);
    for (uint32_t i = 0; i < sum->count; i++) {
        if (!same_atoms(&sum->terms[i], term))
            continue;
        if (__builtin_add_overflow(sum->terms[i].coefficient, term->coefficient, &sum->terms[i].coefficient))
            return false;
        if (sum->terms[i].coefficient == 0) {
            memmove(&sum->terms[i], &sum->terms[i + 1], (sum->count - i - 1) * sizeof(*term));
            sum->count--;
        }
        return true;
    }
    if (sum->count == LOWER_TERMS)
        return false;
    sum->terms[sum->count++] = *term;
    return true;
}

static bool multiply_terms(const lower_term *a, const lower_term *b, lower_term *product) {
    *product = (lower_term){0};
    if (a->count + b->count > LOWER_TERM_ATOMS ||
        __builtin_mul_overflow(a->coefficient, b->coefficient, &product->coefficient))
        return false;
    uint32_t i = 0, k = 0;
    while (i < a->count || k < b->count) {
        bool first = k == b->count || (i < a->count && a->atoms[i]->id <= b->atoms[k]->id);
        product->atoms[product->count++] = first ? a->atoms[i++] : b->atoms[k++];
    }
    return true;
}

static bool collect(const ir_expr *e, int64_t factor, lower_sum *sum, unsigned depth);

static bool collect_product(const ir_expr *e, int64_t factor, lower_sum *sum, unsigned depth) {
    lower_sum sides[2]; /* collect ends at 40 levels */
    sides[0].constant = sides[1].constant = sides[0].count = sides[1].count = 0;
    if (!collect(e->args[0], 1, &sides[0], depth) || !collect(e->args[1], factor, &sides[1], depth))
        return false;
    for (uint32_t i = 0; i <= sides[0].count; i++)
        for (uint32_t k = 0; k <= sides[1].count; k++) {
            lower_term left = {.coefficient = sides[0].constant}, right = {.coefficient = sides[1].constant},
                       product;
            if (i < sides[0].count)
                left = sides[0].terms[i];
            if (k < sides[1].count)
                right = sides[1].terms[k];
            if (left.coefficient == 0 || right.coefficient == 0)
                continue;
            if (!multiply_terms(&left, &right, &product) || !add_term(sum, &product))
                return false;
        }
    return true;
}

static bool collect(const ir_expr *e, int64_t factor, lower_sum *sum, unsigned depth) {
    int64_t value, negative;
    if (depth > 40)
        return false;
    if (ir_is_int(e, &value))
        return !__builtin_mul_overflow(value, factor, &value) &&
               !__builtin_add_overflow(sum->constant, value, &sum->constant);
    if (e->op == IR_ADD)
        return collect(e->args[0], factor, sum, depth + 1) && collect(e->args[1], factor, sum, depth + 1);
    if (e->op == IR_SUB || e->op == IR_NEG) {
        if (__builtin_sub_overflow(0, factor, &negative))
            return false;
        if (e->op == IR_NEG)
            return collect(e->args[0], negative, sum, depth + 1);
        return collect(e->args[0], factor, sum, depth + 1) && collect(e->args[1], negative, sum, depth + 1);
    }
    if (e->op == IR_MUL)
        return collect_product(e, factor, sum, depth + 1);
    lower_term atom = {.coefficient = factor, .count = 1, .atoms = {e}};
    return add_term(sum, &atom);
}

bool lower_sum_of(const ir_expr *e, lower_sum *sum) {
    sum->constant = sum->count = 0;
    if (e->type.kind != IR_TYPE_PRIM || e->type.lanes > 1 || num_dtype_class(e->type.dtype) != NUM_SIGNED ||
        num_dtype_bits(e->type.dtype) < 32)
        return false;
    if (!collect(e, 1, sum, 0))
        return false;
    for (uint32_t i = 0; i < sum->count; i++)
        if (sum->terms[i].coefficient < INT32_MIN || sum->terms[i].coefficient > INT32_MAX)
            return false;
    return sum->constant >= INT32_MIN && sum->constant <= INT32_MAX;
}

static const ir_expr *product_of(ir_module *module, ir_type type, const lower_term *term,
                                 int64_t coefficient) {
    const ir_expr *product = NULL;
    for (uint32_t i = 0; i < term->count; i++)
        product = product ? ir_binary(module, IR_MUL, product, term->atoms[i]) : term->atoms[i];
    if (!product)
        return ir_int(module, type.dtype, coefficient);
    return coefficient == 1 ? product
                            : ir_binary(module, IR_MUL, product, ir_int(module, type.dtype, coefficient));
}

static bool has_atom(const lower_term *term, const ir_expr *atom, uint32_t *at) {
    for (uint32_t k = 0; k < term->count; k++)
        if (term->atoms[k] == atom) {
            *at = k;
            return true;
        }
    return false;
}

/* The atom that most terms have in common; NULL when no two do. */
static const ir_expr *common_atom(const lower_sum *sum, const bool *keep) {
    const ir_expr *best = NULL;
    unsigned most = 1;
    for (uint32_t i = 0; i < sum->count; i++)
        for (uint32_t k = 0; keep[i] && k < sum->terms[i].count; k++) {
            unsigned count = 0;
            uint32_t at;
            for (uint32_t j = 0; j < sum->count; j++)
                count += keep[j] && has_atom(&sum->terms[j], sum->terms[i].atoms[k], &at);
            if (count > most)
                most = count, best = sum->terms[i].atoms[k];
        }
    return best;
}

/* Takes the terms with the atom out of keep; what they are without it goes to inner. */
static void take_factor(const lower_sum *sum, bool *keep, const ir_expr *atom, lower_sum *inner,
                        bool *inner_keep) {
    for (uint32_t i = 0; i < sum->count; i++) {
        uint32_t at;
        if (!keep[i] || !has_atom(&sum->terms[i], atom, &at))
            continue;
        lower_term term = sum->terms[i];
        for (uint32_t k = at; k + 1 < term.count; k++)
            term.atoms[k] = term.atoms[k + 1];
        term.count--;
        inner_keep[inner->count] = true;
        inner->terms[inner->count++] = term;
        keep[i] = false;
    }
}

static const ir_expr *join(ir_module *module, const ir_expr *total, ir_op op, const ir_expr *part) {
    return total ? ir_binary(module, op, total, part) : part;
}

const ir_expr *lower_sum_rebuild(ir_module *module, ir_type type, const lower_sum *sum, const bool *keep) {
    const ir_expr *total = NULL, *atom = common_atom(sum, keep);
    bool left[LOWER_TERMS];
    memcpy(left, keep, sum->count * sizeof(*left));
    if (atom) { /* n (a + b) instead of n a + n b */
        lower_sum inner;
        bool inner_keep[LOWER_TERMS];
        inner.constant = inner.count = 0;
        take_factor(sum, left, atom, &inner, inner_keep);
        total = ir_binary(module, IR_MUL, lower_sum_rebuild(module, type, &inner, inner_keep), atom);
        const ir_expr *rest = lower_sum_rebuild(module, type, sum, left);
        return rest ? ir_binary(module, IR_ADD, total, rest) : total;
    }
    for (int negative = 0; negative < 2; negative++) /* what is subtracted comes last */
        for (uint32_t i = 0; i < sum->count; i++) {
            const lower_term *term = &sum->terms[i];
            if (!keep[i] || (term->coefficient < 0) != negative)
                continue;
            if (negative && total)
                total = join(module, total, IR_SUB, product_of(module, type, term, -term->coefficient));
            else
                total = join(module, total, IR_ADD, product_of(module, type, term, term->coefficient));
        }
    return total;
}

ir_stmt *lower_new_let(lower_context *context, const char *name, const ir_expr *value, base_span span) {
    ir_stmt *let = ir_stmt_create(context->module, IR_STMT_LET, span);
    let->as.let.var = ir_var_create(context->module, name, value->type, IR_VAR_LET, span);
    let->as.let.value = value;
    return let;
}
