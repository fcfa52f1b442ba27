/* SPDX-License-Identifier: Apache-2.0
 * Words of the findings about the matrix unit of Blackwell: tcgen05.mma, cp and commit. Reads vm_finding
 * only. */
#include <inttypes.h>
#include <string.h>
#include "check/check_words.h"

static const struct {
    vm_finding_kind kind;
    check_kind is;
} kinds[] = {
    {VM_FIND_TENSOR_INSTRUCTION, {"T0800", BASE_ERROR}},
    {VM_FIND_TENSOR_MATRIX, {"T0801", BASE_ERROR}},
    {VM_FIND_TENSOR_TILE, {"T0802", BASE_ERROR}},
    {VM_FIND_TENSOR_LANE, {"T0803", BASE_ERROR}},
    {VM_FIND_TENSOR_OVERLAP, {"T0804", BASE_ERROR}},
    {VM_FIND_TENSOR_ORDER, {"T0805", BASE_ERROR}},
    {VM_FIND_TENSOR_LANES, {"T0806", BASE_ERROR}},
    {VM_FIND_TENSOR_COMMIT_LANES, {"T0807", BASE_ERROR}},
    {VM_FIND_TENSOR_COMMIT_OTHER, {"T0808", BASE_ERROR}},
    {VM_FIND_TENSOR_COLLECTOR, {"T0809", BASE_ERROR}},
    {VM_FIND_TENSOR_FACTORS, {"T0810", BASE_ERROR}},
    {VM_FIND_TENSOR_ZERO_MASK, {"T0811", BASE_ERROR}},
    {VM_FIND_TENSOR_TARGET, {"T0812", BASE_ERROR}},
};

const check_kind *check_kind_tensor(vm_finding_kind kind) {
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].kind == kind)
            return &kinds[i].is;
    return NULL;
}

/* The violations of a descriptor stand one per line; in a sentence, semicolons part them. */
static void violations(const char *text, base_builder *out) {
    for (const char *at = text; *at != 0; at++)
        if (*at == '\n')
            base_builder_string(out, "; ");
        else
            base_builder_char(out, *at);
}

static const char *operand_name(uint64_t operand) {
    return operand == 'D'   ? "D"
           : operand == 'A' ? "A"
           : operand == 'S' ? "the scale factors"
           : operand == 'H' ? "the shift"
                            : "the copy";
}

bool check_words_tensor(const vm_finding *f, base_builder *out, const char **help) {
    const char *text = f->text ? f->text : "";
    switch (f->kind) {
    case VM_FIND_TENSOR_INSTRUCTION:
        base_builder_format(out, "instruction descriptor 0x%08" PRIx64 ": ", f->address);
        violations(text, out);
        *help = "the instruction was skipped; on hardware it is an illegal instruction or undefined";
        return true;
    case VM_FIND_TENSOR_MATRIX:
        base_builder_format(out, "matrix descriptor 0x%016" PRIx64 ": ", f->address);
        violations(text, out);
        *help = "the instruction was skipped; tirc layout prints the descriptor of a shared tensor";
        return true;
    case VM_FIND_TENSOR_TILE:
        base_builder_format(out,
                            "the tile of the matrix descriptor spans shared bytes %" PRIu64 " to %" PRIu64
                            ", outside the %" PRIu64 " bytes that the CTA has",
                            f->address, f->address + f->size, f->required);
        *help =
            "check start address, leading and stride byte offsets: all are divided by 16 in the descriptor";
        return true;
    case VM_FIND_TENSOR_LANE:
        base_builder_format(out, "the address of %s, 0x%08" PRIx64 ", has lane field %" PRIu64,
                            operand_name(f->size), f->address, f->address >> 16);
        if (f->size == 'C')
            base_builder_format(out, "; this shape starts at lane %" PRIu64 " at most", f->required);
        else if (f->size == 'H')
            base_builder_string(out, "; a shift starts at lane 0, 32, 64 or 96");
        else if (f->size == 'A')
            base_builder_format(out, "; it must be that of D, %" PRIu64, f->required);
        else
            base_builder_string(out, f->required ? "; this shape takes 0 or 16" : "; it must be 0");
        *help = "the lane field is bits 16 to 31 of a tensor-memory address";
        return true;
    case VM_FIND_TENSOR_OVERLAP:
        base_builder_format(out,
                            "D at column %" PRIu64
                            " overlaps a source of the same instruction at columns %" PRIu64 " to %" PRIu64,
                            f->required, f->address, f->address + f->size - 1);
        *help = "give D columns of its own";
        return true;
    case VM_FIND_TENSOR_ORDER:
        base_builder_format(
            out, "another mma, with another accumulator or shape, still %s columns %" PRIu64 " to %" PRIu64,
            "writes", f->address & 0xffff, (f->address & 0xffff) + f->size - 1);
        *help = "only mmas on the same accumulator and of the same shape follow each other; else wait for a "
                "commit";
        return true;
    case VM_FIND_TENSOR_LANES:
        base_builder_format(out, "executed by %" PRIu64 " lanes: each of them starts the operation", f->size);
        *help = "let one thread issue it: elect.sync, or a predicate on the lane";
        return true;
    case VM_FIND_TENSOR_COMMIT_LANES:
        base_builder_format(out,
                            "tcgen05.commit is executed by %" PRIu64
                            " lanes: each arrives at the barrier, and those that issued nothing at once",
                            f->size);
        *help = "the thread that issued the mma commits, and no other";
        return true;
    case VM_FIND_TENSOR_COMMIT_OTHER:
        base_builder_format(
            out,
            "this thread has issued nothing since its last commit; what a thread of warp %" PRIu64
            " issued is not covered",
            f->address);
        *help = "commit in the thread that issued the mma: the barrier is reached before the work is done";
        return true;
    case VM_FIND_TENSOR_COLLECTOR:
        if (f->address == 0)
            base_builder_string(out, "collector buffer a is used, and no instruction has filled it");
        else
            base_builder_format(out,
                                "collector buffer b%" PRIu64 " is used, and no instruction has filled it",
                                f->address - 1);
        *help = "an earlier mma with ::fill (or ::use) must have kept the operand in the buffer";
        return true;
    case VM_FIND_TENSOR_FACTORS:
        base_builder_format(out,
                            "scale factors differ between the lane partitions: column %" PRIu64
                            ", lane %" PRIu64 " holds 0x%08" PRIx64 " and its first copy 0x%08" PRIx64,
                            f->address & 0xffff, f->address >> 16, f->size, f->required);
        *help =
            "all 32-lane partitions need the same factors: tcgen05.cp with .32x128b.warpx4 writes them all";
        return true;
    case VM_FIND_TENSOR_ZERO_MASK:
        base_builder_format(out,
                            "zero-column mask 0x%016" PRIx64
                            ": which columns it zeroes is not specified well enough to run it",
                            f->address);
        *help = "pass 0, or leave the operand out";
        return true;
    case VM_FIND_TENSOR_TARGET:
        base_builder_format(
            out, "the commit's mask 0x%04" PRIx64 " names CTA %" PRIu64 " of a cluster of %" PRIu64,
            f->address, f->size, f->required);
        *help = "bits of the mask are ranks in the cluster";
        return true;
    default:
        return false;
    }
}

const char *check_other_tensor(const vm_finding *f) {
    return f->kind == VM_FIND_TENSOR_ORDER          ? "the other mma is here"
           : f->kind == VM_FIND_TENSOR_COMMIT_OTHER ? "the last of that work was issued here"
                                                    : NULL;
}
