// SPDX-License-Identifier: GPL-2.0-only

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <uapi/linux/memsec_keyid.h>
#include <unistd.h>

#include "keyid.h"
#include "sysfs.h"
#include "tap.h"

int keyid_open(void) {
        int fd = open(KEYID_DEVICE, O_RDWR | O_CLOEXEC);

        return fd < 0 ? -errno : fd;
}

uint64_t keyid_counter(const char *name) {
        char path[64];
        uint64_t value;

        (void) snprintf(path, sizeof(path), "keyid/%s", name);
        if (sysfs_read(path, &value) < 0)
                tap_bail_out("no counters");

        return value;
}

int keyid_map_file(int fd, size_t n_pages, Keyid *ret) {
        void *data = mmap(NULL, n_pages * PAGES_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

        if (data == MAP_FAILED)
                return -errno;

        *ret = (Keyid) { .data = data, .n_pages = n_pages, .fd = fd };
        return 0;
}

int keyid_map(size_t n_pages, Keyid *ret) {
        int fd, r;

        fd = keyid_open();
        if (fd < 0)
                return fd;

        r = keyid_map_file(fd, n_pages, ret);
        if (r < 0)
                (void) close(fd);
        return r;
}

void keyid_unmap(Keyid *keyid) {
        if (!keyid->data)
                return;

        (void) munmap(keyid->data, keyid->n_pages * PAGES_SIZE);
        (void) close(keyid->fd);
        *keyid = (Keyid) { .fd = -1 };
}

static int get_info(int fd, struct memsec_keyid_info *ret) {
        return ioctl(fd, MEMSEC_KEYID_GET_INFO, ret) < 0 ? -errno : 0;
}

int keyid_number(int fd) {
        struct memsec_keyid_info info;
        int r;

        r = get_info(fd, &info);
        return r < 0 ? r : (int) info.keyid;
}

uint64_t keyid_bytes(int fd) {
        struct memsec_keyid_info info = {};

        return get_info(fd, &info) < 0 ? UINT64_MAX : info.bytes;
}

int keyid_discard(int fd, uint64_t offset, uint64_t length) {
        struct memsec_keyid_range range = { .offset = offset, .length = length };

        return ioctl(fd, MEMSEC_KEYID_DISCARD, &range) < 0 ? -errno : 0;
}

uint64_t keyid_violations(void) {
        uint64_t value;

        if (sysfs_read("emulation/keyid/violations", &value) < 0)
                tap_bail_out("KeyIDs are not modelled");

        return value;
}
