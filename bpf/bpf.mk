# SPDX-License-Identifier: GPL-2.0-only
#
# BPF policies: $(B)/bpf/NAME.bpf.o from bpf/policies, and the ones only the
# tests use, $(B)/bpf/hostile/NAME.bpf.o from bpf/hostile.
#
# LIBBPF_CFLAGS, from the top Makefile, names the directory of libbpf's headers.

B ?= build
BPF_CLANG ?= clang
BPFDIR := $(dir $(lastword $(MAKEFILE_LIST)))

# The kernel headers libbpf's include are in the multiarch directory, where a
# compiler for another target than the host's does not look.
BPF_CFLAGS := -O2 -g -target bpf -mcpu=v3 -Wall -Wextra -Wno-unused-parameter -Werror \
	-I$(BPFDIR) -I$(BPFDIR)../kernel/include/linux $(LIBBPF_CFLAGS) \
	-idirafter /usr/include/$(shell gcc -print-multiarch)

BPF_POLICIES := $(patsubst $(BPFDIR)policies/%.bpf.c,$(B)/bpf/%.bpf.o,$(wildcard $(BPFDIR)policies/*.bpf.c))
BPF_HOSTILE := $(patsubst $(BPFDIR)hostile/%.bpf.c,$(B)/bpf/hostile/%.bpf.o,$(wildcard $(BPFDIR)hostile/*.bpf.c))
BPF_HEADERS := $(BPFDIR)memsec.bpf.h $(BPFDIR)memsec_params.h \
	$(BPFDIR)../kernel/include/linux/memsec_ops.h

.PHONY: bpf bpf-hostile install-bpf install-bpf-hostile

bpf: $(BPF_POLICIES)

bpf-hostile: $(BPF_HOSTILE)

$(B)/bpf/%.bpf.o: $(BPFDIR)policies/%.bpf.c $(BPF_HEADERS) $(LIBBPF_DEPS)
	@mkdir -p $(@D)
	$(BPF_CLANG) $(BPF_CFLAGS) -c $< -o $@

$(B)/bpf/hostile/%.bpf.o: $(BPFDIR)hostile/%.bpf.c $(BPF_HEADERS) $(BPFDIR)hostile/calls.h $(LIBBPF_DEPS)
	@mkdir -p $(@D)
	$(BPF_CLANG) $(BPF_CFLAGS) -c $< -o $@

# For policy authors all headers are in one directory.
install-bpf: $(BPF_POLICIES)
	install -d $(DESTDIR)$(libdir)/memsec/policies $(DESTDIR)$(includedir)/memsec
	install -m 644 $(BPF_POLICIES) $(DESTDIR)$(libdir)/memsec/policies/
	install -m 644 $(BPF_HEADERS) $(DESTDIR)$(includedir)/memsec/

install-bpf-hostile: $(BPF_HOSTILE)
	install -d $(DESTDIR)$(libdir)/memsec/tests/policies
	install -m 644 $(BPF_HOSTILE) $(DESTDIR)$(libdir)/memsec/tests/policies/
