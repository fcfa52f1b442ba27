/* SPDX-License-Identifier: Apache-2.0
 * Findings of one CTA: merged by kind and operation, in the order of their first occurrence. vm_run.c puts
 * the CTAs' lists together in CTA order, so the result does not depend on the worker threads. Knows no
 * wording. */
#include "vm/vm_internal.h"

const char *vm_finding_kind_name(vm_finding_kind kind) {
    static const char *const names[VM_FIND_KIND_COUNT] = {
        [VM_FIND_BAD_LAUNCH] = "bad-launch",
        [VM_FIND_OUT_OF_BOUNDS] = "out-of-bounds",
        [VM_FIND_MISALIGNED] = "misaligned",
        [VM_FIND_WRITE_READ_ONLY] = "write-read-only",
        [VM_FIND_BAD_SPACE] = "bad-space",
        [VM_FIND_DIVIDE_BY_ZERO] = "divide-by-zero",
        [VM_FIND_ASSERT] = "assert",
        [VM_FIND_TRAP] = "trap",
        [VM_FIND_DEADLOCK] = "deadlock",
        [VM_FIND_BARRIER_MISMATCH] = "barrier-mismatch",
        [VM_FIND_COLLECTIVE_LANES] = "collective-lanes",
        [VM_FIND_SHUFFLE_INACTIVE] = "shuffle-inactive",
        [VM_FIND_UNINITIALISED] = "uninitialised",
        [VM_FIND_UNSUPPORTED] = "unsupported",
        [VM_FIND_STEP_LIMIT] = "step-limit",
        [VM_FIND_STACK] = "stack",
        [VM_FIND_MBARRIER_UNINITIALISED] = "mbarrier-uninitialised",
        [VM_FIND_MBARRIER_COUNT] = "mbarrier-count",
        [VM_FIND_MBARRIER_TRANSACTIONS] = "mbarrier-transactions",
        [VM_FIND_MBARRIER_PHASE] = "mbarrier-phase",
        [VM_FIND_MBARRIER_UNOBSERVED] = "mbarrier-unobserved",
        [VM_FIND_MBARRIER_BUSY] = "mbarrier-busy",
        [VM_FIND_MBARRIER_OVERWRITTEN] = "mbarrier-overwritten",
        [VM_FIND_MBARRIER_DATA] = "mbarrier-data",
        [VM_FIND_MBARRIER_REMOTE] = "mbarrier-remote",
        [VM_FIND_MBARRIER_NO_COMPLETE] = "mbarrier-no-complete",
        [VM_FIND_CLUSTER_EXITED] = "cluster-exited",
        [VM_FIND_CLUSTER_RANK] = "cluster-rank",
        [VM_FIND_CLUSTER_BARRIER] = "cluster-barrier",
        [VM_FIND_CANCEL] = "cancel",
        [VM_FIND_REGISTERS] = "registers",
        [VM_FIND_IN_FLIGHT] = "in-flight",
        [VM_FIND_RACE_READ_WRITE] = "race-read-write",
        [VM_FIND_RACE_WRITE_WRITE] = "race-write-write",
        [VM_FIND_RACE_LANES] = "race-lanes",
        [VM_FIND_BAD_CALL] = "bad-call",
#define X(name, text) [VM_FIND_TMEM_##name] = text,
        VM_TMEM_FINDINGS(X)
#undef X
#define X(name, text) [VM_FIND_##name] = text,
            VM_COPY_FINDINGS(X)
#undef X
#define X(name, text) [VM_FIND_##name] = text,
                VM_MATRIX_FINDINGS(X)
#undef X
#define X(name, text) [VM_FIND_TENSOR_##name] = text,
                    VM_TENSOR_FINDINGS(X)
#undef X
    };
    return (unsigned)kind < VM_FIND_KIND_COUNT ? names[kind] : "unknown";
}

bool vm_finding_is_note(vm_finding_kind kind) {
    return kind == VM_FIND_TMEM_USE_BEFORE_WAIT;
}

const vm_function *vm_program_function_at(const vm_program *program, uint32_t pc) {
    for (size_t i = 0; i < program->function_count; i++) {
        const vm_function *function = &program->functions[i];
        if (function->decoded && pc >= function->first_op && pc < function->first_op + function->op_count)
            return function;
    }
    return NULL;
}

const ptx_instruction *vm_program_instruction_at(const vm_program *program, uint32_t pc) {
    const vm_function *function = vm_program_function_at(program, pc);
    if (function == NULL || pc >= program->instruction_of.count)
        return NULL;
    uint32_t index = program->instruction_of.items[pc];
    return index < function->source->instructions.count ? &function->source->instructions.items[index] : NULL;
}

/* Value of a register of one lane, when it still has its row at this operation. */
static bool register_value(const vm_warp *warp, const vm_function *function, const ptx_register *reg,
                           uint32_t pc, unsigned lane, int64_t *value) {
    if (function->register_ref == NULL || reg == NULL || reg->id >= function->source->registers.count)
        return false;
    uint32_t ref = function->register_ref[reg->id], at = pc - function->first_op;
    if (ref == VM_REF_NONE || at < function->register_begin[reg->id] || at > function->register_end[reg->id])
        return false;
    unsigned bits = ptx_type_bits(reg->type);
    *value = bits == 64   ? (int64_t)vm_operand64(warp, ref, lane)
             : bits == 32 ? (int64_t)(int32_t)vm_operand32(warp, ref, lane)
                          : (int64_t)vm_operand32(warp, ref, lane);
    return bits != 1 && bits <= 64;
}

static bool special_value(const vm_warp *warp, int64_t special, unsigned lane, int64_t *value) {
    const vm_grid *run = warp->cta->run;
    const uint32_t *rows = (const uint32_t *)(warp->base[VM_REF_WARP] + VM_REF_WARP);
    switch (special) {
    case PTX_SPECIAL_TID_X:
        *value = rows[VM_WARP_TID_X * VM_LANES + lane];
        return true;
    case PTX_SPECIAL_TID_Y:
        *value = rows[VM_WARP_TID_Y * VM_LANES + lane];
        return true;
    case PTX_SPECIAL_TID_Z:
        *value = rows[VM_WARP_TID_Z * VM_LANES + lane];
        return true;
    case PTX_SPECIAL_CTAID_X:
        *value = warp->cta->id[0];
        return true;
    case PTX_SPECIAL_CTAID_Y:
        *value = warp->cta->id[1];
        return true;
    case PTX_SPECIAL_CTAID_Z:
        *value = warp->cta->id[2];
        return true;
    case PTX_SPECIAL_NTID_X:
        *value = run->launch->block[0];
        return true;
    case PTX_SPECIAL_NTID_Y:
        *value = run->launch->block[1];
        return true;
    case PTX_SPECIAL_NTID_Z:
        *value = run->launch->block[2];
        return true;
    case PTX_SPECIAL_NCTAID_X:
        *value = run->launch->grid[0];
        return true;
    case PTX_SPECIAL_NCTAID_Y:
        *value = run->launch->grid[1];
        return true;
    case PTX_SPECIAL_NCTAID_Z:
        *value = run->launch->grid[2];
        return true;
    case PTX_SPECIAL_LANEID:
        *value = lane;
        return true;
    case PTX_SPECIAL_WARPID:
        *value = warp->index;
        return true;
    default:
        return false;
    }
}

static bool evaluate(const vm_warp *warp, const vm_function *function, const ptx_index *index, uint32_t pc,
                     unsigned lane, int depth, int64_t *value) {
    if (index == NULL || depth > 64)
        return false;
    int64_t a, b;
    switch (index->op) {
    case PTX_INDEX_CONSTANT:
        *value = index->constant;
        return true;
    case PTX_INDEX_REGISTER:
        return register_value(warp, function, index->reg, pc, lane, value);
    case PTX_INDEX_SPECIAL:
        return special_value(warp, index->constant, lane, value);
    case PTX_INDEX_UNKNOWN:
        return false;
    default:
        break;
    }
    if (!evaluate(warp, function, index->a, pc, lane, depth + 1, &a) ||
        !evaluate(warp, function, index->b, pc, lane, depth + 1, &b))
        return false;
    switch (index->op) {
    case PTX_INDEX_ADD:
        *value = (int64_t)((uint64_t)a + (uint64_t)b);
        return true;
    case PTX_INDEX_SUB:
        *value = (int64_t)((uint64_t)a - (uint64_t)b);
        return true;
    case PTX_INDEX_MUL:
        *value = (int64_t)((uint64_t)a * (uint64_t)b);
        return true;
    case PTX_INDEX_FLOORDIV:
    case PTX_INDEX_FLOORMOD:
        if (b == 0 || (b == -1 && a == INT64_MIN))
            return false;
        *value = index->op == PTX_INDEX_FLOORDIV ? num_floor_divide(NUM_DTYPE_I64, a, b)
                                                 : num_floor_modulo(NUM_DTYPE_I64, a, b);
        return true;
    default:
        return false;
    }
}

static void add_origin(vm_finding *finding, const vm_warp *warp, uint32_t pc, unsigned lane) {
    const vm_function *function = vm_program_function_at(warp->cta->run->program, pc);
    const ptx_origin *origin = finding->instruction ? finding->instruction->origin : NULL;
    if (function == NULL || origin == NULL)
        return;
    finding->index_count = origin->rank < 8 ? origin->rank : 8;
    for (uint32_t i = 0; i < finding->index_count; i++)
        finding->index_known[i] =
            evaluate(warp, function, origin->indices[i], pc, lane, 0, &finding->index[i]);
}

base_arena *vm_finding_arena(vm_cta *cta) {
    if (cta->report == NULL)
        cta->report = base_arena_create(base_arena_heap(cta->arena));
    return cta->report;
}

/* What a missing fence or wait does to every load of an unrolled epilogue is one fault: one finding for a
 * function. */
static bool is_same(const vm_cta *cta, const vm_found *found, vm_finding_kind kind, uint32_t pc,
                    uint32_t other_pc) {
    if (found->finding.kind != kind || found->other_pc != other_pc)
        return false;
    if (found->pc == pc)
        return true;
    if (kind != VM_FIND_TMEM_FENCE_AFTER && kind != VM_FIND_TMEM_FENCE_BEFORE &&
        kind != VM_FIND_TMEM_USE_BEFORE_WAIT && kind != VM_FIND_COPY_PROXY)
        return false;
    const vm_function *function = vm_program_function_at(cta->run->program, pc);
    return function != NULL && found->finding.function == function->source;
}

static vm_finding *add(vm_cta *cta, vm_finding_kind kind, uint32_t pc, uint32_t other_pc, const vm_warp *warp,
                       unsigned lane) {
    for (size_t i = 0; i < cta->found.count; i++)
        if (is_same(cta, &cta->found.items[i], kind, pc, other_pc)) {
            cta->found.items[i].finding.count++;
            return NULL;
        }
    uint32_t limit = cta->run->launch->finding_limit ? cta->run->launch->finding_limit : 100;
    if (cta->found.count >= limit) {
        cta->found_dropped++;
        return NULL;
    }
    vm_found found = {0};
    found.pc = pc;
    found.other_pc = other_pc;
    found.finding.kind = kind;
    found.finding.count = 1;
    const vm_function *function = vm_program_function_at(cta->run->program, pc);
    found.finding.function = function ? function->source : NULL;
    found.finding.instruction = vm_program_instruction_at(cta->run->program, pc);
    memcpy(found.finding.cta, cta->id, sizeof cta->id);
    if (warp != NULL) {
        const uint32_t *rows = (const uint32_t *)(warp->base[VM_REF_WARP] + VM_REF_WARP);
        for (unsigned i = 0; i < 3; i++)
            found.finding.thread[i] = rows[(VM_WARP_TID_X + i) * VM_LANES + lane];
    }
    base_vector_push(vm_finding_arena(cta), &cta->found, found);
    return &cta->found.items[cta->found.count - 1].finding;
}

vm_finding *vm_finding_add(vm_cta *cta, vm_finding_kind kind, uint32_t pc, const vm_warp *warp,
                           unsigned lane) {
    return add(cta, kind, pc, UINT32_MAX, warp, lane);
}

vm_finding *vm_finding_pair(vm_warp *warp, vm_finding_kind kind, uint32_t pc, uint32_t other_pc,
                            unsigned lane, bool here) {
    vm_finding *finding = add(warp->cta, kind, pc, other_pc, warp, lane);
    if (finding == NULL)
        return NULL;
    if (other_pc != UINT32_MAX)
        finding->other = vm_program_instruction_at(warp->cta->run->program, other_pc);
    if (here)
        add_origin(finding, warp, pc, lane);
    return finding;
}

void vm_finding_shared(const vm_cta *cta, vm_finding *finding, uint64_t address, uint64_t size) {
    const vm_program *program = cta->run->program;
    uint64_t offset = address & UINT32_MAX;
    finding->space = PTX_SPACE_SHARED;
    finding->address = address;
    finding->size = size;
    for (size_t i = 0; i < program->variables.count; i++) {
        const vm_program_variable *variable = program->variables.items[i];
        if (variable->variable->space != PTX_SPACE_SHARED || !variable->placed || variable->dynamic ||
            variable->address > offset || variable->address < finding->allocation_begin)
            continue;
        finding->allocation = variable->variable->name;
        finding->allocation_begin = variable->address;
        finding->allocation_bytes = variable->variable->bytes;
    }
}

void vm_finding_access(vm_warp *warp, vm_finding_kind kind, uint32_t pc, unsigned lane, ptx_space space,
                       uint64_t address, uint64_t size, uint64_t required, bool store) {
    vm_finding *finding = vm_finding_add(warp->cta, kind, pc, warp, lane);
    if (finding == NULL)
        return;
    finding->space = space;
    finding->address = address;
    finding->size = size;
    finding->required = required;
    finding->is_store = store;
    if (space == PTX_SPACE_GLOBAL) {
        const vm_allocation *below = vm_memory_below(warp->cta->run, address);
        if (below != NULL) {
            finding->allocation = below->name;
            finding->allocation_begin = below->begin;
            finding->allocation_bytes = below->end - below->begin;
        }
    } else if (space == PTX_SPACE_SHARED) {
        vm_finding_shared(warp->cta, finding, address, size);
    }
    add_origin(finding, warp, pc, lane);
}
