/* SPDX-License-Identifier: Apache-2.0
 * mov with packing and unpacking, addresses of variables, cvta and isspacep, special registers. */
#include "vm/vm_decode.h"

#define NONE VM_REF_NONE

static uint32_t launch_value(vm_decoder *d, vm_launch_value value) {
    return vm_decode_fill(d, (vm_fill){.kind = VM_FILL_SPECIAL, .value = value});
}

static uint32_t special_row(vm_decoder *d, uint64_t special) {
    switch (special) {
    case PTX_SPECIAL_TID_X:
        return VM_REF(VM_REF_WARP, VM_WARP_TID_X);
    case PTX_SPECIAL_TID_Y:
        return VM_REF(VM_REF_WARP, VM_WARP_TID_Y);
    case PTX_SPECIAL_TID_Z:
        return VM_REF(VM_REF_WARP, VM_WARP_TID_Z);
    case PTX_SPECIAL_LANEID:
        return VM_REF(VM_REF_WARP, VM_WARP_LANE);
    case PTX_SPECIAL_WARPID:
        return VM_REF(VM_REF_WARP, VM_WARP_INDEX);
    case PTX_SPECIAL_CTAID_X:
        return VM_REF(VM_REF_CTA, VM_CTA_X);
    case PTX_SPECIAL_CTAID_Y:
        return VM_REF(VM_REF_CTA, VM_CTA_Y);
    case PTX_SPECIAL_CTAID_Z:
        return VM_REF(VM_REF_CTA, VM_CTA_Z);
    case PTX_SPECIAL_NTID_X:
        return launch_value(d, VM_VALUE_NTID_X);
    case PTX_SPECIAL_NTID_Y:
        return launch_value(d, VM_VALUE_NTID_Y);
    case PTX_SPECIAL_NTID_Z:
        return launch_value(d, VM_VALUE_NTID_Z);
    case PTX_SPECIAL_NCTAID_X:
        return launch_value(d, VM_VALUE_NCTAID_X);
    case PTX_SPECIAL_NCTAID_Y:
        return launch_value(d, VM_VALUE_NCTAID_Y);
    case PTX_SPECIAL_NCTAID_Z:
        return launch_value(d, VM_VALUE_NCTAID_Z);
    case PTX_SPECIAL_NWARPID:
        return launch_value(d, VM_VALUE_NWARPID);
    case PTX_SPECIAL_DYNAMIC_SMEM_SIZE:
        return launch_value(d, VM_VALUE_DYNAMIC_SHARED_BYTES);
    case PTX_SPECIAL_TOTAL_SMEM_SIZE:
    case PTX_SPECIAL_AGGR_SMEM_SIZE:
        return launch_value(d, VM_VALUE_TOTAL_SHARED_BYTES);
    case PTX_SPECIAL_WARP_SIZE:
        return vm_decode_constant(d, VM_LANES, false);
    case PTX_SPECIAL_RESERVED_SMEM_OFFSET_END:
        return vm_decode_constant(d, VM_SHARED_RESERVED, false);
    case PTX_SPECIAL_TID_W:
    case PTX_SPECIAL_NTID_W:
    case PTX_SPECIAL_CTAID_W:
    case PTX_SPECIAL_NCTAID_W:
    case PTX_SPECIAL_RESERVED_SMEM_OFFSET_BEGIN:
        return vm_decode_constant(d, 0, false);
    default:
        return NONE;
    }
}

uint32_t vm_decode_special(vm_decoder *d, uint64_t special, bool wide) {
    uint32_t row = special_row(d, special & 0xffff);
    if (row == NONE) {
        uint32_t to = vm_decode_temporary(d, wide ? 2 : 1);
        vm_op *op = vm_decode_emit(d, VM_CODE_EXTERNAL, VM_EXTERNAL_SPECIAL);
        op->d = to;
        op->imm = (special & 0xffff) | (wide ? 1u << 16 : 0) | special >> 16 << 17;
        return to;
    }
    return wide ? vm_decode_lane_new(d, VM_LANE_ZEXT32, row, NONE, NONE, 0) : row;
}

/* Address of a variable in its own state space. */
uint32_t vm_decode_address(vm_decoder *d, const ptx_variable *variable, int64_t offset, bool wide) {
    uint64_t add = (uint64_t)offset;
    uint32_t frame = (uint32_t)(uintptr_t)base_map_get(d->frame_of, BASE_KEY(variable));
    if (frame != 0) {
        uint32_t inside = vm_decode_constant(d, frame - 1 + add, wide);
        if (d->source->is_entry)
            return inside;
        uint32_t base = vm_decode_special(d, VM_SPECIAL_FRAME, wide);
        return vm_decode_lane_new(d, wide ? VM_LANE_ADD64 : VM_LANE_ADD32, base, inside, NONE, 0);
    }
    if (d->source->is_entry)
        for (size_t i = 0; i < d->source->parameters.count; i++)
            if (d->source->parameters.items[i] == variable)
                return vm_decode_constant(d, d->function->parameters[i].offset + add, wide);
    const vm_program_variable *placed = vm_layout_variable(d->program, variable);
    if (placed == NULL || !placed->placed) {
        vm_decode_unsupported(d);
        return vm_decode_constant(d, 0, wide);
    }
    uint32_t address =
        placed->dynamic
            ? vm_decode_fill(d, (vm_fill){.kind = VM_FILL_DYNAMIC_SHARED, .value = add, .wide = wide})
            : vm_decode_constant(d, placed->address + add, wide);
    return variable->space == PTX_SPACE_SHARED ? vm_decode_window(d, address, wide) : address;
}

uint32_t vm_decode_window(vm_decoder *d, uint32_t address, bool wide) {
    uint32_t window = VM_REF(VM_REF_CTA, VM_CTA_WINDOW);
    if (!d->program->clustered)
        return address;
    if (wide)
        window = vm_decode_lane_new(d, VM_LANE_ZEXT32, window, NONE, NONE, 0);
    return vm_decode_lane_new(d, wide ? VM_LANE_ADD64 : VM_LANE_ADD32, address, window, NONE, 0);
}

static void move(vm_decoder *d, const ptx_operand *to, uint32_t from, ptx_type type) {
    static const vm_lane lanes[] = {VM_LANE_PMOV, VM_LANE_MOV32, VM_LANE_MOV64, VM_LANE_MOV128,
                                    VM_LANE_MOV128};
    vm_decode_lane(d, lanes[vm_decode_rows(type)], vm_decode_target(d, to, type), from, NONE, NONE, 0);
}

static ptx_type bits_type(unsigned bits) {
    return bits == 8 ? PTX_TYPE_B8 : bits == 16 ? PTX_TYPE_B16 : bits == 32 ? PTX_TYPE_B32 : PTX_TYPE_B64;
}

/* {a, b, ...} joined, the first lowest: halves pairwise until one value is left. */
static uint32_t join(vm_decoder *d, const ptx_operand *vector, unsigned bits) {
    uint32_t part[16];
    unsigned count = vector->count, width = count ? bits / count : 0;
    if (count < 2 || count > 16 || (count & (count - 1)) != 0 || width < 8) {
        vm_decode_unsupported(d);
        return vm_decode_constant(d, 0, bits == 64);
    }
    for (unsigned i = 0; i < count; i++)
        part[i] = vm_decode_source(d, &vector->args[i], bits_type(width));
    for (; count > 1; count /= 2, width *= 2)
        for (unsigned i = 0; i < count / 2; i++) {
            vm_lane lane = width == 8    ? VM_LANE_PACK8
                           : width == 16 ? VM_LANE_PACK16
                           : width == 32 ? VM_LANE_PACK64
                                         : VM_LANE_PACK128;
            part[i] = vm_decode_lane_new(d, lane, part[2 * i], part[2 * i + 1], NONE, 0);
        }
    return part[0];
}

/* One element of a value of `bits` bits: element `index` of `width` bits. */
static uint32_t element(vm_decoder *d, uint32_t value, unsigned bits, unsigned width, unsigned index) {
    if (bits == 128) {
        unsigned per = 64 / width;
        value = vm_decode_lane_new(d, index / per ? VM_LANE_HI128 : VM_LANE_LO128, value, NONE, NONE, 0);
        index %= per;
        bits = 64;
    }
    if (width == 64)
        return value;
    if (bits == 64) {
        unsigned per = 32 / width;
        value = vm_decode_lane_new(d, index / per ? VM_LANE_HI64 : VM_LANE_TRUNC64, value, NONE, NONE, 0);
        index %= per;
    }
    if (width == 32)
        return value;
    if (index)
        value = vm_decode_lane_new(d, VM_LANE_SHRU32, value, vm_decode_constant(d, index * width, false),
                                   NONE, 0);
    return vm_decode_lane_new(d, width == 16 ? VM_LANE_ZEXT16 : VM_LANE_ZEXT8, value, NONE, NONE, 0);
}

static void move_vectors(vm_decoder *d, const ptx_operand *to, const ptx_operand *from, ptx_type type) {
    uint32_t part[16];
    if (to->count != from->count || to->count > 16) {
        vm_decode_unsupported(d);
        return;
    }
    for (unsigned i = 0; i < from->count; i++) /* copies first: {a, b} = {b, a} swaps */
        part[i] = vm_decode_lane_new(d, vm_decode_rows(type) == 2 ? VM_LANE_MOV64 : VM_LANE_MOV32,
                                     vm_decode_source(d, &from->args[i], type), NONE, NONE, 0);
    for (unsigned i = 0; i < to->count; i++)
        if (to->args[i].kind != PTX_OPERAND_SINK)
            move(d, &to->args[i], part[i], type);
}

static void mov(vm_decoder *d) {
    const ptx_instruction *i = d->instruction;
    const ptx_operand *to = vm_decode_operand(d, 0), *from = vm_decode_operand(d, 1);
    unsigned bits = ptx_type_bits(i->type);
    if (to == NULL || from == NULL) {
        vm_decode_unsupported(d);
    } else if (ptx_has(i, PTX_MOD_V2) || ptx_has(i, PTX_MOD_V4) ||
               (to->kind == PTX_OPERAND_VECTOR && from->kind == PTX_OPERAND_VECTOR)) {
        if (to->kind == PTX_OPERAND_VECTOR && from->kind == PTX_OPERAND_VECTOR)
            move_vectors(d, to, from, i->type);
        else
            vm_decode_unsupported(d);
    } else if (from->kind == PTX_OPERAND_VECTOR) {
        uint32_t value = join(d, from, bits);
        move(d, to, value, i->type);
    } else if (to->kind == PTX_OPERAND_VECTOR) {
        uint32_t value = vm_decode_source(d, from, i->type), part[16];
        unsigned width = to->count ? bits / to->count : 0;
        if (to->count > 16 || width < 8) {
            vm_decode_unsupported(d);
            return;
        }
        for (unsigned k = 0; k < to->count; k++)
            part[k] = element(d, value, bits, width, k);
        for (unsigned k = 0; k < to->count; k++)
            if (to->args[k].kind != PTX_OPERAND_SINK)
                move(d, &to->args[k], part[k], bits_type(width));
    } else {
        move(d, to, vm_decode_source(d, from, i->type), i->type);
    }
}

static vm_space window_space(const ptx_instruction *i) {
    if (ptx_has(i, PTX_MOD_SHARED) || ptx_has(i, PTX_MOD_SHARED__CTA) || ptx_has(i, PTX_MOD_SHARED__CLUSTER))
        return VM_SHARED;
    if (ptx_has(i, PTX_MOD_LOCAL))
        return VM_LOCAL;
    if (ptx_has(i, PTX_MOD_CONST))
        return VM_CONST;
    if (ptx_has(i, PTX_MOD_PARAM) || ptx_has(i, PTX_MOD_PARAM__ENTRY))
        return VM_PARAM;
    return VM_GLOBAL;
}

static void convert_address(vm_decoder *d) {
    static const uint64_t bases[] = {0, VM_SHARED_BASE, VM_LOCAL_BASE, VM_CONST_BASE, VM_PARAM_BASE};
    const ptx_instruction *i = d->instruction;
    uint64_t base = bases[window_space(i)];
    if (i->type != PTX_TYPE_U64) {
        vm_decode_unsupported(d);
        return;
    }
    uint32_t to = vm_decode_write(d, 0, i->type), from = vm_decode_read(d, 1, i->type);
    if (base == 0)
        vm_decode_lane(d, VM_LANE_MOV64, to, from, NONE, NONE, 0);
    else
        vm_decode_lane(d, VM_LANE_ADD64, to, from,
                       vm_decode_constant(d, ptx_has(i, PTX_MOD_TO) ? 0 - base : base, true), NONE, 0);
}

bool vm_decode_move(vm_decoder *d) {
    switch (d->instruction->op) {
    case PTX_OP_MOV:
        mov(d);
        return true;
    case PTX_OP_CVTA:
        convert_address(d);
        return true;
    case PTX_OP_ISSPACEP: {
        uint32_t address = vm_decode_read(d, 1, PTX_TYPE_U64), to = vm_decode_write(d, 0, PTX_TYPE_PRED);
        vm_op *op = vm_decode_emit(d, VM_CODE_EXTERNAL, VM_EXTERNAL_ISSPACEP);
        op->d = to;
        op->a = address;
        op->imm = window_space(d->instruction) | (ptx_has(d->instruction, PTX_MOD_SHARED__CLUSTER) ? 8u : 0);
        return true;
    }
    case PTX_OP_ACTIVEMASK: {
        uint32_t to = vm_decode_write(d, 0, PTX_TYPE_B32);
        vm_op *op = vm_decode_emit(d, VM_CODE_EXTERNAL, VM_EXTERNAL_SPECIAL);
        op->d = to;
        op->imm = PTX_SPECIAL_NONE;
        return true;
    }
    default:
        return false;
    }
}
