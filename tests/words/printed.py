# SPDX-License-Identifier: Apache-2.0
# Texts in the form in which the reference prints kernels, which begins with the next line.
# from tvm.script import tirx as T
# pair: barrier A=zeros
# pair: descriptor A=zeros
# pair: loads S=arange O=zeros


@T.prim_func
def barrier(A: T.Buffer((64,), "float32")):
    T.attr({"tirx.device_entry": T.bool(True)})
    v = T.cta_id([1])
    v_1 = T.thread_id([64])
    bar: T.uint64
    if v_1 == 0:
        T.ptx.mbarrier(T.cuda.cvta_generic_to_shared(T.address_of(bar)), T.uint32(64), "init", "", "shared", "b64", "")
    T.cuda.cta_sync()
    T.ptx.mbarrier(T.cuda.cvta_generic_to_shared(T.address_of(bar)), "arrive", "", "", "", "shared", "b64", "")
    T.cuda.mbarrier_wait(T.address_of(bar), 0)
    A[v_1] = T.float32(3)
    T.print_buffer(A.data, "float32", T.bool(False), T.bool(False), T.uint32(1), 2)


@T.prim_func
def barrier_plain(A: T.Buffer((64,), "float32")):
    T.device_entry()
    bx = T.cta_id([1])
    tx = T.thread_id([64])
    A[tx] = 3.0


@T.prim_func
def descriptor(A: T.Buffer((2,), "uint32")):
    T.attr({"tirx.device_entry": T.bool(True)})
    v = T.cta_id([1])
    v_1 = T.thread_id([1])
    d: T.uint32
    T.cuda.tcgen05.encode_instr_descriptor(
        d.source.data, "float32", "float16", "float16", 128, 128, 16, T.bool(False), T.bool(False), 1, T.bool(False), T.bool(False),
        T.bool(False), T.bool(False)
    )
    A[0] = d


@T.prim_func
def descriptor_plain(A: T.Buffer((2,), "uint32")):
    T.device_entry()
    bx = T.cta_id([1])
    tx = T.thread_id([1])
    A[0] = (1 << 4) | (16 << 17) | (8 << 24)


@T.prim_func
def loads(S: T.Buffer((128,), "int32"), O: T.Buffer((192,), "int32")):
    T.attr({"tirx.device_entry": T.bool(True)})
    tx = T.thread_id([32])
    a: T.int32
    b: T.int32
    r = T.alloc_local((4,), "int32")
    T.cuda.ldg(T.address_of(a), T.address_of(b), T.address_of(S[tx * 4]), "int32", "v2", 2)
    T.cuda.ldg(S.ptr_to([tx * 4]), "int32", dst=[r.ptr_to([i]) for i in range(4)], vec="v4")
    O[tx * 6] = a + T.cuda.ldg(S.ptr_to([tx]), "int32")
    O[tx * 6 + 1] = b
    for i in T.unroll(4):
        O[tx * 6 + 2 + i] = r[i]


@T.prim_func
def loads_plain(S: T.Buffer((128,), "int32"), O: T.Buffer((192,), "int32")):
    T.device_entry()
    bx = T.cta_id([1])
    tx = T.thread_id([32])
    O[tx * 6] = S[tx * 4] + S[tx]
    O[tx * 6 + 1] = S[tx * 4 + 1]
    for i in T.serial(4):
        O[tx * 6 + 2 + i] = S[tx * 4 + i]
