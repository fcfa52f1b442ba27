/* SPDX-License-Identifier: Apache-2.0
 * generate SEED COUNT: prints a script with COUNT random kernels, g0 to gCOUNT-1. */
#include "generate.h"
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **words) {
    if (count != 3) {
        fputs("usage: generate SEED COUNT\n", stderr);
        return 2;
    }
    uint64_t seed = strtoull(words[1], NULL, 10);
    int kernels = atoi(words[2]);
    printf("# SPDX-License-Identifier: Apache-2.0\n# generate %s %s\n"
           "from tvm_tirx.script import tirx as T\n\n\n",
           words[1], words[2]);
    for (int i = 0; i < kernels; i++) {
        generator g = {.state =
                           seed * UINT64_C(0x2545f4914f6cdd1d) + (uint64_t)i * UINT64_C(0x632be59bd9b4e019)};
        const char *name = format(&g, "g%d", i);
        random_bits(&g);
        int kind = below(&g, 100);
        if (kind < 8)
            bounded_kernel(&g, name);
        else
            exact_kernel(&g, name, kind < 16);
        fputs(g.out, stdout);
        free(g.out);
        forget_texts(&g);
    }
    return 0;
}
