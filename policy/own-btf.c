// SPDX-License-Identifier: GPL-2.0-only

/*
 * Finds the tunables of a policy's own. The section MEMSEC_OWN_SECTION of its object has one variable: a
 * struct whose members are the tunables, with their tags in BTF, and whose value has the defaults.
 */

#include <inttypes.h>

#include <bpf/btf.h>

#include "object.h"
#include "util.h"

DEFINE_TRIVIAL_CLEANUP_FUNC(OwnTunables *, own_tunables_unref)

/* Without const, volatile and typedefs. NULL when there is no such type. */
static const struct btf_type *skip_modifiers(const struct btf *btf, uint32_t id, uint32_t *ret_id) {
        const struct btf_type *type = btf__type_by_id(btf, id);

        while (type && (btf_is_mod(type) || btf_is_typedef(type))) {
                id = type->type;
                type = btf__type_by_id(btf, id);
        }

        *ret_id = id;
        return type;
}

/* The struct that is all there is in the section. */
static const struct btf_type *find_struct(const struct btf *btf, uint32_t *ret_id) {
        int section = btf__find_by_name_kind(btf, MEMSEC_OWN_SECTION, BTF_KIND_DATASEC);
        const struct btf_type *type = section < 0 ? NULL : btf__type_by_id(btf, section);

        if (!type || btf_vlen(type) != 1)
                return NULL;

        type = btf__type_by_id(btf, btf_var_secinfos(type)->type);
        if (!type || !btf_is_var(type))
                return NULL;

        type = skip_modifiers(btf, type->type, ret_id);
        return type && btf_is_struct(type) ? type : NULL;
}

/* All tags of the member I of the struct ID. */
static int list_tags(const struct btf *btf, uint32_t id, size_t i, char ***ret) {
        int r;

        for (uint32_t k = 1; k < btf__type_cnt(btf); k++) {
                const struct btf_type *type = btf__type_by_id(btf, k);

                if (!btf_is_decl_tag(type) || type->type != id ||
                    btf_decl_tag(type)->component_idx != (int) i)
                        continue;

                r = strv_extend(ret, btf__str_by_offset(btf, type->name_off));
                if (r < 0)
                        return r;
        }

        return 0;
}

/* Is member I where it must be, and a __u64? */
static bool is_number(const struct btf *btf, const struct btf_type *type, size_t i) {
        uint32_t id;
        const struct btf_type *member = skip_modifiers(btf, btf_members(type)[i].type, &id);

        return member && btf_is_int(member) && member->size == sizeof(uint64_t) &&
                !(btf_int_encoding(member) & BTF_INT_SIGNED) &&
                btf_member_bitfield_size(type, i) == 0 &&
                btf_member_bit_offset(type, i) == i * 64;
}

static int add_member(OwnTunables *own, const struct btf *btf, uint32_t id, size_t i, uint64_t def,
                      char **ret_error) {
        const struct btf_type *type = btf__type_by_id(btf, id);
        const char *name = btf__str_by_offset(btf, btf_members(type)[i].name_off);
        _cleanup_strv_free_ char **tags = NULL;
        int r;

        if (!is_number(btf, type, i))
                return error_set(ret_error, -EINVAL, "tunable '%.32s': expected a __u64, found another type",
                                 name);

        r = list_tags(btf, id, i, &tags);
        if (r >= 0)
                r = strv_extendf(&tags, "default:%" PRIu64, def);
        if (r < 0)
                return r;

        return own_tunables_add(own, name, tags, ret_error);
}

static int read_members(OwnTunables *own, const struct btf *btf, const char *values, size_t size,
                        char **ret_error) {
        const struct btf_type *type;
        uint64_t def;
        uint32_t id;
        int r;

        type = find_struct(btf, &id);
        if (!type || !values || type->size > size || btf_vlen(type) * sizeof(def) != type->size)
                return error_set(ret_error, -EINVAL, "expected one struct of __u64 in section '"
                                 MEMSEC_OWN_SECTION "', as MEMSEC_OWN() makes it");

        for (size_t i = 0; i < btf_vlen(type); i++) {
                memcpy(&def, values + i * sizeof(def), sizeof(def));
                r = add_member(own, btf, id, i, def, ret_error);
                if (r < 0)
                        return r;
        }

        return 0;
}

int own_tunables_from_btf(const struct btf *btf, const void *values, size_t size, const char *policy,
                          OwnTunables **ret, char **ret_error) {
        _cleanup_(own_tunables_unrefp) OwnTunables *own = NULL;
        _cleanup_free_ char *name = NULL;
        int r;

        r = policy_short_name(policy, &name);
        if (r >= 0)
                r = own_policy_check(name, ret_error);
        if (r >= 0)
                r = own_tunables_new(name, &own);
        if (r >= 0)
                r = read_members(own, btf, values, size, ret_error);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(own);
        return 0;
}
