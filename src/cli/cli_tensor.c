/* SPDX-License-Identifier: Apache-2.0
 * Arguments of tirc run: which parameter gets which array, and what becomes of it afterwards. */
#include "cli/cli_tensor.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static tirc_status fail(cli_input *input, const char *code, const char *help, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    tirc_diagnostic_add(input->session, true, code, text, help);
    return TIRC_ERROR;
}

/* ---- which kernel, which parameter ---- */
static tirc_status choose_kernel(cli_input *input, cli_tensors *tensors) {
    size_t count = tirc_kernel_count(input->module), size = strlen(input->path), firsts = 0;
    const tirc_kernel *only = NULL;
    bool is_ptx = size > 4 && !strcmp(input->path + size - 4, ".ptx");
    for (size_t i = 0; i < count; ++i) {
        const tirc_kernel *kernel = tirc_kernel_at(input->module, i);
        firsts += !kernel->follows;
        if (firsts == 1 && !kernel->follows)
            only = kernel;
        if (count == 1 || (input->entry && !strcmp(kernel->name, input->entry)))
            tensors->kernel = kernel;
    }
    if (!tensors->kernel && firsts == 1) /* and what is launched behind it */
        tensors->kernel = only;
    /* a script has left only what the entry gives: the kernel of a factory has a name of its own */
    if (tensors->kernel && (!input->entry || !is_ptx || !strcmp(tensors->kernel->name, input->entry)))
        return TIRC_OK;
    char names[512] = "";
    for (size_t i = 0; i < count && strlen(names) + 80 < sizeof names; ++i)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s`%.60s`", i ? ", " : "it has ",
                 tirc_kernel_at(input->module, i)->name);
    if (!count)
        return fail(input, "T0801", NULL, "%s has no kernel", input->path);
    return fail(input, "T0801", names,
                input->entry ? "%s has no kernel `%s`" : "%s has several kernels; FILE:NAME says which",
                input->path, input->entry);
}

static cli_tensor *find_parameter(cli_tensors *tensors, const char *name) {
    const tirc_kernel *kernel = tensors->kernel;
    for (size_t i = 0; i < kernel->parameter_count; ++i)
        if (!strcmp(kernel->parameters[i].name, name))
            return &tensors->list[i];
    char *end;
    unsigned long number = strtoul(name, &end, 10);
    if (*name >= '0' && *name <= '9' && !*end && number < kernel->parameter_count)
        return &tensors->list[number];
    return NULL;
}

static tirc_status unknown_parameter(cli_input *input, const cli_tensors *tensors, const char *name) {
    char names[512] = "it has no parameters";
    for (size_t i = 0; i < tensors->kernel->parameter_count && strlen(names) + 80 < sizeof names; ++i)
        snprintf(i ? names + strlen(names) : names, sizeof names - (i ? strlen(names) : 0), "%s`%.60s`",
                 i ? ", " : "its parameters are ", tensors->kernel->parameters[i].name);
    return fail(input, "T0803", names, "`%s` has no parameter `%s`", tensors->kernel->name, name);
}

/* Reads the NAME=VALUE options of one kind into the field at this place of cli_tensor. */
static tirc_status collect(const cli_arguments *arguments, cli_input *input, cli_tensors *tensors,
                           const char *option, size_t field) {
    tirc_status status = TIRC_OK;
    const char *text;
    for (size_t i = 0; (text = cli_value_at(arguments, option, i)); ++i) {
        const char *equals = strchr(text, '=');
        char name[256];
        if (!equals || equals == text || !equals[1] || (size_t)(equals - text) >= sizeof name) {
            cli_usage("run", "`%s %s`: NAME=VALUE is wanted", option, text);
            return TIRC_USAGE;
        }
        snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
        cli_tensor *tensor = find_parameter(tensors, name);
        if (!tensor) {
            status = unknown_parameter(input, tensors, name);
            continue;
        }
        const char **place = (const char **)(void *)((char *)tensor + field);
        if (*place)
            status = fail(input, "T0804", NULL, "%s for `%s` is given twice", option, name);
        *place = equals + 1;
    }
    return status;
}

static tirc_status collect_show(const cli_arguments *arguments, cli_input *input, cli_tensors *tensors) {
    tirc_status status = TIRC_OK;
    const char *name;
    for (size_t i = 0; (name = cli_value_at(arguments, "--show", i)); ++i) {
        cli_tensor *tensor = find_parameter(tensors, name);
        if (tensor)
            tensor->show = true;
        else
            status = unknown_parameter(input, tensors, name);
    }
    return status;
}

/* ---- values ---- */
static bool is_file(const char *value) {
    size_t size = strlen(value);
    return strstr(value, ".npz:") ||
           (size > 4 && (!strcmp(value + size - 4, ".npy") || !strcmp(value + size - 4, ".npz")));
}

/* "randn:7@float32:64,32": generator, dtype and shape; each part after @ may be missing. */
typedef struct value_parts {
    char generator[128], dtype[32];
    uint32_t rank;
    int64_t shape[TIRC_RANK_MAX];
    bool has_shape;
} value_parts;

static bool split_value(const char *value, value_parts *out) {
    memset(out, 0, sizeof *out);
    const char *at = strchr(value, '@');
    size_t size = at ? (size_t)(at - value) : strlen(value);
    if (size >= sizeof out->generator)
        return false;
    memcpy(out->generator, value, size);
    if (!at)
        return true;
    ++at;
    if (*at < '0' || *at > '9') {
        size = strcspn(at, ":");
        if (size >= sizeof out->dtype)
            return false;
        memcpy(out->dtype, at, size);
        at += size;
        if (!*at)
            return true;
        ++at;
    }
    out->has_shape = true;
    while (*at) {
        char *end;
        errno = 0;
        long long extent = strtoll(at, &end, 10);
        if (end == at || errno || extent < 0 || out->rank == TIRC_RANK_MAX || (*end && *end != ','))
            return false;
        out->shape[out->rank++] = extent;
        at = *end ? end + 1 : end;
    }
    return out->rank > 0;
}

/* A parameter that is a pointer, to what nothing says: an array of any type and shape. */
static bool is_pointer(const tirc_parameter *parameter) {
    return parameter->dtype && !strcmp(parameter->dtype, "handle");
}

static tirc_status make_tensor(cli_input *input, cli_tensor *tensor, const char *value) {
    const tirc_parameter *parameter = tensor->parameter;
    value_parts parts;
    if (!split_value(value, &parts))
        return fail(input, "T0815", "see tirc explain T0815", "`%s` for `%s` is not understood", value,
                    parameter->name);
    const char *dtype = parameter->dtype && !is_pointer(parameter) ? parameter->dtype : parts.dtype;
    const int64_t *shape = parts.has_shape ? parts.shape : parameter->shape;
    uint32_t rank = parts.has_shape ? parts.rank : parameter->rank;
    if (!parts.has_shape && tensor->expected.data) {
        shape = tensor->expected.shape;
        rank = tensor->expected.rank;
    }
    for (uint32_t d = 0; d < rank; ++d)
        if (shape[d] < 0)
            return fail(input, "T0806", "add the shape, as in zeros@64,32",
                        "the shape of `%s` is open: `%s` needs one", parameter->name, value);
    return tirc_array_make(input->session, parts.generator, dtype, rank, shape, &tensor->array);
}

static tirc_status put_scalar(cli_input *input, cli_tensor *tensor, const char *dtype, const char *text) {
    tirc_dtype type;
    char *end;
    if (!tirc_dtype_find(dtype, &type))
        return fail(input, "T0815", NULL, "`%s` is not a dtype", dtype);
    uint64_t bits;
    errno = 0;
    if (type.kind == 'f') {
        bits = tirc_dtype_encode(dtype, strtod(text, &end));
    } else if (type.kind == 'b' && (!strcmp(text, "True") || !strcmp(text, "true"))) {
        bits = 1;
        end = strchr(text, 0);
    } else {
        bits = *text == '-' ? (uint64_t)strtoll(text, &end, 0) : strtoull(text, &end, 0);
        uint32_t width = type.bits;
        bool fits =
            width == 64 || (*text == '-' ? (int64_t)bits >= -(INT64_C(1) << (width - 1)) && type.kind == 'i'
                                         : bits >> (type.kind == 'i' ? width - 1 : width) == 0);
        if (errno || (!fits && !*end))
            return fail(input, "T0811", NULL, "`%s` for `%s` does not fit %s", text, tensor->parameter->name,
                        dtype);
    }
    if (end == text || *end)
        return fail(input, "T0815", NULL, "`%s` for scalar `%s` is not a %s number", text,
                    tensor->parameter->name, dtype);
    tensor->is_scalar = true;
    memcpy(tensor->scalar, &bits, sizeof bits);
    return TIRC_OK;
}

/* PTX parameters have no type: files and generators with a shape are buffers, the rest are scalars. */
static tirc_status prepare_untyped(cli_input *input, cli_tensor *tensor) {
    value_parts parts;
    if (is_file(tensor->value))
        return tirc_array_read(input->session, tensor->value, NULL, 0, NULL, &tensor->array);
    if (!split_value(tensor->value, &parts))
        return fail(input, "T0815", "see tirc explain T0815", "`%s` for `%s` is not understood",
                    tensor->value, tensor->parameter->name);
    if (parts.has_shape && parts.dtype[0])
        return make_tensor(input, tensor, tensor->value);
    if (is_pointer(tensor->parameter))
        return fail(input, "T0806", "add both, as in zeros@float32:64,32",
                    "`%s` is a pointer: `%s` needs an element type and a shape", tensor->parameter->name,
                    tensor->value);
    const char *dtype = parts.dtype;
    if (!*dtype)
        dtype = strpbrk(parts.generator, ".eEnN") && strncmp(parts.generator, "0x", 2)
                    ? (tensor->parameter->bytes == 8 ? "float64" : "float32")
                    : (tensor->parameter->bytes == 8   ? "int64"
                       : tensor->parameter->bytes == 2 ? "int16"
                                                       : "int32");
    return put_scalar(input, tensor, dtype, parts.generator);
}

static tirc_status prepare_one(cli_input *input, cli_tensor *tensor) {
    const tirc_parameter *parameter = tensor->parameter;
    tirc_status status = TIRC_OK;
    if (tensor->expect && is_file(tensor->expect))
        status = tirc_array_read(input->session, tensor->expect, parameter->dtype, parameter->rank,
                                 parameter->shape, &tensor->expected);
    else if (tensor->expect)
        status = make_tensor(input, tensor, tensor->expect), tensor->expected = tensor->array;
    if (status != TIRC_OK)
        return status;
    const char *value = tensor->value;
    if (!value && (tensor->out || tensor->expect || tensor->show) && parameter->is_tensor)
        value = "zeros";
    if (!value)
        return TIRC_OK; /* the library says what is missing */
    tensor->filled = true;
    if (!parameter->dtype || is_pointer(parameter))
        return prepare_untyped(input, tensor);
    if (!parameter->is_tensor)
        return put_scalar(input, tensor, parameter->dtype, value);
    if (is_file(value))
        return tirc_array_read(input->session, value, parameter->dtype, parameter->rank, parameter->shape,
                               &tensor->array);
    return make_tensor(input, tensor, value);
}

/* Maps describe tensors, so they come when those have their arrays. */
static tirc_status prepare_map(cli_input *input, cli_tensors *tensors, cli_tensor *tensor) {
    const char *name = tensor->parameter->name;
    if (tensor->value)
        return fail(input, "T0804", NULL, "`%s` is given by --arg and by --tensor-map", name);
    tirc_status status = cli_map_parse(input, name, tensor->map, &tensor->described);
    if (status != TIRC_OK)
        return status;
    const cli_tensor *of = find_parameter(tensors, tensor->described.tensor);
    if (!of)
        return unknown_parameter(input, tensors, tensor->described.tensor);
    tensor->filled = true;
    return cli_map_complete(input, name, &of->array, &tensor->described);
}

static void add_argument(cli_tensors *tensors, const cli_tensor *tensor) {
    tirc_argument *to = &tensors->arguments[tensors->argument_count++];
    to->name = tensor->parameter->name;
    to->is_scalar = tensor->is_scalar;
    if (tensor->map) {
        to->tensor_map = &tensor->described.map;
        to->tensor = tensor->described.tensor;
        return;
    }
    if (tensor->is_scalar) {
        to->data = (void *)(uintptr_t)tensor->scalar;
        to->bytes = tensor->parameter->bytes;
        return;
    }
    to->data = tensor->array.data;
    to->dtype = tensor->parameter->dtype && !is_pointer(tensor->parameter) ? tensor->array.dtype : NULL;
    to->rank = tensor->array.rank;
    to->shape = tensor->array.shape;
    to->bytes = tensor->array.bytes;
}

tirc_status cli_tensors_prepare(const cli_arguments *arguments, cli_input *input, cli_tensors *tensors) {
    *tensors = (cli_tensors){0};
    tirc_status status = choose_kernel(input, tensors);
    if (status != TIRC_OK)
        return status;
    size_t count = tensors->kernel->parameter_count;
    tensors->list = calloc(count + 1, sizeof *tensors->list);
    tensors->arguments = calloc(count + 1, sizeof *tensors->arguments);
    if (!tensors->list || !tensors->arguments)
        return TIRC_NO_MEMORY;
    for (size_t i = 0; i < count; ++i)
        tensors->list[i].parameter = &tensors->kernel->parameters[i];
    static const struct {
        const char *option;
        size_t field;
    } kinds[] = {{"--arg", offsetof(cli_tensor, value)},
                 {"--out", offsetof(cli_tensor, out)},
                 {"--expect", offsetof(cli_tensor, expect)},
                 {"--tensor-map", offsetof(cli_tensor, map)}};
    for (size_t i = 0; i < 4; ++i) {
        tirc_status one = collect(arguments, input, tensors, kinds[i].option, kinds[i].field);
        status = one == TIRC_OK ? status : one;
    }
    tirc_status shown = collect_show(arguments, input, tensors);
    status = shown == TIRC_OK ? status : shown;
    for (size_t i = 0; i < count; ++i) {
        tirc_status one = prepare_one(input, &tensors->list[i]);
        status = one == TIRC_OK ? status : one;
    }
    for (size_t i = 0; i < count; ++i) {
        tirc_status one = tensors->list[i].map ? prepare_map(input, tensors, &tensors->list[i]) : TIRC_OK;
        status = one == TIRC_OK ? status : one;
        if (one == TIRC_OK && tensors->list[i].filled)
            add_argument(tensors, &tensors->list[i]);
    }
    return status;
}

/* ---- results ---- */
static void print_coordinate(char *out, size_t size, const tirc_array *array, uint64_t flat) {
    uint64_t coordinate[TIRC_RANK_MAX];
    for (uint32_t d = array->rank; d-- > 0;) {
        coordinate[d] = flat % (uint64_t)array->shape[d];
        flat /= (uint64_t)array->shape[d];
    }
    size_t at = (size_t)snprintf(out, size, "[");
    for (uint32_t d = 0; d < array->rank && at < size; ++d)
        at += (size_t)snprintf(out + at, size - at, "%s%" PRIu64, d ? ", " : "", coordinate[d]);
    if (at < size)
        snprintf(out + at, size - at, "]");
}

static tirc_status compare(cli_input *input, const cli_tensor *tensor, double rtol, double atol) {
    tirc_comparison c;
    const char *name = tensor->parameter->name;
    tirc_status status =
        tirc_array_compare(input->session, &tensor->array, &tensor->expected, rtol, atol, &c);
    if (status != TIRC_OK)
        return status;
    if (!c.different) {
        if (c.max_absolute > 0)
            fprintf(stderr,
                    "%s: %" PRIu64 " elements agree with %s; largest difference %.3g (relative %.3g)\n", name,
                    c.count, tensor->expect, c.max_absolute, c.max_relative);
        else
            fprintf(stderr, "%s: %" PRIu64 " elements equal %s\n", name, c.count, tensor->expect);
        return TIRC_OK;
    }
    char first[256], worst[256], help[256];
    print_coordinate(first, sizeof first, &tensor->array, c.first);
    print_coordinate(worst, sizeof worst, &tensor->array, c.worst);
    snprintf(help, sizeof help, "--rtol and --atol allow a difference; the largest relative one is %.3g",
             c.max_relative);
    fail(input, "T0821", help,
         "%s differs from %s in %" PRIu64 " of %" PRIu64
         " elements: first %s%s is %.9g, expected %.9g; worst %s%s is "
         "%.9g, expected %.9g (difference %.3g)",
         name, tensor->expect, c.different, c.count, name, first, c.first_actual, c.first_expected, name,
         worst, c.worst_actual, c.worst_expected, c.max_absolute);
    return TIRC_FINDINGS;
}

static void show(const cli_tensor *tensor) {
    uint64_t shown = tensor->array.count < 16 ? tensor->array.count : 16;
    printf("%s = %s[", tensor->parameter->name, tensor->array.dtype);
    for (uint32_t d = 0; d < tensor->array.rank; ++d)
        printf("%s%" PRId64, d ? ", " : "", tensor->array.shape[d]);
    printf("]:");
    for (uint64_t i = 0; i < shown; ++i)
        printf(" %.9g", tirc_array_value(&tensor->array, i));
    puts(shown < tensor->array.count ? " ..." : "");
}

tirc_status cli_tensors_results(cli_input *input, cli_tensors *tensors, double rtol, double atol) {
    tirc_status status = TIRC_OK;
    for (size_t i = 0; i < tensors->kernel->parameter_count; ++i) {
        cli_tensor *tensor = &tensors->list[i];
        tirc_status one = TIRC_OK;
        if (!tensor->array.dtype)
            continue;
        if (tensor->show)
            show(tensor);
        if (tensor->out)
            one = tirc_array_write(input->session, tensor->out, &tensor->array);
        status = status == TIRC_OK ? one : status;
        if (tensor->expect)
            one = compare(input, tensor, rtol, atol);
        status = status == TIRC_OK ? one : status;
    }
    return status;
}

void cli_tensors_free(cli_tensors *tensors) {
    free(tensors->list);
    free(tensors->arguments);
}
