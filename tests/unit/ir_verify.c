/* SPDX-License-Identifier: Apache-2.0
 * The verifier: good functions of both forms pass, and for every rule one function that breaks it is reported
 * with the rule's code at the line where it is. covers: A30 */
#include "unit/unit.h"
#include "unit/ir_help.h"
#include <stdlib.h>
#include <string.h>

#define HEAD "tir 1\nfunction f[M: int32](A: float32[M, 8], n: int32, p: float32*global, h: handle):\n"

/* clang-format off */
static const struct rule {
    const char *code; /* NULL: well formed */
    int line;         /* of the report, counted from the body's first line */
    ir_form form;
    const char *body;
} rules[] = {
    {NULL, 0, IR_FORM_TENSOR, "    launch:\n        grid = (M, 1, 1)\n        block = (32, 4, 8)\n        dynamic_smem_bytes = n * 4\n"
                              "    alloc s: float32[8, 8] shared\n    view v: float32[64] shared = s.data\n    x: int32 = 0\n"
                              "    for i in serial(n):\n        if x < 3 and True:\n            v[ramp(x, 1, 4)] = broadcast(A[i, 0], 4)\n"
                              "            break\n    while x < n:\n        x = x + 1\n        continue\n    return\n"},
    {NULL, 0, IR_FORM_TENSOR, "    alloc pool: uint8[512] shared.dyn\n    view a: float32[64] shared.dyn = &pool[0]\n"
                              "    view b: float32[64] shared = reinterpret[float32*shared.dyn](&pool[256])\n    a[0] = b[0]\n"},
    {NULL, 0, IR_FORM_TENSOR, "    atomic_add(&A[0, 0], 1.0)\n    printf(\"%d\\n\", n)\n    trap_unless(n > 0, \"n\")\n    cta_sync()\n"
                              "    let m: uint32 = vote_ballot(active_mask(), n > 3)\n    let q: int64 = clock64()\n"},
    {NULL, 0, IR_FORM_FLAT,   "    register r: float32\n    origin var i: int32\n    origin view V: float32[8, 8] shared\n    alloc s: float32[64] shared\n"
                              "    r = p[n]\n    s.data[n * 8 @ &V[n, i]] = r + s.data[n @ V[i, 0]]\n    let q: float32*shared = &s.data[4 @ &V[0, 4]]\n    q[0 : float32x2] = s.data[0 : float32x2]\n"
                              "    let b: float32*global = pointer_offset[float32*global](h, n * 4)\n"},

    {"T0310", 2, IR_FORM_TENSOR, "    alloc a: uint8[64] shared.dyn\n    alloc b: uint8[64] shared.dyn\n"},
    {"T0320", 1, IR_FORM_TENSOR, "    let x: int32 = n + 1_int64\n"},
    {"T0320", 1, IR_FORM_TENSOR, "    let x: int32 = n / 2\n"},
    {"T0320", 1, IR_FORM_TENSOR, "    let x: float32 = 1.0 // 2.0\n"},
    {"T0320", 1, IR_FORM_TENSOR, "    let x: float32 = 1.0 & 2.0\n"},
    {"T0320", 1, IR_FORM_TENSOR, "    let x: int32 = n << 2_int64\n"},
    {"T0320", 1, IR_FORM_TENSOR, "    let x: bool = n and True\n"},
    {"T0320", 1, IR_FORM_TENSOR, "    let x: bool = n < 1.0\n"},
    {"T0320", 1, IR_FORM_TENSOR, "    let x: int32 = add[int32](1_int64, 2_int64)\n"},
    {"T0320", 1, IR_FORM_TENSOR, "    let x: int32 = sqrt(n)\n"},
    {"T0320", 1, IR_FORM_TENSOR, "    let x: int32 = select(n, 1, 2)\n"},
    {"T0320", 1, IR_FORM_TENSOR, "    let x: int32 = select(True, 1, 2_int64)\n"},
    {"T0320", 1, IR_FORM_TENSOR, "    let x: float32x2 = float32x2(n)\n"},
    {"T0320", 1, IR_FORM_TENSOR, "    let x: float64 = reinterpret[float64](n)\n"},
    {"T0320", 1, IR_FORM_TENSOR, "    let x: int32x4 = ramp(1.0, 2.0, 4)\n"},
    {"T0320", 1, IR_FORM_TENSOR, "    let x: int32x4 = ramp[int32x4](1_int64, 2_int64)\n"},
    {"T0320", 1, IR_FORM_TENSOR, "    let x: int32x4 = broadcast[int32x4](1_int64)\n"},
    {"T0320", 1, IR_FORM_TENSOR, "    let x: int32x2 = vector(1, 2_int64)\n"},
    {"T0320", 1, IR_FORM_TENSOR, "    let x: float32 = n[0 : float32]\n"},
    {"T0320", 1, IR_FORM_TENSOR, "    let x: float32*global = pointer_offset[float32*global](h, 1.0)\n"},
    {"T0320", 1, IR_FORM_TENSOR, "    let x: float32*global = p[0 : float32*global]\n"},
    {"T0320", 1, IR_FORM_TENSOR, "    let x: int32 = shuffle(1_int64, n, 0, 32)\n"},
    {"T0320", 1, IR_FORM_TENSOR, "    let x: bool = vote_all(1_uint32, 1.0)\n"},
    {"T0320", 1, IR_FORM_TENSOR, "    let x: float32 = redux_add(1_uint32, 1.0)\n"},
    {"T0320", 1, IR_FORM_TENSOR, "    atomic_add(n, 1)\n"},
    {"T0320", 1, IR_FORM_TENSOR, "    atomic_add(p, 1)\n"},
    {"T0320", 1, IR_FORM_TENSOR, "    atomic_min(p, 1.0)\n"},
    {"T0320", 1, IR_FORM_TENSOR, "    atomic_cas(h, 1, 1_int64)\n"},
    {"T0320", 2, IR_FORM_TENSOR, "    x: int32\n    atomic_add(&x, 1)\n"},
    {"T0320", 1, IR_FORM_TENSOR, "    cta_sync_and(1.0)\n"},
    {"T0320", 1, IR_FORM_TENSOR, "    nano_sleep(1.0)\n"},
    {"T0320", 1, IR_FORM_TENSOR, "    printf(n)\n"},
    {"T0320", 1, IR_FORM_TENSOR, "    trap_unless(1.0)\n"},
    {"T0320", 1, IR_FORM_FLAT,   "    n[0 : int32] = 1\n"},
    {"T0322", 1, IR_FORM_TENSOR, "    A[0] = 1.0\n"},
    {"T0322", 1, IR_FORM_TENSOR, "    A[0, 0, 0] = 1.0\n"},
    {"T0322", 1, IR_FORM_TENSOR, "    A[0, 1.0] = 1.0\n"},
    {"T0322", 1, IR_FORM_TENSOR, "    let x: float32 = A[0, True]\n"},
    {"T0322", 1, IR_FORM_TENSOR, "    A[ramp(0, 1, 4), 0] = 1.0\n"},
    {"T0322", 1, IR_FORM_TENSOR, "    let x: float32*global = &A[0, ramp(0, 1, 4)]\n"},
    {"T0322", 1, IR_FORM_TENSOR, "    tile_operation(\"zero\", \"cta\", \"\", A.region(0, 8))\n"},
    {"T0322", 1, IR_FORM_TENSOR, "    tile_operation(\"zero\", \"cta\", \"\", A.region(0, 8, 0.0, 8))\n"},
    {"T0320", 1, IR_FORM_TENSOR, "    tile_operation(\"zero\", \"cta\", \"\")\n"},
    {"T0320", 1, IR_FORM_TENSOR, "    tile_operation(\"zero\", \"cta\", \"\", n)\n"},
    {"T0320", 1, IR_FORM_TENSOR, "    tile_operation(\"zero\", \"cta\", \"\", A.region(0, 8, 0, 8), \"accum\")\n"},
    {"T0339", 1, IR_FORM_TENSOR, "    let x: float32*global = reinterpret[float32*global](A.region(0, 8, 0, 8))\n"},
    {"T0323", 1, IR_FORM_TENSOR, "    origin var i: int32\n    A[i, 0] = 1.0\n"},
    {"T0323", 1, IR_FORM_TENSOR, "    origin view V: float32[8]\n    V[0] = 1.0\n"},
    {"T0325", 1, IR_FORM_TENSOR, "    let x: int64 = n\n"},
    {"T0325", 1, IR_FORM_TENSOR, "    A[0, 0] = n\n"},
    {"T0325", 1, IR_FORM_TENSOR, "    A[0, ramp(0, 1, 4)] = 1.0\n"},
    {"T0325", 1, IR_FORM_FLAT,   "    register r: int64\n    r = n\n"},
    {"T0326", 1, IR_FORM_TENSOR, "    if n:\n        pass\n"},
    {"T0326", 1, IR_FORM_TENSOR, "    while n + 1:\n        pass\n"},
    {"T0327", 1, IR_FORM_TENSOR, "    for i in serial(4_int64):\n        pass\n"},
    {"T0327", 1, IR_FORM_TENSOR, "    for i in serial(4, start=1_int64):\n        pass\n"},
    {"T0327", 1, IR_FORM_TENSOR, "    for i in serial(4, step=0):\n        pass\n"},
    {"T0327", 1, IR_FORM_TENSOR, "    for i in serial(4, step=-1):\n        pass\n"},
    {"T0327", 1, IR_FORM_TENSOR, "    for i in serial(4, step=n):\n        pass\n"},
    {"T0327", 1, IR_FORM_TENSOR, "    for i in serial(4, factor=2):\n        pass\n"},
    {"T0327", 1, IR_FORM_TENSOR, "    for i: float32 in serial(4.0, start=0.0, step=1.0):\n        pass\n"},
    {"T0329", 1, IR_FORM_TENSOR, "    alloc s: float32[0] shared\n"},
    {"T0329", 1, IR_FORM_TENSOR, "    alloc s: float32[-4] shared\n"},
    {"T0329", 1, IR_FORM_TENSOR, "    alloc s: float32[4.0] shared\n"},
    {"T0329", 1, IR_FORM_TENSOR, "    alloc s: float32[thread_idx.x] shared\n"},
    {"T0329", 2, IR_FORM_TENSOR, "    let m: int32 = n\n    alloc s: float32[m] shared\n"},
    {"T0329", 1, IR_FORM_TENSOR, "    alloc s: float32[2000000000, 2000000000, 2000000000] shared\n"},
    {"T0330", 1, IR_FORM_TENSOR, "    p[0] = 1.0\n"},
    {"T0330", 1, IR_FORM_TENSOR, "    register r: int32\n    r = n\n"},
    {"T0330", 1, IR_FORM_FLAT,   "    A[0, 0] = 1.0\n"},
    {"T0330", 1, IR_FORM_FLAT,   "    let x: float32 = A[0, 0]\n"},
    {"T0330", 1, IR_FORM_FLAT,   "    let x: float32*global = &A[0, 0]\n"},
    {"T0330", 1, IR_FORM_FLAT,   "    view v: float32[8] = A.data\n"},
    {"T0331", 1, IR_FORM_TENSOR, "    break\n"},
    {"T0331", 2, IR_FORM_TENSOR, "    if True:\n        continue\n"},
    {"T0334", 1, IR_FORM_TENSOR, "    launch:\n        grid = (1.0, 1, 1)\n        block = (32, 1, 1)\n    pass\n"},
    {"T0334", 1, IR_FORM_TENSOR, "    launch:\n        grid = (thread_idx.x, 1, 1)\n        block = (32, 1, 1)\n    pass\n"},
    {"T0334", 1, IR_FORM_TENSOR, "    launch:\n        grid = (1, 1, 1)\n        block = (32, 33, 1)\n    pass\n"},
    {"T0334", 1, IR_FORM_TENSOR, "    launch:\n        grid = (1, 1, 1)\n        block = (32, 0, 1)\n    pass\n"},
    {"T0334", 1, IR_FORM_TENSOR, "    launch:\n        grid = (1, 1, 1)\n        block = (32, 1, 1)\n        dynamic_smem_bytes = A[0, 0]\n    pass\n"},
    {"T0335", 2, IR_FORM_TENSOR, "    alloc t: float32[128, 64] tmem\n    let x: float32 = t[0, 0]\n"},
    {"T0335", 2, IR_FORM_TENSOR, "    alloc t: float32[128, 64] tmem\n    t[0, 0] = 1.0\n"},
    {"T0336", 1, IR_FORM_TENSOR, "    view v: float32[8] = n\n"},
    {"T0336", 1, IR_FORM_TENSOR, "    view v: float32[8] shared = A.data\n"},
    {"T0338", 1, IR_FORM_TENSOR, "    let x: int32 = lane(broadcast(n, 4), 4)\n"},
    {"T0338", 1, IR_FORM_TENSOR, "    alloc s: float32[4]\n"},
    {NULL, 0, IR_FORM_TENSOR, "    alloc s: uint32[8] shared\n    ptx(\"st.shared.b32 [$0+4], $1\", \"void\", shared_address(&s[0]), 7_uint32)\n"
                              "    let v: uint32x2 = ptx(\"@$1 ld.global.v2.b32 {%0, %1}, [$0] keep $2, $2\", \"uint32x2\", p, n > 0, 1_uint32)\n"
                              "    let x: float32 = ptx(\"ex2.approx.f32 %0, $0\", \"float32\", A[0, 0])\n"
                              "    let y: uint32x2 = ptx(\"shfl.sync.idx.b32 %0|%1, $0, 0, 31, $1\", \"uint32x2\", lane(v, 1), 4294967295_uint32)\n"},
    {"T0518", 1, IR_FORM_TENSOR, "    let x: float32 = ptx(\"ex2.approx.f32 %0, $0\", \"float32\", n)\n"},
    {"T0518", 1, IR_FORM_TENSOR, "    ptx(\"bar.sync $0, $1\", \"void\", n)\n"},
    {"T0518", 1, IR_FORM_TENSOR, "    ptx(\"bar.sink $0\", \"void\", n)\n"},
    {"T0518", 1, IR_FORM_TENSOR, "    ptx(\"st.global.b32 [$0, $1\", \"void\", p, n)\n"},
    {"T0518", 1, IR_FORM_TENSOR, "    let x: uint32x2 = ptx(\"ld.global.v2.b32 {%0, %1}, [$0] keep $1\", \"uint32x2\", p, 1_uint32)\n"},
    {"T0518", 1, IR_FORM_TENSOR, "    ptx(\"@$0 bar.sync 0\", \"void\", n)\n"},
    {"T0339", 1, IR_FORM_TENSOR, "    let x: int32 = cta_sync() + 1\n"},
    {"T0339", 1, IR_FORM_TENSOR, "    \"text\"\n"},
    {"T0339", 1, IR_FORM_TENSOR, "    let x: int32 = min(\"a\", \"b\")\n"},
    {"T0340", 1, IR_FORM_FLAT,   "    register r: float32\n    p[0] = r\n"},
};
/* clang-format on */

typedef struct checked {
    base_diagnostics *diagnostics;
    ir_module *module;
    ir_function *function;
    bool good;
} checked;

static checked parse_body(base_arena *arena, const char *body) {
    checked result = {0};
    base_sources *sources = base_sources_create(arena);
    char *text = base_arena_format(arena, "%s%s", HEAD, body);
    result.diagnostics = base_diagnostics_create(arena, sources);
    uint32_t file = base_sources_add(sources, "t.tir", text, strlen(text));
    result.module = ir_module_parse(arena, result.diagnostics, file);
    if (!result.module) {
        base_builder out;
        base_builder_start(&out, arena);
        base_diagnostics_render(result.diagnostics, BASE_LINE, false, &out);
        fail_msg("does not parse:\n%s\n%s", body, out.data);
    }
    result.function = result.module->functions.items[0];
    return result;
}

static const char *rendered(base_arena *arena, const checked *result) {
    base_builder out;
    base_builder_start(&out, arena);
    base_diagnostics_render(result->diagnostics, BASE_LINE, false, &out);
    return out.data;
}

static void rules_hold(void **state) {
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const struct rule *rule = &rules[i];
        checked result = parse_body(*state, rule->body);
        bool good = ir_verify(result.module, rule->form);
        const char *told = rendered(*state, &result);
        if (!rule->code) {
            if (!good)
                fail_msg("%s\nis good, but:\n%s", rule->body, told);
            continue;
        }
        /* registers, origins and the lines of launch stand before the first statement */
        int head = 0;
        for (const char *line = rule->body; line && *line; line = strchr(line, '\n'), line += line != NULL)
            head += strncmp(line, "    register", 12) == 0 || strncmp(line, "    origin", 10) == 0;
        bool right = !good && base_diagnostics_count(result.diagnostics) > 0;
        for (size_t k = 0; k < base_diagnostics_count(result.diagnostics); k++) {
            const base_diagnostic *diagnostic = base_diagnostics_at(result.diagnostics, k);
            base_place place =
                base_span_place(base_diagnostics_sources(result.diagnostics), diagnostic->span);
            right = right && strcmp(diagnostic->code, rule->code) == 0 &&
                    (int)place.line == rule->line + 2 + head;
        }
        if (!right)
            fail_msg("%s\nshould give only %s at line %d, gave:\n%s", rule->body, rule->code,
                     rule->line + 2 + head, told);
    }
}

/* Every code of the table that has no text here is broken through the constructors below. */
static const char *const built[] = {"T0307", "T0308", "T0321", "T0323", "T0324",
                                    "T0332", "T0333", "T0337", "T0341"};

static void expect(base_arena *arena, const checked *result, ir_form form, const char *code) {
    assert_false(ir_verify(result->module, form));
    bool found = false;
    for (size_t i = 0; i < base_diagnostics_count(result->diagnostics); i++)
        found = found || strcmp(base_diagnostics_at(result->diagnostics, i)->code, code) == 0;
    if (!found)
        fail_msg("expected %s, got:\n%s", code, rendered(arena, result));
}

static ir_stmt *evaluate(const checked *result, const ir_expr *e) {
    ir_stmt *s = ir_stmt_create(result->module, IR_STMT_EVALUATE, result->function->span);
    s->as.evaluate.value = e;
    ir_block_add(result->module, result->function->body, s);
    return s;
}

static void built_rules_hold(void **state) {
    base_arena *arena = *state;
    ir_type i32 = ir_type_prim(NUM_DTYPE_I32, 1);
    const ir_expr *deep, *args[2];

    checked r = parse_body(arena, "    pass\n");
    deep = ir_var_use(r.module, r.function->parameters.items[1].var);
    for (int i = 0; i < 100000; i++)
        deep = ir_make(r.module, IR_NEG, i32, &deep, 1);
    evaluate(&r, deep);
    expect(arena, &r, IR_FORM_TENSOR, "T0307");

    r = parse_body(arena, "    pass\n"); /* 2^60 parts, 60 levels */
    args[0] = args[1] = ir_var_use(r.module, r.function->parameters.items[1].var);
    for (int i = 0; i < 60; i++)
        args[0] = args[1] = ir_make(r.module, IR_ADD, i32, args, 2);
    evaluate(&r, args[0]);
    expect(arena, &r, IR_FORM_TENSOR, "T0307");

    r = parse_body(arena, "    pass\n");
    ir_stmt *block = r.function->body;
    for (int i = 0; i < 300; i++) {
        ir_stmt *inner = ir_stmt_create(r.module, IR_STMT_BLOCK, r.function->span);
        ir_block_add(r.module, block, inner);
        block = inner;
    }
    expect(arena, &r, IR_FORM_TENSOR, "T0308");

    r = parse_body(arena, "    pass\n");
    args[0] = ir_int(r.module, NUM_DTYPE_I32, 1);
    evaluate(&r, ir_make(r.module, IR_ADD, i32, args, 1));
    expect(arena, &r, IR_FORM_TENSOR, "T0321");

    r = parse_body(arena, "    pass\n");
    evaluate(&r, NULL);
    expect(arena, &r, IR_FORM_TENSOR, "T0321");

    r = parse_body(arena, "    if True:\n        let x: int32 = 1\n    pass\n");
    const ir_stmt *let =
        r.function->body->as.block.body.items[0]->as.branch.then_body->as.block.body.items[0];
    evaluate(&r, ir_var_use(r.module, let->as.let.var));
    expect(arena, &r, IR_FORM_TENSOR, "T0323");

    r = parse_body(arena, "    let x: int32 = 1\n");
    ir_block_add(r.module, r.function->body, r.function->body->as.block.body.items[0]);
    expect(arena, &r, IR_FORM_TENSOR, "T0324");

    r = parse_body(arena, "    let x: int32 = 1\n");
    ir_stmt *assign = ir_stmt_create(r.module, IR_STMT_ASSIGN, r.function->span);
    assign->as.assign.var = r.function->body->as.block.body.items[0]->as.let.var;
    assign->as.assign.value = ir_int(r.module, NUM_DTYPE_I32, 2);
    ir_block_add(r.module, r.function->body, assign);
    expect(arena, &r, IR_FORM_FLAT, "T0332");

    r = parse_body(arena, "    pass\n");
    r.function->parameters.items[0].tensor->type.scope = IR_SCOPE_SHARED;
    expect(arena, &r, IR_FORM_TENSOR, "T0333");

    r = parse_body(arena, "    pass\n");
    r.function->parameters.items[1].tensor = r.function->parameters.items[0].tensor;
    expect(arena, &r, IR_FORM_TENSOR, "T0333");

    r = parse_body(arena, "    pass\n"); /* an INT of type float32 */
    evaluate(&r, ir_make(r.module, IR_INT, ir_type_prim(NUM_DTYPE_F32, 1), NULL, 0));
    expect(arena, &r, IR_FORM_TENSOR, "T0337");

    base_builder body;
    base_builder_start(&body, arena);
    base_builder_string(&body, "    view v0: float32[8] = A.data\n");
    for (int i = 1; i < 210; i++)
        base_builder_format(&body, "    view v%d: float32[8] = v%d.data\n", i, i - 1);
    r = parse_body(arena, body.data);
    expect(arena, &r, IR_FORM_TENSOR, "T0341");
}

/* T0307 to T0349 of ir_codes.def, the verifier's: each is broken above. */
static void every_code_is_tested(void **state) {
    static const char *const codes[] = {
#define DIAGNOSTIC(code, title, explanation) code,
#include "ir/ir_codes.def"
#undef DIAGNOSTIC
    };
    (void)state;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        bool found =
            strcmp(codes[i], "T0320") < 0 && strcmp(codes[i], "T0310") != 0; /* the parser's: ir_text.c */
        for (size_t k = 0; k < sizeof rules / sizeof *rules; k++)
            found = found || (rules[k].code && strcmp(rules[k].code, codes[i]) == 0);
        for (size_t k = 0; k < sizeof built / sizeof *built; k++)
            found = found || strcmp(built[k], codes[i]) == 0;
        if (!found)
            fail_msg("no test breaks %s", codes[i]);
    }
}

/* The second dynamic allocation is reported with a note at the first. */
static void dynamic_has_note(void **state) {
    checked r = parse_body(*state, "    alloc a: uint8[64] shared.dyn\n    alloc b: uint8[64] shared.dyn\n");
    assert_false(ir_verify(r.module, IR_FORM_TENSOR));
    const base_diagnostic *diagnostic = base_diagnostics_at(r.diagnostics, 0);
    assert_string_equal(diagnostic->code, "T0310");
    assert_int_equal(diagnostic->notes.count, 1);
    base_sources *sources = base_diagnostics_sources(r.diagnostics);
    assert_int_equal(base_span_place(sources, diagnostic->span).line, 4);
    assert_int_equal(base_span_place(sources, diagnostic->notes.items[0].span).line, 3);
}

/* All problems of a module are told in one run, each at its own line. */
static void all_problems_in_one_run(void **state) {
    checked r = parse_body(
        *state, "    break\n    A[0] = 1.0\n    if n:\n        A[0, 0] = n\n    let x: int32 = 1.0\n");
    assert_false(ir_verify(r.module, IR_FORM_TENSOR));
    assert_int_equal(base_diagnostics_count(r.diagnostics), 5);
    for (size_t i = 0; i < 5; i++) {
        const base_diagnostic *diagnostic = base_diagnostics_at(r.diagnostics, i);
        base_place place = base_span_place(base_diagnostics_sources(r.diagnostics), diagnostic->span);
        assert_int_equal(place.line, 3 + i);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(rules_hold),
        UNIT_WITH_ARENA(built_rules_hold),
        UNIT_WITH_ARENA(every_code_is_tested),
        UNIT_WITH_ARENA(dynamic_has_note),
        UNIT_WITH_ARENA(all_problems_in_one_run),
    };
    return cmocka_run_group_tests_name("ir_verify", tests, NULL, NULL);
}
