/* SPDX-License-Identifier: Apache-2.0
 * Modules, functions and statements in the text form (docs/ir.md). A function is printed once to learn which
 * things are used outside their scope; when there are any (origins of moved code), once more with those in
 * its head. */
#include "ir/ir_naming.h"

typedef struct writer {
    ir_printer printer;
    base_builder *out;
    ir_naming *naming;
    unsigned depth;
} writer;

static void print_block(writer *w, const ir_stmt *block);

static void indent(writer *w) {
    base_builder_repeat(w->out, ' ', w->depth * 4);
}

/* Very large expressions are a diagnostic of ir_verify; a dump of one must still end. */
static void print_value(writer *w, const ir_expr *e) {
    if (!e)
        base_builder_char(w->out, '?');
    else if (e->depth > IR_DEPTH_LIMIT || e->size > IR_SIZE_LIMIT)
        base_builder_format(w->out, "<expression of %u nodes, %u deep>", e->size, e->depth);
    else
        ir_print_expr(&w->printer, e, IR_BIND_ANY);
}

static void print_field(writer *w, const char *name, const ir_expr *e) {
    base_builder_string(w->out, name);
    print_value(w, e);
}

/* ---- declarations ---- */

static void print_tensor_type(writer *w, const ir_tensor *tensor) {
    const ir_tensor_type *type = &tensor->type;
    ir_type_print(ir_tensor_element(tensor), w->out);
    base_builder_char(w->out, '[');
    for (uint32_t i = 0; i < type->rank; i++)
        print_field(w, i ? ", " : "", type->shape[i]);
    base_builder_char(w->out, ']');
    if (type->scope != IR_SCOPE_GLOBAL)
        base_builder_format(w->out, " %s", ir_scope_name(type->scope));
    if (type->align != 64)
        base_builder_format(w->out, " align=%u", type->align);
    if (type->layout) {
        base_builder_string(w->out, " layout=");
        layout_print(type->layout, w->out);
    }
    for (uint32_t i = 0; type->strides && i < type->rank; i++)
        print_field(w, i ? ", " : " strides=(", type->strides[i]);
    if (type->strides)
        base_builder_char(w->out, ')');
    if (type->origin)
        print_field(w, " origin=", type->origin);
}

static void declare_var(writer *w, const ir_var *var) {
    base_builder_format(w->out, "%s: ", ir_naming_declare(w->naming, var, var->name));
    ir_type_print(var->type, w->out);
}

static void declare_tensor(writer *w, const ir_tensor *tensor) {
    const char *name = ir_naming_declare(w->naming, tensor, tensor->name);
    base_builder_format(w->out, "%s: ", name);
    print_tensor_type(w, tensor);
}

static void print_detached(writer *w) {
    for (int tensors = 0; tensors < 2; tensors++)
        for (size_t i = 0; i < w->naming->detached.count; i++) {
            ir_detached *detached = w->naming->detached.items[i];
            if ((detached->tensor != NULL) != tensors)
                continue;
            static const char *const kinds[] = {"parameter", "alloc", "view"};
            indent(w);
            base_builder_format(w->out, "origin %s ", tensors ? kinds[detached->tensor->kind] : "var");
            if (tensors)
                declare_tensor(w, detached->tensor);
            else
                declare_var(w, detached->var);
            const void *key = tensors ? (const void *)detached->tensor : detached->var;
            const ir_name_entry *entry = base_map_get(w->naming->entries, BASE_KEY(key));
            detached->name = entry->word->text;
            base_builder_char(w->out, '\n');
        }
}

/* ---- the head ---- */

typedef struct collector {
    writer *w;
    base_map *seen;
    bool sizes; /* sizes of parameters; else registers */
    BASE_VECTOR(const ir_var *) found;
} collector;

static void collect_var(collector *c, const ir_var *var) {
    bool wanted = c->sizes ? var->kind == IR_VAR_PARAMETER : var->kind == IR_VAR_REGISTER;
    if (!wanted || base_map_get(c->seen, BASE_KEY(var)))
        return;
    base_map_set(c->seen, BASE_KEY(var), c);
    base_vector_push(c->w->naming->arena, &c->found, var);
}

static void collect_expr(void *user, const ir_expr *e) {
    if (ir_op_attribute(e->op) == IR_ATTRIBUTE_VAR)
        collect_var(user, e->at.var);
    if (ir_op_attribute(e->op) == IR_ATTRIBUTE_ORIGIN && e->at.origin)
        ir_expr_visit(e->at.origin, collect_expr, user);
}

static void collect_root(void *user, const ir_expr **e) {
    if (*e)
        ir_expr_visit(*e, collect_expr, user);
}

static void collect_stmt(void *user, ir_stmt *statement) {
    if (statement->kind == IR_STMT_ASSIGN)
        collect_var(user, statement->as.assign.var);
    ir_stmt_expressions(statement, collect_root, user);
    if (statement->kind == IR_STMT_POINTER_STORE)
        collect_root(user, &statement->as.pointer_store.origin);
}

static void print_sizes(writer *w, const ir_function *function) {
    collector c = {.w = w, .seen = base_map_create(w->naming->arena), .sizes = true};
    for (size_t i = 0; i < function->parameters.count; i++)
        if (function->parameters.items[i].var)
            base_map_set(c.seen, BASE_KEY(function->parameters.items[i].var), &c);
    for (size_t i = 0; i < function->parameters.count; i++) {
        const ir_tensor *tensor = function->parameters.items[i].tensor;
        for (uint32_t axis = 0; tensor && axis < tensor->type.rank; axis++) {
            ir_expr_visit(tensor->type.shape[axis], collect_expr, &c);
            if (tensor->type.strides)
                ir_expr_visit(tensor->type.strides[axis], collect_expr, &c);
        }
        if (tensor && tensor->type.origin)
            ir_expr_visit(tensor->type.origin, collect_expr, &c);
    }
    /* in a function that the verifier refuses, also what only the launch names */
    for (int i = 0; i < 3 && function->launch.present; i++) {
        const ir_expr *const dims[3] = {function->launch.grid[i], function->launch.block[i],
                                        function->launch.cluster[i]};
        for (int k = 0; k < 3; k++)
            if (dims[k])
                ir_expr_visit(dims[k], collect_expr, &c);
    }
    for (size_t i = 0; i < c.found.count; i++) {
        base_builder_string(w->out, i ? ", " : "[");
        declare_var(w, c.found.items[i]);
    }
    if (c.found.count)
        base_builder_char(w->out, ']');
}

/* Shapes may name parameters that follow, so names come first, then the types are written. */
static void print_parameters(writer *w, const ir_function *function) {
    for (size_t i = 0; i < function->parameters.count; i++) {
        const ir_parameter *parameter = &function->parameters.items[i];
        if (parameter->tensor)
            ir_naming_declare(w->naming, parameter->tensor, parameter->tensor->name);
        else if (parameter->var)
            ir_naming_declare(w->naming, parameter->var, parameter->var->name);
    }
    base_builder_char(w->out, '(');
    for (size_t i = 0; i < function->parameters.count; i++) {
        const ir_parameter *parameter = &function->parameters.items[i];
        base_builder_string(w->out, i ? ", " : "");
        if (!parameter->tensor && !parameter->var) {
            base_builder_char(w->out, '?');
            continue;
        }
        base_builder_format(
            w->out, "%s: ",
            ir_printer_name(&w->printer, parameter->tensor ? NULL : parameter->var, parameter->tensor));
        if (parameter->tensor)
            print_tensor_type(w, parameter->tensor);
        else
            ir_type_print(parameter->var->type, w->out);
    }
    base_builder_string(w->out, "):\n");
}

static void print_triple(writer *w, const char *name, const ir_expr *const *triple) {
    indent(w);
    base_builder_string(w->out, name);
    for (int i = 0; i < 3; i++)
        print_field(w, i ? ", " : " = (", triple[i]);
    base_builder_string(w->out, ")\n");
}

static void print_limit(writer *w, const char *name, int64_t value) {
    if (!value)
        return;
    indent(w);
    base_builder_format(w->out, "%s = %lld\n", name, (long long)value);
}

static void print_launch(writer *w, const ir_launch *launch) {
    if (!launch->present)
        return;
    indent(w);
    base_builder_string(w->out, "launch:\n");
    w->depth++;
    print_triple(w, "grid", launch->grid);
    print_triple(w, "block", launch->block);
    if (launch->cluster[0] || launch->cluster[1] || launch->cluster[2])
        print_triple(w, "cluster", launch->cluster);
    if (launch->dynamic_smem_bytes) {
        indent(w);
        print_field(w, "dynamic_smem_bytes = ", launch->dynamic_smem_bytes);
        base_builder_char(w->out, '\n');
    }
    print_limit(w, "min_blocks_per_sm", launch->min_blocks_per_sm);
    print_limit(w, "max_blocks_per_cluster", launch->max_blocks_per_cluster);
    print_limit(w, "max_registers", launch->max_registers);
    if (launch->cooperative) {
        indent(w);
        base_builder_string(w->out, "cooperative\n");
    }
    if (launch->follows) {
        indent(w);
        base_builder_string(w->out, "follows\n");
    }
    if (launch->programmatic) {
        indent(w);
        base_builder_string(w->out, "programmatic\n");
    }
    if (launch->has_priority) {
        indent(w);
        base_builder_format(w->out, "priority = %ld\n", (long)launch->priority);
    }
    if (launch->has_carveout) {
        indent(w);
        base_builder_format(w->out, "carveout = %ld\n", (long)launch->carveout);
    }
    if (launch->cluster_policy) {
        indent(w);
        base_builder_format(w->out, "cluster_policy = %s\n", ir_cluster_policy_name(launch->cluster_policy));
    }
    if (launch->cluster_size) {
        indent(w);
        base_builder_format(w->out, "cluster_size = %s\n", ir_cluster_size_name(launch->cluster_size));
    }
    if (launch->preferred[0]) {
        indent(w);
        base_builder_format(w->out, "preferred_cluster = (%ld, %ld, %ld)\n", (long)launch->preferred[0],
                            (long)launch->preferred[1], (long)launch->preferred[2]);
    }
    if (launch->sync_domain) {
        indent(w);
        base_builder_format(w->out, "sync_domain = %s\n", ir_sync_domain_name(launch->sync_domain));
    }
    if (launch->has_domain_map) {
        indent(w);
        base_builder_format(w->out, "sync_domain_map = (%ld, %ld)\n", (long)launch->domain_map[0],
                            (long)launch->domain_map[1]);
    }
    w->depth--;
}

static void print_registers(writer *w, const ir_function *function) {
    collector c = {.w = w, .seen = base_map_create(w->naming->arena)};
    ir_stmt_visit(function->body, collect_stmt, &c);
    for (size_t i = 0; i < c.found.count; i++) {
        indent(w);
        base_builder_string(w->out, "register ");
        declare_var(w, c.found.items[i]);
        base_builder_char(w->out, '\n');
    }
}

/* ---- statements ---- */

static void print_if(writer *w, const ir_stmt *statement) {
    print_field(w, "if ", statement->as.branch.condition);
    for (;;) {
        base_builder_string(w->out, ":\n");
        print_block(w, statement->as.branch.then_body);
        const ir_stmt *other = statement->as.branch.else_body;
        if (!other)
            return;
        indent(w);
        if (other->as.block.body.count != 1 || other->as.block.body.items[0]->kind != IR_STMT_IF) {
            base_builder_string(w->out, "else:\n");
            print_block(w, other);
            return;
        }
        statement = other->as.block.body.items[0];
        print_field(w, "elif ", statement->as.branch.condition);
    }
}

static void print_for(writer *w, const ir_stmt *statement) {
    const ir_var *var = statement->as.loop.var;
    int64_t start = 1, step = 0;
    ir_type i32 = ir_type_prim(NUM_DTYPE_I32, 1);
    base_builder bounds;
    base_builder *out = w->out;
    /* the bounds are outside the variable's scope, but stand after its name */
    base_builder_start(&bounds, w->naming->arena);
    w->out = w->printer.out = &bounds;
    base_builder_format(&bounds, " in %s(", ir_loop_word(statement->as.loop.kind));
    print_value(w, statement->as.loop.extent);
    const ir_expr *s = statement->as.loop.start, *t = statement->as.loop.step;
    if (!s || !ir_is_int(s, &start) || start != 0 || !ir_type_equal(s->type, var->type))
        print_field(w, ", start=", s);
    if (!t || !ir_is_int(t, &step) || step != 1 || !ir_type_equal(t->type, var->type))
        print_field(w, ", step=", t);
    if (statement->as.loop.factor)
        base_builder_format(&bounds, ", factor=%lld", (long long)statement->as.loop.factor);
    w->out = w->printer.out = out;
    size_t mark = w->naming->open.count;
    base_builder_format(out, "for %s", ir_naming_declare(w->naming, var, var->name));
    if (!ir_type_equal(var->type, i32)) {
        base_builder_string(out, ": ");
        ir_type_print(var->type, out);
    }
    base_builder_format(out, "%s):\n", bounds.data);
    print_block(w, statement->as.loop.body);
    ir_naming_close(w->naming, mark);
}

/* The whole line of a statement that has no statements inside. */
static void print_simple(writer *w, const ir_stmt *statement) {
    base_builder *out = w->out;
    switch (statement->kind) {
    case IR_STMT_LET: { /* the value does not see the name */
        base_builder value;
        base_builder_start(&value, w->naming->arena);
        w->out = w->printer.out = &value;
        print_value(w, statement->as.let.value);
        w->out = w->printer.out = out;
        base_builder_string(out, "let ");
        declare_var(w, statement->as.let.var);
        base_builder_format(out, " = %s", value.data);
        break;
    }
    case IR_STMT_DECLARE: {
        base_builder data;
        base_builder_start(&data, w->naming->arena);
        w->out = w->printer.out = &data;
        print_value(w, statement->as.declare.tensor->data);
        w->out = w->printer.out = out;
        base_builder_string(out, "view ");
        declare_tensor(w, statement->as.declare.tensor);
        base_builder_format(out, " = %s", data.data);
        break;
    }
    case IR_STMT_STORE:
        ir_print_indices(&w->printer, statement->as.store.tensor, statement->as.store.indices,
                         statement->as.store.count);
        print_field(w, " = ", statement->as.store.value);
        break;
    case IR_STMT_POINTER_STORE: {
        const ir_expr *base = statement->as.pointer_store.base, *value = statement->as.pointer_store.value;
        ir_type usual = {0};
        ir_infer(IR_POINTER_LOAD, &base, 1, (ir_attribute){0}, &usual);
        ir_print_access(&w->printer, base, statement->as.pointer_store.index, value->type, usual,
                        statement->as.pointer_store.origin);
        print_field(w, " = ", value);
        break;
    }
    case IR_STMT_ASSIGN:
        base_builder_string(out, ir_printer_name(&w->printer, statement->as.assign.var, NULL));
        print_field(w, " = ", statement->as.assign.value);
        break;
    case IR_STMT_BREAK:
        base_builder_string(out, "break");
        break;
    case IR_STMT_CONTINUE:
        base_builder_string(out, "continue");
        break;
    case IR_STMT_RETURN:
        base_builder_string(out, "return");
        break;
    default:
        print_value(w, statement->as.evaluate.value);
        break;
    }
    base_builder_char(out, '\n');
}

/* x: int32 = 0 is an allocation and the store that follows it; says whether it took that store too. */
static bool print_allocate(writer *w, const ir_stmt *statement, const ir_stmt *next) {
    const ir_tensor *tensor = statement->as.allocate.tensor;
    if (!ir_tensor_prints_as_scalar(tensor)) {
        base_builder_string(w->out, "alloc ");
        declare_tensor(w, tensor);
        base_builder_char(w->out, '\n');
        return false;
    }
    base_builder_format(w->out, "%s: ", ir_naming_declare(w->naming, tensor, tensor->name));
    ir_type_print(ir_tensor_element(tensor), w->out);
    bool joined = next && next->kind == IR_STMT_STORE && next->as.store.tensor == tensor &&
                  ir_index_is_zero(next->as.store.indices, next->as.store.count);
    if (joined)
        print_field(w, " = ", next->as.store.value);
    base_builder_char(w->out, '\n');
    return joined;
}

static void print_block(writer *w, const ir_stmt *block) {
    size_t mark = w->naming->open.count;
    w->depth++;
    if (block->as.block.body.count == 0 || w->depth > IR_STATEMENT_LIMIT + 8) {
        indent(w);
        base_builder_string(w->out, block->as.block.body.count ? "...\n" : "pass\n");
        w->depth--;
        return;
    }
    for (size_t i = 0; i < block->as.block.body.count; i++) {
        const ir_stmt *statement = block->as.block.body.items[i];
        indent(w);
        switch (statement->kind) {
        case IR_STMT_BLOCK:
            base_builder_string(w->out, "block:\n");
            print_block(w, statement);
            break;
        case IR_STMT_ALLOCATE:
            i += print_allocate(
                w, statement, i + 1 < block->as.block.body.count ? block->as.block.body.items[i + 1] : NULL);
            break;
        case IR_STMT_IF:
            print_if(w, statement);
            break;
        case IR_STMT_FOR:
            print_for(w, statement);
            break;
        case IR_STMT_WHILE:
            print_field(w, "while ", statement->as.while_loop.condition);
            base_builder_string(w->out, ":\n");
            print_block(w, statement->as.while_loop.body);
            break;
        default:
            print_simple(w, statement);
        }
    }
    ir_naming_close(w->naming, mark);
    w->depth--;
}

/* ---- functions ---- */

static void print_function(const ir_function *function, base_builder *out, ir_naming *naming) {
    writer w = {.printer = {out, naming}, .out = out, .naming = naming};
    base_builder_string(out, "\nfunction ");
    ir_print_identifier(out, function->name);
    print_sizes(&w, function);
    print_parameters(&w, function);
    w.depth = 1;
    print_launch(&w, &function->launch);
    print_registers(&w, function);
    print_detached(&w);
    w.depth = 0;
    print_block(&w, function->body);
    for (size_t i = 0; i < naming->detached.count; i++) { /* what the shapes of detached tensors mention */
        const ir_tensor *tensor = naming->detached.items[i]->tensor;
        base_builder unused;
        base_builder_start(&unused, naming->arena);
        w.out = w.printer.out = &unused;
        if (tensor)
            print_tensor_type(&w, tensor);
    }
}

void ir_module_print(const ir_module *module, base_builder *out) {
    base_builder_string(out, "tir 1\n");
    for (size_t i = 0; i < module->functions.count; i++) {
        const ir_function *function = module->functions.items[i];
        ir_naming *naming = ir_naming_create(out->arena);
        size_t mark = out->size;
        print_function(function, out, naming);
        if (!naming->detached.count)
            continue;
        ir_naming *again = ir_naming_create(out->arena);
        again->detached_by_key = naming->detached_by_key;
        again->detached.items = naming->detached.items;
        again->detached.count = naming->detached.count;
        again->detached.capacity = naming->detached.capacity;
        out->size = mark;
        out->data[mark] = 0;
        print_function(function, out, again);
    }
}
