# SPDX-License-Identifier: Apache-2.0
# make bench-launch: what a launch costs on the processor beside a bare call of the driver; part of make bench.
.PHONY: bench-launch
bench-launch:
	@$(MAKE) --no-print-directory -s -j$$(nproc) $(BUILD)/bench_launch $(BUILD)/driver_empty.so
	@$(BUILD)/bench_launch $(BUILD)/driver_empty.so
$(BUILD)/bench_launch: bench/bench_launch.c $(BUILD)/libtirc.a
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -o $@ $^ $(LDLIBS)
$(BUILD)/driver_empty.so: bench/driver_empty.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -fPIC -fvisibility=default -shared -o $@ $<
