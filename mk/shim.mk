# SPDX-License-Identifier: Apache-2.0
# The CUDA runtime as a library to preload: programs that nvcc built run on the machine. Needs NVIDIA's headers.
NVCC := $(shell tools/find-nvcc 2>/dev/null)
CUDA_INCLUDE := $(wildcard $(dir $(NVCC))../include/cuda_runtime_api.h)
SHIM_OBJECTS := $(patsubst tests/shim/%.c,$(BUILD)/shim/%.o,$(wildcard tests/shim/*.c))
$(BUILD)/shim/%.o: tests/shim/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -fvisibility=default -isystem $(dir $(CUDA_INCLUDE)) -MMD -MP -c $< -o $@
$(BUILD)/libtirc_cudart.so: $(SHIM_OBJECTS) $(BUILD)/libtirc.a
	$(CC) -shared -Wl,-Bsymbolic $(CFLAGS_$(VARIANT)) -o $@ $(SHIM_OBJECTS) $(BUILD)/libtirc.a $(LDLIBS)
.PHONY: shim
shim: $(if $(CUDA_INCLUDE),$(BUILD)/libtirc_cudart.so)
-include $(SHIM_OBJECTS:.o=.d)
