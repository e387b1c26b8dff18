/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MM_MEMSEC_EMULATION_H
#define _MM_MEMSEC_EMULATION_H

#include <linux/init.h>

struct kobject;

void memsec_emulation_announce(const char *what);
struct kobject *memsec_emulation_kobj(void);

void __init sgx_model_reserve(void);

#endif /* _MM_MEMSEC_EMULATION_H */
