#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Kernels whose tensors have layouts, views and attributes, against kernels that say the same with plain indices: each
# NAME.py holds pairs of kernels, ENTRY and ENTRY_plain, and lines `# pair: ENTRY [-D N=V]... NAME=VALUE...` with their
# arguments. Both run on the machine and must leave the same bytes in every tensor; the CUDA of the first goes through
# nvcc for both targets, its PTX runs with the same results as ours, and ptxas takes ours. `# same: ENTRY`: the two have
# equal IR too. nvcc takes a third of a second to start, so all kernels are one translation unit, each in a namespace
# of its own under a numbered name. Prints TAP.
# covers: A12 A16 A17 A20-A24 A35 A36 A60 A61 A68 A70 A73-A76
set -u
cd "$(dirname "$0")/../.." || exit 2
build=${TIRC_BUILD:-build/test}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
nvcc=$(tools/find-nvcc || true)
ptxas=${nvcc:+$(dirname "$nvcc")/ptxas}
number=0 bad=0 pairs=0
say() {
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then echo "ok $number - $2"; else
        echo "not ok $number - $2"
        head -n 20 "$work/log" | sed 's/^/# /'
        bad=1
    fi
}
skip() {
    number=$((number + 1))
    if [ -n "${REQUIRE_NVCC:-}" ]; then echo "not ok $number - $1: no nvcc"; bad=1
    else echo "ok $number - $1 # SKIP no nvcc"; fi
}
pair() { # file entry words...
    local file=$1 entry=$2 word plain_outs="" outs="" args="" plain_args="" defines="" names=""
    shift 2
    for word in "$@"; do
        case $word in
        -D) ;;
        [A-Za-z]*:=*) defines="$defines ${word/:=/=}" ;;
        ld[ab]=*) args="$args --arg $word" ;; # a stride that dense arrays do not have
        *)
            args="$args --arg $word"
            plain_args="$plain_args --arg $word"
            names="$names ${word%%=*}"
            ;;
        esac
    done
    local flags=""
    for word in $defines; do flags="$flags -D $word"; done
    for word in $names; do
        case " $* " in *" $word="[0-9-]*) continue ;; esac
        outs="$outs --out $word=$work/$word.a.npy"
        plain_outs="$plain_outs --out $word=$work/$word.b.npy"
    done
    rm -f "$work"/*.npy
    # shellcheck disable=SC2086
    "$build/tirc" run "$file:$entry" $flags $args $outs >"$work/log" 2>&1 &&
        "$build/tirc" run "$file:${entry}_plain" $flags $plain_args $plain_outs >>"$work/log" 2>&1
    local status=$? compared=0
    for word in "$work"/*.a.npy; do
        cmp "$word" "${word%.a.npy}.b.npy" >>"$work/log" 2>&1 || status=1
        compared=$((compared + 1))
    done
    [ "$compared" -gt 0 ] || status=1
    say $status "$entry$defines: as with plain indices"
    # shellcheck disable=SC2086
    "$build/tirc" build "$file:$entry" $flags --emit tir -o "$work/k.tir" >"$work/log" 2>&1 &&
        "$build/tirc" build "$work/k.tir" --emit ptx -o "$work/again.ptx" >>"$work/log" 2>&1 &&
        "$build/tirc" build "$file:$entry" $flags --emit ptx -o "$work/k.ptx" >>"$work/log" 2>&1 &&
        cmp <(grep -v '^//' "$work/k.ptx" | sed 's@//.*@@') <(grep -v '^//' "$work/again.ptx" | sed 's@//.*@@') >>"$work/log" 2>&1
    say $? "$entry$defines: the same PTX from its IR text"
    if [ -z "$nvcc" ]; then
        skip "$entry$defines through nvcc"
        return
    fi
    pairs=$((pairs + 1))
    # shellcheck disable=SC2086
    "$build/tirc" build "$file:$entry" $flags --emit cuda -o "$work/k.cu" >"$work/log" 2>&1 && add_to_unit
    say $? "$entry$defines: CUDA"
    [ -n "$nvcc" ] || return
    "$ptxas" -arch=sm_90a "$work/k.ptx" -o "$work/k.cubin" >"$work/log" 2>&1
    say $? "$entry$defines: ptxas takes its PTX"
    printf '%s\n' "$file $entry $pairs $defines" >>"$work/list"
}
# Headers stay outside the namespaces; a message of nvcc names the kernel instead of a line of the unit.
add_to_unit() {
    local arena # dynamic shared memory has C linkage: a name of its own, too
    arena=$(sed -n 's/.*extern __shared__.* \([A-Za-z_0-9]*\)\[\];.*/\1/p' "$work/k.cu" | head -n 1)
    grep '^#include' "$work/k.cu" >>"$work/headers"
    { printf 'namespace unit_%d {\n#line 1 %s\n' "$pairs" "\"$(echo "$entry$defines" | tr -d '"')\""
      sed -e 's/^#include.*//' -e "s/\\b${entry}_kernel\\b/kernel_$pairs/" ${arena:+-e "s/\\b$arena\\b/arena_$pairs/g"} "$work/k.cu"
      echo "}"; } >>"$work/bodies"
    grep -q "\\bkernel_$pairs\\b" "$work/bodies"
}
through_nvcc() {
    local file entry place defines arch flag
    { sort -u "$work/headers"; cat "$work/bodies"; } >"$work/unit.cu"
    for arch in 90a 100a; do
        flag=; [ $arch = 90a ] && flag=-fmad=false
        ("$nvcc" $flag -ptx -arch=sm_$arch -Werror all-warnings "$work/unit.cu" -o "$work/$arch.ptx" >"$work/log.$arch" 2>&1
         echo $? >"$work/status.$arch") &
    done
    wait
    for arch in 90a 100a; do
        cp "$work/log.$arch" "$work/log"
        say "$(cat "$work/status.$arch")" "nvcc takes the CUDA of all $pairs, sm_$arch"
    done
    while read -r file entry place defines; do
        # shellcheck disable=SC2086
        "$build/tool/differential" "$file" "$entry" "$work/90a.ptx:kernel_$place" $defines >"$work/log" 2>&1
        say $? "$entry${defines:+ $defines}: nvcc's PTX gives the same"
    done <"$work/list"
}
for file in ${TIRC_WORDS:-tests/words/*.py tests/tile/operations.py}; do
    while read -r entry words; do
        # shellcheck disable=SC2086
        pair "$file" "$entry" $words
    done < <(sed -n 's/^# pair: //p' "$file")
    for entry in $(sed -n 's/^# same: //p' "$file"); do
        "$build/tirc" build "$file:$entry" --emit tir -o "$work/a.tir" >"$work/log" 2>&1 &&
            "$build/tirc" build "$file:${entry}_plain" --emit tir -o "$work/b.tir" >>"$work/log" 2>&1 &&
            diff "$work/a.tir" <(sed "s/^function ${entry}_plain(/function $entry(/" "$work/b.tir") >>"$work/log" 2>&1
        say $? "$entry: the IR of the views by hand"
    done
done
if [ -n "$nvcc" ]; then through_nvcc; else skip "$pairs kernels through nvcc"; fi
if [ -z "${TIRC_WORDS:-}" ]; then
    # Arrays for parameters that are pointers: type and shape come with the value, or with the file.
    "$build/tirc" run tests/words/pointers.py:typed --arg A=arange@int32:64 --arg B=zeros@int32:8,8 --arg rest=zeros@uint8:3 \
        --arg s=5 --show B --out B="$work/p.npy" >"$work/log" 2>&1 && grep -q '^B = int32\[8, *8\]: 68 67 66 65' "$work/log" &&
        "$build/tirc" run tests/words/pointers.py:typed --arg A="$work/p.npy" --arg B=zeros@int32:64 --arg rest=zeros@uint8:3 \
            --arg s=-10 --show B >"$work/log" 2>&1 && grep -q '^B = int32\[64\]: -5 -4 -3' "$work/log"
    say $? "arrays for pointers"
    "$build/tirc" run tests/words/pointers.py:typed --arg A=arange@int32:63 --arg B=zeros@int32:64 --arg rest=zeros@uint8:3 \
        --arg s=5 >"$work/log" 2>&1
    [ $? -eq 1 ] && grep -q 'past the end of .A. (252 bytes).*T0702' "$work/log"
    say $? "an array for a pointer that is too short"
    "$build/tirc" run tests/words/pointers.py:typed --arg A=arange --arg B=zeros@64 --arg rest=3 --arg s=5 >"$work/log" 2>&1
    [ $? -ne 0 ] && grep -q 'is a pointer: .arange. needs an element type and a shape .T0806' "$work/log"
    say $? "a pointer's array without a type"
    # A barrier of the grid to which one CTA does not come, and a grid that is never there as a whole.
    for schedule in early late 7 all; do
        "$build/tirc" run tests/words/grid.py:steps --arg A=zeros --schedule $schedule >"$work/log" 2>&1
        say $? "grid barrier under --schedule $schedule"
        "$build/tirc" run tests/words/grid.py:left_out --arg A=zeros --schedule $schedule >"$work/log" 2>&1
        [ $? -eq 1 ] && grep -q 'grid.py:35:9: error: deadlock.*T0709' "$work/log"
        say $? "a CTA that does not come to the grid barrier, --schedule $schedule"
    done
    "$build/tirc" run tests/words/grid.py:too_many --arg A=zeros >"$work/log" 2>&1
    [ $? -eq 1 ] && grep -q 'a cooperative launch of 4096 CTAs: 2 fit on each of 148 SMs, so 296 at once .T0701.' "$work/log"
    say $? "a cooperative grid that cannot be resident"
fi
echo "1..$number"
exit $bad
