#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The conformance set: what an H200 gave for 419 kernels (h200.txt, written by `record` on such a machine) against the
# PTX machine, early and late, and on the lowest processor level. What is known to differ stands in differences.txt
# with the reason; a line there that is no longer true fails. Prints TAP.
set -u
cd "$(dirname "$0")/../.." || exit 2
build=${TIRC_BUILD:-build/test}
number=0 bad=0
replay() { # name, options...
    local name=$1 line
    shift
    while IFS= read -r line; do
        case "$line" in
        "ok "* | "not ok "*)
            number=$((number + 1))
            [ "${line%% *}" = ok ] && state=ok || { state="not ok" bad=1; }
            echo "$state $number -${line#*-} ($name)"
            ;;
        "#"*) echo "$line" ;;
        esac
    done < <("$build/tool/replay" tests/recorded/h200.txt -v -d tests/recorded/differences.txt "$@")
}
replay early
replay late -late wgmma
replay checked -check; replay "checked, late" -check -late wgmma
replay lowest -l "$(uname -m | sed 's/x86_64/x86-64/; t; s/.*/generic/')" mma.
replay h200 -h200 approx; replay h200 -h200 div_approx; replay h200 -h200 tanh; replay h200 -h200 rcp64; replay h200 -h200 f16; replay h200 -h200 bf16
while IFS= read -r line; do # every instruction on its own, over all mantissas of some exponents
    case "$line" in
    "ok "* | "not ok "*)
        number=$((number + 1))
        [ "${line%% *}" = ok ] && state=ok || { state="not ok" bad=1; }
        echo "$state $number -${line#*-}"
        ;;
    "#"*) echo "$line" ;;
    esac
done < <("$build/tool/approx_replay" tests/recorded/approx_h200.txt)
echo "1..$number"
exit $bad
