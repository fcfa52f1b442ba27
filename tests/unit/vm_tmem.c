/* SPDX-License-Identifier: Apache-2.0
 * Tensor memory as plain data: allocation against a slow model of 16 units, writers and written cells against
 * one byte per cell, and every form of tcgen05.ld and st against formulas and against the layout module's
 * fragments. */
#include "unit/unit.h"
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "layout/fragment.h"
#include "vm/vm_tmem.h"

static uint32_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* ---- allocation ---- */
static void allocation_against_model(void **state) {
    vm_tmem *t = vm_tmem_create(*state);
    for (uint64_t seed = 1; seed <= 40; seed++) {
        uint64_t random = seed;
        uint32_t base = seed % 3 == 0 ? 32 * (uint32_t)(seed % 16) : 0;
        int unit_owner[16], unit_first[16];
        memset(unit_owner, -1, sizeof unit_owner);
        vm_tmem_reset(t, base, seed % 4 == 1 ? seed : 0);
        for (int step = 0; step < 400; step++) {
            uint32_t columns = 32u << next_random(&random) % 5, owner = next_random(&random) % 3;
            if (next_random(&random) % 2) {
                /* every place that a multiple of the size leaves free */
                bool possible[16] = {false}, any = false;
                uint32_t units = columns / 32;
                for (uint32_t u = 0; u < 16; u += units) {
                    possible[u] = true;
                    for (uint32_t k = u; k < u + units; k++)
                        possible[u] &= unit_owner[k] < 0;
                    any |= possible[u];
                }
                int32_t at = vm_tmem_place(t, NULL, columns);
                if (!any) {
                    assert_int_equal(at, -1);
                    continue;
                }
                assert_true(at >= 0 && at % 32 == 0 && possible[at / 32]);
                if (t->random == 0) { /* the first one at or after the base, going round */
                    uint32_t u = (base / 32 + units - 1) / units * units % 16;
                    while (!possible[u])
                        u = (u + units) % 16;
                    assert_int_equal(at, u * 32);
                }
                vm_tmem_take(t, (uint32_t)at, columns, owner, 7, false);
                for (uint32_t k = 0; k < units; k++) {
                    unit_owner[at / 32 + k] = (int)owner;
                    unit_first[at / 32 + k] = (int)at;
                }
            } else {
                uint32_t unit = next_random(&random) % 16,
                         taddr = unit * 32 + (next_random(&random) % 8 == 0);
                uint32_t size = 0;
                for (uint32_t k = 0; k < 16; k++)
                    size += unit_owner[unit] >= 0 && unit_owner[k] >= 0 && unit_first[k] == unit_first[unit]
                                ? 32
                                : 0;
                vm_tmem_allocation found;
                vm_tmem_free_result want = unit_owner[unit] < 0             ? VM_TMEM_FREE_NOBODYS
                                           : unit_owner[unit] != (int)owner ? VM_TMEM_FREE_FOREIGN
                                           : unit_first[unit] != (int)taddr ? VM_TMEM_FREE_INSIDE
                                           : size != columns                ? VM_TMEM_FREE_SIZE
                                                                            : VM_TMEM_FREED;
                assert_int_equal(vm_tmem_free(t, taddr, columns, owner, false, &found), want);
                if (want == VM_TMEM_FREED) {
                    assert_int_equal(found.pc, 7);
                    for (uint32_t k = 0; k < size / 32; k++)
                        unit_owner[unit + k] = -1;
                }
            }
            uint32_t owned = 0;
            for (uint32_t k = 0; k < 16; k++) {
                owned += unit_owner[k] >= 0;
                const vm_tmem_allocation *a = vm_tmem_find(t, k * 32 + 31);
                assert_int_equal(a ? (int)a->owner : -1, unit_owner[k]);
            }
            assert_int_equal(vm_tmem_free_columns(t), 512 - 32 * owned);
        }
    }
}

static void allocation_corners(void **state) {
    vm_tmem *t = vm_tmem_create(*state), *peer = vm_tmem_create(*state);
    static const uint32_t bad[] = {0, 1, 16, 31, 33, 48, 96, 100, 384, 513, 1024, 0x80000000u};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(vm_tmem_place(t, NULL, bad[i]), -1);
    /* a pair wants the same place in both */
    vm_tmem_take(t, 0, 128, 1, 0, false);
    vm_tmem_take(peer, 128, 128, 2, 0, false);
    assert_int_equal(vm_tmem_place(t, peer, 128), 256);
    assert_int_equal(vm_tmem_place(t, peer, 256), 256);
    assert_int_equal(vm_tmem_place(t, peer, 512), -1);
    vm_tmem_allocation found;
    assert_int_equal(vm_tmem_free(t, 512, 128, 1, false, &found), VM_TMEM_FREE_OUTSIDE);
    assert_int_equal(vm_tmem_free(t, VM_TMEM_ADDRESS(32, 0), 128, 1, false, &found), VM_TMEM_FREE_OUTSIDE);
    assert_int_equal(vm_tmem_free(t, 0, 128, 1, true, &found), VM_TMEM_FREE_GROUP);
    assert_int_equal(vm_tmem_free(t, 0, 128, 1, false, &found), VM_TMEM_FREED);
    assert_int_equal(vm_tmem_free(t, 0, 128, 1, false, &found), VM_TMEM_FREE_NOBODYS);
    vm_tmem_area area = vm_tmem_rows(100, 60, 0, 32);
    uint32_t column;
    vm_tmem_take(t, 64, 64, 5, 3, false);
    assert_int_equal(vm_tmem_check(t, &area, 5, &column, &found), VM_TMEM_UNALLOCATED);
    assert_int_equal(column, 128);
    vm_tmem_take(t, 128, 32, 6, 4, false);
    assert_int_equal(vm_tmem_check(t, &area, 5, &column, &found), VM_TMEM_FOREIGN);
    assert_int_equal(found.pc, 4);
    assert_int_equal(vm_tmem_free(t, 128, 32, 6, false, &found), VM_TMEM_FREED);
    vm_tmem_take(t, 128, 32, 5, 4, false); /* two allocations of one owner, side by side */
    assert_int_equal(vm_tmem_check(t, &area, 5, &column, &found), VM_TMEM_FINE);
    area = vm_tmem_rows(600, 1, 0, 32);
    assert_int_equal(vm_tmem_check(t, &area, 5, &column, &found), VM_TMEM_OUTSIDE);
    area = vm_tmem_rows(UINT32_MAX, 4, 0, 32);
    assert_int_equal(vm_tmem_check(t, &area, 5, &column, &found), VM_TMEM_OUTSIDE);
}

/* ---- written cells, writers, flights ---- */
static void writers_against_model(void **state) {
    static uint8_t low[512][128], high[512][128];
    static uint64_t clock_of[512][8];
    static uint16_t agent_of[512][8];
    vm_tmem *t = vm_tmem_create(*state);
    uint64_t random = 5, clock = 0;
    for (int step = 0; step < 600; step++) {
        uint32_t column = next_random(&random) % 480, columns = 1 + next_random(&random) % 32;
        uint32_t lane = next_random(&random) % 8 * 16, lanes = 16u << next_random(&random) % 3;
        bool half = next_random(&random) % 3 == 0;
        if (lane + lanes > 128)
            lanes = 128 - lane;
        vm_tmem_area area = vm_tmem_rows(column, columns, lane, lanes);
        if (next_random(&random) % 2) {
            uint16_t agent = (uint16_t)(next_random(&random) % 3);
            vm_tmem_mark(t, &area, half, (vm_tmem_writer){.agent = agent, .pc = (uint32_t)step});
            clock++;
            for (uint32_t c = column; c < column + columns; c++)
                for (uint32_t l = lane; l < lane + lanes; l++) {
                    low[c][l] = 1;
                    high[c][l] = !half;
                    clock_of[c][l / 16] = clock;
                    agent_of[c][l / 16] = agent;
                }
            continue;
        }
        bool missing = false;
        for (uint32_t c = column; c < column + columns; c++)
            for (uint32_t l = lane; l < lane + lanes; l++)
                missing |= !low[c][l] || (!half && !high[c][l]);
        uint32_t at_column = 0, at_lane = 0;
        assert_int_equal(vm_tmem_unwritten(t, &area, half, &at_column, &at_lane), missing);
        if (missing)
            assert_true(!low[at_column][at_lane] || (!half && !high[at_column][at_lane]));
        uint64_t after = clock > 20 ? clock - next_random(&random) % 20 : 0, want = 0;
        for (uint32_t c = column; c < column + columns; c++)
            for (uint32_t l = lane; l < lane + lanes; l++)
                if (clock_of[c][l / 16] > after && agent_of[c][l / 16] != 1 && clock_of[c][l / 16] > want)
                    want = clock_of[c][l / 16];
        const vm_tmem_writer *writer = vm_tmem_foreign_writer(t, &area, after, 1, 0);
        assert_int_equal(writer ? writer->clock : 0, want);
    }
}

static void flights(void **state) {
    vm_tmem *t = vm_tmem_create(*state);
    vm_tmem_area a = vm_tmem_rows(0, 8, 0, 32), b = vm_tmem_rows(4, 8, 32, 32),
                 c = vm_tmem_rows(7, 1, 16, 32);
    uint64_t released = 3;
    uint64_t first = vm_tmem_flight_begin(t, VM_TMEM_LOAD, 1, 10, &a);
    uint64_t second = vm_tmem_flight_begin(t, VM_TMEM_STORE, 2, 11, &b);
    assert_int_equal(vm_tmem_flight_find(t, &c, VM_TMEM_ANY, 1, 4)->id, first);
    assert_int_equal(vm_tmem_flight_find(t, &c, VM_TMEM_WRITERS, 0, 4)->pc, 11);
    assert_null(vm_tmem_flight_find(t, &a, VM_TMEM_WRITERS, 0, 4));
    vm_tmem_flight_waited(t, first, 5, &released);
    assert_int_equal(vm_tmem_flight_find(t, &c, VM_TMEM_ANY, 1, 4)->id, second); /* its own warp knows */
    assert_int_equal(vm_tmem_flight_find(t, &c, VM_TMEM_ANY, 3, 4)->id, first);
    assert_int_equal(vm_tmem_flight_find(t, &c, VM_TMEM_ANY, 3, 9)->id, first); /* nothing was released */
    released = 6;
    assert_int_equal(vm_tmem_flight_find(t, &c, VM_TMEM_ANY, 3, 4)->id, first); /* but not learned */
    assert_int_equal(vm_tmem_flight_find(t, &c, VM_TMEM_ANY, 3, 7)->id, second);
    vm_tmem_flight_end(t, second);
    assert_null(vm_tmem_flight_find(t, &c, VM_TMEM_ANY, 0, 7));
    /* waits without a release between them, side by side, become one */
    for (uint32_t k = 0; k < 200; k++) {
        vm_tmem_area next = vm_tmem_rows(k * 2, 2, 0, 32);
        vm_tmem_flight_waited(t, vm_tmem_flight_begin(t, VM_TMEM_LOAD, 1, k, &next), 10 + k, &released);
    }
    assert_int_equal(t->flights.count, 2);
    for (uint32_t k = 8; k < 400; k++) {
        vm_tmem_area next = vm_tmem_rows(k, 1, 0, 32);
        assert_non_null(vm_tmem_flight_find(t, &next, VM_TMEM_LOAD, 7, 9));
    }
    vm_tmem_area all = vm_tmem_rows(0, 512, 0, 128), past = vm_tmem_rows(400, 1, 0, 32);
    assert_null(vm_tmem_flight_find(t, &past, VM_TMEM_ANY, 7, 0));
    vm_tmem_flight_drop(t, &all);
    assert_null(vm_tmem_flight_find(t, &all, VM_TMEM_ANY, 7, 0));
    for (uint32_t k = 0; k < 500; k++) { /* apart: a bounded number is kept */
        vm_tmem_area next = vm_tmem_rows(k % 250 * 2, 1, 0, 32);
        vm_tmem_flight_waited(t, vm_tmem_flight_begin(t, VM_TMEM_LOAD, 1, k, &next), 300, &released);
    }
    assert_in_range(t->flights.count, 1, 70);
    /* without a wait: stores side by side are one flight, a load of the same cells too */
    vm_tmem_flight_drop(t, &all);
    uint64_t id = 0;
    for (uint32_t k = 0; k < 300; k++) {
        vm_tmem_area next = vm_tmem_rows(k % 100, 1, 32, 32);
        uint64_t given = vm_tmem_flight_begin(t, VM_TMEM_STORE, 4, k, &next);
        assert_true(id == 0 || given == id);
        id = given;
        next = vm_tmem_rows(7, 2, 0, 16);
        vm_tmem_flight_begin(t, VM_TMEM_LOAD, 4, k, &next);
    }
    assert_int_equal(t->flights.count, 2);
    vm_tmem_flight_waited(t, id, 400, &released);
    vm_tmem_area stored = vm_tmem_rows(99, 1, 32, 32);
    assert_null(vm_tmem_flight_find(t, &stored, VM_TMEM_ANY, 4, 0));
    assert_non_null(vm_tmem_flight_find(t, &stored, VM_TMEM_ANY, 5, 0));
}

/* An access that is plain passes each of the checks; one that is not has something to be looked at. */
static bool passes(vm_tmem *t, const vm_tmem_area *area, const vm_tmem_visitor *v) {
    uint32_t column, lane, kinds = v->store ? VM_TMEM_ANY : VM_TMEM_WRITERS;
    vm_tmem_allocation found;
    return vm_tmem_check(t, area, v->owner, &column, &found) == VM_TMEM_FINE &&
           vm_tmem_flight_find(t, area, kinds, v->agent, v->acquired) == NULL &&
           (v->store || !vm_tmem_unwritten(t, area, false, &column, &lane)) &&
           vm_tmem_foreign_writer(t, area, v->fence_after, v->agent, 0) == NULL &&
           (vm_tmem_find(t, area->column)->warp == v->agent || v->acquired > 3);
}
static void plain_against_checks(void **state) {
    enum { FLIGHTS = 24 };
    vm_tmem *t = vm_tmem_create(*state);
    const uint32_t pc = 5;
    uint64_t random = 11, open[FLIGHTS] = {0}, released[4] = {0}, now = 4;
    unsigned count = 0, plain = 0, closer = 0, other = 0;
    for (int step = 0; step < 60000; step++) {
        if (step % 600 == 0) {
            vm_tmem_reset(t, 0, 0);
            for (uint32_t a = 0; a < 2; a++) {
                vm_tmem_allocation *made = vm_tmem_take(t, 256 * a, 256, 7 + step / 600 % 2 * a, 1, false);
                made->event = 3;
                made->warp = 1;
            }
            count = 0;
        }
        uint32_t columns = 1u << next_random(&random) % 7, window = next_random(&random) % 4, lanes = 32;
        uint32_t column = next_random(&random) % 32 * 16 + (next_random(&random) % 4 == 0 ? 3 : 0), lane = 0;
        if (column + columns > 512)
            column = 512 - columns;
        if (next_random(&random) % 3 == 0)
            lanes = 16, lane = next_random(&random) % 2 * 16;
        vm_tmem_area area = vm_tmem_rows(column, columns, window * 32 + lane, lanes);
        vm_tmem_visitor v = {.owner = 7,
                             .window = (uint8_t)window,
                             .agent = (uint16_t)(next_random(&random) % 16 ? window : (window + 1) % 4),
                             .store = next_random(&random) % 2,
                             .acquired = next_random(&random) % 8 ? now : 2,
                             .fence_after = next_random(&random) % 2 ? *t->clock : *t->clock / 2};
        bool good = passes(t, &area, &v), room = count < FLIGHTS;
        uint64_t id = room ? vm_tmem_plain_begin(t, &area, &v, pc) : 0;
        if (id != 0) {
            assert_true(good);
            open[count++] = id;
            plain++;
            uint32_t at[2];
            const vm_tmem_writer *writer = vm_tmem_writer_at(t, window * 2 + lane / 16, column + columns - 1);
            if (v.store)
                assert_true(writer->pc == pc && writer->agent == v.agent && writer->clock == *t->clock &&
                            !vm_tmem_unwritten(t, &area, false, &at[0], &at[1]));
        } else if (room) {
            *(good ? &closer : &other) += 1;
        }
        unsigned what = next_random(&random) % 32;
        if (what < 20 && v.store)
            vm_tmem_mark(t, &area, what == 0,
                         (vm_tmem_writer){.agent = (uint16_t)(v.agent | (what == 1 ? VM_TMEM_ENGINE : 0))});
        if (what == 2 && lanes == 32 && column + VM_TMEM_SHIFT_COLUMNS <= 512)
            vm_tmem_shift_mark(t, &area, (vm_tmem_writer){.agent = v.agent | VM_TMEM_ENGINE});
        if (what > 2 && what < 16 && count < FLIGHTS)
            open[count++] = vm_tmem_flight_begin(t,
                                                 what == 3 ? VM_TMEM_MMA
                                                 : v.store ? VM_TMEM_STORE
                                                           : VM_TMEM_LOAD,
                                                 v.agent, 1, &area);
        if (what > 14 && count) {
            uint64_t ended = open[--count];
            for (size_t i = 0; i < t->flights.count; i++)
                if (t->flights.items[i].id == ended) {
                    if (t->flights.items[i].kind == VM_TMEM_MMA)
                        vm_tmem_flight_end(t, ended);
                    else
                        vm_tmem_flight_waited(t, ended, ++now, &released[t->flights.items[i].agent]);
                    break;
                }
        }
        if (what == 30)
            released[window] = ++now;
        if (what == 31 && next_random(&random) % 8 == 0)
            vm_tmem_flight_drop(t, &area);
    }
    assert_in_range(plain, 2000, 60000);
    assert_in_range(other, 2000, 60000);
    vm_tmem_area rows = vm_tmem_rows(0, 8, 0, 32), upper = vm_tmem_rows(0, 8, 0, 16);
    vm_tmem_visitor alone = {.owner = 9, .agent = 1, .acquired = now, .fence_after = UINT64_MAX};
    vm_tmem_reset(t, 0, 0);
    vm_tmem_take(t, 0, 32, 9, 1, false)->warp = 1;
    vm_tmem_mark(t, &upper, false, (vm_tmem_writer){.agent = 1});
    assert_true(vm_tmem_plain_begin(t, &upper, &alone, pc) != 0);
    vm_tmem_shift_mark(t, &rows, (vm_tmem_writer){.agent = 1 | VM_TMEM_ENGINE}); /* lane 15 is that of 16 */
    assert_true(vm_tmem_plain_begin(t, &upper, &alone, pc) == 0 && !passes(t, &upper, &alone));
    assert_true(closer > 0); /* the quick answer may be no where the checks say yes */
}

/* ---- fragments ---- */
/* spec: L and C of register r of thread t, before the doubling of .pack and without the split */
static void place(vm_tmem_shape shape, uint32_t t, uint32_t r, uint32_t *l, uint32_t *c) {
    switch (shape) {
    case VM_TMEM_32X32B:
        *l = t, *c = r;
        return;
    case VM_TMEM_16X64B:
        *l = t / 4 + 8 * (t % 2), *c = 2 * r + t / 2 % 2;
        return;
    case VM_TMEM_16X128B:
        *l = t / 4 + 8 * (r % 2), *c = 4 * (r / 2) + t % 4;
        return;
    case VM_TMEM_16X256B:
        *l = t / 4 + 8 * (r / 2 % 2), *c = 8 * (r / 4) + 2 * (t % 4) + r % 2;
        return;
    default:
        *l = t % 16, *c = r;
    }
}

static uint32_t pattern(uint32_t column, uint32_t lane) {
    return (uint32_t)base_hash_mix(column, lane + 1000);
}

static void check_form(vm_tmem *t, const vm_tmem_form *form, uint32_t column, uint32_t lane, bool preserve,
                       uint32_t threads) {
    static uint32_t want[512][128];
    uint32_t registers = vm_tmem_registers(form);
    vm_tmem_area areas[2];
    uint32_t area_count = vm_tmem_areas(form, column, lane, areas);
    layout_transfer transfer = {.movement = (layout_movement)form->shape,
                                .count = form->count,
                                .pack = form->pack,
                                .split = form->split};
    for (uint32_t c = 0; c < 512; c++)
        for (uint32_t l = 0; l < 128; l++)
            t->cells[c][l] = want[c][l] = pattern(c, l);
    static uint8_t touched[512][128];
    memset(touched, 0, sizeof touched);
    static uint32_t rows[128][32];
    for (uint32_t r = 0; r < registers; r++) /* first: the halves of .16x32bx2 may lie on each other */
        vm_tmem_load(t, form, column, lane, r, rows[r]);
    for (uint32_t r = 0; r < registers; r++) {
        uint32_t from[32];
        for (uint32_t thread = 0; thread < 32; thread++) {
            uint32_t l, c;
            place((vm_tmem_shape)form->shape, thread, r, &l, &c);
            c = c * (form->pack ? 2 : 1) +
                (form->shape == VM_TMEM_16X32BX2 && thread >= 16 ? (uint32_t)form->split : 0);
            int model_row;
            int64_t model_column;
            layout_transfer_cell(&transfer, (int)thread, (int)r, &model_row, &model_column);
            if (form->split != 0 || form->shape != VM_TMEM_16X32BX2) {
                assert_int_equal(model_row, l);
                assert_int_equal(model_column, (int32_t)c);
            }
            uint32_t x = column + c, y = lane + l;
            uint32_t value = form->pack ? (pattern(x, y) & 0xffff) | pattern(x + 1, y) << 16 : pattern(x, y);
            assert_int_equal(rows[r][thread], value);
            from[thread] = (uint32_t)base_hash_mix(r, thread);
            for (uint32_t k = 0; k < (form->pack ? 2u : 1u); k++) {
                touched[x + k][y]++;
                if (threads >> thread & 1)
                    want[x + k][y] = form->pack ? (preserve ? want[x + k][y] & 0xffff0000u : 0) |
                                                      (from[thread] >> 16 * k & 0xffff)
                                                : from[thread];
            }
        }
        vm_tmem_store(t, form, column, lane, r, from, threads, preserve);
    }
    assert_memory_equal(t->cells, want, sizeof want);
    for (uint32_t c = 0; c < 512; c++)
        for (uint32_t l = 0; l < 128; l++) {
            bool inside = false;
            for (uint32_t k = 0; k < area_count; k++)
                inside |= c >= areas[k].column && c < areas[k].column + areas[k].columns &&
                          areas[k].lanes[l / 32] >> l % 32 & 1;
            if (form->split == 0 || (uint32_t)abs(form->split) >= areas[0].columns)
                assert_int_equal(touched[c][l] != 0, inside);
        }
}

static void all_forms(void **state) {
    vm_tmem *t = vm_tmem_create(*state);
    unsigned legal = 0;
    for (unsigned shape = 0; shape < VM_TMEM_SHAPE_COUNT; shape++)
        for (unsigned count = 1; count <= 128; count *= 2)
            for (unsigned pack = 0; pack < 2; pack++) {
                static const unsigned registers_of[] = {1, 1, 2, 4, 1};
                unsigned registers = registers_of[shape] * count;
                vm_tmem_form form = {.shape = (uint8_t)shape, .count = (uint8_t)count, .pack = pack != 0};
                assert_int_equal(vm_tmem_registers(&form), registers <= 128 ? registers : 0);
                if (registers > 128)
                    continue;
                legal++;
                vm_tmem_area areas[2];
                vm_tmem_areas(&form, 0, 0, areas);
                uint32_t room = 512 - areas[0].columns, column = room ? pattern(shape, count) % room : 0;
                uint32_t threads[] = {UINT32_MAX, 0x0ff0a5c3u};
                for (unsigned k = 0; k < 4; k++) {
                    uint32_t lane = k * 32 + (shape != VM_TMEM_32X32B && k % 2 ? 16 : 0);
                    int32_t reach = (int32_t)areas[0].columns;
                    int32_t splits[] = {reach, -(int32_t)(column < 9 ? column : 9), 0, 1};
                    form.split = shape == VM_TMEM_16X32BX2 ? splits[k] : 0;
                    if (form.split > 0 && column + (uint32_t)form.split > room)
                        form.split = (int32_t)(room - column);
                    check_form(t, &form, column, lane, k >= 2, threads[k % 2]);
                }
            }
    assert_int_equal(legal, 74); /* 37 plain, 37 packed: 16x128b and 16x256b end at x64 and x32 */
    for (unsigned count = 0; count < 256; count++) { /* counts that are no power of two are no forms */
        vm_tmem_form form = {.shape = VM_TMEM_32X32B, .count = (uint8_t)count};
        assert_int_equal(vm_tmem_registers(&form) != 0,
                         count != 0 && (count & (count - 1)) == 0 && count <= 128);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(allocation_against_model), UNIT_WITH_ARENA(allocation_corners),
        UNIT_WITH_ARENA(writers_against_model),    UNIT_WITH_ARENA(flights),
        UNIT_WITH_ARENA(plain_against_checks),     UNIT_WITH_ARENA(all_forms),
    };
    return cmocka_run_group_tests_name("vm_tmem", tests, NULL, NULL);
}
