/* SPDX-License-Identifier: Apache-2.0
 * What the tests of the machine share: PTX text to program, a launch with buffers, and its result as data. */
#ifndef TIRC_TESTS_VM_HELP_H
#define TIRC_TESTS_VM_HELP_H
#include "unit/ptx_help.h"
#include "vm/vm.h"

typedef struct vm_case {
    base_arena *arena;
    vm_program *program;
    vm_buffer buffers[8];
    vm_argument arguments[12];
    vm_launch launch;
    vm_result *result;
    base_builder printed;
} vm_case;

static inline void vm_case_print(void *user, const char *text, size_t size) {
    base_builder_add(user, text, size);
}

/* Parses and decodes; fails the test when the text is wrong. */
static inline vm_case *vm_case_load_as(base_arena *arena, const char *text, bool checked) {
    vm_case *c = BASE_NEW(arena, vm_case);
    ptx_case parsed = ptx_case_parse(arena, text);
    c->arena = arena;
    if (base_diagnostics_errors(parsed.diagnostics) != 0)
        fail_msg("%s", ptx_case_messages(&parsed));
    c->program = checked ? vm_load_checked(arena, parsed.module, VM_APPROXIMATE_NEARLY)
                         : vm_load(arena, parsed.module);
    assert_non_null(c->program);
    base_builder_start(&c->printed, arena);
    for (int i = 0; i < 3; i++)
        c->launch.grid[i] = c->launch.block[i] = 1;
    c->launch.block[0] = 32;
    c->launch.threads = 1;
    c->launch.step_limit = 20000000;
    c->launch.buffers = c->buffers;
    c->launch.arguments = c->arguments;
    c->launch.print = vm_case_print;
    c->launch.print_user = &c->printed;
    c->launch.check = checked ? VM_CHECK_RACES | VM_CHECK_INITIAL : 0;
    return c;
}

static inline vm_case *vm_case_load(base_arena *arena, const char *text) {
    return vm_case_load_as(arena, text, false);
}

/* For a launch that looks for races and reads of memory that nothing wrote. */
static inline vm_case *vm_case_load_checked(base_arena *arena, const char *text) {
    return vm_case_load_as(arena, text, true);
}

/* Adds a buffer and passes its address; the memory is zero. */
static inline void *vm_case_buffer(vm_case *c, const char *name, size_t bytes) {
    void *data = base_arena_allocate(c->arena, bytes + 1);
    vm_argument argument = {.kind = VM_ARGUMENT_BUFFER, .buffer = (uint32_t)c->launch.buffer_count};
    c->buffers[c->launch.buffer_count++] = (vm_buffer){.name = name, .data = data, .bytes = bytes};
    c->arguments[c->launch.argument_count++] = argument;
    return data;
}

static inline void vm_case_bytes(vm_case *c, const void *bytes, size_t size) {
    vm_argument argument = {
        .kind = VM_ARGUMENT_BYTES, .bytes = base_arena_copy(c->arena, bytes, size), .size = size};
    c->arguments[c->launch.argument_count++] = argument;
}

static inline void vm_case_u32(vm_case *c, uint32_t value) {
    vm_case_bytes(c, &value, 4);
}

static inline vm_result *vm_case_run(vm_case *c, uint32_t grid, uint32_t block) {
    c->launch.grid[0] = grid;
    c->launch.block[0] = block;
    c->result = vm_run(c->arena, c->program, &c->launch);
    return c->result;
}

/* "kind kind ..." of the findings, in their order. */
static inline const char *vm_case_findings(const vm_case *c) {
    base_builder out;
    base_builder_start(&out, c->arena);
    base_builder_string(&out, "");
    for (size_t i = 0; i < c->result->finding_count; i++)
        base_builder_format(&out, "%s%s", i ? " " : "", vm_finding_kind_name(c->result->findings[i].kind));
    return out.data;
}

/* Fails with the findings' texts when the run was not complete and clean. */
static inline void vm_case_clean(const vm_case *c) {
    if (c->result->status == VM_COMPLETE && c->result->finding_count == 0)
        return;
    const char *text = c->result->finding_count ? c->result->findings[0].text : NULL;
    fail_msg("status %d, findings: %s; %s", c->result->status, vm_case_findings(c), text ? text : "");
}

/* A kernel k with parameters p0, p1, ... of 64 bits (buffers) and registers of every kind around the body.
 * The addresses stand in %rd90, %rd91 ..., the thread's index in the grid in %r90, times 4 in %rd80, times 8
 * in %rd81. */
static inline const char *vm_case_kernel(base_arena *arena, unsigned parameters, const char *before,
                                         const char *body) {
    base_builder out;
    base_builder_start(&out, arena);
    base_builder_format(&out, "%s%s\n.visible .entry k(", PTX_HEADER, before);
    for (unsigned i = 0; i < parameters; i++)
        base_builder_format(&out, "%s.param .u64 p%u", i ? ", " : "", i);
    base_builder_string(
        &out, ")\n{\n.reg .pred %p<20>;\n.reg .b16 %h<40>;\n.reg .b32 %r<100>;\n.reg .b64 %rd<100>;\n"
              ".reg .b128 %q<8>;\n.reg .f32 %f<40>;\n.reg .f64 %fd<40>;\n"
              "mov.u32 %r91, %ctaid.x;\nmov.u32 %r92, %ntid.x;\nmov.u32 %r93, %tid.x;\n"
              "mad.lo.s32 %r90, %r91, %r92, %r93;\nmul.wide.u32 %rd80, %r90, 4;\n"
              "mul.wide.u32 %rd81, %r90, 8;\n");
    for (unsigned i = 0; i < parameters; i++)
        base_builder_format(&out, "ld.param.u64 %%rd9%u, [p%u];\n", i, i);
    base_builder_format(&out, "%s\nret;\n}\n", body);
    return out.data;
}
#endif
