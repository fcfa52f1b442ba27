#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the machine is given and cannot do, or must not: forms it does not have, instructions that the target does not have,
# descriptors, tiles, tensor maps and launches that are wrong. Each ends with its place, its code and what is accepted, never
# in a crash. Prints TAP.
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
# A kernel of 128 threads whose line 24 is the instruction of the test.
kernel() { # version, target, line
    cat <<END
.version $1
.target $2
.address_size 64
.visible .entry k(.param .u64 A)
{
    .reg .pred %p<4>;
    .reg .b16 %h<4>;
    .reg .b32 %r<16>;
    .reg .b64 %d<8>;
    .reg .f32 %f<8>;
    .shared .align 128 .b8 tile[1024];
    .shared .align 8 .b64 bar;
    mov.b32 %r0, 0;
    mov.b32 %r1, 0;
    mov.b32 %r2, 0;
    mov.b32 %r3, 0;
    mov.b64 %d0, 0;
    mov.b64 %d1, 0;
    mov.b16 %h0, 0;
    mov.b16 %h1, 0;
    mov.f32 %f0, 0f00000000;
    setp.eq.u32 %p0, %r0, 0;
    setp.ne.u32 %p1, %r0, 0;
    $3
    ret;
}
END
}
run() {
    "$tirc" run "$work/k.ptx" --grid 1 --block 128 --arg A=zeros@float32:64 --format line "$@" >"$work/log" 2>&1
}

# ---- forms that the machine does not have: exit status 3, the form and the line; a run that does not reach one is whole ----
refused() { # version, target, form, operands
    kernel "$1" "$2" "$3 $4" >"$work/k.ptx"
    run
    [ $? -eq 3 ] && grep -q -F "k.ptx:24:5: error: the machine does not have this instruction yet: $3 [T0714]" "$work/log" &&
        grep -q -F "k.ptx:24:5: warning: the machine does not have '$3'" "$work/log"
    result $? "$3 is refused by name"
}
refused 9.1 sm_103a tcgen05.ld.red.sync.aligned.32x32b.x2.min.u32 '{%r4, %r5}, %r6, [%r0];'
refused 8.1 sm_90 multimem.ld_reduce.relaxed.gpu.global.add.f32 '%f1, [%d0];'
refused 8.1 sm_90 multimem.st.relaxed.gpu.global.f32 '[%d0], %f0;'
refused 8.1 sm_90 multimem.red.relaxed.gpu.global.add.f32 '[%d0], %f0;'
refused 9.1 sm_90 multimem.cp.async.bulk.bulk_group.global.shared::cta '[%d0], [tile], 16;'
refused 9.1 sm_90 multimem.cp.reduce.async.bulk.bulk_group.global.shared::cta.add.u32 '[%d0], [tile], 16;'
refused 8.7 sm_100a tcgen05.mma.sp.cta_group::1.kind::f16 '[%r0], %d0, %d1, [%r1], %r2, %p0;'
refused 8.7 sm_100a tcgen05.mma.ws.sp.cta_group::1.kind::tf32 '[%r0], %d0, %d1, [%r1], %r2, %p0;'
refused 8.0 sm_90a mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 \
    '{%f1, %f2, %f3, %f4}, {%r0, %r1}, {%r2, %r3}, {%f0, %f0, %f0, %f0}, %r0, 0x0;'
refused 8.2 sm_90a wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 \
    '{%f1, %f2, %f3, %f4}, %d0, %d1, %r0, 0, %p0, 1, 1, 0, 0;'
kernel 8.7 sm_100a '@%p1 tcgen05.mma.sp.cta_group::1.kind::f16 [%r0], %d0, %d1, [%r1], %r2, %p0;' >"$work/k.ptx"
run
result $? "a form that no thread reaches is a warning"

# ---- instructions that the target does not have: what is accepted is named ----
target() { # version, target, line, pattern
    kernel "$1" "$2" "$3" >"$work/k.ptx"
    run
    [ $? -eq 1 ] && grep -q "k.ptx:24:5: error: .*$4" "$work/log"
    result $? "${3%% *} on $2"
}
for t in sm_120a sm_121a sm_90a sm_100; do
    target 9.0 $t 'tcgen05.wait::ld.sync.aligned;' \
        "\`tcgen05.wait::ld.sync.aligned\` needs sm_100a, or another of sm_10x and sm_11x with suffix a or f, not $t .T0604"
done
for t in sm_100a sm_103a sm_101a sm_100f; do
    kernel 9.0 $t 'tcgen05.wait::ld.sync.aligned;' >"$work/k.ptx"
    run
    result $? "tcgen05.wait::ld on $t"
done
target 9.0 sm_100a 'wgmma.fence.sync.aligned;' 'wgmma.fence.sync.aligned. needs sm_90a exactly, not sm_100a .T0604'
target 9.0 sm_80 'mbarrier.try_wait.shared.b64 %p2, [bar], %d0;' 'mbarrier.try_wait.*needs sm_90.*T0604'
target 9.0 sm_80 'cp.async.bulk.prefetch.L2.global [%d0], 16;' 'cp.async.bulk.prefetch.*needs sm_90.*T0604'
target 8.5 sm_100a 'tcgen05.wait::ld.sync.aligned;' 'tcgen05.wait::ld.sync.aligned needs .version 8.6, the module says 8.5 .T0603'
# shapes and modifiers of ld and st, as ptxas refuses them
shape() { # line, pattern
    kernel 8.7 sm_100a "$1" >"$work/k.ptx"
    run
    [ $? -eq 1 ] && grep -q "k.ptx:24:5: error: .*$2" "$work/log"
    result $? "refused: ${1%% *}"
}
shape 'tcgen05.ld.sync.aligned.16x128b.x4.b32 {%r4, %r5, %r6, %r7}, [%r0];' 'T060[12]'
shape 'tcgen05.ld.sync.aligned.16x128b.x128.b32 {%r4}, [%r0];' 'T0601'
shape 'tcgen05.ld.sync.aligned.16x256b.x64.b32 {%r4}, [%r0];' 'T0601'
shape 'tcgen05.ld.sync.aligned.32x32b.x1.unpack::16b.b32 {%r4}, [%r0];' 'T0601'
shape 'tcgen05.st.sync.aligned.32x32b.x1.pack::16b.b32 [%r0], {%r4};' 'T0601'
shape 'tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r0], 8;' 'T060[12]'
shape 'tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {%r4}, [%r0];' 'T060[12]'
shape 'tcgen05.alloc.cta_group::1.sync.aligned.shared::cluster.b32 [bar], 32;' 'T0601'
shape 'tcgen05.cp.cta_group::1.32x128b [%r0], %d0;' 'T0601'
shape 'tcgen05.mma.cta_group::2.kind::f16 [%r0], %d0, %d1, %r2, {%r0, %r0, %r0, %r0}, %p0;' 'T060[12]'
shape 'tcgen05.mma.cta_group::1.kind::mxf8f6f4 [%r0], %d0, %d1, %r2, %p0;' 'T0601'

# ---- descriptors and tiles of a product ----
gemm=(--grid 1 --block 128 --arg A=ones@float16:128,128 --arg B=ones@float16:128,128 --arg D=zeros@float32:128,128
    --arg N=128 --arg K=128 --format line)
product() { # name, sed program, pattern
    sed -e "$2" examples/gemm_tcgen05.ptx >"$work/k.ptx"
    if cmp -s examples/gemm_tcgen05.ptx "$work/k.ptx"; then
        echo "nothing changed" >"$work/log"
        result 1 "$1"
        return
    fi
    "$tirc" run "$work/k.ptx" "${gemm[@]}" >"$work/log" 2>&1
    [ $? -eq 1 ] && grep -q "k.ptx:[0-9]*:5: error: .*$3" "$work/log"
    result $? "$1"
}
"$tirc" run examples/gemm_tcgen05.ptx "${gemm[@]}" >"$work/log" 2>&1
result $? "the product that is changed next"
for bit in 0 1 2 3 6 23 29 30 31; do
    product "bit $bit of the instruction descriptor" "s/0x08200010/$(printf '0x%08x' $((0x08200010 ^ 1 << bit)))/" \
        "instruction descriptor 0x.*bits* [0-9-]* (.*T0800"
done
for bit in 14 15 30 31 46 47 48 52 53 60; do
    product "bit $bit of the matrix descriptor" "s/0x4000404000010000/$(printf '0x%x' $((0x4000404000010000 ^ 1 << bit)))/" \
        "matrix descriptor 0x.*bits* [0-9-]* (.*T0801"
done
for code in 3 5 7; do
    product "swizzle code $code" "s/0x4000404000010000/$(printf '0x%x' $((0x0000404000010000 | code << 61)))/" \
        'bits 61-63 (swizzle) = .; accepted: 0 none.*T0801'
done
product "a tile that starts inside its swizzle pattern" 's/or.b64 %adesc, %adesc, 0x4000404000010000;/&\n    add.s64 %adesc, %adesc, 8;/' \
    'A: bits 0-13 (start address >> 4) = .*row 0 on a multiple of 1024 bytes with 128B swizzle.*T0801'
product "a tile that ends outside shared memory" 's/0x4000404000010000/0x4000700000010000/' 'outside the [0-9]* bytes that the CTA has .T0802'

# ---- tensor maps ----
map() { # name, pattern, options
    "$tirc" run examples/tensor_map.ptx --grid 1 --block 256 --arg A=arange@float32:32,32 --arg B=zeros@float32:16,16 \
        "--tensor-map" "$3" >"$work/log" 2>&1
    [ $? -eq 1 ] && grep -q "$2" "$work/log"
    result $? "$1"
}
map "a box of no rows" 'tensor map `map`: boxDim.1. is 0.*T0788' map=A,box=16x0
map "a box that is too large" 'tensor map `map`: boxDim.0. is 257.*T0788' map=A,box=257x16
map "a box larger than shared memory" 'T0788' map=A,box=256x256
map "a dimension of 0" 'T0788' map=A,box=16x16,dims=0x32
map "a dimension that is too large" 'T0788' map=A,box=16x16,dims=32x4294967297
# a map whose bytes are changed on the way: the copy names the parameter's address and leaves the map alone
sed -e '/ld.param.u64 .*\[B\]/i\    st.param.u32 [map+8], 7;' examples/tensor_map.ptx >"$work/k.ptx"
"$tirc" run "$work/k.ptx" --grid 1 --block 256 --arg A=arange@float32:32,32 --arg B=zeros@float32:16,16 \
    --tensor-map map=A,box=16x16 >"$work/log" 2>&1
[ $? -eq 1 ] && grep -q 'error' "$work/log"
result $? "a map in parameter space cannot be changed"
cat >"$work/k.ptx" <<'END'
.version 8.7
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 A)
{
    .reg .b64 %d<4>;
    .reg .b32 %r<4>;
    .reg .pred %p;
    .shared .align 128 .b8 tile[1024];
    .shared .align 8 .b64 bar;
    ld.param.u64 %d0, [A];
    mov.u32 %r0, %tid.x;
    setp.ne.u32 %p, %r0, 0;
    @%p bra done;
    mbarrier.init.shared.b64 [bar], 1;
    cp.async.bulk.tensor.1d.shared::cta.global.tile.mbarrier::complete_tx::bytes [tile], [%d0, {%r0}], [bar];
done:
    ret;
}
END
"$tirc" run "$work/k.ptx" --grid 1 --block 32 --arg A=randn:3@float32:64 --format line >"$work/log" 2>&1
[ $? -eq 1 ] && grep -q 'k.ptx:16:5: error: .*T0787' "$work/log"
result $? "bytes that are no tensor map"

# ---- launches ----
kernel 8.7 sm_100a 'barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;' >"$work/k.ptx"
for shape in "3 2" "5,2 2,2" "7 4"; do
    # shellcheck disable=SC2086
    set -- $shape
    "$tirc" run "$work/k.ptx" --grid "$1" --cluster "$2" --block 128 --arg A=zeros@float32:64 >"$work/log" 2>&1
    [ $? -eq 1 ] && grep -q 'is no multiple of the cluster.*T0701' "$work/log"
    result $? "grid $1 in clusters of $2"
done
"$tirc" run "$work/k.ptx" --grid 32 --cluster 32 --block 128 --arg A=zeros@float32:64 >"$work/log" 2>&1
[ $? -eq 1 ] && grep -q 'T0701' "$work/log"
result $? "a cluster of 32"
echo "1..$number"
exit $bad
