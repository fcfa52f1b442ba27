#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The PTX module against nvcc and ptxas: what nvcc emits parses, verifies, prints and parses back equal; ptxas takes what
# we print; the instruction table accepts what ptxas accepts and refuses what it refuses.
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.." || exit 2
dump=${TIRC_BUILD:-build/test}/tool/ptx_dump
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
number=0 bad=0

result() { # status, name [, file with details]
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $number - $2"
    else
        echo "not ok $number - $2"
        [ -n "${3:-}" ] && head -n 20 "$3" | sed 's/^/# /'
        bad=1
    fi
}
skip() { # name: a missing tool fails where REQUIRE_NVCC says that it must be there
    if [ "${REQUIRE_NVCC:-}" = 1 ]; then
        echo "no CUDA toolkit, but REQUIRE_NVCC=1" >"$work/why"
        result 1 "$1" "$work/why"
    else
        number=$((number + 1))
        echo "ok $number - $1 # SKIP no CUDA toolkit"
    fi
}
find_tool() { # nvcc or ptxas
    local nvcc=${TIRC_NVCC:-}
    for candidate in ${nvcc:+"$(dirname "$nvcc")/$1"} "$(command -v "$1" 2>/dev/null)" \
        ${CUDA_HOME:+"$CUDA_HOME/bin/$1"} /usr/local/cuda/bin/"$1"; do
        [ -n "$candidate" ] && [ -x "$candidate" ] && { echo "$candidate"; return; }
    done
}
nvcc=$(find_tool nvcc)
ptxas=$(find_tool ptxas)

# The table: one file per target, made of instructions that ptxas takes.
for target in sm_90a sm_100a sm_120a sm_107a; do
    file=tests/ptx/accepted_$target.ptx
    "$dump" --verify "$file" >"$work/out" 2>&1
    result $? "the table accepts $target" "$work/out"
    "$dump" --roundtrip "$file" >"$work/out" 2>&1
    result $? "$target comes back equal" "$work/out"
    if [ "$target" = sm_107a ] && [ -n "$ptxas" ] && ! "$ptxas" --help | grep -q "'$target'"; then
        number=$((number + 1))
        echo "ok $number - ptxas takes the printed $target # SKIP this ptxas does not know $target (CUDA 13.4 does)"
    elif [ -n "$ptxas" ]; then
        # A return before the block: ptxas checks every line, but its back end, which a kernel of all instructions
        # crashes, sees none of them.
        "$dump" --print "$file" | sed '0,/^L:/s//ret;\nL:/' >"$work/printed.ptx" &&
            "$ptxas" -arch=$target "$work/printed.ptx" -o "$work/cubin" >"$work/out" 2>&1
        result $? "ptxas takes the printed $target" "$work/out"
    else
        skip "ptxas takes the printed $target"
    fi
done
for target in sm_100a sm_107a; do
    file=tests/ptx/rejected_$target.ptx
    first=$(grep -n '^L:' "$file" | cut -d: -f1)
    last=$(grep -n '^ret;' "$file" | cut -d: -f1)
    seq $((first + 1)) $((last - 1)) >"$work/wanted"
    "$dump" --verify "$file" 2>&1 | sed -n 's/^[^:]*:\([0-9]*\):[0-9]*: error.*/\1/p' | sort -n -u >"$work/found"
    diff "$work/wanted" "$work/found" >"$work/out"
    result $? "the table refuses what ptxas refuses, $target" "$work/out"
done

# nvcc's own text, in the ways it writes it.
for source in tests/ptx/*.cu; do
    name=$(basename "$source" .cu)
    ways=("sm_90a -lineinfo")
    case $name in
    control | memory) ways+=("sm_90a -G") ;;
    *) ways+=("sm_100a") ;;
    esac
    for way in "${ways[@]}"; do
        title="$name $way"
        if [ -z "$nvcc" ] || [ -z "$ptxas" ]; then
            skip "$title"
            continue
        fi
        # shellcheck disable=SC2086
        "$nvcc" -std=c++17 -ptx -arch=$way "$source" -o "$work/in.ptx" >"$work/out" 2>&1 || { result 1 "$title: nvcc" "$work/out"; continue; }
        "$dump" --verify "$work/in.ptx" >"$work/out" 2>&1
        result $? "$title verifies" "$work/out"
        "$dump" --roundtrip "$work/in.ptx" >"$work/out" 2>&1
        result $? "$title comes back equal" "$work/out"
        "$dump" --print-lines "$work/in.ptx" >"$work/printed.ptx" 2>"$work/out" && "$ptxas" -arch="${way%% *}" "$work/printed.ptx" -o "$work/cubin" >"$work/out" 2>&1
        result $? "$title: ptxas takes the print" "$work/out"
    done
done
echo "1..$number"
exit $bad
