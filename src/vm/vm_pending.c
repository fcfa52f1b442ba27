/* SPDX-License-Identifier: Apache-2.0
 * Registers that tcgen05.ld has not filled yet (PTX ISA 9.7.16.8.1): from the load to wait::ld its
 * destinations are pending, and so are copies of them. Data flow finds the operations that may meet a pending
 * register, and a TMEM_NEED goes in front of those only, so that all other code costs nothing. Before
 * wait::ld and before calls a TMEM_NEED names what may still be missing, which also keeps the rows of dead
 * destinations until then. */
#include "vm/vm_decode.h"
#include "vm/vm_tmem_machine.h"

#define NONE VM_REF_NONE
enum { LIST_LIMIT = 128 }; /* references of one TMEM_NEED */

typedef struct pending {
    vm_decoder *d;
    uint32_t *number; /* per register: candidate, or NONE */
    uint32_t candidates;
    size_t words;
    uint64_t *missing, *flagged; /* state while walking: value may not be there; use would be a finding */
    uint64_t *in;                /* per block: both states */
    bool emit;
    BASE_VECTOR(vm_op) ops; /* with the new ones, when emitting */
    BASE_VECTOR(uint32_t) instruction_of;
    BASE_VECTOR(uint8_t) group;
    BASE_VECTOR(uint32_t) refs; /* of the TMEM_NEED being made */
    BASE_VECTOR(uint32_t) kinds;
} pending;

static bool is_register(uint32_t ref) {
    return ref != NONE && VM_REF_KIND(ref) == VM_REF_FRAME;
}
static uint32_t register_of(uint32_t ref) {
    return VM_REF_INDEX(ref & ~VM_REF_WRITTEN);
}
static uint32_t candidate(const pending *p, uint32_t ref) {
    return is_register(ref & ~VM_REF_WRITTEN) ? p->number[register_of(ref)] : NONE;
}
static bool has(const uint64_t *set, uint32_t bit) {
    return bit != NONE && set[bit / 64] >> bit % 64 & 1;
}
static void put(uint64_t *set, uint32_t bit, bool value) {
    if (value)
        set[bit / 64] |= (uint64_t)1 << bit % 64;
    else
        set[bit / 64] &= ~((uint64_t)1 << bit % 64);
}

/* mov and selp, and what they are made of: the value only changes its place. */
static bool is_copy(const pending *p, size_t at) {
    const vm_op *op = &p->d->ops.items[at];
    ptx_op instruction = p->d->source->instructions.items[p->d->instruction_of.items[at]].op;
    return op->code == VM_CODE_LANE && is_register(op->d) && vm_lane_shapes[op->sub].rows != 0 &&
           (instruction == PTX_OP_MOV || instruction == PTX_OP_SELP);
}
static bool is_select(const vm_op *op) {
    return op->sub == VM_LANE_SELP32 || op->sub == VM_LANE_SELP64;
}
static bool is_external(const vm_op *op, vm_external external) {
    return op->code == VM_CODE_EXTERNAL && op->sub == external;
}

static void find_candidates(pending *p) {
    vm_decoder *d = p->d;
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < d->ops.count; i++) {
            vm_op *op = &d->ops.items[i];
            vm_operands operands;
            bool load = is_external(op, VM_EXTERNAL_TMEM_LOAD);
            if (!load && (p->candidates == 0 || op->code != VM_CODE_LANE || !is_copy(p, i) ||
                          candidate(p, op->d) != NONE))
                continue;
            vm_operands_of(d, op, &operands);
            bool moves = load;
            for (unsigned k = 0; k < operands.read_count && !load; k++)
                moves |= candidate(p, *operands.reads[k]) != NONE;
            for (unsigned k = 0; k < operands.write_count && moves; k++)
                if (candidate(p, *operands.writes[k]) == NONE) {
                    p->number[register_of(*operands.writes[k])] = p->candidates++;
                    more = true;
                }
        }
    }
}

/* ---- making TMEM_NEED ---- */
static void flush(pending *p, uint32_t instruction) {
    if (p->refs.count == 0)
        return;
    vm_decoder *d = p->d;
    vm_program *program = d->program;
    vm_op op = {
        .code = VM_CODE_EXTERNAL, .sub = VM_EXTERNAL_TMEM_NEED, .d = NONE, .a = NONE, .b = NONE, .c = NONE};
    op.x = vm_decode_extras(d, p->refs.items, (uint32_t)p->refs.count);
    op.imm = program->extras.count;
    for (size_t i = 0; i < p->refs.count; i++) {
        base_vector_push(program->arena, &program->extras, register_of(p->refs.items[i]));
        base_vector_push(program->arena, &program->extras, p->kinds.items[i]);
    }
    base_vector_push(d->arena, &p->ops, op);
    base_vector_push(d->arena, &p->instruction_of, instruction);
    base_vector_push(d->arena, &p->group, (uint8_t)0);
    p->refs.count = p->kinds.count = 0;
}

static void add(pending *p, uint32_t ref, vm_tmem_need kind) {
    if (!p->emit)
        return;
    base_vector_push(p->d->arena, &p->refs, ref);
    base_vector_push(p->d->arena, &p->kinds, (uint32_t)kind);
}

static void add_all_missing(pending *p, uint32_t instruction) {
    for (uint32_t r = 0; p->emit && r < p->d->rows_of.count; r++)
        if (has(p->missing, p->number[r])) {
            add(p, VM_REF(VM_REF_FRAME, r), VM_TMEM_NEED_DATA);
            if (p->refs.count == LIST_LIMIT)
                flush(p, instruction);
        }
}

static void clear(pending *p, uint32_t bit) {
    put(p->missing, bit, false);
    put(p->flagged, bit, false);
}

/* ---- one operation: what it needs, and the state behind it ---- */
static void walk_reads(pending *p, const vm_operands *operands, bool guarded) {
    for (unsigned k = 0; k < operands->read_count; k++) {
        uint32_t ref = *operands->reads[k], bit = candidate(p, ref);
        if (!has(p->flagged, bit))
            continue;
        add(p, ref, VM_TMEM_NEED_USE);
        if (!guarded) /* else it may not have been done */
            clear(p, bit);
    }
}

static void walk_write(pending *p, uint32_t ref, bool guarded) {
    uint32_t bit = candidate(p, ref);
    if (!has(p->flagged, bit))
        return;
    ref &= ~VM_REF_WRITTEN;
    add(p, guarded ? ref : ref | VM_REF_WRITTEN, guarded ? VM_TMEM_NEED_PARTLY : VM_TMEM_NEED_OVERWRITE);
    if (!guarded)
        clear(p, bit);
}

static void walk_copy(pending *p, const vm_op *op, bool guarded) {
    bool select = is_select(op), moved = false;
    uint32_t sources[3] = {op->a, op->b, select ? NONE : op->c};
    for (unsigned k = 0; k < 3; k++)
        moved |= has(p->flagged, candidate(p, sources[k]));
    if (!moved) {
        walk_write(p, op->d, guarded);
        return;
    }
    if (has(p->flagged, candidate(p, op->d)) && guarded)
        add(p, op->d, VM_TMEM_NEED_PARTLY);
    if (select)
        add(p, op->c, VM_TMEM_NEED_SELECT);
    for (unsigned k = 0; k < 3; k++) {
        uint32_t bit = candidate(p, sources[k]);
        if (!has(p->flagged, bit))
            continue;
        add(p, sources[k], !select ? VM_TMEM_NEED_COPY : k == 0 ? VM_TMEM_NEED_TRUE : VM_TMEM_NEED_FALSE);
        if (!guarded)
            put(p->missing, bit, false);
    }
    add(p, op->d | VM_REF_WRITTEN, VM_TMEM_NEED_TARGET);
    put(p->missing, candidate(p, op->d), false);
    put(p->flagged, candidate(p, op->d), true);
}

static void walk(pending *p, size_t at, bool guarded) {
    vm_decoder *d = p->d;
    vm_op *op = &d->ops.items[at];
    if (op->code == VM_CODE_LANE && is_copy(p, at)) {
        walk_copy(p, op, guarded);
        return;
    }
    if (is_external(op, VM_EXTERNAL_CALL) || is_external(op, VM_EXTERNAL_CALL_INDIRECT)) {
        add_all_missing(p, d->instruction_of.items[at]); /* it may wait */
        memset(p->missing, 0, p->words * sizeof *p->missing);
    }
    if (is_external(op, VM_EXTERNAL_TMEM_WAIT)) {
        if (op->imm == VM_TMEM_WAIT_LOAD) {
            add_all_missing(p, d->instruction_of.items[at]);
            memset(p->missing, 0, p->words * sizeof *p->missing);
            memset(p->flagged, 0, p->words * sizeof *p->flagged);
        }
        return;
    }
    vm_operands operands;
    vm_operands_of(d, op, &operands);
    walk_reads(p, &operands, guarded);
    for (unsigned k = 0; k < operands.write_count; k++)
        walk_write(p, *operands.writes[k], guarded);
    if (is_external(op, VM_EXTERNAL_TMEM_LOAD))
        for (unsigned k = 0; k < operands.write_count; k++) {
            put(p->missing, candidate(p, *operands.writes[k]), true);
            put(p->flagged, candidate(p, *operands.writes[k]), true);
        }
}

static void keep(pending *p, size_t at) {
    base_vector_push(p->d->arena, &p->ops, p->d->ops.items[at]);
    base_vector_push(p->d->arena, &p->instruction_of, p->d->instruction_of.items[at]);
    base_vector_push(p->d->arena, &p->group, p->d->group[at]);
}

/* A block from its state at the beginning. new_of: where each operation, with what it needs, goes. */
static void walk_block(pending *p, uint32_t block, uint32_t *new_of) {
    const vm_block *b = &p->d->graph->blocks[block];
    memcpy(p->missing, p->in + 2 * block * p->words, p->words * sizeof *p->missing);
    memcpy(p->flagged, p->in + (2 * block + 1) * p->words, p->words * sizeof *p->flagged);
    bool guarded = false;
    for (uint32_t i = b->begin; i < b->end;) {
        const vm_op *op = &p->d->ops.items[i];
        uint32_t count = p->d->group[i] > 1 ? p->d->group[i] : 1; /* loads side by side stay so */
        for (uint32_t k = 0; k < count; k++) {
            if (p->emit)
                new_of[i + k] = (uint32_t)p->ops.count;
            walk(p, i + k, guarded);
        }
        if (p->emit) {
            flush(p, p->d->instruction_of.items[i]);
            for (uint32_t k = 0; k < count; k++)
                keep(p, i + k);
        }
        if (op->code == VM_CODE_GUARD)
            guarded = true;
        else if (op->code == VM_CODE_UNGUARD && op->sub != VM_DROPPED)
            guarded = false;
        i += count;
    }
}

static void flow(pending *p) {
    vm_graph *g = p->d->graph;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < g->order_count; i++) {
            uint32_t block = g->order[i];
            walk_block(p, block, NULL);
            for (uint32_t k = 0; k < g->blocks[block].successor_count; k++) {
                uint64_t *to = p->in + 2 * g->blocks[block].successors[k] * p->words;
                for (size_t w = 0; w < p->words; w++) {
                    uint64_t missing = to[w] | p->missing[w], flagged = to[p->words + w] | p->flagged[w];
                    changed |= missing != to[w] || flagged != to[p->words + w];
                    to[w] = missing;
                    to[p->words + w] = flagged;
                }
            }
        }
    }
}

/* Puts the new list of operations in the place of the old: everything that names an operation follows. */
static void replace(pending *p) {
    vm_decoder *d = p->d;
    vm_graph *g = d->graph;
    uint32_t *new_of = BASE_NEW_ARRAY(d->arena, uint32_t, d->ops.count + 1);
    p->emit = true;
    for (uint32_t b = 0; b < g->count; b++) {
        uint32_t begin = (uint32_t)p->ops.count;
        walk_block(p, b, new_of);
        g->blocks[b].begin = begin;
        g->blocks[b].end = (uint32_t)p->ops.count;
    }
    new_of[d->ops.count] = (uint32_t)p->ops.count;
    for (size_t i = 0; i < p->ops.count; i++) {
        vm_op *op = &p->ops.items[i];
        if (op->code == VM_CODE_BRANCH || op->code == VM_CODE_BRANCH_IF || op->code == VM_CODE_GUARD)
            op->x = new_of[op->x];
        if (op->code == VM_CODE_SWITCH)
            for (uint32_t k = 0; k < d->extras.items[op->x]; k++)
                d->extras.items[op->x + 1 + k] = new_of[d->extras.items[op->x + 1 + k]];
    }
    g->block_of = BASE_NEW_ARRAY(d->arena, uint32_t, p->ops.count + 1);
    for (uint32_t b = 0; b < g->count; b++)
        for (uint32_t i = g->blocks[b].begin; i < g->blocks[b].end; i++)
            g->block_of[i] = b;
    d->group = p->group.items;
    d->ops.count = d->instruction_of.count = 0;
    for (size_t i = 0; i < p->ops.count; i++) {
        base_vector_push(d->arena, &d->ops, p->ops.items[i]);
        base_vector_push(d->arena, &d->instruction_of, p->instruction_of.items[i]);
    }
}

void vm_pending(vm_decoder *d) {
    bool any = false;
    for (size_t i = 0; i < d->ops.count && !any; i++)
        any = is_external(&d->ops.items[i], VM_EXTERNAL_TMEM_LOAD);
    if (!any)
        return;
    pending state = {.d = d}, *p = &state;
    p->number = BASE_NEW_ARRAY(d->arena, uint32_t, d->rows_of.count);
    for (size_t r = 0; r < d->rows_of.count; r++)
        p->number[r] = NONE;
    find_candidates(p);
    p->words = (p->candidates + 63) / 64;
    p->missing = BASE_NEW_ARRAY(d->arena, uint64_t, p->words);
    p->flagged = BASE_NEW_ARRAY(d->arena, uint64_t, p->words);
    p->in = BASE_NEW_ARRAY(d->arena, uint64_t, 2 * p->words * d->graph->count);
    flow(p);
    replace(p);
}
