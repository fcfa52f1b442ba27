/* SPDX-License-Identifier: Apache-2.0
 * The library as an inference engine would use it: a script in memory, CUDA and PTX out, a run on the CPU,
 * and diagnostics as data. Compiled as C99 against the installed header. Prints TAP. */
#include <stdio.h>
#include <string.h>
#include <tirc.h>

static const char script[] =
    "from tvm_tirx.script import tirx as T\n"
    "@T.function\n"
    "def axpy(a: T.float32, X: T.Tensor((N,), 'float32'), Y: T.Tensor((N,), 'float32')):\n"
    "    T.device_entry(launch=T.cuda.LaunchConfig(grid=((N + 127) // 128,), block=(128,)))\n"
    "    i: T.let = T.cuda.block_idx('x') * 128 + T.cuda.thread_idx('x')\n"
    "    if i < N:\n"
    "        Y[i] = a * X[i] + Y[i]\n";
static int number, bad;
static void check(int good, const char *name) {
    printf("%s %d - %s\n", good ? "ok" : "not ok", ++number, name);
    bad |= !good;
}

static int found, released;
static bool find(void *user, const char *path, tirc_imported *file) {
    if (strcmp(path, "sizes.py"))
        return false;
    ++found;
    file->name = "memory of the program";
    file->text = user;
    file->text_size = strlen(file->text);
    return true;
}

static void release(void *user, tirc_imported *file) {
    released += file->text == user;
}

static tirc_status load_import(tirc_session *session, char *imported, tirc_module **module) {
    static const char uses[] = "import sizes, numpy\n"
                               "from sizes import N\n"
                               "from tvm_tirx.script import tirx as T\n"
                               "@T.function\n"
                               "def k(A: T.Tensor((N,), 'float32')):\n"
                               "    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(1,)))\n"
                               "    A[0] = 1.0\n";
    tirc_source source = {0};
    source.size = sizeof source;
    source.name = "uses.py";
    source.text = uses;
    source.text_size = strlen(uses);
    source.find_import = find;
    source.release_import = release;
    source.import_user = imported;
    return tirc_load(session, &source, module);
}

typedef struct sink_buffer {
    char text[65536];
    size_t size;
} sink_buffer;
static bool keep(void *user, const char *data, size_t size) {
    sink_buffer *buffer = user;
    if (buffer->size + size >= sizeof buffer->text)
        return false;
    memcpy(buffer->text + buffer->size, data, size);
    buffer->size += size;
    buffer->text[buffer->size] = 0;
    return true;
}

static tirc_status load(tirc_session *session, const char *text, tirc_module **module) {
    tirc_define define = {"N", "300"};
    tirc_source source = {0};
    source.size = sizeof source;
    source.name = "axpy.py";
    source.text = text;
    source.text_size = strlen(text);
    source.defines = &define;
    source.define_count = 1;
    return tirc_load(session, &source, module);
}

static void run(tirc_session *session, tirc_module *module) {
    static float x[300], y[300];
    float a = 3;
    int64_t shape[1] = {300};
    tirc_argument arguments[3] = {{0}};
    tirc_launch launch = {0};
    tirc_statistics statistics;
    tirc_report *report = NULL;
    int right = 1;
    for (int i = 0; i < 300; ++i) {
        x[i] = (float)i;
        y[i] = 1;
    }
    arguments[0].name = "a";
    arguments[0].data = &a;
    arguments[0].bytes = sizeof a;
    arguments[0].is_scalar = true;
    arguments[1].name = "X";
    arguments[1].data = x;
    arguments[2].name = "Y";
    arguments[2].data = y;
    for (int i = 1; i < 3; ++i) {
        arguments[i].dtype = "float32";
        arguments[i].rank = 1;
        arguments[i].shape = shape;
        arguments[i].bytes = sizeof x;
    }
    launch.size = sizeof launch;
    launch.arguments = arguments;
    launch.argument_count = 3;
    check(tirc_run(module, &launch, &report) == TIRC_OK, "run");
    for (int i = 0; i < 300; ++i)
        right &= y[i] == 3 * (float)i + 1;
    check(right, "results");
    tirc_report_statistics(report, &statistics);
    check(statistics.ctas == 3 && statistics.warp_instructions > 0, "statistics");
    shape[0] = 299;
    check(tirc_run(module, &launch, NULL) == TIRC_ERROR, "a wrong shape is refused");
    arguments[2].name = "Z";
    check(tirc_run(module, &launch, NULL) == TIRC_ERROR, "a wrong name is refused");
    (void)session;
}

int main(void) {
    tirc_session *session = tirc_session_create(NULL);
    tirc_module *module = NULL;
    static sink_buffer cuda, ptx;
    tirc_diagnostic diagnostic;
    const char *title, *text;
    check(session != NULL, "session");
    check(load(session, script, &module) == TIRC_OK && tirc_kernel_count(module) == 1, "load");
    check(tirc_emit(module, TIRC_EMIT_CUDA, NULL, keep, &cuda) == TIRC_OK && strstr(cuda.text, "axpy_kernel"),
          "CUDA");
    check(tirc_emit(module, TIRC_EMIT_PTX, NULL, keep, &ptx) == TIRC_OK &&
              strstr(ptx.text, ".entry axpy_kernel"),
          "PTX");
    check(strcmp(tirc_kernel_at(module, 0)->parameters[1].name, "X") == 0, "parameters");
    run(session, module);
    tirc_session_destroy(session);

    static char good[] = "N = 12\n", broken[] = "N = \n";
    session = tirc_session_create(NULL);
    check(load_import(session, good, &module) == TIRC_OK &&
              tirc_kernel_at(module, 0)->parameters[0].shape[0] == 12 && found == 1 && released == 1,
          "an import asks the program, once, and gives the text back");
    check(load_import(session, broken, &module) == TIRC_ERROR && released == 2 &&
              tirc_diagnostic_at(session, 0, &diagnostic) &&
              !strcmp(diagnostic.file, "memory of the program"),
          "what is wrong in it is said at its name");
    tirc_session_destroy(session);

    session = tirc_session_create(NULL);
    check(load(session, "import nothing\nx = (\n", &module) == TIRC_ERROR && module == NULL,
          "a broken script is refused");
    check(tirc_diagnostic_count(session) > 0 && tirc_diagnostic_at(session, 0, &diagnostic) &&
              diagnostic.line > 0 && diagnostic.code[0] == 'T',
          "its diagnostics are data");
    check(tirc_explain(diagnostic.code, &title, &text) && *title && *text, "every code is explained");
    check(tirc_load(session, NULL, &module) == TIRC_USAGE && tirc_load(NULL, NULL, NULL) == TIRC_USAGE,
          "misuse is refused");
    tirc_session_destroy(session);
    tirc_session_destroy(NULL);
    printf("1..%d\n", number);
    return bad;
}
