/* SPDX-License-Identifier: Apache-2.0
 * When asynchronous work happens, what it may not meet on its way, and how CTAs share SMs: under every
 * schedule and with any number of workers the same results and findings. */
#include "unit/vm_help.h"

#define BARRIER  ".shared .align 8 .b64 bar;\n.shared .align 16 .b8 data[1024];\n.shared .align 4 .b32 slot;\n"
#define STORE_R1 "add.s64 %rd70, %rd90, %rd80;\nst.global.u32 [%rd70], %r1;\n"
#define START                                                                                                \
    "setp.eq.u32 %p1, %r93, 0;\n@%p1 mbarrier.init.shared.b64 [bar], 1;\nbar.sync 0;\n"                      \
    "mov.u32 %r10, data;\nmov.u32 %r11, bar;\nshl.b32 %r12, %r93, 2;\nadd.u32 %r13, %r10, %r12;\n"           \
    "st.shared.u32 [%r13], 7;\nbar.sync 0;\nadd.u32 %r14, %r93, 50;\n"                                       \
    "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;\n"
#define SEND "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r13], %r14, [%r11];\n"
#define WAIT "wait:\nmbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;\n@!%p2 bra wait;\n"
#define READ "ld.shared.u32 %r1, [%r13];\n"

static const struct {
    vm_schedule schedule;
    uint64_t seed;
    uint32_t threads, late;
} schedules[] = {{VM_SCHEDULE_EARLY, 0, 1, 0},
                 {VM_SCHEDULE_EARLY, 0, 2, 0},
                 {VM_SCHEDULE_LATE, 0, 1, 0},
                 {VM_SCHEDULE_LATE, 0, 4, 1u << VM_ASYNC_REMOTE},
                 {VM_SCHEDULE_LATE, 0, 4, 1u << VM_ASYNC_BULK},
                 {VM_SCHEDULE_RANDOM, 1, 1, 0},
                 {VM_SCHEDULE_RANDOM, 1, 4, 0},
                 {VM_SCHEDULE_RANDOM, 2, 2, 0}};
enum { SCHEDULES = sizeof schedules / sizeof schedules[0] };

static vm_case *prepare(base_arena *arena, const char *body, size_t which, uint32_t **data) {
    vm_case *c = vm_case_load(arena, vm_case_kernel(arena, 1, BARRIER, body));
    *data = vm_case_buffer(c, "data", 1u << 18);
    c->launch.schedule = schedules[which].schedule;
    c->launch.seed = schedules[which].seed;
    c->launch.threads = schedules[which].threads;
    c->launch.late_classes = schedules[which].late;
    return c;
}

/* A wait makes the stores visible, whenever they happen. */
static void waited(void **state) {
    for (size_t s = 0; s < SCHEDULES; s++) {
        uint32_t *d;
        vm_case *c = prepare(*state, START SEND WAIT READ STORE_R1, s, &d);
        vm_case_run(c, 5, 32);
        vm_case_clean(c);
        assert_int_equal(c->result->async_classes, 1u << VM_ASYNC_REMOTE);
        for (uint32_t t = 0; t < 5 * 32; t++)
            assert_int_equal(d[t], t % 32 + 50);
    }
}

/* Without it the access meets the store in flight: found under every schedule, though the values differ. */
static void in_flight(void **state) {
    static const struct {
        const char *body, *findings;
    } cases[] = {
        {START SEND READ STORE_R1 WAIT, "in-flight"},
        {START SEND "st.shared.u32 [%r13], 3;\n" WAIT, "in-flight"},
        {START SEND "atom.shared.add.u32 %r1, [%r13], 1;\n" WAIT, "in-flight"},
        {START SEND "ld.shared.u32 %r1, [data+256];\nst.shared.u32 [data+512], %r1;\n" WAIT, ""},
        {START SEND WAIT "st.shared.u32 [%r13], 3;\n" READ, ""},
        {START SEND "cvt.u64.u32 %rd1, %r13;\ncvta.shared.u64 %rd2, %rd1;\nld.u8 %r1, [%rd2+1];\n" WAIT,
         "in-flight"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (size_t s = 0; s < SCHEDULES; s++) {
            uint32_t *d;
            vm_case *c = prepare(*state, cases[i].body, s, &d);
            vm_case_run(c, 2, 32);
            if (strcmp(vm_case_findings(c), cases[i].findings) != 0)
                fail_msg("schedule %zu, case %zu: findings '%s'", s, i, vm_case_findings(c));
            assert_int_equal(c->result->status, VM_COMPLETE);
        }
}

/* What a race reads depends on the schedule: early the new value, late the old one. */
static void differences(void **state) {
    static const uint32_t expected[] = {50, 50, 7, 7, 50};
    for (size_t s = 0; s < 5; s++) {
        uint32_t *d;
        vm_case *c = prepare(*state, START SEND READ STORE_R1 WAIT, s, &d);
        vm_case_run(c, 1, 32);
        assert_int_equal(d[0], expected[s]);
    }
}

/* Even a race gives the same under one seed, whatever the workers. */
static void repeatable(void **state) {
    for (uint64_t seed = 1; seed < 5; seed++) {
        uint32_t *first = NULL, kinds = 0;
        for (uint32_t threads = 1; threads <= 4; threads++) {
            uint32_t *d;
            vm_case *c = prepare(*state, START SEND READ STORE_R1 WAIT, 5, &d);
            c->launch.seed = seed;
            c->launch.threads = threads;
            vm_case_run(c, 60, 32);
            assert_int_equal(c->result->status, VM_COMPLETE);
            if (first == NULL)
                first = d;
            assert_memory_equal(first, d, 60 * 32 * 4);
            for (uint32_t i = 0; i < 60 * 32; i++)
                kinds |= d[i] == 7 ? 1 : 2;
        }
        assert_int_equal(kinds, 3);
    }
}

/* ---- SMs ---- */
#define ALLOC(columns)                                                                                       \
    "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], " columns ";\nbar.sync 0;\n"            \
    "ld.shared.u32 %r1, [slot];\n"
#define RELINQUISH    "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"
#define FREE(columns) "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, " columns ";\n"

static vm_case *run_groups(base_arena *arena, const char *body, size_t which, uint32_t grid, uint32_t sms,
                           uint32_t per_sm, uint32_t **data) {
    vm_case *c = prepare(arena, body, which, data);
    c->launch.sms = sms;
    c->launch.ctas_per_sm = per_sm;
    vm_case_run(c, grid, 32);
    return c;
}

/* Two CTAs of an SM share its columns when the first gives up its permit; all of them run, each once. */
static void sharing(void **state) {
    for (size_t s = 0; s < SCHEDULES; s++)
        for (uint32_t per_sm = 1; per_sm <= 4; per_sm++) {
            uint32_t *d, bases = 0;
            vm_case *c = run_groups(*state, ALLOC("128") RELINQUISH STORE_R1 "bar.sync 0;\n" FREE("128"), s,
                                    67, 4, per_sm, &d);
            vm_case_clean(c);
            assert_int_equal(c->result->ctas, 67);
            for (uint32_t i = 0; i < 67; i++)
                bases |= 1u << d[32 * i] / 128;
            assert_true(bases < 1u << per_sm);
            /* a permit that is kept makes the CTAs of an SM run one after the other */
            c = run_groups(*state, ALLOC("128") STORE_R1 FREE("128"), s, 20, 2, per_sm, &d);
            vm_case_clean(c);
            for (uint32_t i = 0; i < 20; i++)
                assert_int_equal(d[32 * i], 0);
        }
}

/* The same whatever the workers: also where CTAs of an SM meet by chance. */
static void workers(void **state) {
    const char *body = ALLOC("128") RELINQUISH
        "mov.u32 %r2, %smid;\nmad.lo.u32 %r1, %r2, 1000, %r1;\n" STORE_R1
        "and.b32 %r3, %r91, 7;\nloop:\nsub.u32 %r3, %r3, 1;\nsetp.gt.s32 %p1, %r3, 0;\nbar.sync 0;\n"
        "@%p1 bra loop;\nld.shared.u32 %r1, [slot];\n" FREE("128");
    for (uint64_t seed = 1; seed < 4; seed++) {
        uint32_t *first = NULL;
        for (uint32_t threads = 1; threads <= 4; threads++) {
            uint32_t *d;
            vm_case *c = prepare(*state, body, 5, &d);
            c->launch.seed = seed;
            c->launch.threads = threads;
            c->launch.sms = 8;
            vm_case_run(c, 200, 32);
            vm_case_clean(c);
            if (first == NULL)
                first = d;
            assert_memory_equal(first, d, 200 * 32 * 4);
            for (uint32_t i = 0; i < 200; i++)
                assert_int_equal(d[32 * i] / 1000, i % 8);
        }
    }
}

/* CTA 0 keeps the permit and waits for CTA 1 of the same SM, which waits for the permit. */
static void permit_deadlock(void **state) {
    for (size_t s = 0; s < SCHEDULES; s++) {
        uint32_t *d;
        vm_case *c = run_groups(
            *state,
            "setp.eq.u32 %p1, %r91, 0;\n@%p1 bra first;\n"
            "turn:\nld.acquire.gpu.global.u32 %r5, [%rd90+4];\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra "
            "turn;\n" ALLOC("32") "st.release.gpu.global.u32 [%rd90], 1;\n" FREE(
                "32") "bra out;\n"
                      "first:\n" ALLOC("32") "st.release.gpu.global.u32 [%rd90+4], 1;\n"
                                             "again:\nld.acquire.gpu.global.u32 %r5, [%rd90];\nsetp.eq.u32 "
                                             "%p2, %r5, 0;\n@%p2 bra again;\n" FREE("32") "out:\n",
            s, 2, 1, 2, &d);
        assert_int_equal(c->result->status, VM_DEADLOCK);
        assert_string_equal(vm_case_findings(c), "deadlock");
        const char *text = c->result->findings[0].text;
        assert_non_null(strstr(text, "CTA (0,0,0), warp 0"));
        assert_non_null(strstr(text, "CTA (1,0,0), warp 0"));
        assert_non_null(strstr(text, "permit"));
        /* on two SMs it runs */
        c = run_groups(*state,
                       "setp.eq.u32 %p1, %r91, 0;\n@%p1 bra first;\n" ALLOC(
                           "32") "st.release.gpu.global.u32 [%rd90], "
                                 "1;\n" FREE("32") "bra "
                                                   "out;\nfirst:"
                                                   "\n" ALLOC("32") "again:"
                                                                    "\nld."
                                                                    "acquire."
                                                                    "gpu."
                                                                    "global."
                                                                    "u32 %r5, "
                                                                    "[%rd90];"
                                                                    "\nsetp."
                                                                    "eq.u32 "
                                                                    "%p2, "
                                                                    "%r5, "
                                                                    "0;\n@%p2 "
                                                                    "bra "
                                                                    "again;"
                                                                    "\n" FREE("32") "out:\n",
                       s, 2, 2, 2, &d);
        vm_case_clean(c);
    }
}

/* A fault of a CTA ends the run; what is reported does not depend on the workers. */
static void faults(void **state) {
    for (uint32_t threads = 1; threads <= 4; threads++) {
        uint32_t *d;
        vm_case *c = prepare(*state,
                             ALLOC("32") "setp.eq.u32 %p1, %r91, 21;\nsetp.eq.u32 %p2, %r91, 14;\n"
                                         "or.pred %p1, %p1, %p2;\n@%p1 trap;\n" STORE_R1 FREE("32"),
                             0, &d);
        c->launch.threads = threads;
        c->launch.sms = 5;
        vm_case_run(c, 50, 32);
        assert_int_equal(c->result->status, VM_FAULTED);
        assert_int_equal(c->result->ctas, 15);
        assert_string_equal(vm_case_findings(c), "trap");
        assert_int_equal(c->result->findings[0].cta[0], 14);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(waited),          UNIT_WITH_ARENA(in_flight), UNIT_WITH_ARENA(differences),
        UNIT_WITH_ARENA(repeatable),      UNIT_WITH_ARENA(sharing),   UNIT_WITH_ARENA(workers),
        UNIT_WITH_ARENA(permit_deadlock), UNIT_WITH_ARENA(faults),
    };
    return cmocka_run_group_tests_name("vm async", tests, NULL, NULL);
}
