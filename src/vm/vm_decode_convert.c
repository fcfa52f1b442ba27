/* SPDX-License-Identifier: Apache-2.0
 * cvt (PTX ISA 9.7.9.21): integers by extension, saturation and cutting; floats directly where a lane
 * function exists, else through double and the encoder of num, which rounds once. */
#include "vm/vm_decode.h"

#define NONE VM_REF_NONE

/* A num_dtype, or a VM_FORMAT_. */
static unsigned format_of(ptx_type type) {
    switch (type) {
    case PTX_TYPE_F16:
    case PTX_TYPE_F16X2:
        return NUM_DTYPE_F16;
    case PTX_TYPE_BF16:
    case PTX_TYPE_BF16X2:
        return NUM_DTYPE_BF16;
    case PTX_TYPE_TF32:
        return NUM_DTYPE_TF32;
    case PTX_TYPE_F32:
        return NUM_DTYPE_F32;
    case PTX_TYPE_E4M3:
    case PTX_TYPE_E4M3X2:
    case PTX_TYPE_E4M3X4:
        return NUM_DTYPE_F8E4M3FN;
    case PTX_TYPE_E5M2:
    case PTX_TYPE_E5M2X2:
    case PTX_TYPE_E5M2X4:
        return NUM_DTYPE_F8E5M2;
    case PTX_TYPE_E2M3X2:
    case PTX_TYPE_E2M3X4:
        return NUM_DTYPE_F6E2M3FN;
    case PTX_TYPE_E3M2X2:
    case PTX_TYPE_E3M2X4:
        return NUM_DTYPE_F6E3M2FN;
    case PTX_TYPE_E2M1X2:
    case PTX_TYPE_E2M1X4:
        return NUM_DTYPE_F4E2M1FN;
    case PTX_TYPE_UE8M0X2:
        return NUM_DTYPE_F8E8M0FNU;
    case PTX_TYPE_UE5M3X2:
        return VM_FORMAT_UE5M3;
    case PTX_TYPE_S2F6X2:
        return VM_FORMAT_S2F6;
    default:
        return NUM_DTYPE_NONE;
    }
}

/* A 32-bit row that holds a value of type `to`, into the register, which may be wider. */
static void store_narrow(vm_decoder *d, uint32_t value, ptx_type to) {
    const ptx_operand *target = vm_decode_operand(d, 0);
    unsigned bits = vm_decode_register_bits(target, to), width = ptx_type_bits(to);
    value = vm_decode_extend(d, value, to);
    if (bits == 64) {
        vm_decode_lane(d, vm_decode_signed(to) ? VM_LANE_SEXT32 : VM_LANE_ZEXT32,
                       vm_decode_target(d, target, PTX_TYPE_B64), value, NONE, NONE, 0);
        return;
    }
    uint32_t reg = vm_decode_target(d, target, bits <= 16 ? PTX_TYPE_B16 : PTX_TYPE_B32);
    if (bits <= 16 && width <= 16 && vm_decode_signed(to))
        vm_decode_lane(d, VM_LANE_ZEXT16, reg, value, NONE, NONE, 0);
    else
        vm_decode_lane(d, VM_LANE_MOV32, reg, value, NONE, NONE, 0);
}

/* Operand 1 as a 32-bit row, or as 64 bits, extended by its type. */
static uint32_t integer_source(vm_decoder *d, ptx_type from, bool wide) {
    const ptx_operand *operand = vm_decode_operand(d, 1);
    if (ptx_type_bits(from) == 64) {
        uint32_t ref = vm_decode_source(d, operand, from);
        return wide ? ref : vm_decode_lane_new(d, VM_LANE_TRUNC64, ref, NONE, NONE, 0);
    }
    uint32_t ref = vm_decode_extend(d, vm_decode_source(d, operand, PTX_TYPE_B32), from);
    if (!wide)
        return ref;
    return vm_decode_lane_new(d, vm_decode_signed(from) ? VM_LANE_SEXT32 : VM_LANE_ZEXT32, ref, NONE, NONE,
                              0);
}

static void integer_to_integer(vm_decoder *d, ptx_type to, ptx_type from) {
    unsigned bits = ptx_type_bits(to);
    if (ptx_has(d->instruction, PTX_MOD_SAT)) {
        uint64_t imm = bits | (vm_decode_signed(to) ? 0x100 : 0) | (vm_decode_signed(from) ? 0x200 : 0);
        uint32_t value =
            vm_decode_lane_new(d, VM_LANE_SATURATE64, integer_source(d, from, true), NONE, NONE, imm);
        if (bits == 64)
            vm_decode_lane(d, VM_LANE_MOV64, vm_decode_write(d, 0, to), value, NONE, NONE, 0);
        else
            store_narrow(d, vm_decode_lane_new(d, VM_LANE_TRUNC64, value, NONE, NONE, 0), to);
        return;
    }
    if (bits == 64)
        vm_decode_lane(d, VM_LANE_MOV64, vm_decode_write(d, 0, to), integer_source(d, from, true), NONE, NONE,
                       0);
    else
        store_narrow(d, integer_source(d, from, false), to);
}

/* Whether the payload of a NaN goes on, as on an H200. */
static bool keeps_payload(const ptx_instruction *i, ptx_type from) {
    return i->type == PTX_TYPE_F64 || (i->type == PTX_TYPE_F32 && from == PTX_TYPE_BF16);
}

/* .sat to a float clamps to [0, 1]: of integers those are the numbers 0 and 1 (PTX ISA, cvt). */
static uint32_t clamped_source(vm_decoder *d, ptx_type from, bool wide) {
    if (!ptx_has(d->instruction, PTX_MOD_SAT))
        return integer_source(d, from, wide);
    uint32_t ref = vm_decode_lane_new(d, VM_LANE_SATURATE64, integer_source(d, from, true), NONE, NONE,
                                      1 | (vm_decode_signed(from) ? 0x200 : 0));
    return wide ? ref : vm_decode_lane_new(d, VM_LANE_TRUNC64, ref, NONE, NONE, 0);
}

/* Operand 1, a float of any type, as .f32 or .f64. */
static uint32_t float_source(vm_decoder *d, ptx_type from, bool wide) {
    if (from == PTX_TYPE_F64)
        return vm_decode_read(d, 1, from);
    uint32_t ref = vm_decode_read(d, 1, from);
    if (from == PTX_TYPE_F16 || from == PTX_TYPE_BF16)
        ref = vm_decode_lane_new(d, from == PTX_TYPE_F16 ? VM_LANE_F16TOF32 : VM_LANE_BF16TOF32, ref, NONE,
                                 NONE, keeps_payload(d->instruction, from));
    else if (ptx_has(d->instruction, PTX_MOD_FTZ) && d->instruction->type != PTX_TYPE_F16) {
        /* to .f16 it flushes nothing on an H200: rounding up gives the least number */
        ref = vm_decode_lane_new(d, VM_LANE_FTZ32, ref, NONE, NONE, 0);
        if (wide && d->instruction->type == PTX_TYPE_F64)
            ref = vm_decode_lane_new(d, VM_LANE_CANON32, ref, NONE, NONE, 0);
    }
    return wide ? vm_decode_lane_new(d, VM_LANE_F32TOF64, ref, NONE, NONE, 0) : ref;
}

static void float_to_integer(vm_decoder *d, ptx_type to, ptx_type from) {
    num_rounding rounding = vm_decode_rounding(d);
    unsigned bits = ptx_type_bits(to);
    if (from != PTX_TYPE_F64 && bits == 32 && rounding == NUM_RZ) {
        store_narrow(d,
                     vm_decode_lane_new(d, vm_decode_signed(to) ? VM_LANE_F32TOS32 : VM_LANE_F32TOU32,
                                        float_source(d, from, false), NONE, NONE, 0),
                     to);
        return;
    }
    /* PTX ISA 9.0, cvt: NaN is 0 only for sources other than f64 and destinations below 64 bits */
    bool nan_is_top = from == PTX_TYPE_F64 || bits == 64;
    uint64_t imm =
        bits | (vm_decode_signed(to) ? 0x100 : 0) | (uint64_t)rounding << 12 | (nan_is_top ? 1u << 15 : 0);
    uint32_t value = vm_decode_lane_new(d, VM_LANE_F64TOINT, float_source(d, from, true), NONE, NONE, imm);
    if (bits == 64)
        vm_decode_lane(d, VM_LANE_MOV64, vm_decode_write(d, 0, to), value, NONE, NONE, 0);
    else
        store_narrow(d, vm_decode_lane_new(d, VM_LANE_TRUNC64, value, NONE, NONE, 0), to);
}

static uint64_t encode_imm(const vm_decoder *d, ptx_type to) {
    const ptx_instruction *i = d->instruction;
    return format_of(to) | (uint64_t)vm_decode_rounding(d) << 8 |
           (ptx_has(i, PTX_MOD_SATFINITE) ? VM_ENCODE_SATURATE : 0) |
           (ptx_has(i, PTX_MOD_RELU) ? VM_ENCODE_RELU : 0) |
           (ptx_has(i, PTX_MOD_FTZ) && to == PTX_TYPE_F32 ? VM_ENCODE_FTZ : 0) |
           (ptx_has(i, PTX_MOD_PZO) ? VM_ENCODE_PZO : 0);
}

static void integer_to_float(vm_decoder *d, ptx_type to, ptx_type from) {
    bool sign = vm_decode_signed(from);
    num_rounding rounding = vm_decode_rounding(d);
    uint32_t reg = vm_decode_write(d, 0, to);
    if (to == PTX_TYPE_F32 && rounding == NUM_RN) {
        bool wide = ptx_type_bits(from) == 64;
        vm_lane lane = wide ? (sign ? VM_LANE_S64TOF32 : VM_LANE_U64TOF32)
                            : (sign ? VM_LANE_S32TOF32 : VM_LANE_U32TOF32);
        vm_decode_lane(d, lane, reg, clamped_source(d, from, wide), NONE, NONE, 0);
        return;
    }
    uint32_t source = clamped_source(d, from, true);
    if (to == PTX_TYPE_F64 && rounding == NUM_RN) {
        vm_decode_lane(d, sign ? VM_LANE_S64TOF64 : VM_LANE_U64TOF64, reg, source, NONE, NONE, 0);
        return;
    }
    if (to == PTX_TYPE_F32 || to == PTX_TYPE_F64) {
        uint64_t imm = (sign ? 1 : 0) | (to == PTX_TYPE_F64 ? 2 : 0) | (uint64_t)rounding << 4;
        if (to == PTX_TYPE_F64) {
            vm_decode_lane(d, VM_LANE_INTTOFLOAT, reg, source, NONE, NONE, imm);
            return;
        }
        uint32_t bits = vm_decode_lane_new(d, VM_LANE_INTTOFLOAT, source, NONE, NONE, imm);
        vm_decode_lane(d, VM_LANE_TRUNC64, reg, bits, NONE, NONE, 0);
        return;
    }
    uint64_t odd = (sign ? 1 : 0) | 2 | (uint64_t)NUM_RZ << 4 | VM_INTTOFLOAT_ODD;
    source = vm_decode_lane_new(d, VM_LANE_INTTOFLOAT, source, NONE, NONE, odd);
    vm_decode_lane(d, VM_LANE_ENCODE, reg, source, NONE, NONE, encode_imm(d, to));
}

static bool rounds_to_integral(const ptx_instruction *i) {
    return ptx_has(i, PTX_MOD_RNI) || ptx_has(i, PTX_MOD_RZI) || ptx_has(i, PTX_MOD_RMI) ||
           ptx_has(i, PTX_MOD_RPI);
}

static void float_to_float(vm_decoder *d, ptx_type to, ptx_type from) {
    const ptx_instruction *i = d->instruction;
    num_rounding rounding = vm_decode_rounding(d);
    bool integral = rounds_to_integral(i),
         plain = !ptx_has(i, PTX_MOD_RELU) && !ptx_has(i, PTX_MOD_SATFINITE) && !ptx_has(i, PTX_MOD_PZO);
    uint32_t reg = vm_decode_write(d, 0, to);
    if (from == PTX_TYPE_F64 || to == PTX_TYPE_F64) {
        uint32_t value = float_source(d, from, true);
        if (integral)
            value = vm_decode_lane_new(d, VM_LANE_RINT64, value, NONE, NONE, rounding);
        if (ptx_has(i, PTX_MOD_SAT))
            value = vm_decode_lane_new(d, VM_LANE_SATF64, value, NONE, NONE, 0);
        if (to == PTX_TYPE_F64)
            vm_decode_lane(d, VM_LANE_MOV64, reg, value, NONE, NONE, 0);
        else if (to == PTX_TYPE_F32 && rounding == NUM_RN && !ptx_has(i, PTX_MOD_FTZ))
            vm_decode_lane(d, VM_LANE_F64TOF32, reg, value, NONE, NONE, 0);
        else
            vm_decode_lane(d, VM_LANE_ENCODE, reg, value, NONE, NONE,
                           encode_imm(d, to) |
                               (to == PTX_TYPE_F32 || to == PTX_TYPE_F16 ? VM_ENCODE_PAYLOAD : 0));
        return;
    }
    uint32_t value = float_source(d, from, false);
    if (integral) {
        value = vm_decode_lane_new(d, VM_LANE_RINT32, value, NONE, NONE, rounding);
        rounding = NUM_RN;
    }
    if (ptx_has(i, PTX_MOD_SAT))
        value = vm_decode_lane_new(d, VM_LANE_SATF32, value, NONE, NONE, 0);
    if (to == PTX_TYPE_F32 && plain) {
        if (ptx_has(i, PTX_MOD_FTZ))
            value = vm_decode_lane_new(d, VM_LANE_FTZ32, value, NONE, NONE, 0);
        vm_decode_lane(d, VM_LANE_MOV32, reg, value, NONE, NONE, 0);
    } else if ((to == PTX_TYPE_F16 || to == PTX_TYPE_BF16) && rounding == NUM_RN && plain) {
        vm_decode_lane(d, to == PTX_TYPE_F16 ? VM_LANE_F32TOF16 : VM_LANE_F32TOBF16, reg, value, NONE, NONE,
                       0);
    } else if (to == PTX_TYPE_TF32 && rounding == NUM_RNA && !ptx_has(i, PTX_MOD_RELU)) {
        vm_decode_lane(d, VM_LANE_TF32AWAY, reg, value, NONE, NONE, ptx_has(i, PTX_MOD_SATFINITE));
    } else {
        value = vm_decode_lane_new(d, VM_LANE_F32TOF64, value, NONE, NONE, 0);
        vm_decode_lane(d, VM_LANE_ENCODE, reg, value, NONE, NONE, encode_imm(d, to));
    }
}

/* Bits of one element inside a packed type; 6-bit elements sit in bytes. */
static unsigned element_bits(ptx_type type) {
    return ptx_type_bits(type) / 2;
}

/* Elements of a packed source as double. .scaled::n1 flushes subnormal numbers (PTX ISA 9.4, cvt). */
static uint32_t element(vm_decoder *d, ptx_type from, uint32_t ref, unsigned which) {
    return vm_decode_lane_new(d, VM_LANE_DECODE, ref, NONE, NONE,
                              format_of(from) | (uint64_t)(which * element_bits(from)) << 8 |
                                  (ptx_has(d->instruction, PTX_MOD_SCALED__N1__UE8M0) ? VM_DECODE_FLUSH : 0));
}

/* high above the lower bits. */
static uint32_t shifted(vm_decoder *d, uint32_t low, uint32_t high, unsigned bits) {
    uint32_t up = vm_decode_lane_new(d, VM_LANE_SHL32, high, vm_decode_constant(d, bits, false), NONE, 0);
    return vm_decode_lane_new(d, VM_LANE_OR32, low, up, NONE, 0);
}

static void pack(vm_decoder *d, ptx_type to, uint32_t low, uint32_t high) {
    const ptx_operand *target = vm_decode_operand(d, 0);
    uint32_t value;
    switch (element_bits(to)) {
    case 16:
        value = vm_decode_lane_new(d, VM_LANE_PACK16, low, high, NONE, 0);
        break;
    case 8:
        value = vm_decode_lane_new(d, VM_LANE_PACK8, low, high, NONE, 0);
        break;
    default:
        value = shifted(d, low, high, 4);
    }
    if (vm_decode_register_bits(target, to) > 32) {
        vm_decode_unsupported(d);
        return;
    }
    vm_decode_lane(d, VM_LANE_MOV32, vm_decode_target(d, target, PTX_TYPE_B32), value, NONE, NONE, 0);
}

static bool is_pair(ptx_type type) {
    switch (type) {
    case PTX_TYPE_F16X2:
    case PTX_TYPE_BF16X2:
    case PTX_TYPE_E4M3X2:
    case PTX_TYPE_E5M2X2:
    case PTX_TYPE_E2M3X2:
    case PTX_TYPE_E3M2X2:
    case PTX_TYPE_E2M1X2:
    case PTX_TYPE_UE8M0X2:
    case PTX_TYPE_UE5M3X2:
    case PTX_TYPE_S2F6X2:
        return true;
    default:
        return false;
    }
}

/* Down conversions divide by the scale factor, up conversions multiply; .n1 has one for both elements. */
static uint32_t scaled(vm_decoder *d, uint32_t value, unsigned index, unsigned which) {
    const ptx_instruction *i = d->instruction;
    bool one = ptx_has(i, PTX_MOD_SCALED__N1__UE8M0), two = ptx_has(i, PTX_MOD_SCALED__N2__UE8M0);
    if (!one && !two)
        return value;
    uint32_t factors = vm_decode_source(d, vm_decode_operand(d, index), PTX_TYPE_B32);
    bool divide = i->type != PTX_TYPE_BF16X2;
    return vm_decode_lane_new(d, VM_LANE_SCALE, value, factors, NONE,
                              (two ? which * 8 : 0) | (divide ? 0x100 : 0));
}

/* One source of .f32 as double. */
static uint32_t wide_source(vm_decoder *d, unsigned index) {
    uint32_t value = vm_decode_read(d, index, PTX_TYPE_F32);
    if (ptx_has(d->instruction, PTX_MOD_SCALED__N1__UE8M0))
        value = vm_decode_lane_new(d, VM_LANE_FTZ32, value, NONE, NONE, 0);
    return vm_decode_lane_new(d, VM_LANE_F32TOF64, value, NONE, NONE, 0);
}

static void pair_conversion(vm_decoder *d, ptx_type to, ptx_type from) {
    const ptx_instruction *i = d->instruction;
    uint32_t low, high;
    if ((!is_pair(from) && from != PTX_TYPE_F32) || !is_pair(to)) {
        vm_decode_unsupported(d);
        return;
    }
    bool quick = from == PTX_TYPE_F32 && (to == PTX_TYPE_F16X2 || to == PTX_TYPE_BF16X2) &&
                 vm_decode_rounding(d) == NUM_RN && !ptx_has(i, PTX_MOD_RELU) &&
                 !ptx_has(i, PTX_MOD_SATFINITE) && !ptx_has(i, PTX_MOD_PZO);
    if (quick) { /* the first source is the upper element */
        vm_lane lane = to == PTX_TYPE_F16X2 ? VM_LANE_F32TOF16 : VM_LANE_F32TOBF16;
        high = vm_decode_read(d, 1, from);
        low = vm_decode_read(d, 2, from);
        pack(d, to, vm_decode_lane_new(d, lane, low, NONE, NONE, 0),
             vm_decode_lane_new(d, lane, high, NONE, NONE, 0));
        return;
    }
    unsigned next = 2; /* the scale factor */
    if (from == PTX_TYPE_F32) {
        high = wide_source(d, 1);
        low = wide_source(d, 2);
        next = 3;
    } else {
        uint32_t source = vm_decode_source(d, vm_decode_operand(d, 1), PTX_TYPE_B32);
        low = element(d, from, source, 0);
        high = element(d, from, source, 1);
    }
    low = scaled(d, low, next, 0);
    high = scaled(d, high, next, 1);
    pack(d, to, vm_decode_lane_new(d, VM_LANE_ENCODE, low, NONE, NONE, encode_imm(d, to)),
         vm_decode_lane_new(d, VM_LANE_ENCODE, high, NONE, NONE, encode_imm(d, to)));
}

/* cvt.rs: two sources, or four in a vector, and random bits; the first source is the uppermost element. */
static void stochastic_conversion(vm_decoder *d, ptx_type to) {
    const ptx_operand *sources = vm_decode_operand(d, 1), *target = vm_decode_operand(d, 0);
    bool four = sources != NULL && sources->kind == PTX_OPERAND_VECTOR;
    if (sources == NULL || (four && sources->count != 4) || vm_decode_register_bits(target, to) > 32) {
        vm_decode_unsupported(d);
        return;
    }
    unsigned count = four ? 4 : 2, bits = ptx_type_bits(to) / count;
    uint32_t random = vm_decode_read(d, four ? 2 : 3, PTX_TYPE_B32), part[4];
    for (unsigned k = 0; k < count; k++) {
        uint32_t x = four ? vm_decode_source(d, &sources->args[3 - k], PTX_TYPE_F32)
                          : vm_decode_read(d, 2 - k, PTX_TYPE_F32);
        part[k] = vm_decode_lane_new(d, VM_LANE_STOCHASTIC, x, random, NONE,
                                     encode_imm(d, to) | (uint64_t)(four ? k : 2 * k) << 24);
    }
    uint32_t value = shifted(d, part[0], part[1], bits);
    if (four)
        value = shifted(d, value, shifted(d, part[2], part[3], bits), 2 * bits);
    vm_decode_lane(d, VM_LANE_MOV32, vm_decode_target(d, target, PTX_TYPE_B32), value, NONE, NONE, 0);
}

/* cvt.pack.sat: two .s32 saturated and joined, the second below the first; below 16 bits the lower bits of c
 * fill the rest. */
static void packed_integers(vm_decoder *d) {
    const ptx_instruction *i = d->instruction;
    unsigned bits = ptx_type_bits(i->type);
    bool is_signed = vm_decode_signed(i->type) || i->type == PTX_TYPE_S4 || i->type == PTX_TYPE_S2;
    uint32_t part[2];
    for (unsigned k = 0; k < 2; k++) {
        uint32_t value =
            vm_decode_lane_new(d, VM_LANE_SEXT32, vm_decode_read(d, k + 1, PTX_TYPE_S32), NONE, NONE, 0);
        value = vm_decode_lane_new(d, VM_LANE_SATURATE64, value, NONE, NONE,
                                   bits | (is_signed ? 0x100 : 0) | 0x200);
        part[k] = vm_decode_lane_new(d, VM_LANE_TRUNC64, value, NONE, NONE, 0);
    }
    uint32_t to = vm_decode_write(d, 0, PTX_TYPE_U32), mask = vm_decode_constant(d, (1u << bits) - 1, false);
    for (unsigned k = 0; k < 2; k++)
        part[k] = vm_decode_lane_new(d, VM_LANE_AND32, part[k], mask, NONE, 0);
    uint32_t value = shifted(d, part[1], part[0], bits);
    if (bits < 16)
        value = shifted(d, value, vm_decode_read(d, 3, PTX_TYPE_U32), 2 * bits);
    vm_decode_lane(d, VM_LANE_MOV32, to, value, NONE, NONE, 0);
}

bool vm_decode_convert(vm_decoder *d) {
    const ptx_instruction *i = d->instruction;
    if (i->op == PTX_OP_CVT_PACK) {
        packed_integers(d);
        return true;
    }
    if (i->op != PTX_OP_CVT)
        return false;
    ptx_type to = i->type, from = i->type2;
    if (to == PTX_TYPE_NONE || from == PTX_TYPE_NONE)
        return false;
    if (ptx_has(i, PTX_MOD_RS))
        stochastic_conversion(d, to);
    else if (is_pair(to) || is_pair(from))
        pair_conversion(d, to, from);
    else if (vm_decode_float(to) && vm_decode_float(from))
        float_to_float(d, to, from);
    else if (vm_decode_float(to) && ptx_type_bits(from) >= 8)
        integer_to_float(d, to, from);
    else if (vm_decode_float(from))
        float_to_integer(d, to, from);
    else
        integer_to_integer(d, to, from);
    return true;
}
