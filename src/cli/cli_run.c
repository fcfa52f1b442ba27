/* SPDX-License-Identifier: Apache-2.0
 * tirc run: a kernel on the CPU, with files or generated arrays as arguments, and its results compared. */
#include "cli/cli_run.h"
#include "cli/cli_tensor.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const cli_option cli_run_options[] = {
    {"-D", "NAME=EXPR", "defines a free name of the script", true},
    {"-I", "FOLDER", "where files that the script imports are", true},
    {"--arg", "NAME=VALUE",
     "a .npy or .npz file, zeros, ones, arange, randn:SEED, rand:SEED, randint:LO:HI:SEED, number", true},
    {"--tensor-map", "NAME=TENSOR,KEY=VALUE,...",
     "a PTX parameter of 128 bytes: map of the tensor of parameter TENSOR. Keys: box, dims, strides (bytes), "
     "steps: lists "
     "as 64x16, innermost first; type, swizzle (none, 32, 64, 128, 128atom32, ...), interleave (none, 16, "
     "32), fill (zero, "
     "nan), l2, offset; for im2col lower, upper, channels, pixels; wide (w, w128): "
     "im2col::w",
     true},
    {"--out", "NAME=FILE", "writes the tensor after the run (.npy or .npz)", true},
    {"--expect", "NAME=FILE", "compares the tensor after the run with this array", true},
    {"--show", "NAME", "prints the tensor's first elements after the run", true},
    {"--rtol", "X", "relative tolerance of --expect; 0 when not given", false},
    {"--atol", "X", "absolute tolerance of --expect; 0 when not given", false},
    {"--grid", "X[,Y[,Z]]", "CTAs, where the kernel does not say, or instead of what it says", false},
    {"--block", "X[,Y[,Z]]", "threads of a CTA, likewise", false},
    {"--smem", "BYTES", "dynamic shared memory, likewise", false},
    {"--on", "vm|cuda", "where to run; vm, the CPU machine, when not given", false},
    {"--device", "N", "which GPU for --on cuda; 0 when not given", false},
    {"--via", "ptx|nvrtc",
     "with --on cuda: our PTX, or our CUDA text through NVIDIA's NVRTC; ptx when not given", false},
    {"--repeat", "N", "times N launches on the GPU and prints their median (results come from the first)",
     false},
    {"--warmup", "N", "launches before the timed ones; 3 when not given", false},
    {"--cluster", "X[,Y[,Z]]", "CTAs of a cluster, likewise", false},
    {"--cooperative", NULL,
     "all CTAs are there at once, for barriers of the grid; kernels with grid_sync ask for it", false},
    {"--programmatic", NULL, "with --on cuda: may start before the launch before it has ended", false},
    {"--priority", "N", "with --on cuda: which launches go first; lower numbers do", false},
    {"--carve-out", "PERCENT", "with --on cuda: how much of an SM's memory is to be shared memory", false},
    {"--schedule", "early|late[:KIND]|SEED|all",
     "when asynchronous work happens, and the order of warps; early when not given. all: every one, compared",
     false},
    {"--numerics", "hw|fp32|exact", "how matrix instructions add; hw when not given", false},
    {"--approx", "exact|h200",
     "approximate instructions (ex2.approx and so on): rounded once, or to the last bit as an H200 computes "
     "them; exact when not given",
     false},
    {"--sms", "N", "SMs of the machine; 148 when not given", false},
    {"--ctas-per-sm", "N", "CTAs that live on an SM at a time, at most; as many as fit when not given",
     false},
    {"--tmem-base", "early|COLUMN|random:SEED", "where tensor memory is allocated; early when not given",
     false},
    {"--tmem-lanes", "strict|release",
     "lane 0 of an address of tensor memory in other warps; strict when not given", false},
    {"--tmem-unpack", "zero|keep", "upper halves of cells after .unpack::16b; zero when not given", false},
    {"--check", NULL, "looks for races in shared memory and reads of memory that nothing wrote, too", false},
    {"--strict-ptx", NULL, "what hardware lets pass and PTX leaves open is an error too", false},
    {"--threads", "N", "worker threads; one per core when not given (the results are the same)", false},
    {"--steps", "N", "most warp instructions of the run; 10^12 when not given", false},
    {"--fp-contract", "on|off", "a * b + c as one rounding; on when not given", false},
    {"--skip", "PASS,...", "leave out optimise passes", false},
    {"--level", "LEVEL", "x86-64, x86-64-v3 or x86-64-v4 code of the machine; the best when not given",
     false},
    {"--stats", NULL, "what ran: CTAs, instructions, registers, shared and local memory, speed", false},
    {NULL, NULL, NULL, false},
};

static bool read_dimensions(const cli_arguments *arguments, const char *name, uint32_t *out) {
    const char *text = cli_value(arguments, name);
    if (!text)
        return true;
    int count = 0;
    for (const char *at = text;;) {
        char *end;
        unsigned long long value = strtoull(at, &end, 10);
        if (end == at || *at == '-' || value < 1 || value > UINT32_MAX || count == 3 ||
            (*end && *end != ',')) {
            cli_usage(arguments->command,
                      "`%s %s`: one to three numbers from 1 to 4294967295, with commas, are wanted", name,
                      text);
            return false;
        }
        out[count++] = (uint32_t)value;
        if (!*end)
            break;
        at = end + 1;
    }
    for (; count < 3; ++count)
        out[count] = 1;
    return true;
}

static bool read_tolerance(const cli_arguments *arguments, const char *name, double *out) {
    const char *text = cli_value(arguments, name);
    char *end;
    *out = 0;
    if (!text)
        return true;
    *out = strtod(text, &end);
    if (end != text && !*end && *out >= 0)
        return true;
    cli_usage(arguments->command, "`%s %s`: a number of at least 0 is wanted", name, text);
    return false;
}

/* ---- progress: a line on a terminal when a run takes more than two seconds ---- */
typedef struct progress_state {
    double start, shown;
    bool active;
} progress_state;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static bool show_progress(void *user, uint64_t done, uint64_t total) {
    progress_state *state = user;
    double time = now();
    if (time - state->start < 2 || time - state->shown < 0.2)
        return true;
    state->shown = time;
    state->active = true;
    fprintf(stderr, "\r%llu of %llu CTAs, %.0f s ", (unsigned long long)done, (unsigned long long)total,
            time - state->start);
    fflush(stderr);
    return true;
}

/* early, late, late:bulk, all, or a seed */
static bool read_schedule(const cli_arguments *arguments, tirc_launch *launch) {
    const char *text = cli_value(arguments, "--schedule");
    if (!text || !strcmp(text, "early"))
        return true;
    if (!strcmp(text, "all")) {
        if (launch->on_gpu) {
            cli_usage(arguments->command, "--schedule is for the CPU machine; it does not go with --on cuda");
            return false;
        }
        launch->schedule = TIRC_SCHEDULE_ALL;
        return true;
    }
    if (strncmp(text, "late", 4)) {
        launch->schedule = TIRC_SCHEDULE_RANDOM;
        return cli_number(arguments, "--schedule", 0, UINT64_MAX, &launch->seed);
    }
    launch->schedule = TIRC_SCHEDULE_LATE;
    if (!text[4])
        return true;
    const char *name;
    for (unsigned i = 0; text[4] == ':' && (name = tirc_async_name(i)) != NULL; ++i)
        if (!strcmp(text + 5, name)) {
            launch->late_classes = 1u << i;
            launch->seed = i;
            return true;
        }
    cli_usage(
        arguments->command,
        "`--schedule %s`: after late: one of copy, bulk, bulk-store, tensor, tmem-load, tmem-store, wgmma, "
        "remote is wanted",
        text);
    return false;
}

/* A switch of two words: *second tells whether the second was given. */
static bool read_switch(const cli_arguments *arguments, const char *name, const char *first,
                        const char *other, bool *second) {
    const char *text = cli_value(arguments, name);
    *second = text && !strcmp(text, other);
    if (!text || *second || !strcmp(text, first))
        return true;
    cli_usage(arguments->command, "`%s %s`: %s or %s is wanted", name, text, first, other);
    return false;
}

static bool read_machine(const cli_arguments *arguments, tirc_launch *launch) {
    const char *base = cli_value(arguments, "--tmem-base"), *numerics = cli_value(arguments, "--numerics");
    if (numerics && strcmp(numerics, "hw") && strcmp(numerics, "fp32") && strcmp(numerics, "exact")) {
        cli_usage(arguments->command, "`--numerics %s`: hw, fp32 or exact is wanted", numerics);
        return false;
    }
    bool h200;
    if (!read_switch(arguments, "--approx", "exact", "h200", &h200))
        return false;
    launch->approximations = h200 ? TIRC_APPROXIMATE_H200 : TIRC_APPROXIMATE_NEARLY;
    if (!read_switch(arguments, "--tmem-lanes", "strict", "release", &launch->tmem_lanes_release) ||
        !read_switch(arguments, "--tmem-unpack", "zero", "keep", &launch->tmem_unpack_preserves))
        return false;
    if (numerics)
        launch->numerics = *numerics == 'h'   ? TIRC_NUMERICS_HW
                           : *numerics == 'f' ? TIRC_NUMERICS_FP32
                                              : TIRC_NUMERICS_EXACT;
    uint64_t sms = 0, per_sm = 0;
    if (!cli_number(arguments, "--sms", 1, 100000, &sms) ||
        !cli_number(arguments, "--ctas-per-sm", 1, 32, &per_sm))
        return false;
    launch->sms = (uint32_t)sms;
    launch->ctas_per_sm = (uint32_t)per_sm;
    if (!base || !strcmp(base, "early"))
        return true;
    bool random = !strncmp(base, "random:", 7);
    const char *digits = random ? base + 7 : base;
    char *end;
    unsigned long long value = strtoull(digits, &end, 10);
    if (*digits < '0' || *digits > '9' || *end || (!random && (value > 480 || value % 32))) {
        cli_usage(arguments->command,
                  "`--tmem-base %s`: early, a multiple of 32 from 0 to 480, or random:SEED is wanted", base);
        return false;
    }
    if (random)
        launch->tmem_random = value + 1;
    else
        launch->tmem_base = (uint32_t)value;
    return true;
}

static bool read_gpu_launch(const cli_arguments *arguments, tirc_launch *launch) {
    const char *priority = cli_value(arguments, "--priority");
    uint64_t carveout = 0;
    char *end;
    launch->strict_ptx = cli_flag(arguments, "--strict-ptx");
    launch->tools = cli_flag(arguments, "--check") ? TIRC_TOOL_ALL : 0;
    if (launch->tools && launch->on_gpu) {
        cli_usage(arguments->command, "--check is for the CPU machine; it does not go with --on cuda");
        return false;
    }
    launch->cooperative = cli_flag(arguments, "--cooperative");
    launch->programmatic = cli_flag(arguments, "--programmatic");
    launch->has_carveout = cli_value(arguments, "--carve-out") != NULL;
    if (!cli_number(arguments, "--carve-out", 0, 100, &carveout))
        return false;
    launch->carveout = (int32_t)carveout;
    if (priority) {
        long value = strtol(priority, &end, 10);
        if (end == priority || *end || value < -1000 || value > 1000) {
            cli_usage(arguments->command, "`--priority %s`: a whole number from -1000 to 1000 is wanted",
                      priority);
            return false;
        }
        launch->has_priority = true;
        launch->priority = (int32_t)value;
    }
    if (!read_switch(arguments, "--via", "ptx", "nvrtc", &launch->via_nvrtc))
        return false;
    if (launch->via_nvrtc && !launch->on_gpu) {
        cli_usage(arguments->command, "--via goes with --on cuda");
        return false;
    }
    if (launch->on_gpu || !(launch->programmatic || priority || launch->has_carveout))
        return true;
    cli_usage(arguments->command, "--programmatic, --priority and --carve-out go with --on cuda");
    return false;
}

static bool read_launch(const cli_arguments *arguments, tirc_launch *launch) {
    const char *contract = cli_value(arguments, "--fp-contract");
    const char *on = cli_value(arguments, "--on");
    uint64_t threads = 0, device = 0, repeat = 0, warm_up = 3;
    if (!read_dimensions(arguments, "--grid", launch->grid) ||
        !read_dimensions(arguments, "--block", launch->block) ||
        !read_dimensions(arguments, "--cluster", launch->cluster) ||
        !cli_number(arguments, "--smem", 0, UINT32_MAX, &launch->dynamic_shared_bytes) ||
        !cli_number(arguments, "--steps", 1, UINT64_MAX, &launch->step_limit) ||
        !cli_number(arguments, "--threads", 1, 1024, &threads) ||
        !cli_number(arguments, "--device", 0, 1023, &device) ||
        !cli_number(arguments, "--repeat", 1, 100000, &repeat) ||
        !cli_number(arguments, "--warmup", 0, 100000, &warm_up))
        return false;
    launch->on_gpu = on && !strcmp(on, "cuda");
    launch->gpu_index = (uint32_t)device;
    launch->repeat = (uint32_t)repeat;
    launch->warm_up = (uint32_t)warm_up;
    if (!launch->on_gpu && (repeat || cli_value(arguments, "--device") || cli_value(arguments, "--warmup"))) {
        cli_usage(arguments->command, "--repeat, --warmup and --device go with --on cuda");
        return false;
    }
    if (!read_gpu_launch(arguments, launch))
        return false;
    launch->threads = (uint32_t)threads;
    launch->skip = cli_value(arguments, "--skip");
    launch->level = cli_value(arguments, "--level");
    if (contract && strcmp(contract, "on") && strcmp(contract, "off")) {
        cli_usage(arguments->command, "`--fp-contract %s`: on or off is wanted", contract);
        return false;
    }
    launch->no_contract = contract && !strcmp(contract, "off");
    return read_schedule(arguments, launch) && read_machine(arguments, launch);
}

static void print_gpu_statistics(const tirc_statistics *s) {
    fprintf(stderr, "%s: %llu CTAs", s->gpu, (unsigned long long)s->ctas);
    if (s->launches)
        fprintf(stderr, ", median of %u launches %.3f us (%.3f to %.3f)", s->launches, 1e6 * s->seconds,
                1e6 * s->seconds_least, 1e6 * s->seconds_most);
    fprintf(stderr,
            "\nregisters: %u a thread; shared memory: %llu bytes static, %llu dynamic; local: %llu bytes\n",
            s->gpu_registers, (unsigned long long)s->static_shared_bytes,
            (unsigned long long)s->dynamic_shared_bytes, (unsigned long long)s->local_bytes);
}

static void print_statistics(const tirc_report *report) {
    tirc_statistics s;
    tirc_report_statistics(report, &s);
    if (s.gpu) {
        print_gpu_statistics(&s);
        (void)tirc_report_memory(report, tirc_sink_file, stderr);
        return;
    }
    fprintf(stderr, "%llu CTAs, %llu warp instructions in %.3f ms on %u threads (%s)\n",
            (unsigned long long)s.ctas, (unsigned long long)s.warp_instructions, 1e3 * s.seconds, s.threads,
            s.level ? s.level : "?");
    fprintf(stderr,
            "registers: %u virtual, %u allocated rows; shared memory: %llu bytes static, %llu dynamic; "
            "local: %llu bytes\n",
            s.virtual_registers, s.allocated_rows, (unsigned long long)s.static_shared_bytes,
            (unsigned long long)s.dynamic_shared_bytes, (unsigned long long)s.local_bytes);
    (void)tirc_report_memory(report, tirc_sink_file, stderr);
    tirc_local local;
    for (size_t i = 0; tirc_report_local(report, i, &local); ++i)
        fprintf(stderr, "local `%s` is in %s: %s\n", local.name,
                local.in_registers ? "registers" : ".local memory", local.reason);
}

/* The kernel that is to be launched behind this one, or NULL. */
static const tirc_kernel *next_region(const cli_input *input, const tirc_kernel *kernel) {
    size_t count = tirc_kernel_count(input->module), at = 0;
    while (at < count && tirc_kernel_at(input->module, at) != kernel)
        ++at;
    const tirc_kernel *next = at + 1 < count ? tirc_kernel_at(input->module, at + 1) : NULL;
    return next && next->follows ? next : NULL;
}

static tirc_status run_loaded(const cli_arguments *arguments, cli_input *input, const cli_run_more *more) {
    cli_tensors tensors;
    tirc_launch launch = {.size = sizeof launch, .print = tirc_sink_file, .print_user = stdout};
    double rtol, atol;
    if (!read_launch(arguments, &launch) || !read_tolerance(arguments, "--rtol", &rtol) ||
        !read_tolerance(arguments, "--atol", &atol))
        return TIRC_USAGE;
    tirc_status status = cli_tensors_prepare(arguments, input, &tensors);
    tirc_report *report = NULL;
    if (status == TIRC_OK) {
        progress_state state = {.start = now()};
        if (isatty(STDERR_FILENO)) {
            launch.progress = show_progress;
            launch.progress_user = &state;
        }
        launch.kernel = tensors.kernel->name;
        launch.arguments = tensors.arguments;
        launch.argument_count = tensors.argument_count;
        if (more)
            more->prepare(&launch);
        status = tirc_run(input->module, &launch, &report);
        if (state.active)
            fputs("\r\033[K", stderr);
        fflush(stdout);
    }
    if (report && (cli_flag(arguments, "--stats") || launch.repeat))
        print_statistics(report);
    if (report && more && !more->answer(arguments, report))
        status = TIRC_ERROR;
    const tirc_kernel *kernel = report ? tensors.kernel : NULL;
    while ((status == TIRC_OK || status == TIRC_FINDINGS) && kernel &&
           (kernel = next_region(input, kernel))) {
        launch.kernel = kernel->name;
        tirc_status next = tirc_run(input->module, &launch, &report);
        fflush(stdout);
        status = next == TIRC_OK ? status : next;
        if (report && (cli_flag(arguments, "--stats") || launch.repeat))
            print_statistics(report);
    }
    if (report && (status == TIRC_OK || status == TIRC_FINDINGS)) {
        tirc_status results = cli_tensors_results(input, &tensors, rtol, atol);
        if (status == TIRC_OK)
            status = results;
    }
    cli_tensors_free(&tensors);
    return status;
}

int cli_run_with(const cli_arguments *arguments, const cli_run_more *more) {
    const char *on = cli_value(arguments, "--on");
    cli_input input = {0};
    if (on && strcmp(on, "vm") && strcmp(on, "cuda"))
        return cli_usage(arguments->command, "`--on %s`: vm or cuda is wanted", on);
    tirc_status status = cli_load(arguments, &input);
    if (status == TIRC_OK)
        status = run_loaded(arguments, &input, more);
    return cli_finish(arguments, &input, status);
}

static const cli_option own_options[] = {
    {"--tmem-map", "FILE",
     "a picture (.svg, - for standard output) of who owns which columns of tensor memory, over the run",
     false},
    {NULL, NULL, NULL, false},
};

static void prepare_map(tirc_launch *launch) {
    launch->tmem_history = true;
}

static bool write_map(const cli_arguments *arguments, const tirc_report *report) {
    cli_output output = {.path = cli_value(arguments, "--tmem-map")};
    if (tirc_report_tmem(report, TIRC_TMEM_SVG, cli_output_sink, &output) == TIRC_OK)
        return cli_output_close(&output);
    fputs("tirc: out of memory\n", stderr);
    return false;
}

static int run(const cli_arguments *arguments) {
    static const cli_run_more map = {prepare_map, write_map};
    const char *on = cli_value(arguments, "--on");
    if (!cli_value(arguments, "--tmem-map"))
        return cli_run_with(arguments, NULL);
    if (on && strcmp(on, "vm"))
        return cli_usage("run", "`--tmem-map` draws what the CPU machine saw; leave `--on %s` out", on);
    return cli_run_with(arguments, &map);
}

const cli_command cli_run_command = {
    .name = "run",
    .words = "FILE[:ENTRY]",
    .summary = "runs a kernel of a script, IR text or PTX file on the CPU",
    .options = own_options,
    .more = cli_run_options,
    .least = 1,
    .most = 1,
    .run = run,
    .examples =
        "  tirc run scale.py -D N=1024 --arg A=a.npy --out B=b.npy\n"
        "  tirc run scale.py -D N=1024 --arg A=randn:7 --expect B=ref.npy --rtol 1e-6\n"
        "  tirc run kernel.ptx --grid 4 --block 256 --arg 0=a.npy --arg 1=zeros@float32:1024 --show 1\n"};
