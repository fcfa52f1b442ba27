# SPDX-License-Identifier: Apache-2.0
# The test scripts' view of the script module: $(BUILD)/tool/script_dump.
$(BUILD)/tool/script_dump: tests/tool/script_dump.c $(foreach m,$(call reverse,$(call modules_upto,script,$(MODULES))),$(BUILD)/lib/$(m).a)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -o $@ $< $(filter %.a,$^) $(LDLIBS)
unit: $(BUILD)/tool/script_dump
-include $(BUILD)/tool/script_dump.d
