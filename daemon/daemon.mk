# SPDX-License-Identifier: GPL-2.0-only
#
# memsecd and memsecctl. A new file is found by its name: memsecctl*.c belongs
# to memsecctl, all others to memsecd, and what both need is named here.

TEMPLATE_OBJECT := bpf/template.o
DAEMON_SHARED_OBJECTS := daemon/bus-value.o
MEMSECCTL_OBJECTS := $(patsubst %.c,%.o,$(wildcard daemon/memsecctl*.c))
MEMSECD_OBJECTS := $(filter-out $(MEMSECCTL_OBJECTS),$(patsubst %.c,%.o,$(wildcard daemon/*.c)))
MEMSECCTL_OBJECTS += $(DAEMON_SHARED_OBJECTS) $(TEMPLATE_OBJECT)
MAN_PAGES := $(wildcard daemon/*.[1-8])

MEMSECD := $(B)/memsecd
MEMSECCTL := $(B)/memsecctl

MEMSECCTL_COMPLETION := $(B)/completion/memsecctl

.PHONY: daemon install-daemon

## daemon: memsecd, memsecctl and its completion
daemon: $(MEMSECD) $(MEMSECCTL) $(MEMSECCTL_COMPLETION)

$(MEMSECD): $(addprefix $(B)/obj/,$(MEMSECD_OBJECTS)) $(POLICY_LIB) $(LIBBPF_DEPS)
	$(if $(Q),@echo '  LD      $@')
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(filter %.o,$^) $(POLICY_LIB) -o $@ \
		$(LIBBPF_LIBS) $(SYSTEMD_LIBS) $(POLICY_LIBS) $(CAP_LIBS)

$(MEMSECCTL): $(addprefix $(B)/obj/,$(MEMSECCTL_OBJECTS)) $(POLICY_LIB)
	$(if $(Q),@echo '  LD      $@')
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(filter %.o,$^) $(POLICY_LIB) -o $@ \
		$(SYSTEMD_LIBS) $(POLICY_LIBS) $(JSON_LIBS)

# What "memsecctl new-policy" writes. The names of the symbols come from those of the files.
$(B)/obj/$(TEMPLATE_OBJECT) $(B)/san/$(TEMPLATE_OBJECT): $(TEMPLATE_FILES)
	$(Q)mkdir -p $(@D)
	$(if $(Q),@echo '  LD      $@')
	$(Q)$(LD) -r -b binary -z noexecstack -o $@ $(TEMPLATE_FILES)

# memsecctl's own lists, which are made from its tables and that of the policy library.
$(MEMSECCTL_COMPLETION): daemon/memsecctl.bash.in daemon/completion-lists.awk $(MEMSECCTL)
	$(if $(Q),@echo '  GEN     $@')
	$(Q)mkdir -p $(@D)
	$(Q)$(MEMSECCTL) --help | awk -f daemon/completion-lists.awk | sed -f - \
		-e 's|@LIBDIR@|$(libdir)/memsec|' $< >$@

# The policy that "memsecctl new-policy" writes, built as its Makefile says with headers as they are installed.
NEW_POLICY := $(B)/new-policy/mine.bpf.o

.PHONY: new-policy install-new-policy

new-policy: $(NEW_POLICY)

$(NEW_POLICY): $(TEMPLATE_FILES) $(MEMSECCTL) $(BPF_HEADERS) $(LIBBPF_DEPS)
	$(if $(Q),@echo '  BPF     $@')
	$(Q)rm -rf $(@D) && $(MEMSECCTL) new-policy $(@D) >/dev/null
	$(Q)$(INSTALL) -d $(@D)/headers && $(INSTALL_DATA) $(BPF_HEADERS) $(@D)/headers/
	$(Q)$(MAKE) -s -C $(@D) CLANG=$(BPF_CLANG) MEMSEC_HEADERS=headers \
		LIBBPF_CFLAGS='$(foreach f,$(LIBBPF_CFLAGS),$(patsubst -I%,-I$(abspath $(f:-I%=%)),$f))' >/dev/null

# For a VM without clang.
install-new-policy: $(NEW_POLICY)
	$(Q)$(INSTALL) -d $(DESTDIR)$(libdir)/memsec/tests/new-policy
	$(Q)$(INSTALL_DATA) $(NEW_POLICY) $(TEMPLATE_FILES) $(DESTDIR)$(libdir)/memsec/tests/new-policy/

# For tests/bus/memsecd.
MEMSECD_SANITIZED := $(B)/tests/memsecd

$(MEMSECD_SANITIZED): $(addprefix $(B)/san/,$(MEMSECD_OBJECTS) $(POLICY_OBJECTS)) $(LIBBPF_DEPS)
	$(Q)mkdir -p $(@D)
	$(if $(Q),@echo '  LD      $@')
	$(Q)$(CC) $(CFLAGS) $(SANITIZE) $(LDFLAGS) $(filter %.o,$^) -o $@ \
		$(LIBBPF_LIBS) $(SYSTEMD_LIBS) $(POLICY_LIBS)

# The ABI of the policies.
$(B)/obj/daemon/%.o $(B)/san/daemon/%.o: override CPPFLAGS += -iquote kernel/include/linux

install-daemon: $(MEMSECD) $(MEMSECCTL) $(MEMSECCTL_COMPLETION)
	$(Q)$(INSTALL) -d $(DESTDIR)$(libexecdir) $(DESTDIR)$(bindir)
	$(Q)$(INSTALL_PROGRAM) $(MEMSECD) $(DESTDIR)$(libexecdir)/memsecd
	$(Q)$(INSTALL_PROGRAM) $(MEMSECCTL) $(DESTDIR)$(bindir)/memsecctl
	$(Q)$(INSTALL) -d $(DESTDIR)$(datadir)/bash-completion/completions
	$(Q)$(INSTALL_DATA) $(MEMSECCTL_COMPLETION) $(DESTDIR)$(datadir)/bash-completion/completions/
	$(Q)for page in $(MAN_PAGES); do \
		$(INSTALL) -d $(DESTDIR)$(mandir)/man$${page##*.} && \
		$(INSTALL_DATA) $$page $(DESTDIR)$(mandir)/man$${page##*.}/ || exit; \
	done
