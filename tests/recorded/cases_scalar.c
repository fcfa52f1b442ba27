/* SPDX-License-Identifier: Apache-2.0
 * Cases of the scalar world: arithmetic, conversions, bit operations, comparisons. A row is one instruction
 * with alternatives in braces; $d is the destination, $a $b $c the sources. Every expansion is a part of the
 * row's case. */
#include "cases.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct instruction_row {
    const char *name, *text;
    const char *to, *from; /* letters of the registers, see `letters` */
    bool bounded;
} instruction_row;

#define FLOAT_COMPARE "{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}"
#define INT_COMPARE   "{eq,ne,lt,le,gt,ge}"
#define ROUND         "{.rn,.rz,.rm,.rp}"
/* clang-format off */
static const instruction_row rows[] = {
    {"add_f32", "add" ROUND "{,.ftz}{,.sat}.f32 $d, $a, $b;", "f", "ff", false},
    {"sub_f32", "sub" ROUND "{,.ftz}{,.sat}.f32 $d, $a, $b;", "f", "ff", false},
    {"mul_f32", "mul" ROUND "{,.ftz}{,.sat}.f32 $d, $a, $b;", "f", "ff", false},
    {"fma_f32", "fma" ROUND "{,.ftz}{,.sat}.f32 $d, $a, $b, $c;", "f", "fff", false},
    {"div_f32", "div" ROUND "{,.ftz}.f32 $d, $a, $b;", "f", "ff", false},
    {"rcp_f32", "rcp" ROUND "{,.ftz}.f32 $d, $a;", "f", "f", false},
    {"sqrt_f32", "sqrt" ROUND "{,.ftz}.f32 $d, $a;", "f", "f", false},
    {"min_f32", "{min,max}{,.ftz}{,.NaN}{,.xorsign.abs}.f32 $d, $a, $b;", "f", "ff", false},
    {"abs_f32", "{abs,neg}{,.ftz}.f32 $d, $a;", "f", "f", false},
    {"copysign", "copysign.f32 $d, $a, $b;", "f", "ff", false},
    {"add_f64", "{add,sub,mul}" ROUND ".f64 $d, $a, $b;", "d", "dd", false},
    {"fma_f64", "fma" ROUND ".f64 $d, $a, $b, $c;", "d", "ddd", false},
    {"div_f64", "div" ROUND ".f64 $d, $a, $b;", "d", "dd", false},
    {"rcp_f64", "{rcp,sqrt}" ROUND ".f64 $d, $a;", "d", "d", false},
    {"min_f64", "{min,max}.f64 $d, $a, $b;", "d", "dd", false},
    {"abs_f64", "{abs,neg}.f64 $d, $a;", "d", "d", false},
    {"copysign_f64", "copysign.f64 $d, $a, $b;", "d", "dd", false},
    {"approx", "{rcp,rsqrt,sqrt,sin,cos,lg2,ex2}.approx{,.ftz}.f32 $d, $a;", "f", "f", true},
    {"tanh", "tanh.approx.f32 $d, $a;", "f", "f", true},
    {"div_approx", "div.{approx,full}{,.ftz}.f32 $d, $a, $b;", "f", "ff", true},
    {"rcp64_approx", "{rcp,rsqrt}.approx.ftz.f64 $d, $a;", "d", "d", true},
    {"rsqrt64_approx", "rsqrt.approx.f64 $d, $a;", "d", "d", true},
    {"f16_approx", "{ex2.approx,tanh.approx}.f16 $d, $a;", "h", "h", true},
    {"f16x2_approx", "{ex2.approx,tanh.approx}.f16x2 $d, $a;", "H", "H", true},
    {"bf16_approx", "{ex2.approx.ftz,tanh.approx}.bf16 $d, $a;", "b", "b", true},
    {"bf16x2_approx", "{ex2.approx.ftz,tanh.approx}.bf16x2 $d, $a;", "B", "B", true},
    {"add_f16", "{add,sub,mul}{,.rn}{,.ftz}{,.sat}.f16 $d, $a, $b;", "h", "hh", false},
    {"add_f16x2", "{add,sub,mul}{,.rn}{,.ftz}{,.sat}.f16x2 $d, $a, $b;", "H", "HH", false},
    {"fma_f16", "fma.rn{,.ftz}{,.sat,.relu}.f16 $d, $a, $b, $c;", "h", "hhh", false},
    {"fma_f16x2", "fma.rn{,.ftz}{,.sat,.relu}.f16x2 $d, $a, $b, $c;", "H", "HHH", false},
    {"add_bf16", "{add,sub,mul}{,.rn}.bf16 $d, $a, $b;", "b", "bb", false},
    {"add_bf16x2", "{add,sub,mul}{,.rn}.bf16x2 $d, $a, $b;", "B", "BB", false},
    {"fma_bf16", "fma.rn{,.relu}.bf16 $d, $a, $b, $c;", "b", "bbb", false},
    {"fma_bf16x2", "fma.rn{,.relu}.bf16x2 $d, $a, $b, $c;", "B", "BBB", false},
    {"min_f16", "{min,max}{,.ftz}{,.NaN}{,.xorsign.abs}.f16 $d, $a, $b;", "h", "hh", false},
    {"min_f16x2", "{min,max}{,.ftz}{,.NaN}{,.xorsign.abs}.f16x2 $d, $a, $b;", "H", "HH", false},
    {"min_bf16", "{min,max}{,.NaN}{,.xorsign.abs}.bf16 $d, $a, $b;", "b", "bb", false},
    {"min_bf16x2", "{min,max}{,.NaN}{,.xorsign.abs}.bf16x2 $d, $a, $b;", "B", "BB", false},
    {"abs_f16", "{abs,neg}{,.ftz}.f16 $d, $a;", "h", "h", false},
    {"abs_f16x2", "{abs,neg}{,.ftz}.f16x2 $d, $a;", "H", "H", false},
    {"abs_bf16", "{abs,neg}.bf16 $d, $a;", "b", "b", false},
    {"abs_bf16x2", "{abs,neg}.bf16x2 $d, $a;", "B", "B", false},
    {"int32", "{add,sub,mul.lo,mul.hi,min,max,rem,div}.{s32,u32} $d, $a, $b;", "u", "uu", false},
    {"int32_sat", "{add,sub}.sat.s32 $d, $a, $b;", "u", "uu", false},
    {"int16", "{add,sub,mul.lo,mul.hi,min,max}.{s16,u16} $d, $a, $b;", "w", "ww", false},
    {"int64", "{add,sub,mul.lo,mul.hi,min,max,rem,div}.{s64,u64} $d, $a, $b;", "l", "ll", false},
    {"mad32", "mad.{lo,hi}.{s32,u32} $d, $a, $b, $c;", "u", "uuu", false},
    {"mad32_sat", "mad.hi.sat.s32 $d, $a, $b, $c;", "u", "uuu", false},
    {"mad16", "mad.{lo,hi}.{s16,u16} $d, $a, $b, $c;", "w", "www", false},
    {"mad64", "mad.{lo,hi}.{s64,u64} $d, $a, $b, $c;", "l", "lll", false},
    {"wide32", "mul.wide.{s32,u32} $d, $a, $b;", "l", "uu", false},
    {"wide16", "mul.wide.{s16,u16} $d, $a, $b;", "u", "ww", false},
    {"madwide32", "mad.wide.{s32,u32} $d, $a, $b, $c;", "l", "uul", false},
    {"madwide16", "mad.wide.{s16,u16} $d, $a, $b, $c;", "u", "wwu", false},
    {"mul24", "mul24.{lo,hi}.{s32,u32} $d, $a, $b;", "u", "uu", false},
    {"mad24", "mad24.{lo,hi}.{s32,u32} $d, $a, $b, $c;", "u", "uuu", false},
    {"sad", "sad.{s32,u32} $d, $a, $b, $c;", "u", "uuu", false},
    {"sad16", "sad.{s16,u16} $d, $a, $b, $c;", "w", "www", false},
    {"sad64", "sad.{s64,u64} $d, $a, $b, $c;", "l", "lll", false},
    {"absneg32", "{abs,neg}.s32 $d, $a;", "u", "u", false},
    {"absneg64", "{abs,neg}.s64 $d, $a;", "l", "l", false},
    {"absneg16", "{abs,neg}.s16 $d, $a;", "w", "w", false},
    {"logic32", "{and,or,xor}.b32 $d, $a, $b;", "u", "uu", false},
    {"logic64", "{and,or,xor}.b64 $d, $a, $b;", "l", "ll", false},
    {"logic16", "{and,or,xor}.b16 $d, $a, $b;", "w", "ww", false},
    {"not", "{not,cnot}.b32 $d, $a;", "u", "u", false},
    {"not64", "{not,cnot}.b64 $d, $a;", "l", "l", false},
    {"not16", "{not,cnot}.b16 $d, $a;", "w", "w", false},
    {"shift32", "{shl.b32,shr.u32,shr.s32} $d, $a, $b;", "u", "uc", false},
    {"shift64", "{shl.b64,shr.u64,shr.s64} $d, $a, $b;", "l", "lc", false},
    {"shift16", "{shl.b16,shr.u16,shr.s16} $d, $a, $b;", "w", "wc", false},
    {"shf", "shf.{l,r}.{clamp,wrap}.b32 $d, $a, $b, $c;", "u", "uuc", false},
    {"lop3", "lop3.b32 $d, $a, $b, $c, {0x96,0xe8,0x1b,0xca,0x7f,0x01};", "u", "uuu", false},
    {"prmt", "prmt.b32{,.f4e,.b4e,.rc8,.ecl,.ecr,.rc16} $d, $a, $b, $c;", "u", "uuu", false},
    {"bfe32", "bfe.{u32,s32} $d, $a, $b, $c;", "u", "ucc", false},
    {"bfe64", "bfe.{u64,s64} $d, $a, $b, $c;", "l", "lcc", false},
    {"bfi32", "bfi.b32 $d, $a, $b, $c, {3,17,31};", "u", "uuc", false},
    {"bfi64", "bfi.b64 $d, $a, $b, $c, {5,33,64};", "l", "llc", false},
    {"bfind", "bfind{,.shiftamt}.{u32,s32} $d, $a;", "u", "u", false},
    {"bfind64", "bfind{,.shiftamt}.{u64,s64} $d, $a;", "u", "l", false},
    {"popc", "{popc,clz,brev}.b32 $d, $a;", "u", "u", false},
    {"popc64", "{popc,clz}.b64 $d, $a;", "u", "l", false},
    {"brev64", "brev.b64 $d, $a;", "l", "l", false},
    {"bmsk", "bmsk.{clamp,wrap}.b32 $d, $a, $b;", "u", "cc", false},
    {"szext", "szext.{clamp,wrap}.{u32,s32} $d, $a, $b;", "u", "uc", false},
    {"fns", "fns.b32 $d, $a, $b, {1,-2,3};", "u", "un", false},
    {"dp4a", "dp4a.{s32,u32}.{s32,u32} $d, $a, $b, $c;", "u", "uuu", false},
    {"dp2a", "dp2a.{lo,hi}.{s32,u32}.{s32,u32} $d, $a, $b, $c;", "u", "uuu", false},
    {"packed16", "{add,min,max}.{u16x2,s16x2} $d, $a, $b;", "u", "uu", false},
    {"packed16_relu", "{min,max}.relu.s16x2 $d, $a, $b;", "u", "uu", false},
    {"relu32", "{min,max}.relu.s32 $d, $a, $b;", "u", "uu", false},
    {"selp32", "selp.{b32,u32} $d, $a, $b, $c;", "u", "uup", false},
    {"selp64", "selp.b64 $d, $a, $b, $c;", "l", "llp", false},
    {"slct", "slct.{u32,s32}.s32 $d, $a, $b, $c;", "u", "uuu", false},
    {"slct_f32", "slct{,.ftz}.u32.f32 $d, $a, $b, $c;", "u", "uuf", false},
    {"setp_f32", "setp." FLOAT_COMPARE "{,.ftz}.f32 $d, $a, $b;", "p", "ff", false},
    {"setp_f64", "setp." FLOAT_COMPARE ".f64 $d, $a, $b;", "p", "dd", false},
    {"setp_f16", "setp." FLOAT_COMPARE ".f16 $d, $a, $b;", "p", "hh", false},
    {"setp_bf16", "setp." FLOAT_COMPARE ".bf16 $d, $a, $b;", "p", "bb", false},
    {"setp_int", "setp." INT_COMPARE ".{u32,s32} $d, $a, $b;", "p", "uu", false},
    {"setp_unsigned", "setp.{lo,ls,hi,hs}.u32 $d, $a, $b;", "p", "uu", false},
    {"setp_int64", "setp." INT_COMPARE ".{u64,s64} $d, $a, $b;", "p", "ll", false},
    {"setp_int16", "setp." INT_COMPARE ".{u16,s16} $d, $a, $b;", "p", "ww", false},
    {"setp_logic", "setp.{lt,nan}.{and,or,xor}.f32 $d, $a, $b, $c;", "p", "ffp", false},
    {"set_f32", "set.{lt,nan,geu}.u32.f32 $d, $a, $b;", "u", "ff", false},
    {"set_to_f32", "set.{lt,nan,geu}.f32.f32 $d, $a, $b;", "f", "ff", false},
    {"set_int", "set." INT_COMPARE ".u32.{s32,u32} $d, $a, $b;", "u", "uu", false},
    {"set_f16", "set.{lt,nan,geu}.f16.f16 $d, $a, $b;", "h", "hh", false},
    {"set_f16x2", "set.{lt,nan,geu}.f16x2.f16x2 $d, $a, $b;", "H", "HH", false},
    {"testp", "testp.{finite,infinite,number,notanumber,normal,subnormal}.f32 $d, $a;", "p", "f", false},
    {"testp64", "testp.{finite,infinite,number,notanumber,normal,subnormal}.f64 $d, $a;", "p", "d", false},
    {"carry32", "{add.cc.u32,sub.cc.u32} %t3, $a, $b; {addc,subc}.u32 $d, $c, 0;", "u", "uuu", false},
    {"carry64", "{add.cc.u64,sub.cc.u64} %a3, $a, $b; {addc,subc}.u64 $d, $c, 0;", "l", "lll", false},
    {"madc", "mad.lo.cc.u32 %t3, $a, $b, $c; madc.hi.u32 $d, $a, $b, 0;", "u", "uuu", false},
    /* conversions */
    {"cvt_f32_int", "cvt" ROUND ".f32.{s32,u32} $d, $a;", "f", "u", false},
    {"cvt_f32_int64", "cvt" ROUND ".f32.{s64,u64} $d, $a;", "f", "l", false},
    {"cvt_f32_int16", "cvt.rn.f32.{s16,u16} $d, $a;", "f", "w", false},
    {"cvt_f64_int", "cvt.rn.f64.{s32,u32} $d, $a;", "d", "u", false},
    {"cvt_f64_int64", "cvt" ROUND ".f64.{s64,u64} $d, $a;", "d", "l", false},
    {"cvt_int_f32", "cvt{.rni,.rzi,.rmi,.rpi}{,.ftz}.{s32,u32} .f32 $d, $a;", "u", "f", false},
    {"cvt_int64_f32", "cvt{.rni,.rzi,.rmi,.rpi}{,.ftz}.{s64,u64} .f32 $d, $a;", "l", "f", false},
    {"cvt_int16_f32", "cvt{.rni,.rzi}.{s16,u16} .f32 $d, $a;", "w", "f", false},
    {"cvt_int_f64", "cvt{.rni,.rzi,.rmi,.rpi}.{s32,u32} .f64 $d, $a;", "u", "d", false},
    {"cvt_int64_f64", "cvt{.rni,.rzi,.rmi,.rpi}.{s64,u64} .f64 $d, $a;", "l", "d", false},
    {"cvt_int_f16", "cvt{.rni,.rzi,.rmi,.rpi}.{s32,u32} .f16 $d, $a;", "u", "h", false},
    {"cvt_int16_f16", "cvt{.rni,.rzi}.{s16,u16} .f16 $d, $a;", "w", "h", false},
    {"cvt_f32_f32", "cvt{.rni,.rzi,.rmi,.rpi}{,.ftz}{,.sat}.f32.f32 $d, $a;", "f", "f", false},
    {"cvt_sat", "cvt{,.ftz}.sat.f32.f32 $d, $a;", "f", "f", false},
    {"cvt_f64_f64", "cvt{.rni,.rzi,.rmi,.rpi}.f64.f64 $d, $a;", "d", "d", false},
    {"cvt_f64_f32", "cvt{,.ftz}.f64.f32 $d, $a;", "d", "f", false},
    {"cvt_f32_f64", "cvt" ROUND "{,.ftz}{,.sat}.f32.f64 $d, $a;", "f", "d", false},
    {"cvt_f16_f32", "cvt" ROUND "{,.ftz}{,.sat}.f16.f32 $d, $a;", "h", "f", false},
    {"cvt_f16_f64", "cvt" ROUND ".f16.f64 $d, $a;", "h", "d", false},
    {"cvt_f32_f16", "cvt{,.ftz}{,.sat}.f32.f16 $d, $a;", "f", "h", false},
    {"cvt_f64_f16", "cvt.f64.f16 $d, $a;", "d", "h", false},
    {"cvt_f16_f16", "cvt{.rni,.rzi,.rmi,.rpi}.f16.f16 $d, $a;", "h", "h", false},
    {"cvt_f16_int", "cvt" ROUND ".f16.{s32,u32} $d, $a;", "h", "u", false},
    {"cvt_f16_int16", "cvt.rn.f16.{s16,u16} $d, $a;", "h", "w", false},
    {"cvt_bf16_f32", "cvt{.rn,.rz}{,.relu}{,.satfinite}.bf16.f32 $d, $a;", "b", "f", false},
    {"cvt_f16relu_f32", "cvt{.rn,.rz}.relu.f16.f32 $d, $a;", "h", "f", false},
    {"cvt_f32_bf16", "cvt.f32.bf16 $d, $a;", "f", "b", false},
    {"cvt_bf16_int", "cvt.rn.bf16.{s32,u32} $d, $a;", "b", "u", false},
    {"cvt_int_bf16", "cvt.rni.{s32,u32} .bf16 $d, $a;", "u", "b", false},
    {"cvt_f16x2", "cvt{.rn,.rz}{,.relu}.{f16x2,bf16x2}.f32 $d, $a, $b;", "u", "ff", false},
    {"cvt_tf32", "cvt.rna{,.satfinite}.tf32.f32 $d, $a;", "u", "f", false},
    {"cvt_tf32_r", "cvt{.rn,.rz}{,.relu}.tf32.f32 $d, $a;", "u", "f", false},
    {"cvt_fp8", "cvt.rn.satfinite{,.relu}.{e4m3x2,e5m2x2}.f32 $d, $a, $b;", "e", "ff", false},
    {"cvt_fp8_f16", "cvt.rn.satfinite{,.relu}.{e4m3x2,e5m2x2}.f16x2 $d, $a;", "e", "H", false},
    {"cvt_f16_fp8", "cvt.rn{,.relu}.f16x2.{e4m3x2,e5m2x2} $d, $a;", "H", "e", false},
    {"cvt_narrow", "cvt.{u8,s8,u16,s16}.u32 $d, $a;", "u", "u", false},
    {"cvt_narrow_sat", "cvt.sat.{u8,s8,u16,s16}.{s32,u32} $d, $a;", "u", "u", false},
    {"cvt_wide", "cvt.{s64,u64}.{s32,u32,s8,u8,s16,u16} $d, $a;", "l", "u", false},
    {"cvt_from64", "cvt{,.sat}.{s32,u32}.{s64,u64} $d, $a;", "u", "l", false},
    {"cvt_pack", "cvt.pack.sat.{u16,s16}.s32 $d, $a, $b;", "u", "uu", false},
    {"cvt_pack8", "cvt.pack.sat.{u8,s8}.s32.b32 $d, $a, $b, $c;", "u", "uuu", false},
    {"video", "{vadd,vsub,vabsdiff,vmin,vmax}.s32.s32.s32{,.sat} $d, $a.b1, $b.h1;", "u", "uu", false},
    {"video4", "{vadd4,vsub4,vabsdiff4,vmin4,vmax4,vavrg4}.{s32.s32.s32,u32.u32.u32} $d, $a, $b, $c;", "u", "uuu", false},
    {"video2", "{vadd2,vsub2,vabsdiff2,vmin2,vmax2,vavrg2}.{s32.s32.s32,u32.u32.u32} $d, $a, $b, $c;", "u", "uuu", false},
};
/* clang-format on */

typedef struct letter {
    char letter;
    const char *type;
    case_kind kind;
    unsigned bits; /* 1: predicate */
} letter;
static const letter letters[] = {
    {'f', "f32", CASE_F32, 32},    {'d', "f64", CASE_F64_LOW, 64}, {'h', "b16", CASE_F16X2, 16},
    {'H', "b32", CASE_F16X2, 32},  {'b', "b16", CASE_BF16X2, 16},  {'B', "b32", CASE_BF16X2, 32},
    {'u', "b32", CASE_INT, 32},    {'w', "b16", CASE_INT, 16},     {'l', "b64", CASE_INT, 64},
    {'c', "b32", CASE_SHIFT, 32},  {'n', "b32", CASE_LANE, 32},    {'p', "pred", CASE_BITS, 1},
    {'e', "b16", CASE_E4M3X4, 16},
};

static const letter *letter_of(char name) {
    for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++)
        if (letters[i].letter == name)
            return &letters[i];
    abort();
}

/* The `which`-th expansion of alternatives in braces; false past the last. */
static bool expand(const char *text, unsigned which, char *out, size_t size) {
    size_t n = 0;
    for (const char *p = text; *p && n + 1 < size;) {
        if (*p != '{') {
            out[n++] = *p++;
            continue;
        }
        unsigned count = 1;
        const char *end = strchr(p, '}');
        for (const char *q = p; q < end; q++)
            count += *q == ',';
        unsigned choice = which % count;
        which /= count;
        const char *q = p + 1;
        while (choice--)
            q = strchr(q, ',') + 1;
        while (*q != ',' && *q != '}' && n + 1 < size)
            out[n++] = *q++;
        p = end + 1;
    }
    out[n] = 0;
    return which == 0;
}

static void replace(char *text, const char *what, const char *by) {
    char copy[512];
    for (char *at = strstr(text, what); at != NULL; at = strstr(at + strlen(by), what)) {
        snprintf(copy, sizeof copy, "%s%s", by, at + strlen(what));
        strcpy(at, copy);
    }
}

static void load_sources(case_builder *b, const char *from) {
    for (unsigned s = 0; from[s]; s++) {
        const letter *l = letter_of(from[s]);
        unsigned word = case_input(b, l->kind);
        case_put(&b->body, ".reg .%s %%s%u;\n", l->type, s);
        switch (l->bits) {
        case 1:
            case_put(&b->body, "and.b32 %%t4, %%i%u, 1;\nsetp.ne.u32 %%s%u, %%t4, 0;\n", word, s);
            break;
        case 16:
            case_put(&b->body, "mov.b32 {%%s%u, %%x}, %%i%u;\n", s, word);
            break;
        case 64:
            case_input(b, l->kind == CASE_F64_LOW ? CASE_F64_HIGH : CASE_INT_HIGH);
            case_put(&b->body, "mov.b64 %%s%u, {%%i%u, %%i%u};\n", s, word, word + 1);
            break;
        default:
            case_put(&b->body, "mov.b32 %%s%u, %%i%u;\n", s, word);
        }
    }
}

static void store_result(case_builder *b, const letter *l, unsigned word) {
    switch (l->bits) {
    case 1:
        case_put(&b->body, "selp.u32 %%o%u, 1, 0, d;\n", word);
        break;
    case 16:
        case_put(&b->body, "mov.b16 %%x, 0;\nmov.b32 %%o%u, {d, %%x};\n", word);
        break;
    case 64:
        case_put(&b->body, "mov.b64 {%%o%u, %%o%u}, d;\n", word, word + 1);
        break;
    default:
        case_put(&b->body, "mov.b32 %%o%u, d;\n", word);
    }
}

void cases_scalar(case_taker *take, void *user) {
    case_builder builder = {.take = take, .user = user}, *b = &builder;
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        const instruction_row *row = &rows[r];
        const letter *to = letter_of(row->to[0]);
        char text[512], name[512];
        case_start(b, row->name, 64);
        b->c.bounded = row->bounded;
        b->version = 83;
        case_put(&b->body, ".reg .b16 %%x;\n");
        load_sources(b, row->from);
        bool more = true;
        for (unsigned which = 0; more; which++) {
            if (!expand(row->text, which, text, sizeof text))
                break;
            snprintf(name, sizeof name, "%s", text);
            replace(name, " .", ".");
            replace(name, "$d, ", "");
            replace(name, " ", "");
            replace(text, "$d", "d");
            replace(text, "$a", "%s0");
            replace(text, "$b", "%s1");
            replace(text, "$c", "%s2");
            unsigned word = case_part_add(b, name, to->bits == 64 ? 2 : 1);
            case_put(&b->body, "{\n.reg .%s d;\n%s\n", to->type, text);
            store_result(b, to, word);
            case_put(&b->body, "}\n");
        }
        case_end(b);
    }
}
