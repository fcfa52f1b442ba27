/* SPDX-License-Identifier: Apache-2.0
 * One kernel for the tests of the matrix unit: fills shared memory and all of tensor memory from images, lets
 * one thread (of the cluster) execute an instruction of the test's choice and a commit, and dumps tensor
 * memory. */
#ifndef TIRC_TESTS_VM_TENSOR_KERNEL_H
#define TIRC_TESTS_VM_TENSOR_KERNEL_H
#include "unit/vm_help.h"

enum { IMAGE = 65536, COLUMNS = 512, LANES = 128 };

/* 1: cta_group, 2: the instruction, 3: synchronisation of the cluster, 4: the commit, 5: who goes on (p4: not
 * this thread), 6: the head. p0: images of shared memory, p1: of tensor memory [column][lane], p2: the dump,
 * p3: two descriptors relative to buf, idesc, enable, four addresses in tensor memory. */
static const char *const vm_tensor_kernel_text =
    "%6$s.visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3)\n{\n"
    ".reg .pred %%p<8>; .reg .b16 %%h<2>; .reg .b32 %%r<64>; .reg .b64 %%rd<32>;\n"
    ".shared .align 1024 .b8 buf[65536]; .shared .align 8 .b64 bar; .shared .align 4 .b32 slot;\n"
    "ld.param.u64 %%rd1, [p0]; ld.param.u64 %%rd2, [p1]; ld.param.u64 %%rd3, [p2]; ld.param.u64 %%rd4, "
    "[p3];\n"
    "mov.u32 %%r1, %%tid.x; shr.u32 %%r2, %%r1, 5; mov.u32 %%r3, %%ctaid.x;\n"
    "mul.wide.u32 %%rd5, %%r3, 65536; add.s64 %%rd1, %%rd1, %%rd5;\n"
    "mul.wide.u32 %%rd5, %%r3, 262144; add.s64 %%rd2, %%rd2, %%rd5; add.s64 %%rd3, %%rd3, %%rd5;\n"
    "mov.u32 %%r5, buf; shl.b32 %%r6, %%r1, 4; add.u32 %%r7, %%r5, %%r6; cvt.u64.u32 %%rd6, %%r6;\n"
    "add.s64 %%rd6, %%rd1, %%rd6; mov.u32 %%r8, 0;\n"
    "IMAGE: ld.global.v4.u32 {%%r10, %%r11, %%r12, %%r13}, [%%rd6];\n"
    "st.shared.v4.u32 [%%r7], {%%r10, %%r11, %%r12, %%r13};\n"
    "add.s64 %%rd6, %%rd6, 2048; add.u32 %%r7, %%r7, 2048; add.u32 %%r8, %%r8, 1;\n"
    "setp.lt.u32 %%p1, %%r8, 32; @%%p1 bra IMAGE;\n"
    "setp.ne.u32 %%p2, %%r1, 0; @%%p2 bra INIT;\n"
    "mov.u32 %%r9, bar; mbarrier.init.shared.b64 [%%r9], 1; fence.mbarrier_init.release.cluster;\n"
    "INIT: %3$s\n"
    "setp.ne.u32 %%p3, %%r2, 0; @%%p3 bra ALLOCATED;\n"
    "mov.u32 %%r9, slot; tcgen05.alloc.cta_group::%1$s.sync.aligned.shared::cta.b32 [%%r9], 512;\n"
    "tcgen05.relinquish_alloc_permit.cta_group::%1$s.sync.aligned;\n"
    "ALLOCATED: tcgen05.fence::before_thread_sync; bar.sync 0; tcgen05.fence::after_thread_sync;\n"
    "ld.shared.u32 %%r4, [slot];\n"
    "mul.wide.u32 %%rd7, %%r1, 4; add.s64 %%rd8, %%rd2, %%rd7; add.s64 %%rd9, %%rd3, %%rd7;\n"
    "shl.b32 %%r14, %%r2, 21; add.u32 %%r14, %%r14, %%r4; mov.u32 %%r15, %%r14; mov.u32 %%r8, 0;\n"
    "FILL: ld.global.u32 %%r16, [%%rd8]; ld.global.u32 %%r17, [%%rd8+512];\n"
    "ld.global.u32 %%r18, [%%rd8+1024]; ld.global.u32 %%r19, [%%rd8+1536];\n"
    "tcgen05.st.sync.aligned.32x32b.x4.b32 [%%r15], {%%r16, %%r17, %%r18, %%r19};\n"
    "add.s64 %%rd8, %%rd8, 2048; add.u32 %%r15, %%r15, 4; add.u32 %%r8, %%r8, 4;\n"
    "setp.lt.u32 %%p1, %%r8, 512; @%%p1 bra FILL;\n"
    "tcgen05.wait::st.sync.aligned; tcgen05.fence::before_thread_sync; fence.proxy.async.shared::cta;\n"
    "bar.sync 0; %3$s tcgen05.fence::after_thread_sync;\n"
    "%5$s @%%p4 bra ISSUED;\n"
    "ld.global.u64 %%rd10, [%%rd4]; ld.global.u64 %%rd11, [%%rd4+8]; ld.global.u32 %%r20, [%%rd4+16];\n"
    "ld.global.u32 %%r21, [%%rd4+20]; ld.global.u32 %%r22, [%%rd4+24]; ld.global.u32 %%r23, [%%rd4+28];\n"
    "ld.global.u32 %%r24, [%%rd4+32]; ld.global.u32 %%r25, [%%rd4+36];\n"
    "setp.ne.u32 %%p5, %%r21, 0; shr.u32 %%r26, %%r5, 4; cvt.u64.u32 %%rd12, %%r26;\n"
    "add.s64 %%rd10, %%rd10, %%rd12; add.s64 %%rd11, %%rd11, %%rd12;\n"
    "add.u32 %%r22, %%r22, %%r4; add.u32 %%r23, %%r23, %%r4; add.u32 %%r24, %%r24, %%r4; add.u32 %%r25, "
    "%%r25, %%r4;\n"
    "mov.b32 %%r30, 0; mov.b32 %%r31, 0x00ff0000;\n"
    "%2$s\n"
    "mov.u32 %%r9, bar; %4$s\n"
    "ISSUED: mov.u32 %%r9, bar;\n"
    "WAIT: mbarrier.try_wait.parity.shared.b64 %%p6, [%%r9], 0; @!%%p6 bra WAIT;\n"
    "tcgen05.fence::after_thread_sync; mov.u32 %%r8, 0;\n"
    "DUMP: tcgen05.ld.sync.aligned.32x32b.x4.b32 {%%r16, %%r17, %%r18, %%r19}, [%%r14];\n"
    "tcgen05.wait::ld.sync.aligned; st.global.u32 [%%rd9], %%r16; st.global.u32 [%%rd9+512], %%r17;\n"
    "st.global.u32 [%%rd9+1024], %%r18; st.global.u32 [%%rd9+1536], %%r19;\n"
    "add.s64 %%rd9, %%rd9, 2048; add.u32 %%r14, %%r14, 4; add.u32 %%r8, %%r8, 4;\n"
    "setp.lt.u32 %%p1, %%r8, 512; @%%p1 bra DUMP;\n"
    "tcgen05.fence::before_thread_sync; bar.sync 0; %3$s tcgen05.fence::after_thread_sync;\n"
    "@%%p3 bra END; tcgen05.dealloc.cta_group::%1$s.sync.aligned.b32 %%r4, 512;\n"
    "END: ret;\n}\n";

/* commit, who: NULL: the right ones. */
static inline const char *vm_tensor_kernel(base_arena *arena, unsigned group, const char *instruction,
                                           const char *commit, const char *who) {
    bool pair = group == 2;
    char *text = base_arena_allocate(arena, 16384);
    if (commit == NULL)
        commit = pair ? "mov.b16 %h1, 3; tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster"
                        ".multicast::cluster.b64 [%r9], %h1;"
                      : "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r9];";
    if (who == NULL)
        who = pair ? "add.u32 %r40, %r1, %r3; setp.ne.u32 %p4, %r40, 0;" : "setp.ne.u32 %p4, %r1, 0;";
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, 16384, vm_tensor_kernel_text, pair ? "2" : "1", instruction,
             pair ? "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" : "", commit, who,
             ".version 8.7\n.target sm_100a\n.address_size 64\n");
#pragma GCC diagnostic pop
    return text;
}

static inline vm_result *vm_tensor_launch(vm_case *c, unsigned group) {
    for (unsigned i = 0; i < 3; i++)
        c->launch.cluster[i] = group == 1 ? 0 : i == 0 ? group : 1;
    return vm_case_run(c, group, LANES);
}
#endif
