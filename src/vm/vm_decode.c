/* SPDX-License-Identifier: Apache-2.0
 * From PTX instructions to operations: the frame of decoding. Operands become references, guards become GUARD
 * regions or branches around, labels become operation indices; each kind of instruction has its own file.
 * vm_load decodes every function that an entry reaches; what the machine does not have becomes an operation
 * that ends the run when executed. */
#include "vm/vm_decode.h"

unsigned vm_decode_rows(ptx_type type) {
    unsigned bits = ptx_type_bits(type);
    return type == PTX_TYPE_PRED ? 0 : bits <= 32 ? 1 : bits / 32;
}

uint32_t vm_decode_temporary(vm_decoder *d, unsigned rows) {
    base_vector_push(d->arena, &d->rows_of, (uint8_t)rows);
    return VM_REF(VM_REF_FRAME, d->rows_of.count - 1);
}

unsigned vm_decode_rows_of(const vm_decoder *d, uint32_t ref) {
    return VM_REF_KIND(ref) == VM_REF_FRAME ? d->rows_of.items[VM_REF_INDEX(ref)] : 1;
}

static uint32_t add_row(vm_program *program, uint64_t value, bool wide) {
    uint32_t row = program->pool_rows, rows = wide ? 2 : 1;
    for (uint32_t i = 0; i < rows * VM_LANES; i++) {
        uint32_t part = wide && i % 2 ? (uint32_t)(value >> 32) : (uint32_t)value;
        base_vector_push(program->arena, &program->pool, part);
    }
    for (uint32_t i = 0; i < rows; i++)
        base_vector_push(program->arena, &program->pool_kind, (uint8_t)(wide ? VM_POOL_64 : VM_POOL_32));
    program->pool_rows += rows;
    return row;
}

uint32_t vm_decode_constant(vm_decoder *d, uint64_t value, bool wide) {
    vm_program *program = d->program;
    if (!wide)
        value &= UINT32_MAX;
    uint64_t key = base_hash_mix(value, wide ? 0x57 : 0x32);
    uint32_t row = (uint32_t)(uintptr_t)base_map_get(program->pool_of, key);
    uint64_t known;
    if (row != 0 && vm_decode_known(program, VM_REF(VM_REF_POOL, row - 1), wide, &known) && known == value)
        return VM_REF(VM_REF_POOL, row - 1);
    bool taken = row != 0;
    row = add_row(program, value, wide);
    if (!taken)
        base_map_set(program->pool_of, key, (void *)(uintptr_t)(row + 1));
    return VM_REF(VM_REF_POOL, row);
}

uint32_t vm_decode_fill(vm_decoder *d, vm_fill fill) {
    vm_program *program = d->program;
    for (size_t i = 0; i < program->fills.count; i++) {
        const vm_fill *old = &program->fills.items[i];
        if (old->kind == fill.kind && old->kernel == fill.kernel && old->value == fill.value &&
            old->size == fill.size && old->sign == fill.sign && old->wide == fill.wide &&
            old->window == fill.window)
            return VM_REF(VM_REF_POOL, old->row);
    }
    fill.row = add_row(program, 0, fill.wide);
    for (uint32_t i = 0; i < (fill.wide ? 2u : 1u); i++)
        program->pool_kind.items[fill.row + i] = VM_POOL_FILL;
    base_vector_push(program->arena, &program->fills, fill);
    return VM_REF(VM_REF_POOL, fill.row);
}

bool vm_decode_known(const vm_program *program, uint32_t ref, bool wide, uint64_t *value) {
    if (ref == VM_REF_NONE || VM_REF_KIND(ref) != VM_REF_POOL)
        return false;
    uint32_t row = VM_REF_INDEX(ref);
    if (program->pool_kind.items[row] != (wide ? VM_POOL_64 : VM_POOL_32))
        return false;
    const uint32_t *words = program->pool.items + (size_t)row * VM_LANES;
    *value = wide ? words[0] | (uint64_t)words[1] << 32 : words[0];
    return true;
}

vm_op *vm_decode_emit(vm_decoder *d, vm_code code, unsigned sub) {
    vm_op op = {0};
    op.code = (uint16_t)code;
    op.sub = (uint16_t)sub;
    op.d = op.a = op.b = op.c = VM_REF_NONE;
    base_vector_push(d->arena, &d->ops, op);
    base_vector_push(d->arena, &d->instruction_of, d->index);
    return &d->ops.items[d->ops.count - 1];
}

void vm_decode_lane(vm_decoder *d, vm_lane lane, uint32_t to, uint32_t a, uint32_t b, uint32_t c,
                    uint64_t imm) {
    vm_op *op = vm_decode_emit(d, VM_CODE_LANE, lane);
    op->d = to;
    op->a = a;
    op->b = b;
    op->c = c;
    op->imm = imm;
}

uint32_t vm_decode_lane_new(vm_decoder *d, vm_lane lane, uint32_t a, uint32_t b, uint32_t c, uint64_t imm) {
    uint32_t to = vm_decode_temporary(d, vm_lane_shapes[lane].rows);
    vm_decode_lane(d, lane, to, a, b, c, imm);
    return to;
}

uint32_t vm_decode_extras(vm_decoder *d, const uint32_t *list, uint32_t count) {
    uint32_t at = (uint32_t)d->extras.count;
    base_vector_push(d->arena, &d->extras, count);
    for (uint32_t i = 0; i < count; i++)
        base_vector_push(d->arena, &d->extras, list[i]);
    return at;
}

void vm_decode_listed(vm_decoder *d, vm_external external, const uint32_t *list, uint32_t count,
                      uint64_t imm) {
    uint32_t extras = vm_decode_extras(d, list, count);
    vm_op *op = vm_decode_emit(d, VM_CODE_EXTERNAL, external);
    op->x = extras;
    op->imm = imm;
}

void vm_decode_unsupported(vm_decoder *d) {
    d->failed = true;
}

const ptx_operand *vm_decode_operand(const vm_decoder *d, unsigned index) {
    return index < d->instruction->operand_count ? &d->instruction->operands[index] : NULL;
}

bool vm_decode_signed(ptx_type type) {
    return type == PTX_TYPE_S8 || type == PTX_TYPE_S16 || type == PTX_TYPE_S32 || type == PTX_TYPE_S64;
}
bool vm_decode_float(ptx_type type) {
    return type == PTX_TYPE_F16 || type == PTX_TYPE_BF16 || type == PTX_TYPE_F32 || type == PTX_TYPE_F64 ||
           type == PTX_TYPE_TF32;
}

num_rounding vm_decode_rounding(const vm_decoder *d) {
    const ptx_instruction *i = d->instruction;
    if (ptx_has(i, PTX_MOD_RZ) || ptx_has(i, PTX_MOD_RZI))
        return NUM_RZ;
    if (ptx_has(i, PTX_MOD_RM) || ptx_has(i, PTX_MOD_RMI))
        return NUM_RM;
    if (ptx_has(i, PTX_MOD_RP) || ptx_has(i, PTX_MOD_RPI))
        return NUM_RP;
    return ptx_has(i, PTX_MOD_RNA) ? NUM_RNA : NUM_RN;
}

static uint32_t immediate(vm_decoder *d, const ptx_operand *operand, ptx_type type) {
    uint64_t bits = operand->bits;
    unsigned width = ptx_type_bits(type);
    if (type == PTX_TYPE_PRED)
        return vm_decode_constant(d, bits ? VM_ALL_LANES : 0, false);
    double value = 0;
    if (operand->immediate == PTX_IMMEDIATE_F32) {
        uint32_t low = (uint32_t)bits;
        float narrow;
        memcpy(&narrow, &low, 4);
        value = (double)narrow;
    } else if (operand->immediate == PTX_IMMEDIATE_F64) {
        memcpy(&value, &bits, 8);
    }
    if (operand->immediate != PTX_IMMEDIATE_INT) {
        if (type == PTX_TYPE_F64 && operand->immediate == PTX_IMMEDIATE_F32)
            memcpy(&bits, &value, 8);
        else if (type == PTX_TYPE_F32 && operand->immediate == PTX_IMMEDIATE_F64)
            bits = num_encode(NUM_DTYPE_F32, value, NUM_RN, false);
        else if (type == PTX_TYPE_F16 || type == PTX_TYPE_BF16)
            bits = num_encode(type == PTX_TYPE_F16 ? NUM_DTYPE_F16 : NUM_DTYPE_BF16, value, NUM_RN, false);
    }
    if (width < 32)
        bits &= ((uint64_t)1 << width) - 1;
    return vm_decode_constant(d, bits, width == 64);
}

/* A value in as many rows as the type wants; a register of another width is cut or extended with zeros. */
static uint32_t fit(vm_decoder *d, uint32_t ref, unsigned have, unsigned want) {
    if (have == want || have == 0 || want == 0 || have == 4 || want == 4)
        return ref;
    return vm_decode_lane_new(d, have == 2 ? VM_LANE_TRUNC64 : VM_LANE_ZEXT32, ref, VM_REF_NONE, VM_REF_NONE,
                              0);
}

uint32_t vm_decode_source(vm_decoder *d, const ptx_operand *operand, ptx_type type) {
    unsigned want = vm_decode_rows(type);
    if (operand == NULL) {
        vm_decode_unsupported(d);
        return vm_decode_constant(d, 0, want == 2);
    }
    switch (operand->kind) {
    case PTX_OPERAND_REGISTER: {
        uint32_t ref = VM_REF(VM_REF_FRAME, operand->of.reg->id);
        unsigned have = vm_decode_rows_of(d, ref);
        if (want == 0 || have == 0) {
            if (want != have) {
                vm_decode_unsupported(d);
                return vm_decode_constant(d, 0, want == 2);
            }
            return operand->negated ? vm_decode_lane_new(d, VM_LANE_PNOT, ref, VM_REF_NONE, VM_REF_NONE, 0)
                                    : ref;
        }
        ref = fit(d, ref, have, want);
        if (operand->negated)
            ref = vm_decode_lane_new(d, want == 2 ? VM_LANE_NEG64 : VM_LANE_NEG32, ref, VM_REF_NONE,
                                     VM_REF_NONE, 0);
        return ref;
    }
    case PTX_OPERAND_IMMEDIATE:
        return immediate(d, operand, type);
    case PTX_OPERAND_SPECIAL:
        return vm_decode_special(d, operand->bits, want == 2);
    case PTX_OPERAND_VARIABLE:
        return vm_decode_address(d, operand->of.variable, (int64_t)operand->bits, want == 2);
    case PTX_OPERAND_FUNCTION:
        return vm_decode_constant(d, VM_CODE_BASE + ((uint64_t)operand->of.function->id + 1) * 16, want == 2);
    default:
        vm_decode_unsupported(d);
        return vm_decode_constant(d, 0, want == 2);
    }
}

uint32_t vm_decode_read(vm_decoder *d, unsigned index, ptx_type type) {
    return vm_decode_source(d, vm_decode_operand(d, index), type);
}

uint32_t vm_decode_target(vm_decoder *d, const ptx_operand *operand, ptx_type type) {
    unsigned want = vm_decode_rows(type);
    if (operand != NULL && operand->kind == PTX_OPERAND_REGISTER) {
        uint32_t ref = VM_REF(VM_REF_FRAME, operand->of.reg->id);
        if (vm_decode_rows_of(d, ref) == want)
            return ref;
    } else if (operand != NULL && operand->kind == PTX_OPERAND_SINK) {
        return vm_decode_temporary(d, want);
    }
    vm_decode_unsupported(d);
    return vm_decode_temporary(d, want);
}

uint32_t vm_decode_write(vm_decoder *d, unsigned index, ptx_type type) {
    return vm_decode_target(d, vm_decode_operand(d, index), type);
}

uint32_t vm_decode_predicate(vm_decoder *d, const ptx_operand *operand) {
    return vm_decode_source(d, operand, PTX_TYPE_PRED);
}

unsigned vm_decode_register_bits(const ptx_operand *operand, ptx_type otherwise) {
    return operand != NULL && operand->kind == PTX_OPERAND_REGISTER ? ptx_type_bits(operand->of.reg->type)
                                                                    : ptx_type_bits(otherwise);
}

uint32_t vm_decode_extend(vm_decoder *d, uint32_t ref, ptx_type type) {
    vm_lane lane;
    switch (ptx_type_bits(type)) {
    case 8:
        lane = vm_decode_signed(type) ? VM_LANE_SEXT8 : VM_LANE_ZEXT8;
        break;
    case 16:
        lane = vm_decode_signed(type) ? VM_LANE_SEXT16 : VM_LANE_ZEXT16;
        break;
    default:
        return ref;
    }
    return vm_decode_lane_new(d, lane, ref, VM_REF_NONE, VM_REF_NONE, 0);
}

/* ---- one instruction ---- */
static bool dispatch(vm_decoder *d) {
    return vm_decode_move(d) || vm_decode_memory(d) || vm_decode_integer(d) || vm_decode_floating(d) ||
           vm_decode_compare(d) || vm_decode_convert(d) || vm_decode_sync(d) || vm_decode_copy(d) ||
           vm_decode_tmem(d) || vm_decode_tensor(d) || vm_decode_matrix(d) || vm_decode_control(d);
}

/* Operations that may wait, leave or call: under a guard they are branched around, so that lanes really part.
 */
static bool parts_lanes(const ptx_instruction *i) {
    switch (i->op) {
    case PTX_OP_CALL:
    case PTX_OP_RET:
    case PTX_OP_EXIT:
    case PTX_OP_TRAP:
    case PTX_OP_BRKPT:
    case PTX_OP_BAR:
    case PTX_OP_BARRIER:
    case PTX_OP_BAR_WARP_SYNC:
    case PTX_OP_SHFL:
    case PTX_OP_VOTE:
    case PTX_OP_MATCH:
    case PTX_OP_REDUX:
    case PTX_OP_ELECT:
    case PTX_OP_BRX_IDX:
    case PTX_OP_NANOSLEEP:
    case PTX_OP_WGMMA_MMA_ASYNC:
    case PTX_OP_WGMMA_FENCE:
    case PTX_OP_WGMMA_COMMIT_GROUP:
    case PTX_OP_WGMMA_WAIT_GROUP:
    case PTX_OP_MMA:
    case PTX_OP_WMMA_MMA:
    case PTX_OP_WMMA_LOAD:
    case PTX_OP_WMMA_STORE:
    case PTX_OP_LDMATRIX:
    case PTX_OP_STMATRIX:
    case PTX_OP_MOVMATRIX:
    case PTX_OP_TCGEN05_ALLOC:
    case PTX_OP_TCGEN05_DEALLOC:
    case PTX_OP_TCGEN05_RELINQUISH_ALLOC_PERMIT:
    case PTX_OP_TCGEN05_LD:
    case PTX_OP_TCGEN05_ST:
    case PTX_OP_TCGEN05_WAIT__LD:
    case PTX_OP_TCGEN05_WAIT__ST:
    case PTX_OP_MBARRIER_TEST_WAIT:
    case PTX_OP_MBARRIER_TRY_WAIT:
    case PTX_OP_BARRIER_CLUSTER_ARRIVE:
    case PTX_OP_BARRIER_CLUSTER_WAIT:
    case PTX_OP_SETMAXNREG:
        return true;
    default:
        return false;
    }
}

/* Replaces what a failed instruction emitted by an operation that reports it. */
static void emit_unsupported(vm_decoder *d, size_t from, bool guarded) {
    d->ops.count = d->instruction_of.count = from;
    vm_decode_emit(d, VM_CODE_EXTERNAL, VM_EXTERNAL_UNSUPPORTED)->x = guarded; /* 1: does not end a block */
    uint8_t *reported = &d->program->reported[d->instruction->op];
    if (!(*reported)++) { /* once for each opcode: a kernel has hundreds of them */
        base_builder form;
        base_builder_start(&form, d->arena);
        ptx_instruction_form(d->instruction, &form);
        base_report(d->program->module->diagnostics, BASE_WARNING, "T0731", d->instruction->span,
                    "the machine does not have '%s'; a run that reaches it ends there", form.data);
    }
    *reported = 1;
}

static bool same_guard(const vm_op *unguard, const vm_op *guard, const ptx_instruction *i) {
    return unguard->code == VM_CODE_UNGUARD && guard->code == VM_CODE_GUARD &&
           guard->a == VM_REF(VM_REF_FRAME, i->guard->id) && guard->sub == (i->guard_negated ? 1 : 0);
}

static bool writes_register(const ptx_instruction *i, const ptx_register *reg) {
    ptx_uses uses;
    ptx_instruction_uses(i, &uses);
    for (uint32_t k = 0; k < uses.written_count; k++)
        if (uses.written[k] == reg)
            return true;
    return false;
}

static void guarded(vm_decoder *d, bool *labelled, size_t *open) {
    const ptx_instruction *i = d->instruction;
    size_t last = d->ops.count;
    /* the region of the instruction before goes on when the guard is the same */
    if (*open != SIZE_MAX && !labelled[d->index] && last > 0 &&
        same_guard(&d->ops.items[last - 1], &d->ops.items[*open], i)) {
        d->ops.count--;
        d->instruction_of.count--;
    } else {
        *open = last;
        vm_op *guard = vm_decode_emit(d, VM_CODE_GUARD, i->guard_negated ? 1 : 0);
        guard->a = VM_REF(VM_REF_FRAME, i->guard->id);
    }
    size_t from = d->ops.count, guard_at = *open;
    if (!dispatch(d) || d->failed)
        emit_unsupported(d, from, true);
    d->ops.items[guard_at].x = (uint32_t)d->ops.count;
    vm_decode_emit(d, VM_CODE_UNGUARD, 0);
    if (writes_register(i, i->guard))
        *open = SIZE_MAX;
}

static void decode_instruction(vm_decoder *d, bool *labelled, size_t *open) {
    const ptx_instruction *i = d->instruction;
    d->failed = d->poll = false;
    size_t from = d->ops.count;
    bool own_guard = i->op == PTX_OP_BRA;
    if (i->guard != NULL && i->guard->type != PTX_TYPE_PRED) {
        emit_unsupported(d, from, false);
    } else if (i->guard != NULL && !own_guard && !parts_lanes(i)) {
        guarded(d, labelled, open);
    } else {
        *open = SIZE_MAX;
        size_t around = SIZE_MAX;
        if (i->guard != NULL && !own_guard) {
            around = from;
            vm_op *skip = vm_decode_emit(d, VM_CODE_BRANCH_IF, i->guard_negated ? 0 : 1);
            skip->a = VM_REF(VM_REF_FRAME, i->guard->id);
            from++;
        }
        if (!dispatch(d) || d->failed)
            emit_unsupported(d, from, false);
        if (around != SIZE_MAX)
            d->ops.items[around].x = VM_TARGET_OP | (uint32_t)d->ops.count;
    }
    if (d->poll) {
        *open = SIZE_MAX;
        vm_decode_emit(d, VM_CODE_EXTERNAL, VM_EXTERNAL_POLL);
        d->function->polls = true;
    }
}

/* Old-style register parameters: read from the frame at the start. */
static void load_register_parameters(vm_decoder *d) {
    for (size_t i = 0; i < d->source->parameters.count; i++) {
        const ptx_variable *parameter = d->source->parameters.items[i];
        if (parameter->space != PTX_SPACE_REG)
            continue;
        for (size_t r = 0; r < d->source->registers.count; r++) {
            const ptx_register *reg = d->source->registers.items[r];
            if (strcmp(reg->name, parameter->name) != 0 || reg->type == PTX_TYPE_PRED)
                continue;
            unsigned rows = vm_decode_rows(reg->type);
            vm_op *op = vm_decode_emit(d, VM_CODE_LOAD,
                                       VM_ACCESS(VM_FRAME,
                                                 rows == 1   ? 2
                                                 : rows == 2 ? 3
                                                             : 4,
                                                 1, 0, rows == 2, VM_ADDRESS_FIXED, 0));
            op->d = VM_REF(VM_REF_FRAME, reg->id);
            op->imm = d->function->parameters[i].offset;
        }
    }
}

static void place_frame(vm_decoder *d) {
    uint32_t offset = d->function->local_bytes;
    for (size_t i = 0; !d->source->is_entry && i < d->source->parameters.count; i++)
        base_map_set(d->frame_of, BASE_KEY(d->source->parameters.items[i]),
                     (void *)(uintptr_t)(d->function->parameters[i].offset + 1));
    for (size_t i = 0; i < d->source->returns.count; i++)
        base_map_set(d->frame_of, BASE_KEY(d->source->returns.items[i]),
                     (void *)(uintptr_t)(d->function->returns[i].offset + 1));
    for (size_t i = 0; i < d->source->variables.count; i++) {
        const ptx_variable *variable = d->source->variables.items[i];
        if (variable->space != PTX_SPACE_LOCAL && variable->space != PTX_SPACE_PARAM)
            continue;
        uint64_t align = variable->align < 16 ? 16 : variable->align;
        uint64_t at = (offset + align - 1) / align * align;
        if (at + variable->bytes > VM_LOCAL_LIMIT) {
            base_report(d->program->module->diagnostics, BASE_WARNING, "T0732", variable->span,
                        "the frame of '%s' is larger than the %u bytes of local memory of a thread",
                        d->source->name, VM_LOCAL_LIMIT);
            continue;
        }
        base_map_set(d->frame_of, BASE_KEY(variable), (void *)(uintptr_t)(at + 1));
        offset = (uint32_t)(at + variable->bytes);
    }
    d->function->local_bytes = (offset + 15) & ~15u;
}

static void resolve_targets(vm_decoder *d) {
    for (size_t i = 0; i < d->ops.count; i++) {
        vm_op *op = &d->ops.items[i];
        if (op->code == VM_CODE_BRANCH || op->code == VM_CODE_BRANCH_IF)
            op->x = op->x & VM_TARGET_OP ? op->x & ~VM_TARGET_OP : d->first_op[op->x];
        if (op->code == VM_CODE_SWITCH)
            for (uint32_t k = 0; k < d->extras.items[op->x]; k++)
                d->extras.items[op->x + 1 + k] = d->first_op[d->extras.items[op->x + 1 + k]];
    }
}

bool vm_decode_function(vm_program *program, const ptx_function *function) {
    base_arena *arena = base_arena_create(base_arena_heap(program->arena));
    vm_decoder decoder = {.program = program,
                          .function = &program->functions[function->id],
                          .source = function,
                          .arena = arena,
                          .carry = VM_REF_NONE};
    vm_decoder *d = &decoder;
    size_t count = function->instructions.count;
    d->frame_of = base_map_create(arena);
    d->first_op = BASE_NEW_ARRAY(arena, uint32_t, count + 1);
    bool *labelled = BASE_NEW_ARRAY(arena, bool, count + 1);
    for (size_t i = 0; i < function->registers.count; i++)
        base_vector_push(arena, &d->rows_of, (uint8_t)vm_decode_rows(function->registers.items[i]->type));
    for (size_t i = 0; i < function->labels.count; i++)
        if (function->labels.items[i]->target <= count)
            labelled[function->labels.items[i]->target] = true;
    place_frame(d);
    load_register_parameters(d);
    size_t open = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        d->index = (uint32_t)i;
        d->instruction = &function->instructions.items[i];
        if (labelled[i])
            open = SIZE_MAX;
        d->first_op[i] = (uint32_t)d->ops.count;
        decode_instruction(d, labelled, &open);
    }
    d->first_op[count] = (uint32_t)d->ops.count;
    vm_decode_emit(d, VM_CODE_RETURN, 0); /* running off the end */
    resolve_targets(d);
    vm_optimise(d);
    vm_pending(d);
    vm_wgmma_flow(d);
    vm_allocate(d);
    d->function->decoded = true;
    base_arena_destroy(arena);
    return true;
}
