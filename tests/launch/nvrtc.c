/* SPDX-License-Identifier: Apache-2.0
 * An NVRTC for tests: takes CUDA text and gives the PTX of the file FAKE_NVRTC_PTX; writes text and options
 * to FAKE_NVRTC_TRACE. Refuses text that holds FAKE_NVRTC_REFUSES. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct program {
    char *text, ptx[65536];
    const char *log;
} program;

int nvrtcVersion(int *major, int *minor);
int nvrtcCreateProgram(void **out, const char *text, const char *name, int count, const char *const *headers,
                       const char *const *names);
int nvrtcCompileProgram(void *of, int count, const char *const *options);
int nvrtcGetProgramLogSize(void *of, size_t *size);
int nvrtcGetProgramLog(void *of, char *log);
int nvrtcGetPTXSize(void *of, size_t *size);
int nvrtcGetPTX(void *of, char *ptx);
int nvrtcDestroyProgram(void **of);

int nvrtcVersion(int *major, int *minor) {
    *major = 13;
    *minor = 0;
    return 0;
}
int nvrtcCreateProgram(void **out, const char *text, const char *name, int count, const char *const *headers,
                       const char *const *names) {
    program *p = calloc(1, sizeof *p);
    (void)name, (void)count, (void)headers, (void)names;
    p->text = strdup(text);
    p->log = "";
    *out = p;
    return 0;
}
int nvrtcCompileProgram(void *of, int count, const char *const *options) {
    program *p = of;
    const char *path = getenv("FAKE_NVRTC_TRACE"), *bad = getenv("FAKE_NVRTC_REFUSES");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) {
        for (int i = 0; i < count; ++i)
            fprintf(file, "option %s\n", options[i]);
        fprintf(file, "%s", p->text);
        fclose(file);
    }
    if (bad && strstr(p->text, bad)) {
        p->log = "kernel.cu(1): warning: nothing\nkernel.cu(7): error: identifier is undefined\n2 errors\n";
        return 6;
    }
    file = getenv("FAKE_NVRTC_PTX") ? fopen(getenv("FAKE_NVRTC_PTX"), "r") : NULL;
    if (!file)
        return 6;
    p->ptx[fread(p->ptx, 1, sizeof p->ptx - 1, file)] = 0;
    fclose(file);
    return 0;
}
int nvrtcGetProgramLogSize(void *of, size_t *size) {
    *size = strlen(((program *)of)->log) + 1;
    return 0;
}
int nvrtcGetProgramLog(void *of, char *log) {
    strcpy(log, ((program *)of)->log);
    return 0;
}
int nvrtcGetPTXSize(void *of, size_t *size) {
    *size = strlen(((program *)of)->ptx) + 1;
    return 0;
}
int nvrtcGetPTX(void *of, char *ptx) {
    strcpy(ptx, ((program *)of)->ptx);
    return 0;
}
int nvrtcDestroyProgram(void **of) {
    program *p = *of;
    free(p->text);
    free(p);
    *of = NULL;
    return 0;
}
