/* SPDX-License-Identifier: Apache-2.0
 * The generated kernel files: loops over global and shared memory with conditions; a GEMM by tile operations
 * whose pipeline is written out stage by stage; arithmetic on scalars through inline functions and views.
 * Every step has numbers of its own, so that nothing is computed once for all. */
#include "bench_factory.h"

static int put(FILE *file, const char *text) {
    int lines = 0;
    fputs(text, file);
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

/* ---- loops and conditions ---- */

static int pipeline(FILE *file, int wanted) {
    int lines = put(file, "from tvm.script import tirx as T\n"
                          "\n"
                          "\n"
                          "def pipeline(M=65536, block=256, depth=4):\n"
                          "    strides = [3 * i + 1 for i in range(64)]\n"
                          "    rows = {f\"step{i}\": i % depth for i in range(64)}\n"
                          "    assert M % block == 0\n"
                          "\n"
                          "    @T.inline\n"
                          "    def mix(to, at, x, y):\n"
                          "        to[at] = to[at] + x * y\n"
                          "\n"
                          "    @T.prim_func\n"
                          "    def kernel(A: T.Buffer((M,), \"float32\"), B: T.Buffer((M,), \"float32\"),\n"
                          "               C: T.Buffer((M,), \"float32\")):\n"
                          "        T.device_entry()\n"
                          "        bx = T.cta_id([M // block])\n"
                          "        tx = T.thread_id([block])\n"
                          "        S = T.alloc_shared((depth, block), \"float32\")\n"
                          "        at: T.let = bx * block + tx\n"
                          "        S[0, tx] = A[at]\n");
    for (int j = 0; lines < wanted - 3; j++, lines += 9) {
        int k = j % 64;
        fprintf(file, "        for i%d in T.serial(strides[%d] %% 7 + 1):\n", j, k);
        fprintf(file, "            a%d: T.let = A[(at + i%d * strides[%d]) %% M]\n", j, j, k);
        fprintf(file, "            b%d: T.let = B[(at * %d + i%d) %% M]\n", j, j + 3, j);
        fprintf(file, "            if (at + i%d) %% %d == 0:\n", j, j + 2);
        fprintf(file, "                C[at] = C[at] + a%d * b%d\n", j, j);
        fprintf(file, "            else:\n");
        fprintf(file, "                C[at] = C[at] - a%d / (b%d * b%d + %d.5)\n", j, j, j, j);
        fprintf(file, "            mix(S, (rows[\"step%d\"], tx), a%d, T.exp(b%d))\n", k, j, j);
        fprintf(file, "        T.cuda.cta_sync()\n");
    }
    return lines + put(file, "        C[at] = C[at] + S[depth - 1, tx]\n"
                             "\n"
                             "    return kernel\n");
}

/* ---- tile operations ---- */

static int gemm(FILE *file, int wanted) {
    int lines = put(
        file,
        "from tvm_tirx.script import tirx as T\n"
        "from tvm_tirx.script.tirx import tile as Tx\n"
        "from tvm_tirx.tirx.layout import S, TCol, TileLayout, TLane\n"
        "\n"
        "\n"
        "def gemm(M=512, N=256, rounds=8, tile=(128, 32, 64), depth=2):\n"
        "    tm, tn, tk = tile\n"
        "    moved = (tm + tn) * tk * 2\n"
        "    assert M % tm == 0 and N % tn == 0\n"
        "\n"
        "    @T.inline\n"
        "    def await_phase(barrier, at, phase):\n"
        "        done: T.bool = False\n"
        "        while done == False:\n"
        "            T.ptx[\"mbarrier.try_wait.parity.shared.b64\"](done, barrier.ptr_to([at]), phase)\n"
        "\n"
        "    @T.prim_func\n"
        "    def kernel(A: T.Tensor((M, rounds * STEPS * tk), \"float16\"),\n"
        "               B: T.Tensor((N, rounds * STEPS * tk), \"float16\"), D: T.Tensor((M, N), "
        "\"float32\")):\n"
        "        T.device_entry(launch=T.cuda.LaunchConfig(grid=(M // tm, N // tn), block=(128,)))\n"
        "        m = T.meta_var(T.cuda.block_idx(\"x\") * tm)\n"
        "        n = T.meta_var(T.cuda.block_idx(\"y\") * tn)\n"
        "        tx = T.cuda.thread_idx(\"x\")\n"
        "        warp = T.cuda.warp_id()\n"
        "        slot = T.alloc_shared((1,), \"uint32\")\n"
        "        filled = T.alloc_shared((depth,), \"uint64\")\n"
        "        summed = T.alloc_shared((depth,), \"uint64\")\n"
        "        As = [T.alloc_shared((tm, tk), \"float16\", layout=T.mma_shared_layout(\"float16\", 3, (tm, "
        "tk))) for _ in range(depth)]\n"
        "        Bs = [T.alloc_shared((tn, tk), \"float16\", layout=T.mma_shared_layout(\"float16\", 3, (tn, "
        "tk))) for _ in range(depth)]\n"
        "        if tx == 0:\n"
        "            for i in T.unroll(depth):\n"
        "                T.ptx[\"mbarrier.init.shared.b64\"](filled.ptr_to([i]), 1)\n"
        "                T.ptx[\"mbarrier.init.shared.b64\"](summed.ptr_to([i]), 1)\n"
        "            T.ptx[\"fence.mbarrier_init.release.cluster\"]()\n"
        "        if warp == 0:\n"
        "            T.ptx[\"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32\"](slot.ptr_to([0]), "
        "T.uint32(32))\n"
        "            T.ptx[\"tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned\"]()\n"
        "        T.cuda.cta_sync()\n"
        "        acc = T.cuda.decl_tmem(\n"
        "            slot[0], ty_args=[T.Tensor((tm, tn), \"float32\", scope=\"tmem\", "
        "layout=TileLayout(S[(tm, tn) : (1 @ TLane, 1 @ TCol)]))]\n"
        "        )\n"
        "        for k in T.serial(rounds):\n");
    int steps = (wanted - lines - 15) / 9 & ~1; /* an even number: each buffer of the pair has its phase */
    for (int j = 0; j < steps; j++, lines += 9) {
        int buffer = j % 2, phase = j / 2 % 2;
        fprintf(file, "            if tx == 0:\n");
        fprintf(file,
                "                T.ptx[\"mbarrier.arrive.expect_tx.shared.b64\"](T.ptx.SINK, "
                "filled.ptr_to([%d]), moved)\n",
                buffer);
        fprintf(file,
                "                Tx.copy_async(As[%d][:, :], A[m : m + tm, (k * STEPS + %d) * tk : (k * "
                "STEPS + %d) * tk + tk], dispatch=\"tma\", mbar=filled.ptr_to([%d]))\n",
                buffer, j, j, buffer);
        fprintf(file,
                "                Tx.copy_async(Bs[%d][:, :], B[n : n + tn, (k * STEPS + %d) * tk : (k * "
                "STEPS + %d) * tk + tk], dispatch=\"tma\", mbar=filled.ptr_to([%d]))\n",
                buffer, j, j, buffer);
        fprintf(file, "            await_phase(filled, %d, (k * (STEPS // 2) + %d) %% 2)\n", buffer, phase);
        fprintf(file, "            if tx == 0:\n");
        fprintf(file, "                Tx.gemm_async(acc[:, :], As[%d][:, :], Bs[%d][:, :], accum=%s)\n",
                buffer, buffer, j ? "True" : "(k != 0)");
        fprintf(file,
                "                "
                "T.ptx[\"tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64\"](summed.ptr_"
                "to([%d]))\n",
                buffer);
        fprintf(file, "            await_phase(summed, %d, (k * (STEPS // 2) + %d) %% 2)\n", buffer, phase);
    }
    lines += put(
        file, "        T.ptx[\"tcgen05.fence::after_thread_sync\"]()\n"
              "        row = T.alloc_local((tm, tn), \"float32\", layout=T.wg_local_layout(tn))\n"
              "        Tx.wg.copy_async(row[:, :], acc[:, :])\n"
              "        T.ptx[\"tcgen05.wait::ld.sync.aligned\"]()\n"
              "        Tx.wg.copy(D[m : m + tm, n : n + tn], row[:, :])\n"
              "        T.ptx[\"tcgen05.fence::before_thread_sync\"]()\n"
              "        T.cuda.cta_sync()\n"
              "        if warp == 0:\n"
              "            T.ptx[\"tcgen05.dealloc.cta_group::1.sync.aligned.b32\"](slot[0], T.uint32(32))\n"
              "\n"
              "    return kernel\n"
              "\n"
              "\n");
    fprintf(file, "STEPS = %d\n", steps);
    return lines + 1;
}

/* ---- scalars ---- */

static void inline_function(FILE *file, int j) {
    static const char *const curves[] = {"T.exp(-y * y)", "T.tanh(y)", "T.sqrt(T.abs(y) + 1.0)",
                                         "T.max(y, 0.0)"};
    fprintf(file, "    @T.inline\n");
    fprintf(file, "    def curve%d(to, at, x, gain):\n", j);
    fprintf(file, "        y: T.let = x * gain + %d.25\n", j);
    fprintf(file, "        z: T.let = %s\n", curves[j % 4]);
    fprintf(file, "        if z > %d.5:\n", j);
    fprintf(file, "            to[at] = z - %d.0\n", j);
    fprintf(file, "        else:\n");
    fprintf(file, "            to[at] = T.if_then_else(x < %d.0, z * z, y / (z + 2.0))\n", j % 7);
    fprintf(file, "\n");
}

static int elementwise(FILE *file, int wanted) {
    int lines = put(file, "from tvm_tirx.script import tirx as T\n"
                          "\n"
                          "\n"
                          "def elementwise(M=65536, block=128):\n"
                          "    gains = [0.5 + i / 8 for i in range(32)]\n"
                          "    threads = M // 4\n"
                          "    assert M % (4 * block) == 0\n"
                          "\n");
    int functions = (wanted / 2 - lines) / 9;
    for (int j = 0; j < functions; j++, lines += 9)
        inline_function(file, j);
    lines += put(
        file, "    @T.prim_func\n"
              "    def kernel(A: T.Tensor((M,), \"float32\"), B: T.Tensor((M,), \"float32\"), C: "
              "T.Tensor((M,), \"float32\")):\n"
              "        T.device_entry(launch=T.cuda.LaunchConfig(grid=(threads // block,), block=(block,)))\n"
              "        i: T.let = T.cuda.block_idx(\"x\") * block + T.cuda.thread_idx(\"x\")\n"
              "        rows = A.view(threads, 4)\n"
              "        columns = B.view(4, threads).permute(1, 0)\n"
              "        pairs = C.view(threads, 2, 2)\n"
              "        word = A.view(\"uint32\")\n"
              "        part = T.alloc_local((4,), \"float32\")\n"
              "        for k in T.unroll(4):\n"
              "            part[k] = 0.0\n");
    for (int j = 0; lines < wanted - 8; j++, lines += 6) {
        fprintf(file, "        x%d: T.let = rows[i, %d] + columns[i, %d] * gains[%d]\n", j, j % 4,
                (j + 1) % 4, j % 32);
        fprintf(file, "        sign%d: T.let = T.cast(word[i * 4 + %d] >> 31, \"int32\")\n", j, j % 4);
        fprintf(file, "        curve%d(part, %d, x%d, gains[%d])\n", j % functions, j % 4, j, (3 * j) % 32);
        fprintf(file, "        if (i + %d) %% %d != sign%d:\n", j, j + 2, j);
        fprintf(file, "            curve%d(part, %d, part[%d] - x%d, gains[%d])\n", (j + 5) % functions,
                (j + 2) % 4, j % 4, j, (5 * j) % 32);
        fprintf(file, "        pairs[i, %d, %d] = part[%d] + T.cast(sign%d, \"float32\")\n", j / 2 % 2, j % 2,
                (j + 2) % 4, j);
    }
    return lines + put(file, "        for k in T.unroll(4):\n"
                             "            pairs[i, k // 2, k % 2] = part[k] + rows[i, k]\n"
                             "\n"
                             "    return kernel\n");
}

const factory_shape factory_shapes[FACTORY_COUNT] = {
    {"loops and conditions", "pipeline", pipeline},
    {"GEMM by tile operations", "gemm", gemm},
    {"scalars, inline functions, views", "elementwise", elementwise},
};
