/* SPDX-License-Identifier: Apache-2.0
 * The short way of the race checker (vm_race.h): accesses to the own shared memory whose lines hold nothing
 * that the warp does not know of. They go into the log as they are. Lanes whose line does not pass go on to
 * vm_race.c. */
#include "vm/level/vm_level.h"
#include "vm/vm_race.h"

enum { SPAN = 32 }; /* lines that are looked at one after the other */

/* Offsets of the lanes; false: not in the own shared memory, or another form. Lanes that are not active
 * repeat an active one. */
VM_INLINE bool offsets(const vm_warp *w, const vm_op *op, u32 mask, u32 bytes, u32 *offset) {
    const vm_cta *cta = w->cta;
    u32 add = (u32)op->imm - cta->window, unaligned = 0, high = 0;
    if (VM_ACCESS_SPACE(op->sub) != VM_SHARED)
        return false;
    if (VM_ACCESS_FORM(op->sub) == VM_ADDRESS_FIXED) {
        add += cta->window;
        VM_LOOP {
            offset[l] = add;
        }
        return (add & (bytes - 1)) == 0 && bytes <= cta->shared_bytes && add <= cta->shared_bytes - bytes;
    }
    if (VM_ACCESS_FORM(op->sub) != VM_ADDRESS_32)
        return false;
    const u32 *a = vm_operand(w, op->a);
    u32 spare = a[vm_first_lane(mask)];
    VM_LOOP {
        u32 x = (mask >> l & 1 ? a[l] : spare) + add;
        offset[l] = x;
        unaligned |= x;
        high = x > high ? x : high;
    }
    return (unaligned & (bytes - 1)) == 0 && bytes <= cta->shared_bytes && high <= cta->shared_bytes - bytes;
}

/* Are the elements side by side? */
VM_INLINE bool is_row(const u32 *offset, u32 bytes) {
    u32 different = 0;
    VM_LOOP {
        different |= offset[l] ^ (offset[0] + l * bytes);
    }
    return different == 0;
}

/* Do two lanes of a store meet? Their elements are aligned, so they are the same or apart. */
static bool meets_itself(struct vm_race *race, const u32 *offset, u32 mask) {
    u32 number = ++race->domain->instances;
    VM_FOR_LANES(lane, mask) {
        u32 *probe = &race->probe[offset[lane] >> race->shift];
        if (*probe == number)
            return true;
        *probe = number;
    }
    return false;
}

/* Lanes that read what nothing has written. */
static u32 unwritten(const struct vm_race *race, const u32 *offset, u32 mask, u32 bytes) {
    u32 lanes = 0, count = bytes >> race->shift;
    VM_FOR_LANES(lane, mask) {
        if (race->line_written[offset[lane] / VM_RACE_LINE] == VM_RACE_LINE >> race->shift)
            continue;
        const uint8_t *written = race->written + (offset[lane] >> race->shift);
        for (u32 k = 0; k < count; k++)
            lanes |= written[k] ? 0 : 1u << lane;
    }
    return lanes;
}

static void mark_written(struct vm_race *race, const u32 *offset, u32 mask, u32 bytes) {
    u32 count = bytes >> race->shift, per_line = VM_RACE_LINE >> race->shift;
    VM_FOR_LANES(lane, mask) {
        u32 first = offset[lane] >> race->shift;
        if (race->line_written[first / per_line] == per_line)
            continue;
        for (u32 g = first; g < first + count; g++) {
            race->line_written[g / per_line] =
                (uint8_t)(race->line_written[g / per_line] + !race->written[g]);
            race->written[g] = 1;
        }
    }
}

/* Bytes from begin to end. */
static void mark_row(struct vm_race *race, u32 begin, u32 end) {
    u32 per_line = VM_RACE_LINE >> race->shift, g = begin >> race->shift, stop = end >> race->shift;
    while (g < stop) {
        u32 line = g / per_line, next = (line + 1) * per_line;
        if (g == line * per_line && next <= stop) {
            memset(race->written + g, 1, per_line);
            race->line_written[line] = (uint8_t)per_line;
            g = next;
            continue;
        }
        race->line_written[line] = (uint8_t)(race->line_written[line] + !race->written[g]);
        race->written[g++] = 1;
    }
}

bool VM_NAME(vm_check)(vm_warp *w, const vm_op *op, u32 mask, bool store) {
    struct vm_race *race = w->cta->race;
    if (race == NULL)
        return true;
    vm_race_warp *state = vm_race_warp_of(w);
    const vm_clock *clock = state->common;
    u32 bytes = VM_ACCESS_COUNT(op->sub) << VM_ACCESS_LOG2(op->sub);
    _Alignas(64) u32 offset[VM_LANES];
    if (clock == NULL || race->domain->full || w->cta->flights || op->sub & VM_ACCESS_STRONG ||
        !offsets(w, op, mask, bytes, offset))
        return false;
    bool row = mask == VM_ALL_LANES && is_row(offset, bytes);
    if (store && !row && meets_itself(race, offset, mask))
        return false;
    u32 low = UINT32_MAX, high = 0, full = VM_RACE_LINE >> race->shift, fails = 0;
    VM_LOOP {
        low = offset[l] < low ? offset[l] : low;
        high = offset[l] > high ? offset[l] : high;
    }
    low /= VM_RACE_LINE;
    high /= VM_RACE_LINE;
    bool whole = true; /* all lines are written */
    u32 bad = 0;
    if (high - low < SPAN) {
        for (u32 line = low; line <= high; line++) {
            bad |= (u32)!vm_race_passes(race, line, clock, store) << (line - low);
            whole &= race->line_written[line] == full;
        }
        if (bad)
            VM_FOR_LANES(lane, mask) {
                fails |= (bad >> (offset[lane] / VM_RACE_LINE - low) & 1) << lane;
            }
    } else {
        VM_FOR_LANES(lane, mask) {
            u32 line = offset[lane] / VM_RACE_LINE;
            fails |= (u32)!vm_race_passes(race, line, clock, store) << lane;
            whole &= race->line_written[line] == full;
        }
    }
    if (!store && !whole && race->initial)
        fails |= unwritten(race, offset, mask, bytes);
    u32 good = mask & ~fails, self = vm_race_index_of(w);
    if (good == 0)
        return false;
    vm_race_entry *e = vm_race_log(race);
    e->pc = (u32)(op - w->cta->run->program->ops.items);
    e->stamp = state->stamp;
    e->mask = good;
    e->warp = self;
    e->first = low;
    e->last = high;
    e->bytes = (uint8_t)bytes;
    e->store = store;
    memcpy(e->offset, offset, sizeof e->offset);
    u32 *stamps = (store ? race->line_writes : race->line_reads) + self;
    if (high - low < SPAN)
        for (u32 line = low; line <= high; line++)
            stamps[(size_t)line * race->stride] =
                bad >> (line - low) & 1 ? stamps[(size_t)line * race->stride] : state->stamp;
    else
        VM_FOR_LANES(lane, good) {
            stamps[(size_t)(offset[lane] / VM_RACE_LINE) * race->stride] = state->stamp;
        }
    if (store && !whole && row)
        mark_row(race, offset[0], offset[31] + bytes);
    else if (store && !whole)
        mark_written(race, offset, good, bytes);
    state->accessed = state->stamp;
    if (fails)
        vm_race_access(w, op, fails);
    return true;
}
