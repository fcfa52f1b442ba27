# SPDX-License-Identifier: Apache-2.0
# Random kernels: the generator, and the tool that runs them on every road (public header only).
GENERATE_SOURCES := tests/generated/generate.c $(wildcard tests/generated/generate_*.c)
$(BUILD)/tool/generate: $(GENERATE_SOURCES) tests/generated/generate.h
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -o $@ $(GENERATE_SOURCES)
$(BUILD)/tool/generated_check: $(wildcard tests/generated/check*.c) tests/generated/check.h $(BUILD)/libtirc.a
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -o $@ $(filter %.c %.a,$^) $(LDLIBS)
unit: $(BUILD)/tool/generate $(BUILD)/tool/generated_check
