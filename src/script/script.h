/* SPDX-License-Identifier: Apache-2.0
 * Scripts: text to AST, AST to IR in tensor form. One dialect table maps the words of every TIRx dialect to
 * IR builders. Knows nothing of lowering or back ends; reads no file but the text it is given. */
#ifndef TIRC_SCRIPT_SCRIPT_H
#define TIRC_SCRIPT_SCRIPT_H
#include "ir/ir.h"

/* -D NAME=EXPR: a module-level name, evaluated in the module's compile-time environment before the file. */
typedef struct script_define {
    const char *name, *text;
} script_define;

typedef struct script_options {
    const script_define *defines;
    size_t define_count;
    uint64_t step_limit; /* evaluator steps; 0: default 10 million */
    /* The text of a file that the script imports, by its path ("a/b.py"): its number in the sources; 0: there
     * is none. NULL: no file is read. */
    uint32_t (*read)(void *user, const char *path);
    void *read_user;
    uint32_t depth_limit; /* nesting of expressions and calls; 0: default 200 */
    /* Where the names of the tree are kept, which become those of the module; NULL: in the tree's arena. */
    base_names *names;
} script_options;

typedef struct script_ast script_ast;
/* Never NULL; errors are reported and the statements around them are kept, so that one run shows all. */
script_ast *script_parse(base_arena *arena, base_diagnostics *diagnostics, uint32_t file,
                         const script_options *options);
void script_ast_print(const script_ast *ast, base_builder *out); /* one node a line, indented, with places */
/* Canonical text of the script: comments kept, spacing normalised (tirc fmt). False when it did not parse. */
bool script_format(base_arena *arena, base_diagnostics *diagnostics, uint32_t file, base_builder *out);

/* Evaluates the module level and every decorated function (entry NULL) or the named one. Returns the IR
 * module in tensor form; check base_diagnostics_errors. */
ir_module *script_evaluate(base_arena *arena, base_diagnostics *diagnostics, const script_ast *ast,
                           const char *entry, const script_options *options);
/* The layout that the one expression of the file gives, every word and axis known by its name alone; NULL:
 * reported. */
const layout_tile *script_evaluate_layout(base_arena *arena, base_diagnostics *diagnostics, uint32_t file);
/* Every word of the dialect table, for docs and completion: "alloc_shared", "cuda.cta_sync", ... NULL at the
 * end. */
const char *script_word(size_t index, const char **signature, const char **summary);
#endif
