/* SPDX-License-Identifier: Apache-2.0
 * The slow, obvious meaning of flat IR: runs a function for one thread over byte arrays. Tests compare what
 * it computes before and after a pass. It knows the operations that the tests generate, and says so when it
 * meets another. */
#ifndef TIRC_TESTS_FLAT_MODEL_H
#define TIRC_TESTS_FLAT_MODEL_H
#include "ir/ir.h"
#include "num/num.h"
#include <math.h>
#include <string.h>

enum { MODEL_LANES = 8, MODEL_STEPS = 400000 };

typedef struct model_value {
    int64_t i[MODEL_LANES]; /* integers, booleans; pointers: byte offset */
    double f[MODEL_LANES];
    const ir_tensor *tensor; /* pointers */
} model_value;

typedef struct model_memory {
    const char *name; /* of the tensor: copies of a function have other tensors */
    uint8_t *bytes;
    uint64_t size;
} model_memory;

typedef enum model_flow { MODEL_NEXT, MODEL_BREAK, MODEL_CONTINUE, MODEL_RETURN } model_flow;

typedef struct model {
    base_arena *arena;
    model_memory memories[32];
    uint32_t memory_count;
    int64_t thread[3], block[3];
    base_map *values; /* ir_var id + 1 -> model_value */
    uint64_t steps;
    const char *trouble; /* why the run is not to be trusted; NULL: fine */
} model;

static inline void model_stop(model *m, const char *why) {
    if (!m->trouble)
        m->trouble = why;
}

/* Named storage is shared between runs through these bytes; anything else appears zeroed on first use. */
static inline model_memory *model_find(model *m, const ir_tensor *tensor) {
    for (uint32_t i = 0; i < m->memory_count; i++)
        if (!strcmp(m->memories[i].name, tensor->name))
            return &m->memories[i];
    if (m->memory_count == 32) {
        model_stop(m, "too many tensors");
        return &m->memories[0];
    }
    uint64_t bytes =
        num_dtype_bytes(tensor->type.dtype) * (uint64_t)(tensor->type.lanes ? tensor->type.lanes : 1);
    for (uint32_t d = 0; d < tensor->type.rank; d++) {
        int64_t extent;
        if (!ir_is_int(tensor->type.shape[d], &extent))
            model_stop(m, "a shape is no constant");
        else
            bytes *= (uint64_t)extent;
    }
    m->memories[m->memory_count] = (model_memory){tensor->name, base_arena_allocate(m->arena, bytes), bytes};
    return &m->memories[m->memory_count++];
}

static inline unsigned model_lanes(ir_type type) {
    return type.kind == IR_TYPE_PRIM && type.lanes > 1 ? type.lanes : 1;
}

static inline uint8_t *model_at(model *m, const model_value *pointer, int64_t offset, uint64_t size) {
    static uint8_t nowhere[64];
    if (!pointer->tensor) {
        model_stop(m, "a pointer to nothing");
        return nowhere;
    }
    model_memory *memory = model_find(m, pointer->tensor);
    int64_t at = pointer->i[0] + offset;
    if (at < 0 || (uint64_t)at + size > memory->size) {
        model_stop(m, "an access outside its tensor");
        return nowhere;
    }
    return memory->bytes + at;
}

static inline void model_read(num_dtype dtype, const uint8_t *from, model_value *to, unsigned lane) {
    uint64_t bits = 0;
    memcpy(&bits, from, num_dtype_bytes(dtype));
    if (num_dtype_is_float(dtype))
        to->f[lane] = num_decode(dtype, bits);
    else
        to->i[lane] = dtype == NUM_DTYPE_BOOL ? bits != 0 : num_wrap(dtype, (int64_t)bits);
}

static inline void model_write(num_dtype dtype, uint8_t *to, const model_value *from, unsigned lane) {
    uint64_t bits =
        num_dtype_is_float(dtype) ? num_encode(dtype, from->f[lane], NUM_RN, false) : (uint64_t)from->i[lane];
    memcpy(to, &bits, num_dtype_bytes(dtype));
}

static inline int64_t model_integer(ir_op op, num_dtype dtype, int64_t a, int64_t b, model *m) {
    switch (op) {
    case IR_ADD:
        return num_wrap(dtype, (int64_t)((uint64_t)a + (uint64_t)b));
    case IR_SUB:
        return num_wrap(dtype, (int64_t)((uint64_t)a - (uint64_t)b));
    case IR_MUL:
        return num_wrap(dtype, (int64_t)((uint64_t)a * (uint64_t)b));
    case IR_MIN:
        return num_compare(dtype, a, b) < 0 ? a : b;
    case IR_MAX:
        return num_compare(dtype, a, b) > 0 ? a : b;
    case IR_BITAND:
        return a & b;
    case IR_BITOR:
        return a | b;
    case IR_BITXOR:
        return a ^ b;
    case IR_SHL:
        return b < 0 || b > 63 ? 0 : num_wrap(dtype, (int64_t)((uint64_t)a << b));
    case IR_SHR:
        if (num_dtype_class(dtype) == NUM_UNSIGNED)
            return b < 0 || b > 63 ? 0 : (int64_t)((uint64_t)a >> b);
        return a >> (b < 0 || b > 63 ? 63 : b);
    case IR_FLOORDIV:
    case IR_FLOORMOD:
    case IR_TRUNCDIV:
    case IR_TRUNCMOD:
        if (b == 0) {
            model_stop(m, "a division by zero");
            return 0;
        }
        return op == IR_FLOORDIV   ? num_floor_divide(dtype, a, b)
               : op == IR_FLOORMOD ? num_floor_modulo(dtype, a, b)
               : op == IR_TRUNCDIV ? num_truncate_divide(dtype, a, b)
                                   : num_truncate_modulo(dtype, a, b);
    default:
        model_stop(m, "an integer operation that the model lacks");
        return 0;
    }
}

static inline double model_float(ir_op op, num_dtype dtype, double a, double b, model *m) {
    double value = op == IR_ADD   ? a + b
                   : op == IR_SUB ? a - b
                   : op == IR_MUL ? a * b
                   : op == IR_DIV ? a / b
                   : op == IR_MIN ? (a < b ? a : b)
                   : op == IR_MAX ? (a > b ? a : b)
                                  : 0;
    if (op != IR_ADD && op != IR_SUB && op != IR_MUL && op != IR_DIV && op != IR_MIN && op != IR_MAX)
        model_stop(m, "a float operation that the model lacks");
    return num_decode(dtype, num_encode(dtype, value, NUM_RN, false));
}

static inline int64_t model_compare(ir_op op, ir_type type, const model_value *a, const model_value *b,
                                    unsigned lane) {
    int order;
    if (ir_type_is_float(type))
        order = a->f[lane] < b->f[lane] ? -1 : a->f[lane] > b->f[lane];
    else
        order =
            num_compare(type.dtype == NUM_DTYPE_BOOL ? NUM_DTYPE_I32 : type.dtype, a->i[lane], b->i[lane]);
    return op == IR_EQ   ? order == 0
           : op == IR_NE ? order != 0
           : op == IR_LT ? order < 0
           : op == IR_LE ? order <= 0
           : op == IR_GT ? order > 0
                         : order >= 0;
}

static inline model_value model_eval(model *m, const ir_expr *e);

/* Narrow integers saturate what the 32-bit conversion gives. */
static inline int64_t model_nan(num_dtype to, num_dtype from) {
    if (num_dtype_bits(to) >= 32 || from != NUM_DTYPE_F64)
        return num_nan_to_integer(to, from);
    return num_dtype_class(to) == NUM_SIGNED ? num_minimum(to) : (int64_t)num_maximum(to);
}

static inline model_value model_cast(const ir_expr *e, const model_value *from) {
    model_value to = {0};
    ir_type source = e->args[0]->type;
    for (unsigned k = 0; k < model_lanes(e->type); k++) {
        bool is_float = ir_type_is_float(source);
        if (ir_type_is_float(e->type) && !is_float)
            to.f[k] = ir_type_is_bool(source)
                          ? (double)from->i[k]
                          : num_integer_to_float(source.dtype, from->i[k], e->type.dtype, NUM_RN);
        else if (ir_type_is_float(e->type))
            to.f[k] = num_decode(e->type.dtype, num_encode(e->type.dtype, from->f[k], NUM_RN, false));
        else if (ir_type_is_bool(e->type))
            to.i[k] = is_float ? from->f[k] != 0 : from->i[k] != 0;
        else
            to.i[k] = is_float && isnan(from->f[k]) ? model_nan(e->type.dtype, source.dtype)
                      : is_float                    ? num_float_to_integer(e->type.dtype, from->f[k], NUM_RZ)
                                                    : num_wrap(e->type.dtype, from->i[k]);
    }
    return to;
}

static inline model_value model_load(model *m, const ir_expr *e) {
    model_value base = model_eval(m, e->args[0]), index = model_eval(m, e->args[1]), value = {0};
    unsigned size = num_dtype_bytes(e->type.dtype);
    for (unsigned k = 0; k < model_lanes(e->type); k++)
        model_read(e->type.dtype, model_at(m, &base, (index.i[0] + k) * (int64_t)size, size), &value, k);
    return value;
}

static inline model_value model_atomic_add(model *m, const ir_expr *e) {
    model_value pointer = model_eval(m, e->args[0]), value = model_eval(m, e->args[1]), old = {0};
    num_dtype dtype = e->args[1]->type.dtype;
    uint8_t *at = model_at(m, &pointer, 0, num_dtype_bytes(dtype));
    model_read(dtype, at, &old, 0);
    model_value sum = old;
    sum.i[0] = num_wrap(dtype, old.i[0] + value.i[0]);
    sum.f[0] = old.f[0] + value.f[0];
    model_write(dtype, at, &sum, 0);
    return old;
}

static inline model_value model_lazy(model *m, const ir_expr *e) {
    model_value first = model_eval(m, e->args[0]);
    if (e->op == IR_AND)
        return first.i[0] ? model_eval(m, e->args[1]) : first;
    if (e->op == IR_OR)
        return first.i[0] ? first : model_eval(m, e->args[1]);
    return model_eval(m, e->args[first.i[0] ? 1 : 2]);
}

static inline model_value model_lanewise(model *m, const ir_expr *e) {
    model_value a[3] = {{{0}, {0}, NULL}, {{0}, {0}, NULL}, {{0}, {0}, NULL}}, value = {0};
    if (e->count > 3) {
        model_stop(m, "an operation that the model lacks");
        return value;
    }
    for (uint32_t i = 0; i < e->count; i++)
        a[i] = model_eval(m, e->args[i]);
    for (unsigned k = 0; k < model_lanes(e->type); k++) {
        if (e->op == IR_BITNOT)
            value.i[k] = num_wrap(e->type.dtype, ~a[0].i[k]);
        else if (e->op >= IR_EQ && e->op <= IR_GE)
            value.i[k] = model_compare(e->op, e->args[0]->type, &a[0], &a[1], k);
        else if (e->op == IR_NOT)
            value.i[k] = !a[0].i[k];
        else if (e->op == IR_NEG) {
            value.i[k] = num_wrap(e->type.dtype, (int64_t)(0 - (uint64_t)a[0].i[k]));
            value.f[k] = -a[0].f[k];
        } else if (e->op == IR_SELECT) {
            unsigned from = a[0].i[model_lanes(e->args[0]->type) > 1 ? k : 0] ? 1 : 2;
            value.i[k] = a[from].i[k], value.f[k] = a[from].f[k], value.tensor = a[from].tensor;
        } else if (ir_type_is_float(e->type))
            value.f[k] = model_float(e->op, e->type.dtype, a[0].f[k], a[1].f[k], m);
        else
            value.i[k] = model_integer(e->op, e->type.dtype, a[0].i[k], a[1].i[k], m);
    }
    return value;
}

static inline model_value model_structure(model *m, const ir_expr *e) {
    model_value value = {0}, a = model_eval(m, e->args[0]), b = {0};
    switch (e->op) {
    case IR_LANE:
        value.i[0] = a.i[e->at.integer], value.f[0] = a.f[e->at.integer];
        return value;
    case IR_POINTER_OFFSET:
    case IR_POINTER_ADDRESS:
        b = model_eval(m, e->args[1]);
        a.i[0] += b.i[0] * (e->op == IR_POINTER_OFFSET ? 1 : (int64_t)num_dtype_bytes(e->type.dtype));
        return a;
    case IR_RAMP:
        b = model_eval(m, e->args[1]);
        for (unsigned k = 0; k < model_lanes(e->type); k++)
            value.i[k] = num_wrap(e->type.dtype, a.i[0] + b.i[0] * (int64_t)k);
        return value;
    case IR_BROADCAST:
        for (unsigned k = 0; k < model_lanes(e->type); k++)
            value.i[k] = a.i[0], value.f[k] = a.f[0];
        return value;
    default: /* IR_VECTOR */
        for (uint32_t k = 0; k < e->count && k < MODEL_LANES; k++) {
            b = model_eval(m, e->args[k]);
            value.i[k] = b.i[0], value.f[k] = b.f[0];
        }
        return value;
    }
}

static inline model_value model_eval(model *m, const ir_expr *e) {
    model_value value = {0};
    if (model_lanes(e->type) > MODEL_LANES || ++m->steps > MODEL_STEPS) {
        model_stop(m, "too many lanes or steps");
        return value;
    }
    switch (e->op) {
    case IR_INT:
        value.i[0] = e->at.integer;
        return value;
    case IR_FLOAT:
        value.f[0] = e->at.real;
        return value;
    case IR_VAR:
    case IR_REGISTER: {
        const model_value *known = base_map_get(m->values, (uint64_t)e->at.var->id + 1);
        if (!known && e->op == IR_VAR)
            model_stop(m, "a variable without a value");
        return known ? *known : value;
    }
    case IR_DATA:
        value.tensor = e->at.tensor;
        return value;
    case IR_THREAD_IDX:
    case IR_BLOCK_IDX:
        value.i[0] = e->op == IR_THREAD_IDX ? m->thread[e->at.integer] : m->block[e->at.integer];
        return value;
    case IR_AND:
    case IR_OR:
    case IR_IF_THEN_ELSE:
        return model_lazy(m, e);
    case IR_CAST:
        value = model_eval(m, e->args[0]);
        return model_cast(e, &value);
    case IR_POINTER_LOAD:
        return model_load(m, e);
    case IR_ATOMIC_ADD:
        return model_atomic_add(m, e);
    case IR_LANE:
    case IR_POINTER_OFFSET:
    case IR_POINTER_ADDRESS:
    case IR_RAMP:
    case IR_BROADCAST:
    case IR_VECTOR:
        return model_structure(m, e);
    case IR_REINTERPRET:
        if (e->type.kind == IR_TYPE_POINTER)
            return model_eval(m, e->args[0]);
        model_stop(m, "a reinterpretation");
        return value;
    case IR_CTA_SYNC:
        return value;
    default:
        return model_lanewise(m, e);
    }
}

static inline void model_set(model *m, const ir_var *var, model_value value) {
    model_value *known = base_map_get(m->values, (uint64_t)var->id + 1);
    if (!known) {
        known = BASE_NEW(m->arena, model_value);
        base_map_set(m->values, (uint64_t)var->id + 1, known);
    }
    *known = value;
}

static inline model_flow model_run(model *m, const ir_stmt *s);

static inline model_flow model_for(model *m, const ir_stmt *s) {
    model_value at = model_eval(m, s->as.loop.start), extent = model_eval(m, s->as.loop.extent);
    int64_t stop = at.i[0] + extent.i[0], step = 1;
    ir_is_int(s->as.loop.step, &step);
    for (; at.i[0] < stop && !m->trouble; at.i[0] += step) {
        model_set(m, s->as.loop.var, at);
        model_flow flow = model_run(m, s->as.loop.body);
        if (flow == MODEL_BREAK)
            break;
        if (flow == MODEL_RETURN)
            return flow;
    }
    return MODEL_NEXT;
}

static inline model_flow model_while(model *m, const ir_stmt *s) {
    while (!m->trouble && model_eval(m, s->as.while_loop.condition).i[0]) {
        model_flow flow = model_run(m, s->as.while_loop.body);
        if (flow == MODEL_BREAK)
            break;
        if (flow == MODEL_RETURN)
            return flow;
    }
    return MODEL_NEXT;
}

static inline void model_store(model *m, const ir_stmt *s) {
    const ir_expr *value = s->as.pointer_store.value;
    model_value base = model_eval(m, s->as.pointer_store.base),
                index = model_eval(m, s->as.pointer_store.index);
    model_value from = model_eval(m, value);
    unsigned size = num_dtype_bytes(value->type.dtype);
    for (unsigned k = 0; k < model_lanes(value->type); k++)
        model_write(value->type.dtype, model_at(m, &base, (index.i[0] + k) * (int64_t)size, size), &from, k);
}

static inline model_flow model_run(model *m, const ir_stmt *s) {
    model_flow flow = MODEL_NEXT;
    if (m->trouble || ++m->steps > MODEL_STEPS) {
        model_stop(m, "too many steps");
        return MODEL_RETURN;
    }
    switch (s->kind) {
    case IR_STMT_BLOCK:
        for (size_t i = 0; i < s->as.block.body.count && flow == MODEL_NEXT; i++)
            flow = model_run(m, s->as.block.body.items[i]);
        return flow;
    case IR_STMT_LET:
    case IR_STMT_ASSIGN:
        model_set(m, s->as.let.var, model_eval(m, s->as.let.value));
        return flow;
    case IR_STMT_POINTER_STORE:
        model_store(m, s);
        return flow;
    case IR_STMT_IF:
        if (model_eval(m, s->as.branch.condition).i[0])
            return model_run(m, s->as.branch.then_body);
        return s->as.branch.else_body ? model_run(m, s->as.branch.else_body) : flow;
    case IR_STMT_FOR:
        return model_for(m, s);
    case IR_STMT_WHILE:
        return model_while(m, s);
    case IR_STMT_BREAK:
        return MODEL_BREAK;
    case IR_STMT_CONTINUE:
        return MODEL_CONTINUE;
    case IR_STMT_RETURN:
        return MODEL_RETURN;
    case IR_STMT_EVALUATE:
        model_eval(m, s->as.evaluate.value);
        return flow;
    default:
        return flow;
    }
}
#endif
