/* SPDX-License-Identifier: Apache-2.0
 * What the analyzer keeps with a module: one pointer, for a table that it reads once and not for every
 * function. Modules that share their expressions share it. Knows nothing of what is kept. */
#ifndef TIRC_IR_IR_KEEP_H
#define TIRC_IR_IR_KEEP_H
#include "ir/ir.h"

/* NULL at first; what it points to lies in the module's arena. */
const void **ir_module_keep(ir_module *module);
#endif
