/* SPDX-License-Identifier: Apache-2.0
 * tirc build and tirc check: text out of a kernel, or only its diagnostics. */
#include "cli/cli.h"
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const cli_option build_options[] = {
    {"--emit", "KIND",
     "cuda, cuda-host, ptx, cubin, tir, flat, ast, plan, plan-json or plan-svg; cuda when not given", false},
    {"-o", "FILE", "where to write; standard output when not given", false},
    {"-D", "NAME=EXPR", "defines a free name of the script", true},
    {"-I", "FOLDER", "where files that the script imports are", true},
    {"-arch", "SM", "target; when not given sm_90a, or sm_100a or sm_107a where an instruction needs it",
     false},
    {"--lines", NULL, "line information: #line in CUDA, .loc in PTX", false},
    {"--sorted-parameters", NULL,
     "kernel parameters in the reference's order: tensors, then scalars, by name", false},
    {"--fp-contract", "on|off", "a * b + c as one rounding in PTX; on when not given", false},
    {"--skip", "PASS,...", "leave out optimise passes", false},
    {"--dump-after", "PASS", "write the IR after this pass instead (all: after every pass)", false},
    {"--list-passes", NULL, "list the passes in their order", false},
    {NULL, NULL, NULL, false},
};

static const struct {
    const char *name;
    int format; /* tirc_emit_format; -1 ast, -2 cubin */
} kinds[] = {{"cuda", TIRC_EMIT_CUDA},
             {"cuda-host", TIRC_EMIT_CUDA_HOST},
             {"ptx", TIRC_EMIT_PTX},
             {"cubin", -2},
             {"tir", TIRC_EMIT_IR},
             {"flat", TIRC_EMIT_FLAT},
             {"ast", -1},
             {"plan", TIRC_EMIT_PLAN},
             {"plan-json", TIRC_EMIT_PLAN_JSON},
             {"plan-svg", TIRC_EMIT_PLAN_SVG}};

static bool known_kind(const char *name, int *format) {
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; ++i)
        if (!strcmp(kinds[i].name, name)) {
            *format = kinds[i].format;
            return true;
        }
    return false;
}

static void list_passes(void) {
    const char *summary, *name;
    for (size_t i = 0; (name = tirc_pass_at(i, &summary)); ++i)
        printf("%-32s %s\n", name, summary);
}

/* ptxas reads and writes files; both are temporary until the cubin is whole. */
static const char *target_of(const cli_output *ptx) {
    static const char *const targets[] = {".target sm_100a", ".target sm_107a"};
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
        if (memmem(ptx->data, ptx->size, targets[i], strlen(targets[i])))
            return targets[i] + strlen(".target ");
    return "sm_90a";
}

static tirc_status assemble(tirc_session *session, const cli_output *ptx, const char *target,
                            const char *path) {
    char *tool = cli_find_tool("ptxas");
    if (!tool) {
        tirc_diagnostic_add(session, true, "T0902", "ptxas is needed for --emit cubin and was not found",
                            "install the CUDA toolkit, or set TIRC_NVCC to its nvcc");
        return TIRC_INCOMPLETE;
    }
    char source[4096], object[4096];
    snprintf(source, sizeof source, "%s.%ld.ptx", path, (long)getpid());
    snprintf(object, sizeof object, "%s.%ld.tmp", path, (long)getpid());
    FILE *file = fopen(source, "wb");
    bool good = file && fwrite(ptx->data, 1, ptx->size, file) == ptx->size;
    if (file && fclose(file))
        good = false;
    int status = 1;
    if (good) {
        char arch[64];
        snprintf(arch, sizeof arch, "-arch=%s", target);
        pid_t child = fork();
        if (child == 0) {
            execl(tool, "ptxas", arch, source, "-o", object, (char *)NULL);
            _exit(127);
        }
        good = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status);
    }
    remove(source);
    free(tool);
    if (good && !rename(object, path))
        return TIRC_OK;
    remove(object);
    tirc_diagnostic_add(session, true, "T0904", "ptxas did not make a cubin", NULL);
    return TIRC_ERROR;
}

static tirc_status emit_ast(const cli_arguments *arguments, cli_input *input, cli_output *output) {
    tirc_status status = cli_read(arguments, input);
    if (status != TIRC_OK)
        return status;
    tirc_source source;
    cli_source(input, &source);
    return tirc_dump_script(input->session, &source, cli_output_sink, output);
}

static int build(const cli_arguments *arguments) {
    const char *emit = cli_value(arguments, "--emit"), *contract = cli_value(arguments, "--fp-contract");
    const char *target = cli_value(arguments, "-arch"), *path = cli_value(arguments, "-o");
    int format;
    if (cli_flag(arguments, "--list-passes")) {
        list_passes();
        return CLI_CLEAN;
    }
    if (!arguments->word_count)
        return cli_usage("build", "wanted: tirc build FILE[:ENTRY]");
    if (!known_kind(emit ? emit : "cuda", &format))
        return cli_usage(
            "build",
            "`--emit %s`: cuda, cuda-host, ptx, cubin, tir, flat, ast, plan, plan-json or plan-svg is wanted",
            emit);
    if (contract && strcmp(contract, "on") && strcmp(contract, "off"))
        return cli_usage("build", "`--fp-contract %s`: on or off is wanted", contract);
    if (format == -2 && (!path || !strcmp(path, "-")))
        return cli_usage("build", "--emit cubin needs -o FILE");
    cli_input input;
    cli_output output = {.path = path};
    tirc_status status;
    if (format == -1) {
        status = emit_ast(arguments, &input, &output);
    } else {
        tirc_emit_options options = {.size = sizeof options,
                                     .target = target,
                                     .no_contract = contract && !strcmp(contract, "off"),
                                     .sorted_parameters = cli_flag(arguments, "--sorted-parameters"),
                                     .lines = cli_flag(arguments, "--lines"),
                                     .skip = cli_value(arguments, "--skip"),
                                     .dump_after = cli_value(arguments, "--dump-after")};
        status = cli_load(arguments, &input);
        if (status == TIRC_OK)
            status = tirc_emit(input.module, format == -2 ? TIRC_EMIT_PTX : (tirc_emit_format)format,
                               &options, cli_output_sink, &output);
        if (status == TIRC_OK && format == -2) {
            status = assemble(input.session, &output, target ? target : target_of(&output), path);
            free(output.data);
            return cli_finish(arguments, &input, status);
        }
    }
    if (status == TIRC_OK && !cli_output_close(&output))
        status = TIRC_ERROR;
    free(output.data);
    return cli_finish(arguments, &input, status);
}

const cli_command cli_build_command = {
    .name = "build",
    .words = "FILE[:ENTRY]",
    .summary = "CUDA C++, PTX, IR, syntax tree or launch plan of a script, IR text or PTX file",
    .options = build_options,
    .least = 0,
    .most = 1,
    .run = build,
    .examples = "  tirc build scale.py -D N=1024                    CUDA C++ to standard output\n"
                "  tirc build scale.py --emit ptx -o scale.ptx      PTX to a file\n"
                "  tirc build scale.py --emit plan                  parameters, grid, shared memory\n"};
