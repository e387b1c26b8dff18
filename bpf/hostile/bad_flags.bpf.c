// SPDX-License-Identifier: GPL-2.0-only
/* bad_flags: a flag that is not defined; refused. */
#include "memsec.bpf.h"

SEC(".struct_ops.link")
struct memsec_ops bad_flags = {
	.name = "bad_flags",
	.abi = MEMSEC_ABI,
	.flags = 1,
};
