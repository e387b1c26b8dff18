# SPDX-License-Identifier: GPL-2.0-only
#
# The VM's image, and what runs in it.

VM_IMAGE := $(B)/vm/image.ext4
VM_BASE := $(B)/vm/base.tar
VM_PACKAGES := $(shell awk '$$1 == "image" { print $$2 }' .ci/packages) $(if $(BPFTOOL),,bpftool libbpf1)

# Without root, files can still be made to belong to it.
VM_FAKEROOT := $(if $(filter 0,$(shell id -u)),,fakeroot)

VM_RUN := tests/vm/run --config $(CONFIG)

.PHONY: vm image

## vm: boot the VM and log in as root; Ctrl-A X leaves it
vm: kernel image
	$(Q)$(VM_RUN) --login

image: $(VM_IMAGE)

$(VM_BASE): .ci/packages tests/vm/base $(B)/packages/vm
	$(Q)tests/vm/base $(CACHE) $@ $(VM_PACKAGES)
	$(Q)touch $@

# Everything that install targets install, so that an edit makes a new image.
VM_INSTALL := install install-bpf-hostile install-new-policy install-integration install-selftests-mm \
	      install-selftests-sgx install-bpftool \
	      install-demo

$(VM_IMAGE): $(VM_BASE) tests/vm/image $(wildcard tests/vm/files/*) $(BPF_POLICIES) $(BPF_HOSTILE) $(NEW_POLICY) \
	     $(MEMSECD) $(MEMSECCTL) $(MAN_PAGES) $(BPFTOOL) $(INTEGRATION_PROGRAMS) $(INTEGRATION_FILES) \
	     $(SELFTESTS_MM_FILES) $(SELFTESTS_SGX_FILES) $(DEMO_PROGRAMS) $(DEMO_FILES) $(wildcard systemd/*) \
	     policy/default.yaml policy/local.yaml | $(B)/packages/test
	$(if $(Q),@echo '  IMAGE   $@')
	+$(Q)$(VM_FAKEROOT) tests/vm/image $(VM_BASE) $@ $(VM_INSTALL)

.PHONY: install-bpftool

install-bpftool: $(BPFTOOL)
	$(Q)$(if $(BPFTOOL),$(INSTALL) -D $(BPFTOOL) $(DESTDIR)/usr/sbin/bpftool)
