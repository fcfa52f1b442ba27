/* SPDX-License-Identifier: Apache-2.0
 * The library's GPU calls: load once, data that stays on the device, calls by name and by value, DLPack,
 * refusals. Prints TAP; the driver is the one that TIRC_LIBCUDA names, or a real one. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tirc.h"

static int number, bad;
static void check(int condition, const char *what) {
    printf("%s %d - %s\n", condition ? "ok" : "not ok", ++number, what);
    bad |= !condition;
}

static const char script[] =
    "@Tx.function\n"
    "def scale(A: Tx.Tensor((N, 32), \"float32\"), B: Tx.Tensor((N, 32), \"float32\"), factor: Tx.float32):\n"
    "    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(N,), block=(32,)))\n"
    "    row = Tx.cuda.block_idx(\"x\")\n"
    "    t = Tx.cuda.thread_idx(\"x\")\n"
    "    B[row, t] = A[row, t] * factor\n";

static const char *last_code(tirc_session *session) {
    tirc_diagnostic at = {0};
    size_t count = tirc_diagnostic_count(session);
    return count && tirc_diagnostic_at(session, count - 1, &at) ? at.code : "";
}

static const char *last_text(tirc_session *session) {
    tirc_diagnostic at = {0};
    size_t count = tirc_diagnostic_count(session);
    return count && tirc_diagnostic_at(session, count - 1, &at) ? at.text : "";
}

/* A refusal with this code, whose text and help have these words. */
static int refused(tirc_session *session, tirc_status status, const char *code, const char *words,
                   const char *help) {
    tirc_diagnostic at = {0};
    size_t count = tirc_diagnostic_count(session);
    bool good = status == TIRC_ERROR && count && tirc_diagnostic_at(session, count - 1, &at) &&
                !strcmp(at.code, code) && strstr(at.text, words) && at.help && strstr(at.help, help);
    if (!good)
        printf("# %s: %s; %s\n", at.code ? at.code : "", at.text ? at.text : "",
               at.help ? at.help : "no help");
    return good;
}

/* DLPack's DLTensor as its header lays it out. */
typedef struct dl_tensor {
    void *data;
    int32_t device_type, device_id, rank;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} dl_tensor;

static void refusals(tirc_session *session, tirc_gpu_kernel *kernel, uint64_t a, uint64_t b) {
    float factor = 2;
    void *values[] = {&a, &b, &factor};
    tirc_gpu_launch launch = {
        .size = sizeof launch, .grid = {4, 1, 1}, .block = {2048, 1, 1}, .parameters = values};
    check(refused(session, tirc_gpu_start(kernel, &launch), "T0917", "block.x is 2048; ",
                  "at most 1024 threads in all"),
          "block over 1024");
    launch.block[0] = 512, launch.block[1] = 4;
    check(refused(session, tirc_gpu_start(kernel, &launch), "T0917",
                  "a block of 2048 threads; kernel `scale_kernel`", "fewer threads"),
          "block over 1024 by its product");
    launch.block[1] = 1;
    launch.block[0] = 32;
    launch.grid[0] = 0;
    check(refused(session, tirc_gpu_start(kernel, &launch), "T0917", "grid.x is 0; ", "nothing to do"),
          "empty grid");
    launch.grid[0] = 4, launch.grid[1] = 65536;
    check(
        refused(session, tirc_gpu_start(kernel, &launch), "T0917", "grid.y is 65536; ", "grid.x takes more"),
        "grid too long in y");
    launch.grid[1] = 1;
    launch.grid[0] = 4;
    launch.cluster[0] = 3, launch.cluster[1] = launch.cluster[2] = 1;
    check(refused(session, tirc_gpu_start(kernel, &launch), "T0917",
                  "grid.x is 4, no multiple of cluster.x, 3", "whole clusters: 6 CTAs"),
          "cluster that does not divide the grid");
    launch.grid[0] = 16;
    launch.cluster[0] = 16;
    check(refused(session, tirc_gpu_start(kernel, &launch), "T0917", "a cluster of 16 CTAs; more than 8",
                  "allow_non_portable"),
          "cluster of 16 that was not allowed");
    launch.cluster[0] = 0;
    launch.dynamic_shared_bytes = 232449;
    check(refused(session, tirc_gpu_start(kernel, &launch), "T0916",
                  "needs 232449 bytes of dynamic and 0 of static shared memory; ", "1 bytes too many"),
          "more shared memory than the device has");
    launch.grid[0] = 4;
    launch.dynamic_shared_bytes = 100000;
    check(tirc_gpu_start(kernel, &launch) == TIRC_OK, "100000 bytes by opt-in");
    launch.dynamic_shared_bytes = 1000;
    check(tirc_gpu_start(kernel, &launch) == TIRC_OK, "then fewer");
    launch.dynamic_shared_bytes = 100000;
    check(tirc_gpu_start(kernel, &launch) == TIRC_OK, "then as many again");
    launch.dynamic_shared_bytes = 0;
    if (getenv("FAKE_TRACE")) { /* a real driver follows the pointer */
        launch.stream = (void *)(uintptr_t)4660;
        check(tirc_gpu_start(kernel, &launch) == TIRC_OK, "on a stream of the caller");
    }
}

static void by_name(tirc_session *session, tirc_gpu *gpu, tirc_gpu_kernel *kernel, uint64_t a, uint64_t b) {
    int64_t shape[2] = {4, 32}, wrong[2] = {4, 31};
    float factor = 3, out[128];
    dl_tensor from = {(void *)(uintptr_t)a, 2, 0, 2, 2, 32, 1, shape, NULL, 0};
    tirc_argument arguments[3] = {{0}};
    bool on_device = false;
    check(tirc_argument_dlpack(&from, "A", &arguments[0], &on_device) == TIRC_OK && on_device &&
              !strcmp(arguments[0].dtype, "float32") && arguments[0].bytes == 512,
          "a DLTensor on the device");
    from.data = (void *)(uintptr_t)(b - 16);
    from.byte_offset = 16;
    check(tirc_argument_dlpack(&from, "B", &arguments[1], NULL) == TIRC_OK &&
              (uint64_t)(uintptr_t)arguments[1].data == b,
          "with a byte offset");
    arguments[2] = (tirc_argument){
        .name = "factor", .data = &factor, .dtype = "float32", .bytes = sizeof factor, .is_scalar = true};
    check(tirc_gpu_call(kernel, arguments, 3, NULL) == TIRC_OK && tirc_gpu_wait(gpu, NULL) == TIRC_OK &&
              tirc_gpu_read(gpu, out, b, sizeof out) == TIRC_OK && out[127] == 3 * 127.f,
          "a call by name");
    arguments[0].data = (void *)(uintptr_t)(a + 16);
    check(tirc_gpu_call(kernel, arguments, 3, NULL) == TIRC_ERROR && !strcmp(last_code(session), "T0922") &&
              strstr(last_text(session), "`A` is at address 0x") &&
              strstr(last_text(session), "declares align=64"),
          "a call with a tensor that is not aligned as declared");
    arguments[0].data = (void *)(uintptr_t)a;
    arguments[0].dtype = "float16";
    check(tirc_gpu_call(kernel, arguments, 3, NULL) == TIRC_ERROR && strstr(last_text(session), "float16") &&
              strstr(last_text(session), "float32"),
          "a call with a wrong dtype");
    arguments[0].dtype = "float32";
    arguments[0].rank = 1;
    check(tirc_gpu_call(kernel, arguments, 3, NULL) == TIRC_ERROR && strstr(last_text(session), "`A`"),
          "a call with a wrong rank");
    arguments[0].rank = 2;
    arguments[1].shape = wrong;
    check(tirc_gpu_call(kernel, arguments, 3, NULL) == TIRC_ERROR && !strcmp(last_code(session), "T0806"),
          "a call with a wrong shape");
    int64_t transposed[2] = {1, 4};
    from.strides = transposed;
    check(tirc_argument_dlpack(&from, "A", &arguments[0], NULL) == TIRC_ERROR,
          "a DLTensor that is not in C order");
    from.strides = NULL;
    from.lanes = 4;
    check(tirc_argument_dlpack(&from, "A", &arguments[0], NULL) == TIRC_ERROR, "a DLTensor of vectors");
}

int main(void) {
    tirc_session *session = tirc_session_create(NULL);
    tirc_define four = {"N", "4"};
    tirc_source source = {.size = sizeof source,
                          .name = "scale.py",
                          .text = script,
                          .text_size = strlen(script),
                          .defines = &four,
                          .define_count = 1};
    tirc_module *module = NULL;
    tirc_gpu *gpu = NULL;
    tirc_gpu_kernel *kernel = NULL, *again = NULL;
    int32_t count = 0;
    check(tirc_gpu_count(session, &count) == TIRC_OK && count >= 1, "a device");
    check(tirc_gpu_open(session, 99, &gpu) == TIRC_INCOMPLETE && !strcmp(last_code(session), "T0910"),
          "device 99");
    check(tirc_gpu_open(session, 0, &gpu) == TIRC_OK, "device 0");
    check(tirc_load(session, &source, &module) == TIRC_OK, "load a script");
    check(tirc_gpu_load(gpu, module, NULL, NULL, &kernel) == TIRC_OK, "compile and load it");
    check(tirc_gpu_load(gpu, module, "scale", NULL, &again) == TIRC_OK, "a second time");
    check(tirc_gpu_load(gpu, module, "absent", NULL, &again) == TIRC_ERROR, "no such kernel");
    uint64_t a = 0, b = 0;
    float in[128], out[128], factor = 1.5f;
    for (int i = 0; i < 128; i++)
        in[i] = (float)i;
    check(tirc_gpu_allocate(gpu, sizeof in, &a) == TIRC_OK &&
              tirc_gpu_allocate(gpu, sizeof in, &b) == TIRC_OK,
          "memory");
    check(tirc_gpu_write(gpu, a, in, sizeof in) == TIRC_OK, "copy in");
    void *values[] = {&a, &b, &factor};
    tirc_gpu_launch launch = {
        .size = sizeof launch, .grid = {4, 1, 1}, .block = {32, 1, 1}, .parameters = values};
    check(tirc_gpu_start(kernel, &launch) == TIRC_OK && tirc_gpu_wait(gpu, NULL) == TIRC_OK,
          "start and wait");
    check(tirc_gpu_read(gpu, out, b, sizeof out) == TIRC_OK, "copy out");
    int right = 1;
    for (int i = 0; i < 128; i++)
        right &= out[i] == 1.5f * in[i];
    check(right, "the result");
    check(tirc_gpu_allocate(gpu, UINT64_C(1) << 50, &(uint64_t){0}) == TIRC_ERROR &&
              !strcmp(last_code(session), "T0914"),
          "too much memory");
    by_name(session, gpu, kernel, a, b);
    refusals(session, kernel, a, b);
    tirc_gpu_free(gpu, a);
    tirc_gpu_free(gpu, b);
    tirc_gpu_close(gpu);
    check(tirc_gpu_start(kernel, &launch) == TIRC_USAGE, "after the device is closed");
    tirc_session_destroy(session);
    printf("1..%d\n", number);
    return bad;
}
