/* SPDX-License-Identifier: Apache-2.0
 * make bench-layout: the layout library's own speed, and the command that draws, cold. Each row prints its
 * median of nine and its limit; a row over its limit makes the status 1. */
#include "layout/query.h"
#include "layout/shared.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 9 };
static int over;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int by_value(const void *a, const void *b) {
    double x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

static void row(const char *name, double *seconds, double scale, const char *unit, double limit) {
    qsort(seconds, ROUNDS, sizeof *seconds, by_value);
    double value = seconds[ROUNDS / 2] * scale;
    printf("%-52s %9.3f %s  limit %g %s%s\n", name, value, unit, limit, unit, value > limit ? "  OVER" : "");
    over |= value > limit;
}

static const layout_map *map_of(base_arena *arena, const char *text, uint32_t rank, const int64_t *shape) {
    layout_error error = {NULL};
    const layout_tile *layout = layout_parse(arena, text, strlen(text), NULL, &error);
    const layout_map *map = layout ? layout_map_make(arena, layout, shape, rank, &error) : NULL;
    if (!map) {
        fprintf(stderr, "%s: %s\n", text, error.text);
        exit(2);
    }
    return map;
}

static void apply(base_arena *arena) {
    const int64_t shape[2] = {64, 64};
    const layout_map *map = map_of(arena, "S[(4,2,8,8,4,2):(1@wid_in_wg,2,4@laneid,4,1@laneid,1)]", 2, shape);
    double seconds[ROUNDS];
    int64_t sum = 0, position[LAYOUT_AXIS_COUNT];
    enum { CALLS = 1 << 20 };
    for (int round = 0; round < ROUNDS; round++) {
        double start = now();
        for (int64_t i = 0; i < CALLS; i++) {
            int64_t coordinate[2] = {i >> 6 & 63, i & 63};
            layout_map_at(map, coordinate, position);
            sum += position[0] + position[1] + position[2];
        }
        seconds[round] = (now() - start) / CALLS;
    }
    if (sum == 42)
        puts("");
    row("apply of a 6-iter layout", seconds, 1e9, "ns", 20);
}

static void enumerate(base_arena *arena, const char *text, const char *name) {
    const int64_t shape[2] = {128, 512};
    const layout_map *map = map_of(arena, text, 2, shape);
    int64_t *planes = BASE_NEW_ARRAY(arena, int64_t, (size_t)map->size * map->axis_count);
    double seconds[ROUNDS];
    layout_map_all(map, planes);
    for (int round = 0; round < ROUNDS; round++) {
        double start = now();
        layout_map_all(map, planes);
        seconds[round] = now() - start;
    }
    row(name, seconds, 1e3, "ms", 0.2);
}

static void banks(base_arena *arena) {
    const int64_t shape[2] = {32, 64};
    const layout_map *map = map_of(arena, "S[(32,64):(64,1)]", 2, shape);
    int64_t elements[32];
    double seconds[ROUNDS];
    for (int lane = 0; lane < 32; lane++)
        elements[lane] = 64 * lane;
    for (int round = 0; round < ROUNDS; round++) {
        layout_banks report;
        double start = now();
        if (!layout_bank_conflicts(arena, map, elements, 32, 16, 16, &report, NULL))
            exit(2);
        seconds[round] = now() - start;
    }
    row("bank-conflict report of a warp", seconds, 1e3, "ms", 1);
}

/* A new process each time. */
static void draw(const char *tirc, const char *layout, const char *shape, double limit, long most) {
    char name[128];
    double seconds[ROUNDS];
    struct stat file;
    for (int round = 0; round < ROUNDS; round++) {
        double start = now();
        pid_t child = fork();
        if (child == 0) {
            execl(tirc, tirc, "layout", layout, "--shape", shape, "--svg", "build/bench_layout.svg",
                  (char *)NULL);
            _exit(127);
        }
        int status = 1;
        if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0) {
            fprintf(stderr, "%s layout did not run\n", tirc);
            exit(2);
        }
        seconds[round] = now() - start;
    }
    snprintf(name, sizeof name, "tirc layout --svg at %s", shape);
    row(name, seconds, 1e3, "ms", limit);
    if (stat("build/bench_layout.svg", &file) == 0) {
        printf("%-52s %9.3f MB  limit %g MB%s\n", "    its size", (double)file.st_size / 1e6,
               (double)most / 1e6, file.st_size > most ? "  OVER" : "");
        over |= file.st_size > most;
    }
}

int main(int count, char **words) {
    base_heap *heap = base_heap_create(NULL);
    base_arena *arena = base_arena_create(heap);
    apply(arena);
    enumerate(arena, "S[(128,512):(1@TLane,1@TCol)]", "map of 128x512 on TLane and TCol");
    enumerate(arena, "Z(3,3,3)*S[(128,8,64):(64,8192,1)]", "map of 128x512, swizzled");
    banks(arena);
    if (count > 1) {
        draw(words[1], "Z(3,3,3)*S[(128,64):(64,1)]", "128,64", 15, 2000000);
        draw(words[1], "S[(128,512):(1@TLane,1@TCol)]", "128,512", 60, 2000000);
        draw(words[1], "S[(128,512):(1,129)]", "128,512", 60, 2000000);
    }
    base_heap_destroy(heap);
    return over;
}
