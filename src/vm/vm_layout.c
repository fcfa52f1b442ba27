/* SPDX-License-Identifier: Apache-2.0
 * Addresses of module variables, places of parameters, what each entry reaches, and vm_load. Shared memory: 1
 * KiB reserved, then the static arrays that an entry reaches, then the dynamic array; an array keeps one
 * address in every kernel that uses it. */
#include "vm/vm_decode.h"

typedef struct reach { /* what one function mentions */
    BASE_VECTOR(const ptx_function *) functions;
    BASE_VECTOR(const ptx_variable *) shared;
    bool indirect;
} reach;

const vm_program_variable *vm_layout_variable(const vm_program *program, const ptx_variable *variable) {
    return base_map_get(program->variable_of, BASE_KEY(variable));
}

static uint32_t align_of(const ptx_variable *variable) {
    uint32_t natural = ptx_type_bits(variable->type) / 8 * (variable->vector ? variable->vector : 1);
    uint32_t align = variable->align ? variable->align : natural ? natural : 1;
    return align > 65536 ? 65536 : align;
}

static uint64_t align_up(uint64_t value, uint64_t align) {
    return (value + align - 1) / align * align;
}

/* ---- what functions mention ---- */
static void mention(reach *r, base_arena *arena, const ptx_operand *operand, int depth) {
    if (operand->kind == PTX_OPERAND_FUNCTION)
        base_vector_push(arena, &r->functions, (const ptx_function *)operand->of.function);
    if (operand->kind == PTX_OPERAND_VARIABLE && operand->of.variable->space == PTX_SPACE_SHARED)
        base_vector_push(arena, &r->shared, (const ptx_variable *)operand->of.variable);
    if (operand->kind == PTX_OPERAND_TABLE)
        for (size_t i = 0; i < operand->of.table->functions.count; i++)
            base_vector_push(arena, &r->functions,
                             (const ptx_function *)operand->of.table->functions.items[i]);
    for (unsigned i = 0; i < operand->count && depth < 8; i++)
        mention(r, arena, &operand->args[i], depth + 1);
}

static void scan(reach *r, base_arena *arena, const ptx_function *function) {
    for (size_t i = 0; i < function->instructions.count; i++) {
        const ptx_instruction *instruction = &function->instructions.items[i];
        for (unsigned k = 0; k < instruction->operand_count; k++)
            mention(r, arena, &instruction->operands[k], 0);
        if (instruction->op == PTX_OP_CALL)
            for (unsigned k = 0; k < instruction->operand_count; k++)
                r->indirect |= instruction->operands[k].kind == PTX_OPERAND_REGISTER;
    }
}

/* ---- variables ---- */
static vm_program_variable *add_variable(vm_program *program, const ptx_variable *variable) {
    vm_program_variable *made = base_map_get(program->variable_of, BASE_KEY(variable));
    if (made != NULL)
        return made;
    made = BASE_NEW(program->arena, vm_program_variable);
    made->variable = variable;
    base_map_set(program->variable_of, BASE_KEY(variable), made);
    base_vector_push(program->arena, &program->variables, made);
    return made;
}

static void place_linear(vm_program *program, const ptx_variable *variable, uint64_t *global,
                         uint64_t *constant) {
    if (variable->space != PTX_SPACE_GLOBAL && variable->space != PTX_SPACE_CONST)
        return;
    if (variable->bytes > (uint64_t)1 << 32 || *constant + variable->bytes > (uint64_t)1 << 26)
        return; /* stays without a place: using it is unsupported */
    vm_program_variable *made = add_variable(program, variable);
    uint64_t *next = variable->space == PTX_SPACE_GLOBAL ? global : constant;
    made->address = align_up(
        *next, variable->space == PTX_SPACE_GLOBAL && align_of(variable) < 256 ? 256 : align_of(variable));
    made->placed = true;
    *next = made->address + variable->bytes + (variable->space == PTX_SPACE_GLOBAL ? VM_GUARD_BYTES : 0);
}

static uint64_t initial_value(const vm_program *program, const ptx_initial *initial) {
    uint64_t value = initial->bits;
    if (initial->variable != NULL) {
        const vm_program_variable *target = vm_layout_variable(program, initial->variable);
        value += target ? target->address : 0;
        if (initial->generic && initial->variable->space == PTX_SPACE_CONST)
            value += VM_CONST_BASE;
    } else if (initial->function != NULL) {
        value += VM_CODE_BASE + ((uint64_t)initial->function->id + 1) * 16;
    }
    if (initial->mask != 0)
        value = (value & initial->mask) >> __builtin_ctzll(initial->mask);
    return value;
}

static void write_initial(const vm_program *program, const ptx_variable *variable, uint8_t *bytes) {
    unsigned size = ptx_type_bits(variable->type) / 8;
    for (size_t i = 0; i < variable->initial.count && size && size <= 8 && (i + 1) * size <= variable->bytes;
         i++) {
        uint64_t value = initial_value(program, &variable->initial.items[i]);
        memcpy(bytes + i * size, &value, size);
    }
}

static void fill_variables(vm_program *program, uint64_t const_bytes) {
    program->const_bytes = const_bytes;
    program->const_bank = base_arena_allocate(program->arena, const_bytes + 16);
    for (size_t i = 0; i < program->variables.count; i++) {
        const vm_program_variable *placed = program->variables.items[i];
        const ptx_variable *variable = placed->variable;
        if (!placed->placed)
            continue;
        if (variable->space == PTX_SPACE_CONST) {
            write_initial(program, variable, program->const_bank + placed->address);
        } else if (variable->space == PTX_SPACE_GLOBAL) {
            vm_allocation allocation = {placed->address, placed->address + variable->bytes, NULL,
                                        variable->name, false};
            if (variable->initial.count) {
                allocation.host = base_arena_allocate(program->arena, variable->bytes);
                write_initial(program, variable, allocation.host);
            }
            base_vector_push(program->arena, &program->globals, allocation);
        }
    }
}

/* ---- shared memory of one entry ---- */
static bool overlaps(const vm_program_variable *const *set, size_t count, uint64_t begin, uint64_t end,
                     uint64_t *next) {
    for (size_t i = 0; i < count; i++) {
        uint64_t first = set[i]->address, last = first + set[i]->variable->bytes;
        if (set[i]->placed && !set[i]->dynamic && begin < last && first < end) {
            *next = last;
            return true;
        }
    }
    return false;
}

static void place_shared(vm_program *program, vm_function *entry, base_arena *arena, const reach *reaches,
                         const bool *reached) {
    BASE_VECTOR(const vm_program_variable *) set = {0};
    for (size_t f = 0; f < program->function_count; f++)
        for (size_t i = 0; reached[f] && i < reaches[f].shared.count; i++) {
            vm_program_variable *variable = add_variable(program, reaches[f].shared.items[i]);
            if (variable->entry != entry)
                base_vector_push(arena, &set, (const vm_program_variable *)variable);
            variable->entry = entry;
        }
    entry->static_shared_end = VM_SHARED_RESERVED;
    for (size_t i = 0; i < set.count; i++) {
        vm_program_variable *variable = base_map_get(program->variable_of, BASE_KEY(set.items[i]->variable));
        uint32_t align = align_of(variable->variable);
        if (variable->variable->bytes == 0) { /* .extern .shared x[]: the dynamic array */
            variable->dynamic = variable->placed = true;
            entry->dynamic_align = align > entry->dynamic_align ? align : entry->dynamic_align;
            continue;
        }
        uint64_t at = align_up(VM_SHARED_RESERVED, align), next;
        while (!variable->placed && overlaps(set.items, set.count, at, at + variable->variable->bytes, &next))
            at = align_up(next, align);
        if (!variable->placed) {
            if (at + variable->variable->bytes > UINT32_MAX / 2)
                continue;
            variable->address = at;
            variable->placed = true;
        }
        uint64_t end = variable->address + variable->variable->bytes;
        if (end > entry->static_shared_end)
            entry->static_shared_end = (uint32_t)end;
    }
}

/* ---- parameters ---- */
static vm_parameter *place_parameters(vm_program *program, ptx_variable *const *items, size_t count,
                                      uint32_t least, uint32_t *offset) {
    vm_parameter *places = BASE_NEW_ARRAY(program->arena, vm_parameter, count);
    for (size_t i = 0; i < count; i++) {
        uint32_t align = align_of(items[i]);
        uint64_t at = align_up(*offset, align < least ? least : align), bytes = items[i]->bytes;
        if (bytes == 0)
            bytes = ptx_type_bits(items[i]->type) / 8;
        if (at + bytes > VM_LOCAL_LIMIT)
            bytes = 0, at = *offset;
        places[i] = (vm_parameter){(uint32_t)at, (uint32_t)bytes};
        *offset = (uint32_t)(at + bytes);
    }
    return places;
}

static void place_function(vm_program *program, vm_function *function) {
    const ptx_function *source = function->source;
    uint32_t offset = 0;
    function->parameters = place_parameters(program, source->parameters.items, source->parameters.count,
                                            source->is_entry ? 1 : 16, &offset);
    if (source->is_entry) {
        function->parameter_bytes = offset;
        offset = 0;
    }
    function->returns = place_parameters(program, source->returns.items, source->returns.count, 16, &offset);
    function->local_bytes = (offset + 15) & ~15u;
}

/* ---- reachability ---- */
/* Functions whose address is taken anywhere count as reached by every indirect call. */
static void follow(const vm_program *program, const reach *reaches, const bool *taken, size_t from,
                   bool *reached, uint32_t *stack) {
    size_t depth = 0;
    stack[depth++] = (uint32_t)from;
    reached[from] = true;
    while (depth) {
        const reach *r = &reaches[stack[--depth]];
        for (size_t i = 0; i < r->functions.count; i++)
            if (!reached[r->functions.items[i]->id]) {
                reached[r->functions.items[i]->id] = true;
                stack[depth++] = r->functions.items[i]->id;
            }
        for (size_t i = 0; r->indirect && i < program->function_count; i++)
            if (taken[i] && !reached[i]) {
                reached[i] = true;
                stack[depth++] = (uint32_t)i;
            }
    }
}

static void find_taken(const vm_program *program, const reach *reaches, bool *taken) {
    for (size_t f = 0; f < program->function_count; f++)
        for (size_t i = 0; i < reaches[f].functions.count; i++)
            taken[reaches[f].functions.items[i]->id] = true;
    for (size_t v = 0; v < program->module->variables.count; v++) {
        const ptx_variable *variable = program->module->variables.items[v];
        for (size_t i = 0; i < variable->initial.count; i++)
            if (variable->initial.items[i].function != NULL)
                taken[variable->initial.items[i].function->id] = true;
    }
}

static void layout_variables(vm_program *program) {
    const ptx_module *module = program->module;
    uint64_t global = VM_GLOBAL_BASE + VM_GUARD_BYTES, constant = 16;
    for (size_t i = 0; i < module->variables.count; i++)
        place_linear(program, module->variables.items[i], &global, &constant);
    for (size_t f = 0; f < module->functions.count; f++)
        for (size_t i = 0; i < module->functions.items[f]->variables.count; i++)
            place_linear(program, module->functions.items[f]->variables.items[i], &global, &constant);
    fill_variables(program, constant);
}

static void check_frame_limits(vm_program *program, const vm_function *entry) {
    if (entry->static_shared_end - VM_SHARED_RESERVED > VM_SHARED_LIMIT)
        base_report(program->module->diagnostics, BASE_WARNING, "T0733", entry->source->span,
                    "'%s' uses %u bytes of static shared memory; at most %u fit, so it cannot be launched",
                    entry->source->name, entry->static_shared_end - VM_SHARED_RESERVED, VM_SHARED_LIMIT);
}

static bool names_cluster(const ptx_operand *operand) {
    if (operand->kind == PTX_OPERAND_SPECIAL)
        return operand->bits >= PTX_SPECIAL_CLUSTER_CTAID_X && operand->bits <= PTX_SPECIAL_CLUSTER_NCTARANK;
    for (uint32_t k = 0; k < operand->count; k++)
        if (names_cluster(&operand->args[k]))
            return true;
    return false;
}

/* Does anything here reach other CTAs, or could it? */
static bool knows_clusters(const ptx_module *module) {
    static const ptx_mod mods[] = {PTX_MOD_SHARED__CLUSTER, PTX_MOD_MULTICAST__CLUSTER,
                                   PTX_MOD_MULTICAST__CLUSTER__ALL, PTX_MOD_CTA_GROUP__2};
    for (size_t f = 0; f < module->functions.count; f++) {
        const ptx_function *function = module->functions.items[f];
        if (function->cluster[0] || function->explicit_cluster)
            return true;
        for (size_t k = 0; k < function->instructions.count; k++) {
            const ptx_instruction *i = &function->instructions.items[k];
            if (i->op == PTX_OP_MAPA || i->op == PTX_OP_GETCTARANK ||
                i->op == PTX_OP_BARRIER_CLUSTER_ARRIVE || i->op == PTX_OP_ST_ASYNC ||
                i->op == PTX_OP_RED_ASYNC)
                return true;
            for (size_t m = 0; m < sizeof mods / sizeof mods[0]; m++)
                if (ptx_has(i, mods[m]))
                    return true;
            for (uint32_t o = 0; o < i->operand_count; o++)
                if (names_cluster(&i->operands[o]))
                    return true;
        }
    }
    return false;
}

static vm_program *load(base_arena *arena, const ptx_module *module, vm_approximations approximations,
                        bool checked) {
    vm_program *program = BASE_NEW(arena, vm_program);
    program->checked = checked;
    program->race_shift = 2;
    program->approximations = approximations;
    program->arena = arena;
    program->module = module;
    program->pool_of = base_map_create(arena);
    program->variable_of = base_map_create(arena);
    program->function_count = module->functions.count;
    program->functions = BASE_NEW_ARRAY(arena, vm_function, program->function_count);
    base_arena *scratch = base_arena_create(base_arena_heap(arena));
    size_t count = program->function_count;
    reach *reaches = BASE_NEW_ARRAY(scratch, reach, count);
    bool *taken = BASE_NEW_ARRAY(scratch, bool, count), *reached = BASE_NEW_ARRAY(scratch, bool, count);
    uint32_t *stack = BASE_NEW_ARRAY(scratch, uint32_t, count + 1);
    layout_variables(program);
    program->clustered = knows_clusters(module);
    for (size_t f = 0; f < count; f++) {
        program->functions[f].source = module->functions.items[f];
        scan(&reaches[f], scratch, module->functions.items[f]);
        place_function(program, &program->functions[f]);
    }
    find_taken(program, reaches, taken);
    for (size_t f = 0; f < count; f++) {
        const ptx_function *source = module->functions.items[f];
        if (!source->is_entry || !source->has_body)
            continue;
        base_vector_push(arena, &program->entries, source);
        memset(reached, 0, count);
        follow(program, reaches, taken, f, reached, stack);
        place_shared(program, &program->functions[f], scratch, reaches, reached);
        check_frame_limits(program, &program->functions[f]);
        for (size_t k = 0; k < count; k++)
            program->functions[k].reached |= reached[k];
    }
    for (size_t f = 0; f < count; f++)
        if (program->functions[f].reached && module->functions.items[f]->has_body)
            vm_decode_function(program, module->functions.items[f]);
    /* an entry is serial, or grouped, when anything that it reaches is */
    for (size_t f = 0; f < count; f++) {
        if (!module->functions.items[f]->is_entry)
            continue;
        memset(reached, 0, count);
        follow(program, reaches, taken, f, reached, stack);
        for (size_t k = 0; k < count; k++)
            if (reached[k]) {
                program->functions[f].serial |= program->functions[k].serial;
                program->functions[f].grouped |= program->functions[k].grouped;
            }
    }
    base_arena_destroy(scratch);
    return program;
}

bool vm_variable_at(const vm_program *program, size_t index, vm_variable *variable) {
    if (index >= program->globals.count)
        return false;
    const vm_allocation *at = &program->globals.items[index];
    *variable = (vm_variable){at->name, at->begin, at->end - at->begin, at->host};
    return true;
}

bool vm_constant_at(const vm_program *program, size_t index, vm_variable *variable) {
    for (size_t i = 0; i < program->variables.count; i++) {
        const vm_program_variable *at = program->variables.items[i];
        if (!at->placed || at->variable->space != PTX_SPACE_CONST || index-- != 0)
            continue;
        *variable = (vm_variable){at->variable->name, VM_CONST_BASE + at->address, at->variable->bytes,
                                  program->const_bank + at->address};
        return true;
    }
    return false;
}

const void *vm_constants(const vm_program *program, uint64_t *bytes) {
    *bytes = program->const_bytes;
    return program->const_bank;
}

bool vm_kernel(const vm_program *program, size_t index, vm_kernel_info *info) {
    if (index >= program->entries.count)
        return false;
    const vm_function *function = &program->functions[program->entries.items[index]->id];
    *info = (vm_kernel_info){.name = function->source->name,
                             .virtual_registers = function->virtual_registers,
                             .allocated_rows = function->rows,
                             .shared_bytes = function->static_shared_end - VM_SHARED_RESERVED,
                             .local_bytes = function->local_bytes,
                             .parameter_bytes = function->parameter_bytes,
                             .instructions = function->op_count};
    return true;
}

vm_program *vm_load(base_arena *arena, const ptx_module *module) {
    return vm_load_with(arena, module, VM_APPROXIMATE_NEARLY);
}

vm_program *vm_load_with(base_arena *arena, const ptx_module *module, vm_approximations approximations) {
    return load(arena, module, approximations, false);
}

vm_program *vm_load_checked(base_arena *arena, const ptx_module *module, vm_approximations approximations) {
    return load(arena, module, approximations, true);
}
