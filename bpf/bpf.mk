# SPDX-License-Identifier: GPL-2.0-only
#
# BPF policies: $(B)/bpf/NAME.bpf.o from bpf/policies, and those that only the
# tests use, $(B)/bpf/hostile/NAME.bpf.o from bpf/hostile.
#
# LIBBPF_CFLAGS names the directory of libbpf's headers where it is not the
# system's.

BPF_CLANG ?= clang

# What libbpf's headers include of the kernel's is in the multiarch directory,
# where a compiler for another target does not look.
BPF_CFLAGS := -O2 -g -target bpf -mcpu=v3 -Wall -Wextra -Wno-unused-parameter -Werror \
	-Ibpf -Ikernel/include/linux $(LIBBPF_CFLAGS) \
	-idirafter /usr/include/$(shell uname -m)-linux-gnu

BPF_HEADERS := bpf/memsec.bpf.h bpf/memsec_params.h kernel/include/linux/memsec_ops.h
# For programs that use the device.
UAPI_HEADERS := kernel/include/uapi/linux/memsec_keyid.h
BPF_POLICIES := $(patsubst bpf/policies/%.c,$(B)/bpf/%.o,$(wildcard bpf/policies/*.bpf.c))
# See daemon/memsecctl-template.c.
TEMPLATE_FILES := $(addprefix bpf/template/,mine.bpf.c Makefile README.md)
BPF_HOSTILE := $(patsubst bpf/hostile/%.c,$(B)/bpf/hostile/%.o,$(wildcard bpf/hostile/*.bpf.c))

.PHONY: bpf bpf-hostile install-bpf install-bpf-hostile

## bpf: the BPF policies
bpf: $(BPF_POLICIES)

bpf-hostile: $(BPF_HOSTILE)

$(B)/bpf/%.bpf.o: bpf/policies/%.bpf.c $(BPF_HEADERS) $(wildcard bpf/policies/*.h) $(LIBBPF_DEPS)
	@mkdir -p $(@D)
	$(if $(Q),@echo '  BPF     $@')
	$(Q)$(BPF_CLANG) $(BPF_CFLAGS) -c $< -o $@

$(B)/bpf/hostile/%.bpf.o: bpf/hostile/%.bpf.c $(BPF_HEADERS) $(wildcard bpf/hostile/*.h) $(LIBBPF_DEPS)
	@mkdir -p $(@D)
	$(if $(Q),@echo '  BPF     $@')
	$(Q)$(BPF_CLANG) $(BPF_CFLAGS) -c $< -o $@

# Policy authors find all headers in one directory.
install-bpf: $(BPF_POLICIES)
	$(Q)$(INSTALL) -d $(DESTDIR)$(libdir)/memsec/policies $(DESTDIR)$(includedir)/memsec
	$(Q)$(INSTALL_DATA) $(BPF_POLICIES) $(DESTDIR)$(libdir)/memsec/policies/
	$(Q)$(INSTALL_DATA) $(BPF_HEADERS) $(UAPI_HEADERS) $(DESTDIR)$(includedir)/memsec/

install-bpf-hostile: $(BPF_HOSTILE)
	$(Q)$(INSTALL) -d $(DESTDIR)$(libdir)/memsec/tests/policies
	$(Q)$(INSTALL_DATA) $(BPF_HOSTILE) $(DESTDIR)$(libdir)/memsec/tests/policies/
