/* SPDX-License-Identifier: Apache-2.0
 * tirc fragment: which lane and register of a warp hold which element, by the name of an instruction. */
#include "cli/cli_layout.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const cli_option options[] = {
    {"--pack", NULL, "with .pack::16b (ld) or .unpack::16b (st)", false},
    {"--split", "N", "columns to the second half of 16x32bx2; default: side by side", false},
    {"--at", "LANE,COLUMN", "the thread and register of a cell", false},
    {"--thread", "T", "the cells of a thread of the warp or warpgroup", false},
    {"--list", NULL, "every name, of free sizes the usual ones", false},
    {"--layout", NULL, "the fragment as a layout", false},
    {"--svg", "FILE", "a picture (- for standard output)", false},
    {"--html", "FILE", "a picture with hover, one self-contained file", false},
    {"--columns", "N", "width of the terminal", false},
    {"--json", NULL, "one JSON object per answer", false},
    {NULL, NULL, NULL, false},
};

typedef struct request {
    const cli_arguments *arguments;
    tirc_session *session;
    tirc_fragment fragment;
    const char *name;
    bool pack, json;
    int64_t split;
} request;

bool cli_wants_colour(const cli_arguments *arguments) {
    const char *when = cli_value(arguments, "--color");
    if (when && strcmp(when, "auto") != 0)
        return strcmp(when, "always") == 0;
    return isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
}

static tirc_status draw(void *user, tirc_picture picture, tirc_sink sink, void *to) {
    request *r = user;
    uint64_t columns = 0;
    if (!cli_number(r->arguments, "--columns", 40, 1000, &columns))
        return TIRC_USAGE;
    return tirc_fragment_draw(r->session, r->name, r->pack, r->split, picture, (uint32_t)columns, sink, to);
}

static void print_place(const request *r, const tirc_layout_facts *facts, const int64_t *position) {
    fputs(r->json ? "{" : "", stdout);
    for (uint32_t s = 0; s < facts->axis_count; ++s)
        printf(r->json ? "%s\"%s\": %" PRId64 : "%s%s %" PRId64, s ? ", " : "", facts->axes[s], position[s]);
    puts(r->json ? "}" : "");
}

/* --at and --thread need the fragment as one layout. */
static bool one_layout(const request *r, tirc_layout_facts *facts) {
    if (!r->fragment.layout) {
        cli_usage("fragment", "with its halves apart, %s is no single tile to ask; leave --split out",
                  r->name);
        return false;
    }
    tirc_layout_describe(r->fragment.layout, facts);
    return true;
}

static tirc_status answer_at(const request *r, const char *text) {
    int64_t coordinate[TIRC_RANK_MAX], position[64], count;
    uint32_t rank;
    tirc_layout_facts facts;
    if (!cli_numbers(r->arguments, "--at", text, coordinate, &rank) || !one_layout(r, &facts))
        return TIRC_USAGE;
    if (rank != 2) {
        cli_usage("fragment", "`--at` wants two numbers, as 9,6");
        return TIRC_USAGE;
    }
    tirc_status status = tirc_layout_at(r->fragment.layout, coordinate, 1, position, &count);
    if (status == TIRC_OK)
        print_place(r, &facts, position);
    return status;
}

static bool has_axis(const tirc_layout_facts *facts, const char *name) {
    for (uint32_t a = 0; a < facts->axis_count; ++a)
        if (!strcmp(facts->axes[a], name))
            return true;
    return false;
}

/* A thread of a warp, or of a warpgroup by one number or by warp and lane. */
static tirc_status answer_thread(const request *r) {
    uint64_t thread = 0;
    tirc_layout_facts facts;
    tirc_layout_found found;
    if (!one_layout(r, &facts))
        return TIRC_USAGE;
    bool by_lane = has_axis(&facts, "laneid"), by_thread = has_axis(&facts, "tid_in_wg"),
         by_warp = has_axis(&facts, "wid_in_wg");
    if (!by_lane && !by_thread) {
        cli_usage("fragment", "`--thread`: %s is a tile of tensor memory, which no thread holds", r->name);
        return TIRC_USAGE;
    }
    if (!cli_number(r->arguments, "--thread", 0, by_thread || by_warp ? 127 : 31, &thread))
        return TIRC_USAGE;
    tirc_layout_place places[2] = {{by_thread ? "tid_in_wg" : "laneid", (int64_t)thread},
                                   {"wid_in_wg", (int64_t)(thread / 32)}};
    if (by_warp)
        places[0].value %= 32;
    tirc_status status = tirc_layout_find(r->fragment.layout, places, by_warp ? 2 : 1, 1 << 16, &found);
    if (status != TIRC_OK)
        return status;
    uint32_t m = 0;
    while (m + 1 < facts.axis_count && strcmp(facts.axes[m], "m") != 0)
        ++m;
    for (size_t i = 0; i < found.count; ++i) {
        int64_t c[64];
        tirc_layout_coordinate(r->fragment.layout, found.elements[i], c);
        printf(r->json ? "{\"m\": %" PRId64 ", \"at\": [%" PRId64 ", %" PRId64 "]}\n"
                       : "m %" PRId64 "  (%" PRId64 ", %" PRId64 ")\n",
               found.positions[i * facts.axis_count + m], c[0], c[1]);
    }
    return TIRC_OK;
}

static void print_facts(const request *r) {
    const tirc_fragment *f = &r->fragment;
    printf("{\"name\": \"%s\"", r->name);
    if (f->is_transfer)
        printf(", \"lanes\": %d, \"bits_per_lane\": %d, \"cells\": %d, \"registers_per_thread\": %d",
               f->lanes, f->bits_per_lane, f->cells, f->registers_per_thread);
    if (f->layout) {
        tirc_layout_facts facts;
        tirc_layout_describe(f->layout, &facts);
        printf(", \"shape\": [%" PRId64 ", %" PRId64 "], \"layout\": \"%s\"", facts.shape[0], facts.shape[1],
               facts.text);
    }
    for (uint32_t i = 0; i < f->word_count; ++i)
        printf("%s\"%s\"", i ? ", " : ", \"words\": [", f->words[i]);
    puts(f->word_count ? "]}" : "}");
}

static tirc_status answer_all(request *r) {
    const cli_arguments *a = r->arguments;
    const char *text;
    bool asked = false;
    tirc_status status = TIRC_OK;
    tirc_layout_facts facts;
    if ((text = cli_value(a, "--at"))) {
        status = answer_at(r, text);
        asked = true;
    }
    if (status == TIRC_OK && cli_flag(a, "--thread")) {
        status = answer_thread(r);
        asked = true;
    }
    if (status == TIRC_OK && cli_flag(a, "--layout")) {
        if (!one_layout(r, &facts))
            return TIRC_USAGE;
        printf(r->json ? "{\"layout\": \"%s\"}\n" : "%s\n", facts.text);
        asked = true;
    }
    if (status == TIRC_OK && (text = cli_value(a, "--svg"))) {
        status = cli_draw_to(text, draw, r, TIRC_PICTURE_SVG);
        asked = true;
    }
    if (status == TIRC_OK && (text = cli_value(a, "--html"))) {
        status = cli_draw_to(text, draw, r, TIRC_PICTURE_HTML);
        asked = true;
    }
    if (status != TIRC_OK || asked)
        return status;
    if (r->json)
        print_facts(r);
    else
        status = cli_draw_to(NULL, draw, r, cli_wants_colour(a) ? TIRC_PICTURE_ANSI : TIRC_PICTURE_TEXT);
    return status;
}

static tirc_status print_names(const request *r) {
    const char *const *names;
    size_t count;
    tirc_status status = tirc_fragment_names(r->session, &names, &count);
    for (size_t i = 0; status == TIRC_OK && i < count; ++i)
        printf(r->json ? "{\"name\": \"%s\"}\n" : "%s\n", names[i]);
    return status;
}

static int fragment(const cli_arguments *arguments) {
    bool list = cli_flag(arguments, "--list");
    request r = {.arguments = arguments,
                 .name = arguments->word_count ? arguments->words[0] : NULL,
                 .pack = cli_flag(arguments, "--pack"),
                 .json = cli_flag(arguments, "--json")};
    uint64_t split = 0;
    if (!cli_number(arguments, "--split", 1, 511, &split))
        return CLI_USAGE;
    r.split = (int64_t)split;
    if (list == (r.name != NULL)) {
        cli_usage("fragment",
                  list ? "`--list` takes no name" : "wanted the name of an instruction, or --list");
        return CLI_USAGE;
    }
    cli_input input = {.session = r.session = tirc_session_create(NULL)};
    if (!r.session)
        return cli_exit(TIRC_NO_MEMORY);
    if (list)
        return cli_finish(arguments, &input, print_names(&r));
    tirc_status status = tirc_fragment_read(r.session, r.name, r.pack, r.split, &r.fragment);
    if (status == TIRC_OK)
        status = answer_all(&r);
    return cli_finish(arguments, &input, status);
}

const cli_command cli_fragment_command = {
    .name = "fragment",
    .words = "INSTRUCTION",
    .summary = "lane, column, thread and register of tcgen05, mma, wgmma and ldmatrix fragments",
    .options = options,
    .least = 0,
    .most = 1,
    .run = fragment,
    .examples = "  tirc fragment --list\n"
                "  tirc fragment tcgen05.ld.16x128b.x4\n"
                "  tirc fragment tcgen05.ld.32x32b.x8 --pack --svg fragment.svg\n"
                "  tirc fragment mma.m16n8k16.f16.A --thread 5\n"
                "  tirc fragment tcgen05.atom.16x256b.128x64.b16 --thread 77\n"
                "  tirc fragment wgmma.m64n128          wgmma.m64k16.f16.A   mma.m16n8.f32.D\n"
                "  tirc fragment tcgen05.mma.F.n64      tcgen05.cp.32x128b.warpx4\n"
                "  tirc fragment tcgen05.sf.128x4.4X    ldmatrix.x4.trans    stmatrix.x2\n"};
