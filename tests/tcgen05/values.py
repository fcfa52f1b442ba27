# SPDX-License-Identifier: Apache-2.0
# What is refused while the script is read, all in one run: tensor memory as a value, and operands of PTX instructions. The
# right forms are in rules.py, memory.py and tests/words/ptx.py. Lines `# wrong:` as in rules.py.
# wrong: A56 B16 | T0524 | all | 1 | 'acc' is tensor memory, which no load or store reaches
# wrong: A56 | T0524 | all | 2 | 'acc' is tensor memory, which no load or store reaches
# wrong: B35 | T0525 | all | 3 | one block multiplies 128 rows
# wrong: B35 | T0525 | all | 4 | a multiple of 16 up to 256
# wrong: B25 | T0525 | all | 5 | cta_group is 3; it is 1 or 2
# wrong: A57 | T0519 | all | 6 | `.shard` is no modifier that any PTX instruction has
# wrong: A57 | T0518 | all | 7 | argument 2 (a) is the float literal 1.5, which .u32 would cut
# wrong: A57 | T0518 | all | 8 | argument 1 (d) is written by the instruction, and 'fixed' is a let
# wrong: A57 | T0518 | all | 9 | takes an address in shared memory: a pointer to it or uint32
# wrong: A57 | T0518 | all | 10 | takes an address in tensor memory: uint32
# wrong: B4 | T0518 | all | 11 | takes 4 values
# wrong: A57 | T0522 | all | 12 | preserve_dst= needs pred= and a destination
# wrong: A8 | T0523 | all | 13 | an address in tensor memory is a 32-bit integer, not float32
# wrong: B36 | T0519 | all | 14 | `.unpack::16b` is not a modifier of this form of tcgen05.ld
from tvm.script import tirx as T


@T.prim_func
def all(B: T.Buffer((128,), "float32")):
    T.device_entry()
    T.cta_id([1])
    warp_id = T.warp_id([4])
    lane_id = T.lane_id([32])
    slot = T.alloc_shared((1,), "uint32")
    bar = T.alloc_shared((1,), "uint64")
    desc: T.uint32
    u: T.uint32
    x: T.float32 = 0.0
    y: T.float32 = 0.0
    fixed: T.let = lane_id + 1
    acc = T.decl_buffer((128, 64), "float32", scope="tmem", allocated_addr=slot[0])
    acc[lane_id, 0] = x  # LINE 2
    x = acc[lane_id, 0]  # LINE 1
    T.cuda.tcgen05.encode_instr_descriptor(
        T.address_of(desc), d_dtype="float32", a_dtype="float16", b_dtype="float16", N=128, K=16, trans_a=False,
        M=100,  # LINE 3
        trans_b=False,
    )
    T.cuda.tcgen05.encode_instr_descriptor(
        T.address_of(desc), d_dtype="float32", a_dtype="float16", b_dtype="float16", M=128, K=16, trans_a=False,
        N=264,  # LINE 4
        trans_b=False,
    )
    T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=64, cta_group=3)  # LINE 5
    T.ptx.ld.shard.b32(u, slot.ptr_to([0]))  # LINE 6
    T.ptx.add.u32(u, 1.5, u)  # LINE 7
    T.ptx.add.u32(fixed, u, u)  # LINE 8
    T.ptx.mbarrier.init.shared.b64(B.ptr_to([0]), 1)  # LINE 9
    T.ptx.tcgen05.ld.sync.aligned._32x32b.x1.b32(u, B.ptr_to([0]))  # LINE 10
    T.ptx.tcgen05.ld.sync.aligned._32x32b.x4.b32(u, u, slot[0])  # LINE 11
    T.ptx.ld.shared.b32(u, slot.ptr_to([0]), preserve_dst=True)  # LINE 12
    wrong = T.decl_buffer((128, 64), "float32", scope="tmem", allocated_addr=y)  # LINE 13
    T.ptx.tcgen05.ld.sync.aligned._32x32b.x1.unpack__16b.b32(u, slot[0])  # LINE 14
