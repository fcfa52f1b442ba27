#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The script parser and formatter from outside. corpus/: trees equal Python's own (SKIP without python3), formatting
# keeps the tree and is stable. errors/: every file lists its reports as "# error CODE at LINE:COLUMN", no more and
# no fewer. Prints TAP.
cd "$(dirname "$0")/../.." || exit 2
dump=${TIRC_BUILD:-build/test}/tool/script_dump
here=tests/script
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
export PYTHONWARNINGS=ignore PYTHONDONTWRITEBYTECODE=1
number=0 bad=0
result() { # status, name; what stands in $work/why explains a failure
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $number - $2"
    else
        echo "not ok $number - $2"
        sed 's/^/# /' "$work/why" | head -n 20
        bad=1
    fi
}
skip() {
    number=$((number + 1))
    echo "ok $number - $1 # SKIP $2"
}
# Python's tree has no place for a few of our nodes; a version of Python may lack a syntax.
without_places() { sed -E 's/ @[0-9]+:[0-9]+-[0-9]+:[0-9]+$//' "$1"; }
comparable() { sed -E 's/^( *(finally: Handler|name: Name "[^"]*"|value: (Function .*|For|With))) @[0-9:-]+$/\1/' "$1"; }
python_version=$(python3 -c 'import sys; print("%d%02d" % sys.version_info[:2])' 2>/dev/null || echo 0)
files=0
for file in "$here"/corpus/*.py tests/python/corpus/*.py examples/factory_gemm.py examples/softmax_template.py; do
    files=$((files + 1))
    name=$(basename "$file")
    if ! "$dump" ast "$file" >"$work/ours" 2>"$work/why"; then
        result 1 "tree of $name"
        continue
    fi
    needs=$(sed -n 's/^# needs: 3\.\([0-9]*\)$/3\1/p' "$file")
    if [ "$python_version" -eq 0 ]; then
        skip "tree of $name" "no python3"
    elif [ "$python_version" -lt "${needs:-311}" ]; then
        skip "tree of $name" "this python3 is older than the file's syntax"
    else
        python3 "$here/python_dump.py" "$file" >"$work/python" 2>"$work/why" &&
            diff <(comparable "$work/python") <(comparable "$work/ours") >"$work/why"
        result $? "tree of $name"
    fi
    "$dump" fmt "$file" >"$work/formatted.py" 2>"$work/why" &&
        "$dump" ast "$work/formatted.py" >"$work/again" 2>"$work/why" &&
        diff <(without_places "$work/ours") <(without_places "$work/again") >"$work/why"
    result $? "tree of $name after formatting"
    "$dump" fmt "$work/formatted.py" 2>"$work/why" | diff "$work/formatted.py" - >>"$work/why"
    result $? "formatting $name twice"
done
for file in "$here"/errors/*.py; do
    files=$((files + 1))
    sed -n 's/^# error \(T[0-9]*\) at \([0-9]*:[0-9]*\)$/\2 \1/p' "$file" >"$work/expected"
    "$dump" check "$file" >/dev/null 2>"$work/messages"
    status=$?
    sed -n 's/^[^:]*:\([0-9]*:[0-9]*\): error: .*\[\(T[0-9]*\)\]$/\1 \2/p' "$work/messages" >"$work/found"
    { [ -s "$work/expected" ] && [ "$status" -eq 1 ] && diff "$work/expected" "$work/found"; } >"$work/why"
    result $? "reports of $(basename "$file")"
done
[ "$files" -gt 20 ]
result $? "the corpus is there"
echo "1..$number"
exit $bad
