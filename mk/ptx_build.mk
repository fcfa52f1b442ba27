# SPDX-License-Identifier: Apache-2.0
# The PTX writer's test tool, for tests/ptx_build/run.sh.
$(BUILD)/tool/ptx_build_dump: tests/tool/ptx_build_dump.c $(foreach m,$(call reverse,$(call modules_upto,assemble,$(MODULES))),$(BUILD)/lib/$(m).a)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -o $@ $< $(filter %.a,$^) $(LDLIBS)
unit: $(BUILD)/tool/ptx_build_dump
-include $(BUILD)/tool/ptx_build_dump.d
