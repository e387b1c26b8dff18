# SPDX-License-Identifier: GPL-2.0-only
#
# memsec. `make help` says what can be made; everything made is below build/.

# CONFIG=vm: the kernel that the VM boots. CONFIG=debug: the same with lockdep, KASAN and more.
CONFIG ?= vm
# V=1: show the commands.
V ?= 0
Q := $(if $(filter 1,$(V)),,@)
export V

B := build

# What took long to make and depends only on its inputs is kept across clones.
CACHE := $(or $(XDG_CACHE_HOME),$(HOME:%=%/.cache),$(CURDIR)/$(B)/cache)/memsec

prefix ?= /usr
exec_prefix ?= $(prefix)
bindir ?= $(exec_prefix)/bin
# systemd's and memsec's own directories are not those of an architecture.
libdir ?= $(exec_prefix)/lib
libexecdir ?= $(exec_prefix)/lib/memsec
sysconfdir ?= /etc
datarootdir ?= $(prefix)/share
datadir ?= $(datarootdir)
mandir ?= $(datarootdir)/man
includedir ?= $(prefix)/include
systemunitdir ?= $(libdir)/systemd/system
sysusersdir ?= $(libdir)/sysusers.d
tmpfilesdir ?= $(libdir)/tmpfiles.d
catalogdir ?= $(libdir)/systemd/catalog

INSTALL ?= install
INSTALL_PROGRAM ?= $(INSTALL)
INSTALL_DATA ?= $(INSTALL) -m 644

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:

# The goals below need no compiler, and must not install one.
ifneq ($(filter-out help clean kernel kernel-kunit linux,$(or $(MAKECMDGOALS),all)),)
include $(B)/config.mk
endif

CFLAGS ?= -O2 -g
override CFLAGS += -std=gnu11 -Wall -Wextra -Wno-unused-parameter
override CPPFLAGS += -D_GNU_SOURCE -Ibpf -Ikernel/include -Ipolicy -Idaemon -Itests/lib $(LIBS_CFLAGS) \
	-DMEMSEC_VERSION='"$(VERSION)"' -DMEMSEC_LIBDIR='"$(libdir)/memsec"' \
	-DMEMSEC_SYSCONFDIR='"$(sysconfdir)/memsec"'
SANITIZE := -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all

# The version of the ABI between memsecd, its clients and the kernel is elsewhere; this is the release.
VERSION := 1

include kernel/kernel.mk
include bpf/bpf.mk
include policy/policy.mk
include daemon/daemon.mk
include systemd/systemd.mk
include systemd/deb.mk
include tests/tests.mk

.PHONY: all install clean help

## all: kernel, policies, memsecd and memsecctl
all: kernel bpf daemon

## install: everything but the kernel, below $(DESTDIR)
install: install-bpf install-policy install-daemon install-systemd

## clean: remove build/ (not the cache)
clean:
	$(Q)rm -rf $(B)

## help: this list
help:
	@echo 'make TARGET [CONFIG=vm|debug] [V=1]'
	@sed -n 's/^## \([a-z-]*\): /\1\t/p' $(MAKEFILE_LIST) | \
		awk -F'\t' '{ printf "  %-16s%s\n", $$1, $$2 }'

# Objects, and the same with sanitizers for tests.
$(B)/obj/%.o: %.c $(B)/config.mk $(LIBBPF_DEPS)
	$(Q)mkdir -p $(@D)
	$(if $(Q),@echo '  CC      $<')
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

$(B)/san/%.o: %.c $(B)/config.mk $(LIBBPF_DEPS)
	$(Q)mkdir -p $(@D)
	$(if $(Q),@echo '  CC      $< (sanitized)')
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(SANITIZE) -MMD -MP -c $< -o $@

-include $(shell find $(B)/obj $(B)/san -name '*.d' 2>/dev/null)

# Installs what is missing of a group of .ci/packages.
$(B)/packages/%: .ci/packages .ci/install-packages
	$(Q)mkdir -p $(@D)
	$(Q).ci/install-packages $*
	$(Q)touch $@

# What the system has, found once; make reads it and starts over.
$(B)/config.mk: .ci/config $(B)/packages/build
	$(Q).ci/config >$@.new && mv $@.new $@
