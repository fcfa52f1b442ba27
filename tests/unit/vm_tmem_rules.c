/* SPDX-License-Identifier: Apache-2.0
 * Every rule of tensor memory with kernels that break it and kernels that keep it, under three schedules: the
 * same findings each time. */
#include "unit/vm_help.h"

/* %r1: thread, %r2: warp, %r3: address of the slot, %rd2: the thread's word of `out`, %p1: not warp 0. */
#define PROLOGUE                                                                                             \
    PTX_HEADER                                                                                               \
    ".visible .entry k(.param .u64 out)\n{\n.reg .pred %p<8>;\n.reg .b32 %r<60>;\n.reg .f32 %f<8>;\n"        \
    ".reg .b64 %rd<9>;\n.shared .align 8 .b32 slot[2];\nmov.u32 %r1, %tid.x;\nshr.u32 %r2, %r1, 5;\n"        \
    "setp.ne.u32 %p1, %r2, 0;\nmov.u32 %r3, slot;\nld.param.u64 %rd1, [out];\nmul.wide.u32 %rd3, %r1, 4;\n"  \
    "add.s64 %rd2, %rd1, %rd3;\nshl.b32 %r6, %r2, 21;\nand.b32 %r6, %r6, 0x600000;\nand.b32 %r7, %r1, 31;\n"
#define EPILOGUE   "\nret;\n}\n"
#define ALLOC(n)   "@!%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r3], " #n ";\n"
#define ALLOC2(n)  "@!%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r3+4], " #n ";\n"
#define RELINQUISH "@!%p1 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"
/* %r4: base, %r5: base with the warp's lanes */
#define PUBLISH   "bar.sync 0;\nld.shared.u32 %r4, [%r3];\nadd.u32 %r5, %r4, %r6;\n"
#define FREE(n)   "bar.sync 0;\n@!%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r4, " #n ";\n"
#define BEGIN     ALLOC(64) PUBLISH
#define END       FREE(64)
#define ST(at, r) "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r5+" #at "], {" r "};\n"
#define LD(r, at) "tcgen05.ld.sync.aligned.32x32b.x1.b32 {" r "}, [%r5+" #at "];\n"
#define WAIT_ST   "tcgen05.wait::st.sync.aligned;\n"
#define WAIT_LD   "tcgen05.wait::ld.sync.aligned;\n"
#define BEFORE    "tcgen05.fence::before_thread_sync;\n"
#define AFTER     "tcgen05.fence::after_thread_sync;\n"
#define OUT(r)    "st.global.u32 [%rd2], " r ";\n"

typedef struct rule {
    const char *name;
    uint32_t threads;
    const char *body;
    const char *findings;
} rule;

static const vm_schedule schedules[] = {VM_SCHEDULE_EARLY, VM_SCHEDULE_LATE, VM_SCHEDULE_RANDOM};

static vm_case *load(base_arena *arena, const char *body) {
    vm_case *c = vm_case_load(arena, base_arena_format(arena, "%s%s%s", PROLOGUE, body, EPILOGUE));
    vm_case_buffer(c, "out", 4096);
    return c;
}

static void check(base_arena *arena, const rule *rules, size_t count) {
    bool failed = false;
    for (size_t i = 0; i < count; i++)
        for (unsigned s = 0; s < 3; s++) {
            vm_case *c = load(arena, rules[i].body);
            c->launch.schedule = schedules[s];
            c->launch.seed = 3;
            vm_case_run(c, 1, rules[i].threads);
            if (strcmp(vm_case_findings(c), rules[i].findings) != 0 || c->result->status != VM_COMPLETE) {
                print_message("%s, schedule %u: status %d, '%s', expected '%s'\n", rules[i].name, s,
                              c->result->status, vm_case_findings(c), rules[i].findings);
                failed = true;
            }
        }
    assert_false(failed);
}
#define CHECK(state, rules) check(*(state), rules, sizeof(rules) / sizeof *(rules))

static void allocation(void **state) {
    static const rule rules[] = {
        {"right", 128, BEGIN RELINQUISH ST(0, "%r1") WAIT_ST LD("%r10", 0) WAIT_LD OUT("%r10") END, ""},
        {"relinquish before dealloc or after it", 128, BEGIN END RELINQUISH, ""},
        {"another warp frees", 128,
         BEGIN "bar.sync 0;\nsetp.ne.u32 %p2, %r2, 3;\n"
               "@!%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r4, 64;\n",
         ""},
        {"no alloc", 128, PUBLISH ST(0, "%r1") WAIT_ST, "tmem-unallocated"},
        {"past the allocation", 128, BEGIN ST(64, "%r1") WAIT_ST END, "tmem-unallocated"},
        {"the last column is inside", 128, BEGIN ST(63, "%r1") WAIT_ST END, ""},
        {"half past the allocation", 32,
         BEGIN "tcgen05.st.sync.aligned.32x32b.x2.b32 [%r5+63], {%r1, %r1};\n" WAIT_ST END,
         "tmem-unallocated"},
        {"after dealloc", 128, BEGIN END "bar.sync 0;\n" LD("%r10", 0) WAIT_LD, "tmem-unallocated"},
        {"column 600", 128, BEGIN ST(600, "%r1") WAIT_ST END, "tmem-range"},
        {"lane 128", 32, BEGIN ST(0x800000, "%r1") WAIT_ST END, "tmem-range"},
        {"half-split offset leaves the allocation", 32,
         BEGIN "tcgen05.st.sync.aligned.16x32bx2.x1.b32 [%r5], 1048576, {%r1};\n" WAIT_ST END, "tmem-range"},
        {"half-split offset below 0", 32,
         BEGIN "tcgen05.st.sync.aligned.16x32bx2.x1.b32 [%r5], -1, {%r1};\n" WAIT_ST END, "tmem-range"},
        {"dealloc inside", 128, BEGIN "add.u32 %r4, %r4, 32;\n" END, "tmem-free-address"},
        {"dealloc of nothing", 128, BEGIN "add.u32 %r4, %r4, 96;\n" END, "tmem-free-address tmem-leak"},
        {"dealloc of 544", 32, BEGIN "mov.u32 %r4, 544;\n" END, "tmem-free-address tmem-leak"},
        {"dealloc of half", 128, BEGIN FREE(32), "tmem-free-size"},
        {"dealloc twice", 128, BEGIN END END, "tmem-freed-twice"},
        {"every warp frees", 64,
         BEGIN "bar.sync 0;\ntcgen05.dealloc.cta_group::1.sync.aligned.b32 %r4, 64;\n", "tmem-freed-twice"},
        {"leak", 128, BEGIN, "tmem-leak"},
        {"leak of one of two", 128, ALLOC(64) ALLOC2(32) PUBLISH END, "tmem-leak"},
        {"alloc after relinquish", 128,
         ALLOC(64) RELINQUISH ALLOC2(64) PUBLISH END "ld.shared.u32 %r4, [%r3+4];\n" END,
         "tmem-relinquished"},
        {"48 columns in a register", 128,
         "mov.u32 %r9, 48;\n@!%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r3], "
         "%r9;\n" PUBLISH "bar.sync 0;\n@!%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r4, %r9;\n",
         "tmem-columns tmem-columns"},
        {"0 columns in a register", 32,
         "mov.u32 %r9, 0;\n@!%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r3], "
         "%r9;\n" PUBLISH FREE(32),
         "tmem-columns"},
        {"1024 columns in a register", 32,
         "mov.u32 %r9, 1024;\n@!%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r3], "
         "%r9;\n" PUBLISH FREE(512),
         "tmem-columns"},
        {"growing", 128, ALLOC(32) ALLOC2(64) PUBLISH FREE(32) "ld.shared.u32 %r4, [%r3+4];\n" END,
         "tmem-grows"},
        {"shrinking", 128, ALLOC(64) ALLOC2(32) PUBLISH END "ld.shared.u32 %r4, [%r3+4];\n" FREE(32), ""},
        {"two values of cta_group", 32,
         BEGIN "tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;\n" END, "tmem-group"},
        {"peer without a cluster", 32,
         "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r3], 64;\n" PUBLISH
         "tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r4, 64;\n",
         "tmem-peer tmem-pair-order tmem-peer"},
        {"slot in global memory", 32,
         "tcgen05.alloc.cta_group::1.sync.aligned.b32 [%rd1], 64;\nld.global.u32 %r4, [%rd1];\n" FREE(64),
         "tmem-slot"},
        {"slot by generic address", 32,
         "cvta.shared.u64 %rd4, slot;\ntcgen05.alloc.cta_group::1.sync.aligned.b32 [%rd4+4], 64;\n"
         "ld.shared.u32 %r4, [slot+4];\n" FREE(64),
         ""},
    };
    CHECK(state, rules);
}

static void warps(void **state) {
    static const rule rules[] = {
        {"one lane allocates", 128,
         "setp.eq.u32 %p2, %r1, 0;\n@%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r3], "
         "64;\n" PUBLISH END,
         "tmem-partial"},
        {"half a warp loads", 32,
         BEGIN ST(0, "%r1") WAIT_ST "setp.lt.u32 %p2, %r1, 16;\n@%p2 bra other;\nbra join;\nother:\n" LD(
             "%r10", 0) WAIT_LD "join:\n" END,
         "tmem-partial tmem-partial"},
        {"both halves come in the end", 32,
         BEGIN ST(0, "%r1") WAIT_ST
         "setp.lt.u32 %p2, %r1, 16;\n@%p2 bra other;\nadd.u32 %r9, %r1, 1;\nbra join;\nother:\n"
         "add.u32 %r9, %r1, 2;\njoin:\n" LD("%r10", 0) WAIT_LD END,
         ""},
        {"exited lanes", 64, BEGIN "setp.eq.u32 %p2, %r1, 40;\n@%p2 exit;\n" ST(0, "%r1") WAIT_ST END,
         "tmem-partial tmem-partial"},
        {"address per lane", 32, BEGIN "add.u32 %r5, %r5, %r1;\n" ST(0, "%r1") WAIT_ST END, "tmem-lanes"},
        {"columns per lane", 32,
         "shl.b32 %r9, 32, %r1;\nmin.u32 %r9, %r9, 64;\nmax.u32 %r9, %r9, 32;\n"
         "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r3], %r9;\n" PUBLISH FREE(32),
         "tmem-lanes"},
        {"lanes of warp 0 from warp 1", 64, BEGIN "mov.u32 %r5, %r4;\n" ST(0, "%r1") WAIT_ST END,
         "tmem-window"},
        {"warp 5 owns lanes 32 to 63", 256,
         BEGIN "setp.ne.u32 %p2, %r2, 5;\n@%p2 bra skip;\n" ST(0, "%r1") WAIT_ST "skip:\n" END, ""},
        {"lane 7", 32, BEGIN ST(0x70000, "%r1") WAIT_ST END, "tmem-lane-start"},
        {"lane 16 of .32x32b", 32, BEGIN ST(0x100000, "%r1") WAIT_ST END, "tmem-lane-start"},
        {"lane 16 of .16x64b", 32,
         BEGIN "tcgen05.st.sync.aligned.16x64b.x1.b32 [%r5+0x100000], {%r1};\n" WAIT_ST END, ""},
        {"a second allocation elsewhere needs no barrier", 64,
         BEGIN ALLOC2(32) ST(0, "%r1") WAIT_ST LD("%r10", 0) WAIT_LD
         "ld.shared.u32 %r11, [%r3+4];\n" END
         "mov.u32 %r4, %r11;\n@!%p1 ld.shared.u32 %r4, [%r3+4];\n" FREE(32),
         ""},
        {"published by a flag", 64,
         "mov.u32 %r9, 1;\nmov.u32 %r8, 0;\n@!%p1 st.shared.u32 [%r3+4], %r8;\nbar.sync 0;\n" ALLOC(
             64) "@!%p1 st.release.cta.shared.u32 [%r3+4], %r9;\nspin:\nld.acquire.cta.shared.u32 %r8, "
                 "[%r3+4];\n"
                 "setp.eq.u32 %p2, %r8, 0;\n@%p2 bra spin;\nld.shared.u32 %r4, [%r3];\nadd.u32 %r5, %r4, "
                 "%r6;\n" ST(0, "%r1") WAIT_ST END,
         ""},
        {"not published", 64,
         BEGIN END "bar.sync 0;\n" ALLOC(64) "setp.eq.u32 %p3, %r2, 0;\n@%p3 bra skip;\n" ST(0, "%r1") WAIT_ST
         "skip:\n" END,
         "tmem-unpublished"},
    };
    /* otherwise the warp that does not wait may be first: then nothing is allocated yet */
    base_arena *arena = *state;
    check(arena, rules, sizeof rules / sizeof *rules - 1);
    const rule *last = &rules[sizeof rules / sizeof *rules - 1];
    vm_case *c = load(arena, last->body);
    c->launch.schedule = VM_SCHEDULE_LATE;
    vm_case_run(c, 1, last->threads);
    assert_string_equal(vm_case_findings(c), last->findings);
}

static void release_lanes(void **state) {
    vm_case *c =
        load(*state, BEGIN "mov.u32 %r5, %r4;\n" ST(0, "%r1") WAIT_ST LD("%r10", 0) WAIT_LD OUT("%r10") END);
    c->launch.tmem_lanes_release = true;
    vm_case_run(c, 1, 128);
    vm_case_clean(c);
    for (uint32_t t = 0; t < 128; t++) /* each warp had its own lanes */
        assert_int_equal(((uint32_t *)c->buffers[0].data)[t], t);
    c = load(*state, BEGIN "mov.u32 %r5, %r4;\n" ST(0x200000, "%r1") WAIT_ST END);
    c->launch.tmem_lanes_release = true;
    vm_case_run(c, 1, 128);
    assert_string_equal(vm_case_findings(c), "tmem-window");
}

/* Registers that were all read: hardware has read the cells, PTX promises the values alone. */
static void strict(void **state) {
    static const char *const bodies[] = {
        BEGIN ST(0, "%r1") WAIT_ST LD("%r10", 0) OUT("%r10") ST(0, "%r1") WAIT_ST WAIT_LD END,
        BEGIN ST(0, "%r1") WAIT_ST LD("%r10", 0) OUT("%r10") WAIT_LD ST(0, "%r1") WAIT_ST END};
    for (unsigned i = 0; i < 2; i++)
        for (int is_strict = 0; is_strict < 2; is_strict++)
            for (int schedule = 0; schedule < 3; schedule++) {
                vm_case *c = load(*state, bodies[i]);
                c->launch.strict_ptx = is_strict;
                c->launch.schedule = (vm_schedule)schedule;
                vm_case_run(c, 1, 128);
                assert_string_equal(vm_case_findings(c), is_strict && i == 0
                                                             ? "tmem-use-before-wait tmem-in-flight"
                                                             : "tmem-use-before-wait");
            }
}

static void cells(void **state) {
    static const rule rules[] = {
        {"never written", 128, BEGIN LD("%r10", 0) WAIT_LD END, "tmem-unwritten"},
        {"one lane window never written", 128,
         BEGIN "setp.eq.u32 %p2, %r2, 2;\n@%p2 bra skip;\n" ST(5, "%r1") "skip:\n" WAIT_ST LD("%r10", 5)
             WAIT_LD END,
         "tmem-unwritten"},
        {"written before it was given back", 32,
         BEGIN ST(0, "%r1") WAIT_ST END BEGIN LD("%r10", 0) WAIT_LD END, "tmem-unwritten"},
        {"upper halves after unpack", 32,
         BEGIN "tcgen05.st.sync.aligned.32x32b.x1.unpack::16b.b32 [%r5], {%r1};\n" WAIT_ST LD("%r10", 0)
             WAIT_LD END,
         "tmem-unwritten"},
        {"unpack and pack", 32,
         BEGIN "tcgen05.st.sync.aligned.32x32b.x1.unpack::16b.b32 [%r5], {%r1};\n" WAIT_ST
               "tcgen05.ld.sync.aligned.32x32b.x1.pack::16b.b32 {%r10}, [%r5];\n" WAIT_LD OUT("%r10") END,
         ""},
        {"st then ld", 128, BEGIN ST(0, "%r1") LD("%r10", 0) WAIT_LD WAIT_ST END, "tmem-in-flight"},
        {"st then ld elsewhere", 128,
         BEGIN ST(0, "%r1") WAIT_ST ST(1, "%r1") LD("%r10", 0) WAIT_LD WAIT_ST END, ""},
        {"ld then st", 128, BEGIN ST(0, "%r1") WAIT_ST LD("%r10", 0) ST(0, "%r1") WAIT_LD WAIT_ST END,
         "tmem-in-flight"},
        {"ld, wait, st", 128, BEGIN ST(0, "%r1") WAIT_ST LD("%r10", 0) WAIT_LD ST(0, "%r1") WAIT_ST END, ""},
        {"st then st", 128, BEGIN ST(0, "%r1") ST(0, "%r1") WAIT_ST END, "tmem-in-flight"},
        {"ld then ld", 128, BEGIN ST(0, "%r1") WAIT_ST LD("%r10", 0) LD("%r11", 0) WAIT_LD END, ""},
        {"dealloc before wait::st", 32, BEGIN ST(0, "%r1") END WAIT_ST, "tmem-in-flight"},
        {"dealloc before wait::ld", 32, BEGIN ST(0, "%r1") WAIT_ST LD("%r10", 0) END WAIT_LD,
         "tmem-in-flight"},
        {"the other warp's cells, waited for too late", 256,
         BEGIN "setp.eq.u32 %p2, %r2, 0;\n@!%p2 bra skip;\n" ST(
             0, "%r1") "skip:\n" BEFORE "bar.sync 0;\n" AFTER
                       "setp.eq.u32 %p3, %r2, 4;\n@!%p3 bra done;\n" LD("%r10", 0) WAIT_LD
         "done:\n" WAIT_ST END,
         "tmem-in-flight"},
        {"the other warp's cells, waited for, no barrier", 256,
         BEGIN "setp.eq.u32 %p2, %r2, 0;\n@!%p2 bra skip;\n" ST(0, "%r1") WAIT_ST BEFORE
         "skip:\nsetp.eq.u32 %p3, %r2, 4;\n@!%p3 bra done;\n" AFTER LD("%r10", 0) WAIT_LD "done:\n" END,
         "tmem-in-flight"},
        {"cells written while another warp may still load them", 256,
         BEGIN "setp.eq.u32 %p2, %r2, 0;\nsetp.eq.u32 %p3, %r2, 4;\n@!%p2 bra skip;\n" ST(0, "%r1")
             WAIT_ST LD("%r10", 0) BEFORE "skip:\nbar.sync 0;\n" AFTER
                                          "@!%p3 bra done;\n" ST(0, "%r1") "done:\n" WAIT_LD WAIT_ST END,
         "tmem-in-flight"},
    };
    CHECK(state, rules);
}

static void registers(void **state) {
#define FILLED BEGIN ST(0, "%r1") ST(1, "%r7") WAIT_ST
    static const rule rules[] = {
        {"sum before the wait", 128, FILLED LD("%r10", 0) "add.u32 %r11, %r10, 1;\n" WAIT_LD OUT("%r11") END,
         "tmem-use-before-wait"},
        {"stored before the wait", 128, FILLED LD("%r10", 0) OUT("%r10") WAIT_LD END, "tmem-use-before-wait"},
        {"never waited for", 128, FILLED LD("%r10", 0) OUT("%r10") END, "tmem-use-before-wait"},
        {"an address", 128,
         FILLED LD(
             "%r10",
             0) "mul.wide.u32 %rd5, %r10, 4;\nadd.s64 %rd5, %rd1, %rd5;\nst.global.u32 [%rd5], %r1;\n" WAIT_LD
             END,
         "tmem-use-before-wait"},
        {"a condition", 128,
         FILLED LD("%r10", 0) "setp.eq.u32 %p2, %r10, 3;\n@%p2 bra there;\nthere:\n" WAIT_LD END,
         "tmem-use-before-wait"},
        {"moved, used after the wait", 128,
         FILLED LD("%r10", 0) "mov.b32 %f1, %r10;\nmov.b32 %r12, %f1;\n" WAIT_LD OUT("%r12") END, ""},
        {"moved, used before the wait", 128,
         FILLED LD("%r10",
                   0) "mov.b32 %r12, %r10;\nmov.b32 %r13, %r12;\nadd.u32 %r11, %r13, 1;\n" WAIT_LD OUT("%r11")
             END,
         "tmem-use-before-wait"},
        {"packed, used after the wait", 128,
         FILLED LD("%r10", 0) LD("%r11", 1) "mov.b64 %rd5, {%r10, %r11};\n" WAIT_LD
                                            "mov.b64 {%r12, %r13}, %rd5;\n"
                                            "xor.b32 %r12, %r12, %r13;\n" OUT("%r12") END,
         ""},
        {"packed, used before the wait", 128,
         FILLED LD("%r10", 0) LD("%r11", 1) "mov.b64 %rd5, {%r10, %r11};\nadd.s64 %rd6, %rd5, 1;\n" WAIT_LD
                                            "cvt.u32.u64 %r12, %rd6;\n" OUT("%r12") END,
         "tmem-use-before-wait"},
        {"selected, used after the wait", 128,
         FILLED LD("%r10", 0) "setp.lt.u32 %p2, %r1, 9;\nselp.b32 %r12, %r10, %r1, %p2;\n" WAIT_LD OUT("%r12")
             END,
         ""},
        {"selected, used before the wait", 128,
         FILLED LD(
             "%r10",
             0) "setp.lt.u32 %p2, %r1, 200;\nselp.b32 %r12, %r10, %r1, %p2;\nadd.u32 %r12, %r12, 1;\n" WAIT_LD
             OUT("%r12") END,
         "tmem-use-before-wait"},
        {"not selected", 128,
         FILLED LD(
             "%r10",
             0) "setp.gt.u32 %p2, %r1, 200;\nselp.b32 %r12, %r10, %r1, %p2;\nadd.u32 %r12, %r12, 1;\n" WAIT_LD
             OUT("%r12") END,
         ""},
        {"the wrong wait", 128,
         FILLED LD("%r10", 0) WAIT_ST "add.u32 %r11, %r10, 1;\n" WAIT_LD OUT("%r11") END, "tmem-wrong-wait"},
        {"both waits", 128, FILLED LD("%r10", 0) WAIT_ST WAIT_LD "add.u32 %r11, %r10, 1;\n" OUT("%r11") END,
         ""},
        {"overwritten", 128, FILLED LD("%r10", 0) "mov.u32 %r10, 5;\n" WAIT_LD OUT("%r10") END,
         "tmem-overwrite"},
        {"overwritten by a load", 128, FILLED LD("%r10", 0) LD("%r10", 1) WAIT_LD OUT("%r10") END,
         "tmem-overwrite"},
        {"overwritten in a loop", 128,
         FILLED
         "mov.u32 %r20, 0;\nloop:\n" LD("%r10", 0) "add.u32 %r20, %r20, 1;\nsetp.lt.u32 %p2, %r20, 3;\n"
                                                   "@%p2 bra loop;\n" WAIT_LD OUT("%r10") END,
         "tmem-overwrite"},
        {"waited in a loop", 128,
         FILLED "mov.u32 %r20, 0;\nmov.u32 %r21, 0;\nloop:\n" LD("%r10", 0) WAIT_LD
         "add.u32 %r21, %r21, %r10;\nadd.u32 %r20, %r20, 1;\nsetp.lt.u32 %p2, %r20, 3;\n@%p2 bra loop;\n" OUT(
             "%r21") END,
         ""},
        {"waited on one path only", 128,
         FILLED LD("%r10", 0) "setp.eq.u32 %p2, %r2, 1;\n@%p2 bra skip;\n" WAIT_LD
                              "skip:\nadd.u32 %r11, %r10, 1;\n" WAIT_LD OUT("%r11") END,
         "tmem-use-before-wait"},
        {"overwritten where it had been waited for", 128,
         FILLED LD("%r10", 0) "setp.eq.u32 %p2, %r2, 9;\n@%p2 bra skip;\n" WAIT_LD
                              "mov.u32 %r10, 5;\nskip:\n" WAIT_LD OUT("%r10") END,
         ""},
    };
    CHECK(state, rules);
}

/* Values, not only findings: what was loaded arrives whenever it is read, and rows of dead registers are not
 * hit by a late load. */
static void values(void **state) {
    static const char *const bodies[] = {
        /* the load is dead, its row would be free before the wait */
        FILLED "mov.u32 %r30, 100;\n" LD("%r10", 0) "add.u32 %r31, %r30, %r1;\nadd.u32 %r32, %r31, %r30;\n"
                                                    "sub.u32 %r33, %r32, 100;\n" WAIT_LD OUT("%r33") END,
        /* two registers of one load: one is used early, the other is dead */
        FILLED "mov.u32 %r30, 100;\ntcgen05.ld.sync.aligned.32x32b.x2.b32 {%r10, %r11}, [%r5];\n"
               "add.u32 %r31, %r10, %r30;\nadd.u32 %r32, %r31, 1;\nsub.u32 %r33, %r32, 1;\n" OUT("%r33")
                   WAIT_LD END,
        /* used on one path only */
        FILLED LD("%r10",
                  0) "mov.u32 %r33, 100;\nsetp.eq.u32 %p2, %r2, 9;\n@!%p2 bra there;\nmov.u32 %r10, 3;\n"
                     "there:\n" WAIT_LD "add.u32 %r33, %r33, %r10;\n" OUT("%r33") END,
        /* guarded use, then used again */
        FILLED LD("%r10", 0) "mov.u32 %r33, 100;\nsetp.lt.u32 %p2, %r1, 7;\n@%p2 add.u32 %r33, %r33, %r10;\n"
                             "@!%p2 add.u32 %r33, %r33, %r10;\n" WAIT_LD OUT("%r33") END,
        /* copies through a select */
        FILLED LD("%r10", 0) "setp.lt.u32 %p2, %r7, 7;\nselp.b32 %r11, %r10, 0, %p2;\nselp.b32 %r12, 0, "
                             "%r10, %p2;\n" WAIT_LD
                             "add.u32 %r33, %r11, %r12;\nadd.u32 %r33, %r33, 100;\n" OUT("%r33") END,
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        for (unsigned s = 0; s < 3; s++)
            for (uint64_t seed = 0; seed < (s == 2 ? 8u : 1u); seed++) {
                vm_case *c = load(*state, bodies[i]);
                c->launch.schedule = schedules[s];
                c->launch.seed = seed;
                vm_case_run(c, 1, 128);
                assert_int_equal(c->result->status, VM_COMPLETE);
                for (uint32_t t = 0; t < 128; t++)
                    assert_int_equal(((uint32_t *)c->buffers[0].data)[t], t + 100);
            }
}

/* What late makes visible: a store that nobody waited for is not there, a load that is read late sees what
 * came between. */
static void late_shows(void **state) {
    vm_case *c = load(*state, FILLED ST(0, "%r7") LD("%r10", 0) WAIT_LD WAIT_ST OUT("%r10") END);
    for (unsigned s = 0; s < 2; s++) {
        c->launch.schedule = schedules[s];
        vm_case_run(c, 1, 128);
        assert_string_equal(vm_case_findings(c), "tmem-in-flight");
        for (uint32_t t = 0; t < 128; t++)
            assert_int_equal(((uint32_t *)c->buffers[0].data)[t], s == 0 ? t % 32 : t);
    }
    c = load(*state, FILLED LD("%r10", 0) ST(0, "%r7") WAIT_ST WAIT_LD OUT("%r10") END);
    for (unsigned s = 0; s < 2; s++) {
        c->launch.schedule = schedules[s];
        vm_case_run(c, 1, 128);
        assert_string_equal(vm_case_findings(c), "tmem-in-flight");
        for (uint32_t t = 0; t < 128; t++)
            assert_int_equal(((uint32_t *)c->buffers[0].data)[t], s == 0 ? t : t % 32);
    }
    /* only one class late */
    c->launch.late_classes = 1u << VM_ASYNC_TMEM_STORE;
    vm_case_run(c, 1, 128);
    for (uint32_t t = 0; t < 128; t++)
        assert_int_equal(((uint32_t *)c->buffers[0].data)[t], t);
}

static void fences(void **state) {
#define WARP0(text) "setp.ne.u32 %p2, %r2, 0;\n@%p2 bra skip;\n" text "skip:\n"
#define WARP4(text) "setp.ne.u32 %p3, %r2, 4;\n@%p3 bra done;\n" text "done:\n"
    static const rule rules[] = {
        {"both fences", 256,
         BEGIN WARP0(ST(0, "%r1") WAIT_ST BEFORE) "bar.sync 0;\n" WARP4(AFTER LD("%r10", 0) WAIT_LD) END, ""},
        {"no fence behind the barrier", 256,
         BEGIN WARP0(ST(0, "%r1") WAIT_ST BEFORE) "bar.sync 0;\n" WARP4(LD("%r10", 0) WAIT_LD) END,
         "tmem-fence-after"},
        {"no fence before the barrier", 256,
         BEGIN WARP0(ST(0, "%r1") WAIT_ST) "bar.sync 0;\n" WARP4(AFTER LD("%r10", 0) WAIT_LD) END,
         "tmem-fence-before"},
        {"no fence at all", 256,
         BEGIN WARP0(ST(0, "%r1") WAIT_ST) "bar.sync 0;\n" WARP4(LD("%r10", 0) WAIT_LD) END,
         "tmem-fence-after tmem-fence-before"},
        {"one's own cells need none", 256, BEGIN WARP0(ST(0, "%r1") WAIT_ST LD("%r10", 0) WAIT_LD) END, ""},
        {"handed over by a flag", 256,
         "mov.u32 %r9, 1;\nmov.u32 %r8, 0;\n@!%p1 st.shared.u32 [%r3+4], %r8;\n" BEGIN WARP0(
             ST(0, "%r1") WAIT_ST BEFORE "st.release.cta.shared.u32 [%r3+4], %r9;\n")
             WARP4("spin:\nld.acquire.cta.shared.u32 %r8, [%r3+4];\nsetp.eq.u32 %p4, %r8, 0;\n@%p4 bra "
                   "spin;\n" AFTER LD("%r10", 0) WAIT_LD) END,
         ""},
        {"a fence before the store orders nothing", 256,
         BEGIN WARP0(BEFORE ST(0, "%r1") WAIT_ST) "bar.sync 0;\n" WARP4(AFTER LD("%r10", 0) WAIT_LD) END,
         "tmem-fence-before"},
    };
    CHECK(state, rules);
}

/* Kernels that never wait: what is remembered stays bounded, and so does the time. */
static void never_waiting(void **state) {
    static const char *const loops[] = {
        ST(0, "%r1"), LD("%r10", 0), LD("%r10", 0) "add.u32 %r11, %r10, %r11;\n",
        "and.b32 %r21, %r20, 63;\nadd.u32 %r5, %r4, %r6;\nadd.u32 %r5, %r5, %r21;\n" ST(0, "%r1")
            LD("%r10", 0)};
    static const char *const before =
        BEGIN ST(0, "%r1") WAIT_ST "mov.u32 %r20, 0;\nmov.u32 %r11, 0;\nloop:\n";
    static const char *const after =
        "add.u32 %r20, %r20, 1;\nsetp.lt.u32 %p2, %r20, 20000;\n@%p2 bra loop;\n" END;
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++)
        for (unsigned s = 0; s < 2; s++) {
            vm_case *c = load(*state, base_arena_format(*state, "%s%s%s", before, loops[i], after));
            c->launch.schedule = schedules[s];
            vm_case_run(c, 1, 32);
            assert_int_equal(c->result->status, VM_COMPLETE);
        }
}

static void capacity(void **state) {
    for (unsigned s = 0; s < 3; s++) {
        vm_case *c = load(*state, ALLOC(512) ALLOC2(32) PUBLISH FREE(512));
        c->launch.schedule = schedules[s];
        vm_case_run(c, 1, 64);
        assert_int_equal(c->result->status, VM_DEADLOCK);
        assert_string_equal(vm_case_findings(c), "tmem-capacity deadlock");
        const char *text = c->result->findings[1].text;
        assert_non_null(strstr(
            text,
            "waits at tcgen05.alloc for 32 columns: 0 are free; columns 0 to 511 belong to CTA (0,0,0)"));
    }
}

/* --tmem-base and random places: the result is the same, the address is not. */
static void places(void **state) {
    static const char *const body = ALLOC(64) ALLOC2(32) PUBLISH ST(0, "%r1") WAIT_ST LD("%r10", 0) WAIT_LD
        "ld.shared.u32 %r11, [%r3+4];\nst.global.u32 [%rd2], %r10;\nst.global.v2.u32 [%rd1+1024], {%r4, "
        "%r11};\n" END "mov.u32 %r4, %r11;\n" FREE(32);
    uint32_t seen = 0;
    for (uint64_t k = 0; k < 24; k++) {
        vm_case *c = load(*state, body);
        c->launch.tmem_base = k < 8 ? (uint32_t)k * 64 : 0;
        c->launch.tmem_random = k < 8 ? 0 : k;
        vm_case_run(c, 1, 128);
        vm_case_clean(c);
        const uint32_t *out = c->buffers[0].data;
        for (uint32_t t = 0; t < 128; t++)
            assert_int_equal(out[t], t);
        assert_true(out[256] % 64 == 0 && out[256] < 512 && out[257] % 32 == 0 && out[257] < 512);
        assert_true(out[257] + 32 <= out[256] || out[256] + 64 <= out[257]);
        if (k < 8) {
            assert_int_equal(out[256], k * 64);
            assert_int_equal(out[257], k == 0 ? 64 : k * 64 + 64 < 512 ? k * 64 + 64 : 0);
        } else {
            seen |= 1u << out[256] / 64;
        }
    }
    assert_true(__builtin_popcount(seen) > 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(allocation), UNIT_WITH_ARENA(warps),      UNIT_WITH_ARENA(release_lanes),
        UNIT_WITH_ARENA(strict),     UNIT_WITH_ARENA(cells),      UNIT_WITH_ARENA(registers),
        UNIT_WITH_ARENA(values),     UNIT_WITH_ARENA(late_shows), UNIT_WITH_ARENA(fences),
        UNIT_WITH_ARENA(capacity),   UNIT_WITH_ARENA(places),     UNIT_WITH_ARENA(never_waiting),
    };
    return cmocka_run_group_tests_name("vm_tmem_rules", tests, NULL, NULL);
}
