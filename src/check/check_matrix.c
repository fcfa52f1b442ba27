/* SPDX-License-Identifier: Apache-2.0
 * Words of the findings about matrix instructions of warps and warpgroups. Reads vm_finding only. */
#include <inttypes.h>
#include "check/check_words.h"

static const struct {
    vm_finding_kind kind;
    check_kind is;
} kinds[] = {
    {VM_FIND_MATRIX_PARTIAL, {"T0820", BASE_ERROR}},   {VM_FIND_MATRIX_SELECTOR, {"T0821", BASE_ERROR}},
    {VM_FIND_WGMMA_TOUCHED, {"T0822", BASE_ERROR}},    {VM_FIND_WGMMA_FENCE, {"T0823", BASE_ERROR}},
    {VM_FIND_WGMMA_DESCRIPTOR, {"T0824", BASE_ERROR}}, {VM_FIND_WGMMA_DIFFER, {"T0825", BASE_ERROR}},
    {VM_FIND_WGMMA_WARPGROUP, {"T0826", BASE_ERROR}},  {VM_FIND_WGMMA_UNWAITED, {"T0827", BASE_ERROR}},
};

const check_kind *check_kind_matrix(vm_finding_kind kind) {
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].kind == kind)
            return &kinds[i].is;
    return NULL;
}

bool check_words_matrix(const vm_finding *f, base_builder *out, const char **help) {
    const char *text = f->text ? f->text : "";
    switch (f->kind) {
    case VM_FIND_MATRIX_PARTIAL:
        base_builder_format(out,
                            "a matrix instruction is executed by lanes 0x%08" PRIx64
                            " only: all 32 lanes of the warp must take part",
                            f->size);
        *help = "move the instruction out of the branch, and launch whole warps; the missing lanes count as "
                "zeros";
        return true;
    case VM_FIND_MATRIX_SELECTOR:
        base_builder_string(out, "byte-id or thread-id of the scale factors is not one that this form has");
        *help = "byte-id: a multiple of the number of scale factors of a row; thread-id: 0 or 1 for A, 0 to "
                "3 for B";
        return true;
    case VM_FIND_WGMMA_TOUCHED:
        base_builder_format(out, "register %s belongs to a wgmma that nobody has waited for", text);
        *help = "wgmma.commit_group and wgmma.wait_group must stand between the wgmma and the use of its "
                "registers";
        return true;
    case VM_FIND_WGMMA_FENCE:
        base_builder_format(
            out, "register %s was accessed and no wgmma.fence stands before the wgmma that uses it", text);
        *help = "wgmma.fence orders accesses of registers before wgmma; only accumulators of the same shape "
                "need none "
                "between";
        return true;
    case VM_FIND_WGMMA_DESCRIPTOR:
        base_builder_format(out, "matrix descriptor 0x%016" PRIx64 ": %s", f->address, text);
        *help = "tirc layout prints the descriptor of a shared tensor";
        return true;
    case VM_FIND_WGMMA_DIFFER:
        base_builder_format(out,
                            "the warps of a warpgroup give different matrix descriptors, 0x%016" PRIx64
                            " and 0x%016" PRIx64,
                            f->address, f->required);
        *help = "all 128 threads must hold the same descriptor";
        return true;
    case VM_FIND_WGMMA_WARPGROUP:
        base_builder_format(out, "wgmma needs whole warpgroups of four warps: %s", text);
        *help = "launch a multiple of 128 threads, and let the four warps execute the same wgmma";
        return true;
    case VM_FIND_WGMMA_UNWAITED:
        base_builder_string(out, "the warp ends although nobody has waited for this wgmma");
        *help = "wgmma.commit_group and wgmma.wait_group 0 must come before the results are used and before "
                "the end";
        return true;
    default:
        return false;
    }
}
