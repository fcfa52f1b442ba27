/* SPDX-License-Identifier: Apache-2.0
 * Kernel files for the benchmark of compile times: factories as people write them, of any length. */
#ifndef TIRC_BENCH_FACTORY_H
#define TIRC_BENCH_FACTORY_H
#include <stdio.h>

typedef struct factory_shape {
    const char *name, *entry;
    int (*generate)(FILE *file, int lines); /* about that many lines; how many they became */
} factory_shape;

enum { FACTORY_PIPELINE, FACTORY_GEMM, FACTORY_ELEMENTWISE, FACTORY_COUNT };
extern const factory_shape factory_shapes[FACTORY_COUNT];
#endif
