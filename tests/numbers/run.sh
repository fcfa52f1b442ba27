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

# cvt with random bits, bytes and scale factors from scripts, each value by hand: our PTX, and nvcc's where it has the form.
cat >"$work/cvt.py" <<'P'
from tvm_tirx.script import tirx as T


@T.function
def stochastic(R: T.Tensor((9,), "int32"), half: T.float32, quarter: T.float32, middle: T.float32, four: T.float32, bits: T.uint32):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(1,)))
    w: T.uint32
    h: T.uint16
    c: T.uint8
    T.ptx.cvt.rs.f16x2.f32(w, half, quarter, bits)
    R[0] = T.Select(w == T.uint32(0x3C013C00), 1, 0)
    T.ptx.cvt.rs.relu.satfinite.bf16x2.f32(w, -half, T.float32("inf"), bits)
    R[1] = T.Select(w == T.uint32(0x00007F7F), 1, 0)
    T.ptx.cvt.rs.satfinite.e4m3x4.f32(w, [middle, middle, middle, middle], T.uint32(0x80000001))
    R[2] = T.Select(w == T.uint32(0x38393938), 1, 0)
    T.ptx["cvt.rs.satfinite.e2m1x4.f32"](h, four, four, four, four, T.uint32(0x00800000))
    R[3] = T.Select(h == T.uint16(0x2223), 1, 0)
    T.ptx.cvt.rn.satfinite.e2m1x2.f32(c, 6.0, 0.5)
    R[4] = T.Select(c == T.uint8(0x71), 1, 0)
    T.ptx.cvt.rn.f16x2.e2m1x2(w, c)
    R[5] = T.Select(w == T.uint32(0x46003800), 1, 0)
    T.ptx.cvt.rn.satfinite.e2m1x2.f32(c, four, four, pred=bits == T.uint32(0), preserve_dst=True)
    R[6] = T.Select(c == T.uint8(0x71), 1, 0)
    T.ptx.cvt.pack.sat.u4.s32.b32(w, T.int32(5), T.int32(-3), bits)
    R[7] = T.Select(w == (bits << 8) + T.uint32(0x50), 1, 0)
    T.ptx.cvt.rs.satfinite.e5m2x4.f32(w, 1e9, -1e9, 0.0, -0.0, bits)
    R[8] = T.Select(w == T.uint32(0x7BFB0080), 1, 0)


@T.function
def scaled(R: T.Tensor((5,), "int32"), three: T.float32, one: T.float32, factors: T.uint16, narrow: T.uint16):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(1,)))
    w: T.uint32
    h: T.uint16
    T.ptx.cvt.rn.satfinite.scaled__n2__ue8m0.s2f6x2.f32(h, three, -one, factors)
    R[0] = T.Select(h == T.uint16(0x7FE0), 1, 0)
    T.ptx.cvt.rn.scaled__n2__ue8m0.bf16x2.s2f6x2(w, h, T.uint16(0x807F))
    R[1] = T.Select(w == T.uint32(0x407EBF00), 1, 0)
    T.ptx.cvt.rn.bf16x2.e4m3x2(w, narrow)
    R[2] = T.Select(w == T.uint32(0x3F90BF80), 1, 0)
    T.ptx.cvt.rn.satfinite.e3m2x2.bf16x2(h, w)
    R[3] = T.Select(h == T.uint16(0x0C2C), 1, 0)
    T.ptx.cvt.rn.relu.scaled__n2__ue8m0.bf16x2.e4m3x2(w, narrow, factors)
    R[4] = T.Select(w == T.uint32(0x3F900000), 1, 0)


@T.function
def family(R: T.Tensor((3,), "int32"), small: T.float32, one: T.float32, factor: T.uint8):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(1,)))
    h: T.uint16
    c: T.uint8
    T.ptx.cvt.rz.satfinite.scaled__n1__ue8m0.e2m1x2.f32(c, one * 3.5, -one, factor)
    R[0] = T.Select(c == T.uint8(0x39), 1, 0)
    T.ptx.cvt.rn.satfinite.pzo.e4m3x2.f32(h, -small, one)
    R[1] = T.Select(h == T.uint16(0x0038), 1, 0)
    T.ptx.cvt.rp.ue5m3x2.f32(h, one * 1.0625, small)
    R[2] = T.Select(h == T.uint16(0x7901), 1, 0)


@T.function
def packed(R: T.Tensor((6,), "int32"), low: T.uint32, high: T.uint32, one: T.float32, two: T.float32):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(1,)))
    R[0] = T.Select(T.cuda.hmin2(low, high) == T.uint32(0x3F80C000), 1, 0)
    R[1] = T.Select(T.cuda.hmax2(low, high) == T.uint32(0x40003F80), 1, 0)
    R[2] = T.Select(T.cuda.fp8x4_e4m3_from_float4(one, -one, one * 1e9, one - one) == T.uint32(0x007EB838), 1, 0)
    R[3] = T.Select(T.cuda.half2float(T.cast(one * 1.5, "float16")) == T.float32(1.5), 1, 0)
    R[4] = T.Select(T.cuda.bfloat162float(T.cast(one * 259, "bfloat16")) == T.float32(260), 1, 0)
    R[5] = T.Select(T.cuda.fdividef(one * 6, two) == T.float32(3), 1, 0)
P
converts() { # kernel, target, result, arguments by name
    local kernel=$1 arch=$2 want=$3 ours=() theirs=() i=1 pair
    shift 3
    for pair in "$@"; do
        ours+=(--arg "${pair%@*}") theirs+=(--arg "$i=${pair#*=}")
        i=$((i + 1))
    done
    "$tirc" run "$work/cvt.py:$kernel" --arg R=zeros "${ours[@]}" --show R >"$work/log" 2>&1 && holds "$want"
    say $? "cvt of a script, $kernel"
    [ -z "$nvcc" ] && return
    if ! "$tirc" build "$work/cvt.py:$kernel" --emit cuda -arch "$arch" -o "$work/cvt.cu" >"$work/log" 2>&1 ||
        { "$tirc" build "$work/cvt.py:$kernel" --emit ptx -arch "$arch" -o "$work/own.ptx" >"$work/log" 2>&1 &&
            ! "${nvcc%nvcc}ptxas" -arch="$arch" "$work/own.ptx" -o /dev/null >"$work/why" 2>&1 &&
            grep -qE "Unsupported .version|not defined for option|is not supported|not a recognized|sm_107a" "$work/why"; }; then
        say 0 "cvt of a script, $kernel, through nvcc" " # SKIP this ptxas does not know the forms"
        return
    fi
    "$nvcc" -ptx -arch="$arch" "$work/cvt.cu" -o "$work/cvt.ptx" >"$work/log" 2>&1 &&
        "$tirc" run "$work/cvt.ptx" --grid 1 --block 1 --arg "0=zeros@int32:$(wc -w <<<"$want")" "${theirs[@]}" --show 0 >"$work/log" 2>&1 && holds "$want"
    say $? "cvt of a script, $kernel, through nvcc"
}
converts stochastic sm_100a "1 1 1 1 1 1 1 1 1" half=1.00048828125@float32 quarter=1.000244140625@float32 middle=1.0625@float32 \
    four=1.25@float32 bits=268441599@uint32
converts packed sm_90a "1 1 1 1 1 1" low=1065402368@uint32 high=1073758080@uint32 one=1@float32 two=2@float32
converts scaled sm_100a "1 1 1 1 1" three=3@float32 one=1@float32 factors=32640@uint16 narrow=14776@uint16
converts family sm_107a "1 1 1" small=1e-9@float32 one=1@float32 factor=128@uint8

# Storage: elements of every width in arrays, and vectors as elements, whose lanes are the last axis of the array.
while read -r type lanes want; do
    kernel=${type}x$lanes element=$type shape="16,"
    [ "$lanes" -gt 1 ] && element=${type}x$lanes shape="$((16 / lanes)),"
    cat >"$work/storage.py" <<P
from tvm_tirx.script import tirx as T
@T.function
def k(A: T.Tensor(($shape), "$element"), B: T.Tensor(($shape), "$element")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(1,)))
    s = T.alloc_shared(($shape), "$element")
    for i in range($((16 / lanes))):
        s[i] = A[$((16 / lanes - 1)) - i]
    for i in range($((16 / lanes))):
        B[i] = s[i]
P
    "$tirc" run "$work/storage.py" --arg A=arange --arg B=zeros --out "B=$work/storage.npy" --show B >"$work/log" 2>&1 &&
        [ "$(sed -n 's/^B = [a-z0-9_]*\[[0-9, ]*\]: //p' "$work/log")" = "$want" ]
    say $? "storage: $kernel"
done <<'L'
float6_e2m3fn 1 7.5 7.5 7.5 7.5 7.5 7.5 7.5 7.5 7 6 5 4 3 2 1 0
float6_e3m2fn 1 16 14 12 12 12 10 8 8 7 6 5 4 3 2 1 0
float4_e2m1fn 1 6 6 6 6 6 6 6 6 6 6 4 4 3 2 1 0
float6_e2m3fn 4 7.5 7.5 7.5 7.5 7.5 7.5 7.5 7.5 4 5 6 7 0 1 2 3
float4_e2m1fn 8 6 6 6 6 6 6 6 6 0 1 2 3 4 4 6 6
float16 2 14 15 12 13 10 11 8 9 6 7 4 5 2 3 0 1
int8 4 12 13 14 15 8 9 10 11 4 5 6 7 0 1 2 3
float64 2 14 15 12 13 10 11 8 9 6 7 4 5 2 3 0 1
uint64 4 12 13 14 15 8 9 10 11 4 5 6 7 0 1 2 3
float8_e4m3fn 16 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
L
cat >"$work/bits.py" <<'P'
from tvm_tirx.script import tirx as T
@T.function
def k(A: T.Tensor((5,), "float32"), B: T.Tensor((2,), "uint16"), C: T.Tensor((1,), "float8_e8m0fnu")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(1,)))
    A[0] = T.reinterpret("float32", T.uint32(0x3FC00000))
    A[1] = T.cast(T.reinterpret("float8_e4m3fn", T.uint8(0xB8)), "float32")
    A[2] = T.cast(T.reinterpret("float16", T.reinterpret("uint16", T.bfloat16(1.5))), "float32")
    A[3] = T.cast(T.reinterpret("int64", T.float64(-0.0)) >> 63, "float32")
    A[4] = T.reinterpret("float32", T.uint32(0x7FA00001))
    B[0] = T.reinterpret("uint16", T.float16(1))
    B[1] = T.reinterpret("uint16", T.bfloat16("-inf"))
    C[0] = T.min_value("float8_e8m0fnu")
P
"$tirc" run "$work/bits.py" --arg A=zeros --arg B=zeros --arg C=zeros --show A --show B --show C >"$work/log" 2>&1 &&
    [ "$(sed 's/.*: //' "$work/log" | tr '\n' '|')" = "1.5 -1 1.9375 -1 nan|15360 65408|5.87747175e-39|" ]
say $? "bits of constants, and the least e8m0"
"$tirc" build "$work/bits.py" --emit tir >"$work/log" 2>&1 && [ "$(grep -c reinterpret "$work/log")" -eq 1 ] # the NaN
say $? "reinterpret of a constant folds, but to a NaN, whose bits a constant does not keep"

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
