/* SPDX-License-Identifier: Apache-2.0
 * Independent results for the examples: plain C in double precision, sharing no code with tirc, its .npy
 * writer included. `reference CASE FOLDER [NAME=VALUE]...` writes inputs and expected outputs and prints the
 * arguments of `tirc run` that use them. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *folder;
static int define_count;
static char **defines;

static long value_of(const char *name, long otherwise) {
    size_t size = strlen(name);
    for (int i = 0; i < define_count; ++i)
        if (!strncmp(defines[i], name, size) && defines[i][size] == '=')
            return atol(defines[i] + size + 1);
    return otherwise;
}

static void *make(size_t count, size_t size) {
    void *data = calloc(count + 1, size);
    if (!data)
        exit(2);
    return data;
}

static uint32_t random_state = 12345;
static uint32_t random_bits(void) {
    random_state = random_state * 1664525u + 1013904223u;
    return random_state >> 8;
}
static float random_float(void) {
    return (float)((int)(random_bits() % 20001) - 10000) / 4096.0f;
}

/* descr "<f4" or "<i4"; shape of rank 1 or 2 (columns 0: rank 1) */
static void save(const char *name, const char *descr, const void *data, size_t size, long rows,
                 long columns) {
    char path[1024], header[128];
    snprintf(path, sizeof path, "%s/%s.npy", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file)
        exit(2);
    int used = columns ? snprintf(header, sizeof header,
                                  "{'descr': '%s', 'fortran_order': False, 'shape': (%ld, %ld), }", descr,
                                  rows, columns)
                       : snprintf(header, sizeof header,
                                  "{'descr': '%s', 'fortran_order': False, 'shape': (%ld,), }", descr, rows);
    int total = (10 + used + 1 + 63) / 64 * 64 - 10;
    fwrite("\x93NUMPY\1\0", 1, 8, file);
    fputc(total & 255, file);
    fputc(total >> 8, file);
    fprintf(file, "%s%*s\n", header, total - used - 1, "");
    fwrite(data, size, (size_t)(rows * (columns ? columns : 1)), file);
    fclose(file);
}

static void argument(const char *kind, const char *name) {
    printf(" --%s %s=%s/%s.npy", kind, name, folder, name);
}
static void input_f(const char *name, const float *data, long rows, long columns) {
    save(name, "<f4", data, 4, rows, columns);
    argument("arg", name);
}
static void input_i(const char *name, const int32_t *data, long rows, long columns) {
    save(name, "<i4", data, 4, rows, columns);
    argument("arg", name);
}
static void expect_f(const char *name, const float *data, long rows, long columns) {
    save(name, "<f4", data, 4, rows, columns);
    argument("expect", name);
}
static void expect_i(const char *name, const int32_t *data, long rows, long columns) {
    save(name, "<i4", data, 4, rows, columns);
    argument("expect", name);
}
static float *random_floats(long count) {
    float *data = make((size_t)count, sizeof *data);
    for (long i = 0; i < count; ++i)
        data[i] = random_float();
    return data;
}
static int32_t *random_ints(long count, int32_t low, int32_t high) {
    int32_t *data = make((size_t)count, sizeof *data);
    for (long i = 0; i < count; ++i)
        data[i] = low + (int32_t)(random_bits() % (uint32_t)(high - low));
    return data;
}

static void scale(void) {
    long n = value_of("N", 1024);
    float *a = random_floats(n), *b = make((size_t)n, 4);
    for (long i = 0; i < n; ++i)
        b[i] = (float)((double)a[i] * 2 + 1);
    input_f("A", a, n, 0);
    expect_f("B", b, n, 0);
}

static void transpose(void) {
    long m = value_of("M", 1024), n = value_of("N", 1024);
    float *a = random_floats(m * n), *b = make((size_t)(m * n), 4);
    for (long i = 0; i < m; ++i)
        for (long j = 0; j < n; ++j)
            b[j * m + i] = a[i * n + j];
    input_f("A", a, m, n);
    expect_f("B", b, n, m);
}

static void rmsnorm(void) {
    long rows = value_of("ROWS", 64), columns = value_of("COLS", 1024);
    float *x = random_floats(rows * columns), *w = random_floats(columns),
          *y = make((size_t)(rows * columns), 4);
    for (long r = 0; r < rows; ++r) {
        double sum = 0;
        for (long c = 0; c < columns; ++c)
            sum += (double)x[r * columns + c] * x[r * columns + c];
        double scale = 1 / sqrt(sum / (double)columns + 1e-5);
        for (long c = 0; c < columns; ++c)
            y[r * columns + c] = (float)(x[r * columns + c] * scale * w[c]);
    }
    input_f("X", x, rows, columns);
    input_f("W", w, columns, 0);
    expect_f("Y", y, rows, columns);
    printf(" --rtol 1e-5 --atol 1e-6");
}

static void layernorm(void) {
    long rows = value_of("ROWS", 64), columns = value_of("COLS", 1024);
    float *x = random_floats(rows * columns), *w = random_floats(columns), *b = random_floats(columns);
    float *y = make((size_t)(rows * columns), 4);
    for (long r = 0; r < rows; ++r) {
        double sum = 0, squares = 0;
        for (long c = 0; c < columns; ++c)
            sum += x[r * columns + c];
        double mean = sum / (double)columns;
        for (long c = 0; c < columns; ++c)
            squares += (x[r * columns + c] - mean) * (x[r * columns + c] - mean);
        double scale = 1 / sqrt(squares / (double)columns + 1e-5);
        for (long c = 0; c < columns; ++c)
            y[r * columns + c] = (float)((x[r * columns + c] - mean) * scale * w[c] + b[c]);
    }
    input_f("X", x, rows, columns);
    input_f("W", w, columns, 0);
    input_f("B", b, columns, 0);
    expect_f("Y", y, rows, columns);
    printf(" --rtol 2e-5 --atol 5e-6");
}

static void softmax(void) {
    long rows = value_of("ROWS", 64), columns = value_of("COLS", 256);
    float *x = random_floats(rows * columns), *y = make((size_t)(rows * columns), 4);
    for (long r = 0; r < rows; ++r) {
        double largest = -INFINITY, sum = 0;
        for (long c = 0; c < columns; ++c)
            largest = fmax(largest, x[r * columns + c]);
        for (long c = 0; c < columns; ++c)
            sum += exp(x[r * columns + c] - largest);
        for (long c = 0; c < columns; ++c)
            y[r * columns + c] = (float)(exp(x[r * columns + c] - largest) / sum);
    }
    input_f("X", x, rows, columns);
    expect_f("Y", y, rows, columns);
    printf(" --rtol 1e-5 --atol 1e-9");
}

static void gemm(void) {
    long m = value_of("M", 256), n = value_of("N", 256), k = value_of("K", 256);
    float *a = random_floats(m * k), *b = random_floats(k * n), *c = make((size_t)(m * n), 4);
    for (long i = 0; i < m; ++i)
        for (long j = 0; j < n; ++j) {
            double sum = 0;
            for (long l = 0; l < k; ++l)
                sum += (double)a[i * k + l] * b[l * n + j];
            c[i * n + j] = (float)sum;
        }
    input_f("A", a, m, k);
    input_f("B", b, k, n);
    expect_f("C", c, m, n);
    /* K roundings of sums below K * 6: the bound of a serial sum, K^2 * 6 * 2^-24, is far from reached */
    printf(" --rtol 1e-5 --atol %g", 1e-6 * (double)k);
}

static void histogram(void) {
    long n = value_of("N", 65536);
    int32_t *x = random_ints(n, -2, 258), *h = make(256, 4);
    for (long i = 0; i < n; ++i)
        if (x[i] >= 0 && x[i] < 256)
            ++h[x[i]];
    input_i("X", x, n, 0);
    expect_i("H", h, 256, 0);
}

static void scan(void) {
    long rows = value_of("ROWS", 16), columns = value_of("COLS", 1000);
    int32_t *x = random_ints(rows * columns, -1000, 1000), *y = make((size_t)(rows * columns), 4);
    for (long r = 0; r < rows; ++r) {
        int32_t sum = 0;
        for (long c = 0; c < columns; ++c)
            y[r * columns + c] = sum += x[r * columns + c];
    }
    input_i("X", x, rows, columns);
    expect_i("Y", y, rows, columns);
}

static void add_one(void) {
    float *a = random_floats(32), *b = make(32, 4);
    for (int i = 0; i < 32; ++i)
        b[i] = a[i] + 1;
    input_f("A", a, 4, 8);
    expect_f("B", b, 4, 8);
}

static void reverse(void) {
    long n = value_of("N", 128);
    float *a = random_floats(n), *b = make((size_t)n, 4);
    for (long i = 0; i < n; ++i)
        b[i] = a[n - 1 - i];
    input_f("A", a, n, 0);
    expect_f("B", b, n, 0);
}

static void pair(void) {
    long n = value_of("N", 128);
    float *a = random_floats(n), *b = random_floats(n), *c = make((size_t)n, 4);
    for (long i = 0; i < n; ++i)
        c[i] = a[n - 1 - i] + b[i];
    input_f("A", a, n, 0);
    input_f("B", b, n, 0);
    expect_f("C", c, n, 0);
}

static void collatz(void) {
    long n = value_of("N", 1024);
    int32_t *a = random_ints(n, 1, 100000), *b = make((size_t)n, 4);
    for (long i = 0; i < n; ++i)
        for (int64_t v = a[i]; v > 1; v = v % 2 ? v * 3 + 1 : v / 2)
            ++b[i];
    input_i("A", a, n, 0);
    expect_i("B", b, n, 0);
}

static void rows(void) {
    float *a = random_floats(256), *b = make(64, 4);
    for (int i = 0; i < 64; ++i)
        b[i] = a[i * 4] + a[i * 4 + 3];
    input_f("A", a, 256, 0);
    expect_f("B", b, 64, 0);
}

static void columns(void) {
    float *a = random_floats(32), *b = make(32, 4);
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 8; ++j)
            b[i * 8 + j] = a[j * 4 + i];
    input_f("A", a, 8, 4);
    expect_f("B", b, 4, 8);
}

static void wide(void) {
    float *a = random_floats(512);
    input_f("A", a, 512, 0);
    expect_f("B", a, 512, 0);
}

static void bits(void) {
    float *a = random_floats(64);
    input_f("A", a, 64, 0);
    save("B", "<u4", a, 4, 64, 0);
    argument("expect", "B");
}

/* ---- bfloat16: the upper half of a float, rounded to nearest even ---- */
static uint16_t to_bf16(double value) {
    float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, 4);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
static double from_bf16(uint16_t half) {
    uint32_t bits = (uint32_t)half << 16;
    float value;
    memcpy(&value, &bits, 4);
    return value;
}
static uint16_t *random_bf16(long count) {
    uint16_t *data = make((size_t)count, 2);
    for (long i = 0; i < count; ++i)
        data[i] = to_bf16(random_float());
    return data;
}
static void input_bf16(const char *name, const uint16_t *data, long rows, long columns) {
    save(name, "<u2", data, 2, rows, columns);
    argument("arg", name);
}

static void rmsnorm_bf16(void) {
    long rows = value_of("ROWS", 32768), columns = value_of("COLS", 8192);
    uint16_t *x = random_bf16(rows * columns), *w = random_bf16(columns),
             *y = make((size_t)(rows * columns), 2);
    for (long r = 0; r < rows; ++r) {
        double sum = 0;
        for (long c = 0; c < columns; ++c)
            sum += from_bf16(x[r * columns + c]) * from_bf16(x[r * columns + c]);
        double scale = 1 / sqrt(sum / (double)columns + 1e-5);
        for (long c = 0; c < columns; ++c)
            y[r * columns + c] = to_bf16(from_bf16(x[r * columns + c]) * scale * from_bf16(w[c]));
    }
    input_bf16("X", x, rows, columns);
    input_bf16("W", w, columns, 0);
    save("Y", "<u2", y, 2, rows, columns);
    argument("expect", "Y");
    printf(" --rtol 8e-3"); /* one place of bfloat16 */
}

static void softmax_bf16(void) {
    long rows = value_of("ROWS", 32768), columns = value_of("COLS", 8192);
    uint16_t *x = random_bf16(rows * columns), *y = make((size_t)(rows * columns), 2);
    for (long r = 0; r < rows; ++r) {
        double largest = -INFINITY, sum = 0;
        for (long c = 0; c < columns; ++c)
            largest = fmax(largest, from_bf16(x[r * columns + c]));
        for (long c = 0; c < columns; ++c)
            sum += exp(from_bf16(x[r * columns + c]) - largest);
        for (long c = 0; c < columns; ++c)
            y[r * columns + c] = to_bf16(exp(from_bf16(x[r * columns + c]) - largest) / sum);
    }
    input_bf16("X", x, rows, columns);
    save("Y", "<u2", y, 2, rows, columns);
    argument("expect", "Y");
    printf(" --rtol 8e-3");
}

static void stream(void) {
    long n = value_of("N", 4096);
    float *a = random_floats(n), *b = make((size_t)n, 4);
    for (long i = 0; i < n; ++i)
        b[i] = a[i] * 3;
    input_f("A", a, n, 0);
    expect_f("B", b, n, 0);
}

static void product(void) {
    long n = value_of("N", 64);
    float *a = random_floats(n * n), *b = random_floats(n * n);
    float *c = make((size_t)(n * n), 4), *d = make((size_t)n, 4);
    for (long j = 0; j < n; ++j) {
        double total = 0;
        for (long i = 0; i < n; ++i) {
            double sum = 0;
            for (long k = 0; k < n; ++k)
                sum += (double)b[i * n + k] * a[k * n + j];
            c[i * n + j] = (float)sum;
            total += sum;
        }
        d[n - 1 - j] = (float)total;
    }
    input_f("A", a, n, n);
    input_f("B", b, n, n);
    expect_f("C", c, n, n);
    expect_f("D", d, n, 0);
    printf(" --rtol 1e-4 --atol 1e-3");
}

/* Values that float16 has: k / 64, so that A and B are exact and the sum is the tensor core's only rounding.
 */
static float *random_halves(const char *name, long rows, long columns) {
    float *values = make((size_t)(rows * columns), sizeof *values);
    uint16_t *bits = make((size_t)(rows * columns), sizeof *bits);
    for (long i = 0; i < rows * columns; ++i) {
        int k = (int)(random_bits() % 257) - 128, magnitude = k < 0 ? -k : k, exponent = 0;
        values[i] = (float)k / 64.0f;
        while (magnitude >> (exponent + 1))
            exponent++;
        if (magnitude)
            bits[i] = (uint16_t)((k < 0 ? 0x8000 : 0) | (exponent - 6 + 15) << 10 |
                                 ((magnitude << (10 - exponent)) & 0x3ff));
    }
    save(name, "<f2", bits, 2, rows, columns);
    argument("arg", name);
    return values;
}

/* D = A * B^T, float16 to float32. The tensor core adds 16 products a step with 24 bits and more, truncated:
 * each of the K / 16 steps loses less than 2^-22 of the largest sum of magnitudes on the way, which is at
 * most 4 K. */
static void gemm16(void) {
    long m = value_of("M", 128), n = value_of("N", 128), k = value_of("K", 64);
    float *a = random_halves("A", m, k), *b = random_halves("B", n, k), *d = make((size_t)(m * n), 4);
    for (long i = 0; i < m; ++i)
        for (long j = 0; j < n; ++j) {
            double sum = 0;
            for (long x = 0; x < k; ++x)
                sum += (double)a[i * k + x] * b[j * k + x];
            d[i * n + j] = (float)sum;
        }
    float *zero = make((size_t)(m * n), 4);
    save("zero", "<f4", zero, 4, m, n);
    printf(" --arg D=%s/zero.npy", folder);
    expect_f("D", d, m, n);
    printf(" --atol %g", 4.0 * (double)k * (double)(k / 16) / 4194304.0);
}

/* float8_e4m3fn: 4 bits of exponent over 7, 3 of mantissa, no infinities. */
static double e4m3(uint8_t code) {
    int exponent = code >> 3 & 15, mantissa = code & 7;
    double magnitude = exponent ? ldexp(8 + mantissa, exponent - 10) : ldexp(mantissa, -9);
    return code & 128 ? -magnitude : magnitude;
}

static uint8_t *random_codes(const char *name, long rows, long columns, int low, int count) {
    uint8_t *codes = make((size_t)(rows * columns), 1);
    for (long i = 0; i < rows * columns; ++i)
        codes[i] = (uint8_t)(low + (int)(random_bits() % (uint32_t)count));
    save(name, "|u1", codes, 1, rows, columns);
    argument("arg", name);
    return codes;
}

/* D = A * B^T, float8_e4m3fn with a factor of float8_e8m0fnu, 2^(code - 127), for 32 elements. Products and
 * scales are exact; a step adds 32 products and the sum so far, each cut 25 bits below the largest, and cuts
 * the sum to 24 bits: K / 32 steps lose less than (33 * 2^-25 + 2^-23) of the largest sum of magnitudes each.
 */
static void gemm_scaled(void) {
    long m = value_of("M", 128), n = value_of("N", 128), k = value_of("K", 128), blocks = k / 32;
    uint8_t *a = random_codes("A", m, k, 0, 256), *b = random_codes("B", n, k, 0, 256);
    for (long i = 0; i < m * k; ++i)
        a[i] = (a[i] & 127) == 127 ? 0 : a[i]; /* no NaN */
    for (long i = 0; i < n * k; ++i)
        b[i] = (b[i] & 127) == 127 ? 0 : b[i];
    save("A", "|u1", a, 1, m, k);
    save("B", "|u1", b, 1, n, k);
    const uint8_t *u = random_codes("SFA", m, blocks, 120, 10), *v = random_codes("SFB", n, blocks, 120, 10);
    float *d = make((size_t)(m * n), 4), *zero = make((size_t)(m * n), 4);
    double largest = 0;
    for (long i = 0; i < m; ++i)
        for (long j = 0; j < n; ++j) {
            double sum = 0, magnitudes = 0;
            for (long x = 0; x < k; ++x) {
                double product = e4m3(a[i * k + x]) * e4m3(b[j * k + x]);
                product = ldexp(product, u[i * blocks + x / 32] + v[j * blocks + x / 32] - 254);
                sum += product;
                magnitudes += fabs(product);
            }
            d[i * n + j] = (float)sum;
            largest = magnitudes > largest ? magnitudes : largest;
        }
    save("zero", "<f4", zero, 4, m, n);
    printf(" --arg D=%s/zero.npy", folder);
    expect_f("D", d, m, n);
    printf(" --atol %g", (double)blocks * (33.0 / 33554432 + 1.0 / 8388608) * largest);
}

int main(int count, char **words) {
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"scale", scale},         {"transpose", transpose},       {"rmsnorm", rmsnorm},
                 {"layernorm", layernorm}, {"softmax", softmax},           {"gemm", gemm},
                 {"gemm16", gemm16},       {"gemm_scaled", gemm_scaled},   {"histogram", histogram},
                 {"scan", scan},           {"row_major", add_one},         {"column_major", add_one},
                 {"shifted", add_one},     {"row_stride_16", add_one},     {"reverse", reverse},
                 {"pair", pair},           {"product", product},           {"collatz", collatz},
                 {"rows", rows},           {"columns", columns},           {"wide", wide},
                 {"bits", bits},           {"rmsnorm_bf16", rmsnorm_bf16}, {"softmax_bf16", softmax_bf16},
                 {"stream", stream}};
    if (count < 3)
        return 2;
    folder = words[2];
    define_count = count - 3;
    defines = words + 3;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
        if (!strcmp(cases[i].name, words[1])) {
            cases[i].run();
            putchar('\n');
            return 0;
        }
    return 2;
}
