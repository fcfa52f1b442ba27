/* SPDX-License-Identifier: Apache-2.0
 * Tile operations of two parts: binary_reduce and unary_reduce give every element a value and reduce the
 * values. Each part is an operation of its own, done in whatever way it has; between them the scope's threads
 * meet where one reads what another wrote. Must not know the ways. */
#include "lower/lower_tile.h"
#include <string.h>

typedef struct parts {
    lower_tile map, reduce;
    bool meets; /* the values are in memory that several threads see */
} parts;

/* Names that an attribute may have; NULL or what is wrong with it. */
static const char *part_name(lower_tile *op, const char *attribute, const char *const *names,
                             const char **out) {
    const ir_expr *given = lower_tile_attribute(op, attribute, 0);
    base_builder list;
    base_builder_start(&list, op->context->arena);
    for (; *names; names++) {
        if (given && given->op == IR_STRING && !strcmp(given->at.string, *names)) {
            *out = *names;
            return NULL;
        }
        base_builder_format(&list, "%s%s", list.size ? ", " : "", *names);
    }
    return base_arena_format(op->context->arena, "%s= is one of %s", attribute, list.data);
}

static const char *split(lower_tile *op, parts *p) {
    static const char *const binary[] = {"add", "sub", "mul", "fdiv", "maximum", "minimum", NULL};
    static const char *const unary[] = {"sqrt", "exp", "exp2", "log2", "reciprocal", "silu", NULL};
    static const char *const reductions[] = {"sum", "max", "min", NULL};
    bool is_unary = !strcmp(op->name, "unary_reduce");
    const char *map, *reduce;
    const char *reason =
        is_unary ? part_name(op, "unary_op", unary, &map) : part_name(op, "binary_op", binary, &map);
    if (reason || (reason = part_name(op, "reduce_op", reductions, &reduce)))
        return reason;
    *p = (parts){.map = *op, .reduce = *op};
    p->map.name = map;
    p->map.dispatch = p->reduce.dispatch = "";
    p->map.count = op->count - 1; /* the values, and the sources behind the result */
    for (uint32_t i = 1; i < p->map.count; i++)
        p->map.operands[i] = op->operands[i + 1];
    p->reduce.name = reduce;
    p->reduce.count = 2;
    p->reduce.operands[0] = op->operands[1];
    p->reduce.operands[1] = op->operands[0];
    p->meets =
        op->scope != LAYOUT_SCOPE_THREAD && op->operands[0].region.tensor->type.scope != IR_SCOPE_LOCAL;
    if (p->meets && op->scope == LAYOUT_SCOPE_CLUSTER)
        return "at scope cluster its parts are two operations, with the cluster's barrier between them";
    if (p->meets && op->scope == LAYOUT_SCOPE_WARPGROUP && !lower_tile_is_block(op))
        return base_arena_format(
            op->context->arena,
            "'%s' is in memory, and several warpgroups have no barrier that is theirs alone: "
            "registers, another scope, or two operations with a named barrier between them",
            op->operands[0].region.tensor->name);
    return NULL;
}

const char *lower_tile_refuse_compound(lower_tile *op) {
    parts p;
    const char *reason = split(op, &p);
    if (!reason && (reason = lower_tile_refuse_any(&p.map)))
        reason = base_arena_format(op->context->arena, "its part %s: %s", p.map.name, reason);
    else if (!reason && (reason = lower_tile_refuse_any(&p.reduce)))
        reason = base_arena_format(op->context->arena, "its part %s: %s", p.reduce.name, reason);
    return reason;
}

void lower_tile_meet(lower_tile *op) {
    ir_stmt *s = ir_stmt_create(op->module, IR_STMT_EVALUATE, op->span);
    s->as.evaluate.value = ir_make(op->module, op->scope == LAYOUT_SCOPE_WARP ? IR_WARP_SYNC : IR_CTA_SYNC,
                                   (ir_type){.kind = IR_TYPE_VOID, .lanes = 1}, NULL, 0);
    base_vector_push(op->context->arena, op->out, s);
}

void lower_tile_emit_compound(lower_tile *op) {
    parts p;
    split(op, &p);
    lower_tile_emit_any(&p.map);
    if (p.meets)
        lower_tile_meet(op);
    lower_tile_emit_any(&p.reduce);
}
