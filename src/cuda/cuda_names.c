/* SPDX-License-Identifier: Apache-2.0
 * C names: the author's where possible, never a word of C++ or CUDA, never hiding a visible name. Knows
 * nothing of what is named. */
#include "cuda/cuda_internal.h"
#include <string.h>

struct cuda_scope {
    cuda_scope *outer;
    base_map *names; /* hash of a name -> the name */
    base_map
        *numbers; /* hash of a stem -> the number last put behind it, so that many equal wishes stay cheap */
};

/* Words of C++, of CUDA, of the headers that emitted text uses, and our helpers. A rule here must not take a
 * word with every number behind it, as numbers are how a name gets out of the way. */
static const char *const reserved[] = {"alignas",
                                       "alignof",
                                       "and",
                                       "and_eq",
                                       "asm",
                                       "auto",
                                       "bitand",
                                       "bitor",
                                       "bool",
                                       "break",
                                       "case",
                                       "catch",
                                       "char",
                                       "char8_t",
                                       "char16_t",
                                       "char32_t",
                                       "class",
                                       "compl",
                                       "concept",
                                       "const",
                                       "consteval",
                                       "constexpr",
                                       "constinit",
                                       "const_cast",
                                       "continue",
                                       "co_await",
                                       "co_return",
                                       "co_yield",
                                       "decltype",
                                       "default",
                                       "delete",
                                       "do",
                                       "double",
                                       "dynamic_cast",
                                       "else",
                                       "enum",
                                       "explicit",
                                       "export",
                                       "extern",
                                       "false",
                                       "float",
                                       "for",
                                       "friend",
                                       "goto",
                                       "if",
                                       "inline",
                                       "int",
                                       "long",
                                       "mutable",
                                       "namespace",
                                       "new",
                                       "noexcept",
                                       "not",
                                       "not_eq",
                                       "nullptr",
                                       "operator",
                                       "or",
                                       "or_eq",
                                       "private",
                                       "protected",
                                       "public",
                                       "register",
                                       "reinterpret_cast",
                                       "requires",
                                       "return",
                                       "short",
                                       "signed",
                                       "sizeof",
                                       "static",
                                       "static_assert",
                                       "static_cast",
                                       "struct",
                                       "switch",
                                       "template",
                                       "this",
                                       "thread_local",
                                       "throw",
                                       "true",
                                       "try",
                                       "typedef",
                                       "typeid",
                                       "typename",
                                       "union",
                                       "unsigned",
                                       "using",
                                       "virtual",
                                       "void",
                                       "volatile",
                                       "wchar_t",
                                       "while",
                                       "xor",
                                       "xor_eq",
                                       "restrict",
                                       "NULL",
                                       "main",
                                       "std",
                                       "linux",
                                       "unix",
                                       "i386",
                                       "threadIdx",
                                       "blockIdx",
                                       "blockDim",
                                       "gridDim",
                                       "warpSize",
                                       "dim3",
                                       "uint",
                                       "ushort",
                                       "uchar",
                                       "ulong",
                                       "min",
                                       "max",
                                       "abs",
                                       "labs",
                                       "llabs",
                                       "printf",
                                       "clock",
                                       "clock64",
                                       "assert",
                                       "isnan",
                                       "isinf",
                                       "isfinite",
                                       "signbit",
                                       "fmin",
                                       "fmax",
                                       "fminf",
                                       "fmaxf",
                                       "fabs",
                                       "fabsf",
                                       "fma",
                                       "fmaf",
                                       "sqrt",
                                       "sqrtf",
                                       "rsqrt",
                                       "rsqrtf",
                                       "exp",
                                       "expf",
                                       "exp2",
                                       "exp2f",
                                       "log",
                                       "logf",
                                       "log2",
                                       "log2f",
                                       "log10",
                                       "log10f",
                                       "sin",
                                       "sinf",
                                       "cos",
                                       "cosf",
                                       "tanh",
                                       "tanhf",
                                       "pow",
                                       "powf",
                                       "erf",
                                       "erff",
                                       "tan",
                                       "tanf",
                                       "asin",
                                       "asinf",
                                       "acos",
                                       "acosf",
                                       "atan",
                                       "atanf",
                                       "atan2",
                                       "atan2f",
                                       "sinh",
                                       "sinhf",
                                       "cosh",
                                       "coshf",
                                       "asinh",
                                       "asinhf",
                                       "acosh",
                                       "acoshf",
                                       "atanh",
                                       "atanhf",
                                       "exp10",
                                       "exp10f",
                                       "expm1",
                                       "expm1f",
                                       "log1p",
                                       "log1pf",
                                       "cbrt",
                                       "cbrtf",
                                       "hypot",
                                       "hypotf",
                                       "fmod",
                                       "fmodf",
                                       "floor",
                                       "floorf",
                                       "ceil",
                                       "ceilf",
                                       "trunc",
                                       "truncf",
                                       "rint",
                                       "rintf",
                                       "y0",
                                       "y1",
                                       "yn",
                                       "j0",
                                       "j1",
                                       "jn",
                                       "gamma",
                                       "stdin",
                                       "stdout",
                                       "stderr",
                                       "errno",
                                       "INFINITY",
                                       "NAN",
                                       "EOF",
                                       "int8_t",
                                       "int16_t",
                                       "int32_t",
                                       "int64_t",
                                       "uint8_t",
                                       "uint16_t",
                                       "uint32_t",
                                       "uint64_t",
                                       "size_t",
                                       "cudaError",
                                       "CUDART_INF",
                                       "CUDART_NAN",
                                       "CUDART_INF_F",
                                       "CUDART_NAN_F",
                                       "atomicAdd",
                                       "atomicSub",
                                       "atomicExch",
                                       "atomicMin",
                                       "atomicMax",
                                       "atomicInc",
                                       "atomicDec",
                                       "atomicCAS",
                                       "atomicAnd",
                                       "atomicOr",
                                       "atomicXor",
                                       "tirc_linear_thread",
                                       "tirc_floordiv",
                                       "tirc_floormod",
                                       "tirc_shl",
                                       "tirc_shr",
                                       "tirc_bits",
                                       "tirc_to_tf32",
                                       "tirc_trap_unless",
                                       "tirc_trap_message"};

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

const char *cuda_identifier(base_arena *arena, const char *wish) {
    size_t size = strlen(wish);
    char *name = base_arena_string(arena, wish, size);
    for (size_t i = 0; i < size; i++)
        if (!is_letter(name[i]) && !is_digit(name[i]))
            name[i] = '_';
    if (size == 0)
        return "v";
    /* Two underscores, and one before a capital, belong to the compiler. */
    if (!strncmp(name, "tirc_vector_", 12)) /* the vector types of cuda_types.c */
        return base_arena_format(arena, "v_%s", name);
    if (is_digit(name[0]) || (name[0] == '_' && size > 1))
        return base_arena_format(arena, "v%s%s", name[0] == '_' ? "" : "_", name);
    return name;
}

/* Vector types such as float4, and everything that starts like a name of ours or of the compiler. */
static bool is_type_word(const char *name) {
    static const char *const bases[] = {"char",  "uchar",    "short",     "ushort", "int",    "uint", "long",
                                        "ulong", "longlong", "ulonglong", "float",  "double", "dim"};
    size_t size = strlen(name);
    if (size < 2 || !is_digit(name[size - 1]))
        return false;
    for (size_t i = 0; i < sizeof bases / sizeof bases[0]; i++)
        if (strlen(bases[i]) == size - 1 && !memcmp(bases[i], name, size - 1))
            return true;
    return false;
}

/* Words of the headers for half and bfloat16, free for the author where those are not included. */
static bool is_half_word(const char *name) {
    return !strcmp(name, "half") || !strcmp(name, "half2") || !strcmp(name, "nv_bfloat16") ||
           !strcmp(name, "nv_bfloat162");
}

static bool is_reserved(const char *name) {
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
        if (!strcmp(reserved[i], name))
            return true;
    return !strncmp(name, "tvm_builtin_ptx_", 16) || is_type_word(name) ||
           (!strncmp(name, "make_", 5) && is_type_word(name + 5));
}

static uint64_t key_of(const char *name) {
    return base_hash(name, strlen(name), 1);
}

/* Equal hashes of different names count as taken, which only costs a suffix. */
static bool is_visible(const cuda_scope *scope, const char *name) {
    for (; scope; scope = scope->outer)
        if (base_map_get(scope->names, key_of(name)))
            return true;
    return false;
}

static uintptr_t last_number(const cuda_scope *scope, const char *stem) {
    for (; scope; scope = scope->outer) {
        void *number = base_map_get(scope->numbers, key_of(stem));
        if (number)
            return (uintptr_t)number;
    }
    return 0;
}

void cuda_scope_open(cuda_writer *w) {
    cuda_scope *scope = BASE_NEW(w->arena, cuda_scope);
    scope->outer = w->scope;
    scope->names = base_map_create(w->arena);
    scope->numbers = base_map_create(w->arena);
    w->scope = scope;
}
void cuda_scope_close(cuda_writer *w) {
    w->scope = w->scope->outer;
}

const char *cuda_name_new(cuda_writer *w, const void *object, const char *wish, const char *suffix) {
    const char *stem = cuda_identifier(w->arena, wish);
    const char *name = base_arena_format(w->arena, "%s%s", stem, suffix);
    if (strstr(name, "__")) {
        char *plain = base_arena_string(w->arena, name, strlen(name));
        size_t to = 0;
        for (size_t i = 0; plain[i]; i++)
            if (!(plain[i] == '_' && plain[i + 1] == '_'))
                plain[to++] = plain[i];
        plain[to] = 0;
        name = plain;
    }
    const char *first = name;
    uintptr_t number = last_number(w->scope, first);
    while (is_reserved(name) || (w->reserve_half && is_half_word(name)) || is_visible(w->scope, name))
        name = base_arena_format(w->arena, "%s_%u", first, (unsigned)++number);
    w->took_half = w->took_half || is_half_word(name);
    if (number)
        base_map_set(w->scope->numbers, key_of(first), (void *)number);
    base_map_set(w->scope->names, key_of(name), (void *)(uintptr_t)name);
    if (object)
        base_map_set(w->names, BASE_KEY(object), (void *)(uintptr_t)name);
    return name;
}

void cuda_name_take(cuda_writer *w, const char *name) {
    base_map_set(w->scope->names, key_of(name), (void *)(uintptr_t)name);
}

const char *cuda_name_of(cuda_writer *w, const void *object) {
    const char *name = base_map_get(w->names, BASE_KEY(object));
    return name ? name : "undeclared";
}
