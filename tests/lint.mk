# SPDX-License-Identifier: GPL-2.0-only
#
# What tools say of the sources.

.PHONY: lint check-lint

# The script splits LINT_CFLAGS into words itself: no quotes for a shell in it.
## lint: checkpatch, sparse, gcc and clang with every warning, shellcheck, mandoc, codespell
lint: $(B)/packages/lint linux policy $(B)/packages/test $(LIBBPF_DEPS)
	$(Q)LINT_CFLAGS='$(subst ',,$(CPPFLAGS) $(CFLAGS) -iquote kernel/include/linux)' \
		tests/tap-run lint/all tests/lint compile

# What of it takes seconds.
check-lint: $(B)/packages/lint linux policy
	$(Q)tests/tap-run lint/quick tests/lint
