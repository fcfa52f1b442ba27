# SPDX-License-Identifier: Apache-2.0
# The rewrite rules of the analyzer as constant trees.
$(BUILD)/generated/arith_rules.inc: src/arith/arith_rules.def mk/arith.awk mk/arith.mk
	@mkdir -p $(@D)
	@LC_ALL=C awk -f mk/arith.awk src/arith/arith_rules.def > $@.new && mv $@.new $@
$(BUILD)/arith/arith_rule.o: $(BUILD)/generated/arith_rules.inc
