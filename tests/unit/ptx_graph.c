/* SPDX-License-Identifier: Apache-2.0
 * Blocks, post-dominators and liveness against slow and obvious models at the level of instructions, on
 * random functions; and the cases that have a meaning of their own. */
#include "unit/ptx_help.h"

static uint64_t random_state = 1;
static unsigned random_below(unsigned limit) {
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(random_state >> 33) % limit;
}

/* ---- a random function and what it means, one instruction at a time ---- */

#define LENGTH_MAX 24
enum kind { PLAIN, GUARDED, JUMP, BRANCH, TABLE, LEAVE, GUARDED_LEAVE };
typedef struct step {
    enum kind kind;
    unsigned target, targets[3]; /* instruction numbers; LENGTH is the end */
    unsigned written, read[2];   /* registers %r0..%r5 */
} step;
typedef struct plan {
    unsigned length;
    step steps[LENGTH_MAX];
} plan;

static const char *plan_text(base_arena *arena, plan *p) {
    base_builder text;
    base_builder_start(&text, arena);
    base_builder_string(&text, PTX_HEADER ".entry k()\n{\n.reg .pred %p<2>;\n.reg .b32 %r<6>;\n");
    p->length = 1 + random_below(LENGTH_MAX - 1);
    for (unsigned i = 0; i < p->length; i++) {
        step *s = &p->steps[i];
        static const enum kind kinds[] = {PLAIN,  PLAIN,  PLAIN, GUARDED, JUMP,         BRANCH,
                                          BRANCH, BRANCH, TABLE, LEAVE,   GUARDED_LEAVE};
        static const char *const leaving[] = {"ret", "exit", "trap"};
        s->kind = kinds[random_below(sizeof(kinds) / sizeof(kinds[0]))];
        s->target = random_below(p->length + 1);
        s->written = random_below(6);
        s->read[0] = random_below(6);
        s->read[1] = random_below(6);
        base_builder_format(&text, "L%u:\n", i);
        switch (s->kind) {
        case PLAIN:
        case GUARDED:
            base_builder_format(&text, "%sadd.s32 %%r%u, %%r%u, %%r%u;\n", s->kind == GUARDED ? "@!%p1 " : "",
                                s->written, s->read[0], s->read[1]);
            break;
        case JUMP:
        case BRANCH:
            base_builder_format(&text, "%sbra L%u;\n", s->kind == BRANCH ? "@%p1 " : "", s->target);
            break;
        case TABLE:
            for (int k = 0; k < 3; k++) {
                s->targets[k] = random_below(p->length + 1);
            }
            base_builder_format(&text, "T%u: .branchtargets L%u, L%u, L%u;\nbrx.idx %%r%u, T%u;\n", i,
                                s->targets[0], s->targets[1], s->targets[2], s->read[0], i);
            break;
        case LEAVE:
        case GUARDED_LEAVE:
            base_builder_format(&text, "%s%s;\n", s->kind == LEAVE ? "" : "@%p1 ", leaving[random_below(3)]);
            break;
        }
    }
    base_builder_format(&text, "L%u:\n}\n", p->length);
    return text.data;
}

/* Instructions that may come after i; length stands for having left. */
static unsigned after(const plan *p, unsigned i, unsigned out[4]) {
    const step *s = &p->steps[i];
    unsigned count = 0;
    if (s->kind != JUMP && s->kind != TABLE && s->kind != LEAVE) {
        out[count++] = i + 1;
    }
    if (s->kind == JUMP || s->kind == BRANCH) {
        out[count++] = s->target;
    }
    for (int k = 0; s->kind == TABLE && k < 3; k++) {
        out[count++] = s->targets[k];
    }
    if (s->kind == LEAVE || s->kind == GUARDED_LEAVE) {
        out[count++] = p->length;
    }
    return count;
}

/* Marks what can be reached from `from` without passing `without`. */
static void reach(const plan *p, unsigned from, unsigned without, bool *seen) {
    unsigned stack[LENGTH_MAX * 4], depth = 0;
    memset(seen, 0, LENGTH_MAX + 1);
    stack[depth++] = from;
    while (depth > 0) {
        unsigned at = stack[--depth], next[4];
        if (at == without || seen[at]) {
            continue;
        }
        seen[at] = true;
        if (at == p->length) {
            continue;
        }
        unsigned count = after(p, at, next);
        for (unsigned k = 0; k < count; k++) {
            if (!seen[next[k]]) {
                stack[depth++] = next[k];
            }
        }
    }
}

/* b post-dominates a: without b, a does not reach the end. */
static bool post_dominates(const plan *p, unsigned b, unsigned a) {
    bool seen[LENGTH_MAX + 1];
    reach(p, a, b, seen);
    return !seen[p->length];
}

/* The closest of them: the one that all others post-dominate. */
static unsigned model_post_dominator(const plan *p, unsigned a) {
    for (unsigned b = 0; b < p->length; b++) {
        bool closest = b != a && post_dominates(p, b, a);
        for (unsigned c = 0; closest && c < p->length; c++) {
            closest = c == a || c == b || !post_dominates(p, c, a) || post_dominates(p, c, b);
        }
        if (closest) {
            return b;
        }
    }
    return p->length;
}

static bool always_ends(const plan *p) {
    for (unsigned i = 0; i < p->length; i++) {
        bool seen[LENGTH_MAX + 1];
        reach(p, i, LENGTH_MAX + 1, seen);
        if (!seen[p->length]) {
            return false;
        }
    }
    return true;
}

static void post_dominators_are_the_models(void **state) {
    (void)state;
    unsigned compared = 0, endless = 0;
    for (int round = 0; round < 4000; round++) {
        base_arena *arena = base_arena_create(base_heap_create(NULL));
        plan p;
        ptx_case c = ptx_case_parse(arena, plan_text(arena, &p));
        assert_string_equal(ptx_case_messages(&c), "");
        const ptx_function *k = ptx_function_find(c.module, "k");
        const ptx_graph *graph = ptx_graph_build(arena, k);
        bool seen[LENGTH_MAX + 1], ends = always_ends(&p);
        reach(&p, 0, LENGTH_MAX + 1, seen);
        for (uint32_t i = 0; i < graph->block_count; i++) {
            const ptx_block *block = &graph->blocks[i];
            assert_int_equal(block->reachable, seen[block->begin]);
            assert_true(block->post_dominator <= graph->block_count && block->post_dominator != i);
            for (uint32_t at = block->begin; at < block->end; at++) {
                assert_int_equal(graph->block_of[at], i);
            }
            if (ends) {
                unsigned expected = model_post_dominator(&p, block->end - 1);
                uint32_t found = block->post_dominator;
                assert_int_equal(found == graph->block_count ? p.length : graph->blocks[found].begin,
                                 expected);
                compared++;
            }
            /* The chain of post-dominators ends at the exit, also out of endless loops. */
            uint32_t at = i, steps = 0;
            for (; at != graph->block_count && steps <= graph->block_count; steps++) {
                at = graph->blocks[at].post_dominator;
            }
            assert_int_equal(at, graph->block_count);
        }
        endless += !ends;
        base_heap_destroy(base_arena_heap(arena));
    }
    assert_true(compared > 4000 && endless > 100);
}

static bool reads(const step *s, unsigned reg) {
    bool is_plain = s->kind == PLAIN || s->kind == GUARDED;
    return (is_plain && (s->read[0] == reg || s->read[1] == reg)) || (s->kind == TABLE && s->read[0] == reg);
}

/* Is there a path from i to a read of the register without a sure write before it? */
static bool model_live(const plan *p, unsigned i, unsigned reg) {
    bool seen[LENGTH_MAX + 1] = {false};
    unsigned stack[LENGTH_MAX * 4], depth = 0;
    stack[depth++] = i;
    while (depth > 0) {
        unsigned at = stack[--depth], next[4];
        if (at >= p->length || seen[at]) {
            continue;
        }
        seen[at] = true;
        if (reads(&p->steps[at], reg)) {
            return true;
        }
        if (p->steps[at].kind == PLAIN && p->steps[at].written == reg) {
            continue;
        }
        unsigned count = after(p, at, next);
        for (unsigned k = 0; k < count; k++) {
            stack[depth++] = next[k];
        }
    }
    return false;
}

static void liveness_is_the_models(void **state) {
    (void)state;
    unsigned live_somewhere = 0;
    for (int round = 0; round < 2000; round++) {
        base_arena *arena = base_arena_create(base_heap_create(NULL));
        plan p;
        ptx_case c = ptx_case_parse(arena, plan_text(arena, &p));
        const ptx_function *k = ptx_function_find(c.module, "k");
        const ptx_graph *graph = ptx_graph_build(arena, k);
        const ptx_liveness *live = ptx_liveness_compute(arena, k, graph);
        assert_int_equal(live->virtual_registers, k->registers.count);
        for (size_t r = 0; r < k->registers.count; r++) {
            const ptx_register *reg = k->registers.items[r];
            if (reg->type == PTX_TYPE_PRED) {
                continue;
            }
            unsigned number = (unsigned)(reg->name[2] - '0');
            for (uint32_t i = 0; i < graph->block_count; i++) {
                const ptx_block *block = &graph->blocks[i];
                bool in = live->live_in[i * live->words + r / 64] >> r % 64 & 1;
                bool out = live->live_out[i * live->words + r / 64] >> r % 64 & 1;
                unsigned next[4], count = after(&p, block->end - 1, next);
                bool expected = false;
                for (unsigned n = 0; n < count; n++) {
                    expected = expected || model_live(&p, next[n], number);
                }
                assert_int_equal(in, model_live(&p, block->begin, number));
                assert_int_equal(out, expected);
                live_somewhere += in;
            }
        }
        base_heap_destroy(base_arena_heap(arena));
    }
    assert_true(live_somewhere > 1000);
}

/* ---- named cases ---- */

static const ptx_graph *graph_of(base_arena *arena, const char *body) {
    ptx_case c = ptx_case_parse(arena, ptx_case_kernel(arena, "sm_100a", body));
    assert_string_equal(ptx_case_messages(&c), "");
    return ptx_graph_build(arena, ptx_function_find(c.module, "k"));
}

static void calls_fall_through_unless_they_do_not_return(void **state) {
    base_arena *arena = *state;
    const char *head =
        PTX_HEADER ".extern .func f();\n.extern .func stop() .noreturn;\n.entry k() {\n.reg .pred %p<2>;\n";
    ptx_case falls = ptx_case_parse(arena, base_arena_format(arena, "%scall f, ();\nret; }", head));
    const ptx_graph *graph = ptx_graph_build(arena, ptx_function_find(falls.module, "k"));
    assert_int_equal(graph->block_count, 1);
    ptx_case stops = ptx_case_parse(
        arena, base_arena_format(arena, "%s@%%p1 call stop, ();\ncall stop, ();\nret; }", head));
    graph = ptx_graph_build(arena, ptx_function_find(stops.module, "k"));
    assert_int_equal(graph->block_count, 3);
    assert_int_equal(graph->blocks[0].successor_count, 1); /* guarded: may go on */
    assert_int_equal(graph->blocks[1].successor_count, 0);
    assert_false(graph->blocks[2].reachable);
}

static void diamond_joins(void **state) {
    const ptx_graph *graph =
        graph_of(*state, "setp.eq.s32 %p1, %r1, 0;\n@%p1 bra ELSE;\nmov.b32 %r2, 1;\nbra JOIN;\nELSE:\n"
                         "mov.b32 %r2, 2;\nJOIN:\nmov.b32 %r3, %r2;");
    assert_int_equal(graph->block_count, 4);
    assert_int_equal(graph->blocks[0].post_dominator, 3);
    assert_int_equal(graph->blocks[1].post_dominator, 3);
    assert_int_equal(graph->blocks[3].post_dominator, 4);
    assert_int_equal(graph->blocks[3].predecessor_count, 2);
}

static void unused_labels_make_no_blocks(void **state) {
    const ptx_graph *graph = graph_of(*state, "A:\nmov.b32 %r1, 1;\nB:\nmov.b32 %r2, 1;\nC:");
    assert_int_equal(graph->block_count, 1);
}

static void empty_functions(void **state) {
    base_arena *arena = *state;
    ptx_case c = ptx_case_parse(arena, PTX_HEADER ".func f() { }\n.func g();");
    for (size_t i = 0; i < c.module->functions.count; i++) {
        const ptx_graph *graph = ptx_graph_build(arena, c.module->functions.items[i]);
        assert_int_equal(graph->block_count, 0);
        assert_int_equal(ptx_liveness_compute(arena, c.module->functions.items[i], graph)->virtual_registers,
                         0);
    }
}

static const char *registers(base_arena *arena, ptx_register *const *items, uint32_t count) {
    base_builder text;
    base_builder_start(&text, arena);
    for (uint32_t i = 0; i < count; i++) {
        base_builder_format(&text, "%s%s", i ? " " : "", items[i]->name);
    }
    return text.data;
}

static void uses_by_operand(void **state) {
    static const struct {
        const char *instruction, *written, *read;
    } cases[] = {
        {"add.s32 %r1, %r2, %r3;", "%r1", "%r2 %r3"},
        {"@%p1 add.s32 %r1, %r2, 1;", "%r1", "%p1 %r2"},
        {"st.global.v2.b32 [%rd1+4], {%r1, %r2};", "", "%rd1 %r1 %r2"},
        {"ld.global.v2.b32 {%r1, _}, [%rd1];", "%r1", "%rd1"},
        {"setp.eq.and.s32 %p1|%p2, %r1, %r2, !%p3;", "%p1 %p2", "%r1 %r2 %p3"},
        {"shfl.sync.bfly.b32 %r1|%p1, %r2, %r3, 31, -1;", "%r1 %p1", "%r2 %r3"},
        {"mov.b64 {%r1, %r2}, %rd1;", "%r1 %r2", "%rd1"},
        {"mov.b64 %rd1, {%r1, %r2};", "%rd1", "%r1 %r2"},
        {"bar.red.popc.u32 %r1, 0, %p1;", "%r1", "%p1"},
        {"bar.sync %r1, %r2;", "", "%r1 %r2"},
        {"atom.global.add.u32 %r1, [%rd1], %r2;", "%r1", "%rd1 %r2"},
        {"red.global.add.u32 [%rd1], %r2;", "", "%rd1 %r2"},
        {"tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1, %r2}, [%r3];", "%r1 %r2", "%r3"},
        {"tcgen05.st.sync.aligned.32x32b.x2.b32 [%r3], {%r1, %r2};", "", "%r3 %r1 %r2"},
        {"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 128;", "", "%r1"},
        {"tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1;", "", "%r1 %rd1 %rd2 %r2 %p1"},
        {"tcgen05.ld.red.sync.aligned.32x32b.x2.min.u32 {%r1, %r2}, %r4, [%r3];", "%r1 %r2 %r4", "%r3"},
        {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2}, %rd1, %rd2, 1, 1, 1, 0, 0;",
         "%f1 %f2", "%f1 %f2 %rd1 %rd2"},
        {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1, %f2}, {%r1}, {%r2}, {%f3, %f4};",
         "%f1 %f2", "%r1 %r2 %f3 %f4"},
        {"cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%rd1], [%rd2, {%r1}], "
         "[%rd3];",
         "", "%rd1 %rd2 %r1 %rd3"},
        {"mbarrier.arrive.shared.b64 %rd1, [%r1];", "%rd1", "%r1"},
        {"mbarrier.try_wait.parity.shared.b64 %p1, [%r1], %r2;", "%p1", "%r1 %r2"},
        {"vadd.u32.u32.u32 %r1.b0, %r2, %r3.h1, %r4;", "%r1", "%r1 %r2 %r3 %r4"},
        {"elect.sync %r1|%p1, -1;", "%r1 %p1", ""},
    };
    base_arena *arena = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ptx_case c = ptx_case_parse(arena, ptx_case_kernel(arena, "sm_100a", cases[i].instruction));
        assert_string_equal(ptx_case_messages(&c), "");
        ptx_uses uses;
        ptx_instruction_uses(&ptx_function_find(c.module, "k")->instructions.items[0], &uses);
        assert_string_equal(registers(arena, uses.written, uses.written_count), cases[i].written);
        assert_string_equal(registers(arena, uses.read, uses.read_count), cases[i].read);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(post_dominators_are_the_models),
        cmocka_unit_test(liveness_is_the_models),
        UNIT_WITH_ARENA(calls_fall_through_unless_they_do_not_return),
        UNIT_WITH_ARENA(diamond_joins),
        UNIT_WITH_ARENA(unused_labels_make_no_blocks),
        UNIT_WITH_ARENA(empty_functions),
        UNIT_WITH_ARENA(uses_by_operand),
    };
    return cmocka_run_group_tests_name("ptx graph", tests, NULL, NULL);
}
