# SPDX-License-Identifier: GPL-2.0-only
#
# Benchmarks. Each writes build/bench/NAME.json and NAME.svg and prints the same as a table.

BENCH_PROGRAMS := $(patsubst %.c,$(B)/%,$(wildcard tests/bench/*.c))
BENCH_FILES := tests/bench/teardown tests/bench/directmap tests/bench/daemon tests/bench/xpfo
BENCH_INSTALLED := $(BENCH_PROGRAMS) $(BENCH_FILES)

# What makes the SGX driver and memfd_secret(2) ask memsec, and walks of page tables ready for what it does.
BENCH_HOOK_PATCHES := $(wildcard kernel/patches/000?-x86-sgx-Ask-memsec-*.patch \
				 kernel/patches/002?-mm-secretmem-*.patch \
				 kernel/patches/002?-x86-mm-read-each-entry-once-*.patch)

BENCH_BASE := $(B)/vm/bench-base.tar
BENCH_IMAGE := $(B)/vm/bench-image.ext4
BENCH_PACKAGES := $(shell awk '$$1 == "bench-image" { print $$2 }' .ci/packages)

# They are in the image of the VM.
VM_INSTALL += install-bench
$(VM_IMAGE): $(BENCH_INSTALLED)

.PHONY: bench bench-teardown bench-directmap bench-keyid bench-xpfo bench-daemon install-bench install-bench-project

## bench: all benchmarks; results in build/bench
bench: bench-teardown bench-directmap bench-keyid bench-xpfo bench-daemon

# $1: script in tests/bench, $2: part of it, $3: kernel, $4: seconds on two cores, $5: options of tests/vm/run
bench-vm = kernel/scripts/progress BENCH 0 $4 $(B)/bench/$1-$2.log \
	tests/vm/run --config $3 --timeout 7200 --log $(B)/log/console-bench-$1-$2.log $5 \
	--command '/usr/lib/memsec/bench/$1 $2'

## bench-teardown: an enclave at work while its twin is released, and the cost of the hooks
bench-teardown: kernel image $(B)/packages/bench
	$(Q)mkdir -p $(B)/bench
	$(Q)tests/bench/unpatched-kernel $(CACHE) $(BENCH_HOOK_PATCHES)
	$(Q)$(call bench-vm,teardown,hooks,$(CONFIG),100,--icount)
	$(Q)$(call bench-vm,teardown,unpatched,unpatched,100,--icount)
	$(Q)$(call bench-vm,teardown,one-cpu,$(CONFIG),900,--icount)
	$(Q)$(call bench-vm,teardown,again,$(CONFIG),150,--icount)
	$(Q)$(call bench-vm,teardown,many-cpus,$(CONFIG),400,--smp 2)
	$(Q)tests/bench/teardown.py $(B)/bench

# $1: CPUs, $2: options of tests/vm/run
define bench-directmap-cpus
$(Q)$(call bench-vm,directmap,policies-$1,$(CONFIG),60,--mem 4G $2)
$(Q)$(call bench-vm,directmap,4k-$1,$(CONFIG),30,--mem 4G --append memsec.directmap=4k $2)
$(Q)$(call bench-vm,directmap,unpatched-$1,unpatched,30,--mem 4G $2)

endef

## bench-directmap: private memory faulted in, and what becomes of the kernel's direct map
bench-directmap: kernel image $(B)/packages/bench
	$(Q)mkdir -p $(B)/bench
	$(Q)tests/bench/unpatched-kernel $(CACHE) $(BENCH_HOOK_PATCHES)
	$(call bench-directmap-cpus,1,--icount)
	$(call bench-directmap-cpus,2,--smp 2)
	$(call bench-directmap-cpus,4,--smp 4)
	$(Q)tests/bench/directmap.py $(B)/bench

## bench-keyid: memory under a KeyID allocated and freed, natively in UML and with instructions counted
bench-keyid: kernel $(B)/packages/vm $(B)/packages/bench
	$(Q)mkdir -p $(B)/bench
	$(Q)kernel/scripts/build native $(CACHE)
	$(Q)kernel/scripts/progress BENCH 0 60 $(B)/bench/keyid-native.log tests/bench/keyid-native
	$(Q)kernel/scripts/progress BENCH 0 120 $(B)/bench/keyid-vm.log $(VM_RUN) --icount --timeout 1200 \
		--log $(B)/log/console-bench-keyid.log --kunit memsec_keyid_bench --append keyid_bench.run=1
	$(Q)tests/bench/keyid.py $(B)/bench

## bench-xpfo: a build whose memory is outside the kernel's direct map, and what it costs to reach it there
bench-xpfo: kernel $(BENCH_IMAGE) $(B)/packages/bench
	$(Q)mkdir -p $(B)/bench
	$(Q)kernel/scripts/progress BENCH 0 60 $(B)/bench/xpfo-kernel.log $(VM_RUN) --icount --timeout 1200 \
		--log $(B)/log/console-bench-xpfo-kernel.log --kunit memsec_xpfo_bench --append xpfo_bench.run=1
	$(Q)$(call bench-vm,xpfo,compile-1,$(CONFIG),900,--icount --image $(BENCH_IMAGE))
	$(Q)$(call bench-vm,xpfo,compile-2,$(CONFIG),600,--smp 2 --image $(BENCH_IMAGE))
	$(Q)tests/bench/xpfo.py $(B)/bench

# The VM's image and a compiler.
$(BENCH_BASE): .ci/packages tests/vm/base $(B)/packages/vm
	$(Q)tests/vm/base $(CACHE) $@ $(VM_PACKAGES) $(BENCH_PACKAGES)
	$(Q)touch $@

$(BENCH_IMAGE): $(BENCH_BASE) $(VM_IMAGE)
	$(if $(Q),@echo '  IMAGE   $@')
	+$(Q)$(VM_FAKEROOT) tests/vm/image $(BENCH_BASE) $@ $(VM_INSTALL) install-bench-project

# A small C project: what needs no more than libyaml.
install-bench-project:
	$(Q)$(INSTALL) -d $(addprefix $(DESTDIR)$(libdir)/memsec/bench/project/,policy bpf)
	$(Q)cp policy/*.h $$(grep -L -e 'bpf/' -e '"object.h"' policy/*.c) $(DESTDIR)$(libdir)/memsec/bench/project/policy/
	$(Q)cp bpf/memsec_params.h $(DESTDIR)$(libdir)/memsec/bench/project/bpf/

## bench-daemon: memsecd's reloads, properties, memory and wakeups, beside those of other daemons
bench-daemon: kernel image daemon $(B)/tests/bench/bus-load $(B)/packages/bench $(B)/packages/test
	$(Q)mkdir -p $(B)/bench
	$(Q)$(call bench-vm,daemon,vm,$(CONFIG),300)
	$(Q)BUILD=$(CURDIR)/$(B) kernel/scripts/progress BENCH 0 150 $(B)/bench/daemon-host.log tests/bench/daemon host
	$(Q)tests/bench/daemon.py $(B)/bench

$(B)/tests/bench/%: $(B)/obj/tests/bench/%.o $(TESTLIB) $(LIBBPF_DEPS)
	$(Q)mkdir -p $(@D)
	$(if $(Q),@echo '  LD      $@')
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $< $(TESTLIB) -o $@ $(LIBBPF_LIBS) $(SYSTEMD_LIBS) -lpthread

install-bench: $(BENCH_PROGRAMS)
	$(Q)$(INSTALL) -d $(DESTDIR)$(libdir)/memsec/bench
	$(Q)$(INSTALL_PROGRAM) $(BENCH_INSTALLED) $(DESTDIR)$(libdir)/memsec/bench/
