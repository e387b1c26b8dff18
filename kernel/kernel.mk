# SPDX-License-Identifier: GPL-2.0-only
#
# The kernel, and libbpf and bpftool from its source where the system's are too old.

.PHONY: kernel kernel-kunit linux

## kernel: the patched kernel, build/kernel/CONFIG.bzImage
kernel: $(B)/packages/kernel
	$(Q)kernel/scripts/build $(CONFIG) $(CACHE)

# User-mode Linux with the KUnit tests, build/kernel/kunit.linux.
kernel-kunit: $(B)/packages/kernel
	$(Q)kernel/scripts/build kunit $(CACHE)

# The unpacked, patched source alone, for what is built from its tools/.
linux: $(B)/packages/kernel
	$(Q)kernel/scripts/source

$(B)/libbpf/libbpf.a $(B)/libbpf/bpftool &: kernel/scripts/bpf-tools | $(B)/packages/kernel
	$(Q)kernel/scripts/bpf-tools $(CACHE)
