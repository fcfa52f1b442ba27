/* SPDX-License-Identifier: Apache-2.0
 * Diagnostics for programs: JSON, one object a line, and SARIF 2.1.0 (OASIS standard of 2020-03-27). */
#include "base/diagnostic_render.h"
#include <string.h>

static void add_string(base_builder *out, const char *text) {
    base_builder_char(out, '"');
    base_builder_json(out, text, strlen(text));
    base_builder_char(out, '"');
}

/* The place of a span's last byte plus one; an empty span ends where it begins. */
static base_place end_place(const base_sources *sources, base_span span) {
    if (span.end > span.begin)
        span.begin = span.end;
    return base_span_place(sources, span);
}

static void add_json_place(const base_sources *sources, base_span span, base_builder *out) {
    base_place begin = base_span_place(sources, span), end = end_place(sources, span);
    base_builder_string(out, "\"file\":");
    if (begin.line == 0)
        base_builder_string(out, "null");
    else
        add_string(out, begin.name);
    base_builder_format(out, ",\"line\":%u,\"column\":%u,\"end_line\":%u,\"end_column\":%u,\"message\":",
                        (unsigned)begin.line, (unsigned)begin.column, (unsigned)end.line,
                        (unsigned)end.column);
}

void base_render_json(const base_sources *sources, const base_diagnostic *diagnostic, base_builder *out) {
    base_builder_format(out, "{\"severity\":\"%s\",\"code\":", base_severity_name(diagnostic->severity));
    add_string(out, diagnostic->code);
    base_builder_char(out, ',');
    add_json_place(sources, diagnostic->span, out);
    add_string(out, diagnostic->text);
    base_builder_string(out, ",\"help\":");
    if (diagnostic->help == NULL)
        base_builder_string(out, "null");
    else
        add_string(out, diagnostic->help);
    base_builder_string(out, ",\"notes\":[");
    for (size_t i = 0; i < diagnostic->notes.count; i++) {
        base_builder_string(out, i == 0 ? "{" : ",{");
        add_json_place(sources, diagnostic->notes.items[i].span, out);
        add_string(out, diagnostic->notes.items[i].text);
        base_builder_char(out, '}');
    }
    base_builder_string(out, "]}\n");
}

/* SARIF wants a URI: every byte that RFC 3986 does not allow in a path is percent-encoded. */
static void add_uri(const char *name, base_builder *out) {
    if (name[0] == '/')
        base_builder_string(out, "file://");
    for (const char *p = name; *p != 0; p++) {
        bool plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
                     strchr("-._~/", *p) != NULL;
        if (plain)
            base_builder_char(out, *p);
        else
            base_builder_format(out, "%%%02X", (unsigned)(unsigned char)*p);
    }
}

/* Columns of SARIF count characters here ("unicodeCodePoints"), ours count bytes. */
static unsigned character_column(const base_sources *sources, uint32_t file, base_place place) {
    base_text line = base_source_line(sources, file, place.line);
    size_t before = place.column - 1 < line.size ? place.column - 1 : line.size;
    unsigned characters = 1;
    for (size_t i = 0; i < before; i++)
        characters += ((unsigned char)line.data[i] & 0xc0u) != 0x80u;
    return characters;
}

static void add_location(const base_sources *sources, base_span span, const char *message,
                         base_builder *out) {
    base_place begin = base_span_place(sources, span), end = end_place(sources, span);
    base_builder_char(out, '{');
    if (begin.line != 0) {
        base_builder_string(out, "\"physicalLocation\":{\"artifactLocation\":{\"uri\":\"");
        add_uri(begin.name, out);
        base_builder_format(
            out, "\"},\"region\":{\"startLine\":%u,\"startColumn\":%u,\"endLine\":%u,\"endColumn\":%u}}",
            (unsigned)begin.line, character_column(sources, span.file, begin), (unsigned)end.line,
            character_column(sources, span.file, end));
    }
    if (message != NULL) {
        base_builder_string(out, begin.line != 0 ? ",\"message\":{\"text\":" : "\"message\":{\"text\":");
        add_string(out, message);
        base_builder_char(out, '}');
    }
    base_builder_char(out, '}');
}

static void add_result(const base_sources *sources, const base_diagnostic *diagnostic, base_builder *out) {
    base_builder_string(out, "{\"ruleId\":");
    add_string(out, diagnostic->code);
    base_builder_format(out, ",\"level\":\"%s\",\"message\":{\"text\":\"",
                        base_severity_name(diagnostic->severity));
    base_builder_json(out, diagnostic->text, strlen(diagnostic->text));
    if (diagnostic->help != NULL) {
        base_builder_string(out, "\\nhelp: ");
        base_builder_json(out, diagnostic->help, strlen(diagnostic->help));
    }
    base_builder_string(out, "\"}");
    if (base_span_place(sources, diagnostic->span).line != 0) {
        base_builder_string(out, ",\"locations\":[");
        add_location(sources, diagnostic->span, NULL, out);
        base_builder_char(out, ']');
    }
    if (diagnostic->notes.count != 0) {
        base_builder_string(out, ",\"relatedLocations\":[");
        for (size_t i = 0; i < diagnostic->notes.count; i++) {
            if (i != 0)
                base_builder_char(out, ',');
            add_location(sources, diagnostic->notes.items[i].span, diagnostic->notes.items[i].text, out);
        }
        base_builder_char(out, ']');
    }
    base_builder_char(out, '}');
}

void base_render_sarif(const base_sources *sources, const base_diagnostic *const *order, size_t count,
                       size_t dropped, base_builder *out) {
    base_builder_string(out, "{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\","
                             "\"version\":\"2.1.0\",\"runs\":[{\"tool\":{\"driver\":{\"name\":\"tirc\","
                             "\"version\":\"" TIRC_VERSION "\",\"rules\":[");
    bool first = true;
    for (size_t i = 0; i < count; i++) {
        bool listed = false;
        for (size_t j = 0; j < i && !listed; j++)
            listed = strcmp(order[j]->code, order[i]->code) == 0;
        if (listed)
            continue;
        base_builder_string(out, first ? "{\"id\":" : ",{\"id\":");
        add_string(out, order[i]->code);
        base_builder_char(out, '}');
        first = false;
    }
    base_builder_string(out, "]}},\"columnKind\":\"unicodeCodePoints\",");
    if (dropped != 0)
        base_builder_format(out, "\"properties\":{\"droppedDiagnostics\":%zu},", dropped);
    base_builder_string(out, "\"results\":[");
    for (size_t i = 0; i < count; i++) {
        base_builder_string(out, i == 0 ? "\n" : ",\n");
        add_result(sources, order[i], out);
    }
    base_builder_string(out, "\n]}]}\n");
}
