/* SPDX-License-Identifier: Apache-2.0
 * Tile operations in IR text: what they become, and what the text form can say that no script does. The
 * values are compared in tests/tile. */
#include "unit/unit.h"
#include "unit/lower_help.h"

#define HEAD "    launch:\n        grid = (1, 1, 1)\n        block = (128, 1, 1)\n"

typedef struct row {
    const char *tir, *begin, *expected;
} row;

/* clang-format off */
static const row rows[] = {
    /* threads have work before vectors are long: 192 pairs over 128 threads */
    {"function k(A: float32[6, 64], B: float32[6, 64]):\n" HEAD
     "    tile_operation(\"copy\", \"cta\", \"\", B.region(0, 6, 0, 64), A.region(0, 6, 0, 64))\n",
     "let chunk",
     "let chunk: int32 = i * 128 + thread_idx.x\n"
     "if chunk < 192:\n"
     "    B.data[(chunk >> 5) * 64 + (thread_idx.x & 31) * 2 : float32x2 @ &B[chunk // 32, ramp(chunk % 32 * 2, 1, 2)]]"
     " = A.data[(chunk >> 5) * 64 + (thread_idx.x & 31) * 2 : float32x2 @ A[chunk // 32, ramp(chunk % 32 * 2, 1, 2)]]\n"},
    /* sixteen bytes for each thread, no guard where the threads take all of it */
    {"function k(A: float32[8, 64], B: float32[8, 64]):\n" HEAD
     "    tile_operation(\"copy\", \"cta\", \"\", B.region(0, 8, 0, 64), A.region(0, 8, 0, 64))\n",
     "B.data",
     "B.data[(thread_idx.x >> 4) * 64 + (thread_idx.x & 15) * 4 : float32x4 @ "
     "&B[thread_idx.x // 16, ramp(thread_idx.x % 16 * 4, 1, 4)]] = "
     "A.data[(thread_idx.x >> 4) * 64 + (thread_idx.x & 15) * 4 : float32x4 @ "
     "A[thread_idx.x // 16, ramp(thread_idx.x % 16 * 4, 1, 4)]]\n"},
    /* a start that no one knows: one by one */
    {"function k(A: float32[256], B: float32[256], n: int32):\n" HEAD
     "    tile_operation(\"copy\", \"cta\", \"\", B.region(0, 128), A.region(n, 128))\n",
     "B.data",
     "B.data[thread_idx.x @ &B[thread_idx.x]] = A.data[n + thread_idx.x @ A[n + thread_idx.x]]\n"},
    /* the layout of the registers says who takes what */
    {"function k(A: float32[32, 2]):\n" HEAD
     "    alloc r: float32[32, 2] local layout=S[(32,2):(1@laneid,1)]\n"
     "    tile_operation(\"copy\", \"warp\", \"\", A.region(0, 32, 0, 2), r.region(0, 32, 0, 2))\n",
     "A.data",
     "A.data[lane_id() * 2 : float32x2 @ &A[lane_id(), ramp(0, 1, 2)]] = r_1.data[0 : float32x2 @ r[ramp(0, 1, 2)]]\n"},
};

static const struct {
    const char *code, *text, *line;
} refusals[] = {
    {"T0560", "copy takes 2 operands, not 1", "\"copy\", \"cta\", \"\", A.region(0, 8)"},
    {"T0560", "operand 1 of copy must be a region", "\"copy\", \"cta\", \"\", A.region(0, 8), 3.0"},
    {"T0560", "operand 1 of add must be a region or a number", "\"add\", \"cta\", \"\", A.region(0, 8), A.data, 1.0"},
    {"T0560", "scale= of exp has the wrong type",
     "\"exp\", \"cta\", \"\", A.region(0, 8), A.region(0, 8), \"scale\", \"x\""},
    {"T0560", "select needs pred=", "\"select\", \"cta\", \"\", A.region(0, 8), 1.0, 2.0"},
    {"T0560", "index= of select has the wrong type",
     "\"select\", \"cta\", \"\", A.region(0, 8), 1.0, 2.0, \"pred\", True, \"index\", 3"},
    {"T0560", "none that is empty", "\"zero\", \"cta\", \"\", A.region(0, 0)"},
    {"T0560", "none that is empty", "\"zero\", \"cta\", \"\", A.region(0, -4)"},
    {"T0561", "no tile operation is called 'melt'", "\"melt\", \"cta\", \"\", A.region(0, 8)"},
    {"T0561", "at scope 'crowd'", "\"zero\", \"crowd\", \"\", A.region(0, 8)"},
    {"T0562", "axis 7: 'A' has 1 axes",
     "\"sum\", \"warp\", \"\", A.region(0, 1), A.region(0, 8), \"axes\", 7"},
    {"T0562", "needs mbar=", "\"copy_async\", \"thread\", \"tma\", s.region(0, 8), A.region(0, 8)"},
    {"T0562", "must be in tensor memory",
     "\"gemm_async\", \"thread\", \"\", A.region(0, 8), s.region(0, 8), s.region(0, 8)"},
    {"T0563", "zero has no dispatch \"magic\"", "\"zero\", \"cta\", \"magic\", A.region(0, 8)"},
};
/* clang-format on */

static void flat_text(void **state) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        help_lowered h = help_lower(*state, rows[i].tir, LOWER_FOR_CUDA);
        const char *text = help_flat(&h, rows[i].begin);
        if (strcmp(text, rows[i].expected) != 0)
            fail_msg("row %zu:\n%s\nexpected:\n%s", i, text, rows[i].expected);
        h = help_lower(*state, rows[i].tir, LOWER_FOR_PTX);
        if (!h.result)
            fail_msg("row %zu for PTX:\n%s", i, help_messages(&h));
    }
}

static void refused_text(void **state) {
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        const char *tir = base_arena_format(*state,
                                            "function k(A: float32[8]):\n" HEAD
                                            "    alloc s: float32[8] shared\n    tile_operation(%s)\n",
                                            refusals[i].line);
        help_lowered h = help_lower(*state, tir, LOWER_FOR_PTX);
        base_builder out;
        base_builder_start(&out, h.arena);
        base_diagnostics_render(h.diagnostics, BASE_TEXT, false, &out);
        const char *messages = out.data ? out.data : "";
        if (h.result || !strstr(messages, refusals[i].code) || !strstr(messages, refusals[i].text) ||
            !strstr(messages, "t.tir:8:"))
            fail_msg("%s\ngave:\n%s", refusals[i].line, messages);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(flat_text),
        UNIT_WITH_ARENA(refused_text),
    };
    return cmocka_run_group_tests_name("lower_tiles", tests, NULL, NULL);
}
