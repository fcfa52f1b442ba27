/* SPDX-License-Identifier: Apache-2.0
 * The dispatch loop: runs splits of one warp until none can go on, a budget ends or the CTA halts. Two label
 * tables: whole warp, and partial mask; what is not hot goes through tables of functions. Knows nothing of
 * PTX text. */
#include "vm/level/vm_row.h"
#include "vm/vm_race.h"

vm_leave VM_NAME(vm_engine_run)(vm_warp *w);
extern const vm_level VM_NAME(vm_level);

static const vm_lane_function lane_table[VM_LANE_COUNT] = {
#define VM_LANE(name, rows, sources) [VM_LANE_##name] = VM_NAME(vm_lane_##name),
#include "vm/vm_lanes.def"
#undef VM_LANE
};
const vm_level VM_NAME(vm_level) = {VM_LEVEL_STRING, VM_NAME(vm_engine_run), lane_table};

/* Writes the scratch result of a lane function to the active lanes of its destination. */
static void blend(const u32 *m, u32 active, unsigned rows, void *to, const u32 *from) {
    if (rows == 0) {
        u32 *d = to;
        *d = (*d & ~active) | (from[0] & active);
    } else if (rows == 1) {
        u32 *d = to;
        VM_LOOP {
            u32 value = from[l], old = d[l];
            d[l] = m[l] ? value : old;
        }
    } else {
        for (unsigned half = 0; half < rows / 2; half++) {
            u64 *d = (u64 *)to + half * VM_LANES;
            const u64 *s = (const u64 *)from + half * VM_LANES;
            VM_LOOP {
                u64 value = s[l], old = d[l];
                d[l] = m[l] ? value : old;
            }
        }
    }
}

/* vm_control_pick where nothing is to be chosen. */
VM_INLINE bool pick_only(vm_warp *w) {
    const vm_split *split = &w->splits[0];
    w->current = 0;
    w->next_pc = UINT32_MAX;
    w->base[VM_REF_FRAME] = w->rows + (size_t)split->frame->row * VM_ROW_BYTES;
    return split->state == VM_SPLIT_READY || split->state == VM_SPLIT_RELEASED;
}

/* All lanes leave the kernel at once and nobody can be waiting for them, so that vm_control_exit has nothing
 * to do: the warp keeps its frame for the next CTA. */
VM_INLINE bool rests(vm_warp *w, u32 lanes) {
    const vm_frame *frame = w->splits[0].frame;
    if (lanes != w->live || w->split_count != 1 || w->cta->open_barriers || w->cta->group != NULL ||
        frame->depth || frame->stack)
        return false;
    w->live = w->split_count = 0;
    w->resting = true;
    return true;
}

#define OPERAND(ref) ((void *)(w->base[(ref)&3] + (ref)))
#define NEXT                                                                                                 \
    do {                                                                                                     \
        op++;                                                                                                \
        goto *table[op->code];                                                                               \
    } while (0)
#define HERE        ((uint32_t)(op - ops))
#define COUNT_STEPS (w->steps += (uint64_t)(op - start) + 1)

/* The shortest function that can be: every case is one operation. */
vm_leave VM_NAME(vm_engine_run)(vm_warp *w) {
    static const void *const full_table[VM_CODE_COUNT] = {[VM_CODE_LANE] = &&full_lane,
                                                          [VM_CODE_LOAD] = &&full_load,
                                                          [VM_CODE_LOAD_GROUP] = &&full_group,
                                                          [VM_CODE_STORE] = &&full_store,
                                                          [VM_CODE_LOAD_ROW] = &&full_load_row,
                                                          [VM_CODE_STORE_ROW] = &&full_store_row,
                                                          [VM_CODE_CHECK_LOAD] = &&check_load,
                                                          [VM_CODE_CHECK_STORE] = &&check_store,
                                                          [VM_CODE_EXTERNAL] = &&external,
                                                          [VM_CODE_GUARD] = &&guard,
                                                          [VM_CODE_UNGUARD] = &&unguard,
                                                          [VM_CODE_BRANCH] = &&branch,
                                                          [VM_CODE_BRANCH_IF] = &&branch_if,
                                                          [VM_CODE_SWITCH] = &&branch_switch,
                                                          [VM_CODE_JOIN] = &&join,
                                                          [VM_CODE_EXIT] = &&lanes_exit,
                                                          [VM_CODE_RETURN] = &&lanes_return,
                                                          [VM_CODE_TRAP] = &&external,
#define X(name) [VM_CODE_HOT_##name] = &&full_##name,
                                                          VM_HOT_LANES(X)
#undef X
    };
    static const void *const masked_table[VM_CODE_COUNT] = {[VM_CODE_LANE] = &&masked_lane,
                                                            [VM_CODE_LOAD] = &&masked_load,
                                                            [VM_CODE_LOAD_GROUP] = &&skip,
                                                            [VM_CODE_STORE] = &&masked_store,
                                                            [VM_CODE_LOAD_ROW] = &&masked_load,
                                                            [VM_CODE_STORE_ROW] = &&masked_store,
                                                            [VM_CODE_CHECK_LOAD] = &&check_load,
                                                            [VM_CODE_CHECK_STORE] = &&check_store,
                                                            [VM_CODE_EXTERNAL] = &&external,
                                                            [VM_CODE_GUARD] = &&guard,
                                                            [VM_CODE_UNGUARD] = &&unguard,
                                                            [VM_CODE_BRANCH] = &&branch,
                                                            [VM_CODE_BRANCH_IF] = &&branch_if,
                                                            [VM_CODE_SWITCH] = &&branch_switch,
                                                            [VM_CODE_JOIN] = &&join,
                                                            [VM_CODE_EXIT] = &&lanes_exit,
                                                            [VM_CODE_RETURN] = &&lanes_return,
                                                            [VM_CODE_TRAP] = &&external,
#define X(name) [VM_CODE_HOT_##name] = &&partial_##name,
                                                            VM_HOT_LANES(X)
#undef X
    };
    const vm_op *const ops = w->cta->run->program->ops.items;
    const void *const *table;
    const vm_op *op, *start;
    const u32 *m = w->mask_row;
    u32 active;
    vm_action action;

reload:
    if (w->live == 0)
        return VM_LEAVE_EXITED;
    if (!(w->split_count == 1 ? pick_only(w) : vm_control_pick(w)))
        return VM_LEAVE_BLOCKED;
    op = start = ops + w->splits[w->current].pc;
    active = w->splits[w->current].mask;
    table = full_table;
    if (active != w->live) {
        table = masked_table;
        vm_expand(w->mask_row, active);
    }
    if (op->code == VM_CODE_JOIN)
        op++;
    goto *table[op->code];

#define X(name, TD, TA, expression)                                                                          \
    full_##name : hot_##name(OPERAND(op->d), OPERAND(op->a));                                                \
    NEXT;                                                                                                    \
    partial_##name : masked_##name(m, OPERAND(op->d), OPERAND(op->a));                                       \
    NEXT;
    VM_HOT1(X)
#undef X
#define X(name, TD, TA, TB, expression)                                                                      \
    full_##name : hot_##name(OPERAND(op->d), OPERAND(op->a), OPERAND(op->b));                                \
    NEXT;                                                                                                    \
    partial_##name : masked_##name(m, OPERAND(op->d), OPERAND(op->a), OPERAND(op->b));                       \
    NEXT;
    VM_HOT2(X)
#undef X
#define X(name, TD, TA, TB, TC, expression)                                                                  \
    full_##name : hot_##name(OPERAND(op->d), OPERAND(op->a), OPERAND(op->b), OPERAND(op->c));                \
    NEXT;                                                                                                    \
    partial_##name : masked_##name(m, OPERAND(op->d), OPERAND(op->a), OPERAND(op->b), OPERAND(op->c));       \
    NEXT;
    VM_HOT3(X)
#undef X
#define X(name, T, compare)                                                                                  \
    full_##name : *(u32 *)OPERAND(op->d) = compare_##name(OPERAND(op->a), OPERAND(op->b));                   \
    NEXT;                                                                                                    \
    partial_##name : {                                                                                       \
        u32 *d = OPERAND(op->d);                                                                             \
        *d = (*d & ~active) | (compare_##name(OPERAND(op->a), OPERAND(op->b)) & active);                     \
    }                                                                                                        \
    NEXT;
    VM_HOT_COMPARE(X)
#undef X
full_SELP32:
    hot_SELP32(OPERAND(op->d), OPERAND(op->a), OPERAND(op->b), *(const u32 *)OPERAND(op->c));
    NEXT;
partial_SELP32:
    masked_SELP32(m, OPERAND(op->d), OPERAND(op->a), OPERAND(op->b), *(const u32 *)OPERAND(op->c));
    NEXT;
full_lane:
    lane_table[op->sub](OPERAND(op->d), OPERAND(op->a), OPERAND(op->b), OPERAND(op->c), op->imm);
    NEXT;
masked_lane:
    lane_table[op->sub](w->scratch, OPERAND(op->a), OPERAND(op->b), OPERAND(op->c), op->imm);
    blend(m, active, vm_lane_shapes[op->sub].rows, OPERAND(op->d), w->scratch);
    NEXT;
full_load_row:
    if (active != VM_ALL_LANES || !load_row(w, op))
        goto full_load;
    NEXT;
full_store_row:
    if (active != VM_ALL_LANES || !store_row(w, op))
        goto full_store;
    NEXT;
full_load:
    if (!VM_NAME(vm_load)(w, op, active, active == VM_ALL_LANES ? NULL : (vm_expand(w->mask_row, active), m)))
        goto slow_access;
    NEXT;
masked_load:
    if (!VM_NAME(vm_load)(w, op, active, m))
        goto slow_access;
    NEXT;
full_group:
    if (active == VM_ALL_LANES && VM_NAME(vm_load_group)(w, op + 1, op->sub))
        op += op->sub;
    NEXT;
skip:
    NEXT;
full_store:
    if (!VM_NAME(vm_store)(w, op, active,
                           active == VM_ALL_LANES ? NULL : (vm_expand(w->mask_row, active), m)))
        goto slow_access;
    NEXT;
masked_store:
    if (!VM_NAME(vm_store)(w, op, active, m))
        goto slow_access;
    NEXT;
check_load:
    w->splits[w->current].pc = HERE;
    if (!VM_NAME(vm_check)(w, op, active, false))
        vm_race_access(w, op, active);
    if (active == w->live)
        goto full_load;
    goto masked_load;
check_store:
    w->splits[w->current].pc = HERE;
    if (!VM_NAME(vm_check)(w, op, active, true))
        vm_race_access(w, op, active);
    if (active == w->live)
        goto full_store;
    goto masked_store;
slow_access:
    w->splits[w->current].pc = HERE;
    action = vm_memory_access(w, op, active);
    goto act;
external:
    w->splits[w->current].pc = HERE;
    action = vm_externals[op->sub](w, op, active);
act:
    if (action == VM_GO)
        NEXT;
    COUNT_STEPS;
    switch (action) {
    case VM_YIELD:
        w->splits[w->current].pc = HERE + 1;
        return VM_LEAVE_YIELD;
    case VM_HALT:
        return VM_LEAVE_HALT;
    default:
        goto reload;
    }

guard : {
    u32 lanes = *(const u32 *)OPERAND(op->a);
    lanes = active & (op->sub ? ~lanes : lanes);
    if (lanes == active)
        NEXT;
    if (lanes == 0) {
        op = ops + op->x;
        NEXT;
    }
    active = lanes;
    vm_expand(w->mask_row, active);
    table = masked_table;
    NEXT;
}
unguard:
    if (active != w->splits[w->current].mask) {
        active = w->splits[w->current].mask;
        if (active == w->live)
            table = full_table;
        else
            vm_expand(w->mask_row, active);
    }
    NEXT;

branch:
    COUNT_STEPS;
jump:
    if (op->x <= HERE && --w->budget == 0) {
        w->splits[w->current].pc = op->x;
        vm_control_spend(w);
        return VM_LEAVE_YIELD;
    }
    if (op->x >= w->next_pc) {
        vm_control_arrive(w, op->x);
        goto reload;
    }
    op = start = ops + op->x;
    if (op->code == VM_CODE_JOIN)
        op++;
    goto *table[op->code];
branch_if : {
    u32 taken = *(const u32 *)OPERAND(op->a);
    taken = active & (op->sub ? ~taken : taken);
    if (taken == 0)
        NEXT;
    COUNT_STEPS;
    if (taken == active)
        goto jump;
    if (op->x <= HERE && w->budget > 1)
        w->budget--;
    vm_control_branch(w, op->x, taken, HERE + 1);
    goto reload;
}
branch_switch:
    COUNT_STEPS;
    vm_control_switch(w, op, HERE);
    goto reload;
join:
    if (HERE >= w->next_pc) {
        COUNT_STEPS;
        vm_control_arrive(w, HERE);
        goto reload;
    }
    NEXT;
lanes_exit:
    COUNT_STEPS;
    if (rests(w, active))
        goto follow;
    vm_control_exit(w, active);
    goto reload;
lanes_return:
    COUNT_STEPS;
    if (rests(w, active))
        goto follow;
    vm_control_return(w);
    goto reload;
follow : {
    vm_warp *next = vm_schedule_follow(w);
    if (next == NULL)
        return VM_LEAVE_EXITED;
    w = next;
    m = w->mask_row;
    goto reload;
}
}
