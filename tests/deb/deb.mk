# SPDX-License-Identifier: GPL-2.0-only
#
# Tests of the Debian packages. The VM has an image of its own for them, without memsec, and boots the kernel
# that is in their package.

DEB_IMAGE := $(B)/vm/deb.ext4
DEB_KERNEL := $(B)/vm/deb.bzImage
DEB_TESTS := tests/deb/kernel-package tests/deb/memsecd-package

.PHONY: check-deb install-check-deb

## check-deb: the Debian packages, their contents and their life in the VM
check-deb: KERNEL_CONFIG =
check-deb: deb-memsecd deb-kernel $(DEB_IMAGE) $(DEB_KERNEL) daemon bpf policy $(B)/packages/lint $(B)/packages/test
	$(Q)tests/tap-run deb/contents timeout 300 tests/deb/contents $(MEMSECD_DEB); result=$$?; \
	tests/tap-run deb-vm $(VM_RUN) --kernel $(DEB_KERNEL) --image $(DEB_IMAGE) --timeout 1200 \
		--log $(B)/log/console-deb.log && exit $$result

$(DEB_KERNEL): $(LINUX_DEBS)
	$(Q)dpkg-deb --fsys-tarfile $(B)/deb/linux-image-*.deb | tar -xO --wildcards './boot/vmlinuz-*' >$@.new
	$(Q)mv $@.new $@

$(DEB_IMAGE): $(VM_BASE) tests/vm/image $(wildcard tests/vm/files/*) $(MEMSECD_DEB) $(LINUX_DEBS) $(DEB_TESTS) \
	      tests/deb/deb.sh tests/integration/tap.sh
	$(if $(Q),@echo '  IMAGE   $@')
	+$(Q)$(VM_FAKEROOT) tests/vm/image $(VM_BASE) $@ install-check-deb

install-check-deb: $(MEMSECD_DEB) $(LINUX_DEBS)
	$(Q)$(INSTALL) -d $(DESTDIR)$(libdir)/memsec/tests
	$(Q)$(INSTALL_PROGRAM) $(DEB_TESTS) $(DESTDIR)$(libdir)/memsec/tests/
	$(Q)$(INSTALL_DATA) tests/deb/deb.sh tests/integration/tap.sh $(DESTDIR)$(libdir)/memsec/tests/
	$(Q)$(INSTALL_DATA) $(MEMSECD_DEB) $(DESTDIR)$(libdir)/memsec/tests/memsecd.deb
	$(Q)for kind in image headers; do \
		$(INSTALL_DATA) $(B)/deb/linux-$$kind-*.deb $(DESTDIR)$(libdir)/memsec/tests/linux-$$kind.deb; \
	done
