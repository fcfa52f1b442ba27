/* SPDX-License-Identifier: Apache-2.0
 * What the threads of a block do together: shared memory between barriers, warp collectives, vector accesses,
 * atomics. Every thread of the block comes here; every element is written by one thread between two barriers.
 */
#include "generate.h"

static void sync(generator *g) {
    static const char *const words[] = {"T.cuda.cta_sync()", "T.cuda.cta_sync()",
                                        "T.tvm_storage_sync(\"shared\")"};
    line(g, "%s", words[below(g, 3)]);
}

static type shared_type(generator *g) {
    return any_type(g);
}

/* `name[lane, j] = e` for every j: this thread's row. */
static void fill_row(generator *g, const array *a) {
    int mark = g->variable_count;
    if (a->rank == 1) {
        line(g, "%s[%s] = %s", a->name, g->lane_number, expression(g, a->type, 2).text);
        return;
    }
    const char *j = fresh_name(g);
    line(g, "for %s in %s(%d):", j, chance(g, 50) ? "T.unroll" : "range", a->shape[1]);
    add_variable(g, j, I32, (range){0, a->shape[1] - 1}, false);
    g->indent++;
    line(g, "%s[%s, %s] = %s", a->name, g->lane_number, j, expression(g, a->type, 2).text);
    g->indent--;
    g->variable_count = mark;
}

static const char *shared_layout(generator *g, const array *a) {
    if (a->rank != 2 || chance(g, 50))
        return "";
    if (chance(g, 50))
        return format(g, ", layout=T.TileLayout(T.S[(%d, %d) : (%d, 1)])", a->shape[0], a->shape[1],
                      a->shape[1] + 1 + below(g, 3));
    return format(g, ", layout=T.TileLayout(T.S[(%d, %d) : (1, %d)] + %d)", a->shape[0], a->shape[1],
                  a->shape[0] + below(g, 2), below(g, 4));
}

/* Writes its own part, waits, reads what others wrote; twice or in a loop now and then. */
static void exchange(generator *g, const array *a) {
    int mark = g->variable_count;
    if (chance(g, 25)) {
        type t = is_float(a->type) || a->type == BOOL ? U32 : a->type;
        const char *total = fresh_name(g), *round = fresh_name(g);
        line(g, "%s: T.%s = %s", total, type_name(t), int_expression(g, t, 1).text);
        line(g, "for %s in %s(%d):", round, chance(g, 30) ? "T.unroll" : "T.serial", 1 + below(g, 4));
        add_variable(g, round, I32, (range){0, 3}, false);
        g->indent++;
        fill_row(g, a);
        sync(g);
        line(g, "%s ^= %s", total, convert(g, load(g, a), t).text);
        sync(g);
        g->indent--;
        g->variable_count = mark;
        add_variable(g, total, t, full_range(t), true);
        return;
    }
    fill_row(g, a);
    sync(g);
    int reads = 1 + below(g, 3);
    for (int i = 0; i < reads; i++) {
        value v = load(g, a);
        if (chance(g, 50))
            declare_let(g, v);
        else
            declare_scalar(g, v, full_range(v.type));
    }
    sync(g);
}

void shared_segment(generator *g) {
    array a = {.name = fresh_name(g), .type = shared_type(g), .rank = 1 + below(g, 2), .own_axis = -1};
    a.shape[0] = g->block;
    a.shape[1] = 1 + below(g, 4);
    const char *shape =
        a.rank == 1 ? format(g, "(%d,)", a.shape[0]) : format(g, "(%d, %d)", a.shape[0], a.shape[1]);
    if (chance(g, 25))
        line(g, "%s = T.alloc_buffer(%s, \"%s\", scope=\"shared\"%s)", a.name, shape, type_name(a.type),
             shared_layout(g, &a));
    else if (chance(g, 30))
        line(g, "%s = T.alloc_tensor(ty_args=[T.Tensor(%s, \"%s\", scope=\"shared\"%s)])", a.name, shape,
             type_name(a.type), shared_layout(g, &a));
    else
        line(g, "%s = T.alloc_shared(%s, \"%s\"%s)", a.name, shape, type_name(a.type), shared_layout(g, &a));
    exchange(g, &a);
}

/* One dynamic arena, views of it at several origins, of its own element type and of others. */
void arena_segment(generator *g) {
    type t = chance(g, 60) ? F32 : any_type(g);
    if (g->no_floats && is_float(t))
        t = U32;
    if (t == BOOL)
        t = U8;
    int views = 1 + below(g, 3), offset = 0;
    array list[3];
    const char *arena = fresh_name(g);
    int size = (views + 1) * g->block * 8 + 64;
    line(g, "%s = T.alloc_tensor(ty_args=[T.Tensor((%d,), \"%s\", scope=\"shared.dyn\")])", arena, size,
         type_name(t));
    for (int i = 0; i < views; i++) {
        array *a = &list[i];
        *a = (array){.name = fresh_name(g), .type = t, .rank = 1, .own_axis = -1, .shape = {g->block}};
        if (chance(g, 40)) {
            type other = any_type(g);
            int bytes = offset * (type_bits(t) / 8);
            a->type = other;
            bytes = (bytes + 7) / 8 * 8;
            line(g,
                 "%s = T.decl_tensor(T.ptr_byte_offset(%s.data, %d, \"%s\"), ty_args=[T.Tensor((%d,), "
                 "\"%s\", scope=\"shared.dyn\")])",
                 a->name, arena, bytes, type_name(other), g->block, type_name(other));
            bytes += g->block * (type_bits(other) / 8);
            offset = (bytes + type_bits(t) / 8 - 1) / (type_bits(t) / 8);
        } else if (offset == 0) {
            line(g, "%s = T.decl_tensor(%s.data, ty_args=[T.Tensor((%d,), \"%s\", scope=\"shared.dyn\")])",
                 a->name, arena, g->block, type_name(t));
            offset = g->block;
        } else {
            line(g,
                 "%s = T.decl_tensor(%s.data, ty_args=[T.Tensor((%d,), \"%s\", scope=\"shared.dyn\", "
                 "layout=T.TileLayout(T.S[(%d,)] + %d))])",
                 a->name, arena, g->block, type_name(t), g->block, offset);
            offset += g->block;
        }
        offset += below(g, 3);
    }
    for (int i = 0; i < views; i++)
        fill_row(g, &list[i]);
    sync(g);
    for (int i = 0; i < views; i++)
        declare_let(g, load(g, &list[i]));
    sync(g);
}

/* ---- warps ---- */
static void shuffle(generator *g) {
    type t = any_type(g);
    while (t == BOOL || type_bits(t) < 16)
        t = any_type(g);
    value v = expression(g, t, 2);
    static const char *const words[] = {"", "_up", "_down", "_xor"};
    int which = below(g, 4), width = 32 >> (chance(g, 30) ? below(g, 5) : 0);
    const char *lane =
        chance(g, 60) ? format(g, "%d", below(g, 32)) : narrow(g, int_expression(g, I32, 1), 0, 31).text;
    const char *mask = "T.uint32(0xFFFFFFFF)";
    if (chance(g, 25))
        v.text =
            format(g, "T.tvm_warp_shuffle%s(%s, %s, %s, %d, 32)", words[which], mask, v.text, lane, width);
    else
        v.text = format(g, "T.cuda.__shfl%s_sync(%s, %s, %s, %d)", words[which], mask, v.text, lane, width);
    v.is_load = false;
    declare_let(g, v);
}

static void reduce(generator *g) {
    static const char *const words[] = {"sum", "max", "min"};
    int which = below(g, 3), width = 32 >> (chance(g, 30) ? below(g, 5) : 0);
    type t = any_type(g);
    while (t == BOOL || type_bits(t) < 16)
        t = any_type(g);
    value v = expression(g, t, 2);
    if (is_integer(t) && which == 0) {
        v = narrow(g, v, is_signed(t) ? -500 : 0, 500);
        v.range = (range){v.range.low * 32, v.range.high * 32};
    }
    v.text = chance(g, 50) ? format(g, "T.cuda.warp_%s(%s, %d)", words[which], v.text, width)
                           : format(g, "T.cuda.warp_reduce(%s, \"%s\", %d)", v.text, words[which], width);
    v.is_load = false;
    declare_let(g, v);
}

/* Half of a warp talks while the other half does not come. */
static void partial_warp(generator *g) {
    type t = chance(g, 50) ? U32 : F32;
    if (g->no_floats)
        t = U32;
    const char *name = fresh_name(g);
    line(g, "%s: T.%s = %s", name, type_name(t), expression(g, t, 1).text);
    add_variable(g, name, t, full_range(U32), true);
    bool low = chance(g, 50);
    line(g, low ? "if T.cuda.lane_id() < 16:" : "if T.cuda.lane_id() >= 16:");
    g->indent++;
    line(g, "%s = T.cuda.__shfl_xor_sync(T.uint32(%s), %s, %d, 32)", name, low ? "0xFFFF" : "0xFFFF0000",
         expression(g, t, 1).text, below(g, 16));
    g->indent--;
    if (chance(g, 50)) {
        line(g, "else:");
        g->indent++;
        line(g, "%s = %s", name, expression(g, t, 1).text);
        g->indent--;
    }
}

/* A warp's own part of shared memory needs no barrier of the block. */
static void warp_exchange(generator *g) {
    type t = any_type(g);
    const char *name = fresh_name(g);
    line(g, "%s = T.alloc_shared((%d,), \"%s\")", name, g->block, type_name(t));
    line(g, "%s[%s] = %s", name, g->lane_number, expression(g, t, 1).text);
    line(g, "T.cuda.warp_sync()");
    line(g, "%s_w: T.let = %s[%s // 32 * 32 + (%s + %d) %% 32]", name, name, g->lane_number, g->lane_number,
         below(g, 32));
    add_variable(g, format(g, "%s_w", name), t, is_float(t) ? (range){0, 0} : full_range(t), false);
}

void warp_segment(generator *g) {
    const char *mask = "T.uint32(0xFFFFFFFF)";
    if (chance(g, 25)) {
        if (chance(g, 50))
            partial_warp(g);
        else
            warp_exchange(g);
        return;
    }
    switch (below(g, 7)) {
    case 0:
    case 1:
        shuffle(g);
        break;
    case 2:
        reduce(g);
        break;
    case 3: {
        static const char *const words[] = {"any", "all"};
        declare_let(g, (value){format(g, "T.cuda.%s_sync(%s, %s)", words[below(g, 2)], mask,
                                      bool_expression(g, 2).text),
                               BOOL,
                               {0, 1},
                               false});
        break;
    }
    case 4:
        declare_let(g, (value){format(g, "T.cuda.ballot_sync(%s, %s)", mask, bool_expression(g, 2).text), U32,
                               full_range(U32), false});
        break;
    case 5: {
        static const char *const words[] = {"add", "min", "max"};
        declare_let(g, (value){format(g, "T.cuda.reduce_%s_sync_u32(%s, %s)", words[below(g, 3)], mask,
                                      int_expression(g, U32, 2).text),
                               U32, full_range(U32), false});
        break;
    }
    default: {
        static const char *const words[] = {"and", "or"};
        declare_let(
            g, (value){format(g, "T.cuda.syncthreads_%s(%s)", words[below(g, 2)], bool_expression(g, 2).text),
                       I32,
                       {0, 1},
                       false});
        break;
    }
    }
}

/* ---- vectors: rows of this thread, copied and computed several elements at a time ---- */
void vector_segment(generator *g) {
    const array *to = NULL, *from = NULL;
    int outs = 0, ins = 0;
    for (int i = 0; i < g->array_count; i++) {
        const array *a = &g->arrays[i];
        int last = a->shape[a->rank - 1];
        if (!a->is_dense || a->type == BOOL || last % 4 != 0)
            continue;
        if (a->is_writable && a->own_axis == 0 && a->rank == 2 && g->own_count <= a->shape[0] &&
            below(g, ++outs) == 0)
            to = a;
    }
    if (!to)
        return;
    for (int i = 0; i < g->array_count; i++) {
        const array *a = &g->arrays[i];
        if (a->is_input && a->is_dense && a->type == to->type && a->shape[a->rank - 1] % 4 == 0 &&
            below(g, ++ins) == 0)
            from = a;
    }
    int lanes = chance(g, 60) ? 4 : 2, last = to->shape[to->rank - 1];
    const char *place = format(g, "%s[%s, T.Ramp((%s) * %d, 1, %d)]", to->name, g->own,
                               index_text(g, last / lanes), lanes, lanes);
    if (!from) {
        line(g, "%s = T.Broadcast(%s, %d)", place, expression(g, to->type, 1).text, lanes);
        return;
    }
    const char *index = NULL;
    for (int i = 0; i + 1 < from->rank; i++) {
        const char *one = index_text(g, from->shape[i]);
        index = index ? format(g, "%s, %s", index, one) : one;
    }
    int extent = from->shape[from->rank - 1], stride = 1 + below(g, 3);
    const char *ramp = format(g, "T.Ramp((%s) * %d, 1, %d)", index_text(g, extent / lanes), lanes, lanes);
    if (chance(g, 30) && stride > 1 && (lanes - 1) * stride < extent) /* side by side needs alignment */
        ramp = format(g, "T.Ramp(%s, %d, %d)", index_text(g, extent - (lanes - 1) * stride), stride, lanes);
    const char *vector =
        index ? format(g, "%s[%s, %s]", from->name, index, ramp) : format(g, "%s[%s]", from->name, ramp);
    if (chance(g, 25)) { /* the older words */
        const char *begin = index ? format(g, "%s, (%s) * %d", index, index_text(g, extent / lanes), lanes)
                                  : format(g, "(%s) * %d", index_text(g, extent / lanes), lanes);
        line(g, "%s.vstore([%s, (%s) * %d], %s.vload([%s], dtype=\"%sx%d\"))", to->name, g->own,
             index_text(g, last / lanes), lanes, from->name, begin, type_name(to->type), lanes);
        return;
    }
    if (chance(g, 25)) {
        const char *k = fresh_name(g), *start = index_text(g, last / lanes),
                   *begin = index_text(g, extent / lanes);
        line(g, "for %s in T.vectorized(%d):", k, lanes);
        line(g, "    %s[%s, (%s) * %d + %s] = %s[%s%s(%s) * %d + %s]", to->name, g->own, start, lanes, k,
             from->name, index ? index : "", index ? ", " : "", begin, lanes, k);
        return;
    }
    bool wraps = !is_signed(to->type) || type_bits(to->type) < 32 || g->wraps;
    if (chance(g, 50) && wraps) {
        static const char *const operators[] = {"+", "-", "*"};
        const char *other = chance(g, 50) ? expression(g, to->type, 1).text : vector;
        vector = format(g, "%s %s %s", vector, operators[below(g, 3)], other);
    }
    line(g, "%s = %s", place, vector);
}

/* ---- atomics: one operation per tensor, results unused, so that the order does not matter ---- */
static void add_to(generator *g, const char *name, int bins, type t, int which) {
    static const char *const words[] = {"add", "min", "max", "and", "or", "xor"};
    value v =
        is_float(t) ? convert(g, narrow(g, int_expression(g, I32, 1), 0, 15), t) : int_expression(g, t, 2);
    const char *call =
        format(g, "T.cuda.atomic_%s(%s.ptr_to([%s]), %s)", words[which], name, index_text(g, bins), v.text);
    if (chance(g, 40)) {
        line(g, "if %s:", bool_expression(g, 1).text);
        g->indent++;
        line(g, "T.evaluate(%s)", call);
        g->indent--;
    } else {
        line(g, chance(g, 60) ? "T.evaluate(%s)" : "%s", call);
    }
}

static int atomic_operation(generator *g, type t) {
    return is_float(t) ? 0 : below(g, 6);
}

/* The tensor named Z... holds zeros at first: sums of small whole numbers are exact in any order. */
void atomic_segment(generator *g) {
    for (int i = 0; i < g->array_count; i++) {
        array *a = &g->arrays[i];
        if (a->name[0] != 'Z')
            continue;
        if (!a->atomic)
            a->atomic = 1 + atomic_operation(g, a->type);
        int which = a->atomic - 1, count = 1 + below(g, 3);
        for (int k = 0; k < count; k++)
            add_to(g, a->name, a->shape[0], a->type, which);
        return;
    }
}

/* Every thread its own element: the old values come back in a fixed order. */
static void own_atomics(generator *g) {
    static const type choices[] = {I32, U32, U64, I64};
    type t = choices[below(g, 4)];
    const char *name = fresh_name(g);
    line(g, "%s = T.alloc_shared((%d,), \"%s\")", name, g->block, type_name(t));
    line(g, "%s[%s] = %s", name, g->lane_number, expression(g, t, 1).text);
    static const char *const words[] = {"add", "min", "max", "and", "or", "xor", "exch"};
    int count = 1 + below(g, 2);
    for (int i = 0; i < count; i++) {
        const char *call = format(g, "T.cuda.atomic_%s(%s.ptr_to([%s]), %s)", words[below(g, 7)], name,
                                  g->lane_number, int_expression(g, t, 1).text);
        if (chance(g, 30))
            call = format(g, "T.cuda.atomic_cas(%s.ptr_to([%s]), %s, %s)", name, g->lane_number,
                          chance(g, 50) ? format(g, "%s[%s]", name, g->lane_number) : literal(g, t).text,
                          int_expression(g, t, 1).text);
        declare_let(g, (value){call, t, full_range(t), false});
    }
    sync(g);
    array a = {.name = name, .type = t, .rank = 1, .shape = {g->block}, .own_axis = -1};
    declare_let(g, load(g, &a));
    sync(g);
}

void shared_atomic_segment(generator *g) {
    if (chance(g, 50)) {
        own_atomics(g);
        return;
    }
    static const type choices[] = {I32, U32, U64, I64};
    type t = choices[below(g, 4)];
    const char *name = fresh_name(g);
    int bins = 1 + below(g, g->block);
    line(g, "%s = T.alloc_shared((%d,), \"%s\")", name, bins, type_name(t));
    line(g, "if %s < %d:", g->lane_number, bins);
    g->indent++;
    line(g, "%s[%s] = %s", name, g->lane_number, literal(g, t).text);
    g->indent--;
    sync(g);
    add_to(g, name, bins, t, atomic_operation(g, t));
    sync(g);
    array a = {.name = name, .type = t, .rank = 1, .shape = {bins}, .own_axis = -1};
    declare_let(g, load(g, &a));
    sync(g);
}
