/* SPDX-License-Identifier: Apache-2.0
 * Words for findings about mbarriers, asynchronous operations and clusters. Reads vm_finding only. */
#include "check/check_words.h"
#include <inttypes.h>

/* ", which is in phase 3, ..." when the machine knew. */
static void state_words(const vm_finding *f, base_builder *out) {
    if (f->text && *f->text)
        base_builder_format(out, " (%s)", f->text);
}

bool check_words_async(const vm_finding *f, base_builder *out, const char **help) {
    switch (f->kind) {
    case VM_FIND_MBARRIER_UNINITIALISED:
        base_builder_format(out, "shared address 0x%" PRIx64 " holds no mbarrier here", f->address);
        *help = "mbarrier.init must come first, and a barrier of the threads must stand between it and the "
                "first use";
        return true;
    case VM_FIND_MBARRIER_COUNT:
        base_builder_format(out,
                            "%" PRIu64 " arrivals at the mbarrier at shared address 0x%" PRIx64
                            ", where 1 to %" PRIu64 " are possible",
                            f->size, f->address, f->required);
        state_words(f, out);
        *help = "the count of mbarrier.init must be the number of arrivals of each phase";
        return true;
    case VM_FIND_MBARRIER_TRANSACTIONS:
        base_builder_format(out,
                            "%" PRIu64 " bytes outstanding at the mbarrier at shared address 0x%" PRIx64
                            "; at most %" PRIu64 " can be counted",
                            f->size, f->address, f->required);
        *help = "expect_tx and what the copies complete must agree in every phase";
        return true;
    case VM_FIND_MBARRIER_PHASE:
        base_builder_format(out,
                            "waits for phase %" PRIu64 " of the mbarrier at shared address 0x%" PRIx64
                            ", which is in phase %" PRIu64
                            " already: only the phase before can be waited for",
                            f->size, f->address, f->required);
        return true;
    case VM_FIND_MBARRIER_UNOBSERVED:
        base_builder_format(out,
                            "arrives at the mbarrier at shared address 0x%" PRIx64
                            " although no wait has seen phase %" PRIu64 " complete",
                            f->address, f->size);
        *help = "a wait on the phase must return true before anyone arrives in the next phase (PTX ISA, "
                "mbarrier phases)";
        return true;
    case VM_FIND_MBARRIER_BUSY:
        base_builder_format(out, "the mbarrier at shared address 0x%" PRIx64 " is still in use", f->address);
        state_words(f, out);
        *help = "mbarrier.inval must stand after the last phase and before the memory is used again";
        return true;
    case VM_FIND_MBARRIER_OVERWRITTEN:
        base_builder_format(out,
                            "something overwrote the mbarrier at shared address 0x%" PRIx64
                            ": it holds 0x%" PRIx64 " instead of 0x%" PRIx64,
                            f->address, f->size, f->required);
        *help = "memory of a live mbarrier may be touched by mbarrier operations only";
        return true;
    case VM_FIND_MBARRIER_DATA:
        base_builder_format(out,
                            "writes %" PRIu64 " bytes at shared address 0x%" PRIx64
                            ", over the live mbarrier at 0x%" PRIx64,
                            f->size, f->address, f->required);
        state_words(f, out);
        *help = "mbarrier.inval must stand between the barrier's last phase and other use of its bytes; or "
                "place the data elsewhere";
        return true;
    case VM_FIND_MBARRIER_REMOTE:
        base_builder_format(out,
                            "this form works on mbarriers of the own CTA; 0x%" PRIx64
                            " in another CTA of the cluster was given",
                            f->address);
        *help =
            "other CTAs' barriers take arrive, expect_tx and complete_tx with .shared::cluster, and no wait";
        return true;
    case VM_FIND_MBARRIER_NO_COMPLETE:
        base_builder_format(
            out, ".noComplete arrival that completes the phase of the mbarrier at shared address 0x%" PRIx64,
            f->address);
        return true;
    case VM_FIND_CLUSTER_EXITED:
        base_builder_format(out, "shared address 0x%" PRIx64 " of %s is used after that CTA has ended",
                            f->address, f->text ? f->text : "another CTA");
        *help = "a barrier of the cluster must stand after the last access to other CTAs' shared memory";
        return true;
    case VM_FIND_CLUSTER_RANK:
        base_builder_format(out, "rank %" PRIu64 " in a cluster of %" PRIu64 " CTAs", f->size, f->required);
        return true;
    case VM_FIND_CLUSTER_BARRIER:
        base_builder_format(out, "barrier of the cluster: %s", f->text ? f->text : "");
        *help = "each thread arrives once, then waits once, in every phase";
        return true;
    case VM_FIND_CANCEL:
        base_builder_string(out, "index of the first CTA of a response that cancelled nothing");
        *help = "ask query_cancel.is_canceled first";
        return true;
    case VM_FIND_REGISTERS:
        base_builder_format(out, "setmaxnreg.%s to %" PRIu64 " registers of a warp that has %" PRIu64,
                            f->is_store ? "inc" : "dec", f->size, f->required);
        return true;
    case VM_FIND_IN_FLIGHT:
        base_builder_format(
            out, "%s of %" PRIu64 " %s at %s address 0x%" PRIx64 " while %s, and nobody has waited for that",
            f->is_store ? "store" : "load", f->size, f->space == PTX_SPACE_TENSOR ? "columns" : "bytes",
            f->space == PTX_SPACE_TENSOR   ? "tensor memory"
            : f->space == PTX_SPACE_SHARED ? "shared"
                                           : "global",
            f->address, f->text ? f->text : "an operation in flight uses it");
        *help = "wait for the barrier or the group that the operation completes first";
        return true;
    default:
        return false;
    }
}
