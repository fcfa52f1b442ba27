/* SPDX-License-Identifier: Apache-2.0
 * copy between shared memory and fragments in registers by ldmatrix and stmatrix (PTX ISA 9.7.14.5.15, .16):
 * matrices of 8 rows of 16 bytes, a register of each lane for each. Which byte every register holds is read
 * off both layouts; the addresses of the rows are then a sum over the bits of the thread's number. Must not
 * know what the fragments are for. */
#include "layout/query.h"
#include "layout/shared.h"
#include "lower/lower_tile.h"
#include "lower/lower_tile_instruction.h"

enum { LANES = 32, THREADS_LIMIT = 1024, REGISTERS_LIMIT = 256, BITS = 10, ROW = 16, ROWS = 8, UNSET = -1 };

/* The row of a matrix that a thread gives the address of, as the number of its first element; and that number
 * as a coordinate: at 0 and what each bit of the thread adds. */
typedef struct rows {
    int64_t at[THREADS_LIMIT];
    int64_t first[LOWER_TILE_AXES], step[BITS][LOWER_TILE_AXES];
} rows;

typedef struct transfer {
    int first, count; /* registers */
    rows *rows;
} transfer;

typedef struct plan {
    const lower_tile_region *slots, *cells;
    bool is_load, is_across; /* is_across: .trans */
    int bits, per;           /* of an element; elements in a register */
    int threads, registers;
    int64_t sizes[LOWER_TILE_AXES];
    uint32_t rank, axes[LOWER_TILE_AXES]; /* extents over 1 */
    int32_t *element;                     /* [thread][register][part]: its number in the region, or UNSET */
    int64_t *byte; /* of each element, from the start of the tensor, before the swizzle */
    BASE_VECTOR(transfer) transfers;
} plan;

static bool is_shared(const lower_tile_region *region) {
    return region->tensor->type.scope == IR_SCOPE_SHARED || region->tensor->type.scope == IR_SCOPE_SHARED_DYN;
}

/* ---- which element is where ---- */

static uint32_t extents_of(const lower_tile_region *region, int64_t *sizes, uint32_t *axes) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < region->rank; i++)
        if (region->size[i] != 1) {
            axes[count] = i;
            sizes[count++] = region->size[i];
        }
    return count;
}

static const char *read_cells(lower_tile *op, plan *p) {
    base_arena *arena = op->context->arena;
    const lower_tile_region *cells = p->cells;
    const ir_tensor *tensor = cells->tensor;
    int64_t shape[LOWER_TILE_AXES], begin[LOWER_TILE_AXES], total = 1;
    layout_error error = {NULL};
    for (uint32_t i = 0; i < cells->rank; i++) {
        if (!arith_is_constant(op->context->facts, tensor->type.shape[i], &shape[i]) || cells->size[i] < 1)
            return base_arena_format(arena, "the extents of '%s' must be constants", tensor->name);
        if (!arith_is_constant(op->context->facts, cells->start[i], &begin[i]))
            begin[i] = 0;
        total *= cells->size[i] <= THREADS_LIMIT && total <= 1 << 18 ? cells->size[i] : 1 << 20;
    }
    if (total > 1 << 18)
        return base_arena_format(arena, "'%s' is larger than shared memory", tensor->name);
    const layout_tile *layout =
        tensor->type.layout ? tensor->type.layout : layout_row_major(arena, shape, cells->rank, &error);
    if (!layout)
        return error.text;
    if (layout->swizzle.present && layout->swizzle.length &&
        (layout->swizzle.outer || (1 << layout->swizzle.per_element) * p->bits < 8 * ROW))
        return base_arena_format(arena, "the swizzle of '%s' parts rows of 16 bytes", tensor->name);
    layout_tile *plain = base_arena_copy(arena, layout, sizeof *layout);
    plain->swizzle = (layout_swizzle){0};
    const char *reason = lower_tile_starts_alike(op, cells, plain, shape, ROW * 8 / p->bits);
    if (reason)
        return reason;
    p->byte = BASE_NEW_ARRAY(arena, int64_t, total);
    for (int64_t n = 0; n < total; n++) {
        int64_t at[LOWER_TILE_AXES], place[LAYOUT_AXIS_COUNT], rest = n;
        uint32_t used;
        for (uint32_t i = cells->rank; i-- > 0;) {
            at[i] = begin[i] + rest % cells->size[i];
            rest /= cells->size[i];
        }
        if (!layout_apply(plain, at, cells->rank, shape, place, &used, &error, arena))
            return error.text;
        p->byte[n] = place[LAYOUT_AXIS_M] * p->bits / 8;
    }
    return lower_tile_align(op, tensor, ROW)
               ? NULL
               : base_arena_format(arena, "'%s' is not certain to start at 16 bytes", tensor->name);
}

static const char *read_slots(lower_tile *op, plan *p) {
    base_arena *arena = op->context->arena;
    const lower_tile_region *slots = p->slots;
    int64_t shape[LOWER_TILE_AXES], begin[LOWER_TILE_AXES], end[LOWER_TILE_AXES], sizes[LOWER_TILE_AXES],
        span;
    uint32_t axes[LOWER_TILE_AXES];
    layout_error error = {NULL};
    if (extents_of(slots, sizes, axes) != p->rank || p->rank == 0)
        return "the extents differ";
    for (uint32_t i = 0; i < p->rank; i++)
        if (sizes[i] != p->sizes[i])
            return "the extents differ";
    for (uint32_t i = 0; i < slots->rank; i++) {
        if (!arith_is_constant(op->context->facts, slots->tensor->type.shape[i], &shape[i]) ||
            !arith_is_constant(op->context->facts, slots->start[i], &begin[i]))
            return base_arena_format(arena, "starts and extents of '%s' must be constants",
                                     slots->tensor->name);
        end[i] = begin[i] + slots->size[i];
    }
    const layout_tile *slice =
        layout_slice(arena, slots->tensor->type.layout, shape, slots->rank, begin, end, &error);
    const layout_tile *fused = slice ? layout_canonical_fused(arena, slice, &error) : NULL;
    const layout_map *map = fused ? layout_map_make(arena, fused, sizes, p->rank, &error) : NULL;
    if (!map || fused->replica_count)
        return base_arena_format(arena, "'%s': %s", slots->tensor->name,
                                 map          ? "several threads hold the same element"
                                 : error.text ? error.text
                                              : "the region cuts through a factor of the layout");
    if (!layout_span(slots->tensor->type.layout, LAYOUT_AXIS_M, &span) || span > REGISTERS_LIMIT * p->per)
        return base_arena_format(arena, "a thread has more registers of '%s' than %d", slots->tensor->name,
                                 REGISTERS_LIMIT);
    p->registers = (int)((span + p->per - 1) / p->per);
    int64_t all = (int64_t)p->threads * p->registers * p->per;
    p->element = BASE_NEW_ARRAY(arena, int32_t, all);
    for (int64_t n = 0; n < all; n++)
        p->element[n] = UNSET;
    layout_axis axis = op->scope == LAYOUT_SCOPE_WARP        ? LAYOUT_AXIS_LANEID
                       : op->scope == LAYOUT_SCOPE_WARPGROUP ? LAYOUT_AXIS_TID_IN_WG
                                                             : LAYOUT_AXIS_TX;
    for (int64_t n = 0; n < map->size; n++) {
        int64_t coordinate[LOWER_TILE_AXES], position[LAYOUT_AXIS_COUNT], slot = 0, thread = 0;
        layout_map_coordinate(map, n, coordinate);
        layout_map_at(map, coordinate, position);
        for (uint32_t a = 0; a < map->axis_count; a++) {
            if (map->axes[a] == LAYOUT_AXIS_M)
                slot = position[a];
            else if (map->axes[a] == axis)
                thread = position[a];
            else
                return base_arena_format(arena,
                                         "the layout of '%s' does not number the threads of this scope",
                                         slots->tensor->name);
        }
        if (thread < 0 || thread >= p->threads || slot < 0 || slot >= span)
            return base_arena_format(arena, "'%s' reaches outside of the threads of this scope",
                                     slots->tensor->name);
        p->element[(thread * p->registers + slot / p->per) * p->per + slot % p->per] = (int32_t)n;
    }
    return NULL;
}

/* ---- the instructions ---- */

static int32_t element_at(const plan *p, int thread, int reg, int part) {
    return p->element[(thread * p->registers + reg) * p->per + part];
}

/* The element that begins row `row` of the matrix in a register of a warp, UNSET when the lanes do not hold
 * one. */
static int32_t row_start(const plan *p, int warp, int reg, int row) {
    int32_t first = p->is_across ? element_at(p, warp * LANES + row / 2, reg, row % 2)
                                 : element_at(p, warp * LANES + 4 * row, reg, 0);
    if (first == UNSET || p->byte[first] % ROW)
        return UNSET;
    for (int column = 0; column < 8 * ROW / p->bits; column++) {
        int lane = p->is_across ? 4 * column + row / 2 : 4 * row + column / p->per;
        int32_t here = element_at(p, warp * LANES + lane, reg, p->is_across ? row % 2 : column % p->per);
        if (here == UNSET || p->byte[here] != p->byte[first] + column * p->bits / 8)
            return UNSET;
    }
    return first;
}

static void coordinate_of(const plan *p, int64_t element, int64_t *at) {
    for (uint32_t i = p->cells->rank; i-- > 0;) {
        at[i] = element % p->cells->size[i];
        element /= p->cells->size[i];
    }
}

/* Whether the coordinates of the rows are a sum over the bits of the thread. */
static bool sums_over_bits(const plan *p, rows *r, int count) {
    int64_t here[LOWER_TILE_AXES];
    coordinate_of(p, r->at[0], r->first);
    for (int bit = 0; bit < BITS; bit++)
        for (uint32_t i = 0; i < p->cells->rank; i++) {
            bool idle = bit < 5 && 1 << bit >= count * ROWS; /* lanes whose address nobody reads */
            r->step[bit][i] = 0;
            if (1 << bit < p->threads && !idle) {
                coordinate_of(p, r->at[1 << bit], here);
                r->step[bit][i] = here[i] - r->first[i];
            }
        }
    for (int t = 0; t < p->threads; t++) {
        if (t % LANES >= count * ROWS)
            continue;
        coordinate_of(p, r->at[t], here);
        for (uint32_t i = 0; i < p->cells->rank; i++) {
            int64_t sum = r->first[i];
            for (int bit = 0; bit < BITS; bit++)
                sum += t >> bit & 1 ? r->step[bit][i] : 0;
            if (sum != here[i])
                return false;
        }
    }
    return true;
}

static bool fits(lower_tile *op, const plan *p, transfer *t) {
    rows *r = BASE_NEW(op->context->arena, rows);
    for (int thread = 0; thread < p->threads; thread++) {
        int lane = thread % LANES, matrix = lane / ROWS;
        r->at[thread] = 0;
        if (matrix >= t->count)
            continue;
        int32_t first = row_start(p, thread / LANES, t->first + matrix, lane % ROWS);
        if (first == UNSET)
            return false;
        r->at[thread] = first;
    }
    t->rows = r;
    return sums_over_bits(p, r, t->count);
}

static bool cover(lower_tile *op, plan *p) {
    p->transfers.count = 0;
    for (int reg = 0; reg < p->registers;) {
        if (element_at(p, 0, reg, 0) == UNSET) { /* not in the region */
            reg++;
            continue;
        }
        transfer t = {.first = reg};
        for (t.count = 4; t.count > 0; t.count /= 2)
            if (reg + t.count <= p->registers && fits(op, p, &t))
                break;
        if (t.count == 0)
            return false;
        base_vector_push(op->context->arena, &p->transfers, t);
        reg += t.count;
    }
    return p->transfers.count > 0;
}

static const char *make_plan(lower_tile *op, plan *p) {
    base_arena *arena = op->context->arena;
    const lower_tile_region *to = &op->operands[0].region, *from = &op->operands[1].region;
    bool load = is_shared(from);
    *p = (plan){.slots = load ? to : from, .cells = load ? from : to, .is_load = load};
    if (!is_shared(p->cells) || p->slots->tensor->type.scope != IR_SCOPE_LOCAL)
        return "it moves between shared memory and registers";
    if (!p->slots->is_spread)
        return base_arena_format(arena,
                                 "'%s' is not spread over the lanes of a warp: it takes fragments such as "
                                 "fragment_layout(\"mma.m16n8k16.f16.A\")",
                                 p->slots->tensor->name);
    num_dtype type = p->slots->tensor->type.dtype;
    p->bits = (int)num_dtype_bits(type);
    p->per = 32 / (p->bits ? p->bits : 32);
    if (type != p->cells->tensor->type.dtype || p->slots->tensor->type.lanes > 1 ||
        p->cells->tensor->type.lanes > 1 || (p->bits != 8 && p->bits != 16 && p->bits != 32))
        return base_arena_format(arena, "'%s' is %s and '%s' is %s; both have one type of 8, 16 or 32 bits",
                                 p->slots->tensor->name, num_dtype_name(type), p->cells->tensor->name,
                                 num_dtype_name(p->cells->tensor->type.dtype));
    if (op->threads == 0 || op->threads % LANES || op->threads > THREADS_LIMIT)
        return "the threads of the scope are not a constant number of whole warps";
    p->threads = (int)op->threads;
    p->rank = extents_of(p->cells, p->sizes, p->axes);
    const char *reason = read_cells(op, p);
    if (reason || (reason = read_slots(op, p)))
        return reason;
    if (cover(op, p))
        return NULL;
    p->is_across = true;
    if (p->bits == 16 && cover(op, p))
        return NULL;
    return base_arena_format(
        arena,
        "the registers of '%s' (%s) are not rows of 16 bytes of '%s' (%s), a row for four lanes, nor columns "
        "of "
        "them: a fragment such as fragment_layout(\"mma.m16n8k16.f16.A\") of rows or columns that lie along "
        "memory",
        p->slots->tensor->name, layout_text_of(arena, p->slots->tensor->type.layout), p->cells->tensor->name,
        p->cells->tensor->type.layout ? layout_text_of(arena, p->cells->tensor->type.layout) : "row-major");
}

const char *lower_tile_refuse_ldmatrix(lower_tile *op) {
    return make_plan(op, lower_tile_plan(op, sizeof(plan)));
}

/* ---- writing ---- */

/* A coordinate: neighbouring bits whose steps double are one number. */
static const ir_expr *index_of(lower_tile *op, const plan *p, const rows *r, uint32_t axis) {
    const ir_expr *sum = p->cells->start[axis];
    if (r->first[axis])
        sum = lower_tile_integer(op, IR_ADD, sum, lower_tile_int(op, r->first[axis]));
    for (int bit = 0; bit < BITS;) {
        int64_t step = r->step[bit][axis], wide = 1;
        int from = bit++;
        if (!step)
            continue;
        while (bit < BITS && r->step[bit][axis] == step << (bit - from))
            bit++;
        wide = (int64_t)1 << (bit - from);
        const ir_expr *part = op->thread;
        if (from)
            part = ir_binary(op->module, IR_SHR, part, ir_int(op->module, (num_dtype)part->type.dtype, from));
        if (wide << from < p->threads)
            part = ir_binary(op->module, IR_BITAND, part,
                             ir_int(op->module, (num_dtype)part->type.dtype, wide - 1));
        sum = lower_tile_integer(op, IR_ADD, sum,
                                 lower_tile_integer(op, IR_MUL, part, lower_tile_int(op, step)));
    }
    return sum;
}

static const char *pattern_of(lower_tile *op, const plan *p, int count) {
    base_builder list;
    base_builder_start(&list, op->context->arena);
    for (int i = 0; i < count; i++)
        base_builder_format(&list, "%s%s%d", i ? ", " : "{", p->is_load ? "%" : "$", p->is_load ? i : i + 1);
    base_builder_char(&list, '}');
    return base_arena_format(op->context->arena, "%smatrix.sync.aligned.m8n8.x%d%s.shared.b16 %s%s%s",
                             p->is_load ? "ld" : "st", count, p->is_across ? ".trans" : "",
                             p->is_load ? list.data : "[$0]", p->is_load ? ", [$0]" : ", ",
                             p->is_load ? "" : list.data);
}

static void emit_transfer(lower_tile *op, const plan *p, const transfer *t, const ir_tensor *slots,
                          ir_stmt *block) {
    ir_module *module = op->module;
    const ir_expr *indices[LOWER_TILE_AXES], *args[5], *parts[4];
    for (uint32_t i = 0; i < p->cells->rank; i++)
        indices[i] = index_of(op, p, t->rows, i);
    args[0] = lower_tile_shared(op, ir_address(module, p->cells->tensor, indices, p->cells->rank));
    const char *pattern = pattern_of(op, p, t->count);
    if (!p->is_load) {
        for (int r = 0; r < t->count; r++) {
            for (int i = 0; i < p->per; i++) {
                const ir_expr *index = lower_tile_int(op, (int64_t)p->per * (t->first + r) + i);
                parts[i] = ir_load(module, slots, &index, 1);
            }
            args[r + 1] = lower_tile_pack(op, block, parts, p->per);
        }
        ir_block_add(module, block, lower_tile_instruction(op, pattern, args, (uint32_t)t->count + 1));
        return;
    }
    const ir_expr *words = lower_tile_result(op, block, pattern, NUM_DTYPE_U32, (unsigned)t->count, args, 1);
    for (int r = 0; r < t->count; r++) {
        const ir_expr *word = t->count > 1 ? ir_lane(module, words, (unsigned)r) : words;
        lower_tile_unpack(op, block, word, slots->type.dtype, parts);
        for (int i = 0; i < p->per; i++) {
            const ir_expr *index = lower_tile_int(op, (int64_t)p->per * (t->first + r) + i);
            ir_block_add(module, block, lower_tile_store(op, slots, &index, 1, parts[i]));
        }
    }
}

void lower_tile_emit_ldmatrix(lower_tile *op) {
    const plan *p = op->plan;
    const ir_tensor *slots = lower_tile_slots(op, p->slots->tensor);
    ir_stmt *block = lower_tile_block(op);
    for (size_t i = 0; i < p->transfers.count; i++)
        emit_transfer(op, p, &p->transfers.items[i], slots, block);
    base_vector_push(op->context->arena, op->out, block);
}
