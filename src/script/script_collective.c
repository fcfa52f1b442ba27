/* SPDX-License-Identifier: Apache-2.0
 * Words with effects between threads: barriers, shuffles, votes, reductions over a warp, atomics, printing,
 * traps. */
#include "script/script_evaluate.h"
#include <string.h>

static const ir_type void_type = {.kind = IR_TYPE_VOID, .lanes = 1};

static script_value make(script_evaluator *e, ir_op op, ir_type type, const ir_expr *const *args,
                         uint32_t count) {
    return script_expr(ir_make(e->module, op, type, args, count));
}

/* A scalar argument of one type; NULL: reported. */
static const ir_expr *argument(script_evaluator *e, const script_call *call, size_t index, num_dtype dtype) {
    return script_to_type(e, call->value[index], ir_type_prim(dtype, 1), call->place[index]);
}

static const ir_expr *predicate(script_evaluator *e, const script_call *call, size_t index) {
    return script_to_condition(e, call->value[index], call->place[index], "the condition");
}

/* ---- barriers ---- */

script_value script_word_sync(script_evaluator *e, const script_call *call) {
    if (!script_need_kernel(e, call->span, call->word->path))
        return script_poison();
    return make(e, (ir_op)call->word->data, void_type, NULL, 0);
}

script_value script_word_sync_vote(script_evaluator *e, const script_call *call) {
    const ir_expr *condition;
    if (!script_need_kernel(e, call->span, call->word->path) || !(condition = predicate(e, call, 0)))
        return script_poison();
    return make(e, (ir_op)call->word->data, ir_type_prim(NUM_DTYPE_I32, 1), &condition, 1);
}

/* The older barrier names what it orders; inside a warp nothing is needed that warp_sync does not do. */
script_value script_word_storage_sync(script_evaluator *e, const script_call *call) {
    const char *scope;
    if (!script_need_kernel(e, call->span, call->word->path) ||
        !script_constant_string(e, call->value[0], &scope, call->place[0], "the scope of a barrier"))
        return script_poison();
    if (strcmp(scope, "shared") == 0 || strcmp(scope, "shared.dyn") == 0)
        return make(e, IR_CTA_SYNC, void_type, NULL, 0);
    if (strcmp(scope, "warp") == 0)
        return make(e, IR_WARP_SYNC, void_type, NULL, 0);
    if (strcmp(scope, "global") == 0)
        return make(e, IR_GRID_SYNC, void_type, NULL, 0);
    script_not_supported(e, call->place[0], "a barrier over '%s'", scope);
    return script_poison();
}

script_value script_word_nano_sleep(script_evaluator *e, const script_call *call) {
    const ir_expr *time = argument(e, call, 0, NUM_DTYPE_U32);
    if (!time || !script_need_kernel(e, call->span, call->word->path))
        return script_poison();
    return make(e, IR_NANOSLEEP, void_type, &time, 1);
}

script_value script_word_clock(script_evaluator *e, const script_call *call) {
    if (!script_need_kernel(e, call->span, call->word->path))
        return script_poison();
    return make(e, IR_CLOCK, ir_type_prim(NUM_DTYPE_I64, 1), NULL, 0);
}

script_value script_word_trap(script_evaluator *e, const script_call *call) {
    const ir_expr *condition;
    if (!script_need_kernel(e, call->span, call->word->path) || !(condition = predicate(e, call, 0)))
        return script_poison();
    return make(e, IR_TRAP_UNLESS, void_type, &condition, 1);
}

/* A claim: what follows may rely on it, and where it is false the kernel is wrong. */
script_value script_word_assume(script_evaluator *e, const script_call *call) {
    bool truth;
    if (script_value_truth(call->value[0], &truth) || !script_need_kernel(e, call->span, call->word->path)) {
        if (script_value_truth(call->value[0], &truth) && !truth)
            script_check(e, script_bool(false), "it was assumed", call->span);
        return script_none();
    }
    return script_word_trap(e, call);
}

script_value script_word_elected(script_evaluator *e, const script_call *call) {
    base_diagnostic *d =
        script_error(e, "T0282", call->span, "elected() says nothing of when lanes are chosen");
    base_help(e->diagnostics, d, "if T.cuda.elect_sync(): chooses one lane of the warp here");
    return script_poison();
}

/* ---- printf ---- */

/* One value that a format takes: by its conversion, or by a * in front of one. */
typedef struct conversion {
    char type;
    bool is_long; /* of 64 bits: l, ll, j, z, t, as on the device */
} conversion;
typedef BASE_VECTOR(conversion) conversions;

/* false: a broken format. */
static bool read_conversions(script_evaluator *e, const char *format, conversions *list) {
    for (; *format; format++) {
        if (*format != '%')
            continue;
        format++;
        if (*format == '%')
            continue;
        for (size_t size = strspn(format, "-+ #0123456789.*"); size > 0; size--, format++)
            if (*format == '*')
                base_vector_push(e->arena, list, ((conversion){.type = '*'}));
        conversion c = {0};
        for (; *format && strchr("hlLqjzt", *format); format++)
            c.is_long |= *format != 'h' && *format != 'L';
        if (*format == 0 || !strchr("diouxXcsfFeEgGaAp", *format))
            return false;
        c.type = *format;
        base_vector_push(e->arena, list, c);
    }
    return true;
}

static bool is_printable(ir_type type) {
    if (type.kind == IR_TYPE_POINTER)
        return true;
    if (type.kind != IR_TYPE_PRIM || type.lanes != 1)
        return false;
    return type.dtype == NUM_DTYPE_F32 || type.dtype == NUM_DTYPE_F64 ||
           !num_dtype_is_float((num_dtype)type.dtype);
}

/* Whether the value is what the conversion reads; the printed number would be another one's bits. */
static bool check_conversion(script_evaluator *e, conversion c, const ir_expr *x, base_span span) {
    bool is_text = x->op == IR_STRING, is_pointer = x->type.kind == IR_TYPE_POINTER;
    bool is_real = !is_text && !is_pointer && num_dtype_is_float((num_dtype)x->type.dtype);
    const char *takes = c.type == '*'                ? "an integer, a width or precision"
                        : strchr("diouxXc", c.type)  ? "an integer"
                        : strchr("fFeEgGaA", c.type) ? "a float"
                        : c.type == 's'              ? "a text or a pointer to one"
                                                     : "a pointer";
    bool fits = c.type == '*' || strchr("diouxXc", c.type) ? !is_text && !is_pointer && !is_real
                : strchr("fFeEgGaA", c.type)               ? is_real
                : c.type == 's'                            ? is_text || is_pointer
                                                           : is_pointer;
    if (!fits) {
        base_diagnostic *d = script_error(e, "T0247", span, "%%%c takes %s, not %s", c.type, takes,
                                          is_text ? "a text" : script_type_name(e, x->type));
        base_help(e->diagnostics, d,
                  is_text      ? "a text is printed by %%s"
                  : is_pointer ? "a pointer is printed by %%p"
                  : is_real    ? "a float is printed by %%f, or converted: T.int32(x)"
                               : "an integer is printed by %%d, or converted: T.float32(x)");
        return false;
    }
    if (is_text || is_pointer || is_real || c.type == '*' || c.type == 'c')
        return true;
    bool is_wide = num_dtype_bits((num_dtype)x->type.dtype) == 64;
    if (is_wide == c.is_long)
        return true;
    base_diagnostic *d =
        base_report(e->diagnostics, BASE_WARNING, "T0247", span, "%%%s%c reads %d bits, and the value is %s",
                    c.is_long ? "ll" : "", c.type, c.is_long ? 64 : 32, script_type_name(e, x->type));
    base_help(e->diagnostics, d, is_wide ? "write %%ll%c" : "write %%%c", c.type);
    return true;
}

script_value script_word_printf(script_evaluator *e, const script_call *call) {
    const char *format;
    conversions wanted = {0};
    size_t count = call->rest.items.count;
    bool good = true;
    if (!script_need_kernel(e, call->span, call->word->path) ||
        !script_constant_string(e, call->value[0], &format, call->place[0], "the format of printf"))
        return script_poison();
    if (!read_conversions(e, format, &wanted)) {
        script_error(e, "T0247", call->place[0], "a %% of this format begins no conversion");
        return script_poison();
    }
    if (wanted.count != count) {
        script_error(e, "T0247", call->span, "the format takes %zu value%s, %zu %s given", wanted.count,
                     wanted.count == 1 ? "" : "s", count, count == 1 ? "is" : "are");
        return script_poison();
    }
    const ir_expr **args = BASE_NEW_ARRAY(e->arena, const ir_expr *, count + 1);
    args[0] = ir_string(e->module, format);
    for (size_t i = 0; i < count; i++) {
        const script_argument *item = &call->rest.items.items[i];
        const ir_expr *x = item->value.kind == SCRIPT_VALUE_STRING
                               ? ir_string(e->module, item->value.as.string.text)
                               : script_to_expr(e, item->value, item->span);
        args[i + 1] = x;
        if (!x) {
            good = false;
        } else if (x->op != IR_STRING && !is_printable(x->type)) {
            base_diagnostic *d =
                script_error(e, "T0247", item->span, "printf does not take %s", script_type_name(e, x->type));
            base_help(e->diagnostics, d, "convert it: T.float32(x)");
            good = false;
        } else
            good &= check_conversion(e, wanted.items[i], x, item->span);
    }
    return good ? make(e, IR_PRINTF, void_type, args, (uint32_t)count + 1) : script_poison();
}

/* ---- shuffles ---- */

static bool check_width(script_evaluator *e, script_value v, base_span span, int64_t *width) {
    if (!script_constant_int(e, v, width, span, "a width"))
        return false;
    if (*width >= 2 && *width <= 32 && (*width & (*width - 1)) == 0)
        return true;
    script_error(e, "T0248", span, "a width of %lld; it is 2, 4, 8, 16 or 32", (long long)*width);
    return false;
}

static bool is_shuffled(script_evaluator *e, const script_call *call, size_t index, const ir_expr *value) {
    unsigned bits = value->type.kind == IR_TYPE_PRIM ? num_dtype_bits((num_dtype)value->type.dtype) : 0;
    if (value->type.lanes == 1 && bits >= 16 && value->type.dtype != NUM_DTYPE_BOOL)
        return true;
    script_error(e, "T0248", call->place[index], "%s does not move %s", call->word->path,
                 script_type_name(e, value->type));
    return false;
}

script_value script_word_shuffle(script_evaluator *e, const script_call *call) {
    const ir_expr *args[4];
    const script_value *width = script_argument_of(call, "width"),
                       *warp = script_argument_of(call, "warp_size");
    int64_t constant = 32, warp_size;
    if (!script_need_kernel(e, call->span, call->word->path))
        return script_poison();
    args[0] = argument(e, call, 0, NUM_DTYPE_U32);
    args[1] = script_to_expr(e, call->value[1], call->place[1]);
    args[2] = argument(e, call, 2, NUM_DTYPE_I32);
    if (!args[0] || !args[1] || !args[2] || !is_shuffled(e, call, 1, args[1]))
        return script_poison();
    if (width && !check_width(e, *width, script_argument_span(call, "width"), &constant))
        return script_poison();
    if (warp && (!script_constant_int(e, *warp, &warp_size, script_argument_span(call, "warp_size"),
                                      "the warp size") ||
                 warp_size != 32)) {
        script_error(e, "T0248", script_argument_span(call, "warp_size"), "a warp has 32 lanes");
        return script_poison();
    }
    args[3] = ir_int(e->module, NUM_DTYPE_I32, constant);
    return make(e, (ir_op)call->word->data, args[1]->type, args, 4);
}

script_value script_word_vote(script_evaluator *e, const script_call *call) {
    const ir_expr *args[2] = {argument(e, call, 0, NUM_DTYPE_U32), predicate(e, call, 1)};
    ir_op op = (ir_op)call->word->data;
    if (!args[0] || !args[1] || !script_need_kernel(e, call->span, call->word->path))
        return script_poison();
    return make(e, op, ir_type_prim(op == IR_VOTE_BALLOT ? NUM_DTYPE_U32 : NUM_DTYPE_BOOL, 1), args, 2);
}

script_value script_word_active_mask(script_evaluator *e, const script_call *call) {
    if (!script_need_kernel(e, call->span, call->word->path))
        return script_poison();
    return make(e, IR_ACTIVE_MASK, ir_type_prim(NUM_DTYPE_U32, 1), NULL, 0);
}

script_value script_word_redux(script_evaluator *e, const script_call *call) {
    const ir_expr *args[2] = {argument(e, call, 0, NUM_DTYPE_U32), argument(e, call, 1, NUM_DTYPE_U32)};
    if (!args[0] || !args[1] || !script_need_kernel(e, call->span, call->word->path))
        return script_poison();
    return make(e, (ir_op)call->word->data, args[1]->type, args, 2);
}

/* ---- reductions over a warp: a butterfly of xor shuffles, one let per step ---- */

static bool reduction_op(script_evaluator *e, const script_call *call, ir_op *op) {
    const char *name;
    if (call->word->data >= 0) {
        *op = (ir_op)call->word->data;
        return true;
    }
    if (!script_constant_string(e, call->value[1], &name, call->place[1], "the operation of a reduction"))
        return false;
    *op = strcmp(name, "sum") == 0 ? IR_ADD : strcmp(name, "max") == 0 ? IR_MAX : IR_MIN;
    if (*op != IR_MIN || strcmp(name, "min") == 0)
        return true;
    script_error(e, "T0248", call->place[1], "a reduction by '%s'; sum, max and min are possible", name);
    return false;
}

script_value script_word_warp_reduce(script_evaluator *e, const script_call *call) {
    ir_op op;
    int64_t width = 32;
    const script_value *given = script_argument_of(call, "width");
    if (!script_need_kernel(e, call->span, call->word->path) || !reduction_op(e, call, &op) ||
        (given && !check_width(e, *given, script_argument_span(call, "width"), &width)))
        return script_poison();
    const ir_expr *x = script_to_expr(e, call->value[0], call->place[0]);
    if (!x || !is_shuffled(e, call, 0, x))
        return script_poison();
    script_value value = script_make_let(e, x, call->span);
    const ir_expr *mask = ir_int(e->module, NUM_DTYPE_U32, 0xffffffff);
    for (int64_t distance = width / 2; distance > 0; distance /= 2) {
        const ir_expr *args[4] = {mask, value.as.expr, ir_int(e->module, NUM_DTYPE_I32, distance),
                                  ir_int(e->module, NUM_DTYPE_I32, 32)};
        const ir_expr *other = ir_make(e->module, IR_SHUFFLE_XOR, x->type, args, 4);
        value = script_make_let(e, ir_binary(e->module, op, value.as.expr, other), call->span);
    }
    return value;
}

/* ---- atomics ---- */

static const ir_expr *atomic_pointer(script_evaluator *e, const script_call *call, ir_type *element) {
    const ir_expr *pointer =
        script_to_pointer(e, call->value[0], call->place[0], "the first argument of an atomic");
    if (!pointer || !script_need_kernel(e, call->span, call->word->path))
        return NULL;
    num_dtype dtype = (num_dtype)pointer->type.dtype;
    unsigned bits = dtype == NUM_DTYPE_NONE ? 0 : num_dtype_bits(dtype) * pointer->type.lanes;
    bool half = call->word->data == IR_ATOMIC_ADD && (dtype == NUM_DTYPE_F16 || dtype == NUM_DTYPE_BF16);
    if (pointer->type.lanes != 1 || (bits != 32 && bits != 64 && !half)) {
        script_error(e, "T0249", call->place[0], "%s works on elements of 32 or 64 bits, not on %s",
                     call->word->path, script_type_name(e, pointer->type));
        return NULL;
    }
    if (pointer->type.scope == IR_SCOPE_LOCAL) {
        script_error(e, "T0249", call->place[0], "an atomic on local memory: no other thread sees it");
        return NULL;
    }
    *element = ir_type_prim(dtype, 1);
    return pointer;
}

script_value script_word_atomic(script_evaluator *e, const script_call *call) {
    ir_op op = (ir_op)call->word->data;
    ir_type element;
    const ir_expr *args[2] = {atomic_pointer(e, call, &element)};
    if (!args[0])
        return script_poison();
    if ((op == IR_ATOMIC_AND || op == IR_ATOMIC_OR || op == IR_ATOMIC_XOR) && !ir_type_is_integer(element)) {
        script_error(e, "T0249", call->place[0], "%s works on integers, not on %s", call->word->path,
                     script_type_name(e, element));
        return script_poison();
    }
    args[1] = script_to_type(e, call->value[1], element, call->place[1]);
    return args[1] ? make(e, op, element, args, 2) : script_poison();
}

script_value script_word_atomic_cas(script_evaluator *e, const script_call *call) {
    ir_type element;
    const ir_expr *args[3] = {atomic_pointer(e, call, &element)};
    if (!args[0])
        return script_poison();
    args[1] = script_to_type(e, call->value[1], element, call->place[1]);
    args[2] = script_to_type(e, call->value[2], element, call->place[2]);
    return args[1] && args[2] ? make(e, IR_ATOMIC_CAS, element, args, 3) : script_poison();
}
