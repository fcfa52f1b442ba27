/* SPDX-License-Identifier: Apache-2.0
 * Calls of functions that the script brings as CUDA source text. What the text means is nvcc's. */
#include "script/script_evaluate.h"
#include <string.h>

static bool is_function_name(const char *name) {
    size_t size = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    return size > 0 && name[size] == 0 && !(name[0] >= '0' && name[0] <= '9');
}

/* The text is source_code=, or the last positional argument, a string. */
static bool take_source(script_evaluator *e, const script_call *call, const char **source, size_t *count) {
    const script_value *v = script_argument_of(call, "source_code");
    *count = call->rest.items.count;
    if (v)
        return script_constant_string(e, *v, source, script_argument_span(call, "source_code"),
                                      "source text");
    if (*count > 0 && call->rest.items.items[*count - 1].value.kind == SCRIPT_VALUE_STRING) {
        *source = call->rest.items.items[--*count].value.as.string.text;
        return true;
    }
    base_diagnostic *d =
        script_error(e, "T0203", call->span, "func_call needs the source text of its function");
    base_help(e->diagnostics, d, "func_call(\"ld\", A.ptr_to([i]), SOURCE, ty=\"float32\")");
    return false;
}

static bool result_type(script_evaluator *e, const script_call *call, ir_type *type) {
    const char *name = script_argument_of(call, "ty") ? "ty" : "return_type";
    const script_value *v = script_argument_of(call, name);
    *type = (ir_type){.kind = IR_TYPE_VOID, .lanes = 1};
    if (!v || (v->kind == SCRIPT_VALUE_STRING && strcmp(v->as.string.text, "void") == 0))
        return true;
    return script_to_dtype(e, *v, type, script_argument_span(call, name));
}

static bool check_source(script_evaluator *e, const script_call *call, const char *name, const char *source) {
    const char *interned = base_name_of(e->names, name);
    const char *known = base_map_get(e->sources, BASE_KEY(interned));
    if (!is_function_name(name)) {
        script_error(e, "T0276", call->place[0], "'%.60s' is no name of a function", name);
        return false;
    }
    if (!strstr(source, name)) {
        script_error(e, "T0276", call->span, "the source text does not name '%s'", name);
        return false;
    }
    if (known && strcmp(known, source) != 0) {
        base_diagnostic *d =
            script_error(e, "T0276", call->span, "'%s' has another source text in an earlier call", name);
        base_help(e->diagnostics, d, "give the functions different names");
        return false;
    }
    base_map_set(e->sources, BASE_KEY(interned), base_arena_string(e->arena, source, strlen(source)));
    return true;
}

/* The call with its arguments, from the one at first on. */
static script_value make_call(script_evaluator *e, const script_call *call, const char *name,
                              const char *source, ir_type type, size_t count) {
    base_builder type_text;
    const ir_expr **args = BASE_NEW_ARRAY(e->arena, const ir_expr *, count + 3);
    base_builder_start(&type_text, e->arena);
    ir_type_print(type, &type_text);
    args[0] = ir_string(e->module, name);
    args[1] = ir_string(e->module, source);
    args[2] = ir_string(e->module, type_text.data);
    for (size_t i = 0; i < count; i++) {
        const script_argument *given = &call->rest.items.items[i];
        ir_tensor *tensor = given->value.kind == SCRIPT_VALUE_TENSOR ? given->value.as.tensor : NULL;
        if (given->value.kind == SCRIPT_VALUE_STRING)
            args[i + 3] = ir_string(e->module, given->value.as.string.text);
        else if (tensor && !script_is_single(tensor))
            args[i + 3] = ir_data(e->module, tensor);
        else
            args[i + 3] = script_to_expr(e, given->value, given->span);
        if (!args[i + 3])
            return script_poison();
    }
    return script_expr(ir_make(e->module, IR_SOURCE_CALL, type, args, (uint32_t)count + 3));
}

script_value script_word_func_call(script_evaluator *e, const script_call *call) {
    const char *name, *source;
    size_t count;
    ir_type type;
    if (!script_need_kernel(e, call->span, "func_call") ||
        !script_constant_string(e, call->value[0], &name, call->place[0], "the name of a function") ||
        !take_source(e, call, &source, &count) || !result_type(e, call, &type) ||
        !check_source(e, call, name, source))
        return script_poison();
    return make_call(e, call, name, source, type, count);
}

/* ---- functions that CUDA C++ has itself ---- */

static bool is_qualified_name(const char *name) {
    for (const char *at = strstr(name, "::"); at; at = strstr(name, "::"))
        name = at + 2;
    return is_function_name(name);
}

static bool named_type(script_evaluator *e, const script_call *call, ir_type *type) {
    script_value v = call->value[0];
    *type = (ir_type){.kind = IR_TYPE_VOID, .lanes = 1};
    if (v.kind == SCRIPT_VALUE_STRING && (strcmp(v.as.string.text, "void") == 0 || !*v.as.string.text))
        return true;
    return script_to_dtype(e, v, type, call->place[0]);
}

script_value script_word_call_extern(script_evaluator *e, const script_call *call) {
    const char *name;
    ir_type type;
    if (!script_need_kernel(e, call->span, call->word->path) || !named_type(e, call, &type) ||
        !script_constant_string(e, call->value[1], &name, call->place[1], "the name of a function"))
        return script_poison();
    if (!is_qualified_name(name)) {
        script_error(e, "T0276", call->place[1], "'%.60s' is no name of a function", name);
        return script_poison();
    }
    return make_call(e, call, name, "", type, call->rest.items.count);
}

/* ---- words by their names, as the reference's builder calls them: "tirx.exp" ---- */

script_value script_word_call_intrin(script_evaluator *e, const script_call *call) {
    static const char *const packages[] = {"tirx.", "tir."};
    const char *name;
    ir_type type;
    if (!script_constant_string(e, call->value[1], &name, call->place[1], "the name of an intrinsic") ||
        !named_type(e, call, &type))
        return script_poison();
    for (size_t i = 0; i < sizeof(packages) / sizeof(packages[0]); i++)
        if (strncmp(name, packages[i], strlen(packages[i])) == 0)
            name += strlen(packages[i]);
    const script_dialect_word *word = script_word_find(name);
    if (!word || word->kind != SCRIPT_WORD_FUNCTION)
        return script_unknown_word(e, "", name, call->place[1]);
    script_arguments arguments = {.items = call->rest.items};
    script_value callee = {.kind = SCRIPT_VALUE_WORD, .as.word = word};
    script_value result = script_call_value(e, callee, &arguments, call->node, call->span, call->place[1]);
    if (result.kind != SCRIPT_VALUE_EXPR || type.kind == IR_TYPE_VOID ||
        ir_type_equal(result.as.expr->type, type))
        return result;
    const ir_expr *converted = script_cast(e, result.as.expr, type, call->span);
    return converted ? script_expr(converted) : script_poison();
}
