# SPDX-License-Identifier: Apache-2.0
# The PTX module's test tool, for tests/ptx/run.sh.
$(BUILD)/tool/ptx_dump: tests/tool/ptx_dump.c $(foreach m,$(call reverse,$(call modules_upto,ptx,$(MODULES))),$(BUILD)/lib/$(m).a)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -o $@ $< $(filter %.a,$^) $(LDLIBS)
unit: $(BUILD)/tool/ptx_dump
-include $(BUILD)/tool/ptx_dump.d
