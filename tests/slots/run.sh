#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Data over the address that tcgen05.alloc left in shared memory: each kind of store and copy, whatever its width, and what
# is no fault: other bytes, the same value again, an address that is in a register already, a slot that is no longer in
# use. Prints TAP.
set -u
cd "$(dirname "$0")/../.." || exit 2
tirc=${TIRC_BUILD:-build/test}/tirc
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
export NO_COLOR=1
number=0 bad=0

# kernel WRITE: the slot at arena+16 gets the address of 32 columns that do not begin at 0; WRITE stands between that
# and the loads of the address. TAKE is what takes it.
take='ld.shared.b32 %r1, [arena+16];
	add.s32 %r6, %r1, 1;
	tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r2}, [%r6];
	tcgen05.wait::ld.sync.aligned;'
kernel() {
    cat <<END
.version 9.0
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 a)
{
	.reg .b32 %r<20>;
	.reg .b64 %rd<8>;
	.reg .pred %p<4>;
	.shared .align 128 .b8 arena[512];
	.shared .align 8 .b64 bar;
	ld.param.u64 %rd1, [a];
	cvta.to.global.u64 %rd2, %rd1;
	mov.b32 %r9, %tid.x;
	setp.eq.s32 %p1, %r9, 0;
	@%p1 mbarrier.init.shared::cta.b64 [bar], 1;
	tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [arena+256], 32;
	tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [arena+16], 32;
	bar.sync 0;
	ld.shared.b32 %r3, [arena+16];
	mov.b32 %r4, 7;
	tcgen05.st.sync.aligned.32x32b.x2.b32 [%r3], {%r4, %r4};
	tcgen05.wait::st.sync.aligned;
	mov.b32 %r5, 12345;
	mov.b64 %rd3, 987654321987;
$1
	bar.sync 0;
	$take
	ld.shared.b32 %r7, [arena+256];
	tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 32;
	tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r7, 32;
$2
	ret;
}
END
}
run() { "$tirc" run "$work/k.ptx" --grid 1 --block 32 --arg 0=arange@int32:64 --format line >"$work/log" 2>&1; }
say() {
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then echo "ok $number - $2"; else
        echo "not ok $number - $2"
        head -n 12 "$work/log" | sed 's/^/# /'
        bad=1
    fi
}
line_of() { grep -n -F "$1" "$work/k.ptx" | head -n 1 | cut -d: -f1; }
found() { # name, words of the instruction that writes, instructions
    kernel "$3" "" >"$work/k.ptx"
    run
    [ $? -eq 1 ] && [ "$(grep -c 'T0831' "$work/log")" -eq 1 ] && grep -q ":$(line_of "$2"):.*data is written over the address of tensor memory at shared offset .*0x20 \[T0831\]" "$work/log"
    say $? "$1"
}
clean() { # name, instructions, instructions after dealloc
    kernel "$2" "${3:-}" >"$work/k.ptx"
    run
    [ $? -eq 0 ] && ! grep -q T0831 "$work/log"
    say $? "$1"
}
found "one byte" "st.shared.b8" "	@%p1 st.shared.b8 [arena+17], %r5;"
found "two bytes" "st.shared.b16" "	@%p1 st.shared.b16 [arena+18], %r5;"
found "a word" "st.shared.b32" "	@%p1 st.shared.b32 [arena+16], %r5;"
found "a word of every lane" "st.shared.b32 [%r10]" "	mov.b32 %r11, arena;
	mad.lo.s32 %r10, %r9, 4, %r11;
	st.shared.b32 [%r10], %r5;"
found "8 bytes" "st.shared.b64" "	@%p1 st.shared.b64 [arena+16], %rd3;"
found "two words" "st.shared.v2.b32" "	@%p1 st.shared.v2.b32 [arena+16], {%r5, %r5};"
found "four words" "st.shared.v4.b32" "	@%p1 st.shared.v4.b32 [arena+16], {%r5, %r5, %r5, %r5};"
found "a generic address" "st.b32 [%rd5]" "	mov.b32 %r10, arena;
	cvt.u64.u32 %rd4, %r10;
	cvta.shared.u64 %rd5, %rd4;
	add.s64 %rd5, %rd5, 16;
	@%p1 st.b32 [%rd5], %r5;"
found "an atomic operation" "atom.shared.exch.b32" "	@%p1 atom.shared.exch.b32 %r10, [arena+16], %r5;"
found "a reduction" "red.shared.add.u32" "	@%p1 red.shared.add.u32 [arena+16], %r5;"
found "cp.async" "cp.async.ca.shared.global" "	@%p1 cp.async.ca.shared.global [arena+16], [%rd2+16], 4;
	cp.async.wait_all;"
found "cp.async of 16 bytes" "cp.async.cg.shared.global" "	@%p1 cp.async.cg.shared.global [arena+16], [%rd2+16], 16;
	cp.async.wait_all;"
found "a bulk copy" "cp.async.bulk.shared" "	@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 64;
	@%p1 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [arena], [%rd2], 64, [bar];
wait:
	mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
	@!%p2 bra wait;"
found "st.bulk" "st.bulk" "	mov.b32 %r10, arena;
	cvt.u64.u32 %rd4, %r10;
	cvta.shared.u64 %rd5, %rd4;
	@%p1 st.bulk [%rd5], 64, 0;"

clean "no store at all" ""
clean "bytes before and behind" "	@%p1 st.shared.b32 [arena+12], %r5;
	@%p1 st.shared.b32 [arena+20], %r5;"
clean "the same value again" "	@%p1 st.shared.b32 [arena+16], %r3;"
clean "another value, and the address back before anybody looks" "	@%p1 st.shared.b32 [arena+16], %r5;
	bar.sync 0;
	@%p1 st.shared.b32 [arena+16], %r3;"
clean "after dealloc" "" "	bar.sync 0;
	@%p1 st.shared.b32 [arena+16], %r5;
	bar.sync 0;
	ld.shared.b32 %r8, [arena+16];
	@%p1 st.global.b32 [%rd2], %r8;"
saved=$take
take='tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r2}, [%r3];
	tcgen05.wait::ld.sync.aligned;
	ld.shared.v4.b32 {%r10, %r11, %r12, %r13}, [arena+16];
	st.global.b32 [%rd2], %r10;'
clean "the address is in a register already, and the bytes are read as data" "	@%p1 st.shared.b32 [arena+16], %r5;"
take='tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r2}, [%r3];
	tcgen05.wait::ld.sync.aligned;
	ld.shared.b32 %r10, [arena+16];
	tcgen05.st.sync.aligned.32x32b.x1.b32 [%r3], {%r10};
	tcgen05.wait::st.sync.aligned;'
clean "the bytes become data in tensor memory" "	@%p1 st.shared.b32 [arena+16], %r5;"
take=$saved
kernel "	@%p1 st.shared.b32 [arena+16], %r5;" "" >"$work/k.ptx"
"$tirc" run "$work/k.ptx" --grid 1 --block 32 --arg 0=arange@int32:64 >"$work/log" 2>&1
grep -q "at shared offset .*, of the alloc of line\|at shared offset" "$work/log" && grep -q "taken as an address here" "$work/log" && grep -q "0x3039 instead of 0x20" "$work/log"
say $? "both places and both values are named"
"$tirc" explain T0831 >"$work/log" 2>&1 && grep -q "tcgen05.alloc left an address" "$work/log"
say $? "explain T0831"

# case B11: a tile that a pool puts on the slot
cat >"$work/b11.py" <<'END'
from tvm.backend.cuda.lang import SMEMPool
from tvm.script import tirx as T


@T.prim_func
def over(A: T.Buffer((128,), "float32"), B: T.Buffer((128,), "uint32")):
    T.device_entry()
    T.cta_id([1])
    warp_id = T.warp_id([4])
    lane_id = T.lane_id([32])
    tx = T.meta_var(warp_id * 32 + lane_id)
    pool = SMEMPool()
    slot = pool.alloc((1,), "uint32")
    pool.move_base_to(0)
    tile = pool.alloc((128,), "float32")
    pool.commit()
    if warp_id == 0:
        T.ptx.tcgen05.alloc(T.address_of(slot), n_cols=32, cta_group=1)
    T.ptx.tcgen05.fence.before_thread_sync()
    T.cuda.cta_sync()
    T.ptx.tcgen05.fence.after_thread_sync()
    tile[tx] = A[tx] + T.float32(1.0)
    T.cuda.cta_sync()
    B[tx] = T.reinterpret("uint32", tile[127 - tx])
    if warp_id == 0:
        T.ptx.tcgen05.relinquish_alloc_permit(cta_group=1)
        T.ptx.tcgen05.dealloc(slot[0], n_cols=32, cta_group=1)
END
"$tirc" run "$work/b11.py" --arg A=arange --out "B=$work/b.npy" >"$work/log" 2>&1
[ $? -eq 1 ] && grep -q 'T0831' "$work/log" && grep -q "b11.py:22:" "$work/log" && grep -q "b11.py:27:" "$work/log"
say $? "case B11: the tile's store is named, and the load that takes the address"
echo "1..$number"
exit $bad
