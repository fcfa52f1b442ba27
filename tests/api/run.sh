#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The installed library: make install into a folder, its files, pkg-config, exported symbols, the header as C99 and as
# C++, a program linked against both libraries. Prints TAP; runs the programs' own TAP too.
set -u
cd "$(dirname "$0")/../.." || exit 2
build=${TIRC_BUILD:-build/test}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
number=0 bad=0
say() {
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then echo "ok $number - $2"; else
        echo "not ok $number - $2"
        head -n 20 "$work/log" | sed 's/^/# /'
        bad=1
    fi
}
cc=${CC:-gcc}
case $build in
*asan*) sanitize="-fsanitize=address,undefined" ;;
*tsan*) sanitize="-fsanitize=thread" ;;
*) sanitize="" ;;
esac
make -s VARIANT="$(basename "$build")" PREFIX="$work/usr" install >"$work/log" 2>&1
say $? "make install"
for file in bin/tirc lib/libtirc.a lib/libtirc.so include/tirc.h lib/pkgconfig/tirc.pc share/man/man1/tirc.1; do
    [ -e "$work/usr/$file" ]
    say $? "installed: $file"
done
nm -D --defined-only "$work/usr/lib/libtirc.so" | awk '$2 ~ /[TDBR]/ {print $3}' | grep -v '^_' | grep -v '@@' | sort >"$work/symbols"
[ -n "${TIRC_UPDATE:-}" ] && cp "$work/symbols" tests/api/symbols.txt
diff tests/api/symbols.txt "$work/symbols" >"$work/log" 2>&1
say $? "exported symbols are those of tests/api/symbols.txt"
nm -g --defined-only "$work/usr/lib/libtirc.a" | awk 'NF == 3 {print $3}' | grep -v '^tirc_' >"$work/log"
[ ! -s "$work/log" ]
say $? "the static library exports tirc_ names only"
$cc -std=c99 -pedantic -Wall -Wextra -Werror -fsyntax-only -x c include/tirc.h >"$work/log" 2>&1
say $? "the header is C99"
if command -v g++ >/dev/null; then
    g++ -std=c++11 -pedantic -Wall -Wextra -Werror -fsyntax-only -x c++ include/tirc.h >"$work/log" 2>&1
    say $? "the header is C++11"
fi
for kind in static shared; do
    if [ $kind = static ]; then libraries="$work/usr/lib/libtirc.a -lm -ldl -pthread"
    else libraries="-L$work/usr/lib -Wl,-rpath,$work/usr/lib -ltirc"; fi
    # shellcheck disable=SC2086
    $cc $sanitize -std=c99 -Wall -Wextra -I"$work/usr/include" -o "$work/embed" tests/api/embed.c $libraries >"$work/log" 2>&1 &&
        "$work/embed" >"$work/log" 2>&1
    say $? "a program on the $kind library"
    # shellcheck disable=SC2086
    $cc $sanitize -std=c11 -Wall -Wextra -I"$work/usr/include" -o "$work/memory" tests/api/memory.c $libraries >"$work/log" 2>&1 &&
        "$work/memory" >"$work/log" 2>&1
    say $? "failing allocations on the $kind library"
    # shellcheck disable=SC2086
    $cc $sanitize -std=c11 -Wall -Wextra -I"$work/usr/include" -o "$work/sessions" tests/api/sessions.c $libraries -pthread >"$work/log" 2>&1 &&
        "$work/sessions" >"$work/log" 2>&1
    say $? "two sessions in two threads on the $kind library"
    # shellcheck disable=SC2086
    $cc $sanitize -std=c11 -Wall -Wextra -I"$work/usr/include" -o "$work/device" tests/api/device.c $libraries -pthread >"$work/log" 2>&1 &&
        "$work/device" >"$work/log" 2>&1
    say $? "a device's memory on the $kind library"
done
# arrays and their files
# shellcheck disable=SC2086
$cc $sanitize -std=c11 -Wall -Wextra -Iinclude -o "$work/array" tests/api/array.c "$build/libtirc.a" -lm -ldl -pthread >"$work/log" 2>&1 &&
    "$work/array" "$work" >"$work/log" 2>&1
say $? "arrays: $(grep -c '^ok' "$work/log") checks"
# every option of every command stands in the man page
"$build/tirc" help >"$work/help"
for command in run build check layout fragment fmt explain info tmem; do
    for option in $("$build/tirc" help $command | sed -n 's/^  \(-[-A-Za-z]*\) .*/\1/p'); do
        grep -q -e "Fl ${option#-}" docs/tirc.1 || echo "$command $option" >>"$work/missing"
    done
done
cp "$work/missing" "$work/log" 2>/dev/null
[ ! -s "$work/missing" ]
say $? "every option stands in the man page"
echo "1..$number"
exit $bad
