#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Imports of files: by -I and by the library's callback, names with as, packages, relative names, star; what is wrong in
# an imported file is said at its place there; nothing is read that -I does not name. Prints TAP.
set -u
cd "$(dirname "$0")/../.." || exit 2
build=${TIRC_BUILD:-build/test}
tirc=$PWD/$build/tirc
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
number=0 bad=0
say() {
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then echo "ok $number - $2"; else
        echo "not ok $number - $2"
        sed 's/^/# /' "$work/log" | head -n 20
        bad=1
    fi
}
# name, wanted status, texts that the output has, -- command
try() {
    local name=$1 wanted=$2 texts=()
    shift 2
    while [ "$1" != -- ]; do
        texts+=("$1")
        shift
    done
    shift
    (cd "$work/src" && "$@") >"$work/log" 2>&1
    local status=$? good=0 text
    [ "$status" -eq "$wanted" ] || { echo "status $status, wanted $wanted" >>"$work/log"; good=1; }
    for text in "${texts[@]}"; do
        grep -qF -- "$text" "$work/log" || { echo "missing: $text" >>"$work/log"; good=1; }
    done
    say $good "$name"
}
mkdir -p "$work/src/lib/pack/inner" "$work/src/other"
cd "$work/src" || exit 2
cat >lib/helpers.py <<'X'
from tvm.script import tirx as T

BLOCK = 32
_hidden = 1
calls = 0


def count():
    global calls
    calls += 1
    return calls


@T.inline
def double(to, i, x):
    to[i] = x * 2.0


@T.prim_func
def own(A: T.Buffer((32,), "float32")):
    T.device_entry()
    bx = T.cta_id([1])
    tx = T.thread_id([32])
    A[tx] = 9.0


class Shape:
    def __init__(self, n):
        self.n = n
X
cat >lib/pack/__init__.py <<'X'
from .tools import three
from . import tools as renamed

FOUR = three() + 1
X
cat >lib/pack/tools.py <<'X'
from .inner.deep import ONE
from ..pack.inner import deep


def three():
    return ONE + deep.ONE + 1
X
echo 'ONE = 1' >lib/pack/inner/deep.py
kernel() { # lines before the kernel; the value stored
    printf '%s\n' "from tvm.script import tirx as T" "$1" "" "@T.prim_func" "def k(A: T.Buffer((32,), \"float32\")):" \
        "    T.device_entry()" "    bx = T.cta_id([1])" "    tx = T.thread_id([32])" "    $2"
}
kernel 'import helpers' 'helpers.double(A, tx, float(helpers.BLOCK))' >plain.py
try "import and -I" 0 'A = float32[32]: 64 64' -- "$tirc" run plain.py -I lib --arg A=zeros --show A
try "--include=FOLDER, the first folder that has it" 0 'A = float32[32]: 64 64' -- "$tirc" run plain.py --include=other --include lib --arg A=zeros --show A
kernel 'import helpers' 'helpers.double(A, tx, 32.0)' >used.py
try "without -I: an error where it is used, and what to do" 1 'used.py:9:5: error: helpers.double is not available' '-I FOLDER' -- "$tirc" run used.py --arg A=zeros
try "-I that lacks it" 1 'used.py:9:5: error: helpers.double is not available' 'the folders of -I have no helpers.py' -- "$tirc" run used.py -I other --arg A=zeros
try "-I that is no folder" 2 'a folder is wanted' -- "$tirc" run plain.py -I lib/helpers.py --arg A=zeros
kernel 'from helpers import double as d, BLOCK as B' 'd(A, tx, B * 1.0)' >as.py
try "names with as" 0 'A = float32[32]: 64 64' -- "$tirc" run as.py -I lib --arg A=zeros --show A
kernel 'from helpers import *' 'double(A, tx, BLOCK + 0.0)' >star.py
try "star" 0 'A = float32[32]: 64 64' -- "$tirc" run star.py -I lib --arg A=zeros --show A
kernel 'from helpers import *' 'A[tx] = _hidden' >hidden.py
try "star leaves out names with _" 1 "name '_hidden' is not defined" -- "$tirc" run hidden.py -I lib --arg A=zeros
kernel 'import helpers as h
from helpers import count
import helpers
first, second = count(), h.count()
same = helpers.calls == 2 and h.Shape(3).n == 3' 'A[tx] = first * 100 + second * 10 + (1 if same else 0)' >state.py
try "a file runs once, its globals are its own" 0 'A = float32[32]: 121 121' -- "$tirc" run state.py -I lib --arg A=zeros --show A
kernel 'import pack.tools
import pack.inner.deep as deep
from pack import FOUR, inner' 'A[tx] = FOUR * 1000 + pack.tools.three() * 100 + deep.ONE * 10 + inner.deep.ONE' >pack.py
try "packages and relative names" 0 'A = float32[32]: 4311 4311' -- "$tirc" run pack.py -I lib --arg A=zeros --show A
printf 'from helpers import own\nimport helpers\n' >only.py
try "kernels of an imported file are chosen by name" 0 'A = float32[32]: 9 9' -- "$tirc" run only.py:own -I lib --arg A=zeros --show A
try "and are not the file's own" 1 'the file has no kernel' -- "$tirc" check only.py -I lib
# what is wrong in an imported file
printf 'x = (1 +\ndef f(:\n' >lib/broken.py
kernel 'from broken import f
import broken' 'A[tx] = f(2) + broken.x' >uses.py
try "a syntax error is at its place in that file, and nothing follows from it" 1 'lib/broken.py:2:7' -- "$tirc" check uses.py -I lib --format line
[ "$(grep -c 'uses.py' "$work/log")" = 0 ]
say $? "no errors that only follow"
printf 'def f(x):\n    return x + undefined\n' >lib/late.py
kernel 'import late' 'A[tx] = late.f(2)' >calls.py
try "an error in a function of it" 1 "lib/late.py:2:16: error: name 'undefined' is not defined" -- "$tirc" check calls.py -I lib --format line
kernel 'from helpers import BLOK' 'A[tx] = BLOK' >near.py
try "a name that it does not have" 1 "near.py:2:21: error: 'helpers' has no name 'BLOK' [T0284]" -- "$tirc" check near.py -I lib --format line
try "and the nearest" 1 "did you mean 'BLOCK'?" -- "$tirc" check near.py -I lib
printf 'from b import y\nx = 1\n' >lib/a.py
printf 'from c import z\ny = 2\n' >lib/b.py
printf 'import a\nz = a.x\n' >lib/c.py
kernel 'import a' 'A[tx] = a.x' >cycle.py
try "a cycle" 1 "lib/c.py:1:8: error: 'a' imports itself, by way of c [T0283]" -- "$tirc" check cycle.py -I lib --format line
printf 'import self_import\n' >lib/self_import.py
kernel 'import self_import' 'A[tx] = 1' >self.py
try "a file that imports itself" 1 "[T0283]" -- "$tirc" check self.py -I lib --format line
for i in $(seq 0 210); do echo "import m$((i + 1))" >lib/m$i.py; done
kernel 'import m0' 'A[tx] = 1' >many.py
try "too many files" 1 "more than 200 imported files [T0285]" -- "$tirc" check many.py -I lib --format line
printf 'def f(n):\n    return f(n + 1)\nX = f(0)\n' >lib/endless.py
kernel 'from endless import X' 'A[tx] = X' >endless.py
try "endless recursion in it" 1 "lib/endless.py:2:" "T0281" -- "$tirc" check endless.py -I lib --format line
# nothing else can be read
mkdir lib/folder.py
kernel 'import folder' 'A[tx] = folder.x' >folder.py
try "a folder is no file" 1 'folder.x is not available' 'the folders of -I have no folder.py' -- "$tirc" check folder.py -I lib
kernel 'import math, tvm
from functools import reduce' 'A[tx] = math.floor(2.5)' >python.py
echo 'raise ValueError("read")' >lib/math.py
echo 'raise ValueError("read")' >lib/tvm.py
echo 'raise ValueError("read")' >lib/functools.py
try "names of the dialect and of Python come first" 0 -- "$tirc" check python.py -I lib
try "build, check and diff take it too" 0 -- sh -c '"$0" build plain.py -I lib --emit tir -o k.tir && "$0" check plain.py -I lib && "$0" diff plain.py as.py -I lib' "$tirc"
echo "1..$number"
exit $bad
