/* SPDX-License-Identifier: Apache-2.0
 * The rule table as bit-vectors, a second opinion on the proof in unbounded integers (arith_proof.c) that
 * shares nothing with it: z3 looks for values for which the conditions hold and pattern and result differ, or
 * the result alone overflows or divides by zero, at 8, 16 and 32 bits, signed and unsigned. A counterexample
 * fails; what stays open within the effort is counted, as products of unknown bits are hard. TIRC_CHECK_ALL=1
 * gives more effort. Skipped where z3 is missing. */
#include "unit/unit.h"
#include "arith/arith_rule.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct question {
    FILE *out;
    unsigned bits, wide; /* of the type, and of exact integers: no sum or product of a condition is longer */
    bool is_signed;
} question;

static void number(FILE *out, int64_t value, unsigned bits) {
    uint64_t mask = bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    if (bits > 64) { /* sign-extended */
        fprintf(out, "((_ sign_extend %u) (_ bv%llu 64))", bits - 64, (unsigned long long)value);
        return;
    }
    fprintf(out, "(_ bv%llu %u)", (unsigned long long)((uint64_t)value & mask), bits);
}

/* ---- in the type's arithmetic ---- */
static const char *name_of(const question *q, ir_op op) {
    bool s = q->is_signed;
    switch (op) {
    case IR_NEG:
        return "bvneg";
    case IR_BITNOT:
        return "bvnot";
    case IR_ADD:
        return "bvadd";
    case IR_SUB:
        return "bvsub";
    case IR_MUL:
        return "bvmul";
    case IR_FLOORDIV:
        return s ? "fdiv" : "bvudiv";
    case IR_FLOORMOD:
        return s ? "bvsmod" : "bvurem";
    case IR_TRUNCDIV:
        return s ? "bvsdiv" : "bvudiv";
    case IR_TRUNCMOD:
        return s ? "bvsrem" : "bvurem";
    case IR_MIN:
        return "vmin";
    case IR_MAX:
        return "vmax";
    case IR_ABS:
        return s ? "vabs" : "vself";
    case IR_BITAND:
        return "bvand";
    case IR_BITOR:
        return "bvor";
    case IR_BITXOR:
        return "bvxor";
    case IR_SHL:
        return "bvshl";
    case IR_SHR:
        return s ? "bvashr" : "bvlshr";
    case IR_EQ:
        return "=";
    case IR_NE:
        return "distinct";
    case IR_LT:
        return s ? "bvslt" : "bvult";
    case IR_LE:
        return s ? "bvsle" : "bvule";
    case IR_GT:
        return s ? "bvsgt" : "bvugt";
    case IR_GE:
        return s ? "bvsge" : "bvuge";
    case IR_AND:
        return "and";
    case IR_OR:
        return "or";
    case IR_NOT:
        return "not";
    case IR_SELECT:
        return "ite";
    default:
        fail_msg("an operation without a name in SMT-LIB");
        return "";
    }
}

static void wrapped(const question *q, const arith_node *n) {
    if (n->kind == ARITH_NODE_NUMBER) {
        if (n->is_truth)
            fputs(n->number ? "true" : "false", q->out);
        else
            number(q->out, n->number, q->bits);
        return;
    }
    if (n->kind != ARITH_NODE_OP) {
        fputc(arith_slot_names[n->slot], q->out);
        return;
    }
    fprintf(q->out, "(%s", name_of(q, n->op));
    for (unsigned i = 0; i < n->count; i++) {
        fputc(' ', q->out);
        wrapped(q, arith_node_arg(n, i));
    }
    fputc(')', q->out);
}

/* ---- exact integers, as wide ones ---- */
static void exact(const question *q, const arith_node *n) {
    FILE *out = q->out;
    const char *name = NULL;
    if (n->kind == ARITH_NODE_NUMBER || n->kind == ARITH_NODE_BITS) {
        number(out, n->kind == ARITH_NODE_BITS ? (int64_t)q->bits : n->number, q->wide);
        return;
    }
    if (n->kind != ARITH_NODE_OP) {
        fprintf(out, "(ext %c)", arith_slot_names[n->slot]);
        return;
    }
    switch (n->op) {
    case IR_NEG:
        name = "bvneg";
        break;
    case IR_ADD:
        name = "bvadd";
        break;
    case IR_SUB:
        name = "bvsub";
        break;
    case IR_MUL:
        name = "bvmul";
        break;
    case IR_FLOORDIV:
        name = "wfdiv";
        break;
    case IR_FLOORMOD:
        name = "bvsmod";
        break;
    case IR_SHL:
        name = "bvshl";
        break;
    case IR_MIN:
        name = "wmin";
        break;
    case IR_MAX:
        name = "wmax";
        break;
    case IR_ABS:
        name = "wabs";
        break;
    case IR_TRUNCDIV:
        name = "bvsdiv";
        break;
    case IR_TRUNCMOD:
        name = "bvsrem";
        break;
    default:
        fail_msg("an operation that conditions do not have");
    }
    fprintf(out, "(%s", name);
    for (unsigned i = 0; i < n->count; i++) {
        fputc(' ', out);
        exact(q, arith_node_arg(n, i));
    }
    fputc(')', out);
}

/* No operation of n overflows, as the conjunction of its parts. Operations on bits cannot; constants fold. */
static void fits(const question *q, const arith_node *n, bool every_constant) {
    if (n->kind != ARITH_NODE_OP || (n->is_constant && !every_constant))
        return;
    for (unsigned i = 0; i < n->count; i++)
        fits(q, arith_node_arg(n, i), every_constant);
    ir_op op = n->op;
    bool sums = op == IR_NEG || op == IR_ADD || op == IR_SUB || op == IR_MUL || op == IR_ABS ||
                op == IR_FLOORDIV || op == IR_TRUNCDIV || (op == IR_SHL && every_constant);
    if (!sums)
        return;
    /* Over the wrapped values of the arguments, which are exact where the earlier parts hold. */
    fprintf(q->out, " (let ((w (%s",
            op == IR_NEG   ? "bvneg"
            : op == IR_ADD ? "bvadd"
            : op == IR_SUB ? "bvsub"
            : op == IR_MUL ? "bvmul"
            : op == IR_ABS ? "wabs"
            : op == IR_SHL ? "bvshl"
                           : "bvsdiv");
    for (unsigned i = 0; i < n->count; i++) {
        fputs(" (ext ", q->out);
        wrapped(q, arith_node_arg(n, i));
        fputc(')', q->out);
    }
    fprintf(q->out, "))) (= w (ext ((_ extract %u 0) w))))", q->bits - 1);
}

static void divisors(const question *q, const arith_node *n) {
    for (unsigned i = 0; i < n->count; i++)
        divisors(q, arith_node_arg(n, i));
    if (n->kind != ARITH_NODE_OP)
        return;
    if (n->op == IR_FLOORDIV || n->op == IR_FLOORMOD || n->op == IR_TRUNCDIV || n->op == IR_TRUNCMOD) {
        fputs(" (distinct ", q->out);
        wrapped(q, arith_node_arg(n, 1));
        fprintf(q->out, " (_ bv0 %u))", q->bits);
    }
    if ((n->op == IR_SHL || n->op == IR_SHR) && q->is_signed) { /* negative counts have no meaning */
        fputs(" (bvsge ", q->out);
        wrapped(q, arith_node_arg(n, 1));
        fprintf(q->out, " (_ bv0 %u))", q->bits);
    }
}

static void condition(const question *q, const arith_node *n) {
    FILE *out = q->out;
    switch (n->kind) {
    case ARITH_NODE_EXACT:
        fputs("(and true", out);
        fits(q, arith_node_arg(n, 0), true);
        fputc(')', out);
        return;
    case ARITH_NODE_POWER:
    case ARITH_NODE_MASK:
        fprintf(out, "(%s ", n->kind == ARITH_NODE_POWER ? "power" : "mask");
        exact(q, arith_node_arg(n, 0));
        fputc(')', out);
        return;
    default:
        break;
    }
    const char *names[] = {"=", "distinct", "bvslt", "bvsle", "bvsgt", "bvsge"};
    assert_true(n->kind == ARITH_NODE_OP && n->op >= IR_EQ && n->op <= IR_GE);
    fprintf(out, "(%s ", names[n->op - IR_EQ]);
    exact(q, arith_node_arg(n, 0));
    fputc(' ', out);
    exact(q, arith_node_arg(n, 1));
    fputc(')', out);
}

static void write_prelude(const question *q) {
    unsigned n = q->bits, w = q->wide;
    fprintf(q->out, "(define-sort V () (_ BitVec %u))\n(define-sort W () (_ BitVec %u))\n", n, w);
    fprintf(q->out, "(define-fun ext ((a V)) W ((_ %s %u) a))\n",
            q->is_signed ? "sign_extend" : "zero_extend", w - n);
    fprintf(q->out,
            "(define-fun fdiv ((a V) (b V)) V (let ((r (bvsrem a b))) (ite (and (distinct r (_ bv0 %u)) "
            "(distinct "
            "(bvslt r (_ bv0 %u)) (bvslt b (_ bv0 %u)))) (bvsub (bvsdiv a b) (_ bv1 %u)) (bvsdiv a b))))\n",
            n, n, n, n);
    fprintf(q->out,
            "(define-fun wfdiv ((a W) (b W)) W (let ((r (bvsrem a b))) (ite (and (distinct r (_ bv0 %u)) "
            "(distinct "
            "(bvslt r (_ bv0 %u)) (bvslt b (_ bv0 %u)))) (bvsub (bvsdiv a b) (_ bv1 %u)) (bvsdiv a b))))\n",
            w, w, w, w);
    fprintf(q->out, "(define-fun vmin ((a V) (b V)) V (ite (%s a b) a b))\n",
            q->is_signed ? "bvsle" : "bvule");
    fprintf(q->out, "(define-fun vmax ((a V) (b V)) V (ite (%s a b) b a))\n",
            q->is_signed ? "bvsle" : "bvule");
    fprintf(q->out, "(define-fun vabs ((a V)) V (ite (bvslt a (_ bv0 %u)) (bvneg a) a))\n", n);
    fprintf(q->out, "(define-fun vself ((a V)) V a)\n");
    fprintf(q->out, "(define-fun wmin ((a W) (b W)) W (ite (bvsle a b) a b))\n");
    fprintf(q->out, "(define-fun wmax ((a W) (b W)) W (ite (bvsle a b) b a))\n");
    fprintf(q->out, "(define-fun wabs ((a W)) W (ite (bvslt a (_ bv0 %u)) (bvneg a) a))\n", w);
    fprintf(q->out,
            "(define-fun mask ((a W)) Bool (and (bvsge a (_ bv0 %u)) (= (bvand a (bvadd a (_ bv1 %u))) (_ "
            "bv0 %u))))\n",
            w, w, w);
    fprintf(q->out,
            "(define-fun power ((a W)) Bool (and (bvsgt a (_ bv0 %u)) (mask (bvsub a (_ bv1 %u)))))\n", w, w);
    for (int i = 0; i < ARITH_SLOTS; i++)
        fprintf(q->out, "(declare-const %c %s)\n", arith_slot_names[i], i == 3 || i == 4 ? "Bool" : "V");
}

/* C's own rules hold in the emitted text: where the pattern does not overflow, the result must not. */
static void write_rule(const question *q, const arith_rule *rule) {
    FILE *out = q->out;
    fprintf(out, "(push 1)\n(assert (and true");
    divisors(q, rule->pattern);
    fputs("))\n", out);
    for (unsigned i = 0; i < rule->condition_count; i++) {
        fputs("(assert ", out);
        condition(q, rule->conditions[i]);
        fputs(")\n", out);
    }
    fputs("(assert (or (distinct ", out);
    wrapped(q, rule->pattern);
    fputc(' ', out);
    wrapped(q, rule->result);
    fputs(") (not (and true", out);
    divisors(q, rule->result);
    fputs("))", out);
    if (q->is_signed) {
        fputs(" (and true", out);
        fits(q, rule->pattern, false);
        fputs(" (not (and true", out);
        fits(q, rule->result, false);
        fputs(")))", out);
    }
    fputs("))\n(check-sat-using qfbv)\n(pop 1)\n", out);
}

typedef struct answers {
    unsigned proved, open;
} answers;

static void ask(const arith_rule *rules, size_t count, unsigned bits, bool is_signed, unsigned effort,
                answers *total) {
    char path[] = "/tmp/tirc-rules-XXXXXX", command[200], line[200];
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    question q = {
        .out = fdopen(descriptor, "w"),
        .bits = bits,
        .wide = 2 * bits + 6,
        .is_signed = is_signed,
    };
    fprintf(q.out, "(set-option :rlimit %u)\n", effort);
    write_prelude(&q);
    for (size_t i = 0; i < count; i++)
        write_rule(&q, &rules[i]);
    fclose(q.out);
    snprintf(command, sizeof command, "z3 -smt2 %s 2>&1", path);
    FILE *answer = popen(command, "r");
    assert_non_null(answer);
    for (size_t i = 0; i < count; i++) {
        if (!fgets(line, sizeof line, answer))
            strcpy(line, "no answer\n");
        if (!strcmp(line, "unsat\n"))
            total->proved++;
        else if (strstr(line, "unknown") || strstr(line, "canceled") || strstr(line, "resource"))
            total->open++;
        else
            fail_msg("%s, %u bits %s: z3 says %s", rules[i].name, bits, is_signed ? "signed" : "unsigned",
                     line);
        if (getenv("TIRC_VERBOSE") && strcmp(line, "unsat\n"))
            print_message("%s %u %d: %s", rules[i].name, bits, is_signed, line);
    }
    pclose(answer);
    if (!getenv("TIRC_KEEP"))
        unlink(path);
}

static void prove(void **state, unsigned bits, unsigned effort) {
    (void)state;
    size_t count;
    const arith_rule *rules = arith_rules(&count);
    answers total = {0};
    if (system("z3 --version > /dev/null 2>&1") != 0)
        skip();
    for (int is_signed = 0; is_signed < 2; is_signed++)
        ask(rules, count, bits, is_signed != 0, effort, &total);
    print_message("%zu rules at %u bits, signed and unsigned: %u proved, %u open\n", count, bits,
                  total.proved, total.open);
    assert_true(total.proved >= count * 2 / 3); /* of the two kinds together */
}

/* Effort in z3's own units, so that the answers do not depend on the machine: some 300,000 are a second. */
static void test_8_bits(void **state) {
    prove(state, 8, getenv("TIRC_CHECK_ALL") ? 100000000 : 100000);
}
static void test_16_bits(void **state) {
    prove(state, 16, getenv("TIRC_CHECK_ALL") ? 3000000 : 20000);
}
static void test_32_bits(void **state) {
    prove(state, 32, getenv("TIRC_CHECK_ALL") ? 1000000 : 20000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(test_8_bits),
        UNIT_WITH_ARENA(test_16_bits),
        UNIT_WITH_ARENA(test_32_bits),
    };
    return cmocka_run_group_tests_name("arith_bits", tests, NULL, NULL);
}
