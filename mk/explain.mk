# SPDX-License-Identifier: Apache-2.0
# The wrong and the right kernel of a code, docs/explain/CODE.py or CODE.ptx, as strings for tirc_example.
EXPLAIN_PAGES := $(sort $(wildcard docs/explain/*.py docs/explain/*.ptx))
$(BUILD)/generated/api_examples.inc: $(EXPLAIN_PAGES) mk/explain.awk mk/explain.mk
	@mkdir -p $(@D)
	@LC_ALL=C awk -f mk/explain.awk $(EXPLAIN_PAGES) > $@.new && mv $@.new $@
$(BUILD)/api/api_example.o: $(BUILD)/generated/api_examples.inc
