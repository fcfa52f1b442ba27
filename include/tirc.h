/* SPDX-License-Identifier: Apache-2.0
 * tirc: TIRx kernels compiled to CUDA C++ and PTX, and run on the CPU. The one public header.
 *
 * Everything hangs on a session: modules, reports and texts made from it live until it is destroyed. Sessions
 * are independent; two threads may use two sessions at once, one session is used by one thread at a time. No
 * function ends the process, prints, or touches a global. Problems are data: functions return a status, and
 * the session's diagnostics say what was wrong and where.
 *
 *     tirc_session *s = tirc_session_create(NULL);
 *     tirc_source source = {.size = sizeof source, .name = "k.py", .text = text, .text_size = length};
 *     tirc_module *m;
 *     if (tirc_load(s, &source, &m) == TIRC_OK)
 *         tirc_emit(m, TIRC_EMIT_CUDA, NULL, tirc_sink_file, stdout);
 *     else
 *         tirc_diagnostics_render(s, TIRC_FORMAT_TEXT, false, tirc_sink_file, stderr);
 *     tirc_session_destroy(s);
 */
#ifndef TIRC_H
#define TIRC_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TIRC_VERSION_MAJOR 0
#define TIRC_VERSION_MINOR 1
#define TIRC_VERSION_PATCH 0
#if defined(__GNUC__)
#define TIRC_API __attribute__((visibility("default")))
#else
#define TIRC_API
#endif

typedef struct tirc_session tirc_session;
typedef struct tirc_module tirc_module;
typedef struct tirc_report tirc_report;

typedef enum tirc_status {
    TIRC_OK = 0,
    TIRC_ERROR,      /* the input is wrong: see the diagnostics */
    TIRC_FINDINGS,   /* the kernel ran and something is wrong with it: see the diagnostics */
    TIRC_INCOMPLETE, /* a construct or instruction that tirc does not have yet, or a limit was reached */
    TIRC_USAGE,      /* the call itself is wrong: a NULL, an unknown name, a bad option */
    TIRC_NO_MEMORY,
    TIRC_BUG /* tirc contradicts itself; please report the diagnostics */
} tirc_status;
TIRC_API const char *tirc_status_name(tirc_status status);
TIRC_API const char *tirc_version(void);

/* ---- sessions ---- */
/* Structures that may grow start with their own size, so that older callers keep working; zero the rest. */
typedef struct tirc_options {
    size_t size;
    size_t memory_limit; /* bytes for everything but the caller's tensors; 0: 4 GiB */
    /* Allocator hook; NULL: malloc. new_size 0 frees; exact old sizes are given. */
    void *(*allocate)(void *user, void *old, size_t old_size, size_t new_size);
    void *allocate_user;
    /* What makes PTX of functions of CUDA source text, when such a kernel is run or emitted as PTX: the path
     * of an nvcc; "": the one that $TIRC_NVCC names, or that PATH, $CUDA_HOME/bin or a usual place has; NULL:
     * no process is ever started, and such kernels end as TIRC_INCOMPLETE. The text is copied. */
    const char *nvcc;
} tirc_options;
/* NULL options: defaults. NULL: no memory. */
TIRC_API tirc_session *tirc_session_create(const tirc_options *options);
TIRC_API void tirc_session_destroy(tirc_session *session);        /* NULL is fine */
TIRC_API size_t tirc_session_memory(const tirc_session *session); /* peak bytes */

/* ---- input ---- */
typedef enum tirc_kind { TIRC_KIND_AUTO, TIRC_KIND_SCRIPT, TIRC_KIND_IR, TIRC_KIND_PTX } tirc_kind;
typedef struct tirc_define {
    const char *name, *text; /* NAME and a compile-time expression */
} tirc_define;
/* A file that a script imports. All of it is the callback's own. */
typedef struct tirc_imported {
    const char *name; /* for messages; NULL: the path */
    const char *text; /* need not be zero-terminated */
    size_t text_size;
    void *owner; /* not looked at */
} tirc_imported;
typedef struct tirc_source {
    size_t size;
    const char *name; /* for messages; its ending chooses the kind under AUTO: .tir .ptx, else a script */
    const char *text; /* need not be zero-terminated; copied */
    size_t text_size;
    tirc_kind kind;
    const char *entry; /* function to keep; NULL: all */
    const tirc_define *defines;
    size_t define_count;
    /* Scripts: `import a.b` asks find_import for "a/b.py", then for "a/b/__init__.py", while tirc_load runs;
     * false: there is no such file. Paths are made of names, '/' and those endings only. What it gave is
     * copied, and then handed to release_import once, unless that is NULL. find_import NULL: no import reads
     * anything, and a name of another file is an error where it is used. Neither may call into the session.
     */
    bool (*find_import)(void *user, const char *path, tirc_imported *file);
    void (*release_import)(void *user, tirc_imported *file);
    void *import_user;
} tirc_source;
/* Reads, evaluates and verifies. *module is set on TIRC_OK only; it belongs to the session. */
TIRC_API tirc_status tirc_load(tirc_session *session, const tirc_source *source, tirc_module **module);
/* Gives a module's memory back before its session ends, for programs that compile many: what tirc_kernel_at
 * gave goes with it, its source's text stays for messages. A module that was run or loaded on a GPU stays,
 * since reports and devices may hold its code: TIRC_USAGE. NULL is fine. */
TIRC_API tirc_status tirc_module_destroy(tirc_module *module);
/* Where text goes; false stops the output. */
typedef bool (*tirc_sink)(void *user, const char *data, size_t size);
TIRC_API bool tirc_sink_file(void *file, const char *data, size_t size); /* user: a FILE * */
/* Canonical text of a script, comments kept. */
TIRC_API tirc_status tirc_format_script(tirc_session *session, const tirc_source *source, tirc_sink sink,
                                        void *user);
/* Syntax tree of a script, one node a line. Works on scripts with errors too (status TIRC_ERROR). */
TIRC_API tirc_status tirc_dump_script(tirc_session *session, const tirc_source *source, tirc_sink sink,
                                      void *user);

/* ---- comparing ---- */
typedef struct tirc_place {
    const char *file;      /* NULL: no place */
    uint32_t line, column; /* from 1 */
} tirc_place;
typedef struct tirc_difference {
    size_t size;
    const char *text; /* in words; NULL: equal. Belongs to a's session */
    tirc_place a, b;  /* the first statements that differ */
} tirc_difference;
/* Structural equality of the functions of two modules, in their order: the same statements over the same
 * expressions, with variables and tensors matched where they are declared. Names, places and whether a
 * one-element local tensor was written as a scalar do not count. Modules of scripts and IR text; PTX is
 * TIRC_USAGE. difference may be NULL. */
TIRC_API tirc_status tirc_structural_equal(tirc_module *a, tirc_module *b, bool *equal,
                                           tirc_difference *difference);

/* ---- what a module holds ---- */
typedef struct tirc_parameter {
    const char *name;
    bool is_tensor;
    const char *dtype;    /* "float32"; of the element for tensors; NULL for PTX parameters */
    uint32_t rank;        /* tensors */
    const int64_t *shape; /* -1: bound at launch */
    uint64_t bytes;       /* of a scalar parameter, or of a PTX parameter */
    bool is_size;         /* a scalar that the shapes of tensor arguments determine */
} tirc_parameter;
typedef struct tirc_kernel {
    const char *name;
    size_t parameter_count;
    const tirc_parameter *parameters; /* in the order of the emitted signature */
    bool has_launch;                  /* grid and block are part of the kernel */
    /* A further device region of the function whose kernel stands before this one, to be launched behind it
     * with the same arguments. */
    bool follows;
} tirc_kernel;
TIRC_API size_t tirc_kernel_count(const tirc_module *module);
/* Borrowed from the module; NULL when index is out of range. */
TIRC_API const tirc_kernel *tirc_kernel_at(const tirc_module *module, size_t index);

/* ---- output ---- */
typedef enum tirc_emit_format {
    TIRC_EMIT_CUDA,
    TIRC_EMIT_PTX,
    TIRC_EMIT_IR,   /* tensor form, .tir */
    TIRC_EMIT_FLAT, /* flat form as the PTX writer reads it */
    TIRC_EMIT_PLAN, /* launch plan, as a table */
    TIRC_EMIT_PLAN_JSON,
    TIRC_EMIT_CUDA_HOST, /* CUDA with a launch function for each kernel, over the CUDA runtime */
    TIRC_EMIT_PLAN_SVG   /* the maps of shared memory as a picture */
} tirc_emit_format;
typedef struct tirc_emit_options {
    size_t size;
    const char *target;     /* "sm_90a"; NULL: sm_90a */
    bool no_contract;       /* keep a * b + c as two roundings in PTX */
    bool sorted_parameters; /* the reference's order of kernel parameters */
    bool lines;             /* #line and .loc */
    const char *skip;       /* optimise passes to leave out, comma-separated */
    const char *dump_after; /* pass whose result is written instead; "all" */
    bool via_nvrtc; /* tirc_gpu_load: the CUDA text through NVIDIA's NVRTC library instead of our PTX */
} tirc_emit_options;
/* The text goes to the sink in one or more pieces, and only when all of it could be made. */
TIRC_API tirc_status tirc_emit(tirc_module *module, tirc_emit_format format, const tirc_emit_options *options,
                               tirc_sink sink, void *user);

/* ---- running on the CPU ---- */
typedef struct tirc_argument {
    const char *name; /* of the parameter */
    void *data; /* elements in C order, little-endian, 4-bit types packed low first, 6-bit types in bytes; or
                   one scalar */
    const char *dtype; /* as in tirc_parameter; NULL: not checked */
    uint32_t rank;     /* with shape NULL: shape not checked (bytes bounds the access) */
    const int64_t *shape;
    uint64_t bytes; /* size of data */
    bool is_scalar;
    /* PTX kernels: the parameter is a tensor map of the tensor given for the parameter `tensor`; its address
     * counts from the start of that tensor's data. The machine and the GPU's driver each encode it. */
    const struct tirc_tensor_map *tensor_map;
    const char *tensor;
} tirc_argument;
/* When what may happen at several times does happen. ALL: runs under EARLY, LATE, each kind of asynchronous
 * work LATE alone, and three seeds, compares, and keeps the results of EARLY; not with a device. */
typedef enum tirc_schedule {
    TIRC_SCHEDULE_EARLY,
    TIRC_SCHEDULE_LATE,
    TIRC_SCHEDULE_RANDOM,
    TIRC_SCHEDULE_ALL
} tirc_schedule;
/* How matrix instructions add: as the hardware of the module's target, as a chain of f32 multiply-adds in
 * increasing k, or exactly with one rounding. */
typedef enum tirc_numerics { TIRC_NUMERICS_HW, TIRC_NUMERICS_FP32, TIRC_NUMERICS_EXACT } tirc_numerics;
/* How ex2, lg2, rcp, rsqrt, sqrt, sin, cos and tanh.approx are computed: nearly exactly (rounded once from
 * double precision), or to the last bit as an H200 does. */
typedef enum tirc_approximations { TIRC_APPROXIMATE_NEARLY, TIRC_APPROXIMATE_H200 } tirc_approximations;
/* Kinds of asynchronous work, as bits for tirc_launch.late_classes; tirc_async_name gives "bulk" for index 1.
 */
TIRC_API const char *tirc_async_name(unsigned index); /* NULL: there is no such kind */
/* Kinds of findings: accesses; reads of memory that nothing wrote; races in shared memory; barriers and
 * collectives; tensor memory. What belongs to none is always reported. */
enum {
    TIRC_TOOL_MEMCHECK = 1,
    TIRC_TOOL_INITCHECK = 2,
    TIRC_TOOL_RACECHECK = 4,
    TIRC_TOOL_SYNCCHECK = 8,
    TIRC_TOOL_TMEMCHECK = 16,
    TIRC_TOOL_ALL = 31
};
typedef struct tirc_launch {
    size_t size;
    const char *kernel; /* NULL: the only one */
    const tirc_argument *arguments;
    size_t argument_count;
    uint32_t grid[3], block[3];    /* grid[0] or block[0] 0: as the kernel says; needed when it does not */
    uint64_t dynamic_shared_bytes; /* 0: as planned */
    uint32_t threads;              /* 0: one per core; results do not depend on it */
    tirc_schedule schedule;
    uint64_t seed;
    uint64_t step_limit; /* warp instructions; 0: 10^12 */
    bool no_contract;
    const char *skip;  /* optimise passes to leave out */
    const char *level; /* "x86-64" "x86-64-v3" "x86-64-v4"; NULL: best */
    tirc_sink print;   /* the kernel's printf; NULL: dropped */
    void *print_user;
    bool (*progress)(void *user, uint64_t done, uint64_t total); /* false stops the run */
    void *progress_user;
    /* Where to run: on_gpu 0 the CPU machine, 1 a GPU through its driver (schedule, steps, level, device and
     * print do not apply there). Results come from the first launch; with repeat, warm_up and then repeat
     * launches more are timed by events, and the statistics hold their median. */
    uint32_t on_gpu, gpu_index, warm_up, repeat;
    uint32_t cluster[3];        /* cluster[0] 0: as the kernel says */
    struct tirc_device *device; /* memory that the kernel sees beside its arguments; NULL: none */
    /* One pointer per kernel parameter to a value of its size, as cuLaunchKernel takes them; NULL: by name
     * in `arguments`. PTX modules only. Addresses in the values are those of `device`. */
    void *const *parameters;
    uint32_t late_classes;      /* LATE: bit per kind of asynchronous work that is late; 0: all */
    uint32_t sms;               /* SMs of the machine; 0: 148 */
    uint32_t ctas_per_sm;       /* CTAs that live on an SM at a time, at most; 0: as many as fit */
    uint32_t tmem_base;         /* first column of tensor memory that an allocation tries, a multiple of 32 */
    uint64_t tmem_random;       /* seed: allocations choose among the free places; 0: the first one */
    bool tmem_lanes_release;    /* lane 0 in an address of tensor memory means the warp's own lanes */
    bool tmem_unpack_preserves; /* tcgen05.st with .unpack::16b keeps the upper halves of cells */
    tirc_numerics numerics;
    tirc_approximations approximations;
    /* Beside what the kernel asks for: a launch whose CTAs are all resident; on a GPU, one that may start
     * before the one before it has ended, its priority, and the part of an SM's memory that is to be shared
     * (percent).
     */
    bool cooperative, programmatic, has_priority, has_carveout;
    int32_t priority, carveout;
    bool via_nvrtc;  /* the CUDA text through NVIDIA's NVRTC library instead of our PTX */
    bool strict_ptx; /* what hardware lets pass and PTX leaves open is an error too */
    /* On the CPU: what to look for, TIRC_TOOL_ bits; 0: all but reads of memory that nothing wrote and races
     * in shared memory, which a run pays for. */
    uint32_t tools;
    bool tmem_history; /* on the CPU: tirc_report_tmem is wanted */
} tirc_launch;
/* Runs the kernel on the CPU; argument data is read and written in place. report may be NULL. Findings become
 * diagnostics of the session. TIRC_OK: ran to the end without findings. */
TIRC_API tirc_status tirc_run(tirc_module *module, const tirc_launch *launch, tirc_report **report);

typedef struct tirc_statistics {
    uint64_t ctas, warp_instructions;
    uint32_t threads, allocated_rows, virtual_registers;
    uint64_t static_shared_bytes, dynamic_shared_bytes, local_bytes;
    double seconds;     /* in the machine alone */
    const char *level;  /* "x86-64-v4" */
    size_t local_count; /* local tensors of a script */
    /* on a GPU: its name, timed launches (seconds is their median; 0 when none was timed), registers a thread
     */
    const char *gpu;
    uint32_t launches, gpu_registers;
    double seconds_least, seconds_most;
} tirc_statistics;
typedef struct tirc_local {
    const char *name;
    bool in_registers;
    const char *reason;
} tirc_local;
TIRC_API void tirc_report_statistics(const tirc_report *report, tirc_statistics *statistics);
TIRC_API bool tirc_report_local(const tirc_report *report, size_t index, tirc_local *local);
/* The map of shared memory of a script's kernel, a line for each tensor and view; nothing when it has none.
 */
TIRC_API tirc_status tirc_report_memory(const tirc_report *report, tirc_sink sink, void *user);
/* What a run did with tensor memory (tirc_launch.tmem_history): for the first CTA, and for each other that
 * did something else, the columns allocated and released, the lanes, columns and registers of each
 * instruction and warp, and what waited for what. As text, as one JSON object (docs/tensor_memory.md), or as
 * a picture: columns over the order of events. */
typedef enum tirc_tmem_format { TIRC_TMEM_TEXT, TIRC_TMEM_JSON, TIRC_TMEM_SVG } tirc_tmem_format;
TIRC_API tirc_status tirc_report_tmem(const tirc_report *report, tirc_tmem_format format, tirc_sink sink,
                                      void *user);
/* Virtual and allocated register counts of a kernel, without running it. */
TIRC_API tirc_status tirc_inspect(tirc_module *module, const char *kernel, tirc_statistics *statistics);

/* ---- a device's memory: for programs that hold device addresses ----
 * Allocations have addresses that stay the same in every run; an address is never used twice, so that a use
 * after free is found. Module variables keep their values from run to run of one device. One device belongs
 * to one session and is used by one thread at a time. */
typedef struct tirc_device tirc_device;
TIRC_API tirc_device *tirc_device_create(tirc_session *session); /* NULL: no memory */
TIRC_API void tirc_device_destroy(tirc_device *device);          /* before its session; NULL is fine */
/* align: power of two up to 2^30, 0 for 256. name is for messages, copied, may be NULL. The bytes start as
 * they are, that is unknown; in fact as 0xcc. TIRC_USAGE: bad align or more than 2^38 bytes. */
TIRC_API tirc_status tirc_device_allocate(tirc_device *device, uint64_t bytes, uint64_t align,
                                          const char *name, uint64_t *address);
/* TIRC_ERROR: not the start of a live allocation. */
TIRC_API tirc_status tirc_device_free(tirc_device *device, uint64_t address);
/* Host place of [address, address + bytes) inside one live allocation; NULL when it is not. Good until that
 * allocation is freed; for reading and writing between runs. */
TIRC_API void *tirc_device_memory(tirc_device *device, uint64_t address, uint64_t bytes);
/* The live allocation that holds an address; false: none. */
TIRC_API bool tirc_device_find(const tirc_device *device, uint64_t address, uint64_t *begin, uint64_t *bytes);
/* A module variable by name, .global or .const; TIRC_ERROR when the module has none of the name. Kernels of
 * another module do not see it: modules are loaded at the same addresses. */
typedef struct tirc_device_symbol {
    uint64_t address, bytes; /* generic address, for kernels of the module */
    void *memory;            /* for reading and writing between runs */
    bool is_constant;
} tirc_device_symbol;
TIRC_API tirc_status tirc_device_variable(tirc_device *device, tirc_module *module, const char *name,
                                          tirc_device_symbol *symbol);

/* ---- tensor maps: what tensor copies (TMA) read ----
 * The fields and limits are those of cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col and
 * cuTensorMapEncodeIm2colWide; the numbers of type, interleave, swizzle, l2_promotion and oob_fill those of
 * the driver's enumerations. Dimension 0 is the innermost. The 128 bytes are for kernels on the machine; a
 * GPU needs those of its driver. */
#define TIRC_TENSOR_MAP_BYTES 128
typedef struct tirc_tensor_map {
    size_t size;
    uint32_t type;                                  /* CU_TENSOR_MAP_DATA_TYPE_UINT8 0 ... 16U6_ALIGN16B 15 */
    uint32_t rank;                                  /* 1 to 5 */
    uint64_t address;                               /* device address, of tirc_device_allocate */
    const uint64_t *dims;                           /* rank of them, in elements */
    const uint64_t *strides;                        /* rank - 1 of them, in bytes: of dimensions 1, 2, ... */
    const uint32_t *box;                            /* tiled: rank of them, in elements */
    const uint32_t *element_strides;                /* rank of them; NULL: ones */
    const int32_t *lower, *upper;                   /* im2col: rank - 2 corners of the pixel box, W first */
    uint32_t channels_per_pixel, pixels_per_column; /* im2col */
    uint32_t interleave, swizzle, l2_promotion, oob_fill;
    uint32_t wide; /* 1: im2col::w, 2: im2col::w::128, both with corners along W only; 0: another mode */
} tirc_tensor_map;
/* Writes 128 bytes, to be copied as they are: into a kernel parameter (.align 64), or device memory at a
 * multiple of 64. TIRC_ERROR: every broken rule is a diagnostic T0788; nothing is written. */
TIRC_API tirc_status tirc_tensor_map_encode_tiled(tirc_session *session, const tirc_tensor_map *map,
                                                  void *bytes);
TIRC_API tirc_status tirc_tensor_map_encode_im2col(tirc_session *session, const tirc_tensor_map *map,
                                                   void *bytes);
/* `wide` is 1 or 2. */
TIRC_API tirc_status tirc_tensor_map_encode_im2col_wide(tirc_session *session, const tirc_tensor_map *map,
                                                        void *bytes);
/* As an argument of tirc_run a map with `wide` is that, one with pixels_per_column im2col, any other tiled.
 */
/* cuTensorMapReplaceAddress. TIRC_ERROR: not a map of ours, or the address is misaligned for it. */
TIRC_API tirc_status tirc_tensor_map_replace_address(void *bytes, uint64_t address);

/* ---- a GPU, through the driver (libcuda.so.1, opened at run time) ----
 * Without a driver or device every call answers TIRC_INCOMPLETE and the session's diagnostics say why. */
typedef struct tirc_gpu tirc_gpu;               /* one device; belongs to the session */
typedef struct tirc_gpu_kernel tirc_gpu_kernel; /* one loaded kernel; belongs to its gpu */
typedef struct tirc_gpu_facts {
    const char *name;
    int32_t major, minor, multiprocessors, driver_version; /* 13000: CUDA 13.0 */
    uint64_t memory_bytes, shared_default, shared_opt_in;
} tirc_gpu_facts;
TIRC_API tirc_status tirc_gpu_count(tirc_session *session, int32_t *count);
TIRC_API tirc_status tirc_gpu_open(tirc_session *session, uint32_t index, tirc_gpu **gpu);
TIRC_API void tirc_gpu_close(tirc_gpu *gpu); /* before its session; NULL is fine */
TIRC_API void tirc_gpu_describe(const tirc_gpu *gpu, tirc_gpu_facts *facts);
/* Compiles a script or IR for the device, or takes PTX as it is, and loads it. kernel NULL: the only one.
 * Loaded code is kept by its text: a second call is cheap. */
TIRC_API tirc_status tirc_gpu_load(tirc_gpu *gpu, tirc_module *module, const char *kernel,
                                   const tirc_emit_options *options, tirc_gpu_kernel **out);
/* Device memory. Addresses are what kernels take. */
TIRC_API tirc_status tirc_gpu_allocate(tirc_gpu *gpu, uint64_t bytes, uint64_t *address);
TIRC_API void tirc_gpu_free(tirc_gpu *gpu, uint64_t address);
TIRC_API tirc_status tirc_gpu_write(tirc_gpu *gpu, uint64_t address, const void *from, uint64_t bytes);
TIRC_API tirc_status tirc_gpu_read(tirc_gpu *gpu, void *to, uint64_t address, uint64_t bytes);
typedef struct tirc_gpu_launch {
    size_t size;
    uint32_t grid[3], block[3], cluster[3]; /* cluster[0] 0: none */
    uint64_t dynamic_shared_bytes;
    void *const *parameters; /* one pointer per kernel parameter, in the order of the signature */
    void *stream;            /* CUstream; NULL: the default one */
    bool cooperative, programmatic, non_portable_cluster, has_priority, has_carveout;
    int32_t priority, carveout;    /* carveout: shared memory that an SM is to have, in percent */
    uint32_t preferred_cluster[3]; /* larger clusters where there is room; [0] 0: none. CUDA 12.8 */
    int32_t cluster_policy;        /* 0: none; 1 default, 2 spread, 3 load balancing */
    int32_t sync_domain;           /* of memory synchronisation; 0: none; 1 default, 2 remote */
    bool has_sync_domain_map;
    uint8_t sync_domain_map[2]; /* numbers of the default and the remote domain */
} tirc_gpu_launch;
/* Starts the kernel and returns. The opt-in for much shared memory is made when needed and never taken back.
 */
TIRC_API tirc_status tirc_gpu_start(tirc_gpu_kernel *kernel, const tirc_gpu_launch *launch);
/* Launches warm_up times, then `count` times, each timed by events; milliseconds has room for count. */
TIRC_API tirc_status tirc_gpu_time(tirc_gpu_kernel *kernel, const tirc_gpu_launch *launch, uint32_t warm_up,
                                   uint32_t count, float *milliseconds);
/* The same by name: dtypes, ranks and extents are checked, sizes and the grid follow from the shapes, and
 * each tensor's `data` is a device address. Nothing is copied. */
TIRC_API tirc_status tirc_gpu_call(tirc_gpu_kernel *kernel, const tirc_argument *arguments, size_t count,
                                   void *stream);
TIRC_API tirc_status tirc_gpu_wait(tirc_gpu *gpu, void *stream);
/* An argument from a DLTensor (DLPack 1.0), by its address; nothing is copied. shape is borrowed from it.
 * TIRC_ERROR: not in C order, or of a type that tirc does not have. on_device may be NULL. */
TIRC_API tirc_status tirc_argument_dlpack(const void *tensor, const char *name, tirc_argument *argument,
                                          bool *on_device);

/* ---- diagnostics ---- */
typedef struct tirc_diagnostic {
    const char *severity; /* "error" "warning" "note" */
    const char *code;     /* "T0123" */
    const char *file;
    uint32_t line, column;   /* from 1; 0: no place */
    const char *text, *help; /* help may be NULL */
} tirc_diagnostic;
TIRC_API size_t tirc_diagnostic_count(const tirc_session *session);
TIRC_API bool tirc_diagnostic_at(const tirc_session *session, size_t index, tirc_diagnostic *diagnostic);
typedef enum tirc_format {
    TIRC_FORMAT_TEXT,
    TIRC_FORMAT_LINE,
    TIRC_FORMAT_JSON,
    TIRC_FORMAT_SARIF
} tirc_format;
TIRC_API void tirc_diagnostics_render(const tirc_session *session, tirc_format format, bool colour,
                                      tirc_sink sink, void *user);
/* Adds one of the caller's own, so that a tool prints everything the same way. help may be NULL. */
TIRC_API void tirc_diagnostic_add(tirc_session *session, bool is_error, const char *code, const char *text,
                                  const char *help);
/* Title and explanation of a code; false when unknown. */
TIRC_API bool tirc_explain(const char *code, const char **title, const char **explanation);
/* A kernel that breaks the rule of a code, or the same kernel put right: its text, and the command that shows
 * it, in which the file is called wrong or right. False where the code has none. */
TIRC_API bool tirc_example(const char *code, bool right, const char **command, const char **text);
TIRC_API const char *tirc_code_at(size_t index); /* every code, sorted; NULL at the end */

/* ---- words of the language, passes, levels: for help and docs ---- */
TIRC_API const char *tirc_word_at(size_t index, const char **signature, const char **summary);
TIRC_API const char *tirc_pass_at(size_t index, const char **summary);
TIRC_API const char *tirc_level(void); /* the machine level this processor would use */

/* ---- numbers ---- */
typedef struct tirc_dtype {
    const char *name;
    uint32_t bits;
    char kind; /* 'b' bool, 'i' signed, 'u' unsigned, 'f' float */
} tirc_dtype;
TIRC_API bool tirc_dtype_find(const char *name, tirc_dtype *dtype);
/* One element from its bits. Integers come through double here; use the bits for 64-bit values. */
TIRC_API double tirc_dtype_decode(const char *dtype, uint64_t bits);
TIRC_API uint64_t tirc_dtype_encode(const char *dtype, double value); /* nearest even; integers saturate */

/* ---- arrays: .npy and .npz files, generated inputs, comparison ---- */
/* Convention for types that NumPy lacks: a .npy of |V1 or <V2 (as ml_dtypes writes them) or of unsigned
 * integers of the same width holds the bits; the tensor parameter's dtype says which type it is. Arrays of
 * such types are written as |V1 and <V2; sub-byte types as |u1 with one element a byte. */
#define TIRC_RANK_MAX 16
typedef struct tirc_array {
    const char *dtype;
    uint32_t rank;
    int64_t shape[TIRC_RANK_MAX];
    uint64_t count, bytes;
    void *data; /* the session's memory; 64-byte aligned */
} tirc_array;
/* dtype NULL: whatever the file says; shape NULL: any. A mismatch is a diagnostic with both. Of shape, -1
 * matches anything. path may name a member of an .npz: "file.npz:member"; a sole member needs no name. */
TIRC_API tirc_status tirc_array_read(tirc_session *session, const char *path, const char *dtype,
                                     uint32_t rank, const int64_t *shape, tirc_array *array);
/* Written to a temporary file beside and renamed, so that no half file is left. An .npz gets one stored
 * member. */
TIRC_API tirc_status tirc_array_write(tirc_session *session, const char *path, const tirc_array *array);
/* spec: "zeros" "ones" "arange" "randn[:SEED]" "rand[:SEED]" "randint:LOW:HIGH[:SEED]" or a number. */
TIRC_API tirc_status tirc_array_make(tirc_session *session, const char *spec, const char *dtype,
                                     uint32_t rank, const int64_t *shape, tirc_array *array);
TIRC_API double tirc_array_value(const tirc_array *array, uint64_t index);
typedef struct tirc_comparison {
    uint64_t count, different; /* elements with |a - b| > atol + rtol * |b|; NaN equals only NaN */
    double max_absolute, max_relative;
    uint64_t first, worst; /* flat index of the first difference, and of the largest one */
    double first_actual, first_expected, worst_actual, worst_expected;
} tirc_comparison;
TIRC_API tirc_status tirc_array_compare(tirc_session *session, const tirc_array *actual,
                                        const tirc_array *expected, double rtol, double atol,
                                        tirc_comparison *comparison);

/* ---- layouts: text in, answers as data ---- */
typedef struct tirc_layout tirc_layout; /* belongs to the session */
typedef enum tirc_answer {
    TIRC_NO,
    TIRC_YES,
    TIRC_UNKNOWN
} tirc_answer; /* UNKNOWN: it gave up, and says why */
/* text: S[(8,8):(8,1)]+R[..]+n@axis, Z(3,3,3)*S[...], or CuTe's (8,8):(8,1). rank 0: the shape is that of the
 * iters, or of the CuTe modes; otherwise the layout must have exactly the shape's elements. */
TIRC_API tirc_status tirc_layout_read(tirc_session *session, const char *text, uint32_t rank,
                                      const int64_t *shape, tirc_layout **layout);
typedef struct tirc_layout_facts {
    uint32_t rank;
    const int64_t *shape;
    int64_t elements, copies; /* copies of each element */
    uint32_t axis_count;
    const char *const *axes;      /* in the order of positions */
    const char *text, *canonical; /* in the notation of S[...] */
    const char *thread_axis;      /* the narrowest axis that numbers threads or lanes; NULL: none */
} tirc_layout_facts;
TIRC_API void tirc_layout_describe(const tirc_layout *layout, tirc_layout_facts *facts);
/* Positions of an element, axis_count of them, or of its first `limit` copies in turn; count gets how many
 * copies there are. */
TIRC_API tirc_status tirc_layout_at(const tirc_layout *layout, const int64_t *coordinate, size_t limit,
                                    int64_t *positions, int64_t *count);
/* Row-major number of an element, to its coordinate of `rank` entries. */
TIRC_API void tirc_layout_coordinate(const tirc_layout *layout, int64_t element, int64_t *coordinate);
/* Elements at a place: the inverse map. Axes not named may have any value. */
typedef struct tirc_layout_place {
    const char *axis;
    int64_t value;
} tirc_layout_place;
typedef struct tirc_layout_found {
    const int64_t *elements;  /* row-major numbers, sorted by m */
    const int64_t *positions; /* axis_count for each */
    size_t count;
    bool complete; /* false: stopped at the limit, or after too many steps */
} tirc_layout_found;
TIRC_API tirc_status tirc_layout_find(const tirc_layout *layout, const tirc_layout_place *places,
                                      size_t count, size_t limit, tirc_layout_found *found);
/* Whether no two elements share a place; when they do, two that do and the place (axis_count entries). */
TIRC_API tirc_answer tirc_layout_injective(const tirc_layout *layout, int64_t *first, int64_t *second,
                                           int64_t *position);
/* Whether both put every element at the same places; first and second get the places of an element that they
 * do not agree on, as text. why may be NULL after YES and NO. */
typedef struct tirc_layout_difference {
    int64_t element;
    const char *first, *second, *why;
} tirc_layout_difference;
TIRC_API tirc_answer tirc_layout_compare(const tirc_layout *a, const tirc_layout *b,
                                         tirc_layout_difference *difference);
/* The widest access along the last dimension for elements of `bits`, and why not twice as wide. */
typedef struct tirc_layout_vector {
    int64_t elements;
    bool exact;
    const char *why;
} tirc_layout_vector;
TIRC_API tirc_status tirc_layout_widest(const tirc_layout *layout, uint32_t bits, uint32_t limit_bytes,
                                        tirc_layout_vector *vector);
/* A warp's access to shared memory: lane l touches `width` bytes from element elements[l] on. */
typedef struct tirc_bank_conflict {
    uint32_t pass, bank, words; /* different words of one bank */
    uint32_t lanes;             /* mask of the lanes that want them */
} tirc_bank_conflict;
typedef struct tirc_banks {
    uint32_t wavefronts, ideal; /* 128-byte passes, and without conflicts */
    const tirc_bank_conflict *conflicts;
    size_t count;
} tirc_banks;
typedef struct tirc_warp_access {
    const int64_t *elements;
    uint32_t lanes, bits, width;
} tirc_warp_access;
TIRC_API tirc_status tirc_layout_banks(const tirc_layout *layout, const tirc_warp_access *access,
                                       tirc_banks *banks);
/* CuTe's shape:stride for the same map, where it has one. */
TIRC_API tirc_status tirc_layout_cute(const tirc_layout *layout, const char **text);
typedef enum tirc_picture {
    TIRC_PICTURE_SVG,
    TIRC_PICTURE_HTML,
    TIRC_PICTURE_TEXT,
    TIRC_PICTURE_ANSI
} tirc_picture;
/* bits 0: not known. access: a warp access to outline, or NULL. width: of the terminal, 0 for 120. */
TIRC_API tirc_status tirc_layout_draw(const tirc_layout *layout, tirc_picture picture, uint32_t bits,
                                      const tirc_warp_access *access, uint32_t width, tirc_sink sink,
                                      void *user);
/* The register fragment of an instruction by name: tcgen05.ld.16x128b.x4, tcgen05.st..., ldmatrix.x4.trans,
 * wgmma.m64n128, wgmma.m64k16.f16.A, mma.m16n8k16.f16.A, mma.m16n8.f32.D, mma.m8n8k4.f16.A.col,
 * mma.sp.m16n8k32.f16.A; of whole tiles tcgen05.atom.16x256b.128x64, tcgen05.mma.F.n64,
 * tcgen05.cp.32x128b.warpx4, tcgen05.sf.128x4.4X. split: column offset of the second half of 16x32bx2, else
 * 0. */
typedef struct tirc_fragment {
    tirc_layout *layout; /* (lanes, columns) or (rows, columns) to threads and m, or to tensor memory */
    bool is_transfer;    /* tcgen05.ld or st: the fields below are set */
    int32_t lanes, bits_per_lane, cells, registers_per_thread;
    const char *const *words; /* sentences that say what it is, word_count of them */
    uint32_t word_count;
} tirc_fragment;
TIRC_API tirc_status tirc_fragment_read(tirc_session *session, const char *name, bool pack, int64_t split,
                                        tirc_fragment *fragment);
/* Every name that tirc_fragment_read takes, of free sizes the usual ones; owned by the session. */
TIRC_API tirc_status tirc_fragment_names(tirc_session *session, const char *const **names, size_t *count);
TIRC_API tirc_status tirc_fragment_draw(tirc_session *session, const char *name, bool pack, int64_t split,
                                        tirc_picture picture, uint32_t width, tirc_sink sink, void *user);

#ifdef __cplusplus
}
#endif
#endif
