/* SPDX-License-Identifier: Apache-2.0
 * approx_fit FOLDER: finds the tables of the special function unit from whole ranges of results that
 * approx_record brought back (FOLDER/arrays-N.bin), and prints src/vm/vm_approx_h200.def.
 *
 * The unit interpolates: of an input's low bits x it takes A + B * x + C * square(x), where square drops the
 * low bits of each partial product. The scheme: "A High-Performance Area-Efficient
 * Multifunction Interpolator", ARITH-17, 2005; how the square is truncated, shifts and rounding constants of
 * the five functions of older chips: the notes of the envytools project (nvhw/sfu.c), found again here:
 * no other A, B and C give all results of a segment. sqrt and tanh are from these recordings alone.
 * Whether tables and scheme are right is for approx_replay.c to say, over all inputs. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct results {
    char form[64];
    uint32_t first, step, count, *y;
} results;
static results ranges[64];
static int range_count;

/* Second differences of two bits; see `pack` in approx_record.c. */
typedef struct unpacker {
    FILE *file;
    uint64_t bits;
    unsigned held;
} unpacker;

static uint32_t take(unpacker *u, unsigned count) {
    for (; u->held < count; u->held += 8)
        u->bits |= (uint64_t)(uint8_t)getc(u->file) << u->held;
    uint32_t value = (uint32_t)(u->bits & ((UINT64_C(1) << count) - 1));
    u->bits >>= count;
    u->held -= count;
    return value;
}

static bool read_one(FILE *file, results *r) {
    char line[100];
    if (!fgets(line, sizeof line, file))
        return false;
    line[strcspn(line, "\n")] = 0;
    snprintf(r->form, sizeof r->form, "%.63s", line);
    if (!fgets(line, sizeof line, file) || sscanf(line, "%u %u %u", &r->first, &r->step, &r->count) != 3)
        return false;
    unpacker u = {.file = file};
    uint32_t last = 0, slope = 0;
    r->y = malloc((size_t)r->count * 4);
    for (uint32_t i = 0; i < r->count; i++) {
        uint32_t change = take(&u, 2);
        change = change == 3 ? take(&u, 32) : change - 1;
        slope += change;
        last += slope;
        r->y[i] = last;
    }
    return true;
}

static void read_all(const char *folder) {
    for (int n = 0;; n++) {
        char path[512];
        snprintf(path, sizeof path, "%s/arrays-%d.bin", folder, n);
        FILE *file = fopen(path, "rb");
        if (!file)
            break;
        while (range_count < 64 && read_one(file, &ranges[range_count]))
            range_count++;
        fclose(file);
    }
}

static const results *range_of(const char *form, int exponent) {
    for (int i = 0; i < range_count; i++)
        if (!strcmp(ranges[i].form, form) && ranges[i].step == 1 &&
            ranges[i].first == (uint32_t)(127 + exponent) << 23)
            return &ranges[i];
    fprintf(stderr, "approx_fit: no results of %s for exponent %d\n", form, exponent);
    exit(1);
}

/* ---- one segment ---- */
enum { MOST = 1 << 17 };
static int64_t low[MOST], high[MOST]; /* what the sum may be, by x; low > high: not recorded */
static uint32_t squares[MOST];

static uint32_t square(uint32_t x) {
    uint32_t sum = 0;
    for (int i = 0; i < 17; i++)
        if (x >> i & 1)
            sum += x >> (18 - i);
    return sum >> 1;
}

/* The result is y after dropping: the sum lies in [y, y + 1 ulp), in units of 2^-unit. */
static void bound(uint32_t x, uint32_t y, int unit) {
    int shift = unit + (int)(y >> 23) - 127 - 23;
    int64_t mantissa = (y & 0x7fffff) | 0x800000;
    if (shift < 2) { /* lg2 near 1: two bits are dropped before the sum is made a float */
        low[x] = mantissa >> (2 - shift) << 2;
        high[x] = low[x] + 3;
        return;
    }
    low[x] = mantissa << shift;
    high[x] = ((mantissa + 1) << shift) - 1;
}

static bool feasible(uint32_t count, int64_t b, int64_t c, int64_t *least, int64_t *most) {
    *least = INT64_MIN, *most = INT64_MAX;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t x = 0; x < count; x += pass ? 1 : count / 97 + 1) {
            if (low[x] > high[x])
                continue;
            int64_t rest = b * x + c * squares[x];
            *least = low[x] - rest > *least ? low[x] - rest : *least;
            *most = high[x] - rest < *most ? high[x] - rest : *most;
            if (*least > *most)
                return false;
        }
    return true;
}

/* Least squares: where the search begins. */
static void estimate(uint32_t count, int64_t out[2]) {
    double m[3][4] = {{0}};
    for (uint32_t x = 0; x < count; x += 7) {
        if (low[x] > high[x])
            continue;
        double row[4] = {1, x, squares[x], ((double)low[x] + (double)high[x]) / 2};
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 4; k++)
                m[i][k] += row[i] * row[k];
    }
    for (int i = 0; i < 3; i++)
        for (int r = 0; r < 3; r++) {
            double factor = r == i ? 0 : m[r][i] / m[i][i];
            for (int k = 0; k < 4; k++)
                m[r][k] -= factor * m[i][k];
        }
    out[0] = llround(m[1][3] / m[1][1]);
    out[1] = llround(m[2][3] / m[2][2]);
}

/* A with `drop` low bits of 0 behind the rounding constant; of several the one with most zeros. Prints the
 * row. */
static void fit(uint32_t count, unsigned drop, int64_t rounding, const char *what) {
    int64_t start[2], least, most;
    estimate(count, start);
    for (int64_t d = 0; d < 40; d++)
        for (int64_t db = -d; db <= d; db++)
            for (int64_t dc = -d; dc <= d; dc++) {
                if ((llabs(db) != d && llabs(dc) != d) ||
                    !feasible(count, start[0] + db, start[1] + dc, &least, &most))
                    continue;
                least -= rounding, most -= rounding;
                int64_t a = most;
                for (unsigned zeros = 0; zeros < 30; zeros++)
                    if (most >> zeros << zeros >= least)
                        a = most >> zeros << zeros;
                if (a >> drop << drop != a || a < least)
                    continue;
                printf("{%lld, %lld, %lld},\n", (long long)(a >> drop), (long long)(start[0] + db),
                       (long long)(start[1] + dc));
                return;
            }
    fprintf(stderr, "approx_fit: %s: nothing fits a segment\n", what);
    exit(1);
}

/* ---- functions ---- */
static void plain(const char *form, int exponent, unsigned segments, int unit, unsigned drop,
                  int64_t rounding, unsigned step) {
    const results *r = range_of(form, exponent);
    uint32_t count = r->count / segments;
    for (uint32_t x = 0; x < MOST; x++)
        squares[x] = square(x * step);
    for (unsigned s = 0; s < segments; s++) {
        for (uint32_t x = 0; x < count; x++)
            bound(x, r->y[s * count + x], unit);
        if (s == 0 && (form[0] == 'l' || form[1] == 's')) /* lg2(1) and rsqrt(1) are made, not interpolated */
            low[0] = 1, high[0] = 0;
        fit(count, drop, rounding, form);
    }
}

/* By turns: the instruction multiplies by 1 / 2 pi, toward zero, and takes 25 bits behind the point, of which
 * 23 are in a quadrant. */
static void sine(void) {
    for (uint32_t x = 0; x < MOST; x++)
        squares[x] = square(x);
    static uint32_t seen[1 << 23];
    for (int e = -3; e <= 0; e++) {
        const results *r = range_of("sin.approx.ftz.f32", e);
        for (uint32_t i = 0; i < r->count; i++) {
            uint64_t product = (uint64_t)(i | 0x800000) * 0xa2f983; /* 24 bits of 1 / 2 pi, times 2^26 */
            int bits = 64 - __builtin_clzll(product);
            uint64_t kept = product >> (bits - 24) << (bits - 24); /* in units of 2^(e - 49) */
            uint64_t fraction = kept >> (24 - e);                  /* of 2^-25 */
            if (fraction < 1u << 23)
                seen[fraction] = r->y[i];
        }
    }
    for (unsigned s = 0; s < 64; s++) {
        uint32_t known = 0;
        for (uint32_t x = 0; x < MOST; x++) {
            uint32_t y = seen[s * MOST + x];
            bound(x, y ? y : 0x3f800000, 37);
            if (y == 0)
                low[x] = 1, high[x] = 0;
            known += y != 0;
        }
        if (known < 20) { /* below 1/8: not recorded */
            fprintf(stderr, "approx_fit: sine: segment %u is not recorded\n", s);
            printf("{0, 0, 0},\n");
            continue;
        }
        fit(MOST, 11, 0, "sine");
    }
}

/* Each exponent has its own segments of 2^17 steps; finer bits of the input do not count. */
static void tangent(void) {
    static const int ignored[] = {6, 6, 6, 5, 5, 4, 4, 4, 3, 2, 3};
    for (uint32_t x = 0; x < MOST; x++)
        squares[x] = square(x);
    for (int e = -8; e <= 2; e++) {
        int drop = ignored[e + 8];
        const results *r = range_of("tanh.approx.f32", e);
        for (uint32_t s = 0; s < 1u << (6 - drop); s++) {
            for (uint32_t x = 0; x < MOST; x++)
                bound(x, r->y[(s * MOST + x) << drop], e < 0 ? 39 - e - drop : 39);
            fit(MOST, 0, 0, "tanh");
        }
    }
}

int main(int count, char **arguments) {
    if (count != 2) {
        fprintf(stderr, "usage: approx_fit FOLDER\n");
        return 2;
    }
    read_all(arguments[1]);
    printf("/* SPDX-License-Identifier: Apache-2.0\n"
           " * Tables of the special function unit: A, B, C of each segment. Found by "
           "tests/recorded/approx_fit.c from\n"
           " * results of an H200; not written by hand. */\n/* clang-format off */\n");
    static const struct {
        const char *name, *form;
        int exponent;
        unsigned segments;
        int unit;
        unsigned drop;
        int64_t rounding;
        unsigned step;
    } rows[] = {{"RCP", "rcp.approx.ftz.f32", 0, 128, 39, 13, 0x47e7, 2},
                {"RSQRT_EVEN", "rsqrt.approx.ftz.f32", 0, 64, 40, 14, 0x7fff, 1},
                {"RSQRT_ODD", "rsqrt.approx.ftz.f32", 1, 64, 40, 14, 0x7fff, 1},
                {"SQRT_EVEN", "sqrt.approx.ftz.f32", 0, 64, 40, 15, 0x7fff, 1},
                {"SQRT_ODD", "sqrt.approx.ftz.f32", 1, 64, 39, 14, 0x7fff, 1},
                {"EX2", "ex2.approx.ftz.f32", 0, 64, 37, 13, 0x77e2, 1},
                {"LG2", "lg2.approx.ftz.f32", 0, 64, 38, 12, 0x3345, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        printf("#ifdef APPROX_%s\n", rows[i].name);
        plain(rows[i].form, rows[i].exponent, rows[i].segments, rows[i].unit, rows[i].drop, rows[i].rounding,
              rows[i].step);
        printf("#endif\n");
    }
    printf("#ifdef APPROX_SIN\n");
    sine();
    printf("#endif\n#ifdef APPROX_TANH\n");
    tangent();
    printf("#endif\n/* clang-format on */\n");
    return 0;
}
