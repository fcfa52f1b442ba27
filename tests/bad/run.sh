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
kernel zero.py 'n: T.let = tx - tx' 'B[tx // n] = A[0]' 'if tx == 0:' '    B[5 % tx] = A[0]' 'B[tx] = A[tx // 0]'
try "case F: constant zero as a divisor" 1 'zero.py:10:[0-9]+: error: .*\[T02' $build_cuda zero.py --format line -o out/k.cu
kernel certain.py 'n: T.let = tx - tx' 'B[tx // n] = A[0]' 'if tx == 0:' '    B[5 % tx] = A[0]'
try "divisors that are certainly 0" 0 'certain.py:7:5: warning: .*T0350' $build_cuda certain.py --format line -o k.cu
try "divisors that are 0 under the guard" 0 'certain.py:9:9: warning: .*T0350' $build_cuda certain.py --format line -o k.cu
kernel shifts.py 'B[tx << 40 >> 2] = A[0]' 'B[tx >> (tx + 32)] = A[0]'
try "shift out of the width" 0 'shifts.py:7:5: warning: .*32 bits of int32 out.*T0351' $build_cuda shifts.py --format line -o k.cu
kernel over.py 'for i in T.serial(320):' '    B[i * 7864320] = A[0]'
try "case F10: an int32 index that overflows is told" 0 'over.py:7:9: warning: .*reaches 2508718080.*T0352' $build_cuda over.py --format line -o k.cu
kernel f10.py 'i: T.let = tx + 256' 'if tx == 63:' '    B[i * 7864320] = A[0]'
try "case F10: the access it leads to is reported" 1 'f10.py:8:9: error: .*outside.*T0702' $tirc run f10.py --arg A=ones --arg B=zeros --format line
kernel f10c.py 'B[319 * 7864320] = A[0]'
try "case F10: as a constant the index has 64 bits, and is reported" 1 'f10c.py:6:5: error: .B.2508718080.. is outside.*T0702' $tirc run f10c.py --arg A=ones --arg B=zeros --format line
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
cat >factory.py <<'E1'
from tvm.script import tirx as T
def make(M, N=2):
    if M > 9:
        return M
    @T.prim_func
    def inner(A: T.Buffer((M, N), "int32")):
        A[0, 0] = 1
    return inner
E1
try "factory without its constants" 1 "factory.py:2:5: error: 'make' needs a value for M \[T0381\]" $build_cuda factory.py --format line -o out/k.cu
try "factory that gives no kernel" 1 "factory.py:2:5: error: 'make' gives an int, not a kernel \[T0383\]" \
    $build_cuda factory.py:make -D M=12 --format line -o out/k.cu
{ cat factory.py; printf '@T.jit\ndef k(A: T.Buffer((K,), "int32"), *, K: T.constexpr):\n    A[0] = K\n'; } >two.py
try "two candidates" 1 'the file has 2 functions that make a kernel \[T0382\]' $build_cuda two.py --format line -o out/k.cu
try "template without its constants" 1 "two.py:10:5: error: 'k' needs a constant for K \[T0384\]" $build_cuda two.py:k --format line -o out/k.cu
cat >class.py <<'E2'
from tvm.script import tirx as T
class P:
    pass
class Q:
    pass
class R(P, Q):
    pass
@T.meta_class
class C:
    def __init__(self):
        T.alloc_local((4,), "float32")
@T.inline
def leave(x):
    if x > 0:
        return
@T.prim_func
def k(A: T.Buffer((4,), "int32"), n: T.int32):
    c = C()
    leave(n)
E2
try "two bases" 1 "class.py:6:12: error: 'R' has a second base class; one is possible \[T0386\]" $build_cuda class.py --format line -o out/k.cu
try "tensor that no field holds" 1 'class.py:11:9: error: the constructor of .C. allocates .* \[T0380\]' $build_cuda class.py --format line -o out/k.cu
try "return out of the middle of an inline function" 1 'class.py:15:9: error: return under a branch .* \[T0385\]' \
    $build_cuda class.py --format line -o out/k.cu
printf 'def f(n):\n    return f(n + 1)\nf(0)\n' >deep.py
try "recursion without an end" 1 'deep.py:2:[0-9]+: error: calls nested over .* \[T0281\]' $build_cuda deep.py --format line -o out/k.cu
printf 'while True:\n    pass\n' >spin.py
try "loop without an end" 1 'spin.py:.*: error: evaluation of the script took too many steps \[T0280\]' $build_cuda spin.py --format line -o out/k.cu
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
try "a word too many" 2 '`more.py` is one word too many' "$tirc" run good.py more.py
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
# a kernel with one mbarrier: file, instructions
barrier_kernel() {
    cat >"$1" <<P
.version 9.0
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 p0)
{
	.reg .pred %p<4>;
	.reg .b32 %r<9>;
	.reg .b64 %rd<9>;
	.shared .align 8 .b64 bar;
	.shared .align 4 .b32 tile[64];
	ld.param.u64 %rd1, [p0];
	mov.u32 %r1, %tid.x;
	setp.eq.u32 %p1, %r1, 0;
	@%p1 mbarrier.init.shared.b64 [bar], 64;
	bar.sync 0;
$2
	ret;
}
P
}
barrier_kernel early.ptx '	@%p1 mbarrier.arrive.shared.b64 %rd2, [tile];'
try "arrival at no mbarrier" 1 'early.ptx:16:.*holds no mbarrier here \[T0765\]' \
    "$tirc" run early.ptx --grid 1 --block 64 --arg 0=zeros@int32:64 --format line
barrier_kernel many.ptx '	@%p1 mbarrier.arrive.shared.b64 %rd2, [bar], 65;'
try "too many arrivals" 1 'many.ptx:16:.*\[T0766\]' \
    "$tirc" run many.ptx --grid 1 --block 64 --arg 0=zeros@int32:64 --format line
barrier_kernel hang.ptx '	@%p1 bra L2;
	mbarrier.arrive.shared.b64 %rd2, [bar];
L1:
	mbarrier.try_wait.shared.b64 %p2, [bar], %rd2;
	@!%p2 bra L1;
L2:'
try "deadlock at an mbarrier" 1 'for phase 0: 1 of 64 arrivals and 0 bytes are missing; initialised in line 14, arrivals so far come from line 17; waits, line 19' \
    "$tirc" run hang.ptx --grid 1 --block 64 --arg 0=zeros@int32:64
barrier_kernel race.ptx '	shl.b32 %r2, %r1, 2;
	mov.u32 %r3, tile;
	add.u32 %r4, %r3, %r2;
	st.shared.u32 [%r4], %r1;
	sub.u32 %r5, 252, %r2;
	add.u32 %r5, %r5, %r3;
	ld.shared.u32 %r6, [%r5];
	cvt.u64.u32 %rd2, %r2;
	add.s64 %rd1, %rd1, %rd2;
	st.global.u32 [%rd1], %r6;'
try "result that depends on the schedule" 1 '`p0` depends on the schedule: under `late` .*\[T0780\]' \
    "$tirc" run race.ptx --grid 1 --block 64 --arg 0=zeros@int32:64 --schedule all
try "cluster that does not divide the grid" 1 "race.ptx:4:.*grid.x is 3, which is no multiple of the cluster's 2 \\[T0701\\]" \
    "$tirc" run race.ptx --grid 3 --block 64 --cluster 2 --arg 0=zeros@int32:64 --format line
try "cluster larger than the machine" 1 'T0701' \
    "$tirc" run race.ptx --grid 8 --block 64 --cluster 4 --sms 2 --arg 0=zeros@int32:64
try "unknown schedule" 2 'tmem-load' "$tirc" run race.ptx --grid 1 --block 64 --schedule late:never
try "unknown numerics" 2 'numerics' "$tirc" run race.ptx --grid 1 --block 64 --numerics fast
try "unknown base of tensor memory" 2 'tmem-base' "$tirc" run race.ptx --grid 1 --block 64 --tmem-base 33
kernel huge.py 'B[tx] = A[tx]'
sed -i 's/grid=(1,)/grid=(2147483648,)/' huge.py
try "grid of 2^31 CTAs" 1 'huge.py:4:[0-9]+.*T0251|\[T0251\]' "$tirc" run huge.py --arg A=zeros --arg B=zeros
kernel bounds.py 'B[tx + 1] = A[tx]'
try "store past the end" 1 'bounds.py:6:[0-9]+: error: .*`B\[64\]` is outside axis 0 of `B` \(extent 64\).*\[T0702\]' \
    "$tirc" run bounds.py --arg A=zeros --arg B=zeros --format line
kernel frame.py 'with T.If(tx < 3):' '    A[tx] = 1.0' 'with T.Else():' '    A[tx] = 2.0' 'T.While(tx < 3)' 'with T.serial(3):' '    A[tx] = 1.0' 'with tx:' '    A[tx] = 1.0'
for at in '6:10: error: T.If without T.Then' '8:10: error: T.Else not directly in T.If' '10:5: error: a frame that no with opens' '11:10: error: with a loop and no name' '13:10: error: with opens a frame; this is a value of type int32'; do
    try "a builder's frame out of place: $at" 1 "frame.py:$at.*\\[T0288\\]" "$tirc" build frame.py --format line -o out/k.cu
done
kernel sides.py 'with T.If(tx < 3):' '    with T.Then():' '        A[tx] = 1.0' '    A[tx] = 3.0' 'with T.If(tx < 3) as c:' '    with T.Then():' '        A[tx] = 1.0' '    with T.Then():' '        A[tx] = 2.0'
for at in '6:10: error: a statement directly in T.If' '13:14: error: a second T.Then' '10:26: error: this frame gives no value'; do
    try "sides of a builder's if: $at" 1 "sides.py:$at.*\\[T0288\\]" "$tirc" build sides.py --format line -o out/k.cu
done
kernel roles.py 'w = T.cuda.warp_id()' 'with T.WarpRole(w, "x"):' '    A[tx] = 1.0' 'with T.WarpRole(w, 1, increase=tx):' '    A[tx] = 1.0' 'with T.WarpgroupRole(w, (0, 1, 2)):' '    A[tx] = 1.0' 'T.WarpRole(w, 1)'
for at in '7:[0-9]+: error: a string is not a value .*T0205' '9:36: error: the direction of the register change must be a constant .*T0210' '11:[0-9]+: error: a tuple is not a value' '13:5: error: a frame that no with opens .*T0288'; do
    try "a role of warps that is none: $at" 1 "roles.py:$at" "$tirc" build roles.py --format line -o out/k.cu
done
kernel later.py 'for i in range(3):' '    A[i] = 1.0' 'else:' '    A[i] = 2.0' 'n = m = 3' 'try:' '    A[1] = 1.0' 'finally:' '    pass' 'match 3:' '    case 3:' '        pass' 'raise ValueError("x")' 'class X:' '    pass'
for what in 'else of a loop.*set a scalar' 'a chained assignment.*one assignment for each' 'a try statement.*no exceptions' 'match.*if and elif' 'raise.*trap_when_assert_failed' 'a class inside a kernel.*before the kernel'; do
    number=$((number + 1))
    "$tirc" build later.py --format json >log.out 2>log.err
    if [ $? -eq 3 ] && cat log.out log.err | tr '{' '\n' | grep -q "$what"; then echo "ok $number - what to write instead: $what"
    else echo "not ok $number - what to write instead: $what"; head -c 600 log.err | sed 's/^/# /'; bad=1; fi
done
kernel twice.py 'T.func_attr({"tirx.noalias": True})' 'T.func_attr({"global_symbol": "k", "tirx.noalias": False})'
try "an attribute of the function set twice" 1 "twice.py:7:[0-9]+: error: the function's attribute 'tirx.noalias' is set twice \\[T0289\\]" "$tirc" build twice.py --format line -o out/k.cu
kernel given.py 'with T.block("root"):' '    v = T.axis.spatial(3, tx)' '    A[tx] = T.BufferLoad(B, [tx])' 'T.ret(0)'
for at in '6:[0-9]+: error: a kernel script has no block' '7:[0-9]+: error: a kernel script has no axis' '8:[0-9]+: error: a kernel script has no BufferLoad' '9:[0-9]+: error: a kernel script has no ret'; do
    try "a word of the IR: $at" 1 "given.py:$at.*\\[T0282\\]" "$tirc" build given.py --format line -o out/k.cu
done
try "what to write for it" 1 'instead: buffer\[indices\]' "$tirc" build given.py -o out/k.cu
kernel library.py 'pool = T.SMEMPool()' 'bar = T.MBarrier(pool, 2)' 'pool.commit()' 'bar.remote_view(1).wait(0, 0)' 'bar.wait(0, "x")'
for line in 9 10; do
    try "an error in the dialect's library names the caller's line $line" 1 "library.py:$line:5: note: called from here" "$tirc" build library.py -o out/k.cu
done
kernel tile.py 'pool = T.call_packed(1)'
try "a word of a later version" 3 'tile.py:6:[0-9]+: error: .*\[T0299\]' "$tirc" build tile.py --format line -o out/k.cu
try "--on cuda without a driver" 3 'T0910' env TIRC_LIBCUDA=none "$tirc" run good.py --arg A=zeros --arg B=zeros --on cuda
echo "1..$number"
exit $bad
