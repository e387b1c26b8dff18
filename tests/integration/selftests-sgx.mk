# SPDX-License-Identifier: GPL-2.0-only
#
# The kernel's own SGX selftests, from the unpacked source, for selftests-sgx to run.

SELFTESTS_SGX_SRC := $(B)/linux/tools/testing/selftests/sgx
SELFTESTS_SGX := $(B)/selftests/sgx
SELFTESTS_SGX_FILES := $(SELFTESTS_SGX)/test_sgx $(SELFTESTS_SGX)/test_encl.elf

.PHONY: install-selftests-sgx

# Made by their own Makefile; what the linker says about their assembler files is none of ours.
$(SELFTESTS_SGX_FILES) &: $(B)/packages/kernel $(wildcard $(B)/linux/.memsec/version)
	$(if $(Q),@echo '  MAKE    $(SELFTESTS_SGX)')
	$(Q)[ -d $(SELFTESTS_SGX_SRC) ] || kernel/scripts/source
	$(Q)mkdir -p $(SELFTESTS_SGX) $(B)/log
	$(Q)$(MAKE) -s -C $(SELFTESTS_SGX_SRC) OUTPUT=$(abspath $(SELFTESTS_SGX)) CC=gcc CFLAGS= LDFLAGS= \
		>$(B)/log/selftests-sgx.log 2>&1 || { cat $(B)/log/selftests-sgx.log >&2; exit 1; }

install-selftests-sgx: $(SELFTESTS_SGX_FILES)
	$(Q)$(INSTALL) -d $(DESTDIR)$(libdir)/memsec/selftests/sgx
	$(Q)$(INSTALL) $(SELFTESTS_SGX_FILES) $(DESTDIR)$(libdir)/memsec/selftests/sgx/
