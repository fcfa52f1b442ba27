/* SPDX-License-Identifier: Apache-2.0
 * Names of types, opcodes, modifiers and special registers. Pure tables; knows no text positions. */
#include "ptx/ptx.h"
#include <string.h>

static const uint8_t type_bits[PTX_TYPE_COUNT] = {
#define X(name, bits) [PTX_TYPE_##name] = bits,
    PTX_TYPES(X)
#undef X
};

/* Lower-case text of the enumerators; the unit test holds it to PTX_TYPES. */
static const char *const mod_names[PTX_MOD_COUNT] = {
    /* clang-format off */
    [PTX_MOD_NONE] = "",
    [PTX_MOD_B8] = "b8", [PTX_MOD_B16] = "b16", [PTX_MOD_B32] = "b32", [PTX_MOD_B64] = "b64", [PTX_MOD_B128] = "b128",
    [PTX_MOD_U8] = "u8", [PTX_MOD_U16] = "u16", [PTX_MOD_U32] = "u32", [PTX_MOD_U64] = "u64",
    [PTX_MOD_S8] = "s8", [PTX_MOD_S16] = "s16", [PTX_MOD_S32] = "s32", [PTX_MOD_S64] = "s64",
    [PTX_MOD_F16] = "f16", [PTX_MOD_BF16] = "bf16", [PTX_MOD_F16X2] = "f16x2", [PTX_MOD_BF16X2] = "bf16x2",
    [PTX_MOD_F32] = "f32", [PTX_MOD_TF32] = "tf32", [PTX_MOD_F64] = "f64", [PTX_MOD_F32X2] = "f32x2",
    [PTX_MOD_U16X2] = "u16x2", [PTX_MOD_S16X2] = "s16x2", [PTX_MOD_E4M3] = "e4m3", [PTX_MOD_E5M2] = "e5m2",
    [PTX_MOD_E4M3X2] = "e4m3x2", [PTX_MOD_E5M2X2] = "e5m2x2", [PTX_MOD_E2M3X2] = "e2m3x2", [PTX_MOD_E3M2X2] = "e3m2x2",
    [PTX_MOD_E2M1X2] = "e2m1x2", [PTX_MOD_UE8M0X2] = "ue8m0x2", [PTX_MOD_U4] = "u4", [PTX_MOD_S4] = "s4",
    [PTX_MOD_U2] = "u2", [PTX_MOD_S2] = "s2", [PTX_MOD_B1] = "b1", [PTX_MOD_E2M3] = "e2m3", [PTX_MOD_E3M2] = "e3m2",
    [PTX_MOD_E2M1] = "e2m1", [PTX_MOD_UE8M0] = "ue8m0", [PTX_MOD_UE4M3] = "ue4m3", [PTX_MOD_E4M3X4] = "e4m3x4",
    [PTX_MOD_E5M2X4] = "e5m2x4", [PTX_MOD_E2M3X4] = "e2m3x4", [PTX_MOD_E3M2X4] = "e3m2x4", [PTX_MOD_E2M1X4] = "e2m1x4",
    [PTX_MOD_S2F6X2] = "s2f6x2", [PTX_MOD_UE5M3X2] = "ue5m3x2",
    [PTX_MOD_PRED] = "pred", [PTX_MOD_TEXREF] = "texref", [PTX_MOD_SAMPLERREF] = "samplerref",
    [PTX_MOD_SURFREF] = "surfref",
/* clang-format on */
#define MOD(enumerator, text, version, sm) [PTX_MOD_##enumerator] = text,
#include "ptx/ptx_mods.def"
#undef MOD
};

static const char *const op_names[PTX_OP_COUNT] = {
    [PTX_OP_NONE] = "",
#define OP(enumerator, text, written, class) [PTX_OP_##enumerator] = text,
#define FORM(enumerator, modifiers, operands, version, sm, target)
#include "ptx/ptx_table.def"
#undef OP
#undef FORM
};

static const char *const special_names[PTX_SPECIAL_COUNT] = {[PTX_SPECIAL_NONE] = "",
#define X(name, text, bits, version, sm) [PTX_SPECIAL_##name] = text,
                                                             PTX_SPECIALS(X)
#undef X
};

static const uint8_t special_bits[PTX_SPECIAL_COUNT] = {
#define X(name, text, bits, version, sm) [PTX_SPECIAL_##name] = bits,
    PTX_SPECIALS(X)
#undef X
};

const char *ptx_type_name(ptx_type type) {
    return type < PTX_TYPE_COUNT ? mod_names[type] : "";
}

unsigned ptx_type_bits(ptx_type type) {
    return type < PTX_TYPE_COUNT ? type_bits[type] : 0;
}

bool ptx_type_find(const char *name, size_t size, ptx_type *type) {
    for (int i = 1; i < PTX_TYPE_COUNT; i++) {
        if (strlen(mod_names[i]) == size && memcmp(mod_names[i], name, size) == 0) {
            *type = (ptx_type)i;
            return true;
        }
    }
    return false;
}

const char *ptx_op_name(ptx_op op) {
    return op < PTX_OP_COUNT ? op_names[op] : "";
}

const char *ptx_mod_name(ptx_mod mod) {
    return mod < PTX_MOD_COUNT ? mod_names[mod] : "";
}

const char *ptx_special_name(ptx_special special) {
    return special < PTX_SPECIAL_COUNT ? special_names[special] : "";
}

unsigned ptx_special_bits(ptx_special special) {
    return special < PTX_SPECIAL_COUNT ? special_bits[special] : 0;
}

bool ptx_has(const ptx_instruction *instruction, ptx_mod mod) {
    for (unsigned i = 0; i < instruction->mod_count; i++) {
        if (instruction->mods[i] == mod) {
            return true;
        }
    }
    return false;
}
