/* SPDX-License-Identifier: Apache-2.0
 * Loads and stores of 32 lanes at once, when every address is inside one allocation and aligned. Anything
 * else answers false and changes nothing: vm_memory.c then does it lane by lane and reports. */
#include "vm/level/vm_quad.h"
#include "vm/level/vm_row.h"
#include "vm/vm_proxy.h"
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

typedef struct access_place {
    uint8_t *host;
    const vm_allocation *allocation;   /* of global memory */
    _Alignas(64) u32 offset[VM_LANES]; /* inactive lanes repeat an active one */
} access_place;

/* ---- moving data: T in memory, D in the register ---- */
#define GATHER(T, D)                                                                                         \
    static void gather_##T##_##D(void *dp, const uint8_t *host, const u32 *offset) {                         \
        D *d = dp;                                                                                           \
        for (unsigned l = 0; l < VM_LANES; l++) {                                                            \
            T value;                                                                                         \
            memcpy(&value, host + offset[l], sizeof value);                                                  \
            d[l] = (D)value;                                                                                 \
        }                                                                                                    \
    }
/* The lanes' elements side by side. */
#define STREAM(T, D)                                                                                         \
    static void stream_##T##_##D(void *restrict dp, const uint8_t *restrict host) {                          \
        D *d = dp;                                                                                           \
        for (unsigned l = 0; l < VM_LANES; l++) {                                                            \
            T value;                                                                                         \
            memcpy(&value, host + l * sizeof value, sizeof value);                                           \
            d[l] = (D)value;                                                                                 \
        }                                                                                                    \
    }
typedef uint8_t u8;
typedef int8_t s8;
typedef uint16_t u16;
typedef int16_t s16;
/* clang-format off */
GATHER(u8, u32) GATHER(s8, s32) GATHER(u8, u64) GATHER(s8, s64) GATHER(u16, u32) GATHER(s16, s32)
GATHER(u16, u64) GATHER(s16, s64) GATHER(u32, u32) GATHER(u32, u64) GATHER(s32, s64) GATHER(u64, u64)
STREAM(u8, u32) STREAM(s8, s32) STREAM(u16, u32) STREAM(s16, s32)
    /* clang-format on */

    static void gather(unsigned log2, bool sign, bool wide, void *d, const uint8_t *host, const u32 *offset) {
    switch (log2 << 2 | (unsigned)sign << 1 | (unsigned)wide) {
    case 0:
        gather_u8_u32(d, host, offset);
        break;
    case 1:
        gather_u8_u64(d, host, offset);
        break;
    case 2:
        gather_s8_s32(d, host, offset);
        break;
    case 3:
        gather_s8_s64(d, host, offset);
        break;
    case 4:
        gather_u16_u32(d, host, offset);
        break;
    case 5:
        gather_u16_u64(d, host, offset);
        break;
    case 6:
        gather_s16_s32(d, host, offset);
        break;
    case 7:
        gather_s16_s64(d, host, offset);
        break;
    case 9:
        gather_u32_u64(d, host, offset);
        break;
    case 11:
        gather_s32_s64(d, host, offset);
        break;
    case 8:
    case 10:
        gather_u32_u32(d, host, offset);
        break;
    case 16:
    case 17:
    case 18:
    case 19:
        gather_u64_u64(d, host, offset);
        gather_u64_u64((u64 *)d + VM_LANES, host + 8, offset);
        break;
    default:
        gather_u64_u64(d, host, offset);
    }
}
static bool stream(unsigned log2, bool sign, bool wide, void *d, const uint8_t *host) {
    switch (log2 << 2 | (unsigned)sign << 1 | (unsigned)wide) {
    case 0:
        stream_u8_u32(d, host);
        return true;
    case 2:
        stream_s8_s32(d, host);
        return true;
    case 4:
        stream_u16_u32(d, host);
        return true;
    case 6:
        stream_s16_s32(d, host);
        return true;
    case 8:
    case 10:
        memcpy(d, host, 4 * VM_LANES);
        return true;
    case 12:
    case 13:
    case 14:
    case 15:
        memcpy(d, host, 8 * VM_LANES);
        return true;
    default:
        return false;
    }
}

/* D in the register, T in memory: lanes one by one, and side by side. */
#define SCATTER(T, D)                                                                                        \
    static void scatter_##T##_##D(const void *dp, uint8_t *host, const u32 *offset, u32 mask) {              \
        const D *d = dp;                                                                                     \
        if (mask == VM_ALL_LANES)                                                                            \
            for (unsigned l = 0; l < VM_LANES; l++) {                                                        \
                T value = (T)d[l];                                                                           \
                memcpy(host + offset[l], &value, sizeof value);                                              \
            }                                                                                                \
        else                                                                                                 \
            VM_FOR_LANES(l, mask) {                                                                          \
                T value = (T)d[l];                                                                           \
                memcpy(host + offset[l], &value, sizeof value);                                              \
            }                                                                                                \
    }
#define PACK(T, D)                                                                                           \
    static void pack_##T##_##D(const void *restrict dp, uint8_t *restrict host) {                            \
        const D *d = dp;                                                                                     \
        for (unsigned l = 0; l < VM_LANES; l++) {                                                            \
            T value = (T)d[l];                                                                               \
            memcpy(host + l * sizeof value, &value, sizeof value);                                           \
        }                                                                                                    \
    }
/* clang-format off */
SCATTER(u8, u32) SCATTER(u8, u64) SCATTER(u16, u32) SCATTER(u16, u64) SCATTER(u32, u32) SCATTER(u32, u64)
SCATTER(u64, u64) PACK(u8, u32) PACK(u16, u32)
    /* clang-format on */

    static void scatter(unsigned log2, bool wide, const void *d, uint8_t *host, const u32 *offset, u32 mask) {
    switch (log2 << 1 | (unsigned)wide) {
    case 0:
        scatter_u8_u32(d, host, offset, mask);
        break;
    case 1:
        scatter_u8_u64(d, host, offset, mask);
        break;
    case 2:
        scatter_u16_u32(d, host, offset, mask);
        break;
    case 3:
        scatter_u16_u64(d, host, offset, mask);
        break;
    case 4:
        scatter_u32_u32(d, host, offset, mask);
        break;
    case 5:
        scatter_u32_u64(d, host, offset, mask);
        break;
    case 8:
    case 9:
        scatter_u64_u64((const u64 *)d + VM_LANES, host + 8, offset, mask);
        scatter_u64_u64(d, host, offset, mask);
        break;
    default:
        scatter_u64_u64(d, host, offset, mask);
    }
}
/* All lanes side by side. False: not this way. */
static bool pack(unsigned log2, bool wide, const void *d, uint8_t *host) {
    switch (log2 << 1 | (unsigned)wide) {
    case 0:
        pack_u8_u32(d, host);
        return true;
    case 2:
        pack_u16_u32(d, host);
        return true;
    case 4:
        memcpy(host, d, 4 * VM_LANES);
        return true;
    case 6:
    case 7:
        memcpy(host, d, 8 * VM_LANES);
        return true;
    default:
        return false;
    }
}

/* ---- places ---- */
/* Offsets from 32-bit addresses in one flat space of `limit` bytes. */
static bool place_32(const vm_warp *w, const vm_op *op, u32 mask, const u32 *m, u32 bytes, u32 limit,
                     u32 window, access_place *place) {
    if (bytes > limit)
        return false;
    u32 last = limit - bytes, add = (u32)op->imm, bad = 0;
    if (VM_ACCESS_FORM(op->sub) == VM_ADDRESS_FIXED) {
        VM_LOOP {
            place->offset[l] = add;
        }
        return op->imm <= last && (add & (bytes - 1)) == 0;
    }
    add -= window; /* of shared memory in a cluster */
    const u32 *a = vm_operand(w, op->a);
    u32 spare = a[vm_first_lane(mask)] + add;
    if (m == NULL) {
        VM_LOOP {
            u32 x = a[l] + add;
            place->offset[l] = x;
            bad |= (u32)(x > last) | (x & (bytes - 1));
        }
    } else {
        VM_LOOP {
            u32 x = a[l] + add;
            x = m[l] ? x : spare;
            place->offset[l] = x;
            bad |= (u32)(x > last) | (x & (bytes - 1));
        }
    }
    return bad == 0;
}
/* 64-bit addresses of all lanes. */
static void addresses(const vm_warp *w, const vm_op *op, u32 mask, const u32 *m, u64 *out) {
    u64 add = op->imm;
    switch (VM_ACCESS_FORM(op->sub)) {
    case VM_ADDRESS_FIXED:
        VM_LOOP {
            out[l] = add;
        }
        return;
    case VM_ADDRESS_INDEXED: {
        const u64 *a = vm_operand(w, op->a);
        unsigned shift = op->c >> 1;
        if (op->c & 1) {
            const s32 *b = vm_operand(w, op->b);
            VM_LOOP {
                out[l] = a[l] + ((u64)(s64)b[l] << shift) + add;
            }
        } else {
            const u32 *b = vm_operand(w, op->b);
            VM_LOOP {
                out[l] = a[l] + ((u64)b[l] << shift) + add;
            }
        }
        break;
    }
    case VM_ADDRESS_64: {
        const u64 *a = vm_operand(w, op->a);
        VM_LOOP {
            out[l] = a[l] + add;
        }
        break;
    }
    default: {
        const u32 *a = vm_operand(w, op->a);
        VM_LOOP {
            out[l] = (u32)(a[l] + (u32)add);
        }
    }
    }
    if (m != NULL) {
        u64 spare = out[vm_first_lane(mask)];
        VM_LOOP {
            u64 x = out[l];
            out[l] = m[l] ? x : spare;
        }
    }
}
/* Does an asynchronous operation use what the lanes access? Then vm_memory.c looks closer. */
static bool in_flight(const vm_cta *cta, u32 base, const u32 *offset, u32 bytes) {
    if (cta->flights == 0)
        return false;
    u32 any = 0;
    for (unsigned l = 0; l < VM_LANES; l++)
        any |= (u32)cta->flight[(base + offset[l]) / VM_FLIGHT_GRANULE] |
               (u32)cta->flight[(base + offset[l] + bytes - 1) / VM_FLIGHT_GRANULE];
    return any != 0;
}

/* Is data stored where a live mbarrier may be? Then vm_memory.c looks closer. */
static bool guarded(const vm_cta *cta, u32 base, const u32 *offset, u32 bytes) {
    if (cta->guards == 0)
        return false;
    u32 any = 0;
    for (unsigned l = 0; l < VM_LANES; l++)
        any |= (u32)cta->guard[(base + offset[l]) / VM_FLIGHT_GRANULE] |
               (u32)cta->guard[(base + offset[l] + bytes - 1) / VM_FLIGHT_GRANULE];
    return any != 0;
}

static bool place_64(vm_warp *w, const vm_op *op, u32 mask, const u32 *m, u32 bytes, u32 align, bool store,
                     access_place *place, bool *contiguous) {
    _Alignas(64) u64 address[VM_LANES];
    addresses(w, op, mask, m, address);
    u64 first = address[0], different = 0;
    VM_LOOP {
        different |= address[l] ^ (first + (u64)l * bytes);
    }
    u64 low = first, high = first + 31u * (u64)bytes, unaligned = first;
    *contiguous = different == 0;
    if (different) {
        low = UINT64_MAX;
        high = unaligned = 0;
        VM_LOOP {
            u64 x = address[l];
            low = x < low ? x : low;
            high = x > high ? x : high;
            unaligned |= x;
        }
    }
    if (unaligned & (align - 1) || high - low > UINT32_MAX - 64)
        return false;
    vm_space space = VM_ACCESS_SPACE(op->sub);
    vm_cta *cta = w->cta;
    u64 begin, end;
    bool in_shared = false;
    if (space == VM_GLOBAL || (space == VM_GENERIC && low >= VM_GLOBAL_BASE)) {
        const vm_allocation *allocation = allocation_of(cta, low);
        if (allocation == NULL)
            return false;
        if (store && allocation->read_only)
            return false;
        begin = allocation->begin;
        end = allocation->end;
        place->allocation = allocation;
        place->host = allocation->host + (low - begin);
    } else {
        u64 window = 0;
        if (space == VM_SHARED || (space == VM_GENERIC && low >> VM_WINDOW_BITS == 1)) {
            window = (space == VM_GENERIC ? VM_SHARED_BASE : 0) + cta->window;
            end = cta->shared_bytes;
            place->host = cta->shared;
            in_shared = true;
        } else if (space == VM_CONST && !store) {
            end = cta->run->program->const_bytes;
            place->host = cta->run->const_bank;
        } else if (space == VM_PARAM && !store) {
            end = cta->run->parameter_bytes;
            place->host = cta->run->parameters;
        } else {
            return false;
        }
        begin = window;
        end += window;
        if (low < begin || low >= end)
            return false;
        place->host += low - begin;
    }
    if (end - high < bytes || high >= end)
        return false;
    VM_LOOP {
        place->offset[l] = (u32)(address[l] - low);
    }
    return !(in_shared && (in_flight(cta, (u32)(low - begin), place->offset, bytes) ||
                           (store && guarded(cta, (u32)(low - begin), place->offset, bytes))));
}

/* ---- local memory: word k of lane l at k * 128 + l * 4 ---- */
static bool local_access(vm_warp *w, const vm_op *op, u32 mask, const u32 *m, bool store) {
    const vm_frame *frame = w->splits[w->current].frame;
    unsigned log2 = VM_ACCESS_LOG2(op->sub), count = VM_ACCESS_COUNT(op->sub);
    if (log2 < 2 || log2 > 3 || (log2 == 2 && VM_ACCESS_WIDE(op->sub)))
        return false;
    access_place place;
    u32 top = frame->local + frame->function->local_bytes + frame->stack, bytes = count << log2;
    vm_op shifted = *op;
    if (VM_ACCESS_SPACE(op->sub) == VM_FRAME) {
        shifted.imm += frame->local;
        if (VM_ACCESS_FORM(op->sub) != VM_ADDRESS_FIXED)
            return false;
    } else if (VM_ACCESS_FORM(op->sub) == VM_ADDRESS_64) {
        const u64 *a = vm_operand(w, op->a);
        u64 high = 0;
        _Alignas(64) u32 low[VM_LANES];
        VM_LOOP {
            high |= m && !m[l] ? 0 : a[l] >> 32;
            low[l] = (u32)a[l];
        }
        if (high || bytes > top)
            return false;
        u32 add = (u32)op->imm, last = top - bytes, bad = 0;
        VM_LOOP {
            u32 x = low[l] + add;
            x = m && !m[l] ? 0 : x;
            place.offset[l] = x;
            bad |= (u32)(x > last) | (x & (bytes - 1));
        }
        if (bad)
            return false;
        goto placed;
    } else if (VM_ACCESS_FORM(op->sub) == VM_ADDRESS_INDEXED) {
        return false;
    }
    if (!place_32(w, &shifted, mask, m, bytes, top, 0, &place))
        return false;
placed:;
    u32 *words = (u32 *)w->local;
    const uint32_t *list = count > 1 ? w->cta->run->program->extras.items + op->x + 1 : &op->d;
    for (unsigned k = 0; k < count; k++) {
        if (list[k] == VM_REF_NONE)
            continue;
        void *d = vm_operand(w, list[k]);
        VM_FOR_LANES(l, mask) {
            u32 *word = words + (size_t)((place.offset[l] + (k << log2)) >> 2) * VM_LANES + l;
            if (log2 == 2) {
                if (store)
                    *word = ((u32 *)d)[l];
                else
                    ((u32 *)d)[l] = *word;
            } else if (store) {
                word[0] = (u32)((u64 *)d)[l];
                word[VM_LANES] = (u32)(((u64 *)d)[l] >> 32);
            } else {
                ((u64 *)d)[l] = word[0] | (u64)word[VM_LANES] << 32;
            }
        }
    }
    return true;
}

/* ---- short ways for whole warps ---- */
/* Every address of a row, plus add, is a multiple of align and at most limit? */
static inline bool inside(const u32 *a, u32 add, u32 align, u32 limit) {
#if VM_LEVEL == 4
    __m512i x = _mm512_loadu_si512(a), y = _mm512_loadu_si512(a + 16), most = _mm512_set1_epi32((int)limit);
    __m512i low = _mm512_set1_epi32((int)(align - 1)), more = _mm512_set1_epi32((int)add);
    u32 bad =
        (u32)_mm512_cmpgt_epu32_mask(x, most) | _mm512_cmpgt_epu32_mask(y, most) |
        _mm512_test_epi32_mask(_mm512_or_si512(_mm512_add_epi32(x, more), _mm512_add_epi32(y, more)), low);
    return bad == 0;
#else
    u32 bad = 0;
    VM_LOOP {
        bad |= (u32)(a[l] > limit) | ((a[l] + add) & (align - 1));
    }
    return bad == 0;
#endif
}
/* Shared memory by 32-bit addresses: host is set so that the row itself holds the offsets. */
static inline const u32 *shared_row(const vm_warp *w, const vm_op *op, u32 bytes, u32 align, uint8_t **host) {
    const u32 *a = vm_operand(w, op->a);
    u32 size = w->cta->shared_bytes, add = (u32)op->imm;
    if ((op->sub & (7 | VM_ACCESS_FORM_MASK)) != (VM_SHARED | VM_ADDRESS_32 << VM_ACCESS_FORM_SHIFT) ||
        bytes > size || add > size - bytes || w->cta->flights || !inside(a, add, align, size - bytes - add))
        return NULL;
    *host = w->cta->shared + add;
    return a;
}
/* Loads of adjacent 32-bit elements that vm_merge.c put side by side: op[0] .. op[count - 1]. */
bool VM_NAME(vm_load_group)(vm_warp *w, const vm_op *op, unsigned count) {
    access_place place;
    bool contiguous;
    const u32 *offset = shared_row(w, op, 4 * count, 4, &place.host);
    if (offset == NULL) {
        if (!place_64(w, op, VM_ALL_LANES, NULL, 4 * count, 4, false, &place, &contiguous))
            return false;
        offset = place.offset;
    }
    if (count == 4) {
        gather_quad(vm_operand(w, op[0].d), vm_operand(w, op[1].d), vm_operand(w, op[2].d),
                    vm_operand(w, op[3].d), place.host, offset);
        return true;
    }
    u32 *d0 = vm_operand(w, op[0].d), *d1 = vm_operand(w, op[1].d);
    for (unsigned l = 0; l < VM_LANES; l++) {
        memcpy(d0 + l, place.host + offset[l], 4);
        memcpy(d1 + l, place.host + offset[l] + 4, 4);
    }
    return true;
}

/* ---- the two entries ---- */
static bool find_place(vm_warp *w, const vm_op *op, u32 mask, const u32 *m, bool store, access_place *place,
                       bool *contiguous) {
    u32 bytes = VM_ACCESS_COUNT(op->sub) << VM_ACCESS_LOG2(op->sub);
    vm_address_form form = VM_ACCESS_FORM(op->sub);
    *contiguous = false;
    if (VM_ACCESS_SPACE(op->sub) == VM_SHARED && (form == VM_ADDRESS_32 || form == VM_ADDRESS_FIXED)) {
        place->host = w->cta->shared;
        if (!place_32(w, op, mask, m, bytes, w->cta->shared_bytes, w->cta->window, place) ||
            in_flight(w->cta, 0, place->offset, bytes) || (store && guarded(w->cta, 0, place->offset, bytes)))
            return false;
        u32 different = 0, first = place->offset[0];
        VM_LOOP {
            different |= place->offset[l] ^ (first + l * bytes);
        }
        *contiguous = different == 0;
        return true;
    }
    return place_64(w, op, mask, m, bytes, bytes, store, place, contiguous);
}

static __attribute__((noinline)) bool load_any(vm_warp *w, const vm_op *op, u32 mask, const u32 *m) {
    vm_space space = VM_ACCESS_SPACE(op->sub);
    if (space == VM_FRAME || space == VM_LOCAL)
        return local_access(w, op, mask, m, false);
    access_place place;
    bool contiguous;
    unsigned log2 = VM_ACCESS_LOG2(op->sub), count = VM_ACCESS_COUNT(op->sub);
    if (!find_place(w, op, mask, m, false, &place, &contiguous))
        return false;
    if (contiguous && space == VM_GLOBAL)
        fetch_ahead(place.host + place.offset[0], VM_LANES << log2);
    bool sign = VM_ACCESS_SIGNED(op->sub), wide = VM_ACCESS_WIDE(op->sub);
    const uint32_t *list = count > 1 ? w->cta->run->program->extras.items + op->x + 1 : &op->d;
    _Alignas(64) u32 loaded[4 * VM_LANES];
    if (count == 4 && log2 == 2 && !wide && m == NULL && list[0] != VM_REF_NONE && list[1] != VM_REF_NONE &&
        list[2] != VM_REF_NONE && list[3] != VM_REF_NONE) {
        gather_quad(vm_operand(w, list[0]), vm_operand(w, list[1]), vm_operand(w, list[2]),
                    vm_operand(w, list[3]), place.host, place.offset);
        return true;
    }
    for (unsigned k = 0; k < count; k++) {
        if (list[k] == VM_REF_NONE)
            continue;
        void *d = m == NULL ? vm_operand(w, list[k]) : (void *)loaded;
        if (!contiguous || count != 1 || !stream(log2, sign, wide, d, place.host + place.offset[0]))
            gather(log2, sign, wide, d, place.host + (k << log2), place.offset);
        if (m == NULL)
            continue;
        d = vm_operand(w, list[k]);
        if (wide || log2 >= 3) {
            u64 *to = d;
            const u64 *from = (const u64 *)loaded;
            for (unsigned part = 0; part <= (log2 == 4); part++, to += VM_LANES, from += VM_LANES)
                VM_LOOP {
                    u64 value = from[l], old = to[l];
                    to[l] = m[l] ? value : old;
                }
        } else {
            u32 *to = d;
            VM_LOOP {
                u32 value = loaded[l], old = to[l];
                to[l] = m[l] ? value : old;
            }
        }
    }
    return true;
}

static __attribute__((noinline)) bool store_any(vm_warp *w, const vm_op *op, u32 mask, const u32 *m) {
    vm_space space = VM_ACCESS_SPACE(op->sub);
    if (space == VM_FRAME || space == VM_LOCAL)
        return local_access(w, op, mask, m, true);
    access_place place;
    bool contiguous;
    unsigned log2 = VM_ACCESS_LOG2(op->sub), count = VM_ACCESS_COUNT(op->sub);
    bool wide = VM_ACCESS_WIDE(op->sub);
    w->cta->writes++;
    if (!find_place(w, op, mask, m, true, &place, &contiguous))
        return false;
    if (w->cta->proxy != NULL && place.host == w->cta->shared && count << log2 <= VM_PROXY_GRANULE)
        vm_proxy_write_lanes(w, place.offset, mask);
    else if (w->cta->proxy != NULL)
        VM_FOR_LANES(lane, mask) {
            vm_proxy_write_at(w, place.host + place.offset[lane], count << log2);
        }
    if (count == 1) {
        const void *d = vm_operand(w, op->d);
        bool row = contiguous && m == NULL && mask == VM_ALL_LANES;
        if (row && log2 == 2 && !wide && space == VM_GLOBAL)
            put_row(place.allocation, place.host + place.offset[0], d);
        else if (!row || !pack(log2, wide, d, place.host + place.offset[0]))
            scatter(log2, wide, d, place.host, place.offset, mask);
        return true;
    }
    const uint32_t *list = w->cta->run->program->extras.items + op->x + 1;
    if (count == 4 && log2 == 2 && !wide && mask == VM_ALL_LANES) {
        scatter_quad(vm_operand(w, list[0]), vm_operand(w, list[1]), vm_operand(w, list[2]),
                     vm_operand(w, list[3]), place.host, place.offset);
        return true;
    }
    for (unsigned k = 0; k < count; k++)
        scatter(log2, wide, vm_operand(w, list[k]), place.host + (k << log2), place.offset, mask);
    return true;
}

/* `count` 32-bit elements a lane, whatever their sign and polling. */
static inline bool is_shared(const vm_op *op, unsigned count) {
    return (op->sub & ~(1u << 9 | 1u << 13)) == VM_ACCESS(VM_SHARED, 2, count, 0, 0, VM_ADDRESS_32, 0);
}

bool VM_NAME(vm_load)(vm_warp *w, const vm_op *op, u32 mask, const u32 *m) {
    if (m == NULL && is_shared(op, 1)) {
        uint8_t *host;
        const u32 *offset = shared_row(w, op, 4, 4, &host);
        if (offset != NULL) {
            gather_u32_u32(vm_operand(w, op->d), host, offset);
            return true;
        }
    } else if (m == NULL && is_shared(op, 4)) {
        const uint32_t *list = w->cta->run->program->extras.items + op->x + 1;
        uint8_t *host;
        const u32 *offset = shared_row(w, op, 16, 16, &host);
        if (offset != NULL && list[0] != VM_REF_NONE && list[1] != VM_REF_NONE && list[2] != VM_REF_NONE &&
            list[3] != VM_REF_NONE) {
            gather_quad(vm_operand(w, list[0]), vm_operand(w, list[1]), vm_operand(w, list[2]),
                        vm_operand(w, list[3]), host, offset);
            return true;
        }
    }
    return load_any(w, op, mask, m);
}

bool VM_NAME(vm_store)(vm_warp *w, const vm_op *op, u32 mask, const u32 *m) {
    if (m == NULL && w->cta->proxy == NULL && w->cta->guards == 0 && is_shared(op, 1)) {
        uint8_t *host;
        const u32 *offset = shared_row(w, op, 4, 4, &host), *from = vm_operand(w, op->d);
        if (offset != NULL) {
            w->cta->writes++;
            if (offset[31] == offset[0] + 31 * 4 && counts_up(offset, 2))
                memcpy(host + offset[0], from, 4 * VM_LANES);
            else
                for (unsigned l = 0; l < VM_LANES; l++)
                    memcpy(host + offset[l], from + l, 4);
            return true;
        }
    }
    return store_any(w, op, mask, m);
}
