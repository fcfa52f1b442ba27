/* SPDX-License-Identifier: Apache-2.0
 * Words of findings by subject, one file each; inside src/check only. Each answers false for findings that
 * are not its own. */
#ifndef TIRC_CHECK_CHECK_WORDS_H
#define TIRC_CHECK_CHECK_WORDS_H
#include "check/check.h"

typedef struct check_kind {
    const char *code;
    base_severity severity;
} check_kind;

/* check_tmem.c: tensor memory; NULL: of another subject */
const check_kind *check_kind_tmem(vm_finding_kind kind);
bool check_words_tmem(const vm_finding *finding, base_builder *out, const char **help);
const char *check_other_tmem(const vm_finding *finding); /* what stands at finding->other */
bool check_words_async(const vm_finding *finding, base_builder *out, const char **help);
/* check_matrix.c: mma, ldmatrix, wgmma */
const check_kind *check_kind_matrix(vm_finding_kind kind);
bool check_words_matrix(const vm_finding *finding, base_builder *out, const char **help);
/* check_copy.c: asynchronous copies and tensor maps */
const check_kind *check_kind_copy(vm_finding_kind kind);
bool check_words_copy(const vm_finding *finding, base_builder *out, const char **help);
/* check_tensor.c: tcgen05.mma, cp, commit */
const check_kind *check_kind_tensor(vm_finding_kind kind);
bool check_words_tensor(const vm_finding *finding, base_builder *out, const char **help);
const char *check_other_tensor(const vm_finding *finding); /* NULL: of another subject */
/* check_race.c: races in shared memory */
const check_kind *check_kind_race(vm_finding_kind kind);
bool check_words_race(const vm_finding *finding, base_builder *out, const char **help);
const char *check_other_race(const vm_finding *finding); /* NULL: of another subject */
void check_words_initial(const vm_finding *finding, base_builder *out, const char **help);
/* check_finding.c: `As[3, 64]`, with the author's expression where the value is not known any more */
void check_words_element(const vm_finding *finding, const ptx_origin *origin, base_builder *out);
#endif
