/* SPDX-License-Identifier: Apache-2.0
 * integers emit: prints a script with one kernel per integer type and operation, over every pair of edge
 * values, and one more per kernel with the pairs as constants (emit dynamic: without those). integers check
 * SCRIPT [NVCC_PTX]: runs all of it on the machine, our PTX and nvcc's, and compares with a model in 128-bit
 * arithmetic; the constants must have been folded. */
#include "tirc.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 wide;

typedef struct type {
    const char *name;
    unsigned bits;
    bool is_signed;
} type;
static const type types[] = {{"int8", 8, true},     {"int16", 16, true},  {"int32", 32, true},
                             {"int64", 64, true},   {"uint8", 8, false},  {"uint16", 16, false},
                             {"uint32", 32, false}, {"uint64", 64, false}};
enum { TYPES = 8, EDGES = 12, PAIRS = EDGES * EDGES };

typedef enum operation {
    ADD,
    SUB,
    MUL,
    FLOORDIV,
    FLOORMOD,
    TRUNCDIV,
    TRUNCMOD,
    CEILDIV,
    MIN,
    MAX,
    AND,
    OR,
    XOR,
    SHL,
    SHR,
    EQ,
    NE,
    LT,
    LE,
    GT,
    GE,
    NEG,
    NOT,
    ABS,
    WIDEN,
    OPERATIONS
} operation;
/* text: with a and b in the places of %s; the result of a comparison and of WIDEN has its own type. */
static const struct {
    const char *name, *text, *result;
} operations[OPERATIONS] = {
    [ADD] = {"add", "%s + %s", NULL},
    [SUB] = {"sub", "%s - %s", NULL},
    [MUL] = {"mul", "%s * %s", NULL},
    [FLOORDIV] = {"floordiv", "%s // %s", NULL},
    [FLOORMOD] = {"floormod", "%s %% %s", NULL},
    [TRUNCDIV] = {"truncdiv", "T.truncdiv(%s, %s)", NULL},
    [TRUNCMOD] = {"truncmod", "T.truncmod(%s, %s)", NULL},
    [CEILDIV] = {"ceildiv", "T.ceildiv(%s, %s)", NULL},
    [MIN] = {"min", "T.min(%s, %s)", NULL},
    [MAX] = {"max", "T.max(%s, %s)", NULL},
    [AND] = {"and", "%s & %s", NULL},
    [OR] = {"or", "%s | %s", NULL},
    [XOR] = {"xor", "%s ^ %s", NULL},
    [SHL] = {"shl", "%s << %s", NULL},
    [SHR] = {"shr", "%s >> %s", NULL},
    [EQ] = {"eq", "T.cast(%s == %s, \"int32\")", "int32"},
    [NE] = {"ne", "T.cast(%s != %s, \"int32\")", "int32"},
    [LT] = {"lt", "T.cast(%s < %s, \"int32\")", "int32"},
    [LE] = {"le", "T.cast(%s <= %s, \"int32\")", "int32"},
    [GT] = {"gt", "T.cast(%s > %s, \"int32\")", "int32"},
    [GE] = {"ge", "T.cast(%s >= %s, \"int32\")", "int32"},
    [NEG] = {"neg", "-%s", NULL},
    [NOT] = {"not", "~%s", NULL},
    [ABS] = {"abs", "T.abs(%s)", NULL},
    [WIDEN] = {"widen", "T.cast(%s, \"int64\") * 3 + T.cast(%s, \"int64\")", "int64"},
};

static bool divides(operation o) {
    return o >= FLOORDIV && o <= CEILDIV;
}

static wide wrap(const type *t, wide v) {
    wide span = (wide)1 << t->bits, low = ((v % span) + span) % span;
    return t->is_signed && low >= span / 2 ? low - span : low;
}

/* Around zero, around the ends, and what is neither. */
static wide edge(const type *t, int i) {
    wide least = t->is_signed ? -((wide)1 << (t->bits - 1)) : 0,
         most = ((wide)1 << (t->bits - (t->is_signed ? 1 : 0))) - 1;
    const wide values[EDGES] = {
        0, 1, 2, 3, 7, 100, most, most - 1, most / 2 + 1, least, least + 1, t->is_signed ? -7 : most - 5};
    return values[i];
}

/* Divisors are not 0, shift counts not negative and not far over the width. */
static wide second(const type *t, operation o, int i) {
    static const int counts[EDGES] = {0, 1, 2, 3, 7, 8, 15, 31, 32, 63, 64, 70};
    if (o == SHL || o == SHR)
        return counts[i];
    wide v = t->is_signed && i == 5 ? -1 : edge(t, i);
    return divides(o) && v == 0 ? 5 : v;
}

static wide floor_divide(wide a, wide b) {
    wide q = a / b;
    return q - (a % b != 0 && (a < 0) != (b < 0));
}

static wide model(const type *t, operation o, wide a, wide b) {
    switch (o) {
    case ADD:
        return wrap(t, a + b);
    case SUB:
        return wrap(t, a - b);
    case MUL: /* 64-bit products need more than 127 bits unsigned: modulo 2^64 */
        return wrap(t, (wide)(uint64_t)((uint64_t)a * (uint64_t)b));
    case FLOORDIV:
        return wrap(t, floor_divide(a, b));
    case FLOORMOD:
        return wrap(t, a - floor_divide(a, b) * b);
    case TRUNCDIV:
        return wrap(t, a / b);
    case TRUNCMOD:
        return wrap(t, a % b);
    case CEILDIV:
        return wrap(t, -floor_divide(-a, b));
    case MIN:
        return a < b ? a : b;
    case MAX:
        return a > b ? a : b;
    case AND:
        return a & b;
    case OR:
        return a | b;
    case XOR:
        return a ^ b;
    case SHL:
        return b >= t->bits ? 0 : wrap(t, (wide)(uint64_t)((uint64_t)a << b));
    case SHR:
        return floor_divide(a, (wide)1 << b);
    case EQ:
        return a == b;
    case NE:
        return a != b;
    case LT:
        return a < b;
    case LE:
        return a <= b;
    case GT:
        return a > b;
    case GE:
        return a >= b;
    case NEG:
        return wrap(t, -a);
    case NOT:
        return wrap(t, -a - 1);
    case ABS:
        return wrap(t, a < 0 ? -a : a);
    case WIDEN:
        return wrap(&types[3], wrap(&types[3], a) * 3 + wrap(&types[3], b));
    case OPERATIONS:
        break;
    }
    return 0;
}

/* ---- the script ---- */
static void print_wide(char *out, wide v) {
    if (v < 0)
        snprintf(out, 40, "%" PRId64, (int64_t)v);
    else
        snprintf(out, 40, "%" PRIu64, (uint64_t)v);
}

static void print_operation(operation o, const char *a, const char *b) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    printf(operations[o].text, a, b);
#pragma GCC diagnostic pop
}

static void emit_kernel(const type *t, operation o, bool folded) {
    const char *result = operations[o].result ? operations[o].result : t->name;
    if (!folded) {
        printf("\n\n@T.function\ndef %s_%s(A: T.Tensor((%d,), \"%s\"), B: T.Tensor((%d,), \"%s\"), R: "
               "T.Tensor((%d,), "
               "\"%s\")):\n    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(%d,)))\n"
               "    t = T.cuda.thread_idx(\"x\")\n    R[t] = ",
               t->name, operations[o].name, PAIRS, t->name, PAIRS, t->name, PAIRS, result, PAIRS);
        print_operation(o, "A[t]", "B[t]");
        puts("");
        return;
    }
    printf("\n\n@T.function\ndef %s_%s_folded(R: T.Tensor((%d,), \"%s\")):\n"
           "    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(1,)))\n",
           t->name, operations[o].name, PAIRS, result);
    for (int i = 0; i < PAIRS; i++) {
        char a[80], b[80], x[40], y[40];
        print_wide(x, edge(t, i / EDGES));
        print_wide(y, second(t, o, i % EDGES));
        snprintf(a, sizeof a, "T.%s(%s)", t->name, x);
        snprintf(b, sizeof b, "T.%s(%s)", t->name, y);
        printf("    R[%d] = ", i);
        print_operation(o, a, b);
        puts("");
    }
}

static int emit(bool folded) {
    puts("# SPDX-License-Identifier: Apache-2.0\nfrom tvm_tirx.script import tirx as T");
    for (int i = 0; i < TYPES; i++)
        for (int o = 0; o < OPERATIONS; o++) {
            emit_kernel(&types[i], (operation)o, false);
            if (folded)
                emit_kernel(&types[i], (operation)o, true);
        }
    return 0;
}

/* ---- the check ---- */
typedef struct text {
    char *data;
    size_t size;
} text;

static bool collect(void *user, const char *data, size_t size) {
    text *t = user;
    char *more = realloc(t->data, t->size + size + 1);
    if (!more)
        return false;
    t->data = more;
    memcpy(t->data + t->size, data, size);
    t->size += size;
    t->data[t->size] = 0;
    return true;
}

static tirc_module *load(tirc_session *session, const char *path, const char *entry) {
    FILE *file = fopen(path, "rb");
    text t = {0};
    char part[4096];
    for (size_t n; file && (n = fread(part, 1, sizeof part, file)) > 0;)
        collect(&t, part, n);
    if (file)
        fclose(file);
    tirc_source source = {
        .size = sizeof source, .name = path, .text = t.data, .text_size = t.size, .entry = entry};
    tirc_module *module = NULL;
    if (!t.data || tirc_load(session, &source, &module) != TIRC_OK) {
        tirc_diagnostics_render(session, TIRC_FORMAT_TEXT, false, tirc_sink_file, stdout);
        module = NULL;
    }
    free(t.data);
    return module;
}

static void store(void *at, unsigned bits, int i, wide v) {
    uint64_t value = (uint64_t)v;
    memcpy((char *)at + (size_t)i * (bits / 8), &value, bits / 8);
}
static wide read_back(const void *at, const type *t, int i) {
    uint64_t value = 0;
    memcpy(&value, (const char *)at + (size_t)i * (t->bits / 8), t->bits / 8);
    return wrap(t, (wide)value);
}

typedef struct run {
    const type *t;
    operation o;
    bool folded, by_number;
} run;

static bool check_kernel(tirc_session *session, tirc_module *module, const char *road, const run *r) {
    static const char *const numbers[] = {"0", "1", "2"}, *const names[] = {"A", "B", "R"};
    const char *result_name = operations[r->o].result;
    type result = *r->t;
    for (int i = 0; result_name && i < TYPES; i++)
        if (!strcmp(types[i].name, result_name))
            result = types[i];
    uint64_t a[PAIRS], b[PAIRS], out[PAIRS];
    memset(out, 0x5a, sizeof out);
    for (int i = 0; i < PAIRS; i++) {
        store(a, r->t->bits, i, edge(r->t, i / EDGES));
        store(b, r->t->bits, i, second(r->t, r->o, i % EDGES));
    }
    char kernel[80];
    snprintf(kernel, sizeof kernel, "%s_%s%s%s", r->t->name, operations[r->o].name,
             r->folded ? "_folded" : "", r->by_number ? "_kernel" : "");
    tirc_argument list[3];
    void *data[3] = {a, b, out};
    unsigned bits[3] = {r->t->bits, r->t->bits, result.bits};
    for (int i = 0; i < 3; i++)
        list[i] = (tirc_argument){.name = r->by_number ? numbers[i] : names[i],
                                  .data = data[i],
                                  .bytes = (uint64_t)PAIRS * bits[i] / 8};
    tirc_launch launch = {.size = sizeof launch,
                          .kernel = kernel,
                          .arguments = r->folded ? &list[2] : list,
                          .argument_count = r->folded ? 1 : 3,
                          .threads = 1};
    if (r->by_number)
        launch.grid[0] = launch.grid[1] = launch.grid[2] = launch.block[1] = launch.block[2] = 1,
        launch.block[0] = PAIRS;
    if (tirc_run(module, &launch, NULL) != TIRC_OK) {
        tirc_diagnostics_render(session, TIRC_FORMAT_TEXT, false, tirc_sink_file, stdout);
        return false;
    }
    for (int i = 0; i < PAIRS; i++) {
        wide x = edge(r->t, i / EDGES), y = second(r->t, r->o, i % EDGES), expected = model(r->t, r->o, x, y),
             got = read_back(out, &result, i);
        if (got != wrap(&result, expected)) {
            char texts[4][40];
            print_wide(texts[0], x), print_wide(texts[1], y), print_wide(texts[2], expected),
                print_wide(texts[3], got);
            printf("%s %s of %s and %s, %s: %s, expected %s\n", r->t->name, operations[r->o].name, texts[0],
                   texts[1], road, texts[3], texts[2]);
            return false;
        }
    }
    return true;
}

/* Every value that the IR text stores at a constant index is a constant. */
static bool check_folded(tirc_module *module) {
    text t = {0};
    int seen = 0, bad = tirc_emit(module, TIRC_EMIT_IR, NULL, collect, &t) != TIRC_OK || !t.data;
    for (const char *at = t.data; !bad && (at = strstr(at, "    R[")); at++) {
        if (at[6] < '0' || at[6] > '9')
            continue;
        const char *value = strstr(at, "] = ");
        size_t size = value ? strcspn(value + 4, "\n") : 0;
        if (!value || size != strspn(value + 4, "-0123456789_uint")) {
            printf("not folded: %.*s\n", (int)strcspn(at, "\n"), at);
            bad++;
        }
        seen++;
    }
    free(t.data);
    return !bad && seen == PAIRS * TYPES * OPERATIONS;
}

static bool check(int count, char **words) {
    unsigned bad = 0, done = 0;
    tirc_session *session = tirc_session_create(NULL);
    tirc_module *ours = load(session, words[2], NULL),
                *theirs = count > 3 ? load(session, words[3], NULL) : NULL;
    if (!ours || (count > 3 && !theirs))
        return false;
    bad += !check_folded(ours);
    for (int i = 0; i < TYPES; i++)
        for (int o = 0; o < OPERATIONS; o++) {
            run r = {&types[i], (operation)o, false, false};
            bad += !check_kernel(session, ours, "machine", &r);
            r.folded = true;
            bad += !check_kernel(session, ours, "folded", &r);
            r = (run){&types[i], (operation)o, false, true};
            bad += theirs && !check_kernel(session, theirs, "CUDA through nvcc", &r);
            done++;
        }
    tirc_session_destroy(session);
    printf("%u operations on %d pairs: machine, folded%s, %u failures\n", done, PAIRS,
           theirs ? ", CUDA through nvcc" : "", bad);
    return bad == 0;
}

int main(int count, char **words) {
    if (count >= 2 && !strcmp(words[1], "emit"))
        return emit(count == 2);
    if (count >= 3 && !strcmp(words[1], "check"))
        return check(count, words) ? 0 : 1;
    return 2;
}
