L = T.TileLayout(S[(8, 4, 2) : (4 @ laneid, 1 @ laneid, 1)] + T.R[2 : 4 @ warpid] + 3)
g, seps = L.group((8, 8))
M = T.TileLayout.from_iters([T.Iter(i.extent, i.stride, i.axis) for i in L.shard], L.replica, L.offset)
N = S[8, 8].tile(S[(2, 2) : (1, 2)], [2, 2], [8, 8]).unpack(2).pack(2).canonicalize()
Z = T.ComposeLayout(3, 3, 3, S[(8, 64)])
P = Z.slice((8, 64), [(1, 5), (0, 32)])
Q = N.tile_to([32, 32], [16, 16]).permute_dims([0, 2, 1, 3]).broadcast(2, 1)
R = [L.storage(), g.permute_by_groups(seps, [1, 0]), S[2, 2].direct_sum(S[2, 2], [2, 2], [2, 2]), L.get_scope()]
@T.function
def k(A: T.Tensor((8,), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(1,)))
    A[0] = Z.apply(T.cuda.thread_idx("x"), 3, shape=(8, 64))["m"]
