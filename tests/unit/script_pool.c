/* SPDX-License-Identifier: Apache-2.0
 * SMEMPool in scripts: the same IR as views declared by hand at the same bytes, and every report. */
#include "unit/script_help.h"

#define SAME(a, b) help_equal(*state, help_indent(*state, HELP_HEAD, a), help_indent(*state, HELP_HEAD, b))
#define ARENA(bytes, align)                                                                                  \
    "pool_buf = T.alloc_tensor((" #bytes ",), \"uint8\", scope=\"shared.dyn\", align=" #align ")\n"

/* covers: A35 */
static void bump(void **state) {
    SAME("pool = T.SMEMPool()\n"
         "flag = pool.alloc((3,), \"uint8\")\n"
         "x = pool.alloc((64,))\n"
         "y = pool.alloc((8, 8), \"float16\", align=128)\n"
         "z = pool.alloc((2, 4), \"float32\", layout=T.TileLayout(T.S[(2, 4) : (16, 2)]))\n"
         "w = pool.alloc((2,), \"int8\")\n"
         "pool.commit()\n"
         "x[tx] = A[tx]\n"
         "B[tx] = x[tx]\n",
         ARENA(606, 128) "flag = T.decl_tensor((3,), \"uint8\", data=pool_buf.data)\n"
                         "x = T.decl_tensor((64,), \"float32\", data=pool_buf.data, "
                         "layout=T.TileLayout(T.S[(64,)] + 1))\n"
                         "y = T.decl_tensor((8, 8), \"float16\", data=pool_buf.data, align=128, "
                         "layout=T.TileLayout(T.S[(8, 8)] + 192))\n"
                         "z = T.decl_tensor((2, 4), \"float32\", data=pool_buf.data, "
                         "layout=T.TileLayout(T.S[(2, 4) : (16, 2)] + 128))\n"
                         "w = T.decl_tensor((2,), \"int8\", data=pool_buf.data, "
                         "layout=T.TileLayout(T.S[(2,)] + 604))\n"
                         "x[tx] = A[tx]\n"
                         "B[tx] = x[tx]\n");
}

/* Bytes are used again behind move_base_to; the highest stays; an explicit size is larger. */
static void move_base(void **state) {
    SAME("pool = T.SMEMPool()\n"
         "x = pool.alloc((64,))\n"
         "pool.move_base_to(128)\n"
         "assert pool.offset == 128 and pool.max_offset == 256\n"
         "y = pool.alloc((8,), \"int32\")\n"
         "assert pool.offset == 160 and pool.max_offset == 256\n"
         "pool.move_base_to(300)\n"
         "assert pool.max_offset == 300\n"
         "pool.commit(512)\n"
         "assert pool.max_offset == 512\n"
         "v = T.decl_tensor((2,), \"uint8\", data=pool.ptr)\n"
         "v[0] = pool.buf[1]\n",
         ARENA(512, 64) "x = T.decl_tensor((64,), \"float32\", data=pool_buf.data)\n"
                        "y = T.decl_tensor((8,), \"int32\", data=pool_buf.data, "
                        "layout=T.TileLayout(T.S[(8,)] + 32))\n"
                        "v = T.decl_tensor((2,), \"uint8\", data=pool_buf.data)\n"
                        "v[0] = pool_buf[1]\n");
    SAME("pool = T.SMEMPool()\n"
         "pool.move_base_to(300)\n"
         "pool.commit()\n"
         "B[tx] = 1.0\n",
         ARENA(300, 64) "B[tx] = 1.0\n");
}

/* covers: A36 */
static void operands(void **state) {
    static const struct {
        int columns;
        const char *mode, *same;
    } rows[] = {{64, "", "128B"}, {32, "", "64B"},          {16, "", "32B"},
                {24, "", "none"}, {64, ", \"32B\"", "32B"}, {64, ", \"none\"", "none"},
                {96, "", "64B"}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *a = base_arena_format(*state,
                                          "pool = T.SMEMPool()\n"
                                          "x = pool.alloc((16, 8))\n"
                                          "y = pool.alloc_tcgen05_mma_AB((16, %d), \"float16\"%s)\n"
                                          "pool.commit()\n"
                                          "y[0, tx %% 16] = T.float16(1.0)\n",
                                          rows[i].columns, rows[i].mode);
        const char *b = base_arena_format(
            *state,
            "pool_buf = T.alloc_tensor((%d,), \"uint8\", scope=\"shared.dyn\", align=1024)\n"
            "x = T.decl_tensor((16, 8), \"float32\", data=pool_buf.data)\n"
            "base = T.mma_shared_layout(\"float16\", \"%s\", (16, %d))\n"
            "y = T.decl_tensor((16, %d), \"float16\", data=T.ptr_byte_offset(pool_buf.data, 1024), "
            "align=1024, "
            "layout=base)\n"
            "y[0, tx %% 16] = T.float16(1.0)\n",
            1024 + 32 * rows[i].columns, rows[i].same, rows[i].columns, rows[i].columns);
        help_result x = help_evaluate(*state, help_indent(*state, HELP_HEAD, a), NULL, NULL);
        help_result y = help_evaluate(*state, help_indent(*state, HELP_HEAD, b), NULL, NULL);
        assert_string_equal(x.messages, "");
        assert_string_equal(y.messages, "");
        /* the swizzle and the steps agree, the pool's has the offset of 512 elements */
        const char *p = strstr(x.text, "view y"), *q = strstr(y.text, "view y");
        assert_non_null(p);
        assert_non_null(q);
        p = strstr(p, "layout=");
        q = strstr(q, "layout=");
        assert_non_null(p);
        assert_non_null(q);
        size_t size = strcspn(q, " "), at = strcspn(p, " ");
        assert_true(at == size + strlen("+512"));
        assert_memory_equal(p, q, size);
        assert_memory_equal(p + size, "+512 ", 5);
    }
}

/* Storage of the caller: commit does nothing, the storage's bytes are the limit, its alignment follows. */
static void pointers(void **state) {
    SAME("buf = T.alloc_shared((1024,), \"uint8\")\n"
         "pool = T.SMEMPool(buf.data)\n"
         "x = pool.alloc((64,))\n"
         "y = pool.alloc((64,), align=256)\n"
         "B[tx] = x[tx] + y[tx]\n",
         "buf = T.alloc_shared((1024,), \"uint8\", align=256)\n"
         "x = T.decl_tensor((64,), \"float32\", data=buf.data)\n"
         "y = T.decl_tensor((64,), \"float32\", data=buf.data, align=256, layout=T.TileLayout(T.S[(64,)] + "
         "64))\n"
         "B[tx] = x[tx] + y[tx]\n");
    SAME("buf = T.alloc_tensor((64,), \"float32\", scope=\"shared.dyn\")\n"
         "pool = T.SMEMPool(ptr=buf.ptr_to([16]))\n"
         "x = pool.alloc((16,), scope=\"shared.dyn\")\n"
         "pool.commit()\n"
         "x[0] = 1.0\n",
         "buf = T.alloc_tensor((64,), \"float32\", scope=\"shared.dyn\")\n"
         "x = T.decl_tensor((16,), \"float32\", data=buf.ptr_to([16]))\n"
         "x[0] = 1.0\n");
    BODY_SAYS("buf = T.alloc_shared((1024,), \"uint8\")\n"
              "pool = T.SMEMPool(buf.data)\n"
              "x = pool.alloc((256,))\n"
              "y = pool.alloc((1,), \"uint8\")\n"
              "pool.move_base_to(1025)\n"
              "z = pool.alloc((1,), \"uint8\", scope=\"shared.dyn\")\n"
              "q = T.SMEMPool(A.data)\n"
              "r = T.SMEMPool(buf.ptr_to([4])).buf\n",
              "8:9 T0443 'uint8(1)' needs 1 bytes from byte 1024 on, up to byte 1025; the pool ends at 1024",
              "9:23 T0442 the base of a pool cannot move to byte 1025: it ends at 1024",
              "10:41 T0446 scope=\"shared.dyn\" in a pool of shared memory",
              "11:20 T0446 a pool over global memory",
              "12:37 T0446 the pool stands on a pointer of the caller");
}

static void reports(void **state) {
    BODY_SAYS(
        "pool = T.SMEMPool()\n"
        "x = pool.alloc((64,), align=96)\n"
        "y = pool.alloc((64,), align=-1)\n"
        "z = pool.alloc((65536,))\n"
        "pool.move_base_to(-16)\n"
        "pool.move_base_to(232449)\n"
        "u = pool.alloc((32,), layout=T.TileLayout(T.S[(32,) : (1 @ T.laneid,)]))\n"
        "v = pool.alloc_tcgen05_mma_AB((16, 48), \"float16\", \"128B\")\n"
        "w = pool.alloc_tcgen05_mma_AB((12, 64), \"float16\")\n"
        "s = pool.alloc((64,))\n"
        "pool.commit(128)\n",
        "6:33 T0444 an alignment of 96 bytes", "7:33 T0444 an alignment of -1 bytes",
        "8:9 T0443 'float32(65536)' needs 262144 bytes from byte 0 on, up to byte 262144; the pool ends at "
        "232448",
        "9:23 T0442 the base of a pool cannot move to byte -16",
        "10:23 T0442 the base of a pool cannot move to byte 232449: it ends at 232448",
        "11:9 T0446 is on laneid", "12:9 T0447 ", "13:9 T0447 ",
        "15:17 T0445 128 bytes are committed, but the pool reaches up to byte 256");
    BODY_SAYS("pool = T.SMEMPool()\n"
              "x = pool.alloc((64,))\n"
              "pool.commit()\n"
              "y = pool.alloc((64,))\n"
              "pool.move_base_to(0)\n"
              "pool.commit()\n"
              "second = T.SMEMPool()\n"
              "third = T.alloc_tensor((64,), \"float32\", scope=\"shared.dyn\")\n",
              "8:9 T0440 SMEMPool.alloc on a pool that is committed, with 256 bytes",
              "9:5 T0440 SMEMPool.move_base_to", "10:5 T0440 SMEMPool.commit", "11:14 T0270 a second",
              "12:13 T0270 a second");
    BODY_SAYS("pool = T.SMEMPool()\nx = pool.alloc((64,))\n",
              "5:12 T0441 the pool is never committed: what is in it reaches byte 256");
    BODY_SAYS("pool = T.SMEMPool()\npool.commit()\n", "6:5 T0445 a pool of 0 bytes");
    BODY_SAYS("pool = T.SMEMPool()\nx = pool.alloc((n,))\npool.commit(64)\npool.reset()\n",
              "6:9 T0446 a tensor in a pool has constant extents and strides",
              "8:10 T0202 a pool has no attribute 'reset'");
    SAYS("pool = T.SMEMPool()\n@T.function\ndef k():\n    pass\n", "1:8 T0253 a pool belongs");
    help_result late = help_evaluate(*state,
                                     help_indent(*state, HELP_HEAD,
                                                 "pool = T.SMEMPool()\nx = pool.alloc((64,))\npool.commit()\n"
                                                 "y = pool.alloc((64,))\n"),
                                     NULL, NULL);
    help_notes(*state, &late, "7:5 it is committed here");
    help_result twice = help_evaluate(
        *state, help_indent(*state, HELP_HEAD, "pool = T.SMEMPool()\npool.commit(64)\nq = T.SMEMPool()\n"),
        NULL, NULL);
    help_notes(*state, &twice, "5:12 the first is here");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(bump),     UNIT_WITH_ARENA(move_base), UNIT_WITH_ARENA(operands),
        UNIT_WITH_ARENA(pointers), UNIT_WITH_ARENA(reports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
