/* SPDX-License-Identifier: Apache-2.0
 * Warp collectives: shfl, vote, match, redux, elect, bar.warp.sync. A lane names the members it waits for;
 * the operation happens when every live member of its mask has come to the same operation. Lanes that are
 * ready do not wait for strangers: the split is divided. Forms without .sync take the lanes that are there.
 */
#include "vm/vm_race.h"

/* True when the lanes of `mask` may execute now; otherwise *action says what the engine does. */
static bool come_together(vm_warp *warp, uint32_t mask, uint32_t members_ref, vm_action *action) {
    if (members_ref == VM_REF_NONE)
        return true;
    const uint32_t *members = vm_operand(warp, members_ref);
    uint32_t missing = 0, outside = 0;
    VM_FOR_LANES(lane, mask) {
        missing |= members[lane] & warp->live & ~mask;
        outside |= members[lane] >> lane & 1 ? 0 : 1u << lane;
    }
    vm_split *current = &warp->splits[warp->current];
    if (outside)
        vm_finding_add(warp->cta, VM_FIND_COLLECTIVE_LANES, current->pc, warp, vm_first_lane(outside));
    if (missing == 0)
        return true;
    /* others that already stand here, waiting or on their way through */
    current->state = VM_SPLIT_READY;
    uint32_t before = warp->split_count;
    for (uint32_t i = 0; i < warp->split_count; i++)
        if (i != warp->current && warp->splits[i].pc == current->pc &&
            warp->splits[i].frame == current->frame && warp->splits[i].state == VM_SPLIT_COLLECTIVE)
            warp->splits[i].state = VM_SPLIT_READY;
    vm_control_merge(warp, warp->current);
    *action = VM_AGAIN;
    if (warp->split_count != before)
        return false;
    uint32_t complete = 0;
    VM_FOR_LANES(lane, mask) {
        if ((members[lane] & warp->live & ~mask) == 0)
            complete |= 1u << lane;
    }
    if (complete != 0 && complete != mask) {
        vm_control_isolate(warp, complete);
        warp->splits[warp->split_count - 1].state = VM_SPLIT_COLLECTIVE;
        warp->splits[warp->split_count - 1].wait = missing;
        return false;
    }
    current = &warp->splits[warp->current];
    current->state = VM_SPLIT_COLLECTIVE;
    current->wait = missing;
    return false;
}

/* The same for what counts as a meeting of the lanes (PTX ISA 9.7.13.3 says it of bar.warp.sync; a value that
 * went from lane to lane is taken for one here). */
static bool gather_lanes(vm_warp *warp, uint32_t mask, uint32_t members_ref, vm_action *action) {
    if (!come_together(warp, mask, members_ref, action))
        return false;
    vm_race_collective(warp, mask, members_ref);
    return true;
}

static uint32_t members_of(const vm_warp *warp, uint32_t members_ref, unsigned lane, uint32_t mask) {
    return members_ref == VM_REF_NONE ? mask : vm_operand32(warp, members_ref, lane) & mask;
}

/* shfl: imm: mode (0 up, 1 down, 2 bfly, 3 idx); extras: d, p (or none), a, b, c, members (or none). PTX
 * ISA 9.7.9.6. */
vm_action vm_external_SHFL(vm_warp *warp, const vm_op *op, uint32_t mask) {
    const uint32_t *list = warp->cta->run->program->extras.items + op->x + 1;
    vm_action action;
    if (!gather_lanes(warp, mask, list[5], &action))
        return action;
    uint32_t source[VM_LANES], from[VM_LANES], valid = 0, wrong = 0;
    memcpy(source, vm_operand(warp, list[2]), sizeof source);
    const uint32_t *b = vm_operand(warp, list[3]), *c = vm_operand(warp, list[4]);
    for (uint32_t lane = 0; lane < VM_LANES; lane++) {
        uint32_t delta = b[lane] & 31, clamp = c[lane] & 31, segment = c[lane] >> 8 & 31;
        uint32_t top = (lane & segment) | (clamp & ~segment), low = lane & segment, other = 0;
        bool inside = true;
        switch (op->imm) {
        case 0:
            other = lane - delta;
            inside = (int32_t)other >= (int32_t)top;
            break;
        case 1:
            other = lane + delta;
            inside = other <= top;
            break;
        case 2:
            other = lane ^ delta;
            inside = other <= top;
            break;
        default:
            other = low | (delta & ~segment);
            inside = other <= top;
        }
        from[lane] = inside ? other & 31 : lane;
        valid |= (uint32_t)inside << lane;
        wrong |= (mask >> from[lane] & 1 ? 0u : 1u) << lane;
    }
    wrong &= mask;
    if (wrong) {
        uint32_t pc = warp->splits[warp->current].pc;
        vm_finding *finding =
            vm_finding_add(warp->cta, VM_FIND_SHUFFLE_INACTIVE, pc, warp, vm_first_lane(wrong));
        if (finding != NULL)
            finding->address = from[vm_first_lane(wrong)];
    }
    uint32_t *d = list[0] != VM_REF_NONE ? vm_operand(warp, list[0]) : NULL;
    if (d != NULL)
        VM_FOR_LANES(lane, mask)
    d[lane] = source[from[lane]];
    if (list[1] != VM_REF_NONE) {
        uint32_t *p = vm_operand(warp, list[1]);
        *p = (*p & ~mask) | (valid & mask);
    }
    return VM_GO;
}

/* vote: imm: 0 all, 1 any, 2 uni, 3 ballot; d, a: predicate, b: members or none. */
vm_action vm_external_VOTE(vm_warp *warp, const vm_op *op, uint32_t mask) {
    vm_action action;
    if (!gather_lanes(warp, mask, op->b, &action))
        return action;
    uint32_t set = *(const uint32_t *)vm_operand(warp, op->a) & mask, result = 0;
    void *d = vm_operand(warp, op->d);
    VM_FOR_LANES(lane, mask) {
        uint32_t members = members_of(warp, op->b, lane, mask) | 1u << lane, yes = set & members;
        if (op->imm == 3)
            ((uint32_t *)d)[lane] = yes;
        bool value = op->imm == 0 ? yes == members : op->imm == 1 ? yes != 0 : yes == members || yes == 0;
        result |= (uint32_t)value << lane;
    }
    if (op->imm != 3)
        *(uint32_t *)d = (*(uint32_t *)d & ~mask) | result;
    return VM_GO;
}

/* match: imm: 1 all, 2 64-bit; extras: d, p or none, a, members. */
vm_action vm_external_MATCH(vm_warp *warp, const vm_op *op, uint32_t mask) {
    const uint32_t *list = warp->cta->run->program->extras.items + op->x + 1;
    vm_action action;
    if (!gather_lanes(warp, mask, list[3], &action))
        return action;
    uint32_t result[VM_LANES] = {0}, all = 0;
    VM_FOR_LANES(lane, mask) {
        uint32_t members = members_of(warp, list[3], lane, mask) | 1u << lane, same = 0;
        VM_FOR_LANES(other, members) {
            bool equal = op->imm & 2
                             ? vm_operand64(warp, list[2], other) == vm_operand64(warp, list[2], lane)
                             : vm_operand32(warp, list[2], other) == vm_operand32(warp, list[2], lane);
            same |= (uint32_t)equal << other;
        }
        result[lane] = !(op->imm & 1) || same == members ? same : 0;
        all |= (uint32_t)(same == members) << lane;
    }
    if (list[0] != VM_REF_NONE) {
        uint32_t *d = vm_operand(warp, list[0]);
        VM_FOR_LANES(lane, mask)
        d[lane] = result[lane];
    }
    if (list[1] != VM_REF_NONE) {
        uint32_t *p = vm_operand(warp, list[1]);
        *p = (*p & ~mask) | all;
    }
    return VM_GO;
}

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

/* imm bits 0-3: 0 add, 1 min, 2 max, 3 and, 4 or, 5 xor, 6 float min, 7 float max; bit 4 signed, 5 .abs, 6
 * .NaN. */
static uint32_t combine(uint64_t imm, uint32_t x, uint32_t y) {
    bool sign = imm >> 4 & 1;
    switch (imm & 15) {
    case 0:
        return x + y;
    case 1:
        return (sign ? (int32_t)x < (int32_t)y : x < y) ? x : y;
    case 2:
        return (sign ? (int32_t)x > (int32_t)y : x > y) ? x : y;
    case 3:
        return x & y;
    case 4:
        return x | y;
    case 5:
        return x ^ y;
    default:
        break;
    }
    float a = float_of(x), b = float_of(y);
    if (a != a || b != b)
        return imm >> 6 & 1 ? 0x7fffffffu : a != a ? (b != b ? 0x7fffffffu : y) : x;
    bool smaller = (imm & 15) == 6;
    if (a == b)
        return smaller ? x | y : x & y;
    return (a < b) == smaller ? x : y;
}

/* redux: d, a, b: members. */
vm_action vm_external_REDUX(vm_warp *warp, const vm_op *op, uint32_t mask) {
    vm_action action;
    if (!gather_lanes(warp, mask, op->b, &action))
        return action;
    uint32_t source[VM_LANES], rest = mask;
    memcpy(source, vm_operand(warp, op->a), sizeof source);
    uint32_t *d = vm_operand(warp, op->d);
    if (op->imm >> 5 & 1)
        for (unsigned l = 0; l < VM_LANES; l++)
            source[l] &= 0x7fffffffu;
    while (rest) {
        unsigned first = vm_first_lane(rest);
        uint32_t members = members_of(warp, op->b, first, mask) | 1u << first, lanes = 0;
        uint32_t value = source[vm_first_lane(members)];
        VM_FOR_LANES(other, members & (members - 1))
        value = combine(op->imm, value, source[other]);
        VM_FOR_LANES(lane, rest) {
            if ((members_of(warp, op->b, lane, mask) | 1u << lane) != members)
                continue;
            d[lane] = value;
            lanes |= 1u << lane;
        }
        rest &= ~lanes;
    }
    return VM_GO;
}

/* PTX leaves open which member is elected, but it is the same one for the same mask: the lowest, or one that
 * the seed of a random schedule chooses. */
static unsigned leader_of(const vm_warp *warp, uint32_t members) {
    const vm_launch *launch = warp->cta->run->launch;
    if (launch->schedule != VM_SCHEDULE_RANDOM)
        return vm_first_lane(members);
    uint32_t skip =
        (uint32_t)(base_hash_mix(launch->seed, members) >> 32) % (uint32_t)__builtin_popcount(members);
    while (skip--)
        members &= members - 1;
    return vm_first_lane(members);
}

/* elect.sync, which chooses a lane and orders nothing: extras: d or none, p, members. */
vm_action vm_external_ELECT(vm_warp *warp, const vm_op *op, uint32_t mask) {
    const uint32_t *list = warp->cta->run->program->extras.items + op->x + 1;
    vm_action action;
    if (!come_together(warp, mask, list[2], &action))
        return action;
    uint32_t leaders = 0, leader[VM_LANES];
    VM_FOR_LANES(lane, mask) {
        leader[lane] = leader_of(warp, members_of(warp, list[2], lane, mask) | 1u << lane);
        leaders |= (uint32_t)(leader[lane] == lane) << lane;
    }
    if (list[0] != VM_REF_NONE) {
        uint32_t *d = vm_operand(warp, list[0]);
        VM_FOR_LANES(lane, mask)
        d[lane] = leader[lane];
    }
    if (list[1] != VM_REF_NONE) {
        uint32_t *p = vm_operand(warp, list[1]);
        *p = (*p & ~mask) | leaders;
    }
    return VM_GO;
}

/* bar.warp.sync: a: members. */
vm_action vm_external_WARP_BARRIER(vm_warp *warp, const vm_op *op, uint32_t mask) {
    vm_action action;
    return gather_lanes(warp, mask, op->a, &action) ? VM_GO : action;
}
