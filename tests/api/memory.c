/* SPDX-License-Identifier: Apache-2.0
 * Failing allocations: load, emit and run with the n-th allocation failing, for every n until one run has
 * enough. Nothing may crash or leak (the hook counts), and every failure is a status. Prints TAP. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tirc.h>

static const char script[] = "from tvm_tirx.script import tirx as T\n"
                             "@T.function\n"
                             "def k(X: T.Tensor((64,), 'float32'), Y: T.Tensor((64,), 'float32')):\n"
                             "    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(64,)))\n"
                             "    t = T.cuda.thread_idx('x')\n"
                             "    s = T.alloc_shared((64,), 'float32')\n"
                             "    s[t] = X[t]\n"
                             "    T.cuda.cta_sync()\n"
                             "    Y[t] = s[63 - t]\n";
static long allocations, fail_at, live;

static void *hook(void *user, void *old, size_t old_size, size_t new_size) {
    (void)user;
    if (!new_size) {
        live -= (long)old_size;
        free(old);
        return NULL;
    }
    if (allocations++ == fail_at)
        return NULL;
    void *data = realloc(old, new_size);
    if (data)
        live += (long)new_size - (long)old_size;
    return data;
}

static bool drop(void *user, const char *data, size_t size) {
    (void)user, (void)data, (void)size;
    return true;
}

/* True when everything could be allocated. */
static bool attempt(int *bad) {
    tirc_options options = {.size = sizeof options, .allocate = hook};
    static float x[64], y[64];
    int64_t shape[1] = {64};
    tirc_argument arguments[2] = {{.name = "X", .data = x, .rank = 1, .shape = shape, .bytes = sizeof x},
                                  {.name = "Y", .data = y, .rank = 1, .shape = shape, .bytes = sizeof y}};
    tirc_source source = {
        .size = sizeof source, .name = "k.py", .text = script, .text_size = sizeof script - 1};
    tirc_launch launch = {.size = sizeof launch, .arguments = arguments, .argument_count = 2, .threads = 1};
    tirc_module *module = NULL;
    tirc_session *session = tirc_session_create(&options);
    tirc_status status = session ? tirc_load(session, &source, &module) : TIRC_NO_MEMORY;
    if (status == TIRC_OK)
        status = tirc_emit(module, TIRC_EMIT_CUDA, NULL, drop, NULL);
    if (status == TIRC_OK)
        status = tirc_emit(module, TIRC_EMIT_PTX, NULL, drop, NULL);
    if (status == TIRC_OK)
        status = tirc_run(module, &launch, NULL);
    tirc_session_destroy(session);
    if (status != TIRC_OK && status != TIRC_NO_MEMORY) {
        printf("# allocation %ld: status %s\n", fail_at, tirc_status_name(status));
        ++*bad;
    }
    if (live) {
        printf("# allocation %ld: %ld bytes not freed\n", fail_at, live);
        live = 0;
        ++*bad;
    }
    return status == TIRC_OK;
}

/* Modules that are destroyed leave nothing that grows but their sources; one that was run stays. */
static int compile_many(void) {
    enum { TIMES = 200, WARM = 20 };
    tirc_options options = {.size = sizeof options, .allocate = hook};
    tirc_source source = {
        .size = sizeof source, .name = "k.py", .text = script, .text_size = sizeof script - 1};
    tirc_source broken = source;
    static float x[64], y[64];
    int64_t shape[1] = {64};
    tirc_argument arguments[2] = {{.name = "X", .data = x, .rank = 1, .shape = shape, .bytes = sizeof x},
                                  {.name = "Y", .data = y, .rank = 1, .shape = shape, .bytes = sizeof y}};
    tirc_launch launch = {.size = sizeof launch, .arguments = arguments, .argument_count = 2, .threads = 1};
    tirc_session *session = tirc_session_create(&options);
    tirc_module *module = NULL;
    long warm = 0;
    int bad = 0;
    broken.text_size /= 2;
    for (int i = 0; i < TIMES; ++i) {
        bad += tirc_load(session, &source, &module) != TIRC_OK ||
               tirc_emit(module, TIRC_EMIT_CUDA, NULL, drop, NULL) != TIRC_OK ||
               tirc_emit(module, TIRC_EMIT_PTX, NULL, drop, NULL) != TIRC_OK ||
               tirc_module_destroy(module) != TIRC_OK;
        warm = i == WARM ? live : warm;
    }
    if (live - warm > (TIMES - WARM) * (long)(sizeof script + 2048)) {
        printf("# %ld bytes more after %d modules\n", live - warm, TIMES - WARM);
        ++bad;
    }
    bad += tirc_load(session, &broken, &module) == TIRC_OK || module != NULL;
    bad += tirc_load(session, &source, &module) != TIRC_OK || tirc_run(module, &launch, NULL) != TIRC_OK ||
           tirc_module_destroy(module) != TIRC_USAGE || tirc_kernel_count(module) != 1 ||
           tirc_run(module, &launch, NULL) != TIRC_OK;
    bad += tirc_module_destroy(NULL) != TIRC_OK;
    tirc_session_destroy(session);
    return bad + (live != 0);
}

int main(void) {
    int bad = 0, done = 0, leaks;
    for (fail_at = 0; fail_at < 100000 && !done && bad < 5; ++fail_at) {
        allocations = 0;
        done = attempt(&bad);
    }
    printf("%s 1 - the n-th allocation fails, for every n up to %ld\n", bad || !done ? "not ok" : "ok",
           fail_at);
    fail_at = -1;
    live = 0;
    leaks = compile_many();
    printf("%s 2 - modules of a long session give their memory back\n1..2\n", leaks ? "not ok" : "ok");
    return bad || !done || leaks;
}
