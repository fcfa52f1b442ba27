/* SPDX-License-Identifier: Apache-2.0
 * Enumerators of PTX: opcodes and modifiers from ptx_table.def and ptx_mods.def, and special registers.
 * Included by ptx.h after PTX_TYPES; include ptx.h, not this.
 *
 * Opcodes: the mnemonic, joined with the words after it that change which operands there are, upper case, '.'
 * becomes
 * '_' and '::' becomes '__': add PTX_OP_ADD; cp.async.bulk.tensor PTX_OP_CP_ASYNC_BULK_TENSOR;
 * mbarrier.try_wait PTX_OP_MBARRIER_TRY_WAIT (.parity is a modifier); tcgen05.wait::ld
 * PTX_OP_TCGEN05_WAIT__LD. Everything else that the text carries is a modifier: ld.param is PTX_OP_LD with
 * PTX_MOD_PARAM, ld.global.nc PTX_OP_LD with PTX_MOD_NC, bar.sync PTX_OP_BAR with PTX_MOD_SYNC, bar.red.popc
 * PTX_OP_BAR with RED and POPC, vote.sync.ballot PTX_OP_VOTE with SYNC and BALLOT, shfl.sync.idx PTX_OP_SHFL,
 * barrier.cluster.arrive PTX_OP_BARRIER_CLUSTER_ARRIVE, bar.warp.sync PTX_OP_BAR_WARP_SYNC, fence.proxy.async
 * PTX_OP_FENCE_PROXY, fence.mbarrier_init PTX_OP_FENCE, add.cc PTX_OP_ADD with CC, mbarrier.arrive.expect_tx
 * PTX_OP_MBARRIER_ARRIVE with EXPECT_TX, mma.sp PTX_OP_MMA_SP, wmma.load.a PTX_OP_WMMA_LOAD with A. The
 * longest mnemonic that fits wins.
 *
 * Modifiers: upper case, '::' becomes '__': .shared::cta PTX_MOD_SHARED__CTA, .NaN PTX_MOD_NAN, .32x32b
 * PTX_MOD_32X32B, .L2::cache_hint PTX_MOD_L2__CACHE_HINT. Types come first and have the numbers of ptx_type:
 * PTX_MOD_F32 == PTX_TYPE_F32. The comparison .nan of set and setp and the
 * qualifier .NaN of min, max ... share PTX_MOD_NAN; the printer writes each as its instruction wants it. */
#ifndef TIRC_PTX_PTX_ENUMS_H
#define TIRC_PTX_PTX_ENUMS_H

typedef enum __attribute__((packed)) ptx_op {
    PTX_OP_NONE,
#define OP(enumerator, text, written, class) PTX_OP_##enumerator,
#define FORM(enumerator, modifiers, operands, version, sm, target)
#include "ptx/ptx_table.def"
#undef OP
#undef FORM
    PTX_OP_COUNT
} ptx_op;

typedef enum __attribute__((packed)) ptx_mod {
    PTX_MOD_NONE,
#define X(name, bits) PTX_MOD_##name,
    PTX_TYPES(X)
#undef X
#define MOD(enumerator, text, version, sm) PTX_MOD_##enumerator,
#include "ptx/ptx_mods.def"
#undef MOD
        PTX_MOD_COUNT
} ptx_mod;

/* Special registers: X(enumerator, text after '%', bits (1: predicate), first .version times ten, first sm).
 */
#define PTX_SPECIALS_XYZ(X, name, text, version, sm)                                                         \
    X(name##_X, text ".x", 32, version, sm)                                                                  \
    X(name##_Y, text ".y", 32, version, sm)                                                                  \
    X(name##_Z, text ".z", 32, version, sm) X(name##_W, text ".w", 32, version, sm)
#define PTX_SPECIALS(X)                                                                                      \
    PTX_SPECIALS_XYZ(X, TID, "tid", 10, 0)                                                                   \
    PTX_SPECIALS_XYZ(X, NTID, "ntid", 10, 0)                                                                 \
    PTX_SPECIALS_XYZ(X, CTAID, "ctaid", 10, 0)                                                               \
    PTX_SPECIALS_XYZ(X, NCTAID, "nctaid", 10, 0)                                                             \
    PTX_SPECIALS_XYZ(X, CLUSTERID, "clusterid", 78, 90)                                                      \
    PTX_SPECIALS_XYZ(X, NCLUSTERID, "nclusterid", 78, 90)                                                    \
    PTX_SPECIALS_XYZ(X, CLUSTER_CTAID, "cluster_ctaid", 78, 90)                                              \
    PTX_SPECIALS_XYZ(X, CLUSTER_NCTAID, "cluster_nctaid", 78, 90)                                            \
    X(CLUSTER_CTARANK, "cluster_ctarank", 32, 78, 90)                                                        \
    X(CLUSTER_NCTARANK, "cluster_nctarank", 32, 78, 90)                                                      \
    X(IS_EXPLICIT_CLUSTER, "is_explicit_cluster", 1, 78, 90)                                                 \
    X(LANEID, "laneid", 32, 13, 0)                                                                           \
    X(WARPID, "warpid", 32, 13, 0)                                                                           \
    X(NWARPID, "nwarpid", 32, 20, 20)                                                                        \
    X(SMID, "smid", 32, 13, 0)                                                                               \
    X(NSMID, "nsmid", 32, 20, 20)                                                                            \
    X(GRIDID, "gridid", 64, 30, 0)                                                                           \
    X(LANEMASK_EQ, "lanemask_eq", 32, 20, 20)                                                                \
    X(LANEMASK_LE, "lanemask_le", 32, 20, 20)                                                                \
    X(LANEMASK_LT, "lanemask_lt", 32, 20, 20)                                                                \
    X(LANEMASK_GE, "lanemask_ge", 32, 20, 20)                                                                \
    X(LANEMASK_GT, "lanemask_gt", 32, 20, 20)                                                                \
    X(CLOCK, "clock", 32, 10, 0)                                                                             \
    X(CLOCK_HI, "clock_hi", 32, 50, 20)                                                                      \
    X(CLOCK64, "clock64", 64, 20, 20)                                                                        \
    X(GLOBALTIMER, "globaltimer", 64, 31, 30)                                                                \
    X(GLOBALTIMER_LO, "globaltimer_lo", 32, 31, 30)                                                          \
    X(GLOBALTIMER_HI, "globaltimer_hi", 32, 31, 30)                                                          \
    X(RESERVED_SMEM_OFFSET_BEGIN, "reserved_smem_offset_begin", 32, 76, 80)                                  \
    X(RESERVED_SMEM_OFFSET_END, "reserved_smem_offset_end", 32, 76, 80)                                      \
    X(RESERVED_SMEM_OFFSET_CAP, "reserved_smem_offset_cap", 32, 76, 80)                                      \
    X(RESERVED_SMEM_OFFSET_0, "reserved_smem_offset_0", 32, 76, 80)                                          \
    X(RESERVED_SMEM_OFFSET_1, "reserved_smem_offset_1", 32, 76, 80)                                          \
    X(TOTAL_SMEM_SIZE, "total_smem_size", 32, 41, 20)                                                        \
    X(AGGR_SMEM_SIZE, "aggr_smem_size", 32, 81, 90)                                                          \
    X(DYNAMIC_SMEM_SIZE, "dynamic_smem_size", 32, 41, 20)                                                    \
    X(CURRENT_GRAPH_EXEC, "current_graph_exec", 64, 80, 50)                                                  \
    X(WARP_SIZE, "WARP_SZ", 32, 10, 0)                                                                       \
    X(PM, "pm", 32, 13, 0)                                                                                   \
    X(PM_64, "pm_64", 64, 40, 50)                                                                            \
    X(ENVREG, "envreg", 32, 21, 0)
/* PM and PM_64 stand for %pm0..7, ENVREG for %envreg0..31: the operand's bits are special | number << 16.
 * WARP_SIZE is the constant WARP_SZ, written without '%'. */
typedef enum ptx_special {
    PTX_SPECIAL_NONE,
#define X(name, text, bits, version, sm) PTX_SPECIAL_##name,
    PTX_SPECIALS(X)
#undef X
        PTX_SPECIAL_COUNT
} ptx_special;
#endif
