# SPDX-License-Identifier: Apache-2.0
# What emitted code reaches on a GPU, where one is.
$(BUILD)/bench_gpu: bench/gpu.c $(BUILD)/libtirc.a
	$(CC) $(ALL_CFLAGS) -o $@ $^ $(LDLIBS)
.PHONY: bench-gpu
bench-gpu: $(BUILD)/bench_gpu
	@CUDA_CACHE_DISABLE=1 $(BUILD)/bench_gpu $$(tools/find-nvcc)
# A program over an emitted launch function, with the runtime in it: `make check-gpu` runs it where there is no nvcc.
$(BUILD)/grows: tests/launch/grows.cu tests/launch/grows.py $(BUILD)/tirc
	$(BUILD)/tirc build tests/launch/grows.py --emit cuda-host -o $(BUILD)/grows_host.cu
	$$(tools/find-nvcc) -std=c++17 -arch=sm_90a -cudart static -I$(BUILD) -o $@ $<
