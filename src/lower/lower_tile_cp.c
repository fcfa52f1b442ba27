/* SPDX-License-Identifier: Apache-2.0
 * copy_async from shared to tensor memory: tcgen05.cp (PTX ISA 9.7.16.9). The layout in tensor memory says
 * which shape puts rows on its lanes; the layout in shared memory must be one that a descriptor describes: a
 * matrix, or blocks of 8 rows of 16 bytes, as scale factors are kept. One thread issues, the caller commits.
 * Must not know MMA. */
#include "layout/query.h"
#include "lower/lower_tile.h"
#include "lower/lower_tile_instruction.h"
#include <string.h>

enum { CHUNK = 16, LANES = LAYOUT_TMEM_LANES, COLUMN_BYTES = 4 * LAYOUT_TMEM_COLUMNS, UNSET = -1 };

static const struct {
    const char *shape, *multicast;
    int64_t rows, bits; /* of one instruction */
    unsigned windows;   /* of 32 lanes that copies of a row stand in, from that of the row on */
} shapes[] = {
    {"128x256b", "", 128, 256, 1},
    {"4x256b", "", 4, 256, 1},
    {"128x128b", "", 128, 128, 1},
    {"64x128b", "warpx2::02_13", 64, 128, 5},
    {"64x128b", "warpx2::01_23", 64, 128, 3},
    {"32x128b", "warpx4", 32, 128, 15},
};
enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

/* Where the bytes of tensor memory come from: offsets in shared memory by lane and byte column. */
typedef struct bytes {
    int32_t (*from)[COLUMN_BYTES];
    const int64_t *
        *element; /* coordinates, relative to the region, of the element that starts at an offset */
} bytes;

/* One instruction: from a byte of shared memory to a lane and a column. */
typedef struct move {
    int64_t lane, column, from, leading, stride;
    const int64_t *element;
} move;

typedef struct plan {
    const lower_tile_region *cells, *source;
    lower_tile_tmem tmem;
    lower_tile_matrix matrix;
    bool is_blocks;
    BASE_VECTOR(move) moves; /* of blocks */
    int shape;
    int64_t group, depth; /* elements of a row that one instruction moves */
} plan;

/* shape= and multicast= name the one to take. */
static bool is_asked(const lower_tile *op, int shape) {
    const ir_expr *name = lower_tile_attribute(op, "shape", 0),
                  *cast = lower_tile_attribute(op, "multicast", 0);
    const char *multicast = cast ? cast->at.string : NULL;
    return (!name || !strcmp(name->at.string, shapes[shape].shape)) &&
           (!multicast || !multicast[0] || !strcmp(multicast, shapes[shape].multicast));
}

/* ---- a matrix ---- */

static const char *plan_matrix(lower_tile *op, plan *p, unsigned bits) {
    base_arena *arena = op->context->arena;
    const char *reason = NULL;
    for (p->shape = 0; !reason && p->shape < (int)SHAPES; p->shape++) {
        layout_error error = {NULL};
        p->depth = shapes[p->shape].bits / bits;
        if (shapes[p->shape].rows == 4 || !is_asked(op, p->shape))
            continue;
        if ((reason = lower_tile_matrix_of(op, p->source, false, p->depth, &p->matrix))) {
            if (shapes[p->shape].bits == 256) /* half of it may fit */
                reason = NULL;
            continue;
        }
        const layout_tile *wanted =
            p->matrix.rows == shapes[p->shape].rows && !p->matrix.mn_major
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

/* ---- blocks ---- */

/* Extents over 1, which both sides share. */
static uint32_t extents_of(const lower_tile_region *region, int64_t *sizes, uint32_t *axes) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < region->rank; i++)
        if (region->size[i] != 1) {
            axes[count] = i;
            sizes[count++] = region->size[i];
        }
    return count;
}

static const char *read_bytes(lower_tile *op, const plan *p, unsigned bits, bytes *out) {
    base_arena *arena = op->context->arena;
    const ir_tensor *tensor = p->source->tensor;
    int64_t shape[LOWER_TILE_AXES], begin[LOWER_TILE_AXES], sizes[2][LOWER_TILE_AXES], total = 1;
    uint32_t axes[2][LOWER_TILE_AXES], rank = extents_of(p->cells, sizes[0], axes[0]);
    layout_error error = {NULL};
    if (extents_of(p->source, sizes[1], axes[1]) != rank)
        return base_arena_format(arena, "the extents of '%s' and '%s' differ", p->cells->tensor->name,
                                 tensor->name);
    for (uint32_t i = 0; i < p->source->rank; i++) {
        if (!arith_is_constant(op->context->facts, tensor->type.shape[i], &shape[i]))
            return base_arena_format(arena, "the extents of '%s' must be constants", tensor->name);
        if (!arith_is_constant(op->context->facts, p->source->start[i], &begin[i]))
            begin[i] = 0;
    }
    for (uint32_t i = 0; i < rank; i++) {
        if (sizes[0][i] != sizes[1][i])
            return base_arena_format(arena, "the extents of '%s' and '%s' differ", p->cells->tensor->name,
                                     tensor->name);
        total = total > LANES * COLUMN_BYTES ? total : total * sizes[0][i];
    }
    if (total > LANES * COLUMN_BYTES)
        return base_arena_format(arena, "'%s' is larger than tensor memory", p->cells->tensor->name);
    const layout_tile *layout =
        tensor->type.layout ? tensor->type.layout : layout_row_major(arena, shape, p->source->rank, &error);
    const layout_map *to = layout_map_make(arena, p->tmem.layout, sizes[0], rank, &error);
    if (!layout || !to || layout->swizzle.present)
        return base_arena_format(arena, "'%s' is no matrix, and blocks of 8 rows of 16 bytes have no swizzle",
                                 tensor->name);
    const char *reason = lower_tile_starts_alike(op, p->source, layout, shape, CHUNK * 8 / bits);
    if (reason)
        return reason;
    out->from = base_arena_allocate(arena, sizeof(int32_t[LANES][COLUMN_BYTES]));
    out->element = BASE_NEW_ARRAY(arena, const int64_t *, LANES *COLUMN_BYTES / CHUNK);
    for (int64_t n = 0; n < LANES * COLUMN_BYTES; n++)
        out->from[n / COLUMN_BYTES][n % COLUMN_BYTES] = UNSET;
    for (int64_t n = 0; n < total; n++) {
        int64_t coordinate[LOWER_TILE_AXES], place[LAYOUT_AXIS_COUNT], at[LAYOUT_AXIS_COUNT] = {0};
        int64_t source[LOWER_TILE_AXES], where[LAYOUT_AXIS_COUNT];
        uint32_t used;
        layout_map_coordinate(to, n, coordinate);
        layout_map_at(to, coordinate, place);
        for (uint32_t a = 0; a < to->axis_count; a++)
            at[to->axes[a]] = place[a];
        int64_t *relative = BASE_NEW_ARRAY(arena, int64_t, p->source->rank);
        for (uint32_t i = 0; i < p->source->rank; i++)
            relative[i] = 0;
        for (uint32_t i = 0; i < rank; i++)
            relative[axes[1][i]] = coordinate[i];
        for (uint32_t i = 0; i < p->source->rank; i++)
            source[i] = begin[i] + relative[i];
        if (!layout_apply(layout, source, p->source->rank, shape, where, &used, &error, arena))
            return error.text;
        int64_t lane = at[LAYOUT_AXIS_TLANE], column = at[LAYOUT_AXIS_TCOL] * bits / 8;
        int64_t from = where[LAYOUT_AXIS_M] * bits / 8;
        if (lane < 0 || lane >= LANES || column < 0 || column + bits / 8 > COLUMN_BYTES)
            return base_arena_format(arena, "'%s' reaches outside of tensor memory", p->cells->tensor->name);
        for (unsigned b = 0; b < bits / 8; b++)
            out->from[lane][column + b] = (int32_t)(from + b);
        if (column % CHUNK == 0)
            out->element[lane * (COLUMN_BYTES / CHUNK) + column / CHUNK] = relative;
    }
    return NULL;
}

/* Lane of a row, from that of the first. */
static int64_t lane_of(int shape, int64_t row) {
    return shapes[shape].rows == 4                                  ? 32 * row
           : shapes[shape].rows == 64 && shapes[shape].windows == 3 ? row / 32 * 64 + row % 32
                                                                    : row;
}

/* Whether one instruction moves these cells; takes them away when it does. */
static bool take(const bytes *b, int shape, move *m) {
    int64_t wide = shapes[shape].bits / 8, rows = shapes[shape].rows;
    if (m->column + wide > COLUMN_BYTES || m->lane + lane_of(shape, rows - 1) >= LANES)
        return false;
    const int32_t *first = &b->from[m->lane][m->column];
    m->from = first[0];
    m->leading = wide > CHUNK ? first[CHUNK] - first[0] : 0;
    m->stride = rows > 8 ? b->from[m->lane + lane_of(shape, 8)][m->column] - first[0] : 0;
    if (m->from % CHUNK || m->leading < 0 || m->leading % CHUNK || m->stride < 0 || m->stride % CHUNK ||
        m->leading >> 18 || m->stride >> 18)
        return false;
    for (int64_t row = 0; row < rows; row++)
        for (int64_t c = 0; c < wide; c++)
            if (b->from[m->lane + lane_of(shape, row)][m->column + c] !=
                m->from + row % 8 * CHUNK + row / 8 * m->stride + c / CHUNK * m->leading + c % CHUNK)
                return false;
    for (int64_t row = 0; row < rows; row++)
        for (int64_t c = 0; c < wide; c++)
            b->from[m->lane + lane_of(shape, row)][m->column + c] = UNSET;
    return true;
}

static bool cover(lower_tile *op, plan *p, const bytes *b, int shape) {
    p->moves.count = 0;
    for (int64_t column = 0; column < COLUMN_BYTES; column++)
        for (int64_t lane = 0; lane < LANES; lane++) {
            move m = {.lane = lane, .column = column};
            if (b->from[lane][column] == UNSET)
                continue;
            if (column % CHUNK || !take(b, shape, &m))
                return false;
            m.element = b->element[lane * (COLUMN_BYTES / CHUNK) + column / CHUNK];
            base_vector_push(op->context->arena, &p->moves, m);
        }
    return p->moves.count > 0;
}

static const char *plan_blocks(lower_tile *op, plan *p, unsigned bits) {
    base_arena *arena = op->context->arena;
    bytes b;
    unsigned windows = lower_tile_windows(p->tmem.layout);
    p->is_blocks = true;
    for (p->shape = 0; p->shape < (int)SHAPES; p->shape++) {
        if (shapes[p->shape].windows != windows || !is_asked(op, p->shape))
            continue;
        const char *reason = read_bytes(op, p, bits, &b);
        if (reason)
            return reason;
        if (!cover(op, p, &b, p->shape))
            continue;
        return lower_tile_align(op, p->source->tensor, CHUNK)
                   ? NULL
                   : base_arena_format(arena, "'%s' is not certain to start at a multiple of 16 bytes",
                                       p->source->tensor->name);
    }
    return base_arena_format(
        arena,
        "the cells of '%s' (%s) take no blocks of 8 rows of 16 bytes from '%s' (%s): scale factors go from "
        "sf_smem_layout(rows, SF_K, sf_per_mma) to sf_tmem_layout of the same numbers, rows a multiple of "
        "128",
        p->cells->tensor->name, layout_text_of(arena, p->tmem.layout), p->source->tensor->name,
        p->source->tensor->type.layout ? layout_text_of(arena, p->source->tensor->type.layout) : "row-major");
}

/* ---- the choice ---- */

static bool is_matrix(const lower_tile_region *region) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < region->rank; i++)
        count += region->size[i] != 1;
    return count == 2;
}

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
    for (uint32_t i = 0; i < p->source->rank; i++)
        if (p->source->size[i] < 1)
            return base_arena_format(arena, "the extents of the region of '%s' must be constants",
                                     p->source->tensor->name);
    const char *reason = lower_tile_tmem_region(op, p->cells, &p->tmem);
    if (reason)
        return reason;
    const layout_tile *layout = p->source->tensor->type.layout;
    if (is_matrix(p->source) && !(reason = plan_matrix(op, p, bits)))
        return NULL;
    bool swizzled = layout && layout->swizzle.present && layout->swizzle.length;
    return swizzled && reason ? reason : plan_blocks(op, p, bits);
}

const char *lower_tile_refuse_cp(lower_tile *op) {
    return make_plan(op, lower_tile_plan(op, sizeof(plan)));
}

/* ---- writing ---- */

static const ir_expr *block_descriptor(lower_tile *op, const plan *p, const move *m) {
    const ir_expr *indices[LOWER_TILE_AXES];
    for (uint32_t i = 0; i < p->source->rank; i++)
        indices[i] = m->element[i] ? lower_tile_integer(op, IR_ADD, p->source->start[i],
                                                        lower_tile_int(op, m->element[i]))
                                   : p->source->start[i];
    const ir_expr *address =
        lower_tile_shared(op, ir_address(op->module, p->source->tensor, indices, p->source->rank));
    return lower_tile_descriptor_at(op, address, m->leading, m->stride, 0);
}

void lower_tile_emit_cp(lower_tile *op) {
    const plan *p = op->plan;
    ir_stmt *block = lower_tile_block(op);
    const ir_expr *address = lower_tile_let(op, block, "taddr", p->tmem.address);
    const char *pattern = base_arena_format(
        op->context->arena, "tcgen05.cp.cta_group::%lld.%s%s%s [$0], $1", (long long)p->group,
        shapes[p->shape].shape, shapes[p->shape].multicast[0] ? "." : "", shapes[p->shape].multicast);
    for (size_t i = 0; i < p->moves.count; i++) {
        const move *m = &p->moves.items[i];
        const ir_expr *args[] = {lower_tile_cell(op, address, m->lane * 65536 + m->column / 4),
                                 block_descriptor(op, p, m)};
        ir_block_add(op->module, block, lower_tile_instruction(op, pattern, args, 2));
    }
    for (int64_t k = 0; !p->is_blocks && k < p->matrix.depth; k += p->depth) {
        const ir_expr *args[] = {lower_tile_cell(op, address, k * p->tmem.bits / 32),
                                 lower_tile_descriptor(op, &p->matrix, 0, k)};
        ir_block_add(op->module, block, lower_tile_instruction(op, pattern, args, 2));
    }
    base_vector_push(op->context->arena, op->out, block);
}
