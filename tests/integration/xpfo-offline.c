// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that is to be removed is emptied of pages that are not in the direct map. On a machine that has
 * some which can be.
 */

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pages.h"
#include "tap.h"
#include "xpfo.h"

/* More than what is not for movable pages. */
#define PAGES ((size_t) 100 * 1024)

/* The file in the directory of a block of memory; SIZE bytes of it at most. */
static ssize_t block_read(const char *dir, const char *file, char *text, size_t size) {
        char path[512];
        ssize_t n;
        int fd;

        (void) snprintf(path, sizeof(path), "%s/%s", dir, file);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return -errno;

        n = read(fd, text, size - 1);
        text[n > 0 ? n : 0] = 0;
        (void) close(fd);
        return n;
}

static int block_set(const char *dir, const char *state) {
        char path[512];
        int fd, r;

        (void) snprintf(path, sizeof(path), "%s/state", dir);
        fd = open(path, O_WRONLY | O_CLOEXEC);
        if (fd < 0)
                return -errno;

        r = write(fd, state, strlen(state)) < 0 ? -errno : 0;
        (void) close(fd);
        return r;
}

/* Pages of DATA that are in the block of DIR. */
static size_t pages_inside(const char *dir, const uint8_t *data) {
        uint64_t first, pages;
        char text[64];
        size_t n = 0;

        if (block_read(dir, "phys_index", text, sizeof(text)) <= 0)
                return 0;
        first = strtoull(text, NULL, 16);
        if (block_read("/sys/devices/system/memory", "block_size_bytes", text, sizeof(text)) <= 0)
                return 0;
        pages = strtoull(text, NULL, 16) / XPFO_PAGE_SIZE;

        for (size_t i = 0; i < PAGES; i++)
                n += xpfo_pfn(0, data + i * XPFO_PAGE_SIZE) / pages == first;

        return n;
}

static void test_block(const char *dir, const uint8_t *data) {
        size_t inside = pages_inside(dir, data);

        tap_note("%s: %zu pages", dir, inside);
        if (!tap_is_errno(block_set(dir, "offline"), 0, "a block of memory goes"))
                return;
        tap_ok(pages_inside(dir, data) == 0, "no page is in it any more");
        tap_ok(pages_are_intact(data, PAGES), "all are as they were");
        tap_ok(xpfo_all_protected(data, PAGES), "and protected");
        tap_is_errno(block_set(dir, "online_movable"), 0, "the block comes back");
}

int main(void) {
        _policy_cleanup_ Policy *p = xpfo_protect_all();
        uint8_t *data = xpfo_map(PAGES);
        size_t tested = 0;
        glob_t blocks;

        tap_ok(xpfo_all_protected(data, PAGES), "much memory is protected");
        if (glob("/sys/devices/system/memory/memory[0-9]*", 0, NULL, &blocks) != 0)
                tap_bail_out("no blocks of memory");

        for (size_t i = 0; i < blocks.gl_pathc && tested < 2; i++) {
                char zones[64];

                if (block_read(blocks.gl_pathv[i], "valid_zones", zones, sizeof(zones)) <= 0 ||
                    strncmp(zones, "Movable", 7) != 0 || pages_inside(blocks.gl_pathv[i], data) == 0)
                        continue;
                test_block(blocks.gl_pathv[i], data);
                tested++;
        }
        globfree(&blocks);
        if (tested == 0)
                tap_ok(true, "blocks of memory # SKIP none can be removed");
        tap_ok(!policy_was_dropped(p, 0), "the policy was there all the time");
        return tap_done();
}
