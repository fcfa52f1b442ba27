#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Kernels through tensor memory from PTX text, end to end: the same results under every schedule; ptxas takes them; and
# what breaks when one line of them is changed, in words, with code, place and the other place. Prints TAP.
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

# B of tensor_memory.ptx: thread t = 32w + 4r + c of register group g (0: rows 0-15, 1: rows 16-31)
awk 'BEGIN { for (t = 0; t < 128; t++) for (g = 0; g < 2; g++) for (k = 0; k < 4; k++) {
    w = int(t / 32); r = int(t % 32 / 4); c = t % 4
    print (32 * w + 16 * g + r + 8 * int(k / 2)) * 8 + 2 * c + k % 2 } }' >"$work/fragments"
# B of tensor_memory_packed.ptx: A = arange(int32): word i of thread u holds halves (4u + i) & 0xffff and its upper half
awk 'BEGIN { for (u = 0; u < 192; u++) for (i = 0; i < 2; i++) {
    w = int(u / 32) * 32; t = u % 32; lane = w + t % 16; first = t < 16 ? 0 : 2
    print 4 * lane + first + i } }' >"$work/packed"

numbers() { # type, file.npy: its elements, one a line
    local head
    head=$(od -An -tu2 -j8 -N2 "$2")
    od -An -v -w4 -t "$1" -j $((10 + head)) "$2" | tr -d ' '
}
for schedule in early late 1 2 3; do
    "$tirc" run examples/tensor_memory.ptx --grid 1 --block 128 --arg A=arange@float32:1024 --arg B=zeros@float32:1024 \
        --out "B=$work/b.npy" --schedule $schedule >"$work/log" 2>&1 &&
        numbers f4 "$work/b.npy" | cmp - "$work/fragments" >>"$work/log" 2>&1
    result $? "fragments under schedule $schedule"
    "$tirc" run examples/tensor_memory_packed.ptx --grid 3 --block 64 --arg A=arange@int32:768 --arg B=zeros@int32:384 \
        --out "B=$work/b.npy" --schedule $schedule >"$work/log" 2>&1 &&
        numbers d4 "$work/b.npy" | cmp - "$work/packed" >>"$work/log" 2>&1
    result $? "packed halves under schedule $schedule"
done
for kernel in tensor_memory tensor_memory_packed; do
    if [ -n "$ptxas" ]; then
        "$ptxas" -arch=sm_100a "examples/$kernel.ptx" -o "$work/cubin" >"$work/log" 2>&1
        result $? "ptxas takes $kernel.ptx"
    elif [ "${REQUIRE_NVCC:-}" = 1 ]; then
        echo "no CUDA toolkit, but REQUIRE_NVCC=1" >"$work/log"
        result 1 "ptxas takes $kernel.ptx"
    else
        number=$((number + 1))
        echo "ok $number - ptxas takes $kernel.ptx # SKIP no CUDA toolkit"
    fi
done

broken() { # name, sed program, exit status, pattern that the report must have, ...
    local name=$1 status
    sed -e "$2" examples/tensor_memory.ptx >"$work/k.ptx"
    cmp -s examples/tensor_memory.ptx "$work/k.ptx" && echo "nothing changed" >"$work/log" && result 1 "$name" && return
    "$tirc" run "$work/k.ptx" --grid 1 --block 128 --arg A=arange@float32:1024 --arg B=zeros@float32:1024 >"$work/log" 2>&1
    status=$?
    [ $status -eq "$3" ] || { echo "status $status" >>"$work/log"; result 1 "$name"; return; }
    shift 3
    for pattern in "$@"; do
        grep -q -e "$pattern" "$work/log" || { echo "missing: $pattern" >>"$work/log"; result 1 "$name"; return; }
    done
    result 0 "$name"
}
broken "no dealloc" '/tcgen05.dealloc/d' 1 'k.ptx:[0-9]*:5: error: the CTA ended without dealloc of columns 0 to 31' T0745
broken "dealloc of another size" 's/%base, 32;/%base, 64;/' 1 'dealloc of 64 columns, but the allocation at column 0 has 32' \
    'T0743' 'allocated here'
broken "no wait::st" '/wait::st/d' 1 'columns 0 to 7 are touched while tcgen05.st still writes them' T0757 'started here' \
    'help: tcgen05.wait::st in the warp that stores'
broken "no wait::ld" '/wait::ld/d' 0 'note: a register of tcgen05.ld is used before tcgen05.wait::ld' T0758 'loaded here'
broken "the wrong wait" 's/wait::ld/wait::st/' 1 'warning: .*after tcgen05.wait::st, which does not wait for loads' T0759
broken "no lanes of its own" 's/add.u32 %lanes, %lanes, %base/mov.u32 %lanes, %base/' 1 \
    'error: store to lane 0 by a warp that owns lanes 96 to 127' T0754 'first in CTA (0,0,0), thread (96,0,0)'
broken "past the allocation" 's/\[%lanes\], {%a0/[%lanes+28], {%a0/' 1 \
    'write of columns 28 to 35: column 32 is not allocated' T0740
broken "never written" '/tcgen05.st/d' 1 'read of column 0, lane 96, which nothing has written since alloc' T0756
broken "columns in a register" 's/\[%slot\], 32;/[%slot], %warp;/' 1 'alloc of 0 columns; possible are 32, 64, 128, 256 and 512' \
    T0747
broken "one lane allocates" 's/setp.ne.u32 %others, %warp, 0/setp.ne.u32 %others, %thread, 0/' 1 \
    'executed by lanes 0x00000001 of a warp of 0xffffffff; the others cannot come' T0752
broken "alloc after relinquish" \
    '/tcgen05.alloc/{h;d};/relinquish/{G}' 1 'alloc after the CTA gave up its permit to allocate' T0746 'relinquished here'
# switches
sed -e 's/add.u32 %lanes, %lanes, %base/mov.u32 %lanes, %base/' examples/tensor_memory.ptx >"$work/k.ptx"
"$tirc" run "$work/k.ptx" --grid 1 --block 128 --arg A=arange@float32:1024 --arg B=zeros@float32:1024 \
    --out "B=$work/b.npy" --tmem-lanes release >"$work/log" 2>&1 &&
    numbers f4 "$work/b.npy" | cmp - "$work/fragments" >>"$work/log" 2>&1
result $? "--tmem-lanes release"
for base in 64 480 random:5; do
    "$tirc" run examples/tensor_memory.ptx --grid 1 --block 128 --arg A=arange@float32:1024 --arg B=zeros@float32:1024 \
        --out "B=$work/b.npy" --tmem-base $base >"$work/log" 2>&1 &&
        numbers f4 "$work/b.npy" | cmp - "$work/fragments" >>"$work/log" 2>&1
    result $? "--tmem-base $base"
done
sed -e '/add.u32 %lanes, %lanes, %base;/d' examples/tensor_memory.ptx >"$work/k.ptx"
"$tirc" run "$work/k.ptx" --grid 1 --block 128 --arg A=arange@float32:1024 --arg B=zeros@float32:1024 >"$work/log" 2>&1 &&
    ! "$tirc" run "$work/k.ptx" --grid 1 --block 128 --arg A=arange@float32:1024 --arg B=zeros@float32:1024 \
        --tmem-base 32 >"$work/log" 2>&1 && grep -q T0740 "$work/log"
result $? "--tmem-base shows a kernel that assumes column 0"
"$tirc" run examples/tensor_memory_packed.ptx --grid 3 --block 64 --arg A=arange@int32:768 --arg B=zeros@int32:384 \
    --tmem-unpack keep --schedule all --sms 1 --ctas-per-sm 3 >"$work/log" 2>&1
result $? "--tmem-unpack keep, every schedule, three CTAs on an SM"
! "$tirc" run examples/tensor_memory.ptx --tmem-lanes loose >"$work/log" 2>&1 && grep -q 'strict or release is wanted' "$work/log"
result $? "--tmem-lanes with another word"
sed -e '/wait::ld/d' examples/tensor_memory.ptx >"$work/k.ptx"
"$tirc" run "$work/k.ptx" --grid 1 --block 128 --arg A=arange@float32:1024 --arg B=zeros@float32:1024 --strict-ptx >"$work/log" 2>&1
[ $? -eq 1 ] && grep -q 'T0757' "$work/log"
result $? "--strict-ptx: no wait::ld before dealloc"
# contention: one CTA holds the permit and waits for one that wants it
sed -e '/relinquish/d' -e 's/256/512/' examples/tensor_memory_packed.ptx >"$work/k.ptx"
"$tirc" run "$work/k.ptx" --grid 3 --block 64 --arg A=arange@int32:768 --arg B=zeros@int32:384 --sms 1 --ctas-per-sm 3 >"$work/log" 2>&1
result $? "all columns, no relinquish: one after the other"
sed -e '/relinquish/d' -e '/tcgen05.dealloc/d' examples/tensor_memory_packed.ptx >"$work/k.ptx"
"$tirc" run "$work/k.ptx" --grid 3 --block 64 --arg A=arange@int32:768 --arg B=zeros@int32:384 --sms 1 --ctas-per-sm 1 >"$work/log" 2>&1
[ $? -eq 1 ] && grep -q 'deadlock' "$work/log" &&
    grep -q 'waits at tcgen05.alloc for 256 columns: 0 are free; columns 0 to 255 belong to CTA (0,0,0).*ended without dealloc' \
        "$work/log" && grep -q 'T0745' "$work/log"
result $? "leaks that a later CTA hangs on"
echo "1..$number"
exit $bad
