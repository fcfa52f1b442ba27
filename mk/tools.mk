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
# Casts between all element types, for tests/numbers/run.sh.
$(BUILD)/tool/conversions: tests/tool/conversions.c tests/number_model.h tests/number_inputs.h $(BUILD)/libtirc.a
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Itests -o $@ $< $(BUILD)/libtirc.a $(LDLIBS)
unit: $(BUILD)/tool/conversions
# Every form of cvt on a GPU, for tools/check-gpu.
$(BUILD)/tool/convert_gpu: tests/gpu/convert.c tests/convert_forms.h tests/convert_stochastic.h tests/number_model.h tests/number_inputs.h \
    $(foreach m,$(call reverse,$(call modules_upto,gpu,$(MODULES))),$(BUILD)/lib/$(m).a)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Itests -o $@ $(filter %.c %.a,$^) $(LDLIBS)
unit: $(BUILD)/tool/convert_gpu
