/* SPDX-License-Identifier: Apache-2.0
 * Modular sets: modulus * k + remainder, and the algebra of exact sums and products over them. Must not know
 * types: what overflows is the business of arith_bounds.c. */
#include "arith/arith_fact.h"

const arith_modular arith_any_residue = {1, 0};

arith_wide arith_gcd(arith_wide a, arith_wide b) {
    a = a < 0 ? -a : a, b = b < 0 ? -b : b;
    while (b) {
        arith_wide r = a % b;
        a = b, b = r;
    }
    return a;
}

arith_wide arith_floor_divide(arith_wide a, arith_wide b) {
    arith_wide q = a / b;
    return q - (a % b && (a % b < 0) != (b < 0));
}

arith_modular arith_modular_make(arith_wide modulus, arith_wide remainder) {
    modulus = modulus < 0 ? -modulus : modulus;
    if (modulus == 0) {
        if (remainder < INT64_MIN || remainder > INT64_MAX)
            return arith_any_residue;
        return (arith_modular){0, (int64_t)remainder};
    }
    if (modulus > INT64_MAX)
        return arith_any_residue;
    return (arith_modular){(int64_t)modulus,
                           (int64_t)(remainder - arith_floor_divide(remainder, modulus) * modulus)};
}

arith_modular arith_modular_join(arith_modular a, arith_modular b) {
    arith_wide g = arith_gcd(arith_gcd(a.modulus, b.modulus), (arith_wide)a.remainder - b.remainder);
    return arith_modular_make(g, a.remainder);
}

/* The sets meet where the remainders agree modulo the common divisor. Where one modulus divides the other the
 * finer one is the meet; elsewhere the larger one is kept, which is sound and loses little. */
arith_modular arith_modular_meet(arith_modular a, arith_modular b, bool *empty) {
    arith_wide g = arith_gcd(a.modulus, b.modulus), distance = (arith_wide)a.remainder - b.remainder;
    *empty = g == 0 ? distance != 0 : distance % g != 0;
    if (a.modulus == 0 || b.modulus == 0)
        return a.modulus == 0 ? a : b;
    return a.modulus >= b.modulus ? a : b;
}

arith_modular arith_modular_add(arith_modular a, arith_modular b, int sign) {
    return arith_modular_make(arith_gcd(a.modulus, b.modulus),
                              (arith_wide)a.remainder + sign * (arith_wide)b.remainder);
}

arith_modular arith_modular_multiply(arith_modular a, arith_modular b) {
    arith_wide ma = a.modulus, ra = a.remainder, mb = b.modulus, rb = b.remainder;
    /* Products of large parts are given up; 2^62 keeps the sums below inside 128 bits. */
    if (ma >= ((arith_wide)1 << 62) || mb >= ((arith_wide)1 << 62))
        return arith_any_residue;
    return arith_modular_make(arith_gcd(arith_gcd(ma * mb, ma * rb), mb * ra), ra * rb);
}

int64_t arith_modular_known_bits(arith_modular m) {
    return m.modulus == 0 ? (int64_t)1 << 62 : m.modulus & -m.modulus;
}
