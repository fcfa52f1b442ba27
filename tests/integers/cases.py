# SPDX-License-Identifier: Apache-2.0
# Failure cases F01 F03 F05 F08: each at run time, where values come from memory, and with constants.
from tvm_tirx.script import tirx as T

ONE = T.cuda.LaunchConfig(grid=(1,), block=(1,))


@T.function
def ceildiv_run(R: T.Tensor((2,), "int32")):
    T.device_entry(launch=ONE)
    n: T.int32 = 24
    R[0] = T.ceildiv(n, 10)
    n = 2147483647
    R[1] = T.ceildiv(n, 1073741823)


@T.function
def ceildiv_constant(R: T.Tensor((2,), "int32")):
    T.device_entry(launch=ONE)
    R[0] = T.ceildiv(T.int32(24), 10)
    R[1] = T.ceildiv(T.int32(2147483647), 1073741823)


@T.function
def floor_run(R: T.Tensor((4,), "int32")):
    T.device_entry(launch=ONE)
    a: T.int32 = 7
    b: T.int32 = 2
    R[0] = (0 - a) // b
    R[1] = (0 - a) % b
    R[2] = a // (0 - b)
    R[3] = a % (0 - b)


@T.function
def floor_constant(R: T.Tensor((4,), "int32")):
    T.device_entry(launch=ONE)
    R[0] = T.int32(-7) // 2
    R[1] = T.int32(-7) % 2
    R[2] = T.int32(7) // -2
    R[3] = T.int32(7) % -2


@T.function
def modulo_run(R: T.Tensor((4,), "int32")):
    T.device_entry(launch=ONE)
    a: T.int32 = -5
    b: T.int32 = 3
    R[0] = a % b
    R[1] = a % 3
    R[2] = (0 - a) % (0 - b)
    R[3] = T.truncmod(a, b)


@T.function
def modulo_constant(R: T.Tensor((4,), "int32")):
    T.device_entry(launch=ONE)
    R[0] = T.int32(-5) % 3
    R[1] = -5 % 3
    R[2] = T.int32(5) % -3
    R[3] = T.truncmod(T.int32(-5), 3)


@T.function
def float_run(R: T.Tensor((4,), "float32")):
    T.device_entry(launch=ONE)
    a: T.float32 = -5.0
    b: T.float32 = 3.0
    c: T.float32 = 5.3
    d: T.float32 = 0.3
    R[0] = a % b
    R[1] = (T.float32(0.0) - a) % (T.float32(0.0) - b)
    R[2] = (b + b) % b
    R[3] = c % d


@T.function
def float_constant(R: T.Tensor((4,), "float32")):
    T.device_entry(launch=ONE)
    R[0] = T.float32(-5.0) % 3.0
    R[1] = T.float32(5.0) % -3.0
    R[2] = T.float32(6.0) % 3.0
    R[3] = T.float32(5.3) % T.float32(0.3)


@T.function
def wrap_run(R: T.Tensor((1,), "int32")):
    T.device_entry(launch=ONE)
    a: T.int32 = 0
    R[0] = (a + 2000000000) + 2000000000


@T.function
def wrap_constant(R: T.Tensor((1,), "int32")):
    T.device_entry(launch=ONE)
    R[0] = (T.int32(0) + 2000000000) + 2000000000
