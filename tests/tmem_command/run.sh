#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tirc tmem: the four questions about tensor memory, answered from a run. Text against goldens (UPDATE=1 writes them),
# JSON as data, the registers of each shape, what nothing waited for, and the same answer from any number of workers.
# Prints TAP. covers: B41
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
golden() { # name arguments...
    local name=$1 file=tests/tmem_command/$1.txt
    shift
    "$tirc" tmem "$@" >"$work/out" 2>"$work/log" || { result 1 "$name runs"; return; }
    case $1 in tests/*) sed -i 's/line [0-9][0-9]*/line .../g' "$work/out" ;; esac # files to which others add
    [ "${UPDATE:-}" = 1 ] && cp "$work/out" "$file"
    diff "$file" "$work/out" >"$work/log" 2>&1
    result $? "$name"
}
matrix="--arg A=randn:1@float16:256,256 --arg B=randn:2@float16:256,256 --arg D=zeros@float32:256,256"
single="examples/gemm/single.py --arg A=randn:1 --arg B=randn:2 --arg D=zeros"
memory="examples/tensor_memory.ptx --grid 1 --block 128 --arg A=arange@float32:1024 --arg B=zeros@float32:1024"
pair="examples/gemm_pair.ptx --grid 2,2 --block 128 --smem 50176 $matrix --arg K=256 --arg S=2
    --tensor-map a=A,box=64x128,swizzle=128 --tensor-map b=B,box=64x64,swizzle=128 --tensor-map d=D,box=32x32,swizzle=128"
# shellcheck disable=SC2086
{
    golden single $single
    golden memory $memory
    golden grid examples/gemm_tcgen05.ptx --grid 2,2 --block 128 $matrix --arg N=256 --arg K=256
    golden pair $pair
    for threads in 1 4; do
        "$tirc" tmem $pair --threads $threads 2>"$work/log" | cmp - tests/tmem_command/pair.txt >>"$work/log" 2>&1
        result $? "the same from $threads workers"
    done
    golden two_on_an_sm examples/gemm_tcgen05.ptx --grid 2,2 --block 128 $matrix --arg N=256 --arg K=256 --sms 1 --ctas-per-sm 2
    golden copied tests/tcgen05/memory.py:copied --arg B=zeros
    golden operand_in_tensor_memory tests/tile/blackwell.py:inside --arg A=ones --arg B=ones --arg D=zeros
    # the kernel does the same with and without being watched
    "$tirc" run $single --out "D=$work/plain.npy" >"$work/log" 2>&1 &&
        "$tirc" tmem $single --out "D=$work/watched.npy" >"$work/log" 2>&1 && cmp "$work/plain.npy" "$work/watched.npy" >"$work/log" 2>&1
    result $? "watching changes no result"
    "$tirc" tmem $single --json -o "$work/answer.json" >"$work/log" 2>&1
}
# shellcheck disable=SC2086
"$tirc" tmem $single --svg >"$work/picture.svg" 2>"$work/log" &&
    [ "$(grep -c '<rect class="b' "$work/picture.svg")" -eq 3 ] &&
    grep -q '<title>allocated in line [0-9]*, 128 columns, from column 0, events 1 to 24</title>' "$work/picture.svg" &&
    grep -q '<title>mma D in line [0-9]*, 128 columns, from column 0, events 2 to 5</title>' "$work/picture.svg" &&
    grep -q '<title>ld in line [0-9]*, 128 columns, from column 0, events 7 to 22</title>' "$work/picture.svg"
result $? "picture"
"$tirc" tmem examples/gemm/single.py --json --svg >"$work/log" 2>&1
[ $? -eq 2 ]
result $? "one answer at a time"
if command -v python3 >/dev/null; then
    python3 - "$work/answer.json" >"$work/log" 2>&1 <<'PYTHON'
import json, sys
answer = json.load(open(sys.argv[1]))
(history,) = answer["histories"]
events = history["events"]
assert answer["kernel"] == "gemm" and history["cta"] == [0, 0, 0] and history["ctas"] == 1
assert sorted(e["first"] for e in events) == [e["first"] for e in events]
allocated = [(e["column"], e["columns"]) for e in events if e["kind"] == "allocate"]
assert allocated == [(e["column"], e["columns"]) for e in events if e["kind"] == "free"] == [(0, 128)]
loads = [e for e in events if e["kind"] == "ld"]
for e in loads:  # a warp reaches its own quarter of the lanes
    assert int(e["lanes"], 16) == 0xffffffff << 32 * (e["warp"] % 4), e
    assert e["registers"] == 32 and e["not_waited_for"] == 0 and "wait::ld" in e["completed_by"][0]["instruction"]
for warp in range(4):  # all 128 columns of the sum
    assert {c for e in loads if e["warp"] == warp for c in range(e["column"], e["column"] + e["columns"])} == set(range(128))
(commit,) = [e for e in events if e["kind"] == "commit"]
for e in events:
    if e["kind"] == "mma D":
        assert [b["line"] for b in e["completed_by"]] == [commit["line"]]
assert "mbarrier.try_wait" in commit["completed_by"][0]["instruction"]
PYTHON
    result $? "JSON"
fi
# Registers of a thread: what a shape moves for a lane times .num, over 32 threads of 32 bits (the document's tables);
# the lanes and columns that it covers.
for row in 32x32b:1:32:1 16x64b:1:16:2 16x128b:2:16:4 16x256b:4:16:8; do
    IFS=: read -r shape unit lanes width <<<"$row"
    for count in 1 4 16; do
        names=$(seq -f '%%r%g' -s ', ' 0 $((unit * count - 1)))
        sed -e '/16x256b/d' -e "s/\.32x32b\.x8\.b32 \[%lanes\].*/.$shape.x$count.b32 [%lanes], {$names};/" \
            -e "s/{\$/{ .reg .b32 %r<64>;/" -e 's/\], 32;/], 128;/; s/%base, 32;/%base, 128;/' examples/tensor_memory.ptx |
            sed '0,/{ .reg/s/{ .reg/{\n    .reg/' >"$work/shape.ptx"
        "$tirc" tmem "$work/shape.ptx" --grid 1 --block 128 --arg A=arange@float32:1024 --arg B=zeros@float32:1024 >"$work/log" 2>/dev/null
        grep -q "tcgen05.st.sync.aligned.$shape.x$count.b32, $((unit * count)) registers\? of each thread" "$work/log" &&
            grep -q "warp 1 (1 of its warpgroup): lanes 32 to $((31 + lanes)); columns\? 0\( to $((width * count - 1))\)\?; " "$work/log"
        result $? "$shape.x$count"
    done
done
# a store without its wait, and a load
sed '/wait::st/d' examples/tensor_memory.ptx >"$work/k.ptx"
"$tirc" tmem "$work/k.ptx" --grid 1 --block 128 --arg A=arange@float32:1024 --arg B=zeros@float32:1024 >"$work/log" 2>"$work/errors"
[ $? -eq 1 ] && grep -q 'st: nothing waited for it' "$work/log" && grep -q 'T0757' "$work/errors"
result $? "nothing waited for a store"
sed '/wait::ld/d' examples/tensor_memory.ptx >"$work/k.ptx"
"$tirc" tmem "$work/k.ptx" --grid 1 --block 128 --arg A=arange@float32:1024 --arg B=zeros@float32:1024 >"$work/log" 2>"$work/errors" &&
    [ "$(grep -c 'ld: nothing waited for it' "$work/log")" -eq 2 ] && grep -q T0758 "$work/errors" && grep -q 'st: completed by' "$work/log"
result $? "nothing waited for loads"
# columns that are not given back
sed '/tcgen05.dealloc/d' examples/tensor_memory.ptx >"$work/k.ptx"
"$tirc" tmem "$work/k.ptx" --grid 1 --block 128 --arg A=arange@float32:1024 --arg B=zeros@float32:1024 >"$work/log" 2>"$work/errors"
[ $? -eq 1 ] && grep -q 'allocates 32 columns' "$work/log" && ! grep -q releases "$work/log" &&
    grep -q '^  never released: columns 0 to 31, allocated in line [0-9]*$' "$work/log" &&
    grep -qx '  at most 32 of 512 columns at a time' "$work/log"
result $? "columns that stay taken"
"$tirc" tmem "$work/k.ptx" --grid 1 --block 128 --arg A=arange@float32:1024 --arg B=zeros@float32:1024 --json >"$work/log" 2>"$work/errors"
[ $? -eq 1 ] && grep -q '"most_columns":32,' "$work/log" && grep -q '"kind":"allocate".*"released":false' "$work/log"
result $? "columns that stay taken, as data"
# two allocations at a time, one after the other given back
"$tirc" tmem tests/cases_tmem/tensor_memory.py:two -D first=256 -D second=128 --arg late=0 --arg B=zeros >"$work/log" 2>&1 &&
    grep -qx '  at most 384 of 512 columns at a time; all are released' "$work/log"
result $? "the most columns at a time"
# a commit covers what its own thread has issued, not what another lane of the warp has
sed -n '/^def copied/,/^# /p' tests/tcgen05/memory.py | sed -e '1i @T.function' -e '$d' \
    -e 's/^        T.ptx.tcgen05.commit(.*/    if tx == 1:\n&/' >"$work/other.py"
"$tirc" tmem "$work/other.py" --arg B=zeros >"$work/log" 2>"$work/errors"
[ $? -eq 1 ] && grep -q ', cp: nothing waited for it$' "$work/log" && grep -q T0808 "$work/errors"
result $? "a commit of another lane"
"$tirc" tmem examples/scale.py --arg A=arange --arg B=zeros >"$work/log" 2>&1 && grep -q '^kernel scale: no CTA used tensor memory$' "$work/log"
result $? "a kernel without tensor memory"
"$tirc" tmem tests/tcgen05/memory.py:half_pair --arg B=zeros >"$work/log" 2>&1
[ $? -eq 1 ] && grep -q '^kernel half_pair: no CTA used tensor memory before the run stopped$' "$work/log"
result $? "a run that hangs"
"$tirc" tmem examples/gemm/single.py --on cuda >"$work/log" 2>&1
[ $? -eq 2 ] && grep -q 'watches the CPU machine' "$work/log"
result $? "not on a GPU"
# the picture beside a run
arguments="--arg A=ones --arg B=ones --arg D=zeros"
# shellcheck disable=SC2086
"$tirc" tmem examples/gemm/single.py $arguments --svg >"$work/answer.svg" 2>"$work/log" &&
    "$tirc" run examples/gemm/single.py $arguments --tmem-map "$work/map.svg" --show D >"$work/log" 2>&1 &&
    grep -q '^D = float32' "$work/log" && cmp "$work/answer.svg" "$work/map.svg" >>"$work/log" 2>&1
result $? "run --tmem-map"
"$tirc" run examples/gemm/single.py --on cuda --tmem-map "$work/none.svg" >"$work/log" 2>&1
[ $? -eq 2 ] && grep -q 'what the CPU machine saw' "$work/log" && [ ! -e "$work/none.svg" ]
result $? "run --tmem-map not on a GPU"
# shellcheck disable=SC2086
"$tirc" run examples/gemm/single.py $arguments --tmem-map "$work/absent/map.svg" >"$work/log" 2>&1
[ $? -ne 0 ] && grep -q 'absent/map.svg' "$work/log"
result $? "run --tmem-map to a folder that is not there"
echo "1..$number"
exit $bad
