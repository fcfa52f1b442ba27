/* SPDX-License-Identifier: Apache-2.0
 * How long a cold process takes to compile long factory kernels and the single-tile tcgen05 script to CUDA
 * and to PTX: the least of several times, and the least of the processor's, which other work on the machine
 * changes less. Then the same by the line at three sizes, in instructions where the processor counts them for
 * us: what grows is not linear. */
#include "bench_factory.h"
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LINES = 500, ROUNDS = 21, SIZES = 3, GROWTH_ROUNDS = 7 };
static const double limit = 10; /* ms */
static const double growth = 1.2,
                    growth_of_time = 2; /* of the cost of a line, from the first size to the last */
static const int sizes[SIZES] = {500, 2000, 8000};

typedef struct cost {
    double wall, processor; /* s */
    uint64_t instructions;  /* 0: not counted here */
} cost;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static double seconds_of(struct timeval t) {
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

/* Counts from the child's exec on; -1: this machine does not. */
static int open_counter(pid_t child) {
    struct perf_event_attr event = {.type = PERF_TYPE_HARDWARE,
                                    .size = sizeof event,
                                    .config = PERF_COUNT_HW_INSTRUCTIONS,
                                    .disabled = 1,
                                    .enable_on_exec = 1,
                                    .exclude_kernel = 1,
                                    .exclude_hv = 1};
    return (int)syscall(SYS_perf_event_open, &event, child, -1, -1, 0);
}

/* False: it did not run. */
static int run(const char *tirc, const char *kernel, const char *emit, const char *out, cost *c) {
    int start_line[2], status = 1;
    struct rusage usage;
    char go = 0;
    if (pipe(start_line) != 0)
        return 0;
    pid_t child = fork();
    if (child == 0) {
        close(start_line[1]);
        if (read(start_line[0], &go, 1) == 1)
            execl(tirc, tirc, "build", kernel, "--emit", emit, "-o", out, (char *)NULL);
        _exit(127);
    }
    int counter = child > 0 ? open_counter(child) : -1;
    close(start_line[0]);
    double start = now();
    int started = child > 0 && write(start_line[1], &go, 1) == 1;
    close(start_line[1]);
    if (child > 0 && wait4(child, &status, 0, &usage) < 0)
        status = 1;
    c->wall = now() - start;
    c->instructions = 0;
    if (counter >= 0 && read(counter, &c->instructions, sizeof c->instructions) != sizeof c->instructions)
        c->instructions = 0;
    if (counter >= 0)
        close(counter);
    if (!started || status != 0) {
        fprintf(stderr, "%s build %s --emit %s did not run\n", tirc, kernel, emit);
        return 0;
    }
    c->processor = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    return 1;
}

static int least(const char *tirc, const char *kernel, const char *emit, const char *out, int rounds,
                 cost *best) {
    for (int round = 0; round < rounds; round++) {
        cost c;
        if (!run(tirc, kernel, emit, out, &c))
            return 0;
        if (round == 0) {
            *best = c;
            continue;
        }
        best->wall = c.wall < best->wall ? c.wall : best->wall;
        best->processor = c.processor < best->processor ? c.processor : best->processor;
        best->instructions = c.instructions < best->instructions ? c.instructions : best->instructions;
    }
    return 1;
}

/* ---- rows ---- */

static const char *const emits[] = {"cuda", "ptx"};

static int time_rows(const char *tirc, const char *name, int lines, const char *kernel, const char *out) {
    for (int e = 0; e < 2; e++) {
        cost c;
        char row[80];
        if (!least(tirc, kernel, emits[e], out, ROUNDS, &c))
            return 0;
        snprintf(row, sizeof row, "%s (%d lines) to %s", name, lines, emits[e]);
        printf("  %-50s%9.2f%11.2f%9.0f%s\n", row, 1e3 * c.wall, 1e3 * c.processor, limit,
               1e3 * c.wall < limit ? "" : "  OVER");
    }
    return 1;
}

/* The file in a folder of its own, and FILE:ENTRY; 0: it could not be made. */
static int make_file(const char *path, const factory_shape *shape, int lines) {
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return 0;
    lines = shape->generate(file, lines);
    return fclose(file) == 0 ? lines : 0;
}

/* 0: valgrind does not count here. */
static uint64_t count_by_valgrind(const char *tirc, const char *kernel, const char *out) {
    char command[400], line[200];
    unsigned long long found = 0;
    snprintf(
        command, sizeof command,
        "valgrind --tool=callgrind --callgrind-out-file=/dev/null '%s' build '%s' --emit ptx -o '%s' 2>&1",
        tirc, kernel, out);
    FILE *pipe = popen(command, "r");
    while (pipe != NULL && fgets(line, sizeof line, pipe) != NULL) {
        const char *at = strstr(line, "Collected : ");
        found = at != NULL ? strtoull(at + 12, NULL, 10) : found;
    }
    return pipe != NULL && pclose(pipe) == 0 ? found : 0;
}

static int growth_rows(const char *tirc, const factory_shape *shape, const char *path, const char *kernel,
                       const char *out) {
    double first = 0, last = 0, most = growth;
    printf("  %-50s", shape->name);
    for (int s = 0; s < SIZES; s++) {
        cost c;
        int lines = make_file(path, shape, sizes[s]);
        if (lines == 0 || !least(tirc, kernel, "ptx", out, GROWTH_ROUNDS, &c))
            return 0;
        if (c.instructions == 0)
            c.instructions = count_by_valgrind(tirc, kernel, out);
        last = (c.instructions != 0 ? 1e-3 * (double)c.instructions : 1e6 * c.processor) / lines;
        most = c.instructions != 0 ? growth : growth_of_time;
        first = s == 0 ? last : first;
        printf("%9.1f", last);
        fflush(stdout);
    }
    printf("%9.1f%s\n", most, last < most * first ? "" : "  OVER");
    return 1;
}

static int measure(const char *tirc, const char *single, const char *path, const char *out) {
    char kernel[128];
    printf("cold process, to CUDA and to PTX\n  %-50s%9s%11s%9s\n", "ms", "least", "processor", "limit");
    for (int i = 0; i < FACTORY_COUNT; i++) {
        int lines = make_file(path, &factory_shapes[i], LINES);
        snprintf(kernel, sizeof kernel, "%s:%s", path, factory_shapes[i].entry);
        if (lines == 0 || !time_rows(tirc, factory_shapes[i].name, lines, kernel, out))
            return 0;
    }
    FILE *file = fopen(single, "r");
    int lines = 0;
    for (int c; file != NULL && (c = getc(file)) != EOF;)
        lines += c == '\n';
    if (file == NULL || !time_rows(tirc, "GEMM of a single tile", lines, single, out))
        return 0;
    fclose(file);
    printf("to PTX, for each line: thousands of instructions, or us of the processor where it does not count "
           "them\n"
           "  %-50s%9d%9d%9d%9s\n",
           "lines", sizes[0], sizes[1], sizes[2], "growth");
    for (int i = 0; i < FACTORY_COUNT; i++) {
        snprintf(kernel, sizeof kernel, "%s:%s", path, factory_shapes[i].entry);
        if (!growth_rows(tirc, &factory_shapes[i], path, kernel, out))
            return 0;
    }
    return 1;
}

int main(int count, char **words) {
    char name[] = "/tmp/tirc-factory-XXXXXX.py", out[] = "/tmp/tirc-factory-XXXXXX";
    int file = mkstemps(name, 3), to = mkstemp(out);
    if (count < 3 || file < 0 || to < 0) {
        fprintf(stderr, "usage: bench_factory TIRC SINGLE\n");
        return 2;
    }
    close(file);
    close(to);
    int good = measure(words[1], words[2], name, out);
    unlink(name);
    unlink(out);
    return !good;
}
