/* SPDX-License-Identifier: Apache-2.0
 * wgmma: address maps of descriptors as properties; groups and registers in flight under every schedule;
 * every planted mistake gives its finding and the correct neighbour gives none. The numbers themselves are
 * compared with recorded results of a GPU in tests/recorded. */
#include <string.h>
#include "unit/vm_help.h"
#include "vm/vm_wgmma.h"

/* Every element has a place of its own, inside the range that the descriptor names; pieces of 16 bytes keep
 * their 128-byte line, and the swizzle is the XOR of bits 4-6 with bits 7-9. */
static void addresses(void **state) {
    (void)state;
    static uint8_t taken[1 << 17];
    for (unsigned code = 0; code < 4; code++)
        for (unsigned major = 0; major < 2; major++)
            for (unsigned rows = 8; rows <= 256; rows *= 2) {
                unsigned swizzle = code == 0 ? 0 : 256 >> code, bits = major ? 16 : 8 << (rows / 8 % 3);
                unsigned columns = 256 / bits;
                uint64_t leading = !major    ? (swizzle ? 16 : 128)
                                   : swizzle ? 16 * swizzle
                                             : 128 * (rows / 8),
                         stride = swizzle ? 8 * swizzle
                                  : major ? 128
                                          : 256;
                uint64_t descriptor =
                    0x4000 >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | (uint64_t)code << 62;
                assert_null(vm_wgmma_problem(descriptor));
                vm_wgmma_matrix m = vm_wgmma_decode(descriptor, major, bits);
                uint64_t begin, end;
                vm_wgmma_range(&m, rows, columns, &begin, &end);
                assert_true(begin == 0x4000 && end <= sizeof taken);
                memset(taken, 0, sizeof taken);
                for (unsigned mn = 0; mn < rows; mn++)
                    for (unsigned k = 0; k < columns; k++) {
                        uint32_t address = vm_wgmma_address(&m, mn, k);
                        assert_true(address >= begin && address + bits / 8 <= end);
                        for (unsigned b = 0; b < bits / 8; b++)
                            assert_int_equal(taken[address + b]++, 0);
                        if (swizzle == 128 && !major) { /* row r, byte b: 128 r + (b ^ 16 (r mod 8)) */
                            unsigned byte = k * bits / 8;
                            assert_int_equal(address,
                                             0x4000 + mn / 8 * 1024 + mn % 8 * 128 + (byte ^ mn % 8 << 4));
                        }
                    }
            }
    assert_non_null(vm_wgmma_problem((uint64_t)1 << 14));
    assert_non_null(vm_wgmma_problem((uint64_t)1 << 46));
    assert_non_null(vm_wgmma_problem((uint64_t)1 << 55));
    assert_non_null(vm_wgmma_problem(0x4080 >> 4 | (uint64_t)1 << 62)); /* row 1 of the pattern */
    assert_null(vm_wgmma_problem(0x4020 >> 4 | (uint64_t)1 << 62));     /* a step in K */
    assert_null(vm_wgmma_problem(0x4080 >> 4 | (uint64_t)1 << 62 | (uint64_t)1 << 49));
}

/* 32 bytes of ones for each thread in shared memory; A at sm, B at sm + 2048; %d0..3 are D, %da and %db the
 * descriptors. */
static const char *kernel(base_arena *arena, const char *body) {
    base_builder text;
    base_builder_start(&text, arena);
    base_builder_string(
        &text,
        ".version 8.0\n.target sm_90a\n.address_size 64\n.shared .align 1024 .b8 sm[8192];\n"
        ".visible .entry k(.param .u64 a, .param .u64 b)\n{\n.reg .b32 %d<8>, %e<8>, %t<10>;\n.reg .f32 "
        "%f<8>;\n"
        ".reg .b64 %a<8>, %da, %db;\n.reg .pred %p<4>, one;\nld.param.u64 %a1, [b];\nmov.u32 %t7, %tid.x;\n"
        "mul.wide.u32 %a2, %t7, 16;\nadd.s64 %a1, %a1, %a2;\nmov.u32 %t5, sm;\nshl.b32 %t4, %t7, 5;\n"
        "add.u32 %t4, %t4, %t5;\nmov.b32 %t3, 0x3c003c00;\nst.shared.v4.b32 [%t4], {%t3, %t3, %t3, %t3};\n"
        "st.shared.v4.b32 [%t4+16], {%t3, %t3, %t3, %t3};\nfence.proxy.async;\nbar.sync 0;\n"
        "setp.eq.u32 one, %t7, %t7;\nshr.u32 %t2, %t5, 4;\ncvt.u64.u32 %da, %t2;\n"
        "add.s64 %db, %da, 0x1000080080;\nadd.s64 %da, %da, 0x1000080000;\n"
        "mov.b32 %d0, 0;\nmov.b32 %d1, 0;\nmov.b32 %d2, 0;\nmov.b32 %d3, 0;\n"
        "mov.b32 %e0, 0;\nmov.b32 %e1, 0;\nmov.b32 %e2, 0;\nmov.b32 %e3, 0;\n");
    base_builder_format(&text, "%s\nst.global.v4.b32 [%%a1], {%%d0, %%d1, %%d2, %%d3};\nret;\n}\n", body);
    return text.data;
}
#define FENCE "wgmma.fence.sync.aligned;\n"
#define MMA                                                                                                  \
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, %da, %db, one, 1, 1, 0, 0;\n"
#define MMA_E                                                                                                \
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%e0, %e1, %e2, %e3}, %da, %db, one, 1, 1, 0, 0;\n"
#define COMMIT "wgmma.commit_group.sync.aligned;\n"
#define WAIT0  "wgmma.wait_group.sync.aligned 0;\n"
#define WAIT1  "wgmma.wait_group.sync.aligned 1;\n"

/* Findings under each schedule, which must be the same; checks D when it is known. */
static bool strict;
static const char *run(base_arena *arena, const char *body, uint32_t threads, float expected) {
    const char *first = NULL;
    for (unsigned s = 0; s < 9; s++) {
        vm_case *c = vm_case_load(arena, kernel(arena, body));
        uint16_t *in = vm_case_buffer(c, "in", 16);
        for (unsigned i = 0; i < 8; i++)
            in[i] = 0x3c00;
        float *out = vm_case_buffer(c, "out", (size_t)threads * 16);
        c->launch.schedule = (vm_schedule)(s % 3);
        c->launch.seed = s;
        c->launch.level = s / 3 == 1 ? "x86-64" : NULL;
        c->launch.strict_ptx = strict;
        vm_case_run(c, 1, threads);
        if (c->result->status == VM_BAD_LAUNCH)
            continue;
        assert_int_equal(c->result->status, VM_COMPLETE);
        const char *found = vm_case_findings(c);
        if (first != NULL)
            assert_string_equal(found, first);
        first = found;
        for (unsigned i = 0; expected >= 0 && i < threads * 4; i++)
            if (out[i] != expected)
                fail_msg("schedule %u: D is %g instead of %g", s, (double)out[i], (double)expected);
    }
    return first;
}

static void groups(void **state) {
    base_arena *arena = *state;
    assert_string_equal(run(arena, FENCE MMA COMMIT WAIT0, 128, 16), "");
    assert_string_equal(run(arena, FENCE MMA MMA COMMIT WAIT0, 128, 32),
                        ""); /* in order on one accumulator */
    assert_string_equal(
        run(arena, FENCE MMA COMMIT MMA_E COMMIT WAIT1 "st.global.b32 [%a1], %d0;\n" WAIT0, 128, 16), "");
    /* a pipeline: the registers of the round before are used while the next is in flight */
    assert_string_equal(run(arena,
                            "mov.b32 %t0, 0;\n" FENCE "L:\n" MMA COMMIT WAIT1 "add.u32 %t0, %t0, 1;\n"
                            "setp.lt.u32 %p0, %t0, 5;\n@%p0 bra L;\n" WAIT0,
                            128, 80),
                        "");
    /* a register that nobody needs after the wgmma keeps its place until the wait */
    assert_string_equal(
        run(arena,
            FENCE MMA_E COMMIT
            "mov.u32 %t0, %clock;\nmov.u32 %t1, %clock;\nadd.u32 %t0, %t0, %t1;\n"
            "st.shared.u32 [%t5+4092], %t0;\nmov.b32 %d0, 0x41800000;\nmov.b32 %d1, 0x41800000;\n"
            "mov.b32 %d2, 0x41800000;\nmov.b32 %d3, 0x41800000;\n" WAIT0,
            128, 16),
        "");
}

static void registers_in_flight(void **state) {
    base_arena *arena = *state;
    assert_string_equal(run(arena, FENCE MMA COMMIT "st.global.b32 [%a1], %d0;\n" WAIT0, 128, 16),
                        "wgmma-touched");
    assert_string_equal(run(arena, FENCE MMA COMMIT "add.u32 %d1, %t7, %t7;\n" WAIT0, 128, -1),
                        "wgmma-touched");
    assert_string_equal(
        run(arena, FENCE MMA COMMIT MMA_E COMMIT WAIT1 "st.global.b32 [%a1], %e0;\n" WAIT0, 128, 16),
        "wgmma-touched");
    /* copies that compilers make: ptxas lets them wait */
    assert_string_equal(run(arena, FENCE "mov.b32 %d0, 0;\n" MMA COMMIT WAIT0, 128, 16), "");
    assert_string_equal(run(arena,
                            FENCE MMA COMMIT "mov.b32 %e0, %d0;\n" WAIT0
                                             "bar.sync 0;\nst.shared.u32 [%t4], %e0;\n"
                                             "ld.shared.u32 %d0, [%t4];\n",
                            128, 16),
                        "");
    /* a wait without commit waits for nothing */
    assert_string_equal(run(arena, FENCE MMA WAIT0, 128, -1), "wgmma-touched wgmma-unwaited");
    assert_string_equal(run(arena, FENCE MMA_E COMMIT, 128, 0), "wgmma-unwaited");
    assert_string_equal(run(arena, MMA COMMIT WAIT0, 128, 16), "wgmma-fence");
    assert_string_equal(run(arena, FENCE "and.b32 %d0, %t7, 0x80000000;\n" MMA COMMIT WAIT0, 128, 16),
                        "wgmma-fence");
}

static void operands(void **state) {
    base_arena *arena = *state;
    assert_string_equal(run(arena, "shl.b64 %da, %da, 4;\n" FENCE MMA COMMIT WAIT0, 128, -1),
                        "wgmma-descriptor");
    assert_string_equal(run(arena, "add.s64 %db, %db, 0x3000;\n" FENCE MMA COMMIT WAIT0, 128, -1),
                        "wgmma-descriptor");
    assert_string_equal(run(arena, "or.b64 %da, %da, 0x1000000000000000;\n" FENCE MMA COMMIT WAIT0, 128, -1),
                        "wgmma-descriptor");
    /* the warp's own rows are added by the hardware */
    assert_string_equal(run(arena,
                            "shr.u32 %t0, %t7, 5;\nshl.b32 %t0, %t0, 4;\ncvt.u64.u32 %a3, %t0;\nadd.s64 %da, "
                            "%da, %a3;\n" FENCE MMA COMMIT WAIT0,
                            128, -1),
                        "wgmma-differ");
    assert_string_equal(
        run(arena,
            "and.b32 %t0, %t7, 16;\ncvt.u64.u32 %a3, %t0;\nadd.s64 %da, %da, %a3;\n" FENCE MMA COMMIT WAIT0,
            128, -1),
        "wgmma-differ");
    assert_string_equal(run(arena, FENCE MMA COMMIT WAIT0, 96, -1), "wgmma-warpgroup");
}

/* cp.async writes as ordinary instructions do: the async proxy sees it after a fence that comes behind the
 * wait, in the warp that copies or in the one that multiplies. */
#define COPY                                                                                                 \
    "ld.param.u64 %a3, [a];\ncp.async.ca.shared.global [%t4], [%a3], 16;\n"                                  \
    "cp.async.ca.shared.global [%t4+16], [%a3], 16;\ncp.async.commit_group;\n"
#define LANDED "cp.async.wait_group 0;\n"
#define PROXY  "fence.proxy.async.shared::cta;\n"
#define BAR    "bar.sync 0;\n"
static void asynchronous_copies(void **state) {
    base_arena *arena = *state;
    assert_string_equal(run(arena, COPY LANDED PROXY BAR FENCE MMA COMMIT WAIT0, 128, 16), "");
    assert_string_equal(run(arena, COPY LANDED BAR PROXY FENCE MMA COMMIT WAIT0, 128, 16), "");
    assert_string_equal(run(arena, COPY LANDED BAR FENCE MMA COMMIT WAIT0, 128, 16), "copy-proxy");
    assert_string_equal(run(arena, COPY PROXY LANDED BAR FENCE MMA COMMIT WAIT0, 128, 16), "copy-proxy");
    /* nor is there a barrier: a warp multiplies what the others copy later */
    assert_string_equal(run(arena, COPY LANDED FENCE MMA COMMIT WAIT0, 128, 16), "copy-proxy");
}

/* The experiment of an H200 (vm_wgmma_warp.c): B is zeros; one warp stays away, writes ones into it and comes
 * last to the wgmma. All four warps multiply by what it wrote, also where the schedule lets it come late. */
#define ONLY(warp) "shr.u32 %t0, %t7, 5;\nsetp.ne.u32 %p1, %t0, " #warp ";\n"
#define MEET(writer)                                                                                         \
    ONLY(0)                                                                                                  \
    "shl.b32 %t8, %t7, 4;\nand.b32 %t8, %t8, 511;\nadd.u32 %t8, %t8, %t5;\nmov.b32 %t6, 0;\n"                \
    "@%p1 bra ZEROS;\nst.shared.v4.b32 [%t8+2048], {%t6, %t6, %t6, %t6};\nZEROS:\n" PROXY BAR                \
    ONLY(writer) "@%p1 bra GO;\nSPIN:\nadd.u32 %t6, %t6, 1;\nsetp.lt.u32 %p2, %t6, 70000;\n@%p2 bra SPIN;\n" \
                 "st.shared.v4.b32 [%t8+2048], {%t3, %t3, %t3, %t3};\n" PROXY "GO:\n" FENCE MMA COMMIT WAIT0
static void meeting(void **state) {
    base_arena *arena = *state;
    assert_string_equal(run(arena, MEET(3), 128, 16), "");
    assert_string_equal(run(arena, MEET(0), 128, 16), "");
    assert_string_equal(run(arena, MEET(1), 128, 16), "");
    /* they meet each time anew */
    assert_string_equal(run(arena, MEET(2) BAR FENCE MMA COMMIT WAIT0, 128, 32), "");
}

/* The other one: what a warp has waited for has ended for all four, also for those that have not come to
 * their wait. One overwrites B behind its own, while the others stay away from theirs. */
#define OVERWRITE(warp, issued)                                                                              \
    "mov.b32 %t6, 0;\n" FENCE MMA MMA COMMIT issued ONLY(                                                    \
        warp) "@!%p1 bra OVER;\nSPIN:\nadd.u32 %t6, %t6, 1;\nsetp.lt.u32 %p2, %t6, 70000;\n@%p2 bra "        \
              "SPIN;\n" WAIT0 "bra DONE;\nOVER:\n" WAIT0                                                     \
              "mov.b32 %t6, 0;\nshl.b32 %t8, %t7, 4;\nand.b32 %t8, %t8, 511;\n"                              \
              "add.u32 %t8, %t8, %t5;\nst.shared.v4.b32 [%t8+2048], {%t6, %t6, %t6, %t6};\nDONE:\n"
static void ends_for_all(void **state) {
    base_arena *arena = *state;
    assert_string_equal(run(arena, OVERWRITE(0, ""), 128, 32), "");
    assert_string_equal(run(arena, OVERWRITE(3, ""), 128, 32), "");
    assert_string_equal(run(arena, OVERWRITE(1, BAR), 128, 32), "");
    /* a wait for all but one group covers only the first, for all as well */
    assert_string_equal(run(arena,
                            FENCE MMA COMMIT MMA_E COMMIT BAR ONLY(1) WAIT1
                            "mov.b32 %t6, 0;\n@!%p1 st.shared.u32 [%t5+2048], %t6;\n" BAR WAIT0,
                            128, -1),
                        "in-flight");
    strict = true; /* PTX promises it to the threads that wait, for their part */
    assert_string_equal(run(arena, OVERWRITE(0, BAR), 128, -1), "in-flight");
    strict = false;
}

/* The deadlock's text under each schedule, which must be the same. */
static const char *stuck(base_arena *arena, const char *body, uint32_t threads) {
    const char *first = NULL;
    for (unsigned s = 0; s < 6; s++) {
        vm_case *c = vm_case_load(arena, kernel(arena, body));
        vm_case_buffer(c, "in", 16);
        vm_case_buffer(c, "out", (size_t)threads * 16);
        c->launch.schedule = (vm_schedule)(s % 3);
        c->launch.seed = s;
        vm_case_run(c, 1, threads);
        assert_int_equal(c->result->status, VM_DEADLOCK);
        assert_string_equal(vm_case_findings(c), "deadlock");
        const char *text = c->result->findings[0].text;
        if (first != NULL)
            assert_string_equal(text, first);
        first = text;
    }
    return first;
}

static void nobody_comes(void **state) {
    base_arena *arena = *state;
    /* one has ended, one waits elsewhere; the other warpgroup goes through */
    assert_string_equal(
        stuck(arena, ONLY(2) "@!%p1 ret;\n" ONLY(3) "@!%p1 bar.sync 1, 64;\n" FENCE MMA COMMIT WAIT0, 256),
        "warp 0, lanes 0xffffffff: waits at wgmma.mma_async for warp 2 (which has ended), warp 3 of its "
        "warpgroup, line 43\n"
        "warp 1, lanes 0xffffffff: waits at wgmma.mma_async for warp 2 (which has ended), warp 3 of its "
        "warpgroup, line 43\n"
        "warp 3, lanes 0xffffffff: waits at barrier 1 (32 threads arrived of 64 expected), line 41\n"
        "ended before: warp 2, warp 4, warp 5, warp 6, warp 7\n");
    /* two places */
    assert_string_equal(
        stuck(arena, ONLY(1) FENCE "@%p1 bra OTHER;\n" MMA "bra JOIN;\nOTHER:\n" MMA "JOIN:\n" COMMIT WAIT0,
              128),
        "warp 0, lanes 0xffffffff: waits at wgmma.mma_async for warp 1 of its warpgroup, line 43\n"
        "warp 1, lanes 0xffffffff: waits at wgmma.mma_async for warp 0, warp 2, warp 3 of its warpgroup, "
        "line "
        "40\n"
        "warp 2, lanes 0xffffffff: waits at wgmma.mma_async for warp 1 of its warpgroup, line 43\n"
        "warp 3, lanes 0xffffffff: waits at wgmma.mma_async for warp 1 of its warpgroup, line 43\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses),          UNIT_WITH_ARENA(groups),
        UNIT_WITH_ARENA(registers_in_flight), UNIT_WITH_ARENA(operands),
        UNIT_WITH_ARENA(asynchronous_copies), UNIT_WITH_ARENA(meeting),
        UNIT_WITH_ARENA(ends_for_all),        UNIT_WITH_ARENA(nobody_comes),
    };
    return cmocka_run_group_tests_name("vm_wgmma", tests, NULL, NULL);
}
