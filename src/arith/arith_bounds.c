/* SPDX-License-Identifier: Apache-2.0
 * Bounds and modular sets, computed together, children first, once per expression. Must not assume that
 * arithmetic does not overflow: results are clipped by what the type can hold. */
#include "arith/arith_bounds.h"
#include "num/num.h"

typedef __int128 wide;

typedef struct fact {
    arith_range range;
    arith_modular modular;
} fact;

struct arith_facts {
    base_arena *arena;
    const ir_function *function;
    base_map *exprs; /* ir_expr id + 1 -> fact */
    base_map *vars;  /* ir_var id + 1 -> fact */
};

/* ---- small algebra ---- */
static wide wide_gcd(wide a, wide b) {
    a = a < 0 ? -a : a, b = b < 0 ? -b : b;
    while (b) {
        wide r = a % b;
        a = b, b = r;
    }
    return a;
}
static wide floor_divide(wide a, wide b) {
    wide q = a / b;
    return q - (a % b && (a % b < 0) != (b < 0));
}

static const arith_modular any_residue = {1, 0};
static const arith_range no_range = {false, 0, 0};

static arith_modular make_modular(wide modulus, wide remainder) {
    modulus = modulus < 0 ? -modulus : modulus;
    if (modulus == 0) {
        if (remainder < INT64_MIN || remainder > INT64_MAX)
            return any_residue;
        return (arith_modular){0, (int64_t)remainder};
    }
    if (modulus > INT64_MAX)
        return any_residue;
    return (arith_modular){(int64_t)modulus,
                           (int64_t)(remainder - floor_divide(remainder, modulus) * modulus)};
}

static bool is_integral(ir_type type) {
    return type.kind == IR_TYPE_PRIM && type.lanes == 1 &&
           (num_dtype_is_integer((num_dtype)type.dtype) || type.dtype == NUM_DTYPE_BOOL);
}

static arith_range type_range(ir_type type) {
    if (!is_integral(type) || type.dtype == NUM_DTYPE_U64)
        return no_range;
    if (type.dtype == NUM_DTYPE_BOOL)
        return (arith_range){true, 0, 1};
    return (arith_range){true, num_minimum((num_dtype)type.dtype),
                         (int64_t)num_maximum((num_dtype)type.dtype)};
}

/* Facts of a result whose exact value lies in [low, high] and has this residue, stored into type. */
static fact clip(ir_type type, wide low, wide high, arith_modular modular) {
    arith_range all = type_range(type);
    wide least = all.known ? all.low : 0, most = all.known ? all.high : INT64_MAX;
    if (low >= least && high <= most)
        return (fact){{true, (int64_t)low, (int64_t)high}, modular};
    if (modular.modulus == 0)
        modular = any_residue;
    wide span = (wide)1 << num_dtype_bits((num_dtype)type.dtype);
    return (fact){all, make_modular(wide_gcd(modular.modulus, span), modular.remainder)};
}

static fact unknown(ir_type type) {
    return (fact){type_range(type), any_residue};
}
static fact within(int64_t low, int64_t high) {
    return (fact){{true, low, high}, low == high ? (arith_modular){0, low} : any_residue};
}
/* What the range pins down, the residue says too. */
static fact settle(fact f) {
    if (f.range.known && f.range.low == f.range.high)
        f.modular = (arith_modular){0, f.range.low};
    return f;
}

static arith_modular join_modular(arith_modular a, arith_modular b) {
    wide g = wide_gcd(wide_gcd(a.modulus, b.modulus), (wide)a.remainder - b.remainder);
    return make_modular(g, a.remainder);
}

static fact join(ir_type type, fact a, fact b) {
    fact f = unknown(type);
    if (a.range.known && b.range.known)
        f.range = (arith_range){true, a.range.low < b.range.low ? a.range.low : b.range.low,
                                a.range.high > b.range.high ? a.range.high : b.range.high};
    f.modular = join_modular(a.modular, b.modular);
    return f;
}

/* ---- operations ---- */
static fact add(ir_type type, fact a, fact b, int sign) {
    arith_modular m = make_modular(wide_gcd(a.modular.modulus, b.modular.modulus),
                                   (wide)a.modular.remainder + sign * (wide)b.modular.remainder);
    if (!a.range.known || !b.range.known)
        return clip(type, (wide)INT64_MIN * 4, (wide)INT64_MAX * 4, m);
    wide low = sign > 0 ? b.range.low : -(wide)b.range.high,
         high = sign > 0 ? b.range.high : -(wide)b.range.low;
    return clip(type, a.range.low + low, a.range.high + high, m);
}

static void corners(fact a, fact b, wide (*fn)(wide, wide), wide *low, wide *high) {
    int64_t x[2] = {a.range.low, a.range.high}, y[2] = {b.range.low, b.range.high};
    for (int i = 0; i < 4; i++) {
        wide v = fn(x[i & 1], y[i >> 1]);
        *low = i == 0 || v < *low ? v : *low;
        *high = i == 0 || v > *high ? v : *high;
    }
}
static wide times(wide a, wide b) {
    return a * b;
}
static wide truncate_divide(wide a, wide b) {
    return a / b;
}

static fact multiply(ir_type type, fact a, fact b) {
    arith_modular m = any_residue;
    wide ma = a.modular.modulus, ra = a.modular.remainder, mb = b.modular.modulus, rb = b.modular.remainder;
    /* Products of large parts are given up; 2^62 keeps the sums below inside 128 bits. */
    if (ma < ((wide)1 << 62) && mb < ((wide)1 << 62))
        m = make_modular(wide_gcd(wide_gcd(ma * mb, ma * rb), mb * ra), ra * rb);
    if (!a.range.known || !b.range.known)
        return clip(type, (wide)INT64_MIN * 4, (wide)INT64_MAX * 4, m);
    wide low, high;
    corners(a, b, times, &low, &high);
    return clip(type, low, high, m);
}

/* Division by a divisor that is positive everywhere; anything else has no facts. */
static fact divide(ir_type type, fact a, fact b, bool floors) {
    if (!a.range.known || !b.range.known || b.range.low <= 0)
        return unknown(type);
    wide low, high;
    corners(a, b, floors ? floor_divide : truncate_divide, &low, &high);
    arith_modular m = any_residue;
    int64_t c = b.range.low;
    if (c == b.range.high && a.modular.modulus % c == 0 && (floors || a.range.low >= 0))
        m = make_modular(a.modular.modulus / c, floor_divide(a.modular.remainder, c));
    return clip(type, low, high, m);
}

static fact modulo(ir_type type, fact a, fact b, bool floors) {
    if (!a.range.known || !b.range.known || b.range.low <= 0)
        return unknown(type);
    fact f = unknown(type);
    int64_t most = b.range.high - 1, c = b.range.low;
    if (a.range.low >= 0 && a.range.high < b.range.low)
        return (fact){a.range, a.modular};
    if (floors || a.range.low >= 0)
        f.range = (arith_range){true, 0, a.range.low >= 0 && a.range.high < most ? a.range.high : most};
    else
        f.range = (arith_range){true, a.range.low > -most ? a.range.low : -most,
                                a.range.high <= 0 ? 0 : (a.range.high < most ? a.range.high : most)};
    if (c == b.range.high && (floors || a.range.low >= 0)) {
        if (a.modular.modulus % c == 0) {
            int64_t r = (int64_t)(a.modular.remainder - floor_divide(a.modular.remainder, c) * c);
            return within(r, r);
        }
        f.modular = make_modular(wide_gcd(a.modular.modulus, c), a.modular.remainder);
    }
    return f;
}

static fact shift(ir_type type, ir_op op, fact a, fact b) {
    unsigned bits = num_dtype_bits((num_dtype)type.dtype);
    if (!b.range.known || b.range.low != b.range.high || b.range.low < 0 || b.range.low >= (int64_t)bits ||
        b.range.low > 62)
        return unknown(type);
    fact power = within((int64_t)1 << b.range.low, (int64_t)1 << b.range.low);
    return op == IR_SHL ? multiply(type, a, power) : divide(type, a, power, true);
}

/* Smallest 2^k - 1 that is at least v. */
static int64_t fill(int64_t v) {
    uint64_t m = (uint64_t)v;
    for (unsigned s = 1; s < 64; s *= 2)
        m |= m >> s;
    return (int64_t)m;
}

static fact bit_and(ir_type type, fact a, fact b) {
    fact f = unknown(type);
    bool pa = a.range.known && a.range.low >= 0, pb = b.range.known && b.range.low >= 0;
    if (pa || pb) {
        int64_t high = pa && pb ? (a.range.high < b.range.high ? a.range.high : b.range.high)
                                : (pa ? a.range.high : b.range.high);
        f.range = (arith_range){true, 0, high};
    }
    for (int side = 0; side < 2; side++) {
        fact x = side ? a : b, y = side ? b : a; /* x: the mask */
        if (!x.range.known || x.range.low != x.range.high || x.range.low == 0)
            continue;
        int64_t mask = x.range.low;
        uint64_t lowest = (uint64_t)mask & (0 - (uint64_t)mask);
        if (mask > 0 && mask < INT64_MAX && (mask & (mask + 1)) == 0) {
            wide n = (wide)mask + 1, g = wide_gcd(y.modular.modulus, n);
            if (g == n)
                return within((int64_t)(y.modular.remainder & mask), (int64_t)(y.modular.remainder & mask));
            f.modular = make_modular(g, y.modular.remainder);
        } else if (lowest <= INT64_MAX)
            f.modular = make_modular((wide)lowest, 0);
    }
    return f;
}

/* Low bits that are known: a power of two, all of them for a constant. */
static int64_t known_bits(arith_modular m) {
    return m.modulus == 0 ? (int64_t)1 << 62 : m.modulus & -m.modulus;
}

static fact bit_or(ir_type type, ir_op op, fact a, fact b) {
    fact f = unknown(type);
    int64_t ka = known_bits(a.modular), kb = known_bits(b.modular), known = ka < kb ? ka : kb;
    int64_t low_bits = op == IR_BITOR ? a.modular.remainder | b.modular.remainder
                                      : a.modular.remainder ^ b.modular.remainder;
    if (known > 1)
        f.modular = make_modular(known, low_bits & (known - 1));
    if (a.range.known && a.range.low >= 0 && b.range.known && b.range.low >= 0) {
        int64_t low = op == IR_BITOR ? (a.range.low > b.range.low ? a.range.low : b.range.low) : 0;
        f.range = (arith_range){true, low, fill(a.range.high | b.range.high)};
    }
    return f;
}

static fact smaller_or_larger(ir_type type, ir_op op, fact a, fact b) {
    fact f = join(type, a, b);
    if (!a.range.known || !b.range.known)
        return f;
    if (op == IR_MIN)
        f.range.high = a.range.high < b.range.high ? a.range.high : b.range.high;
    else
        f.range.low = a.range.low > b.range.low ? a.range.low : b.range.low;
    /* One side always wins. */
    if (a.range.high <= b.range.low)
        return op == IR_MIN ? a : b;
    if (b.range.high <= a.range.low)
        return op == IR_MIN ? b : a;
    return f;
}

static fact cast(ir_type to, const ir_expr *from, fact a) {
    if (!is_integral(from->type))
        return unknown(to);
    if (to.dtype == NUM_DTYPE_BOOL)
        return unknown(to);
    if (!a.range.known)
        return clip(to, (wide)INT64_MIN * 4, (wide)INT64_MAX * 4, a.modular);
    return clip(to, a.range.low, a.range.high, a.modular);
}

/* ---- index queries ---- */
static const int64_t block_limit[3] = {1024, 1024, 64};
static const int64_t grid_limit[3] = {2147483647, 65535, 65535};

/* Bounds of a launch dimension, inside what hardware allows. */
static arith_range dimension(arith_facts *facts, const ir_expr *const *sizes, int axis,
                             const int64_t *limits) {
    arith_range r = {true, 1, limits[axis]};
    if (!facts->function || !facts->function->launch.present || !sizes[axis])
        return r;
    arith_range given = arith_bounds(facts, sizes[axis]);
    if (given.known && given.low > r.low && given.low <= r.high)
        r.low = given.low;
    if (given.known && given.high < r.high && given.high >= r.low)
        r.high = given.high;
    return r;
}

static fact query(arith_facts *facts, const ir_expr *e) {
    static const ir_launch none;
    const ir_launch *launch = facts->function ? &facts->function->launch : &none;
    int axis = (int)e->at.integer;
    arith_range r;
    switch (e->op) {
    case IR_THREAD_IDX:
        return within(0, dimension(facts, launch->block, axis, block_limit).high - 1);
    case IR_BLOCK_IDX:
        return within(0, dimension(facts, launch->grid, axis, grid_limit).high - 1);
    case IR_BLOCK_DIM:
        r = dimension(facts, launch->block, axis, block_limit);
        return within(r.low, r.high);
    case IR_GRID_DIM:
        r = dimension(facts, launch->grid, axis, grid_limit);
        return within(r.low, r.high);
    default:
        break;
    }
    int64_t threads = 1;
    for (int i = 0; i < 3; i++)
        threads *= dimension(facts, launch->block, i, block_limit).high;
    threads = threads > 1024 ? 1024 : threads;
    if (e->op == IR_LANE_ID)
        return within(0, threads < 32 ? threads - 1 : 31);
    return e->op == IR_WARP_ID ? within(0, (threads - 1) / 32) : within(0, threads - 1);
}

/* ---- one expression ---- */
static fact *find(arith_facts *facts, const ir_expr *e) {
    return base_map_get(facts->exprs, (uint64_t)e->id + 1);
}

static fact binary(const ir_expr *e, fact a, fact b) {
    switch (e->op) {
    case IR_ADD:
        return add(e->type, a, b, 1);
    case IR_SUB:
        return add(e->type, a, b, -1);
    case IR_MUL:
        return multiply(e->type, a, b);
    case IR_FLOORDIV:
        return divide(e->type, a, b, true);
    case IR_FLOORMOD:
        return modulo(e->type, a, b, true);
    case IR_TRUNCDIV:
        return divide(e->type, a, b, false);
    case IR_TRUNCMOD:
        return modulo(e->type, a, b, false);
    case IR_MIN:
    case IR_MAX:
        return smaller_or_larger(e->type, e->op, a, b);
    case IR_BITAND:
        return bit_and(e->type, a, b);
    case IR_BITOR:
    case IR_BITXOR:
        return bit_or(e->type, e->op, a, b);
    case IR_SHL:
    case IR_SHR:
        return shift(e->type, e->op, a, b);
    default:
        return unknown(e->type);
    }
}

static fact unary(const ir_expr *e, fact a) {
    unsigned bits = num_dtype_bits((num_dtype)e->args[0]->type.dtype);
    switch (e->op) {
    case IR_NEG:
        return add(e->type, within(0, 0), a, -1);
    case IR_BITNOT:
        return add(e->type, within(-1, -1), a, -1);
    case IR_CAST:
        return cast(e->type, e->args[0], a);
    case IR_POPCOUNT:
    case IR_CLZ:
        return within(0, bits);
    case IR_ABS:
        if (a.range.known && a.range.low >= 0)
            return a;
        if (a.range.known) {
            wide low = -(wide)a.range.low, high = a.range.high > low ? a.range.high : low;
            return clip(e->type, 0, high, any_residue);
        }
        return unknown(e->type);
    default:
        return unknown(e->type);
    }
}

static fact compute(arith_facts *facts, const ir_expr *e) {
    if (!is_integral(e->type))
        return (fact){no_range, any_residue};
    fact *bound;
    switch (e->op) {
    case IR_INT:
        if (e->type.dtype == NUM_DTYPE_U64 && e->at.integer < 0)
            return unknown(e->type);
        return within(e->at.integer, e->at.integer);
    case IR_VAR:
        bound = base_map_get(facts->vars, (uint64_t)e->at.var->id + 1);
        return bound ? *bound : unknown(e->type);
    case IR_THREAD_IDX:
    case IR_BLOCK_IDX:
    case IR_BLOCK_DIM:
    case IR_GRID_DIM:
    case IR_LANE_ID:
    case IR_WARP_ID:
    case IR_LINEAR_THREAD:
        return query(facts, e);
    case IR_SELECT:
    case IR_IF_THEN_ELSE:
        return join(e->type, *find(facts, e->args[1]), *find(facts, e->args[2]));
    default:
        break;
    }
    if (!(ir_op_information(e->op)->flags & IR_FLAG_PURE))
        return unknown(e->type);
    if (e->count == 2 && is_integral(e->args[0]->type) && is_integral(e->args[1]->type))
        return binary(e, *find(facts, e->args[0]), *find(facts, e->args[1]));
    if (e->count == 1)
        return unary(e, *find(facts, e->args[0]));
    return unknown(e->type);
}

static void visit(void *user, const ir_expr *e) {
    arith_facts *facts = user;
    if (find(facts, e))
        return;
    fact f = settle(compute(facts, e));
    base_map_set(facts->exprs, (uint64_t)e->id + 1, base_arena_copy(facts->arena, &f, sizeof f));
}

static fact ask(arith_facts *facts, const ir_expr *e) {
    if (!find(facts, e))
        ir_expr_visit(e, visit, facts);
    return *find(facts, e);
}

/* ---- variables ---- */
static void bind(arith_facts *facts, const ir_var *var, fact f) {
    f = settle(f);
    base_map_set(facts->vars, (uint64_t)var->id + 1, base_arena_copy(facts->arena, &f, sizeof f));
}

void arith_bind(arith_facts *facts, const ir_var *var, arith_range range, arith_modular modular) {
    bind(facts, var, (fact){range, modular});
}

/* The variable runs from start below start + extent in steps. */
static void bind_loop(arith_facts *facts, const ir_stmt *loop) {
    ir_type type = loop->as.loop.var->type;
    fact start = ask(facts, loop->as.loop.start), extent = ask(facts, loop->as.loop.extent);
    int64_t step = 1;
    ir_is_int(loop->as.loop.step, &step);
    arith_modular m = make_modular(wide_gcd(start.modular.modulus, step), start.modular.remainder);
    fact f = {type_range(type), m};
    if (start.range.known && extent.range.known) {
        wide high = (wide)start.range.high + extent.range.high - 1;
        if (start.range.low == start.range.high && extent.range.high > 0)
            high -= (extent.range.high - 1) % step;
        if (high < start.range.low) /* never runs */
            high = start.range.low;
        arith_range all = type_range(type);
        if (all.known && high <= all.high)
            f.range = (arith_range){true, start.range.low, (int64_t)high};
        else if (all.known)
            f.range.low = start.range.low;
    }
    /* Stepping may pass the end of the type only by wrapping, which leaves powers of two. */
    if (!f.range.known || f.range.high == type_range(type).high)
        f.modular =
            make_modular(wide_gcd(m.modulus, (wide)1 << num_dtype_bits((num_dtype)type.dtype)), m.remainder);
    bind(facts, loop->as.loop.var, f);
}

static void walk(arith_facts *facts, const ir_stmt *s) {
    if (!s)
        return;
    switch (s->kind) {
    case IR_STMT_BLOCK:
        for (size_t i = 0; i < s->as.block.body.count; i++)
            walk(facts, s->as.block.body.items[i]);
        break;
    case IR_STMT_LET:
        if (is_integral(s->as.let.var->type))
            bind(facts, s->as.let.var, ask(facts, s->as.let.value));
        break;
    case IR_STMT_IF:
        walk(facts, s->as.branch.then_body);
        walk(facts, s->as.branch.else_body);
        break;
    case IR_STMT_FOR:
        if (is_integral(s->as.loop.var->type))
            bind_loop(facts, s);
        walk(facts, s->as.loop.body);
        break;
    case IR_STMT_WHILE:
        walk(facts, s->as.while_loop.body);
        break;
    default:
        break;
    }
}

arith_facts *arith_facts_create(base_arena *arena, const ir_function *function) {
    arith_facts *facts = BASE_NEW(arena, arith_facts);
    *facts = (arith_facts){arena, function, base_map_create(arena), base_map_create(arena)};
    if (!function)
        return facts;
    /* A variable that is the size of a tensor parameter cannot be negative. */
    for (size_t i = 0; i < function->parameters.count; i++) {
        const ir_tensor *tensor = function->parameters.items[i].tensor;
        for (uint32_t d = 0; tensor && d < tensor->type.rank; d++) {
            const ir_expr *size = tensor->type.shape[d];
            arith_range r = type_range(size->type);
            if (size->op == IR_VAR && r.known)
                bind(facts, size->at.var, (fact){{true, 0, r.high}, any_residue});
        }
    }
    walk(facts, function->body);
    return facts;
}

/* ---- questions ---- */
arith_range arith_bounds(arith_facts *facts, const ir_expr *e) {
    return ask(facts, e).range;
}
arith_modular arith_modular_set(arith_facts *facts, const ir_expr *e) {
    return ask(facts, e).modular;
}
bool arith_is_non_negative(arith_facts *facts, const ir_expr *e) {
    arith_range r = ask(facts, e).range;
    return (e->type.dtype == NUM_DTYPE_U64 && is_integral(e->type)) || (r.known && r.low >= 0);
}
bool arith_is_positive(arith_facts *facts, const ir_expr *e) {
    arith_range r = ask(facts, e).range;
    return r.known && r.low > 0;
}
bool arith_is_multiple(arith_facts *facts, const ir_expr *e, int64_t divisor) {
    arith_modular m = ask(facts, e).modular;
    return divisor > 0 && m.modulus % divisor == 0 && m.remainder % divisor == 0;
}
bool arith_is_never_multiple(arith_facts *facts, const ir_expr *e, int64_t divisor) {
    arith_modular m = ask(facts, e).modular;
    wide g = wide_gcd(m.modulus, divisor);
    return g > 1 && m.remainder % g != 0;
}
bool arith_is_constant(arith_facts *facts, const ir_expr *e, int64_t *value) {
    arith_range r = ask(facts, e).range;
    if (r.known && r.low == r.high)
        *value = r.low;
    return r.known && r.low == r.high;
}
