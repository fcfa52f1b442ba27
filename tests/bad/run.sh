#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Bad input: every case must end with the exit status of the design and a message with a code, at its place where it
# has one, and must leave no file. A case that does not end is killed and fails. Prints TAP.
set -u
cd "$(dirname "$0")/../.." || exit 2
build=$(pwd)/${TIRC_BUILD:-build/test}
tirc=$build/tirc
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
number=0 bad=0
# name, exit status, pattern that the messages must have, command...
try() {
    local name=$1 status=$2 pattern=$3 got
    shift 3
    rm -rf out && mkdir out
    timeout 60 "$@" >log.out 2>log.err </dev/null
    got=$?
    number=$((number + 1))
    if [ "$got" -eq "$status" ] && grep -q -E "$pattern" log.err && [ -z "$(ls out)" ]; then
        echo "ok $number - $name"
    else
        echo "not ok $number - $name (status $got, wanted $status and $pattern)"
        head -c 1500 log.err | sed 's/^/# /'
        ls out | sed 's/^/# left behind: /'
        bad=1
    fi
}
kernel() { # file, statement lines at body indentation
    local file=$1
    shift
    {
        echo "from tvm_tirx.script import tirx as T"
        echo "@T.function"
        echo "def k(A: T.Tensor((64,), 'float32'), B: T.Tensor((64,), 'float32')):"
        echo "    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(64,)))"
        echo "    tx = T.cuda.thread_idx('x')"
        printf '    %s\n' "$@"
    } >"$file"
}
make_npy() { # file, shape text, float count
    { printf '\223NUMPY\1\0'
      header="{'descr': '<f4', 'fortran_order': False, 'shape': $2, }"
      padded=$(printf '%-117s' "$header")
      printf '\166\0%s\n' "$padded"
      head -c $(($3 * 4)) /dev/zero; } >"$1"
}
build_cuda="$tirc build"

printf 'def k(:\n' >syntax.py
try "wrong syntax" 1 'syntax.py:1:[0-9]+: error: .*\[T01' $build_cuda syntax.py --format line -o out/k.cu
printf 'x = (1,\ny = 2\ndef f(\n' >open.py
try "unclosed bracket" 1 'open.py:[0-9]+:[0-9]+: error: .*\[T01' $build_cuda open.py --format line -o out/k.cu
kernel names.py 'B[tx] = unknown + A[tx]' 'B[tx] = other'
try "unknown names, both reported" 1 'names.py:7:.*other' $build_cuda names.py --format line -o out/k.cu
kernel arity.py 'B[tx] = T.max(A[tx])'
try "wrong arity" 1 'arity.py:6:[0-9]+: error: .*\[T02' $build_cuda arity.py --format line -o out/k.cu
kernel dtype.py 'x: T.let = T.float33(1)' 'B[tx] = 1'
try "unknown dtype" 1 'dtype.py:6:[0-9]+: error: .*\[T02' $build_cuda dtype.py --format line -o out/k.cu
kernel rank.py 'B[tx, 0] = A[tx]'
try "rank mismatch" 1 'rank.py:6:[0-9]+: error: .*\[T02' $build_cuda rank.py --format line -o out/k.cu
kernel let.py 'x: T.let = tx * 2' 'x = 3' 'B[tx] = A[x]'
try "store to a let" 1 'let.py:7:[0-9]+: error: .*\[T02' $build_cuda let.py --format line -o out/k.cu
kernel arena.py "a = T.alloc_tensor(ty_args=[T.Tensor((8,), 'float32', scope='shared.dyn')])" \
    "b = T.alloc_tensor(ty_args=[T.Tensor((8,), 'float32', scope='shared.dyn')])" 'a[0] = b[0]' 'B[tx] = a[0]'
try "second dynamic arena" 1 'arena.py:7:[0-9]+: error: .*\[T0' $build_cuda arena.py --format line -o out/k.cu
kernel good.py 'B[tx] = A[tx]'
try "missing --arg" 1 'parameter `A` .*is not given \[T0805\]' "$tirc" run good.py --out B=out/b.npy --format line
make_npy short.npy '(63,)' 63
try "mis-shaped --arg" 1 '\[T0806\]' "$tirc" run good.py --arg A=short.npy --out B=out/b.npy --format line
make_npy cut.npy '(64,)' 40
try "truncated .npy" 1 'cut short.*\[T0818\]' "$tirc" run good.py --arg A=cut.npy --out B=out/b.npy --format line
printf 'not a npy' >junk.npy
try "not a .npy" 1 '\[T0817\]' "$tirc" run good.py --arg A=junk.npy --out B=out/b.npy --format line
try "unknown parameter" 1 '\[T0803\]' "$tirc" run good.py --arg C=zeros --arg A=zeros --out B=out/b.npy --format line
try "no such file" 1 'T0819' "$tirc" run nothing.py
try "a folder as input" 1 'T0819' "$tirc" run .
try "unknown option" 2 'T0901' "$tirc" run good.py --nothing
try "unknown command" 2 'T0901' "$tirc" nothing
try "missing value" 2 'T0901' "$tirc" run good.py --arg
try "unknown entry" 1 'T0[28]' "$tirc" build good.py:other -o out/k.cu
: >empty.py
try "empty script run" 1 'empty.py:1:1: error: .*T0206|\[T0206\]' "$tirc" run empty.py
"$tirc" build good.py --emit ptx -o good.ptx 2>/dev/null
head -c $(($(wc -c <good.ptx) / 2)) good.ptx >half.ptx
try "PTX cut in the middle" 1 'half.ptx:[0-9]+:[0-9]+: error: .*\[T05' "$tirc" build half.ptx --emit ptx --format line -o out/k.ptx
head -c 65536 /dev/zero >zero.ptx
try "PTX of NUL bytes" 1 'T05' "$tirc" build zero.ptx --emit ptx -o out/k.ptx
head -c 65536 /dev/zero >zero.py
try "script of NUL bytes" 1 'T01' "$tirc" build zero.py -o out/k.cu
{ printf 'x = '; printf '(%.0s' $(seq 1000); printf '1'; printf ')%.0s' $(seq 1000); echo; } >deep.py
try "1000-deep expression" 1 'deep.py:1:[0-9]+: error: .*\[T01' $build_cuda deep.py --format line -o out/k.cu
{ printf 'from tvm_tirx.script import tirx as T\n@T.function\ndef k(B: T.Tensor((1,), "int32")):\n'
  printf '    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(1,)))\n    B[0] = '
  printf '(B[0] + %.0s' $(seq 150); printf '1'; printf ')%.0s' $(seq 150); echo; } >nest.py
"$tirc" build nest.py -o nest.cu >log.err 2>&1
got=$?
number=$((number + 1))
if [ $got -eq 0 ]; then echo "ok $number - a 150-deep expression is fine"; else echo "not ok $number - 150-deep expression"; head -5 log.err; bad=1; fi
{ printf 'x = ['; head -c 10000000 /dev/zero | tr '\0' '1'; echo; } >line.py
try "10 MB line" 1 'line.py:1:[0-9]+: error: .*\[T0' $build_cuda line.py --format line -o out/k.cu
kernel endless.py 'i: T.int32 = 0' 'while i < 1:' '    B[tx] = A[tx]'
try "endless kernel meets its step limit" 3 'T0715' "$tirc" run endless.py --arg A=zeros --arg B=zeros --steps 100000
kernel barrier.py 'if tx < 32:' '    T.cuda.cta_sync()' 'B[tx] = A[tx]'
"$tirc" run barrier.py --arg A=zeros --arg B=zeros >log.err 2>&1 # exited threads release a barrier: allowed to be clean
cat >deadlock.ptx <<'P'
.version 8.0
.target sm_90
.address_size 64
.visible .entry k()
{
	.reg .pred %p;
	.reg .u32 %r;
	mov.u32 %r, %tid.x;
	setp.lt.u32 %p, %r, 32;
	@%p bra L1;
	bar.sync 1, 64;
	bra L2;
L1:
	bar.sync 2, 64;
L2:
	ret;
}
P
try "deadlock at a barrier" 1 'T0709' "$tirc" run deadlock.ptx --grid 1 --block 64
kernel huge.py 'B[tx] = A[tx]'
sed -i 's/grid=(1,)/grid=(2147483648,)/' huge.py
try "grid of 2^31 CTAs" 1 'huge.py:4:[0-9]+.*T0251|\[T0251\]' "$tirc" run huge.py --arg A=zeros --arg B=zeros
kernel bounds.py 'B[tx + 1] = A[tx]'
try "store past the end" 1 'bounds.py:6:[0-9]+: error: .*`B\[64\]` is outside axis 0 of `B` \(extent 64\).*\[T0702\]' \
    "$tirc" run bounds.py --arg A=zeros --arg B=zeros --format line
kernel tile.py 'T.ptx.tcgen05.wait__ld.sync.aligned()'
try "a word of a later version" 3 'tile.py:6:[0-9]+: error: .*\[T0299\]' "$tirc" build tile.py --format line -o out/k.cu
try "--on cuda" 3 'T0903' "$tirc" run good.py --arg A=zeros --arg B=zeros --on cuda
echo "1..$number"
exit $bad
