# SPDX-License-Identifier: GPL-2.0-only
#
# libmemsec-policy.a: what memsecd and memsecctl share. Its users link $(POLICY_LIBS).

# schema-doc prints the table for memsec.yaml(5).
POLICY_OBJECTS := $(filter-out policy/schema-doc.o,$(patsubst %.c,%.o,$(wildcard policy/*.c)))
POLICY_LIB := $(B)/libmemsec-policy.a
POLICY_LIBS = $(YAML_LIBS)

.PHONY: install-policy

$(POLICY_LIB): $(addprefix $(B)/obj/,$(POLICY_OBJECTS))
	$(if $(Q),@echo '  AR      $@')
	$(Q)rm -f $@ && $(AR) rcs $@ $^

install-policy:
	$(Q)$(INSTALL) -d $(DESTDIR)$(libdir)/memsec $(DESTDIR)$(sysconfdir)/memsec/policy.d
	$(Q)$(INSTALL_DATA) policy/default.yaml $(DESTDIR)$(libdir)/memsec/policy.yaml
