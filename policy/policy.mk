# SPDX-License-Identifier: GPL-2.0-only
#
# libmemsec-policy.a: what memsecd and memsecctl share. Its users link $(POLICY_LIBS).
# memsec.yaml(5): its list of keys comes from the table in schema.c.

POLICY_OBJECTS := $(filter-out policy/schema-doc.o,$(patsubst %.c,%.o,$(wildcard policy/*.c)))
POLICY_LIB := $(B)/libmemsec-policy.a
POLICY_LIBS = $(YAML_LIBS) $(LIBBPF_LIBS)
POLICY_MAN := $(B)/man/memsec.yaml.5

.PHONY: policy install-policy

## policy: the library that reads policy files, and memsec.yaml(5)
policy: $(POLICY_LIB) $(POLICY_MAN)

$(POLICY_LIB): $(addprefix $(B)/obj/,$(POLICY_OBJECTS))
	$(if $(Q),@echo '  AR      $@')
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(B)/schema-doc: $(B)/obj/policy/schema-doc.o $(POLICY_LIB)
	$(if $(Q),@echo '  LD      $@')
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@ $(POLICY_LIBS)

# The ABI of the policies.
$(B)/obj/policy/%.o $(B)/san/policy/%.o: override CPPFLAGS += -iquote kernel/include/linux

$(POLICY_MAN): policy/memsec.yaml.5.in $(B)/schema-doc
	$(if $(Q),@echo '  GEN     $@')
	$(Q)mkdir -p $(@D)
	$(Q)$(B)/schema-doc >$@.keys
	$(Q)sed -e '/^@KEYS@$$/{' -e 'r $@.keys' -e 'd' -e '}' $< >$@

# What the administrator wrote stays.
install-policy: $(POLICY_MAN)
	$(Q)$(INSTALL) -d $(DESTDIR)$(libdir)/memsec $(DESTDIR)$(sysconfdir)/memsec/policy.d \
		$(DESTDIR)$(mandir)/man5 $(DESTDIR)$(datadir)/doc/memsec/examples
	$(Q)$(INSTALL_DATA) policy/default.yaml $(DESTDIR)$(libdir)/memsec/policy.yaml
	$(Q)[ -e $(DESTDIR)$(sysconfdir)/memsec/policy.yaml ] || \
		$(INSTALL_DATA) policy/local.yaml $(DESTDIR)$(sysconfdir)/memsec/policy.yaml
	$(Q)$(INSTALL_DATA) policy/examples/*.yaml $(DESTDIR)$(datadir)/doc/memsec/examples/
	$(Q)$(INSTALL_DATA) $(POLICY_MAN) $(DESTDIR)$(mandir)/man5/
