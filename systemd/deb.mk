# SPDX-License-Identifier: GPL-2.0-only
#
# The Debian package of memsecd, by systemd/debian.

MEMSECD_DEB := $(B)/deb/memsecd_$(VERSION)_amd64.deb

.PHONY: deb-memsecd

## deb-memsecd: the Debian package of memsecd, build/deb/memsecd_*.deb
deb-memsecd: $(MEMSECD_DEB)
	$(Q)systemd/lintian $<

$(MEMSECD_DEB): Makefile .ci/config systemd/make-deb $(wildcard systemd/* systemd/debian/* daemon/* policy/* \
		policy/examples/* bpf/* bpf/policies/* kernel/include/linux/*) $(LIBBPF_DEPS) | $(B)/packages/deb
	$(Q)systemd/make-deb $(VERSION)
