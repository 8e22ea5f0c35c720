/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a file says of the HotSpot that it holds, and what the table of a process says: whatever is accepted lies within what the kernel half reads. The
 * first byte tells what the rest is: a file, or a layout of a file with the memory of a process behind it.
 */
#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "agent/runtimes/hotspot/layout.h"
#include "agent/runtimes/hotspot/lines.h"
#include "agent/runtimes/hotspot/more.h"
#include "agent/runtimes/hotspot/vm_structs.h"
#include "agent/util/cleanup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct memory {
	const uint8_t *data;
	size_t size;
	size_t n_reads;
};

/* Every address is somewhere in it. */
static int read_memory(void *data, uint64_t addr, void *dst, size_t n)
{
	struct memory *m = data;

	m->n_reads++;
	if (m->size < n)
		return -EFAULT;
	memcpy(dst, m->data + addr % (m->size - n + 1), n);
	return 0;
}

static void check_process(const struct hotspot_layout *of_file, const uint8_t *data, size_t size)
{
	struct memory m = { .data = data, .size = size };
	const struct runtime_memory memory = { .read = read_memory, .data = &m };
	struct hotspot_layout l;

	if (!hotspot_layout_is_known(of_file) || !hotspot_layout_read(of_file, 0, &memory, &l))
		return;
	assert(m.n_reads <= HOTSPOT_FIELD_MAX);
	assert(l.is_supported && l.heaps_at && !l.claimed_bytes);
	assert(l.const_bytes <= HOTSPOT_CONST_BYTES);
	assert(l.at[HOTSPOT_BLOB_NAME] <= HOTSPOT_BLOB_BYTES - 8);
	assert(l.at[HOTSPOT_NMETHOD_METHOD] <= HOTSPOT_BLOB_BYTES - 8);
	assert(l.at[HOTSPOT_CONST_POOL] <= HOTSPOT_CONST_BYTES - 8);
	assert(l.at[HOTSPOT_SYMBOL_BODY] != HOTSPOT_NONE);
}

/* What is not needed for frames, from the same memory. */
static void check_more(const struct hotspot_more *of_file, const uint8_t *data, size_t size)
{
	struct memory m = { .data = data, .size = size };
	const struct runtime_memory memory = { .read = read_memory, .data = &m };
	struct hotspot_more more;

	hotspot_more_read(of_file, 0, &memory, &more);
	/* Of three addresses there may be two fields each. */
	assert(m.n_reads <= HOTSPOT_MORE_MAX + 6);
	assert(!more.class_base_at || more.class_shift_at);
}

static void check_file(const uint8_t *data, size_t size)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	struct hotspot_layout l;
	struct hotspot_more more;

	if (elf_new(bytes_from_memory(data, size), &elf) != 0 || elf_load_sections(elf) != 0 ||
	    !hotspot_file_read(elf, &l, &more))
		return;
	for (size_t i = 0; i < HOTSPOT_FIELD_MAX; i++)
		assert(l.at[i] == HOTSPOT_NONE || l.at[i] < HOTSPOT_MAX_ENTRIES);
	for (size_t i = 0; i < HOTSPOT_MORE_MAX; i++)
		assert(more.at[i] == HOTSPOT_NONE || more.at[i] < HOTSPOT_MAX_ENTRIES);
	check_process(&l, data, size);
	check_more(&more, data, size);
}

/* Whatever a process has behind its bytecodes. */
static void check_lines(const uint8_t *data, size_t size)
{
	const struct runtime_lines lines = {
		.first_line = 1, .table = data, .n = size, .format = HOTSPOT_LINES + size % 2
	};

	for (uint32_t position = 0; position < 16; position++)
		(void)hotspot_line(&lines, position);
	(void)hotspot_line(&lines, UINT32_MAX - 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hotspot_layout l;

	check_lines(data, size);
	if (size > 0 && data[0] % 2 == 0) {
		check_file(data + 1, size - 1);
	} else if (size > sizeof(l)) {
		memcpy(&l, data + 1, sizeof(l));
		check_process(&l, data + 1 + sizeof(l), size - 1 - sizeof(l));
	}
	return 0;
}
