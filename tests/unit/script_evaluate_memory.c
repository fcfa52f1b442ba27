/* SPDX-License-Identifier: Apache-2.0
 * Tensors and memory: the constructs of the first document's listings, written afresh, to IR text. */
#include "unit/script_help.h"

/* covers: A1 A3 A6 A14 A25 A77 */
static void static_shared_memory(void **state) {
    help_gives(*state,
               "@Tx.function\n"
               "def staged(X: Tx.Tensor((64,), \"float32\"), Y: Tx.Tensor((64,), \"float32\")):\n"
               "    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(64,)))\n"
               "    block = Tx.cuda.block_idx(\"x\")\n"
               "    thread = Tx.cuda.thread_idx(\"x\")\n"
               "    tile = Tx.alloc_shared((64,), \"float32\")\n"
               "    tile[thread] = X[block * 64 + thread]\n"
               "    Tx.cuda.cta_sync()\n"
               "    Y[thread] = tile[63 - thread] * Tx.float32(3.0)\n",
               NULL,
               "function staged(X: float32[64], Y: float32[64]):\n"
               "    launch:\n"
               "        grid = (1, 1, 1)\n"
               "        block = (64, 1, 1)\n"
               "    let thread: int32 = thread_idx.x\n"
               "    alloc tile: float32[64] shared\n"
               "    tile[thread] = X[thread]\n"
               "    cta_sync()\n"
               "    Y[thread] = tile[63 - thread] * 3.0\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {UNIT_WITH_ARENA(static_shared_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
