/* SPDX-License-Identifier: Apache-2.0
 * Preloaded CUDA runtime: the driver's functions for tensor maps, and the entry points by which programs that
 * do not link the driver ask for them. */
#include "cudart.h"
#include <string.h>

typedef tirc_status encoder(tirc_session *session, const tirc_tensor_map *map, void *bytes);

static CUresult encode(encoder *function, CUtensorMap *out, const tirc_tensor_map *map) {
    if (out == NULL || (uintptr_t)out % 64 != 0)
        return CUDA_ERROR_INVALID_VALUE;
    shim_lock();
    tirc_status status = function(shim_session(), map, out);
    if (status != TIRC_OK)
        shim_report();
    shim_unlock();
    return status == TIRC_OK ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* cuda.h may map the names to versions; these are the plain ones. */
#undef cuTensorMapEncodeTiled
#undef cuTensorMapEncodeIm2col
#undef cuTensorMapEncodeIm2colWide
#undef cuTensorMapReplaceAddress
CUresult cuTensorMapEncodeTiled(CUtensorMap *out, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                const cuuint64_t *dims, const cuuint64_t *strides, const cuuint32_t *box,
                                const cuuint32_t *steps, CUtensorMapInterleave interleave,
                                CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                CUtensorMapFloatOOBfill fill) {
    tirc_tensor_map map = {.size = sizeof map,
                           .type = (uint32_t)type,
                           .rank = rank,
                           .address = (uint64_t)(uintptr_t)address,
                           .dims = dims,
                           .strides = strides,
                           .box = box,
                           .element_strides = steps,
                           .interleave = (uint32_t)interleave,
                           .swizzle = (uint32_t)swizzle,
                           .l2_promotion = (uint32_t)promotion,
                           .oob_fill = (uint32_t)fill};
    return encode(tirc_tensor_map_encode_tiled, out, &map);
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap *out, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                 const cuuint64_t *dims, const cuuint64_t *strides, const int *lower,
                                 const int *upper, cuuint32_t channels, cuuint32_t pixels,
                                 const cuuint32_t *steps, CUtensorMapInterleave interleave,
                                 CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                 CUtensorMapFloatOOBfill fill) {
    tirc_tensor_map map = {.size = sizeof map,
                           .type = (uint32_t)type,
                           .rank = rank,
                           .address = (uint64_t)(uintptr_t)address,
                           .dims = dims,
                           .strides = strides,
                           .lower = lower,
                           .upper = upper,
                           .element_strides = steps,
                           .channels_per_pixel = channels,
                           .pixels_per_column = pixels,
                           .interleave = (uint32_t)interleave,
                           .swizzle = (uint32_t)swizzle,
                           .l2_promotion = (uint32_t)promotion,
                           .oob_fill = (uint32_t)fill};
    return encode(tirc_tensor_map_encode_im2col, out, &map);
}

CUresult cuTensorMapEncodeIm2colWide(CUtensorMap *out, CUtensorMapDataType type, cuuint32_t rank,
                                     void *address, const cuuint64_t *dims, const cuuint64_t *strides,
                                     int lower, int upper, cuuint32_t channels, cuuint32_t pixels,
                                     const cuuint32_t *steps, CUtensorMapInterleave interleave,
                                     CUtensorMapIm2ColWideMode mode, CUtensorMapSwizzle swizzle,
                                     CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
    tirc_tensor_map map = {.size = sizeof map,
                           .type = (uint32_t)type,
                           .rank = rank,
                           .address = (uint64_t)(uintptr_t)address,
                           .dims = dims,
                           .strides = strides,
                           .lower = &lower,
                           .upper = &upper,
                           .element_strides = steps,
                           .channels_per_pixel = channels,
                           .pixels_per_column = pixels,
                           .interleave = (uint32_t)interleave,
                           .swizzle = (uint32_t)swizzle,
                           .l2_promotion = (uint32_t)promotion,
                           .oob_fill = (uint32_t)fill,
                           .wide = (uint32_t)mode + 1};
    return encode(tirc_tensor_map_encode_im2col_wide, out, &map);
}

CUresult cuTensorMapReplaceAddress(CUtensorMap *map, void *address) {
    return tirc_tensor_map_replace_address(map, (uint64_t)(uintptr_t)address) == TIRC_OK
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

/* What those above answer. */
CUresult cuGetErrorString(CUresult error, const char **text) {
    *text = error == CUDA_SUCCESS               ? "no error"
            : error == CUDA_ERROR_INVALID_VALUE ? "invalid argument; see standard error"
                                                : NULL;
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuGetErrorName(CUresult error, const char **name) {
    *name = error == CUDA_SUCCESS               ? "CUDA_SUCCESS"
            : error == CUDA_ERROR_INVALID_VALUE ? "CUDA_ERROR_INVALID_VALUE"
                                                : NULL;
    return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- entry points ---- */
cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned version,
                                             unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *result) {
    static const struct {
        const char *name;
        void (*function)(void);
    } known[] = {{"cuTensorMapEncodeTiled", (void (*)(void))cuTensorMapEncodeTiled},
                 {"cuTensorMapEncodeIm2col", (void (*)(void))cuTensorMapEncodeIm2col},
                 {"cuTensorMapEncodeIm2colWide", (void (*)(void))cuTensorMapEncodeIm2colWide},
                 {"cuTensorMapReplaceAddress", (void (*)(void))cuTensorMapReplaceAddress}};
    (void)version;
    (void)flags;
    *function = NULL;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].name, symbol) == 0)
            memcpy(function, &known[i].function, sizeof *function);
    if (result != NULL)
        *result = *function ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    return shim_error(cudaSuccess);
}

#undef cudaGetDriverEntryPoint
cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **function, unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult *result) {
    return cudaGetDriverEntryPointByVersion(symbol, function, 0, flags, result);
}
