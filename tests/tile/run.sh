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

# Tensor memory: as one thread does it, on three schedules; the same PTX from the IR text; ptxas takes it. `# tmem:`: nvcc
# takes it too, and what it made gives the same; `# ptxas:`: without that.
nvcc=$(tools/find-nvcc || true)
tmem() { # full or not, file entry block arguments...
    local full=$1 file=tests/tile/$2 entry=$3 block=${4%@*} grid="--grid 1" word args="" outs="" expects="" numbered=""
    local n=0 status=0 defines="" zeroed="" zeros="" name=$3
    case $4 in *@*) grid="--grid ${4#*@} --cluster ${4#*@}" ;; esac
    shift 4
    for word in "$@"; do
        case $word in *:=*)
            defines="$defines -D ${word%%:=*}=${word#*:=}" name="$name ${word%%:=*}=${word#*:=}"
            continue ;;
        esac
        zeroed="$zeroed --arg ${word%%=*}=zeros"
        args="$args --arg $word"
        outs="$outs --out ${word%%=*}=$work/${word%%=*}.npy"
        expects="$expects --expect ${word%%=*}=$work/${word%%=*}.npy"
        # nvcc's PTX knows no shapes: what one thread left, and room of the same shape
        case ${word#*=} in zeros) numbered="$numbered --arg $n=$work/zeros.${word%%=*}.npy" ;; *) numbered="$numbered --arg $n=$work/${word%%=*}.npy" ;; esac
        numbered="$numbered --expect $n=$work/${word%%=*}.npy"
        case ${word#*=} in zeros) zeros="$zeros --out ${word%%=*}=$work/zeros.${word%%=*}.npy" ;; esac
        n=$((n + 1))
    done
    # shellcheck disable=SC2086
    "$build/tirc" run "$file:${entry}_plain" $defines $args $outs >"$work/log" 2>&1 || status=1
    for schedule in early late 7; do
        # shellcheck disable=SC2086
        "$build/tirc" run "$file:$entry" $defines --schedule $schedule $args $expects >>"$work/log" 2>&1 || status=1
    done
    ! grep -q 'warning\|note:' "$work/log" || status=1
    say $status "$name: as one thread does it"
    # shellcheck disable=SC2086
    "$build/tirc" build "$file:$entry" $defines --emit tir -o "$work/k.tir" >"$work/log" 2>&1 &&
        "$build/tirc" build "$work/k.tir" --emit ptx -o "$work/again.ptx" >>"$work/log" 2>&1 &&
        "$build/tirc" build "$file:$entry" $defines --emit ptx -o "$work/k.ptx" >>"$work/log" 2>&1 &&
        cmp <(sed 's@//.*@@' "$work/k.ptx") <(sed 's@//.*@@' "$work/again.ptx") >>"$work/log" 2>&1
    say $? "$name: the same PTX from its IR text"
    if [ -z "$nvcc" ]; then
        [ -z "${REQUIRE_NVCC:-}" ]
        say $? "$name through nvcc # SKIP no nvcc"
        return
    fi
    # shellcheck disable=SC2086
    "$(dirname "$nvcc")/ptxas" -arch="$(sed -n 's/^\.target \(sm_[0-9]*a\).*/\1/p' "$work/k.ptx")" "$work/k.ptx" -o "$work/k.cubin" >"$work/log" 2>&1
    status=$?
    if [ "$full" != full ]; then
        say $status "$name: ptxas takes it"
        return
    fi
    # the files have no name for elements of 8-bit floats: bytes
    for word in "$work"/?.npy; do LC_ALL=C sed -i '1s/|V1/|u1/' "$word"; done
    # shellcheck disable=SC2086
    [ $status -eq 0 ] &&
        "$build/tirc" build "$file:$entry" $defines --emit cuda -o "$work/k.cu" >>"$work/log" 2>&1 &&
        "$nvcc" -fmad=false -ptx -arch=sm_100a -Werror all-warnings "$work/k.cu" -o "$work/n.ptx" >>"$work/log" 2>&1 &&
        "$build/tirc" run "$file:${entry}_plain" $defines $zeroed $zeros >>"$work/log" 2>&1 &&
        { grep -q CUtensorMap "$work/k.cu" || # the launch of foreign PTX has no maps
        "$build/tirc" run "$work/n.ptx" $grid $(grep -q 'extern __shared__' "$work/k.cu" && echo --smem 200000) --block "$block" $numbered >>"$work/log" 2>&1; }
    say $? "$name: ptxas takes it, and nvcc's PTX gives the same"
}
for file in blackwell.py products.py warp.py tensor_copies.py compound.py; do
    while read -r full entry block words; do
        # shellcheck disable=SC2086
        tmem "$full" $file "$entry" "$block" $words
    done < <(sed -n 's/^# tmem: /full /p; s/^# ptxas: /not /p' tests/tile/$file)
done
echo "1..$number"
exit $bad
