/* SPDX-License-Identifier: Apache-2.0
 * Matrix results in tensor memory that something reads as if they stood elsewhere: each cell remembers the
 * datapath, the type and N of the product that wrote it last (vm_tmem_writer.layout). Found is what no
 * correct program does: to accumulate on a result of another layout, to read a result as A or as scale
 * factors (A of tf32 may be a result of f32), to load rows of an M = 64 product together with lanes that
 * another product left, or the low halves of f32. Must not know how operands are decoded. */
#include "vm/vm_tensor.h"

/* Do two results have all their elements in the same cells? */
static bool same_place(uint16_t one, uint16_t other) {
    char a = VM_TMEM_LAYOUT_LETTER(one), b = VM_TMEM_LAYOUT_LETTER(other);
    if (a == 'A' || a == 'D') /* row m in lane m, column n in column n */
        return b == 'A' || b == 'D';
    if (a == 'C' || a == 'F')
        return b == 'C' || b == 'F';
    return a == b && VM_TMEM_LAYOUT_N(one) == VM_TMEM_LAYOUT_N(other);
}

static bool continues(uint16_t own, uint16_t written) {
    return own != 0 && same_place(own, written) && VM_TMEM_LAYOUT_HALF(own) == VM_TMEM_LAYOUT_HALF(written) &&
           VM_TMEM_LAYOUT_INTEGER(own) == VM_TMEM_LAYOUT_INTEGER(written);
}

static void report(vm_warp *warp, uint32_t pc, unsigned lane, vm_finding_kind kind, uint32_t cell,
                   const vm_tmem_writer *writer, uint16_t own, const char *what) {
    vm_finding *finding = vm_tensor_report(warp, kind, pc, lane, cell, own, writer->layout);
    if (finding == NULL)
        return;
    finding->text = what;
    finding->other = vm_program_instruction_at(warp->cta->run->program, writer->pc);
}

void vm_tensor_layout_check(vm_warp *warp, uint32_t pc, unsigned lane, vm_cta *cta, const vm_tmem_area *area,
                            char what, uint16_t own) {
    const vm_tmem *t = vm_tmem_of(cta);
    uint16_t good = 0; /* most areas have one layout, that of an earlier product of the same kind */
    bool some = false;
    for (unsigned g = 0; g < VM_TMEM_LANES / 16; g++)
        for (uint32_t c = area->column;
             (area->lanes[g / 2] >> g % 2 * 16 & 0xffff) != 0 && c < area->column + area->columns;
             c = vm_tmem_writer_next(t, g, c)) {
            uint16_t layout = vm_tmem_writer_at(t, g, c)->layout;
            if (layout == 0 || layout == good)
                continue;
            some |= !continues(own, layout);
            good = layout;
        }
    for (uint32_t c = area->column; some && c < area->column + area->columns; c++)
        for (unsigned g = 0; g < VM_TMEM_LANES / 16; g++) {
            const vm_tmem_writer *w = vm_tmem_writer_at(t, g, c);
            if (w->layout == 0 || (area->lanes[g / 2] >> g % 2 * 16 & 0xffff) == 0 ||
                continues(own, w->layout))
                continue;
            report(warp, pc, lane, VM_FIND_TENSOR_LAYOUT, VM_TMEM_ADDRESS(16 * g, c), w, own,
                   what == 'D'   ? "D"
                   : what == 'A' ? "A"
                                 : "S");
            return;
        }
}

static bool half_rows(uint16_t layout) {
    return VM_TMEM_LAYOUT_LETTER(layout) == 'C' || VM_TMEM_LAYOUT_LETTER(layout) == 'F';
}

void vm_tensor_layout_load(vm_warp *warp, uint32_t pc, unsigned lane, vm_cta *cta, const vm_tmem_area *area,
                           bool pack) {
    const vm_tmem *t = vm_tmem_of(cta);
    for (uint32_t c = area->column; c < area->column + area->columns; c++)
        for (unsigned k = 0; k < VM_TMEM_LANES / 32; k++) {
            const vm_tmem_writer *low = vm_tmem_writer_at(t, 2 * k, c),
                                 *high = vm_tmem_writer_at(t, 2 * k + 1, c);
            uint32_t lanes = area->lanes[k];
            const vm_tmem_writer *of = (lanes & 0xffff) != 0 ? low : high;
            if (lanes != 0 && pack && of->layout != 0 && !VM_TMEM_LAYOUT_HALF(of->layout) &&
                !VM_TMEM_LAYOUT_INTEGER(of->layout)) {
                report(warp, pc, lane, VM_FIND_TENSOR_LAYOUT_LOAD, VM_TMEM_ADDRESS(32 * k, c), of, 0,
                       "halves");
                return;
            }
            if ((lanes & 0xffff) == 0 || lanes >> 16 == 0 || low->layout == 0 || high->layout == 0 ||
                half_rows(low->layout) == half_rows(high->layout))
                continue;
            bool upper = half_rows(high->layout);
            report(warp, pc, lane, VM_FIND_TENSOR_LAYOUT_LOAD, VM_TMEM_ADDRESS(32 * k + (upper ? 16 : 0), c),
                   upper ? high : low, upper ? low->layout : high->layout, "rows");
            return;
        }
}
