/* SPDX-License-Identifier: Apache-2.0
 * Signed sums, differences and products: they wrap in the IR and in PTX, and are undefined in C++ where they
 * overflow. Plain is what the analyzer proves to fit, what only its low bits are seen of, and index
 * arithmetic, which is taken not to overflow, as the PTX writer takes it when it forms addresses. The rest is
 * computed in the unsigned type of the same width. Knows nothing of text positions. */
#include "arith/arith_bounds.h"
#include "cuda/cuda_internal.h"
#include "num/num.h"

/* ---- contexts: what becomes of the arguments of an expression ---- */
static cuda_context through_index(const ir_expr *e) {
    switch (e->op) {
    case IR_ADD:
    case IR_SUB:
    case IR_MUL:
    case IR_NEG:
    case IR_CAST:
    case IR_LANE:
    case IR_VECTOR:
    case IR_BROADCAST:
        return CUDA_INDEX;
    case IR_BITAND: /* swizzles */
    case IR_BITOR:
    case IR_BITXOR:
    case IR_SHR:
        return e->type.dtype != NUM_DTYPE_BOOL ? CUDA_INDEX : CUDA_WHOLE;
    default: /* what compares, clamps or divides may be there to catch a number that wrapped */
        return CUDA_WHOLE;
    }
}

static bool is_integer(ir_type type) {
    return type.kind == IR_TYPE_PRIM && num_dtype_is_integer((num_dtype)type.dtype);
}

cuda_context cuda_argument_context(const ir_expr *e, uint32_t i, cuda_context context) {
    if (e->op == IR_POINTER_LOAD || e->op == IR_POINTER_ADDRESS || e->op == IR_POINTER_OFFSET)
        return i == 1 ? CUDA_INDEX : CUDA_LOW;
    if (context == CUDA_INDEX)
        return through_index(e);
    switch (e->op) {
    case IR_ADD:
    case IR_SUB:
    case IR_MUL:
    case IR_NEG:
    case IR_BITNOT:
    case IR_LANE:
    case IR_VECTOR:
    case IR_BROADCAST:
        return context;
    case IR_BITAND:
    case IR_BITOR:
    case IR_BITXOR:
        return is_integer(e->type) ? context : CUDA_WHOLE;
    case IR_SHL:
        return i == 0 ? context : CUDA_WHOLE;
    case IR_SELECT:
    case IR_IF_THEN_ELSE:
        return i == 0 ? CUDA_WHOLE : context;
    case IR_CAST: /* cutting sees low bits only */
        if (!is_integer(e->type) || !is_integer(e->args[0]->type))
            return CUDA_WHOLE;
        return num_dtype_bits((num_dtype)e->type.dtype) < num_dtype_bits((num_dtype)e->args[0]->type.dtype)
                   ? CUDA_LOW
               : num_dtype_bits((num_dtype)e->type.dtype) == num_dtype_bits((num_dtype)e->args[0]->type.dtype)
                   ? context
                   : CUDA_WHOLE;
    default:
        return CUDA_WHOLE;
    }
}

/* ---- variables and tensors by the context that reads them ---- */
typedef struct search_state {
    cuda_writer *w;
    base_map *seen[3]; /* expressions already looked at, by context */
    BASE_VECTOR(ir_stmt *) writers;
} search_state;

static void mark(search_state *s, const void *object, cuda_context context) {
    if (context != CUDA_LOW)
        base_map_set(s->w->contexts[context], BASE_KEY(object), s);
}

static bool is_number(const ir_expr *e) {
    return e->op == IR_INT || e->op == IR_FLOAT;
}

static void search(search_state *s, const ir_expr *e, cuda_context context) {
    if (!e || is_number(e) || base_map_get(s->seen[context], BASE_KEY(e)))
        return;
    base_map_set(s->seen[context], BASE_KEY(e), s);
    if (e->op == IR_VAR || e->op == IR_REGISTER)
        mark(s, e->at.var, context);
    if (e->op == IR_POINTER_LOAD && e->args[0]->op == IR_DATA) {
        bool local = e->args[0]->type.scope == IR_SCOPE_LOCAL;
        mark(s, e->args[0]->at.tensor, context == CUDA_INDEX && !local ? CUDA_WHOLE : context);
    }
    for (uint32_t i = 0; i < e->count; i++)
        search(s, e->args[i], cuda_argument_context(e, i, context));
}

static void search_whole(void *user, const ir_expr **e) {
    search(user, *e, CUDA_WHOLE);
}

static const ir_expr *written_value(const ir_stmt *s) {
    return s->kind == IR_STMT_LET      ? s->as.let.value
           : s->kind == IR_STMT_ASSIGN ? s->as.assign.value
                                       : s->as.pointer_store.value;
}

/* What LET, ASSIGN and POINTER_STORE write; NULL: through a pointer. */
static const void *written(const ir_stmt *s) {
    if (s->kind == IR_STMT_LET)
        return s->as.let.var;
    if (s->kind == IR_STMT_ASSIGN)
        return s->as.assign.var;
    return s->as.pointer_store.base->op == IR_DATA ? s->as.pointer_store.base->at.tensor : NULL;
}

/* Stores through pointers may be seen by any load. */
cuda_context cuda_value_context(const cuda_writer *w, const ir_stmt *s) {
    const void *object = written(s);
    if (object && base_map_get(w->contexts[CUDA_INDEX], BASE_KEY(object)))
        return CUDA_INDEX;
    return !object || base_map_get(w->contexts[CUDA_WHOLE], BASE_KEY(object)) ? CUDA_WHOLE : CUDA_LOW;
}

static void search_statement(void *user, ir_stmt *statement) {
    search_state *s = user;
    if (statement->kind != IR_STMT_LET && statement->kind != IR_STMT_ASSIGN &&
        statement->kind != IR_STMT_POINTER_STORE) {
        ir_stmt_expressions(statement, search_whole, s);
        return;
    }
    if (statement->kind == IR_STMT_POINTER_STORE) {
        search(s, statement->as.pointer_store.base, CUDA_LOW);
        search(s, statement->as.pointer_store.index, CUDA_INDEX);
    }
    search(s, written_value(statement), CUDA_LOW);
    base_vector_push(s->w->arena, &s->writers, statement);
}

/* Values come before their uses, so one round from the end marks all but what goes around a loop. */
void cuda_find_contexts(cuda_writer *w) {
    search_state s = {.w = w};
    for (int i = 0; i < 3; i++) {
        s.seen[i] = base_map_create(w->arena);
        w->contexts[i] = base_map_create(w->arena);
    }
    ir_stmt_visit(w->function->body, search_statement, &s);
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = s.writers.count; i-- > 0;) {
            cuda_context context = cuda_value_context(w, s.writers.items[i]);
            const ir_expr *value = written_value(s.writers.items[i]);
            if (is_number(value) || base_map_get(s.seen[context], BASE_KEY(value)))
                continue;
            search(&s, value, context);
            changed = true;
        }
    }
}

/* ---- what may wrap, and its text ---- */
static bool wraps(ir_op op) {
    return op == IR_ADD || op == IR_SUB || op == IR_MUL || op == IR_NEG;
}

static bool fits(arith_range r, ir_op op, arith_range a, arith_range b) {
    int64_t low = 0, high = 0, corners[4];
    bool over = false;
    switch (op) {
    case IR_ADD:
        over = __builtin_add_overflow(a.low, b.low, &low) || __builtin_add_overflow(a.high, b.high, &high);
        break;
    case IR_SUB:
        over = __builtin_sub_overflow(a.low, b.high, &low) || __builtin_sub_overflow(a.high, b.low, &high);
        break;
    case IR_NEG:
        over = __builtin_sub_overflow((int64_t)0, a.high, &low) ||
               __builtin_sub_overflow((int64_t)0, a.low, &high);
        break;
    default:
        over = __builtin_mul_overflow(a.low, b.low, &corners[0]) ||
               __builtin_mul_overflow(a.low, b.high, &corners[1]) ||
               __builtin_mul_overflow(a.high, b.low, &corners[2]) ||
               __builtin_mul_overflow(a.high, b.high, &corners[3]);
        if (over)
            return false;
        low = high = corners[0];
        for (int i = 1; i < 4; i++) {
            low = corners[i] < low ? corners[i] : low;
            high = corners[i] > high ? corners[i] : high;
        }
    }
    return !over && low >= r.low && high <= r.high;
}

/* Whether the exact result may lie outside the type: C leaves that undefined, in the IR and in PTX it wraps.
 */
bool cuda_may_wrap(cuda_writer *w, const ir_expr *e) {
    num_dtype dtype = (num_dtype)e->type.dtype;
    if (w->context != CUDA_WHOLE || e == w->plain || !wraps(e->op) || e->type.kind != IR_TYPE_PRIM ||
        e->type.lanes != 1 || num_dtype_class(dtype) != NUM_SIGNED || num_dtype_bits(dtype) < 32)
        return false;
    arith_range type = {true, num_minimum(dtype), (int64_t)num_maximum(dtype)}, range[2] = {type, type};
    for (uint32_t i = 0; i < e->count; i++) {
        arith_range known = arith_bounds(w->facts, e->args[i]);
        range[i] = known.known ? known : type;
    }
    return !fits(type, e->op, range[0], range[1]);
}

/* A sum of signed numbers in the unsigned type of their width, where it is the same and defined. */
static void as_unsigned(cuda_writer *w, const ir_expr *e, bool nested) {
    num_dtype to = num_dtype_bits((num_dtype)e->type.dtype) == 64 ? NUM_DTYPE_U64 : NUM_DTYPE_U32;
    if (e->op == IR_INT) {
        cuda_literal_integer(w, to, num_wrap(to, e->at.integer));
        return;
    }
    if (!wraps(e->op)) {
        base_builder_format(w->out, "(%s)", cuda_scalar(w, to));
        cuda_expr(w, e, true);
        return;
    }
    base_builder_string(w->out, nested ? "(" : "");
    if (e->op == IR_NEG)
        base_builder_string(w->out, to == NUM_DTYPE_U64 ? "0ull - " : "0u - ");
    as_unsigned(w, e->args[0], true);
    if (e->op != IR_NEG) {
        base_builder_string(w->out, e->op == IR_ADD ? " + " : e->op == IR_SUB ? " - " : " * ");
        as_unsigned(w, e->args[1], true);
    }
    base_builder_string(w->out, nested ? ")" : "");
}

void cuda_wrapping(cuda_writer *w, const ir_expr *e, bool nested) {
    base_builder_format(w->out, nested ? "((%s)(" : "(%s)(", cuda_type(w, e->type));
    as_unsigned(w, e, false);
    base_builder_string(w->out, nested ? "))" : ")");
}
