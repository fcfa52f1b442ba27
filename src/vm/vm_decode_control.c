/* SPDX-License-Identifier: Apache-2.0
 * Branches, calls, exits, barriers, warp collectives, and instructions without effect here (PTX
 * ISA 9.7.12, 9.7.13). */
#include "vm/vm_decode.h"

#define NONE VM_REF_NONE

static void branch(vm_decoder *d) {
    const ptx_instruction *i = d->instruction;
    const ptx_operand *to = vm_decode_operand(d, 0);
    if (to == NULL || to->kind != PTX_OPERAND_LABEL) {
        vm_decode_unsupported(d);
        return;
    }
    vm_op *op = vm_decode_emit(d, i->guard ? VM_CODE_BRANCH_IF : VM_CODE_BRANCH,
                               i->guard && i->guard_negated ? 1 : 0);
    if (i->guard)
        op->a = VM_REF(VM_REF_FRAME, i->guard->id);
    op->x = to->of.label->target;
}

static void branch_indexed(vm_decoder *d) {
    const ptx_operand *table = vm_decode_operand(d, 1);
    if (table == NULL || table->kind != PTX_OPERAND_TABLE || table->of.table->kind != PTX_TABLE_BRANCH ||
        table->of.table->labels.count == 0) {
        vm_decode_unsupported(d);
        return;
    }
    uint32_t count = (uint32_t)table->of.table->labels.count;
    uint32_t *targets = BASE_NEW_ARRAY(d->arena, uint32_t, count);
    for (uint32_t k = 0; k < count; k++)
        targets[k] = table->of.table->labels.items[k]->target;
    uint32_t index = vm_decode_read(d, 0, PTX_TYPE_U32), extras = vm_decode_extras(d, targets, count);
    vm_op *op = vm_decode_emit(d, VM_CODE_SWITCH, 0);
    op->a = index;
    op->x = extras;
}

/* ---- calls ---- */
static ptx_type argument_type(const ptx_operand *argument, const ptx_variable *parameter) {
    if (argument->kind == PTX_OPERAND_REGISTER)
        return argument->of.reg->type;
    return parameter != NULL ? parameter->type : PTX_TYPE_B32;
}

static vm_op *frame_access(vm_decoder *d, vm_code code, uint32_t ref, ptx_type type, uint32_t offset) {
    unsigned rows = vm_decode_rows(type);
    vm_op *op = vm_decode_emit(d, code,
                               VM_ACCESS(VM_FRAME,
                                         rows == 1   ? 2
                                         : rows == 2 ? 3
                                                     : 4,
                                         1, 0, rows == 2, VM_ADDRESS_FIXED, 0));
    op->d = ref;
    op->imm = offset;
    return op;
}

/* Where an argument or a result stands in the caller's local memory; a register gets a hidden place. */
static bool place_argument(vm_decoder *d, const ptx_operand *argument, const ptx_variable *parameter,
                           vm_parameter *place) {
    if (argument->kind == PTX_OPERAND_VARIABLE) {
        uint32_t frame = (uint32_t)(uintptr_t)base_map_get(d->frame_of, BASE_KEY(argument->of.variable));
        if (frame == 0 || argument->bits != 0)
            return false;
        *place = (vm_parameter){frame - 1, (uint32_t)argument->of.variable->bytes};
        return true;
    }
    ptx_type type = argument_type(argument, parameter);
    unsigned bits = ptx_type_bits(type);
    if (bits < 8 || bits > 128 || d->function->local_bytes + 16 > VM_LOCAL_LIMIT)
        return false;
    *place = (vm_parameter){d->function->local_bytes, bits / 8};
    d->function->local_bytes += 16;
    return true;
}

static vm_external external_of(const ptx_function *function) {
    if (strcmp(function->name, "vprintf") == 0)
        return VM_EXTERNAL_PRINTF;
    if (strcmp(function->name, "__assertfail") == 0)
        return VM_EXTERNAL_ASSERT;
    return VM_EXTERNAL_UNSUPPORTED;
}

static const ptx_function *prototype_of(const ptx_operand *last) {
    if (last == NULL || last->kind != PTX_OPERAND_TABLE)
        return NULL;
    if (last->of.table->kind == PTX_TABLE_PROTOTYPE)
        return last->of.table->prototype;
    return last->of.table->functions.count ? last->of.table->functions.items[0] : NULL;
}

typedef struct call_parts {
    const ptx_operand *returns, *callee, *arguments;
} call_parts;

static bool split_call(vm_decoder *d, call_parts *parts) {
    *parts = (call_parts){0};
    for (unsigned k = 0; k < d->instruction->operand_count; k++) {
        const ptx_operand *operand = vm_decode_operand(d, k);
        if (operand->kind == PTX_OPERAND_LIST)
            *(parts->callee ? &parts->arguments : &parts->returns) = operand;
        else if (operand->kind == PTX_OPERAND_FUNCTION || operand->kind == PTX_OPERAND_REGISTER)
            parts->callee = operand;
    }
    return parts->callee != NULL;
}

static void call(vm_decoder *d) {
    call_parts parts;
    if (!split_call(d, &parts)) {
        vm_decode_unsupported(d);
        return;
    }
    vm_program *program = d->program;
    const ptx_function *known = parts.callee->kind == PTX_OPERAND_FUNCTION ? parts.callee->of.function : NULL;
    const ptx_function *shape =
        known ? known : prototype_of(vm_decode_operand(d, d->instruction->operand_count - 1));
    vm_call_site site = {.function = known ? known->id : UINT32_MAX};
    site.argument_count = parts.arguments ? parts.arguments->count : 0;
    site.return_count = parts.returns ? parts.returns->count : 0;
    vm_parameter *arguments = BASE_NEW_ARRAY(program->arena, vm_parameter, site.argument_count);
    vm_parameter *returns = BASE_NEW_ARRAY(program->arena, vm_parameter, site.return_count);
    site.arguments = arguments;
    site.returns = returns;
    for (uint32_t k = 0; k < site.argument_count; k++) {
        const ptx_operand *argument = &parts.arguments->args[k];
        const ptx_variable *parameter =
            shape && k < shape->parameters.count ? shape->parameters.items[k] : NULL;
        if (!place_argument(d, argument, parameter, &arguments[k])) {
            vm_decode_unsupported(d);
            return;
        }
        if (argument->kind != PTX_OPERAND_VARIABLE) {
            ptx_type type = argument_type(argument, parameter);
            frame_access(d, VM_CODE_STORE, vm_decode_source(d, argument, type), type, arguments[k].offset);
        }
    }
    for (uint32_t k = 0; k < site.return_count; k++)
        if (!place_argument(d, &parts.returns->args[k], NULL, &returns[k])) {
            vm_decode_unsupported(d);
            return;
        }
    vm_external kind = VM_EXTERNAL_CALL;
    if (known == NULL)
        kind = VM_EXTERNAL_CALL_INDIRECT;
    else if (!known->has_body)
        kind = external_of(known);
    if (kind == VM_EXTERNAL_UNSUPPORTED) {
        vm_decode_unsupported(d);
        return;
    }
    uint32_t address = known == NULL ? vm_decode_source(d, parts.callee, PTX_TYPE_B64) : NONE;
    base_vector_push(program->arena, &program->calls, site);
    vm_op *op = vm_decode_emit(d, VM_CODE_EXTERNAL, kind);
    op->a = address;
    op->imm = program->calls.count - 1;
    for (uint32_t k = 0; k < site.return_count; k++)
        if (parts.returns->args[k].kind == PTX_OPERAND_REGISTER)
            frame_access(d, VM_CODE_LOAD, VM_REF(VM_REF_FRAME, parts.returns->args[k].of.reg->id),
                         parts.returns->args[k].of.reg->type, returns[k].offset);
}

/* ret: old-style register results go to their place first. */
static void leave(vm_decoder *d) {
    for (size_t k = 0; k < d->source->returns.count; k++) {
        const ptx_variable *result = d->source->returns.items[k];
        if (result->space != PTX_SPACE_REG)
            continue;
        for (size_t r = 0; r < d->source->registers.count; r++) {
            const ptx_register *reg = d->source->registers.items[r];
            if (strcmp(reg->name, result->name) == 0 && reg->type != PTX_TYPE_PRED)
                frame_access(d, VM_CODE_STORE, VM_REF(VM_REF_FRAME, reg->id), reg->type,
                             d->function->returns[k].offset);
        }
    }
    vm_decode_matrix_end(d);
    vm_decode_emit(d, VM_CODE_RETURN, 0);
}

/* ---- barriers and collectives ---- */
static void barrier(vm_decoder *d) {
    const ptx_instruction *i = d->instruction;
    bool reduces = ptx_has(i, PTX_MOD_RED), arrives = ptx_has(i, PTX_MOD_ARRIVE);
    unsigned kind = reduces ? 2 : arrives ? 1 : 0, first = reduces ? 1 : 0;
    unsigned reduce = ptx_has(i, PTX_MOD_AND) ? 1 : ptx_has(i, PTX_MOD_OR) ? 2 : 3;
    unsigned left = i->operand_count - first - (reduces ? 1 : 0);
    uint32_t to = NONE, number, count = NONE, predicate = NONE;
    number = vm_decode_read(d, first, PTX_TYPE_U32);
    if (left > 1)
        count = vm_decode_read(d, first + 1, PTX_TYPE_U32);
    if (reduces) {
        predicate = vm_decode_read(d, i->operand_count - 1u, PTX_TYPE_PRED);
        to = vm_decode_write(d, 0, reduce == 3 ? PTX_TYPE_U32 : PTX_TYPE_PRED);
    }
    vm_op *op = vm_decode_emit(d, VM_CODE_EXTERNAL, VM_EXTERNAL_BARRIER);
    op->d = to;
    op->a = number;
    op->b = count;
    op->c = predicate;
    op->imm = kind | reduce << 4;
}

static uint32_t members(vm_decoder *d, unsigned index) {
    return ptx_has(d->instruction, PTX_MOD_SYNC) ? vm_decode_read(d, index, PTX_TYPE_B32) : NONE;
}

static void destinations(vm_decoder *d, ptx_type type, uint32_t list[2]) {
    const ptx_operand *to = vm_decode_operand(d, 0);
    const ptx_operand *value = to, *predicate = NULL;
    if (to != NULL && to->kind == PTX_OPERAND_PAIR) {
        value = &to->args[0];
        predicate = &to->args[1];
    }
    list[0] = value != NULL && value->kind != PTX_OPERAND_SINK
                  ? vm_decode_target(d, value, type) | VM_REF_WRITTEN
                  : NONE;
    list[1] = predicate != NULL && predicate->kind != PTX_OPERAND_SINK
                  ? vm_decode_target(d, predicate, PTX_TYPE_PRED) | VM_REF_WRITTEN
                  : NONE;
}

static void shuffle(vm_decoder *d) {
    const ptx_instruction *i = d->instruction;
    uint32_t list[6];
    destinations(d, PTX_TYPE_B32, list);
    list[2] = vm_decode_read(d, 1, PTX_TYPE_B32);
    list[3] = vm_decode_read(d, 2, PTX_TYPE_B32);
    list[4] = vm_decode_read(d, 3, PTX_TYPE_B32);
    list[5] = members(d, 4);
    uint32_t extras = vm_decode_extras(d, list, 6);
    vm_op *op = vm_decode_emit(d, VM_CODE_EXTERNAL, VM_EXTERNAL_SHFL);
    op->x = extras;
    op->imm = ptx_has(i, PTX_MOD_UP) ? 0 : ptx_has(i, PTX_MOD_DOWN) ? 1 : ptx_has(i, PTX_MOD_BFLY) ? 2 : 3;
}

static void vote(vm_decoder *d) {
    const ptx_instruction *i = d->instruction;
    bool ballot = ptx_has(i, PTX_MOD_BALLOT);
    uint32_t predicate = vm_decode_read(d, 1, PTX_TYPE_PRED), lanes = members(d, 2);
    uint32_t to = vm_decode_write(d, 0, ballot ? PTX_TYPE_B32 : PTX_TYPE_PRED);
    vm_op *op = vm_decode_emit(d, VM_CODE_EXTERNAL, VM_EXTERNAL_VOTE);
    op->d = to;
    op->a = predicate;
    op->b = lanes;
    op->imm = ptx_has(i, PTX_MOD_ALL) ? 0 : ptx_has(i, PTX_MOD_ANY) ? 1 : ptx_has(i, PTX_MOD_UNI) ? 2 : 3;
}

static void match(vm_decoder *d) {
    const ptx_instruction *i = d->instruction;
    uint32_t list[4];
    destinations(d, PTX_TYPE_B32, list);
    list[2] = vm_decode_read(d, 1, i->type);
    list[3] = members(d, 2);
    uint32_t extras = vm_decode_extras(d, list, 4);
    vm_op *op = vm_decode_emit(d, VM_CODE_EXTERNAL, VM_EXTERNAL_MATCH);
    op->x = extras;
    op->imm = (ptx_has(i, PTX_MOD_ALL) ? 1 : 0) | (ptx_type_bits(i->type) == 64 ? 2 : 0);
}

static void reduce(vm_decoder *d) {
    const ptx_instruction *i = d->instruction;
    bool is_float = i->type == PTX_TYPE_F32;
    uint64_t kind = ptx_has(i, PTX_MOD_ADD)   ? 0
                    : ptx_has(i, PTX_MOD_MIN) ? (is_float ? 6 : 1)
                    : ptx_has(i, PTX_MOD_MAX) ? (is_float ? 7 : 2)
                    : ptx_has(i, PTX_MOD_AND) ? 3
                    : ptx_has(i, PTX_MOD_OR)  ? 4
                                              : 5;
    uint32_t source = vm_decode_read(d, 1, PTX_TYPE_B32), lanes = members(d, 2);
    uint32_t to = vm_decode_write(d, 0, PTX_TYPE_B32);
    vm_op *op = vm_decode_emit(d, VM_CODE_EXTERNAL, VM_EXTERNAL_REDUX);
    op->d = to;
    op->a = source;
    op->b = lanes;
    op->imm = kind | (vm_decode_signed(i->type) ? 16 : 0) | (ptx_has(i, PTX_MOD_ABS) ? 32 : 0) |
              (ptx_has(i, PTX_MOD_NAN) ? 64 : 0);
}

static void elect(vm_decoder *d) {
    uint32_t list[3];
    destinations(d, PTX_TYPE_B32, list);
    list[2] = vm_decode_read(d, 1, PTX_TYPE_B32);
    uint32_t extras = vm_decode_extras(d, list, 3);
    vm_decode_emit(d, VM_CODE_EXTERNAL, VM_EXTERNAL_ELECT)->x = extras;
}

static void stack(vm_decoder *d) {
    const ptx_instruction *i = d->instruction;
    bool wide = ptx_type_bits(i->type) == 64;
    uint64_t align = 16;
    uint32_t source = NONE, to = NONE;
    vm_external kind = VM_EXTERNAL_ALLOCA;
    if (i->op == PTX_OP_ALLOCA) {
        const ptx_operand *wanted = vm_decode_operand(d, 2);
        if (wanted != NULL && wanted->kind == PTX_OPERAND_IMMEDIATE && wanted->bits > 0 &&
            wanted->bits < 0x8000)
            align = wanted->bits;
        source = vm_decode_read(d, 1, i->type);
        to = vm_decode_write(d, 0, i->type);
    } else if (i->op == PTX_OP_STACKSAVE) {
        kind = VM_EXTERNAL_STACKSAVE;
        to = vm_decode_write(d, 0, i->type);
    } else {
        kind = VM_EXTERNAL_STACKRESTORE;
        source = vm_decode_read(d, 0, i->type);
    }
    vm_op *op = vm_decode_emit(d, VM_CODE_EXTERNAL, kind);
    op->d = to;
    op->a = source;
    op->imm = align | (wide ? 1u << 16 : 0);
}

bool vm_decode_control(vm_decoder *d) {
    switch (d->instruction->op) {
    case PTX_OP_BRA:
        branch(d);
        return true;
    case PTX_OP_BRX_IDX:
        branch_indexed(d);
        return true;
    case PTX_OP_CALL:
        call(d);
        return true;
    case PTX_OP_RET:
        leave(d);
        return true;
    case PTX_OP_EXIT:
        vm_decode_matrix_end(d);
        vm_decode_emit(d, VM_CODE_EXIT, 0);
        return true;
    case PTX_OP_TRAP:
    case PTX_OP_BRKPT:
        vm_decode_emit(d, VM_CODE_EXTERNAL, VM_EXTERNAL_UNSUPPORTED)->imm = 1;
        return true;
    case PTX_OP_BAR:
    case PTX_OP_BARRIER:
        barrier(d);
        return true;
    case PTX_OP_BAR_WARP_SYNC: {
        uint32_t lanes = vm_decode_read(d, 0, PTX_TYPE_B32);
        vm_decode_emit(d, VM_CODE_EXTERNAL, VM_EXTERNAL_WARP_BARRIER)->a = lanes;
        return true;
    }
    case PTX_OP_SHFL:
        shuffle(d);
        return true;
    case PTX_OP_VOTE:
        vote(d);
        return true;
    case PTX_OP_MATCH:
        match(d);
        return true;
    case PTX_OP_REDUX:
        reduce(d);
        return true;
    case PTX_OP_ELECT:
        elect(d);
        return true;
    case PTX_OP_NANOSLEEP:
        d->poll = true;
        return true;
    case PTX_OP_ALLOCA:
    case PTX_OP_STACKSAVE:
    case PTX_OP_STACKRESTORE:
        stack(d);
        return true;
    case PTX_OP_FENCE: /* memory is sequentially consistent here */
    case PTX_OP_MEMBAR:
        vm_decode_synchronises(d);
        if (d->program->checked)
            vm_decode_listed(d, VM_EXTERNAL_RACE_FENCE, NULL, 0, 0);
        return true;
    case PTX_OP_FENCE_PROXY:
    case PTX_OP_MEMBAR_PROXY:
    case PTX_OP_GRIDDEPCONTROL:
    case PTX_OP_PMEVENT:
        return true;
    default:
        return false;
    }
}
