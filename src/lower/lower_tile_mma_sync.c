/* SPDX-License-Identifier: Apache-2.0
 * gemm: D = A B + C by mma.sync of one warp (PTX ISA 9.7.14.5), everything in registers. The layouts of the
 * operands must put every element where the instruction's fragments want it, lane by lane; which slot that
 * is, is read off the layouts. Must not know how the fragments were filled. */
#include "layout/query.h"
#include "lower/lower_tile.h"
#include "lower/lower_tile_instruction.h"
#include <string.h>

enum { LANES = 32, COLUMNS = 8, SIZE_LIMIT = 512, WORDS_LIMIT = 8 };

/* A matrix in registers: row and column as the product sees them. */
typedef struct matrix {
    const lower_tile_region *region;
    const layout_map *map;
    int64_t rows, columns;
    bool transposed;
    const ir_tensor *slots;
} matrix;

typedef struct product {
    matrix d, a, b, c;
    const char *a_type, *b_type, *d_type;
    int64_t m, n, k, rows, depth; /* rows, depth: M and K of one instruction */
    int per_word;                 /* elements of A and B in a register */
    num_dtype result;
    bool adds; /* C takes part */
} product;

/* ---- reading ---- */

static const char *read_matrix(lower_tile *op, uint32_t index, bool transposed, matrix *out) {
    base_arena *arena = op->context->arena;
    const lower_tile_region *region = &op->operands[index].region;
    int64_t shape[LOWER_TILE_AXES], begin[LOWER_TILE_AXES], end[LOWER_TILE_AXES], *sizes;
    uint32_t count = 0;
    layout_error error = {NULL};
    sizes = BASE_NEW_ARRAY(arena, int64_t, 2);
    *out = (matrix){.region = region, .transposed = transposed};
    if (!region->is_spread)
        return base_arena_format(arena,
                                 "'%s' is not spread over the lanes of a warp: operands are fragments in "
                                 "registers, such as fragment_layout(\"mma.m16n8k16.f16.A\")",
                                 region->tensor->name);
    for (uint32_t i = 0; i < region->rank; i++) {
        if (!arith_is_constant(op->context->facts, region->tensor->type.shape[i], &shape[i]) ||
            !arith_is_constant(op->context->facts, region->start[i], &begin[i]) || region->size[i] < 1 ||
            region->size[i] > SIZE_LIMIT)
            return base_arena_format(arena, "starts and extents of '%s' must be constants up to %d",
                                     region->tensor->name, SIZE_LIMIT);
        end[i] = begin[i] + region->size[i];
        if (region->size[i] > 1 && count == 2)
            return base_arena_format(arena, "'%s' is no matrix", region->tensor->name);
        if (region->size[i] > 1)
            sizes[count++] = region->size[i];
    }
    if (count != 2)
        return base_arena_format(arena, "'%s' is no matrix", region->tensor->name);
    const layout_tile *slice =
        layout_slice(arena, region->tensor->type.layout, shape, region->rank, begin, end, &error);
    const layout_tile *fused = slice ? layout_canonical_fused(arena, slice, &error) : NULL;
    out->map = fused ? layout_map_make(arena, fused, sizes, 2, &error) : NULL;
    if (!out->map)
        return base_arena_format(arena, "'%s': %s", region->tensor->name,
                                 error.text ? error.text : "the region cuts through a factor of the layout");
    out->rows = sizes[transposed];
    out->columns = sizes[!transposed];
    return NULL;
}

/* The slot of an element that this lane must hold; -1: another lane does. */
static int64_t slot_of(const matrix *x, int lane, int64_t row, int64_t column) {
    int64_t coordinate[2] = {x->transposed ? column : row, x->transposed ? row : column};
    int64_t position[LAYOUT_AXIS_COUNT], slot = 0, owner = 0;
    layout_map_at(x->map, coordinate, position);
    for (uint32_t a = 0; a < x->map->axis_count; a++) {
        if (x->map->axes[a] == LAYOUT_AXIS_M)
            slot = position[a];
        else if (x->map->axes[a] == LAYOUT_AXIS_LANEID)
            owner = position[a];
        else
            return -1;
    }
    return owner == lane ? slot : -1;
}

/* PTX ISA, matrix fragments of mma.m16n8k* and m8n8k*: lane 4g + t. Element `part` of word r, relative to the
 * tile; a word is a register, of D an element. */
typedef enum operand { OPERAND_A, OPERAND_B, OPERAND_D } operand;
static void element_of(operand which, const product *p, int lane, int word, int part, int64_t *row,
                       int64_t *column) {
    int g = lane / 4, t = lane % 4, high = (int)p->rows / 8;
    int64_t along =
        (int64_t)(which == OPERAND_A ? word / high : word) * 4 * p->per_word + t * p->per_word + part;
    switch (which) {
    case OPERAND_A:
        *row = g + word % high * 8;
        *column = along;
        break;
    case OPERAND_B:
        *row = along;
        *column = g;
        break;
    default:
        *row = g + word / 2 * 8;
        *column = 2 * t + word % 2;
    }
}

/* The slot that all lanes have for a part of a word; -1 when they do not agree. */
static int64_t common_slot(const matrix *x, operand which, const product *p, int64_t row, int64_t column,
                           int word, int part) {
    int64_t slot = -1;
    for (int lane = 0; lane < LANES; lane++) {
        int64_t r, c;
        element_of(which, p, lane, word, part, &r, &c);
        int64_t here = slot_of(x, lane, row + r, column + c);
        if (here < 0 || (lane && here != slot))
            return -1;
        slot = here;
    }
    return slot;
}

static int words_of(operand which, const product *p) {
    int deep = (int)(p->depth / (4 * p->per_word)), high = (int)p->rows / 8;
    return which == OPERAND_A ? high * deep : which == OPERAND_B ? deep : 2 * high;
}

static const char *check_fragment(lower_tile *op, const product *p, const matrix *x, operand which,
                                  const char *wanted) {
    int64_t high = which == OPERAND_B ? p->depth : p->rows, wide = which == OPERAND_A ? p->depth : COLUMNS;
    for (int64_t row = 0; row < x->rows; row += high)
        for (int64_t column = 0; column < x->columns; column += wide)
            for (int word = 0; word < words_of(which, p); word++)
                for (int part = 0; part < (which == OPERAND_D ? 1 : p->per_word); part++)
                    if (common_slot(x, which, p, row, column, word, part) < 0)
                        return base_arena_format(
                            op->context->arena,
                            "the layout %s of '%s' is not made of the fragments of mma.m%lldn8k%lld: "
                            "fragment_layout(\"%s\"), tiled",
                            layout_text_of(op->context->arena, x->region->tensor->type.layout),
                            x->region->tensor->name, (long long)p->rows, (long long)p->depth, wanted);
    return NULL;
}

/* Element types, PTX ISA 9.7.14.5: K of an instruction of 16 rows, deepest first, and of one of 8 rows. */
static const struct row {
    num_dtype type, result;
    const char *word, *result_word;
    bool half_too; /* the result may be float16 */
    int64_t depths[3], depth_of_8;
} rows[] = {
    {NUM_DTYPE_F16, NUM_DTYPE_F32, "f16", "f32", true, {16, 8, 0}, 0},
    {NUM_DTYPE_BF16, NUM_DTYPE_F32, "bf16", "f32", false, {16, 8, 0}, 0},
    {NUM_DTYPE_F32, NUM_DTYPE_F32, "tf32", "f32", false, {8, 4, 0}, 0},
    {NUM_DTYPE_TF32, NUM_DTYPE_F32, "tf32", "f32", false, {8, 4, 0}, 0},
    {NUM_DTYPE_I8, NUM_DTYPE_I32, "s8", "s32", false, {32, 16, 0}, 16},
    {NUM_DTYPE_U8, NUM_DTYPE_I32, "u8", "s32", false, {32, 16, 0}, 16},
    {NUM_DTYPE_F8E4M3FN, NUM_DTYPE_F32, "e4m3", "f32", true, {32, 16, 0}, 0},
    {NUM_DTYPE_F8E5M2, NUM_DTYPE_F32, "e5m2", "f32", true, {32, 16, 0}, 0},
    {NUM_DTYPE_F64, NUM_DTYPE_F64, "f64", "f64", false, {16, 8, 4}, 4},
};

static const struct row *row_of(num_dtype type) {
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].type == type)
            return &rows[i];
    return NULL;
}

static const char *read_types(lower_tile *op, product *p) {
    base_arena *arena = op->context->arena;
    num_dtype a = p->a.region->tensor->type.dtype, b = p->b.region->tensor->type.dtype;
    num_dtype d = p->d.region->tensor->type.dtype, c = p->c.region->tensor->type.dtype;
    const struct row *row = row_of(a), *other = row_of(b);
    bool mixes = num_dtype_bits(a) == num_dtype_bits(b) && num_dtype_bits(a) != 16 &&
                 num_dtype_is_float(a) == num_dtype_is_float(b);
    if (!row || !other || (a != b && !mixes))
        return base_arena_format(
            arena,
            "there is no mma.sync of %s with %s: float16, bfloat16, float32 (as tf32) or "
            "float64 with itself, int8 and uint8, float8_e4m3fn and float8_e5m2",
            num_dtype_name(a), num_dtype_name(b));
    if (d != c || (d != row->result && !(row->half_too && d == NUM_DTYPE_F16)))
        return base_arena_format(arena, "of %s with %s the result and C are both %s%s, not %s and %s",
                                 num_dtype_name(a), num_dtype_name(b), num_dtype_name(row->result),
                                 row->half_too ? ", or both float16" : "", num_dtype_name(d),
                                 num_dtype_name(c));
    p->a_type = row->word;
    p->b_type = other->word;
    p->result = d;
    p->d_type = d == NUM_DTYPE_F16 ? "f16" : row->result_word;
    p->per_word = num_dtype_bits(a) == 64 ? 1 : 32 / (int)num_dtype_bits(a);
    return NULL;
}

/* The deepest instruction that divides K. */
static const char *choose_shape(lower_tile *op, product *p) {
    const struct row *row = row_of(p->a.region->tensor->type.dtype);
    int64_t least = 0;
    p->rows = p->m % 16 && row->depth_of_8 ? 8 : 16;
    p->depth = p->rows == 8 ? row->depth_of_8 : 0;
    for (int i = 0; p->rows == 16 && i < 3 && row->depths[i]; i++) {
        least = row->depths[i];
        if (!p->depth && p->k % row->depths[i] == 0)
            p->depth = row->depths[i];
    }
    if (!p->depth || p->m % p->rows || p->n % COLUMNS || p->k % p->depth)
        return base_arena_format(
            op->context->arena,
            "M, N and K are %lld, %lld and %lld; of %s they come in steps of 16, 8 and "
            "%lld%s",
            (long long)p->m, (long long)p->n, (long long)p->k, num_dtype_name(row->type),
            (long long)(least ? least : row->depth_of_8),
            row->depth_of_8
                ? base_arena_format(op->context->arena, ", or of 8, 8 and %lld", (long long)row->depth_of_8)
                : "");
    return NULL;
}

static bool is_real(const lower_tile *op, const char *name, double value) {
    const ir_expr *e = lower_tile_attribute(op, name, 0);
    return !e || (e->op == IR_FLOAT && e->at.real == value) ||
           (e->op == IR_INT && (double)e->at.integer == value);
}

static const char *make_product(lower_tile *op, product *p) {
    const char *reason;
    *p = (product){.adds = op->count == 4 && lower_tile_attribute(op, "beta", 0) && is_real(op, "beta", 1)};
    bool ta = lower_tile_constant(op, "transpose_A", 0) != 0,
         tb = lower_tile_constant(op, "transpose_B", 0) != 0;
    if (!is_real(op, "alpha", 1) || !(p->adds || is_real(op, "beta", 0)))
        return "alpha= is 1, beta= is 0, or 1 with C";
    if (op->threads == 0)
        return "the block is not a constant multiple of 32 threads";
    if ((reason = read_matrix(op, 0, false, &p->d)) || (reason = read_matrix(op, 1, ta, &p->a)) ||
        (reason = read_matrix(op, 2, tb, &p->b)) ||
        (reason = read_matrix(op, op->count == 4 ? 3 : 0, false, &p->c)) || (reason = read_types(op, p)))
        return reason;
    p->m = p->d.rows;
    p->n = p->d.columns;
    p->k = p->a.columns;
    if (p->a.rows != p->m || p->b.rows != p->k || p->b.columns != p->n || p->c.rows != p->m ||
        p->c.columns != p->n)
        return base_arena_format(
            op->context->arena,
            "the shapes do not fit: D (%lld, %lld), A (%lld, %lld), B (%lld, %lld); A is (M, "
            "K), B (K, N), or the other way round with transpose_A= and transpose_B=",
            (long long)p->m, (long long)p->n, (long long)p->a.rows, (long long)p->a.columns,
            (long long)p->b.rows, (long long)p->b.columns);
    if ((reason = choose_shape(op, p)))
        return reason;
    base_arena *arena = op->context->arena;
    const char *name =
        base_arena_format(arena, "mma.m%lldn8k%lld.%s.", (long long)p->rows, (long long)p->depth, p->a_type);
    const char *result = base_arena_format(arena, "mma.m%lldn8.%s.D", (long long)p->rows, p->d_type);
    if ((reason = check_fragment(op, p, &p->d, OPERAND_D, result)) ||
        (reason = check_fragment(op, p, &p->c, OPERAND_D, result)) ||
        (reason = check_fragment(op, p, &p->a, OPERAND_A, base_arena_format(arena, "%sA", name))))
        return reason;
    return check_fragment(op, p, &p->b, OPERAND_B, base_arena_format(arena, "%sB", name));
}

const char *lower_tile_refuse_mma_sync(lower_tile *op) {
    return make_product(op, lower_tile_plan(op, sizeof(product)));
}

/* ---- writing ---- */

static const ir_expr *load(lower_tile *op, const ir_tensor *slots, int64_t slot) {
    const ir_expr *index = lower_tile_int(op, slot);
    return ir_load(op->module, slots, &index, 1);
}

/* The word of this lane, its parts together. */
static const ir_expr *word_of(lower_tile *op, const product *p, const matrix *x, operand which, int64_t row,
                              int64_t column, int word, ir_stmt *block) {
    const ir_expr *parts[4];
    for (int i = 0; i < p->per_word; i++)
        parts[i] = load(op, x->slots, common_slot(x, which, p, row, column, word, i));
    return p->result == NUM_DTYPE_F64 ? parts[0] : lower_tile_pack(op, block, parts, p->per_word);
}

/* Registers of C and D: an element each, of float16 two. */
static int sums_of(const product *p) {
    return words_of(OPERAND_D, p) / (p->result == NUM_DTYPE_F16 ? 2 : 1);
}

static void register_list(base_builder *out, char mark, int *next, int count, const char *end) {
    for (int i = 0; i < count; i++)
        base_builder_format(out, "%s%c%d", i ? ", " : "{", mark, (*next)++);
    base_builder_format(out, "}%s", end);
}

static const char *pattern_of(lower_tile *op, const product *p) {
    int result = 0, next = 0;
    base_builder out;
    base_builder_start(&out, op->context->arena);
    base_builder_format(&out, "mma.sync.aligned.m%lldn8k%lld.row.col.%s.%s.%s.%s ", (long long)p->rows,
                        (long long)p->depth, p->d_type, p->a_type, p->b_type, p->d_type);
    register_list(&out, '%', &result, sums_of(p), ", ");
    register_list(&out, '$', &next, words_of(OPERAND_A, p), ", ");
    register_list(&out, '$', &next, words_of(OPERAND_B, p), ", ");
    register_list(&out, '$', &next, sums_of(p), "");
    return out.data;
}

/* What C holds, or zeros, as registers. */
static void start_sums(lower_tile *op, const product *p, int64_t m, int64_t n, const ir_expr **sums,
                       ir_stmt *block) {
    const ir_expr *elements[4];
    bool half = p->result == NUM_DTYPE_F16;
    for (int r = 0; r < words_of(OPERAND_D, p); r++)
        elements[r] = p->adds ? load(op, p->c.slots, common_slot(&p->c, OPERAND_D, p, m, n, r, 0))
                      : num_dtype_is_float(p->result) ? ir_float(op->module, p->result, 0)
                                                      : ir_int(op->module, p->result, 0);
    for (int r = 0; r < sums_of(p); r++)
        sums[r] = !half     ? elements[r]
                  : p->adds ? lower_tile_pack(op, block, elements + 2 * r, 2)
                            : ir_int(op->module, NUM_DTYPE_U32, 0);
}

static void store_sums(lower_tile *op, const product *p, int64_t m, int64_t n, const ir_expr *const *sums,
                       ir_stmt *block) {
    const ir_expr *elements[4];
    for (int r = 0; r < sums_of(p); r++)
        if (p->result == NUM_DTYPE_F16)
            lower_tile_unpack(op, block, sums[r], p->result, elements + 2 * r);
        else
            elements[r] = sums[r];
    for (int r = 0; r < words_of(OPERAND_D, p); r++) {
        const ir_expr *index = lower_tile_int(op, common_slot(&p->d, OPERAND_D, p, m, n, r, 0));
        ir_block_add(op->module, block, lower_tile_store(op, p->d.slots, &index, 1, elements[r]));
    }
}

static void emit_tile(lower_tile *op, const product *p, const char *pattern, int64_t m, int64_t n,
                      ir_stmt *block) {
    const ir_expr *sums[4], *args[2 * WORDS_LIMIT + 4];
    start_sums(op, p, m, n, sums, block);
    for (int64_t k = 0; k < p->k; k += p->depth) {
        uint32_t count = 0;
        for (int i = 0; i < words_of(OPERAND_A, p); i++)
            args[count++] = word_of(op, p, &p->a, OPERAND_A, m, k, i, block);
        for (int i = 0; i < words_of(OPERAND_B, p); i++)
            args[count++] = word_of(op, p, &p->b, OPERAND_B, k, n, i, block);
        for (int r = 0; r < sums_of(p); r++)
            args[count++] = sums[r];
        const ir_expr *result =
            lower_tile_result(op, block, pattern, p->result == NUM_DTYPE_F16 ? NUM_DTYPE_U32 : p->result,
                              (unsigned)sums_of(p), args, count);
        for (int r = 0; r < sums_of(p); r++)
            sums[r] = sums_of(p) == 1 ? result : ir_lane(op->module, result, (unsigned)r);
    }
    store_sums(op, p, m, n, sums, block);
}

void lower_tile_emit_mma_sync(lower_tile *op) {
    product *p = op->plan;
    p->d.slots = lower_tile_slots(op, p->d.region->tensor);
    p->a.slots = lower_tile_slots(op, p->a.region->tensor);
    p->b.slots = lower_tile_slots(op, p->b.region->tensor);
    p->c.slots = p->adds ? lower_tile_slots(op, p->c.region->tensor) : p->d.slots;
    const char *pattern = pattern_of(op, p);
    ir_stmt *block = lower_tile_block(op);
    for (int64_t m = 0; m < p->m; m += p->rows)
        for (int64_t n = 0; n < p->n; n += COLUMNS)
            emit_tile(op, p, pattern, m, n, block);
    base_vector_push(op->context->arena, op->out, block);
}
