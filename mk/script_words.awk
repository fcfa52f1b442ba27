# SPDX-License-Identifier: Apache-2.0
# The look-up tables of script_dialect.def: what the parameters of each word are, and where a hash of its path finds it.
# A row starts with WORD("path", KIND, "signature", or LATER("path", ... The hash is that of script_dialect.c.
function hash(text,    h, i) {
    h = 0
    for (i = 1; i <= length(text); i++)
        h = (h * 37 + code[substr(text, i, 1)]) % 65536
    return h
}
function enter(path,    slot) {
    for (slot = hash(path) % slots; slot in taken; slot = (slot + 1) % slots)
        ;
    taken[slot] = ++words
}
# "shape, dtype=, *, scope=": one row for each name, and one for the word.
function describe(signature,    items, count, i, begin, size, first, positional, rest, keywords) {
    first = parameters
    positional = -1
    rest = keywords = "false"
    begin = 0
    count = split(signature, items, ",")
    for (i = 1; i <= count; i++) {
        while (substr(items[i], 1, 1) == " ") {
            items[i] = substr(items[i], 2)
            begin++
        }
        size = length(items[i])
        if (substr(items[i], 1, 2) == "**") {
            keywords = "true"
        } else if (substr(items[i], 1, 1) == "*") {
            if (size > 1)
                rest = "true"
            if (positional < 0)
                positional = parameters - first
        } else if (parameters - first < most) {
            printf "    {%d, %d, %s},\n", begin, size - (substr(items[i], size) == "="),
                substr(items[i], size) == "=" ? "true" : "false"
            parameters++
        }
        begin += size + 1
    }
    of_word[words] = sprintf("    {%d, %d, %d, %s, %s},\n", first, parameters - first,
                             positional < 0 ? parameters - first : positional, rest, keywords)
}
BEGIN {
    slots = 2048 # WORD_SLOTS
    most = 24    # SCRIPT_MAX_PARAMETERS
    for (i = 1; i < 128; i++)
        code[sprintf("%c", i)] = i
    print "static const script_parameter word_parameters[] = {"
}
/^(WORD|LATER)\("/ {
    split($0, part, "\"")
    enter(part[2])
    describe(/^WORD/ ? part[4] : "")
}
END {
    print "};"
    print "static const script_signature word_signatures[] = {"
    for (i = 1; i <= words; i++)
        printf "%s", of_word[i]
    print "};"
    print "static const uint16_t word_slots[] = {"
    for (i = 0; i < slots; i++)
        printf "%d,%s", taken[i], i % 16 == 15 ? "\n" : " "
    print "};"
}
