/* SPDX-License-Identifier: Apache-2.0
 * copy_async between tensor memory and registers: tcgen05.ld and st (PTX ISA 9.7.16.8). The register layout
 * and the tensor's layout say which cell each register of each thread is; the instruction shapes are tried
 * against that, register by register, and the widest repetitions that agree are taken. Must not know MMA. */
#include "layout/fragment.h"
#include "layout/query.h"
#include "lower/lower_tile.h"
#include "lower/lower_tile_instruction.h"
#include <string.h>

enum { THREADS = 128, REGISTERS = 512, UNSET = -1, ELEMENTS = 2 * THREADS * REGISTERS };

/* One instruction: registers from `first` on, at a lane and column. */
typedef struct transfer {
    layout_movement movement;
    int count, first, registers;
    int64_t lane, column;
} transfer;

typedef struct plan {
    const lower_tile_region *slots, *cells;
    lower_tile_tmem tmem;
    bool is_load;
    bool is_packed; /* elements of 16 bits, each in a cell for itself: two cells for a register */
    unsigned bits;
    int64_t registers;
    int32_t *cell; /* lane * 65536 + column of each thread's registers; the lower of two cells */
    BASE_VECTOR(transfer) transfers;
} plan;

static const char *refuse_registers(lower_tile *op, const plan *p, const char *why) {
    base_arena *arena = op->context->arena;
    int64_t rows = 1, columns = 1;
    for (uint32_t i = 0; i < p->slots->rank; i++)
        if (p->slots->size[i] > 1) {
            rows = columns;
            columns = p->slots->size[i];
        }
    return base_arena_format(
        arena,
        "the registers of '%s' (%s) and the cells of '%s' (%s) do not meet in an instruction: %s; for %lld "
        "rows of 128 lanes use S[(128, %lld) : (1@tid_in_wg, 1)], or tcgen05_atom_layout(shape, (%lld, "
        "%lld), "
        "dtype)",
        p->slots->tensor->name, layout_text_of(arena, p->slots->tensor->type.layout), p->cells->tensor->name,
        p->cells->tensor->type.layout ? layout_text_of(arena, p->cells->tensor->type.layout)
                                      : "a lane for each row",
        why, (long long)rows, (long long)columns, (long long)rows, (long long)columns);
}

/* ---- which cell is which register ---- */

/* Whether elements of 16 bits leave the upper half of every cell free, as accumulators of float16 do. */
static bool has_cells_of_their_own(const plan *p) {
    bool found = false;
    for (uint32_t i = 0; i < p->tmem.layout->shard_count; i++) {
        const layout_iter *iter = &p->tmem.layout->shard[i];
        if (iter->axis != LAYOUT_AXIS_TCOL || iter->extent == 1)
            continue;
        if (iter->stride % 2)
            return false;
        found = true;
    }
    return found && p->bits == 16;
}

static int32_t *cell_of(const plan *p, int64_t thread, int64_t reg) {
    return &p->cell[thread * p->registers + reg];
}

/* A position along one axis. */
static int64_t along(const layout_map *map, const int64_t *position, layout_axis axis) {
    for (uint32_t a = 0; a < map->axis_count; a++)
        if (map->axes[a] == axis)
            return position[a];
    return 0;
}

/* The element in slot `slot` of a thread stands at a lane and column: NULL, or what is wrong. */
static const char *note_register(plan *p, int64_t thread, int64_t slot, int64_t lane, int64_t column) {
    int64_t per = 32 / p->bits, part = slot % per;
    if (!p->is_packed && part != column % per)
        return "parts of registers and of cells do not match";
    int64_t at = p->is_packed ? column / per - part : column / per;
    int32_t *cell = cell_of(p, thread, slot / per), value = (int32_t)(lane * 65536 + at);
    if (*cell != UNSET && *cell != value)
        return p->is_packed ? "a register would hold halves of cells that are no neighbours"
                            : "a register would hold parts of two cells";
    *cell = value;
    return NULL;
}

static const char *map_registers(lower_tile *op, plan *p) {
    base_arena *arena = op->context->arena;
    const lower_tile_region *slots = p->slots;
    int64_t shape[LOWER_TILE_AXES], begin[LOWER_TILE_AXES], end[LOWER_TILE_AXES], sizes[2][LOWER_TILE_AXES];
    layout_error error = {NULL};
    uint32_t ranks[2] = {0, 0};
    for (uint32_t i = 0; i < slots->rank; i++) {
        if (!arith_is_constant(op->context->facts, slots->tensor->type.shape[i], &shape[i]) ||
            !arith_is_constant(op->context->facts, slots->start[i], &begin[i]) || slots->size[i] < 1)
            return base_arena_format(arena, "starts and extents of '%s' must be constants",
                                     slots->tensor->name);
        end[i] = begin[i] + slots->size[i];
        if (slots->size[i] > 1)
            sizes[0][ranks[0]++] = slots->size[i];
    }
    for (uint32_t i = 0; i < p->cells->rank; i++)
        if (p->cells->size[i] > 1)
            sizes[1][ranks[1]++] = p->cells->size[i];
    if (ranks[0] != ranks[1] || memcmp(sizes[0], sizes[1], ranks[0] * sizeof(int64_t)))
        return base_arena_format(arena, "the extents of '%s' and '%s' differ", slots->tensor->name,
                                 p->cells->tensor->name);
    const layout_tile *slice =
        layout_slice(arena, slots->tensor->type.layout, shape, slots->rank, begin, end, &error);
    const layout_tile *fused = slice ? layout_canonical_fused(arena, slice, &error) : NULL;
    const layout_map *from = fused ? layout_map_make(arena, fused, sizes[0], ranks[0], &error) : NULL;
    const layout_map *to = layout_map_make(arena, p->tmem.layout, sizes[0], ranks[0], &error);
    if (!from || !to)
        return base_arena_format(arena, "'%s' and '%s': %s", slots->tensor->name, p->cells->tensor->name,
                                 error.text ? error.text : "the region cuts through a factor of the layout");
    if (from->size > ELEMENTS)
        return base_arena_format(arena, "'%s' has more elements than tensor memory", slots->tensor->name);
    int64_t span, per = 32 / p->bits, coordinate[LOWER_TILE_AXES] = {0};
    if (!layout_span(slots->tensor->type.layout, LAYOUT_AXIS_M, &span) || span / per > REGISTERS)
        return "a thread has more registers of it than 512";
    p->registers = (span + per - 1) / per;
    p->is_packed = has_cells_of_their_own(p);
    p->cell = BASE_NEW_ARRAY(arena, int32_t, THREADS * p->registers);
    for (int64_t i = 0; i < THREADS * p->registers; i++)
        p->cell[i] = UNSET;
    for (int64_t n = 0; n < from->size; n++) {
        int64_t place[LAYOUT_AXIS_COUNT], cell[LAYOUT_AXIS_COUNT];
        layout_map_coordinate(from, n, coordinate);
        layout_map_at(from, coordinate, place);
        layout_map_at(to, coordinate, cell);
        int64_t thread = along(from, place, LAYOUT_AXIS_TID_IN_WG), slot = along(from, place, LAYOUT_AXIS_M);
        int64_t column = along(to, cell, LAYOUT_AXIS_TCOL), lane = along(to, cell, LAYOUT_AXIS_TLANE);
        if (thread < 0 || thread >= THREADS || slot < 0 || slot >= span)
            return refuse_registers(op, p, "they are not those of a warpgroup");
        const char *wrong = note_register(p, thread, slot, lane, column);
        if (wrong)
            return refuse_registers(op, p, wrong);
    }
    return NULL;
}

/* ---- the instructions ---- */

static bool fits(const plan *p, const transfer *t) {
    layout_transfer instruction = {.movement = t->movement, .count = t->count, .pack = p->is_packed};
    for (int thread = 0; thread < THREADS; thread++)
        for (int r = 0; r < t->registers; r++) {
            int row;
            int64_t column;
            layout_transfer_cell(&instruction, thread % 32, r, &row, &column);
            int64_t wanted = (thread / 32 * 32 + t->lane + row) * 65536 + t->column + column;
            if (t->first + r >= p->registers || *cell_of(p, thread, t->first + r) != wanted)
                return false;
        }
    return true;
}

static bool cover(lower_tile *op, plan *p, layout_movement movement) {
    static const int registers[] = {1, 1, 2, 4};
    p->transfers.count = 0;
    for (int first = 0; first < p->registers;) {
        transfer t = {.movement = movement, .first = first};
        if (p->cell[first] == UNSET) { /* not in the region */
            first++;
            continue;
        }
        t.lane = p->cell[first] / 65536;
        t.column = p->cell[first] % 65536;
        if (t.lane != 0 && (t.lane != 16 || movement == LAYOUT_MOVEMENT_32X32B))
            return false;
        for (t.count = 128 / registers[movement]; t.count > 0; t.count /= 2) {
            t.registers = t.count * registers[movement];
            if (fits(p, &t))
                break;
        }
        if (t.count == 0)
            return false;
        base_vector_push(op->context->arena, &p->transfers, t);
        first += t.registers;
    }
    return p->transfers.count > 0;
}

static const char *make_plan(lower_tile *op, plan *p) {
    const lower_tile_region *to = &op->operands[0].region, *from = &op->operands[1].region;
    base_arena *arena = op->context->arena;
    bool store = to->tensor->type.scope == IR_SCOPE_TMEM;
    *p = (plan){.slots = store ? from : to, .cells = store ? to : from, .is_load = !store};
    if (p->cells->tensor->type.scope != IR_SCOPE_TMEM || p->slots->tensor->type.scope != IR_SCOPE_LOCAL)
        return "it moves between registers and tensor memory";
    if (!p->slots->is_spread)
        return base_arena_format(arena,
                                 "nothing says which thread holds what of '%s': view it with "
                                 "layout=TileLayout(S[(128, n) : (1@tid_in_wg, 1)])",
                                 p->slots->tensor->name);
    p->bits = num_dtype_bits(p->slots->tensor->type.dtype);
    bool fits = p->bits == 32 || p->bits == 16 || (p->bits == 8 && store);
    if (p->bits != num_dtype_bits(p->cells->tensor->type.dtype) || !fits)
        return base_arena_format(arena,
                                 "'%s' is %s and '%s' is %s; both must have 32 bits, or both 16, or 8 on the "
                                 "way to tensor memory",
                                 p->slots->tensor->name, num_dtype_name(p->slots->tensor->type.dtype),
                                 p->cells->tensor->name, num_dtype_name(p->cells->tensor->type.dtype));
    if (op->threads == 0)
        return "the block is not a constant multiple of 128 threads";
    const char *reason = lower_tile_tmem_region(op, p->cells, &p->tmem);
    if (reason || (reason = map_registers(op, p)))
        return reason;
    for (int m = LAYOUT_MOVEMENT_32X32B; m <= LAYOUT_MOVEMENT_16X256B; m++)
        if (cover(op, p, (layout_movement)m))
            return NULL;
    return refuse_registers(op, p, "no shape of tcgen05.ld has these lanes and columns");
}

const char *lower_tile_refuse_tmem(lower_tile *op) {
    return make_plan(op, lower_tile_plan(op, sizeof(plan)));
}

/* "{%0, %1}" */
static const char *register_list(lower_tile *op, char mark, int first, int count) {
    base_builder out;
    base_builder_start(&out, op->context->arena);
    for (int i = 0; i < count; i++)
        base_builder_format(&out, "%s%c%d", i ? ", " : "{", mark, first + i);
    base_builder_char(&out, '}');
    return out.data;
}

static void emit_load(lower_tile *op, const plan *p, const transfer *t, const ir_expr *address,
                      const ir_tensor *slots, ir_stmt *block) {
    base_arena *arena = op->context->arena;
    const char *pattern = base_arena_format(
        arena, "tcgen05.ld.sync.aligned.%s.x%d%s.b32 %s, [$0]", layout_movement_name(t->movement), t->count,
        p->is_packed ? ".pack::16b" : "", register_list(op, '%', 0, t->registers));
    const ir_expr *values =
        lower_tile_result(op, block, pattern, NUM_DTYPE_U32, (unsigned)t->registers, &address, 1);
    int per = 32 / (int)p->bits;
    for (int r = 0; r < t->registers; r++) {
        const ir_expr *value = t->registers > 1 ? ir_lane(op->module, values, (unsigned)r) : values,
                      *parts[4];
        lower_tile_unpack(op, block, value, slots->type.dtype, parts);
        for (int i = 0; i < per; i++) {
            const ir_expr *index = lower_tile_int(op, (int64_t)per * (t->first + r) + i);
            ir_block_add(op->module, block, lower_tile_store(op, slots, &index, 1, parts[i]));
        }
    }
}

static const ir_expr *word_of(lower_tile *op, const plan *p, const ir_tensor *slots, int reg,
                              ir_stmt *block) {
    int per = 32 / (int)p->bits;
    const ir_expr *parts[4];
    for (int i = 0; i < per; i++) {
        const ir_expr *index = lower_tile_int(op, (int64_t)per * reg + i);
        parts[i] = ir_load(op->module, slots, &index, 1);
    }
    return lower_tile_pack(op, block, parts, per);
}

static void emit_store(lower_tile *op, const plan *p, const transfer *t, const ir_expr *address,
                       const ir_tensor *slots, ir_stmt *block) {
    base_arena *arena = op->context->arena;
    const ir_expr **args = BASE_NEW_ARRAY(arena, const ir_expr *, t->registers + 1);
    args[0] = address;
    for (int r = 0; r < t->registers; r++)
        args[r + 1] = word_of(op, p, slots, t->first + r, block);
    const char *pattern = base_arena_format(
        arena, "tcgen05.st.sync.aligned.%s.x%d%s.b32 [$0], %s", layout_movement_name(t->movement), t->count,
        p->is_packed ? ".unpack::16b" : "", register_list(op, '$', 1, t->registers));
    ir_block_add(op->module, block, lower_tile_instruction(op, pattern, args, (uint32_t)t->registers + 1));
}

void lower_tile_emit_tmem(lower_tile *op) {
    const plan *p = op->plan;
    const ir_tensor *slots = lower_tile_slots(op, p->slots->tensor);
    ir_module *module = op->module;
    ir_stmt *block = lower_tile_block(op);
    /* a warp reaches the 32 lanes of its rank in the warpgroup */
    const ir_expr *window = lower_tile_word(op, ir_query(module, IR_WARP_ID, 0));
    window = ir_binary(module, IR_BITAND, window, ir_int(module, NUM_DTYPE_U32, 3));
    window = ir_binary(module, IR_SHL, window, ir_int(module, NUM_DTYPE_U32, 21));
    const ir_expr *base =
        lower_tile_let(op, block, "taddr", ir_binary(module, IR_ADD, p->tmem.address, window));
    for (size_t i = 0; i < p->transfers.count; i++) {
        const transfer *t = &p->transfers.items[i];
        const ir_expr *address = lower_tile_cell(op, base, t->lane * 65536 + t->column);
        if (p->is_load)
            emit_load(op, p, t, address, slots, block);
        else
            emit_store(op, p, t, address, slots, block);
    }
    base_vector_push(op->context->arena, op->out, block);
}
