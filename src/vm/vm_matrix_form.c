/* SPDX-License-Identifier: Apache-2.0
 * Forms of mma.sync from their modifiers (PTX ISA 9.7.14.5.14), and which element of which matrix a register
 * of a lane holds (9.7.14.5.1 to 9.7.14.5.13). One rule serves every shape but m8n8k4 of f16: of 32-bit
 * registers with E elements each, register r of lane l of A holds row l/4 + 8 (r mod 2) and columns (l mod 4)
 * E + 4 E (r div 2) onward (no second row in m8 shapes); of B column l/4 and rows (l mod 4) E + 4 E r onward;
 * of C and D rows l/4 + 8 (...) and columns 2 (l mod 4) and the next. Knows no warps. */
#include "vm/vm_matrix.h"
#include <stdio.h>

bool vm_matrix_is_float(ptx_type type) {
    switch (type) {
    case PTX_TYPE_F16:
    case PTX_TYPE_BF16:
    case PTX_TYPE_TF32:
    case PTX_TYPE_E4M3:
    case PTX_TYPE_E5M2:
    case PTX_TYPE_E3M2:
    case PTX_TYPE_E2M3:
    case PTX_TYPE_E2M1:
        return true;
    default:
        return false;
    }
}

static unsigned container_bits(const vm_matrix_form *form, ptx_type type) {
    unsigned bits = ptx_type_bits(type);
    bool small = type == PTX_TYPE_E3M2 || type == PTX_TYPE_E2M3 || type == PTX_TYPE_E2M1;
    return small ? (form->packed ? 4 : 8) : bits;
}

unsigned vm_matrix_per_register(const vm_matrix_form *form, ptx_type type) {
    unsigned bits = container_bits(form, type);
    return bits >= 32 ? 1 : 32 / bits;
}

/* 4-bit floats stand in the middle of their byte, 6-bit ones at its low end (9.7.14.5.14). */
uint32_t vm_matrix_element(const vm_matrix_form *form, ptx_type type, uint32_t container) {
    if (type == PTX_TYPE_E2M1 && !form->packed)
        return container >> 2 & 15;
    if (type == PTX_TYPE_E3M2 || type == PTX_TYPE_E2M3)
        return container & 63;
    return container;
}

static unsigned registers_of(const vm_matrix_form *form, unsigned elements, ptx_type type) {
    return elements / VM_MATRIX_LANES / vm_matrix_per_register(form, type);
}

static bool read_scales(const ptx_instruction *i, vm_matrix_form *form) {
    if (!ptx_has(i, PTX_MOD_BLOCK_SCALE))
        return true;
    form->scales = ptx_has(i, PTX_MOD_SCALE_VEC__4X)   ? 4
                   : ptx_has(i, PTX_MOD_SCALE_VEC__2X) ? 2
                   : ptx_has(i, PTX_MOD_SCALE_VEC__1X) ? 1
                   : form->k == 64                     ? 2
                                                       : 1;
    return form->scale != PTX_TYPE_NONE;
}

bool vm_matrix_form_read(const ptx_instruction *i, vm_matrix_form *form) {
    *form = (vm_matrix_form){.unit = VM_FUSED_MMA};
    ptx_type types[5] = {PTX_TYPE_NONE, PTX_TYPE_NONE, PTX_TYPE_NONE, PTX_TYPE_NONE, PTX_TYPE_NONE};
    unsigned type_count = 0, layouts = 0, m = 0, n = 0, k = 0;
    for (unsigned x = 0; x < i->mod_count; x++) {
        ptx_mod mod = i->mods[x];
        if ((int)mod < PTX_TYPE_COUNT) {
            if (type_count < 5)
                types[type_count++] = (ptx_type)mod;
        } else if (mod == PTX_MOD_ROW || mod == PTX_MOD_COL) {
            if (layouts++ == 0)
                form->a_column = mod == PTX_MOD_COL;
            else
                form->b_row = mod == PTX_MOD_ROW;
        } else {
            sscanf(ptx_mod_name(mod), "m%un%uk%u", &m, &n, &k);
        }
    }
    if (type_count < 4 || layouts != 2 || m == 0 || m > VM_MATRIX_M || k == 0 || k > VM_MATRIX_K)
        return false;
    form->m = (uint16_t)m;
    form->n = (uint16_t)n;
    form->k = (uint16_t)k;
    form->d = types[0];
    form->a = types[1];
    form->b = types[2];
    form->c = types[3];
    form->scale = types[4];
    form->packed = ptx_has(i, PTX_MOD_KIND__MXF4) || ptx_has(i, PTX_MOD_KIND__MXF4NVF4);
    form->saturate = ptx_has(i, PTX_MOD_SATFINITE);
    form->exclusive = ptx_has(i, PTX_MOD_XOR);
    form->rounding = ptx_has(i, PTX_MOD_RZ)   ? NUM_RZ
                     : ptx_has(i, PTX_MOD_RM) ? NUM_RM
                     : ptx_has(i, PTX_MOD_RP) ? NUM_RP
                                              : NUM_RN;
    form->quads = m == 8 && k == 4 && form->a == PTX_TYPE_F16;
    if ((form->a_column || form->b_row) && !form->quads)
        return false;
    unsigned times = form->quads ? 4 : 1;
    form->d_count = (uint8_t)registers_of(form, times * m * n, form->d);
    form->a_count = (uint8_t)registers_of(form, times * m * k, form->a);
    form->b_count = (uint8_t)registers_of(form, times * k * n, form->b);
    form->c_count = (uint8_t)registers_of(form, times * m * n, form->c);
    return read_scales(i, form);
}

/* ---- elements and registers ---- */
typedef struct place {
    unsigned part, row, column; /* of A; of B: n and k; of C and D */
} place;

static unsigned quad_half(unsigned lane) { /* the upper four rows or columns */
    return lane < 16 ? 0 : 4;
}

/* wmma (9.7.14.4 leaves fragments open; these are those of an H200, tests/recorded). K falls into `parts` of
 * 4 * per columns. The operand with 16 or 32 rows or columns that stands on A's side has pairs of 8 rows,
 * then parts of K, then 16 rows; the other one has parts of K, then 8 rows. m8n32 is computed the other way
 * round. What does not fill the registers repeats. */
static place wmma_tall(unsigned lines, unsigned parts, unsigned r, unsigned lane, unsigned e, unsigned per) {
    unsigned pair = lines == 8 ? 1 : 2;
    r %= lines / 8 * parts;
    return (place){0, lane / 4 + 8 * (r % pair) + 16 * (r / (pair * parts)),
                   lane % 4 * per + e + 4 * per * (r / pair % parts)};
}
static place wmma_flat(unsigned lines, unsigned parts, unsigned r, unsigned lane, unsigned e, unsigned per) {
    r %= lines / 8 * parts;
    return (place){0, lane / 4 + 8 * (r / parts), lane % 4 * per + e + 4 * per * (r % parts)};
}

static place place_a(const vm_matrix_form *f, unsigned r, unsigned lane, unsigned e, unsigned per) {
    if (f->wmma)
        return (f->n == 32 ? wmma_flat : wmma_tall)(f->m, f->k / (4 * per), r, lane, e, per);
    if (f->quads) {
        unsigned i = 2 * r + e, half = quad_half(lane);
        return f->a_column ? (place){lane / 4 % 4, i + half, lane % 4}
                           : (place){lane / 4 % 4, lane % 4 + half, i};
    }
    unsigned rows = f->m == 8 ? 1 : 2;
    return (place){0, lane / 4 + 8 * (r % rows), lane % 4 * per + e + 4 * per * (r / rows)};
}

static place place_b(const vm_matrix_form *f, unsigned r, unsigned lane, unsigned e, unsigned per) {
    if (f->wmma)
        return (f->n == 32 ? wmma_tall : wmma_flat)(f->n, f->k / (4 * per), r, lane, e, per);
    if (f->quads) {
        unsigned i = 2 * r + e, half = quad_half(lane);
        return f->b_row ? (place){lane / 4 % 4, i + half, lane % 4}
                        : (place){lane / 4 % 4, lane % 4 + half, i};
    }
    return (place){0, lane / 4, lane % 4 * per + e + 4 * per * r};
}

static place place_c(const vm_matrix_form *f, unsigned r, unsigned lane, unsigned e, unsigned per) {
    unsigned i = r * per + e, along = 2 * (lane % 4) + i % 2;
    if (f->wmma && f->m == 8 && f->n == 8)
        return (place){0, lane / 4, along};
    if (f->wmma && f->n == 32)
        return (place){0, along, lane / 4 + 8 * (i / 2 % 2) + 16 * (i / 4)};
    if (f->wmma && f->m == 32)
        return (place){0, lane / 4 + 8 * (i / 2 % 2) + 16 * (i / 4), along};
    if (f->quads && per == 2)
        return (place){lane / 4 % 4, lane % 4 + quad_half(lane), i};
    if (f->quads)
        return (place){lane / 4 % 4, (lane & 1) + (i & 2) + quad_half(lane), (i & 4) + (lane & 2) + (i & 1)};
    /* of wgmma, m is 64: this is one warp's part, 16 rows */
    return (place){0, lane / 4 + 8 * (i / 2 % 2), 8 * (i / 4) + 2 * (lane % 4) + i % 2};
}

/* The accumulators of mma and wgmma, without a call for each element. */
static bool plain_c(const vm_matrix_form *f, ptx_type type) {
    return !f->wmma && !f->quads && f->m == 16 && ptx_type_bits(type) == 32;
}
static unsigned plain_index(const vm_matrix_form *f, unsigned r, unsigned lane) {
    return (lane / 4 + 8 * (r / 2 % 2)) * f->n + 8 * (r / 4) + 2 * (lane % 4) + r % 2;
}

typedef place (*placer)(const vm_matrix_form *, unsigned, unsigned, unsigned, unsigned);

static void take(const vm_matrix_form *f, ptx_type type, unsigned count, unsigned width, placer where,
                 const void *const *registers, unsigned part, uint64_t *out) {
    unsigned per = vm_matrix_per_register(f, type), bits = 32 / per;
    bool wide = ptx_type_bits(type) == 64;
    for (unsigned r = count; r-- > 0;) /* of what repeats, the first counts */
        for (unsigned lane = 0; lane < VM_MATRIX_LANES; lane++) {
            uint64_t word =
                wide ? ((const uint64_t *)registers[r])[lane] : ((const uint32_t *)registers[r])[lane];
            for (unsigned e = 0; e < per; e++) {
                place p = where(f, r, lane, e, per);
                if (p.part != part)
                    continue;
                uint64_t code = per == 1 ? word : word >> (e * bits) & (((uint64_t)1 << bits) - 1);
                out[p.row * width + p.column] = code;
            }
        }
}

void vm_matrix_take_a(const vm_matrix_form *f, const void *const *registers, unsigned part, uint64_t *a) {
    take(f, f->a, f->a_count, f->k, place_a, registers, part, a);
}
void vm_matrix_take_b(const vm_matrix_form *f, const void *const *registers, unsigned part, uint64_t *b) {
    take(f, f->b, f->b_count, f->k, place_b, registers, part, b);
}
void vm_matrix_take_c(const vm_matrix_form *f, const void *const *registers, unsigned part, uint64_t *c) {
    if (plain_c(f, f->c))
        for (unsigned r = 0; r < f->c_count; r++)
            for (unsigned lane = 0; lane < VM_MATRIX_LANES; lane++)
                c[plain_index(f, r, lane)] = ((const uint32_t *)registers[r])[lane];
    else
        take(f, f->c, f->c_count, f->n, place_c, registers, part, c);
}

void vm_matrix_put_d(const vm_matrix_form *f, void *const *registers, unsigned part, uint32_t mask,
                     const uint64_t *d) {
    unsigned per = vm_matrix_per_register(f, f->d), bits = 32 / per;
    if (plain_c(f, f->d)) {
        for (unsigned r = 0; r < f->d_count; r++)
            for (unsigned lane = 0; lane < VM_MATRIX_LANES; lane++)
                if (mask >> lane & 1)
                    ((uint32_t *)registers[r])[lane] = (uint32_t)d[plain_index(f, r, lane)];
        return;
    }
    bool wide = ptx_type_bits(f->d) == 64;
    for (unsigned r = 0; r < f->d_count; r++)
        for (unsigned lane = 0; lane < VM_MATRIX_LANES; lane++) {
            uint64_t word = 0;
            bool mine = mask >> lane & 1;
            for (unsigned e = 0; e < per; e++) {
                place p = place_c(f, r, lane, e, per);
                mine = mine && p.part == part;
                if (mine)
                    word |= d[p.row * f->n + p.column] << (e * bits);
            }
            if (mine && wide)
                ((uint64_t *)registers[r])[lane] = word;
            else if (mine)
                ((uint32_t *)registers[r])[lane] = (uint32_t)word;
        }
}

void vm_matrix_unpack16(const uint8_t from[16], unsigned bits, uint8_t to[16]) {
    for (unsigned i = 0; i < 16; i++) {
        unsigned at = i * bits, value = from[at / 8] | (unsigned)from[at / 8 + 1] << 8;
        to[i] = (uint8_t)(value >> at % 8 & ((1u << bits) - 1));
    }
}

/* ---- wmma ---- */
static bool read_shape(const ptx_instruction *i, vm_matrix_form *form, ptx_type types[5],
                       unsigned *type_count, ptx_mod layouts[2], unsigned *layout_count) {
    unsigned m = 0, n = 0, k = 0;
    *type_count = *layout_count = 0;
    for (unsigned x = 0; x < i->mod_count; x++) {
        ptx_mod mod = i->mods[x];
        if ((int)mod < PTX_TYPE_COUNT) {
            if (*type_count < 5)
                types[(*type_count)++] = (ptx_type)mod;
        } else if (mod == PTX_MOD_ROW || mod == PTX_MOD_COL) {
            if (*layout_count < 2)
                layouts[(*layout_count)++] = mod;
        } else {
            sscanf(ptx_mod_name(mod), "m%un%uk%u", &m, &n, &k);
        }
    }
    *form = (vm_matrix_form){
        .unit = VM_FUSED_MMA, .wmma = true, .m = (uint16_t)m, .n = (uint16_t)n, .k = (uint16_t)k};
    return m != 0 && m <= VM_MATRIX_M && n <= 32 && k != 0 && k <= VM_MATRIX_K;
}

/* Registers of a fragment: f16 operands always have eight. */
static unsigned fragment_count(const vm_matrix_form *f, char which, ptx_type type) {
    unsigned lines = which == 'a' ? f->m : f->n, per = vm_matrix_per_register(f, type);
    if (which == 'c' || which == 'd')
        return (unsigned)f->m * f->n / VM_MATRIX_LANES / per;
    return type == PTX_TYPE_F16 ? 8 : lines * f->k / VM_MATRIX_LANES / per;
}

bool vm_matrix_form_read_wmma(const ptx_instruction *i, vm_matrix_form *form) {
    ptx_type types[5];
    ptx_mod layouts[2];
    unsigned type_count, layout_count;
    if (!read_shape(i, form, types, &type_count, layouts, &layout_count) ||
        (type_count != 2 && type_count != 4))
        return false;
    form->d = types[0];
    form->c = types[type_count - 1];
    form->a = type_count == 2 ? PTX_TYPE_F16 : types[1];
    form->b = type_count == 2 ? PTX_TYPE_F16 : types[2];
    form->saturate = ptx_has(i, PTX_MOD_SATFINITE) && form->d == PTX_TYPE_S32;
    if (ptx_has(i, PTX_MOD_SATFINITE) && form->d != PTX_TYPE_S32)
        return false; /* .satfinite of f16: deprecated */
    form->exclusive = ptx_has(i, PTX_MOD_XOR);
    form->rounding = ptx_has(i, PTX_MOD_RZ)   ? NUM_RZ
                     : ptx_has(i, PTX_MOD_RM) ? NUM_RM
                     : ptx_has(i, PTX_MOD_RP) ? NUM_RP
                                              : NUM_RN;
    form->d_count = (uint8_t)fragment_count(form, 'd', form->d);
    form->a_count = (uint8_t)fragment_count(form, 'a', form->a);
    form->b_count = (uint8_t)fragment_count(form, 'b', form->b);
    form->c_count = (uint8_t)fragment_count(form, 'c', form->c);
    return true;
}

bool vm_matrix_move_read(const ptx_instruction *i, vm_matrix_move *move) {
    ptx_type types[5];
    ptx_mod layouts[2];
    unsigned type_count, layout_count;
    *move = (vm_matrix_move){.store = i->op == PTX_OP_WMMA_STORE};
    if (!read_shape(i, &move->form, types, &type_count, layouts, &layout_count) || type_count != 1 ||
        layout_count != 1)
        return false;
    move->which = move->store ? 'd' : ptx_has(i, PTX_MOD_A) ? 'a' : ptx_has(i, PTX_MOD_B) ? 'b' : 'c';
    move->type = types[0];
    move->column = layouts[0] == PTX_MOD_COL;
    bool shared = ptx_has(i, PTX_MOD_SHARED) || ptx_has(i, PTX_MOD_SHARED__CTA);
    move->space = shared ? 's' : ptx_has(i, PTX_MOD_GLOBAL) ? 'g' : 0;
    move->count = (uint8_t)fragment_count(&move->form, move->which, move->type);
    const vm_matrix_form *f = &move->form;
    unsigned rows = move->which == 'b' ? f->k : f->m, columns = move->which == 'a' ? f->k : f->n;
    move->leading = move->column ? rows : columns;
    return move->count != 0 && move->count <= 8;
}

uint64_t vm_matrix_move_index(const vm_matrix_move *move, unsigned r, unsigned lane, unsigned e,
                              uint64_t leading) {
    unsigned per = vm_matrix_per_register(&move->form, move->type);
    place p = (move->which == 'a'   ? place_a
               : move->which == 'b' ? place_b
                                    : place_c)(&move->form, r, lane, e, per);
    /* of B, row and column are n and k */
    uint64_t row = move->which == 'b' ? p.column : p.row, column = move->which == 'b' ? p.row : p.column;
    return move->column ? column * leading + row : row * leading + column;
}
