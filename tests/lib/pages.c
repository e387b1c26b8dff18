// SPDX-License-Identifier: GPL-2.0-only
#include "pages.h"

static uint8_t content(size_t page, size_t i) {
        return page * 31 + i * 7 + 1;
}

void pages_fill(uint8_t *data, size_t n_pages) {
        for (size_t page = 0; page < n_pages; page++)
                for (size_t i = 0; i < PAGES_SIZE; i++)
                        data[page * PAGES_SIZE + i] = content(page, i);
}

bool pages_are_intact(const uint8_t *data, size_t n_pages) {
        for (size_t page = 0; page < n_pages; page++)
                for (size_t i = 0; i < PAGES_SIZE; i++)
                        if (data[page * PAGES_SIZE + i] != content(page, i))
                                return false;

        return true;
}

bool pages_are_zero(const uint8_t *data, size_t n_pages) {
        for (size_t i = 0; i < n_pages * PAGES_SIZE; i++)
                if (data[i] != 0)
                        return false;

        return true;
}
