/* SPDX-License-Identifier: Apache-2.0
 * Inside of base: one function per form of a diagnostic. Other modules call base_diagnostics_render. */
#ifndef TIRC_BASE_DIAGNOSTIC_RENDER_H
#define TIRC_BASE_DIAGNOSTIC_RENDER_H
#include "base/diagnostic.h"

const char *base_severity_name(base_severity severity);
void base_render_text(const base_sources *sources, const base_diagnostic *diagnostic, bool colour,
                      base_builder *out);
void base_render_line(const base_sources *sources, const base_diagnostic *diagnostic, base_builder *out);
void base_render_json(const base_sources *sources, const base_diagnostic *diagnostic, base_builder *out);
void base_render_sarif(const base_sources *sources, const base_diagnostic *const *order, size_t count,
                       size_t dropped, base_builder *out);
#endif
