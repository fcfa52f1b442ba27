/* SPDX-License-Identifier: Apache-2.0
 * Synchronisation, warp collectives, atomics and output as calls of CUDA's built-in functions, with the
 * conversions those need. Knows nothing of statements. */
#include "cuda/cuda_internal.h"
#include "num/num.h"

static num_dtype dtype_of(const ir_expr *e) {
    return (num_dtype)e->type.dtype;
}

/* ---- warp ---- */
/* Types that __shfl_sync lacks travel as an integer of their width. */
static const char *shuffle_carrier(num_dtype dtype, bool *bits) {
    *bits = false;
    switch (dtype) {
    case NUM_DTYPE_BOOL:
    case NUM_DTYPE_I8:
    case NUM_DTYPE_I16:
        return "int";
    case NUM_DTYPE_U8:
    case NUM_DTYPE_U16:
        return "unsigned int";
    default:
        break;
    }
    if (num_dtype_bits(dtype) <= 8) {
        *bits = true;
        return "unsigned int";
    }
    return NULL;
}

static void shuffle(cuda_writer *w, const ir_expr *e, const char *name) {
    bool bits;
    const char *carrier = shuffle_carrier(dtype_of(e), &bits);
    const char *type = cuda_type(w, e->type);
    if (bits) {
        cuda_use(w, HELPER_BITS);
        base_builder_format(w->out, "tirc_bits<%s>((unsigned char)", type);
    } else if (carrier) {
        base_builder_format(w->out, "((%s)", type);
    }
    base_builder_format(w->out, "%s(", name);
    for (uint32_t i = 0; i < e->count; i++) {
        if (i)
            base_builder_string(w->out, ", ");
        if (i == 1 && carrier)
            base_builder_format(w->out, bits ? "(%s)tirc_bits<unsigned char>(" : "(%s)(", carrier);
        cuda_expr(w, e->args[i], false);
        if (i == 1 && carrier)
            base_builder_char(w->out, ')');
    }
    base_builder_string(w->out, carrier ? "))" : ")");
}

static void vote(cuda_writer *w, const ir_expr *e, const char *name) {
    base_builder_char(w->out, '(');
    cuda_apply(w, name, e->args, e->count);
    base_builder_string(w->out, " != 0)");
}

/* ---- atomics ---- */
static const char *atomic_name(ir_op op) {
    switch (op) {
    case IR_ATOMIC_ADD:
        return "atomicAdd";
    case IR_ATOMIC_MIN:
        return "atomicMin";
    case IR_ATOMIC_MAX:
        return "atomicMax";
    case IR_ATOMIC_AND:
        return "atomicAnd";
    case IR_ATOMIC_OR:
        return "atomicOr";
    case IR_ATOMIC_XOR:
        return "atomicXor";
    case IR_ATOMIC_EXCHANGE:
        return "atomicExch";
    case IR_ATOMIC_CAS:
        return "atomicCAS";
    default:
        return NULL;
    }
}

/* The integer type that carries the bits, where CUDA has no overload for the type itself: CUDA adds and
 * exchanges 64-bit integers only as unsigned, and exchanges double not at all. */
static const char *atomic_carrier(ir_op op, num_dtype dtype) {
    if (dtype == NUM_DTYPE_I64 && op != IR_ATOMIC_MIN && op != IR_ATOMIC_MAX)
        return "unsigned long long";
    return dtype == NUM_DTYPE_F64 && op == IR_ATOMIC_EXCHANGE ? "unsigned long long" : NULL;
}

static void atomic(cuda_writer *w, const ir_expr *e) {
    const char *carrier = atomic_carrier(e->op, dtype_of(e)), *type = cuda_type(w, e->type);
    bool bits = carrier && num_dtype_is_float(dtype_of(e));
    if (!carrier) {
        cuda_apply(w, atomic_name(e->op), e->args, e->count);
        return;
    }
    if (bits)
        cuda_use(w, HELPER_BITS);
    base_builder_format(w->out, bits ? "tirc_bits<%s>(" : "((%s)", type);
    base_builder_format(w->out, "%s((%s*)", atomic_name(e->op), carrier);
    cuda_expr(w, e->args[0], true);
    for (uint32_t i = 1; i < e->count; i++) {
        base_builder_format(w->out, bits ? ", tirc_bits<%s>(" : ", (%s)(", carrier);
        cuda_expr(w, e->args[i], false);
        base_builder_char(w->out, ')');
    }
    base_builder_string(w->out, "))");
}

/* ---- output ---- */
/* Varargs promote float to double and small integers to int; narrow floats go through float. */
static void print_formatted(cuda_writer *w, const ir_expr *e) {
    w->includes |= CUDA_STDIO;
    base_builder_string(w->out, "printf(");
    for (uint32_t i = 0; i < e->count; i++) {
        const ir_expr *a = e->args[i];
        if (i)
            base_builder_string(w->out, ", ");
        bool narrow = a->type.kind == IR_TYPE_PRIM && num_dtype_is_float(dtype_of(a)) &&
                      num_dtype_bits(dtype_of(a)) <= 16;
        if (narrow)
            a = ir_cast(w->module, ir_type_prim(NUM_DTYPE_F32, 1), a);
        if (a->type.kind == IR_TYPE_PRIM && a->type.dtype == NUM_DTYPE_BOOL)
            base_builder_string(w->out, "(int)");
        cuda_expr(w, a, true);
    }
    base_builder_char(w->out, ')');
}

static void trap_unless(cuda_writer *w, const ir_expr *e) {
    if (e->count < 2) {
        cuda_use(w, HELPER_TRAP_UNLESS);
        cuda_apply(w, "tirc_trap_unless", e->args, 1);
        return;
    }
    cuda_use(w, HELPER_TRAP_MESSAGE);
    w->includes |= CUDA_STDIO;
    base_builder_char(w->out, '(');
    cuda_expr(w, e->args[0], true);
    base_builder_string(w->out, " ? (void)0 : ");
    cuda_apply(w, "tirc_trap_message", e->args + 1, 1);
    base_builder_char(w->out, ')');
}

bool cuda_call(cuda_writer *w, const ir_expr *e) {
    switch (e->op) {
    case IR_CLOCK:
        base_builder_string(w->out, "clock64()");
        return true;
    case IR_CTA_SYNC:
        base_builder_string(w->out, "__syncthreads()");
        return true;
    case IR_GRID_SYNC:
        w->includes |= CUDA_COOPERATIVE;
        base_builder_string(w->out, "cooperative_groups::this_grid().sync()");
        return true;
    case IR_CTA_SYNC_AND:
        cuda_apply(w, "__syncthreads_and", e->args, 1);
        return true;
    case IR_CTA_SYNC_OR:
        cuda_apply(w, "__syncthreads_or", e->args, 1);
        return true;
    case IR_WARP_SYNC:
        base_builder_string(w->out, "__syncwarp()");
        return true;
    case IR_THREAD_FENCE:
        base_builder_string(w->out, "__threadfence()");
        return true;
    case IR_NANOSLEEP:
        cuda_apply(w, "__nanosleep", e->args, 1);
        return true;
    case IR_SHUFFLE:
        shuffle(w, e, "__shfl_sync");
        return true;
    case IR_SHUFFLE_UP:
        shuffle(w, e, "__shfl_up_sync");
        return true;
    case IR_SHUFFLE_DOWN:
        shuffle(w, e, "__shfl_down_sync");
        return true;
    case IR_SHUFFLE_XOR:
        shuffle(w, e, "__shfl_xor_sync");
        return true;
    case IR_VOTE_ALL:
        vote(w, e, "__all_sync");
        return true;
    case IR_VOTE_ANY:
        vote(w, e, "__any_sync");
        return true;
    case IR_VOTE_BALLOT:
        cuda_apply(w, "__ballot_sync", e->args, 2);
        return true;
    case IR_ACTIVE_MASK:
        base_builder_string(w->out, "__activemask()");
        return true;
    case IR_REDUX_ADD:
        cuda_apply(w, "__reduce_add_sync", e->args, 2);
        return true;
    case IR_REDUX_MIN:
        cuda_apply(w, "__reduce_min_sync", e->args, 2);
        return true;
    case IR_REDUX_MAX:
        cuda_apply(w, "__reduce_max_sync", e->args, 2);
        return true;
    case IR_PRINTF:
        print_formatted(w, e);
        return true;
    case IR_TRAP_UNLESS:
        trap_unless(w, e);
        return true;
    case IR_SOURCE_CALL:
        cuda_apply(w, e->args[0]->at.string, e->args + 3, e->count - 3);
        return true;
    default:
        break;
    }
    if (cuda_ptx(w, e))
        return true;
    if (!atomic_name(e->op))
        return false;
    atomic(w, e);
    return true;
}
