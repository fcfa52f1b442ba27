/* SPDX-License-Identifier: Apache-2.0
 * wgmma in the machine (PTX ISA 9.7.15). Each warp of a warpgroup multiplies its own 16 rows; B, and A's rows
 * of that warp, come from shared memory when the operation completes; A in registers is taken when it is
 * issued; D is read and written when it completes. Operations of a warp complete in order. The four warps
 * meet before they issue one, and what one of them waits for has ended for all four. */
#include <stdio.h>
#include "vm/vm_async.h"
#include "vm/vm_matrix_warp.h"
#include "vm/vm_proxy.h"
#include "vm/vm_race.h"
#include "vm/vm_wgmma.h"

enum { COLUMNS = 64 }; /* of B at a time */

bool vm_wgmma_form_read(const ptx_instruction *i, vm_wgmma_form *form) {
    *form = (vm_wgmma_form){.matrix = {.m = 16, .unit = VM_FUSED_WGMMA}};
    vm_matrix_form *f = &form->matrix;
    ptx_type types[3] = {PTX_TYPE_NONE, PTX_TYPE_NONE, PTX_TYPE_NONE};
    unsigned type_count = 0, m = 0, n = 0, k = 0;
    for (unsigned x = 0; x < i->mod_count; x++) {
        if ((int)i->mods[x] < PTX_TYPE_COUNT) {
            if (type_count < 3)
                types[type_count++] = (ptx_type)i->mods[x];
        } else {
            sscanf(ptx_mod_name(i->mods[x]), "m%un%uk%u", &m, &n, &k);
        }
    }
    if (type_count != 3 || m != 64 || n == 0 || n > VM_MATRIX_N || n % 8 || k == 0 || k > VM_MATRIX_K)
        return false;
    f->n = (uint16_t)n;
    f->k = (uint16_t)k;
    f->d = f->c = types[0];
    f->a = types[1];
    f->b = types[2];
    f->saturate = ptx_has(i, PTX_MOD_SATFINITE);
    f->d_count = f->c_count = (uint8_t)(f->d == PTX_TYPE_F16 ? n / 4 : n / 2);
    f->a_count = 4;
    const ptx_operand *a = i->operand_count > 1 ? &i->operands[1] : NULL;
    form->a_shared = a != NULL && a->kind != PTX_OPERAND_VECTOR;
    /* d, a, b, scale-d, then imm-scale-a, imm-scale-b, imm-trans-a when A is in shared memory, imm-trans-b */
    if (i->operand_count > 5) {
        f->negate_a = (int64_t)i->operands[4].bits < 0 || i->operands[4].negated;
        f->negate_b = (int64_t)i->operands[5].bits < 0 || i->operands[5].negated;
    }
    unsigned at = 6;
    if (form->a_shared && i->operand_count > at + 1)
        form->a_major = i->operands[at++].bits == 1;
    if (i->operand_count > at)
        form->b_major = i->operands[at].bits == 1;
    return true;
}

/* ---- the operation ---- */
typedef struct payload {
    const vm_wgmma_form *form;
    uint32_t list, frame_row;
    uint32_t number; /* of the warp's wgmmas; the same in all warps of the warpgroup */
    bool add;        /* scale-d */
    uint64_t descriptor_a, descriptor_b;
} payload;
_Static_assert(sizeof(payload) <= VM_ASYNC_BYTES, "fits");

/* One element of a matrix in shared memory; outside of it everything is zero. */
static uint64_t element_at(const vm_cta *cta, const vm_wgmma_matrix *m, uint32_t mn, uint32_t k) {
    uint32_t address = vm_wgmma_address(m, mn, k);
    uint64_t value = 0;
    if (m->bits == 1)
        return address < cta->shared_bytes ? cta->shared[address] >> k % 8 & 1 : 0;
    if (address + m->bits / 8 <= cta->shared_bytes)
        memcpy(&value, cta->shared + address, m->bits / 8);
    return value;
}

/* Row mn with all its k. K-major rows stand in pieces of 16 bytes. */
static void row_at(const vm_cta *cta, const vm_wgmma_matrix *m, uint32_t mn, uint32_t depth, uint64_t *out) {
    uint32_t per = 128 / m->bits, bytes = m->bits / 8;
    for (uint32_t k = 0; k < depth; k += per) {
        uint32_t address = m->major || m->bits < 8 || depth % per ? UINT32_MAX : vm_wgmma_address(m, mn, k);
        if ((uint64_t)address + 16 > cta->shared_bytes) {
            for (uint32_t i = k; i < k + per && i < depth; i++)
                out[i] = element_at(cta, m, mn, i);
            continue;
        }
        const uint8_t *piece = cta->shared + address;
        for (uint32_t i = 0; i < per; i++) {
            uint32_t code = 0;
            if (bytes == 2)
                code = piece[2 * i] | (uint32_t)piece[2 * i + 1] << 8;
            else if (bytes == 1)
                code = piece[i];
            else
                memcpy(&code, piece + 4 * i, 4);
            out[k + i] = code;
        }
    }
}

static void *row_of(const vm_async *o, const payload *p, uint32_t ref) {
    (void)p;
    ref &= ~VM_REF_WRITTEN;
    if ((ref & 3) == VM_REF_FRAME)
        return o->warp->rows + (size_t)p->frame_row * VM_ROW_BYTES + ref;
    return vm_operand(o->warp, ref);
}

typedef struct scratch {
    uint64_t a[VM_MATRIX_M * VM_MATRIX_K], b[COLUMNS * VM_MATRIX_K];
    uint64_t c[VM_MATRIX_M * VM_MATRIX_N], d[VM_MATRIX_M * VM_MATRIX_N];
    uint64_t c_part[VM_MATRIX_M * COLUMNS], d_part[VM_MATRIX_M * COLUMNS];
} scratch;

static void complete(vm_async *o) {
    const payload *p = (const payload *)o->of.bytes;
    const vm_wgmma_form *form = p->form;
    const vm_matrix_form *f = &form->matrix;
    const vm_grid *run = o->cta->run;
    const uint32_t *list = run->program->extras.items + p->list;
    scratch s;
    void *rows[128];
    for (unsigned r = 0; r < f->d_count; r++)
        rows[r] = row_of(o, p, list[r]);
    unsigned bits = ptx_type_bits(f->a);
    if (form->a_shared) {
        vm_wgmma_matrix a = vm_wgmma_decode(p->descriptor_a, form->a_major, bits);
        unsigned first = o->warp->index % 4 * 16;
        for (unsigned i = 0; i < 16; i++)
            row_at(o->cta, &a, first + i, f->k, s.a + i * f->k);
    } else {
        const void *registers[4];
        for (unsigned r = 0; r < 4; r++)
            registers[r] = (const uint8_t *)o->data + r * VM_ROW_BYTES;
        vm_matrix_take_a(f, registers, 0, s.a);
    }
    memset(s.c, 0, sizeof s.c);
    if (p->add)
        vm_matrix_take_c(f, (const void *const *)rows, 0, s.c);
    vm_wgmma_matrix b = vm_wgmma_decode(p->descriptor_b, form->b_major, bits);
    for (unsigned first = 0; first < f->n; first += COLUMNS) {
        vm_matrix_form part = *f;
        part.n = (uint16_t)(f->n - first < COLUMNS ? f->n - first : COLUMNS);
        for (unsigned j = 0; j < part.n; j++)
            row_at(o->cta, &b, first + j, f->k, s.b + j * f->k);
        for (unsigned i = 0; i < 16; i++)
            memcpy(s.c_part + i * part.n, s.c + i * f->n + first, part.n * sizeof *s.c);
        vm_matrix_multiply(&part, run->launch->numerics, vm_matrix_sm(run), s.a, s.b, s.c_part, NULL, NULL,
                           vm_matrix_add_choose(run->level->name), s.d_part);
        for (unsigned i = 0; i < 16; i++)
            memcpy(s.d + i * f->n + first, s.d_part + i * part.n, part.n * sizeof *s.d);
    }
    vm_matrix_put_d(f, rows, 0, o->mask, s.d);
}

/* ---- warps and warpgroups ---- */
static vm_wgmma_warp *state_of(vm_warp *warp) {
    if (warp->wgmma == NULL) {
        warp->wgmma = BASE_NEW(warp->cta->arena, vm_wgmma_warp);
        warp->wgmma->waits_at = UINT32_MAX;
    }
    return warp->wgmma;
}

void vm_wgmma_reset(vm_warp *warp) {
    if (warp->wgmma == NULL)
        return;
    warp->wgmma->group = warp->wgmma->issued = 0;
    warp->wgmma->waits_at = UINT32_MAX;
    warp->wgmma->flights.count = 0;
}

/* ---- the meeting ---- */
/* Whether warp w has come to the wgmma that is the number-th of its warpgroup and stands at pc. One that has
 * issued more was there: nobody goes past one alone. */
static bool has_come(const vm_cta *cta, uint32_t w, uint32_t number, uint32_t pc) {
    const vm_wgmma_warp *other = cta->warps[w].wgmma;
    return other != NULL && (other->issued > number || (other->issued == number && other->waits_at == pc));
}

/* The warps of a warpgroup meet at wgmma.mma_async, which PTX does not promise: nothing of the operands is
 * read from shared memory before all four have come to the same instruction. Seen on an H200, driver
 * 580.159.04, 2026-11-30: three warps stood there for the 4 million cycles that the fourth stayed away, not
 * at wgmma.fence, and saw what it wrote. A warpgroup that the CTA has in part only does not wait (T0826). */
static bool meet(vm_warp *warp) {
    vm_cta *cta = warp->cta;
    uint32_t first = warp->index / 4 * 4, pc = warp->splits[warp->current].pc;
    if (first + 4 > cta->warp_count)
        return true;
    vm_wgmma_warp *state = state_of(warp);
    bool came = state->waits_at != pc;
    state->waits_at = pc;
    for (uint32_t w = first; w < first + 4; w++)
        if (!has_come(cta, w, state->issued, pc)) {
            vm_schedule_park(warp, VM_PARK_WGMMA, first);
            return false;
        }
    if (came)
        vm_schedule_wake(cta, VM_PARK_WGMMA, first);
    return true;
}

void vm_wgmma_describe(const vm_warp *warp, base_builder *text) {
    const vm_cta *cta = warp->cta;
    uint32_t first = warp->index / 4 * 4, missing = 0;
    for (uint32_t w = first; w < first + 4; w++)
        if (!has_come(cta, w, warp->wgmma->issued, warp->wgmma->waits_at))
            missing |= 1u << w;
    base_builder_string(text, "waits at wgmma.mma_async for");
    for (uint32_t w = first; w < first + 4; w++)
        if (missing >> w & 1)
            base_builder_format(text, " warp %u%s%s", w, cta->warps[w].live ? "" : " (which has ended)",
                                missing >> w > 1 ? "," : "");
    base_builder_string(text, " of its warpgroup");
}

static void report_descriptor(vm_warp *warp, uint64_t descriptor, const char *text) {
    vm_finding *finding =
        vm_finding_add(warp->cta, VM_FIND_WGMMA_DESCRIPTOR, warp->splits[warp->current].pc, warp, 0);
    if (finding != NULL) {
        finding->address = descriptor;
        finding->text = text;
    }
}

/* Checks one descriptor and adds what it names to the ranges that the operation reads. */
static void use_descriptor(vm_async *o, uint64_t descriptor, bool major, unsigned bits, uint32_t rows,
                           uint32_t columns) {
    const char *problem = vm_wgmma_problem(descriptor);
    vm_wgmma_matrix m = vm_wgmma_decode(descriptor, major, bits);
    uint64_t begin, end;
    vm_wgmma_range(&m, rows, columns, &begin, &end);
    if (problem == NULL && (begin < VM_SHARED_RESERVED || end > o->cta->shared_bytes))
        problem = "the matrix reaches outside of the shared memory of the CTA";
    if (problem != NULL)
        report_descriptor(o->warp, descriptor, problem);
    if (end > o->cta->shared_bytes)
        end = o->cta->shared_bytes;
    if (begin < end)
        vm_proxy_read(o->warp, o->pc, 0, (uint32_t)begin, (uint32_t)(end - begin));
    if (begin < end && o->cta->proxy != NULL)
        vm_proxy_tile(o->warp, o->pc, 0, o->cta, m.start, VM_PROXY_LAYOUT(m.swizzle ? m.swizzle : 16, 0));
    if (begin < end)
        o->ranges[o->range_count++] = (vm_range){.space = VM_RANGE_SHARED, .begin = begin, .end = end};
}

static uint64_t uniform(vm_warp *warp, uint32_t ref, uint32_t mask) {
    uint64_t value = vm_operand64(warp, ref, vm_first_lane(mask));
    VM_FOR_LANES(lane, mask) {
        uint64_t other = vm_operand64(warp, ref, lane);
        if (other == value)
            continue;
        vm_finding *finding =
            vm_finding_add(warp->cta, VM_FIND_WGMMA_DIFFER, warp->splits[warp->current].pc, warp, lane);
        if (finding != NULL) {
            finding->address = value;
            finding->required = other;
        }
        break;
    }
    return value;
}

/* All four warps give the same descriptors in their n-th wgmma: the first one to come says which. */
static void check_group(vm_warp *warp, uint32_t number, uint64_t a, uint64_t b) {
    vm_cta *cta = warp->cta;
    uint32_t first = warp->index / 4 * 4;
    if (first + 4 > cta->warp_count) {
        vm_finding *finding =
            vm_finding_add(cta, VM_FIND_WGMMA_WARPGROUP, warp->splits[warp->current].pc, warp, 0);
        if (finding != NULL)
            finding->text = "the CTA has no whole warpgroup here";
        return;
    }
    uint64_t seen[3] = {a, b, warp->splits[warp->current].pc};
    vm_wgmma_warp *state = state_of(warp);
    uint64_t *mine = state->recent[number % VM_WGMMA_RECENT];
    memcpy(mine, seen, sizeof seen);
    for (uint32_t w = first; w < first + 4; w++) {
        const vm_wgmma_warp *other = cta->warps[w].wgmma;
        if (w == warp->index || other == NULL || other->issued <= number ||
            other->issued > number + VM_WGMMA_RECENT)
            continue;
        const uint64_t *theirs = other->recent[number % VM_WGMMA_RECENT];
        if (theirs[2] != seen[2] || (theirs[0] == a && theirs[1] == b))
            continue;
        vm_finding *finding = vm_finding_add(cta, VM_FIND_WGMMA_DIFFER, (uint32_t)seen[2], warp, 0);
        if (finding != NULL) {
            finding->address = theirs[0] != a ? a : b;
            finding->required = theirs[0] != a ? theirs[0] : theirs[1];
        }
        return;
    }
}

vm_action vm_external_WGMMA(vm_warp *warp, const vm_op *op, uint32_t mask) {
    vm_action action;
    if (!vm_matrix_gather(warp, mask, &action))
        return action;
    if (!meet(warp))
        return VM_AGAIN;
    const vm_wgmma_form *form = (const vm_wgmma_form *)(uintptr_t)op->imm;
    const vm_matrix_form *f = &form->matrix;
    const uint32_t *list = warp->cta->run->program->extras.items + op->x + 1;
    const uint32_t *a = list + 2 * f->d_count, *b = a + (form->a_shared ? 1 : 4);
    vm_async *o = vm_async_new(warp, VM_ASYNC_WGMMA, mask);
    payload *p = (payload *)o->of.bytes;
    vm_wgmma_warp *state = state_of(warp);
    *p = (payload){.form = form,
                   .list = op->x + 1,
                   .frame_row = warp->splits[warp->current].frame->row,
                   .number = state->issued};
    p->add = *(const uint32_t *)vm_operand(warp, b[1]) >> vm_first_lane(mask) & 1;
    p->descriptor_b = uniform(warp, b[0], mask);
    unsigned bits = ptx_type_bits(f->a);
    if (form->a_shared) {
        p->descriptor_a = uniform(warp, a[0], mask);
        use_descriptor(o, p->descriptor_a, form->a_major, bits, 64, f->k);
    } else {
        uint8_t *copy = vm_async_data(o, 4 * VM_ROW_BYTES);
        for (unsigned r = 0; r < 4; r++)
            memcpy(copy + r * VM_ROW_BYTES, vm_operand(warp, a[r]), VM_ROW_BYTES);
    }
    use_descriptor(o, p->descriptor_b, form->b_major, bits, f->n, f->k);
    check_group(warp, state->issued, p->descriptor_a, p->descriptor_b);
    state->issued++;
    state->waits_at = UINT32_MAX;
    o->complete = complete;
    o->order = (warp->cta->linear << 8 | warp->index) + 1;
    o->group = state->group;
    vm_wgmma_flight flight = {.group = state->group,
                              .list = op->x + 1,
                              .d_count = 2 * f->d_count,
                              .count = 2 * f->d_count + (form->a_shared ? 0 : 4u),
                              .pc = warp->splits[warp->current].pc,
                              .number = p->number};
    base_vector_push(warp->cta->arena, &state->flights, flight);
    vm_async_issue(o);
    vm_schedule_wake(warp->cta, VM_PARK_WGMMA, warp->index / 4 * 4); /* who waits for this part */
    return VM_GO;
}

/* ---- groups ---- */
typedef struct wanted {
    const vm_warp *warp;
    uint32_t below;  /* groups of this warp */
    uint32_t number; /* wgmmas below this one of all warps of the warpgroup; 0: its own groups are all */
} wanted;

static bool is_wanted(const vm_async *o, void *user) {
    const wanted *w = user;
    if (o->class != VM_ASYNC_WGMMA || o->cta != w->warp->cta || o->warp->index / 4 != w->warp->index / 4)
        return false;
    return ((const payload *)o->of.bytes)->number < w->number || (o->warp == w->warp && o->group < w->below);
}

/* PTX ISA 9.7.15.7.3: the wait is for the groups of the executing threads. On an H200 (driver 580.159.04,
 * 2026-11-30) what one warp has waited for has ended for all four: with other work on the tensor core of one
 * warp the waits of all returned in the same cycle, whether or not the others had come to theirs, and B could
 * be overwritten behind the wait of any. So here; --strict-ptx keeps to the text. The number below which the
 * wgmmas of the warpgroup have ended, 0 where only the warp's own groups count. */
static uint32_t ended_below(const vm_warp *warp, uint32_t below) {
    const vm_wgmma_warp *state = warp->wgmma;
    uint32_t number = 0;
    if (warp->cta->run->launch->strict_ptx || warp->index / 4 * 4 + 4 > warp->cta->warp_count)
        return 0;
    for (size_t i = 0; i < state->flights.count; i++)
        if (state->flights.items[i].group < below)
            number = state->flights.items[i].number + 1;
    return number;
}

static void wait_for(vm_warp *warp, uint32_t below, bool all_warps) {
    wanted w = {warp, below, all_warps ? ended_below(warp, below) : 0};
    vm_async_finish(warp->cta, is_wanted, &w);
    vm_wgmma_warp *state = warp->wgmma;
    size_t kept = 0;
    for (size_t i = 0; i < state->flights.count; i++)
        if (state->flights.items[i].group >= below)
            state->flights.items[kept++] = state->flights.items[i];
    state->flights.count = kept;
}

/* Whether all warps have issued their parts: they have come to them, but take turns here. */
static bool all_issued(vm_warp *warp, uint32_t below) {
    uint32_t number = ended_below(warp, below), first = warp->index / 4 * 4;
    for (uint32_t w = first; number != 0 && w < first + 4; w++)
        if (warp->cta->warps[w].wgmma->issued < number)
            return false;
    return true;
}

vm_action vm_external_WGMMA_GROUP(vm_warp *warp, const vm_op *op, uint32_t mask) {
    vm_action action;
    vm_wgmma_group what = (vm_wgmma_group)(op->imm & 0xff);
    if (what != VM_WGMMA_END && !vm_matrix_gather(warp, mask, &action))
        return action;
    vm_wgmma_warp *state = state_of(warp);
    uint32_t keep = (uint32_t)(op->imm >> 8); /* END: 1: of a function that returns, which waits */
    switch (what) {
    case VM_WGMMA_COMMIT:
        state->group++;
        break;
    case VM_WGMMA_WAIT:
        if (state->group <= keep)
            break;
        if (!all_issued(warp, state->group - keep)) {
            vm_schedule_park(warp, VM_PARK_WGMMA, warp->index / 4 * 4);
            return VM_AGAIN;
        }
        wait_for(warp, state->group - keep, true);
        vm_race_group(warp, mask);
        break;
    case VM_WGMMA_END:
        if (mask != warp->live && keep == 0)
            break; /* others of the warp go on */
        for (size_t i = 0; keep == 0 && i < state->flights.count; i++)
            vm_finding_add(warp->cta, VM_FIND_WGMMA_UNWAITED, state->flights.items[i].pc, warp,
                           vm_first_lane(mask));
        wait_for(warp, UINT32_MAX, false);
        break;
    case VM_WGMMA_FENCE:
        break;
    }
    return warp->cta->status == VM_COMPLETE ? VM_GO : VM_HALT;
}

/* ---- checks that vm_wgmma_flow.c asks for ---- */
static void report_register(vm_warp *warp, vm_finding_kind kind, uint32_t number) {
    uint32_t pc = warp->splits[warp->current].pc;
    const vm_function *function = vm_program_function_at(warp->cta->run->program, pc);
    vm_finding *finding = vm_finding_add(warp->cta, kind, pc, warp, 0);
    if (finding != NULL)
        finding->text = function != NULL && number < function->source->registers.count
                            ? function->source->registers.items[number]->name
                            : "of the accumulator";
}

/* The flight that a register belongs to. A may be read. */
static const vm_wgmma_flight *flight_of(const vm_warp *warp, uint32_t ref, bool written) {
    const uint32_t *extras = warp->cta->run->program->extras.items;
    const vm_wgmma_warp *state = warp->wgmma;
    for (size_t n = 0; state != NULL && n < state->flights.count; n++) {
        const vm_wgmma_flight *flight = &state->flights.items[n];
        for (uint32_t k = 0; k < (written ? flight->count : flight->d_count); k++)
            if ((extras[flight->list + k] & ~VM_REF_WRITTEN) == ref)
                return flight;
    }
    return NULL;
}

/* Registers (read) that may belong to a wgmma in flight; imm: place of their numbers in the program's extras.
 */
vm_action vm_external_WGMMA_TOUCH(vm_warp *warp, const vm_op *op, uint32_t mask) {
    (void)mask;
    const uint32_t *extras = warp->cta->run->program->extras.items, *list = extras + op->x;
    for (uint32_t i = 0; i < list[0]; i++) {
        uint32_t number = extras[op->imm + i];
        const vm_wgmma_flight *flight = flight_of(warp, list[1 + i], number & VM_WGMMA_WRITTEN);
        if (flight == NULL)
            continue;
        if (number & VM_WGMMA_COPIED) {
            wait_for(warp, flight->group + 1, true);
            continue;
        }
        report_register(warp, VM_FIND_WGMMA_TOUCHED, number & ~(VM_WGMMA_WRITTEN | VM_WGMMA_COPIED));
        break;
    }
    return warp->cta->status == VM_COMPLETE ? VM_GO : VM_HALT;
}

/* Registers of wgmmas that a wait has covered: they keep their rows until here. */
vm_action vm_external_WGMMA_KEEP(vm_warp *warp, const vm_op *op, uint32_t mask) {
    (void)warp, (void)op, (void)mask;
    return VM_GO;
}

/* No wgmma.fence stands between an access of register imm and the next wgmma, on any way. */
vm_action vm_external_WGMMA_UNFENCED(vm_warp *warp, const vm_op *op, uint32_t mask) {
    (void)mask;
    report_register(warp, VM_FIND_WGMMA_FENCE, (uint32_t)op->imm);
    return VM_GO;
}
