/* SPDX-License-Identifier: Apache-2.0 */
/* Py_AsyncioModuleDebugOffsets: a structure of numbers, of a task, the interpreter's state and a thread's. */
#include "agent/runtimes/python/asyncio.h"

#include "agent/util/macro.h"

/* Which word has what. 3.14 and 3.15 have the same. */
enum {
	TASK_BYTES = 0,
	TASK_AWAITED_BY = 2,
	TASK_IS_TASK = 3,
	TASK_AWAITED_BY_IS_SET = 4,
	TASK_CORO = 5,
	INTERPRETER_BYTES = 7,
	THREAD_BYTES = 9,
	THREAD_RUNNING_TASK = 11,
};

/* As 3.14.6 to 3.14.10 say, for a process whose library was not seen mapped yet. Where the size is that of another build all the same, what is taken for a
 * task does not lead to a frame of the thread's list, and nothing is shown. */
static const uint32_t known_sizes[] = { 225864, 225880 }; /* x86-64, AArch64 */
static const struct python_asyncio known = { .thread_running_task = 872,
					     .task_bytes = 136,
					     .task_awaited_by = 96,
					     .task_is_task = 108,
					     .task_awaited_by_is_set = 109,
					     .task_coro = 128 };

/* Of what the kernel half reads at once. */
#define MAX_TASK_BYTES 248

/* A pointer in a structure of so many bytes. */
static bool is_pointer(uint64_t off, uint64_t bytes)
{
	return off % sizeof(uint64_t) == 0 && off < bytes && bytes - off >= sizeof(uint64_t);
}

static bool can_be(const uint64_t *words)
{
	uint64_t task = MIN_OF(words[TASK_BYTES], (uint64_t)MAX_TASK_BYTES);
	uint64_t thread = MIN_OF(words[THREAD_BYTES], (uint64_t)UINT16_MAX);

	return is_pointer(words[TASK_AWAITED_BY], task) && is_pointer(words[TASK_CORO], task) &&
	       words[TASK_IS_TASK] < task && words[TASK_AWAITED_BY_IS_SET] < task &&
	       words[INTERPRETER_BYTES] <= UINT32_MAX && words[THREAD_RUNNING_TASK] != 0 &&
	       is_pointer(words[THREAD_RUNNING_TASK], thread);
}

bool python_asyncio_from_words(const uint64_t *words, size_t n, struct python_asyncio *ret_asyncio)
{
	if (n < PYTHON_ASYNCIO_WORDS || !can_be(words))
		return false;
	uint64_t last = MAX_OF(words[TASK_AWAITED_BY], words[TASK_CORO]);
	last = MAX_OF(last, MAX_OF(words[TASK_IS_TASK], words[TASK_AWAITED_BY_IS_SET]));
	*ret_asyncio = (struct python_asyncio){
		.interpreter_bytes = (uint32_t)words[INTERPRETER_BYTES],
		.thread_running_task = (uint16_t)words[THREAD_RUNNING_TASK],
		.task_bytes = (uint8_t)(last + sizeof(uint64_t)),
		.task_awaited_by = (uint8_t)words[TASK_AWAITED_BY],
		.task_is_task = (uint8_t)words[TASK_IS_TASK],
		.task_awaited_by_is_set = (uint8_t)words[TASK_AWAITED_BY_IS_SET],
		.task_coro = (uint8_t)words[TASK_CORO],
	};
	return true;
}

bool python_asyncio_read(const struct elf *elf, struct python_asyncio *ret_asyncio)
{
	const struct elf_section *section = elf_section_by_name(elf, ".AsyncioDebug");
	uint64_t words[PYTHON_ASYNCIO_WORDS];
	uint64_t file_off;

	return section && section->size_bytes >= sizeof(words) &&
	       elf_file_off(elf, section->vaddr, &file_off) &&
	       bytes_read(elf_bytes(elf), file_off, words, sizeof(words)) == 0 &&
	       python_asyncio_from_words(words, ARRAY_SIZE(words), ret_asyncio);
}

void python_asyncio_join(struct python_layout *layout, const struct python_asyncio *asyncio)
{
	if (layout->gen_bytes && asyncio->interpreter_bytes == layout->asyncio.interpreter_bytes)
		layout->asyncio = *asyncio;
}

void python_asyncio_join_known(struct python_layout *layout)
{
	struct python_asyncio of_size = known;

	for (size_t i = 0; i < ARRAY_SIZE(known_sizes); i++) {
		of_size.interpreter_bytes = known_sizes[i];
		python_asyncio_join(layout, &of_size);
	}
}
