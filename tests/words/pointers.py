# SPDX-License-Identifier: Apache-2.0
# Parameters that are pointers: with an element type, with a memory space, and opaque ones that nothing matches.
from tvm.script import tirx as T


@T.prim_func
def typed(A: T.handle("int32"), B: T.handle("int32", "global"), rest: T.handle, s: T.int32):
    T.device_entry()
    bx = T.cta_id([2])
    tx = T.thread_id([32])
    from_a = T.decl_buffer((64,), "int32", data=A)
    to_b = T.decl_buffer((64,), "int32", data=B)
    to_b[bx * 32 + tx] = from_a[63 - bx * 32 - tx] + s
