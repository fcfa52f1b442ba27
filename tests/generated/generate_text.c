/* SPDX-License-Identifier: Apache-2.0
 * Random numbers, text and types of the kernel generator. The same seed gives the same bytes on every
 * machine: nothing here depends on the C library's random numbers, on addresses or on a locale. */
#include "generate.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* SplitMix64 */
uint64_t random_bits(generator *g) {
    uint64_t z = g->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}
int below(generator *g, int count) {
    return (int)(random_bits(g) % (uint64_t)count);
}
bool chance(generator *g, int percent) {
    return below(g, 100) < percent;
}

struct chunk {
    chunk *next;
    char text[];
};

static void *allocate(void *old, size_t size) {
    void *memory = realloc(old, size);
    if (!memory) {
        fputs("generate: no memory\n", stderr);
        exit(2);
    }
    return memory;
}

const char *format(generator *g, const char *pattern, ...) {
    va_list list;
    va_start(list, pattern);
    int size = vsnprintf(NULL, 0, pattern, list);
    va_end(list);
    chunk *fresh = allocate(NULL, sizeof *fresh + (size_t)size + 1);
    va_start(list, pattern);
    vsnprintf(fresh->text, (size_t)size + 1, pattern, list);
    va_end(list);
    fresh->next = g->chunks;
    g->chunks = fresh;
    return fresh->text;
}

void forget_texts(generator *g) {
    while (g->chunks) {
        chunk *next = g->chunks->next;
        free(g->chunks);
        g->chunks = next;
    }
}

static void add(generator *g, const char *text, size_t size) {
    if (g->out_size + size + 1 > g->out_room) {
        g->out_room = 2 * (g->out_size + size + 1);
        g->out = allocate(g->out, g->out_room);
    }
    memcpy(g->out + g->out_size, text, size);
    g->out_size += size;
    g->out[g->out_size] = 0;
}

void line(generator *g, const char *pattern, ...) {
    va_list list;
    va_start(list, pattern);
    int size = vsnprintf(NULL, 0, pattern, list);
    va_end(list);
    char *text = allocate(NULL, (size_t)size + 1);
    va_start(list, pattern);
    vsnprintf(text, (size_t)size + 1, pattern, list);
    va_end(list);
    for (int i = 0; i < g->indent && size; i++)
        add(g, "    ", 4);
    add(g, text, (size_t)size);
    add(g, "\n", 1);
    free(text);
}

/* Mostly plain names; some that mean something in C++ or CUDA and must not reach the output as they are. */
const char *fresh_name(generator *g) {
    static const char *const traps[] = {
        "half",   "auto", "register", "double", "signed",      "threadIdx", "main",     "NULL",   "warpSize",
        "true",   "xor",  "new",      "this",   "unsigned",    "float4",    "printf",   "bitand", "operator",
        "fminf",  "uint", "short",    "const",  "sizeof",      "__x",       "tirc_shl", "asm",    "union",
        "uchar4", "expf", "volatile", "static", "make_float2", "namespace"};
    int number = g->next_name++;
    if (number < (int)(sizeof traps / sizeof traps[0]) && chance(g, 12))
        return traps[number];
    return format(g, "v%d", number);
}

/* ---- types ---- */
static const struct {
    const char *name;
    int bits;
    char kind;
} types[TYPE_COUNT] = {
    [I8] = {"int8", 8, 'i'},      [I16] = {"int16", 16, 'i'},     [I32] = {"int32", 32, 'i'},
    [I64] = {"int64", 64, 'i'},   [U8] = {"uint8", 8, 'u'},       [U16] = {"uint16", 16, 'u'},
    [U32] = {"uint32", 32, 'u'},  [U64] = {"uint64", 64, 'u'},    [BOOL] = {"bool", 8, 'b'},
    [F16] = {"float16", 16, 'f'}, [BF16] = {"bfloat16", 16, 'f'}, [F32] = {"float32", 32, 'f'},
    [F64] = {"float64", 64, 'f'},
};
const char *type_name(type t) {
    return types[t].name;
}
int type_bits(type t) {
    return types[t].bits;
}
bool is_float(type t) {
    return types[t].kind == 'f';
}
bool is_integer(type t) {
    return types[t].kind == 'i' || types[t].kind == 'u';
}
bool is_signed(type t) {
    return types[t].kind == 'i';
}
range full_range(type t) {
    if (t == BOOL)
        return (range){0, 1};
    wide one = 1;
    return is_signed(t) ? (range){-(one << (types[t].bits - 1)), (one << (types[t].bits - 1)) - 1}
                        : (range){0, (one << types[t].bits) - 1};
}

type any_integer(generator *g) {
    static const type often[] = {I32, I32, I32, I64, U32, U32, I8, I16, U8, U16, U64};
    return often[below(g, sizeof often / sizeof often[0])];
}
type any_float(generator *g) {
    static const type often[] = {F32, F32, F32, F16, BF16, F64};
    return often[below(g, sizeof often / sizeof often[0])];
}
type any_type(generator *g) {
    if (chance(g, 8))
        return BOOL;
    return g->no_floats || chance(g, 55) ? any_integer(g) : any_float(g);
}
