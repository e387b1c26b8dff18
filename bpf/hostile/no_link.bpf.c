// SPDX-License-Identifier: GPL-2.0-only
/* no_link: attached without a link; refused. */
#include "memsec.bpf.h"

SEC(".struct_ops")
struct memsec_ops no_link = {
	.name = "no_link",
	.abi = MEMSEC_ABI,
};
