/* SPDX-License-Identifier: Apache-2.0
 * tirc layout: questions about a layout, and pictures of it. */
#include "cli/cli_layout.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const cli_option options[] = {
    {"--shape", "8,8", "shape of the tensor; without it, the layout's own extents", false},
    {"--at", "0,3", "where this element lives", false},
    {"--table", NULL, "where every element lives", false},
    {"--lane", "T", "the elements that lane or thread T holds", false},
    {"--inverse", "AXIS=N,...", "the elements at a place, as laneid=5,m=1", false},
    {"--injective", NULL, "whether every element has a place of its own; else two that share one", false},
    {"--vector", NULL, "widest access along the last dimension, and why not wider", false},
    {"--banks", NULL, "bank conflicts of a warp's access to shared memory", false},
    {"--access", "EXPR", "layout from lane to element number for --banks; default: neighbours", false},
    {"--width", "BYTES", "bytes per lane for --banks; default: one element", false},
    {"--dtype", "NAME", "element type, for --vector, --banks and pictures", false},
    {"--compare", "EXPR", "whether this layout puts every element at the same place", false},
    {"--cute", NULL, "the same map as CuTe's shape:stride", false},
    {"--canonical", NULL, "the canonical form", false},
    {"--svg", "FILE", "a picture (- for standard output)", false},
    {"--html", "FILE", "a picture with hover, one self-contained file", false},
    {"--text", NULL, "a picture for the terminal; also when nothing else is asked", false},
    {"--columns", "N", "width of the terminal for --text", false},
    {"--json", NULL, "one JSON object per answer", false},
    {NULL, NULL, NULL, false},
};

enum { FIND_LIMIT = 1 << 20, TABLE_LIMIT = 1 << 22 };

typedef struct question {
    const cli_arguments *arguments;
    tirc_session *session;
    tirc_layout *layout;
    tirc_layout_facts facts;
    bool json;
    bool findings;   /* an answer that is worth exit status 1 */
    bool incomplete; /* one that gave up */
    uint32_t bits;
} question;

bool cli_numbers(const cli_arguments *arguments, const char *option, const char *text, int64_t *numbers,
                 uint32_t *count) {
    *count = 0;
    while (*text) {
        char *end;
        long long n = strtoll(text, &end, 10);
        if (end == text || (*end && *end != ',') || *count == TIRC_RANK_MAX) {
            cli_usage(arguments->command, "`%s` wants at most %d numbers with commas between, as 8,64",
                      option, TIRC_RANK_MAX);
            return false;
        }
        numbers[(*count)++] = n;
        text = *end ? end + 1 : end;
    }
    return true;
}

static void print_list(const int64_t *numbers, uint32_t count, const char *open, const char *separator,
                       const char *close) {
    fputs(open, stdout);
    for (uint32_t i = 0; i < count; ++i)
        printf("%s%" PRId64, i ? separator : "", numbers[i]);
    fputs(close, stdout);
}

static void print_coordinate(const question *q, int64_t element) {
    int64_t coordinate[64];
    tirc_layout_coordinate(q->layout, element, coordinate);
    print_list(coordinate, q->facts.rank, q->json ? "[" : "(", q->json ? "," : ", ", q->json ? "]" : ")");
}

/* {"m": 13} or m 13 */
static void print_place(const question *q, const int64_t *position) {
    fputs(q->json ? "{" : "", stdout);
    for (uint32_t s = 0; s < q->facts.axis_count; ++s)
        printf(q->json ? "%s\"%s\": %" PRId64 : "%s%s %" PRId64, s ? ", " : "", q->facts.axes[s],
               position[s]);
    fputs(q->json ? "}" : "", stdout);
}

static void print_json_text(const char *text) {
    putchar('"');
    for (; *text; ++text)
        if (*text == '"' || *text == '\\')
            printf("\\%c", *text);
        else if ((unsigned char)*text < 32)
            printf("\\u%04x", *text);
        else
            putchar(*text);
    putchar('"');
}

/* ---- where ---- */
static tirc_status answer_at(question *q, const char *text) {
    int64_t coordinate[TIRC_RANK_MAX], count = 0;
    uint32_t rank;
    if (!cli_numbers(q->arguments, "--at", text, coordinate, &rank))
        return TIRC_USAGE;
    if (rank != q->facts.rank) {
        cli_usage("layout", "`--at %s` has %u coordinates, the shape has %u dimensions", text, rank,
                  q->facts.rank);
        return TIRC_USAGE;
    }
    size_t limit = q->facts.copies < 1024 ? (size_t)q->facts.copies : 1024;
    int64_t *positions = calloc(limit * q->facts.axis_count + 1, sizeof *positions);
    if (!positions)
        return TIRC_NO_MEMORY;
    tirc_status status = tirc_layout_at(q->layout, coordinate, limit, positions, &count);
    for (size_t k = 0; status == TIRC_OK && k < limit; ++k) {
        print_place(q, positions + k * q->facts.axis_count);
        putchar('\n');
    }
    if (status == TIRC_OK && (int64_t)limit < count)
        fprintf(stderr, "shown: %zu of %" PRId64 " copies\n", limit, count);
    free(positions);
    return status;
}

/* Every copy of every element. */
static tirc_status answer_table(question *q) {
    int64_t coordinate[64], copies = 0;
    if (q->facts.elements > TABLE_LIMIT || q->facts.copies > TABLE_LIMIT / q->facts.elements) {
        char text[200];
        snprintf(text, sizeof text,
                 "the table has more than %d lines, one per copy of an element: there are %" PRId64
                 " elements in %" PRId64 " cop%s each",
                 TABLE_LIMIT, q->facts.elements, q->facts.copies, q->facts.copies == 1 ? "y" : "ies");
        tirc_diagnostic_add(q->session, true, "T0843", text,
                            "ask for one element with --at, or for a smaller shape");
        return TIRC_ERROR;
    }
    int64_t *positions = malloc((size_t)q->facts.copies * q->facts.axis_count * sizeof *positions + 1);
    tirc_status status = positions ? TIRC_OK : TIRC_NO_MEMORY;
    for (int64_t e = 0; e < q->facts.elements && status == TIRC_OK; ++e) {
        tirc_layout_coordinate(q->layout, e, coordinate);
        status = tirc_layout_at(q->layout, coordinate, (size_t)q->facts.copies, positions, &copies);
        for (int64_t k = 0; k < copies && status == TIRC_OK; ++k) {
            fputs(q->json ? "{\"at\": " : "", stdout);
            print_coordinate(q, e);
            fputs(q->json ? ", \"place\": " : "  ", stdout);
            print_place(q, positions + k * q->facts.axis_count);
            puts(q->json ? "}" : "");
        }
    }
    free(positions);
    return status;
}

/* ---- the inverse ---- */
static tirc_status print_found(question *q, const tirc_layout_place *places, size_t count) {
    tirc_layout_found found;
    tirc_status status = tirc_layout_find(q->layout, places, count, FIND_LIMIT, &found);
    if (status != TIRC_OK)
        return status;
    if (q->json)
        printf("{\"elements\": [");
    for (size_t i = 0; i < found.count; ++i) {
        fputs(q->json && i ? ", " : "", stdout);
        fputs(q->json ? "{\"at\": " : "", stdout);
        print_coordinate(q, found.elements[i]);
        fputs(q->json ? ", \"place\": " : "  ", stdout);
        print_place(q, found.positions + i * q->facts.axis_count);
        fputs(q->json ? "}" : "\n", stdout);
    }
    if (q->json)
        printf("], \"complete\": %s}\n", found.complete ? "true" : "false");
    else if (!found.count && found.complete)
        puts("no element");
    if (!found.complete) {
        q->incomplete = true;
        fprintf(stderr, "gave up after %zu elements: there may be more\n", found.count);
    }
    return TIRC_OK;
}

static tirc_status answer_lane(question *q, const char *text) {
    int64_t lane[TIRC_RANK_MAX];
    uint32_t count;
    if (!cli_numbers(q->arguments, "--lane", text, lane, &count))
        return TIRC_USAGE;
    if (count != 1 || !q->facts.thread_axis) {
        cli_usage("layout", count != 1
                                ? "`--lane` wants one number"
                                : "`--lane`: the layout has no axis of threads or lanes; ask --inverse m=N");
        return TIRC_USAGE;
    }
    return print_found(q, &(tirc_layout_place){q->facts.thread_axis, lane[0]}, 1);
}

static tirc_status answer_inverse(question *q, const char *text) {
    tirc_layout_place places[32];
    size_t count = 0;
    char *copy = malloc(strlen(text) + 1), *save = NULL;
    if (!copy)
        return TIRC_NO_MEMORY;
    strcpy(copy, text);
    tirc_status status = TIRC_OK;
    for (char *word = strtok_r(copy, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
        char *equals = strchr(word, '='), *end = NULL;
        if (equals)
            *equals = 0;
        if (!equals || count == 32 ||
            (places[count].value = strtoll(equals + 1, &end, 10), end == equals + 1 || *end)) {
            cli_usage("layout", "`--inverse %s`: wanted AXIS=N with commas between, as laneid=5,m=1", text);
            status = TIRC_USAGE;
            break;
        }
        places[count++].axis = word;
    }
    if (status == TIRC_OK)
        status = print_found(q, places, count);
    free(copy);
    return status;
}

/* ---- properties ---- */
static void answer_injective(question *q) {
    int64_t first = 0, second = 0, position[64];
    tirc_answer answer = tirc_layout_injective(q->layout, &first, &second, position);
    if (answer == TIRC_UNKNOWN) {
        q->incomplete = true;
        puts(q->json ? "{\"injective\": null}" : "not decided: the search took too many steps");
        return;
    }
    if (answer == TIRC_YES) {
        puts(q->json ? "{\"injective\": true}" : "injective: every element has a place of its own");
        return;
    }
    q->findings = true;
    fputs(q->json ? "{\"injective\": false, \"first\": " : "not injective: ", stdout);
    print_coordinate(q, first);
    fputs(q->json ? ", \"second\": " : " and ", stdout);
    print_coordinate(q, second);
    fputs(q->json ? ", \"place\": " : " both map to ", stdout);
    print_place(q, position);
    puts(q->json ? "}" : "");
}

static tirc_status answer_vector(question *q) {
    tirc_layout_vector vector;
    tirc_status status = tirc_layout_widest(q->layout, q->bits, 16, &vector);
    if (status != TIRC_OK)
        return status;
    if (q->json) {
        printf("{\"elements\": %" PRId64 ", \"bits\": %" PRId64 ", \"exact\": %s, \"why\": ", vector.elements,
               vector.elements * q->bits, vector.exact ? "true" : "false");
        print_json_text(vector.why);
        puts("}");
    } else {
        printf("%s%" PRId64 " elements of %u bits (%" PRId64 " bytes); not %" PRId64 ", because %s\n",
               vector.exact ? "" : "at least ", vector.elements, q->bits, vector.elements * q->bits / 8,
               2 * vector.elements, vector.why);
    }
    q->incomplete = q->incomplete || !vector.exact;
    return TIRC_OK;
}

/* Element of each lane: by --access, a layout over the lanes, or neighbours `width` apart. */
static tirc_status lane_elements(question *q, tirc_warp_access *access, int64_t *elements) {
    uint64_t width = q->bits < 8 ? 1 : q->bits / 8;
    const char *text = cli_value(q->arguments, "--access");
    if (!cli_number(q->arguments, "--width", 1, 16, &width))
        return TIRC_USAGE;
    *access = (tirc_warp_access){elements, 32, q->bits, (uint32_t)width};
    int64_t each = (int64_t)width * 8 / q->bits;
    for (int64_t lane = 0; lane < 32; ++lane)
        elements[lane] = lane * (each > 0 ? each : 1);
    if (!text) {
        if (q->facts.elements < 32 * each)
            access->lanes = (uint32_t)(q->facts.elements / (each > 0 ? each : 1));
        return TIRC_OK;
    }
    tirc_layout *lanes;
    tirc_layout_facts facts;
    tirc_status status = tirc_layout_read(q->session, text, 0, NULL, &lanes);
    if (status != TIRC_OK)
        return status;
    tirc_layout_describe(lanes, &facts);
    if (facts.elements > 32 || facts.axis_count != 1) {
        cli_usage("layout", "`--access %s` has to map at most 32 lanes to one number, the element's", text);
        return TIRC_USAGE;
    }
    access->lanes = (uint32_t)facts.elements;
    for (int64_t lane = 0; lane < facts.elements && status == TIRC_OK; ++lane) {
        int64_t coordinate[64], count;
        tirc_layout_coordinate(lanes, lane, coordinate);
        status = tirc_layout_at(lanes, coordinate, 1, &elements[lane], &count);
    }
    return status;
}

static void print_lanes(const question *q, uint32_t mask) {
    bool first = true;
    for (uint32_t lane = 0; lane < 32; ++lane)
        if (mask >> lane & 1) {
            printf("%s%u", first ? "" : q->json ? ", " : " ", lane);
            first = false;
        }
}

static tirc_status answer_banks(question *q) {
    int64_t elements[32];
    tirc_warp_access access;
    tirc_banks banks;
    tirc_status status = lane_elements(q, &access, elements);
    if (status == TIRC_OK)
        status = tirc_layout_banks(q->layout, &access, &banks);
    if (status != TIRC_OK)
        return status;
    if (q->json)
        printf("{\"wavefronts\": %u, \"ideal\": %u, \"conflicts\": [", banks.wavefronts, banks.ideal);
    else
        printf("%u pass%s of 128 bytes for %u lanes of %u bytes; %u without conflicts\n", banks.wavefronts,
               banks.wavefronts == 1 ? "" : "es", access.lanes, access.width, banks.ideal);
    for (size_t i = 0; i < banks.count; ++i) {
        const tirc_bank_conflict *c = &banks.conflicts[i];
        printf(q->json ? "%s{\"pass\": %u, \"bank\": %u, \"words\": %u, \"lanes\": ["
                       : "%spass %u, bank %u: %u different words, lanes ",
               q->json && i ? ", " : "", c->pass, c->bank, c->words);
        print_lanes(q, c->lanes);
        fputs(q->json ? "]}" : "\n", stdout);
    }
    if (q->json)
        puts("]}");
    return TIRC_OK;
}

static tirc_status answer_compare(question *q, const char *text) {
    tirc_layout *other;
    tirc_layout_difference difference;
    tirc_status status = tirc_layout_read(q->session, text, q->facts.rank, q->facts.shape, &other);
    if (status != TIRC_OK)
        return status;
    tirc_answer answer = tirc_layout_compare(q->layout, other, &difference);
    q->findings = q->findings || answer == TIRC_NO;
    q->incomplete = q->incomplete || answer == TIRC_UNKNOWN;
    if (answer == TIRC_YES) {
        puts(q->json ? "{\"agree\": true}" : "the layouts agree on every element");
    } else if (answer == TIRC_UNKNOWN) {
        printf(q->json ? "{\"agree\": null, \"why\": \"%s\"}\n" : "not decided: %s\n", difference.why);
    } else {
        fputs(q->json ? "{\"agree\": false, \"at\": " : "they differ at ", stdout);
        print_coordinate(q, difference.element);
        printf(q->json ? ", \"first\": \"%s\", \"second\": \"%s\"" : ": %s here, %s there", difference.first,
               difference.second);
        if (difference.why)
            printf(q->json ? ", \"why\": \"%s\"" : " (%s)", difference.why);
        puts(q->json ? "}" : "");
    }
    return TIRC_OK;
}

static tirc_status answer_cute(question *q) {
    const char *text;
    tirc_status status = tirc_layout_cute(q->layout, &text);
    if (status == TIRC_OK)
        printf(q->json ? "{\"cute\": \"%s\"}\n" : "%s\n", text);
    return status;
}

/* ---- pictures ---- */
tirc_status cli_draw_to(const char *path, cli_drawing draw, void *user, tirc_picture picture) {
    cli_output output = {.path = path};
    tirc_status status = draw(user, picture, cli_output_sink, &output);
    if (status == TIRC_OK && !cli_output_close(&output))
        return TIRC_ERROR;
    free(status == TIRC_OK ? NULL : output.data);
    return status;
}

static tirc_status draw(void *user, tirc_picture picture, tirc_sink sink, void *to) {
    question *q = user;
    int64_t elements[32];
    tirc_warp_access access;
    uint64_t columns = 0;
    bool banks = cli_flag(q->arguments, "--banks");
    if (!cli_number(q->arguments, "--columns", 40, 1000, &columns))
        return TIRC_USAGE;
    if (banks) {
        tirc_status status = lane_elements(q, &access, elements);
        if (status != TIRC_OK)
            return status;
    }
    return tirc_layout_draw(q->layout, picture, cli_flag(q->arguments, "--dtype") ? q->bits : 0,
                            banks ? &access : NULL, (uint32_t)columns, sink, to);
}

static bool wants_answer(const cli_arguments *arguments) {
    static const char *const asks[] = {"--at",        "--table",     "--lane",  "--inverse",
                                       "--injective", "--vector",    "--banks", "--compare",
                                       "--cute",      "--canonical", "--svg",   "--html"};
    for (size_t i = 0; i < sizeof asks / sizeof asks[0]; ++i)
        if (cli_flag(arguments, asks[i]))
            return true;
    return false;
}

static tirc_status answer_all(question *q) {
    const cli_arguments *a = q->arguments;
    const char *text;
    tirc_status status = TIRC_OK;
    if ((text = cli_value(a, "--at")) && status == TIRC_OK)
        status = answer_at(q, text);
    if (cli_flag(a, "--table") && status == TIRC_OK)
        status = answer_table(q);
    if ((text = cli_value(a, "--lane")) && status == TIRC_OK)
        status = answer_lane(q, text);
    if ((text = cli_value(a, "--inverse")) && status == TIRC_OK)
        status = answer_inverse(q, text);
    if (cli_flag(a, "--injective") && status == TIRC_OK)
        answer_injective(q);
    if (cli_flag(a, "--vector") && status == TIRC_OK)
        status = answer_vector(q);
    if (cli_flag(a, "--banks") && status == TIRC_OK)
        status = answer_banks(q);
    if ((text = cli_value(a, "--compare")) && status == TIRC_OK)
        status = answer_compare(q, text);
    if (cli_flag(a, "--cute") && status == TIRC_OK)
        status = answer_cute(q);
    if (cli_flag(a, "--canonical") && status == TIRC_OK)
        printf(q->json ? "{\"canonical\": \"%s\"}\n" : "%s\n", q->facts.canonical);
    if ((text = cli_value(a, "--svg")) && status == TIRC_OK)
        status = cli_draw_to(text, draw, q, TIRC_PICTURE_SVG);
    if ((text = cli_value(a, "--html")) && status == TIRC_OK)
        status = cli_draw_to(text, draw, q, TIRC_PICTURE_HTML);
    if ((cli_flag(a, "--text") || !wants_answer(a)) && status == TIRC_OK)
        status = cli_draw_to(NULL, draw, q, cli_wants_colour(a) ? TIRC_PICTURE_ANSI : TIRC_PICTURE_TEXT);
    return status;
}

static tirc_status open_question(question *q) {
    int64_t shape[TIRC_RANK_MAX];
    uint32_t rank = 0;
    const char *text = cli_value(q->arguments, "--shape"), *dtype = cli_value(q->arguments, "--dtype");
    tirc_dtype found;
    if (text && (!cli_numbers(q->arguments, "--shape", text, shape, &rank)))
        return TIRC_USAGE;
    if (text && !rank) {
        cli_usage("layout", "`--shape` wants numbers with commas between, as 8,64");
        return TIRC_USAGE;
    }
    q->bits = 32;
    if (dtype && !tirc_dtype_find(dtype, &found)) {
        cli_usage("layout", "there is no element type `%s`", dtype);
        return TIRC_USAGE;
    }
    if (dtype)
        q->bits = found.bits;
    tirc_status status = tirc_layout_read(q->session, q->arguments->words[0], rank, shape, &q->layout);
    if (status == TIRC_OK)
        tirc_layout_describe(q->layout, &q->facts);
    return status;
}

static int layout(const cli_arguments *arguments) {
    question q = {.arguments = arguments, .json = cli_flag(arguments, "--json")};
    cli_input input = {.session = q.session = tirc_session_create(NULL)};
    if (!q.session)
        return cli_exit(TIRC_NO_MEMORY);
    tirc_status status = open_question(&q);
    if (status == TIRC_OK)
        status = answer_all(&q);
    if (status == TIRC_OK && q.findings)
        status = TIRC_FINDINGS;
    if (status == TIRC_OK && q.incomplete)
        status = TIRC_INCOMPLETE;
    return cli_finish(arguments, &input, status);
}

const cli_command cli_layout_command = {
    .name = "layout",
    .words = "LAYOUT",
    .summary = "where elements live: questions about a layout, and pictures",
    .options = options,
    .least = 1,
    .most = 1,
    .run = layout,
    .examples = "  tirc layout 'S[(8,8):(10,1)]' --shape 8,8 --at 0,3 --json\n"
                "  tirc layout 'S[(8,4,2):(4@laneid,1@laneid,1)]' --shape 8,8 --lane 5\n"
                "  tirc layout 'Z(3,3,3)*S[(128,64):(64,1)]' --dtype float16 --svg swizzle.svg\n"
                "  tirc layout '(8,64):(64,1)' --dtype float16 --banks --width 16 --access 'S[8:64]'\n"};
