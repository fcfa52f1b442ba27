/* SPDX-License-Identifier: Apache-2.0
 * From a coordinate to an element number: the layout's digits and strides as an expression that reads like
 * the author's (larger stride first, constants last), and the size of storage. Must not rewrite statements.
 */
#include "lower/lower_internal.h"
#include "num/num.h"

/* ---- integer expressions of mixed types ---- */
static ir_type common_type(ir_type a, ir_type b) {
    if (ir_type_equal(a, b))
        return a;
    unsigned wa = num_dtype_bits((num_dtype)a.dtype), wb = num_dtype_bits((num_dtype)b.dtype);
    return ir_type_prim(wa > 32 || wb > 32 ? NUM_DTYPE_I64 : NUM_DTYPE_I32, 1);
}

static const ir_expr *convert(ir_module *module, ir_type to, const ir_expr *e) {
    int64_t value;
    if (ir_type_equal(e->type, to))
        return e;
    if (ir_is_int(e, &value))
        return ir_int(module, (num_dtype)to.dtype, num_wrap((num_dtype)to.dtype, value));
    return ir_cast(module, to, e);
}

const ir_expr *lower_integer_binary(ir_module *module, ir_op op, const ir_expr *a, const ir_expr *b) {
    int64_t value;
    /* A constant takes the other side's type when it fits. */
    if (ir_is_int(b, &value) && num_wrap((num_dtype)a->type.dtype, value) == value)
        b = convert(module, a->type, b);
    else if (ir_is_int(a, &value) && num_wrap((num_dtype)b->type.dtype, value) == value)
        a = convert(module, b->type, a);
    ir_type type = common_type(a->type, b->type);
    return ir_binary(module, op, convert(module, type, a), convert(module, type, b));
}

static const ir_expr *constant_like(ir_module *module, const ir_expr *like, int64_t value) {
    num_dtype dtype = (num_dtype)like->type.dtype;
    if (num_wrap(dtype, value) != value)
        dtype = NUM_DTYPE_I64;
    return ir_int(module, dtype, value);
}

/* ---- pointers ---- */
/* A view's data after lower_views: [POINTER_ADDRESS(] [REINTERPRET(] DATA or VAR [)] [, offset)]. */
static const ir_expr *view_pointer(const ir_tensor *tensor, const ir_expr **offset) {
    const ir_expr *data = tensor->data;
    *offset = NULL;
    if (data && data->op == IR_POINTER_ADDRESS) {
        *offset = data->args[1];
        data = data->args[0];
    }
    return data;
}

const ir_expr *lower_base(lower_context *context, const ir_tensor *tensor) {
    const ir_expr *offset, *pointer = view_pointer(tensor, &offset);
    if (!pointer)
        return ir_data(context->module, tensor);
    if (pointer->type.dtype == tensor->type.dtype)
        return pointer;
    ir_type type = ir_type_pointer(tensor->type.dtype, 1, (ir_scope)pointer->type.scope);
    if (pointer->op == IR_REINTERPRET)
        pointer = pointer->args[0];
    return ir_make(context->module, IR_REINTERPRET, type, &pointer, 1);
}

const ir_tensor *lower_root(const ir_tensor *tensor) {
    const ir_expr *offset, *pointer = view_pointer(tensor, &offset);
    if (!pointer)
        return tensor;
    if (pointer->op == IR_REINTERPRET)
        pointer = pointer->args[0];
    return pointer->op == IR_DATA ? pointer->at.tensor : NULL;
}

/* ---- terms ---- */
typedef struct term {
    const ir_expr *value, *stride; /* stride NULL: use step */
    int64_t step;
} term;

typedef struct sum {
    lower_context *context;
    BASE_VECTOR(term) terms;
    int64_t constant;
    bool overflow;
} sum;

static void add_constant(sum *s, int64_t value, int64_t step) {
    int64_t product;
    s->overflow |= __builtin_mul_overflow(value, step, &product);
    s->overflow |= __builtin_add_overflow(s->constant, product, &s->constant);
}

/* value * step, its constant part set aside: (x + c) * step is x * step + c * step in wrapping arithmetic. */
static void add_term(sum *s, const ir_expr *value, int64_t step) {
    int64_t c;
    if (ir_is_int(value, &c)) {
        add_constant(s, c, step);
        return;
    }
    if (value->op == IR_ADD && ir_is_int(value->args[1], &c)) {
        add_constant(s, c, step);
        value = value->args[0];
    }
    if (step)
        base_vector_push(s->context->arena, &s->terms, (term){value, NULL, step});
}

static void sort_terms(sum *s) {
    for (size_t i = 1; i < s->terms.count; i++)
        for (size_t j = i; j > 0; j--) {
            term *a = &s->terms.items[j - 1], *b = &s->terms.items[j], swap = *a;
            int64_t x = a->step < 0 ? -a->step : a->step, y = b->step < 0 ? -b->step : b->step;
            if (a->stride || b->stride || x >= y)
                break;
            *a = *b, *b = swap;
        }
}

static const ir_expr *add_up(sum *s) {
    ir_module *module = s->context->module;
    const ir_expr *total = NULL;
    sort_terms(s);
    for (size_t i = 0; i < s->terms.count; i++) {
        term *t = &s->terms.items[i];
        const ir_expr *product = t->value;
        if (t->stride || t->step != 1)
            product = lower_integer_binary(module, IR_MUL, t->value,
                                           t->stride ? t->stride : constant_like(module, t->value, t->step));
        total = total ? lower_integer_binary(module, IR_ADD, total, product) : product;
    }
    if (!total)
        return ir_int(module, s->constant == (int32_t)s->constant ? NUM_DTYPE_I32 : NUM_DTYPE_I64,
                      s->constant);
    return s->constant
               ? lower_integer_binary(module, IR_ADD, total, constant_like(module, total, s->constant))
               : total;
}

/* ---- shapes ---- */
static bool constant_shape(lower_context *context, const ir_tensor_type *type, int64_t **shape) {
    *shape = BASE_NEW_ARRAY(context->arena, int64_t, type->rank + 1);
    for (uint32_t d = 0; d < type->rank; d++)
        if (!ir_is_int(type->shape[d], &(*shape)[d]))
            return false;
    return true;
}

static const ir_expr *index_at(const ir_expr *index) {
    return index->op == IR_RAMP ? index->args[0] : index;
}

/* The storage of a constant shape over 2^31 elements needs 64-bit element numbers. */
static bool is_large(const ir_tensor *tensor, const int64_t *shape) {
    int64_t size = 1;
    if (tensor->type.layout)
        return !layout_span(tensor->type.layout, LAYOUT_AXIS_M, &size) || size > INT32_MAX;
    for (uint32_t d = 0; d < tensor->type.rank; d++)
        if (shape[d] > 0 && __builtin_mul_overflow(size, shape[d], &size))
            return true;
    return size > INT32_MAX;
}

static const ir_expr *coordinate(lower_context *context, const ir_expr *index, bool large) {
    const ir_expr *e = index_at(index);
    int64_t value;
    if (!large || ir_is_int(e, &value))
        return e;
    return convert(context->module, ir_type_prim(NUM_DTYPE_I64, 1), e);
}

/* ---- dense row-major ---- */
/* Whether 32 bits hold the element number and every sum and product on the way to it, whatever the extents.
 */
static bool stays_small(lower_context *context, const ir_tensor *tensor, const ir_expr *const *indices,
                        const int64_t *strides) {
    int64_t total = 0, reach, lanes = tensor->type.lanes > 1 ? tensor->type.lanes : 1;
    uint32_t rank = tensor->type.rank;
    for (uint32_t d = 0; d < rank; d++) {
        const ir_expr *e = index_at(indices[d]);
        arith_range r = arith_bounds(context->facts, e);
        if (e->type.dtype != NUM_DTYPE_I32 || !r.known || r.low < 0 || r.high > INT32_MAX ||
            strides[d] > INT32_MAX || __builtin_mul_overflow(r.high, strides[d], &reach) ||
            __builtin_add_overflow(total, reach, &total))
            return false;
    }
    return total <= INT32_MAX / lanes - UINT16_MAX; /* a vector's other lanes come after the first */
}

static void row_major(sum *s, const ir_tensor *tensor, const ir_expr *const *indices) {
    lower_context *context = s->context;
    uint32_t rank = tensor->type.rank;
    int64_t *shape;
    if (constant_shape(context, &tensor->type, &shape)) {
        bool large = is_large(tensor, shape);
        int64_t *strides = BASE_NEW_ARRAY(context->arena, int64_t, rank + 1);
        int64_t stride = 1;
        for (uint32_t d = rank; d-- > 0;) {
            strides[d] = stride;
            s->overflow |= __builtin_mul_overflow(stride, shape[d] > 0 ? shape[d] : 1, &stride);
        }
        large = large && !stays_small(context, tensor, indices, strides);
        for (uint32_t d = 0; d < rank; d++)
            add_term(s, coordinate(context, indices[d], large), strides[d]);
        return;
    }
    const ir_expr **strides = BASE_NEW_ARRAY(context->arena, const ir_expr *, rank);
    const ir_expr *stride = NULL;
    for (uint32_t d = rank; d-- > 0;) {
        strides[d] = stride;
        stride = stride ? lower_integer_binary(context->module, IR_MUL, tensor->type.shape[d], stride)
                        : tensor->type.shape[d];
    }
    for (uint32_t d = 0; d < rank; d++) {
        int64_t step = 1;
        const ir_expr *index = index_at(indices[d]);
        if (!strides[d] || ir_is_int(strides[d], &step))
            add_term(s, index, step);
        else
            base_vector_push(context->arena, &s->terms, (term){index, strides[d], 0});
    }
}

/* ---- strides of the launch ---- */
static void strided(sum *s, const ir_tensor *tensor, const ir_expr *const *indices) {
    lower_context *context = s->context;
    const ir_tensor_type *type = &tensor->type;
    int64_t step;
    for (uint32_t d = 0; d < type->rank; d++) {
        const ir_expr *index = index_at(indices[d]);
        if (ir_is_int(type->strides[d], &step))
            add_term(s, index, step);
        else if (!ir_is_int(index, &step) || step != 0)
            base_vector_push(context->arena, &s->terms, (term){index, type->strides[d], 0});
    }
    if (type->origin)
        add_term(s, type->origin, 1);
}

/* ---- tile layouts ---- */
/* x as multiples of the divisor, written as their quotient, and a rest that provably lies below it: then
 * x / divisor is the quotient and x mod divisor the rest. Bounds prove that nothing wraps on the way. */
typedef struct division {
    sum quotient, rest;
    int64_t low, high; /* of the rest */
    int64_t reach;     /* of the sum of all parts, by amount */
} division;

static bool divide_part(division *d, const ir_expr *x, int64_t factor, int64_t divisor) {
    lower_context *context = d->rest.context;
    int64_t c, amount;
    if (x->op == IR_ADD)
        return divide_part(d, x->args[0], factor, divisor) && divide_part(d, x->args[1], factor, divisor);
    if (x->op == IR_MUL && ir_is_int(x->args[1], &c) && !__builtin_mul_overflow(factor, c, &c))
        return divide_part(d, x->args[0], c, divisor);
    arith_range r = arith_bounds(context->facts, x);
    if (!r.known || __builtin_mul_overflow(r.low, factor, &r.low) ||
        __builtin_mul_overflow(r.high, factor, &r.high) || r.low == INT64_MIN || r.high == INT64_MIN)
        return false;
    if (factor < 0) {
        c = r.low;
        r.low = r.high;
        r.high = c;
    }
    amount = -r.low > r.high ? -r.low : r.high;
    if (__builtin_add_overflow(d->reach, amount, &d->reach))
        return false;
    if (ir_is_int(x, &c)) {
        int64_t rest = r.low % divisor;
        rest += rest < 0 ? divisor : 0;
        add_constant(&d->quotient, (r.low - rest) / divisor, 1);
        add_constant(&d->rest, rest, 1);
        return !__builtin_add_overflow(d->low, rest, &d->low) &&
               !__builtin_add_overflow(d->high, rest, &d->high);
    }
    if (factor % divisor == 0) {
        add_term(&d->quotient, x, factor / divisor);
        return true;
    }
    add_term(&d->rest, x, factor);
    return !__builtin_add_overflow(d->low, r.low, &d->low) &&
           !__builtin_add_overflow(d->high, r.high, &d->high);
}

static bool divide(lower_context *context, const ir_expr *x, int64_t divisor, division *d) {
    *d = (division){.quotient.context = context, .rest.context = context};
    if ((x->op != IR_ADD && x->op != IR_MUL) || x->size > 1000)
        return false;
    return divide_part(d, x, 1, divisor) && d->low >= 0 && d->high < divisor &&
           d->reach <= (int64_t)num_maximum((num_dtype)x->type.dtype) && d->quotient.terms.count > 0 &&
           !d->quotient.overflow && !d->rest.overflow;
}

/* One digit of a coordinate: (x / divisor) mod extent; the outermost digit is not reduced (layouts.md 1.2).
 */
static const ir_expr *digit(lower_context *context, const ir_expr *x, int64_t divisor, int64_t extent,
                            bool outermost) {
    ir_module *module = context->module;
    division parts;
    if (divisor != 1)
        x = divide(context, x, divisor, &parts)
                ? add_up(&parts.quotient)
                : lower_integer_binary(module, IR_FLOORDIV, x, constant_like(module, x, divisor));
    if (outermost)
        return x;
    arith_range range = arith_bounds(context->facts, x);
    if (range.known && range.low >= 0 && range.high < extent)
        return x;
    if (divide(context, x, extent, &parts))
        return add_up(&parts.rest);
    return lower_integer_binary(module, IR_FLOORMOD, x, constant_like(module, x, extent));
}

static void add_iters(sum *s, const ir_expr *x, const layout_iter *iters, uint32_t count) {
    int64_t divisor = 1;
    const ir_expr **digits = BASE_NEW_ARRAY(s->context->arena, const ir_expr *, count);
    for (uint32_t k = count; k-- > 0;) {
        digits[k] = digit(s->context, x, divisor, iters[k].extent, k == 0);
        divisor *= iters[k].extent;
    }
    for (uint32_t k = 0; k < count; k++)
        if (iters[k].axis == LAYOUT_AXIS_M)
            add_term(s, digits[k], iters[k].stride);
}

/* Row-major number of the coordinate, for layouts whose iters cross the axes of the shape. */
static const ir_expr *flatten(lower_context *context, const ir_tensor *tensor,
                              const ir_expr *const *indices) {
    const ir_expr *flat = NULL;
    for (uint32_t d = 0; d < tensor->type.rank; d++) {
        if (flat)
            flat = lower_integer_binary(context->module, IR_MUL, flat, tensor->type.shape[d]);
        const ir_expr *x = index_at(indices[d]);
        flat = flat ? lower_integer_binary(context->module, IR_ADD, flat, x) : x;
    }
    return flat ? flat : ir_int(context->module, NUM_DTYPE_I32, 0);
}

static bool check_domain(lower_context *context, const ir_tensor *tensor, const int64_t *shape) {
    int64_t size = 0, product = 1;
    bool fits = layout_size(tensor->type.layout, &size);
    for (uint32_t d = 0; d < tensor->type.rank; d++)
        fits &= !__builtin_mul_overflow(product, shape[d], &product);
    if (fits && size == product)
        return true;
    base_diagnostic *d = base_report(context->diagnostics, BASE_ERROR, "T0406", tensor->span,
                                     "the layout of '%s' maps %lld elements, but its shape has %lld",
                                     tensor->name, (long long)size, (long long)product);
    base_help(context->diagnostics, d, "a layout describes the whole shape; lowering does not resize it");
    return false;
}

static const layout_tile *grouped(lower_context *context, const ir_tensor *tensor, const int64_t *shape,
                                  uint32_t *separators) {
    layout_error error = {0};
    const layout_tile *canonical = layout_canonical(context->arena, tensor->type.layout);
    return canonical ? layout_group(context->arena, canonical, shape, tensor->type.rank, separators, &error)
                     : NULL;
}

static bool tile(sum *s, const ir_tensor *tensor, const ir_expr *const *indices) {
    lower_context *context = s->context;
    const layout_tile *layout = tensor->type.layout;
    int64_t *shape;
    bool constant = constant_shape(context, &tensor->type, &shape);
    if (constant && !check_domain(context, tensor, shape))
        return false;
    uint32_t *separators = BASE_NEW_ARRAY(context->arena, uint32_t, tensor->type.rank + 1);
    const layout_tile *group = constant ? grouped(context, tensor, shape, separators) : NULL;
    bool large = constant && is_large(tensor, shape);
    if (group)
        for (uint32_t d = 0; d < tensor->type.rank; d++)
            add_iters(s, coordinate(context, indices[d], large), &group->shard[separators[d]],
                      separators[d + 1] - separators[d]);
    else
        add_iters(s, coordinate(context, flatten(context, tensor, indices), large), layout->shard,
                  layout->shard_count);
    add_constant(s, layout->offset[LAYOUT_AXIS_M], 1);
    return true;
}

/* ---- swizzles ---- */
/* Over a whole element number, which is not negative: bits [M, M + B) flip by the bits S above, or the other
 * way round (layouts.md 2.1). One shift, one mask, one XOR. */
static const ir_expr *swizzled(lower_context *context, const ir_expr *n, layout_swizzle z) {
    ir_module *module = context->module;
    int64_t value;
    if (ir_is_int(n, &value))
        return constant_like(module, n, layout_swizzle_apply(z, value));
    int64_t mask = (((int64_t)1 << z.length) - 1) << (z.per_element + (z.outer ? z.atom : 0));
    const ir_expr *moved =
        lower_integer_binary(module, z.outer ? IR_SHL : IR_SHR, n, constant_like(module, n, z.atom));
    return lower_integer_binary(
        module, IR_BITXOR, n, lower_integer_binary(module, IR_BITAND, moved, constant_like(module, n, mask)));
}

/* An element number with a period P = 2^(M + S) split off: steps that are multiples of P, and a rest that
 * provably stays below P. Only the multiples decide what flips, only the rest is flipped, and no carry joins
 * them, so that x = whole + ((rest ^ phase) ^ fixed) + constant. */
typedef struct swizzle_parts {
    sum whole, rest, phase; /* phase counts in units of P */
    int64_t rest_high;      /* bound of the variable rest, which is not negative */
    int64_t fixed, constant;
} swizzle_parts;

static bool add_range(lower_context *context, const term *t, int64_t *low, int64_t *high) {
    arith_range r = arith_bounds(context->facts, t->value);
    int64_t a, b;
    if (!r.known || __builtin_mul_overflow(r.low, t->step, &a) || __builtin_mul_overflow(r.high, t->step, &b))
        return false;
    return !__builtin_add_overflow(*low, a < b ? a : b, low) &&
           !__builtin_add_overflow(*high, a < b ? b : a, high);
}

/* Adding the constant part of the rest is the same as flipping its bits when they meet none of the variable
 * part; bits below M never flip and may stand at the end, where they become address offsets. */
static bool split_rest(swizzle_parts *parts, layout_swizzle z, int64_t kept, int64_t period) {
    lower_context *context = parts->rest.context;
    int64_t unit = (int64_t)1 << z.per_element, reach = 1, multiple = period;
    const ir_expr *variable = parts->rest.terms.count ? add_up(&parts->rest) : NULL;
    while (reach <= parts->rest_high)
        reach *= 2;
    while (variable && multiple > 1 && !arith_is_multiple(context->facts, variable, multiple))
        multiple /= 2;
    if (!variable)
        reach = multiple = 1;
    if (kept & (reach - 1) & ~(multiple - 1)) /* they meet: added before the flip */
        add_constant(&parts->rest, kept, 1);
    else {
        parts->fixed = kept & ~(unit - 1);
        parts->constant += kept & (unit - 1);
    }
    return true;
}

static bool split_swizzle(const sum *s, layout_swizzle z, swizzle_parts *parts) {
    lower_context *context = s->context;
    int64_t period = (int64_t)1 << (z.per_element + z.atom), cycle = (int64_t)1 << z.length, low = 0,
            high = 0;
    *parts = (swizzle_parts){.whole.context = context, .rest.context = context, .phase.context = context};
    if (z.outer || s->overflow)
        return false;
    for (size_t i = 0; i < s->terms.count; i++) {
        const term *t = &s->terms.items[i];
        if (t->stride)
            return false;
        if (t->step % period) {
            if (!add_range(context, t, &low, &high))
                return false;
            add_term(&parts->rest, t->value, t->step);
            continue;
        }
        add_term(&parts->whole, t->value, t->step);
        int64_t turns = t->step / period % cycle;
        add_term(&parts->phase, t->value, turns < 0 ? turns + cycle : turns);
    }
    int64_t kept = s->constant & (period - 1), above = s->constant - kept;
    if (parts->rest.constant || low < 0 || high > period - 1 - kept)
        return false;
    parts->rest_high = high;
    parts->constant = above;
    parts->phase.constant = (parts->phase.constant + above / period) & (cycle - 1);
    return split_rest(parts, z, kept, period);
}

/* ((phase mod 2^B) << M): the bits that flip. */
static const ir_expr *phase_bits(swizzle_parts *parts, layout_swizzle z) {
    lower_context *context = parts->phase.context;
    ir_module *module = context->module;
    int64_t cycle = (int64_t)1 << z.length;
    const ir_expr *phase = add_up(&parts->phase);
    arith_modular m = arith_modular_set(context->facts, phase);
    if (m.modulus % cycle == 0)
        phase = constant_like(module, phase, m.remainder & (cycle - 1));
    arith_range r = arith_bounds(context->facts, phase);
    if (!r.known || r.low < 0 || r.high >= cycle)
        phase = lower_integer_binary(module, IR_BITAND, phase, constant_like(module, phase, cycle - 1));
    return lower_integer_binary(module, IR_MUL, phase,
                                constant_like(module, phase, (int64_t)1 << z.per_element));
}

static const ir_expr *flip(ir_module *module, const ir_expr *x, const ir_expr *by) {
    int64_t zero;
    if (!x || (ir_is_int(x, &zero) && zero == 0))
        return by;
    return ir_is_int(by, &zero) && zero == 0 ? x : lower_integer_binary(module, IR_BITXOR, x, by);
}

/* Replaces the sum by its swizzled value: one XOR where the parts can be told apart. */
static void swizzle_sum(sum *s, layout_swizzle z) {
    lower_context *context = s->context;
    ir_module *module = context->module;
    swizzle_parts parts;
    sum out = {.context = context};
    if (s->overflow)
        return;
    if (!split_swizzle(s, z, &parts)) {
        add_term(&out, swizzled(context, add_up(s), z), 1);
        *s = out;
        return;
    }
    const ir_expr *low = flip(module, add_up(&parts.rest), phase_bits(&parts, z));
    /* The variable parts first: accesses that differ by constants share them. */
    const ir_expr *base = low;
    int64_t zero;
    if (parts.whole.terms.count) {
        base = add_up(&parts.whole);
        if (!ir_is_int(low, &zero) || zero != 0)
            base = lower_integer_binary(module, IR_ADD, base, low);
    }
    base = flip(module, base, constant_like(module, base, parts.fixed));
    add_term(&out, base, 1);
    add_constant(&out, parts.constant + parts.whole.constant, 1);
    out.overflow |= parts.whole.overflow;
    *s = out;
}

/* ---- accesses that no address can serve ---- */
static bool check_access(lower_context *context, const ir_tensor *tensor, base_span span) {
    base_diagnostics *diagnostics = context->diagnostics;
    const layout_tile *layout = tensor->type.layout;
    base_diagnostic *d;
    if (tensor->type.scope == IR_SCOPE_TMEM) {
        d = base_report(diagnostics, BASE_ERROR, "T0408", span,
                        "'%s' is tensor memory, which has no addresses for loads and stores", tensor->name);
        base_help(diagnostics, d, "move it with tcgen05.ld, tcgen05.st, tcgen05.cp or use it in tcgen05.mma");
        return false;
    }
    if (!layout)
        return true;
    for (uint32_t i = 0; i < layout->shard_count; i++) {
        layout_axis axis = layout->shard[i].axis;
        if (axis == LAYOUT_AXIS_M || layout->shard[i].extent == 1)
            continue;
        d = base_report(diagnostics, BASE_ERROR, "T0407", span,
                        "an element of '%s' is not one address: its layout puts elements on the axis %s",
                        tensor->name, layout_axis_name(axis));
        base_note(diagnostics, d, tensor->span, "'%s' is declared here", tensor->name);
        if (layout_axis_is_memory(axis))
            base_help(diagnostics, d, "give it a layout on the memory axis m");
        else
            base_help(diagnostics, d,
                      "index this thread's own slots through a view: %s.view(slots, layout=\"default\")",
                      tensor->name);
        return false;
    }
    return true;
}

const ir_expr *lower_index(lower_context *context, const ir_tensor *tensor, const ir_expr *const *indices,
                           base_span span) {
    if (!check_access(context, tensor, span))
        return NULL;
    sum s = {.context = context};
    if (tensor->type.strides)
        strided(&s, tensor, indices);
    else if (!tensor->type.layout)
        row_major(&s, tensor, indices);
    else if (!tile(&s, tensor, indices))
        return NULL;
    const layout_tile *layout = tensor->type.layout;
    if (layout && layout->swizzle.present && layout->swizzle.length > 0)
        swizzle_sum(&s, layout->swizzle);
    unsigned lanes = tensor->type.lanes > 1 ? tensor->type.lanes : 1;
    const ir_expr *offset;
    view_pointer(tensor, &offset);
    if (lanes > 1) {
        for (size_t i = 0; i < s.terms.count; i++) {
            term *t = &s.terms.items[i];
            if (t->stride)
                t->stride = lower_integer_binary(context->module, IR_MUL, t->stride,
                                                 constant_like(context->module, t->stride, lanes));
            else
                s.overflow |= __builtin_mul_overflow(t->step, (int64_t)lanes, &t->step);
        }
        s.overflow |= __builtin_mul_overflow(s.constant, (int64_t)lanes, &s.constant);
    }
    int64_t constant;
    if (offset && ir_is_int(offset, &constant))
        add_constant(&s, constant, 1);
    if (s.overflow) {
        base_report(context->diagnostics, BASE_ERROR, "T0411", span,
                    "the element number of '%s' does not fit 64 bits", tensor->name);
        return NULL;
    }
    const ir_expr *index = add_up(&s);
    if (offset && !ir_is_int(offset, &constant))
        index = ir_is_int(index, &constant) && constant == 0
                    ? offset
                    : lower_integer_binary(context->module, IR_ADD, offset, index);
    return index;
}

/* ---- questions about layouts ---- */
bool lower_is_contiguous(lower_context *context, const ir_tensor *tensor, const ir_expr *last,
                         int64_t count) {
    int64_t *shape, step;
    if (tensor->type.strides)
        return tensor->type.rank && ir_is_int(tensor->type.strides[tensor->type.rank - 1], &step) &&
               step == 1;
    if (!tensor->type.layout)
        return true;
    if (!constant_shape(context, &tensor->type, &shape) || tensor->type.rank == 0)
        return false;
    uint32_t *separators = BASE_NEW_ARRAY(context->arena, uint32_t, tensor->type.rank + 1);
    const layout_tile *group = grouped(context, tensor, shape, separators);
    if (!group)
        return false;
    uint32_t end = separators[tensor->type.rank];
    const layout_iter *inner = &group->shard[end - 1];
    if (inner->stride != 1 || inner->axis != LAYOUT_AXIS_M)
        return false;
    if (group->swizzle.present &&
        group->swizzle.length > 0) { /* a run inside of what the XOR keeps together */
        bool aligned = count > 0 && ((int64_t)1 << group->swizzle.per_element) % count == 0 &&
                       inner->extent % count == 0 && group->offset[LAYOUT_AXIS_M] % count == 0;
        for (uint32_t i = 0; i + 1 < end; i++)
            aligned = aligned && group->shard[i].stride % count == 0;
        return aligned && arith_is_multiple(context->facts, last, count);
    }
    if (end - separators[tensor->type.rank - 1] == 1)
        return true;
    return inner->extent % count == 0 && arith_is_multiple(context->facts, last, count);
}

static bool report_size(lower_context *context, const ir_tensor *tensor, base_span span, const char *what) {
    base_report(context->diagnostics, BASE_ERROR, "T0412", span, "the storage of '%s' %s", tensor->name,
                what);
    return false;
}

bool lower_footprint(lower_context *context, const ir_tensor *tensor, base_span span, uint64_t *elements) {
    int64_t *shape, size = 1;
    if (tensor->type.strides || !constant_shape(context, &tensor->type, &shape))
        return report_size(context, tensor, span,
                           "needs a size that is constant when the kernel is compiled");
    for (uint32_t d = 0; d < tensor->type.rank; d++) {
        if (shape[d] <= 0)
            return report_size(context, tensor, span, "would be empty: every extent must be positive");
        if (__builtin_mul_overflow(size, shape[d], &size))
            return report_size(context, tensor, span, "is larger than 64 bits can count");
    }
    const layout_tile *layout = tensor->type.layout;
    if (layout) {
        if (!check_domain(context, tensor, shape))
            return false;
        for (uint32_t i = 0; i < layout->shard_count; i++)
            if (layout->shard[i].stride < 0 && layout->shard[i].axis == LAYOUT_AXIS_M)
                return report_size(context, tensor, span, "cannot have a layout with negative strides");
        if (!layout_footprint(layout, LAYOUT_AXIS_M, &size) || size <= 0)
            return report_size(context, tensor, span, "is larger than 64 bits can count");
    }
    *elements = (uint64_t)size;
    if (lower_bytes(&tensor->type, *elements) > (uint64_t)INT64_MAX / 16 || size > (INT64_MAX >> 12))
        return report_size(context, tensor, span, "is larger than 64 bits can count");
    return true;
}

uint64_t lower_bytes(const ir_tensor_type *type, uint64_t elements) {
    uint64_t scalars = elements * (type->lanes > 1 ? type->lanes : 1);
    if (num_dtype_bits(type->dtype) == 4)
        return (scalars + 1) / 2;
    return scalars * num_dtype_bytes(type->dtype);
}

/* lower_footprint without reports, for those who come after it. */
uint64_t lower_tensor_bytes(const ir_tensor *tensor) {
    int64_t size = 1, extent;
    if (tensor->type.strides)
        return 0;
    if (tensor->type.layout) {
        if (!layout_footprint(tensor->type.layout, LAYOUT_AXIS_M, &size) || size <= 0)
            return 0;
    } else {
        for (uint32_t d = 0; d < tensor->type.rank; d++)
            if (!ir_is_int(tensor->type.shape[d], &extent) || extent <= 0 ||
                __builtin_mul_overflow(size, extent, &size))
                return 0;
    }
    return lower_bytes(&tensor->type, (uint64_t)size);
}
