// SPDX-License-Identifier: GPL-2.0-only
/*
 * memsec: KeyIDs of the model.
 *
 * The model has no keys: whatever KeyID a page carries, the direct map shows
 * what it holds. So it is cleared, copied and flushed through that. The flush
 * is a real one, and the model is told about it.
 */
#include <linux/highmem.h>
#include <linux/memsec_emulation.h>
#include <linux/mm.h>
#include <linux/string.h>

#include "keyid.h"

/* No CPU has shorter lines. */
#define LINE_BYTES	64

static void *address_of(unsigned long pfn)
{
	return page_address(pfn_to_page(pfn));
}

/* UML runs on x86 CPUs, but has none of the helpers for them. */
static void flush_lines(void *address)
{
	void *end = address + PAGE_SIZE;

	mb(); /* CLFLUSH is not ordered to what was written before */
	for (; address < end; address += LINE_BYTES)
		asm volatile("clflush %0" : "+m" (*(volatile char *)address));
	mb(); /* nor to what is written after it */
}

static void model_flush(unsigned long pfn, unsigned int id)
{
	flush_lines(address_of(pfn));
	memsec_keyid_model_flush(pfn, id);
}

static int model_program(unsigned int id)
{
	memsec_keyid_model_program(id);

	return 0;
}

static void model_clear(unsigned long pfn, unsigned int id)
{
	clear_page(address_of(pfn));
}

static void model_copy(unsigned long pfn, unsigned int id, unsigned int offset,
		       void *buf, unsigned int len, bool write)
{
	void *kaddr = address_of(pfn) + offset;

	memcpy(write ? kaddr : buf, write ? buf : kaddr, len);
}

static pgprot_t model_prot(pgprot_t prot, unsigned int id)
{
	return prot;
}

const struct keyid_backend keyid_model = {
	.count = memsec_keyid_emulated,
	.start = memsec_keyid_model_start,
	.program = model_program,
	.flush = model_flush,
	.flush_all = memsec_keyid_model_flush_all,
	.clear = model_clear,
	.copy = model_copy,
	.prot = model_prot,
};
