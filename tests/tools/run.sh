#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The repository's own tools. Prints TAP.
cd "$(dirname "$0")/../.." || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
number=0
check() { # name, expected, got
    number=$((number + 1))
    if [ "$2" = "$3" ]; then
        echo "ok $number - $1"
    else
        echo "not ok $number - $1"
        printf 'expected:\n%s\ngot:\n%s\n' "$2" "$3" | sed 's/^/# /'
    fi
}
# Written in two pieces, so that this file covers nothing itself.
word='cov''ers:'
tools/seed-coverage "$work" >"$work.out"
check "seed-coverage: nothing" "covered 0 of 118" "$(head -n 1 "$work.out")"
check "seed-coverage: all ids are missing" 118 "$(sed -n 's/^without a test://p' "$work.out" | wc -w)"
rm -f "$work.out"
mkdir "$work/sub"
printf '/* a test\n * %s A1 A20-A23, B41 */\nint x;\n' "$word" >"$work/one.c"
printf '# %s A1 B1-B40 and words\n' "$word" >"$work/sub/run.sh"
check "seed-coverage: ids and ranges" "covered 46 of 118" "$(tools/seed-coverage "$work" | head -n 1)"
check "seed-coverage: files" "A1: one.c sub/run.sh
A20: one.c" "$(tools/seed-coverage --files "$work" | head -n 2)"
check "seed-coverage: what is missing" "A2 A3 A4" "$(tools/seed-coverage "$work" | sed -n 's/^without a test: //p' | cut -d' ' -f1-3)"
tools/seed-coverage "$work" >/dev/null
check "seed-coverage: status" 0 $?
printf '// %s A78\n// %s B3-A4\n// %s A9-A8\n' "$word" "$word" "$word" >"$work/two.c"
out=$(tools/seed-coverage "$work")
check "seed-coverage: status with unknown ids" 1 $?
check "seed-coverage: unknown ids" "two.c:1: A78 is no id of the checklist
two.c:2: B3-A4 is no id of the checklist
two.c:3: A9-A8 is no id of the checklist" "$(printf '%s\n' "$out" | grep 'no id')"
printf '// %s A1-A77 B1-41\n' "$word" >"$work/two.c"
check "seed-coverage: everything" "covered 118 of 118" "$(tools/seed-coverage "$work")"
check "seed-coverage: this repository names only known ids" "" "$(tools/seed-coverage | grep 'no id')"
echo "1..$number"
