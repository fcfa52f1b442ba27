/* SPDX-License-Identifier: Apache-2.0
 * ptx_table.def made ready for matching: per opcode its forms with modifier slots and operand classes. Built
 * once per use in an arena. Not for other modules. */
#ifndef TIRC_PTX_PTX_TABLE_H
#define TIRC_PTX_PTX_TABLE_H
#include "ptx/ptx.h"
#include "ptx/ptx_private.h"

#define PTX_SLOTS_MAX    20
#define PTX_OPERANDS_MAX 16
#define PTX_MOD_WORDS    ((PTX_MOD_COUNT + 63) / 64)

typedef struct ptx_slot {
    bool optional, is_type;
    uint64_t mods[PTX_MOD_WORDS];
} ptx_slot;

typedef enum ptx_class {
    PTX_CLASS_ADDRESS, /* [a] */
    PTX_CLASS_T,
    PTX_CLASS_U,
    PTX_CLASS_X,
    PTX_CLASS_W,
    PTX_CLASS_UW,
    PTX_CLASS_S,
    PTX_CLASS_US,
    PTX_CLASS_M,
    PTX_CLASS_8R,
    PTX_CLASS_16R,
    PTX_CLASS_32R,
    PTX_CLASS_16,
    PTX_CLASS_32,
    PTX_CLASS_64,
    PTX_CLASS_128,
    PTX_CLASS_PRED,
    PTX_CLASS_PQ,
    PTX_CLASS_PP,
    PTX_CLASS_TQ,
    PTX_CLASS_32Q,
    PTX_CLASS_TP,
    PTX_CLASS_MV,
    PTX_CLASS_A,
    PTX_CLASS_AD,
    PTX_CLASS_V,
    PTX_CLASS_V2,
    PTX_CLASS_V4,
    PTX_CLASS_U4,
    PTX_CLASS_VS,
    PTX_CLASS_VQ,
    PTX_CLASS_FD,
    PTX_CLASS_FA,
    PTX_CLASS_FB,
    PTX_CLASS_FC,
    PTX_CLASS_IMM,
    PTX_CLASS_ZERO,
    PTX_CLASS_C4,
    PTX_CLASS_C16,
    PTX_CLASS_C128,
    PTX_CLASS_PI,
    PTX_CLASS_SINK,
    PTX_CLASS_Y,
    PTX_CLASS_LABEL,
    PTX_CLASS_TABLE,
    PTX_CLASS_CALL,
    PTX_CLASS_COUNT
} ptx_class;

/* What a constant may be; a register may be anything. */
typedef enum ptx_range {
    PTX_RANGE_NONE,
    PTX_RANGE_BARRIER, /* 0 to 15 */
    PTX_RANGE_THREADS, /* a multiple of 32 */
    PTX_RANGE_BYTE,    /* 0 to 255 */
    PTX_RANGE_REGS,    /* a multiple of 8 from 24 to 256 */
    PTX_RANGE_COUNT,   /* not negative */
    PTX_RANGES
} ptx_range;

typedef struct ptx_operand_rule {
    const char *name; /* not terminated */
    uint8_t name_size;
    bool optional;
    ptx_mod condition; /* the operand is there exactly when this modifier is; NONE: no condition */
    ptx_class class;
    ptx_range range;
} ptx_operand_rule;

typedef struct ptx_form {
    const char *modifiers, *operand_text; /* as in the table */
    unsigned slot_count, operand_count;
    ptx_slot slots[PTX_SLOTS_MAX];
    ptx_operand_rule operands[PTX_OPERANDS_MAX];
    unsigned version, sm;
    char target;
} ptx_form;

/* An opcode with modifiers as written, and what the table says of it: a module has few of them. */
typedef struct ptx_spelling {
    ptx_op op;
    unsigned mod_count;
    ptx_mod mods[PTX_MODS_MAX];
    unsigned form_count;
    const ptx_form **forms; /* those that take the modifiers */
    bool has_range;         /* an operand of one of them takes some constants only */
    unsigned version;       /* lowest that knows one of the forms and each modifier */
    uint32_t number;        /* counts the spellings of a table from 0 */
    struct ptx_spelling *next;
} ptx_spelling;

/* Forms are read when an opcode is first asked for: most modules use few of them. */
typedef struct ptx_table {
    base_arena *arena;
    base_map *mods; /* lower-case text to number */
    ptx_form *forms[PTX_OP_COUNT];
    unsigned counts[PTX_OP_COUNT];
    ptx_spelling *spellings[PTX_OP_COUNT];
    uint32_t spelling_count;
} ptx_table;

ptx_table *ptx_table_create(base_arena *arena);
ptx_table *ptx_table_of(const ptx_module *module); /* the module's own */

/* NULL when a row of the table does not read, which the unit test excludes. */
const ptx_form *ptx_table_forms(ptx_table *table, ptx_op op, unsigned *count);
const ptx_spelling *ptx_table_spelling(ptx_table *table, const ptx_instruction *instruction);
bool ptx_form_takes_modifiers(const ptx_form *form, const ptx_instruction *instruction);
/* Registers of a matrix operand ('d', 'a', 'b', 'c') and their width; 0: unknown. */
unsigned ptx_fragment_registers(const ptx_instruction *instruction, char operand, unsigned *bits);
/* First .version and sm of a modifier or special register. */
unsigned ptx_mod_version(ptx_mod mod);
unsigned ptx_mod_sm(ptx_mod mod);
unsigned ptx_special_version(ptx_special special);
unsigned ptx_special_sm(ptx_special special);
/* "add{.sat}.s32 d, a, b" */
void ptx_form_print(ptx_op op, const ptx_form *form, base_builder *out);
/* The forms that are nearest to the modifiers, in words. */
void ptx_verify_list_forms(base_arena *arena, ptx_table *table, const ptx_instruction *instruction,
                           bool with_modifiers_only, base_builder *out);
#endif
