# SPDX-License-Identifier: Apache-2.0
# make bench: ratios against named peers in one run. PoCL and the OpenCL headers come from apt.
bench:
	@TIRC_SETUP_BENCH=1 tools/setup
	@$(MAKE) --no-print-directory -s -j$$(nproc) all $(BUILD)/bench
	@$(BUILD)/bench $(BUILD)/tirc "$$(tools/find-nvcc || true)"
	@$(MAKE) --no-print-directory -s bench-layout
	@$(MAKE) --no-print-directory -s bench-arith
	@$(MAKE) --no-print-directory -s bench-tensor
	@$(MAKE) --no-print-directory -s bench-factory
	@$(MAKE) --no-print-directory -s bench-launch
	@$(MAKE) --no-print-directory -s bench-reference
	@TIRC_BUILD=$(BUILD) bench/race.sh
$(BUILD)/bench: bench/bench.c bench/opencl.c bench/plain.c bench/bench.h $(BUILD)/libtirc.a
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -O3 -march=native -ffp-contract=fast -c bench/plain.c -o $(BUILD)/plain.o
	$(CC) $(ALL_CFLAGS) -o $@ bench/bench.c bench/opencl.c $(BUILD)/plain.o $(BUILD)/libtirc.a -lOpenCL $(LDLIBS)
