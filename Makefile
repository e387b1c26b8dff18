# SPDX-License-Identifier: GPL-2.0-only
#
# memsec. `make help` says what can be made; everything made is below build/.

# CONFIG=vm: the kernel that the VM boots. CONFIG=debug: the same with lockdep, KASAN and more.
CONFIG ?= vm
# V=1: show the commands.
V ?= 0
Q := $(if $(filter 1,$(V)),,@)
export V

# What took long to make and depends only on its inputs is kept across clones.
CACHE := $(or $(XDG_CACHE_HOME),$(HOME:%=%/.cache),$(CURDIR)/build/cache)/memsec

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:

include kernel/kernel.mk

.PHONY: all clean help

## all: kernel, policies, memsecd and memsecctl
all: kernel

## clean: remove build/ (not the cache)
clean:
	$(Q)rm -rf build

## help: this list
help:
	@sed -n 's/^## \([a-z-]*\): /\1\t/p' $(MAKEFILE_LIST) | \
		awk -F'\t' '{ printf "  %-16s%s\n", $$1, $$2 }'

# Installs what is missing of a group of .ci/packages.
build/packages/%: .ci/packages
	$(Q)mkdir -p $(@D)
	$(Q).ci/install-packages $*
	$(Q)touch $@
