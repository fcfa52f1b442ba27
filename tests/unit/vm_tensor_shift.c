/* SPDX-License-Identifier: Apache-2.0
 * tcgen05.shift as PTX on the machine: every partition, some columns, one CTA and pairs, under every
 * schedule; chains with mma, whose products show which rows A had when. */
#include "unit/vm_tensor_kernel.h"

static vm_case *make(base_arena *arena, unsigned group, const char *instruction, uint32_t taddr,
                     uint32_t a_at, uint64_t b, uint32_t idesc, vm_schedule schedule) {
    vm_case *c = vm_case_load(arena, vm_tensor_kernel(arena, group, instruction, NULL, NULL));
    vm_case_buffer(c, "shared", (size_t)group * IMAGE);
    vm_case_buffer(c, "cells", (size_t)group * COLUMNS * LANES * 4);
    vm_case_buffer(c, "out", (size_t)group * COLUMNS * LANES * 4);
    uint32_t *scalars = vm_case_buffer(c, "scalars", 64);
    uint32_t rest[] = {idesc, 0, taddr, a_at, 0, 0};
    memcpy(scalars + 2, &b, 8), memcpy(scalars + 4, rest, sizeof rest);
    c->launch.schedule = schedule;
    return c;
}

static void rows_move(void **state) {
    for (unsigned group = 1; group <= 2; group++)
        for (unsigned lane = 0; lane < LANES; lane += 32)
            for (unsigned column = 0; column <= COLUMNS - 8; column += 252)
                for (int schedule = 0; schedule < 3; schedule++) {
                    const char *text = group == 2 ? "tcgen05.shift.cta_group::2.down [%r22];"
                                                  : "tcgen05.shift.down.cta_group::1 [%r22];";
                    vm_case *c =
                        make(*state, group, text, lane << 16 | column, 0, 0, 0, (vm_schedule)schedule);
                    uint32_t *cells = c->buffers[1].data, *out = c->buffers[2].data;
                    for (unsigned i = 0; i < group * COLUMNS * LANES; i++)
                        cells[i] = i * 2654435761u;
                    vm_tensor_launch(c, group);
                    assert_string_equal(vm_case_findings(c), "");
                    assert_int_equal(c->result->status, VM_COMPLETE);
                    for (unsigned i = 0; i < group * COLUMNS * LANES; i++) {
                        unsigned at = i / LANES % COLUMNS, row = i % LANES;
                        bool moves =
                            at >= column && at < column + 8 && row / 32 == lane / 32 && row % 32 != 31;
                        if (out[i] != cells[i + moves])
                            fail_msg("group %u, lane %u, column %u: cell %u is wrong", group, lane, column,
                                     i);
                    }
                }
}

/* A in columns 256 to 263: row r of k = 0 holds r as f16, the rest zero; B: ones at k = 0. So D[r, n] is the
 * row that A had in lane r. moved: how often A was shifted before the last product, and at the end. */
static void chain(base_arena *arena, const char *text, unsigned moved, unsigned moved_at_end) {
    for (int schedule = 0; schedule < 3; schedule++) {
        uint64_t b = UINT64_C(1) << 46 | UINT64_C(16) << 32 | UINT64_C(8) << 16;
        vm_case *c =
            make(arena, 1, text, 0, 256, b, 1u << 4 | 16 / 8 << 17 | 128 / 16 << 24, (vm_schedule)schedule);
        uint32_t *cells = c->buffers[1].data, *out = c->buffers[2].data;
        uint8_t *shared = c->buffers[0].data;
        for (unsigned n = 0; n < 16; n++) /* 8 rows of 16 bytes, 256 bytes from eight to eight */
            memcpy(shared + n % 8 * 16 + n / 8 * 256, &(uint16_t){0x3c00}, 2);
        for (unsigned r = 0; r < LANES; r++)
            cells[256 * LANES + r] = (uint32_t)num_encode(NUM_DTYPE_F16, r, NUM_RN, false);
        vm_tensor_launch(c, 1);
        assert_string_equal(vm_case_findings(c), "");
        for (unsigned r = 0; r < LANES; r++) {
            unsigned row = r % 32 + moved > 31 ? r / 32 * 32 + 31 : r + moved,
                     end = r % 32 + moved_at_end > 31 ? r / 32 * 32 + 31 : r + moved_at_end;
            for (unsigned n = 0; n < 16; n++)
                if (out[n * LANES + r] != (uint32_t)num_encode(NUM_DTYPE_F32, row, NUM_RN, false))
                    fail_msg("%s: D[%u, %u] is %#x", text, r, n, out[n * LANES + r]);
            assert_int_equal(out[256 * LANES + r], (uint32_t)num_encode(NUM_DTYPE_F16, end, NUM_RN, false));
        }
    }
}

#define MMA    "tcgen05.mma.cta_group::1.kind::f16 [%r22], [%r23], %rd11, %r20, %p5; "
#define ASHIFT "tcgen05.mma.cta_group::1.kind::f16.ashift [%r22], [%r23], %rd11, %r20, %p5; "
#define ONE    "tcgen05.shift.cta_group::1.down [%r41]; add.u32 %r41, %r41, 0x200000; "
#define ALL    "mov.b32 %r41, %r23; " ONE ONE ONE ONE
static void chains(void **state) {
    chain(*state, MMA, 0, 0);
    chain(*state, ALL MMA, 1, 1);
    chain(*state, MMA ALL MMA, 1, 1);
    chain(*state, ASHIFT, 0, 1);
    chain(*state, ASHIFT MMA, 1, 1);
    chain(*state, ASHIFT ASHIFT MMA, 2, 2);
    chain(*state, ASHIFT ASHIFT ASHIFT, 2, 3);
    chain(*state, ASHIFT ALL MMA ALL ASHIFT MMA, 4, 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {UNIT_WITH_ARENA(rows_move), UNIT_WITH_ARENA(chains)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
