# SPDX-License-Identifier: Apache-2.0
# Pages of docs/explain as rows of a C table: {code, {command, command}, {text, text}}, first wrong, then right. A line
# "# wrong: COMMAND" or "# right: COMMAND" (// in PTX) starts a kernel; what stands before the first is the licence.
function quoted(line) {
    gsub(/\\/, "&&", line)
    gsub(/"/, "\\\\&", line)
    return "\"" line
}
function finish() {
    if (!code)
        return
    if (kernels != 2) {
        print FILENAME ": a wrong and a right kernel are wanted, in this order" > "/dev/stderr"
        exit 1
    }
    printf "{\"%s\", {%s\", %s\"},\n {%s,\n %s}},\n", code, quoted(command[1]), quoted(command[2]), text[1], text[2]
}
FNR == 1 {
    finish()
    code = FILENAME
    sub(/.*\//, "", code)
    sub(/\..*/, "", code)
    kernels = 0
    text[1] = text[2] = "\"\""
}
/^(#|\/\/) (wrong|right): / {
    kernels += $2 == (kernels ? "right:" : "wrong:") ? 1 : 9
    command[kernels] = $0
    sub(/^[^:]*: /, "", command[kernels])
    next
}
kernels { text[kernels] = text[kernels] "\n  " quoted($0) "\\n\"" }
END { finish() }
