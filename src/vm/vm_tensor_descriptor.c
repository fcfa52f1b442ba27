/* SPDX-License-Identifier: Apache-2.0
 * Decodes and checks the descriptors of tcgen05. Fields and legal values: PTX ISA 9.1, 9.7.16.4 "Instruction
 * descriptor" (tables 42 to 44), 9.7.16.2.1 "Shapes" (table 39), 9.7.16.5 "Shared memory descriptor",
 * 9.7.16.3 "Major-ness supported by strides" (table 54). Must not know where operands end up. */
#include "vm/vm_tensor_descriptor.h"

const char *vm_tensor_kind_name(vm_tensor_kind kind) {
    static const char *const names[] = {"f16", "tf32", "f8f6f4", "i8", "mxf8f6f4", "mxf4", "mxf4nvf4"};
    return kind < VM_TENSOR_KIND_COUNT ? names[kind] : "?";
}

void vm_tensor_violations_print(const vm_tensor_violations *violations, base_builder *out) {
    for (unsigned i = 0; i < violations->count; i++) {
        const vm_tensor_violation *v = &violations->list[i];
        base_builder_format(out, "%s%s %u", i > 0 ? "\n" : "", v->low == v->high ? "bit" : "bits", v->low);
        if (v->low != v->high)
            base_builder_format(out, "-%u", v->high);
        base_builder_format(out, " (%s) = %u; accepted: %s", v->field, v->value, v->accepted);
    }
}

static void violate(vm_tensor_violations *out, const char *field, unsigned low, unsigned high, uint32_t value,
                    const char *accepted) {
    if (out->count < VM_TENSOR_VIOLATIONS)
        out->list[out->count++] = (vm_tensor_violation){field, low, high, value, accepted};
}

static uint32_t field_of(uint64_t descriptor, unsigned low, unsigned high) {
    return (uint32_t)(descriptor >> low & ((UINT64_C(1) << (high - low + 1)) - 1));
}

static void expect_zero(vm_tensor_violations *out, uint64_t descriptor, unsigned low, unsigned high,
                        const char *field) {
    uint32_t value = field_of(descriptor, low, high);
    if (value != 0)
        violate(out, field, low, high, value, "0");
}

/* ---- types ---- */
static num_dtype operand_type(vm_tensor_kind kind, uint32_t code) {
    switch (kind) {
    case VM_TENSOR_F16:
        return code == 0 ? NUM_DTYPE_F16 : code == 1 ? NUM_DTYPE_BF16 : NUM_DTYPE_NONE;
    case VM_TENSOR_TF32:
        return code == 2 ? NUM_DTYPE_TF32 : NUM_DTYPE_NONE;
    case VM_TENSOR_I8:
        return code == 0 ? NUM_DTYPE_U8 : code == 1 ? NUM_DTYPE_I8 : NUM_DTYPE_NONE;
    case VM_TENSOR_F8F6F4:
    case VM_TENSOR_MXF8F6F4:
        return code == 0   ? NUM_DTYPE_F8E4M3FN
               : code == 1 ? NUM_DTYPE_F8E5M2
               : code == 3 ? NUM_DTYPE_F6E2M3FN
               : code == 4 ? NUM_DTYPE_F6E3M2FN
               : code == 5 ? NUM_DTYPE_F4E2M1FN
                           : NUM_DTYPE_NONE;
    default:
        return code == 1 ? NUM_DTYPE_F4E2M1FN : NUM_DTYPE_NONE;
    }
}

static const char *operand_types(vm_tensor_kind kind) {
    static const char *const texts[] = {
        [VM_TENSOR_F16] = "0 f16, 1 bf16",
        [VM_TENSOR_TF32] = "2 tf32",
        [VM_TENSOR_F8F6F4] = "0 e4m3, 1 e5m2, 3 e2m3, 4 e3m2, 5 e2m1",
        [VM_TENSOR_I8] = "0 u8, 1 s8",
        [VM_TENSOR_MXF8F6F4] = "0 e4m3, 1 e5m2, 3 e2m3, 4 e3m2, 5 e2m1",
        [VM_TENSOR_MXF4] = "1 e2m1",
        [VM_TENSOR_MXF4NVF4] = "1 e2m1",
    };
    return texts[kind];
}

static bool packed_kind(vm_tensor_kind kind) {
    return kind == VM_TENSOR_MXF4 || kind == VM_TENSOR_MXF4NVF4;
}

unsigned vm_tensor_container_bits(vm_tensor_kind kind, num_dtype type) {
    if (packed_kind(kind))
        return 4;
    return type == NUM_DTYPE_TF32 ? 32 : type == NUM_DTYPE_F16 || type == NUM_DTYPE_BF16 ? 16 : 8;
}

/* MN-major order exists for elements of 8, 16 and 32 bits (table 54). */
static bool mn_major_type(num_dtype type) {
    return type != NUM_DTYPE_F6E2M3FN && type != NUM_DTYPE_F6E3M2FN && type != NUM_DTYPE_F4E2M1FN;
}

/* ---- the instruction descriptor ---- */
static void decode_types(uint32_t idesc, const vm_tensor_form *form, vm_tensor_instruction *r,
                         vm_tensor_violations *out) {
    vm_tensor_kind kind = form->kind;
    /* mxf4: B's code has two bits, and bit 12 is reserved. */
    unsigned b_high = packed_kind(kind) ? 11 : 12;
    uint32_t a = field_of(idesc, 7, 9), b = field_of(idesc, 10, b_high);
    r->a = operand_type(kind, a);
    r->b = operand_type(kind, b);
    if (r->a == NUM_DTYPE_NONE)
        violate(out, "type of A", 7, 9, a, operand_types(kind));
    if (r->b == NUM_DTYPE_NONE)
        violate(out, "type of B", 10, b_high, b, operand_types(kind));
    if (packed_kind(kind))
        expect_zero(out, idesc, 12, 12, "reserved");
}

static void decode_accumulator(uint32_t idesc, const vm_tensor_form *form, vm_tensor_instruction *r,
                               vm_tensor_violations *out) {
    uint32_t d = field_of(idesc, 4, 5);
    vm_tensor_kind kind = form->kind;
    bool half = d == 0 && (kind == VM_TENSOR_F16 || kind == VM_TENSOR_F8F6F4);
    bool single = d == 1 && kind != VM_TENSOR_I8;
    r->d = half ? NUM_DTYPE_F16 : single ? NUM_DTYPE_F32 : NUM_DTYPE_I32;
    if (!half && !single && !(d == 2 && kind == VM_TENSOR_I8))
        violate(out, "type of D", 4, 5, d,
                kind == VM_TENSOR_I8     ? "2 s32"
                : kind == VM_TENSOR_TF32 ? "1 f32"
                                         : "0 f16, 1 f32");
    if (half && kind == VM_TENSOR_F16 && (r->a == NUM_DTYPE_BF16 || r->b == NUM_DTYPE_BF16))
        violate(out, "type of D", 4, 5, d, "1 f32 when A or B is bf16");
    if (kind == VM_TENSOR_F16 && r->a != r->b && r->a != NUM_DTYPE_NONE && r->b != NUM_DTYPE_NONE)
        violate(out, "type of B", 10, 12, field_of(idesc, 10, 12),
                "the type of A: kind::f16 takes f16 with f16 and bf16 with bf16");
}

/* Scale factors: ids are the byte in the cell, as far as a vector of scale_vec bytes may start there. */
static void decode_factors(uint32_t idesc, const vm_tensor_form *form, vm_tensor_instruction *r,
                           vm_tensor_violations *out) {
    r->factor_b = field_of(idesc, 4, 5);
    r->factor_a = field_of(idesc, 29, 30);
    unsigned step = form->scale_vec;
    const char *accepted = step == 2 ? "0 or 2 with two factors per row" : "0 with four factors per row";
    if (step > 1 && r->factor_b % step != 0)
        violate(out, "scale factor id of B", 4, 5, r->factor_b, accepted);
    if (step > 1 && r->factor_a % step != 0)
        violate(out, "scale factor id of A", 29, 30, r->factor_a, accepted);
    uint32_t scale = field_of(idesc, 23, 23);
    r->scale = scale ? NUM_DTYPE_F8E8M0FNU : NUM_DTYPE_F8E4M3FN;
    if (scale == 0 && form->kind != VM_TENSOR_MXF4NVF4)
        violate(out, "type of scale factors", 23, 23, scale, "1 ue8m0");
    else if (scale == 0 && form->scale_vec != 4)
        violate(out, "type of scale factors", 23, 23, scale, "1 ue8m0 with scale_vec::2X or block32");
}

static void decode_orders(uint32_t idesc, const vm_tensor_form *form, vm_tensor_instruction *r,
                          vm_tensor_violations *out) {
    r->negate_a = field_of(idesc, 13, 13);
    r->negate_b = field_of(idesc, 14, 14);
    if (form->kind == VM_TENSOR_I8) {
        expect_zero(out, idesc, 13, 13, "negate A, not in kind::i8");
        expect_zero(out, idesc, 14, 14, "negate B, not in kind::i8");
    }
    r->transpose_a = field_of(idesc, 15, 15);
    r->transpose_b = field_of(idesc, 16, 16);
    if (r->transpose_a && form->a_in_tmem)
        violate(out, "transpose A", 15, 15, 1, "0: A in tensor memory is K-major");
    else if (r->transpose_a && !mn_major_type(r->a))
        violate(out, "transpose A", 15, 15, 1, "0: elements of 4 and 6 bits are K-major");
    if (r->transpose_b && !mn_major_type(r->b))
        violate(out, "transpose B", 16, 16, 1, "0: elements of 4 and 6 bits are K-major");
}

/* Legal M and N (table 39). */
static void decode_shape(uint32_t idesc, const vm_tensor_form *form, vm_tensor_instruction *r,
                         vm_tensor_violations *out) {
    uint32_t n = field_of(idesc, 17, 22), m = field_of(idesc, 24, 28);
    bool scaled = form->kind >= VM_TENSOR_MXF8F6F4, integer = form->kind == VM_TENSOR_I8;
    r->n = n * 8;
    r->m = m * 16;
    static const unsigned depths[] = {16, 8, 32, 32, 32, 64, 64};
    r->k = depths[form->kind] * (form->sparse ? 2 : 1);
    bool m_good;
    const char *m_accepted;
    if (form->ws) {
        m_good = r->m == 32 || r->m == 64 || r->m == 128;
        m_accepted = "2, 4 or 8: M = 32, 64 or 128 with .ws";
    } else if (form->cta_group == 2) {
        m_good = r->m == 256 || (r->m == 128 && !(scaled && form->sparse));
        m_accepted = scaled && form->sparse ? "16: M = 256" : "8 or 16: M = 128 or 256 with cta_group::2";
    } else {
        m_good = r->m == 128 || (r->m == 64 && !scaled && !form->shifts_a);
        m_accepted = scaled           ? "8: M = 128"
                     : form->shifts_a ? "8: M = 128 with .ashift and cta_group::1"
                                      : "4 or 8: M = 64 or 128 with cta_group::1";
    }
    if (!m_good)
        violate(out, "M >> 4", 24, 28, m, m_accepted);
    unsigned pair = form->cta_group == 2 ? 2 : 1, step = 8 * pair;
    bool transposed_bytes = r->transpose_b && vm_tensor_container_bits(form->kind, r->b) == 8;
    bool n_good;
    const char *n_accepted;
    if (form->ws) {
        n_good = r->n == 64 || r->n == 128 || (r->n == 256 && !form->sparse);
        n_accepted = form->sparse ? "8 or 16: N = 64 or 128 with .ws and sparse A"
                                  : "8, 16 or 32: N = 64, 128 or 256 with .ws";
    } else if (integer && pair == 1) {
        n_good = r->n == 8 || r->n == 24 || (r->n % 16 == 0 && r->n >= 16);
        n_accepted = "N = 8, 16, 24, 32, then steps of 16 to 256";
    } else if (integer || transposed_bytes) {
        n_good = r->n % (16 * pair) == 0 && r->n >= 16 * pair;
        n_accepted = pair == 2 ? "N = 32 to 256 in steps of 32" : "N = 16 to 256 in steps of 16";
    } else {
        n_good = r->n % step == 0 && r->n >= step;
        n_accepted = pair == 2 ? "N = 16 to 256 in steps of 16" : "N = 8 to 256 in steps of 8";
    }
    if (transposed_bytes && integer && pair == 1 && r->n % 16 != 0)
        n_good = false;
    if (!n_good || r->n > 256)
        violate(out, "N >> 3", 17, 22, n, n_accepted);
}

void vm_tensor_instruction_decode(uint32_t idesc, const vm_tensor_form *form, vm_tensor_instruction *r,
                                  vm_tensor_violations *out) {
    *r = (vm_tensor_instruction){.a = NUM_DTYPE_NONE};
    out->count = 0;
    bool scaled = form->kind >= VM_TENSOR_MXF8F6F4;
    r->sparsity_selector = field_of(idesc, 0, 1);
    if (scaled || !form->sparse)
        expect_zero(out, idesc, 0, 1, scaled ? "reserved" : "sparsity selector of a dense A");
    r->sparse = field_of(idesc, 2, 2);
    if (r->sparse != form->sparse)
        violate(out, "sparse", 2, 2, r->sparse, form->sparse ? "1 with .sp" : "0 without .sp");
    r->saturate = field_of(idesc, 3, 3);
    if (form->kind != VM_TENSOR_I8)
        expect_zero(out, idesc, 3, 3, scaled ? "reserved" : "saturate, only in kind::i8");
    decode_types(idesc, form, r, out);
    expect_zero(out, idesc, 6, 6, "reserved");
    if (scaled) {
        r->d = NUM_DTYPE_F32;
        decode_factors(idesc, form, r, out);
    } else {
        decode_accumulator(idesc, form, r, out);
        expect_zero(out, idesc, 23, 23, "reserved");
    }
    decode_orders(idesc, form, r, out);
    decode_shape(idesc, form, r, out);
    if (scaled) {
        expect_zero(out, idesc, 31, 31,
                    packed_kind(form->kind) ? "K = 96, which sm_100a does not have" : "reserved");
    } else {
        expect_zero(out, idesc, 29, 29, "reserved");
        uint32_t shift = field_of(idesc, 30, 31);
        static const unsigned shifts[] = {0, 8, 16, 32};
        r->max_shift = shifts[shift];
        if (!form->ws && shift != 0)
            violate(out, "maximum shift, only with .ws", 30, 31, shift, "0");
    }
}

/* ---- the matrix descriptor ---- */
void vm_tensor_matrix_decode(uint64_t descriptor, vm_tensor_matrix *r, vm_tensor_violations *out) {
    static const struct {
        bool known;
        vm_tensor_swizzle swizzle;
    } codes[8] = {
        [0] = {true, VM_TENSOR_SWIZZLE_NONE}, [1] = {true, VM_TENSOR_SWIZZLE_128B_32B},
        [2] = {true, VM_TENSOR_SWIZZLE_128B}, [4] = {true, VM_TENSOR_SWIZZLE_64B},
        [6] = {true, VM_TENSOR_SWIZZLE_32B},
    };
    out->count = 0;
    *r = (vm_tensor_matrix){.start = field_of(descriptor, 0, 13) << 4,
                            .leading = field_of(descriptor, 16, 29) << 4,
                            .stride = field_of(descriptor, 32, 45) << 4,
                            .base_offset = field_of(descriptor, 49, 51)};
    expect_zero(out, descriptor, 14, 15, "reserved");
    expect_zero(out, descriptor, 30, 31, "reserved");
    if (field_of(descriptor, 46, 48) != 1)
        violate(out, "version", 46, 48, field_of(descriptor, 46, 48), "1");
    expect_zero(out, descriptor, 52, 52, "absolute leading dimension, which sm_100a does not have");
    expect_zero(out, descriptor, 53, 60, "reserved");
    uint32_t code = field_of(descriptor, 61, 63);
    r->swizzle = codes[code].swizzle;
    if (!codes[code].known)
        violate(out, "swizzle", 61, 63, code, "0 none, 1 128B with 32B atoms, 2 128B, 4 64B, 6 32B");
    else if (r->base_offset != 0 && code % 2 + (code == 0) != 0) /* table 41 has 128B, 64B and 32B */
        violate(out, "base offset", 49, 51, r->base_offset,
                code == 0 ? "0 without a swizzle" : "0: with 32B atoms no other is documented");
}

/* Bytes of a row of the swizzle atom, rows that one period of the pattern covers. */
static unsigned pattern_bytes(vm_tensor_swizzle swizzle) {
    static const unsigned bytes[] = {16, 256, 512, 1024, 512};
    return bytes[swizzle];
}

void vm_tensor_matrix_check(const vm_tensor_matrix *matrix, num_dtype type, unsigned bits, bool mn_major,
                            vm_tensor_violations *out) {
    uint32_t code = matrix->swizzle == VM_TENSOR_SWIZZLE_128B_32B ? 1 : 0;
    if (mn_major && bits == 32 && !code)
        violate(out, "swizzle", 61, 63, (uint32_t[]){0, 6, 4, 2, 1}[matrix->swizzle],
                "1 (128B with 32B atoms): the only one for MN-major elements of 32 bits");
    if (mn_major && bits != 32 && code)
        violate(out, "swizzle", 61, 63, 1, "0, 2, 4 or 6: 32B atoms are for MN-major elements of 32 bits");
    if (mn_major && !mn_major_type(type))
        violate(out, "start address", 0, 13, matrix->start >> 4,
                "a K-major matrix for elements of 4 or 6 bits");
    /* The row phase of the swizzle comes from the address, counted from where the base offset says that a
     * pattern starts: row 0 has to be there. */
    uint32_t phase = (matrix->start - 128 * matrix->base_offset) & (pattern_bytes(matrix->swizzle) - 1) &
                     ~(vm_tensor_atom_bytes(matrix->swizzle) - 1);
    if (phase != 0 && matrix->base_offset == 0) {
        static const char *const starts[] = {
            "", "a row 0 on a multiple of 256 bytes with 32B swizzle",
            "a row 0 on a multiple of 512 bytes with 64B swizzle",
            "a row 0 on a multiple of 1024 bytes with 128B swizzle",
            "a row 0 on a multiple of 512 bytes with 128B swizzle in 32B atoms"};
        violate(out, "start address >> 4", 0, 13, matrix->start >> 4, starts[matrix->swizzle]);
    } else if (phase != 0) {
        violate(out, "base offset", 49, 51, matrix->base_offset,
                "(address >> 7) & 7 of row 0, where the swizzle pattern starts");
    }
}
