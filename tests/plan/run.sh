#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The launch plan: the map of shared memory with lifetimes and shared bytes, limits of every architecture, and what a
# target would refuse. Failure cases B01, B05 and B07.
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
      part  offset      0       512 bytes  A  used in lines 18 to 20; reuses bytes of C; shares bytes, both in use, with slot
      part  offset    512       512 bytes  B  used in lines 21 to 22
      part  offset    256         4 bytes  slot  used in lines 18 to 20; shares bytes, both in use, with A
      part  offset      0       256 bytes  C  used in lines 22 to 23; reuses bytes of A
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
assert parts["slot"] == {"name": "slot", "offset": 256, "bytes": 4, "first_line": 18, "last_line": 20, "in_use_with": ["A"]}
assert parts["C"]["reuses"] == ["A"] and "in_use_with" not in parts["C"]
assert plan["shared"][2]["padding"] == 108
E4
    say $? "the same as JSON"
fi
# B01: 20 bytes, then a block aligned to 128: the block lies at 128 and counts whole
printf 'tir 1\n\nfunction k(out: int32[64]):\n    launch:\n        grid = (1, 1, 1)\n        block = (32, 1, 1)\n    let tx: int32 = thread_idx.x\n    alloc a: uint8[20] shared align=4\n    alloc b: uint8[300] shared align=128\n    a[tx %% 20] = uint8(tx)\n    b[tx] = a[0]\n    out[tx] = int32(b[0])\n' >b01.tir
part "B01: the total of 20 bytes and 300 aligned to 128" 0 'static 428 bytes, dynamic 0 bytes' build b01.tir --emit plan
# B05: exactly 48 KiB dynamic beside 4 static bytes: opted in, accepted
kernel b05.tir 4 49152 "1, 1, 1" "32, 1, 1" ""
part "B05: 48 KiB of dynamic and 4 bytes of static memory opt in" 0 'static 4 bytes, dynamic 49152 bytes; sm_90 gives a CTA 232448, and the launch opts in' build b05.tir --emit plan
kernel fits.tir 0 49152 "1, 1, 1" "32, 1, 1" ""
part "48 KiB of dynamic memory alone need no opt-in" 0 '"opt_in":false' build fits.tir --emit plan-json
# B07: 8 KiB static and 222 KiB dynamic on 227 KiB
kernel b07.tir 8192 227328 "1, 1, 1" "32, 1, 1" ""
part "B07: request, static part, sum and limit" 1 "asks for 227328 bytes of dynamic shared memory beside 8192 static ones, 235520 together; a CTA of sm_90 has at most 232448 [T0460]" build b07.tir --emit plan
part "B07: the largest allocations are named" 1 "'arena' takes 227328 bytes of dynamic shared memory" build b07.tir --emit cuda
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
