/* SPDX-License-Identifier: Apache-2.0
 * Conversions of one lane, reinterpretation, and packing of lanes into the words that memory holds. Every
 * conversion rounds once. Must not know expressions. */
#include "assemble/ptx_build_internal.h"
#include "num/num.h"

static const ir_type f32_type = {.kind = IR_TYPE_PRIM, .dtype = NUM_DTYPE_F32, .lanes = 1};

static ptx_operand convert(ptx_builder *b, ptx_build_class class, ptx_mod rounding, ptx_mod to, ptx_mod from,
                           ptx_operand x) {
    if (rounding == PTX_MOD_NONE)
        return ptx_build_compute(b, class, PTX_OP_CVT, PTX_MODS(to, from), PTX_ARGS(x));
    return ptx_build_compute(b, class, PTX_OP_CVT, PTX_MODS(rounding, to, from), PTX_ARGS(x));
}

static ptx_mod mod_of(num_dtype dtype) {
    switch (dtype) {
    case NUM_DTYPE_I64:
        return PTX_MOD_S64;
    case NUM_DTYPE_U64:
        return PTX_MOD_U64;
    case NUM_DTYPE_F16:
        return PTX_MOD_F16;
    case NUM_DTYPE_BF16:
        return PTX_MOD_BF16;
    case NUM_DTYPE_F32:
    case NUM_DTYPE_TF32:
        return PTX_MOD_F32;
    case NUM_DTYPE_F64:
        return PTX_MOD_F64;
    default:
        return num_dtype_class(dtype) == NUM_SIGNED ? PTX_MOD_S32 : PTX_MOD_U32;
    }
}

/* ---- the four directions ---- */

static ptx_operand integer_to_integer(ptx_builder *b, num_dtype to, num_dtype from, ptx_operand x) {
    bool wide_to = num_dtype_bits(to) == 64, wide_from = num_dtype_bits(from) == 64;
    if (ptx_build_is_immediate(x))
        return ptx_build_int(num_wrap(to, (int64_t)x.bits));
    if (wide_to && wide_from)
        return x;
    if (wide_to)
        return num_dtype_class(from) == NUM_SIGNED
                   ? convert(b, PTX_CLASS_R64, PTX_MOD_NONE, PTX_MOD_S64, PTX_MOD_S32, x)
                   : convert(b, PTX_CLASS_R64, PTX_MOD_NONE, PTX_MOD_U64, PTX_MOD_U32, x);
    const ptx_operand *want = b->want;
    if (wide_from) {
        if (num_dtype_bits(to) < 32)
            b->want = NULL;
        x = convert(b, PTX_CLASS_R32, PTX_MOD_NONE, PTX_MOD_U32, PTX_MOD_U64, x);
        if (num_dtype_bits(to) == 32)
            return x;
        b->want = want;
        return ptx_build_wrap(b, to, x);
    }
    bool same_sign = num_dtype_class(to) == num_dtype_class(from);
    bool fits = num_dtype_bits(to) == 32 || (num_dtype_bits(from) <= num_dtype_bits(to) && same_sign) ||
                (num_dtype_bits(from) < num_dtype_bits(to) && num_dtype_class(from) == NUM_UNSIGNED);
    return fits ? x : ptx_build_wrap(b, to, x);
}

static ptx_operand integer_to_float(ptx_builder *b, num_dtype to, num_dtype from, ptx_operand x) {
    ir_type type = ir_type_prim(to, 1), source = ir_type_prim(from, 1);
    const ptx_operand *want = b->want;
    ptx_build_class class = ptx_build_class_of(type);
    b->want = NULL;
    x = ptx_build_in_register(b, ptx_build_class_of(source), x);
    if (class == PTX_CLASS_BYTE || to == NUM_DTYPE_TF32) {
        /* float32 is exact below 2^24, and there the narrow types but e8m0 saturate. */
        bool exact = num_dtype_bits(from) < 32 || (class == PTX_CLASS_BYTE && to != NUM_DTYPE_F8E8M0FNU);
        x = exact ? integer_to_float(b, NUM_DTYPE_F32, from, x)
                  : ptx_build_f32_odd(b, ptx_build_class_of(source), mod_of(from), x);
        b->want = want;
        return ptx_build_cast(b, type, f32_type, x);
    }
    b->want = want;
    return convert(b, class, PTX_MOD_RN, mod_of(to), mod_of(from), x);
}

static ptx_operand float_to_integer(ptx_builder *b, num_dtype to, num_dtype from, ptx_operand x) {
    const ptx_operand *want = b->want;
    ir_type source = ir_type_prim(from, 1);
    b->want = NULL;
    if (ptx_build_class_of(source) == PTX_CLASS_BYTE) {
        x = ptx_build_narrow_to_f32(b, from, x);
        from = NUM_DTYPE_F32;
    }
    unsigned bits = num_dtype_bits(to);
    if (bits >= 32) {
        b->want = want;
        return convert(b, bits == 64 ? PTX_CLASS_R64 : PTX_CLASS_R32, PTX_MOD_RZI, mod_of(to), mod_of(from),
                       x);
    }
    /* 8 and 16 bits: saturate as cvt.rzi does for the wide types. */
    ptx_mod mod = mod_of(to);
    x = convert(b, PTX_CLASS_R32, PTX_MOD_RZI, mod, mod_of(from), x);
    if (mod == PTX_MOD_S32)
        x = ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_MAX, PTX_MODS(mod),
                              PTX_ARGS(x, ptx_build_int(num_minimum(to))));
    b->want = want;
    return ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_MIN, PTX_MODS(mod),
                             PTX_ARGS(x, ptx_build_int((int64_t)num_maximum(to))));
}

static ptx_operand float_to_float(ptx_builder *b, num_dtype to, num_dtype from, ptx_operand x);

/* For a second rounding to fewer digits. */
static ptx_operand as_f32(ptx_builder *b, num_dtype from, ptx_operand x) {
    if (from == NUM_DTYPE_F64)
        return ptx_build_f32_odd(b, PTX_CLASS_F64, PTX_MOD_F64, x);
    return from == NUM_DTYPE_F32 ? x : float_to_float(b, NUM_DTYPE_F32, from, x);
}

static ptx_operand float_to_float(ptx_builder *b, num_dtype to, num_dtype from, ptx_operand x) {
    ptx_build_class class = ptx_build_class_of(ir_type_prim(to, 1));
    ptx_build_class source = ptx_build_class_of(ir_type_prim(from, 1));
    const ptx_operand *want = b->want;
    if (to == NUM_DTYPE_TF32) {
        b->want = NULL;
        x = as_f32(b, from, x);
        x = ptx_build_in_register(b, PTX_CLASS_F32, x);
        ptx_operand bits = ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_CVT,
                                             PTX_MODS(PTX_MOD_RN, PTX_MOD_TF32, PTX_MOD_F32), PTX_ARGS(x));
        b->want = want;
        return ptx_build_compute(b, PTX_CLASS_F32, PTX_OP_MOV, PTX_MODS(PTX_MOD_B32), PTX_ARGS(bits));
    }
    if (source == PTX_CLASS_BYTE) {
        b->want = class == PTX_CLASS_F32 ? want : NULL;
        x = ptx_build_narrow_to_f32(b, from, x);
        b->want = want;
        return class == PTX_CLASS_F32 ? x : float_to_float(b, to, NUM_DTYPE_F32, x);
    }
    if (class == PTX_CLASS_BYTE) {
        b->want = NULL;
        x = source == PTX_CLASS_F32 ? x : as_f32(b, from, x);
        b->want = want;
        return ptx_build_f32_to_narrow(b, to, x);
    }
    if (class == source && (class != PTX_CLASS_HALF || to == from))
        return x; /* float32 from tfloat32 */
    x = ptx_build_in_register(b, source, x);
    if (class == PTX_CLASS_HALF && source == PTX_CLASS_HALF) {
        /* Through float32, which holds both: driver 580 was seen on an H200 to drop cvt.rn.f16.bf16 in front
         * of cvt.rzi. */
        b->want = NULL;
        x = convert(b, PTX_CLASS_F32, PTX_MOD_NONE, PTX_MOD_F32, mod_of(from), x);
        b->want = want;
        return convert(b, class, PTX_MOD_RN, mod_of(to), PTX_MOD_F32, x);
    }
    bool exact = ptx_build_class_bits(class) > ptx_build_class_bits(source);
    return convert(b, class, exact ? PTX_MOD_NONE : PTX_MOD_RN, mod_of(to), mod_of(from), x);
}

static ptx_operand to_bool(ptx_builder *b, ir_type from, ptx_operand x) {
    if (ir_type_is_float(from)) {
        ptx_build_class class = ptx_build_class_of(from);
        if (class == PTX_CLASS_BYTE) { /* the zero byte of e8m0 is no zero */
            const ptx_operand *want = b->want;
            b->want = NULL;
            x = ptx_build_narrow_to_f32(b, from.dtype, x);
            b->want = want;
            return ptx_build_compare(b, IR_NE, f32_type, x, ptx_build_f32(0));
        }
        ptx_operand zero = class == PTX_CLASS_F64   ? ptx_build_f64(0)
                           : class == PTX_CLASS_F32 ? ptx_build_f32(0)
                                                    : ptx_build_constant(b, class, ptx_build_int(0));
        return ptx_build_compare(b, IR_NE, from, x, zero);
    }
    if (ptx_build_is_immediate(x))
        return ptx_build_int(x.bits != 0);
    return ptx_build_compare(b, IR_NE, from, x, ptx_build_int(0));
}

static ptx_operand from_bool(ptx_builder *b, ir_type to, ptx_operand x) {
    ptx_build_class class = ptx_build_class_of(to);
    const ptx_operand *want = b->want;
    if (ptx_build_is_immediate(x) && num_dtype_is_integer(to.dtype))
        return ptx_build_int(x.bits != 0);
    b->want = NULL;
    x = ptx_build_as_predicate(b, x);
    ptx_operand one = ptx_build_int(1), zero = ptx_build_int(0);
    if (class == PTX_CLASS_F32)
        one = ptx_build_f32(1), zero = ptx_build_f32(0);
    else if (class == PTX_CLASS_F64)
        one = ptx_build_f64(1), zero = ptx_build_f64(0);
    else if (num_dtype_is_float(to.dtype)) {
        one = ptx_build_int((int64_t)num_encode(to.dtype, 1, NUM_RN, false));
        zero = ptx_build_int((int64_t)num_encode(to.dtype, 0, NUM_RN, false));
    }
    b->want = want;
    return ptx_build_select(b, to, x, one, zero);
}

ptx_operand ptx_build_cast(ptx_builder *b, ir_type to, ir_type from, ptx_operand x) {
    if (ir_type_equal(to, from))
        return x;
    if (ir_type_is_bool(to))
        return to_bool(b, from, x);
    if (ir_type_is_bool(from))
        return from_bool(b, to, x);
    bool to_float = num_dtype_is_float(to.dtype), is_float = num_dtype_is_float(from.dtype);
    if (!to_float && !is_float)
        return integer_to_integer(b, to.dtype, from.dtype, x);
    if (!is_float)
        return integer_to_float(b, to.dtype, from.dtype, x);
    return to_float ? float_to_float(b, to.dtype, from.dtype, x)
                    : float_to_integer(b, to.dtype, from.dtype,
                                       ptx_build_in_register(b, ptx_build_class_of(from), x));
}

/* ---- bits ---- */

/* The memory bits of one lane in a 32-bit register, extended by zero or sign. */
static ptx_operand lane_bits(ptx_builder *b, ir_type type, ptx_operand x) {
    switch (ptx_build_class_of(type)) {
    case PTX_CLASS_PRED:
        return ptx_build_select(b, ir_type_prim(NUM_DTYPE_U32, 1), ptx_build_as_predicate(b, x),
                                ptx_build_int(1), ptx_build_int(0));
    case PTX_CLASS_F32:
        if (ptx_build_is_immediate(x))
            return ptx_build_int((int64_t)x.bits);
        return ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_MOV, PTX_MODS(PTX_MOD_B32), PTX_ARGS(x));
    case PTX_CLASS_HALF:
    case PTX_CLASS_BYTE:
        return convert(b, PTX_CLASS_R32, PTX_MOD_NONE, PTX_MOD_U32, PTX_MOD_U16, x);
    default:
        return x;
    }
}

static ptx_operand lane_of_bits(ptx_builder *b, ir_type type, ptx_operand x) {
    switch (ptx_build_class_of(type)) {
    case PTX_CLASS_PRED:
        return ptx_build_compute(b, PTX_CLASS_PRED, PTX_OP_SETP, PTX_MODS(PTX_MOD_NE, PTX_MOD_S32),
                                 PTX_ARGS(ptx_build_in_register(b, PTX_CLASS_R32, x), ptx_build_int(0)));
    case PTX_CLASS_F32:
        return ptx_build_compute(b, PTX_CLASS_F32, PTX_OP_MOV, PTX_MODS(PTX_MOD_B32), PTX_ARGS(x));
    case PTX_CLASS_HALF:
    case PTX_CLASS_BYTE:
        x = ptx_build_in_register(b, PTX_CLASS_R32, x);
        return convert(b, ptx_build_class_of(type), PTX_MOD_NONE, PTX_MOD_U16, PTX_MOD_U32, x);
    default:
        return ptx_build_wrap(b, type.dtype, x);
    }
}

static unsigned lane_count(ir_type type) {
    return type.kind == IR_TYPE_PRIM && type.lanes > 1 ? type.lanes : 1;
}

static unsigned lane_bytes(ir_type type) {
    return type.kind == IR_TYPE_PRIM ? num_dtype_bytes(type.dtype)
                                     : ptx_build_class_bits(ptx_build_class_of(type)) / 8;
}

static ptx_operand pair_of(ptx_builder *b, ptx_mod mod, ptx_build_class class, ptx_operand low,
                           ptx_operand high) {
    ptx_operand parts[2] = {low, high}, group = ptx_build_group(b, PTX_OPERAND_VECTOR, parts, 2);
    return ptx_build_compute(b, class, PTX_OP_MOV, PTX_MODS(mod), PTX_ARGS(group));
}

static void split_pair(ptx_builder *b, ptx_mod mod, ptx_build_class class, ptx_operand whole,
                       ptx_operand *parts) {
    parts[0] = ptx_build_register(b, class), parts[1] = ptx_build_register(b, class);
    ptx_operand group = ptx_build_group(b, PTX_OPERAND_VECTOR, parts, 2);
    ptx_build_emit(b, PTX_OP_MOV, PTX_MODS(mod), PTX_ARGS(group, whole));
}

void ptx_build_pack(ptx_builder *b, ir_type type, const ptx_operand *lanes, ptx_operand *words) {
    unsigned count = lane_count(type), bytes = lane_bytes(type);
    ir_type lane = type.kind == IR_TYPE_PRIM ? ir_type_scalar(type) : type;
    ptx_build_class class = ptx_build_class_of(lane);
    for (unsigned i = 0; i < count; i++) {
        if (bytes == 8) {
            ptx_operand whole = ptx_build_in_register(b, class, lanes[i]);
            split_pair(b, PTX_MOD_B64, PTX_CLASS_R32, whole, &words[2 * i]);
        } else if (bytes == 4) {
            words[i] = lane_bits(b, lane, lanes[i]);
        } else if (class == PTX_CLASS_HALF && i + 1 < count && i % 2 == 0) {
            words[i / 2] = pair_of(b, PTX_MOD_B32, PTX_CLASS_R32, lanes[i], lanes[i + 1]);
            i++;
        } else {
            unsigned per_word = 4 / bytes, at = i % per_word;
            ptx_operand bits = lane_bits(b, lane, lanes[i]);
            if (at == 0 && i + 1 < count)
                words[i / per_word] = ptx_build_in_register(b, PTX_CLASS_R32, bits);
            else if (at == 0)
                words[i / per_word] = bits;
            else
                words[i / per_word] =
                    ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_BFI, PTX_MODS(PTX_MOD_B32),
                                      PTX_ARGS(bits, words[i / per_word], ptx_build_int(8 * bytes * at),
                                               ptx_build_int(8 * bytes)));
        }
    }
}

void ptx_build_unpack(ptx_builder *b, ir_type type, const ptx_operand *words, ptx_operand *lanes) {
    unsigned count = lane_count(type), bytes = lane_bytes(type);
    ir_type lane = type.kind == IR_TYPE_PRIM ? ir_type_scalar(type) : type;
    ptx_build_class class = ptx_build_class_of(lane);
    bool is_signed = type.kind == IR_TYPE_PRIM && num_dtype_class(type.dtype) == NUM_SIGNED;
    for (unsigned i = 0; i < count; i++) {
        if (bytes == 8) {
            lanes[i] = pair_of(b, PTX_MOD_B64, class, words[2 * i], words[2 * i + 1]);
        } else if (bytes == 4) {
            lanes[i] = lane_of_bits(b, lane, words[i]);
        } else if (class == PTX_CLASS_HALF && i + 1 < count && i % 2 == 0) {
            ptx_operand word = ptx_build_in_register(b, PTX_CLASS_R32, words[i / 2]);
            split_pair(b, PTX_MOD_B32, PTX_CLASS_HALF, word, &lanes[i]);
            i++;
        } else {
            unsigned per_word = 4 / bytes, at = i % per_word;
            ptx_operand word = ptx_build_in_register(b, PTX_CLASS_R32, words[i / per_word]);
            if (count > 1 || class == PTX_CLASS_R32)
                word = ptx_build_compute(
                    b, PTX_CLASS_R32, PTX_OP_BFE, PTX_MODS(is_signed ? PTX_MOD_S32 : PTX_MOD_U32),
                    PTX_ARGS(word, ptx_build_int(8 * bytes * at), ptx_build_int(8 * bytes)));
            lanes[i] = class == PTX_CLASS_R32 ? word : lane_of_bits(b, lane, word);
        }
    }
}

const ptx_operand *ptx_build_reinterpret(ptx_builder *b, ir_type to, ir_type from, const ptx_operand *x) {
    unsigned bytes = lane_count(from) * lane_bytes(from);
    ptx_build_class class = ptx_build_class_of(to), source = ptx_build_class_of(from);
    ptx_operand *lanes = BASE_NEW_ARRAY(b->arena, ptx_operand, lane_count(to));
    if (lane_count(to) * lane_bytes(to) != bytes) {
        ptx_build_error(b, "T0653", "reinterpret between types of %u and %u bytes: the sizes must be equal",
                        bytes, lane_count(to) * lane_bytes(to));
        return ptx_build_zero(b);
    }
    bool one_to_one = lane_count(to) == lane_count(from) && lane_bytes(to) >= 4;
    if (one_to_one ||
        (lane_count(to) == 1 && lane_count(from) == 1 && class == source && class != PTX_CLASS_R32)) {
        for (unsigned i = 0; i < lane_count(to); i++) {
            ptx_mod mod = lane_bytes(to) == 8 ? PTX_MOD_B64 : PTX_MOD_B32;
            ptx_operand bits = x[i];
            if (ptx_build_is_immediate(bits) && class != source) {
                bits = ptx_build_int((int64_t)bits.bits);
                if (class == PTX_CLASS_F32)
                    bits = ptx_build_f32_bits((uint32_t)bits.bits);
                else if (class == PTX_CLASS_F64)
                    bits = ptx_build_f64_bits(bits.bits);
                lanes[i] = bits;
                continue;
            }
            lanes[i] = class == source
                           ? bits
                           : ptx_build_compute(b, class, PTX_OP_MOV, PTX_MODS(mod), PTX_ARGS(bits));
        }
        return lanes;
    }
    ptx_operand *words = BASE_NEW_ARRAY(b->arena, ptx_operand, bytes / 4 + 2);
    ptx_build_pack(b, from, x, words);
    ptx_build_unpack(b, to, words, lanes);
    return lanes;
}
