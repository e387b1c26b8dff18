# SPDX-License-Identifier: GPL-2.0-only
#
# Models of protocols, checked exhaustively by spin.

.PHONY: check-model

## check-model: the protocol of xpfo's pools and windows, on four CPUs
check-model: $(B)/packages/model
	$(Q)tests/tap-run model/xpfo timeout 1200 tests/model/run $(B)/model
