/* SPDX-License-Identifier: Apache-2.0
 * What is wrong with the use of the matrix unit is found, under every schedule: bad descriptors, tiles and
 * lanes, overlaps, missing order, instructions and commits by the wrong threads; and tcgen05.cp against the
 * table of its lanes. */
#include "unit/vm_tensor_kernel.h"

#define MMA    "tcgen05.mma.cta_group::1.kind::f16 [%r22], %rd10, %rd11, %r20, %p5;"
#define COMMIT "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r9];"
#define WS     "tcgen05.mma.ws.cta_group::1.kind::f16 [%r22], %rd10, %rd11, %r20, %p5; "
#define SETTLE                                                                                               \
    "add.u32 %r41, %r5, 65528; mbarrier.init.shared.b64 [%r41], 1; "                                         \
    "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r41]; "                         \
    "{ w: mbarrier.try_wait.parity.shared.b64 %p7, [%r41], 0; @!%p7 bra w; } "                               \
    "tcgen05.fence::after_thread_sync; mbarrier.inval.shared.b64 [%r41]; "
#define FIRST_WARP "setp.ge.u32 %p4, %r1, 32;"
#define TMEM_MMA   "tcgen05.mma.cta_group::1.kind::f16 [%r22], [%r23], %rd11, %r20, %p5;"
#define ASHIFT_MMA "tcgen05.mma.cta_group::1.kind::f16.ashift [%r22], [%r23], %rd11, %r20, %p5;"
#define SHIFT      "tcgen05.shift.cta_group::1.down [%r23];"
#define GOOD       (UINT64_C(1) << 46 | UINT64_C(16) << 32 | UINT64_C(8) << 16)
#define IDESC      (1u << 4 | 64 / 8 << 17 | 128 / 16 << 24)

typedef struct fault {
    const char *instruction, *commit, *who;
    uint64_t a, b;
    uint32_t idesc, d, at, sfa, sfb;
    const char *findings;
    vm_status status;
} fault;

static vm_case *run(base_arena *arena, const fault *f, vm_schedule schedule) {
    vm_case *c = vm_case_load(arena, vm_tensor_kernel(arena, 1, f->instruction, f->commit, f->who));
    vm_case_buffer(c, "shared", IMAGE);
    uint32_t *cells = vm_case_buffer(c, "cells", COLUMNS * LANES * 4);
    vm_case_buffer(c, "out", COLUMNS * LANES * 4);
    uint32_t *scalars = vm_case_buffer(c, "scalars", 64);
    uint32_t rest[] = {f->idesc, 1, f->d, f->at, f->sfa, f->sfb};
    cells[480 * LANES + 40] = 1; /* a copy of scale factors that differs */
    memcpy(scalars, &f->a, 8), memcpy(scalars + 2, &f->b, 8), memcpy(scalars + 4, rest, sizeof rest);
    c->launch.schedule = schedule;
    vm_tensor_launch(c, 1);
    return c;
}

static const fault faults[] = {
    {MMA, NULL, NULL, GOOD, GOOD + 1024, IDESC, 0, 0, 0, 0, "", VM_COMPLETE},
    {MMA, NULL, NULL, GOOD, GOOD, IDESC | 1 << 6, 0, 0, 0, 0, "tensor-instruction", VM_COMPLETE},
    {MMA, NULL, NULL, GOOD, GOOD, 0xffffffff, 0, 0, 0, 0, "tensor-instruction", VM_COMPLETE},
    {MMA, NULL, NULL, GOOD, GOOD, 1u << 4 | 264 / 8 << 17 | 128 / 16 << 24, 0, 0, 0, 0, "tensor-instruction",
     VM_COMPLETE},
    {MMA, NULL, NULL, GOOD ^ UINT64_C(1) << 46, GOOD, IDESC, 0, 0, 0, 0, "tensor-matrix", VM_COMPLETE},
    {MMA, NULL, NULL, GOOD, GOOD | UINT64_C(7) << 61, IDESC, 0, 0, 0, 0, "tensor-matrix", VM_COMPLETE},
    /* a swizzled tile that does not start with its pattern */
    {MMA, NULL, NULL, GOOD, (GOOD + 8) | UINT64_C(2) << 61, IDESC, 0, 0, 0, 0, "tensor-matrix", VM_COMPLETE},
    /* the base offset says where: right, wrong, without a swizzle, with 32B atoms */
    {MMA, NULL, NULL, GOOD, (GOOD + 8) | UINT64_C(1) << 49 | UINT64_C(2) << 61, IDESC, 0, 0, 0, 0, "",
     VM_COMPLETE},
    {MMA, NULL, NULL, GOOD, (GOOD + 8) | UINT64_C(2) << 49 | UINT64_C(2) << 61, IDESC, 0, 0, 0, 0,
     "tensor-matrix", VM_COMPLETE},
    {MMA, NULL, NULL, GOOD, (GOOD + 8) | UINT64_C(1) << 49, IDESC, 0, 0, 0, 0, "tensor-matrix", VM_COMPLETE},
    {MMA, NULL, NULL, GOOD, (GOOD + 8) | UINT64_C(1) << 49 | UINT64_C(1) << 61, IDESC, 0, 0, 0, 0,
     "tensor-matrix", VM_COMPLETE},
    {MMA, NULL, NULL, GOOD, GOOD | UINT64_C(1024) << 32, IDESC, 0, 0, 0, 0, "tensor-tile", VM_COMPLETE},
    {MMA, NULL, NULL, GOOD, GOOD, IDESC, 5u << 16, 0, 0, 0, "tensor-lane", VM_COMPLETE},
    {MMA, NULL, NULL, GOOD, GOOD, IDESC, 600, 0, 0, 0, "tmem-range", VM_COMPLETE},
    {"tcgen05.mma.cta_group::1.kind::f16 [%r22], [%r23], %rd11, %r20, %p5;", NULL, NULL, 0, GOOD, IDESC, 0,
     60, 0, 0, "tensor-overlap", VM_COMPLETE},
    {"tcgen05.mma.cta_group::1.kind::f16 [%r22], [%r23], %rd11, %r20, %p5;", NULL, NULL, 0, GOOD, IDESC, 0,
     128 | 16u << 16, 0, 0, "tensor-lane", VM_COMPLETE},
    /* another accumulator that shares columns with the first */
    {MMA " add.u32 %r22, %r22, 32; " MMA, NULL, NULL, GOOD, GOOD, IDESC, 0, 0, 0, 0, "tensor-order",
     VM_COMPLETE},
    {MMA " " MMA, NULL, NULL, GOOD, GOOD, IDESC, 0, 0, 0, 0, "", VM_COMPLETE},
    {MMA, "setp.ne.u32 %p7, %r1, 0; @%p7 bra ISSUED; " COMMIT, FIRST_WARP, GOOD, GOOD, IDESC, 0, 0, 0, 0,
     "tensor-lanes", VM_COMPLETE},
    {"setp.eq.u32 %p7, %r1, 0; @%p7 " MMA, COMMIT, FIRST_WARP, GOOD, GOOD, IDESC, 0, 0, 0, 0,
     "tensor-commit-lanes*", VM_DEADLOCK},
    {"setp.eq.u32 %p7, %r1, 0; @%p7 " MMA " setp.ne.u32 %p7, %r1, 1; @%p7 bra ISSUED;", NULL, FIRST_WARP,
     GOOD, GOOD, IDESC, 0, 0, 0, 0, "tensor-commit-other", VM_COMPLETE},
    {"tcgen05.mma.cta_group::1.kind::f16.collector::a::use [%r22], %rd10, %rd11, %r20, %p5;", NULL, NULL,
     GOOD, GOOD, IDESC, 0, 0, 0, 0, "tensor-collector", VM_COMPLETE},
    {"tcgen05.mma.cta_group::1.kind::f16.collector::a::fill [%r22], %rd10, %rd11, %r20, %p5;"
     "tcgen05.mma.cta_group::1.kind::f16.collector::a::lastuse [%r22], %rd10, %rd11, %r20, %p5;",
     NULL, NULL, GOOD, GOOD, IDESC, 0, 0, 0, 0, "", VM_COMPLETE},
    {"tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X [%r22], %rd10, %rd11, %r20, [%r24], "
     "[%r25], "
     "%p5;",
     NULL, NULL, GOOD, GOOD, 1u << 23 | 64 / 8 << 17 | 128 / 16 << 24, 0, 0, 480, 490, "tensor-factors",
     VM_COMPLETE},
    {"mov.u64 %rd20, 1; tcgen05.mma.ws.cta_group::1.kind::f16 [%r22], %rd10, %rd11, %r20, %p5, %rd20;", NULL,
     NULL, GOOD, GOOD, IDESC, 0, 0, 0, 0, "tensor-zero-mask", VM_UNSUPPORTED},
    {"tcgen05.mma.sp.cta_group::1.kind::f16 [%r22], %rd10, %rd11, [%r23], %r20, %p5;", NULL, NULL, GOOD, GOOD,
     IDESC | 4, 0, 128, 0, 0, "unsupported", VM_UNSUPPORTED},
    {"tcgen05.shift.cta_group::1.down [%r22];", NULL, NULL, GOOD, GOOD, IDESC, 64u << 16 | 504, 0, 0, 0, "",
     VM_COMPLETE},
    {"tcgen05.shift.cta_group::1.down [%r22];", NULL, NULL, GOOD, GOOD, IDESC, 16u << 16, 0, 0, 0,
     "tensor-lane", VM_COMPLETE},
    {"tcgen05.shift.cta_group::1.down [%r22];", NULL, NULL, GOOD, GOOD, IDESC, 128u << 16, 0, 0, 0,
     "tensor-lane", VM_COMPLETE},
    {"tcgen05.shift.cta_group::1.down [%r22];", NULL, NULL, GOOD, GOOD, IDESC, 505, 0, 0, 0, "tmem-range",
     VM_COMPLETE},
    {"tcgen05.shift.cta_group::1.down [%r22];", "setp.ne.u32 %p7, %r1, 0; @%p7 bra ISSUED; " COMMIT,
     FIRST_WARP, GOOD, GOOD, IDESC, 0, 0, 0, 0, "tensor-lanes*", VM_COMPLETE},
    /* pipelined: shift to mma, shift to cp.4x256b, mma to shift, and so shift, mma, shift */
    {SHIFT TMEM_MMA SHIFT TMEM_MMA, NULL, NULL, 0, GOOD, IDESC, 0, 128, 0, 0, "", VM_COMPLETE},
    {SHIFT "tcgen05.cp.cta_group::1.4x256b [%r23], %rd11;", NULL, NULL, 0, GOOD, IDESC, 0, 128, 0, 0, "",
     VM_COMPLETE},
    /* and not: shift to another cp, cp to shift, shift to shift */
    {SHIFT "tcgen05.cp.cta_group::1.128x256b [%r23], %rd11;", NULL, NULL, 0, GOOD, IDESC, 0, 128, 0, 0,
     "tmem-in-flight", VM_COMPLETE},
    {"tcgen05.cp.cta_group::1.128x256b [%r23], %rd11;" SHIFT, NULL, NULL, 0, GOOD, IDESC, 0, 128, 0, 0,
     "tmem-in-flight", VM_COMPLETE},
    {SHIFT SHIFT, NULL, NULL, 0, GOOD, IDESC, 0, 128, 0, 0, "tmem-in-flight", VM_COMPLETE},
    {ASHIFT_MMA ASHIFT_MMA TMEM_MMA, NULL, NULL, 0, GOOD, IDESC, 0, 128, 0, 0, "", VM_COMPLETE},
    {ASHIFT_MMA, NULL, NULL, 0, GOOD, 1u << 4 | 64 / 8 << 17 | 64 / 16 << 24, 0, 128, 0, 0,
     "tensor-instruction", VM_COMPLETE},
    {"tcgen05.cp.cta_group::1.128x128b [%r22], %rd10;", NULL, NULL, GOOD, 0, 0, 1u << 16, 0, 0, 0,
     "tensor-lane", VM_COMPLETE},
    {"tcgen05.cp.cta_group::1.128x128b [%r22], %rd10;", NULL, NULL, GOOD | UINT64_C(3) << 61, 0, 0, 0, 0, 0,
     0, "tensor-matrix", VM_COMPLETE},
    /* results of another layout; SETTLE: all that was issued is complete */
    {MMA SETTLE "mov.b32 %r20, 0x04100010; " MMA, NULL, NULL, GOOD, GOOD, IDESC, 0, 0, 0, 0, "tensor-layout*",
     VM_COMPLETE},
    {MMA SETTLE "mov.b32 %r20, 0x08080010; " MMA, NULL, NULL, GOOD, GOOD, IDESC, 0, 0, 0, 0, "", VM_COMPLETE},
    {"mov.b32 %r20, 0x04100010; " MMA SETTLE "mov.b32 %r20, 0x08100010; " MMA, NULL, NULL, GOOD, GOOD, IDESC,
     0, 0, 0, 0, "tensor-layout", VM_COMPLETE},
    {"mov.b32 %r20, 0x04100010; " WS SETTLE "mov.b32 %r20, 0x04200010; " WS, NULL, NULL, GOOD, GOOD, IDESC, 0,
     0, 0, 0, "tensor-layout", VM_COMPLETE},
    {MMA SETTLE "mov.b32 %r20, 0x08100000; " MMA, NULL, NULL, GOOD, GOOD, IDESC, 0, 0, 0, 0, "tensor-layout*",
     VM_COMPLETE},
    {MMA SETTLE "tcgen05.mma.cta_group::1.kind::f16 [%r23], [%r22], %rd11, %r20, %p5;", NULL, NULL, GOOD,
     GOOD, IDESC, 0, 128, 0, 0, "tensor-layout", VM_COMPLETE},
    {MMA SETTLE "mov.b32 %r20, 0x08100910; tcgen05.mma.cta_group::1.kind::tf32 [%r23], [%r22], %rd11, %r20, "
                "%p5;",
     NULL, NULL, GOOD, GOOD, IDESC, 0, 128, 0, 0, "", VM_COMPLETE},
    {MMA SETTLE "mov.b32 %r20, 0x08900000; tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X "
                "[%r23], %rd10, "
                "%rd11, %r20, [%r24], [%r25], %p5;",
     NULL, NULL, GOOD, GOOD, IDESC, 0, 128, 8, 256, "tensor-layout*", VM_COMPLETE},
    /* rows of M = 64 beside what M = 128 left, as the dump loads them; low halves of f32 */
    {MMA SETTLE "mov.b32 %r20, 0x04100010; setp.ne.u32 %p5, %r1, %r1; " MMA, NULL, NULL, GOOD, GOOD, IDESC, 0,
     0, 0, 0, "tensor-layout-load", VM_COMPLETE},
    {"setp.ne.u32 %p7, %r1, 0; @%p7 bra NEXT; " MMA SETTLE
     "NEXT: bar.warp.sync -1; tcgen05.fence::after_thread_sync; "
     "tcgen05.ld.sync.aligned.32x32b.x1.pack::16b.b32 {%r42}, [%r22]; tcgen05.wait::ld.sync.aligned; ",
     "setp.ne.u32 %p7, %r1, 0; @%p7 bra ISSUED; " COMMIT, FIRST_WARP, GOOD, GOOD, IDESC, 0, 0, 0, 0,
     "tensor-layout-load", VM_COMPLETE},
    {"tcgen05.mma.cta_group::1.kind::f16.collector::a::fill [%r22], %rd10, %rd11, %r20, %p5;"
     "tcgen05.mma.cta_group::1.kind::f16.collector::a::lastuse [%r22], %rd11, %rd11, %r20, %p5;",
     NULL, NULL, GOOD, GOOD + 1024, IDESC, 0, 0, 0, 0, "tensor-collector", VM_COMPLETE},
    /* D is written by another operation while the product is on its way */
    {MMA " tcgen05.cp.cta_group::1.128x128b [%r22], %rd11;", NULL, NULL, GOOD, GOOD, IDESC, 0, 0, 0, 0,
     "tmem-in-flight", VM_COMPLETE},
    {MMA " st.shared.u32 [%r5], %r30;", NULL, NULL, GOOD, GOOD, IDESC, 0, 0, 0, 0, "in-flight", VM_COMPLETE},
};

static void planted(void **state) {
    base_arena *arena = *state;
    for (unsigned i = 0; i < sizeof faults / sizeof faults[0]; i++)
        for (int schedule = 0; schedule < 3; schedule++) {
            vm_case *c = run(arena, &faults[i], (vm_schedule)schedule);
            const char *found = vm_case_findings(c);
            size_t size = strcspn(faults[i].findings, "*"); /* more may follow a star */
            bool same = strncmp(found, faults[i].findings, size) == 0 &&
                        (faults[i].findings[size] == '*' ||
                         (found[size] == 0 && c->result->status == faults[i].status));
            if (!same)
                fail_msg("case %u (%s), schedule %d: status %d, '%s', not '%s'", i, faults[i].instruction,
                         schedule, c->result->status, found, faults[i].findings);
        }
}

/* ---- tcgen05.cp: row, chunk and lanes as the PTX ISA lists them ---- */
static bool lane_of(const char *shape, unsigned row, unsigned copy, unsigned *lane) {
    if (strcmp(shape, "128x256b") == 0 || strcmp(shape, "128x128b") == 0)
        *lane = row;
    else if (strcmp(shape, "4x256b") == 0)
        *lane = 32 * row + 3;
    else if (strcmp(shape, "64x128b.warpx2::02_13") == 0)
        *lane = row + 64 * copy;
    else if (strcmp(shape, "64x128b.warpx2::01_23") == 0)
        *lane = 64 * (row / 32) + row % 32 + 32 * copy;
    else
        *lane = row + 32 * copy;
    unsigned copies = strstr(shape, "warpx4") ? 4 : strstr(shape, "warpx2") ? 2 : 1;
    return copy < copies;
}

static void copies(void **state) {
    base_arena *arena = *state;
    static const struct {
        const char *shape;
        unsigned rows, chunks;
    } shapes[] = {{"128x256b", 128, 2},
                  {"4x256b", 4, 2},
                  {"128x128b", 128, 1},
                  {"64x128b.warpx2::02_13", 64, 1},
                  {"64x128b.warpx2::01_23", 64, 1},
                  {"32x128b.warpx4", 32, 1}};
    static const char *const formats[] = {"", ".b8x16.b4x16_p64", ".b8x16.b6x16_p32"};
    for (unsigned s = 0; s < 6; s++)
        for (unsigned format = 0; format < 3; format++)
            for (unsigned swizzled = 0; swizzled < 2; swizzled++) {
                char text[200];
                snprintf(text, sizeof text, "tcgen05.cp.cta_group::1.%s%s [%%r22], %%rd10;", shapes[s].shape,
                         formats[format]);
                vm_case *c = vm_case_load(arena, vm_tensor_kernel(arena, 1, text, NULL, NULL));
                uint8_t *shared = vm_case_buffer(c, "shared", IMAGE);
                uint32_t *cells = vm_case_buffer(c, "cells", COLUMNS * LANES * 4);
                uint32_t *out = vm_case_buffer(c, "out", COLUMNS * LANES * 4);
                uint32_t *scalars = vm_case_buffer(c, "scalars", 64);
                uint64_t descriptor =
                    UINT64_C(1) << 46 | (swizzled ? UINT64_C(512 / 16) << 32 | UINT64_C(4) << 61
                                                  : UINT64_C(256 / 16) << 32 | UINT64_C(8) << 16);
                uint32_t rest[] = {0, 0, 100 | (s == 1 ? 3u << 16 : 0), 0, 0, 0};
                memcpy(scalars, &descriptor, 8), memcpy(scalars + 4, rest, sizeof rest);
                for (unsigned i = 0; i < IMAGE; i++)
                    shared[i] = (uint8_t)(i * 37 + i / 256 * 11 + 5);
                for (unsigned i = 0; i < COLUMNS * LANES; i++)
                    cells[i] = i * 2654435761u;
                c->launch.schedule = (vm_schedule)((s + format) % 3);
                vm_tensor_launch(c, 1);
                vm_case_clean(c);
                uint32_t *want = cells; /* the image, overwritten where the copy goes */
                for (unsigned r = 0; r < shapes[s].rows; r++)
                    for (unsigned chunk = 0; chunk < shapes[s].chunks; chunk++) {
                        unsigned from = swizzled ? r / 8 * 512 + r % 8 * 64 + 16 * chunk
                                                 : r / 8 * 256 + r % 8 * 16 + 128 * chunk;
                        if (swizzled)
                            from ^= (from >> 7 & 3) << 4;
                        uint8_t bytes[16];
                        for (unsigned i = 0; i < 16; i++) {
                            unsigned bits = format == 1 ? 4 : 6, value = 0;
                            for (unsigned b = 0; b < bits; b++)
                                value |= (shared[from + (i * bits + b) / 8] >> (i * bits + b) % 8 & 1u) << b;
                            bytes[i] =
                                format == 0 ? shared[from + i] : (uint8_t)(format == 1 ? value << 2 : value);
                        }
                        unsigned lane;
                        for (unsigned copy = 0; lane_of(shapes[s].shape, r, copy, &lane); copy++)
                            for (unsigned w = 0; w < 4; w++)
                                memcpy(&want[(100 + 4 * chunk + w) * LANES + lane], bytes + 4 * w, 4);
                    }
                for (unsigned i = 0; i < COLUMNS * LANES; i++)
                    if (out[i] != want[i])
                        fail_msg("%s: column %u lane %u is %#x, not %#x", text, i / LANES, i % LANES, out[i],
                                 want[i]);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {UNIT_WITH_ARENA(planted), UNIT_WITH_ARENA(copies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
