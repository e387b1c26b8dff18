// SPDX-License-Identifier: GPL-2.0-only
/* empty: no callback at all: valid, and everything is the kernel's default. */
#include "memsec.bpf.h"

SEC(".struct_ops.link")
struct memsec_ops empty = {
	.name = "empty",
	.abi = MEMSEC_ABI,
};
