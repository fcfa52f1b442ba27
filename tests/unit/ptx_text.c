/* SPDX-License-Identifier: Apache-2.0
 * PTX text to module and back: the sample says everything that compilers write. */
#include "unit/ptx_help.h"
#include "unit/ptx_sample.h"

static void sample_comes_back_equal(void **state) {
    base_arena *arena = *state;
    ptx_case c = ptx_case_parse(arena, ptx_sample);
    assert_string_equal(ptx_case_messages(&c), "");
    assert_non_null(c.module);
    for (int lines = 0; lines < 2; lines++) {
        for (int origins = 0; origins < 2; origins++) {
            const char *text = ptx_case_print(arena, c.module, lines, origins);
            ptx_case again = ptx_case_parse(arena, text);
            assert_string_equal(ptx_case_messages(&again), "");
            base_builder difference;
            base_builder_start(&difference, arena);
            ptx_module_equal(c.module, again.module, lines, origins, &difference);
            assert_string_equal(difference.data, "");
            assert_true(ptx_module_equal(c.module, again.module, lines, origins, NULL));
            /* Canonical: printing what was printed changes nothing. */
            assert_string_equal(ptx_case_print(arena, again.module, lines, origins), text);
        }
    }
}

/* The comparison itself must see differences, or the round trip shows nothing. */
static void comparison_sees_differences(void **state) {
    static const struct {
        const char *from, *to;
    } edits[] = {
        {"shl.b32 %r2, %r1, (1 + 2) * 3 - 8", "shl.b32 %r2, %r1, 2"},
        {"[k_param_0+8]", "[k_param_0+4]"},
        {"@!%p1 bra.uni", "@%p1 bra.uni"},
        {"%r2.b0", "%r2.b1"},
        {".minnctapersm 2", ".minnctapersm 3"},
        {"generic(g)+4", "generic(g)+8"},
        {"mask(0xff00", "mask(0xff"},
        {".u32 g = 7", ".u32 g = 8"},
        {"%tid.x;", "%tid.y;"},
        {"$L__BB0_4,\n\t$L__BB0_2;", "$L__BB0_4,\n\t$L__BB0_4;"},
        {"(add (mul %r2 8) %tid.x)", "(add (mul %r2 4) %tid.x)"},
        {".loc\t1 9 0", ".loc\t1 9 1"},
        {"add.relaxed.gpu", "add.acquire.gpu"},
        {"mov.b64 {%r6, %r7}", "mov.b64 {%r7, %r6}"},
    };
    base_arena *arena = *state;
    ptx_case c = ptx_case_parse(arena, ptx_sample);
    for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
        const char *at = strstr(ptx_sample, edits[i].from);
        assert_non_null(at);
        const char *text = base_arena_format(arena, "%.*s%s%s", (int)(at - ptx_sample), ptx_sample,
                                             edits[i].to, at + strlen(edits[i].from));
        ptx_case other = ptx_case_parse(arena, text);
        assert_string_equal(ptx_case_messages(&other), "");
        assert_false(ptx_module_equal(c.module, other.module, true, true, NULL));
    }
}

static const ptx_instruction *nth(const ptx_case *c, const char *function, size_t index) {
    return &ptx_function_find(c->module, function)->instructions.items[index];
}

static void facts_of_the_sample(void **state) {
    ptx_case c = ptx_case_parse(*state, ptx_sample);
    const ptx_module *module = c.module;
    assert_int_equal(module->version, 87);
    assert_string_equal(module->target, "sm_90a");
    assert_string_equal(module->target_options, "texmode_independent");
    const ptx_function *k = ptx_function_find(module, "k");
    assert_true(k->is_entry && k->explicit_cluster);
    assert_int_equal(k->max_threads[0], 256);
    assert_int_equal(k->cluster[0], 2);
    assert_int_equal(k->cluster[1], 1);
    assert_int_equal(k->parameters.count, 3);
    assert_true(k->parameters.items[1]->is_pointer);
    assert_int_equal(k->parameters.items[1]->pointer_align, 8);
    assert_int_equal(k->parameters.items[0]->bytes, 16);
    assert_true(ptx_function_find(module, "__assertfail")->noreturn);
    assert_int_equal(ptx_function_find(module, "twice")->linkage, PTX_LINK_WEAK);
    const ptx_variable *floats = ptx_variable_find(module, "floats");
    assert_int_equal(floats->elements, 6);
    assert_int_equal(floats->initial.count, 6);
    assert_int_equal(floats->initial.items[0].bits, 0x3fc00000);
    assert_int_equal(floats->initial.items[2].bits, 0); /* padded to the row */
    assert_int_equal(floats->initial.items[3].bits, 0xbf800000);
    assert_ptr_equal(ptx_variable_find(module, "gp")->initial.items[0].variable,
                     ptx_variable_find(module, "g"));
    assert_ptr_equal(ptx_variable_find(module, "fps")->initial.items[0].function,
                     ptx_function_find(module, "twice"));
    assert_int_equal(ptx_variable_find(module, "table")->initial.items[5].bits, 15); /* octal */
    assert_int_equal(ptx_variable_find(module, "table")->initial.items[6].bits, 5);  /* binary */
    assert_int_equal(ptx_variable_find(module, "dyn")->bytes, 0);
    const ptx_instruction *shl = nth(&c, "twice", 1);
    assert_int_equal(shl->op, PTX_OP_SHL);
    assert_int_equal(shl->type, PTX_TYPE_B32);
    assert_int_equal(shl->operands[2].bits, 1);
    assert_int_equal(shl->loc_line, 9);
    assert_string_equal(module->files.items[1], "/tmp/s.cu");
    assert_null(module->files.items[2]);
}

/* Names of inline assembly are scoped: two blocks with a predicate p, a register %r1 of their own and a label
 * L1. */
static void scopes_keep_names_apart(void **state) {
    ptx_case c = ptx_case_parse(*state, ptx_sample);
    const ptx_function *k = ptx_function_find(c.module, "k");
    const ptx_register *outer = NULL, *inner = NULL;
    unsigned labels = 0;
    for (size_t i = 0; i < k->registers.count; i++) {
        outer = strcmp(k->registers.items[i]->name, "%r1") == 0 ? k->registers.items[i] : outer;
        inner = strcmp(k->registers.items[i]->name, "%r1$2") == 0 ? k->registers.items[i] : inner;
        assert_int_equal(k->registers.items[i]->id, i);
    }
    assert_non_null(outer);
    assert_non_null(inner);
    for (size_t i = 0; i < k->labels.count; i++) {
        labels += strncmp(k->labels.items[i]->name, "L1", 2) == 0;
    }
    assert_int_equal(labels, 2);
}

static void origins_are_read(void **state) {
    ptx_case c = ptx_case_parse(*state, ptx_sample);
    const ptx_function *k = ptx_function_find(c.module, "k");
    const ptx_origin *origin = NULL;
    for (size_t i = 0; i < k->instructions.count; i++) {
        if (k->instructions.items[i].origin != NULL) {
            assert_null(origin);
            origin = k->instructions.items[i].origin;
            assert_int_equal(k->instructions.items[i].op, PTX_OP_LD);
        }
    }
    assert_non_null(origin);
    assert_string_equal(origin->tensor, "A[\"x\"]");
    assert_int_equal(origin->rank, 2);
    assert_int_equal(origin->extents[1], -1);
    assert_string_equal(origin->indices[0]->text, "i * 8 + j");
    assert_int_equal(origin->indices[0]->op, PTX_INDEX_ADD);
    assert_int_equal(origin->indices[0]->a->op, PTX_INDEX_MUL);
    assert_int_equal(origin->indices[0]->b->constant, PTX_SPECIAL_TID_X);
    assert_int_equal(origin->indices[1]->op, PTX_INDEX_UNKNOWN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(sample_comes_back_equal), UNIT_WITH_ARENA(comparison_sees_differences),
        UNIT_WITH_ARENA(facts_of_the_sample),     UNIT_WITH_ARENA(scopes_keep_names_apart),
        UNIT_WITH_ARENA(origins_are_read),
    };
    return cmocka_run_group_tests_name("ptx text", tests, NULL, NULL);
}
