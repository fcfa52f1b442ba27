/* SPDX-License-Identifier: Apache-2.0
 * Arrays of the public interface: generated inputs, single elements, comparison. Generators use only IEEE
 * operations, so that the same seed gives the same bytes on every machine. */
#include "api/api_array.h"
#include "num/num.h"
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool tirc_dtype_find(const char *name, tirc_dtype *dtype) {
    num_dtype found = name ? num_dtype_find(name, strlen(name)) : NUM_DTYPE_NONE;
    if (found == NUM_DTYPE_NONE || !dtype)
        return false;
    static const char kinds[] = {
        [NUM_BOOL] = 'b', [NUM_SIGNED] = 'i', [NUM_UNSIGNED] = 'u', [NUM_FLOAT] = 'f'};
    *dtype = (tirc_dtype){num_dtype_name(found), num_dtype_bits(found), kinds[num_dtype_class(found)]};
    return true;
}

static double decode(num_dtype dtype, uint64_t bits) {
    if (num_dtype_is_float(dtype))
        return num_decode(dtype, bits);
    int64_t value = num_wrap(dtype, (int64_t)bits);
    if (num_dtype_class(dtype) == NUM_SIGNED)
        return (double)value;
    return (double)(uint64_t)value;
}

static uint64_t encode(num_dtype dtype, double value) {
    if (num_dtype_is_float(dtype))
        return num_encode(dtype, value, NUM_RN, false);
    if (num_dtype_class(dtype) == NUM_BOOL)
        return value != 0;
    return (uint64_t)num_float_to_integer(dtype, value, NUM_RN);
}

double tirc_dtype_decode(const char *dtype, uint64_t bits) {
    num_dtype found = dtype ? num_dtype_find(dtype, strlen(dtype)) : NUM_DTYPE_NONE;
    return found == NUM_DTYPE_NONE ? NAN : decode(found, bits);
}

uint64_t tirc_dtype_encode(const char *dtype, double value) {
    num_dtype found = dtype ? num_dtype_find(dtype, strlen(dtype)) : NUM_DTYPE_NONE;
    return found == NUM_DTYPE_NONE ? 0 : encode(found, value);
}

/* ---- elements; sub-byte types are packed, low bits first ---- */
uint64_t api_array_bits(num_dtype dtype, const void *data, uint64_t index) {
    unsigned width = num_dtype_storage_bits(dtype);
    const uint8_t *bytes = data;
    uint64_t bits = 0;
    if (width >= 8) {
        memcpy(&bits, bytes + index * (width / 8), width / 8);
        return bits;
    }
    uint64_t at = index * width;
    for (unsigned i = 0; i < width; ++i)
        bits |= (uint64_t)((bytes[(at + i) / 8] >> ((at + i) % 8)) & 1) << i;
    return bits;
}

void api_array_put(num_dtype dtype, void *data, uint64_t index, uint64_t bits) {
    unsigned width = num_dtype_storage_bits(dtype);
    uint8_t *bytes = data;
    if (width >= 8) {
        memcpy(bytes + index * (width / 8), &bits, width / 8);
        return;
    }
    uint64_t at = index * width;
    for (unsigned i = 0; i < width; ++i) {
        uint8_t mask = (uint8_t)(1u << ((at + i) % 8));
        bytes[(at + i) / 8] =
            (uint8_t)((bits >> i) & 1 ? bytes[(at + i) / 8] | mask : bytes[(at + i) / 8] & ~mask);
    }
}

double tirc_array_value(const tirc_array *array, uint64_t index) {
    num_dtype dtype =
        array && array->dtype ? num_dtype_find(array->dtype, strlen(array->dtype)) : NUM_DTYPE_NONE;
    if (dtype == NUM_DTYPE_NONE || index >= array->count)
        return NAN;
    return decode(dtype, api_array_bits(dtype, array->data, index));
}

/* ---- making ---- */
tirc_status api_array_fail(tirc_session *session, const char *code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    base_report_list(session->diagnostics, BASE_ERROR, code, BASE_NO_SPAN, format, arguments);
    va_end(arguments);
    return TIRC_ERROR;
}

tirc_status api_array_allocate(tirc_session *session, num_dtype dtype, uint32_t rank, const int64_t *shape,
                               tirc_array *array) {
    memset(array, 0, sizeof *array);
    if (rank > TIRC_RANK_MAX)
        return api_array_fail(session, "T0813", "an array of rank %u; the most is %d", rank, TIRC_RANK_MAX);
    array->dtype = num_dtype_name(dtype);
    array->rank = rank;
    array->count = 1;
    for (uint32_t d = 0; d < rank; ++d) {
        array->shape[d] = shape[d];
        if (shape[d] < 0 || __builtin_mul_overflow(array->count, (uint64_t)shape[d], &array->count) ||
            array->count > UINT64_C(1) << 46)
            return api_array_fail(session, "T0813",
                                  "axis %u has %" PRId64 " elements: the array is not possible", d, shape[d]);
    }
    array->bytes = (array->count * num_dtype_storage_bits(dtype) + 7) / 8;
    array->data = NULL; /* the caller allocates: another heap */
    return TIRC_OK;
}

typedef struct data_call {
    tirc_session *session;
    tirc_array *array;
    tirc_status status;
} data_call;

static void data_body(void *argument) {
    data_call *call = argument;
    char *raw = base_arena_allocate(call->session->array_arena, call->array->bytes + 64);
    call->array->data = raw + (64 - (uintptr_t)raw % 64) % 64;
}

tirc_status api_array_data(tirc_session *session, tirc_array *array) {
    data_call call = {session, array, TIRC_OK};
    tirc_status status = api_protect(session->arrays, data_body, &call, &call.status);
    if (status != TIRC_OK)
        api_array_fail(session, "T0814", "no memory for an array of %" PRIu64 " bytes", array->bytes);
    return status;
}

/* splitmix64: a counter through a mixing function; the usual constants. */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static double next_uniform(uint64_t *state) {
    return (double)(next_random(state) >> 11) * 0x1p-53;
}

/* Natural logarithm by atanh series; libm's may differ in the last bit between machines. */
static double portable_log(double x) {
    int exponent;
    double m = frexp(x, &exponent);
    if (m < 0.70710678118654752) {
        m *= 2;
        --exponent;
    }
    double t = (m - 1) / (m + 1), t2 = t * t, term = t, sum = 0;
    for (int k = 1; k < 40; k += 2) {
        sum += term / k;
        term *= t2;
    }
    return 2 * sum + exponent * 0.69314718055994531;
}

/* Marsaglia's polar method: two normal values a round. */
static double next_normal(uint64_t *state, double *spare, bool *has_spare) {
    if (*has_spare) {
        *has_spare = false;
        return *spare;
    }
    double u, v, s;
    do {
        u = 2 * next_uniform(state) - 1;
        v = 2 * next_uniform(state) - 1;
        s = u * u + v * v;
    } while (s >= 1 || s == 0);
    double scale = sqrt(-2 * portable_log(s) / s);
    *spare = v * scale;
    *has_spare = true;
    return u * scale;
}

typedef enum fill_kind { FILL_VALUE, FILL_ARANGE, FILL_NORMAL, FILL_UNIFORM, FILL_INTEGER } fill_kind;
typedef struct fill {
    fill_kind kind;
    double value, low, high;
    uint64_t seed;
} fill;

static bool read_number(const char **text, double *value) {
    char *end;
    *value = strtod(*text, &end);
    if (end == *text)
        return false;
    *text = end;
    return true;
}

static bool skip_colon(const char **text) {
    if (**text != ':')
        return false;
    ++*text;
    return true;
}

static bool read_fill(const char *spec, fill *out) {
    static const struct {
        const char *word;
        fill_kind kind;
        double value;
    } words[] = {{"zeros", FILL_VALUE, 0},  {"ones", FILL_VALUE, 1},      {"arange", FILL_ARANGE, 0},
                 {"randn", FILL_NORMAL, 0}, {"randint", FILL_INTEGER, 0}, {"rand", FILL_UNIFORM, 0}};
    double number = 0;
    *out = (fill){0};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i) {
        size_t size = strlen(words[i].word);
        if (strncmp(spec, words[i].word, size) || (spec[size] && spec[size] != ':'))
            continue;
        const char *rest = spec + size;
        out->kind = words[i].kind;
        out->value = words[i].value;
        if (out->kind == FILL_INTEGER &&
            (!skip_colon(&rest) || !read_number(&rest, &out->low) || !skip_colon(&rest) ||
             !read_number(&rest, &out->high) || !(out->low < out->high) || fabs(out->low) > 0x1p62 ||
             fabs(out->high) > 0x1p62))
            return false;
        if (out->kind >= FILL_NORMAL && skip_colon(&rest)) {
            if (!read_number(&rest, &number) || number < 0 || number > 0x1p63)
                return false;
            out->seed = (uint64_t)number;
        }
        return !*rest;
    }
    out->kind = FILL_VALUE;
    return read_number(&spec, &out->value) && !*spec;
}

static void fill_array(const fill *how, num_dtype dtype, tirc_array *array) {
    uint64_t state = how->seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    double spare = 0, value = how->value;
    bool has_spare = false;
    uint64_t constant = encode(dtype, how->value);
    if (how->kind == FILL_VALUE && !constant)
        return; /* fresh memory is zero */
    for (uint64_t i = 0; i < array->count; ++i) {
        switch (how->kind) {
        case FILL_VALUE:
            api_array_put(dtype, array->data, i, constant);
            continue;
        case FILL_ARANGE:
            if (!num_dtype_is_float(dtype)) {
                api_array_put(dtype, array->data, i, (uint64_t)num_wrap(dtype, (int64_t)i));
                continue;
            }
            value = (double)i;
            break;
        case FILL_NORMAL:
            value = next_normal(&state, &spare, &has_spare);
            break;
        case FILL_UNIFORM:
            value = next_uniform(&state);
            break;
        case FILL_INTEGER:
            value = how->low + floor(next_uniform(&state) * (how->high - how->low));
            break;
        }
        api_array_put(dtype, array->data, i, encode(dtype, value));
    }
}

typedef struct make_call {
    tirc_session *session;
    const char *spec, *dtype;
    uint32_t rank;
    const int64_t *shape;
    tirc_array *array;
    tirc_status status;
} make_call;

static void make_body(void *argument) {
    make_call *call = argument;
    num_dtype dtype = num_dtype_find(call->dtype, strlen(call->dtype));
    fill how;
    if (dtype == NUM_DTYPE_NONE) {
        call->status = api_array_fail(call->session, "T0815", "`%s` is not a dtype", call->dtype);
        return;
    }
    if (!read_fill(call->spec, &how)) {
        call->status =
            api_array_fail(call->session, "T0815",
                           "`%s` is neither a file nor zeros, ones, arange, randn[:SEED], rand[:SEED], "
                           "randint:LOW:HIGH[:SEED] or a number",
                           call->spec);
        return;
    }
    call->status = api_array_allocate(call->session, dtype, call->rank, call->shape, call->array);
    if (call->status == TIRC_OK)
        call->status = api_array_data(call->session, call->array);
    if (call->status == TIRC_OK)
        fill_array(&how, dtype, call->array);
}

tirc_status tirc_array_make(tirc_session *session, const char *spec, const char *dtype, uint32_t rank,
                            const int64_t *shape, tirc_array *array) {
    if (!session || !spec || !dtype || !array || (rank && !shape))
        return TIRC_USAGE;
    make_call call = {session, spec, dtype, rank, shape, array, TIRC_OK};
    return api_protect(session->heap, make_body, &call, &call.status);
}

/* ---- comparison ---- */
static void compare_elements(const tirc_array *actual, const tirc_array *expected, double rtol, double atol,
                             tirc_comparison *out) {
    num_dtype a_type = num_dtype_find(actual->dtype, strlen(actual->dtype));
    num_dtype e_type = num_dtype_find(expected->dtype, strlen(expected->dtype));
    double worst = -1;
    for (uint64_t i = 0; i < actual->count; ++i) {
        uint64_t a_bits = api_array_bits(a_type, actual->data, i),
                 e_bits = api_array_bits(e_type, expected->data, i);
        double a = decode(a_type, a_bits), e = decode(e_type, e_bits);
        if (a == e || (isnan(a) && isnan(e)) || (a_type == e_type && a_bits == e_bits))
            if (a_type != e_type || num_dtype_bits(a_type) < 64 || num_dtype_is_float(a_type) ||
                a_bits == e_bits)
                continue;
        double difference = fabs(a - e);
        if (isnan(difference))
            difference = INFINITY;
        double relative = e != 0 && !isnan(e) ? difference / fabs(e) : INFINITY;
        if (difference > worst) {
            worst = difference;
            out->worst = i;
            out->worst_actual = a;
            out->worst_expected = e;
        }
        if (difference > out->max_absolute)
            out->max_absolute = difference;
        if (relative > out->max_relative && e != 0)
            out->max_relative = relative;
        if (difference <= atol + rtol * fabs(e) && difference < INFINITY)
            continue;
        if (!out->different++) {
            out->first = i;
            out->first_actual = a;
            out->first_expected = e;
        }
    }
}

typedef struct compare_call {
    tirc_session *session;
    const tirc_array *actual, *expected;
    tirc_status status;
} compare_call;

static void compare_check(void *argument) {
    compare_call *call = argument;
    const tirc_array *a = call->actual, *e = call->expected;
    call->status = TIRC_OK;
    bool same = a->rank == e->rank;
    for (uint32_t d = 0; same && d < a->rank; ++d)
        same = a->shape[d] == e->shape[d];
    if (!same)
        call->status = api_array_fail(call->session, "T0816",
                                      "the arrays have different shapes: rank %u with %" PRIu64
                                      " elements against rank %u with %" PRIu64,
                                      a->rank, a->count, e->rank, e->count);
}

tirc_status tirc_array_compare(tirc_session *session, const tirc_array *actual, const tirc_array *expected,
                               double rtol, double atol, tirc_comparison *comparison) {
    if (!session || !actual || !expected || !comparison)
        return TIRC_USAGE;
    *comparison = (tirc_comparison){.count = actual->count};
    compare_call call = {session, actual, expected, TIRC_OK};
    tirc_status status = api_protect(session->heap, compare_check, &call, &call.status);
    if (status == TIRC_OK)
        compare_elements(actual, expected, rtol, atol, comparison);
    return status;
}
