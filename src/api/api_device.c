/* SPDX-License-Identifier: Apache-2.0
 * Memory with device addresses that outlives a run: allocations and module variables. Knows nothing of
 * kernels' arguments. */
#include "api/api_device.h"
#include <stdlib.h>
#include <string.h>

enum { GUARD_BYTES = 4096, ALIGN_LEAST = 256, FRESH = 0xcc };
#define BYTES_LIMIT   ((uint64_t)1 << 38)
#define ADDRESS_LIMIT ((uint64_t)0x7f << 40)

typedef struct device_block {
    uint64_t begin, bytes;
    uint8_t *data;
    char *name;
} device_block;

/* Memory of the session's allocator, zeroed, aligned to 64. Its size stands before it. */
enum { MEMORY_HEADER = 128, MEMORY_ALIGN = 64 };
static void *memory_create(const tirc_session *session, uint64_t bytes) {
    if (bytes > SIZE_MAX - MEMORY_HEADER)
        return NULL;
    size_t size = (size_t)bytes + MEMORY_HEADER;
    uint8_t *raw =
        session->allocate ? session->allocate(session->allocate_user, NULL, 0, size) : malloc(size);
    if (!raw)
        return NULL;
    uint8_t *memory = (uint8_t *)(((uintptr_t)raw + MEMORY_HEADER - 1) & ~(uintptr_t)(MEMORY_ALIGN - 1));
    memcpy(memory - sizeof size, &size, sizeof size);
    memcpy(memory - 2 * sizeof size, &raw, sizeof raw);
    memset(memory, 0, (size_t)bytes);
    return memory;
}

static void memory_release(const tirc_session *session, void *memory) {
    if (!memory)
        return;
    size_t size;
    void *raw;
    memcpy(&size, (uint8_t *)memory - sizeof size, sizeof size);
    memcpy(&raw, (uint8_t *)memory - 2 * sizeof size, sizeof raw);
    if (session->allocate)
        session->allocate(session->allocate_user, raw, size, 0);
    else
        free(raw);
}

/* Variables of one module as this device holds them. */
typedef struct device_module {
    const vm_program *program;
    size_t count;
    vm_variable *variables;
    void **memory;
    uint8_t *constants;
    uint64_t constant_bytes;
    struct device_module *next;
} device_module;

struct tirc_device {
    tirc_session *session;
    device_block *blocks; /* live ones, by address */
    size_t count, capacity;
    uint64_t next;
    device_module *modules;
};

tirc_device *tirc_device_create(tirc_session *session) {
    tirc_device *device = session ? memory_create(session, sizeof *device) : NULL;
    if (device) {
        device->session = session;
        device->next = vm_address_first();
    }
    return device;
}

static void block_release(const tirc_session *session, device_block *block) {
    memory_release(session, block->data);
    memory_release(session, block->name);
}

static void module_release(const tirc_session *session, device_module *module) {
    for (size_t i = 0; module->memory && i < module->count; ++i)
        memory_release(session, module->memory[i]);
    memory_release(session, module->memory);
    memory_release(session, module->constants);
    memory_release(session, module->variables);
    memory_release(session, module);
}

void tirc_device_destroy(tirc_device *device) {
    if (!device)
        return;
    for (size_t i = 0; i < device->count; ++i)
        block_release(device->session, &device->blocks[i]);
    memory_release(device->session, device->blocks);
    while (device->modules) {
        device_module *next = device->modules->next;
        module_release(device->session, device->modules);
        device->modules = next;
    }
    memory_release(device->session, device);
}

tirc_status tirc_device_allocate(tirc_device *device, uint64_t bytes, uint64_t align, const char *name,
                                 uint64_t *address) {
    if (!device || !address || bytes > BYTES_LIMIT || (align & (align - 1)) || align > (uint64_t)1 << 30)
        return TIRC_USAGE;
    align = align < ALIGN_LEAST ? ALIGN_LEAST : align;
    uint64_t begin = (device->next + align - 1) & ~(align - 1);
    if (begin > ADDRESS_LIMIT - bytes - GUARD_BYTES)
        return TIRC_NO_MEMORY;
    if (device->count == device->capacity) {
        size_t capacity = device->capacity ? device->capacity * 2 : 16;
        device_block *grown = memory_create(device->session, capacity * sizeof *grown);
        if (!grown)
            return TIRC_NO_MEMORY;
        if (device->count)
            memcpy(grown, device->blocks, device->count * sizeof *grown);
        memory_release(device->session, device->blocks);
        device->blocks = grown;
        device->capacity = capacity;
    }
    device_block block = {begin, bytes, memory_create(device->session, bytes), NULL};
    if (name)
        block.name = memory_create(device->session, strlen(name) + 1);
    if (!block.data || (name && !block.name)) {
        block_release(device->session, &block);
        return TIRC_NO_MEMORY;
    }
    if (name)
        strcpy(block.name, name);
    memset(block.data, FRESH, bytes);
    device->blocks[device->count++] = block;
    device->next = begin + bytes + GUARD_BYTES;
    *address = begin;
    return TIRC_OK;
}

/* The last block that begins at or below the address; NULL: none. */
static device_block *block_below(const tirc_device *device, uint64_t address) {
    size_t low = 0, high = device->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (device->blocks[middle].begin <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &device->blocks[low - 1] : NULL;
}

tirc_status tirc_device_free(tirc_device *device, uint64_t address) {
    if (!device)
        return TIRC_USAGE;
    device_block *block = block_below(device, address);
    if (!block || block->begin != address)
        return TIRC_ERROR;
    block_release(device->session, block);
    size_t index = (size_t)(block - device->blocks);
    memmove(block, block + 1, (device->count - index - 1) * sizeof *block);
    --device->count;
    return TIRC_OK;
}

static bool contains(uint64_t begin, uint64_t size, uint64_t address, uint64_t bytes) {
    return address >= begin && address - begin <= size && bytes <= size - (address - begin);
}

void *tirc_device_memory(tirc_device *device, uint64_t address, uint64_t bytes) {
    if (!device)
        return NULL;
    const device_block *block = block_below(device, address);
    if (block && contains(block->begin, block->bytes, address, bytes))
        return block->data + (address - block->begin);
    return NULL;
}

bool tirc_device_find(const tirc_device *device, uint64_t address, uint64_t *begin, uint64_t *bytes) {
    const device_block *block = device ? block_below(device, address) : NULL;
    if (!block || !contains(block->begin, block->bytes, address, 0))
        return false;
    if (begin)
        *begin = block->begin;
    if (bytes)
        *bytes = block->bytes;
    return true;
}

/* ---- modules ---- */
static device_module *module_of(tirc_device *device, const vm_program *program) {
    for (device_module *module = device->modules; module; module = module->next)
        if (module->program == program)
            return module;
    device_module *module = memory_create(device->session, sizeof *module);
    if (!module)
        return NULL;
    module->program = program;
    vm_variable variable;
    size_t count = 0;
    while (vm_variable_at(program, count, &variable))
        ++count;
    module->variables = memory_create(device->session, (count + 1) * sizeof *module->variables);
    module->memory = memory_create(device->session, (count + 1) * sizeof *module->memory);
    for (; module->variables && module->memory && module->count < count; ++module->count) {
        vm_variable *at = &module->variables[module->count];
        vm_variable_at(program, module->count, at);
        uint8_t *memory = memory_create(device->session, at->bytes);
        if (!memory)
            break;
        if (at->initial)
            memcpy(memory, at->initial, at->bytes);
        module->memory[module->count] = memory;
    }
    const void *constants = vm_constants(program, &module->constant_bytes);
    module->constants = memory_create(device->session, module->constant_bytes + 16);
    if (module->constants)
        memcpy(module->constants, constants, module->constant_bytes);
    if (module->count < count || !module->variables || !module->memory || !module->constants) {
        module_release(device->session, module);
        return NULL;
    }
    module->next = device->modules;
    return device->modules = module;
}

typedef struct code_request {
    tirc_module *module;
    api_code *code;
    tirc_status status;
} code_request;
static void code_body(void *argument) {
    code_request *request = argument;
    request->code = api_code_get(request->module, false, NULL, false);
    request->status = request->code ? TIRC_OK : TIRC_ERROR;
}

tirc_status tirc_device_variable(tirc_device *device, tirc_module *module, const char *name,
                                 tirc_device_symbol *found) {
    if (!device || !module || !name || !found || module->session != device->session)
        return TIRC_USAGE;
    code_request request = {.module = module};
    tirc_status status = api_protect(module->session->heap, code_body, &request, &request.status);
    if (status != TIRC_OK)
        return status;
    const device_module *held = module_of(device, request.code->program);
    if (!held)
        return TIRC_NO_MEMORY;
    *found = (tirc_device_symbol){0};
    for (size_t i = 0; i < held->count; ++i)
        if (!strcmp(held->variables[i].name, name))
            *found = (tirc_device_symbol){held->variables[i].address, held->variables[i].bytes,
                                          held->memory[i], false};
    vm_variable constant;
    for (size_t i = 0; vm_constant_at(request.code->program, i, &constant); ++i)
        if (!strcmp(constant.name, name))
            *found = (tirc_device_symbol){
                constant.address, constant.bytes,
                held->constants + ((const uint8_t *)constant.initial -
                                   (const uint8_t *)vm_constants(request.code->program, &(uint64_t){0})),
                true};
    return found->memory ? TIRC_OK : TIRC_ERROR;
}

bool api_device_bind(tirc_device *device, const vm_program *program, vm_launch *launch) {
    const device_module *module = module_of(device, program);
    if (!module)
        return false;
    vm_buffer *buffers = BASE_NEW_ARRAY(device->session->arena, vm_buffer, device->count + 1);
    for (size_t i = 0; i < device->count; ++i) {
        const device_block *block = &device->blocks[i];
        buffers[i] = (vm_buffer){.name = block->name,
                                 .data = block->data,
                                 .bytes = block->bytes,
                                 .placed = true,
                                 .address = block->begin};
    }
    launch->buffers = buffers;
    launch->buffer_count = device->count;
    launch->variables = module->memory;
    launch->constants = module->constants;
    return true;
}
