/* SPDX-License-Identifier: Apache-2.0
 * When a tensor in shared memory is in use: from the first statement that touches it to the last. One touched
 * in a loop is in use in all of it, because the next round may read what this one wrote. In: flat form with
 * provenance. Only the plan is written. */
#include "lower/lower_internal.h"

typedef struct walk {
    lower_plan *plan;
    base_map *uses; /* tensor id + 1 -> lower_use */
    uint32_t number;
    base_span span;
} walk;

static void touch(walk *w, const ir_tensor *tensor) {
    lower_use *use = tensor ? base_map_get(w->uses, (uint64_t)tensor->id + 1) : NULL;
    if (!use)
        return;
    if (!use->used) {
        use->used = true;
        use->first = use->touched_first = w->number;
        use->first_span = w->span;
    }
    use->last = use->touched_last = w->number;
    use->last_span = w->span;
}

static void touch_expression(void *user, const ir_expr *e) {
    if (e->op == IR_POINTER_LOAD || e->op == IR_POINTER_ADDRESS) {
        if (e->at.origin)
            touch(user, e->at.origin->at.tensor);
    } else if (e->op == IR_DATA) {
        touch(user, e->at.tensor);
    }
}

static void touch_operand(void *user, const ir_expr **e) {
    static const ir_where accesses = {.effects = IR_INSIDE_TENSOR | IR_INSIDE_POINTER_LOAD |
                                                 IR_INSIDE_POINTER_ADDRESS};
    if (*e)
        ir_expr_visit_where(*e, &accesses, touch_expression, user);
}

static void walk_statement(walk *w, ir_stmt *s);

static void walk_loop(walk *w, ir_stmt *body, const ir_stmt *loop) {
    uint32_t begin = w->number;
    walk_statement(w, body);
    for (size_t i = 0; i < w->plan->shared.count + w->plan->parts.count; i++) {
        lower_use *use = i < w->plan->shared.count ? &w->plan->shared.items[i].use
                                                   : &w->plan->parts.items[i - w->plan->shared.count].use;
        if (!use->used || use->last < begin)
            continue;
        if (use->first > begin) {
            use->first = begin;
            use->first_span = loop->span;
        }
        use->last = w->number;
        use->last_span = w->span;
    }
}

static void walk_statement(walk *w, ir_stmt *s) {
    if (!s)
        return;
    w->number++;
    w->span = s->span;
    if (s->kind != IR_STMT_ALLOCATE)
        ir_stmt_expressions(s, touch_operand, w);
    if (s->kind == IR_STMT_POINTER_STORE && s->as.pointer_store.origin)
        touch(w, s->as.pointer_store.origin->at.tensor);
    switch (s->kind) {
    case IR_STMT_BLOCK:
        for (size_t i = 0; i < s->as.block.body.count; i++)
            walk_statement(w, s->as.block.body.items[i]);
        break;
    case IR_STMT_IF:
        walk_statement(w, s->as.branch.then_body);
        walk_statement(w, s->as.branch.else_body);
        break;
    case IR_STMT_FOR:
        walk_loop(w, s->as.loop.body, s);
        break;
    case IR_STMT_WHILE:
        walk_loop(w, s->as.while_loop.body, s);
        break;
    default:
        break;
    }
}

/* Two tensors that a pool put on the same bytes, the second used between uses of the first. Those that only a
 * loop brings together may take turns, round by round; the plan shows them. */
static void check_pair(lower_context *context, const lower_part *a, const lower_part *b) {
    if (!a->tensor->is_pooled || !b->tensor->is_pooled || !lower_parts_meet(a, b) || !a->use.used ||
        !b->use.used || a->use.touched_first > b->use.touched_last ||
        b->use.touched_first > a->use.touched_last)
        return;
    uint64_t begin = a->offset > b->offset ? a->offset : b->offset, a_end = a->offset + a->bytes,
             b_end = b->offset + b->bytes, end = a_end < b_end ? a_end : b_end;
    base_diagnostic *d =
        base_report(context->diagnostics, BASE_WARNING, "T0468", b->span,
                    "'%s' lies on bytes %llu to %llu of its pool, which '%s' has too, and both "
                    "are in use at once",
                    b->name, (unsigned long long)begin, (unsigned long long)end - 1, a->name);
    base_note(context->diagnostics, d, a->span, "'%s' is placed here", a->name);
    base_note(context->diagnostics, d, a->use.first_span, "its first use");
    base_note(context->diagnostics, d, a->use.last_span, "its last use, behind the first of '%s'", b->name);
    base_help(context->diagnostics, d, "move_base_to() further, or use '%s' when nothing needs '%s' any more",
              b->name, a->name);
}

static void check_pools(lower_context *context) {
    const lower_plan *plan = context->plan;
    for (size_t i = 0; i < plan->parts.count; i++)
        for (size_t k = i + 1; k < plan->parts.count; k++)
            check_pair(context, &plan->parts.items[i], &plan->parts.items[k]);
}

void lower_lifetimes(lower_context *context) {
    lower_plan *plan = context->plan;
    if (!plan->shared.count && !plan->parts.count)
        return;
    walk w = {.plan = plan, .uses = base_map_create(context->arena)};
    for (size_t i = 0; i < plan->shared.count; i++)
        base_map_set(w.uses, (uint64_t)plan->shared.items[i].tensor->id + 1, &plan->shared.items[i].use);
    for (size_t i = 0; i < plan->parts.count; i++)
        base_map_set(w.uses, (uint64_t)plan->parts.items[i].tensor->id + 1, &plan->parts.items[i].use);
    walk_statement(&w, context->function->body);
    check_pools(context);
}

void lower_note_part(lower_context *context, const ir_tensor *tensor, const ir_expr *offset) {
    const ir_tensor *root = lower_root(tensor);
    if (!root || root == tensor ||
        (root->type.scope != IR_SCOPE_SHARED && root->type.scope != IR_SCOPE_SHARED_DYN))
        return;
    int64_t elements = 0;
    lower_part part = {.name = tensor->name, .tensor = tensor, .root = root, .span = tensor->span};
    part.bytes = lower_tensor_bytes(tensor);
    part.known = part.bytes && (!offset || (ir_is_int(offset, &elements) && elements >= 0));
    uint64_t bits = (uint64_t)num_dtype_storage_bits(tensor->type.dtype) * tensor->type.lanes;
    part.offset = (uint64_t)elements * bits / 8;
    /* The footprint counts from the pointer; what lies before the layout's origin is not the view's. */
    const layout_tile *layout = tensor->type.layout;
    if (part.known && layout && layout->offset[LAYOUT_AXIS_M] > 0) {
        int64_t low = layout->offset[LAYOUT_AXIS_M];
        uint64_t before = (uint64_t)(low - low % layout_swizzle_block(layout->swizzle)) * bits / 8;
        part.offset += before;
        part.bytes -= before;
    }
    base_vector_push(context->arena, &context->plan->parts, part);
}

bool lower_parts_meet(const lower_part *a, const lower_part *b) {
    return a->root == b->root && a->known && b->known && a->offset < b->offset + b->bytes &&
           b->offset < a->offset + a->bytes;
}

bool lower_uses_meet(const lower_use *a, const lower_use *b) {
    return a->used && b->used && a->first <= b->last && b->first <= a->last;
}
