/* SPDX-License-Identifier: Apache-2.0
 * Words of the findings about tensor memory. Reads vm_finding only. */
#include <inttypes.h>
#include "check/check_words.h"

static const check_kind kinds[] = {
    [VM_FIND_TMEM_UNALLOCATED - VM_FIND_TMEM_FIRST] = {"T0740", BASE_ERROR},
    [VM_FIND_TMEM_RANGE - VM_FIND_TMEM_FIRST] = {"T0741", BASE_ERROR},
    [VM_FIND_TMEM_FREE_ADDRESS - VM_FIND_TMEM_FIRST] = {"T0742", BASE_ERROR},
    [VM_FIND_TMEM_FREE_SIZE - VM_FIND_TMEM_FIRST] = {"T0743", BASE_ERROR},
    [VM_FIND_TMEM_FREED_TWICE - VM_FIND_TMEM_FIRST] = {"T0744", BASE_ERROR},
    [VM_FIND_TMEM_LEAK - VM_FIND_TMEM_FIRST] = {"T0745", BASE_ERROR},
    [VM_FIND_TMEM_RELINQUISHED - VM_FIND_TMEM_FIRST] = {"T0746", BASE_ERROR},
    [VM_FIND_TMEM_COLUMNS - VM_FIND_TMEM_FIRST] = {"T0747", BASE_ERROR},
    [VM_FIND_TMEM_GROWS - VM_FIND_TMEM_FIRST] = {"T0748", BASE_ERROR},
    [VM_FIND_TMEM_GROUP - VM_FIND_TMEM_FIRST] = {"T0749", BASE_ERROR},
    [VM_FIND_TMEM_PEER - VM_FIND_TMEM_FIRST] = {"T0750", BASE_ERROR},
    [VM_FIND_TMEM_LANES - VM_FIND_TMEM_FIRST] = {"T0751", BASE_ERROR},
    [VM_FIND_TMEM_PAIR_DIFFERS - VM_FIND_TMEM_FIRST] = {"T0751", BASE_ERROR},
    [VM_FIND_TMEM_PARTIAL - VM_FIND_TMEM_FIRST] = {"T0752", BASE_ERROR},
    [VM_FIND_TMEM_SLOT - VM_FIND_TMEM_FIRST] = {"T0753", BASE_ERROR},
    [VM_FIND_TMEM_SLOT_DATA - VM_FIND_TMEM_FIRST] = {"T0831", BASE_ERROR},
    [VM_FIND_TMEM_WINDOW - VM_FIND_TMEM_FIRST] = {"T0754", BASE_ERROR},
    [VM_FIND_TMEM_LANE_START - VM_FIND_TMEM_FIRST] = {"T0755", BASE_ERROR},
    [VM_FIND_TMEM_UNWRITTEN - VM_FIND_TMEM_FIRST] = {"T0756", BASE_ERROR},
    [VM_FIND_TMEM_IN_FLIGHT - VM_FIND_TMEM_FIRST] = {"T0757", BASE_ERROR},
    [VM_FIND_TMEM_USE_BEFORE_WAIT - VM_FIND_TMEM_FIRST] = {"T0758", BASE_NOTE},
    [VM_FIND_TMEM_WRONG_WAIT - VM_FIND_TMEM_FIRST] = {"T0759", BASE_WARNING},
    [VM_FIND_TMEM_OVERWRITE - VM_FIND_TMEM_FIRST] = {"T0760", BASE_ERROR},
    [VM_FIND_TMEM_FENCE_AFTER - VM_FIND_TMEM_FIRST] = {"T0761", BASE_WARNING},
    [VM_FIND_TMEM_FENCE_BEFORE - VM_FIND_TMEM_FIRST] = {"T0762", BASE_WARNING},
    [VM_FIND_TMEM_UNPUBLISHED - VM_FIND_TMEM_FIRST] = {"T0763", BASE_ERROR},
    [VM_FIND_TMEM_PAIR_ORDER - VM_FIND_TMEM_FIRST] = {"T0763", BASE_ERROR},
    [VM_FIND_TMEM_CAPACITY - VM_FIND_TMEM_FIRST] = {"T0764", BASE_ERROR},
};

const check_kind *check_kind_tmem(vm_finding_kind kind) {
    unsigned index = (unsigned)kind - VM_FIND_TMEM_FIRST;
    return kind >= VM_FIND_TMEM_FIRST && index < sizeof kinds / sizeof *kinds && kinds[index].code
               ? &kinds[index]
               : NULL;
}

static void columns_words(uint64_t first, uint64_t count, base_builder *out) {
    if (count == 1)
        base_builder_format(out, "column %" PRIu64, first);
    else
        base_builder_format(out, "columns %" PRIu64 " to %" PRIu64, first, first + count - 1);
}

static const char *are(const vm_finding *f) {
    return f->size == 1 ? "is" : "are";
}

static const char *them(const vm_finding *f) {
    return f->size == 1 ? "it" : "them";
}

static const char *access_word(const vm_finding *f) {
    return f->is_store ? "write of " : "read of ";
}

static void flight_words(const vm_finding *f, base_builder *out, const char **help) {
    columns_words(f->address & 0xffff, f->size, out);
    if (f->after_free) {
        base_builder_format(
            out, " %s touched, but no barrier tells this warp that the other one's tcgen05.%s is complete",
            are(f), f->required == 1 ? "ld" : "st");
        *help = "tcgen05.wait first, then the barrier or arrive, in the warp that loads or stores";
        return;
    }
    switch (f->required) {
    case 1:
        base_builder_format(out, " %s touched while tcgen05.ld still reads %s", are(f), them(f));
        *help = "tcgen05.wait::ld in the warp that loads, before its cells are written or given back";
        break;
    case 2:
        base_builder_format(out, " %s touched while tcgen05.st still writes %s", are(f), them(f));
        *help = "tcgen05.wait::st in the warp that stores, before anybody reads or writes the cells";
        break;
    default:
        base_builder_format(out, " %s touched while the tensor core still works on %s", are(f), them(f));
        *help = "tcgen05.commit to an mbarrier and a wait for it, before anybody else touches the cells";
    }
}

static void free_words(const vm_finding *f, base_builder *out) {
    static const char *const why[] = {"", "an address outside tensor memory",
                                      "columns that are not allocated", "columns of another CTA",
                                      "an address inside an allocation, not its first column"};
    base_builder_format(out, "dealloc of 0x%" PRIx64 " (%" PRIu64 " columns): %s", f->address, f->size,
                        f->required < sizeof why / sizeof *why ? why[f->required] : "");
    if (f->allocation_bytes) {
        base_builder_string(out, "; the allocation has ");
        columns_words(f->allocation_begin, f->allocation_bytes, out);
    }
}

static void access_words(const vm_finding *f, base_builder *out) {
    base_builder_string(out, access_word(f));
    columns_words(f->address & 0xffff, f->size, out);
    base_builder_format(out, ": column %" PRIu64, f->required);
    if (f->after_free)
        base_builder_string(out, " was given back before");
    else if (f->allocation_bytes)
        base_builder_string(out, " belongs to another CTA");
    else
        base_builder_string(out, " is not allocated");
}

bool check_words_tmem(const vm_finding *f, base_builder *out, const char **help) {
    switch (f->kind) {
    case VM_FIND_TMEM_UNALLOCATED:
        access_words(f, out);
        *help = "stay inside the columns of an alloc of this CTA, between alloc and dealloc";
        return true;
    case VM_FIND_TMEM_RANGE:
        if (f->required == 128) {
            base_builder_format(out, "lane %" PRIu64 " is outside tensor memory, which has lanes 0 to 127",
                                f->address >> 16);
        } else {
            base_builder_string(out, access_word(f));
            columns_words(f->address & 0xffffffff, f->size, out);
            base_builder_string(out, ", outside tensor memory, which has columns 0 to 511");
        }
        return true;
    case VM_FIND_TMEM_FREE_ADDRESS:
        free_words(f, out);
        *help = "give dealloc the address that alloc wrote to its slot";
        return true;
    case VM_FIND_TMEM_FREE_SIZE:
        base_builder_format(
            out, "dealloc of %" PRIu64 " columns, but the allocation at column %" PRIu64 " has %" PRIu64,
            f->size, f->allocation_begin, f->allocation_bytes);
        *help = "an allocation is given back whole";
        return true;
    case VM_FIND_TMEM_FREED_TWICE:
        base_builder_format(out, "dealloc of 0x%" PRIx64 ", which was given back before", f->address);
        *help = "one warp of the CTA runs dealloc, once for each alloc";
        return true;
    case VM_FIND_TMEM_LEAK:
        base_builder_string(out, "the CTA ended without dealloc of ");
        columns_words(f->allocation_begin, f->allocation_bytes, out);
        base_builder_string(out, " of tensor memory");
        *help = "dealloc on every way out of the kernel; on hardware a later CTA hangs in alloc";
        return true;
    case VM_FIND_TMEM_RELINQUISHED:
        base_builder_string(out, "alloc after the CTA gave up its permit to allocate");
        *help = "allocate everything before relinquish_alloc_permit";
        return true;
    case VM_FIND_TMEM_COLUMNS:
        base_builder_format(out, "%s of %" PRIu64 " columns; possible are 32, 64, 128, 256 and 512",
                            f->is_store ? "dealloc" : "alloc", f->size);
        return true;
    case VM_FIND_TMEM_GROWS:
        base_builder_format(
            out, "alloc of %" PRIu64 " columns after one of %" PRIu64 ": allocations must not grow", f->size,
            f->required);
        *help = "allocate the largest part first";
        return true;
    case VM_FIND_TMEM_GROUP:
        base_builder_format(out, "cta_group::%" PRIu64 " in a kernel that uses cta_group::%" PRIu64, f->size,
                            f->required);
        *help = "all tcgen05 instructions of a kernel have the same cta_group";
        return true;
    case VM_FIND_TMEM_PEER:
        if (f->after_free)
            base_builder_string(out, "cta_group::2, but the other CTA of the pair has ended");
        else if (f->size <= 1)
            base_builder_string(out, "cta_group::2, but the launch has no clusters of two CTAs or more");
        else
            base_builder_format(out, "cta_group::2, but this CTA has no pair in its cluster of %" PRIu64,
                                f->size);
        *help = "launch with a cluster of an even size, and let both CTAs take part";
        return true;
    case VM_FIND_TMEM_LANES:
        base_builder_format(out, "lanes disagree: 0x%" PRIx64 " in this one, 0x%" PRIx64 " in the first",
                            f->address, f->required);
        *help = "all 32 lanes give the same value";
        return true;
    case VM_FIND_TMEM_PAIR_DIFFERS:
        base_builder_format(out,
                            "the two CTAs of the pair disagree: %" PRIu64 " columns here, %" PRIu64
                            " there, or not the same warp of both",
                            f->size, f->required);
        return true;
    case VM_FIND_TMEM_PARTIAL:
        base_builder_format(
            out, "executed by lanes 0x%08" PRIx64 " of a warp of 0x%08" PRIx64 "%s", f->size, f->required,
            f->address != f->required ? ", of which some have exited" : "; the others cannot come");
        *help = "the whole warp must reach the instruction together";
        return true;
    case VM_FIND_TMEM_SLOT:
        base_builder_format(
            out, "alloc writes its address to 0x%" PRIx64 ", which is not in shared memory of this CTA",
            f->address);
        return true;
    case VM_FIND_TMEM_SLOT_DATA:
        base_builder_format(out,
                            "data is written over the address of tensor memory at shared offset %" PRIu64
                            "%s%s, which is still taken from there: 0x%" PRIx64 " instead of 0x%" PRIx64,
                            f->address, f->text ? ", of the alloc of " : "", f->text ? f->text : "", f->size,
                            f->required);
        *help = "give the slot bytes of its own for as long as anybody reads it; or read it once, into a "
                "register, before";
        return true;
    case VM_FIND_TMEM_WINDOW:
        base_builder_format(out, "%s lane %" PRIu64 " by a warp that owns lanes %" PRIu64 " to %" PRIu64,
                            f->is_store ? "store to" : "load from", f->size, f->required, f->required + 31);
        *help = "add (32 * (warp % 4)) << 16 to the address";
        return true;
    case VM_FIND_TMEM_LANE_START:
        base_builder_format(out, "the address starts at lane %" PRIu64 " of the warp's 32; %s", f->size,
                            f->required ? "possible are 0 and 16" : ".32x32b starts at lane 0");
        return true;
    case VM_FIND_TMEM_UNWRITTEN:
        base_builder_format(
            out, "read of column %" PRIu64 ", lane %" PRIu64 ", %swhich nothing has written since alloc",
            f->address & 0xffff, f->address >> 16, f->size == 2 ? "upper half, " : "");
        return true;
    case VM_FIND_TMEM_IN_FLIGHT:
        flight_words(f, out, help);
        return true;
    case VM_FIND_TMEM_USE_BEFORE_WAIT:
        base_builder_string(
            out, "a register of tcgen05.ld is used before tcgen05.wait::ld; the true dependency orders the "
                 "value, and nothing else");
        return true;
    case VM_FIND_TMEM_WRONG_WAIT:
        base_builder_string(
            out, "a register of tcgen05.ld is used after tcgen05.wait::st, which does not wait for loads");
        *help = "tcgen05.wait::ld";
        return true;
    case VM_FIND_TMEM_OVERWRITE:
        base_builder_string(out, "writes a register that tcgen05.ld has not been waited for");
        *help = "tcgen05.wait::ld first, or another register";
        return true;
    case VM_FIND_TMEM_FENCE_AFTER:
        base_builder_string(out, "cells of ");
        columns_words(f->address & 0xffff, f->size, out);
        base_builder_string(
            out, " were written elsewhere, and this warp has run no tcgen05.fence::after_thread_sync since");
        *help = "put the fence behind the barrier or mbarrier wait";
        return true;
    case VM_FIND_TMEM_FENCE_BEFORE:
        base_builder_string(out, "cells of ");
        columns_words(f->address & 0xffff, f->size, out);
        base_builder_format(
            out, " were stored by warp %" PRIu64 ", which has run no tcgen05.fence::before_thread_sync since",
            f->required);
        *help = "put the fence behind tcgen05.wait::st, before the barrier or arrive";
        return true;
    case VM_FIND_TMEM_UNPUBLISHED:
        base_builder_string(
            out,
            "tensor memory that another warp allocated is used, but this warp has passed no barrier since");
        *help = "a barrier of the CTA between alloc and the first read of the slot";
        return true;
    case VM_FIND_TMEM_PAIR_ORDER:
        base_builder_string(out, "dealloc with cta_group::2, but no barrier of the cluster since alloc: the "
                                 "other CTA's alloc may not "
                                 "have ended");
        *help = "barrier.cluster between alloc and dealloc";
        return true;
    case VM_FIND_TMEM_CAPACITY:
        base_builder_format(
            out, "alloc of %" PRIu64 " columns while the CTA holds %" PRIu64 " of 512: it can never return",
            f->size, f->required);
        return true;
    default:
        return false;
    }
}

const char *check_other_tmem(const vm_finding *f) {
    switch (f->kind) {
    case VM_FIND_TMEM_UNALLOCATED:
        return f->after_free ? "given back here" : "allocated here";
    case VM_FIND_TMEM_FREED_TWICE:
        return "given back here";
    case VM_FIND_TMEM_RELINQUISHED:
        return "relinquished here";
    case VM_FIND_TMEM_SLOT_DATA:
        return "taken as an address here";
    case VM_FIND_TMEM_GROUP:
        return "the other cta_group is here";
    case VM_FIND_TMEM_PAIR_DIFFERS:
        return "the other CTA of the pair is here";
    case VM_FIND_TMEM_IN_FLIGHT:
        return "started here";
    case VM_FIND_TMEM_USE_BEFORE_WAIT:
    case VM_FIND_TMEM_WRONG_WAIT:
    case VM_FIND_TMEM_OVERWRITE:
        return "loaded here";
    case VM_FIND_TMEM_FENCE_AFTER:
    case VM_FIND_TMEM_FENCE_BEFORE:
        return "written here";
    default:
        return "allocated here";
    }
}
