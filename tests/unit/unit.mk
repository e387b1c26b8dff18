# SPDX-License-Identifier: GPL-2.0-only
#
# Unit tests: each tests/unit/*.c is a program with cmocka, linked with what it
# tests, all of it sanitized.

UNIT_PROGRAMS := $(patsubst %.c,$(B)/%,$(wildcard tests/unit/*.c))
UNIT_LIB := $(B)/san/libmemsec.a

# All objects but those that have a main().
$(UNIT_LIB): $(addprefix $(B)/san/,$(POLICY_OBJECTS) $(filter-out %/memsecd.o %/memsecctl.o,$(sort $(MEMSECD_OBJECTS) $(MEMSECCTL_OBJECTS))))
	$(if $(Q),@echo '  AR      $@')
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(B)/tests/unit/%: $(B)/san/tests/unit/%.o $(UNIT_LIB) | $(B)/packages/test
	$(Q)mkdir -p $(@D)
	$(if $(Q),@echo '  LD      $@')
	$(Q)$(CC) $(CFLAGS) $(SANITIZE) $(LDFLAGS) $< $(UNIT_LIB) -o $@ \
		-lcmocka $(LIBBPF_LIBS) $(SYSTEMD_LIBS) $(POLICY_LIBS) $(JSON_LIBS) $(CAP_LIBS)

# cmocka's header comes with the test packages.
$(patsubst %.c,$(B)/san/%.o,$(wildcard tests/unit/*.c)): | $(B)/packages/test
