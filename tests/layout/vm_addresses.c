/* SPDX-License-Identifier: Apache-2.0
 * Emitted address arithmetic, executed: kernels store their thread's number through a view with a random
 * layout, swizzled or not, over any shape, or with the layout of a swizzled operand tile (atoms over rows,
 * panels and leading dimensions); the place of every number in memory must be the one that the layout library
 * gives. At least 100,000 coordinates. With a folder as argument, the PTX of each module is left there. */
#include "tirc.h"
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KERNELS = 60, MODULES = 20, ROOM = 16384, MOST = 1024 };

static uint64_t state = 88172645463325252u;
static uint32_t below(uint32_t limit) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 20) % limit;
}

typedef struct job {
    char layout[256];
    uint32_t rank;
    int64_t shape[4], size;
} job;

static void random_job(job *j) {
    static const int64_t extents[] = {2, 3, 4, 5, 7, 8, 16, 32}, pads[] = {0, 0, 0, 1, 3, 8};
    int64_t e[4], s[4], next = 1;
    uint32_t count = 1 + below(4), order[4];
    char *at = j->layout;
    size_t left = sizeof j->layout;
    j->size = 1;
    for (uint32_t i = 0; i < count; i++) {
        do
            e[i] = extents[below(8)];
        while (j->size * e[i] > MOST && e[i] > 2);
        if (j->size * e[i] > MOST)
            e[i] = 1;
        j->size *= e[i];
        order[i] = i;
    }
    for (uint32_t i = count; i-- > 1;) { /* iters in any order of strides, with gaps */
        uint32_t k = below(i + 1), swap = order[i];
        order[i] = order[k];
        order[k] = swap;
    }
    for (uint32_t i = 0; i < count; i++) {
        s[order[i]] = next;
        next = next * e[order[i]] + pads[below(6)];
    }
#define PUT(...)                                                                                             \
    do {                                                                                                     \
        int n = snprintf(at, left, __VA_ARGS__);                                                             \
        at += n;                                                                                             \
        left -= (size_t)n;                                                                                   \
    } while (0)
    if (below(2)) {
        uint32_t length = below(4);
        PUT("Z(%u,%u,%u%s)*", below(4), length, length + below(2), below(4) ? "" : ",outer");
    }
    PUT("S[(");
    for (uint32_t i = 0; i < count; i++)
        PUT(i ? ",%" PRId64 : "%" PRId64, e[i]);
    PUT("):(");
    for (uint32_t i = 0; i < count; i++)
        PUT(i ? ",%" PRId64 : "%" PRId64, s[i]);
    PUT(")]");
    if (below(3) == 0)
        PUT("+%u", below(100));
    if (below(2)) { /* the iters' own shape */
        j->rank = count;
        memcpy(j->shape, e, sizeof e);
        return;
    }
    int64_t rest = j->size; /* a shape that cuts across them */
    for (j->rank = 0; j->rank < 2 && rest > 1; j->rank++) {
        int64_t factor = 1 + below((uint32_t)rest);
        while (rest % factor)
            factor--;
        j->shape[j->rank] = factor;
        rest /= factor;
    }
    j->shape[j->rank++] = rest;
}

/* What alloc_tcgen05_mma_AB gives 32-bit elements: Z(2,B,3) over panels of whole atoms, perhaps at an origin
 * that is a whole period, as in a pool. */
static void operand_job(job *j) {
    int64_t mode = 1 + below(3), width = 4 << mode, panels = 1 + below(4), rows = 8 * (1 + below(3)),
            lead = 1 + below(3);
    while (lead * rows * panels * width > MOST)
        lead > 1 ? lead-- : panels > 1 ? panels-- : (rows -= 8);
    int n = snprintf(j->layout, sizeof j->layout,
                     "Z(2,%" PRId64 ",3)*S[(%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 "):(%" PRId64
                     ",%" PRId64 ",%" PRId64 ",1)]",
                     mode, lead, rows, panels, width, rows * panels * width, width, rows * width);
    if (below(2))
        snprintf(j->layout + n, sizeof j->layout - (size_t)n, "+%" PRId64, (INT64_C(32) << mode) * below(8));
    j->rank = 3;
    j->shape[0] = lead;
    j->shape[1] = rows;
    j->shape[2] = panels * width;
    j->size = lead * rows * panels * width;
}

/* Thread t is element t in row-major order. */
static size_t write_kernel(const job *j, int number, char *text, size_t room) {
    size_t at = 0;
#define ADD(...) (at += (size_t)snprintf(text + at, room - at, __VA_ARGS__))
    ADD("function k%d(out: int32[%d]):\n    launch:\n        grid = (1, 1, 1)\n        block = (%" PRId64
        ", 1, 1)\n",
        number, ROOM, j->size);
    ADD("    let tx: int32 = thread_idx.x\n    view V: int32[");
    for (uint32_t d = 0; d < j->rank; d++)
        ADD(d ? ", %" PRId64 : "%" PRId64, j->shape[d]);
    ADD("] layout=%s = out.data\n    V[", j->layout);
    int64_t below_it = j->size;
    for (uint32_t d = 0; d < j->rank; d++) {
        below_it /= j->shape[d];
        ADD("%stx // %" PRId64 " %% %" PRId64, d ? ", " : "", below_it, j->shape[d]);
    }
    ADD("] = tx\n\n");
    return at;
}

static void complain(tirc_session *session) {
    tirc_diagnostics_render(session, TIRC_FORMAT_TEXT, false, tirc_sink_file, stderr);
}

/* How many coordinates were right; -1 after a message. */
static int64_t check(tirc_session *session, tirc_module *module, const job *j, int number) {
    static int32_t out[ROOM];
    char name[16];
    tirc_layout *layout;
    for (int i = 0; i < ROOM; i++)
        out[i] = -1;
    snprintf(name, sizeof name, "k%d", number);
    int64_t room = ROOM;
    tirc_argument argument = {
        .name = "out", .data = out, .dtype = "int32", .rank = 1, .shape = &room, .bytes = sizeof out};
    tirc_launch launch = {.size = sizeof launch, .kernel = name, .arguments = &argument, .argument_count = 1};
    if (tirc_run(module, &launch, NULL) != TIRC_OK ||
        tirc_layout_read(session, j->layout, j->rank, j->shape, &layout) != TIRC_OK) {
        complain(session);
        return -1;
    }
    for (int64_t e = 0; e < j->size; e++) {
        int64_t coordinate[4], position = -1, copies;
        tirc_layout_coordinate(layout, e, coordinate);
        if (tirc_layout_at(layout, coordinate, 1, &position, &copies) != TIRC_OK || position < 0 ||
            position >= ROOM || out[position] != e) {
            fprintf(stderr, "%s: element %" PRId64 " should be at %" PRId64 "\n", j->layout, e, position);
            return -1;
        }
    }
    return j->size;
}

static bool leave_ptx(tirc_session *session, tirc_module *module, const char *folder, int number) {
    char path[4096];
    snprintf(path, sizeof path, "%s/layouts%d.ptx", folder, number);
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    tirc_emit_options options = {.size = sizeof options, .target = number % 2 ? "sm_100a" : "sm_90a"};
    bool ok = tirc_emit(module, TIRC_EMIT_PTX, &options, tirc_sink_file, file) == TIRC_OK;
    if (!ok)
        complain(session);
    return fclose(file) == 0 && ok;
}

int main(int count, char **words) {
    static job jobs[KERNELS];
    static char text[KERNELS * 1024];
    int64_t checked = 0, swizzled_coordinates = 0;
    int swizzled = 0, operands = 0;
    for (int m = 0; m < MODULES; m++) {
        tirc_session *session = tirc_session_create(NULL);
        size_t size = (size_t)snprintf(text, sizeof text, "tir 1\n\n");
        for (int k = 0; k < KERNELS; k++) {
            tirc_layout *layout;
            bool operand = k % 4 == 3;
            do
                operand ? operand_job(&jobs[k]) : random_job(&jobs[k]);
            while (tirc_layout_read(session, jobs[k].layout, jobs[k].rank, jobs[k].shape, &layout) !=
                       TIRC_OK ||
                   tirc_layout_injective(layout, NULL, NULL, NULL) != TIRC_YES);
            swizzled += jobs[k].layout[0] == 'Z';
            operands += operand;
            size += write_kernel(&jobs[k], k, text + size, sizeof text - size);
        }
        tirc_source source = {.size = sizeof source,
                              .name = "layouts.tir",
                              .text = text,
                              .text_size = size,
                              .kind = TIRC_KIND_IR};
        tirc_module *module;
        if (tirc_load(session, &source, &module) != TIRC_OK) {
            complain(session);
            return 1;
        }
        for (int k = 0; k < KERNELS; k++) {
            int64_t right = check(session, module, &jobs[k], k);
            if (right < 0)
                return 1;
            checked += right;
            swizzled_coordinates += jobs[k].layout[0] == 'Z' ? right : 0;
        }
        if (count > 1 && !leave_ptx(session, module, words[1], m))
            return 1;
        tirc_session_destroy(session);
    }
    fprintf(stderr,
            "%" PRId64 " coordinates of %d layouts, %" PRId64
            " of them in the %d that are swizzled, of which %d are "
            "operand tiles\n",
            checked, KERNELS * MODULES, swizzled_coordinates, swizzled, operands);
    return checked < 100000 || swizzled_coordinates < 100000;
}
