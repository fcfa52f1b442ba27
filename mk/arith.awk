# SPDX-License-Identifier: Apache-2.0
# The rule table src/arith/arith_rules.def as constant trees in C: an array of nodes, where arguments stand before what
# they are arguments of, the rules over it, and for each operation the rules with it at the root, in their order, with
# what their operands must be. A small parser of expressions with Python's precedence; a row that cannot be read stops
# the build. Columns are those of the structs in arith_rule.h.
function fail(what) {
    print FILENAME ":" FNR ": " what ": \"" text "\" at " at > "/dev/stderr"
    failed = 1
    exit 1
}
function skip() {
    while (substr(text, at, 1) == " ")
        at++
}
function take(sign,   after) {
    skip()
    after = substr(text, at + length(sign), 1)
    if (substr(text, at, length(sign)) != sign || (sign ~ /^[A-Za-z]/ && after ~ /[A-Za-z0-9]/))
        return 0
    at += length(sign)
    return 1
}
function make(a_kind, an_op, a_count, a, b, c,   n) {
    n = nodes++
    kind[n] = a_kind
    op[n] = an_op
    count[n] = a_count
    arg[n, 0] = a
    arg[n, 1] = b
    arg[n, 2] = c
    number[n] = slot[n] = exchange[n] = 0
    constant[n] = (a_count < 1 || constant[a]) && (a_count < 2 || constant[b]) && (a_count < 3 || constant[c])
    truth[n] = a_kind != "NUMBER" && a_kind != "BITS"
    if (a_kind == "OP") {
        truth[n] = (an_op in truths) || (an_op == "IR_SELECT" && truth[b])
        exchange[n] = (an_op in commutes) && !constant[n] ? ++exchanges : 0
    }
    return n
}
function make_number(value, is_truth,   n) {
    n = make("NUMBER", "IR_INT", 0)
    number[n] = value
    truth[n] = is_truth
    return n
}
function read_slot(   which, n) {
    which = index("xyzpqCDE", substr(text, at, 1)) - 1
    if (which < 0 || at > length(text))
        fail("no operand")
    at++
    n = make(which < 3 ? "VARIABLE" : which < 5 ? "TRUTH" : "CONSTANT", "IR_INT", 0)
    slot[n] = which
    truth[n] = which == 3 || which == 4
    constant[n] = which > 4
    return n
}
function read_call(a_kind, an_op, a_count,   i, a) {
    for (i = 0; i < a_count; i++) {
        if (!take(i ? "," : "("))
            fail("an argument is missing")
        a[i] = read_expression(1)
    }
    if (!take(")"))
        fail("no )")
    return make(a_kind, an_op, a_count, a[0], a[1], a[2])
}
function read_word(   i) {
    if (substr(text, at, 2) !~ /^[A-Za-z][A-Za-z]/)
        return read_slot()
    for (i = 1; i <= calls; i++)
        if (take(call_name[i]))
            return read_call(call_kind[i], call_op[i], call_count[i])
    if (take("True"))
        return make_number(1, 1)
    if (take("False"))
        return make_number(0, 1)
    if (take("bits"))
        return make("BITS", "IR_INT", 0)
    return read_slot()
}
function read_primary(   digits, inside, sign) {
    skip()
    if (match(substr(text, at), /^[0-9]+/)) {
        digits = substr(text, at, RLENGTH)
        at += RLENGTH
        return make_number(digits, 0)
    }
    if (take("(")) {
        inside = read_expression(1)
        if (!take(")"))
            fail("no )")
        return inside
    }
    sign = substr(text, at, 1)
    if (sign == "-" || sign == "~") {
        at++
        inside = read_primary()
        if (sign == "-" && kind[inside] == "NUMBER")
            return make_number("-" number[inside], 0)
        return make("OP", sign == "-" ? "IR_NEG" : "IR_BITNOT", 1, inside)
    }
    if (take("not")) {
        inside = read_expression(3)
        return make("OP", "IR_NOT", 1, inside)
    }
    return read_word()
}
function read_expression(least,   left, right, i, found) {
    left = read_primary()
    for (;;) {
        found = 0
        for (i = 1; i <= levels && !found; i++)
            if (binding[i] >= least && take(sign_of[i]))
                found = i
        if (!found)
            return left
        right = read_expression(binding[found] + 1)
        left = make("OP", op_of[found], 2, left, right)
    }
}
function read_all(a_text,   n) {
    text = a_text
    at = 1
    exchanges = 0
    n = read_expression(1)
    skip()
    if (at <= length(text))
        fail("something is left")
    return n
}
function count_uses(n,   i) {
    if (kind[n] == "VARIABLE" || kind[n] == "TRUTH" || kind[n] == "CONSTANT")
        uses[slot[n]]++
    for (i = 0; i < count[n]; i++)
        count_uses(arg[n, i])
}
function split_conditions(n) {
    if (kind[n] == "OP" && op[n] == "IR_AND") {
        split_conditions(arg[n, 0])
        split_conditions(arg[n, 1])
    } else if (condition_count < 8) {
        conditions = conditions (condition_count++ ? ", " : "") "&nodes[" n "]"
    } else {
        fail("over 8 conditions")
    }
}
# What an operand must be for the pattern to match; IR_OP_COUNT: that is open.
function need(n, i,   a) {
    if (i >= count[n])
        return "IR_OP_COUNT"
    a = arg[n, i]
    if (kind[a] == "OP")
        return op[a]
    return kind[a] == "NUMBER" || kind[a] == "CONSTANT" ? "IR_INT" : "IR_OP_COUNT"
}
# How far before a node its argument stands.
function back(n, i) {
    return i < count[n] ? n - arg[n, i] : 0
}
function add_level(sign, an_op, a_binding) {
    sign_of[++levels] = sign
    op_of[levels] = an_op
    binding[levels] = a_binding
}
function add_call(name, a_kind, an_op, a_count) {
    call_name[++calls] = name
    call_kind[calls] = a_kind
    call_op[calls] = an_op
    call_count[calls] = a_count
}
BEGIN {
    # Longer signs first; tighter ones have the larger binding.
    add_level("or", "IR_OR", 1)
    add_level("and", "IR_AND", 2)
    add_level("<=", "IR_LE", 4)
    add_level(">=", "IR_GE", 4)
    add_level("==", "IR_EQ", 4)
    add_level("!=", "IR_NE", 4)
    add_level("<<", "IR_SHL", 8)
    add_level(">>", "IR_SHR", 8)
    add_level("<", "IR_LT", 4)
    add_level(">", "IR_GT", 4)
    add_level("|", "IR_BITOR", 5)
    add_level("^", "IR_BITXOR", 6)
    add_level("&", "IR_BITAND", 7)
    add_level("+", "IR_ADD", 9)
    add_level("-", "IR_SUB", 9)
    add_level("//", "IR_FLOORDIV", 10)
    add_level("%", "IR_FLOORMOD", 10)
    add_level("*", "IR_MUL", 10)
    add_call("truncdiv", "OP", "IR_TRUNCDIV", 2)
    add_call("truncmod", "OP", "IR_TRUNCMOD", 2)
    add_call("min", "OP", "IR_MIN", 2)
    add_call("max", "OP", "IR_MAX", 2)
    add_call("abs", "OP", "IR_ABS", 1)
    add_call("select", "OP", "IR_SELECT", 3)
    add_call("exact", "EXACT", "IR_INT", 1)
    add_call("power", "POWER", "IR_INT", 1)
    add_call("mask", "MASK", "IR_INT", 1)
    split("IR_EQ IR_NE IR_LT IR_LE IR_GT IR_GE IR_AND IR_OR IR_NOT", list, " ")
    for (i in list)
        truths[list[i]]
    split("IR_ADD IR_MUL IR_MIN IR_MAX IR_BITAND IR_BITOR IR_BITXOR IR_EQ IR_NE IR_AND IR_OR", list, " ")
    for (i in list)
        commutes[list[i]]
}
/^ARITH_RULE/ {
    if (split($0, part, "\"") != 7)
        fail("a row is ARITH_RULE(name, \"pattern\", \"result\", \"conditions\")")
    name = part[1]
    sub(/^ARITH_RULE\(/, "", name)
    sub(/,.*/, "", name)
    pattern = read_all(part[2])
    rule_exchanges = exchanges
    split("", uses)
    count_uses(pattern)
    result = read_all(part[4])
    conditions = ""
    condition_count = 0
    if (part[6] != "")
        split_conditions(read_all(part[6]))
    root = op[pattern]
    if (kind[pattern] != "OP")
        fail("a pattern is an operation")
    if (!(root in choices))
        roots[++root_count] = root
    choices[root] = choices[root] sprintf("    {%d, %d, {%s, %s}},\n", rules, exchange[pattern] != 0, need(pattern, 0),
                                          need(pattern, 1))
    choice_count[root]++
    rule[rules++] = sprintf("    {\"%s\", \"%s\", \"%s\", \"%s\", &nodes[%d], &nodes[%d], %d, %d, {%s}, {%d, %d, %d, %d, %d, %d, %d, %d}},\n",
                            name, part[2], part[4], part[6], pattern, result, condition_count, rule_exchanges,
                            conditions == "" ? "NULL" : conditions,
                            uses[0], uses[1], uses[2], uses[3], uses[4], uses[5], uses[6], uses[7])
}
END {
    if (failed)
        exit 1
    print "static const arith_node nodes[] = {"
    for (n = 0; n < nodes; n++)
        printf "    {ARITH_NODE_%s, %s, %d, %d, %d, %d, %d, {%d, %d, %d}, %s},\n", kind[n], op[n], slot[n], exchange[n], count[n],
               truth[n], constant[n], back(n, 0), back(n, 1), back(n, 2), number[n]
    print "};\nstatic const arith_rule rules[] = {"
    for (i = 0; i < rules; i++)
        printf "%s", rule[i]
    print "};\nstatic const arith_choice choices[] = {"
    for (i = 1; i <= root_count; i++)
        printf "%s", choices[roots[i]]
    print "};\nstatic const choice_range by_op[IR_OP_COUNT] = {"
    for (i = 1; i <= root_count; i++) {
        printf "    [%s] = {%d, %d},\n", roots[i], first, choice_count[roots[i]]
        first += choice_count[roots[i]]
    }
    print "};"
}
