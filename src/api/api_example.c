/* SPDX-License-Identifier: Apache-2.0
 * The wrong and the right kernel of a code, as docs/explain has them. The rows are made from those files when
 * the library is built; tests/explain runs every one. */
#include "tirc.h"
#include <string.h>

static const struct {
    const char *code, *command[2], *text[2]; /* wrong, right */
} examples[] = {
#include "api_examples.inc"
};

bool tirc_example(const char *code, bool right, const char **command, const char **text) {
    for (size_t i = 0; code && i < sizeof examples / sizeof examples[0]; i++) {
        if (strcmp(examples[i].code, code) != 0)
            continue;
        if (command)
            *command = examples[i].command[right];
        if (text)
            *text = examples[i].text[right];
        return true;
    }
    return false;
}
