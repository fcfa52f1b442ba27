# SPDX-License-Identifier: Apache-2.0
# A factory: gemm(M, N, K) computes its tiles and returns the kernel C = A * B for them. Two shared buffers take
# turns; a small class counts the stage. Try: tirc run factory_gemm.py:gemm -D M=64 -D N=64 -D K=32 ...
from dataclasses import dataclass

from tvm.script import tirx as T


@dataclass(frozen=True)
class Tile:
    m: int = 32
    n: int = 32
    k: int = 16
    per_thread: int = 4  # results of a thread, in one column of four rows

    @property
    def threads(self):
        return self.m * self.n // self.per_thread

    def check(self, **sizes):
        for name, size in sizes.items():
            step = getattr(self, name.lower())
            if size % step != 0:
                raise ValueError(f"{name}={size} is no multiple of the tile, {step}")


@T.meta_class
class Stage:
    """Which of the buffers is filled next."""

    def __init__(self, depth):
        self.depth = depth
        self.at = T.local_scalar("int32")

    @T.inline
    def start(self):
        self.at = 0

    @T.inline
    def advance(self):
        self.at = (self.at + 1) % self.depth


def gemm(M, N, K, tile=None, depth=2):
    tile = tile or Tile()
    tile.check(M=M, N=N, K=K)
    threads, rows = tile.threads, tile.per_thread
    loads_a, loads_b = (-(-tile.k * side // threads) for side in (tile.m, tile.n))

    @T.inline
    def copy(to, stage, source, row, column, extent, loads, tx):
        """extent[0] x extent[1] elements of source, all threads together."""
        for i in T.unroll(loads):
            at: T.let = i * threads + tx
            if at < extent[0] * extent[1]:
                to[stage, at // extent[1], at % extent[1]] = source[row + at // extent[1], column + at % extent[1]]

    @T.inline
    def each(do, i=0):
        """do(0), do(1), ...: a recursion that ends while compiling."""
        if i < rows:
            do(i)
            each(do, i + 1)

    @T.prim_func
    def gemm(A: T.Buffer((M, K), "float32"), B: T.Buffer((K, N), "float32"), C: T.Buffer((M, N), "float32")):
        T.device_entry()
        bx, by = T.cta_id([N // tile.n, M // tile.m])
        tx = T.thread_id([threads])
        As = T.alloc_shared((depth, tile.m, tile.k), "float32")
        Bs = T.alloc_shared((depth, tile.k, tile.n), "float32")
        sums = [T.local_scalar("float32") for _ in range(rows)]
        stage = Stage(depth)
        row: T.let = tx // tile.n * rows
        column: T.let = tx % tile.n

        @T.inline
        def clear(i):
            sums[i] = 0.0

        @T.inline
        def store(i):
            C[by * tile.m + row + i, bx * tile.n + column] = sums[i]

        stage.start()
        each(clear)
        for step in T.serial(K // tile.k):
            copy(As, stage.at, A, by * tile.m, step * tile.k, (tile.m, tile.k), loads_a, tx)
            copy(Bs, stage.at, B, step * tile.k, bx * tile.n, (tile.k, tile.n), loads_b, tx)
            T.cuda.cta_sync()
            for k in T.unroll(tile.k):

                @T.inline
                def add(i):
                    sums[i] = sums[i] + As[stage.at, row + i, k] * Bs[stage.at, k, column]

                each(add)
            stage.advance()
        each(store)

    return gemm
