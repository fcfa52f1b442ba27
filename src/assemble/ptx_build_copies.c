/* SPDX-License-Identifier: Apache-2.0
 * Moves that only rename, and values that nobody can read because the next one overwrites them, go: within
 * stretches of straight code, in one walk. What is taken out is left as a mov without operands, which
 * ptx_build_tidy drops. Must not move an instruction or know what one computes. */
#include "assemble/ptx_build_internal.h"
#include <string.h>

enum { NOWHERE = UINT32_MAX };

typedef struct reg_facts {
    uint32_t writes, reads;    /* in the whole function; indices of origins are reads */
    uint32_t written_at;       /* the last instruction before here that writes it; NOWHERE */
    uint32_t mentioned_at;     /* the last that reads or writes it */
    uint32_t unread_at;        /* set there for certain, and not read since */
    uint32_t mentioned_before; /* the last that mentions it before unread_at */
} reg_facts;

typedef struct copies {
    ptx_builder *b;
    ptx_function *function;
    reg_facts *facts;
    uint32_t start; /* of this stretch: what is noted of instructions before it says nothing here */
    ptx_uses uses;
} copies;

static void count_index(copies *c, const ptx_index *index) {
    if (!index)
        return;
    if (index->op == PTX_INDEX_REGISTER)
        c->facts[index->reg->id].reads++;
    count_index(c, index->a);
    count_index(c, index->b);
}

static void count_all(copies *c) {
    for (size_t n = 0; n < c->function->instructions.count; n++) {
        const ptx_instruction *i = &c->function->instructions.items[n];
        ptx_instruction_uses(i, &c->uses);
        for (uint32_t k = 0; k < c->uses.read_count; k++)
            c->facts[c->uses.read[k]->id].reads++;
        for (uint32_t k = 0; k < c->uses.written_count; k++)
            c->facts[c->uses.written[k]->id].writes++;
        for (uint32_t k = 0; i->origin && k < i->origin->rank; k++)
            count_index(c, i->origin->indices[k]);
    }
}

static void forget(copies *c) {
    for (size_t n = 0; n < c->function->registers.count; n++) {
        reg_facts *facts = &c->facts[c->function->registers.items[n]->id];
        facts->written_at = facts->mentioned_at = facts->unread_at = NOWHERE;
    }
}

static bool is_here(const copies *c, uint32_t at) {
    return at != NOWHERE && at >= c->start;
}

static bool is_copy(const ptx_instruction *i) {
    return i->op == PTX_OP_MOV && i->operand_count == 2 && !i->guard &&
           i->operands[0].kind == PTX_OPERAND_REGISTER && i->operands[1].kind == PTX_OPERAND_REGISTER &&
           !i->operands[1].negated && i->operands[0].of.reg->type == i->operands[1].of.reg->type;
}

/* The operand of the instruction, or the element of its vector, that writes the register. */
static ptx_operand *written_operand(ptx_instruction *i, const ptx_register *reg) {
    ptx_operand *first = &i->operands[0];
    if (first->kind == PTX_OPERAND_REGISTER)
        return first->of.reg == reg ? first : NULL;
    for (unsigned k = 0; first->kind == PTX_OPERAND_VECTOR && k < first->count; k++)
        if (first->args[k].kind == PTX_OPERAND_REGISTER && first->args[k].of.reg == reg)
            return &first->args[k];
    return NULL;
}

static void take_out(ptx_instruction *i) {
    i->op = PTX_OP_MOV;
    i->operand_count = 0;
    i->guard = NULL;
}

/* to = from, and from is written once, just for this: the writer writes `to` instead. */
static bool rename(copies *c, ptx_instruction *i) {
    ptx_register *to = i->operands[0].of.reg, *from = i->operands[1].of.reg;
    const reg_facts *target = &c->facts[to->id], *source = &c->facts[from->id];
    if (to == from)
        return true;
    if (source->writes != 1 || source->reads != 1 || !is_here(c, source->written_at))
        return false;
    bool is_set = is_here(c, target->unread_at); /* to what nobody will read */
    uint32_t mention = is_set ? target->mentioned_before : target->mentioned_at;
    if (is_here(c, mention) && (mention > source->written_at ||
                                (mention == source->written_at && (is_set || target->written_at == mention))))
        return false;
    ptx_instruction *writer = &c->function->instructions.items[source->written_at];
    ptx_operand *place = writer->guard ? NULL : written_operand(writer, from);
    if (!place)
        return false;
    place->of.reg = to;
    reg_facts *written = &c->facts[to->id];
    if (is_here(c, written->unread_at))
        take_out(&c->function->instructions.items[written->unread_at]);
    written->written_at = source->written_at;
    written->mentioned_at = source->written_at;
    written->unread_at = NOWHERE;
    return true;
}

/* Writes one register, reads no memory and does nothing else, so that it may go with its value. */
static bool only_sets(const ptx_instruction *i) {
    return (i->op == PTX_OP_MOV || i->op == PTX_OP_CVT) && !i->guard && i->operand_count == 2 &&
           i->operands[0].kind == PTX_OPERAND_REGISTER && i->operands[1].kind != PTX_OPERAND_SPECIAL;
}

static void note_index(copies *c, const ptx_index *index, uint32_t n) {
    if (!index)
        return;
    if (index->op == PTX_INDEX_REGISTER) {
        c->facts[index->reg->id].mentioned_at = n;
        c->facts[index->reg->id].unread_at = NOWHERE;
    }
    note_index(c, index->a, n);
    note_index(c, index->b, n);
}

static void note(copies *c, uint32_t n) {
    ptx_instruction *items = c->function->instructions.items;
    for (uint32_t k = 0; items[n].origin && k < items[n].origin->rank; k++)
        note_index(c, items[n].origin->indices[k], n);
    ptx_instruction_uses(&items[n], &c->uses);
    for (uint32_t k = 0; k < c->uses.read_count; k++) {
        c->facts[c->uses.read[k]->id].mentioned_at = n;
        c->facts[c->uses.read[k]->id].unread_at = NOWHERE;
    }
    for (uint32_t k = 0; k < c->uses.written_count; k++) {
        reg_facts *facts = &c->facts[c->uses.written[k]->id];
        if (is_here(c, facts->unread_at) && !items[n].guard)
            take_out(&items[facts->unread_at]);
        facts->mentioned_before = facts->mentioned_at;
        facts->written_at = facts->mentioned_at = n;
        facts->unread_at = only_sets(&items[n]) ? n : NOWHERE;
    }
}

static bool ends_stretch(const ptx_instruction *i) {
    return i->op == PTX_OP_BRA || i->op == PTX_OP_CALL || i->op == PTX_OP_RET || i->op == PTX_OP_EXIT ||
           i->op == PTX_OP_BRX_IDX;
}

void ptx_build_copies(ptx_builder *b) {
    copies *c = BASE_NEW(b->arena, copies);
    size_t count = b->function->instructions.count;
    c->b = b, c->function = b->function;
    c->facts = BASE_NEW_ARRAY(b->arena, reg_facts, b->function->registers.count + 1);
    bool *starts = BASE_NEW_ARRAY(b->arena, bool, count + 1);
    for (size_t n = 0; n < b->function->labels.count; n++)
        starts[b->function->labels.items[n]->target] = true;
    count_all(c);
    forget(c);
    for (uint32_t n = 0; n < count; n++) {
        ptx_instruction *i = &b->function->instructions.items[n];
        if (starts[n])
            c->start = n;
        if (is_copy(i) && rename(c, i)) {
            take_out(i);
            continue;
        }
        note(c, n);
        if (ends_stretch(i))
            c->start = n + 1;
    }
}
