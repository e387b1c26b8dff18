# SPDX-License-Identifier: GPL-2.0-only
#
# What the VM runs as tests: scripts, and programs made from *.c.

INTEGRATION_FILES := $(filter-out %.c %.h %.mk,$(wildcard tests/integration/*))
INTEGRATION_PROGRAMS := $(patsubst %.c,$(B)/%,$(wildcard tests/integration/*.c))
TESTLIB := $(B)/libmemsec-test.a

include tests/integration/selftests-mm.mk
include tests/integration/selftests-sgx.mk

.PHONY: install-integration

# memsec_ops.h, as in daemon.mk.
$(B)/obj/tests/%.o: override CPPFLAGS += -iquote kernel/include/linux

$(TESTLIB): $(patsubst %.c,$(B)/obj/%.o,$(wildcard tests/lib/*.c))
	$(if $(Q),@echo '  AR      $@')
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(B)/tests/integration/%: $(B)/obj/tests/integration/%.o $(TESTLIB) $(LIBBPF_DEPS)
	$(Q)mkdir -p $(@D)
	$(if $(Q),@echo '  LD      $@')
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $< $(TESTLIB) -o $@ $(LIBBPF_LIBS) $(SYSTEMD_LIBS) -lpthread

install-integration: $(INTEGRATION_PROGRAMS)
	$(Q)$(INSTALL) -d $(DESTDIR)$(libdir)/memsec/tests
	$(Q)$(if $(INTEGRATION_PROGRAMS),$(INSTALL_PROGRAM) $(INTEGRATION_PROGRAMS) $(DESTDIR)$(libdir)/memsec/tests/)
	$(Q)cp $(INTEGRATION_FILES) $(DESTDIR)$(libdir)/memsec/tests/
