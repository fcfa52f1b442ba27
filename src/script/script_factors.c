/* SPDX-License-Identifier: Apache-2.0
 * A.tile(dim, factors)[picks]: an axis split into factors, some of them picked, the others one axis again.
 * A.chunk(spec)[picks]: axes cut into equal blocks, a block of each as a region. A.access_ptr(mask): the
 * legacy pointer to the start. */
#include "script/script_part.h"
#include <string.h>

/* What tile(...) and chunk(...) know before their [picks]. */
struct script_indexer {
    const script_dialect_word *word;
    script_value subject;
    base_span span;
    /* tile: the factors of each axis, 0 when it is not split; chunk: one number of blocks, 0 for none */
    uint32_t count[SCRIPT_PART_RANK];
    int64_t factors[SCRIPT_PART_RANK][SCRIPT_PART_FACTORS];
    uint32_t order[SCRIPT_PART_RANK], axes; /* as the caller named them */
};

static script_value indexer_value(script_indexer *indexer) {
    return (script_value){.kind = SCRIPT_VALUE_INDEXER, .as.indexer = indexer};
}

static script_indexer *indexer(script_evaluator *e, const script_call *call) {
    script_indexer *made = BASE_NEW(e->arena, script_indexer);
    memset(made, 0, sizeof(*made));
    made->word = call->word;
    made->subject = call->receiver;
    made->span = call->span;
    if (script_part_face(call->receiver)->type.rank <= SCRIPT_PART_RANK)
        return made;
    script_error(e, "T0211", call->span, "'%s' has over %d axes", script_part_face(call->receiver)->name,
                 SCRIPT_PART_RANK);
    return NULL;
}

/* ---- tile ---- */

/* One -1 stands for what the other factors leave. */
static bool read_factors(script_evaluator *e, script_indexer *to, uint32_t axis, script_value list,
                         base_span span) {
    const ir_tensor *face = script_part_face(to->subject);
    int64_t known = 1, extent, open = -1;
    bool listed = list.kind == SCRIPT_VALUE_TUPLE || list.kind == SCRIPT_VALUE_LIST;
    size_t count = listed ? list.as.list->items.count : 0;
    if (count == 0 || count > SCRIPT_PART_FACTORS) {
        base_diagnostic *d =
            script_error(e, "T0274", span, "the factors of axis %u of '%s' are a tuple of 1 to %d", axis,
                         face->name, SCRIPT_PART_FACTORS);
        base_help(e->diagnostics, d, "%s.tile(%u, (4, -1))[i, :]", face->name, axis);
        return false;
    }
    for (size_t k = 0; k < count; k++) {
        int64_t f;
        if (!script_constant_int(e, list.as.list->items.items[k], &f, span, "a factor"))
            return false;
        if (f < 1 && !(f == -1 && open < 0)) {
            script_error(e, "T0274", span, "factor %zu of axis %u of '%s' is %lld: factors are positive%s", k,
                         axis, face->name, (long long)f, f == -1 ? ", and one -1 is inferred" : "");
            return false;
        }
        if (f == -1)
            open = (int64_t)k;
        else if (__builtin_mul_overflow(known, f, &known))
            known = INT64_MAX;
        to->factors[axis][k] = f;
    }
    if (!ir_is_int(face->type.shape[axis], &extent)) {
        script_error(e, "T0210", span,
                     "axis %u of '%s' has an extent of the launch: it has no constant factors", axis,
                     face->name);
        return false;
    }
    if (open >= 0 ? extent % known != 0 : extent != known) {
        script_error(e, "T0274", span, "axis %u of '%s' has %lld elements, the factors make %s%lld", axis,
                     face->name, (long long)extent, open >= 0 ? "multiples of " : "", (long long)known);
        return false;
    }
    if (open >= 0)
        to->factors[axis][open] = extent / known;
    to->count[axis] = (uint32_t)count;
    return true;
}

static bool read_spec(script_evaluator *e, script_indexer *to, script_value dim, script_value factors,
                      base_span span) {
    const ir_tensor *face = script_part_face(to->subject);
    int64_t axis, rank = face->type.rank;
    if (!script_constant_int(e, dim, &axis, span, "an axis number"))
        return false;
    if (axis < -rank || axis >= rank) {
        script_error(e, "T0211", span, "'%s' has %lld axes; there is no axis %lld", face->name,
                     (long long)rank, (long long)axis);
        return false;
    }
    axis += axis < 0 ? rank : 0;
    if (to->count[axis]) {
        script_error(e, "T0274", span, "axis %lld of '%s' is split twice", (long long)axis, face->name);
        return false;
    }
    if (!read_factors(e, to, (uint32_t)axis, factors, span))
        return false;
    to->order[to->axes++] = (uint32_t)axis;
    return true;
}

/* tile(dim, factors), or several pairs (dim, factors). */
script_value script_word_tensor_tile(script_evaluator *e, const script_call *call) {
    script_indexer *made = indexer(e, call);
    const script_argument *items = call->rest.items.items;
    size_t count = call->rest.items.count;
    int64_t number;
    if (!made)
        return script_poison();
    if (count == 2 && script_value_integer(items[0].value, &number))
        return read_spec(e, made, items[0].value, items[1].value, items[0].span) ? indexer_value(made)
                                                                                 : script_poison();
    for (size_t i = 0; i < count; i++) {
        script_value spec = items[i].value;
        bool pair = (spec.kind == SCRIPT_VALUE_TUPLE || spec.kind == SCRIPT_VALUE_LIST) &&
                    spec.as.list->items.count == 2;
        if (pair &&
            read_spec(e, made, spec.as.list->items.items[0], spec.as.list->items.items[1], items[i].span))
            continue;
        if (!pair)
            script_error(e, "T0274", items[i].span,
                         "tile takes an axis and its factors, or pairs of them, not %s",
                         script_value_name(e->arena, spec));
        return script_poison();
    }
    if (count > 0)
        return indexer_value(made);
    script_error(e, "T0203", call->span, "tile needs an axis and its factors");
    return script_poison();
}

static bool is_whole(script_value pick) {
    if (pick.kind != SCRIPT_VALUE_SLICE)
        return false;
    for (int i = 0; i < 3; i++)
        if (pick.as.list->items.items[i].kind != SCRIPT_VALUE_NONE)
            return false;
    return true;
}

/* A picked factor: a number inside it, or a value of the kernel. */
static bool read_pick(script_evaluator *e, script_value pick, const char *what, int64_t extent, uint32_t axis,
                      const ir_tensor *face, base_span span, const ir_expr **begin, int64_t *first) {
    *begin = NULL;
    if (!script_value_integer(pick, first)) {
        if (!(*begin = script_to_index(e, pick, span, what)))
            return false;
        if (!script_expr_constant(e, *begin, first))
            return true;
        *begin = NULL;
    }
    if (*first >= 0 && *first < extent)
        return true;
    script_error(e, "T0274", span, "%s %lld of axis %u of '%s' is outside of [0, %lld)", what,
                 (long long)*first, axis, face->name, (long long)extent);
    return false;
}

static bool read_tile_axis(script_evaluator *e, const script_indexer *from, uint32_t axis,
                           const script_value *picks, base_span span, script_part *part) {
    const ir_tensor *face = script_part_face(from->subject);
    uint32_t kept = 0;
    *part = (script_part){.count = from->count[axis]};
    for (uint32_t k = 0; k < part->count; k++) {
        script_piece *p = &part->pieces[k];
        p->split = from->factors[axis][k];
        if (is_whole(picks[k])) {
            p->extent =
                ir_int(e->module, p->split == (int32_t)p->split ? NUM_DTYPE_I32 : NUM_DTYPE_I64, p->split);
            kept++;
            continue;
        }
        if (picks[k].kind == SCRIPT_VALUE_SLICE) {
            script_error(e, "T0274", span,
                         "factor %u of axis %u of '%s' is picked by an index or kept whole by ':'", k, axis,
                         face->name);
            return false;
        }
        if (!read_pick(e, picks[k], "the pick", p->split, axis, face, span, &p->begin, &p->first))
            return false;
    }
    if (kept < part->count)
        return true;
    base_diagnostic *d =
        script_error(e, "T0274", span, "no factor of axis %u of '%s' is picked", axis, face->name);
    base_help(e->diagnostics, d, "view(...) only reshapes");
    return false;
}

static script_value tile_item(script_evaluator *e, const script_indexer *from, const script_value *picks,
                              size_t count, base_span span) {
    const ir_tensor *face = script_part_face(from->subject);
    script_part parts[SCRIPT_PART_RANK];
    uint32_t total = 0, at = 0, digits = face->type.rank;
    int64_t extent;
    for (uint32_t i = 0; i < face->type.rank; i++) {
        total += from->count[i];
        digits += from->count[i];
        bool constant = ir_is_int(face->type.shape[i], &extent);
        parts[i] = (script_part){1, {{constant ? extent : 0, NULL, 0, face->type.shape[i]}}};
    }
    if (count != total || digits > SCRIPT_PART_DIGITS) {
        script_error(e, "T0211", span, "%zu picks for %u factors of '%s': one for each, ':' keeps", count,
                     total, face->name);
        return script_poison();
    }
    for (uint32_t i = 0; i < from->axes; at += from->count[from->order[i++]])
        if (!read_tile_axis(e, from, from->order[i], picks + at, span, &parts[from->order[i]]))
            return script_poison();
    return script_take_parts(e, from->subject, parts, span);
}

/* ---- chunk ---- */

script_value script_word_tensor_chunk(script_evaluator *e, const script_call *call) {
    script_indexer *made = indexer(e, call);
    script_value spec = call->value[0];
    const ir_tensor *face = script_part_face(call->receiver);
    if (!made)
        return script_poison();
    bool listed = spec.kind == SCRIPT_VALUE_TUPLE || spec.kind == SCRIPT_VALUE_LIST;
    size_t count = listed ? spec.as.list->items.count : 1;
    if (count != face->type.rank) {
        script_error(e, "T0211", call->place[0], "chunk has %zu entries, '%s' has %u axes", count, face->name,
                     face->type.rank);
        return script_poison();
    }
    for (uint32_t i = 0; i < count; i++) {
        script_value item = listed ? spec.as.list->items.items[i] : spec;
        int64_t n, extent;
        if (item.kind == SCRIPT_VALUE_NONE)
            continue;
        if (!script_constant_int(e, item, &n, call->place[0], "a number of chunks"))
            return script_poison();
        bool constant = ir_is_int(face->type.shape[i], &extent);
        if (n < 1 || (constant ? extent % n != 0 : !script_is_multiple(e, face->type.shape[i], n))) {
            base_builder text;
            base_builder_start(&text, e->arena);
            ir_expr_print(face->type.shape[i], &text);
            script_error(e, "T0274", call->place[0], "axis %u of '%s' has %s elements: no %lld equal chunks",
                         i, face->name, text.data, (long long)n);
            return script_poison();
        }
        made->count[i] = 1;
        made->factors[i][0] = n;
    }
    return indexer_value(made);
}

/* The same region as the slice written out: [c * size : (c + 1) * size]. */
static script_value chunk_item(script_evaluator *e, const script_indexer *from, const script_value *picks,
                               size_t count, base_span span) {
    const ir_tensor *face = script_part_face(from->subject);
    script_value index = script_list_make(e->arena, SCRIPT_VALUE_TUPLE);
    if (count > face->type.rank) {
        script_error(e, "T0211", span, "%zu picks for the %u axes of '%s'", count, face->type.rank,
                     face->name);
        return script_poison();
    }
    for (uint32_t i = 0; i < face->type.rank; i++) {
        const ir_expr *begin, *extent = face->type.shape[i];
        int64_t first;
        script_value none = script_none(), whole = script_list_make(e->arena, SCRIPT_VALUE_SLICE);
        for (int k = 0; k < 3; k++)
            script_list_add(e->arena, whole, none);
        if (i >= count || from->count[i] == 0) {
            if (i >= count && from->count[i]) {
                script_error(e, "T0211", span, "no chunk of axis %u of '%s' is picked", i, face->name);
                return script_poison();
            }
            script_list_add(e->arena, index, i < count ? picks[i] : whole);
            continue;
        }
        if (picks[i].kind == SCRIPT_VALUE_SLICE) {
            script_error(e, "T0274", span,
                         "axis %u of '%s' is cut into chunks: its pick is the number of one", i, face->name);
            return script_poison();
        }
        if (!read_pick(e, picks[i], "chunk", from->factors[i][0], i, face, span, &begin, &first))
            return script_poison();
        script_value pick = begin ? script_expr(begin) : script_int(first);
        script_value size =
            script_binary(e, SCRIPT_OP_FLOORDIV, script_expr(extent), script_int(from->factors[i][0]), span);
        int64_t constant;
        if (size.kind == SCRIPT_VALUE_EXPR && ir_is_int(size.as.expr, &constant))
            size = script_int(constant);
        script_value start = script_binary(e, SCRIPT_OP_MUL, pick, size, span);
        script_value slice = script_list_make(e->arena, SCRIPT_VALUE_SLICE);
        script_list_add(e->arena, slice, start);
        script_list_add(e->arena, slice, script_binary(e, SCRIPT_OP_ADD, start, size, span));
        script_list_add(e->arena, slice, none);
        script_list_add(e->arena, index, slice);
    }
    return script_get_item(e, from->subject, index, span, span);
}

script_value script_indexer_item(script_evaluator *e, script_value indexer_given, script_value picks,
                                 base_span span) {
    const script_indexer *from = indexer_given.as.indexer;
    script_value single = picks;
    bool many = picks.kind == SCRIPT_VALUE_TUPLE || picks.kind == SCRIPT_VALUE_LIST;
    const script_value *items = many ? picks.as.list->items.items : &single;
    size_t count = many ? picks.as.list->items.count : 1;
    return strcmp(from->word->path + strlen(from->word->path) - strlen("tile"), "tile") == 0
               ? tile_item(e, from, items, count, span)
               : chunk_item(e, from, items, count, span);
}

/* ---- access_ptr ---- */

/* "r", "w", "rw", or 1, 2, 3: checked and of no effect, as pointers of the IR do not say it. */
static bool read_mask(script_evaluator *e, script_value v, base_span span) {
    int64_t mask = 0;
    bool good = script_value_integer(v, &mask);
    if (v.kind == SCRIPT_VALUE_STRING) {
        good = v.as.string.size > 0;
        for (size_t i = 0; i < v.as.string.size; i++) {
            good = good && (v.as.string.text[i] == 'r' || v.as.string.text[i] == 'w');
            mask |= v.as.string.text[i] == 'w' ? 2 : 1;
        }
    }
    if (good && mask >= 1 && mask <= 3)
        return true;
    base_diagnostic *d =
        script_error(e, "T0205", span, "an access is \"r\", \"w\" or \"rw\", or 1, 2 or 3 as bits");
    base_help(e->diagnostics, d, "A.ptr_to([...]) is the pointer of the newer dialects");
    return false;
}

/* The pointer to the origin, offset elements of content_lanes on. */
script_value script_word_tensor_access_ptr(script_evaluator *e, const script_call *call) {
    ir_tensor *tensor = call->receiver.as.tensor;
    const script_value *lanes_value = script_argument_of(call, "content_lanes"),
                       *offset = script_argument_of(call, "offset"),
                       *type_value = script_argument_of(call, "ptr_type"),
                       *extent = script_argument_of(call, "extent");
    int64_t lanes = 1, origin = 0;
    ir_type element = ir_type_prim(NUM_DTYPE_NONE, 1);
    const layout_tile *layout = tensor->type.layout;
    if (!read_mask(e, call->value[0], call->place[0]) ||
        (lanes_value && !script_constant_int(e, *lanes_value, &lanes,
                                             script_argument_span(call, "content_lanes"), "content_lanes")) ||
        (extent && !script_to_index(e, *extent, script_argument_span(call, "extent"), "an extent")))
        return script_poison();
    if (type_value && type_value->kind == SCRIPT_VALUE_TYPE && type_value->as.type.kind == IR_TYPE_POINTER)
        element = ir_type_prim((num_dtype)type_value->as.type.dtype, type_value->as.type.lanes);
    else if (type_value &&
             !(type_value->kind == SCRIPT_VALUE_STRING &&
               strcmp(type_value->as.string.text, "handle") == 0) &&
             !script_to_dtype(e, *type_value, &element, script_argument_span(call, "ptr_type")))
        return script_poison();
    if (lanes < 1 || lanes > 64) {
        script_error(e, "T0234", script_argument_span(call, "content_lanes"),
                     "content_lanes is %lld: 1 to 64", (long long)lanes);
        return script_poison();
    }
    if (tensor->type.scope == IR_SCOPE_TMEM || (layout && layout_has_thread_axis(layout))) {
        script_error(e, "T0217", call->span, "'%s' is no plain array: it has no pointer to its start",
                     tensor->name);
        return script_poison();
    }
    if (layout)
        origin = layout->swizzle.present
                     ? layout_swizzle_apply(layout->swizzle, layout->offset[LAYOUT_AXIS_M])
                     : layout->offset[LAYOUT_AXIS_M];
    int64_t bits = (int64_t)num_dtype_bits(tensor->type.dtype) * tensor->type.lanes;
    script_value steps = offset ? *offset : script_int(0);
    steps = script_binary(
        e, SCRIPT_OP_ADD, script_binary(e, SCRIPT_OP_MUL, steps, script_int(lanes), call->span),
        tensor->type.origin ? script_expr(tensor->type.origin) : script_int(origin), call->span);
    if (bits % 8 != 0 &&
        !(script_value_integer(steps, &origin)
              ? origin * bits % 8 == 0
              : steps.kind == SCRIPT_VALUE_EXPR && script_is_multiple(e, steps.as.expr, 8 / bits))) {
        script_error(
            e, "T0213", call->span,
            "element offset of '%s': a pointer starts at a byte, so at a multiple of %lld elements of %s",
            tensor->name, (long long)(8 / bits), num_dtype_name(tensor->type.dtype));
        return script_poison();
    }
    steps = bits % 8 == 0 ? script_binary(e, SCRIPT_OP_MUL, steps, script_int(bits / 8), call->span)
                          : script_binary(e, SCRIPT_OP_FLOORDIV, steps, script_int(8 / bits), call->span);
    const ir_expr *bytes = script_to_index(e, steps, call->span, "an offset"), *pointer;
    if (!bytes)
        return script_poison();
    const ir_expr *args[2] = {ir_data(e->module, tensor), bytes};
    pointer = ir_make(e->module, IR_POINTER_OFFSET,
                      ir_type_pointer((num_dtype)element.dtype, element.lanes, tensor->type.scope), args, 2);
    return script_expr(pointer);
}

/* ---- regions ---- */

static script_value index_value(const ir_expr *x) {
    int64_t constant;
    return ir_is_int(x, &constant) ? script_int(constant) : script_expr(x);
}

/* region.source, and region.region: a range (min, extent) for each axis. */
script_value script_word_region_part(script_evaluator *e, const script_call *call) {
    const script_region *region = call->receiver.as.region;
    if (call->word->data == 0)
        return script_tensor(region->tensor);
    script_value list = script_list_make(e->arena, SCRIPT_VALUE_LIST);
    for (uint32_t i = 0; i < region->count; i++) {
        script_value bounds = {.kind = SCRIPT_VALUE_BOUNDS};
        bounds.as.bounds.min = region->starts[i];
        bounds.as.bounds.extent = region->extents[i];
        script_list_add(e->arena, list, bounds);
    }
    return list;
}

script_value script_word_range_part(script_evaluator *e, const script_call *call) {
    (void)e;
    return index_value(call->word->data ? call->receiver.as.bounds.extent : call->receiver.as.bounds.min);
}
