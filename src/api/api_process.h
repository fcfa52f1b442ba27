/* SPDX-License-Identifier: Apache-2.0
 * One program run to its end in a folder of its own. Private to api/. */
#ifndef TIRC_API_API_PROCESS_H
#define TIRC_API_API_PROCESS_H
#include "base/text.h"

typedef enum api_process_end {
    API_PROCESS_DONE,   /* it ended by itself */
    API_PROCESS_LATE,   /* it took too long and was ended */
    API_PROCESS_FAILED, /* it could not be started, was ended, or what it wrote could not be read */
    API_PROCESS_STOPPED /* somebody asked this process to end while it ran */
} api_process_end;

typedef struct api_process {
    const char *const *arguments; /* the first one is the program's path; no shell */
    const char *input_name, *input;
    size_t input_size;
    const char *output_name; /* read when it ended with status 0 */
    unsigned seconds;
} api_process;

/* The program starts in a new folder that only this user can enter, with the input as a file in it; the
 * folder is its TMPDIR too and goes with everything in it. It reads nothing else. output gets its output
 * file, log what it printed. */
api_process_end api_process_run(const api_process *process, int *status, base_builder *output,
                                base_builder *log);
#endif
