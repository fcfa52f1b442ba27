/* SPDX-License-Identifier: Apache-2.0
 * Registers of wgmma.mma_async between issue and wait (PTX ISA 9.7.15.7). Data flow over a function finds
 * where a register may belong to a wgmma in flight, and where no wgmma.fence can stand before a wgmma. Only
 * there the machine looks (WGMMA_TOUCH, WGMMA_UNFENCED), so that all other code costs nothing. Behind every
 * wait a WGMMA_KEEP names the registers that it waited for: they keep their rows until then. Knows no groups:
 * waits for all but some change nothing here. */
#include "vm/vm_decode.h"
#include "vm/vm_wgmma.h"

#define NONE VM_REF_NONE
enum { LIST_LIMIT = 128 };

typedef struct flow_state {
    uint64_t *d, *a;    /* may be in flight, as accumulator, as A */
    uint64_t *open;     /* may belong to a wgmma that no commit_group has taken */
    uint64_t *unfenced; /* accessed since the last fence, on every way here */
} flow_state;

typedef struct wgmma_flow {
    vm_decoder *decoder;
    uint32_t *number; /* per register: candidate, or NONE */
    uint32_t candidates;
    size_t words;
    flow_state now, *in; /* in: per block */
    bool *reached;
    bool emit;
    BASE_VECTOR(vm_op) ops;
    BASE_VECTOR(uint32_t) instruction_of;
    BASE_VECTOR(uint8_t) group;
    BASE_VECTOR(uint32_t) refs;    /* of the operation being made */
    BASE_VECTOR(uint32_t) numbers; /* TOUCH: register number and VM_WGMMA_ bits */
} wgmma_flow;

static bool is_external(const vm_op *op, vm_external external) {
    return op->code == VM_CODE_EXTERNAL && op->sub == external;
}
static uint32_t candidate(const wgmma_flow *f, uint32_t ref) {
    if (ref == NONE)
        return NONE;
    ref &= ~VM_REF_WRITTEN;
    return VM_REF_KIND(ref) == VM_REF_FRAME ? f->number[VM_REF_INDEX(ref)] : NONE;
}
static bool has(const uint64_t *set, uint32_t bit) {
    return bit != NONE && set[bit / 64] >> bit % 64 & 1;
}
static void put(uint64_t *set, uint32_t bit) {
    if (bit != NONE)
        set[bit / 64] |= (uint64_t)1 << bit % 64;
}

/* The lists of a WGMMA: D, D again, then A's registers. */
static unsigned accumulators(const vm_op *op) {
    return ((const vm_wgmma_form *)(uintptr_t)op->imm)->matrix.d_count;
}
static unsigned a_registers(const vm_op *op) {
    return ((const vm_wgmma_form *)(uintptr_t)op->imm)->a_shared ? 0 : 4;
}
static const uint32_t *list_of(const wgmma_flow *f, const vm_op *op) {
    return f->decoder->extras.items + op->x + 1;
}

/* ---- making operations ---- */
static void push(wgmma_flow *f, vm_op op, uint32_t instruction) {
    base_vector_push(f->decoder->arena, &f->ops, op);
    base_vector_push(f->decoder->arena, &f->instruction_of, instruction);
    base_vector_push(f->decoder->arena, &f->group, (uint8_t)0);
}

static void flush(wgmma_flow *f, vm_external external, uint32_t instruction) {
    if (f->refs.count == 0)
        return;
    vm_program *program = f->decoder->program;
    vm_op op = {
        .code = VM_CODE_EXTERNAL, .sub = (uint16_t)external, .d = NONE, .a = NONE, .b = NONE, .c = NONE};
    op.x = vm_decode_extras(f->decoder, f->refs.items, (uint32_t)f->refs.count);
    op.imm = program->extras.count;
    for (size_t i = 0; i < f->numbers.count; i++)
        base_vector_push(program->arena, &program->extras, f->numbers.items[i]);
    push(f, op, instruction);
    f->refs.count = f->numbers.count = 0;
}

/* mov between registers: compilers put it anywhere around inline assembly. ptxas makes such a copy wait (its
 * warning C7510, "wgmma.mma_async instructions are serialized"), so it is no mistake, but it ends the
 * operation. */
static bool is_copy(const wgmma_flow *f, size_t at) {
    const vm_decoder *d = f->decoder;
    return d->source->instructions.items[d->instruction_of.items[at]].op == PTX_OP_MOV;
}

static void touch(wgmma_flow *f, uint32_t ref, bool written, bool copy) {
    ref &= ~VM_REF_WRITTEN;
    if (!f->emit || f->refs.count == LIST_LIMIT)
        return;
    base_vector_push(f->decoder->arena, &f->refs, ref);
    base_vector_push(f->decoder->arena, &f->numbers,
                     VM_REF_INDEX(ref) | (written ? VM_WGMMA_WRITTEN : 0) | (copy ? VM_WGMMA_COPIED : 0));
}

static void keep_all(wgmma_flow *f, const uint64_t *d, const uint64_t *a, uint32_t instruction) {
    for (uint32_t r = 0; r < f->decoder->rows_of.count; r++)
        if (has(d, f->number[r]) || has(a, f->number[r])) {
            base_vector_push(f->decoder->arena, &f->refs, VM_REF(VM_REF_FRAME, r));
            if (f->refs.count == LIST_LIMIT)
                flush(f, VM_EXTERNAL_WGMMA_KEEP, instruction);
        }
    flush(f, VM_EXTERNAL_WGMMA_KEEP, instruction);
}

static void copy_op(wgmma_flow *f, size_t at) {
    vm_decoder *d = f->decoder;
    base_vector_push(d->arena, &f->ops, d->ops.items[at]);
    base_vector_push(d->arena, &f->instruction_of, d->instruction_of.items[at]);
    base_vector_push(d->arena, &f->group, d->group[at]);
}

/* ---- one operation ---- */
static void before_wgmma(wgmma_flow *f, size_t at) {
    const vm_op *op = &f->decoder->ops.items[at];
    const uint32_t *list = list_of(f, op);
    unsigned d_count = accumulators(op), a_count = a_registers(op);
    uint32_t instruction = f->decoder->instruction_of.items[at];
    for (unsigned k = 0; k < a_count; k++)
        if (has(f->now.d, candidate(f, list[2 * d_count + k])))
            touch(f, list[2 * d_count + k], false, false);
    if (f->emit)
        flush(f, VM_EXTERNAL_WGMMA_TOUCH, instruction);
    for (unsigned k = d_count; f->emit && k < 2 * d_count + a_count; k++)
        if (has(f->now.unfenced, candidate(f, list[k]))) {
            vm_op report = {.code = VM_CODE_EXTERNAL,
                            .sub = VM_EXTERNAL_WGMMA_UNFENCED,
                            .d = NONE,
                            .a = NONE,
                            .b = NONE,
                            .c = NONE,
                            .imm = VM_REF_INDEX(list[k])};
            report.x = vm_decode_extras(f->decoder, NULL, 0);
            push(f, report, instruction);
            break;
        }
    for (unsigned k = 0; k < d_count; k++)
        put(f->now.d, candidate(f, list[k])), put(f->now.open, candidate(f, list[k]));
    for (unsigned k = 0; k < a_count; k++)
        put(f->now.a, candidate(f, list[2 * d_count + k])),
            put(f->now.open, candidate(f, list[2 * d_count + k]));
}

static void before_other(wgmma_flow *f, size_t at) {
    vm_decoder *d = f->decoder;
    vm_op *op = &d->ops.items[at];
    vm_operands operands;
    bool copy = is_copy(f, at);
    vm_operands_of(d, op, &operands);
    for (unsigned k = 0; k < operands.read_count; k++) {
        uint32_t ref = *operands.reads[k], bit = candidate(f, ref);
        if (has(f->now.d, bit))
            touch(f, ref, false, copy);
        if (!copy)
            put(f->now.unfenced, bit);
    }
    for (unsigned k = 0; k < operands.write_count; k++) {
        uint32_t ref = *operands.writes[k], bit = candidate(f, ref);
        if (has(f->now.d, bit) || has(f->now.a, bit))
            touch(f, ref, true, copy);
        if (!copy)
            put(f->now.unfenced, bit);
    }
}

static bool waits_for_all(const vm_op *op) {
    vm_wgmma_group what = (vm_wgmma_group)(op->imm & 0xff);
    return is_external(op, VM_EXTERNAL_WGMMA_GROUP) &&
           (what == VM_WGMMA_END || (what == VM_WGMMA_WAIT && op->imm >> 8 == 0));
}

static void walk_block(wgmma_flow *f, uint32_t block, uint32_t *new_of) {
    vm_decoder *d = f->decoder;
    const vm_block *b = &d->graph->blocks[block];
    size_t bytes = f->words * sizeof(uint64_t);
    memcpy(f->now.d, f->in[block].d, bytes);
    memcpy(f->now.a, f->in[block].a, bytes);
    memcpy(f->now.open, f->in[block].open, bytes);
    memcpy(f->now.unfenced, f->in[block].unfenced, bytes);
    for (uint32_t i = b->begin; i < b->end;) {
        uint32_t count = d->group[i] > 1 ? d->group[i] : 1; /* loads side by side stay so */
        uint32_t instruction = d->instruction_of.items[i];
        const vm_op op = d->ops.items[i];
        for (uint32_t k = 0; k < count; k++) {
            if (f->emit)
                new_of[i + k] = (uint32_t)f->ops.count;
            if (is_external(&d->ops.items[i + k], VM_EXTERNAL_WGMMA))
                before_wgmma(f, i + k);
            else
                before_other(f, i + k);
        }
        if (f->emit) {
            flush(f, VM_EXTERNAL_WGMMA_TOUCH, instruction);
            for (uint32_t k = 0; k < count; k++)
                copy_op(f, i + k);
        }
        if (waits_for_all(&op)) {
            if (f->emit)
                keep_all(f, f->now.d, f->now.a, instruction);
            for (size_t w = 0; w < f->words; w++) { /* what is not committed goes on */
                f->now.d[w] &= f->now.open[w];
                f->now.a[w] &= f->now.open[w];
            }
        }
        if (is_external(&op, VM_EXTERNAL_WGMMA_GROUP) && (op.imm & 0xff) == VM_WGMMA_COMMIT)
            memset(f->now.open, 0, bytes);
        if (is_external(&op, VM_EXTERNAL_WGMMA_GROUP) && (op.imm & 0xff) == VM_WGMMA_FENCE)
            memset(f->now.unfenced, 0, bytes);
        i += count;
    }
}

static bool merge(wgmma_flow *f, uint32_t to) {
    flow_state *state = &f->in[to];
    bool changed = !f->reached[to];
    for (size_t w = 0; w < f->words; w++) {
        uint64_t d = state->d[w] | f->now.d[w], a = state->a[w] | f->now.a[w];
        uint64_t open = state->open[w] | f->now.open[w];
        uint64_t unfenced = f->reached[to] ? state->unfenced[w] & f->now.unfenced[w] : f->now.unfenced[w];
        changed |=
            d != state->d[w] || a != state->a[w] || open != state->open[w] || unfenced != state->unfenced[w];
        state->d[w] = d;
        state->a[w] = a;
        state->open[w] = open;
        state->unfenced[w] = unfenced;
    }
    f->reached[to] = true;
    return changed;
}

static void flow(wgmma_flow *f) {
    vm_graph *g = f->decoder->graph;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < g->order_count; i++) {
            uint32_t block = g->order[i];
            walk_block(f, block, NULL);
            for (uint32_t k = 0; k < g->blocks[block].successor_count; k++)
                changed |= merge(f, g->blocks[block].successors[k]);
        }
    }
}

/* Puts the new list of operations in the place of the old: everything that names an operation follows. */
static void replace(wgmma_flow *f) {
    vm_decoder *d = f->decoder;
    vm_graph *g = d->graph;
    uint32_t *new_of = BASE_NEW_ARRAY(d->arena, uint32_t, d->ops.count + 1);
    f->emit = true;
    for (uint32_t b = 0; b < g->count; b++) {
        uint32_t begin = (uint32_t)f->ops.count;
        walk_block(f, b, new_of);
        g->blocks[b].begin = begin;
        g->blocks[b].end = (uint32_t)f->ops.count;
    }
    new_of[d->ops.count] = (uint32_t)f->ops.count;
    for (size_t i = 0; i < f->ops.count; i++) {
        vm_op *op = &f->ops.items[i];
        if (op->code == VM_CODE_BRANCH || op->code == VM_CODE_BRANCH_IF || op->code == VM_CODE_GUARD)
            op->x = new_of[op->x];
        if (op->code == VM_CODE_SWITCH)
            for (uint32_t k = 0; k < d->extras.items[op->x]; k++)
                d->extras.items[op->x + 1 + k] = new_of[d->extras.items[op->x + 1 + k]];
    }
    g->block_of = BASE_NEW_ARRAY(d->arena, uint32_t, f->ops.count + 1);
    for (uint32_t b = 0; b < g->count; b++)
        for (uint32_t i = g->blocks[b].begin; i < g->blocks[b].end; i++)
            g->block_of[i] = b;
    d->group = f->group.items;
    d->ops.count = d->instruction_of.count = 0;
    for (size_t i = 0; i < f->ops.count; i++) {
        base_vector_push(d->arena, &d->ops, f->ops.items[i]);
        base_vector_push(d->arena, &d->instruction_of, f->instruction_of.items[i]);
    }
}

static void find_candidates(wgmma_flow *f) {
    vm_decoder *d = f->decoder;
    for (size_t i = 0; i < d->ops.count; i++) {
        const vm_op *op = &d->ops.items[i];
        if (!is_external(op, VM_EXTERNAL_WGMMA))
            continue;
        const uint32_t *list = list_of(f, op);
        for (unsigned k = 0; k < 2 * accumulators(op) + a_registers(op); k++) {
            uint32_t ref = list[k] & ~VM_REF_WRITTEN;
            if (VM_REF_KIND(ref) == VM_REF_FRAME && f->number[VM_REF_INDEX(ref)] == NONE)
                f->number[VM_REF_INDEX(ref)] = f->candidates++;
        }
    }
}

static flow_state new_state(wgmma_flow *f) {
    base_arena *arena = f->decoder->arena;
    return (flow_state){BASE_NEW_ARRAY(arena, uint64_t, f->words), BASE_NEW_ARRAY(arena, uint64_t, f->words),
                        BASE_NEW_ARRAY(arena, uint64_t, f->words), BASE_NEW_ARRAY(arena, uint64_t, f->words)};
}

void vm_wgmma_flow(vm_decoder *d) {
    bool any = false;
    for (size_t i = 0; i < d->ops.count && !any; i++)
        any = is_external(&d->ops.items[i], VM_EXTERNAL_WGMMA);
    if (!any)
        return;
    wgmma_flow state = {.decoder = d}, *f = &state;
    f->number = BASE_NEW_ARRAY(d->arena, uint32_t, d->rows_of.count);
    for (size_t r = 0; r < d->rows_of.count; r++)
        f->number[r] = NONE;
    find_candidates(f);
    f->words = (f->candidates + 63) / 64;
    f->now = new_state(f);
    f->in = BASE_NEW_ARRAY(d->arena, flow_state, d->graph->count);
    f->reached = BASE_NEW_ARRAY(d->arena, bool, d->graph->count);
    for (uint32_t b = 0; b < d->graph->count; b++)
        f->in[b] = new_state(f);
    uint32_t entry = d->graph->order[0];
    f->reached[entry] = true;
    memset(f->in[entry].unfenced, 0xff, f->words * sizeof(uint64_t)); /* nothing was fenced yet */
    flow(f);
    replace(f);
}
