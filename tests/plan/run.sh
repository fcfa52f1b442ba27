#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The launch plan: the map of shared memory with lifetimes and shared bytes, limits of every architecture, and what a
# target would refuse. The failure cases of shared memory: B01 to B15.
set -u
cd "$(dirname "$0")/../.." || exit 2
root=$PWD
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
        sed 's/^/# /' log | head -n 20
        bad=1
    fi
}
# kernel FILE STATIC DYNAMIC(bytes) GRID BLOCK CLUSTER
kernel() {
    {
        printf 'tir 1\n\nfunction k(out: int32[4096]):\n    launch:\n        grid = (%s)\n        block = (%s)\n' "$4" "$5"
        [ -z "$6" ] || printf '        cluster = (%s)\n' "$6"
        printf '    let tx: int32 = thread_idx.x\n'
        [ "$2" = 0 ] || printf '    alloc fixed: uint8[%s] shared align=4\n' "$2"
        [ "$3" = 0 ] || printf '    alloc arena: uint8[%s] shared.dyn\n' "$3"
        [ "$2" = 0 ] || printf '    fixed[0] = uint8(tx)\n    out[1] = int32(fixed[0])\n'
        [ "$3" = 0 ] || printf '    arena[0] = uint8(tx)\n    out[2] = int32(arena[0])\n'
        printf '    out[tx] = tx\n'
    } >"$1"
}
# name, status, words of the output, command
part() {
    local name=$1 want_status=$2 want=$3
    shift 3
    "$tirc" "$@" >log 2>&1
    local status=$?
    [ "$status" -eq "$want_status" ] && grep -q -F -e "$want" log
    say $? "$name"
}
cat >map.tir <<'E2'
tir 1

function k(out: int32[4096]):
    launch:
        grid = (8, 1, 1)
        block = (128, 1, 1)
        cluster = (2, 1, 1)
    let tx: int32 = thread_idx.x
    alloc arena: uint8[16384] shared.dyn
    alloc small: int32[5] shared
    alloc big: int32[64] shared align=128
    view A: int32[128] shared.dyn = reinterpret[int32*shared.dyn](arena.data)
    view B: float32[128] shared.dyn = reinterpret[float32*shared.dyn](&arena[512])
    view slot: int32[1] shared.dyn = reinterpret[int32*shared.dyn](&arena[256])
    view C: int32[64] shared.dyn = reinterpret[int32*shared.dyn](arena.data)
    small[0] = tx
    big[tx % 64] = small[0]
    for i in serial(4):
        A[tx] = big[i]
        slot[0] = A[tx + 1]
    B[tx] = float32(tx)
    C[tx % 64] = int32(B[tx])
    out[tx] = C[0]
E2
"$tirc" build map.tir --emit plan >plan 2>log && cat >want <<'E3' && diff want plan >log
kernel k_kernel
  grid   (8, 1, 1)
  block  (128, 1, 1)
  cluster (2, 1, 1)
  parameter 0  out          int32 (4096) align 64
  shared memory  static 384 bytes, dynamic 16384 bytes; sm_90 gives a CTA 232448
    dynamic offset      0     16384 bytes  align   64  arena  used in lines 18 to 23
      part  offset      0       512 bytes  align   64  A  used in lines 18 to 20; reuses bytes of C; shares bytes, both in use, with slot
      part  offset    512       512 bytes  align   64  B  used in lines 21 to 22
      part  offset    256         4 bytes  align   64  slot  used in lines 18 to 20; shares bytes, both in use, with A
      part  offset      0       256 bytes  align   64  C  used in lines 22 to 23; reuses bytes of A
    static  offset      0        20 bytes  align   64  small  used in lines 16 to 17
    static  offset    128       256 bytes  align  128  big  used in lines 17 to 20, 108 bytes of padding before it
E3
say $? "the map: offsets, padding, lines in use, bytes that are shared at once and bytes that are used again"
python=$(command -v python3)
if [ -n "$python" ]; then
    "$tirc" build map.tir --emit plan-json >json 2>log &&
        "$python" - >log 2>&1 <<'E4'
import json
plan = json.load(open("json"))
assert plan["kernel"] == "k_kernel" and plan["grid"] == [8, 1, 1] and plan["cluster"] == [2, 1, 1]
assert plan["static_smem_bytes"] == 384 and plan["dynamic_smem_bytes"] == 16384 and plan["opt_in"] is False
assert plan["device"]["shared_per_cta"] == 232448 and plan["device"]["shared_static"] == 49152
assert plan["non_portable_cluster"] is False and plan["cooperative"] is False
arena = plan["shared"][0]
parts = {p["name"]: p for p in arena["parts"]}
assert parts["slot"] == {"name": "slot", "offset": 256, "bytes": 4, "align": 64, "padding": 0, "first_line": 18, "last_line": 20, "in_use_with": ["A"]}
assert parts["C"]["reuses"] == ["A"] and "in_use_with" not in parts["C"]
assert plan["shared"][2]["padding"] == 108
E4
    say $? "the same as JSON"
fi
# B01: 20 bytes, then a block aligned to 128: the block lies at 128 and counts whole
printf 'tir 1\n\nfunction k(out: int32[64]):\n    launch:\n        grid = (1, 1, 1)\n        block = (32, 1, 1)\n    let tx: int32 = thread_idx.x\n    alloc a: uint8[20] shared align=4\n    alloc b: uint8[300] shared align=128\n    a[tx %% 20] = uint8(tx)\n    b[tx] = a[0]\n    out[tx] = int32(b[0])\n' >b01.tir
part "case B01: the total of 20 bytes and 300 aligned to 128" 0 'static 428 bytes, dynamic 0 bytes' build b01.tir --emit plan
# B05: exactly 48 KiB dynamic beside 4 static bytes: opted in, accepted
kernel b05.tir 4 49152 "1, 1, 1" "32, 1, 1" ""
part "case B05: 48 KiB of dynamic and 4 bytes of static memory opt in" 0 'static 4 bytes, dynamic 49152 bytes; sm_90 gives a CTA 232448, and the launch opts in' build b05.tir --emit plan
kernel fits.tir 0 49152 "1, 1, 1" "32, 1, 1" ""
part "48 KiB of dynamic memory alone need no opt-in" 0 '"opt_in":false' build fits.tir --emit plan-json
# B07: 8 KiB static and 222 KiB dynamic on 227 KiB
kernel b07.tir 8192 227328 "1, 1, 1" "32, 1, 1" ""
part "case B07: request, static part, sum and limit" 1 "asks for 227328 bytes of dynamic shared memory beside 8192 static ones, 235520 together; a CTA of sm_90 has at most 232448 [T0460]" build b07.tir --emit plan
part "case B07: the largest allocations are named" 1 "'arena' takes 227328 bytes of dynamic shared memory" build b07.tir --emit cuda
kernel edge.tir 8192 224256 "1, 1, 1" "32, 1, 1" ""
part "the whole 227 KiB are given" 0 'dynamic 224256 bytes' build edge.tir --emit plan
# limits of every architecture: the last byte fits, one more does not
for row in sm_80:166912 sm_86:101376 sm_89:101376 sm_90a:232448 sm_100a:232448 sm_103a:232448 sm_120:101376; do
    target=${row%:*} most=${row#*:}
    kernel most.tir 0 "$most" "1, 1, 1" "32, 1, 1" ""
    kernel over.tir 0 $((most + 1)) "1, 1, 1" "32, 1, 1" ""
    "$tirc" build most.tir --emit plan -arch "$target" >log 2>&1 && ! "$tirc" build over.tir --emit plan -arch "$target" >log 2>&1 &&
        grep -q "has at most $most \[T0460\]" log
    say $? "$target gives a CTA $most bytes"
done
# grids, blocks, clusters
kernel g.tir 0 0 "1, 65536, 1" "32, 1, 1" ""
part "a grid too long in y" 1 "the grid's y extent is 65536; possible are 1 to 65535 [T0461]" build g.tir --emit ptx
kernel g.tir 0 0 "0, 1, 1" "32, 1, 1" ""
part "an empty grid" 1 "x of the grid is 0; expected a positive number [T0334]" build g.tir --emit plan
kernel g.tir 0 0 "1, 1, 1" "1, 1, 65" ""
part "a block too deep" 1 "the block's z extent is 65; possible are 1 to 64 [T0461]" build g.tir --emit plan
kernel g.tir 0 0 "7, 1, 1" "32, 1, 1" "2, 1, 1"
part "a cluster that does not divide" 1 "the grid's x extent 7 is no multiple of the cluster's 2 [T0462]" build g.tir --emit plan
kernel g.tir 0 0 "32, 1, 1" "32, 1, 1" "16, 1, 1"
part "a non-portable cluster" 0 'cluster (16, 1, 1)  a non-portable size: the launch allows it' build g.tir --emit plan
part "its flag" 0 '"non_portable_cluster":true' build g.tir --emit plan-json
part "not on a device with 8 at most" 1 'a cluster of 16 CTAs: sm_120 takes 8 at most [T0463]' build g.tir --emit plan -arch sm_120
part "clusters before sm_90" 1 'clusters need sm_90 or later, and the target is sm_80 [T0463]' build g.tir --emit plan -arch sm_80
kernel g.tir 0 0 "32, 1, 1" "32, 1, 1" "32, 1, 1"
part "a cluster too large" 1 'a cluster of 32 CTAs: sm_90 takes 16 at most, and more than 8 only as a non-portable size' build g.tir --emit plan
part "a target without known limits" 1 "no limits are known of the target 'sm_99'; they are of sm_70, sm_75, sm_80" build map.tir --emit plan -arch sm_99
for code in T0460 T0461 T0462 T0463 T0464; do
    part "explain $code" 0 "right:" explain $code
done
part "run --stats prints total and limit" 0 'shared memory  static 428 bytes, dynamic 0 bytes; sm_90 gives a CTA 232448' run b01.tir --out out=out.npy --stats
part "run --stats prints the map" 0 'static  offset    128       300 bytes  align  128  b  used in lines 11 to 12, 108 bytes of padding before it' run b01.tir --out out=out.npy --stats
# The map as a picture: one box for each tensor and view, shared ones marked, bytes and lines at the edges
if [ -n "$python" ]; then
    "$tirc" build map.tir --emit plan-svg -o map.svg >log 2>&1 && "$python" - >log 2>&1 <<'E6'
import re, xml.dom.minidom
text = open("map.svg").read()
svg = xml.dom.minidom.parseString(text)
boxes = {g.getElementsByTagName("title")[0].firstChild.data: g.getElementsByTagName("rect")[0] for g in svg.getElementsByTagName("g")}
assert len(boxes) == 7, boxes.keys()
def find(start): return next(b for t, b in boxes.items() if t.startswith(start))
assert "A, 512 bytes, from byte 0, lines 18 to 20, in use at once with another on the same bytes" in boxes
assert "C, 256 bytes, from byte 0, lines 22 to 23" in boxes and "big, 256 bytes, from byte 128, lines 17 to 20" in boxes
def span(b): return [int(b.getAttribute(k)) for k in ("x", "y", "width", "height")]
a, c, slot, arena = span(find("A, ")), span(find("C, ")), span(find("slot, ")), span(find("arena, "))
assert a[0] + a[2] <= c[0]                                  # C begins after A ends
assert a[1] <= slot[1] and slot[1] + slot[3] <= a[1] + a[3]  # slot lies inside of A
for box in (a, c, slot): assert arena[1] <= box[1] and box[1] + box[3] <= arena[1] + arena[3]
assert "s" in find("slot, ").getAttribute("class").split() and "s" not in find("C, ").getAttribute("class").split()
assert "16384" in text and "prefers-color-scheme:dark" in text and len(text) < 20000
E6
    say $? "the map as a picture"
    "$tirc" build "$root/examples/shared.py" --emit plan-svg >svg 2>log && grep -q 'pair_kernel: dynamic shared memory, 1024 bytes' svg
    say $? "maps of several kernels"
fi
# ---- pools and their failure cases
body() { # FILE: the lines of a kernel from standard input
    {
        printf 'from tvm_tirx.script import tirx as T\n\n@T.function\ndef k(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):\n'
        printf '    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(64,)))\n    tx = T.cuda.thread_idx("x")\n'
        sed 's/^/    /'
    } >"$1"
}
body b01.py <<'E7'
pool = T.SMEMPool()
x = pool.alloc((5,), "float32")
y = pool.alloc((300,), "uint8", align=128)
pool.commit()
x[tx % 5] = A[tx]
y[tx] = T.uint8(1)
B[tx] = x[tx % 5] + T.cast(y[tx], "float32")
E7
part "case B01: a pool of 20 bytes and 300 aligned to 128" 0 'dynamic 428 bytes' build b01.py --emit plan
body b02.py <<'E8'
pool = T.SMEMPool()
x = pool.alloc((32,), "float32")
tile = pool.alloc_tcgen05_mma_AB((8, 64), "float16", "128B")
pool.commit()
x[tx % 32] = A[tx % 32]
for i in T.serial(8):
    tile[i, tx] = T.cast(A[tx] + T.cast(i, "float32"), "float16")
T.cuda.cta_sync()
B[tx] = T.cast(tile[tx // 8, tx], "float32") + x[tx % 32]
E8
"$tirc" build b02.py --emit plan >log 2>&1 && grep -q 'part  offset   1024      1024 bytes  align 1024  tile .*, 896 bytes of padding before it' log && "$tirc" run b02.py --arg A=arange --out B=b02.npy >log 2>&1 && [ -n "${python:-}" ] &&
    "$python" -c 'import struct
b = struct.unpack("<64f", open("b02.npy", "rb").read()[-256:])
assert all(b[t] == t + t // 8 + t % 32 for t in range(64)), b' >log 2>&1
say $? "case B02: a tile under the 128-byte swizzle lies on its period, and holds what was written"
body b09.py <<'E9'
first = T.alloc_tensor(ty_args=[T.Tensor((64,), "float32", scope="shared.dyn")])
second = T.alloc_tensor(ty_args=[T.Tensor((64,), "float32", scope="shared.dyn")])
first[tx] = A[tx]
second[tx] = A[tx]
B[tx] = first[tx] + second[tx]
E9
"$tirc" check b09.py >log 2>&1
[ $? -eq 1 ] && grep -q '^b09.py:8:.*error: a second allocation of dynamic shared memory \[T0270\]' log && grep -q 'b09.py:7:.*note' log
say $? "case B09: a second dynamic allocation, with a note at the first"
body b11.py <<'E10'
pool = T.SMEMPool()
slot = pool.alloc((1,), "uint32")
pool.move_base_to(0)
tile = pool.alloc((64,), "float32")
pool.commit()
if tx == 0:
    slot[0] = T.uint32(7)
T.cuda.cta_sync()
tile[tx] = A[tx]
T.cuda.cta_sync()
B[tx] = tile[tx] + T.cast(slot[0], "float32")
E10
"$tirc" check b11.py >log 2>&1
grep -q "b11.py:10:.*warning: 'tile' lies on bytes 0 to 3 of its pool, which 'slot' has too, and both are in use at once \[T0468\]" log && grep -q "b11.py:8:.*note: 'slot' is placed here" log && grep -q "b11.py:17:.*note: its last use" log
say $? "case B11: an address slot on top of a live tile is named, with the uses"
"$tirc" build b11.py --emit plan 2>log | grep -q 'slot  used in lines 13 to 17; shares bytes, both in use, with tile'
say $? "case B11: and in the plan"
sed 's/^    tile\[tx\] = A/    B[tx] = T.cast(slot[0], "float32")\n    T.cuda.cta_sync()\n    tile[tx] = A/; s/^    B\[tx\] = tile.*/    B[tx] = B[tx] + tile[tx]/' b11.py >turns.py
"$tirc" check turns.py >log 2>&1 && grep -q 'turns.py: clean' log && ! grep -q warning log
say $? "tensors that take turns on the same bytes are no matter"
sed 's/    pool.move_base_to(0)/    pool.move_base_to(4)/' b11.py >apart.py
"$tirc" check apart.py >log 2>&1 && grep -q 'apart.py: clean' log && ! grep -q warning log
say $? "nor are tensors apart"
# Barriers: initialised, used, and then the bytes hold data. WRITE is how; INVAL what stands before.
barrier() { # FILE INVAL WRITE
    cat >"$1" <<EOF
.version 8.0
.target sm_90
.address_size 64
.shared .align 128 .b8 pool[512];
.visible .entry k(.param .u64 out)
{
.reg .b32 %r<9>;
.reg .b64 %l<9>;
.reg .pred %p, %q;
mov.u32 %r1, %tid.x;
ld.param.u64 %l2, [out];
setp.ne.u32 %q, %r1, 0;
@!%q mbarrier.init.shared.b64 [pool], 32;
@!%q mbarrier.init.shared.b64 [pool+256], 1;
bar.sync 0;
mbarrier.arrive.shared.b64 %l1, [pool];
wait:
mbarrier.try_wait.shared.b64 %p, [pool], %l1;
@!%p bra wait;
bar.sync 0;
$2
bar.sync 0;
$3
bar.sync 0;
ld.shared.b32 %r3, [pool+4];
mad.wide.u32 %l2, %r1, 4, %l2;
st.global.b32 [%l2], %r3;
ret;
}
EOF
}
generic='mov.u32 %r2, pool; mad.lo.u32 %r2, %r1, 4, %r2; st.shared.b32 [%r2], %r1;'
async='@%q bra over; mbarrier.arrive.expect_tx.shared.b64 %l3, [pool+256], 128; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [pool], [%l2], 128, [pool+256]; over: mov.u32 %r4, 0; again: mbarrier.try_wait.parity.shared.b64 %p, [pool+256], %r4; @!%p bra again;'
element='@!%q cvta.to.global.u64 %l4, %l2; @!%q cp.async.ca.shared.global [pool], [%l4], 16; cp.async.wait_all;'
zeros='@!%q st.bulk.shared::cta [pool], 64, 0;'
run_barrier() { "$tirc" run "$1" --grid 1 --block 32 --arg 0=zeros@int32:32 >log 2>&1; }
for way in generic async element zeros; do
    barrier $way.ptx "" "${!way}"
    [ $way = zeros ] && sed -i 's/^.version 8.0/.version 8.6/; s/^.target sm_90/.target sm_100/' $way.ptx
    run_barrier $way.ptx
    [ $? -eq 1 ] && grep -q "error: writes .* over the live mbarrier at 0x400 (in phase 1, 32 of 32 arrivals pending) \[T0771\]" log && grep -q "$way.ptx:2[0-9]:" log
    say $? "case B13: bytes of a barrier reused without inval, by a write that is $way"
    barrier good.ptx '@!%q mbarrier.inval.shared.b64 [pool];' "${!way}"
    [ $way = zeros ] && sed -i 's/^.version 8.0/.version 8.6/; s/^.target sm_90/.target sm_100/' good.ptx
    run_barrier good.ptx && ! grep -q T0771 log
    say $? "case B12: after inval the same is right ($way)"
done
body b15.py <<'E11'
pool = T.SMEMPool()
tile = pool.alloc_tcgen05_mma_AB(SHAPE, "float16", "128B")
pool.commit()
B[tx] = 1.0
E11
while IFS='|' read -r shape want; do
    sed "s/SHAPE/$shape/" b15.py >shape.py
    part "case B15: a tile of $shape" 1 "$want" check shape.py
    [ "$(grep -c error log)" -eq 1 ]
    say $? "case B15: and nothing else is said"
done <<'E12'
(128, 32)|a row of 32 elements of 16 bits is 64 bytes, but the 128B swizzle needs a multiple of 128 bytes (64 elements); the widest mode that fits is 64B [T0447]
(12, 64)|dimension 0 has 12 rows, but a swizzle atom has 8 and the rows must be a multiple of 8 [T0447]
(128,)|a matrix operand tile needs at least 2 dimensions (rows, columns), not 1 [T0447]
E12
part "explain T0468" 0 "right:" explain T0468
# A C++ file that launches by itself: grids from parameters, opt-in, cooperative, clusters
cat >host.tir <<'E5'
tir 1

function grows(out: int32[4096], n: int32):
    launch:
        grid = (n // 128 + 1, 2, 1)
        block = (128, 1, 1)
        cooperative
    let tx: int32 = thread_idx.x
    alloc arena: uint8[65536] shared.dyn
    arena[tx] = uint8(tx)
    out[tx] = int32(arena[tx]) + n

function wide(out: int32[4096]):
    launch:
        grid = (32, 1, 1)
        block = (128, 1, 1)
        cluster = (16, 1, 1)
    let tx: int32 = thread_idx.x
    out[tx] = tx
E5
"$tirc" build host.tir --emit cuda-host -o host.cu >log 2>&1 &&
    grep -q 'grows_kernel_launch(int\* out_ptr, int n, cudaStream_t stream)' host.cu &&
    grep -q 'dim3((unsigned)(host_floordiv((long long)n, 128LL) + 1LL), 2, 1)' host.cu &&
    grep -q 'cudaFuncAttributeMaxDynamicSharedMemorySize' host.cu && grep -q 'val.cooperative = 1' host.cu &&
    grep -q 'cudaFuncAttributeNonPortableClusterSizeAllowed' host.cu
say $? "a launch function for each kernel"
if nvcc=$("$root/tools/find-nvcc"); then
    "$nvcc" -arch=sm_90a -c -o host.o host.cu >log 2>&1 && [ ! -s log ]
    say $? "nvcc takes it without a word"
    "$tirc" build "$root/examples/shared.py" --emit cuda-host -o shared.cu >log 2>&1 && "$nvcc" -arch=sm_90a -c -o shared.o shared.cu >log 2>&1
    say $? "and that of a script"
elif [ -n "${REQUIRE_NVCC:-}" ]; then
    echo "no nvcc" >log
    say 1 "nvcc takes the host file"
fi
echo "1..$number"
exit $bad
