// SPDX-License-Identifier: GPL-2.0-only

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>

#include <bpf/btf.h>

#include "file.h"
#include "internal.h"
#include "memsec_ops.h"
#include "object.h"
#include "util.h"

/* In bytes; a large policy has a tenth of a percent of it. */
#define OBJECT_MAX ((size_t) 16 * 1024 * 1024)

void policy_object_done(PolicyObject *object) {
        bpf_object__close(object->object);
        own_tunables_unref(object->own);
        free(object->identity);
        *object = (PolicyObject) {};
}

int policy_object_path(const char *root, const char *policy, char **ret) {
        int r;

        if (*policy == '/')
                r = asprintf(ret, "%s%s", root ?: "", policy);
        else
                r = asprintf(ret, "%s" MEMSEC_LIBDIR "/policies/%s.bpf.o", root ?: "", policy);

        return r < 0 ? -ENOMEM : 0;
}

static int identity_from_stat(const struct stat *st, char **ret) {
        if (asprintf(ret, "%ju:%ju:%jd:%jd.%09ld", (uintmax_t) st->st_dev, (uintmax_t) st->st_ino,
                     (intmax_t) st->st_size, (intmax_t) st->st_mtim.tv_sec, st->st_mtim.tv_nsec) < 0)
                return -ENOMEM;

        return 0;
}

int policy_object_identity(const char *path, char **ret) {
        struct stat st;

        if (stat(path, &st) < 0)
                return -errno;

        return identity_from_stat(&st, ret);
}

/* What R, a negative errno of a system call, means. */
static int system_error(char **ret_error, int r) {
        return error_set(ret_error, r, "%s", strerror(-r));
}

/* Opens the directory of PATH, in which nobody must be able to put another file in the place of this. */
static int open_directory(const char *path, char **ret_error) {
        _cleanup_free_ char *name = NULL, *error = NULL;
        _cleanup_close_ int fd = -1;
        int r;

        name = strndup(path, strrchr(path, '/') - path + 1);
        if (!name)
                return -ENOMEM;

        fd = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return system_error(ret_error, -errno);

        r = directory_check(fd, &error);
        if (r < 0 && error)
                return error_set(ret_error, r, "its directory: %s", error);
        if (r < 0)
                return system_error(ret_error, r);

        return TAKE_FD(fd);
}

/* Reads all of the file at PATH, so that what is looked at is what is loaded. */
static int read_object(const char *path, char **ret, size_t *ret_size, char **ret_identity,
                       char **ret_error) {
        _cleanup_close_ int dir_fd = -1, fd = -1;
        struct stat st;
        int r;

        dir_fd = open_directory(path, ret_error);
        if (dir_fd < 0)
                return dir_fd;

        fd = file_open(dir_fd, strrchr(path, '/') + 1, O_NOFOLLOW);
        if (fd == -ELOOP)
                return error_set(ret_error, -ELOOP, "expected a regular file, found a symbolic link");
        if (fd < 0)
                return system_error(ret_error, fd);

        r = file_check(fd, &st, ret_error);
        if (r < 0)
                return *ret_error ? r : system_error(ret_error, r);

        if (st.st_size > (off_t) OBJECT_MAX)
                return error_set(ret_error, -EFBIG, "expected at most %zu MiB, found %jd bytes",
                                 OBJECT_MAX >> 20, (intmax_t) st.st_size);

        r = file_read_up_to(fd, st.st_size + 1, ret, ret_size);
        if (r < 0)
                return system_error(ret_error, r);

        return identity_from_stat(&st, ret_identity);
}

static const char *machine_name(unsigned machine) {
        static const struct {
                unsigned machine;
                const char *name;
        } names[] = {
                { EM_386, " (x86)" },
                { EM_X86_64, " (x86-64)" },
                { EM_ARM, " (arm)" },
                { EM_AARCH64, " (arm64)" },
                { EM_RISCV, " (riscv)" },
        };

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                if (names[i].machine == machine)
                        return names[i].name;

        return "";
}

/* Does the ELF file at DATA, whose section headers are all there, have a section of that name? */
static bool has_section(const char *data, size_t size, const Elf64_Ehdr *header, const char *name) {
        Elf64_Shdr names = {}, section;

        if (header->e_shstrndx < header->e_shnum)
                memcpy(&names, data + header->e_shoff + header->e_shstrndx * sizeof(names), sizeof(names));
        if (names.sh_offset > size || names.sh_size > size - names.sh_offset)
                return false;

        for (size_t i = 0; i < header->e_shnum; i++) {
                memcpy(&section, data + header->e_shoff + i * sizeof(section), sizeof(section));
                if (section.sh_name < names.sh_size && names.sh_size - section.sh_name > strlen(name) &&
                    memcmp(data + names.sh_offset + section.sh_name, name, strlen(name) + 1) == 0)
                        return true;
        }

        return false;
}

/* What is wrong with the file in words that say what to do about it; libbpf has one error for most of it. */
static int check_elf(const char *data, size_t size, char **ret_error) {
        static const char expected[] = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB };
        Elf64_Ehdr header;
        size_t end;

        if (size == 0)
                return error_set(ret_error, -EBADMSG, "expected a BPF object, found an empty file");
        if (size < 4 || memcmp(data, expected, 4) != 0)
                return error_set(ret_error, -EBADMSG, "expected a BPF object, found a file that is not ELF");
        if (size < sizeof(header))
                return error_set(ret_error, -EBADMSG, "expected a whole BPF object, found only the first "
                                 "%zu bytes of one", size);

        memcpy(&header, data, sizeof(header));
        if (memcmp(data, expected, sizeof(expected)) != 0)
                return error_set(ret_error, -EBADMSG,
                                 "expected a BPF object of 64 bits, lowest byte first, found another");
        if (header.e_machine != EM_BPF)
                return error_set(ret_error, -EBADMSG, "expected an object for BPF, found one for machine "
                                 "%u%s; compile it with: clang -target bpf", header.e_machine,
                                 machine_name(header.e_machine));
        if (header.e_type != ET_REL || header.e_shentsize != sizeof(Elf64_Shdr))
                return error_set(ret_error, -EBADMSG, "expected an object file, found another kind of ELF");

        end = header.e_shnum * sizeof(Elf64_Shdr);
        if (header.e_shoff > size || size - header.e_shoff < end)
                return error_set(ret_error, -EBADMSG, "expected a whole BPF object, found only the first "
                                 "%zu bytes of one", size);

        if (!has_section(data, size, &header, ".BTF"))
                return error_set(ret_error, -EBADMSG, "expected BTF in it, found none; compile it with: "
                                 "clang -g");

        return 0;
}

/* The type of the value of a map, as the object's BTF names it. */
static const char *map_type_name(struct bpf_object *object, struct bpf_map *map) {
        const struct btf *btf = bpf_object__btf(object);
        const struct btf_type *type = btf ? btf__type_by_id(btf, bpf_map__btf_value_type_id(map)) : NULL;

        return (type ? btf__name_by_offset(btf, type->name_off) : NULL) ?: "";
}

/* The one struct_ops map of an object that was opened but not yet loaded. */
static int find_ops(struct bpf_object *object, struct bpf_map **ret, char **ret_error) {
        struct bpf_map *map, *found = NULL;
        const struct memsec_ops *ops;
        size_t size;

        bpf_object__for_each_map(map, object) {
                if (bpf_map__type(map) != BPF_MAP_TYPE_STRUCT_OPS)
                        continue;
                if (found)
                        return error_set(ret_error, -EINVAL,
                                         "expected one struct memsec_ops, found also '%s'",
                                         bpf_map__name(map));
                found = map;
        }

        if (!found)
                return error_set(ret_error, -EINVAL, "expected a struct memsec_ops, found none");
        if (!streq(map_type_name(object, found), "memsec_ops"))
                return error_set(ret_error, -EINVAL, "expected a struct memsec_ops, found '%s' of type '%s'",
                                 bpf_map__name(found), map_type_name(object, found));
        if (!(bpf_map__map_flags(found) & BPF_F_LINK))
                return error_set(ret_error, -EINVAL,
                                 "expected '%s' in section '.struct_ops.link', found it in '.struct_ops'",
                                 bpf_map__name(found));

        ops = bpf_map__initial_value(found, &size);
        if (!ops || size < offsetof(struct memsec_ops, flags))
                return error_set(ret_error, -EINVAL, "struct memsec_ops '%s' is too short",
                                 bpf_map__name(found));
        if (ops->abi != MEMSEC_ABI)
                return error_set(ret_error, -EINVAL, "expected ABI %u in '%s', found %u",
                                 MEMSEC_ABI, bpf_map__name(found), ops->abi);

        *ret = found;
        return 0;
}

/* The parameters map of an object that was opened but not yet loaded; *ret is NULL when it has none. */
static int find_params(struct bpf_object *object, struct bpf_map **ret, char **ret_error) {
        struct bpf_map *map = bpf_object__find_map_by_name(object, PARAMS_MAP), *inner;

        if (map) {
                inner = bpf_map__inner_map(map);
                if (bpf_map__type(map) != BPF_MAP_TYPE_HASH_OF_MAPS ||
                    bpf_map__key_size(map) != sizeof(uint64_t) ||
                    !inner || bpf_map__type(inner) != BPF_MAP_TYPE_ARRAY)
                        return error_set(ret_error, -EINVAL,
                                         "map '" PARAMS_MAP "' is not a hash of arrays with a 64-bit key");

                if (bpf_map__value_size(inner) != sizeof(struct memsec_params))
                        return error_set(ret_error, -EINVAL,
                                         "expected parameters of %zu bytes, found %" PRIu32
                                         ": built for another version of memsec",
                                         sizeof(struct memsec_params), bpf_map__value_size(inner));
        }

        *ret = map;
        return 0;
}

/* The last thing that libbpf said while an object was opened. Its print function has no argument of ours. */
static char *libbpf_said;

static int remember(enum libbpf_print_level level, const char *format, va_list ap) {
        char *text;

        if (level == LIBBPF_WARN && vasprintf(&text, format, ap) >= 0) {
                free(libbpf_said);
                libbpf_said = text;
        }

        return 0;
}

static int open_data(const char *data, size_t size, struct bpf_object **ret, char **ret_error) {
        _cleanup_free_ char *said = NULL, *printable = NULL;
        libbpf_print_fn_t print;
        int r;

        print = libbpf_set_print(remember);
        *ret = bpf_object__open_mem(data, size, NULL);
        r = *ret ? 0 : -errno;
        (void) libbpf_set_print(print);

        said = TAKE_PTR(libbpf_said);
        if (r >= 0)
                return 0;

        if (said) {
                said[strcspn(said, "\n")] = 0;
                printable = text_escape(startswith(said, "libbpf: ") ?: said);
        }

        return error_set(ret_error, r, "cannot be read as a BPF object: %s%s%s", strerror(-r),
                         printable ? ": " : "", printable ?: "");
}

/* *ret is NULL when it has none. */
static int find_own(struct bpf_object *object, const char *policy, OwnTunables **ret, char **ret_error) {
        const struct bpf_map *section = bpf_object__find_map_by_name(object, MEMSEC_OWN_SECTION);
        const void *values;
        size_t size;

        *ret = NULL;
        if (!section)
                return 0;

        values = bpf_map__initial_value(section, &size);
        return own_tunables_from_btf(bpf_object__btf(object), values, size, policy, ret, ret_error);
}

static int open_object(const char *policy, const char *path, PolicyObject *object, char **ret_error) {
        _cleanup_free_ char *data = NULL;
        size_t size;
        int r;

        r = read_object(path, &data, &size, &object->identity, ret_error);
        if (r >= 0)
                r = check_elf(data, size, ret_error);
        if (r >= 0)
                r = open_data(data, size, &object->object, ret_error);
        if (r >= 0)
                r = find_ops(object->object, &object->ops, ret_error);
        if (r >= 0)
                r = find_params(object->object, &object->params, ret_error);
        if (r >= 0)
                r = find_own(object->object, policy, &object->own, ret_error);

        return r;
}

int policy_object_open(const char *policy, const char *path, PolicyObject *ret, char **ret_error) {
        _cleanup_policy_object_ PolicyObject object = {};
        int r;

        r = open_object(policy, path, &object, ret_error);
        if (r < 0)
                return r;

        *ret = object;
        object = (PolicyObject) {};
        return 0;
}
