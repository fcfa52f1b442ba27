/* SPDX-License-Identifier: Apache-2.0
 * The verifier's messages and the version a module needs; the table as a whole. tests/ptx/run.sh holds the
 * forms to ptxas, this file to what a reader is told. */
#include "unit/ptx_help.h"
#include "ptx/ptx_table.h"

static void every_row_of_the_table_reads(void **state) {
    ptx_table *table = ptx_table_create(*state);
    unsigned forms = 0;
    for (int op = 1; op < PTX_OP_COUNT; op++) {
        unsigned count = 0;
        const ptx_form *rows = ptx_table_forms(table, (ptx_op)op, &count);
        if (rows == NULL || count == 0) {
            print_error("%s has no form, or one that does not read\n", ptx_op_name((ptx_op)op));
        }
        assert_non_null(rows);
        assert_true(count > 0);
        forms += count;
    }
    assert_true(forms > 600);
}

static void names_lead_back(void **state) {
    (void)state;
    for (int type = 1; type < PTX_TYPE_COUNT; type++) {
        ptx_type found = PTX_TYPE_NONE;
        const char *name = ptx_type_name((ptx_type)type);
        assert_true(strlen(name) > 0);
        assert_true(ptx_type_find(name, strlen(name), &found));
        assert_int_equal(found, type);
        assert_int_equal((int)PTX_MOD_B8, (int)PTX_TYPE_B8);
        assert_string_equal(ptx_mod_name((ptx_mod)type), name);
        assert_true(ptx_type_bits((ptx_type)type) > 0);
    }
    for (int mod = 1; mod < PTX_MOD_COUNT; mod++) {
        assert_true(strlen(ptx_mod_name((ptx_mod)mod)) > 0);
    }
    assert_string_equal(ptx_op_name(PTX_OP_CP_ASYNC_BULK_TENSOR), "cp.async.bulk.tensor");
    assert_string_equal(ptx_mod_name(PTX_MOD_SHARED__CTA), "shared::cta");
    assert_string_equal(ptx_special_name(PTX_SPECIAL_TID_X), "tid.x");
    assert_int_equal(ptx_special_bits(PTX_SPECIAL_CLOCK64), 64);
}

/* The first diagnostic of a body on a target, as one line. */
static const char *complaint(base_arena *arena, const char *target, const char *body) {
    ptx_case c = ptx_case_parse(arena, ptx_case_kernel(arena, target, body));
    assert_string_equal(ptx_case_messages(&c), "");
    bool good = ptx_verify(c.module, false);
    assert_int_equal(good, base_diagnostics_count(c.diagnostics) == 0);
    if (good) {
        return "";
    }
    const base_diagnostic *d = base_diagnostics_at(c.diagnostics, 0);
    return base_arena_format(arena, "%s %s%s%s", d->code, d->text, d->help ? " / " : "",
                             d->help ? d->help : "");
}

/* Instructions of one form are alike in all but a constant: each is looked at. */
static void constants_are_looked_at_each_time(void **state) {
    static const struct {
        const char *good, *bad;
    } cases[] = {
        {"bar.sync 3;", "bar.sync 16;"},
        {"bar.sync 1, 64;", "bar.sync 1, 65;"},
        {"barrier.sync 15;", "barrier.sync 99;"},
        {"setmaxnreg.inc.sync.aligned.u32 240;", "setmaxnreg.inc.sync.aligned.u32 25;"},
        {"bfe.u32 %r1, %r2, 8, 3;", "bfe.u32 %r1, %r2, 300, 3;"},
        {"lop3.b32 %r1, %r2, %r3, %r4, 0x96;", "lop3.b32 %r1, %r2, %r3, %r4, 256;"},
        {"cp.async.wait_group 1;", "cp.async.wait_group -1;"},
        {"shf.l.wrap.b32 %r1, %r2, %r3, 4;", "shf.l.wrap.b32 %r1, %r2, %rd3, 4;"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *twice = base_arena_format(*state, "%s\n\t%s", cases[i].good, cases[i].good);
        assert_string_equal(complaint(*state, "sm_90a", twice), "");
        const char *both = base_arena_format(*state, "%s\n\t%s", cases[i].good, cases[i].bad);
        if (strncmp(complaint(*state, "sm_90a", both), "T0602", 5) != 0)
            fail_msg("taken: %s", both);
    }
}

static void messages_say_what_is_accepted(void **state) {
    static const struct {
        const char *target, *body, *expected[3];
    } cases[] = {
        {"sm_90a",
         "add.rn.s32 %r1, %r2, 1;",
         {"T0601", "`add.rn.s32`: `.rn` is not a modifier", "add.sat.s32 d, a, b"}},
        {"sm_90a",
         "add.s64 %rd1, %r1, 1;",
         {"T0602", "operand 2 is .b32, but 64 bits are needed", "add.{u16,"}},
        {"sm_90a", "add.f32 %f1, %f2, 1;", {"T0602", "operand 3 is an integer constant", "0f3F800000"}},
        {"sm_90a", "add.s32 %f1, %r2, 1;", {"T0602", "operand 1 is .f32, which does not go with .s32", ""}},
        {"sm_90a", "add.s32 1, %r2, 1;", {"T0602", "operand 1 is no register, but is written", ""}},
        {"sm_90a", "add.s32 %r1, %r2;", {"T0602", "has 2 operands, but takes 3", ""}},
        {"sm_90a",
         "setp.lt.b32 %p1, %r1, %r2;",
         {"T0601", "`setp.lt.b32`", "setp.{eq,ne}.{b16,b32,b64} p, a, b"}},
        {"sm_90a", "selp.b32 %r1, %r2, %r3, %r4;", {"T0602", "operand 4 is no predicate", ""}},
        {"sm_90a",
         "ld.global.v2.b32 {%r1, %r2, %r3}, [%rd1];",
         {"T0602", "has 3 elements, but .v2 is written", ""}},
        {"sm_90a", "ld.global.b32 %r1, %rd1;", {"T0602", "operand 2 is no [address]", ""}},
        {"sm_90a", "ld.global.b32 %r1, [%h1];", {"T0602", "an address in a register of 16 bits", ""}},
        {"sm_90a", "mov.b64 %rd1, {%r1, %h1};", {"T0602", "which takes 64 bits, but the vector has 48", ""}},
        {"sm_90a", "atom.add.b32 %r1, [%rd1], %r2;", {"T0601", "atom.add.b32", "atom"}},
        {"sm_90a", "cp.async.cg.shared.global [%r1], [%rd1], 8;", {"T0602", "must be the constant 16", ""}},
        {"sm_90a", "mbarrier.arrive.shared::cluster.b64 %rd1, [%r1];", {"T0602", "must be _", ""}},
        {"sm_90a",
         "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1, %f2}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, "
         "{%f1, "
         "%f2, %f3, %f4};",
         {"T0602", "has 2 registers, but this shape and type take 4", ""}},
        {"sm_90a",
         "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, 1, 1, 1, 0, "
         "0;",
         {"T0602", "has 4 registers, but this shape and type take 8", ""}},
        {"sm_100a",
         "tcgen05.ld.sync.aligned.16x256b.x1.b32 {%r1}, [%r2];",
         {"T0602", "has 1 registers, but", "take 4"}},
        {"sm_100a",
         "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%rd2];",
         {"T0602", "tensor memory takes 32", ""}},
        {"sm_90a",
         "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {%r1}], [%r2];",
         {"T0602", "has 1 coordinates, but 2 are needed", ""}},
        {"sm_90", "wgmma.fence.sync.aligned;", {"T0604", "needs sm_90a exactly, not sm_90", ""}},
        {"sm_100a", "wgmma.fence.sync.aligned;", {"T0604", "needs sm_90a exactly", ""}},
        {"sm_90a",
         "tcgen05.fence::before_thread_sync;",
         {"T0604", "needs sm_100a, or another of sm_10x", ""}},
        {"sm_100", "tcgen05.fence::before_thread_sync;", {"T0604", "needs sm_100a", ""}},
        {"sm_80", "mbarrier.try_wait.shared.b64 %p1, [%r1], %rd1;", {"T0604", "needs sm_90", ""}},
        {"sm_80", "mov.u32 %r1, %cluster_ctarank;", {"T0604", "%cluster_ctarank needs sm_90", ""}},
        {"sm_80", "ld.shared::cluster.b32 %r1, [%r2];", {"T0604", "`.shared::cluster` needs sm_90", ""}},
        {"sm_90a", "shfl.bfly.b32 %r1, %r2, 1, 31;", {"T0604", "without .sync is gone since sm_70", ""}},
        {"sm_90a", "add.s32 %r1, %tid.x, 1;", {"T0602", "only mov and cvt read", ""}},
        {"sm_90a", "call k, (%r1, %r2);", {"T0606", "passes 2 values, but 'k' returns 0 and takes 1", ""}},
        {"sm_90a", "@%r1 mov.b32 %r2, 1;", {"T0602", "the guard '%r1' is .b32, not a predicate", ""}},
        {"banana", "mov.b32 %r2, 1;", {"T0604", "'banana' is no target", ""}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *text = complaint(*state, cases[i].target, cases[i].body);
        for (int k = 0; k < 3; k++) {
            if (strstr(text, cases[i].expected[k]) == NULL) {
                print_error("%s\n  gave: %.300s\n  expected: %s\n", cases[i].body, text,
                            cases[i].expected[k]);
            }
            assert_non_null(strstr(text, cases[i].expected[k]));
        }
    }
}

static void other_orders_of_modifiers_are_accepted(void **state) {
    static const char *const bodies[] = {
        "atom.add.relaxed.gpu.global.u32 %r1, [%rd1], %r2;",
        "atom.global.relaxed.gpu.add.u32 %r1, [%rd1], %r2;",
        "ld.shared.volatile.b32 %r1, [%rd1];",
        "setp.and.eq.s32 %p1, %r1, %r2, %p2;",
        "mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32.satfinite {%r1, %r2}, {%r3}, {%r4}, {%r5, %r6};",
        "add.f16 %h1, %hf2, %hf3;",
        "mov.b32 %r1, {%h1, %h2};",
        "ld.global.u8 %r1, [%rd1];",
        "st.global.b8 [%rd1], %r1;",
        "setp.eq.s32 %p1|_, %r1, 1;",
        "mov.b64 {%r1, _}, %rd1;",
    };
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        assert_string_equal(complaint(*state, "sm_90a", bodies[i]), "");
    }
}

static void versions(void **state) {
    static const struct {
        const char *target, *body;
        unsigned minimum;
    } cases[] = {
        {"sm_80", "mov.b32 %r1, 1;", 70},
        {"sm_90", "mov.b32 %r1, 1;", 78},
        {"sm_90a", "mov.b32 %r1, 1;", 80},
        {"sm_90a", "atom.cas.b128 %q1, [%rd1], %q2, %q3;", 83},
        {"sm_90", "ld.param::entry.b32 %r1, [p];", 83},
        {"sm_90", "mov.u32 %r1, %aggr_smem_size;", 81},
        {"sm_100a", "tcgen05.fence::before_thread_sync;", 86},
        {"sm_100a", "st.bulk [%rd1], %rd2, 0;", 86},
        {"sm_100f", "mov.b32 %r1, 1;", 88},
        {"sm_90", "add.bf16 %h1, %h2, %h3;", 78},
        {"sm_90", "red.async.relaxed.cluster.mbarrier::complete_tx::bytes.add.u32 [%r1], %r2, [%r3];", 81},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ptx_case c = ptx_case_parse(*state, ptx_case_kernel(*state, cases[i].target, cases[i].body));
        assert_string_equal(ptx_case_messages(&c), "");
        assert_int_equal(ptx_module_minimum_version(c.module), cases[i].minimum);
        /* With that version the module verifies; with the one before it does not, except for the target
         * alone. */
        c.module->version = cases[i].minimum;
        assert_true(ptx_verify(c.module, false));
    }
    ptx_case old =
        ptx_case_parse(*state, ptx_case_kernel(*state, "sm_100a", "tcgen05.fence::before_thread_sync;"));
    old.module->version = 85;
    assert_false(ptx_verify(old.module, false));
    assert_string_equal(ptx_case_code(&old), "T0603");
    /* A module of ours without a version is printed with the lowest that it needs. */
    old.module->version = 0;
    assert_non_null(strstr(ptx_case_print(*state, old.module, false, false), ".version 8.6\n"));
}

static void ours_need_origins(void **state) {
    const char *body =
        "ld.param.u64 %rd1, [p];\nld.global.b32 %r1, [%rd1];\n//@ store \"global\" \"A\" 4 : \"0\" 0\n"
        "st.global.b32 [%rd1], %r1;\n";
    ptx_case c = ptx_case_parse(*state, ptx_case_kernel(*state, "sm_90a", body));
    assert_true(ptx_verify(c.module, false));
    assert_false(ptx_verify(c.module, true));
    assert_string_equal(ptx_case_code(&c), "T0607");
}

static void branches_stay_inside(void **state) {
    ptx_case c = ptx_case_parse(*state, ptx_case_kernel(*state, "sm_90a", "L:\nbra L;"));
    ptx_function *k = ptx_function_find(c.module, "k");
    k->labels.items[0]->target = 99;
    assert_false(ptx_verify(c.module, false));
    assert_string_equal(ptx_case_code(&c), "T0605");
}

/* One cta_group in a kernel and what it calls; code that nothing reaches does not count, as for ptxas. */
static void groups_of_a_kernel(void **state) {
    base_arena *arena = *state;
#define ONE "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"
#define TWO "tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;\n"
    static const struct {
        const char *first, *called, *second, *expected;
    } cases[] = {{ONE ONE, "", TWO, ""},
                 {ONE "ret;\n" TWO, "", ONE, ""},
                 {ONE TWO, "", ONE, "k"},
                 {"@%p1 bra L;\n" ONE "ret;\nL: " TWO, "", ONE, "k"},
                 {ONE "call f, ();\n", "call g, ();\n", TWO, "k"},
                 {"call f, ();\n" TWO, "call g, ();\n", ONE "call f, ();\n", "l"},
                 {"call f, ();\n", ONE TWO, "call f, ();\n", "kl"},
                 {ONE, ONE TWO, TWO, ""}};
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ptx_case c = ptx_case_parse(
            arena, base_arena_format(arena,
                                     ".version 8.7\n.target sm_100a\n.address_size 64\n.func g() { " TWO
                                     "ret; }\n.func f() { %s ret; }\n"
                                     ".visible .entry k() { .reg .pred %%p1; %s ret; }\n"
                                     ".visible .entry l() { %s ret; }\n",
                                     cases[i].called, cases[i].first, cases[i].second));
        assert_string_equal(ptx_case_messages(&c), "");
        assert_true(ptx_verify(c.module, false));
        bool good = ptx_verify_groups(c.module);
        size_t count = strlen(cases[i].expected);
        if (good != (count == 0) || base_diagnostics_count(c.diagnostics) != count)
            fail_msg("case %u: %s", i, ptx_case_messages(&c));
        for (size_t k = 0; k < count; k++) {
            const base_diagnostic *d = base_diagnostics_at(c.diagnostics, k);
            assert_string_equal(d->code, "T0749");
            assert_int_equal(d->notes.count, 1);
            assert_non_null(strstr(d->text, base_arena_format(arena, "`%c`", cases[i].expected[k])));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(every_row_of_the_table_reads),
        cmocka_unit_test(names_lead_back),
        UNIT_WITH_ARENA(constants_are_looked_at_each_time),
        UNIT_WITH_ARENA(messages_say_what_is_accepted),
        UNIT_WITH_ARENA(groups_of_a_kernel),
        UNIT_WITH_ARENA(other_orders_of_modifiers_are_accepted),
        UNIT_WITH_ARENA(versions),
        UNIT_WITH_ARENA(ours_need_origins),
        UNIT_WITH_ARENA(branches_stay_inside),
    };
    return cmocka_run_group_tests_name("ptx verify", tests, NULL, NULL);
}
