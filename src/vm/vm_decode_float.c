/* SPDX-License-Identifier: Apache-2.0
 * Floating-point arithmetic (PTX ISA 9.7.3, 9.7.4, 9.7.5). .ftz, .sat and directed roundings are separate
 * operations or the integer arithmetic of level/vm_soft.h, so that the plain forms stay one operation. */
#include "vm/vm_approx.h"
#include "vm/vm_decode.h"

#define NONE VM_REF_NONE

static uint32_t flush(vm_decoder *d, uint32_t ref) {
    return ptx_has(d->instruction, PTX_MOD_FTZ) ? vm_decode_lane_new(d, VM_LANE_FTZ32, ref, NONE, NONE, 0)
                                                : ref;
}

/* Finishes a .f32 result: .sat, .ftz, and the move to its register. */
static void finish32(vm_decoder *d, uint32_t value) {
    if (ptx_has(d->instruction, PTX_MOD_SAT))
        value = vm_decode_lane_new(d, VM_LANE_SATF32, value, NONE, NONE, 0);
    vm_decode_lane(d, VM_LANE_MOV32, vm_decode_write(d, 0, PTX_TYPE_F32), flush(d, value), NONE, NONE, 0);
}

typedef struct lanes { /* the same operation in each width */
    vm_lane f32, f64;
    vm_arith arith;
    unsigned sources;
} lanes;

static void single(vm_decoder *d, const lanes *with) {
    num_rounding rounding = vm_decode_rounding(d);
    uint32_t source[3] = {NONE, NONE, NONE};
    for (unsigned i = 0; i < with->sources; i++) {
        ptx_type type = d->instruction->type2; /* add.f32.f16: narrow factors, .f32 sum */
        bool last = i + 1 == with->sources;
        if ((type == PTX_TYPE_F16 || type == PTX_TYPE_BF16) && !(last && with->sources > 1)) {
            source[i] = vm_decode_lane_new(d, type == PTX_TYPE_F16 ? VM_LANE_F16TOF32 : VM_LANE_BF16TOF32,
                                           vm_decode_read(d, i + 1, type), NONE, NONE, 0);
            continue;
        }
        source[i] = flush(d, vm_decode_read(d, i + 1, PTX_TYPE_F32));
    }
    if (rounding == NUM_RN && !ptx_has(d->instruction, PTX_MOD_FTZ) &&
        !ptx_has(d->instruction, PTX_MOD_SAT)) {
        vm_decode_lane(d, with->f32, vm_decode_write(d, 0, PTX_TYPE_F32), source[0], source[1], source[2], 0);
        return;
    }
    if (rounding == NUM_RN) {
        finish32(d, vm_decode_lane_new(d, with->f32, source[0], source[1], source[2], 0));
        return;
    }
    uint32_t zero = vm_decode_constant(d, 0, false);
    finish32(d,
             vm_decode_lane_new(d, VM_LANE_SOFT32, source[0], source[1] == NONE ? zero : source[1],
                                source[2] == NONE ? zero : source[2], with->arith | (uint64_t)rounding << 8));
}

static void wide(vm_decoder *d, const lanes *with) {
    num_rounding rounding = vm_decode_rounding(d);
    uint32_t source[3] = {NONE, NONE, NONE};
    for (unsigned i = 0; i < with->sources; i++)
        source[i] = vm_decode_read(d, i + 1, PTX_TYPE_F64);
    uint32_t to = vm_decode_write(d, 0, PTX_TYPE_F64);
    if (rounding == NUM_RN) {
        vm_decode_lane(d, with->f64, to, source[0], source[1], source[2], 0);
        return;
    }
    uint32_t zero = vm_decode_constant(d, 0, true);
    vm_decode_lane(d, VM_LANE_SOFT64, to, source[0], source[1] == NONE ? zero : source[1],
                   source[2] == NONE ? zero : source[2], with->arith | (uint64_t)rounding << 8);
}

static uint64_t half_flags(const vm_decoder *d, ptx_type type) {
    const ptx_instruction *i = d->instruction;
    uint64_t flags = 0;
    flags |= type == PTX_TYPE_BF16 || type == PTX_TYPE_BF16X2 ? VM_HALF_BF16 : 0;
    flags |= type == PTX_TYPE_F16X2 || type == PTX_TYPE_BF16X2 ? VM_HALF_PACKED : 0;
    flags |= ptx_has(i, PTX_MOD_FTZ) ? VM_HALF_FTZ : 0;
    flags |= ptx_has(i, PTX_MOD_SAT) ? VM_HALF_SAT : 0;
    flags |= ptx_has(i, PTX_MOD_RELU) ? VM_HALF_RELU : 0;
    flags |= ptx_has(i, PTX_MOD_NAN) ? VM_HALF_NAN : 0;
    flags |= ptx_has(i, PTX_MOD_XORSIGN) ? VM_HALF_XORSIGN : 0;
    flags |= ptx_has(i, PTX_MOD_ABS) ? VM_HALF_ABS : 0;
    return flags;
}

static void half(vm_decoder *d, vm_arith arith, unsigned sources) {
    ptx_type type = d->instruction->type;
    uint32_t zero = vm_decode_constant(d, 0, false), source[3] = {zero, zero, zero};
    for (unsigned i = 0; i < sources; i++)
        source[i] = vm_decode_read(d, i + 1, type);
    if (ptx_has(d->instruction, PTX_MOD_OOB))
        vm_decode_unsupported(d);
    vm_decode_lane(d, VM_LANE_HALF, vm_decode_write(d, 0, type), source[0], source[1], source[2],
                   arith | half_flags(d, type));
}

static void pair(vm_decoder *d, vm_arith arith, unsigned sources) {
    uint32_t zero = vm_decode_constant(d, 0, true), source[3] = {zero, zero, zero};
    for (unsigned i = 0; i < sources; i++)
        source[i] = vm_decode_read(d, i + 1, PTX_TYPE_F32X2);
    vm_decode_lane(d, VM_LANE_F32X2, vm_decode_write(d, 0, PTX_TYPE_F32X2), source[0], source[1], source[2],
                   arith | (uint64_t)vm_decode_rounding(d) << 8 |
                       (ptx_has(d->instruction, PTX_MOD_FTZ) ? 1u << 12 : 0));
}

static bool arithmetic(vm_decoder *d, const lanes *with) {
    switch (d->instruction->type) {
    case PTX_TYPE_F32:
        single(d, with);
        return true;
    case PTX_TYPE_F64:
        wide(d, with);
        return true;
    case PTX_TYPE_F16:
    case PTX_TYPE_BF16:
    case PTX_TYPE_F16X2:
    case PTX_TYPE_BF16X2:
        half(d, with->arith, with->sources);
        return true;
    case PTX_TYPE_F32X2:
        pair(d, with->arith, with->sources);
        return true;
    default:
        return false;
    }
}

/* min, max of .f32 with .NaN, .abs, .xorsign, and three operands. */
static void extreme32(vm_decoder *d, bool largest) {
    const ptx_instruction *i = d->instruction;
    bool nan = ptx_has(i, PTX_MOD_NAN);
    vm_lane lane =
        largest ? (nan ? VM_LANE_MAXNANF32 : VM_LANE_MAXF32) : (nan ? VM_LANE_MINNANF32 : VM_LANE_MINF32);
    uint32_t a = flush(d, vm_decode_read(d, 1, PTX_TYPE_F32)),
             b = flush(d, vm_decode_read(d, 2, PTX_TYPE_F32));
    uint32_t sign_a = a, sign_b = b;
    if (ptx_has(i, PTX_MOD_ABS)) {
        a = vm_decode_lane_new(d, VM_LANE_ABSF32, a, NONE, NONE, 0);
        b = vm_decode_lane_new(d, VM_LANE_ABSF32, b, NONE, NONE, 0);
    }
    uint32_t value = vm_decode_lane_new(d, lane, a, b, NONE, 0);
    if (i->operand_count > 3) {
        uint32_t c = flush(d, vm_decode_read(d, 3, PTX_TYPE_F32));
        if (ptx_has(i, PTX_MOD_ABS))
            c = vm_decode_lane_new(d, VM_LANE_ABSF32, c, NONE, NONE, 0);
        value = vm_decode_lane_new(d, lane, value, c, NONE, 0);
    }
    if (ptx_has(i, PTX_MOD_XORSIGN))
        value = vm_decode_lane_new(d, VM_LANE_XORSIGN32, value, sign_a, sign_b, 0);
    if (ptx_has(i, PTX_MOD_XORSIGN) && nan)
        value = vm_decode_lane_new(d, VM_LANE_CANON32, value, NONE, NONE, 0);
    finish32(d, value);
}

static bool extreme(vm_decoder *d, bool largest) {
    ptx_type type = d->instruction->type;
    if (type == PTX_TYPE_F32) {
        extreme32(d, largest);
        return true;
    }
    if (type == PTX_TYPE_F64) {
        vm_decode_lane(d, largest ? VM_LANE_MAXF64 : VM_LANE_MINF64, vm_decode_write(d, 0, type),
                       vm_decode_read(d, 1, type), vm_decode_read(d, 2, type), NONE, 0);
        return true;
    }
    if (ptx_type_bits(type) > 32 || type == PTX_TYPE_TF32)
        return false;
    half(d, largest ? VM_ARITH_MAX : VM_ARITH_MIN, 2);
    return true;
}

static bool unary(vm_decoder *d, vm_lane f32, vm_lane f64, vm_arith arith) {
    ptx_type type = d->instruction->type;
    if (type == PTX_TYPE_F32) {
        uint32_t value = vm_decode_lane_new(d, f32, flush(d, vm_decode_read(d, 1, type)), NONE, NONE, 0);
        finish32(d, value);
        return true;
    }
    if (type == PTX_TYPE_F64 && f64 != VM_LANE_COUNT) {
        vm_decode_lane(d, f64, vm_decode_write(d, 0, type), vm_decode_read(d, 1, type), NONE, NONE, 0);
        return true;
    }
    if (type == PTX_TYPE_F64 || arith == VM_ARITH_ADD)
        return false;
    half(d, arith, 1);
    return true;
}

/* rcp, sqrt: correctly rounded in every mode; the approximate forms are rounded to nearest too. */
static bool rounded_unary(vm_decoder *d, const lanes *with) {
    if (d->instruction->type != PTX_TYPE_F32 && d->instruction->type != PTX_TYPE_F64)
        return false;
    return arithmetic(d, with);
}

/* Approximate instructions as an H200 computes them; false: not one of them. */
static bool approximate(vm_decoder *d, vm_approx function) {
    const ptx_instruction *i = d->instruction;
    bool ftz = ptx_has(i, PTX_MOD_FTZ);
    if (d->program->approximations != VM_APPROXIMATE_H200 || !ptx_has(i, PTX_MOD_APPROX))
        return false;
    uint64_t half = 0;
    switch (i->type) {
    case PTX_TYPE_F32:
        vm_decode_lane(d, VM_LANE_APPROX32, vm_decode_write(d, 0, i->type), vm_decode_read(d, 1, i->type),
                       NONE, NONE, function | (uint64_t)ftz << 8);
        return true;
    case PTX_TYPE_F64:
        if (!ftz) /* rsqrt.approx.f64 is a sequence */
            return false;
        vm_decode_lane(d, VM_LANE_APPROX64, vm_decode_write(d, 0, i->type), vm_decode_read(d, 1, i->type),
                       NONE, NONE, function);
        return true;
    case PTX_TYPE_F16X2:
    case PTX_TYPE_BF16X2:
        half = 1u << 9;
        break;
    case PTX_TYPE_F16:
    case PTX_TYPE_BF16:
        break;
    default:
        return false;
    }
    half |= i->type == PTX_TYPE_BF16 || i->type == PTX_TYPE_BF16X2 ? 1u << 8 : 0;
    vm_decode_lane(d, VM_LANE_APPROX16, vm_decode_write(d, 0, i->type), vm_decode_read(d, 1, i->type), NONE,
                   NONE, function | half);
    return true;
}

static bool approximate_division(vm_decoder *d) {
    const ptx_instruction *i = d->instruction;
    bool full = ptx_has(i, PTX_MOD_FULL), ftz = ptx_has(i, PTX_MOD_FTZ);
    if (d->program->approximations != VM_APPROXIMATE_H200 || i->type != PTX_TYPE_F32 ||
        (!full && !ptx_has(i, PTX_MOD_APPROX)))
        return false;
    vm_decode_lane(d, VM_LANE_APPROXDIV, vm_decode_write(d, 0, i->type), vm_decode_read(d, 1, i->type),
                   vm_decode_read(d, 2, i->type), NONE, full | (uint64_t)ftz << 1);
    return true;
}

bool vm_decode_floating(vm_decoder *d) {
    static const lanes add = {VM_LANE_ADDF32, VM_LANE_ADDF64, VM_ARITH_ADD, 2};
    static const lanes sub = {VM_LANE_SUBF32, VM_LANE_SUBF64, VM_ARITH_SUB, 2};
    static const lanes mul = {VM_LANE_MULF32, VM_LANE_MULF64, VM_ARITH_MUL, 2};
    static const lanes fma = {VM_LANE_FMAF32, VM_LANE_FMAF64, VM_ARITH_FMA, 3};
    static const lanes div = {VM_LANE_DIVF32, VM_LANE_DIVF64, VM_ARITH_DIV, 2};
    static const lanes div_approx = {VM_LANE_DIVAPPROXF32, VM_LANE_DIVF64, VM_ARITH_DIV, 2};
    static const lanes rcp = {VM_LANE_RCPF32, VM_LANE_RCPF64, VM_ARITH_RCP, 1};
    static const lanes sqrt = {VM_LANE_SQRTF32, VM_LANE_SQRTF64, VM_ARITH_SQRT, 1};
    const ptx_instruction *i = d->instruction;
    ptx_type type = i->type;
    switch (i->op) {
    case PTX_OP_ADD:
        return arithmetic(d, &add);
    case PTX_OP_SUB:
        return arithmetic(d, &sub);
    case PTX_OP_MUL:
        return arithmetic(d, &mul);
    case PTX_OP_FMA:
    case PTX_OP_MAD:
        return arithmetic(d, &fma);
    case PTX_OP_DIV:
        return approximate_division(d) || rounded_unary(d, ptx_has(i, PTX_MOD_APPROX) ? &div_approx : &div);
    case PTX_OP_RCP:
        return approximate(d, VM_APPROX_RCP) || rounded_unary(d, &rcp);
    case PTX_OP_SQRT:
        return approximate(d, VM_APPROX_SQRT) || rounded_unary(d, &sqrt);
    case PTX_OP_MIN:
        return extreme(d, false);
    case PTX_OP_MAX:
        return extreme(d, true);
    case PTX_OP_NEG:
        return unary(d, VM_LANE_NEGF32, VM_LANE_NEGF64, VM_ARITH_NEG);
    case PTX_OP_ABS:
        return unary(d, VM_LANE_ABSF32, VM_LANE_ABSF64, VM_ARITH_ABS);
    case PTX_OP_RSQRT:
        return approximate(d, VM_APPROX_RSQRT) || unary(d, VM_LANE_RSQRTF32, VM_LANE_RSQRTF64, VM_ARITH_ADD);
    case PTX_OP_SIN:
        return approximate(d, VM_APPROX_SIN) || unary(d, VM_LANE_SINF32, VM_LANE_COUNT, VM_ARITH_ADD);
    case PTX_OP_COS:
        return approximate(d, VM_APPROX_COS) || unary(d, VM_LANE_COSF32, VM_LANE_COUNT, VM_ARITH_ADD);
    case PTX_OP_LG2:
        return approximate(d, VM_APPROX_LG2) || unary(d, VM_LANE_LG2F32, VM_LANE_COUNT, VM_ARITH_ADD);
    case PTX_OP_EX2:
        return approximate(d, VM_APPROX_EX2) || unary(d, VM_LANE_EX2F32, VM_LANE_COUNT, VM_ARITH_EX2);
    case PTX_OP_TANH:
        return approximate(d, VM_APPROX_TANH) || unary(d, VM_LANE_TANHF32, VM_LANE_COUNT, VM_ARITH_TANH);
    case PTX_OP_COPYSIGN:
        vm_decode_lane(d, type == PTX_TYPE_F64 ? VM_LANE_COPYSIGN64 : VM_LANE_COPYSIGN32,
                       vm_decode_write(d, 0, type), vm_decode_read(d, 1, type), vm_decode_read(d, 2, type),
                       NONE, 0);
        return true;
    default:
        return false;
    }
}
