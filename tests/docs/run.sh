#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The documentation is run: in README.md and docs/*.md
#   ```console   lines after "$ " are run in order; what follows must be their output, to the letter
#   ```python    written to the file that its first line names ("# scale.py"), and must pass `tirc check`
#   ```c         written to the file that its first line names, compiled against the library
#   ```tir ```ptx likewise for IR and PTX text
# Other fences (```text, ```cuda inside console output ...) are prose. `make` commands are only looked up in the
# Makefile, since this runs inside one of them. Prints TAP.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 2
build=$root/${TIRC_BUILD:-build/test}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
export PATH="$build:$PATH" NO_COLOR=1
number=0 bad=0
say() {
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then echo "ok $number - $2"; else
        echo "not ok $number - $2"
        head -n 30 "$work/log" | sed 's/^/# /'
        bad=1
    fi
}
run_console() { # file with the block
    local command="" line
    : >expected
    while IFS= read -r line || [ -n "$line" ]; do
        case $line in
        '$ '*)
            [ -n "$command" ] && check_command "$command"
            command=${line#'$ '}
            : >expected ;;
        *) printf '%s\n' "$line" >>expected ;;
        esac
    done <"$1"
    [ -n "$command" ] && check_command "$command"
}
check_command() {
    local command=$1 got
    case $command in
    make\ *)
        grep -q "^\(.PHONY:.* \)\?${command#make }[: ]\|^${command#make }:" "$root/Makefile" "$root"/mk/*.mk >"$work/log" 2>&1
        say $? "$where: $command"
        return ;;
    esac
    bash -c "$command" >actual 2>&1 </dev/null
    if grep -q '^\.\.\.$' expected; then # an ellipsis line stands for any lines
        awk 'NR == FNR {want[++n] = $0; next} {have[++m] = $0}
             END {i = 1; for (k = 1; k <= n; ++k) { if (want[k] == "...") {open = 1; continue}
                  if (open) { while (i <= m && have[i] != want[k]) ++i; open = 0 }
                  if (have[i++] != want[k]) { print "line " k ": " want[k]; exit 1 } }
                  if (!open && i <= m) exit 1 }' expected actual >"$work/log"
        got=$?
    else
        diff expected actual >"$work/log"
        got=$?
    fi
    say $got "$where: $command"
}
for document in "$root/README.md" "$root"/docs/*.md; do
    name=$(basename "$document")
    rm -rf "$work/place" && mkdir "$work/place" && cd "$work/place" || exit 2
    ln -s "$root/examples" examples
    awk -v work="$work" '
        /^```/ { if (inside) { inside = 0; close(file) } else { inside = 1; ++count; kind = substr($0, 4)
                 file = sprintf("%s/block.%03d.%s", work, count, kind); printf "" > file
                 printf "%d %d %s\n", count, NR, kind > (work "/blocks") } ; next }
        inside { print > file }' "$document"
    [ -e "$work/blocks" ] || continue
    while read -r count line kind; do
        block=$(printf '%s/block.%03d.%s' "$work" "$count" "$kind")
        where="$name:$line"
        first=$(head -n 1 "$block" | sed -n 's/^[#/* ]*\([A-Za-z_0-9]*\.[a-z]*\).*/\1/p')
        case $kind in
        console) run_console "$block" ;;
        python | tir | ptx)
            cp "$block" "${first:-listing.py}"
            tirc check "${first:-listing.py}" >"$work/log" 2>&1
            say $? "$where: ${first:-listing} compiles" ;;
        c)
            cp "$block" "${first:-listing.c}"
            ${CC:-gcc} -std=c11 -Wall -Wextra -I"$root/include" -o "${first%.c}" "${first:-listing.c}" "$build/libtirc.a" -lm -ldl -pthread >"$work/log" 2>&1
            say $? "$where: ${first:-listing.c} compiles" ;;
        esac
    done <"$work/blocks"
    rm -f "$work"/block.* "$work/blocks"
done
echo "1..$number"
exit $bad
