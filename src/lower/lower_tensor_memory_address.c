/* SPDX-License-Identifier: Apache-2.0
 * Questions that the rules of tensor memory ask: which lanes and warps guards let through, whether a value is
 * the same in all lanes, what an address of tensor memory is made of. Answers are "certainly" or "not known";
 * changes and reports nothing of its own. */
#include "layout/layout.h"
#include "lower/lower_tensor_memory.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 16 };

base_diagnostic *tmem_report(tmem_walk *w, base_severity severity, const char *code, base_span span,
                             const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    base_diagnostic *d = base_report_list(w->diagnostics, severity, code, span, format, arguments);
    va_end(arguments);
    return d;
}

const ir_expr *tmem_resolve(const tmem_walk *w, const ir_expr *e) {
    for (unsigned i = 0; i < 64 && e->op == IR_VAR; i++) {
        const ir_expr *value = base_map_get(w->lets, BASE_KEY(e->at.var));
        if (!value)
            break;
        e = value;
    }
    return e;
}

static const ir_expr *bare(const tmem_walk *w, const ir_expr *e) {
    e = tmem_resolve(w, e);
    for (unsigned i = 0; i < MAX_DEPTH && e->op == IR_CAST; i++)
        e = tmem_resolve(w, e->args[0]);
    return e;
}

/* ---- lanes ---- */

static bool is_thread(const tmem_walk *w, const ir_expr *e) {
    e = bare(w, e);
    return e->op == IR_LINEAR_THREAD || (e->op == IR_THREAD_IDX && e->at.integer == 0);
}

/* The lane's own number: lane_id, or the thread's number modulo 32. */
static bool is_lane(const tmem_walk *w, const ir_expr *e) {
    int64_t by;
    e = bare(w, e);
    if (e->op == IR_LANE_ID)
        return true;
    if (e->op != IR_FLOORMOD && e->op != IR_TRUNCMOD && e->op != IR_BITAND)
        return false;
    if (!ir_is_int(tmem_resolve(w, e->args[1]), &by) || by != (e->op == IR_BITAND ? 31 : 32))
        return false;
    return is_thread(w, e->args[0]);
}

/* The warp's own number. */
static bool is_warp(const tmem_walk *w, const ir_expr *e) {
    int64_t by;
    e = bare(w, e);
    if (e->op == IR_WARP_ID)
        return true;
    if (e->op != IR_FLOORDIV && e->op != IR_TRUNCDIV && e->op != IR_SHR)
        return false;
    return ir_is_int(tmem_resolve(w, e->args[1]), &by) && by == (e->op == IR_SHR ? 5 : 32) &&
           is_thread(w, e->args[0]);
}

static bool is_elect(const tmem_walk *w, const ir_expr *e) {
    e = bare(w, e);
    return e->op == IR_PTX && strncmp(e->args[0]->at.string, "elect.sync", 10) == 0;
}

static bool picks_lanes(const tmem_walk *w, const ir_expr *e, bool negated, const char **what,
                        unsigned depth) {
    int64_t value;
    e = tmem_resolve(w, e);
    if (depth > MAX_DEPTH)
        return false;
    if (e->op == IR_NOT)
        return picks_lanes(w, e->args[0], !negated, what, depth + 1);
    if (e->op == IR_AND && !negated)
        return picks_lanes(w, e->args[0], false, what, depth + 1) ||
               picks_lanes(w, e->args[1], false, what, depth + 1);
    *what = "elect.sync chooses one lane";
    if (is_elect(w, e))
        return true;
    if (e->count != 2 || !ir_is_int(tmem_resolve(w, e->args[1]), &value))
        return false;
    ir_op op = e->op;
    if (is_elect(w, e->args[0]))
        return op == IR_NE || op == IR_EQ || op == IR_GT;
    bool lane = is_lane(w, e->args[0]), thread = !lane && is_thread(w, e->args[0]);
    if (!lane && !thread)
        return false;
    *what = lane ? "it tests the lane" : "it tests the thread";
    if (op == IR_EQ || op == IR_NE)
        return true; /* one lane, or all but one */
    if (op == IR_LT || op == IR_GE)
        return lane ? value > 0 && value < 32 : value % 32 != 0;
    if (op == IR_LE || op == IR_GT)
        return lane ? value >= 0 && value < 31 : (value + 1) % 32 != 0;
    return false;
}

bool tmem_picks_lanes(const tmem_walk *w, const ir_expr *condition, bool negated, const char **what) {
    return picks_lanes(w, condition, negated, what, 0);
}

/* What may differ between threads, and what no address is made of. */
enum {
    VARIES = IR_FLAG_READS | IR_FLAG_WRITES | IR_FLAG_SYNC | IR_FLAG_DIVERGENT | IR_FLAG_BOUNDED |
             IR_INSIDE_DIVISION | IR_INSIDE_LANES
};

static bool same_in(const tmem_walk *w, const ir_expr *e, bool in_block, unsigned depth) {
    e = tmem_resolve(w, e);
    if (depth > MAX_DEPTH)
        return false;
    if (is_warp(w, e))
        return !in_block;
    if (e->op == IR_VAR)
        return e->at.var->kind == IR_VAR_PARAMETER;
    if ((e->effects & VARIES) || e->op == IR_THREAD_IDX || e->op == IR_LANE_ID || e->op == IR_LINEAR_THREAD)
        return false;
    for (uint32_t i = 0; i < e->count; i++)
        if (!same_in(w, e->args[i], in_block, depth + 1))
            return false;
    return true;
}

bool tmem_is_uniform(const tmem_walk *w, const ir_expr *e) {
    return same_in(w, e, false, 0);
}

bool tmem_is_block_uniform(const tmem_walk *w, const ir_expr *e) {
    return same_in(w, e, true, 0);
}

bool tmem_whole_warps(const tmem_walk *w) {
    for (uint32_t i = 0; i < w->guard_count; i++)
        if (!tmem_is_uniform(w, w->guards[i].condition))
            return false;
    return !w->jumped;
}

/* ---- warps ---- */

static int64_t warp_of(const tmem_walk *w, const ir_expr *e, bool negated, unsigned depth) {
    int64_t value;
    e = tmem_resolve(w, e);
    if (depth > MAX_DEPTH)
        return -1;
    if (e->op == IR_NOT)
        return warp_of(w, e->args[0], !negated, depth + 1);
    if (e->op == IR_AND && !negated) {
        value = warp_of(w, e->args[0], false, depth + 1);
        return value >= 0 ? value : warp_of(w, e->args[1], false, depth + 1);
    }
    if (e->op != (negated ? IR_NE : IR_EQ) || !is_warp(w, e->args[0]) ||
        !ir_is_int(tmem_resolve(w, e->args[1]), &value))
        return -1;
    return value;
}

int64_t tmem_only_warp(const tmem_walk *w) {
    int64_t threads = tmem_threads(w);
    if (threads > 0 && threads <= 32)
        return 0;
    for (uint32_t i = 0; i < w->guard_count; i++) {
        int64_t warp = warp_of(w, w->guards[i].condition, w->guards[i].negated, 0);
        if (warp >= 0)
            return warp;
    }
    return -1;
}

int64_t tmem_threads(const tmem_walk *w) {
    const ir_launch *launch = &w->context->function->launch;
    int64_t threads = 1, size;
    for (int i = 0; i < 3; i++) {
        if (!launch->present || !ir_is_int(launch->block[i], &size) || size < 1 || size > 1024)
            return 0;
        threads *= size;
    }
    return threads;
}

bool tmem_precedes(const tmem_event *a, const tmem_guard *guards, uint32_t count) {
    for (uint32_t i = 0; i < a->guard_count; i++) {
        bool found = false;
        for (uint32_t k = 0; k < count && !found; k++)
            found =
                guards[k].condition == a->guards[i].condition && guards[k].negated == a->guards[i].negated;
        if (!found)
            return false;
    }
    return true;
}

/* ---- addresses ---- */

static bool is_shared(const ir_tensor *t) {
    return t && (t->type.scope == IR_SCOPE_SHARED || t->type.scope == IR_SCOPE_SHARED_DYN);
}

static bool add_term(const tmem_walk *w, const ir_expr *e, bool is_row, tmem_address *a, unsigned depth);

/* (base >> 16) + row << 16 | (base + column) & 65535: what get_tmem_addr makes. */
static bool add_moved(const tmem_walk *w, const ir_expr *e, tmem_address *a, unsigned depth) {
    int64_t by, mask;
    const ir_expr *high = tmem_resolve(w, e->args[0]), *low = tmem_resolve(w, e->args[1]);
    if (high->op != IR_SHL || low->op != IR_BITAND || !ir_is_int(tmem_resolve(w, high->args[1]), &by) ||
        by != 16 || !ir_is_int(tmem_resolve(w, low->args[1]), &mask) || mask != 0xffff)
        return false;
    const ir_expr *lanes = tmem_resolve(w, high->args[0]), *columns = tmem_resolve(w, low->args[0]);
    const ir_expr *row = lanes->op == IR_ADD ? lanes->args[1] : NULL;
    const ir_expr *base = bare(w, row ? lanes->args[0] : lanes);
    if (base->op != IR_SHR || !ir_is_int(tmem_resolve(w, base->args[1]), &by) || by != 16)
        return false;
    base = tmem_resolve(w, base->args[0]);
    const ir_expr *column = NULL;
    if (bare(w, columns) != bare(w, base)) {
        if (columns->op != IR_ADD || bare(w, columns->args[0]) != bare(w, base))
            return false;
        column = columns->args[1];
    }
    return add_term(w, base, false, a, depth + 1) && (!row || add_term(w, row, true, a, depth + 1)) &&
           (!column || add_term(w, column, false, a, depth + 1));
}

static bool add_term(const tmem_walk *w, const ir_expr *e, bool is_row, tmem_address *a, unsigned depth) {
    int64_t value;
    e = bare(w, e);
    if (depth > MAX_DEPTH)
        return false;
    if (ir_is_int(e, &value)) {
        a->lane += is_row ? value : value >> 16;
        a->column += is_row ? 0 : value & 0xffff;
        return true;
    }
    if (e->op == IR_ADD)
        return add_term(w, e->args[0], is_row, a, depth + 1) && add_term(w, e->args[1], is_row, a, depth + 1);
    if (!is_row && e->op == IR_SHL && ir_is_int(tmem_resolve(w, e->args[1]), &value) && value == 16)
        return add_term(w, e->args[0], true, a, depth + 1);
    if (!is_row && e->op == IR_BITOR)
        return add_moved(w, e, a, depth + 1);
    if (!is_row && !a->root && e->op == IR_LOAD && is_shared(e->at.tensor)) {
        a->root = e;
        return true;
    }
    const ir_expr **part = is_row ? &a->row : &a->step;
    if (*part)
        return false;
    *part = e;
    return true;
}

tmem_address tmem_address_of(const tmem_walk *w, const ir_expr *e) {
    tmem_address a = {0};
    if (!add_term(w, e, false, &a, 0) || !a.root)
        return (tmem_address){0};
    return a;
}

static const ptx_pattern_operand *operand_of(const ptx_pattern *pattern, uint32_t operand) {
    const ptx_pattern_operand *o = operand < pattern->operand_count ? &pattern->operands[operand] : NULL;
    return o && o->kind == PTX_PATTERN_ADDRESS && o->count ? &o->args[0] : o;
}

const ir_expr *tmem_operand(const ir_expr *e, const ptx_pattern *pattern, uint32_t operand) {
    const ptx_pattern_operand *o = operand_of(pattern, operand);
    return o && o->kind == PTX_PATTERN_ARGUMENT && o->index + 2 < e->count ? e->args[o->index + 2] : NULL;
}

bool tmem_constant(const tmem_walk *w, const ir_expr *e, const ptx_pattern *pattern, uint32_t operand,
                   int64_t *value) {
    const ptx_pattern_operand *o = operand_of(pattern, operand);
    const ir_expr *given = tmem_operand(e, pattern, operand);
    if (o && o->kind == PTX_PATTERN_CONSTANT) {
        *value = (int64_t)o->bits;
        return true;
    }
    return given && ir_is_int(tmem_resolve(w, given), value);
}

uint32_t tmem_address_operand(const ptx_pattern *pattern) {
    return pattern->op == PTX_OP_TCGEN05_LD ||
           pattern->op == PTX_OP_TCGEN05_LD_RED; /* behind its registers */
}

tmem_address tmem_operand_address(const tmem_walk *w, const ir_expr *e, const ptx_pattern *pattern,
                                  uint32_t operand) {
    const ir_expr *given = tmem_operand(e, pattern, operand);
    tmem_address a = given ? tmem_address_of(w, given) : (tmem_address){0};
    const ptx_pattern_operand *o = a.root ? &pattern->operands[operand] : NULL;
    if (o && o->kind == PTX_PATTERN_ADDRESS) {
        a.lane += (int64_t)o->bits >> 16;
        a.column += (int64_t)(o->bits & 0xffff);
    }
    return a;
}

bool tmem_is_allocated_by(const tmem_address *address, const tmem_event *allocation) {
    const ir_expr *slot = allocation->element;
    if (!slot || !address->root || slot->at.tensor != address->root->at.tensor ||
        slot->count != address->root->count)
        return false;
    for (uint32_t i = 0; i < slot->count; i++)
        if (slot->args[i] != address->root->args[i])
            return false;
    return true;
}

int64_t tmem_width(const char *name) {
    static const struct {
        const char *shape;
        int64_t columns; /* of .x1 */
    } shapes[] = {{".32x32b.", 1}, {".16x64b.", 2}, {".16x128b.", 4}, {".16x256b.", 8}, {".16x32bx2.", 1}};
    if (strncmp(name, "tcgen05.ld.", 11) != 0 && strncmp(name, "tcgen05.st.", 11) != 0)
        return 0;
    for (unsigned i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const char *at = strstr(name, shapes[i].shape);
        const char *count = at ? strstr(at + strlen(shapes[i].shape) - 1, ".x") : NULL;
        if (count)
            return shapes[i].columns * strtol(count + 2, NULL, 10);
    }
    return 0;
}

typedef struct slot_search {
    const ir_tensor *found;
} slot_search;

static void look_for_slot(void *user, const ir_expr *e) {
    slot_search *s = user;
    bool names = e->op == IR_LOAD || e->op == IR_ADDRESS || e->op == IR_DATA;
    if (names && is_shared(e->at.tensor))
        s->found = e->at.tensor;
}

const ir_tensor *tmem_slot_of(const tmem_walk *w, const ir_expr *e) {
    slot_search s = {NULL};
    ir_expr_visit(tmem_resolve(w, e), look_for_slot, &s);
    return s.found;
}

int64_t tmem_columns_of(const ir_tensor *t) {
    int64_t span, size;
    if (t->type.layout) {
        if (!layout_span(t->type.layout, LAYOUT_AXIS_TCOL, &span))
            return -1;
    } else if (t->type.rank != 2 || !ir_is_int(t->type.shape[1], &size)) {
        return -1;
    } else {
        span = size;
    }
    return (span * num_dtype_bits(t->type.dtype) * t->type.lanes + 31) / 32;
}
