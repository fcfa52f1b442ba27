/* SPDX-License-Identifier: Apache-2.0
 * The text form: what the printer writes, that the parser reads it back to the same function, and what both
 * do with text that is wrong. covers: A43 */
#include "unit/unit.h"
#include "unit/ir_help.h"
#include "unit/ir_random.h"
#include <stdlib.h>
#include <string.h>

/* Text that must come out of print(parse(text)) unchanged. */
static const char whole[] =
    "tir 1\n"
    "\n"
    "function copy[M: int32](A: float32[M, 128], B: float16x2[n] align=16, n: int32, out: handle, q: "
    "float32*global):\n"
    "    launch:\n"
    "        grid = (M, 1, 1)\n"
    "        block = (128, 2, 1)\n"
    "        cluster = (2, 1, 1)\n"
    "        dynamic_smem_bytes = n * 4\n"
    "        min_blocks_per_sm = 2\n"
    "        max_blocks_per_cluster = 8\n"
    "        max_registers = 64\n"
    "        cooperative\n"
    "    alloc As: float32[8, 8] shared layout=S[(8,8):(1,8)]\n"
    "    view V: float32[64] shared = &As[0, 0]\n"
    "    view W: float32x4[16] shared = As.data\n"
    "    alloc r: float32x4[8] local align=16\n"
    "    x: int32 = 0\n"
    "    y: float32\n"
    "    x = x + thread_idx.x * 4\n"
    "    let t: int64 = int64(n) * 3_int64 - -5_int64\n"
    "    for i in serial(8):\n"
    "        if i < n and not (i == 3 or True):\n"
    "            As[i, x % 8] = A[block_idx.x, i] * 2.0\n"
    "        elif i > 5:\n"
    "            continue\n"
    "        else:\n"
    "            break\n"
    "    for i in unroll(4, start=2, step=2):\n"
    "        pass\n"
    "    for j: int64 in vectorized(t, start=0):\n"
    "        pass\n"
    "    for k in pragma_unroll(16, factor=4):\n"
    "        while x < 5:\n"
    "            x = x + 1\n"
    "    block:\n"
    "        cta_sync()\n"
    "        printf(\"%d \\\"x\\\"\\n\\x1b\", x, -(3), -3, ~x, (x + 1) * 2, x - (n - 1))\n"
    "    y = select(x < 3, 1.5, float32(0.1_float16)) + min(0.1, 1e+30) - max(inf, -inf)\n"
    "    V[ramp(x * 4, 1, 4)] = broadcast(y, 4)\n"
    "    r[0] = vector(y, y, 1.0, 2.0)\n"
    "    y = lane(r[0], 3) + reinterpret[float32](x) + float32(nan_bfloat16)\n"
    "    evaluate_me: uint8 = 255_uint8\n"
    "    atomic_add(&A[0, x], 1.0)\n"
    "    y = shuffle_xor(4294967295_uint32, y, 16, 32)\n"
    "    return\n";

static void text_returns(void **state) {
    base_builder out;
    ir_module *module = help_parse(*state, whole, &out);
    assert_non_null(module);
    ir_module_print(module, &out);
    if (strcmp(out.data, whole) != 0)
        fail_msg("printed:\n%s", out.data);
}

/* The example that docs/ir.md opens with is what the printer writes. Tests run in the repository's root. */
static void documented_example_returns(void **state) {
    static char page[40000];
    base_builder out;
    FILE *file = fopen("docs/ir.md", "r");
    assert_non_null(file);
    page[fread(page, 1, sizeof page - 1, file)] = 0;
    fclose(file);
    char *begin = strstr(page, "```\ntir 1\n"), *end = begin ? strstr(begin + 4, "```") : NULL;
    assert_non_null(end);
    *end = 0;
    ir_module *module = help_parse(*state, begin + 4, &out);
    if (!module)
        fail_msg("%s", out.data);
    assert_true(ir_verify(module, IR_FORM_TENSOR));
    ir_module_print(module, &out);
    assert_string_equal(out.data, begin + 4);
}

static ir_module *new_module(base_arena *arena) {
    return ir_module_create(arena, base_diagnostics_create(arena, base_sources_create(arena)));
}

static const char *printed(const ir_module *module) {
    base_builder out;
    base_builder_start(&out, module->arena);
    ir_module_print(module, &out);
    return out.data;
}

/* print, parse, print is the identity, and what is read back is equal to what was written. */
static void expect_round_trip(const ir_module *module) {
    base_builder out, difference;
    const char *first = printed(module);
    ir_module *again = help_parse(module->arena, first, &out);
    if (!again)
        fail_msg("does not read back:\n%s\n%s", out.data, first);
    const char *second = printed(again);
    if (strcmp(first, second) != 0)
        fail_msg("changed; first:\n%s\nthen:\n%s", first, second);
    assert_int_equal(module->functions.count, again->functions.count);
    for (size_t i = 0; i < module->functions.count; i++) {
        base_builder_start(&difference, module->arena);
        if (!ir_function_equal(module->functions.items[i], again->functions.items[i], &difference))
            fail_msg("differs: %s\n%s", difference.data, first);
        if (!ir_function_equal(again->functions.items[i], module->functions.items[i], &difference))
            fail_msg("differs the other way: %s\n%s", difference.data, first);
    }
}

static void random_functions_return(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        base_heap *heap = base_heap_create(NULL);
        base_arena *arena = base_arena_create(heap);
        ir_form form = seed % 2 ? IR_FORM_TENSOR : IR_FORM_FLAT;
        ir_module *module = new_module(arena);
        maker_function(module, form, seed);
        maker_function(module, form, seed + 1000);
        if (!ir_verify(module, form)) {
            base_builder out;
            base_builder_start(&out, arena);
            base_diagnostics_render(module->diagnostics, BASE_LINE, false, &out);
            fail_msg("seed %llu is not well formed:\n%s\n%s", (unsigned long long)seed, out.data,
                     printed(module));
        }
        expect_round_trip(module);
        base_heap_destroy(heap);
    }
}

static void copies_are_equal(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        base_heap *heap = base_heap_create(NULL);
        ir_module *module = new_module(base_arena_create(heap));
        ir_form form = seed % 2 ? IR_FORM_TENSOR : IR_FORM_FLAT;
        ir_function *function = maker_function(module, form, seed);
        const char *before = printed(module);
        base_builder difference;
        base_builder_start(&difference, module->arena);
        ir_function *copy = ir_function_copy(function);
        if (!ir_function_equal(function, copy, &difference))
            fail_msg("seed %llu: %s", (unsigned long long)seed, difference.data);
        module->functions.items[0] = copy;
        assert_string_equal(before, printed(module));
        assert_true(ir_verify(module, form));
        /* nothing mutable is shared: a change of the copy does not reach the original */
        if (copy->body->as.block.body.count)
            copy->body->as.block.body.count--;
        module->functions.items[0] = function;
        assert_string_equal(before, printed(module));
        base_heap_destroy(heap);
    }
}

/* Every operation of the table is written and read back, with the type its arguments say and with another. */
static void every_operation_returns(void **state) {
    ir_module *module = new_module(*state);
    ir_function *function = ir_function_create(module, "f", BASE_NO_SPAN);
    const ir_expr *eight = ir_int(module, NUM_DTYPE_I32, 8), *args[4];
    ir_type i32 = ir_type_prim(NUM_DTYPE_I32, 1), odd = ir_type_prim(NUM_DTYPE_F16, 3);
    ir_tensor_type type = {.dtype = NUM_DTYPE_I32, .lanes = 1, .rank = 1, .shape = &eight};
    ir_tensor *tensor = ir_tensor_create(module, "A", &type, IR_TENSOR_PARAMETER, NULL, BASE_NO_SPAN);
    ir_var *var = ir_var_create(module, "n", i32, IR_VAR_PARAMETER, BASE_NO_SPAN);
    ir_var *held = ir_var_create(module, "r", i32, IR_VAR_REGISTER, BASE_NO_SPAN);
    base_vector_push(module->arena, &function->parameters, (ir_parameter){"A", tensor, NULL});
    base_vector_push(module->arena, &function->parameters, (ir_parameter){"n", NULL, var});
    for (int i = 0; i < 4; i++)
        args[i] = ir_var_use(module, var);
    for (int op = 0; op < IR_OP_COUNT; op++) {
        const ir_op_info *info = ir_op_information((ir_op)op);
        uint32_t count = info->arguments < 0 ? 2 : (uint32_t)info->arguments;
        for (int variant = 0; variant < 2; variant++) {
            const ir_expr *e, *data = ir_data(module, tensor);
            switch (op) {
            case IR_INT:
                e = ir_int(module, variant ? NUM_DTYPE_U64 : NUM_DTYPE_I32, -1);
                break;
            case IR_FLOAT:
                e = ir_float(module, variant ? NUM_DTYPE_F8E5M2 : NUM_DTYPE_F32, -0.1);
                break;
            case IR_STRING:
                e = ir_string(module, variant ? "\\\"\n\t\xff" : "");
                break;
            case IR_VAR:
            case IR_REGISTER:
                e = ir_var_use(module, op == IR_VAR ? var : held);
                break;
            case IR_LOAD:
                e = ir_load(module, tensor, args, 1);
                break;
            case IR_ADDRESS:
                e = ir_address(module, tensor, args, 1);
                break;
            case IR_DATA:
                e = data;
                break;
            case IR_REGION:
                e = ir_region(module, tensor, args, args + 1);
                break;
            case IR_LANE:
                e = ir_lane(module, args[0], (unsigned)variant);
                break;
            case IR_THREAD_IDX:
            case IR_BLOCK_IDX:
            case IR_BLOCK_DIM:
            case IR_GRID_DIM:
                e = ir_query(module, (ir_op)op, variant + 1);
                break;
            case IR_POINTER_LOAD:
                e = ir_pointer_load(module, variant ? odd : i32, data, args[0],
                                    variant ? ir_load(module, tensor, args, 1) : NULL);
                break;
            case IR_POINTER_ADDRESS:
                e = ir_pointer_address(
                    module, variant ? ir_type_pointer(NUM_DTYPE_NONE, 1, IR_SCOPE_SHARED) : data->type, data,
                    args[0], variant ? ir_address(module, tensor, args, 1) : NULL);
                break;
            default:
                e = ir_make(module, (ir_op)op, variant ? odd : i32, args, count);
            }
            ir_stmt *s = ir_stmt_create(module, IR_STMT_EVALUATE, BASE_NO_SPAN);
            s->as.evaluate.value = e;
            ir_block_add(module, function->body, s);
            assert_int_equal(e->op, op);
        }
    }
    expect_round_trip(module);
}

/* The table itself: names are unique words, every row says what the operation is. */
static void table_is_consistent(void **state) {
    (void)state;
    for (int i = 0; i < IR_OP_COUNT; i++) {
        const ir_op_info *info = ir_op_information((ir_op)i);
        assert_true(strlen(info->name) > 1 && strlen(info->text) > 3 &&
                    strncmp(info->enumerator, "IR_", 3) == 0);
        assert_true(info->arguments >= -1 && info->arguments <= 4);
        /* foldable is pure; what writes or synchronises is not pure; a result is either exact or bounded */
        assert_true(!(info->flags & IR_FLAG_FOLD) || (info->flags & IR_FLAG_PURE));
        assert_false((info->flags & IR_FLAG_PURE) &&
                     (info->flags & (IR_FLAG_WRITES | IR_FLAG_SYNC | IR_FLAG_READS)));
        assert_false((info->flags & IR_FLAG_EXACT) && (info->flags & IR_FLAG_BOUNDED));
        for (int k = 0; k < i; k++)
            assert_string_not_equal(info->name, ir_op_information((ir_op)k)->name);
    }
}

/* One expression, one pointer; ids follow creation, children first. */
static void expressions_are_interned(void **state) {
    ir_module *module = new_module(*state);
    ir_var *var = ir_var_create(module, "x", ir_type_prim(NUM_DTYPE_I32, 1), IR_VAR_LET, BASE_NO_SPAN);
    const ir_expr *x = ir_var_use(module, var), *sum = NULL;
    for (int round = 0; round < 2; round++) {
        const ir_expr *e = x;
        for (int i = 0; i < 2000; i++) {
            const ir_expr *args[] = {e, ir_int(module, NUM_DTYPE_I32, i)};
            e = ir_make(module, IR_MUL, x->type, args, 2);
            assert_true(e->args[0]->id < e->id && e->args[1]->id < e->id);
        }
        assert_true(sum == NULL || sum == e);
        sum = e;
    }
    assert_int_equal(sum->depth, 2000);
    assert_ptr_not_equal(ir_int(module, NUM_DTYPE_I32, 1), ir_int(module, NUM_DTYPE_I64, 1));
    assert_ptr_not_equal(ir_float(module, NUM_DTYPE_F32, 0.0), ir_float(module, NUM_DTYPE_F32, -0.0));
    assert_ptr_equal(ir_float(module, NUM_DTYPE_F32, __builtin_nan("1")),
                     ir_float(module, NUM_DTYPE_F32, -__builtin_nan("")));
    assert_ptr_equal(ir_int(module, NUM_DTYPE_I8, 255), ir_int(module, NUM_DTYPE_I8, -1));
    assert_ptr_equal(ir_float(module, NUM_DTYPE_F16, 0.1), ir_float(module, NUM_DTYPE_F16, 0.0999755859375));
    assert_ptr_equal(ir_string(module, "a"), ir_string(module, "a"));
}

/* ---- what a person sees ---- */

static void scalar_forms_print_alike(void **state) {
    base_builder out;
    ir_module *a = help_parse(*state, "tir 1\nfunction f():\n    x: int32 = 0\n    x = x + 1\n", &out);
    ir_module *b = help_parse(
        *state, "tir 1\nfunction f():\n    alloc x: int32[1] local\n    x[0] = 0\n    x[0] = x[0] + 1\n",
        &out);
    assert_non_null(a);
    assert_non_null(b);
    assert_true(ir_function_equal(a->functions.items[0], b->functions.items[0], NULL));
    assert_string_equal(printed(a), printed(b));
    assert_non_null(strstr(printed(b), "    x: int32 = 0\n    x = x + 1\n"));
    b = help_parse(*state, "tir 1\nfunction f():\n    alloc x: int32[1] shared\n    x[0] = 0\n", &out);
    assert_non_null(strstr(printed(b), "    alloc x: int32[1] shared\n    x[0] = 0\n"));
}

static void names_stay_where_unique(void **state) {
    base_builder out;
    ir_module *module = new_module(*state);
    ir_function *function = ir_function_create(module, "f", BASE_NO_SPAN);
    ir_type i32 = ir_type_prim(NUM_DTYPE_I32, 1);
    static const char *const names[] = {"i", "i", "min", "a.b", "i_1", "int32", "9x", ""};
    for (size_t i = 0; i < 8; i++) {
        ir_stmt *s = ir_stmt_create(module, IR_STMT_LET, BASE_NO_SPAN);
        s->as.let.var = ir_var_create(module, names[i], i32, IR_VAR_LET, BASE_NO_SPAN);
        s->as.let.value = ir_int(module, NUM_DTYPE_I32, (int64_t)i);
        ir_block_add(module, function->body, s);
    }
    base_builder_start(&out, *state);
    ir_module_print(module, &out);
    assert_string_equal(out.data,
                        "tir 1\n\nfunction f():\n"
                        "    let i: int32 = 0\n    let i_1: int32 = 1\n    let min_1: int32 = 2\n"
                        "    let a_b: int32 = 3\n    let i_1_1: int32 = 4\n    let int32_1: int32 = 5\n"
                        "    let _9x: int32 = 6\n    let v: int32 = 7\n");
    expect_round_trip(module);
}

static void differences_are_readable(void **state) {
    base_builder out;
    ir_module *a = help_parse(
        *state, "tir 1\nfunction f(A: int32[8]):\n    for i in serial(8):\n        A[i] = i + 1\n", &out);
    ir_module *b = help_parse(
        *state, "tir 1\nfunction f(A: int32[8]):\n    for i in serial(8):\n        A[i] = i + 2\n", &out);
    assert_false(ir_function_equal(a->functions.items[0], b->functions.items[0], &out));
    assert_string_equal(
        out.data, "body statement 1 (for), loop statement 1 (store): the value differs (different numbers): "
                  "`i + 1` of type int32 and `i + 2` of type int32");
}

/* Pairs of bodies that must not be equal: each differs in one thing. */
static void unequal_functions_differ(void **state) {
    static const char *const pairs[][2] = {
        {"x: int32", "x: int64"},
        {"alloc s: int32[8] shared", "alloc s: int32[9] shared"},
        {"alloc s: int32[8] shared", "alloc s: int32[8] local"},
        {"alloc s: int32[8] shared align=16", "alloc s: int32[8] shared"},
        {"alloc s: int32[8, 8] shared layout=S[(8,8):(1,8)]", "alloc s: int32[8, 8] shared"},
        {"alloc s: int32[8, 8] shared layout=S[(8,8):(1,8)]",
         "alloc s: int32[8, 8] shared layout=S[(8,8):(1,9)]"},
        {"view v: int32[8] = A.data", "view v: int32[8] = &A[1]"},
        {"A[0] = 1", "B[0] = 1"},
        {"A[0] = n", "A[0] = m"},
        {"A[0] = 1", "A[1] = 1"},
        {"A[n] = m", "A[m] = n"},
        {"return", "pass"},
        {"cta_sync()", "warp_sync()"},
        {"if n > 0:\n        pass", "if n > 0:\n        pass\n    else:\n        pass"},
        {"for i in serial(8):\n        pass", "for i in unroll(8):\n        pass"},
        {"for i in serial(8):\n        A[i] = n", "for i in serial(8):\n        A[n] = i"},
        {"for i in serial(8):\n        pass", "for i in serial(8, step=2):\n        pass"},
        {"for i in pragma_unroll(8, factor=2):\n        pass", "for i in pragma_unroll(8):\n        pass"},
        {"printf(\"a\")", "printf(\"b\")"},
        {"let x: float32 = 0.0", "let x: float32 = -0.0"},
        {"let x: int32 = thread_idx.x", "let x: int32 = thread_idx.y"},
        {"let x: int32 = lane(broadcast(n, 4), 1)", "let x: int32 = lane(broadcast(n, 4), 2)"},
        {"A.data[0 @ &A[0]] = 1", "A.data[0] = 1"},
        {"A.data[0 @ &A[0]] = 1", "A.data[0 @ &B[0]] = 1"},
        {"A.data[0] = A.data[n @ A[n]]", "A.data[0] = A.data[n @ A[m]]"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        ir_module *modules[2];
        base_builder out;
        for (int side = 0; side < 2; side++) {
            modules[side] = help_parse(
                *state,
                base_arena_format(
                    *state, "tir 1\nfunction f(A: int32[8], B: int32[8], n: int32, m: int32):\n    %s\n",
                    pairs[i][side]),
                &out);
            if (!modules[side])
                fail_msg("%s: %s", pairs[i][side], out.data);
        }
        bool equal = ir_function_equal(modules[0]->functions.items[0], modules[1]->functions.items[0], &out);
        if (equal || out.size == 0)
            fail_msg("%s and %s are told equal, or without words", pairs[i][0], pairs[i][1]);
    }
}

/* ---- wrong text ---- */

/* clang-format off */
static const struct { const char *code; uint32_t line, column; const char *text; } wrong[] = {
    {"T0301", 3, 11, "tir 1\nfunction f():\n    let x int32 = 1\n"},
    {"T0301", 3, 23, "tir 1\nfunction f():\n    let x: int32 = 1 +\n"},
    {"T0301", 2, 1, "tir 1\nlet x: int32 = 1\n"},
    {"T0301", 3, 25, "tir 1\nfunction f(a: int32):\n    let b: bool = 0 < a < 2\n"},
    {"T0301", 2, 14, "tir 1\nfunction f(a int32):\n    pass\n"},
    {"T0301", 3, 16, "tir 1\nfunction f(a: int32):\n    thread_idx.w\n"},
    {"T0302", 4, 5, "tir 1\nfunction f():\n    if True:\n    pass\n"},
    {"T0302", 4, 1, "tir 1\nfunction f():\n    pass\n        pass\n"},
    {"T0302", 5, 1, "tir 1\nfunction f():\n    if True:\n        pass\n      pass\n"},
    {"T0302", 3, 5, "tir 1\nfunction f():\n    \tpass\n"},
    {"T0303", 3, 5, "tir 1\nfunction f():\n    x\n"},
    {"T0303", 5, 5, "tir 1\nfunction f():\n    for i in serial(4):\n        i\n    i\n"},
    {"T0304", 3, 9, "tir 1\nfunction f(x: int32):\n    let x: int32 = 1\n"},
    {"T0304", 3, 9, "tir 1\nfunction f():\n    let min: int32 = 1\n"},
    {"T0304", 2, 22, "tir 1\nfunction f(x: int32, x: int32):\n    pass\n"},
    {"T0305", 3, 20, "tir 1\nfunction f():\n    let x: int32 = 3000000000\n"},
    {"T0305", 3, 20, "tir 1\nfunction f():\n    let x: int8 = -129_int8\n"},
    {"T0305", 3, 20, "tir 1\nfunction f():\n    let x: int32 = 1_int33\n"},
    {"T0305", 3, 20, "tir 1\nfunction f():\n    let x: int32 = 12abc\n"},
    {"T0305", 3, 20, "tir 1\nfunction f():\n    let x: int32 = 99999999999999999999\n"},
    {"T0305", 3, 22, "tir 1\nfunction f():\n    let x: float16 = 1e6_float16\n"},
    {"T0305", 3, 20, "tir 1\nfunction f():\n    let x: int32 = 1.5_int32\n"},
    {"T0306", 3, 12, "tir 1\nfunction f():\n    let x: int33 = 1\n"},
    {"T0306", 3, 5, "tir 1\nfunction f(x: int32):\n    reinterpret(x)\n"},
    {"T0306", 3, 28, "tir 1\nfunction f():\n    alloc s: int32[8] align=3\n"},
    {"T0309", 3, 5, "tir 1\nfunction f():\n    min(1)\n"},
    {"T0309", 3, 5, "tir 1\nfunction f():\n    load(1)\n"},
    {"T0309", 3, 5, "tir 1\nfunction f(A: int32[8]):\n    A\n"},
    {"T0311", 1, 1, "function f():\n    pass\n"},
    {"T0311", 1, 5, "tir 2\nfunction f():\n    pass\n"},
    {"T0312", 3, 37, "tir 1\nfunction f():\n    alloc s: int32[8] shared layout=S[(8:1)]\n"},
    {"T0313", 3, 5, "tir 1\nfunction f():\n    launch:\n        grid = (1, 1, 1)\n    pass\n"},
    {"T0313", 6, 9, "tir 1\nfunction f():\n    launch:\n        grid = (1, 1, 1)\n        block = (1, 1, 1)\n        grid = (1, 1, 1)\n    pass\n"},
    {"T0314", 4, 10, "tir 1\nfunction f():\n    pass\nfunction f():\n    pass\n"},
    {"T0315", 3, 5, "tir 1\nfunction f():\n    \"abc\n"},
    {"T0315", 3, 7, "tir 1\nfunction f():\n    1 $ 2\n"},
    {"T0315", 3, 12, "tir 1\nfunction f():\n    printf(\"\\q\")\n"},
    {"T0325", 3, 5, "tir 1\nfunction f(p: float32*global):\n    p[0] = 1\n"},
    {"T0332", 4, 5, "tir 1\nfunction f():\n    let x: int32 = 1\n    x = 2\n"},
};
/* clang-format on */

static void wrong_text_is_located(void **state) {
    base_builder bad;
    base_builder_start(&bad, *state);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        base_sources *sources = base_sources_create(*state);
        base_diagnostics *diagnostics = base_diagnostics_create(*state, sources);
        uint32_t file = base_sources_add(sources, "t.tir", wrong[i].text, strlen(wrong[i].text));
        base_builder out;
        base_builder_start(&out, *state);
        if (ir_module_parse(*state, diagnostics, file) || !base_diagnostics_count(diagnostics)) {
            base_builder_format(&bad, "%s\nis taken\n", wrong[i].text);
            continue;
        }
        base_diagnostics_render(diagnostics, BASE_LINE, false, &out);
        base_place place = base_span_place(sources, base_diagnostics_at(diagnostics, 0)->span);
        if (base_diagnostics_count(diagnostics) != 1 ||
            strcmp(base_diagnostics_at(diagnostics, 0)->code, wrong[i].code) != 0 ||
            place.line != wrong[i].line || place.column != wrong[i].column)
            base_builder_format(&bad, "%s\nshould give one %s at %u:%u, gave:\n%s", wrong[i].text,
                                wrong[i].code, wrong[i].line, wrong[i].column, out.data);
    }
    if (bad.size)
        fail_msg("%s", bad.data);
}

/* One run tells every line that is wrong. */
static void all_lines_are_told(void **state) {
    base_builder out;
    static const char text[] =
        "tir 1\nfunction f(A: int32[8]):\n    let a: int33 = 1\n    A[ = 2\n    if A[0] >:\n"
        "        unknown\n    else:\n        A[1] = $\n    for i in range(3):\n        A[i] = 3\n"
        "    \"open\n    A[1] = 4\nfunctoin g():\n    pass\nfunction h(:\n    pass\n";
    assert_null(help_parse(*state, text, &out));
    static const int lines[] = {3, 4, 5, 6, 8, 9, 11, 13, 15};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char place[32];
        snprintf(place, sizeof place, "t.tir:%d:", lines[i]);
        if (!strstr(out.data, place))
            fail_msg("line %d is not told:\n%s", lines[i], out.data);
    }
    size_t count = 0;
    for (const char *c = out.data; *c; c++)
        count += *c == '\n';
    assert_int_equal(count, sizeof lines / sizeof *lines);
}

/* ---- depth ---- */

static char *deep_text(base_arena *arena, const char *open, const char *close, int depth) {
    base_builder text;
    base_builder_start(&text, arena);
    base_builder_string(&text, "tir 1\nfunction f(x: int32):\n    let y: int32 = ");
    for (int i = 0; i < depth; i++)
        base_builder_string(&text, open);
    base_builder_string(&text, "x");
    for (int i = 0; i < depth; i++)
        base_builder_string(&text, close);
    base_builder_string(&text, "\n    x + 1\n");
    return text.data;
}

static void deep_expressions(void **state) {
    static const char *const shapes[][2] = {{"(", ")"},   {"abs(", ")"},  {"-", ""},
                                            {"", " + 1"}, {"(1 + ", ")"}, {"~-", ""}};
    base_builder out;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        ir_module *module = help_parse(*state, deep_text(*state, shapes[i][0], shapes[i][1], 200), &out);
        if (!module)
            fail_msg("%s: %s", shapes[i][0], out.data);
        expect_round_trip(module);
        assert_true(ir_verify(module, IR_FORM_TENSOR));
        module = help_parse(*state, deep_text(*state, shapes[i][0], shapes[i][1], 100000), &out);
        assert_null(module);
        if (!strstr(out.data, "[T0307]") || !strstr(out.data, "t.tir:3:"))
            fail_msg("%s: %s", shapes[i][0], out.data);
    }
    /* the deepest that is allowed still returns */
    ir_module *module = help_parse(*state, deep_text(*state, "(1 + ", ")", IR_DEPTH_LIMIT), &out);
    assert_non_null(module);
    expect_round_trip(module);
}

static void deep_statements(void **state) {
    base_builder text, out;
    for (int depth = 190; depth <= 5000; depth += 4810) {
        base_builder_start(&text, *state);
        base_builder_string(&text, "tir 1\nfunction f(x: int32):\n");
        for (int i = 0; i < depth; i++) {
            base_builder_repeat(&text, ' ', 4 + (size_t)i);
            base_builder_string(&text, "while x < 3:\n");
        }
        base_builder_repeat(&text, ' ', 4 + (size_t)depth);
        base_builder_string(&text, "pass\n");
        ir_module *module = help_parse(*state, text.data, &out);
        assert_int_equal(module != NULL, depth < 200);
        if (module)
            expect_round_trip(module);
        else
            assert_non_null(strstr(out.data, "[T0308]"));
    }
    base_builder_start(&text, *state); /* every elif is a level */
    base_builder_string(&text, "tir 1\nfunction f(x: int32):\n    if x == 0:\n        pass\n");
    for (int i = 1; i < 5000; i++)
        base_builder_format(&text, "    elif x == %d:\n        pass\n", i);
    assert_null(help_parse(*state, text.data, &out));
    assert_non_null(strstr(out.data, "[T0308]"));
}

/* ---- garbage and failing memory ---- */

static uint64_t random_state = 88172645463325252u;
static unsigned pick(unsigned count) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)((random_state >> 20) % count);
}

/* Texts with bytes and pieces changed: never a crash; what still parses is printed and read back. */
static void mutated_text_is_harmless(void **state) {
    static const char *const pieces[] = {
        "(",         ")",       "[",         "]",       "\n",
        "\n    ",    "  ",      ":",         "=",       "@",
        "&",         "\"",      "\\",        "_",       "x",
        "0",         "-",       "function ", "launch:", "origin var ",
        "register ", "layout=", "float32",   "else:",   "9999999999999999999999",
        "\xff",      "\t",      "inf_",      ".data",   "1e999"};
    (void)state;
    size_t size = sizeof whole - 1, parsed = 0;
    for (int round = 0; round < 2000; round++) {
        base_heap *heap = base_heap_create(NULL);
        base_arena *arena = base_arena_create(heap);
        base_builder text, out;
        base_builder_start(&text, arena);
        size_t from = 0;
        for (unsigned edits = 1 + pick(4); edits && from < size; edits--) {
            size_t at = from + pick((unsigned)(size - from));
            base_builder_add(&text, whole + from, at - from);
            from = at + (pick(2) ? pick(12) : 0);
            if (pick(4))
                base_builder_string(&text, pieces[pick(30)]);
            from = from > size ? size : from;
        }
        if (pick(8))
            base_builder_add(&text, whole + from, size - from);
        ir_module *module = help_parse(arena, text.data, &out);
        assert_true(module || out.size > 0);
        if (module) {
            parsed++;
            ir_verify(module, round % 2 ? IR_FORM_TENSOR : IR_FORM_FLAT);
            expect_round_trip(module);
        }
        base_heap_destroy(heap);
    }
    assert_true(parsed > 20 && parsed < 1500);
}

typedef struct failing {
    long left; /* allocations until one fails */
    base_heap *heap;
    bool good;
} failing;

static void *failing_allocate(void *user, void *old, size_t old_size, size_t new_size) {
    failing *f = user;
    (void)old_size;
    if (new_size == 0) {
        free(old);
        return NULL;
    }
    if (f->left >= 0 && f->left-- == 0)
        return NULL;
    return realloc(old, new_size);
}

static void build_print_parse(void *user) {
    failing *f = user;
    base_arena *arena = base_arena_create(f->heap);
    base_builder out;
    for (uint64_t seed = 3; seed < 9; seed++) {
        ir_module *module = new_module(arena);
        maker_function(module, seed % 2 ? IR_FORM_TENSOR : IR_FORM_FLAT, seed);
        ir_module *again = help_parse(arena, printed(module), &out);
        f->good = again && ir_verify(again, seed % 2 ? IR_FORM_TENSOR : IR_FORM_FLAT) &&
                  ir_function_equal(module->functions.items[0], again->functions.items[0], NULL) &&
                  ir_function_copy(module->functions.items[0]) != NULL;
        if (!f->good)
            return;
    }
}

/* The n-th allocation fails, for every n: the run ends with the reason, and everything is given back. */
static void allocations_may_fail(void **state) {
    (void)state;
    base_outcome outcome = BASE_OUT_OF_MEMORY;
    long n = 0;
    for (; outcome != BASE_DONE; n++) {
        failing f = {.left = -1};
        base_heap_options options = {.allocate = failing_allocate, .user = &f};
        f.heap = base_heap_create(&options);
        size_t before = base_heap_used(f.heap);
        f.left = n;
        outcome = base_heap_run(f.heap, build_print_parse, &f);
        assert_true(outcome == BASE_OUT_OF_MEMORY || outcome == BASE_DONE);
        if (outcome == BASE_OUT_OF_MEMORY)
            assert_int_equal(base_heap_used(f.heap), before);
        else
            assert_true(f.good);
        base_heap_destroy(f.heap);
    }
    assert_true(n > 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(text_returns),
        UNIT_WITH_ARENA(documented_example_returns),
        UNIT_WITH_ARENA(random_functions_return),
        UNIT_WITH_ARENA(copies_are_equal),
        UNIT_WITH_ARENA(every_operation_returns),
        UNIT_WITH_ARENA(table_is_consistent),
        UNIT_WITH_ARENA(expressions_are_interned),
        UNIT_WITH_ARENA(scalar_forms_print_alike),
        UNIT_WITH_ARENA(names_stay_where_unique),
        UNIT_WITH_ARENA(differences_are_readable),
        UNIT_WITH_ARENA(unequal_functions_differ),
        UNIT_WITH_ARENA(wrong_text_is_located),
        UNIT_WITH_ARENA(all_lines_are_told),
        UNIT_WITH_ARENA(deep_expressions),
        UNIT_WITH_ARENA(deep_statements),
        UNIT_WITH_ARENA(mutated_text_is_harmless),
        UNIT_WITH_ARENA(allocations_may_fail),
    };
    return cmocka_run_group_tests_name("ir_text", tests, NULL, NULL);
}
