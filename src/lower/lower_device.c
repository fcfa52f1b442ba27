/* SPDX-License-Identifier: Apache-2.0
 * What architectures give a CTA, and whether a plan fits. Must not know any device that is really there.
 * Source: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability" and "Shared Memory"
 * of the capabilities; the 1 KiB that the system keeps per CTA is taken from the SM, not from what a CTA may
 * ask for. */
#include "lower/lower.h"
#include <string.h>

static const lower_device devices[] = {
    {"sm_70", 70, 96 * 1024, 96 * 1024, 0, 2048, 32, 0, 0},
    {"sm_75", 75, 64 * 1024, 64 * 1024, 0, 1024, 16, 0, 0},
    {"sm_80", 80, 163 * 1024, 164 * 1024, 1024, 2048, 32, 0, 0},
    {"sm_86", 86, 99 * 1024, 100 * 1024, 1024, 1536, 16, 0, 0},
    {"sm_87", 87, 163 * 1024, 164 * 1024, 1024, 1536, 16, 0, 0},
    {"sm_89", 89, 99 * 1024, 100 * 1024, 1024, 1536, 24, 0, 0},
    {"sm_90", 90, 227 * 1024, 228 * 1024, 1024, 2048, 32, 8, 16},
    {"sm_100", 100, 227 * 1024, 228 * 1024, 1024, 2048, 32, 8, 16},
    {"sm_103", 103, 227 * 1024, 228 * 1024, 1024, 2048, 32, 8, 16},
    {"sm_110", 110, 227 * 1024, 228 * 1024, 1024, 1536, 24, 8, 16},
    {"sm_120", 120, 99 * 1024, 100 * 1024, 1024, 1536, 24, 8, 8},
    {"sm_121", 121, 99 * 1024, 100 * 1024, 1024, 1536, 24, 8, 8},
};

const lower_device *lower_device_at(size_t index) {
    return index < sizeof devices / sizeof devices[0] ? &devices[index] : NULL;
}

/* sm_90a and sm_100f name the device of sm_90 and sm_100. */
const lower_device *lower_device_find(const char *target) {
    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++) {
        size_t size = strlen(devices[i].name);
        if (strncmp(target, devices[i].name, size) == 0 &&
            (target[size] == 0 || ((target[size] == 'a' || target[size] == 'f') && target[size + 1] == 0)))
            return &devices[i];
    }
    return NULL;
}

bool lower_plan_opt_in(const lower_plan *plan) {
    return plan->dynamic_smem_bytes > 0 &&
           plan->static_smem_bytes + plan->dynamic_smem_bytes > LOWER_STATIC_SHARED_LIMIT;
}

/* The three largest, by bytes; the first of equals first. */
void lower_plan_note_largest(base_diagnostics *diagnostics, base_diagnostic *d, const lower_plan *plan) {
    const lower_shared *last = NULL;
    for (int n = 0; n < 3; n++) {
        const lower_shared *best = NULL;
        for (size_t i = 0; i < plan->shared.count; i++) {
            const lower_shared *s = &plan->shared.items[i];
            bool behind = !last || s->bytes < last->bytes || (s->bytes == last->bytes && s > last);
            if (behind && (!best || s->bytes > best->bytes))
                best = s;
        }
        if (!best)
            return;
        base_note(diagnostics, d, best->span, "'%s' takes %llu bytes of %s shared memory", best->name,
                  (unsigned long long)best->bytes, best->dynamic ? "dynamic" : "static");
        last = best;
    }
}

static void check_shared(base_diagnostics *diagnostics, const lower_plan *plan, const lower_device *device) {
    uint64_t fixed = plan->static_smem_bytes, dynamic = plan->dynamic_smem_bytes;
    if (fixed + dynamic <= device->shared_per_cta)
        return;
    base_span span = plan->function->launch.present ? plan->function->launch.span : plan->function->span;
    base_diagnostic *d = base_report(
        diagnostics, BASE_ERROR, "T0460", span,
        "'%s' asks for %llu bytes of dynamic shared memory beside %llu static ones, %llu together; a "
        "CTA of %s has at most %u",
        plan->name, (unsigned long long)dynamic, (unsigned long long)fixed,
        (unsigned long long)(fixed + dynamic), device->name, device->shared_per_cta);
    lower_plan_note_largest(diagnostics, d, plan);
    base_help(diagnostics, d,
              "make tiles smaller, or let tensors that do not live at once share bytes; %llu bytes "
              "are too many",
              (unsigned long long)(fixed + dynamic - device->shared_per_cta));
}

static void check_grid(base_diagnostics *diagnostics, const lower_plan *plan) {
    static const int64_t limit[3] = {0x7fffffff, 65535, 65535};
    const ir_launch *launch = &plan->function->launch;
    int64_t extent;
    for (int i = 0; i < 3; i++) {
        if (ir_is_int(launch->grid[i], &extent) && (extent < 1 || extent > limit[i]))
            base_report(diagnostics, BASE_ERROR, "T0461", launch->span,
                        "the grid's %c extent is %lld; possible are 1 to %lld", "xyz"[i], (long long)extent,
                        (long long)limit[i]);
        if (ir_is_int(launch->block[i], &extent) && (extent < 1 || extent > (i == 2 ? 64 : 1024)))
            base_report(diagnostics, BASE_ERROR, "T0461", launch->span,
                        "the block's %c extent is %lld; possible are 1 to %d", "xyz"[i], (long long)extent,
                        i == 2 ? 64 : 1024);
    }
}

bool lower_plan_cluster(const lower_plan *plan, int64_t *ctas) {
    const ir_launch *launch = &plan->function->launch;
    *ctas = 1;
    for (int i = 0; i < 3 && launch->present && launch->cluster[0]; i++) {
        int64_t extent;
        if (!ir_is_int(launch->cluster[i], &extent) || __builtin_mul_overflow(*ctas, extent, ctas))
            return false;
    }
    return true;
}

static void check_cluster(base_diagnostics *diagnostics, const lower_plan *plan, const lower_device *device) {
    const ir_launch *launch = &plan->function->launch;
    int64_t ctas, grid, cluster;
    if (!launch->cluster[0])
        return;
    for (int i = 0; i < 3; i++) {
        if (!ir_is_int(launch->cluster[i], &cluster))
            continue;
        if (cluster < 1)
            base_report(diagnostics, BASE_ERROR, "T0462", launch->span,
                        "the cluster's %c extent is %lld; it has to be positive", "xyz"[i],
                        (long long)cluster);
        else if (ir_is_int(launch->grid[i], &grid) && grid > 0 && grid % cluster)
            base_report(diagnostics, BASE_ERROR, "T0462", launch->span,
                        "the grid's %c extent %lld is no multiple of the cluster's %lld", "xyz"[i],
                        (long long)grid, (long long)cluster);
    }
    if (!lower_plan_cluster(plan, &ctas) || ctas <= 1)
        return;
    if (device->cluster_limit == 0)
        base_report(diagnostics, BASE_ERROR, "T0463", launch->span,
                    "a cluster of %lld CTAs: clusters need sm_90 or later, and the target is %s",
                    (long long)ctas, device->name);
    else if (ctas > device->cluster_limit)
        base_report(diagnostics, BASE_ERROR, "T0463", launch->span,
                    "a cluster of %lld CTAs: %s takes %u at most%s", (long long)ctas, device->name,
                    device->cluster_limit,
                    device->cluster_limit > device->cluster_portable
                        ? base_arena_format(plan->function->module->arena,
                                            ", and more than %u only as a non-portable size",
                                            device->cluster_portable)
                        : "");
}

/* CUDA C++ Programming Guide, "Technical Specifications": 255 registers a thread at most. */
enum { REGISTER_LIMIT = 255 };

static void check_limits(base_diagnostics *diagnostics, const lower_plan *plan, const lower_device *device) {
    const ir_launch *launch = &plan->function->launch;
    int64_t threads = 1, extent, ctas;
    bool constant = true;
    for (int i = 0; i < 3; i++)
        constant = constant && ir_is_int(launch->block[i], &extent) && extent > 0 && extent <= 1024 &&
                   (threads *= extent) > 0;
    if (launch->max_registers > REGISTER_LIMIT)
        base_report(diagnostics, BASE_ERROR, "T0465", launch->span,
                    "max_registers is %lld; a thread of %s has %d at most", (long long)launch->max_registers,
                    device->name, REGISTER_LIMIT);
    if (launch->min_blocks_per_sm > device->ctas_per_sm)
        base_report(diagnostics, BASE_ERROR, "T0465", launch->span,
                    "min_blocks_per_sm is %lld; an SM of %s holds %u CTAs at most",
                    (long long)launch->min_blocks_per_sm, device->name, device->ctas_per_sm);
    else if (constant && launch->min_blocks_per_sm * threads > device->threads_per_sm)
        base_report(diagnostics, BASE_ERROR, "T0465", launch->span,
                    "min_blocks_per_sm is %lld with blocks of %lld threads; an SM of %s holds %u threads at "
                    "most, %u such CTAs",
                    (long long)launch->min_blocks_per_sm, (long long)threads, device->name,
                    device->threads_per_sm, (unsigned)(device->threads_per_sm / threads));
    if (launch->max_blocks_per_cluster > device->cluster_limit)
        base_report(diagnostics, BASE_ERROR, "T0465", launch->span,
                    "max_blocks_per_cluster is %lld; a cluster of %s has %u CTAs at most",
                    (long long)launch->max_blocks_per_cluster, device->name, device->cluster_limit);
    else if (launch->max_blocks_per_cluster && lower_plan_cluster(plan, &ctas) &&
             ctas > launch->max_blocks_per_cluster)
        base_report(diagnostics, BASE_ERROR, "T0465", launch->span,
                    "a cluster of %lld CTAs, and max_blocks_per_cluster promises %lld at most",
                    (long long)ctas, (long long)launch->max_blocks_per_cluster);
}

/* A preferred cluster is made of whole clusters in x and y, and the grid of whole preferred clusters (CUDA
 * Runtime API, cudaLaunchAttributeValue: preferredClusterDim). */
static void check_preferred(base_diagnostics *diagnostics, const lower_plan *plan,
                            const lower_device *device) {
    const ir_launch *launch = &plan->function->launch;
    int64_t grid, cluster, ctas = 1;
    if (!launch->preferred[0])
        return;
    if (!launch->cluster[0])
        base_report(diagnostics, BASE_ERROR, "T0469", launch->span, "a preferred cluster without a cluster");
    for (int i = 0; i < 3; i++) {
        int32_t preferred = launch->preferred[i];
        ctas *= preferred <= 1024 ? preferred : 1024;
        if (launch->cluster[i] && ir_is_int(launch->cluster[i], &cluster) && cluster > 0 &&
            (i == 2 ? preferred != cluster : preferred % cluster != 0))
            base_report(diagnostics, BASE_ERROR, "T0469", launch->span,
                        "the preferred cluster's %c extent is %ld; it has to be %s the cluster's, %lld",
                        "xyz"[i], (long)preferred, i == 2 ? "equal to" : "a multiple of", (long long)cluster);
        if (ir_is_int(launch->grid[i], &grid) && grid > 0 && grid % preferred)
            base_report(diagnostics, BASE_ERROR, "T0469", launch->span,
                        "the grid's %c extent %lld is no multiple of the preferred cluster's %ld", "xyz"[i],
                        (long long)grid, (long)preferred);
    }
    if (device->cluster_limit && ctas > device->cluster_limit)
        base_report(diagnostics, BASE_ERROR, "T0469", launch->span,
                    "a preferred cluster of %lld CTAs: %s takes %u at most", (long long)ctas, device->name,
                    device->cluster_limit);
}

/* Launch attributes that came with an architecture (CUDA Driver API, CUlaunchAttributeID). */
static void check_options(base_diagnostics *diagnostics, const lower_plan *plan, const lower_device *device) {
    const ir_launch *launch = &plan->function->launch;
    int64_t ctas;
    const char *late = launch->programmatic                            ? "programmatic launches"
                       : launch->cluster_policy                        ? "cluster scheduling policies"
                       : launch->preferred[0]                          ? "preferred clusters"
                       : launch->sync_domain || launch->has_domain_map ? "memory synchronisation domains"
                                                                       : NULL;
    if (late && device->number < 90) {
        base_diagnostic *d = base_report(diagnostics, BASE_ERROR, "T0466", launch->span,
                                         "%s need sm_90 or later, and the target is %s", late, device->name);
        base_help(diagnostics, d, "leave it out of the launch, or build for a later target: -arch sm_90a");
    }
    if (launch->cluster_size == IR_CLUSTER_SIZE_PORTABLE && lower_plan_cluster(plan, &ctas) &&
        ctas > device->cluster_portable && device->cluster_portable) {
        base_diagnostic *d =
            base_report(diagnostics, BASE_ERROR, "T0467", launch->span,
                        "a cluster of %lld CTAs, and the launch requires a portable size: %u at most",
                        (long long)ctas, device->cluster_portable);
        base_help(diagnostics, d,
                  "portable_cluster_size_mode=\"allow_non_portable\" takes up to %u CTAs on %s",
                  device->cluster_limit, device->name);
    }
}

bool lower_plan_non_portable(const lower_plan *plan, const lower_device *device) {
    int64_t ctas;
    unsigned portable = device && device->cluster_portable ? device->cluster_portable : 8;
    return plan->function->launch.cluster_size == IR_CLUSTER_SIZE_ANY ||
           (lower_plan_cluster(plan, &ctas) && ctas > portable) ||
           (int64_t)plan->function->launch.preferred[0] * plan->function->launch.preferred[1] *
                   plan->function->launch.preferred[2] >
               portable;
}

bool lower_plan_check(base_diagnostics *diagnostics, const lower_plan *plan, const lower_device *device) {
    size_t before = base_diagnostics_errors(diagnostics);
    check_shared(diagnostics, plan, device);
    if (plan->function->launch.present) {
        check_grid(diagnostics, plan);
        check_cluster(diagnostics, plan, device);
        check_limits(diagnostics, plan, device);
        check_options(diagnostics, plan, device);
        check_preferred(diagnostics, plan, device);
    }
    return base_diagnostics_errors(diagnostics) == before;
}
