/* SPDX-License-Identifier: Apache-2.0
 * The use of tensor memory by place, shared by its words and its picture. Private to api/. */
#ifndef TIRC_API_API_TMEM_H
#define TIRC_API_API_TMEM_H
#include "api/api_private.h"

/* One kind of access of one line of the source, for all warps. */
typedef struct api_tmem_place {
    vm_tmem_event_kind kind;
    const char *form; /* "tcgen05.ld.sync.aligned.32x32b.x8.b32" */
    base_place at;
    BASE_VECTOR(vm_tmem_event) warps; /* merged, by warp and barrier */
} api_tmem_place;
typedef BASE_VECTOR(api_tmem_place) api_tmem_places;

typedef struct api_tmem_call {
    const tirc_report *report;
    tirc_tmem_format format;
    base_arena *arena;
    base_builder out;
    tirc_status status;
} api_tmem_call;

base_place api_tmem_place_of(const api_tmem_call *call, const ptx_instruction *instruction);
void api_tmem_add(const api_tmem_call *call, api_tmem_places *list, const vm_tmem_event *event);
const char *api_tmem_kind_name(vm_tmem_event_kind kind);
bool api_tmem_is_columns(vm_tmem_event_kind kind); /* ALLOCATE, FREE, RELINQUISH */
/* Columns over the order of events, a map for each history. */
void api_tmem_svg(const api_tmem_call *call, const vm_result *result, base_builder *out);
#endif
