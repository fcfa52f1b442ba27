/* SPDX-License-Identifier: Apache-2.0
 * One PTX instruction whose registers are not chosen yet: what a script's T.ptx call becomes in the IR, as
 * text.
 *
 *   @!$2 ld.shared.v2.b32 {%0, %1}, [$0+16] keep $3, $4
 *
 * %N is result N, $N argument N; `keep` gives the values that the results have where the guard is false.
 * Knows nothing of scripts, of the IR and of registers. */
#ifndef TIRC_PTX_PTX_PATTERN_H
#define TIRC_PTX_PTX_PATTERN_H
#include "ptx/ptx.h"

typedef enum ptx_pattern_kind {
    PTX_PATTERN_RESULT,
    PTX_PATTERN_ARGUMENT,
    PTX_PATTERN_CONSTANT, /* an integer, or bits of a float */
    PTX_PATTERN_SINK,     /* _ */
    PTX_PATTERN_SPECIAL,  /* %laneid; bits: ptx_special */
    PTX_PATTERN_VECTOR,   /* {a, b} */
    PTX_PATTERN_WIDE,     /* <a, b>: one register of 128 bits, its lower and its upper half */
    PTX_PATTERN_PAIR,     /* a|b */
    PTX_PATTERN_ADDRESS   /* [a + offset], [a, {b, c}] */
} ptx_pattern_kind;

typedef struct ptx_pattern_operand ptx_pattern_operand;
struct ptx_pattern_operand {
    ptx_pattern_kind kind;
    bool negated;      /* !$1 */
    uint8_t immediate; /* ptx_immediate_kind of a CONSTANT */
    uint32_t index;    /* of RESULT and ARGUMENT */
    uint64_t bits;     /* of a CONSTANT; byte offset of an ADDRESS, two's complement */
    uint32_t count;
    ptx_pattern_operand *args;
};

typedef struct ptx_pattern {
    ptx_op op;
    uint32_t mod_count, operand_count;
    ptx_mod mods[PTX_MODS_MAX];
    ptx_type type, type2; /* as in ptx_instruction */
    ptx_pattern_operand *operands;
    uint32_t results, arguments; /* highest number named, plus one */
    int64_t guard;               /* argument, or -1 */
    bool guard_negated;
    uint32_t keep_count;
    uint32_t *keep; /* arguments, one per result; none without a guard */
} ptx_pattern;

#define PTX_PATTERN_VALUES 512 /* results or arguments of one instruction */

/* Whether operand i must be a register of 8 bits, which other operands of bytes need not be (PTX ISA, cvt to
 * and from .e2m1x2, and one scale factor), or may be no constant. */
bool ptx_pattern_is_byte(const ptx_pattern *pattern, uint32_t i);
bool ptx_pattern_is_register(const ptx_pattern *pattern, uint32_t i);

/* What an argument or result is, for the check: a value of a register type, or an address of 64 bits. */
typedef ptx_type ptx_pattern_type;

/* The instruction table, read at the first question and kept in the arena; NULL in its place: read for one
 * question. */
typedef struct ptx_pattern_cache {
    base_arena *arena;
    struct ptx_table *table;
    struct base_map *parsed; /* by the address of the text, which stays where it is as long as the module */
} ptx_pattern_cache;

struct ptx_table *ptx_pattern_table(base_arena *arena, ptx_pattern_cache *cache); /* for this module */

/* False: `why` says what is wrong with the text. Modifiers stay as written. cache: NULL, or of the module
 * whose text it is; each text is read once then, and its operands are shared: they are not to be changed. */
bool ptx_pattern_parse(base_arena *arena, ptx_pattern_cache *cache, const char *text, ptx_pattern *pattern,
                       base_builder *why);
void ptx_pattern_print(const ptx_pattern *pattern, base_builder *out);
/* "tcgen05.ld.sync.aligned.32x32b.x4.b32" */
void ptx_pattern_print_name(const ptx_pattern *pattern, base_builder *out);
/* The opcode and modifiers of such a name; the rest of the pattern stays as it is. What is written in any
 * order comes out in the order of the table. */
bool ptx_pattern_name(base_arena *arena, ptx_pattern_cache *cache, const char *text, size_t size,
                      ptx_pattern *pattern, base_builder *why);
/* Against the instruction table, for the newest target: types of the results and arguments as registers have
 * them. False: `why` says what does not fit, `accepted` lists the forms. */
/* Of several results the one that the instruction gives as a predicate beside others (d|p) is a word in the
 * types of the caller: these become PRED, as the check wants them. */
void ptx_pattern_predicates(const ptx_pattern *pattern, ptx_type *results);
bool ptx_pattern_check(base_arena *arena, ptx_pattern_cache *cache, const ptx_pattern *pattern,
                       const ptx_type *results, const ptx_type *arguments, base_builder *why,
                       base_builder *accepted);

/* ---- what the table says of operands ---- */
typedef enum ptx_pattern_role {
    PTX_ROLE_VALUE, /* register or constant of `type`, or of `bits` */
    PTX_ROLE_PREDICATE,
    PTX_ROLE_PAIR,     /* a value and, if the writer wants it, a predicate */
    PTX_ROLE_VECTOR,   /* {count values}, of type and bits each */
    PTX_ROLE_MOVED,    /* mov: a value of `bits`, or parts of it */
    PTX_ROLE_CONSTANT, /* known while compiling */
    PTX_ROLE_CONSTANT_OR_PREDICATE,
    PTX_ROLE_SINK, /* _, written by us */
    PTX_ROLE_ADDRESS,
    PTX_ROLE_COORDINATES, /* [map, {count coordinates}] */
    PTX_ROLE_OTHER        /* labels, calls, video selectors: not for scripts */
} ptx_pattern_role;
typedef enum ptx_pattern_space {
    PTX_PLACE_GENERIC, /* 64 bits */
    PTX_PLACE_GLOBAL,
    PTX_PLACE_SHARED, /* 32 bits */
    PTX_PLACE_LOCAL,  /* local, const or param memory: not for scripts */
    PTX_PLACE_TENSOR  /* 32 bits, of tensor memory */
} ptx_pattern_space;
typedef struct ptx_pattern_rule {
    ptx_pattern_role role;
    const char *name; /* as in the table, "d", "[addr]" */
    bool written, optional, sinkable;
    ptx_type type;        /* NONE: any of those bits */
    unsigned bits, count; /* count 0 of a VECTOR: as many as the writer gives */
    ptx_pattern_space space;
} ptx_pattern_rule;
typedef struct ptx_pattern_form {
    uint32_t count;
    ptx_pattern_rule rules[16];
} ptx_pattern_form;
/* The forms that are nearest to the pattern's modifiers, in words. */
void ptx_pattern_near(base_arena *arena, ptx_pattern_cache *cache, const ptx_pattern *pattern,
                      base_builder *out);
/* The modifiers that forms of the instruction take; op NONE: the names of all instructions. */
uint32_t ptx_pattern_words(base_arena *arena, ptx_pattern_cache *cache, ptx_op op, const char ***words);
/* Forms that take the pattern's modifiers; 0: none does (`why` names the modifier, `accepted` lists the
 * forms). */
uint32_t ptx_pattern_forms(base_arena *arena, ptx_pattern_cache *cache, const ptx_pattern *pattern,
                           ptx_pattern_form **forms, base_builder *why, base_builder *accepted);
#endif
