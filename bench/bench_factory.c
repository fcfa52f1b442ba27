/* SPDX-License-Identifier: Apache-2.0
 * A factory whose kernel has 500 lines, generated here, compiled by a cold process to CUDA and to PTX: the
 * least of several times, and the least of the processor's, which other work on the machine changes less. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LINES = 500, ROUNDS = 21 };
static const double limit = 10; /* ms */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static double seconds_of(struct timeval t) {
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static const char head[] = "from tvm.script import tirx as T\n"
                           "\n"
                           "\n"
                           "def pipeline(M=65536, block=256, depth=4):\n"
                           "    strides = [3 * i + 1 for i in range(64)]\n"
                           "    rows = {f\"step{i}\": i % depth for i in range(64)}\n"
                           "    assert M % block == 0\n"
                           "\n"
                           "    @T.inline\n"
                           "    def mix(to, at, x, y):\n"
                           "        to[at] = to[at] + x * y\n"
                           "\n"
                           "    @T.prim_func\n"
                           "    def kernel(A: T.Buffer((M,), \"float32\"), B: T.Buffer((M,), \"float32\"),\n"
                           "               C: T.Buffer((M,), \"float32\")):\n"
                           "        T.device_entry()\n"
                           "        bx = T.cta_id([M // block])\n"
                           "        tx = T.thread_id([block])\n"
                           "        S = T.alloc_shared((depth, block), \"float32\")\n"
                           "        at: T.let = bx * block + tx\n"
                           "        S[0, tx] = A[at]\n";
static const char tail[] = "        C[at] = C[at] + S[depth - 1, tx]\n"
                           "\n"
                           "    return kernel\n";

static int count_lines(const char *text) {
    int lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

/* Steps of nine lines, each with numbers of its own, until the file is long enough. */
static int generate(FILE *file) {
    int lines = count_lines(head) + count_lines(tail);
    fputs(head, file);
    for (int j = 0; lines < LINES; j++, lines += 9) {
        int k = j % 64;
        fprintf(file, "        for i%d in T.serial(strides[%d] %% 7 + 1):\n", j, k);
        fprintf(file, "            a%d: T.let = A[(at + i%d * strides[%d]) %% M]\n", j, j, k);
        fprintf(file, "            b%d: T.let = B[(at * %d + i%d) %% M]\n", j, j + 3, j);
        fprintf(file, "            if (at + i%d) %% %d == 0:\n", j, j + 2);
        fprintf(file, "                C[at] = C[at] + a%d * b%d\n", j, j);
        fprintf(file, "            else:\n");
        fprintf(file, "                C[at] = C[at] - a%d / (b%d * b%d + %d.5)\n", j, j, j, j);
        fprintf(file, "            mix(S, (rows[\"step%d\"], tx), a%d, T.exp(b%d))\n", k, j, j);
        fprintf(file, "        T.cuda.cta_sync()\n");
    }
    fputs(tail, file);
    return lines;
}

/* False: it did not run. */
static int compile(const char *tirc, const char *kernel, const char *emit, const char *out) {
    double least = 1e9, processor = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        double start = now();
        pid_t child = fork();
        if (child == 0) {
            execl(tirc, tirc, "build", kernel, "--emit", emit, "-o", out, (char *)NULL);
            _exit(127);
        }
        int status = 1;
        struct rusage usage;
        if (child < 0 || wait4(child, &status, 0, &usage) < 0 || status != 0) {
            fprintf(stderr, "%s build %s --emit %s did not run\n", tirc, kernel, emit);
            return 0;
        }
        double wall = now() - start, used = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
        least = wall < least ? wall : least;
        processor = used < processor ? used : processor;
    }
    printf("  to %-32s%9.2f%11.2f%9.0f%s\n", emit, 1e3 * least, 1e3 * processor, limit,
           1e3 * least < limit ? "" : "  OVER");
    return 1;
}

int main(int count, char **words) {
    char name[] = "/tmp/tirc-factory-XXXXXX.py", kernel[64], out[] = "/tmp/tirc-factory-XXXXXX";
    int file = mkstemps(name, 3), to = mkstemp(out);
    FILE *stream = file < 0 ? NULL : fdopen(file, "w");
    if (count < 2 || stream == NULL || to < 0) {
        fprintf(stderr, "usage: bench_factory TIRC\n");
        return 2;
    }
    close(to);
    int lines = generate(stream);
    fclose(stream);
    snprintf(kernel, sizeof kernel, "%s:pipeline", name);
    printf("a factory kernel of %d lines, cold process\n  %-35s%9s%11s%9s\n", lines, "ms", "least",
           "processor", "limit");
    int good = compile(words[1], kernel, "cuda", out) && compile(words[1], kernel, "ptx", out);
    unlink(name);
    unlink(out);
    return !good;
}
