/* SPDX-License-Identifier: Apache-2.0
 * Two threads with a session each, at the same time: every step from script to results, several times, with
 * workers of their own. What they make must be equal. Built with -fsanitize=thread it shows shared state. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <tirc.h>

enum { ROUNDS = 3, SIZE = 4096, TEXT = 65536 };

static const char script[] = "from tvm_tirx.script import tirx as T\n"
                             "@T.function\n"
                             "def k(A: T.Tensor((4096,), 'float32'), B: T.Tensor((4096,), 'float32')):\n"
                             "    T.device_entry(launch=T.cuda.LaunchConfig(grid=(64,), block=(64,)))\n"
                             "    i: T.let = T.cuda.block_idx('x') * 64 + T.cuda.thread_idx('x')\n"
                             "    B[i] = A[i] * A[i] + 1.0\n";

typedef struct user {
    pthread_t thread;
    float a[SIZE], b[SIZE];
    char text[TEXT];
    size_t size;
    bool good;
} user;

static bool keep(void *to, const char *data, size_t size) {
    user *u = to;
    if (u->size + size > TEXT)
        return false;
    memcpy(u->text + u->size, data, size);
    u->size += size;
    return true;
}

static bool once(user *u) {
    tirc_session *session = tirc_session_create(NULL);
    tirc_module *module = NULL;
    tirc_source source = {.size = sizeof source, .name = "k.py", .text = script, .text_size = strlen(script)};
    int64_t shape[1] = {SIZE};
    tirc_argument arguments[2] = {
        {.name = "A", .data = u->a, .dtype = "float32", .rank = 1, .shape = shape, .bytes = sizeof u->a},
        {.name = "B", .data = u->b, .dtype = "float32", .rank = 1, .shape = shape, .bytes = sizeof u->b}};
    tirc_launch launch = {.size = sizeof launch, .arguments = arguments, .argument_count = 2, .threads = 2};
    memset(u->b, 0, sizeof u->b);
    u->size = 0;
    bool good = session != NULL && tirc_load(session, &source, &module) == TIRC_OK &&
                tirc_emit(module, TIRC_EMIT_CUDA, NULL, keep, u) == TIRC_OK &&
                tirc_emit(module, TIRC_EMIT_PTX, NULL, keep, u) == TIRC_OK &&
                tirc_run(module, &launch, NULL) == TIRC_OK;
    tirc_session_destroy(session);
    for (int i = 0; i < SIZE; i++)
        good = good && u->b[i] == u->a[i] * u->a[i] + 1;
    return good;
}

static void *work(void *argument) {
    user *u = argument;
    u->good = true;
    for (int round = 0; round < ROUNDS; round++)
        u->good = once(u) && u->good;
    return NULL;
}

int main(void) {
    static user users[2];
    for (int u = 0; u < 2; u++)
        for (int i = 0; i < SIZE; i++)
            users[u].a[i] = (float)(i % 97);
    for (int u = 0; u < 2; u++)
        if (pthread_create(&users[u].thread, NULL, work, &users[u]) != 0)
            return 2;
    for (int u = 0; u < 2; u++)
        pthread_join(users[u].thread, NULL);
    bool equal = users[0].size == users[1].size && users[0].size > 0 &&
                 memcmp(users[0].text, users[1].text, users[0].size) == 0;
    printf("%s 1 - both run\n", users[0].good && users[1].good ? "ok" : "not ok");
    printf("%s 2 - the same texts\n1..2\n", equal ? "ok" : "not ok");
    return !(users[0].good && users[1].good && equal);
}
