# SPDX-License-Identifier: GPL-2.0-only
#
# Debian packages: of memsecd by systemd/debian, of the kernel by its own packaging.

MEMSECD_DEB := $(B)/deb/memsecd_$(VERSION)_amd64.deb

# Changes when the packages of the kernel beside it do.
LINUX_DEBS := $(B)/deb/linux.key

# A whole configuration for the kernel's package, such as /boot/config-VERSION, in place of CONFIG.
KERNEL_CONFIG ?=

.PHONY: deb deb-memsecd deb-kernel FORCE

## deb: Debian packages of memsecd and the kernel, build/deb/*.deb; KERNEL_CONFIG=/boot/config-...
deb: deb-memsecd deb-kernel

## deb-memsecd: of memsecd alone
deb-memsecd: $(MEMSECD_DEB)
	$(Q)systemd/lintian $<

# The kernel's packaging does not strip the programs that its headers come with, and has its modules below /lib,
# which Debian 13 would rather have below /usr.
## deb-kernel: of the kernel alone
deb-kernel: $(LINUX_DEBS)
	$(Q)systemd/lintian --suppress unstripped-binary-or-object --suppress aliased-location \
		$(B)/deb/linux-*.deb

$(LINUX_DEBS): $(B)/packages/kernel $(B)/packages/deb FORCE
	$(Q)kernel/scripts/deb $(or $(abspath $(KERNEL_CONFIG)),$(CONFIG)) $(CACHE) $(VERSION)

$(MEMSECD_DEB): Makefile .ci/config systemd/make-deb $(wildcard systemd/* systemd/debian/* daemon/* policy/* \
		policy/examples/* bpf/* bpf/policies/* kernel/include/linux/*) $(LIBBPF_DEPS) | $(B)/packages/deb
	$(Q)systemd/make-deb $(VERSION)
