/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's half of the toy interpreter (layout.h): a program with a thread-local pointer of a known name. */
#include <elf.h>
#include <string.h>

#include "agent/object/names/symbol_by_name.h"
#include "agent/runtimes/runtime.h"
#include "agent/util/macro.h"
#include "tests/runtimes/toy/layout.h"

static const struct elf_segment *tls_segment(const struct elf *elf)
{
	for (size_t i = 0; i < elf_n_segments(elf); i++)
		if (elf_segment(elf, i)->type == PT_TLS)
			return elf_segment(elf, i);
	return NULL;
}

/* Where a program's own thread-local data lies from the thread's pointer on: "ELF Handling For Thread-Local Storage", variants I and II. */
static bool toy_detect(const struct elf *elf, struct wire_runtime *ret_runtime)
{
	const struct elf_segment *tls = tls_segment(elf);
	struct symbol symbol, distance;

	if (!tls || !tls->align || !symbol_by_name(elf, TOY_SYMBOL, &symbol))
		return false;
	ret_runtime->flags = WIRE_RUNTIME_GENERATES;
	if (symbol_by_name(elf, TOY_DISTANCE_SYMBOL, &distance)) {
		ret_runtime->words[TOY_WORD_DISTANCE_AT] = distance.value;
		return true;
	}
	if (elf_machine(elf) == EM_X86_64)
		ret_runtime->words[TOY_WORD_THREAD] =
			symbol.value -
			(tls->memory_bytes + tls->align - 1) / tls->align * tls->align;
	else
		ret_runtime->words[TOY_WORD_THREAD] =
			symbol.value + MAX_OF(tls->align, (uint64_t)16);
	return true;
}

/* What the process has put there spares each tick a read; until it has done so the kernel half looks itself. */
static bool toy_publish(struct wire_runtime *runtime, uint32_t pid,
			const struct runtime_memory *memory)
{
	uint64_t at = runtime->words[TOY_WORD_DISTANCE_AT];
	uint64_t distance = 0;

	(void)pid;
	if (at &&
	    memory->read(memory->data, runtime->base + at, &distance, sizeof(distance)) == 0 &&
	    distance) {
		runtime->words[TOY_WORD_THREAD] = distance;
		runtime->words[TOY_WORD_DISTANCE_AT] = 0;
	}
	return true;
}

static size_t read_text(const struct runtime_memory *memory, uint64_t addr, char *to, size_t n)
{
	size_t at = 0;

	while (at < n && memory->read(memory->data, addr + at, &to[at], 1) == 0 && to[at])
		at++;
	return at;
}

static bool toy_resolve(const struct wire_runtime *of, const struct runtime_memory *memory,
			uint64_t function, uint32_t print, char *buf, size_t n_buf,
			struct code_text *ret_text)
{
	struct toy_function f;

	(void)of;
	if (memory->read(memory->data, function, &f, sizeof(f)) < 0 || f.print != print)
		return false;
	ret_text->name = buf;
	ret_text->n_name = read_text(memory, f.name, buf, n_buf / 2);
	ret_text->file = buf + n_buf / 2;
	ret_text->n_file = read_text(memory, f.file, buf + n_buf / 2, n_buf / 2);
	ret_text->line = f.line;
	return ret_text->n_name > 0;
}

static uint32_t toy_line(const struct runtime_lines *lines, uint32_t position)
{
	return lines->first_line + position;
}

extern const struct runtime runtime_toy;
const struct runtime runtime_toy = {
	.kind = RUNTIME_TOY,
	.name = "toy",
	.detect = toy_detect,
	.publish = toy_publish,
	.resolve = toy_resolve,
	.line = toy_line,
};
