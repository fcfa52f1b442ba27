/* SPDX-License-Identifier: Apache-2.0
 * The pass list and the loop that runs it. Must not know what any pass does. */
#include "lower/lower_optimise.h"
#include <string.h>

enum { FOR_CUDA = 1, FOR_PTX = 2, FOR_ALL = 3 };

typedef struct pass_row {
    const char *name;
    lower_pass_run run;
    unsigned goals;
    ir_form form; /* of the result */
    const char *summary;
} pass_row;

/* clang-format off */
static const pass_row passes[] = {
    {"lower_arithmetic", lower_arithmetic, FOR_ALL, IR_FORM_TENSOR, "warnings about arithmetic that is certainly not meant"},
    {"lower_unwritten", lower_unwritten, FOR_ALL, IR_FORM_TENSOR, "warnings about locals that are read before anything is written to them"},
    {"lower_tensor_memory", lower_tensor_memory, FOR_ALL, IR_FORM_TENSOR, "rules of tensor memory that the text shows; changes nothing"},
    {"lower_storage", lower_storage, FOR_ALL, IR_FORM_TENSOR, "shared allocations leave nested blocks"},
    {"lower_unroll", lower_unroll, FOR_ALL, IR_FORM_TENSOR, "unrolled loops become straight lines"},
    {"lower_views", lower_views, FOR_ALL, IR_FORM_TENSOR, "views name the root's pointer or a pointer variable"},
    {"lower_tiles", lower_tiles, FOR_ALL, IR_FORM_TENSOR, "tile operations become loops and instructions, by the first way that fits"},
    {"lower_vectorize", lower_vectorize, FOR_ALL, IR_FORM_TENSOR, "vectorized loops become ramps, or serial loops"},
    {"lower_vectors", lower_vectors, FOR_ALL, IR_FORM_TENSOR, "vector values are whole accesses or lists of scalars"},
    {"lower_layouts", lower_layouts, FOR_ALL, IR_FORM_FLAT, "layouts become index arithmetic; views and axes are gone"},
    {"lower_packed", lower_packed, FOR_ALL, IR_FORM_FLAT, "4-bit elements become halves of bytes"},
    {"lower_simplify", lower_simplify, FOR_ALL, IR_FORM_FLAT, "rules of arithmetic, tests that facts decide; branches never taken"},
    {"lower_division", lower_division, FOR_ALL, IR_FORM_FLAT, "floor division where truncation or shifts do the same"},
    {"lower_dead", lower_dead, FOR_ALL, IR_FORM_FLAT, "bindings and scalars that nobody reads are gone"},
    {"lower_launch", lower_launch, FOR_ALL, IR_FORM_FLAT, "shared memory map, bytes, local tensors: the launch plan"},
    {"lower_lazy", lower_lazy, FOR_PTX, IR_FORM_FLAT, "lazy operands that read memory become branches"},
    /* These may be skipped by name. */
    {"optimise_unroll", lower_optimise_unroll, FOR_PTX, IR_FORM_FLAT, "short loops with constant rounds become straight lines"},
    {"optimise_promote", lower_optimise_promote, FOR_PTX, IR_FORM_FLAT, "locals at constant indices become register variables"},
    {"optimise_propagate", lower_optimise_propagate, FOR_PTX, IR_FORM_FLAT, "bindings of pure values dissolve into their uses"},
    {"optimise_divide", lower_optimise_divide, FOR_PTX, IR_FORM_FLAT, "float quotients by powers of two become products"},
    {"optimise_select", lower_optimise_select, FOR_PTX, IR_FORM_FLAT, "branches that only give a register another value become selects"},
    {"optimise_addresses", lower_optimise_addresses, FOR_PTX, IR_FORM_FLAT, "addresses become chains by loop level, with constant offsets"},
    {"optimise_widen", lower_optimise_widen, FOR_PTX, IR_FORM_FLAT, "neighbouring loads of 32-bit elements become vector loads"},
    {"optimise_induction", lower_optimise_induction, FOR_PTX, IR_FORM_FLAT, "pointers that advance evenly become registers"},
    {"optimise_hoist", lower_optimise_hoist, FOR_PTX, IR_FORM_FLAT, "what never changes in a loop is computed before it"},
    {"optimise_loads", lower_optimise_loads, FOR_PTX, IR_FORM_FLAT, "equal loads with no store between are one"},
    {"optimise_select_loaded", lower_optimise_select, FOR_PTX, IR_FORM_FLAT, "the same for branches whose loads are shared now"},
    {"optimise_share", lower_optimise_share, FOR_PTX, IR_FORM_FLAT, "values needed on several paths are computed above them"},
    {"optimise_dead", lower_optimise_dead, FOR_PTX, IR_FORM_FLAT, "what no effect depends on is gone"},
};
/* clang-format on */
enum { PASS_COUNT = sizeof(passes) / sizeof(passes[0]) };

const char *lower_pass(size_t index, const char **summary) {
    if (index >= PASS_COUNT)
        return NULL;
    if (summary)
        *summary = passes[index].summary;
    return passes[index].name;
}

/* True when the comma-separated list names the pass. */
static bool is_listed(const char *list, const char *name) {
    size_t size = strlen(name);
    while (list && *list) {
        size_t length = strcspn(list, ",");
        if (length == size && !memcmp(list, name, size))
            return true;
        list += length + (list[length] == ',');
    }
    return false;
}

static bool is_skipped(const lower_options *options, const char *name) {
    return !strncmp(name, "optimise_", 9) && is_listed(options->skip, name);
}

/* Tensors by name, then scalars by name: the order of the reference's launcher. */
static void sort_parameters(ir_function *function) {
    for (size_t i = 1; i < function->parameters.count; i++)
        for (size_t j = i; j > 0; j--) {
            ir_parameter *a = &function->parameters.items[j - 1], *b = &function->parameters.items[j];
            bool in_order = (a->tensor != NULL) == (b->tensor != NULL) ? strcmp(a->name, b->name) <= 0
                                                                       : a->tensor != NULL;
            if (in_order)
                break;
            ir_parameter swap = *a;
            *a = *b, *b = swap;
        }
}

/* The result's module shares storage and interning with the input, and holds copies of its functions.
 * Expressions that are made for it know it, so it lives as long as they. */
static ir_module *copy_module(ir_module *module) {
    ir_module *copy = BASE_NEW(module->arena, ir_module);
    BASE_VECTOR(ir_function *) fresh = {0};
    for (size_t i = 0; i < module->functions.count; i++)
        base_vector_push(module->arena, &fresh, ir_function_copy(module->functions.items[i]));
    *copy = *module;
    copy->functions.items = fresh.items;
    copy->functions.count = fresh.count;
    copy->functions.capacity = fresh.capacity;
    for (size_t i = 0; i < fresh.count; i++)
        fresh.items[i]->module = copy;
    return copy;
}

/* Function name + _kernel in the characters that C and PTX share, told apart from the plans before it. */
static const char *kernel_name(base_arena *arena, const lower_result *result, const char *name) {
    char *stem = base_arena_format(arena, "%s_kernel", name);
    for (char *c = stem; *c; c++)
        if (!(*c >= 'a' && *c <= 'z') && !(*c >= 'A' && *c <= 'Z') && !(*c >= '0' && *c <= '9'))
            *c = '_';
    const char *unique = stem;
    unsigned number = 0;
    for (size_t i = 0; i < result->plans.count; i++)
        if (!strcmp(result->plans.items[i]->kernel_name, unique)) {
            unique = base_arena_format(arena, "%s_%u", stem, ++number);
            i = (size_t)-1; /* once more against all */
        }
    return unique;
}

static lower_plan *start_plan(base_arena *arena, const lower_result *result, const ir_function *function) {
    lower_plan *plan = BASE_NEW(arena, lower_plan);
    plan->name = function->name;
    const char *name = function->name; /* regions of one function: f_kernel, f_kernel_1, ... */
    for (size_t i = result->plans.count; function->launch.follows && i > 0; i--)
        if (!result->plans.items[i - 1]->function->launch.follows) {
            name = result->plans.items[i - 1]->name;
            break;
        }
    plan->kernel_name = kernel_name(arena, result, name);
    plan->function = function;
    return plan;
}

static void dump(const lower_options *options, const ir_module *module, const char *name) {
    if (!options->dump || !options->dump_after)
        return;
    if (strcmp(options->dump_after, name) && strcmp(options->dump_after, "all"))
        return;
    base_builder_format(options->dump, "# after %s\n", name);
    ir_module_print(module, options->dump);
}

static bool run_passes(lower_context *contexts, size_t count, ir_module *module,
                       const lower_options *options) {
    unsigned goal = options->goal == LOWER_FOR_PTX ? FOR_PTX : FOR_CUDA;
    size_t errors = base_diagnostics_errors(module->diagnostics);
    for (size_t p = 0; p < PASS_COUNT; p++) {
        if (!(passes[p].goals & goal) || is_skipped(options, passes[p].name))
            continue;
        for (size_t i = 0; i < count; i++) {
            passes[p].run(&contexts[i]);
            arith_facts_release(contexts[i].facts);
            contexts[i].facts = NULL;
        }
        if (base_diagnostics_errors(module->diagnostics) > errors)
            return false;
        dump(options, module, passes[p].name);
        if (options->verify && !ir_verify(module, passes[p].form)) {
            base_report(module->diagnostics, BASE_ERROR, "T0400", BASE_NO_SPAN,
                        "the pass %s broke the IR: this is a bug in tirc", passes[p].name);
            return false;
        }
    }
    return true;
}

lower_result *lower_module(base_arena *arena, ir_module *module, const lower_options *options) {
    lower_result *result = BASE_NEW(arena, lower_result);
    result->module = copy_module(module);
    if (options->diagnostics)
        result->module->diagnostics = options->diagnostics;
    size_t count = result->module->functions.count;
    lower_context *contexts = BASE_NEW_ARRAY(arena, lower_context, count);
    for (size_t i = 0; i < count; i++) {
        ir_function *function = result->module->functions.items[i];
        if (options->sorted_parameters)
            sort_parameters(function);
        lower_plan *plan = start_plan(arena, result, function);
        base_vector_push(arena, &result->plans, plan);
        contexts[i] = (lower_context){.arena = arena,
                                      .diagnostics = result->module->diagnostics,
                                      .module = result->module,
                                      .options = options,
                                      .function = function,
                                      .plan = plan};
    }
    bool done = run_passes(contexts, count, result->module, options);
    return done ? result : NULL;
}
