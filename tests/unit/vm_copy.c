/* SPDX-License-Identifier: Apache-2.0
 * Asynchronous copies by PTX, under every schedule: cp.async with its groups and barriers, bulk copies,
 * tensor copies, reductions, tensor maps edited in the kernel; and what is wrong about them, found. */
#include "unit/vm_help.h"
#include "vm/vm_tensor_copy.h"

static const struct {
    vm_schedule schedule;
    uint64_t seed;
} schedules[] = {{VM_SCHEDULE_EARLY, 0},  {VM_SCHEDULE_LATE, 0},   {VM_SCHEDULE_LATE, 3},
                 {VM_SCHEDULE_RANDOM, 1}, {VM_SCHEDULE_RANDOM, 2}, {VM_SCHEDULE_RANDOM, 77}};
enum { SCHEDULES = sizeof schedules / sizeof schedules[0] };

#define SHARED                                                                                               \
    ".shared .align 1024 .b8 tile[16384];\n.shared .align 8 .b64 bar[4];\n.shared .align 128 .b8 "           \
    "map[128];\n"
#define INIT(count)                                                                                          \
    "setp.eq.u32 %p15, %r93, 0;\n@%p15 mbarrier.init.shared.b64 [bar], " count                               \
    ";\n@%p15 fence.mbarrier_init.release.cluster;\nbar.sync 0;\n"
#define WAIT(parity)  "{ w:\nmbarrier.try_wait.parity.shared.b64 %p14, [bar], " parity ";\n@!%p14 bra w;\n}\n"
#define EXPECT(bytes) "@%p15 mbarrier.arrive.expect_tx.shared.b64 %rd1, [bar], " bytes ";\n"
/* each of 128 threads writes its 16 bytes steps of the tile to p0 */
#define DUMP                                                                                                 \
    "mov.u32 %r1, tile;\nshl.b32 %r2, %r93, 4;\nadd.u32 %r3, %r1, %r2;\ncvt.u64.u32 %rd2, %r2;\n"            \
    "add.s64 %rd2, %rd2, %rd90;\nmov.u32 %r4, 0;\ndump:\nld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r3];\n"    \
    "st.global.v4.u32 [%rd2], {%r5, %r6, %r7, %r8};\nadd.u32 %r3, %r3, 2048;\nadd.s64 %rd2, %rd2, 2048;\n"   \
    "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p13, %r4, 8;\n@%p13 bra dump;\n"
/* the tile gets byte (7 * i + 3) at i, a word for each thread at a time */
#define FILL                                                                                                 \
    "mov.u32 %r1, tile;\nshl.b32 %r2, %r93, 2;\nfill:\nmul.lo.u32 %r4, %r2, 0x07070707;\n"                   \
    "add.u32 %r4, %r4, 0;\nadd.u32 %r3, %r1, %r2;\nmul.lo.u32 %r4, %r2, 7;\nadd.u32 %r4, %r4, 3;\n"          \
    "and.b32 %r5, %r4, 255;\nadd.u32 %r4, %r4, 7;\nand.b32 %r6, %r4, 255;\nshl.b32 %r6, %r6, 8;\n"           \
    "or.b32 %r5, %r5, %r6;\nadd.u32 %r4, %r4, 7;\nand.b32 %r6, %r4, 255;\nshl.b32 %r6, %r6, 16;\n"           \
    "or.b32 %r5, %r5, %r6;\nadd.u32 %r4, %r4, 7;\nand.b32 %r6, %r4, 255;\nshl.b32 %r6, %r6, 24;\n"           \
    "or.b32 %r5, %r5, %r6;\nst.shared.u32 [%r3], %r5;\nadd.u32 %r2, %r2, 512;\nsetp.lt.u32 %p12, %r2, "      \
    "16384;\n"                                                                                               \
    "@%p12 bra fill;\nfence.proxy.async;\nbar.sync 0;\n"
static uint8_t filled(uint32_t i) {
    return (uint8_t)(7 * i + 3);
}

enum { OUT_BYTES = 16384 };
typedef struct copy_case {
    vm_case *c;
    uint8_t *out, *in, *map; /* p0, p1, p2 */
    uint64_t address;        /* of p1 */
} copy_case;

/* Body with p0: 16 KiB out, p1: 64 KiB in (bytes i * 13 + i / 256), p2: a map of p1. */
static copy_case start(base_arena *arena, const char *body, size_t which) {
    copy_case k = {vm_case_load(arena, vm_case_kernel(arena, 3, SHARED, body)), NULL, NULL, NULL, 0};
    k.out = vm_case_buffer(k.c, "out", OUT_BYTES);
    k.in = vm_case_buffer(k.c, "in", 65536);
    k.map = vm_case_buffer(k.c, "map", 256);
    k.address = vm_address_first() + (1 << 21);
    for (uint32_t i = 0; i < 3; i++) {
        k.c->buffers[i].placed = true;
        k.c->buffers[i].address = k.address + i * (1 << 20) - (1 << 20);
    }
    for (uint32_t i = 0; i < 65536; i++)
        k.in[i] = (uint8_t)(i * 13 + i / 256);
    k.c->launch.schedule = schedules[which].schedule;
    k.c->launch.seed = schedules[which].seed;
    return k;
}

static void put_map(copy_case *k, vm_tensor_map map) {
    map.address += k->address;
    vm_tensor_map_write(&map, k->map);
}

/* The fields that most tests share: 64 x 128 float16, box 64 x 16. */
static vm_tensor_map plain(void) {
    return (vm_tensor_map){.type = VM_TENSOR_F16,
                           .rank = 2,
                           .dim = {64, 128},
                           .stride = {256},
                           .box = {64, 16},
                           .step = {1, 1},
                           .swizzle = VM_TENSOR_SWIZZLE_128};
}

/* ---- what the machine must leave in the tile ---- */
static uint8_t model[OUT_BYTES];
typedef struct walk {
    const vm_tensor_map *map;
    const uint8_t *in;
    uint64_t base;
    uint32_t address;
} walk;
static bool row(void *user, const vm_tensor_row *r) {
    const walk *w = user;
    vm_tensor_row_load(w->map, model, w->address, r, r->inside ? w->in + (r->global - w->base) : NULL);
    return true;
}
static void expect_tile(const copy_case *k, vm_tensor_map map, vm_tensor_request request) {
    memset(model, 0, sizeof model);
    walk w = {&map, k->in, 0, 0};
    request.map = &map;
    request.rank = map.rank;
    vm_tensor_request_walk(&request, row, &w);
}

static void tensor_loads(void **state) {
    static const struct {
        const char *coordinates, *form, *bytes;
        vm_tensor_map map;
        vm_tensor_request request;
    } rows[] = {
        {"{%r20, %r21}",
         ".2d.shared::cluster.global.tile",
         "2048",
         {.type = VM_TENSOR_F16,
          .rank = 2,
          .dim = {64, 128},
          .stride = {256},
          .box = {64, 16},
          .step = {1, 1},
          .swizzle = VM_TENSOR_SWIZZLE_128},
         {.coordinate = {-8, 3}}},
        {"{%r20, %r21, 2}",
         ".3d.shared::cta.global",
         "2048",
         {.type = VM_TENSOR_F32,
          .rank = 3,
          .dim = {16, 9, 5},
          .stride = {64, 640},
          .box = {8, 8, 8},
          .step = {1, 1, 1},
          .swizzle = VM_TENSOR_SWIZZLE_32,
          .fill = VM_TENSOR_FILL_NAN},
         {.coordinate = {-8, 3, 2}}},
        {"{8, 0, 0, 1}, [bar], {1, 2}",
         ".4d.shared::cluster.global.im2col",
         "1024",
         {.mode = VM_TENSOR_IM2COL,
          .type = VM_TENSOR_U16,
          .rank = 4,
          .dim = {24, 5, 4, 3},
          .stride = {48, 240, 960},
          .step = {1, 1, 1, 1},
          .lower = {-1, -1},
          .upper = {-1, -1},
          .channels = 16,
          .pixels = 32},
         {.form = VM_TENSOR_IM2COL_LOAD, .coordinate = {8, 0, 0, 1}, .offset = {1, 2}}},
        {"{%r20}",
         ".1d.shared::cta.global.tile",
         "128",
         {.type = VM_TENSOR_U8, .rank = 1, .dim = {300}, .box = {128}, .step = {1}},
         {.coordinate = {-16}}},
    };
    static const int32_t first[] = {-8, -8, 0, -16};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (size_t s = 0; s < SCHEDULES; s++) {
            base_builder body;
            base_builder_start(&body, *state);
            base_builder_format(&body, "mov.u32 %%r20, %d;\nmov.u32 %%r21, 3;\n%s", first[i], INIT("1"));
            base_builder_format(&body, "@%%p15 mbarrier.arrive.expect_tx.shared.b64 %%rd1, [bar], %s;\n",
                                rows[i].bytes);
            bool offsets = strchr(rows[i].coordinates, '[') != NULL;
            const char *coordinates = rows[i].coordinates;
            size_t size =
                offsets ? (size_t)(strstr(coordinates, ", [bar]") - coordinates) : strlen(coordinates);
            base_builder_format(&body,
                                "@%%p15 cp.async.bulk.tensor%s.mbarrier::complete_tx::bytes [tile], [%%rd92, "
                                "%.*s], [bar]%s;\n",
                                rows[i].form, (int)size, coordinates,
                                offsets ? coordinates + size + strlen(", [bar]") : "");
            base_builder_string(&body, WAIT("0") DUMP);
            copy_case k = start(*state, body.data, s);
            put_map(&k, rows[i].map);
            vm_case_run(k.c, 1, 128);
            vm_case_clean(k.c);
            expect_tile(&k, rows[i].map, rows[i].request);
            assert_memory_equal(k.out, model, OUT_BYTES);
        }
}

static void gather(void **state) {
    for (size_t s = 0; s < SCHEDULES; s++) {
        copy_case k = start(
            *state,
            INIT("1") EXPECT(
                "512") "@%p15 cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx"
                       "::bytes [tile], [%rd92, {0, 7, 3, -1, 127}], [bar];\n" WAIT("0") DUMP,
            s);
        vm_tensor_map map = plain();
        map.box[1] = 1;
        put_map(&k, map);
        vm_case_run(k.c, 1, 128);
        vm_case_clean(k.c);
        expect_tile(&k, map,
                    (vm_tensor_request){.form = VM_TENSOR_GATHER4, .coordinate = {0, 7, 3, -1, 127}});
        assert_memory_equal(k.out, model, OUT_BYTES);
    }
}

/* Byte of the tile for byte `inner` of row `j` of a plain box. */
static uint8_t tile_byte(uint32_t j, uint32_t inner) {
    return filled(vm_tensor_swizzle_address(VM_TENSOR_SWIZZLE_128, VM_TENSOR_ATOM_16, j * 128 + inner));
}

static void tensor_stores(void **state) {
    for (size_t s = 0; s < SCHEDULES; s++) {
        copy_case k =
            start(*state,
                  FILL "setp.eq.u32 %p15, %r93, 0;\n"
                       "@%p15 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd92, {8, 120}],"
                       " [tile];\n@%p15 cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group"
                       " [%rd92+128, {0, 9, 1, 200, 30}], [tile+4096];\n"
                       "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;\n"
                       "cp.async.bulk.wait_group 0;\n",
                  s);
        vm_tensor_map map = plain(), rows = plain();
        put_map(&k, map);
        rows.address += k.address;
        rows.box[1] = 1;
        vm_tensor_map_write(&rows, k.map + 128);
        vm_case_run(k.c, 1, 128);
        vm_case_clean(k.c);
        static const int32_t scattered[] = {9, 1, 200, 30};
        for (uint32_t y = 0; y < 128; y++)
            for (uint32_t x = 0; x < 256; x++) {
                uint8_t want = (uint8_t)((y * 256 + x) * 13 + y);
                if (y >= 120 && x >= 16 && x < 128)
                    want = tile_byte(y - 120, x - 16);
                for (uint32_t r = 0; r < 4; r++)
                    if ((int32_t)y == scattered[r] && x < 128)
                        want = filled(4096 + vm_tensor_swizzle_address(VM_TENSOR_SWIZZLE_128,
                                                                       VM_TENSOR_ATOM_16, r * 128 + x));
                if (k.in[y * 256 + x] != want)
                    fail_msg("schedule %zu, row %u byte %u", s, y, x);
            }
    }
}

static float half_of(uint32_t bits) {
    return num_f16_to_f32((uint16_t)bits);
}

/* Sums of float16 and exclusive or of 32 bits, through a map and without one. */
static void reductions(void **state) {
    for (size_t s = 0; s < SCHEDULES; s++) {
        copy_case k = start(
            *state,
            FILL
            "setp.eq.u32 %p15, %r93, 0;\n"
            "@%p15 cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%rd92, {0, 0}], "
            "[tile];\n"
            "add.s64 %rd3, %rd91, 32768;\n"
            "@%p15 cp.reduce.async.bulk.global.shared::cta.bulk_group.xor.b32 [%rd3], [tile+16], 64;\n"
            "@%p15 cp.reduce.async.bulk.global.shared::cta.bulk_group.min.u64 [%rd3+64], [tile+32], 32;\n"
            "@%p15 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16 [%rd3+96], [tile+64], "
            "16;\n"
            "@%p15 cp.reduce.async.bulk.global.shared::cta.bulk_group.inc.u32 [%rd3+112], [tile+80], 16;\n"
            "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n",
            s);
        uint8_t before[65536];
        put_map(&k, plain());
        memcpy(before, k.in, sizeof before);
        vm_case_run(k.c, 1, 128);
        vm_case_clean(k.c);
        for (uint32_t y = 0; y < 16; y++)
            for (uint32_t x = 0; x < 64; x++) {
                uint32_t a = before[y * 256 + 2 * x] | (uint32_t)before[y * 256 + 2 * x + 1] << 8;
                uint32_t b = tile_byte(y, 2 * x) | (uint32_t)tile_byte(y, 2 * x + 1) << 8;
                uint32_t r = k.in[y * 256 + 2 * x] | (uint32_t)k.in[y * 256 + 2 * x + 1] << 8;
                assert_int_equal(r, num_f32_to_f16(half_of(a) + half_of(b)));
            }
        const uint8_t *was = before + 32768, *is = k.in + 32768;
        for (uint32_t i = 0; i < 64; i++)
            assert_int_equal(is[i], was[i] ^ filled(16 + i));
        for (uint32_t i = 0; i < 4; i++) {
            uint64_t a, b = 0, r;
            memcpy(&a, was + 64 + 8 * i, 8);
            for (uint32_t n = 8; n-- > 0;)
                b = b << 8 | filled(32 + 8 * i + n);
            memcpy(&r, is + 64 + 8 * i, 8);
            assert_true(r == (a < b ? a : b));
        }
        for (uint32_t i = 0; i < 4; i++) {
            uint32_t a, b = 0, r;
            memcpy(&a, was + 112 + 4 * i, 4);
            for (uint32_t n = 4; n-- > 0;)
                b = b << 8 | filled(80 + 4 * i + n);
            memcpy(&r, is + 112 + 4 * i, 4);
            assert_int_equal(r, a >= b ? 0 : a + 1);
        }
    }
}

static void bulk_copies(void **state) {
    for (size_t s = 0; s < SCHEDULES; s++) {
        copy_case k = start(
            *state,
            FILL INIT("1") EXPECT(
                "1040") "@%p15 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile], "
                        "[%rd91+256], "
                        "1024, [bar];\n"
                        "mov.u32 %r10, 16;\n"
                        "@%p15 "
                        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
                        "[tile+8192], [%rd91], %r10, [bar], %rd5;\n"
                        "@%p15 cp.async.bulk.prefetch.L2.global [%rd91], 4096;\n" WAIT(
                            "0") "mov.b16 %h1, 0x00f1;\nadd.s64 %rd4, %rd91, 4096;\n"
                                 "@%p15 cp.async.bulk.global.shared::cta.bulk_group [%rd4], [tile+2048], "
                                 "512;\n"
                                 "@%p15 cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd4+512], "
                                 "[tile+2048], 64, %h1;\n"
                                 "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n" DUMP,
            s);
        uint8_t before[65536];
        memcpy(before, k.in, sizeof before);
        vm_case_run(k.c, 1, 128);
        vm_case_clean(k.c);
        for (uint32_t i = 0; i < OUT_BYTES; i++)
            assert_int_equal(k.out[i], i < 1024                     ? before[256 + i]
                                       : i >= 8192 && i < 8192 + 16 ? before[i - 8192]
                                                                    : filled(i));
        for (uint32_t i = 0; i < 512; i++)
            assert_int_equal(k.in[4096 + i], filled(2048 + i));
        for (uint32_t i = 0; i < 64; i++)
            assert_int_equal(k.in[4608 + i], 0xf1 >> i % 16 & 1 ? filled(2048 + i) : before[4608 + i]);
    }
}

/* Thread t copies 16 bytes to tile + 16 t in each of three stages, and two more of 4 and 8 bytes. */
static void copies_of_threads(void **state) {
    for (size_t s = 0; s < SCHEDULES; s++) {
        copy_case k =
            start(*state,
                  FILL "shl.b32 %r2, %r93, 4;\nadd.u32 %r3, %r1, %r2;\ncvt.u64.u32 %rd2, %r2;\nadd.s64 %rd2, "
                       "%rd2, %rd91;\n"
                       "cp.async.cg.shared.global [%r3], [%rd2], 16;\ncp.async.commit_group;\n"
                       "and.b32 %r4, %r93, 15;\ncp.async.ca.shared::cta.global [%r3+2048], [%rd2], 16, %r4;\n"
                       "cp.async.commit_group;\nsetp.lt.u32 %p1, %r93, 50;\n"
                       "cp.async.ca.shared.global.L2::128B [%r3+4096], [%rd2+4], 4, %p1;\n"
                       "cp.async.ca.shared.global [%r3+4104], [%rd2+8], 8;\ncp.async.commit_group;\n"
                       "cp.async.wait_group 2;\nld.shared.u32 %r5, [%r3+4];\n"
                       "cp.async.wait_group 0;\nadd.u32 %r5, %r5, 0;\ncp.async.wait_all;\nbar.sync 0;\n" DUMP,
                  s);
        vm_case_run(k.c, 1, 128);
        vm_case_clean(k.c);
        for (uint32_t t = 0; t < 128; t++)
            for (uint32_t i = 0; i < 16; i++) {
                assert_int_equal(k.out[16 * t + i], k.in[16 * t + i]);
                assert_int_equal(k.out[2048 + 16 * t + i], i < t % 16 ? k.in[16 * t + i] : 0);
                uint8_t third = i < 4   ? (t < 50 ? 0 : k.in[16 * t + 4 + i])
                                : i < 8 ? filled(4096 + 16 * t + i)
                                        : k.in[16 * t + i];
                assert_int_equal(k.out[4096 + 16 * t + i], third);
            }
    }
}

/* A barrier that the copies of 128 threads complete; once counted in init, once by the instruction. */
static void copies_and_barriers(void **state) {
    static const char *const inits[] = {INIT("128"), INIT("1")};
    static const char *const arrives[] = {"cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n",
                                          "cp.async.mbarrier.arrive.shared.b64 [bar];\nbar.sync 0;\n"
                                          "@%p15 mbarrier.arrive.shared.b64 %rd1, [bar];\n"};
    for (size_t form = 0; form < 2; form++)
        for (size_t s = 0; s < SCHEDULES; s++) {
            base_builder body;
            base_builder_start(&body, *state);
            base_builder_format(&body, "%s%s%s%s", inits[form],
                                "mov.u32 %r1, tile;\nshl.b32 %r2, %r93, 4;\nadd.u32 %r3, %r1, %r2;\n"
                                "cvt.u64.u32 %rd2, %r2;\nadd.s64 %rd2, %rd2, %rd91;\n"
                                "cp.async.cg.shared.global [%r3], [%rd2], 16;\n",
                                arrives[form], WAIT("0") DUMP);
            copy_case k = start(*state, body.data, s);
            vm_case_run(k.c, 1, 128);
            vm_case_clean(k.c);
            for (uint32_t i = 0; i < 2048; i++)
                assert_int_equal(k.out[i], k.in[i]);
        }
}

static void store_of_zeros(void **state) {
    copy_case k =
        start(*state,
              FILL "setp.eq.u32 %p15, %r93, 0;\n@%p15 st.bulk.weak.shared::cta [tile+64], 4096, 0;\n"
                   "bar.sync 0;\n" DUMP,
              0);
    vm_case_run(k.c, 1, 128);
    vm_case_clean(k.c);
    for (uint32_t i = 0; i < OUT_BYTES; i++)
        assert_int_equal(k.out[i], i >= 64 && i < 64 + 4096 ? 0 : filled(i));
}

/* ---- maps edited by the kernel ---- */
#define EDIT                                                                                                 \
    INIT("1")                                                                                                \
    "shl.b32 %r2, %r93, 2;\nmov.u32 %r1, map;\nadd.u32 %r3, %r1, %r2;\ncvt.u64.u32 %rd2, %r2;\n"             \
    "add.s64 %rd2, %rd2, %rd92;\nsetp.lt.u32 %p1, %r93, 32;\n@%p1 ld.global.u32 %r4, [%rd2];\n"              \
    "@%p1 st.shared.u32 [%r3], %r4;\nbar.sync 0;\nadd.s64 %rd3, %rd91, 512;\n"                               \
    "@%p15 tensormap.replace.tile.global_address.shared::cta.b1024.b64 [map], %rd3;\n"                       \
    "@%p15 tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [map], 1, 4;\n"                              \
    "@%p15 tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [map], 0;\nbar.sync 0;\n"               \
    "@%p1 tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "           \
    "[%rd92+128], [map], 128;\n"
#define ACQUIRE "@%p15 fence.proxy.tensormap::generic.acquire.gpu [%rd92+128], 128;\n"
#define LOAD_EDITED                                                                                          \
    EXPECT("512")                                                                                            \
    "@%p15 cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes "                    \
    "[tile], [%rd92+128, {0, 0}], [bar];\n" WAIT("0")

static void edited_maps(void **state) {
    for (size_t s = 0; s < SCHEDULES; s++) {
        copy_case k = start(*state, EDIT ACQUIRE LOAD_EDITED DUMP, s);
        put_map(&k, plain());
        vm_case_run(k.c, 1, 128);
        vm_case_clean(k.c);
        for (uint32_t i = 0; i < 512; i++)
            assert_int_equal(k.out[i], k.in[512 + i / 128 * 256 + i % 128]);
        copy_case bad = start(*state, EDIT LOAD_EDITED DUMP, s);
        put_map(&bad, plain());
        vm_case_run(bad.c, 1, 128);
        assert_string_equal(vm_case_findings(bad.c), "tensor-map-fence");
        assert_memory_equal(bad.out, k.out, 512);
    }
}

/* A map made from 128 bytes of zeros, field by field: that of EDIT. */
#define FIELD(what) "@%p15 tensormap.replace.tile." what ";\n"
#define MAKE                                                                                                 \
    INIT("1")                                                                                                \
    "shl.b32 %r2, %r93, 2;\nmov.u32 %r1, map;\nadd.u32 %r3, %r1, %r2;\nsetp.lt.u32 %p1, %r93, 32;\n"         \
    "@%p1 st.shared.u32 [%r3], 0;\nbar.sync 0;\nadd.s64 %rd3, %rd91, 512;\n" FIELD(                          \
        "global_address.shared::cta.b1024.b64 [map], %rd3") FIELD("rank.shared::cta.b1024.b32 [map], 1")     \
        FIELD("box_dim.shared::cta.b1024.b32 [map], 0, 32")                                                  \
            FIELD("box_dim.shared::cta.b1024.b32 [map], 1, 4")                                               \
                FIELD("global_dim.shared::cta.b1024.b32 [map], 0, 64")                                       \
                    FIELD("global_dim.shared::cta.b1024.b32 [map], 1, 16")                                   \
                        FIELD("global_stride.shared::cta.b1024.b64 [map], 0, 256") FIELD(                    \
                            "element_stride.shared::cta.b1024.b32 [map], 0, 1")                              \
                            FIELD("element_stride.shared::cta.b1024.b32 [map], 1, 1") FIELD(                 \
                                "elemtype.shared::cta.b1024.b32 [map], 7") "bar.sync 0;\n"                   \
                                                                           "@%p1 "                           \
                                                                           "tensormap.cp_fenceproxy.global." \
                                                                           "shared::cta.tensormap::generic." \
                                                                           "release.gpu.sync.aligned "       \
                                                                           "[%rd92+128], [map], 128;\n"

static void maps_from_zeros(void **state) {
    for (size_t s = 0; s < SCHEDULES; s++) {
        copy_case k = start(*state, MAKE ACQUIRE LOAD_EDITED DUMP, s);
        vm_case_run(k.c, 1, 128);
        vm_case_clean(k.c);
        for (uint32_t i = 0; i < 512; i++)
            assert_int_equal(k.out[i], k.in[512 + i / 128 * 256 + i % 128]);
    }
}

/* ---- clusters ---- */
#define CLUSTER_SYNC "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
/* 32 threads write the first 512 bytes of the tile to p0 + 512 rank */
#define DUMP_512                                                                                             \
    "mov.u32 %r1, tile;\nshl.b32 %r2, %r93, 4;\nadd.u32 %r3, %r1, %r2;\nmov.u32 %r9, %cluster_ctarank;\n"    \
    "mad.lo.u32 %r2, %r9, 512, %r2;\ncvt.u64.u32 %rd2, %r2;\nadd.s64 %rd2, %rd2, %rd90;\n"                   \
    "ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r3];\nst.global.v4.u32 [%rd2], {%r5, %r6, %r7, %r8};\n"
#define FIRST "mov.u32 %r9, %cluster_ctarank;\nsetp.eq.u32 %p10, %r9, 0;\nand.pred %p11, %p10, %p15;\n"

static copy_case run_cluster(base_arena *arena, const char *body, uint32_t size, size_t s, bool clean) {
    copy_case k = start(arena, body, s);
    vm_tensor_map map = plain();
    map.box[1] = 4;
    put_map(&k, map);
    k.c->launch.cluster[0] = size;
    k.c->launch.cluster[1] = k.c->launch.cluster[2] = 1;
    vm_case_run(k.c, size, 32);
    if (clean)
        vm_case_clean(k.c);
    return k;
}

static void multicast(void **state) {
    static const char *const copies[] = {
        "@%p11 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [tile], "
        "[%rd91+512], 512, [bar], %h1;\n",
        "@%p11 "
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
        "[tile], [%rd92, {0, 2}], [bar], %h1;\n"};
    for (size_t form = 0; form < 2; form++)
        for (size_t s = 0; s < SCHEDULES; s++) {
            base_builder body;
            base_builder_start(&body, *state);
            base_builder_format(&body, "%s%s",
                                INIT("1") FIRST
                                "setp.ne.u32 %p9, %r9, 2;\nand.pred %p9, %p9, %p15;\n"
                                "@%p9 mbarrier.arrive.expect_tx.shared.b64 %rd1, [bar], 512;\n" CLUSTER_SYNC
                                "mov.b16 %h1, 0x000b;\n",
                                copies[form]);
            base_builder_string(&body, "setp.eq.u32 %p8, %r9, 2;\n@%p8 bra skip;\n" WAIT(
                                           "0") "skip:\n" DUMP_512 CLUSTER_SYNC);
            copy_case k = run_cluster(*state, body.data, 4, s, true);
            for (uint32_t rank = 0; rank < 4; rank++)
                for (uint32_t i = 0; i < 512; i++) {
                    uint32_t from = form == 0 ? 512 + i
                                              : 512 + i / 128 * 256 +
                                                    vm_tensor_swizzle_address(VM_TENSOR_SWIZZLE_128,
                                                                              VM_TENSOR_ATOM_16, i) %
                                                        128;
                    assert_int_equal(k.out[rank * 512 + i], rank == 2 ? 0 : k.in[from]);
                }
        }
}

/* Shared memory of rank 0 to that of rank 1, copied, and added to what is there. */
static void across(void **state) {
    for (size_t s = 0; s < SCHEDULES; s++) {
        copy_case k = run_cluster(
            *state,
            "mov.u32 %r1, tile;\nshl.b32 %r2, %r93, 4;\nadd.u32 %r3, %r1, %r2;\nadd.u32 %r4, %r93, 100;\n"
            "mov.u32 %r9, %cluster_ctarank;\nmad.lo.u32 %r4, %r9, 1000, %r4;\n"
            "st.shared.v4.u32 [%r3], {%r4, %r4, %r4, %r4};\nfence.proxy.async;\n" INIT("1") FIRST
            "setp.eq.u32 %p9, %r9, 1;\nand.pred %p9, %p9, %p15;\n"
            "@%p9 mbarrier.arrive.expect_tx.shared.b64 %rd1, [bar], 256;\n" CLUSTER_SYNC
            "mapa.shared::cluster.u32 %r10, %r1, 1;\nmov.u32 %r11, bar;\nmapa.shared::cluster.u32 %r12, "
            "%r11, 1;\n"
            "@%p11 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r10], "
            "[tile+256], 128, "
            "[%r12];\n"
            "@%p11 cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 "
            "[%r10+128], "
            "[tile], 128, [%r12];\n"
            "setp.ne.u32 %p8, %r9, 1;\n@%p8 bra skip;\n" WAIT("0") "skip:\n" DUMP_512 CLUSTER_SYNC,
            2, s, true);
        for (uint32_t i = 0; i < 128; i++) {
            uint32_t t = i / 4, value;
            memcpy(&value, k.out + 512 + 4 * i, 4);
            assert_int_equal(value, i < 32 ? 100 + 16 + t : i < 64 ? 1100 + t + 100 + t - 8 : 1100 + t);
        }
    }
}

/* Both CTAs of a pair load for themselves and signal the barrier of the even one. */
static void pair_barrier(void **state) {
    for (size_t s = 0; s < SCHEDULES; s++) {
        copy_case k = run_cluster(
            *state,
            INIT("1") FIRST
            "@%p11 mbarrier.arrive.expect_tx.shared.b64 %rd1, [bar], 1024;\n" CLUSTER_SYNC
            "mov.u32 %r11, bar;\nand.b32 %r11, %r11, 0xfeffffff;\nshl.b32 %r13, %r9, 2;\nmov.u32 %r1, tile;\n"
            "@%p15 "
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2 "
            "[%r1], "
            "[%rd92, {0, %r13}], [%r11];\n"
            "setp.ne.u32 %p8, %r9, 0;\n@%p8 bra skip;\n" WAIT(
                "0") "skip:\n" CLUSTER_SYNC DUMP_512 CLUSTER_SYNC,
            2, s, true);
        for (uint32_t rank = 0; rank < 2; rank++)
            for (uint32_t i = 0; i < 512; i++)
                assert_int_equal(
                    k.out[rank * 512 + i],
                    k.in[(rank * 4 + i / 128) * 256 +
                         vm_tensor_swizzle_address(VM_TENSOR_SWIZZLE_128, VM_TENSOR_ATOM_16, i) % 128]);
    }
}

static void cluster_findings(void **state) {
    static const struct {
        const char *copy, *kinds;
    } rows[] = {
        {"@%p11 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [tile], "
         "[%rd91], "
         "16, [bar], 7;\n",
         "copy-mask"},
        {"@%p11 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [tile], "
         "[%rd91], "
         "16, [bar], 0;\n",
         "copy-mask"},
        {"@%p11 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r10], [%rd91], 16, "
         "[bar];\n",
         "copy-barrier"},
        {"@%p11 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r10], [%rd91], 16, [%r12];\n",
         "copy-cta"},
        {"@%p11 cp.async.bulk.global.shared::cta.bulk_group [%rd91], [%r10], 16;\n", "copy-cta"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (size_t s = 0; s < SCHEDULES; s++) {
            base_builder body;
            base_builder_start(&body, *state);
            base_builder_format(
                &body, "%s%s%s",
                INIT("1") FIRST CLUSTER_SYNC
                "mov.u32 %r1, tile;\nmapa.shared::cluster.u32 %r10, %r1, 1;\nmov.u32 %r11, bar;\n"
                "mapa.shared::cluster.u32 %r12, %r11, 1;\n",
                rows[i].copy, CLUSTER_SYNC);
            copy_case k = run_cluster(*state, body.data, 2, s, false);
            /* late copies also meet CTAs that have ended: nobody waits here */
            const char *found = vm_case_findings(k.c);
            size_t size = strlen(rows[i].kinds);
            if (strncmp(found, rows[i].kinds, size) != 0 ||
                (found[size] && strcmp(found + size, " cluster-exited") != 0))
                fail_msg("row %zu, schedule %zu: %s instead of %s", i, s, found, rows[i].kinds);
        }
}

/* ---- findings ---- */
static void finds(void **state, const char *body, vm_tensor_map map, const char *kinds, const char *text) {
    for (size_t s = 0; s < SCHEDULES; s++) {
        copy_case k = start(*state, body, s);
        put_map(&k, map);
        vm_case_run(k.c, 1, 32);
        if (strcmp(vm_case_findings(k.c), kinds) != 0)
            fail_msg("schedule %zu: %s instead of %s", s, vm_case_findings(k.c), kinds);
        if (text != NULL)
            assert_string_equal(k.c->result->findings[0].text, text);
    }
}
#define ONE "setp.eq.u32 %p15, %r93, 0;\n"
#define LOAD(what)                                                                                           \
    ONE "@%p15 mbarrier.init.shared.b64 [bar], 1;\n@%p15 cp.async.bulk.tensor.2d.shared::cta.global"         \
        ".mbarrier::complete_tx::bytes " what ";\n"
#define DRAIN "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n"

static void findings(void **state) {
    vm_tensor_map map = plain(), broken = plain(), past = plain();
    finds(state, LOAD("[tile+64], [%rd92, {0, 0}], [bar]"), map, "copy-align", NULL);
    finds(state, LOAD("[tile], [%rd92+32, {0, 0}], [bar]"), map, "copy-align", NULL);
    finds(state, LOAD("[tile+15360], [%rd92, {0, 0}], [bar]"), map, "copy-extent", NULL);
    finds(state, LOAD("[tile], [%rd91, {0, 0}], [bar]"), map, "tensor-map", NULL);
    finds(state, LOAD("[tile], [%rd92, {4, 0}], [bar]"), map, "tensor-request",
          "coordinate 0 is 4: the box must start at a multiple of 16 bytes, here 8 elements");
    broken.box[0] = 128;
    broken.stride[0] = 24;
    finds(state, LOAD("[tile], [%rd92, {0, 0}], [bar]"), broken, "tensor-rule",
          "globalStrides[0] is 24 bytes: a multiple of 16; the inner dimension of the box is 256 bytes: at "
          "most "
          "128, the span of the swizzle");
    past.dim[1] = 1000; /* rows behind the end of the buffer */
    finds(state, LOAD("[tile], [%rd92, {0, 255}], [bar]"), past, "out-of-bounds", NULL);
    finds(state, LOAD("[tile], [%rd92, {0, 0}], [bar+8]"), map, "mbarrier-uninitialised", NULL);
    finds(state,
          ONE
          "st.global.u8 [%rd92+30], 1;\n@%p15 cp.async.bulk.prefetch.tensor.2d.L2.global [%rd92, {0, 0}];\n",
          map, "tensor-map", NULL);
    finds(state, ONE "@%p15 cp.async.bulk.global.shared::cta.bulk_group [%rd91], [tile], 20;\n" DRAIN, map,
          "copy-size", NULL);
    finds(state,
          ONE
          "mov.u32 %r1, 0;\n@%p15 cp.async.bulk.global.shared::cta.bulk_group [%rd91], [tile], %r1;\n" DRAIN,
          map, "copy-size", NULL);
    finds(state, ONE "@%p15 cp.async.bulk.global.shared::cta.bulk_group [%rd91+8], [tile], 32;\n" DRAIN, map,
          "copy-align", NULL);
    finds(state, ONE "@%p15 cp.async.bulk.global.shared::cta.bulk_group [%rd91+65520], [tile], 32;\n" DRAIN,
          map, "out-of-bounds", NULL);
    finds(state, ONE "@%p15 cp.async.bulk.global.shared::cta.bulk_group [%rd91], [tile], 32;\n", map,
          "copy-exit", NULL);
    finds(state,
          ONE "@%p15 cp.async.bulk.global.shared::cta.bulk_group [%rd91], [tile], 32;\n"
              "cp.async.bulk.wait_group 0;\n",
          map, "copy-exit", NULL); /* not committed: not waited for */
    finds(state, ONE "@%p15 cp.async.ca.shared.global [tile+4], [%rd91], 8;\ncp.async.wait_all;\n", map,
          "copy-align", NULL);
    finds(state, ONE "@%p15 cp.async.ca.shared.global [tile], [%rd91+4], 8;\ncp.async.wait_all;\n", map,
          "copy-align", NULL);
    finds(state,
          ONE
          "mov.u32 %r1, 9;\n@%p15 cp.async.ca.shared.global [tile], [%rd91], 8, %r1;\ncp.async.wait_all;\n",
          map, "copy-size", NULL);
    finds(state, ONE "@%p15 cp.async.ca.shared.global [tile], [%rd91+65536], 8;\ncp.async.wait_all;\n", map,
          "out-of-bounds", NULL);
    finds(state, ONE "mov.u32 %r1, 7;\n@%p15 tensormap.replace.tile.rank.global.b1024.b32 [%rd92], %r1;\n",
          map, "tensor-replace", NULL);
    finds(state,
          ONE "@%p15 st.shared.u32 [map+64], 7;\n@%p15 tensormap.replace.tile.rank.shared::cta.b1024.b32 "
              "[map], 1;\n",
          map, "tensor-map", NULL);
    /* ordinary stores, a barrier, and no fence between */
    finds(state,
          ONE "st.shared.u32 [tile+64], %r93;\nbar.sync 0;\n"
              "@%p15 cp.async.bulk.global.shared::cta.bulk_group [%rd91], [tile], 128;\n" DRAIN,
          map, "copy-proxy", NULL);
    finds(state,
          ONE "st.shared.u32 [tile+64], %r93;\nfence.proxy.async.global;\nbar.sync 0;\n"
              "@%p15 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd92, {0, 0}], [tile];\n" DRAIN,
          map, "copy-proxy", NULL);
    finds(state,
          ONE "st.shared.u32 [tile+64], %r93;\nfence.proxy.async.shared::cta;\nbar.sync 0;\n"
              "@%p15 cp.async.bulk.global.shared::cta.bulk_group [%rd91], [tile], 128;\n" DRAIN,
          map, "", NULL);
    finds(state,
          ONE "@!%p15 st.shared.u32 [tile+64], %r93;\nbar.sync 0;\n@%p15 fence.proxy.async;\n"
              "@%p15 cp.async.bulk.global.shared::cta.bulk_group [%rd91], [tile], 128;\n" DRAIN,
          map, "", NULL);
    finds(state,
          ONE "fence.proxy.async;\nst.shared.v2.u32 [tile+64], {%r93, %r93};\n"
              "@%p15 cp.async.bulk.global.shared::cta.bulk_group [%rd91], [tile], 64;\n" DRAIN,
          map, "", NULL); /* other bytes */
    /* cp.async writes like an ordinary store, once it is waited for */
    finds(state,
          ONE "@%p15 cp.async.ca.shared.global [tile+64], [%rd91], 16;\ncp.async.wait_all;\nbar.sync 0;\n"
              "@%p15 cp.async.bulk.global.shared::cta.bulk_group [%rd91], [tile], 128;\n" DRAIN,
          map, "copy-proxy", NULL);
    finds(state,
          ONE "@%p15 cp.async.ca.shared.global [tile+64], [%rd91], 16;\ncp.async.wait_all;\n"
              "fence.proxy.async;\nbar.sync 0;\n"
              "@%p15 cp.async.bulk.global.shared::cta.bulk_group [%rd91], [tile], 128;\n" DRAIN,
          map, "", NULL);
    finds(state,
          ONE
          "@%p15 mbarrier.init.shared.b64 [bar], 1;\n"
          "@%p15 cp.async.ca.shared.global [tile+64], [%rd91], 16;\n"
          "@%p15 cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n@%p15 fence.proxy.async;\nbar.sync "
          "0;\n" WAIT("0") "@%p15 cp.async.bulk.global.shared::cta.bulk_group [%rd91], [tile], 128;\n" DRAIN,
          map, "copy-proxy", NULL);
    /* the tile before its barrier; a store's source before its group has read it */
    finds(state,
          ONE
          "@%p15 mbarrier.init.shared.b64 [bar], 1;\n@%p15 mbarrier.arrive.expect_tx.shared.b64 %rd1, [bar], "
          "64;\n"
          "@%p15 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile], [%rd91], 64, [bar];\n"
          "@%p15 ld.shared.u32 %r5, [tile+60];\n@%p15 st.global.u32 [%rd90], %r5;\n" WAIT(
              "0") "ld.shared.u32 %r5, [tile+60];\n",
          map, "in-flight", NULL);
    finds(state,
          ONE "@%p15 cp.async.bulk.global.shared::cta.bulk_group [%rd91], [tile], 128;\n"
              "cp.async.bulk.commit_group;\n@%p15 st.shared.u32 [tile+16], "
              "%r93;\ncp.async.bulk.wait_group.read 0;\n"
              "@%p15 st.shared.u32 [tile+16], %r93;\n",
          map, "in-flight", NULL);
    finds(state,
          ONE "@%p15 cp.async.ca.shared.global [tile], [%rd91], 16;\n@%p15 ld.shared.u32 %r5, [tile];\n"
              "@%p15 st.global.u32 [%rd90], %r5;\ncp.async.wait_all;\nld.shared.u32 %r5, [tile];\n",
          map, "in-flight", NULL);
    /* two copies into one place, with nothing between */
    finds(state,
          ONE
          "@%p15 mbarrier.init.shared.b64 [bar], 1;\n"
          "@%p15 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile], [%rd91], 64, [bar];\n"
          "@%p15 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile+48], [%rd91], 64, "
          "[bar];\n",
          map, "in-flight", NULL);
}

/* ---- any map, any coordinates: nothing outside of the buffers and of shared memory is touched ---- */
static uint64_t random_state = 5;
static uint32_t below(uint32_t n) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % n;
}
static uint32_t pick(const uint32_t *of, uint32_t count, uint32_t otherwise) {
    return below(3) ? 1 + below(otherwise) : of[below(count)];
}

static vm_tensor_map any_map(void) {
    static const uint32_t boxes[] = {1, 16, 64, 128, 255, 256}, steps[] = {1, 1, 1, 2, 8},
                          channels[] = {8, 16, 128, 256}, pixels[] = {1, 128, 1024},
                          dims[] = {1, 2, 300, 0x7fffffff, 0x80000000u, 0xffffffffu};
    vm_tensor_map m = {.mode = (vm_tensor_mode)below(2),
                       .type = (vm_tensor_type)below(VM_TENSOR_TYPE_COUNT),
                       .rank = 1 + below(5),
                       .address = 32 * (uint64_t)below(3000),
                       .interleave = (vm_tensor_interleave)(below(3) ? 0 : below(3)),
                       .swizzle = (vm_tensor_swizzle)below(4),
                       .fill = (vm_tensor_fill)below(2)};
    if (m.swizzle == VM_TENSOR_SWIZZLE_128)
        m.atom = (vm_tensor_atom)below(4);
    for (uint32_t i = 0; i < 5; i++) {
        m.dim[i] = pick(dims, 6, 500);
        m.box[i] = pick(boxes, 6, i ? 4 : 64);
        m.step[i] = steps[below(5)];
        if (i < 4)
            m.stride[i] = below(4) ? 32 * (uint64_t)below(100) : 32ull << below(36);
    }
    for (uint32_t i = 0; i < 3; i++) {
        m.lower[i] = (int32_t)below(40) - 20;
        m.upper[i] = (int32_t)below(40) - 20;
    }
    m.channels = pick(channels, 4, 64);
    m.pixels = pick(pixels, 3, 200);
    return m;
}

static void any_copy(void **state) {
    static const char *const forms[] = {
        "@%%p15 cp.async.bulk.tensor.%ud.shared::cta.global%s.mbarrier::complete_tx::bytes [tile], [%%rd92, "
        "{%s}], [bar]%s;\n",
        "@%%p15 cp.async.bulk.tensor.%ud.global.shared::cta%s.bulk_group [%%rd92, {%s}], [tile]%s;\n",
        "@%%p15 cp.reduce.async.bulk.tensor.%ud.global.shared::cta.add%s.bulk_group [%%rd92, {%s}], "
        "[tile]%s;\n"};
    vm_tensor_problem problems[VM_TENSOR_PROBLEMS];
    unsigned ran = 0;
    for (unsigned number = 0; number < 400; number++) {
        vm_tensor_map map = any_map();
        for (unsigned tries = 0; tries < 200 && vm_tensor_map_check(&map, problems); tries++)
            map = any_map();
        uint32_t form = below(3), rank = map.rank;
        bool im2col = map.mode == VM_TENSOR_IM2COL, load = form == 0;
        char coordinates[160] = "", offsets[64] = "", text[400];
        for (uint32_t i = 0; i < rank; i++) {
            int64_t c = below(3)   ? (int64_t)below(40) - 10
                        : below(2) ? INT32_MAX - (int64_t)below(300)
                                   : INT32_MIN;
            if (i == 0 && !map.interleave)
                c = c / 128 * 128;
            snprintf(coordinates + strlen(coordinates), sizeof coordinates - strlen(coordinates), "%s%lld",
                     i ? ", " : "", (long long)c);
        }
        for (uint32_t i = 0; im2col && load && i + 2 < rank; i++)
            snprintf(offsets + strlen(offsets), sizeof offsets - strlen(offsets), "%s%u", i ? ", " : ", {",
                     below(31));
        if (*offsets)
            snprintf(offsets + strlen(offsets), sizeof offsets - strlen(offsets), "}");
        snprintf(text, sizeof text, forms[form], rank, im2col ? load ? ".im2col" : ".im2col_no_offs" : "",
                 coordinates, offsets);
        base_builder body;
        base_builder_start(&body, *state);
        base_builder_string(&body, INIT("1"));
        base_builder_string(&body, text);
        base_builder_string(&body, "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n");
        copy_case k = start(*state, body.data, number % SCHEDULES);
        put_map(&k, map);
        vm_case_run(k.c, 1, 32);
        assert_true(k.c->result->status == VM_COMPLETE || k.c->result->status == VM_FAULTED);
        ran += k.c->result->finding_count == 0;
    }
    assert_true(ran > 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {UNIT_WITH_ARENA(tensor_loads),
                                       UNIT_WITH_ARENA(gather),
                                       UNIT_WITH_ARENA(tensor_stores),
                                       UNIT_WITH_ARENA(reductions),
                                       UNIT_WITH_ARENA(bulk_copies),
                                       UNIT_WITH_ARENA(copies_of_threads),
                                       UNIT_WITH_ARENA(copies_and_barriers),
                                       UNIT_WITH_ARENA(store_of_zeros),
                                       UNIT_WITH_ARENA(edited_maps),
                                       UNIT_WITH_ARENA(maps_from_zeros),
                                       UNIT_WITH_ARENA(findings),
                                       UNIT_WITH_ARENA(multicast),
                                       UNIT_WITH_ARENA(across),
                                       UNIT_WITH_ARENA(pair_barrier),
                                       UNIT_WITH_ARENA(cluster_findings),
                                       UNIT_WITH_ARENA(any_copy)};
    return cmocka_run_group_tests_name("vm_copy", tests, NULL, NULL);
}
