/* SPDX-License-Identifier: Apache-2.0
 * copy_async from shared to tensor memory: tcgen05.cp (PTX ISA 9.7.16.9). The layout in tensor memory says
 * which shape puts rows on its lanes, the layout in shared memory is what a descriptor must describe. One
 * thread issues, the caller commits. Must not know MMA. */
#include "lower/lower_tile.h"
#include "lower/lower_tile_instruction.h"

static const struct {
    const char *shape, *multicast;
    int64_t rows, bits; /* of one instruction */
} shapes[] = {
    {"128x256b", "", 128, 256},
    {"128x128b", "", 128, 128},
    {"64x128b", "warpx2::02_13", 64, 128},
    {"64x128b", "warpx2::01_23", 64, 128},
    {"32x128b", "warpx4", 32, 128},
};
enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

typedef struct plan {
    const lower_tile_region *cells, *source;
    lower_tile_tmem tmem;
    lower_tile_matrix matrix;
    int shape;
    int64_t group, depth; /* elements of a row that one instruction moves */
} plan;

static const char *make_plan(lower_tile *op, plan *p) {
    base_arena *arena = op->context->arena;
    *p = (plan){.cells = &op->operands[0].region, .source = &op->operands[1].region};
    ir_scope from = p->source->tensor->type.scope;
    if (p->cells->tensor->type.scope != IR_SCOPE_TMEM ||
        (from != IR_SCOPE_SHARED && from != IR_SCOPE_SHARED_DYN))
        return "it moves from shared to tensor memory";
    p->group = lower_tile_constant(op, "cta_group", 1);
    if (p->group != 1 && p->group != 2)
        return "cta_group= is 1 or 2";
    unsigned bits = num_dtype_bits(p->source->tensor->type.dtype);
    if (bits != num_dtype_bits(p->cells->tensor->type.dtype) || bits < 8)
        return base_arena_format(arena, "'%s' is %s and '%s' is %s", p->cells->tensor->name,
                                 num_dtype_name(p->cells->tensor->type.dtype), p->source->tensor->name,
                                 num_dtype_name(p->source->tensor->type.dtype));
    const char *reason = lower_tile_tmem_region(op, p->cells, &p->tmem);
    for (p->shape = 0; !reason && p->shape < (int)SHAPES; p->shape++) {
        layout_error error = {NULL};
        p->depth = shapes[p->shape].bits / bits;
        if ((reason = lower_tile_matrix_of(op, p->source, false, p->depth, &p->matrix))) {
            if (shapes[p->shape].bits == 256) /* half of it may fit */
                reason = NULL;
            continue;
        }
        const layout_tile *wanted =
            p->matrix.rows == shapes[p->shape].rows
                ? layout_tmem_copy(arena, shapes[p->shape].shape, shapes[p->shape].multicast, p->matrix.depth,
                                   &error)
                : NULL;
        if (wanted && layout_equal(arena, p->tmem.layout, wanted))
            return NULL;
    }
    return reason ? reason
                  : base_arena_format(arena,
                                      "'%s' lies at %s, where no shape of tcgen05.cp puts these rows: "
                                      "tcgen05_cp_layout(\"128x128b\", columns) and its like do",
                                      p->cells->tensor->name, layout_text_of(arena, p->tmem.layout));
}

const char *lower_tile_refuse_cp(lower_tile *op) {
    plan p;
    return make_plan(op, &p);
}

void lower_tile_emit_cp(lower_tile *op) {
    plan p;
    make_plan(op, &p);
    ir_stmt *block = lower_tile_block(op);
    const ir_expr *address = lower_tile_let(op, block, "taddr", p.tmem.address);
    const char *pattern = base_arena_format(
        op->context->arena, "tcgen05.cp.cta_group::%lld.%s%s%s [$0], $1", (long long)p.group,
        shapes[p.shape].shape, shapes[p.shape].multicast[0] ? "." : "", shapes[p.shape].multicast);
    for (int64_t k = 0; k < p.matrix.depth; k += p.depth) {
        const ir_expr *args[] = {lower_tile_cell(op, address, k * p.tmem.bits / 32),
                                 lower_tile_descriptor(op, &p.matrix, 0, k)};
        ir_block_add(op->module, block, lower_tile_instruction(op, pattern, args, 2));
    }
    base_vector_push(op->context->arena, op->out, block);
}
