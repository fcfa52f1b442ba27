#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What launches ask for beside their extents: from the script through IR text, plan, PTX and CUDA text to what a driver
# (tests/gpu/driver.c) and the CUDA runtime (tests/shim) are told; one policy of shared memory for both; CUDA text through
# NVRTC. Prints TAP.
set -u
cd "$(dirname "$0")/../.." || exit 2
root=$PWD build=$PWD/${TIRC_BUILD:-build/test}
tirc=$build/tirc
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
export NO_COLOR=1
number=0 bad=0
say() {
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then echo "ok $number - $2"; else
        echo "not ok $number - $2"
        head -n 20 log | sed 's/^/# /'
        bad=1
    fi
}
# name, status, words of the output, command
part() {
    local name=$1 want_status=$2 want=$3
    shift 3
    "$tirc" "$@" >log 2>&1
    local status=$?
    [ "$status" -eq "$want_status" ] && grep -q -F -e "$want" log
    say $? "$name"
}
# script FILE LAUNCH OPTIONS: a kernel that doubles, with these words in LaunchConfig and these options of the entry
script() {
    cat >"$1" <<EOF
from tvm_tirx.script import tirx as T

@T.function
def double(A: T.Tensor((4096,), "float32"), B: T.Tensor((4096,), "float32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(32,), block=(128,)${2:+, $2})${3:+, kernel_attrs=T.cuda.KernelAttributes($3)})
    bx = T.cuda.block_idx("x")
    tx = T.cuda.thread_idx("x")
    B[bx * 128 + tx] = A[bx * 128 + tx] * T.float32(2.0)
EOF
}
all='cluster=(16,), cooperative=True, programmatic_stream_serialization=True, priority=-3, preferred_shared_memory_carveout=50, cluster_scheduling_policy="load_balancing", portable_cluster_size_mode="allow_non_portable"'
script all.py "$all" "min_blocks_per_sm=2, max_blocks_per_cluster=16"

# ---- through every form
"$tirc" build all.py --emit tir -o all.tir >log 2>&1 && "$tirc" build all.tir --emit tir -o again.tir >log 2>&1 && cmp all.tir again.tir >log &&
    for line in cooperative programmatic 'priority = -3' 'carveout = 50' 'cluster_policy = load_balancing' 'cluster_size = allow_non_portable' 'min_blocks_per_sm = 2'; do
        grep -q "^        $line\$" all.tir || echo "no $line" >>log
    done
    [ ! -s log ]
say $? "IR text keeps every attribute of the launch"
"$tirc" build all.py --emit plan >plan 2>log && cat >want <<'E1' && head -n 12 plan | diff want - >log
kernel double_kernel
  grid   (32, 1, 1)
  block  (128, 1, 1)
  cluster (16, 1, 1)  a non-portable size: the launch allows it
  at least 2 blocks per SM
  at most 16 blocks per cluster
  cooperative launch: all CTAs are resident at once
  programmatic launch: may start before the one before it has ended
  priority -3
  preferred carve-out: 50 percent of the SM's memory is shared
  cluster scheduling policy load_balancing
  cluster size allow_non_portable
E1
say $? "the plan lists them"
"$tirc" build all.py --emit plan-json >json 2>log && grep -q '"cooperative":true,"programmatic":true,"priority":-3,"carveout":50,"cluster_policy":"load_balancing","cluster_size":"allow_non_portable"' json && grep -q '"non_portable_cluster":true' json && grep -q '"min_blocks_per_sm":2,"max_blocks_per_cluster":16' json
say $? "and as JSON"
script regs.py "" "max_registers_per_thread=40"
"$tirc" build regs.py --emit ptx >log 2>&1 && grep -q '^\.maxnreg 40' log && "$tirc" build regs.py --emit cuda >log 2>&1 && grep -q '__maxnreg__(40)' log
say $? "max_registers in PTX and CUDA text"
script bounds.py "" "min_blocks_per_sm=2, max_blocks_per_cluster=16"
"$tirc" build bounds.py --emit ptx -o bounds.ptx >log 2>&1 && grep -q '^\.minnctapersm 2' bounds.ptx && grep -q '^\.maxclusterrank 16' bounds.ptx && "$tirc" build bounds.py --emit cuda >log 2>&1 && grep -q '__launch_bounds__(128, 2, 16)' log
say $? "min_blocks and max_blocks_per_cluster"
"$tirc" build all.py --emit ptx -o all.ptx >log 2>&1 && grep -q '^\.reqnctapercluster 16' all.ptx && ! grep -q '^\.maxclusterrank' all.ptx
say $? "a fixed cluster stands instead of the most of one"
cat >tags.py <<'E2'
from tvm.script import tirx as T

@T.prim_func
def k(B: T.Buffer((128,), "float32")):
    T.func_attr({"tirx.kernel_launch_params": ["threadIdx.x", "tirx.use_programtic_dependent_launch", "tirx.use_cooperative_launch"]})
    T.device_entry()
    bx = T.cta_id([1])
    tx = T.thread_id([128])
    B[tx] = T.float32(1)
E2
"$tirc" build tags.py --emit plan-json >log 2>&1 && grep -q '"cooperative":true,"programmatic":true' log
say $? "tags of the older dialects"
sed -i 's/tirx.use_cooperative_launch/tirx.use_wings/' tags.py
part "a tag that is not known is named" 3 "tirx.use_wings" check tags.py

# ---- refusals: what a field takes, what the target has
while IFS='|' read -r launch attributes target want; do
    script wrong.py "$launch" "$attributes"
    part "refused: ${launch}${attributes} for $target" 1 "$want" build wrong.py --emit plan -arch "$target"
done <<'E3'
priority="high"||sm_90a|priority
preferred_shared_memory_carveout=101||sm_90a|preferred_shared_memory_carveout of 101; 0 to 100 are possible
cluster_scheduling_policy="fast"||sm_90a|cluster_scheduling_policy is "default", "spread" or "load_balancing", not "fast"
portable_cluster_size_mode="any"||sm_90a|portable_cluster_size_mode is "default", "require_portable" or "allow_non_portable", not "any"
programmatic_stream_serialization=True||sm_80|programmatic launches need sm_90 or later, and the target is sm_80 [T0466]
cluster_scheduling_policy="spread"||sm_86|cluster scheduling policies need sm_90 or later, and the target is sm_86 [T0466]
cluster=(16,), portable_cluster_size_mode="require_portable"||sm_90a|a cluster of 16 CTAs, and the launch requires a portable size: 8 at most [T0467]
cluster=(2,), preferred_cluster=(3,)||sm_90a|the preferred cluster's x extent is 3; it has to be a multiple of the cluster's, 2 [T0469]
cluster=(2,), preferred_cluster=(2, 1, 2)||sm_90a|the preferred cluster's z extent is 2; it has to be equal to the cluster's, 1 [T0469]
cluster=(3,), preferred_cluster=(6,)||sm_90a|the grid's x extent 32 is no multiple of the preferred cluster's 6 [T0469]
cluster=(2,), preferred_cluster=(32,)||sm_90a|a preferred cluster of 32 CTAs: sm_90 takes 16 at most [T0469]
preferred_cluster=(2,)||sm_90a|preferred_cluster without cluster
cluster=(2,), preferred_cluster=("a",)||sm_90a|preferred_cluster
cluster=(2,), preferred_cluster=(0,)||sm_90a|an extent of 0: extents are positive
mem_sync_domain="near"||sm_90a|mem_sync_domain is "default" or "remote", not "near"
mem_sync_domain_map=(1,)||sm_90a|mem_sync_domain_map is the numbers of the default and of the remote domain, 0 to 255
mem_sync_domain_map=(1, 256)||sm_90a|mem_sync_domain_map is the numbers
mem_sync_domain="remote"||sm_86|memory synchronisation domains need sm_90 or later, and the target is sm_86 [T0466]
cluster=(1,), preferred_cluster=(1,)||sm_86|preferred clusters need sm_90 or later, and the target is sm_86 [T0466]
cluster=(32,)||sm_90a|a cluster of 32 CTAs: sm_90 takes 16 at most, and more than 8 only as a non-portable size [T0463]
|max_registers_per_thread=256|sm_90a|max_registers is 256; a thread of sm_90 has 255 at most [T0465]
|min_blocks_per_sm=33|sm_90a|min_blocks_per_sm is 33; an SM of sm_90 holds 32 CTAs at most [T0465]
|min_blocks_per_sm=17|sm_90a|min_blocks_per_sm is 17 with blocks of 128 threads; an SM of sm_90 holds 2048 threads at most, 16 such CTAs [T0465]
|min_blocks_per_sm=13|sm_86|min_blocks_per_sm is 13 with blocks of 128 threads; an SM of sm_86 holds 1536 threads at most, 12 such CTAs [T0465]
|min_blocks_per_sm=1, max_blocks_per_cluster=17|sm_90a|max_blocks_per_cluster is 17; a cluster of sm_90 has 16 CTAs at most [T0465]
cluster=(8,)|min_blocks_per_sm=1, max_blocks_per_cluster=4|sm_90a|a cluster of 8 CTAs, and max_blocks_per_cluster promises 4 at most [T0465]
E3
# case H07: a register cap together with launch bounds; clusters above 8 CTAs need the non-portable attribute
script h07.py "" "max_registers_per_thread=64, min_blocks_per_sm=2"
part "case H07: a register cap together with launch bounds is refused" 1 "a register cap together with launch bounds" check h07.py
sed '/^        min_blocks_per_sm/s/.*/        min_blocks_per_sm = 2\n        max_registers = 64/' all.tir >h07.tir
part "case H07: in IR text too" 1 "a register cap and launch bounds cannot both be given" build h07.tir --emit plan
"$tirc" build all.py --emit cuda-host >log 2>&1 && grep -q 'cudaFuncAttributeNonPortableClusterSizeAllowed, 1' log
say $? "case H07: a cluster of 16 sets the non-portable attribute in the runtime's launch"
for code in T0465 T0466 T0467 T0469 T0923; do part "explain $code" 0 "right:" explain $code; done

# ---- the driver is told the same
cc=${CC:-gcc}
case $build in *asan*) sanitize="-fsanitize=address,undefined" ;; *tsan*) sanitize="-fsanitize=thread" ;; *) sanitize="" ;; esac
# shellcheck disable=SC2086
$cc $sanitize -std=c11 -D_GNU_SOURCE -fPIC -fvisibility=hidden -shared -I"$root/include" -o libcuda.so "$root/tests/gpu/driver.c" "$build/libtirc.a" -Wl,--exclude-libs,ALL -lm -ldl -pthread >log 2>&1
say $? "the driver of the tests is built"
export TIRC_LIBCUDA="$work/libcuda.so" FAKE_TRACE="$work/trace"
on() { rm -f trace; "$tirc" run "$@" --on cuda >log 2>&1; }
script plain.py "" ""
script larger.py "cluster=(2,), preferred_cluster=(4,), mem_sync_domain=\"remote\", mem_sync_domain_map=(3, 5)" ""
on larger.py --arg A=randn:1 --arg B=zeros && grep -q '^launch attribute 4 2$' trace && grep -q '^launch attribute 11 4$' trace && grep -q '^launch attribute 10 1$' trace && grep -q "^launch attribute 9 $((3 + 5 * 256))\$" trace
say $? "preferred cluster, domain and map reach the driver"
FAKE_DRIVER=12040 on larger.py --arg A=randn:1 --arg B=zeros
[ $? -eq 3 ] && grep -q 'preferred clusters need a driver for CUDA 12.8; this one speaks CUDA 12.4 .*T0923' log && grep -q 'leave out preferred_cluster' log && ! grep -q '^launch' trace
say $? "a driver that is too old for a preferred cluster is named"
"$tirc" build larger.py --emit ptx -o larger.ptx >log 2>&1 && ! grep -q 'nctapercluster' larger.ptx && "$tirc" build larger.py --emit cuda-host -o larger.cu >>log 2>&1 && ! grep -q __cluster_dims__ larger.cu &&
    grep -q 'preferredClusterDim.x = 4' larger.cu && grep -q 'clusterDim.x = (unsigned)2' larger.cu && grep -q 'memSyncDomain = cudaLaunchMemSyncDomainRemote' larger.cu && grep -q 'memSyncDomainMap = {3, 5}' larger.cu
say $? "the kernel carries no size of its own; the launch function sets all four attributes"
"$tirc" build larger.py --emit plan >log 2>&1 && grep -q 'preferred cluster (4, 1, 1) where there is room' log && grep -q 'synchronisation domain remote' log && grep -q 'default is 3, remote is 5' log &&
    "$tirc" build larger.py --emit plan-json >log 2>&1 && grep -q '"preferred_cluster":\[4,1,1\],"sync_domain":"remote","sync_domain_map":\[3,5\]' log
say $? "and so say the plan's text and JSON"
"$tirc" build larger.py --emit tir -o larger.tir >log 2>&1 && "$tirc" build larger.tir --emit tir -o again.tir >>log 2>&1 && cmp larger.tir again.tir >>log && grep -q 'preferred_cluster = (4, 1, 1)' larger.tir &&
    sed 's/preferred_cluster = (4/preferred_cluster = (8/' larger.tir >other.tir && ! "$tirc" diff larger.tir other.tir >>log 2>&1
say $? "IR text keeps them, and a comparison sees them"
script driver.py "cluster=(16,), programmatic_stream_serialization=True, priority=-3, preferred_shared_memory_carveout=50, cluster_scheduling_policy=\"spread\"" ""
on driver.py --arg A=randn:1 --arg B=zeros --repeat 3 && grep -q '^launch attribute 4 16$' trace && grep -q '^launch attribute 5 1$' trace && grep -q '^launch attribute 6 1$' trace && grep -q '^launch attribute 8 -3$' trace &&
    [ "$(grep -c '^attribute 14000001$' trace)" -eq 1 ] && [ "$(grep -c '^attribute 9000050$' trace)" -eq 1 ]
say $? "the script's attributes reach the driver; those of the function once"
on plain.py --arg A=randn:1 --arg B=zeros --priority 2 --programmatic --carve-out 0 && grep -q '^launch attribute 8 2$' trace && grep -q '^launch attribute 6 1$' trace && grep -q '^attribute 9000000$' trace && ! grep -q '^launch attribute [245]' trace
say $? "--priority, --programmatic and --carve-out do"
on driver.py --arg A=randn:1 --arg B=zeros --priority 7 && grep -q '^launch attribute 8 7$' trace
say $? "and stand before the script's"
on plain.py --arg A=randn:1 --arg B=zeros --cooperative && grep -q '^launch attribute 2 1$' trace
say $? "--cooperative"
"$tirc" run plain.py --arg A=randn:1 --arg B=zeros --carve-out 30 >log 2>&1
[ $? -eq 2 ] && grep -q 'go with --on cuda' log
say $? "without --on cuda they are a usage error"
on plain.py --arg A=randn:1 --arg B=zeros --carve-out 130
[ $? -eq 2 ] && ! [ -e trace ]
say $? "a carve-out of 130 percent"

# ---- shared memory at the driver: exactly 48 KiB beside a static part, too much, and too little
cat >b05.tir <<'EOF'
tir 1

function k(out: int32[32]):
    launch:
        grid = (1, 1, 1)
        block = (32, 1, 1)
    let tx: int32 = thread_idx.x
    alloc fixed: int32[1] shared
    alloc big: int32[8192] shared.dyn
    view low: int32[100] shared.dyn = reinterpret[int32*shared.dyn](big.data)
    fixed[0] = 7
    low[tx] = tx
    out[tx] = low[tx] + fixed[0]
EOF
on b05.tir --out out=out.npy --smem 49152 && grep -q '^attribute 8049152$' trace
say $? "case B05: 48 KiB of dynamic and 4 bytes of static memory set the attribute"
on b05.tir --out out=out.npy --smem 49148 && ! grep -q '^attribute 8' trace
say $? "4 bytes fewer do not"
on b05.tir --out out=out.npy --smem 300000
[ $? -eq 1 ] && grep -q 'needs 300000 bytes of dynamic and 4 of static shared memory; Machine 0 gives a CTA at most 232448 .*T0916' log && grep -q "note: 'big' takes 32768 bytes of dynamic shared memory" log && grep -q "note: 'fixed' takes 4 bytes of static shared memory" log && grep -q '67556 bytes too many' log
say $? "too much names request, static part, limit and the largest allocations"
on b05.tir --out out=out.npy --smem 1000
[ $? -eq 1 ] && grep -q '1000 bytes of dynamic shared memory are given for this launch, but .k. needs 32768 .*T0417' log
say $? "and too little what is needed"

# ---- CUDA text through NVRTC: a library that is not there, too old, one of the tests, and the real one
TIRC_LIBNVRTC="$work/absent.so" on plain.py --arg A=randn:1 --arg B=zeros --via nvrtc
[ $? -eq 3 ] && grep -q '^error: NVRTC is not here .*absent.so.* \[T0920\]$' log && grep -q 'leave out --via nvrtc' log && [ "$(grep -c error: log)" -eq 1 ] && ! [ -e trace ]
say $? "--via nvrtc without NVRTC: one line, exit status 3"
echo 'int nvrtcVersion(int *a, int *b); int nvrtcVersion(int *a, int *b) { *a = *b = 1; return 0; }' >old.c
$cc -shared -fPIC -o old.so old.c
TIRC_LIBNVRTC="$work/old.so" on plain.py --arg A=randn:1 --arg B=zeros --via nvrtc
[ $? -eq 3 ] && grep -q 'NVRTC is not usable: it has no nvrtc[A-Za-z]*.*T0920' log
say $? "an NVRTC without its functions"
$cc -std=c11 -D_GNU_SOURCE -shared -fPIC -o fake.so "$root/tests/launch/nvrtc.c" >log 2>&1
say $? "the NVRTC of the tests is built"
"$tirc" build plain.py --emit ptx -o fake.ptx >log 2>&1 && "$tirc" build plain.py --emit cuda -o plain.cu >log 2>&1
export FAKE_NVRTC_PTX="$work/fake.ptx" FAKE_NVRTC_TRACE="$work/nvrtc.trace"
TIRC_LIBNVRTC="$work/fake.so" on plain.py --arg A=randn:1 --out B=via.npy --via nvrtc && "$tirc" run plain.py --arg A=randn:1 --out B=vm.npy >>log 2>&1 && cmp via.npy vm.npy >>log &&
    grep -q '^option --gpu-architecture=compute_90a$' nvrtc.trace && grep -q '^option --fmad=true$' nvrtc.trace && grep -v '^option' nvrtc.trace | cmp - plain.cu >>log
say $? "NVRTC gets the CUDA text and the device's architecture, and its PTX is what is launched"
TIRC_LIBNVRTC="$work/fake.so" on plain.py --arg A=randn:1 --arg B=zeros --via nvrtc --fp-contract off && grep -q '^option --fmad=false$' nvrtc.trace
say $? "--fp-contract off reaches NVRTC"
FAKE_NVRTC_REFUSES=double_kernel TIRC_LIBNVRTC="$work/fake.so" on plain.py --arg A=randn:1 --arg B=zeros --via nvrtc
[ $? -eq 1 ] && grep -q 'NVRTC does not take the CUDA text (6): kernel.cu(7): error: identifier is undefined \[T0921\]' log && ! [ -e trace ]
say $? "what NVRTC refuses is said with its first error"
TIRC_LIBNVRTC="$work/fake.so" on fake.ptx --arg 0=zeros@float32:4096 --arg 1=zeros@float32:4096 --grid 32 --block 128 --via nvrtc
[ $? -eq 1 ] && grep -q 'this is PTX already \[T0920\]' log
say $? "PTX files do not go through NVRTC"
"$tirc" run plain.py --arg A=randn:1 --arg B=zeros --via nvrtc >log 2>&1
[ $? -eq 2 ] && grep -q -e '--via goes with --on cuda' log
say $? "--via without --on cuda is a usage error"
for code in T0920 T0921; do "$tirc" explain $code >log 2>&1 && grep -q nvrtc log || echo "$code" >>log; say $? "explain $code"; done
unset FAKE_NVRTC_PTX FAKE_NVRTC_TRACE
if "$tirc" run plain.py --arg A=randn:1 --arg B=zeros --on cuda --via nvrtc >log 2>&1; then
    good=0
    for words in "rmsnorm_bf16.py --arg X=randn:1 --arg W=randn:2|Y" "scan.py --arg X=randint:0:9:1|Y"; do
        name=${words##*|}
        # shellcheck disable=SC2086
        "$tirc" run "$root"/examples/${words%|*} -D ROWS=4 --out "$name=vm.npy" >log 2>&1
        # shellcheck disable=SC2086
        "$tirc" run "$root"/examples/${words%|*} -D ROWS=4 --on cuda --via nvrtc --expect "$name=vm.npy" --rtol 0.01 --atol 0.01 >log 2>&1 || good=1
    done
    say $good "the NVRTC that is here compiles examples, headers and all"
else
    grep -q T0920 log && echo "ok $((number += 1)) - the NVRTC that is here # SKIP there is none" || say 1 "the NVRTC that is here"
fi

# ---- tensor maps in the launch function, and the same kernel through tirc's own maps
"$tirc" build "$root/tests/launch/maps.py" --emit cuda-host >log 2>&1 && grep -q 'doubled_kernel_launch(half\* A_ptr, half\* B_ptr, int n, cudaStream_t stream)' log && grep -q 'given_kernel_launch(const CUtensorMap& a, half\* B_ptr, cudaStream_t stream)' log &&
    grep -q 'dims\[\] = {(cuuint64_t)128LL, (cuuint64_t)(long long)n}' log && grep -q 'CU_TENSOR_MAP_SWIZZLE_128B' log
say $? "the launch function makes the maps of its copies, from the shape; the author's map is an argument"
"$tirc" run "$root/tests/launch/maps.py:doubled" --arg A=arange@64,128 --arg B=zeros@64,128 --show B >log 2>&1 && grep -q 'B = float16\[64, 128\]: 0 2 4 6' log
say $? "on the machine it doubles"

# ---- covers: A33. One policy for driver and runtime: the opt-in is a high-water mark of the function
cp "$root/tests/launch/grows.py" .
cat >policy.c <<'E5'
#include <stdio.h>
#include <stdlib.h>
#include "tirc.h"
/* policy SCRIPT BYTES...: one call after the other through the driver; what each gives */
int main(int count, char **arguments) {
    static char text[4096];
    FILE *file = fopen(arguments[1], "r");
    size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    tirc_session *session = tirc_session_create(NULL);
    tirc_source source = {.size = sizeof source, .name = arguments[1], .text = text, .text_size = size, .kind = TIRC_KIND_SCRIPT};
    tirc_module *module;
    tirc_gpu *gpu;
    tirc_gpu_kernel *kernel;
    uint64_t a, b;
    float host[128];
    int64_t shape[1] = {128};
    for (int i = 0; i < 128; ++i)
        host[i] = (float)i;
    if (tirc_load(session, &source, &module) != TIRC_OK || tirc_gpu_open(session, 0, &gpu) != TIRC_OK ||
        tirc_gpu_load(gpu, module, NULL, NULL, &kernel) != TIRC_OK || tirc_gpu_allocate(gpu, 512, &a) != TIRC_OK ||
        tirc_gpu_allocate(gpu, 512, &b) != TIRC_OK || tirc_gpu_write(gpu, a, host, 512) != TIRC_OK)
        return 1;
    for (int i = 2; i < count; ++i) {
        int32_t bytes = atoi(arguments[i]);
        tirc_argument values[3] = {
            {.name = "A", .data = (void *)(uintptr_t)a, .dtype = "float32", .rank = 1, .shape = shape, .bytes = 512},
            {.name = "B", .data = (void *)(uintptr_t)b, .dtype = "float32", .rank = 1, .shape = shape, .bytes = 512},
            {.name = "bytes", .data = &bytes, .dtype = "int32", .bytes = 4, .is_scalar = true}};
        tirc_status status = tirc_gpu_call(kernel, values, 3, NULL);
        if (status == TIRC_OK && tirc_gpu_wait(gpu, NULL) == TIRC_OK && tirc_gpu_read(gpu, host, b, 512) == TIRC_OK &&
            host[5] == 123.f) {
            printf("%d ok\n", bytes);
        } else {
            tirc_diagnostic d = {0};
            tirc_diagnostic_at(session, tirc_diagnostic_count(session) - 1, &d);
            printf("%d %s %s\n", bytes, d.code ? d.code : "?", d.text ? d.text : "");
        }
    }
    tirc_gpu_close(gpu);
    tirc_session_destroy(session);
    return 0;
}
E5
# shellcheck disable=SC2086
$cc $sanitize -std=c11 -D_GNU_SOURCE -I"$root/include" -o policy policy.c "$build/libtirc.a" -lm -ldl -pthread >log 2>&1
say $? "a caller is built"
sizes="512 60000 50000 1024 100000 60000 232448 512 232449 511 99999"
rm -f trace
# shellcheck disable=SC2086
./policy grows.py $sizes >calls 2>log
sed 's/ T\([0-9]*\) .*/ T\1/' calls | tr '\n' ' ' >log
[ "$(cat log)" = "512 ok 60000 ok 50000 ok 1024 ok 100000 ok 60000 ok 232448 ok 512 ok 232449 T0916 511 T0417 99999 ok " ]
say $? "A33: launches through the driver that grow and shrink; too much and too little are refused"
grep '^attribute 8' trace | tr '\n' ' ' >log
[ "$(cat log)" = "attribute 8060000 attribute 8100000 attribute 8232448 " ]
say $? "A33: the attribute is set when the mark rises, three times in nine launches"
grep -q '232449.*T0916 kernel .grows_kernel. needs 232449 bytes of dynamic and 0 of static shared memory; Machine 0 gives a CTA at most 232448' calls
say $? "A33: the refusal names request, static part and limit"
if nvcc=$("$root/tools/find-nvcc"); then
    runtime=$(ls -d "$(dirname "$nvcc")"/../lib64 "$(dirname "$nvcc")"/../lib 2>/dev/null | head -n 1)
    "$tirc" build all.py --emit cuda-host -o all.cu >log 2>&1 && "$nvcc" -arch=sm_90a -c -o all.o all.cu >log 2>&1 && [ ! -s log ]
    # shellcheck disable=SC2015
    ptxas=$(dirname "$nvcc")/ptxas
    for file in all bounds; do "$ptxas" -arch=sm_90a -o /dev/null $file.ptx >>log 2>&1; done
    [ ! -s log ]
    say $? "nvcc takes a launch function with every attribute, without a word"
    "$tirc" build grows.py --emit cuda-host -o grows_host.cu >log 2>&1
    make -s -C "$root" VARIANT="$(basename "$build")" shim >log 2>&1
    "$nvcc" -std=c++17 -gencode arch=compute_90a,code=compute_90a -cudart shared -no-compress -DCOUNT -Xcompiler -rdynamic -I. -o grows "$root/tests/launch/grows.cu" -ldl >log 2>&1
    say $? "A33: a program over the emitted launch function is built by nvcc"
    case $build in
    *asan* | *tsan*) echo "ok $((number += 1)) - A33: its launches # SKIP a sanitizer's own runtime cannot be preloaded into a foreign program" ;;
    *)
        # shellcheck disable=SC2086
        LD_LIBRARY_PATH=$runtime LD_PRELOAD=$build/libtirc_cudart.so ./grows $sizes >out 2>log
        grep -v '^attribute' out | tr '\n' ' ' >log
        [ "$(cat log)" = "512 ok 60000 ok 50000 ok 1024 ok 100000 ok 60000 ok 232448 ok 512 ok 232449 refused 511 refused 99999 ok misaligned refused " ]
        say $? "A33: launches through the runtime that grow and shrink give the same"
        grep '^attribute' out | tr '\n' ' ' >log
        [ "$(cat log)" = "attribute 8 60000 attribute 8 100000 attribute 8 232448 attribute 8 232449 " ]
        say $? "A33: the runtime's attribute is set when the mark rises, and once for the refused one"
        ;;
    esac
    # ---- tensor maps: those of TMA copies are made by the launch function, one of the author's is the caller's
    "$tirc" build "$root/tests/launch/maps.py" --emit cuda-host -o maps_host.cu >log 2>&1
    for arch in 90a 100a; do
        "$nvcc" -std=c++17 -Werror all-warnings -Xcompiler -Wall,-Wextra -gencode arch=compute_$arch,code=compute_$arch -cudart shared -no-compress -I. -o maps "$root/tests/launch/maps.cu" >log 2>&1 && [ ! -s log ]
        say $? "launch functions with tensor maps are built by nvcc for compute_$arch, without a word"
        case $build in
        *asan* | *tsan*) echo "ok $((number += 1)) - their launches # SKIP a sanitizer's own runtime cannot be preloaded into a foreign program" ;;
        *)
            LD_LIBRARY_PATH=$runtime LD_PRELOAD=$build/libtirc_cudart.so ./maps >out 2>log
            [ "$(tr '\n' ' ' <out)" = "doubled: 0 wrong given: 0 wrong misaligned: refused " ] || { cat out >>log; false; }
            say $? "their launches through the runtime, for compute_$arch"
            ;;
        esac
    done
elif [ -n "${REQUIRE_NVCC:-}" ]; then
    echo "no nvcc" >log
    say 1 "nvcc takes the launch functions"
fi
echo "1..$number"
exit $bad
