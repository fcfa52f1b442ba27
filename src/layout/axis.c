/* SPDX-License-Identifier: Apache-2.0
 * The axes: names as scripts write them, and which of them are places in storage. */
#include "layout/layout_internal.h"
#include <string.h>

typedef enum axis_kind { AXIS_THREAD, AXIS_MEMORY, AXIS_ELEMENT } axis_kind;

static const struct {
    const char *name;
    axis_kind kind;
} axes[LAYOUT_AXIS_COUNT] = {
    [LAYOUT_AXIS_M] = {"m", AXIS_ELEMENT},
    [LAYOUT_AXIS_TLANE] = {"TLane", AXIS_MEMORY},
    [LAYOUT_AXIS_TCOL] = {"TCol", AXIS_ELEMENT},
    [LAYOUT_AXIS_P] = {"P", AXIS_MEMORY},
    [LAYOUT_AXIS_F] = {"F", AXIS_ELEMENT},
    [LAYOUT_AXIS_BANK] = {"Bank", AXIS_MEMORY},
    [LAYOUT_AXIS_BX] = {"bx", AXIS_THREAD},
    [LAYOUT_AXIS_BY] = {"by", AXIS_THREAD},
    [LAYOUT_AXIS_BZ] = {"bz", AXIS_THREAD},
    [LAYOUT_AXIS_CBX] = {"cbx", AXIS_THREAD},
    [LAYOUT_AXIS_CBY] = {"cby", AXIS_THREAD},
    [LAYOUT_AXIS_CBZ] = {"cbz", AXIS_THREAD},
    [LAYOUT_AXIS_TX] = {"tx", AXIS_THREAD},
    [LAYOUT_AXIS_WARPID] = {"warpid", AXIS_THREAD},
    [LAYOUT_AXIS_LANEID] = {"laneid", AXIS_THREAD},
    [LAYOUT_AXIS_WGID] = {"wgid", AXIS_THREAD},
    [LAYOUT_AXIS_TID_IN_WG] = {"tid_in_wg", AXIS_THREAD},
    [LAYOUT_AXIS_WID_IN_WG] = {"wid_in_wg", AXIS_THREAD},
};

const char *layout_axis_name(layout_axis axis) {
    return (unsigned)axis < LAYOUT_AXIS_COUNT ? axes[axis].name : "?";
}

bool layout_axis_find(const char *name, size_t size, layout_axis *axis) {
    for (unsigned i = 0; i < LAYOUT_AXIS_COUNT; i++)
        if (strlen(axes[i].name) == size && memcmp(axes[i].name, name, size) == 0) {
            *axis = (layout_axis)i;
            return true;
        }
    return false;
}

bool layout_axis_is_memory(layout_axis axis) {
    return (unsigned)axis < LAYOUT_AXIS_COUNT && axes[axis].kind != AXIS_THREAD;
}

bool layout_axis_counts_elements(layout_axis axis) {
    return (unsigned)axis < LAYOUT_AXIS_COUNT && axes[axis].kind == AXIS_ELEMENT;
}
