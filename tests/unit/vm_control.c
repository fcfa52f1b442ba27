/* SPDX-License-Identifier: Apache-2.0
 * Divergence, barriers, deadlocks, collectives, calls, printf and assert. */
#include "unit/vm_help.h"

#define STORE_R1 "add.s64 %rd70, %rd90, %rd80;\nst.global.u32 [%rd70], %r1;\n"

static uint32_t *run(vm_case **out, base_arena *arena, const char *before, const char *body, uint32_t grid,
                     uint32_t block) {
    vm_case *c = vm_case_load(arena, vm_case_kernel(arena, 1, before, body));
    uint32_t *data = vm_case_buffer(c, "data", 4 * (size_t)grid * block + 4096);
    vm_case_run(c, grid, block);
    *out = c;
    return data;
}

/* Lanes that part meet again: the collective after the join sees all of them, without any lane waiting in
 * vain. */
static void diamond_and_loop(void **state) {
    vm_case *c;
    uint32_t *d =
        run(&c, *state, "",
            "and.b32 %r2, %r90, 3;\nmov.u32 %r1, 0;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra even;\n"
            "loop:\nadd.u32 %r1, %r1, %r2;\nsub.u32 %r2, %r2, 1;\nsetp.ne.u32 %p2, %r2, 0;\n@%p2 bra loop;\n"
            "bra join;\neven:\nmov.u32 %r1, 100;\njoin:\nactivemask.b32 %r3;\npopc.b32 %r3, %r3;\n"
            "mad.lo.u32 %r1, %r3, 1000, %r1;\n" STORE_R1,
            1, 50);
    vm_case_clean(c);
    static const uint32_t sums[4] = {100, 1, 3, 6};
    for (uint32_t t = 0; t < 50; t++)
        assert_int_equal(d[t], (t < 32 ? 32000 : 18000) + sums[t & 3]);
}

/* A value from an earlier round of a loop, set under a condition: one definition that does not dominate its
 * use. */
static void last_value(void **state) {
    vm_case *c;
    uint32_t *d =
        run(&c, *state, "",
            "mov.u32 %r2, 0;\nmov.u32 %r1, 0;\nloop:\nmul.lo.u32 %r3, %r2, %r2;\nadd.u32 %r4, %r3, %r90;\n"
            "setp.ne.u32 %p1, %r2, 3;\n@%p1 bra other;\nmov.u32 %r5, %r4;\nbra next;\nother:\n"
            "setp.lt.u32 %p2, %r2, 4;\n@%p2 bra next;\nadd.u32 %r1, %r1, %r5;\nnext:\nadd.u32 %r2, %r2, 1;\n"
            "setp.lt.u32 %p3, %r2, 7;\n@%p3 bra loop;\n" STORE_R1,
            1, 32);
    vm_case_clean(c);
    for (uint32_t t = 0; t < 32; t++)
        assert_int_equal(d[t], 3 * (9 + t));
}

static void switch_table(void **state) {
    vm_case *c;
    uint32_t *d =
        run(&c, *state, "",
            "and.b32 %r2, %r90, 3;\nts: .branchtargets l0, l1, l2, l1;\nbrx.idx %r2, ts;\n"
            "l0:\nmov.u32 %r1, 10;\nbra out;\nl1:\nadd.u32 %r1, %r90, 20;\nbra out;\nl2:\nmov.u32 %r1, 30;\n"
            "out:\nbar.warp.sync -1;\n" STORE_R1,
            1, 64);
    vm_case_clean(c);
    for (uint32_t t = 0; t < 64; t++)
        assert_int_equal(d[t], t % 4 == 0 ? 10 : t % 4 == 2 ? 30 : 20 + t);
}

/* Guarded operations change the guarded lanes only, predicates too, and a guard may be overwritten under
 * itself. */
static void guards(void **state) {
    vm_case *c;
    uint32_t *d =
        run(&c, *state, "",
            "and.b32 %r2, %r90, 1;\nsetp.eq.u32 %p1, %r2, 0;\nmov.u32 %r1, 5;\nsetp.eq.u32 %p2, %r2, 7;\n"
            "@%p1 add.u32 %r1, %r1, %r90;\n@%p1 mul.lo.u32 %r1, %r1, 3;\n@!%p1 sub.u32 %r1, %r1, 1;\n"
            "@%p1 setp.gt.u32 %p1, %r90, 15;\n@%p1 add.u32 %r1, %r1, 1000;\n"
            "@!%p2 st.global.u32 [%rd90+2048], %r1;\n" STORE_R1,
            1, 32);
    vm_case_clean(c);
    for (uint32_t t = 0; t < 32; t++)
        assert_int_equal(d[t], t & 1 ? 4 : (5 + t) * 3 + (t > 15 ? 1000 : 0));
}

/* Shared memory through barriers, a reduction by all warps, named barriers with a producer and a consumer. */
static void barriers(void **state) {
    vm_case *c;
    uint32_t *d =
        run(&c, *state, ".shared .align 4 .b8 tile[1024];\n",
            "mov.u32 %r2, tile;\nshl.b32 %r3, %r93, 2;\nadd.u32 %r4, %r2, %r3;\nst.shared.u32 [%r4], %r93;\n"
            "bar.sync 0;\nsub.u32 %r5, 199, %r93;\nshl.b32 %r5, %r5, 2;\nadd.u32 %r5, %r5, %r2;\n"
            "ld.shared.u32 %r1, [%r5];\nsetp.lt.u32 %p1, %r93, 70;\nbar.red.popc.u32 %r6, 1, %p1;\n"
            "bar.red.and.pred %p2, 2, %p1;\nbar.red.or.pred %p3, 3, %p1;\nselp.u32 %r7, 10000, 0, %p2;\n"
            "selp.u32 %r8, 20000, 0, %p3;\nadd.u32 %r1, %r1, %r7;\nadd.u32 %r1, %r1, %r8;\n"
            "mad.lo.u32 %r1, %r6, 100000, %r1;\n" STORE_R1,
            3, 200);
    vm_case_clean(c);
    for (uint32_t t = 0; t < 600; t++)
        assert_int_equal(d[t], 199 - t % 200 + 20000 + 70 * 100000);
    d = run(&c, *state, ".shared .align 4 .b8 word[4];\n",
            "setp.ge.u32 %p1, %r93, 32;\n@%p1 bra consumer;\nsetp.ne.u32 %p2, %r93, 0;\n@!%p2 st.shared.u32 "
            "[word], 77;\n"
            "bar.arrive 5, 64;\nmov.u32 %r1, 1;\nbra out;\nconsumer:\nbar.sync 5, 64;\nld.shared.u32 %r1, "
            "[word];\nout:\n" STORE_R1,
            1, 64);
    vm_case_clean(c);
    for (uint32_t t = 0; t < 64; t++)
        assert_int_equal(d[t], t < 32 ? 1 : 77);
}

/* Parts of a warp that come to the barrier one after the other, and lanes that left before, complete it. */
static void barrier_in_parts(void **state) {
    vm_case *c;
    uint32_t *d =
        run(&c, *state, "",
            "setp.ge.u32 %p4, %r93, 60;\n@%p4 exit;\nand.b32 %r2, %r90, 1;\nsetp.eq.u32 %p1, %r2, 0;\n"
            "@%p1 bra first;\nbarrier.sync 0;\nmov.u32 %r1, 1;\nbra out;\nfirst:\nbarrier.sync 0;\n"
            "mov.u32 %r1, 2;\nout:\n" STORE_R1,
            1, 64);
    vm_case_clean(c);
    for (uint32_t t = 0; t < 64; t++)
        assert_int_equal(d[t], t >= 60 ? 0 : t & 1 ? 1 : 2);
}

/* A missing barrier shows when the warps run in another order; the same seed repeats a run, whatever the
 * workers. */
static void schedules(void **state) {
    const char *body =
        "mov.u32 %r2, word;\nsetp.ne.u32 %p1, %r93, 0;\n@!%p1 st.shared.u32 [word], 5;\n"
        "ld.shared.u32 %r1, [word];\nclock: mov.u32 %r3, %clock;\nmad.lo.u32 %r1, %r3, 16, %r1;\n" STORE_R1;
    uint32_t results[4][256];
    for (int i = 0; i < 4; i++) {
        vm_case *c = vm_case_load(*state, vm_case_kernel(*state, 1, ".shared .align 4 .b8 word[4];\n", body));
        uint32_t *data = vm_case_buffer(c, "data", sizeof results[0]);
        c->launch.schedule = i == 0 ? VM_SCHEDULE_EARLY : i == 1 ? VM_SCHEDULE_LATE : VM_SCHEDULE_RANDOM;
        c->launch.seed = 7;
        c->launch.threads = i == 3 ? 3 : 1;
        vm_case_run(c, 2, 128);
        vm_case_clean(c);
        memcpy(results[i], data, sizeof results[0]);
    }
    assert_int_equal(results[0][100] & 15, 5);
    assert_int_equal(results[1][100] & 15, 0);
    assert_int_equal(results[1][0] & 15, 5);
    assert_memory_equal(results[2], results[3], sizeof results[2]);
    assert_memory_not_equal(results[0], results[2], sizeof results[0]);
}

static void deadlocks(void **state) {
    static const struct {
        const char *body, *findings, *text;
    } cases[] = {
        {"setp.lt.u32 %p1, %r93, 32;\n@%p1 bar.sync 0, 64;\n", "deadlock",
         "barrier 0 (32 threads arrived of 64"},
        {"setp.lt.u32 %p1, %r93, 40;\n@%p1 bar.sync 1;\n@!%p1 bar.sync 2;\n", "deadlock", "barrier 2"},
        {"setp.lt.u32 %p1, %r93, 16;\n@%p1 bra a;\nbar.sync 3, 64;\nbra b;\na:\nbar.warp.sync -1;\nb:\n",
         "collective-lanes deadlock", "waits at bar.warp.sync for lanes 0xffff0000"},
        {"spin:\nld.volatile.global.u32 %r1, [%rd90];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra spin;\n",
         "deadlock", "repeats a poll"},
        {"spin:\natom.shared.cas.b32 %r1, [word], 1, 2;\nsetp.ne.u32 %p1, %r1, 1;\n@%p1 bra spin;\n",
         "deadlock", "repeats a poll"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        vm_case *c;
        run(&c, *state, ".shared .align 4 .b8 word[4];\n", cases[i].body, 2, 64);
        assert_int_equal(c->result->status, VM_DEADLOCK);
        assert_string_equal(vm_case_findings(c), cases[i].findings);
        const char *text = c->result->findings[c->result->finding_count - 1].text;
        assert_non_null(text);
        if (strstr(text, cases[i].text) == NULL)
            fail_msg("case %zu: %s", i, text);
    }
}

static void barrier_mismatches(void **state) {
    vm_case *c;
    run(&c, *state, "", "bar.sync 0, 50;\n", 1, 64);
    assert_string_equal(vm_case_findings(c), "barrier-mismatch");
    assert_int_equal(c->result->status, VM_COMPLETE);
    run(&c, *state, "", "mov.u32 %r2, 16;\nbarrier.sync %r2;\n", 1, 64);
    assert_int_equal(c->result->status, VM_FAULTED);
    run(&c, *state, "",
        "setp.lt.u32 %p1, %r93, 32;\n@%p1 bra a;\nbar.sync 1, 64;\nbra b;\na:\nbar.sync 1, 96;\nb:\n", 1, 96);
    assert_true(strncmp(vm_case_findings(c), "barrier-mismatch", 16) == 0);
}

/* A lock taken by lane after lane; a flag set by one lane while the others of the warp spin; CTAs that wait
 * for each other. */
static void progress(void **state) {
    vm_case *c;
    uint32_t *d =
        run(&c, *state, "",
            "try:\natom.global.cas.b32 %r2, [%rd90], 0, 1;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra try;\n"
            "ld.volatile.global.u32 %r3, [%rd90+4];\nadd.u32 %r3, %r3, 1;\nst.volatile.global.u32 [%rd90+4], "
            "%r3;\n"
            "membar.gl;\natom.global.exch.b32 %r4, [%rd90], 0;\n",
            4, 70);
    vm_case_clean(c);
    assert_int_equal(d[1], 280);
    d = run(&c, *state, "",
            "setp.eq.u32 %p1, %r93, 5;\n@%p1 bra set;\nspin:\nld.volatile.global.u32 %r2, [%rd90+2048];\n"
            "setp.eq.u32 %p2, %r2, 0;\n@%p2 bra spin;\nbra out;\nset:\nst.volatile.global.u32 [%rd90+2048], "
            "9;\nout:\n"
            "mov.u32 %r1, 3;\n" STORE_R1,
            1, 32);
    vm_case_clean(c);
    for (uint32_t t = 0; t < 32; t++)
        assert_int_equal(d[t], 3);
    d = run(&c, *state, "",
            "setp.ne.u32 %p1, %r93, 0;\n@%p1 bra wait;\nred.global.add.u32 [%rd90], 1;\nspin:\n"
            "ld.acquire.gpu.global.u32 %r2, [%rd90];\nsetp.lt.u32 %p2, %r2, 12;\n@%p2 bra "
            "spin;\nwait:\nbar.sync 0;\n"
            "ld.relaxed.gpu.global.u32 %r1, [%rd90];\nadd.s64 %rd90, %rd90, 64;\n" STORE_R1,
            12, 40);
    vm_case_clean(c);
    for (uint32_t t = 0; t < 480; t++)
        assert_int_equal(d[16 + t], 12);
}

static void shuffles_and_votes(void **state) {
    vm_case *c;
    uint32_t *d = run(
        &c, *state, "",
        "mov.u32 %r1, %r93;\nshfl.sync.bfly.b32 %r2, %r1, 16, 31, -1;\nadd.u32 %r1, %r1, %r2;\n"
        "shfl.sync.down.b32 %r3|%p1, %r93, 3, 0x181f, -1;\nselp.u32 %r4, 1, 0, %p1;\n"
        "shfl.sync.up.b32 %r5, %r93, 2, 0, -1;\nshfl.sync.idx.b32 %r6, %r93, 1, 0x1c1f, -1;\n"
        "setp.gt.u32 %p2, %r93, 10;\nvote.sync.ballot.b32 %r7, %p2, -1;\nvote.sync.all.pred %p3, %p2, -1;\n"
        "vote.sync.any.pred %p4, %p2, -1;\nvote.sync.uni.pred %p5, %p2, -1;\nselp.u32 %r8, 1, 0, %p3;\n"
        "selp.u32 %r9, 2, %r8, %p4;\nselp.u32 %r10, 4, 0, %p5;\nadd.u32 %r9, %r9, %r10;\n"
        "redux.sync.add.s32 %r11, %r93, -1;\nredux.sync.max.u32 %r12, %r93, -1;\nand.b32 %r13, %r93, 3;\n"
        "match.any.sync.b32 %r14, %r13, -1;\nmatch.all.sync.b32 %r15|%p6, %r13, -1;\n"
        "elect.sync %r16|%p7, 0xfffffff0;\nselp.u32 %r17, 1, 0, %p7;\nmul.wide.u32 %rd1, %r93, 64;\n"
        "add.s64 %rd1, %rd90, %rd1;\nst.global.v4.u32 [%rd1], {%r1, %r3, %r4, %r5};\n"
        "st.global.v4.u32 [%rd1+16], {%r6, %r7, %r9, %r11};\nst.global.v4.u32 [%rd1+32], {%r12, %r14, %r15, "
        "%r16};\n"
        "st.global.u32 [%rd1+48], %r17;\n",
        1, 32);
    assert_int_equal(c->result->status, VM_COMPLETE);
    assert_string_equal(vm_case_findings(c), "collective-lanes"); /* elect by lanes outside its mask */
    for (uint32_t t = 0; t < 32; t++, d += 16) {
        assert_int_equal(d[0], t + (t ^ 16));
        bool inside = t % 8 + 3 < 8;
        assert_int_equal(d[1], inside ? t + 3 : t);
        assert_int_equal(d[2], inside);
        assert_int_equal(d[3], t < 2 ? t : t - 2);
        assert_int_equal(d[4], (t & 28) + 1);
        assert_int_equal(d[5], 0xfffff800u);
        assert_int_equal(d[6], 2);
        assert_int_equal(d[7], 496);
        assert_int_equal(d[8], 31);
        assert_int_equal(d[9], 0x11111111u << (t & 3));
        assert_int_equal(d[10], 0);
        if (t >= 4)
            assert_int_equal(d[11], 4);
        if (t >= 4)
            assert_int_equal(d[12], t == 4);
    }
}

/* Members in groups, each with a mask of its own, from different sides of a branch. */
static void member_masks(void **state) {
    vm_case *c;
    uint32_t *d = run(&c, *state, "",
                      "setp.lt.u32 %p1, %r93, 12;\nselp.b32 %r2, 0xfff, 0xfffff000, %p1;\nshfl.sync.idx.b32 "
                      "%r1, %r90, 20, 31, %r2;\n"
                      "@%p1 bra low;\nredux.sync.add.u32 %r1, %r93, 0xfffff000;\nbra out;\nlow:\n"
                      "redux.sync.add.u32 %r1, %r93, 0xfff;\nout:\nbar.warp.sync -1;\n" STORE_R1,
                      1, 32);
    assert_int_equal(c->result->status, VM_COMPLETE);
    for (uint32_t t = 0; t < 32; t++)
        assert_int_equal(d[t], t < 12 ? 66 : 430);
    d = run(&c, *state, "",
            "setp.lt.u32 %p1, %r93, 12;\n@%p1 bra low;\nshfl.sync.idx.b32 %r1, %r90, 3, 31, 0xfffff000;\nbra "
            "out;\nlow:\n"
            "mov.u32 %r1, 1;\nout:\n" STORE_R1,
            1, 32);
    assert_string_equal(vm_case_findings(c), "shuffle-inactive");
    assert_int_equal(c->result->findings[0].thread[0], 12);
    assert_int_equal(d[0], 1);
}

static void calls(void **state) {
    const char *before =
        ".func (.param .b32 r) fib(.param .b32 n)\n{\n.reg .pred %p<2>;\n.reg .b32 %r<9>;\nld.param.u32 %r1, "
        "[n];\n"
        "setp.lt.u32 %p1, %r1, 2;\n@%p1 bra small;\nsub.u32 %r2, %r1, 1;\nsub.u32 %r3, %r1, 2;\n"
        "{\n.param .b32 a;\n.param .b32 b;\nst.param.b32 [a], %r2;\ncall.uni (b), fib, (a);\nld.param.b32 "
        "%r4, [b];\n}\n"
        "{\n.param .b32 a;\n.param .b32 b;\nst.param.b32 [a], %r3;\ncall.uni (b), fib, (a);\nld.param.b32 "
        "%r5, [b];\n}\n"
        "add.u32 %r1, %r4, %r5;\nsmall:\nst.param.b32 [r], %r1;\nret;\n}\n"
        ".func (.reg .u32 out) twice(.reg .u32 in)\n{\nadd.u32 out, in, in;\nret;\n}\n"
        ".func (.param .b32 r) plus(.param .b32 n)\n{\n.reg .b32 %r<3>;\nld.param.u32 %r1, [n];\nadd.u32 "
        "%r1, %r1, 7;\n"
        "st.param.b32 [r], %r1;\nret;\n}\n.global .u64 table[2] = {plus, fib};\n";
    vm_case *c;
    uint32_t *d = run(
        &c, *state, before,
        "and.b32 %r2, %r93, 7;\n{\n.param .b32 a;\n.param .b32 b;\nst.param.b32 [a], %r2;\n"
        "call.uni (b), fib, (a);\nld.param.b32 %r1, [b];\n}\ncall (%r1), twice, (%r1);\n"
        "and.b32 %r3, %r93, 1;\nmul.wide.u32 %rd1, %r3, 8;\nmov.u64 %rd2, table;\nadd.s64 %rd2, %rd2, %rd1;\n"
        "ld.global.u64 %rd3, [%rd2];\n{\n.param .b32 a;\n.param .b32 b;\nst.param.b32 [a], %r2;\n"
        "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\ncall (b), %rd3, (a), proto;\n"
        "ld.param.b32 %r4, [b];\n}\nmad.lo.u32 %r1, %r4, 1000, %r1;\n" STORE_R1,
        1, 40);
    vm_case_clean(c);
    static const uint32_t fib[8] = {0, 1, 1, 2, 3, 5, 8, 13};
    for (uint32_t t = 0; t < 40; t++)
        assert_int_equal(d[t], 2 * fib[t & 7] + 1000 * (t & 1 ? fib[t & 7] : (t & 7) + 7));
}

static void call_limits(void **state) {
    vm_case *c;
    run(&c, *state, ".func deep()\n{\ncall.uni deep;\nret;\n}\n", "call.uni deep;\n", 1, 32);
    assert_int_equal(c->result->status, VM_FAULTED);
    assert_string_equal(vm_case_findings(c), "stack");
    run(&c, *state, "", "mov.u64 %rd1, 1234;\nproto: .callprototype _ ();\ncall %rd1, (), proto;\n", 1, 32);
    assert_int_equal(c->result->status, VM_FAULTED);
    assert_string_equal(vm_case_findings(c), "bad-call");
    run(&c, *state, "", "setp.eq.u32 %p1, %r93, 3;\n@%p1 trap;\n", 5, 32);
    assert_int_equal(c->result->status, VM_FAULTED);
    assert_string_equal(vm_case_findings(c), "trap");
    assert_int_equal(c->result->findings[0].thread[0], 3);
    assert_int_equal(c->result->ctas, 1);
}

/* Local memory: static and dynamic addresses, every width, through generic addresses too. */
static void local_memory(void **state) {
    vm_case *c;
    uint32_t *d = run(
        &c, *state, "",
        ".local .align 16 .b8 frame[64];\nmov.u64 %rd1, frame;\nmov.u32 %r2, 0;\nloop:\nmul.wide.u32 %rd2, "
        "%r2, 4;\n"
        "add.s64 %rd3, %rd1, %rd2;\nmad.lo.u32 %r3, %r2, 100, %r93;\nst.local.u32 [%rd3], %r3;\n"
        "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 16;\n@%p1 bra loop;\nand.b32 %r4, %r93, 15;\n"
        "mul.wide.u32 %rd4, %r4, 4;\nadd.s64 %rd4, %rd1, %rd4;\nld.local.u32 %r1, [%rd4];\n"
        "cvta.local.u64 %rd5, %rd1;\nld.u8 %r5, [%rd5+4];\nld.u64 %rd6, [%rd5+8];\ncvt.u32.u64 %r6, %rd6;\n"
        "st.u16 [%rd5], %r93;\nld.local.u16 %r7, [frame];\nmad.lo.u32 %r1, %r7, 1000000, %r1;\n"
        "add.u32 %r1, %r1, %r6;\nsub.u32 %r5, %r5, 100;\nadd.u32 %r1, %r1, %r5;\n" STORE_R1,
        1, 32);
    vm_case_clean(c);
    for (uint32_t t = 0; t < 32; t++)
        assert_int_equal(d[t], (t & 15) * 100 + t + t * 1000000 + 200 + t + t);
    run(&c, *state, "", ".local .align 16 .b8 frame[64];\nmov.u64 %rd1, frame;\nst.local.u32 [%rd1+64], 1;\n",
        1, 32);
    assert_string_equal(vm_case_findings(c), "out-of-bounds");
    assert_int_equal(c->result->findings[0].space, PTX_SPACE_LOCAL);
}

static void printing(void **state) {
    static const char format[] = "%d|%5.2f|%-6s|%c|%lld|%08x|%p|%%|%+i|%u|%e|%.3s|%*d|%hd\n";
    base_builder before;
    base_builder_start(&before, *state);
    base_builder_string(
        &before,
        ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n.global .align 1 .b8 f[] = {");
    for (size_t i = 0; i < sizeof format; i++)
        base_builder_format(&before, "%s%d", i ? ", " : "", format[i]);
    base_builder_string(&before, "};\n.global .align 1 .b8 s[4] = {97, 98, 99, 0};\n");
    vm_case *c;
    run(&c, *state, before.data,
        ".local .align 8 .b8 a[120];\nsub.s32 %r1, 0, %r93;\nst.local.u32 [a], %r1;\nst.local.f64 [a+8], "
        "0d400C000000000000;\n"
        "mov.u64 %rd1, s;\ncvta.global.u64 %rd1, %rd1;\nst.local.u64 [a+16], %rd1;\nst.local.u32 [a+24], "
        "113;\n"
        "st.local.u64 [a+32], 123456789012;\nst.local.u32 [a+40], 255;\nst.local.u64 [a+48], "
        "4660;\nst.local.u32 [a+56], 7;\n"
        "st.local.u32 [a+60], 4000000000;\nst.local.f64 [a+64], 0d3FF8000000000000;\nst.local.u64 [a+72], "
        "%rd1;\n"
        "st.local.u32 [a+80], 4;\nst.local.u32 [a+84], 5;\nst.local.u32 [a+88], 6;\nmov.u64 %rd2, "
        "f;\ncvta.global.u64 %rd2, %rd2;\n"
        "mov.u64 %rd3, a;\ncvta.local.u64 %rd3, %rd3;\n{\n.param .b64 pa;\n.param .b64 pb;\n.param .b32 pr;\n"
        "st.param.b64 [pa], %rd2;\nst.param.b64 [pb], %rd3;\ncall.uni (pr), vprintf, (pa, pb);\n}\n",
        1, 2);
    vm_case_clean(c);
    assert_string_equal(
        c->printed.data,
        "0| 3.50|abc   |q|123456789012|000000ff|0x1234|%|+7|4000000000|1.500000e+00|abc|   5|6\n"
        "-1| 3.50|abc   |q|123456789012|000000ff|0x1234|%|+7|4000000000|1.500000e+00|abc|   5|6\n");
}

static void atomics(void **state) {
    vm_case *c;
    uint32_t *d = run(
        &c, *state, "",
        "red.global.add.u32 [%rd90], %r93;\nred.global.min.s32 [%rd90+4], %r93;\nred.global.max.u32 "
        "[%rd90+8], %r93;\n"
        "red.global.or.b32 [%rd90+12], %r93;\nred.global.inc.u32 [%rd90+16], 9;\nred.global.dec.u32 "
        "[%rd90+20], 9;\n"
        "red.global.add.u64 [%rd90+24], 5000000000;\nred.global.xor.b32 [%rd90+32], %r93;\n"
        "red.global.add.f32 [%rd90+36], 0f3F000000;\nred.global.add.f64 [%rd90+40], 0d3FD0000000000000;\n"
        "mov.b32 %r2, 0x3c004000;\nred.global.add.noftz.f16x2 [%rd90+48], %r2;\n"
        "atom.global.exch.b32 %r3, [%rd90+52], %r93;\natom.global.cas.b32 %r4, [%rd90+56], 0, 7;\n"
        "mov.b16 %h1, 3;\nmov.b16 %h2, 0;\natom.global.cas.b16 %h3, [%rd90+60], %h2, %h1;\n"
        "cvt.u64.u32 %rd1, %r93;\nmov.b128 %q1, {%rd1, %rd1};\natom.global.exch.b128 %q2, [%rd90+64], %q1;\n",
        4, 64);
    vm_case_clean(c);
    uint64_t wide;
    double f64;
    float f32;
    assert_int_equal(d[0], 4 * 2016);
    assert_int_equal(d[1], 0);
    assert_int_equal(d[2], 63);
    assert_int_equal(d[3], 63);
    assert_int_equal(d[4], 256 % 10);
    assert_int_equal(d[5], (10 - 256 % 10) % 10);
    memcpy(&wide, d + 6, 8);
    assert_true(wide == 256 * 5000000000ull);
    assert_int_equal(d[8], 0);
    memcpy(&f32, d + 9, 4);
    assert_true(f32 == 128);
    memcpy(&f64, d + 10, 8);
    assert_true(f64 == 64);
    assert_int_equal(d[12], 0x5c006000);
    assert_int_equal(d[13], 63);
    assert_int_equal(d[14], 7);
    assert_int_equal(d[15] & 0xffff, 3);
    memcpy(&wide, d + 18, 8);
    assert_true(wide == 63);
}

/* Lanes that wait keep their values while others run on, whatever the widths of the registers that live
 * there: values of 64 and of 32 bits that are computed in a loop and used behind it by lanes that left early,
 * and values over a wait for other lanes of the warp. */
static void waiting_lanes(void **state) {
    for (unsigned before = 0; before < 4; before++)
        for (unsigned after = 0; after < 4; after++)
            for (unsigned shape = 0; shape < 4; shape++) {
                base_builder body;
                base_builder_start(&body, *state);
                bool wide = shape & 1, waits = shape & 2;
                base_builder_string(&body, "and.b32 %r2, %r90, 7;\nmov.u32 %r1, 0;\n");
                if (waits)
                    base_builder_string(&body, "setp.gt.u32 %p2, %r2, 3;\n@%p2 bra other;\n");
                base_builder_string(&body, "loop:\nmad.lo.u32 %r3, %r90, 7, %r1;\n");
                for (unsigned k = 0; k < before; k++)
                    base_builder_format(&body, "mul.wide.u32 %%rd%u, %%r3, 5;\ncvt.u32.u64 %%r3, %%rd%u;\n",
                                        k + 1, k + 1);
                base_builder_string(&body, "mul.wide.u32 %rd10, %r3, 4;\n");
                base_builder_string(&body, wide ? "add.s64 %rd11, %rd10, 4294967297;\n"
                                                : "cvt.u32.u64 %r11, %rd10;\nadd.u32 %r12, %r11, 1;\n");
                for (unsigned k = 0; k < after; k++)
                    base_builder_format(&body, "mul.wide.u32 %%rd%u, %%r1, 3;\ncvt.u32.u64 %%r%u, %%rd%u;\n",
                                        k + 20, k + 20, k + 20);
                base_builder_string(&body,
                                    "setp.eq.u32 %p1, %r1, %r2;\n@%p1 bra leave;\nadd.u32 %r1, %r1, 1;\n"
                                    "bra loop;\nleave:\n");
                if (waits)
                    base_builder_string(&body, "spin:\nld.volatile.global.u32 %r40, [%rd90+2048];\n"
                                               "setp.eq.u32 %p3, %r40, 0;\n@%p3 bra spin;\n");
                base_builder_string(&body,
                                    wide ? "shr.u64 %rd12, %rd11, 32;\ncvt.u32.u64 %r13, %rd11;\n"
                                           "cvt.u32.u64 %r14, %rd12;\nmad.lo.u32 %r1, %r14, 65536, %r13;\n"
                                         : "add.u32 %r1, %r12, 65536;\n");
                if (waits)
                    base_builder_string(&body,
                                        "bra out;\nother:\nmad.lo.u32 %r30, %r90, 3, 1;\n"
                                        "mad.lo.u32 %r31, %r30, 3, 1;\nmul.wide.u32 %rd30, %r31, 9;\n"
                                        "mad.lo.u32 %r32, %r31, 3, 1;\nadd.s64 %rd31, %rd30, 1;\n"
                                        "mov.u32 %r41, 1;\nst.volatile.global.u32 [%rd90+2048], %r41;\n"
                                        "cvt.u32.u64 %r33, %rd31;\n"
                                        "add.u32 %r1, %r32, %r33;\nout:\n");
                base_builder_string(&body, STORE_R1);
                vm_case *c;
                uint32_t *d = run(&c, *state, "", body.data, 1, 32);
                vm_case_clean(c);
                for (uint32_t t = 0; t < 32; t++) {
                    uint32_t value = t * 7 + (t & 7), other = ((t * 3 + 1) * 3 + 1);
                    for (unsigned k = 0; k < before; k++)
                        value *= 5;
                    if (waits && (t & 7) > 3)
                        assert_int_equal(d[t], other * 3 + 1 + other * 9 + 1);
                    else
                        assert_int_equal(d[t], value * 4 + 1 + 65536);
                }
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(diamond_and_loop),
        UNIT_WITH_ARENA(last_value),
        UNIT_WITH_ARENA(switch_table),
        UNIT_WITH_ARENA(waiting_lanes),
        UNIT_WITH_ARENA(guards),
        UNIT_WITH_ARENA(barriers),
        UNIT_WITH_ARENA(barrier_in_parts),
        UNIT_WITH_ARENA(deadlocks),
        UNIT_WITH_ARENA(progress),
        UNIT_WITH_ARENA(barrier_mismatches),
        UNIT_WITH_ARENA(shuffles_and_votes),
        UNIT_WITH_ARENA(member_masks),
        UNIT_WITH_ARENA(calls),
        UNIT_WITH_ARENA(call_limits),
        UNIT_WITH_ARENA(local_memory),
        UNIT_WITH_ARENA(printing),
        UNIT_WITH_ARENA(atomics),
        UNIT_WITH_ARENA(schedules),
    };
    return cmocka_run_group_tests_name("vm control", tests, NULL, NULL);
}
