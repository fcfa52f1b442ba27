/* SPDX-License-Identifier: Apache-2.0
 * Words of findings by subject, one file each; inside src/check only. Each answers false for findings that
 * are not its own. */
#ifndef TIRC_CHECK_CHECK_WORDS_H
#define TIRC_CHECK_CHECK_WORDS_H
#include "check/check.h"

bool check_words_async(const vm_finding *finding, base_builder *out, const char **help);
#endif
