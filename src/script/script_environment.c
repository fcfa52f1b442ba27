/* SPDX-License-Identifier: Apache-2.0
 * Names: scopes, bindings, look-up with near-miss suggestions; and the evaluator's common acts: errors, step
 * and depth limits, emitting statements. Knows no construct of the language. */
#include "script/script_evaluate.h"
#include <stdio.h>
#include <string.h>

base_diagnostic *script_error(script_evaluator *e, const char *code, base_span span, const char *format,
                              ...) {
    va_list arguments;
    va_start(arguments, format);
    base_diagnostic *d = base_report_list(e->diagnostics, BASE_ERROR, code, span, format, arguments);
    va_end(arguments);
    if (d && e->library_file && span.file == e->library_file && e->library_caller.file)
        base_note(e->diagnostics, d, e->library_caller, "called from here");
    return d;
}

/* The body of the kernel or of the module goes on behind the statement that met a limit, once for the steps.
 */
static void leave_statement(script_evaluator *e) {
    e->unwinding = true;
    if (e->steps_left == 0 && !e->is_refilled) {
        e->is_refilled = true;
        e->steps_left = e->step_limit / 8;
    } else if (e->steps_left == 0)
        e->stopped = true;
}

/* What script_enter does where it may not go on: false. */
bool script_enter_limit(script_evaluator *e, base_span span) {
    if (script_is_stopped(e))
        return false;
    if (e->steps_left == 0) {
        base_diagnostic *d = script_error(e, "T0280", span, "evaluation of the script took too many steps");
        base_help(e->diagnostics, d, "a loop of a plain function probably never ends");
        leave_statement(e);
        return false;
    }
    e->steps_left--;
    base_diagnostic *d =
        script_error(e, "T0281", span,
                     e->calls > 8 ? "calls nested over %u deep: functions of a script may not"
                                  : "nested over %u levels deep: expressions and calls of a script may not",
                     e->calls > 8 ? e->calls : e->depth_limit);
    if (e->calls > 8)
        base_help(e->diagnostics, d, "a recursion probably never ends");
    leave_statement(e);
    return false;
}

/* Work that grows with its data counts as steps too. */
void script_charge(script_evaluator *e, size_t items) {
    e->steps_left = e->steps_left > items ? e->steps_left - items : 0;
}

bool script_deeper(script_evaluator *e, uint32_t count, base_span span) {
    if (e->ir_depth + count <= IR_STATEMENT_LIMIT - 20) {
        e->ir_depth += count;
        return true;
    }
    script_error(e, "T0281", span, "over %d loops and branches inside each other", IR_STATEMENT_LIMIT - 20);
    if (e->calls > 0) /* a recursion, which would go on beside this */
        leave_statement(e);
    return false;
}

void script_emit(script_evaluator *e, ir_stmt *statement) {
    ir_block_add(e->module, e->block, statement);
}

bool script_in_kernel(const script_evaluator *e) {
    return e->function != NULL && e->block != NULL;
}

bool script_need_kernel(script_evaluator *e, base_span span, const char *what) {
    if (script_in_kernel(e))
        return true;
    script_error(e, "T0253", span, "%s belongs into the body of a kernel", what);
    return false;
}

const char *script_temporary_name(script_evaluator *e, const char *stem) {
    char text[64];
    snprintf(text, sizeof(text), "%s%u", stem, e->temporary++);
    return base_name_of(e->names, text);
}

/* ---- scopes ---- */

script_scope *script_scope_open(script_evaluator *e, bool is_function) {
    script_scope *scope = BASE_NEW(e->arena, script_scope);
    scope->parent = e->scope;
    scope->is_function = is_function;
    e->scope = scope;
    return scope;
}

/* Keeps what the block bound, so that a use after it can say where the name was. */
void script_scope_close(script_evaluator *e) {
    script_scope *scope = e->scope;
    for (size_t i = 0; i < scope->names.count; i++)
        base_map_set(e->gone, BASE_KEY(scope->names.items[i]), scope->bindings[i]);
    e->scope = scope->parent;
}

enum { FEW_NAMES = 8 }; /* a scope of a block: looked through one by one */

static uint64_t filter_of(const char *name) {
    return (uint64_t)1 << ((uintptr_t)name >> 4 & 63);
}

script_binding *script_scope_get(const script_scope *scope, const char *name) {
    if ((scope->filter & filter_of(name)) == 0)
        return NULL;
    if (scope->map)
        return base_map_get(scope->map, BASE_KEY(name));
    for (uint32_t i = 0; i < scope->names.count; i++)
        if (scope->names.items[i] == name)
            return scope->bindings[i];
    return NULL;
}

static void scope_add(script_evaluator *e, script_scope *scope, script_binding *binding) {
    const uint32_t count = scope->names.count;
    if (count == scope->names.capacity) {
        const uint32_t wanted = count == 0 ? 4 : 2 * count;
        const char **names = BASE_NEW_ARRAY(e->arena, const char *, wanted);
        script_binding **bindings = BASE_NEW_ARRAY(e->arena, script_binding *, wanted);
        for (uint32_t i = 0; i < count; i++) {
            names[i] = scope->names.items[i];
            bindings[i] = scope->bindings[i];
        }
        scope->names.items = names;
        scope->names.capacity = wanted;
        scope->bindings = bindings;
    }
    scope->names.items[count] = binding->name;
    scope->bindings[count] = binding;
    scope->filter |= filter_of(binding->name);
    scope->names.count++;
    if (count + 1 <= FEW_NAMES)
        return;
    if (!scope->map) {
        scope->map = base_map_create(e->arena);
        for (uint32_t i = 0; i < count; i++)
            base_map_set(scope->map, BASE_KEY(scope->names.items[i]), scope->bindings[i]);
    }
    base_map_set(scope->map, BASE_KEY(binding->name), binding);
}

/* name is one of e->names in what follows, up to the functions that are called with any text. */
static script_binding *find(script_evaluator *e, const char *name) {
    for (script_scope *scope = e->scope; scope; scope = scope->parent) {
        script_binding *binding = script_scope_get(scope, name);
        if (binding)
            return binding;
    }
    return NULL;
}

static script_binding *bind_in(script_evaluator *e, script_scope *scope, const char *name, script_value value,
                               script_binding_kind kind, base_span span) {
    script_binding *binding = script_scope_get(scope, name);
    bool is_new = !binding;
    if (is_new)
        binding = BASE_NEW(e->arena, script_binding);
    *binding = (script_binding){.name = name, .value = value, .kind = kind, .span = span};
    if (is_new)
        scope_add(e, scope, binding);
    return binding;
}

script_binding *script_find(script_evaluator *e, const char *name) {
    return find(e, base_name_of(e->names, name));
}

script_binding *script_find_local(script_evaluator *e, const char *name) {
    return script_find_local_name(e, base_name_of(e->names, name));
}

script_binding *script_find_local_name(script_evaluator *e, const char *name) {
    for (script_scope *scope = e->scope; scope; scope = scope->parent) {
        script_binding *binding = script_scope_get(scope, name);
        if (binding)
            return binding;
        script_scope *home = scope->elsewhere ? base_map_get(scope->elsewhere, BASE_KEY(name)) : NULL;
        if (home)
            return script_scope_get(home, name);
        if (scope->is_function)
            break;
    }
    return NULL;
}

script_binding *script_scope_find(script_evaluator *e, const script_scope *scope, const char *name) {
    return script_scope_get(scope, base_name_of(e->names, name));
}

script_binding *script_scope_bind(script_evaluator *e, script_scope *scope, const char *name,
                                  script_value value, script_binding_kind kind, base_span span) {
    return bind_in(e, scope, base_name_of(e->names, name), value, kind, span);
}

script_binding *script_bind(script_evaluator *e, const char *name, script_value value,
                            script_binding_kind kind, base_span span) {
    return script_bind_name(e, base_name_of(e->names, name), value, kind, span);
}

script_binding *script_bind_name(script_evaluator *e, const char *name, script_value value,
                                 script_binding_kind kind, base_span span) {
    script_scope *scope = e->scope;
    /* global and nonlocal names live in another scope */
    for (script_scope *s = scope; s; s = s->is_function ? NULL : s->parent)
        if (s->elsewhere && base_map_get(s->elsewhere, BASE_KEY(name)))
            scope = base_map_get(s->elsewhere, BASE_KEY(name));
    return bind_in(e, scope, name, value, kind, span);
}

void script_declare_elsewhere(script_evaluator *e, const script_node *node) {
    for (size_t i = 0; i < node->items.count; i++) {
        const char *name = base_name_of(e->names, node->items.items[i]->text);
        script_scope *scope = e->scope, *home = e->scope;
        while (!scope->is_function && scope->parent)
            scope = scope->parent;
        while (home->parent && home->parent->parent) /* of the file that the function stands in */
            home = home->parent;
        const script_scope *module = home;
        if (node->kind == SCRIPT_NONLOCAL) {
            home = NULL;
            for (script_scope *s = scope->parent; s && s != module && !home; s = s->parent)
                if (script_scope_get(s, name))
                    home = s;
            if (!home) {
                script_error(e, "T0201", node->items.items[i]->span,
                             "no function around this one has a name '%s'", name);
                continue;
            }
        }
        if (scope == home)
            continue;
        if (!scope->elsewhere)
            scope->elsewhere = base_map_create(e->arena);
        base_map_set(scope->elsewhere, BASE_KEY(name), home);
    }
}

/* ---- suggestions ---- */

/* Edit distance with exchange of neighbours, cut at a small bound; words over 40 letters never match. */
static unsigned distance(const char *a, const char *b) {
    enum { MAX = 40 };
    size_t n = strlen(a), m = strlen(b);
    if (n > MAX || m > MAX)
        return 99;
    unsigned row[3][MAX + 1];
    for (size_t j = 0; j <= m; j++)
        row[0][j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++) {
        unsigned *now = row[i % 3], *last = row[(i + 2) % 3], *older = row[(i + 1) % 3];
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            unsigned best = last[j - 1] + (a[i - 1] != b[j - 1]);
            if (last[j] + 1 < best)
                best = last[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && older[j - 2] + 1 < best)
                best = older[j - 2] + 1;
            now[j] = best;
        }
    }
    return row[n % 3][m];
}

const char *script_nearest(const char *word, const char *const *candidates, size_t count) {
    const char *best = NULL;
    unsigned best_distance = (unsigned)(strlen(word) / 3) + 1;
    if (best_distance > 3)
        best_distance = 3;
    size_t size = strlen(word);
    for (size_t i = 0; i < count; i++) {
        size_t other = strlen(candidates[i]), gap = other > size ? other - size : size - other;
        if (gap > best_distance)
            continue;
        unsigned d = distance(word, candidates[i]);
        if (d > 0 && d <= best_distance && (best == NULL || d < best_distance)) {
            best = candidates[i];
            best_distance = d;
        }
    }
    return best;
}

/* Looking for near misses costs, and after many errors nobody reads them. */
bool script_may_suggest(const script_evaluator *e) {
    return base_diagnostics_errors(e->diagnostics) <= 100;
}

static void suggest_name(script_evaluator *e, base_diagnostic *d, const char *name) {
    if (!script_may_suggest(e))
        return;
    BASE_VECTOR(const char *) known = {0};
    for (script_scope *scope = e->scope; scope; scope = scope->parent)
        for (size_t i = 0; i < scope->names.count && known.count < 4000; i++)
            base_vector_push(e->arena, &known, scope->names.items[i]);
    const char *near = script_nearest(name, known.items, known.count);
    if (near)
        base_help(e->diagnostics, d, "did you mean '%s'?", near);
    else if (strcmp(name, "math") == 0)
        base_help(e->diagnostics, d, "write `import math` first");
    else
        base_help(e->diagnostics, d, "assign it before the function, or pass -D %s=...", name);
}

script_value script_lookup(script_evaluator *e, const char *name, base_span span) {
    return script_lookup_name(e, base_name_of(e->names, name), span);
}

script_value script_lookup_name(script_evaluator *e, const char *name, base_span span) {
    script_binding *binding = find(e, name);
    if (binding) {
        binding->is_read = true;
        return binding->value;
    }
    const script_dialect_word *word = script_word_of("python", name);
    if (word)
        return script_word_value(e, word, span);
    base_diagnostic *d = script_error(e, "T0201", span, "name '%s' is not defined", name);
    script_binding *gone = base_map_get(e->gone, BASE_KEY(name));
    if (gone && e->function && gone->span.file) {
        base_note(e->diagnostics, d, gone->span,
                  "'%s' was bound here; a name bound inside a block ends with the block", name);
        base_help(e->diagnostics, d, "give it a value before the block, and assign to it inside");
    } else
        suggest_name(e, d, name);
    return script_poison();
}
