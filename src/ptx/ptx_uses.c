/* SPDX-License-Identifier: Apache-2.0
 * Registers that an instruction writes and reads, from the table's count of destinations. */
#include "ptx/ptx_private.h"

static void add(ptx_register **list, uint32_t *count, ptx_register *reg) {
    if (*count < PTX_REGISTERS_MAX) {
        list[(*count)++] = reg;
    }
}

static void read_operand(const ptx_operand *operand, ptx_uses *uses) {
    if (operand->kind == PTX_OPERAND_REGISTER) {
        add(uses->read, &uses->read_count, operand->of.reg);
    }
    for (unsigned i = 0; i < operand->count; i++) {
        read_operand(&operand->args[i], uses);
    }
}

/* A destination: a register, {vector}, p|q or a part d.b0; an address among the destinations is read. */
static void write_operand(const ptx_operand *operand, ptx_uses *uses) {
    if (operand->kind == PTX_OPERAND_REGISTER) {
        add(uses->written, &uses->written_count, operand->of.reg);
    } else if (operand->kind == PTX_OPERAND_MEMORY) {
        read_operand(operand, uses);
    } else {
        for (unsigned i = 0; i < operand->count; i++) {
            write_operand(&operand->args[i], uses);
        }
        if (operand->kind == PTX_OPERAND_MASKED) {
            read_operand(operand, uses); /* the other bytes stay */
        }
    }
}

void ptx_instruction_uses(const ptx_instruction *instruction, ptx_uses *uses) {
    uses->written_count = uses->read_count = 0;
    if (instruction->guard != NULL) {
        add(uses->read, &uses->read_count, instruction->guard);
    }
    unsigned written = (unsigned)ptx_op_written(instruction);
    if (instruction->op == PTX_OP_CALL) {
        /* A list before the callee holds the returned values. */
        written = instruction->operand_count > 0 && instruction->operands[0].kind == PTX_OPERAND_LIST;
    }
    for (unsigned i = 0; i < instruction->operand_count; i++) {
        if (i < written) {
            write_operand(&instruction->operands[i], uses);
        }
        if (i >= written || ptx_op_reads_destination(instruction->op)) {
            read_operand(&instruction->operands[i], uses);
        }
    }
}
