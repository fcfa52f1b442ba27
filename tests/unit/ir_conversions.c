/* SPDX-License-Identifier: Apache-2.0
 * Conversions without a machine: every rounding of num, and what the builder folds a cast of a constant to,
 * over all patterns of types up to 16 bits and boundary values of the others, against the slow model. */
#include "unit/unit.h"
#include "number_inputs.h"
#include "unit/ir_help.h"
#include "num/num.h"
#include <math.h>

static num_dtype dtype_of(const model_type *t) {
    return num_dtype_find(t->name, strlen(t->name));
}

/* An exact number as double; every type here but 64-bit integers is a subset of double. */
static double real_of(exact x) {
    double magnitude = x.nan ? NAN : x.infinite ? INFINITY : ldexp((double)x.significand, x.exponent);
    return x.negative ? -magnitude : magnitude;
}

static uint64_t image(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return x != x ? 0 : bits;
}

static void the_model_has_every_type(void **state) {
    (void)state;
    for (int i = 0; i < MODEL_TYPES; i++)
        assert_int_equal(num_dtype_bits(dtype_of(&model_types[i])), model_types[i].bits);
    assert_int_equal(MODEL_TYPES, NUM_DTYPE_COUNT - 1);
}

static void decode(void **state) {
    (void)state;
    for (int i = 0; i < MODEL_TYPES; i++) {
        const model_type *t = &model_types[i];
        if (t->kind != MODEL_FLOAT)
            continue;
        number_list l = number_inputs(t);
        for (size_t k = 0; k < l.count; k++)
            if (image(num_decode(dtype_of(t), l.items[k])) != image(real_of(model_decode(t, l.items[k]))))
                fail_msg("%s %#llx", t->name, (unsigned long long)l.items[k]);
        free(l.items);
    }
}

/* Every float to every float: five roundings, saturated and not. */
static void roundings(void **state) {
    (void)state;
    static const num_rounding modes[] = {NUM_RN, NUM_RZ, NUM_RP, NUM_RM, NUM_RNA};
    for (int i = 0; i < MODEL_TYPES; i++) {
        const model_type *from = &model_types[i];
        if (from->kind != MODEL_FLOAT)
            continue;
        number_list l = number_inputs(from);
        for (int k = 0; k < MODEL_TYPES; k++) {
            const model_type *to = &model_types[k];
            num_dtype dtype = dtype_of(to);
            if (to->kind != MODEL_FLOAT)
                continue;
            for (size_t n = 0; n < l.count; n++) {
                exact value = model_decode(from, l.items[n]);
                double real = real_of(value);
                for (int r = 0; r < 10; r++) {
                    uint64_t want = model_encode(to, value, (model_rounding)(r / 2), r & 1),
                             got = num_encode(dtype, real, modes[r / 2], r & 1);
                    if (got != want)
                        fail_msg("%a to %s, rounding %d, saturating %d: %#llx, expected %#llx", real,
                                 to->name, r / 2, r & 1, (unsigned long long)got, (unsigned long long)want);
                    exact back = model_decode(to, want);
                    if (!(r & 1) && !back.nan && !back.infinite && want != model_largest(to) << to->unused)
                        r++; /* no overflow: saturation has nothing to do */
                }
            }
        }
        free(l.items);
    }
}

static void to_integers(void **state) {
    (void)state;
    static const num_rounding modes[] = {NUM_RN, NUM_RZ, NUM_RP, NUM_RM, NUM_RNA};
    for (int i = 0; i < MODEL_TYPES; i++) {
        const model_type *from = &model_types[i];
        if (from->kind != MODEL_FLOAT)
            continue;
        number_list l = number_inputs(from);
        for (int k = 0; k < MODEL_TYPES; k++) {
            const model_type *to = &model_types[k];
            if (to->kind != MODEL_SIGNED && to->kind != MODEL_UNSIGNED)
                continue;
            for (size_t n = 0; n < l.count; n++) {
                exact value = model_decode(from, l.items[n]);
                for (int r = 0; r < 5; r++) {
                    uint64_t mask = UINT64_MAX >> (64 - to->bits),
                             want = model_to_integer(to->bits, to->kind == MODEL_SIGNED, value,
                                                     (model_rounding)r, 0),
                             got = (uint64_t)num_float_to_integer(dtype_of(to), real_of(value), modes[r]);
                    if ((got & mask) != want)
                        fail_msg("%a to %s, rounding %d: %#llx, expected %#llx", real_of(value), to->name, r,
                                 (unsigned long long)got, (unsigned long long)want);
                }
            }
        }
        free(l.items);
    }
}

/* The constant of these bits. */
static const ir_expr *constant(ir_module *module, const model_type *t, exact value, uint64_t bits) {
    if (t->kind == MODEL_FLOAT)
        return ir_float(module, dtype_of(t), real_of(value));
    return ir_int(module, dtype_of(t), (int64_t)bits);
}

/* Whether an integer type holds the value cut to an integer: it is below the number after the last one. */
static bool fits(const model_type *t, exact value) {
    unsigned digits = t->bits - (t->kind == MODEL_SIGNED ? 1 : 0);
    exact past = {.significand = 1, .exponent = (int)digits};
    if (value.negative && t->kind == MODEL_SIGNED)
        past = exact_of_integer(true, ((uint64_t)1 << digits) + 1);
    else if (value.negative)
        past = exact_of_integer(true, 1);
    return !value.nan && !value.infinite && exact_compare(value, past) < 0;
}

/* A cast of a constant is the constant that the machine would compute; only what hardware leaves open stays:
 * floats to integers that cannot hold them. */
static void folding(void **state) {
    base_builder out;
    ir_module *module = help_parse(*state, "tir 1\n", &out);
    assert_non_null(module);
    num_dtype dtypes[MODEL_TYPES];
    for (int i = 0; i < MODEL_TYPES; i++)
        dtypes[i] = dtype_of(&model_types[i]);
    for (int i = 0; i < MODEL_TYPES; i++) {
        const model_type *from = &model_types[i];
        number_list l = number_inputs(from);
        for (size_t n = 0; n < l.count; n++) {
            exact value = model_decode(from, l.items[n]);
            const ir_expr *number = constant(module, from, value, l.items[n]);
            /* the wide ones are long lists: every third value, another third for each target */
            size_t step = from->bits > 16 ? 3 : 1;
            for (size_t k = n % step; k < MODEL_TYPES; k += step) {
                const model_type *to = &model_types[k];
                const ir_expr *e = ir_cast(module, ir_type_prim(dtypes[k], 1), number);
                uint64_t want = to == from ? l.items[n] : model_cast(to, from, l.items[n]);
                bool open = from->kind == MODEL_FLOAT && to->kind != MODEL_FLOAT && to->kind != MODEL_BOOL;
                if (open && e->op == IR_CAST) {
                    if (fits(to, value))
                        fail_msg("%s %a to %s is not folded", from->name, real_of(value), to->name);
                    continue;
                }
                bool right =
                    to->kind == MODEL_FLOAT
                        ? e->op == IR_FLOAT && image(e->at.real) == image(real_of(model_decode(to, want)))
                        : e->op == IR_INT &&
                              (((uint64_t)e->at.integer ^ want) & (UINT64_MAX >> (64 - to->bits))) == 0;
                if (!right)
                    fail_msg("%s %#llx to %s: folded to %a, %lld, expected %#llx", from->name,
                             (unsigned long long)l.items[n], to->name, e->at.real, (long long)e->at.integer,
                             (unsigned long long)want);
            }
        }
        free(l.items);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(the_model_has_every_type),
        UNIT_WITH_ARENA(decode),
        UNIT_WITH_ARENA(roundings),
        UNIT_WITH_ARENA(to_integers),
        UNIT_WITH_ARENA(folding),
    };
    return cmocka_run_group_tests_name("ir_conversions", tests, NULL, NULL);
}
