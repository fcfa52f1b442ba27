/* SPDX-License-Identifier: Apache-2.0
 * The lowest .version that has everything in a module: its target, the directives of its functions, its
 * instructions and special registers. Reports nothing. */
#include "ptx/ptx_table.h"
#include <string.h>

static unsigned larger(unsigned a, unsigned b) {
    return a > b ? a : b;
}

static unsigned special_version_of(const ptx_operand *operand) {
    unsigned version =
        operand->kind == PTX_OPERAND_SPECIAL ? ptx_special_version((ptx_special)(operand->bits & 0xffff)) : 0;
    for (unsigned i = 0; i < operand->count; i++) {
        version = larger(version, special_version_of(&operand->args[i]));
    }
    return version;
}

/* First .version that knows the target (PTX ISA 11.1.2 and the release notes). */
static unsigned target_version(const char *target) {
    static const struct {
        const char *name;
        unsigned version;
    } rows[] = {
        {"sm_50", 40},   {"sm_52", 41},  {"sm_53", 42},   {"sm_60", 50},   {"sm_61", 50},  {"sm_62", 50},
        {"sm_70", 60},   {"sm_72", 61},  {"sm_75", 63},   {"sm_80", 70},   {"sm_86", 71},  {"sm_87", 74},
        {"sm_88", 90},   {"sm_89", 78},  {"sm_90", 78},   {"sm_90a", 80},  {"sm_100", 86}, {"sm_100a", 86},
        {"sm_100f", 88}, {"sm_101", 86}, {"sm_101a", 86}, {"sm_101f", 88}, {"sm_103", 88}, {"sm_103a", 88},
        {"sm_103f", 88}, {"sm_107", 94}, {"sm_107a", 94}, {"sm_107f", 94}, {"sm_110", 90}, {"sm_110a", 90},
        {"sm_110f", 90}, {"sm_120", 87}, {"sm_120a", 87}, {"sm_120f", 88}, {"sm_121", 88}, {"sm_121a", 88},
        {"sm_121f", 88},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(rows[i].name, target) == 0) {
            return rows[i].version;
        }
    }
    return 32;
}

static unsigned function_version(const ptx_function *function) {
    unsigned version = function->noreturn ? 64 : 0;
    if (function->explicit_cluster || function->cluster[0] != 0 || function->max_cluster_rank != 0) {
        version = larger(version, 78);
    }
    if (function->blocks_are_clusters) {
        version = larger(version, 90);
    }
    return function->alias != NULL ? larger(version, 63) : version;
}

uint32_t ptx_module_minimum_version(const ptx_module *module) {
    ptx_table *table = ptx_table_of(module);
    unsigned version = larger(32, target_version(module->target));
    for (size_t f = 0; f < module->functions.count; f++) {
        const ptx_function *function = module->functions.items[f];
        version = larger(version, function_version(function));
        for (size_t i = 0; i < function->instructions.count; i++) {
            const ptx_instruction *instruction = &function->instructions.items[i];
            version = larger(version, ptx_table_spelling(table, instruction)->version);
            for (unsigned k = 0; k < instruction->operand_count; k++) {
                version = larger(version, special_version_of(&instruction->operands[k]));
            }
        }
    }
    return version;
}
