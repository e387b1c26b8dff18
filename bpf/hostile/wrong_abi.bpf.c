// SPDX-License-Identifier: GPL-2.0-only
/* wrong_abi: of a version that the kernel does not speak; refused. */
#include "memsec.bpf.h"

SEC(".struct_ops.link")
struct memsec_ops wrong_abi = {
	.name = "wrong_abi",
	.abi = MEMSEC_ABI + 1,
};
