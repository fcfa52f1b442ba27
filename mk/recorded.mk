# SPDX-License-Identifier: Apache-2.0
# The conformance set: recorded on a GPU by `record` (driver only), replayed on the machine by `replay`.
CASE_SOURCES := $(wildcard tests/recorded/cases*.c)
$(BUILD)/tool/record: tests/recorded/record.c $(CASE_SOURCES) tests/recorded/cases.h
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -o $@ $(filter %.c,$^) -ldl
$(BUILD)/tool/replay: tests/recorded/replay.c $(CASE_SOURCES) tests/recorded/cases.h \
    $(foreach m,$(call reverse,$(call modules_upto,vm,$(MODULES))),$(BUILD)/lib/$(m).a)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -o $@ $(filter %.c,$^) $(filter %.a,$^) $(LDLIBS)
unit: $(BUILD)/tool/record $(BUILD)/tool/replay
# All inputs of the approximate instructions, recorded on a GPU (driver only).
$(BUILD)/tool/approx_record: tests/recorded/approx_record.c tests/recorded/approx.h
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -o $@ $< -ldl
unit: $(BUILD)/tool/approx_record
# Their tables, from what the recorder brought back; and the machine's model against the digests.
$(BUILD)/tool/approx_fit: tests/recorded/approx_fit.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -o $@ $< -lm
$(BUILD)/tool/approx_replay: tests/recorded/approx_replay.c tests/recorded/approx.h \
    $(foreach m,$(call reverse,$(call modules_upto,vm,$(MODULES))),$(BUILD)/lib/$(m).a)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -O2 -o $@ $(filter %.c,$^) $(filter %.a,$^) $(LDLIBS)
unit: $(BUILD)/tool/approx_fit $(BUILD)/tool/approx_replay
