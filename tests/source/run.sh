#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Functions of CUDA source text: nvcc's PTX of them runs on the machine and stands in --emit ptx; what nvcc or the
# machine finds is at its place in the script; without nvcc the run is incomplete; nothing is left behind. Prints TAP.
set -u
cd "$(dirname "$0")/../.." || exit 2
build=${TIRC_BUILD:-build/test}
tirc=$PWD/$build/tirc
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
nvcc=$(tools/find-nvcc || true)
number=0 bad=0
say() {
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then echo "ok $number - $2"; else
        echo "not ok $number - $2"
        sed 's/^/# /' "$work/log" | head -n 20
        bad=1
    fi
}
needs_nvcc() { # name command...
    local name=$1
    shift
    if [ -n "$nvcc" ]; then
        "$@"
        say $? "$name"
        return
    fi
    number=$((number + 1))
    if [ -n "${REQUIRE_NVCC:-}" ]; then echo "not ok $number - $name: no nvcc"; bad=1
    else echo "ok $number - $name # SKIP no nvcc"; fi
}
export TMPDIR=$work/tmp
mkdir "$TMPDIR"
at() { # text: its line in the script
    grep -n -m1 -F -- "$1" tests/source/calls.py | cut -d: -f1
}
says() { # status text... : the log has each text, and the status is that
    local wanted=$1 text
    shift
    [ "$status" -eq "$wanted" ] || { echo "status $status, wanted $wanted" >>"$work/log"; return 1; }
    for text in "$@"; do
        grep -qF -- "$text" "$work/log" || { echo "missing: $text" >>"$work/log"; return 1; }
    done
}
run() {
    "$tirc" run "$@" >"$work/log" 2>&1
    status=$?
}

# The scripts name their functions without nvcc too: the text goes into CUDA as it is, and a run is incomplete.
TIRC_NVCC=/nonexistent/nvcc run tests/source/calls.py:calls --arg X=arange --arg Y=zeros --arg C=zeros --arg Z=ones --arg W=zeros
says 3 'load_twice` is CUDA source text' 'T0658' "calls.py:$(at 'Y[t] = T.cuda.func_call')"
say $? "without nvcc a run is incomplete and names the function"
TIRC_NVCC=/nonexistent/nvcc "$tirc" build tests/source/calls.py:calls --emit cuda -o "$work/calls.cu" >"$work/log" 2>&1 &&
    grep -q '^  for (int i = 0; i < 32; i++) r += s\[i\];$' "$work/calls.cu" && [ "$(grep -c 'float total(' "$work/calls.cu")" = 1 ]
say $? "without nvcc the CUDA text is made, each text once"

calls() {
    run tests/source/calls.py:calls --arg X=arange --arg Y=zeros --arg C=zeros --arg Z=ones --arg W=zeros --show Y --show C --show Z --show W
    says 0 'total 460' 'Y = float32[32]: 1 4 7 10 13' 'C = int32[64]: 32 0' 'Z = float32[32, 4]: 4 2 2 2 4 2 2 2 4 2 2 2 4 2 2 2' 'W = float32[32]: 460 460'
}
needs_nvcc "pointers, scalars, vectors, shared memory, printf" calls
small() {
    run tests/source/calls.py:small --arg H=zeros --arg C=zeros --arg D=zeros --out "H=$work/h.npy" --out "C=$work/c.npy" --out "D=$work/d.npy"
    [ "$status" = 0 ] || return 1
    run tests/source/calls.py:small_plain --arg H=zeros --arg C=zeros --arg D=zeros --out "H=$work/h2.npy" --out "C=$work/c2.npy" --out "D=$work/d2.npy"
    [ "$status" = 0 ] && cmp "$work/h.npy" "$work/h2.npy" && cmp "$work/c.npy" "$work/c2.npy" && cmp "$work/d.npy" "$work/d2.npy"
}
needs_nvcc "narrow types, texts, shared and local pointers, functions of CUDA" small
emitted() {
    "$tirc" build tests/source/calls.py:small --emit ptx -o "$work/small.ptx" >"$work/log" 2>&1 &&
        "$(dirname "$nvcc")/ptxas" -arch=sm_90a "$work/small.ptx" -o "$work/small.cubin" >>"$work/log" 2>&1 &&
        "$tirc" build "$work/small.ptx" --emit ptx -o "$work/again.ptx" >>"$work/log" 2>&1 &&
        "$tirc" build tests/source/calls.py:calls -arch sm_100a --emit ptx -o "$work/calls.ptx" >>"$work/log" 2>&1 &&
        "$(dirname "$nvcc")/ptxas" -arch=sm_100a "$work/calls.ptx" -o "$work/calls.cubin" >>"$work/log" 2>&1 &&
        [ "$(grep -c '^.func .*tirc_call_' "$work/calls.ptx")" -gt 3 ] && ! grep -q '_Z10load_twice' "$work/calls.ptx"
}
needs_nvcc "the functions stand in the PTX, those that are used, and ptxas takes it" emitted
through() {
    "$nvcc" -ptx -arch=sm_90a "$work/calls.cu" -o "$work/calls.ptx" >"$work/log" 2>&1 || return 1
    run tests/source/calls.py:calls --arg X=arange --arg Y=zeros --arg C=zeros --arg Z=ones --arg W=zeros --out "X=$work/x.npy" --out "Z=$work/z.npy"
    printf 'from tvm_tirx.script import tirx as T\n@T.function\ndef e(Z: T.Tensor((32, 4), "float32"), C: T.Tensor((64,), "int32"), Y: T.Tensor((32,), "float32")):\n    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(1,)))\n    Z[0, 0] = Z[0, 0]\n' >"$work/e.py"
    "$tirc" run "$work/e.py" --arg Z=ones --arg C=zeros --arg Y=zeros --out "Y=$work/y0.npy" --out "Z=$work/ones.npy" --out "C=$work/c0.npy" >"$work/log" 2>&1 || return 1
    run "$work/calls.ptx" --grid 1 --block 32 --arg calls_kernel_param_0="$work/x.npy" --arg calls_kernel_param_1="$work/y0.npy" --arg calls_kernel_param_2="$work/c0.npy" --arg calls_kernel_param_3="$work/ones.npy" --arg calls_kernel_param_4="$work/y0.npy" --out "calls_kernel_param_3=$work/z2.npy"
    says 0 'total 460' && cmp "$work/z.npy" "$work/z2.npy"
}
needs_nvcc "nvcc's PTX of the whole text gives the same" through
off() {
    run tests/source/calls.py:off --arg X=ones --arg Y=zeros
    says 1 "calls.py:$(at 'return first +'):3: error: load of 4 bytes" 'return first + p[n + 64];' 'past the end of `X`'
}
needs_nvcc "a finding inside a function is at its line of the script" off
header() { # the instruction comes from a header of CUDA's
    run tests/source/calls.py:local_atomic --arg Y=zeros
    says 1 "calls.py:$(at '"mark", own'):5: error: store of 4 bytes"
}
needs_nvcc "a finding in what a header brought is at the line that uses it" header
refused() {
    run tests/source/calls.py:refused --arg X=ones --arg Y=zeros
    says 1 "calls.py:$(at 'return q[0]'):3: error: nvcc refuses the source text of \`wrong\`: identifier \"q\" is undefined" "calls.py:$(at 'int also'):1" 'identifier "y" is undefined'
}
needs_nvcc "what nvcc refuses is at its line of the script, all of it" refused
reference() {
    run tests/source/calls.py:reference --arg Y=zeros
    says 1 "calls.py:$(at 'func_call("bump"')" 'the source text of `bump`' "calls.py:$(at 'no_such_function')" 'identifier "no_such_function" is undefined'
}
needs_nvcc "a parameter that is a reference, a function that nobody knows" reference

# A compiler that misbehaves.
cat >"$work/nvcc" <<'X'
#!/bin/sh
case $FAKE in
slow) sleep 97.531 ;;
silent) exit 3 ;;
nothing) exit 0 ;;
rubbish) echo 'this is no PTX' >unit.ptx ;;
killed) kill -9 $$ ;;
esac
X
chmod +x "$work/nvcc"
for fake in silent nothing rubbish killed; do
    FAKE=$fake TIRC_NVCC=$work/nvcc run tests/source/calls.py:off --arg X=ones --arg Y=zeros
    case $fake in
    silent) says 1 'T0659' 'it says nothing' ;;
    rubbish) says 1 'unit.ptx:1:1' ;;
    *) says 1 'T0660' 'could not be run' ;;
    esac
    say $? "a compiler that is $fake"
done
# Asked to end, it ends, and so does the compiler.
FAKE=slow TIRC_NVCC=$work/nvcc "$tirc" run tests/source/calls.py:off --arg X=ones --arg Y=zeros >"$work/log" 2>&1 &
child=$!
for _ in $(seq 100); do
    [ -n "$(find "$TMPDIR" -name 'tirc.log' 2>/dev/null)" ] && break
    sleep 0.05
done
kill -TERM "$child"
wait "$child"
status=$?
[ "$status" -eq 143 ] && ! pgrep -f "sleep 97.531" >/dev/null
say $? "asked to end while the compiler runs"
[ -z "$(ls -A "$TMPDIR")" ]
say $? "nothing is left behind"
echo "1..$number"
exit $bad
