/* SPDX-License-Identifier: Apache-2.0
 * Structural equality of two modules: what their text says, not where it stood. Registers count where they
 * are used; declared and unused ones say nothing. */
#include "ptx/ptx_private.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct comparison {
    bool lines, origins;
    base_builder *difference;
    bool told;
} comparison;

__attribute__((format(printf, 2, 3))) static bool differ(comparison *c, const char *format, ...) {
    if (c->difference != NULL && !c->told) {
        char text[512];
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(text, sizeof(text), format, arguments);
        va_end(arguments);
        base_builder_string(c->difference, text);
        c->told = true;
    }
    return false;
}

static bool same_text(const char *a, const char *b) {
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool same_operand(const ptx_operand *a, const ptx_operand *b) {
    if (a->kind != b->kind || a->negated != b->negated || a->count != b->count || a->bits != b->bits ||
        a->immediate != b->immediate) {
        return false;
    }
    switch ((ptx_operand_kind)a->kind) {
    case PTX_OPERAND_REGISTER:
        return a->of.reg->type == b->of.reg->type && same_text(a->of.reg->name, b->of.reg->name);
    case PTX_OPERAND_VARIABLE:
        return same_text(a->of.variable->name, b->of.variable->name) &&
               a->of.variable->space == b->of.variable->space;
    case PTX_OPERAND_FUNCTION:
        return same_text(a->of.function->name, b->of.function->name);
    case PTX_OPERAND_LABEL:
        return (a->of.label == NULL) == (b->of.label == NULL) &&
               (a->of.label == NULL || (a->of.label->target == b->of.label->target &&
                                        same_text(a->of.label->name, b->of.label->name)));
    case PTX_OPERAND_TABLE:
        return (a->of.table == NULL) == (b->of.table == NULL) &&
               (a->of.table == NULL || same_text(a->of.table->name, b->of.table->name));
    default:
        break;
    }
    for (unsigned i = 0; i < a->count; i++) {
        if (!same_operand(&a->args[i], &b->args[i])) {
            return false;
        }
    }
    return true;
}

static bool same_index(const ptx_index *a, const ptx_index *b, bool root) {
    if (a == NULL || b == NULL) {
        return a == b;
    }
    if (a->op != b->op || (root && !same_text(a->text, b->text))) {
        return false;
    }
    switch (a->op) {
    case PTX_INDEX_CONSTANT:
    case PTX_INDEX_SPECIAL:
        return a->constant == b->constant;
    case PTX_INDEX_REGISTER:
        return same_text(a->reg->name, b->reg->name);
    case PTX_INDEX_UNKNOWN:
        return true;
    default:
        return same_index(a->a, b->a, false) && same_index(a->b, b->b, false);
    }
}

static bool same_origin(const ptx_origin *a, const ptx_origin *b) {
    if (a == NULL || b == NULL) {
        return a == b;
    }
    if (a->rank != b->rank || a->is_store != b->is_store || !same_text(a->tensor, b->tensor) ||
        !same_text(a->space, b->space)) {
        return false;
    }
    for (uint32_t i = 0; i < a->rank; i++) {
        if (!same_index(a->indices[i], b->indices[i], true) ||
            (a->extents ? a->extents[i] : -1) != (b->extents ? b->extents[i] : -1)) {
            return false;
        }
    }
    return true;
}

static bool same_instruction(const comparison *c, const ptx_instruction *a, const ptx_instruction *b) {
    if (a->op != b->op || a->mod_count != b->mod_count || a->operand_count != b->operand_count ||
        (a->guard == NULL) != (b->guard == NULL) || a->type != b->type || a->type2 != b->type2) {
        return false;
    }
    if (a->guard != NULL &&
        (a->guard_negated != b->guard_negated || !same_text(a->guard->name, b->guard->name))) {
        return false;
    }
    /* .unified moves behind the address when printed, so it may have been among other modifiers. */
    if (memcmp(a->mods, b->mods, a->mod_count * sizeof(a->mods[0])) != 0 && !ptx_has(a, PTX_MOD_UNIFIED)) {
        return false;
    }
    for (unsigned i = 0; i < a->operand_count; i++) {
        if (!same_operand(&a->operands[i], &b->operands[i])) {
            return false;
        }
    }
    if (c->lines &&
        (a->loc_file != b->loc_file || a->loc_line != b->loc_line || a->loc_column != b->loc_column)) {
        return false;
    }
    return !c->origins || same_origin(a->origin, b->origin);
}

static bool same_variable(const ptx_variable *a, const ptx_variable *b) {
    bool same = same_text(a->name, b->name) && a->space == b->space && a->type == b->type &&
                a->linkage == b->linkage && a->align == b->align && a->vector == b->vector &&
                a->elements == b->elements && a->is_array == b->is_array && a->bytes == b->bytes &&
                a->is_pointer == b->is_pointer && a->pointer_space == b->pointer_space &&
                a->pointer_align == b->pointer_align && a->initial.count == b->initial.count;
    for (size_t i = 0; same && i < a->initial.count; i++) {
        const ptx_initial *x = &a->initial.items[i], *y = &b->initial.items[i];
        same = x->bits == y->bits && x->generic == y->generic && x->mask == y->mask &&
               (x->variable == NULL) == (y->variable == NULL) &&
               (x->function == NULL) == (y->function == NULL) &&
               (x->variable == NULL || same_text(x->variable->name, y->variable->name)) &&
               (x->function == NULL || same_text(x->function->name, y->function->name));
    }
    return same;
}

static bool same_variables(comparison *c, ptx_variable *const *a, size_t a_count, ptx_variable *const *b,
                           size_t b_count, const char *what) {
    if (a_count != b_count) {
        return differ(c, "%s: %zu variables and %zu", what, a_count, b_count);
    }
    for (size_t i = 0; i < a_count; i++) {
        if (!same_variable(a[i], b[i])) {
            return differ(c, "%s: variable %zu, '%s' and '%s'", what, i, a[i]->name, b[i]->name);
        }
    }
    return true;
}

static bool same_signature(comparison *c, const ptx_function *a, const ptx_function *b) {
    bool flags = a->linkage == b->linkage && a->is_entry == b->is_entry && a->noreturn == b->noreturn &&
                 a->min_blocks == b->min_blocks && a->max_blocks == b->max_blocks &&
                 a->max_registers == b->max_registers && a->max_cluster_rank == b->max_cluster_rank &&
                 a->explicit_cluster == b->explicit_cluster &&
                 a->blocks_are_clusters == b->blocks_are_clusters &&
                 memcmp(a->max_threads, b->max_threads, sizeof(a->max_threads)) == 0 &&
                 memcmp(a->required_threads, b->required_threads, sizeof(a->required_threads)) == 0 &&
                 memcmp(a->cluster, b->cluster, sizeof(a->cluster)) == 0 &&
                 same_text(a->alias ? a->alias->name : "", b->alias ? b->alias->name : "");
    if (!flags) {
        return differ(c, "%s: linkage or directives", a->name);
    }
    return same_variables(c, a->parameters.items, a->parameters.count, b->parameters.items,
                          b->parameters.count, a->name) &&
           same_variables(c, a->returns.items, a->returns.count, b->returns.items, b->returns.count, a->name);
}

static bool same_table(comparison *c, const ptx_table_declaration *a, const ptx_table_declaration *b) {
    bool same = same_text(a->name, b->name) && a->kind == b->kind && a->position == b->position &&
                a->labels.count == b->labels.count && a->functions.count == b->functions.count &&
                (a->prototype == NULL) == (b->prototype == NULL);
    for (size_t i = 0; same && i < a->labels.count; i++) {
        const ptx_label *x = a->labels.items[i], *y = b->labels.items[i];
        same = x != NULL && y != NULL && x->target == y->target && same_text(x->name, y->name);
    }
    for (size_t i = 0; same && i < a->functions.count; i++) {
        same = same_text(a->functions.items[i]->name, b->functions.items[i]->name);
    }
    return same && (a->prototype == NULL || same_signature(c, a->prototype, b->prototype));
}

static bool same_function(comparison *c, const ptx_function *a, const ptx_function *b) {
    if (a->has_body != b->has_body || !same_signature(c, a, b)) {
        return differ(c, "%s: one has a body", a->name);
    }
    if (!same_variables(c, a->variables.items, a->variables.count, b->variables.items, b->variables.count,
                        a->name)) {
        return false;
    }
    if (a->instructions.count != b->instructions.count || a->labels.count != b->labels.count ||
        a->tables.count != b->tables.count) {
        return differ(c, "%s: %zu, %zu instructions; %zu, %zu labels; %zu, %zu tables", a->name,
                      a->instructions.count, b->instructions.count, a->labels.count, b->labels.count,
                      a->tables.count, b->tables.count);
    }
    for (size_t i = 0; i < a->tables.count; i++) {
        if (!same_table(c, a->tables.items[i], b->tables.items[i])) {
            return differ(c, "%s: table '%s'", a->name, a->tables.items[i]->name);
        }
    }
    for (size_t i = 0; i < a->instructions.count; i++) {
        if (!same_instruction(c, &a->instructions.items[i], &b->instructions.items[i])) {
            return differ(c, "%s: instruction %zu, %s", a->name, i, ptx_op_name(a->instructions.items[i].op));
        }
    }
    return true;
}

static bool same_files(comparison *c, const ptx_module *a, const ptx_module *b) {
    size_t count = a->files.count > b->files.count ? a->files.count : b->files.count;
    for (size_t i = 0; i < count; i++) {
        if (!same_text(i < a->files.count ? a->files.items[i] : NULL,
                       i < b->files.count ? b->files.items[i] : NULL)) {
            return differ(c, ".file %zu", i);
        }
    }
    return true;
}

bool ptx_module_equal(const ptx_module *a, const ptx_module *b, bool lines, bool origins,
                      base_builder *difference) {
    comparison c = {.lines = lines, .origins = origins, .difference = difference};
    if (a->version != b->version || a->address_size != b->address_size || !same_text(a->target, b->target) ||
        !same_text(a->target_options, b->target_options)) {
        return differ(&c, ".version, .target or .address_size");
    }
    if (!same_variables(&c, a->variables.items, a->variables.count, b->variables.items, b->variables.count,
                        "module")) {
        return false;
    }
    if (a->functions.count != b->functions.count) {
        return differ(&c, "%zu functions and %zu", a->functions.count, b->functions.count);
    }
    for (size_t i = 0; i < a->functions.count; i++) {
        const ptx_function *other = ptx_function_find(b, a->functions.items[i]->name);
        if (other == NULL) {
            return differ(&c, "function '%s' is only in one", a->functions.items[i]->name);
        }
        if (!same_function(&c, a->functions.items[i], other)) {
            return false;
        }
    }
    return !lines || same_files(&c, a, b);
}
