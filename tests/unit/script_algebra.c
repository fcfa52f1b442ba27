/* SPDX-License-Identifier: Apache-2.0
 * The algebra of layouts in scripts: methods against published values (ids of layout_vectors.def in
 * comments), parts as values, laws over families, and refusals with their numbers. */
#include "unit/script_help.h"

#define IMPORTS                                                                                              \
    "from tvm_tirx.tirx.layout import S, R, TileLayout, ComposeLayout, Iter, laneid, warpid, tx, wgid\n"     \
    "def same(a, b):\n"                                                                                      \
    "    assert str(a) == b, f\"{a} but {b}\"\n"
#define KERNEL                                                                                               \
    "@T.function\n"                                                                                          \
    "def k(A: T.Tensor((4,), \"float32\")):\n"                                                               \
    "    A[0] = 1.0\n"
#define KERNEL_TEXT                                                                                          \
    "function k(A: float32[4]):\n"                                                                           \
    "    A[0] = 1.0\n"

static void holds(void **state, const char *script) {
    help_gives(*state, base_arena_format(*state, "%s%s%s", IMPORTS, script, KERNEL), NULL, KERNEL_TEXT);
}

/* covers: A12 */
static void published(void **state) {
    holds(
        state,
        "row = TileLayout(S[(8, 8) : (8, 1)])\n"
        "same(TileLayout(S[(8, 8, 1, 8, 4, 2) : (512, 64, 160, 8, 2, 1)]).canonicalize(), \"S[4096:1]\")\n"
        "same(TileLayout(S[(2, 8, 2, 4) : (2 @ warpid, 4 @ laneid, 1 @ warpid, 1 @ laneid)]).canonicalize(), "
        "\"S[(2,8,2,4):(64@tx,4@tx,32@tx,1@tx)]\")\n"                          /* G043 */
        "same(row.tile(row, [8, 8], [8, 8]), \"S[(8,8,8,8):(512,8,64,1)]\")\n" /* G048 */
        "same(TileLayout(S[(2, 4) : (1, 2)]).tile(row, (8, 8), (2, 4)), \"S[(8,2,32):(64,1,2)]\")\n" /* G049
                                                                                                      */
        "tiled = TileLayout(S[(8, 2, 32) : (64, 1, 2)])\n"
        "same(TileLayout(S[(2, 4) : (1, 2)]).is_tile_inner(tiled, [16, 32], [2, 4]).canonicalize(), "
        "\"S[64:1]\")\n"                                              /* G050 */
        "assert row.is_tile_inner(tiled, [16, 32], [8, 8]) is None\n" /* G051 */
        "threads = TileLayout(S[(2, 8, 2, 4, 2) : (64 @ tx, 4 @ tx, 32 @ tx, 1 @ tx, 1)])\n"
        "same(TileLayout(S[(8, 1, 4, 2) : (4 @ laneid, 2, 1 @ laneid, 1)]).is_tile_inner(threads, [16, 16], "
        "[8, 8]).canonicalize(), \"S[4:1@warpid]\")\n" /* G054 */
        "same(TileLayout(S[(2, 2) : (2 @ warpid, 1 @ warpid)]).is_tile_outer(threads, [16, 16], [2, "
        "2]).canonicalize(), \"S[(32,2):(1@laneid,1)]\")\n" /* G055 */
        "same(ComposeLayout(3, 3, 3, S[(512,)]).tile(S[(8, 4) : (1, 8)], [8, 4], [8, 64]), "
        "\"Z(3,3,3)*S[(64,4,64):(64,4096,1)]\")\n" /* G056 */
        "pair = TileLayout(S[(2, 2) : (4, 1)])\n"
        "same(pair.direct_sum(S[(2, 2) : (8, 2)], [2, 2], [2, 2]), \"S[16:1]\")\n" /* G062 */
        "same(pair.is_direct_sum_right(S[(16,)], [2, 2, 2, 2], [2, 2]).canonicalize(), "
        "\"S[(2,2):(8,2)]\")\n" /* G063 */
        "same(TileLayout(S[(2, 2) : (8, 2)]).is_direct_sum_left(S[(16,)], [2, 2, 2, 2], [2, "
        "2]).canonicalize(), \"S[(2,2):(4,1)]\")\n" /* G064 */
        "same(TileLayout(S[(30,)]).group_many([[6, 5], [2, 15]]), \"(S[(2,3,5):(15,5,1)], [[0, 2, 3], [0, 1, "
        "3]])\")\n"                                                                            /* G065 */
        "assert TileLayout(S[(16, 4, 4)]).apply_to_shape([5, 7], [16, 16]) == [5, 1, 3]\n"     /* G069 */
        "same(TileLayout(S[(8, 4, 2) : (4 @ laneid, 1 @ laneid, 1)]).storage(), \"S[2:1]\")\n" /* G074 */
        "z = ComposeLayout(3, 3, 3, S[(8, 64)])\n"
        "same(z.unpack(2).canonicalize(), \"Z(4,3,3)*S[1024:1]\")\n" /* G075 */
        "assert z.unpack(2).pack(2).canonicalize() == z.canonicalize()\n"
        "same(TileLayout(S[(128, 2, 64) : (64, 8192, 1)]).slice([128, 128], [(0, 128), (32, 96)]), "
        "\"S[(128,2,32):(64,8160,1)]+32\")\n"                                             /* G079 */
        "assert TileLayout(S[(2, 2, 4) : (100, 10, 1)]).slice([16], [(6, 10)]) is None\n" /* H19 */
        "same(TileLayout(S[(2, 2, 4) : (100, 10, 1)]).slice([16], [(2, 6)]), \"S[(2,2):(8,1)]+2\")\n" /* H20
                                                                                                       */
        "assert TileLayout(S[(2, 32) : (1 @ wgid, 1 @ laneid)]).verify_well_formed() == False\n"
        "assert row.get_scope() is None and threads.get_scope() == (\"thread\", \"cta\")\n");
}

/* The parts of a layout are values, and make it again. */
static void parts(void **state) {
    holds(state,
          "L = TileLayout(S[(8, 4, 2) : (4 @ laneid, 1 @ laneid, 1)] + R[2 : 4 @ warpid] + 5 @ warpid + 3)\n"
          "assert [i.extent for i in L.shard] == [8, 4, 2] and [i.stride for i in L.shard] == [4, 1, 1]\n"
          "assert [i.axis.name for i in L.shard] == [\"laneid\", \"laneid\", \"m\"]\n"
          "assert L.replica[0] == Iter(2, 4, warpid) and str(L.replica[0]) == \"2:4@warpid\"\n"
          "assert L.offset == {\"m\": 3, \"warpid\": 5}\n"
          "assert L.shard[0].axis.is_thread() and not L.shard[2].axis.is_thread()\n"
          "assert L.shard[2].axis.is_memory()\n"
          "assert TileLayout.from_iters(L.shard, L.replica, L.offset) == L\n"
          "assert TileLayout.from_iters(shard=[Iter(4, 2, \"m\")]) == TileLayout(S[4 : 2])\n"
          "Z = ComposeLayout(3, 2, 4, L.storage())\n"
          "assert (Z.per_element, Z.swizzle_len, Z.atom_len, Z.swizzle_inner) == (3, 2, 4, True)\n"
          "assert Z.tile_layout == L.storage() and Z.is_swizzle() and not Z.tile_layout.is_swizzle()\n"
          "assert ComposeLayout(Z.per_element, Z.swizzle_len, Z.atom_len, Z.tile_layout) == Z\n"
          "assert TileLayout(S[(4, 8)]) != TileLayout(S[(8, 4)])\n"
          "assert TileLayout(S[(4, 8)]).canonicalize() == TileLayout(S[(8, 4)]).canonicalize()\n"
          "assert TileLayout(S[(4, 8)]).is_trivial() and not TileLayout(S[(4, 8)] + 1).is_trivial()\n"
          "assert TileLayout(S[(4, 8)] + 1).is_contiguous()\n"
          "assert not TileLayout(S[(4, 8) : (9, 1)]).is_contiguous() and not L.is_contiguous()\n"
          "same(TileLayout(S[(4, 8)]).broadcast(2), \"S[(4,8,2):(8,1,0)]\")\n"
          "same(TileLayout(S[(4, 8)]).broadcast(2, 0), \"S[(2,4,8):(0,8,1)]\")\n"
          "same(S[(4, 8)].tile_to([8, 8], [4, 8]), \"S[64:1]\")\n"
          "same(TileLayout(S[(128, 8) : (1 @ T.TLane, 1 @ T.TCol)]).unpack(2, \"TCol\"), "
          "\"S[(128,8,2):(1@TLane,2@TCol,1@TCol)]\")\n");
}

/* slice then apply is apply at the offset; a permutation moves coordinates; group and pack change no address.
 */
static void laws(void **state) {
    holds(
        state,
        "def law(L, rows, columns):\n"
        "    g, seps = L.group((rows, columns))\n"
        "    p = g.permute_by_groups(seps, [1, 0])\n"
        "    u = L.unpack(2)\n"
        "    part = L.slice((rows, columns), [(rows // 2, rows), (0, columns)])\n"
        "    for r in range(0, rows, 3):\n"
        "        for c in range(0, columns, 5):\n"
        "            m = L.apply(r, c, shape=(rows, columns))[\"m\"]\n"
        "            assert p.apply(c, r, shape=(columns, rows))[\"m\"] == m\n"
        "            assert u.apply(r, c, 1, shape=(rows, columns, 2))[\"m\"] == 2 * m + 1\n"
        "            if r >= rows // 2:\n"
        "                assert part.apply(r - rows // 2, c, shape=(rows - rows // 2, columns))[\"m\"] == m\n"
        "for rows in (8, 16, 24):\n"
        "    for columns in (8, 12, 64):\n"
        "        law(TileLayout(S[(rows, columns)]), rows, columns)\n"
        "        law(TileLayout(S[(rows, columns) : (1, rows)] + 3), rows, columns)\n"
        "        law(TileLayout(S[(rows, columns) : (columns + 4, 1)]), rows, columns)\n"
        "        law(TileLayout(S[(rows, columns // 4, 4) : (4, rows * 4, 1)]), rows, columns)\n"
        "for mode in (\"none\", \"32B\", \"64B\", \"128B\"):\n"
        "    law(T.mma_shared_layout(\"float16\", mode, (24, 128)), 24, 128)\n");
}

static void refusals(void **state) {
    SAYS("a = TileLayout(S[(4, 8)])\n"
         "a.group((5, 7))\n"
         "a.group((4, 0))\n"
         "a.tile(S[2], [2, 1], [32])\n"
         "a.tile_to([8, 9], [4, 8])\n"
         "a.slice([4, 8], [(0, 4), (4, 9)])\n"
         "a.slice([4, 9], [(0, 4), (4, 9)])\n"
         "a.slice([4, 8], [(0, 4)])\n"
         "a.permute_dims([0, 0])\n"
         "a.permute_dims([0])\n"
         "a.permute_by_groups([0, 3], [0])\n"
         "a.pack(3)\n"
         "a.unpack(0)\n"
         "a.unpack(2, \"TCol\")\n"
         "a.broadcast(2, 4)\n"
         "a.per_element\n"
         "a.tile(\"default\", [1], [32])\n"
         "a.is_tile_inner(a, [4, 8], [4])\n"
         "a.apply_to_shape([1, 2], [4])\n"
         "TileLayout(S[(2, 32) : (1 @ T.wgid, 1 @ laneid)]).check_well_formed()\n"
         "TileLayout.from_iters([1])\n"
         "TileLayout.from_iters()\n"
         "T.Iter(0, 1, \"m\")\n"
         "T.Iter(1, 1, \"lane\")\n"
         "a.shards\n"
         "TileLayout(S[(1 << 31, 1 << 31)]).tile(S[(1 << 31,)], [1 << 31, 1], [1 << 31, 1 << 31])\n",
         "2:1 T0214 Layout.group gives no layout", "3:9 T0213 extent 1 of shape is 0: extents are positive",
         "4:1 T0211 outer_shape has 2 entries, inner_shape has 1",
         "5:1 T0214 dimension 1: 9 is no multiple of the tile's 8",
         "6:17 T0274 range 1 of region is (begin, end) inside the extent 8, not (4, 9)",
         "7:9 T0213 the shape has 36 elements, the layout 32 coordinates",
         "8:17 T0211 region is a list of 2 pairs",
         "9:16 T0214 perm holds every number from 0 to 1 once; entry 1 is 0",
         "10:1 T0211 perm has 1 entries, the layout has 2",
         "11:21 T0214 separators rise from 0 to the 2 parts of the layout",
         "12:1 T0214 to pack 3 elements into one, the last iter must be a multiple of 3 with stride 1",
         "13:1 T0214 the factor 0 is not positive", "14:13 T0214 lie side by side on axis m, not on TCol",
         "15:16 T0214 position 4 is outside the 2 parts",
         "16:3 T0202 has no swizzle, and no attribute 'per_element'",
         "17:8 T0205 outer of Layout.tile is a layout, written out",
         "18:1 T0211 tiled_shape has 2 entries and inner_shape 1",
         "19:1 T0211 coord has 2 entries, input_shape has 1",
         "20:1 T0214 axis wgid numbers warpgroups, but the other thread axes end at the warp",
         "21:23 T0205 entry 0 of shard is an Iter, not an int", "22:1 T0214 a layout needs at least one part",
         "23:8 T0214 the extent of an Iter is 0: extents are positive",
         "24:14 T0214 'lane' is no layout axis", "25:3 T0202 a layout has no attribute 'shards'",
         "26:1 T0214 does not fit in 64 bits");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(published),
        UNIT_WITH_ARENA(parts),
        UNIT_WITH_ARENA(laws),
        UNIT_WITH_ARENA(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
