#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `--on cuda` and the library's GPU calls, against a driver whose device is the CPU machine (driver.c): what is sent to a
# driver, what comes back, and every refusal. Real devices are the matter of `make check-gpu`. Prints TAP.
set -u
cd "$(dirname "$0")/../.." || exit 2
build=${TIRC_BUILD:-build/test}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
number=0 bad=0
say() { # status, words
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then echo "ok $number - $2"; else
        echo "not ok $number - $2"
        head -n 12 "$work/log" | sed 's/^/# /'
        bad=1
    fi
}
case $build in
*asan*) sanitize="-fsanitize=address,undefined" preload="" ;;
*tsan*) sanitize="-fsanitize=thread" ;;
*) sanitize="" ;;
esac
cc=${CC:-gcc}
# shellcheck disable=SC2086
$cc $sanitize -std=c11 -D_GNU_SOURCE -fPIC -fvisibility=hidden -shared -Wall -Wextra -Iinclude -o "$work/libcuda.so" tests/gpu/driver.c "$build/libtirc.a" -Wl,--exclude-libs,ALL -lm -ldl -pthread >"$work/log" 2>&1
say $? "the driver of the tests is built"
# shellcheck disable=SC2086
$cc $sanitize -std=c11 -D_GNU_SOURCE -Wall -Wextra -Iinclude -o "$work/calls" tests/gpu/calls.c "$build/libtirc.a" -lm -ldl -pthread >"$work/log" 2>&1
say $? "the test program is built"
tirc=$build/tirc
export FAKE_TRACE="$work/trace"

TIRC_LIBCUDA="$work/absent.so" "$tirc" run examples/scale.py --on cuda --arg A=ones --out B="$work/b.npy" >"$work/log" 2>&1
[ $? -eq 3 ] && grep -q 'no CUDA driver.*T0910' "$work/log" && [ "$(grep -c error "$work/log")" -eq 1 ] && [ ! -e "$work/b.npy" ]
say $? "without a driver: one line, exit status 3, nothing written"
TIRC_LIBCUDA="$work/absent.so" "$tirc" info >"$work/log" 2>&1 && grep -q '^gpu  *none: there is no CUDA driver' "$work/log"
say $? "info without a driver"
echo 'int cuDriverGetVersion(int *v); int cuDriverGetVersion(int *v) { *v = 11020; return 0; }' >"$work/old.c"
$cc -shared -fPIC -o "$work/old.so" "$work/old.c"
TIRC_LIBCUDA="$work/old.so" "$tirc" run examples/scale.py --on cuda --arg A=ones --arg B=zeros >"$work/log" 2>&1
[ $? -eq 3 ] && grep -q 'too old: it has no .*CUDA 11.2.*T0911' "$work/log"
say $? "an old driver"

export TIRC_LIBCUDA="$work/libcuda.so"
FAKE_DEVICES=0 "$tirc" run examples/scale.py --on cuda --arg A=ones --arg B=zeros >"$work/log" 2>&1
[ $? -eq 3 ] && grep -q 'no CUDA device here.*T0910' "$work/log"
say $? "a driver without a device"
FAKE_DEVICES=2 "$tirc" info >"$work/log" 2>&1 && grep -q '^gpu 0 .*Machine 0, capability 9.0, 132 SMs, 1 GiB, 227 KiB' "$work/log" && grep -q '^gpu 1 ' "$work/log"
say $? "info lists devices"
run() { "$tirc" run "$@" >"$work/out" 2>"$work/log"; }

for case in "scale.py --arg A=randn:3|B" "rmsnorm.py -D ROWS=16 -D COLS=256 --arg X=randn:1 --arg W=randn:2|Y" \
    "transpose.py -D M=100 -D N=77 --arg A=randn:4|B" "softmax.py -D ROWS=8 -D COLS=128 --arg X=randn:5|Y" "gemm.py -D M=64 -D N=64 -D K=64 --arg A=randn:6 --arg B=randn:7|C" \
    "histogram.py -D N=4096 --arg X=randint:0:256:3|H"; do
    words=${case%|*} name=${case##*|}
    # shellcheck disable=SC2086
    run examples/$words --out "$name=$work/cpu.npy" && run examples/$words --on cuda --out "$name=$work/gpu.npy" && cmp -s "$work/cpu.npy" "$work/gpu.npy"
    say $? "${words%% *} on the driver's device equals the machine"
done
run examples/scale.py --on cuda --arg A=randn:1 --arg B=zeros --repeat 5 --warmup 2 && grep -q 'Machine 0: .* median of 5 launches 250.000 us (250.000 to 250.000)' "$work/log" &&
    [ "$(tail -n 8 "$work/trace" | grep -c launch)" -ge 6 ]
say $? "--repeat prints the median of event times"
run examples/scale.py --repeat 5 --arg A=randn:1 --arg B=zeros
[ $? -eq 2 ] && grep -q 'go with --on cuda' "$work/log"
say $? "--repeat without --on cuda is a usage error"

"$tirc" build examples/scale.py --emit ptx -arch sm_100a -o "$work/hundred.ptx" 2>"$work/log"
run "$work/hundred.ptx" --on cuda --grid 1 --block 32 --arg 0=zeros@float32:1024 --arg 1=zeros@float32:1024
[ $? -eq 3 ] && grep -q 'for sm_100a.*Machine 0.*9.0.*T0912' "$work/log" && grep -q 'Blackwell' "$work/log"
say $? "sm_100a code on an sm_90 device names both"
"$tirc" build examples/scale.py --emit ptx -o "$work/ninety.ptx" 2>"$work/log"
FAKE_CAPABILITY=100 run "$work/ninety.ptx" --on cuda --grid 1 --block 32 --arg 0=zeros@float32:1024 --arg 1=zeros@float32:1024
[ $? -eq 3 ] && grep -q 'T0912' "$work/log"
say $? "sm_90a code on an sm_100 device"
FAKE_CAPABILITY=100 run examples/scale.py --on cuda --arg A=randn:3 --out "B=$work/gpu.npy" && run examples/scale.py --arg A=randn:3 --out "B=$work/cpu.npy" && cmp -s "$work/cpu.npy" "$work/gpu.npy"
say $? "scripts are compiled for the device that is there"
FAKE_DRIVER=11040 run "$work/ninety.ptx" --on cuda --grid 1 --block 32 --arg 0=zeros@float32:1024 --arg 1=zeros@float32:1024
[ $? -eq 3 ] && grep -q 'PTX 7.4.*T0913' "$work/log"
say $? "PTX newer than the driver"

# ---- what a launch asks of a device that it does not have, from the command: each names feature, device and what works
refuse() { # name, status, code, words of the message, words of the help, arguments
    local name=$1 want=$2 code=$3 words=$4 help=$5
    shift 5
    "$tirc" run "$@" --on cuda >"$work/out" 2>"$work/log"
    [ $? -eq "$want" ] && grep -q -F -e "$words" "$work/log" && grep -q -F -e "$help" "$work/log" && grep -q "\[$code\]" "$work/log"
    say $? "$name"
}
two="--arg 0=zeros@float32:1024 --arg 1=zeros@float32:1024"
# shellcheck disable=SC2086
refuse "a block over 1024" 1 T0917 "block.x is 2048; Machine 0 takes 1 to 1024" "at most 1024 threads in all" "$work/ninety.ptx" --grid 1 --block 2048 $two
# shellcheck disable=SC2086
refuse "a grid that is too long in y" 1 T0917 "grid.y is 70000; Machine 0 takes 1 to 65535" "grid.x takes more" "$work/ninety.ptx" --grid 1,70000 --block 32 $two
# shellcheck disable=SC2086
refuse "a cluster that does not divide the grid" 1 T0917 "grid.x is 4, no multiple of cluster.x, 3" "a grid is made of whole clusters: 6 CTAs" "$work/ninety.ptx" --grid 4 --cluster 3 --block 32 $two
# shellcheck disable=SC2086
refuse "too much shared memory" 1 T0916 "needs 300000 bytes of dynamic and 0 of static shared memory; Machine 0 gives a CTA at most 232448" "67552 bytes too many" "$work/ninety.ptx" --grid 1 --block 32 --smem 300000 $two
"$tirc" build examples/scale.py --emit ptx -arch sm_80 -o "$work/eighty.ptx" 2>"$work/log"
# shellcheck disable=SC2086
FAKE_CAPABILITY=86 refuse "clusters on a device without them" 1 T0917 "clusters need compute capability 9.0; Machine 0 has 8.6" "a launch without clusters" "$work/eighty.ptx" --grid 4 --cluster 2 --block 32 $two
refuse "a kernel with tensor memory on a device of 9.0" 3 T0912 "Machine 0 has compute capability 9.0" "tensor memory needs a Blackwell device" examples/tensor_memory.ptx --grid 1 --block 128 --arg A=arange@float32:1024 --arg B=zeros@float32:1024
FAKE_CAPABILITY=100 FAKE_DRIVER=12000 refuse "PTX of a driver to come" 3 T0913 "(CUDA 12.0) reads up to PTX 8.0" "a newer driver is needed" examples/tensor_memory.ptx --grid 1 --block 128 --arg A=arange@float32:1024 --arg B=zeros@float32:1024
"$tirc" run tests/launch/maps.py:doubled --arg A=arange@64,128 --out "B=$work/half.npy" --arg B=zeros@64,128 >"$work/log" 2>&1
refuse "an array of another type" 1 T0808 "half.npy holds float16, float32 is wanted" "" examples/scale.py --arg "A=$work/half.npy" --arg B=zeros
refuse "an array of another shape" 1 T0806 "" "" examples/scale.py --arg A=zeros@7 --arg B=zeros

# ---- TMA of a tensor that does not begin at a multiple of 16 bytes
sed 's/Tensor(("n", 128), "float16")/Tensor(("n", 128), "float16", align=2)/g' tests/launch/maps.py >"$work/maps.py"
cat >"$work/map.c" <<'END'
#include <stdio.h>
#include <string.h>
#include "tirc.h"
/* map SCRIPT: calls `doubled` with A at 0 and at 8 bytes from an address */
int main(int count, char **words) {
    static char text[8192];
    FILE *file = count > 1 ? fopen(words[1], "r") : NULL;
    size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    tirc_session *session = tirc_session_create(NULL);
    tirc_source source = {.size = sizeof source, .name = "maps.py", .text = text, .text_size = size, .kind = TIRC_KIND_SCRIPT, .entry = "doubled"};
    tirc_module *module;
    tirc_gpu *gpu;
    tirc_gpu_kernel *kernel;
    uint64_t a, b;
    int64_t shape[2] = {64, 128};
    if (tirc_load(session, &source, &module) != TIRC_OK || tirc_gpu_open(session, 0, &gpu) != TIRC_OK ||
        tirc_gpu_load(gpu, module, NULL, NULL, &kernel) != TIRC_OK || tirc_gpu_allocate(gpu, 17000, &a) != TIRC_OK ||
        tirc_gpu_allocate(gpu, 17000, &b) != TIRC_OK) {
        tirc_diagnostics_render(session, TIRC_FORMAT_TEXT, false, tirc_sink_file, stdout);
        return 1;
    }
    for (int skew = 0; skew < 16; skew += 8) {
        tirc_argument values[2] = {
            {.name = "A", .data = (void *)(uintptr_t)(a + (uint64_t)skew), .dtype = "float16", .rank = 2, .shape = shape, .bytes = 16384},
            {.name = "B", .data = (void *)(uintptr_t)b, .dtype = "float16", .rank = 2, .shape = shape, .bytes = 16384}};
        tirc_status status = tirc_gpu_call(kernel, values, 2, NULL);
        printf("skew %d: %d\n", skew, (int)status);
    }
    tirc_diagnostics_render(session, TIRC_FORMAT_TEXT, false, tirc_sink_file, stdout);
    tirc_gpu_free(gpu, a);
    tirc_gpu_free(gpu, b);
    tirc_gpu_close(gpu);
    tirc_session_destroy(session);
    return 0;
}
END
# shellcheck disable=SC2086
$cc $sanitize -std=c11 -D_GNU_SOURCE -Wall -Wextra -Iinclude -o "$work/map" "$work/map.c" "$build/libtirc.a" -lm -ldl -pthread >"$work/log" 2>&1 && "$work/map" "$work/maps.py" >"$work/log" 2>&1 &&
    grep -q '^skew 0: 0$' "$work/log" && grep -q '^skew 8: [^0]' "$work/log" && grep -q 'Machine 0 takes no such tensor map for TMA: .*address.*16.*\[T0924\]' "$work/log" && grep -q 'begins at a multiple of 16 bytes' "$work/log"
say $? "TMA of a tensor at 8 bytes from a multiple of 16: the rule, the device and what works"

TIRC_LIBCUDA="$work/libcuda.so" "$work/calls" >"$work/tap" 2>"$work/log"
say $? "calls of the library: $(grep -c '^ok' "$work/tap") checks"
grep '^not ok' "$work/tap" | sed 's/^/# /'
[ "$(grep -c 'attribute 8' "$work/trace")" -eq 1 ] && [ "$(grep -c '^attribute 8100000' "$work/trace")" -eq 1 ]
say $? "the opt-in for shared memory is asked for once and never lowered"
[ "$(grep -c '^stream 4660$' "$work/trace")" -eq 1 ]
say $? "the caller's stream reaches the driver"
echo "1..$number"
exit $bad
