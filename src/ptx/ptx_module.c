/* SPDX-License-Identifier: Apache-2.0
 * Making and finding the objects of a PTX module. Knows nothing of text or of the instruction table. */
#include "ptx/ptx.h"
#include "ptx/ptx_private.h"

ptx_module *ptx_module_create(base_arena *arena, base_diagnostics *diagnostics) {
    ptx_module *module = BASE_NEW(arena, ptx_module);
    module->arena = arena;
    module->diagnostics = diagnostics;
    module->names = base_names_create(arena);
    module->function_index = base_map_create(arena);
    module->variable_index = base_map_create(arena);
    module->table = BASE_NEW(arena, struct ptx_table *);
    module->target = "";
    module->target_options = "";
    module->address_size = 64;
    return module;
}

ptx_function *ptx_function_create(ptx_module *module, const char *name, bool is_entry) {
    ptx_function *function = BASE_NEW(module->arena, ptx_function);
    function->name = base_name_of(module->names, name);
    function->is_entry = is_entry;
    function->id = (uint32_t)module->functions.count;
    base_vector_push(module->arena, &module->functions, function);
    base_map_set(module->function_index, BASE_KEY(function->name), function);
    return function;
}

ptx_register *ptx_register_create(ptx_module *module, ptx_function *function, const char *name,
                                  ptx_type type) {
    return ptx_register_create_named(module, function, base_name_of(module->names, name), type);
}

ptx_register *ptx_register_create_named(ptx_module *module, ptx_function *function, const char *name,
                                        ptx_type type) {
    ptx_register *reg = BASE_NEW(module->arena, ptx_register);
    reg->name = name;
    reg->type = type;
    reg->id = (uint32_t)function->registers.count;
    base_vector_push(module->arena, &function->registers, reg);
    return reg;
}

ptx_function *ptx_function_find(const ptx_module *module, const char *name) {
    return base_map_get(module->function_index, BASE_KEY(base_name_of(module->names, name)));
}

ptx_variable *ptx_variable_find(const ptx_module *module, const char *name) {
    ptx_variable *variable =
        base_map_get(module->variable_index, BASE_KEY(base_name_of(module->names, name)));
    if (variable != NULL) {
        return variable;
    }
    /* A producer that pushes to module->variables itself need not keep the index. */
    const char *interned = base_name_of(module->names, name);
    for (size_t i = 0; i < module->variables.count; i++) {
        if (module->variables.items[i]->name == interned) {
            return module->variables.items[i];
        }
    }
    return NULL;
}

bool ptx_variable_measure(ptx_variable *variable) {
    uint64_t bytes = (ptx_type_bits(variable->type) + 7) / 8;
    uint64_t elements = (uint64_t)variable->elements;
    if (variable->elements < 0 ||
        __builtin_mul_overflow(bytes, variable->vector ? variable->vector : 1, &bytes) ||
        __builtin_mul_overflow(bytes, elements, &bytes)) {
        return false;
    }
    variable->bytes = bytes;
    return true;
}
