#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a run costs that looks for races and for reads of what nothing wrote (--check): kernels of examples/ with it and
# without, turn about, by the machine's own time, the least of the rounds. Needs the release build.
set -u
cd "$(dirname "$0")/.." || exit 2
tirc=${TIRC_BUILD:-build/release}/tirc rounds=${ROUNDS:-9}
once() { "$tirc" run "$@" --threads 1 --stats 2>&1 >/dev/null | sed -n 's/.* in \([0-9.]*\) ms on .*/\1/p'; }
row() { # name, what to run
    local name=$1 on=1e9 off=1e9 value
    shift
    for _ in $(seq "$rounds"); do
        value=$(once "$@" --check) || return
        on=$(awk "BEGIN { print ${value:-1e9} < $on ? ${value:-1e9} : $on }")
        value=$(once "$@")
        off=$(awk "BEGIN { print ${value:-1e9} < $off ? ${value:-1e9} : $off }")
    done
    awk -v n="$name" -v on="$on" -v off="$off" 'BEGIN { printf "  %-36s%12.2f%12.2f%10.2f\n", n, on, off, on / off }'
}
echo "races and reads of what nothing wrote (--check), 1 thread"
printf '  %-36s%12s%12s%10s\n' "ms in the machine, least of $rounds" with without ratio
row "GEMM fed by TMA, 512^3" examples/gemm/tma.py:gemm_tma -D M=512 -D N=512 -D K=512 --arg A=randn:1 --arg B=randn:2 --arg D=zeros \
    --tensor-map a_map=A,box=64x128,swizzle=128 --tensor-map b_map=B,box=64x128,swizzle=128
row "GEMM, float32, 256^3" examples/gemm.py:gemm -D M=256 -D N=256 -D K=256 --arg A=randn:1 --arg B=randn:2 --arg C=zeros
row "transpose, 1024^2" examples/transpose.py:transpose -D M=1024 -D N=1024 --arg A=randn:1 --arg B=zeros
row "softmax, 256 x 256" examples/softmax.py:softmax -D ROWS=256 -D COLS=256 --arg X=randn:1 --arg Y=zeros
row "scan, 64 x 1000" examples/scan.py:scan -D ROWS=64 -D COLS=1000 --arg X=randn:1 --arg Y=zeros
