#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Random kernels on every road. Each runs with all optimising passes, without each one and without any, on every level
# of the machine, on one and two threads, in other orders, from its IR text and from its PTX text; and from the PTX that
# nvcc makes of its CUDA text. All tensors must agree. TIRC_SEED picks other kernels, TIRC_CHECK_ALL=1 runs 5,000.
# A kernel that fails is made smaller and kept in the folder that the output names. Prints TAP.
# covers: A1 A2 A3 A15 A16 A17 A18 A25 A27 A28
set -u
cd "$(dirname "$0")/../.." || exit 2
build=${TIRC_BUILD:-build/test}
seed=${TIRC_SEED:-1}
files=10 each=50
[ -n "${TIRC_CHECK_ALL:-}" ] && files=50 each=100 # kernels of a file are one unit of nvcc
kept=${TMPDIR:-/tmp}/tirc-generated-failures
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
nvcc=$(tools/find-nvcc || true)
number=0 bad=0
result() { # status name [skip]
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then echo "ok $number - $2${3:-}"; else
        echo "not ok $number - $2"
        bad=1
        head -n 20 "$work/log" | sed 's/^/# /'
    fi
}

echo "# seed $seed"
"$build/tool/generate" "$seed" 20 >"$work/a.py" && "$build/tool/generate" "$seed" 20 >"$work/b.py" &&
    cmp "$work/a.py" "$work/b.py" >"$work/log" 2>&1 && [ "$(grep -c '^def g' "$work/a.py")" -eq 20 ]
result $? "the same seed gives the same kernels"

options=()
[ -n "$nvcc" ] && options=(--nvcc "$nvcc")
one() { # seed: writes its log, and its status into .status
    "$build/tool/generate" "$1" $each >"$work/$1.py"
    "$build/tool/generated_check" "$work/$1.py" --save "$kept" "${options[@]}" >"$work/$1.log" 2>&1
    echo $? >"$work/$1.status"
}
# Two files at a time: nvcc and the machine take turns.
for ((i = 0; i < files; i += 2)); do
    one $((seed + i)) &
    one $((seed + i + 1))
    wait
done
for ((i = 0; i < files; i++)); do
    s=$((seed + i))
    cp "$work/$s.log" "$work/log"
    result "$(cat "$work/$s.status")" "seed $s: $(tail -n 1 "$work/log")"
done
if [ -z "$nvcc" ]; then
    if [ -n "${REQUIRE_NVCC:-}" ]; then
        echo "no nvcc" >"$work/log"
        result 1 "kernels through nvcc"
    else
        result 0 "kernels through nvcc" " # SKIP no nvcc"
    fi
fi
echo "1..$number"
exit $bad
