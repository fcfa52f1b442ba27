/* SPDX-License-Identifier: Apache-2.0
 * Tensor maps for kernels that copy with them: rules checked, all broken ones reported, and the machine's 128
 * bytes. Knows nothing of modules and runs. */
#include <string.h>
#include "api/api_private.h"

typedef struct map_request {
    tirc_session *session;
    const vm_tensor_problem *problems;
    size_t count;
    tirc_status status;
} map_request;

static void report_body(void *argument) {
    map_request *request = argument;
    for (size_t i = 0; i < request->count; i++) {
        char text[200];
        vm_tensor_problem_text(&request->problems[i], text, sizeof text);
        base_report(request->session->diagnostics, BASE_ERROR, "T0788", BASE_NO_SPAN, "tensor map: %s", text);
    }
    request->status = TIRC_ERROR;
}

static bool fill(const tirc_tensor_map *from, vm_tensor_mode mode, vm_tensor_map *map) {
    bool tiled = mode == VM_TENSOR_TILED;
    if (from->size != sizeof *from || from->dims == NULL || (from->rank > 1 && from->strides == NULL) ||
        (tiled ? from->box == NULL : from->rank > 2 && (from->lower == NULL || from->upper == NULL)))
        return false;
    *map = (vm_tensor_map){.mode = mode,
                           .type = (vm_tensor_type)from->type,
                           .rank = from->rank,
                           .address = from->address,
                           .channels = from->channels_per_pixel,
                           .pixels = from->pixels_per_column,
                           .interleave = (vm_tensor_interleave)from->interleave,
                           .promotion = from->l2_promotion,
                           .fill = (vm_tensor_fill)from->oob_fill};
    if (!vm_tensor_swizzle_of(from->swizzle, &map->swizzle, &map->atom))
        map->swizzle = (vm_tensor_swizzle)from->swizzle; /* none of ours: the rules say so */
    uint32_t rank = from->rank < VM_TENSOR_RANK ? from->rank : VM_TENSOR_RANK;
    for (uint32_t i = 0; i < VM_TENSOR_RANK; i++)
        map->step[i] = map->box[i] = 1;
    for (uint32_t i = 0; i < rank; i++) {
        map->dim[i] = from->dims[i];
        if (i + 1 < rank)
            map->stride[i] = from->strides[i];
        if (tiled)
            map->box[i] = from->box[i];
        if (from->element_strides != NULL)
            map->step[i] = from->element_strides[i];
    }
    for (uint32_t i = 0; !tiled && i + 2 < rank && (i == 0 || !vm_tensor_is_wide(mode)); i++) {
        map->lower[i] = from->lower[i];
        map->upper[i] = from->upper[i];
    }
    return true;
}

static vm_tensor_mode mode_of(const tirc_tensor_map *from) {
    return from->wide == 1           ? VM_TENSOR_IM2COL_W
           : from->wide != 0         ? VM_TENSOR_IM2COL_W128
           : from->pixels_per_column ? VM_TENSOR_IM2COL
                                     : VM_TENSOR_TILED;
}

bool api_tensor_map(tirc_session *session, const tirc_tensor_map *from, const char *name,
                    uint8_t bytes[VM_TENSOR_MAP_BYTES]) {
    vm_tensor_map map;
    vm_tensor_problem problems[VM_TENSOR_PROBLEMS];
    if (from->wide > 2 || !fill(from, mode_of(from), &map)) {
        base_report(session->diagnostics, BASE_ERROR, "T0788", BASE_NO_SPAN,
                    "tensor map `%s`: its structure has another size, or an array is missing", name);
        return false;
    }
    size_t count = vm_tensor_map_check(&map, problems);
    for (size_t i = 0; i < count; i++) {
        char text[200];
        vm_tensor_problem_text(&problems[i], text, sizeof text);
        base_report(session->diagnostics, BASE_ERROR, "T0788", BASE_NO_SPAN, "tensor map `%s`: %s", name,
                    text);
    }
    vm_tensor_map_write(&map, bytes);
    return count == 0;
}

static tirc_status encode(tirc_session *session, const tirc_tensor_map *from, vm_tensor_mode mode,
                          void *bytes) {
    vm_tensor_map map;
    vm_tensor_problem problems[VM_TENSOR_PROBLEMS];
    if (session == NULL || from == NULL || bytes == NULL || !fill(from, mode, &map))
        return TIRC_USAGE;
    map_request request = {session, problems, vm_tensor_map_check(&map, problems), TIRC_OK};
    if (request.count)
        return api_protect(session->heap, report_body, &request, &request.status);
    uint8_t encoded[VM_TENSOR_MAP_BYTES];
    vm_tensor_map_write(&map, encoded);
    memcpy(bytes, encoded, sizeof encoded);
    return TIRC_OK;
}

tirc_status tirc_tensor_map_encode_tiled(tirc_session *session, const tirc_tensor_map *map, void *bytes) {
    return encode(session, map, VM_TENSOR_TILED, bytes);
}

tirc_status tirc_tensor_map_encode_im2col(tirc_session *session, const tirc_tensor_map *map, void *bytes) {
    return encode(session, map, VM_TENSOR_IM2COL, bytes);
}

tirc_status tirc_tensor_map_encode_im2col_wide(tirc_session *session, const tirc_tensor_map *map,
                                               void *bytes) {
    if (map == NULL || map->wide == 0 || map->wide > 2)
        return TIRC_USAGE;
    return encode(session, map, mode_of(map), bytes);
}

tirc_status tirc_tensor_map_replace_address(void *bytes, uint64_t address) {
    vm_tensor_map map;
    vm_tensor_problem problems[VM_TENSOR_PROBLEMS];
    uint8_t encoded[VM_TENSOR_MAP_BYTES];
    if (bytes == NULL)
        return TIRC_USAGE;
    memcpy(encoded, bytes, sizeof encoded);
    if (vm_tensor_map_read(encoded, &map) != VM_TENSOR_READ_OK)
        return TIRC_ERROR;
    map.address = address;
    if (vm_tensor_map_check(&map, problems) != 0)
        return TIRC_ERROR;
    vm_tensor_map_write(&map, encoded);
    memcpy(bytes, encoded, sizeof encoded);
    return TIRC_OK;
}
