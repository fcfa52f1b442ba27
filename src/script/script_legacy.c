/* SPDX-License-Identifier: Apache-2.0
 * Words that only old scripts and the text of the reference's printer use: indices of the launch by their
 * names, positional launch values, jumps as calls. They give what the newer words give. */
#include "script/script_evaluate.h"
#include <string.h>

/* ---- indices of the launch by name ---- */

typedef struct launch_index {
    ir_op op;
    int axis;
} launch_index;

static bool parse_tag(script_evaluator *e, script_value v, base_span span, launch_index *out) {
    static const struct {
        const char *name;
        ir_op op;
    } tags[] = {{"blockIdx.", IR_BLOCK_IDX}, {"threadIdx.", IR_THREAD_IDX}};
    const ir_expr *let = v.kind == SCRIPT_VALUE_EXPR && v.as.expr->op == IR_VAR
                             ? base_map_get(e->let_queries, BASE_KEY(v.as.expr->at.var))
                             : NULL;
    if (let)
        v = script_expr(let);
    if (v.kind == SCRIPT_VALUE_EXPR && (v.as.expr->op == IR_BLOCK_IDX || v.as.expr->op == IR_THREAD_IDX)) {
        *out = (launch_index){v.as.expr->op, (int)v.as.expr->at.integer};
        return true;
    }
    if (v.kind == SCRIPT_VALUE_STRING)
        for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
            size_t size = strlen(tags[i].name);
            if (strncmp(v.as.string.text, tags[i].name, size) == 0 && v.as.string.size == size + 1 &&
                strchr("xyz", v.as.string.text[size])) {
                *out = (launch_index){tags[i].op, v.as.string.text[size] - 'x'};
                return true;
            }
        }
    if (v.kind == SCRIPT_VALUE_STRING && strncmp(v.as.string.text, "vthread", 7) == 0)
        script_not_supported(e, span, "a virtual thread");
    else
        script_error(e, "T0205", span, "an index of the launch is \"blockIdx.x\" to \"threadIdx.z\"");
    return false;
}

/* Blocks and threads per axis, said by whoever binds an index; without an entry before, the kernel begins. */
static bool bind_extent(script_evaluator *e, launch_index index, script_value extent, base_span span) {
    const ir_expr *x = script_to_index(e, extent, span, "the extent of an index of the launch");
    script_scope_ids *ids = &e->ids;
    bool of_block = index.op == IR_THREAD_IDX;
    const ir_expr **slot = of_block ? &ids->block[index.axis] : &ids->grid[index.axis];
    base_span *place = of_block ? &ids->block_span : &ids->grid_span;
    if (!x)
        return false;
    if (!e->has_entry) {
        script_mark_entry(e, span);
        e->is_entry_implied = true;
    }
    if (*slot && *slot != x) {
        base_diagnostic *d = script_error(e, "T0252", span, "another extent of axis %c of the %s before",
                                          'x' + index.axis, of_block ? "block" : "grid");
        base_note(e->diagnostics, d, *place, "the other extent is here");
        return false;
    }
    /* an index that nobody binds has one value */
    for (int i = 0; i < 3; i++) {
        const ir_expr **other = of_block ? &ids->block[i] : &ids->grid[i];
        if (!*other && i < index.axis)
            *other = ir_int(e->module, NUM_DTYPE_I32, 1);
    }
    *slot = x;
    *place = span;
    ids->used = true;
    return true;
}

static script_value index_value(script_evaluator *e, launch_index index) {
    script_value v = script_expr(ir_query(e->module, index.op, index.axis));
    v.flag = true;
    return v;
}

script_value script_word_env_thread(script_evaluator *e, const script_call *call) {
    launch_index index;
    return script_need_kernel(e, call->span, call->word->path) &&
                   parse_tag(e, call->value[0], call->place[0], &index)
               ? index_value(e, index)
               : script_poison();
}

script_value script_word_launch_thread(script_evaluator *e, const script_call *call) {
    launch_index index;
    return script_need_kernel(e, call->span, call->word->path) &&
                   parse_tag(e, call->value[0], call->place[0], &index) &&
                   bind_extent(e, index, call->value[1], call->span)
               ? index_value(e, index)
               : script_poison();
}

script_value script_word_thread_binding(script_evaluator *e, const script_call *call) {
    launch_index index;
    int64_t start;
    const script_value *thread = script_argument_of(call, "thread"), *stop = script_argument_of(call, "stop");
    if (!script_need_kernel(e, call->span, call->word->path))
        return script_poison();
    if (!thread) {
        script_error(e, "T0203", call->span, "thread_binding needs thread=\"threadIdx.x\" or another index");
        return script_poison();
    }
    if (stop && !(script_value_integer(call->value[0], &start) && start == 0)) {
        script_not_supported(e, call->place[0], "thread_binding from another start than 0");
        return script_poison();
    }
    script_left_out(e, call, "annotations");
    if (!parse_tag(e, *thread, script_argument_span(call, "thread"), &index) ||
        !bind_extent(e, index, stop ? *stop : call->value[0], call->span))
        return script_poison();
    script_value v = {.kind = SCRIPT_VALUE_LOOP};
    v.as.loop = BASE_NEW(e->arena, script_loop);
    v.as.loop->bound = ir_query(e->module, index.op, index.axis);
    return v;
}

void script_for_bound(script_evaluator *e, const script_node *node, const script_loop *loop) {
    if (node->a->kind != SCRIPT_NAME) {
        script_error(e, "T0240", node->a->span, "the loop gives 1 value: its target is one name");
        return;
    }
    script_value v = script_expr(loop->bound);
    v.flag = true;
    script_scope_open(e, false);
    script_assign(e, node->a, v, node->b->span);
    script_statements(e, &node->body);
    script_scope_close(e);
}

/* ---- device_entry(values..., attrs={"cuda.launch_fields": [...]}) ---- */

static bool set_field(script_evaluator *e, const char *field, script_value v, base_span span) {
    static const char *const groups[] = {"grid.", "block.", "cluster."};
    ir_launch *launch = &e->function->launch;
    const ir_expr **slots[] = {launch->grid, launch->block, launch->cluster};
    const ir_expr *x = script_to_index(e, v, span, "a launch value");
    if (!x)
        return false;
    for (int i = 0; i < 3; i++) {
        size_t size = strlen(groups[i]);
        if (strncmp(field, groups[i], size) == 0 && strlen(field) == size + 1 && strchr("xyz", field[size])) {
            slots[i][field[size] - 'x'] = x;
            return true;
        }
    }
    if (strcmp(field, "dynamic_smem_bytes") == 0) {
        launch->dynamic_smem_bytes = x;
        return true;
    }
    script_not_supported(e, span, "the launch field '%s' by its place", field);
    return false;
}

static bool entry(const script_value *dict, script_evaluator *e, const char *name, script_value *v) {
    script_value *found = dict ? script_dict_find(*dict, script_string(e->arena, name, strlen(name))) : NULL;
    if (found)
        *v = *found;
    return found != NULL;
}

void script_printed_launch(script_evaluator *e, const script_call *call) {
    const script_value *attrs = script_argument_of(call, "attrs");
    base_span span = script_argument_span(call, "attrs");
    script_value fields = script_poison(), bounds;
    size_t count = call->rest.items.count;
    if (attrs && attrs->kind != SCRIPT_VALUE_DICT) {
        script_error(e, "T0205", span, "attrs is a dict, not %s", script_value_name(e->arena, *attrs));
        return;
    }
    if (entry(attrs, e, "cuda.kernel_attrs", &bounds) &&
        !(bounds.kind == SCRIPT_VALUE_DICT && bounds.as.list->items.count == 0))
        script_not_supported(e, span, "cuda.kernel_attrs in attrs=");
    if (!entry(attrs, e, "cuda.launch_fields", &fields)) {
        if (count > 0) {
            base_diagnostic *d = script_error(e, "T0251", call->rest.items.items[0].span,
                                              "launch values without the names of their fields");
            base_help(e->diagnostics, d, "launch=T.cuda.LaunchConfig(grid=..., block=...)");
        }
        return;
    }
    if ((fields.kind != SCRIPT_VALUE_LIST && fields.kind != SCRIPT_VALUE_TUPLE) ||
        fields.as.list->items.count != count) {
        script_error(e, "T0251", span, "cuda.launch_fields names %zu values, and %zu are given",
                     fields.kind == SCRIPT_VALUE_LIST ? fields.as.list->items.count : (size_t)0, count);
        return;
    }
    ir_launch *launch = &e->function->launch;
    for (size_t i = 0; i < count; i++) {
        const char *name;
        if (!script_constant_string(e, fields.as.list->items.items[i], &name, span, "a launch field") ||
            !set_field(e, name, call->rest.items.items[i].value, call->rest.items.items[i].span))
            return;
    }
    for (int i = 0; i < 3; i++) {
        launch->grid[i] = launch->grid[i] ? launch->grid[i] : ir_int(e->module, NUM_DTYPE_I32, 1);
        launch->block[i] = launch->block[i] ? launch->block[i] : ir_int(e->module, NUM_DTYPE_I32, 1);
        if (launch->cluster[0] && !launch->cluster[i])
            launch->cluster[i] = ir_int(e->module, NUM_DTYPE_I32, 1);
    }
    e->has_launch_config = true;
}

/* ---- the rest ---- */

script_value script_word_jump(script_evaluator *e, const script_call *call) {
    if (script_need_kernel(e, call->span, call->word->path))
        script_jump(e, call->word->data == 0, call->span);
    return script_none();
}

script_value script_word_hint(script_evaluator *e, const script_call *call) {
    (void)e;
    (void)call;
    return (script_value){.kind = SCRIPT_VALUE_FRAME};
}

script_value script_word_tensor_source(script_evaluator *e, const script_call *call) {
    (void)e;
    return call->receiver;
}
