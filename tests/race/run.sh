#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Races in shared memory and reads of memory that nothing wrote (tirc run --check, tirc check --tool): for each way to order
# two threads a kernel that keeps it, clean under every schedule, and beside it one that does not, found under each. Prints
# TAP.
set -u
shopt -s lastpipe # what comes through a pipe counts here
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
# A kernel with the body that comes on standard input; %t thread, %w warp, %l lane, %s the tile, %mine and %next the words of
# the thread and of the one after it, %out the address of B for this thread.
kernel() { # target
    cat <<END
.version 8.7
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 B)
{
    .reg .pred %p<8>;
    .reg .b16 %h<4>;
    .reg .b32 %r<48>, %t, %w, %l, %s, %bar, %slot, %mine, %next, %flag;
    .reg .b64 %d<16>, %out, %in;
    .shared .align 1024 .b8 tile[8192];
    .shared .align 8 .b64 bars[4];
    .shared .align 4 .b32 word;
    .shared .align 4 .b32 flag;
    mov.u32 %t, %tid.x;
    shr.u32 %w, %t, 5;
    and.b32 %l, %t, 31;
    mov.u32 %s, tile;
    mov.u32 %bar, bars;
    mov.u32 %slot, word;
    mov.u32 %flag, flag;
    ld.param.u64 %in, [B];
    mul.wide.u32 %d0, %t, 4;
    add.s64 %out, %in, %d0;
    shl.b32 %mine, %t, 2;
    add.u32 %mine, %mine, %s;
    add.u32 %next, %t, 1;
    and.b32 %next, %next, $((${options[1]} - 1));
    shl.b32 %next, %next, 2;
    add.u32 %next, %next, %s;
    mov.b32 %r0, 0;
END
    cat
    printf 'done:\n    ret;\n}\n'
}
options=(--block 128)
schedules="early late 4 9"
run() { "$tirc" run "$work/k.ptx" --grid 1 "${options[@]}" --arg B=zeros@float32:4096 --check --format line "$@" >"$work/log" 2>&1; }
wrong() { # name, pattern; the body comes on standard input
    kernel >"$work/k.ptx"
    local status=0
    for schedule in $schedules; do
        run --schedule "$schedule"
        [ $? -eq 1 ] && grep -q -e "$2" "$work/log" || status=1
        [ $status -eq 0 ] || break
    done
    result $status "$1"
}
right() { # name
    kernel >"$work/k.ptx"
    local status=0
    for schedule in $schedules; do
        run --schedule "$schedule"
        [ $? -eq 0 ] && ! grep -q -e warning: -e error: "$work/log" || status=1
        [ $status -eq 0 ] || break
    done
    result $status "$1"
}

# ---- barriers of the CTA ----
neighbour() { # what stands between
    cat <<END
    st.shared.u32 [%mine], %t;
    $1
    ld.shared.u32 %r1, [%next];
    st.global.u32 [%out], %r1;
END
}
neighbour "" | wrong "a neighbour's element without a barrier" 'reads it and .* writes it.*T0847'
neighbour "bar.sync 0;" | right "a neighbour's element behind a barrier"
neighbour "bar.sync 0; bar.sync 0;" | right "two barriers"
neighbour "bar.sync 3, 128;" | right "a named barrier of all"
neighbour "setp.lt.u32 %p1, %t, 64; @%p1 bar.sync 1, 64; @!%p1 bar.sync 2, 64;" | wrong "named barriers of two halves" 'T0847'
neighbour "membar.cta;" | wrong "a fence is no barrier" 'T0847'
neighbour "bar.warp.sync -1;" | wrong "a barrier of the warp does not order warps" 'thread (\(31\|63\|95\|127\),0,0) reads.*T0847'
options=(--block 32)
neighbour "bar.warp.sync -1;" | right "a barrier of the warp orders its lanes"
neighbour "" | wrong "lanes of a warp have no order of their own" 'thread (0,0,0) reads.*thread (1,0,0) writes.*T0847'
neighbour "shfl.sync.idx.b32 %r2, %t, 0, 31, -1;" | right "a shuffle counts as a meeting of its lanes"
neighbour "elect.sync %r2|%p1, -1;" | wrong "elect.sync does not" 'T0847'
neighbour "and.b32 %r2, %l, 16; setp.eq.u32 %p1, %r2, 0; @%p1 bar.warp.sync 0xffff; @!%p1 bar.warp.sync 0xffff0000;" |
    wrong "two halves of a warp" 'thread (15,0,0) reads.*thread (16,0,0) writes.*T0847'
options=(--block 64)
guarded() { # C01
    cat <<END
    setp.ge.u32 %p1, %t, 48;
    @%p1 bra written;
    st.shared.u32 [%mine], %t;
written:
    $1
    @%p1 bra done;
    sub.u32 %r2, 47, %t;
    shl.b32 %r2, %r2, 2;
    add.u32 %r2, %r2, %s;
    ld.shared.u32 %r3, [%r2];
    st.global.u32 [%out], %r3;
END
}
guarded "" | wrong "case C01: 48 of 64 threads write, and read without a barrier" T0847
guarded "bar.sync 0;" | right "case C01: with the barrier outside of the branch"
looped() { # C02: in a guarded loop
    cat <<END
    setp.ge.u32 %p1, %t, 32;
    mov.u32 %r4, 0;
    mov.u32 %r5, 0;
    @%p1 bra done;
again:
    add.u32 %r6, %t, %r4;
    st.shared.u32 [%mine], %r6;
    $1
    xor.b32 %r2, %l, 1;
    shl.b32 %r2, %r2, 2;
    add.u32 %r2, %r2, %s;
    ld.shared.u32 %r3, [%r2];
    add.u32 %r5, %r5, %r3;
    $2
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p2, %r4, 3;
    @%p2 bra again;
    st.global.u32 [%out], %r5;
END
}
looped "" "" | wrong "case C02: elements of others in a guarded loop" T0847
looped "bar.warp.sync -1;" "" | wrong "case C02: one barrier is missing in the loop" T0847
looped "bar.warp.sync -1;" "bar.warp.sync -1;" | right "case C02: both barriers"
options=(--block 512)
first_32() { # C04
    cat <<END
    setp.ge.u32 %p1, %t, 32;
    shl.b32 %r1, %l, 2;
    add.u32 %r1, %r1, %s;
    add.u32 %r2, %t, 5;
    @%p1 bra written;
    st.shared.u32 [%r1], %r2;
written:
    $1
    ld.shared.u32 %r3, [%r1];
    st.global.u32 [%out], %r3;
END
}
first_32 "" | wrong "case C04: 32 threads write, 512 read" T0847
first_32 "bar.sync 0;" | right "case C04: with a barrier"
options=(--block 64)
handed() { # the first warp arrives, the second waits; then the first writes again
    cat <<END
    setp.ge.u32 %p1, %t, 32;
    shl.b32 %r1, %l, 2;
    add.u32 %r1, %r1, %s;
    @%p1 bra reader;
    st.shared.u32 [%r1], %t;
    bar.arrive 1, 64;
    $1
    st.shared.u32 [%r1], %mine;
    bra done;
reader:
    bar.sync 1, 64;
    ld.shared.u32 %r3, [%r1];
    $2
    st.global.u32 [%out], %r3;
END
}
handed "bar.sync 2, 64;" "bar.arrive 2, 64;" | right "a producer and a consumer with bar.arrive both ways"
handed "" "" | wrong "the producer does not wait for the consumer" T0847

# ---- mbarriers ----
published() { # before the arrive; who arrives; count
    cat <<END
    setp.ne.u32 %p1, %t, 0;
    @%p1 bra ready;
    mbarrier.init.shared.b64 [%bar], $3;
ready:
    $4
    setp.ge.u32 %p2, %t, 32;
    shl.b32 %r1, %l, 2;
    add.u32 %r1, %r1, %s;
    @%p2 bra consumer;
    st.shared.u32 [%r1], %t;
    $1
    setp.ne.u32 %p3, %l, $2;
    @%p3 bra done;
    mbarrier.arrive.shared.b64 _, [%bar];
    bra done;
consumer:
    mbarrier.try_wait.parity.shared.b64 %p4, [%bar], 0;
    @!%p4 bra consumer;
    ld.shared.u32 %r3, [%r1];
    st.global.u32 [%out], %r3;
END
}
published "" 0 1 "bar.sync 0;" | wrong "case C12: one lane arrives before its warp has finished writing" 'thread (33,0,0) reads.*thread (1,0,0) writes.*T0847'
kernel < <(published "" 0 1 "bar.sync 0;") >"$work/k.ptx"
"$tirc" run "$work/k.ptx" --grid 1 --block 64 --arg B=zeros@float32:4096 --check >"$work/log" 2>&1
grep -q 'help: only another lane of its warp has arrived.*warp_sync' "$work/log"
result $? "case C12: the report says what is missing"
published "bar.warp.sync -1;" 0 1 "bar.sync 0;" | right "case C12: with a barrier of the warp before the arrive"
published "elect.sync %r9|%p5, -1;" 0 1 "bar.sync 0;" | wrong "case C12: elect.sync is not enough" T0847
published "mbarrier.arrive.shared.b64 _, [%bar];" 99 32 "bar.sync 0;" | right "case C12: an arrival of every lane"
published "bar.warp.sync -1;" 0 1 "" | wrong "an mbarrier that is not published" 'T0847\|T0765'
elected() { # C09: who initialises
    cat <<END
    shr.u32 %r4, %t, 5;
    and.b32 %r4, %r4, 3;
    or.b32 %r4, %r4, %l;
    setp.ne.u32 %p1, $1, 0;
    @%p1 bra ready;
    mbarrier.init.shared.b64 [%bar], 1;
ready:
    bar.sync 0;
END
}
options=(--block 256)
elected %r4 | wrong "case C09: each warpgroup initialises the barrier" 'T0770'
elected %r4 | wrong "case C09: the two do not know of each other" 'T084[78]'
elected %t | right "case C09: one thread does"

# ---- a slot of tensor memory ----
options=(--block 64)
slot() { # C21
    cat <<END
    setp.ge.u32 %p1, %t, 32;
    @%p1 bra others;
    tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%slot], 32;
    tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
others:
    $1
    ld.shared.u32 %r1, [%slot];
    st.global.u32 [%out], %r1;
    bar.sync 0;
    @%p1 bra done;
    tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;
END
}
slot "" | wrong "case C21: the slot is read before it is published" 'reads.*writes.*T0847'
slot "bar.sync 0;" | right "case C21: with a barrier"

# ---- fences and flags ----
flagged() { # store of the flag, load of the flag, and fences
    cat <<END
    setp.ne.u32 %p1, %t, 0;
    @%p1 bra started;
    st.shared.u32 [%flag], 0;
started:
    bar.sync 0;
    @%p1 bra reader;
    st.shared.u32 [%s], 7;
    $1
    bra done;
reader:
    setp.ne.u32 %p2, %t, 32;
    @%p2 bra done;
look:
    $2
    setp.eq.u32 %p3, %r1, 0;
    @%p3 bra look;
    $3
    ld.shared.u32 %r2, [%s];
    st.global.u32 [%out], %r2;
END
}
flagged "st.release.cta.shared.u32 [%flag], 1;" "ld.acquire.cta.shared.u32 %r1, [%flag];" "" | right "release and acquire"
flagged "membar.cta; st.volatile.shared.u32 [%flag], 1;" "ld.volatile.shared.u32 %r1, [%flag];" "membar.cta;" |
    right "fences and volatile accesses"
flagged "fence.acq_rel.cta; atom.shared.exch.b32 %r3, [%flag], 1;" "atom.shared.or.b32 %r1, [%flag], 0;" "fence.acq_rel.cta;" |
    right "fences and atomics"
flagged "atom.release.cta.shared.exch.b32 %r3, [%flag], 1;" "atom.acquire.cta.shared.or.b32 %r1, [%flag], 0;" "" |
    right "atomics that release and acquire"
flagged "st.volatile.shared.u32 [%flag], 1;" "ld.volatile.shared.u32 %r1, [%flag];" "" | wrong "volatile accesses without fences" T0847
flagged "st.release.cta.shared.u32 [%flag], 1;" "ld.relaxed.cta.shared.u32 %r1, [%flag];" "" | wrong "no acquire" T0847
flagged "st.relaxed.cta.shared.u32 [%flag], 1;" "ld.acquire.cta.shared.u32 %r1, [%flag];" "" | wrong "no release" T0847
flagged "membar.cta; st.shared.u32 [%flag], 1;" "ld.volatile.shared.u32 %r1, [%flag];" "membar.cta;" |
    wrong "a flag that is written by an ordinary store" T0847
cat <<'END' | right "atomics do not race with each other"
    setp.ne.u32 %p1, %t, 0;
    @!%p1 st.shared.u32 [%flag], 0;
    bar.sync 0;
    red.shared.add.u32 [%flag], 1;
    bar.sync 0;
    ld.shared.u32 %r1, [%flag];
    st.global.u32 [%out], %r1;
END
cat <<'END' | wrong "an atomic and an ordinary load" T0847
    setp.ne.u32 %p1, %t, 0;
    @!%p1 st.shared.u32 [%flag], 0;
    bar.sync 0;
    red.shared.add.u32 [%flag], 1;
    ld.shared.u32 %r1, [%flag];
    st.global.u32 [%out], %r1;
END

# ---- two writes ----
cat <<'END' | wrong "two threads write different values" 'writes it and .* writes it, too.*T0848'
    setp.ge.u32 %p1, %l, 1;
    @%p1 bra done;
    st.shared.u32 [%s], %t;
END
cat <<'END' | wrong "lanes of one store" 'thread ([0-9]*,0,0) and thread ([0-9]*,0,0) write different values.*T0849'
    st.shared.u32 [%s], %l;
END
cat <<'END' | right "everybody writes the same value"
    st.shared.u32 [%s], 5;
END
cat <<'END' | right "bytes of one word belong to different threads"
    add.u32 %r1, %s, %t;
    cvt.u16.u32 %h1, %t;
    st.shared.u8 [%r1], %h1;
    ld.shared.u8 %h2, [%r1];
    bar.sync 0;
    shl.b32 %r2, %t, 2;
    and.b32 %r2, %r2, 60;
    add.u32 %r2, %r2, %s;
    ld.shared.u32 %r3, [%r2];
    st.global.u32 [%out], %r3;
END

# ---- copies ----
copied() { # after the copy; then
    cat <<END
    cp.async.ca.shared.global [%mine], [%out], 4;
    cp.async.commit_group;
    $1
    ld.shared.u32 %r1, [%next];
    st.global.u32 [%out+4096], %r1;
END
}
options=(--block 128)
copied "cp.async.wait_group 0; bar.sync 0;" | right "cp.async: wait, then the barrier"
copied "bar.sync 0; cp.async.wait_group 0;" | wrong "cp.async: a wait behind the barrier orders its own thread only" 'T0847\|T0774'
copied "cp.async.wait_group 0;" | wrong "cp.async: no barrier" 'T0847\|T0774'
bulk() { # who waits; after the wait
    cat <<END
    setp.ne.u32 %p1, %t, 0;
    @%p1 bra started;
    mbarrier.init.shared.b64 [%bar], 1;
    fence.proxy.async.shared::cta;
started:
    bar.sync 0;
    @%p1 bra wait;
    mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 512;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%in], 512, [%bar];
wait:
    setp.ge.u32 %p2, %t, $1;
    @%p2 bra waited;
look:
    mbarrier.try_wait.parity.shared.b64 %p3, [%bar], 0;
    @!%p3 bra look;
waited:
    $2
    ld.shared.u32 %r1, [%next];
    st.global.u32 [%out+4096], %r1;
END
}
bulk 128 "" | right "a bulk copy that every thread waits for"
bulk 32 "bar.sync 0;" | right "a bulk copy that one warp waits for, and a barrier"
bulk 32 "" | wrong "a bulk copy that the others do not wait for" 'T0847\|T0774'
ring() { # before the arrival at the empty barrier
    cat <<END
    setp.ne.u32 %p1, %t, 0;
    @%p1 bra started;
    mbarrier.init.shared.b64 [%bar], 1;
    mbarrier.init.shared.b64 [%bar+8], 1;
    fence.proxy.async.shared::cta;
started:
    bar.sync 0;
    setp.ge.u32 %p2, %t, 32;
    mov.u32 %r4, 0;
    @%p2 bra consumer;
    @%p1 bra done;
produce:
    and.b32 %r5, %r4, 1;
    xor.b32 %r6, %r5, 1;
empty:
    mbarrier.try_wait.parity.shared.b64 %p3, [%bar+8], %r6;
    @!%p3 bra empty;
    mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 128;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%in], 128, [%bar];
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p4, %r4, 4;
    @%p4 bra produce;
    bra done;
consumer:
    and.b32 %r5, %r4, 1;
full:
    mbarrier.try_wait.parity.shared.b64 %p3, [%bar], %r5;
    @!%p3 bra full;
    shl.b32 %r7, %l, 2;
    add.u32 %r7, %r7, %s;
    ld.shared.u32 %r8, [%r7];
    add.u32 %r9, %r9, %r8;
    $1
    setp.eq.u32 %p5, %l, 0;
    @%p5 mbarrier.arrive.shared.b64 _, [%bar+8];
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p4, %r4, 4;
    @%p4 bra consumer;
    st.global.u32 [%out+4096], %r9;
END
}
options=(--block 64)
ring "bar.warp.sync -1;" | right "a ring: the consumers meet before one says that the place is empty"
ring "" | wrong "a ring: one lane says so while others may still read" 'T0847'

# ---- clusters ----
options=(--block 32 --cluster 2)
peer() { # between
    cat <<END
    st.shared.u32 [%mine], %t;
    $1
    mapa.shared::cluster.u32 %r1, %mine, 1;
    ld.shared::cluster.u32 %r2, [%r1];
    st.global.u32 [%out], %r2;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
END
}
kernel < <(peer "") >"$work/k.ptx"
cluster() { "$tirc" run "$work/k.ptx" --grid 2 "${options[@]}" --arg B=zeros@float32:4096 --check --format line --schedule "$1" >"$work/log" 2>&1; }
status=0
for schedule in $schedules; do
    cluster $schedule
    [ $? -eq 1 ] && grep -q 'of CTA (0,0,0) reads it and .* of CTA (1,0,0) writes it.*T0847' "$work/log" || status=1
done
result $status "shared memory of another CTA without a barrier of the cluster"
kernel < <(peer "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;") >"$work/k.ptx"
status=0
for schedule in $schedules; do
    cluster $schedule || status=1
done
result $status "shared memory of another CTA behind a barrier of the cluster"

cancelled() { # whether the other CTA waits
    cat <<END
    mov.u32 %r20, %cluster_ctarank;
    setp.ne.u32 %p1, %t, 0;
    @%p1 bra started;
    mbarrier.init.shared.b64 [%bar], 1;
    mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 16;
    fence.mbarrier_init.release.cluster;
started:
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    or.b32 %r21, %r20, %t;
    setp.ne.u32 %p2, %r21, 0;
    @%p2 bra look;
    clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [%s], [%bar];
look:
    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%bar], 0;
    @!%p3 bra look;
    ld.shared.u32 %r3, [%s];
    st.global.u32 [%out], %r3;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
END
}
kernel < <(cancelled) >"$work/k.ptx"
status=0
for schedule in $schedules; do
    cluster $schedule || status=1
done
result $status "a cancelled launch is told to all CTAs of the cluster"

# ---- never written ----
options=(--block 32)
cat <<'END' | wrong "shared memory that nothing wrote" 'load of 4 bytes at shared address 0x.* reads memory that nothing has written before.*T0713'
    ld.shared.u32 %r1, [%mine];
    st.global.u32 [%out], %r1;
END
cat <<'END' | wrong "a part of a vector that nothing wrote" 'T0713'
    shl.b32 %r5, %t, 4;
    add.u32 %r5, %r5, %s;
    st.shared.v2.u32 [%r5], {%t, %l};
    ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%r5];
    st.global.u32 [%out], %r4;
END
cat <<'END' | right "st.bulk writes"
    setp.ne.u32 %p1, %t, 0;
    @%p1 bra written;
    mov.u64 %d1, 128;
    st.bulk.weak.shared::cta [%s], %d1, 0;
written:
    bar.sync 0;
    ld.shared.u32 %r1, [%mine];
    st.global.u32 [%out], %r1;
END
initial() { # condition of the store
    cat <<END
    .local .align 4 .b32 m[4];
    and.b32 %r1, %t, 1;
    setp.ne.u32 %p1, %r1, 0;
    mov.u64 %d1, m;
    and.b32 %r2, %t, 3;
    mul.wide.u32 %d2, %r2, 4;
    add.s64 %d1, %d1, %d2;
    $1 st.local.u32 [%d1], %t;
    ld.local.u32 %r3, [%d1];
    st.global.u32 [%out], %r3;
END
}
initial "@%p1" | wrong "case E07: local memory that some threads have not written" 'local address.*T0713'
initial "" | right "case E07: written on every way"

# A scalar of a script is a register on the way to PTX, but for this check.
cat >"$work/scalar.py" <<'END'
from tvm_tirx.script import tirx as T


@T.function
def k(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32"), first: T.int32):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(64,)))
    t = T.cuda.thread_idx("x")
    m: T.float32
    if first == 0:
        m = A[t]
    B[t] = m + 1.0
END
for first in 0 1; do
    "$tirc" run "$work/scalar.py" --arg A=ones --arg B=zeros --arg first=$first --check --format line >"$work/log" 2>&1
    if [ $? -eq $first ] && [ $first -eq 0 ]; then
        ! grep -q T0713 "$work/log"
        result $? "case E07: a scalar that was written"
    else
        grep -q 'scalar.py:11:5: error: .*`m\[0\]`.*nothing has written before.*T0713' "$work/log"
        result $? "case E07: a scalar read where \`first\` is true"
    fi
done

# What is written on every way before it is read is a register also here; what may not be stays, and is found.
cat >"$work/ways.py" <<'END'
from tvm_tirx.script import tirx as T


@T.function
def k(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32"), n: T.int32):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(64,)))
    t = T.cuda.thread_idx("x")
    both: T.float32
    if n > 2:
        both = A[t]
    else:
        both = 2.0
    sums = T.alloc_local((4,), "float32")
    for i in T.unroll(4):
        sums[i] = both
    for i in T.serial(n):
        for j in T.unroll(4):
            sums[j] = sums[j] + 1.0
    late: T.float32
    for i in T.serial(n):
        if i == 3:
            break
        late = sums[0]
    B[t] = late + sums[1] + sums[2] + sums[3]
END
for n in 0 1 5; do
    "$tirc" run "$work/ways.py" --arg A=ones --arg B=zeros --arg n=$n --check --stats --format line >"$work/log" 2>&1
    status=$?
    grep -q 'local `both` is in registers' "$work/log" && grep -q 'local `sums` is in registers' "$work/log" &&
        grep -q 'local `late` is in .local memory.*may be read before it is written' "$work/log" &&
        if [ $n -eq 0 ]; then [ $status -eq 1 ] && [ "$(grep -c T0713 "$work/log")" -eq 1 ] && grep -q 'ways.py:24:.*`late' "$work/log"; else [ $status -eq 0 ]; fi
    result $? "case E07: locals by the ways to them, a loop of $n rounds"
done

# ---- the kernels of tirc explain ----
script() { # code, wrong or right
    cat <<END
from tvm_tirx.script import tirx as T


@T.function
def k(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(64,)))
    tx = T.cuda.thread_idx("x")
    tile = T.alloc_shared((64,), "float32")
END
    "$tirc" explain "$1" | sed -n "/^$2:\$/,/^\$/p" | grep '^    '
}
explained() { "$tirc" check "$work/k.py" --tool racecheck --arg A=arange --arg B=zeros --format line >"$work/log" 2>&1; }
for code in T0847 T0848 T0849; do
    script $code wrong >"$work/k.py"
    explained
    [ $? -eq 1 ] && grep -q "k.py:.*\`tile\[.*\[$code\]" "$work/log"
    result $? "tirc explain $code: the wrong kernel"
    script $code right >"$work/k.py"
    explained
    result $? "tirc explain $code: the right kernel"
done

# ---- tools ----
kernel < <(neighbour "") >"$work/k.ptx"
tool() { "$tirc" check "$work/k.ptx" --grid 1 --block 128 --arg B=zeros@float32:4096 --format line "$@" >"$work/log" 2>&1; }
tool --tool racecheck
[ $? -eq 1 ] && grep -q T0847 "$work/log"
result $? "tirc check --tool racecheck"
tool --tool memcheck,synccheck,tmemcheck && grep -q clean "$work/log"
result $? "other tools do not look for races"
tool --tool all
[ $? -eq 1 ] && grep -q T0847 "$work/log"
result $? "tirc check --tool all"
tool --tool racecheck,speedcheck
[ $? -eq 2 ] && grep -q '`speedcheck` is no tool; memcheck, initcheck, racecheck, synccheck, tmemcheck or all is wanted' "$work/log"
result $? "a tool that is not there"
tool --tool ''
[ $? -eq 2 ]
result $? "an empty list of tools"
tool
[ $? -eq 2 ] && grep -q -e '--tool says what to run the kernel for' "$work/log"
result $? "options of a run without a tool"
"$tirc" run "$work/k.ptx" --grid 1 --block 128 --arg B=zeros@float32:4096 --format line >"$work/log" 2>&1
result $? "a run without --check finds none"
for threads in 1 2 3; do
    "$tirc" run "$work/k.ptx" --grid 40 --block 128 --arg B=zeros@float32:4096 --check --threads $threads --format json >"$work/$threads" 2>&1
done
cmp "$work/1" "$work/2" >"$work/log" 2>&1 && cmp "$work/1" "$work/3" >>"$work/log" 2>&1 && grep -q '"T0847"' "$work/1"
result $? "the report does not depend on the workers"
echo "1..$number"
exit $bad
