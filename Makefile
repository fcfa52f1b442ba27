# SPDX-License-Identifier: Apache-2.0
# tirc: make demo | check | check-all | install | bench | fuzz | asan | compdb | format | golden-update
# VARIANT picks flags and the folder build/VARIANT. Objects, libraries, tests and tools all live there.
VARIANT ?= release
CC ?= gcc
OBJCOPY ?= objcopy
BUILD := build/$(VARIANT)
PREFIX ?= /usr/local
VERSION := 0.1.0
MACHINE := $(shell $(CC) -dumpmachine)

# Modules, bottom up: a module includes only modules before it (tools/check-deps).
MODULES := base num layout ptx ir arith script lower cuda assemble vm check view gpu api

WARNINGS := -Wall -Wextra -Wshadow -Wundef -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wpointer-arith \
            -Wwrite-strings -Wcast-qual
CFLAGS_release := -O2 -g
CFLAGS_test := -O1 -g -DTIRC_TEST
CFLAGS_asan := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -DTIRC_TEST
CFLAGS_fuzz := -O1 -g -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=undefined -DTIRC_TEST
CFLAGS_arm := -O2 -g
CFLAGS_tsan := -O1 -g -fsanitize=thread -DTIRC_TEST
CFLAGS ?=
ALL_CFLAGS := -std=c11 -D_GNU_SOURCE -DTIRC_VERSION=\"$(VERSION)\" -Isrc -Iinclude -I$(BUILD)/generated -fPIC \
              -fvisibility=hidden -ffp-contract=off -fno-strict-aliasing -pthread $(WARNINGS) $(WERROR) \
              $(CFLAGS_$(VARIANT)) $(CFLAGS)
LDLIBS := -lm -ldl -pthread

module_sources = $(wildcard src/$(1)/*.c)
module_objects = $(patsubst src/%.c,$(BUILD)/%.o,$(call module_sources,$(1)))

# The machine's lane loops are compiled once per processor level and chosen at run time.
LEVEL_SOURCES := $(wildcard src/vm/level/*.c)
ifneq (,$(findstring x86_64,$(MACHINE)))
LEVELS := x86_64 x86_64_v3 x86_64_v4
else
LEVELS := generic
endif
LEVEL_FLAGS_x86_64 := -march=x86-64 -DVM_LEVEL=1
LEVEL_FLAGS_x86_64_v3 := -march=x86-64-v3 -DVM_LEVEL=3
LEVEL_FLAGS_x86_64_v4 := -march=x86-64-v4 -mprefer-vector-width=512 -DVM_LEVEL=4
LEVEL_FLAGS_generic := -DVM_LEVEL=0
# Sanitizers check every access of these loops: at -O3 that takes minutes to compile and finds nothing more.
# Clang has no -fno-gcse, and says so of each loop that it leaves scalar; the pragma is a wish, not a promise.
LEVEL_CLANG := $(findstring clang,$(CC))
LEVEL_OPTIMISE := $(if $(filter asan fuzz tsan,$(VARIANT)),-O1,-O3) -fno-math-errno -fno-trapping-math \
                  $(if $(LEVEL_CLANG),-Wno-pass-failed,-fno-gcse)
LEVEL_OBJECTS := $(foreach l,$(LEVELS),$(patsubst src/vm/level/%.c,$(BUILD)/vm/level/$(l)/%.o,$(LEVEL_SOURCES)))

OBJECTS := $(foreach m,$(MODULES),$(call module_objects,$(m))) $(LEVEL_OBJECTS)
CLI_OBJECTS := $(patsubst src/%.c,$(BUILD)/%.o,$(wildcard src/cli/*.c))

.PHONY: all demo check check-gpu check-fast check-all setup install bench fuzz asan compdb format check-format golden-update clean unit
all: $(if $(CLI_OBJECTS),$(BUILD)/tirc) $(BUILD)/libtirc.a $(BUILD)/libtirc.so

$(BUILD)/%.o: src/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

define LEVEL_RULE
$(BUILD)/vm/level/$(1)/%.o: src/vm/level/%.c
	@mkdir -p $$(@D)
	$(CC) $(ALL_CFLAGS) $(LEVEL_OPTIMISE) $(LEVEL_FLAGS_$(1)) -MMD -MP -c $$< -o $$@
endef
$(foreach l,$(LEVELS),$(eval $(call LEVEL_RULE,$(l))))

# One archive per module, so that unit tests link a module against only itself and what stands before it.
define MODULE_RULE
$(BUILD)/lib/$(1).a: $(call module_objects,$(1)) $(if $(filter vm,$(1)),$(LEVEL_OBJECTS))
	@mkdir -p $$(@D)
	@rm -f $$@
	$(AR) rcs $$@ $$^
endef
$(foreach m,$(MODULES),$(eval $(call MODULE_RULE,$(m))))

$(BUILD)/tirc.o: $(OBJECTS)
	$(CC) -r -nostdlib -o $@.all $^
	$(OBJCOPY) --localize-hidden $@.all $@
	@rm -f $@.all
$(BUILD)/libtirc.a: $(BUILD)/tirc.o
	@rm -f $@
	$(AR) rcs $@ $^
$(BUILD)/libtirc.so: $(OBJECTS)
	$(CC) $(ALL_CFLAGS) -shared -Wl,-soname,libtirc.so.0 -o $@ $^ $(LDLIBS)
$(BUILD)/tirc: $(CLI_OBJECTS) $(BUILD)/libtirc.a
	$(CC) $(ALL_CFLAGS) -o $@ $^ $(LDLIBS)

# Unit tests: tests/unit/MODULE_*.c links MODULE and the modules before it, and cmocka.
UNIT_SOURCES := $(wildcard tests/unit/*.c)
UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(UNIT_SOURCES))
module_of = $(firstword $(subst _, ,$(1)))
modules_upto = $(if $(filter $(1),$(firstword $(2))),$(firstword $(2)),$(firstword $(2)) $(call modules_upto,$(1),$(wordlist 2,99,$(2))))
reverse = $(if $(1),$(call reverse,$(wordlist 2,99,$(1))) $(firstword $(1)))
define UNIT_RULE
$(BUILD)/unit/$(1): tests/unit/$(1).c $(foreach m,$(call reverse,$(call modules_upto,$(call module_of,$(1)),$(MODULES))),$(BUILD)/lib/$(m).a)
	@mkdir -p $$(@D)
	$(CC) $(ALL_CFLAGS) -Itests -MMD -MP -o $$@ $$< $$(filter %.a,$$^) -lcmocka $(LDLIBS)
endef
$(foreach t,$(UNIT_SOURCES),$(eval $(call UNIT_RULE,$(patsubst tests/unit/%.c,%,$(t)))))
unit: $(UNIT_TESTS)

# Every test program and script prints TAP; tools/run-tests adds them up and closes with one line.
TEST_SCRIPTS := $(sort $(wildcard tests/*/run.sh))
check:
	@TIRC_SETUP_CHECK=1 tools/setup
	@$(MAKE) --no-print-directory -s -j$$(nproc) VARIANT=test WERROR=$(WERROR) all unit
	@$(MAKE) --no-print-directory -s -j$$(nproc) all
	@TIRC_BUILD=build/test tools/run-tests $(patsubst $(BUILD)/%,build/test/%,$(UNIT_TESTS)) tools/check-deps tools/check-format $(TEST_SCRIPTS)
check-all: setup
	@TIRC_CHECK_ALL=1 $(MAKE) --no-print-directory check
# For development: unit tests only, no set-up.
check-fast:
	@$(MAKE) --no-print-directory -s -j$$(nproc) VARIANT=test all unit
	@TIRC_BUILD=build/test tools/run-tests $(patsubst $(BUILD)/%,build/test/%,$(UNIT_TESTS)) tools/check-deps
# What needs a real GPU; says so where none is.
check-gpu: setup
	@$(MAKE) --no-print-directory -s -j$$(nproc) all unit
	@TIRC_BUILD=$(BUILD) tools/run-tests tools/check-gpu
setup:
	@tools/setup
demo: setup
	@$(MAKE) --no-print-directory -s -j$$(nproc) all
	@TIRC=$(BUILD)/tirc tools/demo
format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i
golden-update:
	@$(MAKE) --no-print-directory -s -j$$(nproc) VARIANT=test all unit
	@for t in $(TEST_SCRIPTS); do TIRC_BUILD=build/test TIRC_UPDATE=1 $$t > /dev/null; done; git diff --stat
asan:
	@$(MAKE) --no-print-directory -s -j$$(nproc) VARIANT=asan all unit
	@TIRC_BUILD=build/asan tools/run-tests $(patsubst $(BUILD)/%,build/asan/%,$(UNIT_TESTS)) $(TEST_SCRIPTS)
compdb:
	@bear --output compile_commands.json -- $(MAKE) -B VARIANT=compdb all unit
clean:
	rm -rf build

include $(wildcard mk/*.mk)
-include $(OBJECTS:.o=.d) $(CLI_OBJECTS:.o=.d) $(addsuffix .d,$(UNIT_TESTS))
