/* SPDX-License-Identifier: Apache-2.0
 * Flat IR to a PTX module: kernels, parameters, launch bounds, and the entry's instructions in front of the
 * body. The rest of the writer is in ptx_build_*.c. */
#include "assemble/ptx_build_internal.h"
#include "num/num.h"
#include <string.h>

/* ---- parameters ---- */

static ptx_mod parameter_mod(ir_type type, ptx_type *stored) {
    ptx_build_class class = ptx_build_class_of(type);
    unsigned bytes = type.kind == IR_TYPE_PRIM ? num_dtype_bytes(type.dtype) : 8;
    bool is_signed = type.kind == IR_TYPE_PRIM && num_dtype_class(type.dtype) == NUM_SIGNED;
    if (class == PTX_CLASS_F32 || class == PTX_CLASS_F64) {
        *stored = class == PTX_CLASS_F32 ? PTX_TYPE_F32 : PTX_TYPE_F64;
        return ptx_build_bits_mod(class);
    }
    if (class == PTX_CLASS_HALF || class == PTX_CLASS_BYTE) {
        *stored = bytes == 1 ? PTX_TYPE_B8 : PTX_TYPE_B16;
        return bytes == 1 ? PTX_MOD_B8 : PTX_MOD_B16;
    }
    switch (bytes) {
    case 1:
        *stored = PTX_TYPE_U8;
        return is_signed ? PTX_MOD_S8 : PTX_MOD_U8;
    case 2:
        *stored = PTX_TYPE_U16;
        return is_signed ? PTX_MOD_S16 : PTX_MOD_U16;
    case 4:
        *stored = PTX_TYPE_U32;
        return PTX_MOD_U32;
    default:
        *stored = PTX_TYPE_U64;
        return PTX_MOD_U64;
    }
}

static ptx_variable *add_parameter(ptx_builder *b, size_t index, ptx_type type) {
    ptx_variable *variable = BASE_NEW(b->arena, ptx_variable);
    variable->name = base_arena_format(b->arena, "%s_param_%zu", b->plan->kernel_name, index);
    variable->space = PTX_SPACE_PARAM;
    variable->type = type;
    variable->vector = 1;
    variable->elements = 1;
    variable->bytes = ptx_type_bits(type) / 8;
    variable->owner = b->function;
    base_vector_push(b->arena, &b->function->parameters, variable);
    return variable;
}

static ptx_operand load_parameter(ptx_builder *b, ptx_variable *variable, ptx_build_class class,
                                  ptx_mod mod) {
    ptx_operand address = ptx_build_variable(variable, 0);
    ptx_operand place = ptx_build_group(b, PTX_OPERAND_MEMORY, &address, 1);
    ptx_operand value = ptx_build_register(b, class);
    ptx_build_emit(b, PTX_OP_LD, PTX_MODS(PTX_MOD_PARAM, mod), PTX_ARGS(value, place));
    return value;
}

static void tensor_parameter(ptx_builder *b, size_t index, const ir_tensor *tensor, bool used) {
    ptx_variable *variable = add_parameter(b, index, PTX_TYPE_U64);
    variable->is_pointer = true;
    variable->pointer_space = PTX_SPACE_GLOBAL;
    variable->pointer_align = tensor->type.align && tensor->type.align < 16 ? tensor->type.align : 16;
    variable->span = tensor->span;
    if (!used)
        return;
    ptx_operand generic = load_parameter(b, variable, PTX_CLASS_R64, PTX_MOD_U64);
    ptx_build_address *address = BASE_NEW(b->arena, ptx_build_address);
    address->space = PTX_SPACE_GLOBAL;
    address->base = ptx_build_compute(b, PTX_CLASS_R64, PTX_OP_CVTA,
                                      PTX_MODS(PTX_MOD_TO, PTX_MOD_GLOBAL, PTX_MOD_U64), PTX_ARGS(generic));
    base_map_set(b->tensors, (uint64_t)tensor->id + 1, address);
}

/* A tensor map stays in the parameter; its generic address is what copies take. */
static ptx_operand map_address(ptx_builder *b, size_t index, base_span span, bool used) {
    ptx_variable *variable = add_parameter(b, index, PTX_TYPE_B8);
    variable->is_array = true;
    variable->elements = 128;
    variable->bytes = 128;
    variable->align = 64;
    variable->span = span;
    if (!used)
        return ptx_build_int(0);
    ptx_operand place = ptx_build_compute(b, PTX_CLASS_R64, PTX_OP_MOV, PTX_MODS(PTX_MOD_U64),
                                          PTX_ARGS(ptx_build_variable(variable, 0)));
    return ptx_build_compute(b, PTX_CLASS_R64, PTX_OP_CVTA, PTX_MODS(PTX_MOD_PARAM, PTX_MOD_U64),
                             PTX_ARGS(place));
}

static void map_parameter(ptx_builder *b, size_t index, const ir_tensor *tensor) {
    ptx_build_address *address = BASE_NEW(b->arena, ptx_build_address);
    address->space = PTX_SPACE_GLOBAL; /* a generic address, used as it is */
    address->base = map_address(b, index, tensor->span, true);
    base_map_set(b->tensors, (uint64_t)tensor->id + 1, address);
}

static void tensor_map_parameter(ptx_builder *b, size_t index, const ir_var *var, bool used) {
    ptx_operand generic = map_address(b, index, var->span, used);
    ptx_build_bind(b, var, base_arena_copy(b->arena, &generic, sizeof(generic)));
}

static void scalar_parameter(ptx_builder *b, size_t index, const ir_var *var, bool used) {
    ptx_type stored;
    ptx_mod mod = parameter_mod(var->type, &stored);
    ptx_variable *variable = add_parameter(b, index, stored);
    variable->span = var->span;
    if (!used)
        return;
    ptx_build_class class = ptx_build_class_of(var->type);
    ptx_operand value = load_parameter(b, variable, class == PTX_CLASS_PRED ? PTX_CLASS_R32 : class, mod);
    if (class == PTX_CLASS_PRED)
        value = ptx_build_compute(b, PTX_CLASS_PRED, PTX_OP_SETP, PTX_MODS(PTX_MOD_NE, PTX_MOD_S32),
                                  PTX_ARGS(value, ptx_build_int(0)));
    if (var->type.kind == IR_TYPE_POINTER) {
        ptx_build_address *address = BASE_NEW(b->arena, ptx_build_address);
        address->space = ptx_build_space((ir_scope)var->type.scope);
        address->base = ptx_build_compute(
            b, PTX_CLASS_R64, PTX_OP_CVTA,
            PTX_MODS(PTX_MOD_TO, ptx_build_space_mod(address->space), PTX_MOD_U64), PTX_ARGS(value));
        base_map_set(b->addresses, (uint64_t)var->id + 1, address);
        return;
    }
    ptx_build_bind(b, var, base_arena_copy(b->arena, &value, sizeof(value)));
}

/* ---- which parameters the body uses ---- */

typedef struct used_names {
    base_map *vars, *tensors;
    ir_memo *met;
} used_names;

static void note_use(void *user, const ir_expr *e) {
    used_names *used = user;
    if (e->op == IR_VAR)
        base_map_set(used->vars, (uint64_t)e->at.var->id + 1, (void *)(uintptr_t)e->at.var);
    if (e->op == IR_DATA)
        base_map_set(used->tensors, (uint64_t)e->at.tensor->id + 1, (void *)(uintptr_t)e->at.tensor);
}

static void note_uses(void *user, const ir_expr **e) {
    used_names *used = user;
    ir_expr_visit_new(used->met, *e, note_use, used);
}

static void find_uses(used_names *used, const ir_stmt *s) {
    ir_stmt_expressions((ir_stmt *)(uintptr_t)s, note_uses, used);
    switch (s->kind) {
    case IR_STMT_BLOCK:
        for (size_t i = 0; i < s->as.block.body.count; i++)
            find_uses(used, s->as.block.body.items[i]);
        break;
    case IR_STMT_IF:
        find_uses(used, s->as.branch.then_body);
        if (s->as.branch.else_body)
            find_uses(used, s->as.branch.else_body);
        break;
    case IR_STMT_FOR:
        find_uses(used, s->as.loop.body);
        break;
    case IR_STMT_WHILE:
        find_uses(used, s->as.while_loop.body);
        break;
    default:
        break;
    }
}

static void parameters(ptx_builder *b) {
    const ir_function *function = b->plan->function;
    used_names used = {base_map_create(b->arena), base_map_create(b->arena), ir_memo_open(b->ir)};
    find_uses(&used, function->body);
    ir_memo_close(used.met);
    b->in_prologue = true;
    for (size_t i = 0; i < function->parameters.count; i++) {
        const ir_parameter *parameter = &function->parameters.items[i];
        if (parameter->tensor && parameter->tensor->map)
            map_parameter(b, i, parameter->tensor);
        else if (parameter->tensor)
            tensor_parameter(b, i, parameter->tensor,
                             base_map_get(used.tensors, (uint64_t)parameter->tensor->id + 1) != NULL);
        else if (ir_type_is_tensor_map(parameter->var->type))
            tensor_map_parameter(b, i, parameter->var,
                                 base_map_get(used.vars, (uint64_t)parameter->var->id + 1) != NULL);
        else
            scalar_parameter(b, i, parameter->var,
                             base_map_get(used.vars, (uint64_t)parameter->var->id + 1) != NULL);
    }
    b->in_prologue = false;
}

/* ---- launch bounds ---- */

static void launch_bounds(ptx_builder *b) {
    const ir_launch *launch = &b->plan->function->launch;
    if (!launch->present)
        return;
    int64_t block[3], cluster[3];
    bool constant = true, clustered = launch->cluster[0] != NULL && !launch->preferred[0];
    for (int i = 0; i < 3; i++) {
        constant = constant && launch->block[i] && ir_is_int(launch->block[i], &block[i]) && block[i] > 0 &&
                   block[i] <= 1024;
        clustered = clustered && launch->cluster[i] && ir_is_int(launch->cluster[i], &cluster[i]) &&
                    cluster[i] > 0 && cluster[i] <= 16;
    }
    for (int i = 0; constant && i < 3; i++)
        b->function->max_threads[i] = (uint32_t)block[i];
    for (int i = 0; clustered && i < 3; i++)
        b->function->cluster[i] = (uint32_t)cluster[i];
    if (launch->max_blocks_per_cluster > 0 && launch->max_blocks_per_cluster <= 16 && !clustered)
        b->function->max_cluster_rank = (uint32_t)launch->max_blocks_per_cluster;
    if (launch->min_blocks_per_sm > 0 && launch->min_blocks_per_sm <= 32)
        b->function->min_blocks = (uint32_t)launch->min_blocks_per_sm;
    if (launch->max_registers > 0 && launch->max_registers <= 255)
        b->function->max_registers = (uint32_t)launch->max_registers;
}

/* ---- a kernel ---- */

static void join_prologue(ptx_builder *b) {
    size_t first = b->prologue.count, count = b->function->instructions.count;
    for (size_t i = 0; i < first; i++) /* room at the end */
        base_vector_push(b->arena, &b->function->instructions, b->prologue.items[i]);
    ptx_instruction *all = b->function->instructions.items;
    memmove(all + first, all, count * sizeof(*all));
    if (first)
        memcpy(all, b->prologue.items, first * sizeof(*all));
    for (size_t i = 0; i < b->function->labels.count; i++)
        b->function->labels.items[i]->target += (uint32_t)first;
}

static bool build_kernel(base_arena *arena, ptx_module *module, ir_module *ir, const lower_plan *plan,
                         const ptx_build_options *options, const cuda_unit *unit) {
    ptx_builder builder = {
        .arena = arena, .module = module, .ir = ir, .plan = plan, .options = options, .unit = unit};
    ptx_builder *b = &builder;
    b->diagnostics = module->diagnostics;
    if (ptx_function_find(module, plan->kernel_name)) {
        b->span = plan->function->span;
        ptx_build_error(b, "T0657", "two kernels are named %s", plan->kernel_name);
        return false;
    }
    b->function = ptx_function_create(module, plan->kernel_name, true);
    b->function->linkage = PTX_LINK_VISIBLE;
    b->function->has_body = true;
    b->function->span = plan->function->span;
    b->variables = base_map_create(arena), b->addresses = base_map_create(arena);
    b->tensors = base_map_create(arena), b->constants = base_map_create(arena);
    b->stored = base_map_create(arena), b->pointer_values = base_map_create(arena);
    b->facts = arith_facts_create_later(arena, plan->function);
    b->end = ptx_build_label(b, "exit");
    launch_bounds(b);
    parameters(b);
    ptx_build_find_stores(b, plan->function->body);
    ptx_build_block(b, plan->function->body);
    if (b->end_used)
        ptx_build_place(b, b->end);
    ptx_build_emit(b, PTX_OP_RET, NULL, 0, NULL, 0);
    arith_facts_release(b->facts);
    join_prologue(b);
    ptx_build_tidy(b);
    return !b->failed;
}

static void list_files(ptx_module *module) {
    base_sources *sources = base_diagnostics_sources(module->diagnostics);
    size_t count = sources ? base_sources_count(sources) : 0;
    for (size_t i = 0; i <= count && count; i++)
        base_vector_push(module->arena, &module->files, i ? base_source_name(sources, (uint32_t)i) : NULL);
}

/* A target that was left open is the one that the script's own instructions exist on: what sm_90a lacks
 * (tensor memory, pairs of float32) came with sm_100a, some forms of cvt with sm_107a. */
static const char *needed_target(const ptx_module *module) {
    if (ptx_module_exists_on(module, "sm_90a"))
        return "sm_90a";
    return ptx_module_exists_on(module, "sm_107a") && !ptx_module_exists_on(module, "sm_100a") ? "sm_107a"
                                                                                               : "sm_100a";
}

ptx_module *ptx_build(base_arena *arena, const lower_result *lowered, const ptx_build_options *options) {
    ptx_module *module = ptx_module_create(arena, lowered->module->diagnostics);
    const cuda_unit *unit = NULL;
    static const ptx_build_options defaults = {.contract = true};
    if (!options)
        options = &defaults;
    if (!ptx_build_sources(&module, lowered, options, &unit))
        return NULL;
    module->target = options->target ? options->target : "sm_90a";
    module->target_options = "";
    module->address_size = 64;
    list_files(module);
    bool done = true;
    for (size_t i = 0; i < lowered->plans.count; i++)
        done = build_kernel(arena, module, lowered->module, lowered->plans.items[i], options, unit) && done;
    if (!done)
        return NULL;
    if (!options->target)
        module->target = needed_target(module);
    module->version = ptx_module_minimum_version(module);
    return module;
}
