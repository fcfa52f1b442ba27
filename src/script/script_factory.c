/* SPDX-License-Identifier: Apache-2.0
 * Layouts that are not written out: swizzles, and those that hardware prescribes for shared operands, tensor
 * memory and register fragments. The facts are layout/'s; here words become calls of it. */
#include "layout/fragment.h"
#include "layout/shared.h"
#include "layout/tmem.h"
#include "script/script_evaluate.h"
#include <string.h>

enum { MAX_RANK = 16 };

/* ---- arguments ---- */

static bool integer_argument(script_evaluator *e, const script_call *call, const char *name, int64_t missing,
                             int64_t *value) {
    const script_value *v = script_argument_of(call, name);
    *value = missing;
    return !v || script_constant_int(e, *v, value, script_argument_span(call, name), name);
}

/* A count of bits of a swizzle, or another small number. */
static bool small_argument(script_evaluator *e, const script_call *call, const char *name, int64_t most,
                           int64_t missing, int *value) {
    int64_t wide;
    if (!integer_argument(e, call, name, missing, &wide))
        return false;
    if (wide < 0 || wide > most) {
        script_error(e, "T0214", script_argument_span(call, name), "%s of %s is from 0 to %lld, not %lld",
                     name, call->word->path, (long long)most, (long long)wide);
        return false;
    }
    *value = (int)wide;
    return true;
}

static bool flag_argument(script_evaluator *e, const script_call *call, const char *name, bool missing,
                          bool *value) {
    const script_value *v = script_argument_of(call, name);
    *value = missing;
    return !v || script_constant_bool(e, *v, value, script_argument_span(call, name), name);
}

static bool shape_argument(script_evaluator *e, const script_call *call, const char *name, int64_t *shape,
                           uint32_t *rank) {
    const script_value *v = script_argument_of(call, name);
    base_span span = script_argument_span(call, name);
    *rank = 0;
    if (!v)
        return true;
    script_value single = *v;
    const script_value *items = &single;
    size_t count = 1;
    if (v->kind == SCRIPT_VALUE_TUPLE || v->kind == SCRIPT_VALUE_LIST) {
        items = v->as.list->items.items;
        count = v->as.list->items.count;
    }
    if (count == 0 || count > MAX_RANK) {
        script_error(e, "T0211", span, "a shape of %zu axes; 1 to %d are possible", count, MAX_RANK);
        return false;
    }
    for (; *rank < count; ++*rank)
        if (!script_constant_int(e, items[*rank], &shape[*rank], span, "an extent"))
            return false;
    return true;
}

static bool bits_argument(script_evaluator *e, const script_call *call, unsigned *bits) {
    const script_value *v = script_argument_of(call, "dtype");
    base_span span = script_argument_span(call, "dtype");
    ir_type type;
    if (!v || !script_to_dtype(e, *v, &type, span))
        return false;
    if (type.lanes != 1) {
        script_error(e, "T0230", span, "the elements of an operand are scalars, not %s",
                     script_type_name(e, type));
        return false;
    }
    *bits = num_dtype_bits((num_dtype)type.dtype);
    return true;
}

/* "auto", "none", "128B"; a member of SwizzleMode, which is the number of bits that flip. */
bool script_layout_mode(script_evaluator *e, const script_call *call, layout_mode *mode) {
    const script_value *v = script_argument_of(call, "swizzle_mode");
    base_span span = script_argument_span(call, "swizzle_mode");
    int64_t number;
    *mode = LAYOUT_MODE_AUTO;
    if (!v)
        return true;
    if (script_value_integer(*v, &number) && number >= 0 && number <= LAYOUT_MODE_128B) {
        *mode = (layout_mode)number;
        return true;
    }
    if (v->kind == SCRIPT_VALUE_STRING && layout_mode_find(v->as.string.text, v->as.string.size, mode))
        return true;
    base_builder text;
    base_builder_start(&text, e->arena);
    if (!script_value_text(e, *v, true, &text))
        base_builder_string(&text, script_value_name(e->arena, *v));
    base_diagnostic *d = script_error(e, "T0205", span, "%s is no swizzle mode", text.data);
    base_help(e->diagnostics, d,
              "\"auto\", \"none\", \"32B\", \"64B\", \"128B\", or SwizzleMode.SWIZZLE_128B_ATOM");
    return false;
}

static script_value give(script_evaluator *e, const script_call *call, const layout_tile *layout,
                         const layout_error *error) {
    if (layout)
        return (script_value){.kind = SCRIPT_VALUE_LAYOUT, .as.layout = layout};
    script_error(e, "T0214", call->span, "%s gives no layout: %s", call->word->path,
                 error->text ? error->text : "its numbers are too large");
    return script_poison();
}

/* ---- swizzles ---- */

static bool swizzle_arguments(script_evaluator *e, const script_call *call, layout_swizzle *swizzle) {
    int per_element, length, atom;
    bool inner;
    if (!small_argument(e, call, "per_element", 40, 0, &per_element) ||
        !small_argument(e, call, "swizzle_len", 40, 0, &length) ||
        !small_argument(e, call, "atom_len", 40, 0, &atom) ||
        !flag_argument(e, call, "swizzle_inner", true, &inner))
        return false;
    *swizzle = (layout_swizzle){true, !inner, (uint8_t)per_element, (uint8_t)length, (uint8_t)atom};
    return true;
}

/* SwizzleLayout names no domain: flag says that it takes that of the tensor it is given to. */
script_value script_word_swizzle_layout(script_evaluator *e, const script_call *call) {
    layout_swizzle swizzle;
    layout_error error = {NULL};
    if (!swizzle_arguments(e, call, &swizzle))
        return script_poison();
    script_value v = give(e, call, layout_compose(e->arena, NULL, swizzle, &error), &error);
    v.flag = true;
    return v;
}

/* ComposeLayout(3, 3, 3, tile), and the older ComposeLayout(SwizzleLayout(3, 3, 3), tile). */
script_value script_word_compose_layout(script_evaluator *e, const script_call *call) {
    layout_swizzle swizzle;
    const layout_tile *tile;
    layout_error error = {NULL};
    script_value first = call->value[0];
    const script_value *over = script_argument_of(call, "tile_layout");
    const char *over_name = "tile_layout";
    if (first.kind == SCRIPT_VALUE_LAYOUT) {
        if (!first.as.layout->swizzle.present) {
            script_error(e, "T0205", call->place[0], "ComposeLayout begins with a swizzle, not with %s",
                         layout_text_of(e->arena, first.as.layout));
            return script_poison();
        }
        swizzle = first.as.layout->swizzle;
        over_name = over ? over_name : "swizzle_len";
        over = script_argument_of(call, over_name);
    } else if (!swizzle_arguments(e, call, &swizzle))
        return script_poison();
    if (!over || !script_argument_of(call, "swizzle_len")) {
        base_diagnostic *d =
            script_error(e, "T0203", call->span, "ComposeLayout needs its swizzle and the layout below it");
        base_help(e->diagnostics, d, "ComposeLayout(3, 3, 3, TileLayout(S[(8, 64) : (64, 1)]))");
        return script_poison();
    }
    if (!script_to_layout(e, *over, &tile, script_argument_span(call, over_name)))
        return script_poison();
    if (!tile) {
        script_error(e, "T0205", script_argument_span(call, over_name),
                     "the layout below a swizzle is written out: TileLayout(S[...])");
        return script_poison();
    }
    return give(e, call, layout_compose(e->arena, tile, swizzle, &error), &error);
}

script_value script_word_swizzle_mode(script_evaluator *e, const script_call *call) {
    (void)e;
    return script_int(call->word->data);
}

/* ---- operands in shared memory ---- */

script_value script_word_mma_shared(script_evaluator *e, const script_call *call) {
    unsigned bits;
    layout_mode mode;
    int64_t shape[MAX_RANK];
    uint32_t rank;
    layout_error error = {NULL};
    if (!bits_argument(e, call, &bits) || !script_layout_mode(e, call, &mode) ||
        !shape_argument(e, call, "shape", shape, &rank))
        return script_poison();
    return give(e, call, layout_mma_shared(e->arena, mode, bits, shape, rank, &error), &error);
}

/* One period of the swizzle, and its shape: 8 rows of the mode's width. */
script_value script_word_mma_atom(script_evaluator *e, const script_call *call) {
    unsigned bits;
    layout_mode mode;
    layout_swizzle swizzle;
    layout_error error = {NULL};
    bool wants_shape = call->word->data == 1;
    int64_t shape[MAX_RANK];
    uint32_t rank = 2;
    if (!bits_argument(e, call, &bits) || !script_layout_mode(e, call, &mode) ||
        (script_argument_of(call, "shape") && !shape_argument(e, call, "shape", shape, &rank)))
        return script_poison();
    int64_t columns = layout_atom_columns(mode, bits);
    if (mode == LAYOUT_MODE_AUTO || (wants_shape && columns == 0) || rank < 2 ||
        !layout_mode_swizzle(mode, bits, &swizzle)) {
        script_error(e, "T0214", call->span, "no swizzle atom of mode %s for elements of %u bits in %u axes",
                     layout_mode_name(mode), bits, rank);
        return script_poison();
    }
    if (!wants_shape)
        return give(e, call, layout_compose(e->arena, NULL, swizzle, &error), &error);
    script_value list = script_list_make(e->arena, SCRIPT_VALUE_LIST);
    for (uint32_t i = 0; i + 2 < rank; i++)
        script_list_add(e->arena, list, script_int(1));
    script_list_add(e->arena, list, script_int(8));
    script_list_add(e->arena, list, script_int(columns));
    return list;
}

/* ---- tensor memory ---- */

script_value script_word_tmem_datapath(script_evaluator *e, const script_call *call) {
    const char *letter;
    int64_t rows, columns;
    int slab;
    layout_error error = {NULL};
    if (!script_constant_string(e, call->value[0], &letter, call->place[0], "a datapath") ||
        !integer_argument(e, call, "rows", 0, &rows) || !integer_argument(e, call, "cols", 0, &columns) ||
        !small_argument(e, call, "sub_slab", 1, 0, &slab))
        return script_poison();
    if (strlen(letter) != 1) {
        script_error(e, "T0214", call->place[0], "there is no datapath '%.20s'; datapaths are A to G",
                     letter);
        return script_poison();
    }
    return give(e, call, layout_tmem_datapath(e->arena, letter[0], rows, columns, slab, &error), &error);
}

script_value script_word_tmem_operand(script_evaluator *e, const script_call *call) {
    const char *operand;
    int64_t shape[MAX_RANK], group[MAX_RANK];
    uint32_t rank, groups;
    unsigned bits;
    int m, cta_group;
    layout_error error = {NULL};
    layout_tmem_mma mma = {0};
    if (!script_constant_string(e, call->value[0], &operand, call->place[0], "an operand") ||
        !shape_argument(e, call, "shape", shape, &rank) || !bits_argument(e, call, &bits) ||
        !small_argument(e, call, "M", 1 << 20, 0, &m) ||
        !small_argument(e, call, "cta_group", 2, 0, &cta_group) ||
        !flag_argument(e, call, "ws", false, &mma.ws) ||
        !flag_argument(e, call, "sparse", false, &mma.sparse) ||
        !shape_argument(e, call, "group", group, &groups))
        return script_poison();
    if (groups != 0 && groups != 3) {
        script_error(e, "T0211", script_argument_span(call, "group"),
                     "group has three factors (s, 2, n) of the columns, not %u", groups);
        return script_poison();
    }
    mma.operand = strlen(operand) == 1 ? operand[0] : '?';
    mma.m = m;
    mma.cta_group = cta_group;
    mma.group = groups ? group : NULL;
    mma.bits = bits;
    return give(e, call, layout_tmem_operand(e->arena, &mma, shape, rank, &error), &error);
}

/* Leading stages and a trailing repetition around a layout: the extra digits of sf_smem_layout. */
static const layout_tile *staged(script_evaluator *e, const layout_tile *inner, int64_t stages, int64_t reuse,
                                 layout_error *error) {
    int64_t size;
    layout_iter *iters = BASE_NEW_ARRAY(e->arena, layout_iter, inner->shard_count + 2);
    uint32_t count = 0;
    if (!layout_size(inner, &size))
        return NULL;
    if (stages > 0)
        iters[count++] = (layout_iter){stages, size, LAYOUT_AXIS_M};
    memcpy(iters + count, inner->shard, inner->shard_count * sizeof(*iters));
    count += inner->shard_count;
    if (reuse > 1)
        iters[count++] = (layout_iter){reuse, 0, LAYOUT_AXIS_M};
    return layout_make(e->arena, iters, count, NULL, 0, NULL, 0, error);
}

script_value script_word_scale_factors(script_evaluator *e, const script_call *call) {
    int64_t rows, factors, per, reuse, stages;
    layout_error error = {NULL};
    if (!integer_argument(e, call, "rows", 0, &rows) || !integer_argument(e, call, "SF_K", 0, &factors) ||
        !integer_argument(e, call, "sf_per_mma", 0, &per) ||
        !integer_argument(e, call, "sf_reuse", 1, &reuse) ||
        !integer_argument(e, call, "pipe_depth", 0, &stages))
        return script_poison();
    if (call->word->data == 0)
        return give(e, call, layout_tmem_scale_factors(e->arena, rows, factors, per, reuse, stages, &error),
                    &error);
    if ((per != 1 && per != 2 && per != 4) || reuse < 1 || stages < 0) {
        script_error(e, "T0214", call->span,
                     "sf_per_mma %lld, sf_reuse %lld, pipe_depth %lld: the first is 1, 2 or 4, the second at "
                     "least 1, the third at least 0",
                     (long long)per, (long long)reuse, (long long)stages);
        return script_poison();
    }
    const layout_tile *inner = layout_shared_scale_factors(e->arena, rows, factors, &error);
    if (inner && (stages > 0 || reuse > 1))
        inner = staged(e, inner, stages, reuse, &error);
    return give(e, call, inner, &error);
}

script_value script_word_tmem_copy(script_evaluator *e, const script_call *call) {
    const char *shape, *multicast = "";
    const script_value *v = script_argument_of(call, "multicast");
    int64_t columns;
    layout_error error = {NULL};
    if (!script_constant_string(e, call->value[0], &shape, call->place[0], "a shape of tcgen05.cp") ||
        !integer_argument(e, call, "cols", 0, &columns) ||
        (v && !script_constant_string(e, *v, &multicast, script_argument_span(call, "multicast"),
                                      "a multicast of tcgen05.cp")))
        return script_poison();
    return give(e, call, layout_tmem_copy(e->arena, shape, multicast, columns, &error), &error);
}

/* ---- registers ---- */

script_value script_word_wg_local(script_evaluator *e, const script_call *call) {
    int64_t rows, columns;
    layout_error error = {NULL};
    if (!integer_argument(e, call, "cols", 0, &columns) || !integer_argument(e, call, "rows", 128, &rows))
        return script_poison();
    return give(e, call, layout_wg_local(e->arena, rows, columns, &error), &error);
}

script_value script_word_tcgen05_atom(script_evaluator *e, const script_call *call) {
    const char *name;
    int64_t shape[MAX_RANK];
    uint32_t rank;
    unsigned bits;
    layout_movement movement;
    layout_error error = {NULL};
    if (!script_constant_string(e, call->value[0], &name, call->place[0], "a shape of tcgen05.ld") ||
        !shape_argument(e, call, "tensor_shape", shape, &rank) || !bits_argument(e, call, &bits))
        return script_poison();
    if (!layout_movement_find(name[0] == '.' ? name + 1 : name, strlen(name) - (name[0] == '.'), &movement)) {
        base_diagnostic *d =
            script_error(e, "T0214", call->place[0], "tcgen05.ld and st have no shape '%.40s'", name);
        base_help(e->diagnostics, d, "32x32b, 16x64b, 16x128b or 16x256b");
        return script_poison();
    }
    if (rank != 2) {
        script_error(e, "T0211", script_argument_span(call, "tensor_shape"),
                     "a fragment has two axes (rows, columns), not %u", rank);
        return script_poison();
    }
    return give(e, call, layout_tcgen05_atom(e->arena, movement, shape[0], shape[1], bits, &error), &error);
}

/* fragment_layout("mma.m16n8k16.f16.A"): the names of `tirc fragment`. */
script_value script_word_fragment(script_evaluator *e, const script_call *call) {
    const char *name;
    layout_error error = {NULL};
    layout_fragment_request request;
    if (!script_constant_string(e, call->value[0], &name, call->place[0], "a fragment"))
        return script_poison();
    if (!layout_fragment_parse(e->arena, name, strlen(name), false, 0, &request, &error))
        request.tile = NULL;
    return give(e, call, request.tile, &error);
}
