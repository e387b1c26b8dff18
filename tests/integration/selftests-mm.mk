# SPDX-License-Identifier: GPL-2.0-only
#
# The kernel's own selftests of memory management, from the unpacked source, for selftests-mm to run: those that
# need no library.

SELFTESTS_MM_SRC := $(B)/linux/tools/testing/selftests/mm
SELFTESTS_MM := $(B)/selftests/mm
SELFTESTS_MM_NAMES := $(shell awk '!/^\#/ && NF { print $$1 }' tests/integration/selftests-mm.list)
SELFTESTS_MM_FILES := $(addprefix $(SELFTESTS_MM)/,$(SELFTESTS_MM_NAMES))
SELFTESTS_MM_HEADERS := $(SELFTESTS_MM)/usr/include

.PHONY: install-selftests-mm

$(SELFTESTS_MM)/.headers: $(B)/packages/kernel $(wildcard $(B)/linux/.memsec/version)
	$(if $(Q),@echo '  MAKE    $(SELFTESTS_MM_HEADERS)')
	$(Q)[ -d $(SELFTESTS_MM_SRC) ] || kernel/scripts/source
	$(Q)mkdir -p $(SELFTESTS_MM)/tree $(B)/log
	$(Q)$(MAKE) -s -C $(B)/linux O=$(abspath $(SELFTESTS_MM)/tree) headers_install \
		INSTALL_HDR_PATH=$(abspath $(SELFTESTS_MM)/usr) >$(B)/log/selftests-mm.log 2>&1 || \
		{ cat $(B)/log/selftests-mm.log >&2; exit 1; }
	$(Q)rm -rf $(SELFTESTS_MM)/tree
	$(Q)touch $(SELFTESTS_MM_HEADERS)/local_config.h $@

# With what they share. What gcc says about them is none of ours.
$(SELFTESTS_MM)/%: $(SELFTESTS_MM)/.headers
	$(if $(Q),@echo '  CC      $@')
	$(Q)gcc -w -O2 -D_GNU_SOURCE -I$(SELFTESTS_MM_SRC)/.. -I$(SELFTESTS_MM_HEADERS) -isystem $(SELFTESTS_MM_HEADERS) \
		$(SELFTESTS_MM_SRC)/$*.c $(addprefix $(SELFTESTS_MM_SRC)/,vm_util.c thp_settings.c) -o $@ -lpthread

install-selftests-mm: $(SELFTESTS_MM_FILES)
	$(Q)$(INSTALL) -d $(DESTDIR)$(libdir)/memsec/selftests/mm
	$(Q)$(INSTALL) $(SELFTESTS_MM_FILES) $(DESTDIR)$(libdir)/memsec/selftests/mm/
