/* SPDX-License-Identifier: Apache-2.0
 * Lane functions on .f32 and .f64, and approximate functions. Approximate results are computed in double with
 * plain multiplications and additions and rounded once, so every processor level gives the same bits, far
 * inside the bounds of PTX ISA 9.7.3. Nothing here depends on the floating-point environment. */
#include "vm/level/vm_level.h"
#include "vm/level/vm_soft.h"
#include "vm/vm_approx.h"

#define X(name, T, op)                                                                                       \
    void VM_NAME(vm_lane_##name)(VM_LANE_ARGUMENTS) {                                                        \
        (void)cp, (void)imm;                                                                                 \
        *(u32 *)dp = compare_##name(ap, bp);                                                                 \
    }
X(EQF32, f32, ==)
X(EQF64, f64, ==)
X(LTF64, f64, <)
X(LEF64, f64, <=)
#undef X
/* The ordered "ne" is false for NaN, C's != is true. */
#define ORDERED(name, T)                                                                                     \
    void VM_NAME(vm_lane_NUM##name)(VM_LANE_ARGUMENTS) {                                                     \
        (void)cp, (void)imm;                                                                                 \
        *(u32 *)dp = compare_EQ##name(ap, ap) & compare_EQ##name(bp, bp);                                    \
    }                                                                                                        \
    void VM_NAME(vm_lane_NE##name)(VM_LANE_ARGUMENTS) {                                                      \
        (void)cp, (void)imm;                                                                                 \
        *(u32 *)dp = compare_NE##name(ap, bp) & compare_EQ##name(ap, ap) & compare_EQ##name(bp, bp);         \
    }
ORDERED(F32, f32)
ORDERED(F64, f64)

static inline bool test(u64 magnitude, u64 infinity, u64 least_normal, u64 kind) {
    switch (kind) {
    case VM_TESTP_FINITE:
        return magnitude < infinity;
    case VM_TESTP_INFINITE:
        return magnitude == infinity;
    case VM_TESTP_NUMBER:
        return magnitude <= infinity;
    case VM_TESTP_NOTANUMBER:
        return magnitude > infinity;
    case VM_TESTP_NORMAL:
        return magnitude == 0 || (magnitude >= least_normal && magnitude < infinity);
    default:
        return magnitude != 0 && magnitude < least_normal;
    }
}
void VM_NAME(vm_lane_TESTP32)(VM_LANE_ARGUMENTS) {
    const u32 *ax = ap;
    u32 mask = 0;
    (void)bp, (void)cp;
    for (unsigned l = 0; l < VM_LANES; l++)
        mask |= (u32)test(ax[l] & 0x7fffffffu, 0x7f800000u, 0x00800000u, imm) << l;
    *(u32 *)dp = mask;
}
void VM_NAME(vm_lane_TESTP64)(VM_LANE_ARGUMENTS) {
    const u64 *ax = ap;
    u32 mask = 0;
    (void)bp, (void)cp;
    for (unsigned l = 0; l < VM_LANES; l++)
        mask |= (u32)test(ax[l] & INT64_MAX, (u64)0x7ff << 52, (u64)1 << 52, imm) << l;
    *(u32 *)dp = mask;
}

VM_DEFINE2(DIVF32, u32, f32, f32, vm_canon(x / y))
/* div.approx (PTX ISA 9.7.3.8): by more than 2^126 the quotient is 0, of an infinity NaN; its sign is an
 * H200's. */
static inline u32 divide_approximately(f32 x, f32 y) {
    f32 magnitude = __builtin_fabsf(y);
    bool large = magnitude > 0x1p126f && magnitude < (f32)INFINITY;
    return vm_canon(large ? x * __builtin_copysignf(0, y) : x / y);
}
VM_DEFINE2(DIVAPPROXF32, u32, f32, f32, divide_approximately(x, y))
/* min, max: a number wins over a NaN, -0 is below +0; the .NaN forms give NaN when either is. */
static inline u32 least(f32 x, f32 y) {
    u32 equal = vm_bits32(x) | vm_bits32(y);
    u32 number = x < y ? vm_bits32(x) : y < x ? vm_bits32(y) : equal;
    return x != x ? vm_canon(y) : y != y ? vm_bits32(x) : number;
}
static inline u32 greatest(f32 x, f32 y) {
    u32 equal = vm_bits32(x) & vm_bits32(y);
    u32 number = x > y ? vm_bits32(x) : y > x ? vm_bits32(y) : equal;
    return x != x ? vm_canon(y) : y != y ? vm_bits32(x) : number;
}
VM_DEFINE2(MINF32, u32, f32, f32, least(x, y))
VM_DEFINE2(MAXF32, u32, f32, f32, greatest(x, y))
VM_DEFINE2(MINNANF32, u32, f32, f32, x != x || y != y ? 0x7fffffffu : least(x, y))
VM_DEFINE2(MAXNANF32, u32, f32, f32, x != x || y != y ? 0x7fffffffu : greatest(x, y))
/* NaN becomes the canonical one, as an H200 does; PTX leaves it open. */
VM_DEFINE1(NEGF32, u32, u32, (x & 0x7fffffffu) > 0x7f800000u ? 0x7fffffffu : x ^ 0x80000000u)
VM_DEFINE1(ABSF32, u32, u32, (x & 0x7fffffffu) > 0x7f800000u ? 0x7fffffffu : x & 0x7fffffffu)
VM_DEFINE1(CANON32, u32, f32, vm_canon(x))
VM_DEFINE1(SQRTF32, u32, f32, vm_canon(__builtin_sqrtf(x)))
VM_DEFINE1(RCPF32, u32, f32, vm_canon(1 / x))
VM_DEFINE1(RSQRTF32, u32, f32, vm_canon((f32)(1 / __builtin_sqrt((f64)x))))
VM_DEFINE2(COPYSIGN32, u32, u32, u32, (x & 0x80000000u) | (y & 0x7fffffffu))
VM_DEFINE1(FTZ32, u32, u32, x & 0x7f800000u ? x : x & 0x80000000u)
VM_DEFINE1(SATF32, u32, f32, x > 0 ? (x < 1 ? vm_bits32(x) : 0x3f800000u) : 0)
VM_DEFINE3(XORSIGN32, u32, u32, u32, u32, (x & 0x7fffffffu) | ((y ^ z) & 0x80000000u))

/* 2^x for |x| <= 1/2, to about 1e-13. */
static inline f64 exp2_fraction(f64 x) {
    f64 t = x * 0.693147180559945309417;
    return 1 +
           t * (1 +
                t * (1.0 / 2 +
                     t * (1.0 / 6 +
                          t * (1.0 / 24 +
                               t * (1.0 / 120 +
                                    t * (1.0 / 720 + t * (1.0 / 5040 + t * (1.0 / 40320 +
                                                                            t * (1.0 / 362880 +
                                                                                 t * (1.0 / 3628800))))))))));
}
static inline f64 exp2_of(f64 x) { /* |x| < 1000 */
    f64 n = (x + 0x1.8p52) - 0x1.8p52;
    u64 scale = (u64)((s64)(s32)n + 1023) << 52;
    return exp2_fraction(x - n) * vm_float64(scale);
}
static inline u32 exp2_float(f32 x) {
    f64 wide = x < -200 ? -200 : x > 200 ? 200 : x == x ? x : 0;
    return x != x ? 0x7fffffffu : vm_bits32((f32)exp2_of(wide));
}
VM_DEFINE1(EX2F32, u32, f32, exp2_float(x))

static inline u32 log2_float(f32 x) {
    f64 wide = x > 0 && x < (f32)INFINITY ? x : 1;
    u64 bits = vm_bits64(wide);
    u64 high = bits - 0x3fe6a09e667f3bcdu; /* from sqrt(1/2) */
    s64 exponent = (s64)high >> 52;
    f64 m = vm_float64(bits - ((u64)exponent << 52));
    f64 s = (m - 1) / (m + 1), q = s * s;
    f64 series =
        s *
        (1 + q * (1.0 / 3 +
                  q * (1.0 / 5 +
                       q * (1.0 / 7 + q * (1.0 / 9 + q * (1.0 / 11 + q * (1.0 / 13 + q * (1.0 / 15))))))));
    f64 result = (f64)(s32)exponent + series * 2.88539008177792681472;
    u32 odd = x != x || x < 0 ? 0x7fffffffu : x == 0 ? 0xff800000u : 0x7f800000u;
    return x > 0 && x < (f32)INFINITY ? vm_bits32((f32)result) : odd;
}
VM_DEFINE1(LG2F32, u32, f32, log2_float(x))

static inline u32 tanh_float(f32 x) {
    f64 a = __builtin_fabs((f64)x);
    f64 clipped = a < 20 ? a : 20;
    f64 large = 1 - 2 / (exp2_of(clipped * 2.88539008177792681472) + 1);
    f64 small = a * (1 - a * a * (1.0 / 3 - a * a * (2.0 / 15)));
    f64 result = a < 0.01 ? small : large;
    return x != x ? 0x7fffffffu : vm_bits32((f32)result) | (vm_bits32(x) & 0x80000000u);
}
VM_DEFINE1(TANHF32, u32, f32, tanh_float(x))

/* Sine (shift 0) or cosine (1): quadrant and rest in double; the two parts of pi/2 serve up to 2^17. */
static inline f32 wave(f64 x, s32 shift) {
    f64 n = (x * 0.636619772367581343076 + 0x1.8p52) - 0x1.8p52;
    f64 r = (x - n * 0x1.921fb544p0) - n * 0x1.0b4611a626331p-34;
    f64 q = r * r;
    f64 sine =
        r * (1 - q * (1.0 / 6 - q * (1.0 / 120 - q * (1.0 / 5040 -
                                                      q * (1.0 / 362880 - q * (1.0 / 39916800 -
                                                                               q * (1.0 / 6227020800.0)))))));
    f64 cosine =
        1 - q * (1.0 / 2 -
                 q * (1.0 / 24 -
                      q * (1.0 / 720 -
                           q * (1.0 / 40320 -
                                q * (1.0 / 3628800 - q * (1.0 / 479001600 - q * (1.0 / 87178291200.0)))))));
    s32 quadrant = (s32)n + shift;
    f64 value = quadrant & 1 ? cosine : sine;
    return (f32)(quadrant & 2 ? -value : value);
}
static void waves(u32 *d, const f32 *a, s32 shift) {
    f32 source[VM_LANES];
    memcpy(source, a, sizeof source);
    bool large = false;
    VM_LOOP {
        f32 x = source[l];
        bool small = x < 131072.0f && x > -131072.0f;
        large |= !small;
        f32 value = wave(small ? (f64)x : 0, shift);
        d[l] = x == 0 && shift == 0 ? vm_bits32(x) : vm_canon(value);
    }
    if (large)
        for (unsigned l = 0; l < VM_LANES; l++)
            if (!(source[l] < 131072.0f && source[l] > -131072.0f))
                d[l] = source[l] - source[l] != 0 ? 0x7fffffffu
                                                  : vm_bits32((f32)(shift ? cos(source[l]) : sin(source[l])));
}
void VM_NAME(vm_lane_SINF32)(VM_LANE_ARGUMENTS) {
    (void)bp, (void)cp, (void)imm;
    waves(dp, ap, 0);
}
void VM_NAME(vm_lane_COSF32)(VM_LANE_ARGUMENTS) {
    (void)bp, (void)cp, (void)imm;
    waves(dp, ap, 1);
}

VM_DEFINE2(ADDF64, f64, f64, f64, vm_nan64(x + y, y, x, 0))
VM_DEFINE2(SUBF64, f64, f64, f64, vm_nan64(x - y, y, x, 0))
VM_DEFINE2(MULF64, f64, f64, f64, vm_nan64(x *y, y, x, 0))
VM_DEFINE3(FMAF64, f64, f64, f64, f64, vm_nan64(__builtin_fma(x, y, z), y, z, x))
VM_DEFINE2(DIVF64, f64, f64, f64, vm_nan64(x / y, x, y, 0))
static inline u64 least64(f64 x, f64 y) {
    u64 equal = vm_bits64(x) | vm_bits64(y);
    u64 number = x < y ? vm_bits64(x) : y < x ? vm_bits64(y) : equal;
    return x != x ? vm_bits64(y != y ? vm_quiet64(y) : y) : y != y ? vm_bits64(x) : number;
}
static inline u64 greatest64(f64 x, f64 y) {
    u64 equal = vm_bits64(x) & vm_bits64(y);
    u64 number = x > y ? vm_bits64(x) : y > x ? vm_bits64(y) : equal;
    return x != x ? vm_bits64(y != y ? vm_quiet64(y) : y) : y != y ? vm_bits64(x) : number;
}
VM_DEFINE2(MINF64, u64, f64, f64, least64(x, y))
VM_DEFINE2(MAXF64, u64, f64, f64, greatest64(x, y))
VM_DEFINE1(NEGF64, f64, f64, x == x ? -x : vm_quiet64(x))
VM_DEFINE1(ABSF64, f64, f64, x == x ? __builtin_fabs(x) : vm_quiet64(x))
VM_DEFINE1(SQRTF64, f64, f64, vm_nan64(__builtin_sqrt(x), x, 0, 0))
VM_DEFINE1(RCPF64, f64, f64, vm_nan64(1 / x, x, 0, 0))
VM_DEFINE1(RSQRTF64, f64, f64, vm_nan64(1 / __builtin_sqrt(x), x, 0, 0))
VM_DEFINE2(COPYSIGN64, u64, u64, u64, (x & (u64)1 << 63) | (y & INT64_MAX))
VM_DEFINE1(SATF64, u64, f64, x > 0 ? (x < 1 ? vm_bits64(x) : (u64)0x3ff << 52) : 0)

VM_DEFINE3(SOFT32, u32, f32, f32, f32,
           soft_arith((vm_arith)(imm & 0xff), (num_rounding)(imm >> 8 & 7), false, x, y, z))
VM_DEFINE3(SOFT64, u64, f64, f64, f64,
           soft_arith((vm_arith)(imm & 0xff), (num_rounding)(imm >> 8 & 7), true, x, y, z))

/* Two floats in 64 bits; imm: vm_arith | num_rounding << 8 | ftz << 12. */
static inline u32 ftz(u32 x, u64 imm) {
    return imm >> 12 & 1 && !(x & 0x7f800000u) ? x & 0x80000000u : x;
}
static inline u64 pair(u64 x, u64 y, u64 z, u64 imm) {
    u64 result = 0;
    for (unsigned i = 0; i < 64; i += 32) {
        f32 a = vm_float32(ftz((u32)(x >> i), imm)), b = vm_float32(ftz((u32)(y >> i), imm)),
            c = vm_float32(ftz((u32)(z >> i), imm));
        u64 r = soft_arith((vm_arith)(imm & 0xff), (num_rounding)(imm >> 8 & 7), false, a, b, c);
        result |= (u64)ftz((u32)r, imm) << i;
    }
    return result;
}
VM_DEFINE3(F32X2, u64, u64, u64, u64, pair(x, y, z, imm))

/* As an H200 computes them. */
VM_DEFINE1(APPROX32, u32, u32, vm_approx_f32((vm_approx)(imm & 0xff), imm >> 8 & 1, x))
VM_DEFINE1(APPROX64, u64, u64, (u64)vm_approx_f64((vm_approx)(imm & 0xff), (u32)(x >> 32)) << 32)
VM_DEFINE2(APPROXDIV, u32, u32, u32, vm_approx_div(imm & 1, imm >> 1 & 1, x, y))
static inline u32 approx_half(u32 x, u64 imm) {
    vm_approx function = (vm_approx)(imm & 0xff);
    u32 low = vm_approx_half(function, imm >> 8 & 1, (uint16_t)x);
    return imm >> 9 & 1 ? low | (u32)vm_approx_half(function, imm >> 8 & 1, (uint16_t)(x >> 16)) << 16 : low;
}
VM_DEFINE1(APPROX16, u32, u32, approx_half(x, imm))

void VM_NAME(vm_lane_one)(vm_lane lane, f32 x, u32 *result) {
    *result = lane == VM_LANE_TANHF32 ? tanh_float(x) : exp2_float(x);
}
