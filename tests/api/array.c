/* SPDX-License-Identifier: Apache-2.0
 * Arrays: every dtype through .npy and .npz and back, Fortran order, files of other widths for types that
 * NumPy lacks, files cut at every byte, damaged headers, generators that are the same everywhere, comparison.
 * Prints TAP. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tirc.h>

static int number, bad;
static char folder[512], path[1024];
static tirc_session *session;

static void check(int good, const char *name) {
    printf("%s %d - %s\n", good ? "ok" : "not ok", ++number, name);
    if (good)
        return;
    bad = 1;
    tirc_diagnostics_render(session, TIRC_FORMAT_LINE, false, tirc_sink_file, stderr);
}

static const char *at(const char *name) {
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_bytes(const char *name, const void *data, size_t size) {
    FILE *file = fopen(at(name), "wb");
    if (file) {
        fwrite(data, 1, size, file);
        fclose(file);
    }
}

static size_t read_bytes(const char *name, unsigned char *data, size_t room) {
    FILE *file = fopen(at(name), "rb");
    size_t size = file ? fread(data, 1, room, file) : 0;
    if (file)
        fclose(file);
    return size;
}

static const char *const dtypes[] = {"bool",          "int8",          "int16",        "int32",
                                     "int64",         "uint8",         "uint16",       "uint32",
                                     "uint64",        "float16",       "float32",      "float64",
                                     "bfloat16",      "float8_e4m3fn", "float8_e5m2",  "float8_e8m0fnu",
                                     "float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn"};

/* Values survive a file, and the file is not mistaken for another dtype or shape. */
static void round_trips(const char *file) {
    int64_t shape[2] = {5, 7}, other[2] = {7, 5};
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; ++i) {
        tirc_array out, in;
        tirc_comparison c = {0};
        int good = tirc_array_make(session, "randint:0:4:3", dtypes[i], 2, shape, &out) == TIRC_OK &&
                   tirc_array_write(session, at(file), &out) == TIRC_OK &&
                   tirc_array_read(session, at(file), dtypes[i], 2, shape, &in) == TIRC_OK &&
                   tirc_array_compare(session, &out, &in, 0, 0, &c) == TIRC_OK && !c.different &&
                   c.count == 35 && in.bytes == out.bytes && !memcmp(in.data, out.data, in.bytes) &&
                   tirc_array_read(session, at(file), dtypes[i], 2, other, &in) == TIRC_ERROR &&
                   tirc_array_read(session, at(file), "float64x", 2, shape, &in) == TIRC_ERROR;
        char name[128];
        snprintf(name, sizeof name, "%s through %s", dtypes[i], file);
        check(good, name);
    }
}

static size_t header(unsigned char *out, const char *text) {
    size_t size = strlen(text) + 1, total = (10 + size + 63) / 64 * 64 - 10;
    memcpy(out, "\x93NUMPY\1\0", 8);
    out[8] = (unsigned char)(total & 255);
    out[9] = (unsigned char)(total >> 8);
    memset(out + 10, ' ', total);
    memcpy(out + 10, text, size - 1);
    out[10 + total - 1] = '\n';
    return 10 + total;
}

static void foreign_files(void) {
    unsigned char bytes[512];
    tirc_array array;
    size_t start = header(bytes, "{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3), }");
    int32_t columns[6] = {1, 4, 2, 5, 3, 6};
    memcpy(bytes + start, columns, sizeof columns);
    write_bytes("fortran.npy", bytes, start + sizeof columns);
    int good = tirc_array_read(session, at("fortran.npy"), "int32", 0, NULL, &array) == TIRC_OK;
    for (uint64_t i = 0; good && i < 6; ++i)
        good = tirc_array_value(&array, i) == (double)(i + 1);
    check(good, "Fortran order");

    static const struct {
        const char *descr, *dtype;
        unsigned char data[2];
        double value;
    } bits[] = {{"<V2", "bfloat16", {0x80, 0x3f}, 1},
                {"<u2", "bfloat16", {0x80, 0x3f}, 1},
                {"|V1", "float8_e4m3fn", {0x38, 0}, 1},
                {"|u1", "float8_e5m2", {0x3c, 0}, 1},
                {"|u1", "float4_e2m1fn", {0x07, 0}, 6},
                {"<f2", "float16", {0x00, 0x3c}, 1},
                {"|b1", "bool", {1, 0}, 1}};
    for (size_t i = 0; i < sizeof bits / sizeof bits[0]; ++i) {
        char text[128];
        snprintf(text, sizeof text, "{'shape': (1,), 'fortran_order': False, 'descr': '%s'}", bits[i].descr);
        start = header(bytes, text);
        memcpy(bytes + start, bits[i].data, 2);
        write_bytes("bits.npy", bytes, start + 2);
        snprintf(text, sizeof text, "%s read as %s", bits[i].descr, bits[i].dtype);
        check(tirc_array_read(session, at("bits.npy"), bits[i].dtype, 0, NULL, &array) == TIRC_OK &&
                  tirc_array_value(&array, 0) == bits[i].value,
              text);
    }
    static const char *const broken[] = {
        "{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }",
        "{'descr': '<f4', 'shape': (1,), }",
        "{'descr': 'O', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '<f4",
        ""};
    good = 1;
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; ++i) {
        start = header(bytes, broken[i]);
        write_bytes("broken.npy", bytes, start + 4);
        good &= tirc_array_read(session, at("broken.npy"), NULL, 0, NULL, &array) == TIRC_ERROR;
    }
    check(good, "headers that cannot be read are refused");
}

/* Every prefix of a file, and every byte of it changed: refused or read, never worse. */
static void cut_files(const char *file) {
    static unsigned char whole[4096], damaged[4096];
    int64_t shape[1] = {9};
    tirc_array array;
    int good = tirc_array_make(session, "arange", "float32", 1, shape, &array) == TIRC_OK &&
               tirc_array_write(session, at(file), &array) == TIRC_OK;
    size_t size = read_bytes(file, whole, sizeof whole);
    for (size_t cut = 0; good && cut < size; ++cut) {
        write_bytes("cut.npy", whole, cut);
        good = tirc_array_read(session, at("cut.npy"), "float32", 1, shape, &array) == TIRC_ERROR;
    }
    for (size_t i = 0; good && i < size; ++i) {
        memcpy(damaged, whole, size);
        damaged[i] ^= 0x5a;
        write_bytes("cut.npy", damaged, size);
        tirc_status status = tirc_array_read(session, at("cut.npy"), NULL, 0, NULL, &array);
        good = status == TIRC_OK || status == TIRC_ERROR || status == TIRC_NO_MEMORY;
    }
    char name[64];
    snprintf(name, sizeof name, "%s cut and damaged at every byte", file);
    check(good && size > 100, name);
}

static void generators(void) {
    int64_t shape[1] = {1000};
    tirc_array a, b;
    double sum = 0, squares = 0;
    check(tirc_array_make(session, "randn:7", "float64", 1, shape, &a) == TIRC_OK &&
              tirc_array_make(session, "randn:7", "float64", 1, shape, &b) == TIRC_OK &&
              !memcmp(a.data, b.data, a.bytes) &&
              tirc_array_make(session, "randn:8", "float64", 1, shape, &b) == TIRC_OK &&
              memcmp(a.data, b.data, a.bytes),
          "a seed gives the same values, another seed others");
    for (uint64_t i = 0; i < 1000; ++i) {
        double v = tirc_array_value(&a, i);
        sum += v;
        squares += v * v;
    }
    check(fabs(sum / 1000) < 0.15 && fabs(squares / 1000 - 1) < 0.2, "randn has mean 0 and variance 1");
    /* the exact bits, recorded once: the same on every machine */
    check(fabs(tirc_array_value(&a, 0) - 0.19606932645055353) < 1e-15, "randn:7 starts as recorded");
    check(tirc_array_make(session, "arange", "int32", 1, shape, &a) == TIRC_OK &&
              tirc_array_value(&a, 999) == 999,
          "arange");
    check(tirc_array_make(session, "randint:-5:5:1", "int32", 1, shape, &a) == TIRC_OK, "randint");
    int good = 1;
    for (uint64_t i = 0; i < 1000; ++i)
        good &= tirc_array_value(&a, i) >= -5 && tirc_array_value(&a, i) < 5;
    check(good, "randint keeps its range");
    static const char *const wrong[] = {"randm",       "randn:", "randn:x", "randint:5",
                                        "randint:5:5", "1x",     "",        "zeros:1"};
    good = 1;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i)
        good &= tirc_array_make(session, wrong[i], "float32", 1, shape, &a) == TIRC_ERROR;
    check(good, "generators that are not understood are refused");
    shape[0] = -1;
    check(tirc_array_make(session, "zeros", "float32", 1, shape, &a) == TIRC_ERROR,
          "a negative extent is refused");
    shape[0] = INT64_MAX;
    check(tirc_array_make(session, "zeros", "float32", 1, shape, &a) == TIRC_ERROR,
          "an absurd extent is refused");
}

static void comparisons(void) {
    int64_t shape[2] = {2, 3};
    tirc_array a, b;
    tirc_comparison c;
    tirc_array_make(session, "arange", "float32", 2, shape, &a);
    tirc_array_make(session, "arange", "float32", 2, shape, &b);
    ((float *)a.data)[4] = 4.5f;
    ((float *)a.data)[5] = 5.25f;
    check(tirc_array_compare(session, &a, &b, 0, 0, &c) == TIRC_OK && c.different == 2 && c.first == 4 &&
              c.worst == 4 && c.max_absolute == 0.5 && c.first_actual == 4.5 && c.first_expected == 4,
          "differences are counted and placed");
    check(tirc_array_compare(session, &a, &b, 0, 0.3, &c) == TIRC_OK && c.different == 1,
          "absolute tolerance");
    check(tirc_array_compare(session, &a, &b, 0.2, 0, &c) == TIRC_OK && c.different == 0,
          "relative tolerance");
    ((float *)a.data)[0] = NAN;
    check(tirc_array_compare(session, &a, &b, 1, 1, &c) == TIRC_OK && c.different == 1 && c.first == 0,
          "NaN differs from a number");
    ((float *)b.data)[0] = NAN;
    check(tirc_array_compare(session, &a, &b, 1, 1, &c) == TIRC_OK && c.different == 0, "NaN equals NaN");
    shape[1] = 2;
    tirc_array_make(session, "arange", "float32", 2, shape, &b);
    check(tirc_array_compare(session, &a, &b, 0, 0, &c) == TIRC_ERROR, "shapes must agree");
}

int main(int count, char **words) {
    if (count != 2)
        return 2;
    snprintf(folder, sizeof folder, "%s", words[1]);
    session = tirc_session_create(NULL);
    round_trips("a.npy");
    round_trips("a.npz");
    foreign_files();
    cut_files("b.npy");
    cut_files("b.npz");
    generators();
    comparisons();
    check(tirc_array_read(session, at("none.npy"), NULL, 0, NULL, &(tirc_array){0}) == TIRC_ERROR,
          "a missing file is refused");
    check(tirc_array_write(session, "/nonexistent/x.npy", &(tirc_array){.dtype = "int8"}) == TIRC_ERROR,
          "an impossible place is refused");
    tirc_session_destroy(session);
    printf("1..%d\n", number);
    return bad;
}
