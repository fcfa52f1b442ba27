/* SPDX-License-Identifier: Apache-2.0
 * What the tests of ir share: parsing a text, and the diagnostics of it as one-line text. */
#ifndef TIRC_TESTS_IR_HELP_H
#define TIRC_TESTS_IR_HELP_H
#include "ir/ir.h"
#include <string.h>

/* Parses; on errors prints them to *out and returns NULL. Starts *out. */
static inline ir_module *help_parse(base_arena *arena, const char *text, base_builder *out) {
    base_sources *sources = base_sources_create(arena);
    base_diagnostics *diagnostics = base_diagnostics_create(arena, sources);
    uint32_t file = base_sources_add(sources, "t.tir", text, strlen(text));
    ir_module *module = ir_module_parse(arena, diagnostics, file);
    base_builder_start(out, arena);
    if (!module)
        base_diagnostics_render(diagnostics, BASE_LINE, false, out);
    return module;
}
#endif
