/* SPDX-License-Identifier: Apache-2.0
 * Lane functions on integers and predicates. Knows no instructions; vm_decode.c composes these.
 * PTX ISA 9.7.1 (integer), 9.7.2 (extended precision), 9.7.6 (comparison), 9.7.8 (logic and shift). */
#include "vm/level/vm_level.h"

#define X(name, TD, TA, expression) VM_DEFINE1(name, TD, TA, expression)
VM_HOT1(X)
#undef X
#define X(name, TD, TA, TB, expression) VM_DEFINE2(name, TD, TA, TB, expression)
VM_HOT2(X)
#undef X
#define X(name, TD, TA, TB, TC, expression) VM_DEFINE3(name, TD, TA, TB, TC, expression)
VM_HOT3(X)
#undef X
#define X(name, T, op)                                                                                       \
    void VM_NAME(vm_lane_##name)(VM_LANE_ARGUMENTS) {                                                        \
        (void)cp, (void)imm;                                                                                 \
        *(u32 *)dp = compare_##name(ap, bp);                                                                 \
    }
VM_HOT_COMPARE(X)
#undef X

void VM_NAME(vm_lane_MOV128)(VM_LANE_ARGUMENTS) {
    (void)bp, (void)cp, (void)imm;
    memmove(dp, ap, 4 * VM_ROW_BYTES);
}
void VM_NAME(vm_lane_SELP32)(VM_LANE_ARGUMENTS) {
    (void)imm;
    hot_SELP32(dp, ap, bp, *(const u32 *)cp);
}
void VM_NAME(vm_lane_SELP64)(VM_LANE_ARGUMENTS) {
    u64 *d = dp;
    const u64 *ax = ap, *bx = bp;
    u32 p = *(const u32 *)cp;
    (void)imm;
    VM_LOOP {
        u64 x = ax[l], y = bx[l];
        d[l] = p >> l & 1 ? x : y;
    }
}
void VM_NAME(vm_lane_PACK128)(VM_LANE_ARGUMENTS) {
    (void)cp, (void)imm;
    u64 low[VM_LANES], high[VM_LANES];
    memcpy(low, ap, sizeof low);
    memcpy(high, bp, sizeof high);
    memcpy(dp, low, sizeof low);
    memcpy((u64 *)dp + VM_LANES, high, sizeof high);
}
void VM_NAME(vm_lane_LO128)(VM_LANE_ARGUMENTS) {
    (void)bp, (void)cp, (void)imm;
    memmove(dp, ap, 2 * VM_ROW_BYTES);
}
void VM_NAME(vm_lane_HI128)(VM_LANE_ARGUMENTS) {
    (void)bp, (void)cp, (void)imm;
    memmove(dp, (const u64 *)ap + VM_LANES, 2 * VM_ROW_BYTES);
}
VM_DEFINE2(PACK16, u32, u32, u32, (x & 0xffff) | y << 16)
VM_DEFINE2(PACK8, u32, u32, u32, (x & 0xff) | (y & 0xff) << 8)
VM_DEFINE2(PACK64, u64, u32, u32, x | (u64)y << 32)
VM_DEFINE1(HI64, u32, u64, x >> 32)
VM_DEFINE1(SEXT8, u32, u32, (s32)(int8_t)x)
VM_DEFINE1(SEXT16, u32, u32, (s32)(int16_t)x)
VM_DEFINE1(ZEXT8, u32, u32, x & 0xff)
VM_DEFINE1(ZEXT16, u32, u32, x & 0xffff)

/* Clamps a 64-bit value, signed or not, to the range of an integer type. */
static inline u64 saturate(u64 x, unsigned bits, bool to_signed, bool from_signed) {
    s64 high = to_signed || bits == 64 ? INT64_MAX : 0;
    if (to_signed) {
        s64 top = bits == 64 ? INT64_MAX : (s64)(((u64)1 << (bits - 1)) - 1), low = -top - 1;
        if (!from_signed)
            return x > (u64)top ? (u64)top : x;
        s64 value = (s64)x;
        return (u64)(value > top ? top : value < low ? low : value);
    }
    u64 top = bits == 64 ? UINT64_MAX : ((u64)1 << bits) - 1;
    (void)high;
    if (from_signed && (s64)x < 0)
        return 0;
    return x > top ? top : x;
}
VM_DEFINE1(SATURATE64, u64, u64, saturate(x, imm & 0xff, imm >> 8 & 1, imm >> 9 & 1))

#define PREDICATE(name, expression)                                                                          \
    void VM_NAME(vm_lane_##name)(VM_LANE_ARGUMENTS) {                                                        \
        u32 x = *(const u32 *)ap, y = bp ? *(const u32 *)bp : 0;                                             \
        (void)cp, (void)imm, (void)y;                                                                        \
        *(u32 *)dp = (expression);                                                                           \
    }
PREDICATE(PMOV, x)
PREDICATE(PNOT, ~x)
PREDICATE(PAND, x &y)
PREDICATE(POR, x | y)
PREDICATE(PXOR, x ^ y)

VM_DEFINE1(NOT32, u32, u32, ~x)
VM_DEFINE1(NEG32, u32, u32, 0 - x)
VM_DEFINE1(ABS32, u32, u32, (s32)x < 0 ? 0 - x : x)
VM_DEFINE2(MINS32, s32, s32, s32, x < y ? x : y)
VM_DEFINE2(MAXS32, s32, s32, s32, x > y ? x : y)
VM_DEFINE2(MINU32, u32, u32, u32, x < y ? x : y)
VM_DEFINE2(MAXU32, u32, u32, u32, x > y ? x : y)
VM_DEFINE2(MULHIS32, u32, s32, s32, (u64)((s64)x *y) >> 32)
VM_DEFINE2(MULHIU32, u32, u32, u32, (u64)x *y >> 32)
/* Division by zero: all ones and the dividend, as the hardware's sequence gives; reported by DIVIDE_CHECK. */
VM_DEFINE2(DIVU32, u32, u32, u32, y == 0 ? UINT32_MAX : x / (y ? y : 1))
VM_DEFINE2(REMU32, u32, u32, u32, y == 0 ? x : x % (y ? y : 1))
VM_DEFINE2(DIVS32, u32, s32, s32, y == 0 ? -1 : (s64)x / (y ? y : 1))
VM_DEFINE2(REMS32, u32, s32, s32, y == 0 ? x : (s64)x % (y ? y : 1))
VM_DEFINE3(ADDC32, u32, u32, u32, u32, x + y + z)
VM_DEFINE3(CARRY32, u32, u32, u32, u32, ((u64)x + y + z) >> 32)
/* The flag of a subtraction is the carry of a + ~b + 1, 0 where it borrows: so addc and subc read each
 * other's. */
VM_DEFINE3(SUBC32, u32, u32, u32, u32, x + ~y + z)
VM_DEFINE3(BORROW32, u32, u32, u32, u32, ((u64)x + ~y + z) >> 32)
VM_DEFINE3(SADS32, u32, s32, s32, u32, z + (x < y ? (u32)y - (u32)x : (u32)x - (u32)y))
VM_DEFINE3(SADU32, u32, u32, u32, u32, z + (x < y ? y - x : x - y))
VM_DEFINE1(POPC32, u32, u32, __builtin_popcount(x))
VM_DEFINE1(CLZ32, u32, u32, x ? __builtin_clz(x) : 32)

static inline u32 find(u64 x, unsigned bits, bool shift_amount) {
    if (x == 0)
        return UINT32_MAX;
    u32 top = 63u - (u32)__builtin_clzll(x);
    return shift_amount ? bits - 1 - top : top;
}
VM_DEFINE1(BFINDU32, u32, u32, find(x, 32, imm & 1))
VM_DEFINE1(BFINDS32, u32, s32, find((u32)(x < 0 ? ~x : x), 32, imm & 1))
VM_DEFINE1(BFINDU64, u32, u64, find(x, 64, imm & 1))
VM_DEFINE1(BFINDS64, u32, s64, find((u64)(x < 0 ? ~x : x), 64, imm & 1))

static inline u64 reverse(u64 x) {
    x = (x >> 1 & 0x5555555555555555u) | (x & 0x5555555555555555u) << 1;
    x = (x >> 2 & 0x3333333333333333u) | (x & 0x3333333333333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0f0f0f0f0fu) | (x & 0x0f0f0f0f0f0f0f0fu) << 4;
    return __builtin_bswap64(x);
}
VM_DEFINE1(BREV32, u32, u32, reverse(x) >> 32)
VM_DEFINE1(BREV64, u64, u64, reverse(x))

/* bfe: position and length are the low 8 bits; bits beyond the top repeat the sign (signed) or are 0. */
static inline u64 extract(u64 x, u32 position, u32 length, unsigned bits, bool sign) {
    u32 pos = position & 0xff, len = length & 0xff;
    if (len == 0)
        return 0;
    u64 value = pos < bits ? x >> pos : 0;
    u32 top = pos + len - 1 < bits - 1 ? pos + len - 1 : bits - 1;
    u64 negative = sign ? x >> top & 1 : 0;
    u32 have = pos < bits ? (len < bits - pos ? len : bits - pos) : 0;
    if (have >= 64)
        return value;
    u64 mask = ((u64)1 << have) - 1;
    return (value & mask) | (negative ? ~mask : 0);
}
VM_DEFINE3(BFEU32, u32, u32, u32, u32, extract(x, y, z, 32, false))
VM_DEFINE3(BFES32, u32, u32, u32, u32, extract(x, y, z, 32, true))
VM_DEFINE3(BFEU64, u64, u64, u32, u32, extract(x, y, z, 64, false))
VM_DEFINE3(BFES64, u64, u64, u32, u32, extract(x, y, z, 64, true))
VM_DEFINE2(BFIPOS, u32, u32, u32, (x & 0xff) | (y & 0xff) << 8)
static inline u64 insert(u64 field, u64 base, u32 where, unsigned bits) {
    u32 pos = where & 0xff, len = where >> 8;
    if (len == 0 || pos >= bits)
        return base;
    u64 mask = (len >= 64 ? UINT64_MAX : ((u64)1 << len) - 1) << pos;
    return (base & ~mask) | (field << pos & mask);
}
VM_DEFINE3(BFI32, u32, u32, u32, u32, insert(x, y, z, 32))
VM_DEFINE3(BFI64, u64, u64, u64, u32, insert(x, y, z, 64))

/* fns: position of the n-th set bit from base, downward when n is negative (PTX ISA, fns). */
static inline u32 find_nth(u32 mask, u32 base, s32 offset) {
    if (base > 31)
        return UINT32_MAX;
    if (offset == 0)
        return mask >> base & 1 ? base : UINT32_MAX;
    int step = offset > 0 ? 1 : -1;
    u32 left = offset > 0 ? (u32)offset : 0 - (u32)offset;
    for (int i = (int)base; i >= 0 && i < 32; i += step)
        if (mask >> i & 1 && --left == 0)
            return (u32)i;
    return UINT32_MAX;
}
VM_DEFINE3(FNS, u32, u32, u32, s32, find_nth(x, y, z))

VM_DEFINE3(MAD64, u64, u64, u64, u64, x *y + z)
VM_DEFINE2(OR64, u64, u64, u64, x | y)
VM_DEFINE2(XOR64, u64, u64, u64, x ^ y)
VM_DEFINE1(NOT64, u64, u64, ~x)
VM_DEFINE1(NEG64, u64, u64, 0 - x)
VM_DEFINE1(ABS64, u64, u64, (s64)x < 0 ? 0 - x : x)
VM_DEFINE2(MINS64, s64, s64, s64, x < y ? x : y)
VM_DEFINE2(MAXS64, s64, s64, s64, x > y ? x : y)
VM_DEFINE2(MINU64, u64, u64, u64, x < y ? x : y)
VM_DEFINE2(MAXU64, u64, u64, u64, x > y ? x : y)
VM_DEFINE2(MULHIU64, u64, u64, u64, (u64)((unsigned __int128)x *y >> 64))
VM_DEFINE2(MULHIS64, u64, s64, s64, (u64)((__int128)x *y >> 64))
VM_DEFINE2(DIVU64, u64, u64, u64, y == 0 ? UINT64_MAX : x / (y ? y : 1))
VM_DEFINE2(REMU64, u64, u64, u64, y == 0 ? x : x % (y ? y : 1))
VM_DEFINE2(DIVS64, u64, s64, s64, y == 0 ? -1 : y == -1 ? (s64)(0 - (u64)x) : x / (y ? y : 1))
VM_DEFINE2(REMS64, u64, s64, s64, y == 0 ? x : y == -1 ? 0 : x % (y ? y : 1))
VM_DEFINE3(ADDC64, u64, u64, u64, u32, x + y + z)
VM_DEFINE3(CARRY64, u32, u64, u64, u32, (x + y < x) | (x + y + z < z))
VM_DEFINE3(SUBC64, u64, u64, u64, u32, x + ~y + z)
VM_DEFINE3(BORROW64, u32, u64, u64, u32, (x > y) | (x == y && z))
VM_DEFINE3(SADS64, u64, s64, s64, u64, z + (x < y ? (u64)y - (u64)x : (u64)x - (u64)y))
VM_DEFINE3(SADU64, u64, u64, u64, u64, z + (x < y ? y - x : x - y))
VM_DEFINE1(POPC64, u32, u64, __builtin_popcountll(x))
VM_DEFINE1(CLZ64, u32, u64, x ? __builtin_clzll(x) : 64)
VM_DEFINE1(CNOT32, u32, u32, x == 0)
VM_DEFINE1(CNOT64, u64, u64, x == 0)

/* mul24: the low or high 32 bits of the 48-bit product of 24-bit factors; high means bits 47..16. */
static inline u32 multiply24(u32 x, u32 y, u64 imm) {
    s64 a = imm & 1 ? (s32)(x << 8) >> 8 : (s32)(x & 0xffffff);
    s64 b = imm & 1 ? (s32)(y << 8) >> 8 : (s32)(y & 0xffffff);
    u64 product = (u64)(a * b);
    return (u32)(imm & 2 ? product >> 16 : product);
}
VM_DEFINE2(MUL24, u32, u32, u32, multiply24(x, y, imm))

static inline u32 funnel(u32 low, u32 high, u32 n, bool left, bool clamp) {
    u64 both = low | (u64)high << 32;
    n = clamp ? (n > 32 ? 32 : n) : n & 31;
    return left ? (u32)(both << n >> 32) : (u32)(both >> n);
}
VM_DEFINE3(SHFL, u32, u32, u32, u32, funnel(x, y, z, true, imm & 1))
VM_DEFINE3(SHFR, u32, u32, u32, u32, funnel(x, y, z, false, imm & 1))

/* lop3: minterm k of the table is picked where (a, b, c) spell k in binary. */
void VM_NAME(vm_lane_LOP3)(VM_LANE_ARGUMENTS) {
    u32 *d = dp;
    const u32 *ax = ap, *bx = bp, *cx = cp;
    u32 term[8];
    for (unsigned k = 0; k < 8; k++)
        term[k] = 0u - (u32)(imm >> k & 1);
    VM_LOOP {
        u32 x = ax[l], y = bx[l], z = cx[l];
        u32 low = (~y & ((~z & term[0]) | (z & term[1]))) | (y & ((~z & term[2]) | (z & term[3])));
        u32 high = (~y & ((~z & term[4]) | (z & term[5]))) | (y & ((~z & term[6]) | (z & term[7])));
        d[l] = (~x & low) | (x & high);
    }
}

/* prmt: imm 0 is the default mode; 1..6 f4e b4e rc8 ecl ecr rc16 (PTX ISA, prmt). */
static inline u32 permute(u32 a, u32 b, u32 c, unsigned mode) {
    u64 bytes = a | (u64)b << 32;
    u32 result = 0;
    for (unsigned i = 0; i < 4; i++) {
        unsigned n = c & 3, pick;
        bool sign = false;
        switch (mode) {
        case 1:
            pick = n + i;
            break;
        case 2:
            pick = (n + 8 - i) & 7;
            break;
        case 3:
            pick = n;
            break;
        case 4:
            pick = i > n ? i : n;
            break;
        case 5:
            pick = i < n ? i : n;
            break;
        case 6:
            pick = (n & 1) * 2 + (i & 1);
            break;
        default:
            pick = c >> 4 * i & 7;
            sign = c >> 4 * i & 8;
        }
        u32 byte = (u32)(bytes >> 8 * pick) & 0xff;
        if (sign)
            byte = byte & 0x80 ? 0xff : 0;
        result |= byte << 8 * i;
    }
    return result;
}
VM_DEFINE3(PRMT, u32, u32, u32, u32, permute(x, y, z, (unsigned)imm))

/* dp4a, dp2a: imm bit 0: a signed, bit 1: b signed, bit 2: high half of b (dp2a). */
static inline u32 dot(u32 a, u32 b, u32 c, u64 imm, bool two) {
    for (unsigned i = 0; i < (two ? 2u : 4u); i++) {
        u32 x = two ? a >> 16 * i & 0xffff : a >> 8 * i & 0xff;
        u32 y = b >> (two ? 8 * i + (imm & 4 ? 16 : 0) : 8 * i) & 0xff;
        s32 sx = imm & 1 ? (two ? (s32)(int16_t)x : (s32)(int8_t)x) : (s32)x;
        s32 sy = imm & 2 ? (s32)(int8_t)y : (s32)y;
        c += (u32)sx * (u32)sy;
    }
    return c;
}
VM_DEFINE3(DP4A, u32, u32, u32, u32, dot(x, y, z, imm, false))
VM_DEFINE3(DP2A, u32, u32, u32, u32, dot(x, y, z, imm, true))

/* bmsk: length bits from position; clamp limits both, wrap takes them modulo 32. */
static inline u32 bit_mask(u32 position, u32 length, bool clamp) {
    if (!clamp) {
        position &= 31;
        length &= 31;
    }
    if (position > 31)
        return 0;
    u32 ones = length > 31 ? UINT32_MAX : ((u32)1 << length) - 1;
    return ones << position;
}
VM_DEFINE2(BMSK, u32, u32, u32, bit_mask(x, y, imm & 1))
/* szext: sign- or zero-extends from the low b bits. */
static inline u32 extend(u32 x, u32 n, bool sign, bool clamp) {
    n = clamp ? (n > 32 ? 32 : n) : n & 31;
    if (n == 0)
        return 0;
    return sign ? (u32)((s32)(x << (32 - n)) >> (32 - n)) : x << (32 - n) >> (32 - n);
}
VM_DEFINE2(SZEXT, u32, u32, u32, extend(x, y, imm & 2, imm & 1))

/* Two 16-bit integers: 0 add, 1 sub, 2 min, 3 max, 4 neg; the upper half of lanes alike. imm bit 4: signed,
 * bit 5: negative results become 0 (.relu). */
static inline u32 packed16(u32 x, u32 y, u64 imm) {
    u32 result = 0;
    for (unsigned i = 0; i < 32; i += 16) {
        s32 a = imm & 16 ? (s32)(int16_t)(x >> i) : (s32)(x >> i & 0xffff);
        s32 b = imm & 16 ? (s32)(int16_t)(y >> i) : (s32)(y >> i & 0xffff);
        s32 r = 0;
        switch (imm & 15) {
        case 0:
            r = a + b;
            break;
        case 1:
            r = a - b;
            break;
        case 2:
            r = a < b ? a : b;
            break;
        case 3:
            r = a > b ? a : b;
            break;
        default:
            r = -a;
        }
        if (imm & 32 && r < 0)
            r = 0;
        result |= ((u32)r & 0xffff) << i;
    }
    return result;
}
VM_DEFINE3(PACKED16, u32, u32, u32, u32, ((void)z, packed16(x, y, imm)))
