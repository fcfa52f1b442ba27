/* SPDX-License-Identifier: Apache-2.0
 * Compile-time values: construction, names for messages, text, equality, truth. Evaluates nothing. */
#include "script/script_evaluate.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

script_value script_string(base_arena *arena, const char *text, size_t size) {
    script_value v = {.kind = SCRIPT_VALUE_STRING};
    v.as.string.text = base_arena_string(arena, text, size);
    v.as.string.size = size;
    return v;
}

script_value script_list_make(base_arena *arena, script_value_kind kind) {
    script_value v = {.kind = kind, .as.list = BASE_NEW(arena, script_list)};
    v.as.list->arena = arena;
    return v;
}

script_value script_list_make_of(base_arena *arena, script_value_kind kind, size_t count) {
    script_value v = script_list_make(arena, kind);
    if (count > 0)
        v.as.list->items.items = BASE_NEW_ARRAY(arena, script_value, count);
    v.as.list->items.capacity = count;
    return v;
}

void script_list_add(base_arena *arena, script_value list, script_value item) {
    base_vector_push(arena, &list.as.list->items, item);
}

static const char *tensor_name(base_arena *arena, const ir_tensor_type *type) {
    base_builder b;
    base_builder_start(&b, arena);
    base_builder_string(&b, "a tensor of shape (");
    for (uint32_t i = 0; i < type->rank; i++) {
        if (i > 0)
            base_builder_string(&b, ", ");
        ir_expr_print(type->shape[i], &b);
    }
    base_builder_string(&b, type->rank == 1 ? ",) and dtype " : ") and dtype ");
    ir_type_print(ir_type_prim(type->dtype, type->lanes), &b);
    return b.data;
}

static const char *typed_name(base_arena *arena, const char *what, ir_type type) {
    base_builder b;
    base_builder_start(&b, arena);
    base_builder_string(&b, what);
    ir_type_print(type, &b);
    return b.data;
}

const char *script_value_name(base_arena *arena, script_value v) {
    static const char *const names[] = {
        [SCRIPT_VALUE_POISON] = "something wrong",
        [SCRIPT_VALUE_NONE] = "None",
        [SCRIPT_VALUE_ELLIPSIS] = "...",
        [SCRIPT_VALUE_BOOL] = "a bool",
        [SCRIPT_VALUE_INT] = "an int",
        [SCRIPT_VALUE_FLOAT] = "a float",
        [SCRIPT_VALUE_STRING] = "a string",
        [SCRIPT_VALUE_TUPLE] = "a tuple",
        [SCRIPT_VALUE_LIST] = "a list",
        [SCRIPT_VALUE_DICT] = "a dict",
        [SCRIPT_VALUE_SLICE] = "a slice",
        [SCRIPT_VALUE_RANGE] = "a range",
        [SCRIPT_VALUE_ITERATOR] = "an iterator",
        [SCRIPT_VALUE_FUNCTION] = "a function",
        [SCRIPT_VALUE_SET] = "a set",
        [SCRIPT_VALUE_BOUND] = "a method",
        [SCRIPT_VALUE_PARTIAL] = "a partial function",
        [SCRIPT_VALUE_TEMPLATE] = "a kernel with constants to be given",
        [SCRIPT_VALUE_OPTIONAL] = "an optional type",
        [SCRIPT_VALUE_FIELD] = "a field of a record",
        [SCRIPT_VALUE_METHOD] = "a method",
        [SCRIPT_VALUE_NAMESPACE] = "a namespace of the dialect",
        [SCRIPT_VALUE_PTX] = "a PTX instruction",
        [SCRIPT_VALUE_PTX_ADDRESS] = "an address of a PTX instruction",
        [SCRIPT_VALUE_MODULE] = "a module",
        [SCRIPT_VALUE_FILE] = "an imported file",
        [SCRIPT_VALUE_LET_TYPE] = "a let annotation",
        [SCRIPT_VALUE_SYMBOL] = "a size without a name",
        [SCRIPT_VALUE_AXIS] = "a layout axis",
        [SCRIPT_VALUE_AXIS_TERM] = "a stride on an axis",
        [SCRIPT_VALUE_LAYOUT_SPEC] = "a layout part",
        [SCRIPT_VALUE_LAYOUT] = "a layout",
        [SCRIPT_VALUE_ITER] = "a part of a layout",
        [SCRIPT_VALUE_INDEXER] = "a tile or chunk without its [picks]",
        [SCRIPT_VALUE_BOUNDS] = "a range of a region",
        [SCRIPT_VALUE_POOL] = "a pool",
        [SCRIPT_VALUE_TMEM_POOL] = "a pool of tensor memory",
        [SCRIPT_VALUE_LAUNCH] = "a LaunchConfig",
        [SCRIPT_VALUE_ATTRIBUTES] = "kernel attributes",
        [SCRIPT_VALUE_LOOP] = "a loop",
        [SCRIPT_VALUE_META] = "a meta variable",
        [SCRIPT_VALUE_DECORATOR] = "a decorator",
        [SCRIPT_VALUE_KERNEL] = "a kernel",
        [SCRIPT_VALUE_FRAME] = "a statement",
    };
    switch (v.kind) {
    case SCRIPT_VALUE_WORD:
        return "a word of the dialect";
    case SCRIPT_VALUE_FOREIGN:
        return base_arena_format(arena, "%s, which is not available here", v.as.string.text);
    case SCRIPT_VALUE_CLASS:
        return base_arena_format(arena, "the class '%s'", v.as.class->name);
    case SCRIPT_VALUE_OBJECT:
        return base_arena_format(arena, "an object of '%s'", v.as.object->class->name);
    case SCRIPT_VALUE_EXPR:
        return typed_name(arena, v.as.expr->type.kind == IR_TYPE_POINTER ? "a pointer " : "a value of type ",
                          v.as.expr->type);
    case SCRIPT_VALUE_TENSOR:
        return tensor_name(arena, &v.as.tensor->type);
    case SCRIPT_VALUE_WINDOW:
        return base_arena_format(arena, "a part of '%s' that starts at values of the kernel",
                                 script_window_title(v.as.window));
    case SCRIPT_VALUE_REGION:
        return base_arena_format(arena, "a region of %s", tensor_name(arena, &v.as.region->tensor->type));
    case SCRIPT_VALUE_TENSOR_TYPE:
        return base_arena_format(arena, "the type of %s", tensor_name(arena, &v.as.tensor_type->type));
    case SCRIPT_VALUE_TYPE:
    case SCRIPT_VALUE_DTYPE:
        return typed_name(arena, "the type ", v.as.type);
    default:
        return names[v.kind] ? names[v.kind] : "a value";
    }
}

/* A value half way between two texts may read back from the upper one alone. */
static bool next_decimal(char *text, double value) {
    char next[64];
    strcpy(next, text);
    char *e = strchr(next, 'e');
    for (char *digit = e - 1; digit >= next && *digit != '-'; digit--) {
        if (*digit == '.')
            continue;
        if (*digit != '9') {
            ++*digit;
            if (strtod(next, NULL) != value)
                return false;
            strcpy(text, next);
            return true;
        }
        *digit = '0';
    }
    return false;
}

/* The shortest digits that read back, as Python writes them: with an exponent below 1e-4 and from 1e16 on. */
static void add_float(double value, base_builder *out) {
    char text[64], digits[40];
    if (value != value || value - value != 0) {
        base_builder_string(out, value != value ? "nan" : value < 0 ? "-inf" : "inf");
        return;
    }
    for (int precision = 0; precision <= 16; precision++) {
        snprintf(text, sizeof(text), "%.*e", precision, value);
        if (strtod(text, NULL) == value || next_decimal(text, value))
            break;
    }
    char *e = strchr(text, 'e'), *from = text;
    int exponent = (int)strtol(e + 1, NULL, 10), count = 0;
    if (*from == '-')
        base_builder_char(out, *from++);
    for (; from < e; from++)
        if (*from != '.')
            digits[count++] = *from;
    while (count > 1 && digits[count - 1] == '0')
        count--;
    if (exponent < -4 || exponent >= 16) {
        base_builder_char(out, digits[0]);
        if (count > 1)
            base_builder_char(out, '.');
        base_builder_add(out, digits + 1, (size_t)count - 1);
        base_builder_format(out, "e%c%02d", exponent < 0 ? '-' : '+', exponent < 0 ? -exponent : exponent);
        return;
    }
    if (exponent < 0)
        base_builder_string(out, "0.");
    for (int i = exponent + 1; i < 0; i++)
        base_builder_char(out, '0');
    for (int i = 0; i < count || i <= exponent; i++) {
        base_builder_char(out, i < count ? digits[i] : '0');
        if (i == exponent && i + 1 < count)
            base_builder_char(out, '.');
    }
    if (count <= exponent + 1)
        base_builder_string(out, ".0");
}

/* With quotes and escapes; bytes over 127 are taken for letters. */
static void add_quoted(const char *text, size_t size, base_builder *out) {
    bool single = memchr(text, '\'', size) != NULL, both = single && memchr(text, '"', size) != NULL;
    char quote = single && !both ? '"' : '\'';
    base_builder_char(out, quote);
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        const char *special = c ? strchr("\nn\tt\rr", c) : NULL;
        if (c == (unsigned char)quote || c == '\\')
            base_builder_char(out, '\\');
        if (special && c < ' ')
            base_builder_format(out, "\\%c", special[1]);
        else if (c < ' ' || c == 127)
            base_builder_format(out, "\\x%02x", c);
        else
            base_builder_char(out, (char)c);
    }
    base_builder_char(out, quote);
}

static bool list_text(script_evaluator *e, script_value v, unsigned depth, base_builder *out) {
    char open = v.kind == SCRIPT_VALUE_TUPLE ? '(' : v.kind == SCRIPT_VALUE_LIST ? '[' : '{';
    char close = v.kind == SCRIPT_VALUE_TUPLE ? ')' : v.kind == SCRIPT_VALUE_LIST ? ']' : '}';
    bool has_factory = v.kind == SCRIPT_VALUE_DICT && v.as.list->factory;
    if (has_factory) {
        base_builder_string(out, "defaultdict(");
        if (depth == 0 || !script_value_text_at(e, *v.as.list->factory, true, depth - 1, out))
            return false;
        base_builder_string(out, ", ");
    }
    base_builder_char(out, open);
    for (size_t i = 0; i < v.as.list->items.count; i++) {
        if (i > 0)
            base_builder_string(out, v.kind == SCRIPT_VALUE_DICT && i % 2 == 1 ? ": " : ", ");
        if (depth == 0 || out->size > (1u << 20) ||
            !script_value_text_at(e, v.as.list->items.items[i], true, depth - 1, out))
            return false;
    }
    if (v.kind == SCRIPT_VALUE_TUPLE && v.as.list->items.count == 1)
        base_builder_char(out, ',');
    base_builder_char(out, close);
    if (has_factory)
        base_builder_char(out, ')');
    return true;
}

bool script_value_text(script_evaluator *e, script_value v, bool repr, base_builder *out) {
    return script_value_text_at(e, v, repr, 50, out); /* a list may hold itself */
}

static bool range_text(script_evaluator *e, script_value v, unsigned depth, base_builder *out) {
    const script_value *part = v.as.list->items.items;
    bool is_slice = v.kind == SCRIPT_VALUE_SLICE;
    int64_t step;
    size_t parts = !is_slice && script_value_integer(part[2], &step) && step == 1 ? 2 : 3;
    base_builder_string(out, is_slice ? "slice(" : "range(");
    for (size_t i = 0; i < parts; i++) {
        if (i > 0)
            base_builder_string(out, ", ");
        if (depth == 0 || !script_value_text_at(e, part[i], true, depth - 1, out))
            return false;
    }
    base_builder_char(out, ')');
    return true;
}

bool script_value_text_at(script_evaluator *e, script_value v, bool repr, unsigned depth, base_builder *out) {
    switch (v.kind) {
    case SCRIPT_VALUE_NONE:
        base_builder_string(out, "None");
        return true;
    case SCRIPT_VALUE_BOOL:
        base_builder_string(out, v.as.boolean ? "True" : "False");
        return true;
    case SCRIPT_VALUE_INT:
        base_builder_format(out, v.flag ? "%llu" : "%lld", (long long)v.as.integer);
        return true;
    case SCRIPT_VALUE_FLOAT:
        add_float(v.as.real, out);
        return true;
    case SCRIPT_VALUE_STRING:
        if (repr)
            add_quoted(v.as.string.text, v.as.string.size, out);
        else
            base_builder_add(out, v.as.string.text, v.as.string.size);
        return true;
    case SCRIPT_VALUE_TYPE:
    case SCRIPT_VALUE_DTYPE:
        ir_type_print(v.as.type, out);
        return true;
    case SCRIPT_VALUE_LAYOUT:
        layout_print(v.as.layout, out);
        return true;
    case SCRIPT_VALUE_ITER:
        base_builder_format(out, v.as.iter.axis == LAYOUT_AXIS_M ? "%lld:%lld" : "%lld:%lld@%s",
                            (long long)v.as.iter.extent, (long long)v.as.iter.stride,
                            layout_axis_name(v.as.iter.axis));
        return true;
    case SCRIPT_VALUE_AXIS:
        base_builder_string(out, layout_axis_name(v.as.axis));
        return true;
    case SCRIPT_VALUE_TUPLE:
    case SCRIPT_VALUE_LIST:
    case SCRIPT_VALUE_DICT:
    case SCRIPT_VALUE_SET:
        if (v.kind == SCRIPT_VALUE_SET && v.as.list->items.count == 0) {
            base_builder_string(out, "set()");
            return true;
        }
        return list_text(e, v, depth, out);
    case SCRIPT_VALUE_RANGE:
    case SCRIPT_VALUE_SLICE:
        return range_text(e, v, depth, out);
    case SCRIPT_VALUE_ELLIPSIS:
        base_builder_string(out, "Ellipsis");
        return true;
    case SCRIPT_VALUE_WORD:
        if (strncmp(v.as.word->path, "python.", 7) != 0)
            return false;
        base_builder_format(out, "<class '%s'>", v.as.word->path + 7);
        return true;
    case SCRIPT_VALUE_OBJECT:
        return script_object_text(e, v.as.object, repr, depth, out);
    case SCRIPT_VALUE_EXPR:
        /* a folded constant prints as the number it is */
        if (v.as.expr->op == IR_INT || v.as.expr->op == IR_FLOAT) {
            ir_expr_print(v.as.expr, out);
            return true;
        }
        return false;
    default:
        return false;
    }
}

bool script_value_is_constant(script_value v) {
    return v.kind >= SCRIPT_VALUE_NONE && v.kind <= SCRIPT_VALUE_STRING;
}

static bool number(script_value v, double *real, int64_t *integer) {
    *integer = 0;
    *real = 0;
    if (v.kind == SCRIPT_VALUE_BOOL)
        *integer = v.as.boolean;
    else if (v.kind == SCRIPT_VALUE_INT)
        *integer = v.as.integer;
    else if (v.kind == SCRIPT_VALUE_FLOAT) {
        *real = v.as.real;
        return true;
    } else
        return false;
    *real = v.flag ? (double)(uint64_t)*integer : (double)*integer;
    return true;
}

static bool dtype_equals_text(script_value dtype, script_value text) {
    size_t size = text.as.string.size;
    ir_type type = dtype.as.type;
    const char *data = text.as.string.text;
    size_t digits = size;
    while (digits > 0 && data[digits - 1] >= '0' && data[digits - 1] <= '9')
        digits--;
    unsigned lanes = 1;
    if (digits > 0 && digits < size && size - digits < 6 && data[digits - 1] == 'x') {
        lanes = 0;
        for (size_t i = digits; i < size; i++)
            lanes = lanes * 10 + (unsigned)(data[i] - '0');
        size = digits - 1;
    }
    return type.kind == IR_TYPE_PRIM && type.lanes == lanes && num_dtype_find(data, size) == type.dtype;
}

static bool same_iters(const layout_iter *a, const layout_iter *b, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (a[i].extent != b[i].extent || a[i].stride != b[i].stride || a[i].axis != b[i].axis)
            return false;
    return true;
}

/* Written alike; equal functions are those with equal canonicalize(). */
static bool same_layout(const layout_tile *a, const layout_tile *b) {
    if (a == b)
        return true;
    return a->shard_count == b->shard_count && a->replica_count == b->replica_count &&
           same_iters(a->shard, b->shard, a->shard_count) &&
           same_iters(a->replica, b->replica, a->replica_count) &&
           memcmp(a->offset, b->offset, sizeof(a->offset)) == 0 && a->swizzle.present == b->swizzle.present &&
           (!a->swizzle.present ||
            (a->swizzle.outer == b->swizzle.outer && a->swizzle.per_element == b->swizzle.per_element &&
             a->swizzle.length == b->swizzle.length && a->swizzle.atom == b->swizzle.atom));
}

static bool equal(script_value a, script_value b, unsigned depth, unsigned *budget);

static bool list_equal(script_value a, script_value b, unsigned depth, unsigned *budget) {
    if (a.kind != b.kind || a.as.list->items.count != b.as.list->items.count || depth == 0)
        return false;
    for (size_t i = 0; i < a.as.list->items.count; i++)
        if (!equal(a.as.list->items.items[i], b.as.list->items.items[i], depth - 1, budget))
            return false;
    return true;
}

/* Ranges are equal when their items are. */
static bool range_equal(script_value a, script_value b, unsigned depth, unsigned *budget) {
    int64_t start[2], count[2], step[2];
    if (!script_range_constants(a, &start[0], &count[0], &step[0]) ||
        !script_range_constants(b, &start[1], &count[1], &step[1]))
        return list_equal(a, b, depth, budget);
    return count[0] == count[1] && (count[0] == 0 || start[0] == start[1]) &&
           (count[0] < 2 || step[0] == step[1]);
}

/* Two dicts are equal when they have the same keys with equal values, in any order. */
static bool dict_equal(script_value a, script_value b, unsigned depth, unsigned *budget) {
    if (a.as.list->items.count != b.as.list->items.count || depth == 0)
        return false;
    for (size_t i = 0; i + 1 < a.as.list->items.count; i += 2) {
        const script_value *other = script_dict_find(b, a.as.list->items.items[i]);
        if (!other || !equal(a.as.list->items.items[i + 1], *other, depth - 1, budget))
            return false;
    }
    return true;
}

static bool set_equal(script_value a, script_value b, unsigned depth, unsigned *budget) {
    if (a.as.list->items.count != b.as.list->items.count || depth == 0)
        return false;
    for (size_t i = 0; i < a.as.list->items.count; i++) {
        bool found = false;
        for (size_t j = 0; j < b.as.list->items.count && !found; j++)
            found = equal(a.as.list->items.items[i], b.as.list->items.items[j], depth - 1, budget);
        if (!found)
            return false;
    }
    return true;
}

/* Records are equal when their fields are; other objects are themselves alone. */
static bool object_equal(const script_object *a, const script_object *b, unsigned depth, unsigned *budget) {
    if (a == b)
        return true;
    if (a->class != b->class || a->class->kind != SCRIPT_CLASS_RECORD || depth == 0)
        return false;
    for (size_t i = 0; i < a->fields->names.count; i++) {
        const script_binding *x = a->fields->bindings[i];
        const script_binding *y = script_scope_get(b->fields, a->fields->names.items[i]);
        if (!x || !y || !equal(x->value, y->value, depth - 1, budget))
            return false;
    }
    return true;
}

/* A named tuple is the tuple of its fields. */
static bool tuple_equal(const script_object *a, script_value b, unsigned depth, unsigned *budget) {
    if (depth == 0 || a->class->fields.count != b.as.list->items.count)
        return false;
    for (size_t i = 0; i < a->class->fields.count; i++) {
        const script_binding *field = NULL;
        for (size_t j = 0; j < a->fields->names.count && !field; j++)
            if (strcmp(a->fields->names.items[j], a->class->fields.items[i].name) == 0)
                field = a->fields->bindings[j];
        if (!field || !equal(field->value, b.as.list->items.items[i], depth - 1, budget))
            return false;
    }
    return true;
}

/* The budget ends comparisons of lists that share their parts over and over. */
bool script_value_equal(script_value a, script_value b, unsigned depth) {
    unsigned budget = 1u << 20;
    return equal(a, b, depth, &budget);
}

static bool equal(script_value a, script_value b, unsigned depth, unsigned *budget) {
    double x, y;
    int64_t i, j;
    if (*budget == 0)
        return false;
    --*budget;
    if (number(a, &x, &i) && number(b, &y, &j))
        return a.kind == SCRIPT_VALUE_FLOAT || b.kind == SCRIPT_VALUE_FLOAT ? x == y
                                                                            : i == j && a.flag == b.flag;
    if (a.kind == SCRIPT_VALUE_STRING && b.kind == SCRIPT_VALUE_STRING)
        return a.as.string.size == b.as.string.size &&
               memcmp(a.as.string.text, b.as.string.text, a.as.string.size) == 0;
    bool a_type = a.kind == SCRIPT_VALUE_TYPE || a.kind == SCRIPT_VALUE_DTYPE;
    bool b_type = b.kind == SCRIPT_VALUE_TYPE || b.kind == SCRIPT_VALUE_DTYPE;
    if (a_type && b_type)
        return ir_type_equal(a.as.type, b.as.type);
    if (a_type && b.kind == SCRIPT_VALUE_STRING)
        return dtype_equals_text(a, b);
    if (b_type && a.kind == SCRIPT_VALUE_STRING)
        return dtype_equals_text(b, a);
    if (a.kind == SCRIPT_VALUE_OBJECT && b.kind == SCRIPT_VALUE_TUPLE && a.as.object->class->is_tuple)
        return tuple_equal(a.as.object, b, depth, budget);
    if (b.kind == SCRIPT_VALUE_OBJECT && a.kind == SCRIPT_VALUE_TUPLE && b.as.object->class->is_tuple)
        return tuple_equal(b.as.object, a, depth, budget);
    if (a.kind != b.kind)
        return false;
    switch (a.kind) {
    case SCRIPT_VALUE_NONE:
    case SCRIPT_VALUE_ELLIPSIS:
        return true;
    case SCRIPT_VALUE_TUPLE:
    case SCRIPT_VALUE_LIST:
        return list_equal(a, b, depth, budget);
    case SCRIPT_VALUE_DICT:
        return dict_equal(a, b, depth, budget);
    case SCRIPT_VALUE_SLICE:
        return list_equal(a, b, depth, budget);
    case SCRIPT_VALUE_RANGE:
        return range_equal(a, b, depth, budget);
    case SCRIPT_VALUE_ITERATOR:
        return a.as.iterator == b.as.iterator;
    case SCRIPT_VALUE_AXIS:
        return a.as.axis == b.as.axis;
    case SCRIPT_VALUE_WORD:
        return a.as.word == b.as.word;
    case SCRIPT_VALUE_EXPR:
        return a.as.expr == b.as.expr;
    case SCRIPT_VALUE_TENSOR:
        return a.as.tensor == b.as.tensor;
    case SCRIPT_VALUE_LAYOUT:
        return same_layout(a.as.layout, b.as.layout);
    case SCRIPT_VALUE_ITER:
        return same_iters(&a.as.iter, &b.as.iter, 1);
    case SCRIPT_VALUE_WINDOW:
        return a.as.window == b.as.window;
    case SCRIPT_VALUE_POOL:
        return a.as.pool == b.as.pool;
    case SCRIPT_VALUE_FUNCTION:
        return a.as.closure == b.as.closure;
    case SCRIPT_VALUE_FOREIGN: /* by name, so that it can be the key of a dict */
        return strcmp(a.as.string.text, b.as.string.text) == 0;
    case SCRIPT_VALUE_FILE:
        return a.as.file == b.as.file;
    case SCRIPT_VALUE_CLASS:
        return a.as.class == b.as.class;
    case SCRIPT_VALUE_KERNEL:
        return a.as.kernel == b.as.kernel;
    case SCRIPT_VALUE_SET:
        return set_equal(a, b, depth, budget);
    case SCRIPT_VALUE_OBJECT:
        return object_equal(a.as.object, b.as.object, depth, budget);
    default:
        return false;
    }
}

bool script_value_truth(script_value v, bool *truth) {
    switch (v.kind) {
    case SCRIPT_VALUE_NONE:
        *truth = false;
        return true;
    case SCRIPT_VALUE_BOOL:
        *truth = v.as.boolean;
        return true;
    case SCRIPT_VALUE_INT:
        *truth = v.as.integer != 0;
        return true;
    case SCRIPT_VALUE_FLOAT:
        *truth = v.as.real != 0;
        return true;
    case SCRIPT_VALUE_STRING:
        *truth = v.as.string.size != 0;
        return true;
    case SCRIPT_VALUE_TUPLE:
    case SCRIPT_VALUE_LIST:
    case SCRIPT_VALUE_DICT:
    case SCRIPT_VALUE_SET:
        *truth = v.as.list->items.count != 0;
        return true;
    case SCRIPT_VALUE_POISON:
    case SCRIPT_VALUE_EXPR:
    case SCRIPT_VALUE_TENSOR:
    case SCRIPT_VALUE_REGION:
    case SCRIPT_VALUE_WINDOW:
    case SCRIPT_VALUE_SYMBOL:
    case SCRIPT_VALUE_FOREIGN:
        return false;
    case SCRIPT_VALUE_RANGE: {
        int64_t start, count, step;
        if (!script_range_constants(v, &start, &count, &step))
            return false;
        *truth = count != 0;
        return true;
    }
    case SCRIPT_VALUE_OBJECT: { /* a member of an enumeration of integers */
        int64_t number;
        *truth = !script_value_integer(v, &number) || number != 0;
        return true;
    }
    default:
        *truth = true;
        return true;
    }
}

bool script_value_integer(script_value v, int64_t *value) {
    if (v.kind == SCRIPT_VALUE_INT && !v.flag)
        *value = v.as.integer;
    else if (v.kind == SCRIPT_VALUE_BOOL)
        *value = v.as.boolean;
    else if (v.kind == SCRIPT_VALUE_OBJECT && v.as.object->class->kind == SCRIPT_CLASS_NUMBERS) {
        const script_scope *fields = v.as.object->fields; /* name, value */
        const script_binding *number = fields->bindings[1];
        return number->value.kind != SCRIPT_VALUE_OBJECT && script_value_integer(number->value, value);
    } else
        return false;
    return true;
}

/* Equal values have equal hashes. false: the value has none, and look-up compares. */
static bool hash_of(script_value v, unsigned depth, uint64_t *hash) {
    double real;
    int64_t integer;
    if (number(v, &real, &integer)) {
        if (v.kind == SCRIPT_VALUE_FLOAT && real == (double)(int64_t)real && real > -9e15 && real < 9e15)
            integer = (int64_t)real;
        else if (v.kind == SCRIPT_VALUE_FLOAT)
            memcpy(&integer, &real, sizeof(integer));
        *hash = ((uint64_t)integer ^ *hash) * 0x9e3779b97f4a7c15u;
    } else if (v.kind == SCRIPT_VALUE_STRING) {
        for (size_t i = 0; i < v.as.string.size; i++)
            *hash = (*hash ^ (unsigned char)v.as.string.text[i]) * 0x100000001b3u;
        *hash ^= 0x5bd1e995u + v.as.string.size;
    } else if (v.kind == SCRIPT_VALUE_TUPLE && depth > 0) {
        for (size_t i = 0; i < v.as.list->items.count; i++)
            if (!hash_of(v.as.list->items.items[i], depth - 1, hash))
                return false;
        *hash = (*hash + v.as.list->items.count) * 0x9e3779b97f4a7c15u;
    } else if (v.kind == SCRIPT_VALUE_NONE) {
        *hash = *hash * 31 + 7;
    } else
        return false;
    *hash ^= *hash >> 29;
    return true;
}

static size_t find_linear(const script_list *list, script_value key, size_t stride) {
    for (size_t i = 0; i < list->items.count; i += stride)
        if (script_value_equal(list->items.items[i], key, 20))
            return i;
    return SIZE_MAX;
}

void script_list_moved(script_list *list) {
    list->index = NULL;
    list->indexed = 0;
}

bool script_value_hash(script_value v, uint64_t *hash) {
    *hash = 0;
    return hash_of(v, 20, hash);
}

size_t script_list_find(script_list *list, script_value key, size_t stride) {
    uint64_t hash = 0;
    if (!list->arena || list->items.count <= 16 * stride || !hash_of(key, 4, &hash))
        return find_linear(list, key, stride);
    if (!list->index)
        list->index = base_map_create(list->arena);
    for (; list->indexed < list->items.count; list->indexed += stride) {
        uint64_t of = 0;
        if (!hash_of(list->items.items[list->indexed], 4, &of)) {
            list->arena = NULL; /* a key without a hash: it may equal any other */
            return find_linear(list, key, stride);
        }
        if (!base_map_get(list->index, of))
            base_map_set(list->index, of, (void *)(uintptr_t)(list->indexed + 1));
    }
    size_t at = (size_t)(uintptr_t)base_map_get(list->index, hash);
    if (at == 0)
        return SIZE_MAX;
    return script_value_equal(list->items.items[at - 1], key, 20) ? at - 1 : find_linear(list, key, stride);
}

script_value *script_dict_find(script_value dict, script_value key) {
    size_t at = script_list_find(dict.as.list, key, 2);
    return at == SIZE_MAX || at + 1 >= dict.as.list->items.count ? NULL : &dict.as.list->items.items[at + 1];
}
