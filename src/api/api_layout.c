/* SPDX-License-Identifier: Apache-2.0
 * Layouts of the public interface: text in, answers and pictures out. */
#include "api/api_private.h"
#include "layout/cute.h"
#include "layout/fragment.h"
#include "layout/query.h"
#include "script/script.h"
#include "view/view.h"
#include <string.h>

struct tirc_layout {
    tirc_session *session;
    const layout_map *map;
    const char *axes[LAYOUT_AXIS_COUNT];
    base_span span; /* of its text */
};

/* ---- a call under the session's heap ---- */
typedef struct call {
    tirc_session *session;
    const tirc_layout *layout, *other;
    const char *text;
    uint32_t rank, bits, limit, width;
    const int64_t *shape, *coordinate;
    const tirc_warp_access *access;
    tirc_picture picture;
    bool pack;
    int64_t split;
    tirc_sink sink;
    void *user;
    void *result, *more;
    size_t count;
    tirc_status status;
    tirc_answer answer;
} call;

static tirc_status refuse(call *c, const char *code, base_span span, const layout_error *error) {
    base_report(c->session->diagnostics, BASE_ERROR, code, span, "%s", error->text ? error->text : "refused");
    return TIRC_ERROR;
}

static tirc_status perform(call *c, void (*body)(void *argument)) {
    c->status = TIRC_OK;
    return api_protect(c->session->heap, body, c, &c->status);
}

static tirc_layout *wrap(tirc_session *session, const layout_map *map) {
    tirc_layout *made = BASE_NEW(session->arena, tirc_layout);
    made->session = session;
    made->map = map;
    for (uint32_t s = 0; s < map->axis_count; s++)
        made->axes[s] = layout_axis_name(map->axes[s]);
    return made;
}

/* ---- reading ---- */
static bool looks_like_cute(const char *text) {
    text += strspn(text, " \t\r\n");
    return strchr("(0123456789_", *text) != NULL || strncmp(text, "Sw", 2) == 0;
}

/* A call or a method, which the notation itself does not have but for Z(...). */
static bool looks_like_script(const char *text) {
    for (const char *at = text; *at; at++) {
        size_t letters = 0;
        while (at[letters] &&
               strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789", at[letters]))
            letters++;
        const char *behind = at + letters + strspn(at + letters, " ");
        if ((letters > 1 && *behind == '(') || (*at == '.' && at[1] && !strchr("0123456789 ", at[1])))
            return true;
        at += letters ? letters - 1 : 0;
    }
    return false;
}

/* What is odd about a layout but leaves every answer exact. */
static void warn(call *c, base_span span, const layout_tile *layout) {
    layout_error error = {NULL};
    int64_t top = 0, room = 0;
    if (layout_canonical_fused(c->session->arena, layout, &error) == NULL)
        base_report(c->session->diagnostics, BASE_WARNING, "T0845", span, "%s", error.text);
    if (layout->swizzle.present && layout_span(layout, LAYOUT_AXIS_M, &top) &&
        layout_footprint(layout, LAYOUT_AXIS_M, &room) && room != top)
        base_report(c->session->diagnostics, BASE_WARNING, "T0846", span,
                    "the swizzle flips bits within blocks of %lld elements, which do not divide the tile: it "
                    "ends at m %lld, but its elements reach into a block that ends at m %lld",
                    (long long)layout_swizzle_block(layout->swizzle), (long long)top - 1,
                    (long long)room - 1);
}

static void read_body(void *argument) {
    call *c = argument;
    base_arena *arena = c->session->arena;
    layout_error error = {NULL};
    size_t size = strlen(c->text), consumed = 0;
    uint32_t file = base_sources_add(c->session->sources, "layout", c->text, size);
    base_span span = {file, 0, (uint32_t)size};
    int64_t own[LAYOUT_CUTE_RANK], *shape = own;
    const layout_tile *layout = NULL;
    uint32_t rank = 0;
    if (looks_like_cute(c->text)) {
        layout_cute cute;
        if (layout_cute_read(arena, c->text, size, &cute, &error)) {
            layout = layout_cute_tile(arena, &cute, own, &error);
            rank = cute.rank;
        }
    } else if (looks_like_script(c->text)) {
        layout = script_evaluate_layout(arena, c->session->diagnostics, file);
        if (layout == NULL) {
            c->status = TIRC_ERROR;
            return;
        }
        shape = BASE_NEW_ARRAY(arena, int64_t, layout->shard_count);
        for (; rank < layout->shard_count; rank++)
            shape[rank] = layout->shard[rank].extent;
    } else {
        layout = layout_parse(arena, c->text, size, &consumed, &error);
        size_t rest = consumed + strspn(c->text + consumed, " \t\r\n");
        if (layout == NULL && consumed < size)
            span = (base_span){file, (uint32_t)consumed, (uint32_t)consumed + 1};
        if (layout != NULL && rest < size) {
            span = (base_span){file, (uint32_t)rest, (uint32_t)size};
            layout_refuse(arena, &error, "the layout ends before byte %zu; what follows is no part of it",
                          rest);
            layout = NULL;
        }
        shape = layout == NULL ? own : BASE_NEW_ARRAY(arena, int64_t, layout->shard_count);
        for (rank = 0; layout != NULL && rank < layout->shard_count; rank++)
            shape[rank] = layout->shard[rank].extent;
    }
    if (layout == NULL) {
        c->status = refuse(c, "T0840", span, &error);
        return;
    }
    const layout_map *map =
        layout_map_make(arena, layout, c->rank ? c->shape : shape, c->rank ? c->rank : rank, &error);
    if (map == NULL)
        c->status = refuse(c, "T0841", span, &error);
    else {
        warn(c, span, layout);
        tirc_layout *made = wrap(c->session, map);
        made->span = span;
        *(tirc_layout **)c->result = made;
    }
}

tirc_status tirc_layout_read(tirc_session *session, const char *text, uint32_t rank, const int64_t *shape,
                             tirc_layout **layout) {
    if (!session || !text || !layout || (rank && !shape) || rank > 64 || strlen(text) > 1u << 20)
        return TIRC_USAGE;
    call c = {.session = session, .text = text, .rank = rank, .shape = shape, .result = layout};
    *layout = NULL;
    return perform(&c, read_body);
}

static const char *thread_axis(const layout_map *map) {
    static const layout_axis order[] = {LAYOUT_AXIS_LANEID, LAYOUT_AXIS_TID_IN_WG, LAYOUT_AXIS_TX,
                                        LAYOUT_AXIS_TLANE,  LAYOUT_AXIS_WID_IN_WG, LAYOUT_AXIS_WARPID,
                                        LAYOUT_AXIS_WGID};
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        if (map->axis_mask >> order[i] & 1)
            return layout_axis_name(order[i]);
    return NULL;
}

static void describe_body(void *argument) {
    call *c = argument;
    tirc_layout_facts *facts = c->result;
    base_arena *arena = c->session->arena;
    const layout_tile *layout = c->layout->map->layout;
    facts->text = layout_text_of(arena, layout);
    facts->canonical = layout_text_of(arena, layout_canonical(arena, layout));
}

void tirc_layout_describe(const tirc_layout *layout, tirc_layout_facts *facts) {
    const layout_map *map = layout->map;
    *facts = (tirc_layout_facts){.rank = map->rank,
                                 .shape = map->shape,
                                 .elements = map->size,
                                 .copies = 1,
                                 .axis_count = map->axis_count,
                                 .axes = layout->axes,
                                 .text = "",
                                 .canonical = "",
                                 .thread_axis = thread_axis(map)};
    for (uint32_t i = 0; i < map->layout->replica_count; i++)
        if (__builtin_mul_overflow(facts->copies, map->layout->replica[i].extent, &facts->copies))
            facts->copies = INT64_MAX;
    call c = {.session = layout->session, .layout = layout, .result = facts};
    (void)perform(&c, describe_body);
}

/* ---- where, and back ---- */
static void at_body(void *argument) {
    call *c = argument;
    layout_error error = {NULL};
    const layout_map *map = c->layout->map;
    if (!layout_map_inside(c->session->arena, map, c->coordinate, &error)) {
        c->status = refuse(c, "T0841", BASE_NO_SPAN, &error);
        return;
    }
    *(int64_t *)c->more = layout_map_copies(map, c->coordinate, (int64_t)c->count, c->result);
}

tirc_status tirc_layout_at(const tirc_layout *layout, const int64_t *coordinate, size_t limit,
                           int64_t *positions, int64_t *count) {
    int64_t ignored = 0;
    if (!layout || !coordinate || (limit && !positions) || limit > (size_t)1 << 40)
        return TIRC_USAGE;
    call c = {.session = layout->session,
              .layout = layout,
              .coordinate = coordinate,
              .count = limit,
              .result = positions,
              .more = count ? count : &ignored};
    return perform(&c, at_body);
}

void tirc_layout_coordinate(const tirc_layout *layout, int64_t element, int64_t *coordinate) {
    layout_map_coordinate(layout->map, element, coordinate);
}

typedef struct find_call {
    call base;
    const tirc_layout_place *places;
    size_t place_count;
    tirc_layout_found *found;
} find_call;

static void find_body(void *argument) {
    find_call *f = argument;
    call *c = &f->base;
    const layout_map *map = c->layout->map;
    int64_t position[LAYOUT_AXIS_COUNT] = {0};
    uint32_t axes = 0;
    layout_error error = {NULL};
    for (size_t i = 0; i < f->place_count; i++) {
        layout_axis axis = LAYOUT_AXIS_M;
        const char *name = f->places[i].axis;
        if (!layout_axis_find(name, strlen(name), &axis) || !(map->axis_mask >> axis & 1)) {
            layout_refuse(c->session->arena, &error, "the layout has no axis '%.40s'", name);
            c->status = refuse(c, "T0841", BASE_NO_SPAN, &error);
            return;
        }
        position[axis] = f->places[i].value;
        axes |= 1u << axis;
    }
    layout_holdings held;
    layout_find(c->session->arena, map, position, axes, c->count, &held);
    int64_t *elements = BASE_NEW_ARRAY(c->session->arena, int64_t, held.count);
    int64_t *positions = BASE_NEW_ARRAY(c->session->arena, int64_t, held.count * map->axis_count);
    for (size_t i = 0; i < held.count; i++) {
        elements[i] = held.items[i].flat;
        for (uint32_t s = 0; s < map->axis_count; s++)
            positions[i * map->axis_count + s] = held.items[i].position[map->axes[s]];
    }
    *f->found = (tirc_layout_found){elements, positions, held.count, held.complete};
}

tirc_status tirc_layout_find(const tirc_layout *layout, const tirc_layout_place *places, size_t count,
                             size_t limit, tirc_layout_found *found) {
    if (!layout || (count && !places) || !found || limit > 1u << 24)
        return TIRC_USAGE;
    for (size_t i = 0; i < count; i++)
        if (!places[i].axis)
            return TIRC_USAGE;
    find_call f = {.base = {.session = layout->session, .layout = layout, .count = limit},
                   .places = places,
                   .place_count = count,
                   .found = found};
    *found = (tirc_layout_found){0};
    f.base.status = TIRC_OK;
    return api_protect(layout->session->heap, find_body, &f, &f.base.status);
}

tirc_answer tirc_layout_injective(const tirc_layout *layout, int64_t *first, int64_t *second,
                                  int64_t *position) {
    layout_collision collision;
    layout_answer answer = layout_injective(layout->map, &collision);
    if (answer == LAYOUT_NO) {
        if (first)
            *first = collision.first;
        if (second)
            *second = collision.second;
        for (uint32_t s = 0; position && s < layout->map->axis_count; s++)
            position[s] = collision.position[layout->map->axes[s]];
    }
    return answer == LAYOUT_YES ? TIRC_YES : answer == LAYOUT_NO ? TIRC_NO : TIRC_UNKNOWN;
}

/* ---- comparing ---- */
static const char *place_text(base_arena *arena, const int64_t *position, uint32_t axes) {
    base_builder text;
    base_builder_start(&text, arena);
    for (unsigned a = 0; a < LAYOUT_AXIS_COUNT; a++)
        if (axes >> a & 1)
            base_builder_format(&text, "%s%s %lld", text.size ? ", " : "", layout_axis_name((layout_axis)a),
                                (long long)position[a]);
    return text.data;
}

static void compare_body(void *argument) {
    call *c = argument;
    layout_difference found;
    tirc_layout_difference *out = c->result;
    base_arena *arena = c->session->arena;
    layout_answer answer = layout_compare(arena, c->layout->map, c->other->map, &found);
    c->answer = answer == LAYOUT_YES ? TIRC_YES : answer == LAYOUT_NO ? TIRC_NO : TIRC_UNKNOWN;
    *out = (tirc_layout_difference){.element = found.flat, .why = found.why};
    if (answer == LAYOUT_NO) {
        out->first = place_text(arena, found.first, found.first_axes);
        out->second = place_text(arena, found.second, found.second_axes);
    }
}

tirc_answer tirc_layout_compare(const tirc_layout *a, const tirc_layout *b,
                                tirc_layout_difference *difference) {
    if (!a || !b || !difference)
        return TIRC_UNKNOWN;
    *difference = (tirc_layout_difference){0};
    if (a->map->size != b->map->size) {
        difference->why = "they have different numbers of elements";
        return TIRC_NO;
    }
    call c = {.session = a->session, .layout = a, .other = b, .result = difference, .answer = TIRC_UNKNOWN};
    if (perform(&c, compare_body) != TIRC_OK) {
        difference->why = "there is not enough memory";
        return TIRC_UNKNOWN;
    }
    return c.answer;
}

/* ---- accesses ---- */
static void widest_body(void *argument) {
    call *c = argument;
    layout_vector found = layout_widest_vector(c->session->arena, c->layout->map, c->bits, c->limit);
    *(tirc_layout_vector *)c->result = (tirc_layout_vector){found.elements, found.exact, found.why};
}

tirc_status tirc_layout_widest(const tirc_layout *layout, uint32_t bits, uint32_t limit_bytes,
                               tirc_layout_vector *vector) {
    if (!layout || !vector || bits == 0 || bits > 128 || limit_bytes > 1024)
        return TIRC_USAGE;
    call c = {
        .session = layout->session, .layout = layout, .bits = bits, .limit = limit_bytes, .result = vector};
    return perform(&c, widest_body);
}

static bool run_banks(call *c, layout_banks *banks) {
    layout_error error = {NULL};
    const tirc_warp_access *a = c->access;
    if (layout_bank_conflicts(c->session->arena, c->layout->map, a->elements, a->lanes, a->bits, a->width,
                              banks, &error))
        return true;
    c->status = refuse(c, "T0841", BASE_NO_SPAN, &error);
    return false;
}

static void banks_body(void *argument) {
    call *c = argument;
    layout_banks banks;
    tirc_banks *out = c->result;
    if (!run_banks(c, &banks))
        return;
    tirc_bank_conflict *list = BASE_NEW_ARRAY(c->session->arena, tirc_bank_conflict, banks.conflicts.count);
    for (size_t i = 0; i < banks.conflicts.count; i++) {
        const layout_bank_conflict *from = &banks.conflicts.items[i];
        list[i] = (tirc_bank_conflict){from->wavefront_group, from->bank, from->words, from->lanes};
    }
    *out = (tirc_banks){banks.wavefronts, banks.ideal, list, banks.conflicts.count};
}

tirc_status tirc_layout_banks(const tirc_layout *layout, const tirc_warp_access *access, tirc_banks *banks) {
    if (!layout || !access || !access->elements || !banks)
        return TIRC_USAGE;
    call c = {.session = layout->session, .layout = layout, .access = access, .result = banks};
    return perform(&c, banks_body);
}

static void cute_body(void *argument) {
    call *c = argument;
    layout_cute cute;
    layout_error error = {NULL};
    base_builder text;
    if (!layout_cute_from(c->session->arena, c->layout->map, &cute, &error)) {
        c->status = refuse(c, "T0842", BASE_NO_SPAN, &error);
        return;
    }
    base_builder_start(&text, c->session->arena);
    layout_cute_print(&cute, &text);
    *(const char **)c->result = text.data;
}

tirc_status tirc_layout_cute(const tirc_layout *layout, const char **text) {
    if (!layout || !text)
        return TIRC_USAGE;
    call c = {.session = layout->session, .layout = layout, .result = text};
    return perform(&c, cute_body);
}

/* ---- pictures ---- */
static void write_picture(call *c, const view_figure *figure) {
    base_builder out;
    base_builder_start(&out, c->session->arena);
    switch (c->picture) {
    case TIRC_PICTURE_SVG:
        view_svg(figure, &out);
        break;
    case TIRC_PICTURE_HTML:
        view_html(figure, &out);
        break;
    default:
        view_text(figure, c->picture == TIRC_PICTURE_ANSI, c->width, &out);
    }
    c->sink(c->user, out.data, out.size);
}

static void draw_body(void *argument) {
    call *c = argument;
    layout_error error = {NULL};
    layout_banks banks;
    view_options options = {.bits = c->bits};
    if (c->access != NULL) {
        if (!run_banks(c, &banks))
            return;
        options.banks = &banks;
        options.bank_elements = c->access->elements;
        options.bank_lanes = c->access->lanes;
        options.bank_width = c->access->width;
        options.bits = c->access->bits;
    }
    const view_figure *figure = view_layout(c->session->arena, c->layout->map, &options, &error);
    if (figure == NULL)
        c->status = refuse(c, "T0843", c->layout->span, &error);
    else
        write_picture(c, figure);
}

tirc_status tirc_layout_draw(const tirc_layout *layout, tirc_picture picture, uint32_t bits,
                             const tirc_warp_access *access, uint32_t width, tirc_sink sink, void *user) {
    if (!layout || !sink || (unsigned)picture > TIRC_PICTURE_ANSI || bits > 1024 ||
        (access && !access->elements))
        return TIRC_USAGE;
    call c = {.session = layout->session,
              .layout = layout,
              .picture = picture,
              .bits = bits,
              .access = access,
              .width = width,
              .sink = sink,
              .user = user};
    return perform(&c, draw_body);
}

/* ---- fragments ---- */
static bool parse_fragment(call *c, layout_fragment_request *request) {
    layout_error error = {NULL};
    size_t size = strlen(c->text);
    if (layout_fragment_parse(c->session->arena, c->text, size, c->pack, c->split, request, &error))
        return true;
    uint32_t file = base_sources_add(c->session->sources, "fragment", c->text, size);
    c->status = refuse(c, "T0844", (base_span){file, 0, (uint32_t)size}, &error);
    return false;
}

static void fragment_body(void *argument) {
    call *c = argument;
    layout_fragment_request request;
    tirc_fragment *out = c->result;
    layout_error error = {NULL};
    if (!parse_fragment(c, &request))
        return;
    out->is_transfer = request.is_transfer;
    out->lanes = request.size.lanes;
    out->bits_per_lane = request.size.bits_per_lane;
    out->cells = request.size.cells;
    out->registers_per_thread = request.size.registers;
    const char **words = BASE_NEW_ARRAY(c->session->arena, const char *, request.word_count + 1);
    memcpy(words, request.words, request.word_count * sizeof *words);
    out->words = words;
    out->word_count = request.word_count;
    if (request.tile == NULL) /* two tiles apart */
        return;
    const layout_map *map = layout_map_make(c->session->arena, request.tile, request.shape, 2, &error);
    if (map == NULL)
        c->status = refuse(c, "T0844", BASE_NO_SPAN, &error);
    else
        out->layout = wrap(c->session, map);
}

tirc_status tirc_fragment_read(tirc_session *session, const char *name, bool pack, int64_t split,
                               tirc_fragment *fragment) {
    if (!session || !name || !fragment || strlen(name) > 4096)
        return TIRC_USAGE;
    *fragment = (tirc_fragment){0};
    call c = {.session = session, .text = name, .pack = pack, .split = split, .result = fragment};
    return perform(&c, fragment_body);
}

static void names_body(void *argument) {
    call *c = argument;
    *(const char *const **)c->result = layout_fragment_names(c->session->arena, c->more);
}

tirc_status tirc_fragment_names(tirc_session *session, const char *const **names, size_t *count) {
    if (!session || !names || !count)
        return TIRC_USAGE;
    *names = NULL;
    *count = 0;
    call c = {.session = session, .result = names, .more = count};
    return perform(&c, names_body);
}

static void fragment_draw_body(void *argument) {
    call *c = argument;
    layout_fragment_request request;
    layout_error error = {NULL};
    if (!parse_fragment(c, &request))
        return;
    const char *name = base_arena_string(c->session->arena, c->text, strlen(c->text));
    const view_figure *figure = view_fragment(c->session->arena, &request, name, &error);
    if (figure == NULL)
        c->status = refuse(c, "T0843", BASE_NO_SPAN, &error);
    else
        write_picture(c, figure);
}

tirc_status tirc_fragment_draw(tirc_session *session, const char *name, bool pack, int64_t split,
                               tirc_picture picture, uint32_t width, tirc_sink sink, void *user) {
    if (!session || !name || !sink || (unsigned)picture > TIRC_PICTURE_ANSI || strlen(name) > 4096)
        return TIRC_USAGE;
    call c = {.session = session,
              .text = name,
              .pack = pack,
              .split = split,
              .picture = picture,
              .width = width,
              .sink = sink,
              .user = user};
    return perform(&c, fragment_draw_body);
}
