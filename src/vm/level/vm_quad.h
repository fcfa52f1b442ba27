/* SPDX-License-Identifier: Apache-2.0
 * Four adjacent 32-bit elements per lane, in memory one after the other, in registers four rows: transposes
 * of 4 x 4 in as many lanes as a vector holds. Knows nothing of addresses; vm_access.c has checked them. */
#ifndef TIRC_VM_QUAD_H
#define TIRC_VM_QUAD_H
#include "vm/level/vm_level.h"

typedef u32 quad __attribute__((vector_size(16), aligned(4), may_alias));
#if VM_LEVEL >= 3
/* 16 lanes that all read one place. */
VM_INLINE void spread_quad(u32 *const d[4], const uint8_t *host) {
    for (unsigned k = 0; k < 4; k++) {
        u32 value;
        memcpy(&value, host + 4 * k, 4);
        for (unsigned l = 0; l < 16; l++)
            d[k][l] = value;
    }
}
VM_INLINE bool same_16(const u32 *offset) {
#if VM_LEVEL == 4
    return _mm512_cmpneq_epu32_mask(_mm512_loadu_si512(offset), _mm512_set1_epi32((int)offset[0])) == 0;
#else
    const u32_chunk *at = (const u32_chunk *)offset;
    return VM_MASK_32(((at[0] ^ offset[0]) | (at[1] ^ offset[0])) != 0) == 0;
#endif
}
#endif
#if VM_LEVEL == 4
/* Lanes k, k + 4, k + 8, k + 12, a quad each. */
VM_INLINE __m512i every_fourth(const uint8_t *host, const u32 *offset) {
#define QUAD(n) _mm_loadu_si128((const __m128i *)(const void *)(host + offset[n]))
    __m512i all = _mm512_castsi128_si512(QUAD(0));
    all = _mm512_mask_broadcast_i32x4(all, 0x00f0, QUAD(4));
    all = _mm512_mask_broadcast_i32x4(all, 0x0f00, QUAD(8));
    return _mm512_mask_broadcast_i32x4(all, 0xf000, QUAD(12));
}
static void gather_quad(u32 *d0, u32 *d1, u32 *d2, u32 *d3, const uint8_t *host, const u32 *offset) {
    for (unsigned l = 0; l < VM_LANES; l += 16) {
        if (same_16(offset + l)) {
            spread_quad((u32 *const[4]){d0 + l, d1 + l, d2 + l, d3 + l}, host + offset[l]);
            continue;
        }
        __m512i a = every_fourth(host, offset + l), b = every_fourth(host, offset + l + 1);
        __m512i c = every_fourth(host, offset + l + 2), e = every_fourth(host, offset + l + 3);
        __m512i ab = _mm512_unpacklo_epi32(a, b), ce = _mm512_unpacklo_epi32(c, e);
        __m512i ab2 = _mm512_unpackhi_epi32(a, b), ce2 = _mm512_unpackhi_epi32(c, e);
        _mm512_storeu_si512(d0 + l, _mm512_unpacklo_epi64(ab, ce));
        _mm512_storeu_si512(d1 + l, _mm512_unpackhi_epi64(ab, ce));
        _mm512_storeu_si512(d2 + l, _mm512_unpacklo_epi64(ab2, ce2));
        _mm512_storeu_si512(d3 + l, _mm512_unpackhi_epi64(ab2, ce2));
    }
}
#elif VM_LEVEL == 3
VM_INLINE __m256i every_fourth(const uint8_t *host, const u32 *offset) {
#define QUAD(n) _mm_loadu_si128((const __m128i *)(const void *)(host + offset[n]))
    return _mm256_inserti128_si256(_mm256_castsi128_si256(QUAD(0)), QUAD(4), 1);
}
static void gather_quad(u32 *d0, u32 *d1, u32 *d2, u32 *d3, const uint8_t *host, const u32 *offset) {
    for (unsigned l = 0; l < VM_LANES; l += 8) {
        if (l % 16 == 0 && same_16(offset + l)) {
            spread_quad((u32 *const[4]){d0 + l, d1 + l, d2 + l, d3 + l}, host + offset[l]);
            l += 8;
            continue;
        }
        __m256i a = every_fourth(host, offset + l), b = every_fourth(host, offset + l + 1);
        __m256i c = every_fourth(host, offset + l + 2), e = every_fourth(host, offset + l + 3);
        __m256i ab = _mm256_unpacklo_epi32(a, b), ce = _mm256_unpacklo_epi32(c, e);
        __m256i ab2 = _mm256_unpackhi_epi32(a, b), ce2 = _mm256_unpackhi_epi32(c, e);
        _mm256_storeu_si256((void *)(d0 + l), _mm256_unpacklo_epi64(ab, ce));
        _mm256_storeu_si256((void *)(d1 + l), _mm256_unpackhi_epi64(ab, ce));
        _mm256_storeu_si256((void *)(d2 + l), _mm256_unpacklo_epi64(ab2, ce2));
        _mm256_storeu_si256((void *)(d3 + l), _mm256_unpackhi_epi64(ab2, ce2));
    }
}
#else
static void gather_quad(u32 *d0, u32 *d1, u32 *d2, u32 *d3, const uint8_t *host, const u32 *offset) {
    for (unsigned l = 0; l < VM_LANES; l += 4) {
        quad a = *(const quad *)(host + offset[l]), b = *(const quad *)(host + offset[l + 1]);
        quad c = *(const quad *)(host + offset[l + 2]), e = *(const quad *)(host + offset[l + 3]);
        quad ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), ce = __builtin_shufflevector(c, e, 0, 4, 1, 5);
        quad ab2 = __builtin_shufflevector(a, b, 2, 6, 3, 7), ce2 = __builtin_shufflevector(c, e, 2, 6, 3, 7);
        *(quad *)(d0 + l) = __builtin_shufflevector(ab, ce, 0, 1, 4, 5);
        *(quad *)(d1 + l) = __builtin_shufflevector(ab, ce, 2, 3, 6, 7);
        *(quad *)(d2 + l) = __builtin_shufflevector(ab2, ce2, 0, 1, 4, 5);
        *(quad *)(d3 + l) = __builtin_shufflevector(ab2, ce2, 2, 3, 6, 7);
    }
}
#endif
static void scatter_quad(const u32 *d0, const u32 *d1, const u32 *d2, const u32 *d3, uint8_t *host,
                         const u32 *offset) {
    for (unsigned l = 0; l < VM_LANES; l += 4) {
        quad a = *(const quad *)(d0 + l), b = *(const quad *)(d1 + l), c = *(const quad *)(d2 + l),
             e = *(const quad *)(d3 + l);
        quad ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), ce = __builtin_shufflevector(c, e, 0, 4, 1, 5);
        quad ab2 = __builtin_shufflevector(a, b, 2, 6, 3, 7), ce2 = __builtin_shufflevector(c, e, 2, 6, 3, 7);
        *(quad *)(host + offset[l]) = __builtin_shufflevector(ab, ce, 0, 1, 4, 5);
        *(quad *)(host + offset[l + 1]) = __builtin_shufflevector(ab, ce, 2, 3, 6, 7);
        *(quad *)(host + offset[l + 2]) = __builtin_shufflevector(ab2, ce2, 0, 1, 4, 5);
        *(quad *)(host + offset[l + 3]) = __builtin_shufflevector(ab2, ce2, 2, 3, 6, 7);
    }
}
#endif
