#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tirc diff: the words, both places and the exit status; the three spellings of a scalar are one kernel, and its text
# has the scalar form. Prints TAP. covers: A43 A44
set -u
cd "$(dirname "$0")/../.." || exit 2
build=${TIRC_BUILD:-build/test}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
file=tests/diff/scalars.py
number=0 bad=0
say() { # status name
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then echo "ok $number - $2"; else
        echo "not ok $number - $2"
        sed 's/^/# /' "$work/out"
        bad=1
    fi
}
differ() { # status name expected-lines first second
    "$build/tirc" diff "$4" "$5" >"$work/out" 2>"$work/error"
    local status=$?
    printf '%b' "$3" >"$work/expected"
    cmp -s "$work/out" "$work/expected" && [ "$status" -eq "$1" ]
    say $? "$2"
}
differ 0 "case E08: annotated and local_scalar" 'equal\n' $file:sugar $file:explicit
differ 0 "case E08: annotated and alloc_local" 'equal\n' $file:sugar $file:tensor
differ 0 "case E08: local_scalar and alloc_local" 'equal\n' $file:explicit $file:tensor
for entry in sugar explicit tensor; do
    "$build/tirc" build $file:$entry --emit tir 2>&1 | sed "s/function $entry/function k/" >"$work/$entry.tir"
done
cp "$work/tensor.tir" "$work/out"
cmp -s "$work/sugar.tir" "$work/explicit.tir" && cmp -s "$work/sugar.tir" "$work/tensor.tir" &&
    grep -q '^    s: int32 = 0$' "$work/tensor.tir" && ! grep -q 's\[0\]' "$work/tensor.tir"
say $? "case E08: one printed form, the scalar's"
for entry in sugar explicit tensor; do
    "$build/tirc" build $file:$entry --emit cuda 2>&1 | sed "s/${entry}_kernel/k_kernel/" >"$work/$entry.cu"
done
cp "$work/tensor.cu" "$work/out"
cmp -s "$work/sugar.cu" "$work/explicit.cu" && cmp -s "$work/sugar.cu" "$work/tensor.cu" &&
    grep -q 'alignas(64) int s_ptr\[1\];' "$work/sugar.cu"
say $? "case E08: one CUDA text"
differ 0 "a script and its IR text" 'equal\n' $file:sugar "$work/tensor.tir"
differ 1 "another constant, with both places" "different: body statement 4 (while), while statement 1 (store): the value differs \
(different numbers): \`s + (tx + 1)\` of type int32 and \`s + (tx + 2)\` of type int32\nfirst: $file:12:9\nsecond: $file:44:9\n" \
    $file:sugar $file:other
differ 1 "a statement more" "different: body: 5 statements and 6\nfirst: $file:13:5\nsecond: $file:56:5\n" $file:sugar $file:longer
differ 1 "another parameter" "different: parameter 1: tensors of different kinds or element types\nfirst: $file:7:11\nsecond: $file:60:11\n" \
    $file:sugar $file:wider
differ 2 "a kernel that is not there" '' $file:sugar $file:nothing
differ 2 "a file that is not there" '' $file:sugar "$work/nothing.tir"
differ 2 "one file only" '' $file:sugar ""
echo "1..$number"
exit $bad
