#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The documents' own listings, taken verbatim out of ../shared/seeds through listings.txt: each compiles, the
# emitted CUDA has the statements that the document shows beside it, and nvcc takes it. Skipped where the folder is
# absent. Prints TAP.
# covers: A57 B10 B15 B18
# covers: A15 A20 A21 A25 A26 A28 A29 A35 A36 A38 A41 A42 A44 A47 A48 A69 A70 A72 A73 A74 A77
set -u
cd "$(dirname "$0")/../.." || exit 2
build=${TIRC_BUILD:-build/test}
seeds=${TIRC_SEEDS:-../shared/seeds}
document=$(ls "$seeds"/000_*.txt 2>/dev/null | head -n 1)
if [ -z "$document" ]; then
    echo "1..1"
    echo "ok 1 - listings of the document # SKIP no ../shared/seeds"
    exit 0
fi
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
nvcc=$(tools/find-nvcc || true)
number=0 bad=0
say() { # status name
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then echo "ok $number - $2"; else
        echo "not ok $number - $2"
        head -n 30 "$work/log" | sed 's/^/# /'
        bad=1
    fi
}
# Replaces "    @@A-B" by those lines of the document, indented as the mark is.
expand() {
    awk -v document="$document" '
        BEGIN { while ((getline line < document) > 0) lines[++count] = line }
        /^ *@@[0-9]+(-[0-9]+)?$/ {
            indent = $0; sub(/@@.*/, "", indent)
            range = $0; sub(/^ *@@/, "", range)
            split(range, ends, "-")
            last = (ends[2] == "" ? ends[1] : ends[2])
            for (i = ends[1]; i <= last; ++i) print (lines[i] == "" ? "" : indent lines[i])
            next
        }
        { print }' "$1"
}
finish() { # runs the listing collected so far
    expand "$work/wrapper" >"$work/listing.py"
    local options=""
    for d in $defines; do options="$options -D $d"; done
    # shellcheck disable=SC2086
    "$build/tirc" build "$work/listing.py:$entry" $options --emit cuda -o "$work/out.cu" >"$work/log" 2>&1
    say $? "$title compiles"
    if [ -s "$work/expected" ]; then
        # shellcheck disable=SC2086
        "$build/tool/cuda_compare" $partial $maps "$work/expected" "$work/out.cu" >"$work/log" 2>&1
        say $? "$title: the statements of the document"
    fi
    if [ -z "$cuda_only" ]; then
        # shellcheck disable=SC2086
        "$build/tirc" build "$work/listing.py:$entry" $options --emit ptx -o "$work/out.ptx" >"$work/log" 2>&1
        say $? "$title to PTX"
    fi
    if [ -n "$nvcc" ]; then
        for arch in $targets; do
            "$nvcc" -ptx -arch=$arch "$work/out.cu" -o "$work/n.ptx" >"$work/log" 2>&1
            say $? "$title through nvcc for $arch"
        done
    fi
}
while IFS= read -r line <&3; do
    case $line in
    document\ *) document=$(ls "$seeds/${line#document }"_*.txt 2>/dev/null | head -n 1) ;;
    target\ *) targets=${line#target } ;;
    listing\ *) targets="sm_90a sm_100a" title=${line#listing } entry="" defines="" maps="" partial="" cuda_only="" ; : >"$work/expected" ;;
    entry\ *) entry=${line#entry } ;;
    define\ *) defines=${line#define } ;;
    map\ *) maps="$maps -n ${line#map }" ;;
    partial) partial="-p" ;;
    cuda-only) cuda_only=1 ;;
    cuda\ *)
        range=${line#cuda }
        sed -n "$(echo "$range" | tr - ,)p" "$document" >>"$work/expected" ;;
    cuda-text\ *) echo "${line#cuda-text }" >>"$work/expected" ;;
    begin)
        : >"$work/wrapper"
        while IFS= read -r line <&3 && [ "$line" != end ]; do printf '%s\n' "$line" >>"$work/wrapper"; done
        rm -f "$work/out.cu" "$work/out.ptx"
        finish ;;
    esac
done 3<tests/seeds/listings.txt
echo "1..$number"
exit $bad
