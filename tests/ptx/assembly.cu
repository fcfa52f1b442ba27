/* SPDX-License-Identifier: Apache-2.0
 * Inline assembly as kernels write it: scopes with registers and labels of their own, mbarrier, cp.async, ldmatrix, mma,
 * bulk and tensor copies; wgmma and tcgen05 where the target has them. */
#include <cstdint>

extern "C" __global__ void assembly(float *out, const float *in, const void *map, int n) {
    __shared__ alignas(128) float tile[1024];
    __shared__ uint64_t barrier;
    uint32_t smem = (uint32_t)__cvta_generic_to_shared(tile), bar = (uint32_t)__cvta_generic_to_shared(&barrier);
    int v = n;
    asm volatile("{ .reg .pred p; setp.eq.s32 p, %0, 3; @p bra L1; add.s32 %0, %0, 1; L1: }" : "+r"(v));
    asm volatile("{\n\t.reg .pred p;\n\t.reg .b32 t<2>;\n\tmov.b32 t1, %0;\n\tsetp.eq.s32 p, t1, 3;\n\t@p bra L1;\n\tadd.s32 %0, t1, 1;\n\tL1:\n\t}"
                 : "+r"(v));
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(1));
        asm volatile("fence.proxy.async.shared::cta;");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(4096) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(smem), "l"(in),
                     "r"(2048), "r"(bar)
                     : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(smem),
                     "l"(map), "r"(0), "r"(n), "r"(bar), "l"(0x1000000000000000ull)
                     : "memory");
    }
    asm volatile("{\n.reg .pred P1;\nLAB_WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n@P1 bra DONE;\nbra LAB_WAIT;\nDONE:\n}" ::"r"(bar),
                 "r"(0)
                 : "memory");
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;\ncp.async.commit_group;\ncp.async.wait_group 0;" ::"r"(smem), "l"(in));
    uint32_t a[4], b[2];
    float c[4] = {0.0f, 1.0f, 2.0f, 3.0f};
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(smem));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(b[0]), "=r"(b[1]) : "r"(smem));
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    uint32_t leader = 0, lane = 0;
    asm volatile("{ .reg .pred P; elect.sync %0|P, 0xffffffff; selp.b32 %1, 1, 0, P; }" : "=r"(lane), "=r"(leader));
    uint32_t clock, special;
    asm volatile("mov.u32 %0, %%clock; mov.u32 %1, %%laneid;" : "=r"(clock), "=r"(special));
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    asm volatile("wgmma.fence.sync.aligned;\n{ .reg .pred p; setp.ne.b32 p, %6, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 1; }\n"
                 "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "l"((uint64_t)smem), "l"((uint64_t)smem + 8), "r"(n));
#endif
#if defined(__CUDA_ARCH_FEAT_SM100_ALL)
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 32;" ::"r"(smem));
    uint32_t tmem = __float_as_uint(tile[0]);
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p; }" ::"r"(tmem), "l"((uint64_t)smem),
                 "l"((uint64_t)smem), "r"(0x8100490), "r"(n));
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(bar));
    asm volatile("tcgen05.fence::after_thread_sync;\ntcgen05.ld.sync.aligned.32x32b.x4.b32 {%0, %1, %2, %3}, [%4];\ntcgen05.wait::ld.sync.aligned;"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                 : "r"(tmem));
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\ntcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 32;" ::"r"(tmem));
#endif
    out[threadIdx.x] = c[0] + c[1] + c[2] + c[3] + (float)(v + (int)(leader + lane + clock + special + a[0])) + tile[n];
}
