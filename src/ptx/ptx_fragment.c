/* SPDX-License-Identifier: Apache-2.0
 * How many registers a thread gives to an operand of a matrix instruction: elements of the tile times their
 * width over 32 lanes (128 for wgmma), in 32-bit registers; 64-bit ones for f64 (PTX ISA 9.7.14 to 9.7.16).
 * ptxas counts the same. */
#include "ptx/ptx_table.h"
#include <stdio.h>

typedef struct tile {
    unsigned m, n, k;
    ptx_type types[6]; /* as written: d a b c */
    unsigned type_count;
    unsigned repeat; /* .xN; 0: none */
} tile;

static void read_tile(const ptx_instruction *instruction, tile *t) {
    for (unsigned i = 0; i < instruction->mod_count; i++) {
        ptx_mod mod = instruction->mods[i];
        const char *name = ptx_mod_name(mod);
        unsigned m = 0, n = 0, k = 0;
        if ((int)mod < PTX_TYPE_COUNT) {
            if (t->type_count < 6) {
                t->types[t->type_count++] = (ptx_type)mod;
            }
        } else if (sscanf(name, "m%un%uk%u", &m, &n, &k) == 3) {
            t->m = m;
            t->n = n;
            t->k = k;
        } else if (name[0] == 'x' && sscanf(name, "x%u", &n) == 1) {
            t->repeat = n;
        }
    }
}

/* Bits of an element as the operand stores it: the 4- and 6-bit floats stand in bytes unless the kind packs
 * them. */
static unsigned stored_bits(const ptx_instruction *instruction, ptx_type type) {
    bool packed = ptx_has(instruction, PTX_MOD_KIND__MXF4) || ptx_has(instruction, PTX_MOD_KIND__MXF4NVF4);
    unsigned bits = ptx_type_bits(type);
    bool small_float = type == PTX_TYPE_E2M3 || type == PTX_TYPE_E3M2 || type == PTX_TYPE_E2M1;
    return small_float ? (packed ? 4 : 8) : bits;
}

static unsigned registers_of(unsigned rows, unsigned columns, unsigned bits) {
    unsigned registers = bits == 64 ? rows * columns / 32 : rows * columns * bits / (32 * 32);
    return registers > 0 ? registers : 1;
}

static unsigned repeated(const ptx_instruction *instruction, unsigned count) {
    bool twice = ptx_has(instruction, PTX_MOD_16X128B) || ptx_has(instruction, PTX_MOD_M16N16);
    return count * (twice ? 2 : ptx_has(instruction, PTX_MOD_16X256B) ? 4 : 1);
}

static bool is_sparse(ptx_op op) {
    return op == PTX_OP_MMA_SP || op == PTX_OP_MMA_SP__ORDERED_METADATA;
}

unsigned ptx_fragment_registers(const ptx_instruction *instruction, char operand, unsigned *bits) {
    tile t = {0};
    read_tile(instruction, &t);
    *bits = 32;
    if (t.repeat != 0) {
        return repeated(instruction, t.repeat);
    }
    if (t.m == 64) {
        /* wgmma: 128 threads share D; A in registers is one 64 x k tile of 4 registers each. */
        return operand == 'a' ? 4 : t.types[0] == PTX_TYPE_F16 ? t.n / 4 : t.n / 2;
    }
    if (t.m == 0 || t.type_count < 4) {
        return 0;
    }
    ptx_type type = t.types[operand == 'd' ? 0 : operand == 'a' ? 1 : operand == 'b' ? 2 : 3];
    unsigned stored = stored_bits(instruction, type), k = is_sparse(instruction->op) ? t.k / 2 : t.k;
    *bits = stored == 64 ? 64 : 32;
    if (t.m == 8 && t.n == 8 && t.k == 4 && type != PTX_TYPE_F64) {
        /* The Volta shape: four 8x8x4 products in one warp, each by a group of 8 lanes. */
        return operand == 'a' || operand == 'b' ? 2 : type == PTX_TYPE_F16 ? 4 : 8;
    }
    switch (operand) {
    case 'a':
        return registers_of(t.m, k, stored);
    case 'b':
        return registers_of(t.k, t.n, stored);
    default:
        return registers_of(t.m, t.n, stored);
    }
}
