/* SPDX-License-Identifier: Apache-2.0
 * A program run to its end: no shell, a folder of its own, a time limit, nothing left behind. Must not know
 * what it is run for. */
#include "api/api_process.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_FILE_BYTES = 1 << 28, MOST_LOG_BYTES = 1 << 20 };
static const char log_name[] = "tirc.log";

typedef struct text_piece {
    char *data; /* malloc */
    size_t size;
    bool good;
} text_piece;

typedef struct running {
    char folder[4096];
    sigset_t before;
    text_piece output, log;
} running;

static bool make_folder(running *run) {
    const char *root = getenv("TMPDIR");
    int size =
        snprintf(run->folder, sizeof run->folder, "%s/tirc-XXXXXX", root && *root == '/' ? root : "/tmp");
    return size > 0 && (size_t)size < sizeof run->folder && mkdtemp(run->folder);
}

/* What a compiler leaves is files in one folder; a folder below it is not ours and stays. */
static void remove_folder(const char *folder) {
    DIR *list = opendir(folder);
    for (const struct dirent *entry; list && (entry = readdir(list));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(list), entry->d_name, 0);
    if (list)
        closedir(list);
    rmdir(folder);
}

static FILE *open_file(const char *folder, const char *name, bool writes) {
    int flags = (writes ? O_WRONLY | O_CREAT | O_EXCL : O_RDONLY) | O_NOFOLLOW | O_CLOEXEC;
    int at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int file = at < 0 ? -1 : openat(at, name, flags, 0600);
    if (at >= 0)
        close(at);
    return file < 0 ? NULL : fdopen(file, writes ? "wb" : "rb");
}

static bool write_file(const char *folder, const char *name, const char *data, size_t size) {
    FILE *file = open_file(folder, name, true);
    bool good = file && fwrite(data, 1, size, file) == size;
    if (file && fclose(file))
        good = false;
    return good;
}

static text_piece read_file(const char *folder, const char *name, size_t most) {
    text_piece piece = {0};
    struct stat facts;
    FILE *file = open_file(folder, name, false);
    if (file && !fstat(fileno(file), &facts) && facts.st_size >= 0 && (uintmax_t)facts.st_size <= most)
        piece.data = malloc((size_t)facts.st_size + 1);
    if (piece.data)
        piece.size = fread(piece.data, 1, (size_t)facts.st_size, file);
    piece.good = piece.data && !ferror(file);
    if (file)
        fclose(file);
    return piece;
}

/* ---- the child: only functions that are safe after fork ---- */
static void become(const char *folder, const char *const *arguments, char *const *environment) {
    struct rlimit limit = {MOST_FILE_BYTES, MOST_FILE_BYTES};
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setpgid(0, 0);
    setrlimit(RLIMIT_FSIZE, &limit);
    if (chdir(folder))
        _exit(127);
    int input = open("/dev/null", O_RDONLY),
        output = open(log_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (input < 0 || output < 0 || dup2(input, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0)
        _exit(127);
    execve(arguments[0], (char *const *)(uintptr_t)arguments, environment);
    _exit(127);
}

/* ---- the parent ---- */
extern char **environ;

/* The environment with TMPDIR as the folder. malloc, as the child must not allocate. */
static char **environment_with(char *folder_word) {
    size_t count = 0, kept = 0;
    while (environ && environ[count])
        count++;
    char **all = malloc((count + 2) * sizeof *all);
    for (size_t i = 0; all && i < count; i++)
        if (strncmp(environ[i], "TMPDIR=", 7) != 0)
            all[kept++] = environ[i];
    if (all) {
        all[kept++] = folder_word;
        all[kept] = NULL;
    }
    return all;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static bool asked_to_end(const sigset_t *watched) {
    sigset_t pending;
    if (sigpending(&pending))
        return false;
    for (int signal = 1; signal < 32; signal++)
        if (sigismember(watched, signal) == 1 && sigismember(&pending, signal) == 1)
            return true;
    return false;
}

/* The whole group goes: compilers start others. */
static void end_group(pid_t child) {
    kill(-child, SIGKILL);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
}

static api_process_end wait_for(pid_t child, const sigset_t *watched, unsigned seconds, int *status) {
    double start = now();
    for (long pause = 500000;; pause = pause < 10000000 ? pause * 2 : pause) {
        int raw;
        pid_t ended = waitpid(child, &raw, WNOHANG);
        if (ended == child) {
            *status = WIFEXITED(raw) ? WEXITSTATUS(raw) : -1;
            return WIFEXITED(raw) && *status != 127 ? API_PROCESS_DONE : API_PROCESS_FAILED;
        }
        if (ended < 0 && errno != EINTR)
            return API_PROCESS_FAILED;
        bool stop = asked_to_end(watched);
        if (stop || now() - start > seconds) {
            end_group(child);
            return stop ? API_PROCESS_STOPPED : API_PROCESS_LATE;
        }
        nanosleep(&(struct timespec){.tv_nsec = pause}, NULL);
    }
}

static api_process_end start(const running *run, const api_process *process, const sigset_t *watched,
                             int *status) {
    size_t size = strlen(run->folder) + sizeof "TMPDIR=";
    char *word = malloc(size), **environment = NULL;
    if (word) {
        snprintf(word, size, "TMPDIR=%s", run->folder);
        environment = environment_with(word);
    }
    pid_t child = environment ? fork() : -1;
    if (child == 0)
        become(run->folder, process->arguments, environment);
    if (child > 0)
        setpgid(child, child);
    api_process_end end = child > 0 ? wait_for(child, watched, process->seconds, status) : API_PROCESS_FAILED;
    free(environment);
    free(word);
    return end;
}

/* A signal that ends this process waits until the child and its files are gone. */
static api_process_end run_held(running *run, const api_process *process, int *status) {
    sigset_t watched;
    sigemptyset(&watched);
    sigaddset(&watched, SIGINT);
    sigaddset(&watched, SIGTERM);
    sigaddset(&watched, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &watched, &run->before);
    api_process_end end = API_PROCESS_FAILED;
    if (make_folder(run)) {
        if (write_file(run->folder, process->input_name, process->input, process->input_size))
            end = start(run, process, &watched, status);
        if (end == API_PROCESS_DONE) {
            run->log = read_file(run->folder, log_name, MOST_LOG_BYTES);
            run->output = *status ? (text_piece){.good = true}
                                  : read_file(run->folder, process->output_name, MOST_FILE_BYTES);
        }
        remove_folder(run->folder);
    }
    pthread_sigmask(SIG_SETMASK, &run->before, NULL);
    return end;
}

typedef struct keep_call {
    const running *run;
    base_builder *output, *log;
} keep_call;

static void keep(void *argument) {
    const keep_call *call = argument;
    base_builder_add(call->output, call->run->output.data ? call->run->output.data : "",
                     call->run->output.size);
    base_builder_add(call->log, call->run->log.data ? call->run->log.data : "", call->run->log.size);
}

api_process_end api_process_run(const api_process *process, int *status, base_builder *output,
                                base_builder *log) {
    running run = {0};
    *status = -1;
    api_process_end end = run_held(&run, process, status);
    if (end == API_PROCESS_DONE && (!run.output.good || !run.log.good))
        end = API_PROCESS_FAILED;
    /* under a run of its own, so that what is malloc's is freed when the arena's limit is reached */
    keep_call call = {&run, output, log};
    if (end == API_PROCESS_DONE && base_heap_run(base_arena_heap(output->arena), keep, &call) != BASE_DONE)
        end = API_PROCESS_FAILED;
    free(run.output.data);
    free(run.log.data);
    return end;
}
