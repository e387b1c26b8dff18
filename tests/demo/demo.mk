# SPDX-License-Identifier: GPL-2.0-only
#
# What `make demo` shows in the VM.

DEMO_PROGRAMS := $(patsubst %.c,$(B)/%,$(wildcard tests/demo/*.c))
DEMO_FILES := $(filter-out %.c %.mk,$(wildcard tests/demo/*))

.PHONY: demo install-demo

# Instructions are counted for time, so that what is shown does not depend on what else the host does.
## demo: from nothing to a policy that is tuned while enclaves are released
demo: kernel image
	$(Q)$(VM_RUN) --icount --command /usr/lib/memsec/demo/demo --log $(B)/log/console-demo.log

$(B)/tests/demo/%: $(B)/obj/tests/demo/%.o $(TESTLIB)
	$(Q)mkdir -p $(@D)
	$(if $(Q),@echo '  LD      $@')
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@

install-demo: $(DEMO_PROGRAMS)
	$(Q)$(INSTALL) -d $(DESTDIR)$(libdir)/memsec/demo
	$(Q)$(INSTALL_PROGRAM) $(DEMO_PROGRAMS) $(DEMO_FILES) $(DESTDIR)$(libdir)/memsec/demo/
