/* SPDX-License-Identifier: Apache-2.0
 * The words and signs of the text form, one table for printer and parser. */
#include "ir/ir_text.h"
#include <string.h>

static const ir_infix infixes[] = {{IR_OR, "or", IR_BIND_OR},          {IR_AND, "and", IR_BIND_AND},
                                   {IR_EQ, "==", IR_BIND_COMPARE},     {IR_NE, "!=", IR_BIND_COMPARE},
                                   {IR_LT, "<", IR_BIND_COMPARE},      {IR_LE, "<=", IR_BIND_COMPARE},
                                   {IR_GT, ">", IR_BIND_COMPARE},      {IR_GE, ">=", IR_BIND_COMPARE},
                                   {IR_BITOR, "|", IR_BIND_BITOR},     {IR_BITXOR, "^", IR_BIND_BITXOR},
                                   {IR_BITAND, "&", IR_BIND_BITAND},   {IR_SHL, "<<", IR_BIND_SHIFT},
                                   {IR_SHR, ">>", IR_BIND_SHIFT},      {IR_ADD, "+", IR_BIND_SUM},
                                   {IR_SUB, "-", IR_BIND_SUM},         {IR_MUL, "*", IR_BIND_PRODUCT},
                                   {IR_DIV, "/", IR_BIND_PRODUCT},     {IR_FLOORDIV, "//", IR_BIND_PRODUCT},
                                   {IR_FLOORMOD, "%", IR_BIND_PRODUCT}};

const ir_infix *ir_infix_of(ir_op op) {
    for (size_t i = 0; i < sizeof infixes / sizeof *infixes; i++)
        if (infixes[i].op == op)
            return &infixes[i];
    return NULL;
}

const ir_infix *ir_infix_find(const char *sign, size_t size) {
    for (size_t i = 0; i < sizeof infixes / sizeof *infixes; i++)
        if (strlen(infixes[i].sign) == size && memcmp(infixes[i].sign, sign, size) == 0)
            return &infixes[i];
    return NULL;
}

bool ir_op_find(const char *name, size_t size, ir_op *op) {
    for (int i = 0; i < IR_OP_COUNT; i++) {
        const char *known = ir_op_information((ir_op)i)->name;
        if (strlen(known) == size && memcmp(known, name, size) == 0) {
            *op = (ir_op)i;
            return true;
        }
    }
    return false;
}

static bool dtype_find(const char *name, size_t size, num_dtype *dtype) {
    *dtype = num_dtype_find(name, size);
    if (*dtype == NUM_DTYPE_NONE)
        return false;
    const char *full = num_dtype_name(*dtype);
    return strlen(full) == size && memcmp(full, name, size) == 0;
}

bool ir_prim_find(const char *name, size_t size, ir_type *type) {
    num_dtype dtype;
    if (dtype_find(name, size, &dtype)) {
        *type = ir_type_prim(dtype, 1);
        return true;
    }
    size_t digits = 0;
    while (digits < size && name[size - 1 - digits] >= '0' && name[size - 1 - digits] <= '9')
        digits++;
    if (digits == 0 || digits > 5 || digits + 1 >= size || name[size - 1 - digits] != 'x' ||
        name[size - digits] == '0')
        return false;
    unsigned lanes = 0;
    for (size_t i = size - digits; i < size; i++)
        lanes = lanes * 10 + (unsigned)(name[i] - '0');
    if (lanes < 2 || lanes > UINT16_MAX || !dtype_find(name, size - digits - 1, &dtype))
        return false;
    *type = ir_type_prim(dtype, lanes);
    return true;
}

bool ir_word_reserved(const char *name, size_t size) {
    static const char *const words[] = {"tir",   "function", "launch", "register", "origin", "let",  "alloc",
                                        "view",  "for",      "in",     "if",       "elif",   "else", "while",
                                        "break", "continue", "return", "pass",     "block",  "and",  "or",
                                        "not",   "True",     "False",  "inf",      "nan"};
    ir_op op;
    ir_type type;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == size && memcmp(words[i], name, size) == 0)
            return true;
    if (size > 4 && (memcmp(name, "inf_", 4) == 0 || memcmp(name, "nan_", 4) == 0) &&
        ir_prim_find(name + 4, size - 4, &type))
        return true;
    return ir_op_find(name, size, &op) || ir_prim_find(name, size, &type);
}

const char *ir_loop_word(ir_loop_kind kind) {
    static const char *const words[] = {"serial", "unroll", "vectorized", "pragma_unroll"};
    return words[kind];
}

bool ir_index_is_zero(const ir_expr *const *indices, uint32_t count) {
    return count == 1 && indices[0]->op == IR_INT && indices[0]->at.integer == 0 &&
           ir_type_equal(indices[0]->type, ir_type_prim(NUM_DTYPE_I32, 1));
}

bool ir_tensor_prints_as_scalar(const ir_tensor *tensor) {
    const ir_tensor_type *type = &tensor->type;
    return tensor->kind == IR_TENSOR_ALLOCATION && type->scope == IR_SCOPE_LOCAL && type->rank == 1 &&
           type->shape[0]->op == IR_INT && type->shape[0]->at.integer == 1 &&
           ir_type_equal(type->shape[0]->type, ir_type_prim(NUM_DTYPE_I32, 1)) && !type->layout &&
           !type->strides && type->align == 64;
}

const char *ir_cluster_policy_name(ir_cluster_policy policy) {
    static const char *const names[] = {"", "default", "spread", "load_balancing"};
    return (size_t)policy < sizeof names / sizeof names[0] ? names[policy] : NULL;
}

const char *ir_sync_domain_name(ir_sync_domain domain) {
    static const char *const names[] = {"", "default", "remote"};
    return (size_t)domain < sizeof names / sizeof names[0] ? names[domain] : NULL;
}

const char *ir_cluster_size_name(ir_cluster_size size) {
    static const char *const names[] = {"", "default", "require_portable", "allow_non_portable"};
    return (size_t)size < sizeof names / sizeof names[0] ? names[size] : NULL;
}
