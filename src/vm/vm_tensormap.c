/* SPDX-License-Identifier: Apache-2.0
 * tensormap.replace, tensormap.cp_fenceproxy, the acquiring fence of the tensormap proxy, and maps on their
 * way into a copy (PTX ISA 9.7.9.28, 9.7.13.16, 9.7.13.4). */
#include "vm/vm_tensormap.h"
#include "vm/vm_copy.h"

static ptx_space space_of(uint64_t generic) {
    static const ptx_space spaces[] = {PTX_SPACE_GLOBAL, PTX_SPACE_SHARED, PTX_SPACE_LOCAL, PTX_SPACE_CONST,
                                       PTX_SPACE_PARAM};
    uint64_t window = generic >> VM_WINDOW_BITS;
    return window < sizeof spaces / sizeof spaces[0] ? spaces[window] : PTX_SPACE_GLOBAL;
}

/* ---- edited and not acquired ---- */
static uint64_t *edited_at(vm_cta *cta, uint64_t address) {
    struct vm_copy_cta *state = cta->copies;
    for (size_t i = 0; state != NULL && i < state->edited.count; i++)
        if (state->edited.items[i] == address)
            return &state->edited.items[i];
    return NULL;
}

static void mark_edited(vm_cta *cta, uint64_t address) {
    struct vm_copy_cta *state = vm_copy_state(cta);
    if (edited_at(cta, address) == NULL)
        base_vector_push(cta->arena, &state->edited, address);
}

static void acquire(vm_cta *cta, uint64_t address) {
    uint64_t *at = edited_at(cta, address);
    if (at != NULL)
        *at = cta->copies->edited.items[--cta->copies->edited.count];
}

bool vm_tensormap_read(vm_warp *warp, uint32_t pc, unsigned lane, uint64_t address, vm_tensor_map *map) {
    ptx_space space = space_of(address);
    uint8_t bytes[VM_TENSOR_MAP_BYTES];
    if (address % VM_TENSOR_MAP_ALIGN != 0) {
        vm_copy_report(warp, VM_FIND_COPY_ALIGN, pc, lane, space, address, sizeof bytes, VM_TENSOR_MAP_ALIGN,
                       false);
        return false;
    }
    if (space == PTX_SPACE_SHARED || space == PTX_SPACE_LOCAL) {
        vm_copy_report(warp, VM_FIND_TENSOR_MAP, pc, lane, space, address, 0, 0, false);
        return false;
    }
    if (!vm_memory_read(warp, pc, lane, VM_GENERIC, address, bytes, sizeof bytes))
        return false;
    vm_tensor_read read = vm_tensor_map_read(bytes, map);
    if (read != VM_TENSOR_READ_OK) {
        vm_copy_report(warp, VM_FIND_TENSOR_MAP, pc, lane, space, address, read, 0, false);
        return false;
    }
    if (edited_at(warp->cta, address) != NULL)
        vm_copy_report(warp, VM_FIND_TENSOR_MAP_FENCE, pc, lane, space, address, sizeof bytes, 0, false);
    vm_tensor_problem problems[VM_TENSOR_PROBLEMS];
    size_t count = vm_tensor_map_check(map, problems);
    if (count == 0)
        return true;
    vm_finding *finding =
        vm_copy_report(warp, VM_FIND_TENSOR_RULE, pc, lane, space, address, sizeof bytes, count, false);
    if (finding != NULL && finding->text == NULL) {
        base_builder text;
        base_builder_start(&text, vm_finding_arena(warp->cta));
        for (size_t i = 0; i < count; i++) {
            char one[160];
            vm_tensor_problem_text(&problems[i], one, sizeof one);
            base_builder_format(&text, "%s%s", i ? "; " : "", one);
        }
        finding->text = text.data;
    }
    return false;
}

/* ---- instructions ---- */
/* 128 bytes of zeros are a map to fill in: Triton makes maps so, field by field. */
static bool all_zero(const uint8_t bytes[VM_TENSOR_MAP_BYTES]) {
    uint8_t some = 0;
    for (unsigned i = 0; i < VM_TENSOR_MAP_BYTES; i++)
        some |= bytes[i];
    return some == 0;
}

static void replace(vm_warp *warp, const vm_op *op, const uint32_t *list, uint32_t pc, unsigned lane) {
    vm_tensor_field field = (vm_tensor_field)(op->imm >> 4 & 15);
    uint32_t ordinal = (uint32_t)(op->imm >> 8 & 15);
    vm_space space = (vm_space)(op->imm >> 12 & 15);
    uint64_t address = vm_operand64(warp, list[0], lane), generic = address;
    uint64_t value =
        op->imm >> 16 & 1 ? vm_operand64(warp, list[1], lane) : vm_operand32(warp, list[1], lane);
    uint8_t bytes[VM_TENSOR_MAP_BYTES];
    vm_tensor_map map;
    if (space == VM_SHARED)
        generic += VM_SHARED_BASE;
    if (!vm_memory_read(warp, pc, lane, VM_GENERIC, generic, bytes, sizeof bytes))
        return;
    vm_tensor_read read = vm_tensor_map_read(bytes, &map);
    if (read == VM_TENSOR_READ_FOREIGN && all_zero(bytes)) {
        memset(&map, 0, sizeof map);
    } else if (read != VM_TENSOR_READ_OK) {
        vm_copy_report(warp, VM_FIND_TENSOR_MAP, pc, lane, space_of(generic), generic, read, 0, true);
        return;
    }
    if (!vm_tensor_map_replace(&map, field, ordinal, value)) {
        vm_copy_report(warp, VM_FIND_TENSOR_REPLACE, pc, lane, space_of(generic), generic, value, ordinal,
                       true);
        return;
    }
    vm_tensor_map_write(&map, bytes);
    for (uint32_t i = 0; i < sizeof bytes; i += 16)
        if (!vm_memory_write(warp, pc, lane, VM_GENERIC, generic + i, bytes + i, 16))
            return;
    if (space_of(generic) == PTX_SPACE_GLOBAL)
        mark_edited(warp->cta, generic);
}

static void copy(vm_warp *warp, const uint32_t *list, uint32_t pc, unsigned lane) {
    uint64_t to = vm_operand64(warp, list[0], lane), from = vm_operand64(warp, list[1], lane);
    uint8_t bytes[VM_TENSOR_MAP_BYTES];
    if (to % VM_TENSOR_MAP_ALIGN != 0) {
        vm_copy_report(warp, VM_FIND_COPY_ALIGN, pc, lane, PTX_SPACE_GLOBAL, to, sizeof bytes,
                       VM_TENSOR_MAP_ALIGN, true);
        return;
    }
    if (!vm_memory_read(warp, pc, lane, VM_SHARED, from, bytes, sizeof bytes))
        return;
    for (uint32_t i = 0; i < sizeof bytes; i += 16)
        if (!vm_memory_write(warp, pc, lane, VM_GLOBAL, to + i, bytes + i, 16))
            return;
    mark_edited(warp->cta, to);
}

vm_action vm_external_TENSORMAP(vm_warp *warp, const vm_op *op, uint32_t mask) {
    const uint32_t *list = warp->cta->run->program->extras.items + op->x + 1;
    uint32_t pc = warp->splits[warp->current].pc;
    switch ((vm_tensormap_kind)(op->imm & 15)) {
    case VM_TENSORMAP_REPLACE:
        VM_FOR_LANES(lane, mask) {
            replace(warp, op, list, pc, lane);
        }
        break;
    case VM_TENSORMAP_COPY: /* all lanes copy the same */
        copy(warp, list, pc, vm_first_lane(mask));
        break;
    case VM_TENSORMAP_ACQUIRE:
        VM_FOR_LANES(lane, mask) {
            acquire(warp->cta, vm_operand64(warp, list[0], lane));
        }
        break;
    }
    return warp->cta->status == VM_COMPLETE ? VM_GO : VM_HALT;
}
