/* SPDX-License-Identifier: Apache-2.0
 * The last look over a kernel: results that nobody reads, and branches to the next instruction, go. Must not
 * move anything. */
#include "assemble/ptx_build_internal.h"
#include <string.h>

typedef struct tidy {
    ptx_builder *b;
    ptx_function *function;
    uint32_t *reads; /* per register: operands and guards that read it */
    bool *gone;      /* per instruction */
} tidy;

/* Loads that the script wrote as such may wait for another thread. */
static bool is_strong(const ptx_instruction *i) {
    return ptx_has(i, PTX_MOD_VOLATILE) || ptx_has(i, PTX_MOD_RELAXED) || ptx_has(i, PTX_MOD_ACQUIRE);
}

/* Instructions that only compute their first operand. Loads count where they only read. */
static bool only_computes(const ptx_instruction *i) {
    switch (i->op) {
    case PTX_OP_ADD:
    case PTX_OP_SUB:
    case PTX_OP_MUL:
    case PTX_OP_MAD:
    case PTX_OP_FMA:
    case PTX_OP_DIV:
    case PTX_OP_REM:
    case PTX_OP_ABS:
    case PTX_OP_NEG:
    case PTX_OP_MIN:
    case PTX_OP_MAX:
    case PTX_OP_AND:
    case PTX_OP_OR:
    case PTX_OP_XOR:
    case PTX_OP_NOT:
    case PTX_OP_SHL:
    case PTX_OP_SHR:
    case PTX_OP_BFE:
    case PTX_OP_BFI:
    case PTX_OP_POPC:
    case PTX_OP_CLZ:
    case PTX_OP_SETP:
    case PTX_OP_SELP:
    case PTX_OP_MOV:
    case PTX_OP_CVT:
    case PTX_OP_CVTA:
    case PTX_OP_SQRT:
    case PTX_OP_RSQRT:
    case PTX_OP_RCP:
    case PTX_OP_EX2:
    case PTX_OP_LG2:
    case PTX_OP_COPYSIGN:
        return i->guard == NULL;
    case PTX_OP_LD:
        return i->guard == NULL && !is_strong(i);
    default:
        return false;
    }
}

static void count_operand(tidy *t, const ptx_operand *operand, int change) {
    if (operand->kind == PTX_OPERAND_REGISTER)
        t->reads[operand->of.reg->id] += (uint32_t)change;
    for (unsigned k = 0; k < operand->count; k++)
        count_operand(t, &operand->args[k], change);
}

static void count_instruction(tidy *t, const ptx_instruction *i, int change) {
    bool writes_first = only_computes(i) || i->op == PTX_OP_ATOM || i->op == PTX_OP_SHFL ||
                        i->op == PTX_OP_VOTE || i->op == PTX_OP_REDUX || i->op == PTX_OP_ACTIVEMASK ||
                        (i->op == PTX_OP_BAR && ptx_has(i, PTX_MOD_RED));
    for (unsigned k = writes_first ? 1 : 0; k < i->operand_count; k++)
        count_operand(t, &i->operands[k], change);
    if (i->guard)
        t->reads[i->guard->id] += (uint32_t)change;
}

static bool is_read(const tidy *t, const ptx_operand *operand) {
    if (operand->kind == PTX_OPERAND_REGISTER)
        return t->reads[operand->of.reg->id] != 0;
    for (unsigned k = 0; k < operand->count; k++)
        if (is_read(t, &operand->args[k]))
            return true;
    return false;
}

/* One backward walk frees whole chains; a chain that runs round a loop needs another walk. */
static void drop_unread(tidy *t) {
    size_t count = t->function->instructions.count;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t n = count; n-- > 0;) {
            const ptx_instruction *i = &t->function->instructions.items[n];
            if (t->gone[n] || (i->operand_count > 0 && is_read(t, &i->operands[0])) || !only_computes(i))
                continue;
            t->gone[n] = changed = true;
            count_instruction(t, i, -1);
        }
    }
}

/* True when one went, and with it perhaps the last use of its predicate. */
static bool drop_empty_branches(tidy *t) {
    bool dropped = false;
    size_t count = t->function->instructions.count;
    for (size_t n = 0; n < count; n++) {
        const ptx_instruction *i = &t->function->instructions.items[n];
        if (t->gone[n] || i->op != PTX_OP_BRA || i->operands[0].kind != PTX_OPERAND_LABEL)
            continue;
        size_t target = i->operands[0].of.label->target, next = n + 1;
        while (next < target && t->gone[next])
            next++;
        if (target == next && target > n) {
            t->gone[n] = dropped = true;
            count_instruction(t, i, -1);
        }
    }
    return dropped;
}

static bool mentions_unread(const tidy *t, const bool *written, const ptx_index *index) {
    if (!index)
        return false;
    if (index->op == PTX_INDEX_REGISTER)
        return !written[index->reg->id];
    return mentions_unread(t, written, index->a) || mentions_unread(t, written, index->b);
}

/* Provenance does not keep registers alive: indices over registers that are gone keep their text only. */
static void forget_registers(tidy *t) {
    bool *written = BASE_NEW_ARRAY(t->b->arena, bool, t->function->registers.count + 1);
    for (size_t n = 0; n < t->function->instructions.count; n++) {
        const ptx_instruction *i = &t->function->instructions.items[n];
        if (!i->operand_count)
            continue;
        const ptx_operand *first = &i->operands[0];
        if (first->kind == PTX_OPERAND_REGISTER)
            written[first->of.reg->id] = true;
        for (unsigned k = 0; first->kind == PTX_OPERAND_VECTOR && k < first->count; k++)
            if (first->args[k].kind == PTX_OPERAND_REGISTER)
                written[first->args[k].of.reg->id] = true;
    }
    for (size_t n = 0; n < t->function->instructions.count; n++) {
        const ptx_origin *origin = t->function->instructions.items[n].origin;
        for (uint32_t k = 0; origin && k < origin->rank; k++) {
            if (!mentions_unread(t, written, origin->indices[k]))
                continue;
            ptx_index *plain = BASE_NEW(t->b->arena, ptx_index);
            plain->text = origin->indices[k]->text;
            ((const ptx_index **)(uintptr_t)origin->indices)[k] = plain;
        }
    }
}

static void compact(tidy *t) {
    size_t count = t->function->instructions.count, kept = 0;
    uint32_t *moved = BASE_NEW_ARRAY(t->b->arena, uint32_t, count + 1);
    for (size_t n = 0; n < count; n++) {
        moved[n] = (uint32_t)kept;
        if (!t->gone[n])
            t->function->instructions.items[kept++] = t->function->instructions.items[n];
    }
    moved[count] = (uint32_t)kept;
    t->function->instructions.count = kept;
    for (size_t n = 0; n < t->function->labels.count; n++)
        t->function->labels.items[n]->target = moved[t->function->labels.items[n]->target];
}

/* Labels that no branch names any more, and registers that nothing mentions, are not printed. */
static void drop_labels(tidy *t) {
    base_map *named = base_map_create(t->b->arena);
    for (size_t n = 0; n < t->function->instructions.count; n++) {
        const ptx_instruction *i = &t->function->instructions.items[n];
        if (i->op == PTX_OP_BRA)
            base_map_set(named, BASE_KEY(i->operands[0].of.label), i->operands[0].of.label);
    }
    size_t kept = 0;
    for (size_t n = 0; n < t->function->labels.count; n++)
        if (base_map_get(named, BASE_KEY(t->function->labels.items[n])))
            t->function->labels.items[kept++] = t->function->labels.items[n];
    t->function->labels.count = kept;
}

static void mark_registers(bool *used, const ptx_operand *operand) {
    if (operand->kind == PTX_OPERAND_REGISTER)
        used[operand->of.reg->id] = true;
    for (unsigned k = 0; k < operand->count; k++)
        mark_registers(used, &operand->args[k]);
}

static void drop_registers(tidy *t) {
    bool *used = BASE_NEW_ARRAY(t->b->arena, bool, t->function->registers.count + 1);
    for (size_t n = 0; n < t->function->instructions.count; n++) {
        const ptx_instruction *i = &t->function->instructions.items[n];
        for (unsigned k = 0; k < i->operand_count; k++)
            mark_registers(used, &i->operands[k]);
        if (i->guard)
            used[i->guard->id] = true;
    }
    size_t kept = 0;
    for (size_t n = 0; n < t->function->registers.count; n++) {
        ptx_register *reg = t->function->registers.items[n];
        if (!used[reg->id])
            continue;
        t->function->registers.items[kept] = reg;
        kept++;
    }
    t->function->registers.count = kept;
    for (size_t n = 0; n < kept; n++)
        t->function->registers.items[n]->id = (uint32_t)n;
}

void ptx_build_tidy(ptx_builder *b) {
    ptx_build_copies(b);
    tidy t = {.b = b, .function = b->function};
    size_t count = b->function->instructions.count;
    t.reads = BASE_NEW_ARRAY(b->arena, uint32_t, b->function->registers.count + 1);
    t.gone = BASE_NEW_ARRAY(b->arena, bool, count + 1);
    for (size_t n = 0; n < count; n++) /* what ptx_build_copies took out */
        t.gone[n] = b->function->instructions.items[n].op == PTX_OP_MOV &&
                    b->function->instructions.items[n].operand_count == 0;
    for (size_t n = 0; n < count; n++)
        count_instruction(&t, &b->function->instructions.items[n], 1);
    drop_empty_branches(&t);
    drop_unread(&t);
    if (drop_empty_branches(&t))
        drop_unread(&t);
    compact(&t);
    drop_labels(&t);
    forget_registers(&t);
    drop_registers(&t);
}
