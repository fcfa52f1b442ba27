/* SPDX-License-Identifier: Apache-2.0
 * Matrix descriptors of wgmma: fields, and where an element stands (PTX ISA 9.7.15.5.1.2: canonical layouts).
 * With T = 128 / bits elements in 16 bytes and S bytes of swizzle: K-major:  none
 * ((8,m),(T,2k)):((1T,SBO),(1,LBO))       S: ((8,m),(T,2k)):((S,SBO),(1,T)) in bytes MN-major: none
 * ((T,1,m),(8,k)):((1,T,SBO),(1T,LBO))    S: ((S,m),(8,k)):((1,LBO),(S,SBO)) in bytes and the swizzle
 * exchanges 16-byte pieces: bits 4 and up of the address with the bits from 7 on, counted from where the
 * pattern starts. */
#include "vm/vm_wgmma.h"

vm_wgmma_matrix vm_wgmma_decode(uint64_t descriptor, bool major, uint32_t bits) {
    static const uint32_t swizzles[] = {0, 128, 64, 32};
    return (vm_wgmma_matrix){.start = (uint32_t)(descriptor & 0x3fff) << 4,
                             .leading = (uint32_t)(descriptor >> 16 & 0x3fff) << 4,
                             .stride = (uint32_t)(descriptor >> 32 & 0x3fff) << 4,
                             .base = (uint32_t)(descriptor >> 49 & 7),
                             .swizzle = swizzles[descriptor >> 62],
                             .major = major,
                             .bits = bits};
}

const char *vm_wgmma_problem(uint64_t descriptor) {
    vm_wgmma_matrix m = vm_wgmma_decode(descriptor, false, 8);
    if (descriptor & 0x3ff1c000c000c000u)
        return "bits 14-15, 30-31, 46-48 and 52-61 must be zero: addresses and strides are 18 bits, without "
               "the low four";
    if (m.swizzle == 0)
        return m.base ? "a base offset without swizzle" : NULL;
    if (m.base == 0 && m.start % (8 * m.swizzle) >= m.swizzle)
        return "the matrix starts inside the swizzle pattern (a multiple of 1024, 512 or 256 bytes for 128-, "
               "64- and "
               "32-byte swizzles), and the base offset is 0";
    return NULL;
}

uint32_t vm_wgmma_address(const vm_wgmma_matrix *m, uint32_t mn, uint32_t k) {
    uint32_t address = m->start;
    if (!m->major) {
        uint32_t byte = k * m->bits / 8, row = m->swizzle ? m->swizzle : 16;
        address += mn / 8 * m->stride + mn % 8 * row;
        address += m->swizzle ? byte : byte / 16 * m->leading + byte % 16;
    } else {
        uint32_t byte = mn * m->bits / 8, row = m->swizzle ? m->swizzle : 16;
        address += byte % row + k % 8 * row;
        address += m->swizzle ? byte / row * m->leading + k / 8 * m->stride
                              : byte / row * m->stride + k / 8 * m->leading;
    }
    if (m->swizzle)
        address ^= (((address >> 7) - m->base) & (m->swizzle / 16 - 1)) << 4;
    return address;
}

void vm_wgmma_range(const vm_wgmma_matrix *m, uint32_t rows, uint32_t columns, uint64_t *begin,
                    uint64_t *end) {
    uint32_t unit = m->swizzle ? m->swizzle : 16, last_row = rows - 1, last_column = columns - 1;
    /* without the exchange of pieces every part of the sum grows with mn and k */
    uint32_t low = m->start / unit * unit, high = m->start;
    if (!m->major) {
        uint32_t byte = (last_column * m->bits + m->bits - 1) / 8;
        high += last_row / 8 * m->stride + (rows < 8 ? last_row : 7) * unit;
        high += m->swizzle ? byte : byte / 16 * m->leading + 15;
    } else {
        uint32_t byte = (last_row * m->bits + m->bits - 1) / 8, repeats = byte / unit;
        high += unit - 1 + (columns < 8 ? last_column : 7) * unit;
        high += m->swizzle ? repeats * m->leading + last_column / 8 * m->stride
                           : repeats * m->stride + last_column / 8 * m->leading;
    }
    *begin = low;
    *end = (high / unit + 1) * (uint64_t)unit;
}
