// SPDX-License-Identifier: GPL-2.0-only
/* bad_name: a name that sysfs and logs could not show as one word; refused. */
#include "memsec.bpf.h"

SEC(".struct_ops.link")
struct memsec_ops bad_name = {
	.name = "bad name\n",
	.abi = MEMSEC_ABI,
};
