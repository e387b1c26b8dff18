# SPDX-License-Identifier: GPL-2.0-only
#
# Tests of the Debian package of memsecd. The VM has an image of its own for them, without memsec.

DEB_IMAGE := $(B)/vm/deb.ext4

.PHONY: check-deb install-check-deb

## check-deb: the Debian package of memsecd, its contents and its life in the VM
check-deb: $(MEMSECD_DEB) kernel $(DEB_IMAGE) daemon bpf policy $(B)/packages/lint $(B)/packages/test
	$(Q)tests/tap-run deb/contents timeout 300 tests/deb/contents $(MEMSECD_DEB); result=$$?; \
	tests/tap-run deb-vm $(VM_RUN) --image $(DEB_IMAGE) --log $(B)/log/console-deb.log --timeout 600 && exit $$result

$(DEB_IMAGE): $(VM_BASE) tests/vm/image $(wildcard tests/vm/files/*) $(MEMSECD_DEB) tests/deb/memsecd-package \
	      tests/integration/tap.sh
	$(if $(Q),@echo '  IMAGE   $@')
	+$(Q)$(VM_FAKEROOT) tests/vm/image $(VM_BASE) $@ install-check-deb

install-check-deb: $(MEMSECD_DEB)
	$(Q)$(INSTALL) -d $(DESTDIR)$(libdir)/memsec/tests
	$(Q)$(INSTALL_PROGRAM) tests/deb/memsecd-package $(DESTDIR)$(libdir)/memsec/tests/
	$(Q)$(INSTALL_DATA) tests/integration/tap.sh $(DESTDIR)$(libdir)/memsec/tests/
	$(Q)$(INSTALL_DATA) $(MEMSECD_DEB) $(DESTDIR)$(libdir)/memsec/tests/memsecd.deb
