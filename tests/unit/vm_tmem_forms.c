/* SPDX-License-Identifier: Apache-2.0
 * Every form of tcgen05.ld and st run by four warps under three schedules, against the layout module's map of
 * cells to registers; and the 160 combinations of shape, count and packing accepted or refused as by ptxas.
 */
#include "unit/vm_help.h"
#include <stdlib.h>
#include <unistd.h>
#include "layout/fragment.h"

static const char *const shape_names[] = {"32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2"};
static const unsigned base_registers[] = {1, 1, 2, 4, 1};
enum { SHAPES = 5, COUNTS = 8 };

static void add_list(base_builder *out, unsigned count) {
    base_builder_string(out, "{");
    for (unsigned r = 0; r < count; r++)
        base_builder_format(out, "%s%%d%u", r ? ", " : "", r);
    base_builder_string(out, "}");
}

static void add_form(base_builder *out, bool store, unsigned shape, unsigned count, bool pack, int64_t split,
                     unsigned registers, const char *address) {
    base_builder_format(out, "tcgen05.%s.sync.aligned.%s.x%u%s.b32 ", store ? "st" : "ld", shape_names[shape],
                        count,
                        !pack   ? ""
                        : store ? ".unpack::16b"
                                : ".pack::16b");
    if (!store) {
        add_list(out, registers);
        base_builder_string(out, ", ");
    }
    base_builder_format(out, "[%s]", address);
    if (shape == 4)
        base_builder_format(out, ", %lld", (long long)split);
    if (store) {
        base_builder_string(out, ", ");
        add_list(out, registers);
    }
    base_builder_string(out, ";\n");
}

/* Kernel: all cells from `in` (column, lane), then the form, then registers (ld) or all cells (st) to `out`.
 */
static const char *kernel_of(base_arena *arena, bool store, unsigned shape, unsigned count, bool pack,
                             int64_t split, uint32_t column, uint32_t lane) {
    unsigned registers = base_registers[shape] * count;
    base_builder out;
    base_builder_start(&out, arena);
    base_builder_string(
        &out, PTX_HEADER
        ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.reg .pred %p;\n.reg .b32 %d<128>;\n"
        ".reg .b32 %r<20>;\n.reg .b64 %rd<20>;\n.shared .align 4 .b32 slot;\n"
        "mov.u32 %r1, %tid.x;\nshr.u32 %r2, %r1, 5;\nsetp.ne.u32 %p, %r2, 0;\nmov.u32 %r3, slot;\n"
        "@!%p tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r3], 512;\n"
        "bar.sync 0;\nld.shared.u32 %r4, [slot];\nshl.b32 %r5, %r2, 21;\nadd.u32 %r4, %r4, %r5;\n"
        "ld.param.u64 %rd1, [in];\nld.param.u64 %rd2, [out];\nmul.wide.u32 %rd3, %r1, 4;\n"
        "add.s64 %rd1, %rd1, %rd3;\nadd.s64 %rd2, %rd2, %rd3;\n");
    for (unsigned part = 0; part < 4; part++) {
        for (unsigned c = 0; c < 128; c++)
            base_builder_format(&out, "ld.global.u32 %%d%u, [%%rd1+%u];\n", c, (part * 128 + c) * 512);
        base_builder_format(&out, "tcgen05.st.sync.aligned.32x32b.x128.b32 [%%r4+%u], ", part * 128);
        add_list(&out, 128);
        base_builder_string(&out, ";\n");
    }
    base_builder_string(&out, "tcgen05.wait::st.sync.aligned;\n");
    base_builder_format(&out, "add.u32 %%r6, %%r4, %u;\n", lane << 16 | column);
    for (unsigned r = 0; store && r < registers; r++)
        base_builder_format(&out, "mad.lo.u32 %%d%u, %%r1, 1000, 0x%x;\n", r, 0x70000 * r + 5);
    add_form(&out, store, shape, count, pack, split, registers, "%r6");
    base_builder_format(&out, "tcgen05.wait::%s.sync.aligned;\n", store ? "st" : "ld");
    for (unsigned r = 0; !store && r < registers; r++)
        base_builder_format(&out, "st.global.u32 [%%rd2+%u], %%d%u;\n", r * 512, r);
    for (unsigned part = 0; store && part < 4; part++) {
        base_builder_format(&out, "tcgen05.ld.sync.aligned.32x32b.x64.pack::16b.b32 ");
        add_list(&out, 64); /* halves one after the other: the upper ones may be undefined */
        base_builder_format(&out, ", [%%r4+%u];\ntcgen05.wait::ld.sync.aligned;\n", part * 128);
        for (unsigned c = 0; c < 64; c++)
            base_builder_format(&out, "st.global.u32 [%%rd2+%u], %%d%u;\n", (part * 64 + c) * 512, c);
    }
    base_builder_string(
        &out, "bar.sync 0;\n@!%p tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r4, 512;\nret;\n}\n");
    return out.data;
}

static uint32_t cell_value(uint32_t column, uint32_t lane) {
    return (uint32_t)base_hash_mix(column * 131, lane + 7);
}

static void check_run(vm_case *c, uint32_t *out, bool store, const layout_transfer *transfer,
                      unsigned registers, uint32_t column, uint32_t lane, vm_schedule schedule) {
    static uint32_t want[512][128];
    for (uint32_t x = 0; x < 512; x++)
        for (uint32_t y = 0; y < 128; y++)
            want[x][y] = cell_value(x, y);
    memset(out, 0, 512 * 512);
    c->launch.schedule = schedule;
    c->launch.seed = 11;
    vm_case_run(c, 1, 128);
    vm_case_clean(c);
    for (uint32_t t = 0; t < 128; t++)
        for (uint32_t r = 0; r < registers; r++) {
            int row;
            int64_t at;
            layout_transfer_cell(transfer, (int)(t % 32), (int)r, &row, &at);
            uint32_t x = column + (uint32_t)at, y = t / 32 * 32 + lane + (uint32_t)row;
            uint32_t value = t * 1000 + 0x70000 * r + 5;
            if (!store) {
                uint32_t read = transfer->pack ? (want[x][y] & 0xffff) | want[x + 1][y] << 16 : want[x][y];
                assert_int_equal(out[r * 128 + t], read);
            } else if (transfer->pack) {
                want[x][y] = value & 0xffff;
                want[x + 1][y] = value >> 16;
            } else {
                want[x][y] = value;
            }
        }
    for (uint32_t x = 0; store && x < 512; x += 2)
        for (uint32_t y = 0; y < 128; y++)
            assert_int_equal(out[x / 2 * 128 + y], (want[x][y] & 0xffff) | want[x + 1][y] << 16);
}

static void run_form(base_arena *arena, bool store, unsigned shape, unsigned count, bool pack) {
    unsigned registers = base_registers[shape] * count, lane = shape == 0 || count % 3 == 1 ? 0 : 16;
    static const unsigned columns_of[] = {1, 2, 4, 8, 1};
    uint32_t columns = columns_of[shape] * count * (pack ? 2 : 1), room = 512 - columns;
    int64_t split = 0;
    if (shape == 4) {
        split = count == 2 ? -4 : (int64_t)columns;
        room = count == 2 ? 512 - columns : 512 - 2 * columns;
    }
    uint32_t column = room < 5 ? room : 5;
    if (pack && column % 2 && store)
        column--; /* the readback sees pairs of columns */
    layout_transfer transfer = {
        .movement = (layout_movement)shape, .count = (int)count, .pack = pack, .split = split};
    vm_case *c = vm_case_load(arena, kernel_of(arena, store, shape, count, pack, split, column, lane));
    uint32_t *in = vm_case_buffer(c, "in", 512 * 512), *out = vm_case_buffer(c, "out", 512 * 512);
    for (uint32_t x = 0; x < 512; x++)
        for (uint32_t y = 0; y < 128; y++)
            in[x * 128 + y] = cell_value(x, y);
    static const vm_schedule schedules[] = {VM_SCHEDULE_EARLY, VM_SCHEDULE_LATE, VM_SCHEDULE_RANDOM};
    for (unsigned s = 0; s < 3; s++)
        check_run(c, out, store, &transfer, registers, column, lane, schedules[s]);
}

static void run_forms(base_arena *arena, bool store) {
    unsigned forms = 0;
    for (unsigned shape = 0; shape < SHAPES; shape++)
        for (unsigned log2 = 0; log2 < COUNTS; log2++)
            for (unsigned pack = 0; pack < 2; pack++) {
                if (base_registers[shape] << log2 > 128)
                    continue;
                base_arena *inner = base_arena_create(base_arena_heap(arena));
                run_form(inner, store, shape, 1u << log2, pack);
                base_arena_destroy(inner);
                forms++;
            }
    assert_int_equal(forms, 74);
}

static void loads(void **state) {
    run_forms(*state, false);
}
static void stores(void **state) {
    run_forms(*state, true);
}

/* ---- accepted and refused ---- */
static const char *find_ptxas(base_arena *arena) {
    char path[4096];
    FILE *pipe = popen("tools/find-nvcc 2>/dev/null", "r");
    if (pipe == NULL || fgets(path, sizeof path, pipe) == NULL)
        path[0] = 0;
    if (pipe != NULL)
        pclose(pipe);
    char *slash = strrchr(path, '/');
    if (slash == NULL)
        return NULL;
    *slash = 0;
    const char *ptxas = base_arena_format(arena, "%s/ptxas", path);
    return access(ptxas, X_OK) == 0 ? ptxas : NULL;
}

static const char *module_of(base_arena *arena, const char *body) {
    return base_arena_format(arena,
                             PTX_HEADER ".visible .entry k()\n{\n.reg .b32 %%d<128>;\n.reg .b32 %%r<4>;\n"
                                        "mov.b32 %%r1, 0;\n%s\nret;\n}\n",
                             body);
}

static bool ptxas_takes(base_arena *arena, const char *ptxas, const char *folder, const char *text) {
    const char *path = base_arena_format(arena, "%s/k.ptx", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return system(base_arena_format(arena, "'%s' -arch=sm_100a -o %s/k.cubin %s > %s/log 2>&1", ptxas, folder,
                                    path, folder)) == 0;
}

static void as_ptxas(void **state) {
    base_arena *arena = *state;
    const char *ptxas = find_ptxas(arena);
    if (ptxas == NULL && getenv("REQUIRE_NVCC"))
        fail_msg("no ptxas");
    char folder[] = "/tmp/tirc-tmem-XXXXXX";
    assert_non_null(mkdtemp(folder));
    base_builder accepted;
    base_builder_start(&accepted, arena);
    unsigned combinations = 0, refused = 0;
    for (unsigned store = 0; store < 2; store++)
        for (unsigned shape = 0; shape < SHAPES; shape++)
            for (unsigned log2 = 0; log2 < COUNTS; log2++)
                for (unsigned pack = 0; pack < 2; pack++) {
                    unsigned registers = base_registers[shape] << log2;
                    base_builder form;
                    base_builder_start(&form, arena);
                    add_form(&form, store, shape, 1u << log2, pack, 8, registers <= 128 ? registers : 128,
                             "%r1");
                    ptx_case parsed = ptx_case_parse(arena, module_of(arena, form.data));
                    bool takes =
                        base_diagnostics_errors(parsed.diagnostics) == 0 && ptx_verify(parsed.module, false);
                    assert_int_equal(takes, registers <= 128);
                    combinations++;
                    if (takes) {
                        base_builder_string(&accepted, form.data);
                        continue;
                    }
                    refused++;
                    if (ptxas != NULL)
                        assert_false(ptxas_takes(arena, ptxas, folder, module_of(arena, form.data)));
                }
    assert_int_equal(combinations, 160);
    assert_int_equal(refused, 12);
    if (ptxas != NULL)
        assert_true(ptxas_takes(arena, ptxas, folder, module_of(arena, accepted.data)));
    assert_int_equal(system(base_arena_format(arena, "rm -rf %s", folder)), 0);
}

/* What the verifier must refuse, as ptxas does. */
static void refused(void **state) {
    base_arena *arena = *state;
    static const char *const wrong[] = {
        "tcgen05.ld.sync.aligned.32x32b.x4.b32 {%d0, %d1}, [%r1];",
        "tcgen05.ld.sync.aligned.16x128b.x4.b32 {%d0, %d1, %d2, %d3}, [%r1];",
        "tcgen05.ld.sync.aligned.32x32b.x3.b32 {%d0, %d1, %d2}, [%r1];",
        "tcgen05.ld.sync.aligned.32x64b.x1.b32 {%d0}, [%r1];",
        "tcgen05.ld.sync.aligned.32x32b.x2.pack::16b.b32 {%d0}, [%r1];",
        "tcgen05.ld.sync.aligned.32x32b.x1.unpack::16b.b32 {%d0}, [%r1];",
        "tcgen05.st.sync.aligned.32x32b.x1.pack::16b.b32 [%r1], {%d0};",
        "tcgen05.ld.sync.aligned.32x32b.x1.f32 {%d0}, [%r1];",
        "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%d0}, [%r1], 4;",
        "tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {%d0}, [%r1];",
        "tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {%d0}, [%r1], %r2;",
        "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%d0, _}, [%r1];",
        "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r1], {5};",
        "tcgen05.ld.sync.32x32b.x1.b32 {%d0}, [%r1], 3;",
        "tcgen05.wait::ld.sync;",
        "tcgen05.alloc.sync.aligned.shared::cta.b32 [%r1], 32;",
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cluster.b32 [%r1], 32;",
        "tcgen05.ld.red.sync.aligned.32x32b.x1.min.u32 {%d0}, %d1, [%r1];",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ptx_case parsed = ptx_case_parse(arena, module_of(arena, wrong[i]));
        if (base_diagnostics_errors(parsed.diagnostics) == 0 && ptx_verify(parsed.module, false))
            fail_msg("accepted: %s", wrong[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(loads),
        UNIT_WITH_ARENA(stores),
        UNIT_WITH_ARENA(as_ptxas),
        UNIT_WITH_ARENA(refused),
    };
    return cmocka_run_group_tests_name("vm_tmem_forms", tests, NULL, NULL);
}
