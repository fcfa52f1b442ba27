/* SPDX-License-Identifier: Apache-2.0
 * The product of one tcgen05.mma. A stands as [k][row], so that every loop runs over the rows of one column
 * of D, which are adjacent in tensor memory.
 *
 * hw without slow cases: let emax be the greatest exponent of a cell's terms. Exponents are bytes, so finding
 * emax costs little. A quantum is 2^(emax - 25); products are below 2^27 quanta. Two ways to cut and to add:
 * As doubles (vm_tensor_cut) whose last bit is a quantum, with rounding toward zero: one multiply-add cuts
 * and adds, but it cuts down, and negative products are to be cut up. So as many quanta are added as there
 * are negative products that lose bits: those whose lowest bit, the sum of the lowest bits of the factors, is
 * below the quantum. As floats, for types with wide exponents and scaled ones: a product times 2^(25 - emax)
 * converted to an integer. Cells for which a step would not be exact (infinities and NaN, sums near the ends
 * of f32) are computed by vm_fused_sum, and so is everything in `exact`. */
#include <fenv.h>
#include "vm/level/vm_half.h"
#include "vm/level/vm_tensor_block.h"
#include "vm/level/vm_tensor_bytes.h"

void VM_NAME(vm_tensor_multiply)(const vm_tensor_job *job, void *scratch);

/* Exponents are biased so that those of A and B add up to the product's exponent + 127. Narrow formats reach
 * from -14 to 15; a product with a zero stays below ZERO_BELOW, any other is LEAST_PRODUCT or more. Cells
 * with emax at LOW or below, or at HIGH or above, are slow: a sum below 2^33 quanta stays in f32 under HIGH.
 */
enum { R = VM_TENSOR_ROWS, N = VM_TENSOR_BLOCK, LOW = 26, ZERO_BELOW = 90, LEAST_PRODUCT = 99, HIGH = 247 };
/* The lowest bit of a number that is not zero, of a narrow format: LOW_BIAS more than its exponent, 0 to 40,
 * and the sign in bit 7. The sum of two such bytes has the sign of the product there, and below it the
 * product's lowest bit. A zero has a byte whose sum with any other, and with the other side's zero, does not
 * look like a negative product below a quantum, which are QUANTUM_MOST at most. */
enum { LOW_BIAS = 24, ZERO_A = 208, ZERO_B = 80, QUANTUM_MOST = 79 };

/* Every array starts a cache line. */
#define LINE _Alignas(64)
typedef struct workspace {
    LINE f32 a[VM_TENSOR_DEPTH * R];
    LINE f32 b[VM_TENSOR_COLUMNS * VM_TENSOR_DEPTH];
    LINE f32 a_rows[R * VM_TENSOR_DEPTH];
    LINE u8 ea[32 * R];
    LINE u32 eb[VM_TENSOR_COLUMNS * 32]; /* four times the byte */
    LINE int16_t wide_ea[16 * R];
    LINE int16_t wide_eb[VM_TENSOR_COLUMNS * 16];
    LINE u32 special_row[R]; /* an infinity or NaN in it */
    LINE u32 special_column[VM_TENSOR_COLUMNS];
    LINE s32 factor_row[R]; /* exponent of A's factor, ue8m0 */
    u32 any_special_row;
    bool tall; /* sums of 16 products and the accumulator may leave 32 bits */
    /* one column of D */
    LINE u32 c[R];
    LINE u32 out[R];
    LINE u32 slow[R];
    LINE u32 greatest[R];
    LINE f32 start[R];
    LINE f32 scale[R];
    LINE f32 product_scale[R];
    LINE s32 sum[2][R];
    LINE u8 best[R];
    LINE int16_t wide_best[R];
    LINE f32 group[4][R];
    /* cells as doubles */
    LINE f64 wide_a[32 * R];
    LINE f64 wide_b[VM_TENSOR_COLUMNS * 32];
    LINE u8 la[32 * R];                  /* lowest bits */
    LINE u32 lb[VM_TENSOR_COLUMNS * 32]; /* four times the byte */
    u8 least;                            /* no product has a lower bit */
    LINE u8 emax[N][R];
    LINE u8 count[N][R]; /* negative products that lose bits */
    LINE vm_tensor_cells cells;
    LINE f32 block[N][R];
} workspace;
_Static_assert(sizeof(workspace) <= VM_TENSOR_SCRATCH, "scratch");

#if defined(__clang__)
#define ROWS_LOOP _Pragma("clang loop vectorize(assume_safety)") for (size_t l = 0; l < rows; l++)
#else
#define ROWS_LOOP _Pragma("GCC ivdep") for (size_t l = 0; l < rows; l++)
#endif

/* ---- elements ---- */
/* Formats below 16 bits: sign, exponent, mantissa. special: 1 IEEE (e5m2), 2 all ones is NaN (e4m3). Integer
 * arithmetic throughout: subnormal floats as operands are slow on many processors. */
VM_INLINE f32 decode_narrow(u32 code, u32 exponent_bits, u32 mantissa_bits, u32 bias, u32 special) {
    u32 magnitude = code & ((1u << (exponent_bits + mantissa_bits)) - 1), field = magnitude >> mantissa_bits;
    u32 sign = (code >> (exponent_bits + mantissa_bits) & 1) << 31;
    u32 normal = (magnitude << (23 - mantissa_bits)) + ((127 - bias) << 23);
    u32 subnormal = vm_bits32((f32)(s32)magnitude * vm_float32((128 - bias - mantissa_bits) << 23));
    u32 bits = field != 0 ? normal : subnormal, top = (1u << exponent_bits) - 1;
    if (special == 1)
        bits = field == top ? 0x7f800000u | magnitude << (23 - mantissa_bits) : bits;
    if (special == 2)
        bits = magnitude == (top << mantissa_bits | ((1u << mantissa_bits) - 1)) ? 0x7fffffffu : bits;
    return vm_float32(bits | sign);
}
VM_INLINE f32 decode_code(num_dtype type, u32 code) {
    switch (type) {
    case NUM_DTYPE_F16:
        return decode_narrow(code, 5, 10, 15, 1);
    case NUM_DTYPE_BF16:
        return vm_float32(code << 16);
    case NUM_DTYPE_TF32:
        return vm_float32(code & 0xffffe000u);
    case NUM_DTYPE_F8E4M3FN:
        return decode_narrow(code, 4, 3, 7, 2);
    case NUM_DTYPE_F8E5M2:
        return decode_narrow(code, 5, 2, 15, 1);
    case NUM_DTYPE_F6E2M3FN:
        return decode_narrow(code, 2, 3, 1, 0);
    case NUM_DTYPE_F6E3M2FN:
        return decode_narrow(code, 3, 2, 3, 0);
    case NUM_DTYPE_F4E2M1FN:
        return decode_narrow(code, 2, 1, 1, 0);
    case NUM_DTYPE_I8:
        return (f32)(int8_t)code;
    default:
        return (f32)(s32)(code & 0xff);
    }
}

static unsigned code_bytes(num_dtype type) {
    return type == NUM_DTYPE_TF32 ? 4 : type == NUM_DTYPE_F16 || type == NUM_DTYPE_BF16 ? 2 : 1;
}
/* Least exponent of a format + 127. */
static u32 least_field(num_dtype type) {
    switch (type) {
    case NUM_DTYPE_F16:
    case NUM_DTYPE_F8E5M2:
        return 113;
    case NUM_DTYPE_F8E4M3FN:
        return 121;
    case NUM_DTYPE_F6E3M2FN:
        return 125;
    case NUM_DTYPE_F6E2M3FN:
    case NUM_DTYPE_F4E2M1FN:
        return 127;
    default:
        return 1;
    }
}
static bool is_narrow(num_dtype type) {
    return type != NUM_DTYPE_BF16 && type != NUM_DTYPE_TF32;
}

#define DECODE(type, T)                                                                                      \
    for (size_t i = 0; i < count; i++)                                                                       \
        to[i] = vm_float32(vm_bits32(decode_code(type, ((const T *)codes)[i])) ^ flip);
/* clang-format off */
#define NARROW_TYPES(X) X(NUM_DTYPE_F8E4M3FN) X(NUM_DTYPE_F8E5M2) X(NUM_DTYPE_F6E2M3FN) X(NUM_DTYPE_F6E3M2FN) \
    X(NUM_DTYPE_F4E2M1FN) X(NUM_DTYPE_I8) X(NUM_DTYPE_U8)
/* clang-format on */
static void decode(num_dtype type, const void *restrict codes, f32 *restrict to, size_t count, bool negate) {
    const u32 flip = negate ? 0x80000000u : 0;
    switch (type) {
    case NUM_DTYPE_F16:
        VM_NAME(vm_tensor_decode_f16)(codes, to, count, flip);
        break;
    case NUM_DTYPE_BF16:
        DECODE(NUM_DTYPE_BF16, uint16_t)
        break;
    case NUM_DTYPE_TF32:
        DECODE(NUM_DTYPE_TF32, u32)
        break;
#define X(type)                                                                                              \
    case type:                                                                                               \
        DECODE(type, u8)                                                                                     \
        break;
        NARROW_TYPES(X)
#undef X
    default:
        break;
    }
}

/* Which rows and columns hold infinities or NaN. */
static void find_special(const vm_tensor_job *job, workspace *ws) {
    const size_t rows = job->rows & ~15u;
    const unsigned depth = job->depth, count_a = depth * R, count_b = job->columns * depth;
    u32 any = 0;
    ws->any_special_row = 0;
    memset(ws->special_row, 0, sizeof ws->special_row);
    memset(ws->special_column, 0, sizeof ws->special_column);
    /* adding one to the exponent field reaches the sign */
    for (unsigned i = 0; i < count_a; i++)
        any |= (vm_bits32(ws->a[i]) & 0x7fffffffu) + 0x00800000u;
    for (unsigned i = 0; i < count_b; i++)
        any |= (vm_bits32(ws->b[i]) & 0x7fffffffu) + 0x00800000u;
    if (any >> 31 == 0)
        return;
    for (unsigned k = 0; k < depth; k++)
        for (size_t l = 0; l < rows; l++) {
            u32 found = (vm_bits32(ws->a[k * R + l]) & 0x7f800000u) == 0x7f800000u;
            ws->special_row[l] |= found;
            ws->any_special_row |= found;
        }
    for (unsigned i = 0; i < count_b; i++)
        ws->special_column[i / depth] |= (vm_bits32(ws->b[i]) & 0x7f800000u) == 0x7f800000u;
}

/* ---- hw: exponents ---- */
static void exponents_of(const vm_tensor_job *job, workspace *ws, bool wide) {
    const unsigned depth = job->depth;
    const u32 least_a = least_field(job->a_type), least_b = least_field(job->b_type);
    const unsigned count_a = depth * R, count_b = job->columns * depth;
    if (wide) {
        for (unsigned i = 0; i < count_a; i++) {
            u32 bits = vm_bits32(ws->a[i]) & 0x7fffffff, field = bits >> 23;
            field = field > least_a ? field : least_a;
            ws->wide_ea[i] = (int16_t)(bits == 0 ? 1 : field);
        }
        for (unsigned i = 0; i < count_b; i++) {
            u32 bits = vm_bits32(ws->b[i]) & 0x7fffffff, field = bits >> 23;
            field = field > least_b ? field : least_b;
            ws->wide_eb[i] = (int16_t)((s32)(bits == 0 ? 1 : field) - 127);
        }
        return;
    }
    for (unsigned i = 0; i < count_a; i++) {
        u32 bits = vm_bits32(ws->a[i]) & 0x7fffffff, field = bits >> 23;
        field = field > least_a ? field : least_a;
        ws->ea[i] = (u8)(bits == 0 ? 0 : field - 63);
    }
    for (unsigned i = 0; i < count_b; i++) {
        u32 bits = vm_bits32(ws->b[i]) & 0x7fffffff, field = bits >> 23;
        field = field > least_b ? field : least_b;
        ws->eb[i] = bits == 0 ? 0 : (field - 64) * 0x01010101u;
    }
}

/* Products are below 2^27 quanta, and the accumulator below 2^26. With the significands of one side (11 bits)
 * adding up to less than 31700, a sum of 16 and the accumulator stays below 2^31. */
static bool is_tall(const vm_tensor_job *job, workspace *ws) {
    const size_t rows = job->rows & ~15u, depth = job->depth;
    if (depth > 16)
        return true;
    u32 greatest = 0;
    ROWS_LOOP {
        ws->greatest[l] = 0;
    }
    for (unsigned k = 0; k < depth; k++) {
        const f32 *a = ws->a + k * R;
        ROWS_LOOP {
            ws->greatest[l] += (vm_bits32(a[l]) >> 13 & 1023) + 1024;
        }
    }
    ROWS_LOOP {
        greatest = ws->greatest[l] > greatest ? ws->greatest[l] : greatest;
    }
    return greatest >= 31700;
}

/* Sixteen (or eight) steps, written out so that the loop over rows is the one that vectorises. */
/* clang-format off */
#define EIGHT(X, from) X(from) X(from + 1) X(from + 2) X(from + 3) X(from + 4) X(from + 5) X(from + 6) X(from + 7)
#define SIXTEEN(X) EIGHT(X, 0) EIGHT(X, 8)
#define DECLARE8(T, name, from) \
    const T name##0 = (from)[0], name##1 = (from)[1], name##2 = (from)[2], name##3 = (from)[3], \
            name##4 = (from)[4], name##5 = (from)[5], name##6 = (from)[6], name##7 = (from)[7]
#define STEPS8(X, name, first) X(first + 0, name##0) X(first + 1, name##1) X(first + 2, name##2) X(first + 3, name##3) \
    X(first + 4, name##4) X(first + 5, name##5) X(first + 6, name##6) X(first + 7, name##7)
/* clang-format on */

#define GREATEST(T, k, eb_k)                                                                                 \
    {                                                                                                        \
        const T t = (T)(ea[(k)*R + l] + eb_k);                                                               \
        e = t > e ? t : e;                                                                                   \
    }
#define GREATEST_WIDE(k, eb_k) GREATEST(int16_t, k, eb_k)
#define GREATEST_BYTES(k)                                                                                    \
    best = GREATER_BYTES(best, *(const u8_chunk *)(p + (k)*R) + (u8_chunk)((u32_chunk){0} + eb[k]));
static void greatest16(const u8 *ea, const u32 *eb, u8 *to) {
    for (size_t l = 0; l < R; l += VM_CHUNK) {
        const u8 *p = ea + l;
        u8_chunk best = *(u8_chunk *)(to + l);
        SIXTEEN(GREATEST_BYTES)
        *(u8_chunk *)(to + l) = best;
    }
}
static void greatest8_wide(const int16_t *restrict ea, const int16_t *restrict eb, int16_t *restrict best,
                           size_t rows) {
    DECLARE8(int16_t, x, eb);
    ROWS_LOOP {
        int16_t e = best[l];
        STEPS8(GREATEST_WIDE, x, 0)
        best[l] = e;
    }
}

/* ---- hw: products ---- */
/* Vectors by hand: with plain loops the compiler keeps sixteen pointers to A and runs out of registers. */
#define CHUNKS_LOOP for (size_t l = 0; l < rows; l += VM_CHUNK / 4)
#define AT(T, p)    (*(const T##_chunk *)(const void *)(p))
#define SET(T, p)   (*(T##_chunk *)(void *)(p))
#define CUT(k)      sum += (u32_chunk) __builtin_convertvector(AT(f32, p + (k)*R) * b[k] * s, s32_chunk);
static void cut16(const f32 *a, const f32 *b, const f32 *scale, s32 *to, size_t rows) {
    CHUNKS_LOOP {
        const f32 *p = a + l;
        const f32_chunk s = AT(f32, scale + l);
        u32_chunk sum = {0}; /* garbage where an infinity is; those cells are computed again */
        SIXTEEN(CUT)
        SET(u32, to + l) = sum;
    }
}
static void cut8(const f32 *a, const f32 *b, const f32 *scale, s32 *to, size_t rows) {
    CHUNKS_LOOP {
        const f32 *p = a + l;
        const f32_chunk s = AT(f32, scale + l);
        u32_chunk sum = {0};
        EIGHT(CUT, 0)
        SET(u32, to + l) = sum;
    }
}

/* All of hw runs with rounding toward zero, so that the conversion of a sum to f32 cuts it; nothing else
 * rounds. */
#define INVERSE(scale) vm_float32(0x7f000000u - vm_bits32(scale)) /* of a power of two */
static void finish(const workspace *ws, const f32 *restrict start, u32 *restrict out, size_t rows,
                   unsigned sums) {
    if (!ws->tall) {
        ROWS_LOOP {
            s32 sum = (s32)((u32)ws->sum[0][l] + (u32)(s32)(start[l] * ws->scale[l]));
            out[l] = vm_bits32((f32)sum * INVERSE(ws->scale[l]));
        }
        return;
    }
    ROWS_LOOP {
        f64 sum = (f64)ws->sum[0][l] + (f64)(s32)(start[l] * ws->scale[l]);
        sum += sums > 1 ? (f64)ws->sum[1][l] : 0.0;
        out[l] = vm_bits32((f32)sum * INVERSE(ws->scale[l]));
    }
}
/* To f16 in two steps: what the first cuts off stays in the last bit, so that the second rounds rightly. */
static void encode_halves(workspace *ws, u32 *restrict out, size_t rows) {
    fesetround(FE_TONEAREST);
    ROWS_LOOP {
        u32 half = half_f16_encode(ws->start[l]);
        out[l] = (half & 0x7fff) != 0 ? half : 0; /* a sum of zero is positive */
    }
    fesetround(FE_TOWARDZERO);
}

/* ---- columns of D ---- */
/* Whether a column can be read and written where it stands: all its lanes, in order, in f32. */
typedef struct road {
    bool in, out;
} road;
static road road_of(const vm_tensor_job *job) {
    bool whole = job->rows == R && (job->keep[0] | job->keep[1] | job->keep[2] | job->keep[3]) == 0 &&
                 !job->integer && job->model.output == NUM_DTYPE_F32;
    for (unsigned i = 0; whole && i < R / VM_TENSOR_CHUNK; i++)
        whole = job->lane[i] == i * VM_TENSOR_CHUNK;
    return (road){whole && job->enable_d && job->model.scale_c == 0, whole};
}

/* c: encoded as the model's output; start: as f32, times 2^-scale_c. */
static void load_column(const vm_tensor_job *job, workspace *ws, unsigned n, f32 *start) {
    const size_t rows = job->rows & ~15u;
    if (!job->enable_d) {
        ROWS_LOOP {
            ws->c[l] = 0;
            start[l] = 0;
        }
        return;
    }
    for (unsigned i = 0; i < rows / VM_TENSOR_CHUNK; i++)
        memcpy(ws->c + i * VM_TENSOR_CHUNK, job->d[n] + job->lane[i], VM_TENSOR_CHUNK * 4);
    if (job->integer)
        return;
    const f32 less = vm_float32((127u - job->model.scale_c) << 23);
    if (job->model.output == NUM_DTYPE_F16) {
        ROWS_LOOP {
            ws->c[l] &= 0xffff;
            start[l] = decode_narrow(ws->c[l], 5, 10, 15, 1) * less;
        }
    } else {
        ROWS_LOOP {
            start[l] = vm_float32(ws->c[l]) * less;
        }
    }
}

static void store_column(const vm_tensor_job *job, const workspace *ws, unsigned n) {
    const bool all = (job->keep[0] | job->keep[1] | job->keep[2] | job->keep[3]) == 0;
    for (unsigned i = 0; i < job->rows / VM_TENSOR_CHUNK; i++) {
        u32 *to = job->d[n] + job->lane[i];
        const u32 *from = ws->out + i * VM_TENSOR_CHUNK;
        if (all) {
            memcpy(to, from, VM_TENSOR_CHUNK * 4);
            continue;
        }
        for (unsigned l = 0; l < VM_TENSOR_CHUNK; l++) {
            unsigned lane = job->column_lane[n] + job->lane[i] + l;
            if ((job->keep[lane / 32] >> lane % 32 & 1) == 0)
                to[l] = from[l];
        }
    }
}

/* D of a large tile is in the second cache; its columns are wanted one after the other. */
VM_INLINE void prefetch(const vm_tensor_job *job, unsigned n) {
    if (n < job->columns)
        for (unsigned line = 0; line < R / 16; line++)
            __builtin_prefetch(job->d[n] + 16 * line, 1);
}

/* ---- the slow road ---- */
static vm_fused_value value_of(num_dtype type, const void *codes, unsigned index, bool negate) {
    unsigned bytes = code_bytes(type);
    u32 code = bytes == 4   ? ((const u32 *)codes)[index]
               : bytes == 2 ? ((const uint16_t *)codes)[index]
                            : ((const u8 *)codes)[index];
    vm_fused_value value = vm_fused_decode(type, code);
    value.negative ^= negate;
    return value;
}
static vm_fused_value factor_of(num_dtype type, u8 code) {
    vm_fused_value value = vm_fused_decode(type, code);
    value.negative = false; /* ue4m3 */
    return value;
}

static u32 slow_cell(const vm_tensor_job *job, unsigned row, unsigned column, u32 c) {
    vm_fused_value a[VM_TENSOR_DEPTH], b[VM_TENSOR_DEPTH], fa[4], fb[4];
    for (unsigned k = 0; k < job->depth; k++) {
        a[k] = value_of(job->a_type, job->a, row * job->depth + k, job->negate_a);
        b[k] = value_of(job->b_type, job->b, column * job->depth + k, job->negate_b);
    }
    for (unsigned i = 0; job->block != 0 && i < job->depth / job->block; i++) {
        fa[i] = factor_of(job->scale_type, job->factor_a[row][i]);
        fb[i] = factor_of(job->scale_type, job->factor_b[column][i]);
    }
    bool scaled = job->block != 0;
    return vm_fused_sum(&job->model, job->depth, a, b, scaled ? fa : NULL, scaled ? fb : NULL, job->block, c);
}

static void slow_rows(const vm_tensor_job *job, workspace *ws, unsigned n) {
    fesetround(FE_TONEAREST);
    for (unsigned l = 0; l < job->rows; l++)
        if (ws->slow[l])
            ws->out[l] = slow_cell(job, l, n, ws->c[l]);
    fesetround(FE_TOWARDZERO);
}

/* ---- hw ---- */
/* greatest, scale and, with factors, product_scale of a column; true when some cell may be slow. What the
 * factors add to exponents: factor_row and column_factor. */
VM_INLINE bool prepare_as(const vm_tensor_job *job, workspace *ws, const f32 *start, bool wide, bool scaled,
                          bool half, s32 column_factor) {
    const size_t rows = job->rows & ~15u;
    const u32 least = 113u - job->model.scale_c;
    u32 doubt = 0;
    ROWS_LOOP {
        u32 bits = vm_bits32(start[l]) << 1, field = bits >> 24;
        if (half)
            field = bits == 0 ? 0 : field > least ? field : least;
        s32 e = wide ? ws->wide_best[l] : ws->best[l];
        if (!wide) /* products with a zero do not count */
            e = e < ZERO_BELOW ? 0 : scaled ? e + ws->factor_row[l] + column_factor : e;
        u32 m = e > (s32)field ? (u32)e : field;
        doubt |= (m - (LOW + 1)) | (HIGH - 1 - m); /* the sign bit: m <= LOW or m >= HIGH */
        m = m > LOW ? m : LOW;
        ws->greatest[l] = m;
        ws->scale[l] = vm_float32((279 - m) << 23);
    }
    if (scaled) {
        ROWS_LOOP {
            s32 exponent = 279 - (s32)ws->greatest[l] + ws->factor_row[l] + column_factor;
            exponent = exponent < 1 ? 1 : exponent > 254 ? 254 : exponent;
            ws->product_scale[l] = vm_float32((u32)exponent << 23);
            doubt |= (u32)ws->best[l] - ZERO_BELOW;
        }
    }
    return doubt >> 31;
}
/* Marks the slow cells of a column. */
static void find_slow(const vm_tensor_job *job, workspace *ws, const f32 *start, unsigned n, bool wide,
                      bool scaled, s32 column_factor) {
    const size_t rows = job->rows & ~15u, depth = job->depth;
    const u32 special = ws->special_column[n];
    ROWS_LOOP {
        u32 nonzero = (ws->c[l] & 0x7fffffffu) != 0, m = ws->greatest[l];
        ws->slow[l] = special | ws->special_row[l] | (m >= HIGH) | (m <= LOW && nonzero);
    }
    if (scaled) { /* zero products count with -126 and the factors' exponents: do they reach C's? */
        ROWS_LOOP {
            u32 nonzero = (ws->c[l] & 0x7fffffffu) != 0, field = vm_bits32(start[l]) << 1 >> 24;
            bool zeros = ws->best[l] < ZERO_BELOW;
            bool reach = 22 + ws->factor_row[l] + column_factor >= (s32)field;
            ws->slow[l] |= zeros ? nonzero && reach : ws->greatest[l] <= LOW;
        }
    }
    if (wide) { /* products may be small and not zero */
        const f32 *b = ws->b + n * depth;
        for (unsigned k = 0; k < depth; k++) {
            const f32 *a = ws->a + k * R, b_k = b[k];
            ROWS_LOOP {
                ws->slow[l] |= a[l] != 0 && b_k != 0 && ws->greatest[l] <= LOW;
            }
        }
    }
}

/* ---- hw: cells as doubles ---- */
/* See LOW_BIAS. Of infinities it means nothing: their cells are slow. */
VM_INLINE u32 lowest_bit(u32 bits) {
    u32 significand = bits | 0x800000u, low = significand & (0u - significand);
    return (bits >> 23 & 255) - 127 - 23 + LOW_BIAS + (vm_bits32((f32)(s32)low) >> 23) - 127;
}
static void lowest_bits_of(const vm_tensor_job *job, workspace *ws) {
    const unsigned count_a = job->depth * R, count_b = job->depth * job->columns;
    u32 least_a = QUANTUM_MOST, least_b = QUANTUM_MOST;
    for (unsigned i = 0; i < count_a; i++) {
        u32 bits = vm_bits32(ws->a[i]), low = lowest_bit(bits);
        bool zero = bits << 1 == 0;
        ws->la[i] = (u8)(zero ? (u32)ZERO_A : low | (bits >> 24 & 0x80));
        low = zero ? (u32)QUANTUM_MOST : low;
        least_a = low < least_a ? low : least_a;
    }
    for (unsigned i = 0; i < count_b; i++) {
        u32 bits = vm_bits32(ws->b[i]), low = lowest_bit(bits);
        bool zero = bits << 1 == 0;
        ws->lb[i] = (zero ? (u32)ZERO_B : low | (bits >> 24 & 0x80)) * 0x01010101u;
        low = zero ? (u32)QUANTUM_MOST : low;
        least_b = low < least_b ? low : least_b;
    }
    u32 least = least_a + least_b;
    ws->least = (u8)(least < QUANTUM_MOST ? least : QUANTUM_MOST);
}

/* Bytes of a block of columns: as many vectors of rows at once as the registers hold. */
#if VM_LEVEL == 4
enum { BYTES_HEIGHT = 2 };
#else
enum { BYTES_HEIGHT = 1 };
#endif
_Static_assert(R % (BYTES_HEIGHT * VM_CHUNK) == 0, "whole blocks");
#define EACH_COLUMN UNROLL for (unsigned j = 0; j < N; j++)
#define EACH_VECTOR UNROLL for (unsigned i = 0; i < BYTES_HEIGHT; i++)

/* Negative products of the columns from `first` on that lose bits, for each row: those that are below the
 * quantum, which is biased as their lowest bits are. False: there are none. */
static bool count_cut(workspace *ws, unsigned first, unsigned depth) {
    enum { BIAS = 127 + 25 - 2 * LOW_BIAS };
    const u8_chunk low = (u8_chunk){0} + (u8)BIAS, high = (u8_chunk){0} + (u8)(BIAS + QUANTUM_MOST);
    const s8_chunk least = (s8_chunk){0} + (s8)ws->least;
    bool found = false;
    for (size_t l = 0; l < R; l += BYTES_HEIGHT * VM_CHUNK) {
        u8_chunk count[N][BYTES_HEIGHT] = {{{0}}}, limit[N][BYTES_HEIGHT], most = {0};
        EACH_COLUMN EACH_VECTOR {
            const u8_chunk emax = AT(u8, ws->emax[j] + l + i * VM_CHUNK);
            limit[j][i] = LESSER_BYTES(GREATER_BYTES(emax, low), high) - low;
            most = GREATER_BYTES(most, limit[j][i]);
            limit[j][i] ^= (u8)0x80; /* of the products that are negative as signed bytes */
        }
        if (SOME_LESS(least, most)) {
            const u32 *lb = ws->lb + first * depth;
            found = true;
            for (size_t k = 0; k < depth; k++) {
                u8_chunk la[BYTES_HEIGHT];
                EACH_VECTOR la[i] = AT(u8, ws->la + k * R + l + i * VM_CHUNK);
                EACH_COLUMN {
                    const u8_chunk b = (u8_chunk)((u32_chunk){0} + lb[j * depth + k]);
                    EACH_VECTOR count[j][i] = COUNT_LESS(count[j][i], la[i] + b, limit[j][i]);
                }
            }
        }
        EACH_COLUMN EACH_VECTOR SET(u8, ws->count[j] + l + i * VM_CHUNK) = count[j][i];
    }
    return found;
}

/* emax of a column in f32. tiny: the least accumulator that is not zero, most: the greatest emax. It is at
 * least ZERO_BELOW, which no product has: accumulators below it that are not zero are left to the slow road.
 */
typedef struct extremes {
    u32_chunk tiny;
    u8_chunk most;
} extremes;
VM_INLINE void find_emax(workspace *ws, unsigned first, unsigned depth, const f32 *const start[N],
                         extremes *found) {
    const u32 *eb = ws->eb + first * depth;
    extremes f = *found;
    for (size_t l = 0; l < R; l += BYTES_HEIGHT * VM_CHUNK) {
        u8_chunk best[N][BYTES_HEIGHT];
        EACH_COLUMN EACH_VECTOR {
            u32_chunk field[4];
            UNROLL for (unsigned part = 0; part < 4; part++) {
                const u32_chunk bits = AT(u32, start[j] + l + i * VM_CHUNK + part * (VM_CHUNK / 4)),
                                twice = bits + bits;
                f.tiny = LESSER(f.tiny, twice - 1);
                field[part] = twice >> 24;
            }
            best[j][i] =
                GREATER_BYTES(narrow(field[0], field[1], field[2], field[3]), (u8_chunk){0} + (u8)ZERO_BELOW);
        }
        for (size_t k = 0; k < depth; k++) {
            u8_chunk ea[BYTES_HEIGHT];
            EACH_VECTOR ea[i] = AT(u8, ws->ea + k * R + l + i * VM_CHUNK);
            EACH_COLUMN {
                const u8_chunk b = (u8_chunk)((u32_chunk){0} + eb[j * depth + k]);
                EACH_VECTOR best[j][i] = GREATER_BYTES(best[j][i], ea[i] + b);
            }
        }
        EACH_COLUMN EACH_VECTOR {
            f.most = GREATER_BYTES(f.most, best[j][i]);
            SET(u8, ws->emax[j] + l + i * VM_CHUNK) = best[j][i];
        }
    }
    *found = f;
}
static bool is_extreme(const extremes *found) {
    const u8_chunk high = (u8_chunk){0} + (u8)HIGH;
    const u32_chunk least = (u32_chunk){0} + (((u32)ZERO_BELOW << 24) - 1);
    return ANY((u32_chunk)(LESSER_BYTES(found->most, high) == high) | (u32_chunk)(found->tiny < least));
}
/* The same for D in f16, whose subnormals count with the least exponent. */
static bool find_emax_half(const vm_tensor_job *job, workspace *ws, unsigned n, const f32 *start, u8 *emax) {
    const size_t rows = job->rows & ~15u;
    memset(ws->best, LOW, R);
    for (unsigned k = 0; k < job->depth; k += 16)
        greatest16(ws->ea + k * R, ws->eb + n * job->depth + k, ws->best);
    bool doubt = prepare_as(job, ws, start, false, false, true, 0);
    ROWS_LOOP {
        emax[l] = (u8)ws->greatest[l];
    }
    return doubt;
}

/* Sums that may leave 32 bits: halves back to doubles, which are numbers of quanta above the start. */
VM_INLINE f64 sum_of(const vm_tensor_cells *cells, unsigned j, size_t l, u8 emax) {
    u32 start = ((u32)emax << 20) + (((u32)VM_TENSOR_DOUBLE_EXPONENT << 20) + VM_TENSOR_DOUBLE_HALF);
    return vm_float64((u64)cells->high[j][l] << 32 | cells->low[j][l]) - vm_float64((u64)start << 32);
}
static void finish_tall(workspace *ws, unsigned j, f32 *restrict out, size_t rows) {
    ROWS_LOOP {
        out[l] = (f32)sum_of(&ws->cells, j, l, ws->emax[j][l]);
    }
}
static void finish_tall_half(workspace *ws, unsigned j, u32 *restrict out, size_t rows) {
    ROWS_LOOP {
        f64 sum = sum_of(&ws->cells, j, l, ws->emax[j][l]);
        f32 value = (f32)sum;
        u32 odd = (f64)value != sum;
        ws->start[l] = vm_float32(vm_bits32(value) | odd);
    }
    encode_halves(ws, out, rows);
}

static void find_slow_narrow(const vm_tensor_job *job, workspace *ws, unsigned n, const u8 *emax) {
    const size_t rows = job->rows & ~15u;
    const u32 special = ws->special_column[n];
    const bool half = job->model.output == NUM_DTYPE_F16;
    ROWS_LOOP {
        u32 nonzero = (ws->c[l] & 0x7fffffffu) != 0, m = emax[l];
        u32 lost = half ? m <= LOW : m < LEAST_PRODUCT && (vm_bits32(ws->start[l]) << 1 >> 24) < ZERO_BELOW;
        ws->slow[l] = special | ws->special_row[l] | (m >= HIGH) | (lost && nonzero);
    }
}

/* Narrow types without factors. */
static void multiply_narrow(const vm_tensor_job *job, workspace *ws) {
    const size_t rows = job->rows & ~15u, depth = job->depth;
    const bool half = job->model.output == NUM_DTYPE_F16;
    exponents_of(job, ws, false);
    lowest_bits_of(job, ws);
    ws->tall = half || is_tall(job, ws);
    VM_NAME(vm_tensor_widen)(ws->a, ws->wide_a, depth * R);
    for (size_t i = 0, count = job->columns * depth; i < count; i++)
        ws->wide_b[i] = (f64)ws->b[i];
    const road direct = road_of(job);
    fesetround(FE_TOWARDZERO);
    for (unsigned first = 0; first < job->columns; first += N) {
        const unsigned columns = job->columns - first < N ? job->columns - first : N;
        f32 *to[N] = {ws->block[0], ws->block[1], ws->block[2], ws->block[3]};
        vm_tensor_origin start;
        bool doubt = ws->any_special_row;
        extremes found = {~(u32_chunk){0}, {0}};
        for (unsigned j = 0; j < N; j++) { /* columns that are not there: copies of the last one */
            const unsigned n = first + (j < columns ? j : columns - 1);
            prefetch(job, n + N);
            start.from[j] = ws->block[j];
            start.emax[j] = ws->emax[j];
            if (direct.in)
                start.from[j] = (const f32 *)(const void *)job->d[n];
            else
                load_column(job, ws, n, ws->block[j]);
            doubt |= ws->special_column[n] != 0;
            if (half)
                doubt |= find_emax_half(job, ws, n, start.from[j], ws->emax[j]);
        }
        if (!half)
            find_emax(ws, first, depth, start.from, &found);
        const bool counted = count_cut(ws, first, depth);
        for (unsigned j = 0; j < N; j++)
            start.more[j] = counted ? ws->count[j] : NULL;
        doubt |= is_extreme(&found);
        const bool stored = direct.out && !doubt;
        for (unsigned j = 0; stored && j < columns; j++)
            to[j] = (f32 *)(void *)job->d[first + j];
        if (ws->tall) {
            VM_NAME(vm_tensor_cut_long)
            (ws->wide_a, ws->wide_b + first * depth, depth, &start, &ws->cells, rows);
            for (unsigned j = 0; j < columns; j++)
                if (half)
                    finish_tall_half(ws, j, (u32 *)(void *)to[j], rows);
                else
                    finish_tall(ws, j, to[j], rows);
        } else {
            VM_NAME(vm_tensor_cut)(ws->wide_a, ws->wide_b + first * depth, depth, &start, to, rows);
        }
        for (unsigned j = 0; !stored && j < columns; j++) {
            const unsigned n = first + j;
            memcpy(ws->out, to[j], sizeof ws->out);
            if (doubt) {
                load_column(job, ws, n, ws->start);
                find_slow_narrow(job, ws, n, ws->emax[j]);
                slow_rows(job, ws, n);
            }
            store_column(job, ws, n);
        }
    }
    fesetround(FE_TONEAREST);
}

/* ---- hw: products as floats ---- */
/* Types with wide exponents, and narrow ones with factors. */
static void multiply_floats(const vm_tensor_job *job, workspace *ws) {
    const size_t rows = job->rows & ~15u, depth = job->depth;
    const bool scaled = job->block != 0, wide = !scaled;
    exponents_of(job, ws, wide);
    ws->tall = is_tall(job, ws);
    const road direct = road_of(job);
    fesetround(FE_TOWARDZERO);
    for (unsigned l = 0; scaled && l < rows; l++) {
        ws->factor_row[l] = job->factor_a[l][0] - 127;
        if (job->factor_a[l][0] == 0xff)
            ws->special_row[l] = ws->any_special_row = 1;
    }
    for (unsigned n = 0; n < job->columns; n++) {
        const f32 *b = ws->b + n * depth;
        s32 column_factor = 0;
        if (scaled) {
            column_factor = job->factor_b[n][0] - 127;
            ws->special_column[n] |= job->factor_b[n][0] == 0xff;
        }
        const f32 *start = ws->start;
        prefetch(job, n + 2);
        if (direct.in)
            start = (const f32 *)(const void *)job->d[n];
        else
            load_column(job, ws, n, ws->start);
        if (wide) {
            ROWS_LOOP {
                ws->wide_best[l] = 1;
            }
            for (unsigned k = 0; k < depth; k += 8)
                greatest8_wide(ws->wide_ea + k * R, ws->wide_eb + n * depth + k, ws->wide_best, rows);
        } else {
            memset(ws->best, LOW, R);
            for (unsigned k = 0; k < depth; k += 16)
                greatest16(ws->ea + k * R, ws->eb + n * depth + k, ws->best);
        }
        bool doubt = wide ? prepare_as(job, ws, start, true, false, false, 0)
                          : prepare_as(job, ws, start, false, true, false, column_factor);
        doubt |= ws->any_special_row || ws->special_column[n];
        const f32 *scale = scaled ? ws->product_scale : ws->scale;
        if (depth == 8) {
            cut8(ws->a, b, scale, ws->sum[0], rows);
        } else {
            for (unsigned k = 0; k < depth; k += 16)
                cut16(ws->a + k * R, b + k, scale, ws->sum[k / 16], rows);
        }
        bool stored = direct.out && !doubt;
        finish(ws, start, stored ? job->d[n] : ws->out, rows, depth / 16);
        if (doubt) {
            if (direct.in)
                memcpy(ws->c, job->d[n], sizeof ws->c);
            find_slow(job, ws, start, n, wide, scaled, column_factor);
            slow_rows(job, ws, n);
        }
        if (!stored)
            store_column(job, ws, n);
    }
    fesetround(FE_TONEAREST);
}

/* ---- fp32 ---- */
#if defined(__FMA__) || defined(__aarch64__)
#define FUSED(x, y, z) __builtin_fmaf(x, y, z)
#else
/* A double holds the product, of 22 bits at most, and more than twice the bits of f32: rounding the sum twice
 * is rounding it once. */
#define FUSED(x, y, z) ((f32)((f64)(x) * (f64)(y) + (f64)(z)))
#endif
#define CHAIN(k, b_k) sum = FUSED(a[(k)*R + l], b_k, sum);
static void chain16(const f32 *restrict a, const f32 *restrict b, const f32 *start, f32 *to, size_t rows) {
    DECLARE8(f32, x, b);
    DECLARE8(f32, y, b + 8);
    ROWS_LOOP {
        f32 sum = start[l];
        STEPS8(CHAIN, x, 0)
        STEPS8(CHAIN, y, 8)
        to[l] = sum;
    }
}
static void multiply_fp32(const vm_tensor_job *job, workspace *ws) {
    const size_t rows = job->rows & ~15u;
    const road direct = road_of(job);
    for (unsigned first = 0; first < job->columns; first += N) {
        const f32 *start[N];
        f32 *to[N];
        for (unsigned j = 0; j < N; j++) {
            const unsigned n = first + j;
            start[j] = to[j] = ws->block[j];
            prefetch(job, n + N);
            if (n >= job->columns)
                continue;
            if (direct.out)
                to[j] = (f32 *)(void *)job->d[n];
            if (direct.in)
                start[j] = to[j];
            else
                load_column(job, ws, n, ws->block[j]);
        }
        bool nan = VM_NAME(vm_tensor_chain)(ws->a, ws->b + first * job->depth, job->depth, start, to, rows);
        for (unsigned j = 0; j < N && first + j < job->columns; j++) {
            const f32 *from = to[j];
            u32 *out = direct.out ? job->d[first + j] : ws->out;
            if (job->model.output == NUM_DTYPE_F16) {
                ROWS_LOOP {
                    out[l] = half_f16_encode(from[l]);
                }
            } else if (nan || !direct.out) {
                ROWS_LOOP {
                    out[l] = vm_canon(from[l]);
                }
            }
            if (!direct.out)
                store_column(job, ws, first + j);
        }
    }
}

/* ---- integers: every product and every sum of 32 is exact in f32 ---- */
static void multiply_integer(const vm_tensor_job *job, workspace *ws) {
    const size_t rows = job->rows & ~15u, depth = job->depth;
    for (unsigned n = 0; n < job->columns; n++) {
        load_column(job, ws, n, ws->start);
        ROWS_LOOP {
            ws->start[l] = 0;
        }
        for (unsigned k = 0; k < depth; k += 16)
            chain16(ws->a + k * R, ws->b + n * depth + k, ws->start, ws->start, rows);
        ROWS_LOOP {
            s64 sum = (s64)(s32)ws->c[l] + (s32)ws->start[l];
            if (job->saturate)
                sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
            ws->out[l] = (u32)sum;
        }
        store_column(job, ws, n);
    }
}

/* ---- hw of mxf4 and mxf4nvf4: groups of 16 products added exactly, 35 fraction bits ---- */
typedef struct factor { /* significand * 2^(exponent - 3); exponent -126: zero */
    s32 significand, exponent;
} factor;
static factor decode_factor(num_dtype type, u8 code) {
    vm_fused_value v = factor_of(type, code);
    return (factor){(s32)(v.significand << (3 - v.fraction)), v.exponent};
}

static void multiply_grouped(const vm_tensor_job *job, workspace *ws) {
    const size_t rows = job->rows & ~15u, depth = job->depth;
    const unsigned groups = depth / 16, per = job->block / 16; /* groups per factor */
    factor fa[4][R];
    for (unsigned i = 0; i < groups; i++)
        for (unsigned l = 0; l < rows; l++) {
            u8 code = job->factor_a[l][i / per];
            fa[i][l] = decode_factor(job->scale_type, code);
            if (job->scale_type == NUM_DTYPE_F8E8M0FNU ? code == 0xff : (code & 0x7f) == 0x7f)
                ws->special_row[l] = 1;
        }
    for (unsigned n = 0; n < job->columns; n++) {
        factor fb[4];
        u32 special = ws->special_column[n];
        for (unsigned i = 0; i < groups; i++) {
            u8 code = job->factor_b[n][i / per];
            fb[i] = decode_factor(job->scale_type, code);
            special |= job->scale_type == NUM_DTYPE_F8E8M0FNU ? code == 0xff : (code & 0x7f) == 0x7f;
        }
        load_column(job, ws, n, ws->start);
        for (unsigned i = 0; i < groups; i++) {
            ROWS_LOOP {
                ws->group[i][l] = 0;
            }
            chain16(ws->a + i * 16 * R, ws->b + n * depth + i * 16, ws->group[i], ws->group[i], rows);
        }
        for (unsigned l = 0; l < rows; l++) {
            u32 field = ws->c[l] << 1 >> 24;
            s32 greatest = (s32)(field > 1 ? field : 1) - 127;
            for (unsigned i = 0; i < groups; i++) {
                s32 e = fa[i][l].exponent + fb[i].exponent;
                greatest = e > greatest ? e : greatest;
            }
            if (special || ws->special_row[l] || field == 255 || greatest < 35 - 126 || greatest > 100) {
                ws->out[l] = slow_cell(job, l, n, ws->c[l]);
                continue;
            }
            /* Sums count quarters, factors eighths: a term below 2^11 has an integer below 2^22. Cut as
             * doubles: 2^shift is at most 2^27 and may be as small as it likes. */
            s64 sum = (s64)((f64)vm_float32(ws->c[l]) * vm_float64((u64)(1023 + 35 - greatest) << 52));
            for (unsigned i = 0; i < groups; i++) {
                s32 product = fa[i][l].significand * fb[i].significand;
                s32 shift = fa[i][l].exponent + fb[i].exponent - greatest + 35 - 6;
                f64 term = (f64)ws->group[i][l] * (f64)product;
                sum += shift < -60 ? 0 : (s64)(term * vm_float64((u64)(1023 + shift) << 52));
            }
            u64 cut = vm_bits64((f64)sum) & ~(u64)0x1fffffff; /* to the bits of f32 */
            ws->out[l] = vm_bits32((f32)vm_float64(cut) * vm_float32((u32)(127 + greatest - 35) << 23));
        }
        store_column(job, ws, n);
    }
}

static void multiply_slow(const vm_tensor_job *job, workspace *ws) {
    for (unsigned n = 0; n < job->columns; n++) {
        load_column(job, ws, n, ws->start);
        for (unsigned l = 0; l < job->rows; l++)
            ws->out[l] = slow_cell(job, l, n, ws->c[l]);
        store_column(job, ws, n);
    }
}

void VM_NAME(vm_tensor_multiply)(const vm_tensor_job *job, void *scratch) {
    workspace *ws = scratch;
    bool scaled = job->block != 0;
    if (!job->integer &&
        (job->model.numerics == VM_NUMERICS_EXACT || (job->model.numerics == VM_NUMERICS_FP32 && scaled))) {
        multiply_slow(job, ws);
        return;
    }
    decode(job->a_type, job->a, ws->a_rows, (size_t)job->rows * job->depth, job->negate_a);
    VM_NAME(vm_tensor_transpose)(ws->a_rows, ws->a, job->rows, job->depth);
    decode(job->b_type, job->b, ws->b, (size_t)job->columns * job->depth, job->negate_b);
    if (job->integer) {
        multiply_integer(job, ws);
    } else if (job->model.numerics == VM_NUMERICS_FP32) {
        multiply_fp32(job, ws);
    } else {
        find_special(job, ws);
        if (job->model.group > 1)
            multiply_grouped(job, ws);
        else if (!scaled && is_narrow(job->a_type) && is_narrow(job->b_type))
            multiply_narrow(job, ws);
        else
            multiply_floats(job, ws);
    }
}
