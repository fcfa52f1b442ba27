/* SPDX-License-Identifier: Apache-2.0
 * Tensor copies as rows (PTX ISA 5.5, 9.7.9.25.5). Order, fill, pitch and wrap-around are those measured on
 * an H200; docs/machine.md has the list. Knows no machine state. */
#include "vm/vm_tensor_copy.h"
#include <stdio.h>
#include <string.h>

enum { HALO, SHIFT }; /* in vm_tensor_request.offset of WIDE and WIDE_128 */

static bool is_padded(vm_tensor_type type) {
    return type == VM_TENSOR_U4_ALIGN16 || type == VM_TENSOR_U6_ALIGN16;
}

/* Bytes of a slice of channels; 0 without an interleave. */
static uint32_t slice_bytes(const vm_tensor_map *map) {
    return map->interleave == VM_TENSOR_INTERLEAVE_NONE ? 0
           : map->interleave == VM_TENSOR_INTERLEAVE_16 ? 16
                                                        : 32;
}

/* How many elements a tile has along a dimension. The dimension of slices always gives one. */
static uint32_t tile_count(const vm_tensor_map *map, uint32_t dimension) {
    bool interleaved = map->interleave != VM_TENSOR_INTERLEAVE_NONE;
    if (interleaved && dimension == map->rank - 2)
        return 1;
    uint32_t step = dimension == 0 && !interleaved ? 1 : map->step[dimension];
    return (map->box[dimension] + step - 1) / step;
}

/* Bytes of a row, in global and in shared memory, and from one row to the next. */
typedef struct row_shape {
    uint32_t global, shared, pitch;
} row_shape;
static row_shape shape_of(const vm_tensor_map *map) {
    row_shape s;
    uint32_t slice = slice_bytes(map);
    if (slice) {
        s.global = slice * (map->mode == VM_TENSOR_TILED ? tile_count(map, 0) : 1);
        s.shared = s.pitch = s.global;
        return s;
    }
    uint32_t elements = map->mode == VM_TENSOR_TILED ? map->box[0] : map->channels;
    s.global = elements * vm_tensor_type_bits(map->type) / 8;
    s.shared = is_padded(map->type) ? elements : s.global;
    uint32_t span = vm_tensor_swizzle_span(map->swizzle);
    s.pitch = span ? span : s.shared;
    return s;
}

static uint64_t row_count(const vm_tensor_request *request) {
    const vm_tensor_map *map = request->map;
    if (request->form == VM_TENSOR_GATHER4 || request->form == VM_TENSOR_SCATTER4)
        return 4;
    if (map->mode != VM_TENSOR_TILED)
        return vm_tensor_pixels(map) + (request->form == VM_TENSOR_WIDE ? request->offset[HALO] : 0);
    uint64_t rows = 1; /* at most 256^4 */
    for (uint32_t i = 1; i < map->rank; i++)
        rows *= tile_count(map, i);
    return rows;
}

/* A box of more than UINT32_MAX bytes, which element strides larger than the box make possible, fits nowhere.
 */
static uint32_t box_bytes(const vm_tensor_request *request, uint32_t row) {
    uint64_t bytes = row_count(request) * row;
    return bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;
}

uint32_t vm_tensor_request_bytes(const vm_tensor_request *request) {
    return box_bytes(request, shape_of(request->map).global);
}

uint32_t vm_tensor_request_extent(const vm_tensor_request *request) {
    return box_bytes(request, shape_of(request->map).pitch);
}

uint32_t vm_tensor_request_align(const vm_tensor_map *map) {
    (void)map;
    return 128;
}

/* ---- what may be asked ---- */
typedef struct fault_list {
    vm_tensor_fault *faults;
    size_t count;
} fault_list;

static void fault(fault_list *l, vm_tensor_fault_kind kind, uint32_t index, int64_t value, int64_t limit) {
    if (l->count < VM_TENSOR_FAULTS_MAX)
        l->faults[l->count++] = (vm_tensor_fault){kind, index, value, limit};
}

static void check_im2col(fault_list *l, const vm_tensor_request *r) {
    const vm_tensor_map *map = r->map;
    uint32_t first = map->interleave == VM_TENSOR_INTERLEAVE_NONE;
    int64_t most = map->rank == 3 ? 65535 : map->rank == 4 ? 255 : 31;
    for (uint32_t i = 0; i < map->rank - 2; i++) {
        int64_t at = r->coordinate[first + i], low = map->lower[i];
        int64_t high = (int64_t)map->dim[first + i] - 1 + map->upper[i];
        if (r->direction != VM_TENSOR_LOAD && (low < 0 || high >= (int64_t)map->dim[first + i]))
            fault(l, VM_TENSOR_FAULT_STORE_BOX, first + i, low < 0 ? low : high, 0);
        else if (at < low || at > high)
            fault(l, VM_TENSOR_FAULT_OUTSIDE_BOX, first + i, at, at < low ? low : high);
        if (r->form == VM_TENSOR_IM2COL_LOAD && r->offset[i] > most)
            fault(l, VM_TENSOR_FAULT_OFFSET, i, r->offset[i], most);
    }
}

/* PTX ISA 5.5.5: the box has one row along W, and the first pixel may only be left of it; 9.7.9.25.5.2: the
 * ranges of wHalo and wOffset. */
static void check_wide(fault_list *l, const vm_tensor_request *r) {
    const vm_tensor_map *map = r->map;
    int64_t high = (int64_t)map->dim[1] - 1 + map->upper[0];
    uint32_t most = r->form == VM_TENSOR_WIDE ? 511 : 31;
    if (r->coordinate[1] > high)
        fault(l, VM_TENSOR_FAULT_OUTSIDE_BOX, 1, r->coordinate[1], high);
    if (r->offset[HALO] > most)
        fault(l, VM_TENSOR_FAULT_WIDE_OPERAND, HALO, r->offset[HALO], most);
    if (r->offset[SHIFT] > 31)
        fault(l, VM_TENSOR_FAULT_WIDE_OPERAND, SHIFT, r->offset[SHIFT], 31);
}

/* How many pixels of the box's row stand behind the last one that is counted. */
static uint64_t left_in_row(const vm_tensor_request *r) {
    const vm_tensor_map *map = r->map;
    int64_t high = (int64_t)map->dim[1] - 1 + map->upper[0], step = map->step[1];
    uint64_t pixels = vm_tensor_pixels(map), first = (uint64_t)((high - r->coordinate[1]) / step + 1);
    uint64_t row = (uint64_t)((high - map->lower[0]) / step + 1);
    if (pixels <= first)
        return first - pixels;
    return (row - (pixels - first) % row) % row;
}

const char *vm_tensor_request_open(const vm_tensor_request *r) {
    if ((r->form != VM_TENSOR_WIDE && r->form != VM_TENSOR_WIDE_128) || r->offset[HALO] == 0)
        return NULL;
    if (r->form == VM_TENSOR_WIDE_128)
        return "PTX says only in a figure where the pixels that follow a halo of im2col::w::128 come from; "
               "wHalo "
               "must be 0 here";
    if (r->map->step[1] != 1)
        return "PTX says only in a figure whether the halo of im2col::w is strided too; with an element "
               "stride "
               "along W wHalo must be 0 here";
    return r->offset[HALO] <= left_in_row(r) ? NULL
                                             : "PTX does not say what a halo of im2col::w is behind the "
                                               "right end of the pixel box; the last "
                                               "pixel must have wHalo more to its right here";
}

/* PTX ISA 9.7.9.25.5.3; an H200 also adds f64, f32.ftz, tf32 and tf32.ftz. */
static bool reduces(vm_tensor_reduction reduction, vm_tensor_type type) {
    static const uint32_t types[] = {
        [VM_TENSOR_ADD] = 1u << VM_TENSOR_U32 | 1u << VM_TENSOR_S32 | 1u << VM_TENSOR_U64 |
                          1u << VM_TENSOR_F16 | 1u << VM_TENSOR_F32 | 1u << VM_TENSOR_F64 |
                          1u << VM_TENSOR_BF16 | 1u << VM_TENSOR_F32_FTZ | 1u << VM_TENSOR_TF32 |
                          1u << VM_TENSOR_TF32_FTZ,
        [VM_TENSOR_MIN_MAX] = 1u << VM_TENSOR_U32 | 1u << VM_TENSOR_S32 | 1u << VM_TENSOR_U64 |
                              1u << VM_TENSOR_S64 | 1u << VM_TENSOR_F16 | 1u << VM_TENSOR_BF16,
        [VM_TENSOR_INC_DEC] = 1u << VM_TENSOR_U32,
        [VM_TENSOR_BITS] = 1u << VM_TENSOR_U32 | 1u << VM_TENSOR_S32 | 1u << VM_TENSOR_U64};
    return types[reduction] >> type & 1;
}

size_t vm_tensor_request_check(const vm_tensor_request *r, vm_tensor_fault faults[VM_TENSOR_FAULTS_MAX]) {
    fault_list l = {faults, 0};
    const vm_tensor_map *map = r->map;
    bool rows = r->form == VM_TENSOR_GATHER4 || r->form == VM_TENSOR_SCATTER4;
    bool wide = r->form == VM_TENSOR_WIDE || r->form == VM_TENSOR_WIDE_128;
    bool im2col = r->form == VM_TENSOR_IM2COL_LOAD || r->form == VM_TENSOR_IM2COL_NO_OFFSETS || wide;
    vm_tensor_mode mode = r->form == VM_TENSOR_WIDE       ? VM_TENSOR_IM2COL_W
                          : r->form == VM_TENSOR_WIDE_128 ? VM_TENSOR_IM2COL_W128
                                                          : VM_TENSOR_IM2COL;
    bool store = r->direction != VM_TENSOR_LOAD;
    if (r->rank != map->rank)
        fault(&l, VM_TENSOR_FAULT_RANK, 0, map->rank, r->rank);
    if (im2col != (map->mode != VM_TENSOR_TILED))
        fault(&l, VM_TENSOR_FAULT_MODE, 0, map->mode, im2col);
    else if (im2col && map->mode != mode)
        fault(&l, VM_TENSOR_FAULT_WIDE, 0, map->mode, mode);
    if (l.count)
        return l.count;
    if (rows && (map->rank != 2 || map->box[1] != 1))
        fault(&l, VM_TENSOR_FAULT_ROWS, 1, map->rank == 2 ? map->box[1] : map->rank, 1);
    if (rows && map->interleave != VM_TENSOR_INTERLEAVE_NONE)
        fault(&l, VM_TENSOR_FAULT_ROWS_INTERLEAVE, 0, map->interleave, 0);
    if (map->interleave == VM_TENSOR_INTERLEAVE_NONE) {
        int64_t unit = 128 / vm_tensor_type_bits(map->type);
        if (is_padded(map->type)) {
            if (r->coordinate[0] % 128 != 0)
                fault(&l, VM_TENSOR_FAULT_COORDINATE_PACKED, 0, r->coordinate[0], 128);
        } else if (r->coordinate[0] % unit != 0)
            fault(&l, VM_TENSOR_FAULT_COORDINATE_ALIGN, 0, r->coordinate[0], unit);
    }
    if (store) {
        uint32_t count = rows ? 5 : map->rank;
        for (uint32_t i = 0; i < count; i++)
            if (r->coordinate[i] < 0)
                fault(&l, VM_TENSOR_FAULT_COORDINATE_NEGATIVE, i, r->coordinate[i], 0);
        if (map->type == VM_TENSOR_U4_ALIGN16)
            fault(&l, VM_TENSOR_FAULT_STORE_TYPE, 0, 0, 0);
        if (map->atom == VM_TENSOR_ATOM_32_FLIP_8)
            fault(&l, VM_TENSOR_FAULT_STORE_FLIP, 0, 0, 0);
    } else if (is_padded(map->type) && map->atom == VM_TENSOR_ATOM_64)
        fault(&l, VM_TENSOR_FAULT_LOAD_ATOM_64, 0, 0, 0);
    if (r->direction == VM_TENSOR_REDUCE && !reduces(r->reduction, map->type))
        fault(&l, VM_TENSOR_FAULT_REDUCE_TYPE, 0, map->type, 0);
    if (wide)
        check_wide(&l, r);
    else if (im2col)
        check_im2col(&l, r);
    return l.count;
}

void vm_tensor_fault_text(const vm_tensor_fault *f, char *text, size_t size) {
    static const char *const texts[VM_TENSOR_FAULT_COUNT] = {
#define X(name, words) words,
        VM_TENSOR_FAULTS(X)
#undef X
    };
    size_t at = 0;
    if (size)
        text[0] = 0;
    for (const char *p = texts[f->kind]; *p && at + 1 < size; p++) {
        int written = 1;
        if (*p != '%') {
            text[at] = *p;
            text[at + 1] = 0;
        } else if (*++p == 'i')
            written = snprintf(text + at, size - at, "%u", f->index);
        else if (*p == 'w')
            written = snprintf(text + at, size - at, "%s", f->index == HALO ? "wHalo" : "wOffset");
        else
            written = snprintf(text + at, size - at, "%lld", (long long)(*p == 'l' ? f->limit : f->value));
        at += (size_t)written;
    }
}

/* ---- rows ---- */
typedef struct walk {
    const vm_tensor_request *request;
    const vm_tensor_map *map;
    row_shape shape;
    bool (*visit)(void *user, const vm_tensor_row *row);
    void *user;
    uint32_t row;        /* number of the next one */
    vm_tensor_row whole; /* any row that is not outside, less its outer coordinates */
    bool single_slices;
} walk;

/* Elements [first, first + count) of dimension 0 that lie in the tensor, as bytes of a row. */
static void clip(const walk *w, int64_t first, uint32_t count, uint32_t bits, vm_tensor_row *row) {
    int64_t end = first + count, begin = first < 0 ? 0 : first;
    if (end > (int64_t)w->map->dim[0])
        end = (int64_t)w->map->dim[0];
    if (begin >= end) { /* all outside */
        row->before = 0;
        row->inside = 0;
        row->after = (uint32_t)((uint64_t)count * bits / 8);
        return;
    }
    row->before = (uint32_t)((uint64_t)(begin - first) * bits / 8);
    row->inside = (uint32_t)((uint64_t)(end - begin) * bits / 8);
    row->after = (uint32_t)((uint64_t)(first + count - end) * bits / 8);
    if (w->request->direction !=
        VM_TENSOR_LOAD) { /* measured: stores and reductions end at whole chunks of 16 bytes */
        uint32_t more = (16 - (row->before + row->inside) % 16) % 16;
        row->inside += more;
        row->after -= more;
    }
    row->global += (uint64_t)begin * bits / 8;
}

/* All rows of a box are cut at the same places of dimension 0. */
static void shape_rows(walk *w) {
    const vm_tensor_map *map = w->map;
    uint32_t slice = slice_bytes(map);
    w->single_slices = slice && map->step[0] != 1 && map->mode == VM_TENSOR_TILED;
    if (slice && map->mode != VM_TENSOR_TILED) /* the address is that of the slice */
        w->whole.inside = slice;
    else {
        uint32_t elements = slice                          ? tile_count(map, 0)
                            : map->mode == VM_TENSOR_TILED ? map->box[0]
                                                           : map->channels;
        clip(w, w->request->coordinate[0], elements, slice ? 8 * slice : vm_tensor_type_bits(map->type),
             &w->whole);
    }
}

/* Under an interleave with a step, one slice at a time. */
static bool emit_slices(walk *w, uint64_t address, uint32_t shared, bool outside) {
    const vm_tensor_map *map = w->map;
    uint32_t slice = slice_bytes(map);
    for (uint32_t i = 0, count = tile_count(map, 0); i < count; i++) {
        vm_tensor_row one = {.global = address, .shared = shared + i * slice};
        clip(w, (int64_t)w->request->coordinate[0] + (int64_t)i * map->step[0], 1, 8 * slice, &one);
        if (outside || one.inside == 0)
            one = (vm_tensor_row){.shared = one.shared, .after = slice};
        if (!w->visit(w->user, &one))
            return false;
    }
    return true;
}

/* One row whose outer coordinates give `address`; outside: they are not in the tensor. */
static inline bool emit(walk *w, uint64_t address, bool outside) {
    uint32_t shared = w->row++ * w->shape.pitch;
    if (w->single_slices)
        return emit_slices(w, address, shared, outside);
    vm_tensor_row row = w->whole;
    row.global += address;
    row.shared = shared;
    if (outside || row.inside == 0)
        row = (vm_tensor_row){.shared = shared, .after = w->shape.global};
    return w->visit(w->user, &row);
}

static bool inside_dim(const vm_tensor_map *map, uint32_t dimension, int64_t at) {
    return at >= 0 && at < (int64_t)map->dim[dimension];
}

static bool walk_rows4(walk *w) {
    for (uint32_t i = 1; i <= 4; i++) {
        int64_t at = w->request->coordinate[i];
        if (!emit(w, w->map->address + (uint64_t)at * w->map->stride[0], !inside_dim(w->map, 1, at)))
            return false;
    }
    return true;
}

static bool walk_tile(walk *w) {
    const vm_tensor_map *map = w->map;
    uint32_t count[VM_TENSOR_RANK] = {1, 1, 1, 1, 1}, at[VM_TENSOR_RANK] = {0};
    for (uint32_t i = 1; i < map->rank; i++)
        count[i] = tile_count(map, i);
    for (;;) {
        uint64_t address = map->address;
        bool outside = false;
        for (uint32_t i = 2; i < map->rank; i++) {
            int64_t c = w->request->coordinate[i] + (int64_t)at[i] * map->step[i];
            outside |= !inside_dim(map, i, c);
            address += (uint64_t)c * map->stride[i - 1];
        }
        int64_t y = map->rank > 1 ? w->request->coordinate[1] : 0;
        for (uint32_t row = 0; row < count[1]; row++, y += map->step[1])
            if (!emit(w, address + (map->rank > 1 ? (uint64_t)y * map->stride[0] : 0),
                      outside || (map->rank > 1 && !inside_dim(map, 1, y))))
                return false;
        uint32_t i = 2;
        while (i < map->rank && ++at[i] == count[i])
            at[i++] = 0;
        if (i >= map->rank)
            return true;
    }
}

/* im2col::w: along one row of W, then along the same row of the next image. The halo goes on where the last
 * pixel was, in the same row (vm_tensor_request_open). wOffset moves the box and what is in it. */
static bool walk_wide(walk *w) {
    const vm_tensor_map *map = w->map;
    const vm_tensor_request *r = w->request;
    uint32_t last = map->rank - 1;
    int64_t x = r->coordinate[1], n = r->coordinate[last], high = (int64_t)map->dim[1] - 1 + map->upper[0];
    uint64_t fixed = map->address;
    bool row_outside = false;
    for (uint32_t i = 2; i < last; i++) { /* H, D */
        row_outside |= !inside_dim(map, i, r->coordinate[i]);
        fixed += (uint64_t)r->coordinate[i] * map->stride[i - 1];
    }
    for (uint64_t row = 0, rows = row_count(r); row < rows; row++) {
        int64_t at = x + r->offset[SHIFT];
        bool outside = row_outside || !inside_dim(map, last, n) || !inside_dim(map, 1, at);
        if (!emit(w, fixed + (uint64_t)n * map->stride[last - 1] + (uint64_t)at * map->stride[0], outside))
            return false;
        x += map->step[1];
        if (x > high) {
            x = map->lower[0];
            n++;
        }
    }
    return true;
}

/* The pixel that a row reads is (position + offset); positions go through the pixel box, step by step, from
 * the coordinate on, and from image to image. */
static bool walk_im2col(walk *w) {
    const vm_tensor_map *map = w->map;
    const vm_tensor_request *r = w->request;
    bool interleaved = map->interleave != VM_TENSOR_INTERLEAVE_NONE;
    uint32_t first = !interleaved, spatial = map->rank - 2, last = map->rank - 1;
    int64_t at[3], n = r->coordinate[last];
    for (uint32_t i = 0; i < spatial; i++)
        at[i] = r->coordinate[first + i];
    uint64_t fixed = map->address;
    bool channel_outside = false;
    if (interleaved) {
        int64_t slice = r->coordinate[map->rank - 2];
        channel_outside = !inside_dim(map, map->rank - 2, slice);
        fixed += (uint64_t)slice * map->stride[map->rank - 3];
    }
    for (uint32_t pixel = 0; pixel < map->pixels; pixel++) {
        bool outside = channel_outside || !inside_dim(map, last, n);
        uint64_t address = fixed + (uint64_t)n * map->stride[last - 1];
        for (uint32_t i = 0; i < spatial; i++) {
            int64_t c = at[i] + (r->form == VM_TENSOR_IM2COL_LOAD ? r->offset[i] : 0);
            outside |= !inside_dim(map, first + i, c);
            address += (uint64_t)c * (first + i ? map->stride[first + i - 1] : slice_bytes(map));
        }
        if (!emit(w, address, outside))
            return false;
        uint32_t i = 0;
        for (; i < spatial; i++) {
            at[i] += map->step[first + i];
            if (at[i] <= (int64_t)map->dim[first + i] - 1 + map->upper[i])
                break;
            at[i] = map->lower[i];
        }
        n += i == spatial;
    }
    return true;
}

bool vm_tensor_request_walk(const vm_tensor_request *request,
                            bool (*visit)(void *user, const vm_tensor_row *row), void *user) {
    walk w = {.request = request,
              .map = request->map,
              .shape = shape_of(request->map),
              .visit = visit,
              .user = user};
    shape_rows(&w);
    if (request->form == VM_TENSOR_GATHER4 || request->form == VM_TENSOR_SCATTER4)
        return walk_rows4(&w);
    return request->map->mode == VM_TENSOR_TILED   ? walk_tile(&w)
           : vm_tensor_is_wide(request->map->mode) ? walk_wide(&w)
                                                   : walk_im2col(&w);
}

/* ---- bytes of a row ---- */
/* Every 16-byte chunk of a row is whole: rows and shared addresses are multiples of 16. */
static void scatter(const vm_tensor_map *map, uint8_t *shared, uint32_t address, const uint8_t *from,
                    uint32_t bytes, uint32_t chunk) {
    if (map->swizzle == VM_TENSOR_SWIZZLE_NONE && chunk == 16) {
        memcpy(shared + address, from, bytes);
        return;
    }
    if (map->atom == VM_TENSOR_ATOM_32_FLIP_8) {
        for (uint32_t at = 0; at < bytes; at += 8)
            memcpy(shared + vm_tensor_swizzle_address(map->swizzle, map->atom, address + at), from + at, 8);
        return;
    }
    /* what the swizzle changes in an address is the same all over a line of 128 bytes */
    for (uint32_t at = 0, to = address; at < bytes;) {
        uint32_t line = to & ~127u, change = vm_tensor_swizzle_address(map->swizzle, map->atom, line) ^ line;
        if (chunk == 16 && to == line && bytes - at >= 128) {
            for (uint32_t k = 0; k < 128; k += 16)
                memcpy(shared + line + (k ^ change), from + at + k, 16);
            at += 128;
            to += 128;
            continue;
        }
        for (; at < bytes && to < line + 128; at += chunk, to += 16)
            memcpy(shared + (to ^ change), from + at, chunk);
    }
}

static void fill(vm_tensor_fill how, uint8_t *to, uint32_t bytes) {
    if (how == VM_TENSOR_FILL_ZERO)
        memset(to, 0, bytes);
    else /* measured: the half 0x7ff7 repeated, whatever the type */
        for (uint32_t i = 0; i < bytes; i += 2) {
            to[i] = 0xf7;
            to[i + 1] = 0x7f;
        }
}

/* Loads of the .tf32 types round. Measured: to nearest even, subnormals kept, NaN becomes 0x7fffe000; .ftz
 * changes nothing; stores change nothing. */
static bool converts(vm_tensor_type type) {
    return type == VM_TENSOR_TF32 || type == VM_TENSOR_TF32_FTZ;
}

static void convert(uint8_t *bytes, uint32_t size) {
    for (uint32_t i = 0; i < size; i += 4) {
        uint32_t value;
        memcpy(&value, bytes + i, 4);
        if ((value & 0x7fffffffu) > 0x7f800000u)
            value = 0x7fffe000u;
        else
            value = (value + 0xfffu + (value >> 13 & 1)) & ~0x1fffu;
        memcpy(bytes + i, &value, 4);
    }
}

void vm_tensor_row_load(const vm_tensor_map *map, uint8_t *shared, uint32_t address, const vm_tensor_row *row,
                        const uint8_t *from) {
    uint32_t chunk = map->type == VM_TENSOR_U4_ALIGN16 ? 8 : map->type == VM_TENSOR_U6_ALIGN16 ? 12 : 16;
    uint32_t bytes = row->before + row->inside + row->after;
    if (row->inside == bytes && !converts(map->type)) {
        scatter(map, shared, address + row->shared, from, bytes, chunk);
        return;
    }
    uint8_t whole[VM_TENSOR_ROW_BYTES];
    fill(map->fill, whole, row->before);
    if (row->inside) {
        memcpy(whole + row->before, from, row->inside);
        if (converts(map->type))
            convert(whole + row->before, row->inside);
    }
    fill(map->fill, whole + row->before + row->inside, row->after);
    scatter(map, shared, address + row->shared, whole, bytes, chunk);
}

void vm_tensor_row_store(const vm_tensor_map *map, const uint8_t *shared, uint32_t address,
                         const vm_tensor_row *row, uint8_t *to) {
    address += row->shared;
    if (map->type == VM_TENSOR_U6_ALIGN16) { /* bytes of 6 bits to a stream of bits; rows are whole */
        for (uint32_t at = 0, from = 0; at < row->inside; at += 3, from += 4) {
            uint8_t four[4];
            memcpy(four, shared + vm_tensor_swizzle_address(map->swizzle, map->atom, address + from), 4);
            uint32_t bits = (uint32_t)(four[0] & 63) | (uint32_t)(four[1] & 63) << 6 |
                            (uint32_t)(four[2] & 63) << 12 | (uint32_t)(four[3] & 63) << 18;
            for (uint32_t i = 0; i < 3; i++)
                to[at + i] = (uint8_t)(bits >> 8 * i);
        }
        return;
    }
    if (map->swizzle == VM_TENSOR_SWIZZLE_NONE) {
        memcpy(to, shared + address + row->before, row->inside);
        return;
    }
    for (uint32_t at = row->before, end = row->before + row->inside; at < end;) {
        if (map->atom != VM_TENSOR_ATOM_32_FLIP_8 && end - at >= 128 &&
            (address + at) % 128 == 0) { /* a line of 128 bytes */
            uint32_t line = address + at,
                     change = vm_tensor_swizzle_address(map->swizzle, map->atom, line) ^ line;
            for (uint32_t k = 0; k < 128; k += 16)
                memcpy(to + (at - row->before) + k, shared + line + (k ^ change), 16);
            at += 128;
            continue;
        }
        uint32_t next = (at & ~15u) + 16, size = (next < end ? next : end) - at;
        memcpy(to + (at - row->before),
               shared + vm_tensor_swizzle_address(map->swizzle, map->atom, address + at), size);
        at += size;
    }
}

/* ---- boxes ---- */
bool vm_tensor_request_box(const vm_tensor_request *r, vm_tensor_box *box) {
    const vm_tensor_map *map = r->map;
    bool as_it_is = !is_padded(map->type) && !(r->direction == VM_TENSOR_LOAD && converts(map->type)) &&
                    map->atom != VM_TENSOR_ATOM_32_FLIP_8;
    if (r->form != VM_TENSOR_TILE || map->mode != VM_TENSOR_TILED || r->direction == VM_TENSOR_REDUCE ||
        map->interleave != VM_TENSOR_INTERLEAVE_NONE || !as_it_is || map->rank > 2)
        return false;
    row_shape shape = shape_of(map);
    int64_t x = r->coordinate[0], y = map->rank == 2 ? r->coordinate[1] : 0;
    *box = (vm_tensor_box){.rows = map->rank == 2 ? tile_count(map, 1) : 1,
                           .bytes = shape.global,
                           .pitch = shape.pitch,
                           .global = map->address};
    if (x < 0 || x + map->box[0] > (int64_t)map->dim[0])
        return false;
    box->global += (uint64_t)x * vm_tensor_type_bits(map->type) / 8;
    if (map->rank == 2) {
        if (y < 0 || y + (int64_t)(box->rows - 1) * map->step[1] >= (int64_t)map->dim[1])
            return false;
        box->global += (uint64_t)y * map->stride[0];
        box->stride = map->stride[0] * map->step[1];
    }
    return true;
}

/* Under a swizzle a row is no longer than its span, so that it lies in one line of 128 bytes. */
#define EACH_CHUNK(copy)                                                                                     \
    if (box->bytes == 128)                                                                                   \
        for (uint32_t k = 0; k < 128; k += 16)                                                               \
            copy;                                                                                            \
    else                                                                                                     \
        for (uint32_t k = 0; k < box->bytes; k += 16)                                                        \
            copy;
void vm_tensor_box_load(const vm_tensor_map *map, const vm_tensor_box *box, uint8_t *shared, uint32_t address,
                        const uint8_t *host) {
    enum { ROWS_AHEAD = 6 }; /* their memory is asked for while others are copied */
    for (uint32_t row = 0; row < box->rows; row++, host += box->stride, address += box->pitch) {
        if (row + ROWS_AHEAD < box->rows)
            for (uint32_t k = 0; k < box->bytes; k += 64)
                __builtin_prefetch(host + ROWS_AHEAD * box->stride + k);
        if (map->swizzle == VM_TENSOR_SWIZZLE_NONE) {
            memcpy(shared + address, host, box->bytes);
            continue;
        }
        uint32_t change =
            vm_tensor_swizzle_address(map->swizzle, map->atom, address & ~127u) ^ (address & ~127u);
        EACH_CHUNK(memcpy(shared + ((address + k) ^ change), host + k, 16))
    }
}

void vm_tensor_box_store(const vm_tensor_map *map, const vm_tensor_box *box, const uint8_t *shared,
                         uint32_t address, uint8_t *host) {
    for (uint32_t row = 0; row < box->rows; row++, host += box->stride, address += box->pitch) {
        if (map->swizzle == VM_TENSOR_SWIZZLE_NONE) {
            memcpy(host, shared + address, box->bytes);
            continue;
        }
        uint32_t change =
            vm_tensor_swizzle_address(map->swizzle, map->atom, address & ~127u) ^ (address & ~127u);
        EACH_CHUNK(memcpy(host + k, shared + ((address + k) ^ change), 16))
    }
}
