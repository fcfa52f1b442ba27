# SPDX-License-Identifier: Apache-2.0
# What emitted code reaches on a GPU, where one is.
$(BUILD)/bench_gpu: bench/gpu.c $(BUILD)/libtirc.a
	$(CC) $(ALL_CFLAGS) -o $@ $^ $(LDLIBS)
.PHONY: bench-gpu
bench-gpu: $(BUILD)/bench_gpu
	@CUDA_CACHE_DISABLE=1 $(BUILD)/bench_gpu $$(tools/find-nvcc)
