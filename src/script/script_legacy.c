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
    uint32_t bit = 1u << (index.axis + (of_block ? 3 : 0));
    if (*slot && *slot != x && !(ids->implied & bit)) {
        base_diagnostic *d = script_error(e, "T0252", span, "another extent of axis %c of the %s before",
                                          'x' + index.axis, of_block ? "block" : "grid");
        base_note(e->diagnostics, d, *place, "the other extent is here");
        return false;
    }
    /* an index that nobody binds has one value */
    for (int i = 0; i < 3; i++) {
        const ir_expr **other = of_block ? &ids->block[i] : &ids->grid[i];
        if (!*other && i < index.axis) {
            *other = ir_int(e->module, NUM_DTYPE_I32, 1);
            ids->implied |= 1u << (i + (of_block ? 3 : 0));
        }
    }
    ids->implied &= ~bit;
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

/* ---- T.ptx.cp(operands..., "async", "bulk", "", ..., "") ---- */

/* The printer writes the modifiers of an instruction behind its operands, one string for each place of its
 * table, empty where nothing is; the last string says whether the last operand is the predicate of the
 * instruction. */
const char *script_printed_ptx(script_evaluator *e, const char *family, script_arguments *arguments) {
    size_t operands = arguments->items.count;
    while (operands > 0 && !arguments->items.items[operands - 1].name &&
           arguments->items.items[operands - 1].value.kind == SCRIPT_VALUE_STRING)
        operands--;
    if (strchr(family, '.') || operands == arguments->items.count)
        return family;
    base_builder text;
    base_builder_start(&text, e->arena);
    base_builder_string(&text, family);
    for (size_t i = operands; i + 1 < arguments->items.count; i++)
        if (arguments->items.items[i].value.as.string.size > 0)
            base_builder_format(&text, ".%s", arguments->items.items[i].value.as.string.text);
    const char *flags = arguments->items.items[arguments->items.count - 1].value.as.string.text;
    arguments->items.count = operands;
    if (strcmp(flags, "pred") == 0 && operands > 0)
        arguments->items.items[operands - 1].name = "pred";
    return text.data;
}

/* ---- the rest ---- */

script_value script_word_jump(script_evaluator *e, const script_call *call) {
    if (script_need_kernel(e, call->span, call->word->path))
        script_jump(e, call->word->data == 0, call->span);
    return script_none();
}

script_value script_word_buffer_store(script_evaluator *e, const script_call *call) {
    script_value index = call->value[2];
    const ir_expr *const *indices;
    script_value region;
    if (!script_need_kernel(e, call->span, call->word->path))
        return script_poison();
    if (call->value[0].kind != SCRIPT_VALUE_TENSOR) {
        script_error(e, "T0264", call->place[0], "buffer_store stores to a tensor, not to %s",
                     script_value_name(e->arena, call->value[0]));
        return script_poison();
    }
    ir_tensor *tensor = call->value[0].as.tensor;
    if (index.kind == SCRIPT_VALUE_LIST)
        index.kind = SCRIPT_VALUE_TUPLE;
    if (!script_indices(e, tensor, index, call->place[2], &indices, &region) ||
        (region.kind == SCRIPT_VALUE_REGION &&
         !script_region_indices(e, region.as.region, call->place[2], &indices)))
        return script_poison();
    script_store(e, tensor, indices, tensor->type.rank, call->value[1], call->span, call->place[1]);
    return script_none();
}

/* Tokens pair the ends of a profiler's ranges; nothing records them here. */
script_value script_word_profile_token(script_evaluator *e, const script_call *call) {
    return script_need_kernel(e, call->span, call->word->path)
               ? script_expr(ir_int(e->module, NUM_DTYPE_U32, 0))
               : script_poison();
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

/* ---- pointers and offsets ---- */

/* The element type, the pointer and an offset in elements; how far and how it is used says nothing here. */
script_value script_word_access_pointer(script_evaluator *e, const script_call *call) {
    ir_type type;
    script_arguments arguments = {0};
    if (!script_to_dtype(e, call->value[0], &type, call->place[0]))
        return script_poison();
    script_value size = script_int((int64_t)num_dtype_bits((num_dtype)type.dtype) * type.lanes / 8);
    script_value bytes = script_binary(e, SCRIPT_OP_MUL, call->value[2], size, call->place[2]);
    if (script_is_poison(bytes))
        return bytes;
    base_vector_push(e->arena, &arguments.items,
                     (script_argument){.value = call->value[1], .span = call->place[1]});
    base_vector_push(e->arena, &arguments.items, (script_argument){.value = bytes, .span = call->place[2]});
    base_vector_push(e->arena, &arguments.items,
                     (script_argument){.name = "ty", .value = script_type(type), .span = call->place[0]});
    script_value word = {.kind = SCRIPT_VALUE_WORD, .as.word = script_word_find("ptr_byte_offset")};
    return script_call_value(e, word, &arguments, call->node, call->span, call->name_span);
}

script_value script_word_buffer_offset(script_evaluator *e, const script_call *call) {
    script_value v = call->value[0];
    if (v.kind != SCRIPT_VALUE_EXPR || v.as.expr->op != IR_LOAD) {
        script_error(e, "T0205", call->place[0], "buffer_offset takes an element, A[i, j], not %s",
                     script_value_name(e->arena, v));
        return script_poison();
    }
    const ir_tensor *tensor = v.as.expr->at.tensor;
    if (tensor->type.layout || tensor->type.strides) {
        script_not_supported(e, call->span, "buffer_offset of a tensor with a layout");
        return script_poison();
    }
    script_value sum = script_int(0);
    for (uint32_t i = 0; i < tensor->type.rank && !script_is_poison(sum); i++) {
        sum = script_binary(e, SCRIPT_OP_MUL, sum, script_expr(tensor->type.shape[i]), call->span);
        if (!script_is_poison(sum))
            sum = script_binary(e, SCRIPT_OP_ADD, sum, script_expr(v.as.expr->args[i]), call->span);
    }
    return sum;
}

/* The elements of a type from a pointer on. */
static ir_tensor *elements_at(script_evaluator *e, const script_argument *place, const script_argument *name,
                              int64_t count, base_span span) {
    ir_type type;
    const ir_expr *pointer = script_to_pointer(e, place->value, place->span, "the address of ldg");
    if (!pointer || !script_to_dtype(e, name->value, &type, name->span))
        return NULL;
    const ir_expr **shape = BASE_NEW_ARRAY(e->arena, const ir_expr *, 1);
    shape[0] = ir_int(e->module, NUM_DTYPE_I32, count);
    ir_tensor_type view = {.dtype = (num_dtype)type.dtype,
                           .lanes = type.lanes,
                           .scope = (ir_scope)pointer->type.scope,
                           .rank = 1,
                           .shape = shape};
    script_value v = script_make_view(e, &view, pointer, span);
    return v.kind == SCRIPT_VALUE_TENSOR ? v.as.tensor : NULL;
}

/* Destinations are pointers to single elements; all are loaded before the first is written. */
static bool load_several(script_evaluator *e, const script_argument *to, size_t count, ir_tensor *from,
                         base_span span) {
    script_value values[4];
    const ir_expr **index = BASE_NEW_ARRAY(e->arena, const ir_expr *, 4);
    for (size_t i = 0; i < count; i++) {
        index[i] = ir_int(e->module, NUM_DTYPE_I32, (int64_t)i);
        values[i] = script_make_let(e, ir_load(e->module, from, &index[i], 1), span);
    }
    for (size_t i = 0; i < count; i++) {
        const ir_expr *pointer = script_to_pointer(e, to[i].value, to[i].span, "a destination of ldg");
        if (!pointer)
            return false;
        if (pointer->op != IR_ADDRESS) {
            script_error(e, "T0205", to[i].span, "a destination of ldg is the address of one element");
            return false;
        }
        ir_tensor *tensor = (ir_tensor *)(uintptr_t)pointer->at.tensor;
        script_store(e, tensor, pointer->args, pointer->count, values[i], to[i].span, span);
    }
    return true;
}

/* ldg(pointer, dtype); ldg(pointer, dtype, dst=(p, q), vec="v2"), which the reference prints as
 * ldg(p, q, pointer, dtype, "v2", 2). */
script_value script_word_ldg(script_evaluator *e, const script_call *call) {
    const script_argument *given = call->rest.items.items;
    size_t count = call->rest.items.count, several = 0;
    const script_value *dst = script_argument_of(call, "dst");
    script_argument to[4];
    if (dst && (dst->kind == SCRIPT_VALUE_TUPLE || dst->kind == SCRIPT_VALUE_LIST) && count == 2) {
        several = dst->as.list->items.count;
        for (size_t i = 0; i < several && i < 4; i++)
            to[i] = (script_argument){.value = dst->as.list->items.items[i],
                                      .span = script_argument_span(call, "dst")};
    } else if (!dst && count > 4) {
        several = count - 4;
        for (size_t i = 0; i < several && i < 4; i++)
            to[i] = given[i];
        given += several;
    } else if (dst || count != 2) {
        several = 1;
    }
    if (several != 0 && several != 2 && several != 4) {
        base_diagnostic *d =
            script_error(e, "T0203", call->span, "ldg takes a pointer and a type, and 2 or 4 destinations");
        base_help(e->diagnostics, d,
                  "ldg(ptr, \"float32\"), or ldg(ptr, \"float32\", dst=(p, q), vec=\"v2\")");
        return script_poison();
    }
    if (!script_need_kernel(e, call->span, call->word->path))
        return script_poison();
    ir_tensor *from = elements_at(e, &given[0], &given[1], several ? (int64_t)several : 1, call->span);
    if (!from)
        return script_poison();
    if (!several)
        return script_expr(script_load_single(e, from));
    return load_several(e, to, several, from, call->span) ? script_none() : script_poison();
}
