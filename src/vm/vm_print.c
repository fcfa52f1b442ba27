/* SPDX-License-Identifier: Apache-2.0
 * vprintf and __assertfail as nvcc calls them: a format string and a buffer of arguments in local memory,
 * laid out like C promoted arguments, each aligned to its size. Text goes to the CTA's buffer and comes out
 * in CTA order. */
#include <stdio.h>
#include "vm/vm_internal.h"

enum { STRING_LIMIT = 4096, PRINT_LIMIT = 64 << 20 };

/* A zero-terminated string at a generic address; longer ones are cut. */
static const char *read_string(vm_warp *warp, uint32_t pc, unsigned lane, uint64_t address) {
    base_builder text;
    base_builder_start(&text, vm_finding_arena(warp->cta));
    for (unsigned i = 0; i < STRING_LIMIT; i++) {
        char c;
        if (!vm_memory_read(warp, pc, lane, VM_GENERIC, address + i, &c, 1) || c == 0)
            break;
        base_builder_char(&text, c);
    }
    return text.data ? text.data : "";
}

static uint64_t block_value(vm_warp *warp, uint32_t pc, unsigned lane, const vm_parameter *block,
                            unsigned size) {
    uint64_t value = 0;
    vm_memory_read(warp, pc, lane, VM_FRAME, block->offset, &value,
                   size < block->bytes ? size : block->bytes);
    return value;
}

typedef struct arguments {
    vm_warp *warp;
    uint32_t pc;
    unsigned lane;
    uint64_t buffer, offset;
} arguments;

static uint64_t next_argument(arguments *a, unsigned size) {
    uint64_t value = 0;
    a->offset = (a->offset + size - 1) / size * size;
    vm_memory_read(a->warp, a->pc, a->lane, VM_GENERIC, a->buffer + a->offset, &value, size);
    a->offset += size;
    return value;
}

/* One conversion: specification without length modifiers is built anew for the host's printf. Flags, width
 * and precision are limited, so that no output is longer than the buffer. */
static const char *convert(arguments *a, const char *at, base_builder *out) {
    char spec[32] = "%";
    size_t used = 1;
    const char *start = at;
    while (*at && strchr("-+ #0", *at) && used < 8)
        spec[used++] = *at++;
    int numbers[2] = {-1, -1};
    for (int i = 0; i < 2; i++) {
        if (i == 1) {
            if (*at != '.')
                break;
            at++;
            numbers[1] = 0;
        }
        if (*at == '*') {
            int value = (int)(uint32_t)next_argument(a, 4);
            at++;
            if (i == 0 && value < 0 && value > -1000) {
                spec[used++] = '-';
                value = -value;
            }
            numbers[i] = value;
        } else if (*at >= '0' && *at <= '9') {
            numbers[i] = 0;
            for (; *at >= '0' && *at <= '9'; at++)
                numbers[i] = numbers[i] < 1000 ? numbers[i] * 10 + (*at - '0') : 1000;
        }
    }
    for (int i = 0; i < 2; i++)
        if (numbers[i] > 500)
            numbers[i] = 500;
    if (numbers[0] >= 0)
        used += (size_t)snprintf(spec + used, sizeof spec - used, "%d", numbers[0]);
    if (numbers[1] >= 0)
        used += (size_t)snprintf(spec + used, sizeof spec - used, ".%d", numbers[1]);
    unsigned longs = 0;
    for (;; at++) {
        if (*at == 'l' || *at == 'j' || *at == 'z' || *at == 't' || *at == 'L')
            longs++;
        else if (*at != 'h')
            break;
    }
    char conversion = *at;
    char text[1200];
    int length = 0;
    switch (conversion) {
    case 'd':
    case 'i':
    case 'u':
    case 'o':
    case 'x':
    case 'X': {
        uint64_t bits = next_argument(a, longs ? 8 : 4);
        bool sign = conversion == 'd' || conversion == 'i';
        snprintf(spec + used, sizeof spec - used, "ll%c", conversion);
        if (sign)
            length = snprintf(text, sizeof text, spec, longs ? (long long)bits : (long long)(int32_t)bits);
        else
            length = snprintf(text, sizeof text, spec, (unsigned long long)bits);
        break;
    }
    case 'c':
        snprintf(spec + used, sizeof spec - used, "c");
        length = snprintf(text, sizeof text, spec, (int)(uint8_t)next_argument(a, 4));
        break;
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A': {
        uint64_t bits = next_argument(a, 8);
        double value;
        memcpy(&value, &bits, 8);
        snprintf(spec + used, sizeof spec - used, "%c", conversion);
        length = snprintf(text, sizeof text, spec, value);
        break;
    }
    case 'p':
        length = snprintf(text, sizeof text, "0x%llx", (unsigned long long)next_argument(a, 8));
        break;
    case 's': {
        const char *string = read_string(a->warp, a->pc, a->lane, next_argument(a, 8));
        size_t size = strlen(string);
        if (numbers[1] >= 0 && size > (size_t)numbers[1])
            size = (size_t)numbers[1];
        size_t pad = numbers[0] > 0 && (size_t)numbers[0] > size ? (size_t)numbers[0] - size : 0;
        bool left = memchr(spec, '-', used) != NULL;
        base_builder_repeat(out, ' ', left ? 0 : pad);
        base_builder_add(out, string, size);
        base_builder_repeat(out, ' ', left ? pad : 0);
        return at + 1;
    }
    case '%':
        base_builder_char(out, '%');
        return at + 1;
    case 0:
        base_builder_char(out, '%');
        base_builder_string(out, start);
        return at;
    default: /* unknown: as written */
        base_builder_char(out, '%');
        base_builder_add(out, start, (size_t)(at + 1 - start));
        return at + 1;
    }
    if (length > 0)
        base_builder_add(out, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
    return at + 1;
}

vm_action vm_external_PRINTF(vm_warp *warp, const vm_op *op, uint32_t mask) {
    vm_cta *cta = warp->cta;
    const vm_call_site *site = &cta->run->program->calls.items[op->imm];
    uint32_t pc = warp->splits[warp->current].pc;
    if (site->argument_count < 2)
        return VM_GO;
    VM_FOR_LANES(lane, mask) {
        uint64_t format = block_value(warp, pc, lane, &site->arguments[0], 8);
        arguments a = {warp, pc, lane, block_value(warp, pc, lane, &site->arguments[1], 8), 0};
        if (cta->print.arena == NULL)
            base_builder_start(&cta->print, vm_finding_arena(cta));
        uint32_t conversions = 0;
        const char *at = read_string(warp, pc, lane, format);
        while (*at && cta->print.size < PRINT_LIMIT) {
            const char *percent = strchr(at, '%');
            size_t plain = percent ? (size_t)(percent - at) : strlen(at);
            base_builder_add(&cta->print, at, plain);
            at += plain;
            if (percent) {
                at = convert(&a, at + 1, &cta->print);
                conversions++;
            }
        }
        if (site->return_count > 0)
            vm_memory_write(warp, pc, lane, VM_FRAME, site->returns[0].offset, &conversions, 4);
    }
    return cta->status == VM_COMPLETE ? VM_GO : VM_HALT;
}

/* __assertfail(message, file, line, function, character size) */
vm_action vm_external_ASSERT(vm_warp *warp, const vm_op *op, uint32_t mask) {
    vm_cta *cta = warp->cta;
    const vm_call_site *site = &cta->run->program->calls.items[op->imm];
    unsigned lane = vm_first_lane(mask);
    uint32_t pc = warp->splits[warp->current].pc;
    vm_finding *finding = vm_finding_add(cta, VM_FIND_ASSERT, pc, warp, lane);
    if (finding != NULL && site->argument_count >= 4) {
        const char *message =
            read_string(warp, pc, lane, block_value(warp, pc, lane, &site->arguments[0], 8));
        const char *file = read_string(warp, pc, lane, block_value(warp, pc, lane, &site->arguments[1], 8));
        uint64_t line = block_value(warp, pc, lane, &site->arguments[2], 4);
        const char *function =
            read_string(warp, pc, lane, block_value(warp, pc, lane, &site->arguments[3], 8));
        const char *text = base_arena_format(vm_finding_arena(cta), "%s:%llu: %s: assertion `%s' failed",
                                             file, (unsigned long long)line, function, message);
        /* reading the strings may have added findings: the list may have moved */
        for (size_t i = 0; i < cta->found.count; i++)
            if (cta->found.items[i].pc == pc && cta->found.items[i].finding.kind == VM_FIND_ASSERT)
                cta->found.items[i].finding.text = text;
    }
    cta->status = VM_FAULTED;
    return VM_HALT;
}
