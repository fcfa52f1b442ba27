/* SPDX-License-Identifier: Apache-2.0
 * Checks a launch against the kernel and the machine, gives buffers their device addresses, and fills the
 * rows that are the same for every CTA: parameters, launch sizes, thread indices. */
#include <stdarg.h>
#include <stdio.h>
#include "vm/vm_sm.h"
#include "vm/vm_tensor_map.h"

enum { WORKSPACE_BYTES = 16 };

typedef struct preparation {
    vm_grid *run;
    base_arena *arena, *report; /* for the run; for the result */
    vm_launch *launch;
    vm_result *result;
    BASE_VECTOR(vm_finding) findings;
} preparation;

static void refuse(preparation *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void refuse(preparation *p, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    vm_finding finding = {0};
    finding.kind = VM_FIND_BAD_LAUNCH;
    finding.function = p->run->kernel ? p->run->kernel->source : NULL;
    finding.count = 1;
    finding.text = base_arena_string(p->report, text, strlen(text));
    base_vector_push(p->report, &p->findings, finding);
}

static void *allocate_aligned(base_arena *arena, size_t size) {
    uintptr_t memory = (uintptr_t)base_arena_allocate(arena, size + 64);
    return (void *)((memory + 63) & ~(uintptr_t)63);
}

static void find_kernel(preparation *p, const vm_program *program) {
    const char *name = p->launch->kernel;
    if (name == NULL && program->entries.count != 1) {
        refuse(p, "the module has %zu kernels; name one", program->entries.count);
        return;
    }
    for (size_t i = 0; i < program->entries.count; i++)
        if (name == NULL || strcmp(program->entries.items[i]->name, name) == 0)
            p->run->kernel = &program->functions[program->entries.items[i]->id];
    if (p->run->kernel == NULL)
        refuse(p, "the module has no kernel named '%s'", name);
}

static void check_shape(preparation *p) {
    static const uint32_t grid_limit[3] = {0x7fffffffu, 65535, 65535}, block_limit[3] = {1024, 1024, 64};
    const vm_launch *launch = p->launch;
    const ptx_function *source = p->run->kernel->source;
    uint64_t threads = 1;
    for (int i = 0; i < 3; i++) {
        if (launch->grid[i] == 0 || launch->grid[i] > grid_limit[i])
            refuse(p, "grid.%c is %u; it must be 1 to %u", "xyz"[i], launch -> grid[i], grid_limit[i]);
        if (launch->block[i] == 0 || launch->block[i] > block_limit[i])
            refuse(p, "block.%c is %u; it must be 1 to %u", "xyz"[i], launch -> block[i], block_limit[i]);
        threads *= launch->block[i];
    }
    if (threads > 1024)
        refuse(p, "a block of %llu threads; at most 1024 fit", (unsigned long long)threads);
    uint64_t required = 1, most = 1;
    bool has_required = false, has_most = false, differs = false;
    for (int i = 0; i < 3; i++) {
        has_required |= source->required_threads[i] != 0;
        has_most |= source->max_threads[i] != 0;
        required *= source->required_threads[i] ? source->required_threads[i] : 1;
        most *= source->max_threads[i] ? source->max_threads[i] : 1;
        differs |= launch->block[i] != (source->required_threads[i] ? source->required_threads[i] : 1);
    }
    if (has_required && differs)
        refuse(p,
               "the kernel requires blocks of %u x %u x %u threads (.reqntid), the launch has %u x %u x %u",
               source->required_threads[0], source->required_threads[1] ? source->required_threads[1] : 1,
               source->required_threads[2] ? source->required_threads[2] : 1, launch->block[0],
               launch->block[1], launch->block[2]);
    else if (has_most && threads > most)
        refuse(p, "the kernel allows %llu threads in a block (.maxntid), the launch has %llu",
               (unsigned long long)most, (unsigned long long)threads);
    (void)required;
    p->run->threads_per_cta = (uint32_t)(threads <= 1024 ? threads : 1024);
    p->run->warps_per_cta = (p->run->threads_per_cta + VM_LANES - 1) / VM_LANES;
    p->run->cta_count = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
}

/* CTAs of a cooperative launch wait for one another, so all must be there at once. */
static void check_cooperative(preparation *p) {
    const vm_grid *run = p->run;
    uint32_t sms = p->launch->sms ? p->launch->sms : VM_SMS;
    uint64_t size = (uint64_t)run->cluster[0] * run->cluster[1] * run->cluster[2], room = sms / size * size;
    if (run->cta_count > room * run->residents)
        refuse(p, "a cooperative launch of %llu CTAs: %u fit on each of %u SMs, so %llu at once",
               (unsigned long long)run->cta_count, run->residents, sms,
               (unsigned long long)(room * run->residents));
}

static void check_shared(preparation *p) {
    const vm_function *kernel = p->run->kernel;
    uint64_t align = kernel->dynamic_align ? kernel->dynamic_align : 16;
    uint64_t begin = (kernel->static_shared_end + align - 1) / align * align;
    uint64_t bytes = p->launch->dynamic_shared_bytes, end = begin + bytes;
    if (bytes > VM_SHARED_LIMIT || end - VM_SHARED_RESERVED > VM_SHARED_LIMIT) {
        refuse(p, "%llu bytes of static and %llu of dynamic shared memory; at most %u fit",
               (unsigned long long)(kernel->static_shared_end - VM_SHARED_RESERVED),
               (unsigned long long)bytes, VM_SHARED_LIMIT);
        return;
    }
    p->run->dynamic_shared = (uint32_t)begin;
    p->run->shared_bytes = (uint32_t)end;
    char problem[256];
    if (p->findings.count == 0 && !vm_launch_groups(p->run, problem, sizeof problem))
        refuse(p, "%s", problem);
    else if (p->findings.count == 0 && p->launch->cooperative)
        check_cooperative(p);
}

/* Module variables, then the caller's buffers, each between guards that belong to nothing. */
static void place_buffers(preparation *p, const vm_program *program) {
    vm_grid *run = p->run;
    vm_launch *launch = p->launch;
    run->allocations =
        BASE_NEW_ARRAY(p->arena, vm_allocation, program->globals.count + launch->buffer_count + 2);
    for (size_t i = 0; i < program->globals.count; i++) {
        vm_allocation allocation = program->globals.items[i];
        uint64_t bytes = allocation.end - allocation.begin;
        if (launch->variables != NULL) {
            allocation.host = launch->variables[i];
        } else {
            uint8_t *host = allocate_aligned(p->arena, bytes);
            if (allocation.host != NULL)
                memcpy(host, allocation.host, bytes);
            allocation.host = host;
        }
        run->allocations[run->allocation_count++] = allocation;
    }
    uint64_t next = VM_HEAP_BASE + VM_GUARD_BYTES;
    for (size_t i = 0; i < launch->buffer_count; i++) {
        vm_buffer *buffer = &launch->buffers[i];
        uint64_t align = buffer->align ? buffer->align : 256;
        if ((align & (align - 1)) != 0 || align > (uint64_t)1 << 30) {
            refuse(p, "buffer '%s': alignment %llu is not a power of two up to 2^30",
                   buffer->name ? buffer->name : "", (unsigned long long)align);
            continue;
        }
        if (buffer->bytes > (uint64_t)1 << 38 || (buffer->bytes != 0 && buffer->data == NULL)) {
            refuse(p, "buffer '%s' has %llu bytes%s", buffer->name ? buffer->name : "",
                   (unsigned long long)buffer->bytes, buffer->data ? "; that is too much" : " but no data");
            continue;
        }
        if (!buffer->placed)
            buffer->address = (next + align - 1) & ~(align - 1);
        else if (buffer->address < next || buffer->address > VM_ADDRESS_END - buffer->bytes ||
                 (i && !launch->buffers[i - 1].placed)) {
            refuse(p, "buffer '%s': its address 0x%llx is not above the buffer before it",
                   buffer->name ? buffer->name : "", (unsigned long long)buffer->address);
            continue;
        }
        run->allocations[run->allocation_count++] = (vm_allocation){
            buffer->address, buffer->address + buffer->bytes, buffer->data, buffer->name, buffer->read_only};
        next = buffer->address + buffer->bytes + VM_GUARD_BYTES;
    }
    if (!launch->cooperative)
        return;
    run->workspace = (next + 255) & ~(uint64_t)255;
    uint32_t *words = allocate_aligned(p->arena, WORKSPACE_BYTES);
    memset(words, 0, WORKSPACE_BYTES);
    words[0] = WORKSPACE_BYTES;
    run->allocations[run->allocation_count++] = (vm_allocation){
        run->workspace, run->workspace + WORKSPACE_BYTES, (uint8_t *)words, "grid barrier", false};
}

/* A tensor map of a buffer, with the address that the buffer has now. */
static void place_map(preparation *p, const vm_argument *argument, uint64_t address, size_t index,
                      const char *name, const vm_parameter *parameter) {
    vm_tensor_map map;
    if (parameter->bytes != VM_TENSOR_MAP_BYTES || argument->size != VM_TENSOR_MAP_BYTES ||
        vm_tensor_map_read(argument->bytes, &map) != VM_TENSOR_READ_OK) {
        refuse(p, "argument %zu (%s) is a tensor map, but the kernel's parameter has %u bytes", index, name,
               parameter->bytes);
        return;
    }
    map.address += address;
    vm_tensor_map_write(&map, p->run->parameters + parameter->offset);
}

uint64_t vm_address_first(void) {
    return VM_HEAP_BASE + VM_GUARD_BYTES;
}

static void place_arguments(preparation *p) {
    vm_grid *run = p->run;
    const vm_launch *launch = p->launch;
    const vm_function *kernel = run->kernel;
    size_t count = kernel->source->parameters.count;
    run->parameter_bytes = kernel->parameter_bytes;
    run->parameters = allocate_aligned(p->arena, kernel->parameter_bytes + 16);
    if (launch->argument_count != count) {
        refuse(p, "the kernel takes %zu arguments, the launch gives %zu", count, launch->argument_count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const vm_argument *argument = &launch->arguments[i];
        const vm_parameter *parameter = &kernel->parameters[i];
        const char *name = kernel->source->parameters.items[i]->name;
        if (argument->kind == VM_ARGUMENT_BYTES) {
            if (argument->size != parameter->bytes || (argument->size && argument->bytes == NULL))
                refuse(p, "argument %zu (%s) has %llu bytes, the kernel's parameter %u", i, name,
                       (unsigned long long)argument->size, parameter->bytes);
            else if (argument->size)
                memcpy(run->parameters + parameter->offset, argument->bytes, argument->size);
            continue;
        }
        if (argument->buffer >= launch->buffer_count) {
            refuse(p, "argument %zu (%s) names buffer %u of %zu", i, name, argument->buffer,
                   launch->buffer_count);
            continue;
        }
        uint64_t address = launch->buffers[argument->buffer].address + argument->byte_offset;
        if (argument->kind == VM_ARGUMENT_TENSOR_MAP)
            place_map(p, argument, address, i, name, parameter);
        else if (parameter->bytes != 8)
            refuse(p, "argument %zu (%s) is a buffer, but the kernel's parameter has %u bytes", i, name,
                   parameter->bytes);
        else
            memcpy(run->parameters + parameter->offset, &address, 8);
    }
}

static uint64_t fill_value(const vm_grid *run, const vm_fill *fill) {
    const vm_launch *launch = run->launch;
    switch (fill->kind) {
    case VM_FILL_PARAM: {
        uint64_t value = 0;
        if (run->kernel->source->id != fill->kernel || fill->value + fill->size > run->parameter_bytes)
            return 0;
        memcpy(&value, run->parameters + fill->value, fill->size);
        unsigned bits = fill->size * 8u;
        if (fill->sign && bits < 64 && value >> (bits - 1) & 1)
            value |= UINT64_MAX << bits;
        return value;
    }
    case VM_FILL_DYNAMIC_SHARED:
        return run->dynamic_shared + fill->value + (fill->window ? VM_SHARED_BASE : 0);
    default:
        break;
    }
    switch (fill->value) {
    case VM_VALUE_NTID_X:
        return launch->block[0];
    case VM_VALUE_NTID_Y:
        return launch->block[1];
    case VM_VALUE_NTID_Z:
        return launch->block[2];
    case VM_VALUE_NCTAID_X:
        return launch->grid[0];
    case VM_VALUE_NCTAID_Y:
        return launch->grid[1];
    case VM_VALUE_NCTAID_Z:
        return launch->grid[2];
    case VM_VALUE_NWARPID:
        return run->warps_per_cta;
    case VM_VALUE_DYNAMIC_SHARED_BYTES:
        return launch->dynamic_shared_bytes;
    default:
        return run->shared_bytes;
    }
}

static void fill_rows(preparation *p, const vm_program *program) {
    vm_grid *run = p->run;
    run->pool = allocate_aligned(p->arena, (size_t)program->pool_rows * VM_ROW_BYTES + VM_ROW_BYTES);
    if (program->pool_rows)
        memcpy(run->pool, program->pool.items, (size_t)program->pool_rows * VM_ROW_BYTES);
    for (size_t i = 0; i < program->fills.count; i++) {
        const vm_fill *fill = &program->fills.items[i];
        uint64_t value = fill_value(run, fill);
        uint8_t *row = run->pool + (size_t)fill->row * VM_ROW_BYTES;
        for (unsigned lane = 0; lane < VM_LANES; lane++) {
            if (fill->wide)
                ((uint64_t *)(void *)row)[lane] = value;
            else
                ((uint32_t *)(void *)row)[lane] = (uint32_t)value;
        }
    }
    run->warp_rows = allocate_aligned(p->arena, (size_t)run->warps_per_cta * VM_WARP_ROWS * VM_ROW_BYTES);
    const uint32_t *block = run->launch->block;
    for (uint32_t thread = 0; thread < run->warps_per_cta * VM_LANES; thread++) {
        uint32_t *rows =
            (uint32_t *)(void *)(run->warp_rows + (size_t)(thread / VM_LANES) * VM_WARP_ROWS * VM_ROW_BYTES);
        uint32_t lane = thread % VM_LANES;
        rows[VM_WARP_TID_X * VM_LANES + lane] = thread % block[0];
        rows[VM_WARP_TID_Y * VM_LANES + lane] = thread / block[0] % block[1];
        rows[VM_WARP_TID_Z * VM_LANES + lane] = thread / block[0] / block[1];
        rows[VM_WARP_LANE * VM_LANES + lane] = lane;
        rows[VM_WARP_INDEX * VM_LANES + lane] = thread / VM_LANES;
    }
}

bool vm_launch_prepare(vm_grid *run, base_arena *scratch, base_arena *arena, const vm_program *program,
                       vm_launch *launch, vm_result *result) {
    preparation p = {.run = run, .arena = scratch, .report = arena, .launch = launch, .result = result};
    run->program = program;
    run->launch = launch;
    run->level = vm_level_choose(launch->level);
    run->const_bank = launch->constants != NULL ? launch->constants : program->const_bank;
    find_kernel(&p, program);
    if (run->level == NULL)
        refuse(&p, "processor level '%s' is unknown or not available here",
               launch->level ? launch->level : "");
    if (run->kernel != NULL) {
        check_shape(&p);
        check_shared(&p);
        place_buffers(&p, program);
        place_arguments(&p);
    }
    if (p.findings.count == 0) {
        fill_rows(&p, program);
        run->serial = run->kernel->serial || launch->cooperative;
        return true;
    }
    result->status = VM_BAD_LAUNCH;
    result->findings = p.findings.items;
    result->finding_count = p.findings.count;
    return false;
}
