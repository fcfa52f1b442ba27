/* SPDX-License-Identifier: Apache-2.0
 * One launch function per kernel, over the CUDA runtime: grid, block and cluster from the kernel's own
 * parameters, the attributes that the launch needs, and the kernel's limit of dynamic shared memory, which is
 * only ever raised. Knows nothing of kernel bodies. */
#include "cuda/cuda_internal.h"
#include <string.h>

/* Extents are small; 64 bits hold what they multiply to. Division is the language's: rounded down. */
static const char floordiv[] = "\nstatic inline long long host_floordiv(long long a, long long b) {\n"
                               "  return a / b - (a % b != 0 && (a < 0) != (b < 0));\n"
                               "}\n";
static const char floormod[] = "\nstatic inline long long host_floormod(long long a, long long b) {\n"
                               "  return a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0);\n"
                               "}\n";

/* The driver's encoder by way of the runtime, so that nothing has to link the driver. */
static const char tensor_map[] =
    "\nstatic cudaError_t host_tensor_map(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* "
    "address,\n"
    "                                   const cuuint64_t* dims, const cuuint64_t* strides, const cuuint32_t* "
    "box,\n"
    "                                   CUtensorMapSwizzle swizzle) {\n"
    "  typedef CUresult (*encoder)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,\n"
    "                              const cuuint64_t*, const cuuint32_t*, const cuuint32_t*, "
    "CUtensorMapInterleave,\n"
    "                              CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);\n"
    "  static const encoder encode = [] {\n"
    "    void* found = nullptr;\n"
    "    cudaDriverEntryPointQueryResult state;\n"
    "#if CUDART_VERSION >= 12050\n"
    "    cudaError_t error = cudaGetDriverEntryPointByVersion(\"cuTensorMapEncodeTiled\", &found, 12000, "
    "cudaEnableDefault, &state);\n"
    "#else\n"
    "    cudaError_t error = cudaGetDriverEntryPoint(\"cuTensorMapEncodeTiled\", &found, cudaEnableDefault, "
    "&state);\n"
    "#endif\n"
    "    return error == cudaSuccess && state == cudaDriverEntryPointSuccess ? (encoder)found : nullptr;\n"
    "  }();\n"
    "  if (!encode) return cudaErrorNotSupported;\n"
    "  const cuuint32_t steps[5] = {1, 1, 1, 1, 1};\n"
    "  CUresult result = encode(map, type, rank, address, dims, strides, box, steps, "
    "CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,\n"
    "                           CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);\n"
    "  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;\n"
    "}\n";

static void host_expr(cuda_writer *w, const ir_expr *e);

static void host_pair(cuda_writer *w, const char *before, const ir_expr *e, const char *between) {
    base_builder_string(w->out, before);
    host_expr(w, e->args[0]);
    base_builder_string(w->out, between);
    host_expr(w, e->args[1]);
    base_builder_char(w->out, ')');
}

static void host_choice(cuda_writer *w, const ir_expr *e, const char *compare) {
    host_pair(w, "(", e, compare);
    base_builder_string(w->out, " ? ");
    host_expr(w, e->args[0]);
    base_builder_string(w->out, " : ");
    host_expr(w, e->args[1]);
}

static void host_expr(cuda_writer *w, const ir_expr *e) {
    int64_t value;
    if (ir_is_int(e, &value)) {
        base_builder_format(w->out, "%lldLL", (long long)value);
        return;
    }
    switch (e->op) {
    case IR_VAR:
        base_builder_format(w->out, "(long long)%s", cuda_name_of(w, e->at.var));
        break;
    case IR_CAST:
        base_builder_format(w->out, "(long long)(%s)(", cuda_type(w, e->type));
        host_expr(w, e->args[0]);
        base_builder_char(w->out, ')');
        break;
    case IR_ADD:
        host_pair(w, "(", e, " + ");
        break;
    case IR_SUB:
        host_pair(w, "(", e, " - ");
        break;
    case IR_MUL:
        host_pair(w, "(", e, " * ");
        break;
    case IR_FLOORDIV:
        host_pair(w, "host_floordiv(", e, ", ");
        break;
    case IR_FLOORMOD:
        host_pair(w, "host_floormod(", e, ", ");
        break;
    case IR_TRUNCDIV:
        host_pair(w, "(", e, " / ");
        break;
    case IR_TRUNCMOD:
        host_pair(w, "(", e, " % ");
        break;
    case IR_MIN:
    case IR_MAX:
        base_builder_char(w->out, '(');
        host_choice(w, e, e->op == IR_MIN ? " < " : " > ");
        base_builder_char(w->out, ')');
        break;
    default: {
        base_builder text;
        base_builder_start(&text, w->arena);
        ir_expr_print(e, &text);
        base_builder_string(w->out, "0");
        base_report(w->diagnostics, BASE_ERROR, "T0453", w->span,
                    "the launch function cannot compute `%s` on the host: sums, products, quotients, minima "
                    "and maxima "
                    "of parameters are possible",
                    text.data);
    }
    }
}

static void host_dimensions(cuda_writer *w, const ir_expr *const *dims) {
    for (int i = 0; i < 3; i++) {
        int64_t value;
        base_builder_string(w->out, i ? ", " : "");
        if (ir_is_int(dims[i], &value)) {
            base_builder_format(w->out, "%lld", (long long)value);
            continue;
        }
        base_builder_string(w->out, "(unsigned)");
        host_expr(w, dims[i]);
    }
}

/* The parameters once more, as declarations or as arguments. */
static void host_parameters(cuda_writer *w, bool declare) {
    for (size_t i = 0; i < w->function->parameters.count; i++) {
        const ir_parameter *p = &w->function->parameters.items[i];
        const void *object = p->tensor ? (const void *)p->tensor : (const void *)p->var;
        if (declare && p->tensor && p->tensor->map) /* made here, by make_maps */
            cuda_name_new(w, object, p->name, "");
        else if (declare && !p->tensor && ir_type_is_tensor_map(p->var->type)) /* the caller's */
            base_builder_format(w->out, "const CUtensorMap& %s, ", cuda_name_new(w, object, p->name, ""));
        else if (declare && p->tensor)
            base_builder_format(w->out, "%s* %s, ", cuda_storage(w, p->tensor->type.dtype),
                                cuda_name_new(w, object, p->name, "_ptr"));
        else if (declare)
            base_builder_format(w->out, "%s %s, ", cuda_type(w, p->var->type),
                                cuda_name_new(w, object, p->name, ""));
        else
            base_builder_format(w->out, ", %s", cuda_name_of(w, object));
    }
}

/* Vector accesses rely on what parameters declare. */
static void check_alignment(cuda_writer *w) {
    for (size_t i = 0; i < w->function->parameters.count; i++) {
        const ir_tensor *tensor = w->function->parameters.items[i].tensor;
        if (tensor && !tensor->map && tensor->type.align > 1)
            base_builder_format(
                w->out, "  if ((unsigned long long)%s %% %u != 0) return cudaErrorMisalignedAddress;\n",
                cuda_name_of(w, tensor), tensor->type.align);
    }
}

/* The type of a tensor map for elements that it only moves; the numbers are CUtensorMapDataType's names. */
static const char *map_type(num_dtype dtype) {
    switch (dtype) {
    case NUM_DTYPE_F16:
        return "FLOAT16";
    case NUM_DTYPE_BF16:
        return "BFLOAT16";
    case NUM_DTYPE_F32:
        return "FLOAT32";
    case NUM_DTYPE_F64:
        return "FLOAT64";
    default: {
        unsigned bits = num_dtype_bits(dtype);
        return bits == 8 ? "UINT8" : bits == 16 ? "UINT16" : bits == 32 ? "UINT32" : "UINT64";
    }
    }
}

static void make_map(cuda_writer *w, const ir_tensor *tensor) {
    static const char *const swizzles[] = {"NONE", "32B", "64B", "128B"};
    const ir_tensor_map *map = tensor->map;
    num_dtype dtype = (num_dtype)map->of->type.dtype;
    const char *name = cuda_name_of(w, tensor);
    base_builder_format(w->out, "  CUtensorMap %s;\n  {\n    const cuuint64_t dims[] = {", name);
    for (uint32_t d = 0; d < map->rank; d++) {
        base_builder_string(w->out, d ? ", (cuuint64_t)" : "(cuuint64_t)");
        host_expr(w, map->dims[d]);
    }
    base_builder_string(w->out, "}, strides[] = {");
    for (uint32_t d = 1; d < map->rank; d++) {
        base_builder_string(w->out, d > 1 ? ", (cuuint64_t)" : "(cuuint64_t)");
        host_expr(w, map->strides[d]);
        base_builder_format(w->out, " * %u / 8", num_dtype_bits(dtype));
    }
    base_builder_string(w->out, map->rank > 1 ? "};\n    const cuuint32_t box[] = {"
                                              : "0};\n    const cuuint32_t box[] = {");
    for (uint32_t d = 0; d < map->rank; d++)
        base_builder_format(w->out, "%s%u", d ? ", " : "", map->box[d]);
    base_builder_format(
        w->out,
        "};\n    cudaError_t error = host_tensor_map(&%s, CU_TENSOR_MAP_DATA_TYPE_%s, %u, %s, dims, "
        "strides, box, CU_TENSOR_MAP_SWIZZLE_%s);\n    if (error != cudaSuccess) return error;\n  }\n",
        name, map_type(dtype), map->rank, cuda_name_of(w, map->of), swizzles[map->swizzle & 3]);
}

/* What copies by TMA read: over the caller's pointers, as tirc makes them for its own launches. */
static void make_maps(cuda_writer *w) {
    for (size_t i = 0; i < w->function->parameters.count; i++) {
        const ir_tensor *tensor = w->function->parameters.items[i].tensor;
        if (tensor && tensor->map)
            make_map(w, tensor);
    }
}

/* The limit belongs to the kernel on one device. A later launch that needs less leaves it as it is: another
 * thread may be launching with more. */
static void raise_limit(cuda_writer *w, const lower_plan *plan) {
    const ir_expr *asked = plan->function->launch.dynamic_smem_bytes;
    base_builder_format(w->out, "  long long dynamic = %llu;\n",
                        (unsigned long long)plan->dynamic_smem_bytes);
    if (asked && !ir_is_int(asked, NULL)) {
        base_builder_string(w->out, "  long long asked = ");
        host_expr(w, asked);
        base_builder_string(w->out,
                            ";\n  if (asked < dynamic) return cudaErrorInvalidValue;\n  dynamic = asked;\n");
    } else if (!lower_plan_opt_in(plan)) {
        return;
    }
    base_builder_format(w->out,
                        "  if (dynamic + %llu > %d) {  // more than a kernel has without asking\n"
                        "    static std::mutex raising;\n"
                        "    static long long limits[64];  // by device\n"
                        "    int device = 0;\n"
                        "    cudaError_t error = cudaGetDevice(&device);\n"
                        "    std::lock_guard<std::mutex> guard(raising);\n"
                        "    if (error == cudaSuccess && (device >= 64 || limits[device] < dynamic)) {\n"
                        "      error = cudaFuncSetAttribute(%s, cudaFuncAttributeMaxDynamicSharedMemorySize, "
                        "(int)dynamic);\n"
                        "      if (error == cudaSuccess && device < 64) limits[device] = dynamic;\n"
                        "    }\n"
                        "    if (error != cudaSuccess) return error;\n"
                        "  }\n",
                        (unsigned long long)plan->static_smem_bytes, LOWER_STATIC_SHARED_LIMIT,
                        plan->kernel_name);
}

/* Attributes of the kernel that every launch wants the same: set once on each device. */
static void set_once(cuda_writer *w, const lower_plan *plan, bool wide) {
    const ir_launch *launch = &plan->function->launch;
    if (!wide && !launch->has_carveout)
        return;
    base_builder_string(w->out, "  {\n"
                                "    static std::mutex setting;\n"
                                "    static bool set[64];  // by device\n"
                                "    int device = 0;\n"
                                "    cudaError_t error = cudaGetDevice(&device);\n"
                                "    std::lock_guard<std::mutex> guard(setting);\n"
                                "    if (error == cudaSuccess && (device >= 64 || !set[device])) {\n");
    if (wide)
        base_builder_format(w->out,
                            "      error = cudaFuncSetAttribute(%s, "
                            "cudaFuncAttributeNonPortableClusterSizeAllowed, 1);\n",
                            plan->kernel_name);
    if (launch->has_carveout)
        base_builder_format(w->out,
                            "      %serror = cudaFuncSetAttribute(%s, "
                            "cudaFuncAttributePreferredSharedMemoryCarveout, %ld);\n",
                            wide ? "if (error == cudaSuccess) " : "", plan->kernel_name,
                            (long)launch->carveout);
    base_builder_string(w->out, "      if (error == cudaSuccess && device < 64) set[device] = true;\n"
                                "    }\n"
                                "    if (error != cudaSuccess) return error;\n"
                                "  }\n");
}

static void attribute(cuda_writer *w, unsigned *count, const char *id, const char *member,
                      const char *value) {
    base_builder_format(w->out,
                        "  attributes[%u].id = cudaLaunchAttribute%s;\n  attributes[%u].val.%s = %s;\n",
                        *count, id, *count, member, value);
    ++*count;
}

/* A cluster of constants stands on the kernel itself (__cluster_dims__). */
static void attributes(cuda_writer *w, const lower_plan *plan) {
    static const char *const policies[] = {"", "Default", "Spread", "LoadBalancing"};
    const ir_launch *launch = &plan->function->launch;
    int64_t ctas = 1;
    unsigned count = 0;
    bool constant = lower_plan_cluster(plan, &ctas);
    bool varies = launch->cluster[0] && (!constant || launch->preferred[0]);
    unsigned wanted = (unsigned)varies + launch->cooperative + launch->programmatic + launch->has_priority +
                      (launch->cluster_policy != IR_CLUSTER_POLICY_NONE) + (launch->preferred[0] != 0) +
                      (launch->sync_domain != IR_SYNC_DOMAIN_NONE) + launch->has_domain_map;
    set_once(w, plan,
             lower_plan_non_portable(plan, NULL) ||
                 (varies && !constant && launch->cluster_size != IR_CLUSTER_SIZE_PORTABLE));
    if (!wanted)
        return;
    base_builder_format(w->out,
                        "  cudaLaunchAttribute attributes[%u] = {};\n  config.attrs = attributes;\n"
                        "  config.numAttrs = %u;\n",
                        wanted, wanted);
    if (varies) {
        base_builder_format(w->out, "  attributes[%u].id = cudaLaunchAttributeClusterDimension;\n", count);
        for (int i = 0; i < 3; i++) {
            base_builder_format(w->out, "  attributes[%u].val.clusterDim.%c = (unsigned)", count, "xyz"[i]);
            host_expr(w, launch->cluster[i]);
            base_builder_string(w->out, ";\n");
        }
        count++;
    }
    for (int i = 0; i < 3 && launch->preferred[0]; i++)
        base_builder_format(
            w->out, "%s  attributes[%u].val.preferredClusterDim.%c = %ld;\n",
            i ? ""
              : base_arena_format(
                    w->arena, "  attributes[%u].id = cudaLaunchAttributePreferredClusterDimension;\n", count),
            count, "xyz"[i], (long)launch -> preferred[i]);
    count += launch->preferred[0] != 0;
    if (launch->sync_domain)
        attribute(w, &count, "MemSyncDomain", "memSyncDomain",
                  launch->sync_domain == IR_SYNC_DOMAIN_REMOTE ? "cudaLaunchMemSyncDomainRemote"
                                                               : "cudaLaunchMemSyncDomainDefault");
    if (launch->has_domain_map)
        attribute(w, &count, "MemSyncDomainMap", "memSyncDomainMap",
                  base_arena_format(w->arena, "{%ld, %ld}", (long)launch->domain_map[0],
                                    (long)launch->domain_map[1]));
    if (launch->cooperative)
        attribute(w, &count, "Cooperative", "cooperative", "1");
    if (launch->programmatic)
        attribute(w, &count, "ProgrammaticStreamSerialization", "programmaticStreamSerializationAllowed",
                  "1");
    if (launch->has_priority)
        attribute(w, &count, "Priority", "priority",
                  base_arena_format(w->arena, "%ld", (long)launch->priority));
    if (launch->cluster_policy)
        attribute(
            w, &count, "ClusterSchedulingPolicyPreference", "clusterSchedulingPolicyPreference",
            base_arena_format(w->arena, "cudaClusterSchedulingPolicy%s", policies[launch->cluster_policy]));
}

void cuda_host(cuda_writer *w, const lower_plan *plan) {
    const ir_launch *launch = &plan->function->launch;
    if (!launch->present)
        return;
    w->plan = plan;
    w->function = plan->function;
    w->span = launch->span;
    w->names = base_map_create(w->arena);
    cuda_scope_open(w);
    static const char *const own[] = {"config",  "attributes", "stream", "dynamic", "asked",   "limit",
                                      "raising", "wide",       "guard",  "error",   "setting", "set",
                                      "device",  "limits",     "dims",   "strides", "box"};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        cuda_name_take(w, own[i]);
    base_builder_format(w->out, "\nextern \"C\" cudaError_t %s_launch(", plan->kernel_name);
    host_parameters(w, true);
    base_builder_string(w->out, "cudaStream_t stream) {\n");
    check_alignment(w);
    make_maps(w);
    raise_limit(w, plan);
    base_builder_string(w->out, "  cudaLaunchConfig_t config = {};\n  config.gridDim = dim3(");
    host_dimensions(w, launch->grid);
    base_builder_string(w->out, ");\n  config.blockDim = dim3(");
    host_dimensions(w, launch->block);
    base_builder_string(w->out,
                        ");\n  config.dynamicSmemBytes = (size_t)dynamic;\n  config.stream = stream;\n");
    attributes(w, plan);
    base_builder_format(w->out, "  return cudaLaunchKernelEx(&config, %s", plan->kernel_name);
    host_parameters(w, false);
    base_builder_string(w->out, ");\n}\n");
    cuda_scope_close(w);
}

void cuda_host_helpers(const base_builder *text, base_builder *out) {
    if (text->size && strstr(text->data, "host_tensor_map("))
        base_builder_string(out, tensor_map);
    if (text->size && strstr(text->data, "host_floordiv("))
        base_builder_string(out, floordiv);
    if (text->size && strstr(text->data, "host_floormod("))
        base_builder_string(out, floormod);
}
