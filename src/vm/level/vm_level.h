/* SPDX-License-Identifier: Apache-2.0
 * What the files of src/vm/level share: names per processor level, the shape of lane loops, comparisons to
 * masks, and the hot lane operations as inline functions (whole warp, and under a mask). VM_LEVEL: 0 generic,
 * 1 x86-64, 3 x86-64-v3, 4 x86-64-v4. Plain C; the few intrinsics only turn a vector comparison into a mask.
 */
#ifndef TIRC_VM_LEVEL_H
#define TIRC_VM_LEVEL_H
#include <math.h>
#include "vm/vm_internal.h"
#if VM_LEVEL >= 1
#include <immintrin.h>
#endif

#define VM_JOIN2(a, b) a##b
#define VM_JOIN(a, b)  VM_JOIN2(a, b)
#if VM_LEVEL == 4
#define VM_NAME(name)   VM_JOIN(name, _v4)
#define VM_LEVEL_STRING "x86-64-v4"
#elif VM_LEVEL == 3
#define VM_NAME(name)   VM_JOIN(name, _v3)
#define VM_LEVEL_STRING "x86-64-v3"
#elif VM_LEVEL == 1
#define VM_NAME(name)   VM_JOIN(name, _v1)
#define VM_LEVEL_STRING "x86-64"
#else
#define VM_NAME(name)   VM_JOIN(name, _generic)
#define VM_LEVEL_STRING "generic"
#endif

#define VM_LANE_ARGUMENTS            void *dp, const void *ap, const void *bp, const void *cp, uint64_t imm
#define VM_LANE(name, rows, sources) void VM_NAME(vm_lane_##name)(VM_LANE_ARGUMENTS);
#include "vm/vm_lanes.def"
#undef VM_LANE

/* vm_access.c: whole-warp loads and stores; m: row of lane masks, NULL when all 32 lanes are active. False:
 * not this way, nothing was changed. */
bool VM_NAME(vm_load)(vm_warp *w, const vm_op *op, uint32_t mask, const uint32_t *m);
bool VM_NAME(vm_store)(vm_warp *w, const vm_op *op, uint32_t mask, const uint32_t *m);
bool VM_NAME(vm_load_group)(vm_warp *w, const vm_op *op, unsigned count); /* all 32 lanes active */
/* vm_check.c: what vm_race_access does, where it is plain that the warp may access what it accesses. False:
 * it is not, and nothing was noted. */
bool VM_NAME(vm_check)(vm_warp *w, const vm_op *op, uint32_t mask, bool store);
/* One value through a .f32 lane function (ex2, tanh), for the 16-bit forms. */
void VM_NAME(vm_lane_one)(vm_lane lane, float x, uint32_t *result);

#if defined(__clang__)
#define VM_LOOP _Pragma("clang loop vectorize(assume_safety)") for (unsigned l = 0; l < VM_LANES; l++)
#else
#define VM_LOOP _Pragma("GCC ivdep") for (unsigned l = 0; l < VM_LANES; l++)
#endif

/* VM_DEFINE1..3 define a lane function: expression over x, y, z and imm. */
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;
typedef float f32;
typedef double f64;
#define VM_DEFINE1(name, TD, TA, expression)                                                                 \
    void VM_NAME(vm_lane_##name)(VM_LANE_ARGUMENTS) {                                                        \
        TD *d = dp;                                                                                          \
        const TA *ax = ap;                                                                                   \
        (void)imm, (void)bp, (void)cp;                                                                       \
        VM_LOOP {                                                                                            \
            const TA x = ax[l];                                                                              \
            d[l] = (TD)(expression);                                                                         \
        }                                                                                                    \
    }
#define VM_DEFINE2(name, TD, TA, TB, expression)                                                             \
    void VM_NAME(vm_lane_##name)(VM_LANE_ARGUMENTS) {                                                        \
        TD *d = dp;                                                                                          \
        const TA *ax = ap;                                                                                   \
        const TB *bx = bp;                                                                                   \
        (void)imm, (void)cp;                                                                                 \
        VM_LOOP {                                                                                            \
            const TA x = ax[l];                                                                              \
            const TB y = bx[l];                                                                              \
            d[l] = (TD)(expression);                                                                         \
        }                                                                                                    \
    }
#define VM_DEFINE3(name, TD, TA, TB, TC, expression)                                                         \
    void VM_NAME(vm_lane_##name)(VM_LANE_ARGUMENTS) {                                                        \
        TD *d = dp;                                                                                          \
        const TA *ax = ap;                                                                                   \
        const TB *bx = bp;                                                                                   \
        const TC *cx = cp;                                                                                   \
        (void)imm;                                                                                           \
        VM_LOOP {                                                                                            \
            const TA x = ax[l];                                                                              \
            const TB y = bx[l];                                                                              \
            const TC z = cx[l];                                                                              \
            d[l] = (TD)(expression);                                                                         \
        }                                                                                                    \
    }

/* ---- numbers ---- */
static inline u32 vm_bits32(f32 x) {
    u32 bits;
    memcpy(&bits, &x, 4);
    return bits;
}
static inline f32 vm_float32(u32 bits) {
    f32 x;
    memcpy(&x, &bits, 4);
    return x;
}
static inline u64 vm_bits64(f64 x) {
    u64 bits;
    memcpy(&bits, &x, 8);
    return bits;
}
static inline f64 vm_float64(u64 bits) {
    f64 x;
    memcpy(&x, &bits, 8);
    return x;
}
/* Every NaN that arithmetic of .f32 gives is 0x7fffffff (PTX ISA 9.7.3). */
static inline u32 vm_canon(f32 x) {
    return x != x ? 0x7fffffffu : vm_bits32(x);
}
/* NaN results of .f64. PTX leaves their bits open (9.7.3); these are an H200's (driver 580.159.04,
 * 2026-11-30, all pairs and triples of NaN, infinities and numbers): the NaN source that counts first, made
 * quiet, sign kept, and 0xfff8000000000000 where no source is one. Sources count as b, c, a in add, sub, mul
 * and fma, as a, b in div. */
static inline f64 vm_quiet64(f64 x) {
    return vm_float64(vm_bits64(x) | (u64)1 << 51);
}
static inline f64 vm_nan64(f64 result, f64 first, f64 second, f64 third) {
    f64 nan = third != third ? vm_quiet64(third) : vm_float64((u64)0xfff8 << 48);
    nan = second != second ? vm_quiet64(second) : nan;
    nan = first != first ? vm_quiet64(first) : nan;
    return result == result ? result : nan;
}
/* Fused multiply-add of .f32. Without the instruction: the product is exact in double; the sum is rounded to
 * odd, so that the second rounding is right. */
static inline f32 vm_fma32(f32 a, f32 b, f32 c) {
#if defined(__FMA__) || defined(__aarch64__)
    return __builtin_fmaf(a, b, c);
#else
    f64 p = (f64)a * b, s = p + c;
    f64 t = s - p, error = (p - (s - t)) + ((f64)c - t);
    u64 bits = vm_bits64(s);
    u64 odd = bits & 1;
    /* toward the error: one down in magnitude when the error points to zero */
    u64 away = (vm_bits64(error) ^ bits) >> 63;
    bits = error != 0 && !odd && s - s == 0 ? bits - away + (away ? 0 : 1) : bits;
    return (f32)vm_float64(bits);
#endif
}
static inline u32 vm_shl(u32 x, u32 n) {
    return n > 31 ? 0 : x << (n & 31);
}
static inline u32 vm_shr(u32 x, u32 n) {
    return n > 31 ? 0 : x >> (n & 31);
}
static inline u32 vm_sar(s32 x, u32 n) {
    return (u32)(x >> (n > 31 ? 31 : n));
}
static inline u64 vm_shl64(u64 x, u32 n) {
    return n > 63 ? 0 : x << (n & 63);
}
static inline u64 vm_shr64(u64 x, u32 n) {
    return n > 63 ? 0 : x >> (n & 63);
}
static inline u64 vm_sar64(s64 x, u32 n) {
    return (u64)(x >> (n > 63 ? 63 : n));
}

/* ---- hot lane operations: expression over x, y, z ---- */
/* clang-format off */
#define VM_HOT1(X) \
    X(MOV32, u32, u32, x) X(MOV64, u64, u64, x) X(SEXT32, s64, s32, x) X(ZEXT32, u64, u32, x) X(TRUNC64, u32, u64, x)
#define VM_HOT2(X) \
    X(ADD32, u32, u32, u32, x + y) X(SUB32, u32, u32, u32, x - y) X(MUL32, u32, u32, u32, x * y) \
    X(AND32, u32, u32, u32, x & y) X(OR32, u32, u32, u32, x | y) X(XOR32, u32, u32, u32, x ^ y) \
    X(SHL32, u32, u32, u32, vm_shl(x, y)) X(SHRU32, u32, u32, u32, vm_shr(x, y)) X(SHRS32, u32, s32, u32, vm_sar(x, y)) \
    X(ADD64, u64, u64, u64, x + y) X(SUB64, u64, u64, u64, x - y) X(MUL64, u64, u64, u64, x * y) \
    X(AND64, u64, u64, u64, x & y) X(SHL64, u64, u64, u32, vm_shl64(x, y)) X(SHRU64, u64, u64, u32, vm_shr64(x, y)) \
    X(SHRS64, u64, s64, u32, vm_sar64(x, y)) X(MULWS32, s64, s32, s32, (s64)x * y) X(MULWU32, u64, u32, u32, (u64)x * y) \
    X(ADDF32, u32, f32, f32, vm_canon(x + y)) X(SUBF32, u32, f32, f32, vm_canon(x - y)) \
    X(MULF32, u32, f32, f32, vm_canon(x * y))
#define VM_HOT3(X) \
    X(MAD32, u32, u32, u32, u32, x * y + z) X(FMAF32, u32, f32, f32, f32, vm_canon(vm_fma32(x, y, z)))
#define VM_HOT_COMPARE(X) \
    X(EQ32, s32, ==) X(NE32, s32, !=) X(LTS32, s32, <) X(LES32, s32, <=) X(LTU32, u32, <) X(LEU32, u32, <=) \
    X(EQ64, s64, ==) X(NE64, s64, !=) X(LTS64, s64, <) X(LES64, s64, <=) X(LTU64, u64, <) X(LEU64, u64, <=) \
    X(LTF32, f32, <) X(LEF32, f32, <=)
/* clang-format on */

#define VM_INLINE static inline __attribute__((always_inline, unused))
#define X(name, TD, TA, expression)                                                                          \
    VM_INLINE void hot_##name(TD *d, const TA *ax) {                                                         \
        VM_LOOP {                                                                                            \
            const TA x = ax[l];                                                                              \
            d[l] = (TD)(expression);                                                                         \
        }                                                                                                    \
    }                                                                                                        \
    VM_INLINE void masked_##name(const u32 *m, TD *d, const TA *ax) {                                        \
        VM_LOOP {                                                                                            \
            const TA x = ax[l];                                                                              \
            TD value = (TD)(expression), old = d[l];                                                         \
            d[l] = m[l] ? value : old;                                                                       \
        }                                                                                                    \
    }
VM_HOT1(X)
#undef X
#define X(name, TD, TA, TB, expression)                                                                      \
    VM_INLINE void hot_##name(TD *d, const TA *ax, const TB *bx) {                                           \
        VM_LOOP {                                                                                            \
            const TA x = ax[l];                                                                              \
            const TB y = bx[l];                                                                              \
            d[l] = (TD)(expression);                                                                         \
        }                                                                                                    \
    }                                                                                                        \
    VM_INLINE void masked_##name(const u32 *m, TD *d, const TA *ax, const TB *bx) {                          \
        VM_LOOP {                                                                                            \
            const TA x = ax[l];                                                                              \
            const TB y = bx[l];                                                                              \
            TD value = (TD)(expression), old = d[l];                                                         \
            d[l] = m[l] ? value : old;                                                                       \
        }                                                                                                    \
    }
VM_HOT2(X)
#undef X
#define X(name, TD, TA, TB, TC, expression)                                                                  \
    VM_INLINE void hot_##name(TD *d, const TA *ax, const TB *bx, const TC *cx) {                             \
        VM_LOOP {                                                                                            \
            const TA x = ax[l];                                                                              \
            const TB y = bx[l];                                                                              \
            const TC z = cx[l];                                                                              \
            d[l] = (TD)(expression);                                                                         \
        }                                                                                                    \
    }                                                                                                        \
    VM_INLINE void masked_##name(const u32 *m, TD *d, const TA *ax, const TB *bx, const TC *cx) {            \
        VM_LOOP {                                                                                            \
            const TA x = ax[l];                                                                              \
            const TB y = bx[l];                                                                              \
            const TC z = cx[l];                                                                              \
            TD value = (TD)(expression), old = d[l];                                                         \
            d[l] = m[l] ? value : old;                                                                       \
        }                                                                                                    \
    }
VM_HOT3(X)
#undef X

/* Row of lane masks (-1 or 0) from a mask. */
VM_INLINE void vm_expand(u32 *m, u32 mask) {
    VM_LOOP {
        m[l] = 0u - (mask >> l & 1);
    }
}
VM_INLINE void hot_SELP32(u32 *d, const u32 *ax, const u32 *bx, u32 p) {
    VM_LOOP {
        u32 x = ax[l], y = bx[l];
        d[l] = p >> l & 1 ? x : y;
    }
}
VM_INLINE void masked_SELP32(const u32 *m, u32 *d, const u32 *ax, const u32 *bx, u32 p) {
    VM_LOOP {
        u32 x = ax[l], y = bx[l], old = d[l];
        u32 value = p >> l & 1 ? x : y;
        d[l] = m[l] ? value : old;
    }
}

/* Comparisons: 32 lanes to a mask, in chunks of the widest vector. */
#if VM_LEVEL == 4
#define VM_CHUNK            64
#define VM_MASK_32(v)       ((u32)_mm512_movepi32_mask((__m512i)(v)))
#define VM_MASK_64(v)       ((u32)_mm512_movepi64_mask((__m512i)(v)))
#define VM_STREAM(to, from) _mm512_stream_si512((void *)(to), _mm512_loadu_si512(from))
#elif VM_LEVEL == 3
#define VM_CHUNK            32
#define VM_MASK_32(v)       ((u32)_mm256_movemask_ps((__m256)(v)))
#define VM_MASK_64(v)       ((u32)_mm256_movemask_pd((__m256d)(v)))
#define VM_STREAM(to, from) _mm256_stream_si256((void *)(to), _mm256_loadu_si256((const void *)(from)))
#elif VM_LEVEL == 1
#define VM_CHUNK            16
#define VM_MASK_32(v)       ((u32)_mm_movemask_ps((__m128)(v)))
#define VM_MASK_64(v)       ((u32)_mm_movemask_pd((__m128d)(v)))
#define VM_STREAM(to, from) _mm_stream_si128((void *)(to), _mm_loadu_si128((const void *)(from)))
#endif
#ifdef VM_CHUNK
#define VM_VECTOR(T) typedef T T##_chunk __attribute__((vector_size(VM_CHUNK), aligned(16), may_alias));
/* clang-format off */
VM_VECTOR(u32) VM_VECTOR(s32) VM_VECTOR(u64) VM_VECTOR(s64) VM_VECTOR(f32) VM_VECTOR(f64)
/* clang-format on */
#define VM_COMPARE_LOOP(T, op)                                                                               \
    u32 mask = 0;                                                                                            \
    for (unsigned i = 0; i < sizeof(T) * VM_LANES / VM_CHUNK; i++) {                                         \
        T##_chunk va = ((const T##_chunk *)ap)[i], vb = ((const T##_chunk *)bp)[i];                          \
        u32 part = sizeof(T) == 4 ? VM_MASK_32(va op vb) : VM_MASK_64(va op vb);                             \
        mask |= part << i * (VM_CHUNK / sizeof(T));                                                          \
    }                                                                                                        \
    return mask;
#else
#define VM_COMPARE_LOOP(T, op)                                                                               \
    const T *ax = ap, *bx = bp;                                                                              \
    u32 mask = 0;                                                                                            \
    for (unsigned l = 0; l < VM_LANES; l++)                                                                  \
        mask |= (u32)(ax[l] op bx[l]) << l;                                                                  \
    return mask;
#endif
#define X(name, T, op)                                                                                       \
    VM_INLINE u32 compare_##name(const void *ap, const void *bp) {                                           \
        VM_COMPARE_LOOP(T, op)                                                                               \
    }
    VM_HOT_COMPARE(X) X(EQF32, f32, ==) X(EQF64, f64, ==) X(NEF32, f32, !=) X(NEF64, f64, !=) X(LTF64, f64, <)
        X(LEF64, f64, <=)
#undef X
#endif
