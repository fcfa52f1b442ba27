# SPDX-License-Identifier: Apache-2.0
# The script module's generated tables, and the test scripts' view of it: $(BUILD)/tool/script_dump.
$(BUILD)/tool/script_dump: tests/tool/script_dump.c $(foreach m,$(call reverse,$(call modules_upto,script,$(MODULES))),$(BUILD)/lib/$(m).a)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -o $@ $< $(filter %.a,$^) $(LDLIBS)
unit: $(BUILD)/tool/script_dump
-include $(BUILD)/tool/script_dump.d
# Where a word stands in the dialect table, and what its parameters are.
$(BUILD)/generated/script_words.inc: src/script/script_dialect.def mk/script_words.awk mk/script.mk
	@mkdir -p $(@D)
	@LC_ALL=C awk -f mk/script_words.awk $< > $@.new && mv $@.new $@
$(BUILD)/script/script_dialect.o: $(BUILD)/generated/script_words.inc
