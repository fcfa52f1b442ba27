/* SPDX-License-Identifier: Apache-2.0
 * Tensor memory among CTAs: contention of CTAs on one SM for permit and columns, leaks that later CTAs meet,
 * pairs of cta_group::2. One and four CTAs on an SM, every schedule, any number of workers. */
#include "unit/vm_help.h"

#define HEAD                                                                                                 \
    PTX_HEADER                                                                                               \
    ".visible .entry k(.param .u64 out)\n{\n.reg .pred %p<8>;\n.reg .b32 %r<40>;\n"                          \
    ".reg .b64 %rd<9>;\n.shared .align 8 .b32 slot[2];\nmov.u32 %r1, %tid.x;\n"                              \
    "shr.u32 %r2, %r1, 5;\nsetp.ne.u32 %p1, %r2, 0;\nmov.u32 %r3, slot;\nld.param.u64 %rd1, [out];\n"        \
    "mov.u32 %r8, %ctaid.x;\nmov.u32 %r9, %ntid.x;\nmad.lo.u32 %r10, %r8, %r9, %r1;\n"                       \
    "mul.wide.u32 %rd3, %r10, 4;\nadd.s64 %rd2, %rd1, %rd3;\nshl.b32 %r6, %r2, 21;\n"
#define TAIL       "\nret;\n}\n"
#define ALLOC(n)   "@!%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r3], " #n ";\n"
#define RELINQUISH "@!%p1 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"
#define USE                                                                                                  \
    "bar.sync 0;\nld.shared.u32 %r4, [%r3];\nadd.u32 %r5, %r4, %r6;\n"                                       \
    "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r5], {%r10};\ntcgen05.wait::st.sync.aligned;\nbar.sync 0;\n"    \
    "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r11}, [%r5];\ntcgen05.wait::ld.sync.aligned;\n"                 \
    "st.global.u32 [%rd2], %r11;\n"
#define FREE(n)   "bar.sync 0;\n@!%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r4, " #n ";\n"
#define CLUSTER   "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
#define ALLOC2(n) "@!%p1 tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r3], " #n ";\n"
#define FREE2(n)  "@!%p1 tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r4, " #n ";\n"

static const vm_schedule schedules[] = {VM_SCHEDULE_EARLY, VM_SCHEDULE_LATE, VM_SCHEDULE_RANDOM};

static vm_case *load(base_arena *arena, const char *body) {
    vm_case *c = vm_case_load(arena, base_arena_format(arena, "%s%s%s", HEAD, body, TAIL));
    vm_case_buffer(c, "out", 64 * 1024);
    return c;
}

static void check_numbers(const vm_case *c, uint32_t count) {
    for (uint32_t t = 0; t < count; t++)
        assert_int_equal(((uint32_t *)c->buffers[0].data)[t], t);
}

/* All CTAs get their columns in the end, whatever the number on an SM, of SMs and of workers. */
static void contention(void **state) {
    static const char *const bodies[] = {
        ALLOC(512) RELINQUISH USE FREE(512), /* one at a time */
        ALLOC(256) RELINQUISH USE FREE(256), /* two */
        ALLOC(128) USE FREE(128),            /* the permit is held to the end */
        ALLOC(32) USE FREE(32) RELINQUISH,
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        for (unsigned s = 0; s < 3; s++)
            for (uint32_t k = 0; k < 8; k++) {
                vm_case *c = load(*state, bodies[i]);
                c->launch.schedule = schedules[s];
                c->launch.seed = k;
                c->launch.ctas_per_sm = k & 1 ? 4 : 1;
                c->launch.sms = k & 2 ? 3 : 1;
                c->launch.threads = k & 4 ? 2 : 1;
                vm_case_run(c, 13, 64);
                vm_case_clean(c);
                check_numbers(c, 13 * 64);
            }
}

/* CTAs on one SM have different columns: with two of 256, the second one's base is 256. */
static void neighbours(void **state) {
    vm_case *c = load(*state, ALLOC(256) RELINQUISH "bar.sync 0;\nld.shared.u32 %r4, [%r3];\n"
                                                    "red.global.add.u32 [%rd1+4096], 1;\nspin:\n"
                                                    "ld.acquire.gpu.global.u32 %r12, [%rd1+4096];\n"
                                                    "setp.lt.u32 %p2, %r12, 64;\n@%p2 bra spin;\n"
                                                    "st.global.u32 [%rd2], %r4;\n" FREE(256));
    c->launch.ctas_per_sm = 2;
    c->launch.sms = 1;
    vm_case_run(c, 2, 32);
    vm_case_clean(c);
    uint32_t a = ((uint32_t *)c->buffers[0].data)[0], b = ((uint32_t *)c->buffers[0].data)[32];
    assert_int_equal(a + b, 256);
    assert_true(a == 0 || b == 0);
}

/* The holder of the permit waits for a CTA that waits for the permit. */
static void permit_deadlock(void **state) {
    static const char *const body =
        ALLOC(128) "bar.sync 0;\nld.shared.u32 %r4, [%r3];\nred.global.add.u32 [%rd1+4096], 1;\nspin:\n"
                   "ld.acquire.gpu.global.u32 %r12, [%rd1+4096];\nsetp.lt.u32 %p2, %r12, 64;\n@%p2 bra "
                   "spin;\n" FREE(128);
    for (unsigned s = 0; s < 3; s++) {
        vm_case *c = load(*state, body);
        c->launch.schedule = schedules[s];
        c->launch.ctas_per_sm = 4;
        c->launch.sms = 1;
        vm_case_run(c, 2, 32);
        assert_int_equal(c->result->status, VM_DEADLOCK);
        const char *text = "";
        for (size_t i = 0; i < c->result->finding_count; i++)
            if (c->result->findings[i].kind == VM_FIND_DEADLOCK)
                text = c->result->findings[i].text;
        assert_non_null(
            strstr(text, "waits at tcgen05.alloc for 128 columns: the permit to allocate is held by CTA ("));
        assert_non_null(strstr(text, "which has not relinquished it"));
    }
}

/* Without dealloc the columns stay taken: the third CTA on the SM cannot have any. */
static void leaks(void **state) {
    vm_case *c = load(*state, ALLOC(256) RELINQUISH USE);
    c->launch.ctas_per_sm = 1;
    c->launch.sms = 1;
    vm_case_run(c, 2, 32);
    assert_int_equal(c->result->status, VM_COMPLETE);
    assert_string_equal(vm_case_findings(c), "tmem-leak");
    assert_int_equal(c->result->findings[0].count, 2);
    c = load(*state, ALLOC(256) RELINQUISH USE);
    c->launch.ctas_per_sm = 1;
    c->launch.sms = 1;
    vm_case_run(c, 3, 32);
    assert_int_equal(c->result->status, VM_DEADLOCK);
    const vm_finding *last = &c->result->findings[c->result->finding_count - 1];
    assert_int_equal(last->kind, VM_FIND_DEADLOCK);
    assert_non_null(strstr(
        last->text, "0 are free; columns 0 to 255 belong to CTA (0,0,0), which ended without dealloc"));
}

static vm_case *run_pair(base_arena *arena, const char *body, vm_schedule schedule, uint64_t seed,
                         uint32_t grid) {
    vm_case *c = load(arena, body);
    c->launch.cluster[0] = 2;
    c->launch.cluster[1] = c->launch.cluster[2] = 1;
    c->launch.schedule = schedule;
    c->launch.seed = seed;
    vm_case_run(c, grid, 64);
    return c;
}

static void pairs(void **state) {
    static const char *const right = ALLOC2(256) USE CLUSTER FREE2(256);
    static const char *const late =
        "setp.eq.u32 %p3, %r8, 1;\nmov.u32 %r20, 0;\nwork:\nadd.u32 %r20, %r20, 1;\n"
        "setp.lt.u32 %p4, %r20, 300;\n@!%p3 bra ready;\n@%p4 bra work;\nready:\n" ALLOC2(256)
            USE CLUSTER FREE2(256);
    static const char *const hasty = ALLOC2(256) USE "bar.sync 0;\n" FREE2(256);
    static const char *const absent = "setp.eq.u32 %p3, %r8, 1;\n@%p3 exit;\n" ALLOC2(64) USE FREE2(64);
    for (unsigned s = 0; s < 3; s++)
        for (uint64_t seed = 0; seed < (s == 2 ? 6u : 1u); seed++) {
            vm_case *c = run_pair(*state, right, schedules[s], seed, 8);
            vm_case_clean(c);
            check_numbers(c, 8 * 64);
            c = run_pair(*state, late, schedules[s], seed, 2);
            vm_case_clean(c);
            check_numbers(c, 2 * 64);
            c = run_pair(*state, hasty, schedules[s], seed, 2);
            assert_int_equal(c->result->status, VM_COMPLETE);
            assert_string_equal(vm_case_findings(c), "tmem-pair-order");
            c = run_pair(*state, absent, schedules[s], seed, 2);
            assert_int_equal(c->result->status, VM_COMPLETE);
            assert_non_null(strstr(vm_case_findings(c), "tmem-peer"));
        }
    /* the two disagree */
    vm_case *c = run_pair(
        *state,
        "shl.b32 %r20, 64, %r8;\n@!%p1 tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r3], "
        "%r20;\n" USE CLUSTER FREE2(64),
        VM_SCHEDULE_EARLY, 0, 2);
    assert_non_null(strstr(vm_case_findings(c), "tmem-pair-differs"));
    /* one half frees, the other never comes */
    c = run_pair(*state,
                 ALLOC2(64) USE CLUSTER
                 "setp.eq.u32 %p3, %r8, 1;\n@%p3 bra wait;\n" FREE2(64) "bra done;\nwait:\n"
                                                                        "bar.sync 1, 96;\ndone:\n",
                 VM_SCHEDULE_EARLY, 0, 2);
    assert_true(c->result->status == VM_DEADLOCK || c->result->status == VM_FAULTED);
}

/* Pairs contend for both SMs at once: no pair holds one and waits for the other. */
static void pair_contention(void **state) {
    for (unsigned s = 0; s < 3; s++)
        for (uint64_t seed = 0; seed < (s == 2 ? 6u : 1u); seed++)
            for (uint32_t k = 0; k < 2; k++) {
                vm_case *c = load(*state, ALLOC2(512) USE CLUSTER FREE2(512));
                c->launch.cluster[0] = 2;
                c->launch.cluster[1] = c->launch.cluster[2] = 1;
                c->launch.schedule = schedules[s];
                c->launch.seed = seed;
                c->launch.sms = 2;
                c->launch.ctas_per_sm = k ? 4 : 1;
                vm_case_run(c, 12, 64);
                vm_case_clean(c);
                check_numbers(c, 12 * 64);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(contention), UNIT_WITH_ARENA(neighbours), UNIT_WITH_ARENA(permit_deadlock),
        UNIT_WITH_ARENA(leaks),      UNIT_WITH_ARENA(pairs),      UNIT_WITH_ARENA(pair_contention),
    };
    return cmocka_run_group_tests_name("vm_tmem_groups", tests, NULL, NULL);
}
