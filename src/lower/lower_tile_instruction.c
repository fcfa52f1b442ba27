/* SPDX-License-Identifier: Apache-2.0
 * What lowerings to instructions share: PTX instructions as statements, addresses in shared and tensor
 * memory, matrix descriptors. Must not know which operation needs them. */
#include "lower/lower_tile.h"
#include "lower/lower_tile_instruction.h"

enum { SHARED_LIMIT = 1 << 19 }; /* elements of 4 bits that shared memory could hold */

static const ir_expr *call(lower_tile *op, const char *pattern, const char *type_words, ir_type type,
                           const ir_expr *const *args, uint32_t count) {
    const ir_expr **all = BASE_NEW_ARRAY(op->context->arena, const ir_expr *, count + 2);
    all[0] = ir_string(op->module, pattern);
    all[1] = ir_string(op->module, type_words);
    for (uint32_t i = 0; i < count; i++)
        all[i + 2] = args[i];
    return ir_make(op->module, IR_PTX, type, all, count + 2);
}

ir_stmt *lower_tile_instruction(lower_tile *op, const char *pattern, const ir_expr *const *args,
                                uint32_t count) {
    ir_stmt *s = ir_stmt_create(op->module, IR_STMT_EVALUATE, op->span);
    s->as.evaluate.value =
        call(op, pattern, "void", (ir_type){.kind = IR_TYPE_VOID, .lanes = 1}, args, count);
    return s;
}

const ir_expr *lower_tile_let(lower_tile *op, ir_stmt *block, const char *name, const ir_expr *value) {
    ir_stmt *let = ir_stmt_create(op->module, IR_STMT_LET, op->span);
    let->as.let.var = ir_var_create(op->module, name, value->type, IR_VAR_LET, op->span);
    let->as.let.value = value;
    ir_block_add(op->module, block, let);
    return ir_var_use(op->module, let->as.let.var);
}

const ir_expr *lower_tile_result(lower_tile *op, ir_stmt *block, const char *pattern, num_dtype dtype,
                                 unsigned lanes, const ir_expr *const *args, uint32_t count) {
    const char *words = lanes > 1
                            ? base_arena_format(op->context->arena, "%sx%u", num_dtype_name(dtype), lanes)
                            : num_dtype_name(dtype);
    return lower_tile_let(op, block, "p", call(op, pattern, words, ir_type_prim(dtype, lanes), args, count));
}

const ir_expr *lower_tile_word(lower_tile *op, const ir_expr *x) {
    return ir_cast(op->module, ir_type_prim(NUM_DTYPE_U32, 1), x);
}

const ir_expr *lower_tile_shared(lower_tile *op, const ir_expr *pointer) {
    return ir_make(op->module, IR_SHARED_ADDRESS, ir_type_prim(NUM_DTYPE_U32, 1), &pointer, 1);
}

ir_stmt *lower_tile_block(lower_tile *op) {
    return ir_stmt_create(op->module, IR_STMT_BLOCK, op->span);
}

/* ---- tensor memory ---- */

/* The region's own layout, its offset taken out: columns that only a run knows are added to *column. */
const char *lower_tile_tmem_region(lower_tile *op, const lower_tile_region *region, lower_tile_tmem *out) {
    lower_context *context = op->context;
    base_arena *arena = context->arena;
    const ir_tensor *tensor = region->tensor;
    int64_t shape[LOWER_TILE_AXES], begin[LOWER_TILE_AXES], end[LOWER_TILE_AXES];
    uint32_t separators[LOWER_TILE_AXES + 1];
    layout_error error = {NULL};
    unsigned bits = num_dtype_bits(tensor->type.dtype);
    if (bits > 32 || tensor->type.lanes > 1)
        return base_arena_format(arena, "elements of '%s' are wider than a cell of 32 bits", tensor->name);
    for (uint32_t i = 0; i < region->rank; i++)
        if (!arith_is_constant(context->facts, tensor->type.shape[i], &shape[i]) || region->size[i] < 1)
            return base_arena_format(arena, "the extents of '%s' must be constants", tensor->name);
    const layout_tile *layout = tensor->type.layout;
    if (!layout && region->rank != 2)
        return base_arena_format(arena, "'%s' needs a layout on TLane and TCol", tensor->name);
    if (!layout)
        layout = layout_tmem_datapath(arena, 'D', shape[0], shape[1], 0, &error);
    if (!layout)
        return base_arena_format(arena, "'%s' needs a layout on TLane and TCol: %s", tensor->name,
                                 error.text);
    const layout_tile *group = layout_group(arena, layout, shape, region->rank, separators, &error);
    const ir_expr *column = NULL;
    for (uint32_t i = 0; i < region->rank; i++) {
        begin[i] = 0;
        if (!arith_is_constant(context->facts, region->start[i], &begin[i])) {
            const layout_iter *iter = group ? &group->shard[separators[i]] : NULL;
            if (!group || separators[i + 1] - separators[i] != 1 || iter->axis != LAYOUT_AXIS_TCOL)
                return base_arena_format(
                    arena,
                    "a start of '%s' that only a run knows stands on an axis that is not columns alone",
                    tensor->name);
            const ir_expr *moved =
                lower_tile_integer(op, IR_MUL, region->start[i], lower_tile_int(op, iter->stride));
            column = column ? lower_tile_integer(op, IR_ADD, column, moved) : moved;
        }
        end[i] = begin[i] + region->size[i];
    }
    const layout_tile *slice = layout_slice(arena, layout, shape, region->rank, begin, end, &error);
    if (!slice)
        return base_arena_format(arena, "the region of '%s' has no layout of its own: %s", tensor->name,
                                 error.text ? error.text : "it cuts through a factor");
    layout_tile *plain = BASE_NEW(arena, layout_tile);
    *plain = *slice;
    for (int a = 0; a < LAYOUT_AXIS_COUNT; a++)
        plain->offset[a] = 0;
    plain->offset_axes = 0;
    int64_t first = slice->offset[LAYOUT_AXIS_TCOL], per = 32 / bits;
    if (first % per || (column && !arith_is_multiple(context->facts, column, per)))
        return base_arena_format(arena, "the columns of '%s' do not start at a cell of 32 bits",
                                 tensor->name);
    *out = (lower_tile_tmem){.layout = plain, .bits = bits};
    const ir_expr *data = tensor->data;
    while (data && data->op == IR_DATA)
        data = data->at.tensor->data;
    if (!data || !ir_type_is_integer(data->type))
        return base_arena_format(arena, "'%s' has no address in tensor memory", tensor->name);
    int64_t constant = slice->offset[LAYOUT_AXIS_TLANE] * 65536 + first / per;
    out->address = lower_tile_word(op, data);
    if (column)
        out->address = ir_binary(op->module, IR_ADD, out->address,
                                 lower_tile_word(op, per == 1 ? column
                                                              : lower_tile_integer(op, IR_FLOORDIV, column,
                                                                                   lower_tile_int(op, per))));
    out->address = lower_tile_cell(op, out->address, constant);
    return NULL;
}

const ir_expr *lower_tile_cell(lower_tile *op, const ir_expr *address, int64_t offset) {
    return offset ? ir_binary(op->module, IR_ADD, address, ir_int(op->module, NUM_DTYPE_U32, offset))
                  : address;
}

/* ---- matrices in shared memory ---- */

static int64_t position(lower_tile *op, const layout_tile *plain, const int64_t *coordinate, uint32_t rank,
                        const int64_t *shape) {
    int64_t at[LAYOUT_AXIS_COUNT];
    uint32_t axes;
    layout_error error = {NULL};
    return layout_apply(plain, coordinate, rank, shape, at, &axes, &error, op->context->arena)
               ? at[LAYOUT_AXIS_M]
               : -1;
}

/* The root may be aligned as the swizzle's pattern needs: it is ours to place. */
bool lower_tile_align(lower_tile *op, const ir_tensor *tensor, int64_t bytes) {
    ir_tensor *root = (ir_tensor *)(uintptr_t)lower_root(tensor);
    const ir_expr *data = tensor->data;
    if (!root || root->kind != IR_TENSOR_ALLOCATION)
        return tensor->type.align >= bytes;
    if (data && data->op == IR_POINTER_ADDRESS) {
        int64_t step = bytes * 8 / num_dtype_bits((num_dtype)data->type.dtype);
        if (!arith_is_multiple(op->context->facts, data->args[1], step))
            return false;
    }
    if (root->type.align < bytes)
        root->type.align = (uint32_t)bytes;
    return true;
}

/* Where row and element along K of the region stand, in elements of the layout before its swizzle. */
typedef struct probe {
    lower_tile *op;
    const lower_tile_region *region;
    const layout_tile *plain;
    int64_t shape[LOWER_TILE_AXES], begin[LOWER_TILE_AXES];
    uint32_t row_axis, k_axis;
} probe;

static int64_t bytes_at(const probe *p, int64_t row, int64_t k) {
    int64_t at[LOWER_TILE_AXES];
    for (uint32_t i = 0; i < p->region->rank; i++)
        at[i] = p->begin[i] + (i == p->row_axis ? row : i == p->k_axis ? k : 0);
    return position(p->op, p->plain, at, p->region->rank, p->shape) *
           num_dtype_bits(p->region->tensor->type.dtype) / 8;
}

static const char *start_probe(lower_tile *op, const lower_tile_region *region, bool transposed, probe *p) {
    base_arena *arena = op->context->arena;
    const ir_tensor *tensor = region->tensor;
    uint32_t axes[2], count = 0;
    *p = (probe){.op = op, .region = region};
    for (uint32_t i = 0; i < region->rank; i++) {
        if (!arith_is_constant(op->context->facts, tensor->type.shape[i], &p->shape[i]) ||
            region->size[i] < 1)
            return base_arena_format(arena, "the extents of '%s' must be constants", tensor->name);
        if (!arith_is_constant(op->context->facts, region->start[i], &p->begin[i]))
            p->begin[i] = 0;
        if (region->size[i] != 1 && count == 2)
            return base_arena_format(arena, "'%s' is no matrix: more than two of its extents are over 1",
                                     tensor->name);
        if (region->size[i] != 1)
            axes[count++] = i;
    }
    if (count != 2)
        return base_arena_format(arena, "'%s' is no matrix", tensor->name);
    p->row_axis = axes[transposed ? 1 : 0];
    p->k_axis = axes[transposed ? 0 : 1];
    layout_tile *plain = BASE_NEW(arena, layout_tile);
    layout_error error = {NULL};
    const layout_tile *layout =
        tensor->type.layout ? tensor->type.layout : layout_row_major(arena, p->shape, region->rank, &error);
    *plain = *layout;
    plain->swizzle = (layout_swizzle){0};
    p->plain = plain;
    return NULL;
}

/* PTX ISA 9.7.16.3.3: bytes from the start, before the swizzle, in the canonical layout of the descriptor. */
static int64_t canonical(const lower_tile_matrix *m, unsigned bits, int64_t row, int64_t k) {
    int64_t width = 16 << m->mode, across = width * 8 / bits;
    bool plain = m->mode == LAYOUT_MODE_NONE;
    if (!m->mn_major)
        return plain ? row % 8 * 16 + row / 8 * m->stride + k * bits / 8 / 16 * m->leading + k * bits / 8 % 16
                     : row % 8 * width + row / 8 * m->stride + k * bits / 8;
    int64_t along = row / across, down = k / 8;
    return row % across * bits / 8 + k % 8 * width +
           (plain ? along * m->stride + down * m->leading : along * m->leading + down * m->stride);
}

static const char *expected_layout(lower_tile *op, const probe *p) {
    const lower_tile_region *region = p->region;
    return base_arena_format(op->context->arena,
                             "'%s' has the layout %s, which no matrix descriptor describes; "
                             "mma_shared_layout(\"%s\", SwizzleMode.SWIZZLE_128B_ATOM, shape) does",
                             region->tensor->name,
                             region->tensor->type.layout
                                 ? layout_text_of(op->context->arena, region->tensor->type.layout)
                                 : "of rows one after the other",
                             num_dtype_name(region->tensor->type.dtype));
}

const char *lower_tile_matrix_of(lower_tile *op, const lower_tile_region *region, bool transposed,
                                 int64_t depth, lower_tile_matrix *out) {
    base_arena *arena = op->context->arena;
    const ir_tensor *tensor = region->tensor;
    unsigned bits = num_dtype_bits(tensor->type.dtype);
    probe p;
    const char *reason = start_probe(op, region, transposed, &p);
    if (reason)
        return reason;
    *out = (lower_tile_matrix){.region = region, .row_axis = p.row_axis, .k_axis = p.k_axis};
    out->rows = region->size[p.row_axis];
    out->depth = region->size[p.k_axis];
    out->mn_major = transposed;
    if (out->rows > SHARED_LIMIT || out->depth > SHARED_LIMIT || out->rows * out->depth > SHARED_LIMIT)
        return base_arena_format(arena, "'%s' is larger than shared memory", tensor->name);
    layout_swizzle z = tensor->type.layout ? tensor->type.layout->swizzle : (layout_swizzle){0}, wanted;
    bool found = !z.present || z.length == 0;
    for (int mode = LAYOUT_MODE_32B; !found && mode <= LAYOUT_MODE_128B; mode++)
        if (layout_mode_swizzle((layout_mode)mode, bits, &wanted) && wanted.per_element == z.per_element &&
            wanted.length == z.length && wanted.atom == z.atom && !z.outer) {
            out->mode = (layout_mode)mode;
            found = true;
        }
    if (!found)
        return expected_layout(op, &p);
    int64_t width = 16 << out->mode, across = width * 8 / bits, unit = 128 / bits;
    if (out->depth % depth || out->rows % 8 || p.begin[p.row_axis] % 8)
        return base_arena_format(arena, "'%s' has %lld rows and K = %lld; they come in steps of 8 and %lld",
                                 tensor->name, (long long)out->rows, (long long)out->depth, (long long)depth);
    if (!arith_is_multiple(op->context->facts, region->start[p.row_axis], 8) ||
        !arith_is_multiple(op->context->facts, region->start[p.k_axis], transposed ? 8 : unit))
        return base_arena_format(
            arena, "the start of '%s' is not certain to be at a unit of 8 rows and 16 bytes", tensor->name);
    int64_t start = bytes_at(&p, 0, 0);
    bool plain = out->mode == LAYOUT_MODE_NONE;
    int64_t next_rows = 0, next_k = 0;
    if (transposed) {
        next_rows = out->rows > across ? bytes_at(&p, across, 0) - start : 0;
        next_k = bytes_at(&p, 0, 8) - start;
        out->leading = plain ? next_k : next_rows;
        out->stride = plain ? next_rows : next_k;
    } else {
        out->stride = out->rows > 8 ? bytes_at(&p, 8, 0) - start : 0;
        out->leading = plain ? bytes_at(&p, 0, unit) - start : 0;
    }
    if (out->leading < 0 || out->stride < 0 || out->leading % 16 || out->stride % 16 || out->leading >> 18 ||
        out->stride >> 18)
        return expected_layout(op, &p);
    /* element by element: the layout and the descriptor's own arithmetic */
    for (int64_t k = 0; k < out->depth; k += depth) {
        int64_t from = bytes_at(&p, 0, k);
        for (int64_t row = 0; row < out->rows; row += transposed ? unit : 1)
            for (int64_t j = 0; j < depth; j += transposed ? 1 : unit)
                if (bytes_at(&p, row, k + j) - from != canonical(out, bits, row, j) ||
                    bytes_at(&p, row + (transposed ? unit - 1 : 0), k + j + (transposed ? 0 : unit - 1)) -
                            bytes_at(&p, row, k + j) !=
                        16 - bits / 8)
                    return expected_layout(op, &p);
    }
    if (!lower_tile_align(op, tensor, plain ? 16 : width * 8))
        return base_arena_format(
            arena, "'%s' is not certain to start at a multiple of %lld bytes, its swizzle's pattern",
            tensor->name, (long long)(plain ? 16 : width * 8));
    return NULL;
}

const ir_expr *lower_tile_descriptor(lower_tile *op, const lower_tile_matrix *m, int64_t row, int64_t k) {
    static const uint64_t codes[] = {0, 6, 4, 2};
    ir_module *module = op->module;
    const ir_expr *indices[LOWER_TILE_AXES];
    for (uint32_t i = 0; i < m->region->rank; i++) {
        int64_t moved = i == m->row_axis ? row : i == m->k_axis ? k : 0;
        indices[i] = moved ? lower_tile_integer(op, IR_ADD, m->region->start[i], lower_tile_int(op, moved))
                           : m->region->start[i];
    }
    const ir_expr *address =
        lower_tile_shared(op, ir_address(module, m->region->tensor, indices, m->region->rank));
    uint64_t fields = (uint64_t)m->leading >> 4 << 16 | (uint64_t)m->stride >> 4 << 32 | UINT64_C(1) << 46 |
                      codes[m->mode] << 61;
    ir_type wide = ir_type_prim(NUM_DTYPE_U64, 1);
    address = ir_binary(module, IR_BITAND, address, ir_int(module, NUM_DTYPE_U32, 0x3ffff));
    address = ir_binary(module, IR_SHR, address, ir_int(module, NUM_DTYPE_U32, 4));
    return ir_binary(module, IR_BITOR, ir_cast(module, wide, address),
                     ir_int(module, NUM_DTYPE_U64, (int64_t)fields));
}
