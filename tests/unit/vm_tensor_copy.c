/* SPDX-License-Identifier: Apache-2.0
 * Tensor copies: against what an H200 did (tests/recorded/tensor_copy_h200.h: hashes of shared or global
 * memory after 3,000 random copies), and, for what only sm_100 has, against a slow model that goes element by
 * element. */
#include "unit/unit.h"
#include <string.h>
#include "recorded/tensor_copy_h200.h"
#include "vm/vm_tensor_copy.h"

enum { MEMORY = 1 << 18, SHARED = 1 << 18 };
static uint8_t memory[MEMORY], shared[SHARED], model_memory[MEMORY], model_shared[SHARED];

static uint64_t random_state;
static uint32_t next_random(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33);
}
static uint32_t below(uint32_t n) {
    return next_random() % n;
}

/* Bytes of memory of a recorded copy. */
static void recorded_bytes(uint32_t seed, uint8_t *to, size_t size) {
    uint64_t s = seed * 0x9e3779b97f4a7c15ull + 12345;
    for (size_t i = 0; i < size; i += 8) {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        uint64_t value = s * 0x2545f4914f6cdd1dull;
        for (size_t k = 0; k < 8 && i + k < size; k++)
            to[i + k] = (uint8_t)(value >> 8 * k);
    }
}

static uint32_t hash_of(const uint8_t *bytes, size_t size) {
    uint64_t hash = 1469598103934665603ull;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 1099511628211ull;
    return (uint32_t)hash;
}

/* ---- the copy under test ---- */
typedef struct copy {
    vm_tensor_map map;
    vm_tensor_request request;
    uint32_t seed, address;
} copy;

static bool visit(void *user, const vm_tensor_row *row) {
    const copy *c = user;
    uint8_t bytes[VM_TENSOR_ROW_BYTES];
    if (row->inside && (row->global >= MEMORY || row->global + row->inside > MEMORY))
        fail_msg("a row leaves the memory: 0x%llx", (unsigned long long)row->global);
    if (c->request.direction == VM_TENSOR_LOAD)
        vm_tensor_row_load(&c->map, shared, c->address, row, row->inside ? memory + row->global : NULL);
    else if (row->inside) {
        vm_tensor_row_store(&c->map, shared, c->address, row, bytes);
        memcpy(memory + row->global, bytes, row->inside);
    }
    return true;
}

static void run(copy *c) {
    c->request.map = &c->map;
    assert_true(vm_tensor_request_walk(&c->request, visit, c));
}

/* ---- recorded ---- */
static const uint8_t type_bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};

static void recorded_tile(copy *c, uint32_t inner) {
    vm_tensor_map *m = &c->map;
    m->box[0] = inner;
    for (uint32_t i = 1; i < m->rank; i++) {
        m->box[i] = 1 + below(i == 1 ? 12 : 4);
        if (below(3) == 0)
            m->step[i] = 1 + below(3);
    }
    if (below(3) == 0)
        m->step[0] = 1 + below(m->interleave ? 3 : 8);
}

static void recorded_corners(copy *c, uint32_t first) {
    vm_tensor_map *m = &c->map;
    for (uint32_t i = 0; i + 2 < m->rank; i++) {
        m->lower[i] = (int32_t)below(5) - 2;
        m->upper[i] = (int32_t)below(5) - 2;
        int64_t high = (int64_t)m->dim[first + i] - 1 + m->upper[i];
        if (high < m->lower[i]) {
            if (below(10))
                m->upper[i] = m->lower[i] = 0;
            high = (int64_t)m->dim[first + i] - 1 + m->upper[i];
        }
        if (high >= m->lower[i])
            c->request.coordinate[first + i] =
                m->lower[i] + (int32_t)below((uint32_t)(high - m->lower[i] + 1));
        c->request.offset[i] = below(4);
    }
}

/* A store starts inside the tensor and its rows do not overlap. */
static void recorded_store(copy *c, uint32_t first, uint32_t unit, uint32_t size) {
    vm_tensor_map *m = &c->map;
    below(8);
    c->request.direction = VM_TENSOR_STORE;
    for (int i = 0; i < 5; i++)
        if (c->request.coordinate[i] < 0)
            c->request.coordinate[i] = 0;
    if (m->mode == VM_TENSOR_IM2COL) {
        c->request.form = VM_TENSOR_IM2COL_NO_OFFSETS;
        for (int i = 0; i < 3; i++) {
            m->lower[i] = m->lower[i] < 0 ? 0 : m->lower[i];
            m->upper[i] = m->upper[i] > 0 ? 0 : m->upper[i];
        }
        for (uint32_t i = 0; i + 2 < m->rank; i++) {
            int64_t high = (int64_t)m->dim[first + i] - 1 + m->upper[i];
            if (high < m->lower[i]) {
                m->lower[i] = m->upper[i] = 0;
                high = (int64_t)m->dim[first + i] - 1;
            }
            c->request.coordinate[first + i] =
                m->lower[i] + (int32_t)below((uint32_t)(high - m->lower[i] + 1));
        }
    }
    uint64_t stride = m->interleave ? m->dim[0] * unit : (m->dim[0] * size + unit - 1) / unit * unit;
    for (uint32_t i = 1; i < m->rank; i++) {
        m->stride[i - 1] = stride;
        stride *= m->dim[i];
    }
}

/* Draws what the recording drew, in its order: the numbers must not change. False: it was not recorded. */
static bool recorded_draw(copy *c, bool store) {
    memset(c, 0, sizeof *c);
    vm_tensor_map *m = &c->map;
    for (int i = 0; i < 5; i++)
        m->box[i] = m->step[i] = 1;
    c->seed = next_random();
    bool im2col = below(3) == 0, fits = true;
    m->mode = im2col ? VM_TENSOR_IM2COL : VM_TENSOR_TILED;
    m->type = (vm_tensor_type)below(13);
    m->rank = im2col ? 3 + below(3) : 1 + below(5);
    m->interleave = (vm_tensor_interleave)(m->rank >= 3 && below(3) == 0 ? 1 + below(2) : 0);
    m->swizzle =
        m->interleave == VM_TENSOR_INTERLEAVE_32 ? VM_TENSOR_SWIZZLE_32 : (vm_tensor_swizzle)below(4);
    m->promotion = below(4);
    if (m->type >= VM_TENSOR_F16)
        m->fill = (vm_tensor_fill)below(2);
    uint32_t size = type_bytes[m->type], unit = m->interleave == VM_TENSOR_INTERLEAVE_32 ? 32 : 16;
    uint32_t chunk = 16 / size, span = vm_tensor_swizzle_span(m->swizzle);
    m->address = unit * below(8);
    uint32_t inner = chunk * (1 + below(m->interleave ? 3 : (span ? span : 256) / 16));
    if (inner > 256)
        inner = chunk;
    if (!im2col)
        recorded_tile(c, inner);
    else {
        m->channels = inner;
        m->pixels = 1 + below(60);
        for (uint32_t i = 0; i + 1 < m->rank; i++)
            if (below(3) == 0)
                m->step[i] = 1 + below(3);
    }
    m->dim[0] = m->interleave ? 1 + below(20) : 1 + below(inner * 2 + 8);
    uint64_t stride = m->interleave ? m->dim[0] * unit : m->dim[0] * size;
    stride = (stride + unit - 1) / unit * unit + unit * below(3);
    for (uint32_t i = 1; i < m->rank; i++) {
        m->dim[i] = 1 + below(i == 1 ? 10 : 5);
        m->stride[i - 1] = stride;
        if (below(20) == 0)
            m->stride[i - 1] = unit * below(9);
        stride = stride * m->dim[i] + unit * below(3);
    }
    if (stride + m->address > MEMORY / 2)
        fits = false;
    for (uint32_t i = 0; i < m->rank; i++) {
        int32_t at = (int32_t)below((uint32_t)m->dim[i] + 3);
        at -= below(2) ? 2 : 0;
        c->request.coordinate[i] = below(2) ? 0 : at;
    }
    if (!m->interleave)
        c->request.coordinate[0] = c->request.coordinate[0] / (int32_t)chunk * (int32_t)chunk;
    c->request.form = im2col ? VM_TENSOR_IM2COL_LOAD : VM_TENSOR_TILE;
    c->request.rank = m->rank;
    uint32_t first = m->interleave == VM_TENSOR_INTERLEAVE_NONE;
    if (im2col)
        recorded_corners(c, first);
    if (store)
        recorded_store(c, first, unit, size);
    c->address = 128 * below(9);
    c->request.map = m;
    vm_tensor_problem problems[VM_TENSOR_PROBLEMS];
    vm_tensor_fault faults[VM_TENSOR_FAULTS_MAX];
    return vm_tensor_map_check(m, problems) == 0 && vm_tensor_request_check(&c->request, faults) == 0 &&
           c->address + vm_tensor_request_extent(&c->request) + 256 <= 150000 && fits;
}

static void recorded(bool store, uint64_t seed, const uint32_t *hashes, const uint32_t *bytes, size_t count) {
    random_state = seed * 7919 + 1;
    for (size_t i = 0; i < count;) {
        copy c;
        if (!recorded_draw(&c, store))
            continue;
        c.request.map = &c.map;
        uint32_t extent = vm_tensor_request_extent(&c.request) + 256;
        memset(shared, 0xa5, sizeof shared);
        recorded_bytes(c.seed, memory, sizeof memory);
        if (store)
            recorded_bytes(c.seed + 77, shared + c.address, extent);
        run(&c);
        uint32_t hash = store ? hash_of(memory, sizeof memory) : hash_of(shared + c.address, extent);
        if (hash != hashes[i])
            fail_msg("recorded copy %zu: the H200 left other bytes", i);
        if (bytes)
            assert_int_equal(vm_tensor_request_bytes(&c.request), bytes[i]);
        i++;
    }
}

static void recorded_loads(void **state) {
    (void)state;
    recorded(false, 1, recorded_load_hash, recorded_load_bytes,
             sizeof recorded_load_hash / sizeof recorded_load_hash[0]);
}

static void recorded_stores(void **state) {
    (void)state;
    recorded(true, 2, recorded_store_hash, NULL, sizeof recorded_store_hash / sizeof recorded_store_hash[0]);
}

/* ---- a slow model: one element at a time, one byte at a time ---- */
static uint32_t model_place(const vm_tensor_map *m, uint32_t address) {
    uint32_t chunk = address >> 4, line = address >> 7, half = address >> 3 & 1;
    if (m->swizzle == VM_TENSOR_SWIZZLE_128) {
        static const uint32_t lines[] = {8, 4, 4, 2}, scale[] = {1, 2, 2, 4};
        chunk ^= line % lines[m->atom] * scale[m->atom];
        half ^= m->atom == VM_TENSOR_ATOM_32_FLIP_8 ? line % 2 : 0;
    } else if (m->swizzle == VM_TENSOR_SWIZZLE_64)
        chunk ^= line % 4;
    else if (m->swizzle == VM_TENSOR_SWIZZLE_32)
        chunk ^= line % 2;
    return chunk << 4 | half << 3 | (address & 7);
}

/* Tiles without interleave, and four rows. */
static void model_copy(const copy *c) {
    const vm_tensor_map *m = &c->map;
    const vm_tensor_request *r = &c->request;
    bool four = r->form == VM_TENSOR_GATHER4 || r->form == VM_TENSOR_SCATTER4;
    uint32_t size = vm_tensor_type_bits(m->type) / 8, span = vm_tensor_swizzle_span(m->swizzle);
    uint32_t pitch = span ? span : m->box[0] * size, row = 0, count[5] = {1, 1, 1, 1, 1};
    for (uint32_t i = 1; i < m->rank; i++)
        count[i] = (m->box[i] + m->step[i] - 1) / m->step[i];
    if (four)
        count[1] = 4;
    for (uint32_t e = 0; e < count[4]; e++)
        for (uint32_t d = 0; d < count[3]; d++)
            for (uint32_t k = 0; k < count[2]; k++)
                for (uint32_t j = 0; j < count[1]; j++, row++)
                    for (uint32_t i = 0; i < m->box[0]; i++) {
                        uint32_t at[5] = {i, j, k, d, e};
                        int64_t x[5];
                        bool inside = true;
                        uint64_t from = m->address;
                        for (uint32_t n = 0; n < m->rank; n++) {
                            x[n] = four && n == 1 ? r->coordinate[1 + j]
                                                  : r->coordinate[n] + (int64_t)at[n] * (n ? m->step[n] : 1);
                            inside &= x[n] >= 0 && x[n] < (int64_t)m->dim[n];
                            from += (uint64_t)x[n] * (n ? m->stride[n - 1] : size);
                        }
                        for (uint32_t b = 0; b < size; b++) {
                            uint32_t to = model_place(m, c->address + row * pitch + i * size + b);
                            if (r->direction == VM_TENSOR_LOAD)
                                model_shared[to] = inside                           ? model_memory[from + b]
                                                   : m->fill == VM_TENSOR_FILL_ZERO ? 0
                                                   : b % 2                          ? 0x7f
                                                                                    : 0xf7;
                            else if (inside)
                                model_memory[from + b] = model_shared[to];
                        }
                    }
}

static void compare(copy *c, unsigned number) {
    vm_tensor_problem problems[VM_TENSOR_PROBLEMS];
    vm_tensor_fault faults[VM_TENSOR_FAULTS_MAX];
    char text[200] = "";
    c->request.map = &c->map;
    if (vm_tensor_map_check(&c->map, problems)) {
        vm_tensor_problem_text(&problems[0], text, sizeof text);
        fail_msg("copy %u: %s", number, text);
    }
    if (vm_tensor_request_check(&c->request, faults)) {
        vm_tensor_fault_text(&faults[0], text, sizeof text);
        fail_msg("copy %u: %s", number, text);
    }
    for (size_t i = 0; i < MEMORY; i++)
        memory[i] = model_memory[i] = (uint8_t)next_random();
    for (size_t i = 0; i < SHARED; i++)
        shared[i] = model_shared[i] = (uint8_t)(i * 7 + (i >> 9));
    run(c);
    model_copy(c);
    if (memcmp(memory, model_memory, MEMORY) != 0)
        fail_msg("copy %u: global memory differs from the model", number);
    if (memcmp(shared, model_shared, SHARED) != 0)
        fail_msg("copy %u: shared memory differs from the model", number);
}

static void atoms_against_the_model(void **state) {
    (void)state;
    random_state = 11;
    for (unsigned number = 0; number < 60; number++) {
        copy c = {.address = 128 * below(20)};
        vm_tensor_map *m = &c.map;
        m->type = (vm_tensor_type)(below(2) ? below(10) : 6 + below(4));
        uint32_t size = type_bytes[m->type], chunk = 16 / size;
        m->rank = 1 + below(3);
        m->swizzle = VM_TENSOR_SWIZZLE_128;
        m->atom = (vm_tensor_atom)below(4);
        m->fill = (vm_tensor_fill)(m->type >= VM_TENSOR_F16 && below(2));
        m->box[0] = chunk * (1 + below(8));
        bool store = below(2) && m->atom != VM_TENSOR_ATOM_32_FLIP_8;
        /* stores end at whole chunks: keep to them */
        m->dim[0] = store ? chunk * (1 + below(16)) : 1 + below(16 * chunk);
        uint64_t stride = (m->dim[0] * size + 15) / 16 * 16;
        for (uint32_t i = 0; i < 5; i++)
            m->step[i] = 1;
        for (uint32_t i = 1; i < m->rank; i++) {
            m->dim[i] = 1 + below(12);
            m->box[i] = 1 + below(10);
            m->step[i] = 1 + below(2);
            m->stride[i - 1] = stride;
            stride *= m->dim[i];
        }
        c.request =
            (vm_tensor_request){.rank = m->rank, .direction = store ? VM_TENSOR_STORE : VM_TENSOR_LOAD};
        for (uint32_t i = 0; i < m->rank; i++)
            c.request.coordinate[i] = (int32_t)below(6) - (store ? 0 : 2);
        c.request.coordinate[0] *= (int32_t)chunk;
        compare(&c, number);
    }
}

static void rows_against_the_model(void **state) {
    (void)state;
    random_state = 12;
    for (unsigned number = 0; number < 40; number++) {
        copy c = {.address = 128 * below(20)};
        vm_tensor_map *m = &c.map;
        bool store = below(2);
        *m = (vm_tensor_map){.type = VM_TENSOR_BF16,
                             .rank = 2,
                             .address = 64,
                             .dim = {8 * (1 + below(30)), 20},
                             .box = {8 * (1 + below(8)), 1},
                             .step = {1, 1},
                             .swizzle = VM_TENSOR_SWIZZLE_128,
                             .atom = (vm_tensor_atom)(below(2) ? 0 : 3),
                             .fill = (vm_tensor_fill)below(2)};
        m->stride[0] = m->dim[0] * 2;
        c.request = (vm_tensor_request){.form = store ? VM_TENSOR_SCATTER4 : VM_TENSOR_GATHER4,
                                        .direction = store ? VM_TENSOR_STORE : VM_TENSOR_LOAD,
                                        .rank = 2};
        c.request.coordinate[0] = (int32_t)(8 * below(20)) - (store ? 0 : 16);
        for (int i = 1; i <= 4; i++) /* different rows: the order of stores to one row is not defined */
            c.request.coordinate[i] = (int32_t)(below(5) * 5 + (uint32_t)i) - (store ? 0 : 3);
        compare(&c, number);
        assert_int_equal(vm_tensor_request_bytes(&c.request), 8 * m->box[0]);
    }
}

/* Packed types: element n of a row, n counted over the box. */
static void packed(void **state) {
    (void)state;
    for (unsigned type = VM_TENSOR_U4_ALIGN8; type <= VM_TENSOR_U6_ALIGN16; type++)
        for (unsigned atom = 0; atom < 4; atom++) {
            uint32_t bits = type == VM_TENSOR_U6_ALIGN16 ? 6 : 4, place = type == VM_TENSOR_U4_ALIGN8 ? 4 : 8;
            if (atom == 2 || (atom == 3 && type != VM_TENSOR_U4_ALIGN8))
                continue;
            copy c = {.address = 1024,
                      .map = {.type = (vm_tensor_type)type,
                              .rank = 2,
                              .dim = {256, 9},
                              .stride = {256 * bits / 8},
                              .box = {128, 8},
                              .step = {1, 1},
                              .swizzle = VM_TENSOR_SWIZZLE_128,
                              .atom = (vm_tensor_atom)atom},
                      .request = {.rank = 2, .coordinate = {128, 2}}};
            for (size_t i = 0; i < MEMORY; i++)
                memory[i] = (uint8_t)next_random();
            memset(shared, 0xee, sizeof shared);
            vm_tensor_fault faults[VM_TENSOR_FAULTS_MAX];
            c.request.map = &c.map;
            assert_int_equal(vm_tensor_request_check(&c.request, faults), 0);
            assert_int_equal(vm_tensor_request_bytes(&c.request), 8 * 128 * bits / 8);
            assert_int_equal(vm_tensor_request_extent(&c.request), 1024);
            run(&c);
            for (uint32_t j = 0; j < 8; j++)
                for (uint32_t i = 0; i < 128; i++) {
                    uint32_t from = ((j + 2) * 256 + 128 + i) * bits, want = 0;
                    for (uint32_t b = 0; b < bits && j + 2 < 9; b++)
                        want |= (uint32_t)(memory[(from + b) / 8] >> (from + b) % 8 & 1) << b;
                    /* within 16 bytes of shared memory the 16 values stand packed, then the padding */
                    uint32_t bit = i % 16 * bits + (place == 8 ? i / 16 * 128 : i / 16 * 64), got = 0;
                    for (uint32_t b = 0; b < bits; b++) {
                        uint32_t at = 1024 + j * 128 + (bit + b) / 8;
                        got |= (uint32_t)(shared[model_place(&c.map, at)] >> (bit + b) % 8 & 1) << b;
                    }
                    assert_int_equal(got, want);
                }
            uint32_t padding = place == 4 ? 16 : bits * 2; /* bytes in use of 16 */
            for (uint32_t at = 1024; at < 2048 && place == 8; at++)
                if (at % 16 >= padding)
                    assert_int_equal(shared[model_place(&c.map, at)], 0xee);
        }
}

/* Stores of 6-bit values: one byte each in shared memory, packed in global memory. */
static void packed_store(void **state) {
    (void)state;
    random_state = 13;
    copy c = {.address = 2048,
              .map = {.type = VM_TENSOR_U6_ALIGN16,
                      .rank = 2,
                      .dim = {128, 8},
                      .stride = {96},
                      .box = {128, 4},
                      .step = {1, 1},
                      .swizzle = VM_TENSOR_SWIZZLE_128},
              .request = {.rank = 2, .direction = VM_TENSOR_STORE, .coordinate = {0, 1}}};
    for (size_t i = 0; i < SHARED; i++)
        shared[i] = (uint8_t)next_random();
    memset(memory, 0, sizeof memory);
    run(&c);
    for (uint32_t j = 0; j < 4; j++)
        for (uint32_t i = 0; i < 128; i++) {
            uint32_t bit = ((j + 1) * 128 + i) * 6, got = 0;
            for (uint32_t b = 0; b < 6; b++)
                got |= (uint32_t)(memory[(bit + b) / 8] >> (bit + b) % 8 & 1) << b;
            assert_int_equal(got, shared[model_place(&c.map, 2048 + j * 128 + i)] & 63);
        }
}

/* ---- im2col::w ---- */
typedef struct pixel {
    int64_t x, n; /* W and image */
} pixel;

/* The pixels of a copy in the order of shared memory, by PTX ISA 5.5.5 word for word: wOffset moves both
 * corners of the box and W; the box has one row; what is right of it goes on in the next image. */
static uint32_t model_pixels(const copy *c, pixel pixels[2048]) {
    const vm_tensor_map *m = &c->map;
    const vm_tensor_request *r = &c->request;
    int64_t lower = m->lower[0] + (int64_t)r->offset[1];
    int64_t upper = (int64_t)m->dim[1] - 1 + m->upper[0] + r->offset[1];
    uint32_t wanted = r->form == VM_TENSOR_WIDE_128 ? 128 : m->pixels, count = 0;
    for (int64_t n = r->coordinate[m->rank - 1]; count < wanted; n++) {
        bool first = n == r->coordinate[m->rank - 1];
        for (int64_t x = first ? r->coordinate[1] + (int64_t)r->offset[1] : lower; x <= upper;
             x += m->step[1])
            if (count < wanted)
                pixels[count++] = (pixel){x, n};
    }
    for (uint32_t i = 0; i < r->offset[0]; i++, count++)
        pixels[count] = (pixel){pixels[count - 1].x + 1, pixels[count - 1].n};
    return count;
}

static void model_wide(const copy *c) {
    const vm_tensor_map *m = &c->map;
    const vm_tensor_request *r = &c->request;
    pixel pixels[2048];
    uint32_t count = model_pixels(c, pixels), size = vm_tensor_type_bits(m->type) / 8, last = m->rank - 1;
    for (uint32_t p = 0; p < count; p++)
        for (uint32_t i = 0; i < m->channels; i++) {
            int64_t x[5] = {r->coordinate[0] + (int64_t)i, pixels[p].x, r->coordinate[2], r->coordinate[3]};
            x[last] = pixels[p].n;
            bool inside = true;
            uint64_t from = m->address;
            for (uint32_t n = 0; n < m->rank; n++) {
                inside &= x[n] >= 0 && x[n] < (int64_t)m->dim[n];
                from += (uint64_t)x[n] * (n ? m->stride[n - 1] : size);
            }
            for (uint32_t b = 0; b < size; b++) {
                uint32_t to =
                    model_place(m, c->address + p * vm_tensor_swizzle_span(m->swizzle) + i * size + b);
                model_shared[to] = inside                           ? model_memory[from + b]
                                   : m->fill == VM_TENSOR_FILL_ZERO ? 0
                                   : b % 2                          ? 0x7f
                                                                    : 0xf7;
            }
        }
}

static void wide_against_the_model(void **state) {
    (void)state;
    random_state = 5;
    unsigned halos = 0, open = 0;
    for (unsigned number = 0; number < 400; number++) {
        copy c = {.address = 128 * below(20)};
        vm_tensor_map *m = &c.map;
        bool all = below(3) == 0;
        m->mode = all ? VM_TENSOR_IM2COL_W128 : VM_TENSOR_IM2COL_W;
        m->type = (vm_tensor_type)below(10);
        m->rank = 3 + below(3);
        m->swizzle = below(2) ? VM_TENSOR_SWIZZLE_128 : VM_TENSOR_SWIZZLE_64;
        m->atom = (vm_tensor_atom)(m->swizzle == VM_TENSOR_SWIZZLE_128 && below(3) == 0);
        m->fill = (vm_tensor_fill)(m->type >= VM_TENSOR_F16 && below(2));
        uint32_t size = type_bytes[m->type], chunk = 16 / size;
        m->channels = chunk * (1 + below(vm_tensor_swizzle_span(m->swizzle) / 16));
        m->pixels = 1 + below(200);
        m->dim[0] = 1 + below(2 * m->channels);
        uint64_t stride = (m->dim[0] * size + 15) / 16 * 16;
        for (uint32_t i = 0; i < 5; i++)
            m->step[i] = below(4) == 0 ? 1 + below(3) : 1;
        for (uint32_t i = 1; i < m->rank; i++) {
            m->dim[i] = 1 + below(i == 1 ? 24 : 4);
            m->stride[i - 1] = stride;
            stride *= m->dim[i];
        }
        m->lower[0] = (int32_t)below(5) - 2;
        m->upper[0] = (int32_t)below(5) - 2;
        c.request.form = all ? VM_TENSOR_WIDE_128 : VM_TENSOR_WIDE;
        c.request.rank = m->rank;
        c.request.offset[0] = below(3) == 0 ? below(6) : 0;
        c.request.offset[1] = below(2) ? below(32) : 0;
        c.request.coordinate[0] = (int32_t)(below(3) * chunk) - (int32_t)chunk;
        c.request.coordinate[1] = m->lower[0] - 2 + (int32_t)below((uint32_t)m->dim[1]);
        for (uint32_t i = 2; i < m->rank; i++)
            c.request.coordinate[i] = (int32_t)below(5) - 1;
        vm_tensor_problem problems[VM_TENSOR_PROBLEMS];
        vm_tensor_fault faults[VM_TENSOR_FAULTS_MAX];
        c.request.map = m;
        if (vm_tensor_map_check(m, problems) || vm_tensor_request_check(&c.request, faults) ||
            stride + m->address > MEMORY)
            continue;
        pixel pixels[2048];
        uint32_t count = model_pixels(&c, pixels);
        bool ends = c.request.offset[0] != 0 &&
                    (all || m->step[1] != 1 ||
                     pixels[count - 1].x > (int64_t)m->dim[1] - 1 + m->upper[0] + c.request.offset[1]);
        assert_int_equal(vm_tensor_request_open(&c.request) != NULL, ends);
        halos += c.request.offset[0] != 0 && !ends;
        open += ends;
        if (ends)
            continue;
        assert_int_equal(vm_tensor_request_bytes(&c.request), count * m->channels * size);
        assert_int_equal(vm_tensor_request_extent(&c.request), count * vm_tensor_swizzle_span(m->swizzle));
        for (size_t i = 0; i < MEMORY; i++)
            memory[i] = model_memory[i] = (uint8_t)next_random();
        for (size_t i = 0; i < SHARED; i++)
            shared[i] = model_shared[i] = (uint8_t)(i * 7 + (i >> 9));
        run(&c);
        model_wide(&c);
        if (memcmp(shared, model_shared, SHARED) != 0)
            fail_msg("im2col::w copy %u: shared memory differs from the model", number);
    }
    assert_in_range(halos, 10, 400);
    assert_in_range(open, 10, 400);
}

/* The examples of PTX ISA 5.5.5.3 and 5.5.5.4, whose lists of sizes and coordinates begin with the image. */
static void wide_examples(void **state) {
    (void)state;
    pixel pixels[2048];
    copy c = {.map = {.mode = VM_TENSOR_IM2COL_W,
                      .type = VM_TENSOR_F16,
                      .rank = 4,
                      .dim = {64, 7, 9, 128},
                      .stride = {128, 896, 8064},
                      .step = {1, 1, 1, 1},
                      .channels = 64,
                      .pixels = 128,
                      .swizzle = VM_TENSOR_SWIZZLE_128},
              .request = {.form = VM_TENSOR_WIDE, .rank = 4, .coordinate = {0, 3, 2, 7}, .offset = {2, 0}}};
    c.request.map = &c.map;
    assert_int_equal(model_pixels(&c, pixels), 130);
    assert_true(pixels[3].x == 6 && pixels[3].n == 7 && pixels[4].x == 0 && pixels[4].n == 8);
    assert_true(pixels[127].x == 4 && pixels[127].n == 25 && pixels[129].x == 6 && pixels[129].n == 25);
    assert_null(vm_tensor_request_open(&c.request));
    assert_int_equal(vm_tensor_request_bytes(&c.request), 130 * 128);
    c.request.offset[0] = 3; /* one more than the row has */
    assert_non_null(vm_tensor_request_open(&c.request));
    c.map.dim[1] = 67; /* every other pixel from -1 on, and from 0 on */
    c.map.lower[0] = -1;
    c.map.step[1] = 2;
    c.request = (vm_tensor_request){
        .map = &c.map, .form = VM_TENSOR_WIDE, .rank = 4, .coordinate = {0, -1, 2, 7}, .offset = {0, 1}};
    assert_int_equal(model_pixels(&c, pixels), 128);
    assert_true(pixels[0].x == 0 && pixels[33].x == 66 && pixels[34].x == 0 && pixels[34].n == 8);
    assert_null(vm_tensor_request_open(&c.request));
}

/* ---- what may not be asked ---- */
static void asks(vm_tensor_map map, vm_tensor_request request, const char *expected) {
    vm_tensor_fault faults[VM_TENSOR_FAULTS_MAX];
    vm_tensor_problem problems[VM_TENSOR_PROBLEMS];
    char text[200];
    request.map = &map;
    assert_int_equal(vm_tensor_map_check(&map, problems), 0);
    assert_int_equal(vm_tensor_request_check(&request, faults), 1);
    vm_tensor_fault_text(&faults[0], text, sizeof text);
    assert_string_equal(text, expected);
}

static void wrong_requests(void **state) {
    (void)state;
    vm_tensor_map tile = {
        .type = VM_TENSOR_F16, .rank = 2, .dim = {64, 64}, .stride = {128}, .box = {64, 8}, .step = {1, 1}};
    vm_tensor_map im2col = {.mode = VM_TENSOR_IM2COL,
                            .type = VM_TENSOR_F16,
                            .rank = 4,
                            .dim = {8, 5, 4, 3},
                            .stride = {16, 80, 320},
                            .step = {1, 1, 1, 1},
                            .lower = {-1, 0},
                            .upper = {-1, 0},
                            .channels = 8,
                            .pixels = 16};
    asks(tile, (vm_tensor_request){.rank = 2, .coordinate = {3, 0}},
         "coordinate 0 is 3: the box must start at a multiple of 16 bytes, here 8 elements");
    asks(tile, (vm_tensor_request){.rank = 2, .direction = VM_TENSOR_STORE, .coordinate = {0, -1}},
         "coordinate 1 of a store is -1: the box of a store starts inside the tensor");
    asks(tile, (vm_tensor_request){.rank = 3}, "the instruction is for rank 3, the map has rank 2");
    asks(tile, (vm_tensor_request){.rank = 2, .form = VM_TENSOR_IM2COL_LOAD},
         "a tiled map with an im2col instruction, or the reverse");
    asks(tile, (vm_tensor_request){.rank = 2, .form = VM_TENSOR_GATHER4},
         "gather4 and scatter4 need a map of rank 2 with boxDim[1] 1, this one has 8");
    asks(im2col, (vm_tensor_request){.rank = 4, .form = VM_TENSOR_IM2COL_LOAD, .coordinate = {0, 4}},
         "coordinate 1 is 4, outside the pixel box, whose limit is 3");
    asks(im2col, (vm_tensor_request){.rank = 4, .form = VM_TENSOR_IM2COL_LOAD, .coordinate = {0, 0, -1}},
         "coordinate 2 is -1, outside the pixel box, whose limit is 0");
    asks(im2col, (vm_tensor_request){.rank = 4, .form = VM_TENSOR_IM2COL_LOAD, .offset = {0, 256}},
         "im2col offset 1 is 256: 0 to 255");
    asks(im2col,
         (vm_tensor_request){
             .rank = 4, .form = VM_TENSOR_IM2COL_NO_OFFSETS, .direction = VM_TENSOR_STORE, .coordinate = {0}},
         "the pixel box of a store starts at -1 along dimension 1, outside the tensor");
    vm_tensor_map wide = im2col;
    wide.mode = VM_TENSOR_IM2COL_W;
    wide.swizzle = VM_TENSOR_SWIZZLE_64;
    asks(wide, (vm_tensor_request){.rank = 4, .form = VM_TENSOR_WIDE, .coordinate = {0, 4}},
         "coordinate 1 is 4, outside the pixel box, whose limit is 3");
    asks(wide, (vm_tensor_request){.rank = 4, .form = VM_TENSOR_WIDE, .offset = {512}},
         "wHalo is 512: 0 to 511");
    asks(wide, (vm_tensor_request){.rank = 4, .form = VM_TENSOR_WIDE, .offset = {0, 32}},
         "wOffset is 32: 0 to 31");
    asks(wide, (vm_tensor_request){.rank = 4, .form = VM_TENSOR_IM2COL_LOAD},
         "a map of im2col::w, im2col::w::128 or im2col with an instruction of another of these modes");
    asks(wide, (vm_tensor_request){.rank = 4, .form = VM_TENSOR_WIDE_128},
         "a map of im2col::w, im2col::w::128 or im2col with an instruction of another of these modes");
    asks(wide, (vm_tensor_request){.rank = 4}, "a tiled map with an im2col instruction, or the reverse");
    wide.mode = VM_TENSOR_IM2COL_W128;
    asks(wide, (vm_tensor_request){.rank = 4, .form = VM_TENSOR_WIDE_128, .offset = {32}},
         "wHalo is 32: 0 to 31");
    vm_tensor_map packed_map = {.type = VM_TENSOR_U4_ALIGN16,
                                .rank = 2,
                                .dim = {256, 8},
                                .stride = {128},
                                .box = {128, 8},
                                .step = {1, 1}};
    asks(packed_map, (vm_tensor_request){.rank = 2, .coordinate = {64, 0}},
         "coordinate 0 is 64: a multiple of 128 for this packed type");
    asks(packed_map, (vm_tensor_request){.rank = 2, .direction = VM_TENSOR_STORE},
         "16U4_ALIGN16B cannot be stored");
}

/* Element strides beyond the box leave its size unlimited by the rules: it must not wrap around. */
static void huge_box(void **state) {
    (void)state;
    vm_tensor_map map = {.type = VM_TENSOR_F64,
                         .rank = 5,
                         .dim = {64, 64, 64, 64, 64},
                         .stride = {512, 512, 512, 512},
                         .box = {256, 256, 256, 256, 7},
                         .step = {1, 1, 1, 1, 8}};
    vm_tensor_request request = {.map = &map, .rank = 5};
    vm_tensor_problem problems[VM_TENSOR_PROBLEMS];
    assert_int_equal(vm_tensor_map_check(&map, problems), 0);
    assert_true(vm_tensor_request_extent(&request) == UINT32_MAX);
    assert_true(vm_tensor_request_bytes(&request) == UINT32_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(recorded_loads),
                                       cmocka_unit_test(recorded_stores),
                                       cmocka_unit_test(atoms_against_the_model),
                                       cmocka_unit_test(rows_against_the_model),
                                       cmocka_unit_test(wide_against_the_model),
                                       cmocka_unit_test(wide_examples),
                                       cmocka_unit_test(packed),
                                       cmocka_unit_test(packed_store),
                                       cmocka_unit_test(wrong_requests),
                                       cmocka_unit_test(huge_box)};
    return cmocka_run_group_tests_name("vm_tensor_copy", tests, NULL, NULL);
}
