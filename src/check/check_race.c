/* SPDX-License-Identifier: Apache-2.0
 * Words for races in shared memory and for reads of memory that nothing wrote. Reads vm_finding only. */
#include <inttypes.h>
#include "check/check_words.h"

static const check_kind read_write = {"T0847", BASE_ERROR}, write_write = {"T0848", BASE_ERROR},
                        lanes = {"T0849", BASE_ERROR};

const check_kind *check_kind_race(vm_finding_kind kind) {
    switch (kind) {
    case VM_FIND_RACE_READ_WRITE:
        return &read_write;
    case VM_FIND_RACE_WRITE_WRITE:
        return &write_write;
    case VM_FIND_RACE_LANES:
        return &lanes;
    default:
        return NULL;
    }
}

static bool is_race(const vm_finding *f) {
    return check_kind_race(f->kind) != NULL;
}

/* `tile[3]` as the program says it, or a variable and the byte in it, or the address alone. */
static void place_words(const vm_finding *f, base_builder *out) {
    const ptx_origin *origin = f->instruction ? f->instruction->origin : NULL;
    if (origin == NULL && f->other != NULL && f->other->origin != NULL) {
        base_builder_format(out, "`%s` (shared address 0x%" PRIx64 ")", f->other->origin->tensor, f->address);
        return;
    }
    if (origin != NULL) {
        check_words_element(f, origin, out);
        base_builder_format(out, " (shared address 0x%" PRIx64 ")", f->address);
    } else if (f->allocation != NULL && f->address - f->allocation_begin < f->allocation_bytes) {
        base_builder_format(out, "byte %" PRIu64 " of `%s` (shared address 0x%" PRIx64 ")",
                            f->address - f->allocation_begin, f->allocation, f->address);
    } else {
        base_builder_format(out, "shared address 0x%" PRIx64, f->address);
    }
}

static void thread_words(const uint32_t cta[3], const uint32_t thread[3], bool with_cta, base_builder *out) {
    base_builder_format(out, "thread (%u,%u,%u)", thread[0], thread[1], thread[2]);
    if (with_cta)
        base_builder_format(out, " of CTA (%u,%u,%u)", cta[0], cta[1], cta[2]);
}

static bool in_two_ctas(const vm_finding *f) {
    return f->cta[0] != f->other_cta[0] || f->cta[1] != f->other_cta[1] || f->cta[2] != f->other_cta[2];
}

/* "thread (3,0,0)", or the asynchronous operation. */
static void who_words(const vm_finding *f, bool other, base_builder *out) {
    const ptx_instruction *instruction = other ? f->other : f->instruction;
    if (other ? f->other_async : f->async)
        base_builder_format(out, "a %s", instruction ? ptx_op_name(instruction->op) : "copy");
    else if (other)
        thread_words(f->other_cta, f->other_thread, in_two_ctas(f), out);
    else
        thread_words(f->cta, f->thread, in_two_ctas(f), out);
}

static const char *order_words(const vm_finding *f) {
    switch ((vm_race_relation)f->required) {
    case VM_RACE_SAME_WARP:
        return "lanes of a warp have no order of their own: warp_sync (bar.warp.sync) between the two";
    case VM_RACE_ARRIVED:
        return "only another lane of its warp has arrived at the barrier, and an arrival speaks for its own "
               "thread: "
               "warp_sync (bar.warp.sync) before the arrive, or an arrival of every lane";
    case VM_RACE_CTA:
        return "a barrier between the two: cta_sync (bar.sync), or an mbarrier at which the one arrives and "
               "the "
               "other waits";
    case VM_RACE_CLUSTER:
        return "a barrier of the cluster between the two: cluster_sync (barrier.cluster.arrive and wait)";
    case VM_RACE_ASYNC:
        return "this thread has to wait for it, too (mbarrier.try_wait), or to meet a thread that has waited "
               "at a "
               "barrier";
    }
    return NULL;
}

bool check_words_race(const vm_finding *f, base_builder *out, const char **help) {
    if (f->kind == VM_FIND_RACE_LANES) {
        base_builder_string(out, "race in one store: ");
        thread_words(f->cta, f->thread, false, out);
        base_builder_string(out, " and ");
        thread_words(f->other_cta, f->other_thread, false, out);
        base_builder_string(out, " write different values to ");
        place_words(f, out);
        *help = "one of them has to write, or each to a place of its own";
        return true;
    }
    if (!is_race(f))
        return false;
    base_builder_string(out, "race on ");
    place_words(f, out);
    base_builder_string(out, ": ");
    who_words(f, false, out);
    base_builder_string(out, f->kind == VM_FIND_RACE_READ_WRITE ? " reads it and " : " writes it and ");
    who_words(f, true, out);
    base_builder_string(out, f->kind == VM_FIND_RACE_READ_WRITE
                                 ? " writes it, and nothing orders the two"
                                 : " writes it, too, and nothing orders the two");
    *help = order_words(f);
    return true;
}

const char *check_other_race(const vm_finding *f) {
    return is_race(f) ? "written here" : NULL;
}

void check_words_initial(const vm_finding *f, base_builder *out, const char **help) {
    const ptx_origin *origin = f->instruction ? f->instruction->origin : NULL;
    base_builder_format(out, "load of %" PRIu64 " bytes", f->size);
    if (origin) {
        base_builder_string(out, " from ");
        check_words_element(f, origin, out);
    }
    base_builder_format(out,
                        " at %s address 0x%" PRIx64
                        " reads memory that nothing has written before, from 0x%" PRIx64 " on",
                        f->space == PTX_SPACE_LOCAL ? "local" : "shared", f->address, f->required);
    *help = f->space == PTX_SPACE_LOCAL
                ? "give it a value on every way to this place"
                : "shared memory has no initial value: write it first, and let a barrier "
                  "stand between when another thread does";
}
