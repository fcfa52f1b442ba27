/* SPDX-License-Identifier: Apache-2.0
 * Every module's codes, in module order; included where DIAGNOSTIC is defined. */
#include "base/base_codes.def"
#include "script/script_codes.def"
#include "ir/ir_codes.def"
#include "lower/lower_codes.def"
#include "cuda/cuda_codes.def"
#include "ptx/ptx_codes.def"
#include "ptx/ptx_build_codes.def"
#include "vm/vm_codes.def"
#include "check/check_codes.def"
#include "check/check_tmem_codes.def"
#include "check/check_matrix_codes.def"
#include "api/api_codes.def"
