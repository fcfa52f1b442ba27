/* SPDX-License-Identifier: Apache-2.0
 * What the files of the generated kernels' test share: a kernel cut out of its file, a failure, one attempt.
 */
#ifndef TIRC_GENERATED_CHECK_H
#define TIRC_GENERATED_CHECK_H
#include "tirc.h"

typedef struct kernel_text {
    char name[32], kind[16]; /* exact, bounded, wraps */
    const char *text;        /* its lines, the comment line first */
    size_t size;
} kernel_text;

typedef struct failure {
    char road[64]; /* which variant, or which step */
    char what[1024];
} failure;

typedef struct settings {
    const char *nvcc, *folder; /* NULL: no nvcc; where temporary files go */
    const char *prelude;
    size_t prelude_size;
    bool all_roads; /* else nvcc only */
    bool gpu;       /* also on a GPU, through its driver */
    int number;     /* of temporary files */
} settings;

/* Runs the kernel on every road; true when all agree. ptx: nvcc's module that has it, or NULL. *runs counts.
 */
bool check_kernel(const settings *s, const kernel_text *kernel, tirc_session *session, tirc_module *ptx,
                  failure *out, unsigned *runs);
/* CUDA text of prelude and these kernels through nvcc, loaded into session; NULL and a reason when it fails.
 */
tirc_module *check_compile(settings *s, const kernel_text *kernels, size_t count, tirc_session *session,
                           failure *out);
bool check_parse(const char *text, size_t size, kernel_text *kernel);
/* A smaller text of the kernel that still fails on the same road; malloc memory. */
char *check_reduce(settings *s, const kernel_text *kernel, const failure *found);
#endif
