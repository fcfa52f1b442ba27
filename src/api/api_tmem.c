/* SPDX-License-Identifier: Apache-2.0
 * tirc_report_tmem: what a run did with tensor memory, in four parts: columns, lanes and columns of each
 * access, registers, and what waited for what. Instructions of one line and form are one place here; the
 * machine counts each of them. */
#include "api/api_tmem.h"
#include <inttypes.h>
#include <string.h>

/* ---- places ---- */
base_place api_tmem_place_of(const api_tmem_call *call, const ptx_instruction *instruction) {
    base_place at = {0};
    if (instruction == NULL)
        return at;
    at = base_span_place(call->report->session->sources, instruction->span);
    const ptx_module *ptx = call->report->ptx;
    if (instruction->loc_line && instruction->loc_file < ptx->files.count &&
        ptx->files.items[instruction->loc_file]) {
        at.name = ptx->files.items[instruction->loc_file];
        at.line = instruction->loc_line;
    }
    return at;
}

static bool same_place(const base_place *a, const base_place *b) {
    return a->line == b->line && (a->name == b->name || (a->name && b->name && !strcmp(a->name, b->name)));
}

static const char *form_of(const api_tmem_call *call, const ptx_instruction *instruction) {
    base_builder text;
    base_builder_start(&text, call->arena);
    if (instruction != NULL)
        ptx_instruction_form(instruction, &text);
    return text.data ? text.data : "";
}

static void merge(vm_tmem_event *into, const vm_tmem_event *event) {
    into->first = event->first < into->first ? event->first : into->first;
    into->last = event->last > into->last ? event->last : into->last;
    into->count += event->count;
    into->column = event->column < into->column ? event->column : into->column;
    into->column_end = event->column_end > into->column_end ? event->column_end : into->column_end;
    for (unsigned i = 0; i < 4; i++)
        into->lanes[i] |= event->lanes[i];
    into->issued += event->issued;
    into->open += event->open;
    into->by_more |= event->by_more;
    for (uint32_t k = 0; k < event->by_count; k++) {
        uint32_t i = 0;
        while (i < into->by_count && into->by[i] != event->by[k])
            i++;
        if (i < into->by_count)
            continue;
        if (into->by_count == VM_TMEM_EVENT_BY)
            into->by_more = true;
        else
            into->by[into->by_count++] = event->by[k];
    }
}

bool api_tmem_is_columns(vm_tmem_event_kind kind) {
    return kind <= VM_TMEM_EVENT_RELINQUISH;
}

void api_tmem_add(const api_tmem_call *call, api_tmem_places *list, const vm_tmem_event *event) {
    base_place at = api_tmem_place_of(call, event->instruction);
    const char *form = form_of(call, event->instruction);
    api_tmem_place *found = NULL;
    for (size_t i = 0; i < list->count && found == NULL; i++)
        if (list->items[i].kind == event->kind && same_place(&list->items[i].at, &at) &&
            !strcmp(list->items[i].form, form))
            found = &list->items[i];
    if (found == NULL) {
        api_tmem_place made = {.kind = event->kind, .form = form, .at = at};
        base_vector_push(call->arena, list, made);
        found = &list->items[list->count - 1];
    }
    size_t k = 0;
    while (k < found->warps.count &&
           (found->warps.items[k].warp < event->warp ||
            (found->warps.items[k].warp == event->warp && found->warps.items[k].barrier < event->barrier)))
        k++;
    bool another = k == found->warps.count || found->warps.items[k].warp != event->warp ||
                   found->warps.items[k].barrier != event->barrier;
    if (!another) {
        merge(&found->warps.items[k], event);
        return;
    }
    base_vector_push(call->arena, &found->warps, *event);
    memmove(&found->warps.items[k + 1], &found->warps.items[k], (found->warps.count - 1 - k) * sizeof *event);
    found->warps.items[k] = *event;
}

/* ---- words ---- */
const char *api_tmem_kind_name(vm_tmem_event_kind kind) {
    static const char *const names[] = {"allocate", "free",  "relinquish", "ld",
                                        "st",       "mma D", "mma A",      "mma scale factors",
                                        "cp",       "shift", "commit"};
    return names[kind];
}

static void lane_words(const uint32_t lanes[4], base_builder *out) {
    const char *before = "";
    for (unsigned l = 0; l < 128;) {
        if (!(lanes[l / 32] >> l % 32 & 1)) {
            l++;
            continue;
        }
        unsigned end = l;
        while (end < 128 && (lanes[end / 32] >> end % 32 & 1))
            end++;
        base_builder_format(out, "%s%u to %u", before, l, end - 1);
        before = ", ";
        l = end;
    }
}

static void place_words(const base_place *at, const char *file, base_builder *out) {
    if (at->name && file && !strcmp(at->name, file))
        base_builder_format(out, "line %u", at->line);
    else
        base_builder_format(out, "%s:%u", at->name ? at->name : "?", at->line);
}

/* How many columns the CTA holds at once, at most. */
static uint32_t most_columns(const vm_tmem_history *history) {
    bool held[VM_TMEM_EVENT_COLUMNS] = {false};
    uint32_t now = 0, most = 0;
    for (size_t i = 0; i < history->event_count; i++) {
        const vm_tmem_event *e = &history->events[i];
        if (e->kind != VM_TMEM_EVENT_ALLOCATE && e->kind != VM_TMEM_EVENT_FREE)
            continue;
        for (uint32_t c = e->column; c < e->column_end && c < VM_TMEM_EVENT_COLUMNS; c++) {
            bool taken = e->kind == VM_TMEM_EVENT_ALLOCATE;
            now = now - held[c] + taken;
            held[c] = taken;
        }
        most = now > most ? now : most;
    }
    return most;
}

/* Whether fewer releases than allocations gave back what this allocation took. */
static bool is_kept(const vm_tmem_history *history, const vm_tmem_event *allocation) {
    uint64_t taken = 0, given = 0;
    for (size_t i = 0; i < history->event_count; i++) {
        const vm_tmem_event *e = &history->events[i];
        if (e->column != allocation->column || e->column_end != allocation->column_end)
            continue;
        taken += e->kind == VM_TMEM_EVENT_ALLOCATE ? e->count : 0;
        given += e->kind == VM_TMEM_EVENT_FREE ? e->count : 0;
    }
    return given < taken;
}

static void balance_text(const api_tmem_call *call, const vm_tmem_history *history, const char *file,
                         base_builder *out) {
    bool kept = false;
    for (size_t i = 0; i < history->event_count; i++) {
        const vm_tmem_event *e = &history->events[i];
        if (e->kind != VM_TMEM_EVENT_ALLOCATE || !is_kept(history, e))
            continue;
        base_place at = api_tmem_place_of(call, e->instruction);
        base_builder_format(out, "  never released: columns %u to %u, allocated in ", e->column,
                            e->column_end - 1);
        place_words(&at, file, out);
        base_builder_string(out, "\n");
        kept = true;
    }
    base_builder_format(out, "  at most %u of %u columns at a time%s\n", most_columns(history),
                        (unsigned)VM_TMEM_EVENT_COLUMNS, kept ? "" : "; all are released");
}

static void columns_text(const api_tmem_call *call, const vm_tmem_history *history, const char *file,
                         base_builder *out) {
    bool any = false;
    base_builder_string(out, "\ncolumns\n");
    for (size_t i = 0; i < history->event_count; i++) {
        const vm_tmem_event *e = &history->events[i];
        if (!api_tmem_is_columns(e->kind))
            continue;
        base_place at = api_tmem_place_of(call, e->instruction);
        any = true;
        base_builder_format(out, "  #%" PRIu64 " ", e->first);
        place_words(&at, file, out);
        base_builder_format(out, ", warp %u: ", e->warp);
        if (e->kind == VM_TMEM_EVENT_RELINQUISH)
            base_builder_string(out, "gives up the permit to allocate");
        else
            base_builder_format(out, "%s %u columns, %u to %u",
                                e->kind == VM_TMEM_EVENT_ALLOCATE ? "allocates" : "releases",
                                e->column_end - e->column, e->column, e->column_end - 1);
        if (e->pair)
            base_builder_string(out, ", in both CTAs of the pair");
        if (e->count > 1)
            base_builder_format(out, "; %" PRIu64 " times, last #%" PRIu64, e->count, e->last);
        base_builder_string(out, "\n");
    }
    if (any)
        balance_text(call, history, file, out);
    else
        base_builder_string(out, "  none\n");
}

static void access_text(const api_tmem_places *list, const char *file, base_builder *out) {
    base_builder_string(out, "\nlanes, columns, registers\n");
    bool any = false;
    for (size_t i = 0; i < list->count; i++) {
        const api_tmem_place *p = &list->items[i];
        if (api_tmem_is_columns(p->kind) || p->kind == VM_TMEM_EVENT_COMMIT)
            continue;
        any = true;
        base_builder_string(out, "  ");
        place_words(&p->at, file, out);
        base_builder_format(out, ": %s", p->form);
        if (p->kind >= VM_TMEM_EVENT_MMA && p->kind <= VM_TMEM_EVENT_MMA_FACTORS)
            base_builder_format(out, ", %s", api_tmem_kind_name(p->kind) + 4);
        if (p->kind == VM_TMEM_EVENT_LOAD || p->kind == VM_TMEM_EVENT_STORE)
            base_builder_format(out, ", %u register%s of each thread", p->warps.items[0].registers,
                                p->warps.items[0].registers == 1 ? "" : "s");
        if (p->warps.items[0].pair)
            base_builder_string(out, ", in both CTAs of the pair");
        base_builder_string(out, "\n");
        for (size_t k = 0; k < p->warps.count; k++) {
            const vm_tmem_event *e = &p->warps.items[k];
            base_builder_format(out, "    warp %u (%u of its warpgroup): lanes ", e->warp, e->warp % 4);
            lane_words(e->lanes, out);
            if (e->column_end == e->column + 1)
                base_builder_format(out, "; column %u", e->column);
            else
                base_builder_format(out, "; columns %u to %u", e->column, e->column_end - 1);
            if (e->count > 1)
                base_builder_format(out, "; %" PRIu64 " times, #%" PRIu64 " to #%" PRIu64, e->count, e->first,
                                    e->last);
            else
                base_builder_format(out, "; #%" PRIu64, e->first);
            base_builder_string(out, "\n");
        }
    }
    if (!any)
        base_builder_string(out, "  none\n");
}

/* What completed the event: the distinct places. */
static void by_text(const api_tmem_call *call, const vm_tmem_event *e, const char *file, base_builder *out) {
    base_place seen[VM_TMEM_EVENT_BY];
    uint32_t count = 0;
    for (uint32_t k = 0; k < e->by_count; k++) {
        base_place at = api_tmem_place_of(call, e->by[k]);
        uint32_t i = 0;
        while (i < count && !same_place(&seen[i], &at))
            i++;
        if (i < count)
            continue;
        seen[count++] = at;
        base_builder_format(out, "%s%s in ", count > 1 ? ", " : "completed by ", form_of(call, e->by[k]));
        place_words(&at, file, out);
    }
    if (e->by_more)
        base_builder_string(out, " and others");
    if (e->by_count && e->kind == VM_TMEM_EVENT_COMMIT)
        base_builder_format(out, ", first by warp %u", e->by_warp);
    if (e->open)
        base_builder_format(out, "%snothing waited for it", e->by_count ? "; " : "");
    if (e->open && e->issued > 1)
        base_builder_format(out, " in %" PRIu64 " of %" PRIu64 " times", e->open, e->issued);
}

/* A line for each stretch of warps that were completed alike. */
static void waits_of_place(const api_tmem_call *call, const api_tmem_place *p, const char *file,
                           base_builder *out) {
    base_builder words[2];
    for (size_t k = 0, end; k < p->warps.count; k = end) {
        const vm_tmem_event *e = &p->warps.items[k];
        base_builder_start(&words[0], call->arena);
        by_text(call, e, file, &words[0]);
        for (end = k + 1; end < p->warps.count; end++) {
            base_builder_start(&words[1], call->arena);
            by_text(call, &p->warps.items[end], file, &words[1]);
            if (p->warps.items[end].barrier != e->barrier || words[1].size != words[0].size ||
                memcmp(words[0].data, words[1].data, words[0].size))
                break;
        }
        base_builder_string(out, "  ");
        place_words(&p->at, file, out);
        base_builder_format(out, ", %s", api_tmem_kind_name(p->kind));
        if (end - k < p->warps.count && p->warps.items[0].warp != p->warps.items[p->warps.count - 1].warp)
            base_builder_format(out, end == k + 1 ? " of warp %u" : " of warps %u to %u", e->warp,
                                p->warps.items[end - 1].warp);
        if (p->kind == VM_TMEM_EVENT_COMMIT)
            base_builder_format(out, " to the mbarrier at shared offset %u", e->barrier);
        base_builder_string(out, ": ");
        base_builder_add(out, words[0].data, words[0].size);
        base_builder_string(out, "\n");
    }
}

static void waits_text(const api_tmem_call *call, const api_tmem_places *list, const char *file,
                       base_builder *out) {
    base_builder_string(out, "\nwhat waited for what\n");
    bool any = false;
    for (size_t i = 0; i < list->count; i++) {
        const api_tmem_place *p = &list->items[i];
        if (api_tmem_is_columns(p->kind) || p->kind == VM_TMEM_EVENT_MMA_A ||
            p->kind == VM_TMEM_EVENT_MMA_FACTORS)
            continue;
        any = true;
        waits_of_place(call, p, file, out);
    }
    if (!any)
        base_builder_string(out, "  nothing\n");
}

static void history_text(const api_tmem_call *call, const vm_tmem_history *history, base_builder *out) {
    const vm_tmem_event *first = &history->events[0];
    const char *file = api_tmem_place_of(call, first->instruction).name;
    api_tmem_places list = {0};
    for (size_t i = 0; i < history->event_count; i++)
        api_tmem_add(call, &list, &history->events[i]);
    base_builder_format(out, "kernel %s, CTA (%u,%u,%u)", call->report->kernel, first->cta_id[0],
                        first->cta_id[1], first->cta_id[2]);
    if (history->ctas > 1)
        base_builder_format(out, "; %" PRIu64 " other CTA%s did the same", history->ctas - 1,
                            history->ctas == 2 ? "" : "s");
    base_builder_format(out, "\nlines of %s; #1, #2 ...: the order in this CTA\n", file ? file : "?");
    columns_text(call, history, file, out);
    access_text(&list, file, out);
    waits_text(call, &list, file, out);
}

/* ---- JSON ---- */
static void json_text(base_builder *out, const char *text) {
    base_builder_char(out, '"');
    base_builder_json(out, text ? text : "", text ? strlen(text) : 0);
    base_builder_char(out, '"');
}

static void json_place(const base_place *at, base_builder *out) {
    base_builder_string(out, "\"file\":");
    json_text(out, at->name);
    base_builder_format(out, ",\"line\":%u", at->line);
}

static void json_event(const api_tmem_call *call, const vm_tmem_history *history, const vm_tmem_event *e,
                       base_builder *out) {
    base_place at = api_tmem_place_of(call, e->instruction);
    base_builder_format(out, "{\"kind\":\"%s\",\"instruction\":", api_tmem_kind_name(e->kind));
    json_text(out, form_of(call, e->instruction));
    base_builder_string(out, ",");
    json_place(&at, out);
    base_builder_format(out, ",\"warp\":%u,\"warp_in_warpgroup\":%u,\"first\":%" PRIu64 ",\"last\":%" PRIu64,
                        e->warp, e->warp % 4, e->first, e->last);
    base_builder_format(out, ",\"times\":%" PRIu64 ",\"pair\":%s", e->count, e->pair ? "true" : "false");
    if (e->kind == VM_TMEM_EVENT_ALLOCATE)
        base_builder_format(out, ",\"released\":%s", is_kept(history, e) ? "false" : "true");
    if (e->column_end > e->column)
        base_builder_format(out, ",\"column\":%u,\"columns\":%u", e->column, e->column_end - e->column);
    if (!api_tmem_is_columns(e->kind) && e->kind != VM_TMEM_EVENT_COMMIT) {
        base_builder_string(out, ",\"lanes\":\"");
        for (unsigned i = 4; i-- > 0;)
            base_builder_format(out, "%08x", e->lanes[i]);
        base_builder_string(out, "\"");
    }
    if (e->kind == VM_TMEM_EVENT_LOAD || e->kind == VM_TMEM_EVENT_STORE)
        base_builder_format(out, ",\"registers\":%u", e->registers);
    if (e->kind == VM_TMEM_EVENT_COMMIT)
        base_builder_format(out, ",\"mbarrier\":%u", e->barrier);
    if (!api_tmem_is_columns(e->kind)) {
        base_builder_string(out, ",\"completed_by\":[");
        for (uint32_t k = 0; k < e->by_count; k++) {
            base_place by = api_tmem_place_of(call, e->by[k]);
            base_builder_string(out, k ? ",{\"instruction\":" : "{\"instruction\":");
            json_text(out, form_of(call, e->by[k]));
            base_builder_string(out, ",");
            json_place(&by, out);
            base_builder_string(out, "}");
        }
        base_builder_format(out, "],\"not_waited_for\":%" PRIu64, e->open);
    }
    base_builder_string(out, "}");
}

static void history_json(const api_tmem_call *call, const vm_tmem_history *history, base_builder *out) {
    const uint32_t *id = history->events[0].cta_id;
    base_builder_format(out, "{\"cta\":[%u,%u,%u],\"ctas\":%" PRIu64 ",\"most_columns\":%u,\"events\":[",
                        id[0], id[1], id[2], history->ctas, most_columns(history));
    for (size_t i = 0; i < history->event_count; i++) {
        base_builder_string(out, i ? ",\n" : "\n");
        json_event(call, history, &history->events[i], out);
    }
    base_builder_string(out, "]}");
}

static void tmem_body(void *argument) {
    api_tmem_call *call = argument;
    const vm_result *result = call->report->result;
    base_builder *out = &call->out;
    call->arena = call->report->session->arena;
    base_builder_start(out, call->arena);
    call->status = TIRC_OK;
    if (call->format == TIRC_TMEM_SVG) {
        api_tmem_svg(call, result, out);
        return;
    }
    if (call->format == TIRC_TMEM_JSON) {
        base_builder_string(out, "{\"kernel\":");
        json_text(out, call->report->kernel);
        base_builder_string(out, ",\"histories\":[");
        for (size_t i = 0; i < result->tmem_history_count; i++) {
            base_builder_string(out, i ? ",\n" : "\n");
            history_json(call, &result->tmem_histories[i], out);
        }
        base_builder_format(out, "],\"ctas_not_shown\":%" PRIu64 "}\n", result->tmem_ctas_dropped);
        return;
    }
    for (size_t i = 0; i < result->tmem_history_count; i++) {
        base_builder_string(out, i ? "\n" : "");
        history_text(call, &result->tmem_histories[i], out);
    }
    if (result->tmem_history_count == 0)
        base_builder_format(out, "kernel %s: no CTA used tensor memory%s\n", call->report->kernel,
                            result->status == VM_COMPLETE ? "" : " before the run stopped");
    if (result->tmem_ctas_dropped)
        base_builder_format(out, "\n%" PRIu64 " CTAs more, which did other things, are not shown\n",
                            result->tmem_ctas_dropped);
}

tirc_status tirc_report_tmem(const tirc_report *report, tirc_tmem_format format, tirc_sink sink, void *user) {
    if (!report || !sink || !report->result || (unsigned)format > TIRC_TMEM_SVG)
        return TIRC_USAGE;
    api_tmem_call call = {.report = report, .format = format};
    tirc_status status = api_protect(report->session->heap, tmem_body, &call, &call.status);
    if (status == TIRC_OK && !sink(user, call.out.data, call.out.size))
        return TIRC_ERROR;
    return status;
}
