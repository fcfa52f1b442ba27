#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compile-time Python from outside: public failure cases E and H, run and as constants; factories and templates from the
# command line; what a wrong script is told, all of it in one run. Prints TAP.
# covers: A41-A51
set -u
cd "$(dirname "$0")/../.." || exit 2
root=$PWD tirc=$PWD/${TIRC_BUILD:-build/test}/tirc
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
export NO_COLOR=1
number=0 bad=0
say() {
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then echo "ok $number - $2"; else
        echo "not ok $number - $2"
        head -n 20 log | sed 's/^/# /'
        bad=1
    fi
}
# kernel FILE BODY: n is an int32 of the launch, A and B 16 floats, C 16 int32, one thread
kernel() {
    {
        printf '%s\n' 'from tvm.script import tirx as T' '' '@T.prim_func' \
            'def k(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32"), C: T.Buffer((16,), "int32"), n: T.int32):' \
            '    T.device_entry()' '    bx = T.cta_id([1])' '    tx = T.thread_id([1])'
        sed 's/^/    /' <<<"$2"
    } >"$1.py"
}
# gives NAME BODY LINE...: the run says nothing on the way and shows these lines
gives() {
    local name=$1
    kernel case "$2"
    shift 2
    printf '%s\n' "$@" >want
    "$tirc" run case.py --arg A=arange --arg B=zeros --arg C=zeros --arg n=3 --show B --show C >got 2>log
    local status=$?
    cat got >>log
    [ $status -eq 0 ] && while read -r line; do grep -q -F -e "$line" got || { echo "no: $line" >>log; false; break; }; done <want
    say $? "$name"
}
# told NAME STATUS FILE[:ENTRY] OPTIONS -- LINE...: exactly these diagnostics, "LINE:COLUMN CODE words", in this order
told() {
    local name=$1 want_status=$2 file=$3 options=()
    shift 3
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    shift
    timeout 20 "$tirc" check "$file" --format line "${options[@]}" >log 2>&1
    local status=$? line at
    [ $status -eq "$want_status" ] && [ "$(grep -c '\[T[0-9]*\]$' log)" -eq $# ]
    local good=$?
    at=0
    for line in "$@"; do
        at=$((at + 1))
        # places of -D are not in the file
        sed -n "$at"p <(grep '\[T[0-9]*\]$' log) | sed -E 's/^[^:]*:([0-9]+:[0-9]+): (error|warning|note): (.*) \[(T[0-9]+)\]$/\1 \4 \3/' |
            grep -q -F -e "$line" || { echo "wanted: $line" >>log; good=1; }
    done
    say $good "$name"
}

# ---- failure cases E, run
gives "case E01: a loop binds a fresh name, the scalar from before stays (as constants)" 'd: T.int32 = 5
for e in range(3):
    C[e] = e
C[4] = d' 'C = int32[16]: 0 1 2 0 5 0'
kernel case 'd: T.int32 = 5
for d in range(n):
    C[d] = d
C[4] = d'
"$tirc" run case.py --arg A=zeros --arg B=zeros --arg C=zeros --arg n=3 --show C >log 2>&1 &&
    grep -q 'T0226' log && grep -q 'C = int32\[16\]: 0 1 2 0 5 0' log
say $? "case E01: a loop binds a fresh name, the scalar from before stays, and a warning says so"
kernel case 'v: T.let = 3
w: T.let = n * 2
if n > 2:
    v = 0
    w = 0
v += 1'
told "case E02: a let is not bound again, constant or not" 1 case.py -- \
    "11:9 T0221 'v' cannot be assigned" "12:9 T0221 'w' cannot be assigned" "13:5 T0220 'v' cannot be assigned"
gives "case E04: a let of a load is read once, where it stands" 't: T.let = T.max(A[n], 1.0)
A[n] = t * 2.0
B[0] = t / 2.0
u: T.let = T.max(A[n], T.float32(1))
B[1] = u' 'B = float32[16]: 1.5 6 0'
gives "case E04: a scalar of a load keeps what it read" 't: T.float32 = T.max(A[4], 1.0)
A[4] = t * 2.0
B[0] = t / 2.0
B[1] = A[4]' 'B = float32[16]: 2 8 0'
gives "case E05: on a scalar and an element it is read, modify, write" 's: T.int32 = 7
s -= 1
s *= n
C[0] = s
C[1] = 10
C[1] -= 1
C[1] <<= 2
A[n] /= 2.0
B[0] = A[n]' 'B = float32[16]: 1.5 0' 'C = int32[16]: 18 36 0'
# what no path can have written, wherever it stands; once for each, at its first read
kernel case 's: T.int32
C[0] = s
C[1] = s
t = T.local_scalar("float32")
A[0] = t + 1.0
r = T.alloc_local((4,), "float32")
A[1] = r[2]
u: T.int32
u += 1
x: T.int32
if n > 2:
    C[2] = x
else:
    x = 1
y: T.int32
while y < 3:
    y += 1
z: T.int32
for i in range(n):
    z += i
for i in range(n):
    w: T.int32
    if i > 1:
        C[3] = w
q: T.int32
for i in range(3):
    if i > 1:
        C[4] = q
q = 1
p: T.int32
v: T.let = T.if_then_else(n > 2, p, 0)
C[5] = v
a: T.int32
for i in range(4):
    for j in range(4):
        a = a + j
    C[6] = a'
told "case E07: scalars that nothing can have written before they are read" 0 case.py -- \
    "9:5 T0353 's' is read, and nothing is ever written to it" "12:5 T0353 't' is read, and nothing" "14:5 T0353 'r' is read, and nothing" \
    "16:5 T0353 'u' is read before anything is written to it" "19:9 T0353 'x' is read before" "23:5 T0353 'y' is read before" \
    "27:9 T0353 'z' is read before" "31:13 T0353 'w' is read, and nothing" "35:13 T0353 'q' is read before" \
    "38:5 T0353 'p' is read, and nothing" "43:13 T0353 'a' is read before"
kernel case 's: T.int32
if n > 2:
    s = 1
C[0] = s
t: T.int32
for i in range(n):
    if i > 0:
        C[i] = t
    t = i
u: T.int32
for i in range(n):
    u = T.if_then_else(i == 0, n, u + i)
C[1] = u
v: T.int32
for i in range(n):
    if i == 0:
        v = 1
        continue
    C[2] = v
w: T.int32
for i in range(n):
    for j in range(i):
        C[3] = w
    w = i
x = T.alloc_local((4,), "int32")
for i in T.unroll(4):
    x[i] = i
C[4] = x[3]
y = T.local_scalar("int32")
T.ptx.mov.b32(y, 7)
C[5] = y
z = T.alloc_local((2,), "float32")
T.ptx.ld.global_.v2.f32(z[0], z[1], A.data)
B[0] = z[1]
q = T.alloc_local((1,), "int32")
view = T.decl_buffer((1,), "int32", data=q.data)
view[0] = 3
C[6] = q
r = T.local_scalar("int32")
T.evaluate(T.cuda.func_call("set", T.address_of(r), "__device__ void set(int* p) { *p = 1; }"))
C[7] = r
f: T.int32
while n > 100:
    if n > 200:
        break
    f = 1
    C[8] = f
g: T.bool
for i in range(n):
    if i > 0 and g:
        C[9] = 1
    g = i > 1'
told "case E07: scalars that some path may have written" 0 case.py --
kernel case 'n: T.int32 = 4
r = T.alloc_local((4,), "float32")
r = 3
A = 3
for i in range(3):
    for i in range(2):
        C[i] = n
v: T.let = 1
if (v := 2) > 1:
    C[0] = v'
told "names that hide others" 1 case.py -- "8:5 T0389 this 'n' is new, and hides the parameter" \
    "10:5 T0389 this 'r' is a new scalar; from here on it hides the tensor" "11:5 T0389 this 'A' is a new scalar" \
    "13:13 T0226 the loop variable 'i' hides the 'i' from before" "16:9 T0221 'v' cannot be assigned"
kernel case 'if n > 2:
    return
    C[0] = 1
else:
    return
C[1] = 1
for i in range(3):
    if i > 1:
        break
    else:
        continue
    C[2] = 2
while True:
    C[0] = 3
    if n > 7:
        break
C[4] = 1
while True:
    C[0] = 3
C[5] = 1'
told "code that is never reached" 0 case.py -- "10:9 T0388 this is never reached" "13:5 T0388" "19:9 T0388" "27:5 T0388"
kernel case 'v: T.let = 3
v -= 1
w: T.let = n
w -= 1
for i in range(4):
    i += 1
n += 1'
told "case E05: on a let, a loop variable and a parameter it is an error" 1 case.py -- \
    "9:5 T0220 'v'" "11:5 T0220 'w'" "13:9 T0224 'i'" "14:5 T0223 'n'"
for spelling in 's: T.int32 = n' $'s = T.local_scalar("int32")\ns = n' $'s = T.alloc_local((1,), "int32")\ns[0] = n' 's = n + 0'; do
    kernel case "$spelling"$'\ns = s * 2\nC[0] = s'
    "$tirc" build case.py --emit cuda 2>log | sed 's/alignas([0-9]*) //' >"cuda$number"
    "$tirc" build case.py --emit tir >"tir$number" 2>>log
    "$tirc" run case.py --arg A=zeros --arg B=zeros --arg C=zeros --arg n=3 --show C 2>>log | grep -q 'C = int32\[16\]: 6 0' &&
        { [ $number -eq ${first:=$number} ] || { diff "cuda$first" "cuda$number" && diff "tir$first" "tir$number"; } >>log; }
    say $? "case E08: one scalar, whatever its spelling: $(head -n 1 <<<"$spelling")"
done
kernel case 'a: T.let[T.int32] = 2.75
b: T.let[T.int32] = A[n] + 0.5
c: T.let[T.int32] = T.cast(A[n], "int32")
d: T.let[T.float32] = n
C[0] = a + b + c'
told "case E12: a float bound to a let of an integer is a warning too" 0 case.py -- "8:25 T0235 the let 'a' of int32 is bound to a float" \
    "9:25 T0235 the let 'b' of int32"
kernel case 'global s
nonlocal t
C[0] = 1'
told "global and nonlocal are no statements of a kernel" 1 case.py -- "8:5 T0282 a global statement in a kernel" "9:5 T0282 a nonlocal statement"
kernel case 'C[0] = A[n] + 0.5
C[1] = -2.75
C[2] = T.cast(A[n] + 0.5, "int32")'
"$tirc" run case.py --arg A=arange --arg B=zeros --arg C=zeros --arg n=3 --show C --format line >log 2>&1 &&
    grep -q "case.py:8:[0-9]*: warning: kernel 'k' stores float32 into 'C' of int32.*T0235" log && grep -q "case.py:9:.*T0235" log &&
    ! grep -q 'case.py:10:' log && grep -q 'C = int32\[16\]: 3 -2 3 0' log
say $? "case E12: a float stored into an integer is truncated toward zero, and the warning has its place and both types"
gives "case E13: a while loop over a halving scalar" 's: T.int32 = 128
rounds: T.int32 = 0
total: T.int32 = 0
while s >= 1:
    for i in range(s, 2 * s):
        total += i
    rounds += 1
    s //= 2
C[0] = rounds + 1
C[1] = s
C[2] = total' 'C = int32[16]: 9 0 32640 0'
cat >case.py <<'E2'
from tvm.script import tirx as T


def halving(s):
    rounds, total = 0, 0
    while s >= 1:
        total += sum(range(s, 2 * s))
        rounds += 1
        s //= 2
    return rounds + 1, s, total


@T.prim_func
def k(C: T.Buffer((16,), "int32")):
    T.device_entry()
    tx = T.thread_id([1])
    for i in T.unroll(1):
        C[0] = halving(128)[0]
        C[1] = halving(128)[1]
        C[2] = halving(128)[2]
E2
"$tirc" run case.py --arg C=zeros --show C >log 2>&1 && grep -q 'C = int32\[16\]: 9 0 32640 0' log
say $? "case E13: the same while compiling"
# ---- packed pairs, to the bit: 1.00390625 lies half way between two bfloat16, and 12 * i has its lowest bit at 3, 4, 3
gives "packed pairs of float32 and bfloat16" 'p: T.uint64 = T.cuda.make_float2(A[1], A[n])
q: T.uint64 = T.cuda.fmul2_rn(p, T.cuda.fadd2_rn(p, p))
B[0] = T.cuda.float2_x(p)
B[1] = T.cuda.float2_y(p)
B[2] = T.cuda.float2_x(q)
B[3] = T.cuda.float2_y(q)
u: T.uint32 = T.cuda.float22bfloat162_rn_from_float2(q)
w: T.uint64 = T.cuda.bfloat1622float2(u)
B[4] = T.cuda.float2_x(w)
B[5] = T.cuda.float2_y(w)
B[6] = T.cuda.uint_as_float(T.cuda.float_as_uint(A[5]))
C[0] = T.reinterpret("int32", T.cuda.float22bfloat162_rn(1.00390625, -2.0))
for i in range(4):
    C[1 + i] = T.cuda.ffs_u32(T.uint32(12) * T.cast(i, "uint32"))' 'B = float32[16]: 1 3 2 18 2 18 5 0' 'C = int32[16]: -1073725568 0 3 4 3 0'
# ---- H
kernel asm 's = T.alloc_shared((4,), "uint64")
x: T.uint32 = 0
T.ptx.mbarrier.init.shared.b64(s.ptr_to([0]), 32)
T.ptx.fence.mbarrier_init.release.cluster()
T.ptx.bar.sync(0)
T.ptx.ld.global_.b32(x, A.ptr_to([n]))
T.ptx.st.global_.b32(C.ptr_to([0]), x)'
for example in asm.py "$root"/examples/*.py; do "$tirc" build "$example" --emit cuda 2>/dev/null; done >all.cu
# every asm statement from its first word to its semicolon, on one line
tr '\n' ' ' <all.cu | grep -o -E '\basm\b[^;]*("[^"]*"[^;"]*)*;' >asm.txt
for word in mbarrier.init fence.mbarrier_init bar.sync ld.global.b32 st.global.b32; do grep -q -F "$word" asm.txt || echo "no asm with $word"; done >log
{ grep -v -E '^asm volatile' asm.txt; grep -v -F ': "memory")' asm.txt; } >>log
[ ! -s log ] && [ -s asm.txt ]
say $? "case H01: every asm statement of the CUDA text is volatile and clobbers memory"
kernel case 'x: T.uint32 = 0
T.ptx.ld.shard.b32(x, x)
T.ptx.addd.u32(x, x, x)
T.ptx.sync.bar(1)
T.ptx.add.rz.u32(x, x, x)
T.ptx.ld.global_.global_.b32(x, A.data)
T.ptx.lop3.b32(x, x, x, x, 256)
T.ptx.cp.async_.wait_group(-1)
T.ptx.setmaxnreg.inc.sync.aligned.u32(25)'
told "instructions that PTX does not have, and constants out of their range" 1 case.py -- \
    "9:5 T0519 T.ptx \`ld.shard.b32\`: \`.shard\` is no modifier" "10:5 T0519 T.ptx \`addd.u32\`" "11:5 T0519" \
    "12:5 T0519 T.ptx \`add.rz.u32\`: \`.rz\` is not a modifier" "13:5 T0519" "14:5 T0518 \`lop3.b32\`: operand 5 is 256; it is 0 to 255" \
    "15:5 T0518 \`cp.async.wait_group\`: operand 1 is -1; it is not negative" "16:5 T0518"
"$tirc" check case.py >log 2>&1
for words in 'help: did you mean `.shared`? accepted: ld{.weak}' 'help: did you mean `add`?' "help: the instruction's name stands first: \`bar\`" \
    'help: accepted: add.{u16,u32,u64,s16,s32,s64} d, a, b; add.cc.{u32,s32,u64,s64} d, a, b; and 8 forms more of add'; do
    grep -q -F -e "$words" log
    say $? "the help: $words"
done
kernel case 'T.cuda.printf("%d\n", A[0])
T.cuda.printf("%f\n", n)
T.cuda.printf("%s\n", n)
T.cuda.printf("%d\n", "text")
T.cuda.printf("%p\n", n)
T.cuda.printf("%d\n", A.data)
T.cuda.printf("%*d\n", n)
T.cuda.printf("%*d\n", A[0], n)
T.cuda.printf("%lld\n", n)
T.cuda.printf("%d\n", T.int64(n))
T.cuda.printf("%5.1f|%-*d|%s|%c|%x|%lld|%u|%%\n", A[1], 4, n, "text", 65, n, T.int64(1) << 40, T.uint8(7))'
told "printf reads what it is given" 1 case.py -- "8:27 T0247 %d takes an integer, not float32" "9:27 T0247 %f takes a float, not int32" \
    "10:27 T0247 %s takes a text or a pointer to one" "11:27 T0247 %d takes an integer, not a text" "12:27 T0247 %p takes a pointer" \
    "13:27 T0247 %d takes an integer" "14:5 T0247 the format takes 2 values, 1 is given" "15:28 T0247 %* takes an integer, a width" \
    "16:29 T0247 %lld reads 64 bits, and the value is int32" "17:27 T0247 %d reads 32 bits, and the value is int64"
kernel case 'T.cuda.printf("%5.1f|%-*d|%s|%c|%x|%lld|%u|%%\n", A[1], 4, n, "text", 65, n, T.int64(1) << 40, T.uint8(7))'
"$tirc" run case.py --arg A=arange --arg B=zeros --arg C=zeros --arg n=3 >log 2>&1 && grep -q -x -F '  1.0|3   |text|A|3|1099511627776|7|%' log
say $? "printf prints as C does"
kernel case 'T.attr({"tirx.max_registers": 64, "tirx.launch_bounds_min_blocks_per_sm": 2})
C[0] = 1'
told "case H07: a register cap beside launch bounds is refused" 1 case.py -- "8:12 T0251 a register cap together with launch bounds"

# ---- factories and templates from the command line
run_factory() { # NAME STATUS WORDS COMMAND...
    local name=$1 want_status=$2 words=$3
    shift 3
    "$tirc" "$@" >log 2>&1
    local status=$?
    [ $status -eq "$want_status" ] && grep -q -F -e "$words" log
    say $? "$name"
}
factory=$root/examples/factory_gemm.py template=$root/examples/softmax_template.py
run_factory "FILE:FACTORY with -D" 0 'C = float32[64, 64]: 666624 667120' run "$factory:gemm" -D M=64 -D N=64 -D K=32 \
    --arg A=arange --arg B=arange --show C
run_factory "the only candidate needs no name" 0 'C = float32[32, 32]:' run "$factory" -D M=32 -D N=32 -D K=16 \
    --arg A=arange --arg B=arange --show C
run_factory "a factory without its constants" 1 "'gemm' needs a value for M, N, K [T0381]" check "$factory:gemm"
run_factory "a constant that nothing takes" 1 'did you mean -D depth=...?' check "$factory" -D M=32 -D N=32 -D K=16 -D dept=3
run_factory "a factory that raises" 1 'M=33 is no multiple of the tile, 32 [T0267]' check "$factory" -D M=33 -D N=32 -D K=16
run_factory "a template" 0 'kernel softmax_kernel' build "$template" -D ROWS=3 -D COLS=100 --emit plan
run_factory "a template without its constants" 1 "'softmax' needs a constant for ROWS, COLS [T0384]" check "$template"
run_factory "no such entry" 1 'it has: gemm' check "$factory:gem"
cat "$template" "$factory" >both.py
run_factory "several candidates are listed" 1 'FILE:NAME says which: softmax, gemm' check both.py
run_factory "one of them by name" 0 'Y = float32[1, 4]: 0.0320586' run both.py:softmax -D ROWS=1 -D COLS=4 --arg X=arange --show Y

# ---- several device regions in one function
cat >regions.py <<'E6'
from tvm_tirx.script import tirx as T


def make(N=64, parts=2):
    @T.function
    def k(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32"), S: T.Tensor((1,), "float32"), n: T.int32):
        half: T.let = n * 2
        with T.device_entry(launch=T.cuda.LaunchConfig(grid=(parts,), block=(N // parts,))):
            bx = T.cuda.block_idx("x")
            tx = T.cuda.thread_idx("x")
            s = T.alloc_shared((N // parts,), "float32")
            s[tx] = A[bx * (N // parts) + tx]
            T.cuda.cta_sync()
            B[bx * (N // parts) + tx] = s[N // parts - 1 - tx] + half
        with T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(1,))):
            total: T.float32 = 0
            for i in range(N):
                total += B[i]
            S[0] = total
        with T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(N,))):
            tx = T.cuda.thread_idx("x")
            B[tx] = B[tx] * 10.0 + S[0]

    return k
E6
"$tirc" run regions.py -D N=8 --arg A=arange --arg B=zeros --arg S=zeros --arg n=1 --show B --show S >log 2>&1 &&
    grep -q -x 'B = float32\[8\]: 94 84 74 64 134 124 114 104' log && grep -q -x 'S = float32\[1\]: 44' log
say $? "several device regions are kernels that run in their order"
"$tirc" build regions.py -D N=8 --emit tir -o regions.tir 2>log && "$tirc" run regions.tir --arg A=arange --arg B=zeros --arg S=zeros --arg n=1 \
    --show B >log 2>&1 && grep -q -x 'B = float32\[8\]: 94 84 74 64 134 124 114 104' log
say $? "the same from their IR text"
"$tirc" build regions.py -D N=8 --emit cuda 2>log | grep -o -E '^k_kernel[_0-9]*\(' >names
"$tirc" build regions.py -D N=8 --emit ptx 2>>log | grep -o -E 'entry k_kernel[_0-9]*\(' >>names
printf '%s\n' 'k_kernel(' 'k_kernel_1(' 'k_kernel_2(' 'entry k_kernel(' 'entry k_kernel_1(' 'entry k_kernel_2(' | diff - names >>log
say $? "with the reference's names"
cat >regions.py <<'E7'
from tvm_tirx.script import tirx as T
ONE = T.cuda.LaunchConfig(grid=(1,), block=(1,))
@T.function
def k(A: T.Tensor((4,), "float32")):
    x = nothing
    with T.device_entry(launch=ONE):
        A[0] = other
    with T.device_entry(launch=ONE):
        A[0] = third
@T.function
def h(A: T.Tensor((4,), "float32")):
    with T.device_entry(launch=ONE):
        A[0] = 1.0
    A[1] = 2.0
    with T.device_entry(launch=ONE):
        A[2] = 3.0
@T.function
def f(A: T.Tensor((4,), "float32")):
    with T.device_entry(launch=ONE):
        A[0] = 1.0
    T.device_entry(launch=ONE)
E7
told "what is wrong in regions, once, and host code between them" 1 regions.py -- "5:9 T0201 name 'nothing'" "7:16 T0201 name 'other'" \
    "9:16 T0201 name 'third'" "14:5 T0299 a statement of the host, outside of the device regions" "21:5 T0250 a second device entry"

# ---- Python itself is the oracle: what it prints for a file of print() is what tirc notes
compare() { # NAME FILE
    python3 -W ignore "$2" >want 2>log &&
        { "$tirc" check "$2" --format line 2>&1 | sed -n -E 's/^[^:]*:[0-9]+:[0-9]+: note: (.*) \[T0387\]$/\1/p' >got; } &&
        diff want got >log && [ -s want ]
    say $? "$1"
}
if python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null; then
    for file in "$root"/tests/python/corpus/*.py; do compare "$(basename "$file") prints as Python does" "$file"; done
    for seed in ${TIRC_SEED:-1 2 3 4}; do
        python3 "$root/tests/python/generate.py" "$seed" 190 >random.py
        compare "190 random expressions, seed $seed, print as Python does" random.py
    done
else
    number=$((number + 1))
    echo "ok $number - values and texts as Python prints them # SKIP no python3"
fi

# ---- wrong scripts: located, all in one run, and it ends
cat >wrong.py <<'E3'
from tvm.script import tirx as T
import torch


def forever(n):
    return forever(n + 1)


def spin():
    while True:
        pass


def early():
    return 1
    print("never")


first = forever(0)
second = spin()
third = early()
fourth = [1, 2][3] + {"a": 1}["b"]
fifth = torch.empty(4)
sixth = unknown + 1
many = [i for i in range(100000)]
assert len(many) == 100000 and many[-1] == 99999


@T.prim_func
def k(A: T.Buffer((16,), "float32"), C: T.Buffer((16,), "int32")):
    T.device_entry()
    tx = T.thread_id([1])
    v: T.let = 1
    v = 2
    s: T.int32 = 0
    if tx == 0:
        s: T.int32 = 1
    C[0] = s % 0
    C[1] = forever(1)
    for x in [1, 2]:
        A[x] = nobody
    A[T.float32(1.0)] = 1.0
    return
    C[2] = 1
E3
told "everything that is wrong, in one run" 1 wrong.py -- \
    "6:12 T0281 calls nested over" "6:20 T0281 calls nested over" "11:9 T0280 evaluation of the script took too many steps" "16:5 T0388 this is never reached" \
    "22:17 T0263 index 3 is outside a list of 2 items" "22:31 T0263 the dict has no key 'b'" \
    "23:9 T0265 torch.empty is not available" "24:9 T0201 name 'unknown' is not defined" "34:5 T0221 'v' cannot be assigned" \
    "37:9 T0389 this 's' is new, and hides the one from before" "38:12 T0261 division by zero" \
    "40:14 T0240 a kernel cannot loop over a list" "41:16 T0201 name 'nobody' is not defined" "42:7 T0212 an index" \
    "44:5 T0388 this is never reached"
cat >trees.py <<'E8'
from tvm.script import tirx as T


@T.inline
def broken(lo, hi):
    if hi - T.nothing == 1:
        pass
    else:
        broken(lo, (lo + hi) // 2)
        broken((lo + hi) // 2, hi)


@T.inline
def grows(to, n):
    if n > 1:
        grows(to, n // 2)
        grows(to, n - 1)


@T.prim_func
def k(C: T.Buffer((16,), "int32"), n: T.int32):
    T.device_entry()
    tx = T.thread_id([1])
    broken(0, 8)
    grows(C, n)
    C[0] = nobody
E8
told "recursions in two directions end, and what follows is looked at" 1 trees.py -- "6:15 T0202" "15:5 T0281 over 180 loops and branches" \
    "26:12 T0201 name 'nobody' is not defined"
cat >grow.py <<'E4'
text = "a" * (1 << 40)
numbers = [0] * (1 << 21)
table = {i: i for i in range(1 << 20)}


def double(x):
    while True:
        x = x + x


double([1])
double("ab")
E4
told "what grows without end" 1 grow.py -- "1:8 T0263" "2:11 T0263" "3:10 T0263 a dict of over 65536 entries" "8:9 T0280" "8:13 T0263 a sequence of over" "8:17 T0280"
printf 'import os\nx = open("/etc/passwd").read()\nimport time\ny = time.time()\nz = os.system("true")\nassert os.environ.get("HOME") is None\nw = __import__("os")\n' >files.py
told "no files, no clock, no surroundings" 1 files.py -- "2:5 T0201 name 'open' is not defined" "4:5 T0265 time.time is not available" \
    "5:5 T0265 os.system is not available" "7:5 T0201 name '__import__' is not defined"
cat >mistakes.py <<'E5'
import math
from dataclasses import dataclass
from collections import namedtuple

items, table, group = [1, 2, 3], {"a": 1}, {1, 2}
next(items)
len(iter(items))
items[::0]
items[::2] = [1]
del items[7]
del table["b"]
group.remove(9)
table.popitem(1)
"a" % 3
"%d" % "x"
"%d %d" % 3
"%(x)s" % {}
"%y" % 3
"abc".rindex("z")
"a".split("")
next(iter([]))
{[1]: 2}
hash([1])
math.factorial(-1)
math.comb(70, 35)
math.asin(2)
math.exp(1000)
Point = namedtuple("Point", "x y")
Point(1)
Point(1, 2).x = 3
chr(0)
slice()
round(9223372036854775807, -1)
E5
told "wrong uses of Python's library" 1 mistakes.py -- "6:6 T0262 a list is no iterator" "7:5 T0262 an iterator has no length" \
    "8:7 T0262 the step of a slice may not be 0" "9:14 T0229 1 values for a slice of 2 items" "10:5 T0263 index 7 is outside" \
    "11:5 T0263 the dict has no key 'b'" "12:1 T0263 the set has no such item" "13:15 T0203" "14:1 T0262 1 of 1 values have no conversion" \
    "15:1 T0262 the format" "16:1 T0262 the text has more conversions" "17:1 T0262 no value for '%(x)'" "18:1 T0262 '%y' is no conversion" \
    "19:1 T0263 the text does not contain 'z'" "20:1 T0262 an empty separator" "21:1 T0263 next of an iterator that has no more" \
    "22:2 T0262" "23:6 T0262 a list has no hash" "24:1 T0262 math.factorial is not defined" "25:1 T0260" "26:1 T0262 math.asin is not defined" \
    "27:1 T0260 the result of math.exp is too large" "29:1 T0203 Point needs an argument 'y'" "30:1 T0227 'x' of a frozen record" \
    "31:1 T0262 chr of 0" "32:1 T0203 slice takes 1 to 3 bounds" "33:1 T0260"
printf 'print("tile", 4, [1.5, "x"], {"a": None})\nfrom tvm.script import tirx as T\n@T.prim_func\ndef k(A: T.Buffer((4,), "int8")):\n    A[0] = 1\n' >printing.py
told "print is a note" 0 printing.py -- "1:1 T0387 tile 4 [1.5, 'x'] {'a': None}"
echo "1..$number"
exit $bad
