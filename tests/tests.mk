# SPDX-License-Identifier: GPL-2.0-only
#
# Tests. What a directory of them needs is in its own fragment.

include tests/unit/unit.mk
include tests/bus/bus.mk
include tests/integration/integration.mk
include tests/demo/demo.mk
include tests/lint.mk
include tests/vm/vm.mk
include tests/deb/deb.mk
include tests/model/model.mk
-include $(wildcard tests/bench/*.mk tests/fuzz/*.mk)

.PHONY: check check-unit check-bus check-kunit check-vm

## check: all tests; ends with "N passed, N failed"
check:
	+$(Q)tests/check lint model unit bus kunit vm deb

## check-unit: parts of the policy reader and the daemon, with sanitizers
check-unit: $(B)/packages/test $(UNIT_PROGRAMS)
	$(Q)tests/unit/yaml-test-suite $(CACHE) $(B)/yaml-test-suite
	$(Q)failed=; for program in $(UNIT_PROGRAMS); do \
		CMOCKA_MESSAGE_OUTPUT=TAP tests/tap-run unit/$${program##*/} timeout 300 $$program || failed=1; \
	done; [ -z "$$failed" ]

## check-bus: memsecd and memsecctl on a private bus, whatever the kernel
check-bus: $(B)/packages/test $(BUS_PROGRAMS) $(B)/tests/bench/bus-load daemon bpf bpf-hostile new-policy
	$(Q)failed=; for program in $(BUS_TESTS); do \
		BUILD=$(CURDIR)/$(B) tests/tap-run bus/$${program##*/} timeout 300 $$program || failed=1; \
	done; [ -z "$$failed" ]

## check-kunit: KUnit, natively in UML and in the VM's kernel
check-kunit: kernel kernel-kunit $(B)/packages/vm
	$(Q)tests/tap-run kunit/uml timeout 300 tests/kunit-uml '*memsec*'; result=$$?; \
	tests/tap-run kunit/$(CONFIG) $(VM_RUN) --kunit '*memsec*' --timeout 300 || result=1; \
	tests/tap-run kunit-1g/$(CONFIG) $(VM_RUN) --kunit 'memsec_directmap.giga*' --mem 6G --timeout 300 && exit $$result

## check-vm: memsecd under systemd over the kernel, all in the VM
check-vm: kernel image
	$(Q)tests/tap-run vm $(VM_RUN) --tests '$(TESTS)' --timeout 2700; result=$$?; \
	tests/tap-run vm-numa $(VM_RUN) --tests '@(keyid-storm|xpfo-numa|xpfo-offline)' --append numa=fake=2 --dimm 256M || result=1; \
	tests/tap-run vm-bounce $(VM_RUN) --tests '@(xpfo-guest|xpfo-io)' --append '$(VM_BOUNCE)' || result=1; \
	tests/tap-run vm/ret2dir tests/vm/ret2dir $(CONFIG) || result=1; \
	tests/tap-run vm-4k $(VM_RUN) --tests directmap-4k --append '$(VM_4K)' || result=1; \
	$(if $(VM_ICOUNT_TESTS),tests/tap-run vm-icount $(VM_RUN) --icount --tests $(VM_ICOUNT_TESTS) &&) exit $$result

# The disk reaches no memory but bounce buffers, and no hardware protects memory of guests.
VM_BOUNCE := swiotlb=force memsec.rmp=0

# A direct map in entries of 4 KiB, and before that what there is not.
VM_4K := memsec.directmap=2m memsec.directmap=4k

# Their clock counts instructions. A debug kernel spends more of them on its checks in interrupts than on the rest.
VM_ICOUNT_TESTS := $(if $(filter debug,$(CONFIG)),,hostile-hold)

# TESTS=GLOB: which of the VM's tests.
TESTS ?= *
