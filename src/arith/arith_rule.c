/* SPDX-License-Identifier: Apache-2.0
 * Reads the texts of the rule table into trees: a small parser of expressions with Python's precedence. Must
 * not know what a rule means. */
#include "arith/arith_rule.h"
#include <ctype.h>
#include <string.h>

const char arith_slot_names[ARITH_SLOTS + 1] = "xyzpqCDE";

typedef struct reader {
    base_arena *arena;
    const char *at;
    unsigned exchanges;
    bool failed;
} reader;

typedef struct level {
    const char *sign;
    ir_op op;
    int binding; /* tighter is larger */
} level;

/* Longer signs first. */
static const level levels[] = {
    {"or", IR_OR, 1},        {"and", IR_AND, 2},     {"<=", IR_LE, 4},    {">=", IR_GE, 4}, {"==", IR_EQ, 4},
    {"!=", IR_NE, 4},        {"<<", IR_SHL, 8},      {">>", IR_SHR, 8},   {"<", IR_LT, 4},  {">", IR_GT, 4},
    {"|", IR_BITOR, 5},      {"^", IR_BITXOR, 6},    {"&", IR_BITAND, 7}, {"+", IR_ADD, 9}, {"-", IR_SUB, 9},
    {"//", IR_FLOORDIV, 10}, {"%", IR_FLOORMOD, 10}, {"*", IR_MUL, 10},
};

static bool exchanges(ir_op op) {
    return op == IR_ADD || op == IR_MUL || op == IR_MIN || op == IR_MAX || op == IR_BITAND ||
           op == IR_BITOR || op == IR_BITXOR || op == IR_EQ || op == IR_NE || op == IR_AND || op == IR_OR;
}

static void skip(reader *r) {
    while (*r->at == ' ')
        r->at++;
}

static bool take(reader *r, const char *sign) {
    skip(r);
    size_t size = 0;
    while (sign[size] && r->at[size] == sign[size])
        size++;
    if (sign[size] || (isalpha((unsigned char)*sign) && isalnum((unsigned char)r->at[size])))
        return false;
    r->at += size;
    return true;
}

static const arith_node *make(reader *r, arith_node_kind kind, ir_op op, unsigned count,
                              const arith_node *const *args) {
    arith_node *n = BASE_NEW(r->arena, arith_node);
    *n = (arith_node){.kind = kind, .op = op, .count = count, .is_constant = true};
    for (unsigned i = 0; i < count; i++) {
        n->args[i] = args[i];
        n->is_constant = n->is_constant && args[i] && args[i]->is_constant;
        r->failed = r->failed || !args[i];
    }
    if (kind == ARITH_NODE_OP) {
        n->is_truth = (op >= IR_EQ && op <= IR_NOT) || (op == IR_SELECT && args[1] && args[1]->is_truth);
        n->exchange = exchanges(op) && !n->is_constant ? ++r->exchanges : 0;
    } else {
        n->is_truth = kind != ARITH_NODE_NUMBER && kind != ARITH_NODE_BITS;
    }
    return n;
}

static const arith_node *read_expression(reader *r, int least);

static const arith_node *read_call(reader *r, const char *name, arith_node_kind kind, ir_op op,
                                   unsigned count) {
    const arith_node *args[3] = {NULL};
    (void)name;
    for (unsigned i = 0; i < count; i++) {
        args[i] = take(r, i ? "," : "(") ? read_expression(r, 1) : NULL;
        if (!args[i]) {
            r->failed = true;
            return NULL;
        }
    }
    r->failed = r->failed || !take(r, ")");
    return make(r, kind, op, count, args);
}

static const arith_node *read_number(reader *r, int64_t value, bool is_truth) {
    arith_node *n = (arith_node *)(uintptr_t)make(r, ARITH_NODE_NUMBER, IR_INT, 0, NULL);
    n->number = value;
    n->is_truth = is_truth;
    return n;
}

static const arith_node *read_slot(reader *r) {
    const char *name = *r->at ? strchr(arith_slot_names, *r->at) : NULL;
    if (!name)
        return NULL;
    r->at++;
    arith_node *n = BASE_NEW(r->arena, arith_node);
    n->slot = (unsigned)(name - arith_slot_names);
    n->kind = n->slot < 3 ? ARITH_NODE_VARIABLE : n->slot < 5 ? ARITH_NODE_TRUTH : ARITH_NODE_CONSTANT;
    n->is_truth = n->kind == ARITH_NODE_TRUTH;
    n->is_constant = n->kind == ARITH_NODE_CONSTANT;
    return n;
}

static const arith_node *read_word(reader *r) {
    static const struct {
        const char *name;
        arith_node_kind kind;
        ir_op op;
        unsigned count;
    } calls[] = {
        {"truncdiv", ARITH_NODE_OP, IR_TRUNCDIV, 2}, {"truncmod", ARITH_NODE_OP, IR_TRUNCMOD, 2},
        {"min", ARITH_NODE_OP, IR_MIN, 2},           {"max", ARITH_NODE_OP, IR_MAX, 2},
        {"abs", ARITH_NODE_OP, IR_ABS, 1},           {"select", ARITH_NODE_OP, IR_SELECT, 3},
        {"exact", ARITH_NODE_EXACT, IR_INT, 1},      {"power", ARITH_NODE_POWER, IR_INT, 1},
        {"mask", ARITH_NODE_MASK, IR_INT, 1},
    };
    if (!isalpha((unsigned char)r->at[0]) ||
        !isalpha((unsigned char)r->at[1])) /* the table is read at every start */
        return read_slot(r);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (take(r, calls[i].name))
            return read_call(r, calls[i].name, calls[i].kind, calls[i].op, calls[i].count);
    if (take(r, "True"))
        return read_number(r, 1, true);
    if (take(r, "False"))
        return read_number(r, 0, true);
    if (take(r, "bits"))
        return make(r, ARITH_NODE_BITS, IR_INT, 0, NULL);
    return read_slot(r);
}

static const arith_node *read_primary(reader *r) {
    skip(r);
    if (isdigit((unsigned char)*r->at)) {
        int64_t value = 0;
        while (isdigit((unsigned char)*r->at))
            value = value * 10 + (*r->at++ - '0');
        return read_number(r, value, false);
    }
    if (take(r, "(")) {
        const arith_node *inside = read_expression(r, 1);
        r->failed = r->failed || !take(r, ")");
        return inside;
    }
    if (*r->at == '-' || *r->at == '~') {
        bool minus = *r->at++ == '-';
        const arith_node *inside = read_primary(r);
        if (minus && inside && inside->kind == ARITH_NODE_NUMBER)
            return read_number(r, -inside->number, false);
        return make(r, ARITH_NODE_OP, minus ? IR_NEG : IR_BITNOT, 1, &inside);
    }
    if (take(r, "not")) {
        const arith_node *inside = read_expression(r, 3);
        return make(r, ARITH_NODE_OP, IR_NOT, 1, &inside);
    }
    return read_word(r);
}

static const arith_node *read_expression(reader *r, int least) {
    const arith_node *left = read_primary(r);
    while (left) {
        const level *found = NULL;
        skip(r);
        for (size_t i = 0; *r->at && i < sizeof levels / sizeof *levels && !found; i++)
            if (*r->at == *levels[i].sign && levels[i].binding >= least && take(r, levels[i].sign))
                found = &levels[i];
        if (!found)
            break;
        const arith_node *args[] = {left, read_expression(r, found->binding + 1)};
        left = make(r, ARITH_NODE_OP, found->op, 2, args);
    }
    return left;
}

static const arith_node *read_all(reader *r, const char *text) {
    r->at = text;
    r->exchanges = 0;
    const arith_node *n = read_expression(r, 1);
    skip(r);
    r->failed = r->failed || !n || *r->at;
    return n;
}

static void count_uses(const arith_node *n, unsigned *uses) {
    if (n->kind == ARITH_NODE_VARIABLE || n->kind == ARITH_NODE_TRUTH || n->kind == ARITH_NODE_CONSTANT)
        uses[n->slot]++;
    for (unsigned i = 0; i < n->count; i++)
        count_uses(n->args[i], uses);
}

static void split_conditions(reader *r, arith_rule *rule, const arith_node *n) {
    if (n->kind == ARITH_NODE_OP && n->op == IR_AND) {
        split_conditions(r, rule, n->args[0]);
        split_conditions(r, rule, n->args[1]);
    } else if (rule->condition_count < ARITH_CONDITIONS) {
        rule->conditions[rule->condition_count++] = n;
    } else {
        r->failed = true;
    }
}

const arith_rule *arith_rules_read(base_arena *arena, size_t *count) {
    static const char *const table[][4] = {
#define ARITH_RULE(name, pattern, result, conditions) {#name, pattern, result, conditions},
#include "arith/arith_rules.def"
#undef ARITH_RULE
    };
    reader r = {.arena = arena};
    *count = sizeof table / sizeof *table;
    arith_rule *rules = BASE_NEW_ARRAY(arena, arith_rule, *count);
    for (size_t i = 0; i < *count; i++) {
        arith_rule *rule = &rules[i];
        rule->name = table[i][0];
        rule->pattern_text = table[i][1];
        rule->result_text = table[i][2];
        rule->conditions_text = table[i][3];
        rule->pattern = read_all(&r, rule->pattern_text);
        rule->exchanges = r.exchanges;
        rule->result = read_all(&r, rule->result_text);
        const arith_node *conditions = *rule->conditions_text ? read_all(&r, rule->conditions_text) : NULL;
        if (r.failed)
            return NULL;
        if (conditions)
            split_conditions(&r, rule, conditions);
        count_uses(rule->pattern, rule->uses);
    }
    return r.failed ? NULL : rules;
}
