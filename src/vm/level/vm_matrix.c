/* SPDX-License-Identifier: Apache-2.0
 * The inner loops of mma and wgmma in the numeric model hw, for finite values (vm_matrix_sums in
 * vm_matrix.h): the largest exponent of each column's products and accumulator, then the products cut at its
 * quantum and added. */
#include "vm/level/vm_level.h"
#include "vm/vm_matrix.h"

enum { CHUNK = 16, PARTS = 4 }; /* a part adds at most 16 products below 2^27 */
void VM_NAME(vm_matrix_add)(const vm_matrix_sums *job);

void VM_NAME(vm_matrix_add)(const vm_matrix_sums *job) {
    const unsigned k_count = job->k, up = job->up, stride = job->stride;
    for (unsigned first = 0; first < job->columns; first += CHUNK) {
        s32 largest[CHUNK], part[PARTS][CHUNK] = {{0}};
        for (unsigned j = 0; j < CHUNK; j++)
            largest[j] = job->c_exponent[first + j];
        for (unsigned k = 0; k < k_count; k++) {
            const s32 *be = job->b_exponent + k * stride + first, ae = job->a_exponent[k];
            for (unsigned j = 0; j < CHUNK; j++)
                largest[j] = be[j] + ae > largest[j] ? be[j] + ae : largest[j];
        }
        for (unsigned k = 0; k < k_count; k++) {
            const s32 *be = job->b_exponent + k * stride + first,
                      *bs = job->b_significand + k * stride + first;
            const s32 ae = job->a_exponent[k], as = job->a_significand[k];
            s32 *sum = part[k % PARTS];
            for (unsigned j = 0; j < CHUNK; j++) {
                s32 product = as * bs[j], sign = product >> 31, down = largest[j] - ae - be[j];
                u32 magnitude = (u32)((product ^ sign) - sign) << up >> (down > 31 ? 31 : down);
                sum[j] += ((s32)magnitude ^ sign) - sign;
            }
        }
        for (unsigned j = 0; j < CHUNK; j++) {
            job->largest[first + j] = largest[j];
            job->sum[first + j] = (int64_t)part[0][j] + part[1][j] + part[2][j] + part[3][j];
        }
    }
}
