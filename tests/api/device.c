/* SPDX-License-Identifier: Apache-2.0
 * A device's memory through the public header: addresses, bounds, frees, module variables from run to run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tirc.h"

static const char ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".global .align 4 .u32 total = 40;\n"
    ".const .align 4 .u32 step = 3;\n"
    ".visible .entry add(.param .u64 from, .param .u32 more)\n{\n"
    ".reg .b32 %r<6>;\n.reg .b64 %rd<3>;\n"
    "ld.param.u64 %rd1, [from];\nld.param.u32 %r1, [more];\n"
    "ld.global.u32 %r2, [%rd1];\nld.global.u32 %r3, [total];\nld.const.u32 %r4, [step];\n"
    "add.u32 %r3, %r3, %r2;\nadd.u32 %r3, %r3, %r1;\nadd.u32 %r3, %r3, %r4;\n"
    "st.global.u32 [total], %r3;\nret;\n}\n";

static int failures;
static void check(int condition, const char *what) {
    if (condition)
        return;
    fprintf(stderr, "wrong: %s\n", what);
    failures++;
}

static tirc_status launch(tirc_module *module, tirc_device *device, uint64_t address, uint32_t more) {
    void *values[2] = {&address, &more};
    tirc_launch options = {.size = sizeof options,
                           .grid = {1, 1, 1},
                           .block = {1, 1, 1},
                           .device = device,
                           .parameters = values};
    return tirc_run(module, &options, NULL);
}

static tirc_status launch_block(tirc_module *module, tirc_device *device, uint64_t address,
                                uint32_t threads) {
    uint32_t more = 0;
    void *values[2] = {&address, &more};
    tirc_launch options = {.size = sizeof options,
                           .grid = {1, 1, 1},
                           .block = {threads, 1, 1},
                           .device = device,
                           .parameters = values};
    return tirc_run(module, &options, NULL);
}

static const char *last_code(tirc_session *session) {
    tirc_diagnostic at = {0};
    size_t count = tirc_diagnostic_count(session);
    return count && tirc_diagnostic_at(session, count - 1, &at) ? at.code : "";
}

/* The allocator hook sees every byte of the device. */
static size_t live;
static void *counted(void *user, void *old, size_t old_size, size_t new_size) {
    (void)user;
    live = live - old_size + new_size;
    if (new_size == 0) {
        free(old);
        return NULL;
    }
    return realloc(old, new_size);
}

int main(void) {
    tirc_options hooks = {.size = sizeof hooks, .allocate = counted};
    tirc_session *session = tirc_session_create(&hooks);
    tirc_source source = {.size = sizeof source, .name = "add.ptx", .text = ptx, .text_size = strlen(ptx)};
    tirc_module *module = NULL;
    check(session && tirc_load(session, &source, &module) == TIRC_OK, "load");
    size_t before = live;
    tirc_device *device = tirc_device_create(session);
    uint64_t first = 0, second = 0, begin = 0, bytes = 0;
    check(tirc_device_allocate(device, 4, 0, "first", &first) == TIRC_OK && first % 256 == 0, "allocate");
    check(tirc_device_allocate(device, 1 << 20, 4096, NULL, &second) == TIRC_OK && second % 4096 == 0,
          "allocate with alignment");
    check(tirc_device_allocate(device, 1, 3, NULL, &begin) == TIRC_USAGE, "alignment 3");
    check(tirc_device_allocate(device, UINT64_MAX, 0, NULL, &begin) == TIRC_USAGE, "too many bytes");
    check(tirc_device_find(device, second + 77, &begin, &bytes) && begin == second && bytes == 1 << 20,
          "find");
    check(!tirc_device_find(device, first + 5, &begin, &bytes), "find in a guard");
    check(tirc_device_memory(device, second + (1 << 20) - 4, 4) &&
              !tirc_device_memory(device, second + 1, 1 << 20),
          "memory inside one allocation only");
    uint32_t value = 7;
    memcpy(tirc_device_memory(device, first, 4), &value, 4);

    tirc_device_symbol total, step;
    check(tirc_device_variable(device, module, "total", &total) == TIRC_OK && total.bytes == 4 &&
              !total.is_constant,
          "a variable");
    check(tirc_device_variable(device, module, "step", &step) == TIRC_OK && step.is_constant, "a constant");
    check(tirc_device_variable(device, module, "absent", &step) == TIRC_ERROR, "no such variable");
    tirc_device_variable(device, module, "step", &step);
    check(launch(module, device, first, 100) == TIRC_OK, "first run");
    memcpy(&value, total.memory, 4);
    check(value == 40 + 7 + 100 + 3, "the variable after the first run");
    value = 1000;
    memcpy(step.memory, &value, 4);
    check(launch(module, device, first, 0) == TIRC_OK, "second run");
    memcpy(&value, total.memory, 4);
    check(value == 150 + 7 + 1000, "it kept its value, and the constant was changed");

    check(launch(module, device, first + 4, 0) == TIRC_FINDINGS && !strcmp(last_code(session), "T0702"),
          "a read past the end");
    check(tirc_device_free(device, first + 4) == TIRC_ERROR, "free of what is no start");
    check(tirc_device_free(device, first) == TIRC_OK && tirc_device_free(device, first) == TIRC_ERROR,
          "free");
    uint64_t third = 0;
    check(tirc_device_allocate(device, 4, 0, NULL, &third) == TIRC_OK && third > second,
          "addresses are not used twice");
    check(launch(module, device, first, 0) == TIRC_FINDINGS, "use after free");
    for (int i = 0; i < 3; i++)
        check(launch_block(module, device, first, 4096) == TIRC_ERROR,
              "a block of 4096 threads, again and again");

    void *values[2] = {&first, NULL};
    tirc_launch missing = {
        .size = sizeof missing, .grid = {1}, .block = {1}, .device = device, .parameters = values};
    check(tirc_run(module, &missing, NULL) == TIRC_ERROR && !strcmp(last_code(session), "T0805"),
          "a missing value");
    missing.parameters = NULL;
    check(tirc_run(module, &missing, NULL) == TIRC_USAGE, "a device without values");

    /* tensor maps */
    uint64_t dims[2] = {64, 32}, strides[1] = {128};
    uint32_t box[2] = {64, 8};
    _Alignas(64) unsigned char map[TIRC_TENSOR_MAP_BYTES], copy[TIRC_TENSOR_MAP_BYTES];
    tirc_tensor_map described = {.size = sizeof described,
                                 .type = 6,
                                 .rank = 2,
                                 .address = second,
                                 .dims = dims,
                                 .strides = strides,
                                 .box = box,
                                 .swizzle = 3};
    check(tirc_tensor_map_encode_tiled(session, &described, map) == TIRC_OK, "a tensor map");
    memcpy(copy, map, sizeof copy);
    check(tirc_tensor_map_replace_address(copy, second + 256) == TIRC_OK &&
              memcmp(copy, map, sizeof copy) != 0 &&
              tirc_tensor_map_replace_address(copy, second) == TIRC_OK && memcmp(copy, map, sizeof copy) == 0,
          "its address is replaced");
    check(tirc_tensor_map_replace_address(copy, second + 8) == TIRC_ERROR, "a misaligned address");
    copy[40] ^= 1;
    check(tirc_tensor_map_replace_address(copy, second) == TIRC_ERROR, "a damaged map");
    box[0] = 72;
    strides[0] = 100;
    size_t told = tirc_diagnostic_count(session);
    check(tirc_tensor_map_encode_tiled(session, &described, copy) == TIRC_ERROR &&
              tirc_diagnostic_count(session) == told + 2 && !strcmp(last_code(session), "T0788"),
          "two broken rules");
    check(tirc_tensor_map_encode_im2col(session, &described, copy) == TIRC_ERROR, "im2col of rank 2");
    const uint64_t pixel_dims[3] = {64, 20, 4}, pixel_strides[2] = {128, 2560};
    const int32_t corner = 0;
    tirc_tensor_map wide = {.size = sizeof wide,
                            .type = 6,
                            .rank = 3,
                            .address = second,
                            .dims = pixel_dims,
                            .strides = pixel_strides,
                            .lower = &corner,
                            .upper = &corner,
                            .channels_per_pixel = 64,
                            .swizzle = 3,
                            .wide = 2};
    check(tirc_tensor_map_encode_im2col_wide(session, &wide, copy) == TIRC_OK, "im2col::w::128");
    wide.wide = 1;
    check(tirc_tensor_map_encode_im2col_wide(session, &wide, copy) == TIRC_ERROR, "im2col::w of no pixels");
    wide.wide = 0;
    check(tirc_tensor_map_encode_im2col_wide(session, &wide, copy) == TIRC_USAGE, "not wide");
    described.size = 1;
    check(tirc_tensor_map_encode_tiled(session, &described, copy) == TIRC_USAGE &&
              tirc_tensor_map_encode_tiled(session, NULL, copy) == TIRC_USAGE &&
              tirc_tensor_map_encode_tiled(session, &described, NULL) == TIRC_USAGE,
          "wrong calls");

    /* another device starts from the module's own values */
    tirc_device *other = tirc_device_create(session);
    tirc_device_variable(other, module, "total", &total);
    memcpy(&value, total.memory, 4);
    check(value == 40, "a second device");
    tirc_device_destroy(other);
    tirc_device_destroy(device);
    tirc_device_destroy(NULL);
    check(live >= before, "counted");
    tirc_session_destroy(session);
    check(live == 0, "every byte given back");
    return failures != 0;
}
