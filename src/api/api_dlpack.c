/* SPDX-License-Identifier: Apache-2.0
 * Tensors of other libraries as arguments, without copying: the DLTensor of DLPack 1.0 (dmlc/dlpack,
 * dlpack.h). */
#include "api/api_private.h"
#include <string.h>

typedef struct dl_tensor {
    void *data;
    int32_t device_type, device_id;
    int32_t rank;
    uint8_t code, bits;
    uint16_t lanes;
    const int64_t *shape, *strides; /* strides in elements; NULL: C order */
    uint64_t byte_offset;
} dl_tensor;
enum { DL_CPU = 1, DL_CUDA = 2, DL_CUDA_HOST = 3, DL_CUDA_MANAGED = 13 };

static const char *dtype_of(uint8_t code, uint8_t bits) {
    static const struct {
        uint8_t code, bits;
        const char *name;
    } types[] = {{0, 8, "int8"},           {0, 16, "int16"},
                 {0, 32, "int32"},         {0, 64, "int64"},
                 {1, 8, "uint8"},          {1, 16, "uint16"},
                 {1, 32, "uint32"},        {1, 64, "uint64"},
                 {2, 16, "float16"},       {2, 32, "float32"},
                 {2, 64, "float64"},       {4, 16, "bfloat16"},
                 {6, 8, "bool"},           {10, 8, "float8_e4m3fn"},
                 {12, 8, "float8_e5m2"},   {14, 8, "float8_e8m0fnu"},
                 {15, 6, "float6_e2m3fn"}, {16, 6, "float6_e3m2fn"},
                 {17, 4, "float4_e2m1fn"}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; ++i)
        if (types[i].code == code && types[i].bits == bits)
            return types[i].name;
    return NULL;
}

static bool in_c_order(const dl_tensor *tensor) {
    int64_t expected = 1;
    for (int32_t d = tensor->rank; tensor->strides && d-- > 0;) {
        if (tensor->shape[d] != 1 && tensor->strides[d] != expected)
            return false;
        expected *= tensor->shape[d];
    }
    return true;
}

tirc_status tirc_argument_dlpack(const void *tensor, const char *name, tirc_argument *argument,
                                 bool *on_device) {
    if (!tensor || !name || !argument)
        return TIRC_USAGE;
    dl_tensor from;
    memcpy(&from, tensor, sizeof from);
    const char *dtype = dtype_of(from.code, from.bits);
    if (!dtype || num_dtype_find(dtype, strlen(dtype)) == NUM_DTYPE_NONE || from.lanes != 1 ||
        from.rank < 0 || from.rank > TIRC_RANK_MAX || (from.rank && !from.shape) || !in_c_order(&from))
        return TIRC_ERROR;
    if (from.device_type != DL_CPU && from.device_type != DL_CUDA && from.device_type != DL_CUDA_HOST &&
        from.device_type != DL_CUDA_MANAGED)
        return TIRC_ERROR;
    uint64_t bits = from.bits;
    for (int32_t d = 0; d < from.rank; ++d)
        if (from.shape[d] < 0 || __builtin_mul_overflow(bits, (uint64_t)from.shape[d], &bits))
            return TIRC_ERROR;
    *argument = (tirc_argument){.name = name,
                                .data = (char *)from.data + from.byte_offset,
                                .dtype = dtype,
                                .rank = (uint32_t)from.rank,
                                .shape = from.shape,
                                .bytes = (bits + 7) / 8};
    if (on_device)
        *on_device = from.device_type == DL_CUDA || from.device_type == DL_CUDA_MANAGED;
    return TIRC_OK;
}
