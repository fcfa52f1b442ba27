/* SPDX-License-Identifier: Apache-2.0
 * From virtual registers to rows of a frame: blocks are laid out in the order of vm_graph.c, live intervals
 * come from data flow over the blocks, a linear scan gives rows, and the operations go into the program with
 * their final references. A row serves registers of one width only: lanes that wait elsewhere keep what they
 * have in it, because a masked write leaves their part of the row alone, and that part is at the same place
 * only where all registers of the row are equally wide. A register that dies at an operation does not share
 * its row with that operation's result, so that lane loops never see sources and destination overlap in part.
 */
#include <stdlib.h>
#include "vm/vm_decode.h"

#define NONE VM_REF_NONE

typedef struct interval {
    uint32_t reg, begin, end; /* operations in the new order, both included */
} interval;

typedef struct allocator {
    vm_decoder *d;
    vm_graph *graph;
    base_arena *arena;
    BASE_VECTOR(vm_op) ops; /* laid out */
    BASE_VECTOR(uint32_t) instruction_of;
    uint32_t *block_begin, *block_end;        /* by position */
    uint32_t *op_of_block;                    /* first operation of a block, by block */
    uint32_t *bit_of, *register_at, crossing; /* registers that live across blocks, and their bits */
    size_t words;
    uint64_t *live_in, *live_out, *defined, *used; /* by position */
    uint32_t *begin, *end;                         /* per register; begin UINT32_MAX: unused */
    uint32_t *place;                               /* per register: final reference */
    uint32_t predicates, rows;
    uint32_t virtual_registers;
} allocator;

/* ---- layout ---- */
static void push(allocator *a, const vm_op *op, uint32_t instruction) {
    base_vector_push(a->arena, &a->ops, *op);
    base_vector_push(a->arena, &a->instruction_of, instruction);
}

static bool needs_join(const allocator *a, uint32_t position) {
    if (position == 0)
        return false;
    const vm_block *block = &a->graph->blocks[a->graph->order[position]];
    uint32_t before = a->graph->order[position - 1];
    const vm_block *previous = &a->graph->blocks[before];
    bool falls = false;
    for (uint32_t k = 0; k < previous->successor_count; k++)
        falls |= previous->successors[k] == a->graph->order[position];
    if (!falls)
        return false;
    if (block->predecessor_count > 1)
        return true;
    for (uint32_t k = 0; k < previous->successor_count; k++)
        if (a->graph->blocks[previous->successors[k]].position < position)
            return true; /* lanes that left the loop earlier wait here */
    return false;
}

/* The last operation of a block, adapted to what stands next: targets are blocks until finish_targets. */
static void push_end(allocator *a, const vm_block *block, uint32_t position, const vm_op *op,
                     uint32_t instruction) {
    const vm_graph *g = a->graph;
    uint32_t next = position + 1 < g->order_count ? g->order[position + 1] : UINT32_MAX;
    uint32_t through = block->successor_count ? block->successors[block->successor_count - 1] : UINT32_MAX;
    vm_op copy = *op, jump = {.code = VM_CODE_BRANCH, .d = NONE, .a = NONE, .b = NONE, .c = NONE};
    switch (op->code) {
    case VM_CODE_BRANCH:
        copy.x = g->block_of[op->x];
        if (copy.x != next)
            push(a, &copy, instruction);
        return;
    case VM_CODE_BRANCH_IF:
        copy.x = g->block_of[op->x];
        if (copy.x == next && through != UINT32_MAX && through != next) {
            copy.x = through;
            copy.sub ^= 1;
            push(a, &copy, instruction);
            return;
        }
        push(a, &copy, instruction);
        break;
    case VM_CODE_SWITCH:
    case VM_CODE_EXIT:
    case VM_CODE_RETURN:
        push(a, &copy, instruction);
        return;
    default:
        if (!(op->code == VM_CODE_UNGUARD && op->sub == VM_DROPPED))
            push(a, &copy, instruction);
        if (op->code == VM_CODE_EXTERNAL && op->sub == VM_EXTERNAL_UNSUPPORTED)
            return;
    }
    if (through != UINT32_MAX && through != next) {
        jump.x = through;
        push(a, &jump, instruction);
    }
}

static void lay_out(allocator *a) {
    const vm_graph *g = a->graph;
    vm_decoder *d = a->d;
    vm_op join = {.code = VM_CODE_JOIN, .d = NONE, .a = NONE, .b = NONE, .c = NONE};
    vm_op group = join;
    group.code = VM_CODE_LOAD_GROUP;
    a->block_begin = BASE_NEW_ARRAY(a->arena, uint32_t, g->order_count);
    a->block_end = BASE_NEW_ARRAY(a->arena, uint32_t, g->order_count);
    a->op_of_block = BASE_NEW_ARRAY(a->arena, uint32_t, g->count);
    for (uint32_t i = 0; i < g->order_count; i++) {
        const vm_block *block = &g->blocks[g->order[i]];
        a->block_begin[i] = (uint32_t)a->ops.count;
        a->op_of_block[g->order[i]] = (uint32_t)a->ops.count;
        if (needs_join(a, i))
            push(a, &join, d->instruction_of.items[block->begin]);
        uint32_t guard = UINT32_MAX;
        for (uint32_t k = block->begin; k < block->end; k++) {
            const vm_op *op = &d->ops.items[k];
            uint32_t instruction = d->instruction_of.items[k];
            if (d->group[k]) {
                group.sub = d->group[k];
                push(a, &group, instruction);
            }
            if (k + 1 == block->end) {
                push_end(a, block, i, op, instruction);
            } else if (!(op->code == VM_CODE_UNGUARD && op->sub == VM_DROPPED)) {
                push(a, op, instruction);
            }
            if (op->code == VM_CODE_GUARD) {
                guard = (uint32_t)a->ops.count - 1;
            } else if (op->code == VM_CODE_UNGUARD && op->sub != VM_DROPPED && guard != UINT32_MAX) {
                uint32_t end = guard + 1;
                while (a->ops.items[end].code != VM_CODE_UNGUARD)
                    end++;
                if (end == guard + 1 && end + 1 == a->ops.count) { /* nothing left inside */
                    a->ops.count = a->instruction_of.count = guard;
                } else {
                    a->ops.items[guard].x = end;
                }
                guard = UINT32_MAX;
            }
        }
        a->block_end[i] = (uint32_t)a->ops.count;
    }
}

/* ---- liveness ---- */
static bool is_register(uint32_t ref) {
    return ref != NONE && VM_REF_KIND(ref) == VM_REF_FRAME;
}
static uint32_t register_of(uint32_t ref) {
    return VM_REF_INDEX(ref & ~VM_REF_WRITTEN);
}
static void set_bit(const allocator *a, uint64_t *row, uint32_t reg) {
    uint32_t bit = a->bit_of[reg];
    if (bit != NONE)
        row[bit / 64] |= (uint64_t)1 << bit % 64;
}
static bool get_bit(const allocator *a, const uint64_t *row, uint32_t reg) {
    uint32_t bit = a->bit_of[reg];
    return bit != NONE && row[bit / 64] >> bit % 64 & 1;
}

/* Only registers that some block reads before it writes them can live across blocks: those get a bit. */
static void number_crossing(allocator *a) {
    uint32_t registers = (uint32_t)a->d->rows_of.count, named = (uint32_t)a->d->source->registers.count;
    uint32_t *written_in = BASE_NEW_ARRAY(a->arena, uint32_t, registers);
    a->bit_of = BASE_NEW_ARRAY(a->arena, uint32_t, registers);
    a->register_at = BASE_NEW_ARRAY(a->arena, uint32_t, registers);
    for (uint32_t i = 0; i < a->graph->order_count; i++) {
        bool guarded = false;
        for (uint32_t k = a->block_begin[i]; k < a->block_end[i]; k++) {
            vm_op *op = &a->ops.items[k];
            vm_operands operands;
            vm_operands_of(a->d, op, &operands);
            for (unsigned n = 0; n < operands.read_count; n++)
                if (is_register(*operands.reads[n]) && written_in[register_of(*operands.reads[n])] != i + 1)
                    a->bit_of[register_of(*operands.reads[n])] = 1;
            for (unsigned n = 0; n < operands.write_count; n++) {
                uint32_t reg = register_of(*operands.writes[n]);
                if (!guarded || reg >= named)
                    written_in[reg] = i + 1;
                else if (written_in[reg] != i + 1)
                    a->bit_of[reg] = 1;
            }
            if (op->code == VM_CODE_GUARD)
                guarded = true;
            else if (op->code == VM_CODE_UNGUARD)
                guarded = false;
        }
    }
    for (uint32_t r = 0; r < registers; r++) {
        if (a->bit_of[r])
            a->register_at[a->crossing] = r;
        a->bit_of[r] = a->bit_of[r] ? a->crossing++ : NONE;
    }
    a->words = (a->crossing + 63) / 64;
}

/* Upward exposed uses and definitions of each block. A definition under a guard does not kill a register of
 * the program; temporaries live inside one instruction and are always written first. */
static void scan_blocks(allocator *a) {
    uint32_t named = (uint32_t)a->d->source->registers.count;
    for (uint32_t i = 0; i < a->graph->order_count; i++) {
        uint64_t *used = a->used + i * a->words, *defined = a->defined + i * a->words;
        bool guarded = false;
        for (uint32_t k = a->block_begin[i]; k < a->block_end[i]; k++) {
            vm_op *op = &a->ops.items[k];
            vm_operands operands;
            vm_operands_of(a->d, op, &operands);
            for (unsigned n = 0; n < operands.read_count; n++) {
                uint32_t ref = *operands.reads[n];
                if (is_register(ref) && !get_bit(a, defined, register_of(ref)))
                    set_bit(a, used, register_of(ref));
            }
            for (unsigned n = 0; n < operands.write_count; n++) {
                uint32_t reg = register_of(*operands.writes[n]);
                if (!guarded || reg >= named)
                    set_bit(a, defined, reg);
                else if (!get_bit(a, defined, reg))
                    set_bit(a, used, reg); /* keeps what the other lanes had */
            }
            if (op->code == VM_CODE_GUARD)
                guarded = true;
            else if (op->code == VM_CODE_UNGUARD)
                guarded = false;
        }
    }
}

static void flow(allocator *a) {
    const vm_graph *g = a->graph;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = g->order_count; i-- > 0;) {
            const vm_block *block = &g->blocks[g->order[i]];
            uint64_t *out = a->live_out + i * a->words, *in = a->live_in + i * a->words;
            for (uint32_t k = 0; k < block->successor_count; k++) {
                const uint64_t *next = a->live_in + g->blocks[block->successors[k]].position * a->words;
                for (size_t w = 0; w < a->words; w++)
                    out[w] |= next[w];
            }
            for (size_t w = 0; w < a->words; w++) {
                uint64_t value = a->used[i * a->words + w] | (out[w] & ~a->defined[i * a->words + w]);
                changed |= value != in[w];
                in[w] = value;
            }
        }
    }
}

static void extend(allocator *a, uint32_t reg, uint32_t from, uint32_t to) {
    if (a->begin[reg] == UINT32_MAX || from < a->begin[reg])
        a->begin[reg] = from;
    if (to > a->end[reg])
        a->end[reg] = to;
}

static void find_intervals(allocator *a) {
    uint32_t registers = (uint32_t)a->d->rows_of.count;
    a->begin = BASE_NEW_ARRAY(a->arena, uint32_t, registers);
    a->end = BASE_NEW_ARRAY(a->arena, uint32_t, registers);
    for (uint32_t r = 0; r < registers; r++)
        a->begin[r] = UINT32_MAX;
    for (uint32_t i = 0; i < a->graph->order_count; i++) {
        if (a->block_begin[i] == a->block_end[i])
            continue;
        uint32_t first = a->block_begin[i], last = a->block_end[i] - 1;
        for (size_t w = 0; w < a->words; w++) {
            uint64_t in = a->live_in[i * a->words + w], out = a->live_out[i * a->words + w];
            for (uint64_t both = in | out; both; both &= both - 1) {
                uint32_t bit = (uint32_t)__builtin_ctzll(both), reg = a->register_at[w * 64 + bit];
                if (in >> bit & 1)
                    extend(a, reg, first, first);
                if (out >> bit & 1)
                    extend(a, reg, last, last);
            }
        }
        for (uint32_t k = first; k <= last; k++) {
            vm_operands operands;
            vm_operands_of(a->d, &a->ops.items[k], &operands);
            for (unsigned n = 0; n < operands.read_count; n++)
                if (is_register(*operands.reads[n]))
                    extend(a, register_of(*operands.reads[n]), k, k);
            for (unsigned n = 0; n < operands.write_count; n++)
                extend(a, register_of(*operands.writes[n]), k, k);
        }
    }
}

/* ---- linear scan ---- */
typedef struct free_rows { /* a bit per row: taken */
    uint64_t *taken;
    size_t words;
    base_arena *arena;
} free_rows;

static void reserve(free_rows *f, size_t words) {
    if (words <= f->words)
        return;
    size_t more = f->words * 2 > words ? f->words * 2 : words;
    uint64_t *grown = BASE_NEW_ARRAY(f->arena, uint64_t, more);
    if (f->words)
        memcpy(grown, f->taken, f->words * sizeof *grown);
    f->taken = grown;
    f->words = more;
}

/* First place of `count` rows side by side, a multiple of count. */
static uint32_t take(free_rows *f, unsigned count) {
    uint64_t pattern = ((uint64_t)1 << count) - 1;
    for (uint32_t w = 0;; w++) {
        reserve(f, w + 1);
        if (f->taken[w] == UINT64_MAX)
            continue;
        for (unsigned bit = 0; bit < 64; bit += count)
            if ((f->taken[w] >> bit & pattern) == 0) {
                f->taken[w] |= pattern << bit;
                return w * 64 + bit;
            }
    }
}
static void give(free_rows *f, uint32_t row, unsigned count) {
    f->taken[row / 64] &= ~((((uint64_t)1 << count) - 1) << row % 64);
}

/* Predicates, then registers of 1, 2, 4 and 8 rows. */
enum { WIDTHS = 5 };
static unsigned width_of(unsigned rows) {
    return rows ? (unsigned)__builtin_ctz(rows) + 1 : 0;
}

static int by_begin(const void *x, const void *y) {
    const interval *a = x, *b = y;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return a->reg < b->reg ? -1 : a->reg > b->reg;
}

static void sift_up(interval *heap, size_t i) {
    for (; i && heap[(i - 1) / 2].end > heap[i].end; i = (i - 1) / 2) {
        interval t = heap[i];
        heap[i] = heap[(i - 1) / 2];
        heap[(i - 1) / 2] = t;
    }
}
static void pop(interval *heap, size_t *count) {
    heap[0] = heap[--*count];
    for (size_t i = 0;;) {
        size_t least = i, left = 2 * i + 1;
        for (size_t child = left; child < left + 2 && child < *count; child++)
            if (heap[child].end < heap[least].end)
                least = child;
        if (least == i)
            return;
        interval t = heap[i];
        heap[i] = heap[least];
        heap[least] = t;
        i = least;
    }
}

static void scan(allocator *a) {
    uint32_t registers = (uint32_t)a->d->rows_of.count;
    interval *list = BASE_NEW_ARRAY(a->arena, interval, registers),
             *active = BASE_NEW_ARRAY(a->arena, interval, registers);
    size_t count = 0, active_count = 0;
    free_rows pools[WIDTHS];
    uint32_t used[WIDTHS] = {0}, base[WIDTHS] = {0};
    for (unsigned w = 0; w < WIDTHS; w++)
        pools[w] = (free_rows){.arena = a->arena};
    a->place = BASE_NEW_ARRAY(a->arena, uint32_t, registers);
    for (uint32_t r = 0; r < registers; r++) {
        a->place[r] = NONE;
        if (a->begin[r] == UINT32_MAX)
            continue;
        list[count++] = (interval){r, a->begin[r], a->end[r]};
        if (r < a->d->source->registers.count)
            a->virtual_registers += a->d->rows_of.items[r] ? a->d->rows_of.items[r] : 1;
    }
    qsort(list, count, sizeof *list, by_begin);
    for (size_t i = 0; i < count; i++) {
        while (active_count && active[0].end < list[i].begin) {
            unsigned n = a->d->rows_of.items[active[0].reg];
            give(&pools[width_of(n)], a->place[active[0].reg], n ? n : 1);
            pop(active, &active_count);
        }
        unsigned n = a->d->rows_of.items[list[i].reg];
        uint32_t at = take(&pools[width_of(n)], n ? n : 1);
        a->place[list[i].reg] = at;
        if (at + (n ? n : 1) > used[width_of(n)])
            used[width_of(n)] = at + (n ? n : 1);
        active[active_count++] = list[i];
        sift_up(active, active_count - 1);
    }
    /* from row numbers to references: predicates first, then the widths one after the other */
    a->predicates = used[0];
    a->rows = (a->predicates + VM_LANES - 1) / VM_LANES;
    for (unsigned w = 1; w < WIDTHS; w++) {
        base[w] = a->rows;
        a->rows += used[w];
    }
    for (uint32_t r = 0; r < registers; r++) {
        unsigned n = a->d->rows_of.items[r];
        if (a->place[r] != NONE)
            a->place[r] = n ? (base[width_of(n)] + a->place[r]) * VM_ROW_BYTES : a->place[r] * 4;
    }
}

/* ---- into the program ---- */
static uint32_t final_reference(const allocator *a, uint32_t ref) {
    if (ref == NONE)
        return NONE;
    if (is_register(ref)) {
        uint32_t place = a->place[register_of(ref)];
        return place == NONE ? 0 : place;
    }
    return VM_REF_INDEX(ref) * VM_ROW_BYTES | VM_REF_KIND(ref);
}

static const uint16_t hot_codes[VM_LANE_COUNT] = {
#define X(name) [VM_LANE_##name] = VM_CODE_HOT_##name,
    VM_HOT_LANES(X)
#undef X
};

/* What LOAD_ROW and STORE_ROW are for; signs and polling make no difference to 32 bits. */
static bool is_row(const vm_op *op) {
    return (op->code == VM_CODE_LOAD || op->code == VM_CODE_STORE) &&
           (op->sub & ~(1u << 9 | 1u << 13)) == VM_ACCESS(VM_GLOBAL, 2, 1, 0, 0, VM_ADDRESS_INDEXED, 0) &&
           (op->a & 3) == VM_REF_POOL && op->c >> 1 == 2;
}

/* In checked programs: what the race checker looks at first. */
static void check_access(vm_op *op) {
    if (op->code != VM_CODE_LOAD && op->code != VM_CODE_STORE)
        return;
    vm_space space = VM_ACCESS_SPACE(op->sub);
    if (space == VM_SHARED || space == VM_GENERIC || space == VM_LOCAL || op->sub & VM_ACCESS_STRONG ||
        (space == VM_FRAME && op->sub & VM_ACCESS_WATCHED))
        op->code = op->code == VM_CODE_LOAD ? VM_CODE_CHECK_LOAD : VM_CODE_CHECK_STORE;
}

static void append(allocator *a) {
    vm_program *program = a->d->program;
    vm_decoder *d = a->d;
    uint32_t first = (uint32_t)program->ops.count;
    for (size_t i = 0; i < a->ops.count; i++) {
        vm_op op = a->ops.items[i];
        vm_operands operands;
        vm_operands_of(d, &op, &operands);
        for (unsigned n = 0; n < operands.read_count + operands.write_count; n++) {
            uint32_t *ref =
                n < operands.read_count ? operands.reads[n] : operands.writes[n - operands.read_count];
            if (ref >= &op.d && ref <= &op.c)
                *ref = final_reference(a, *ref);
        }
        bool has_list =
            op.code == VM_CODE_SWITCH ||
            ((op.code == VM_CODE_LOAD || op.code == VM_CODE_STORE) && VM_ACCESS_COUNT(op.sub) > 1) ||
            (op.code == VM_CODE_EXTERNAL &&
             (op.sub == VM_EXTERNAL_SHFL || op.sub == VM_EXTERNAL_MATCH || op.sub == VM_EXTERNAL_ELECT ||
              op.sub == VM_EXTERNAL_ATOM || vm_external_listed(op.sub)));
        if (has_list) {
            const uint32_t *list = d->extras.items + op.x;
            uint32_t at = (uint32_t)program->extras.count;
            base_vector_push(program->arena, &program->extras, list[0]);
            for (uint32_t k = 1; k <= list[0]; k++) {
                uint32_t value = op.code == VM_CODE_SWITCH
                                     ? first + a->op_of_block[a->graph->block_of[list[k]]]
                                     : final_reference(a, list[k] == NONE ? NONE : list[k] & ~VM_REF_WRITTEN);
                base_vector_push(program->arena, &program->extras, value);
            }
            op.x = at;
        }
        if (op.code == VM_CODE_BRANCH || op.code == VM_CODE_BRANCH_IF)
            op.x = first + a->op_of_block[op.x];
        if (op.code == VM_CODE_GUARD)
            op.x += first;
        if (op.code == VM_CODE_LANE) {
            uint32_t *fields[] = {&op.a, &op.b, &op.c};
            for (unsigned k = 0; k < 3;
                 k++) /* what a lane function does not read still has to be an address */
                if (*fields[k] == NONE)
                    *fields[k] = 0;
            if (hot_codes[op.sub])
                op.code = hot_codes[op.sub];
        }
        if (is_row(&op))
            op.code = op.code == VM_CODE_LOAD ? VM_CODE_LOAD_ROW : VM_CODE_STORE_ROW;
        if (program->checked)
            check_access(&op);
        base_vector_push(program->arena, &program->ops, op);
        base_vector_push(program->arena, &program->instruction_of, a->instruction_of.items[i]);
    }
    d->function->first_op = first;
    d->function->op_count = (uint32_t)a->ops.count;
}

/* Where the program's registers are, for evaluating the indices of findings. */
static void record_registers(allocator *a) {
    vm_decoder *d = a->d;
    size_t count = d->source->registers.count;
    vm_function *function = d->function;
    function->register_ref = BASE_NEW_ARRAY(d->program->arena, uint32_t, count);
    function->register_begin = BASE_NEW_ARRAY(d->program->arena, uint32_t, count);
    function->register_end = BASE_NEW_ARRAY(d->program->arena, uint32_t, count);
    for (uint32_t r = 0; r < count; r++) {
        uint32_t ref = VM_REF(VM_REF_FRAME, r);
        while (is_register(ref) && d->alias[VM_REF_INDEX(ref)] != NONE)
            ref = d->alias[VM_REF_INDEX(ref)];
        function->register_ref[r] = NONE;
        if (d->rows_of.items[r] == 0)
            continue;
        if (!is_register(ref)) {
            function->register_ref[r] = final_reference(a, ref);
            function->register_end[r] = UINT32_MAX;
        } else if (a->place[VM_REF_INDEX(ref)] != NONE) {
            function->register_ref[r] = a->place[VM_REF_INDEX(ref)];
            function->register_begin[r] = a->begin[VM_REF_INDEX(ref)];
            function->register_end[r] = a->end[VM_REF_INDEX(ref)];
        }
    }
}

void vm_allocate(vm_decoder *d) {
    allocator state = {.d = d, .graph = d->graph, .arena = d->arena}, *a = &state;
    lay_out(a);
    number_crossing(a);
    size_t size = a->words * d->graph->order_count;
    a->live_in = BASE_NEW_ARRAY(d->arena, uint64_t, size);
    a->live_out = BASE_NEW_ARRAY(d->arena, uint64_t, size);
    a->defined = BASE_NEW_ARRAY(d->arena, uint64_t, size);
    a->used = BASE_NEW_ARRAY(d->arena, uint64_t, size);
    scan_blocks(a);
    flow(a);
    find_intervals(a);
    scan(a);
    append(a);
    record_registers(a);
    vm_function *function = d->function;
    for (size_t w = 0; w < a->words; w++)
        function->clears |= a->live_in[w] != 0;
    function->predicates = a->predicates;
    function->rows = a->rows ? a->rows : 1;
    function->virtual_registers = a->virtual_registers;
}
