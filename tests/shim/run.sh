#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Whole CUDA programs, host code and all, on the machine: nvcc builds them against the shared runtime, ours is preloaded.
# Every .cu here ends with status 0 and prints "all right" last. Prints TAP.
set -u
cd "$(dirname "$0")/../.." || exit 2
build=${TIRC_BUILD:-build/test}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
nvcc=$(tools/find-nvcc || true)
number=0 bad=0
case $build in *asan* | *tsan*) echo "ok 1 - preloaded runtime # SKIP a sanitizer's own runtime cannot be preloaded into a foreign program"; echo 1..1; exit 0 ;; esac
if [ -n "$nvcc" ]; then
    runtime=$(ls -d "$(dirname "$nvcc")"/../lib64 "$(dirname "$nvcc")"/../lib 2>/dev/null | head -n 1)
    make -s VARIANT="$(basename "$build")" shim >"$work/log" 2>&1 || head -n 20 "$work/log" | sed 's/^/# /'
fi
for file in tests/shim/*.cu; do
    name=$(basename "$file" .cu)
    for arch in 90a 100a; do
        number=$((number + 1))
        if [ -z "$nvcc" ]; then
            if [ -n "${REQUIRE_NVCC:-}" ]; then echo "not ok $number - program $name: no nvcc"; bad=1
            else echo "ok $number - program $name # SKIP no nvcc"; fi
            continue
        fi
        if "$nvcc" -std=c++17 -gencode arch=compute_$arch,code=compute_$arch -cudart shared -no-compress -o "$work/program" "$file" >"$work/log" 2>&1 &&
            LD_LIBRARY_PATH=$runtime LD_PRELOAD=$build/libtirc_cudart.so "$work/program" >"$work/out" 2>"$work/log" &&
            [ "$(tail -n 1 "$work/out")" = "all right" ]; then
            echo "ok $number - program $name, compute_$arch"
        else
            echo "not ok $number - program $name, compute_$arch"
            tail -n 8 "$work/out" "$work/log" 2>/dev/null | sed 's/^/# /'
            bad=1
        fi
    done
done
echo "1..$number"
exit $bad
