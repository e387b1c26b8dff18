// SPDX-License-Identifier: GPL-2.0-only
/* no_name: has no name; refused. */
#include "memsec.bpf.h"

SEC(".struct_ops.link")
struct memsec_ops no_name = {
	.abi = MEMSEC_ABI,
};
