@T.function
def k(A: T.Tensor((8, 64), "float16"), n: T.int32):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(8,)))
    t = T.cuda.thread_idx("x")
    s = T.alloc_shared((8, 64), "float16", layout=T.mma_shared_layout("float16", 3, (8, 64)))
    w = s.sub[n : n + 4, t::8]
    v = s.sub[t % 4 :t % 4 + 4, 2 * n : 2 * n + 16]
    p = v.permute(1, 0).view(8, 8).rearrange("a (b 2) -> b (2 a)")
    q = A.tile(1, (-1, 4, 2))[:, t % 4, :].tile((0, (2, 4)))[1, :]
    r = A.chunk((None, 4))[t, n]
    v[1, 2] = p[0, 1] + q[2, 3]
    x = v.view("uint32").sub[3]
    x[t] = T.uint32(r.region[1].extent)
    y = T.decl_tensor(A.access_ptr("r", "float16", 2, t), ty_args=[T.Tensor((4,), "float16")])
    acc = T.cuda.decl_tmem(T.uint32(n), ty_args=[T.Tensor((128, 64), "float32", scope="tmem")])
    b = acc.sub[:, n : n + 8].sub[0:32]
