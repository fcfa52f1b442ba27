/* SPDX-License-Identifier: Apache-2.0
 * Reports of deadlocks: each split that waits, for what, since which line, and who could end the wait.
 * Changes nothing but the findings and the status of the CTA. */
#include "vm/vm_cluster.h"
#include "vm/vm_mbarrier.h"
#include "vm/vm_tmem_machine.h"
#include "vm/vm_wgmma.h"

enum { TEXT_LIMIT = 16384 };

/* Counted here: the tables of base_span_place are for one thread. */
static uint32_t line_of(const vm_program *program, base_span span) {
    const base_diagnostics *list = program->module->diagnostics;
    if (list == NULL || span.file == 0)
        return 0;
    base_text source = base_source_text(base_diagnostics_sources(list), span.file);
    uint32_t line = 1;
    for (size_t i = 0; i < span.begin && i < source.size; i++)
        line += source.data[i] == '\n';
    return source.size ? line : 0;
}

void vm_deadlock_place(const vm_program *program, uint32_t pc, base_builder *text) {
    const ptx_instruction *instruction = pc == UINT32_MAX ? NULL : vm_program_instruction_at(program, pc);
    if (instruction == NULL) {
        base_builder_string(text, "no line");
        return;
    }
    uint32_t line = instruction->loc_line;
    if (line == 0)
        line = line_of(program, instruction->span);
    if (line)
        base_builder_format(text, "line %u", line);
    else
        base_builder_string(text, ptx_op_name(instruction->op));
}

static void describe_barrier(const vm_cta *cta, const vm_split *split, base_builder *text) {
    const vm_barrier *barrier = &cta->barriers[split->wait];
    uint32_t missing = 0, partly = 0;
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        missing += !(barrier->contributed >> i & 1) && cta->warps[i].live;
        partly += barrier->pending[i] != 0;
    }
    base_builder_format(text, "waits at barrier %u (%u threads arrived", split->wait, barrier->arrived);
    if (barrier->expected)
        base_builder_format(text, " of %u expected", barrier->expected);
    else
        base_builder_format(text, ", %u live warps have not, %u of them arrived in part", missing, partly);
    base_builder_string(text, ")");
}

static void describe_parked(const vm_warp *warp, const vm_split *split, base_builder *text) {
    const vm_cta *cta = warp->cta;
    switch ((vm_park)split->wait) {
    case VM_PARK_MBARRIER:
        vm_mbarrier_describe(warp, split, text);
        break;
    case VM_PARK_CLUSTER:
        vm_cluster_describe(cta, text);
        break;
    case VM_PARK_ALLOC:
    case VM_PARK_PAIR:
        vm_tmem_describe(cta, split, text);
        break;
    case VM_PARK_REGISTERS:
        base_builder_format(text, "waits for %llu registers; %u are free", (unsigned long long)split->detail,
                            cta->registers);
        break;
    case VM_PARK_WGMMA:
        vm_wgmma_describe(warp, text);
        break;
    default:
        base_builder_string(text, "waits");
    }
}

static void describe_split(const vm_warp *warp, const vm_split *split, base_builder *text) {
    const vm_program *program = warp->cta->run->program;
    const ptx_instruction *instruction = vm_program_instruction_at(program, split->pc);
    const char *name = instruction ? ptx_op_name(instruction->op) : "?";
    if (warp->cta->group != NULL)
        base_builder_format(text, "CTA (%u,%u,%u), ", warp->cta->id[0], warp->cta->id[1], warp->cta->id[2]);
    base_builder_format(text, "warp %u, lanes 0x%08x: ", warp->index, split->mask);
    switch (split->state) {
    case VM_SPLIT_BARRIER:
        describe_barrier(warp->cta, split, text);
        break;
    case VM_SPLIT_PARKED:
        describe_parked(warp, split, text);
        break;
    case VM_SPLIT_COLLECTIVE:
        base_builder_format(text, "waits at %s for lanes 0x%08x", name, split->wait & warp->live);
        break;
    default:
        base_builder_format(text, "repeats a poll near %s", name);
    }
    base_builder_string(text, ", ");
    vm_deadlock_place(program, split->pc, text);
    base_builder_char(text, '\n');
}

void vm_deadlock_describe(const vm_cta *cta, base_builder *text) {
    for (uint32_t i = 0; i < cta->warp_count; i++)
        for (uint32_t s = 0; s < cta->warps[i].split_count && text->size < TEXT_LIMIT; s++)
            describe_split(&cta->warps[i], &cta->warps[i].splits[s], text);
    uint32_t ended = 0;
    for (uint32_t i = 0; i < cta->warp_count; i++)
        ended += cta->warps[i].live == 0;
    if (ended == 0 || text->size >= TEXT_LIMIT)
        return;
    base_builder_format(text, "ended before:");
    for (uint32_t i = 0; i < cta->warp_count; i++)
        if (cta->warps[i].live == 0)
            base_builder_format(text, " warp %u%s", i, --ended ? "," : "\n");
}

void vm_deadlock_report(vm_cta *cta, const base_builder *text) {
    const vm_warp *first = NULL;
    const vm_split *place = NULL, *collective = NULL;
    for (uint32_t i = 0; i < cta->warp_count; i++)
        for (uint32_t s = 0; s < cta->warps[i].split_count; s++) {
            const vm_split *split = &cta->warps[i].splits[s];
            if (first == NULL || (collective == NULL && split->state == VM_SPLIT_COLLECTIVE)) {
                first = &cta->warps[i];
                place = split;
            }
            if (split->state == VM_SPLIT_COLLECTIVE)
                collective = split;
        }
    cta->status = VM_DEADLOCK;
    if (first == NULL)
        return;
    vm_finding_kind kind = collective ? VM_FIND_COLLECTIVE_LANES : VM_FIND_DEADLOCK;
    vm_finding *finding = vm_finding_add(cta, kind, place->pc, first, vm_first_lane(place->mask));
    if (finding != NULL)
        finding->text = text->data;
    if (collective != NULL) {
        finding = vm_finding_add(cta, VM_FIND_DEADLOCK, place->pc, first, vm_first_lane(place->mask));
        if (finding != NULL)
            finding->text = text->data;
    }
}

void vm_deadlock(vm_cta *cta) {
    base_builder text;
    base_builder_start(&text, vm_finding_arena(cta));
    vm_deadlock_describe(cta, &text);
    vm_deadlock_report(cta, &text);
}
