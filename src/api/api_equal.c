/* SPDX-License-Identifier: Apache-2.0
 * Structural equality of two modules, and where they first differ. */
#include "api/api_private.h"

typedef struct equal_call {
    tirc_module *a, *b;
    bool *equal;
    tirc_difference *difference;
    tirc_status status;
} equal_call;

static tirc_place place_of(const tirc_module *module, base_span span) {
    base_place place = base_span_place(module->session->sources, span);
    return span.file ? (tirc_place){place.name, place.line, place.column} : (tirc_place){NULL, 0, 0};
}

static void compare_body(void *argument) {
    equal_call *call = argument;
    const ir_module *a = call->a->ir, *b = call->b->ir;
    base_builder words;
    base_span places[2] = {BASE_NO_SPAN, BASE_NO_SPAN};
    base_builder_start(&words, call->a->session->arena);
    bool differ = a->functions.count != b->functions.count;
    if (differ)
        base_builder_format(&words, "%zu functions and %zu", a->functions.count, b->functions.count);
    for (size_t i = 0; !differ && i < a->functions.count; ++i) {
        if (a->functions.count > 1)
            base_builder_format(&words, "`%s`: ", a->functions.items[i]->name);
        differ = ir_function_difference(a->functions.items[i], b->functions.items[i], &words, places);
        if (!differ)
            base_builder_start(&words, call->a->session->arena);
    }
    *call->equal = !differ;
    if (call->difference && differ) {
        call->difference->text = words.size ? words.data : "they differ";
        call->difference->a = place_of(call->a, places[0]);
        call->difference->b = place_of(call->b, places[1]);
    }
    call->status = TIRC_OK;
}

tirc_status tirc_structural_equal(tirc_module *a, tirc_module *b, bool *equal, tirc_difference *difference) {
    if (!a || !b || !a->ir || !b->ir || !equal || (difference && difference->size != sizeof *difference))
        return TIRC_USAGE;
    if (difference)
        *difference = (tirc_difference){.size = sizeof *difference};
    equal_call call = {.a = a, .b = b, .equal = equal, .difference = difference};
    return api_protect(a->session->heap, compare_body, &call, &call.status);
}
