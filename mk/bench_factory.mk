# SPDX-License-Identifier: Apache-2.0
# make bench-factory: the time that long factory kernels and the single-tile GEMM take to compile, cold, and how it grows; part of make bench.
.PHONY: bench-factory
bench-factory:
	@$(MAKE) --no-print-directory -s -j$$(nproc) $(BUILD)/tirc $(BUILD)/bench_factory
	@$(BUILD)/bench_factory $(BUILD)/tirc examples/gemm/single.py
$(BUILD)/bench_factory: bench/bench_factory.c bench/bench_factory_shapes.c bench/bench_factory.h
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -o $@ $(filter %.c,$^) $(LDLIBS)
