/* SPDX-License-Identifier: Apache-2.0
 * What lowerings to instructions share: PTX instructions as statements, addresses in shared and tensor
 * memory, matrix descriptors. Must not know which operation needs them. */
#include "lower/lower_tile.h"
#include "lower/lower_tile_instruction.h"
#include <string.h>

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

static const ir_expr *bits_as(lower_tile *op, const ir_expr *x, num_dtype dtype) {
    return x->type.dtype == dtype ? x : ir_make(op->module, IR_REINTERPRET, ir_type_prim(dtype, 1), &x, 1);
}

/* Registers of 16 bits that hold the elements as they are. */
static num_dtype half_type(num_dtype dtype) {
    return num_dtype_is_float(dtype) ? dtype : NUM_DTYPE_U16;
}

const ir_expr *lower_tile_pack(lower_tile *op, ir_stmt *block, const ir_expr *const *parts, int count) {
    ir_module *module = op->module;
    const ir_expr *word = NULL;
    num_dtype dtype = (num_dtype)parts[0]->type.dtype;
    if (count == 1)
        return bits_as(op, parts[0], NUM_DTYPE_U32);
    if (count == 2) {
        const ir_expr *halves[] = {bits_as(op, parts[0], half_type(dtype)),
                                   bits_as(op, parts[1], half_type(dtype))};
        return lower_tile_result(op, block, "mov.b32 %0, {$0, $1}", NUM_DTYPE_U32, 1, halves, 2);
    }
    for (int i = 0; i < count; i++) {
        const ir_expr *part = lower_tile_word(op, bits_as(op, parts[i], NUM_DTYPE_U8));
        part = ir_binary(module, IR_SHL, part, ir_int(module, NUM_DTYPE_U32, 8 * i));
        word = word ? ir_binary(module, IR_BITOR, word, part) : part;
    }
    return lower_tile_let(op, block, "w", word);
}

void lower_tile_unpack(lower_tile *op, ir_stmt *block, const ir_expr *word, num_dtype dtype,
                       const ir_expr **parts) {
    ir_module *module = op->module;
    switch (num_dtype_bits(dtype)) {
    case 32:
        parts[0] = bits_as(op, word, dtype);
        return;
    case 16: { /* a move does not wait for a tcgen05.ld; shifts would */
        const ir_expr *halves =
            lower_tile_result(op, block, "mov.b32 {%0, %1}, $0", half_type(dtype), 2, &word, 1);
        for (unsigned h = 0; h < 2; h++)
            parts[h] = bits_as(op, ir_lane(module, halves, h), dtype);
        return;
    }
    default:
        for (int i = 0; i < 4; i++) {
            const ir_expr *byte = ir_binary(module, IR_SHR, word, ir_int(module, NUM_DTYPE_U32, 8 * i));
            parts[i] = bits_as(op, ir_cast(module, ir_type_prim(NUM_DTYPE_U8, 1), byte), dtype);
        }
    }
}

ir_stmt *lower_tile_block(lower_tile *op) {
    return ir_stmt_create(op->module, IR_STMT_BLOCK, op->span);
}

/* ---- tensor memory ---- */

/* Columns that a start moves which only a run knows; NULL when the axis is not columns alone, or its inner
 * factors would be cut. */
static const ir_expr *moved_columns(lower_tile *op, const layout_iter *iters, uint32_t count,
                                    const ir_expr *start) {
    int64_t inner = 1;
    for (uint32_t i = 0; i < count; i++)
        if (iters[i].axis != LAYOUT_AXIS_TCOL)
            return NULL;
    for (uint32_t i = 1; i < count; i++)
        inner *= iters[i].extent;
    if (count == 0 || !arith_is_multiple(op->context->facts, start, inner))
        return NULL;
    if (iters[0].stride % inner == 0)
        return lower_tile_integer(op, IR_MUL, start, lower_tile_int(op, iters[0].stride / inner));
    return lower_tile_integer(op, IR_MUL,
                              lower_tile_integer(op, IR_FLOORDIV, start, lower_tile_int(op, inner)),
                              lower_tile_int(op, iters[0].stride));
}

/* The region's own layout, its offset taken out: columns that only a run knows are added to *column. */
const char *lower_tile_tmem_part(lower_tile *op, const lower_tile_region *region, lower_tile_tmem *out) {
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
    if (!layout) { /* a lane for each row */
        layout_iter rows[] = {{shape[0], 1, LAYOUT_AXIS_TLANE}, {shape[1], 1, LAYOUT_AXIS_TCOL}};
        layout = layout_make(arena, rows, 2, NULL, 0, NULL, 0, &error);
    }
    if (!layout)
        return base_arena_format(arena, "'%s' needs a layout on TLane and TCol: %s", tensor->name,
                                 error.text);
    const layout_tile *group = layout_group(arena, layout, shape, region->rank, separators, &error);
    const ir_expr *column = NULL;
    for (uint32_t i = 0; i < region->rank; i++) {
        begin[i] = 0;
        if (!arith_is_constant(context->facts, region->start[i], &begin[i])) {
            const ir_expr *moved = group ? moved_columns(op, &group->shard[separators[i]],
                                                         separators[i + 1] - separators[i], region->start[i])
                                         : NULL;
            if (!moved)
                return base_arena_format(
                    arena,
                    "a start of '%s' that only a run knows stands on an axis that is not columns alone",
                    tensor->name);
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
    *out = (lower_tile_tmem){.layout = plain, .bits = bits, .into = first % per};
    if (column && !arith_is_multiple(context->facts, column, per))
        out->into = per; /* anywhere */
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

const char *lower_tile_tmem_region(lower_tile *op, const lower_tile_region *region, lower_tile_tmem *out) {
    const char *reason = lower_tile_tmem_part(op, region, out);
    if (!reason && out->into)
        return base_arena_format(op->context->arena, "the columns of '%s' do not start at a cell of 32 bits",
                                 region->tensor->name);
    return reason;
}

unsigned lower_tile_windows(const layout_tile *layout) {
    enum { WINDOWS = LAYOUT_TMEM_LANES / LAYOUT_WARP_LANES };
    int64_t total = 1;
    unsigned set = 0;
    for (uint32_t i = 0; i < layout->replica_count; i++)
        total *= layout->replica[i].extent <= WINDOWS && total <= WINDOWS ? layout->replica[i].extent : 0;
    for (int64_t n = 0; n < total; n++) {
        int64_t lane = 0, rest = n;
        for (uint32_t i = 0; i < layout->replica_count; i++) {
            if (layout->replica[i].axis != LAYOUT_AXIS_TLANE)
                return 0;
            lane += rest % layout->replica[i].extent * layout->replica[i].stride;
            rest /= layout->replica[i].extent;
        }
        if (lane < 0 || lane % LAYOUT_WARP_LANES || lane >= LAYOUT_TMEM_LANES)
            return 0;
        set |= 1u << lane / LAYOUT_WARP_LANES;
    }
    return set;
}

const ir_expr *lower_tile_cell(lower_tile *op, const ir_expr *address, int64_t offset) {
    return offset ? ir_binary(op->module, IR_ADD, address, ir_int(op->module, NUM_DTYPE_U32, offset))
                  : address;
}

/* ---- matrices in shared memory ---- */

int64_t lower_tile_position(lower_tile *op, const layout_prepared *plain, const int64_t *coordinate) {
    int64_t at[LAYOUT_AXIS_COUNT];
    uint32_t axes;
    layout_error error = {NULL};
    return layout_apply_prepared(plain, coordinate, at, &axes, &error, op->context->arena) ? at[LAYOUT_AXIS_M]
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
    layout_prepared places; /* of plain */
    int64_t shape[LOWER_TILE_AXES], begin[LOWER_TILE_AXES];
    uint32_t row_axis, k_axis;
} probe;

static int64_t bytes_at(const probe *p, int64_t row, int64_t k) {
    int64_t at[LOWER_TILE_AXES];
    for (uint32_t i = 0; i < p->region->rank; i++)
        at[i] = p->begin[i] + (i == p->row_axis ? row : i == p->k_axis ? k : 0);
    return lower_tile_position(p->op, &p->places, at) * num_dtype_bits(p->region->tensor->type.dtype) / 8;
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
    p->places = layout_prepare(arena, plain, p->shape, region->rank);
    return NULL;
}

/* PTX ISA 9.7.16.3.3: bytes from the start, before the swizzle, in the canonical layout of the descriptor. */
static int64_t canonical(const lower_tile_matrix *m, unsigned bits, int64_t row, int64_t k) {
    int64_t width = 16 << m->mode, across = width * 8 / bits, high = m->wide_atoms ? 4 : 8;
    bool plain = m->mode == LAYOUT_MODE_NONE;
    if (!m->mn_major)
        return plain ? row % 8 * 16 + row / 8 * m->stride + k * bits / 8 / 16 * m->leading + k * bits / 8 % 16
                     : row % 8 * width + row / 8 * m->stride + k * bits / 8;
    int64_t along = row / across, down = k / high;
    return row % across * bits / 8 + k % high * width +
           (plain ? along * m->stride + down * m->leading : along * m->leading + down * m->stride);
}

/* Element by element: the layout and the descriptor's own arithmetic. */
static bool look_at_elements(const probe *p, const lower_tile_matrix *m, unsigned bits, int64_t depth) {
    int64_t unit = 128 / bits;
    bool mn = m->mn_major;
    for (int64_t k = 0; k < m->depth; k += depth) {
        int64_t from = bytes_at(p, 0, k);
        for (int64_t row = 0; row < m->rows; row += mn ? unit : 1)
            for (int64_t j = 0; j < depth; j += mn ? 1 : unit) {
                int64_t at = bytes_at(p, row, k + j);
                if (at - from != canonical(m, bits, row, j) ||
                    bytes_at(p, row + (mn ? unit - 1 : 0), k + j + (mn ? 0 : unit - 1)) - at !=
                        16 - (bits + 7) / 8)
                    return false;
            }
    }
    return true;
}

static bool is_canonical(const probe *p, const lower_tile_matrix *m, unsigned bits, int64_t depth) {
    struct {
        const char *what;
        const layout_tile *layout;
        int64_t shape[LOWER_TILE_AXES], begin[LOWER_TILE_AXES];
        int64_t rank, row_axis, k_axis, rows, depth, step, stride, leading, bits, mode, mn_major, wide_atoms;
    } question;
    int64_t answer;
    memset(&question, 0, sizeof question);
    question.what = "canonical";
    question.layout = p->region->tensor->type.layout;
    question.rank = p->region->rank;
    memcpy(question.shape, p->shape, p->region->rank * sizeof *p->shape);
    memcpy(question.begin, p->begin, p->region->rank * sizeof *p->begin);
    question.row_axis = p->row_axis, question.k_axis = p->k_axis;
    question.rows = m->rows, question.depth = m->depth, question.step = depth;
    question.stride = m->stride, question.leading = m->leading, question.bits = bits;
    question.mode = m->mode, question.mn_major = m->mn_major, question.wide_atoms = m->wide_atoms;
    if (!lower_tile_recall(p->op, &question, sizeof question, &answer))
        answer = lower_tile_remember(p->op, &question, sizeof question, look_at_elements(p, m, bits, depth));
    return answer != 0;
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

/* The swizzle as a mode of descriptors; that of 128 bytes may have atoms of 32 bytes instead of 16. */
static bool read_swizzle(lower_tile_matrix *out, unsigned bits) {
    const layout_tile *layout = out->region->tensor->type.layout;
    layout_swizzle z = layout ? layout->swizzle : (layout_swizzle){0}, wanted;
    if (!z.present || z.length == 0)
        return true;
    if (z.outer)
        return false;
    for (int mode = LAYOUT_MODE_32B; mode <= LAYOUT_MODE_128B; mode++)
        if (layout_mode_swizzle((layout_mode)mode, bits, &wanted) && wanted.per_element == z.per_element &&
            wanted.length == z.length && wanted.atom == z.atom) {
            out->mode = (layout_mode)mode;
            return true;
        }
    if (!layout_mode_swizzle(LAYOUT_MODE_128B, bits, &wanted) || z.per_element != wanted.per_element + 1 ||
        z.length != 2 || z.atom != 2)
        return false;
    out->mode = LAYOUT_MODE_128B;
    out->wide_atoms = true;
    return true;
}

/* A start that only a run knows: wherever it may be, the tile there must look as it does at 0, a multiple of
 * `unit` elements away. */
static bool looks_the_same(lower_tile *op, const lower_tile_region *region, const layout_tile *plain,
                           const int64_t *shape, uint32_t axis, int64_t unit) {
    arith_modular known = arith_modular_set(op->context->facts, region->start[axis]);
    int64_t extent = region->size[axis], count = shape[axis], at[LOWER_TILE_AXES] = {0};
    int64_t step = known.modulus > 0 ? known.modulus : 1;
    if (count > SHARED_LIMIT)
        return false;
    layout_prepared prepared = layout_prepare(op->context->arena, plain, shape, region->rank);
    int64_t *places = BASE_NEW_ARRAY(op->context->arena, int64_t, count + 1);
    for (int64_t x = 0; x < count; x++) {
        at[axis] = x;
        places[x] = lower_tile_position(op, &prepared, at);
    }
    for (int64_t s = (known.remainder % step + step) % step; s + extent <= count; s += step)
        for (int64_t x = 0; x < extent; x++)
            if ((places[s] - places[0]) % unit || places[s + x] - places[s] != places[x] - places[0])
                return false;
    return true;
}

const char *lower_tile_starts_alike(lower_tile *op, const lower_tile_region *region, const layout_tile *plain,
                                    const int64_t *shape, int64_t unit) {
    int64_t known;
    for (uint32_t i = 0; i < region->rank; i++)
        if (!arith_is_constant(op->context->facts, region->start[i], &known) &&
            !looks_the_same(op, region, plain, shape, i, unit))
            return base_arena_format(op->context->arena,
                                     "the tile of '%s' is not the same wherever axis %u may start: it must "
                                     "start at a multiple of its extent",
                                     region->tensor->name, i);
    return NULL;
}

static const char *check_starts(lower_tile *op, const probe *p, const lower_tile_matrix *m, unsigned bits) {
    const lower_tile_region *region = m->region;
    int64_t unit = 128 / bits, rows = m->mn_major && unit > 8 ? unit : 8, k = m->mn_major ? 8 : unit;
    if (!arith_is_multiple(op->context->facts, region->start[p->row_axis], rows) ||
        !arith_is_multiple(op->context->facts, region->start[p->k_axis], k))
        return base_arena_format(
            op->context->arena, "the start of '%s' is not certain to be at a unit of %lld rows and %lld of K",
            region->tensor->name, (long long)rows, (long long)k);
    return lower_tile_starts_alike(op, region, p->plain, p->shape, 1);
}

/* With rows or K running along memory, as m->mn_major says. */
static const char *describe(lower_tile *op, const probe *p, int64_t depth, lower_tile_matrix *m) {
    base_arena *arena = op->context->arena;
    const ir_tensor *tensor = m->region->tensor;
    unsigned bits = num_dtype_bits(tensor->type.dtype);
    int64_t width = 16 << m->mode, across = width * 8 / bits, unit = 128 / bits, high = m->wide_atoms ? 4 : 8;
    bool mn = m->mn_major, plain = m->mode == LAYOUT_MODE_NONE;
    if (m->depth % depth || m->rows % 8 || p->begin[p->row_axis] % 8)
        return base_arena_format(arena, "'%s' has %lld rows and K = %lld; they come in steps of 8 and %lld",
                                 tensor->name, (long long)m->rows, (long long)m->depth, (long long)depth);
    if (mn && (m->rows % unit || bits < 8))
        return expected_layout(op, p);
    const char *reason = check_starts(op, p, m, bits);
    if (reason)
        return reason;
    int64_t start = bytes_at(p, 0, 0);
    if (mn) {
        int64_t next_rows = m->rows > across ? bytes_at(p, across, 0) - start : 0;
        int64_t next_k = m->depth > high ? bytes_at(p, 0, high) - start : 0;
        m->leading = plain ? next_k : next_rows;
        m->stride = plain ? next_rows : next_k;
    } else {
        m->stride = m->rows > 8 ? bytes_at(p, 8, 0) - start : 0;
        m->leading = plain ? bytes_at(p, 0, unit) - start : 0;
    }
    if (m->leading < 0 || m->stride < 0 || m->leading % 16 || m->stride % 16 || m->leading >> 18 ||
        m->stride >> 18)
        return expected_layout(op, p);
    if (!is_canonical(p, m, bits, depth))
        return expected_layout(op, p);
    if (mn && bits == 32 && !m->wide_atoms)
        return base_arena_format(
            arena,
            "rows of '%s' run along memory, and of %s the unit reads that only under the "
            "swizzle of 128 bytes with atoms of 32: ComposeLayout(3, 2, 2, tile)",
            tensor->name, num_dtype_name(tensor->type.dtype));
    if (mn && bits != 32 && m->wide_atoms)
        return base_arena_format(arena,
                                 "rows of '%s' run along memory, and of %s the unit does not read that under "
                                 "a swizzle with atoms of 32 bytes",
                                 tensor->name, num_dtype_name(tensor->type.dtype));
    if (!lower_tile_align(op, tensor, plain ? 16 : width * 8))
        return base_arena_format(
            arena, "'%s' is not certain to start at a multiple of %lld bytes, its swizzle's pattern",
            tensor->name, (long long)(plain ? 16 : width * 8));
    return NULL;
}

const char *lower_tile_matrix_of(lower_tile *op, const lower_tile_region *region, bool transposed,
                                 int64_t depth, lower_tile_matrix *out) {
    base_arena *arena = op->context->arena;
    unsigned bits = num_dtype_bits(region->tensor->type.dtype);
    probe p;
    const char *reason = start_probe(op, region, transposed, &p);
    if (reason)
        return reason;
    *out = (lower_tile_matrix){.region = region, .row_axis = p.row_axis, .k_axis = p.k_axis};
    out->rows = region->size[p.row_axis];
    out->depth = region->size[p.k_axis];
    if (out->rows > SHARED_LIMIT || out->depth > SHARED_LIMIT || out->rows * out->depth > SHARED_LIMIT)
        return base_arena_format(arena, "'%s' is larger than shared memory", region->tensor->name);
    if (!read_swizzle(out, bits))
        return expected_layout(op, &p);
    /* what lies along memory is mostly the last axis */
    lower_tile_matrix other = *out;
    out->mn_major = transposed;
    other.mn_major = !transposed;
    reason = describe(op, &p, depth, out);
    if (reason && !describe(op, &p, depth, &other)) {
        *out = other;
        return NULL;
    }
    return reason;
}

const ir_expr *lower_tile_descriptor_at(lower_tile *op, const ir_expr *address, int64_t leading,
                                        int64_t stride, uint64_t swizzle) {
    ir_module *module = op->module;
    uint64_t fields =
        (uint64_t)leading >> 4 << 16 | (uint64_t)stride >> 4 << 32 | UINT64_C(1) << 46 | swizzle << 61;
    ir_type wide = ir_type_prim(NUM_DTYPE_U64, 1);
    address = ir_binary(module, IR_BITAND, address, ir_int(module, NUM_DTYPE_U32, 0x3ffff));
    address = ir_binary(module, IR_SHR, address, ir_int(module, NUM_DTYPE_U32, 4));
    return ir_binary(module, IR_BITOR, ir_cast(module, wide, address),
                     ir_int(module, NUM_DTYPE_U64, (int64_t)fields));
}

const ir_expr *lower_tile_descriptor(lower_tile *op, const lower_tile_matrix *m, int64_t row, int64_t k) {
    static const uint64_t codes[] = {0, 6, 4, 2};
    const ir_expr *indices[LOWER_TILE_AXES];
    for (uint32_t i = 0; i < m->region->rank; i++) {
        int64_t moved = i == m->row_axis ? row : i == m->k_axis ? k : 0;
        indices[i] = moved ? lower_tile_integer(op, IR_ADD, m->region->start[i], lower_tile_int(op, moved))
                           : m->region->start[i];
    }
    const ir_expr *address =
        lower_tile_shared(op, ir_address(op->module, m->region->tensor, indices, m->region->rank));
    return lower_tile_descriptor_at(op, address, m->leading, m->stride, m->wide_atoms ? 1 : codes[m->mode]);
}
