/* SPDX-License-Identifier: Apache-2.0
 * Operands of tcgen05 as element codes; see vm_tensor_operand.h. Sources: PTX ISA 9.7.16.3 (layouts),
 * 9.7.16.10 (datapaths, scale factors), CUTLASS mma_traits_sm100 and copy_traits_sm100 for what PTX gives as
 * figures. Must not know instructions. */
#include <string.h>
#include "vm/vm_tensor_operand.h"

unsigned vm_tensor_code_bytes(num_dtype type) {
    return type == NUM_DTYPE_TF32 ? 4 : type == NUM_DTYPE_F16 || type == NUM_DTYPE_BF16 ? 2 : 1;
}

/* ---- shared memory ---- */
static unsigned packed_bits(vm_tensor_kind kind, num_dtype type) {
    if (kind == VM_TENSOR_MXF4 || kind == VM_TENSOR_MXF4NVF4)
        return 4;
    return num_dtype_bits(type);
}

/* 16 bytes of shared memory to codes: 16-byte groups of 16 elements for 8, 6 and 4 bits (the smaller ones
 * with padding behind), 32 nibbles for mxf4. */
static void expand(vm_tensor_kind kind, num_dtype type, const uint8_t *from, uint8_t *to) {
    switch (packed_bits(kind, type)) {
    case 4: {
        unsigned count = vm_tensor_container_bits(kind, type) == 4 ? 16 : 8;
        for (unsigned i = 0; i < count; i++) {
            to[2 * i] = from[i] & 15;
            to[2 * i + 1] = from[i] >> 4;
        }
        return;
    }
    case 6:
        for (unsigned i = 0; i < 16; i++) {
            unsigned bit = 6 * i, word = from[bit / 8] | (unsigned)from[bit / 8 + 1] << 8;
            to[i] = word >> bit % 8 & 63;
        }
        return;
    default:
        memcpy(to, from, 16);
    }
}

static bool inside(uint32_t address, uint32_t size, uint32_t *outside) {
    if (address <= size && size - address >= 16)
        return true;
    *outside = address;
    return false;
}

/* K-major: a row is two chunks of 16 bytes, whatever the type. Rows repeat every eight, moved by the stride,
 * unless that is no whole number of swizzle patterns. */
enum { ROW_CHUNKS = 2, GROUP_ROWS = 8 };
typedef struct row_group {
    uint32_t at[GROUP_ROWS][ROW_CHUNKS], low, high; /* bytes [low, high) */
} row_group;
static bool group_rows(const vm_tensor_matrix *matrix, unsigned bits, unsigned rows, row_group *group) {
    static const uint32_t patterns[] = {1, 256, 512, 1024, 512};
    if (matrix->stride % patterns[matrix->swizzle] != 0)
        return false;
    group->low = UINT32_MAX;
    group->high = 0;
    for (unsigned r = 0; r < GROUP_ROWS && r < rows; r++)
        for (unsigned c = 0; c < ROW_CHUNKS; c++) {
            uint32_t at = vm_tensor_matrix_address(matrix, bits, false, r, c * (128 / bits));
            group->at[r][c] = at;
            group->low = at < group->low ? at : group->low;
            group->high = at + 16 > group->high ? at + 16 : group->high;
        }
    return true;
}

static bool gather_rows(const vm_tensor_matrix *matrix, vm_tensor_kind kind, num_dtype type, unsigned rows,
                        const uint8_t *shared, uint32_t size, uint8_t *to, uint32_t *outside) {
    unsigned bits = vm_tensor_container_bits(kind, type), chunk_bytes = bits == 4 ? 32 : 16;
    bool plain = packed_bits(kind, type) >= 8; /* codes are the bytes */
    row_group group;
    bool repeats = group_rows(matrix, bits, rows, &group);
    uint32_t groups = (rows + GROUP_ROWS - 1) / GROUP_ROWS;
    if (repeats && plain && rows % GROUP_ROWS == 0 && group.high <= size &&
        (uint64_t)(groups - 1) * matrix->stride <= size - group.high) { /* all of it inside */
        for (uint32_t g = 0; g < groups; g++, shared += matrix->stride)
            for (unsigned i = 0; i < GROUP_ROWS; i++, to += 32) {
                memcpy(to, shared + group.at[i][0], 16);
                memcpy(to + 16, shared + group.at[i][1], 16);
            }
        return true;
    }
    for (unsigned r = 0; r < rows; r += GROUP_ROWS) {
        uint32_t base = r / GROUP_ROWS * matrix->stride;
        for (unsigned i = 0; i < GROUP_ROWS && r + i < rows; i++)
            for (unsigned c = 0; c < ROW_CHUNKS; c++) {
                uint32_t at = repeats
                                  ? group.at[i][c] + base
                                  : vm_tensor_matrix_address(matrix, bits, false, r + i, c * (128 / bits));
                if (!inside(at, size, outside))
                    return false;
                if (plain)
                    memcpy(to, shared + at, 16);
                else
                    expand(kind, type, shared + at, to);
                to += chunk_bytes;
            }
    }
    return true;
}

bool vm_tensor_gather(const vm_tensor_matrix *matrix, vm_tensor_kind kind, num_dtype type, bool mn_major,
                      unsigned rows, unsigned depth, const uint8_t *shared, uint32_t size, void *codes,
                      uint32_t *outside) {
    unsigned bits = vm_tensor_container_bits(kind, type), bytes = vm_tensor_code_bytes(type);
    unsigned per_chunk = 128 / bits, row_bytes = depth * bytes;
    uint8_t *to = codes;
    if (!mn_major)
        return gather_rows(matrix, kind, type, rows, shared, size, to, outside);
    for (unsigned k = 0; k < depth; k++)
        for (unsigned r = 0; r < rows; r += per_chunk) {
            uint32_t address = vm_tensor_matrix_address(matrix, bits, true, r, k);
            if (!inside(address, size, outside))
                return false;
            for (unsigned i = 0; i < per_chunk && r + i < rows; i++)
                memcpy(to + (r + i) * row_bytes + k * bytes, shared + address + i * bytes, bytes);
        }
    return true;
}

void vm_tensor_visit(const vm_tensor_matrix *matrix, vm_tensor_kind kind, num_dtype type, bool mn_major,
                     unsigned rows, unsigned depth, bool (*visit)(void *user, uint32_t address), void *user) {
    unsigned bits = vm_tensor_container_bits(kind, type), per_chunk = 128 / bits;
    row_group group;
    bool repeats = !mn_major && group_rows(matrix, bits, rows, &group);
    for (unsigned r = 0; repeats && r < rows; r++) {
        const uint32_t *at = group.at[r % GROUP_ROWS], base = r / GROUP_ROWS * matrix->stride;
        if (!visit(user, at[0] + base) || !visit(user, at[1] + base))
            return;
    }
    unsigned row_step = mn_major ? per_chunk : 1, k_step = mn_major ? 1 : per_chunk;
    for (unsigned r = 0; !repeats && r < rows; r += row_step)
        for (unsigned k = 0; k < depth; k += k_step)
            if (!visit(user, vm_tensor_matrix_address(matrix, bits, mn_major, r, k)))
                return;
}

void vm_tensor_span(const vm_tensor_matrix *matrix, vm_tensor_kind kind, num_dtype type, bool mn_major,
                    unsigned rows, unsigned depth, uint32_t *begin, uint32_t *end) {
    unsigned bits = vm_tensor_container_bits(kind, type), per_chunk = 128 / bits;
    row_group group;
    if (!mn_major && group_rows(matrix, bits, rows, &group)) {
        *begin = group.low;
        *end = group.high + (rows - 1) / GROUP_ROWS * matrix->stride;
        return;
    }
    unsigned row_step = mn_major ? per_chunk : 1, k_step = mn_major ? 1 : per_chunk;
    uint32_t low = UINT32_MAX, high = 0;
    for (unsigned r = 0; r < rows; r += row_step)
        for (unsigned k = 0; k < depth; k += k_step) {
            uint32_t address = vm_tensor_matrix_address(matrix, bits, mn_major, r, k);
            low = address < low ? address : low;
            high = address > high ? address : high;
        }
    *begin = low;
    *end = high + 16;
}

/* ---- tensor memory ---- */
void vm_tensor_row_codes(vm_tensor_kind kind, num_dtype type, const uint32_t cells[8], void *codes) {
    uint8_t bytes[32], *to = codes;
    memcpy(bytes, cells, 32);
    if (kind == VM_TENSOR_MXF4 || kind == VM_TENSOR_MXF4NVF4) {
        for (unsigned i = 0; i < 32; i++) {
            to[2 * i] = bytes[i] & 15;
            to[2 * i + 1] = bytes[i] >> 4;
        }
        return;
    }
    for (unsigned i = 0; i < 32; i++)
        to[i] = type == NUM_DTYPE_F4E2M1FN                                 ? bytes[i] >> 2 & 15
                : type == NUM_DTYPE_F6E2M3FN || type == NUM_DTYPE_F6E3M2FN ? bytes[i] & 63
                                                                           : bytes[i];
}

char vm_tensor_datapath(unsigned m, unsigned cta_group, bool ws, bool sparse) {
    if (ws)
        return m == 128 ? 'D' : m == 64 ? 'E' : m == 32 ? 'G' : 0;
    if (cta_group == 2)
        return m == 256 ? 'A' : m == 128 ? (sparse ? 'C' : 'B') : 0;
    return m == 128 ? 'D' : m == 64 ? 'F' : 0;
}

vm_tensor_place vm_tensor_place_of(char datapath, unsigned n, bool half) {
    vm_tensor_place place = {.rows = 128, .folds = 1};
    unsigned step = 16, first = 0;
    switch (datapath) {
    case 'B':
    case 'E':
        place.rows = 64;
        place.folds = 2;
        break;
    case 'C':
    case 'F':
        place.rows = 64;
        step = 32;
        first = half ? 16 : 0;
        break;
    case 'G':
        place.rows = 32;
        place.folds = 4;
        break;
    default:
        break;
    }
    for (unsigned i = 0; i < place.rows / VM_TENSOR_CHUNK; i++)
        place.lane[i] = (uint8_t)(first + i * step);
    place.fold_lanes = place.rows;
    place.columns = n / place.folds;
    return place;
}

void vm_tensor_place_lanes(const vm_tensor_place *place, uint32_t lanes[4]) {
    memset(lanes, 0, 4 * sizeof *lanes);
    for (unsigned f = 0; f < place->folds; f++)
        for (unsigned i = 0; i < place->rows / VM_TENSOR_CHUNK; i++) {
            unsigned lane = place->lane[i] + f * place->fold_lanes;
            lanes[lane / 32] |= 0xffffu << lane % 32;
        }
}

void vm_tensor_factor_place(unsigned i, unsigned count, bool halves, uint32_t *lane, uint32_t *column) {
    unsigned upper = halves && i >= count / 2;
    unsigned at = upper ? i - count / 2 : i;
    *lane = at % 32 + 64 * upper;
    *column = at / 32;
}

/* ---- tcgen05.cp ---- */
const vm_tensor_cp vm_tensor_cps[VM_TENSOR_CP_COUNT] = {
    [VM_TENSOR_CP_128X256B] = {128, 2, 1, 0, 1, 0, 127},
    [VM_TENSOR_CP_4X256B] = {4, 2, 1, 0, 32, 0, 96},
    [VM_TENSOR_CP_128X128B] = {128, 1, 1, 0, 1, 0, 127},
    [VM_TENSOR_CP_64X128B_02_13] = {64, 1, 2, 64, 1, 0, 127},
    [VM_TENSOR_CP_64X128B_01_23] = {64, 1, 2, 32, 1, 32, 127},
    [VM_TENSOR_CP_32X128B] = {32, 1, 4, 32, 1, 0, 127},
};

void vm_tensor_unpack_chunk(vm_tensor_unpack unpack, const uint8_t from[16], uint8_t to[16]) {
    switch (unpack) {
    case VM_TENSOR_UNPACK_B4:
        expand(VM_TENSOR_F8F6F4, NUM_DTYPE_F4E2M1FN, from, to);
        for (unsigned i = 0; i < 16; i++)
            to[i] = (uint8_t)(to[i] << 2);
        return;
    case VM_TENSOR_UNPACK_B6:
        expand(VM_TENSOR_F8F6F4, NUM_DTYPE_F6E3M2FN, from, to);
        return;
    default:
        memcpy(to, from, 16);
    }
}
