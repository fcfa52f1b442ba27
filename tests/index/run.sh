#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The index of an access, as the CUDA text has it: the cheapest form that bounds prove right. t is below 32, b below 4, j
# below 8, n any int32. That the addresses are those of the layout is tests/layout (random layouts on the machine);
# here each row also runs, against the positions of `tirc layout`. covers: A16 A17 A20 A21
set -u
cd "$(dirname "$0")/../.." || exit 2
tirc=$PWD/${TIRC_BUILD:-build/test}/tirc
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
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
# layout, shape, index, the index of the address
row() {
    cat >k.py <<P
from tvm_tirx.script import tirx as T
from tvm_tirx.tirx.layout import S, TileLayout, ComposeLayout
L = $1
@T.function
def k(A: T.Tensor(($2,), "float32", layout=L), B: T.Tensor((4096,), "float32"), n: T.int32):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(4,), block=(32,)))
    t = T.cuda.thread_idx("x")
    b = T.cuda.block_idx("x")
    for j in range(8):
        B[(b * 32 + t) * 8 + j] = A[$3]


# the same by apply: the digits and the XOR written out, over the array as it lies
@T.function
def plain(A: T.Tensor((L.footprint(),), "float32"), B: T.Tensor((4096,), "float32"), n: T.int32):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(4,), block=(32,)))
    t = T.cuda.thread_idx("x")
    b = T.cuda.block_idx("x")
    for j in range(8):
        B[(b * 32 + t) * 8 + j] = A[L.apply($3, shape=($2,))["m"]]


@T.function
def fill(A: T.Tensor(($2,), "float32", layout=L), F: T.Tensor((L.footprint(),), "float32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(1,)))
    V = T.decl_tensor((L.footprint(),), "float32", data=A.data)
    for i in range(L.footprint()):
        V[i] = T.cast(i, "float32")
        F[i] = T.cast(i, "float32")
P
    "$tirc" build k.py:k --emit cuda >cuda 2>log &&
        got=$(sed -n 's/.*A_ptr\[\(.*\)\];/\1/p' cuda) && { echo "got $got"; echo "not $4"; } >log && [ "$got" = "$4" ]
    say $? "$1 at [$3]: $4"
    "$tirc" run k.py:fill --arg A=zeros --arg F=zeros --out A=a.npy --out F=f.npy >log 2>&1 &&
        "$tirc" run k.py:k --arg A=a.npy --arg B=zeros --arg n=3 --out B=one.npy >>log 2>&1 &&
        "$tirc" run k.py:plain --arg A=f.npy --arg B=zeros --arg n=3 --out B=two.npy >>log 2>&1 && cmp one.npy two.npy >>log 2>&1
    say $? "$1 at [$3]: the place that apply gives"
}
# dense and strided
row 'TileLayout(S[(32, 8)])' '32, 8' 't, j' '((t * 8) + j)'
row 'TileLayout(S[(32, 8) : (1, 32)])' '32, 8' 't, j' '((j * 32) + t)'
row 'TileLayout(S[(32, 8) : (9, 1)] + 5)' '32, 8' 't, j' '(((t * 9) + j) + 5)'
# digits: shifts and masks for powers of two, whatever the sign; division without floor for what is not negative
row 'TileLayout(S[(4, 8, 8) : (8, 32, 1)])' '32, 8' 't, j' '((((t & 7) * 32) + ((t >> 3) * 8)) + j)'
row 'TileLayout(S[(4, 8, 8) : (8, 32, 1)])' '32, 8' 'n, j' '((((n & 7) * 32) + ((n >> 3) * 8)) + j)'
row 'TileLayout(S[(5, 3, 8) : (8, 40, 1)])' '15, 8' 't // 4, j' '(((((t >> 2) % 3) * 40) + ((t / 12) * 8)) + j)'
row 'TileLayout(S[(5, 3, 8) : (8, 40, 1)])' '15, 8' 'n, j' '(((tirc_floormod(n, 3) * 40) + (tirc_floordiv(n, 3) * 8)) + j)'
# a sum whose parts fall on different digits is not divided
row 'TileLayout(S[(4, 8, 8) : (8, 32, 1)])' '256' 't * 8 + j' '((((t & 7) * 32) + ((t >> 3) * 8)) + j)'
row 'TileLayout(S[(4, 8, 8) : (8, 32, 1)])' '256' 't * 8 + 3' '((((t & 7) * 32) + ((t >> 3) * 8)) + 3)'
row 'TileLayout(S[(4, 8, 8) : (8, 32, 1)])' '256' 't + j * 32' '((((((j * 4) + (t >> 3)) & 7) * 32) + ((j >> 1) * 8)) + (t & 7))'
# swizzles: one XOR of the part that flips, constants behind it or folded into it
row 'ComposeLayout(3, 3, 3, S[(32, 64)])' '32, 64' 't, j' '((t * 64) + (j ^ ((t & 7) * 8)))'
row 'ComposeLayout(3, 3, 3, S[(32, 64)])' '32, 64' 't, j * 8 + 3' '(((t * 64) + ((j * 8) ^ ((t & 7) * 8))) + 3)'
row 'ComposeLayout(3, 3, 3, S[(32, 64)])' '32, 64' 'b * 8 + 2, t' '(((b * 512) + (t ^ 16)) + 128)'
row 'ComposeLayout(3, 3, 3, S[(32, 64)])' '32, 64' '5, 9' '353'
row 'ComposeLayout(3, 3, 3, S[(4, 32, 64)])' '4, 32, 64' 'b, t, j' '(((b * 2048) + (t * 64)) + (j ^ ((t & 7) * 8)))'
row 'ComposeLayout(2, 3, 3, S[(32, 2, 32) : (32, 1024, 1)])' '32, 64' 't, j * 8 + 5' \
    '((((j >> 2) * 1024) + (t * 32)) + ((((j * 8) + 5) & 31) ^ ((t & 7) * 4)))'
# and the whole formula where a carry could join the parts
row 'ComposeLayout(3, 3, 3, S[(32, 64)])' '32, 64' 't, n' '(((t * 64) + n) ^ ((((t * 64) + n) >> 3) & 56))'
row 'ComposeLayout(3, 3, 3, S[(32, 60)])' '32, 60' 't, j' '(((t * 60) + j) ^ ((((t * 60) + j) >> 3) & 56))'
row 'ComposeLayout(3, 3, 3, S[(32, 64)], False)' '32, 64' 't, j' '(((t * 64) + j) ^ ((((t * 64) + j) << 3) & 448))'
echo "1..$number"
exit $bad
