/* SPDX-License-Identifier: Apache-2.0
 * Elements of 4 bits. In: POINTER_LOAD and POINTER_STORE of 4-bit types, element numbers in nibbles. Out: the
 * same over bytes, low nibble first; a store of one nibble reads and writes its byte, so two threads must not
 * own halves of one byte. Other types, 6-bit ones included, take whole bytes already. */
#include "lower/lower_internal.h"
#include "num/num.h"

static bool is_nibble(ir_type type) {
    return type.kind == IR_TYPE_PRIM && num_dtype_bits((num_dtype)type.dtype) == 4;
}

static num_dtype carrier(unsigned lanes) {
    return lanes <= 2   ? NUM_DTYPE_U8
           : lanes <= 4 ? NUM_DTYPE_U16
           : lanes <= 8 ? NUM_DTYPE_U32
                        : NUM_DTYPE_U64;
}

static unsigned nibbles_log2(num_dtype word) {
    unsigned bits = num_dtype_bits(word);
    return 1 + (bits > 8) + (bits > 16) + (bits > 32);
}

static const ir_expr *retype(ir_module *module, const ir_expr *base, num_dtype dtype) {
    ir_type type = ir_type_pointer(dtype, 1, (ir_scope)base->type.scope);
    if (base->op == IR_REINTERPRET)
        base = base->args[0];
    return base->type.dtype == dtype ? base : ir_make(module, IR_REINTERPRET, type, &base, 1);
}

static const ir_expr *number(ir_module *module, const ir_expr *like, int64_t value) {
    return ir_int(module, (num_dtype)like->type.dtype, value);
}

/* index / 2^shift; element numbers are not negative, but shifting floors anyway. */
static const ir_expr *halve(ir_module *module, const ir_expr *index, unsigned shift) {
    int64_t value;
    if (ir_is_int(index, &value))
        return number(module, index, value >> shift);
    return ir_binary(module, IR_SHR, index, number(module, index, shift));
}

/* Bit position of the nibble in its byte, as the type of the byte. */
static const ir_expr *position(ir_module *module, const ir_expr *index) {
    const ir_expr *odd = ir_binary(module, IR_BITAND, index, number(module, index, 1));
    odd = ir_cast(module, ir_type_prim(NUM_DTYPE_U32, 1), odd);
    return ir_binary(module, IR_MUL, odd, number(module, odd, 4));
}

static const ir_expr *nibble_of(ir_module *module, ir_type type, const ir_expr *word, const ir_expr *shift) {
    if (num_dtype_bits((num_dtype)word->type.dtype) < 32)
        word = ir_cast(module, ir_type_prim(NUM_DTYPE_U32, 1), word);
    shift = ir_cast(module, word->type, shift);
    const ir_expr *bits = ir_binary(module, IR_SHR, word, shift);
    bits = ir_binary(module, IR_BITAND, bits, number(module, bits, 15));
    bits = ir_cast(module, ir_type_prim(NUM_DTYPE_U8, 1), bits);
    return ir_make(module, IR_REINTERPRET, ir_type_scalar(type), &bits, 1);
}

static const ir_expr *word_load(ir_module *module, const ir_expr *e) {
    num_dtype word = carrier(e->type.lanes);
    const ir_expr *index = halve(module, e->args[1], nibbles_log2(word));
    return ir_pointer_load(module, ir_type_prim(word, 1), retype(module, e->args[0], word), index,
                           e->at.origin);
}

/* Lanes of 4-bit vectors out of one word. */
static const ir_expr *rewrite(void *user, const ir_expr *e) {
    lower_context *context = user;
    ir_module *module = context->module;
    if (e->op == IR_POINTER_ADDRESS && num_dtype_bits((num_dtype)e->type.dtype) == 4 &&
        e->args[0]->type.dtype == e->type.dtype) {
        const ir_expr *bytes = retype(module, e->args[0], NUM_DTYPE_U8);
        const ir_expr *address =
            ir_pointer_address(module, bytes->type, bytes, halve(module, e->args[1], 1), e->at.origin);
        return ir_make(module, IR_REINTERPRET, e->type, &address, 1);
    }
    if (e->op != IR_POINTER_LOAD || !is_nibble(e->type))
        return e;
    unsigned lanes = e->type.lanes;
    const ir_expr *load = word_load(module, e);
    if (lanes == 1)
        return nibble_of(module, e->type, load, position(module, e->args[1]));
    const ir_expr **parts = BASE_NEW_ARRAY(context->arena, const ir_expr *, lanes);
    for (unsigned i = 0; i < lanes; i++)
        parts[i] = nibble_of(module, e->type, load, ir_int(module, NUM_DTYPE_U32, 4 * (int64_t)i));
    return ir_make(module, IR_VECTOR, e->type, parts, lanes);
}

static const ir_expr *bits_of(ir_module *module, const ir_expr *nibble, num_dtype word) {
    const ir_expr *bits = ir_make(module, IR_REINTERPRET, ir_type_prim(NUM_DTYPE_U8, 1), &nibble, 1);
    bits = ir_binary(module, IR_BITAND, bits, number(module, bits, 15));
    return ir_cast(module, ir_type_prim(word, 1), bits);
}

/* The word whose nibbles the value's lanes are. */
static const ir_expr *join(lower_context *context, const ir_expr *value, num_dtype word) {
    ir_module *module = context->module;
    unsigned lanes = value->type.lanes;
    if (value->op == IR_POINTER_LOAD) /* a copy */
        return word_load(module, value);
    num_dtype wide = num_dtype_bits(word) < 32 ? NUM_DTYPE_U32 : word;
    const ir_expr *all = NULL;
    for (unsigned i = 0; i < lanes; i++) {
        const ir_expr *part = value->op == IR_VECTOR ? value->args[i] : ir_lane(module, value, i);
        part = bits_of(module, part, wide);
        part = ir_binary(module, IR_SHL, part, number(module, part, 4 * (int64_t)i));
        all = all ? ir_binary(module, IR_BITOR, all, part) : part;
    }
    return ir_cast(module, ir_type_prim(word, 1), all);
}

/* The bits of a vector of nibbles as another type, and the other way: through the word that holds them. */
static const ir_expr *reinterpret(lower_context *context, const ir_expr *e) {
    ir_module *module = context->module;
    const ir_expr *a = e->args[0];
    if (e->type.kind != IR_TYPE_PRIM || a->type.kind != IR_TYPE_PRIM)
        return NULL;
    ir_type packed = is_nibble(a->type) ? a->type : e->type;
    if (is_nibble(a->type) == is_nibble(e->type) || packed.lanes < 2)
        return NULL;
    num_dtype word = carrier(packed.lanes);
    ir_type type = ir_type_prim(word, 1);
    if (num_dtype_bits(word) != packed.lanes * 4u)
        return NULL;
    if (is_nibble(a->type)) {
        const ir_expr *joined = join(context, a, word);
        return ir_type_equal(e->type, type) ? joined : ir_make(module, IR_REINTERPRET, e->type, &joined, 1);
    }
    const ir_expr *bits = ir_type_equal(a->type, type) ? a : ir_make(module, IR_REINTERPRET, type, &a, 1);
    const ir_expr **parts = BASE_NEW_ARRAY(context->arena, const ir_expr *, packed.lanes);
    for (unsigned i = 0; i < packed.lanes; i++)
        parts[i] = nibble_of(module, packed, bits, ir_int(module, NUM_DTYPE_U32, 4 * (int64_t)i));
    return ir_make(module, IR_VECTOR, e->type, parts, packed.lanes);
}

/* LANE and REINTERPRET over what rewrite made fold here. */
static const ir_expr *fold(void *user, const ir_expr *e) {
    const ir_expr *a = e->count ? e->args[0] : NULL;
    if (e->op == IR_LANE && a->op == IR_VECTOR)
        return a->args[e->at.integer];
    if (e->op == IR_REINTERPRET && a->op == IR_REINTERPRET && ir_type_equal(a->args[0]->type, e->type))
        return a->args[0];
    const ir_expr *through = e->op == IR_REINTERPRET ? reinterpret(user, e) : NULL;
    return through ? through : rewrite(user, e);
}

static void statement(void *user, ir_stmt *s, lower_statements *out) {
    lower_context *context = user;
    ir_module *module = context->module;
    base_vector_push(context->arena, out, s);
    if (s->kind != IR_STMT_POINTER_STORE || !is_nibble(s->as.pointer_store.value->type))
        return;
    const ir_expr *value = s->as.pointer_store.value, *index = s->as.pointer_store.index;
    unsigned lanes = value->type.lanes;
    num_dtype word = carrier(lanes);
    const ir_expr *base = retype(module, s->as.pointer_store.base, word);
    s->as.pointer_store.base = base;
    if (lanes > 1) {
        s->as.pointer_store.index = halve(module, index, nibbles_log2(word));
        s->as.pointer_store.value = join(context, value, word);
        return;
    }
    const ir_expr *at = position(module, index);
    index = halve(module, index, 1);
    const ir_expr *old =
        ir_pointer_load(module, ir_type_prim(NUM_DTYPE_U8, 1), base, index, s->as.pointer_store.origin);
    old = ir_cast(module, ir_type_prim(NUM_DTYPE_U32, 1), old);
    const ir_expr *mask = ir_binary(module, IR_SHL, number(module, old, 15), at);
    old = ir_binary(module, IR_BITAND, old, ir_unary(module, IR_BITNOT, mask));
    const ir_expr *fresh = ir_binary(module, IR_SHL, bits_of(module, value, NUM_DTYPE_U32), at);
    s->as.pointer_store.index = index;
    s->as.pointer_store.value =
        ir_cast(module, ir_type_prim(NUM_DTYPE_U8, 1), ir_binary(module, IR_BITOR, old, fresh));
}

void lower_packed(lower_context *context) {
    lower_map_statements(context, context->function->body, statement, context);
    static const ir_where where = {.effects = IR_INSIDE_NIBBLE | IR_INSIDE_LANES | IR_INSIDE_REINTERPRET};
    if (lower_any_inside(context->function->body, where.effects))
        lower_rewrite_expressions(context, context->function->body, &where, fold, context);
}
