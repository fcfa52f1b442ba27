/* SPDX-License-Identifier: Apache-2.0
 * Number literals of the text form: 5, 0x1f, 5_int64, 1.5, 1e-3_float16, and the words inf and nan. Reads the
 * same in every locale. */
#include "ir/ir_parse.h"
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 400 };

static void *fail(ir_parser *parser, const char *help, const char *text) {
    return ir_parser_fail(parser, "T0305", ir_parser_span(parser), help, "%s", text);
}

/* The value in the type's range, or false. */
static bool fits(num_dtype dtype, uint64_t magnitude, bool negative) {
    if (num_dtype_class(dtype) == NUM_UNSIGNED)
        return magnitude <= num_maximum(dtype) && !(negative && magnitude);
    return magnitude <= num_maximum(dtype) + (negative ? 1 : 0);
}

static const ir_expr *integer(ir_parser *parser, const char *digits, size_t size, num_dtype dtype,
                              bool negative) {
    uint64_t value = 0;
    bool hex = size > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
    for (size_t i = hex ? 2 : 0; i < size; i++) {
        unsigned digit =
            digits[i] <= '9' ? (unsigned)(digits[i] - '0') : ((unsigned)digits[i] | 32) - 'a' + 10;
        if (digit >= (hex ? 16u : 10u))
            return fail(parser, "a type follows a number as in 5_int64", "this is not a number");
        if (value > (UINT64_MAX - digit) / (hex ? 16 : 10))
            return fail(parser, NULL, "this number does not fit 64 bits");
        value = value * (hex ? 16 : 10) + digit;
    }
    if (!fits(dtype, value, negative))
        return ir_parser_fail(parser, "T0305", ir_parser_span(parser),
                              "write a wider type behind it, as in 5_int64", "this number does not fit %s",
                              num_dtype_name(dtype));
    return ir_int(parser->module, dtype, (int64_t)(negative ? 0 - value : value));
}

static const ir_expr *real(ir_parser *parser, const char *digits, size_t size, num_dtype dtype,
                           bool negative) {
    char text[LONGEST + 1], *end;
    memcpy(text, digits, size);
    text[size] = 0;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double value = plain ? strtod_l(text, &end, plain) : strtod(text, &end);
    if (plain)
        freelocale(plain);
    if (*end)
        return fail(parser, "a type follows a number as in 1.5_float16", "this is not a number");
    const ir_expr *e = ir_float(parser->module, dtype, negative ? -value : value);
    if (!isfinite(value) || !isfinite(e->at.real))
        return ir_parser_fail(parser, "T0305", ir_parser_span(parser), "infinity is written inf",
                              "this number is too large for %s", num_dtype_name(dtype));
    return e;
}

/* Splits "1e-3_float16" at the underscore; false when what follows is no element type. */
static bool split(base_text text, size_t *digits, ir_type *type, bool *typed) {
    const char *under = memchr(text.data, '_', text.size);
    *typed = under != NULL;
    *digits = under ? (size_t)(under - text.data) : text.size;
    return !under || (ir_prim_find(under + 1, text.size - *digits - 1, type) && type->lanes == 1 &&
                      !ir_type_is_bool(*type));
}

const ir_expr *ir_parser_number(ir_parser *parser, bool negative) {
    base_text text = ir_parser_text(parser);
    ir_type type = ir_type_prim(NUM_DTYPE_I32, 1);
    size_t digits;
    bool typed;
    const ir_expr *e;
    if (text.size > LONGEST)
        return fail(parser, NULL, "this number is too long");
    if (!split(text, &digits, &type, &typed))
        return fail(parser, "element types are int8 to uint64, float16, bfloat16, float32 ...",
                    "what follows the underscore is not an element type");
    bool hex = digits > 1 && (text.data[1] == 'x' || text.data[1] == 'X');
    bool fraction = !hex && (memchr(text.data, '.', digits) || memchr(text.data, 'e', digits) ||
                             memchr(text.data, 'E', digits));
    if (!typed && fraction)
        type = ir_type_prim(NUM_DTYPE_F32, 1);
    if (fraction && !ir_type_is_float(type))
        return fail(parser, NULL, "an integer type cannot have this value");
    if (ir_type_is_float(type) && !hex)
        e = real(parser, text.data, digits, (num_dtype)type.dtype, negative);
    else if (ir_type_is_float(type))
        return fail(parser, NULL, "a float number is decimal");
    else
        e = integer(parser, text.data, digits, (num_dtype)type.dtype, negative);
    if (e)
        ir_parser_advance(parser);
    return e;
}
