/* SPDX-License-Identifier: Apache-2.0
 * The verifier, shared by its files: statements with their scopes (ir_verify.c), one operation over its
 * arguments (ir_verify_expr.c), tensors, parameters and launch (ir_verify_head.c). Not for other modules. */
#ifndef TIRC_IR_IR_VERIFY_H
#define TIRC_IR_IR_VERIFY_H
#include "ir/ir_private.h"

typedef struct ir_definition {
    base_span span;
    bool live;
} ir_definition;

typedef struct ir_verifier {
    ir_module *module;
    base_arena *arena;
    ir_form form;
    base_map *definitions; /* var or tensor -> ir_definition */
    BASE_VECTOR(ir_definition *) open;
    base_map *assigned, *views, *checked;
    base_span span; /* of the statement at hand */
    unsigned depth, loops;
    const ir_stmt *dynamic; /* the first shared.dyn allocation */
    size_t errors;
} ir_verifier;

base_diagnostic *ir_verifier_report(ir_verifier *verifier, const char *code, const char *help,
                                    const char *format, ...) __attribute__((format(printf, 4, 5)));
const char *ir_verifier_shown(ir_verifier *verifier, const ir_expr *e); /* its text, cut where long */
const char *ir_verifier_type(ir_verifier *verifier, ir_type type);
void ir_verifier_define(ir_verifier *verifier, const void *key, const char *name, base_span span);
bool ir_verifier_is_live(const ir_verifier *verifier, const void *key);
/* A whole expression where it stands: size, types of all operations inside, scopes. False after a report. */
bool ir_verifier_root(ir_verifier *verifier, const ir_expr *e);

/* One operation, arguments not looked into. */
void ir_verify_operation(ir_verifier *verifier, const ir_expr *e);
/* One integer per axis, the last may be a vector. */
bool ir_verify_indices(ir_verifier *verifier, const ir_tensor *tensor, const ir_expr *const *indices,
                       uint32_t count, bool vector);

void ir_verify_tensor(ir_verifier *verifier, const ir_tensor *tensor);
void ir_verify_head(ir_verifier *verifier, const ir_function *function);
#endif
