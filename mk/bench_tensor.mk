# SPDX-License-Identifier: Apache-2.0
# make bench-tensor: a GEMM on the machine's tcgen05, by numerics and level, 1024^3 and 4096^3, and what findings cost; part of make bench.
.PHONY: bench-tensor
bench-tensor:
	@$(MAKE) --no-print-directory -s -j$$(nproc) $(BUILD)/bench_tensor $(BUILD)/bench_findings
	@$(BUILD)/bench_tensor large
	@$(BUILD)/bench_findings
$(BUILD)/bench_findings: bench/bench_findings.c $(foreach m,vm ptx num base,$(BUILD)/lib/$(m).a)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -o $@ $^ $(LDLIBS)
$(BUILD)/bench_tensor: bench/bench_tensor.c $(BUILD)/libtirc.a
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -o $@ $^ $(LDLIBS)
