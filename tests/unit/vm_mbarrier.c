/* SPDX-License-Identifier: Apache-2.0
 * mbarrier objects: every form against closed formulas, under all schedules; what PTX leaves undefined is a
 * finding. */
#include "unit/vm_help.h"

#define BARRIER  ".shared .align 8 .b64 bar[4];\n"
#define STORE_R1 "add.s64 %rd70, %rd90, %rd80;\nst.global.u32 [%rd70], %r1;\n"
/* thread 0 initialises, all wait */
#define INIT(count)                                                                                          \
    "setp.eq.u32 %p15, %r93, 0;\n@%p15 mbarrier.init.shared.b64 [bar], " count ";\nbar.sync 0;\n"
#define WAIT(label, parity)                                                                                  \
    label ":\nmbarrier.try_wait.parity.shared.b64 %p14, [bar], " parity ";\n@!%p14 bra " label ";\n"

static const struct {
    vm_schedule schedule;
    uint64_t seed;
} schedules[] = {{VM_SCHEDULE_EARLY, 0},  {VM_SCHEDULE_LATE, 0},   {VM_SCHEDULE_LATE, 3},
                 {VM_SCHEDULE_RANDOM, 1}, {VM_SCHEDULE_RANDOM, 2}, {VM_SCHEDULE_RANDOM, 77}};
enum { SCHEDULES = sizeof schedules / sizeof schedules[0] };

static uint32_t *run_as(vm_case **out, base_arena *arena, const char *body, uint32_t grid, uint32_t block,
                        size_t which) {
    vm_case *c = vm_case_load(arena, vm_case_kernel(arena, 1, BARRIER, body));
    uint32_t *data = vm_case_buffer(c, "data", 4 * (size_t)grid * block + 4096);
    c->launch.schedule = schedules[which].schedule;
    c->launch.seed = schedules[which].seed;
    c->launch.threads = (uint32_t)(which % 3 == 2 ? 4 : which % 3 + 1);
    vm_case_run(c, grid, block);
    *out = c;
    return data;
}

/* Warp 0 produces a value for each round, the others read it: two barriers, full and empty. */
static void pipeline(void **state) {
    const char *body =
        "setp.eq.u32 %p15, %r93, 0;\n@%p15 mbarrier.init.shared.b64 [bar], 32;\n"
        "@%p15 mbarrier.init.shared.b64 [bar+8], 96;\nbar.sync 0;\nmov.u32 %r1, 0;\nmov.u32 %r2, 0;\n"
        "setp.lt.u32 %p1, %r93, 32;\n@!%p1 bra consumer;\n"
        "producer:\nand.b32 %r3, %r2, 1;\nxor.b32 %r4, %r3, 1;\n"
        "pw:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [bar+8], %r4, 1000;\n@!%p2 bra pw;\n"
        "mul.lo.u32 %r5, %r2, %r2;\nadd.u32 %r5, %r5, %r93;\nshl.b32 %r6, %r93, 2;\nmov.u32 %r7, values;\n"
        "add.u32 %r6, %r6, %r7;\nst.shared.u32 [%r6], %r5;\n"
        "mbarrier.arrive.shared.b64 %rd1, [bar];\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p3, %r2, 10;\n"
        "@%p3 bra producer;\nbra done;\n"
        "consumer:\nand.b32 %r3, %r2, 1;\n"
        "cw:\nmbarrier.try_wait.parity.shared.b64 %p2, [bar], %r3;\n@!%p2 bra cw;\n"
        "and.b32 %r6, %r93, 31;\nshl.b32 %r6, %r6, 2;\nmov.u32 %r7, values;\nadd.u32 %r6, %r6, %r7;\n"
        "ld.shared.u32 %r5, [%r6];\nmad.lo.u32 %r1, %r1, 3, %r5;\n"
        "mbarrier.arrive.release.cta.shared.b64 _, [bar+8];\nadd.u32 %r2, %r2, 1;\n"
        "setp.lt.u32 %p3, %r2, 10;\n@%p3 bra consumer;\ndone:\n" STORE_R1;
    for (size_t s = 0; s < SCHEDULES; s++) {
        vm_case *c = vm_case_load(
            *state, vm_case_kernel(*state, 1, BARRIER ".shared .align 4 .b32 values[32];\n", body));
        uint32_t *d = vm_case_buffer(c, "data", 3 * 128 * 4);
        c->launch.schedule = schedules[s].schedule;
        c->launch.seed = schedules[s].seed;
        c->launch.threads = (uint32_t)s % 4 + 1;
        vm_case_run(c, 3, 128);
        vm_case_clean(c);
        for (uint32_t t = 0; t < 3 * 128; t++) {
            uint32_t expected = 0;
            for (uint32_t i = 0; t % 128 >= 32 && i < 10; i++)
                expected = expected * 3 + i * i + t % 32;
            assert_int_equal(d[t], expected);
        }
    }
}

static uint32_t one(base_arena *arena, const char *body, const char *findings) {
    uint32_t value = 0;
    for (size_t s = 0; s < SCHEDULES; s++) {
        vm_case *c;
        uint32_t *d = run_as(&c, arena, body, 1, 1, s);
        if (strcmp(vm_case_findings(c), findings) != 0)
            fail_msg("findings '%s', expected '%s' for\n%s", vm_case_findings(c), findings, body);
        if (s > 0)
            assert_int_equal(d[0], value);
        value = d[0];
    }
    return value;
}

/* A state is the phase and the pending arrivals before the arrival. */
static void states(void **state) {
    uint32_t got = one(
        *state,
        INIT(
            "10") "mbarrier.arrive.noComplete.shared.b64 %rd1, [bar], 3;\n"
                  "mbarrier.arrive.shared.b64 %rd2, [bar], 2;\nmbarrier.arrive_drop.shared.b64 %rd3, [bar];\n"
                  "mbarrier.pending_count.b64 %r2, %rd1;\nmbarrier.pending_count.b64 %r3, %rd2;\n"
                  "mbarrier.pending_count.b64 %r4, %rd3;\nmbarrier.test_wait.shared.b64 %p1, [bar], %rd3;\n"
                  "mbarrier.arrive.shared.b64 _, [bar], 4;\n"
                  "mbarrier.test_wait.shared.b64 %p2, [bar], %rd3;\n"
                  "mbarrier.arrive.shared.b64 %rd4, [bar], 9;\nmbarrier.pending_count.b64 %r5, %rd4;\n"
                  "mbarrier.test_wait.acquire.cta.shared.b64 %p3, [bar], %rd4;\n"
                  "selp.u32 %r6, 1, 0, %p1;\nselp.u32 %r7, 2, 0, %p2;\nselp.u32 %r8, 4, 0, %p3;\n"
                  "or.b32 %r6, %r6, %r7;\nor.b32 %r6, %r6, %r8;\n"
                  "mad.lo.u32 %r1, %r2, 10, %r3;\nmad.lo.u32 %r1, %r1, 10, %r4;\n"
                  "mad.lo.u32 %r1, %r1, 10, %r5;\nmad.lo.u32 %r1, %r1, 10, %r6;\n" STORE_R1,
        "");
    assert_int_equal(got, ((10 * 10 + 7) * 10 + 5) * 100 + 9 * 10 + 6);
}

/* The phase ends when arrivals and bytes are both there, in any order of expect and complete. */
static void transactions(void **state) {
    uint32_t got =
        one(*state,
            INIT("1") "mbarrier.complete_tx.relaxed.cta.shared.b64 [bar], 100;\n"
                      "mbarrier.arrive.expect_tx.release.cta.shared.b64 %rd1, [bar], 300;\n"
                      "mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;\n"
                      "mbarrier.expect_tx.relaxed.cta.shared.b64 [bar], 28;\n"
                      "mbarrier.complete_tx.shared::cluster.b64 [bar], 200;\n"
                      "mbarrier.test_wait.parity.shared.b64 %p2, [bar], 0;\n"
                      "mbarrier.complete_tx.shared::cta.b64 [bar], 28;\n"
                      "mbarrier.test_wait.parity.shared.b64 %p3, [bar], 0;\n"
                      "mbarrier.test_wait.parity.shared.b64 %p4, [bar], 1;\n"
                      "selp.u32 %r6, 1, 0, %p1;\nselp.u32 %r7, 2, 0, %p2;\nselp.u32 %r8, 4, 0, %p3;\n"
                      "selp.u32 %r9, 8, 0, %p4;\nadd.u32 %r1, %r6, %r7;\nadd.u32 %r1, %r1, %r8;\n"
                      "add.u32 %r1, %r1, %r9;\nmbarrier.inval.shared.b64 [bar];\n" STORE_R1,
            "");
    assert_int_equal(got, 4);
}

/* Generic addresses, expect_tx with a drop, parity 1 of a fresh barrier. */
static void generic_forms(void **state) {
    uint32_t got = one(*state,
                       "cvta.shared.u64 %rd5, bar;\nadd.s64 %rd5, %rd5, 16;\nmbarrier.init.b64 [%rd5], 2;\n"
                       "mbarrier.test_wait.parity.b64 %p1, [%rd5], 1;\n"
                       "mbarrier.arrive_drop.expect_tx.b64 %rd1, [%rd5], 64;\n"
                       "mbarrier.complete_tx.b64 [%rd5], 64;\nmbarrier.arrive.b64 %rd2, [%rd5];\n"
                       "mbarrier.try_wait.b64 %p2, [%rd5], %rd2;\nmbarrier.arrive.b64 %rd3, [%rd5];\n"
                       "mbarrier.try_wait.b64 %p3, [%rd5], %rd3, 10;\nmbarrier.pending_count.b64 %r5, %rd3;\n"
                       "selp.u32 %r6, 1, 0, %p1;\nselp.u32 %r7, 2, 0, %p2;\nselp.u32 %r8, 4, 0, %p3;\n"
                       "add.u32 %r1, %r6, %r7;\nadd.u32 %r1, %r1, %r8;\nmad.lo.u32 %r1, %r5, 10, %r1;\n"
                       "mbarrier.inval.b64 [%rd5];\n" STORE_R1,
                       "");
    assert_int_equal(got, 17);
}

static void misuse(void **state) {
    static const struct {
        const char *body, *findings;
    } cases[] = {
        {"mbarrier.arrive.shared.b64 %rd1, [bar];\n", "mbarrier-uninitialised"},
        {INIT("1") "mbarrier.inval.shared.b64 [bar];\nmbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;\n",
         "mbarrier-uninitialised"},
        {"mbarrier.init.shared.b64 [bar], 0;\n", "mbarrier-count"},
        {"mbarrier.init.shared.b64 [bar], 1048576;\n", "mbarrier-count"},
        {INIT("2") "mbarrier.arrive.shared.b64 %rd1, [bar], 3;\n", "mbarrier-count"},
        {INIT("2") "mbarrier.expect_tx.relaxed.cta.shared.b64 [bar], 1048575;\n"
                   "mbarrier.expect_tx.relaxed.cta.shared.b64 [bar], 1;\n",
         "mbarrier-transactions"},
        {INIT("1") "mbarrier.arrive.shared.b64 %rd1, [bar];\nmbarrier.arrive.shared.b64 %rd2, [bar];\n",
         "mbarrier-unobserved"},
        {INIT(
             "1") "mbarrier.arrive.shared.b64 %rd1, [bar];\nmbarrier.test_wait.shared.b64 %p1, [bar], %rd1;\n"
                  "mbarrier.arrive.shared.b64 %rd2, [bar];\nmbarrier.test_wait.shared.b64 %p1, [bar], "
                  "%rd1;\n",
         "mbarrier-phase"},
        {INIT("2") "mbarrier.arrive.shared.b64 %rd1, [bar];\nmbarrier.inval.shared.b64 [bar];\n",
         "mbarrier-busy"},
        {INIT("2") "mbarrier.init.shared.b64 [bar], 2;\n", "mbarrier-busy"},
        {INIT("2") "mov.u32 %r5, 7;\nst.shared.u32 [bar], %r5;\nmbarrier.arrive.shared.b64 %rd1, [bar];\n",
         "mbarrier-data"},
        {INIT("2") "mbarrier.arrive.noComplete.shared.b64 %rd1, [bar], 2;\n", "mbarrier-no-complete"},
        {"mov.u32 %r5, bar;\nadd.u32 %r5, %r5, 4;\nmbarrier.init.shared.b64 [%r5], 2;\n", "misaligned"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        one(*state, cases[i].body, cases[i].findings);
}

/* A wait that nobody ends: at once, with the barrier's state in the report. */
static void deadlock(void **state) {
    for (size_t s = 0; s < SCHEDULES; s++) {
        vm_case *c;
        run_as(&c, *state, INIT("33") "mbarrier.arrive.shared.b64 %rd1, [bar];\n" WAIT("again", "0"), 1, 32,
               s);
        assert_int_equal(c->result->status, VM_DEADLOCK);
        assert_string_equal(vm_case_findings(c), "deadlock");
        assert_non_null(strstr(c->result->findings[0].text, "mbarrier at shared address"));
        assert_non_null(strstr(c->result->findings[0].text,
                               "phase 0: 1 of 33 arrivals and 0 bytes are missing; initialised in line "));
        assert_non_null(strstr(c->result->findings[0].text, "arrivals so far come from line "));
    }
}

/* The other warp ran two phases; who waits by parity for the first of them has missed it. */
static void missed_phase(void **state) {
    vm_case *c;
    run_as(
        &c, *state,
        "setp.eq.u32 %p15, %r93, 0;\n@%p15 mbarrier.init.shared.b64 [bar], 1;\nbar.sync 0;\n"
        "setp.lt.u32 %p1, %r93, 32;\n@%p1 bra slow;\nsetp.eq.u32 %p2, %r93, 32;\n"
        "@%p2 mbarrier.arrive.shared.b64 _, [bar];\n" WAIT(
            "w0",
            "0") "bar.sync 1;\n"
                 "@%p2 mbarrier.arrive.shared.b64 _, [bar];\n" WAIT(
                     "w1",
                     "1") "@%p2 mbarrier.arrive.shared.b64 _, [bar];\n" WAIT("w2",
                                                                             "0") "bar.sync 2;\nbra out;\n"
                                                                                  "slow:\n" WAIT(
                                                                                      "v0",
                                                                                      "0") "bar.sync "
                                                                                           "1;\nbar.sync "
                                                                                           "2;\n" WAIT(
                                                                                               "v1",
                                                                                               "1") "out:\n",
        1, 64, 0);
    assert_int_equal(c->result->status, VM_DEADLOCK);
    assert_non_null(
        strstr(c->result->findings[0].text,
               "for phase 3: 1 of 1 arrivals and 0 bytes are missing; this warp saw phase 0 complete "
               "last, and missed phase 2"));
}

/* A loop that looks at two barriers in turn must not stay parked at the first. */
static void two_barriers(void **state) {
    for (size_t s = 0; s < SCHEDULES; s++) {
        vm_case *c;
        uint32_t *d = run_as(&c, *state,
                             "setp.eq.u32 %p15, %r93, 0;\n@%p15 mbarrier.init.shared.b64 [bar], 1;\n"
                             "@%p15 mbarrier.init.shared.b64 [bar+8], 1;\nbar.sync 0;\nmov.u32 %r1, 0;\n"
                             "setp.lt.u32 %p1, %r93, 32;\n@%p1 bra look;\nsetp.eq.u32 %p2, %r93, 32;\n"
                             "@%p2 mbarrier.arrive.shared.b64 %rd1, [bar+8];\nbra out;\n"
                             "look:\nmbarrier.try_wait.parity.shared.b64 %p3, [bar], 0;\n@%p3 bra out;\n"
                             "mbarrier.try_wait.parity.shared.b64 %p4, [bar+8], 0;\n@!%p4 bra look;\nmov.u32 "
                             "%r1, 5;\nout:\n" STORE_R1,
                             1, 64, s);
        vm_case_clean(c);
        assert_int_equal(d[3], 5);
    }
}

/* Every spelling of arrive, expect_tx, complete_tx and the waits does the same thing. */
static void every_form(void **state) {
    static const char *const orders[] = {"", ".release.cta", ".relaxed.cta", ".release.cluster",
                                         ".relaxed.cluster"};
    static const char *const waits[] = {"", ".acquire.cta", ".relaxed.cta", ".acquire.cluster",
                                        ".relaxed.cluster"};
    static const char *const spaces[] = {"", ".shared", ".shared::cta", ".shared::cluster"};
    for (size_t order = 0; order < 5; order++)
        for (size_t space = 0; space < 4; space++)
            for (unsigned form = 0; form < 8; form++) {
                bool drop = form & 1, expect = form & 2, hint = form & 4, remote = space == 3;
                const char *where = space == 0 ? "%rd5" : "%r5";
                /* 5 arrivals: 2 by the form under test or 1 with bytes, the rest plainly */
                const char *text = base_arena_format(
                    *state,
                    "cvta.shared.u64 %%rd5, bar;\nmov.u32 %%r5, bar;\nmbarrier.init%s.b64 [%s], 5;\n"
                    "mbarrier.arrive%s%s%s%s.b64 %s, [%s], %s;\n"
                    "mbarrier.expect_tx%s%s.b64 [%s], 16;\nmbarrier.complete_tx%s%s.b64 [%s], %s;\n"
                    "mbarrier.arrive.b64 %%rd1, [%%rd5], %s;\nmbarrier.pending_count.b64 %%r2, %%rd1;\n"
                    "mbarrier.test_wait%s%s.b64 %%p1, [%s], %%rd1;\n"
                    "mbarrier.try_wait%s%s.b64 %%p2, [%s], %%rd1%s;\n"
                    "mbarrier.test_wait.parity%s%s.b64 %%p3, [%s], 0;\n"
                    "mbarrier.try_wait.parity%s%s.b64 %%p4, [%s], 0%s;\n"
                    "mbarrier.test_wait.parity%s%s.b64 %%p5, [%s], 1;\n"
                    "mbarrier.arrive.b64 %%rd2, [%%rd5];\nmbarrier.pending_count.b64 %%r3, %%rd2;\n"
                    "selp.u32 %%r6, 1, 0, %%p1;\nselp.u32 %%r7, 2, 0, %%p2;\nselp.u32 %%r8, 4, 0, %%p3;\n"
                    "selp.u32 %%r9, 8, 0, %%p4;\nselp.u32 %%r10, 16, 0, %%p5;\nadd.u32 %%r6, %%r6, %%r7;\n"
                    "add.u32 %%r6, %%r6, %%r8;\nadd.u32 %%r6, %%r6, %%r9;\nadd.u32 %%r6, %%r6, %%r10;\n"
                    "mad.lo.u32 %%r1, %%r2, 100, %%r6;\nmad.lo.u32 %%r1, %%r3, 10000, %%r1;\n%s",
                    remote ? "" : spaces[space], remote ? "%rd5" : where, drop ? "_drop" : "",
                    expect ? ".expect_tx" : "", orders[order], spaces[space], remote ? "_" : "%rd9", where,
                    expect ? "24" : "2", order == 2 || order == 4 ? orders[order] : "", spaces[space], where,
                    order == 2 || order == 4 ? orders[order] : "", spaces[space], where, expect ? "40" : "16",
                    expect ? "4" : "3", waits[order], remote ? "" : spaces[space], remote ? "%rd5" : where,
                    waits[order], remote ? "" : spaces[space], remote ? "%rd5" : where, hint ? ", 100" : "",
                    waits[order], remote ? "" : spaces[space], remote ? "%rd5" : where, waits[order],
                    remote ? "" : spaces[space], remote ? "%rd5" : where, hint ? ", 100" : "", waits[order],
                    remote ? "" : spaces[space], remote ? "%rd5" : where, STORE_R1);
                vm_case *c;
                uint32_t *d = run_as(&c, *state, text, 1, 1, (order + space + form) % SCHEDULES);
                vm_case_clean(c);
                uint32_t dropped = drop ? (expect ? 1 : 2) : 0;
                assert_int_equal(d[0], (5 - dropped) * 10000 + (expect ? 4 : 3) * 100 + 15);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(every_form), UNIT_WITH_ARENA(missed_phase), UNIT_WITH_ARENA(pipeline),
        UNIT_WITH_ARENA(states),     UNIT_WITH_ARENA(transactions), UNIT_WITH_ARENA(generic_forms),
        UNIT_WITH_ARENA(misuse),     UNIT_WITH_ARENA(deadlock),     UNIT_WITH_ARENA(two_barriers),
    };
    return cmocka_run_group_tests_name("vm mbarrier", tests, NULL, NULL);
}
