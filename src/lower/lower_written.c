/* SPDX-License-Identifier: Apache-2.0
 * Whether every read of a local tensor comes after a write of that element on every way to it: then nothing
 * is lost when it leaves memory, also for who looks for reads of what nothing wrote. Flat form, constant
 * indices. Branches keep what both sides wrote, loops what they wrote for certain. Changes and reports
 * nothing. */
#include "lower/lower_internal.h"
#include <string.h>

typedef struct element_set {
    uint64_t words[LOWER_WRITTEN_ELEMENTS / 64];
} element_set;

typedef struct walk {
    const ir_tensor *tensor;
    element_set written;
    bool missing; /* a read that nothing wrote before */
    bool jumps;   /* a break, continue or return since it was cleared */
} walk;

static bool is_access(const walk *w, const ir_expr *base, const ir_expr *index, int64_t *at) {
    return base->op == IR_DATA && base->at.tensor == w->tensor && ir_is_int(index, at);
}

static unsigned lanes_of(ir_type type) {
    return type.kind == IR_TYPE_PRIM && type.lanes > 1 ? type.lanes : 1;
}

static void read_load(void *user, const ir_expr *e) {
    walk *w = user;
    int64_t at;
    if (e->op != IR_POINTER_LOAD || !is_access(w, e->args[0], e->args[1], &at))
        return;
    for (unsigned i = 0; i < lanes_of(e->type); i++, at++)
        w->missing |= at < 0 || at >= LOWER_WRITTEN_ELEMENTS || !(w->written.words[at / 64] >> at % 64 & 1);
}

static void read_expression(void *user, const ir_expr **e) {
    ir_expr_visit(*e, read_load, user);
}

static void write_store(walk *w, const ir_stmt *s) {
    int64_t at;
    if (!is_access(w, s->as.pointer_store.base, s->as.pointer_store.index, &at))
        return;
    for (unsigned i = 0; i < lanes_of(s->as.pointer_store.value->type); i++, at++)
        if (at >= 0 && at < LOWER_WRITTEN_ELEMENTS)
            w->written.words[at / 64] |= (uint64_t)1 << at % 64;
}

static void statement(walk *w, ir_stmt *s);

static void branch(walk *w, const ir_stmt *s) {
    element_set before = w->written;
    statement(w, s->as.branch.then_body);
    element_set after = w->written;
    w->written = before;
    if (s->as.branch.else_body)
        statement(w, s->as.branch.else_body);
    for (unsigned i = 0; i < LOWER_WRITTEN_ELEMENTS / 64; i++)
        w->written.words[i] &= after.words[i];
}

/* certain: it runs at least once. */
static void loop(walk *w, ir_stmt *body, bool certain) {
    element_set before = w->written;
    bool jumps = w->jumps;
    w->jumps = false;
    statement(w, body);
    if (!certain || w->jumps)
        w->written = before;
    w->jumps |= jumps;
}

static void statement(walk *w, ir_stmt *s) {
    int64_t extent;
    if (w->missing)
        return;
    ir_stmt_expressions(s, read_expression, w);
    switch (s->kind) {
    case IR_STMT_BLOCK:
        for (size_t i = 0; i < s->as.block.body.count; i++)
            statement(w, s->as.block.body.items[i]);
        break;
    case IR_STMT_ALLOCATE:
        if (s->as.allocate.tensor == w->tensor)
            memset(&w->written, 0, sizeof w->written);
        break;
    case IR_STMT_POINTER_STORE:
        write_store(w, s);
        break;
    case IR_STMT_IF:
        branch(w, s);
        break;
    case IR_STMT_FOR:
        loop(w, s->as.loop.body, ir_is_int(s->as.loop.extent, &extent) && extent > 0);
        break;
    case IR_STMT_WHILE:
        loop(w, s->as.while_loop.body, false);
        break;
    case IR_STMT_BREAK:
    case IR_STMT_CONTINUE:
    case IR_STMT_RETURN:
        w->jumps = true;
        memset(&w->written, 0xff, sizeof w->written); /* nothing behind it is reached */
        break;
    default:
        break;
    }
}

bool lower_written_first(ir_stmt *body, const ir_tensor *tensor) {
    walk w = {.tensor = tensor};
    statement(&w, body);
    return !w.missing;
}
