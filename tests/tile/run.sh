#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tile operations: random ones and operations.py against kernels in which one thread does the same element by element,
# on the machine; those of operations.py through nvcc too (tests/words/run.sh); and refusals.py, each with its report.
# Prints TAP.
set -u
cd "$(dirname "$0")/../.." || exit 2
build=${TIRC_BUILD:-build/test}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
number=0 bad=0
say() { # status, name
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then echo "ok $number - $2"; else
        echo "not ok $number - $2"
        head -n 30 "$work/log" | sed 's/^/# /'
        bad=1
    fi
}
same() { # file entry arguments...
    local file=$1 entry=$2 word args="" outs="" plain=""
    shift 2
    for word in "$@"; do
        args="$args --arg $word"
        outs="$outs --out ${word%%=*}=$work/${word%%=*}.a.npy"
        plain="$plain --out ${word%%=*}=$work/${word%%=*}.b.npy"
    done
    # shellcheck disable=SC2086
    "$build/tirc" run "$file:$entry" $args $outs >"$work/one" 2>&1 &&
        "$build/tirc" run "$file:${entry}_plain" $args $plain >>"$work/one" 2>&1 || return 1
    for word in "$@"; do
        cmp "$work/${word%%=*}.a.npy" "$work/${word%%=*}.b.npy" >>"$work/one" 2>&1 || return 1
    done
}
for seed in 1 2 3; do
    python3 tests/tile/random_kernels.py $seed 40 >"$work/random.py" || exit 2
    failed=0 pairs=0
    : >"$work/log"
    while read -r entry words; do
        pairs=$((pairs + 1))
        # shellcheck disable=SC2086
        same "$work/random.py" "$entry" $words && continue
        failed=1
        { echo "$entry"; head -n 5 "$work/one"
          sed -n "/^def $entry(/,/^$/p" "$work/random.py"; } >>"$work/log"
    done < <(sed -n 's/^# pair: //p' "$work/random.py")
    [ $pairs -eq 40 ] || failed=1
    say $failed "random operations, seed $seed: $pairs kernels as one thread does them"
done
last=""
while read -r entry pattern; do
    if [ "$entry" != "$last" ]; then
        "$build/tirc" build "tests/tile/refusals.py:$entry" --emit ptx -o "$work/k.ptx" >"$work/log" 2>&1
        status=$?
    fi
    last=$entry
    [ $status -eq 1 ] && [ "$(grep -c 'error:' "$work/log")" -eq 1 ] && grep -q -E -- "$pattern" "$work/log"
    say $? "$entry: refused: $pattern"
done < <(sed -n 's/^# refuse: //p' tests/tile/refusals.py)
echo "1..$number"
exit $bad
