/* SPDX-License-Identifier: Apache-2.0
 * copy_async from global to shared memory by cp.async: the walk of copy, with accesses of 4, 8 or 16 bytes
 * (PTX ISA 9.7.9.25.3). The caller commits and waits. */
#include "lower/lower_tile.h"
#include "lower/lower_tile_instruction.h"

static bool is_shared(const lower_tile_region *region) {
    return region->tensor->type.scope == IR_SCOPE_SHARED || region->tensor->type.scope == IR_SCOPE_SHARED_DYN;
}

const char *lower_tile_refuse_ldgsts(lower_tile *op) {
    base_arena *arena = op->context->arena;
    const lower_tile_region *to = &op->operands[0].region, *from = &op->operands[1].region;
    lower_tile_walk walk;
    if (!is_shared(to) || from->tensor->type.scope != IR_SCOPE_GLOBAL)
        return base_arena_format(arena, "cp.async goes from global to shared memory, not from %s to %s",
                                 ir_scope_name(from->tensor->type.scope),
                                 ir_scope_name(to->tensor->type.scope));
    if (to->tensor->type.dtype != from->tensor->type.dtype)
        return base_arena_format(arena, "'%s' is %s and '%s' is %s", to->tensor->name,
                                 num_dtype_name(to->tensor->type.dtype), from->tensor->name,
                                 num_dtype_name(from->tensor->type.dtype));
    const char *reason = lower_tile_walk_start(op, &walk);
    if (reason)
        return reason;
    unsigned bits = lower_tile_walk_lanes(&walk) * num_dtype_bits(to->tensor->type.dtype);
    if (bits != 32 && bits != 64 && bits != 128)
        return base_arena_format(arena,
                                 "only %u bits are certain to be together and aligned in both '%s' and '%s'; "
                                 "cp.async moves 32, 64 or 128",
                                 bits, to->tensor->name, from->tensor->name);
    return NULL;
}

static void write(lower_tile *op, const lower_tile_place *places, unsigned lanes, ir_stmt *block,
                  void *user) {
    (void)user;
    unsigned bytes = lanes * num_dtype_bits(places[0].tensor->type.dtype) / 8;
    const ir_expr *args[2] = {
        lower_tile_shared(op, ir_address(op->module, places[0].tensor, places[0].indices, places[0].count)),
        ir_address(op->module, places[1].tensor, places[1].indices, places[1].count)};
    const char *pattern = base_arena_format(op->context->arena, "cp.async.%s.shared.global [$0], [$1], %u",
                                            bytes == 16 ? "cg" : "ca", bytes);
    ir_block_add(op->module, block, lower_tile_instruction(op, pattern, args, 2));
}

void lower_tile_emit_ldgsts(lower_tile *op) {
    lower_tile_walk walk;
    lower_tile_walk_start(op, &walk);
    lower_tile_walk_emit(&walk, write, NULL);
}
