/* SPDX-License-Identifier: Apache-2.0
 * The rule table proved for every width at once. A rule becomes questions in unbounded integers that z3 must
 * answer with no: "do integers exist for which the conditions hold and pattern and result differ, or the
 * result divides by zero", and for signed types "... and the result overflows where the pattern does not".
 * The width is a variable: M stands for 2^bits, and of it only that it is even and at least 256 is used.
 *
 *   a // d, a % d   are q and r with a = q * d + r and 0 <= r < d (d < r <= 0 for d < 0)
 *   + - * -         are sums and products; what they wrap to is u - k * M, in the type's range, for some k;
 *                   of u, that is, not of each step, as remainders modulo M form a ring
 *   x % C == 0      is x = k * C; power(D) is M = m * D; mask(D) is M = m * (D + 1)
 *   x >> D, x << D  are x // 2^D and x * 2^D, with 2^(C + D) = 2^C * 2^D
 *   x & D           for mask(D) is x % (D + 1), for power(-D) it is x - x % -D
 * The last three lines are facts about powers of two; test_powers proves them at each width. Rules of & | ^
 * alone work on each bit by itself, and are proved for one bit.
 *
 * Products of unknowns are beyond linear arithmetic, but four lemmas, proved first, are enough: the rules
 * that need them name the instances (hints). A hint cannot make a wrong rule pass, as it is an instance of a
 * lemma. test_encoding evaluates every rule on examples and asks z3 whether the questions' premises allow
 * just that outcome, so that no rule is proved from a contradiction. Skipped where z3 is missing. */
#include "unit/unit.h"
#include "unit/arith_model.h"
#include "base/heap.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In z3's own units, so that the answers do not depend on the machine. */
enum { EFFORT = 200000 };

/* ---- questions and answers ---- */
typedef struct question {
    const char *name;
    bool is_signed;
    const char *what, *expected;
} question;

typedef struct questions {
    base_arena *arena;
    FILE *out;
    char path[32];
    question *all;
    size_t count, room;
} questions;

static void start_questions(questions *all, base_arena *arena) {
    if (system("z3 --version > /dev/null 2>&1") != 0)
        skip();
    memset(all, 0, sizeof *all);
    all->arena = arena;
    strcpy(all->path, "/tmp/tirc-proof-XXXXXX");
    int descriptor = mkstemp(all->path);
    assert_true(descriptor >= 0);
    all->out = fdopen(descriptor, "w");
    all->room = 4096;
    all->all = BASE_NEW_ARRAY(arena, question, all->room);
    fprintf(all->out, "(set-option :rlimit %d)\n", EFFORT);
}

static void ask(questions *all, question q, const char *premises, const char *counterexample) {
    assert_true(all->count < all->room);
    all->all[all->count++] = q;
    fprintf(all->out,
            "(echo \"%s\")\n(push 1)\n%s(assert %s)\n"
            "(check-sat-using (then (using-params simplify :som true) smt))\n(pop 1)\n",
            q.name, premises, counterexample);
}

/* Every answer as expected, or a failure that names those that are not. */
static void check_answers(questions *all) {
    char command[100], line[400];
    fclose(all->out);
    snprintf(command, sizeof command, "z3 -smt2 %s 2>&1", all->path);
    FILE *answers = popen(command, "r");
    assert_non_null(answers);
    unsigned wrong = 0;
    for (size_t i = 0; i < all->count; i++) {
        const question *q = &all->all[i];
        size_t length = strlen(q->name);
        bool named = false; /* the name first; after an error there may be more lines before the next name */
        while (!named && fgets(line, sizeof line, answers))
            named = !strncmp(line, q->name, length) && line[length] == '\n';
        if (!fgets(line, sizeof line, answers))
            strcpy(line, "no answer\n");
        line[strcspn(line, "\n")] = 0;
        if (strcmp(line, q->expected) != 0) {
            print_error("%s, %s: %s: %s, not %s\n", q->name, q->is_signed ? "signed" : "unsigned", q->what,
                        line, q->expected);
            wrong++;
        }
    }
    pclose(answers);
    if (!getenv("TIRC_KEEP"))
        unlink(all->path);
    assert_int_equal(wrong, 0);
}

/* ---- lemmas ---- */
static const char lemmas[] =
    /* A multiple of d nearer to 0 than d is 0: quotients and remainders are unique. */
    "(define-fun near ((d Int) (s Int)) Bool (=> (or (and (>= d 1) (< (- d) (* s d) d))"
    " (and (<= d (- 1)) (< d (* s d) (- d)))) (and (= s 0) (= (* s d) 0))))\n"
    /* A product of two numbers that are not negative is not negative. */
    "(define-fun product ((a Int) (b Int)) Bool (=> (and (>= a 0) (>= b 0)) (>= (* a b) 0)))\n"
    /* Equals times the same are equal. */
    "(define-fun times ((a Int) (b Int) (c Int)) Bool (=> (= a b) (= (* a c) (* b c))))\n"
    /* Multiplying by d >= 1 does not lead towards 0. */
    "(define-fun scale ((d Int) (t Int)) Bool (=> (>= d 1) (and (=> (>= t 0) (>= (* t d) t)) (=> (<= t 0) "
    "(<= "
    "(* t d) t)))))\n"
    "(define-fun floored ((a Int) (d Int) (q Int) (r Int)) Bool (and (= a (+ (* q d) r)) (=> (> d 0) (and "
    "(<= 0 r) (< "
    "r d))) (=> (< d 0) (and (< d r) (<= r 0)))))\n"
    "(define-fun truncated ((a Int) (d Int) (q Int) (r Int)) Bool (and (= a (+ (* q d) r)) (=> (>= a 0) (>= "
    "r 0))"
    " (=> (<= a 0) (<= r 0)) (=> (> d 0) (< (- d) r d)) (=> (< d 0) (< d r (- d)))))\n";

static void test_lemmas(void **state) {
    static const struct {
        const char *name, *text;
    } all[] = {
        {"product", "(product a b)"},
        {"times", "(times a b d)"},
        {"near", "(=> (and (product d (- s 1)) (product d (- (- s) 1)) (product (- d) (- s 1)) (product (- "
                 "d) (- (- s) "
                 "1))) (near d s))"},
        {"scale", "(=> (and (product (- d 1) s) (product (- d 1) (- s))) (scale d s))"},
        /* What a multiple of the divisor leaves. */
        {"floored multiple",
         "(=> (and (distinct d 0) (floored (* s d) d q r) (near d (- q s))) (and (= q s) (= r 0)))"},
        {"truncated multiple",
         "(=> (and (distinct d 0) (truncated (* s d) d q r) (near d (- q s))) (and (= q s) (= r 0)))"},
        /* What fits does not wrap: (a - k * M) and a both within M of a bound. */
        {"fitting",
         "(=> (and (>= d 1) (<= b a) (< a (+ b d)) (<= b (- a (* s d))) (< (- a (* s d)) (+ b d)) (near d "
         "s)) (= s 0))"},
        /* Values that are the same modulo M stay so under + - *. */
        {"ring",
         "(and (= (+ (- a (* s d)) (- b (* q d))) (- (+ a b) (* (+ s q) d))) (= (- (- a (* s d)) (- b (* q "
         "d))) "
         "(- (- a b) (* (- s q) d))) (= (* (- a (* s d)) (- b (* q d))) (- (* a b) (* (- (+ (* a q) (* b s)) "
         "(* s q d)) d))))"},
    };
    questions asked;
    start_questions(&asked, *state);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        question q = {all[i].name, true, "a lemma", "unsat"};
        ask(&asked, q,
            base_arena_format(
                *state,
                "%s(declare-const a Int)(declare-const b Int)(declare-const d Int)(declare-const s "
                "Int)(declare-const q Int)(declare-const r Int)\n",
                lemmas),
            base_arena_format(*state, "(not %s)", all[i].text));
    }
    check_answers(&asked);
}

/* ---- rules in unbounded integers ---- */
enum { MOST = 24 };
typedef struct proof {
    base_arena *arena;
    questions *asked;
    const arith_rule *rule;
    bool is_signed;
    bool exact; /* no step wraps; steps are noted */
    bool is_condition;
    bool in_result; /* of the rule: divisors must be proved not to be zero, those of the pattern are not */
    char *script;   /* declarations and premises so far */
    size_t length;
    FILE *premises;
    const char *goals; /* conjuncts */
    const char *steps[MOST], *fitting[MOST];
    unsigned step_count, fitting_count;
    struct {
        const char *dividend, *divisor;
        bool truncates;
    } divisions[MOST]; /* quotients q1 q2 .., remainders r1 r2 .. */
    unsigned division_count;
    const char *values[MOST]; /* wrapped to v1 v2 .. by k1 k2 .. */
    unsigned value_count;
    const char *multiple_of[ARITH_SLOTS];
    const struct example *example; /* whose outcome the premises must allow; NULL: prove */
} proof;

/* Values that meet a rule's conditions, and what the model makes of its pattern and result. */
typedef struct example {
    model at;
    wide before, after;
} example;

#define TEXT(...) base_arena_format(p->arena, __VA_ARGS__)

static const char *term(proof *p, const arith_node *n);
static const char *value(proof *p, const arith_node *n);

static void add_goal(proof *p, const char *goal) {
    p->goals = TEXT("%s %s", p->goals, goal);
}

static const char *power_of_two(proof *p, const arith_node *n) {
    if (n->kind == ARITH_NODE_OP) {
        assert_int_equal(n->op, IR_ADD);
        return TEXT("(* %s %s)", power_of_two(p, arith_node_arg(n, 0)),
                    power_of_two(p, arith_node_arg(n, 1)));
    }
    assert_true(n->kind == ARITH_NODE_CONSTANT);
    return TEXT("two_to_%c", arith_slot_names[n->slot]);
}

typedef struct division {
    const char *quotient, *remainder;
} division;

static division divide(proof *p, const char *dividend, const char *divisor, bool truncates) {
    if (p->in_result)
        add_goal(p, TEXT("(distinct %s 0)", divisor));
    else
        fprintf(p->premises, "(assert (distinct %s 0))\n", divisor);
    /* A slot known as a multiple of the divisor. */
    for (int s = 0; s < ARITH_SLOTS; s++)
        if (p->multiple_of[s] && !strcmp(p->multiple_of[s], divisor) && !dividend[1] &&
            dividend[0] == arith_slot_names[s])
            return (division){TEXT("k%s", dividend), "0"};
    unsigned i = 0;
    for (; i < p->division_count; i++)
        if (!strcmp(p->divisions[i].dividend, dividend) && !strcmp(p->divisions[i].divisor, divisor) &&
            p->divisions[i].truncates == truncates)
            break;
    division d = {TEXT("q%u", i + 1), TEXT("r%u", i + 1)};
    if (i < p->division_count)
        return d;
    assert_true(i < MOST);
    p->divisions[i].dividend = dividend;
    p->divisions[i].divisor = divisor;
    p->divisions[i].truncates = truncates;
    p->division_count++;
    fprintf(p->premises, "(declare-const q%u Int)(declare-const r%u Int)(assert (%s %s %s q%u r%u))\n", i + 1,
            i + 1, truncates ? "truncated" : "floored", dividend, divisor, i + 1, i + 1);
    fprintf(p->premises, "(assert (and (scale %s q%u) (scale %s (+ q%u 1))))\n", divisor, i + 1, divisor,
            i + 1);
    for (int by = -1; by <= 1; by++)
        fprintf(p->premises, "(assert (near %s (+ q%u (- %d))))\n", divisor, i + 1, by);
    for (unsigned j = 0; j < i; j++)
        if (!strcmp(p->divisions[j].divisor, divisor))
            fprintf(p->premises, "(assert (near %s (- q%u q%u)))\n", divisor, j + 1, i + 1);
    return d;
}

static bool is_fitting(const proof *p, const char *text) {
    for (unsigned i = 0; i < p->fitting_count; i++)
        if (!strcmp(p->fitting[i], text))
            return true;
    return false;
}

/* The value of the type that an expression has. */
static const char *value(proof *p, const arith_node *n) {
    const char *u = term(p, n);
    if (p->exact && n->kind == ARITH_NODE_OP && n->op == IR_SHL && !p->is_condition && !is_fitting(p, u))
        fail_msg("%s: a sum of what is shifted to the left has no proof yet", p->rule->name);
    if (p->exact || n->is_truth || (n->kind != ARITH_NODE_OP && n->kind != ARITH_NODE_NUMBER) ||
        (n->kind == ARITH_NODE_NUMBER && n->number >= 0))
        return u;
    bool divides = n->op == IR_FLOORDIV || n->op == IR_TRUNCDIV || n->op == IR_SHR;
    if (n->kind == ARITH_NODE_OP && !divides && n->op != IR_ADD && n->op != IR_SUB && n->op != IR_MUL &&
        n->op != IR_NEG && n->op != IR_SHL && n->op != IR_ABS)
        return u; /* in the range of the type as the operands are */
    if (is_fitting(p, u))
        return u;
    if (divides) { /* least // -1 alone does not fit; to be proved */
        fflush(p->premises);
        question q = {p->rule->name, p->is_signed, "a quotient fits", "unsat"};
        if (!p->example)
            ask(p->asked, q, p->script, TEXT("(not (fits %s))", u));
        assert_true(p->fitting_count < MOST);
        p->fitting[p->fitting_count++] = u;
        return u;
    }
    unsigned i = 0;
    for (; i < p->value_count; i++)
        if (!strcmp(p->values[i], u))
            return TEXT("v%u", i + 1);
    assert_true(i < MOST);
    p->values[p->value_count++] = u;
    fprintf(p->premises, "(declare-const k%u Int)(define-fun v%u () Int (- %s (* k%u M)))\n", i + 1, i + 1, u,
            i + 1);
    fprintf(p->premises, "(assert (and (fits v%u) (=> (fits %s) (= k%u 0)) (near M k%u)))\n", i + 1, u, i + 1,
            i + 1);
    for (unsigned j = 0; j < i; j++)
        fprintf(p->premises, "(assert (and (near M (- k%u k%u)) (near M (+ k%u k%u))))\n", j + 1, i + 1,
                j + 1, i + 1);
    return TEXT("v%u", i + 1);
}

/* An operand whose value counts modulo M. */
static const char *summand(proof *p, const arith_node *n) {
    return p->exact ? value(p, n) : term(p, n);
}

static const char *apply(proof *p, const char *name, const arith_node *n) {
    const char *text = TEXT("(%s", name);
    for (unsigned i = 0; i < n->count; i++)
        text = TEXT("%s %s", text, value(p, arith_node_arg(n, i)));
    return TEXT("%s)", text);
}

/* & with a constant that the conditions call a mask, or the negative of a power of two. */
static const char *masked(proof *p, const arith_node *n) {
    const arith_node *mask = arith_node_arg(n, 1);
    const char *of = value(p, arith_node_arg(n, 0));
    for (unsigned i = 0; i < p->rule->condition_count; i++) {
        const arith_node *c = p->rule->conditions[i];
        if (c->kind == ARITH_NODE_MASK && arith_node_arg(c, 0)->slot == mask->slot)
            return divide(p, of, TEXT("(+ %s 1)", value(p, mask)), false).remainder;
        if (c->kind == ARITH_NODE_POWER && arith_node_arg(c, 0)->kind == ARITH_NODE_OP) {
            unsigned steps = p->step_count;
            const char *power = term(p, arith_node_arg(c, 0));
            p->step_count = steps; /* no step of the rule: the power need not fit */
            return TEXT("(- %s %s)", of, divide(p, of, power, false).remainder);
        }
    }
    fail_msg("%s: & of what is no mask", p->rule->name);
    return "";
}

static const char *shifted(proof *p, const arith_node *n) {
    const arith_node *base = arith_node_arg(n, 0), *amount = arith_node_arg(n, 1);
    const char *power = power_of_two(p, amount);
    if (p->in_result)
        add_goal(p, TEXT("(<= 0 %s)(< %s bits)", term(p, amount), term(p, amount)));
    if (n->op == IR_SHR)
        return divide(p, value(p, base), power, false).quotient;
    return base->kind == ARITH_NODE_NUMBER && base->number == 1 ? power
                                                                : TEXT("(* %s %s)", term(p, base), power);
}

static const char *operation(proof *p, const arith_node *n) {
    const arith_node *a = arith_node_arg(n, 0), *b = n->count > 1 ? arith_node_arg(n, 1) : NULL;
    const char *x, *y;
    switch (n->op) {
    case IR_NEG:
        return TEXT("(- %s)", summand(p, a));
    case IR_ADD:
    case IR_SUB:
    case IR_MUL:
        x = summand(p, a), y = summand(p, b);
        return TEXT("(%s %s %s)", n->op == IR_ADD ? "+" : n->op == IR_SUB ? "-" : "*", x, y);
    case IR_FLOORDIV:
    case IR_TRUNCDIV:
        x = value(p, a), y = value(p, b);
        return divide(p, x, y, n->op == IR_TRUNCDIV).quotient;
    case IR_FLOORMOD:
    case IR_TRUNCMOD:
        x = value(p, a), y = value(p, b);
        return divide(p, x, y, n->op == IR_TRUNCMOD).remainder;
    case IR_SHL:
    case IR_SHR:
        return shifted(p, n);
    case IR_BITAND:
        return masked(p, n);
    case IR_MIN:
    case IR_MAX:
        x = value(p, a), y = value(p, b);
        return TEXT("(ite (%s %s %s) %s %s)", n->op == IR_MIN ? "<=" : ">=", x, y, x, y);
    case IR_ABS:
        x = value(p, a);
        return TEXT("(ite (< %s 0) (- %s) %s)", x, x, x);
    case IR_EQ:
        return apply(p, "=", n);
    case IR_NE:
        return apply(p, "distinct", n);
    case IR_LT:
        return apply(p, "<", n);
    case IR_LE:
        return apply(p, "<=", n);
    case IR_GT:
        return apply(p, ">", n);
    case IR_GE:
        return apply(p, ">=", n);
    case IR_AND:
        return apply(p, "and", n);
    case IR_OR:
        return apply(p, "or", n);
    case IR_NOT:
        return apply(p, "not", n);
    case IR_SELECT:
        return apply(p, "ite", n);
    default:
        fail_msg("%s: an operation without a meaning in integers", p->rule->name);
        return "";
    }
}

/* An integer that is the same as the expression modulo M; the truth value of one that is a truth value. */
static const char *term(proof *p, const arith_node *n) {
    switch (n->kind) {
    case ARITH_NODE_NUMBER:
        if (n->is_truth)
            return n->number ? "true" : "false";
        assert_in_range(n->number + 127, 0, 254); /* fits, where it is not negative */
        return n->number < 0 ? TEXT("(- %d)", -n->number) : TEXT("%d", n->number);
    case ARITH_NODE_BITS:
        return "bits";
    case ARITH_NODE_OP:
        break;
    default:
        return TEXT("%c", arith_slot_names[n->slot]);
    }
    const char *text = operation(p, n);
    /* A shift to the left drops bits and is never an overflow, but where a condition calls it exact. */
    if (p->exact && !n->is_truth && (n->op != IR_SHL || p->is_condition)) {
        assert_true(p->step_count < MOST);
        p->steps[p->step_count++] = text;
    }
    return text;
}

/* x of x % C == 0, else NULL. */
static const arith_node *multiple(const arith_node *condition) {
    if (condition->kind != ARITH_NODE_OP || condition->op != IR_EQ)
        return NULL;
    const arith_node *modulo = arith_node_arg(condition, 0), *zero = arith_node_arg(condition, 1);
    if (modulo->kind != ARITH_NODE_OP || modulo->op != IR_FLOORMOD || zero->kind != ARITH_NODE_NUMBER ||
        zero->number)
        return NULL;
    const arith_node *x = arith_node_arg(modulo, 0);
    return x->kind == ARITH_NODE_VARIABLE || x->kind == ARITH_NODE_CONSTANT ? x : NULL;
}

static void declare_slots(proof *p) {
    for (unsigned i = 0; i < p->rule->condition_count; i++) {
        const arith_node *x = multiple(p->rule->conditions[i]);
        if (x)
            p->multiple_of[x->slot] = term(p, arith_node_arg(arith_node_arg(p->rule->conditions[i], 0), 1));
    }
    for (int s = 0; s < ARITH_SLOTS; s++)
        if (!p->multiple_of[s])
            fprintf(p->premises, "(declare-const %c %s)", arith_slot_names[s],
                    s == 3 || s == 4 ? "Bool" : "Int");
    for (int s = 5; s < ARITH_SLOTS; s++)
        fprintf(p->premises, "(declare-const two_to_%c Int)", arith_slot_names[s]);
    for (int s = 0; s < ARITH_SLOTS; s++)
        if (p->multiple_of[s])
            fprintf(p->premises, "(declare-const k%c Int)(define-fun %c () Int (* k%c %s))\n",
                    arith_slot_names[s], arith_slot_names[s], arith_slot_names[s], p->multiple_of[s]);
    const char *part = NULL; /* a divisor of M */
    for (unsigned i = 0; i < p->rule->condition_count && !part; i++) {
        const arith_node *c = p->rule->conditions[i];
        if (c->kind == ARITH_NODE_POWER)
            part = term(p, arith_node_arg(c, 0));
        else if (c->kind == ARITH_NODE_MASK)
            part = TEXT("(+ %s 1)", term(p, arith_node_arg(c, 0)));
    }
    if (part)
        fprintf(p->premises, "(declare-const m Int)(assert (>= m 1))(define-fun M () Int (* m %s))\n", part);
    else
        fprintf(p->premises, "(declare-const M Int)\n");
    fprintf(p->premises, "(declare-const half Int)(assert (and (>= M 256) (= M (* 2 half))))\n");
    fprintf(p->premises, "(define-fun fits ((a Int)) Bool %s)\n",
            p->is_signed ? "(and (<= (- M) (* 2 a)) (< (* 2 a) M))" : "(and (<= 0 a) (< a M))");
    fprintf(p->premises, "(declare-const bits Int)(assert (and (>= bits 8) (fits bits)))\n");
    for (int s = 0; s < ARITH_SLOTS; s++)
        if (s != 3 && s != 4)
            fprintf(p->premises, "(assert (fits %c))\n", arith_slot_names[s]);
    for (int s = 5; s < ARITH_SLOTS; s++)
        fprintf(p->premises, "(assert (=> (>= %c 0) (>= two_to_%c 1)))\n", arith_slot_names[s],
                arith_slot_names[s]);
}

static void assume(proof *p, const arith_node *condition) {
    const char *text;
    switch (condition->kind) {
    case ARITH_NODE_EXACT:
        p->step_count = 0;
        term(p, arith_node_arg(condition, 0));
        for (unsigned i = 0; i < p->step_count; i++) {
            fprintf(p->premises, "(assert (fits %s))\n", p->steps[i]);
            assert_true(p->fitting_count < MOST);
            p->fitting[p->fitting_count++] = p->steps[i];
        }
        break;
    case ARITH_NODE_POWER:
        fprintf(p->premises, "(assert (>= %s 1))\n", term(p, arith_node_arg(condition, 0)));
        break;
    case ARITH_NODE_MASK:
        fprintf(p->premises, "(assert (>= %s 0))\n", term(p, arith_node_arg(condition, 0)));
        break;
    default:
        if (multiple(condition)) /* said where the slot is declared */
            break;
        text = term(p, condition);
        fprintf(p->premises, "(assert %s)\n", text);
    }
}

static void start_proof(proof *p, questions *asked, const arith_rule *rule, bool is_signed,
                        const example *given) {
    memset(p, 0, sizeof *p);
    p->arena = asked->arena;
    p->asked = asked;
    p->rule = rule;
    p->is_signed = is_signed;
    p->example = given;
    p->goals = "true";
    p->premises = open_memstream(&p->script, &p->length);
    assert_non_null(p->premises);
    fputs(lemmas, p->premises);
    p->exact = p->is_condition = true;
    declare_slots(p);
    for (unsigned i = 0; i < rule->condition_count; i++)
        assume(p, rule->conditions[i]);
    p->is_condition = false;
    p->step_count = 0;
}

static void finish_proof(proof *p) {
    fclose(p->premises);
    free(p->script);
}

/* Instances of lemmas. */
typedef enum hint_for { VALUES = 1, STEPS = 2, BOTH = 3 } hint_for;
typedef struct hint {
    const char *rule;
    hint_for which; /* where the same names stand for the same */
    const char *instance;
} hint;
static const hint hints[] = {
    {"div_product", BOTH, "(near D (- (* x kC) q1))"},
    {"div_product", STEPS, "(scale D (* x kC))"},
    {"div_product_part", BOTH, "(near D (- q1 q2))"},
    {"div_product_part", BOTH, "(product C r2)"},
    {"div_product_part", BOTH, "(product C (- kD 1 r2))"},
    {"div_product_part", BOTH, "(product C (- kD))"},
    {"div_product_part", BOTH, "(times x (+ (* q2 kD) r2) C)"},
    {"div_sum", BOTH, "(near D (- q1 (* x kC) q2))"},
    {"div_sum", STEPS, "(scale D (* x kC))"},
    {"div_difference", BOTH, "(near D (- q1 (* x kC) q2))"},
    {"div_difference", STEPS, "(scale D (* x kC))"},
    {"div_sum_part", BOTH, "(near D (- q1 q2))"},
    {"div_sum_part", BOTH, "(product C r2)"},
    {"div_sum_part", BOTH, "(product C (- kD 1 r2))"},
    {"div_sum_part", BOTH, "(product C (- kD))"},
    {"div_sum_part", BOTH, "(times x (+ (* q2 kD) r2) C)"},
    {"div_sum_3", BOTH, "(near D (- q1 (* x kC) q2))"},
    {"div_sum_3", STEPS, "(scale D (* x kC))"},
    {"div_sum_3_part", BOTH, "(near D (- q1 q2))"},
    {"div_sum_3_part", BOTH, "(product C r2)"},
    {"div_sum_3_part", BOTH, "(product C (- kD 1 r2))"},
    {"div_sum_3_part", BOTH, "(product C (- kD))"},
    {"div_sum_3_part", BOTH, "(times x (+ (* q2 kD) r2) C)"},
    {"div_constant_sum", BOTH, "(near D (- q1 q2 kC))"},
    {"div_constant_sum", BOTH, "(scale D kC)"},
    {"mod_product", VALUES, "(near D (- q1 (* x kC)))"},
    {"mod_product_wraps", VALUES, "(near D (- q1 (- (* x kC) (* k1 m))))"},
    {"mod_sum", VALUES, "(near D (- q1 (* x kC) q2))"},
    {"mod_sum_wraps", VALUES, "(near D (- q1 (- (* x kC) (* k1 m)) q2))"},
    {"mod_difference", VALUES, "(near D (- q1 (- (- (* x kC)) (* k1 m)) q2))"},
    {"mod_sum_3", VALUES, "(near D (- q1 (* x kC) q2))"},
    {"mod_sum_3_wraps", VALUES, "(near D (- q1 (- (* x kC) (* k1 m)) q2))"},
    {"mod_sum_multiple", VALUES, "(near C (- q1 ky q2))"},
    {"mod_sum_multiple_wraps", VALUES, "(near C (- q1 (- ky (* k1 m)) q2))"},
    {"mod_difference_multiple", VALUES, "(near C (- q1 (- (- ky) (* k1 m)) q2))"},
    {"div_div", BOTH, "(near (* C D) (- q2 q3))"},
    {"div_div", BOTH, "(product C r2)"},
    {"div_div", BOTH, "(times q1 (+ (* q2 D) r2) C)"},
    {"div_div", BOTH, "(product C (- D 1 r2))"},
    {"div_div", BOTH, "(product (- C 1) (- D 1))"},
    {"mod_mod", VALUES, "(near D (- q3 (* q1 kC) q2))"},
    {"mod_sum_of_mod", VALUES, "(near D (- q3 (* q1 kC) q2))"},
    {"mod_sum_of_mod_wraps", VALUES, "(near D (- q3 (* q1 kC) q2 (* k1 m kC)))"},
    {"and_sum", VALUES, "(near (+ D 1) (- q1 (- (* x kC) (* k1 m)) q2))"},
    {"shr_shr", BOTH, "(near (* two_to_C two_to_D) (- q2 q3))"},
    {"shr_shr", BOTH, "(product two_to_C r2)"},
    {"shr_shr", BOTH, "(times q1 (+ (* q2 two_to_D) r2) two_to_C)"},
    {"shr_shr", BOTH, "(product two_to_C (- two_to_D 1 r2))"},
    {"shr_shr", BOTH, "(product (- two_to_C 1) (- two_to_D 1))"},
    {"shr_product", BOTH, "(near two_to_D (- (* x kC) q1))"},
    {"shr_product", STEPS, "(scale two_to_D (* x kC))"},
    {"shr_sum", BOTH, "(near two_to_D (- q1 (* x kC) q2))"},
    {"shr_sum", STEPS, "(scale two_to_D (* x kC))"},
    {"shr_constant_sum", BOTH, "(near two_to_D (- q1 q2 kC))"},
    {"shr_constant_sum", BOTH, "(scale two_to_D kC)"},
    {"shl_shr", VALUES, "(near two_to_C (- x q1))"},
};

static void give_hints(proof *p, hint_for which) {
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (!strcmp(hints[i].rule, p->rule->name) && (hints[i].which & which)) {
            const char *text = hints[i].instance;
            assert_true(!strncmp(text, "(near ", 6) || !strncmp(text, "(scale ", 7) ||
                        !strncmp(text, "(times ", 7) || !strncmp(text, "(product ", 9));
            fprintf(p->premises, "(assert %s)\n", text);
        }
    fflush(p->premises);
}

static const char *integer(proof *p, wide n) {
    return n < 0 ? TEXT("(- %lld)", (long long)-n) : TEXT("%lld", (long long)n);
}

static const char *outcome(proof *p, const arith_node *n, wide worth) {
    return n->is_truth ? worth ? "true" : "false" : integer(p, worth);
}

/* The premises with the values of the example, and an outcome that they must allow. */
static void ask_example(proof *p, const char *what, const char *expected) {
    const model *m = &p->example->at;
    const char *all = TEXT("(= M %s) (= bits %u)", integer(p, (wide)1 << m->bits), m->bits);
    for (int s = 0; s < ARITH_SLOTS; s++) {
        wide v = m->slots[s];
        if (s == 3 || s == 4)
            all = TEXT("%s (= %c %s)", all, arith_slot_names[s], v ? "true" : "false");
        else if (p->rule->uses[s])
            all = TEXT("%s (= %c %s)", all, arith_slot_names[s], integer(p, v));
        if (s >= 5 && v >= 0 && v < m->bits)
            all = TEXT("%s (= two_to_%c %s)", all, arith_slot_names[s], integer(p, (wide)1 << v));
    }
    fflush(p->premises);
    question q = {p->rule->name, m->is_signed, what, "sat"};
    ask(p->asked, q, p->script, TEXT("(and %s %s)", all, expected));
}

/* Pattern and result are worth the same, and the result is defined. */
static void prove_values(questions *asked, const arith_rule *rule, bool is_signed, const example *given) {
    proof all, *p = &all;
    start_proof(p, asked, rule, is_signed, given);
    p->exact = false;
    const char *before = value(p, rule->pattern);
    p->in_result = true;
    const char *after = value(p, rule->result);
    give_hints(p, VALUES);
    question q = {rule->name, is_signed, "the same value", "unsat"};
    if (given)
        ask_example(p, "an example",
                    TEXT("(= %s %s) (= %s %s) %s", before, outcome(p, rule->pattern, given->before), after,
                         outcome(p, rule->result, given->after), p->goals));
    else
        ask(asked, q, p->script, TEXT("(not (and (= %s %s) %s))", before, after, p->goals));
    finish_proof(p);
}

/* Where no step of the pattern overflows, none of the result does. */
static void prove_steps(questions *asked, const arith_rule *rule, const example *given) {
    proof all, *p = &all;
    start_proof(p, asked, rule, true, given);
    const char *before = term(p, rule->pattern);
    for (unsigned i = 0; i < p->step_count; i++)
        fprintf(p->premises, "(assert (fits %s))\n", p->steps[i]);
    p->step_count = 0;
    p->in_result = true;
    const char *after = term(p, rule->result);
    p->goals = "true"; /* divisors are proved with the values */
    for (unsigned i = 0; i < p->step_count; i++)
        add_goal(p, TEXT("(fits %s)", p->steps[i]));
    give_hints(p, STEPS);
    question q = {rule->name, true, "overflow", "unsat"};
    if (given)
        ask_example(p, "an example that does not overflow",
                    rule->pattern->op == IR_SHL /* drops bits */
                        ? p->goals
                        : TEXT("(= %s %s) (= %s %s) %s", before, outcome(p, rule->pattern, given->before),
                               after, outcome(p, rule->result, given->after), p->goals));
    else
        ask(asked, q, p->script, TEXT("(not (and %s))", p->goals));
    finish_proof(p);
}

/* ---- rules of bits alone ---- */
static bool is_bitwise(const arith_node *n) {
    if (n->kind == ARITH_NODE_OP && n->op != IR_BITAND && n->op != IR_BITOR && n->op != IR_BITXOR)
        return false;
    for (unsigned i = 0; i < n->count; i++)
        if (!is_bitwise(arith_node_arg(n, i)))
            return false;
    return n->kind == ARITH_NODE_NUMBER ? !n->is_truth && n->number == 0 : n->kind != ARITH_NODE_TRUTH;
}

/* A rule without conditions whose every operation treats each bit alone. */
static bool is_of_bits(const arith_rule *rule) {
    return rule->condition_count == 0 && is_bitwise(rule->pattern) && is_bitwise(rule->result);
}

static const char *bit(base_arena *arena, const arith_node *n) {
    if (n->kind == ARITH_NODE_NUMBER)
        return "false";
    if (n->kind != ARITH_NODE_OP)
        return base_arena_format(arena, "%c", arith_slot_names[n->slot]);
    return base_arena_format(arena, "(%s %s %s)",
                             n->op == IR_BITAND  ? "and"
                             : n->op == IR_BITOR ? "or"
                                                 : "xor",
                             bit(arena, arith_node_arg(n, 0)), bit(arena, arith_node_arg(n, 1)));
}

static void prove_bits(questions *asked, const arith_rule *rule, bool is_signed) {
    question q = {rule->name, is_signed, "one bit", "unsat"};
    const char *slots = "";
    for (int s = 0; s < ARITH_SLOTS; s++)
        slots = base_arena_format(asked->arena, "%s(declare-const %c Bool)", slots, arith_slot_names[s]);
    ask(asked, q, slots,
        base_arena_format(asked->arena, "(distinct %s %s)", bit(asked->arena, rule->pattern),
                          bit(asked->arena, rule->result)));
}

static void test_rules(void **state) {
    size_t count;
    const arith_rule *rules = arith_rules(&count);
    questions asked;
    start_questions(&asked, *state);
    for (size_t i = 0; i < count; i++)
        for (int is_signed = 0; is_signed < 2; is_signed++) {
            if (is_of_bits(&rules[i])) {
                prove_bits(&asked, &rules[i], is_signed);
                continue;
            }
            prove_values(&asked, &rules[i], is_signed, NULL);
            if (is_signed)
                prove_steps(&asked, &rules[i], NULL);
        }
    check_answers(&asked);
}

/* ---- the questions themselves ---- */
static wide likely_value(const model *m, uint64_t *seed) {
    static const int8_t likely[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 32, 64, -1, -2, -4, -8, -16, 24, 20};
    *seed ^= *seed << 13, *seed ^= *seed >> 7, *seed ^= *seed << 17;
    uint64_t r = *seed;
    switch (r % 8) {
    case 0:
        return wrap(m, (wide)(r >> 8));
    case 1:
        return wrap(m, ((wide)1 << (m->bits - 1)) - (wide)(r >> 8 & 1)); /* least and most of signed types */
    default:
        return wrap(m, likely[(r >> 8) % (sizeof likely / sizeof *likely)]);
    }
}

/* The next values that meet the conditions, of a bounded number. */
static bool find_example(const arith_rule *rule, bool is_signed, unsigned bits, bool fits, uint64_t *seed,
                         example *found) {
    for (int round = 0; round < 20000; round++) {
        model m = {.bits = bits, .is_signed = is_signed};
        for (int s = 0; s < ARITH_SLOTS; s++)
            m.slots[s] = !rule->uses[s]     ? 0
                         : s == 3 || s == 4 ? likely_value(&m, seed) & 1
                                            : likely_value(&m, seed);
        if (!conditions_hold(&m, rule))
            continue;
        found->at = m;
        found->before = evaluate(&m, rule->pattern);
        if (m.undefined || (fits && m.overflows))
            continue;
        found->after = evaluate(&m, rule->result);
        return true;
    }
    return false;
}

/* Every rule on examples of two widths: the premises allow them, with the outcome of the model, so they do
 * not contradict each other and ask for no more than the conditions. A rule without examples has none: its
 * conditions never hold. */
static void test_encoding(void **state) {
    enum { EXAMPLES = 3 };
    size_t count;
    const arith_rule *rules = arith_rules(&count);
    questions asked;
    uint64_t seed = 88172645463325252u;
    start_questions(&asked, *state);
    for (size_t i = 0; i < count; i++)
        for (unsigned kind = 0; kind < 4 && !is_of_bits(&rules[i]); kind++)
            for (int n = 0; n < EXAMPLES; n++) {
                bool is_signed = kind & 1;
                example e;
                if (find_example(&rules[i], is_signed, kind & 2 ? 32 : 8, false, &seed, &e)) {
                    prove_values(&asked, &rules[i], is_signed, &e);
                } else {
                    proof none;
                    start_proof(&none, &asked, &rules[i], is_signed, NULL);
                    fflush(none.premises);
                    question q = {rules[i].name, is_signed, "conditions that never hold", "unsat"};
                    ask(&asked, q, none.script, "true");
                    finish_proof(&none);
                    break;
                }
                if (is_signed && find_example(&rules[i], true, kind & 2 ? 32 : 8, true, &seed, &e))
                    prove_steps(&asked, &rules[i], &e);
            }
    check_answers(&asked);
}

/* What is used of powers of two, for the widths of types and every power: a >> k and a & (2^k - 1) are
 * quotient and remainder of 2^k (in twice the bits, where nothing wraps), a & -2^k is the rest, a << k the
 * product. That 2^k divides 2^bits for k <= bits needs no proof. */
static void test_powers(void **state) {
    base_arena *arena = *state;
    questions asked;
    start_questions(&asked, *state);
    for (unsigned bits = 8; bits <= 64; bits *= 2)
        for (int is_signed = 0; is_signed < 2; is_signed++)
            for (unsigned k = 0; k + (unsigned)is_signed < bits; k++) {
                const char *premises = base_arena_format(
                    arena,
                    "(define-sort V () (_ BitVec %u))(define-sort W () (_ BitVec %u))(declare-const a V)\n"
                    "(define-fun ext ((a V)) W ((_ %s_extend %u) a))\n"
                    "(define-fun k () V (_ bv%u %u))(define-fun power () V (_ bv%llu %u))\n"
                    "(define-fun quotient () V (%s a k))(define-fun remainder () V (bvand a (bvsub power (_ "
                    "bv1 "
                    "%u))))\n",
                    bits, 2 * bits, is_signed ? "sign" : "zero", bits, k, bits, 1ull << k, bits,
                    is_signed ? "bvashr" : "bvlshr", bits);
                question q = {base_arena_format(arena, "2^%u of %u bits", k, bits), is_signed,
                              "a power of two", "unsat"};
                ask(&asked, q, premises,
                    "(not (and (bvult remainder power) (= (ext a) (bvadd (bvmul (ext quotient) (ext power)) "
                    "(ext "
                    "remainder))) (= a (bvadd (bvand a (bvneg power)) remainder)) (= (bvshl a k) (bvmul a "
                    "power))))");
            }
    check_answers(&asked);
}

/* A hint for a rule that is gone or renamed. */
static void test_hints(void **state) {
    (void)state;
    size_t count;
    const arith_rule *rules = arith_rules(&count);
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        bool found = false;
        for (size_t j = 0; j < count; j++)
            found |= !strcmp(hints[i].rule, rules[j].name);
        if (!found)
            fail_msg("no rule is called %s", hints[i].rule);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(test_lemmas), UNIT_WITH_ARENA(test_powers),   UNIT_WITH_ARENA(test_hints),
        UNIT_WITH_ARENA(test_rules),  UNIT_WITH_ARENA(test_encoding),
    };
    return cmocka_run_group_tests_name("arith_proof", tests, NULL, NULL);
}
