#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Pages of `tirc explain` with kernels: both kernels of each are taken from the printed page and run with the command that
# stands there. The wrong one gives that code and no other, at the line that a comment with the code marks; the right one
# is clean on every schedule. Every rule of tensor memory has a page. Prints TAP. covers: A54 B9 B13 B17-B20 B25 B38
set -u
cd "$(dirname "$0")/../.." || exit 2
root=$PWD build=${TIRC_BUILD:-build/test}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
export NO_COLOR=1 PATH="$root/$build:$PATH"
cd "$work" || exit 2
number=0 bad=0
result() { # status name
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then echo "ok $number - $2"; else
        echo "not ok $number - $2"
        head -n 20 "$work/log" | sed 's/^/# /'
        bad=1
    fi
}
fail() { echo "$1" >>log; return 1; }

# The page's kernels as the files that its commands name, and the commands as wrong.command and right.command.
take() { # code
    rm -f wrong.* right.*
    tirc explain "$1" | awk '
        /^(Wrong|Right) kernel, `tirc .*`:$/ {
            command = $0; sub(/^[^`]*`/, "", command); sub(/`:$/, "", command)
            split(command, words, " "); file = words[3]
            name = file; sub(/\..*/, "", name)
            print command > (name ".command")
            next
        }
        file && /^    / { print substr($0, 5) > file }'
    [ -s wrong.command ] && [ -s right.command ] && [ "$(wc -l <wrong.command)" -eq 1 ]
}

# A kernel that can never go on is a deadlock as well.
also() { case $1 in T0764) echo T0709 ;; esac; }

wrong_kernel() { # code
    local line status codes
    line=$(grep -nHE "(#|//) $1\$" wrong.py wrong.ptx 2>/dev/null | cut -d: -f1,2)
    [ "$(echo "$line" | grep -c .)" -eq 1 ] || fail "one line is to be marked: $line" || return
    bash -c "$(cat wrong.command) --format line" >log 2>&1
    status=$?
    grep -qF "$line:" <(grep -F "[$1]" log) || fail "$1 is not at $line" || return
    codes=$(grep -oE '\[T[0-9]{4}\]$' log | tr -d '[]' | grep -vx "$(also "$1")" | sort -u)
    [ "$codes" = "$1" ] || fail "found: $codes" || return
    # A warning of the text is no reason not to run a kernel, one of the machine is a finding; notes are neither.
    local wanted=0
    grep -qE ' error: ' log && wanted=1
    case $(cat wrong.command) in "tirc run "*) grep -qE ' warning: ' log && wanted=1 ;; esac
    [ $status -eq $wanted ] || fail "status $status"
}

right_kernel() {
    local all=""
    case $(cat right.command) in *" --schedule "* | "tirc check "*) ;; *) all="--schedule all" ;; esac
    bash -c "$(cat right.command) $all --format line" >log 2>&1 || fail "status $?" || return
    ! grep -E '\[T[0-9]{4}\]$' log
}

pages=0
while read -r code; do
    take "$code" || continue
    pages=$((pages + 1))
    wrong_kernel "$code"
    result $? "$code: the wrong kernel gives it, and nothing else"
    right_kernel
    result $? "$code: the right kernel is clean"
done < <(tirc explain | sed -n 's/^\(T[0-9]*\)  .*/\1/p')

# Every rule of tensor memory: the machine's, and those that docs/tensor_memory.md lists for the text of a kernel.
: >log
for code in $(sed -n 's/^DIAGNOSTIC("\(T[0-9]*\)".*/\1/p' "$root"/src/check/check_tmem_codes.def) \
    $(sed -n '/^| code | rule/,/^$/p' "$root/docs/tensor_memory.md" | cut -d'|' -f2 | grep -o 'T[0-9]*'); do
    take "$code" || echo "$code has no kernels" >>log
done
[ ! -s log ]
result $? "every rule of tensor memory has a page with two kernels"
[ "$pages" -eq "$(find "$root/docs/explain" -name 'T*' | wc -l)" ]
result $? "every page of docs/explain is printed"
echo "1..$number"
exit $bad
