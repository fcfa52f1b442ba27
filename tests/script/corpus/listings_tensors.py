# SPDX-License-Identifier: Apache-2.0
# The constructs of the first document's listings, written afresh.
from tvm_tirx.script import tirx as Tx
from tvm_tirx.tirx.layout import TileLayout, S, laneid
from tvm.backend.cuda.lang import SMEMPool

M, N, K = 128, 64, 32


@Tx.function
def scale(src: Tx.Tensor((M, K), "float16", align=16), dst: Tx.Tensor((M,), "float32")):

    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(128,)))
    block = Tx.cuda.block_idx("x")
    lane = Tx.cuda.thread_idx("x")
    tile = Tx.alloc_shared((M, K), "float16")  # a shared tile
    part = Tx.alloc_local((4,), "float32")
    again = Tx.decl_tensor(
        tile.data, ty_args=[Tx.Tensor((M, K), "float16", scope="shared")]
    )
    column: Tx.Tensor((4, 8), "float32", layout=TileLayout(S[(4, 8) : (1, 4)]))
    moved: Tx.Tensor((4, 8), "float32", layout=TileLayout(S[(4, 8)] + 64))
    tile[lane] = src[lane]
    Tx.cuda.cta_sync()
    dst[lane] = tile[lane] * Tx.float32(2.0)
    arena = Tx.alloc_tensor(
        ty_args=[Tx.Tensor((128,), "float32", scope="shared.dyn")]
    )  # one arena
    second = Tx.decl_tensor(
        arena.data,
        ty_args=[Tx.Tensor(
            (64,), "float32", scope="shared.dyn", layout=Tx.TileLayout(Tx.S[(64,)] + 64)
        )],
    )
    pool = SMEMPool()
    left = pool.alloc((M, K), "float16", align=128)
    pool.commit()
    for k in Tx.unroll(4):
        part[k] = src[lane, k]
    phase: Tx.int32 = 0
    while phase < 4:
        part[0] = part[0] + src[lane, phase]
        phase += 1
    flag = Tx.local_scalar("int32")
    total: Tx.float32 = 0.0
    count: Tx.let = M * K
    half: Tx.let[Tx.int32] = N // 2
    slot = Tx.alloc_shared((1,), "uint32")
    if lane == alloc_warp:
        Tx.ptx[f"tcgen05.alloc.cta_group::{cta_group}.sync.aligned.shared::cta.b32"](
            Tx.address_of(slot), Tx.uint32(512))
    acc = Tx.cuda.decl_tmem(
        slot[0],
        ty_args=[Tx.Tensor(
            (CTA_M, 512), "float32", scope="tmem",
            layout=tmem_layout,
        )],
    )
    dst[lane] = Tx.cuda.func_call("ld", src.ptr_to([lane]), SRC, ty="float32")
    dst[Tx.Ramp(lane * 4, 1, 4)] = src[Tx.Ramp(lane * 4, 1, 4)]
    view = src.view(64, 4);     y = view[lane, 0] + view[lane, 3]
    turned = src.permute(1, 0);   z = turned[i, j]
    spread = Tx.alloc_tensor(
        ty_args=[
            Tx.Tensor(
                (32, 8), "float32", scope="local", layout=TileLayout(S[(32, 8) : (1 @ laneid, 1)])
            )
        ]
    )
    flat = spread.view(8, layout="default")
    block_tile = src[m0:m0+BM, 0:BK]
