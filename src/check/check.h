/* SPDX-License-Identifier: Apache-2.0
 * Words for what the machine found: codes, severities, merging, text. Static rules over a PTX module join
 * here. Knows the machine's raw findings and PTX, nothing of scripts or the command line. */
#ifndef TIRC_CHECK_CHECK_H
#define TIRC_CHECK_CHECK_H
#include "vm/vm.h"

/* Reports every finding of the result as a diagnostic (T07xx) at its instruction's place. */
void check_report_findings(base_diagnostics *diagnostics, const ptx_module *module, const vm_result *result);
/* Which tool of `tirc check --tool` a kind belongs to; 0: none, it is always reported. */
enum { CHECK_MEMORY = 1, CHECK_INITIAL = 2, CHECK_RACES = 4, CHECK_BARRIERS = 8, CHECK_TENSOR_MEMORY = 16 };
uint32_t check_finding_tool(vm_finding_kind kind);
/* The code of a kind of finding: "T0702". */
const char *check_finding_code(vm_finding_kind kind);
#endif
