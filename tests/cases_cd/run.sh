#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Kinds of failure that users of tools in this field reported in public, written afresh for the machine: barriers, phases and
# races (C), tensor memory and pairs (D). The wrong kernel ends in the report that names it, the right one beside it in none,
# under every schedule. Prints TAP.
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
# A kernel with the body that comes on standard input; %t thread, %w warp, %l lane, %out the address of B for this thread.
kernel() { # target
    cat <<END
.version 8.7
.target ${1:-sm_100a}
.address_size 64
.visible .entry k(.param .u64 B)
{
    .reg .pred %p<8>;
    .reg .b16 %h<4>;
    .reg .b32 %r<48>, %t, %w, %l, %s, %bar, %slot, %base, %lanes;
    .reg .b64 %d<16>, %out;
    .shared .align 1024 .b8 tile[8192];
    .shared .align 8 .b64 bars[4];
    .shared .align 4 .b32 word;
    mov.u32 %t, %tid.x;
    shr.u32 %w, %t, 5;
    and.b32 %l, %t, 31;
    mov.u32 %s, tile;
    mov.u32 %bar, bars;
    mov.u32 %slot, word;
    ld.param.u64 %out, [B];
    mul.wide.u32 %d0, %t, 4;
    add.s64 %out, %out, %d0;
    mov.b32 %r0, 0;
END
    cat
    printf 'done:\n    ret;\n}\n'
}
options=(--block 128)
run() { "$tirc" run "$work/k.ptx" --grid 1 "${options[@]}" --arg B=zeros@float32:4096 --format line "$@" >"$work/log" 2>&1; }
wrong() { # name, pattern; the body comes on standard input
    kernel >"$work/k.ptx"
    local status=0
    for schedule in early late 4; do
        run --schedule $schedule
        [ $? -eq 1 ] && grep -q -e "$2" "$work/log" || status=1
        [ $status -eq 0 ] || break
    done
    result $status "$1"
}
differs() { # name: a race, which shows in what the schedules give
    kernel >"$work/k.ptx"
    run --schedule all
    [ $? -eq 1 ] && grep -q T0780 "$work/log"
    result $? "$1"
}
right() { # name
    kernel >"$work/k.ptx"
    run --schedule all
    [ $? -eq 0 ] && ! grep -q -e warning: -e error: "$work/log"
    result $? "$1"
}

# ---- C: barriers, phases, synchronisation ----
options=(--block 64)
guarded() { # barrier or nothing
    cat <<END
    setp.ge.u32 %p1, %t, 48;
    shl.b32 %r1, %t, 2;
    add.u32 %r1, %r1, %s;
    @%p1 bra written;
    st.shared.u32 [%r1], %t;
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
guarded "" | differs "case C01: 48 of 64 threads write, and read without a barrier"
guarded "bar.sync 0;" | right "case C01: with the barrier outside of the branch"
guarded "" | differs "case C02: elements of others in a guarded part"
options=(--block 512)
first_32() {
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
first_32 "" | differs "case C04: 32 threads write, 512 read"
first_32 "bar.sync 0;" | right "case C04: with a barrier"
options=(--block 32)
steps() { # where the parity toggles
    cat <<END
    setp.ne.u32 %p1, %t, 0;
    @%p1 bra done;
    mbarrier.init.shared.b64 [%bar], 1;
    mov.b32 %r1, 0;
    mov.b32 %r2, 0;
tile:
    mbarrier.arrive.shared.b64 _, [%bar];
one:
    mbarrier.try_wait.parity.shared.b64 %p2, [%bar], %r1;
    @!%p2 bra one;
    xor.b32 %r1, %r1, 1;
    mbarrier.arrive.shared.b64 _, [%bar];
two:
    mbarrier.try_wait.parity.shared.b64 %p2, [%bar], %r1;
    @!%p2 bra two;
    $1
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p3, %r2, 2;
    @%p3 bra tile;
END
}
steps "" | wrong "case C07: the parity is not toggled in the tail" 'waits at .*phase.*T0709\|deadlock.*T0709'
steps "xor.b32 %r1, %r1, 1;" | right "case C07: toggled after every wait"
parity() {
    cat <<END
    setp.ne.u32 %p1, %t, 0;
    @%p1 bra done;
    mbarrier.init.shared.b64 [%bar], 1;
one:
    mbarrier.try_wait.parity.shared.b64 %p2, [%bar], $1;
    @!%p2 bra one;
END
}
parity 1 | right "case C08: parity 1 of a fresh barrier has passed"
parity 0 | wrong "case C08: parity 0 waits for the first phase" 'T0709'
options=(--block 256)
cat <<'END' | wrong "case C09: two warps initialise one barrier" 'T0770'
    and.b32 %r1, %w, 3;
    setp.ne.u32 %p1, %r1, 1;
    setp.ne.or.u32 %p1, %l, 0, %p1;
    @%p1 bra ready;
    mbarrier.init.shared.b64 [%bar], 1;
ready:
    bar.sync 0;
END
cat <<'END' | right "case C09: one does"
    setp.ne.u32 %p1, %t, 32;
    @%p1 bra ready;
    mbarrier.init.shared.b64 [%bar], 1;
ready:
    bar.sync 0;
END
options=(--block 192)
groups() { # the second id
    cat <<END
    setp.lt.u32 %p1, %t, 64;
    @%p1 bra first;
    bar.sync $1, 128;
    bra done;
first:
    bar.sync 3, 64;
END
}
groups 3 | wrong "case C15: 64 and 128 threads at the same named barrier" 'T0710'
groups 4 | right "case C15: two barriers"
options=(--block 128)
tile_out() { # fence
    cat <<END
    shl.b32 %r1, %t, 2;
    add.u32 %r1, %r1, %s;
    st.shared.u32 [%r1], %t;
    $1
    bar.sync 0;
    setp.ne.u32 %p1, %t, 0;
    @%p1 bra done;
    cp.async.bulk.global.shared::cta.bulk_group [%out], [%s], 512;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
END
}
kernel < <(tile_out "") >"$work/k.ptx"
run
[ $? -eq 1 ] && grep -q 'fence.proxy.async since .T0792' "$work/log"
result $? "case C17: a tile is stored, and copied out behind a barrier alone"
tile_out "fence.proxy.async.shared::cta;" | right "case C17: with fence.proxy.async"

# ---- D: tensor memory ----
# The pieces of a kernel: alloc by warp 0 and publication, what is done, dealloc.
allocate() { # columns, cta_group
    cat <<END
    setp.ne.u32 %p1, %w, 0;
    @%p1 bra allocated;
    tcgen05.alloc.cta_group::${2:-1}.sync.aligned.shared::cta.b32 [%slot], $1;
    tcgen05.relinquish_alloc_permit.cta_group::${2:-1}.sync.aligned;
allocated:
    tcgen05.fence::before_thread_sync;
    bar.sync 0;
    tcgen05.fence::after_thread_sync;
    ld.shared.u32 %base, [%slot];
    shl.b32 %lanes, %w, 21;
    add.u32 %lanes, %lanes, %base;
END
}
free() { # columns, cta_group
    cat <<END
    tcgen05.fence::before_thread_sync;
    bar.sync 0;
    tcgen05.fence::after_thread_sync;
    @%p1 bra done;
    tcgen05.dealloc.cta_group::${2:-1}.sync.aligned.b32 %base, $1;
END
}
store="tcgen05.st.sync.aligned.32x32b.x1.b32 [%lanes], {%t};"
stored="tcgen05.wait::st.sync.aligned;"
load="tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%lanes];"
loaded="tcgen05.wait::ld.sync.aligned;"
out="st.global.u32 [%out], %r1;"
whole() { # instructions
    allocate 64
    printf '    %s\n' "$@"
    free 64
}
for columns in 16 48 96 1024; do
    { allocate $columns; free 32; } | wrong "case D01: $columns columns" 'T0747'
done
{ echo "    mov.b32 %r5, 48;"; allocate %r5; free 64; } | wrong "case D01: 48 columns in a register" 'alloc of 48 columns; possible are 32, 64, 128, 256 and 512 .T0747'
two_sizes() {
    cat <<END
    setp.ne.u32 %p1, %w, 0;
    @%p1 bra done;
    tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%slot], $1;
    ld.shared.u32 %r1, [%slot];
    tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%slot], $2;
    ld.shared.u32 %r2, [%slot];
    tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
    tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, $1;
    tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, $2;
END
}
two_sizes 128 256 | wrong "case D02: 128 columns, then 256" 'alloc of 256 columns after one of 128: .*T0748'
two_sizes 256 128 | right "case D02: 256 columns, then 128"
{
    allocate 64
    echo "    @%p1 bra more; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%slot], 32; ld.shared.u32 %r9, [%slot];"
    echo "    tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r9, 32;"
    echo "more:"
    free 64
} | wrong "case D03: alloc after giving up the permit" 'T0746'
printf '    shl.b32 %%lanes, %%w, 21;\n    %s\n    %s\n' "$store" "$stored" | wrong "case D04: never allocated" 'column 0 is not allocated .T0740'
allocate 64 | wrong "case D04: never given back" 'ended without dealloc of columns 0 to 63.*T0745'
whole "$store" "$stored" "$load" "$loaded" "$out" | right "case D04: the right kernel"
{
    echo "    setp.ne.u32 %p2, %t, 0; @%p2 bra others; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%slot], 32;"
    echo "    ld.shared.u32 %r1, [%slot]; others: bar.warp.sync 0xffffffff; setp.ne.u32 %p1, %w, 0; @%p1 bra done;"
    echo "    shfl.sync.idx.b32 %base, %r1, 0, 31, 0xffffffff; tcgen05.dealloc.cta_group::1.sync.aligned.b32 %base, 32;"
} | wrong "case D06: one lane allocates" 'executed by lanes 0x00000001 of a warp of 0xffffffff.*T0752'
options=(--block 256)
{
    allocate 512
    echo "    and.b32 %r8, %w, 3; shl.b32 %lanes, %r8, 21; add.u32 %lanes, %lanes, %base;"
    echo "    setp.ge.u32 %p2, %w, 4; @%p2 bra late;"
    echo "    $store $stored"
    echo "    bar.sync 1, 128; @%p1 bra done; tcgen05.dealloc.cta_group::1.sync.aligned.b32 %base, 512; bar.arrive 2, 160; bra done;"
    echo "late: setp.ne.u32 %p3, %w, 4; bar.sync 2, 160; add.u32 %lanes, %lanes, 256; $load $loaded"
} | wrong "case D09: a warp reads after dealloc" 'column 256 was given back before .T0740'
options=(--block 128)
pair() { # what stands between alloc and dealloc, what stands before alloc in CTA 1
    cat <<END
    mov.u32 %r10, %cluster_ctarank;
    setp.ne.u32 %p1, %w, 0;
    @%p1 bra allocated;
    tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%slot], 64;
    tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;
allocated:
    tcgen05.fence::before_thread_sync;
    $1
    bar.sync 0;
    tcgen05.fence::after_thread_sync;
    ld.shared.u32 %base, [%slot];
    @%p1 bra done;
    tcgen05.dealloc.cta_group::2.sync.aligned.b32 %base, 64;
END
}
options=(--block 128 --cluster 2)
sync_cluster="barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"
kernel < <(pair "$sync_cluster") >"$work/k.ptx"
"$tirc" run "$work/k.ptx" --grid 2 "${options[@]}" --arg B=zeros@float32:4096 --schedule all >"$work/log" 2>&1
result $? "case D11: a barrier of the cluster between alloc and dealloc of a pair"
pair "" | sed 's/    @%p1 bra allocated;/&\n    setp.eq.u32 %p4, %r10, 1; @%p4 bra allocated;/' >"$work/body"
kernel <"$work/body" >"$work/k.ptx"
"$tirc" run "$work/k.ptx" --grid 2 "${options[@]}" --arg B=zeros@float32:4096 >"$work/log" 2>&1
[ $? -eq 1 ] && grep -q -e 'T0709' -e 'T0750' "$work/log"
result $? "case D11: one CTA of a pair never allocates"
options=(--block 128)
{ allocate 64; echo "    tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.b64 [%bar];"; free 64; } |
    wrong "case D13: alloc says group 1, commit group 2" 'tcgen05.commit. with cta_group::2 in kernel .k., which has cta_group::1 elsewhere .T0749'
whole "mov.b32 %lanes, %base;" "$store" "$stored" | wrong "case D15: warp 1 uses lane 0" 'lane 0 by a warp that owns lanes .* to .*T0754'
options=(--block 256)
whole "and.b32 %r8, %w, 3; shl.b32 %lanes, %r8, 21; add.u32 %lanes, %lanes, %base;" "setp.ge.u32 %p2, %w, 4; @%p2 bra other;" \
    "$store" "$stored" "other:" "tcgen05.fence::before_thread_sync; bar.sync 0; tcgen05.fence::after_thread_sync;" "$load" "$loaded" "$out" |
    right "case D15: warp 5 owns lanes 32 to 63"
options=(--block 128)
# halves: lane L of the store holds L; the load at row 16 of a warp gives lanes 16 to 31 of its 32
{
    whole "$store" "$stored" "add.u32 %lanes, %lanes, 0x100000;" "tcgen05.ld.sync.aligned.16x64b.x1.b32 {%r1}, [%lanes];" "$loaded" \
        "sub.u32 %r1, %r1, %t;" "$out" | sed 's/16x64b.x1.b32 {%r1}/16x32bx2.x1.b32 {%r1}/;s/{%r1}, \[%lanes\];/{%r1}, [%lanes], 0;/'
} >"$work/body"
kernel <"$work/body" >"$work/k.ptx"
run --show B
[ $? -eq 0 ] && grep -q 'B = float32' "$work/log"
result $? "case D16: the upper 16 rows of each 32"
bad_shape() { # id, instruction
    whole "$2" | wrong "case $1: ${2%% *}" 'T060[12]'
}
bad_shape D19 'tcgen05.ld.sync.aligned.16x128b.x128.b32 {%r1}, [%lanes];'
bad_shape D19 'tcgen05.ld.sync.aligned.16x256b.x64.b32 {%r1}, [%lanes];'
bad_shape D19 'tcgen05.ld.sync.aligned.16x128b.x4.b32 {%r1, %r2, %r3, %r4}, [%lanes];'
bad_shape D20 'tcgen05.st.sync.aligned.32x32b.x1.pack::16b.b32 [%lanes], {%r1};'
bad_shape D20 'tcgen05.ld.sync.aligned.32x32b.x1.unpack::16b.b32 {%r1}, [%lanes];'
# columns c and c + 1 hold 0xAAAA1111 and 0xBBBB2222: one register 0x22221111
whole "mov.b32 %r2, 0xAAAA1111; mov.b32 %r3, 0xBBBB2222;" "tcgen05.st.sync.aligned.32x32b.x2.b32 [%lanes], {%r2, %r3};" "$stored" \
    "tcgen05.ld.sync.aligned.32x32b.x1.pack::16b.b32 {%r1}, [%lanes];" "$loaded" "sub.u32 %r1, %r1, 0x22221111;" "$out" >"$work/body"
kernel <"$work/body" >"$work/k.ptx"
run --expect "B=zeros" --show B
[ $? -eq 0 ] || { run --show B && grep -q 'B = float32.4096.: 0 0 0 0' "$work/log"; }
result $? "case D22: .pack::16b takes the low halves"
kernel < <(whole "$store" "$stored" "$load" "$out" "$loaded") >"$work/k.ptx"
run && grep -q 'note: .*used before tcgen05.wait::ld; .*T0758' "$work/log"
result $? "case D23: a register is used before wait::ld"
whole "$store" "$stored" "$load" "$store" "$loaded" "$stored" | wrong "case D23: cells are written while they are loaded" 'T0757'
whole "$store" "$load" "$loaded" "$stored" | wrong "case D24: no wait::st before the load" 'tcgen05.st still writes \(it\|them\) .T0757'
{
    allocate 64
    echo "    $store"
    echo "    tcgen05.fence::before_thread_sync; bar.sync 0; tcgen05.fence::after_thread_sync;"
    echo "    setp.ne.u32 %p2, %t, 0; @%p2 bra issued; mov.b64 %d1, 0x400040000000; mov.b64 %d2, 0x400040000000;"
    echo "    mbarrier.init.shared.b64 [%bar], 1; shr.u32 %r5, %s, 4; cvt.u64.u32 %d3, %r5; or.b64 %d1, %d3, 0x0000401000080000;"
    echo "    mov.b32 %r6, 0x08040010; tcgen05.mma.cta_group::1.kind::f16 [%base+32], [%base], %d1, %r6, %p2;"
    echo "    tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%bar];"
    echo "wait: mbarrier.try_wait.parity.shared.b64 %p3, [%bar], 0; @!%p3 bra wait;"
    echo "issued: $stored"
    free 64
} | wrong "case D24: no wait::st before mma reads the cells" 'T0757'
cat <<'END' | wrong "case D33: more columns than an SM has" 'T0764'
    setp.ne.u32 %p1, %w, 0;
    @%p1 bra done;
    tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%slot], 512;
    ld.shared.u32 %r1, [%slot];
    tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%slot], 128;
    ld.shared.u32 %r2, [%slot];
    tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 512;
    tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, 128;
END
for target in sm_120a sm_121a sm_90a sm_100; do
    kernel $target < <(allocate 64; free 64) >"$work/k.ptx"
    run
    [ $? -eq 1 ] && grep -q "needs sm_100a, or another of sm_10x and sm_11x with suffix a or f, not $target .T0604" "$work/log"
    result $? "case D36: $target has no tensor memory"
done
# C21: other warps read the slot, and use it, before alloc's store is published
allocate 64 | sed '/before_thread_sync/,/after_thread_sync/d' >"$work/body"
{ printf '    %s\n' "$store" "$stored"; free 64; } >>"$work/body"
wrong "case C21: the slot is read before it is published" 'T076[23]\|T0740' <"$work/body"
whole "$store" "$stored" | right "case C21: behind a barrier"
echo "1..$number"
exit $bad
