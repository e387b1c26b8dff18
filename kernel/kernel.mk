# SPDX-License-Identifier: GPL-2.0-only
#
# The kernel, and libbpf and bpftool from its source where the system's are too old.

KERNEL := build/kernel/$(CONFIG).bzImage

.PHONY: kernel linux

## kernel: the patched kernel, build/kernel/$(CONFIG).bzImage
kernel: build/packages/kernel
	$(Q)kernel/scripts/build $(CONFIG) $(CACHE)

# The unpacked, patched source alone, for what is built from its tools/.
linux: build/packages/kernel
	$(Q)kernel/scripts/source
