/* SPDX-License-Identifier: Apache-2.0
 * Pieces shared by the array functions. Private to api/. */
#ifndef TIRC_API_API_ARRAY_H
#define TIRC_API_API_ARRAY_H
#include "api/api_private.h"
#include "num/dtype.h"

/* One element's bits, zero-extended; sub-byte types are packed low bits first. */
uint64_t api_array_bits(num_dtype dtype, const void *data, uint64_t index);
void api_array_put(num_dtype dtype, void *data, uint64_t index, uint64_t bits);
/* Reports an error without a place; returns TIRC_ERROR. */
tirc_status api_array_fail(tirc_session *session, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Fills everything but data, with range checks. */
tirc_status api_array_allocate(tirc_session *session, num_dtype dtype, uint32_t rank, const int64_t *shape,
                               tirc_array *array);
tirc_status api_array_data(tirc_session *session, tirc_array *array);
#endif
