/* SPDX-License-Identifier: Apache-2.0
 * Raw findings of the machine become located sentences: where, what, what was expected, what to do.
 * Must not know how the machine works: it reads vm_finding only. */
#include "check/check_words.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const check_kind kinds[VM_FIND_KIND_COUNT] = {
    [VM_FIND_BAD_LAUNCH] = {"T0701", BASE_ERROR},
    [VM_FIND_OUT_OF_BOUNDS] = {"T0702", BASE_ERROR},
    [VM_FIND_MISALIGNED] = {"T0703", BASE_ERROR},
    [VM_FIND_WRITE_READ_ONLY] = {"T0704", BASE_ERROR},
    [VM_FIND_BAD_SPACE] = {"T0705", BASE_ERROR},
    [VM_FIND_DIVIDE_BY_ZERO] = {"T0706", BASE_ERROR},
    [VM_FIND_ASSERT] = {"T0707", BASE_ERROR},
    [VM_FIND_TRAP] = {"T0708", BASE_ERROR},
    [VM_FIND_DEADLOCK] = {"T0709", BASE_ERROR},
    [VM_FIND_BARRIER_MISMATCH] = {"T0710", BASE_ERROR},
    [VM_FIND_COLLECTIVE_LANES] = {"T0711", BASE_ERROR},
    [VM_FIND_SHUFFLE_INACTIVE] = {"T0712", BASE_ERROR},
    [VM_FIND_UNINITIALISED] = {"T0713", BASE_ERROR},
    [VM_FIND_UNSUPPORTED] = {"T0714", BASE_ERROR},
    [VM_FIND_STEP_LIMIT] = {"T0715", BASE_ERROR},
    [VM_FIND_STACK] = {"T0716", BASE_ERROR},
    [VM_FIND_BAD_CALL] = {"T0717", BASE_ERROR},
    [VM_FIND_MBARRIER_UNINITIALISED] = {"T0765", BASE_ERROR},
    [VM_FIND_MBARRIER_COUNT] = {"T0766", BASE_ERROR},
    [VM_FIND_MBARRIER_TRANSACTIONS] = {"T0767", BASE_ERROR},
    [VM_FIND_MBARRIER_PHASE] = {"T0768", BASE_ERROR},
    [VM_FIND_MBARRIER_UNOBSERVED] = {"T0769", BASE_ERROR},
    [VM_FIND_MBARRIER_BUSY] = {"T0770", BASE_ERROR},
    [VM_FIND_MBARRIER_OVERWRITTEN] = {"T0771", BASE_ERROR},
    [VM_FIND_MBARRIER_DATA] = {"T0771", BASE_ERROR},
    [VM_FIND_MBARRIER_REMOTE] = {"T0772", BASE_ERROR},
    [VM_FIND_MBARRIER_NO_COMPLETE] = {"T0773", BASE_ERROR},
    [VM_FIND_IN_FLIGHT] = {"T0774", BASE_ERROR},
    [VM_FIND_CLUSTER_EXITED] = {"T0775", BASE_ERROR},
    [VM_FIND_CLUSTER_RANK] = {"T0776", BASE_ERROR},
    [VM_FIND_CLUSTER_BARRIER] = {"T0777", BASE_ERROR},
    [VM_FIND_CANCEL] = {"T0778", BASE_ERROR},
    [VM_FIND_REGISTERS] = {"T0779", BASE_ERROR},
};

static const check_kind *kind_of(vm_finding_kind kind) {
    static const check_kind unknown = {"T0799", BASE_ERROR};
    const check_kind *own = check_kind_tmem(kind);
    if (own == NULL)
        own = check_kind_matrix(kind);
    if (own == NULL)
        own = check_kind_copy(kind);
    if (own == NULL)
        own = check_kind_tensor(kind);
    if (own == NULL)
        own = check_kind_race(kind);
    if (own != NULL)
        return own;
    return (unsigned)kind < VM_FIND_KIND_COUNT && kinds[kind].code ? &kinds[kind] : &unknown;
}

const char *check_finding_code(vm_finding_kind kind) {
    return kind_of(kind)->code;
}

static const char *space_name(ptx_space space) {
    switch (space) {
    case PTX_SPACE_GLOBAL:
        return "global";
    case PTX_SPACE_SHARED:
        return "shared";
    case PTX_SPACE_LOCAL:
        return "local";
    case PTX_SPACE_PARAM:
        return "param";
    case PTX_SPACE_CONST:
        return "const";
    default:
        return "generic";
    }
}

/* `As[3, 64]`, with the author's expression where the value is not known any more. */
void check_words_element(const vm_finding *finding, const ptx_origin *origin, base_builder *out) {
    base_builder_format(out, "`%s[", origin->tensor);
    for (uint32_t i = 0; i < origin->rank; ++i) {
        if (i)
            base_builder_string(out, ", ");
        if (i < finding->index_count && finding->index_known[i])
            base_builder_format(out, "%" PRId64, finding->index[i]);
        else
            base_builder_string(out, origin->indices[i] && origin->indices[i]->text ? origin->indices[i]->text
                                                                                    : "?");
    }
    base_builder_string(out, "]`");
}

/* The axis whose index left its extent, or -1. */
static int guilty_axis(const vm_finding *finding, const ptx_origin *origin) {
    for (uint32_t i = 0; i < origin->rank && i < finding->index_count && i < 8; ++i)
        if (finding->index_known[i] && origin->extents[i] >= 0 &&
            (finding->index[i] < 0 || finding->index[i] >= origin->extents[i]))
            return (int)i;
    return -1;
}

static void access_words(const vm_finding *finding, base_builder *out) {
    const ptx_origin *origin = finding->instruction ? finding->instruction->origin : NULL;
    base_builder_format(out, "%s of %" PRIu64 " bytes", finding->is_store ? "store" : "load", finding->size);
    if (origin) {
        base_builder_string(out, finding->is_store ? " to " : " from ");
        check_words_element(finding, origin, out);
    }
}

static void bounds_words(const vm_finding *finding, base_builder *out) {
    const ptx_origin *origin = finding->instruction ? finding->instruction->origin : NULL;
    int axis = origin ? guilty_axis(finding, origin) : -1;
    if (axis >= 0) {
        check_words_element(finding, origin, out);
        base_builder_format(out, " is outside axis %d of `%s` (extent %" PRId64 "): ", axis, origin->tensor,
                            origin->extents[axis]);
    }
    access_words(finding, out);
    base_builder_format(out, " at %s address 0x%" PRIx64, space_name(finding->space), finding->address);
    if (!finding->allocation) {
        base_builder_string(out, " is in no allocation");
        return;
    }
    int64_t offset = (int64_t)(finding->address - finding->allocation_begin);
    if (offset >= (int64_t)finding->allocation_bytes)
        base_builder_format(out, ", %" PRId64 " bytes past the end of `%s` (%" PRIu64 " bytes)",
                            offset - (int64_t)finding->allocation_bytes, finding->allocation,
                            finding->allocation_bytes);
    else if (offset < 0)
        base_builder_format(out, ", %" PRId64 " bytes before `%s` (%" PRIu64 " bytes)", -offset,
                            finding->allocation, finding->allocation_bytes);
    else
        base_builder_format(out, ", runs over the end of `%s` (%" PRIu64 " bytes) from byte %" PRId64,
                            finding->allocation, finding->allocation_bytes, offset);
}

static void finding_words(const vm_finding *finding, base_builder *out, const char **help) {
    const char *text = finding->text ? finding->text : "";
    switch (finding->kind) {
    case VM_FIND_BAD_LAUNCH:
        base_builder_format(out, "the launch is not possible: %s", text);
        break;
    case VM_FIND_OUT_OF_BOUNDS:
        bounds_words(finding, out);
        *help = "guard the access with the extent, or make the allocation larger";
        break;
    case VM_FIND_MISALIGNED:
        access_words(finding, out);
        base_builder_format(out,
                            " at %s address 0x%" PRIx64 " needs an address that is a multiple of %" PRIu64,
                            space_name(finding->space), finding->address, finding->required);
        *help =
            "vector accesses need a base index that is a multiple of the lane count, and an aligned tensor";
        break;
    case VM_FIND_WRITE_READ_ONLY:
        access_words(finding, out);
        base_builder_format(out, " at %s address 0x%" PRIx64 " writes memory that is read-only",
                            space_name(finding->space), finding->address);
        break;
    case VM_FIND_BAD_SPACE:
        access_words(finding, out);
        base_builder_format(out, " uses address 0x%" PRIx64 ", which is not in the %s window",
                            finding->address, space_name(finding->space));
        break;
    case VM_FIND_DIVIDE_BY_ZERO:
        base_builder_string(out, "integer division by zero: the result is not specified");
        break;
    case VM_FIND_ASSERT:
        base_builder_format(out, "assertion failed%s%s", *text ? ": " : "", text);
        break;
    case VM_FIND_TRAP:
        base_builder_format(out, "the kernel executed trap%s%s", *text ? ": " : "", text);
        break;
    case VM_FIND_DEADLOCK:
        base_builder_string(out, "deadlock: no thread of the CTA can go on");
        *help = "every thread of a CTA must reach the same barriers; on hardware this kernel hangs";
        break;
    case VM_FIND_BARRIER_MISMATCH:
        base_builder_format(out, "barrier: %s", *text ? text : "the threads disagree on its count");
        break;
    case VM_FIND_COLLECTIVE_LANES:
        base_builder_format(out, "a lane named in the member mask cannot take part: %s", text);
        *help = "the mask must name exactly the lanes that execute the instruction together";
        break;
    case VM_FIND_SHUFFLE_INACTIVE:
        base_builder_format(out, "shuffle reads a lane that does not take part: the value is undefined%s%s",
                            *text ? ": " : "", text);
        break;
    case VM_FIND_UNINITIALISED:
        check_words_initial(finding, out, help);
        break;
    case VM_FIND_UNSUPPORTED:
        base_builder_format(out, "the machine does not have this instruction yet: %s", text);
        break;
    case VM_FIND_STEP_LIMIT:
        base_builder_format(out, "the step limit of %" PRIu64 " warp instructions is reached",
                            finding->required);
        *help = "a loop may never end; --steps N raises the limit";
        break;
    case VM_FIND_STACK:
        base_builder_format(out, "stack: %s", *text ? text : "the calls are nested too deeply");
        break;
    case VM_FIND_BAD_CALL:
        base_builder_format(out, "indirect call to 0x%" PRIx64 ", which is not a function", finding->address);
        break;
    default: /* the subjects with files of their own */
        if (!check_words_tmem(finding, out, help) && !check_words_matrix(finding, out, help) &&
            !check_words_copy(finding, out, help) && !check_words_tensor(finding, out, help) &&
            !check_words_race(finding, out, help))
            check_words_async(finding, out, help);
    }
}

/* Places in a source that the PTX names through .loc but that tirc has not read. */
static void location_note(base_diagnostics *list, base_diagnostic *diagnostic, const ptx_module *module,
                          const ptx_instruction *instruction) {
    if (!instruction->loc_line || instruction->loc_file >= module->files.count)
        return;
    const char *name = module->files.items[instruction->loc_file];
    base_place here = base_span_place(base_diagnostics_sources(list), instruction->span);
    bool same = name && here.name && !strcmp(here.name, name) && here.line == instruction->loc_line;
    if (name && !same)
        base_note(list, diagnostic, BASE_NO_SPAN, "compiled from %s:%u:%u", name, instruction->loc_line,
                  instruction->loc_column);
}

static void text_lines(base_diagnostics *list, base_diagnostic *diagnostic, const char *text) {
    while (text && *text) {
        const char *end = strchr(text, '\n');
        int size = end ? (int)(end - text) : (int)strlen(text);
        base_note(list, diagnostic, BASE_NO_SPAN, "%.*s", size, text);
        text = end ? end + 1 : NULL;
    }
}

static void report_one(base_diagnostics *list, const ptx_module *module, const vm_finding *finding) {
    base_builder words;
    base_builder_start(&words, base_diagnostics_arena(list));
    const char *help = NULL;
    finding_words(finding, &words, &help);
    base_span span = finding->instruction                                       ? finding->instruction->span
                     : finding->kind == VM_FIND_BAD_LAUNCH && finding->function ? finding->function->span
                                                                                : BASE_NO_SPAN;
    base_diagnostic *diagnostic =
        base_report(list, kind_of(finding->kind)->severity, check_finding_code(finding->kind), span, "%s",
                    words.data ? words.data : "");
    if (help)
        base_help(list, diagnostic, "%s", help);
    if (finding->other)
        base_note(list, diagnostic, finding->other->span, "%s",
                  check_other_tensor(finding) ? check_other_tensor(finding)
                  : check_other_race(finding) ? check_other_race(finding)
                                              : check_other_tmem(finding));
    if (finding->kind == VM_FIND_DEADLOCK)
        text_lines(list, diagnostic, finding->text);
    if (finding->instruction) {
        base_note(list, diagnostic, BASE_NO_SPAN,
                  "first in CTA (%u,%u,%u), thread (%u,%u,%u); %" PRIu64 " time%s in all", finding->cta[0],
                  finding->cta[1], finding->cta[2], finding->thread[0], finding->thread[1],
                  finding->thread[2], finding->count, finding->count == 1 ? "" : "s");
        location_note(list, diagnostic, module, finding->instruction);
    }
}

uint32_t check_finding_tool(vm_finding_kind kind) {
    switch (kind) {
    case VM_FIND_OUT_OF_BOUNDS:
    case VM_FIND_MISALIGNED:
    case VM_FIND_WRITE_READ_ONLY:
    case VM_FIND_BAD_SPACE:
    case VM_FIND_STACK:
    case VM_FIND_CLUSTER_EXITED:
        return CHECK_MEMORY;
    case VM_FIND_UNINITIALISED:
        return CHECK_INITIAL;
    case VM_FIND_RACE_READ_WRITE:
    case VM_FIND_RACE_WRITE_WRITE:
    case VM_FIND_RACE_LANES:
    case VM_FIND_IN_FLIGHT:
    case VM_FIND_COPY_PROXY:
        return CHECK_RACES;
    case VM_FIND_BARRIER_MISMATCH:
    case VM_FIND_COLLECTIVE_LANES:
    case VM_FIND_SHUFFLE_INACTIVE:
    case VM_FIND_MBARRIER_UNINITIALISED:
    case VM_FIND_MBARRIER_COUNT:
    case VM_FIND_MBARRIER_TRANSACTIONS:
    case VM_FIND_MBARRIER_PHASE:
    case VM_FIND_MBARRIER_UNOBSERVED:
    case VM_FIND_MBARRIER_BUSY:
    case VM_FIND_MBARRIER_OVERWRITTEN:
    case VM_FIND_MBARRIER_DATA:
    case VM_FIND_MBARRIER_REMOTE:
    case VM_FIND_MBARRIER_NO_COMPLETE:
    case VM_FIND_CLUSTER_RANK:
    case VM_FIND_CLUSTER_BARRIER:
        return CHECK_BARRIERS;
    default:
        return check_kind_tmem(kind) != NULL || check_kind_tensor(kind) != NULL ? CHECK_TENSOR_MEMORY : 0;
    }
}

void check_report_findings(base_diagnostics *diagnostics, const ptx_module *module, const vm_result *result) {
    for (size_t i = 0; i < result->finding_count; ++i)
        report_one(diagnostics, module, &result->findings[i]);
    if (result->findings_dropped)
        base_report(diagnostics, BASE_WARNING, "T0718", BASE_NO_SPAN,
                    "%" PRIu64 " more places with findings are not shown", result->findings_dropped);
}
