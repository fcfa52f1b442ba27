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
    {VM_FIND_TENSOR_LAYOUT, {"T0828", BASE_ERROR}},
    {VM_FIND_TENSOR_LAYOUT_LOAD, {"T0829", BASE_WARNING}},
    {VM_FIND_TENSOR_SWIZZLE, {"T0830", BASE_WARNING}},
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

/* A VM_TMEM_LAYOUT (vm_tmem.h), in the words of PTX: the datapath, its M, and N where it matters. */
static void layout_words(uint64_t layout, base_builder *out) {
    static const char *const shapes[] = {"nothing",         "M = 256 of a pair", "M = 128 of a pair",
                                         "M = 128, sparse", "M = 128",           "M = 64 with .ws",
                                         "M = 64",          "M = 32 with .ws"};
    uint64_t letter = layout & 31;
    base_builder_string(out, shapes[letter < sizeof shapes / sizeof *shapes ? letter : 0]);
    if (letter == 2 || letter == 5 || letter == 7)
        base_builder_format(out, ", N = %" PRIu64, (layout >> 8) * 8);
    base_builder_string(out, layout >> 5 & 1 ? ", f16" : layout >> 6 & 1 ? ", s32" : ", f32");
}

static void swizzle_words(uint64_t layout, base_builder *out) {
    static const char *const atoms[] = {"", " and atoms of 32 bytes", " and atoms of 32 bytes that flip 8",
                                        " and atoms of 64 bytes"};
    if ((layout & 255) == 16)
        base_builder_string(out, "no swizzle");
    else
        base_builder_format(out, "a swizzle of %" PRIu64 " bytes%s", layout & 255, atoms[layout >> 8 & 3]);
}

static void load_words(const vm_finding *f, const char *text, base_builder *out, const char **help) {
    base_builder_format(out, "column %" PRIu64 ", lane %" PRIu64 " holds a result of ", f->address & 0xffff,
                        f->address >> 16);
    layout_words(f->required, out);
    if (!strcmp(text, "halves")) {
        base_builder_string(out, "; .pack::16b takes the low halves of its cells");
        *help = "only results of f16 stand in low halves: load f32 without .pack::16b";
        return;
    }
    base_builder_string(out, ", and the other 16 of its 32 lanes one of ");
    layout_words(f->size, out);
    *help = "M = 64 uses 16 of each 32 lanes: load it with a .16x shape at lane 0 or 16";
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
            base_builder_string(out, "collector buffer a is used, and ");
        else
            base_builder_format(out, "collector buffer b%" PRIu64 " is used, and ", f->address - 1);
        base_builder_string(out,
                            f->size ? "it was filled with another operand" : "no instruction has filled it");
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
    case VM_FIND_TENSOR_LAYOUT:
        base_builder_format(out, "%s at column %" PRIu64 ", lane %" PRIu64 " is a result of ",
                            *text == 'D'   ? "the accumulator"
                            : *text == 'A' ? "A"
                                           : "a scale factor",
                            f->address & 0xffff, f->address >> 16);
        layout_words(f->required, out);
        if (*text == 'D') {
            base_builder_string(out, "; this product accumulates with ");
            layout_words(f->size, out);
            *help = "give both products the same shape and type, or start with enable-input-d false";
        } else {
            *help = *text == 'A'
                        ? "load the result, convert it, and store it as A has it: packed, in K-major order"
                        : "copy the factors there with tcgen05.cp";
        }
        return true;
    case VM_FIND_TENSOR_LAYOUT_LOAD:
        load_words(f, text, out, help);
        return true;
    case VM_FIND_TENSOR_SWIZZLE:
        base_builder_format(out, "the tile at shared address 0x%" PRIx64 " was copied with ", f->address);
        swizzle_words(f->size, out);
        base_builder_string(out, "; its matrix descriptor says ");
        swizzle_words(f->required, out);
        *help = "tensor map and matrix descriptor take the same swizzle";
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
    return f->kind == VM_FIND_TENSOR_LAYOUT || f->kind == VM_FIND_TENSOR_LAYOUT_LOAD ? "written here"
           : f->kind == VM_FIND_TENSOR_SWIZZLE                                       ? "copied here"
           : f->kind == VM_FIND_TENSOR_ORDER                                         ? "the other mma is here"
           : f->kind == VM_FIND_TENSOR_COMMIT_OTHER ? "the last of that work was issued here"
                                                    : NULL;
}
