#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Foreign code: every .cu here goes through nvcc -ptx and runs on the machine; `// run:` gives the arguments,
# `// expect:` the lines printed, `// status:` the exit status, `// error:` a code that must be reported. Prints TAP.
set -u
cd "$(dirname "$0")/../.." || exit 2
build=${TIRC_BUILD:-build/test}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
nvcc=$(tools/find-nvcc || true)
number=0 bad=0
for file in tests/probes/*.cu; do
    name=$(basename "$file" .cu)
    for options in "-arch=sm_90a" "-arch=sm_90a -lineinfo" "-arch=sm_100a"; do
        number=$((number + 1))
        if [ -z "$nvcc" ]; then
            if [ -n "${REQUIRE_NVCC:-}" ]; then echo "not ok $number - probe $name: no nvcc"; bad=1
            else echo "ok $number - probe $name # SKIP no nvcc"; fi
            continue
        fi
        sed -n 's|^// expect: ||p' "$file" >"$work/expect"
        arguments=$(sed -n 's|^// run: ||p' "$file")
        status=$(sed -n 's|^// status: ||p' "$file")
        error=$(sed -n 's|^// error: ||p' "$file")
        # shellcheck disable=SC2086
        if ! "$nvcc" -ptx $options "$file" -o "$work/probe.ptx" >"$work/log" 2>&1; then
            got=99
        else
            "$build/tirc" run "$work/probe.ptx" $arguments >"$work/out" 2>"$work/log"
            got=$?
        fi
        if [ "$got" -eq "${status:-0}" ] && cmp -s "$work/out" "$work/expect" &&
            { [ -z "$error" ] || grep -q "$error" "$work/log"; }; then
            echo "ok $number - probe $name $options"
        else
            echo "not ok $number - probe $name $options (status $got)"
            diff "$work/expect" "$work/out" | head -n 6 | sed 's/^/# /'
            head -n 8 "$work/log" | sed 's/^/# /'
            bad=1
        fi
    done
done
echo "1..$number"
exit $bad
