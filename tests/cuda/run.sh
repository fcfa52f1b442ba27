#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Emitted CUDA: each NAME.py holds kernels; `# entry:` names one, followed by its `# cuda:` lines, which must stand in
# the text (`# map:` and `# partial` as in cuda_compare). All of it goes through nvcc for sm_90a and sm_100a. TAP.
# covers: A1-A7 A9 A11 A12 A16-A18 A20 A21 A25-A29 A37-A39 A41-A42 A44-A51 A67-A70
set -u
cd "$(dirname "$0")/../.." || exit 2
build=${TIRC_BUILD:-build/test}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
nvcc=$(tools/find-nvcc || true)
number=0 bad=0
say() {
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then echo "ok $number - $2"; else
        echo "not ok $number - $2"
        head -n 30 "$work/log" | sed 's/^/# /'
        bad=1
    fi
}
for file in tests/cuda/*.py; do
    for entry in $(sed -n 's/^# entry: //p' "$file"); do
        awk -v entry="$entry" '/^# entry: /{on = ($3 == entry)} on && sub(/^# cuda: ?/, "")' "$file" >"$work/expected"
        maps=$(awk -v entry="$entry" '/^# entry: /{on = ($3 == entry)} on && /^# map: /{print "-n " $3}' "$file")
        partial=$(awk -v entry="$entry" '/^# entry: /{on = ($3 == entry)} on && /^# partial/{print "-p"}' "$file")
        "$build/tirc" build "$file:$entry" --emit cuda -o "$work/out.cu" >"$work/log" 2>&1 &&
            "$build/tool/cuda_compare" $partial $maps "$work/expected" "$work/out.cu" >>"$work/log" 2>&1
        say $? "$(basename "$file" .py): $entry"
    done
    for arch in sm_90a sm_100a; do
        if [ -z "$nvcc" ]; then
            number=$((number + 1))
            if [ -n "${REQUIRE_NVCC:-}" ]; then echo "not ok $number - $file: no nvcc"; bad=1
            else echo "ok $number - $file $arch # SKIP no nvcc"; fi
            continue
        fi
        "$build/tirc" build "$file" --emit cuda -o "$work/all.cu" >"$work/log" 2>&1 &&
            "$nvcc" -ptx -arch=$arch -Werror all-warnings "$work/all.cu" -o "$work/all.ptx" >>"$work/log" 2>&1
        say $? "$(basename "$file" .py) through nvcc for $arch"
    done
done
echo "1..$number"
exit $bad
