/* SPDX-License-Identifier: Apache-2.0
 * ld, ldu, st, atom, red, prefetches (PTX ISA 9.7.9, 9.7.13). Kernel parameters at known offsets become rows
 * that the launch fills, so that they cost nothing. */
#include "vm/vm_atomic.h"
#include "vm/vm_decode.h"

#define NONE VM_REF_NONE

static vm_space space_of(const ptx_instruction *i) {
    if (ptx_has(i, PTX_MOD_SHARED) || ptx_has(i, PTX_MOD_SHARED__CTA) || ptx_has(i, PTX_MOD_SHARED__CLUSTER))
        return VM_SHARED;
    if (ptx_has(i, PTX_MOD_GLOBAL) || i->op == PTX_OP_LDU)
        return VM_GLOBAL;
    if (ptx_has(i, PTX_MOD_LOCAL))
        return VM_LOCAL;
    if (ptx_has(i, PTX_MOD_CONST))
        return VM_CONST;
    if (ptx_has(i, PTX_MOD_PARAM) || ptx_has(i, PTX_MOD_PARAM__ENTRY) || ptx_has(i, PTX_MOD_PARAM__FUNC))
        return VM_PARAM;
    return VM_GENERIC;
}

typedef struct address {
    vm_space space;
    vm_address_form form;
    uint32_t a;
    uint64_t offset;
    bool variable;        /* of the function's .local ones */
    bool entry_parameter; /* offset into the parameters of the kernel */
} address;

static bool is_entry_parameter(const vm_decoder *d, const ptx_variable *variable, uint64_t *offset) {
    for (size_t i = 0; d->source->is_entry && i < d->source->parameters.count; i++)
        if (d->source->parameters.items[i] == variable) {
            *offset += d->function->parameters[i].offset;
            return true;
        }
    return false;
}

static bool variable_address(vm_decoder *d, const ptx_variable *variable, address *out) {
    uint32_t frame = (uint32_t)(uintptr_t)base_map_get(d->frame_of, BASE_KEY(variable));
    out->form = VM_ADDRESS_FIXED;
    if (frame != 0) {
        out->space = VM_FRAME;
        out->variable = variable->space == PTX_SPACE_LOCAL;
        out->offset += frame - 1;
        return true;
    }
    if (is_entry_parameter(d, variable, &out->offset)) {
        out->space = VM_PARAM;
        out->entry_parameter = true;
        return true;
    }
    const vm_program_variable *placed = vm_layout_variable(d->program, variable);
    if (placed == NULL || !placed->placed)
        return false;
    static const vm_space spaces[] = {
        [PTX_SPACE_GLOBAL] = VM_GLOBAL, [PTX_SPACE_SHARED] = VM_SHARED, [PTX_SPACE_CONST] = VM_CONST};
    if (variable->space != PTX_SPACE_GLOBAL && variable->space != PTX_SPACE_SHARED &&
        variable->space != PTX_SPACE_CONST)
        return false;
    out->space = spaces[variable->space];
    if (placed->dynamic) {
        out->form = VM_ADDRESS_32;
        out->a = vm_decode_window(d, vm_decode_fill(d, (vm_fill){.kind = VM_FILL_DYNAMIC_SHARED}), false);
        return true;
    }
    out->offset += placed->address;
    return true;
}

static bool memory_address(vm_decoder *d, const ptx_operand *operand, vm_space space, address *out) {
    *out = (address){.space = space, .form = VM_ADDRESS_FIXED, .a = NONE};
    if (operand == NULL || operand->kind != PTX_OPERAND_MEMORY || operand->count != 1)
        return false;
    const ptx_operand *base = &operand->args[0];
    out->offset = operand->bits;
    switch (base->kind) {
    case PTX_OPERAND_REGISTER: {
        unsigned rows = vm_decode_rows(base->of.reg->type);
        if (rows != 1 && rows != 2)
            return false;
        out->form = rows == 2 ? VM_ADDRESS_64 : VM_ADDRESS_32;
        out->a = VM_REF(VM_REF_FRAME, base->of.reg->id);
        if (space == VM_PARAM && !d->source->is_entry)
            out->space = VM_LOCAL; /* parameters of functions live in local memory here */
        return true;
    }
    case PTX_OPERAND_VARIABLE:
        out->offset += base->bits;
        return variable_address(d, base->of.variable, out);
    case PTX_OPERAND_IMMEDIATE:
        out->offset += base->bits;
        return true;
    default:
        return false;
    }
}

uint32_t vm_decode_place_of(vm_decoder *d, const ptx_operand *operand, vm_space space) {
    address at;
    if (!memory_address(d, operand, space, &at) || at.space == VM_FRAME) {
        vm_decode_unsupported(d);
        return vm_decode_constant(d, 0, true);
    }
    static const uint64_t windows[] = {[VM_SHARED] = VM_SHARED_BASE,
                                       [VM_LOCAL] = VM_LOCAL_BASE,
                                       [VM_CONST] = VM_CONST_BASE,
                                       [VM_PARAM] = VM_PARAM_BASE,
                                       [VM_FRAME] = 0};
    if (space == VM_GENERIC && at.space != VM_GENERIC) /* a variable by its name */
        at.offset += windows[at.space];
    bool own = at.form == VM_ADDRESS_FIXED && at.space == VM_SHARED;
    if (at.form == VM_ADDRESS_FIXED)
        at.a = vm_decode_constant(d, at.offset, true);
    if (at.form == VM_ADDRESS_FIXED)
        return own ? vm_decode_window(d, at.a, true) : at.a;
    uint32_t base = at.a;
    if (at.form == VM_ADDRESS_32)
        base = vm_decode_lane_new(d, VM_LANE_ZEXT32, base, NONE, NONE, 0);
    if (at.offset == 0)
        return base;
    return vm_decode_lane_new(d, VM_LANE_ADD64, base, vm_decode_constant(d, at.offset, true), NONE, 0);
}

uint32_t vm_decode_place(vm_decoder *d, unsigned index, vm_space space) {
    return vm_decode_place_of(d, vm_decode_operand(d, index), space);
}

static unsigned vector_count(const ptx_instruction *i) {
    return ptx_has(i, PTX_MOD_V8) ? 8 : ptx_has(i, PTX_MOD_V4) ? 4 : ptx_has(i, PTX_MOD_V2) ? 2 : 1;
}

static bool polls(const ptx_instruction *i) {
    return ptx_has(i, PTX_MOD_VOLATILE) || ptx_has(i, PTX_MOD_ACQUIRE) || ptx_has(i, PTX_MOD_RELAXED) ||
           ptx_has(i, PTX_MOD_MMIO);
}

/* ---- checked programs (vm_race.h) ---- */
static void fence(vm_decoder *d) {
    vm_decode_listed(d, VM_EXTERNAL_RACE_FENCE, NULL, 0, 0);
}

/* Bits of sub that the race checker wants, and how wide the access is. */
static unsigned checked_bits(vm_decoder *d, const address *at, bool strong, unsigned log2) {
    if (!d->program->checked)
        return 0;
    if ((at->space == VM_SHARED || at->space == VM_GENERIC) && log2 < d->program->race_shift)
        d->program->race_shift = (uint8_t)log2;
    return (strong ? VM_ACCESS_STRONG : 0) | (at->variable ? VM_ACCESS_WATCHED : 0);
}

static bool acquires(const vm_decoder *d, const ptx_instruction *i) {
    return d->program->checked && (ptx_has(i, PTX_MOD_ACQUIRE) || ptx_has(i, PTX_MOD_ACQ_REL));
}

static bool releases(const vm_decoder *d, const ptx_instruction *i) {
    return d->program->checked && (ptx_has(i, PTX_MOD_RELEASE) || ptx_has(i, PTX_MOD_ACQ_REL));
}

static unsigned log2_of(unsigned bytes) {
    return bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : bytes == 8 ? 3 : 4;
}

/* A kernel parameter at a known place: a row filled at launch. */
static uint32_t parameter_row(vm_decoder *d, uint64_t offset, ptx_type type, bool wide) {
    vm_fill fill = {.kind = VM_FILL_PARAM, .kernel = d->source->id, .value = offset};
    fill.size = (uint8_t)(ptx_type_bits(type) / 8);
    fill.sign = vm_decode_signed(type);
    fill.wide = wide;
    return vm_decode_fill(d, fill);
}

static uint32_t target_of(vm_decoder *d, const ptx_operand *operand, ptx_type type, bool *wide, bool *cut) {
    unsigned bits = vm_decode_register_bits(operand, type);
    *wide = bits == 64;
    *cut = bits == 16 && ptx_type_bits(type) == 8 && vm_decode_signed(type);
    if (operand->kind == PTX_OPERAND_SINK)
        return NONE;
    return vm_decode_target(d, operand,
                            bits == 64    ? PTX_TYPE_B64
                            : bits == 128 ? PTX_TYPE_B128
                                          : PTX_TYPE_B32);
}

static void load(vm_decoder *d) {
    const ptx_instruction *i = d->instruction;
    address at;
    unsigned count = vector_count(i), bytes = ptx_type_bits(i->type) / 8;
    const ptx_operand *to = vm_decode_operand(d, 0), *list = to;
    if (to == NULL || bytes == 0 || count * bytes > 32 ||
        !memory_address(d, vm_decode_operand(d, 1), space_of(i), &at) ||
        (count > 1 && (to->kind != PTX_OPERAND_VECTOR || to->count != count))) {
        vm_decode_unsupported(d);
        return;
    }
    if (to->kind == PTX_OPERAND_VECTOR)
        list = to->args;
    uint32_t refs[8];
    bool wide = false, cut = false, element_wide;
    for (unsigned k = 0; k < count; k++) {
        refs[k] = target_of(d, &list[k], i->type, &element_wide, &cut);
        if (list[k].kind != PTX_OPERAND_SINK)
            wide = element_wide;
    }
    if (count == 1 && refs[0] == NONE)
        refs[0] = vm_decode_temporary(d, bytes == 16 ? 4 : bytes == 8 ? 2 : 1);
    if (at.entry_parameter && bytes <= 8 && at.offset + count * bytes <= d->function->parameter_bytes) {
        for (unsigned k = 0; k < count; k++)
            if (refs[k] != NONE)
                vm_decode_lane(d, wide ? VM_LANE_MOV64 : VM_LANE_MOV32, refs[k],
                               parameter_row(d, at.offset + k * bytes, i->type, wide), NONE, NONE, 0);
        return;
    }
    uint32_t extras = 0;
    if (count > 1) {
        uint32_t written[8];
        for (unsigned k = 0; k < count; k++)
            written[k] = refs[k] == NONE ? NONE : refs[k] | VM_REF_WRITTEN;
        extras = vm_decode_extras(d, written, count);
    }
    vm_op *op = vm_decode_emit(
        d, VM_CODE_LOAD,
        VM_ACCESS(at.space, log2_of(bytes), count, vm_decode_signed(i->type), wide, at.form, 0) |
            (ptx_has(i, PTX_MOD_SHARED__CLUSTER) ? VM_ACCESS_CLUSTER : 0) |
            checked_bits(d, &at, polls(i), log2_of(bytes)));
    op->d = count == 1 ? refs[0] : NONE;
    op->a = at.a;
    op->imm = at.offset;
    op->x = extras;
    if (acquires(d, i))
        fence(d);
    for (unsigned k = 0; cut && k < count; k++)
        if (refs[k] != NONE)
            vm_decode_lane(d, VM_LANE_ZEXT16, refs[k], refs[k], NONE, NONE, 0);
    if (polls(i)) {
        d->poll = true;
        if (at.space == VM_GLOBAL || at.space == VM_GENERIC)
            d->function->serial = true;
    }
}

static void store(vm_decoder *d) {
    const ptx_instruction *i = d->instruction;
    address at;
    unsigned count = vector_count(i), bytes = ptx_type_bits(i->type) / 8;
    const ptx_operand *from = vm_decode_operand(d, 1), *list = from;
    if (from == NULL || bytes == 0 || count * bytes > 32 ||
        !memory_address(d, vm_decode_operand(d, 0), space_of(i), &at) ||
        (count > 1 && (from->kind != PTX_OPERAND_VECTOR || from->count != count))) {
        vm_decode_unsupported(d);
        return;
    }
    if (from->kind == PTX_OPERAND_VECTOR)
        list = from->args;
    uint32_t refs[8];
    bool wide = false;
    for (unsigned k = 0; k < count; k++)
        wide |= vm_decode_register_bits(&list[k], i->type) == 64;
    for (unsigned k = 0; k < count; k++) {
        ptx_type type = i->type;
        if (list[k].kind == PTX_OPERAND_REGISTER && bytes < 16)
            type = wide ? PTX_TYPE_B64 : PTX_TYPE_B32;
        else if (wide && bytes < 8)
            type = PTX_TYPE_B64;
        refs[k] = vm_decode_source(d, &list[k], type);
    }
    uint32_t extras = count > 1 ? vm_decode_extras(d, refs, count) : 0;
    if (releases(d, i))
        fence(d);
    vm_op *op =
        vm_decode_emit(d, VM_CODE_STORE,
                       VM_ACCESS(at.space, log2_of(bytes), count, 0, wide, at.form, 0) |
                           (ptx_has(i, PTX_MOD_SHARED__CLUSTER) ? VM_ACCESS_CLUSTER : 0) |
                           checked_bits(d, &at, polls(i) || ptx_has(i, PTX_MOD_RELEASE), log2_of(bytes)));
    op->d = count == 1 ? refs[0] : NONE;
    op->a = at.a;
    op->imm = at.offset;
    op->x = extras;
    if (polls(i) || ptx_has(i, PTX_MOD_RELEASE))
        vm_decode_synchronises(d);
}

bool vm_decode_atomic_operation(const ptx_instruction *i, vm_atomic_operation *operation) {
    static const struct {
        ptx_mod mod;
        vm_atomic_operation operation;
    } rows[] = {{PTX_MOD_CAS, VM_ATOMIC_COMPARE}, {PTX_MOD_EXCH, VM_ATOMIC_EXCHANGE},
                {PTX_MOD_ADD, VM_ATOMIC_ADD},     {PTX_MOD_AND, VM_ATOMIC_AND},
                {PTX_MOD_OR, VM_ATOMIC_OR},       {PTX_MOD_XOR, VM_ATOMIC_XOR},
                {PTX_MOD_MIN, VM_ATOMIC_MIN},     {PTX_MOD_MAX, VM_ATOMIC_MAX},
                {PTX_MOD_INC, VM_ATOMIC_INC},     {PTX_MOD_DEC, VM_ATOMIC_DEC}};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        if (ptx_has(i, rows[k].mod)) {
            *operation = rows[k].operation;
            return true;
        }
    return false;
}

/* Does the order of CTAs show? Used results, exchanges, and sums of floats. */
static bool order_shows(const vm_decoder *d, const ptx_operand *to, vm_atomic_operation operation,
                        ptx_type type) {
    bool is_float = vm_decode_float(type) || type == PTX_TYPE_F16X2 || type == PTX_TYPE_BF16X2;
    (void)d;
    return (to != NULL && to->kind != PTX_OPERAND_SINK) || operation == VM_ATOMIC_COMPARE ||
           operation == VM_ATOMIC_EXCHANGE || (is_float && operation == VM_ATOMIC_ADD);
}

static void atomic(vm_decoder *d, bool returns) {
    const ptx_instruction *i = d->instruction;
    const ptx_operand *to = returns ? vm_decode_operand(d, 0) : NULL;
    unsigned first = returns ? 1 : 0, count = vector_count(i), bytes = ptx_type_bits(i->type) / 8;
    vm_atomic_operation operation;
    address at;
    if (!vm_decode_atomic_operation(i, &operation) || bytes < 2 || count * bytes > 32 ||
        !memory_address(d, vm_decode_operand(d, first), space_of(i), &at) || at.space == VM_FRAME ||
        at.space == VM_LOCAL ||
        (at.form != VM_ADDRESS_FIXED && at.offset != (uint64_t)(int64_t)(int32_t)at.offset)) {
        vm_decode_unsupported(d);
        return;
    }
    if (at.form == VM_ADDRESS_FIXED) { /* the offset has 32 bits: the rest goes into a register */
        at.form = VM_ADDRESS_64;
        at.a = vm_decode_constant(d, at.offset, true);
        if (at.space == VM_SHARED)
            at.a = vm_decode_window(d, at.a, true);
        at.offset = 0;
    }
    uint32_t list[24];
    for (unsigned k = 0; k < count; k++) {
        const ptx_operand *b = vm_decode_operand(d, first + 1), *element = to;
        if (count > 1 && (b == NULL || b->kind != PTX_OPERAND_VECTOR || b->count != count ||
                          (to != NULL && (to->kind != PTX_OPERAND_VECTOR || to->count != count)))) {
            vm_decode_unsupported(d);
            return;
        }
        if (count > 1) {
            b = &b->args[k];
            element = to ? &to->args[k] : NULL;
        }
        list[3 * k] = element != NULL && element->kind != PTX_OPERAND_SINK
                          ? vm_decode_target(d, element, i->type) | VM_REF_WRITTEN
                          : NONE;
        list[3 * k + 1] = vm_decode_source(d, b, i->type);
        list[3 * k + 2] = operation == VM_ATOMIC_COMPARE ? vm_decode_read(d, first + 2, i->type) : NONE;
    }
    uint32_t extras = vm_decode_extras(d, list, 3 * count);
    checked_bits(d, &at, true, log2_of(bytes));
    if (releases(d, i))
        fence(d);
    vm_op *op = vm_decode_emit(d, VM_CODE_EXTERNAL, VM_EXTERNAL_ATOM);
    op->a = at.a;
    op->x = extras;
    op->imm = VM_ATOMIC_IMM(at.offset, VM_ACCESS(at.space, log2_of(bytes), count, 0, 0, at.form, 0),
                            operation, i->type);
    if (acquires(d, i))
        fence(d);
    if (operation == VM_ATOMIC_COMPARE || operation == VM_ATOMIC_EXCHANGE)
        d->poll = true;
    if (at.space != VM_SHARED && order_shows(d, to, operation, i->type))
        d->function->serial = true;
}

bool vm_decode_memory(vm_decoder *d) {
    switch (d->instruction->op) {
    case PTX_OP_LD:
    case PTX_OP_LDU:
        load(d);
        return true;
    case PTX_OP_ST:
        store(d);
        return true;
    case PTX_OP_ATOM:
        atomic(d, true);
        return true;
    case PTX_OP_RED:
        atomic(d, false);
        return true;
    case PTX_OP_PREFETCH: /* hints: they change no value */
    case PTX_OP_PREFETCHU:
    case PTX_OP_APPLYPRIORITY:
    case PTX_OP_DISCARD:
        return true;
    case PTX_OP_CREATEPOLICY_RANGE:
    case PTX_OP_CREATEPOLICY_FRACTIONAL:
    case PTX_OP_CREATEPOLICY_CVT:
        vm_decode_lane(d, VM_LANE_MOV64, vm_decode_write(d, 0, PTX_TYPE_B64), vm_decode_constant(d, 0, true),
                       NONE, NONE, 0);
        return true;
    default:
        return false;
    }
}
