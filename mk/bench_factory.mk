# SPDX-License-Identifier: Apache-2.0
# make bench-factory: the time that a long factory kernel takes to compile; part of make bench.
.PHONY: bench-factory
bench-factory:
	@$(MAKE) --no-print-directory -s -j$$(nproc) $(BUILD)/tirc $(BUILD)/bench_factory
	@$(BUILD)/bench_factory $(BUILD)/tirc
$(BUILD)/bench_factory: bench/bench_factory.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -o $@ $< $(LDLIBS)
