/* SPDX-License-Identifier: Apache-2.0
 * Clusters: special registers, distributed shared memory, barrier.cluster, asynchronous stores, launch
 * control, setmaxnreg; the same results under every schedule and with any number of workers. */
#include "unit/vm_help.h"

#define STORE_R1 "add.s64 %rd70, %rd90, %rd80;\nst.global.u32 [%rd70], %r1;\n"
#define SYNC     "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"

typedef struct shape {
    uint32_t grid[3], block, cluster[3], sms, per_sm;
} shape;

static const struct {
    vm_schedule schedule;
    uint64_t seed;
    uint32_t threads;
} schedules[] = {{VM_SCHEDULE_EARLY, 0, 1}, {VM_SCHEDULE_EARLY, 0, 4},  {VM_SCHEDULE_LATE, 0, 1},
                 {VM_SCHEDULE_LATE, 5, 2},  {VM_SCHEDULE_RANDOM, 1, 1}, {VM_SCHEDULE_RANDOM, 1, 4},
                 {VM_SCHEDULE_RANDOM, 9, 2}};
enum { SCHEDULES = sizeof schedules / sizeof schedules[0] };

static vm_case *run_one(base_arena *arena, const char *before, const char *body, const shape *how,
                        size_t which, uint32_t **data) {
    vm_case *c = vm_case_load(arena, vm_case_kernel(arena, 1, before, body));
    memcpy(c->launch.grid, how->grid, sizeof how->grid);
    memcpy(c->launch.cluster, how->cluster, sizeof how->cluster);
    c->launch.block[0] = how->block;
    size_t threads = (size_t)how->grid[0] * how->grid[1] * how->grid[2] * how->block;
    *data = vm_case_buffer(c, "data", 4 * threads + 65536);
    c->launch.schedule = schedules[which].schedule;
    c->launch.seed = schedules[which].seed;
    c->launch.threads = schedules[which].threads;
    c->launch.sms = how->sms;
    c->launch.ctas_per_sm = how->per_sm;
    c->result = vm_run(arena, c->program, &c->launch);
    return c;
}

static void registers(void **state) {
    static const shape how = {{8, 6, 2}, 1, {2, 3, 1}, 12, 2};
    for (size_t s = 0; s < SCHEDULES; s++) {
        uint32_t *d;
        vm_case *c =
            run_one(*state, "",
                    "mov.u32 %r1, %ctaid.y;\nmov.u32 %r2, %ctaid.z;\nmad.lo.u32 %r1, %r2, 6, %r1;\n"
                    "mad.lo.u32 %r1, %r1, 8, %r91;\nmul.wide.u32 %rd1, %r1, 64;\nadd.s64 %rd1, %rd1, %rd90;\n"
                    "mov.u32 %r2, %clusterid.x;\nmov.u32 %r3, %clusterid.y;\nmov.u32 %r4, %clusterid.z;\n"
                    "mov.u32 %r5, %cluster_ctaid.x;\nst.global.v4.u32 [%rd1], {%r2, %r3, %r4, %r5};\n"
                    "mov.u32 %r2, %cluster_ctaid.y;\nmov.u32 %r3, %cluster_ctaid.z;\n"
                    "mov.u32 %r4, %cluster_ctarank;\nmov.u32 %r5, %cluster_nctarank;\n"
                    "st.global.v4.u32 [%rd1+16], {%r2, %r3, %r4, %r5};\n"
                    "mov.u32 %r2, %nclusterid.x;\nmov.u32 %r3, %nclusterid.y;\nmov.u32 %r4, %nclusterid.z;\n"
                    "mov.u32 %r5, %cluster_nctaid.x;\nst.global.v4.u32 [%rd1+32], {%r2, %r3, %r4, %r5};\n"
                    "mov.u32 %r2, %cluster_nctaid.y;\nmov.u32 %r3, %cluster_nctaid.z;\n"
                    "mov.pred %p1, %is_explicit_cluster;\nselp.u32 %r4, 1, 0, %p1;\nmov.u32 %r5, %nsmid;\n"
                    "st.global.v4.u32 [%rd1+48], {%r2, %r3, %r4, %r5};\n",
                    &how, s, &d);
        vm_case_clean(c);
        for (uint32_t z = 0; z < 2; z++)
            for (uint32_t y = 0; y < 6; y++)
                for (uint32_t x = 0; x < 8; x++) {
                    const uint32_t *got = d + 16 * ((z * 6 + y) * 8 + x);
                    const uint32_t expected[16] = {
                        x / 2, y / 3, z, x % 2, y % 3, 0, x % 2 + 2 * (y % 3), 6, 4, 2, 2, 2, 3, 1, 1, 12};
                    assert_memory_equal(got, expected, sizeof expected);
                }
    }
}

/* Each CTA reads the next one's shared memory by three kinds of address, and adds to that of rank 0. */
static void distributed(void **state) {
    static const shape how = {{24, 1, 1}, 64, {4, 1, 1}, 8, 3};
    const char *body =
        "mov.u32 %r10, tile;\nshl.b32 %r11, %r93, 2;\nadd.u32 %r12, %r10, %r11;\nadd.u32 %r13, %r90, 1000;\n"
        "st.shared.u32 [%r12], %r13;\nsetp.eq.u32 %p1, %r93, 0;\n@%p1 st.shared.u32 [sum], 0;\n" SYNC
        "mov.u32 %r20, %cluster_ctarank;\nmov.u32 %r21, %cluster_nctarank;\nadd.u32 %r22, %r20, 1;\n"
        "rem.u32 %r22, %r22, %r21;\nmapa.shared::cluster.u32 %r23, %r12, %r22;\n"
        "ld.shared::cluster.u32 %r24, [%r23];\n"
        "cvta.shared.u64 %rd1, tile;\ncvt.u64.u32 %rd2, %r11;\nadd.s64 %rd1, %rd1, %rd2;\n"
        "mapa.u64 %rd3, %rd1, %r22;\nld.u32 %r25, [%rd3];\n"
        "mapa.shared::cluster.u32 %r26, sum, 0;\natom.shared::cluster.add.u32 %r27, [%r26], 1;\n"
        "red.shared::cluster.add.u32 [%r26], 2;\n"
        "getctarank.shared::cluster.u32 %r28, %r23;\ngetctarank.u64 %r29, %rd3;\n"
        "shr.u32 %r30, %r10, 24;\n" /* the own address carries the own rank */
        "and.b32 %r31, %r12, 0xffffff;\nshl.b32 %r32, %r20, 24;\nor.b32 %r31, %r31, %r32;\n"
        "ld.shared.u32 %r33, [%r31];\n" SYNC "ld.shared.u32 %r34, [sum];\n"
        "mul.lo.u32 %r1, %r24, 3;\nadd.u32 %r1, %r1, %r25;\nmad.lo.u32 %r1, %r28, 1000000, %r1;\n"
        "isspacep.shared::cta %p4, %rd3;\nisspacep.shared::cluster %p5, %rd3;\n"
        "isspacep.shared %p6, %rd1;\n@%p4 trap;\n@!%p5 trap;\n@!%p6 trap;\n"
        "mad.lo.u32 %r1, %r29, 10000000, %r1;\nmad.lo.u32 %r1, %r30, 100000000, %r1;\n"
        "sub.u32 %r33, %r33, %r13;\nadd.u32 %r1, %r1, %r33;\nmad.lo.u32 %r1, %r34, 7, %r1;\n" STORE_R1;
    for (size_t s = 0; s < SCHEDULES; s++) {
        uint32_t *d;
        vm_case *c = run_one(*state,
                             ".shared .align 4 .b32 pad[8];\n.shared .align 4 .b32 tile[64];\n"
                             ".shared .align 4 .b32 sum;\n",
                             body, &how, s, &d);
        vm_case_clean(c);
        for (uint32_t cta = 0; cta < 24; cta++)
            for (uint32_t t = 0; t < 64; t++) {
                uint32_t rank = cta % 4, next = (rank + 1) % 4;
                uint32_t value = (cta / 4 * 4 + next) * 64 + t + 1000, sum = rank == 0 ? 3 * 256 : 0;
                assert_int_equal(d[cta * 64 + t], 4 * value + 11000000 * next + 100000000 * rank + 7 * sum);
            }
    }
}

/* Every CTA arrives at the barrier of rank 0 and brings bytes; rank 0 waits. */
static void remote_arrivals(void **state) {
    static const shape how = {{8, 1, 1}, 32, {4, 1, 1}, 0, 0};
    const char *body =
        "setp.eq.u32 %p1, %r93, 0;\nmov.u32 %r20, %cluster_ctarank;\nsetp.eq.u32 %p2, %r20, 0;\n"
        "@%p1 mbarrier.init.shared.b64 [bar], 129;\n@%p1 fence.mbarrier_init.release.cluster;\n" SYNC
        "and.pred %p3, %p1, %p2;\n@%p3 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 2080;\n"
        "mapa.shared::cluster.u32 %r21, bar, 0;\nmapa.shared::cluster.u32 %r22, data, 0;\n"
        "shl.b32 %r23, %r20, 9;\nadd.u32 %r22, %r22, %r23;\nshl.b32 %r23, %r93, 4;\nadd.u32 %r22, %r22, "
        "%r23;\n"
        "add.u32 %r24, %r90, 5;\nadd.u32 %r25, %r90, 6;\nadd.u32 %r26, %r90, 7;\nadd.u32 %r27, %r90, 8;\n"
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r22], {%r24, %r25, %r26, %r27}, "
        "[%r21];\n"
        "mapa.shared::cluster.u32 %r28, total, 0;\n"
        "setp.lt.u32 %p4, %r93, 2;\n"
        "@%p4 red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r28], %r90, "
        "[%r21];\n"
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r21];\n@!%p2 bra out;\n"
        "wait:\nmbarrier.try_wait.parity.acquire.cluster.shared.b64 %p5, [bar], 0;\n@!%p5 bra wait;\n"
        "mov.u32 %r1, 0;\nmov.u32 %r30, 0;\nmov.u32 %r31, data;\nmad.lo.u32 %r31, %r93, 4, %r31;\n"
        "sum:\nld.shared.u32 %r32, [%r31];\nadd.u32 %r1, %r1, %r32;\nadd.u32 %r31, %r31, 128;\n"
        "add.u32 %r30, %r30, 1;\nsetp.lt.u32 %p6, %r30, 16;\n@%p6 bra sum;\n"
        "ld.shared.u32 %r33, [total];\nmad.lo.u32 %r1, %r33, 100000, %r1;\n" STORE_R1 "out:\n" SYNC;
    for (size_t s = 0; s < SCHEDULES; s++) {
        uint32_t *d;
        vm_case *c = run_one(*state,
                             ".shared .align 8 .b64 bar;\n.shared .align 16 .b8 data[2048];\n"
                             ".shared .align 4 .b32 total;\n",
                             body, &how, s, &d);
        vm_case_clean(c);
        for (uint32_t cluster = 0; cluster < 2; cluster++)
            for (uint32_t t = 0; t < 32; t++) {
                uint32_t total = 0, sum = 0;
                for (uint32_t rank = 0; rank < 4; rank++)
                    total += 2 * (cluster * 4 + rank) * 32 + 1;
                for (uint32_t i = 0; i < 16; i++) {
                    uint32_t word = t + 32 * i;
                    sum += (cluster * 4 + word / 128) * 32 + word % 128 / 4 + 5 + word % 4;
                }
                assert_int_equal(d[cluster * 128 + t], sum + total * 100000);
            }
    }
}

/* Every form of st.async and red.async, to the other CTA of a pair: 16 bytes that were there, what arrives.
 */
static void async_forms(void **state) {
#define COMPLETE ".mbarrier::complete_tx::bytes"
    static const struct {
        const char *form, *operand;
        uint32_t bytes, expected[4];
    } cases[] = {
        {"st.async.shared::cluster" COMPLETE ".b32", "%r10", 4, {3, 8, 9, 10}},
        {"st.async.weak.shared::cluster" COMPLETE ".u32", "%r10", 4, {3, 8, 9, 10}},
        {"st.async.weak.shared::cluster" COMPLETE ".s64", "%rd10", 8, {0x55, 0x77, 9, 10}},
        {"st.async" COMPLETE ".f32", "%f10", 4, {0x3fc00000, 8, 9, 10}},
        {"st.async.shared::cluster" COMPLETE ".f64", "%fd10", 8, {0, 0x3ff80000, 9, 10}},
        {"st.async.shared::cluster" COMPLETE ".v2.b32", "{%r10, %r11}", 8, {3, 0xfffffffe, 9, 10}},
        {"st.async.shared::cluster" COMPLETE ".v4.s32",
         "{%r10, %r11, %r10, %r11}",
         16,
         {3, 0xfffffffe, 3, 0xfffffffe}},
        {"st.async.shared::cluster" COMPLETE ".v2.u64", "{%rd10, %rd10}", 16, {0x55, 0x77, 0x55, 0x77}},
        {"red.async.relaxed.cluster.shared::cluster" COMPLETE ".inc.u32", "%r10", 4, {0, 8, 9, 10}},
        {"red.async.relaxed.cluster.shared::cluster" COMPLETE ".dec.u32", "%r10", 4, {3, 8, 9, 10}},
        {"red.async.relaxed.cluster.shared::cluster" COMPLETE ".min.u32", "%r11", 4, {7, 8, 9, 10}},
        {"red.async.relaxed.cluster" COMPLETE ".min.s32", "%r11", 4, {0xfffffffe, 8, 9, 10}},
        {"red.async.relaxed.cluster.shared::cluster" COMPLETE ".max.u32", "%r11", 4, {0xfffffffe, 8, 9, 10}},
        {"red.async.relaxed.cluster.shared::cluster" COMPLETE ".max.s32", "%r11", 4, {7, 8, 9, 10}},
        {"red.async.relaxed.cluster.shared::cluster" COMPLETE ".and.b32", "%r10", 4, {3, 8, 9, 10}},
        {"red.async.relaxed.cluster.shared::cluster" COMPLETE ".or.b32", "%r11", 4, {0xffffffff, 8, 9, 10}},
        {"red.async.relaxed.cluster.shared::cluster" COMPLETE ".xor.b32", "%r10", 4, {4, 8, 9, 10}},
        {"red.async.relaxed.cluster.shared::cluster" COMPLETE ".add.u32", "%r10", 4, {10, 8, 9, 10}},
        {"red.async.relaxed.cluster.shared::cluster" COMPLETE ".add.s32", "%r11", 4, {5, 8, 9, 10}},
        {"red.async.relaxed.cluster.shared::cluster" COMPLETE ".add.u64", "%rd10", 8, {0x5c, 0x7f, 9, 10}},
    };
    static const shape how = {{2, 1, 1}, 1, {2, 1, 1}, 0, 0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (size_t s = 0; s < SCHEDULES; s++) {
            bool generic = strstr(cases[i].form, "shared::cluster") == NULL;
            const char *body = base_arena_format(
                *state,
                "mov.u32 %%r10, 3;\nmov.u32 %%r11, -2;\nmov.u64 %%rd10, 0x7700000055;\nmov.f32 %%f10, "
                "0f3FC00000;\n"
                "mov.f64 %%fd10, 0d3FF8000000000000;\nmov.u32 %%r1, 7;\nmov.u32 %%r2, 8;\nmov.u32 %%r3, 9;\n"
                "mov.u32 %%r4, 10;\nst.shared.v4.u32 [cell], {%%r1, %%r2, %%r3, %%r4};\n"
                "mbarrier.init.shared.b64 [bar], 1;\n"
                "mbarrier.arrive.expect_tx.shared.b64 _, [bar], %u;\n" SYNC
                "mov.u32 %%r20, %%cluster_ctarank;\nxor.b32 %%r20, %%r20, 1;\n"
                "mapa.shared::cluster.u32 %%r21, cell, %%r20;\nmapa.shared::cluster.u32 %%r22, bar, %%r20;\n"
                "cvta.shared.u64 %%rd1, cell;\nmapa.u64 %%rd1, %%rd1, %%r20;\ncvta.shared.u64 %%rd2, bar;\n"
                "mapa.u64 %%rd2, %%rd2, %%r20;\n%s [%s], %s, [%s];\n"
                "wait:\nmbarrier.try_wait.parity.shared.b64 %%p1, [bar], 0;\n@!%%p1 bra wait;\n"
                "ld.shared.v4.u32 {%%r1, %%r2, %%r3, %%r4}, [cell];\nmul.wide.u32 %%rd3, %%r91, 16;\n"
                "add.s64 %%rd3, %%rd3, %%rd90;\nst.global.v4.u32 [%%rd3], {%%r1, %%r2, %%r3, %%r4};\n" SYNC,
                cases[i].bytes, cases[i].form, generic ? "%rd1" : "%r21", cases[i].operand,
                generic ? "%rd2" : "%r22");
            uint32_t *d;
            vm_case *c = run_one(*state, ".shared .align 16 .b8 cell[16];\n.shared .align 8 .b64 bar;\n",
                                 body, &how, s, &d);
            vm_case_clean(c);
            assert_memory_equal(d, cases[i].expected, 16);
            assert_memory_equal(d + 4, cases[i].expected, 16);
        }
#undef COMPLETE
}

/* Forms to global memory, multicast cancellation, fences and hints. */
/* A generic address of shared memory in a form with .shared: the register is wider than the space's
 * addresses and is truncated (PTX ISA 6.4.1). The barrier made so is the barrier that the others see. */
static void wide_addresses(void **state) {
    static const shape how = {{3, 1, 1}, 32, {1, 1, 1}, 2, 1};
    for (size_t s = 0; s < SCHEDULES; s++) {
        uint32_t *d;
        vm_case *c =
            run_one(*state, ".shared .align 8 .b8 pad[40];\n.shared .align 8 .b64 bar;\n",
                    "cvta.shared.u64 %rd1, bar;\nsetp.eq.u32 %p1, %r93, 0;\n"
                    "@%p1 mbarrier.init.shared::cta.b64 [%rd1], 32;\nbar.sync 0;\n"
                    "mbarrier.arrive.shared::cta.b64 _, [%rd1];\nmov.u32 %r2, bar;\n"
                    "wait:\nmbarrier.test_wait.parity.shared::cta.b64 %p2, [%r2], 0;\n@!%p2 bra wait;\n"
                    "mov.u32 %r1, 7;\n" STORE_R1,
                    &how, s, &d);
        vm_case_clean(c);
        for (unsigned i = 0; i < 96; i++)
            assert_int_equal(d[i], 7);
    }
}

static void other_forms(void **state) {
    static const shape how = {{8, 1, 1}, 32, {2, 1, 1}, 2, 1};
    const char *body =
        "setp.eq.u32 %p1, %r93, 0;\nmov.u32 %r20, %cluster_ctarank;\nsetp.eq.u32 %p2, %r20, 0;\n"
        "and.pred %p3, %p1, %p2;\n@%p1 mbarrier.init.shared::cta.b64 [bar], 1;\n"
        "@%p1 fence.mbarrier_init.release.cluster;\nbarrier.cluster.arrive.release;\n"
        "barrier.cluster.wait.acquire;\ngriddepcontrol.wait;\n"
        "mov.u32 %r3, %ctaid.x;\nsub.u32 %r3, %r3, %r20;\nmov.u32 %r2, 0;\nnext:\n"
        "add.u32 %r4, %r3, %r20;\nmad.lo.u32 %r5, %r4, 32, %r93;\nmul.wide.u32 %rd1, %r5, 8;\n"
        "add.s64 %rd1, %rd1, %rd90;\nadd.u32 %r6, %r5, 1000;\n"
        "st.async.release.gpu.global.u32 [%rd1], %r6;\nred.async.release.gpu.global.add.u32 [%rd1+4], 5;\n"
        "fence.proxy.async;\nfence.proxy.async.shared::cta;\nfence.acq_rel.cluster;\nfence.sc.gpu;\n"
        "fence.acquire.sync_restrict::shared::cluster.cluster;\nfence.release.sync_restrict::shared::cta."
        "cluster;\n"
        "nanosleep.u32 20;\n"
        "@%p1 mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [bar], 16;\n" SYNC
        "@%p3 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes"
        ".multicast::cluster::all.b128 [answer], [bar];\n"
        "wait:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p4, [bar], %r2;\n@!%p4 bra wait;\n"
        "xor.b32 %r2, %r2, 1;\nld.shared.b128 %q1, [answer];\n" SYNC
        "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p5, %q1;\n@!%p5 bra done;\n"
        "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r3, %q1;\n"
        "clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 %r7, %q1;\n"
        "clusterlaunchcontrol.query_cancel.get_first_ctaid::z.b32.b128 %r8, %q1;\n"
        "or.b32 %r7, %r7, %r8;\nsetp.ne.u32 %p6, %r7, 0;\n@%p6 trap;\nbra next;\ndone:\n"
        "griddepcontrol.launch_dependents;\n";
    for (size_t s = 0; s < SCHEDULES; s++) {
        uint32_t *d;
        vm_case *c = run_one(*state, ".shared .align 8 .b64 bar;\n.shared .align 16 .b8 answer[16];\n", body,
                             &how, s, &d);
        vm_case_clean(c);
        assert_int_equal(c->result->ctas, 8);
        for (uint32_t i = 0; i < 8 * 32; i++) {
            assert_int_equal(d[2 * i], i + 1000);
            assert_int_equal(d[2 * i + 1], 5);
        }
    }
}

/* A persistent kernel that takes back CTAs which have not started: each index is done once. */
static void launch_control(void **state) {
    static const shape how = {{40, 1, 1}, 32, {1, 1, 1}, 4, 2};
    const char *body =
        "setp.eq.u32 %p1, %r93, 0;\n@%p1 mbarrier.init.shared.b64 [bar], 1;\nbar.sync 0;\nmov.u32 %r2, 0;\n"
        "mov.u32 %r3, %r91;\nnext:\n"
        "mad.lo.u32 %r4, %r3, 32, %r93;\nmul.wide.u32 %rd1, %r4, 4;\nadd.s64 %rd1, %rd1, %rd90;\n"
        "red.global.add.u32 [%rd1], %r4;\n"
        "@%p1 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [answer], "
        "[bar];\n"
        "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;\n"
        "wait:\nmbarrier.try_wait.parity.shared.b64 %p2, [bar], %r2;\n@!%p2 bra wait;\nxor.b32 %r2, %r2, 1;\n"
        "ld.shared.b128 %q1, [answer];\nbar.sync 0;\n"
        "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, %q1;\n@!%p3 bra done;\n"
        "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r3, %q1;\n"
        "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r5, %r6, %r7, _}, %q1;\n"
        "setp.ne.u32 %p4, %r5, %r3;\n@%p4 trap;\nbra next;\ndone:\n";
    for (size_t s = 0; s < SCHEDULES; s++) {
        uint32_t *d;
        vm_case *c = run_one(*state, ".shared .align 8 .b64 bar;\n.shared .align 16 .b8 answer[16];\n", body,
                             &how, s, &d);
        vm_case_clean(c);
        assert_int_equal(c->result->ctas, 40);
        for (uint32_t i = 0; i < 40 * 32; i++)
            assert_int_equal(d[i], i);
    }
}

static void expect(base_arena *arena, const char *before, const char *body, const shape *how,
                   vm_status status, const char *findings, const char *text) {
    for (size_t s = 0; s < SCHEDULES; s++) {
        uint32_t *d;
        vm_case *c = run_one(arena, before, body, how, s, &d);
        if (c->result->status != status || strcmp(vm_case_findings(c), findings) != 0)
            fail_msg("schedule %zu: status %d, findings '%s', expected '%s' for\n%s", s, c->result->status,
                     vm_case_findings(c), findings, body);
        if (text == NULL)
            continue;
        const char *got = c->result->findings[c->result->finding_count - 1].text;
        if (got == NULL || strstr(got, text) == NULL)
            fail_msg("'%s' is not in '%s'", text, got ? got : "");
    }
}

static void misuse(void **state) {
    static const shape pair = {{4, 1, 1}, 32, {2, 1, 1}, 0, 0};
    const char *tile = ".shared .align 8 .b64 bar;\n.shared .align 4 .b32 tile[64];\n";
    expect(*state, tile, "mapa.shared::cluster.u32 %r1, tile, 2;\n", &pair, VM_COMPLETE, "cluster-rank",
           NULL);
    expect(*state, tile, "barrier.cluster.wait;\n", &pair, VM_COMPLETE, "cluster-barrier", "a wait without");
    expect(*state, tile, "barrier.cluster.arrive;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n", &pair,
           VM_COMPLETE, "cluster-barrier", "second arrival");
    /* the plain form reaches the own CTA only */
    expect(
        *state, tile,
        "mov.u32 %r20, %cluster_ctarank;\nxor.b32 %r20, %r20, 1;\nmapa.shared::cluster.u32 %r1, tile, %r20;\n"
        "ld.shared.u32 %r2, [%r1];\n" SYNC,
        &pair, VM_COMPLETE, "bad-space", NULL);
    expect(
        *state, tile,
        "mov.u32 %r20, %cluster_ctarank;\nxor.b32 %r21, %r20, 1;\nmapa.shared::cluster.u32 %r1, bar, %r21;\n"
        "setp.eq.u32 %p1, %r93, 0;\n@%p1 mbarrier.init.shared.b64 [bar], 1;\n" SYNC
        "@%p1 mbarrier.arrive.shared.b64 %rd1, [%r1];\n" SYNC,
        &pair, VM_COMPLETE, "mbarrier-remote", NULL);
    /* rank 1 leaves while rank 0 reads its memory */
    expect(*state, tile,
           "mov.u32 %r20, %cluster_ctarank;\nsetp.eq.u32 %p1, %r20, 1;\n@%p1 exit;\nmapa.shared::cluster.u32 "
           "%r1, tile, 1;\n"
           "mov.u32 %r3, 0;\nagain:\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\nadd.u32 %r3, %r3, 1;\n"
           "setp.lt.u32 %p2, %r3, 40;\n@%p2 bra again;\nld.shared::cluster.u32 %r2, [%r1];\n",
           &pair, VM_COMPLETE, "cluster-exited", "CTA (1,0,0)");
    /* rank 1 never arrives, and waits for something else */
    expect(*state, tile,
           "setp.eq.u32 %p1, %r93, 0;\n@%p1 mbarrier.init.shared.b64 [bar], 1;\nbar.sync 0;\n"
           "mov.u32 %r20, %cluster_ctarank;\nsetp.eq.u32 %p1, %r20, 1;\n@%p1 bra other;\n" SYNC
           "bra out;\nother:\nmbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;\n@!%p2 bra other;\nout:\n",
           &pair, VM_DEADLOCK, "deadlock",
           "barrier of the cluster (phase 0), where 32 threads of CTA (1,0,0)");
}

static void launches(void **state) {
    static const struct {
        shape how;
        const char *before, *text;
    } cases[] = {
        {{{5, 1, 1}, 32, {2, 1, 1}, 0, 0}, "", "grid.x is 5, which is no multiple of the cluster's 2"},
        {{{32, 2, 1}, 32, {16, 2, 1}, 0, 0}, "", "a cluster of 32 CTAs; at most 16"},
        {{{4, 1, 1}, 32, {4, 1, 1}, 2, 0}, "", "does not fit on 2 SMs"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect(*state, cases[i].before, "mov.u32 %r1, %cluster_ctarank;\n", &cases[i].how, VM_BAD_LAUNCH,
               "bad-launch", cases[i].text);
}

static vm_case *run_text(base_arena *arena, const char *directives, const char *body, const shape *how) {
    base_builder text;
    base_builder_start(&text, arena);
    base_builder_format(&text,
                        PTX_HEADER
                        ".visible .entry k(.param .u64 p0)\n%s\n{\n.reg .pred %%p<9>;\n.reg .b32 %%r<20>;\n"
                        ".reg .b64 %%rd<9>;\nld.param.u64 %%rd1, [p0];\n%sret;\n}\n",
                        directives, body);
    vm_case *c = vm_case_load(arena, text.data);
    memcpy(c->launch.grid, how->grid, sizeof how->grid);
    memcpy(c->launch.cluster, how->cluster, sizeof how->cluster);
    c->launch.block[0] = how->block;
    vm_case_buffer(c, "data", 65536);
    c->result = vm_run(arena, c->program, &c->launch);
    return c;
}

static void directives(void **state) {
    static const shape none = {{6, 1, 1}, 32, {0, 0, 0}, 0, 0}, other = {{6, 1, 1}, 32, {2, 1, 1}, 0, 0};
    const char *rank = "mov.u32 %r1, %cluster_nctarank;\nst.global.u32 [%rd1], %r1;\n";
    vm_case *c = run_text(*state, ".explicitcluster\n.reqnctapercluster 3", rank, &none);
    vm_case_clean(c);
    assert_int_equal(*(uint32_t *)c->buffers[0].data, 3);
    c = run_text(*state, ".explicitcluster\n.reqnctapercluster 3", rank, &other);
    assert_int_equal(c->result->status, VM_BAD_LAUNCH);
    assert_non_null(strstr(c->result->findings[0].text, "requires clusters of 3 x 1 x 1"));
    c = run_text(*state, ".explicitcluster", rank, &none);
    assert_int_equal(c->result->status, VM_BAD_LAUNCH);
    c = run_text(*state, ".maxclusterrank 1", rank, &other);
    assert_int_equal(c->result->status, VM_BAD_LAUNCH);
}

/* Two warpgroups: one gives registers, the other takes them; then more than there are. */
static void register_pool(void **state) {
    static const shape how = {{1, 1, 1}, 256, {0, 0, 0}, 0, 0};
    const char *head = "mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 128;\n@%p1 bra first;\n";
    base_builder text;
    base_builder_start(&text, *state);
    base_builder_format(&text,
                        "%ssetmaxnreg.inc.sync.aligned.u32 200;\nbra out;\nfirst:\n"
                        "setmaxnreg.dec.sync.aligned.u32 56;\nout:\n",
                        head);
    vm_case *c = run_text(*state, ".maxntid 256\n.maxnreg 128", text.data, &how);
    vm_case_clean(c);
    text.size = 0;
    base_builder_format(&text,
                        "%ssetmaxnreg.inc.sync.aligned.u32 208;\nbra out;\nfirst:\n"
                        "setmaxnreg.dec.sync.aligned.u32 56;\nout:\n",
                        head);
    c = run_text(*state, ".maxntid 256\n.maxnreg 128", text.data, &how);
    assert_int_equal(c->result->status, VM_DEADLOCK);
    assert_non_null(strstr(c->result->findings[0].text, "waits for 2560 registers"));
    c = run_text(*state, ".maxntid 256\n.maxnreg 128", "setmaxnreg.dec.sync.aligned.u32 160;\n", &how);
    assert_string_equal(vm_case_findings(c), "registers");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(registers),      UNIT_WITH_ARENA(distributed),    UNIT_WITH_ARENA(remote_arrivals),
        UNIT_WITH_ARENA(launch_control), UNIT_WITH_ARENA(async_forms),    UNIT_WITH_ARENA(other_forms),
        UNIT_WITH_ARENA(misuse),         UNIT_WITH_ARENA(launches),       UNIT_WITH_ARENA(directives),
        UNIT_WITH_ARENA(register_pool),  UNIT_WITH_ARENA(wide_addresses),
    };
    return cmocka_run_group_tests_name("vm cluster", tests, NULL, NULL);
}
