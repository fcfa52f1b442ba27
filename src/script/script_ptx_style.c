/* SPDX-License-Identifier: Apache-2.0
 * The older function style of T.ptx (T.ptx.tcgen05.alloc(slot, n_cols=256)) and words of T.cuda that stand
 * for a few instructions: each becomes instructions by name, as if the script had written those. */
#include "script/script_evaluate.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_VALUES = 160 };
typedef struct request {
    script_evaluator *e;
    const script_call *call;
    script_arguments arguments;
} request;

static request start(script_evaluator *e, const script_call *call) {
    return (request){.e = e, .call = call};
}

static void add(request *r, script_value v, base_span span) {
    base_vector_push(r->e->arena, &r->arguments.items, ((script_argument){.value = v, .span = span}));
}

static void add_argument(request *r, const char *name) {
    const script_value *v = script_argument_of(r->call, name);
    if (v)
        add(r, *v, script_argument_span(r->call, name));
}

static void add_guard(request *r) {
    const script_value *v = script_argument_of(r->call, "pred");
    if (v)
        base_vector_push(r->e->arena, &r->arguments.items,
                         ((script_argument){"pred", *v, script_argument_span(r->call, "pred")}));
}

static script_value finish(request *r, const char *name) {
    return script_ptx_instruction(r->e, name, &r->arguments, r->call->span, r->call->name_span);
}

static bool integer_of(const request *r, const char *name, int64_t otherwise, int64_t *value) {
    const script_value *v = script_argument_of(r->call, name);
    *value = otherwise;
    return !v || script_constant_int(r->e, *v, value, script_argument_span(r->call, name), name);
}

static bool flag_of(const request *r, const char *name, bool *value) {
    const script_value *v = script_argument_of(r->call, name);
    *value = false;
    return !v || script_constant_bool(r->e, *v, value, script_argument_span(r->call, name), name);
}

static bool text_of(const request *r, const char *name, const char *otherwise, const char **text) {
    const script_value *v = script_argument_of(r->call, name);
    *text = otherwise;
    return !v || script_constant_string(r->e, *v, text, script_argument_span(r->call, name), name);
}

static bool group_of(const request *r, int64_t *group) {
    if (!integer_of(r, "cta_group", 1, group))
        return false;
    if (*group == 1 || *group == 2)
        return true;
    script_error(r->e, "T0525", script_argument_span(r->call, "cta_group"), "cta_group is %lld; it is 1 or 2",
                 (long long)*group);
    return false;
}

static const char *name(const request *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static const char *name(const request *r, const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return base_arena_string(r->e->arena, text, strlen(text));
}

/* ---- tensor memory ---- */

script_value script_word_ptx_alloc(script_evaluator *e, const script_call *call) {
    static const char *const names[] = {
        "tcgen05.alloc.cta_group::%lld.sync.aligned.shared::cta.b32",
        "tcgen05.dealloc.cta_group::%lld.sync.aligned.b32",
        "tcgen05.relinquish_alloc_permit.cta_group::%lld.sync.aligned",
        "tcgen05.shift.cta_group::%lld.down",
    };
    request r = start(e, call);
    int64_t group;
    if (!group_of(&r, &group))
        return script_poison();
    add_argument(&r, call->word->data == 0 ? "dst" : "taddr");
    add_argument(&r, "n_cols");
    switch (call->word->data) {
    case 0:
        return finish(&r, name(&r, names[0], (long long)group));
    case 1:
        return finish(&r, name(&r, names[1], (long long)group));
    case 2:
        return finish(&r, name(&r, names[2], (long long)group));
    default:
        return finish(&r, name(&r, names[3], (long long)group));
    }
}

/* Words without arguments: waits and fences. */
script_value script_word_ptx_plain(script_evaluator *e, const script_call *call) {
    static const char *const names[] = {
        "tcgen05.wait::ld.sync.aligned",
        "tcgen05.wait::st.sync.aligned",
        "tcgen05.fence::before_thread_sync",
        "tcgen05.fence::after_thread_sync",
        "fence.mbarrier_init.release.cluster",
        "cp.async.bulk.commit_group",
        "barrier.cluster.arrive.release.aligned",
        "barrier.cluster.wait.acquire.aligned",
        "cp.async.commit_group",
    };
    request r = start(e, call);
    return finish(&r, names[call->word->data]);
}

script_value script_word_ptx_proxy(script_evaluator *e, const script_call *call) {
    request r = start(e, call);
    const char *space;
    if (!text_of(&r, "space", "", &space))
        return script_poison();
    return finish(&r, name(&r, space[0] ? "fence.proxy.async.%s" : "fence.proxy.async%s", space));
}

static script_value address_at(request *r, const char *argument, int64_t row, int64_t column) {
    const script_value *v = script_argument_of(r->call, argument);
    if (row == 0 && column == 0)
        return *v;
    script_value parts[3] = {*v, script_int(row), script_int(column)};
    return script_tmem_offset(r->e, parts, script_argument_span(r->call, argument));
}

/* ld(addr, *registers, shape=, num=, row=, col=, pack=) and st likewise. */
script_value script_word_ptx_tmem_move(script_evaluator *e, const script_call *call) {
    bool is_load = call->word->data == 0, pack;
    request r = start(e, call);
    const char *shape;
    int64_t count, row, column;
    if (!text_of(&r, "shape", "32x32b", &shape) || !integer_of(&r, "num", 1, &count) ||
        !integer_of(&r, "row", 0, &row) || !integer_of(&r, "col", 0, &column) ||
        !flag_of(&r, is_load ? "pack" : "unpack", &pack))
        return script_poison();
    script_value address = address_at(&r, is_load ? "src_addr" : "dst_addr", row, column);
    if (script_is_poison(address))
        return address;
    base_span place = call->place[0];
    if (!is_load)
        add(&r, address, place);
    for (size_t i = 0; i < call->rest.items.count; i++)
        add(&r, call->rest.items.items[i].value, call->rest.items.items[i].span);
    if (is_load)
        add(&r, address, place);
    return finish(&r, is_load ? name(&r, "tcgen05.ld.sync.aligned.%s.x%lld%s.b32", shape, (long long)count,
                                     pack ? ".pack::16b" : "")
                              : name(&r, "tcgen05.st.sync.aligned.%s.x%lld%s.b32", shape, (long long)count,
                                     pack ? ".unpack::16b" : ""));
}

script_value script_word_ptx_commit(script_evaluator *e, const script_call *call) {
    request r = start(e, call);
    int64_t group, mask = 0;
    const script_value *given = script_argument_of(call, "cta_mask");
    bool constant = !given || script_value_integer(*given, &mask);
    if (!group_of(&r, &group))
        return script_poison();
    add_argument(&r, "bar");
    bool multicast = !constant || mask != 0;
    if (multicast)
        add_argument(&r, "cta_mask");
    add_guard(&r);
    return finish(&r, name(&r, "tcgen05.commit.cta_group::%lld.mbarrier::arrive::one.shared::cluster%s.b64",
                           (long long)group, multicast ? ".multicast::cluster" : ""));
}

script_value script_word_ptx_tmem_copy(script_evaluator *e, const script_call *call) {
    request r = start(e, call);
    int64_t group;
    const char *shape, *multicast, *format;
    if (!group_of(&r, &group) || !text_of(&r, "shape", "128x256b", &shape) ||
        !text_of(&r, "multicast", "", &multicast) || !text_of(&r, "decompress", "", &format))
        return script_poison();
    add_argument(&r, "taddr");
    add_argument(&r, "desc");
    return finish(&r, name(&r, "tcgen05.cp.cta_group::%lld.%s%s%s%s%s", (long long)group, shape,
                           multicast[0] ? "." : "", multicast, format[0] ? "." : "", format));
}

static const char *kind_of(num_dtype dtype) {
    switch (dtype) {
    case NUM_DTYPE_F16:
    case NUM_DTYPE_BF16:
        return "f16";
    case NUM_DTYPE_F32:
    case NUM_DTYPE_TF32:
        return "tf32";
    case NUM_DTYPE_I8:
    case NUM_DTYPE_U8:
        return "i8";
    case NUM_DTYPE_F8E4M3FN:
    case NUM_DTYPE_F8E5M2:
    case NUM_DTYPE_F6E2M3FN:
    case NUM_DTYPE_F6E3M2FN:
    case NUM_DTYPE_F4E2M1FN:
        return "f8f6f4";
    default:
        return NULL;
    }
}

script_value script_word_ptx_mma(script_evaluator *e, const script_call *call) {
    request r = start(e, call);
    int64_t group;
    bool use_tmem;
    ir_type type;
    const script_value *dtype = script_argument_of(call, "a_dtype"),
                       *enable = script_argument_of(call, "enable_input_d");
    if (!group_of(&r, &group) || !flag_of(&r, "use_a_tmem", &use_tmem) ||
        !script_to_dtype(e, *dtype, &type, script_argument_span(call, "a_dtype")))
        return script_poison();
    const char *kind = kind_of((num_dtype)type.dtype);
    if (!kind) {
        script_error(e, "T0525", script_argument_span(call, "a_dtype"), "tcgen05.mma does not multiply %s",
                     script_type_name(e, type));
        return script_poison();
    }
    add_argument(&r, "d_tmem_addr");
    add_argument(&r, "a_operand");
    add_argument(&r, "b_desc");
    add_argument(&r, "i_desc");
    add(&r, enable ? *enable : script_bool(true),
        enable ? script_argument_span(call, "enable_input_d") : call->span);
    add_guard(&r);
    script_value *a = &r.arguments.items.items[1].value;
    if (use_tmem && a->kind == SCRIPT_VALUE_EXPR) /* by its name an address, not a descriptor */
        *a = script_expr(script_cast(e, a->as.expr, ir_type_prim(NUM_DTYPE_U32, 1), call->span));
    return finish(&r, name(&r, "tcgen05.mma.cta_group::%lld.kind::%s", (long long)group, kind));
}

/* ---- mbarriers ---- */

script_value script_word_ptx_mbarrier_init(script_evaluator *e, const script_call *call) {
    request r = start(e, call);
    add_argument(&r, "bar");
    add_argument(&r, "count");
    return finish(&r, "mbarrier.init.shared::cta.b64");
}

/* The barrier of another CTA of the cluster has the same place there: mapa gives its address. */
static bool remote_barrier(request *r, script_value *bar) {
    const script_value *cta = script_argument_of(r->call, "cta_id");
    const ir_expr *address = script_ptx_shared_address(r->e, r->call->value[0], r->call->place[0]);
    if (!cta || !address)
        return address != NULL;
    const ir_expr *rank =
        script_to_type(r->e, *cta, ir_type_prim(NUM_DTYPE_U32, 1), script_argument_span(r->call, "cta_id"));
    if (!rank)
        return false;
    const ir_expr *values[2] = {address, rank};
    *bar = script_make_let(r->e,
                           script_ptx_make(r->e, ir_type_prim(NUM_DTYPE_U32, 1),
                                           "mapa.shared::cluster.u32 %0, $0, $1", values, 2),
                           r->call->span);
    return true;
}

/* arrive(bar, cta_id=, pred=, count=) and arrive.expect_tx(bar, bytes, cta_id=, pred=). */
script_value script_word_ptx_arrive(script_evaluator *e, const script_call *call) {
    request r = start(e, call);
    bool expects = call->word->data == 1, is_remote = script_argument_of(call, "cta_id") != NULL;
    script_value bar = call->value[0];
    if (!script_need_kernel(e, call->span, call->word->path) || !remote_barrier(&r, &bar))
        return script_poison();
    add(&r, bar, call->place[0]);
    add_argument(&r, expects ? "byte_count" : "count");
    add_guard(&r);
    return finish(&r, name(&r, "mbarrier.arrive%s.%s.b64", expects ? ".expect_tx" : "",
                           is_remote ? "shared::cluster" : "shared::cta"));
}

/* A loop until the phase of this parity is complete. */
script_value script_word_mbarrier_wait(script_evaluator *e, const script_call *call) {
    const ir_expr *values[3];
    const script_value *phase = script_argument_of(call, "phase");
    if (!script_need_kernel(e, call->span, call->word->path))
        return script_poison();
    values[0] = script_ptx_shared_address(e, call->value[0], call->place[0]);
    values[1] =
        script_to_type(e, *phase, ir_type_prim(NUM_DTYPE_U32, 1), script_argument_span(call, "phase"));
    values[2] = ir_int(e->module, NUM_DTYPE_U32, 10000000); /* most nanoseconds that one try may sleep */
    if (!values[0] || !values[1])
        return script_poison();
    const ir_expr *done = script_ptx_make(
        e, ir_type_prim(NUM_DTYPE_BOOL, 1),
        call->word->data ? "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %0, [$0], $1, $2"
                         : "mbarrier.try_wait.parity.shared::cta.b64 %0, [$0], $1, $2",
        values, 3);
    ir_stmt *loop = ir_stmt_create(e->module, IR_STMT_WHILE, e->statement);
    loop->as.while_loop.condition = ir_unary(e->module, IR_NOT, done);
    loop->as.while_loop.body = ir_stmt_create(e->module, IR_STMT_BLOCK, e->statement);
    script_emit(e, loop);
    return script_none();
}

/* ---- bulk copies ---- */

script_value script_word_ptx_wait_group(script_evaluator *e, const script_call *call) {
    request r = start(e, call);
    const script_value *given = script_argument_of(call, "read");
    bool read = call->word->data == 0;
    if (given && !script_constant_bool(e, *given, &read, script_argument_span(call, "read"), "read"))
        return script_poison();
    add_argument(&r, "n");
    return finish(&r, call->word->data == 2 ? "cp.async.wait_group"
                      : read                ? "cp.async.bulk.wait_group.read"
                                            : "cp.async.bulk.wait_group");
}

/* g2c(dim, dst, bar, tensormap, *coordinates) and s2g(dim, src, tensormap, *coordinates). */
script_value script_word_ptx_tensor_copy(script_evaluator *e, const script_call *call) {
    request r = start(e, call);
    bool loads = call->word->data == 0;
    int64_t dimensions, mask, group;
    if (!integer_of(&r, "dim", 0, &dimensions) || !integer_of(&r, "cta_group", 0, &group))
        return script_poison();
    const script_value *multicast = script_argument_of(call, "cta_mask");
    bool has_mask = multicast && (!script_value_integer(*multicast, &mask) || mask != 0);
    if (loads)
        add_argument(&r, "dst");
    add_argument(&r, "tensormap");
    for (size_t i = 0; i < call->rest.items.count; i++)
        add(&r, call->rest.items.items[i].value, call->rest.items.items[i].span);
    add_argument(&r, loads ? "bar" : "src");
    if (has_mask)
        add_argument(&r, "cta_mask");
    if (!loads)
        return finish(&r, name(&r, "cp.async.bulk.tensor.%lldd.global.shared::cta.tile.bulk_group",
                               (long long)dimensions));
    return finish(
        &r,
        name(&r, "cp.async.bulk.tensor.%lldd.shared::cluster.global.tile.mbarrier::complete_tx::bytes%s%s",
             (long long)dimensions, has_mask ? ".multicast::cluster" : "",
             group == 2 ? ".cta_group::2" : ""));
}

/* ---- others ---- */

script_value script_word_ptx_setmaxnreg(script_evaluator *e, const script_call *call) {
    request r = start(e, call);
    bool more;
    if (!flag_of(&r, "inc", &more))
        return script_poison();
    add_argument(&r, "nreg");
    return finish(&r, more ? "setmaxnreg.inc.sync.aligned.u32" : "setmaxnreg.dec.sync.aligned.u32");
}

/* 1 in one lane of the warp, which the instruction chooses, 0 in the others. */
script_value script_word_elect(script_evaluator *e, const script_call *call) {
    const ir_expr *mask = ir_int(e->module, NUM_DTYPE_U32, 0xffffffff);
    if (!script_need_kernel(e, call->span, call->word->path))
        return script_poison();
    const ir_expr *elected =
        script_ptx_make(e, ir_type_prim(NUM_DTYPE_BOOL, 1), "elect.sync _|%0, $0", &mask, 1);
    return script_expr(ir_cast(e->module, ir_type_prim(NUM_DTYPE_U32, 1), elected));
}

script_value script_word_cluster_sync(script_evaluator *e, const script_call *call) {
    request r = start(e, call);
    if (script_is_poison(finish(&r, "barrier.cluster.arrive.release.aligned")))
        return script_poison();
    return finish(&r, "barrier.cluster.wait.acquire.aligned");
}

script_value script_word_warpgroup_sync(script_evaluator *e, const script_call *call) {
    request r = start(e, call);
    add_argument(&r, "bar_no");
    add(&r, script_int(128), call->span);
    return finish(&r, "bar.sync");
}

script_value script_word_to_shared(script_evaluator *e, const script_call *call) {
    const ir_expr *x = script_ptx_shared_address(e, call->value[0], call->place[0]);
    return x ? script_expr(x) : script_poison();
}

bool script_ptx_is_function_style(script_evaluator *e, const script_dialect_word *word,
                                  const script_arguments *arguments) {
    (void)e;
    if (word->handler == script_word_elect) /* elect_sync(d, p, mask) is the instruction */
        return arguments->items.count == 0;
    return true;
}
