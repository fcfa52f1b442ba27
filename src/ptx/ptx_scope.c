/* SPDX-License-Identifier: Apache-2.0
 * Names inside a function: nested {} scopes, registers that come to life when first named, labels resolved
 * when their scope closes. Every lookup is hashed; closing a scope looks only at references made inside it.
 */
#include "ptx/ptx_parse.h"
#include <string.h>

void ptx_scope_open(ptx_parser *parser, base_span span) {
    ptx_scope *scope = BASE_NEW(parser->arena, ptx_scope);
    scope->parent = parser->scope;
    scope->first_pending = parser->pending.count;
    scope->open = span;
    parser->scope = scope;
}

/* The first of name, name$2, name$3 ... that the function has not used. The number to try next is kept, so
 * that a thousand inline assembly blocks with the same names cost a thousand steps. */
const char *ptx_scope_unique(ptx_parser *parser, const char *name) {
    uintptr_t next = (uintptr_t)base_map_get(parser->used_names, BASE_KEY(name));
    if (next == 0) {
        base_map_set(parser->used_names, BASE_KEY(name), (void *)(uintptr_t)2);
        return name;
    }
    for (;; next++) {
        const char *candidate = base_name_of(parser->module->names,
                                             base_arena_format(parser->arena, "%s$%zu", name, (size_t)next));
        if (base_map_get(parser->used_names, BASE_KEY(candidate)) == NULL) {
            base_map_set(parser->used_names, BASE_KEY(candidate), (void *)(uintptr_t)2);
            base_map_set(parser->used_names, BASE_KEY(name), (void *)(next + 1));
            return candidate;
        }
    }
}

static bool declare(ptx_parser *parser, base_map **map, const char *name, ptx_symbol symbol, base_span span) {
    if (*map == NULL) {
        *map = base_map_create(parser->arena);
    }
    ptx_symbol *known = base_map_get(*map, BASE_KEY(name));
    if (known != NULL) {
        base_diagnostic *d = base_report(parser->diagnostics, BASE_ERROR, "T0508", span,
                                         "'%s' is declared already in this scope", name);
        base_note(parser->diagnostics, d, known->span, "the first declaration");
        return false;
    }
    ptx_symbol *entry = base_arena_copy(parser->arena, &symbol, sizeof(symbol));
    entry->span = span;
    base_map_set(*map, BASE_KEY(name), entry);
    return true;
}

bool ptx_scope_declare(ptx_parser *parser, const char *name, ptx_symbol symbol, base_span span) {
    return declare(parser, &parser->scope->symbols, name, symbol, span);
}

bool ptx_scope_declare_target(ptx_parser *parser, const char *name, ptx_symbol symbol, base_span span) {
    return declare(parser, &parser->scope->targets, name, symbol, span);
}

/* %r17 out of %r<100>: the register of this scope, made now. */
static ptx_symbol *find_in_range(ptx_parser *parser, ptx_scope *scope, const char *name, const char *range,
                                 uint64_t number) {
    ptx_symbol *found = base_map_get(scope->symbols, BASE_KEY(range));
    if (found == NULL || number >= found->count) {
        return NULL;
    }
    ptx_symbol *entry = BASE_NEW(parser->arena, ptx_symbol);
    entry->kind = PTX_SYMBOL_REGISTER;
    entry->span = found->span;
    entry->of.reg =
        ptx_register_create(parser->module, parser->function, ptx_scope_unique(parser, name), found->type);
    base_map_set(scope->symbols, BASE_KEY(name), entry);
    return entry;
}

/* Splits name into prefix and number; NULL when it does not end in a plain number. The result is the key of
 * ranges. */
static const char *range_key(ptx_parser *parser, const char *name, uint64_t *number) {
    size_t size = strlen(name), digits = 0;
    while (digits < size && name[size - 1 - digits] >= '0' && name[size - 1 - digits] <= '9') {
        digits++;
    }
    if (digits == 0 || digits > 10 || digits == size || size - digits > 200) {
        return NULL;
    }
    const char *first = name + size - digits;
    if (first[0] == '0' && digits > 1) {
        return NULL;
    }
    *number = 0;
    for (size_t i = 0; i < digits; i++) {
        *number = *number * 10 + (uint64_t)(first[i] - '0');
    }
    char key[204];
    memcpy(key, name, size - digits);
    key[size - digits] = '<';
    return base_name(parser->module->names, key, size - digits + 1);
}

ptx_symbol *ptx_scope_find(ptx_parser *parser, const char *name) {
    const char *range = NULL;
    uint64_t number = 0;
    bool split = false;
    for (ptx_scope *scope = parser->scope; scope != NULL; scope = scope->parent) {
        if (scope->symbols == NULL) {
            continue;
        }
        ptx_symbol *symbol = base_map_get(scope->symbols, BASE_KEY(name));
        if (symbol == NULL) {
            if (!split) {
                range = range_key(parser, name, &number);
                split = true;
            }
            if (range != NULL && parser->function != NULL) {
                symbol = find_in_range(parser, scope, name, range, number);
            }
        }
        if (symbol != NULL) {
            return symbol;
        }
    }
    return NULL;
}

static bool resolve(const ptx_scope *scope, const ptx_pending *pending) {
    ptx_symbol *symbol =
        scope->targets != NULL ? base_map_get(scope->targets, BASE_KEY(pending->name)) : NULL;
    if (symbol == NULL) {
        return false;
    }
    if (symbol->kind == PTX_SYMBOL_LABEL) {
        if (pending->operand == NULL) {
            *pending->slot = symbol->of.label;
            return true;
        }
        if (pending->operand->kind == PTX_OPERAND_LABEL) {
            pending->operand->of.label = symbol->of.label;
            return true;
        }
        return false;
    }
    if (pending->operand != NULL && pending->operand->kind == PTX_OPERAND_TABLE) {
        pending->operand->of.table = symbol->of.table;
        return true;
    }
    return false;
}

void ptx_scope_close(ptx_parser *parser) {
    ptx_scope *scope = parser->scope;
    size_t kept = scope->first_pending;
    bool outermost = scope->parent == NULL;
    for (size_t i = scope->first_pending; i < parser->pending.count; i++) {
        ptx_pending pending = parser->pending.items[i];
        if (resolve(scope, &pending)) {
            continue;
        }
        if (outermost) {
            bool is_table = pending.operand != NULL && pending.operand->kind == PTX_OPERAND_TABLE;
            base_report(parser->diagnostics, BASE_ERROR, "T0514", pending.span,
                        "there is no %s '%s' in this function",
                        is_table ? ".branchtargets, .calltargets or .callprototype named" : "label",
                        pending.name);
        } else {
            parser->pending.items[kept++] = pending;
        }
    }
    parser->pending.count = kept;
    parser->scope = scope->parent;
}
