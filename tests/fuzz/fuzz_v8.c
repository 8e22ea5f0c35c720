/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a file says of the V8 that it holds, and what a process has as the name of a function, or as a script's source: whatever is accepted lies within what the kernel half
 * reads, and names end. The first byte tells what the rest is: a file, constants, memory, a source, or bytes among which something is looked for.
 */
#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/object/v8/builtins.h"
#include "agent/runtimes/v8/bytecode_sizes.h"
#include "agent/runtimes/v8/classes.h"
#include "agent/runtimes/v8/layout.h"
#include "agent/runtimes/v8/names.h"
#include "agent/util/cleanup.h"
#include "agent/util/macro.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct memory {
	const uint8_t *data;
	size_t size;
	size_t n_reads;
};

static void check_layout(const struct v8_constants *c)
{
	struct v8_layout l;

	v8_layout_from_constants(c, &l);
	if (!l.is_supported)
		return;
	assert(l.shared_name + 8 <= V8_SHARED_BYTES && l.shared_script + 8 <= V8_SHARED_BYTES);
	assert(l.shared_id + 4 <= V8_SHARED_BYTES && l.shared_parameters + 4 <= V8_SHARED_BYTES);
	assert(l.scope_n_locals > 0 && l.scope_locals > l.scope_n_locals);
	assert(l.scope_positions < l.scope_locals && l.first_no_string > 0);
}

static void check_file(const uint8_t *data, size_t size)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	struct v8_constants c;

	if (elf_new(bytes_from_memory(data, size), &elf) != 0 || elf_load_sections(elf) != 0 ||
	    !v8_constants_read(elf, &c))
		return;
	check_layout(&c);
}

static void check_constants(const uint8_t *data, size_t size)
{
	struct v8_constants c = { .major = 14, .minor = 6, .builtins_bytes = 1 };
	size_t n = MIN_OF(size / sizeof(int32_t), ARRAY_SIZE(c.value));

	if (n)
		memcpy(c.value, data, n * sizeof(int32_t));
	for (size_t i = 0; i < n; i++)
		c.has[i] = true;
	check_layout(&c);
}

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

static uint64_t word_at(struct memory *m, uint64_t addr)
{
	uint64_t word = 0;

	(void)read_memory(m, addr, &word, sizeof(word));
	return word;
}

/* As whoever lies would have it. */
static uint32_t print_of(struct memory *m, const struct v8_layout *l)
{
	uint8_t shared[V8_SHARED_BYTES] = { 0 };
	uint64_t script;
	uint32_t id, parameters;

	(void)read_memory(m, 0, shared, sizeof(shared));
	memcpy(&script, shared + l->shared_script, sizeof(script));
	memcpy(&id, shared + l->shared_id, sizeof(id));
	memcpy(&parameters, shared + l->shared_parameters, sizeof(parameters));
	return v8_print_of(word_at(m, script - V8_TAG + l->script_id), id, parameters);
}

static void check_names(const uint8_t *data, size_t size)
{
	struct memory m = { .data = data, .size = size };
	const struct runtime_memory memory = { .read = read_memory, .data = &m };
	struct v8_layout l;
	struct code_text text;
	char buf[8192], unnamed[256];

	if (size < sizeof(l))
		return;
	memcpy(&l, data, sizeof(l));
	/* Whatever a file says, these are within what is read (check_layout()). */
	l.shared_name %= V8_SHARED_BYTES - 8;
	l.shared_script %= V8_SHARED_BYTES - 8;
	l.shared_id %= V8_SHARED_BYTES - 8;
	l.shared_parameters %= V8_SHARED_BYTES - 8;
	if (!v8_name_read(&l, &memory, 0, print_of(&m, &l), buf, sizeof(buf), &text))
		return;
	assert(text.n_name <= sizeof(buf) && text.n_file <= sizeof(buf));
	assert(text.n_name || v8_name_unnamed(&text, unnamed, sizeof(unnamed)) < sizeof(unnamed));
	assert(m.n_reads < 2000);
}

static void check_part(const struct source *s, struct source_part part)
{
	assert(part.begin < part.end && part.end <= s->n);
}

static void check_source(const uint8_t *data, size_t size)
{
	const struct source s = { .chars = data + 1,
				  .n = (uint32_t)(size - 1) / (data[0] & 1 ? 2 : 1),
				  .is_wide = data[0] & 1 };
	struct class_methods m = { 0 };

	if (class_methods_read(&s, SIZE_MAX, &m) < 0)
		return;
	for (size_t i = 0; i < m.n; i++) {
		check_part(&s, m.methods[i].place);
		check_part(&s, m.methods[i].name);
		check_part(&s, m.methods[i].of);
		assert(i == 0 || m.methods[i - 1].place.begin < m.methods[i].place.begin);
	}
	free(m.methods);
}

static void check_sources(const uint8_t *data, size_t size)
{
	if (size > 0)
		check_source(data, size);
}

/* The first two bytes: how much of it was seen before. */
static void check_piece(const uint8_t *data, size_t size)
{
	static struct v8_builtin builtins[V8_BUILTINS_MAX];
	struct v8_piece piece = { .bytes = data + 2, .n = size - 2 };
	unsigned int n_tries = 4;
	struct v8_blob blob;
	uint32_t n;
	size_t at;

	if (size < 2)
		return;
	piece.n_seen = MIN_OF((size_t)(data[0] << 8 | data[1]), piece.n);
	if (v8_bytecode_sizes_in_piece(&piece, &at, &n))
		assert(n <= V8_MAX_BYTECODES && 3 * (size_t)n <= piece.n - at);
	if (!v8_blob_in_piece(&piece, &n_tries, &blob))
		return;
	assert(blob.code_bytes <= V8_BLOB_MAX_CODE && blob.modulus && n_tries < 4);
	assert(blob.data_at + blob.data_bytes <= piece.n);
	n = v8_builtins_described(piece.bytes + blob.data_at, blob.data_bytes, blob.code_bytes,
				  builtins);
	for (uint32_t i = 0; i < n; i++)
		assert(builtins[i].begin < builtins[i].end && builtins[i].end < blob.code_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const checks[])(const uint8_t *, size_t) = { check_file, check_constants,
								   check_names, check_sources,
								   check_piece };

	if (size > 0)
		checks[data[0] % ARRAY_SIZE(checks)](data + 1, size - 1);
	return 0;
}
