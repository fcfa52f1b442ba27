/* SPDX-License-Identifier: Apache-2.0
 * Splits of a warp: who runs next, branches, joins, exits. The rule (vm_internal.h): fewest used-up budgets
 * first, then the deepest call, then the lowest pc; equal pc and frame merge. Knows no instructions. */
#include "vm/vm_cluster.h"

static bool ready(const vm_split *split) {
    return split->state == VM_SPLIT_READY || split->state == VM_SPLIT_RELEASED;
}

static bool before(const vm_split *a, const vm_split *b) {
    if (a->turns != b->turns)
        return a->turns < b->turns;
    if (a->frame->depth != b->frame->depth)
        return a->frame->depth > b->frame->depth;
    return a->pc < b->pc;
}

void vm_control_load(vm_warp *warp) {
    const vm_frame *frame = warp->splits[warp->current].frame;
    warp->base[VM_REF_FRAME] = warp->rows + (size_t)frame->row * VM_ROW_BYTES;
}

bool vm_control_pick(vm_warp *warp) {
    warp->next_pc = UINT32_MAX;
    if (warp->split_count == 1) {
        warp->current = 0;
        vm_control_load(warp);
        return ready(&warp->splits[0]);
    }
    const vm_split *best = NULL;
    for (uint32_t i = 0; i < warp->split_count; i++)
        if (ready(&warp->splits[i]) && (best == NULL || before(&warp->splits[i], best)))
            best = &warp->splits[i];
    if (best == NULL)
        return false;
    warp->current = (uint32_t)(best - warp->splits);
    for (uint32_t i = 0; i < warp->split_count; i++) {
        const vm_split *other = &warp->splits[i];
        if (other != best && ready(other) && other->frame->depth == best->frame->depth &&
            other->pc < warp->next_pc)
            warp->next_pc = other->pc;
    }
    vm_control_load(warp);
    return true;
}

vm_frame *vm_control_frame(vm_warp *warp) {
    vm_frame *frame = warp->free_frames;
    if (frame != NULL) {
        warp->free_frames = frame->parent;
        memset(frame, 0, sizeof *frame);
    } else {
        frame = BASE_NEW(warp->cta->arena, vm_frame);
    }
    frame->references = 1;
    return frame;
}

void vm_control_release(vm_warp *warp, vm_frame *frame) {
    while (frame != NULL && --frame->references == 0) {
        vm_frame *parent = frame->parent;
        frame->parent = warp->free_frames;
        warp->free_frames = frame;
        frame = parent;
    }
}

static void remove_split(vm_warp *warp, uint32_t index) {
    vm_control_release(warp, warp->splits[index].frame);
    uint32_t last = --warp->split_count;
    if (index != last) /* a copy onto itself would wait for the stores that just made it */
        warp->splits[index] = warp->splits[last];
    if (warp->current == last)
        warp->current = index;
}

/* Takes into split `index` the others that stand at the same operation of the same frame. */
void vm_control_merge(vm_warp *warp, uint32_t index) {
    bool was_current = index == warp->current;
    for (uint32_t i = 0; i < warp->split_count;) {
        vm_split *to = &warp->splits[index];
        const vm_split *from = &warp->splits[i];
        if (i == index || from->pc != to->pc || from->frame != to->frame || from->state != to->state) {
            i++;
            continue;
        }
        to->mask |= from->mask;
        to->turns = to->turns > from->turns ? to->turns : from->turns;
        remove_split(warp, i);
        if (index == warp->split_count)
            index = i; /* it was the last one and moved here */
    }
    if (was_current)
        warp->current = index;
}

void vm_control_arrive(vm_warp *warp, uint32_t pc) {
    warp->splits[warp->current].pc = pc;
    vm_control_merge(warp, warp->current);
}

static void add_split(vm_warp *warp, uint32_t pc, uint32_t mask) {
    vm_split *current = &warp->splits[warp->current];
    for (uint32_t i = 0; i < warp->split_count; i++) {
        vm_split *other = &warp->splits[i];
        if (i != warp->current && other->pc == pc && other->frame == current->frame &&
            other->state == VM_SPLIT_READY) {
            other->mask |= mask;
            return;
        }
    }
    vm_split *split = &warp->splits[warp->split_count++];
    *split = *current;
    split->pc = pc;
    split->mask = mask;
    split->frame->references++;
}

void vm_control_branch(vm_warp *warp, uint32_t taken_pc, uint32_t taken, uint32_t next_pc) {
    vm_split *current = &warp->splits[warp->current];
    current->mask &= ~taken;
    current->pc = next_pc;
    add_split(warp, taken_pc, taken);
    vm_control_merge(warp, warp->current);
}

void vm_control_isolate(vm_warp *warp, uint32_t keep) {
    vm_split *current = &warp->splits[warp->current];
    uint32_t rest = current->mask & ~keep;
    if (rest == 0 || keep == 0)
        return;
    current->mask = keep;
    vm_split *split = &warp->splits[warp->split_count++];
    *split = *current;
    split->mask = rest;
    split->frame->references++;
}

/* brx.idx: an index outside the table is undefined; such lanes take the last label. */
void vm_control_switch(vm_warp *warp, const vm_op *op, uint32_t pc) {
    const uint32_t *list = warp->cta->run->program->extras.items + op->x;
    uint32_t count = list[0], rest = warp->splits[warp->current].mask;
    bool first = true;
    while (rest) {
        uint32_t index = vm_operand32(warp, op->a, vm_first_lane(rest)), lanes = 0;
        uint32_t target = list[1 + (index < count ? index : count - 1)];
        VM_FOR_LANES(lane, rest) {
            uint32_t other = vm_operand32(warp, op->a, lane);
            if (list[1 + (other < count ? other : count - 1)] == target)
                lanes |= 1u << lane;
        }
        rest &= ~lanes;
        if (target <= pc && warp->budget > 1)
            warp->budget--;
        if (first) {
            warp->splits[warp->current].mask = lanes;
            warp->splits[warp->current].pc = target;
            first = false;
        } else {
            add_split(warp, target, lanes);
        }
    }
    vm_control_merge(warp, warp->current);
}

void vm_control_spend(vm_warp *warp) {
    warp->splits[warp->current].turns++;
    warp->idle = false;
}

void vm_control_exit(vm_warp *warp, uint32_t lanes) {
    vm_split *current = &warp->splits[warp->current];
    warp->live &= ~lanes;
    current->mask &= ~lanes;
    if (current->mask == 0)
        remove_split(warp, warp->current);
    /* who waited for these lanes looks again */
    for (uint32_t i = 0; i < warp->split_count; i++)
        if (warp->splits[i].state == VM_SPLIT_COLLECTIVE)
            warp->splits[i].state = VM_SPLIT_READY;
    vm_barrier_exit(warp);
    if (warp->cta->cluster != NULL)
        vm_cluster_exit(warp->cta);
}

void vm_control_return(vm_warp *warp) {
    vm_split *current = &warp->splits[warp->current];
    if (current->frame->depth == 0) {
        vm_control_exit(warp, current->mask);
        return;
    }
    vm_call_return(warp);
    vm_control_merge(warp, warp->current);
}

/* After a poll of memory: a few in a row, then the others go on. */
vm_action vm_external_POLL(vm_warp *warp, const vm_op *op, uint32_t mask) {
    (void)op, (void)mask;
    vm_warp_acquired(warp);
    if (++warp->polls < 16)
        return VM_GO;
    warp->splits[warp->current].turns++;
    warp->idle = true;
    return VM_YIELD;
}
