/* SPDX-License-Identifier: Apache-2.0
 * Control-flow graph of a function with immediate post-dominators. The virtual exit stands behind every block
 * that leaves the function; blocks that reach no exit (endless loops) count as leaving too, so that every
 * block has a post-dominator. Iterative throughout: no recursion over the input. */
#include "ptx/ptx_private.h"
#include <string.h>

typedef struct builder {
    const ptx_function *function;
    ptx_graph *graph;
    base_arena *arena;
    uint32_t count; /* instructions */
} builder;

static bool leaves(const ptx_instruction *instruction) {
    if (instruction->op == PTX_OP_CALL) {
        /* A call of a .noreturn function ends the path. */
        for (unsigned i = 0; i < instruction->operand_count; i++) {
            const ptx_operand *operand = &instruction->operands[i];
            if ((operand->kind == PTX_OPERAND_FUNCTION && operand->of.function->noreturn) ||
                (operand->kind == PTX_OPERAND_TABLE && operand->of.table != NULL &&
                 operand->of.table->kind == PTX_TABLE_PROTOTYPE && operand->of.table->prototype->noreturn)) {
                return true;
            }
        }
    }
    return instruction->op == PTX_OP_RET || instruction->op == PTX_OP_EXIT || instruction->op == PTX_OP_TRAP;
}

static bool branches(const ptx_instruction *instruction) {
    return instruction->op == PTX_OP_BRA || instruction->op == PTX_OP_BRX_IDX;
}

static const ptx_table_declaration *table_of(const ptx_instruction *instruction) {
    for (unsigned i = 0; i < instruction->operand_count; i++) {
        if (instruction->operands[i].kind == PTX_OPERAND_TABLE) {
            return instruction->operands[i].of.table;
        }
    }
    return NULL;
}

static void mark(bool *leader, const ptx_label *label, uint32_t count) {
    if (label != NULL && label->target < count) {
        leader[label->target] = true;
    }
}

/* Only labels that something branches to begin blocks: inline assembly brings many that nothing does. */
static void mark_leaders(const builder *b, bool *leader) {
    if (b->count > 0) {
        leader[0] = true;
    }
    for (uint32_t i = 0; i < b->count; i++) {
        const ptx_instruction *instruction = &b->function->instructions.items[i];
        if (!branches(instruction) && !leaves(instruction)) {
            continue;
        }
        if (i + 1 < b->count) {
            leader[i + 1] = true;
        }
        if (instruction->op == PTX_OP_BRA && instruction->operand_count > 0) {
            mark(leader, instruction->operands[0].of.label, b->count);
        }
        const ptx_table_declaration *table = instruction->op == PTX_OP_BRX_IDX ? table_of(instruction) : NULL;
        for (size_t k = 0; table != NULL && k < table->labels.count; k++) {
            mark(leader, table->labels.items[k], b->count);
        }
    }
}

static uint32_t make_blocks(builder *b, const bool *leader) {
    ptx_graph *graph = b->graph;
    uint32_t blocks = 0;
    for (uint32_t i = 0; i < b->count; i++) {
        blocks += leader[i];
    }
    graph->block_count = blocks;
    graph->blocks = BASE_NEW_ARRAY(b->arena, ptx_block, blocks);
    graph->block_of = BASE_NEW_ARRAY(b->arena, uint32_t, b->count);
    uint32_t current = 0;
    for (uint32_t i = 0; i < b->count; i++) {
        if (leader[i]) {
            graph->blocks[current++].begin = i;
        }
        graph->blocks[current - 1].end = i + 1;
        graph->block_of[i] = current - 1;
    }
    return blocks;
}

/* Target as a block, or the virtual exit for a label at the end. */
static uint32_t block_at(const builder *b, const ptx_label *label) {
    return label != NULL && label->target < b->count ? b->graph->block_of[label->target]
                                                     : b->graph->block_count;
}

/* seen[target] == mark: the edge is there already. The virtual exit is no edge of the lists. */
static void add_edge(const builder *b, ptx_block *block, uint32_t target, uint32_t *seen,
                     uint32_t mark_value) {
    if (target < b->graph->block_count && seen[target] != mark_value) {
        seen[target] = mark_value;
        block->successors[block->successor_count++] = target;
    }
}

static void connect(builder *b) {
    ptx_graph *graph = b->graph;
    uint32_t *seen = BASE_NEW_ARRAY(b->arena, uint32_t, graph->block_count);
    for (uint32_t i = 0; i < graph->block_count; i++) {
        ptx_block *block = &graph->blocks[i];
        const ptx_instruction *last = &b->function->instructions.items[block->end - 1];
        const ptx_table_declaration *table = last->op == PTX_OP_BRX_IDX ? table_of(last) : NULL;
        block->successors = BASE_NEW_ARRAY(b->arena, uint32_t, 2 + (table != NULL ? table->labels.count : 0));
        bool falls = last->guard != NULL || (!branches(last) && !leaves(last));
        if (falls && i + 1 < graph->block_count) {
            add_edge(b, block, i + 1, seen, i + 1);
        }
        if (last->op == PTX_OP_BRA && last->operand_count > 0) {
            add_edge(b, block, block_at(b, last->operands[0].of.label), seen, i + 1);
        }
        for (size_t k = 0; table != NULL && k < table->labels.count; k++) {
            add_edge(b, block, block_at(b, table->labels.items[k]), seen, i + 1);
        }
    }
    for (uint32_t i = 0; i < graph->block_count; i++) {
        for (uint32_t k = 0; k < graph->blocks[i].successor_count; k++) {
            graph->blocks[graph->blocks[i].successors[k]].predecessor_count++;
        }
    }
    for (uint32_t i = 0; i < graph->block_count; i++) {
        graph->blocks[i].predecessors =
            BASE_NEW_ARRAY(b->arena, uint32_t, graph->blocks[i].predecessor_count);
        graph->blocks[i].predecessor_count = 0;
    }
    for (uint32_t i = 0; i < graph->block_count; i++) {
        for (uint32_t k = 0; k < graph->blocks[i].successor_count; k++) {
            ptx_block *to = &graph->blocks[graph->blocks[i].successors[k]];
            to->predecessors[to->predecessor_count++] = i;
        }
    }
}

static void find_reachable(builder *b) {
    ptx_graph *graph = b->graph;
    uint32_t *stack = BASE_NEW_ARRAY(b->arena, uint32_t, graph->block_count + 1), depth = 0;
    if (graph->block_count == 0) {
        return;
    }
    graph->blocks[0].reachable = true;
    stack[depth++] = 0;
    while (depth > 0) {
        const ptx_block *block = &graph->blocks[stack[--depth]];
        for (uint32_t k = 0; k < block->successor_count; k++) {
            ptx_block *next = &graph->blocks[block->successors[k]];
            if (!next->reachable) {
                next->reachable = true;
                stack[depth++] = block->successors[k];
            }
        }
    }
}

/* Does control leave the function at the end of this block, on some path? */
static bool block_exits(const builder *b, const ptx_block *block, uint32_t index) {
    const ptx_instruction *last = &b->function->instructions.items[block->end - 1];
    if (leaves(last)) {
        return true;
    }
    bool falls = last->guard != NULL || !branches(last);
    if (falls && index + 1 == b->graph->block_count) {
        return true;
    }
    if (last->op == PTX_OP_BRA) {
        return last->operand_count == 0 || block_at(b, last->operands[0].of.label) == b->graph->block_count;
    }
    const ptx_table_declaration *table = last->op == PTX_OP_BRX_IDX ? table_of(last) : NULL;
    bool exits = block->successor_count == 0;
    for (size_t k = 0; table != NULL && k < table->labels.count && !exits; k++) {
        exits = block_at(b, table->labels.items[k]) == b->graph->block_count;
    }
    return exits;
}

/* ---- post-dominators: Cooper, Harvey and Kennedy's iteration on the reverse graph ---- */

typedef struct order {
    uint32_t *sequence; /* blocks in postorder of the reverse graph */
    uint32_t *number;   /* place of a block in it; the exit has the largest */
    bool *exits;        /* block has an edge to the virtual exit */
    bool *visited;
    uint32_t *stack, *next;
    uint32_t count;
} order;

/* Depth-first over predecessors from `root`, appending to the postorder. */
static void visit_backwards(const ptx_graph *graph, order *o, uint32_t root) {
    uint32_t depth = 0;
    o->visited[root] = true;
    o->stack[depth] = root;
    o->next[depth++] = 0;
    while (depth > 0) {
        const ptx_block *block = &graph->blocks[o->stack[depth - 1]];
        if (o->next[depth - 1] < block->predecessor_count) {
            uint32_t before = block->predecessors[o->next[depth - 1]++];
            if (!o->visited[before]) {
                o->visited[before] = true;
                o->stack[depth] = before;
                o->next[depth++] = 0;
            }
        } else {
            o->number[o->stack[--depth]] = o->count;
            o->sequence[o->count++] = o->stack[depth];
        }
    }
}

static uint32_t intersect(const uint32_t *dominator, const uint32_t *number, uint32_t a, uint32_t b) {
    while (a != b) {
        while (number[a] < number[b]) {
            a = dominator[a];
        }
        while (number[b] < number[a]) {
            b = dominator[b];
        }
    }
    return a;
}

static void find_post_dominators(builder *b) {
    ptx_graph *graph = b->graph;
    uint32_t blocks = graph->block_count, none = UINT32_MAX;
    order o = {.sequence = BASE_NEW_ARRAY(b->arena, uint32_t, blocks + 1),
               .number = BASE_NEW_ARRAY(b->arena, uint32_t, blocks + 1),
               .exits = BASE_NEW_ARRAY(b->arena, bool, blocks + 1),
               .visited = BASE_NEW_ARRAY(b->arena, bool, blocks + 1),
               .stack = BASE_NEW_ARRAY(b->arena, uint32_t, blocks + 1),
               .next = BASE_NEW_ARRAY(b->arena, uint32_t, blocks + 1)};
    uint32_t *dominator = BASE_NEW_ARRAY(b->arena, uint32_t, blocks + 1);
    for (uint32_t i = 0; i < blocks; i++) {
        o.exits[i] = block_exits(b, &graph->blocks[i], i);
        dominator[i] = none;
    }
    for (uint32_t i = 0; i < blocks; i++) {
        if (o.exits[i] && !o.visited[i]) {
            visit_backwards(graph, &o, i);
        }
    }
    /* An endless loop reaches no exit: its last block gets an edge there. */
    for (uint32_t i = blocks; i-- > 0;) {
        if (!o.visited[i]) {
            o.exits[i] = true;
            visit_backwards(graph, &o, i);
        }
    }
    o.number[blocks] = o.count;
    dominator[blocks] = blocks;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = o.count; k-- > 0;) {
            uint32_t block = o.sequence[k], best = o.exits[block] ? blocks : none;
            for (uint32_t s = 0; s < graph->blocks[block].successor_count; s++) {
                uint32_t after = graph->blocks[block].successors[s];
                if (dominator[after] != none) {
                    best = best == none ? after : intersect(dominator, o.number, best, after);
                }
            }
            if (dominator[block] != best) {
                dominator[block] = best;
                changed = true;
            }
        }
    }
    for (uint32_t i = 0; i < blocks; i++) {
        graph->blocks[i].post_dominator = dominator[i] == none ? blocks : dominator[i];
    }
}

const ptx_graph *ptx_graph_build(base_arena *arena, const ptx_function *function) {
    builder b = {function, BASE_NEW(arena, ptx_graph), arena, (uint32_t)function->instructions.count};
    bool *leader = BASE_NEW_ARRAY(arena, bool, b.count + 1);
    mark_leaders(&b, leader);
    make_blocks(&b, leader);
    connect(&b);
    find_reachable(&b);
    find_post_dominators(&b);
    return b.graph;
}
