#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The matrix unit from PTX text, end to end: a GEMM gives the same bits under every schedule, whatever the placement, the
# threads and the processor level; ptxas takes it; and what breaks when one line of it is changed, in words. Prints TAP.
set -u
cd "$(dirname "$0")/../.." || exit 2
tirc=${TIRC_BUILD:-build/test}/tirc
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
export NO_COLOR=1
number=0 bad=0
result() { # status name
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then echo "ok $number - $2"; else
        echo "not ok $number - $2"
        head -n 20 "$work/log" | sed 's/^/# /'
        bad=1
    fi
}
nvcc=$(tools/find-nvcc || true)
ptxas=${nvcc:+$(dirname "$nvcc")/ptxas}

shape=(--grid 2,2 --block 128 --arg A=randn:1@float16:256,128 --arg B=randn:2@float16:256,128
    --arg D=zeros@float32:256,256 --arg N=256 --arg K=128)
"$tirc" run examples/gemm_tcgen05.ptx "${shape[@]}" --out "D=$work/d.npy" >"$work/log" 2>&1
result $? "a GEMM"
"$tirc" run examples/gemm_tcgen05.ptx "${shape[@]}" --expect "D=$work/d.npy" --schedule all >"$work/log" 2>&1
result $? "the same under every schedule"
for options in "--ctas-per-sm 1" "--ctas-per-sm 4 --sms 1" "--tmem-base 256" "--tmem-base random:3" "--threads 1" \
    "--level x86-64" "--level x86-64-v3"; do
    # shellcheck disable=SC2086
    "$tirc" run examples/gemm_tcgen05.ptx "${shape[@]}" --expect "D=$work/d.npy" $options >"$work/log" 2>&1
    status=$?
    grep -q "not one that this processor runs" "$work/log" && status=0
    result $status "the same with $options"
done
for numerics in fp32 exact; do
    "$tirc" run examples/gemm_tcgen05.ptx "${shape[@]}" --expect "D=$work/d.npy" --atol 1e-4 --numerics $numerics \
        >"$work/log" 2>&1
    result $? "near that in $numerics"
done
"$tirc" run examples/gemm_tcgen05.ptx "${shape[@]}" --numerics fast >"$work/log" 2>&1
[ $? -eq 2 ] && grep -q 'hw, fp32 or exact is wanted' "$work/log"
result $? "other numerics are refused"
# D[m, n] of A[m, k] = 64 m + k and B = 2 is 2 * sum of a row of A
"$tirc" run examples/gemm_tcgen05.ptx --grid 1 --block 128 --arg A=arange@float16:2048 --arg B=2@float16:8192 \
    --arg D=0@float32:16384 --arg N=128 --arg K=64 --show D >"$work/log" 2>&1
status=$?
[ $status -eq 1 ] && grep -q T0702 "$work/log"
result $? "a short A is found"
if [ -n "$ptxas" ]; then
    "$ptxas" -arch=sm_100a examples/gemm_tcgen05.ptx -o "$work/cubin" >"$work/log" 2>&1
    result $? "ptxas takes gemm_tcgen05.ptx"
elif [ "${REQUIRE_NVCC:-}" = 1 ]; then
    echo "no CUDA toolkit, but REQUIRE_NVCC=1" >"$work/log"
    result 1 "ptxas takes gemm_tcgen05.ptx"
else
    number=$((number + 1))
    echo "ok $number - ptxas takes gemm_tcgen05.ptx # SKIP no CUDA toolkit"
fi

broken() { # name, sed program, schedule, exit status, pattern that the report must have, ...
    local name=$1 status
    sed -e "$2" examples/gemm_tcgen05.ptx >"$work/k.ptx"
    cmp -s examples/gemm_tcgen05.ptx "$work/k.ptx" && echo "nothing changed" >"$work/log" && result 1 "$name" && return
    "$tirc" run "$work/k.ptx" "${shape[@]}" --schedule "$3" >"$work/log" 2>&1
    status=$?
    [ $status -eq "$4" ] || { echo "status $status" >>"$work/log"; result 1 "$name"; return; }
    shift 4
    for pattern in "$@"; do
        grep -q -e "$pattern" "$work/log" || { echo "missing: $pattern" >>"$work/log"; result 1 "$name"; return; }
    done
    result 0 "$name"
}
for schedule in early late 5; do
    broken "N of 264, $schedule" 's/0x08200010/0x08420010/' $schedule 1 \
        'k.ptx:[0-9]*:5: error: instruction descriptor 0x08420010: bits 17-22 (N >> 3) = 33; accepted: N = 8 to 256' T0800
    broken "bf16 to f16, $schedule" 's/0x08200010/0x08200480/' $schedule 1 'bits 4-5 (type of D) = 0; accepted: 1 f32' T0800
    broken "no version, $schedule" 's/0x4000404000010000/0x4000004000010000/' $schedule 1 \
        'A: bits 46-48 (version) = 0; accepted: 1' T0801
    broken "stride not divided, $schedule" 's/0x4000404000010000/0x4000440000010000/' $schedule 1 \
        'outside the [0-9]* bytes that the CTA has' T0802
    broken "lane 5, $schedule" 's/kind::f16 \[%base\]/kind::f16 [%base+327680]/' $schedule 1 'the address of D, .* lane field 5' T0803
    broken "a warp issues, $schedule" 's/setp.ne.u32 %not_first, %thread, 0/setp.ne.u32 %not_first, %warp, 0/' $schedule 1 \
        'executed by 32 lanes: each of them starts the operation' T0806
    broken "no wait for the products, $schedule" '/mbarrier.try_wait/d;/@!%done bra issued/d' $schedule 1 T0774 \
        'tcgen05.mma' T0757
    broken "no fence between the proxies, $schedule" '/fence.proxy.async/d' $schedule 1 'fence.proxy.async' 'tcgen05.mma'
    broken "no fence after the wait, $schedule" '/Row .thread./,/store:/s/tcgen05.fence::after_thread_sync;//' \
        $schedule 1 T0761
done
broken "sparse" 's/tcgen05.mma.cta_group::1.kind::f16 \[%base\], %adesc, %bdesc,/tcgen05.mma.sp.cta_group::1.kind::f16 [%base], %adesc, %bdesc, [%base],/' \
    early 3 "the machine does not have 'tcgen05.mma.sp'" T0714
echo "1..$number"
exit $bad
