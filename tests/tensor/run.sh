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
    early 3 "the machine does not have 'tcgen05.mma.sp.cta_group::1.kind::f16'" T0714

# The same product fed by TMA, beside sums in f64. Of an instruction with K = 16 and |D| < 128, 17 terms are cut below
# 2^(6-25) and the sum below 2^(6-23): 16 of them are off by less than 16 * (17 * 2^-19 + 2^-17) = 6.5e-4.
cat >"$work/f64.ptx" <<'EOF'
.version 8.6
.target sm_100a
.address_size 64
.visible .entry product(.param .u64 A, .param .u64 B, .param .u64 D, .param .u32 K)
{
    .reg .pred %again;
    .reg .b16 %h;
    .reg .b32 %k, %step, %at, %column;
    .reg .b64 %a, %b, %d, %offset;
    .reg .f64 %x, %y, %sum;
    .reg .f32 %f;
    ld.param.u32 %k, [K];
    ld.param.u64 %a, [A];
    ld.param.u64 %b, [B];
    ld.param.u64 %d, [D];
    mov.u32 %at, %ctaid.x;
    mul.wide.u32 %offset, %at, %k;
    shl.b64 %offset, %offset, 1;
    add.u64 %a, %a, %offset;
    mov.u32 %step, %ntid.x;
    mov.u32 %column, %tid.x;
    mad.lo.u32 %at, %at, %step, %column;
    mul.wide.u32 %offset, %at, 4;
    add.u64 %d, %d, %offset;
    mul.wide.u32 %offset, %column, %k;
    shl.b64 %offset, %offset, 1;
    add.u64 %b, %b, %offset;
    mov.f64 %sum, 0d0000000000000000;
    mov.u32 %step, 0;
next:
    ld.global.b16 %h, [%a];
    cvt.f64.f16 %x, %h;
    ld.global.b16 %h, [%b];
    cvt.f64.f16 %y, %h;
    fma.rn.f64 %sum, %x, %y, %sum;
    add.u64 %a, %a, 2;
    add.u64 %b, %b, 2;
    add.u32 %step, %step, 1;
    setp.lt.u32 %again, %step, %k;
    @%again bra next;
    cvt.rn.f32.f64 %f, %sum;
    st.global.f32 [%d], %f;
    ret;
}
EOF
tensors=(--arg A=randn:1@float16:256,256 --arg B=randn:2@float16:256,256 --arg D=zeros@float32:256,256 --arg K=256)
maps=(--tensor-map a=A,box=64x128,swizzle=128 --tensor-map b=B,box=64x128,swizzle=128
    --tensor-map d=D,box=32x32,swizzle=128 --grid 2,2 --block 128)
"$tirc" run "$work/f64.ptx" --grid 256 --block 256 "${tensors[@]}" --out "D=$work/f64.npy" >"$work/log" 2>&1
result $? "sums in f64"
for options in "--schedule early" "--schedule late" "--schedule 7" "--schedule all" "--ctas-per-sm 1 --sms 1" \
    "--ctas-per-sm 4 --sms 1" "--tmem-base 256" "--numerics fp32" "--numerics exact"; do
    status=0
    for stages in 1 2 3 4; do
        # shellcheck disable=SC2086
        "$tirc" run examples/gemm_tma.ptx "${tensors[@]}" "${maps[@]}" --smem $((1024 + 32768 * stages)) --arg S=$stages \
            --expect "D=$work/f64.npy" --atol 6.5e-4 --rtol 0 $options >"$work/log" 2>&1 || status=$?
        grep -q -e warning: -e error: "$work/log" && status=1
        [ $status -eq 0 ] || break
    done
    result $status "fed by TMA, 1 to 4 stages, near f64 and nothing found, $options"
done
broken_tma() { # name, sed program, schedule, pattern
    local status=0
    sed -e "$2" examples/gemm_tma.ptx >"$work/k.ptx"
    if cmp -s examples/gemm_tma.ptx "$work/k.ptx"; then
        echo "nothing changed" >"$work/log"
        status=1
    else
        "$tirc" run "$work/k.ptx" "${tensors[@]}" "${maps[@]}" --smem 66560 --arg S=2 --schedule "$3" >"$work/log" 2>&1
        [ $? -eq 1 ] && grep -q -e "$4" "$work/log" || status=1
    fi
    result $status "fed by TMA: $1, $3"
}
for schedule in early late 5; do
    broken_tma "no wait for full stages" '/%done, \[%full\]/d;/@!%done bra multiply_next/d' $schedule T0774
    broken_tma "no wait for empty stages" '/%done, \[%empty\]/d;/@!%done bra load_next/d' $schedule T0774
    broken_tma "no fence before the store" '/fence.proxy.async/d' $schedule T0792
    broken_tma "more bytes expected than come" 's/%full\], 32768/%full], 32784/' $schedule T0709
    broken_tma "another swizzle in the descriptors" 's/0x4000404000010000/0x8000404000010000/' $schedule T0830
    broken_tma "no fence after the wait" '/^wait:/,/^store:/s/tcgen05.fence::after_thread_sync;//' $schedule T0761
done
# The same by pairs of CTAs: each loads its half, the even one multiplies.
pairs=(--tensor-map a=A,box=64x128,swizzle=128 --tensor-map b=B,box=64x64,swizzle=128
    --tensor-map d=D,box=32x32,swizzle=128 --grid 2,2 --block 128)
for options in "--schedule early" "--schedule late" "--schedule 7" "--schedule all" "--ctas-per-sm 1 --sms 2" \
    "--ctas-per-sm 4 --sms 2" "--tmem-base 128" "--numerics fp32" "--numerics exact"; do
    status=0
    for stages in 2 4; do
        # shellcheck disable=SC2086
        "$tirc" run examples/gemm_pair.ptx "${tensors[@]}" "${pairs[@]}" --smem $((1024 + 24576 * stages)) --arg S=$stages \
            --expect "D=$work/f64.npy" --atol 6.5e-4 --rtol 0 $options >"$work/log" 2>&1 || status=$?
        grep -q -e warning: -e error: "$work/log" && status=1
        [ $status -eq 0 ] || break
    done
    result $status "by pairs, 2 and 4 stages, near f64 and nothing found, $options"
done
broken_pair() { # name, sed program, code
    for schedule in early late 5; do
        local status=0
        sed -E -e "$2" examples/gemm_pair.ptx >"$work/k.ptx"
        if cmp -s examples/gemm_pair.ptx "$work/k.ptx"; then
            echo "nothing changed" >"$work/log"
            status=1
        else
            "$tirc" run "$work/k.ptx" "${tensors[@]}" "${pairs[@]}" --smem 50176 --arg S=2 --schedule $schedule >"$work/log" 2>&1
            [ $? -ne 4 ] && grep -q -e "\[$3\]" "$work/log" || status=1
        fi
        result $status "by pairs: $1, $schedule"
    done
}
broken_pair "no wait for full stages" '/%done, \[%full\]/d;/@!%done bra multiply_next/d' T0774
broken_pair "no wait for empty stages" '/%done, \[%empty\]/d;/@!%done bra load_next/d' T0774
broken_pair "no wait for the products" '/%done, \[%bar\], 0/d;/@!%done bra wait/d' T0757
broken_pair "more bytes expected than come" 's/%full\], 49152/%full], 49168/' T0709
broken_pair "only one CTA's bytes expected" 's/%full\], 49152/%full], 24576/' T0774
broken_pair "both CTAs expect bytes" 's/@%is_leader mbarrier.arrive/mbarrier.arrive/' T0766
broken_pair "the commit reaches one CTA" 's/mov.u16 %both, 3/mov.u16 %both, 1/' T0709
broken_pair "each CTA reports to itself" 's/and.b32 %report, %full, 0xfeffffff;/mov.b32 %report, %full;/' T0709
broken_pair "both CTAs multiply" '/and.pred %is_multiplier, %is_multiplier, %is_leader;/d' T0709
broken_pair "nobody waits before dealloc" '/nor ends while/,/cluster.wait/{/barrier.cluster/d}' T0757
broken_pair "one CTA gives back" 's/@!%is_allocator bra freed;/@!%is_leader bra freed; &/' T0750
broken_pair "no dealloc" '/tcgen05.dealloc/d' T0745
broken_pair "M = 128" 's/0x10200010/0x08200010/' T0756
broken_pair "no fence after the wait" '/^wait:/,/^store:/s/tcgen05.fence::after_thread_sync;//' T0761
broken_pair "no fence before the store" '/fence.proxy.async/d' T0792
broken_pair "another swizzle in the descriptors" 's/0x4000404000010000/0x8000404000010000/' T0830
broken_pair "a commit of one CTA" 's/tcgen05.commit.cta_group::2/tcgen05.commit.cta_group::1/' T0749
if [ -n "$ptxas" ]; then
    "$ptxas" -arch=sm_100a examples/gemm_pair.ptx -o "$work/cubin" >"$work/log" 2>&1
    result $? "ptxas takes gemm_pair.ptx"
    "$ptxas" -arch=sm_100a examples/gemm_tma.ptx -o "$work/cubin" >"$work/log" 2>&1
    result $? "ptxas takes gemm_tma.ptx"
else
    number=$((number + 2))
    echo "ok $((number - 1)) - ptxas takes gemm_pair.ptx # SKIP no CUDA toolkit"
    echo "ok $number - ptxas takes gemm_tma.ptx # SKIP no CUDA toolkit"
fi
echo "1..$number"
exit $bad
