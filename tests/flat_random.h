/* SPDX-License-Identifier: Apache-2.0
 * Random functions in the IR's text form: loops, branches, local and shared tensors, mutable scalars, and
 * indices that stay inside their tensors. Deterministic in the seed. Integers never divide by zero and float
 * sums stay finite for long; what still goes wrong shows in the model's run, and the test skips it. */
#ifndef TIRC_TESTS_FLAT_RANDOM_H
#define TIRC_TESTS_FLAT_RANDOM_H
#include "ir/ir.h"
#include <stdio.h>
#include <string.h>

typedef struct generator {
    bool typed; /* every element type, not only int32 and float32 */
    uint64_t seed;
    base_builder *out;
    unsigned indent, depth, names, budget;
    char loops[8][8];
    unsigned loop_count;
    char lets[24][8];
    unsigned let_count;
    unsigned loop_level; /* loops around, of any kind */
} generator;

static inline unsigned pick(generator *g, unsigned count) {
    g->seed ^= g->seed << 13, g->seed ^= g->seed >> 7, g->seed ^= g->seed << 17;
    return (unsigned)((g->seed >> 11) % count);
}

static inline void put(generator *g, const char *text) {
    base_builder_string(g->out, text);
}

static inline void line(generator *g) {
    base_builder_repeat(g->out, ' ', 4 * (size_t)g->indent);
}

static inline void put_atom(generator *g) {
    unsigned choice = pick(g, 6);
    if (choice < 3 && g->loop_count)
        put(g, g->loops[pick(g, g->loop_count)]);
    else
        put(g, choice == 0   ? "thread_idx.x"
               : choice == 1 ? "thread_idx.y"
               : choice == 2 ? "n"
               : choice == 3 ? "m"
               : choice == 4 ? "block_idx.x"
                             : "(thread_idx.x + m)");
}

/* Stays inside [0, EXTENT): atoms are below 8, products of two below 40. */
static inline void put_index(generator *g) {
    unsigned terms = 1 + pick(g, 3);
    base_builder_format(g->out, "%u", 700 + pick(g, 5));
    for (unsigned i = 0; i < terms; i++) {
        bool negative = pick(g, 4) == 0;
        put(g, negative ? " - " : " + ");
        if (pick(g, 4) == 0) {
            put(g, "(");
            put_atom(g);
            base_builder_format(g->out, " + %u) * ", pick(g, 3));
            put(g, pick(g, 2) ? "n" : "m");
            if (!negative)
                base_builder_format(g->out, " * %u", 1 + pick(g, 6));
        } else {
            put_atom(g);
            base_builder_format(g->out, " * %u", negative ? 1 + pick(g, 3) : 1 + pick(g, 12));
        }
    }
    if (pick(g, 3) == 0)
        base_builder_format(g->out, " + %u", 1 + pick(g, 64));
}

static inline void put_condition(generator *g, unsigned depth);

static inline void put_load(generator *g, const char *name) {
    base_builder_format(g->out, "%s[", name);
    put_index(g);
    put(g, "]");
}

/* A sum over neighbours, often aligned, which is what vector loads are made of. */
static inline void put_neighbours(generator *g, const char *name) {
    unsigned first = pick(g, 3), count = 2 + pick(g, 3), atom = pick(g, 4);
    put(g, "(");
    for (unsigned i = 0; i < count; i++) {
        base_builder_format(g->out, "%s%s[256 + ", i ? " + " : "", name);
        if (atom < 2 && g->loop_count)
            put(g, g->loops[atom % g->loop_count]);
        else
            put(g, atom & 1 ? "thread_idx.x" : "m");
        base_builder_format(g->out, " * 4 + %u]", first + i);
    }
    put(g, ")");
}

static inline void put_int(generator *g, unsigned depth) {
    static const char *const operators[] = {" + ", " - ", " * ", " & ", " | ", " ^ "};
    unsigned choice = pick(g, depth ? 18 : 8);
    switch (choice) {
    case 17:
        put_neighbours(g, pick(g, 2) ? "A" : "S");
        return;
    case 0:
        base_builder_format(g->out, "%d", (int)pick(g, 40) - 10);
        return;
    case 1:
        put_atom(g);
        return;
    case 2:
        put_load(g, pick(g, 2) ? "A" : "B");
        return;
    case 3:
        put_load(g, "S");
        return;
    case 4:
        base_builder_format(g->out, "L[%u]", pick(g, 16));
        return;
    case 5:
        put(g, "w");
        return;
    case 6:
        put(g, "D[(");
        put_int(g, 0);
        put(g, ") & 15]");
        return;
    case 7:
        put(g, g->let_count ? g->lets[pick(g, g->let_count)] : "n");
        return;
    case 8:
        put(g, pick(g, 2) ? "min(" : "max(");
        put_int(g, depth - 1);
        put(g, ", ");
        put_int(g, depth - 1);
        put(g, ")");
        return;
    case 9:
        put(g, "(");
        put_int(g, depth - 1);
        base_builder_format(g->out, pick(g, 2) ? " // %u)" : " %% %u)", 1 + pick(g, 12));
        return;
    case 10:
        put(g, pick(g, 2) ? "select(" : "if_then_else(");
        put_condition(g, depth - 1);
        put(g, ", ");
        put_int(g, depth - 1);
        put(g, ", ");
        put_int(g, depth - 1);
        put(g, ")");
        return;
    default:
        put(g, "(");
        put_int(g, depth - 1);
        put(g, operators[pick(g, 6)]);
        put_int(g, depth - 1);
        put(g, ")");
        return;
    }
}

static inline void put_condition(generator *g, unsigned depth) {
    static const char *const operators[] = {" < ", " <= ", " > ", " >= ", " == ", " != "};
    if (depth && pick(g, 3) == 0) {
        put(g, "(");
        put_condition(g, depth - 1);
        put(g, pick(g, 2) ? " and " : " or ");
        put_condition(g, depth - 1);
        put(g, ")");
        return;
    }
    if (pick(g, 6) == 0)
        put(g, "not ");
    put(g, "(");
    put_int(g, depth ? depth - 1 : 0);
    put(g, operators[pick(g, 6)]);
    put_int(g, depth ? depth - 1 : 0);
    put(g, ")");
}

static inline void put_float(generator *g, unsigned depth) {
    static const char *const operators[] = {" + ", " - ", " * "};
    switch (pick(g, depth ? 9 : 5)) {
    case 8:
        put_neighbours(g, "F");
        return;
    case 0:
        base_builder_format(g->out, "%u.5", pick(g, 4));
        return;
    case 1:
        put_load(g, pick(g, 2) ? "F" : "G");
        return;
    case 2:
        base_builder_format(g->out, "X[%u]", pick(g, 8));
        return;
    case 3:
        base_builder_format(g->out, "lane(V[%u], %u)", pick(g, 2), pick(g, 4));
        return;
    case 4:
        put(g, "float32(");
        put_int(g, 0);
        put(g, ")");
        return;
    default:
        put(g, "(");
        put_float(g, depth - 1);
        put(g, operators[pick(g, 3)]);
        put_float(g, depth - 1);
        put(g, ")");
        return;
    }
}

static inline void put_block(generator *g, unsigned statements);

static inline void put_simple(generator *g) {
    unsigned choice = pick(g, 13) % 12;
    if (pick(g, 6) == 0)
        choice = 9 + pick(g, 2);
    line(g);
    if (choice < 3) {
        put_load(g, choice == 0 ? "A" : choice == 1 ? "B" : "S");
        put(g, " = ");
        put_int(g, 3);
    } else if (choice < 5) {
        put_load(g, choice == 3 ? "F" : "G");
        put(g, " = ");
        put_float(g, 3);
    } else if (choice == 5) {
        base_builder_format(g->out, "L[%u] = ", pick(g, 16));
        put_int(g, 2);
    } else if (choice == 6) {
        put(g, "D[(");
        put_int(g, 1);
        put(g, ") & 15] = ");
        put_int(g, 2);
    } else if (choice == 7) {
        base_builder_format(g->out, "X[%u] = ", pick(g, 8));
        put_float(g, 2);
    } else if (choice == 8) {
        base_builder_format(g->out, "V[%u] = ", pick(g, 2));
        if (pick(g, 2)) {
            put(g, "F[ramp(");
            put_atom(g);
            base_builder_format(g->out, " * 4 + %u, 1, 4)]", 4 * pick(g, 30));
        } else {
            base_builder_format(g->out, "vector(lane(V[%u], 1), ", pick(g, 2));
            put_float(g, 1);
            base_builder_format(g->out, ", X[%u], lane(V[0], 0))", pick(g, 8));
        }
    } else if (choice == 9) {
        put(g, "w = ");
        put_int(g, 3);
    } else if (choice == 10 && g->let_count < 24) {
        base_builder_format(g->out, "let t%u: int32 = ", g->names);
        if (pick(g, 3))
            put_int(g, 3);
        else
            put(g, "w"); /* a copy that the next assignment must not change */
        snprintf(g->lets[g->let_count++], sizeof g->lets[0], "t%u", g->names++);
    } else {
        put(g, "atomic_add(&A[");
        put_index(g);
        put(g, "], ");
        put_int(g, 1);
        put(g, ")");
    }
    put(g, "\n");
}

/* ---- every element type ---- */

typedef struct typed_array {
    const char *name, *dtype;
    bool is_float;
} typed_array;
/* clang-format off */
static const typed_array typed_arrays[] = {
    {"P", "int8", false},  {"Q", "uint8", false},  {"R", "int16", false},   {"T", "uint16", false},
    {"U", "uint32", false}, {"I", "int64", false}, {"J", "uint64", false},  {"A", "int32", false},
    {"H", "float16", true}, {"Z", "bfloat16", true}, {"W", "float64", true}, {"F", "float32", true}};
/* clang-format on */
enum { TYPED_COUNT = sizeof typed_arrays / sizeof typed_arrays[0] };

static inline void put_typed(generator *g, const typed_array *type, unsigned depth);

static inline void put_typed_literal(generator *g, const typed_array *type) {
    if (type->is_float)
        base_builder_format(g->out, "%u.%s_%s", pick(g, 9), pick(g, 2) ? "5" : "25", type->dtype);
    else
        base_builder_format(g->out, "%u_%s", pick(g, 2) ? pick(g, 12) : pick(g, 120), type->dtype);
}

static inline void put_typed_pair(generator *g, const typed_array *type, const char *between,
                                  unsigned depth) {
    put_typed(g, type, depth);
    put(g, between);
    put_typed(g, type, depth);
}

static inline void put_typed_integer(generator *g, const typed_array *type, unsigned depth) {
    static const char *const operators[] = {" + ", " - ", " * ", " & ", " | ", " ^ "};
    static const char *const divisions[] = {"truncdiv(", "truncmod("};
    switch (pick(g, 5)) {
    case 0:
        put(g, pick(g, 2) ? "(~" : "(-");
        put_load(g, type->name);
        put(g, ")");
        return;
    case 1:
        put(g, "(");
        put_typed(g, type, depth);
        base_builder_format(g->out, "%s%u_%s)", pick(g, 2) ? " << " : " >> ", pick(g, 9), type->dtype);
        return;
    case 2:
        put(g, "(");
        put_typed(g, type, depth);
        put(g, pick(g, 2) ? " // " : " % ");
        if (pick(g, 2)) {
            base_builder_format(g->out, "%u_%s)", 1 + pick(g, 100), type->dtype);
        } else {
            put(g, "((");
            put_typed(g, type, depth);
            base_builder_format(g->out, " & 7_%s) + 1_%s))", type->dtype, type->dtype);
        }
        return;
    case 3:
        put(g, divisions[pick(g, 2)]);
        put_typed(g, type, depth);
        base_builder_format(g->out, ", %u_%s)", 1 + pick(g, 100), type->dtype);
        return;
    default:
        put(g, "(");
        put_typed_pair(g, type, operators[pick(g, 6)], depth);
        put(g, ")");
        return;
    }
}

static inline void put_typed_condition(generator *g, unsigned depth) {
    static const char *const operators[] = {" < ", " <= ", " > ", " >= ", " == ", " != "};
    put(g, "(");
    put_typed_pair(g, &typed_arrays[pick(g, TYPED_COUNT)], operators[pick(g, 6)], depth);
    put(g, ")");
}

static inline void put_typed(generator *g, const typed_array *type, unsigned depth) {
    static const char *const operators[] = {" + ", " - ", " * "};
    switch (pick(g, depth ? 9 : 2)) {
    case 0:
        put_load(g, type->name);
        return;
    case 1:
        put_typed_literal(g, type);
        return;
    case 2:
        put(g, pick(g, 2) ? "min(" : "max(");
        put_typed_pair(g, type, ", ", depth - 1);
        put(g, ")");
        return;
    case 3:
    case 4: {
        const typed_array *from = &typed_arrays[pick(g, TYPED_COUNT)];
        base_builder_format(g->out, "%s(", type->dtype);
        put_typed(g, from, depth - 1);
        put(g, ")");
        return;
    }
    case 5:
        put(g, pick(g, 2) ? "select(" : "if_then_else(");
        put_typed_condition(g, depth - 1);
        put(g, ", ");
        put_typed_pair(g, type, ", ", depth - 1);
        put(g, ")");
        return;
    default:
        if (!type->is_float) {
            put_typed_integer(g, type, depth - 1);
            return;
        }
        put(g, "(");
        put_typed_pair(g, type, operators[pick(g, 3)], depth - 1);
        put(g, ")");
        return;
    }
}

static inline void put_typed_store(generator *g) {
    const typed_array *type = &typed_arrays[pick(g, TYPED_COUNT)];
    line(g);
    put_load(g, type->name);
    put(g, " = ");
    put_typed(g, type, 3);
    put(g, "\n");
}

static inline void put_nested(generator *g, unsigned statements) {
    unsigned lets = g->let_count, loops = g->loop_count;
    g->indent++, g->depth++;
    put_block(g, statements);
    g->indent--, g->depth--;
    g->let_count = lets, g->loop_count = loops;
}

static inline void put_for(generator *g) {
    static const char *const extents[] = {"n", "m", "7", "4", "2", "w & 3"};
    unsigned name = g->names++;
    line(g);
    base_builder_format(g->out, "for i%u in %s(", name, pick(g, 5) == 0 ? "pragma_unroll" : "serial");
    put(g, extents[pick(g, 6)]);
    if (pick(g, 3) == 0)
        base_builder_format(g->out, ", start=%u", pick(g, 2));
    if (pick(g, 4) == 0)
        put(g, ", step=2");
    put(g, "):\n");
    snprintf(g->loops[g->loop_count++], sizeof g->loops[0], "i%u", name);
    g->loop_level++;
    put_nested(g, 1 + pick(g, 4));
    g->loop_level--;
    g->loop_count--;
}

static inline void put_while(generator *g) {
    unsigned name = g->names++;
    line(g);
    base_builder_format(g->out, "c%u: int32 = 0\n", name);
    line(g);
    base_builder_format(g->out, "while c%u < %u", name, 1 + pick(g, 4));
    if (pick(g, 2)) {
        put(g, " and ");
        put_condition(g, 1);
    }
    put(g, ":\n");
    g->indent++;
    line(g);
    base_builder_format(g->out, "c%u = c%u + 1\n", name, name);
    g->indent--;
    g->loop_level++;
    put_nested(g, 1 + pick(g, 3));
    g->loop_level--;
}

static inline void put_if(generator *g) {
    line(g);
    put(g, "if ");
    put_condition(g, 2);
    put(g, ":\n");
    if (g->loop_level && pick(g, 4) == 0) {
        g->indent++;
        line(g);
        g->indent--;
        put(g, pick(g, 2) ? "continue\n" : "break\n");
        return;
    }
    put_nested(g, 1 + pick(g, 3));
    if (pick(g, 2)) {
        line(g);
        put(g, "else:\n");
        put_nested(g, 1 + pick(g, 3));
    }
}

static inline void put_block(generator *g, unsigned statements) {
    for (unsigned i = 0; i < statements; i++) {
        unsigned choice = g->depth < 3 && g->loop_count < 6 ? pick(g, 10) : 9;
        if (choice < 2)
            put_for(g);
        else if (choice == 2)
            put_while(g);
        else if (choice < 5)
            put_if(g);
        else if (g->typed && pick(g, 2))
            put_typed_store(g);
        else
            put_simple(g);
    }
}

/* typed: one thread in all, and every element type; else a thread somewhere in a block. */
static inline const char *random_function(base_arena *arena, uint64_t seed, bool typed) {
    base_builder out;
    base_builder_start(&out, arena);
    generator g = {.seed = seed * UINT64_C(0x9e3779b97f4a7c15) + 1, .out = &out, .indent = 1, .typed = typed};
    for (unsigned i = 0; i < 8; i++)
        pick(&g, 2);
    put(&g, "tir 1\n\nfunction t(A: int32[2048], B: int32[2048], F: float32[2048], G: float32[2048]");
    for (unsigned i = 0; typed && i < TYPED_COUNT; i++)
        if (strcmp(typed_arrays[i].name, "A") && strcmp(typed_arrays[i].name, "F"))
            base_builder_format(&out, ", %s: %s[2048]", typed_arrays[i].name, typed_arrays[i].dtype);
    put(&g, ", n: int32, m: int32):\n    launch:\n");
    put(&g, typed ? "        grid = (1, 1, 1)\n        block = (1, 1, 1)\n"
                  : "        grid = (4, 2, 2)\n        block = (8, 4, 2)\n");
    put(&g, "    alloc S: int32[2048] shared\n    alloc L: int32[16] local\n    alloc D: int32[16] local\n"
            "    alloc X: float32[8] local\n    alloc V: float32x4[2] local\n    w: int32 = 1\n"
            "    for z in unroll(16):\n        L[z] = z * 3\n        D[z] = z - 5\n"
            "    for z in unroll(8):\n        X[z] = float32(z)\n"
            "    for z in serial(2048):\n        S[z] = 0\n"
            "    V[0] = F[ramp(8, 1, 4)]\n    V[1] = F[ramp(20, 1, 4)]\n");
    put_block(&g, 4 + pick(&g, 6));
    put(&g, "    A[0] = w + L[3] + D[4]\n    F[0] = X[2] + lane(V[1], 2)\n");
    return out.data;
}
#endif
