/* SPDX-License-Identifier: Apache-2.0
 * gemm_async: tcgen05.mma over a tile (PTX ISA 9.7.16.10). One instruction for each 32 bytes of K and each
 * run of at most 256 columns; the first of a sum says whether the accumulator takes part. The caller commits.
 * Must not know how operands came to their place. */
#include "lower/lower_tile_mma.h"

/* ---- shape ---- */

/* The two extents over 1, the outer first. */
static bool matrix_extents(const lower_tile_region *region, int64_t *rows, int64_t *columns) {
    int64_t found[2];
    uint32_t count = 0;
    for (uint32_t i = 0; i < region->rank; i++) {
        if (region->size[i] == 1)
            continue;
        if (count == 2 || region->size[i] < 1)
            return false;
        found[count++] = region->size[i];
    }
    if (count != 2)
        return false;
    *rows = found[0];
    *columns = found[1];
    return true;
}

/* PTX ISA 9.7.16.2.1, table of shapes. */
static const char *check_m(lower_tile *op, const lower_tile_mma *p) {
    base_arena *arena = op->context->arena;
    if (p->is_stationary && (p->group == 2 || p->is_scaled))
        return "weight_stationary= is for cta_group=1 without scale factors";
    if (p->is_stationary && p->m != 32 && p->m != 64 && p->m != 128)
        return base_arena_format(arena, "M = %lld rows; weight stationary the unit has 32, 64 and 128",
                                 (long long)p->m);
    if (!p->is_stationary && p->m != 64 && p->m != 128)
        return base_arena_format(arena, "M = %lld rows in a CTA; the unit has 64 and 128%s", (long long)p->m,
                                 p->m == 32 ? ", and 32 with weight_stationary=True" : "");
    if (p->is_scaled && p->group == 1 && p->m != 128)
        return "M = 64 rows; with scale factors one CTA has 128";
    return NULL;
}

static const char *read_shape(lower_tile *op, lower_tile_mma *p, bool transposed_a, bool transposed_b) {
    base_arena *arena = op->context->arena;
    int64_t a_rows, a_depth, b_rows, b_depth;
    if (!matrix_extents(p->d, &p->m, &p->n) ||
        !matrix_extents(p->a, transposed_a ? &a_depth : &a_rows, transposed_a ? &a_rows : &a_depth) ||
        !matrix_extents(p->b, transposed_b ? &b_depth : &b_rows, transposed_b ? &b_rows : &b_depth))
        return "each operand must be a matrix: two constant extents over 1";
    p->k = a_depth;
    if (a_rows != p->m || b_rows * p->group != p->n || a_depth != b_depth)
        return base_arena_format(
            arena,
            "the shapes do not fit: D is (%lld, %lld), A (%lld, %lld)%s, B (%lld, %lld)%s; A is (M, K) and B "
            "(N%s, K), or the other way round with transA= and transB=",
            (long long)p->m, (long long)p->n, (long long)(transposed_a ? a_depth : a_rows),
            (long long)(transposed_a ? a_rows : a_depth), transposed_a ? " transposed" : "",
            (long long)(transposed_b ? b_depth : b_rows), (long long)(transposed_b ? b_rows : b_depth),
            transposed_b ? " transposed" : "", p->group == 2 ? " / 2 in each CTA" : "");
    if (p->k % p->depth)
        return base_arena_format(arena, "K = %lld; of %s it comes in steps of %lld", (long long)p->k,
                                 num_dtype_name(p->a_type), (long long)p->depth);
    return check_m(op, p);
}

/* Columns come in multiples of this. */
static int64_t column_unit(const lower_tile_mma *p) {
    if (p->is_stationary)
        return 64;
    int64_t unit = (p->is_integer ? 16 : 8) * p->group;
    if (p->group == 2 && !p->is_integer)
        unit = 16;
    bool bytes = num_dtype_bits(p->b->tensor->type.dtype) == 8;
    return p->b_matrix.mn_major && bytes && unit < 16 * p->group ? 16 * p->group : unit;
}

static bool step_fits(const lower_tile_mma *p, int64_t step) {
    bool power = step == 64 || step == 128 || step == 256;
    bool whole = !p->is_scaled || step == p->n || step % 32 == 0; /* a window of factors */
    return p->n % step == 0 && step % column_unit(p) == 0 && whole && (!p->is_stationary || power);
}

/* mma_m= and mma_n= say the shape of one instruction; false where they were not given. */
static bool asked_step(lower_tile *op, lower_tile_mma *p, const char **reason) {
    int64_t m = lower_tile_constant(op, "mma_m", 0), n = lower_tile_constant(op, "mma_n", 0);
    if (!lower_tile_attribute(op, "mma_m", 0) && !lower_tile_attribute(op, "mma_n", 0))
        return false;
    if (m != p->m * p->group || n < 1 || n > 256 || !step_fits(p, n))
        *reason = base_arena_format(op->context->arena,
                                    "mma_m=%lld, mma_n=%lld: they come together, M is that of the operands, "
                                    "%lld, and N at most 256, in steps of "
                                    "%lld, a divisor of %lld",
                                    (long long)m, (long long)n, (long long)(p->m * p->group),
                                    (long long)column_unit(p), (long long)p->n);
    p->step = n;
    return true;
}

/* Once it is known which way B lies. */
static const char *choose_step(lower_tile *op, lower_tile_mma *p) {
    base_arena *arena = op->context->arena;
    int64_t unit = column_unit(p);
    if (p->n % unit)
        return base_arena_format(arena, "N = %lld columns; of M = %lld they come in steps of %lld",
                                 (long long)p->n, (long long)(p->m * p->group), (long long)unit);
    if (p->n > LAYOUT_TMEM_COLUMNS)
        return base_arena_format(arena, "N = %lld columns; tensor memory has 512", (long long)p->n);
    const char *reason = NULL;
    if (!asked_step(op, p, &reason))
        for (p->step = p->n < 256 ? p->n : 256; p->step > 0 && !step_fits(p, p->step); p->step -= unit)
            ;
    if (reason)
        return reason;
    if (p->step <= 0)
        return base_arena_format(
            arena, "N = %lld columns; weight stationary they are 64, 128 or 256 at a time", (long long)p->n);
    p->descriptor |= (uint32_t)(!p->a_in_tmem && p->a_matrix.mn_major) << 15 |
                     (uint32_t)p->b_matrix.mn_major << 16 | (uint32_t)(p->step / 8) << 17 |
                     (uint32_t)(p->m * p->group / 16) << 24;
    return NULL;
}

/* ---- places ---- */

static bool same_place(lower_tile *op, const layout_tile *layout, const layout_tile *wanted) {
    return wanted && layout_equal(op->context->arena, layout, wanted);
}

static char letter_of(lower_tile *op, const lower_tile_mma *p, layout_error *error) {
    char letter = 0;
    if (p->is_stationary)
        return p->m == 32 ? 'G' : p->m == 64 ? 'E' : 'D';
    layout_tmem_letter(op->context->arena, (int)(p->m * p->group), (int)p->group, false, &letter, error);
    return letter;
}

/* An accumulator of 16 bits has the cell of 32 for itself. */
static const layout_tile *one_for_each_cell(lower_tile *op, const layout_tile *layout) {
    layout_tile *wide = base_arena_copy(op->context->arena, layout, sizeof *layout);
    layout_iter *shard =
        base_arena_copy(op->context->arena, layout->shard, sizeof *shard * layout->shard_count);
    for (uint32_t i = 0; i < layout->shard_count; i++)
        if (shard[i].axis == LAYOUT_AXIS_TCOL)
            shard[i].stride *= 2;
    wide->shard = shard;
    return wide;
}

/* The accumulator must stand where the unit puts it. Datapaths whose columns fold (B, E, G) take all columns
 * in one instruction. */
static const char *check_accumulator(lower_tile *op, const lower_tile_mma *p) {
    base_arena *arena = op->context->arena;
    layout_error error = {NULL};
    char letter = letter_of(op, p, &error);
    const layout_tile *wanted = letter ? layout_tmem_datapath(arena, letter, p->m, p->n, 0, &error) : NULL;
    if (!wanted)
        return error.text;
    if (p->is_half)
        wanted = one_for_each_cell(op, wanted);
    if (!same_place(op, p->accumulator.layout, wanted))
        return base_arena_format(
            arena, "'%s' lies at %s, and %s MMA of M = %lld with cta_group %lld writes datapath %c%s: %s, %s",
            p->d->tensor->name, layout_text_of(arena, p->accumulator.layout),
            p->is_stationary ? "a weight stationary" : "an", (long long)(p->m * p->group),
            (long long)p->group, letter, p->is_half ? ", float16 in a cell for itself" : "",
            layout_text_of(arena, wanted),
            p->is_half
                ? base_arena_format(arena,
                                    "tmem_mma_operand_layout(\"D\", (%lld, %lld), \"float16\", M=%lld, "
                                    "cta_group=%lld%s)",
                                    (long long)p->m, (long long)p->n, (long long)(p->m * p->group),
                                    (long long)p->group, p->is_stationary ? ", ws=True" : "")
                : base_arena_format(arena, "tmem_datapath_layout(\"%c\", %lld, %lld)", letter,
                                    (long long)p->m, (long long)p->n));
    if ((letter == 'B' || letter == 'E' || letter == 'G') && p->step != p->n)
        return base_arena_format(arena, "more than 256 columns of datapath %c are several accumulators",
                                 letter);
    return NULL;
}

/* A in tensor memory stands in the lanes of the rows of D that it is for, so folded columns have it more than
 * once. */
static const layout_tile *place_of_a(lower_tile *op, const lower_tile_mma *p, layout_error *error) {
    base_arena *arena = op->context->arena;
    layout_tmem_mma mma = {.operand = 'A', .m = (int)(p->m * p->group), .cta_group = (int)p->group};
    int64_t shape[2] = {p->m, p->k};
    mma.bits = p->a_cells.bits;
    if (p->is_stationary && p->m < 128)
        return p->m == 64 ? layout_tmem_copy(arena, "64x128b", "warpx2::02_13", p->k, error)
                          : layout_tmem_copy(arena, "32x128b", "warpx4", p->k, error);
    return layout_tmem_operand(arena, &mma, shape, 2, error);
}

static const char *read_a(lower_tile *op, lower_tile_mma *p, bool transposed) {
    base_arena *arena = op->context->arena;
    layout_error error = {NULL};
    if (!p->a_in_tmem)
        return lower_tile_matrix_of(op, p->a, transposed, p->depth, &p->a_matrix);
    if (transposed)
        return "A in tensor memory is K-major: transA= is not for it";
    const char *reason = lower_tile_tmem_region(op, p->a, &p->a_cells);
    const layout_tile *wanted = reason ? NULL : place_of_a(op, p, &error);
    if (!reason && !same_place(op, p->a_cells.layout, wanted))
        reason = base_arena_format(arena, "'%s' lies at %s, where A is read from %s", p->a->tensor->name,
                                   layout_text_of(arena, p->a_cells.layout),
                                   wanted ? layout_text_of(arena, wanted) : error.text);
    return reason;
}

static bool is_shared(const lower_tile_region *region) {
    ir_scope scope = region->tensor->type.scope;
    return scope == IR_SCOPE_SHARED || scope == IR_SCOPE_SHARED_DYN;
}

static const char *check_scopes(lower_tile *op, const lower_tile_mma *p) {
    base_arena *arena = op->context->arena;
    if (p->d->tensor->type.scope != IR_SCOPE_TMEM)
        return base_arena_format(arena, "the accumulator '%s' must be in tensor memory, not in %s",
                                 p->d->tensor->name, ir_scope_name(p->d->tensor->type.scope));
    if (is_shared(p->b) && (is_shared(p->a) || p->a_in_tmem))
        return NULL;
    const lower_tile_region *wrong = is_shared(p->b) ? p->a : p->b;
    return base_arena_format(arena, "'%s' must be in shared memory%s, not in %s", wrong->tensor->name,
                             wrong == p->a ? " or in tensor memory" : "",
                             ir_scope_name(wrong->tensor->type.scope));
}

static const char *make_product(lower_tile *op, lower_tile_mma *p) {
    bool ta = lower_tile_constant(op, "transA", 0) != 0, tb = lower_tile_constant(op, "transB", 0) != 0;
    *p = (lower_tile_mma){
        .d = &op->operands[0].region, .a = &op->operands[1].region, .b = &op->operands[2].region};
    p->a_in_tmem = p->a->tensor->type.scope == IR_SCOPE_TMEM;
    p->is_stationary = lower_tile_constant(op, "weight_stationary", 0) != 0;
    p->group = lower_tile_constant(op, "cta_group", 1);
    if (p->group != 1 && p->group != 2)
        return "cta_group= is 1 or 2";
    const char *reason = check_scopes(op, p);
    if (reason || (reason = lower_tile_factors_read(op, p)) || (reason = lower_tile_mma_types(op, p)) ||
        (reason = read_shape(op, p, ta, tb)) ||
        (reason = lower_tile_tmem_region(op, p->d, &p->accumulator)) || (reason = read_a(op, p, ta)) ||
        (reason = lower_tile_matrix_of(op, p->b, tb, p->depth, &p->b_matrix)) ||
        (reason = choose_step(op, p)) || (reason = check_accumulator(op, p)))
        return reason;
    return p->is_scaled ? lower_tile_factors_place(op, p) : NULL;
}

const char *lower_tile_refuse_mma(lower_tile *op) {
    return make_product(op, lower_tile_plan(op, sizeof(lower_tile_mma)));
}

/* ---- writing ---- */

static const ir_expr *accumulates(lower_tile *op, int64_t k) {
    const ir_expr *accum = lower_tile_attribute(op, "accum", 0);
    if (k > 0)
        return ir_bool(op->module, true);
    if (!accum)
        return ir_bool(op->module, false);
    return ir_type_is_bool(accum->type)
               ? accum
               : ir_binary(op->module, IR_NE, accum, ir_int(op->module, (num_dtype)accum->type.dtype, 0));
}

static const char *pattern_of(lower_tile *op, const lower_tile_mma *p) {
    base_arena *arena = op->context->arena;
    const char *a = p->a_in_tmem ? "[$1]" : "$1";
    if (p->is_scaled)
        return base_arena_format(
            arena,
            "tcgen05.mma.cta_group::%lld.kind::%s.block_scale.scale_vec::%lldX [$0], %s, "
            "$2, $3, [$4], [$5], $6",
            (long long)p->group, p->kind, (long long)p->per, a);
    return base_arena_format(arena, "tcgen05.mma%s.cta_group::%lld.kind::%s [$0], %s, $2, $3, $4",
                             p->is_stationary ? ".ws" : "", (long long)p->group, p->kind, a);
}

/* The instruction over columns n on and the elements of K from k on. */
static void emit_step(lower_tile *op, const lower_tile_mma *p, const char *pattern,
                      const ir_expr *accumulator, int64_t n, int64_t k, ir_stmt *block) {
    const ir_expr *args[7];
    uint32_t count = 0;
    int64_t step = k / p->depth;
    args[count++] = lower_tile_cell(op, accumulator, n);
    args[count++] = p->a_in_tmem ? lower_tile_cell(op, p->a_cells.address, k * p->a_cells.bits / 32)
                                 : lower_tile_descriptor(op, &p->a_matrix, 0, k);
    args[count++] = lower_tile_descriptor(op, &p->b_matrix, n / p->group, k);
    args[count++] = ir_int(op->module, NUM_DTYPE_U32, p->descriptor | lower_tile_factors_bits(p, step));
    if (p->is_scaled) {
        args[count++] = lower_tile_cell(op, p->a_factors.cells.address, p->a_factors.first[step] / 4);
        args[count++] =
            lower_tile_cell(op, p->b_factors.cells.address, p->b_factors.first[step] / 4 + n / 32);
    }
    args[count++] = accumulates(op, k);
    ir_block_add(op->module, block, lower_tile_instruction(op, pattern, args, count));
}

void lower_tile_emit_mma(lower_tile *op) {
    const lower_tile_mma *p = op->plan;
    ir_module *module = op->module;
    ir_stmt *block = lower_tile_block(op), *outside = block;
    if (op->scope == LAYOUT_SCOPE_WARP) {
        outside = lower_tile_block(op);
        const ir_expr *chosen =
            lower_tile_result(op, outside, "elect.sync _|%0, 4294967295", NUM_DTYPE_BOOL, 1, NULL, 0);
        ir_block_add(module, outside, lower_tile_if(op, chosen, block));
    }
    const ir_expr *accumulator = lower_tile_let(op, block, "acc", p->accumulator.address);
    const char *pattern = pattern_of(op, p);
    for (int64_t n = 0; n < p->n; n += p->step)
        for (int64_t k = 0; k < p->k; k += p->depth)
            emit_step(op, p, pattern, accumulator, n, k, block);
    base_vector_push(op->context->arena, op->out, outside);
}
