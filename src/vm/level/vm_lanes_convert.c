/* SPDX-License-Identifier: Apache-2.0
 * Lane functions that convert, and arithmetic of .f16 and .bf16 (PTX ISA 9.7.4): computed in .f32, which has
 * more than twice the bits, so the second rounding is harmless; fma is computed in double and rounded to odd
 * first. */
#include "vm/level/vm_half.h"
#include "vm/level/vm_level.h"
#include "vm/level/vm_soft.h"

VM_DEFINE1(F32TOF64, f64, f32, x)
/* The upper bits of a NaN's payload stay, as on an H200 (tests/recorded). */
static inline u32 narrow(f64 x) {
    u64 bits = vm_bits64(x);
    u32 nan = (u32)(bits >> 63) << 31 | 0x7fc00000u | (u32)(bits >> 29 & 0x3fffff);
    return x != x ? nan : vm_bits32((f32)x);
}
VM_DEFINE1(F64TOF32, u32, f64, narrow(x))
VM_DEFINE1(S32TOF32, f32, s32, x)
VM_DEFINE1(U32TOF32, f32, u32, x)
VM_DEFINE1(S64TOF32, f32, s64, x)
VM_DEFINE1(U64TOF32, f32, u64, x)
VM_DEFINE1(S64TOF64, f64, s64, x)
VM_DEFINE1(U64TOF64, f64, u64, x)
VM_DEFINE1(F32TOS32, s32, f32,
           x != x               ? 0
           : x >= 2147483648.0f ? INT32_MAX
           : x < -2147483648.0f ? INT32_MIN
                                : (s32)x)
VM_DEFINE1(F32TOU32, u32, f32, !(x > 0) ? 0 : x >= 4294967296.0f ? UINT32_MAX : (u32)(s64)x)

static inline f64 round_integral(f64 x, num_rounding rounding) {
    switch (rounding) {
    case NUM_RZ:
        return __builtin_trunc(x);
    case NUM_RP:
        return __builtin_ceil(x);
    case NUM_RM:
        return __builtin_floor(x);
    case NUM_RNA:
        return __builtin_round(x);
    default:
        return __builtin_rint(x);
    }
}
static inline u64 to_integer(f64 x, u64 imm) {
    unsigned bits = imm & 0xff;
    bool sign = imm >> 8 & 1;
    if (x != x)
        return imm >> 15 & 1 ? (u64)1 << (bits - 1) : 0;
    x = round_integral(x, (num_rounding)(imm >> 12 & 7));
    f64 top = __builtin_ldexp(1, (int)bits - (sign ? 1 : 0)), low = sign ? -top : 0;
    if (x >= top)
        return sign ? ((u64)1 << (bits - 1)) - 1 : bits == 64 ? UINT64_MAX : ((u64)1 << bits) - 1;
    if (x <= low)
        return sign ? 0 - ((u64)1 << (bits - 1)) : 0;
    return sign ? (u64)(s64)x : (u64)x;
}
VM_DEFINE1(F64TOINT, u64, f64, to_integer(x, imm))

static inline u64 from_integer(u64 x, u64 imm) {
    bool negative = imm & 1 && (s64)x < 0;
    soft_value value = {negative, 0, negative ? 0 - x : x};
    u64 bits = soft_pack(value, imm & 2, (num_rounding)(imm >> 4 & 7));
    if (imm & VM_INTTOFLOAT_ODD && (u64)__builtin_fabs(vm_float64(bits)) != value.magnitude)
        bits |= 1; /* cut and odd: another rounding to fewer digits is then the only one that counts */
    return bits;
}
VM_DEFINE1(INTTOFLOAT, u64, u64, from_integer(x, imm))
VM_DEFINE1(RINT32, u32, f32, vm_canon((f32)round_integral((f64)x, (num_rounding)imm)))
VM_DEFINE1(RINT64, f64, f64, vm_nan64(round_integral(x, (num_rounding)imm), x, 0, 0))
/* imm 1: a NaN keeps sign and payload (cvt.f64.f16 of an H200), else it is the canonical one (cvt.f32.f16).
 */
VM_DEFINE1(F16TOF32, f32, u32,
           imm && (x & 0x7fff) > 0x7c00 ? vm_float32((x & 0x8000) << 16 | 0x7fc00000u | (x & 0x1ff) << 13)
                                        : half_f16_decode(x))
VM_DEFINE1(BF16TOF32, f32, u32, imm ? vm_float32(x << 16) : half_bf16_decode(x)) /* imm 1: likewise */
VM_DEFINE1(F32TOF16, u32, f32, half_f16_encode(x))
VM_DEFINE1(F32TOBF16, u32, f32, half_bf16_encode(x))

/* Signed numbers of 1/64 (PTX ISA 5.2.4); there is no NaN, which gives the largest. */
static inline u32 encode_s2f6(f64 x, num_rounding rounding) {
    if (x != x)
        return 0x7f;
    f64 units = round_integral(x * 64, rounding);
    return (u32)(s32)(units > 127 ? 127 : units < -128 ? -128 : units) & 0xff;
}

static inline u32 encode(f64 x, u64 imm) {
    unsigned format = imm & 0xff;
    num_rounding rounding = (num_rounding)(imm >> 8 & 0xff);
    bool saturate = imm & VM_ENCODE_SATURATE;
    if (x != x && format == NUM_DTYPE_TF32)
        return 0x7fffe000u;
    if (x != x && imm & VM_ENCODE_PAYLOAD)
        return format == NUM_DTYPE_F32 ? narrow(x)
                                       : (narrow(x) >> 16 & 0x8000) | 0x7e00 | (narrow(x) >> 13 & 0x1ff);
    if (imm & VM_ENCODE_RELU && x <= 0)
        x = 0; /* relu gives +0 */
    if (format == VM_FORMAT_S2F6)
        return encode_s2f6(x, rounding);
    if (format == VM_FORMAT_UE5M3)
        return (u32)num_encode_format(&num_format_ue5m3, x, rounding, saturate);
    u32 code = (u32)num_encode((num_dtype)format, x, rounding, saturate);
    if (imm & VM_ENCODE_FTZ && !(code & 0x7f800000u)) /* what is subnormal after rounding, as on an H200 */
        code &= 0x80000000u;
    if (imm & VM_ENCODE_PZO && num_decode((num_dtype)format, code) == 0)
        code = 0;
    return code;
}
VM_DEFINE1(ENCODE, u32, f64, encode(x, imm))

/* Which of the random bits an element takes. Elements are 0 to 3 from the lowest; the x2 types have 0 and 2.
 * PTX (9.7.9.21, the text to its figures of rbits) gives each half to two elements, and of .e2m1x4 the lower
 * bytes of both halves to two. That the upper of the two reads its 16 bits in reverse is left to the figures;
 * others found it so on a GPU (docs/machine.md). */
static inline u32 random_of(num_dtype dtype, u32 random, unsigned which) {
    u32 half = which & 2 ? random >> 16 : random & 0xffff;
    if (dtype == NUM_DTYPE_F4E2M1FN)
        half = which & 2 ? (random >> 16 & 0xff00) | (random >> 8 & 0xff)
                         : (random >> 8 & 0xff00) | (random & 0xff);
    if (which & 1) {
        u32 reversed = 0;
        for (unsigned k = 0; k < 16; k++)
            reversed |= (half >> k & 1) << (15 - k);
        half = reversed;
    }
    return half;
}
static inline u32 stochastic(f32 x, u32 random, u64 imm) {
    num_dtype dtype = (num_dtype)(imm & 0xff);
    if (imm & VM_ENCODE_RELU && x <= 0)
        x = 0;
    return (u32)num_encode_stochastic(dtype, (f64)x, random_of(dtype, random, imm >> 24 & 3),
                                      dtype == NUM_DTYPE_F16 ? 13 : 16, imm & VM_ENCODE_SATURATE);
}
VM_DEFINE2(STOCHASTIC, u32, f32, u32, stochastic(x, y, imm))
static inline f64 scale(f64 x, u32 factors, u64 imm) {
    f64 factor = num_decode(NUM_DTYPE_F8E8M0FNU, factors >> (imm & 31) & 0xff);
    return imm >> 8 & 1 ? x / factor : x * factor;
}
VM_DEFINE2(SCALE, f64, f64, u32, scale(x, y, imm))
/* cvt.rna.tf32.f32: halves away from zero; a NaN only loses its low bits. imm 1: .satfinite, which takes one
 * unit from whatever has no finite exponent then, a NaN too. All of it as on an H200 (driver 580.159.04,
 * 2026-11-30). */
static inline u32 tf32_away(u32 x, u64 imm) {
    u32 magnitude = x & 0x7fffffffu;
    u32 rounded = (magnitude > 0x7f800000u ? magnitude : magnitude + 0x1000) & 0xffffe000u;
    if (imm && rounded >= 0x7f800000u)
        rounded -= 0x2000;
    return (x & 0x80000000u) | rounded;
}
VM_DEFINE1(TF32AWAY, u32, u32, tf32_away(x, imm))
static inline f64 decode(u32 x, u64 imm) {
    unsigned format = imm & 0xff;
    u32 bits = x >> (imm >> 8 & 31);
    if (format == VM_FORMAT_S2F6)
        return (f64)(int8_t)bits / 64;
    if (format == VM_FORMAT_UE5M3)
        return num_decode_format(&num_format_ue5m3, bits & 0xff);
    unsigned width = num_dtype_bits((num_dtype)format);
    f64 value = num_decode((num_dtype)format, width < 32 ? bits & ((1u << width) - 1) : bits);
    f64 least = format == NUM_DTYPE_BF16 ? 0x1p-126 : 0x1p-14;
    return imm & VM_DECODE_FLUSH && __builtin_fabs(value) < least ? __builtin_copysign(0, value) : value;
}
VM_DEFINE1(DECODE, f64, u32, decode(x, imm))

/* ---- arithmetic of 16-bit floats ---- */
static inline f32 half_load(u32 h, u64 imm) {
    f32 x = imm & VM_HALF_BF16 ? half_bf16_decode(h) : half_f16_decode(h);
    f32 least_normal = imm & VM_HALF_BF16 ? 0x1p-126f : 0x1p-14f;
    if (imm & VM_HALF_FTZ && __builtin_fabsf(x) < least_normal)
        x = __builtin_copysignf(0, x);
    return x;
}
/* a * b + c with the sum rounded to odd in double: the product is exact there. */
static inline f64 half_fma(f32 a, f32 b, f32 c) {
    f64 p = (f64)a * b, s = p + c;
    if (s - s != 0)
        return s;
    f64 t = s - p, error = (p - (s - t)) + ((f64)c - t);
    u64 bits = vm_bits64(s);
    if (error != 0 && !(bits & 1))
        bits += (vm_bits64(error) ^ bits) >> 63 ? UINT64_MAX : 1;
    return vm_float64(bits);
}
/* Double to float, rounded to odd, so that the last rounding sees what was lost. */
static inline f32 half_narrow(f64 x) {
    f32 r = (f32)x;
    if (x != x || (f64)r == x)
        return r;
    u32 bits = vm_bits32(r); /* infinity of a number becomes the largest float */
    if (!(bits & 1))
        bits += __builtin_fabs((f64)r) > __builtin_fabs(x) ? UINT32_MAX : 1;
    return vm_float32(bits);
}
static inline f32 half_pick(f32 a, f32 b, u64 imm, bool smaller) {
    if (imm & (VM_HALF_XORSIGN | VM_HALF_ABS)) {
        a = __builtin_fabsf(a);
        b = __builtin_fabsf(b);
    }
    f32 r;
    if (a != a || b != b) {
        r = imm & VM_HALF_NAN ? (f32)NAN : a != a ? b : a;
        if (r != r)
            return (f32)NAN;
    } else if (a == b) {
        r = vm_float32(smaller ? vm_bits32(a) | vm_bits32(b) : vm_bits32(a) & vm_bits32(b));
    } else {
        r = (a < b) == smaller ? a : b;
    }
    return r;
}
static u32 half_one(u32 x, u32 y, u32 z, u64 imm) {
    vm_arith arith = (vm_arith)(imm & 0xff);
    if ((arith == VM_ARITH_NEG || arith == VM_ARITH_ABS) && !(imm & VM_HALF_FTZ)) {
        if ((x & 0x7fff) > (imm & VM_HALF_BF16 ? 0x7f80u : 0x7c00u))
            return 0x7fff; /* as an H200 does; PTX leaves NaN open */
        return arith == VM_ARITH_NEG ? x ^ 0x8000 : x & 0x7fff;
    }
    f32 a = half_load(x, imm), b = half_load(y, imm), c = half_load(z, imm), r;
    u32 wide;
    switch (arith) {
    case VM_ARITH_ADD:
        r = a + b;
        break;
    case VM_ARITH_SUB:
        r = a - b;
        break;
    case VM_ARITH_MUL:
        r = a * b;
        break;
    case VM_ARITH_FMA:
        r = half_narrow(half_fma(a, b, c));
        break;
    case VM_ARITH_MIN:
        r = half_pick(a, b, imm, true);
        break;
    case VM_ARITH_MAX:
        r = half_pick(a, b, imm, false);
        break;
    case VM_ARITH_NEG:
        r = -a;
        break;
    case VM_ARITH_ABS:
        r = __builtin_fabsf(a);
        break;
    case VM_ARITH_EX2:
        VM_NAME(vm_lane_one)(VM_LANE_EX2F32, a, &wide), r = vm_float32(wide);
        break;
    case VM_ARITH_TANH:
        VM_NAME(vm_lane_one)(VM_LANE_TANHF32, a, &wide), r = vm_float32(wide);
        break;
    default:
        r = a;
        break;
    }
    if (imm & VM_HALF_SAT)
        r = r > 0 ? (r < 1 ? r : 1) : 0;
    if (imm & VM_HALF_RELU && !(r > 0) && r == r)
        r = 0;
    u32 h = imm & VM_HALF_BF16 ? half_bf16_encode(r) : half_f16_encode(r);
    u32 exponent = imm & VM_HALF_BF16 ? 0x7f80 : 0x7c00;
    if (imm & VM_HALF_FTZ && !(h & exponent))
        h &= 0x8000;
    /* the signs of the operands count, those of NaNs, too */
    return imm & VM_HALF_XORSIGN && r == r ? (h & 0x7fff) | ((x ^ y) & 0x8000) : h;
}
static inline u32 half_arith(u32 x, u32 y, u32 z, u64 imm) {
    u32 low = half_one(x & 0xffff, y & 0xffff, z & 0xffff, imm);
    return imm & VM_HALF_PACKED ? low | half_one(x >> 16, y >> 16, z >> 16, imm) << 16 : low;
}
VM_DEFINE3(HALF, u32, u32, u32, u32, half_arith(x, y, z, imm))
