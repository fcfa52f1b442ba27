/* SPDX-License-Identifier: Apache-2.0
 * replay RECORDED.txt [-v] [-late] [-check] [-h200] [-l LEVEL] [-d DIFFERENCES.txt] [-o OUTPUTS_DIR]
 * [PREFIX]: runs the conformance set on the machine and compares with what a GPU gave. Prints TAP, one line
 * for each case, and with -v what differs. Cases whose name starts with PREFIX only. With -o, single words
 * are compared with outputs-N.bin. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/heap.h"
#include "cases.h"
#include "vm/vm.h"

typedef struct recorded_part {
    bool words;
    char name[96];
    char *data; /* hexadecimal */
} recorded_part;
typedef struct record {
    char kind[8], name[96];
    uint64_t inputs;
    unsigned part_count;
    recorded_part parts[CASE_PARTS];
    size_t outputs; /* words before this case's in the outputs */
} record;

typedef struct replay {
    FILE *list;
    char *line;
    size_t capacity;
    const char *outputs, *prefix;
    FILE *raw;
    unsigned raw_file;
    char *known; /* differences */
    bool verbose;
    unsigned number, bad;
    vm_schedule schedule;
    vm_approximations approximations;
    bool checked; /* looks for races, too: there are none */
    const char *level;
} replay;

/* ---- reading ---- */
static char *field(char **at) {
    char *start = *at, *tab = strchr(start, '\t');
    if (tab != NULL)
        *tab++ = 0;
    *at = tab ? tab : start + strlen(start);
    return start;
}

static bool read_line(replay *r) {
    ssize_t size = getline(&r->line, &r->capacity, r->list);
    if (size > 0 && r->line[size - 1] == '\n')
        r->line[size - 1] = 0;
    return size > 0;
}

/* The next case of the file; its parts are the lines that follow. */
static bool read_record(replay *r, record *out) {
    out->part_count = 0;
    if (r->line == NULL && !read_line(r))
        return false;
    while (strncmp(r->line, "case\t", 5) != 0)
        if (!read_line(r))
            return false;
    char *at = r->line + 5;
    snprintf(out->name, sizeof out->name, "%s", field(&at));
    out->inputs = strtoull(field(&at), NULL, 16);
    while (read_line(r) && (strncmp(r->line, "part\t", 5) == 0 || strncmp(r->line, "words\t", 6) == 0)) {
        recorded_part *part = &out->parts[out->part_count];
        if (out->part_count++ == CASE_PARTS)
            exit(2);
        part->words = r->line[0] == 'w';
        at = r->line + (part->words ? 6 : 5);
        snprintf(part->name, sizeof part->name, "%s", field(&at));
        part->data = strdup(field(&at));
    }
    return true;
}

static void forget(record *from) {
    for (unsigned i = 0; i < from->part_count; i++)
        free(from->parts[i].data);
    from->part_count = 0;
}

static uint32_t hex_word(const char *data, size_t index) {
    char text[9] = "";
    memcpy(text, data + 8 * index, 8);
    return (uint32_t)strtoul(text, NULL, 16);
}

/* The GPU's outputs of the next case; NULL: not at hand. */
static uint32_t *raw_outputs(replay *r, size_t words) {
    uint32_t *out = r->outputs ? malloc(words * 4) : NULL;
    while (out != NULL) {
        if (r->raw == NULL) {
            char path[512];
            snprintf(path, sizeof path, "%s/outputs-%u.bin", r->outputs, r->raw_file++);
            r->raw = fopen(path, "rb");
            if (r->raw == NULL)
                break;
        }
        if (fread(out, 4, words, r->raw) == words)
            return out;
        fclose(r->raw);
        r->raw = NULL;
    }
    free(out);
    return NULL;
}

/* ---- the machine ---- */
typedef struct run {
    const replay *r;
    const recorded_case *c;
    uint32_t *in, *out;
    char problem[256];
} run;

static void run_case(void *user) {
    run *x = user;
    const recorded_case *c = x->c;
    base_arena *arena = base_arena_create(base_heap_create(NULL));
    base_sources *sources = base_sources_create(arena);
    base_diagnostics *diagnostics = base_diagnostics_create(arena, sources);
    uint32_t file = base_sources_add(sources, c->name, c->ptx, strlen(c->ptx));
    ptx_module *module = ptx_parse(arena, diagnostics, file);
    vm_program *program =
        module && !base_diagnostics_errors(diagnostics)
            ? (x->r->checked ? vm_load_checked : vm_load_with)(arena, module, x->r->approximations)
            : NULL;
    if (program == NULL) {
        snprintf(x->problem, sizeof x->problem, "the PTX is not accepted");
        return;
    }
    vm_buffer buffers[2] = {
        {.name = "in", .data = x->in, .bytes = (uint64_t)c->blocks * c->threads * c->in_words * 4},
        {.name = "out", .data = x->out, .bytes = (uint64_t)c->blocks * c->threads * c->out_words * 4}};
    vm_argument arguments[2] = {{.kind = VM_ARGUMENT_BUFFER, .buffer = 0},
                                {.kind = VM_ARGUMENT_BUFFER, .buffer = 1}};
    vm_launch launch = {.grid = {c->blocks, 1, 1},
                        .block = {c->threads, 1, 1},
                        .arguments = arguments,
                        .argument_count = 2,
                        .buffers = buffers,
                        .buffer_count = 2,
                        .threads = 1,
                        .schedule = x->r->schedule,
                        .seed = 7,
                        .level = x->r->level,
                        .check = x->r->checked ? VM_CHECK_RACES | VM_CHECK_INITIAL : 0,
                        .step_limit = 100000000};
    vm_result *result = vm_run(arena, program, &launch);
    if (result->status == VM_UNSUPPORTED)
        snprintf(x->problem, sizeof x->problem, "the machine does not have '%s' in this form",
                 result->finding_count && result->findings[0].text ? result->findings[0].text : "?");
    else if (result->status != VM_COMPLETE || result->finding_count)
        snprintf(x->problem, sizeof x->problem, "status %d, %s", result->status,
                 result->finding_count ? vm_finding_kind_name(result->findings[0].kind) : "no finding");
    base_heap_destroy(base_arena_heap(arena));
}

/* ---- comparing ---- */
/* Largest relative or absolute error that PTX states for an approximate instruction; specials must agree. */
static bool near_enough(const char *name, uint32_t got, uint32_t want, uint32_t in, unsigned half) {
    static const struct {
        const char *name;
        double relative, absolute;
    } bounds[] = {{"sin.", 0, 0x1p-20},
                  {"cos.", 0, 0x1p-20},
                  {"lg2.", 0x1p-22, 0x1p-22},
                  {"tanh.approx.f32", 0x1p-10, 0},
                  {"tanh.", 0x1p-7, 0},
                  {"ex2.approx.f16", 0x1p-9, 0},
                  {"ex2.approx.ftz.bf16", 0x1p-7, 0},
                  {"ex2.", 0x1p-21, 0},
                  {"", 0x1p-21, 0}};
    double a, b;
    if (half) {
        num_dtype dtype = strstr(name, "bf16") ? NUM_DTYPE_BF16 : NUM_DTYPE_F16;
        if (half == 2 && !near_enough(name, got >> 16, want >> 16, in, 1))
            return false;
        a = num_decode(dtype, got & 0xffff);
        b = num_decode(dtype, want & 0xffff);
    } else {
        a = num_decode(NUM_DTYPE_F32, got);
        b = num_decode(NUM_DTYPE_F32, want);
    }
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    bool circular = strncmp(name, "sin.", 4) == 0 || strncmp(name, "cos.", 4) == 0;
    if (circular && fabs(num_decode(NUM_DTYPE_F32, in)) > 6.283) /* PTX states no bound there */
        return fabs(a) <= 1 && fabs(b) <= 1;
    if (a == b)
        return true;
    if (isinf(a) || isinf(b))
        return false;
    size_t i = 0;
    while (strncmp(name, bounds[i].name, strlen(bounds[i].name)) != 0)
        i++;
    double limit = bounds[i].relative * fabs(b);
    limit = limit > bounds[i].absolute ? limit : bounds[i].absolute;
    limit = limit > (half ? 0x1p-24 : 0x1p-126) ? limit : (half ? 0x1p-24 : 0x1p-126);
    return fabs(a - b) <= limit;
}

/* Words of instructions that the machine computes as the recorded device did. */
static bool same_words(const recorded_case *c, const case_part *part, const recorded_part *want,
                       const uint32_t *out, unsigned *first) {
    for (size_t t = 0; t < (size_t)c->blocks * c->threads; t++)
        for (unsigned i = 0; i < part->count; i++)
            if (out[t * c->out_words + part->first + i] != hex_word(want->data, t * part->count + i)) {
                *first = (unsigned)t;
                return false;
            }
    return true;
}

/* A sequence of instructions that the machine does not follow: compared within its bound always. */
static bool is_sequence(const char *name) {
    return strncmp(name, "rsqrt.approx.f64", 16) == 0;
}

static bool compare_words(const recorded_case *c, const case_part *part, const recorded_part *want,
                          const uint32_t *in, const uint32_t *out, unsigned *first) {
    bool half = strstr(part->name, "f16") != NULL;
    for (size_t t = 0; t < (size_t)c->blocks * c->threads; t++)
        if (part->count == 2) { /* f64: to 20 bits */
            uint64_t got =
                out[t * c->out_words + part->first] | (uint64_t)out[t * c->out_words + part->first + 1] << 32;
            uint64_t wanted = hex_word(want->data, 2 * t) | (uint64_t)hex_word(want->data, 2 * t + 1) << 32;
            double a = num_decode(NUM_DTYPE_F64, got), b = num_decode(NUM_DTYPE_F64, wanted);
            if (!(a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= 0x1p-19 * fabs(b))) {
                *first = (unsigned)t;
                return false;
            }
        } else if (!near_enough(part->name, out[t * c->out_words + part->first], hex_word(want->data, t),
                                in[t * c->in_words], half ? (strstr(part->name, "16x2") ? 2 : 1) : 0)) {
            *first = (unsigned)t;
            return false;
        }
    return true;
}

static void show_words(const recorded_case *c, const case_part *part, const uint32_t *in, const uint32_t *out,
                       const uint32_t *raw) {
    unsigned shown = 0, count = 0;
    size_t total = (size_t)c->blocks * c->threads;
    for (size_t t = 0; t < total; t++)
        for (unsigned i = 0; i < part->count; i++) {
            uint32_t got = out[t * c->out_words + part->first + i],
                     want = raw[t * c->out_words + part->first + i];
            if (got == want)
                continue;
            count++;
            if (shown++ >= 6)
                continue;
            printf("#   block %zu thread %zu word %u: %08" PRIx32 ", GPU %08" PRIx32 "; in", t / c->threads,
                   t % c->threads, i, got, want);
            for (unsigned k = 0; k < c->in_words && k < 6; k++)
                printf(" %08" PRIx32, in[t * c->in_words + k]);
            printf("\n");
        }
    printf("#   %u of %zu words differ\n", count, total * part->count);
}

/* Does the list of differences have a line that starts with this? */
static bool is_known(const replay *r, const char *kind, const char *name) {
    char line[160];
    snprintf(line, sizeof line, "\n%s%s\t", kind, name);
    if (r->approximations == VM_APPROXIMATE_H200 && !is_sequence(name))
        return false; /* nothing is known to differ */
    return r->known != NULL && strstr(r->known, line) != NULL;
}

static bool compare(const replay *r, const recorded_case *c, const record *want, const run *x,
                    const uint32_t *raw) {
    bool good = true;
    for (unsigned p = 0; p < c->part_count; p++) {
        const case_part *part = &c->parts[p];
        const recorded_part *recorded = &want->parts[p];
        bool same = strcmp(part->name, recorded->name) == 0;
        unsigned first = 0;
        if (recorded->words)
            same = same && (r->approximations == VM_APPROXIMATE_H200 && !is_sequence(part->name)
                                ? same_words(c, part, recorded, x->out, &first)
                                : compare_words(c, part, recorded, x->in, x->out, &first));
        char blocks[CASE_BLOCKS + 1] = "";
        for (unsigned block = 0; !recorded->words && block < c->blocks; block++) {
            bool equal =
                (uint32_t)case_part_digest(c, part, x->out, block) == hex_word(recorded->data, block);
            blocks[block] = equal ? '.' : 'x';
            same = same && equal;
        }
        if (!same && r->verbose && !is_known(r, "", part->name)) {
            if (recorded->words)
                printf("# %s: thread %u: %08" PRIx32 ", GPU %08" PRIx32 "; in %08" PRIx32 "\n", part->name,
                       first, x->out[(size_t)first * c->out_words + part->first],
                       hex_word(recorded->data, first), x->in[(size_t)first * c->in_words]);
            else
                printf("# %s: blocks %s\n", part->name, blocks);
            if (raw != NULL)
                show_words(c, part, x->in, x->out, raw);
        }
        bool known = is_known(r, "", part->name);
        if (known && same)
            printf("# %s: is the same now; the list of differences says otherwise\n", part->name);
        good = good && same != known;
    }
    return good;
}

static void check(void *user, const recorded_case *c) {
    replay *r = user;
    size_t out_words = (size_t)c->blocks * c->threads * c->out_words;
    static record want; /* the last one read: may belong to a later case */
    if (want.part_count == 0 && !read_record(r, &want))
        return;
    if (strcmp(want.name, c->name) != 0)
        return; /* not recorded */
    uint32_t *raw = raw_outputs(r, out_words);
    if (strncmp(c->name, r->prefix, strlen(r->prefix)) == 0) {
        run x = {.r = r, .c = c, .in = case_inputs(c), .out = calloc(out_words, 4)};
        uint64_t inputs =
            case_digest(14695981039346656037u, x.in, (size_t)c->blocks * c->threads * c->in_words * 4);
        inputs = case_digest(inputs, c->ptx, strlen(c->ptx));
        memset(x.out, 0xee, out_words * 4);
        if (inputs != want.inputs)
            snprintf(x.problem, sizeof x.problem, "recorded for another kernel or other inputs");
        else
            run_case(&x);
        bool refused = is_known(r, "case ", c->name);
        bool good = x.problem[0] == 0 ? compare(r, c, &want, &x, raw) : refused;
        r->bad += !good;
        printf("%s %u - %s%s%s\n", good ? "ok" : "not ok", ++r->number, c->name, x.problem[0] ? " # " : "",
               x.problem);
        free(x.in);
        free(x.out);
    }
    free(raw);
    forget(&want);
}

/* A whole file, with a newline in front. */
static char *read_text(const char *path) {
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 1 << 20);
    if (file == NULL || text == NULL)
        exit(2);
    text[0] = '\n';
    if (fread(text + 1, 1, (1 << 20) - 2, file) == 0)
        text[1] = 0;
    fclose(file);
    return text;
}

int main(int count, char **arguments) {
    replay r = {.prefix = "", .schedule = VM_SCHEDULE_EARLY};
    const char *path = NULL;
    for (int i = 1; i < count; i++)
        if (strcmp(arguments[i], "-v") == 0)
            r.verbose = true;
        else if (strcmp(arguments[i], "-o") == 0 && i + 1 < count)
            r.outputs = arguments[++i];
        else if (strcmp(arguments[i], "-l") == 0 && i + 1 < count)
            r.level = arguments[++i];
        else if (strcmp(arguments[i], "-d") == 0 && i + 1 < count)
            r.known = read_text(arguments[++i]);
        else if (strcmp(arguments[i], "-late") == 0)
            r.schedule = VM_SCHEDULE_LATE;
        else if (strcmp(arguments[i], "-check") == 0)
            r.checked = true;
        else if (strcmp(arguments[i], "-h200") == 0)
            r.approximations = VM_APPROXIMATE_H200;
        else if (path == NULL)
            path = arguments[i];
        else
            r.prefix = arguments[i];
    r.list = path ? fopen(path, "r") : NULL;
    if (r.list == NULL) {
        fprintf(stderr, "usage: replay RECORDED.txt [-v] [-late] [-h200] [-l LEVEL] [-d DIFFERENCES.txt] "
                        "[-o OUTPUTS_DIR] [PREFIX]\n");
        return 2;
    }
    cases_make(check, &r);
    printf("1..%u\n", r.number);
    fclose(r.list);
    free(r.line);
    free(r.known);
    return r.bad != 0;
}
