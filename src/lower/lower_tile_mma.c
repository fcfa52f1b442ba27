/* SPDX-License-Identifier: Apache-2.0
 * gemm_async: tcgen05.mma over a tile (PTX ISA 9.7.16.10). One instruction for each 16 to 64 bytes of K and
 * each run of at most 256 columns; the first of a sum says whether the accumulator takes part. The caller
 * commits. Must not know how operands came to their place. */
#include "lower/lower_tile.h"
#include "lower/lower_tile_instruction.h"
#include <string.h>

typedef struct product {
    const lower_tile_region *d, *a, *b;
    const char *kind;
    int64_t group, m, n, k; /* cta_group; rows of this CTA; columns; K */
    int64_t depth;          /* K of one instruction */
    int64_t step;           /* columns of one instruction */
    uint32_t descriptor;
    bool a_in_tmem;
    lower_tile_tmem accumulator, a_cells;
    lower_tile_matrix a_matrix, b_matrix;
} product;

/* ---- types ---- */

static const struct {
    num_dtype type;
    const char *kind;
    uint32_t code;
    int64_t depth;
} types[] = {
    {NUM_DTYPE_F16, "f16", 0, 16},         {NUM_DTYPE_BF16, "f16", 1, 16},
    {NUM_DTYPE_F32, "tf32", 2, 8},         {NUM_DTYPE_TF32, "tf32", 2, 8},
    {NUM_DTYPE_F8E4M3FN, "f8f6f4", 0, 32}, {NUM_DTYPE_F8E5M2, "f8f6f4", 1, 32},
    {NUM_DTYPE_U8, "i8", 0, 32},           {NUM_DTYPE_I8, "i8", 1, 32},
};

static int type_row(num_dtype type) {
    for (int i = 0; i < (int)(sizeof(types) / sizeof(types[0])); i++)
        if (types[i].type == type)
            return i;
    return -1;
}

static const char *read_types(lower_tile *op, product *p) {
    base_arena *arena = op->context->arena;
    num_dtype a = p->a->tensor->type.dtype, b = p->b->tensor->type.dtype, d = p->d->tensor->type.dtype;
    int row = type_row(a), other = type_row(b);
    bool mixed = row >= 0 && other >= 0 && row != other && strcmp(types[row].kind, "f8f6f4") &&
                 strcmp(types[row].kind, "i8");
    if (row < 0 || other < 0 || strcmp(types[row].kind, types[other].kind) || mixed)
        return base_arena_format(
            arena,
            "there is no MMA of %s with %s: float16 or bfloat16 with itself, float32 (as "
            "tf32), float8_e4m3fn and float8_e5m2, int8 and uint8",
            num_dtype_name(a), num_dtype_name(b));
    p->kind = types[row].kind;
    p->depth = types[row].depth;
    bool integer = !strcmp(p->kind, "i8");
    if (d != (integer ? NUM_DTYPE_I32 : NUM_DTYPE_F32))
        return base_arena_format(arena, "the accumulator '%s' is %s; of %s with %s it is %s",
                                 p->d->tensor->name, num_dtype_name(d), num_dtype_name(a), num_dtype_name(b),
                                 integer ? "int32" : "float32");
    p->descriptor = (uint32_t)(integer ? 2 : 1) << 4 | types[row].code << 7 | types[other].code << 10;
    return NULL;
}

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

static const char *read_shape(lower_tile *op, product *p, bool transposed_a, bool transposed_b) {
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
    if (p->m != 64 && p->m != 128)
        return base_arena_format(arena, "M = %lld rows in a CTA; the unit has 64 and 128", (long long)p->m);
    bool half = p->m == 64 && p->group == 1, integer = !strcmp(p->kind, "i8");
    int64_t unit = (half && !integer ? 8 : 16) * p->group;
    if (p->m == 128 && p->group == 1)
        unit = integer ? 16 : 8;
    if (transposed_b && num_dtype_bits(p->b->tensor->type.dtype) == 8 && unit < 16 * p->group)
        unit = 16 * p->group;
    if (p->n % unit)
        return base_arena_format(arena, "N = %lld columns; of M = %lld they come in steps of %lld",
                                 (long long)p->n, (long long)(p->m * p->group), (long long)unit);
    if (p->n > LAYOUT_TMEM_COLUMNS)
        return base_arena_format(arena, "N = %lld columns; tensor memory has 512", (long long)p->n);
    if (p->k % p->depth)
        return base_arena_format(arena, "K = %lld; of %s it comes in steps of %lld", (long long)p->k,
                                 num_dtype_name(p->a->tensor->type.dtype), (long long)p->depth);
    for (p->step = p->n < 256 ? p->n : 256; p->n % p->step || p->step % unit; p->step -= unit)
        ;
    p->descriptor |= (uint32_t)transposed_a << 15 | (uint32_t)transposed_b << 16 |
                     (uint32_t)(p->step / 8) << 17 | (uint32_t)(p->m * p->group / 16) << 24;
    return NULL;
}

/* ---- places ---- */

static bool same_place(lower_tile *op, const layout_tile *layout, const layout_tile *wanted) {
    return wanted && layout_equal(op->context->arena, layout, wanted);
}

/* The accumulator must stand where the unit puts it. Datapaths whose columns fold (B) take all columns in
 * one instruction. */
static const char *check_accumulator(lower_tile *op, const product *p) {
    base_arena *arena = op->context->arena;
    layout_error error = {NULL};
    char letter;
    if (!layout_tmem_letter(arena, (int)(p->m * p->group), (int)p->group, false, &letter, &error))
        return error.text;
    const layout_tile *wanted = layout_tmem_datapath(arena, letter, p->m, p->n, 0, &error);
    if (!same_place(op, p->accumulator.layout, wanted))
        return base_arena_format(
            arena,
            "'%s' lies at %s, and an MMA of M = %lld with cta_group %lld writes datapath %c: "
            "%s, tmem_datapath_layout(\"%c\", %lld, %lld)",
            p->d->tensor->name, layout_text_of(arena, p->accumulator.layout), (long long)(p->m * p->group),
            (long long)p->group, letter, wanted ? layout_text_of(arena, wanted) : "?", letter,
            (long long)p->m, (long long)p->n);
    if (letter == 'B' && p->step != p->n)
        return "more than 256 columns of datapath B are several accumulators";
    return NULL;
}

static const char *read_a(lower_tile *op, product *p, bool transposed) {
    base_arena *arena = op->context->arena;
    p->a_in_tmem = p->a->tensor->type.scope == IR_SCOPE_TMEM;
    if (!p->a_in_tmem)
        return lower_tile_matrix_of(op, p->a, transposed, p->depth, &p->a_matrix);
    if (transposed)
        return "A in tensor memory is K-major: transA= is not for it";
    const char *reason = lower_tile_tmem_region(op, p->a, &p->a_cells);
    layout_tmem_mma mma = {.operand = 'A', .m = (int)(p->m * p->group), .cta_group = (int)p->group};
    mma.bits = p->a_cells.bits;
    layout_error error = {NULL};
    int64_t shape[2] = {p->m, p->k};
    const layout_tile *wanted = reason ? NULL : layout_tmem_operand(arena, &mma, shape, 2, &error);
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

static const char *make_product(lower_tile *op, product *p) {
    bool ta = lower_tile_constant(op, "transA", 0) != 0, tb = lower_tile_constant(op, "transB", 0) != 0;
    *p = (product){.d = &op->operands[0].region, .a = &op->operands[1].region, .b = &op->operands[2].region};
    p->group = lower_tile_constant(op, "cta_group", 1);
    if (p->group != 1 && p->group != 2)
        return "cta_group= is 1 or 2";
    if (lower_tile_attribute(op, "SFA", 0))
        return "block-scaled operands (SFA=, SFB=) are not built: issue them with T.ptx";
    if (p->d->tensor->type.scope != IR_SCOPE_TMEM)
        return base_arena_format(op->context->arena,
                                 "the accumulator '%s' must be in tensor memory, not in %s",
                                 p->d->tensor->name, ir_scope_name(p->d->tensor->type.scope));
    if (!is_shared(p->b) || (!is_shared(p->a) && p->a->tensor->type.scope != IR_SCOPE_TMEM))
        return base_arena_format(
            op->context->arena, "'%s' must be in shared memory%s, not in %s",
            is_shared(p->b) ? p->a->tensor->name : p->b->tensor->name,
            is_shared(p->b) ? " or in tensor memory" : "",
            ir_scope_name(is_shared(p->b) ? p->a->tensor->type.scope : p->b->tensor->type.scope));
    const char *reason = read_types(op, p);
    if (reason || (reason = read_shape(op, p, ta, tb)) ||
        (reason = lower_tile_tmem_region(op, p->d, &p->accumulator)) || (reason = check_accumulator(op, p)) ||
        (reason = read_a(op, p, ta)))
        return reason;
    return lower_tile_matrix_of(op, p->b, tb, p->depth, &p->b_matrix);
}

const char *lower_tile_refuse_mma(lower_tile *op) {
    product p;
    return make_product(op, &p);
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

void lower_tile_emit_mma(lower_tile *op) {
    product p;
    make_product(op, &p);
    ir_module *module = op->module;
    ir_stmt *block = lower_tile_block(op), *outside = block;
    if (op->scope == LAYOUT_SCOPE_WARP) {
        outside = lower_tile_block(op);
        const ir_expr *chosen =
            lower_tile_result(op, outside, "elect.sync _|%0, 4294967295", NUM_DTYPE_BOOL, 1, NULL, 0);
        ir_block_add(module, outside, lower_tile_if(op, chosen, block));
    }
    const ir_expr *accumulator = lower_tile_let(op, block, "acc", p.accumulator.address);
    const char *pattern =
        base_arena_format(op->context->arena, "tcgen05.mma.cta_group::%lld.kind::%s [$0], %s, $2, $3, $4",
                          (long long)p.group, p.kind, p.a_in_tmem ? "[$1]" : "$1");
    for (int64_t n = 0; n < p.n; n += p.step)
        for (int64_t k = 0; k < p.k; k += p.depth) {
            const ir_expr *args[5];
            args[0] = lower_tile_cell(op, accumulator, n);
            args[1] = p.a_in_tmem ? lower_tile_cell(op, p.a_cells.address, k * p.a_cells.bits / 32)
                                  : lower_tile_descriptor(op, &p.a_matrix, 0, k);
            args[2] = lower_tile_descriptor(op, &p.b_matrix, n / p.group, k);
            args[3] = ir_int(module, NUM_DTYPE_U32, p.descriptor);
            args[4] = accumulates(op, k);
            ir_block_add(module, block, lower_tile_instruction(op, pattern, args, 5));
        }
    base_vector_push(op->context->arena, op->out, outside);
}
