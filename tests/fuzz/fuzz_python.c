/* SPDX-License-Identifier: Apache-2.0 */
/* What a file says of the CPython that it holds, and a process of its lines: whatever is accepted lies within what the kernel half reads. */
#include <assert.h>
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/runtimes/python/asyncio.h"
#include "agent/runtimes/python/layout.h"
#include "agent/runtimes/python/lines.h"
#include "agent/runtimes/python/loop.h"
#include "agent/util/cleanup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_lines(const uint8_t *data, size_t size)
{
	const struct runtime_lines lines = {
		.first_line = 7, .table = data + 1, .n = size - 1, .format = data[0]
	};

	for (uint32_t position = 0; position < 64; position++)
		assert(python_line(&lines, position) < 1U << 30);
	(void)python_line(&lines, UINT32_MAX);
}

static void check_offsets(const uint8_t *data, size_t size)
{
	size_t n = size / sizeof(uint64_t);
	_cleanup_free_ uint64_t *words = malloc(n * sizeof(*words) + 1);
	struct python_layout l;

	if (!words)
		return;
	memcpy(words, data, n * sizeof(*words));
	if (!python_layout_from_offsets(words, n, &l))
		return;
	assert(l.thread_frame + 8 <= l.thread_bytes && l.thread_id + 8 <= l.thread_bytes);
	assert(l.frame_instr + 8 <= l.frame_bytes && l.frame_mark < l.frame_bytes);
	assert(l.code_name + 8 <= l.code_bytes && l.code_lines + 8 <= l.code_bytes);
	assert(!l.gen_bytes ||
	       (l.gen_state < l.gen_bytes && l.gen_frame + l.frame_stack + 8 <= l.gen_bytes &&
		l.gen_frame + l.frame_mark < l.gen_bytes));
}

static void check_asyncio(const uint8_t *data, size_t size)
{
	uint64_t words[PYTHON_ASYNCIO_WORDS] = { 0 };
	struct python_asyncio a;

	memcpy(words, data, size < sizeof(words) ? size : sizeof(words));
	if (!python_asyncio_from_words(words, size / sizeof(*words), &a))
		return;
	assert(a.task_awaited_by + 8 <= a.task_bytes && a.task_coro + 8 <= a.task_bytes);
	assert(a.task_is_task < a.task_bytes && a.task_awaited_by_is_set < a.task_bytes);
	assert(a.thread_running_task);
}

static void check_loop(const uint8_t *data, size_t size)
{
	struct python_loop loop;

	python_loop_find(size % 2 ? EM_AARCH64 : EM_X86_64, data, size, &loop);
	python_loop_find_cframes(size % 2 ? EM_AARCH64 : EM_X86_64, data, 0x30, &loop);
	(void)python_loop_calls_by_table(size % 2 ? EM_AARCH64 : EM_X86_64, data, size);
	assert(loop.from <= size && (size_t)loop.gap_at + loop.gap_bytes <= size);
}

/* A whole file: what it is found to hold leads nowhere by itself. */
static void check_file(const uint8_t *data, size_t size)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	struct python_layout l;
	bool is_tail_calling;

	if (elf_new(bytes_from_memory(data, size), &elf) != 0 || elf_load_sections(elf) != 0)
		return;
	if (python_layout_read(elf, &l, &is_tail_calling) && l.seam != PYTHON_UNSUPPORTED)
		assert(l.minor >= PYTHON_FIRST_MINOR && l.minor <= PYTHON_LAST_MINOR);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	check_lines(data, size);
	check_offsets(data, size);
	check_asyncio(data, size);
	check_loop(data, size);
	check_file(data, size);
	return 0;
}
