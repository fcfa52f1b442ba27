/* SPDX-License-Identifier: Apache-2.0
 * Control flow of a function's operations: blocks, the order in which they are laid out, dominators. The
 * order puts a block after everything that leads to it without going round a loop, and keeps loops together:
 * strongly connected components in topological order, and again inside each without the edges into its entry.
 * Then "lowest pc first" is reconvergence. */
#include "vm/vm_decode.h"

static bool ends_block(const vm_op *op) {
    return op->code == VM_CODE_BRANCH || op->code == VM_CODE_BRANCH_IF || op->code == VM_CODE_SWITCH ||
           op->code == VM_CODE_EXIT || op->code == VM_CODE_RETURN ||
           (op->code == VM_CODE_EXTERNAL && op->sub == VM_EXTERNAL_UNSUPPORTED && op->x == 0);
}

static void find_blocks(vm_decoder *d, vm_graph *g) {
    size_t count = d->ops.count;
    bool *leader = BASE_NEW_ARRAY(d->arena, bool, count + 1);
    leader[0] = true;
    for (size_t i = 0; i < count; i++) {
        const vm_op *op = &d->ops.items[i];
        if (op->code == VM_CODE_BRANCH || op->code == VM_CODE_BRANCH_IF)
            leader[op->x] = true;
        if (op->code == VM_CODE_SWITCH)
            for (uint32_t k = 0; k < d->extras.items[op->x]; k++)
                leader[d->extras.items[op->x + 1 + k]] = true;
        if (ends_block(op))
            leader[i + 1] = true;
    }
    g->block_of = BASE_NEW_ARRAY(d->arena, uint32_t, count + 1);
    for (size_t i = 0; i < count; i++)
        g->count += leader[i];
    g->blocks = BASE_NEW_ARRAY(d->arena, vm_block, g->count);
    uint32_t block = UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        if (leader[i])
            g->blocks[++block].begin = (uint32_t)i;
        g->blocks[block].end = (uint32_t)i + 1;
        g->block_of[i] = block;
    }
}

static void connect(vm_decoder *d, vm_graph *g) {
    for (uint32_t b = 0; b < g->count; b++) {
        vm_block *block = &g->blocks[b];
        const vm_op *last = &d->ops.items[block->end - 1];
        uint32_t most = last->code == VM_CODE_SWITCH ? d->extras.items[last->x] : 2;
        block->successors = BASE_NEW_ARRAY(d->arena, uint32_t, most);
        bool stops = ends_block(last) && last->code != VM_CODE_BRANCH_IF;
        if (last->code == VM_CODE_BRANCH || last->code == VM_CODE_BRANCH_IF)
            block->successors[block->successor_count++] = g->block_of[last->x];
        for (uint32_t k = 0; last->code == VM_CODE_SWITCH && k < most; k++)
            block->successors[block->successor_count++] = g->block_of[d->extras.items[last->x + 1 + k]];
        if (!stops && b + 1 < g->count)
            block->successors[block->successor_count++] = b + 1; /* falls through: the last one */
    }
    for (uint32_t b = 0; b < g->count; b++)
        for (uint32_t k = 0; k < g->blocks[b].successor_count; k++)
            g->blocks[g->blocks[b].successors[k]].predecessor_count++;
    for (uint32_t b = 0; b < g->count; b++) {
        g->blocks[b].predecessors = BASE_NEW_ARRAY(d->arena, uint32_t, g->blocks[b].predecessor_count);
        g->blocks[b].predecessor_count = 0;
    }
    for (uint32_t b = 0; b < g->count; b++)
        for (uint32_t k = 0; k < g->blocks[b].successor_count; k++) {
            vm_block *to = &g->blocks[g->blocks[b].successors[k]];
            to->predecessors[to->predecessor_count++] = b;
        }
}

/* ---- order ---- */
typedef struct ordering {
    vm_graph *g;
    base_arena *arena;
    uint32_t *region;      /* the component being ordered that a block belongs to */
    uint32_t *index, *low; /* Tarjan's numbers; index 0: not seen */
    uint32_t *next;        /* next successor to look at */
    bool *on_stack;
    uint32_t *stack, *path;
    uint32_t *reversed; /* components, last first, blocks of one side by side */
    uint32_t regions, counter;
} ordering;

static void order_region(ordering *o, uint32_t region, uint32_t entry, uint32_t *list, uint32_t count,
                         int depth);

/* Components of one region from its entry, edges into the entry left out; appended in reverse topological
 * order. Returns the number of blocks, component sizes in sizes. */
static uint32_t components(ordering *o, uint32_t region, uint32_t entry, uint32_t *sizes,
                           uint32_t *component_count) {
    uint32_t made = 0, stack_size = 0, path_size = 0;
    *component_count = 0;
    o->path[path_size++] = entry;
    o->index[entry] = o->low[entry] = ++o->counter;
    o->stack[stack_size++] = entry;
    o->on_stack[entry] = true;
    while (path_size) {
        uint32_t b = o->path[path_size - 1];
        const vm_block *block = &o->g->blocks[b];
        if (o->next[b] < block->successor_count) {
            uint32_t to = block->successors[o->next[b]++];
            if (o->region[to] != region || to == entry)
                continue;
            if (o->index[to] == 0) {
                o->index[to] = o->low[to] = ++o->counter;
                o->stack[stack_size++] = to;
                o->on_stack[to] = true;
                o->path[path_size++] = to;
            } else if (o->on_stack[to] && o->index[to] < o->low[b]) {
                o->low[b] = o->index[to];
            }
            continue;
        }
        path_size--;
        if (path_size && o->low[b] < o->low[o->path[path_size - 1]])
            o->low[o->path[path_size - 1]] = o->low[b];
        if (o->low[b] != o->index[b])
            continue;
        uint32_t size = 0, top;
        do {
            top = o->stack[--stack_size];
            o->on_stack[top] = false;
            o->reversed[made + size++] = top; /* the entry of the component comes last */
        } while (top != b);
        made += size;
        sizes[(*component_count)++] = size;
    }
    return made;
}

static void order_region(ordering *o, uint32_t region, uint32_t entry, uint32_t *list, uint32_t count,
                         int depth) {
    uint32_t *sizes = BASE_NEW_ARRAY(o->arena, uint32_t, count), component_count;
    for (uint32_t i = 0; i < count; i++)
        o->index[list[i]] = o->next[list[i]] = 0;
    uint32_t made = components(o, region, entry, sizes, &component_count);
    uint32_t *copy = BASE_NEW_ARRAY(o->arena, uint32_t, made ? made : 1);
    memcpy(copy, o->reversed, made * sizeof *copy);
    uint32_t from = made, to = 0;
    for (uint32_t c = component_count; c-- > 0;) {
        from -= sizes[c];
        uint32_t first = to, component_entry = copy[from + sizes[c] - 1];
        for (uint32_t i = sizes[c]; i-- > 0;)
            list[to++] = copy[from + i];
        if (sizes[c] == 1 || depth > 200)
            continue;
        uint32_t inner = ++o->regions;
        for (uint32_t i = first; i < to; i++)
            o->region[list[i]] = inner;
        order_region(o, inner, component_entry, list + first, sizes[c], depth + 1);
    }
}

static void order_blocks(vm_decoder *d, vm_graph *g) {
    ordering o = {.g = g, .arena = d->arena};
    o.region = BASE_NEW_ARRAY(d->arena, uint32_t, g->count);
    o.index = BASE_NEW_ARRAY(d->arena, uint32_t, g->count);
    o.low = BASE_NEW_ARRAY(d->arena, uint32_t, g->count);
    o.next = BASE_NEW_ARRAY(d->arena, uint32_t, g->count);
    o.on_stack = BASE_NEW_ARRAY(d->arena, bool, g->count);
    o.stack = BASE_NEW_ARRAY(d->arena, uint32_t, g->count);
    o.path = BASE_NEW_ARRAY(d->arena, uint32_t, g->count);
    o.reversed = BASE_NEW_ARRAY(d->arena, uint32_t, g->count);
    g->order = BASE_NEW_ARRAY(d->arena, uint32_t, g->count);
    /* what the entry reaches, without components first */
    uint32_t reached = 0, *stack = o.stack;
    bool *seen = BASE_NEW_ARRAY(d->arena, bool, g->count);
    uint32_t depth = 0;
    stack[depth++] = 0;
    seen[0] = true;
    while (depth) {
        uint32_t b = stack[--depth];
        g->order[reached++] = b;
        for (uint32_t k = 0; k < g->blocks[b].successor_count; k++)
            if (!seen[g->blocks[b].successors[k]]) {
                seen[g->blocks[b].successors[k]] = true;
                stack[depth++] = g->blocks[b].successors[k];
            }
    }
    g->order_count = reached;
    order_region(&o, 0, 0, g->order, reached, 0);
    for (uint32_t i = 0; i < g->count; i++)
        g->blocks[i].position = UINT32_MAX;
    for (uint32_t i = 0; i < reached; i++)
        g->blocks[g->order[i]].position = i;
}

/* ---- dominators (Cooper, Harvey and Kennedy), by position in the order ---- */
static void find_dominators(vm_decoder *d, vm_graph *g) {
    uint32_t *dominator = BASE_NEW_ARRAY(d->arena, uint32_t, g->order_count);
    for (uint32_t i = 0; i < g->order_count; i++)
        dominator[i] = UINT32_MAX;
    dominator[0] = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 1; i < g->order_count; i++) {
            const vm_block *block = &g->blocks[g->order[i]];
            uint32_t best = UINT32_MAX;
            for (uint32_t k = 0; k < block->predecessor_count; k++) {
                uint32_t p = g->blocks[block->predecessors[k]].position;
                if (p == UINT32_MAX || dominator[p] == UINT32_MAX)
                    continue;
                if (best == UINT32_MAX) {
                    best = p;
                    continue;
                }
                while (best != p) {
                    while (best > p)
                        best = dominator[best];
                    while (p > best)
                        p = dominator[p];
                }
            }
            if (best < i && best != dominator[i]) {
                dominator[i] = best;
                changed = true;
            }
        }
    }
    /* numbers of a walk over the tree: a block dominates those in its range; a dominator stands before its
     * blocks */
    uint32_t *next = BASE_NEW_ARRAY(d->arena, uint32_t, g->order_count);
    g->first = BASE_NEW_ARRAY(d->arena, uint32_t, g->order_count);
    g->size = BASE_NEW_ARRAY(d->arena, uint32_t, g->order_count);
    for (uint32_t i = g->order_count; i-- > 0;) {
        g->size[i]++;
        if (i && dominator[i] < i)
            g->size[dominator[i]] += g->size[i];
    }
    next[0] = 1;
    for (uint32_t i = 1; i < g->order_count; i++) {
        uint32_t parent = dominator[i] < i ? dominator[i] : 0;
        g->first[i] = next[parent];
        next[parent] += g->size[i];
        next[i] = g->first[i] + 1;
    }
}

bool vm_graph_dominates(const vm_graph *g, uint32_t block, uint32_t other) {
    uint32_t a = g->blocks[block].position, b = g->blocks[other].position;
    if (a == UINT32_MAX || b == UINT32_MAX)
        return false;
    return g->first[b] >= g->first[a] && g->first[b] - g->first[a] < g->size[a];
}

vm_graph *vm_graph_build(vm_decoder *d) {
    vm_graph *g = BASE_NEW(d->arena, vm_graph);
    find_blocks(d, g);
    connect(d, g);
    order_blocks(d, g);
    find_dominators(d, g);
    return g;
}
