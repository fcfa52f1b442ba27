# SPDX-License-Identifier: Apache-2.0
# Pools in shared memory, against arenas whose views stand at the same bytes by hand: places, swizzled operands, bytes used
# again, a caller's pointer. `# same: ENTRY` asks for equal IR as well.
from tvm.backend.cuda.lang import SMEMPool
from tvm_tirx.script import tirx as Tx
from tvm_tirx.tirx.layout import ComposeLayout, S, TileLayout


# A flag of three bytes, two tiles behind it, a padded tile, a swizzled operand on its period.
# same: carve
# pair: carve A=randn:1 B=zeros C=zeros
@Tx.function
def carve(A: Tx.Tensor((64, 64), "float16"), B: Tx.Tensor((64, 64), "float16"), C: Tx.Tensor((64,), "float32")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(64,)))
    t = Tx.cuda.thread_idx("x")
    pool = SMEMPool()
    flag = pool.alloc((3,), "uint8")
    row = pool.alloc((64,), "float32", align=128)
    padded = pool.alloc((64, 64), "float16", layout=TileLayout(S[(64, 64) : (72, 1)]))
    operand = pool.alloc_tcgen05_mma_AB((64, 64), "float16")
    narrow = pool.alloc_tcgen05_mma_AB((8, 32), "float16", align=512)
    pool.commit()
    if t < 3:
        flag[t] = Tx.uint8(t + 5)
    row[t] = Tx.cast(A[t, 63 - t], "float32")
    for i in range(64):
        operand[i, t] = A[i, t]
        padded[t, i] = A[t, i]
    if t < 32:
        for i in range(8):
            narrow[i, t] = A[i, t]
    Tx.cuda.cta_sync()
    for i in range(64):
        B[t, i] = operand[t, i] + padded[i, t]
    C[t] = row[63 - t] + Tx.cast(flag[t % 3], "float32") + Tx.cast(narrow[t % 8, t % 32], "float32")


@Tx.function
def carve_plain(A: Tx.Tensor((64, 64), "float16"), B: Tx.Tensor((64, 64), "float16"), C: Tx.Tensor((64,), "float32")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(64,)))
    t = Tx.cuda.thread_idx("x")
    pool_buf = Tx.alloc_tensor((18944,), "uint8", scope="shared.dyn", align=1024)
    flag = Tx.decl_tensor((3,), "uint8", data=pool_buf.data)
    row = Tx.decl_tensor((64,), "float32", data=pool_buf.data, align=128, layout=TileLayout(S[(64,)] + 32))
    padded = Tx.decl_tensor(
        (64, 64), "float16", data=pool_buf.data, layout=TileLayout(S[(64, 64) : (72, 1)] + 192)
    )
    operand = Tx.decl_tensor(
        (64, 64), "float16", data=pool_buf.data, align=1024,
        layout=ComposeLayout(3, 3, 3, TileLayout(S[(4096,)] + 5120)),
    )
    narrow = Tx.decl_tensor(
        (8, 32), "float16", data=pool_buf.data, align=512,
        layout=ComposeLayout(3, 2, 3, TileLayout(S[(256,)] + 9216)),
    )
    if t < 3:
        flag[t] = Tx.uint8(t + 5)
    row[t] = Tx.cast(A[t, 63 - t], "float32")
    for i in range(64):
        operand[i, t] = A[i, t]
        padded[t, i] = A[t, i]
    if t < 32:
        for i in range(8):
            narrow[i, t] = A[i, t]
    Tx.cuda.cta_sync()
    for i in range(64):
        B[t, i] = operand[t, i] + padded[i, t]
    C[t] = row[63 - t] + Tx.cast(flag[t % 3], "float32") + Tx.cast(narrow[t % 8, t % 32], "float32")


# The second half of the kernel uses the first tile's bytes again; the launch reserves more than the pool reached.
# same: again
# pair: again A=randn:2 B=zeros
@Tx.function
def again(A: Tx.Tensor((128,), "float32"), B: Tx.Tensor((128,), "float32")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(128,), dynamic_smem_bytes=4096))
    t = Tx.cuda.thread_idx("x")
    pool = SMEMPool()
    first = pool.alloc((128,), "float32")
    kept = pool.alloc((128,), "float32")
    pool.move_base_to(0)
    second = pool.alloc((128,), "int32", align=256)
    pool.commit(2048)
    first[t] = A[t]
    Tx.cuda.cta_sync()
    kept[t] = first[127 - t] * 2.0
    Tx.cuda.cta_sync()
    second[t] = t * 3
    Tx.cuda.cta_sync()
    B[t] = kept[t ^ 1] + Tx.cast(second[t ^ 3], "float32")


@Tx.function
def again_plain(A: Tx.Tensor((128,), "float32"), B: Tx.Tensor((128,), "float32")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(128,), dynamic_smem_bytes=4096))
    t = Tx.cuda.thread_idx("x")
    pool_buf = Tx.alloc_tensor((2048,), "uint8", scope="shared.dyn", align=256)
    first = Tx.decl_tensor((128,), "float32", data=pool_buf.data)
    kept = Tx.decl_tensor((128,), "float32", data=pool_buf.data, layout=TileLayout(S[(128,)] + 128))
    second = Tx.decl_tensor((128,), "int32", data=pool_buf.data, align=256)
    first[t] = A[t]
    Tx.cuda.cta_sync()
    kept[t] = first[127 - t] * 2.0
    Tx.cuda.cta_sync()
    second[t] = t * 3
    Tx.cuda.cta_sync()
    B[t] = kept[t ^ 1] + Tx.cast(second[t ^ 3], "float32")


# Over static shared memory of the caller.
# same: over
# pair: over A=randn:3 B=zeros
@Tx.function
def over(A: Tx.Tensor((64,), "float32"), B: Tx.Tensor((64,), "float32")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(64,)))
    t = Tx.cuda.thread_idx("x")
    bytes = Tx.alloc_shared((640,), "uint8")
    pool = SMEMPool(bytes.data)
    half = pool.alloc((64,), "float16")
    word = pool.alloc((64,), "float32", align=256)
    half[t] = Tx.cast(A[t], "float16")
    word[t] = A[t]
    Tx.cuda.cta_sync()
    B[t] = word[63 - t] + Tx.cast(half[t ^ 7], "float32")


@Tx.function
def over_plain(A: Tx.Tensor((64,), "float32"), B: Tx.Tensor((64,), "float32")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(64,)))
    t = Tx.cuda.thread_idx("x")
    bytes = Tx.alloc_shared((640,), "uint8", align=256)
    half = Tx.decl_tensor((64,), "float16", data=bytes.data)
    word = Tx.decl_tensor((64,), "float32", data=bytes.data, align=256, layout=TileLayout(S[(64,)] + 64))
    half[t] = Tx.cast(A[t], "float16")
    word[t] = A[t]
    Tx.cuda.cta_sync()
    B[t] = word[63 - t] + Tx.cast(half[t ^ 7], "float32")
