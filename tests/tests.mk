# SPDX-License-Identifier: GPL-2.0-only
#
# What the test directories need is in fragments of their own.

include tests/integration/integration.mk
include tests/demo/demo.mk
include tests/vm/vm.mk
-include $(wildcard tests/bench/*.mk tests/fuzz/*.mk)
