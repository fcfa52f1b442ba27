/* SPDX-License-Identifier: Apache-2.0
 * tcgen05.mma and tcgen05.mma.ws (PTX ISA 9.7.16.10). Everything is checked when the instruction is issued;
 * operands are read and D is written when it completes, after what was issued before it in the same CTA or
 * pair. In a pair each CTA holds its rows of A and D and half of the columns of B, at the same addresses. */
#include "vm/vm_cluster.h"
#include "vm/vm_proxy.h"
#include "vm/vm_tensor.h"
#include "vm/vm_tmem_record.h"

typedef struct issue { /* payload of the operation */
    uint64_t a, b;     /* descriptors, or the address of A */
    uint32_t d, idesc, factor_a, factor_b;
    uint32_t imm, lane;
    uint32_t keep[8];
    uint32_t cta_count;
    bool enable;
    vm_cta *ctas[2];
    vm_tensor_accumulator *accumulator;
    uint64_t flights[6]; /* sources in tensor memory: three for each CTA */
} issue;
_Static_assert(sizeof(issue) <= VM_ASYNC_BYTES, "payload");

typedef struct problem { /* an issue, decoded */
    vm_tensor_form form;
    vm_tensor_instruction in;
    vm_tensor_matrix a, b;
    char datapath;
    vm_tensor_place place;
    bool half_lanes;         /* lane field 16 */
    unsigned a_rows, b_rows; /* in one CTA */
} problem;

/* ---- areas of tensor memory ---- */
static vm_tmem_area d_area(const issue *is, const problem *p) {
    vm_tmem_area area = {.column = VM_TMEM_COLUMN(is->d), .columns = p->place.columns};
    vm_tensor_place_lanes(&p->place, area.lanes);
    return area;
}
static vm_tmem_area a_area(const issue *is, const problem *p) {
    vm_tmem_area area = {.column = VM_TMEM_COLUMN((uint32_t)is->a), .columns = 8};
    vm_tensor_place_lanes(&p->place, area.lanes);
    return area;
}
static vm_tmem_area factor_area(uint32_t taddr, unsigned count) {
    return vm_tmem_rows(VM_TMEM_COLUMN(taddr), (count + 31) / 32, 0, VM_TMEM_LANES);
}
static bool halved_factors(const problem *p) {
    return p->datapath == 'B';
}
static unsigned factor_b_count(const problem *p) {
    return halved_factors(p) ? p->in.n / 2 : p->in.n;
}

/* ---- checks ---- */
static void report_text(vm_warp *warp, vm_finding_kind kind, uint32_t pc, unsigned lane, uint64_t descriptor,
                        const char *operand, const vm_tensor_violations *violations) {
    vm_finding *finding = vm_tensor_report(warp, kind, pc, lane, descriptor, 0, 0);
    if (finding == NULL)
        return;
    base_builder text;
    base_builder_start(&text, vm_finding_arena(warp->cta));
    if (operand != NULL)
        base_builder_format(&text, "%s: ", operand);
    vm_tensor_violations_print(violations, &text);
    finding->text = text.data;
}

static bool matrix_fits(vm_warp *warp, uint32_t pc, unsigned lane, uint64_t descriptor, const char *operand,
                        const problem *p, num_dtype type, bool mn_major, vm_tensor_matrix *matrix) {
    vm_tensor_violations violations;
    vm_tensor_matrix_decode(descriptor, matrix, &violations);
    vm_tensor_matrix_check(matrix, type, vm_tensor_container_bits(p->form.kind, type), mn_major, &violations);
    if (violations.count == 0)
        return true;
    report_text(warp, VM_FIND_TENSOR_MATRIX, pc, lane, descriptor, operand, &violations);
    return false;
}

/* Decodes; false after reporting what is wrong with the descriptors. */
static bool decode(vm_warp *warp, uint32_t pc, unsigned lane, const issue *is, problem *p) {
    vm_tensor_violations violations;
    memset(p, 0, sizeof *p);
    p->form = vm_tensor_form_of(is->imm);
    vm_tensor_instruction_decode(is->idesc, &p->form, &p->in, &violations);
    if (violations.count != 0) {
        report_text(warp, VM_FIND_TENSOR_INSTRUCTION, pc, lane, is->idesc, NULL, &violations);
        return false;
    }
    p->datapath = vm_tensor_datapath(p->in.m, p->form.cta_group, p->form.ws, false);
    p->half_lanes = VM_TMEM_LANE(is->d) == 16;
    p->place = vm_tensor_place_of(p->datapath, p->in.n, p->half_lanes);
    p->a_rows = p->in.m / p->form.cta_group;
    p->b_rows = p->in.n / p->form.cta_group;
    bool good =
        p->form.a_in_tmem || matrix_fits(warp, pc, lane, is->a, "A", p, p->in.a, p->in.transpose_a, &p->a);
    return matrix_fits(warp, pc, lane, is->b, "B", p, p->in.b, p->in.transpose_b, &p->b) && good;
}

/* Lane fields: D and A have 0, or both 16 where a datapath uses half of each window. */
static bool lanes_fit(vm_warp *warp, uint32_t pc, unsigned lane, const issue *is, const problem *p) {
    uint32_t d = VM_TMEM_LANE(is->d), most = p->datapath == 'F' || p->datapath == 'C' ? 16 : 0;
    bool good = true;
    if (d != 0 && d != most) {
        vm_tensor_report(warp, VM_FIND_TENSOR_LANE, pc, lane, is->d, 'D', most);
        good = false;
    }
    if (p->form.a_in_tmem && VM_TMEM_LANE((uint32_t)is->a) != d) {
        vm_tensor_report(warp, VM_FIND_TENSOR_LANE, pc, lane, is->a, 'A', d);
        good = false;
    }
    if (p->in.scale != NUM_DTYPE_NONE &&
        (VM_TMEM_LANE(is->factor_a) != 0 || VM_TMEM_LANE(is->factor_b) != 0)) {
        bool first = VM_TMEM_LANE(is->factor_a) != 0;
        vm_tensor_report(warp, VM_FIND_TENSOR_LANE, pc, lane, first ? is->factor_a : is->factor_b, 'S', 0);
        good = false;
    }
    return good;
}

/* A tile in the shared memory of one CTA: inside, and nothing on its way writes it. */
static bool tile_fits(vm_warp *warp, uint32_t pc, unsigned lane, vm_cta *cta, const vm_tensor_matrix *matrix,
                      const problem *p, num_dtype type, bool mn_major, unsigned rows, vm_range *range) {
    uint32_t begin, end;
    vm_tensor_span(matrix, p->form.kind, type, mn_major, rows, p->in.k, &begin, &end);
    *range = (vm_range){.space = VM_RANGE_SHARED, .cta = cta, .begin = begin, .end = end};
    if (end > cta->shared_bytes) {
        vm_tensor_report(warp, VM_FIND_TENSOR_TILE, pc, lane, begin, end - begin, cta->shared_bytes);
        return false;
    }
    vm_async_conflict(warp, pc, lane, range, NULL);
    vm_tensor_reader reader = {warp, pc, lane};
    if (cta == warp->cta && vm_proxy_tagged(cta, begin, end))
        vm_tensor_visit(matrix, p->form.kind, type, mn_major, rows, p->in.k, vm_tensor_read, &reader);
    if (cta->proxy != NULL)
        vm_proxy_tile(warp, pc, lane, cta, matrix->start, vm_tensor_tile_layout(matrix->swizzle));
    return true;
}

/* Another MMA on its way that writes there. */
static bool unordered(vm_warp *warp, uint32_t pc, unsigned lane, vm_cta *cta, const vm_tmem_area *area,
                      uint64_t except, bool store) {
    const vm_tmem *t = vm_tmem_of(cta);
    const vm_tmem_flight *flight = NULL;
    for (size_t i = 0; flight == NULL && i < t->flights.count; i++) {
        const vm_tmem_flight *f = &t->flights.items[i];
        if (f->kind == VM_TMEM_MMA && f->id != except && vm_tmem_overlap(&f->area, area))
            flight = f;
    }
    if (flight == NULL)
        return false;
    vm_finding *finding = vm_tensor_report(warp, VM_FIND_TENSOR_ORDER, pc, lane,
                                           VM_TMEM_ADDRESS(0, flight->area.column), flight->area.columns, 0);
    if (finding != NULL) {
        finding->is_store = store;
        finding->other = vm_program_instruction_at(warp->cta->run->program, flight->pc);
    }
    return true;
}

/* A source in tensor memory: A or scale factors. */
static bool source_fits(vm_warp *warp, uint32_t pc, unsigned lane, vm_cta *cta, const vm_tmem_area *area,
                        const vm_tmem_area *d, uint64_t except, const problem *p, bool is_a,
                        uint64_t *flight) {
    bool shifts = is_a && p->form.shifts_a;
    if (!vm_tmem_allowed(warp, pc, lane, cta, area, false))
        return false;
    if (vm_tmem_overlap(area, d)) {
        vm_tensor_report(warp, VM_FIND_TENSOR_OVERLAP, pc, lane, area->column, area->columns, d->column);
        return false;
    }
    bool met = vm_tmem_conflict(warp, pc, lane, cta, area, VM_TMEM_STORE | (shifts ? VM_TMEM_LOAD : 0));
    if (!unordered(warp, pc, lane, cta, area, except, false) && !met) {
        vm_tmem_initialised(warp, pc, lane, cta, area, false);
        vm_tensor_layout_check(warp, pc, lane, cta, area, is_a ? 'A' : 'S',
                               is_a && p->in.a == NUM_DTYPE_TF32 ? VM_TMEM_LAYOUT(p->datapath, 0, 0, p->in.n)
                                                                 : 0);
        vm_tmem_engine_ordered(warp, pc, lane, cta, area);
    }
    if (shifts) {
        *flight = vm_tensor_shift_begin(warp, pc, cta, area, VM_TMEM_ASHIFT);
        return true;
    }
    *flight = vm_tmem_flight_begin(vm_tmem_of(cta), VM_TMEM_MMA_SOURCE, vm_tmem_agent(warp), pc, area);
    return true;
}

/* The accumulator that operations on their way already write in this shape, or a new one. */
static vm_tensor_accumulator *accumulator_of(vm_warp *warp, const issue *is, const problem *p, bool *known) {
    vm_tensor_cta *state = vm_tensor_cta_of(warp->cta);
    vm_tensor_accumulator *spare = NULL;
    bool half = p->in.d == NUM_DTYPE_F16;
    for (size_t i = 0; i < state->accumulators.count; i++) {
        vm_tensor_accumulator *a = state->accumulators.items[i];
        if (a->count == 0)
            spare = a;
        else if (a->address == is->d && a->m == p->in.m && a->n == p->in.n && a->datapath == p->datapath &&
                 a->half == half && a->pair == (p->form.cta_group == 2)) {
            *known = true;
            return a;
        }
    }
    if (spare == NULL) {
        spare = BASE_NEW(warp->cta->arena, vm_tensor_accumulator);
        base_vector_push(warp->cta->arena, &state->accumulators, spare);
    }
    *spare = (vm_tensor_accumulator){.address = is->d,
                                     .m = (uint16_t)p->in.m,
                                     .n = (uint16_t)p->in.n,
                                     .agent = vm_tmem_agent(warp),
                                     .pair = p->form.cta_group == 2,
                                     .half = half,
                                     .datapath = p->datapath,
                                     .ctas = {is->ctas[0], is->ctas[1]}};
    *known = false;
    return spare;
}

/* D in one CTA. Work on an accumulator that is on its way was checked when its first operation was issued. */
static void claim_d(vm_warp *warp, uint32_t pc, const issue *is, const problem *p, unsigned c, bool known) {
    vm_tmem_area area = d_area(is, p);
    vm_cta *cta = is->ctas[c];
    unsigned lane = is->lane;
    bool half = p->in.d == NUM_DTYPE_F16, met;
    uint16_t layout = VM_TMEM_LAYOUT(p->datapath, half, p->in.d == NUM_DTYPE_I32, p->in.n);
    met = vm_tmem_conflict(warp, pc, lane, cta, &area, VM_TMEM_LOAD | VM_TMEM_STORE);
    if (known || vm_unchecked(cta))
        return;
    if (!unordered(warp, pc, lane, cta, &area, 0, true) && !met) {
        if (is->enable) {
            vm_tmem_initialised(warp, pc, lane, cta, &area, half);
            vm_tensor_layout_check(warp, pc, lane, cta, &area, 'D', layout);
        }
        vm_tmem_engine_ordered(warp, pc, lane, cta, &area);
    }
    vm_tmem_written(warp, pc, cta, &area, half, layout);
    is->accumulator->flights[c] =
        vm_tmem_flight_begin(vm_tmem_of(cta), VM_TMEM_MMA, vm_tmem_agent(warp), pc, &area);
}

static void collect(vm_warp *warp, uint32_t pc, const issue *is) {
    vm_tensor_cta *state = vm_tensor_cta_of(warp->cta);
    unsigned buffer = VM_TENSOR_FIELD(is->imm, BUFFER) & 7, what = VM_TENSOR_FIELD(is->imm, COLLECTOR) & 3;
    uint64_t operand = buffer == 0 ? is->a : is->b;
    bool uses = what == VM_TENSOR_USE || what == VM_TENSOR_LASTUSE;
    if (uses && (!state->collector[buffer] || state->collected[buffer] != operand))
        vm_tensor_report(warp, VM_FIND_TENSOR_COLLECTOR, pc, is->lane, buffer, state->collector[buffer], 0);
    state->collector[buffer] = what == VM_TENSOR_FILL || what == VM_TENSOR_USE;
    if (what == VM_TENSOR_FILL)
        state->collected[buffer] = operand;
}

/* ---- completion ---- */
static void gather_factors(const vm_async *o, vm_cta *cta, uint32_t taddr, unsigned count, unsigned id,
                           unsigned vec, bool halves, uint8_t (*to)[4]) {
    const vm_tmem *t = vm_tmem_of(cta);
    for (unsigned i = 0; i < count; i++) {
        uint32_t lane, column;
        vm_tensor_factor_place(i, count, halves, &lane, &column);
        const uint32_t *cells = t->cells[VM_TMEM_COLUMN(taddr) + column];
        for (unsigned s = 0; s < vec; s++)
            to[i][s] = (uint8_t)(cells[lane] >> 8 * (id + s));
        uint32_t bits = (vec == 4 ? ~0u : (1u << 8 * vec) - 1) << 8 * id;
        for (unsigned copy = lane + 32; copy < (halves ? lane / 64 * 64 + 64 : VM_TMEM_LANES); copy += 32)
            if (((cells[copy] ^ cells[lane]) & bits) != 0) {
                vm_tensor_report(o->warp, VM_FIND_TENSOR_FACTORS, o->pc, vm_first_lane(o->mask),
                                 VM_TMEM_ADDRESS(copy, VM_TMEM_COLUMN(taddr) + column), cells[copy],
                                 cells[lane]);
                break;
            }
    }
}

/* Rows of A in tensor memory: an element stands in the lane of the row of D that it is for. */
static void gather_a_rows(vm_cta *cta, const issue *is, const problem *p, unsigned fold, uint8_t *codes) {
    const vm_tmem *t = vm_tmem_of(cta);
    unsigned row_bytes = p->in.k * vm_tensor_code_bytes(p->in.a);
    for (unsigned r = 0; r < p->a_rows; r++) {
        uint32_t cells[8],
            lane = p->place.lane[r / VM_TENSOR_CHUNK] + r % VM_TENSOR_CHUNK + fold * p->place.fold_lanes;
        for (unsigned w = 0; w < 8; w++)
            cells[w] = t->cells[VM_TMEM_COLUMN((uint32_t)is->a) + w][lane];
        vm_tensor_row_codes(p->form.kind, p->in.a, cells, codes + r * row_bytes);
    }
}

static void multiply_cta(const vm_async *o, const issue *is, const problem *p, unsigned c,
                         vm_tensor_cta *state) {
    vm_cta *cta = is->ctas[c];
    vm_tmem *t = vm_tmem_of(cta);
    vm_tmem_area area = d_area(is, p);
    vm_tmem_allocation found;
    uint32_t column, outside;
    if (vm_tmem_check(t, &area, cta->linear, &column, &found) != VM_TMEM_FINE)
        return; /* given back meanwhile: reported there */
    uint32_t *d[VM_TENSOR_COLUMNS];
    uint8_t column_lane[VM_TENSOR_COLUMNS], factor_a[VM_TENSOR_ROWS][4], factor_b[VM_TENSOR_COLUMNS][4];
    for (unsigned n = 0, fold = 0; n < p->in.n; fold++)
        for (unsigned i = 0; i < p->place.columns; i++, n++) {
            column_lane[n] = (uint8_t)(fold * p->place.fold_lanes);
            d[n] = &t->cells[area.column + i][column_lane[n]];
        }
    const vm_launch *launch = cta->run->launch;
    bool integer = p->form.kind == VM_TENSOR_I8, scaled = p->in.scale != NUM_DTYPE_NONE;
    vm_tensor_job job = {.a_type = p->in.a,
                         .b_type = p->in.b,
                         .rows = p->place.rows,
                         .columns = p->in.n,
                         .depth = p->in.k,
                         .negate_a = p->in.negate_a,
                         .negate_b = p->in.negate_b,
                         .enable_d = is->enable,
                         .integer = integer,
                         .saturate = p->in.saturate,
                         .a = state->a,
                         .b = state->b,
                         .scale_type = p->in.scale,
                         .factor_a = factor_a,
                         .factor_b = factor_b,
                         .d = d,
                         .column_lane = column_lane,
                         .lane = p->place.lane};
    memcpy(job.keep, is->keep + 4 * c, sizeof job.keep);
    if (!integer) {
        job.model =
            vm_fused_model_of(launch->numerics, 100, VM_FUSED_TCGEN05, p->in.a, p->in.k, p->in.d, scaled);
        job.model.scale_c = VM_TENSOR_FIELD(is->imm, SCALE_D) & 15;
    }
    if (scaled) {
        job.block = p->in.k / p->form.scale_vec;
        gather_factors(o, cta, is->factor_a, p->a_rows, p->in.factor_a, p->form.scale_vec, false, factor_a);
        gather_factors(o, cta, is->factor_b, p->in.n, p->in.factor_b, p->form.scale_vec, halved_factors(p),
                       factor_b);
    }
    if (!p->form.a_in_tmem) {
        if (vm_tensor_gather(&p->a, p->form.kind, p->in.a, p->in.transpose_a, p->a_rows, p->in.k, cta->shared,
                             cta->shared_bytes, state->a, &outside))
            state->multiply(&job, state->scratch);
        return;
    }
    unsigned row_bytes = p->in.k * vm_tensor_code_bytes(p->in.b);
    for (unsigned fold = 0; fold < p->place.folds; fold++) {
        unsigned first = fold * p->place.columns;
        gather_a_rows(cta, is, p, fold, state->a);
        job.columns = p->place.columns;
        job.d = d + first;
        job.column_lane = column_lane + first;
        job.b = state->b + (size_t)first * row_bytes;
        job.factor_b = factor_b + first;
        state->multiply(&job, state->scratch);
    }
}

static void complete(vm_async *o) {
    const issue *is = (const issue *)(const void *)o->of.bytes;
    problem p;
    if (!decode(o->warp, o->pc, is->lane, is, &p))
        return;
    vm_tensor_cta *state = vm_tensor_cta_of(o->cta);
    unsigned row_bytes = p.in.k * vm_tensor_code_bytes(p.in.b);
    uint32_t outside;
    for (unsigned c = 0; c < is->cta_count; c++)
        if (!vm_tensor_gather(&p.b, p.form.kind, p.in.b, p.in.transpose_b, p.b_rows, p.in.k,
                              is->ctas[c]->shared, is->ctas[c]->shared_bytes,
                              state->b + (size_t)c * p.b_rows * row_bytes, &outside)) {
            vm_tensor_report(o->warp, VM_FIND_TENSOR_TILE, o->pc, is->lane, outside, 16,
                             is->ctas[c]->shared_bytes);
            return;
        }
    for (unsigned c = 0; c < is->cta_count; c++)
        multiply_cta(o, is, &p, c, state);
    vm_tmem_area a = a_area(is, &p); /* .ashift: the product has read A as it was (docs/machine_tensor.md) */
    for (unsigned c = 0; p.form.shifts_a && c < is->cta_count; c++)
        vm_tensor_shift_rows(is->ctas[c], &a);
}

/* Somebody has waited for it. */
static void observed(vm_async *o) {
    const issue *is = (const issue *)(const void *)o->of.bytes;
    vm_tensor_accumulator *a = is->accumulator;
    for (unsigned i = 0; i < 6; i++)
        if (is->flights[i] != 0)
            vm_tmem_flight_end(vm_tmem_of(is->ctas[i / 3]), is->flights[i]);
    if (--a->count != 0)
        return;
    for (unsigned c = 0; c < is->cta_count; c++)
        if (a->flights[c] != 0)
            vm_tmem_flight_end(vm_tmem_of(is->ctas[c]), a->flights[c]);
}

/* ---- issue ---- */
static void issue_lane(vm_warp *warp, uint32_t pc, uint32_t imm, const uint32_t *list, unsigned lane) {
    issue is = {.d = vm_operand32(warp, list[VM_TENSOR_LIST_D], lane),
                .b = vm_operand64(warp, list[VM_TENSOR_LIST_B], lane),
                .idesc = vm_operand32(warp, list[VM_TENSOR_LIST_IDESC], lane),
                .enable = *(const uint32_t *)vm_operand(warp, list[VM_TENSOR_LIST_ENABLE]) >> lane & 1,
                .imm = imm,
                .lane = lane};
    problem p;
    is.a = imm & VM_TENSOR_A_IN_TMEM ? vm_operand32(warp, list[VM_TENSOR_LIST_A], lane)
                                     : vm_operand64(warp, list[VM_TENSOR_LIST_A], lane);
    if (VM_TENSOR_KIND(imm) >= VM_TENSOR_MXF8F6F4) {
        is.factor_a = vm_operand32(warp, list[VM_TENSOR_LIST_FACTOR_A], lane);
        is.factor_b = vm_operand32(warp, list[VM_TENSOR_LIST_FACTOR_B], lane);
    }
    for (unsigned k = 0; k < (VM_TENSOR_FIELD(imm, MASK) & 15); k++)
        is.keep[k] = vm_operand32(warp, list[VM_TENSOR_LIST_MASK + k], lane);
    vm_tmem_group(warp, pc, lane, imm & VM_TENSOR_PAIR ? 2 : 1);
    is.cta_count = vm_tensor_ctas(warp, pc, lane, imm & VM_TENSOR_PAIR, is.ctas);
    vm_tensor_issued(warp, pc, lane);
    collect(warp, pc, &is);
    if (is.cta_count == 0 || !decode(warp, pc, lane, &is, &p))
        return;
    bool good = lanes_fit(warp, pc, lane, &is, &p), known = false;
    vm_range ranges[VM_ASYNC_RANGES];
    uint32_t range_count = 0;
    vm_tmem_area d = d_area(&is, &p), a = a_area(&is, &p), factors[2];
    for (unsigned c = 0; good && c < is.cta_count; c++)
        good = vm_tmem_allowed(warp, pc, lane, is.ctas[c], &d, true);
    for (unsigned c = 0; good && c < is.cta_count; c++) {
        vm_cta *cta = is.ctas[c];
        if (!p.form.a_in_tmem)
            good = tile_fits(warp, pc, lane, cta, &p.a, &p, p.in.a, p.in.transpose_a, p.a_rows,
                             &ranges[range_count++]);
        good &= tile_fits(warp, pc, lane, cta, &p.b, &p, p.in.b, p.in.transpose_b, p.b_rows,
                          &ranges[range_count++]);
    }
    if (!good)
        return;
    is.accumulator = accumulator_of(warp, &is, &p, &known);
    for (unsigned c = 0; good && c < is.cta_count; c++) {
        vm_cta *cta = is.ctas[c];
        uint64_t own = is.accumulator->flights[c];
        if (p.form.a_in_tmem)
            good = source_fits(warp, pc, lane, cta, &a, &d, own, &p, true, &is.flights[3 * c]);
        if (p.in.scale == NUM_DTYPE_NONE)
            continue;
        factors[0] = factor_area(is.factor_a, p.a_rows);
        factors[1] = factor_area(is.factor_b, factor_b_count(&p));
        for (unsigned k = 0; good && k < 2; k++)
            good =
                source_fits(warp, pc, lane, cta, &factors[k], &d, own, &p, false, &is.flights[3 * c + 1 + k]);
    }
    if (!good) {
        for (unsigned i = 0; i < 6; i++)
            if (is.flights[i] != 0)
                vm_tmem_flight_end(vm_tmem_of(is.ctas[i / 3]), is.flights[i]);
        return;
    }
    for (unsigned c = 0; c < is.cta_count; c++)
        claim_d(warp, pc, &is, &p, c, known);
    is.accumulator->count++;
    if (vm_tmem_recorded(warp->cta)) {
        bool pair = is.cta_count == 2;
        vm_tmem_record_access(warp, VM_TMEM_EVENT_MMA, pc, &d, 1, 0, pair, lane);
        if (p.form.a_in_tmem)
            vm_tmem_record_access(warp, VM_TMEM_EVENT_MMA_A, pc, &a, 1, 0, pair, lane);
        if (p.in.scale != NUM_DTYPE_NONE)
            vm_tmem_record_access(warp, VM_TMEM_EVENT_MMA_FACTORS, pc, factors, 2, 0, pair, lane);
    }
    vm_async *o = vm_async_new(warp, VM_ASYNC_TENSOR, 1u << lane);
    o->complete = complete;
    o->observed = observed;
    o->order = vm_tensor_order(is.ctas);
    o->range_count = range_count;
    memcpy(o->ranges, ranges, range_count * sizeof *ranges);
    memcpy(o->of.bytes, &is, sizeof is);
    vm_async_issue(o);
}

vm_action vm_external_TENSOR_MMA(vm_warp *warp, const vm_op *op, uint32_t mask) {
    const uint32_t *list = warp->cta->run->program->extras.items + op->x + 1;
    uint32_t pc = warp->splits[warp->current].pc;
    vm_tensor_single(warp, pc, mask, VM_FIND_TENSOR_LANES);
    if (op->imm & VM_TENSOR_ZERO_MASK) /* which columns it zeroes is not documented in words */
        VM_FOR_LANES(lane, mask)
    if (vm_operand64(warp, list[VM_TENSOR_LIST_FACTOR_A], lane) != 0) {
        vm_tensor_report(warp, VM_FIND_TENSOR_ZERO_MASK, pc, lane,
                         vm_operand64(warp, list[VM_TENSOR_LIST_FACTOR_A], lane), 0, 0);
        warp->cta->status = VM_UNSUPPORTED;
        return VM_HALT;
    }
    VM_FOR_LANES(lane, mask)
    issue_lane(warp, pc, (uint32_t)op->imm, list, lane);
    return VM_GO;
}
