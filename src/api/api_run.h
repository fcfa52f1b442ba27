/* SPDX-License-Identifier: Apache-2.0
 * Between arguments by name and a launch of the machine. Private to api/. */
#ifndef TIRC_API_API_RUN_H
#define TIRC_API_API_RUN_H
#include "api/api_private.h"

/* One run being prepared: what the kernel wants, what was given, what the machine gets. */
typedef struct api_run {
    tirc_module *module;
    const tirc_launch *launch;
    size_t kernel; /* index in module->kernels */
    api_code *code;
    const lower_plan *plan;      /* scripts */
    const tirc_argument **given; /* per parameter; NULL: not given */
    int64_t *sizes;              /* value per parameter of kind is_size or integer scalar */
    bool *size_known;
    vm_launch machine;
    vm_argument *arguments;
    vm_buffer *buffers;
    void **repacked;       /* per buffer: physical storage made here, or NULL */
    uint32_t *repacked_of; /* per buffer: parameter index */
    vm_result *result;
    tirc_report *report;
    double seconds;
    bool device_data; /* tensors' data are addresses of a GPU: neither read nor laid out anew */
    tirc_status status;
} api_run;

/* The kernel by name, or the only one; false after a diagnostic. */
bool api_find_kernel(tirc_module *module, const char *name, size_t *index);
/* Its name in the code. */
const char *api_machine_kernel(const api_run *run);
/* Matches arguments to parameters by name (or by number), reports what is missing, unknown or given twice. */
bool api_bind_names(api_run *run);
/* Scripts: dtypes, ranks, extents; sizes from shapes; scalars; storage for layouts. */
bool api_bind_script(api_run *run);
bool api_bind_ptx(api_run *run);
/* PTX: one value per parameter by position, as the driver's launch takes them. */
bool api_bind_values(api_run *run);
/* Grid, block and dynamic shared memory from the plan or from the caller. */
bool api_bind_launch(api_run *run);
/* Copies physical storage made for layouts back to the caller's arrays. */
void api_unpack_storage(api_run *run);
/* Runs the machine; the findings are those of the tools that the launch names. */
vm_result *api_run_machine(api_run *run, vm_launch *launch);
/* The machine under every schedule; the result is that of EARLY, already reported. False: another schedule
 * gives something else, which is reported too. */
bool api_run_schedules(api_run *run);
#endif
