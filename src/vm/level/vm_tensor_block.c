/* SPDX-License-Identifier: Apache-2.0
 * See vm_tensor_block.h. Vectors run over rows; a number of B is broadcast to all of them. A block has enough
 * sums to hide the time that one multiply-add takes, and loads less than it computes. */
#include "vm/level/vm_tensor_block.h"
#include "vm/level/vm_half.h"
#include "vm/level/vm_tensor_bytes.h"

enum {
    R = VM_TENSOR_ROWS,
    N = VM_TENSOR_BLOCK,
    LANES = VM_CHUNK / 4,
    STEPS = 8
}; /* depth is a multiple of STEPS */
/* How many vectors of rows a block has: what the registers hold. */
#if VM_LEVEL == 4
enum { HEIGHT = 4 };
#else
enum { HEIGHT = 2 };
#endif
_Static_assert(R % (HEIGHT * LANES) == 0, "whole blocks");

#if VM_LEVEL == 4
#define FUSED(x, y, z) ((f32_chunk)_mm512_fmadd_ps((__m512)(x), (__m512)(y), (__m512)(z)))
#elif VM_LEVEL == 3
#define FUSED(x, y, z) ((f32_chunk)_mm256_fmadd_ps((__m256)(x), (__m256)(y), (__m256)(z)))
#else
#define FUSED(x, y, z) fused(x, y, z)
#if defined(__aarch64__)
VM_INLINE f32_chunk fused(f32_chunk x, f32_chunk y, f32_chunk z) {
    for (unsigned i = 0; i < LANES; i++)
        z[i] = __builtin_fmaf(x[i], y[i], z[i]);
    return z;
}
#else
/* A double holds the product, of 22 bits at most, and more than twice the bits of f32: rounding the sum twice
 * is rounding it once. */
typedef f64 f64_wide __attribute__((vector_size(2 * VM_CHUNK)));
VM_INLINE f32_chunk fused(f32_chunk x, f32_chunk y, f32_chunk z) {
    f64_wide sum = __builtin_convertvector(x, f64_wide) * __builtin_convertvector(y, f64_wide) +
                   __builtin_convertvector(z, f64_wide);
    return __builtin_convertvector(sum, f32_chunk);
}
#endif
#endif

#define AT(T, p)  (*(const T##_chunk *)(const void *)(p))
#define SET(T, p) (*(T##_chunk *)(void *)(p))

/* ---- fp32 ---- */
VM_INLINE void chain(const f32 *a, const f32 *b, size_t depth, const f32 *const start[N], f32 *const to[N],
                     size_t l, s32_chunk *numbers) {
    f32_chunk sum[N][HEIGHT];
    UNROLL for (unsigned j = 0; j < N; j++) {
        UNROLL for (unsigned i = 0; i < HEIGHT; i++) sum[j][i] = AT(f32, start[j] + l + i * LANES);
    }
    const f32 *column[N];
    UNROLL for (unsigned j = 0; j < N; j++) column[j] = b + j * depth;
    a += l;
    for (size_t first = 0; first < depth; first += STEPS, a += STEPS * R) {
        UNROLL for (size_t k = 0; k < STEPS; k++) {
            f32_chunk x[HEIGHT];
            UNROLL for (unsigned i = 0; i < HEIGHT; i++) x[i] = AT(f32, a + k * R + i * LANES);
            UNROLL for (unsigned j = 0; j < N; j++) {
                const f32_chunk y = column[j][first + k] - (f32_chunk){0};
                UNROLL for (unsigned i = 0; i < HEIGHT; i++) sum[j][i] = FUSED(x[i], y, sum[j][i]);
            }
        }
    }
    UNROLL for (unsigned j = 0; j < N; j++) {
        UNROLL for (unsigned i = 0; i < HEIGHT; i++) {
            *numbers &= (s32_chunk)(sum[j][i] == sum[j][i]);
            SET(f32, to[j] + l + i * LANES) = sum[j][i];
        }
    }
}

bool VM_NAME(vm_tensor_chain)(const f32 *a, const f32 *b, unsigned depth, const f32 *const start[N],
                              f32 *const to[N], size_t rows) {
    s32_chunk numbers = ~(s32_chunk){0};
    for (size_t l = 0; l < rows; l += HEIGHT * LANES)
        chain(a, b, depth, start, to, l, &numbers);
    s32 all = ~0;
    for (unsigned i = 0; i < LANES; i++)
        all &= numbers[i];
    return all == 0;
}

/* ---- hw ---- */
/* Two vectors of halves to two of doubles and back. Within 128 bits the first has rows 0 and 1, the second
 * rows 2 and 3. */
#if VM_LEVEL == 4
#define PACK_FIRST(low, high)  ((f64_chunk)_mm512_unpacklo_epi32((__m512i)(low), (__m512i)(high)))
#define PACK_SECOND(low, high) ((f64_chunk)_mm512_unpackhi_epi32((__m512i)(low), (__m512i)(high)))
#define LOWS(x, y)             ((u32_chunk)_mm512_shuffle_ps((__m512)(x), (__m512)(y), 0x88))
#define HIGHS(x, y)            ((u32_chunk)_mm512_shuffle_ps((__m512)(x), (__m512)(y), 0xdd))
#define ADD_PRODUCT(x, y, z)   ((f64_chunk)_mm512_fmadd_pd((__m512d)(x), (__m512d)(y), (__m512d)(z)))
#elif VM_LEVEL == 3
#define PACK_FIRST(low, high)  ((f64_chunk)_mm256_unpacklo_epi32((__m256i)(low), (__m256i)(high)))
#define PACK_SECOND(low, high) ((f64_chunk)_mm256_unpackhi_epi32((__m256i)(low), (__m256i)(high)))
#define LOWS(x, y)             ((u32_chunk)_mm256_shuffle_ps((__m256)(x), (__m256)(y), 0x88))
#define HIGHS(x, y)            ((u32_chunk)_mm256_shuffle_ps((__m256)(x), (__m256)(y), 0xdd))
#define ADD_PRODUCT(x, y, z)   ((f64_chunk)_mm256_fmadd_pd((__m256d)(x), (__m256d)(y), (__m256d)(z)))
#else
#define PACK_FIRST(low, high)                                                                                \
    ((f64_chunk)(u64_chunk){low[0] | (u64)high[0] << 32, low[1] | (u64)high[1] << 32})
#define PACK_SECOND(low, high)                                                                               \
    ((f64_chunk)(u64_chunk){low[2] | (u64)high[2] << 32, low[3] | (u64)high[3] << 32})
#define HALVES(x, y, by)                                                                                     \
    ((u32_chunk){(u32)(((u64_chunk)(x))[0] >> (by)), (u32)(((u64_chunk)(x))[1] >> (by)),                     \
                 (u32)(((u64_chunk)(y))[0] >> (by)), (u32)(((u64_chunk)(y))[1] >> (by))})
#define LOWS(x, y)           HALVES(x, y, 0)
#define HIGHS(x, y)          HALVES(x, y, 32)
#define ADD_PRODUCT(x, y, z) ((x) * (y) + (z)) /* a product is exact in f64 */
#endif

enum { WIDE_LANES = LANES / 2 };
/* Row that stands at place i of a vector of rows. */
VM_INLINE unsigned widened_row(unsigned i) {
    unsigned second = i >= WIDE_LANES, at = i % WIDE_LANES;
    return at / 2 * 4 + at % 2 + 2 * second;
}
void VM_NAME(vm_tensor_widen)(const f32 *from, f64 *to, size_t count) {
    for (; count >= LANES; count -= LANES, from += LANES, to += LANES)
        UNROLL for (unsigned i = 0; i < LANES; i++) to[i] = (f64)from[widened_row(i)];
}

/* Halves of the doubles that cells begin with. Whole quanta of an accumulator are below 2^26. */
VM_INLINE void begin(const f32 *from, const u8 *emax, const u8 *more, bool is_long, u32_chunk *low,
                     u32_chunk *high) {
    const u32_chunk e = WIDEN(emax);
    const f32_chunk scale = (f32_chunk)((279 - e) << 23);
    *low = (u32_chunk) __builtin_convertvector(AT(f32, from) * scale, s32_chunk);
    if (more)
        *low += WIDEN(more);
    *high = (e << 20) + (((u32)VM_TENSOR_DOUBLE_EXPONENT << 20) + VM_TENSOR_DOUBLE_HALF);
    if (is_long)
        *high += (u32_chunk)((s32_chunk)*low >> 31);
}

VM_INLINE void cut(const f64 *a, const f64 *b, size_t depth, const vm_tensor_origin *start,
                   vm_tensor_cells *cells, f32 *const to[N], size_t l, bool is_long, bool counted) {
    f64_chunk sum[N][HEIGHT];
    UNROLL for (unsigned j = 0; j < N; j++) {
        UNROLL for (unsigned i = 0; i < HEIGHT; i += 2) {
            const size_t at = l + i * WIDE_LANES;
            u32_chunk low, high;
            begin(start->from[j] + at, start->emax[j] + at, counted ? start->more[j] + at : NULL, is_long,
                  &low, &high);
            sum[j][i] = PACK_FIRST(low, high);
            sum[j][i + 1] = PACK_SECOND(low, high);
        }
    }
    const f64 *column[N];
    UNROLL for (unsigned j = 0; j < N; j++) column[j] = b + j * depth;
    a += l;
    for (size_t first = 0; first < depth; first += STEPS, a += STEPS * R) {
        UNROLL for (size_t k = 0; k < STEPS; k++) {
            f64_chunk x[HEIGHT];
            UNROLL for (unsigned i = 0; i < HEIGHT; i++) x[i] = AT(f64, a + k * R + i * WIDE_LANES);
            UNROLL for (unsigned j = 0; j < N; j++) {
                const f64_chunk y = column[j][first + k] - (f64_chunk){0};
                UNROLL for (unsigned i = 0; i < HEIGHT; i++) sum[j][i] = ADD_PRODUCT(x[i], y, sum[j][i]);
            }
        }
    }
    UNROLL for (unsigned j = 0; j < N; j++) {
        UNROLL for (unsigned i = 0; i < HEIGHT; i += 2) {
            const size_t at = l + i * WIDE_LANES;
            const u32_chunk low = LOWS(sum[j][i], sum[j][i + 1]);
            if (is_long) {
                SET(u32, cells->low[j] + at) = low;
                SET(u32, cells->high[j] + at) = HIGHS(sum[j][i], sum[j][i + 1]);
            } else {
                const f32_chunk quantum = (f32_chunk)((WIDEN(start->emax[j] + at) - 25) << 23);
                SET(f32, to[j] + at) = __builtin_convertvector((s32_chunk)low, f32_chunk) * quantum;
            }
        }
    }
}
void VM_NAME(vm_tensor_cut)(const f64 *a, const f64 *b, unsigned depth, const vm_tensor_origin *start,
                            f32 *const to[N], size_t rows) {
    const bool counted = start->more[0] != NULL;
    for (size_t l = 0; l < rows; l += HEIGHT * WIDE_LANES)
        if (counted)
            cut(a, b, depth, start, NULL, to, l, false, true);
        else
            cut(a, b, depth, start, NULL, to, l, false, false);
}
void VM_NAME(vm_tensor_cut_long)(const f64 *a, const f64 *b, unsigned depth, const vm_tensor_origin *start,
                                 vm_tensor_cells *cells, size_t rows) {
    f32 *const none[N] = {NULL};
    const bool counted = start->more[0] != NULL;
    for (size_t l = 0; l < rows; l += HEIGHT * WIDE_LANES)
        if (counted)
            cut(a, b, depth, start, cells, none, l, true, true);
        else
            cut(a, b, depth, start, cells, none, l, true, false);
}

/* ---- operands ---- */
void VM_NAME(vm_tensor_decode_f16)(const uint16_t *codes, f32 *to, size_t count, u32 flip) {
    size_t i = 0;
#if VM_LEVEL == 4
    for (; i + 16 <= count; i += 16) {
        __m512i bits = _mm512_castps_si512(_mm512_cvtph_ps(_mm256_loadu_si256((const void *)(codes + i))));
        _mm512_storeu_si512(to + i, _mm512_xor_si512(bits, _mm512_set1_epi32((s32)flip)));
    }
#elif VM_LEVEL == 3
    for (; i + 8 <= count; i += 8) {
        __m256i bits = _mm256_castps_si256(_mm256_cvtph_ps(_mm_loadu_si128((const void *)(codes + i))));
        _mm256_storeu_si256((void *)(to + i), _mm256_xor_si256(bits, _mm256_set1_epi32((s32)flip)));
    }
#endif
    for (; i < count; i++)
        to[i] = vm_float32(vm_bits32(half_f16_decode(codes[i])) ^ flip);
}

#if VM_LEVEL >= 3
/* Rows and columns of a square of vectors change places: pairs, fours, then whole lanes of 128 bits.
 */
VM_INLINE void transpose_square(const f32 *from, size_t stride, f32 *to) {
    f32_chunk v[LANES], w[LANES];
    UNROLL for (unsigned i = 0; i < LANES; i++) v[i] = AT(f32, from + i * stride);
#if VM_LEVEL == 4
    UNROLL for (unsigned i = 0; i < LANES; i += 2) {
        w[i] = (f32_chunk)_mm512_unpacklo_ps((__m512)v[i], (__m512)v[i + 1]);
        w[i + 1] = (f32_chunk)_mm512_unpackhi_ps((__m512)v[i], (__m512)v[i + 1]);
    }
    UNROLL for (unsigned i = 0; i < LANES; i += 4) {
        UNROLL for (unsigned j = 0; j < 2; j++) {
            __m512d x = (__m512d)w[i + j], y = (__m512d)w[i + 2 + j];
            v[i + 2 * j] = (f32_chunk)_mm512_unpacklo_pd(x, y);
            v[i + 2 * j + 1] = (f32_chunk)_mm512_unpackhi_pd(x, y);
        }
    }
    /* v[4 * i + j] holds, in lane m, columns 4 * m + j of rows 4 * i and on */
    UNROLL for (unsigned j = 0; j < 4; j++) {
        __m512 even01 = _mm512_shuffle_f32x4((__m512)v[j], (__m512)v[4 + j], 0x88);
        __m512 odd01 = _mm512_shuffle_f32x4((__m512)v[j], (__m512)v[4 + j], 0xdd);
        __m512 even23 = _mm512_shuffle_f32x4((__m512)v[8 + j], (__m512)v[12 + j], 0x88);
        __m512 odd23 = _mm512_shuffle_f32x4((__m512)v[8 + j], (__m512)v[12 + j], 0xdd);
        w[j] = (f32_chunk)_mm512_shuffle_f32x4(even01, even23, 0x88);
        w[8 + j] = (f32_chunk)_mm512_shuffle_f32x4(even01, even23, 0xdd);
        w[4 + j] = (f32_chunk)_mm512_shuffle_f32x4(odd01, odd23, 0x88);
        w[12 + j] = (f32_chunk)_mm512_shuffle_f32x4(odd01, odd23, 0xdd);
    }
#else
    UNROLL for (unsigned i = 0; i < LANES; i += 2) {
        w[i] = (f32_chunk)_mm256_unpacklo_ps((__m256)v[i], (__m256)v[i + 1]);
        w[i + 1] = (f32_chunk)_mm256_unpackhi_ps((__m256)v[i], (__m256)v[i + 1]);
    }
    UNROLL for (unsigned i = 0; i < LANES; i += 4) {
        UNROLL for (unsigned j = 0; j < 2; j++) {
            __m256d x = (__m256d)w[i + j], y = (__m256d)w[i + 2 + j];
            v[i + 2 * j] = (f32_chunk)_mm256_unpacklo_pd(x, y);
            v[i + 2 * j + 1] = (f32_chunk)_mm256_unpackhi_pd(x, y);
        }
    }
    UNROLL for (unsigned j = 0; j < 4; j++) {
        w[j] = (f32_chunk)_mm256_permute2f128_ps((__m256)v[j], (__m256)v[4 + j], 0x20);
        w[4 + j] = (f32_chunk)_mm256_permute2f128_ps((__m256)v[j], (__m256)v[4 + j], 0x31);
    }
#endif
    UNROLL for (unsigned i = 0; i < LANES; i++) SET(f32, to + i * R) = w[i];
}
#endif

void VM_NAME(vm_tensor_transpose)(const f32 *from, f32 *to, size_t rows, size_t depth) {
    size_t k = 0;
#if VM_LEVEL >= 3
    for (; k + LANES <= depth; k += LANES)
        for (size_t l = 0; l < rows; l += LANES)
            transpose_square(from + l * depth + k, depth, to + k * R + l);
#endif
    for (; k < depth; k++)
        for (size_t l = 0; l < rows; l++)
            to[k * R + l] = from[l * depth + k];
}
