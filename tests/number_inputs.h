/* SPDX-License-Identifier: Apache-2.0
 * Inputs for tests of conversions: all patterns of narrow types; of wide ones the values around everything
 * that a target can hold, and around the middles, where rounding decides. */
#ifndef TIRC_TESTS_NUMBER_INPUTS_H
#define TIRC_TESTS_NUMBER_INPUTS_H
#include "number_model.h"
#include <stddef.h>
#include <stdlib.h>

typedef struct number_list {
    uint64_t *items;
    size_t count, room;
} number_list;

static inline void add(number_list *l, uint64_t bits) {
    if (l->count == l->room) {
        l->room = l->room ? l->room * 2 : 1024;
        l->items = realloc(l->items, l->room * sizeof *l->items);
        if (!l->items)
            abort();
    }
    l->items[l->count++] = bits;
}

/* A value and its two neighbours in a float type, both signs. */
static inline void add_around(number_list *l, const model_type *t, exact value) {
    uint64_t code = model_encode(t, value, ROUND_RZ, true), unit = (uint64_t)1 << t->unused;
    for (int step = -1; step <= 1; step++) {
        uint64_t bits = step < 0 ? (code >= unit ? code - unit : code) : code + (uint64_t)step * unit;
        add(l, bits);
        add(l, bits | model_sign(t) << t->unused);
    }
}

/* Around every number of a narrow type, and around the middle of every two; of 16-bit types around those
 * whose mantissa is near one of its ends. */
static inline void add_targets(number_list *l, const model_type *source, const model_type *target,
                               bool every) {
    uint64_t mantissas = (uint64_t)1 << target->mantissa;
    for (uint64_t code = 0; code <= model_largest(target); code++) {
        uint64_t mantissa = code % mantissas;
        if (!every && target->bits == 16 && mantissa > 2 && mantissa < mantissas - 2)
            continue;
        exact value = model_magnitude(target, code), middle = value;
        middle.significand = 2 * value.significand + 1, middle.exponent--;
        add_around(l, source, value);
        add_around(l, source, middle);
    }
}

static inline void add_integer(number_list *l, const model_type *t, uint64_t magnitude) {
    uint64_t mask = t->bits < 64 ? ((uint64_t)1 << t->bits) - 1 : UINT64_MAX;
    for (int step = -1; step <= 1; step++) {
        add(l, (magnitude + (uint64_t)step) & mask);
        add(l, (0 - magnitude + (uint64_t)step) & mask);
    }
}

/* Powers of two, the middles between numbers of 8, 11 and 24 digits, and what lies beside them. */
static inline void add_integers(number_list *l, const model_type *t) {
    static const unsigned digits[] = {1, 2, 3, 4, 5, 8, 9, 11, 12, 24, 25, 53, 54};
    for (unsigned k = 0; k < t->bits; k++)
        for (size_t d = 0; d < sizeof digits / sizeof digits[0]; d++) {
            uint64_t top = (uint64_t)1 << k, low = digits[d] <= k ? top >> digits[d] : 0;
            add_integer(l, t, top);
            add_integer(l, t, top + low);
            add_integer(l, t, top + 3 * low);
        }
    static const uint64_t named[] = {259, 33000, 65504, 65519, 65520, 57344, 61439, 61440, 448, 464, 465};
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++)
        add_integer(l, t, named[i]);
}

static inline number_list number_inputs(const model_type *t) {
    number_list l = {0};
    if (t->kind == MODEL_BOOL) {
        add(&l, 0);
        add(&l, 1);
    } else if (t->bits <= 16) {
        for (uint64_t i = 0; i >> t->bits == 0; i++)
            add(&l, i);
    } else if (t->kind != MODEL_FLOAT) {
        add_integers(&l, t);
    } else {
        for (int i = 0; i < MODEL_TYPES; i++)
            if (model_types[i].kind == MODEL_FLOAT && model_types[i].bits <= 16)
                add_targets(&l, t, &model_types[i], false);
        for (int k = 0; k <= 65; k++) /* limits of integers, and halves */
            for (int odd = 1; odd <= 3; odd += 2) {
                add_around(&l, t, (exact){.significand = (uint64_t)odd, .exponent = k - 2});
                if (k > 2 && k < 64)
                    add_around(&l, t, exact_of_integer(false, ((uint64_t)1 << k) - 1));
            }
        const model_type *single = model_find("float32");
        if (t->bits == 64)
            for (uint64_t field = 0; field < 256; field++)
                for (uint64_t low = 0; low < 3; low++) {
                    exact value = model_magnitude(single, field << 23 | low), middle = value;
                    middle.significand = 2 * value.significand + 1, middle.exponent--;
                    add_around(&l, t, value);
                    add_around(&l, t, middle);
                }
        uint64_t past = (model_largest(t) + 1) << t->unused; /* infinity, and NaN after it */
        for (uint64_t i = 0; i < 3; i++) {
            add(&l, past + (i << t->unused));
            add(&l, (past + (i << t->unused)) | model_sign(t) << t->unused);
        }
        add_around(&l, t, model_magnitude(t, model_largest(t) - 1));
    }
    for (size_t i = 0; l.count % 256; i++) /* whole blocks, two elements a thread */
        add(&l, l.items[i]);
    return l;
}

#endif
