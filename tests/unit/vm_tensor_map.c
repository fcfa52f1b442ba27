/* SPDX-License-Identifier: Apache-2.0
 * Tensor maps: every rule broken alone, the encoding and its damage, tensormap.replace, and swizzles against
 * the tables of PTX ISA 5.5.7. */
#include "unit/unit.h"
#include <string.h>
#include "vm/vm_tensor_map.h"

static vm_tensor_map good_tile(void) {
    return (vm_tensor_map){.type = VM_TENSOR_F16,
                           .rank = 3,
                           .address = 0x7000000000,
                           .dim = {200, 30, 5},
                           .stride = {400, 12000},
                           .box = {64, 16, 2},
                           .step = {1, 1, 1},
                           .swizzle = VM_TENSOR_SWIZZLE_128};
}

static vm_tensor_map good_im2col(void) {
    return (vm_tensor_map){.mode = VM_TENSOR_IM2COL,
                           .type = VM_TENSOR_BF16,
                           .rank = 4,
                           .address = 0x7000000000,
                           .dim = {64, 14, 9, 8},
                           .stride = {128, 1792, 16128},
                           .step = {1, 1, 1, 1},
                           .lower = {-1, -1},
                           .upper = {-1, -1},
                           .channels = 32,
                           .pixels = 64,
                           .swizzle = VM_TENSOR_SWIZZLE_64};
}

/* Exactly this rule is broken, with this text. */
static void breaks(vm_tensor_map map, vm_tensor_rule rule, const char *text) {
    vm_tensor_problem problems[VM_TENSOR_PROBLEMS];
    char found[200];
    assert_int_equal(vm_tensor_map_check(&map, problems), 1);
    vm_tensor_problem_text(&problems[0], found, sizeof found);
    assert_string_equal(found, text);
    assert_int_equal(problems[0].rule, rule);
}
#define BREAK(make, change, rule, text)                                                                      \
    do {                                                                                                     \
        vm_tensor_map m = make();                                                                            \
        change;                                                                                              \
        breaks(m, VM_TENSOR_RULE_##rule, text);                                                              \
    } while (0)

static void rules(void **state) {
    (void)state;
    vm_tensor_problem problems[VM_TENSOR_PROBLEMS];
    vm_tensor_map tile = good_tile(), im2col = good_im2col();
    assert_int_equal(vm_tensor_map_check(&tile, problems), 0);
    assert_int_equal(vm_tensor_map_check(&im2col, problems), 0);
    BREAK(good_tile, m.type = 16, TYPE, "data type 16: there are types 0 to 15");
    BREAK(good_tile, m.rank = 0, RANK, "rank 0: 1 to 5");
    BREAK(good_tile, m.rank = 6, RANK, "rank 6: 1 to 5");
    BREAK(good_tile, (m.rank = 2, m.interleave = 1), RANK_INTERLEAVE,
          "rank 2: an interleaved layout has rank 3, 4 or 5");
    BREAK(good_im2col, m.rank = 2, RANK_IM2COL, "rank 2: an im2col map has rank 3, 4 or 5");
    BREAK(good_tile, m.address += 8, ADDRESS, "global address 0x7000000008 is not a multiple of 16");
    BREAK(good_tile, m.dim[1] = 0, DIM, "globalDim[1] is 0: 1 to 2^32");
    BREAK(good_tile, m.dim[0] = (1ull << 32) + 1, DIM, "globalDim[0] is 4294967297: 1 to 2^32");
    BREAK(good_tile, m.stride[1] = 12008, STRIDE_MULTIPLE,
          "globalStrides[1] is 12008 bytes: a multiple of 16");
    BREAK(good_tile, m.stride[0] = 1ull << 40, STRIDE_LIMIT,
          "globalStrides[0] is 1099511627776 bytes: less than 2^40");
    BREAK(good_tile, m.box[2] = 0, BOX, "boxDim[2] is 0: 1 to 256");
    BREAK(good_tile, m.box[1] = 257, BOX, "boxDim[1] is 257: 1 to 256");
    BREAK(good_tile, m.box[0] = 60, BOX_BYTES, "boxDim[0] is 120 bytes long: a multiple of 16");
    BREAK(good_tile, m.box[0] = 72, SWIZZLE_SPAN,
          "the inner dimension of the box is 144 bytes: at most 128, the span of the swizzle");
    BREAK(good_tile, m.step[1] = 9, STEP, "elementStrides[1] is 9: 1 to 8");
    BREAK(good_tile, m.step[2] = 0, STEP, "elementStrides[2] is 0: 1 to 8");
    BREAK(good_tile, m.interleave = 3, INTERLEAVE, "interleave 3: 0 (none), 1 (16 bytes) or 2 (32 bytes)");
    BREAK(good_tile, (m.interleave = 2, m.stride[0] = 416), INTERLEAVE_SWIZZLE,
          "an interleave of 32 bytes needs the swizzle of 32 bytes, not swizzle 3");
    BREAK(good_tile, (m.swizzle = VM_TENSOR_SWIZZLE_96, m.box[0] = 48), SWIZZLE_96,
          "the swizzle of 96 bytes is only in sm_103a");
    BREAK(good_tile, (m.swizzle = VM_TENSOR_SWIZZLE_64, m.box[0] = 32, m.atom = VM_TENSOR_ATOM_32), ATOM,
          "swizzle atom 1: atoms other than 16 bytes need the swizzle of 128 bytes");
    BREAK(good_tile, m.promotion = 4, PROMOTION, "l2Promotion 4: 0 to 3");
    BREAK(good_tile, m.fill = 2, FILL, "oobFill 2: 0 (zeros) or 1 (NaN)");
    BREAK(good_tile, (m.type = VM_TENSOR_U16, m.fill = 1), FILL_TYPE,
          "NaN can fill only floating-point types, not type 1");
    BREAK(good_im2col, m.lower[1] = -129, CORNER_LOWER,
          "pixelBoxLowerCorner[1] is -129: the range for this rank is -128 to 128 - 1");
    BREAK(good_im2col, m.upper[0] = 128, CORNER_UPPER,
          "pixelBoxUpperCorner[0] is 128: the range for this rank is -128 to 128 - 1");
    BREAK(good_im2col, m.upper[0] = -15, CORNER_EMPTY,
          "the pixel box has no extent along dimension 1: globalDim + upper - lower is 0");
    BREAK(good_im2col, m.pixels = 1025, PIXELS, "pixelsPerColumn is 1025: 1 to 1024");
    BREAK(good_im2col, m.pixels = 0, PIXELS, "pixelsPerColumn is 0: 1 to 1024");
    BREAK(good_im2col, (m.channels = 272, m.swizzle = 0), CHANNELS, "channelsPerPixel is 272: 1 to 256");
    BREAK(good_im2col, (m.channels = 256, m.pixels = 512, m.swizzle = 0), TOTAL,
          "the box has 262144 bytes: at most 233472, the shared memory of an SM");
    BREAK(good_tile, (m.box[0] = 32, m.box[1] = 128, m.box[2] = 64), TOTAL,
          "the box has 524288 bytes: at most 233472, the shared memory of an SM");
    BREAK(good_im2col, m.channels = 12, CHANNELS_BYTES, "channelsPerPixel is 24 bytes: a multiple of 16");
}

/* cuTensorMapEncodeIm2colWide: corners along W only, of 16 bits whatever the rank. */
static vm_tensor_map good_wide(void) {
    vm_tensor_map m = good_im2col();
    m.mode = VM_TENSOR_IM2COL_W;
    m.lower[1] = m.upper[1] = 0;
    return m;
}
static void wide_rules(void **state) {
    (void)state;
    vm_tensor_map map = good_wide();
    vm_tensor_problem problems[VM_TENSOR_PROBLEMS];
    map.lower[0] = -32768;
    map.upper[0] = 32767;
    map.lower[1] = 5000; /* not looked at */
    assert_int_equal(vm_tensor_map_check(&map, problems), 0);
    map.mode = VM_TENSOR_IM2COL_W128;
    map.pixels = 0; /* ignored */
    assert_int_equal(vm_tensor_map_check(&map, problems), 0);
    map.swizzle = VM_TENSOR_SWIZZLE_128;
    map.atom = VM_TENSOR_ATOM_32;
    assert_int_equal(vm_tensor_map_check(&map, problems), 0);
    BREAK(good_wide, m.rank = 2, RANK_IM2COL, "rank 2: an im2col map has rank 3, 4 or 5");
    BREAK(good_wide, m.pixels = 0, PIXELS, "pixelsPerColumn is 0: 1 to 1024");
    BREAK(good_wide, m.pixels = 1025, PIXELS, "pixelsPerColumn is 1025: 1 to 1024");
    BREAK(good_wide, m.lower[0] = -32769, CORNER_LOWER,
          "pixelBoxLowerCorner[0] is -32769: the range for this rank is -32768 to 32768 - 1");
    BREAK(good_wide, m.upper[0] = -15, CORNER_EMPTY,
          "the pixel box has no extent along dimension 1: globalDim + upper - lower is 0");
    BREAK(good_wide, m.interleave = VM_TENSOR_INTERLEAVE_16, WIDE_INTERLEAVE,
          "an im2col::w map takes no interleave, not interleave 1");
    static const struct {
        vm_tensor_swizzle swizzle;
        vm_tensor_atom atom;
        uint32_t channels, number;
    } refused[] = {{VM_TENSOR_SWIZZLE_NONE, VM_TENSOR_ATOM_16, 32, 0},
                   {VM_TENSOR_SWIZZLE_32, VM_TENSOR_ATOM_16, 16, 1},
                   {VM_TENSOR_SWIZZLE_128, VM_TENSOR_ATOM_32_FLIP_8, 32, 5},
                   {VM_TENSOR_SWIZZLE_128, VM_TENSOR_ATOM_64, 32, 6}};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        char text[120];
        snprintf(text, sizeof text,
                 "swizzle %u: an im2col::w map takes 64B, 128B, or 128B with atoms of 32 bytes",
                 refused[i].number);
        BREAK(good_wide,
              (m.swizzle = refused[i].swizzle, m.atom = refused[i].atom, m.channels = refused[i].channels),
              WIDE_SWIZZLE, text);
    }
}

static vm_tensor_map good_packed(void) {
    return (vm_tensor_map){.type = VM_TENSOR_U6_ALIGN16,
                           .rank = 2,
                           .address = 0x7000000000,
                           .dim = {256, 16},
                           .stride = {192},
                           .box = {128, 8},
                           .step = {1, 1},
                           .swizzle = VM_TENSOR_SWIZZLE_128};
}

static void rules_of_packed_types(void **state) {
    (void)state;
    vm_tensor_problem problems[VM_TENSOR_PROBLEMS];
    vm_tensor_map packed = good_packed();
    assert_int_equal(vm_tensor_map_check(&packed, problems), 0);
    BREAK(good_packed, m.address += 16, ADDRESS, "global address 0x7000000010 is not a multiple of 32");
    BREAK(good_packed, m.dim[0] = 192, DIM_MULTIPLE,
          "globalDim[0] is 192: a multiple of 128 for this packed type");
    BREAK(good_packed, m.stride[0] = 208, STRIDE_MULTIPLE, "globalStrides[0] is 208 bytes: a multiple of 32");
    BREAK(good_packed, m.box[0] = 64, BOX_PACKED, "boxDim[0] is 64: exactly 128 for this packed type");
    BREAK(good_packed, m.atom = VM_TENSOR_ATOM_32_FLIP_8, SWIZZLE_PACKED,
          "swizzle 5 with this packed type: none, 128B, or 128B with atoms of 32 or 64 bytes");
    BREAK(good_packed, m.fill = 1, FILL_TYPE, "NaN can fill only floating-point types, not type 15");
    BREAK(good_packed, (m.type = VM_TENSOR_U4_ALIGN8, m.dim[0] = 255), DIM_MULTIPLE,
          "globalDim[0] is 255: a multiple of 2 for this packed type");
    /* several at once are all told */
    packed.address = 0x7000000001;
    packed.stride[0] = 1;
    packed.promotion = 9;
    assert_int_equal(vm_tensor_map_check(&packed, problems), 3);
    /* a cut text ends in a zero */
    char text[8];
    vm_tensor_problem_text(&problems[0], text, sizeof text);
    assert_string_equal(text, "global ");
}

static void same(const vm_tensor_map *a, const vm_tensor_map *b) {
    assert_int_equal(a->mode, b->mode);
    assert_int_equal(a->type, b->type);
    assert_int_equal(a->rank, b->rank);
    assert_true(a->address == b->address);
    for (int i = 0; i < VM_TENSOR_RANK; i++) {
        assert_true(a->dim[i] == b->dim[i]);
        assert_int_equal(a->box[i], b->box[i]);
        assert_int_equal(a->step[i], b->step[i]);
    }
    for (int i = 0; i + 1 < VM_TENSOR_RANK; i++)
        assert_true(a->stride[i] == b->stride[i]);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(a->lower[i], b->lower[i]);
        assert_int_equal(a->upper[i], b->upper[i]);
    }
    assert_int_equal(a->channels, b->channels);
    assert_int_equal(a->pixels, b->pixels);
    assert_int_equal(a->interleave, b->interleave);
    assert_int_equal(a->swizzle, b->swizzle);
    assert_int_equal(a->atom, b->atom);
    assert_int_equal(a->promotion, b->promotion);
    assert_int_equal(a->fill, b->fill);
}

static void encoding(void **state) {
    (void)state;
    uint8_t bytes[VM_TENSOR_MAP_BYTES];
    vm_tensor_map maps[] = {good_tile(), good_im2col(), good_packed()}, back;
    maps[0].dim[2] = 1ull << 32;
    maps[0].stride[3] = (1ull << 40) - 16;
    maps[1].lower[2] = -16;
    maps[2].atom = VM_TENSOR_ATOM_64;
    for (size_t i = 0; i < 3; i++) {
        vm_tensor_map_write(&maps[i], bytes);
        assert_int_equal(vm_tensor_map_read(bytes, &back), VM_TENSOR_READ_OK);
        same(&maps[i], &back);
        for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) { /* every flipped bit is seen */
            bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
            assert_int_equal(vm_tensor_map_read(bytes, &back),
                             bit < 64 ? VM_TENSOR_READ_FOREIGN : VM_TENSOR_READ_DAMAGED);
            bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
    }
    memset(bytes, 0, sizeof bytes);
    assert_int_equal(vm_tensor_map_read(bytes, &back), VM_TENSOR_READ_FOREIGN);
    /* what does not fit stays wrong */
    vm_tensor_problem problems[VM_TENSOR_PROBLEMS];
    maps[0].box[0] = 1u << 20;
    vm_tensor_map_write(&maps[0], bytes);
    assert_int_equal(vm_tensor_map_read(bytes, &back), VM_TENSOR_READ_OK);
    assert_true(vm_tensor_map_check(&back, problems) > 0);
}

static void replacing(void **state) {
    (void)state;
    vm_tensor_map m = good_tile();
    assert_true(vm_tensor_map_replace(&m, VM_TENSOR_FIELD_GLOBAL_ADDRESS, 0, 0x7100000000));
    assert_true(m.address == 0x7100000000);
    assert_true(vm_tensor_map_replace(&m, VM_TENSOR_FIELD_RANK, 0, 1));
    assert_int_equal(m.rank, 2);
    assert_true(vm_tensor_map_replace(&m, VM_TENSOR_FIELD_BOX_DIM, 1, 7));
    assert_int_equal(m.box[1], 7);
    assert_true(vm_tensor_map_replace(&m, VM_TENSOR_FIELD_GLOBAL_DIM, 4, 99));
    assert_int_equal(m.dim[4], 99);
    assert_true(vm_tensor_map_replace(&m, VM_TENSOR_FIELD_GLOBAL_STRIDE, 0, 1024));
    assert_int_equal(m.stride[0], 1024);
    assert_true(vm_tensor_map_replace(&m, VM_TENSOR_FIELD_ELEMENT_STRIDE, 1, 2));
    assert_int_equal(m.step[1], 2);
    assert_true(vm_tensor_map_replace(&m, VM_TENSOR_FIELD_ELEMTYPE, 0, 8)); /* .f32.ftz: 10 in the API */
    assert_int_equal(m.type, VM_TENSOR_F32_FTZ);
    assert_true(vm_tensor_map_replace(&m, VM_TENSOR_FIELD_ELEMTYPE, 0, 10)); /* .bf16: 9 in the API */
    assert_int_equal(m.type, VM_TENSOR_BF16);
    assert_true(vm_tensor_map_replace(&m, VM_TENSOR_FIELD_SWIZZLE_MODE, 0, 2));
    assert_int_equal(m.swizzle, VM_TENSOR_SWIZZLE_64);
    assert_true(vm_tensor_map_replace(&m, VM_TENSOR_FIELD_SWIZZLE_ATOMICITY, 0, 3));
    assert_int_equal(m.atom, VM_TENSOR_ATOM_64);
    assert_true(vm_tensor_map_replace(&m, VM_TENSOR_FIELD_INTERLEAVE_LAYOUT, 0, 2));
    assert_int_equal(m.interleave, VM_TENSOR_INTERLEAVE_32);
    assert_true(vm_tensor_map_replace(&m, VM_TENSOR_FIELD_FILL_MODE, 0, 1));
    assert_int_equal(m.fill, VM_TENSOR_FILL_NAN);
    assert_false(vm_tensor_map_replace(&m, VM_TENSOR_FIELD_RANK, 0, 5));
    assert_false(vm_tensor_map_replace(&m, VM_TENSOR_FIELD_BOX_DIM, 5, 1));
    assert_false(vm_tensor_map_replace(&m, VM_TENSOR_FIELD_GLOBAL_STRIDE, 4, 16));
    assert_false(vm_tensor_map_replace(&m, VM_TENSOR_FIELD_ELEMTYPE, 0, 16));
    assert_false(vm_tensor_map_replace(&m, VM_TENSOR_FIELD_SWIZZLE_MODE, 0, 5));
    assert_false(vm_tensor_map_replace(&m, VM_TENSOR_FIELD_FILL_MODE, 0, 2));
}

/* The rows of the tables: which 16-byte chunk of a line stands at each place. They repeat. */
typedef struct swizzle_table {
    vm_tensor_swizzle swizzle;
    vm_tensor_atom atom;
    unsigned lines;
    uint8_t chunk[8][8];
} swizzle_table;
static const swizzle_table tables[] = {
    {VM_TENSOR_SWIZZLE_NONE, VM_TENSOR_ATOM_16, 1, {{0, 1, 2, 3, 4, 5, 6, 7}}},
    {VM_TENSOR_SWIZZLE_32, VM_TENSOR_ATOM_16, 2, {{0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6}}},
    {VM_TENSOR_SWIZZLE_64,
     VM_TENSOR_ATOM_16,
     4,
     {{0, 1, 2, 3, 4, 5, 6, 7},
      {1, 0, 3, 2, 5, 4, 7, 6},
      {2, 3, 0, 1, 6, 7, 4, 5},
      {3, 2, 1, 0, 7, 6, 5, 4}}},
    {VM_TENSOR_SWIZZLE_128,
     VM_TENSOR_ATOM_16,
     8,
     {{0, 1, 2, 3, 4, 5, 6, 7},
      {1, 0, 3, 2, 5, 4, 7, 6},
      {2, 3, 0, 1, 6, 7, 4, 5},
      {3, 2, 1, 0, 7, 6, 5, 4},
      {4, 5, 6, 7, 0, 1, 2, 3},
      {5, 4, 7, 6, 1, 0, 3, 2},
      {6, 7, 4, 5, 2, 3, 0, 1},
      {7, 6, 5, 4, 3, 2, 1, 0}}},
    {VM_TENSOR_SWIZZLE_128,
     VM_TENSOR_ATOM_32,
     4,
     {{0, 1, 2, 3, 4, 5, 6, 7},
      {2, 3, 0, 1, 6, 7, 4, 5},
      {4, 5, 6, 7, 0, 1, 2, 3},
      {6, 7, 4, 5, 2, 3, 0, 1}}},
    {VM_TENSOR_SWIZZLE_128, VM_TENSOR_ATOM_64, 2, {{0, 1, 2, 3, 4, 5, 6, 7}, {4, 5, 6, 7, 0, 1, 2, 3}}}};

static void swizzles(void **state) {
    (void)state;
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
        for (uint32_t address = 0; address < 8192; address++) {
            uint32_t to = vm_tensor_swizzle_address(tables[t].swizzle, tables[t].atom, address);
            assert_int_equal(to >> 7, address >> 7);
            assert_int_equal(to & 15, address & 15);
            assert_int_equal(tables[t].chunk[(to >> 7) % tables[t].lines][to >> 4 & 7], address >> 4 & 7);
        }
    for (uint32_t address = 0; address < 8192; address++) /* 32-byte atoms, halves flipped in odd lines */
        assert_int_equal(vm_tensor_swizzle_address(VM_TENSOR_SWIZZLE_128, VM_TENSOR_ATOM_32_FLIP_8, address),
                         vm_tensor_swizzle_address(VM_TENSOR_SWIZZLE_128, VM_TENSOR_ATOM_32, address) ^
                             ((address >> 7) % 2 ? 8u : 0u));
    for (uint32_t number = 0; number < 9; number++) {
        vm_tensor_swizzle swizzle;
        vm_tensor_atom atom;
        assert_int_equal(vm_tensor_swizzle_of(number, &swizzle, &atom), number <= 6);
        if (number <= 6)
            assert_int_equal(vm_tensor_swizzle_number(swizzle, atom), number);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules),    cmocka_unit_test(wide_rules), cmocka_unit_test(rules_of_packed_types),
        cmocka_unit_test(encoding), cmocka_unit_test(replacing),  cmocka_unit_test(swizzles)};
    return cmocka_run_group_tests_name("vm_tensor_map", tests, NULL, NULL);
}
