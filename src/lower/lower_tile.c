/* SPDX-License-Identifier: Apache-2.0
 * Tile operations become loops and instructions. In: EVALUATE of TILE anywhere, in tensor form behind
 * lower_views. Out: none. One table says which ways there are for an operation at a scope; the first whose
 * conditions hold is taken, and when none is, the report says of each why not. Must not know how any of them
 * works. */
#include "lower/lower_tile.h"
#include "lower/lower_tile_instruction.h"
#include <string.h>

enum {
    AT_THREAD = 1 << LAYOUT_SCOPE_THREAD,
    AT_WARP = 1 << LAYOUT_SCOPE_WARP,
    AT_WARPGROUP = 1 << LAYOUT_SCOPE_WARPGROUP,
    AT_CTA = 1 << LAYOUT_SCOPE_CTA,
    AT_CLUSTER = 1 << LAYOUT_SCOPE_CLUSTER,
    AT_ANY = AT_THREAD | AT_WARP | AT_WARPGROUP | AT_CTA,
    EVERYWHERE = AT_ANY | AT_CLUSTER
};

typedef struct candidate {
    const char *operation, *name;
    unsigned scopes;
    const char *(*refuse)(lower_tile *op);
    void (*emit)(lower_tile *op);
    bool single; /* at scope thread each thread that comes issues it */
} candidate;

/* clang-format off */
static const candidate candidates[] = {
    {"copy", "ldstmatrix", AT_WARP | AT_WARPGROUP | AT_CTA, lower_tile_refuse_ldmatrix, lower_tile_emit_ldmatrix, false},
    {"copy", "threads", EVERYWHERE, lower_tile_refuse_map, lower_tile_emit_map, false},
    {"copy_async", "tcgen05", AT_WARPGROUP, lower_tile_refuse_tmem, lower_tile_emit_tmem, false},
    {"copy_async", "tcgen05_cp", AT_THREAD, lower_tile_refuse_cp, lower_tile_emit_cp, true},
    {"copy_async", "tma", AT_THREAD, lower_tile_refuse_tma, lower_tile_emit_tma, true},
    {"copy_async", "dsmem", AT_THREAD, lower_tile_refuse_dsmem, lower_tile_emit_dsmem, true},
    {"copy_async", "ldgsts", AT_ANY, lower_tile_refuse_ldgsts, lower_tile_emit_ldgsts, false},
    {"gemm_async", "tcgen05", AT_THREAD | AT_WARP, lower_tile_refuse_mma, lower_tile_emit_mma, true},
    {"gemm", "mma", AT_WARP, lower_tile_refuse_mma_sync, lower_tile_emit_mma_sync, false},
    {"cast", "threads", EVERYWHERE, lower_tile_refuse_map, lower_tile_emit_map, false},
    {"zero", "threads", EVERYWHERE, lower_tile_refuse_map, lower_tile_emit_map, false},
    {"fill", "threads", EVERYWHERE, lower_tile_refuse_map, lower_tile_emit_map, false},
    {"memset", "threads", EVERYWHERE, lower_tile_refuse_map, lower_tile_emit_map, false},
    {"sqrt", "threads", EVERYWHERE, lower_tile_refuse_map, lower_tile_emit_map, false},
    {"exp", "threads", EVERYWHERE, lower_tile_refuse_map, lower_tile_emit_map, false},
    {"exp2", "threads", EVERYWHERE, lower_tile_refuse_map, lower_tile_emit_map, false},
    {"log2", "threads", EVERYWHERE, lower_tile_refuse_map, lower_tile_emit_map, false},
    {"reciprocal", "threads", EVERYWHERE, lower_tile_refuse_map, lower_tile_emit_map, false},
    {"silu", "threads", EVERYWHERE, lower_tile_refuse_map, lower_tile_emit_map, false},
    {"add", "threads", EVERYWHERE, lower_tile_refuse_map, lower_tile_emit_map, false},
    {"sub", "threads", EVERYWHERE, lower_tile_refuse_map, lower_tile_emit_map, false},
    {"mul", "threads", EVERYWHERE, lower_tile_refuse_map, lower_tile_emit_map, false},
    {"fdiv", "threads", EVERYWHERE, lower_tile_refuse_map, lower_tile_emit_map, false},
    {"maximum", "threads", EVERYWHERE, lower_tile_refuse_map, lower_tile_emit_map, false},
    {"minimum", "threads", EVERYWHERE, lower_tile_refuse_map, lower_tile_emit_map, false},
    {"fma", "threads", EVERYWHERE, lower_tile_refuse_map, lower_tile_emit_map, false},
    {"select", "threads", EVERYWHERE, lower_tile_refuse_map, lower_tile_emit_map, false},
    {"permute_layout", "threads", EVERYWHERE, lower_tile_refuse_permute, lower_tile_emit_permute, false},
    {"sum", "alone", AT_ANY, lower_tile_refuse_reduce_alone, lower_tile_emit_reduce_alone, false},
    {"sum", "spread", AT_ANY, lower_tile_refuse_reduce_spread, lower_tile_emit_reduce_spread, false},
    {"sum", "groups", EVERYWHERE, lower_tile_refuse_reduce_groups, lower_tile_emit_reduce_groups, false},
    {"max", "alone", AT_ANY, lower_tile_refuse_reduce_alone, lower_tile_emit_reduce_alone, false},
    {"max", "spread", AT_ANY, lower_tile_refuse_reduce_spread, lower_tile_emit_reduce_spread, false},
    {"max", "groups", EVERYWHERE, lower_tile_refuse_reduce_groups, lower_tile_emit_reduce_groups, false},
    {"reduce_negate", "alone", AT_ANY, lower_tile_refuse_reduce_alone, lower_tile_emit_reduce_alone, false},
    {"reduce_negate", "spread", AT_ANY, lower_tile_refuse_reduce_spread, lower_tile_emit_reduce_spread, false},
    {"reduce_negate", "groups", EVERYWHERE, lower_tile_refuse_reduce_groups, lower_tile_emit_reduce_groups, false},
    {"binary_chain", "threads", EVERYWHERE, lower_tile_refuse_map, lower_tile_emit_map, false},
    {"binary_reduce", "parts", AT_ANY, lower_tile_refuse_compound, lower_tile_emit_compound, false},
    {"unary_reduce", "parts", AT_ANY, lower_tile_refuse_compound, lower_tile_emit_compound, false},
    {"min", "alone", AT_ANY, lower_tile_refuse_reduce_alone, lower_tile_emit_reduce_alone, false},
    {"min", "spread", AT_ANY, lower_tile_refuse_reduce_spread, lower_tile_emit_reduce_spread, false},
    {"min", "groups", EVERYWHERE, lower_tile_refuse_reduce_groups, lower_tile_emit_reduce_groups, false},
};
/* clang-format on */
enum { CANDIDATES = sizeof(candidates) / sizeof(candidates[0]) };

/* ---- reading an operation ---- */

static const struct {
    const char *word;
    layout_scope scope;
} scope_words[] = {{"thread", LAYOUT_SCOPE_THREAD},
                   {"warp", LAYOUT_SCOPE_WARP},
                   {"warpgroup", LAYOUT_SCOPE_WARPGROUP},
                   {"cta", LAYOUT_SCOPE_CTA},
                   {"cluster", LAYOUT_SCOPE_CLUSTER}};
enum { SCOPE_WORDS = sizeof(scope_words) / sizeof(scope_words[0]) };

const char *lower_tile_scope_word(layout_scope scope) {
    for (size_t i = 0; i < SCOPE_WORDS; i++)
        if (scope_words[i].scope == scope)
            return scope_words[i].word;
    return "no scope";
}

void *lower_tile_plan(lower_tile *op, size_t size) {
    lower_context *context = op->context;
    if (size > context->tile_plan_size) {
        context->tile_plan = base_arena_allocate(context->arena, size);
        context->tile_plan_size = size;
    }
    return op->plan = context->tile_plan;
}

/* Where the pairs of text and value begin. */
static uint32_t attributes_begin(const ir_expr *call) {
    uint32_t i = 3;
    while (i < call->count && call->args[i]->op != IR_STRING)
        i++;
    return i;
}

const ir_expr *lower_tile_attribute(const lower_tile *op, const char *name, uint32_t nth) {
    for (uint32_t i = attributes_begin(op->call); i + 1 < op->call->count; i += 2)
        if (!strcmp(op->call->args[i]->at.string, name) && nth-- == 0)
            return op->call->args[i + 1];
    return NULL;
}

int64_t lower_tile_constant(const lower_tile *op, const char *name, int64_t otherwise) {
    const ir_expr *value = lower_tile_attribute(op, name, 0);
    int64_t constant;
    return value && arith_is_constant(op->context->facts, value, &constant) ? constant : otherwise;
}

bool lower_tile_read_region(lower_context *context, const ir_expr *e, lower_tile_region *out) {
    ir_tensor *tensor = (ir_tensor *)(uintptr_t)e->at.tensor;
    const layout_tile *layout = tensor->type.layout;
    if (tensor->type.rank > LOWER_TILE_AXES)
        return false;
    *out = (lower_tile_region){.tensor = tensor, .rank = tensor->type.rank};
    for (uint32_t i = 0; i < out->rank; i++) {
        out->start[i] = e->args[2 * i];
        out->extent[i] = e->args[2 * i + 1];
        if (!arith_is_constant(context->facts, out->extent[i], &out->size[i]))
            out->size[i] = -1;
        else if (out->size[i] < 1)
            return false;
    }
    out->is_spread = tensor->type.scope == IR_SCOPE_LOCAL && layout && layout_has_thread_axis(layout);
    return true;
}

const char *lower_tile_region_text(lower_context *context, const lower_tile_region *region) {
    base_builder out;
    base_builder_start(&out, context->arena);
    base_builder_format(&out, "%s[", region->tensor->name);
    for (uint32_t i = 0; i < region->rank; i++) {
        int64_t start;
        base_builder_string(&out, i ? ", " : "");
        if (region->size[i] == 1) {
            ir_expr_print(region->start[i], &out);
            continue;
        }
        ir_expr_print(region->start[i], &out);
        base_builder_char(&out, ':');
        if (region->size[i] >= 0 && ir_is_int(region->start[i], &start))
            base_builder_format(&out, "%lld", (long long)(start + region->size[i]));
        else
            ir_expr_print(ir_binary(context->module, IR_ADD, region->start[i],
                                    ir_cast(context->module, region->start[i]->type, region->extent[i])),
                          &out);
    }
    base_builder_format(&out, "] (%s, %s)", ir_scope_name(region->tensor->type.scope),
                        num_dtype_name(region->tensor->type.dtype));
    return out.data;
}

/* ---- building ---- */

const ir_expr *lower_tile_int(const lower_tile *op, int64_t value) {
    return ir_int(op->module, value == (int32_t)value ? NUM_DTYPE_I32 : NUM_DTYPE_I64, value);
}

const ir_expr *lower_tile_integer(const lower_tile *op, ir_op operation, const ir_expr *a, const ir_expr *b) {
    return lower_integer_binary(op->module, operation, a, b);
}

ir_stmt *lower_tile_store(lower_tile *op, const ir_tensor *tensor, const ir_expr *const *indices,
                          uint32_t count, const ir_expr *value) {
    ir_stmt *store = ir_stmt_create(op->module, IR_STMT_STORE, op->span);
    const ir_expr **list = BASE_NEW_ARRAY(op->context->arena, const ir_expr *, count + 1);
    memcpy(list, indices, count * sizeof *list);
    store->as.store.tensor = (ir_tensor *)(uintptr_t)tensor;
    store->as.store.indices = list;
    store->as.store.count = count;
    store->as.store.value = value;
    return store;
}

ir_var *lower_tile_counter(lower_tile *op, const char *name, const ir_expr *extent) {
    ir_var *var = ir_var_create(op->module, name, extent->type, IR_VAR_LOOP, op->span);
    arith_range range = arith_bounds(op->context->facts, extent);
    range.low = 0;
    range.high = range.known && range.high > 0 ? range.high - 1 : 0;
    if (range.known)
        arith_bind(op->context->facts, var, range, (arith_modular){1, 0});
    return var;
}

ir_stmt *lower_tile_loop(lower_tile *op, ir_var *var, const ir_expr *extent, bool unrolled, ir_stmt *body) {
    ir_stmt *loop = ir_stmt_create(op->module, IR_STMT_FOR, op->span);
    num_dtype dtype = (num_dtype)var->type.dtype;
    loop->as.loop.var = var;
    loop->as.loop.start = ir_int(op->module, dtype, 0);
    loop->as.loop.extent = extent;
    loop->as.loop.step = ir_int(op->module, dtype, 1);
    loop->as.loop.kind = !unrolled                                      ? IR_LOOP_SERIAL
                         : op->context->options->goal == LOWER_FOR_CUDA ? IR_LOOP_PRAGMA
                                                                        : IR_LOOP_UNROLL;
    loop->as.loop.body = body;
    return loop;
}

ir_stmt *lower_tile_if(lower_tile *op, const ir_expr *condition, ir_stmt *body) {
    ir_stmt *branch = ir_stmt_create(op->module, IR_STMT_IF, op->span);
    branch->as.branch.condition = condition;
    branch->as.branch.then_body = body;
    return branch;
}

/* ---- the choice ---- */

/* Operands of the operations: first regions, then such as may be numbers. */
static const struct {
    const char *name;
    uint32_t regions, others;
} operations[] = {
    {"copy", 2, 0},          {"copy_async", 2, 0},   {"cast", 2, 0},         {"permute_layout", 2, 0},
    {"zero", 1, 0},          {"fill", 1, 1},         {"memset", 1, 1},       {"sqrt", 2, 0},
    {"exp", 2, 0},           {"exp2", 2, 0},         {"log2", 2, 0},         {"reciprocal", 2, 0},
    {"silu", 2, 0},          {"add", 1, 2},          {"sub", 1, 2},          {"mul", 1, 2},
    {"fdiv", 1, 2},          {"maximum", 1, 2},      {"minimum", 1, 2},      {"fma", 1, 3},
    {"select", 1, 2},        {"sum", 2, 0},          {"max", 2, 0},          {"min", 2, 0},
    {"gemm_async", 3, 0},    {"gemm", 3, 0},         {"binary_chain", 2, 2}, {"reduce_negate", 2, 0},
    {"binary_reduce", 2, 2}, {"unary_reduce", 3, 0},
};
enum { OPERATIONS = sizeof(operations) / sizeof(operations[0]) };

static int find_operation(const char *name) {
    for (int i = 0; i < (int)OPERATIONS; i++)
        if (!strcmp(operations[i].name, name))
            return i;
    return -1;
}

static bool is_number(const ir_expr *e) {
    return e->type.kind == IR_TYPE_PRIM && e->type.lanes == 1 && e->op != IR_REGION;
}

static bool is_whole(const ir_expr *e) {
    return is_number(e) && (ir_type_is_integer(e->type) || ir_type_is_bool(e->type));
}

/* What a script cannot write, but the text form can. */
static bool check_attribute(const char *name, const ir_expr *value) {
    if (!strcmp(name, "accum") || !strcmp(name, "cta_mask") || !strcmp(name, "axes") ||
        !strcmp(name, "cta_group") || !strcmp(name, "transpose_A") || !strcmp(name, "transpose_B") ||
        !strcmp(name, "transA") || !strcmp(name, "transB") || !strcmp(name, "reverse1"))
        return is_whole(value);
    if (!strcmp(name, "weight_stationary") || !strcmp(name, "mma_m") || !strcmp(name, "mma_n"))
        return is_whole(value);
    if (!strcmp(name, "SFA") || !strcmp(name, "SFB"))
        return value->op == IR_REGION;
    if (!strcmp(name, "A_type") || !strcmp(name, "B_type") || !strcmp(name, "use_tma_reduce") ||
        !strcmp(name, "oob") || !strcmp(name, "shape") || !strcmp(name, "multicast"))
        return value->op == IR_STRING;
    if (!strcmp(name, "op0") || !strcmp(name, "op1") || !strcmp(name, "unary_op") ||
        !strcmp(name, "binary_op") || !strcmp(name, "reduce_op"))
        return value->op == IR_STRING;
    if (!strcmp(name, "cache_hint"))
        return value->op == IR_STRING || is_whole(value);
    if (!strcmp(name, "pred"))
        return is_number(value) && ir_type_is_bool(value->type);
    if (!strcmp(name, "index"))
        return value->op == IR_VAR && is_whole(value);
    if (!strcmp(name, "bias") || !strcmp(name, "scale"))
        return value->op == IR_REGION || is_number(value);
    if (!strcmp(name, "mbar"))
        return value->type.kind == IR_TYPE_POINTER ? value->op != IR_REGION : is_whole(value);
    return true;
}

/* Words that an operation heeds; and such as change in the reference how code looks, not what it does. */
static const struct {
    const char *operation, *words;
} options[] = {
    {"copy_async", "mbar cta_mask cta_group use_tma_reduce cache_hint remote_cta_id shape multicast oob"},
    {"gemm_async",
     "SFA SFB transA transB accum cta_group weight_stationary A_type B_type mma_m mma_n is_AB_tf32"},
    {"gemm", "transpose_A transpose_B alpha beta"},
    {"select", "pred index"},
    {"sqrt", "bias scale"},
    {"exp", "bias scale"},
    {"exp2", "bias scale"},
    {"log2", "bias scale"},
    {"sum", "axes accum"},
    {"max", "axes accum"},
    {"min", "axes accum"},
    {"binary_chain", "op0 op1 reverse1"},
    {"reduce_negate", "axes accum reduce_op"},
    {"binary_reduce", "axes binary_op reduce_op"},
    {"unary_reduce", "axes unary_op reduce_op bias scale"},
};
static const char hints[] =
    "vec_len cache direct prefetch_size prefetch_tensormap tensormap_l2_promotion mbarrier_addr "
    "smem_desc thread_reduce";

static bool has_word(const char *words, const char *word) {
    size_t size = strlen(word);
    for (const char *at = strstr(words, word); at; at = strstr(at + 1, word))
        if ((at == words || at[-1] == ' ') && (at[size] == 0 || at[size] == ' '))
            return true;
    return false;
}

static bool check_options(const lower_tile *op) {
    const char *words = "";
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        if (!strcmp(options[i].operation, op->name))
            words = options[i].words;
    for (uint32_t i = attributes_begin(op->call); i + 1 < op->call->count; i += 2) {
        const char *word = op->call->args[i]->at.string;
        if (has_word(words, word) || has_word(hints, word))
            continue;
        base_diagnostic *d = base_report(op->context->diagnostics, BASE_ERROR, "T0566", op->span,
                                         "%s has no option '%s'", op->name, word);
        if (words[0])
            base_help(op->context->diagnostics, d, "it has these: %s", words);
        return false;
    }
    return true;
}

static const char *check_operands(const lower_tile *op) {
    int row = find_operation(op->name);
    uint32_t regions = operations[row].regions, all = regions + operations[row].others;
    bool with_c = !strcmp(op->name, "gemm") && op->count == 4;
    if (with_c)
        regions = all = 4;
    if (op->count != all)
        return base_arena_format(op->context->arena, "%s takes %u operands, not %u", op->name, all,
                                 op->count);
    for (uint32_t i = 0; i < op->count; i++)
        if (op->operands[i].is_region ? false : i < regions || !is_number(op->operands[i].value))
            return base_arena_format(op->context->arena, "operand %u of %s must be a region%s", i, op->name,
                                     i < regions ? "" : " or a number");
    for (uint32_t i = attributes_begin(op->call); i + 1 < op->call->count; i += 2)
        if (!check_attribute(op->call->args[i]->at.string, op->call->args[i + 1]))
            return base_arena_format(op->context->arena, "%s= of %s has the wrong type",
                                     op->call->args[i]->at.string, op->name);
    if (!strcmp(op->name, "select") && !lower_tile_attribute(op, "pred", 0))
        return "select needs pred=";
    return NULL;
}

static const char *scope_reason(const lower_tile *op, const candidate *c) {
    base_builder out;
    base_builder_start(&out, op->context->arena);
    base_builder_string(&out, "it works at scope ");
    bool first = true;
    for (size_t i = 0; i < SCOPE_WORDS; i++)
        if (c->scopes & (1u << scope_words[i].scope)) {
            base_builder_format(&out, "%s%s", first ? "" : " or ", scope_words[i].word);
            first = false;
        }
    base_builder_format(&out, ", not %s", lower_tile_scope_word(op->scope));
    return out.data;
}

/* What keeps a way from being taken, NULL for nothing. */
static const char *refuse(const candidate *c, lower_tile *op) {
    if (!(c->scopes & (1u << op->scope)))
        return scope_reason(op, c);
    for (uint32_t i = 0; i < op->count && op->scope == LAYOUT_SCOPE_CLUSTER; i++) {
        const ir_tensor *tensor = op->operands[i].is_region ? op->operands[i].region.tensor : NULL;
        if (tensor && tensor->type.scope != IR_SCOPE_GLOBAL)
            return base_arena_format(
                op->context->arena,
                "the CTAs of a cluster share global memory, and '%s' is in %s, of which each "
                "has its own",
                tensor->name, ir_scope_name(tensor->type.scope));
    }
    return c->refuse(op);
}

static const candidate *find_way(lower_tile *op, const char **reason) {
    *reason = "there is no such operation";
    for (size_t i = 0; i < CANDIDATES; i++) {
        const candidate *c = &candidates[i];
        if (!strcmp(c->operation, op->name) && (!op->dispatch[0] || !strcmp(c->name, op->dispatch)) &&
            !(*reason = refuse(c, op)))
            return c;
    }
    return NULL;
}

const char *lower_tile_refuse_any(lower_tile *op) {
    const char *reason;
    return find_way(op, &reason) ? NULL : reason;
}

void lower_tile_emit_any(lower_tile *op) {
    const char *reason;
    const candidate *c = find_way(op, &reason);
    if (c)
        c->emit(op);
}

static void report_refusals(lower_tile *op) {
    lower_context *context = op->context;
    base_diagnostics *diagnostics = context->diagnostics;
    base_builder operands;
    base_builder_start(&operands, context->arena);
    for (uint32_t i = 0; i < op->count; i++)
        if (op->operands[i].is_region)
            base_builder_format(&operands, "%s%s", operands.size ? ", " : "",
                                lower_tile_region_text(context, &op->operands[i].region));
    base_diagnostic *d =
        base_report(diagnostics, BASE_ERROR, "T0562", op->span, "no way to do %s at scope %s over %s",
                    op->name, lower_tile_scope_word(op->scope), operands.data);
    for (size_t i = 0; i < CANDIDATES; i++) {
        const candidate *c = &candidates[i];
        if (strcmp(c->operation, op->name) || (op->dispatch[0] && strcmp(c->name, op->dispatch)))
            continue;
        const char *reason = refuse(c, op);
        if (reason)
            base_note(diagnostics, d, BASE_NO_SPAN, "\"%s\": %s", c->name, reason);
    }
}

static bool check_dispatch(lower_tile *op) {
    base_builder names;
    base_builder_start(&names, op->context->arena);
    for (size_t i = 0; i < CANDIDATES; i++) {
        if (strcmp(candidates[i].operation, op->name))
            continue;
        if (!op->dispatch[0] || !strcmp(candidates[i].name, op->dispatch))
            return true;
        base_builder_format(&names, "%s\"%s\"", names.size ? ", " : "", candidates[i].name);
    }
    base_diagnostic *d = base_report(op->context->diagnostics, BASE_ERROR, "T0563", op->span,
                                     "%s has no dispatch \"%s\"", op->name, op->dispatch);
    base_help(op->context->diagnostics, d, "it has %s; without dispatch= the first that fits is taken",
              names.data);
    return false;
}

static bool read_operation(lower_context *context, const ir_stmt *s, lower_tile *op) {
    const ir_expr *call = s->as.evaluate.value;
    uint32_t end = attributes_begin(call);
    *op = (lower_tile){.context = context, .module = context->module, .call = call, .span = s->span};
    op->name = call->args[0]->at.string;
    op->dispatch = call->args[2]->at.string;
    if (!strcmp(op->dispatch, "tma_auto")) /* an older name */
        op->dispatch = "tma";
    for (size_t i = 0; i < SCOPE_WORDS; i++)
        if (!strcmp(scope_words[i].word, call->args[1]->at.string))
            op->scope = scope_words[i].scope;
    if (find_operation(op->name) < 0 || op->scope == LAYOUT_SCOPE_NONE) {
        base_report(context->diagnostics, BASE_ERROR, "T0561", s->span,
                    "no tile operation is called '%s' at scope '%s'", op->name, call->args[1]->at.string);
        return false;
    }
    for (uint32_t i = 3; i < end; i++) {
        lower_tile_operand *operand = &op->operands[op->count];
        operand->is_region = call->args[i]->op == IR_REGION;
        operand->value = call->args[i];
        if (op->count++ == LOWER_TILE_OPERANDS - 1 ||
            (operand->is_region && !lower_tile_read_region(context, call->args[i], &operand->region))) {
            base_report(
                context->diagnostics, BASE_ERROR, "T0560", s->span,
                "a tile operation takes at most %d operands of at most %d axes, and none that is empty",
                LOWER_TILE_OPERANDS - 1, LOWER_TILE_AXES);
            return false;
        }
    }
    if (!check_options(op))
        return false;
    const char *problem = check_operands(op);
    if (problem)
        base_report(context->diagnostics, BASE_ERROR, "T0560", s->span, "%s", problem);
    return !problem;
}

bool lower_tile_is_block(const lower_tile *op) {
    const ir_launch *launch = &op->context->function->launch;
    int64_t block = 1, part;
    for (int i = 0; i < 3; i++)
        block *= launch->present && arith_is_constant(op->context->facts, launch->block[i], &part) &&
                         part > 0 && part <= 1024
                     ? part
                     : 0;
    return op->threads > 0 && block == op->threads;
}

/* CTAs of a cluster one after the other by their rank, which is asked once. */
static void set_cluster(lower_tile *op, int64_t block) {
    const ir_launch *launch = &op->context->function->launch;
    int64_t ctas = 1, part;
    for (int i = 0; i < 3 && ctas; i++)
        if (launch->cluster[i])
            ctas = arith_is_constant(op->context->facts, launch->cluster[i], &part) && part > 0 && part <= 16
                       ? ctas * part
                       : 0;
    op->threads = ctas * block;
    if (op->threads == 0 || ctas == 1)
        return;
    ir_stmt *outer = lower_tile_block(op);
    const ir_expr *rank =
        lower_tile_result(op, outer, "mov.b32 %0, %cluster_ctarank", NUM_DTYPE_I32, 1, NULL, 0);
    arith_bind(op->context->facts, rank->at.var, (arith_range){true, 0, ctas - 1}, (arith_modular){1, 0});
    base_vector_push(op->context->arena, op->out, outer->as.block.body.items[0]);
    op->thread = lower_tile_integer(
        op, IR_ADD, lower_tile_integer(op, IR_MUL, rank, lower_tile_int(op, block)), op->thread);
}

/* Threads of the scope and the index among them. */
static void set_threads(lower_tile *op) {
    ir_module *module = op->module;
    const ir_launch *launch = &op->context->function->launch;
    int64_t block = 1, part;
    for (int i = 0; i < 3 && block; i++)
        block = launch->present && arith_is_constant(op->context->facts, launch->block[i], &part) && part > 0
                    ? block * part
                    : 0;
    bool flat = launch->present && arith_is_constant(op->context->facts, launch->block[1], &part) &&
                part == 1 && arith_is_constant(op->context->facts, launch->block[2], &part) && part == 1;
    const ir_expr *linear = ir_query(module, flat ? IR_THREAD_IDX : IR_LINEAR_THREAD, 0);
    switch (op->scope) {
    case LAYOUT_SCOPE_THREAD:
        op->threads = 1;
        op->thread = ir_int(module, NUM_DTYPE_I32, 0);
        break;
    case LAYOUT_SCOPE_WARP:
        op->threads = block && block % 32 == 0 ? 32 : 0;
        op->thread = ir_query(module, IR_LANE_ID, 0);
        break;
    case LAYOUT_SCOPE_WARPGROUP:
        op->threads = block && block % 128 == 0 ? 128 : 0;
        op->thread = block == 128
                         ? linear
                         : ir_binary(module, IR_FLOORMOD, linear, ir_int(module, NUM_DTYPE_I32, 128));
        break;
    case LAYOUT_SCOPE_CLUSTER:
        op->threads = block;
        op->thread = linear;
        set_cluster(op, block);
        break;
    default:
        op->threads = block;
        op->thread = linear;
    }
}

typedef struct state {
    lower_context *context;
    lower_tile_guards *guards;
    bool found;
} state;

static void lower_one(state *st, const ir_stmt *s, lower_statements *out) {
    lower_tile op;
    if (!read_operation(st->context, s, &op) || !check_dispatch(&op))
        return;
    op.out = out;
    set_threads(&op);
    st->found = true;
    if (!lower_tile_guards_check(st->guards, &op))
        return;
    const char *reason;
    const candidate *way = find_way(&op, &reason);
    if (!way)
        report_refusals(&op);
    else if (!way->single || lower_tile_guards_single(st->guards, &op))
        way->emit(&op);
}

/* ---- the walk over the function, with the conditions around every operation ---- */

static bool is_operation(const ir_stmt *s) {
    return s->kind == IR_STMT_EVALUATE && s->as.evaluate.value->op == IR_TILE;
}

static void lower_block(state *st, ir_stmt *block);

static void lower_inside(state *st, ir_stmt *s) {
    switch (s->kind) {
    case IR_STMT_BLOCK:
        lower_block(st, s);
        break;
    case IR_STMT_IF:
        lower_tile_guards_push(st->guards, s->as.branch.condition, s->span, LOWER_TILE_HOLDS);
        lower_block(st, s->as.branch.then_body);
        lower_tile_guards_pop(st->guards);
        lower_tile_guards_push(st->guards, s->as.branch.condition, s->span, LOWER_TILE_FAILS);
        lower_block(st, s->as.branch.else_body);
        lower_tile_guards_pop(st->guards);
        break;
    case IR_STMT_FOR:
        lower_tile_guards_push(st->guards, s->as.loop.start, s->span, LOWER_TILE_BOUND);
        lower_tile_guards_push(st->guards, s->as.loop.extent, s->span, LOWER_TILE_BOUND);
        lower_block(st, s->as.loop.body);
        lower_tile_guards_pop(st->guards);
        lower_tile_guards_pop(st->guards);
        break;
    case IR_STMT_WHILE:
        lower_tile_guards_push(st->guards, s->as.while_loop.condition, s->span, LOWER_TILE_HOLDS);
        lower_block(st, s->as.while_loop.body);
        lower_tile_guards_pop(st->guards);
        break;
    case IR_STMT_LET:
        lower_tile_guards_let(st->guards, s->as.let.var, s->as.let.value);
        break;
    default:
        break;
    }
}

static void lower_block(state *st, ir_stmt *block) {
    lower_statements out = {0};
    if (!block)
        return;
    for (size_t i = 0; i < block->as.block.body.count; i++) {
        ir_stmt *s = block->as.block.body.items[i];
        lower_inside(st, s);
        if (is_operation(s))
            lower_one(st, s, &out);
        else
            base_vector_push(st->context->arena, &out, s);
    }
    block->as.block.body.items = out.items;
    block->as.block.body.count = out.count;
    block->as.block.body.capacity = out.capacity;
}

void lower_tiles(lower_context *context) {
    if (!lower_any_statement(context->function->body, is_operation))
        return;
    context->facts = arith_facts_create(context->arena, context->function);
    state st = {context, lower_tile_guards_create(context), false};
    lower_block(&st, context->function->body);
    if (st.found)
        lower_unroll(context);
}
