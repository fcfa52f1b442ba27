# SPDX-License-Identifier: Apache-2.0
# PTX instructions by name, as chains and as text, against plain statements. covers: A57
# pair: moves A=arange B=zeros
# pair: guards A=arange B=zeros
# pair: lanes A=arange B=zeros
# pair: numbers F=randn:3 G=zeros
# pair: small H=randn:5 C=arange D=zeros
# pair: wide W=arange Z=zeros


@T.function
def moves(A: T.Tensor((128,), "uint32"), B: T.Tensor((128,), "uint32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    tx = T.cuda.thread_idx("x")
    sm = T.alloc_shared((32,), "uint32")
    x: T.uint32
    lo: T.uint32
    hi: T.uint32
    w: T.uint64
    r = T.alloc_local((4,), "uint32")
    T.ptx.ld.b32.global_(x, A.ptr_to([tx]))
    space = "shared"
    T.ptx[f"st.{space}.b32"](sm.ptr_to([tx]), x)
    T.cuda.cta_sync()
    T.ptx.ld.shared__cta.u32(x, T.ptx.addr(sm.ptr_to([tx ^ 1]), 0))
    T.ptx.add.u32(x, x, 3)
    T.ptx.mov.b64(w, x, 5)
    T.ptx.mov.b64(lo, hi, w)
    T.ptx.ld.global_.v4.u32([r[i] for i in range(4)], A.ptr_to([4 * tx]))
    T.ptx.st.global_.v2.u32(B.ptr_to([4 * tx]), lo + hi, r[1])
    T.ptx.st.v2.u32(B.ptr_to([4 * tx + 2]), (r[2], r[3]))


@T.function
def moves_plain(A: T.Tensor((128,), "uint32"), B: T.Tensor((128,), "uint32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    tx = T.cuda.thread_idx("x")
    B[4 * tx] = A[tx ^ 1] + T.uint32(8)
    for i in T.unroll(3):
        B[4 * tx + 1 + i] = A[4 * tx + 1 + i]


@T.function
def guards(A: T.Tensor((64,), "uint32"), B: T.Tensor((64,), "uint32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(64,)))
    tx = T.cuda.thread_idx("x")
    x: T.uint32 = 7
    y: T.uint32 = 7
    T.ptx.ld.global_.u32(x, A.ptr_to([tx]), pred=tx < 40, preserve_dst=True)
    T.ptx.ld.global_.u32(y, A.ptr_to([tx]), pred=tx < 40)
    T.ptx.st.global_.u32(B.ptr_to([tx]), x + y, pred=T.ptx.pred(tx % 2))


@T.function
def guards_plain(A: T.Tensor((64,), "uint32"), B: T.Tensor((64,), "uint32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(64,)))
    tx = T.cuda.thread_idx("x")
    if tx % 2 != 0:
        if tx < 40:
            B[tx] = A[tx] + A[tx]
        else:
            B[tx] = T.uint32(7)


@T.function
def lanes(A: T.Tensor((32,), "uint32"), B: T.Tensor((32,), "uint32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    tx = T.cuda.thread_idx("x")
    x: T.uint32
    inside: T.bool
    less: T.int32
    one: T.uint32
    T.ptx.shfl_sync.up.b32(x, inside, A[tx], 1, 0, 0xFFFFFFFF)
    T.ptx.setp.lt.u32(less, x, 10)
    T.ptx.elect_sync(T.ptx.SINK, one, 0xFFFFFFFF)
    T.ptx["bar.warp.sync"](0xFFFFFFFF)
    B[tx] = x + T.uint32(100) * T.cast(inside, "uint32") + T.uint32(1000) * T.cast(less, "uint32") + one * 10000


@T.function
def lanes_plain(A: T.Tensor((32,), "uint32"), B: T.Tensor((32,), "uint32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    tx = T.cuda.thread_idx("x")
    x: T.uint32 = A[tx]
    if tx > 0:
        x = A[tx - 1] + T.uint32(100)
        if A[tx - 1] < T.uint32(10):
            x = x + T.uint32(1000)
    else:
        x = x + T.uint32(1000) + T.uint32(10000)
    B[tx] = x


@T.function
def numbers(F: T.Tensor((32,), "float32"), G: T.Tensor((32, 4), "float32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    tx = T.cuda.thread_idx("x")
    f: T.float32
    h: T.float16
    packed: T.uint32
    bits: T.uint32
    T.ptx.fma.rn.f32(f, F[tx], 2, 1.5)
    G[tx, 0] = f
    T.ptx.cvt.rn.f16.f32(h, f)
    G[tx, 1] = T.cast(h, "float32")
    T.ptx.cvt.rn.f16x2.f32(packed, f, F[tx])
    T.ptx.add.f16x2(packed, packed, packed)
    T.ptx.mov.b32(bits, packed)
    G[tx, 2] = T.cast(bits & T.uint32(0xFFFF), "float32")
    T.ptx.mov.b32(f, bits)
    G[tx, 3] = T.cast(T.reinterpret("uint32", f) >> T.uint32(16), "float32")


@T.function
def numbers_plain(F: T.Tensor((32,), "float32"), G: T.Tensor((32, 4), "float32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    tx = T.cuda.thread_idx("x")
    f: T.float32 = T.fma(F[tx], T.float32(2), T.float32(1.5))
    a: T.float16 = T.cast(f, "float16")
    b: T.float16 = T.cast(F[tx], "float16")
    G[tx, 0] = f
    G[tx, 1] = T.cast(a, "float32")
    G[tx, 2] = T.cast(T.reinterpret("uint16", b + b), "float32")
    G[tx, 3] = T.cast(T.reinterpret("uint16", a + a), "float32")


@T.function
def small(H: T.Tensor((32,), "float16"), C: T.Tensor((32,), "int8"), D: T.Tensor((32,), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    tx = T.cuda.thread_idx("x")
    h: T.float16
    c: T.int8
    s: T.int16
    wide: T.int32
    T.ptx.ld.global_.b16(h, H.ptr_to([tx]))
    T.ptx.neg.f16(h, h)
    T.ptx.ld.global_.s8(c, C.ptr_to([tx]))
    T.ptx.cvt.s16.s32(s, T.cast(c, "int32") - 20)
    T.ptx.mul.wide.s16(wide, s, s)
    D[tx] = wide + T.cast(T.cast(h, "float32") * T.float32(64), "int32")


@T.function
def small_plain(H: T.Tensor((32,), "float16"), C: T.Tensor((32,), "int8"), D: T.Tensor((32,), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    tx = T.cuda.thread_idx("x")
    s: T.int32 = T.cast(C[tx], "int32") - 20
    D[tx] = s * s + T.cast(T.cast(H[tx], "float32") * T.float32(-64), "int32")


# pair: reduced F=randn:7 G=zeros
@T.function
def reduced(F: T.Tensor((128,), "float32"), G: T.Tensor((128, 2), "float32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(128,)))
    tx = T.cuda.thread_idx("x")
    scratch = T.alloc_shared((4,), "float32")
    G[tx, 0] = T.cuda.cta_max(F[tx], 4, scratch.data)
    G[tx, 1] = T.cuda.cta_reduce(F[tx], "min", 4, scratch)


@T.function
def reduced_plain(F: T.Tensor((128,), "float32"), G: T.Tensor((128, 2), "float32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(128,)))
    tx = T.cuda.thread_idx("x")
    most: T.float32 = F[0]
    least: T.float32 = F[0]
    for i in T.serial(128):
        most = T.max(most, F[i])
        least = T.min(least, F[i])
    G[tx, 0] = most
    G[tx, 1] = least


# Operands of 128 bits: the lower and the upper half, also under a guard and as the kept value.
@T.function
def wide(W: T.Tensor((64,), "uint64"), Z: T.Tensor((64,), "uint64")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(8,)))
    tx = T.cuda.thread_idx("x")
    lo: T.uint64
    hi: T.uint64
    at = tx * 8
    T.ptx["ld.global.b128"]((lo, hi), W.ptr_to([at]))
    T.ptx.st.global_.b128(Z.ptr_to([at]), (hi, lo + T.uint64(1)))
    T.ptx["atom.global.exch.b128"](lo, hi, Z.ptr_to([at]), lo, lo)
    T.ptx.st.global_.b128(Z.ptr_to([at + 2]), lo, hi)
    T.ptx["atom.global.cas.b128"]((lo, hi), Z.ptr_to([at + 2]), (lo, hi), (T.uint64(5), T.uint64(6)))
    T.ptx["ld.global.b128"]((lo, hi), W.ptr_to([at + 4]), pred=tx < 4, preserve_dst=True)
    T.ptx.st.global_.b128(Z.ptr_to([at + 4]), (lo, hi), pred=tx != 7)


@T.function
def wide_plain(W: T.Tensor((64,), "uint64"), Z: T.Tensor((64,), "uint64")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(8,)))
    tx = T.cuda.thread_idx("x")
    at = tx * 8
    Z[at] = W[at]
    Z[at + 1] = W[at]
    Z[at + 2] = 5
    Z[at + 3] = 6
    if tx < 4:
        Z[at + 4] = W[at + 4]
        Z[at + 5] = W[at + 5]
    elif tx != 7:
        Z[at + 4] = W[at + 1]
        Z[at + 5] = W[at] + T.uint64(1)
