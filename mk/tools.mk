# SPDX-License-Identifier: Apache-2.0
# Test tools: tests/tool/NAME.c. The ones listed here use the public header only; others have their own rules.
$(BUILD)/tool/differential: tests/tool/differential.c $(BUILD)/libtirc.a
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -o $@ $^ $(LDLIBS)
unit: $(BUILD)/tool/differential
$(BUILD)/tool/cuda_compare: tests/tool/cuda_compare.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -o $@ $^
unit: $(BUILD)/tool/cuda_compare
$(BUILD)/tool/integers: tests/tool/integers.c $(BUILD)/libtirc.a
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -o $@ $^ $(LDLIBS)
unit: $(BUILD)/tool/integers
