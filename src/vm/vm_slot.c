/* SPDX-License-Identifier: Apache-2.0
 * What happens to address slots of tensor memory (vm_slot.h). Live slots count in the granules that stores
 * look at, as mbarriers do; a slot that was written over counts in those that loads look at. So nobody pays
 * who does neither. That a kernel uses the bytes for something else once it holds the address in a register
 * is no fault: only a load whose result becomes an address again is one. Must not know how tensor memory is
 * allocated. */
#include "vm/vm_slot.h"
#include <string.h>
#include "vm/vm_async.h"
#include "vm/vm_mbarrier.h"

enum { SLOTS = 32 }; /* of a CTA: twice the allocations that there can be */

typedef struct slot {
    bool live, touched;
    uint32_t offset, taddr, pc;
    uint32_t writer_pc, writer[3]; /* thread of the first write over it */
} slot;

struct vm_slots {
    slot all[SLOTS];
};

static void drop(vm_cta *cta, slot *s) {
    if (!s->live)
        return;
    vm_mbarrier_guard(cta, s->offset, -1);
    if (s->touched)
        vm_async_count(cta, s->offset, s->offset + 4, -1);
    s->live = s->touched = false;
}

void vm_slot_start(vm_cta *cta) {
    for (unsigned i = 0; cta->slots && i < SLOTS; i++)
        drop(cta, &cta->slots->all[i]);
}

void vm_slot_begin(vm_cta *cta, uint32_t offset, uint32_t taddr, uint32_t pc) {
    if (vm_unchecked(cta))
        return;
    if (cta->slots == NULL)
        cta->slots = BASE_NEW(cta->arena, struct vm_slots);
    slot *all = cta->slots->all, *place = NULL;
    for (unsigned i = 0; i < SLOTS; i++)
        if (all[i].live && all[i].offset == offset)
            drop(cta, &all[i]);
    for (unsigned i = 0; i < SLOTS && place == NULL; i++)
        place = all[i].live ? NULL : &all[i];
    if (place == NULL)
        return;
    *place = (slot){.live = true, .offset = offset, .taddr = taddr, .pc = pc};
    vm_mbarrier_guard(cta, offset, 1);
}

void vm_slot_end(vm_cta *cta, uint32_t taddr) {
    for (unsigned i = 0; cta->slots && i < SLOTS; i++)
        if (cta->slots->all[i].taddr == taddr)
            drop(cta, &cta->slots->all[i]);
}

void vm_slot_written(vm_warp *warp, uint32_t pc, unsigned lane, vm_cta *cta, uint64_t begin, uint64_t end) {
    for (unsigned i = 0; cta->slots && i < SLOTS; i++) {
        slot *s = &cta->slots->all[i];
        if (!s->live || s->touched || s->offset >= end || s->offset + 4 <= begin)
            continue;
        const uint32_t *rows = (const uint32_t *)(warp->base[VM_REF_WARP] + VM_REF_WARP);
        s->touched = true;
        s->writer_pc = pc;
        for (unsigned k = 0; k < 3; k++)
            s->writer[k] = rows[(VM_WARP_TID_X + k) * VM_LANES + lane];
        vm_async_count(cta, s->offset, s->offset + 4, 1);
    }
}

/* ---- does the value become an address? ---- */
static bool carries(const ptx_instruction *i) {
    switch (i->op) {
    case PTX_OP_MOV:
    case PTX_OP_CVT:
    case PTX_OP_ADD:
    case PTX_OP_SUB:
    case PTX_OP_MAD:
    case PTX_OP_OR:
    case PTX_OP_XOR:
    case PTX_OP_AND:
    case PTX_OP_SHL:
    case PTX_OP_SELP:
    case PTX_OP_SHFL:
        return true;
    default:
        return false;
    }
}

static bool mentions(const bool *marked, const ptx_operand *operand) {
    if (operand->kind == PTX_OPERAND_REGISTER)
        return marked[operand->of.reg->id];
    for (unsigned k = 0; k < operand->count; k++)
        if (mentions(marked, &operand->args[k]))
            return true;
    return false;
}

/* The operand in brackets, or dealloc's first. */
static bool takes_address(const bool *marked, const ptx_instruction *i) {
    if (strncmp(ptx_op_name(i->op), "tcgen05.", 8) != 0)
        return false;
    bool frees = strcmp(ptx_op_name(i->op), "tcgen05.dealloc") == 0;
    for (unsigned k = 0; k < i->operand_count; k++)
        if ((i->operands[k].kind == PTX_OPERAND_MEMORY || (frees && k == 0)) &&
            mentions(marked, &i->operands[k]))
            return true;
    return false;
}

/* Follows the load's results through moves and sums; in any order of the text, so loops count too. */
static bool becomes_address(base_arena *arena, const ptx_function *function, const ptx_instruction *load) {
    ptx_uses *uses = BASE_NEW(arena, ptx_uses);
    bool *marked = BASE_NEW_ARRAY(arena, bool, function->registers.count + 1);
    ptx_instruction_uses(load, uses);
    for (uint32_t k = 0; k < uses->written_count; k++)
        marked[uses->written[k]->id] = true;
    for (bool changed = uses->written_count != 0; changed;) {
        changed = false;
        for (size_t n = 0; n < function->instructions.count; n++) {
            const ptx_instruction *i = &function->instructions.items[n];
            if (takes_address(marked, i))
                return true;
            if (!carries(i))
                continue;
            ptx_instruction_uses(i, uses);
            bool reads = false;
            for (uint32_t k = 0; k < uses->read_count; k++)
                reads |= marked[uses->read[k]->id];
            for (uint32_t k = 0; reads && k < uses->written_count; k++) {
                changed |= !marked[uses->written[k]->id];
                marked[uses->written[k]->id] = true;
            }
        }
    }
    return false;
}

static void report(vm_warp *warp, uint32_t pc, unsigned lane, const slot *s, uint32_t now) {
    const vm_program *program = warp->cta->run->program;
    vm_finding *finding = vm_finding_add(warp->cta, VM_FIND_TMEM_SLOT_DATA, s->writer_pc, warp, lane);
    if (finding == NULL)
        return;
    const ptx_instruction *alloc = vm_program_instruction_at(program, s->pc);
    memcpy(finding->thread, s->writer, sizeof finding->thread);
    finding->space = PTX_SPACE_SHARED;
    finding->address = s->offset;
    finding->size = now;
    finding->required = s->taddr;
    finding->is_store = true;
    finding->other = vm_program_instruction_at(program, pc);
    if (alloc && alloc->loc_line) {
        base_builder text;
        base_builder_start(&text, vm_finding_arena(warp->cta));
        base_builder_format(&text, "line %u", alloc->loc_line);
        finding->text = text.data;
    }
}

void vm_slot_read(vm_warp *warp, uint32_t pc, unsigned lane, vm_cta *cta, uint64_t begin, uint64_t end) {
    const vm_program *program = warp->cta->run->program;
    for (unsigned i = 0; cta->slots && i < SLOTS; i++) {
        slot *s = &cta->slots->all[i];
        uint32_t now;
        if (!s->live || !s->touched || s->offset < begin || s->offset + 4 > end)
            continue;
        memcpy(&now, cta->shared + s->offset, sizeof now);
        const vm_function *function = vm_program_function_at(program, pc);
        const ptx_instruction *load = vm_program_instruction_at(program, pc);
        if (now == s->taddr || function == NULL || load == NULL ||
            !becomes_address(vm_finding_arena(cta), function->source, load))
            continue;
        report(warp, pc, lane, s, now);
        drop(cta, s);
    }
}
