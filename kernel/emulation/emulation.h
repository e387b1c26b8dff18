/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the models share.
 */
#ifndef _MM_MEMSEC_EMULATION_H
#define _MM_MEMSEC_EMULATION_H

#include <linux/init.h>

#include "../memsec/internal.h"

struct kobject;

/* The most that most instructions can be told to take, in ns. */
#define INSTRUCTION_MAX_NS	1000000

/**
 * struct instruction - what sysfs has of a modelled instruction
 * @cost: the time it takes at least, in ns; 0 to take what the model takes
 * @count: how often it ran, failures included
 */
struct instruction {
	struct memsec_limit cost;
	struct memsec_counter count;
};

/* The initializer of an instruction with the files _name_ns and _name_count. */
#define INSTRUCTION_UP_TO(_name, _counts, _max_ns) {			\
	.cost = {							\
		.attr = __ATTR(_name##_ns, 0644, memsec_limit_show,	\
			       memsec_limit_store),			\
		.max = (_max_ns),					\
	},								\
	.count = {							\
		.attr = __ATTR(_name##_count, 0444,			\
			       memsec_counter_show, NULL),		\
		.count = (_counts),					\
	},								\
}

#define INSTRUCTION(_name, _counts)					\
	INSTRUCTION_UP_TO(_name, _counts, INSTRUCTION_MAX_NS)

u64 instruction_begin(struct instruction *instruction);
void instruction_end(struct instruction *instruction, u64 begin);

void memsec_emulation_announce(const char *what);
struct kobject *memsec_emulation_kobj(void);

#ifdef CONFIG_MEMSEC_EMULATION_SGX
void __init sgx_model_reserve(void);
#else
static inline void sgx_model_reserve(void) { }
#endif

#endif /* _MM_MEMSEC_EMULATION_H */
