/* SPDX-License-Identifier: Apache-2.0
 * What the files of this module share: a fact about one integer value, its algebra, and the object that holds
 * the facts of a function. Private to src/arith. */
#ifndef TIRC_ARITH_ARITH_FACT_H
#define TIRC_ARITH_ARITH_FACT_H
#include "arith/arith_context.h"

__extension__ typedef __int128 arith_wide;

typedef struct arith_fact {
    arith_range range;
    arith_modular modular;
} arith_fact;

/* The value is integer-like: a scalar of an integer type or a truth value. */
static inline bool arith_is_integral(ir_type type) {
    return type.kind == IR_TYPE_PRIM && type.lanes == 1 &&
           (num_dtype_is_integer((num_dtype)type.dtype) || type.dtype == NUM_DTYPE_BOOL);
}
/* What a value of the type may be; not known of all that has no int64_t for its bounds. */
static inline arith_range arith_type_range(ir_type type) {
    if (!arith_is_integral(type) || type.dtype == NUM_DTYPE_U64)
        return (arith_range){false, 0, 0};
    if (type.dtype == NUM_DTYPE_BOOL)
        return (arith_range){true, 0, 1};
    bool is_signed = num_dtype_class((num_dtype)type.dtype) == NUM_SIGNED;
    int64_t high = (int64_t)(UINT64_MAX >> (64 - num_dtype_bits((num_dtype)type.dtype) + is_signed));
    return (arith_range){true, is_signed ? -high - 1 : 0, high};
}

/* ---- arith_modular.c: residues of exact sums, differences and products ---- */
extern const arith_modular arith_any_residue;
arith_wide arith_gcd(arith_wide a, arith_wide b);
arith_wide arith_floor_divide(arith_wide a, arith_wide b);
/* modulus 0: exactly the remainder; otherwise brought into range; what does not fit is given up. */
arith_modular arith_modular_make(arith_wide modulus, arith_wide remainder);
arith_modular arith_modular_join(arith_modular a, arith_modular b); /* either holds */
/* Both hold; *empty when no value has both. */
arith_modular arith_modular_meet(arith_modular a, arith_modular b, bool *empty);
arith_modular arith_modular_add(arith_modular a, arith_modular b, int sign);
arith_modular arith_modular_multiply(arith_modular a, arith_modular b);
/* Largest power of two that divides the modulus: the low bits that are known. */
int64_t arith_modular_known_bits(arith_modular m);

/* ---- arith_bounds.c: facts of one operation from those of its arguments ---- */
arith_fact arith_fact_unknown(ir_type type);
arith_fact arith_fact_within(int64_t low, int64_t high);
arith_fact arith_fact_settle(arith_fact f); /* a range of one value and a residue of one value say the same */
/* Facts of a result whose exact value lies in [low, high] and has this residue, stored into type. */
arith_fact arith_fact_clip(ir_type type, arith_wide low, arith_wide high, arith_modular modular);
arith_fact arith_fact_join(ir_type type, arith_fact a, arith_fact b);
arith_fact arith_fact_meet(arith_fact a, arith_fact b); /* both hold */
arith_fact arith_fact_of_binary(const ir_expr *e, arith_fact a, arith_fact b);
arith_fact arith_fact_of_unary(const ir_expr *e, arith_fact a);
/* 1: the comparison always holds, -1: it never does, 0: open. */
int arith_fact_compare(ir_op op, arith_fact a, arith_fact b);

/* ---- arith_context.c ---- */
arith_fact arith_fact_of(arith_facts *facts, const ir_expr *e);
/* Bounds as wide numbers, never unknown: at worst those of the type. */
void arith_wide_bounds(arith_facts *facts, const ir_expr *e, arith_wide *low, arith_wide *high);
void arith_type_bounds(ir_type type, arith_wide *low, arith_wide *high);
/* The pure value that a let stands for; NULL for everything else. */
const ir_expr *arith_definition(arith_facts *facts, const ir_var *var);

/* ---- arith_prove.c ---- */
/* A sum of atoms that is known not to be negative. */
enum { ARITH_TERMS = 12 };
typedef struct arith_linear {
    unsigned count;
    struct {
        const ir_expr *atom;
        arith_wide factor;
    } terms[ARITH_TERMS];
    arith_wide constant;
} arith_linear;
typedef BASE_VECTOR(arith_linear) arith_relations;
const arith_relations *arith_known_relations(arith_facts *facts);
void arith_relation_add(arith_facts *facts, const arith_linear *sum);
void arith_count_steps(arith_facts *facts, uint64_t steps);
/* Adds what a comparison of two expressions says to the relations that hold from here on. */
void arith_relations_assume(arith_facts *facts, ir_op op, const ir_expr *a, const ir_expr *b);
/* As arith_fact_compare, with the relations that hold here. */
int arith_relations_compare(arith_facts *facts, ir_op op, const ir_expr *a, const ir_expr *b);
#endif
