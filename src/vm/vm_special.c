/* SPDX-License-Identifier: Apache-2.0
 * Special registers that are no constant row, checks of division, unsupported instructions, device malloc.
 * The clock counts warp instructions, so reports and results repeat. */
#include "vm/vm_sm.h"

static uint64_t special(const vm_warp *warp, uint64_t imm, unsigned lane, uint32_t mask) {
    uint64_t which = imm & 0xffff, number = imm >> 17;
    uint64_t ticks = warp->cta->steps + warp->steps, axis;
    const vm_cta *cta = warp->cta;
    const vm_grid *run = cta->run;
    uint32_t sms = run->launch->sms ? run->launch->sms : VM_SMS;
    switch (which) {
    case PTX_SPECIAL_LANEMASK_EQ:
        return 1u << lane;
    case PTX_SPECIAL_LANEMASK_LT:
        return (1u << lane) - 1;
    case PTX_SPECIAL_LANEMASK_LE:
        return (2u << lane) - 1;
    case PTX_SPECIAL_LANEMASK_GT:
        return ~((2u << lane) - 1);
    case PTX_SPECIAL_LANEMASK_GE:
        return ~((1u << lane) - 1);
    case PTX_SPECIAL_CLOCK:
        return (uint32_t)ticks;
    case PTX_SPECIAL_CLOCK_HI:
        return ticks >> 32;
    case PTX_SPECIAL_CLOCK64:
        return ticks;
    case PTX_SPECIAL_GLOBALTIMER:
        return ticks;
    case PTX_SPECIAL_GLOBALTIMER_LO:
        return (uint32_t)ticks;
    case PTX_SPECIAL_GLOBALTIMER_HI:
        return ticks >> 32;
    case PTX_SPECIAL_SMID:
        return cta->sm ? cta->sm->id : cta->linear % sms;
    case PTX_SPECIAL_NSMID:
        return sms;
    case PTX_SPECIAL_CLUSTERID_X:
    case PTX_SPECIAL_CLUSTERID_Y:
    case PTX_SPECIAL_CLUSTERID_Z:
        axis = which - PTX_SPECIAL_CLUSTERID_X;
        return cta->id[axis] / run->cluster[axis];
    case PTX_SPECIAL_NCLUSTERID_X:
    case PTX_SPECIAL_NCLUSTERID_Y:
    case PTX_SPECIAL_NCLUSTERID_Z:
        axis = which - PTX_SPECIAL_NCLUSTERID_X;
        return run->launch->grid[axis] / run->cluster[axis];
    case PTX_SPECIAL_CLUSTER_CTAID_X:
    case PTX_SPECIAL_CLUSTER_CTAID_Y:
    case PTX_SPECIAL_CLUSTER_CTAID_Z:
        axis = which - PTX_SPECIAL_CLUSTER_CTAID_X;
        return cta->id[axis] % run->cluster[axis];
    case PTX_SPECIAL_CLUSTER_NCTAID_X:
    case PTX_SPECIAL_CLUSTER_NCTAID_Y:
    case PTX_SPECIAL_CLUSTER_NCTAID_Z:
        return run->cluster[which - PTX_SPECIAL_CLUSTER_NCTAID_X];
    case PTX_SPECIAL_CLUSTER_CTARANK:
        return cta->rank;
    case PTX_SPECIAL_CLUSTER_NCTARANK:
        return run->cluster[0] * run->cluster[1] * run->cluster[2];
    case PTX_SPECIAL_IS_EXPLICIT_CLUSTER:
        return run->cluster_size != 0;
    case PTX_SPECIAL_GRIDID:
        return 1;
    case PTX_SPECIAL_ENVREG: /* 1 and 2: the workspace, as CUDA's own grid barrier reads it */
        return number == 1 ? run->workspace >> 32 : number == 2 ? (uint32_t)run->workspace : 0;
    case VM_SPECIAL_FRAME:
        return warp->splits[warp->current].frame->local;
    case PTX_SPECIAL_NONE:
        return mask; /* activemask */
    default:
        return 0;
    }
}

/* d; imm: ptx_special | 64-bit << 16 | number of an %envreg << 17; NONE is the active mask. */
vm_action vm_external_SPECIAL(vm_warp *warp, const vm_op *op, uint32_t mask) {
    void *d = vm_operand(warp, op->d);
    VM_FOR_LANES(lane, mask) {
        uint64_t value = special(warp, op->imm, lane, mask);
        if (op->imm >> 16 & 1)
            ((uint64_t *)d)[lane] = value;
        else
            ((uint32_t *)d)[lane] = (uint32_t)value;
    }
    return VM_GO;
}

/* a: divisor; imm: 1 when it has 64 bits. */
vm_action vm_external_DIVIDE_CHECK(vm_warp *warp, const vm_op *op, uint32_t mask) {
    VM_FOR_LANES(lane, mask) {
        uint64_t divisor = op->imm ? vm_operand64(warp, op->a, lane) : vm_operand32(warp, op->a, lane);
        if (divisor == 0)
            vm_finding_add(warp->cta, VM_FIND_DIVIDE_BY_ZERO, warp->splits[warp->current].pc, warp, lane);
    }
    return VM_GO;
}

/* Executing what the machine does not have ends the run as unsupported; imm 1: a trap. */
vm_action vm_external_UNSUPPORTED(vm_warp *warp, const vm_op *op, uint32_t mask) {
    vm_finding_kind kind = op->imm ? VM_FIND_TRAP : VM_FIND_UNSUPPORTED;
    vm_finding *finding =
        vm_finding_add(warp->cta, kind, warp->splits[warp->current].pc, warp, vm_first_lane(mask));
    if (finding != NULL && finding->instruction != NULL) {
        base_builder form;
        base_builder_start(&form, vm_finding_arena(warp->cta));
        ptx_instruction_form(finding->instruction, &form);
        finding->text = form.data;
    }
    warp->cta->status = op->imm ? VM_FAULTED : VM_UNSUPPORTED;
    return VM_HALT;
}

vm_action vm_external_MALLOC(vm_warp *warp, const vm_op *op, uint32_t mask) {
    return vm_external_UNSUPPORTED(warp, op, mask);
}

#define X(name) [VM_EXTERNAL_##name] = vm_external_##name,
const vm_external_function vm_externals[VM_EXTERNAL_COUNT] = {VM_EXTERNALS(X)};
#undef X

bool vm_external_listed(unsigned external) {
    switch (external) {
#define X(name) case VM_EXTERNAL_##name:
        VM_EXTERNALS_LISTED(X)
#undef X
        return true;
    default:
        return false;
    }
}

const char *vm_async_class_name(vm_async_class class) {
    static const char *const names[VM_ASYNC_CLASSES] = {[VM_ASYNC_COPY] = "copy",
                                                        [VM_ASYNC_BULK] = "bulk",
                                                        [VM_ASYNC_BULK_STORE] = "bulk-store",
                                                        [VM_ASYNC_TENSOR] = "tensor",
                                                        [VM_ASYNC_TMEM_LOAD] = "tmem-load",
                                                        [VM_ASYNC_TMEM_STORE] = "tmem-store",
                                                        [VM_ASYNC_WGMMA] = "wgmma",
                                                        [VM_ASYNC_REMOTE] = "remote"};
    return class < VM_ASYNC_CLASSES ? names[class] : "unknown";
}

#define VM_LANE(name, rows, sources) {rows, sources},
const vm_lane_shape vm_lane_shapes[VM_LANE_COUNT] = {
#include "vm/vm_lanes.def"
};
#undef VM_LANE
