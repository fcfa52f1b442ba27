# SPDX-License-Identifier: Apache-2.0
# make fuzz [T=ir] [S=60]: libFuzzer targets, one per fuzz/fuzz_NAME.c, under ASan and UBSan with clang. Runs
# one target, or each in turn, for S seconds, from the seeds in tests/corpus/NAME; new inputs go to
# build/fuzz/corpus/NAME, an input that fails to build/fuzz/crash-NAME-*.
S ?= 60
FUZZ_CC ?= clang
FUZZ_NAMES := $(patsubst fuzz/fuzz_%.c,%,$(wildcard fuzz/fuzz_*.c))
T ?= $(FUZZ_NAMES)

ifeq ($(VARIANT),fuzz)
# A later archive uses earlier ones only, so the last module comes first on the line.
FUZZ_ARCHIVES := $(foreach m,$(call reverse,$(MODULES)),$(if $(wildcard src/$(m)/*.c),$(BUILD)/lib/$(m).a))
$(BUILD)/fuzz_%: fuzz/fuzz_%.c $(FUZZ_ARCHIVES)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -fsanitize=fuzzer -MMD -MP -o $@ $< $(FUZZ_ARCHIVES) $(LDLIBS)
.PHONY: fuzz-build
fuzz-build: $(addprefix $(BUILD)/fuzz_,$(FUZZ_NAMES))
-include $(addprefix $(BUILD)/fuzz_,$(addsuffix .d,$(FUZZ_NAMES)))
endif

fuzz:
	@$(MAKE) --no-print-directory -s -j$$(nproc) VARIANT=fuzz CC="$(FUZZ_CC)" $(addprefix build/fuzz/fuzz_,$(T))
	@for t in $(T); do \
	    mkdir -p build/fuzz/corpus/$$t tests/corpus/$$t; \
	    echo "fuzz_$$t: $(S) s"; \
	    build/fuzz/fuzz_$$t -max_total_time=$(S) -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=1 \
	        -artifact_prefix=build/fuzz/crash-$$t- build/fuzz/corpus/$$t tests/corpus/$$t > build/fuzz/$$t.log 2>&1 \
	        || { tail -n 60 build/fuzz/$$t.log; exit 1; }; \
	    grep -E 'number_of_executed_units|new_units_added|peak_rss' build/fuzz/$$t.log; \
	done
