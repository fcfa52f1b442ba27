/* SPDX-License-Identifier: Apache-2.0
 * atom and red, lane by lane in lane order. Reductions of integers in global memory from several workers use
 * the processor's atomics; whatever could show an order runs in one interleaving (vm_run.c). PTX
 * ISA 9.7.13.5, 9.7.13.6. */
#include "vm/vm_internal.h"
#include "vm/vm_atomic.h"
#include "vm/vm_race.h"
#include "vm/vm_copy.h"

static float f32_of(uint64_t bits) {
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, 4);
    return value;
}
static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return value != value ? 0x7fffffffu : bits;
}

static uint32_t half_combine(uint32_t x, uint32_t y, vm_atomic_operation operation, bool bf16) {
    float a = bf16 ? num_bf16_to_f32((uint16_t)x) : num_f16_to_f32((uint16_t)x);
    float b = bf16 ? num_bf16_to_f32((uint16_t)y) : num_f16_to_f32((uint16_t)y);
    float r = a + b;
    if (operation != VM_ATOMIC_ADD) {
        if (a != a || b != b)
            r = a != a ? b : a;
        else if (a == b) /* the zeros: -0 is below +0 */
            return operation == VM_ATOMIC_MIN ? x | y : x & y;
        else
            r = (a < b) == (operation == VM_ATOMIC_MIN) ? a : b;
    }
    return bf16 ? num_f32_to_bf16(r) : num_f32_to_f16(r);
}

static uint64_t float_combine(uint64_t old, uint64_t b, vm_atomic_operation operation, ptx_type type,
                              bool global) {
    switch (type) {
    case PTX_TYPE_F64: {
        double x, y;
        memcpy(&x, &old, 8);
        memcpy(&y, &b, 8);
        /* NaN of an H200: global memory keeps it as it is, the operand's first; shared memory is added to by
         * instructions, which make it quiet, and there the old value counts first */
        if (x != x || y != y)
            return global ? (y != y ? b : old) : (x != x ? old : b) | (uint64_t)1 << 51;
        x += y;
        if (x != x)
            return (uint64_t)0xfff8 << 48;
        memcpy(&old, &x, 8);
        return old;
    }
    case PTX_TYPE_F16:
    case PTX_TYPE_BF16:
        return half_combine((uint32_t)old & 0xffff, (uint32_t)b & 0xffff, operation, type == PTX_TYPE_BF16);
    case PTX_TYPE_F16X2:
    case PTX_TYPE_BF16X2: {
        bool bf16 = type == PTX_TYPE_BF16X2;
        uint32_t low = half_combine((uint32_t)old & 0xffff, (uint32_t)b & 0xffff, operation, bf16);
        uint32_t high =
            half_combine((uint32_t)(old >> 16) & 0xffff, (uint32_t)(b >> 16) & 0xffff, operation, bf16);
        return low | high << 16;
    }
    default:
        break;
    }
    /* atom.add.f32 flushes subnormals in global memory, not in shared memory */
    uint32_t x = (uint32_t)old, y = (uint32_t)b;
    if (global) {
        x = x & 0x7f800000u ? x : x & 0x80000000u;
        y = y & 0x7f800000u ? y : y & 0x80000000u;
    }
    uint32_t r = bits_of(f32_of(x) + f32_of(y));
    return global && !(r & 0x7f800000u) ? r & 0x80000000u : r;
}

uint64_t vm_atomic_combine(uint64_t old, uint64_t b, uint64_t c, vm_atomic_operation operation, ptx_type type,
                           bool ftz) {
    unsigned bits = ptx_type_bits(type);
    bool sign = type == PTX_TYPE_S32 || type == PTX_TYPE_S64 || type == PTX_TYPE_S16;
    uint64_t mask = bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    if (type == PTX_TYPE_F32 || type == PTX_TYPE_F64 || type == PTX_TYPE_F16 || type == PTX_TYPE_BF16 ||
        type == PTX_TYPE_F16X2 || type == PTX_TYPE_BF16X2)
        if (operation == VM_ATOMIC_ADD || operation == VM_ATOMIC_MIN || operation == VM_ATOMIC_MAX)
            return float_combine(old, b, operation, type, ftz);
    b &= mask;
    c &= mask;
    int64_t so = bits == 64 ? (int64_t)old : (int64_t)(int32_t)old,
            sb = bits == 64 ? (int64_t)b : (int64_t)(int32_t)b;
    switch (operation) {
    case VM_ATOMIC_ADD:
        return (old + b) & mask;
    case VM_ATOMIC_AND:
        return old & b;
    case VM_ATOMIC_OR:
        return old | b;
    case VM_ATOMIC_XOR:
        return old ^ b;
    case VM_ATOMIC_EXCHANGE:
        return b;
    case VM_ATOMIC_COMPARE:
        return old == b ? c : old;
    case VM_ATOMIC_MIN:
        return (sign ? so < sb : old < b) ? old : b;
    case VM_ATOMIC_MAX:
        return (sign ? so > sb : old > b) ? old : b;
    case VM_ATOMIC_INC:
        return old >= b ? 0 : old + 1;
    default:
        return old == 0 || old > b ? b : old - 1;
    }
}

/* One element; concurrent: other workers may touch it too. */
static uint64_t apply(uint8_t *host, unsigned size, bool concurrent, uint64_t b, uint64_t c,
                      vm_atomic_operation operation, ptx_type type, bool ftz, vm_grid *run) {
    uint64_t old = 0;
    if (concurrent && size == 4 && ((uintptr_t)host & 3) == 0) {
        uint32_t *word = (uint32_t *)(void *)host, expected = __atomic_load_n(word, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(word, &expected,
                                            (uint32_t)vm_atomic_combine(expected, b, c, operation, type, ftz),
                                            true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            ;
        return expected;
    }
    if (concurrent && size == 8 && ((uintptr_t)host & 7) == 0) {
        uint64_t *word = (uint64_t *)(void *)host, expected = __atomic_load_n(word, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(word, &expected,
                                            vm_atomic_combine(expected, b, c, operation, type, ftz), true,
                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            ;
        return expected;
    }
    if (concurrent)
        pthread_mutex_lock(&run->atomic_lock);
    memcpy(&old, host, size);
    uint64_t value = vm_atomic_combine(old, b, c, operation, type, ftz);
    memcpy(host, &value, size);
    if (concurrent)
        pthread_mutex_unlock(&run->atomic_lock);
    return old;
}

void vm_atomic_reduce(vm_grid *run, uint8_t *to, const uint8_t *from, uint32_t bytes,
                      vm_atomic_operation operation, ptx_type type, bool shared, bool flush) {
    unsigned size = ptx_type_bits(type) / 8;
    for (uint32_t i = 0; i + size <= bytes; i += size) {
        uint64_t b = 0;
        memcpy(&b, from + i, size);
        apply(to + i, size, !shared && !run->serial, b, 0, operation, type, flush, run);
    }
}

static void apply_wide(vm_warp *warp, const uint32_t *list, unsigned lane, uint8_t *host,
                       vm_atomic_operation operation) {
    uint64_t old[2], b[2], c[2];
    memcpy(old, host, 16);
    const uint64_t *source = vm_operand(warp, list[1]);
    b[0] = source[lane];
    b[1] = source[VM_LANES + lane];
    if (operation == VM_ATOMIC_COMPARE) {
        const uint64_t *value = vm_operand(warp, list[2]);
        c[0] = value[lane];
        c[1] = value[VM_LANES + lane];
        if (old[0] == b[0] && old[1] == b[1])
            memcpy(host, c, 16);
    } else {
        memcpy(host, b, 16);
    }
    if (list[0] != VM_REF_NONE) {
        uint64_t *d = vm_operand(warp, list[0]);
        d[lane] = old[0];
        d[VM_LANES + lane] = old[1];
    }
}

static uint64_t source_value(const vm_warp *warp, uint32_t ref, unsigned lane, unsigned size) {
    if (ref == VM_REF_NONE)
        return 0;
    return size == 8 ? vm_operand64(warp, ref, lane) : vm_operand32(warp, ref, lane);
}

/* An atomic operation is a strong read and write: what fences before others' passed to the place goes on. */
static void touch(vm_warp *warp, uint32_t pc, unsigned lane, vm_space space, uint64_t address,
                  uint32_t bytes) {
    bool shared = space == VM_SHARED || address >> VM_WINDOW_BITS == VM_SHARED_BASE >> VM_WINDOW_BITS;
    vm_race_touch_at(warp, pc, lane, space, address, bytes, VM_RACE_READ | VM_RACE_WRITE | VM_RACE_STRONG);
    vm_race_location(warp, lane, shared ? vm_race_key(warp, space, address) : VM_RACE_GLOBAL, true, true);
}

/* extras: per element d (or none), b, c (or none). */
vm_action vm_external_ATOM(vm_warp *warp, const vm_op *op, uint32_t mask) {
    vm_grid *run = warp->cta->run;
    vm_warp_released(warp);
    vm_warp_acquired(warp);
    const uint32_t *list = run->program->extras.items + op->x + 1;
    vm_op access = *op;
    access.sub = (uint16_t)(op->imm >> 32);
    access.imm = (uint64_t)(int64_t)(int32_t)op->imm;
    vm_atomic_operation operation = VM_ATOMIC_OPERATION(op->imm);
    ptx_type type = VM_ATOMIC_TYPE(op->imm);
    unsigned size = 1u << VM_ACCESS_LOG2(access.sub), count = VM_ACCESS_COUNT(access.sub);
    vm_space space = VM_ACCESS_SPACE(access.sub);
    uint32_t pc = warp->splits[warp->current].pc;
    VM_FOR_LANES(lane, mask) {
        uint64_t address = vm_memory_address(warp, &access, lane);
        bool shared = space == VM_SHARED || (space == VM_GENERIC && address >> VM_WINDOW_BITS == 1);
        uint8_t *host = vm_memory_host(warp, pc, lane, space, address, (uint64_t)size * count, true);
        if (host == NULL)
            continue;
        if (warp->cta->race != NULL)
            touch(warp, pc, lane, space, address, size * count);
        for (unsigned k = 0; k < count; k++) {
            const uint32_t *element = list + 3 * k;
            if (size == 16) {
                apply_wide(warp, element, lane, host, operation);
                continue;
            }
            uint64_t b = source_value(warp, element[1], lane, size),
                     c = source_value(warp, element[2], lane, size);
            uint64_t old =
                apply(host + k * size, size, !shared && !run->serial, b, c, operation, type, !shared, run);
            if (element[0] == VM_REF_NONE)
                continue;
            if (size == 8)
                ((uint64_t *)vm_operand(warp, element[0]))[lane] = old;
            else
                ((uint32_t *)vm_operand(warp, element[0]))[lane] = (uint32_t)old;
            if (operation == VM_ATOMIC_COMPARE &&
                old != (size == 8 ? b : b & (size == 4 ? UINT32_MAX : 0xffff)))
                warp->cta->writes--; /* nothing changed: a waiting loop makes no progress */
        }
        warp->cta->writes++;
    }
    return warp->cta->status == VM_COMPLETE ? VM_GO : VM_HALT;
}
