/* SPDX-License-Identifier: Apache-2.0
 * mma, ldmatrix, stmatrix and movmatrix of a warp (PTX ISA 9.7.14.5). The warp comes together first;
 * fragments go through vm_matrix.h; rows of shared memory are accessed like any other 16 bytes, with the same
 * findings. */
#include "vm/vm_matrix_warp.h"
#include <stdlib.h>
#include "vm/vm_matrix.h"
#include "vm/vm_race.h"

/* ---- .aligned ---- */
bool vm_matrix_gather(vm_warp *warp, uint32_t mask, vm_action *action) {
    vm_split *current = &warp->splits[warp->current];
    uint32_t missing = warp->live & ~mask;
    current->state = VM_SPLIT_READY;
    if (missing == 0) {
        if (mask != VM_ALL_LANES) {
            vm_finding *finding =
                vm_finding_add(warp->cta, VM_FIND_MATRIX_PARTIAL, current->pc, warp, vm_first_lane(mask));
            if (finding != NULL)
                finding->size = mask;
        }
        vm_race_meet(warp, mask, VM_ALL_LANES);
        return true;
    }
    for (uint32_t i = 0; i < warp->split_count; i++)
        if (i != warp->current && warp->splits[i].pc == current->pc &&
            warp->splits[i].frame == current->frame && warp->splits[i].state == VM_SPLIT_COLLECTIVE)
            warp->splits[i].state = VM_SPLIT_READY;
    uint32_t before = warp->split_count;
    vm_control_merge(warp, warp->current);
    *action = VM_AGAIN;
    if (warp->split_count == before) {
        current = &warp->splits[warp->current];
        current->state = VM_SPLIT_COLLECTIVE;
        current->wait = missing;
    }
    return false;
}

unsigned vm_matrix_sm(const vm_grid *run) {
    const char *target = run->program->module->target;
    return target != NULL && strncmp(target, "sm_", 3) == 0 ? (unsigned)strtoul(target + 3, NULL, 10) : 0;
}

static const uint32_t *operands_of(const vm_warp *warp, const vm_op *op) {
    return warp->cta->run->program->extras.items + op->x + 1;
}

/* Rows of registers; lanes that do not take part hold zeros. */
typedef struct registers {
    const void *rows[32];
    _Alignas(64) uint64_t copy[32][VM_LANES];
} registers;

static void read_registers(const vm_warp *warp, const uint32_t *refs, unsigned count, bool wide,
                           uint32_t mask, registers *out) {
    for (unsigned r = 0; r < count; r++) {
        out->rows[r] = vm_operand(warp, refs[r] & ~VM_REF_WRITTEN);
        if (mask == VM_ALL_LANES)
            continue;
        for (unsigned lane = 0; lane < VM_LANES; lane++) {
            bool here = mask >> lane & 1;
            if (wide)
                out->copy[r][lane] = here ? ((const uint64_t *)out->rows[r])[lane] : 0;
            else
                ((uint32_t *)out->copy[r])[lane] = here ? ((const uint32_t *)out->rows[r])[lane] : 0;
        }
        out->rows[r] = out->copy[r];
    }
}

/* ---- mma ---- */
/* Scale factors of a block-scaled form (9.7.14.3): of A from the pair of lanes that thread-id names in each
 * four, the lower one for row l/4, the upper one for row l/4 + 8 (the pairing is CUTLASS's,
 * mma_traits_sm120.hpp); of B from the lane that it names. False: a selector that PTX does not allow. */
static bool take_scales(vm_warp *warp, const vm_matrix_form *f, const uint32_t *refs, bool of_a,
                        uint32_t *out) {
    const uint32_t *data = vm_operand(warp, refs[0]);
    uint32_t byte = vm_operand32(warp, refs[1], 0), thread = vm_operand32(warp, refs[2], 0);
    if (byte % f->scales != 0 || byte + f->scales > 4 || thread > (of_a ? 1u : 3u))
        return false;
    for (unsigned line = 0; line < (of_a ? f->m : f->n); line++) {
        unsigned lane = of_a ? line % 8 * 4 + 2 * thread + line / 8 : line * 4 + thread;
        for (unsigned s = 0; s < f->scales; s++)
            out[line * f->scales + s] = data[lane] >> 8 * (byte + s) & 0xff;
    }
    return true;
}

/* A chain of fused multiply-adds for each element, 32 elements at a time. */
static void multiply_doubles(const vm_grid *run, const vm_matrix_form *f, const uint64_t *a,
                             const uint64_t *b, const uint64_t *c, uint64_t *d) {
    vm_lane_function fma = run->level->lanes[VM_LANE_SOFT64];
    uint64_t imm = VM_ARITH_FMA | (uint64_t)f->rounding << 8;
    _Alignas(64) uint64_t x[VM_LANES], y[VM_LANES], sum[VM_LANES];
    unsigned count = (unsigned)f->m * f->n;
    for (unsigned first = 0; first < count; first += VM_LANES) {
        memcpy(sum, c + first, sizeof sum);
        for (unsigned k = 0; k < f->k; k++) {
            for (unsigned l = 0; l < VM_LANES; l++) {
                x[l] = a[(first + l) / f->n * f->k + k];
                y[l] = b[(first + l) % f->n * f->k + k];
            }
            fma(sum, x, y, sum, imm);
        }
        memcpy(d + first, sum, sizeof sum);
    }
}

typedef struct product {
    uint64_t a[VM_MATRIX_M * VM_MATRIX_K], b[8 * VM_MATRIX_K], c[256], d[256];
    uint32_t scale_a[VM_MATRIX_M * 4], scale_b[8 * 4];
    registers ra, rb, rc;
} product;

vm_action vm_external_MMA(vm_warp *warp, const vm_op *op, uint32_t mask) {
    vm_action action;
    if (!vm_matrix_gather(warp, mask, &action))
        return action;
    const vm_matrix_form *f = (const vm_matrix_form *)(uintptr_t)op->imm;
    const vm_grid *run = warp->cta->run;
    const uint32_t *list = operands_of(warp, op), *a = list + f->d_count, *b = a + f->a_count,
                   *c = b + f->b_count;
    const uint32_t *scales = c + f->c_count;
    bool wide = ptx_type_bits(f->a) == 64;
    product p;
    read_registers(warp, a, f->a_count, wide, mask, &p.ra);
    read_registers(warp, b, f->b_count, wide, mask, &p.rb);
    read_registers(warp, c, f->c_count, wide, mask, &p.rc);
    if (f->scales && (!take_scales(warp, f, scales, true, p.scale_a) ||
                      !take_scales(warp, f, scales + 3, false, p.scale_b))) {
        vm_finding_add(warp->cta, VM_FIND_MATRIX_SELECTOR, warp->splits[warp->current].pc, warp,
                       vm_first_lane(mask));
        return VM_GO;
    }
    /* the sources are read before D is written: they may be the same registers, also of another part */
    void *rows[16];
    _Alignas(64) uint64_t result[16][VM_LANES];
    for (unsigned r = 0; r < f->d_count; r++)
        rows[r] = result[r];
    for (unsigned part = 0; part < (f->quads ? 4u : 1u); part++) {
        vm_matrix_take_a(f, p.ra.rows, part, p.a);
        vm_matrix_take_b(f, p.rb.rows, part, p.b);
        vm_matrix_take_c(f, p.rc.rows, part, p.c);
        if (wide)
            multiply_doubles(run, f, p.a, p.b, p.c, p.d);
        else
            vm_matrix_multiply(f, run->launch->numerics, vm_matrix_sm(run), p.a, p.b, p.c, p.scale_a,
                               p.scale_b, vm_matrix_add_choose(run->level->name), p.d);
        vm_matrix_put_d(f, rows, part, mask, p.d);
    }
    for (unsigned r = 0; r < f->d_count; r++) {
        void *to = vm_operand(warp, list[r] & ~VM_REF_WRITTEN);
        VM_FOR_LANES(lane, mask) {
            if (wide)
                ((uint64_t *)to)[lane] = result[r][lane];
            else
                ((uint32_t *)to)[lane] = ((const uint32_t *)result[r])[lane];
        }
    }
    return VM_GO;
}

/* wmma.load and wmma.store: element by element, as each lane holds them; narrow elements as whole registers.
 * Operands: address, elements from line to line (or none), registers. */
vm_action vm_external_WMMA_MOVE(vm_warp *warp, const vm_op *op, uint32_t mask) {
    vm_action action;
    if (!vm_matrix_gather(warp, mask, &action))
        return action;
    const vm_matrix_move *move = (const vm_matrix_move *)(uintptr_t)op->imm;
    const uint32_t *list = operands_of(warp, op);
    unsigned bits = ptx_type_bits(move->type), step = bits < 8 ? 32 / bits : 1;
    unsigned bytes = bits < 8 ? 4 : bits / 8, per = vm_matrix_per_register(&move->form, move->type);
    vm_space space = move->space == 's' ? VM_SHARED : move->space == 'g' ? VM_GLOBAL : VM_GENERIC;
    uint32_t pc = warp->splits[warp->current].pc;
    VM_FOR_LANES(lane, mask) {
        uint64_t address = vm_operand64(warp, list[0], lane);
        uint64_t leading = list[1] == VM_REF_NONE ? move->leading : vm_operand32(warp, list[1], lane);
        for (unsigned r = 0; r < move->count; r++) {
            uint8_t *at =
                (uint8_t *)vm_operand(warp, list[2 + r] & ~VM_REF_WRITTEN) + lane * (bits == 64 ? 8 : 4);
            for (unsigned e = 0; e < per; e += step) {
                uint64_t from = address + vm_matrix_move_index(move, r, lane, e, leading) * bits / 8;
                if (from % bytes != 0) {
                    vm_finding_access(warp, VM_FIND_MISALIGNED, pc, lane, PTX_SPACE_GENERIC, from, bytes,
                                      bytes, move->store);
                    continue;
                }
                uint8_t *element = at + e * bits / 8;
                if (move->store)
                    vm_memory_write(warp, pc, lane, space, from, element, bytes);
                else if (!vm_memory_read(warp, pc, lane, space, from, element, bytes))
                    memset(element, 0, bytes);
            }
        }
    }
    return warp->cta->status == VM_COMPLETE ? VM_GO : VM_HALT;
}

/* ---- ldmatrix, stmatrix, movmatrix ---- */
/* Lane l holds elements 2 (l mod 4) and the next of row l/4, or of column l/4. */
static uint32_t pair_of(const uint16_t matrix[8][8], unsigned lane, bool transposed) {
    unsigned line = lane / 4, at = lane % 4 * 2;
    return transposed ? matrix[at][line] | (uint32_t)matrix[at + 1][line] << 16
                      : matrix[line][at] | (uint32_t)matrix[line][at + 1] << 16;
}

static void put_pair(uint16_t matrix[8][8], unsigned lane, bool transposed, uint32_t value) {
    unsigned line = lane / 4, at = lane % 4 * 2;
    for (unsigned e = 0; e < 2; e++)
        *(transposed ? &matrix[at + e][line] : &matrix[line][at + e]) = (uint16_t)(value >> 16 * e);
}

/* Byte e of register r of a transposed matrix of bytes, as (row in memory, byte in the row). The order inside
 * the register is CUTLASS's (copy_traits_sm100.hpp: SM100_U8x8_LDSM_T, SM100_U8x4_STSM_T). */
static void byte_place(unsigned lane, unsigned r, unsigned e, bool store, unsigned *row, unsigned *column) {
    *row = (store ? 2 : 4) * (lane % 4) + (e & 1) + (store ? 0 : 2 * r);
    *column = lane / 4 + 8 * (e >> 1);
}

static uint64_t row_address(const vm_warp *warp, uint32_t ref, unsigned lane) {
    return vm_operand64(warp, ref, lane);
}

/* 16 bytes at the address that a lane gives; it must be shared memory and a multiple of 16. */
static bool row_access(vm_warp *warp, const vm_op *op, uint32_t ref, unsigned lane, void *bytes, bool store) {
    vm_space space = op->imm & VM_MATRIX_GENERIC ? VM_GENERIC : VM_SHARED;
    uint64_t address = row_address(warp, ref, lane);
    uint32_t pc = warp->splits[warp->current].pc;
    if (address % 16 != 0) {
        vm_finding_access(warp, VM_FIND_MISALIGNED, pc, lane, PTX_SPACE_SHARED, address, 16, 16, store);
        return false;
    }
    if (space == VM_GENERIC && (address < VM_SHARED_BASE || address >> VM_WINDOW_BITS != 1)) {
        vm_finding_access(warp, VM_FIND_BAD_SPACE, pc, lane, PTX_SPACE_SHARED, address, 16, 16, store);
        return false;
    }
    return store ? vm_memory_write(warp, pc, lane, space, address, bytes, 16)
                 : vm_memory_read(warp, pc, lane, space, address, bytes, 16);
}

static vm_action status(const vm_warp *warp) {
    return warp->cta->status == VM_COMPLETE ? VM_GO : VM_HALT;
}

vm_action vm_external_LDMATRIX(vm_warp *warp, const vm_op *op, uint32_t mask) {
    vm_action action;
    if (!vm_matrix_gather(warp, mask, &action))
        return action;
    const uint32_t *list = operands_of(warp, op);
    unsigned count = op->imm & 7, lines = op->imm & VM_MATRIX_16X16 ? 16 : 8;
    uint8_t rows[32][16];
    for (unsigned l = 0; l < count * lines; l++) {
        uint8_t bytes[18] = {0};
        if (!(mask >> l & 1) || !row_access(warp, op, list[0], l, bytes, false))
            memset(bytes, 0, sizeof bytes);
        if (op->imm & (VM_MATRIX_FROM_4 | VM_MATRIX_FROM_6))
            vm_matrix_unpack16(bytes, op->imm & VM_MATRIX_FROM_4 ? 4 : 6, rows[l]);
        else
            memcpy(rows[l], bytes, 16);
    }
    unsigned written = count * lines / 8;
    uint32_t result[4][VM_LANES];
    for (unsigned r = 0; r < written; r++) {
        uint16_t matrix[8][8];
        memcpy(matrix, rows[8 * r], sizeof matrix);
        for (unsigned lane = 0; lane < VM_LANES; lane++) {
            if (lines == 8) { /* bytes are pairs here, too */
                result[r][lane] = pair_of(matrix, lane, op->imm & VM_MATRIX_TRANSPOSED);
                continue;
            }
            result[r][lane] = 0;
            for (unsigned e = 0; e < 4; e++) {
                unsigned row, column;
                byte_place(lane, r % 2, e, false, &row, &column);
                result[r][lane] |= (uint32_t)rows[r / 2 * 16 + row][column] << 8 * e;
            }
        }
    }
    for (unsigned r = 0; r < written; r++) {
        uint32_t *to = vm_operand(warp, list[1 + r] & ~VM_REF_WRITTEN);
        VM_FOR_LANES(lane, mask)
        to[lane] = result[r][lane];
    }
    return status(warp);
}

vm_action vm_external_STMATRIX(vm_warp *warp, const vm_op *op, uint32_t mask) {
    vm_action action;
    if (!vm_matrix_gather(warp, mask, &action))
        return action;
    const uint32_t *list = operands_of(warp, op);
    unsigned count = op->imm & 7;
    for (unsigned r = 0; r < count; r++) {
        uint8_t rows[8][16] = {{0}};
        uint16_t matrix[8][8] = {{0}};
        VM_FOR_LANES(lane, mask) {
            uint32_t value = vm_operand32(warp, list[1 + r], lane);
            if (!(op->imm & VM_MATRIX_BYTES))
                put_pair(matrix, lane, op->imm & VM_MATRIX_TRANSPOSED, value);
            for (unsigned e = 0; op->imm & VM_MATRIX_BYTES && e < 4; e++) {
                unsigned row, column;
                byte_place(lane, 0, e, true, &row, &column);
                rows[row][column] = (uint8_t)(value >> 8 * e);
            }
        }
        if (!(op->imm & VM_MATRIX_BYTES))
            memcpy(rows, matrix, sizeof rows);
        for (unsigned line = 0; line < 8; line++)
            if (mask >> (8 * r + line) & 1)
                row_access(warp, op, list[0], 8 * r + line, rows[line], true);
    }
    return status(warp);
}

vm_action vm_external_MOVMATRIX(vm_warp *warp, const vm_op *op, uint32_t mask) {
    vm_action action;
    if (!vm_matrix_gather(warp, mask, &action))
        return action;
    const uint32_t *list = operands_of(warp, op);
    uint16_t matrix[8][8] = {{0}};
    VM_FOR_LANES(lane, mask)
    put_pair(matrix, lane, false, vm_operand32(warp, list[1], lane));
    uint32_t *to = vm_operand(warp, list[0] & ~VM_REF_WRITTEN);
    VM_FOR_LANES(lane, mask)
    to[lane] = pair_of(matrix, lane, true);
    return VM_GO;
}
