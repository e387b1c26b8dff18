# SPDX-License-Identifier: GPL-2.0-only
#
# The kernel, and libbpf and bpftool from its source where the system's are too old.

KERNEL := $(B)/kernel/$(CONFIG).bzImage

.PHONY: kernel linux

## kernel: the patched kernel, build/kernel/CONFIG.bzImage
kernel: $(B)/packages/kernel
	$(Q)kernel/scripts/build $(CONFIG) $(CACHE)

# The unpacked, patched source alone, for what is built from its tools/.
linux: $(B)/packages/kernel
	$(Q)kernel/scripts/source

$(B)/libbpf/libbpf.a $(B)/libbpf/bpftool &: $(B)/packages/kernel kernel/scripts/bpf-tools
	$(Q)kernel/scripts/bpf-tools $(CACHE)
