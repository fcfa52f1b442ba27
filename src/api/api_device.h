/* SPDX-License-Identifier: Apache-2.0
 * A device's memory, for the rest of api/. Private to api/. */
#ifndef TIRC_API_API_DEVICE_H
#define TIRC_API_API_DEVICE_H
#include "api/api_private.h"

/* Sets the launch's buffers and the module's variables from the device. `first` buffers of the launch are
 * taken; they keep their numbers. False after TIRC_NO_MEMORY. */
bool api_device_bind(tirc_device *device, const vm_program *program, vm_launch *launch);
#endif
