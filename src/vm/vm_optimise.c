/* SPDX-License-Identifier: Apache-2.0
 * Before rows are given: copies of single-assignment registers vanish, constants fold through the lane
 * functions themselves, address sums move into the accesses, what nobody reads is dropped. PTX of compilers
 * is nearly in SSA form, so a register with one definition that dominates its uses stands for that value. */
#include "vm/vm_decode.h"

#define NONE VM_REF_NONE

void vm_operands_of(vm_decoder *d, vm_op *op, vm_operands *out) {
    out->read_count = out->write_count = 0;
#define READ(field)                                                                                          \
    do {                                                                                                     \
        if ((field) != NONE)                                                                                 \
            out->reads[out->read_count++] = &(field);                                                        \
    } while (0)
#define WRITE(field)                                                                                         \
    do {                                                                                                     \
        if ((field) != NONE)                                                                                 \
            out->writes[out->write_count++] = &(field);                                                      \
    } while (0)
    bool extras = false;
    switch (op->code) {
    case VM_CODE_LANE:
        WRITE(op->d);
        READ(op->a);
        READ(op->b);
        READ(op->c);
        return;
    case VM_CODE_LOAD:
    case VM_CODE_STORE:
        READ(op->a);
        READ(op->b); /* c is a number here */
        if (VM_ACCESS_COUNT(op->sub) > 1)
            extras = true;
        else if (op->code == VM_CODE_LOAD)
            WRITE(op->d);
        else
            READ(op->d);
        break;
    case VM_CODE_GUARD:
    case VM_CODE_BRANCH_IF:
    case VM_CODE_SWITCH:
        READ(op->a);
        return;
    case VM_CODE_EXTERNAL:
        WRITE(op->d);
        READ(op->a);
        READ(op->b);
        READ(op->c);
        extras = op->sub == VM_EXTERNAL_SHFL || op->sub == VM_EXTERNAL_MATCH ||
                 op->sub == VM_EXTERNAL_ELECT || op->sub == VM_EXTERNAL_ATOM || vm_external_listed(op->sub);
        break;
    default:
        return;
    }
    if (!extras)
        return;
    uint32_t *list = d->extras.items + op->x;
    for (uint32_t i = 1; i <= list[0]; i++) {
        if (list[i] == NONE)
            continue;
        if (list[i] & VM_REF_WRITTEN)
            WRITE(list[i]);
        else
            READ(list[i]);
    }
#undef READ
#undef WRITE
}

typedef struct optimiser {
    vm_decoder *d;
    uint32_t *definitions; /* per register: how many */
    uint32_t *defined_at;  /* the last one's operation */
    uint32_t *uses;
    uint32_t *alias; /* NONE: itself */
    bool *single;    /* per register: one unguarded definition that dominates every use */
    bool *guarded;   /* per operation */
    bool *leader;    /* per operation: begins a block */
} optimiser;

static bool is_register(uint32_t ref) {
    return ref != NONE && VM_REF_KIND(ref) == VM_REF_FRAME;
}

static bool single(const optimiser *o, uint32_t ref) {
    return o->single[VM_REF_INDEX(ref)];
}

/* A definition must dominate the uses: `if (c) last = v; ... if (have) use(last)` in a loop has one
 * definition too, and the use wants the value of an earlier round. */
static void find_single(optimiser *o) {
    vm_decoder *d = o->d;
    for (size_t r = 0; r < d->rows_of.count; r++)
        o->single[r] = o->definitions[r] == 1 && !o->guarded[o->defined_at[r]];
    for (size_t i = 0; i < d->ops.count; i++) {
        vm_operands operands;
        vm_operands_of(d, &d->ops.items[i], &operands);
        for (unsigned k = 0; k < operands.read_count; k++) {
            if (!is_register(*operands.reads[k]))
                continue;
            uint32_t index = VM_REF_INDEX(*operands.reads[k]), at = o->defined_at[index];
            uint32_t from = d->graph->block_of[at], to = d->graph->block_of[i];
            if (o->single[index] && (from == to ? at >= i : !vm_graph_dominates(d->graph, from, to)))
                o->single[index] = false;
        }
    }
}

static void count_definitions(optimiser *o) {
    vm_decoder *d = o->d;
    bool inside = false;
    for (size_t i = 0; i < d->ops.count; i++) {
        vm_op *op = &d->ops.items[i];
        vm_operands operands;
        if (op->code == VM_CODE_UNGUARD)
            inside = false;
        o->guarded[i] = inside;
        if (op->code == VM_CODE_GUARD)
            inside = true;
        if (op->code == VM_CODE_BRANCH || op->code == VM_CODE_BRANCH_IF)
            o->leader[op->x] = true;
        if (op->code == VM_CODE_SWITCH)
            for (uint32_t k = 0; k < d->extras.items[op->x]; k++)
                o->leader[d->extras.items[op->x + 1 + k]] = true;
        vm_operands_of(d, op, &operands);
        for (unsigned k = 0; k < operands.write_count; k++) {
            uint32_t index = VM_REF_INDEX(*operands.writes[k] & ~VM_REF_WRITTEN);
            o->definitions[index]++;
            o->defined_at[index] = (uint32_t)i;
        }
    }
}

static bool known_source(const optimiser *o, uint32_t ref) {
    return ref == NONE || (VM_REF_KIND(ref) == VM_REF_POOL &&
                           o->d->program->pool_kind.items[VM_REF_INDEX(ref)] != VM_POOL_FILL);
}

/* Runs a lane function on constant rows. Predicate results become rows of -1 or 0, which read as masks. */
static uint32_t fold(optimiser *o, const vm_op *op) {
    _Alignas(64) uint32_t result[4 * VM_LANES] = {0}, source[3][2 * VM_LANES] = {{0}};
    const vm_program *program = o->d->program;
    const uint32_t refs[3] = {op->a, op->b, op->c};
    for (unsigned k = 0; k < 3; k++)
        if (refs[k] != NONE) {
            uint32_t row = VM_REF_INDEX(refs[k]);
            bool wide = program->pool_kind.items[row] == VM_POOL_64;
            memcpy(source[k], program->pool.items + (size_t)row * VM_LANES, (wide ? 2 : 1) * VM_ROW_BYTES);
        }
    const vm_level *level = vm_level_choose("");
    if (level == NULL)
        return NONE;
    level->lanes[op->sub](result, source[0], source[1], source[2], op->imm);
    unsigned rows = vm_lane_shapes[op->sub].rows;
    if (rows > 2)
        return NONE;
    if (rows == 0 && result[0] != 0 && result[0] != VM_ALL_LANES)
        return NONE;
    return vm_decode_constant(o->d, rows == 2 ? result[0] | (uint64_t)result[1] << 32 : result[0], rows == 2);
}

static uint32_t resolve(const optimiser *o, uint32_t ref) {
    while (is_register(ref) && o->alias[VM_REF_INDEX(ref)] != NONE)
        ref = o->alias[VM_REF_INDEX(ref)];
    return ref;
}

static bool is_copy(unsigned lane) {
    return lane == VM_LANE_MOV32 || lane == VM_LANE_MOV64 || lane == VM_LANE_PMOV || lane == VM_LANE_MOV128;
}

static void propagate(optimiser *o) {
    vm_decoder *d = o->d;
    for (size_t i = 0; i < d->ops.count; i++) {
        vm_op *op = &d->ops.items[i];
        vm_operands operands;
        vm_operands_of(d, op, &operands);
        for (unsigned k = 0; k < operands.read_count; k++)
            *operands.reads[k] = resolve(o, *operands.reads[k]);
        if (op->code != VM_CODE_LANE || !single(o, op->d) || o->guarded[i])
            continue;
        uint32_t to = VM_REF_NONE;
        if (known_source(o, op->a) && known_source(o, op->b) && known_source(o, op->c) &&
            vm_lane_shapes[op->sub].sources)
            to = fold(o, op);
        else if (is_copy(op->sub) && (!is_register(op->a) || single(o, op->a)))
            to = op->a;
        if (to != NONE && to != op->d)
            o->alias[VM_REF_INDEX(op->d)] = to;
    }
    /* uses that stand before the definition in the text */
    for (size_t i = 0; i < d->ops.count; i++) {
        vm_operands operands;
        vm_operands_of(d, &d->ops.items[i], &operands);
        for (unsigned k = 0; k < operands.read_count; k++)
            *operands.reads[k] = resolve(o, *operands.reads[k]);
    }
}

/* Does `ref` still have at operation `use` the value that it had at `from`? */
static bool unchanged(const optimiser *o, uint32_t ref, uint32_t from, uint32_t use) {
    if (!is_register(ref) || single(o, ref))
        return true;
    if (use <= from || use - from > 64)
        return false;
    for (uint32_t i = from + 1; i <= use; i++) {
        vm_operands operands;
        if (o->leader[i])
            return false;
        vm_operands_of(o->d, &o->d->ops.items[i], &operands);
        for (unsigned k = 0; i < use && k < operands.write_count; k++)
            if (VM_REF_INDEX(*operands.writes[k] & ~VM_REF_WRITTEN) == VM_REF_INDEX(ref))
                return false;
    }
    return true;
}

/* The lane operation that defines a register once, or NULL. */
static const vm_op *definition(const optimiser *o, uint32_t ref, uint32_t *at) {
    if (!is_register(ref) || !single(o, ref))
        return NULL;
    *at = o->defined_at[VM_REF_INDEX(ref)];
    const vm_op *op = &o->d->ops.items[*at];
    return op->code == VM_CODE_LANE ? op : NULL;
}

/* A 64-bit value that is a 32-bit row times a power of two, extended. */
static bool scaled_index(const optimiser *o, uint32_t ref, uint32_t use, vm_op *access) {
    uint32_t at, inner_at;
    const vm_op *op = definition(o, ref, &at);
    unsigned shift = 0;
    uint64_t value;
    if (op == NULL)
        return false;
    if (op->sub == VM_LANE_SHL64 && vm_decode_known(o->d->program, op->b, false, &value) && value < 8) {
        shift = (unsigned)value;
        if (!unchanged(o, op->a, at, use))
            return false;
        op = definition(o, op->a, &inner_at);
        if (op == NULL || (op->sub != VM_LANE_SEXT32 && op->sub != VM_LANE_ZEXT32))
            return false;
        at = inner_at;
    }
    uint32_t index = op->a;
    bool sign;
    switch (op->sub) {
    case VM_LANE_SEXT32:
        sign = true;
        break;
    case VM_LANE_ZEXT32:
        sign = false;
        break;
    case VM_LANE_MULWS32:
    case VM_LANE_MULWU32:
        if (!vm_decode_known(o->d->program, op->b, false, &value)) {
            if (!vm_decode_known(o->d->program, op->a, false, &value))
                return false;
            index = op->b;
        }
        if (value == 0 || (value & (value - 1)) != 0 || value > 128)
            return false;
        shift += (unsigned)__builtin_ctzll(value);
        sign = op->sub == VM_LANE_MULWS32;
        break;
    default:
        return false;
    }
    if (!unchanged(o, index, at, use))
        return false;
    access->b = index;
    access->c = shift << 1 | sign;
    return true;
}

/* [x + y] in 64 bits: constants into the offset, a scaled index into the access. */
static void fuse_wide(optimiser *o, vm_op *op, uint32_t use) {
    for (int steps = 0; steps < 8; steps++) {
        uint32_t at;
        uint64_t value;
        if (vm_decode_known(o->d->program, op->a, true, &value)) {
            op->imm += value;
            op->a = NONE;
            op->sub = (uint16_t)((op->sub & ~VM_ACCESS_FORM_MASK) | VM_ADDRESS_FIXED << VM_ACCESS_FORM_SHIFT);
            return;
        }
        const vm_op *sum = definition(o, op->a, &at);
        if (sum == NULL || sum->sub != VM_LANE_ADD64)
            return;
        uint32_t x = sum->a, y = sum->b;
        if (vm_decode_known(o->d->program, x, true, &value)) {
            uint32_t swap = x;
            x = y;
            y = swap;
        }
        if (vm_decode_known(o->d->program, y, true, &value)) {
            if (!unchanged(o, x, at, use))
                return;
            op->imm += value;
            op->a = x;
            continue;
        }
        uint32_t base = x;
        if (unchanged(o, x, at, use) && scaled_index(o, y, use, op)) {
            base = x;
        } else if (unchanged(o, y, at, use) && scaled_index(o, x, use, op)) {
            base = y;
        } else {
            return;
        }
        op->a = base;
        op->sub = (uint16_t)((op->sub & ~VM_ACCESS_FORM_MASK) | VM_ADDRESS_INDEXED << VM_ACCESS_FORM_SHIFT);
        return;
    }
}

static void fuse_narrow(optimiser *o, vm_op *op, uint32_t use) {
    for (int steps = 0; steps < 8; steps++) {
        uint32_t at;
        uint64_t value;
        if (vm_decode_known(o->d->program, op->a, false, &value)) {
            op->imm = (uint32_t)(op->imm + value);
            op->a = NONE;
            op->sub = (uint16_t)((op->sub & ~VM_ACCESS_FORM_MASK) | VM_ADDRESS_FIXED << VM_ACCESS_FORM_SHIFT);
            return;
        }
        const vm_op *sum = definition(o, op->a, &at);
        if (sum == NULL || sum->sub != VM_LANE_ADD32)
            return;
        uint32_t x = sum->a, y = sum->b;
        if (!vm_decode_known(o->d->program, y, false, &value)) {
            if (!vm_decode_known(o->d->program, x, false, &value))
                return;
            x = y;
        }
        if (!unchanged(o, x, at, use))
            return;
        op->imm = (uint32_t)(op->imm + value);
        op->a = x;
    }
}

static void fuse_addresses(optimiser *o) {
    for (size_t i = 0; i < o->d->ops.count; i++) {
        vm_op *op = &o->d->ops.items[i];
        if (op->code != VM_CODE_LOAD && op->code != VM_CODE_STORE)
            continue;
        if (VM_ACCESS_FORM(op->sub) == VM_ADDRESS_64)
            fuse_wide(o, op, (uint32_t)i);
        else if (VM_ACCESS_FORM(op->sub) == VM_ADDRESS_32)
            fuse_narrow(o, op, (uint32_t)i);
    }
}

static void drop_unused(optimiser *o) {
    vm_decoder *d = o->d;
    vm_operands operands;
    for (size_t i = 0; i < d->ops.count; i++) {
        vm_operands_of(d, &d->ops.items[i], &operands);
        for (unsigned k = 0; k < operands.read_count; k++)
            if (is_register(*operands.reads[k]))
                o->uses[VM_REF_INDEX(*operands.reads[k])]++;
    }
    bool changed = true;
    for (int rounds = 0; changed && rounds < 16; rounds++) {
        changed = false;
        for (size_t i = d->ops.count; i-- > 0;) {
            vm_op *op = &d->ops.items[i];
            if (op->code != VM_CODE_LANE || op->d == NONE || o->uses[VM_REF_INDEX(op->d)] != 0)
                continue;
            vm_operands_of(d, op, &operands);
            for (unsigned k = 0; k < operands.read_count; k++)
                if (is_register(*operands.reads[k]))
                    o->uses[VM_REF_INDEX(*operands.reads[k])]--;
            op->code = VM_CODE_UNGUARD; /* outside a region it does nothing; vm_allocate.c leaves it out */
            op->sub = VM_DROPPED;
            op->d = op->a = op->b = op->c = NONE;
            changed = true;
        }
    }
}

void vm_optimise(vm_decoder *d) {
    base_arena *arena = d->arena;
    size_t registers = d->rows_of.count, count = d->ops.count;
    optimiser o = {.d = d};
    o.definitions = BASE_NEW_ARRAY(arena, uint32_t, registers);
    o.defined_at = BASE_NEW_ARRAY(arena, uint32_t, registers);
    o.uses = BASE_NEW_ARRAY(arena, uint32_t, registers);
    o.alias = BASE_NEW_ARRAY(arena, uint32_t, registers);
    o.guarded = BASE_NEW_ARRAY(arena, bool, count + 1);
    o.leader = BASE_NEW_ARRAY(arena, bool, count + 1);
    for (size_t i = 0; i < registers; i++)
        o.alias[i] = NONE;
    o.single = BASE_NEW_ARRAY(arena, bool, registers);
    d->graph = vm_graph_build(d);
    count_definitions(&o);
    find_single(&o);
    propagate(&o);
    fuse_addresses(&o);
    drop_unused(&o);
    d->alias = o.alias;
    vm_merge(d, o.single);
}
