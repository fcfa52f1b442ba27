/* SPDX-License-Identifier: Apache-2.0
 * Arguments by name to kernel parameters: dtypes, ranks, extents, sizes, scalars, and physical storage for
 * tensors whose layout is not dense. Every mismatch of a call is reported in one run. */
#include "api/api_run.h"
#include "num/num.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static base_diagnostics *diagnostics_of(const api_run *run) {
    return run->module->session->diagnostics;
}

static const tirc_kernel *kernel_of(const api_run *run) {
    return &run->module->kernels[run->kernel];
}

/* ---- names ---- */
static int parameter_index(const tirc_kernel *kernel, const char *name) {
    for (size_t i = 0; i < kernel->parameter_count; ++i)
        if (!strcmp(kernel->parameters[i].name, name))
            return (int)i;
    char *end;
    unsigned long number = strtoul(name, &end, 10);
    if (*name >= '0' && *name <= '9' && !*end && number < kernel->parameter_count)
        return (int)number;
    return -1;
}

static void signature_words(const tirc_kernel *kernel, base_builder *out) {
    base_builder_format(out, "%s(", kernel->name);
    for (size_t i = 0; i < kernel->parameter_count; ++i) {
        const tirc_parameter *parameter = &kernel->parameters[i];
        base_builder_format(out, "%s%s", i ? ", " : "", parameter->name);
        if (!parameter->is_tensor && parameter->dtype)
            base_builder_format(out, ": %s", parameter->dtype);
        if (!parameter->is_tensor)
            continue;
        base_builder_format(out, ": %s[", parameter->dtype);
        for (uint32_t d = 0; d < parameter->rank; ++d) {
            base_builder_string(out, d ? ", " : "");
            if (parameter->shape[d] < 0)
                base_builder_char(out, '?');
            else
                base_builder_format(out, "%" PRId64, parameter->shape[d]);
        }
        base_builder_char(out, ']');
    }
    base_builder_char(out, ')');
}

static void note_signature(api_run *run, base_diagnostic *diagnostic) {
    base_builder words;
    base_builder_start(&words, run->module->session->arena);
    signature_words(kernel_of(run), &words);
    base_note(diagnostics_of(run), diagnostic, BASE_NO_SPAN, "the kernel is %s", words.data);
}

bool api_bind_names(api_run *run) {
    const tirc_kernel *kernel = kernel_of(run);
    bool good = true;
    run->given = BASE_NEW_ARRAY(run->module->session->arena, const tirc_argument *, kernel->parameter_count);
    for (size_t i = 0; i < run->launch->argument_count; ++i) {
        const tirc_argument *argument = &run->launch->arguments[i];
        int index = argument->name ? parameter_index(kernel, argument->name) : -1;
        if (index < 0) {
            note_signature(run, base_report(diagnostics_of(run), BASE_ERROR, "T0803", BASE_NO_SPAN,
                                            "`%s` has no parameter `%s`", kernel->name,
                                            argument->name ? argument->name : ""));
            good = false;
        } else if (run->given[index]) {
            base_report(diagnostics_of(run), BASE_ERROR, "T0804", BASE_NO_SPAN,
                        "parameter `%s` is given twice", kernel->parameters[index].name);
            good = false;
        } else {
            run->given[index] = argument;
        }
    }
    for (size_t i = 0; i < kernel->parameter_count; ++i) {
        if (run->given[i] || kernel->parameters[i].is_size)
            continue;
        base_diagnostic *diagnostic =
            base_report(diagnostics_of(run), BASE_ERROR, "T0805", BASE_NO_SPAN,
                        "parameter `%s` of `%s` is not given", kernel->parameters[i].name, kernel->name);
        base_help(diagnostics_of(run), diagnostic,
                  "add --arg %s=FILE.npy, or zeros, randn:SEED, arange, a number",
                  kernel->parameters[i].name);
        note_signature(run, diagnostic);
        good = false;
    }
    return good;
}

/* ---- expressions over parameters ---- */
static const ir_expr *substitute(void *user, const ir_expr *e) {
    api_run *run = user;
    ir_module *ir = run->code->lowered->module;
    const ir_function *function = run->plan->function;
    if (e->op != IR_VAR)
        return e->count ? ir_rebuild(ir, e, e->args) : e;
    for (size_t i = 0; i < function->parameters.count; ++i)
        if (function->parameters.items[i].var == e->at.var && run->size_known[i])
            return ir_int(ir, e->type.dtype, run->sizes[i]);
    return e;
}

static bool evaluate(api_run *run, const ir_expr *e, int64_t *value) {
    base_map *memo = base_map_create(run->module->session->arena);
    return ir_is_int(ir_expr_rewrite_few(run->code->lowered->module, e, substitute, run, memo), value);
}

static int parameter_of_var(const ir_function *function, const ir_var *var) {
    for (size_t i = 0; i < function->parameters.count; ++i)
        if (function->parameters.items[i].var == var)
            return (int)i;
    return -1;
}

/* ---- tensors ---- */
static void shape_words(const int64_t *shape, uint32_t rank, base_builder *out) {
    base_builder_char(out, '(');
    for (uint32_t d = 0; d < rank; ++d)
        base_builder_format(out, "%s%" PRId64, d ? ", " : "", shape[d]);
    base_builder_string(out, rank == 1 ? ",)" : ")");
}

static bool bind_sizes(api_run *run, const ir_tensor *tensor, const tirc_argument *argument) {
    const ir_function *function = run->plan->function;
    bool good = true;
    if (!argument->shape || argument->rank != tensor->type.rank)
        return true;
    for (uint32_t d = 0; d < tensor->type.rank; ++d) {
        const ir_expr *extent = tensor->type.shape[d];
        int index = extent->op == IR_VAR ? parameter_of_var(function, extent->at.var) : -1;
        if (index < 0)
            continue;
        if (run->size_known[index] && run->sizes[index] != argument->shape[d]) {
            base_report(diagnostics_of(run), BASE_ERROR, "T0806", BASE_NO_SPAN,
                        "axis %u of `%s` has %" PRId64 " elements, but `%s` is already %" PRId64, d,
                        tensor->name, argument->shape[d], function->parameters.items[index].name,
                        run->sizes[index]);
            good = false;
        }
        run->sizes[index] = argument->shape[d];
        run->size_known[index] = true;
    }
    return good;
}

/* Strides that are sizes nobody gave are those of the caller's array, which is dense. */
static void bind_strides(api_run *run, const ir_tensor *tensor, const tirc_argument *argument) {
    int64_t step = 1;
    if (!tensor->type.strides || !argument->shape || argument->rank != tensor->type.rank)
        return;
    for (uint32_t d = tensor->type.rank; d-- > 0;) {
        const ir_expr *stride = tensor->type.strides[d];
        int index = stride->op == IR_VAR ? parameter_of_var(run->plan->function, stride->at.var) : -1;
        if (index >= 0 && !run->size_known[index]) {
            run->sizes[index] = step;
            run->size_known[index] = true;
        }
        if (__builtin_mul_overflow(step, argument->shape[d], &step))
            return;
    }
}

static bool is_storage(const ir_tensor *tensor, const layout_tile *layout, const tirc_argument *argument) {
    int64_t span;
    return layout && argument->rank == 1 && argument->shape && tensor->type.rank != 1 &&
           layout_footprint(layout, LAYOUT_AXIS_M, &span) && argument->shape[0] == span;
}

/* Where the elements lie in this launch; NULL: dense. False: reported. */
static bool launch_layout(api_run *run, const ir_tensor *tensor, const int64_t *extents,
                          const layout_tile **layout) {
    const ir_tensor_type *type = &tensor->type;
    base_diagnostics *list = diagnostics_of(run);
    layout_iter iters[TIRC_RANK_MAX];
    int64_t offsets[LAYOUT_AXIS_COUNT] = {0}, lowest = 0, reach;
    layout_error error = {NULL};
    *layout = type->layout;
    if (!type->strides || type->rank > TIRC_RANK_MAX)
        return true;
    if (type->origin && !evaluate(run, type->origin, &offsets[LAYOUT_AXIS_M])) {
        base_report(list, BASE_ERROR, "T0809", tensor->span, "the origin of `%s` is not known", tensor->name);
        return false;
    }
    for (uint32_t d = 0; d < type->rank; ++d) {
        iters[d] = (layout_iter){extents[d], 0, LAYOUT_AXIS_M};
        if (!evaluate(run, type->strides[d], &iters[d].stride)) {
            base_report(list, BASE_ERROR, "T0809", tensor->span, "the stride of axis %u of `%s` is not known",
                        d, tensor->name);
            return false;
        }
        if (extents[d] < 1) /* no element lies anywhere */
            return true;
        if (!__builtin_mul_overflow(extents[d] - 1, iters[d].stride, &reach) && reach < 0)
            lowest += reach;
    }
    lowest += offsets[LAYOUT_AXIS_M];
    if (lowest < 0) {
        base_report(list, BASE_ERROR, "T0278", tensor->span,
                    "the strides of `%s` reach element %" PRId64 ", before its first one", tensor->name,
                    lowest);
        return false;
    }
    *layout = layout_make(run->module->session->arena, iters, type->rank, NULL, 0, offsets,
                          1u << LAYOUT_AXIS_M, &error);
    if (!*layout)
        base_report(list, BASE_ERROR, "T0278", tensor->span, "the strides of `%s` make no layout: %s",
                    tensor->name, error.text);
    return *layout != NULL;
}

static bool check_tensor(api_run *run, const ir_tensor *tensor, const tirc_argument *argument,
                         int64_t *extents, const layout_tile **layout) {
    base_diagnostics *list = diagnostics_of(run);
    const char *wanted = num_dtype_name(tensor->type.dtype);
    bool good = true;
    if (argument->is_scalar) {
        base_report(list, BASE_ERROR, "T0807", BASE_NO_SPAN, "`%s` is a tensor; a single value was given",
                    tensor->name);
        return false;
    }
    if (argument->dtype && strcmp(argument->dtype, wanted)) {
        base_report(list, BASE_ERROR, "T0808", BASE_NO_SPAN, "`%s` has dtype %s, the kernel wants %s",
                    tensor->name, argument->dtype, wanted);
        good = false;
    }
    for (uint32_t d = 0; d < tensor->type.rank; ++d)
        if (!evaluate(run, tensor->type.shape[d], &extents[d])) {
            base_report(list, BASE_ERROR, "T0809", BASE_NO_SPAN, "axis %u of `%s` has no known extent", d,
                        tensor->name);
            return false;
        }
    if (!launch_layout(run, tensor, extents, layout))
        return false;
    if (!argument->shape || is_storage(tensor, *layout, argument))
        return good;
    uint32_t rank = tensor->type.rank, lanes = tensor->type.lanes;
    bool same = argument->rank == rank + (lanes > 1) && (lanes == 1 || argument->shape[rank] == lanes);
    for (uint32_t d = 0; same && d < rank; ++d)
        same = argument->shape[d] == extents[d];
    if (!same) {
        int64_t *wanted_shape = BASE_NEW_ARRAY(run->module->session->arena, int64_t, rank + 1);
        for (uint32_t d = 0; d < rank; ++d)
            wanted_shape[d] = extents[d];
        wanted_shape[rank] = lanes;
        base_builder words;
        base_builder_start(&words, run->module->session->arena);
        shape_words(argument->shape, argument->rank, &words);
        base_builder_string(&words, ", the kernel wants ");
        shape_words(wanted_shape, rank + (lanes > 1), &words);
        base_report(list, BASE_ERROR, "T0806", BASE_NO_SPAN, "`%s` has shape %s", tensor->name, words.data);
        good = false;
    }
    return good;
}

static uint64_t bytes_of(const ir_tensor_type *type, int64_t elements) {
    return ((uint64_t)elements * num_dtype_storage_bits(type->dtype) * type->lanes + 7) / 8;
}

static bool product(const int64_t *extents, uint32_t rank, int64_t *out) {
    *out = 1;
    for (uint32_t d = 0; d < rank; ++d)
        if (extents[d] < 0 || __builtin_mul_overflow(*out, extents[d], out))
            return false;
    return *out < INT64_C(1) << 48;
}

/* Where the elements of one tensor lie. */
typedef struct placement {
    base_arena *arena;
    const ir_tensor *tensor;
    const layout_tile *layout;
    const int64_t *extents;
    int64_t count;
} placement;

static bool place_of(const placement *p, int64_t flat, int64_t *coordinate, int64_t *place) {
    int64_t position[LAYOUT_AXIS_COUNT];
    uint32_t axes, rank = p->tensor->type.rank;
    layout_error error;
    for (uint32_t d = rank; d-- > 0; flat /= p->extents[d])
        coordinate[d] = flat % p->extents[d];
    if (!layout_apply(p->layout, coordinate, rank, p->extents, position, &axes, &error, p->arena))
        return false;
    *place = position[LAYOUT_AXIS_M];
    return true;
}

/* Two elements of different values have one place: no storage can hold both. */
static void report_shared_place(api_run *run, const placement *p, int64_t flat) {
    int64_t first[TIRC_RANK_MAX], second[TIRC_RANK_MAX], place, other;
    if (!place_of(p, flat, second, &place))
        return;
    for (int64_t i = 0; i < flat; ++i) {
        if (!place_of(p, i, first, &other) || other != place)
            continue;
        base_builder words;
        base_builder_start(&words, p->arena);
        shape_words(first, p->tensor->type.rank, &words);
        base_builder_string(&words, " and ");
        shape_words(second, p->tensor->type.rank, &words);
        base_diagnostic *d =
            base_report(diagnostics_of(run), BASE_ERROR, "T0279", p->tensor->span,
                        "the layout %s of `%s` puts %s at one element, number %" PRId64
                        ", and the array given has different "
                        "values there",
                        layout_text_of(p->arena, p->layout), p->tensor->name, words.data, place);
        base_help(diagnostics_of(run), d,
                  "strides that keep the elements apart, or an array with equal values there");
        return;
    }
}

/* Walks all coordinates; to_storage copies the caller's dense elements to physical places, else back. */
static bool move_elements(api_run *run, const placement *p, char *dense, char *storage, bool to_storage) {
    uint64_t size = bytes_of(&p->tensor->type, 1);
    int64_t coordinate[TIRC_RANK_MAX], place, elements = 0;
    if (p->tensor->type.rank > TIRC_RANK_MAX || !layout_footprint(p->layout, LAYOUT_AXIS_M, &elements))
        return false;
    uint8_t *written = to_storage ? base_arena_allocate(p->arena, (uint64_t)elements / 8 + 1) : NULL;
    if (written)
        memset(written, 0, (uint64_t)elements / 8 + 1);
    for (int64_t flat = 0; flat < p->count; ++flat) {
        if (!place_of(p, flat, coordinate, &place))
            return false;
        char *physical = storage + (uint64_t)place * size, *logical = dense + (uint64_t)flat * size;
        if (!to_storage) {
            memcpy(logical, physical, size);
            continue;
        }
        uint8_t bit = (uint8_t)(1u << (place % 8));
        if ((written[place / 8] & bit) && memcmp(physical, logical, size)) {
            report_shared_place(run, p, flat);
            return false;
        }
        written[place / 8] |= bit;
        memcpy(physical, logical, size);
    }
    return true;
}

/* Physical storage for a layout with gaps, an origin or another order; NULL data when the caller's will do.
 */
static bool make_storage(api_run *run, const ir_tensor *tensor, const tirc_argument *argument,
                         const int64_t *extents, const layout_tile *layout, vm_buffer *buffer,
                         void **repacked) {
    const ir_tensor_type *type = &tensor->type;
    int64_t elements, span;
    if (!product(extents, type->rank, &elements)) {
        base_report(diagnostics_of(run), BASE_ERROR, "T0806", BASE_NO_SPAN, "`%s` is too large",
                    tensor->name);
        return false;
    }
    uint64_t needed = bytes_of(type, elements);
    buffer->data = argument->data;
    buffer->bytes = argument->bytes;
    if (layout && layout_footprint(layout, LAYOUT_AXIS_M, &span)) {
        const layout_tile *dense =
            layout_row_major(run->module->session->arena, extents, type->rank, &(layout_error){0});
        if (!is_storage(tensor, layout, argument) && dense &&
            !layout_equal(run->module->session->arena, dense, layout) && argument->bytes == needed &&
            num_dtype_storage_bits(type->dtype) >= 8) {
            if (run->device_data) {
                base_report(diagnostics_of(run), BASE_ERROR, "T0919", BASE_NO_SPAN,
                            "`%s` has a layout of its own; on the GPU its data must lie as the layout says, "
                            "given as one axis of %" PRId64 " elements",
                            tensor->name, span);
                return false;
            }
            buffer->bytes = bytes_of(type, span);
            buffer->data = *repacked = base_arena_allocate(run->module->session->arena, buffer->bytes);
            placement place = {run->module->session->arena, tensor, layout, extents, elements};
            return move_elements(run, &place, argument->data, *repacked, true);
        }
        needed = bytes_of(type, span);
    }
    if (argument->bytes < needed || (!argument->data && needed)) {
        base_report(diagnostics_of(run), BASE_ERROR, "T0810", BASE_NO_SPAN,
                    "`%s` has %" PRIu64 " bytes, the kernel's tensor covers %" PRIu64, tensor->name,
                    argument->bytes, needed);
        return false;
    }
    return true;
}

void api_unpack_storage(api_run *run) {
    if (!run->plan)
        return;
    const ir_function *function = run->plan->function;
    for (size_t b = 0; b < run->machine.buffer_count; ++b) {
        if (!run->repacked[b])
            continue;
        const ir_tensor *tensor = function->parameters.items[run->repacked_of[b]].tensor;
        int64_t extents[TIRC_RANK_MAX];
        placement place = {run->module->session->arena, tensor, NULL, extents, 0};
        bool known = tensor->type.rank <= TIRC_RANK_MAX;
        for (uint32_t d = 0; known && d < tensor->type.rank; ++d)
            known = evaluate(run, tensor->type.shape[d], &extents[d]);
        if (known && product(extents, tensor->type.rank, &place.count) &&
            launch_layout(run, tensor, extents, &place.layout) && place.layout)
            move_elements(run, &place, run->given[run->repacked_of[b]]->data, run->repacked[b], false);
    }
}

static bool bind_scalar(api_run *run, size_t index) {
    const ir_parameter *parameter = &run->plan->function->parameters.items[index];
    const tirc_argument *argument = run->given[index];
    const tirc_parameter *outside = &kernel_of(run)->parameters[index];
    vm_argument *to = &run->arguments[index];
    to->kind = VM_ARGUMENT_BYTES;
    to->size = outside->bytes;
    if (argument) {
        if (argument->bytes != outside->bytes || !argument->data) {
            base_report(diagnostics_of(run), BASE_ERROR, "T0811", BASE_NO_SPAN,
                        "scalar `%s` has %" PRIu64 " bytes, the kernel wants %" PRIu64 " (%s)",
                        parameter->name, argument->bytes, outside->bytes, outside->dtype);
            return false;
        }
        to->bytes = argument->data;
        return true;
    }
    if (!run->size_known[index]) {
        base_report(diagnostics_of(run), BASE_ERROR, "T0805", BASE_NO_SPAN,
                    "size `%s` follows from no tensor argument", parameter->name);
        return false;
    }
    if (run->sizes[index] != num_wrap(parameter->var->type.dtype, run->sizes[index])) {
        base_report(diagnostics_of(run), BASE_ERROR, "T0806", BASE_NO_SPAN,
                    "size `%s` = %" PRId64 " does not fit %s", parameter->name, run->sizes[index],
                    outside->dtype);
        return false;
    }
    to->bytes = base_arena_copy(run->module->session->arena, &run->sizes[index], sizeof(int64_t));
    return true;
}

/* Elements as a tensor map moves them; false: it has no such type. */
static bool map_type(num_dtype dtype, bool padded, vm_tensor_type *type) {
    switch (dtype) {
    case NUM_DTYPE_F4E2M1FN:
        *type = padded ? VM_TENSOR_U4_ALIGN16 : VM_TENSOR_U4_ALIGN8;
        return true;
    case NUM_DTYPE_I32:
        *type = VM_TENSOR_S32;
        return true;
    case NUM_DTYPE_I64:
        *type = VM_TENSOR_S64;
        return true;
    case NUM_DTYPE_F16:
        *type = VM_TENSOR_F16;
        return true;
    case NUM_DTYPE_BF16:
        *type = VM_TENSOR_BF16;
        return true;
    case NUM_DTYPE_F32:
        *type = VM_TENSOR_F32;
        return true;
    case NUM_DTYPE_F64:
        *type = VM_TENSOR_F64;
        return true;
    default: { /* bits as they are */
        unsigned bits = num_dtype_bits(dtype);
        *type = bits == 8    ? VM_TENSOR_U8
                : bits == 16 ? VM_TENSOR_U16
                : bits == 32 ? VM_TENSOR_U32
                             : VM_TENSOR_U64;
        return bits == 8 || bits == 16 || bits == 32 || bits == 64;
    }
    }
}

/* The map that a copy by TMA reads, over what the launch knows of its tensor. */
static bool make_map(api_run *run, const ir_tensor *tensor, size_t index, uint32_t buffer) {
    const ir_tensor_map *map = tensor->map;
    tirc_session *session = run->module->session;
    uint64_t dims[IR_MAP_RANK] = {0}, strides[IR_MAP_RANK] = {0};
    unsigned bits = num_dtype_bits(map->dtype);
    uint8_t bytes[VM_TENSOR_MAP_BYTES];
    int64_t offset = 0;
    for (uint32_t d = 0; d < map->rank; d++) {
        int64_t extent, stride = 1;
        if (!evaluate(run, map->dims[d], &extent) || (d && !evaluate(run, map->strides[d], &stride)) ||
            (map->offset && !evaluate(run, map->offset, &offset))) {
            base_report(diagnostics_of(run), BASE_ERROR, "T0812", map->of->span,
                        "the tensor map of `%s` depends on a value that is not known at launch",
                        map->of->name);
            return false;
        }
        dims[d] = (uint64_t)extent;
        if (d)
            strides[d - 1] = (uint64_t)stride * bits / 8;
    }
    vm_tensor_type type;
    if (!map_type(map->dtype, map->is_padded, &type))
        return false;
    tirc_tensor_map request = {.size = sizeof request,
                               .type = (uint32_t)type,
                               .rank = map->rank,
                               .dims = dims,
                               .strides = strides,
                               .box = map->box,
                               .swizzle = map->swizzle,
                               .oob_fill = map->fills_nan ? VM_TENSOR_FILL_NAN : VM_TENSOR_FILL_ZERO};
    if (!api_tensor_map(session, &request, map->of->name, bytes))
        return false;
    run->arguments[index] = (vm_argument){.kind = VM_ARGUMENT_TENSOR_MAP,
                                          .buffer = buffer,
                                          .byte_offset = (uint64_t)offset * bits / 8,
                                          .bytes = base_arena_copy(session->arena, bytes, sizeof bytes),
                                          .size = sizeof bytes};
    return true;
}

static bool make_maps(api_run *run, size_t buffers) {
    const ir_function *function = run->plan->function;
    bool good = true;
    for (size_t i = 0; i < function->parameters.count; ++i) {
        const ir_tensor *tensor = function->parameters.items[i].tensor;
        for (uint32_t b = 0; tensor && tensor->map && b < buffers; ++b)
            if (function->parameters.items[run->repacked_of[b]].tensor == tensor->map->of)
                good &= make_map(run, tensor, i, b);
    }
    return good;
}

/* The author's parameters: tensor maps stand behind them. */
static size_t own_parameters(const ir_function *function) {
    size_t count = function->parameters.count;
    while (count && function->parameters.items[count - 1].tensor &&
           function->parameters.items[count - 1].tensor->map)
        count--;
    return count;
}

/* Scalars that the caller gives take part in shapes and in the grid. */
static void learn_scalars(api_run *run) {
    const ir_function *function = run->plan->function;
    for (size_t i = 0; i < own_parameters(function); ++i) {
        const ir_var *var = function->parameters.items[i].var;
        if (!var || !run->given[i] || !run->given[i]->data || !ir_type_is_integer(var->type) ||
            run->given[i]->bytes > 8 || run->given[i]->bytes != num_dtype_bytes(var->type.dtype))
            continue;
        int64_t value = 0;
        memcpy(&value, run->given[i]->data, run->given[i]->bytes);
        run->sizes[i] = num_wrap(var->type.dtype, value);
        run->size_known[i] = true;
    }
}

/* Vector accesses rely on what the declaration says. The machine places tensors itself; addresses of a GPU
 * are the caller's. */
static bool check_alignment(api_run *run, const ir_tensor *tensor, const tirc_argument *argument) {
    uint64_t address = (uint64_t)(uintptr_t)argument->data, align = tensor->type.align;
    if (!run->device_data || align < 2 || address % align == 0)
        return true;
    base_diagnostic *diagnostic = base_report(
        diagnostics_of(run), BASE_ERROR, "T0922", tensor->span,
        "`%s` is at address 0x%" PRIx64 ", a multiple of %" PRIu64 " bytes; `%s` declares align=%" PRIu64,
        tensor->name, address, address & (0 - address), kernel_of(run)->name, align);
    base_help(diagnostics_of(run), diagnostic,
              "pass memory that is aligned so, or declare the parameter with align=%" PRIu64
              ": then accesses are no wider than that",
              address & (0 - address));
    return false;
}

/* A parameter that is a tensor map of another parameter's tensor; buffers have their numbers already. */
static bool bind_tensor_map(api_run *run, size_t index, const uint32_t *buffer_of) {
    const tirc_kernel *kernel = kernel_of(run);
    const tirc_argument *argument = run->given[index];
    int of = argument->tensor ? parameter_index(kernel, argument->tensor) : -1;
    uint8_t bytes[VM_TENSOR_MAP_BYTES];
    if (of < 0 || buffer_of[of] == UINT32_MAX) {
        base_report(diagnostics_of(run), BASE_ERROR, "T0803", BASE_NO_SPAN,
                    "tensor map `%s`: `%s` has no tensor parameter `%s`", kernel->parameters[index].name,
                    kernel->name, argument->tensor ? argument->tensor : "");
        return false;
    }
    if (!api_tensor_map(run->module->session, argument->tensor_map, kernel->parameters[index].name, bytes))
        return false;
    run->arguments[index] =
        (vm_argument){.kind = VM_ARGUMENT_TENSOR_MAP,
                      .buffer = buffer_of[of],
                      .bytes = base_arena_copy(run->module->session->arena, bytes, sizeof bytes),
                      .size = sizeof bytes};
    return true;
}

/* An array for a parameter that is a pointer: nothing says what it should hold. */
static bool is_array_for_pointer(const api_run *run, size_t index) {
    const ir_var *var = run->plan->function->parameters.items[index].var;
    const tirc_argument *argument = run->given[index];
    return var && var->type.kind == IR_TYPE_POINTER && !ir_type_is_tensor_map(var->type) && argument &&
           argument->data && !argument->is_scalar && !argument->tensor_map &&
           (argument->shape || argument->bytes != 8);
}

bool api_bind_script(api_run *run) {
    base_arena *arena = run->module->session->arena;
    const ir_function *function = run->plan->function;
    size_t count = own_parameters(function), all = function->parameters.count;
    bool good = true;
    run->sizes = BASE_NEW_ARRAY(arena, int64_t, all);
    run->size_known = BASE_NEW_ARRAY(arena, bool, all);
    run->arguments = BASE_NEW_ARRAY(arena, vm_argument, all);
    run->buffers = BASE_NEW_ARRAY(arena, vm_buffer, count);
    run->repacked = BASE_NEW_ARRAY(arena, void *, count);
    run->repacked_of = BASE_NEW_ARRAY(arena, uint32_t, count);
    uint32_t *buffer_of = BASE_NEW_ARRAY(arena, uint32_t, count + 1);
    learn_scalars(run);
    for (size_t i = 0; i < count; ++i)
        if (function->parameters.items[i].tensor && run->given[i])
            good &= bind_sizes(run, function->parameters.items[i].tensor, run->given[i]);
    for (size_t i = 0; i < count; ++i)
        if (function->parameters.items[i].tensor && run->given[i])
            bind_strides(run, function->parameters.items[i].tensor, run->given[i]);
    size_t buffers = 0;
    for (size_t i = 0; good && i < count; ++i) {
        const ir_tensor *tensor = function->parameters.items[i].tensor;
        buffer_of[i] = UINT32_MAX;
        if (!tensor && is_array_for_pointer(run, i)) {
            run->buffers[buffers] = (vm_buffer){.name = function->parameters.items[i].name,
                                                .data = run->given[i]->data,
                                                .bytes = run->given[i]->bytes,
                                                .align = 256};
            run->repacked_of[buffers] = (uint32_t)i;
            run->arguments[i] = (vm_argument){.kind = VM_ARGUMENT_BUFFER, .buffer = (uint32_t)buffers++};
            continue;
        }
        if (!tensor) {
            if (!run->given[i] || run->given[i]->tensor_map == NULL)
                good &= bind_scalar(run, i);
            continue;
        }
        int64_t *extents = BASE_NEW_ARRAY(arena, int64_t, tensor->type.rank);
        const layout_tile *layout = NULL;
        if (!check_tensor(run, tensor, run->given[i], extents, &layout) ||
            !make_storage(run, tensor, run->given[i], extents, layout, &run->buffers[buffers],
                          &run->repacked[buffers])) {
            good = false;
            continue;
        }
        good &= check_alignment(run, tensor, run->given[i]);
        run->buffers[buffers].name = tensor->name;
        run->buffers[buffers].align = tensor->type.align > 256 ? tensor->type.align : 256;
        run->repacked_of[buffers] = (uint32_t)i;
        buffer_of[i] = (uint32_t)buffers;
        run->arguments[i] = (vm_argument){.kind = VM_ARGUMENT_BUFFER, .buffer = (uint32_t)buffers};
        ++buffers;
    }
    for (size_t i = 0; good && i < count; ++i)
        if (run->given[i] && run->given[i]->tensor_map != NULL)
            good &= bind_tensor_map(run, i, buffer_of);
    run->machine.argument_count = all;
    run->machine.buffer_count = buffers;
    return good && make_maps(run, buffers);
}

bool api_bind_ptx(api_run *run) {
    base_arena *arena = run->module->session->arena;
    const tirc_kernel *kernel = kernel_of(run);
    size_t buffers = 0;
    bool good = true;
    run->arguments = BASE_NEW_ARRAY(arena, vm_argument, kernel->parameter_count);
    run->buffers = BASE_NEW_ARRAY(arena, vm_buffer, kernel->parameter_count);
    run->repacked = BASE_NEW_ARRAY(arena, void *, kernel->parameter_count);
    uint32_t *buffer_of = BASE_NEW_ARRAY(arena, uint32_t, kernel->parameter_count + 1);
    for (size_t i = 0; i < kernel->parameter_count; ++i) {
        const tirc_argument *argument = run->given[i];
        buffer_of[i] = UINT32_MAX;
        if (argument->tensor_map != NULL)
            continue;
        if (!argument->is_scalar && kernel->parameters[i].bytes == 8) {
            buffer_of[i] = (uint32_t)buffers;
            run->buffers[buffers] = (vm_buffer){.name = kernel->parameters[i].name,
                                                .data = argument->data,
                                                .bytes = argument->bytes,
                                                .align = 256};
            run->arguments[i] = (vm_argument){.kind = VM_ARGUMENT_BUFFER, .buffer = (uint32_t)buffers++};
            continue;
        }
        run->arguments[i] =
            (vm_argument){.kind = VM_ARGUMENT_BYTES, .bytes = argument->data, .size = argument->bytes};
        if (argument->bytes == kernel->parameters[i].bytes)
            continue;
        base_report(diagnostics_of(run), BASE_ERROR, "T0811", BASE_NO_SPAN,
                    "parameter `%s` has %" PRIu64 " bytes, %" PRIu64 " were given",
                    kernel->parameters[i].name, kernel->parameters[i].bytes, argument->bytes);
        good = false;
    }
    for (size_t i = 0; i < kernel->parameter_count; ++i)
        if (run->given[i]->tensor_map != NULL)
            good &= bind_tensor_map(run, i, buffer_of);
    run->machine.argument_count = kernel->parameter_count;
    run->machine.buffer_count = buffers;
    return good;
}

bool api_bind_values(api_run *run) {
    const tirc_kernel *kernel = kernel_of(run);
    run->arguments = BASE_NEW_ARRAY(run->module->session->arena, vm_argument, kernel->parameter_count + 1);
    for (size_t i = 0; i < kernel->parameter_count; ++i) {
        if (!run->launch->parameters[i]) {
            base_report(diagnostics_of(run), BASE_ERROR, "T0805", BASE_NO_SPAN,
                        "parameter %zu of `%s` is not given", i, kernel->name);
            return false;
        }
        run->arguments[i] = (vm_argument){.kind = VM_ARGUMENT_BYTES,
                                          .bytes = run->launch->parameters[i],
                                          .size = kernel->parameters[i].bytes};
    }
    run->machine.argument_count = kernel->parameter_count;
    return true;
}

/* ---- launch ---- */
static bool planned_dimension(api_run *run, const ir_expr *const *from, const char *what, uint32_t *to) {
    for (int d = 0; d < 3; ++d) {
        int64_t value;
        if (!evaluate(run, from[d], &value)) {
            base_report(diagnostics_of(run), BASE_ERROR, "T0812", run->plan->function->launch.span,
                        "the %s depends on a value that is not known at launch", what);
            return false;
        }
        if (value < 1 || value > UINT32_MAX) {
            base_report(diagnostics_of(run), BASE_ERROR, "T0812", run->plan->function->launch.span,
                        "the %s has %" PRId64 " in dimension %c; it must be from 1 to %u", what, value,
                        'x' + d, UINT32_MAX);
            return false;
        }
        to[d] = (uint32_t)value;
    }
    return true;
}

/* What the kernel needs, or more where its launch asks for more; the launch may compute it from parameters.
 */
static bool planned_bytes(api_run *run, const ir_launch *planned) {
    uint64_t *bytes = &run->machine.dynamic_shared_bytes,
             needed = run->plan ? run->plan->dynamic_smem_bytes : 0;
    int64_t asked;
    if (planned && planned->dynamic_smem_bytes) {
        if (!evaluate(run, planned->dynamic_smem_bytes, &asked)) {
            base_report(diagnostics_of(run), BASE_ERROR, "T0812", planned->span,
                        "dynamic_smem_bytes depends on a value that is not known at launch");
            return false;
        }
        if (asked < 0 || (uint64_t)asked < needed) {
            base_diagnostic *diagnostic =
                base_report(diagnostics_of(run), BASE_ERROR, "T0417", planned->span,
                            "dynamic_smem_bytes is %" PRId64
                            " in this launch, but the kernel's shared.dyn tensor needs %" PRIu64,
                            asked, needed);
            base_help(diagnostics_of(run), diagnostic,
                      "leave dynamic_smem_bytes out, or ask for at least what is needed");
            return false;
        }
        needed = (uint64_t)asked;
    }
    if (*bytes && *bytes < needed) {
        base_report(diagnostics_of(run), BASE_ERROR, "T0417", BASE_NO_SPAN,
                    "%" PRIu64
                    " bytes of dynamic shared memory are given for this launch, but `%s` needs %" PRIu64,
                    *bytes, kernel_of(run)->name, needed);
        return false;
    }
    if (*bytes < needed)
        *bytes = needed;
    return true;
}

static void caller_dimension(const uint32_t *from, uint32_t *to) {
    for (int d = 0; d < 3; ++d)
        to[d] = from[d] ? from[d] : 1;
}

bool api_bind_launch(api_run *run) {
    vm_launch *machine = &run->machine;
    const ir_launch *planned =
        run->plan && run->plan->function->launch.present ? &run->plan->function->launch : NULL;
    if ((!run->launch->grid[0] || !run->launch->block[0]) && !planned) {
        base_diagnostic *diagnostic =
            base_report(diagnostics_of(run), BASE_ERROR, "T0812", BASE_NO_SPAN,
                        "`%s` does not say how it is launched", kernel_of(run)->name);
        base_help(diagnostics_of(run), diagnostic, "give --grid X[,Y[,Z]] and --block X[,Y[,Z]]");
        return false;
    }
    if (run->launch->grid[0])
        caller_dimension(run->launch->grid, machine->grid);
    else if (!planned_dimension(run, planned->grid, "grid", machine->grid))
        return false;
    if (run->launch->block[0])
        caller_dimension(run->launch->block, machine->block);
    else if (!planned_dimension(run, planned->block, "block", machine->block))
        return false;
    if (run->launch->cluster[0])
        caller_dimension(run->launch->cluster, machine->cluster);
    else if (planned && planned->cluster[0] &&
             !planned_dimension(run, planned->cluster, "cluster", machine->cluster))
        return false;
    machine->dynamic_shared_bytes = run->launch->dynamic_shared_bytes;
    return planned_bytes(run, planned);
}
