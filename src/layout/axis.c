/* SPDX-License-Identifier: Apache-2.0
 * The axes: names as scripts write them, and which of them are places in storage. */
#include "layout/layout_internal.h"
#include <string.h>

typedef enum axis_kind { AXIS_THREAD, AXIS_MEMORY, AXIS_ELEMENT, AXIS_MESH } axis_kind;

static const struct {
    const char *name;
    axis_kind kind;
    layout_scope scope, subscope;
} axes[LAYOUT_AXIS_COUNT] = {
    [LAYOUT_AXIS_M] = {"m", AXIS_ELEMENT, LAYOUT_SCOPE_NONE, LAYOUT_SCOPE_NONE},
    [LAYOUT_AXIS_TLANE] = {"TLane", AXIS_MEMORY, LAYOUT_SCOPE_NONE, LAYOUT_SCOPE_NONE},
    [LAYOUT_AXIS_TCOL] = {"TCol", AXIS_ELEMENT, LAYOUT_SCOPE_NONE, LAYOUT_SCOPE_NONE},
    [LAYOUT_AXIS_P] = {"P", AXIS_MEMORY, LAYOUT_SCOPE_NONE, LAYOUT_SCOPE_NONE},
    [LAYOUT_AXIS_F] = {"F", AXIS_ELEMENT, LAYOUT_SCOPE_NONE, LAYOUT_SCOPE_NONE},
    [LAYOUT_AXIS_BANK] = {"Bank", AXIS_MEMORY, LAYOUT_SCOPE_NONE, LAYOUT_SCOPE_NONE},
    [LAYOUT_AXIS_BX] = {"bx", AXIS_THREAD, LAYOUT_SCOPE_GRID, LAYOUT_SCOPE_CTA},
    [LAYOUT_AXIS_BY] = {"by", AXIS_THREAD, LAYOUT_SCOPE_GRID, LAYOUT_SCOPE_CTA},
    [LAYOUT_AXIS_BZ] = {"bz", AXIS_THREAD, LAYOUT_SCOPE_GRID, LAYOUT_SCOPE_CTA},
    [LAYOUT_AXIS_CBX] = {"cbx", AXIS_THREAD, LAYOUT_SCOPE_CLUSTER, LAYOUT_SCOPE_CTA},
    [LAYOUT_AXIS_CBY] = {"cby", AXIS_THREAD, LAYOUT_SCOPE_CLUSTER, LAYOUT_SCOPE_CTA},
    [LAYOUT_AXIS_CBZ] = {"cbz", AXIS_THREAD, LAYOUT_SCOPE_CLUSTER, LAYOUT_SCOPE_CTA},
    [LAYOUT_AXIS_TX] = {"tx", AXIS_THREAD, LAYOUT_SCOPE_CTA, LAYOUT_SCOPE_THREAD},
    [LAYOUT_AXIS_WARPID] = {"warpid", AXIS_THREAD, LAYOUT_SCOPE_CTA, LAYOUT_SCOPE_WARP},
    [LAYOUT_AXIS_LANEID] = {"laneid", AXIS_THREAD, LAYOUT_SCOPE_WARP, LAYOUT_SCOPE_THREAD},
    [LAYOUT_AXIS_WGID] = {"wgid", AXIS_THREAD, LAYOUT_SCOPE_CTA, LAYOUT_SCOPE_WARPGROUP},
    [LAYOUT_AXIS_TID_IN_WG] = {"tid_in_wg", AXIS_THREAD, LAYOUT_SCOPE_WARPGROUP, LAYOUT_SCOPE_THREAD},
    [LAYOUT_AXIS_WID_IN_WG] = {"wid_in_wg", AXIS_THREAD, LAYOUT_SCOPE_WARPGROUP, LAYOUT_SCOPE_WARP},
    [LAYOUT_AXIS_PID] = {"pid", AXIS_MESH, LAYOUT_SCOPE_NONE, LAYOUT_SCOPE_NONE},
    [LAYOUT_AXIS_GPUID_X] = {"gpuid_x", AXIS_MESH, LAYOUT_SCOPE_NONE, LAYOUT_SCOPE_NONE},
    [LAYOUT_AXIS_GPUID_Y] = {"gpuid_y", AXIS_MESH, LAYOUT_SCOPE_NONE, LAYOUT_SCOPE_NONE},
    [LAYOUT_AXIS_GPUID_Z] = {"gpuid_z", AXIS_MESH, LAYOUT_SCOPE_NONE, LAYOUT_SCOPE_NONE},
};

const char *layout_scope_name(layout_scope scope) {
    static const char *const names[] = {"none", "grid", "cluster", "cta", "warpgroup", "warp", "thread"};
    return (unsigned)scope < sizeof names / sizeof names[0] ? names[scope] : "?";
}

bool layout_axis_scopes(layout_axis axis, layout_scope *scope, layout_scope *subscope) {
    if (!layout_axis_is_thread(axis))
        return false;
    *scope = axes[axis].scope;
    *subscope = axes[axis].subscope;
    return true;
}

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
    return (unsigned)axis < LAYOUT_AXIS_COUNT &&
           (axes[axis].kind == AXIS_MEMORY || axes[axis].kind == AXIS_ELEMENT);
}

bool layout_axis_is_thread(layout_axis axis) {
    return (unsigned)axis < LAYOUT_AXIS_COUNT && axes[axis].kind == AXIS_THREAD;
}

bool layout_axis_counts_elements(layout_axis axis) {
    return (unsigned)axis < LAYOUT_AXIS_COUNT && axes[axis].kind == AXIS_ELEMENT;
}
