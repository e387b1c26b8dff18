# SPDX-License-Identifier: GPL-2.0-only
#
# Fuzzers: fuzz-NAME.c, with what to start from in corpus/NAME and the words of its language in NAME.dict.
# What they find worth keeping is in build/fuzz/NAME; input that crashes one is below build/fuzz.

FUZZ_SECONDS ?= 60
FUZZERS := $(patsubst tests/fuzz/fuzz-%.c,%,$(wildcard tests/fuzz/fuzz-*.c))
FUZZ_FLAGS := -O1 -g -std=gnu11 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all

.PHONY: fuzz $(addprefix fuzz-,$(FUZZERS))

## fuzz: every fuzzer for FUZZ_SECONDS (60)
fuzz: $(addprefix fuzz-,$(FUZZERS))

$(B)/fuzz/fuzz-%: tests/fuzz/fuzz-%.c $(POLICY_OBJECTS:.o=.c) $(wildcard policy/*.h) $(B)/packages/fuzz
	$(Q)mkdir -p $(@D)
	$(if $(Q),@echo '  CLANG   $@')
	$(Q)clang $(CPPFLAGS) -iquote kernel/include/linux $(FUZZ_FLAGS) $(filter %.c,$^) -o $@ $(POLICY_LIBS)

$(addprefix fuzz-,$(FUZZERS)): fuzz-%: $(B)/fuzz/fuzz-%
	$(Q)mkdir -p $(B)/fuzz/$*
	$(Q)$< -max_total_time=$(FUZZ_SECONDS) -timeout=10 -max_len=65536 -print_final_stats=1 \
		-artifact_prefix=$(B)/fuzz/ -dict=tests/fuzz/$*.dict $(B)/fuzz/$* tests/fuzz/corpus/$*
