# SPDX-License-Identifier: Apache-2.0
# The constructs of the second document's listings, written afresh.
pool = T.SMEMPool()
slot = pool.alloc((1,), "uint32")
pool.commit()

if warp_id == 0:
    T.ptx.tcgen05.alloc(
        T.address_of(slot), n_cols=256, cta_group=1
    )

acc = T.decl_buffer(
    (128, 256),
    "float32",
    scope="tmem",
    allocated_addr=slot[0],
    layout=TileLayout(
        S[(128, 256) : (1@TLane, 1@TCol)]
    ),
)

if warp_id == 0:
    T.ptx.tcgen05.dealloc(slot[0], n_cols=256, cta_group=1)
    T.ptx.tcgen05.relinquish_alloc_permit(cta_group=1)
