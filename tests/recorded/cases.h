/* SPDX-License-Identifier: Apache-2.0
 * The conformance set: small PTX kernels, each with deterministic inputs, that a GPU runs once (record.c) and
 * the machine runs ever after (replay.c). A kernel `k(in, out)` has `in_words` 32-bit words of input and
 * `out_words` of output for each thread. Outputs fall into parts, one for each instruction, so that a
 * difference names it. */
#ifndef TIRC_TESTS_CASES_H
#define TIRC_TESTS_CASES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CASE_INPUTS = 512, CASE_PARTS = 400, CASE_BLOCKS = 8 };

/* What an input word is made of. */
typedef enum case_kind {
    CASE_BITS, /* any bits */
    CASE_ZERO,
    CASE_F32,
    CASE_F64_LOW, /* followed by CASE_F64_HIGH */
    CASE_F64_HIGH,
    CASE_F16X2,
    CASE_BF16X2,
    CASE_E4M3X4,
    CASE_E5M2X4,
    CASE_INT,      /* integers near their limits too */
    CASE_INT_HIGH, /* upper half of a 64-bit one */
    CASE_SHIFT,    /* 0 to 70, sometimes more */
    CASE_LANE,     /* 0 to 31 */
    CASE_BYTES     /* small signed bytes */
} case_kind;

typedef struct case_part {
    char name[88];
    unsigned first, count; /* output words of a thread */
} case_part;

typedef struct recorded_case {
    char name[64];
    char *ptx;
    unsigned blocks, threads, in_words, out_words, shared_bytes;
    uint8_t kinds[CASE_INPUTS];
    bool matrix;  /* special values are rare: one spoils a whole row */
    bool bounded; /* outputs of approximate instructions: compared within a bound, so their words are kept */
    unsigned part_count;
    case_part parts[CASE_PARTS];
} recorded_case;

/* Calls `take` for every case, in a fixed order; the text and the case live until it returns. */
typedef void case_taker(void *user, const recorded_case *c);
void cases_make(case_taker *take, void *user);
void cases_scalar(case_taker *take, void *user); /* cases_scalar.c */
void cases_memory(case_taker *take, void *user); /* cases_memory.c */
void cases_matrix(case_taker *take, void *user); /* cases_matrix.c */
void cases_wmma(case_taker *take, void *user);
void cases_wgmma(case_taker *take, void *user); /* cases_wgmma.c */

/* Inputs of a case: blocks * threads * in_words words; malloc. */
uint32_t *case_inputs(const recorded_case *c);
uint64_t case_digest(uint64_t digest, const void *bytes, size_t size);
/* Digest of a part over all threads of a block. */
uint64_t case_part_digest(const recorded_case *c, const case_part *part, const uint32_t *out, unsigned block);

/* ---- making cases ---- */
typedef struct case_text {
    char *data;
    size_t size, capacity;
} case_text;
void case_put(case_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

typedef struct case_builder {
    recorded_case c;
    case_text before, body; /* declarations of the module; the kernel's text */
    unsigned version;       /* 80 for 8.0 */
    const char *target;
    case_taker *take;
    void *user;
} case_builder;
/* Starts a case; %i0.. hold the inputs, the body leaves the results in %o0... */
void case_start(case_builder *b, const char *name, unsigned threads);
unsigned case_input(case_builder *b, case_kind kind); /* number of the word */
/* Words for the next part; returns the first. */
unsigned case_part_add(case_builder *b, const char *name, unsigned words);
void case_end(case_builder *b);
#endif
