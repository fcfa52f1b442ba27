/* SPDX-License-Identifier: Apache-2.0
 * Words for findings about asynchronous copies and tensor maps. Reads vm_finding only. */
#include "check/check_words.h"
#include <inttypes.h>

const check_kind *check_kind_copy(vm_finding_kind kind) {
    static const check_kind kinds[VM_FIND_KIND_COUNT] = {
        [VM_FIND_COPY_ALIGN] = {"T0785", BASE_ERROR},     [VM_FIND_COPY_SIZE] = {"T0786", BASE_ERROR},
        [VM_FIND_TENSOR_MAP] = {"T0787", BASE_ERROR},     [VM_FIND_TENSOR_RULE] = {"T0788", BASE_ERROR},
        [VM_FIND_TENSOR_REQUEST] = {"T0789", BASE_ERROR}, [VM_FIND_COPY_EXTENT] = {"T0790", BASE_ERROR},
        [VM_FIND_COPY_EXIT] = {"T0791", BASE_ERROR},      [VM_FIND_COPY_PROXY] = {"T0792", BASE_WARNING},
        [VM_FIND_COPY_CTA] = {"T0793", BASE_ERROR},       [VM_FIND_COPY_BARRIER] = {"T0794", BASE_ERROR},
        [VM_FIND_COPY_MASK] = {"T0795", BASE_ERROR},      [VM_FIND_TENSOR_MAP_FENCE] = {"T0796", BASE_ERROR},
        [VM_FIND_TENSOR_REPLACE] = {"T0797", BASE_ERROR},
    };
    return kinds[kind].code ? &kinds[kind] : NULL;
}

static const char *space_word(const vm_finding *f) {
    switch (f->space) {
    case PTX_SPACE_GLOBAL:
        return "global";
    case PTX_SPACE_SHARED:
        return "shared";
    case PTX_SPACE_LOCAL:
        return "local";
    case PTX_SPACE_CONST:
        return "constant";
    case PTX_SPACE_PARAM:
        return "parameter";
    default:
        return "";
    }
}

static void map_words(const vm_finding *f, base_builder *out, const char **help) {
    static const char *const states[] = {"tensor maps of copies live in global, constant or parameter memory",
                                         "no tensor map was ever encoded there",
                                         "its bytes were changed since it was encoded"};
    base_builder_format(out, "no usable tensor map at %s address 0x%" PRIx64 ": %s", space_word(f),
                        f->address, states[f->size < 3 ? f->size : 0]);
    *help =
        "encode the map with tirc_tensor_map_encode_tiled or cuTensorMapEncodeTiled, copy its 128 bytes as "
        "they are, and edit it with tensormap.replace only";
}

bool check_words_copy(const vm_finding *f, base_builder *out, const char **help) {
    switch (f->kind) {
    case VM_FIND_COPY_ALIGN:
        base_builder_format(out, "%s address 0x%" PRIx64 " of a copy is not a multiple of %" PRIu64,
                            space_word(f), f->address, f->required);
        *help = f->required == 128
                    ? "tensor copies need shared memory aligned to 128 bytes, swizzled ones to the "
                      "1024, 512 or 256 bytes of their pattern"
                    : NULL;
        return true;
    case VM_FIND_COPY_SIZE:
        if (f->space == PTX_SPACE_GLOBAL)
            base_builder_format(out, "src-size %" PRIu64 " of a cp.async of %" PRIu64 " bytes", f->size,
                                f->required);
        else
            base_builder_format(out,
                                f->size ? "a copy of %" PRIu64 " bytes: the size is a multiple of %" PRIu64
                                        : "a copy of %" PRIu64
                                          " bytes does nothing: the size is a multiple of %" PRIu64,
                                f->size, f->required);
        return true;
    case VM_FIND_TENSOR_MAP:
        map_words(f, out, help);
        return true;
    case VM_FIND_TENSOR_RULE:
        base_builder_format(out, "the tensor map is not valid: %s", f->text ? f->text : "");
        return true;
    case VM_FIND_TENSOR_REQUEST:
        base_builder_format(out, "the map does not allow this copy: %s", f->text ? f->text : "");
        return true;
    case VM_FIND_COPY_EXTENT:
        base_builder_format(out,
                            "a copy needs %" PRIu64 " bytes from shared address 0x%" PRIx64
                            " on, and shared memory has %" PRIu64,
                            f->size, f->address, f->required);
        *help = "rows of a swizzled box stand 32, 64 or 128 bytes apart, the width of the swizzle";
        return true;
    case VM_FIND_COPY_EXIT:
        base_builder_string(out,
                            "the CTA ends, and nobody has waited until this copy has read its shared memory");
        *help = "cp.async.bulk.commit_group and cp.async.bulk.wait_group.read 0 in the same thread before it "
                "ends";
        return true;
    case VM_FIND_COPY_PROXY:
        base_builder_format(out,
                            "reads %" PRIu64 " bytes of shared memory, of which warp %" PRIu64
                            " wrote those at 0x%" PRIx64
                            " with ordinary stores or cp.async, and no fence.proxy.async since",
                            f->size, f->required, f->address);
        *help =
            "fence.proxy.async.shared::cta in the threads that wrote (after cp.async.wait_group), before the "
            "barrier that they share with the thread that starts the copy or multiplication";
        return true;
    case VM_FIND_COPY_CTA:
        base_builder_format(out,
                            "shared address 0x%" PRIx64 " is in CTA %" PRIu64
                            " of the cluster; this form works on the own CTA, %" PRIu64,
                            f->address, f->size, f->required);
        return true;
    case VM_FIND_COPY_BARRIER:
        base_builder_format(out,
                            "the mbarrier at shared address 0x%" PRIx64 " is in CTA %" PRIu64
                            ", the destination in CTA %" PRIu64,
                            f->address, f->size, f->required);
        *help =
            "a copy signals a barrier of the CTA that it writes to; with .cta_group::2 also one of that pair";
        return true;
    case VM_FIND_COPY_MASK:
        base_builder_format(out, "CTA mask 0x%" PRIx64 " in a cluster of %" PRIu64, f->size, f->required);
        *help = "a set bit for each rank that gets the data, and no others";
        return true;
    case VM_FIND_TENSOR_MAP_FENCE:
        base_builder_format(out,
                            "the tensor map at global address 0x%" PRIx64
                            " was changed, and no fence.proxy.tensormap::generic.acquire stands between",
                            f->address);
        *help = "fence.proxy.tensormap::generic.acquire.gpu [map], 128 before the copy";
        return true;
    case VM_FIND_TENSOR_REPLACE:
        base_builder_format(out,
                            "tensormap.replace: this field takes no value %" PRIu64 " at ordinal %" PRIu64,
                            f->size, f->required);
        return true;
    default:
        return false;
    }
}
