/* SPDX-License-Identifier: Apache-2.0 */
/* CPython. What is read in a tick is in bpf/runtimes/python.bpf.h; here is what a file tells, and names that a tick could not read. */
#include <stdio.h>
#include <string.h>

#include "agent/runtimes/name_texts.h"
#include "agent/runtimes/python/asyncio.h"
#include "agent/runtimes/python/layout.h"
#include "agent/runtimes/python/lines.h"
#include "agent/runtimes/runtime.h"
#include "agent/util/macro.h"

_Static_assert(sizeof(struct python_asyncio) <= WIRE_RUNTIME_WORDS * 8, "it fits");

/* A library that is no interpreter, but says where one has its tasks. */
static bool detect_asyncio(const struct elf *elf, struct wire_runtime *ret_runtime)
{
	struct python_asyncio asyncio;

	if (!python_asyncio_read(elf, &asyncio))
		return false;
	memcpy(ret_runtime->words, &asyncio, sizeof(asyncio));
	ret_runtime->flags = WIRE_RUNTIME_PART;
	return true;
}

static bool python_detect(const struct elf *elf, struct wire_runtime *ret_runtime)
{
	struct python_layout layout;
	bool is_tail_calling;

	if (!python_layout_read(elf, &layout, &is_tail_calling))
		return detect_asyncio(elf, ret_runtime);
	memcpy(ret_runtime->words, &layout, sizeof(layout));
	ret_runtime->flags = is_tail_calling ? WIRE_RUNTIME_CALLEE : 0;
	return true;
}

static void python_join(struct wire_runtime *runtime, const struct wire_runtime *part)
{
	struct python_layout layout;
	struct python_asyncio asyncio;

	memcpy(&layout, runtime->words, sizeof(layout));
	memcpy(&asyncio, part->words, sizeof(asyncio));
	python_asyncio_join(&layout, &asyncio);
	memcpy(runtime->words, &layout, sizeof(layout));
}

static void python_describe(const struct wire_runtime *runtime, char *to, size_t n)
{
	struct python_layout layout;

	if (runtime->flags & WIRE_RUNTIME_PART) {
		(void)snprintf(to, n, "CPython's asyncio: its tasks are shown with async_frames");
		return;
	}
	memcpy(&layout, runtime->words, sizeof(layout));
	if (layout.seam != PYTHON_UNSUPPORTED)
		(void)snprintf(to, n, "CPython 3.%u: its functions are shown", layout.minor);
	else if (layout.minor > PYTHON_LAST_MINOR)
		(void)snprintf(to, n, "CPython 3.%u: this xagent knows 3.%d to 3.%d", layout.minor,
			       PYTHON_FIRST_MINOR, PYTHON_LAST_MINOR);
	else
		(void)snprintf(to, n, "Python: a build whose structures are not known");
}

/* The code object that is looked at, and the memory that it is in. */
struct look {
	const struct runtime_memory *memory;
	struct python_layout layout;
	uint8_t code[256];
};

static bool get(const struct look *l, uint64_t addr, void *dst, size_t n)
{
	return l->memory->read(l->memory->data, addr, dst, n) == 0;
}

static uint64_t word_at(const struct look *l, uint64_t addr)
{
	uint64_t word = 0;

	return get(l, addr, &word, sizeof(word)) ? word : 0;
}

static uint64_t code_u64(const struct look *l, uint8_t at)
{
	uint64_t word;

	memcpy(&word, l->code + MIN_OF(at, sizeof(l->code) - sizeof(word)), sizeof(word));
	return word;
}

static uint32_t code_u32(const struct look *l, uint8_t at)
{
	uint32_t word;

	memcpy(&word, l->code + MIN_OF(at, sizeof(l->code) - sizeof(word)), sizeof(word));
	return word;
}

/* As the kernel half has it, but for the globals, which a code object does not have. */
static uint32_t print_of(const struct look *l)
{
	const struct python_layout *y = &l->layout;
	struct python_identity i = { .name = code_u64(l, y->code_name),
				     .file = code_u64(l, y->code_file),
				     .lines = code_u64(l, y->code_lines),
				     .line = code_u32(l, y->code_line) };

	if (y->code_version)
		i.version = code_u32(l, y->code_version);
	if (!i.version) {
		i.name_hash = word_at(l, i.name + y->str_hash);
		i.file_hash = word_at(l, i.file + y->str_hash);
	}
	return python_print_of(&i, 0);
}

/* A text in UTF-8 behind the `at` bytes of `to`; its new end. */
static size_t read_str(const struct look *l, uint64_t str, char *to, size_t at, size_t n_to)
{
	const struct python_layout *y = &l->layout;
	uint64_t length = word_at(l, str + y->str_length);
	uint32_t state = (uint32_t)word_at(l, str + y->str_state) >> (y->str_kind_shift & 31);
	uint32_t kind = state & 7;
	bool is_ascii = state & 16;
	char raw[WIRE_NAME_BYTES];

	/* kind:3 compact:1 ascii:1 */
	if (!(state & 8) || length == 0 || (kind != 1 && kind != 2 && kind != 4))
		return at;
	size_t n = (size_t)MIN_OF(length, sizeof(raw) / kind) * kind;
	if (!get(l, str + (is_ascii ? y->str_ascii : y->str_compact), raw, n))
		return at;
	return name_texts_utf8(raw, n,
			       is_ascii	   ? WIRE_UTF8
			       : kind == 1 ? WIRE_LATIN1
			       : kind == 2 ? WIRE_UCS2
					   : WIRE_UCS4,
			       to, at, n_to);
}

/* The table of lines; false when there is none that is sent. */
static bool read_lines(const struct look *l, char *to, size_t n_to, size_t *ret_n)
{
	uint64_t lines = code_u64(l, l->layout.code_lines);
	uint64_t n = 0;

	if (!get(l, lines + l->layout.bytes_length, &n, sizeof(n)) ||
	    n > MIN_OF(n_to, (size_t)WIRE_LINES_BYTES))
		return false;
	*ret_n = (size_t)n;
	return n == 0 || get(l, lines + l->layout.bytes_data, to, (size_t)n);
}

static bool python_resolve(const struct wire_runtime *of, const struct runtime_memory *memory,
			   uint64_t function, uint32_t print, char *buf, size_t n_buf,
			   struct code_text *ret_text)
{
	struct look l = { .memory = memory };

	if (!of)
		return false;
	memcpy(&l.layout, of->words, sizeof(l.layout));
	if (l.layout.seam == PYTHON_UNSUPPORTED ||
	    !get(&l, function, l.code, l.layout.code_bytes) ||
	    code_u64(&l, l.layout.code_type) != of->base + l.layout.code_type_at)
		return false;
	/* 0: the kernel half could not read the code object. */
	if (print && (print_of(&l) ^ print) & PYTHON_PRINT_CODE_MASK)
		return false;
	size_t name_end = read_str(&l, code_u64(&l, l.layout.code_name), buf, 0, n_buf);
	size_t file_end = read_str(&l, code_u64(&l, l.layout.code_file), buf, name_end, n_buf);
	size_t n_lines = 0;
	bool has_lines = read_lines(&l, buf + file_end, n_buf - file_end, &n_lines);
	*ret_text = (struct code_text){ .name = buf,
					.n_name = name_end,
					.file = buf + name_end,
					.n_file = file_end - name_end,
					.line = code_u32(&l, l.layout.code_line),
					.lines = (const uint8_t *)buf + file_end,
					.n_lines = has_lines ? n_lines : 0,
					.lines_format = has_lines ? l.layout.lines_format
								  : PYTHON_NO_LINES };
	return name_end > 0;
}

const struct runtime runtime_python = {
	.kind = RUNTIME_PYTHON,
	.name = "python",
	.detect = python_detect,
	.describe = python_describe,
	.join = python_join,
	.resolve = python_resolve,
	.line = python_line,
};
