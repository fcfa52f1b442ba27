/* SPDX-License-Identifier: Apache-2.0
 * What tirc layout and tirc fragment share. */
#ifndef TIRC_CLI_LAYOUT_H
#define TIRC_CLI_LAYOUT_H
#include "cli/cli.h"

/* "8,64" to numbers, at most TIRC_RANK_MAX of them; false after a usage message. */
bool cli_numbers(const cli_arguments *arguments, const char *option, const char *text, int64_t *numbers,
                 uint32_t *count);
typedef tirc_status (*cli_drawing)(void *user, tirc_picture picture, tirc_sink sink, void *to);
/* Draws to a file that appears only when it is whole; NULL or "-": standard output. */
tirc_status cli_draw_to(const char *path, cli_drawing draw, void *user, tirc_picture picture);
/* --color, or whether standard output is a terminal. */
bool cli_wants_colour(const cli_arguments *arguments);
#endif
