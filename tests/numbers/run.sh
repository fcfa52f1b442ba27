#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Numbers on all roads: casts between all element types and vectors of them against a model, as our PTX and as CUDA
# through nvcc for both targets; and the failure cases of element types by name, each at run time, where values are
# arguments, and as constants. What folds is in tests/unit/ir_conversions.c, every form of cvt in vm_convert.c. Prints TAP.
set -u
cd "$(dirname "$0")/../.." || exit 2
build=$PWD/${TIRC_BUILD:-build/test}
tirc=$build/tirc
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
nvcc=$(tools/find-nvcc || true)
export NO_COLOR=1
number=0 bad=0
say() {
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then echo "ok $number - $2${3:-}"; else
        echo "not ok $number - $2"
        head -n 30 "$work/log" | cut -c1-300 | sed 's/^/# /'
        bad=1
    fi
}
if [ -z "$nvcc" ] && [ -n "${REQUIRE_NVCC:-}" ]; then
    echo "no nvcc" >"$work/log"
    say 1 "through nvcc"
fi

"$build/tool/conversions" emit >"$work/all.py" && "$build/tool/conversions" check "$work/all.py" >"$work/log" 2>&1
say $? "$(tail -n 1 "$work/log")"
for arch in sm_90a sm_100a; do
    if [ -z "$nvcc" ]; then
        say 0 "casts through nvcc, $arch" " # SKIP no nvcc"
        continue
    fi
    "$tirc" build "$work/all.py" --emit cuda -o "$work/all.cu" >"$work/log" 2>&1 &&
        "$nvcc" -ptx -arch=$arch "$work/all.cu" -o "$work/all.ptx" >"$work/log" 2>&1 &&
        "$build/tool/conversions" check "$work/all.py" "$work/all.ptx" >"$work/log" 2>&1
    say $? "$arch: $(tail -n 1 "$work/log")"
done

# The named cases: what R holds after a kernel, on the machine from our PTX and from nvcc's. All kernels are in one file.
echo 'from tvm_tirx.script import tirx as T' >"$work/cases.py"
kernel() { # name, parameters after R, type of R, its length, lines of the body
    local name=$1 parameters=$2 type=$3 length=$4
    shift 4
    {
        printf '\n\n@T.function\ndef %s(R: T.Tensor((%s,), "%s")%s):\n' "$name" "$length" "$type" "$parameters"
        echo '    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(1,)))'
        printf '    %s\n' "$@"
    } >>"$work/cases.py"
}
titles=() wants=() names=() results=() given=()
shows() { # title, name, expected values, type and length of R, arguments after R
    titles+=("$1") names+=("$2") wants+=("$3") results+=("$4")
    shift 4
    given+=("$*")
}
# One cast of each value, with the value as an argument and as a constant.
casts() { # case, from, to, "values", "expected"
    local id=$1 from=$2 to=$3 list=$4 want=$5 parameters="" run=() fold=() arguments="" i=0 value name
    name=${id}_${from}_$to
    for value in $list; do
        parameters="$parameters, x$i: T.$from"
        run+=("R[$i] = T.cast(x$i, \"$to\")")
        arguments="$arguments x$i=$value@$from"
        case $value in *inf | nan) value="\"$value\"" ;; esac
        fold+=("R[$i] = T.cast(T.$from($value), \"$to\")")
        i=$((i + 1))
    done
    kernel "$name" "$parameters" "$to" "$i" "${run[@]}"
    # shellcheck disable=SC2086
    shows "case $id: $from to $to at run time" "$name" "$want" "$to:$i" $arguments
    kernel "folded_$name" "" "$to" "$i" "${fold[@]}"
    shows "case $id: $from to $to as constants" "folded_$name" "$want" "$to:$i"
}
# G01: integers round to nearest even, not toward zero
casts G01 int32 bfloat16 "259 33000 -259" "260 33024 -260"
casts G01 int64 bfloat16 "259 33000 -259 4611686018427387905" "260 33024 -260 4.61168602e+18"
casts G01 int16 bfloat16 "259 -259 32767" "260 -260 32768"
casts G01 uint16 bfloat16 "259 33000 65535" "260 33024 65536"
casts G01 int32 float16 "2049 2051 -2049 65519 65520" "2048 2052 -2048 65504 inf"
casts G01 int32 float8_e4m3fn "17 19 -17 449 1000000" "16 20 -16 448 448"
casts G01 int32 float8_e5m2 "9 11 -9 61441 1000000" "8 12 -8 57344 57344"
# G03: fp8 saturates, infinities too, NaN stays
casts G03 float32 float8_e5m2 "inf 65504 1000000 -inf nan 57344 61439" "57344 57344 57344 -57344 nan 57344 57344"
casts G03 float32 float8_e4m3fn "inf 449 1000000 -inf nan 448 464" "448 448 448 -448 nan 448 448"
# G05: fp4 to nearest even, saturating, both signs
casts G05 float32 float4_e2m1fn "0.24 0.26 0.74 1.3 2.5 5.1 7 0.25 0.75 1.25 1.75 3.5 5 -0.26 -2.5 -7" \
    "0 0.5 0.5 1.5 2 6 6 0 1 1 2 4 4 -0.5 -2 -6"
# Exact words of two arguments: word, type of x, type of the second, "x,y ...", expected values. At run time, where what
# nvcc makes is compared too, and as constants, which fold.
pairs() {
    local word=$1 from=$2 second=$3 list=$4 want=$5 parameters="" run=() fold=() arguments="" i=0 pair x y name
    name=${word}_$from
    for pair in $list; do
        x=${pair%,*} y=${pair#*,}
        parameters="$parameters, x$i: T.$from, y$i: T.$second"
        run+=("R[$i] = T.$word(x$i, y$i)")
        arguments="$arguments x$i=$x@$from y$i=$y@$second"
        case $x in *inf | nan) x="\"$x\"" ;; esac
        case $y in *inf | nan) y="\"$y\"" ;; esac
        fold+=("R[$i] = T.$word(T.$from($x), T.$second($y))")
        i=$((i + 1))
    done
    kernel "$name" "$parameters" "$from" "$i" "${run[@]}"
    # shellcheck disable=SC2086
    shows "$word of $from at run time" "$name" "$want" "$from:$i" $arguments
    kernel "folded_$name" "" "$from" "$i" "${fold[@]}"
    shows "$word of $from as constants" "folded_$name" "$want" "$from:$i"
}
pairs copysign float32 float32 "2.5,-0.0 -2.5,0.0 0,-1 inf,-3 -inf,1 1e-45,-1" "-2.5 2.5 -0 -inf inf -1.40129846e-45"
pairs copysign float16 float16 "2.5,-0.0 -2.5,0.0 0,-1 inf,-3" "-2.5 2.5 -0 -inf"
pairs copysign bfloat16 bfloat16 "2.5,-0.0 -2.5,0.0 0,-1 inf,-3" "-2.5 2.5 -0 -inf"
pairs copysign float64 float64 "2.5,-0.0 -2.5,0.0 0,-1 inf,-3" "-2.5 2.5 -0 -inf"
pairs nextafter float32 float32 \
    "1,2 1,0 -1,0 0,-1 0,1 1.40129846e-45,0 -1.40129846e-45,0 3.40282347e+38,inf inf,0 -inf,0 2,2 -3.5,nan nan,1 1.17549435e-38,0 0,-0.0" \
    "1.00000012 0.99999994 -0.99999994 -1.40129846e-45 1.40129846e-45 0 -0 inf 3.40282347e+38 -3.40282347e+38 2 nan nan 1.17549421e-38 -0"
pairs nextafter float64 float64 "1e-323,0 1e-323,1 -1e-323,0 0,-1 5e-324,0 1.7976931348623157e308,inf -inf,0 2,2" \
    "4.94065646e-324 1.48219694e-323 -4.94065646e-324 -4.94065646e-324 0 inf -1.79769313e+308 2"
pairs nextafter float16 float16 "1,2 1,0 0,-1 65504,inf inf,0 -2,-3" "1.00097656 0.999511719 -5.96046448e-08 inf 65504 -2.00195312"
pairs nextafter bfloat16 bfloat16 "1,2 1,0 -2,-3 inf,0" "1.0078125 0.99609375 -2.015625 3.38953139e+38"
pairs ldexp float32 int32 \
    "1,-149 1,-150 1.5,-149 1.5,-150 3,-150 16777215,-172 1,127 1,128 1.40129846e-45,276 -5,-151 inf,-5 nan,3 0.75,1000000 0.75,-2147483648" \
    "1.40129846e-45 0 2.80259693e-45 1.40129846e-45 2.80259693e-45 2.80259693e-45 1.70141183e+38 inf 1.70141183e+38 -1.40129846e-45 inf nan inf 0"
pairs ldexp float64 int64 \
    "1,-1074 1,-1075 1.5,-1075 5e-324,2097 9007199254740991,-1126 9007199254740991,-1127 -1,1024 3,-2000 0.75,100000 1.7976931348623157e308,-2098 5e-324,1" \
    "4.94065646e-324 0 4.94065646e-324 8.98846567e+307 9.88131292e-324 4.94065646e-324 -inf 0 inf 4.94065646e-324 9.88131292e-324"
pairs ldexp float16 int8 "1,-24 1,-25 1.5,-25 1,15 1,16 2047,-25 -3,100" "5.96046448e-08 0 5.96046448e-08 32768 inf 6.10351562e-05 -inf"
pairs ldexp bfloat16 uint64 "1,0 1.5,3 -1,127 1,128 1,18446744073709551615" "1 12 -1.70141183e+38 inf inf"
pairs fmod float32 float32 "5.5,2 -5.5,2 5.5,-2 3.40282347e+38,1.40129846e-45 3.40282347e+38,3 1e30,7.125 inf,1 1,inf -1,-inf 1,0 -4,2 nan,1 1,nan 3,1.17549421e-38" \
    "1.5 -1.5 1.5 0 0 5.25 nan 1 -1 nan -0 nan nan 8.60957776e-42"
pairs fmod float16 float16 "5.5,2 -5.5,2 65504,0.3 65504,5.96046448e-08 inf,1 1,inf" "1.5 -1.5 0.0402832031 0 nan 1"
# G06: vectors of nibbles are packed, low nibble first: 0 1 2 3 4 5 6 -1 ... are the codes 0 2 4 5 6 6 7 a
wants06=([2]=32 [4]=21536 [8]=2808501280 [16]=12297829382418224160)
for lanes in 2 4 8 16; do
    bits=$((lanes * 4))
    kernel "g06_$lanes" "" "uint$bits" 1 "x = T.alloc_local(($lanes,), \"float32\")" "for i in T.unroll($lanes):" \
        '    x[i] = T.if_then_else(i < 7, T.cast(i, "float32"), -1.0)' \
        "v: T.let = T.cast(x[T.Ramp(0, 1, $lanes)], \"float4_e2m1fnx$lanes\")" \
        "R[0] = T.if_then_else(T.reinterpret(\"uint$bits\", v) == T.uint$bits(${wants06[$lanes]}), 1, 0)"
    shows "case G06: float4_e2m1fnx$lanes, low nibble first" "g06_$lanes" "1" "uint$bits:1"
done
if [ -n "$nvcc" ]; then
    "$tirc" build "$work/cases.py" --emit cuda -o "$work/cases.cu" >"$work/log" 2>&1 &&
        "$nvcc" -ptx -arch=sm_90a "$work/cases.cu" -o "$work/cases.ptx" >>"$work/log" 2>&1
    say $? "nvcc takes the cases"
fi
holds() { # values expected
    [ "$(sed -n 's/^[A-Za-z_0-9]* = [a-z0-9_]*\[[0-9]*\]: //p' "$work/log")" = "$1" ]
}
for ((n = 0; n < ${#titles[@]}; n++)); do
    ours=() theirs=() i=1
    for pair in ${given[n]}; do
        value=${pair#*=}
        ours+=(--arg "${pair%%=*}=${value%@*}") theirs+=(--arg "$i=$value")
        i=$((i + 1))
    done
    "$tirc" run "$work/cases.py:${names[n]}" --arg R=zeros "${ours[@]}" --show R >"$work/log" 2>&1 && holds "${wants[n]}"
    say $? "${titles[n]}"
    case ${names[n]} in folded_*)
        "$tirc" build "$work/cases.py:${names[n]}" --emit tir >"$work/log" 2>&1 && ! grep -q "= [a-z0-9_]\+(" "$work/log"
        say $? "${titles[n]}, folded"
        ;;
    esac
    [ -z "$nvcc" ] && continue
    "$tirc" run "$work/cases.ptx:${names[n]}_kernel" --grid 1 --block 1 --arg "0=zeros@${results[n]}" "${theirs[@]}" \
        --show 0 >"$work/log" 2>&1 && holds "${wants[n]}"
    say $? "${titles[n]}, through nvcc"
done

# G12: every width of access, aligned as one access, and one element off as an error with the requirement
for type in int8 float16 float32 float64; do
    for lanes in 2 4 8 16; do
        size=$((${type//[!0-9]/} / 8 * lanes))
        for off in 0 1; do
            cat >"$work/g12.py" <<P
from tvm_tirx.script import tirx as T
@T.function
def k(A: T.Tensor((128,), "$type"), B: T.Tensor((128,), "$type")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(4,)))
    t = T.cuda.thread_idx("x")
    B[T.Ramp(t * $lanes, 1, $lanes)] = A[T.Ramp(t * $lanes + $off, 1, $lanes)]
P
            if [ $off -eq 1 ]; then
                "$tirc" check "$work/g12.py" >"$work/log" 2>&1
                [ $? -eq 1 ] && grep -q "misaligned access to 'A': $((size > 16 ? lanes * 16 / size : lanes)) neighbours of $type need an element number divisible by" "$work/log"
                say $? "case G12: $type x$lanes, one element off"
                continue
            fi
            want="B = $type[128]:"
            for ((i = 0; i < 16; i++)); do want="$want $([ $i -lt $((4 * lanes)) ] && echo $i || echo 0)"; done
            widest=$((size > 16 ? 16 : size))
            "$tirc" run "$work/g12.py" --arg A=arange --arg B=zeros --show B >"$work/log" 2>&1 && grep -q -F -e "$want" "$work/log" &&
                "$tirc" build "$work/g12.py" --emit ptx >"$work/log" 2>&1 &&
                [ "$(grep -c 'ld\.global' "$work/log")" -eq $((size / widest)) ]
            say $? "case G12: $type x$lanes is $((size / widest)) access of $widest bytes"
        done
    done
done
echo "1..$number"
exit $bad
