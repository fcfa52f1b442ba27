#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Integer arithmetic on all roads: every operation on every type over pairs of edge values, folded, as our PTX and as
# CUDA through nvcc on the machine, against a model in wide integers. Cases F01 F03 F05 F08 F10. Prints TAP.
set -u
cd "$(dirname "$0")/../.." || exit 2
build=${TIRC_BUILD:-build/test}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
nvcc=$(tools/find-nvcc || true)
number=0 bad=0
say() {
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then echo "ok $number - $2${3:-}"; else
        echo "not ok $number - $2"
        head -n 30 "$work/log" | cut -c1-300 | sed 's/^/# /'
        bad=1
    fi
}
"$build/tool/integers" emit >"$work/all.py" && "$build/tool/integers" check "$work/all.py" >"$work/log" 2>&1
say $? "$(tail -n 1 "$work/log")"
if [ -n "$nvcc" ]; then
    "$build/tool/integers" emit dynamic >"$work/dynamic.py" &&
        "$build/tirc" build "$work/dynamic.py" --emit cuda -o "$work/dynamic.cu" >"$work/log" 2>&1 &&
        "$nvcc" -ptx -arch=sm_90a "$work/dynamic.cu" -o "$work/dynamic.ptx" >"$work/log" 2>&1 &&
        "$build/tool/integers" check "$work/all.py" "$work/dynamic.ptx" >"$work/log" 2>&1
    say $? "$(tail -n 1 "$work/log")"
elif [ -n "${REQUIRE_NVCC:-}" ]; then
    echo "no nvcc" >"$work/log"
    say 1 "through nvcc"
else
    say 0 "through nvcc" " # SKIP no nvcc"
fi

# The cases by name, at run time and as constants: case KERNEL EXPECTED...
case_() { # id kernel expected
    "$build/tirc" run "tests/integers/cases.py:$2" --show R >"$work/log" 2>&1
    [ "$(sed -n 's/^R = [a-z0-9]*\[[0-9]*\]: //p' "$work/log")" = "$3" ]
    say $? "case $1: $2"
    [ -z "$nvcc" ] && return
    "$build/tirc" build "tests/integers/cases.py:$2" --emit cuda -o "$work/c.cu" >"$work/log" 2>&1 &&
        "$nvcc" -ptx -arch=sm_90a "$work/c.cu" -o "$work/c.ptx" >"$work/log" 2>&1 &&
        "$build/tool/differential" "tests/integers/cases.py" "$2" "$work/c.ptx" >"$work/log" 2>&1
    say $? "case $1: $2 through nvcc"
}
case_ F01 ceildiv_run "3 3"
case_ F01 ceildiv_constant "3 3"
case_ F03 floor_run "-4 1 -4 -1"
case_ F03 floor_constant "-4 1 -4 -1"
case_ F05 modulo_run "1 1 -1 -2"
case_ F05 modulo_constant "1 1 -1 -2"
case_ F05 float_run "1 -1 0 0.199999988"
case_ F05 float_constant "1 -1 0 0.199999988"
case_ F08 wrap_run "-294967296"
case_ F08 wrap_constant "-294967296"
echo "1..$number"
exit $bad
