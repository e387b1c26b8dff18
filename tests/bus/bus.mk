# SPDX-License-Identifier: GPL-2.0-only
#
# Tests on a private bus: scripts, and the programs *.c that they use.

BUS_TESTS := $(filter-out %.c %.h %.mk %.sh %.py %.conf,$(wildcard tests/bus/*))
BUS_PROGRAMS := $(patsubst tests/bus/%.c,$(B)/tests/%,$(wildcard tests/bus/*.c)) $(MEMSECD_SANITIZED)

$(B)/tests/%: $(B)/obj/tests/bus/%.o
	$(Q)mkdir -p $(@D)
	$(if $(Q),@echo '  LD      $@')
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $< -o $@ $(SYSTEMD_LIBS)
