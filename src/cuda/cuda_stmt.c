/* SPDX-License-Identifier: Apache-2.0
 * Statements, two spaces per level. Knows nothing of kernels and headers. */
#include "cuda/cuda_internal.h"
#include "num/num.h"

static void statement(cuda_writer *w, const ir_stmt *s);

void cuda_line(cuda_writer *w) {
    base_builder_repeat(w->out, ' ', 2 * (size_t)w->indent);
}

/* #line where the place of the next line is not the one the compiler would assume. */
static void place(cuda_writer *w, base_span span) {
    w->span = span;
    if (!w->options || !w->options->line_directives || !span.file)
        return;
    base_place at = base_span_place(base_diagnostics_sources(w->diagnostics), span);
    if (w->line_file == span.file && w->line == at.line)
        return;
    w->line_file = span.file;
    w->line = at.line;
    base_builder_format(w->out, "#line %u ", at.line);
    cuda_literal_string(w, at.name);
    base_builder_char(w->out, '\n');
}

static void body(cuda_writer *w, const ir_stmt *block) {
    w->indent++;
    cuda_scope_open(w);
    cuda_block(w, block);
    cuda_scope_close(w);
    w->indent--;
}

/* ---- declarations ---- */
/* The value that s writes. */
static void stored_value(cuda_writer *w, const ir_stmt *s, const ir_expr *value) {
    w->context = cuda_value_context(w, s);
    cuda_expr(w, value, false);
    w->context = CUDA_WHOLE;
}

static void let(cuda_writer *w, const ir_stmt *s) {
    const ir_var *var = s->as.let.var;
    /* The value is written before the name is visible: in C a name is in scope in its own initialiser. */
    base_builder *out = w->out, value;
    base_builder_start(&value, w->arena);
    w->out = &value;
    stored_value(w, s, s->as.let.value);
    w->out = out;
    const char *name = cuda_name_new(w, var, var->name, "");
    cuda_line(w);
    base_builder_name(out, cuda_type(w, var->type));
    base_builder_char(out, ' ');
    base_builder_name(out, name);
    base_builder_string(out, " = ");
    base_builder_add(out, value.data ? value.data : "", value.size);
    base_builder_string(out, ";\n");
}

static uint32_t alignment(const ir_tensor_type *type) {
    uint32_t natural = num_dtype_bits(type->dtype) == 4 ? 1 : num_dtype_bytes(type->dtype);
    return type->align > natural ? type->align : natural;
}

/* One dynamic arena of a name per unit: C knows it by name, so two kernels must agree on its type. */
static const char *arena_name(cuda_writer *w, const ir_tensor *tensor, const char *type) {
    const char *full = base_arena_format(w->arena, "%s %u", type, alignment(&tensor->type));
    const char *suffix = "_ptr";
    for (unsigned n = 1;; n++) {
        const char *name = cuda_name_new(w, tensor, tensor->name, suffix);
        base_text text = base_text_of(name);
        uint64_t key = base_hash(text.data, text.size, 2);
        const char *known = base_map_get(w->externs, key);
        if (!known || base_text_equal(base_text_of(known), base_text_of(full))) {
            base_map_set(w->externs, key, (void *)(uintptr_t)full);
            return name;
        }
        suffix = base_arena_format(w->arena, "_%u_ptr", n);
    }
}

static void allocate(cuda_writer *w, const ir_stmt *s) {
    const ir_tensor *tensor = s->as.allocate.tensor;
    const char *type = cuda_storage(w, tensor->type.dtype);
    if (tensor->type.scope == IR_SCOPE_TMEM) {
        base_report(w->diagnostics, BASE_ERROR, "T0452", s->span,
                    "tensor memory '%s' has no CUDA C++ declaration", tensor->name);
        return;
    }
    cuda_line(w);
    if (tensor->type.scope == IR_SCOPE_SHARED_DYN) {
        const char *name = arena_name(w, tensor, type);
        base_builder_format(w->out, "extern __shared__ __align__(%u) %s %s[];\n", alignment(&tensor->type),
                            type, name);
        return;
    }
    uint64_t bytes = lower_tensor_bytes(tensor);
    const char *name = cuda_name_new(w, tensor, tensor->name, "_ptr");
    base_builder_format(w->out, "%salignas(%u) %s %s[%llu];\n",
                        tensor->type.scope == IR_SCOPE_SHARED ? "__shared__ " : "", alignment(&tensor->type),
                        type, name, (unsigned long long)(bytes / num_dtype_bytes(tensor->type.dtype)));
}

/* ---- control ---- */
static void branch(cuda_writer *w, const ir_stmt *s) {
    cuda_line(w);
    for (;;) {
        base_builder_string(w->out, "if (");
        cuda_expr(w, s->as.branch.condition, false);
        base_builder_string(w->out, ") {\n");
        body(w, s->as.branch.then_body);
        cuda_line(w);
        const ir_stmt *otherwise = s->as.branch.else_body;
        if (!otherwise || !otherwise->as.block.body.count)
            break;
        base_builder_string(w->out, "} else ");
        const ir_stmt *only = otherwise->as.block.body.items[0];
        if (otherwise->as.block.body.count == 1 && only->kind == IR_STMT_IF) {
            s = only;
            continue;
        }
        base_builder_string(w->out, "{\n");
        body(w, otherwise);
        cuda_line(w);
        break;
    }
    base_builder_string(w->out, "}\n");
}

/* A bound that reads memory is taken once, before the loop. */
static const ir_expr *steady_bound(cuda_writer *w, const ir_expr *e, const char *wish, const ir_var *var) {
    if (!ir_expr_reads(e))
        return e;
    ir_var *bound = ir_var_create(w->module, base_arena_format(w->arena, "%s_%s", var->name, wish), e->type,
                                  IR_VAR_LET, w->span);
    ir_stmt *s = ir_stmt_create(w->module, IR_STMT_LET, w->span);
    s->as.let.var = bound;
    s->as.let.value = e;
    let(w, s);
    return ir_var_use(w->module, bound);
}

static void loop(cuda_writer *w, const ir_stmt *s) {
    const ir_var *var = s->as.loop.var;
    const ir_expr *start = steady_bound(w, s->as.loop.start, "start", var);
    const ir_expr *extent = steady_bound(w, s->as.loop.extent, "extent", var);
    bool swap = ir_is_int(start, NULL); /* n + 2, as a person writes it */
    const ir_expr *end = ir_binary(w->module, IR_ADD, swap ? extent : start, swap ? start : extent);
    int64_t step = 1;
    ir_is_int(s->as.loop.step, &step);
    cuda_scope_open(w);
    if (s->as.loop.kind == IR_LOOP_PRAGMA) {
        cuda_line(w);
        if (s->as.loop.factor)
            base_builder_format(w->out, "#pragma unroll %lld\n", (long long)s->as.loop.factor);
        else
            base_builder_string(w->out, "#pragma unroll\n");
    }
    cuda_line(w);
    const char *name = cuda_name_new(w, var, var->name, "");
    base_builder_format(w->out, "for (%s %s = ", cuda_type(w, var->type), name);
    cuda_expr(w, start, false);
    base_builder_format(w->out, "; %s < ", name);
    w->plain = end; /* a loop does not step over the largest number of its type */
    cuda_expr(w, end, true);
    w->plain = NULL;
    if (step == 1)
        base_builder_format(w->out, "; ++%s) {\n", name);
    else
        base_builder_format(w->out, "; %s += %lld) {\n", name, (long long)step);
    body(w, s->as.loop.body);
    cuda_scope_close(w);
    cuda_line(w);
    base_builder_string(w->out, "}\n");
}

static void while_loop(cuda_writer *w, const ir_stmt *s) {
    cuda_line(w);
    base_builder_string(w->out, "while (");
    cuda_expr(w, s->as.while_loop.condition, false);
    base_builder_string(w->out, ") {\n");
    body(w, s->as.while_loop.body);
    cuda_line(w);
    base_builder_string(w->out, "}\n");
}

/* ---- stores ---- */
static void store(cuda_writer *w, const ir_stmt *s) {
    cuda_line(w);
    cuda_pointer_element(w, s->as.pointer_store.base, s->as.pointer_store.index,
                         s->as.pointer_store.value->type);
    base_builder_string(w->out, " = ");
    stored_value(w, s, s->as.pointer_store.value);
    base_builder_string(w->out, ";\n");
}

static void evaluate(cuda_writer *w, const ir_stmt *s) {
    if (!ir_expr_has_effect(s->as.evaluate.value))
        return;
    cuda_line(w);
    cuda_expr(w, s->as.evaluate.value, false);
    base_builder_string(w->out, ";\n");
}

static void word(cuda_writer *w, const char *text) {
    cuda_line(w);
    base_builder_string(w->out, text);
}

static void statement(cuda_writer *w, const ir_stmt *s) {
    place(w, s->span);
    switch (s->kind) {
    case IR_STMT_BLOCK:
        word(w, "{\n");
        body(w, s);
        word(w, "}\n");
        break;
    case IR_STMT_LET:
        let(w, s);
        break;
    case IR_STMT_ASSIGN:
        cuda_line(w);
        base_builder_name(w->out, cuda_name_of(w, s->as.assign.var));
        base_builder_string(w->out, " = ");
        stored_value(w, s, s->as.assign.value);
        base_builder_string(w->out, ";\n");
        break;
    case IR_STMT_ALLOCATE:
        allocate(w, s);
        break;
    case IR_STMT_POINTER_STORE:
        store(w, s);
        break;
    case IR_STMT_IF:
        branch(w, s);
        break;
    case IR_STMT_FOR:
        loop(w, s);
        break;
    case IR_STMT_WHILE:
        while_loop(w, s);
        break;
    case IR_STMT_BREAK:
        word(w, "break;\n");
        break;
    case IR_STMT_CONTINUE:
        word(w, "continue;\n");
        break;
    case IR_STMT_RETURN:
        word(w, "return;\n");
        break;
    case IR_STMT_EVALUATE:
        evaluate(w, s);
        break;
    case IR_STMT_DECLARE:
    case IR_STMT_STORE: /* not in flat form */
        break;
    }
}

void cuda_block(cuda_writer *w, const ir_stmt *block) {
    for (size_t i = 0; i < block->as.block.body.count; i++)
        statement(w, block->as.block.body.items[i]);
}
