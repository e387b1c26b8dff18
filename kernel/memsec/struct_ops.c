// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsec: policies in BPF.
 *
 * Registers memsec_ops as a struct_ops type. The link is what holds a policy;
 * a map without a link is refused, because the fuse could not detach it.
 */
#include <linux/bpf.h>
#include <linux/bpf_verifier.h>
#include <linux/btf.h>
#include <linux/filter.h>
#include <linux/init.h>
#include <linux/slab.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "internal.h"
#include "struct_ops.h"

static int memsec_bpf_init(struct btf *btf)
{
	return 0;
}

static int memsec_bpf_check_member(const struct btf_type *t,
				   const struct btf_member *member,
				   const struct bpf_prog *prog)
{
	switch (__btf_member_bit_offset(t, member) / 8) {
	case offsetof(struct memsec_ops, init):
	case offsetof(struct memsec_ops, exit):
		return 0;
	default:
		return prog->sleepable ? -EINVAL : 0;
	}
}

static int memsec_bpf_init_member(const struct btf_type *t,
				  const struct btf_member *member,
				  void *kdata, const void *udata)
{
	const struct memsec_ops *uops = udata;
	struct memsec_ops *ops = kdata;

	switch (__btf_member_bit_offset(t, member) / 8) {
	case offsetof(struct memsec_ops, name):
		if (bpf_obj_name_cpy(ops->name, uops->name,
				     sizeof(ops->name)) <= 0)
			return -EINVAL;
		return 1;
	case offsetof(struct memsec_ops, abi):
		ops->abi = uops->abi;
		return 1;
	case offsetof(struct memsec_ops, flags):
		ops->flags = uops->flags;
		return 1;
	default:
		return 0;
	}
}

static bool memsec_bpf_link_get(void *holder)
{
	return !IS_ERR(bpf_link_inc_not_zero(holder));
}

/* Like BPF_LINK_DETACH: user space that polls the link gets EPOLLHUP. */
static void memsec_bpf_link_drop(void *holder)
{
	struct bpf_link *link = holder;

	link->ops->detach(link);
	bpf_link_put(link);
}

/* The map behind a link, to be put; NULL while the link is being made. */
static struct bpf_map *memsec_bpf_link_map(struct bpf_link *link)
{
	struct bpf_link_info info = {};
	struct bpf_map *map;
	u32 id;

	link->ops->fill_link_info(link, &info);
	if (!info.struct_ops.map_id)
		return NULL;

	id = info.struct_ops.map_id;
	map = bpf_map_get_curr_or_next(&id);
	if (map && map->id != info.struct_ops.map_id) {
		bpf_map_put(map);
		return NULL;
	}

	return map;
}

/* The value of a map as user space sees it: ids are in the place of callbacks. */
struct memsec_bpf_value {
	struct bpf_struct_ops_common_value common;
	struct memsec_ops ops ____cacheline_aligned_in_smp;
};

/* All members from the first callback on are callbacks. */
#define MEMSEC_BPF_CALLBACKS						\
	((sizeof(struct memsec_ops) - offsetof(struct memsec_ops, init)) / \
	 sizeof(unsigned long))

static int memsec_bpf_emit_programs(struct bpf_map *map, char *buf)
{
	struct memsec_bpf_value *value __free(kfree) = NULL;
	unsigned long *ids;
	u32 key = 0;
	int len = 0;
	int i;

	if (WARN_ON_ONCE(map->value_size != sizeof(*value)))
		return 0;

	value = kzalloc(sizeof(*value), GFP_KERNEL);
	if (!value || bpf_struct_ops_map_sys_lookup_elem(map, &key, value))
		return 0;

	ids = (void *)&value->ops + offsetof(struct memsec_ops, init);
	for (i = 0; i < MEMSEC_BPF_CALLBACKS; i++) {
		if (ids[i])
			len += sysfs_emit_at(buf, len, "%s%lu", len ? " " : "",
					     ids[i]);
	}

	return len;
}

static int memsec_bpf_link_programs(void *holder, char *buf)
{
	struct bpf_map *map;
	int len;

	map = memsec_bpf_link_map(holder);
	if (!map)
		return 0;

	len = memsec_bpf_emit_programs(map, buf);
	bpf_map_put(map);

	return len;
}

static const struct memsec_holder_ops memsec_bpf_holder_ops = {
	.get = memsec_bpf_link_get,
	.drop = memsec_bpf_link_drop,
	.programs = memsec_bpf_link_programs,
};

static int memsec_bpf_reg(void *kdata, struct bpf_link *link)
{
	if (!link)
		return -EOPNOTSUPP;

	return memsec_policy_attach(kdata, &memsec_bpf_holder_ops, link);
}

static void memsec_bpf_unreg(void *kdata, struct bpf_link *link)
{
	memsec_policy_detach(kdata, link);
}

static int memsec_bpf_update(void *kdata, void *old_kdata,
			     struct bpf_link *link)
{
	return memsec_policy_update(kdata, old_kdata);
}

/* The question whose facts @reg points to, NULL when it does not. */
static const struct memsec_question_desc *
memsec_bpf_question(const struct bpf_reg_state *reg)
{
	const struct btf_type *t = btf_type_by_id(reg->btf, reg->btf_id);
	const char *name = btf_name_by_offset(reg->btf, t->name_off);
	int i;

	for (i = 0; i < MEMSEC_ASK_NR; i++) {
		if (!strcmp(name, memsec_questions[i].facts))
			return &memsec_questions[i];
	}

	return NULL;
}

/* A write to an object of the kernel, @size bytes at @off. */
static int memsec_bpf_struct_access(struct bpf_verifier_log *log,
				    const struct bpf_reg_state *reg,
				    int off, int size)
{
	const struct memsec_question_desc *question = memsec_bpf_question(reg);

	/* What is trusted came from the kernel, and was not cast. */
	if (question && type_flag(reg->type) & PTR_TRUSTED &&
	    off >= question->rule &&
	    off + size <= question->rule + MEMSEC_RULE_LEN)
		return 0;

	bpf_log(log, "only read is supported, except of the rule of facts\n");

	return -EACCES;
}

static const struct bpf_verifier_ops memsec_bpf_verifier_ops = {
	.get_func_proto = bpf_base_func_proto,
	.is_valid_access = bpf_tracing_btf_ctx_access,
	.btf_struct_access = memsec_bpf_struct_access,
};

/* Never called: they tell the verifier and CFI what the callbacks look like. */
static s32 memsec_ops__init(void)
{
	return 0;
}

static void memsec_ops__exit(void)
{
}

static u64 memsec_ops__teardown(const struct memsec_teardown_ctx *ctx)
{
	return 0;
}

static u64 memsec_ops__directmap(const struct memsec_directmap_ctx *ctx)
{
	return 0;
}

static u64
memsec_ops__directmap_collapse(const struct memsec_directmap_collapse_ctx *ctx)
{
	return 0;
}

static u64 memsec_ops__keyid(const struct memsec_keyid_ctx *ctx)
{
	return 0;
}

static u64
memsec_ops__keyid_recycle(const struct memsec_keyid_recycle_ctx *ctx)
{
	return 0;
}

static u64 memsec_ops__xpfo(const struct memsec_xpfo_ctx *ctx)
{
	return 0;
}

static u64 memsec_ops__xpfo_pool(const struct memsec_xpfo_pool_ctx *ctx)
{
	return 0;
}

static struct memsec_ops memsec_bpf_cfi_stubs = {
	.init = memsec_ops__init,
	.exit = memsec_ops__exit,
	.teardown = memsec_ops__teardown,
	.directmap = memsec_ops__directmap,
	.directmap_collapse = memsec_ops__directmap_collapse,
	.keyid = memsec_ops__keyid,
	.keyid_recycle = memsec_ops__keyid_recycle,
	.xpfo = memsec_ops__xpfo,
	.xpfo_pool = memsec_ops__xpfo_pool,
};

static struct bpf_struct_ops bpf_memsec_ops = {
	.verifier_ops = &memsec_bpf_verifier_ops,
	.init = memsec_bpf_init,
	.check_member = memsec_bpf_check_member,
	.init_member = memsec_bpf_init_member,
	.reg = memsec_bpf_reg,
	.unreg = memsec_bpf_unreg,
	.update = memsec_bpf_update,
	.test_run = memsec_bpf_test_run,
	.cfi_stubs = &memsec_bpf_cfi_stubs,
	.owner = THIS_MODULE,
	.name = "memsec_ops",
};

static int __init memsec_bpf_register(void)
{
	return register_bpf_struct_ops(&bpf_memsec_ops, memsec_ops);
}
late_initcall(memsec_bpf_register);
