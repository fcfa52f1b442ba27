/* SPDX-License-Identifier: Apache-2.0
 * Parts of tensors, executed: scripts take random chains of sub, tile, permute, view and rearrange of a
 * tensor with a random layout, starts constant or known to the kernel alone, and read or write every element
 * of the last one. The model does the same to a list of positions, one element at a time. */
#include "tirc.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KERNELS = 25, MODULES = 24, ROOM = 4096, MOST = 512, RANK = 4 };

static uint64_t state = 1181783497276652981u;
static uint32_t below(uint32_t limit) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 20) % limit;
}

/* The elements of a view in row-major order, as positions in the array. */
typedef struct model {
    int rank;
    int64_t shape[RANK], size;
    int64_t at[MOST];
} model;

typedef struct text {
    char data[8192];
    size_t size;
} text;
static void put(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(text *t, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(t->data + t->size, sizeof t->data - t->size, format, arguments);
    va_end(arguments);
    t->size += (size_t)n;
    if (t->size >= sizeof t->data)
        abort();
}

static void put_shape(text *t, const model *m) {
    for (int d = 0; d < m->rank; d++)
        put(t, d ? ", %" PRId64 : "%" PRId64, m->shape[d]);
    if (m->rank == 1)
        put(t, ",");
}

/* A value that the kernel knows, from n = 1: in forms that show what they are multiples of, and in others. */
static void put_value(text *t, int64_t value) {
    switch (below(3)) {
    case 0:
        put(t, "n * %" PRId64, value);
        break;
    case 1:
        put(t, "n + %" PRId64, value - 1);
        break;
    default:
        put(t, "%" PRId64 " - n", value + 1);
    }
}

/* ---- operations, on the text and on the model ---- */

static int64_t flat_of(const model *m, const int64_t *c) {
    int64_t flat = 0;
    for (int d = 0; d < m->rank; d++)
        flat = flat * m->shape[d] + c[d];
    return flat;
}

static void coordinate_of(const model *m, int64_t flat, int64_t *c) {
    for (int d = m->rank; d-- > 0;) {
        c[d] = flat % m->shape[d];
        flat /= m->shape[d];
    }
}

static void resize(model *m) {
    m->size = 1;
    for (int d = 0; d < m->rank; d++)
        m->size *= m->shape[d];
}

static void sub(text *t, model *m) {
    model from = *m;
    int64_t first[RANK], step[RANK];
    bool kept[RANK];
    put(t, ".sub[");
    m->rank = 0;
    for (int d = 0; d < from.rank; d++) {
        int64_t extent = from.shape[d], length = 1 + below((uint32_t)extent);
        first[d] = below((uint32_t)(extent - length + 1));
        step[d] = 1;
        kept[d] = true;
        put(t, d ? ", " : "");
        switch (below(6)) {
        case 0: /* one step, dropped */
            first[d] = below((uint32_t)extent);
            kept[d] = false;
            if (below(2))
                put(t, "%" PRId64, first[d]);
            else
                put_value(t, first[d]);
            continue;
        case 1:
            put(t, "%" PRId64 ":%" PRId64, first[d], first[d] + length);
            break;
        case 2:
        case 3: {
            text value = {.size = 0};
            put_value(&value, first[d]);
            put(t, "%s : %s + %" PRId64, value.data, value.data, length);
            break;
        }
        case 4:
            step[d] = 1 + below((uint32_t)extent);
            while (extent % step[d])
                step[d]--;
            first[d] = below((uint32_t)step[d]);
            length = extent / step[d];
            if (step[d] == 1 || below(2)) /* a::1 has no constant length for an a of the kernel */
                put(t, "%" PRId64, first[d]);
            else
                put_value(t, first[d]);
            put(t, "::%" PRId64, step[d]);
            break;
        default:
            first[d] = 0;
            length = extent;
            put(t, ":");
        }
        m->shape[m->rank++] = length;
    }
    put(t, "]");
    if (m->rank == 0)
        m->shape[m->rank++] = 1;
    resize(m);
    for (int64_t e = 0; e < m->size; e++) {
        int64_t c[RANK], old[RANK];
        coordinate_of(m, e, c);
        for (int d = 0, k = 0; d < from.rank; d++)
            old[d] = first[d] + (kept[d] ? c[k++] * step[d] : 0);
        m->at[e] = from.at[flat_of(&from, old)];
    }
}

static int64_t divisor(int64_t n) {
    int64_t d = 1 + below((uint32_t)n);
    while (n % d)
        d--;
    return d;
}

static void tile(text *t, model *m) {
    model from = *m;
    int axis = (int)below((uint32_t)from.rank);
    int64_t factors[3], picks[3] = {-1, -1, -1};
    factors[0] = divisor(from.shape[axis]);
    factors[1] = divisor(from.shape[axis] / factors[0]);
    factors[2] = from.shape[axis] / factors[0] / factors[1];
    uint32_t picked = below(3), open = below(4);
    put(t, ".tile(%d, (", below(2) ? axis : axis - from.rank);
    for (uint32_t k = 0; k < 3; k++)
        put(t, k ? ", %" PRId64 : "%" PRId64, k == open ? -1 : factors[k]);
    put(t, "))[");
    for (uint32_t k = 0; k < 3; k++) {
        put(t, k ? ", " : "");
        if (k != picked && below(3)) {
            put(t, ":");
            continue;
        }
        picks[k] = below((uint32_t)factors[k]);
        if (below(2))
            put(t, "%" PRId64, picks[k]);
        else
            put_value(t, picks[k]);
    }
    put(t, "]");
    int64_t stays = 1;
    bool any = false;
    for (int k = 0; k < 3; k++)
        if (picks[k] < 0) {
            stays *= factors[k];
            any = true;
        }
    m->rank = 0;
    for (int d = 0; d < from.rank; d++)
        if (d != axis || any)
            m->shape[m->rank++] = d == axis ? stays : from.shape[d];
    if (m->rank == 0)
        m->shape[m->rank++] = 1;
    resize(m);
    for (int64_t e = 0; e < m->size; e++) {
        int64_t c[RANK], old[RANK];
        coordinate_of(m, e, c);
        for (int d = 0, k = 0; d < from.rank; d++) {
            if (d != axis) {
                old[d] = c[k++];
                continue;
            }
            int64_t rest = any ? c[k++] : 0, digit[3];
            for (int f = 3; f-- > 0;) {
                digit[f] = picks[f] >= 0 ? picks[f] : rest % factors[f];
                rest = picks[f] >= 0 ? rest : rest / factors[f];
            }
            old[d] = (digit[0] * factors[1] + digit[1]) * factors[2] + digit[2];
        }
        m->at[e] = from.at[flat_of(&from, old)];
    }
}

static void permute(text *t, model *m) {
    model from = *m;
    int order[RANK];
    for (int d = 0; d < from.rank; d++)
        order[d] = d;
    for (int d = from.rank; d-- > 1;) {
        int k = (int)below((uint32_t)d + 1), swap = order[d];
        order[d] = order[k];
        order[k] = swap;
    }
    put(t, ".permute(");
    for (int d = 0; d < from.rank; d++) {
        put(t, d ? ", %d" : "%d", order[d]);
        m->shape[d] = from.shape[order[d]];
    }
    put(t, ")");
    for (int64_t e = 0; e < m->size; e++) {
        int64_t c[RANK], old[RANK];
        coordinate_of(m, e, c);
        for (int d = 0; d < from.rank; d++)
            old[order[d]] = c[d];
        m->at[e] = from.at[flat_of(&from, old)];
    }
}

static void reshape(text *t, model *m) {
    int64_t rest = m->size;
    m->rank = 1 + (int)below(3);
    for (int d = 0; d + 1 < m->rank; d++) {
        m->shape[d] = divisor(rest);
        rest /= m->shape[d];
    }
    m->shape[m->rank - 1] = rest;
    put(t, ".view(");
    for (int d = 0; d < m->rank; d++)
        put(t, d ? ", %" PRId64 : "%" PRId64, m->shape[d]);
    put(t, ")");
}

/* (a b) c ... with a and b changing places. */
static void rearrange(text *t, model *m) {
    model from = *m;
    int64_t a = divisor(from.shape[0]), b = from.shape[0] / a;
    put(t, ".rearrange(\"(a b)%s -> (b a)%s\", a=%" PRId64 ")",
        from.rank > 1 ? from.rank > 2 ? from.rank > 3 ? " c d e" : " c d" : " c" : "",
        from.rank > 1 ? from.rank > 2 ? from.rank > 3 ? " c d e" : " c d" : " c" : "", a);
    for (int64_t e = 0; e < m->size; e++) {
        int64_t c[RANK];
        coordinate_of(m, e, c);
        c[0] = c[0] % a * b + c[0] / a;
        m->at[e] = from.at[flat_of(&from, c)];
    }
}

/* ---- kernels ---- */

/* A random layout as the notation and the script write it, and where its elements are. */
static bool random_tensor(tirc_session *session, text *script, model *m) {
    static const int64_t extents[] = {2, 3, 4, 6, 8, 16}, pads[] = {0, 0, 0, 1, 4};
    int64_t e[4], s[4], next = 1;
    uint32_t count = 2 + below(3), order[4];
    text own = {.size = 0};
    m->size = 1;
    for (uint32_t i = 0; i < count; i++) {
        do
            e[i] = extents[below(6)];
        while (m->size * e[i] > MOST && e[i] > 2);
        e[i] = m->size * e[i] > MOST ? 1 : e[i];
        m->size *= e[i];
        order[i] = i;
    }
    for (uint32_t i = count; i-- > 1;) {
        uint32_t k = below(i + 1), swap = order[i];
        order[i] = order[k];
        order[k] = swap;
    }
    for (uint32_t i = 0; i < count; i++) {
        s[order[i]] = next;
        next = next * e[order[i]] + pads[below(5)];
    }
    uint32_t swizzle = below(4), per = below(3), outer = below(5) == 0, offset = below(3) ? 0 : below(50);
    if (swizzle) {
        put(&own, "Z(%u,%u,%u%s)*", per, swizzle, swizzle + 1, outer ? ",outer" : "");
        put(script, "ComposeLayout(%u, %u, %u, ", per, swizzle, swizzle + 1);
    } else
        put(script, "TileLayout(");
    for (int part = 0; part < 2; part++) {
        put(&own, part ? "):(" : "S[(");
        put(script, part ? ") : (" : "S[(");
        for (uint32_t i = 0; i < count; i++) {
            put(&own, i ? ",%" PRId64 : "%" PRId64, part ? s[i] : e[i]);
            put(script, i ? ", %" PRId64 : "%" PRId64, part ? s[i] : e[i]);
        }
    }
    put(&own, ")]+%u", offset);
    put(script, ")] + %u%s)", offset, swizzle && outer ? ", False" : "");
    /* the shape: the iters, two of them joined */
    m->rank = 0;
    uint32_t joined = below(count);
    for (uint32_t i = 0; i < count; i++)
        if (i == joined && i > 0)
            m->shape[m->rank - 1] *= e[i];
        else
            m->shape[m->rank++] = e[i];
    tirc_layout *layout;
    if (tirc_layout_read(session, own.data, (uint32_t)m->rank, m->shape, &layout) != TIRC_OK ||
        tirc_layout_injective(layout, NULL, NULL, NULL) != TIRC_YES)
        return false;
    for (int64_t k = 0; k < m->size; k++) {
        int64_t c[64], copies;
        tirc_layout_coordinate(layout, k, c);
        if (tirc_layout_at(layout, c, 1, &m->at[k], &copies) != TIRC_OK || m->at[k] >= ROOM)
            return false;
    }
    return true;
}

static void write_kernel(text *t, const text *layout, model *m, int number, bool stores) {
    static void (*const operations[])(text *, model *) = {sub,  sub,     sub,     tile,
                                                          tile, permute, reshape, rearrange};
    put(t, "@T.function\ndef k%d(A: T.Tensor((%d,), 'int32'), B: T.Tensor((%d,), 'int32'), n: T.int32):\n",
        number, ROOM, MOST);
    put(t, "    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(1,)))\n");
    put(t, "    V0 = T.decl_tensor((");
    put_shape(t, m);
    put(t, "), 'int32', data=A.data, layout=%s)\n", layout->data);
    int count = 1 + (int)below(4);
    for (int i = 0; i < count; i++) {
        put(t, "    V%d = V%d", i + 1, i);
        operations[below(8)](t, m);
        put(t, "\n");
    }
    for (int d = 0; d < m->rank; d++)
        put(t, "%*sfor i%d in range(%" PRId64 "):\n", 4 * (d + 1), "", d, m->shape[d]);
    put(t, "%*s", 4 * (m->rank + 1), "");
    text index = {.size = 0}, flat = {.size = 0};
    for (int d = 0; d < m->rank; d++) {
        put(&index, d ? ", i%d" : "i%d", d);
        text before = flat;
        flat.size = 0;
        if (d)
            put(&flat, "(%s) * %" PRId64 " + i%d", before.data, m->shape[d], d);
        else
            put(&flat, "i%d", d);
    }
    if (stores)
        put(t, "V%d[%s] = %s + 10000\n\n\n", count, index.data, flat.data);
    else
        put(t, "B[%s] = V%d[%s]\n\n\n", flat.data, count, index.data);
}

static int fail(tirc_session *session, const text *script, const char *why) {
    fprintf(stderr, "%s\n%s\n", why, script->data);
    tirc_diagnostics_render(session, TIRC_FORMAT_TEXT, false, tirc_sink_file, stderr);
    return 1;
}

static bool run(tirc_module *module, int number, int32_t *a, int32_t *b) {
    char name[16];
    int64_t room[2] = {ROOM, MOST};
    int32_t one = 1;
    snprintf(name, sizeof name, "k%d", number);
    tirc_argument arguments[3] = {
        {.name = "A", .data = a, .dtype = "int32", .rank = 1, .shape = &room[0], .bytes = ROOM * sizeof *a},
        {.name = "B", .data = b, .dtype = "int32", .rank = 1, .shape = &room[1], .bytes = MOST * sizeof *b},
        {.name = "n", .data = &one, .dtype = "int32", .rank = 0, .bytes = sizeof one}};
    tirc_launch launch = {.size = sizeof launch, .kernel = name, .arguments = arguments, .argument_count = 3};
    return tirc_run(module, &launch, NULL) == TIRC_OK;
}

int main(void) {
    static model models[KERNELS];
    static text script;
    static int32_t a[ROOM], b[MOST];
    int64_t checked = 0;
    for (int m = 0; m < MODULES; m++) {
        tirc_session *session = tirc_session_create(NULL);
        script.size = 0;
        put(&script, "from tvm_tirx.script import tirx as T\nfrom tvm_tirx.tirx.layout import S, TileLayout, "
                     "ComposeLayout\n\n\n");
        static text one[KERNELS];
        size_t size = script.size;
        static char whole[KERNELS * 4096];
        memcpy(whole, script.data, size);
        for (int k = 0; k < KERNELS; k++) {
            text layout;
            do {
                memset(&layout, 0, sizeof layout);
            } while (!random_tensor(session, &layout, &models[k]));
            one[k].size = 0;
            write_kernel(&one[k], &layout, &models[k], k, k % 2);
            if (size + one[k].size >= sizeof whole)
                abort();
            memcpy(whole + size, one[k].data, one[k].size + 1);
            size += one[k].size;
        }
        tirc_source source = {.size = sizeof source,
                              .name = "parts.py",
                              .text = whole,
                              .text_size = size,
                              .kind = TIRC_KIND_SCRIPT};
        tirc_module *module;
        if (tirc_load(session, &source, &module) != TIRC_OK)
            return fail(session, &one[0], "a script was refused");
        for (int k = 0; k < KERNELS; k++) {
            for (int i = 0; i < ROOM; i++)
                a[i] = i;
            memset(b, 0, sizeof b);
            if (!run(module, k, a, b))
                return fail(session, &one[k], "a kernel failed");
            for (int64_t e = 0; e < models[k].size; e++)
                if (k % 2 ? a[models[k].at[e]] != e + 10000 : b[e] != models[k].at[e])
                    return fail(session, &one[k], "an element is another one");
            checked += models[k].size;
        }
        tirc_session_destroy(session);
    }
    fprintf(stderr, "%" PRId64 " elements of %d chains of parts\n", checked, KERNELS * MODULES);
    return checked < 10000;
}
