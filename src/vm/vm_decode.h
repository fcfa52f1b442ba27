/* SPDX-License-Identifier: Apache-2.0
 * Shared by the decoding files: a function on its way from PTX instructions to vm_op records. Operands are
 * virtual references until vm_allocate.c gives registers their rows. */
#ifndef TIRC_VM_VM_DECODE_H
#define TIRC_VM_VM_DECODE_H
#include "vm/vm_internal.h"

typedef struct vm_graph vm_graph;
typedef struct vm_decoder {
    vm_program *program;
    vm_function *function;
    const ptx_function *source;
    base_arena *arena; /* gone after the function */
    const ptx_instruction *instruction;
    uint32_t index; /* of the instruction */
    BASE_VECTOR(vm_op) ops;
    BASE_VECTOR(uint32_t) instruction_of; /* parallel to ops */
    BASE_VECTOR(uint32_t) extras;
    BASE_VECTOR(uint8_t) rows_of; /* per virtual register: 0 predicate, 1, 2 or 4 */
    uint32_t *first_op;           /* per instruction, and one for the end */
    base_map *frame_of;           /* ptx_variable of the function to its frame offset + 1 */
    vm_graph *graph;              /* after vm_optimise */
    uint8_t *group;  /* per operation: loads that vm_merge.c put side by side from here on; 0: none */
    uint32_t *alias; /* per register, after vm_optimise: what stands for it, or NONE */
    uint32_t carry;  /* virtual register of CC.CF; NONE until used */
    bool failed;     /* the instruction is not supported */
    bool poll;       /* give others a turn after this instruction */
    uint32_t poll_pc;
} vm_decoder;

#define VM_DROPPED 1 /* sub of an UNGUARD that is left out */

/* ---- vm_decode.c ---- */
uint32_t vm_decode_temporary(vm_decoder *d, unsigned rows);
uint32_t vm_decode_constant(vm_decoder *d, uint64_t value, bool wide);
uint32_t vm_decode_fill(vm_decoder *d, vm_fill fill); /* row of the launch pool filled at launch */
vm_op *vm_decode_emit(vm_decoder *d, vm_code code, unsigned sub);
void vm_decode_lane(vm_decoder *d, vm_lane lane, uint32_t to, uint32_t a, uint32_t b, uint32_t c,
                    uint64_t imm);
uint32_t vm_decode_lane_new(vm_decoder *d, vm_lane lane, uint32_t a, uint32_t b, uint32_t c, uint64_t imm);
uint32_t vm_decode_extras(vm_decoder *d, const uint32_t *list, uint32_t count);
/* An external operation whose operands stand in a list. */
void vm_decode_listed(vm_decoder *d, vm_external external, const uint32_t *list, uint32_t count,
                      uint64_t imm);
void vm_decode_unsupported(vm_decoder *d);
const ptx_operand *vm_decode_operand(const vm_decoder *d, unsigned index); /* NULL: absent */
unsigned vm_decode_rows(ptx_type type);
unsigned vm_decode_rows_of(const vm_decoder *d, uint32_t ref);
/* Operand as a source of this type, or as destination register (a temporary for a sink). */
uint32_t vm_decode_source(vm_decoder *d, const ptx_operand *operand, ptx_type type);
uint32_t vm_decode_read(vm_decoder *d, unsigned index, ptx_type type);
uint32_t vm_decode_target(vm_decoder *d, const ptx_operand *operand, ptx_type type);
uint32_t vm_decode_write(vm_decoder *d, unsigned index, ptx_type type);
uint32_t vm_decode_predicate(vm_decoder *d, const ptx_operand *operand);
unsigned vm_decode_register_bits(const ptx_operand *operand, ptx_type otherwise);
bool vm_decode_signed(ptx_type type);
bool vm_decode_float(ptx_type type);
num_rounding vm_decode_rounding(const vm_decoder *d);
/* Value of a known constant row. */
bool vm_decode_known(const vm_program *program, uint32_t ref, bool wide, uint64_t *value);
/* 32-bit row with the value of a narrow integer of this type, extended by its sign. */
uint32_t vm_decode_extend(vm_decoder *d, uint32_t ref, ptx_type type);

/* ---- by kind of instruction; each answers false when it does not know the instruction ---- */
bool vm_decode_integer(vm_decoder *d);  /* vm_decode_integer.c */
bool vm_decode_floating(vm_decoder *d); /* vm_decode_float.c */
bool vm_decode_compare(vm_decoder *d);  /* vm_decode_compare.c */
bool vm_decode_convert(vm_decoder *d);  /* vm_decode_convert.c */
bool vm_decode_move(vm_decoder *d);   /* vm_decode_move.c: mov, cvta, special registers, shuffles of bytes */
bool vm_decode_memory(vm_decoder *d); /* vm_decode_memory.c: ld, st, atom, red */
void vm_decode_matrix_end(vm_decoder *d); /* before ret and exit: wgmmas in flight */
bool vm_decode_matrix(vm_decoder *d);     /* vm_decode_matrix.c: mma, wgmma, ldmatrix */
bool vm_decode_tmem(vm_decoder *d);       /* vm_decode_tmem.c: tensor memory */
bool vm_decode_copy(vm_decoder *d);       /* vm_decode_copy.c: asynchronous copies, tensor maps */
bool vm_decode_tensor(vm_decoder *d);     /* vm_decode_tensor.c: the matrix unit of Blackwell */
bool vm_decode_sync(vm_decoder *d);       /* vm_decode_sync.c: mbarrier, clusters */
bool vm_decode_control(vm_decoder *d);    /* vm_decode_control.c: branches, calls, barriers, collectives */

/* vm_decode_memory.c: the address of memory operand `index` as a 64-bit row: in the state space `space`, or
 * generic. */
uint32_t vm_decode_place(vm_decoder *d, unsigned index, vm_space space);
uint32_t vm_decode_place_of(vm_decoder *d, const ptx_operand *operand, vm_space space);

/* vm_decode_tmem.c: a tensor-memory address in [ ] */
uint32_t vm_decode_tensor_address(vm_decoder *d, unsigned index);

/* vm_decode_move.c */
uint32_t vm_decode_special(vm_decoder *d, uint64_t special, bool wide);
/* An offset in shared memory becomes an address: with the rank of the CTA where the module knows clusters. */
uint32_t vm_decode_window(vm_decoder *d, uint32_t address, bool wide);
uint32_t vm_decode_address(vm_decoder *d, const ptx_variable *variable, int64_t offset, bool wide);

/* ---- vm_graph.c ---- */
typedef struct vm_block {
    uint32_t begin, end; /* operations */
    uint32_t *successors, successor_count;
    uint32_t *predecessors, predecessor_count;
    uint32_t position; /* in the order; UINT32_MAX: unreachable */
} vm_block;
struct vm_graph {
    uint32_t count;
    vm_block *blocks;
    uint32_t *block_of; /* per operation */
    uint32_t *order, order_count;
    uint32_t *first, *size; /* by position: the dominator tree as ranges of a walk */
};
vm_graph *vm_graph_build(vm_decoder *d);
bool vm_graph_dominates(const vm_graph *g, uint32_t block, uint32_t other);

/* ---- vm_optimise.c and vm_allocate.c ---- */
typedef struct vm_operands { /* the references of one operation */
    uint32_t *reads[PTX_REGISTERS_MAX], *writes[PTX_REGISTERS_MAX];
    unsigned read_count, write_count;
} vm_operands;
void vm_operands_of(vm_decoder *d, vm_op *op, vm_operands *out);
void vm_optimise(vm_decoder *d);
void vm_merge(vm_decoder *d, const bool *single); /* vm_merge.c: adjacent loads side by side */
void vm_wgmma_flow(vm_decoder *d);                /* vm_wgmma_flow.c: registers of wgmmas in flight */
void vm_pending(vm_decoder *d);                   /* vm_pending.c: uses of what tcgen05.ld has not filled */
void vm_allocate(vm_decoder *d);                  /* orders blocks, gives rows, appends to the program */

/* vm_layout.c */
const vm_program_variable *vm_layout_variable(const vm_program *program, const ptx_variable *variable);
/* vm_decode_tmem.c: an instruction that others may synchronise with; only modules for tensor memory remember.
 */
void vm_decode_synchronises(vm_decoder *d);
#endif
