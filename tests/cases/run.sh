#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Failure cases of layouts, strides and views that users of compilers in this field met: each is a kernel of its own here
# with the result that is right, or the message. A01, A04, A05, A13 and A22 have unit tests beside these
# (tests/unit/layout_algebra.c), the cases of shared memory are in tests/plan.
set -u
cd "$(dirname "$0")/../.." || exit 2
tirc=$PWD/${TIRC_BUILD:-build/test}/tirc
unit=$PWD/${TIRC_BUILD:-build/test}/unit/layout_algebra
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
export NO_COLOR=1
number=0 bad=0
say() {
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then echo "ok $number - case $2"; else
        echo "not ok $number - case $2"
        sed 's/^/# /' "$work/log" | head -n 20
        bad=1
    fi
}
# title, status, what the output has to hold, words of the command
gives() {
    local title=$1 status=$2 want=$3 got
    shift 3
    "$tirc" "$@" >"$work/log" 2>&1 </dev/null
    got=$?
    [ $got -eq "$status" ] && grep -q -F -e "$want" "$work/log"
    say $? "$title"
}
kernel() { # file, parameters, threads, lines of the body
    local file=$1 parameters=$2 threads=$3
    shift 3
    {
        echo 'from tvm_tirx.script import tirx as T'
        echo 'from tvm_tirx.tirx.layout import S, R, TileLayout, ComposeLayout, laneid'
        echo '@T.function'
        echo "def k($parameters):"
        echo "    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=($threads,)))"
        echo '    t = T.cuda.thread_idx("x")'
        printf '    %s\n' "$@"
    } >"$file"
}

# A01, A04, A05: what no layout says is refused with a reason; a contiguous left side; no stray unit mode
if [ -x "$unit" ]; then
    for id in A01 A04 A05 A13 A22 B15; do
        CMOCKA_MESSAGE_OUTPUT=tap "$unit" >"$work/log" 2>&1
        grep -q "^ok .*case_$id" "$work/log"
        say $? "$id: the algebra, by itself"
    done
fi

# A07: the flat view of a thread's registers enumerates physical slots, gaps and origin included
kernel a07.py 'B: T.Tensor((32, 12), "float32")' 32 \
    'R = T.alloc_local((32, 4), "float32", layout=TileLayout(S[(32, 2, 2) : (1 @ laneid, 2, 5)] + 3))' \
    'flat = R.view(11, layout="default")' \
    'one = R.view(2, 2, layout=TileLayout(S[(2, 2) : (2, 5)] + 3))' \
    'for i in T.unroll(11):' '    flat[i] = T.cast(i, "float32")' \
    'for i in T.unroll(11):' '    B[t, i] = flat[i]' \
    'B[t, 11] = one[1, 1] * 1000.0 + one[1, 0] * 10.0 + one[0, 1]'
gives "A07: slots of storage, through the flat view and through a strided one" 0 \
    'B = float32[32, 12]: 0 1 2 3 4 5 6 7 8 9 10 10058 0 1 2 3' run a07.py --arg B=zeros --show B
sed 's/R.view(11,/R.view(4,/' a07.py >a07b.py
gives "A07: the logical number of elements is an error with both numbers" 1 \
    "the view has 4 elements, 'R' has 11 slots in storage [T0213]" check a07b.py

# A09: an extent that is a constant once a size is known
kernel a09.py 'A: T.Tensor((16,), "float32"), B: T.Tensor((16,), "float32"), m: T.int32' 4 \
    'B[t * 4 : t * 4 + (N * 4 // 4)] = A[t * 4 : t * 4 + (N * 4 // 4)]'
gives "A09: a slice whose length folds" 0 'B = float32[16]: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15' \
    run a09.py -D N=4 --arg A=arange --arg B=zeros --arg m=4 --show B
sed 's/N \* 4/m * 4/g' a09.py >a09b.py
gives "A09: a length of the launch is refused" 1 "a region of 'B' is not a value [T0215]" check a09b.py

# A11: a view over A.data with an extent of the launch stays the same storage
kernel a11.py 'A: T.Tensor((8,), "float32"), n: T.int32' 1 \
    'V = T.decl_tensor((n,), "float32", data=A.data)' 'V[n - 1] = 7.0'
gives "A11: a write through the view changes the array" 0 'A = float32[8]: 0 0 0 0 0 0 0 7' run a11.py --arg A=zeros --arg n=8 --show A
kernel a11b.py 'A: T.Tensor((8,), "float32")' 1 'V = T.decl_tensor((N,), "float32", data=A.data)' 'V[N - 1] = 7.0'
gives "A11: and when the extent is fixed before" 0 'A = float32[8]: 0 0 0 0 0 0 0 7' run a11b.py -D N=8 --arg A=zeros --show A

# A13: two elements on one place
for layout in 'S[(8,) : (0,)]:(0) and (1):8' 'S[(4, 2) : (1, 1)]:(0, 1) and (1, 0):4, 2'; do
    spec=${layout%]*}] rest=${layout##*]:}
    shape=${rest##*:} pair=${rest%:*}
    index='t'
    [ "$shape" = 8 ] || index='t // 2, t % 2'
    kernel a13.py 'B: T.Tensor((8,), "float32")' 8 \
        "s = T.alloc_shared(($shape,), \"float32\", layout=TileLayout($spec))" \
        "s[$index] = T.cast(t, \"float32\")" 'T.cuda.cta_sync()' "B[t] = s[$index]"
    gives "A13: $spec: a store says which two elements meet" 0 "puts $pair at one place" check a13.py
done

# A14: a remainder of a remainder that does not divide
kernel a14.py 'B: T.Tensor((16,), "int32")' 16 'f: T.let = t' 'B[f] = f % 8 % 3'
gives "A14: (f % 8) % 3 is not f % 3" 0 'B = int32[16]: 0 1 2 0 1 2 0 1 0 1 2 0 1 2 0 1' run a14.py --arg B=zeros --show B
kernel a14b.py 'B: T.Tensor((2, 8), "int32", layout=TileLayout(S[(2, 8) : (8, 1)]))' 1 \
    'for i in range(2):' '    for j in range(8):' '        B[i, j] = (i * 8 + j) % 8 % 3'
gives "A14: nor of a fused index" 0 'B = int32[2, 8]: 0 1 2 0 1 2 0 1 0 1 2 0 1 2 0 1' run a14b.py --arg B=zeros --show B

# A17: widths that are no powers of two, 128 threads
for width in 24 40 48 96; do
    kernel a17.py "A: T.Tensor((64, $width), \"float32\"), B: T.Tensor(($width, 64), \"float32\")" 128 \
        "s = T.alloc_shared((64, $width), \"float32\", layout=TileLayout(S[(8, 8, $((width / 8)), 8) : (8, $((width * 8)), 64, 1)]))" \
        "for i in range($((64 * width / 128))):" "    s[(i * 128 + t) // $width, (i * 128 + t) % $width] = A[(i * 128 + t) // $width, (i * 128 + t) % $width]" \
        'T.cuda.cta_sync()' "for i in range($((64 * width / 128))):" '    B[(i * 128 + t) // 64, (i * 128 + t) % 64] = s[(i * 128 + t) % 64, (i * 128 + t) // 64]'
    want="B = float32[$width, 64]:"
    for i in $(seq 0 15); do want="$want $((i * width))"; done
    gives "A17: tiles of $width columns" 0 "$want" run a17.py --arg A=arange --arg B=zeros --show B
done

# A21: the address of a vector is that of its first lane
kernel a21.py 'B: T.Tensor((8,), "float32")' 1 'p = T.address_of(B[T.Ramp(4, 1, 2)])' \
    'V = T.decl_tensor((2,), "float32", data=p)' 'V[1] = 3.0'
gives "A21: address_of(B[Ramp(4, 1, 2)])" 0 'B = float32[8]: 0 0 0 0 0 3 0 0' run a21.py --arg B=zeros --show B
gives "A21: in the CUDA text" 0 '(&B_ptr[4])' build a21.py --emit cuda

# A22: one access under four layouts
i=0
for layout in 'S[(4, 8)]' 'S[(4, 8) : (1, 4)]' 'S[(4, 8)] + 64' 'S[(4, 8) : (16, 1)]'; do
    kernel a22.py "A: T.Tensor((4, 8), \"float32\"), B: T.Tensor((4, 8), \"float32\", layout=TileLayout($layout))" 8 \
        'for i in range(4):' '    B[i, t] = A[i, t]'
    set -- '((i * 8) + t)' '((t * 4) + i)' '(((i * 8) + t) + 64)' '((i * 16) + t)'
    eval "want=\${$((i + 1))}"
    gives "A22: $layout" 0 "B_ptr[$want] = A_ptr[((i * 8) + t)];" build a22.py --emit cuda
    i=$((i + 1))
done

# A23: vectors through a view whose origin is 4 bytes off
kernel a23.py 'A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")' 8 \
    'V = T.decl_tensor((60,), "float32", data=A.data, layout=TileLayout(S[60] + 1))' \
    'B[T.Ramp(t * 4, 1, 4)] = V[T.Ramp(t * 4, 1, 4)]'
gives "A23: never aligned: an error with the requirement" 1 \
    "misaligned access to 'V': 4 neighbours of float32 need an element number divisible by 4, and this one never is [T0413]" check a23.py
kernel a23b.py 'A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32"), n: T.int32' 8 \
    'V = T.decl_tensor((60,), "float32", data=A.ptr_to([n]))' 'B[T.Ramp(t * 4, 1, 4)] = V[T.Ramp(t * 4, 1, 4)]'
gives "A23: not known to be aligned: lane by lane, and right" 0 'B = float32[64]: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16' \
    run a23b.py --arg A=arange --arg B=zeros --arg n=1 --show B
cat >a23.ptx <<'P'
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p0)
{
	.reg .f32 %f<5>;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [p0];
	ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+4];
	ret;
}
P
gives "A23: on the machine: address and requirement" 1 'aligned' run a23.ptx --grid 1 --block 1 --arg 0=zeros@float32:8

# B15: operand tiles that no swizzle atom fits
kernel b15.py 'B: T.Tensor((8,), "float32")' 8 'from_pool = T.SMEMPool()' 'x = from_pool.alloc_tcgen05_mma_AB((128, 32), "float16", "128B")' 'from_pool.commit()'
gives "B15: the bytes of a row" 1 'a row of 32 elements of 16 bits is 64 bytes, but the 128B swizzle needs a multiple of 128 bytes' check b15.py
sed 's/(128, 32)/(12, 64)/' b15.py >b15b.py
gives "B15: the rows" 1 'dimension 0 has 12 rows, but a swizzle atom has 8' check b15b.py
sed 's/(128, 32)/(64,)/' b15.py >b15c.py
gives "B15: the rank" 1 'at least 2 dimensions' check b15c.py
echo "1..$number"
exit $bad
