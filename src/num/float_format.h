/* SPDX-License-Identifier: Apache-2.0
 * Inside of num: encoding a number that need not be a double. */
#ifndef TIRC_NUM_FLOAT_FORMAT_H
#define TIRC_NUM_FLOAT_FORMAT_H
#include "num/num.h"

/* Encodes significand * 2^exponent with one rounding; exact for every 64-bit significand. */
uint64_t num_encode_parts(num_dtype dtype, bool negative, uint64_t significand, int exponent,
                          num_rounding rounding, bool saturate);
#endif
