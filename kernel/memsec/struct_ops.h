/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memsec: what the files of policies in BPF share.
 */
#ifndef _MM_MEMSEC_STRUCT_OPS_H
#define _MM_MEMSEC_STRUCT_OPS_H

union bpf_attr;
struct bpf_prog;

int memsec_bpf_test_run(struct bpf_prog *prog, const union bpf_attr *kattr,
			union bpf_attr __user *uattr);

#endif /* _MM_MEMSEC_STRUCT_OPS_H */
