# SPDX-License-Identifier: Apache-2.0
# make bench-layout: speed of the layout library and of the pictures, with their limits.
.PHONY: bench-layout
bench-layout:
	@$(MAKE) --no-print-directory -s -j$$(nproc) $(BUILD)/tirc $(BUILD)/bench_layout
	@$(BUILD)/bench_layout $(BUILD)/tirc
$(BUILD)/bench_layout: bench/bench_layout.c $(foreach m,layout num base,$(BUILD)/lib/$(m).a)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -o $@ $^ $(LDLIBS)
