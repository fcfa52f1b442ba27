#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Flat IR to PTX over every case: the module verifies, ptxas takes it for both targets with and without the
# optimising passes, it parses back, and the code has the shape that the machine's speed rests on.
# covers: A40
set -u
export LC_ALL=C # the order of sort
cd "$(dirname "$0")/../.."
build=${TIRC_BUILD:-build/test}
tool=$build/tool/ptx_build_dump
dump=$build/tool/ptx_dump
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
number=0
check() { # check NAME STATUS
  number=$((number + 1))
  if [ "$2" = 0 ]; then echo "ok $number - $1"; else echo "not ok $number - $1"; fi
}
skip() {
  number=$((number + 1))
  echo "ok $number - $1 # SKIP $2"
}
ptxas=
for candidate in "$(dirname "${TIRC_NVCC:-/none/nvcc}")/ptxas" "$(command -v ptxas)" "${CUDA_HOME:-/none}/bin/ptxas" /usr/local/cuda/bin/ptxas; do
  if [ -x "$candidate" ]; then ptxas=$candidate; break; fi
done
none=optimise_unroll,optimise_promote,optimise_propagate,optimise_divide,optimise_select,optimise_select_loaded,optimise_addresses,optimise_induction,optimise_hoist
none=$none,optimise_widen,optimise_loads,optimise_share,optimise_dead

for case in tests/ptx_build/cases/*.tir; do
  name=$(basename "$case" .tir)
  for variant in sm_90a sm_100a plain; do
    target=$variant flags=
    if [ "$variant" = plain ]; then target=sm_90a flags="--skip $none --no-contract"; fi
    # shellcheck disable=SC2086
    "$tool" --verify --target $target $flags "$case" > "$scratch/$name.$variant.ptx" 2> "$scratch/messages"
    status=$?
    [ $status = 0 ] || sed 's/^/# /' "$scratch/messages"
    check "$name $variant builds and verifies" $status
    if [ -n "$ptxas" ]; then
      "$ptxas" -arch=$target "$scratch/$name.$variant.ptx" -o /dev/null 2> "$scratch/messages"
      status=$?
      [ $status = 0 ] || sed 's/^/# /' "$scratch/messages"
      check "$name $variant is taken by ptxas" $status
    else
      skip "$name $variant is taken by ptxas" "no ptxas"
    fi
  done
  "$dump" --roundtrip "$scratch/$name.sm_90a.ptx" > /dev/null
  check "$name parses back" $?
done

# The inner loop of the matrix product: two vector loads, 16 fma, two pointers, the counter, the test, the branch.
awk '/loop_7:/ { inside = 1; next } inside { print $1; if (/bra/) exit }' "$scratch/gemm.sm_90a.ptx" | sort | uniq -c |
  awk '{ print $2, $1 }' > "$scratch/inner"
cat > "$scratch/expected" <<END
@%p2 1
add.s32 3
fma.rn.f32 16
ld.shared.v4.f32 2
setp.lt.s32 1
END
diff "$scratch/inner" "$scratch/expected" | sed 's/^/# /'
cmp -s "$scratch/inner" "$scratch/expected"
check "the inner loop of gemm is loads and fma" $?

instructions() { grep -c '^	[a-z@].*;$' "$1"; }
count=$(instructions "$scratch/elementwise.sm_90a.ptx")
[ "$count" -le 17 ]
check "elementwise has at most 17 instructions ($count)" $?
count=$(grep -c "add.s64" "$scratch/transpose.sm_90a.ptx")
[ "$count" = 8 ]
check "transpose computes one 64-bit address per global access ($count)" $?
grep -q '[.]local .* L\[' "$scratch/control.sm_90a.ptx" && ! grep -q '[.]local .* [VW]\[' "$scratch/control.sm_90a.ptx"
check "dynamically indexed locals lie in .local, the others in registers" $?
grep -q 'mul.rn.f32' "$scratch/gemm.plain.ptx" && ! grep -q 'fma' "$scratch/gemm.plain.ptx"
check "--no-contract leaves products and sums apart" $?
echo "1..$number"
