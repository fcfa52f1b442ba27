/* SPDX-License-Identifier: Apache-2.0
 * Structural equality of functions: same statements over the same expressions, with variables and tensors
 * matched one to one where they are declared. What is used outside its scope (registers, sizes of parameters,
 * the things that only origins mention) is matched where it is first met. Names, spans, is_scalar and the
 * function's name do not count. */
#include "ir/ir_private.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct match {
    const void *other;
    bool live;
} match;

typedef struct comparer {
    base_arena *arena;
    base_map *forth, *back; /* declared: thing of a -> match of b, and back */
    BASE_VECTOR(match *) open;
    base_map *loose_forth, *loose_back; /* never declared */
    BASE_VECTOR(const char *) path;
    base_builder *difference;
    base_span here[2],
        *places; /* of what is compared now, in a and in b; where the difference goes, or NULL */
    const char *reason;
    base_map *memo; /* of large expressions: a -> b already found equal */
} comparer;

static bool compare_expr(comparer *c, const ir_expr *a, const ir_expr *b);

/* ---- reports ---- */

static bool differ(comparer *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool differ(comparer *c, const char *format, ...) {
    char text[400];
    va_list arguments;
    if (!c->difference)
        return false;
    for (size_t i = 0; i < c->path.count; i++)
        base_builder_format(c->difference, "%s%s", i ? ", " : "", c->path.items[i]);
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    base_builder_format(c->difference, "%s%s", c->path.count ? ": " : "", text);
    c->difference = NULL; /* the first difference is told */
    if (c->places)
        memcpy(c->places, c->here, sizeof c->here);
    return false;
}

static bool fail(comparer *c, const char *reason) {
    if (!c->reason)
        c->reason = reason;
    return false;
}

static bool differ_expr(comparer *c, const char *what, const ir_expr *a, const ir_expr *b) {
    base_builder *out = c->difference;
    if (!out)
        return false;
    differ(c, "%s differs (%s): ", what, c->reason ? c->reason : "one is missing");
    for (int side = 0; side < 2; side++) {
        const ir_expr *e = side ? b : a;
        base_builder_string(out, side ? " and " : "");
        if (!e) {
            base_builder_string(out, "nothing");
            continue;
        }
        base_builder_char(out, '`');
        ir_expr_print(e, out);
        base_builder_string(out, "` of type ");
        ir_type_print(e->type, out);
    }
    return false;
}

/* ---- matching ---- */

static void declare(comparer *c, const void *a, const void *b) {
    match *forth = BASE_NEW(c->arena, match), *back = BASE_NEW(c->arena, match);
    *forth = (match){b, true};
    *back = (match){a, true};
    base_map_set(c->forth, BASE_KEY(a), forth);
    base_map_set(c->back, BASE_KEY(b), back);
    base_vector_push(c->arena, &c->open, forth);
    base_vector_push(c->arena, &c->open, back);
}

static void close_scope(comparer *c, size_t mark) {
    while (c->open.count > mark)
        c->open.items[--c->open.count]->live = false;
}

/* True when both are matched with each other; *fresh when neither was met before and the caller must compare
 * what they are. */
static bool matched(comparer *c, const void *a, const void *b, bool *fresh) {
    const match *forth = base_map_get(c->forth, BASE_KEY(a)), *back = base_map_get(c->back, BASE_KEY(b));
    *fresh = false;
    if ((forth && forth->live) || (back && back->live))
        return forth && back && forth->live && back->live && forth->other == b;
    forth = base_map_get(c->loose_forth, BASE_KEY(a));
    back = base_map_get(c->loose_back, BASE_KEY(b));
    if (forth || back)
        return forth && back && forth->other == b && back->other == a;
    match *one = BASE_NEW(c->arena, match), *two = BASE_NEW(c->arena, match);
    one->other = b;
    two->other = a;
    base_map_set(c->loose_forth, BASE_KEY(a), one);
    base_map_set(c->loose_back, BASE_KEY(b), two);
    *fresh = true;
    return true;
}

static bool match_var(comparer *c, const ir_var *a, const ir_var *b) {
    bool fresh;
    if (!matched(c, a, b, &fresh))
        return fail(c, "another variable");
    return !fresh || ir_type_equal(a->type, b->type) || fail(c, "variables of different types");
}

static bool compare_tensor_type(comparer *c, const ir_tensor *a, const ir_tensor *b) {
    if (a->kind != b->kind || a->type.dtype != b->type.dtype || a->type.lanes != b->type.lanes)
        return fail(c, "tensors of different kinds or element types");
    if (a->type.scope != b->type.scope || a->type.align != b->type.align)
        return fail(c, "tensors in different scopes or of different alignment");
    if (a->type.rank != b->type.rank)
        return fail(c, "tensors of different rank");
    for (uint32_t i = 0; i < a->type.rank; i++)
        if (!compare_expr(c, a->type.shape[i], b->type.shape[i]))
            return fail(c, "tensors of different shapes");
    if ((a->type.strides == NULL) != (b->type.strides == NULL) ||
        (a->type.origin == NULL) != (b->type.origin == NULL))
        return fail(c, "tensors of different strides");
    for (uint32_t i = 0; a->type.strides && i < a->type.rank; i++)
        if (!compare_expr(c, a->type.strides[i], b->type.strides[i]))
            return fail(c, "tensors of different strides");
    if (a->type.origin && !compare_expr(c, a->type.origin, b->type.origin))
        return fail(c, "tensors of different origins");
    if ((a->type.layout == NULL) != (b->type.layout == NULL) ||
        (a->type.layout && !layout_equal(c->arena, a->type.layout, b->type.layout)))
        return fail(c, "tensors of different layouts");
    return true;
}

static bool match_tensor(comparer *c, const ir_tensor *a, const ir_tensor *b) {
    bool fresh;
    if (!matched(c, a, b, &fresh))
        return fail(c, "another tensor");
    return !fresh || compare_tensor_type(c, a, b);
}

/* ---- expressions ---- */

static bool compare_attribute(comparer *c, const ir_expr *a, const ir_expr *b) {
    switch (ir_op_attribute(a->op)) {
    case IR_ATTRIBUTE_INTEGER:
        return a->at.integer == b->at.integer || fail(c, "different numbers");
    case IR_ATTRIBUTE_REAL:
        return memcmp(&a->at.real, &b->at.real, sizeof a->at.real) == 0 || fail(c, "different numbers");
    case IR_ATTRIBUTE_STRING:
        return strcmp(a->at.string, b->at.string) == 0 || fail(c, "different texts");
    case IR_ATTRIBUTE_VAR:
        return match_var(c, a->at.var, b->at.var);
    case IR_ATTRIBUTE_TENSOR:
        return match_tensor(c, a->at.tensor, b->at.tensor);
    case IR_ATTRIBUTE_ORIGIN:
        if (!a->at.origin != !b->at.origin)
            return fail(c, "an origin is missing");
        return !a->at.origin || compare_expr(c, a->at.origin, b->at.origin) || fail(c, "different origins");
    case IR_ATTRIBUTE_NONE:
        break;
    }
    return true;
}

static bool compare_expr(comparer *c, const ir_expr *a, const ir_expr *b) {
    if (a->op != b->op)
        return fail(c, "different operations");
    if (!ir_type_equal(a->type, b->type))
        return fail(c, "different types");
    if (a->count != b->count)
        return fail(c, "different numbers of arguments");
    if (c->memo && base_map_get(c->memo, BASE_KEY(a)) == (void *)(uintptr_t)b)
        return true;
    if (!compare_attribute(c, a, b))
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (!compare_expr(c, a->args[i], b->args[i]))
            return false;
    if (c->memo && a->count)
        base_map_set(c->memo, BASE_KEY(a), (void *)(uintptr_t)b);
    return true;
}

/* A whole expression of a statement. */
static bool compare_root(comparer *c, const char *what, const ir_expr *a, const ir_expr *b) {
    c->reason = NULL;
    if (!a && !b)
        return true;
    if (!a || !b)
        return differ_expr(c, what, a, b);
    if (a->depth > IR_DEPTH_LIMIT || b->depth > IR_DEPTH_LIMIT)
        return differ(c, "%s is too deep to compare", what);
    c->memo = a->size > 64 ? base_map_create(c->arena) : NULL;
    return compare_expr(c, a, b) || differ_expr(c, what, a, b);
}

/* ---- statements ---- */

static bool compare_block(comparer *c, const char *where, const ir_stmt *a, const ir_stmt *b);

static const char *kind_name(ir_stmt_kind kind) {
    static const char *const names[] = {"block",         "let",        "alloc",  "view",      "store",
                                        "pointer store", "assignment", "if",     "for",       "while",
                                        "break",         "continue",   "return", "expression"};
    return names[kind];
}

static bool declare_tensors(comparer *c, const ir_tensor *a, const ir_tensor *b) {
    c->reason = NULL;
    c->memo = NULL;
    if (!compare_tensor_type(c, a, b))
        return differ(c, "%s of `%s` and `%s`", c->reason, a->name, b->name);
    if (!compare_root(c, "the pointer", a->data, b->data))
        return false;
    declare(c, a, b);
    return true;
}

static bool declare_vars(comparer *c, const ir_var *a, const ir_var *b) {
    if (!ir_type_equal(a->type, b->type))
        return differ(c, "`%s` and `%s` have different types", a->name, b->name);
    declare(c, a, b);
    return true;
}

static bool compare_loop(comparer *c, const ir_stmt *a, const ir_stmt *b) {
    size_t mark = c->open.count;
    if (a->as.loop.kind != b->as.loop.kind || a->as.loop.factor != b->as.loop.factor)
        return differ(c, "loops of different kinds");
    bool same = compare_root(c, "the start", a->as.loop.start, b->as.loop.start) &&
                compare_root(c, "the extent", a->as.loop.extent, b->as.loop.extent) &&
                compare_root(c, "the step", a->as.loop.step, b->as.loop.step) &&
                declare_vars(c, a->as.loop.var, b->as.loop.var) &&
                compare_block(c, "loop", a->as.loop.body, b->as.loop.body);
    close_scope(c, mark);
    return same;
}

static bool compare_store(comparer *c, const ir_stmt *a, const ir_stmt *b) {
    c->reason = NULL;
    if (!match_tensor(c, a->as.store.tensor, b->as.store.tensor))
        return differ(c, "stores to `%s` and `%s`: %s", a->as.store.tensor->name, b->as.store.tensor->name,
                      c->reason);
    if (a->as.store.count != b->as.store.count)
        return differ(c, "different numbers of indices");
    for (uint32_t i = 0; i < a->as.store.count; i++)
        if (!compare_root(c, "an index", a->as.store.indices[i], b->as.store.indices[i]))
            return false;
    return compare_root(c, "the value", a->as.store.value, b->as.store.value);
}

static bool compare_branch(comparer *c, const ir_stmt *a, const ir_stmt *b) {
    if (!compare_root(c, "the condition", a->as.branch.condition, b->as.branch.condition) ||
        !compare_block(c, "then", a->as.branch.then_body, b->as.branch.then_body))
        return false;
    if (!a->as.branch.else_body != !b->as.branch.else_body)
        return differ(c, "only one has an else");
    return !a->as.branch.else_body ||
           compare_block(c, "else", a->as.branch.else_body, b->as.branch.else_body);
}

static bool compare_stmt(comparer *c, const ir_stmt *a, const ir_stmt *b) {
    if (a->kind != b->kind)
        return differ(c, "%s and %s", kind_name(a->kind), kind_name(b->kind));
    switch (a->kind) {
    case IR_STMT_BLOCK:
        return compare_block(c, "block", a, b);
    case IR_STMT_LET:
        return compare_root(c, "the value", a->as.let.value, b->as.let.value) &&
               declare_vars(c, a->as.let.var, b->as.let.var);
    case IR_STMT_ALLOCATE:
    case IR_STMT_DECLARE:
        return declare_tensors(c, a->as.allocate.tensor, b->as.allocate.tensor);
    case IR_STMT_STORE:
        return compare_store(c, a, b);
    case IR_STMT_POINTER_STORE:
        return compare_root(c, "the pointer", a->as.pointer_store.base, b->as.pointer_store.base) &&
               compare_root(c, "the index", a->as.pointer_store.index, b->as.pointer_store.index) &&
               compare_root(c, "the value", a->as.pointer_store.value, b->as.pointer_store.value) &&
               compare_root(c, "the origin", a->as.pointer_store.origin, b->as.pointer_store.origin);
    case IR_STMT_ASSIGN:
        c->reason = NULL;
        if (!match_var(c, a->as.assign.var, b->as.assign.var))
            return differ(c, "assigns `%s` and `%s`: %s", a->as.assign.var->name, b->as.assign.var->name,
                          c->reason);
        return compare_root(c, "the value", a->as.assign.value, b->as.assign.value);
    case IR_STMT_IF:
        return compare_branch(c, a, b);
    case IR_STMT_FOR:
        return compare_loop(c, a, b);
    case IR_STMT_WHILE:
        return compare_root(c, "the condition", a->as.while_loop.condition, b->as.while_loop.condition) &&
               compare_block(c, "while", a->as.while_loop.body, b->as.while_loop.body);
    case IR_STMT_EVALUATE:
        return compare_root(c, "the expression", a->as.evaluate.value, b->as.evaluate.value);
    case IR_STMT_BREAK:
    case IR_STMT_CONTINUE:
    case IR_STMT_RETURN:
        break;
    }
    return true;
}

static bool compare_block(comparer *c, const char *where, const ir_stmt *a, const ir_stmt *b) {
    size_t mark = c->open.count, both = a->as.block.body.count, other = b->as.block.body.count;
    for (size_t i = 0; i < both && i < other; i++) {
        const ir_stmt *x = a->as.block.body.items[i], *y = b->as.block.body.items[i];
        base_vector_push(c->arena, &c->path,
                         c->difference ? base_arena_format(c->arena, "%s statement %zu (%s)", where, i + 1,
                                                           kind_name(x->kind))
                                       : "");
        c->here[0] = x->span, c->here[1] = y->span;
        if (!compare_stmt(c, x, y))
            return false;
        c->path.count--;
    }
    close_scope(c, mark);
    if (both == other)
        return true;
    /* The first statement that only one has; the other side keeps the statement before it. */
    bool first = both > other;
    c->here[!first] = (first ? a : b)->as.block.body.items[first ? other : both]->span;
    return differ(c, "%s: %zu statements and %zu", where, both, other);
}

/* ---- functions ---- */

static bool compare_launch(comparer *c, const ir_launch *a, const ir_launch *b) {
    static const char *const axes[] = {"x", "y", "z"};
    c->here[0] = a->span, c->here[1] = b->span;
    if (a->present != b->present)
        return differ(c, "only one has a launch");
    if (!a->present)
        return true;
    for (int i = 0; i < 3; i++) {
        const char *grid = base_arena_format(c->arena, "grid.%s", axes[i]);
        const char *block = base_arena_format(c->arena, "block.%s", axes[i]);
        const char *cluster = base_arena_format(c->arena, "cluster.%s", axes[i]);
        if (!compare_root(c, grid, a->grid[i], b->grid[i]) ||
            !compare_root(c, block, a->block[i], b->block[i]) ||
            !compare_root(c, cluster, a->cluster[i], b->cluster[i]))
            return false;
    }
    if (!compare_root(c, "dynamic_smem_bytes", a->dynamic_smem_bytes, b->dynamic_smem_bytes))
        return false;
    if (a->min_blocks_per_sm != b->min_blocks_per_sm ||
        a->max_blocks_per_cluster != b->max_blocks_per_cluster || a->max_registers != b->max_registers ||
        a->cooperative != b->cooperative || a->follows != b->follows || a->programmatic != b->programmatic ||
        a->has_priority != b->has_priority || a->priority != b->priority ||
        a->has_carveout != b->has_carveout || a->carveout != b->carveout ||
        a->cluster_policy != b->cluster_policy || a->cluster_size != b->cluster_size ||
        memcmp(a->preferred, b->preferred, sizeof a->preferred) != 0 || a->sync_domain != b->sync_domain ||
        a->has_domain_map != b->has_domain_map ||
        memcmp(a->domain_map, b->domain_map, sizeof a->domain_map) != 0)
        return differ(c, "launches with different limits");
    return true;
}

/* All parameters are declared before their types are compared, as shapes may name later ones. */
static bool compare_parameters(comparer *c, const ir_function *a, const ir_function *b) {
    if (a->parameters.count != b->parameters.count)
        return differ(c, "%zu parameters and %zu", a->parameters.count, b->parameters.count);
    for (size_t i = 0; i < a->parameters.count; i++) {
        const ir_parameter *x = &a->parameters.items[i], *y = &b->parameters.items[i];
        c->here[0] = x->tensor ? x->tensor->span : x->var->span;
        c->here[1] = y->tensor ? y->tensor->span : y->var->span;
        if (!x->tensor != !y->tensor || !x->var != !y->var)
            return differ(c, "parameter %zu: a tensor and a scalar", i + 1);
        if (x->tensor)
            declare(c, x->tensor, y->tensor);
        else if (x->var && !declare_vars(c, x->var, y->var))
            return false;
    }
    for (size_t i = 0; i < a->parameters.count; i++) {
        const ir_tensor *x = a->parameters.items[i].tensor, *y = b->parameters.items[i].tensor;
        c->reason = NULL;
        if (x)
            c->here[0] = x->span, c->here[1] = y->span;
        if (x && !compare_tensor_type(c, x, y))
            return differ(c, "parameter %zu: %s", i + 1, c->reason);
    }
    return true;
}

bool ir_function_difference(const ir_function *a, const ir_function *b, base_builder *difference,
                            base_span places[2]) {
    base_arena *arena = a->module->arena;
    comparer c = {.arena = arena,
                  .forth = base_map_create(arena),
                  .back = base_map_create(arena),
                  .loose_forth = base_map_create(arena),
                  .loose_back = base_map_create(arena),
                  .difference = difference,
                  .here = {a->span, b->span},
                  .places = places};
    return !(compare_parameters(&c, a, b) && compare_launch(&c, &a->launch, &b->launch) &&
             compare_block(&c, "body", a->body, b->body));
}

bool ir_function_equal(const ir_function *a, const ir_function *b, base_builder *difference) {
    return !ir_function_difference(a, b, difference, NULL);
}
