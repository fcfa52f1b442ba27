#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Failure cases D as scripts: tensor memory's life, lanes, loads and stores, pairs, capacity and targets. Prints TAP.
# covers: B4 B9 B17 B20 B26 B33 B36 B37
set -u
cd "$(dirname "$0")/../.." || exit 2
tirc=${TIRC_BUILD:-build/test}/tirc
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
export NO_COLOR=1
script=tests/cases_tmem/tensor_memory.py
number=0 bad=0
result() { # status name
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then echo "ok $number - $2"; else
        echo "not ok $number - $2"
        head -n 20 "$work/log" | sed 's/^/# /'
        bad=1
    fi
}
trim() { echo "$1" | sed 's/^ *//; s/ *$//'; }
# Every pattern is in the output; @n is the place of the line that "# LINE n" marks.
holds() { # patterns
    local pattern line
    while read -r pattern; do
        pattern=$(trim "$pattern")
        case $pattern in @*)
            line=${pattern%%:*}
            line=$(grep -n "# LINE ${line#@}\$" $script | cut -d: -f1)
            pattern="tensor_memory.py:$line:[0-9]+:${pattern#*:}" ;;
        esac
        grep -qE -- "$pattern" "$work/log" || { echo "missing: $pattern" >>"$work/log"; return 1; }
    done < <(echo "$1" | sed 's/ ; /\n/g')
}
while IFS='|' read -r ids entry options status patterns; do
    ids=$(trim "${ids#\# case: }") entry=$(trim "$entry") status=$(trim "$status") patterns=$(trim "$patterns")
    name=${entry%% *} defines=""
    [ "$name" = "$entry" ] || defines=$(echo "${entry#* }" | sed "s/\([a-z]*='[^']*'\)/\"\1\"/g")
    # shellcheck disable=SC2086
    run() { eval "\"$tirc\" run $script:$name $defines $options --arg B=zeros --show B $*" >"$work/log" 2>&1; }
    run
    [ $? -eq "$status" ] && holds "$patterns"
    result $? "case $ids: $entry $(trim "$options")"
    [ "$status" -eq 0 ] || continue
    case $patterns in *T0*) continue ;; esac
    run --schedule all && ! grep -E '\[T[0-9]{4}\]$' "$work/log"
    result $? "case $ids: $entry, every schedule, without a word"
done < <(grep '^# case: ' $script)

# D16: lanes 0-15, 32-47, 64-79, 96-111 and 16-31, 48-63, 80-95, 112-127; as many cells of each as the shape has columns
for shape in 16x64b:2 16x128b:4 16x256b:8; do
    for row in 0 16; do
        "$tirc" run $script:halves -D "shape='${shape%:*}'" -D row=$row --arg B=zeros --out "B=$work/b.npy" >"$work/log" 2>&1 &&
            od -An -v -w4 -t u4 -j 128 "$work/b.npy" | awk -v row=$row -v columns="${shape#*:}" '
                { wanted = int((NR - 1) % 32 / 16) == row / 16 ? columns : 0; if ($1 != wanted) { print "lane", NR - 1, "has", $1; bad = 1 } }
                END { exit bad || NR != 128 }' >>"$work/log"
        result $? "case D16: ${shape%:*} from row $row on"
    done
done

# D36: targets without tensor memory: the feature, the target, and what has it
for target in sm_120a sm_121a sm_90a sm_100; do
    "$tirc" build $script:packed -arch $target --emit ptx --format line >"$work/log" 2>&1
    [ $? -eq 1 ] && holds "error: .*tcgen05.*$target ; sm_100a"
    result $? "case D36: $target has no tensor memory"
    "$tirc" build $script:packed -arch $target --emit cuda -o "$work/o.cu" --format line >"$work/log" 2>&1
    [ $? -eq 1 ] && holds "error: .*tcgen05.*$target ; sm_100a" && [ ! -e "$work/o.cu" ]
    result $? "case D36: $target has no tensor memory, said for CUDA text too"
done
for target in sm_100a sm_103a; do
    "$tirc" build $script:packed -arch $target --emit ptx -o "$work/o.ptx" >"$work/log" 2>&1 && grep -q "^\.target $target" "$work/o.ptx"
    result $? "case D36: $target has it"
    "$tirc" build $script:packed -arch $target --emit cuda -o "$work/o.cu" >"$work/log" 2>&1 && grep -q tcgen05 "$work/o.cu"
    result $? "case D36: $target has it in CUDA text"
    rm -f "$work/o.cu"
done
ids=$(grep -o '^# case: [^|]*' $script | grep -oE 'D[0-9]+' | sort -u | tr '\n' ' ')
echo "$ids" >"$work/log"
[ "$ids" = "D01 D02 D03 D04 D06 D09 D11 D13 D15 D16 D19 D20 D22 D23 D24 D31 D33 " ]
result $? "every id has a script"
echo "1..$number"
exit $bad
