/* SPDX-License-Identifier: Apache-2.0
 * Random well-formed functions for the tests of ir: both forms, all statements, most operations, names that
 * repeat, are reserved or are no identifiers. The same seed gives the same function. */
#ifndef TIRC_TESTS_IR_RANDOM_H
#define TIRC_TESTS_IR_RANDOM_H
#include "ir/ir.h"

typedef struct maker {
    ir_module *module;
    ir_function *function;
    ir_form form;
    uint64_t state;
    BASE_VECTOR(ir_var *) vars;
    BASE_VECTOR(ir_tensor *) tensors;
    BASE_VECTOR(ir_var *) registers;
    ir_var *sizes[2];
    unsigned budget, loops;
    bool dynamic;
} maker;

static const num_dtype maker_dtypes[] = {NUM_DTYPE_I32, NUM_DTYPE_F32, NUM_DTYPE_BOOL, NUM_DTYPE_I64,
                                         NUM_DTYPE_U32, NUM_DTYPE_F16, NUM_DTYPE_U8,   NUM_DTYPE_I16,
                                         NUM_DTYPE_F64, NUM_DTYPE_BF16};
enum { MAKER_DTYPES = sizeof maker_dtypes / sizeof *maker_dtypes };

static unsigned maker_pick(maker *m, unsigned count) {
    m->state ^= m->state << 13;
    m->state ^= m->state >> 7;
    m->state ^= m->state << 17;
    return (unsigned)((m->state >> 20) % count);
}

static const char *maker_name(maker *m) {
    static const char *const names[] = {"i",   "j",     "x",   "As",        "min",       "for",
                                        "x_1", "a.b",   "9th", "",          "tir",       "int32",
                                        "inf", "value", "i_1", "float32x4", "thread_idx"};
    return names[maker_pick(m, sizeof names / sizeof *names)];
}

static ir_type maker_type(maker *m) {
    ir_type type = ir_type_prim(maker_dtypes[maker_pick(m, MAKER_DTYPES)], 1);
    if (maker_pick(m, 6) == 0)
        type.lanes = (uint16_t)(2 << maker_pick(m, 2));
    return type;
}

static const ir_expr *maker_expr(maker *m, ir_type type, unsigned depth);

static const ir_expr *maker_constant(maker *m, ir_type type) {
    static const double reals[] = {0.0, -0.0, 1.0, 0.1, -2.5, 1e30, 1e-40, 65504, 3.0, 1.0 / 3};
    static const int64_t integers[] = {0, 1, -1, 2, 7, 255, 32767, -128, INT32_MAX, INT64_MIN, INT64_MAX};
    const ir_expr *e;
    num_dtype dtype = (num_dtype)type.dtype;
    if (num_dtype_is_float(dtype))
        e = ir_float(m->module, dtype, reals[maker_pick(m, 10)]);
    else
        e = ir_int(m->module, dtype, integers[maker_pick(m, 11)]);
    if (maker_pick(m, 12) == 0 && num_dtype_is_float(dtype))
        e = ir_float(m->module, dtype, maker_pick(m, 2) ? __builtin_inf() : -__builtin_nan(""));
    return type.lanes == 1 ? e : ir_make(m->module, IR_BROADCAST, type, &e, 1);
}

static const ir_expr *maker_index(maker *m, unsigned depth) {
    return maker_expr(m, ir_type_prim(NUM_DTYPE_I32, 1), depth);
}

/* An element of a tensor of this type, as LOAD or ADDRESS; NULL when there is none. */
static const ir_expr *maker_element(maker *m, ir_type type, unsigned depth, bool address) {
    if (m->tensors.count == 0)
        return NULL;
    const ir_tensor *tensor = m->tensors.items[maker_pick(m, (unsigned)m->tensors.count)];
    const ir_expr *indices[4];
    if (tensor->type.dtype != type.dtype || tensor->type.lanes != type.lanes ||
        tensor->type.scope == IR_SCOPE_TMEM)
        return NULL;
    for (uint32_t i = 0; i < tensor->type.rank; i++)
        indices[i] = tensor->is_scalar ? ir_int(m->module, NUM_DTYPE_I32, 0) : maker_index(m, depth);
    return address ? ir_address(m->module, tensor, indices, tensor->type.rank)
                   : ir_load(m->module, tensor, indices, tensor->type.rank);
}

static const ir_expr *maker_leaf(maker *m, ir_type type) {
    for (int i = 0; i < 4 && m->vars.count; i++) {
        const ir_var *var = m->vars.items[maker_pick(m, (unsigned)m->vars.count)];
        if (ir_type_equal(var->type, type))
            return ir_var_use(m->module, var);
    }
    for (size_t i = 0; i < m->registers.count; i++)
        if (ir_type_equal(m->registers.items[i]->type, type))
            return ir_var_use(m->module, m->registers.items[i]);
    if (type.dtype == NUM_DTYPE_I32 && type.lanes == 1 && maker_pick(m, 3) == 0)
        return ir_query(m->module, (ir_op)(IR_THREAD_IDX + maker_pick(m, 7)), (int)maker_pick(m, 3));
    return maker_constant(m, type);
}

/* base[index] of flat form, sometimes with an origin. */
static const ir_expr *maker_pointer_load(maker *m, ir_type type, unsigned depth) {
    if (m->tensors.count == 0)
        return NULL;
    const ir_tensor *tensor = m->tensors.items[maker_pick(m, (unsigned)m->tensors.count)];
    if (tensor->kind == IR_TENSOR_VIEW)
        return NULL;
    const ir_expr *origin = maker_pick(m, 2) ? maker_element(m, type, depth, maker_pick(m, 2)) : NULL;
    return ir_pointer_load(m->module, type, ir_data(m->module, tensor), maker_index(m, depth), origin);
}

static const ir_expr *maker_bool(maker *m, ir_type type, unsigned depth) {
    ir_type over = maker_type(m);
    over.lanes = type.lanes;
    const ir_expr *args[2];
    ir_op op = (ir_op)(IR_EQ + maker_pick(m, 9));
    if (op == IR_AND || op == IR_OR || op == IR_NOT)
        over.dtype = NUM_DTYPE_BOOL;
    args[0] = maker_expr(m, over, depth);
    args[1] = maker_expr(m, over, depth);
    return ir_make(m->module, op, type, args, op == IR_NOT ? 1 : 2);
}

static const ir_expr *maker_number(maker *m, ir_type type, unsigned depth) {
    static const ir_op both[] = {IR_ADD, IR_SUB, IR_MUL, IR_MIN, IR_MAX, IR_NEG, IR_ABS, IR_FMA};
    static const ir_op whole[] = {IR_FLOORDIV, IR_FLOORMOD, IR_TRUNCDIV, IR_TRUNCMOD, IR_BITAND,   IR_BITOR,
                                  IR_BITXOR,   IR_BITNOT,   IR_SHL,      IR_SHR,      IR_POPCOUNT, IR_CLZ};
    static const ir_op real[] = {IR_DIV, IR_FLOOR, IR_SQRT, IR_EXP, IR_POW, IR_ROUND, IR_TANH};
    ir_op op = both[maker_pick(m, 8)];
    if (maker_pick(m, 2))
        op = ir_type_is_float(type) ? real[maker_pick(m, 7)] : whole[maker_pick(m, 12)];
    const ir_expr *args[3];
    uint32_t count = (uint32_t)ir_op_information(op)->arguments;
    for (uint32_t i = 0; i < count; i++)
        args[i] = maker_expr(m, type, depth);
    return ir_make(m->module, op, type, args, count);
}

static const ir_expr *maker_vector(maker *m, ir_type type, unsigned depth) {
    ir_type scalar = ir_type_scalar(type);
    const ir_expr *args[8];
    if (ir_type_is_integer(type) && maker_pick(m, 2)) {
        args[0] = maker_expr(m, scalar, depth);
        args[1] = maker_constant(m, scalar);
        return ir_make(m->module, IR_RAMP, type, args, 2);
    }
    for (unsigned i = 0; i < type.lanes && i < 8; i++)
        args[i] = maker_expr(m, scalar, depth);
    return maker_pick(m, 2) ? ir_make(m->module, IR_BROADCAST, type, args, 1)
                            : ir_make(m->module, IR_VECTOR, type, args, type.lanes);
}

static const ir_expr *maker_expr(maker *m, ir_type type, unsigned depth) {
    const ir_expr *args[4], *e = NULL;
    ir_type other = maker_type(m);
    if (depth == 0 || maker_pick(m, 4) == 0)
        return maker_leaf(m, type);
    depth--;
    switch (maker_pick(m, 10)) {
    case 0: /* conversions */
        other.lanes = type.lanes;
        args[0] = maker_expr(m, other, depth);
        return ir_make(m->module, IR_CAST, type, args, 1);
    case 1:
        args[0] = maker_expr(m, ir_type_prim(NUM_DTYPE_BOOL, 1), depth);
        args[1] = maker_expr(m, type, depth);
        args[2] = maker_expr(m, type, depth);
        return ir_make(m->module, maker_pick(m, 2) ? IR_SELECT : IR_IF_THEN_ELSE, type, args, 3);
    case 2:
    case 3:
        e = m->form == IR_FORM_TENSOR ? maker_element(m, type, depth, false)
                                      : maker_pointer_load(m, type, depth);
        break;
    case 4:
        if (type.lanes > 1)
            return maker_vector(m, type, depth);
        other = type;
        other.lanes = 4;
        return ir_lane(m->module, maker_expr(m, other, depth), maker_pick(m, 4));
    case 5: /* of the same width */
        if (type.dtype == NUM_DTYPE_F32 || type.dtype == NUM_DTYPE_U32) {
            args[0] = maker_expr(m, ir_type_prim(NUM_DTYPE_I32, type.lanes), depth);
            return ir_make(m->module, IR_REINTERPRET, type, args, 1);
        }
        break;
    case 6:
        if (type.lanes == 1 && type.dtype != NUM_DTYPE_BOOL) {
            args[0] = ir_int(m->module, NUM_DTYPE_U32, 0xffffffff);
            args[1] = maker_expr(m, type, depth);
            args[2] = maker_index(m, depth);
            args[3] = ir_int(m->module, NUM_DTYPE_I32, 32);
            return ir_make(m->module, (ir_op)(IR_SHUFFLE + maker_pick(m, 4)), type, args, 4);
        }
        break;
    default:
        break;
    }
    if (e)
        return e;
    return type.dtype == NUM_DTYPE_BOOL ? maker_bool(m, type, depth) : maker_number(m, type, depth);
}

/* ---- statements ---- */

static base_span maker_span(maker *m) {
    return (base_span){1, maker_pick(m, 100), 100};
}

static ir_stmt *maker_add(maker *m, ir_stmt *block, ir_stmt_kind kind) {
    ir_stmt *s = ir_stmt_create(m->module, kind, maker_span(m));
    if (block)
        ir_block_add(m->module, block, s);
    return s;
}

static ir_tensor *maker_tensor(maker *m, ir_tensor_kind kind, ir_scope scope, const ir_expr *data) {
    const ir_expr *shape[3];
    ir_tensor_type type = {.scope = scope, .rank = 1 + maker_pick(m, 3), .shape = shape};
    ir_type element = maker_type(m);
    type.dtype = (num_dtype)element.dtype;
    type.lanes = element.lanes;
    type.align = maker_pick(m, 4) ? 0 : 16u << maker_pick(m, 4);
    for (uint32_t i = 0; i < type.rank; i++)
        shape[i] = kind == IR_TENSOR_PARAMETER && maker_pick(m, 2)
                       ? ir_var_use(m->module, m->sizes[maker_pick(m, 2)])
                       : ir_int(m->module, NUM_DTYPE_I32, 8);
    if (type.rank == 2 && shape[0]->op == IR_INT && shape[1]->op == IR_INT && maker_pick(m, 2)) {
        layout_iter iters[] = {{8, 1, LAYOUT_AXIS_M}, {8, 9, LAYOUT_AXIS_M}};
        layout_error error;
        type.layout = layout_make(m->module->arena, iters, 2, NULL, 0, NULL, 0, &error);
    }
    ir_tensor *tensor = ir_tensor_create(m->module, maker_name(m), &type, kind, data, maker_span(m));
    base_vector_push(m->module->arena, &m->tensors, tensor);
    return tensor;
}

static ir_tensor *maker_scalar(maker *m) {
    const ir_expr *one = ir_int(m->module, NUM_DTYPE_I32, 1);
    ir_type element = maker_type(m);
    ir_tensor_type type = {.scope = IR_SCOPE_LOCAL,
                           .rank = 1,
                           .shape = &one,
                           .dtype = (num_dtype)element.dtype,
                           .lanes = element.lanes};
    ir_tensor *tensor =
        ir_tensor_create(m->module, maker_name(m), &type, IR_TENSOR_ALLOCATION, NULL, maker_span(m));
    tensor->is_scalar = true;
    base_vector_push(m->module->arena, &m->tensors, tensor);
    return tensor;
}

static void maker_store(maker *m, ir_stmt *block) {
    ir_type type = maker_type(m);
    const ir_expr *e =
        m->form == IR_FORM_TENSOR ? maker_element(m, type, 2, false) : maker_pointer_load(m, type, 2);
    for (int i = 0; !e && i < 20; i++) {
        type = maker_type(m);
        e = m->form == IR_FORM_TENSOR ? maker_element(m, type, 2, false) : maker_pointer_load(m, type, 2);
    }
    if (!e)
        return;
    if (m->form == IR_FORM_FLAT) {
        ir_stmt *s = maker_add(m, block, IR_STMT_POINTER_STORE);
        s->as.pointer_store.base = e->args[0];
        s->as.pointer_store.index = e->args[1];
        s->as.pointer_store.origin = e->at.origin;
        s->as.pointer_store.value = maker_expr(m, type, 3);
        return;
    }
    ir_stmt *s = maker_add(m, block, IR_STMT_STORE);
    s->as.store.tensor = (ir_tensor *)(uintptr_t)e->at.tensor;
    s->as.store.indices = e->args;
    s->as.store.count = e->count;
    s->as.store.value = maker_expr(m, type, 3);
}

static void maker_declaration(maker *m, ir_stmt *block) {
    ir_stmt *s;
    switch (maker_pick(m, 4)) {
    case 0: {
        ir_type type = maker_type(m);
        s = maker_add(m, block, IR_STMT_LET);
        s->as.let.value = maker_expr(m, type, 4);
        s->as.let.var = ir_var_create(m->module, maker_name(m), type, IR_VAR_LET, maker_span(m));
        base_vector_push(m->module->arena, &m->vars, s->as.let.var);
        return;
    }
    case 1:
        s = maker_add(m, block, IR_STMT_ALLOCATE);
        s->as.allocate.tensor = maker_scalar(m);
        return;
    case 2: {
        ir_scope scope = maker_pick(m, 2) ? IR_SCOPE_SHARED : IR_SCOPE_LOCAL;
        if (!m->dynamic && maker_pick(m, 3) == 0) {
            scope = IR_SCOPE_SHARED_DYN;
            m->dynamic = true;
        }
        s = maker_add(m, block, IR_STMT_ALLOCATE);
        s->as.allocate.tensor = maker_tensor(m, IR_TENSOR_ALLOCATION, scope, NULL);
        return;
    }
    default: {
        if (m->form == IR_FORM_FLAT)
            return;
        const ir_tensor *root = m->tensors.items[maker_pick(m, (unsigned)m->tensors.count)];
        const ir_expr *data = ir_data(m->module, root);
        s = maker_add(m, block, IR_STMT_DECLARE);
        s->as.declare.tensor = maker_tensor(m, IR_TENSOR_VIEW, root->type.scope, data);
    }
    }
}

static void maker_block(maker *m, ir_stmt *block, unsigned depth);

static ir_stmt *maker_body(maker *m, unsigned depth) {
    ir_stmt *body = maker_add(m, NULL, IR_STMT_BLOCK);
    maker_block(m, body, depth);
    return body;
}

static void maker_loop(maker *m, ir_stmt *block, unsigned depth) {
    ir_type type = ir_type_prim(maker_pick(m, 3) ? NUM_DTYPE_I32 : NUM_DTYPE_I64, 1);
    ir_stmt *s = maker_add(m, block, IR_STMT_FOR);
    s->as.loop.kind = (ir_loop_kind)maker_pick(m, 4);
    s->as.loop.extent = s->as.loop.kind == IR_LOOP_UNROLL ? ir_int(m->module, (num_dtype)type.dtype, 4)
                                                          : maker_expr(m, type, 2);
    s->as.loop.start =
        maker_pick(m, 2) ? ir_int(m->module, (num_dtype)type.dtype, 0) : maker_expr(m, type, 2);
    s->as.loop.step = ir_int(m->module, (num_dtype)type.dtype, 1 + maker_pick(m, 2));
    s->as.loop.factor = s->as.loop.kind == IR_LOOP_PRAGMA ? (int64_t)maker_pick(m, 3) : 0;
    s->as.loop.var = ir_var_create(m->module, maker_name(m), type, IR_VAR_LOOP, maker_span(m));
    size_t vars = m->vars.count;
    base_vector_push(m->module->arena, &m->vars, s->as.loop.var);
    m->loops++;
    s->as.loop.body = maker_body(m, depth);
    m->loops--;
    m->vars.count = vars;
}

static void maker_statement(maker *m, ir_stmt *block, unsigned depth) {
    ir_stmt *s;
    unsigned what = maker_pick(m, depth ? 12 : 7);
    switch (what) {
    case 0:
    case 1:
        maker_declaration(m, block);
        return;
    case 2:
        s = maker_add(m, block, IR_STMT_EVALUATE);
        s->as.evaluate.value = maker_expr(m, maker_type(m), 4);
        return;
    case 3:
        if (m->form == IR_FORM_FLAT && m->registers.count) {
            s = maker_add(m, block, IR_STMT_ASSIGN);
            s->as.assign.var = m->registers.items[maker_pick(m, (unsigned)m->registers.count)];
            s->as.assign.value = maker_expr(m, s->as.assign.var->type, 4);
            return;
        }
        if (m->loops)
            maker_add(m, block, maker_pick(m, 2) ? IR_STMT_BREAK : IR_STMT_CONTINUE);
        return;
    case 7:
    case 8:
        s = maker_add(m, block, IR_STMT_IF);
        s->as.branch.condition = maker_expr(m, ir_type_prim(NUM_DTYPE_BOOL, 1), 3);
        s->as.branch.then_body = maker_body(m, depth - 1);
        if (maker_pick(m, 2))
            s->as.branch.else_body = maker_body(m, depth - 1);
        return;
    case 9:
        maker_loop(m, block, depth - 1);
        return;
    case 10:
        s = maker_add(m, block, IR_STMT_WHILE);
        s->as.while_loop.condition = maker_expr(m, ir_type_prim(NUM_DTYPE_BOOL, 1), 3);
        m->loops++;
        s->as.while_loop.body = maker_body(m, depth - 1);
        m->loops--;
        return;
    case 11:
        ir_block_add(m->module, block, maker_body(m, depth - 1));
        return;
    default:
        maker_store(m, block);
    }
}

static void maker_block(maker *m, ir_stmt *block, unsigned depth) {
    size_t vars = m->vars.count, tensors = m->tensors.count;
    for (unsigned count = maker_pick(m, 6); count && m->budget; count--) {
        m->budget--;
        maker_statement(m, block, depth);
    }
    m->vars.count = vars;
    m->tensors.count = tensors;
}

/* A random function of the form, added to the module. */
static ir_function *maker_function(ir_module *module, ir_form form, uint64_t seed) {
    maker m = {
        .module = module, .form = form, .state = seed * UINT64_C(0x9e3779b97f4a7c15) + 88172645463325252u};
    m.budget = 30;
    m.function = ir_function_create(
        module, base_arena_format(module->arena, "f%llu", (unsigned long long)seed), maker_span(&m));
    for (int i = 0; i < 2; i++)
        m.sizes[i] = ir_var_create(module, maker_name(&m), ir_type_prim(NUM_DTYPE_I32, 1), IR_VAR_PARAMETER,
                                   maker_span(&m));
    for (unsigned i = 0, count = 1 + maker_pick(&m, 3); i < count; i++) {
        ir_tensor *tensor = maker_tensor(&m, IR_TENSOR_PARAMETER, IR_SCOPE_GLOBAL, NULL);
        ir_parameter parameter = {.name = tensor->name, .tensor = tensor};
        base_vector_push(module->arena, &m.function->parameters, parameter);
    }
    ir_parameter scalar = {.name = m.sizes[1]->name, .var = m.sizes[1]};
    base_vector_push(module->arena, &m.function->parameters, scalar);
    base_vector_push(module->arena, &m.vars, m.sizes[1]);
    if (maker_pick(&m, 2)) {
        m.function->launch.present = true;
        for (int i = 0; i < 3; i++) {
            m.function->launch.grid[i] = ir_var_use(module, m.sizes[1]);
            m.function->launch.block[i] = ir_int(module, NUM_DTYPE_I32, 1 + maker_pick(&m, 8));
        }
        m.function->launch.max_registers = maker_pick(&m, 2) ? 64 : 0;
        m.function->launch.cooperative = maker_pick(&m, 2);
    }
    for (unsigned i = 0; form == IR_FORM_FLAT && i < 3; i++) {
        ir_type type = maker_type(&m);
        ir_stmt *s = maker_add(&m, m.function->body, IR_STMT_ASSIGN);
        s->as.assign.value = maker_constant(&m, type);
        s->as.assign.var = ir_var_create(module, maker_name(&m), type, IR_VAR_REGISTER, maker_span(&m));
        base_vector_push(module->arena, &m.registers, s->as.assign.var);
    }
    if (form == IR_FORM_FLAT) { /* views and loops that are gone live on in origins */
        ir_tensor *view = maker_tensor(&m, IR_TENSOR_VIEW, IR_SCOPE_SHARED, NULL);
        ir_tensor *gone = maker_tensor(&m, IR_TENSOR_ALLOCATION, IR_SCOPE_SHARED, NULL);
        m.tensors.count -= 2; /* what has ended cannot be used */
        const ir_expr *indices[3];
        ir_var *loop =
            ir_var_create(module, "i", ir_type_prim(NUM_DTYPE_I32, 1), IR_VAR_LOOP, maker_span(&m));
        for (int i = 0; i < 3; i++)
            indices[i] = ir_var_use(module, loop);
        ir_stmt *s = maker_add(&m, m.function->body, IR_STMT_POINTER_STORE);
        ir_type type = ir_type_prim(NUM_DTYPE_F32, 1);
        s->as.pointer_store.base = ir_data(module, m.tensors.items[0]);
        s->as.pointer_store.index = maker_index(&m, 1);
        s->as.pointer_store.value =
            ir_pointer_load(module, type, s->as.pointer_store.base, s->as.pointer_store.index,
                            ir_load(module, gone, indices, gone->type.rank));
        s->as.pointer_store.origin = ir_address(module, view, indices, view->type.rank);
    }
    while (m.budget) {
        m.budget--;
        maker_block(&m, maker_add(&m, m.function->body, IR_STMT_BLOCK), 4);
    }
    return m.function;
}
#endif
