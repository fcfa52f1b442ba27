/* SPDX-License-Identifier: Apache-2.0
 * Patterns: text and back, names of every form of the table in any order of their modifiers, what does not
 * read, and the check against the table. covers: A57 */
#include "unit/ptx_help.h"
#include "ptx/ptx_pattern.h"
#include "ptx/ptx_table.h"

static const char *printed(base_arena *arena, const char *text) {
    ptx_pattern pattern;
    base_builder out, why;
    base_builder_start(&out, arena);
    base_builder_start(&why, arena);
    if (!ptx_pattern_parse(arena, NULL, text, &pattern, &why))
        return base_arena_format(arena, "! %s", why.data);
    ptx_pattern_print(&pattern, &out);
    return out.data;
}

static void text_and_back(void **state) {
    static const char *const texts[] = {
        "bar.sync 0",
        "tcgen05.wait::ld.sync.aligned",
        "@!$2 ld.shared.v2.b32 {%0, %1}, [$0+16] keep $3, $4",
        "st.shared.b32 [$0+-8], $1",
        "shfl.sync.bfly.b32 %0|%1, $0, 1, 31, -1",
        "elect.sync _|%0, $0",
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [$0], [$1, {$2, "
        "$3}], [$4]",
        "tcgen05.mma.cta_group::1.kind::f16 [$0], $1, $2, $3, !$4",
        "add.f32 %0, $0, 0f3F800000",
        "add.f64 %0, $0, 0d3FF0000000000000",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_string_equal(printed(*state, texts[i]), texts[i]);
    assert_string_equal(printed(*state, "  ld.global.b32   %0,[ $0 ]"), "ld.global.b32 %0, [$0]");
}

static void what_does_not_read(void **state) {
    static const char *const texts[][2] = {
        {"ld.shard.b32 %0, [$0]", "! `.shard` is no modifier that any PTX instruction has (here: ld)"},
        {"frobnicate %0", "! `frobnicate` is no PTX instruction"},
        {"", "! `` is no PTX instruction"},
        {"bar.sync {$0", "! a comma is expected at ``"},
        {"bar.sync $", "! a number under 512 is expected at ``"},
        {"bar.sync $9999", "! a number under 512 is expected at ``"},
        {"bar.sync 0 0", "! a comma is expected at `0`"},
        {"@2 bar.sync 0", "! a guard like @$2 is expected at `2 bar.sync 0`"},
        {"bar.sync 0f3F8", "! 8 digits after 0f, 16 after 0d is expected at ``"},
        {"bar.sync {{{{{{$0}}}}}}", "! a plain operand is expected at `{$0}}}}}}`"},
        {"ld.b32 %0, [$0] keep $1, $2", "! 1 results, but 2 kept values"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_string_equal(printed(*state, texts[i][0]), texts[i][1]);
}

/* Every form of the table under its first modifiers, written backwards: it is found, and comes out in order.
 */
static void every_form_by_name(void **state) {
    base_arena *arena = *state;
    ptx_table *table = ptx_table_create(arena);
    unsigned forms = 0;
    for (int op = 1; op < PTX_OP_COUNT; op++) {
        unsigned count = 0;
        const ptx_form *rows = ptx_table_forms(table, (ptx_op)op, &count);
        for (unsigned f = 0; f < count; f++) {
            ptx_mod mods[PTX_SLOTS_MAX];
            unsigned mod_count = 0;
            for (unsigned s = 0; s < rows[f].slot_count; s++)
                for (unsigned mod = 1; !rows[f].slots[s].optional && mod < PTX_MOD_COUNT; mod++)
                    if (rows[f].slots[s].mods[mod / 64] >> mod % 64 & 1) {
                        mods[mod_count++] = (ptx_mod)mod;
                        break;
                    }
            base_builder name, again, why, accepted;
            base_builder_start(&name, arena), base_builder_start(&again, arena);
            base_builder_start(&why, arena), base_builder_start(&accepted, arena);
            base_builder_string(&name, ptx_op_name((ptx_op)op));
            for (unsigned m = 0; m < mod_count; m++)
                base_builder_format(&name, ".%s", ptx_mod_name(mods[m]));
            ptx_pattern pattern = {0};
            ptx_pattern_form *found;
            assert_true(ptx_pattern_name(arena, NULL, name.data, name.size, &pattern, &why));
            assert_int_equal(pattern.op, op);
            if (ptx_pattern_forms(arena, NULL, &pattern, &found, &why, &accepted) == 0)
                fail_msg("%s: %s", name.data, why.data);
            forms++;
        }
    }
    assert_true(forms > 600);
}

static const char *checked(base_arena *arena, const char *text, const ptx_type *results,
                           const ptx_type *arguments) {
    ptx_pattern pattern;
    base_builder why, accepted;
    base_builder_start(&why, arena), base_builder_start(&accepted, arena);
    assert_true(ptx_pattern_parse(arena, NULL, text, &pattern, &why));
    return ptx_pattern_check(arena, NULL, &pattern, results, arguments, &why, &accepted) ? "" : why.data;
}

static void against_the_table(void **state) {
    static const ptx_type f32[] = {PTX_TYPE_F32, PTX_TYPE_F32, PTX_TYPE_F32, PTX_TYPE_F32},
                          u32[] = {PTX_TYPE_U32, PTX_TYPE_U32, PTX_TYPE_U32, PTX_TYPE_U32},
                          u64[] = {PTX_TYPE_U64, PTX_TYPE_U32, PTX_TYPE_U32, PTX_TYPE_U32},
                          pred[] = {PTX_TYPE_PRED, PTX_TYPE_PRED};
    base_arena *arena = *state;
    assert_string_equal(checked(arena, "ex2.approx.f32 %0, $0", f32, f32), "");
    assert_string_equal(checked(arena, "ex2.approx.f32 %0, $0", f32, u32),
                        "operand 2 is .u32, which does not go with .f32");
    assert_string_equal(checked(arena, "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%0, %1}, [$0]", u32, u32), "");
    assert_string_equal(checked(arena, "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%0}, [$0]", u32, u32),
                        "operand 1 has 1 registers, but this shape and type take 2");
    assert_string_equal(checked(arena, "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [$0]", u32, u64),
                        "operand 2 is an address in a register of 64 bits; tensor memory takes 32");
    assert_string_equal(checked(arena, "@$0 bar.sync 0", NULL, u32), "the guard is .u32, not a predicate");
    assert_string_equal(checked(arena, "@$0 bar.sync 0", NULL, pred), "");
    assert_string_equal(checked(arena, "bar.sync", NULL, u32), "has 0 operands, but takes at least 1");
    assert_string_equal(checked(arena, "shfl.idx.b32 %0, $0, 0, 31", u32, u32),
                        "without .sync it is gone since sm_70");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(text_and_back),
        UNIT_WITH_ARENA(what_does_not_read),
        UNIT_WITH_ARENA(every_form_by_name),
        UNIT_WITH_ARENA(against_the_table),
    };
    return cmocka_run_group_tests_name("ptx patterns", tests, NULL, NULL);
}
