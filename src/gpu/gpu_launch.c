/* SPDX-License-Identifier: Apache-2.0
 * Launches: what the device takes, the opt-in for much shared memory, attributes, and timing by events. */
#include "gpu/gpu_driver.h"

/* The opt-in is an attribute of the function that only grows: a smaller launch after a larger one needs no
 * call, and two callers do not undo each other. */
static bool allow_shared(gpu_code *code, uint64_t bytes, gpu_problem *problem) {
    const gpu_device *device = code->device;
    if (bytes <= code->dynamic_shared_limit)
        return true;
    uint64_t limit = device->facts.shared_opt_in;
    if (bytes + code->facts.shared_bytes > limit) {
        problem_set(problem, "T0916",
                    "kernel `%s` needs %llu bytes of dynamic and %llu of static shared memory; %s gives a "
                    "CTA at most "
                    "%llu",
                    code->name, (unsigned long long)bytes, (unsigned long long)code->facts.shared_bytes,
                    device->facts.name, (unsigned long long)limit);
        problem_help(problem, "%llu bytes too many; `tirc build --emit plan` lists the allocations",
                     (unsigned long long)(bytes + code->facts.shared_bytes - limit));
        return false;
    }
    int result = device->driver.function_set(code->function, FUNCTION_MAX_DYNAMIC_SHARED, (int)bytes);
    if (result != DRIVER_SUCCESS)
        return problem_driver(problem, &device->driver, "T0916", "opt-in for shared memory", result);
    code->dynamic_shared_limit = bytes;
    return true;
}

static bool check_shape(const gpu_code *code, const gpu_launch *launch, gpu_problem *problem) {
    static const uint64_t grid_limit[3] = {0x7fffffff, 65535, 65535}, block_limit[3] = {1024, 1024, 64};
    const char *device = code->device->facts.name;
    uint64_t threads = 1, cluster = 1;
    for (int i = 0; i < 3; ++i) {
        uint32_t size = launch->cluster[0] ? launch->cluster[i] : 1;
        if (launch->grid[i] == 0 || launch->grid[i] > grid_limit[i]) {
            problem_set(problem, "T0917", "grid.%c is %u; %s takes 1 to %llu", "xyz"[i], launch -> grid[i],
                        device, (unsigned long long)grid_limit[i]);
            problem_help(problem, "%s",
                         launch->grid[i] ? "grid.x takes more: give it the longest extent"
                                         : "leave out a launch that has nothing to do");
            return false;
        }
        if (launch->block[i] == 0 || launch->block[i] > block_limit[i]) {
            problem_set(problem, "T0917", "block.%c is %u; %s takes 1 to %llu", "xyz"[i], launch -> block[i],
                        device, (unsigned long long)block_limit[i]);
            problem_help(problem, "at most 1024 threads in all: let a thread do more, or launch more CTAs");
            return false;
        }
        if (size == 0 || launch->grid[i] % size) {
            problem_set(problem, "T0917", "grid.%c is %u, no multiple of cluster.%c, %u", "xyz"[i],
                        launch -> grid[i], "xyz"[i], size);
            problem_help(problem, "a grid is made of whole clusters: %u CTAs, or another cluster",
                         size ? (launch->grid[i] / size + 1) * size : launch->grid[i]);
            return false;
        }
        threads *= launch->block[i];
        cluster *= size;
    }
    uint64_t most = code->facts.max_threads > 0 ? (uint64_t)code->facts.max_threads : 1024;
    if (threads > most) {
        problem_set(problem, "T0917",
                    "a block of %llu threads; kernel `%s` with its %d registers takes at most %llu",
                    (unsigned long long)threads, code->name, code->facts.registers, (unsigned long long)most);
        problem_help(problem,
                     "fewer threads, or fewer registers: max_registers_per_thread of KernelAttributes");
        return false;
    }
    if (cluster > (launch->non_portable_cluster ? 16u : 8u)) {
        problem_set(problem, "T0917", "a cluster of %llu CTAs; %s", (unsigned long long)cluster,
                    launch->non_portable_cluster ? "at most 16 are possible"
                                                 : "more than 8 need the non-portable cluster size allowed");
        problem_help(
            problem, "%s",
            launch->non_portable_cluster
                ? "smaller clusters"
                : "at most 8, or portable_cluster_size_mode=\"allow_non_portable\" (non_portable_cluster)");
        return false;
    }
    if (cluster > 1 && code->device->facts.major < 9) {
        problem_set(problem, "T0917", "clusters need compute capability 9.0; %s has %d.%d",
                    code->device->facts.name, code->device->facts.major, code->device->facts.minor);
        problem_help(problem, "a launch without clusters, or a Hopper or Blackwell device");
        return false;
    }
    return true;
}

/* What cluster and grid ask of a preferred cluster, and how old the driver may be. */
static bool check_preferred(const gpu_code *code, const gpu_launch *launch, gpu_problem *problem) {
    enum { DRIVER_WITH_PREFERRED = 12080 };
    const gpu_facts *facts = &code->device->facts;
    uint64_t ctas = 1;
    if (facts->driver_version < DRIVER_WITH_PREFERRED) {
        problem_set(problem, "T0923",
                    "preferred clusters need a driver for CUDA 12.8; this one speaks CUDA %d.%d",
                    facts->driver_version / 1000, facts->driver_version % 1000 / 10);
        problem_help(problem, "leave out preferred_cluster, or take a newer driver");
        return false;
    }
    for (int i = 0; i < 3; ++i) {
        uint32_t preferred = launch->preferred[i], cluster = launch->cluster[0] ? launch->cluster[i] : 1;
        if (preferred == 0 || preferred % cluster || (i == 2 && preferred != cluster) ||
            launch->grid[i] % preferred) {
            problem_set(
                problem, "T0917",
                "a preferred cluster of %u CTAs in %c, beside a cluster of %u and a grid of %u; it has to be "
                "%s the cluster's extent and to divide the grid's",
                preferred, "xyz"[i], cluster, launch -> grid[i], i == 2 ? "equal to" : "a multiple of");
            return false;
        }
        ctas *= preferred;
    }
    if (ctas > (launch->non_portable_cluster ? 16u : 8u)) {
        problem_set(problem, "T0917", "a preferred cluster of %llu CTAs; %s", (unsigned long long)ctas,
                    launch->non_portable_cluster ? "at most 16 are possible"
                                                 : "more than 8 need the non-portable cluster size allowed");
        return false;
    }
    return true;
}

static uint32_t fill_attributes(const gpu_launch *launch, driver_attribute out[LAUNCH_ATTRIBUTES_MOST]) {
    uint32_t count = 0;
    if (launch->cluster[0]) {
        out[count] = (driver_attribute){.id = LAUNCH_CLUSTER};
        for (int i = 0; i < 3; ++i)
            out[count].value.dimensions[i] = launch->cluster[i];
        ++count;
    }
    if (launch->cluster_policy)
        out[count++] =
            (driver_attribute){.id = LAUNCH_CLUSTER_POLICY, .value.number = launch->cluster_policy - 1};
    if (launch->preferred[0]) {
        out[count] = (driver_attribute){.id = LAUNCH_PREFERRED_CLUSTER};
        for (int i = 0; i < 3; ++i)
            out[count].value.dimensions[i] = launch->preferred[i];
        ++count;
    }
    if (launch->sync_domain)
        out[count++] = (driver_attribute){.id = LAUNCH_DOMAIN, .value.number = launch->sync_domain - 1};
    if (launch->has_domain_map)
        out[count++] = (driver_attribute){.id = LAUNCH_DOMAIN_MAP,
                                          .value.numbers = {launch->domain_map[0], launch->domain_map[1]}};
    if (launch->cooperative)
        out[count++] = (driver_attribute){.id = LAUNCH_COOPERATIVE, .value.number = 1};
    if (launch->programmatic)
        out[count++] = (driver_attribute){.id = LAUNCH_PROGRAMMATIC, .value.number = 1};
    if (launch->has_priority)
        out[count++] = (driver_attribute){.id = LAUNCH_PRIORITY, .value.number = launch->priority};
    return count;
}

static bool prepare(gpu_code *code, const gpu_launch *launch, gpu_problem *problem) {
    const gpu_driver *driver = &code->device->driver;
    if (!check_shape(code, launch, problem) ||
        (launch->preferred[0] && !check_preferred(code, launch, problem)) ||
        !allow_shared(code, launch->dynamic_shared_bytes, problem))
        return false;
    if (launch->non_portable_cluster && !code->non_portable_set) {
        int result = driver->function_set(code->function, FUNCTION_NON_PORTABLE_CLUSTER, 1);
        if (result != DRIVER_SUCCESS)
            return problem_driver(problem, driver, "T0917", "non-portable cluster size", result);
        code->non_portable_set = true;
    }
    if (launch->has_carveout && (!code->carveout_set || code->carveout != launch->carveout)) {
        if (launch->carveout < 0 || launch->carveout > 100) {
            problem_set(problem, "T0917", "a carve-out of %d percent; 0 to 100 are possible",
                        launch->carveout);
            return false;
        }
        int result = driver->function_set(code->function, FUNCTION_CARVEOUT, launch->carveout);
        if (result != DRIVER_SUCCESS)
            return problem_driver(problem, driver, "T0917", "preferred shared memory carve-out", result);
        code->carveout_set = true;
        code->carveout = launch->carveout;
    }
    return true;
}

static int fire(const gpu_code *code, const gpu_launch *launch) {
    driver_attribute attributes[LAUNCH_ATTRIBUTES_MOST];
    driver_config config = {.shared_bytes = (uint32_t)launch->dynamic_shared_bytes,
                            .stream = launch->stream,
                            .attributes = attributes,
                            .attribute_count = fill_attributes(launch, attributes)};
    for (int i = 0; i < 3; ++i) {
        config.grid[i] = launch->grid[i];
        config.block[i] = launch->block[i];
    }
    return code->device->driver.launch(&config, code->function, (void **)(uintptr_t)launch->parameters, NULL);
}

bool gpu_start(gpu_code *code, const gpu_launch *launch, gpu_problem *problem) {
    if (!prepare(code, launch, problem))
        return false;
    int result = fire(code, launch);
    if (result == DRIVER_SUCCESS)
        return true;
    problem_driver(problem, &code->device->driver, "T0918", "the launch was refused", result);
    if (result == DRIVER_COOPERATIVE_TOO_LARGE)
        problem_help(problem, "all CTAs of a cooperative launch must fit on the device at once");
    return false;
}

bool gpu_wait(gpu_device *device, void *stream, gpu_problem *problem) {
    int result = device->driver.stream_wait(stream);
    return result == DRIVER_SUCCESS ||
           problem_driver(problem, &device->driver, "T0918", "the kernel failed on the device", result);
}

bool gpu_time(gpu_code *code, const gpu_launch *launch, unsigned warm_up, unsigned count, float *milliseconds,
              gpu_problem *problem) {
    gpu_device *device = code->device;
    const gpu_driver *driver = &device->driver;
    void *events[2] = {NULL, NULL};
    if (!prepare(code, launch, problem))
        return false;
    int result = driver->event_create(&events[0], 0);
    if (result == DRIVER_SUCCESS)
        result = driver->event_create(&events[1], 0);
    for (unsigned i = 0; i < warm_up && result == DRIVER_SUCCESS; ++i)
        result = fire(code, launch);
    for (unsigned i = 0; i < count && result == DRIVER_SUCCESS; ++i) {
        result = driver->event_record(events[0], launch->stream);
        if (result == DRIVER_SUCCESS)
            result = fire(code, launch);
        if (result == DRIVER_SUCCESS)
            result = driver->event_record(events[1], launch->stream);
        if (result == DRIVER_SUCCESS)
            result = driver->event_wait(events[1]);
        if (result == DRIVER_SUCCESS)
            result = driver->event_time(&milliseconds[i], events[0], events[1]);
    }
    for (int i = 0; i < 2; ++i)
        if (events[i])
            driver->event_destroy(events[i]);
    return result == DRIVER_SUCCESS ||
           problem_driver(problem, driver, "T0918", "the timed launches failed", result);
}
