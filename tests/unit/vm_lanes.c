/* SPDX-License-Identifier: Apache-2.0
 * Every family of scalar instructions against slow, obvious models, on random and edge operands, at every
 * processor level that runs here, for whole warps and under a mask. */
#include "unit/vm_help.h"
#include <fenv.h>
#include <math.h>
#include "num/num.h"

enum { CASES = 2048 };

/* What a model sees of its three sources. */
typedef struct sources {
    uint64_t a, b, c;
    uint32_t ua, ub, uc;
    int32_t sa, sb, sc;
    int64_t la, lb, lc;
    uint16_t ha, hb, hc;
    int16_t ka, kb, kc;
    float fa, fb, fc;
    double da, db, dc;
    bool pa, pb, pc;
} sources;

static float f32(uint32_t bits) {
    float x;
    memcpy(&x, &bits, 4);
    return x;
}
static uint32_t b32(float x) {
    uint32_t bits;
    memcpy(&bits, &x, 4);
    return x != x ? 0x7fffffffu : bits;
}
static uint64_t b64(double x) {
    uint64_t bits;
    memcpy(&bits, &x, 8);
    return bits;
}
static sources split(uint64_t a, uint64_t b, uint64_t c) {
    sources s = {.a = a, .b = b, .c = c};
    s.ua = (uint32_t)a, s.ub = (uint32_t)b, s.uc = (uint32_t)c;
    s.sa = (int32_t)s.ua, s.sb = (int32_t)s.ub, s.sc = (int32_t)s.uc;
    s.la = (int64_t)a, s.lb = (int64_t)b, s.lc = (int64_t)c;
    s.ha = (uint16_t)a, s.hb = (uint16_t)b, s.hc = (uint16_t)c;
    s.ka = (int16_t)a, s.kb = (int16_t)b, s.kc = (int16_t)c;
    s.fa = f32(s.ua), s.fb = f32(s.ub), s.fc = f32(s.uc);
    memcpy(&s.da, &a, 8), memcpy(&s.db, &b, 8), memcpy(&s.dc, &c, 8);
    s.pa = a & 1, s.pb = b & 1, s.pc = c & 1;
    return s;
}

/* ---- models of what has no short expression ---- */
static uint64_t bit(uint64_t x, int64_t at, unsigned bits) {
    return at >= 0 && at < (int64_t)bits ? x >> at & 1 : 0;
}
static uint64_t bfe(uint64_t x, uint32_t pos, uint32_t len, unsigned bits, bool sign) {
    uint64_t result = 0;
    pos &= 255, len &= 255;
    uint64_t last = pos + len - 1 < bits - 1 ? pos + len - 1 : bits - 1;
    uint64_t fill = sign && len ? bit(x, (int64_t)last, bits) : 0;
    for (unsigned i = 0; i < bits; i++)
        result |= (i < len && pos + i < bits ? bit(x, pos + i, bits) : fill) << i;
    return result;
}
static uint64_t bfi(uint64_t field, uint64_t base, uint32_t pos, uint32_t len, unsigned bits) {
    pos &= 255, len &= 255;
    for (unsigned i = 0; i < len && pos + i < bits; i++)
        base = (base & ~((uint64_t)1 << (pos + i))) | bit(field, i, bits) << (pos + i);
    return base;
}
static uint32_t prmt(uint32_t a, uint32_t b, uint32_t c) {
    uint8_t bytes[8];
    uint32_t result = 0;
    memcpy(bytes, &a, 4);
    memcpy(bytes + 4, &b, 4);
    for (unsigned i = 0; i < 4; i++) {
        uint32_t pick = c >> 4 * i & 15, byte = bytes[pick & 7];
        if (pick & 8)
            byte = byte & 128 ? 255 : 0;
        result |= byte << 8 * i;
    }
    return result;
}
static uint32_t lop3(uint32_t a, uint32_t b, uint32_t c, unsigned table) {
    uint32_t result = 0;
    for (unsigned i = 0; i < 32; i++)
        result |= (table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1) << i;
    return result;
}
static uint32_t reverse32(uint32_t x) {
    uint32_t result = 0;
    for (unsigned i = 0; i < 32; i++)
        result |= (x >> i & 1) << (31 - i);
    return result;
}
static int64_t top_bit(uint64_t x) {
    for (int i = 63; i >= 0; i--)
        if (x >> i & 1)
            return i;
    return -1;
}
static uint32_t dp4a(sources s, bool as, bool bs) {
    uint32_t sum = s.uc;
    for (unsigned i = 0; i < 32; i += 8) {
        int32_t x = as ? (int8_t)(s.ua >> i) : (uint8_t)(s.ua >> i),
                y = bs ? (int8_t)(s.ub >> i) : (uint8_t)(s.ub >> i);
        sum += (uint32_t)(x * y);
    }
    return sum;
}
static int64_t clamp(int64_t x, int64_t low, int64_t high) {
    return x < low ? low : x > high ? high : x;
}
static float ftz(float x) {
    return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x;
}
/* The processor's own directed rounding, kept apart from the compiler by volatile. */
static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
enum { RN, RZ, RM, RP };
static float round32(char op, int mode, float x, float y, float z) {
    volatile float a = x, b = y, c = z, r = 0;
    fesetround(modes[mode]);
    switch (op) {
    case '+':
        r = a + b;
        break;
    case '*':
        r = a * b;
        break;
    case '/':
        r = a / b;
        break;
    case 's':
        r = sqrtf(a);
        break;
    case 'r':
        r = 1 / a;
        break;
    default:
        r = fmaf(a, b, c);
    }
    fesetround(FE_TONEAREST);
    return r;
}
static double round64(char op, int mode, double x, double y, double z) {
    volatile double a = x, b = y, c = z, r = 0;
    fesetround(modes[mode]);
    switch (op) {
    case '+':
        r = a + b;
        break;
    case '*':
        r = a * b;
        break;
    case '/':
        r = a / b;
        break;
    case 's':
        r = sqrt(a);
        break;
    case 'n':
        r = (float)a;
        break;
    default:
        r = fma(a, b, c);
    }
    fesetround(FE_TONEAREST);
    return r;
}
static float min32(float x, float y) {
    if (x != x || y != y)
        return x != x ? y : x;
    return x == y ? (signbit(x) ? x : y) : x < y ? x : y;
}
static float max32(float x, float y) {
    if (x != x || y != y)
        return x != x ? y : x;
    return x == y ? (signbit(x) ? y : x) : x > y ? x : y;
}
/* float64 to float: a NaN keeps its sign and the upper bits of its payload. */
static uint32_t narrowed(double x, float r) {
    uint64_t bits = b64(x);
    return x != x ? (uint32_t)(bits >> 63) << 31 | 0x7fc00000u | (uint32_t)(bits >> 29 & 0x7fffff) : b32(r);
}
static double half(uint16_t h) {
    return num_decode(NUM_DTYPE_F16, h);
}
static double bhalf(uint16_t h) {
    return num_decode(NUM_DTYPE_BF16, h);
}
static uint32_t to_half(double x) {
    return (uint32_t)num_encode(NUM_DTYPE_F16, x, NUM_RN, false);
}
static uint32_t to_bhalf(double x) {
    return (uint32_t)num_encode(NUM_DTYPE_BF16, x, NUM_RN, false);
}
/* a * b + c with what a double cannot hold kept in its lowest bit. */
static double fma_odd(double a, double b, double c) {
    double down = round64('f', RM, a, b, c), up = round64('f', RP, a, b, c);
    if (down == up || down != down)
        return fma(a, b, c);
    return b64(down) & 1 ? down : up;
}
static uint64_t saturating(double x, int mode, double low, double high, uint64_t least, uint64_t most) {
    if (x != x)
        return 0;
    double r = mode == RN ? nearbyint(x) : mode == RZ ? trunc(x) : mode == RM ? floor(x) : ceil(x);
    return r < low ? least : r >= high ? most : low < 0 ? (uint64_t)(int64_t)r : (uint64_t)r;
}
#define TO_S32(x, mode) ((uint32_t)saturating(x, mode, -0x1p31, 0x1p31, (uint64_t)INT32_MIN, INT32_MAX))
#define TO_U32(x, mode) ((uint32_t)saturating(x, mode, 0, 0x1p32, 0, UINT32_MAX))
/* NaN: PTX ISA 9.0, cvt */
#define TO_S64(x, mode)                                                                                      \
    ((x) != (x) ? (uint64_t)1 << 63 : saturating(x, mode, -0x1p63, 0x1p63, (uint64_t)INT64_MIN, INT64_MAX))
#define TO_U64(x, mode) ((x) != (x) ? (uint64_t)1 << 63 : saturating(x, mode, 0, 0x1p64, 0, UINT64_MAX))
#define NAN_32(x, v)    ((x) != (x) ? (uint32_t)1 << 31 : (v))

/* clang-format off */
/* X(text, class of the result: r f 32 bits, d g 64 bits (g: double), h 16, p predicate; e: bound in ulp for f; model over s) */
#define ROWS(X) \
    X("add.s32 %r10, %r1, %r2;", 'r', s.ua + s.ub) X("sub.u64 %rd10, %rd1, %rd2;", 'd', s.a - s.b) \
    X("add.sat.s32 %r10, %r1, %r2;", 'r', clamp((int64_t)s.sa + s.sb, INT32_MIN, INT32_MAX)) \
    X("sub.sat.s32 %r10, %r1, %r2;", 'r', clamp((int64_t)s.sa - s.sb, INT32_MIN, INT32_MAX)) \
    X("add.u16 %h10, %h1, %h2;", 'h', s.ha + s.hb) X("mul.lo.s16 %h10, %h1, %h2;", 'h', (uint32_t)s.ha * s.hb) \
    X("mul.hi.s16 %h10, %h1, %h2;", 'h', (s.ka * s.kb) >> 16) X("mul.hi.u16 %h10, %h1, %h2;", 'h', ((uint32_t)s.ha * s.hb) >> 16) \
    X("mul.wide.s16 %r10, %h1, %h2;", 'r', s.ka * s.kb) X("mul.wide.u16 %r10, %h1, %h2;", 'r', (uint32_t)s.ha * s.hb) \
    X("mul.lo.u32 %r10, %r1, %r2;", 'r', s.ua * s.ub) X("mul.hi.s32 %r10, %r1, %r2;", 'r', ((int64_t)s.sa * s.sb) >> 32) \
    X("mul.hi.u32 %r10, %r1, %r2;", 'r', ((uint64_t)s.ua * s.ub) >> 32) X("mul.wide.s32 %rd10, %r1, %r2;", 'd', (int64_t)s.sa * s.sb) \
    X("mul.wide.u32 %rd10, %r1, %r2;", 'd', (uint64_t)s.ua * s.ub) X("mul.lo.s64 %rd10, %rd1, %rd2;", 'd', s.a * s.b) \
    X("mul.hi.s64 %rd10, %rd1, %rd2;", 'd', (uint64_t)(((__int128)s.la * s.lb) >> 64)) \
    X("mul.hi.u64 %rd10, %rd1, %rd2;", 'd', (uint64_t)(((unsigned __int128)s.a * s.b) >> 64)) \
    X("mad.lo.s32 %r10, %r1, %r2, %r3;", 'r', s.ua * s.ub + s.uc) X("mad.hi.u32 %r10, %r1, %r2, %r3;", 'r', (((uint64_t)s.ua * s.ub) >> 32) + s.uc) \
    X("mad.wide.u32 %rd10, %r1, %r2, %rd3;", 'd', (uint64_t)s.ua * s.ub + s.c) X("mad.lo.u16 %h10, %h1, %h2, %h3;", 'h', (uint32_t)s.ha * s.hb + s.hc) \
    X("mad.wide.s16 %r10, %h1, %h2, %r3;", 'r', (uint32_t)(s.ka * s.kb) + s.uc) X("mad.lo.u64 %rd10, %rd1, %rd2, %rd3;", 'd', s.a * s.b + s.c) \
    X("mad.hi.sat.s32 %r10, %r1, %r2, %r3;", 'r', clamp((((int64_t)s.sa * s.sb) >> 32) + s.sc, INT32_MIN, INT32_MAX)) \
    X("mul24.lo.s32 %r10, %r1, %r2;", 'r', (int64_t)((int32_t)(s.ua << 8) >> 8) * ((int32_t)(s.ub << 8) >> 8)) \
    X("mul24.hi.u32 %r10, %r1, %r2;", 'r', ((uint64_t)(s.ua & 0xffffff) * (s.ub & 0xffffff)) >> 16) \
    X("mad24.lo.u32 %r10, %r1, %r2, %r3;", 'r', (s.ua & 0xffffff) * (s.ub & 0xffffff) + s.uc) \
    X("sad.s32 %r10, %r1, %r2, %r3;", 'r', s.uc + (uint32_t)(s.sa < s.sb ? (int64_t)s.sb - s.sa : (int64_t)s.sa - s.sb)) \
    X("sad.u64 %rd10, %rd1, %rd2, %rd3;", 'd', s.c + (s.a < s.b ? s.b - s.a : s.a - s.b)) \
    X("sad.s16 %h10, %h1, %h2, %h3;", 'h', s.hc + (s.ka < s.kb ? s.kb - s.ka : s.ka - s.kb)) \
    X("or.b32 %r10, %r2, 1;\ndiv.s32 %r10, %r1, %r10;", 'r', (int64_t)s.sa / (int32_t)(s.ub | 1)) \
    X("or.b32 %r10, %r2, 1;\nrem.s32 %r10, %r1, %r10;", 'r', (int64_t)s.sa % (int32_t)(s.ub | 1)) \
    X("or.b32 %r10, %r2, 1;\ndiv.u32 %r10, %r1, %r10;", 'r', s.ua / (s.ub | 1)) \
    X("or.b64 %rd10, %rd2, 1;\ndiv.s64 %rd10, %rd1, %rd10;", 'd', (uint64_t)((__int128)s.la / (int64_t)(s.b | 1))) \
    X("or.b64 %rd10, %rd2, 1;\nrem.u64 %rd10, %rd1, %rd10;", 'd', s.a % (s.b | 1)) \
    X("or.b16 %h10, %h2, 1;\ndiv.s16 %h10, %h1, %h10;", 'h', s.ka / (int16_t)(s.hb | 1)) \
    X("or.b16 %h10, %h2, 1;\nrem.u16 %h10, %h1, %h10;", 'h', s.ha % (s.hb | 1)) \
    X("abs.s32 %r10, %r1;", 'r', s.sa < 0 ? 0 - s.ua : s.ua) X("abs.s16 %h10, %h1;", 'h', s.ka < 0 ? -s.ka : s.ka) \
    X("neg.s64 %rd10, %rd1;", 'd', 0 - s.a) X("neg.s16 %h10, %h1;", 'h', -s.ka) X("abs.s64 %rd10, %rd1;", 'd', s.la < 0 ? 0 - s.a : s.a) \
    X("min.s32 %r10, %r1, %r2;", 'r', s.sa < s.sb ? s.sa : s.sb) X("max.u32 %r10, %r1, %r2;", 'r', s.ua > s.ub ? s.ua : s.ub) \
    X("min.s16 %h10, %h1, %h2;", 'h', s.ka < s.kb ? s.ka : s.kb) X("max.u16 %h10, %h1, %h2;", 'h', s.ha > s.hb ? s.ha : s.hb) \
    X("min.u64 %rd10, %rd1, %rd2;", 'd', s.a < s.b ? s.a : s.b) X("max.s64 %rd10, %rd1, %rd2;", 'd', s.la > s.lb ? s.la : s.lb) \
    X("add.cc.u32 %r10, %r1, %r2;\naddc.u32 %r10, %r3, 5;", 'r', s.uc + 5 + (((uint64_t)s.ua + s.ub) >> 32)) \
    X("add.cc.u64 %rd10, %rd1, %rd2;\naddc.cc.u64 %rd10, %rd2, %rd3;\naddc.u64 %rd10, %rd3, 0;", 'd', \
      s.c + (uint64_t)(((unsigned __int128)s.b + s.c + (s.a + s.b < s.a)) >> 64)) \
    X("sub.cc.u32 %r10, %r1, %r2;\nsubc.u32 %r10, %r3, %r2;", 'r', s.uc - s.ub - (s.ua < s.ub)) \
    X("mad.lo.cc.u32 %r10, %r1, %r2, %r3;\nmadc.hi.u32 %r10, %r1, %r2, 0;", 'r', ((uint64_t)s.ua * s.ub + s.uc) >> 32) \
    X("popc.b64 %r10, %rd1;", 'r', __builtin_popcountll(s.a)) X("clz.b32 %r10, %r1;", 'r', 31 - top_bit(s.ua)) \
    X("clz.b64 %r10, %rd1;", 'r', 63 - top_bit(s.a)) X("popc.b32 %r10, %r1;", 'r', __builtin_popcount(s.ua)) \
    X("bfind.u32 %r10, %r1;", 'r', top_bit(s.ua)) X("bfind.s64 %r10, %rd1;", 'r', top_bit(s.la < 0 ? ~s.a : s.a)) \
    X("bfind.shiftamt.s32 %r10, %r1;", 'r', top_bit((uint32_t)(s.sa < 0 ? ~s.sa : s.sa)) < 0 ? -1 : 31 - top_bit((uint32_t)(s.sa < 0 ? ~s.sa : s.sa))) \
    X("brev.b32 %r10, %r1;", 'r', reverse32(s.ua)) X("brev.b64 %rd10, %rd1;", 'd', (uint64_t)reverse32(s.ua) << 32 | reverse32((uint32_t)(s.a >> 32))) \
    X("and.b32 %r10, %r2, 63;\nand.b32 %r11, %r3, 63;\nbfe.u32 %r10, %r1, %r10, %r11;", 'r', bfe(s.ua, s.ub & 63, s.uc & 63, 32, false)) \
    X("and.b32 %r10, %r2, 63;\nand.b32 %r11, %r3, 63;\nbfe.s32 %r10, %r1, %r10, %r11;", 'r', bfe(s.ua, s.ub & 63, s.uc & 63, 32, true)) \
    X("and.b32 %r10, %r2, 127;\nand.b32 %r11, %r3, 127;\nbfe.s64 %rd10, %rd1, %r10, %r11;", 'd', bfe(s.a, s.ub & 127, s.uc & 127, 64, true)) \
    X("bfe.u64 %rd10, %rd1, %r2, %r3;", 'd', bfe(s.a, s.ub, s.uc, 64, false)) X("bfe.s32 %r10, %r1, %r2, %r3;", 'r', bfe(s.ua, s.ub, s.uc, 32, true)) \
    X("and.b32 %r10, %r3, 31;\nshr.u32 %r11, %r3, 27;\nbfi.b32 %r10, %r1, %r2, %r10, %r11;", 'r', bfi(s.ua, s.ub, s.uc & 31, s.uc >> 27, 32)) \
    X("bfi.b64 %rd10, %rd1, %rd2, %r3, %r2;", 'd', bfi(s.a, s.b, s.uc, s.ub, 64)) \
    X("shl.b32 %r10, %r1, %r2;", 'r', s.ub > 31 ? 0 : s.ua << s.ub) X("and.b32 %r10, %r2, 63;\nshr.s32 %r10, %r1, %r10;", 'r', (int64_t)s.sa >> (s.ub & 63)) \
    X("shr.u32 %r10, %r1, %r2;", 'r', s.ub > 31 ? 0 : s.ua >> s.ub) X("and.b32 %r10, %r2, 127;\nshl.b64 %rd10, %rd1, %r10;", 'd', (s.ub & 127) > 63 ? 0 : s.a << (s.ub & 63)) \
    X("and.b32 %r10, %r2, 127;\nshr.s64 %rd10, %rd1, %r10;", 'd', s.la >> ((s.ub & 127) > 63 ? 63 : s.ub & 63)) \
    X("and.b32 %r10, %r2, 31;\nshr.s16 %h10, %h1, %r10;", 'h', s.ka >> (s.ub & 31)) X("and.b32 %r10, %r2, 31;\nshl.b16 %h10, %h1, %r10;", 'h', (uint32_t)s.ha << (s.ub & 31)) \
    X("shf.l.wrap.b32 %r10, %r1, %r2, %r3;", 'r', ((s.ua | (uint64_t)s.ub << 32) << (s.uc & 31)) >> 32) \
    X("shf.r.clamp.b32 %r10, %r1, %r2, %r3;", 'r', (s.ua | (uint64_t)s.ub << 32) >> (s.uc > 32 ? 32 : s.uc)) \
    X("shf.l.clamp.b32 %r10, %r1, %r2, %r3;", 'r', s.uc >= 32 ? s.ua : ((s.ua | (uint64_t)s.ub << 32) << s.uc) >> 32) \
    X("lop3.b32 %r10, %r1, %r2, %r3, 0x96;", 'r', lop3(s.ua, s.ub, s.uc, 0x96)) X("lop3.b32 %r10, %r1, %r2, %r3, 0xca;", 'r', lop3(s.ua, s.ub, s.uc, 0xca)) \
    X("prmt.b32 %r10, %r1, %r2, %r3;", 'r', prmt(s.ua, s.ub, s.uc)) X("prmt.b32.f4e %r10, %r1, %r2, %r3;", 'r', (s.ua | (uint64_t)s.ub << 32) >> 8 * (s.uc & 3)) \
    X("and.b64 %rd10, %rd1, %rd2;", 'd', s.a & s.b) X("xor.b32 %r10, %r1, %r2;", 'r', s.ua ^ s.ub) X("not.b16 %h10, %h1;", 'h', ~s.ha) X("cnot.b32 %r10, %r1;", 'r', !s.ua) \
    X("and.pred %p10, %p1, %p2;", 'p', s.pa && s.pb) X("xor.pred %p10, %p1, %p2;", 'p', s.pa != s.pb) X("not.pred %p10, %p1;", 'p', !s.pa) \
    X("dp4a.s32.u32 %r10, %r1, %r2, %r3;", 'r', dp4a(s, true, false)) X("dp4a.u32.s32 %r10, %r1, %r2, %r3;", 'r', dp4a(s, false, true)) \
    X("dp2a.hi.s32.s32 %r10, %r1, %r2, %r3;", 'r', s.uc + (uint32_t)((int16_t)s.ua * (int8_t)(s.ub >> 16)) + (uint32_t)((int16_t)(s.ua >> 16) * (int8_t)(s.ub >> 24))) \
    X("bmsk.clamp.b32 %r10, %r1, %r2;", 'r', s.ua > 31 ? 0 : (s.ub > 31 ? ~0u : (1u << s.ub) - 1) << s.ua) \
    X("szext.wrap.s32 %r10, %r1, %r2;", 'r', (s.ub & 31) ? (int32_t)(s.ua << (32 - (s.ub & 31))) >> (32 - (s.ub & 31)) : 0) \
    X("setp.lt.s32 %p10, %r1, %r2;", 'p', s.sa < s.sb) X("setp.hs.u64 %p10, %rd1, %rd2;", 'p', s.a >= s.b) X("setp.gt.s16 %p10, %h1, %h2;", 'p', s.ka > s.kb) \
    X("setp.ne.b16 %p10, %h1, %h2;", 'p', s.ha != s.hb) X("setp.ls.u32 %p10, %r1, %r2;", 'p', s.ua <= s.ub) X("setp.ge.s64 %p10, %rd1, %rd2;", 'p', s.la >= s.lb) \
    X("setp.lt.f32 %p10, %f1, %f2;", 'p', s.fa < s.fb) X("setp.ne.f32 %p10, %f1, %f2;", 'p', s.fa < s.fb || s.fa > s.fb) X("setp.geu.f32 %p10, %f1, %f2;", 'p', !(s.fa < s.fb)) \
    X("setp.neu.f64 %p10, %fd1, %fd2;", 'p', s.da != s.db) X("setp.nan.f64 %p10, %fd1, %fd2;", 'p', s.da != s.da || s.db != s.db) X("setp.gt.f64 %p10, %fd1, %fd2;", 'p', s.da > s.db) \
    X("setp.equ.f32 %p10, %f1, %f2;", 'p', !(s.fa < s.fb) && !(s.fa > s.fb)) X("setp.leu.f64 %p10, %fd1, %fd2;", 'p', !(s.da > s.db)) \
    X("setp.lt.ftz.f32 %p10, %f1, %f2;", 'p', ftz(s.fa) < ftz(s.fb)) \
    X("setp.lt.and.s32 %p11|%p10, %r1, %r2, %p3;", 'p', !(s.sa < s.sb) && s.pc) X("setp.eq.xor.u32 %p10, %r1, %r2, !%p3;", 'p', (s.ua == s.ub) != !s.pc) \
    X("set.gt.u32.s32 %r10, %r1, %r2;", 'r', s.sa > s.sb ? ~0u : 0) X("set.le.or.f32.f32 %f10, %f1, %f2, %p3;", 'f', s.fa <= s.fb || s.pc ? 0x3f800000u : 0) \
    X("selp.b64 %rd10, %rd1, %rd2, %p3;", 'd', s.pc ? s.a : s.b) X("selp.f32 %f10, %f1, %f2, %p3;", 'r', s.pc ? s.ua : s.ub) \
    X("slct.u32.s32 %r10, %r1, %r2, %r3;", 'r', s.sc >= 0 ? s.ua : s.ub) X("slct.b64.f32 %rd10, %rd1, %rd2, %f3;", 'd', s.fc >= 0 ? s.a : s.b) \
    X("testp.subnormal.f32 %p10, %f1;", 'p', fpclassify(s.fa) == FP_SUBNORMAL) X("testp.finite.f64 %p10, %fd1;", 'p', isfinite(s.da)) X("testp.normal.f32 %p10, %f1;", 'p', (s.fa == 0 || fpclassify(s.fa) == FP_NORMAL)) \
    X("mov.b64 {%r10, %r11}, %rd1;\nmov.b64 %rd10, {%r11, %r10};", 'd', s.a >> 32 | s.a << 32) X("mov.b32 {%h10, %h11}, %r1;\nmov.b32 %r10, {%h11, %h10};", 'r', s.ua >> 16 | s.ua << 16) \
    X("mov.b64 {%h10, %h11, %h12, %h13}, %rd1;\nmov.b64 %rd10, {%h12, %h10, %h13, %h11};", 'd', \
      (s.a >> 32 & 0xffff) | (s.a & 0xffff) << 16 | (s.a >> 48) << 32 | (s.a >> 16 & 0xffff) << 48) \
    X("add.f32 %f10, %f1, %f2;", 'f', b32(s.fa + s.fb)) X("sub.rn.f32 %f10, %f1, %f2;", 'f', b32(s.fa - s.fb)) X("mul.f32 %f10, %f1, %f2;", 'f', b32(s.fa * s.fb)) \
    X("fma.rn.f32 %f10, %f1, %f2, %f3;", 'f', b32(fmaf(s.fa, s.fb, s.fc))) X("div.rn.f32 %f10, %f1, %f2;", 'f', b32(s.fa / s.fb)) X("sqrt.rn.f32 %f10, %f1;", 'f', b32(sqrtf(s.fa))) \
    X("add.ftz.f32 %f10, %f1, %f2;", 'f', b32(ftz(ftz(s.fa) + ftz(s.fb)))) X("mul.sat.f32 %f10, %f1, %f2;", 'f', s.fa * s.fb > 0 ? b32(s.fa * s.fb < 1 ? s.fa * s.fb : 1) : 0) \
    X("add.rz.f32 %f10, %f1, %f2;", 'f', b32(round32('+', RZ, s.fa, s.fb, 0))) X("add.rp.f32 %f10, %f1, %f2;", 'f', b32(round32('+', RP, s.fa, s.fb, 0))) \
    X("mul.rm.f32 %f10, %f1, %f2;", 'f', b32(round32('*', RM, s.fa, s.fb, 0))) X("fma.rz.f32 %f10, %f1, %f2, %f3;", 'f', b32(round32('f', RZ, s.fa, s.fb, s.fc))) \
    X("fma.rp.f32 %f10, %f1, %f2, %f3;", 'f', b32(round32('f', RP, s.fa, s.fb, s.fc))) X("div.rm.f32 %f10, %f1, %f2;", 'f', b32(round32('/', RM, s.fa, s.fb, 0))) \
    X("sqrt.rp.f32 %f10, %f1;", 'f', b32(round32('s', RP, s.fa, 0, 0))) X("rcp.rz.f32 %f10, %f1;", 'f', b32(round32('r', RZ, s.fa, 0, 0))) \
    X("add.f64 %fd10, %fd1, %fd2;", 'g', b64(s.da + s.db)) X("mul.rp.f64 %fd10, %fd1, %fd2;", 'g', b64(round64('*', RP, s.da, s.db, 0))) X("add.rm.f64 %fd10, %fd1, %fd2;", 'g', b64(round64('+', RM, s.da, s.db, 0))) \
    X("fma.rn.f64 %fd10, %fd1, %fd2, %fd3;", 'g', b64(fma(s.da, s.db, s.dc))) X("fma.rz.f64 %fd10, %fd1, %fd2, %fd3;", 'g', b64(round64('f', RZ, s.da, s.db, s.dc))) \
    X("div.rz.f64 %fd10, %fd1, %fd2;", 'g', b64(round64('/', RZ, s.da, s.db, 0))) X("sqrt.rm.f64 %fd10, %fd1;", 'g', b64(round64('s', RM, s.da, 0, 0))) X("div.rn.f64 %fd10, %fd1, %fd2;", 'g', b64(s.da / s.db)) \
    X("min.f32 %f10, %f1, %f2;", 'f', b32(min32(s.fa, s.fb))) X("max.f32 %f10, %f1, %f2;", 'f', b32(max32(s.fa, s.fb))) X("min.NaN.f32 %f10, %f1, %f2;", 'f', s.fa != s.fa || s.fb != s.fb ? 0x7fffffffu : b32(min32(s.fa, s.fb))) \
    X("max.xorsign.abs.f32 %f10, %f1, %f2;", 'x', (b32(max32(fabsf(s.fa), fabsf(s.fb))) & 0x7fffffffu) | ((s.ua ^ s.ub) & 0x80000000u)) \
    X("neg.f32 %f10, %f1;", 'r', s.fa != s.fa ? 0x7fffffffu : s.ua ^ 0x80000000u) X("abs.f64 %fd10, %fd1;", 'd', s.da != s.da ? s.a | (uint64_t)1 << 51 : s.a & INT64_MAX) X("copysign.f32 %f10, %f1, %f2;", 'r', (s.ua & 0x80000000u) | (s.ub & 0x7fffffffu)) \
    X("rcp.approx.f32 %f10, %f1;", 'e', b32(1 / s.fa)) X("rsqrt.approx.f32 %f10, %f1;", 'e', b32((float)(1 / sqrt(s.fa)))) X("div.approx.f32 %f10, %f1, %f2;", 'e', b32(fabsf(s.fb) > 0x1p126f && isfinite(s.fb) ? s.fa * copysignf(0, s.fb) : s.fa / s.fb)) \
    X("ex2.approx.f32 %f10, %f1;", 'e', b32((float)exp2(s.fa))) X("lg2.approx.f32 %f10, %f1;", 'e', b32((float)log2(s.fa))) X("tanh.approx.f32 %f10, %f1;", 'e', b32((float)tanh(s.fa))) \
    X("sin.approx.f32 %f10, %f1;", 'e', b32((float)sin(s.fa))) X("cos.approx.f32 %f10, %f1;", 'e', b32((float)cos(s.fa))) \
    X("add.f16 %h10, %h1, %h2;", 'h', to_half(half(s.ha) + half(s.hb))) X("fma.rn.f16 %h10, %h1, %h2, %h3;", 'h', to_half(fma_odd(half(s.ha), half(s.hb), half(s.hc)))) \
    X("mul.f16x2 %r10, %r1, %r2;", 'r', to_half(half(s.ha) * half(s.hb)) | to_half(half((uint16_t)(s.ua >> 16)) * half((uint16_t)(s.ub >> 16))) << 16) \
    X("add.bf16 %h10, %h1, %h2;", 'h', to_bhalf(bhalf(s.ha) + bhalf(s.hb))) X("max.bf16 %h10, %h1, %h2;", 'h', to_bhalf(max32((float)bhalf(s.ha), (float)bhalf(s.hb)))) \
    X("neg.f16 %h10, %h1;", 'h', half(s.ha) != half(s.ha) ? 0x7fff : s.ha ^ 0x8000) X("min.NaN.f16 %h10, %h1, %h2;", 'h', half(s.ha) != half(s.ha) || half(s.hb) != half(s.hb) ? 0x7fff : to_half(min32((float)half(s.ha), (float)half(s.hb)))) \
    X("cvt.s32.s8 %r10, %r1;", 'r', (int8_t)s.ua) X("cvt.u64.u16 %rd10, %h1;", 'd', s.ha) X("cvt.s64.s32 %rd10, %r1;", 'd', s.sa) X("cvt.u32.u64 %r10, %rd1;", 'r', s.ua) X("cvt.s16.s8 %h10, %h1;", 'h', (int8_t)s.ha) \
    X("cvt.sat.u8.s32 %r10, %r1;", 'r', clamp(s.sa, 0, 255)) X("cvt.sat.s16.u64 %h10, %rd1;", 'h', s.a > 32767 ? 32767 : s.a) X("cvt.sat.s8.s32 %r10, %r1;", 'r', clamp(s.sa, -128, 127)) X("cvt.s64.s16 %rd10, %h1;", 'd', s.ka) \
    X("cvt.rzi.s32.f32 %r10, %f1;", 'r', TO_S32(s.fa, RZ)) X("cvt.rni.u32.f32 %r10, %f1;", 'r', TO_U32(s.fa, RN)) X("cvt.rmi.s64.f32 %rd10, %f1;", 'd', TO_S64(s.fa, RM)) X("cvt.rpi.u64.f64 %rd10, %fd1;", 'd', TO_U64(s.da, RP)) \
    X("cvt.rzi.u32.f32 %r10, %f1;", 'r', TO_U32(s.fa, RZ)) X("cvt.rzi.s32.f64 %r10, %fd1;", 'r', NAN_32(s.da, TO_S32(s.da, RZ))) X("cvt.rzi.u32.f64 %r10, %fd1;", 'r', NAN_32(s.da, TO_U32(s.da, RZ))) X("cvt.rni.u16.f64 %h10, %fd1;", 'h', s.da != s.da ? 0x8000 : saturating(s.da, RN, 0, 65536, 0, 65535)) X("cvt.rni.s16.f32 %h10, %f1;", 'h', saturating(s.fa, RN, -32768, 32768, (uint64_t)-32768, 32767)) \
    X("cvt.rn.f32.s32 %f10, %r1;", 'f', b32((float)s.sa)) X("cvt.rn.f32.u64 %f10, %rd1;", 'f', b32((float)s.a)) X("cvt.rz.f32.s64 %f10, %rd1;", 'f', b32((float)num_integer_to_float(NUM_DTYPE_I64, s.la, NUM_DTYPE_F32, NUM_RZ))) \
    X("cvt.rn.f64.u64 %fd10, %rd1;", 'g', b64((double)s.a)) X("cvt.rn.f16.s32 %h10, %r1;", 'h', to_half(s.sa)) X("cvt.f64.f32 %fd10, %f1;", 'g', b64((double)s.fa)) \
    X("cvt.rn.f32.f64 %f10, %fd1;", 'r', narrowed(s.da, (float)s.da)) X("cvt.rp.f32.f64 %f10, %fd1;", 'r', narrowed(s.da, (float)round64('n', RP, s.da, 0, 0))) X("cvt.rni.f32.f32 %f10, %f1;", 'f', b32(nearbyintf(s.fa))) X("cvt.rmi.f64.f64 %fd10, %fd1;", 'g', b64(floor(s.da))) \
    X("cvt.f32.f16 %f10, %h1;", 'f', b32((float)half(s.ha))) X("cvt.rn.f16.f32 %h10, %f1;", 'h', to_half(s.fa)) X("cvt.rz.f16.f32 %h10, %f1;", 'h', num_encode(NUM_DTYPE_F16, s.fa, NUM_RZ, false)) X("cvt.rn.bf16.f32 %h10, %f1;", 'h', to_bhalf(s.fa)) \
    X("cvt.rn.relu.bf16x2.f32 %r10, %f1, %f2;", 'r', to_bhalf(s.fb < 0 || s.fb == 0 ? 0 : s.fb) | to_bhalf(s.fa < 0 || s.fa == 0 ? 0 : s.fa) << 16) X("cvt.sat.f32.f32 %f10, %f1;", 'f', s.fa > 0 ? b32(s.fa < 1 ? s.fa : 1) : 0) \
    X("cvt.rn.f16x2.f32 %r10, %f1, %f2;", 'r', to_half(s.fb) | to_half(s.fa) << 16) X("cvt.rn.satfinite.e4m3x2.f32 %h10, %f1, %f2;", 'h', num_encode(NUM_DTYPE_F8E4M3FN, s.fb, NUM_RN, true) | num_encode(NUM_DTYPE_F8E4M3FN, s.fa, NUM_RN, true) << 8) \
    X("cvt.rn.f16x2.e5m2x2 %r10, %h1;", 'r', to_half(num_decode(NUM_DTYPE_F8E5M2, s.ha & 255)) | to_half(num_decode(NUM_DTYPE_F8E5M2, s.ha >> 8)) << 16) X("cvt.rna.tf32.f32 %r10, %f1;", 'r', s.fa != s.fa ? s.ua & 0xffffe000u : num_encode(NUM_DTYPE_TF32, s.fa, NUM_RNA, false)) \
    X("add.s16x2 %r10, %r1, %r2;", 'r', ((s.ua + s.ub) & 0xffff) | ((s.ua >> 16) + (s.ub >> 16)) << 16) X("fns.b32 %r10, %r1, 0, 1;", 'r', s.ua ? __builtin_ctz(s.ua) : -1) \
    X("fma.rn.f32x2 %rd10, %rd1, %rd2, %rd3;", 'd', b32(fmaf(s.fa, s.fb, s.fc)) | (uint64_t)b32(fmaf(f32((uint32_t)(s.a >> 32)), f32((uint32_t)(s.b >> 32)), f32((uint32_t)(s.c >> 32)))) << 32)
/* clang-format on */

typedef struct row {
    const char *text;
    char kind;
} row;
static const row rows[] = {
#define X(text, kind, expression) {text, kind},
    ROWS(X)
#undef X
};
enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

static uint64_t expected(size_t row_number, sources s) {
    size_t i = 0;
#define X(text, kind, expression)                                                                            \
    if (row_number == i++)                                                                                   \
        return (uint64_t)(expression);
    ROWS(X)
#undef X
    return 0;
}

static uint64_t random_state;
static uint64_t random_word(void) {
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t high = random_state >> 32;
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return high << 32 | random_state >> 32;
}

static uint64_t operand(void) {
    static const uint64_t edges[] = {0,
                                     1,
                                     2,
                                     5,
                                     31,
                                     32,
                                     33,
                                     63,
                                     64,
                                     0x7f,
                                     0x80,
                                     0xff,
                                     0x7fff,
                                     0x8000,
                                     0xffff,
                                     0x10000,
                                     0x7fffffff,
                                     0x80000000,
                                     0xffffffff,
                                     0x3f800000,
                                     0xbf800000,
                                     0x3f000000,
                                     0x00000001,
                                     0x807fffff,
                                     0x00800000,
                                     0x7f7fffff,
                                     0x7f800000,
                                     0xff800000,
                                     0x7fc00001,
                                     0x4b000001,
                                     0x4effffff,
                                     0x4f000000,
                                     0xcf000000,
                                     0x3c003c00,
                                     0x7c007c00,
                                     0xfc00fc00,
                                     0x00010001,
                                     0x7bff7bff,
                                     0x7e017e01,
                                     0x3f803f80,
                                     0x7f7f7f7f,
                                     0x3ff0000000000000,
                                     0xbff0000000000000,
                                     0x7ff0000000000000,
                                     0xfff0000000000000,
                                     0x7ff8000000000001,
                                     0x0000000000000001,
                                     0x000fffffffffffff,
                                     0x0010000000000000,
                                     0x7fefffffffffffff,
                                     0x8000000000000000,
                                     0x7fffffffffffffff,
                                     0x43e0000000000000,
                                     0xc3e0000000000000,
                                     0x41e0000000000000,
                                     0x4340000000000001,
                                     0xffffffffffffffff};
    uint64_t word = random_word();
    switch (word >> 60) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
        return edges[random_word() % (sizeof edges / sizeof edges[0])];
    case 5:
        return random_word() & 0xff;
    case 6:
    case 7:
    case 8: { /* floats of everyday size, so that sums and products meet */
        uint32_t low = (uint32_t)random_word();
        return (low & 0x807fffffu) | (uint32_t)(120 + random_word() % 16) << 23 |
               (random_word() & 0xffffffff00000000u);
    }
    case 9:
    case 10:
        return (random_word() & 0x800fffffffffffffu) | (uint64_t)(1015 + random_word() % 20) << 52;
    case 11:
        return random_word() & 0x83ff83ff83ff83ffu; /* small halves */
    default:
        return word << 4 | random_word() % 16;
    }
}

static bool matches(char kind, uint64_t got, uint64_t want) {
    switch (kind) {
    case 'h':
        return (got & 0xffff) == (want & 0xffff);
    case 'r':
    case 'f':
        return (uint32_t)got == (uint32_t)want;
    case 'p':
        return got == (want != 0);
    case 'd':
        return got == want;
    case 'g': {
        double x, y;
        memcpy(&x, &got, 8);
        memcpy(&y, &want, 8);
        return got == want || (x != x && y != y);
    }
    default: {
        float x = f32((uint32_t)got), y = f32((uint32_t)want);
        if (y != y)
            return x != x;
        return x == y || fabsf(x - y) <= 1e-6f * fabsf(y) + 1e-44f;
    }
    }
}

static const char *kernel_text(base_arena *arena, const row *r) {
    base_builder out;
    base_builder_start(&out, arena);
    base_builder_string(
        &out, "mad.lo.s32 %r60, %r90, 24, 0;\ncvt.u64.u32 %rd60, %r60;\nadd.s64 %rd61, %rd90, %rd60;\n");
    for (int i = 1; i <= 3; i++)
        base_builder_format(
            &out,
            "ld.global.u64 %%rd%d, [%%rd61+%d];\ncvt.u32.u64 %%r%d, %%rd%d;\ncvt.u16.u64 %%h%d, %%rd%d;\n"
            "mov.b32 %%f%d, %%r%d;\nmov.b64 %%fd%d, %%rd%d;\nand.b32 %%r62, %%r%d, 1;\n"
            "setp.ne.u32 %%p%d, %%r62, 0;\n",
            i, 8 * (i - 1), i, i, i, i, i, i, i, i, i, i);
    static const char *const results[] = {
        "cvt.u64.u32 %rd70, %r10;", "mov.b64 %rd70, %rd10;",
        "cvt.u64.u16 %rd70, %h10;", "mov.b32 %r70, %f10;\ncvt.u64.u32 %rd70, %r70;",
        "mov.b64 %rd70, %fd10;",    "selp.u64 %rd70, 1, 0, %p10;"};
    bool is_float = strstr(r->text, "%f10") != NULL;
    const char *result = r->kind == 'p'                                ? results[5]
                         : r->kind == 'h'                              ? results[2]
                         : r->kind == 'g' || strstr(r->text, "%fd10,") ? results[4]
                         : is_float                                    ? results[3]
                         : r->kind == 'd'                              ? results[1]
                                                                       : results[0];
    base_builder_format(&out,
                        "%s\n%s\nshl.b64 %%rd63, %%rd81, 1;\nadd.s64 %%rd64, %%rd91, %%rd63;\nst.global.u64 "
                        "[%%rd64], %%rd70;\n",
                        r->text, result);
    /* once more where a third of the lanes has another path */
    base_builder_format(
        &out,
        "mov.u32 %%r10, 0;\nmov.u64 %%rd10, 0;\nmov.b16 %%h10, 0;\nmov.f32 %%f10, 0f00000000;\n"
        "mov.f64 %%fd10, 0d0000000000000000;\nsetp.ne.u32 %%p10, 0, 0;\nrem.u32 %%r65, %%r90, 3;\n"
        "setp.eq.u32 %%p4, %%r65, 1;\n@%%p4 bra other;\n%s\nother:\n%s\nst.global.u64 [%%rd64+8], %%rd70;\n",
        r->text, result);
    return vm_case_kernel(arena, 2, "", out.data);
}

static void check_level(const char *level) {
    for (size_t n = 0; n < ROW_COUNT; n++) {
        base_arena *arena = base_arena_create(base_heap_create(NULL));
        vm_case *c = vm_case_load(arena, kernel_text(arena, &rows[n]));
        uint64_t *in = vm_case_buffer(c, "in", 24 * CASES), *out = vm_case_buffer(c, "out", 16 * CASES);
        random_state = n + 1;
        for (int i = 0; i < 3 * CASES; i++)
            in[i] = operand();
        c->launch.level = level;
        vm_case_run(c, CASES / 64, 64);
        if (c->result->status == VM_BAD_LAUNCH) {
            base_heap_destroy(base_arena_heap(arena));
            skip();
        }
        if (c->result->status != VM_COMPLETE || c->result->finding_count)
            fail_msg("%s: %s", rows[n].text, vm_case_findings(c));
        for (size_t i = 0; i < CASES; i++) {
            sources s = split(in[3 * i], in[3 * i + 1], in[3 * i + 2]);
            uint64_t want = expected(n, s);
            bool nan_sign = rows[n].kind == 'x' && (s.fa != s.fa && s.fb != s.fb);
            if (!nan_sign && !matches(rows[n].kind == 'x' ? 'f' : rows[n].kind, out[2 * i], want))
                fail_msg("%s\na %016llx b %016llx c %016llx: %016llx, expected %016llx", rows[n].text,
                         (unsigned long long)s.a, (unsigned long long)s.b, (unsigned long long)s.c,
                         (unsigned long long)out[2 * i], (unsigned long long)want);
            assert_true(out[2 * i + 1] == (i % 3 == 1 ? 0 : out[2 * i]));
        }
        base_heap_destroy(base_arena_heap(arena));
    }
}
static void level_1(void **state) {
    (void)state;
    check_level("x86-64");
}
static void level_3(void **state) {
    (void)state;
    check_level("x86-64-v3");
}
static void level_4(void **state) {
    (void)state;
    check_level("x86-64-v4");
}
static void level_best(void **state) {
    (void)state;
    check_level(NULL);
}

/* fma.rn.bf16 rounds once also next to the largest number, where all terms are multiples of 2^60: an integer
 * model. */
static __int128 scaled(uint16_t h) {
    __int128 magnitude = (h & 0x7f) | 0x80;
    int shift = (h >> 7 & 0xff) - 134 - 60;
    return (h & 0x8000 ? -1 : 1) * (magnitude << shift);
}
static uint16_t rounded(__int128 sum, int scale) { /* sum * 2^scale, to bfloat16 */
    unsigned __int128 m = sum < 0 ? -(unsigned __int128)sum : (unsigned __int128)sum, rest, half;
    uint16_t sign = sum < 0 ? 0x8000 : 0;
    int top = 127;
    while (top > 8 && !(m >> top & 1))
        top--;
    int shift = top - 7;
    rest = m & (((unsigned __int128)1 << shift) - 1);
    half = (unsigned __int128)1 << (shift - 1);
    uint32_t code = (uint32_t)(m >> shift);
    code += rest > half || (rest == half && code & 1);
    int exponent = shift + scale + 134;
    uint32_t bits = ((uint32_t)exponent << 7) + (code - 0x80);
    return bits >= 0x7f80 ? sign | 0x7f80 : sign | (uint16_t)bits;
}
static void fma_near_the_largest(void **state) {
    base_arena *arena = *state;
    enum { COUNT = 1 << 14 };
    vm_case *c = vm_case_load(
        arena, vm_case_kernel(arena, 2, "",
                              "mov.u32 %r1, %ctaid.x;\nshl.b32 %r1, %r1, 6;\nadd.u32 %r1, %r1, %r93;\n"
                              "mul.wide.u32 %rd1, %r1, 8;\nadd.s64 %rd1, %rd90, %rd1;\n"
                              "ld.global.v4.u16 {%h1, %h2, %h3, %h4}, [%rd1];\n"
                              "fma.rn.bf16 %h4, %h1, %h2, %h3;\nst.global.u16 [%rd1+6], %h4;\n"));
    uint16_t *data = vm_case_buffer(c, "data", 8 * COUNT);
    vm_case_buffer(c, "unused", 8);
    random_state = 99;
    for (int i = 0; i < COUNT; i++) { /* products of 2^122 to 2^128, addends of 2^70 to 2^127 */
        uint64_t x = operand() * 0x9e3779b97f4a7c15u;
        int of_a = 185 + (int)(x >> 40) % 5, of_b = 377 - of_a + (int)(x >> 48) % 6;
        data[4 * i] = (uint16_t)((x & 0x807f) | (unsigned)of_a << 7);
        data[4 * i + 1] = (uint16_t)((x >> 16 & 0x807f) | (unsigned)(of_b - 1) << 7);
        data[4 * i + 2] = (uint16_t)((x >> 32 & 0x807f) | (unsigned)(197 + (int)(x >> 52) % 57) << 7);
    }
    uint16_t given[3 * COUNT];
    for (int i = 0; i < COUNT; i++)
        memcpy(given + 3 * i, data + 4 * i, 6);
    vm_case_run(c, COUNT / 64, 64);
    assert_string_equal(vm_case_findings(c), "");
    int infinite = 0;
    for (int i = 0; i < COUNT; i++) {
        uint16_t a = given[3 * i], b = given[3 * i + 1];
        int low = 134 + 60; /* the factors on their own scale */
        uint16_t a0 = (uint16_t)((a & 0x807f) | low << 7), b0 = (uint16_t)((b & 0x807f) | low << 7);
        int shift = (a >> 7 & 0xff) + (b >> 7 & 0xff) - 2 * 134 - 60;
        __int128 product = (scaled(a0) * scaled(b0)) * ((__int128)1 << shift);
        uint16_t want = rounded(product + scaled(given[3 * i + 2]), 60);
        infinite += (want & 0x7fff) == 0x7f80;
        if (data[4 * i + 3] != want)
            fail_msg("%04x * %04x + %04x: %04x, expected %04x", a, b, given[3 * i + 2], data[4 * i + 3],
                     want);
    }
    assert_true(infinite > 100 && infinite < COUNT / 2);
}

/* Division by zero is reported for the lanes that do it, and traps nowhere. */
static void division_by_zero(void **state) {
    base_arena *arena = *state;
    vm_case *c = vm_case_load(
        arena, vm_case_kernel(arena, 1, "",
                              "and.b32 %r1, %r93, 7;\ndiv.u32 %r2, 100, %r1;\nsetp.eq.u32 %p1, %r1, 0;\n"
                              "@%p1 bra out;\nrem.s32 %r3, 100, %r1;\nadd.u32 %r2, %r2, %r3;\nout:\n"
                              "add.s64 %rd1, %rd90, %rd80;\nst.global.u32 [%rd1], %r2;\n"));
    uint32_t *data = vm_case_buffer(c, "data", 4 * 32);
    vm_case_run(c, 1, 32);
    assert_string_equal(vm_case_findings(c), "divide-by-zero");
    assert_int_equal(c->result->findings[0].count, 4);
    for (uint32_t t = 0; t < 32; t++)
        assert_int_equal(data[t], t & 7 ? 100 / (t & 7) + 100 % (t & 7) : 0xffffffffu);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(level_best),      cmocka_unit_test(level_1),
        cmocka_unit_test(level_3),         cmocka_unit_test(level_4),
        UNIT_WITH_ARENA(division_by_zero), UNIT_WITH_ARENA(fma_near_the_largest),
    };
    return cmocka_run_group_tests_name("vm lanes", tests, NULL, NULL);
}
