/* SPDX-License-Identifier: Apache-2.0
 * The machine's short ways against what they stand for, on every level: rows of global memory, rows and wide
 * loads of shared memory, and warps that exit and hand over to the next one. */
#include "unit/vm_help.h"

enum { EXTENT = 1024, WARPS = 5, THREADS = 32 * WARPS };
static const char *const levels[] = {"x86-64", "x86-64-v3", "x86-64-v4"};

/* NULL: this processor has no such level. */
static vm_case *load_at(base_arena *arena, const char *text, unsigned level) {
    vm_case *c = vm_case_load(arena, text);
    c->launch.level = levels[level];
    return c;
}
static bool missing(const vm_case *c) {
    return c->result->status == VM_BAD_LAUNCH &&
           strstr(c->result->findings[0].text, "not available here") != NULL;
}

static uint64_t next(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

/* The index of thread t. Row w of the pattern is its own case: 32 lanes that count up, or nearly. */
static int32_t pattern(unsigned which, unsigned t) {
    int32_t lane = (int32_t)(t % 32), warp = (int32_t)(t / 32);
    uint64_t seed = which * 1000 + t;
    switch (which) {
    case 0: /* side by side, also where lines do not begin */
        return warp * 37 + lane;
    case 1: /* the last row is the last of the buffer */
        return EXTENT - THREADS + (int32_t)t;
    case 2: /* one element too far, in the last warp */
        return EXTENT - THREADS + 1 + (int32_t)t;
    case 3: /* begins before the buffer */
        return warp == 2 ? lane - 5 : (int32_t)t;
    case 4: /* counts past the greatest integer */
        return warp == 1 ? (int32_t)(0x7ffffff0u + (uint32_t)lane) : (int32_t)t;
    case 5: /* one lane differs, another in each warp */
        return lane == 31 - 7 * warp % 32 ? 900 + warp : warp * 40 + lane;
    case 6:
        return 31 - lane + 32 * warp;
    case 7:
        return 2 * (int32_t)t;
    case 8: /* halves that count up, but not together */
        return lane < 16 ? 500 + 16 * warp + lane : 16 * warp + lane;
    case 9:
        return 77 * warp;
    default:
        return (int32_t)(next(&seed) % EXTENT);
    }
}
enum { PATTERNS = 16 };

/* out[index] = in[index] + 1, where in may be 33 MiB long so that its rows are streamed. */
static void global_rows(void **state) {
    static const char *const forms[] = {
        "mul.wide.s32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd91, %rd2;\nadd.s64 %rd4, %rd92, %rd2;\n",
        "mad.wide.s32 %rd3, %r1, 4, %rd91;\nmad.wide.s32 %rd4, %r1, 4, %rd92;\n"};
    for (unsigned level = 0; level < 3; level++)
        for (unsigned which = 0; which < 4 * PATTERNS; which++) {
            bool streamed = which % 4 == 3, partial = which % 4 == 2;
            base_builder body;
            base_builder_start(&body, *state);
            base_builder_format(&body,
                                "add.s64 %%rd1, %%rd90, %%rd80;\nld.global.u32 %%r1, [%%rd1];\n%s"
                                "ld.global.u32 %%r2, [%%rd3];\nadd.s32 %%r2, %%r2, 1;\n"
                                "st.global.u32 [%%rd4], %%r2;\n",
                                forms[which % 2]);
            vm_case *c = load_at(*state, vm_case_kernel(*state, 3, "", body.data), level);
            int32_t *index = vm_case_buffer(c, "index", 4 * THREADS);
            uint32_t *in = vm_case_buffer(c, "in", 4 * EXTENT);
            uint32_t *out = vm_case_buffer(c, "out", streamed ? 33 << 20 : 4 * EXTENT);
            uint32_t extent = streamed ? (33 << 20) / 4 : EXTENT, wanted[EXTENT] = {0};
            uint32_t threads = partial ? THREADS - 13 : THREADS;
            uint64_t bad_loads = 0, bad_stores = 0;
            for (uint32_t k = 0; k < EXTENT; k++)
                in[k] = k * 2654435761u;
            for (uint32_t t = 0; t < threads; t++) {
                index[t] = pattern(which / 4, t);
                bool inside = index[t] >= 0 && index[t] < EXTENT;
                bad_loads += !inside;
                bad_stores += index[t] < 0 || (uint32_t)index[t] >= extent;
                if (inside)
                    wanted[index[t]] = in[index[t]] + 1;
                else if (index[t] >= 0 && (uint32_t)index[t] < extent)
                    assert_true(streamed && index[t] == EXTENT);
            }
            vm_case_run(c, 1, threads);
            if (missing(c))
                break;
            assert_int_equal(c->result->status, VM_COMPLETE);
            assert_int_equal(c->result->finding_count, (bad_loads != 0) + (bad_stores != 0));
            for (size_t i = 0; i < c->result->finding_count; i++)
                assert_int_equal(c->result->findings[i].count,
                                 c->result->findings[i].is_store ? bad_stores : bad_loads);
            assert_memory_equal(out, wanted, sizeof wanted);
            if (extent > EXTENT)
                assert_int_equal(out[EXTENT], bad_loads && which / 4 == 2 ? 1 : 0);
        }
}

/* Shared memory: element stores and loads, and wide loads whose first register is the address itself. */
static void shared_rows(void **state) {
    const char *before = ".shared .align 16 .b8 tile[4096];\n";
    const char *body = "add.s64 %rd1, %rd90, %rd80;\nld.global.u32 %r1, [%rd1];\nmov.u32 %r2, tile;\n"
                       "mul.lo.u32 %r4, %r1, 4;\nadd.u32 %r3, %r4, %r2;\nst.shared.u32 [%r3], %r90;\n"
                       "bar.sync 0;\n"
                       "mul.lo.u32 %r5, %r90, 4;\nadd.u32 %r5, %r5, %r2;\nld.shared.u32 %r6, [%r5];\n"
                       "add.s64 %rd2, %rd91, %rd80;\nst.global.u32 [%rd2], %r6;\n"
                       "and.b32 %r3, %r4, -16;\nadd.u32 %r3, %r3, %r2;\n"
                       "ld.shared.v4.u32 {%r3, %r6, %r7, %r8}, [%r3];\n"
                       "mad.wide.u32 %rd3, %r90, 16, %rd92;\n"
                       "st.global.v4.u32 [%rd3], {%r3, %r6, %r7, %r8};\n";
    for (unsigned level = 0; level < 3; level++)
        for (unsigned which = 0; which < PATTERNS; which++) {
            if (which >= 2 && which <= 4)
                continue; /* outside */
            vm_case *c = load_at(*state, vm_case_kernel(*state, 3, before, body), level);
            int32_t *index = vm_case_buffer(c, "index", 4 * THREADS);
            uint32_t *single = vm_case_buffer(c, "single", 4 * THREADS);
            uint32_t *wide = vm_case_buffer(c, "wide", 16 * THREADS), tile[EXTENT] = {0};
            for (uint32_t t = 0; t < THREADS; t++) {
                index[t] = pattern(which, t);
                tile[index[t]] = t;
            }
            vm_case_run(c, 1, THREADS);
            if (missing(c))
                break;
            vm_case_clean(c);
            assert_memory_equal(single, tile, 4 * THREADS);
            for (uint32_t t = 0; t < THREADS; t++)
                assert_memory_equal(wide + 4 * t, tile + index[t] / 4 * 4, 16);
        }
}

/* Elements of other sizes, from registers of both widths, of all lanes and of some. */
static void other_sizes(void **state) {
    static const struct {
        unsigned size;
        const char *store;
    } forms[] = {{1, "st.global.u8 [%rd3], %r90;\n"},  {1, "st.global.u8 [%rd3], %rd4;\n"},
                 {2, "st.global.u16 [%rd3], %h1;\n"},  {2, "st.global.u16 [%rd3], %rd4;\n"},
                 {4, "st.global.u32 [%rd3], %rd4;\n"}, {8, "st.global.u64 [%rd3], %rd4;\n"}};
    for (unsigned level = 0; level < 3; level++)
        for (unsigned which = 0; which < PATTERNS * 6 * 2; which++) {
            unsigned size = forms[which % 6].size, shape = which / 12;
            bool some = which / 6 % 2;
            if (shape >= 2 && shape <= 4)
                continue; /* outside */
            base_builder body;
            base_builder_start(&body, *state);
            base_builder_format(&body,
                                "add.s64 %%rd1, %%rd90, %%rd80;\nld.global.u32 %%r1, [%%rd1];\n"
                                "mul.wide.s32 %%rd2, %%r1, %u;\nadd.s64 %%rd3, %%rd91, %%rd2;\n"
                                "cvt.u64.u32 %%rd4, %%r90;\nmul.lo.u64 %%rd4, %%rd4, 72340172838076673;\n"
                                "cvt.u16.u32 %%h1, %%r90;\nmul.lo.u16 %%h1, %%h1, 257;\n"
                                "rem.u32 %%r2, %%r90, 3;\nsetp.ne.u32 %%p1, %%r2, %d;\n@%%p1 %s",
                                size, some ? 1 : 3, forms[which % 6].store);
            vm_case *c = load_at(*state, vm_case_kernel(*state, 2, "", body.data), level);
            int32_t *index = vm_case_buffer(c, "index", 4 * THREADS);
            uint8_t *out = vm_case_buffer(c, "out", 8 * EXTENT), wanted[8 * EXTENT] = {0};
            for (uint32_t t = 0; t < THREADS; t++) {
                index[t] = pattern(shape, t);
                for (unsigned k = 0; k < size && !(some && t % 3 == 1); k++)
                    wanted[size * (unsigned)index[t] + k] = (uint8_t)t;
            }
            vm_case_run(c, 1, THREADS);
            if (missing(c))
                break;
            vm_case_clean(c);
            assert_memory_equal(out, wanted, sizeof wanted);
        }
}

/* Warps in order: each adds to what the one before it stored. The step limit stops between two of them. */
static void handing_over(void **state) {
    const char *text = vm_case_kernel(*state, 1, "",
                                      "add.s64 %rd1, %rd90, %rd80;\nld.global.u32 %r1, [%rd1];\n"
                                      "add.s32 %r1, %r1, 1;\nst.global.u32 [%rd1+128], %r1;\n");
    enum { CTAS = 3, BYTES = 4 * (THREADS * CTAS + 32) };
    vm_case *one = vm_case_load(*state, text);
    vm_case_buffer(one, "data", BYTES);
    vm_case_run(one, 1, 32);
    vm_case_clean(one);
    uint64_t each = one->result->warp_instructions;
    for (unsigned level = 0; level < 3; level++)
        for (uint64_t limit = 0; limit <= CTAS * WARPS * each; limit += limit ? each : each - 1) {
            vm_case *c = load_at(*state, text, level);
            uint32_t *data = vm_case_buffer(c, "data", BYTES);
            c->launch.step_limit = limit;
            vm_case_run(c, CTAS, THREADS);
            if (missing(c))
                break;
            uint64_t warps = limit ? limit / each + 1 : CTAS * WARPS;
            uint64_t cta = (warps - 1) / WARPS;
            if (limit && cta == 0) { /* a CTA that goes over the limit by itself ends there */
                assert_int_equal(c->result->status, VM_STEP_LIMIT);
                assert_int_equal(c->result->warp_instructions, warps * each);
            } else if (limit) { /* the grid's sum is looked at after each CTA */
                assert_int_equal(c->result->status, VM_STEP_LIMIT);
                assert_int_equal(c->result->warp_instructions, (cta + 1) * WARPS * each);
                warps = (cta + 1) * WARPS;
            } else {
                vm_case_clean(c);
            }
            for (uint32_t k = 0; k < warps && limit / each < WARPS; k++)
                for (uint32_t lane = 0; lane < 32; lane++)
                    assert_int_equal(data[32 * (k + 1) + lane], k + 1);
            if (limit && cta == 0)
                assert_int_equal(data[32 * (warps + 1)], 0);
        }
    vm_case *late = vm_case_load(*state, text);
    uint32_t *data = vm_case_buffer(late, "data", BYTES);
    late->launch.schedule = VM_SCHEDULE_LATE;
    vm_case_run(late, 1, THREADS);
    vm_case_clean(late);
    assert_int_equal(late->result->warp_instructions, WARPS * each);
    for (uint32_t t = 0; t < THREADS; t++)
        assert_int_equal(data[32 + t], 1);
}

/* Warps that exit while others wait at a barrier, lanes that exit one by one, and the next CTA after them. */
static void exits(void **state) {
    const char *body = "setp.lt.u32 %p1, %r93, 64;\n@%p1 bra out;\nsetp.eq.u32 %p2, %r93, 70;\n@%p2 exit;\n"
                       "bar.sync 0;\nadd.s64 %rd1, %rd90, %rd80;\nst.global.u32 [%rd1], %r90;\nout:\n";
    for (int schedule = VM_SCHEDULE_EARLY; schedule <= VM_SCHEDULE_RANDOM; schedule++) {
        vm_case *c = vm_case_load(*state, vm_case_kernel(*state, 1, "", body));
        uint32_t *data = vm_case_buffer(c, "data", 4 * 7 * THREADS);
        c->launch.schedule = (vm_schedule)schedule;
        vm_case_run(c, 7, THREADS);
        vm_case_clean(c);
        for (uint32_t t = 0; t < 7 * THREADS; t++)
            assert_int_equal(data[t], t % THREADS < 64 || t % THREADS == 70 ? 0 : t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(global_rows),  UNIT_WITH_ARENA(shared_rows), UNIT_WITH_ARENA(other_sizes),
        UNIT_WITH_ARENA(handing_over), UNIT_WITH_ARENA(exits),
    };
    return cmocka_run_group_tests_name("vm rows", tests, NULL, NULL);
}
