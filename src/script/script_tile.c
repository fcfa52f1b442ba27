/* SPDX-License-Identifier: Apache-2.0
 * Tile operations: the words, the scope that stands before them, and their operands as regions of one TILE
 * expression. What an operation needs and how it is done is for lowering to know. */
#include "script/script_evaluate.h"
#include <string.h>

/* The words before an operation and the scope that they name. */
static const struct {
    const char *word, *scope;
} scopes[] = {{"thread", "thread"},       {"warp", "warp"}, {"wg", "warpgroup"},
              {"warpgroup", "warpgroup"}, {"cta", "cta"},   {"cluster", "cluster"}};

static const char *scope_of(const char *word, size_t size) {
    for (size_t i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++)
        if (strlen(scopes[i].word) == size && memcmp(scopes[i].word, word, size) == 0)
            return scopes[i].scope;
    return NULL;
}

/* Behind a prefix such as "tile." when it stands there. */
static const char *behind(const char *path, const char *prefix) {
    size_t size = strlen(prefix);
    return strncmp(path, prefix, size) == 0 ? path + size : path;
}

bool script_tile_find(script_evaluator *e, const char *path, script_value *out) {
    const char *rest = behind(path, "cuda.");
    bool prefixed = strncmp(rest, "tile", 4) == 0 && (rest[4] == 0 || rest[4] == '.');
    if (rest != path && !prefixed)
        return false;
    const char *operation = prefixed ? rest[4] ? rest + 5 : "" : rest;
    size_t size = strcspn(operation, ".");
    const char *scope = scope_of(operation, size);
    if (scope)
        operation += operation[size] ? size + 1 : size;
    if (*operation == 0 && (prefixed || scope)) {
        *out = (script_value){.kind = SCRIPT_VALUE_NAMESPACE,
                              .as.string.text = base_name_of(e->names, path),
                              .as.string.size = strlen(path)};
        return true;
    }
    const script_dialect_word *word = strchr(operation, '.') ? NULL : script_word_of("tile", operation);
    if (!word)
        return false;
    if (word->kind == SCRIPT_WORD_LATER) {
        *out = (script_value){.kind = SCRIPT_VALUE_WORD, .as.word = word};
        return true;
    }
    script_value *receiver = BASE_NEW(e->arena, script_value);
    *receiver = script_string(e->arena, scope ? scope : "", scope ? strlen(scope) : 0);
    *out = (script_value){.kind = SCRIPT_VALUE_METHOD};
    out->as.method.word = word;
    out->as.method.receiver = receiver;
    return true;
}

static bool is_tile_operand(script_value v) {
    return v.kind == SCRIPT_VALUE_REGION || v.kind == SCRIPT_VALUE_WINDOW ||
           (v.kind == SCRIPT_VALUE_TENSOR && !script_is_single(v.as.tensor));
}

const script_dialect_word *script_tile_overload(const script_dialect_word *word,
                                                const script_arguments *arguments) {
    if (arguments->items.count < 2 || !is_tile_operand(arguments->items.items[0].value))
        return NULL;
    script_value first = arguments->items.items[0].value, second = arguments->items.items[1].value;
    bool whole = first.kind == SCRIPT_VALUE_TENSOR, named = false;
    for (size_t i = 0; i < arguments->items.count; i++) {
        const char *name = arguments->items.items[i].name;
        named |= name && (strcmp(name, "axes") == 0 || strcmp(name, "accum") == 0 ||
                          strcmp(name, "scope") == 0 || strcmp(name, "dispatch") == 0);
    }
    if (!whole && !named && !(strcmp(word->path, "cast") == 0 && is_tile_operand(second)))
        return NULL;
    return script_word_of("tile", word->path);
}

/* ---- operands ---- */

typedef BASE_VECTOR(const ir_expr *) expressions;

static const ir_expr *make_region(script_evaluator *e, ir_tensor *tensor, const ir_expr *const *starts,
                                  const ir_expr *const *extents, base_span span) {
    for (uint32_t i = 0; i < tensor->type.rank; i++)
        if (starts[i]->type.lanes > 1) {
            base_diagnostic *d =
                script_error(e, "T0560", span, "a region with a step is no operand of a tile operation");
            base_help(e->diagnostics, d, "take every s-th element through a view: %s.sub[::s]", tensor->name);
            return NULL;
        }
    return ir_region(e->module, tensor, starts, extents);
}

/* A tensor, a part of one, or one element. NULL without a report when it is none of them. */
static const ir_expr *to_region(script_evaluator *e, script_value v, base_span span) {
    if (v.kind == SCRIPT_VALUE_WINDOW)
        v = script_window_region(e, v.as.window, span);
    if (v.kind == SCRIPT_VALUE_REGION)
        return make_region(e, v.as.region->tensor, v.as.region->starts, v.as.region->extents, span);
    uint32_t rank = v.kind == SCRIPT_VALUE_TENSOR ? v.as.tensor->type.rank : 0;
    if (v.kind == SCRIPT_VALUE_EXPR && v.as.expr->op == IR_LOAD)
        rank = v.as.expr->count;
    const ir_expr **starts = BASE_NEW_ARRAY(e->arena, const ir_expr *, rank + 1);
    const ir_expr **extents = BASE_NEW_ARRAY(e->arena, const ir_expr *, rank + 1);
    for (uint32_t i = 0; i < rank; i++)
        starts[i] = extents[i] = ir_int(e->module, NUM_DTYPE_I32, 0);
    if (v.kind == SCRIPT_VALUE_TENSOR)
        return make_region(e, v.as.tensor, starts, v.as.tensor->type.shape, span);
    if (v.kind != SCRIPT_VALUE_EXPR || v.as.expr->op != IR_LOAD)
        return NULL;
    for (uint32_t i = 0; i < rank; i++) {
        starts[i] = v.as.expr->args[i];
        extents[i] = ir_int(e->module, NUM_DTYPE_I32, 1);
    }
    return make_region(e, (ir_tensor *)(uintptr_t)v.as.expr->at.tensor, starts, extents, span);
}

static const ir_expr *need_region(script_evaluator *e, const script_call *call, size_t index,
                                  const char *name) {
    size_t errors = base_diagnostics_errors(e->diagnostics);
    const ir_expr *region = to_region(e, call->value[index], call->place[index]);
    if (!region && base_diagnostics_errors(e->diagnostics) == errors) {
        base_diagnostic *d =
            script_error(e, "T0560", call->place[index], "%s of %s must be a tensor or a part of one, not %s",
                         name, call->word->path, script_value_name(e->arena, call->value[index]));
        base_help(e->diagnostics, d, "a part is written with slices: A[m:m + 128, 0:64]");
    }
    return region;
}

/* A region, or a number that every element meets, in the type `like` where it is a literal. */
static const ir_expr *operand(script_evaluator *e, const script_call *call, size_t index, num_dtype like) {
    script_value v = call->value[index];
    bool single = v.kind == SCRIPT_VALUE_TENSOR && v.as.tensor->is_scalar;
    if (v.kind == SCRIPT_VALUE_REGION || (v.kind == SCRIPT_VALUE_TENSOR && !single) ||
        (v.kind == SCRIPT_VALUE_WINDOW && !script_window_is_single(v.as.window)))
        return to_region(e, v, call->place[index]);
    if (v.kind == SCRIPT_VALUE_INT || v.kind == SCRIPT_VALUE_FLOAT || v.kind == SCRIPT_VALUE_BOOL)
        return script_to_type(e, v, ir_type_prim(like, 1), call->place[index]);
    const ir_expr *x = script_to_expr(e, v, call->place[index]);
    if (x && x->type.kind == IR_TYPE_PRIM && x->type.lanes == 1)
        return x;
    if (x)
        script_error(e, "T0560", call->place[index],
                     "an operand of %s is a tensor, a part of one or a number, not %s", call->word->path,
                     script_type_name(e, x->type));
    return NULL;
}

/* ---- attributes ---- */

static bool add_value(script_evaluator *e, expressions *out, const char *name, script_value v,
                      base_span span) {
    const ir_expr *value;
    if (v.kind == SCRIPT_VALUE_TUPLE || v.kind == SCRIPT_VALUE_LIST) {
        for (size_t i = 0; i < v.as.list->items.count; i++)
            if (!add_value(e, out, name, v.as.list->items.items[i], span))
                return false;
        return true;
    }
    if (v.kind == SCRIPT_VALUE_STRING)
        value = ir_string(e->module, v.as.string.text);
    else if (v.kind == SCRIPT_VALUE_REGION || (v.kind == SCRIPT_VALUE_TENSOR && !v.as.tensor->is_scalar))
        value = to_region(e, v, span);
    else
        value = script_to_expr(e, v, span);
    if (!value)
        return false;
    base_vector_push(e->arena, out, ir_string(e->module, name));
    base_vector_push(e->arena, out, value);
    return true;
}

static bool add_attributes(script_evaluator *e, const script_call *call, expressions *out) {
    static const char *const names[] = {"axes",      "accum",      "transA",    "transB",      "SFA",
                                        "SFB",       "alpha",      "beta",      "transpose_A", "transpose_B",
                                        "binary_op", "unary_op",   "reduce_op", "op0",         "op1",
                                        "reverse1",  "reduce_axes"};
    bool good = true;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const script_value *v = script_argument_of(call, names[i]);
        const char *name = strcmp(names[i], "reduce_axes") ? names[i] : "axes";
        if (v)
            good &= add_value(e, out, name, *v, script_argument_span(call, names[i]));
    }
    for (size_t i = 0; i < call->keywords.items.count; i++) {
        const script_argument *item = &call->keywords.items.items[i];
        if (item->value.kind != SCRIPT_VALUE_NONE)
            good &= add_value(e, out, item->name, item->value, item->span);
    }
    return good;
}

/* scope= and what stands before the word; NULL: reported. */
static const char *read_scope(script_evaluator *e, const script_call *call) {
    const char *before = call->receiver.kind == SCRIPT_VALUE_STRING ? call->receiver.as.string.text : "";
    const script_value *v = script_argument_of(call, "scope");
    const char *text = NULL;
    base_span span = script_argument_span(call, "scope");
    if (v && !script_constant_string(e, *v, &text, span, "the scope of a tile operation"))
        return NULL;
    const char *scope = text ? scope_of(text, strlen(text)) : NULL;
    if (text && !scope) {
        base_diagnostic *d = script_error(e, "T0561", span, "'%s' is no scope of a tile operation", text);
        base_help(e->diagnostics, d, "thread, warp, warpgroup (wg), cta or cluster");
        return NULL;
    }
    if (scope && *before && strcmp(scope, before) != 0) {
        script_error(e, "T0561", span, "this operation is called at scope %s, and scope= says %s", before,
                     scope);
        return NULL;
    }
    return scope ? scope : *before ? before : "thread";
}

/* ---- the words ---- */

/* select's condition as a function of the element: its indices are lets of 0 here, and the element's in the
 * loops that lowering makes. */
static bool add_predicate(script_evaluator *e, const script_call *call, const ir_expr *region,
                          expressions *out) {
    script_arguments arguments = {0};
    expressions vars = {0};
    for (uint32_t i = 0; i < region->count / 2; i++) {
        script_value index = script_make_let(e, ir_int(e->module, NUM_DTYPE_I32, 0), call->place[3]);
        if (index.kind != SCRIPT_VALUE_EXPR)
            return false;
        script_argument argument = {.value = index, .span = call->place[3]};
        base_vector_push(e->arena, &arguments.items, argument);
        base_vector_push(e->arena, &vars, index.as.expr);
    }
    script_value v =
        script_call_value(e, call->value[3], &arguments, call->node, call->place[3], call->place[3]);
    const ir_expr *condition =
        script_is_poison(v) ? NULL : script_to_condition(e, v, call->place[3], "the condition of select");
    if (!condition)
        return false;
    base_vector_push(e->arena, out, ir_string(e->module, "pred"));
    base_vector_push(e->arena, out, condition);
    for (size_t i = 0; i < vars.count; i++) {
        base_vector_push(e->arena, out, ir_string(e->module, "index"));
        base_vector_push(e->arena, out, vars.items[i]);
    }
    return true;
}

static bool is_name(const script_call *call, const char *name) {
    return strcmp(call->word->path + 5, name) == 0;
}

/* The element type that literals take: that of the first source that has one, else the destination's. */
static num_dtype literal_type(script_evaluator *e, const script_call *call, size_t operands) {
    for (size_t i = is_name(call, "binary_reduce") ? 2 : 1; i < operands; i++)
        if (call->given[i] &&
            (call->value[i].kind == SCRIPT_VALUE_REGION || (call->value[i].kind == SCRIPT_VALUE_TENSOR))) {
            const ir_expr *region = to_region(e, call->value[i], call->place[i]);
            if (region)
                return region->at.tensor->type.dtype;
        }
    const ir_expr *region = to_region(e, call->value[0], call->place[0]);
    return region ? region->at.tensor->type.dtype : NUM_DTYPE_F32;
}

/* data: regions first, then operands that may be numbers: 16 * regions + others; sources left out are the
 * destination itself. */
script_value script_word_tile(script_evaluator *e, const script_call *call) {
    static const char *const places[] = {"the destination", "the source", "the second source",
                                         "the third source"};
    size_t regions = (size_t)call->word->data / 16, others = (size_t)call->word->data % 16;
    const char *scope, *dispatch = "";
    const script_value *asked = script_argument_of(call, "dispatch");
    expressions args = {0};
    if (!script_need_kernel(e, call->span, call->word->path) || !(scope = read_scope(e, call)))
        return script_poison();
    if (asked && !script_constant_string(e, *asked, &dispatch, script_argument_span(call, "dispatch"),
                                         "the dispatch of a tile operation"))
        return script_poison();
    base_vector_push(e->arena, &args, ir_string(e->module, call->word->path + 5));
    base_vector_push(e->arena, &args, ir_string(e->module, scope));
    base_vector_push(e->arena, &args, ir_string(e->module, dispatch));
    bool good = true;
    num_dtype like = others ? literal_type(e, call, regions + others) : NUM_DTYPE_F32;
    for (size_t i = 0; i < regions + others; i++) {
        size_t from = call->given[i] && call->value[i].kind != SCRIPT_VALUE_NONE ? i : 0;
        if (is_name(call, "gemm") && i == 3 && from == 0) /* no C: nothing is added */
            continue;
        const ir_expr *x =
            i < regions ? need_region(e, call, from, places[i < 4 ? i : 3]) : operand(e, call, from, like);
        if (x)
            base_vector_push(e->arena, &args, x);
        good &= x != NULL;
    }
    for (const char *const *name = (const char *const[]){"bias", "scale", NULL}; good && *name; name++) {
        size_t index;
        const script_value *v = script_argument_of(call, *name);
        if (!v || is_name(call, "fma"))
            continue;
        for (index = 0; &call->value[index] != v; index++)
            ;
        const ir_expr *x = operand(e, call, index, literal_type(e, call, regions));
        if (!x)
            return script_poison();
        base_vector_push(e->arena, &args, ir_string(e->module, *name));
        base_vector_push(e->arena, &args, x);
    }
    if (good && is_name(call, "select"))
        good = add_predicate(e, call, args.items[3], &args);
    if (!good || !add_attributes(e, call, &args))
        return script_poison();
    return script_expr(ir_make(e->module, IR_TILE, (ir_type){.kind = IR_TYPE_VOID, .lanes = 1},
                               (const ir_expr *const *)args.items, (uint32_t)args.count));
}

/* with compose_op(): the operations in it are done as they stand. */
script_value script_word_compose(script_evaluator *e, const script_call *call) {
    return script_need_kernel(e, call->span, call->word->path) ? (script_value){.kind = SCRIPT_VALUE_FRAME}
                                                               : script_poison();
}
