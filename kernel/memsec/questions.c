// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsec: the questions.
 *
 * One table for all that goes over them: who is asked what, with which facts,
 * and what of these a policy may write.
 */
#include <linux/ctype.h>
#include <linux/stddef.h>
#include <linux/string.h>

#include "internal.h"

#define QUESTION(_name, _mech) {					\
		.name = #_name,						\
		.callback = offsetof(struct memsec_ops, _name),		\
		.mech = _mech,						\
		.facts = "memsec_" #_name "_ctx",			\
		.size = sizeof(struct memsec_##_name##_ctx),		\
		.rule = offsetof(struct memsec_##_name##_ctx, rule),	\
	}

#define DIRECTMAP	(IS_ENABLED(CONFIG_MEMSEC_DIRECTMAP) ?		\
			 &memsec_directmap_mechanism : NULL)
#define KEYID		(IS_ENABLED(CONFIG_MEMSEC_KEYID) ?		\
			 &memsec_keyid_mechanism : NULL)
#define XPFO		(IS_ENABLED(CONFIG_MEMSEC_XPFO) ?		\
			 &memsec_xpfo_mechanism : NULL)

const struct memsec_question_desc memsec_questions[MEMSEC_ASK_NR] = {
	[MEMSEC_ASK_TEARDOWN] = QUESTION(teardown, &memsec_teardown_mechanism),
	[MEMSEC_ASK_DIRECTMAP] = QUESTION(directmap, DIRECTMAP),
	[MEMSEC_ASK_DIRECTMAP_COLLAPSE] =
		QUESTION(directmap_collapse, DIRECTMAP),
	[MEMSEC_ASK_KEYID] = QUESTION(keyid, KEYID),
	[MEMSEC_ASK_KEYID_RECYCLE] = QUESTION(keyid_recycle, KEYID),
	[MEMSEC_ASK_XPFO] = QUESTION(xpfo, XPFO),
	[MEMSEC_ASK_XPFO_POOL] = QUESTION(xpfo_pool, XPFO),
};

/**
 * memsec_rule_text() - The rule that a policy named, as text
 * @question: what was asked
 * @facts: the struct that the policy was given
 * @text: where to write it, empty when it named none; what cannot be printed
 *	is '?'
 *
 * Context: Any.
 */
void memsec_rule_text(enum memsec_question question, const void *facts,
		      char text[MEMSEC_RULE_LEN + 1])
{
	int i;

	memcpy(text, facts + memsec_questions[question].rule, MEMSEC_RULE_LEN);
	text[MEMSEC_RULE_LEN] = '\0';
	for (i = 0; text[i]; i++) {
		if (!isascii(text[i]) || !isgraph(text[i]))
			text[i] = '?';
	}
}
