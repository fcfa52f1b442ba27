/* SPDX-License-Identifier: Apache-2.0
 * Vectors of bytes and of words for the matrix unit: exponents are bytes. Instructions that compilers do not
 * find, by processor level. */
#ifndef TIRC_VM_TENSOR_BYTES_H
#define TIRC_VM_TENSOR_BYTES_H
#include "vm/level/vm_tensor_block.h"

typedef uint8_t u8;
typedef int8_t s8;
typedef s8 s8_chunk __attribute__((vector_size(VM_CHUNK), aligned(16), may_alias));
typedef u8 u8_chunk __attribute__((vector_size(VM_CHUNK), aligned(16), may_alias));
/* Bytes to words, and the greater of two words, where the compiler does not find the instruction. */
#if VM_LEVEL == 4
#define WIDEN(p)      ((u32_chunk)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)(p))))
#define GREATER(a, b) ((u32_chunk)_mm512_max_epu32((__m512i)(a), (__m512i)(b)))
#define LESSER(a, b)  ((u32_chunk)_mm512_min_epu32((__m512i)(a), (__m512i)(b)))
#elif VM_LEVEL == 3
#define WIDEN(p)      ((u32_chunk)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)(p))))
#define GREATER(a, b) ((u32_chunk)_mm256_max_epu32((__m256i)(a), (__m256i)(b)))
#define LESSER(a, b)  ((u32_chunk)_mm256_min_epu32((__m256i)(a), (__m256i)(b)))
#else
#define WIDEN(p)      ((u32_chunk){(p)[0], (p)[1], (p)[2], (p)[3]})
#define GREATER(a, b) (((a) & (u32_chunk)((a) > (b))) | ((b) & (u32_chunk)((a) <= (b))))
#define LESSER(a, b)  (((a) & (u32_chunk)((a) < (b))) | ((b) & (u32_chunk)((a) >= (b))))
#endif
/* Words below 256 of four vectors, in order, as bytes of one. */
#if VM_LEVEL == 4
VM_INLINE u8_chunk narrow(u32_chunk a, u32_chunk b, u32_chunk c, u32_chunk d) {
    __m512i low = _mm512_packs_epi32((__m512i)a, (__m512i)b),
            high = _mm512_packs_epi32((__m512i)c, (__m512i)d);
    const __m512i order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
    return (u8_chunk)_mm512_permutexvar_epi32(order, _mm512_packus_epi16(low, high));
}
#elif VM_LEVEL == 3
VM_INLINE u8_chunk narrow(u32_chunk a, u32_chunk b, u32_chunk c, u32_chunk d) {
    __m256i low = _mm256_packs_epi32((__m256i)a, (__m256i)b),
            high = _mm256_packs_epi32((__m256i)c, (__m256i)d);
    const __m256i order = _mm256_set_epi32(7, 3, 6, 2, 5, 1, 4, 0);
    return (u8_chunk)_mm256_permutevar8x32_epi32(_mm256_packus_epi16(low, high), order);
}
#elif VM_LEVEL == 1
VM_INLINE u8_chunk narrow(u32_chunk a, u32_chunk b, u32_chunk c, u32_chunk d) {
    __m128i low = _mm_packs_epi32((__m128i)a, (__m128i)b), high = _mm_packs_epi32((__m128i)c, (__m128i)d);
    return (u8_chunk)_mm_packus_epi16(low, high);
}
#else
VM_INLINE u8_chunk narrow(u32_chunk a, u32_chunk b, u32_chunk c, u32_chunk d) {
    u8_chunk bytes;
    for (unsigned i = 0; i < 4; i++) {
        bytes[i] = (u8)a[i];
        bytes[4 + i] = (u8)b[i];
        bytes[8 + i] = (u8)c[i];
        bytes[12 + i] = (u8)d[i];
    }
    return bytes;
}
#endif
#if VM_LEVEL == 4
#define GREATER_BYTES(a, b) ((u8_chunk)_mm512_max_epu8((__m512i)(a), (__m512i)(b)))
#define LESSER_BYTES(a, b)  ((u8_chunk)_mm512_min_epu8((__m512i)(a), (__m512i)(b)))
#elif VM_LEVEL == 3
#define GREATER_BYTES(a, b) ((u8_chunk)_mm256_max_epu8((__m256i)(a), (__m256i)(b)))
#define LESSER_BYTES(a, b)  ((u8_chunk)_mm256_min_epu8((__m256i)(a), (__m256i)(b)))
#elif VM_LEVEL == 1
#define GREATER_BYTES(a, b) ((u8_chunk)_mm_max_epu8((__m128i)(a), (__m128i)(b)))
#define LESSER_BYTES(a, b)  ((u8_chunk)_mm_min_epu8((__m128i)(a), (__m128i)(b)))
#else
#define GREATER_BYTES(a, b) (((a) & (u8_chunk)((a) > (b))) | ((b) & (u8_chunk)((a) <= (b))))
#define LESSER_BYTES(a, b)  (((a) & (u8_chunk)((a) < (b))) | ((b) & (u8_chunk)((a) >= (b))))
#endif
/* Whether some bit is set. */
#if VM_LEVEL == 4
#define ANY(x) (_mm512_test_epi32_mask((__m512i)(x), (__m512i)(x)) != 0)
#elif VM_LEVEL == 3
#define ANY(x) (!_mm256_testz_si256((__m256i)(x), (__m256i)(x)))
#else
#define ANY(x) any_bit((u32_chunk)(x))
VM_INLINE bool any_bit(u32_chunk x) {
    return (x[0] | x[1] | x[2] | x[3]) != 0;
}
#endif
/* n + 1 where signed bytes of a are below those of b; whether some are. */
#if VM_LEVEL == 4
#define COUNT_LESS(n, a, b)                                                                                  \
    ((u8_chunk)_mm512_mask_add_epi8((__m512i)(n), _mm512_cmplt_epi8_mask((__m512i)(a), (__m512i)(b)),        \
                                    (__m512i)(n), _mm512_set1_epi8(1)))
#define SOME_LESS(a, b) (_mm512_cmplt_epi8_mask((__m512i)(a), (__m512i)(b)) != 0)
#else
#define COUNT_LESS(n, a, b) ((n) - (u8_chunk)((s8_chunk)(a) < (s8_chunk)(b)))
#define SOME_LESS(a, b)     ANY((s8_chunk)(a) < (s8_chunk)(b))
#endif
#endif
