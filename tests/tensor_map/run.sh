#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --tensor-map: one description for the machine and for a driver (here the one of tests/gpu, whose device is the machine),
# under every schedule; and every way to write it wrongly. Prints TAP.
set -u
cd "$(dirname "$0")/../.." || exit 2
build=${TIRC_BUILD:-build/test}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
number=0 bad=0
say() { # status, words
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then echo "ok $number - $2"; else
        echo "not ok $number - $2"
        head -n 12 "$work/log" | sed 's/^/# /'
        bad=1
    fi
}
tirc=$build/tirc
run() { # map, more options
    local map=$1
    shift
    "$tirc" run examples/tensor_map.ptx --grid 1 --block 256 --tensor-map "$map" --arg A=arange@float32:32,32 --arg B=zeros@float32:16,16 "$@" >"$work/log" 2>&1
}
# B[y, x] = A[y + 1, x + 8] + 1
right() {
    od -An -v -t f4 -j 128 "$1" | tr -s ' ' '\n' | grep . | awk '{ if ($1 != (int((NR - 1) / 16) + 1) * 32 + (NR - 1) % 16 + 9) wrong = 1 } END { exit wrong || NR != 256 }'
}

run map=A,box=16x16 --out "B=$work/b.npy" && right "$work/b.npy"
say $? "a box of A, described in one line"
run map=A,box=16x16 --schedule all --out "B=$work/all.npy" && cmp -s "$work/b.npy" "$work/all.npy"
say $? "under every schedule"
run map=A,box=16x16,dims=32x32,strides=128,steps=1x1,type=float32,swizzle=none,interleave=none,fill=zero,l2=128,offset=0 --out "B=$work/full.npy" && cmp -s "$work/b.npy" "$work/full.npy"
say $? "every key written out"
run 0=A,box=16x16,offset=128,dims=32x31 --out "B=$work/c.npy" && ! cmp -s "$work/b.npy" "$work/c.npy"
say $? "an offset, and parameters by number"

case $build in
*asan*) sanitize="-fsanitize=address,undefined" ;;
*tsan*) sanitize="-fsanitize=thread" ;;
*) sanitize="" ;;
esac
# shellcheck disable=SC2086
${CC:-gcc} $sanitize -std=c11 -D_GNU_SOURCE -fPIC -fvisibility=hidden -shared -Wall -Wextra -Iinclude -o "$work/libcuda.so" tests/gpu/driver.c "$build/libtirc.a" -Wl,--exclude-libs,ALL -lm -ldl -pthread >"$work/log" 2>&1 &&
    TIRC_LIBCUDA=$work/libcuda.so FAKE_TRACE=$work/trace run map=A,box=16x16 --on cuda --out "B=$work/gpu.npy" && cmp -s "$work/b.npy" "$work/gpu.npy" && grep -q '^map 2$' "$work/trace"
say $? "the same description, encoded by the driver"

# im2col::w: images of 6 pixels of 32 halves, 8 pixels from pixel 4 of image 0 on; B[p] = the first half of pixel p
wide() { # mode, halo, pixels in all
    cat >"$work/wide.ptx" <<END
.version 8.7
.target sm_100a
.address_size 64
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 A, .param .u64 B)
{
    .reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<12>; .reg .b64 %rd<8>;
    .shared .align 1024 .b8 tile[16384]; .shared .align 8 .b64 bar;
    mov.u32 %r1, %tid.x; mov.u32 %r2, tile; mov.u32 %r3, bar; mov.b64 %rd1, map; cvta.param.u64 %rd1, %rd1;
    ld.param.u64 %rd2, [B]; setp.eq.u32 %p1, %r1, 0; mov.u16 %h1, $2; mov.u16 %h2, 0; mov.u32 %r4, 4; mov.u32 %r7, 0;
    @%p1 mbarrier.init.shared::cta.b64 [%r3], 1;
    @%p1 fence.mbarrier_init.release.cluster;
    bar.sync 0;
    @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], $3 * 64;
    @%p1 cp.async.bulk.prefetch.tensor.3d.L2.global.$1 [%rd1, {%r7, %r4, %r7}], {%h1, %h2};
    @%p1 cp.async.bulk.tensor.3d.shared::cluster.global.$1.mbarrier::complete_tx::bytes [%r2], [%rd1, {%r7, %r4, %r7}], [%r3], {%h1, %h2};
wait:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0;
    @!%p2 bra wait;
    shr.u32 %r5, %r1, 1; and.b32 %r5, %r5, 3; shl.b32 %r5, %r5, 4; shl.b32 %r6, %r1, 6; or.b32 %r6, %r6, %r5; add.u32 %r6, %r6, %r2;
    ld.shared.u16 %h3, [%r6]; mul.wide.u32 %rd3, %r1, 2; add.s64 %rd3, %rd3, %rd2; st.global.u16 [%rd3], %h3;
    ret;
}
END
    "$tirc" run "$work/wide.ptx" --grid 1 --block "$3" --tensor-map "map=A,channels=32,swizzle=64,${4:-wide=w,pixels=8}" --arg A=arange@uint16:4,6,32 --arg B=zeros@uint16:"$3" --show B "${@:5}" >"$work/log" 2>&1
}
wide im2col::w 0 8 '' --schedule all && grep -q 'B = uint16\[8\]: 128 160 192 224 256 288 320 352$' "$work/log"
say $? "im2col::w goes on in the next image"
wide im2col::w 3 11 ''
[ $? -eq 3 ] && grep -q 'error: .*PTX does not say what a halo.*T0789' "$work/log"
say $? "a halo past the right end of the box is no guess"
wide im2col::w 2 8 'wide=w,pixels=6' && grep -q 'B = uint16\[8\]: 128 160 192 224 256 288 320 352$' "$work/log"
say $? "a halo inside of the box"
wide im2col::w::128 0 128 'wide=w128' && grep -q 'B = uint16\[128\]: 128 160 192 224 256 288 ' "$work/log"
say $? "im2col::w::128 loads 128 pixels"
wide im2col::w::128 2 128 'wide=w128'
[ $? -eq 3 ] && grep -q 'error: .*PTX says only in a figure.*T0789' "$work/log"
say $? "its halo ends the run as incomplete"
FAKE_CAPABILITY=100 TIRC_LIBCUDA=$work/libcuda.so FAKE_TRACE=$work/trace wide im2col::w 0 8 '' --on cuda && grep -q 'B = uint16\[8\]: 128 160 192 224 256 288 320 352$' "$work/log"
say $? "a map of im2col::w encoded by the driver"
wide im2col::w 0 8 'wide=w,pixels=8,interleave=16'
[ $? -eq 1 ] && grep -q 'an im2col::w map takes no interleave.*T0788' "$work/log"
say $? "an interleave is refused"

refuse() { # words, pattern, map, more options
    local words=$1 pattern=$2
    shift 2
    run "$@"
    [ $? -eq 1 ] && grep -Eq "$pattern" "$work/log"
    say $? "$words"
}
refuse "every broken rule is told" 'elementStrides\[0\] is 0.*' map=A,box=300x16,steps=0x1,swizzle=32
[ "$(grep -c T0788 "$work/log")" -eq 3 ]
say $? "three rules, three lines"
refuse "an unknown key" 'no such key: `bx`.*T0815' map=A,bx=3
refuse "a key without a value" 'KEY=VALUE is wanted.*T0815' map=A,box
refuse "a list that is none" 'not understood: `16x`.*T0815' map=A,box=16x
refuse "too many dimensions" 'not understood.*T0815' map=A,box=1x1x1x1x1x1
refuse "an unknown swizzle" 'not understood: `129`.*T0815' map=A,box=16x16,swizzle=129
refuse "no box" 'box=... is wanted.*T0815' map=A
refuse "no tensor" 'a tensor is wanted first.*T0815' map=,box=16x16
refuse "a tensor that is not there" 'no parameter `Q`.*T0803' map=Q,box=16x16
refuse "a map of the map" 'there is no tensor `map`.*T0815' map=map,box=16x16
refuse "a parameter given in two ways" '`B` is given by --arg and by --tensor-map.*T0804' map=A,box=16x16 --tensor-map B=A,box=16x16
"$tirc" run examples/tensor_map.ptx --grid 1 --block 256 --tensor-map map=A,box=16x16 --arg A=arange@float32:32,32 --tensor-map B=A,box=16x16 >"$work/log" 2>&1
[ $? -eq 1 ] && grep -q 'argument 2 (B) is a tensor map, but .* has 8 bytes.*T0701' "$work/log"
say $? "a parameter that is no map"
refuse "bytes that never come" 'deadlock.*T0709' map=A,box=16x8
grep -q '512 bytes are missing' "$work/log"
say $? "and how many"
refuse "a tensor that ends before its map" 'T0702' map=A,box=16x16,dims=32x64,offset=2048
"$tirc" run examples/tensor_map.ptx --grid 1 --block 256 --arg A=arange@float32:32,32 --arg B=zeros@float32:16,16 >"$work/log" 2>&1
[ $? -eq 1 ] && grep -q 'parameter `map` of `tile` is not given.*T0805' "$work/log"
say $? "no map at all"
echo "1..$number"
exit $bad
