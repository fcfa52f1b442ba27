#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tirc layout and tirc fragment: answers to the letter, in words and as JSON, statuses, and refused input.
# covers: A16 A17 A20 A22 B6 B26 B31 B32 B35 B36
set -u
cd "$(dirname "$0")/../.." || exit 2
tirc=$PWD/${TIRC_BUILD:-build/test}/tirc
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
export NO_COLOR=1
number=0 bad=0
say() {
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then echo "ok $number - $2"; else
        echo "not ok $number - $2"
        sed 's/^/# /' "$work/log" | head -n 20
        bad=1
    fi
}
# status, expected text of both streams, words of the command
check() {
    local want_status=$1 want=$2
    shift 2
    "$tirc" "$@" >"$work/out" 2>"$work/err" </dev/null
    local status=$?
    cat "$work/out" "$work/err" >"$work/log"
    [ "$status" -eq "$want_status" ] && [ "$(cat "$work/log")" = "$want" ]
    say $? "tirc $*"
}
# status, a part of the text
part() {
    local want_status=$1 want=$2
    shift 2
    "$tirc" "$@" >"$work/log" 2>&1 </dev/null
    local status=$?
    [ "$status" -eq "$want_status" ] && grep -q -F -e "$want" "$work/log"
    say $? "tirc $* (a part)"
}
check 0 '{"m": 13}' layout 'S[(8,8):(10,1)]' --shape 8,8 --at 1,3 --json
check 0 'm 13' layout 'S[(8,8):(10,1)]' --shape 8,8 --at 1,3
# the four layouts of one access
check 0 '{"m": 19}' layout 'S[(4,8)]' --at 2,3 --json
check 0 '{"m": 14}' layout 'S[(4,8):(1,4)]' --at 2,3 --json
check 0 '{"m": 83}' layout 'S[(4,8)]+64' --at 2,3 --json
check 0 '{"m": 35}' layout 'S[(4,8):(16,1)]' --at 2,3 --json
check 0 '{"TLane": 69, "TCol": 7}' layout 'S[(4,16,32):(32@TLane,1@TLane,1@TCol)]' --shape 64,32 --at 37,7 --json
check 0 '{"laneid": 0, "warpid": 5, "m": 0}
{"laneid": 0, "warpid": 9, "m": 0}' layout 'S[(8,2,4,2):(4@laneid,1@warpid,1@laneid,1)]+R[2:4@warpid]+5@warpid' --shape 8,16 --at 0,0 --json
check 0 '{"at": [0,0], "place": {"m": 0}}
{"at": [0,1], "place": {"m": 2}}
{"at": [1,0], "place": {"m": 1}}
{"at": [1,1], "place": {"m": 3}}' layout 'S[(2,2):(1,2)]' --table --json
check 0 '(0)  m 0
(0)  m 4
(1)  m 1
(1)  m 5' layout 'S[2:1]+R[2:4]' --table
check 0 '(1, 2)  laneid 5, m 0
(1, 3)  laneid 5, m 1' layout 'S[(8,4,2):(4@laneid,1@laneid,1)]' --shape 8,8 --lane 5
check 0 '{"elements": [{"at": [1,3], "place": {"laneid": 5, "m": 1}}], "complete": true}' \
    layout 'S[(8,4,2):(4@laneid,1@laneid,1)]' --shape 8,8 --inverse laneid=5,m=1 --json
check 0 'no element' layout 'S[(8,8):(10,1)]' --inverse m=8
check 0 '{"injective": true}' layout 'Z(3,3,3)*S[(8,64):(64,1)]' --injective --json
check 1 'not injective: (0, 1) and (1, 0) both map to m 1' layout 'S[(4,2):(1,1)]' --injective
check 1 '{"injective": false, "first": [0], "second": [1], "place": {"m": 0}}' layout 'S[8:0]' --injective --json
check 0 '8 elements of 16 bits (16 bytes); not 16, because an access moves at most 16 bytes' \
    layout 'Z(3,3,3)*S[(8,64):(64,1)]' --dtype float16 --vector
check 0 '{"elements": 4, "bits": 64, "exact": true, "why": "the iter 8:68 steps by 68, no multiple of 8 elements"}' \
    layout 'S[(8,64):(68,1)]' --dtype float16 --vector --json
check 0 '8 passes of 128 bytes for 32 lanes of 4 bytes; 1 without conflicts
pass 0, bank 0: 8 different words, lanes 0 4 8 12 16 20 24 28
pass 0, bank 8: 8 different words, lanes 1 5 9 13 17 21 25 29
pass 0, bank 16: 8 different words, lanes 2 6 10 14 18 22 26 30
pass 0, bank 24: 8 different words, lanes 3 7 11 15 19 23 27 31' layout 'S[(32,32)]' --dtype float32 --banks --access 'S[32:8]'
check 0 '{"wavefronts": 1, "ideal": 1, "conflicts": []}' layout 'S[(32,32):(33,1)]' --banks --access 'S[32:32]' --json
check 0 'the layouts agree on every element' layout 'S[(4,8):(8,1)]' --compare 'S[32:1]'
check 0 '{"agree": true}' layout 'S[(2,32):(1@wid_in_wg,1@laneid)]' --compare 'S[64:1@tid_in_wg]' --json
check 1 'they differ at (0, 1): m 1 here, m 4 there' layout 'S[(4,8):(8,1)]' --compare 'S[(4,8):(1,4)]'
check 0 '((2,4),8):((1,16),2)' layout 'S[(4,2,8):(16,1,2)]' --shape 8,8 --cute
check 0 'Sw<3,3,3> o 0 o (8,64):(64,1)' layout 'Z(3,3,3)*S[(8,64):(64,1)]' --cute
check 0 '{"m": 72}' layout '((4,2),(2,4)):((8,4),(1,16))' --at 3,6 --json --shape 8,8
check 0 'S[64:1]' layout 'S[(8,8):(8,1)]' --canonical
# expressions of the script language
check 0 'Z(3,3,3)*S[1024:1]' layout 'mma_shared_layout("float16", "auto", (16, 64))' --canonical
check 0 'S[(2,8,2,8):(128,8,64,1)]' layout 'S[8,8].tile_to([16, 16], [8, 8])' --canonical
check 0 'the layouts agree on every element' layout 'TileLayout(S[(2, 32) : (1 @ wid_in_wg, 1 @ laneid)]).canonicalize()' --compare 'S[64:1@tid_in_wg]'
check 0 '{"m": 72}' layout 'T.ComposeLayout(3, 3, 3, S[(8, 64)]).slice((8, 64), [(1, 8), (0, 64)])' --shape 7,64 --at 0,0 --json
part 1 "Layout.pack gives no layout: to pack 3 elements into one, the last iter must be a multiple of 3" layout 'TileLayout(S[8]).pack(3)'
part 1 "not a tuple [T0205]" layout 'TileLayout(S[8]).group([8])'
part 1 "name 'foo' is not defined [T0201]" layout 'foo.bar()'
check 0 '{"m": 3, "laneid": 6}' fragment tcgen05.ld.16x128b.x4 --at 9,6 --json
check 0 '{"name": "tcgen05.ld.16x128b.x4", "lanes": 16, "bits_per_lane": 512, "cells": 256, "registers_per_thread": 8, "shape": [16, 16], "layout": "S[(2,8,4,4):(1,4@laneid,2,1@laneid)]", "words": ["One warp reads 16 lanes x 512 bits = 256 cells of tensor memory; 8 registers of 32 bits per thread (8 x 32 = 256).", "The warp'"'"'s window starts at TMEM lane 32 x (warp in warpgroup), or 16 further; rows and columns count from the address."]}' \
    fragment tcgen05.ld.16x128b.x4 --json
check 0 'm 0  (5, 2)
m 1  (5, 3)
m 2  (13, 2)
m 3  (13, 3)' fragment mma.m16n8.D --thread 21
part 0 'One warp reads 16 lanes x 512 bits = 256 cells of tensor memory; 8 registers of 32 bits per thread' fragment tcgen05.ld.16x128b.x4
part 0 'Register r holds column 2c in its low half' fragment tcgen05.ld.16x128b.x4 --pack
part 0 'S[(2,2):(2,1)]' layout 'S[(2,2):(2,1)]'
part 0 'A of mma.m16n8k32: 16 x 32 elements of 8 bits; each of 32 threads holds 16 of them in 4 registers' fragment mma.m16n8k32.e4m3.A
part 0 'D of wgmma.m64n16: 64 x 16 elements of 32 bits; each of 128 threads holds 8 of them' fragment wgmma.m64n16
part 0 '4 matrices of 8 x 8 elements of 16 bits' fragment stmatrix.x4.trans
part 0 'Datapath F: the accumulator of cta_group::1, M = 64, not .ws; 64 rows per CTA, 32 columns of cells.' fragment tcgen05.mma.F.n32
part 0 'each row to 4 lanes' fragment tcgen05.cp.32x128b.warpx4
check 0 'm 0  (75, 0)
m 1  (75, 2)
m 2  (91, 0)
m 3  (91, 2)' fragment tcgen05.atom.16x64b.128x4 --thread 77
check 0 '{"m": 0, "at": [77, 0]}
{"m": 1, "at": [77, 1]}' fragment tcgen05.atom.32x32b.128x2 --thread 77 --json
# every fragment that a name can say: words, a picture, and one thread's share
every=$("$tirc" fragment --list)
wrong="" fragments=0
for name in $every; do
    fragments=$((fragments + 1))
    "$tirc" fragment "$name" --columns 200 >"$work/log" 2>&1 && "$tirc" fragment "$name" --json >"$work/out" 2>>"$work/log" &&
        grep -q '"words": \[".*[a-z]' "$work/out" && grep -q '[0-9]:[0-9]' "$work/log" || wrong="$wrong $name"
done
echo "wrong:$wrong" >"$work/log"
[ -z "$wrong" ] && [ $fragments -gt 300 ]
say $? "all $fragments fragments have words and a picture"
# odd, but answered: a warning with the axis or the block
part 0 'axis wgid numbers warpgroups, but the other thread axes end at the warp' layout 'S[(2,8):(1@wgid,1@laneid)]' --at 1,1
part 3 'not decided: axis wgid numbers warpgroups' layout 'S[(2,8):(1@wgid,1@laneid)]' --compare 'S[16:1@tx]'
part 0 'it ends at m 479, but its elements reach into a block that ends at m 511 [T0846]' layout 'Z(3,3,3)*S[(8,60):(60,1)]' --at 0,0
# refused, with the iter or axis and the numbers
part 1 'layout S[(4,8):(8,1)] has 32 elements, but the shape (4, 9) has 36 [T0841]' layout 'S[(4,8):(8,1)]' --shape 4,9
part 1 'extent 0 of shard 1 is not positive [T0840]' layout 'S[(4,0):(8,1)]'
part 1 'extent -8 of shard 1 is not positive [T0840]' layout 'S[(4,-8):(8,1)]'
part 1 "'foo' is no axis" layout 'S[(4,8):(8@foo,1)]'
part 1 '2 extents but 1 strides' layout 'S[(4,8):(8)]'
part 1 'shard iter 0 is 4:9223372036854775807@m [T0840]' layout 'S[4:9223372036854775807]'
part 1 'does not fit in 64 bits' layout 'S[4:9223372036854775808]'
part 1 'a swizzle of length 4 needs an atom length of at least 4, not 3' layout 'Z(3,4,3)*S[(8,64):(64,1)]'
part 1 'layout:1:1: error: elements to draw, copies included: 1099511627776; a picture shows at most 1048576; shard iter 0 alone has 1048576 [T0843]' \
    layout 'S[(1048576,1048576):(1048576,1)]' --svg "$work/no.svg"
part 1 'layout:1:1: error: places on axis m: 6442450947' layout 'S[(4,4):(2147483648,1)]' --html "$work/no.svg"
part 1 'replica iter 0 alone has 1099511627776' layout 'S[4:1]+R[1099511627776:0]' --text
part 1 'the product of the extents does not fit in 64 bits: extent 0 is 1099511627776 [T0840]' layout 'S[(1099511627776,1099511627776)]'
part 1 'the product of the shard extents does not fit in 64 bits: shard 1 has the extent 1099511627776 [T0840]' layout 'S[(1099511627776,1099511627776):(0,0)]'
part 1 'shard iter 0 is 4:8@m, the offset there 9223372036854775807 [T0840]' layout 'S[(4,8):(8,1)]+9223372036854775807'
part 1 'replica iter 0 is 99999999999:99999999999@m [T0840]' layout 'S[4:1]+R[99999999999:99999999999]'
part 1 'extent 0 of replica 0 is not positive [T0840]' layout 'S[4:1]+R[0:1]'
part 1 'the size of the CuTe layout does not fit in 64 bits: mode 1 has the extent 99999999999 [T0840]' layout '(99999999999,99999999999):(1,1)'
part 1 'extent 0 of mode 1 of the CuTe layout is not positive [T0840]' layout '(4,0):(1,4)'
part 1 'shard iter 0 of its tile, 4:1@laneid, is on laneid [T0840]' layout 'Z(3,3,3)*S[(4,8):(1@laneid,1)]'
part 1 'its tile reaches down to -7 on m [T0840]' layout 'Z(3,3,3)*S[8:-1]'
part 1 'extent -8 of dimension 1 is not positive [T0841]' layout 'S[(4,8):(8,1)]' --shape 4,-8
part 1 'extent 0 of dimension 0 is not positive [T0841]' layout 'S[(4,8):(8,1)]' --shape 0,8
part 1 'has 32 elements, but the shape (3, 11) has 33 [T0841]' layout 'S[(4,8):(8,1)]' --shape 3,11
part 1 'expected a number at byte 5 of the layout [T0840]' layout 'S[(4,(2,2)):(4,1)]'
part 1 'dimension 0 has 12 rows, but a swizzle atom has 8' layout 'mma_shared_layout("float16", "128B", (12, 64))'
part 1 'datapath F needs columns in positive multiples of 1, not 0' layout 'tmem_datapath_layout("F", 64, 0)'
part 0 'axes tx and laneid both number threads, one within a cta, the other within a warp [T0845]' layout 'S[(2,2):(1@tx,1@bx)]+R[2:1@laneid]'
[ ! -e "$work/no.svg" ]
say $? "a refused picture leaves no file"
part 1 'coordinate 8 of dimension 1 is outside [0, 8)' layout 'S[(8,8)]' --at 0,8
part 1 'CuTe' layout 'S[(8,8):(1@laneid,1)]' --cute
part 1 'with it there are m16n8k16, m16n8k32' fragment mma.sp.m16n8k8.f16.A
part 1 'there is no fragment' fragment mma.m8n8k4.f16.D.row
part 2 'takes no name' fragment --list mma.m16n8.D
part 2 'wanted the name of an instruction, or --list' fragment
part 1 'm64n32k16 is a shape of a matrix multiplication' fragment tcgen05.ld.m64n32k16.x4
part 1 'needs 256 registers per thread; the limit is 128' fragment tcgen05.ld.16x128b.x128
part 2 'wants at most 16 numbers' layout 'S[(8,8)]' --shape 8,x
part 2 'has 3 coordinates, the shape has 2 dimensions' layout 'S[(8,8)]' --at 0,1,2
part 2 'there is no element type `float17`' layout 'S[(8,8)]' --dtype float17
part 2 'the layout has no axis of threads or lanes' layout 'S[(8,8)]' --lane 3
part 2 'is a tile of tensor memory, which no thread holds' fragment tcgen05.mma.F.n8 --thread 3
part 2 'a number from 0 to 31 is wanted' fragment mma.m16n8.D --thread 32
part 1 'the table has more than 4194304 lines, one per copy of an element: there are 4194304 elements in 2 copies each' layout 'S[(65536,64):(64,1)]+R[2:1]' --table
part 1 "the layout has no axis 'tx'" layout 'S[(8,8)]' --inverse tx=3
part 3 'gave up after 1048576 elements' layout 'S[(1048576,1048576):(0,0)]' --inverse m=0
# the addresses that kernels really use
${CC:-gcc} -std=c11 -O1 -Iinclude $(case ${TIRC_BUILD:-} in *asan*) echo -fsanitize=address,undefined ;; esac) \
    -o "$work/addresses" tests/layout/vm_addresses.c "${TIRC_BUILD:-build/test}/libtirc.a" -lm -ldl -pthread >"$work/log" 2>&1 &&
    mkdir "$work/ptx" && "$work/addresses" "$work/ptx" >"$work/log" 2>&1
say $? "addresses of random layouts on the machine: $(tail -n 1 "$work/log")"
# parts of tensors against a model that lists positions
${CC:-gcc} -std=c11 -O1 -Iinclude $(case ${TIRC_BUILD:-} in *asan*) echo -fsanitize=address,undefined ;; esac) \
    -o "$work/parts" tests/layout/vm_parts.c "${TIRC_BUILD:-build/test}/libtirc.a" -lm -ldl -pthread >"$work/log" 2>&1 &&
    "$work/parts" >"$work/log" 2>&1
say $? "chains of parts on the machine: $(tail -n 1 "$work/log")"
# and the assembler takes the code of a sample of them: 240 layouts, or all 1,200
if nvcc=$(tools/find-nvcc); then
    last=3
    [ -z "${TIRC_CHECK_ALL:-}" ] || last=19
    for n in $(seq 0 $last); do
        arch=$([ $((n % 2)) = 1 ] && echo sm_100a || echo sm_90a)
        "${nvcc%nvcc}ptxas" -arch=$arch -o "$work/cubin" "$work/ptx/layouts$n.ptx" >"$work/log" 2>&1 && [ ! -s "$work/log" ]
        say $? "ptxas takes 60 kernels with random layouts for $arch"
    done
elif [ -n "${REQUIRE_NVCC:-}" ]; then
    echo "no nvcc" >"$work/log"
    say 1 "ptxas takes kernels with random layouts"
fi
echo "1..$number"
exit $bad
