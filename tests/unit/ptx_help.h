/* SPDX-License-Identifier: Apache-2.0
 * What the PTX tests share: text to module, and the diagnostics as lines. */
#ifndef TIRC_TESTS_PTX_HELP_H
#define TIRC_TESTS_PTX_HELP_H
#include "unit/unit.h"
#include "ptx/ptx.h"
#include <string.h>

typedef struct ptx_case {
    base_arena *arena;
    base_sources *sources;
    base_diagnostics *diagnostics;
    ptx_module *module;
} ptx_case;

static inline ptx_case ptx_case_sized(base_arena *arena, const char *text, size_t size) {
    ptx_case c = {.arena = arena, .sources = base_sources_create(arena)};
    c.diagnostics = base_diagnostics_create(arena, c.sources);
    c.module = ptx_parse(arena, c.diagnostics, base_sources_add(c.sources, "case.ptx", text, size));
    return c;
}

static inline ptx_case ptx_case_parse(base_arena *arena, const char *text) {
    return ptx_case_sized(arena, text, strlen(text));
}

/* Every diagnostic on a line of its own. */
static inline const char *ptx_case_messages(const ptx_case *c) {
    base_builder out;
    base_builder_start(&out, c->arena);
    base_diagnostics_render(c->diagnostics, BASE_LINE, false, &out);
    return out.data;
}

/* The code of the only diagnostic; "" when there is none, "many" when there are several. */
static inline const char *ptx_case_code(const ptx_case *c) {
    size_t count = base_diagnostics_count(c->diagnostics);
    return count == 0 ? "" : count > 1 ? "many" : base_diagnostics_at(c->diagnostics, 0)->code;
}

#define PTX_HEADER ".version 9.0\n.target sm_100a\n.address_size 64\n"

/* A kernel with a register of each kind around the instructions given. */
static inline const char *ptx_case_kernel(base_arena *arena, const char *target, const char *body) {
    return base_arena_format(
        arena,
        ".version 9.0\n.target %s\n.address_size 64\n.extern .shared .align 16 .b8 smem[];\n"
        ".visible .entry k(.param .u64 p)\n{\n.reg .pred %%p<8>;\n.reg .b16 %%h<16>;\n"
        ".reg .b32 %%r<300>;\n.reg .b64 %%rd<40>;\n.reg .b128 %%q<4>;\n.reg .f32 %%f<140>;\n"
        ".reg .f64 %%fd<12>;\n.reg .f16 %%hf<4>;\n%s\nret;\n}\n",
        target, body);
}

static inline const char *ptx_case_print(base_arena *arena, const ptx_module *module, bool lines,
                                         bool origins) {
    base_builder out;
    base_builder_start(&out, arena);
    ptx_print(module, &(ptx_print_options){.lines = lines, .origins = origins}, &out);
    return out.data;
}
#endif
