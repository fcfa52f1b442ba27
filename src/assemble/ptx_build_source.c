/* SPDX-License-Identifier: Apache-2.0
 * Functions of CUDA source text: another compiler's PTX of them becomes the start of the module, and calls of
 * them follow the .param rules of PTX (PTX ISA, 7.1). Who compiles, and how, is not known here. */
#include "assemble/ptx_build_internal.h"
#include "num/num.h"
#include <string.h>

/* ---- the module that the functions come in ---- */

/* A target that was left open is the one on which all instructions exist that the script names. */
static void find_tensor_instruction(void *user, const ir_expr *e) {
    bool *found = user;
    const char *text = e->op == IR_PTX && e->count               ? e->args[0]->at.string
                       : e->op == IR_SOURCE_CALL && e->count > 1 ? e->args[1]->at.string
                                                                 : NULL;
    *found = *found || (text && strstr(text, "tcgen05."));
}

static void find_in_expression(void *user, const ir_expr **e) {
    if (*e)
        ir_expr_visit(*e, find_tensor_instruction, user);
}

static void find_in_statement(void *user, ir_stmt *statement) {
    ir_stmt_expressions(statement, find_in_expression, user);
}

static const char *target_of(const lower_result *lowered, const ptx_build_options *options) {
    bool tensor = false;
    if (options->target)
        return options->target;
    for (size_t i = 0; i < lowered->plans.count; i++)
        ir_stmt_visit(lowered->plans.items[i]->function->body, find_in_statement, &tensor);
    return tensor ? "sm_100a" : "sm_90a";
}

typedef struct reach {
    base_arena *arena;
    base_map *functions, *variables; /* what is used */
    BASE_VECTOR(ptx_function *) open;
} reach;

static void reach_function(reach *r, ptx_function *function) {
    if (!function || base_map_get(r->functions, BASE_KEY(function)))
        return;
    base_map_set(r->functions, BASE_KEY(function), function);
    base_vector_push(r->arena, &r->open, function);
}

static void reach_variable(reach *r, ptx_variable *variable) {
    if (!variable || base_map_get(r->variables, BASE_KEY(variable)))
        return;
    base_map_set(r->variables, BASE_KEY(variable), variable);
    for (size_t i = 0; i < variable->initial.count; i++) {
        reach_variable(r, variable->initial.items[i].variable);
        reach_function(r, variable->initial.items[i].function);
    }
}

static void reach_operand(reach *r, const ptx_operand *operand) {
    if (operand->kind == PTX_OPERAND_VARIABLE)
        reach_variable(r, operand->of.variable);
    if (operand->kind == PTX_OPERAND_FUNCTION)
        reach_function(r, operand->of.function);
    for (uint16_t i = 0; i < operand->count && operand->args; i++)
        reach_operand(r, &operand->args[i]);
}

static void reach_body(reach *r, const ptx_function *function) {
    reach_function(r, function->alias);
    for (size_t i = 0; i < function->instructions.count; i++)
        for (uint8_t k = 0; k < function->instructions.items[i].operand_count; k++)
            reach_operand(r, &function->instructions.items[i].operands[k]);
    for (size_t t = 0; t < function->tables.count; t++)
        for (size_t i = 0; i < function->tables.items[t]->functions.count; i++)
            reach_function(r, function->tables.items[t]->functions.items[i]);
}

/* The compiler keeps every function of the text, although those that it could put in place of their calls are
 * used no more. */
static void drop_unused(ptx_module *module, const cuda_unit *unit) {
    reach r = {module->arena, base_map_create(module->arena), base_map_create(module->arena), {0}};
    for (size_t i = 0; i < unit->wrappers.count; i++)
        reach_function(&r, ptx_function_find(module, unit->wrappers.items[i].name));
    while (r.open.count)
        reach_body(&r, r.open.items[--r.open.count]);
    size_t kept = 0;
    for (size_t i = 0; i < module->functions.count; i++) {
        ptx_function *function = module->functions.items[i];
        if (!base_map_get(r.functions, BASE_KEY(function))) {
            base_map_set(module->function_index, BASE_KEY(function->name), NULL);
            continue;
        }
        function->id = (uint32_t)kept;
        module->functions.items[kept++] = function;
    }
    module->functions.count = kept;
    kept = 0;
    for (size_t i = 0; i < module->variables.count; i++) {
        ptx_variable *variable = module->variables.items[i];
        if (base_map_get(r.variables, BASE_KEY(variable)))
            module->variables.items[kept++] = variable;
        else
            base_map_set(module->variable_index, BASE_KEY(variable->name), NULL);
    }
    module->variables.count = kept;
}

static bool is_of_unit(const ptx_module *module, const ptx_instruction *instruction) {
    const char *name = instruction->loc_line && instruction->loc_file < module->files.count
                           ? module->files.items[instruction->loc_file]
                           : NULL;
    size_t size = name ? strlen(name) : 0, wanted = strlen(CUDA_UNIT_NAME);
    return size >= wanted && !strcmp(name + size - wanted, CUDA_UNIT_NAME);
}

/* Lines of the unit become places of the script, where it can be said. What comes from a header belongs to
 * what stands before it. */
static void place_instructions(const ptx_module *module, ptx_function *function, const cuda_unit *unit) {
    const base_sources *sources = base_diagnostics_sources(module->diagnostics);
    base_span span = unit->wrappers.items[0].span;
    for (size_t i = 0; i < unit->wrappers.count; i++)
        if (!strcmp(unit->wrappers.items[i].name, function->name))
            span = unit->wrappers.items[i].span;
    function->span = span;
    for (size_t i = 0; i < function->instructions.count; i++) {
        ptx_instruction *instruction = &function->instructions.items[i];
        if (is_of_unit(module, instruction))
            cuda_unit_place(unit, sources, instruction->loc_line, &span);
        instruction->span = span;
        base_place place = base_span_place(sources, span);
        instruction->loc_file = place.line ? span.file : 0;
        instruction->loc_line = place.line;
        instruction->loc_column = place.column;
    }
}

bool ptx_build_sources(ptx_module **module, const lower_result *lowered, const ptx_build_options *options,
                       const cuda_unit **unit) {
    base_arena *arena = (*module)->arena;
    base_diagnostics *list = (*module)->diagnostics;
    size_t errors = base_diagnostics_errors(list);
    *unit = cuda_unit_create(arena, lowered);
    if (!*unit || base_diagnostics_errors(list) != errors)
        return !*unit;
    for (size_t i = 0; i < (*unit)->wrappers.count; i++) {
        const ir_expr *call = (*unit)->wrappers.items[i].call;
        for (uint32_t k = 2; k < call->count; k++) {
            ir_type type = k > 2 ? call->args[k]->type : call->type;
            bool narrow = type.kind == IR_TYPE_PRIM && type.lanes > 1 &&
                          (ir_type_is_bool(type) || num_dtype_bits((num_dtype)type.dtype) < 8);
            if (narrow || ir_type_is_tensor_map(type))
                base_help(list,
                          base_report(list, BASE_ERROR, "T0661", (*unit)->wrappers.items[i].span,
                                      "the %s of `%s` is of a type that goes into no function of source text",
                                      k > 2 ? "argument" : "result", call->args[0]->at.string),
                          "pass a pointer to it");
        }
    }
    const char *name = (*unit)->wrappers.items[0].call->args[0]->at.string;
    if (!options->compile && base_diagnostics_errors(list) == errors)
        base_report(list, BASE_ERROR, "T0658", (*unit)->wrappers.items[0].span,
                    "`%s` is CUDA source text, and no compiler was given that makes PTX of it", name);
    if (base_diagnostics_errors(list) != errors)
        return false;
    uint32_t file =
        options->compile(options->compile_user, *unit, target_of(lowered, options), options->contract);
    ptx_module *made = file ? ptx_parse(arena, list, file) : NULL;
    if (!made || base_diagnostics_errors(list) != errors || !ptx_verify(made, false))
        return false;
    drop_unused(made, *unit);
    for (size_t i = 0; i < made->functions.count; i++) {
        made->functions.items[i]->foreign = true;
        if (made->functions.items[i]->linkage == PTX_LINK_VISIBLE)
            made->functions.items[i]->linkage = PTX_LINK_NONE;
        place_instructions(made, made->functions.items[i], *unit);
    }
    made->files.count = 0;
    *module = made;
    return true;
}

/* ---- calls ---- */

/* The .param variables of a kernel's calls; calls that follow one another use the same ones. */
static ptx_variable *passed(ptx_builder *b, size_t number, ptx_type type, uint64_t words) {
    for (size_t i = 0; i < b->passed.count; i++) {
        ptx_variable *known = b->passed.items[i].variable;
        if (b->passed.items[i].number == number && known->type == type &&
            (words == 0 || known->bytes == 4 * words))
            return known;
    }
    ptx_variable *fresh =
        ptx_build_call_parameter(b, type, base_arena_format(b->arena, "call_%zu", b->passed.count));
    if (words) {
        fresh->is_array = true;
        fresh->align = 4;
        fresh->elements = (int64_t)(4 * words);
        fresh->bytes = 4 * words;
    }
    fresh->owner = b->function;
    base_vector_push(b->arena, &b->function->variables, fresh);
    base_vector_push(b->arena, &b->passed, ((ptx_build_passed){number, fresh}));
    return fresh;
}

typedef struct arguments {
    BASE_VECTOR(ptx_operand) values;
    BASE_VECTOR(ptx_mod) mods;
} arguments;

static void add_argument(ptx_builder *b, arguments *list, ptx_operand value, ptx_mod mod) {
    base_vector_push(b->arena, &list->values, value);
    base_vector_push(b->arena, &list->mods, mod);
}

static void add_words(ptx_builder *b, arguments *list, const ir_expr *e, unsigned count) {
    const ptx_operand *lanes = ptx_build_value(b, e);
    ptx_operand *words = BASE_NEW_ARRAY(b->arena, ptx_operand, count + 1);
    if (ir_type_is_bool(e->type))
        words[0] = ptx_build_cast(b, ir_type_prim(NUM_DTYPE_U32, 1), e->type, lanes[0]);
    else
        ptx_build_pack(b, e->type, lanes, words);
    for (unsigned i = 0; i < count; i++)
        add_argument(b, list, ptx_build_in_register(b, PTX_CLASS_R32, words[i]), PTX_MOD_B32);
}

static void evaluate_arguments(ptx_builder *b, const ir_expr *e, arguments *list) {
    for (uint32_t i = 3; i < e->count; i++) {
        const ir_expr *argument = e->args[i];
        unsigned words = cuda_unit_words(argument->type);
        ptx_build_class class = ptx_build_class_of(argument->type);
        if (argument->op == IR_STRING)
            add_argument(b, list, ptx_build_text(b, argument->at.string), PTX_MOD_B64);
        else if (argument->type.kind == IR_TYPE_POINTER)
            add_argument(b, list, ptx_build_generic(b, ptx_build_address_of(b, argument)), PTX_MOD_B64);
        else if (words)
            add_words(b, list, argument, words);
        else
            add_argument(b, list, ptx_build_scalar(b, argument), ptx_build_bits_mod(class));
    }
}

static ptx_type stored_type(ptx_mod mod) {
    return mod == PTX_MOD_B64 || mod == PTX_MOD_F64 ? PTX_TYPE_B64 : PTX_TYPE_B32;
}

static const ptx_operand *load_result(ptx_builder *b, ir_type type, ptx_variable *variable) {
    unsigned words = cuda_unit_words(type);
    ptx_build_class class = words ? PTX_CLASS_R32 : ptx_build_class_of(type);
    ptx_operand *loaded = BASE_NEW_ARRAY(b->arena, ptx_operand, words + 1);
    for (unsigned i = 0; i < (words ? words : 1); i++) {
        ptx_operand base = ptx_build_variable(variable, 0);
        ptx_operand place = ptx_build_group(b, PTX_OPERAND_MEMORY, &base, 1);
        place.bits = 4 * i;
        loaded[i] = words ? ptx_build_register(b, class) : ptx_build_result(b, class);
        ptx_build_emit(b, PTX_OP_LD, PTX_MODS(PTX_MOD_PARAM, ptx_build_bits_mod(class)),
                       PTX_ARGS(loaded[i], place));
    }
    if (!words)
        return loaded;
    ptx_operand *lanes = BASE_NEW_ARRAY(b->arena, ptx_operand, type.lanes + 1);
    if (ir_type_is_bool(type)) {
        ptx_operand bit = ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_AND, PTX_MODS(PTX_MOD_B32),
                                            PTX_ARGS(loaded[0], ptx_build_int(1)));
        lanes[0] = ptx_build_cast(b, type, ir_type_prim(NUM_DTYPE_U32, 1), bit);
    } else {
        ptx_build_unpack(b, type, loaded, lanes);
    }
    return lanes;
}

const ptx_operand *ptx_build_source_call(ptx_builder *b, const ir_expr *e) {
    const cuda_wrapper *wrapper = cuda_unit_wrapper(b->unit, e);
    ptx_operand callee = {.kind = PTX_OPERAND_FUNCTION};
    callee.of.function = wrapper ? ptx_function_find(b->module, wrapper->name) : NULL;
    if (!callee.of.function) {
        ptx_build_error(b, "T0650", "`%s` came without its function: this is a bug in tirc",
                        e->args[0]->at.string);
        return ptx_build_zero(b);
    }
    arguments list = {0};
    evaluate_arguments(b, e, &list);
    ptx_operand *places = BASE_NEW_ARRAY(b->arena, ptx_operand, list.values.count + 1);
    for (size_t i = 0; i < list.values.count; i++) {
        ptx_mod mod = list.mods.items[i];
        places[i] = ptx_build_variable(passed(b, i + 1, stored_type(mod), 0), 0);
        ptx_operand place = ptx_build_group(b, PTX_OPERAND_MEMORY, &places[i], 1);
        ptx_build_emit(b, PTX_OP_ST, PTX_MODS(PTX_MOD_PARAM, mod), PTX_ARGS(place, list.values.items[i]));
    }
    ptx_operand in = ptx_build_group(b, PTX_OPERAND_LIST, places, (unsigned)list.values.count);
    if (e->type.kind == IR_TYPE_VOID) {
        if (list.values.count)
            ptx_build_emit(b, PTX_OP_CALL, PTX_MODS(PTX_MOD_UNI), PTX_ARGS(callee, in));
        else
            ptx_build_emit(b, PTX_OP_CALL, PTX_MODS(PTX_MOD_UNI), PTX_ARGS(callee));
        return ptx_build_zero(b);
    }
    unsigned words = cuda_unit_words(e->type);
    ptx_type type = words ? PTX_TYPE_B8 : stored_type(ptx_build_bits_mod(ptx_build_class_of(e->type)));
    ptx_variable *result = passed(b, 0, type, words);
    ptx_operand returned = ptx_build_variable(result, 0);
    ptx_operand out = ptx_build_group(b, PTX_OPERAND_LIST, &returned, 1);
    if (list.values.count)
        ptx_build_emit(b, PTX_OP_CALL, PTX_MODS(PTX_MOD_UNI), PTX_ARGS(out, callee, in));
    else
        ptx_build_emit(b, PTX_OP_CALL, PTX_MODS(PTX_MOD_UNI), PTX_ARGS(out, callee));
    return load_result(b, e->type, result);
}
