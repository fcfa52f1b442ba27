# SPDX-License-Identifier: Apache-2.0
# make bench-arith: steps and bytes of the analyzer for each operation of an expression, by size; flat rows are linear.
.PHONY: bench-arith
bench-arith:
	@$(MAKE) --no-print-directory -s -j$$(nproc) $(BUILD)/unit/arith_growth
	@echo "| simplifier | steps, 1,000 | 10,000 | 100,000 | bytes, 1,000 | 10,000 | 100,000 |"
	@TIRC_TABLE=1 $(BUILD)/unit/arith_growth 2>/dev/null | sed -n 's/^# //p'
