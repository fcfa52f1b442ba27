/* SPDX-License-Identifier: Apache-2.0
 * Fragments of mma.m8n8k4 with f16 operands (PTX ISA, "Matrix Fragments for mma.m8n8k4 with .f16 floating
 * point type"): four products at once, number q by the lanes 4q to 4q + 3 and 16 + 4q to 16 + 4q + 3. Drawn
 * are the four matrices, A and D under each other, B side by side. */
#include "layout/fragment_internal.h"
#include "layout/layout_internal.h"

#define LANE LAYOUT_AXIS_LANEID
#define SLOT LAYOUT_AXIS_M

/* A row-major is as B column-major: a lane has one row (column) of four. The other way round a lane has one
 * k. */
static const layout_iter across[] = {{4, 4, LANE}, {2, 16, LANE}, {4, 1, LANE}, {4, 1, SLOT}};
static const layout_iter along[] = {{4, 4, LANE}, {2, 16, LANE}, {4, 1, SLOT}, {4, 1, LANE}};
static const layout_iter halves[] = {{4, 4, LANE}, {2, 16, LANE}, {4, 1, LANE}, {8, 1, SLOT}};
static const layout_iter words[] = {{4, 4, LANE}, {2, 16, LANE}, {2, 2, SLOT}, {2, 1, LANE},
                                    {2, 4, SLOT}, {2, 2, LANE},  {2, 1, SLOT}};

bool fragment_quad(base_arena *arena, char operand, unsigned bits, bool other_order,
                   layout_fragment_request *request, layout_error *error) {
    bool is_b = operand == 'B', is_d = operand == 'D';
    layout_iter iters[7];
    uint32_t count = 4;
    if (is_d) {
        count = bits == 16 ? 4 : 7;
        for (uint32_t i = 0; i < count; i++)
            iters[i] = bits == 16 ? halves[i] : words[i];
    } else {
        const layout_iter *from = other_order ? along : across;
        for (uint32_t i = 0; i < 4; i++)
            iters[i] = is_b ? from[(i + 3) % 4] : from[i]; /* B: k first, then the columns of the four */
    }
    request->shape[0] = is_b ? 4 : 32;
    request->shape[1] = is_b ? 32 : is_d ? 8 : 4;
    request->bits = is_d ? bits : 16;
    request->tile = layout_make(arena, iters, count, NULL, 0, NULL, 0, error);
    if (request->tile == NULL)
        return false;
    fragment_say(arena, request,
                 "%s of mma.m8n8k4: four products at once, of %s elements of %u bits each, %s; each of 32 "
                 "threads holds "
                 "%d of them in %d registers.",
                 is_d   ? "C and D"
                 : is_b ? "B"
                        : "A",
                 is_d   ? "8 x 8"
                 : is_b ? "4 x 8"
                        : "8 x 4",
                 request->bits, is_b ? "drawn side by side" : "drawn under each other", is_d ? 8 : 4,
                 is_d && bits == 32 ? 8
                 : is_d             ? 4
                                    : 2);
    fragment_say(arena, request,
                 "Product q belongs to the lanes 4q to 4q + 3, which hold %s 0 to 3%s, and 16 + 4q to 16 + "
                 "4q + 3, which "
                 "hold %s 4 to 7%s.",
                 is_b ? "columns" : "rows", other_order && !is_d ? ", one k each" : "",
                 is_b ? "columns" : "rows", other_order && !is_d ? ", one k each" : "");
    return true;
}
