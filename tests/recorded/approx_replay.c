/* SPDX-License-Identifier: Apache-2.0
 * approx_replay RECORDED.txt [-a] [FORM]: the machine's model of the special function unit against digests of
 * what an H200 gave for all inputs (approx_record.c): every sign and exponent with -a, else four of them.
 * Prints TAP, a line for each instruction. */
#include "approx.h"
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "vm/vm_approx.h"

static bool function_of(const char *form, vm_approx *function) {
    static const char *const names[] = {"rcp.", "rsqrt.", "sqrt.", "sin.", "cos.", "lg2.", "ex2.", "tanh."};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(form, names[i], strlen(names[i])) == 0) {
            *function = (vm_approx)i;
            return true;
        }
    return false;
}

static uint64_t digest(const approx_form *form, vm_approx function, uint32_t block) {
    uint64_t sum = 0;
    uint32_t count = (uint32_t)(approx_inputs(form) / approx_blocks(form));
    bool ftz = strstr(form->text, ".ftz") != NULL, bf16 = strstr(form->text, "bf16") != NULL;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t x = block * count + i;
        sum += approx_mix(x, form->kind == APPROX_F32   ? vm_approx_f32(function, ftz, x)
                             : form->kind == APPROX_F64 ? vm_approx_f64(function, x)
                                                        : vm_approx_half(function, bf16, (uint16_t)x));
    }
    return sum;
}

/* Zero, 1 to 2, and two more of each sign. */
static bool is_chosen(const approx_form *form, uint32_t block) {
    uint32_t half = approx_blocks(form) / 2, one = half / 2 - 1;
    return half == 0 || block == 0 || block == one || block == one + 2 || block == half + one;
}

int main(int count, char **arguments) {
    static char line[80000];
    bool all = count >= 3 && !strcmp(arguments[2], "-a"), bad = false;
    const char *only = count == 3 + all ? arguments[2 + all] : NULL;
    FILE *file = count >= 2 ? fopen(arguments[1], "r") : NULL;
    unsigned number = 0;
    if (!file || count > 3 + all) {
        fprintf(stderr, "usage: approx_replay RECORDED.txt [-a] [FORM]\n");
        return 2;
    }
    while (fgets(line, sizeof line, file)) {
        char *name = line + 5, *digits = strncmp(line, "form\t", 5) == 0 ? strchr(name, '\t') : NULL;
        const approx_form *form = approx_forms;
        vm_approx function;
        if (!digits)
            continue;
        *digits++ = 0;
        while (form->text && strcmp(form->text, name) != 0)
            form++;
        if (!form->text || !function_of(name, &function) || (only && strcmp(only, name) != 0))
            continue;
        uint32_t checked = 0, wrong = 0;
        for (uint32_t block = 0; block < approx_blocks(form); block++) {
            char text[17] = "";
            if (!all && !is_chosen(form, block))
                continue;
            memcpy(text, digits + 16 * (size_t)block, 16);
            checked++;
            if (digest(form, function, block) != strtoull(text, NULL, 16)) {
                if (wrong++ < 5)
                    printf("# %s: inputs from 0x%08" PRIx32 " on\n", name,
                           (uint32_t)(block * (approx_inputs(form) / approx_blocks(form))));
            }
        }
        printf("%s %u - %s as on an H200, %" PRIu32 " of %" PRIu32 " signs and exponents\n",
               wrong ? "not ok" : "ok", ++number, name, checked, approx_blocks(form));
        bad |= wrong > 0;
    }
    fclose(file);
    printf("1..%u\n", number);
    return bad || number == 0;
}
