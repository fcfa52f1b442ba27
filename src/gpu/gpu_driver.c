/* SPDX-License-Identifier: Apache-2.0
 * Opening the driver library, and its refusals in words. */
#include "gpu/gpu_driver.h"
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void problem_set(gpu_problem *problem, const char *code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem->text, sizeof problem->text, format, arguments);
    va_end(arguments);
    problem->code = code;
    problem->help[0] = 0;
}

void problem_help(gpu_problem *problem, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem->help, sizeof problem->help, format, arguments);
    va_end(arguments);
}

bool problem_driver(gpu_problem *problem, const gpu_driver *driver, const char *code, const char *what,
                    int result) {
    const char *name = NULL, *words = NULL;
    if (driver->error_name && driver->error_name(result, &name) != DRIVER_SUCCESS)
        name = NULL;
    if (driver->error_string && driver->error_string(result, &words) != DRIVER_SUCCESS)
        words = NULL;
    problem_set(problem, code, "%s: the driver says %s%s%s%s (%d)", what, name ? name : "an error",
                words ? " (" : "", words ? words : "", words ? ")" : "", result);
    return false;
}

bool driver_open(gpu_driver *driver, gpu_problem *problem) {
    const char *path = getenv("TIRC_LIBCUDA");
    if (!path || !*path)
        path = "libcuda.so.1";
    memset(driver, 0, sizeof *driver);
    driver->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!driver->library) {
        problem_set(problem, "T0910", "there is no CUDA driver here (%s)", dlerror());
        problem_help(problem, "leave out --on cuda to run on the CPU machine");
        return false;
    }
#define X(field, name, parameters) *(void **)(void *)&driver->field = dlsym(driver->library, name);
    DRIVER_FUNCTIONS(X)
    DRIVER_LATER_FUNCTIONS(X)
#undef X
    const char *missing = NULL;
#define X(field, name, parameters) missing = driver->field ? missing : name;
    DRIVER_FUNCTIONS(X)
#undef X
    int version = 0;
    if (missing) {
        if (driver->version)
            driver->version(&version);
        problem_set(problem, "T0911", "the CUDA driver is too old: it has no %s (it speaks CUDA %d.%d)",
                    missing, version / 1000, version % 1000 / 10);
        problem_help(problem, "a driver for CUDA 12.0 or later is needed");
    } else {
        int result = driver->init(0);
        if (result == DRIVER_SUCCESS)
            return true;
        if (result == DRIVER_NO_DEVICE || result == DRIVER_STUB_LIBRARY) {
            problem_set(problem, "T0910", "%s",
                        result == DRIVER_NO_DEVICE ? "there is no CUDA device here"
                                                   : "libcuda is the toolkit's stub library, not a driver");
            problem_help(problem, "leave out --on cuda to run on the CPU machine");
        } else {
            problem_driver(problem, driver, "T0910", "the CUDA driver does not start", result);
        }
    }
    driver_close(driver);
    return false;
}

void driver_close(gpu_driver *driver) {
    if (driver->library)
        dlclose(driver->library);
    driver->library = NULL;
}
