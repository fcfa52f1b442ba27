/* SPDX-License-Identifier: Apache-2.0
 * Whole kernels: parameters with their layouts, launch in every dialect, segments in order. The line above a
 * kernel tells the test what it needs to run it: how results compare, elements behind each tensor, values of
 * scalars. */
#include "generate.h"

/* A tensor parameter: its text in the signature and the elements behind it. */
typedef struct parameter {
    array tensor;
    const char *layout;  /* "" or ", layout=..." */
    const char *strides; /* the same in the older words, or NULL */
    long elements;
} parameter;

static const char *shape_text(generator *g, const array *a) {
    const char *text = format(g, "%d", a->shape[0]);
    for (int i = 1; i < a->rank; i++)
        text = format(g, "%s, %d", text, a->shape[i]);
    return format(g, a->rank == 1 ? "(%s,)" : "(%s)", text);
}

static long count_of(const array *a) {
    long count = 1;
    for (int i = 0; i < a->rank; i++)
        count *= a->shape[i];
    return count;
}

/* Row-major, any other order of axes, gaps between rows, an origin. */
static void choose_layout(generator *g, parameter *p) {
    array *a = &p->tensor;
    p->layout = "";
    p->strides = NULL;
    p->elements = count_of(a);
    a->is_dense = true;
    if (chance(g, 55))
        return;
    int order[4] = {0, 1, 2, 3}, gap = chance(g, 40) ? 1 + below(g, 3) : 0,
        origin = chance(g, 30) ? below(g, 70) : 0;
    for (int i = a->rank - 1; i > 0 && chance(g, 60); i--) {
        int j = below(g, i + 1), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
    long strides[4], next = 1, last = 0;
    for (int i = a->rank - 1; i >= 0; i--) {
        strides[order[i]] = next;
        next = next * a->shape[order[i]] + gap;
    }
    const char *text = NULL, *shape = shape_text(g, a);
    for (int i = 0; i < a->rank; i++) {
        text = text ? format(g, "%s, %ld", text, strides[i]) : format(g, "%ld", strides[i]);
        last += strides[i] * (a->shape[i] - 1);
    }
    text = format(g, a->rank == 1 ? "(%s,)" : "(%s)", text);
    p->elements = last + origin + 1;
    a->is_dense = false;
    p->layout = origin ? format(g, ", layout=T.TileLayout(T.S[%s : %s] + %d)", shape, text, origin)
                       : format(g, ", layout=T.TileLayout(T.S[%s : %s])", shape, text);
    p->strides =
        origin ? format(g, ", strides=%s, elem_offset=%d", text, origin) : format(g, ", strides=%s", text);
}

static parameter make_input(generator *g, const char *name) {
    parameter p = {.tensor = {.name = name,
                              .type = any_type(g),
                              .rank = 1 + below(g, 3),
                              .own_axis = -1,
                              .is_input = true,
                              .is_readable = true}};
    if (g->no_floats)
        while (is_float(p.tensor.type))
            p.tensor.type = any_type(g);
    for (int i = 0; i < p.tensor.rank; i++)
        p.tensor.shape[i] = p.tensor.rank == 1       ? 4 * (1 + below(g, 40))
                            : i + 1 == p.tensor.rank ? 4 * (1 + below(g, 4))
                                                     : 1 + below(g, 9);
    choose_layout(g, &p);
    return p;
}

static parameter make_output(generator *g, const char *name) {
    parameter p = {.tensor = {.name = name,
                              .type = any_type(g),
                              .rank = 1 + below(g, 2),
                              .is_writable = true,
                              .is_readable = true}};
    array *a = &p.tensor;
    a->own_axis = a->rank == 2 && chance(g, 30) ? 1 : 0;
    for (int i = 0; i < a->rank; i++)
        a->shape[i] = i == a->own_axis ? g->own_count
                      : chance(g, 70)  ? 4 * (1 + below(g, 2))
                                       : 1 + below(g, 6);
    choose_layout(g, &p);
    return p;
}

static parameter make_bins(generator *g, const char *name) {
    static const type choices[] = {I32, U32, I64, U64, F32, F64};
    parameter p = {.tensor = {.name = name,
                              .type = choices[below(g, g->no_floats ? 4 : 6)],
                              .rank = 1,
                              .own_axis = -1,
                              .shape = {1 + below(g, 40)}},
                   .layout = ""};
    p.elements = p.tensor.shape[0];
    return p;
}

/* ---- launch ---- */
typedef struct geometry {
    int grid[3], block[3];
} geometry;

static geometry make_geometry(generator *g) {
    static const int blocks[][3] = {{32, 1, 1}, {64, 1, 1}, {96, 1, 1}, {128, 1, 1}, {32, 2, 1},
                                    {8, 4, 2},  {16, 4, 1}, {33, 1, 1}, {1, 1, 1},   {5, 3, 1}};
    geometry s;
    int which = chance(g, 75) ? below(g, 7) : 7 + below(g, 3);
    for (int i = 0; i < 3; i++) {
        s.block[i] = blocks[which][i];
        s.grid[i] = i == 0 ? 1 + below(g, 3) : 1;
    }
    if (chance(g, 25))
        s.grid[1] = 2;
    g->block = s.block[0] * s.block[1] * s.block[2];
    g->grid = s.grid[0] * s.grid[1];
    g->threads = g->block * g->grid;
    return s;
}

static const char *triple(generator *g, const int *d) {
    return d[2] > 1   ? format(g, "%d, %d, %d", d[0], d[1], d[2])
           : d[1] > 1 ? format(g, "%d, %d", d[0], d[1])
                      : format(g, "%d", d[0]);
}

/* Index variables by name, in the words of one dialect. */
static void enter(generator *g, const geometry *s, bool newer) {
    static const char *const axes[] = {"x", "y", "z"}, *const blocks[] = {"bx", "by", "bz"},
                             *const threads[] = {"tx", "ty", "tz"};
    int grid_rank = s->grid[1] > 1 ? 2 : 1, block_rank = s->block[2] > 1 ? 3 : s->block[1] > 1 ? 2 : 1;
    if (newer) {
        line(g, "T.device_entry(launch=T.cuda.LaunchConfig(grid=(%s,), block=(%s,)))", triple(g, s->grid),
             triple(g, s->block));
        for (int i = 0; i < grid_rank; i++)
            line(g, "%s = T.cuda.block_idx(\"%s\")", blocks[i], axes[i]);
        for (int i = 0; i < block_rank; i++)
            line(g, "%s = T.cuda.thread_idx(\"%s\")", threads[i], axes[i]);
    } else {
        line(g, "T.device_entry()");
        line(g, grid_rank == 2 ? "bx, by = T.cta_id([%s])" : "bx = T.cta_id([%s])", triple(g, s->grid));
        line(g,
             block_rank == 3   ? "tx, ty, tz = T.thread_id([%s])"
             : block_rank == 2 ? "tx, ty = T.thread_id([%s])"
                               : "tx = T.thread_id([%s])",
             triple(g, s->block));
    }
    for (int i = 0; i < grid_rank; i++)
        add_variable(g, blocks[i], I32, (range){0, s->grid[i] - 1}, false);
    for (int i = 0; i < block_rank; i++)
        add_variable(g, threads[i], I32, (range){0, s->block[i] - 1}, false);
    const char *linear = block_rank == 3   ? format(g, "tx + %d * (ty + %d * tz)", s->block[0], s->block[1])
                         : block_rank == 2 ? format(g, "tx + %d * ty", s->block[0])
                                           : "tx";
    if (chance(g, 30))
        linear = "T.cuda.linear_thread_id()";
    g->lane_number = block_rank == 1 ? "tx" : "lin";
    if (block_rank > 1) {
        line(g, "lin: T.let = %s", linear);
        add_variable(g, "lin", I32, (range){0, g->block - 1}, false);
    }
    const char *block_number = grid_rank == 2 ? format(g, "(by * %d + bx)", s->grid[0]) : "bx";
    line(g, "own: T.let = %s * %d + %s", block_number, g->block, g->lane_number);
    g->own = "own";
    add_variable(g, "own", I32, (range){0, g->threads - 1}, false);
}

static void queries(generator *g, const geometry *s) {
    static const char *const axes[] = {"x", "y", "z"};
    int axis = below(g, 3);
    switch (below(g, 5)) {
    case 0:
        declare_let(g, (value){"T.cuda.lane_id()", I32, {0, 31}, false});
        break;
    case 1:
        if (g->block % 32 != 0) /* a warp number needs whole warps */
            break;
        declare_let(g, (value){"T.cuda.warp_id()", I32, {0, (g->block + 31) / 32 - 1}, false});
        break;
    case 2:
        declare_let(g, (value){format(g, "T.cuda.block_dim(\"%s\")", axes[axis]),
                               I32,
                               {s->block[axis], s->block[axis]},
                               false});
        break;
    case 3:
        declare_let(g, (value){format(g, "T.cuda.grid_dim(\"%s\")", axes[axis]),
                               I32,
                               {s->grid[axis], s->grid[axis]},
                               false});
        break;
    default:
        break;
    }
}

/* ---- views of the inputs ---- */
static void view(generator *g, array a) {
    const char *name = fresh_name(g);
    array v = a;
    v.name = name;
    long count = count_of(&a);
    int way = below(g, 4);
    if (way == 0 && a.rank == 2) {
        line(g, "%s = %s.permute(1, 0)", name, a.name);
        v.shape[0] = a.shape[1];
        v.shape[1] = a.shape[0];
        v.is_dense = false;
    } else if (way == 1 && a.is_dense && count % 2 == 0) {
        v.rank = 2;
        v.shape[0] = (int)count / 2;
        v.shape[1] = 2;
        line(g, chance(g, 50) ? "%s = %s.view(%d, 2)" : "%s = %s.view(%d, -1)", name, a.name, v.shape[0]);
    } else if (way == 2 && a.is_dense && type_bits(a.type) > 8) {
        v.type = U8;
        v.shape[v.rank - 1] *= type_bits(a.type) / 8;
        line(g, "%s = %s.view(\"uint8\")", name, a.name);
    } else if (a.is_dense && a.type != BOOL) {
        static const type same[TYPE_COUNT] = {
            [I8] = U8,   [U8] = I8,   [I16] = F16, [U16] = BF16, [F16] = U16, [BF16] = I16,
            [I32] = F32, [U32] = I32, [F32] = U32, [I64] = U64,  [U64] = F64, [F64] = I64};
        v.type = same[a.type];
        if (g->no_floats && is_float(v.type))
            return;
        v.rank = 1;
        v.shape[0] = (int)count;
        line(g,
             chance(g, 50) ? "%s = T.decl_tensor(%s.data, ty_args=[T.Tensor((%d,), \"%s\")])"
                           : "%s = T.decl_buffer(data=%s.data, shape=(%d,), dtype=\"%s\")",
             name, a.name, v.shape[0], type_name(v.type));
    } else {
        return;
    }
    if (g->array_count < (int)(sizeof g->arrays / sizeof g->arrays[0]))
        g->arrays[g->array_count++] = v;
}

/* ---- signature ---- */
enum { MOST_PARAMETERS = 8 };
typedef struct signature {
    parameter list[MOST_PARAMETERS];
    int count;
    const char *scalar; /* name of a scalar parameter, or NULL */
    type scalar_type;
    int scalar_value;
} signature;

static void write_head(generator *g, const signature *s, const char *name, const char *kind, bool handles,
                       bool newer) {
    const char *text = format(g, "# kernel: %s %s", name, kind);
    const char *parameters = "";
    for (int i = 0; i < s->count; i++) {
        const parameter *p = &s->list[i];
        const char *shape = shape_text(g, &p->tensor), *t = type_name(p->tensor.type);
        text = format(g, "%s %s=%ld%s", text, p->tensor.name, p->elements, p->layout[0] ? "L" : "");
        if (handles)
            parameters = format(g, "%s%sh%d: T.handle", parameters, i ? ", " : "", i);
        else if (newer)
            parameters = format(g, "%s%s%s: T.Tensor(%s, \"%s\"%s)", parameters, i ? ", " : "",
                                p->tensor.name, shape, t, p->layout);
        else
            parameters = format(g, "%s%s%s: T.Buffer(%s, \"%s\"%s)", parameters, i ? ", " : "",
                                p->tensor.name, shape, t, p->strides ? p->strides : "");
    }
    if (s->scalar) {
        text = format(g, "%s %s:%d", text, s->scalar, s->scalar_value);
        parameters = format(g, "%s, %s: T.%s", parameters, s->scalar, type_name(s->scalar_type));
    }
    line(g, "%s", text);
    line(g, newer ? "@T.function" : "@T.prim_func");
    line(g, "def %s(%s):", name, parameters);
    g->indent = 1;
    for (int i = 0; handles && i < s->count; i++) {
        const parameter *p = &s->list[i];
        line(g, "%s = T.match_buffer(h%d, %s, \"%s\"%s)", p->tensor.name, i, shape_text(g, &p->tensor),
             type_name(p->tensor.type), p->strides ? p->strides : "");
    }
}

static void start(generator *g, const char **kind, bool wraps) {
    g->indent = g->variable_count = g->array_count = g->next_name = g->nest = g->depth = g->loops = 0;
    g->wraps = wraps;
    g->no_floats = wraps || chance(g, 40);
    g->budget = 12 + below(g, 30);
    *kind = wraps ? "wraps" : "exact";
}

static void segments(generator *g, bool warps) {
    int count = 1 + below(g, 3);
    bool arena = false;
    for (int i = 0; i < count; i++) {
        switch (below(g, 7)) {
        case 0:
        case 1:
            shared_segment(g);
            break;
        case 2:
            if (!arena)
                arena_segment(g);
            arena = true;
            break;
        case 3:
        case 4:
            if (warps)
                warp_segment(g);
            break;
        case 5:
            atomic_segment(g);
            break;
        default:
            if (chance(g, 40))
                shared_atomic_segment(g);
            break;
        }
        statements(g, 1 + below(g, 3));
    }
}

void exact_kernel(generator *g, const char *name, bool wraps) {
    static const char *const inputs[] = {"A", "B", "C", "A_ptr"}, *const outputs[] = {"X", "Y"};
    const char *kind;
    signature s = {.count = 0};
    start(g, &kind, wraps);
    geometry launch = make_geometry(g);
    int total = g->threads;
    g->own_count = chance(g, 30) ? 1 + below(g, total) : total;
    int in = 1 + below(g, 4), out = 1 + below(g, 2);
    for (int i = 0; i < in; i++)
        s.list[s.count++] = make_input(g, inputs[i]);
    for (int i = 0; i < out; i++)
        s.list[s.count++] = make_output(g, outputs[i]);
    if (chance(g, 30))
        s.list[s.count++] = make_bins(g, "Z");
    bool newer = chance(g, 65), handles = !newer && chance(g, 40);
    if (!handles && chance(g, 30)) {
        static const type types[] = {I32, I32, I64, U32, U8, I16};
        s.scalar = "n";
        s.scalar_type = types[below(g, 6)];
        s.scalar_value = 1 + below(g, 100);
    }
    write_head(g, &s, name, kind, handles, newer);
    enter(g, &launch, newer);
    int guarded = g->own_count;
    for (int i = 0; i < s.count; i++)
        g->arrays[g->array_count++] = s.list[i].tensor;
    if (s.scalar)
        add_variable(g, "n", s.scalar_type, (range){1, 100}, false);
    g->own_count = total; /* outside the guard the outputs may be too short */
    queries(g, &launch);
    for (int i = 0; i < in; i++)
        if (chance(g, 30))
            view(g, s.list[i].tensor);
    statements(g, 1 + below(g, 3));
    segments(g, g->block % 32 == 0);
    if (guarded < total) {
        line(g, "if own < %d:", guarded);
        g->indent++;
        g->own_count = guarded;
    }
    statements(g, 3 + below(g, 8));
    if (chance(g, 40))
        vector_segment(g);
    for (int i = 0; i < out; i++) {
        const array a = s.list[in + i].tensor;
        store_output(g, &a, expression(g, a.type, 3));
    }
    g->indent = 0;
    line(g, "%s", "");
    line(g, "%s", "");
}

/* ---- approximate functions: smooth inputs, no decisions over results ---- */
static const char *tame(generator *g, const char *x, type t) {
    return format(g, "T.max(T.min(%s, T.%s(2.5)), T.%s(-2.5))", x, type_name(t), type_name(t));
}

static const char *smooth(generator *g, type t, int depth) {
    if (depth <= 0)
        return tame(g, format(g, "A[own, %d]", below(g, 4)), t);
    const char *x = tame(g, smooth(g, t, depth - 1), t), *name = type_name(t);
    switch (below(g, 14)) {
    case 0:
        return format(g, "T.log(T.abs(%s) + T.%s(0.5))", x, name);
    case 1:
        return format(g, "T.log2(T.abs(%s) + T.%s(0.5))", x, name);
    case 2:
        return format(g, "T.log10(T.abs(%s) + T.%s(0.5))", x, name);
    case 3:
        return format(g, "T.rsqrt(T.abs(%s) + T.%s(0.5))", x, name);
    case 4:
        return format(g, "T.pow(T.abs(%s) + T.%s(0.5), %s)", x, name, tame(g, smooth(g, t, depth - 1), t));
    case 5:
        return format(g, "(%s + %s)", x, smooth(g, t, depth - 1));
    case 6:
        return format(g, "(%s * %s)", x, tame(g, smooth(g, t, depth - 1), t));
    default: {
        static const char *const words[] = {"exp", "exp2", "sin", "cos", "tanh", "erf", "sigmoid"};
        return format(g, "T.%s(%s)", words[below(g, 7)], x);
    }
    }
}

void bounded_kernel(generator *g, const char *name) {
    const char *kind;
    start(g, &kind, false);
    geometry launch = make_geometry(g);
    g->own_count = g->threads;
    type t = any_float(g);
    signature s = {.count = 2};
    s.list[0] =
        (parameter){.tensor = {.name = "A", .type = t, .rank = 2, .shape = {g->threads, 4}}, .layout = ""};
    s.list[1] =
        (parameter){.tensor = {.name = "X", .type = t, .rank = 2, .shape = {g->threads, 3}}, .layout = ""};
    s.list[0].elements = count_of(&s.list[0].tensor);
    s.list[1].elements = count_of(&s.list[1].tensor);
    write_head(g, &s, name, "bounded", false, true);
    enter(g, &launch, true);
    line(g, "total: T.%s = %s", type_name(t), smooth(g, t, 1));
    line(g, "for k in %s(3):", chance(g, 50) ? "T.unroll" : "T.serial");
    line(g, "    total += %s", smooth(g, t, 1 + below(g, 2)));
    line(g, "    X[own, k] = total * T.%s(0.5) + %s", type_name(t), smooth(g, t, 1 + below(g, 2)));
    g->indent = 0;
    line(g, "%s", "");
    line(g, "%s", "");
}
