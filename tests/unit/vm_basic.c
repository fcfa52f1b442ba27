/* SPDX-License-Identifier: Apache-2.0
 * Loads, stores, parameters, launch checks, bounds and alignment, threads. */
#include "unit/vm_help.h"

static void elementwise(void **state) {
    base_arena *arena = *state;
    vm_case *c =
        vm_case_load(arena, vm_case_kernel(arena, 2, "",
                                           "add.s64 %rd1, %rd90, %rd80;\nadd.s64 %rd2, %rd91, %rd80;\n"
                                           "ld.global.f32 %f1, [%rd1];\nfma.rn.f32 %f2, %f1, 0f40000000, "
                                           "0f3F800000;\nst.global.f32 [%rd2], %f2;"));
    float *a = vm_case_buffer(c, "a", 4 * 1000), *b = vm_case_buffer(c, "b", 4 * 1000);
    for (int i = 0; i < 1000; i++)
        a[i] = (float)i * 0.25f;
    vm_case_run(c, 10, 100);
    vm_case_clean(c);
    for (int i = 0; i < 1000; i++)
        assert_true(b[i] == (float)i * 0.5f + 1);
    vm_kernel_info info;
    assert_true(vm_kernel(c->program, 0, &info));
    assert_string_equal(info.name, "k");
    assert_false(vm_kernel(c->program, 1, &info));
}

/* Every width, vector and extension, aligned and through registers wider than the element. */
static void widths(void **state) {
    base_arena *arena = *state;
    vm_case *c = vm_case_load(
        arena, vm_case_kernel(
                   arena, 2, "",
                   "mul.wide.u32 %rd1, %r90, 64;\nadd.s64 %rd2, %rd90, %rd1;\nadd.s64 %rd3, %rd91, %rd1;\n"
                   "ld.global.u8 %h1, [%rd2];\nst.global.u8 [%rd3], %h1;\n"
                   "ld.global.s8 %r1, [%rd2+1];\nst.global.u32 [%rd3+4], %r1;\n"
                   "ld.global.s16 %rd4, [%rd2+2];\nst.global.u64 [%rd3+8], %rd4;\n"
                   "ld.global.v2.u16 {%h2, %h3}, [%rd2+4];\nst.global.v2.u16 [%rd3+16], {%h3, %h2};\n"
                   "ld.global.v4.u32 {%r2, %r3, _, %r5}, [%rd2+16];\n"
                   "st.global.v4.u32 [%rd3+32], {%r5, %r3, %r2, 7};\n"
                   "ld.global.v2.u64 {%rd5, %rd6}, [%rd2+32];\nst.global.v2.u64 [%rd3+48], {%rd6, %rd5};"));
    uint8_t *a = vm_case_buffer(c, "a", 64 * 40), *b = vm_case_buffer(c, "b", 64 * 40);
    for (int i = 0; i < 64 * 40; i++)
        a[i] = (uint8_t)(i * 37 + i / 64);
    vm_case_run(c, 1, 40);
    vm_case_clean(c);
    for (int t = 0; t < 40; t++) {
        const uint8_t *x = a + 64 * t, *y = b + 64 * t;
        int32_t s8, s16;
        int64_t wide;
        memcpy(&s8, y + 4, 4);
        memcpy(&wide, y + 8, 8);
        s16 = (int16_t)(x[2] | x[3] << 8);
        uint32_t seven = 7;
        assert_int_equal(y[0], x[0]);
        assert_int_equal(s8, (int8_t)x[1]);
        assert_true(wide == s16);
        assert_memory_equal(y + 16, x + 6, 2);
        assert_memory_equal(y + 18, x + 4, 2);
        assert_memory_equal(y + 32, x + 28, 4);
        assert_memory_equal(y + 36, x + 20, 4);
        assert_memory_equal(y + 40, x + 16, 4);
        assert_memory_equal(y + 44, &seven, 4);
        assert_memory_equal(y + 48, x + 40, 8);
        assert_memory_equal(y + 56, x + 32, 8);
    }
}

/* Structs by value: parameters of every size and offset. */
static void parameters(void **state) {
    base_arena *arena = *state;
    vm_case *c = vm_case_load(
        arena, PTX_HEADER
        ".visible .entry k(.param .u64 out, .param .align 8 .b8 s[24], .param .u8 b, .param .s16 h)\n"
        "{\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.reg .b16 %h<4>;\n"
        "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [s+4];\nld.param.u64 %rd2, [s+16];\n"
        "ld.param.u8 %r2, [b];\nld.param.s16 %r3, [h];\nmov.u64 %rd3, s;\n"
        "mov.u32 %r5, %tid.x;\nmul.wide.u32 %rd4, %r5, 1;\nadd.s64 %rd4, %rd3, %rd4;\n"
        "ld.param.u8 %r4, [%rd4];\nmul.wide.u32 %rd5, %r5, 32;\nadd.s64 %rd1, %rd1, %rd5;\n"
        "st.global.u32 [%rd1], %r1;\nst.global.u64 [%rd1+8], %rd2;\nst.global.u32 [%rd1+16], %r2;\n"
        "st.global.u32 [%rd1+20], %r3;\nst.global.u32 [%rd1+24], %r4;\nret;\n}\n");
    uint32_t *out = vm_case_buffer(c, "out", 32 * 8);
    uint8_t s[24], b = 200;
    int16_t h = -5;
    for (int i = 0; i < 24; i++)
        s[i] = (uint8_t)(i * 11 + 3);
    vm_case_bytes(c, s, 24);
    vm_case_bytes(c, &b, 1);
    vm_case_bytes(c, &h, 2);
    vm_case_run(c, 1, 8);
    vm_case_clean(c);
    for (int t = 0; t < 8; t++) {
        assert_memory_equal(out + 8 * t, s + 4, 4);
        assert_memory_equal(out + 8 * t + 2, s + 16, 8);
        assert_int_equal(out[8 * t + 4], 200);
        assert_int_equal((int32_t)out[8 * t + 5], -5);
        assert_int_equal(out[8 * t + 6], s[t]);
    }
}

/* A bad load gives 0, a bad store is dropped, the others work; each place is reported once with what it
 * needs. */
/* .shared takes the low 32 bits of a generic address: the place inside shared memory. Another space's it
 * refuses. */
static void generic_in_shared(void **state) {
    base_arena *arena = *state;
    static const char *const accesses[] = {
        "st.shared.u32 [%rd1], %r1;\nld.shared.u32 %r2, [%rd1];\n",
        "st.shared.v2.u32 [%rd2], {%r1, %r1};\nld.shared.v2.u32 {%r2, %r3}, [%rd2];\n",
        "atom.shared.exch.b32 %r4, [%rd1], %r1;\natom.shared.add.u32 %r2, [%rd1], 0;\n",
        "st.u32 [%rd1], %r90;\nred.shared.add.u32 [%rd1], 7;\nld.u32 %r2, [%rd1];\n",
        "st.volatile.shared::cta.u32 [%rd1+0], %r1;\nld.volatile.shared::cta.u32 %r2, [%rd1];\n"};
    for (unsigned i = 0; i < sizeof accesses / sizeof accesses[0]; i++) {
        char text[600];
        snprintf(text, sizeof text,
                 "mov.u64 %%rd3, tile;\ncvta.shared.u64 %%rd3, %%rd3;\nmul.wide.u32 %%rd4, %%r90, 4;\n"
                 "add.s64 %%rd1, %%rd3, %%rd4;\nadd.s64 %%rd2, %%rd1, %%rd4;\nadd.u32 %%r1, %%r90, 7;\n%s"
                 "add.s64 %%rd5, %%rd90, %%rd4;\nst.global.u32 [%%rd5], %%r2;\n",
                 accesses[i]);
        vm_case *c = vm_case_load(arena, vm_case_kernel(arena, 1, ".shared .align 16 .b8 tile[512];", text));
        uint32_t *out = vm_case_buffer(c, "out", 4 * 64);
        vm_case_run(c, 1, 64);
        vm_case_clean(c);
        for (uint32_t t = 0; t < 64; t++)
            assert_int_equal(out[t], t + 7);
    }
    vm_case *c = vm_case_load(
        arena,
        vm_case_kernel(arena, 1, ".shared .align 16 .b8 tile[512];",
                       "mov.u64 %rd3, tile;\ncvta.shared.u64 %rd3, %rd3;\nld.shared.u32 %r1, [%rd3];\n"));
    vm_case_buffer(c, "out", 4);
    c->launch.strict_ptx = true;
    vm_case_run(c, 1, 1);
    assert_string_equal(vm_case_findings(c), "bad-space");
    c = vm_case_load(arena, vm_case_kernel(arena, 1, "", "ld.shared.u32 %r1, [%rd90];\n"));
    vm_case_buffer(c, "out", 4);
    vm_case_run(c, 1, 1);
    assert_string_equal(vm_case_findings(c), "bad-space");
}

static void bad_accesses(void **state) {
    base_arena *arena = *state;
    const char *body =
        "add.s64 %rd1, %rd90, %rd80;\nld.global.u32 %r1, [%rd1];\nadd.u32 %r1, %r1, 1;\n"
        "add.s64 %rd2, %rd91, %rd80;\nst.global.u32 [%rd2], %r1;\nld.global.u32 %r2, [%rd2+2];\n"
        "st.global.u32 [%rd1], %r2;\nmov.u64 %rd3, 16;\nld.shared.u32 %r3, [%rd90];\n"
        "ld.global.u32 %r4, [%rd3];";
    vm_case *c = vm_case_load(arena, vm_case_kernel(arena, 2, "", body));
    uint32_t *a = vm_case_buffer(c, "a", 4 * 20), *b = vm_case_buffer(c, "b", 4 * 32);
    c->buffers[0].read_only = true;
    for (int i = 0; i < 20; i++)
        a[i] = 100 + (uint32_t)i;
    vm_case_run(c, 1, 32);
    assert_int_equal(c->result->status, VM_COMPLETE);
    assert_string_equal(vm_case_findings(c),
                        "out-of-bounds misaligned write-read-only out-of-bounds bad-space out-of-bounds");
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(b[i], i < 20 ? 101 + i : 1);
    const vm_finding *f = c->result->findings;
    assert_int_equal(f[0].thread[0], 20);
    assert_int_equal(f[0].count, 12);
    assert_int_equal(f[0].size, 4);
    assert_false(f[0].is_store);
    assert_string_equal(f[0].allocation, "a");
    assert_true(f[0].address == f[0].allocation_begin + 80);
    assert_int_equal(f[0].allocation_bytes, 80);
    assert_int_equal(f[1].required, 4);
    assert_true(f[2].is_store);
    assert_int_equal(f[2].count, 20);
    assert_int_equal(f[3].count, 12);
    assert_int_equal(f[4].count, 32);
    assert_non_null(f[0].instruction);
    assert_int_equal(f[0].instruction->op, PTX_OP_LD);
}

static void launches(void **state) {
    base_arena *arena = *state;
    static const struct {
        uint32_t grid, block;
        uint64_t shared;
        const char *kernel;
        bool good;
    } cases[] = {{1, 32, 0, NULL, true},      {0, 32, 0, NULL, false},      {1, 1025, 0, NULL, false},
                 {1, 0, 0, NULL, false},      {1, 64, 0, "k", true},        {1, 64, 0, "none", false},
                 {1, 32, 232448, NULL, true}, {1, 32, 232449, NULL, false}, {0x80000000u, 1, 0, NULL, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        vm_case *c = vm_case_load(arena, vm_case_kernel(arena, 1, "", ""));
        vm_case_buffer(c, "a", 4);
        c->launch.kernel = cases[i].kernel;
        c->launch.dynamic_shared_bytes = cases[i].shared;
        vm_case_run(c, cases[i].grid, cases[i].block);
        assert_int_equal(c->result->status, cases[i].good ? VM_COMPLETE : VM_BAD_LAUNCH);
        assert_int_equal(c->result->finding_count == 0, cases[i].good);
        if (!cases[i].good)
            assert_non_null(c->result->findings[0].text);
    }
    vm_case *c = vm_case_load(arena, vm_case_kernel(arena, 2, "", ""));
    vm_case_buffer(c, "a", 4);
    vm_case_run(c, 1, 1);
    assert_int_equal(c->result->status, VM_BAD_LAUNCH);
    vm_case_u32(c, 1);
    vm_case_run(c, 1, 1);
    assert_int_equal(c->result->status, VM_BAD_LAUNCH);
    c->launch.level = "no such level";
    vm_case_run(c, 1, 1);
    assert_int_equal(c->result->status, VM_BAD_LAUNCH);
}

/* Findings, printed text and steps are the same whatever the number of workers. */
static void thread_counts(void **state) {
    base_arena *arena = *state;
    const char *before = ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
                         ".global .align 1 .b8 format[8] = {67, 84, 65, 32, 37, 117, 10, 0};\n";
    const char *body =
        ".local .align 8 .b8 frame[8];\nadd.s64 %rd1, %rd90, %rd80;\nred.global.add.u32 [%rd90], 1;\n"
        "st.global.u32 [%rd1+8], %r90;\nsetp.ne.u32 %p1, %r93, 0;\n@%p1 ret;\n"
        "st.local.u32 [frame], %r91;\nmov.u64 %rd2, frame;\ncvta.local.u64 %rd3, %rd2;\n"
        "mov.u64 %rd4, format;\n{\n.param .b64 a;\n.param .b64 b;\n.param .b32 r;\nst.param.b64 [a], %rd4;\n"
        "st.param.b64 [b], %rd3;\ncall.uni (r), vprintf, (a, b);\nld.param.b32 %r1, [r];\n}\n";
    const char *printed = NULL;
    vm_result *first = NULL;
    for (uint32_t threads = 1; threads <= 5; threads += 2) {
        vm_case *c = vm_case_load(arena, vm_case_kernel(arena, 1, before, body));
        uint32_t *a = vm_case_buffer(c, "a", 4 * 1000);
        c->launch.threads = threads;
        vm_case_run(c, 200, 6);
        assert_int_equal(a[0], 1200);
        assert_string_equal(vm_case_findings(c), "out-of-bounds");
        if (first == NULL) {
            first = c->result;
            printed = c->printed.data;
            assert_true(strncmp(printed, "CTA 0\nCTA 1\nCTA 2\n", 18) == 0);
            assert_non_null(strstr(printed, "CTA 199\n"));
            continue;
        }
        assert_string_equal(c->printed.data, printed);
        assert_true(c->result->warp_instructions == first->warp_instructions);
        assert_int_equal(c->result->ctas, 200);
        assert_true(c->result->findings[0].count == first->findings[0].count);
        assert_int_equal(c->result->findings[0].cta[0], first->findings[0].cta[0]);
    }
}

static void step_limit(void **state) {
    base_arena *arena = *state;
    vm_case *c =
        vm_case_load(arena, vm_case_kernel(arena, 1, "", "loop:\nadd.u32 %r1, %r1, 1;\nbra loop;\n"));
    vm_case_buffer(c, "a", 4);
    c->launch.step_limit = 100000;
    vm_case_run(c, 4, 32);
    assert_int_equal(c->result->status, VM_STEP_LIMIT);
    assert_string_equal(vm_case_findings(c), "step-limit");
}

static bool stop_at_once(void *user, uint64_t done, uint64_t total) {
    (void)done, (void)total;
    ++*(int *)user;
    return false;
}
static void progress_stops(void **state) {
    base_arena *arena = *state;
    vm_case *c = vm_case_load(arena, vm_case_kernel(arena, 1, "", ""));
    int calls = 0;
    vm_case_buffer(c, "a", 4);
    c->launch.progress = stop_at_once;
    c->launch.progress_user = &calls;
    vm_case_run(c, 100000, 32);
    assert_int_equal(c->result->status, VM_STOPPED);
    assert_true(calls >= 1 && c->result->ctas < 100000);
}

static void unsupported(void **state) {
    base_arena *arena = *state;
    const char *text = vm_case_kernel(
        arena, 1, ".global .texref t;\n",
        "setp.eq.u64 %p1, %rd90, 0;\n@%p1 bra skip;\nst.global.u32 [%rd90], 7;\n"
        "tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [t, {%r5}];\nskip:\nst.global.u32 [%rd90], 8;");
    vm_case *c = vm_case_load(arena, text);
    uint32_t *a = vm_case_buffer(c, "a", 4);
    vm_case_run(c, 1, 1);
    assert_int_equal(c->result->status, VM_UNSUPPORTED);
    assert_string_equal(vm_case_findings(c), "unsupported");
    assert_string_equal(c->result->findings[0].text, "tex.1d.v4.u32.s32");
    assert_int_equal(a[0], 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(elementwise),       UNIT_WITH_ARENA(widths),       UNIT_WITH_ARENA(parameters),
        UNIT_WITH_ARENA(generic_in_shared), UNIT_WITH_ARENA(bad_accesses), UNIT_WITH_ARENA(launches),
        UNIT_WITH_ARENA(thread_counts),     UNIT_WITH_ARENA(step_limit),   UNIT_WITH_ARENA(progress_stops),
        UNIT_WITH_ARENA(unsupported),
    };
    return cmocka_run_group_tests_name("vm basic", tests, NULL, NULL);
}
