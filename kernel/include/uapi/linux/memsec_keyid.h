/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * /dev/memsec_keyid: memory under a KeyID of one's own.
 *
 * Opening it for reading and writing takes a KeyID, with a new random key, or
 * fails with ENOSPC when there is none left, and with ENODEV on a machine
 * without. mmap() with MAP_SHARED gives memory under it, as much as is touched,
 * at any offset; it begins as zeros. Whoever has the file, by fork() or because
 * it was sent, has the same memory. When nobody has the file or a mapping of it
 * any more the memory is gone and the KeyID is given up.
 *
 * The memory cannot be swapped or moved, and counts as the opener's cgroup's
 * kernel memory. System calls copy from and to it like any other; what would
 * have the kernel or a device reach it on its own, such as O_DIRECT and
 * vmsplice(2), fails with EFAULT, for that would be by another KeyID.
 */
#ifndef _UAPI_LINUX_MEMSEC_KEYID_H
#define _UAPI_LINUX_MEMSEC_KEYID_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define MEMSEC_KEYID_MAGIC	0xC8

/**
 * struct memsec_keyid_info - what there is to know of a file
 * @keyid: its KeyID
 * @reserved: 0
 * @bytes: memory that it has
 */
struct memsec_keyid_info {
	__u32 keyid;
	__u32 reserved;
	__u64 bytes;
};

/**
 * struct memsec_keyid_range - a part of a file
 * @offset: where it begins, in bytes, a multiple of the page size
 * @length: its length, in bytes, likewise, not 0
 */
struct memsec_keyid_range {
	__u64 offset;
	__u64 length;
};

/* Flags of MEMSEC_KEYID_OPEN: wait for a KeyID when none is left. */
#define MEMSEC_KEYID_WAIT	0x1
/* Close the new file on exec(). */
#define MEMSEC_KEYID_CLOEXEC	0x2

/* What the file has. EBADFD for one that was opened for reading only. */
#define MEMSEC_KEYID_GET_INFO	_IOR(MEMSEC_KEYID_MAGIC, 0, struct memsec_keyid_info)
/* Free the memory of a range. Whoever touches it again finds zeros. */
#define MEMSEC_KEYID_DISCARD	_IOW(MEMSEC_KEYID_MAGIC, 1, struct memsec_keyid_range)
/*
 * A new file with a KeyID of its own, as opening the device would give, by a
 * file that was opened in any way, so one for reading takes none itself. The
 * argument is flags. EINTR when a signal comes while it waits.
 */
#define MEMSEC_KEYID_OPEN	_IO(MEMSEC_KEYID_MAGIC, 2)

#endif /* _UAPI_LINUX_MEMSEC_KEYID_H */
