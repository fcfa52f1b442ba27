/* SPDX-License-Identifier: Apache-2.0
 * Puts loads of adjacent 32-bit elements from one address register side by side, in the order of their
 * offsets, so that a LOAD_GROUP before them can do four (or two) at once. Each load stays as it was: when the
 * group cannot be done at once, they run one by one and report for themselves. A load moves up only over
 * operations that neither write memory nor its address, and only when its destination is written nowhere
 * else. */
#include "vm/vm_decode.h"

enum { WINDOW = 96 };

static bool is_candidate(const vm_decoder *d, const vm_op *op, const bool *single) {
    vm_space space = VM_ACCESS_SPACE(op->sub);
    if (d->program->checked && space != VM_GLOBAL) /* the race checker looks at each of them */
        return false;
    return op->code == VM_CODE_LOAD && VM_ACCESS_COUNT(op->sub) == 1 && VM_ACCESS_LOG2(op->sub) == 2 &&
           !VM_ACCESS_WIDE(op->sub) && (space == VM_SHARED || space == VM_GLOBAL || space == VM_GENERIC) &&
           VM_ACCESS_FORM(op->sub) != VM_ADDRESS_FIXED && op->d != VM_REF_NONE &&
           VM_REF_KIND(op->d) == VM_REF_FRAME && single[VM_REF_INDEX(op->d)] &&
           d->rows_of.items[VM_REF_INDEX(op->d)] == 1;
}

static bool blocks_motion(const vm_op *op) {
    switch (op->code) {
    case VM_CODE_LANE:
    case VM_CODE_LOAD:
        return false;
    case VM_CODE_UNGUARD:
        return op->sub != VM_DROPPED;
    default:
        return true;
    }
}

static bool writes(vm_decoder *d, vm_op *op, uint32_t ref) {
    vm_operands operands;
    if (ref == VM_REF_NONE || VM_REF_KIND(ref) != VM_REF_FRAME)
        return false;
    vm_operands_of(d, op, &operands);
    for (unsigned k = 0; k < operands.write_count; k++)
        if (VM_REF_INDEX(*operands.writes[k] & ~VM_REF_WRITTEN) == VM_REF_INDEX(ref))
            return true;
    return false;
}

static void move_up(vm_decoder *d, uint32_t from, uint32_t to) {
    vm_op op = d->ops.items[from];
    uint32_t instruction = d->instruction_of.items[from];
    for (uint32_t i = from; i > to; i--) {
        d->ops.items[i] = d->ops.items[i - 1];
        d->instruction_of.items[i] = d->instruction_of.items[i - 1];
    }
    d->ops.items[to] = op;
    d->instruction_of.items[to] = instruction;
}

/* Looks for partners of the load at `first`; answers how many loads now stand side by side from there. */
static unsigned gather_group(vm_decoder *d, uint32_t first, uint32_t end, const bool *single) {
    const vm_op lead = d->ops.items[first];
    uint32_t at[7]; /* offsets -12 .. +12 around the first */
    for (unsigned k = 0; k < 7; k++)
        at[k] = UINT32_MAX;
    at[3] = first;
    if (writes(d, &d->ops.items[first], lead.a) || writes(d, &d->ops.items[first], lead.b))
        return 1;
    for (uint32_t i = first + 1; i < end && i < first + WINDOW; i++) {
        vm_op *op = &d->ops.items[i];
        if (blocks_motion(op))
            break;
        int64_t distance = (int64_t)(op->imm - lead.imm);
        if (is_candidate(d, op, single) && op->sub == lead.sub && op->a == lead.a && op->b == lead.b &&
            op->c == lead.c && distance >= -12 && distance <= 12 && distance % 4 == 0 &&
            at[distance / 4 + 3] == UINT32_MAX)
            at[distance / 4 + 3] = i;
        if (writes(d, op, lead.a) || writes(d, op, lead.b))
            break;
    }
    unsigned low = 3, high = 3;
    while (low > 0 && at[low - 1] != UINT32_MAX)
        low--;
    while (high < 6 && high - low < 3 && at[high + 1] != UINT32_MAX)
        high++;
    unsigned count = high - low + 1;
    if (count < 2)
        return 1;
    count = count >= 4 ? 4 : 2;
    if (high - low + 1 == 3 && low + 1 < 3) /* of three, the pair that has the first load */
        low = 2;
    /* collected in order behind the first, from the end so that positions stay valid */
    uint32_t places[4];
    for (unsigned k = 0; k < count; k++)
        places[k] = at[low + k];
    for (unsigned k = 0; k < count; k++) {
        move_up(d, places[k], first + k);
        for (unsigned n = k + 1; n < count; n++)
            if (places[n] < places[k])
                places[n]++;
    }
    return count;
}

void vm_merge(vm_decoder *d, const bool *single) {
    d->group = BASE_NEW_ARRAY(d->arena, uint8_t, d->ops.count + 1);
    for (uint32_t b = 0; b < d->graph->count; b++) {
        const vm_block *block = &d->graph->blocks[b];
        bool guarded = false;
        for (uint32_t i = block->begin; i < block->end; i++) {
            const vm_op *op = &d->ops.items[i];
            if (op->code == VM_CODE_GUARD)
                guarded = true;
            else if (op->code == VM_CODE_UNGUARD && op->sub != VM_DROPPED)
                guarded = false;
            if (guarded || !is_candidate(d, op, single))
                continue;
            unsigned count = gather_group(d, i, block->end, single);
            if (count > 1) {
                d->group[i] = (uint8_t)count;
                i += count - 1;
            }
        }
    }
}
