#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every example at several shapes: against results computed by plain C, from script and from its IR text; and through
# nvcc, where `our PTX -> machine` must equal `our CUDA -> nvcc -ptx -> machine`. Prints TAP.
# covers: A1-A7 A9 A11-A13 A15-A18 A20-A21 A25-A28 A37-A39 A41-A42 A45-A48 A69-A70
set -u
cd "$(dirname "$0")/../.." || exit 2
build=${TIRC_BUILD:-build/test}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
number=0 bad=0
result() { # status name
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then echo "ok $number - $2"; else
        echo "not ok $number - $2"
        bad=1
        head -n 12 "$work/log" | sed 's/^/# /'
    fi
}
nvcc=$(tools/find-nvcc || true)
${CC:-gcc} -O1 -o "$work/reference" tests/examples/reference.c -lm || exit 2
while read -r file entry defines; do
    case $file in '' | '#'*) continue ;; esac
    name="$entry $defines"
    options=""
    for define in $defines; do options="$options -D $define"; done
    arguments=$("$work/reference" "$entry" "$work" $defines) || { echo "# no reference"; bad=1; continue; }
    "$build/tirc" run "examples/$file:$entry" $options $arguments >"$work/log" 2>&1
    result $? "$name"
    "$build/tirc" build "examples/$file:$entry" $options --emit tir -o "$work/k.tir" >"$work/log" 2>&1 &&
        "$build/tirc" run "$work/k.tir" $arguments >>"$work/log" 2>&1
    result $? "$name from its IR text"
    "$build/tirc" build "examples/$file:$entry" $options --emit ptx -o "$work/k.ptx" >"$work/log" 2>&1 &&
        "$build/tirc" build "$work/k.ptx" --emit ptx -o "$work/again.ptx" >>"$work/log" 2>&1 &&
        cmp "$work/k.ptx" "$work/again.ptx" >>"$work/log" 2>&1
    result $? "$name PTX text reads back to itself"
    if [ -z "$nvcc" ]; then
        number=$((number + 1))
        if [ -n "${REQUIRE_NVCC:-}" ]; then echo "not ok $number - $name through nvcc: no nvcc"; bad=1
        else echo "ok $number - $name through nvcc # SKIP no nvcc"; fi
        continue
    fi
    "$build/tirc" build "examples/$file:$entry" $options --emit cuda -o "$work/k.cu" >"$work/log" 2>&1 &&
        "$nvcc" -fmad=false -ptx -arch=sm_90a "$work/k.cu" -o "$work/n.ptx" >>"$work/log" 2>&1 &&
        "$build/tool/differential" "examples/$file" "$entry" "$work/n.ptx" $defines >>"$work/log" 2>&1
    result $? "$name through nvcc"
done <tests/examples/cases.txt
echo "1..$number"
exit $bad
