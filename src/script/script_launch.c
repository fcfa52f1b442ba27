/* SPDX-License-Identifier: Apache-2.0
 * Where a kernel's launch comes from: device_entry, LaunchConfig and attributes of the newer dialects, scope
 * ids with extents of the older ones; and the index queries of both. */
#include "script/script_evaluate.h"
#include <string.h>

/* ---- extents ---- */

static const ir_expr *one(script_evaluator *e) {
    return ir_int(e->module, NUM_DTYPE_I32, 1);
}

static bool launch_extent(script_evaluator *e, script_value v, base_span span, const ir_expr **out) {
    uint32_t rank;
    const ir_expr *const *shape;
    int64_t constant;
    if (v.kind == SCRIPT_VALUE_TUPLE || v.kind == SCRIPT_VALUE_LIST) {
        script_error(e, "T0251", span, "an extent of a launch is one number");
        return false;
    }
    if (!script_shape(e, v, span, &rank, &shape))
        return false;
    if (ir_is_int(shape[0], &constant) && (constant < 1 || constant > INT32_MAX)) {
        script_error(e, "T0251", span, "an extent of %lld in a launch; 1 to 2147483647 are possible",
                     (long long)constant);
        return false;
    }
    *out = shape[0];
    return true;
}

/* 1 to 3 extents; what is missing is 1. allow_none: None stands for an extent that others will give. */
static bool launch_extents(script_evaluator *e, script_value v, base_span span, bool allow_none,
                           const ir_expr *out[3], size_t *count) {
    const script_value *items = &v;
    *count = 1;
    if (v.kind == SCRIPT_VALUE_TUPLE || v.kind == SCRIPT_VALUE_LIST) {
        items = v.as.list->items.items;
        *count = v.as.list->items.count;
    }
    if (*count == 0 || *count > 3) {
        script_error(e, "T0251", span, "%zu extents; a launch has 1 to 3", *count);
        return false;
    }
    for (size_t i = 0; i < 3; i++) {
        out[i] = i < *count ? NULL : one(e);
        if (i >= *count || (allow_none && items[i].kind == SCRIPT_VALUE_NONE))
            continue;
        if (!launch_extent(e, items[i], span, &out[i]))
            return false;
    }
    return true;
}

static bool constant_product(const ir_expr *const extents[3], int64_t *product) {
    int64_t value;
    *product = 1;
    for (int i = 0; i < 3; i++)
        if (!extents[i] || !ir_is_int(extents[i], &value) || __builtin_mul_overflow(*product, value, product))
            return false;
    return true;
}

static bool check_block(script_evaluator *e, const ir_expr *const block[3], base_span span) {
    int64_t threads;
    if (!constant_product(block, &threads) || threads <= 1024)
        return true;
    script_error(e, "T0251", span, "a block of %lld threads; 1024 is the limit", (long long)threads);
    return false;
}

/* ---- LaunchConfig, KernelAttributes ---- */

static bool launch_flag(script_evaluator *e, const script_call *call, const char *name, bool *out) {
    const script_value *v = script_argument_of(call, name);
    return !v || v->kind == SCRIPT_VALUE_NONE ||
           script_constant_bool(e, *v, out, script_argument_span(call, name), name);
}

static bool launch_number(script_evaluator *e, const script_call *call, const char *name, int64_t lowest,
                          int64_t highest, bool *given, int32_t *out) {
    const script_value *v = script_argument_of(call, name);
    int64_t value;
    if (!v || v->kind == SCRIPT_VALUE_NONE)
        return true;
    if (!script_constant_int(e, *v, &value, script_argument_span(call, name), name))
        return false;
    if (value < lowest || value > highest) {
        script_error(e, "T0251", script_argument_span(call, name), "%s of %lld; %lld to %lld are possible",
                     name, (long long)value, (long long)lowest, (long long)highest);
        return false;
    }
    *given = true;
    *out = (int32_t)value;
    return true;
}

/* A string of an enumeration's names, counted from 1. */
static bool launch_choice(script_evaluator *e, const script_call *call, const char *name,
                          const char *(*choice)(int), int *out) {
    const script_value *v = script_argument_of(call, name);
    const char *text;
    *out = 0;
    if (!v || v->kind == SCRIPT_VALUE_NONE)
        return true;
    if (!script_constant_string(e, *v, &text, script_argument_span(call, name), name))
        return false;
    base_builder list;
    base_builder_start(&list, e->arena);
    for (int i = 1; choice(i); i++) {
        if (strcmp(text, choice(i)) == 0) {
            *out = i;
            return true;
        }
        base_builder_format(&list, "%s\"%s\"", i == 1 ? "" : choice(i + 1) ? ", " : " or ", choice(i));
    }
    script_error(e, "T0251", script_argument_span(call, name), "%s is %s, not \"%s\"", name, list.data, text);
    return false;
}
static const char *policy_name(int value) {
    return ir_cluster_policy_name((ir_cluster_policy)value);
}
static const char *size_name(int value) {
    return ir_cluster_size_name((ir_cluster_size)value);
}

static const char *domain_name(int value) {
    return ir_sync_domain_name((ir_sync_domain)value);
}

/* Extents of constants: what a cluster grows to is fixed when the kernel is built. */
static bool launch_preferred(script_evaluator *e, const script_call *call, script_launch *launch) {
    const script_value *v = script_argument_of(call, "preferred_cluster");
    const ir_expr *extents[3];
    size_t count;
    int64_t value;
    if (!v || v->kind == SCRIPT_VALUE_NONE)
        return true;
    base_span span = script_argument_span(call, "preferred_cluster");
    if (!launch_extents(e, *v, span, false, extents, &count))
        return false;
    for (int i = 0; i < 3; i++) {
        if (!ir_is_int(extents[i], &value) || value < 1 || value > INT32_MAX) {
            script_error(e, "T0251", span, "preferred_cluster is one to three positive constants");
            return false;
        }
        launch->preferred[i] = (int32_t)value;
    }
    if (!launch->cluster[0]) {
        base_diagnostic *d = script_error(e, "T0251", span, "preferred_cluster without cluster");
        base_help(e->diagnostics, d, "cluster= is the size that every cluster has at least");
        return false;
    }
    return true;
}

/* mem_sync_domain_map=(default, remote): two numbers. */
static bool launch_domain_map(script_evaluator *e, const script_call *call, script_launch *launch) {
    const script_value *v = script_argument_of(call, "mem_sync_domain_map");
    if (!v || v->kind == SCRIPT_VALUE_NONE)
        return true;
    base_span span = script_argument_span(call, "mem_sync_domain_map");
    bool good =
        (v->kind == SCRIPT_VALUE_TUPLE || v->kind == SCRIPT_VALUE_LIST) && v->as.list->items.count == 2;
    for (size_t i = 0; i < 2 && good; i++) {
        int64_t value = -1;
        good = script_value_integer(v->as.list->items.items[i], &value) && value >= 0 && value <= 255;
        launch->domain_map[i] = (int32_t)value;
    }
    if (!good)
        script_error(e, "T0251", span,
                     "mem_sync_domain_map is the numbers of the default and of the remote domain, 0 to 255");
    launch->has_domain_map = good;
    return good;
}

static bool launch_options(script_evaluator *e, const script_call *call, script_launch *launch) {
    int policy, size, domain;
    bool good = launch_flag(e, call, "cooperative", &launch->cooperative);
    good &= launch_flag(e, call, "programmatic_stream_serialization", &launch->programmatic);
    good &=
        launch_number(e, call, "priority", INT32_MIN, INT32_MAX, &launch->has_priority, &launch->priority);
    good &= launch_number(e, call, "preferred_shared_memory_carveout", 0, 100, &launch->has_carveout,
                          &launch->carveout);
    good &= launch_choice(e, call, "cluster_scheduling_policy", policy_name, &policy);
    good &= launch_choice(e, call, "portable_cluster_size_mode", size_name, &size);
    good &= launch_choice(e, call, "mem_sync_domain", domain_name, &domain);
    good &= launch_preferred(e, call, launch);
    good &= launch_domain_map(e, call, launch);
    launch->sync_domain = (ir_sync_domain)domain;
    launch->cluster_policy = (ir_cluster_policy)policy;
    launch->cluster_size = (ir_cluster_size)size;
    return good;
}

script_value script_word_launch_config(script_evaluator *e, const script_call *call) {
    static const char *const later[] = {"stream",
                                        "access_policy_window",
                                        "nvlink_util_centric_scheduling",
                                        "shared_memory_mode",
                                        "programmatic_event",
                                        "launch_completion_event"};
    script_launch *launch = BASE_NEW(e->arena, script_launch);
    size_t count;
    bool good = true;
    launch->span = call->span;
    for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++)
        if (script_argument_of(call, later[i])) {
            script_not_supported(e, script_argument_span(call, later[i]), "the launch field '%s'", later[i]);
            good = false;
        }
    good &= launch_extents(e, call->value[0], call->place[0], false, launch->grid, &count);
    good &= launch_extents(e, call->value[1], call->place[1], false, launch->block, &count);
    good = good && check_block(e, launch->block, call->place[1]);
    const script_value *v = script_argument_of(call, "cluster");
    if (v)
        good &= launch_extents(e, *v, script_argument_span(call, "cluster"), false, launch->cluster, &count);
    v = script_argument_of(call, "dynamic_smem_bytes");
    int64_t none;
    if (v && !(script_value_integer(*v, &none) && none == 0)) {
        uint32_t rank;
        const ir_expr *const *bytes;
        good &=
            script_shape(e, *v, script_argument_span(call, "dynamic_smem_bytes"), &rank, &bytes) && rank == 1;
        launch->dynamic_smem_bytes = good ? bytes[0] : NULL;
    }
    good &= launch_options(e, call, launch);
    if (!good)
        return script_poison();
    return (script_value){.kind = SCRIPT_VALUE_LAUNCH, .as.launch = launch};
}

static bool positive(script_evaluator *e, const script_call *call, const char *name, int64_t *out) {
    const script_value *v = script_argument_of(call, name);
    *out = 0;
    if (!v)
        return true;
    if (!script_constant_int(e, *v, out, script_argument_span(call, name), name))
        return false;
    if (*out < 1 || *out > INT32_MAX) {
        script_error(e, "T0251", script_argument_span(call, name), "%s of %lld; it is 1 or more", name,
                     (long long)*out);
        return false;
    }
    return true;
}

static bool check_attributes(script_evaluator *e, const script_attributes *a, base_span span) {
    if (a->max_registers && (a->min_blocks_per_sm || a->max_blocks_per_cluster)) {
        base_diagnostic *d = script_error(e, "T0251", span, "a register cap together with launch bounds");
        base_help(e->diagnostics, d,
                  "the compiler takes one of them: drop max_registers or the block bounds");
        return false;
    }
    if (a->max_blocks_per_cluster && !a->min_blocks_per_sm) {
        script_error(e, "T0251", span, "max_blocks_per_cluster needs min_blocks_per_sm beside it");
        return false;
    }
    return true;
}

script_value script_word_kernel_attributes(script_evaluator *e, const script_call *call) {
    script_attributes *a = BASE_NEW(e->arena, script_attributes);
    bool good = positive(e, call, "min_blocks_per_sm", &a->min_blocks_per_sm);
    good &= positive(e, call, "max_blocks_per_cluster", &a->max_blocks_per_cluster);
    good &= positive(e, call, "max_registers_per_thread", &a->max_registers);
    const script_value *v = script_argument_of(call, "required_block_size");
    if (v && !script_constant_bool(e, *v, &a->required_block_size,
                                   script_argument_span(call, "required_block_size"), "required_block_size"))
        return script_poison();
    if (a->required_block_size) {
        script_not_supported(e, script_argument_span(call, "required_block_size"), "required_block_size");
        return script_poison();
    }
    if (!good || !check_attributes(e, a, call->span))
        return script_poison();
    return (script_value){.kind = SCRIPT_VALUE_ATTRIBUTES, .as.attributes = a};
}

static void set_attributes(script_evaluator *e, const script_attributes *a, base_span span) {
    ir_launch *launch = &e->function->launch;
    if (a->min_blocks_per_sm)
        launch->min_blocks_per_sm = a->min_blocks_per_sm;
    if (a->max_blocks_per_cluster)
        launch->max_blocks_per_cluster = a->max_blocks_per_cluster;
    if (a->max_registers)
        launch->max_registers = a->max_registers;
    script_attributes all = {launch->min_blocks_per_sm, launch->max_blocks_per_cluster, launch->max_registers,
                             false};
    check_attributes(e, &all, span);
}

/* ---- device_entry ---- */

static void apply_launch(script_evaluator *e, const script_launch *from) {
    ir_launch *launch = &e->function->launch;
    memcpy(launch->grid, from->grid, sizeof(launch->grid));
    memcpy(launch->block, from->block, sizeof(launch->block));
    memcpy(launch->cluster, from->cluster, sizeof(launch->cluster));
    launch->dynamic_smem_bytes = from->dynamic_smem_bytes;
    launch->cooperative = from->cooperative;
    launch->programmatic = from->programmatic;
    launch->has_priority = from->has_priority;
    launch->priority = from->priority;
    launch->has_carveout = from->has_carveout;
    launch->carveout = from->carveout;
    launch->cluster_policy = from->cluster_policy;
    launch->cluster_size = from->cluster_size;
    memcpy(launch->preferred, from->preferred, sizeof(launch->preferred));
    launch->sync_domain = from->sync_domain;
    launch->has_domain_map = from->has_domain_map;
    memcpy(launch->domain_map, from->domain_map, sizeof(launch->domain_map));
    e->has_launch_config = true;
}

bool script_mark_entry(script_evaluator *e, base_span span) {
    if (e->has_entry && e->is_entry_implied) {
        e->is_entry_implied = false;
        return true;
    }
    if (e->has_entry) {
        base_diagnostic *d = script_error(e, "T0250", span, "a second device entry in one function");
        base_note(e->diagnostics, d, e->entry_span, "the first is here");
        base_help(
            e->diagnostics, d,
            "a flat entry is the function's one kernel; several are each in a `with T.device_entry(...):`");
        return false;
    }
    e->has_entry = true;
    e->entry_span = span;
    e->function->launch.present = true;
    e->function->launch.span = span;
    return true;
}

bool script_is_entry_item(script_evaluator *e, const script_node *item) {
    const script_node *callee = item->a->kind == SCRIPT_CALL ? item->a->a : NULL;
    if (!callee || !e->function || e->is_python || e->block != e->function->body ||
        (callee->kind != SCRIPT_NAME && callee->kind != SCRIPT_ATTRIBUTE) || !callee->text ||
        strcmp(callee->text, "device_entry") != 0)
        return false;
    script_value v = script_expression(e, callee);
    return v.kind == SCRIPT_VALUE_WORD && v.as.word->handler == script_word_device_entry;
}

script_value script_word_device_entry(script_evaluator *e, const script_call *call) {
    if (!script_need_kernel(e, call->span, "device_entry") || !script_mark_entry(e, call->span))
        return script_poison();
    const script_value *v = script_argument_of(call, "launch");
    if (v && v->kind != SCRIPT_VALUE_LAUNCH)
        script_error(e, "T0205", script_argument_span(call, "launch"),
                     "launch must be a cuda.LaunchConfig, not %s", script_value_name(e->arena, *v));
    else if (v)
        apply_launch(e, v->as.launch);
    static const char *const names[] = {"options", "kernel_attrs"};
    for (int i = 0; i < 2; i++) {
        v = script_argument_of(call, names[i]);
        if (v && v->kind == SCRIPT_VALUE_ATTRIBUTES)
            set_attributes(e, v->as.attributes, script_argument_span(call, names[i]));
        else if (v)
            script_error(e, "T0205", script_argument_span(call, names[i]),
                         "%s must be cuda.KernelAttributes, not %s", names[i],
                         script_value_name(e->arena, *v));
    }
    static const char *const unknown[] = {"backend_config", "body_params"};
    for (int i = 0; i < 2; i++)
        if (script_argument_of(call, unknown[i]))
            script_not_supported(e, script_argument_span(call, unknown[i]), "device_entry(%s=)", unknown[i]);
    script_printed_launch(e, call);
    return (script_value){.kind = SCRIPT_VALUE_FRAME};
}

/* ---- attributes set in the body ---- */

/* Tags of the older dialects: names of launch parameters. Those of extents say what the kernel's scope ids
 * say already. The first tag is spelled without its second `a` where it comes from. */
static void set_launch_tags(script_evaluator *e, script_value value, base_span span) {
    static const char *const programmatic[] = {"tirx.use_programtic_dependent_launch",
                                               "tirx.use_programmatic_dependent_launch"};
    static const char *const extents[] = {"blockIdx.",   "threadIdx.", "clusterCtaIdx.",
                                          "clusterIdx.", "cta_id",     "tirx.use_dyn_shared_memory"};
    ir_launch *launch = &e->function->launch;
    if (value.kind != SCRIPT_VALUE_LIST && value.kind != SCRIPT_VALUE_TUPLE) {
        if (!script_is_poison(value))
            script_error(e, "T0251", span, "tirx.kernel_launch_params is a list of strings");
        return;
    }
    for (size_t i = 0; i < value.as.list->items.count; i++) {
        const char *tag;
        bool known = false;
        if (!script_constant_string(e, value.as.list->items.items[i], &tag, span, "a launch parameter"))
            return;
        if (strcmp(tag, programmatic[0]) == 0 || strcmp(tag, programmatic[1]) == 0)
            known = launch->programmatic = true;
        if (strcmp(tag, "tirx.use_cooperative_launch") == 0)
            known = launch->cooperative = true;
        for (size_t k = 0; k < sizeof(extents) / sizeof(extents[0]); k++)
            known |= strncmp(tag, extents[k], strlen(extents[k])) == 0;
        if (!known)
            script_not_supported(e, span, "the launch parameter '%s'", tag);
    }
}

static void set_attribute(script_evaluator *e, const char *key, script_value value, base_span span) {
    static const char *const known[] = {"tirx.launch_bounds_min_blocks_per_sm",
                                        "tirx.launch_bounds_max_blocks_per_cluster",
                                        "tirx.max_registers",
                                        "global_symbol",
                                        "tirx.noalias",
                                        "tir.noalias",
                                        "tirx.is_entry_func",
                                        "tirx.persistent_kernel"};
    script_attributes a = {0, 0, 0, false};
    int64_t *numbers[] = {&a.min_blocks_per_sm, &a.max_blocks_per_cluster, &a.max_registers};
    for (int i = 0; i < 3; i++) {
        if (strcmp(key, known[i]) != 0)
            continue;
        if (!script_constant_int(e, value, numbers[i], span, key))
            return;
        if (*numbers[i] < 1 || *numbers[i] > INT32_MAX)
            script_error(e, "T0251", span, "%s of %lld; it is 1 or more", key, (long long)*numbers[i]);
        else
            set_attributes(e, &a, span);
        return;
    }
    if (strcmp(key, "global_symbol") == 0) {
        const char *name;
        if (script_constant_string(e, value, &name, span, "global_symbol"))
            e->function->name = base_name_of(e->names, name);
        return;
    }
    for (size_t i = 4; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(key, known[i]) == 0)
            return;
    if (strcmp(key, "tirx.device_entry") == 0) { /* how the reference prints device_entry() */
        bool truth;
        if (script_constant_bool(e, value, &truth, span, key) && truth)
            script_mark_entry(e, span);
        return;
    }
    if (strcmp(key, "tirx.kernel_launch_params") == 0) {
        set_launch_tags(e, value, span);
        return;
    }
    base_diagnostic *d = base_report(e->diagnostics, BASE_WARNING, "T0254", span,
                                     "the attribute '%s' is unknown and left out", key);
    const char *near = script_nearest(key, known, sizeof(known) / sizeof(known[0]));
    if (near)
        base_help(e->diagnostics, d, "did you mean '%s'?", near);
}

/* Attributes of the function are set once: the second value would silently replace the first. */
static bool is_new_key(script_evaluator *e, const char *key, base_span span) {
    for (size_t i = 0; i < e->function_keys.count; i++) {
        const script_set_key *old = &e->function_keys.items[i];
        if (old->function != e->function || strcmp(old->key, key) != 0)
            continue;
        base_diagnostic *d =
            script_error(e, "T0289", span, "the function's attribute '%s' is set twice", key);
        base_note(e->diagnostics, d, old->span, "it was set here");
        return false;
    }
    base_vector_push(e->arena, &e->function_keys, (script_set_key){e->function, key, span});
    return true;
}

script_value script_word_attr(script_evaluator *e, const script_call *call) {
    script_value first = call->value[0];
    if (!script_need_kernel(e, call->span, call->word->path))
        return script_poison();
    if (first.kind == SCRIPT_VALUE_DICT) {
        script_list *list = first.as.list;
        for (size_t i = 0; i + 1 < list->items.count; i += 2) {
            const char *key;
            if (script_constant_string(e, list->items.items[i], &key, call->place[0],
                                       "the key of an attribute") &&
                (call->word->data == 0 || is_new_key(e, key, call->place[0])))
                set_attribute(e, key, list->items.items[i + 1], call->place[0]);
        }
    } else {
        const script_value *key = script_argument_of(call, "key"), *value = script_argument_of(call, "value");
        const char *text;
        if (!key || !value)
            script_error(e, "T0203", call->span, "attr takes a dict, or a node, a key and a value");
        else if (script_constant_string(e, *key, &text, call->span, "the key of an attribute"))
            set_attribute(e, text, *value, call->span);
    }
    return (script_value){.kind = SCRIPT_VALUE_FRAME};
}

/* ---- queries ---- */

static script_value query_value(const ir_expr *x) {
    script_value v = script_expr(x);
    v.flag = true;
    return v;
}

static bool axis_of(script_evaluator *e, script_value v, base_span span, int *axis) {
    if (v.kind == SCRIPT_VALUE_STRING && v.as.string.size == 1 && v.as.string.text[0] >= 'x' &&
        v.as.string.text[0] <= 'z') {
        *axis = v.as.string.text[0] - 'x';
        return true;
    }
    if (!script_is_poison(v))
        script_error(e, "T0255", span, "an axis is \"x\", \"y\" or \"z\"");
    return false;
}

/* With an extent of 1 the index is 0, and a known extent is its number: both vanish from index arithmetic. */
script_value script_word_query(script_evaluator *e, const script_call *call) {
    ir_op op = (ir_op)call->word->data;
    int axis;
    int64_t extent;
    if (!script_need_kernel(e, call->span, call->word->path) ||
        !axis_of(e, call->value[0], call->place[0], &axis))
        return script_poison();
    if (e->has_launch_config) {
        const ir_launch *launch = &e->function->launch;
        bool of_block = op == IR_THREAD_IDX || op == IR_BLOCK_DIM;
        const ir_expr *known = of_block ? launch->block[axis] : launch->grid[axis];
        if (ir_is_int(known, &extent)) {
            if (op == IR_BLOCK_DIM || op == IR_GRID_DIM)
                return query_value(ir_int(e->module, NUM_DTYPE_I32, extent));
            if (extent == 1)
                return query_value(ir_int(e->module, NUM_DTYPE_I32, 0));
        }
    }
    return query_value(ir_query(e->module, op, axis));
}

static const ir_expr *divide(script_evaluator *e, ir_op op, const ir_expr *x, int64_t by) {
    return ir_binary(e->module, op, x, ir_int(e->module, NUM_DTYPE_I32, by));
}

static const ir_expr *thread_query(script_evaluator *e, int which) {
    switch (which) {
    case 0:
        return ir_query(e->module, IR_LANE_ID, 0);
    case 1:
        return ir_query(e->module, IR_WARP_ID, 0);
    case 2:
        return ir_query(e->module, IR_LINEAR_THREAD, 0);
    case 3:
        return divide(e, IR_FLOORDIV, ir_query(e->module, IR_WARP_ID, 0), 4);
    case 4:
        return divide(e, IR_FLOORMOD, ir_query(e->module, IR_WARP_ID, 0), 4);
    default:
        return divide(e, IR_FLOORMOD, ir_query(e->module, IR_LINEAR_THREAD, 0), 128);
    }
}

script_value script_word_thread_query(script_evaluator *e, const script_call *call) {
    int which = call->word->data;
    int64_t threads;
    if (!script_need_kernel(e, call->span, call->word->path))
        return script_poison();
    if (e->has_launch_config && (which == 1 || which == 3 || which == 4)) {
        if (!constant_product(e->function->launch.block, &threads) || threads % 32 != 0) {
            base_diagnostic *d = script_error(
                e, "T0252", call->span, "%s needs a constant block of whole warps (a multiple of 32 threads)",
                call->word->path);
            base_note(e->diagnostics, d, e->entry_span, "the launch is given here");
            return script_poison();
        }
    }
    return query_value(thread_query(e, which));
}

/* ---- scope ids of the older dialects ---- */

static bool set_extents(script_evaluator *e, const ir_expr *slots[3], const ir_expr *const given[3],
                        base_span *place, base_span span, const char *what) {
    for (int i = 0; i < 3; i++) {
        if (!given[i])
            continue;
        if (slots[i] && slots[i] != given[i]) {
            base_builder text;
            base_builder_start(&text, e->arena);
            ir_expr_print(given[i], &text);
            base_builder_string(&text, " here and ");
            ir_expr_print(slots[i], &text);
            base_diagnostic *d = script_error(e, "T0252", span, "the extent of %s on axis %c is %s before",
                                              what, 'x' + i, text.data);
            base_note(e->diagnostics, d, *place, "the other extent is here");
            return false;
        }
        slots[i] = given[i];
    }
    *place = span;
    return true;
}

static bool one_extent(script_evaluator *e, const script_call *call, const ir_expr *const given[3],
                       size_t count, const ir_expr **slot, int64_t only) {
    int64_t extent;
    if (count != 1) {
        script_error(e, "T0252", call->span, "%s has one axis, not %zu", call->word->path, count);
        return false;
    }
    if (!given[0])
        return true;
    if (only && (!ir_is_int(given[0], &extent) || extent != only)) {
        script_error(e, "T0252", call->place[0], "the extent of %s is always %lld", call->word->path,
                     (long long)only);
        return false;
    }
    if (slot && *slot && *slot != given[0]) {
        script_error(e, "T0252", call->place[0], "the extent of %s was another one before", call->word->path);
        return false;
    }
    if (slot)
        *slot = given[0];
    return true;
}

static bool record_extents(script_evaluator *e, const script_call *call, const ir_expr *const given[3],
                           size_t count) {
    script_scope_ids *ids = &e->ids;
    switch (call->word->data) {
    case 0:
        return set_extents(e, ids->grid, given, &ids->grid_span, call->span, "cta_id");
    case 1:
        return set_extents(e, ids->block, given, &ids->block_span, call->span, "thread_id");
    case 2:
        ids->warps_span = call->span;
        return one_extent(e, call, given, count, &ids->warps, 0);
    case 3:
        return one_extent(e, call, given, count, &ids->lanes, 32);
    case 4:
        return one_extent(e, call, given, count, &ids->warpgroups, 0);
    case 5:
        return one_extent(e, call, given, count, NULL, 4);
    default:
        return one_extent(e, call, given, count, NULL, 128);
    }
}

script_value script_word_scope_id(script_evaluator *e, const script_call *call) {
    static const int which[] = {0, 0, 1, 0, 3, 4, 5};
    const ir_expr *given[3] = {NULL, NULL, NULL};
    size_t count = 1;
    const script_value *extents = script_argument_of(call, "extents"),
                       *dtype = script_argument_of(call, "dtype");
    ir_type type = ir_type_prim(NUM_DTYPE_I32, 1);
    if (!script_need_kernel(e, call->span, call->word->path))
        return script_poison();
    if (!e->has_entry || e->has_launch_config) {
        base_diagnostic *d =
            script_error(e, "T0252", call->span,
                         e->has_entry ? "%s beside a LaunchConfig: the launch is given already"
                                      : "%s needs a device entry before it",
                         call->word->path);
        base_help(e->diagnostics, d,
                  e->has_entry ? "use the queries: cuda.block_idx(\"x\"), cuda.thread_idx(\"x\")"
                               : "write T.device_entry() first");
        return script_poison();
    }
    if (dtype && !script_to_dtype(e, *dtype, &type, script_argument_span(call, "dtype")))
        return script_poison();
    if (!ir_type_is_integer(type) || type.lanes != 1) {
        script_error(e, "T0244", script_argument_span(call, "dtype"), "an index is int32 or uint32, not %s",
                     script_type_name(e, type));
        return script_poison();
    }
    if (extents && !launch_extents(e, *extents, script_argument_span(call, "extents"), true, given, &count))
        return script_poison();
    if (extents && !record_extents(e, call, given, count))
        return script_poison();
    e->ids.used = true;
    if (call->word->data > 1) {
        const ir_expr *x = thread_query(e, which[call->word->data]);
        return query_value(ir_cast(e->module, type, x));
    }
    ir_op op = call->word->data == 0 ? IR_BLOCK_IDX : IR_THREAD_IDX;
    script_value list = script_list_make(e->arena, SCRIPT_VALUE_TUPLE);
    for (size_t i = 0; i < count; i++)
        script_list_add(e->arena, list,
                        query_value(ir_cast(e->module, type, ir_query(e->module, op, (int)i))));
    return count == 1 ? list.as.list->items.items[0] : list;
}

/* ---- the launch at the end of the function ---- */

/* Threads that warps, warpgroups and lanes imply, or NULL. */
static const ir_expr *implied_threads(script_evaluator *e) {
    script_scope_ids *ids = &e->ids;
    if (ids->warps)
        return ir_binary(e->module, IR_MUL, ids->warps,
                         ir_int(e->module, (num_dtype)ids->warps->type.dtype, 32));
    if (ids->warpgroups)
        return ir_binary(e->module, IR_MUL, ids->warpgroups,
                         ir_int(e->module, (num_dtype)ids->warpgroups->type.dtype, 128));
    return ids->lanes;
}

void script_launch_finish(script_evaluator *e, base_span span) {
    ir_launch *launch = &e->function->launch;
    script_scope_ids *ids = &e->ids;
    int64_t threads, implied;
    if (!launch->present || e->has_launch_config)
        return;
    const ir_expr *whole = implied_threads(e);
    bool deferred = !ids->block[0];
    for (int i = 0; i < 3 && ids->cluster[0]; i++) {
        launch->cluster[i] = ids->cluster[i] ? ids->cluster[i] : one(e);
        if (!ids->grid[i] && ids->clusters[i])
            ids->grid[i] = ir_binary(e->module, IR_MUL, ids->clusters[i],
                                     script_cast(e, launch->cluster[i], ids->clusters[i]->type, span));
    }
    for (int i = 0; i < 3; i++) {
        launch->grid[i] = ids->grid[i] ? ids->grid[i] : one(e);
        launch->block[i] = ids->block[i] ? ids->block[i] : one(e);
    }
    if (deferred && whole)
        launch->block[0] = whole;
    check_block(e, launch->block, ids->block_span.file ? ids->block_span : span);
    if (deferred || !whole || ids->warps == NULL)
        return;
    if (constant_product(launch->block, &threads) && ir_is_int(whole, &implied) && threads != implied) {
        base_diagnostic *d =
            script_error(e, "T0252", ids->warps_span, "%lld warps are %lld threads, thread_id has %lld",
                         (long long)(implied / 32), (long long)implied, (long long)threads);
        base_note(e->diagnostics, d, ids->block_span, "the threads are given here");
    }
}
