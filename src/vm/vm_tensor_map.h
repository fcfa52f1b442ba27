/* SPDX-License-Identifier: Apache-2.0
 * Tensor maps: what cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col and cuTensorMapEncodeIm2colWide put into
 * 128 opaque bytes, in an encoding of our own that holds every field and a checksum, so that a map works
 * wherever it is copied and a damaged one is seen. Plain data; knows no machine state.
 *
 * Fields and limits: CUDA driver API, "Tensor Map Object Management"; PTX ISA 9.0, 5.5. Where the two leave
 * something open, an H200 (driver 13.0) decided; docs/machine.md lists what was measured. */
#ifndef TIRC_VM_VM_TENSOR_MAP_H
#define TIRC_VM_VM_TENSOR_MAP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VM_TENSOR_MAP_BYTES = 128, VM_TENSOR_MAP_ALIGN = 64, VM_TENSOR_RANK = 5 };

typedef enum vm_tensor_mode {
    VM_TENSOR_TILED,
    VM_TENSOR_IM2COL,
    VM_TENSOR_IM2COL_W,   /* sm_100: the pixel box has one row of W */
    VM_TENSOR_IM2COL_W128 /* and 128 pixels are loaded, whatever the map says */
} vm_tensor_mode;
typedef enum vm_tensor_type { /* numbers of CUtensorMapDataType */
                              VM_TENSOR_U8,
                              VM_TENSOR_U16,
                              VM_TENSOR_U32,
                              VM_TENSOR_S32,
                              VM_TENSOR_U64,
                              VM_TENSOR_S64,
                              VM_TENSOR_F16,
                              VM_TENSOR_F32,
                              VM_TENSOR_F64,
                              VM_TENSOR_BF16,
                              VM_TENSOR_F32_FTZ,
                              VM_TENSOR_TF32,
                              VM_TENSOR_TF32_FTZ,
                              VM_TENSOR_U4_ALIGN8,  /* .b4x16: sixteen 4-bit values in 8 bytes, as they are */
                              VM_TENSOR_U4_ALIGN16, /* .b4x16_p64: 8 bytes of global memory, 16 of shared
                                                       memory */
                              VM_TENSOR_U6_ALIGN16, /* .b6x16_p32 (loads), .b6p2x16 (stores): 12 bytes of
                                                       global, 16 of shared memory */
                              VM_TENSOR_TYPE_COUNT
} vm_tensor_type;
typedef enum vm_tensor_interleave {
    VM_TENSOR_INTERLEAVE_NONE,
    VM_TENSOR_INTERLEAVE_16,
    VM_TENSOR_INTERLEAVE_32
} vm_tensor_interleave;
typedef enum vm_tensor_swizzle { /* numbers of tensormap.replace.swizzle_mode */
                                 VM_TENSOR_SWIZZLE_NONE,
                                 VM_TENSOR_SWIZZLE_32,
                                 VM_TENSOR_SWIZZLE_64,
                                 VM_TENSOR_SWIZZLE_128,
                                 VM_TENSOR_SWIZZLE_96 /* sm_103a, by tensormap.replace only */
} vm_tensor_swizzle;
typedef enum vm_tensor_atom { /* numbers of tensormap.replace.swizzle_atomicity */
                              VM_TENSOR_ATOM_16,
                              VM_TENSOR_ATOM_32,
                              VM_TENSOR_ATOM_32_FLIP_8,
                              VM_TENSOR_ATOM_64
} vm_tensor_atom;
typedef enum vm_tensor_fill { VM_TENSOR_FILL_ZERO, VM_TENSOR_FILL_NAN } vm_tensor_fill;

/* Dimension 0 is the innermost. Under an interleave the dimensions are (W, [H, [D]], slices of channels, N),
 * and an element of dimension 0 is one slice of 16 or 32 bytes. */
typedef struct vm_tensor_map {
    vm_tensor_mode mode;
    vm_tensor_type type;
    uint32_t rank;
    uint64_t address; /* device address */
    uint64_t dim[VM_TENSOR_RANK];
    uint64_t stride[VM_TENSOR_RANK - 1]; /* bytes, of dimensions 1.. */
    uint32_t box[VM_TENSOR_RANK];        /* TILED */
    uint32_t step[VM_TENSOR_RANK];       /* element strides */
    int32_t lower[3], upper[3];          /* IM2COL: corners along W, H, D; IM2COL_W: along W */
    uint32_t channels, pixels;           /* IM2COL and IM2COL_W */
    vm_tensor_interleave interleave;
    vm_tensor_swizzle swizzle;
    vm_tensor_atom atom; /* of SWIZZLE_128 */
    uint32_t promotion;  /* of L2: none, 64, 128, 256 bytes; a hint */
    vm_tensor_fill fill;
} vm_tensor_map;

/* Rules of a map: name, text. In the text %i is the dimension, %v the value, %l what it should be. */
/* clang-format off */
#define VM_TENSOR_RULES(X) \
    X(TYPE, "data type %v: there are types 0 to %l") \
    X(RANK, "rank %v: 1 to 5") \
    X(RANK_INTERLEAVE, "rank %v: an interleaved layout has rank 3, 4 or 5") \
    X(RANK_IM2COL, "rank %v: an im2col map has rank 3, 4 or 5") \
    X(ADDRESS, "global address %a is not a multiple of %l") \
    X(DIM, "globalDim[%i] is %v: 1 to 2^32") \
    X(DIM_MULTIPLE, "globalDim[%i] is %v: a multiple of %l for this packed type") \
    X(STRIDE_MULTIPLE, "globalStrides[%i] is %v bytes: a multiple of %l") \
    X(STRIDE_LIMIT, "globalStrides[%i] is %v bytes: less than 2^40") \
    X(BOX, "boxDim[%i] is %v: 1 to 256") \
    X(BOX_BYTES, "boxDim[0] is %v bytes long: a multiple of 16") \
    X(BOX_PACKED, "boxDim[0] is %v: exactly %l for this packed type") \
    X(STEP, "elementStrides[%i] is %v: 1 to 8") \
    X(INTERLEAVE, "interleave %v: 0 (none), 1 (16 bytes) or 2 (32 bytes)") \
    X(INTERLEAVE_SWIZZLE, "an interleave of 32 bytes needs the swizzle of 32 bytes, not swizzle %v") \
    X(INTERLEAVE_PACKED, "16U6_ALIGN16B takes no interleave") \
    X(SWIZZLE, "swizzle %v: 0 (none), 1 (32 bytes), 2 (64 bytes), 3 to 6 (128 bytes)") \
    X(SWIZZLE_SPAN, "the inner dimension of the box is %v bytes: at most %l, the span of the swizzle") \
    X(SWIZZLE_PACKED, "swizzle %v with this packed type: none, 128B, or 128B with atoms of 32 or 64 bytes") \
    X(SWIZZLE_96, "the swizzle of 96 bytes is only in sm_103a") \
    X(ATOM, "swizzle atom %v: atoms other than 16 bytes need the swizzle of 128 bytes") \
    X(PROMOTION, "l2Promotion %v: 0 to 3") \
    X(FILL, "oobFill %v: 0 (zeros) or 1 (NaN)") \
    X(FILL_TYPE, "NaN can fill only floating-point types, not type %v") \
    X(CORNER_LOWER, "pixelBoxLowerCorner[%i] is %v: the range for this rank is -%l to %l - 1") \
    X(CORNER_UPPER, "pixelBoxUpperCorner[%i] is %v: the range for this rank is -%l to %l - 1") \
    X(CORNER_EMPTY, "the pixel box has no extent along dimension %i: globalDim + upper - lower is %v") \
    X(CHANNELS, "channelsPerPixel is %v: 1 to 256") \
    X(CHANNELS_BYTES, "channelsPerPixel is %v bytes: a multiple of 16") \
    X(CHANNELS_PACKED, "channelsPerPixel is %v: exactly %l for this packed type") \
    X(PIXELS, "pixelsPerColumn is %v: 1 to 1024") \
    X(TOTAL, "the box has %v bytes: at most %l, the shared memory of an SM") \
    X(WIDE_INTERLEAVE, "an im2col::w map takes no interleave, not interleave %v") \
    X(WIDE_SWIZZLE, "swizzle %v: an im2col::w map takes 64B, 128B, or 128B with atoms of 32 bytes")
/* clang-format on */
typedef enum vm_tensor_rule {
#define X(name, text) VM_TENSOR_RULE_##name,
    VM_TENSOR_RULES(X)
#undef X
        VM_TENSOR_RULE_COUNT
} vm_tensor_rule;
typedef struct vm_tensor_problem {
    vm_tensor_rule rule;
    uint32_t index;
    int64_t value, limit;
} vm_tensor_problem;
enum { VM_TENSOR_PROBLEMS = 40 }; /* no description breaks more rules */

static inline bool vm_tensor_is_wide(vm_tensor_mode mode) {
    return mode == VM_TENSOR_IM2COL_W || mode == VM_TENSOR_IM2COL_W128;
}

/* The broken rules of a description, all of them: their number; 0: it is right. */
size_t vm_tensor_map_check(const vm_tensor_map *map, vm_tensor_problem problems[VM_TENSOR_PROBLEMS]);
/* "boxDim[0] is 300: 1 to 256", zero-terminated, cut at size. */
void vm_tensor_problem_text(const vm_tensor_problem *problem, char *text, size_t size);
/* Our 128 bytes. Fields that do not fit (which no correct map has) are saturated, so that they stay wrong. */
void vm_tensor_map_write(const vm_tensor_map *map, uint8_t bytes[VM_TENSOR_MAP_BYTES]);
/* Reads what vm_tensor_map_write wrote; does not check the rules. */
typedef enum vm_tensor_read {
    VM_TENSOR_READ_OK,
    VM_TENSOR_READ_FOREIGN, /* not one of our maps: never encoded, or not by us */
    VM_TENSOR_READ_DAMAGED  /* ours, but changed since */
} vm_tensor_read;
vm_tensor_read vm_tensor_map_read(const uint8_t bytes[VM_TENSOR_MAP_BYTES], vm_tensor_map *map);

/* tensormap.replace (PTX ISA 9.7.9.28): false when the new value has no meaning for the field. */
typedef enum vm_tensor_field {
    VM_TENSOR_FIELD_GLOBAL_ADDRESS,
    VM_TENSOR_FIELD_RANK, /* value: rank - 1 */
    VM_TENSOR_FIELD_BOX_DIM,
    VM_TENSOR_FIELD_GLOBAL_DIM,
    VM_TENSOR_FIELD_GLOBAL_STRIDE,
    VM_TENSOR_FIELD_ELEMENT_STRIDE,
    VM_TENSOR_FIELD_ELEMTYPE,
    VM_TENSOR_FIELD_INTERLEAVE_LAYOUT,
    VM_TENSOR_FIELD_SWIZZLE_MODE,
    VM_TENSOR_FIELD_SWIZZLE_ATOMICITY,
    VM_TENSOR_FIELD_FILL_MODE
} vm_tensor_field;
bool vm_tensor_map_replace(vm_tensor_map *map, vm_tensor_field field, uint32_t ordinal, uint64_t value);

/* Swizzle numbers of the CUDA API (CUtensorMapSwizzle) to mode and atom; false: no such number. */
bool vm_tensor_swizzle_of(uint32_t number, vm_tensor_swizzle *swizzle, vm_tensor_atom *atom);
uint32_t vm_tensor_swizzle_number(vm_tensor_swizzle swizzle, vm_tensor_atom atom);

/* Sizes that follow from a correct map. */
uint32_t vm_tensor_type_bits(vm_tensor_type type);          /* in global memory: 8, 16, 32, 64, 4 or 6 */
uint32_t vm_tensor_swizzle_span(vm_tensor_swizzle swizzle); /* 0 without */
uint32_t vm_tensor_pixels(const vm_tensor_map *map);        /* that an im2col load counts, without a halo */
/* Where the byte that belongs at this absolute shared address goes (PTX ISA 5.5.7). Keeps groups of 8 bytes
 * together, and of 16 unless the atom flips. */
uint32_t vm_tensor_swizzle_address(vm_tensor_swizzle swizzle, vm_tensor_atom atom, uint32_t address);
#endif
