# SPDX-License-Identifier: Apache-2.0
# make bench-reference: compile times side by side with the reference implementation, in process; part of make bench.
# TIRC_REFERENCE_PYTHON: a python that has the package apache-tvm-tirx.
TIRC_REFERENCE_PYTHON ?= python3
.PHONY: bench-reference
bench-reference:
	@$(MAKE) --no-print-directory -s -j$$(nproc) $(BUILD)/libtirc.so
	@if command -v $(TIRC_REFERENCE_PYTHON) > /dev/null; then \
		$(TIRC_REFERENCE_PYTHON) bench/bench_reference.py $(BUILD)/libtirc.so examples; \
	else \
		echo "to CUDA text, in process, against the reference: there is no $(TIRC_REFERENCE_PYTHON) here"; \
	fi
