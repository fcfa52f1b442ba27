/* SPDX-License-Identifier: Apache-2.0
 * Registers live into and out of each block: bit rows and a worklist, backwards. */
#include "ptx/ptx_private.h"
#include <string.h>

#define WORD_BITS 64u

static void set_bit(uint64_t *row, uint32_t bit) {
    row[bit / WORD_BITS] |= UINT64_C(1) << bit % WORD_BITS;
}

static bool has_bit(const uint64_t *row, uint32_t bit) {
    return row[bit / WORD_BITS] >> bit % WORD_BITS & 1;
}

/* Reads before a sure write make a block's `read`; a write under a guard may not happen, so it kills nothing.
 */
static void summarise(const ptx_function *function, const ptx_block *block, ptx_uses *uses, uint64_t *read,
                      uint64_t *killed, uint64_t *named) {
    for (uint32_t i = block->begin; i < block->end; i++) {
        const ptx_instruction *instruction = &function->instructions.items[i];
        ptx_instruction_uses(instruction, uses);
        for (uint32_t k = 0; k < uses->read_count; k++) {
            uint32_t id = uses->read[k]->id;
            set_bit(named, id);
            if (!has_bit(killed, id)) {
                set_bit(read, id);
            }
        }
        for (uint32_t k = 0; k < uses->written_count; k++) {
            set_bit(named, uses->written[k]->id);
            if (instruction->guard == NULL) {
                set_bit(killed, uses->written[k]->id);
            }
        }
    }
}

const ptx_liveness *ptx_liveness_compute(base_arena *arena, const ptx_function *function,
                                         const ptx_graph *graph) {
    ptx_liveness *live = BASE_NEW(arena, ptx_liveness);
    uint32_t blocks = graph->block_count;
    live->words = (uint32_t)((function->registers.count + WORD_BITS - 1) / WORD_BITS);
    size_t words = live->words;
    live->live_in = base_arena_allocate_array(arena, blocks, words * sizeof(uint64_t));
    live->live_out = base_arena_allocate_array(arena, blocks, words * sizeof(uint64_t));
    /* The rest is scratch of this call. */
    base_arena *scratch = base_arena_create(base_arena_heap(arena));
    uint64_t *killed = base_arena_allocate_array(scratch, blocks, words * sizeof(uint64_t));
    uint64_t *named = base_arena_allocate_array(scratch, words, sizeof(uint64_t));
    ptx_uses *uses = BASE_NEW(scratch, ptx_uses);
    for (uint32_t i = 0; i < blocks; i++) {
        summarise(function, &graph->blocks[i], uses, live->live_in + i * words, killed + i * words, named);
    }
    for (size_t w = 0; w < words; w++) {
        live->virtual_registers += (uint32_t)__builtin_popcountll(named[w]);
    }
    /* A ring of blocks to look at; each is in it at most once. First round from the last block up. */
    uint32_t *ring = BASE_NEW_ARRAY(scratch, uint32_t, blocks + 1), head = 0, waiting = blocks;
    bool *queued = BASE_NEW_ARRAY(scratch, bool, blocks + 1);
    for (uint32_t i = 0; i < blocks; i++) {
        ring[i] = blocks - 1 - i;
        queued[i] = true;
    }
    while (waiting > 0) {
        uint32_t index = ring[head];
        const ptx_block *block = &graph->blocks[index];
        uint64_t *in = live->live_in + index * words, *out = live->live_out + index * words, grown = 0;
        head = head + 1 == blocks ? 0 : head + 1;
        waiting--;
        queued[index] = false;
        for (uint32_t s = 0; s < block->successor_count; s++) {
            const uint64_t *next = live->live_in + block->successors[s] * words;
            for (size_t w = 0; w < words; w++) {
                out[w] |= next[w];
            }
        }
        for (size_t w = 0; w < words; w++) {
            uint64_t wanted = in[w] | (out[w] & ~killed[index * words + w]);
            grown |= wanted ^ in[w];
            in[w] = wanted;
        }
        for (uint32_t p = 0; grown != 0 && p < block->predecessor_count; p++) {
            uint32_t before = block->predecessors[p];
            if (!queued[before]) {
                queued[before] = true;
                ring[(head + waiting++) % blocks] = before;
            }
        }
    }
    base_arena_destroy(scratch);
    return live;
}
