# SPDX-License-Identifier: GPL-2.0-only
#
# Benchmarks. Each writes build/bench/NAME.json and NAME.svg and prints the same as a table.

BENCH_PROGRAMS := $(patsubst %.c,$(B)/%,$(wildcard tests/bench/*.c))
BENCH_FILES := tests/bench/teardown
BENCH_INSTALLED := $(BENCH_PROGRAMS) $(BENCH_FILES)

# What makes the SGX driver ask memsec.
BENCH_HOOK_PATCHES := $(wildcard kernel/patches/000?-x86-sgx-Ask-memsec-*.patch)

# They are in the image of the VM.
VM_INSTALL += install-bench
$(VM_IMAGE): $(BENCH_INSTALLED)

.PHONY: bench bench-teardown install-bench

## bench: all benchmarks; results in build/bench
bench: bench-teardown

# $1: part of tests/bench/teardown, $2: kernel, $3: seconds on two cores, $4: options of tests/vm/run
bench-vm = kernel/scripts/progress BENCH 0 $3 $(B)/bench/teardown-$1.log \
	tests/vm/run --config $2 --timeout 7200 --log $(B)/log/console-bench-$1.log $4 \
	--command '/usr/lib/memsec/bench/teardown $1'

## bench-teardown: an enclave at work while its twin is released, and the cost of the hooks
bench-teardown: kernel image $(B)/packages/bench
	$(Q)mkdir -p $(B)/bench
	$(Q)tests/bench/unpatched-kernel $(CACHE) $(BENCH_HOOK_PATCHES)
	$(Q)$(call bench-vm,hooks,$(CONFIG),100,--icount)
	$(Q)$(call bench-vm,unpatched,unpatched,100,--icount)
	$(Q)$(call bench-vm,one-cpu,$(CONFIG),900,--icount)
	$(Q)$(call bench-vm,again,$(CONFIG),150,--icount)
	$(Q)$(call bench-vm,many-cpus,$(CONFIG),400,--smp 2)
	$(Q)tests/bench/teardown.py $(B)/bench

$(B)/tests/bench/%: $(B)/obj/tests/bench/%.o $(TESTLIB) $(LIBBPF_DEPS)
	$(Q)mkdir -p $(@D)
	$(if $(Q),@echo '  LD      $@')
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $< $(TESTLIB) -o $@ $(LIBBPF_LIBS) $(SYSTEMD_LIBS) -lpthread

install-bench: $(BENCH_PROGRAMS)
	$(Q)$(INSTALL) -d $(DESTDIR)$(libdir)/memsec/bench
	$(Q)$(INSTALL_PROGRAM) $(BENCH_INSTALLED) $(DESTDIR)$(libdir)/memsec/bench/
