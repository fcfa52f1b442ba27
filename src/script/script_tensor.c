/* SPDX-License-Identifier: Apache-2.0
 * Tensor types, allocations and declarations of every dialect. The contract (shape, dtype, scope, align,
 * layout) is read in one place, so that parameters, allocations and views agree. Access is in
 * script_access.c. */
#include "script/script_evaluate.h"
#include <string.h>

enum { MAX_RANK = 16 };
static const int64_t MAX_ELEMENTS = (int64_t)1 << 52; /* times any element type it still fits 64 bits */

/* ---- shapes ---- */

typedef struct extent_check {
    const ir_expr *bad;
} extent_check;
static void check_extent(void *user, const ir_expr *x) {
    extent_check *check = user;
    if (x->count == 0 && x->op != IR_INT && !(x->op == IR_VAR && x->at.var->kind == IR_VAR_PARAMETER))
        check->bad = x;
    if (x->op == IR_LOAD)
        check->bad = x;
}

/* A quoted name is a size of the call: made at first sight, the same after that. */
static script_value quoted_size(script_evaluator *e, script_value v, base_span span) {
    const char *name = v.as.string.text;
    size_t size = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    if (size == 0 || size != v.as.string.size || (name[0] >= '0' && name[0] <= '9')) {
        script_error(e, "T0205", span, "a quoted extent is a name, not '%s'", name);
        return script_poison();
    }
    script_binding *known = script_find(e, name);
    if (known && (known->value.kind == SCRIPT_VALUE_INT || known->value.kind == SCRIPT_VALUE_EXPR))
        return known->value;
    ir_var *var = ir_var_create(e->module, name, ir_type_prim(NUM_DTYPE_I32, 1), IR_VAR_PARAMETER, span);
    script_value use = script_expr(ir_var_use(e->module, var));
    script_bind(e, name, use, SCRIPT_BIND_PARAMETER, span);
    return use;
}

static const ir_expr *extent(script_evaluator *e, script_value v, base_span span) {
    int64_t constant;
    if (v.kind == SCRIPT_VALUE_STRING)
        v = quoted_size(e, v, span);
    if (v.kind == SCRIPT_VALUE_EXPR && script_expr_constant(e, v.as.expr, &constant))
        v = script_int(constant);
    if (script_is_poison(v))
        return NULL;
    if (script_value_integer(v, &constant)) {
        if (constant < 1) {
            script_error(e, "T0212", span, "an extent of %lld: extents are positive", (long long)constant);
            return NULL;
        }
        return ir_int(e->module, constant > INT32_MAX ? NUM_DTYPE_I64 : NUM_DTYPE_I32, constant);
    }
    if (!script_is_ir(v)) {
        script_error(e, "T0212", span, "an extent must be an integer, not %s",
                     script_value_name(e->arena, v));
        return NULL;
    }
    extent_check check = {NULL};
    const ir_expr *x = script_to_index(e, v, span, "an extent");
    if (!x)
        return NULL;
    ir_expr_visit(x, check_extent, &check);
    if (check.bad) {
        script_constant_int(e, v, &constant, span, "an extent");
        return NULL;
    }
    return x;
}

bool script_shape(script_evaluator *e, script_value v, base_span span, uint32_t *rank,
                  const ir_expr *const **shape) {
    if (script_is_poison(v))
        return false;
    script_value single = v;
    const script_value *items = &single;
    size_t count = 1;
    if (v.kind == SCRIPT_VALUE_TUPLE || v.kind == SCRIPT_VALUE_LIST) {
        items = v.as.list->items.items;
        count = v.as.list->items.count;
    }
    script_value one = script_int(1);
    if (count == 0) { /* a tensor without axes is one element: t[()] */
        items = &one;
        count = 1;
    }
    if (count > MAX_RANK) {
        script_error(e, "T0211", span, "a tensor of %zu axes; up to %d are possible", count, MAX_RANK);
        return false;
    }
    const ir_expr **list = BASE_NEW_ARRAY(e->arena, const ir_expr *, count);
    bool good = true;
    int64_t product = 1, constant;
    for (size_t i = 0; i < count; i++) {
        list[i] = extent(e, items[i], span);
        good &= list[i] != NULL;
        if (good && ir_is_int(list[i], &constant) &&
            (__builtin_mul_overflow(product, constant, &product) || product > MAX_ELEMENTS)) {
            script_error(e, "T0213", span, "a shape of over 2^52 elements");
            return false;
        }
    }
    *rank = (uint32_t)count;
    *shape = list;
    return good;
}

bool script_constant_shape(script_evaluator *e, const ir_tensor_type *type, int64_t *shape) {
    (void)e;
    for (uint32_t i = 0; i < type->rank; i++)
        if (!ir_is_int(type->shape[i], &shape[i]))
            return false;
    return true;
}

/* Layouts describe exactly the tensor's domain: nothing is resized or extended. */
/* A swizzle moves elements within blocks. One that ends behind the tile has elements behind it too. */
static void check_blocks(script_evaluator *e, const ir_tensor_type *type, base_span span) {
    const layout_tile *layout = type->layout;
    int64_t top, room;
    if (!layout->swizzle.present || !layout_span(layout, LAYOUT_AXIS_M, &top) ||
        !layout_footprint(layout, LAYOUT_AXIS_M, &room) || room == top)
        return;
    base_diagnostic *d =
        base_report(e->diagnostics, BASE_WARNING, "T0422", span,
                    "the swizzle of %s flips bits within blocks of %lld elements, which do not divide the "
                    "tile: it ends at m %lld, "
                    "but its elements reach into a block that ends at m %lld",
                    layout_text_of(e->arena, layout), (long long)layout_swizzle_block(layout->swizzle),
                    (long long)top - 1, (long long)room - 1);
    base_help(e->diagnostics, d, "a tile of whole blocks; storage takes whole blocks anyway");
}

bool script_check_layout(script_evaluator *e, const ir_tensor_type *type, base_span span) {
    int64_t shape[MAX_RANK], size, product = 1;
    if (!type->layout)
        return true;
    if (!script_constant_shape(e, type, shape)) {
        base_diagnostic *d = script_error(e, "T0213", span, "an explicit layout needs constant extents");
        base_help(e->diagnostics, d, "leave the layout out, or fix the sizes with -D NAME=...");
        return false;
    }
    for (uint32_t i = 0; i < type->rank; i++)
        if (__builtin_mul_overflow(product, shape[i], &product)) {
            script_error(e, "T0213", span, "a tensor of over 2^63 elements");
            return false;
        }
    if (!layout_size(type->layout, &size) || size != product) {
        base_builder text;
        base_builder_start(&text, e->arena);
        layout_print(type->layout, &text);
        base_diagnostic *d =
            script_error(e, "T0213", span, "the layout %s has %lld coordinates, the shape has %lld elements",
                         text.data, (long long)size, (long long)product);
        base_help(e->diagnostics, d, "the extents of S[...] multiply to the number of elements of the shape");
        return false;
    }
    check_blocks(e, type, span);
    return true;
}

/* ---- the contract, as words write it ---- */

static bool scope_of(script_evaluator *e, script_value v, ir_scope *scope, base_span span) {
    static const char *const names[] = {"global", "shared", "shared.dyn", "local", "tmem"};
    const char *text;
    if (!script_constant_string(e, v, &text, span, "a memory scope"))
        return false;
    for (int i = 0; i < 5; i++)
        if (strcmp(names[i], text) == 0) {
            *scope = (ir_scope)i;
            return true;
        }
    base_diagnostic *d = script_error(e, "T0205", span, "'%s' is no memory scope", text);
    base_help(e->diagnostics, d, "global, shared, shared.dyn, local or tmem");
    return false;
}

static bool read_align(script_evaluator *e, const script_call *call, script_tensor_type *out) {
    int64_t align;
    ir_tensor_type *type = &out->type;
    const script_value *v = script_argument_of(call, "align");
    type->align = 64;
    if (!v)
        return true;
    base_span span = script_argument_span(call, "align");
    if (!script_constant_int(e, *v, &align, span, "an alignment"))
        return false;
    if (align <= 0 && align >= -1)
        return true;
    if (align < 0 || align > (1 << 20) || (align & (align - 1)) != 0) {
        script_error(e, "T0205", span, "an alignment is a power of two up to 1 MiB, not %lld",
                     (long long)align);
        return false;
    }
    type->align = (uint32_t)align;
    out->has_align = true;
    return true;
}

/* The XOR of TMA, of matrix descriptors and of other tensors over the same storage works on addresses, ours
 * on element numbers: they agree when storage starts on a period. */
static void align_swizzle(script_tensor_type *type) {
    const layout_tile *layout = type->type.layout;
    int64_t bits = (int64_t)num_dtype_storage_bits(type->type.dtype) * type->type.lanes;
    if (type->has_align || !layout || !layout->swizzle.present || layout->swizzle.length == 0)
        return;
    int64_t period = layout_swizzle_period(layout->swizzle);
    while (type->type.align < 1024 && period <= 1 << 20 && type->type.align < period * bits / 8)
        type->type.align *= 2;
}

/* A stride or an origin: an integer expression of the launch, or a constant in *constant. */
static bool read_step(script_evaluator *e, script_value v, base_span span, const char *what,
                      const ir_expr **symbol, int64_t *constant) {
    size_t errors = base_diagnostics_errors(e->diagnostics);
    *symbol = script_layout_symbol_of(e, v, span, what);
    return *symbol || (base_diagnostics_errors(e->diagnostics) == errors &&
                       script_constant_int(e, v, constant, span, what));
}

static bool read_byte_offset(script_evaluator *e, const script_call *call, const ir_tensor_type *type,
                             int64_t *offset) {
    int64_t bits = (int64_t)num_dtype_storage_bits(type->dtype) * type->lanes, bytes;
    const script_value *v = script_argument_of(call, "byte_offset");
    base_span span = script_argument_span(call, "byte_offset");
    if (!v)
        return true;
    if (script_argument_of(call, "elem_offset")) {
        script_error(e, "T0204", span, "byte_offset and elem_offset together");
        return false;
    }
    if (!script_constant_int(e, *v, &bytes, span, "a byte offset"))
        return false;
    if (bytes > INT64_MAX / 8 || bytes < INT64_MIN / 8 || bytes * 8 % bits != 0) {
        script_error(e, "T0272", span, "a byte offset of %lld is not a whole number of elements",
                     (long long)bytes);
        return false;
    }
    *offset = bytes * 8 / bits;
    return true;
}

static const ir_expr *step_expr(script_evaluator *e, const ir_expr *symbol, int64_t constant) {
    return symbol
               ? symbol
               : ir_int(e->module, constant == (int32_t)constant ? NUM_DTYPE_I32 : NUM_DTYPE_I64, constant);
}

/* The layout of the strides and the origin in the call; strides that are no constants stay expressions. */
static bool strides_of(script_evaluator *e, const script_call *call, ir_tensor_type *type) {
    int64_t shape[MAX_RANK] = {0}, strides[MAX_RANK], offset = 0;
    const ir_expr *symbols[MAX_RANK] = {NULL}, *origin = NULL;
    bool constant = script_constant_shape(e, type, shape);
    const ir_expr *const *dense = script_dense_strides(e, type);
    const script_value *v = script_argument_of(call, "strides");
    script_list *list;
    for (uint32_t i = 0; i < type->rank; i++)
        if (!ir_is_int(dense[i], &strides[i]))
            symbols[i] = dense[i];
    if (v) {
        base_span span = script_argument_span(call, "strides");
        if (!script_iterate(e, *v, &list, span))
            return false;
        if (list->items.count != 0 && list->items.count != type->rank) {
            script_error(e, "T0211", span, "%zu strides for %u axes", list->items.count, type->rank);
            return false;
        }
        for (size_t i = 0; i < list->items.count; i++)
            if (!read_step(e, list->items.items[i], span, "a stride", &symbols[i], &strides[i]))
                return false;
    }
    if ((v = script_argument_of(call, "elem_offset")) &&
        !read_step(e, *v, script_argument_span(call, "elem_offset"), "an element offset", &origin, &offset))
        return false;
    if (!read_byte_offset(e, call, type, &offset))
        return false;
    constant = constant && !origin;
    for (uint32_t i = 0; i < type->rank; i++)
        constant = constant && !symbols[i];
    if (!constant) {
        const ir_expr **steps = BASE_NEW_ARRAY(e->arena, const ir_expr *, type->rank);
        for (uint32_t i = 0; i < type->rank; i++)
            steps[i] = step_expr(e, symbols[i], strides[i]);
        type->strides = steps;
        type->origin = origin || offset ? step_expr(e, origin, offset) : NULL;
        return true;
    }
    layout_iter iters[MAX_RANK];
    int64_t offsets[LAYOUT_AXIS_COUNT] = {0};
    for (uint32_t i = 0; i < type->rank; i++)
        iters[i] = (layout_iter){shape[i], strides[i], LAYOUT_AXIS_M};
    offsets[LAYOUT_AXIS_M] = offset;
    layout_error error = {NULL};
    type->layout =
        layout_make(e->arena, iters, type->rank, NULL, 0, offsets, offset ? 1u << LAYOUT_AXIS_M : 0, &error);
    if (!type->layout)
        script_error(e, "T0214", call->span, "these strides make no layout: %s", error.text);
    return type->layout != NULL;
}

/* A constant offset beside a layout of the older dialects moves all of it. */
static bool move_layout(script_evaluator *e, const script_call *call, ir_tensor_type *type) {
    const layout_tile *layout = type->layout;
    const script_value *v = script_argument_of(call, "elem_offset");
    const ir_expr *symbol = NULL;
    int64_t offset = 0, offsets[LAYOUT_AXIS_COUNT];
    layout_error error = {NULL};
    if (v &&
        !read_step(e, *v, script_argument_span(call, "elem_offset"), "an element offset", &symbol, &offset))
        return false;
    if (!read_byte_offset(e, call, type, &offset))
        return false;
    if (script_argument_of(call, "strides") || symbol || !layout ||
        (layout->swizzle.present && offset != 0)) {
        script_error(e, "T0272", call->span,
                     "beside an explicit layout only a constant offset can stand, and none beside a swizzle");
        return false;
    }
    if (offset == 0)
        return true;
    memcpy(offsets, layout->offset, sizeof(offsets));
    if (__builtin_add_overflow(offsets[LAYOUT_AXIS_M], offset, &offsets[LAYOUT_AXIS_M]))
        offsets[LAYOUT_AXIS_M] = INT64_MAX;
    type->layout =
        layout_make(e->arena, layout->shard, layout->shard_count, layout->replica, layout->replica_count,
                    offsets, layout->offset_axes | 1u << LAYOUT_AXIS_M, &error);
    if (!type->layout)
        script_error(e, "T0214", call->span, "the offset makes no layout: %s", error.text);
    return type->layout != NULL;
}

/* strides=, elem_offset=, byte_offset= of the older dialects become a layout; the newer ones have only
 * layouts. */
static bool read_strides(script_evaluator *e, const script_call *call, bool newer, script_tensor_type *out) {
    static const char *const names[] = {"strides", "elem_offset", "byte_offset"};
    ir_tensor_type *type = &out->type;
    bool any = false;
    for (int i = 0; i < 3; i++) {
        if (!script_argument_of(call, names[i]))
            continue;
        any = true;
        if (newer) {
            base_diagnostic *d =
                script_error(e, "T0272", script_argument_span(call, names[i]),
                             "%s is no argument here: only the layout has strides and origin", names[i]);
            base_help(e->diagnostics, d, "layout=TileLayout(S[(extents) : (strides)] + offset)");
            return false;
        }
    }
    if (!any)
        return true;
    return out->has_layout ? move_layout(e, call, type) : strides_of(e, call, type);
}

/* Everything that makes the type of a tensor from a call's arguments. */
static bool read_type(script_evaluator *e, const script_call *call, bool newer, ir_scope scope,
                      script_tensor_type *out) {
    const script_value *v = script_argument_of(call, "shape");
    ir_type element = ir_type_prim(NUM_DTYPE_F32, 1);
    *out = (script_tensor_type){.type.scope = scope};
    if (!v) {
        script_error(e, "T0203", call->span, "%s needs a shape", call->word->path);
        return false;
    }
    bool good = script_shape(e, *v, script_argument_span(call, "shape"), &out->type.rank, &out->type.shape);
    v = script_argument_of(call, "dtype");
    good &= !v || script_to_dtype(e, *v, &element, script_argument_span(call, "dtype"));
    out->type.dtype = (num_dtype)element.dtype;
    out->type.lanes = element.lanes;
    v = script_argument_of(call, "scope");
    if (v) {
        good &= scope_of(e, *v, &out->type.scope, script_argument_span(call, "scope"));
        out->has_scope = true;
    }
    good &= read_align(e, call, out);
    v = script_argument_of(call, "layout");
    if (v) {
        good = good && script_type_layout(e, *v, &out->type, script_argument_span(call, "layout"));
        out->has_layout = out->type.layout != NULL || out->type.strides != NULL;
    }
    return good && read_strides(e, call, newer, out) &&
           script_check_layout(e, &out->type, script_argument_span(call, "layout"));
}

bool script_read_type(script_evaluator *e, const script_call *call, script_tensor_type *type) {
    return read_type(e, call, false, IR_SCOPE_SHARED_DYN, type);
}

static script_value type_value(script_evaluator *e, const script_tensor_type *type) {
    script_value v = {.kind = SCRIPT_VALUE_TENSOR_TYPE};
    v.as.tensor_type = BASE_NEW(e->arena, script_tensor_type);
    *v.as.tensor_type = *type;
    return v;
}

script_value script_word_tensor_type(script_evaluator *e, const script_call *call) {
    script_tensor_type type;
    if (!read_type(e, call, call->word->data == 1, IR_SCOPE_GLOBAL, &type))
        return script_poison();
    const script_value *data = script_argument_of(call, "data");
    if (data)
        type.pointer = script_to_pointer(e, *data, script_argument_span(call, "data"), "data");
    return type_value(e, &type);
}

/* The handle's place in the parameter list becomes the tensor's. */
script_value script_word_match_buffer(script_evaluator *e, const script_call *call) {
    script_tensor_type type;
    script_value handle = call->value[0];
    if (!script_need_kernel(e, call->span, "match_buffer"))
        return script_poison();
    if (!read_type(e, call, false, IR_SCOPE_GLOBAL, &type) ||
        !script_check_strides(e, &type.type, true, call->span))
        return script_poison();
    const ir_expr *x = handle.kind == SCRIPT_VALUE_EXPR ? handle.as.expr : NULL;
    for (size_t i = 0; i < e->function->parameters.count; i++) {
        ir_parameter *parameter = &e->function->parameters.items[i];
        if (!x || x->op != IR_VAR || x->at.var != parameter->var || x->type.kind != IR_TYPE_POINTER)
            continue;
        ir_tensor *tensor =
            script_tensor_create(e, parameter->name, &type.type, IR_TENSOR_PARAMETER, NULL, call->span);
        script_created(e, tensor);
        script_binding *binding = script_find_local(e, parameter->name);
        if (binding)
            binding->value = script_expr(ir_data(e->module, tensor));
        *parameter = (ir_parameter){.name = parameter->name, .tensor = tensor};
        return script_tensor(tensor);
    }
    if (!script_is_poison(handle))
        script_error(e, "T0205", call->place[0],
                     "match_buffer takes a handle parameter that has no tensor yet, not %s",
                     script_value_name(e->arena, handle));
    return script_poison();
}

/* ---- allocation ---- */

ir_type script_element_type(const ir_tensor *tensor) {
    return ir_type_prim(tensor->type.dtype, tensor->type.lanes ? tensor->type.lanes : 1);
}

bool script_is_single(const ir_tensor *tensor) {
    int64_t extent_value;
    return tensor->type.rank == 1 && ir_is_int(tensor->type.shape[0], &extent_value) && extent_value == 1;
}

static bool check_allocation(script_evaluator *e, const ir_tensor_type *type, base_span span) {
    int64_t bytes = ((int64_t)num_dtype_storage_bits(type->dtype) * type->lanes + 7) / 8, extent_value;
    if (!script_need_kernel(e, span, "an allocation"))
        return false;
    if (type->scope == IR_SCOPE_TMEM) {
        script_not_supported(e, span, "an allocation of tensor memory");
        return false;
    }
    if (type->scope == IR_SCOPE_GLOBAL) {
        base_diagnostic *d = script_error(e, "T0271", span, "a kernel cannot allocate global memory");
        base_help(e->diagnostics, d, "say scope=\"shared\" or \"local\", or make it a parameter");
        return false;
    }
    for (uint32_t i = 0; i < type->rank; i++) {
        if (!ir_is_int(type->shape[i], &extent_value)) {
            base_diagnostic *d = script_error(e, "T0210", span, "an allocation needs constant extents");
            base_help(e->diagnostics, d, "pass the size with -D NAME=...");
            return false;
        }
        if (extent_value == 0) {
            script_error(e, "T0212", span, "an allocation of no elements: an extent is 0");
            return false;
        }
        if (__builtin_mul_overflow(bytes, extent_value, &bytes) || bytes > ((int64_t)1 << 40)) {
            base_diagnostic *d =
                script_error(e, "T0213", span, "an allocation of over 1 TiB: its extent %u is %lld", i,
                             (long long)extent_value);
            base_help(e->diagnostics, d, "shared memory of a block has at most 232448 bytes");
            return false;
        }
    }
    if (type->scope == IR_SCOPE_SHARED_DYN) {
        if (e->was_first_dynamic) {
            base_diagnostic *d =
                script_error(e, "T0270", span, "a second allocation of dynamic shared memory");
            base_note(e->diagnostics, d, e->dynamic_span, "the first is here; a kernel has one such arena");
            base_help(e->diagnostics, d,
                      "allocate one arena and declare tensors in it: decl_tensor(arena.data, ...)");
            return false;
        }
        e->was_first_dynamic = true;
        e->dynamic_span = span;
    }
    return true;
}

ir_tensor *script_tensor_create(script_evaluator *e, const char *name, const ir_tensor_type *type,
                                ir_tensor_kind kind, const ir_expr *data, base_span span) {
    ir_tensor *tensor = ir_tensor_create(e->module, name, type, kind, data, span);
    if (type->layout) {
        const layout_tile *kept = base_map_get(e->layouts, BASE_KEY(type->layout));
        if (!kept) {
            kept = layout_copy(e->module->arena, type->layout);
            base_map_set(e->layouts, BASE_KEY(type->layout), (void *)(uintptr_t)kept);
            base_map_set(e->layouts, BASE_KEY(kept), (void *)(uintptr_t)kept);
        }
        tensor->type.layout = kept;
    }
    return tensor;
}

script_value script_allocate(script_evaluator *e, const ir_tensor_type *type, base_span span) {
    if (!script_check_strides(e, type, false, span) || !check_allocation(e, type, span))
        return script_poison();
    ir_tensor *tensor =
        script_tensor_create(e, script_temporary_name(e, "tensor"), type, IR_TENSOR_ALLOCATION, NULL, span);
    tensor->is_scalar = type->scope == IR_SCOPE_LOCAL && script_is_single(tensor) && type->layout == NULL;
    script_created(e, tensor);
    ir_stmt *statement = ir_stmt_create(e->module, IR_STMT_ALLOCATE, span);
    statement->as.allocate.tensor = tensor;
    script_emit(e, statement);
    return script_tensor(tensor);
}

ir_tensor *script_scalar_create(script_evaluator *e, const char *name, ir_type type, ir_scope scope,
                                base_span span) {
    const ir_expr *one = ir_int(e->module, NUM_DTYPE_I32, 1);
    ir_tensor_type tensor_type = {.dtype = (num_dtype)type.dtype,
                                  .lanes = type.lanes,
                                  .scope = scope,
                                  .rank = 1,
                                  .shape = &one,
                                  .align = 64};
    script_value v = script_allocate(e, &tensor_type, span);
    if (script_is_poison(v))
        return NULL;
    v.as.tensor->is_scalar = true;
    script_name_tensor(e, v, name, span);
    return v.as.tensor;
}

/* ty_args=[Tensor(...)]: exactly one, and then nothing else says the type. */
static bool type_argument(script_evaluator *e, const script_call *call, script_tensor_type *out) {
    static const char *const others[] = {"shape", "dtype", "scope", "layout", "align"};
    const script_value *v = script_argument_of(call, "ty_args");
    base_span span = script_argument_span(call, "ty_args");
    if ((v->kind != SCRIPT_VALUE_LIST && v->kind != SCRIPT_VALUE_TUPLE) || v->as.list->items.count != 1 ||
        v->as.list->items.items[0].kind != SCRIPT_VALUE_TENSOR_TYPE) {
        script_error(e, "T0205", span, "ty_args takes one tensor type: ty_args=[Tensor(shape, dtype, ...)]");
        return false;
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (script_argument_of(call, others[i])) {
            script_error(e, "T0204", script_argument_span(call, others[i]),
                         "%s beside ty_args: the type has it", others[i]);
            return false;
        }
    *out = *v->as.list->items.items[0].as.tensor_type;
    return true;
}

script_value script_word_allocate(script_evaluator *e, const script_call *call) {
    script_tensor_type type;
    int form = call->word->data;
    script_left_out(e, call, "attrs");
    script_left_out(e, call, "annotations");
    if (script_argument_of(call, "data")) {
        script_not_supported(e, script_argument_span(call, "data"), "an allocation over a pointer");
        return script_poison();
    }
    if (script_argument_of(call, "allocated_addr")) {
        script_not_supported(e, script_argument_span(call, "allocated_addr"),
                             "tensor memory (allocated_addr)");
        return script_poison();
    }
    if (script_argument_of(call, "ty_args") ? !type_argument(e, call, &type)
                                            : !read_type(e, call, form != 1,
                                                         form == 2   ? IR_SCOPE_SHARED
                                                         : form == 3 ? IR_SCOPE_LOCAL
                                                                     : IR_SCOPE_GLOBAL,
                                                         &type))
        return script_poison();
    if (type.type.scope == IR_SCOPE_SHARED || type.type.scope == IR_SCOPE_SHARED_DYN)
        align_swizzle(&type);
    return script_allocate(e, &type.type, call->span);
}

script_value script_word_scalar(script_evaluator *e, const script_call *call) {
    static const ir_scope scopes[] = {IR_SCOPE_LOCAL, IR_SCOPE_SHARED, IR_SCOPE_GLOBAL};
    ir_scope scope = scopes[call->word->data];
    ir_type type = ir_type_prim(NUM_DTYPE_F32, 1);
    const script_value *v = script_argument_of(call, "dtype");
    if (v && !script_to_dtype(e, *v, &type, script_argument_span(call, "dtype")))
        return script_poison();
    v = script_argument_of(call, "scope");
    if (v && !scope_of(e, *v, &scope, script_argument_span(call, "scope")))
        return script_poison();
    ir_tensor *tensor = script_scalar_create(e, NULL, type, scope, call->span);
    return tensor ? script_tensor(tensor) : script_poison();
}

/* ---- declarations ---- */

script_value script_make_view(script_evaluator *e, const ir_tensor_type *type, const ir_expr *data,
                              base_span span) {
    if (!script_need_kernel(e, span, "a view"))
        return script_poison();
    ir_tensor *tensor =
        script_tensor_create(e, script_temporary_name(e, "view"), type, IR_TENSOR_VIEW, data, span);
    script_created(e, tensor);
    ir_stmt *statement = ir_stmt_create(e->module, IR_STMT_DECLARE, span);
    statement->as.declare.tensor = tensor;
    script_emit(e, statement);
    return script_tensor(tensor);
}

static script_value declare(script_evaluator *e, const script_call *call, script_tensor_type *type,
                            script_value data, base_span data_span) {
    const ir_expr *pointer = script_to_pointer(e, data, data_span, "the storage of a declaration");
    if (!pointer)
        return script_poison();
    ir_scope scope = (ir_scope)pointer->type.scope;
    if (type->has_scope && type->type.scope != scope) {
        base_diagnostic *d =
            base_report(e->diagnostics, BASE_WARNING, "T0273", data_span,
                        "the pointer is in %s memory, the declaration says %s: the pointer decides",
                        ir_scope_name(scope), ir_scope_name(type->type.scope));
        base_help(e->diagnostics, d, "scope=\"%s\"", ir_scope_name(scope));
    }
    type->type.scope = scope;
    return script_make_view(e, &type->type, pointer, call->span);
}

/* The newest form takes the pointer first and the type in ty_args; the binder has put it where the shape
 * stands. */
static void pointer_first(script_call *call) {
    if (!script_argument_of(call, "ty_args") || !call->given[0] || script_argument_of(call, "data"))
        return;
    call->given[2] = true;
    call->value[2] = call->value[0];
    call->place[2] = call->place[0];
    call->given[0] = false;
}

script_value script_word_declare(script_evaluator *e, const script_call *call) {
    script_tensor_type type;
    bool newer = call->word->data == 1;
    script_call storage = *call, *moved = &storage;
    script_left_out(e, call, "attrs");
    if (newer)
        pointer_first(moved);
    const script_value *data = script_argument_of(moved, "data");
    if (newer && script_argument_of(moved, "ty_args") ? !type_argument(e, moved, &type)
                                                      : !read_type(e, moved, newer, IR_SCOPE_GLOBAL, &type))
        return script_poison();
    const script_value *address = script_argument_of(moved, "allocated_addr");
    if (address)
        return script_tmem_declare(e, &type, *address, call->span,
                                   script_argument_span(moved, "allocated_addr"));
    if (data)
        return declare(e, moved, &type, *data, script_argument_span(moved, "data"));
    if (!newer)
        return script_allocate(e, &type.type, call->span);
    base_diagnostic *d =
        script_error(e, "T0203", call->span, "decl_tensor needs a pointer: it makes no storage");
    base_help(e->diagnostics, d, "decl_tensor(pointer, ty_args=[Tensor(shape, dtype)])");
    return script_poison();
}

script_value script_word_decl_tmem(script_evaluator *e, const script_call *call) {
    script_tensor_type type;
    if (!script_argument_of(call, "ty_args")) {
        script_error(e, "T0203", call->span,
                     "decl_tmem needs a tensor type: ty_args=[Tensor(shape, dtype, scope=\"tmem\")]");
        return script_poison();
    }
    if (!type_argument(e, call, &type))
        return script_poison();
    return script_tmem_declare(e, &type, call->value[0], call->span, call->place[0]);
}

script_value script_word_decl_scalar(script_evaluator *e, const script_call *call) {
    script_tensor_type type = {.type = {.rank = 1, .align = 64}};
    const ir_expr *one = ir_int(e->module, NUM_DTYPE_I32, 1);
    ir_type element;
    if (!script_to_dtype(e, call->value[0], &element, call->place[0]))
        return script_poison();
    type.type.shape = &one;
    type.type.dtype = (num_dtype)element.dtype;
    type.type.lanes = element.lanes;
    if (!read_strides(e, call, false, &type))
        return script_poison();
    script_value v = declare(e, call, &type, call->value[1], call->place[1]);
    if (v.kind == SCRIPT_VALUE_TENSOR)
        v.as.tensor->is_scalar = true;
    return v;
}

void script_name_tensor(script_evaluator *e, script_value v, const char *name, base_span span) {
    if (v.kind == SCRIPT_VALUE_POOL && name)
        script_name_pool(e, v, name, span);
    if (v.kind != SCRIPT_VALUE_TENSOR || !name || !base_map_get(e->unnamed, BASE_KEY(v.as.tensor)))
        return;
    base_map_set(e->unnamed, BASE_KEY(v.as.tensor), NULL);
    v.as.tensor->name = base_name_of(e->names, name);
    v.as.tensor->span = span;
}

/* ---- types of values ---- */

script_value script_word_handle(script_evaluator *e, const script_call *call) {
    ir_type element = ir_type_prim(NUM_DTYPE_NONE, 1);
    ir_scope scope = IR_SCOPE_GLOBAL;
    const script_value *v =
        script_argument_of(call, call->word->signature[0] == 'd' ? "dtype" : "element_type");
    if (v && v->kind == SCRIPT_VALUE_STRING && strcmp(v->as.string.text, "tensormap") == 0) {
        return script_type(ir_type_tensor_map());
    }
    if (v && !(v->kind == SCRIPT_VALUE_STRING && strcmp(v->as.string.text, "void") == 0) &&
        !script_to_dtype(e, *v, &element, call->span))
        return script_poison();
    v = script_argument_of(call, "storage_scope");
    if (v && !scope_of(e, *v, &scope, script_argument_span(call, "storage_scope")))
        return script_poison();
    return script_type(ir_type_pointer((num_dtype)element.dtype, element.lanes, scope));
}

script_value script_word_tensor_map(script_evaluator *e, const script_call *call) {
    (void)e, (void)call;
    return script_type(ir_type_tensor_map());
}

script_value script_word_prim_type(script_evaluator *e, const script_call *call) {
    ir_type type;
    return script_to_dtype(e, call->value[0], &type, call->place[0]) ? script_type(type) : script_poison();
}

script_value script_word_data_type(script_evaluator *e, const script_call *call) {
    script_value v = script_word_prim_type(e, call);
    if (v.kind == SCRIPT_VALUE_TYPE)
        v.kind = SCRIPT_VALUE_DTYPE;
    return v;
}

script_value script_word_let(script_evaluator *e, const script_call *call) {
    (void)e;
    (void)call;
    return (script_value){.kind = SCRIPT_VALUE_LET_TYPE};
}

script_value script_word_meta_var(script_evaluator *e, const script_call *call) {
    script_value v = {.kind = SCRIPT_VALUE_META};
    v.as.meta = BASE_NEW(e->arena, script_value);
    *v.as.meta = call->value[0];
    return v;
}

script_value script_word_dynamic(script_evaluator *e, const script_call *call) {
    const char *name;
    ir_type type = ir_type_prim(NUM_DTYPE_I32, 1);
    const script_value *v = script_argument_of(call, "dtype");
    if (!script_constant_string(e, call->value[0], &name, call->place[0], "the name of a size") ||
        (v && !script_to_dtype(e, *v, &type, script_argument_span(call, "dtype"))))
        return script_poison();
    ir_var *var = ir_var_create(e->module, name, type, IR_VAR_PARAMETER, call->span);
    return script_expr(ir_var_use(e->module, var));
}
