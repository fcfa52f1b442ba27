#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tensor memory in scripts. memory.py: kernels that are right run clean under every schedule and give the same through
# nvcc, what is wrong is found by the machine at its place. rules.py: what the text of a kernel shows is refused with a
# code of its own, and the right kernel beside it builds and is taken by ptxas. examples/gemm: against sums in double
# precision, on three schedules, with 1 and 4 CTAs on an SM, and the same bytes through nvcc. Prints TAP.
# covers: A8 A52-A59 B1-B5 B7 B9-B29 B38-B40
set -u
cd "$(dirname "$0")/../.." || exit 2
build=${TIRC_BUILD:-build/test} tirc=${TIRC_BUILD:-build/test}/tirc
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
export NO_COLOR=1
nvcc=$(tools/find-nvcc || true)
ptxas=${nvcc:+$(dirname "$nvcc")/ptxas}
number=0 bad=0
result() { # status name
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then echo "ok $number - $2"; else
        echo "not ok $number - $2"
        head -n 20 "$work/log" | sed 's/^/# /'
        bad=1
    fi
}
skip() {
    number=$((number + 1))
    if [ -n "${REQUIRE_NVCC:-}" ]; then echo "not ok $number - $1: no nvcc"; bad=1
    else echo "ok $number - $1 # SKIP no nvcc"; fi
}
trim() { echo "$1" | sed 's/^ *//; s/ *$//'; }
# Our PTX for ptxas, our CUDA for nvcc; the latter's PTX is left in $work/n.ptx.
assemble() { # script defines...
    "$tirc" build "$@" --emit ptx -o "$work/o.ptx" >"$work/log" 2>&1 &&
        "$ptxas" "-arch=$(sed -n 's/^\.target //p' "$work/o.ptx")" "$work/o.ptx" -o "$work/o.cubin" >>"$work/log" 2>&1 &&
        "$tirc" build "$@" --emit cuda -o "$work/o.cu" >>"$work/log" 2>&1 &&
        "$nvcc" -std=c++17 -w -arch=sm_100a -fmad=false -ptx "$work/o.cu" -o "$work/n.ptx" >>"$work/log" 2>&1 &&
        "$ptxas" -arch=sm_100a "$work/n.ptx" -o "$work/n.cubin" >>"$work/log" 2>&1
}

# ---- kernels that the machine judges ----
while IFS='|' read -r ids entry options status pattern; do
    entry=$(trim "$entry") options=$(trim "$options") status=$(trim "$status") pattern=$(trim "$pattern")
    name="${ids#\# case: }"
    # shellcheck disable=SC2086
    "$tirc" run "tests/tcgen05/memory.py:$entry" $options --arg B=zeros --show B --format line >"$work/log" 2>&1
    [ $? -eq "$status" ] && grep -qE -- "$pattern" "$work/log"
    result $? "$(trim "$name"): $entry"
    [ "$status" -eq 0 ] || continue
    case $options in *--schedule*) continue ;; esac
    # shellcheck disable=SC2086
    "$tirc" run "tests/tcgen05/memory.py:$entry" $options --schedule all --arg B=zeros >"$work/log" 2>&1
    result $? "$entry on every schedule"
    if [ -n "$nvcc" ]; then
        assemble "tests/tcgen05/memory.py:$entry"
        result $? "$entry: ptxas and nvcc take it"
    else skip "$entry: ptxas and nvcc take it"; fi
    "$tirc" build "tests/tcgen05/memory.py:$entry" --emit tir -o "$work/k.tir" >"$work/log" 2>&1 &&
        "$tirc" build "tests/tcgen05/memory.py:$entry" --emit ptx -o "$work/a.ptx" >>"$work/log" 2>&1 &&
        "$tirc" build "$work/k.tir" --emit ptx -o "$work/b.ptx" >>"$work/log" 2>&1 &&
        cmp <(grep -v '\.file\|\.loc\|//@' "$work/a.ptx") <(grep -v '\.file\|\.loc\|//@' "$work/b.ptx") >>"$work/log" 2>&1
    result $? "$entry: the same PTX from its IR text"
done < <(grep '^# case: ' tests/tcgen05/memory.py)

# ---- rules of the text ----
while IFS='|' read -r ids code entry line pattern; do
    status=1
    case $ids in *"# warns"*) status=0 ;; esac
    code=$(trim "$code") entry=$(trim "$entry") line=$(trim "$line") pattern=$(trim "$pattern")
    file=${ids%%:*} ids=${ids#*:}
    at=$(grep -n "# LINE $line\$" "$file" | cut -d: -f1)
    "$tirc" build "$file:$entry" --emit ptx -o "$work/o.ptx" --format line >"$work/log" 2>&1
    [ $? -eq $status ] && grep -F "$file:$at:" "$work/log" | grep -F "[$code]" | grep -qF -- "$pattern"
    result $? "$(trim "${ids#\# *: }"): $entry: $code"
    "$tirc" explain "$code" >"$work/log" 2>&1 && grep -q 'wrong' "$work/log" && grep -q 'right' "$work/log"
    result $? "$code has a page"
done < <(grep '^# \(wrong\|warns\): ' tests/tcgen05/rules.py tests/tcgen05/values.py)
for entry in $(grep '^# right: ' tests/tcgen05/rules.py | sed 's/^# right: //' | tr ' ' '\n' | sort -u); do
    "$tirc" build "tests/tcgen05/rules.py:$entry" --emit ptx -o "$work/o.ptx" --format line >"$work/log" 2>&1 &&
        ! grep -E '\[T[0-9]{4}\]$' "$work/log"
    result $? "$entry builds without a word"
    [ -n "$ptxas" ] || continue
    "$ptxas" "-arch=$(sed -n 's/^\.target //p' "$work/o.ptx")" "$work/o.ptx" -o "$work/o.cubin" >"$work/log" 2>&1
    result $? "$entry: ptxas takes it"
done

# ---- a target left open is one that has the instruction ----
target() { # instruction, wanted target
    printf '%s\n' '@T.prim_func' 'def kernel(B: T.Buffer((32,), "float32")):' '    T.device_entry()' '    T.cta_id([1])' \
        '    lane = T.lane_id([32])' '    x: T.uint64 = 0' '    y: T.float32 = 0.0' "    $1" '    B[lane] = y' >"$work/k.py"
    "$tirc" build "$work/k.py" --emit ptx -o "$work/o.ptx" >"$work/log" 2>&1 && grep -qx "\.target $2" "$work/o.ptx"
    result $? "$1 is built for $2"
    [ -n "$ptxas" ] || return
    "$ptxas" -arch="$2" "$work/o.ptx" -o "$work/o.cubin" >"$work/log" 2>&1
    result $? "$1: ptxas takes it"
}
target 'T.ptx.add.f32x2(x, x, x)' sm_100a
target 'T.ptx.add.f32(y, y, y)' sm_90a
target 'T.ptx["add.rn.f32.bf16"](y, T.uint16(0), y)' sm_100a

# ---- constants that stand in an instruction are no arguments of it ----
printf '%s\n' 'tir 1' '' 'function kernel(B: uint32[32]):' '    launch:' '        grid = (1, 1, 1)' '        block = (32, 1, 1)' \
    '    alloc slot: uint32[1] shared' \
    '    ptx("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [$0], 48", "void", shared_address(&slot[0]))' \
    '    cta_sync()' '    ptx("tcgen05.dealloc.cta_group::1.sync.aligned.b32 0, 32", "void")' >"$work/k.tir"
"$tirc" check "$work/k.tir" --format line >"$work/log" 2>&1
[ $? -eq 1 ] && grep -q 'an allocation of 48 columns;.*T0526' "$work/log"
result $? "columns in the text of the instruction"

# ---- every form ----
if [ -n "$nvcc" ]; then
    for entry in $(sed -n 's/^# form: //p' tests/tcgen05/forms.py); do
        assemble "tests/tcgen05/forms.py:$entry" -arch sm_100a
        result $? "forms of $entry: ptxas and nvcc take them"
    done
else skip "forms: ptxas and nvcc take them"; fi

# ---- matrix products ----
${CC:-gcc} -O1 -o "$work/reference" tests/examples/reference.c -lm || exit 2
maps="--tensor-map a_map=A,box=64x128,swizzle=128 --tensor-map b_map=B,box=64x128,swizzle=128"
while read -r script case extra defines; do
    options="" dimensions="$defines M=128 N=128 K=64"
    for define in $defines; do options="$options -D $define"; done
    more=""
    [ "$extra" = maps ] && more=$maps
    # shellcheck disable=SC2086
    arguments=$("$work/reference" "$case" "$work" $dimensions) || { echo "# no reference"; bad=1; continue; }
    for schedule in early late 5; do
        for ctas in 1 4; do
            # shellcheck disable=SC2086
            "$tirc" run "examples/gemm/$script" $options $arguments $more --schedule $schedule --sms 2 --ctas-per-sm $ctas \
                --out "D=$work/d.npy" >"$work/log" 2>&1
            result $? "$script $defines: schedule $schedule, $ctas CTAs on an SM"
        done
    done
    if [ -z "$nvcc" ]; then skip "$script $defines through nvcc"; continue; fi
    # shellcheck disable=SC2086
    assemble "examples/gemm/$script" $options
    result $? "$script $defines: ptxas and nvcc take it"
    # shellcheck disable=SC2086
    grid=$(echo $dimensions | awk '{ for (i = 1; i <= NF; i++) { split($i, p, "="); if (!(p[1] in v)) v[p[1]] = p[2] } print v["M"] / 128 "," v["N"] / 128 }')
    smem=$("$tirc" build "examples/gemm/$script" $options --emit plan-json 2>/dev/null | grep -o '"dynamic_smem_bytes": *[0-9]*' | grep -o '[0-9]*$' | head -n 1)
    numbered=$(echo "$arguments" | sed "s/--expect D=[^ ]*//; s/--[ra]tol [^ ]*//g")
    if [ "$extra" = maps ]; then
        numbered=$(echo "$numbered" | sed 's/--arg A=/--arg 2=/; s/--arg B=/--arg 3=/; s/--arg D=[^ ]*//')
        numbered="$numbered --arg 4=$work/zero.npy --tensor-map 0=2,box=64x128,swizzle=128 --tensor-map 1=3,box=64x128,swizzle=128"
        out=4
    elif [ "$extra" = scaled ]; then # the maps that the launch makes stand behind the parameters
        numbered=$(echo "$numbered" | sed 's/--arg A=/--arg 0=/; s/--arg B=/--arg 1=/; s/--arg SFA=/--arg 2=/; s/--arg SFB=/--arg 3=/; s/--arg D=[^ ]*//')
        numbered="$numbered --arg 4=$work/zero.npy --tensor-map 5=0,box=128x128,swizzle=128 --tensor-map 6=1,box=128x128,swizzle=128"
        out=4
    else
        numbered=$(echo "$numbered" | sed 's/--arg A=/--arg 0=/; s/--arg B=/--arg 1=/; s/--arg D=[^ ]*//')
        numbered="$numbered --arg 2=$work/zero.npy"
        out=2
    fi
    # shellcheck disable=SC2086
    "$tirc" run "$work/n.ptx" --grid "$grid" --block 128 --smem "${smem:-70000}" $numbered --out "$out=$work/n.npy" >"$work/log" 2>&1 &&
        cmp "$work/d.npy" "$work/n.npy" >>"$work/log" 2>&1
    result $? "$script $defines: the same bytes through nvcc"
done <<'CASES'
single.py gemm16 none
tiles.py:gemm_loop gemm16 none K=256
tiles.py:gemm_grid gemm16 none M=256 N=384 K=192
tma.py:gemm_tma gemm16 maps M=256 N=256 K=320
scaled.py:gemm_scaled gemm_scaled scaled M=256 N=128 K=384
CASES
echo "1..$number"
exit $bad
