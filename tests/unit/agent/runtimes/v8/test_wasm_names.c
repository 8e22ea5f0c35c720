/* SPDX-License-Identifier: Apache-2.0 */
/* Names in the bytes of modules of WebAssembly, and what lies there instead. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/runtimes/v8/wasm_names.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define HEAD "\0asm\1\0\0\0"
#define TYPES "\1\4\1\x60\0\0"
#define LONG_LEB "\x80\x80\x80\x80\0"
#define BYTES(text) (text), sizeof(text) - 1

/* What of a module is behind "name"; NULL: none. */
static const struct {
	const char *module;
	size_t n;
	const char *section;
	size_t n_section;
} modules[] = {
	{ BYTES(HEAD "\0\6\4nameX"), BYTES("X") },
	{ BYTES(HEAD TYPES "\0\7\4nameXY"), BYTES("XY") },
	{ BYTES(HEAD "\0\5\4name"), BYTES("") },
	{ BYTES(HEAD "\0\4\2abc\0\6\4nameX"), BYTES("X") },
	{ BYTES(HEAD "\0\6\4nameX" TYPES), BYTES("X") },
	/* The first one. */
	{ BYTES(HEAD "\0\6\4nameX\0\6\4nameY"), BYTES("X") },
	/* Numbers may be longer than they have to be. */
	{ BYTES(HEAD "\0\x8a\x80\x80\x80\0\x84\x80\x80\x80\0nameX"), BYTES("X") },
	{ BYTES(HEAD "\0\x86\0\4nameX"), BYTES("X") },
	/* None. */
	{ BYTES(""), NULL, 0 },
	{ BYTES("\0asm\1\0\0"), NULL, 0 },
	{ BYTES(HEAD), NULL, 0 },
	{ BYTES("\0ASM\1\0\0\0\0\6\4nameX"), NULL, 0 },
	{ BYTES(HEAD TYPES), NULL, 0 },
	{ BYTES(HEAD "\1\6\4nameX"), NULL, 0 },
	{ BYTES(HEAD "\0\6\4NameX"), NULL, 0 },
	{ BYTES(HEAD "\0\7\5name2X"), NULL, 0 },
	{ BYTES(HEAD "\0\4\3nam"), NULL, 0 },
	/* They are longer than they can be. */
	{ BYTES(HEAD "\0\7\4nameX"), NULL, 0 },
	{ BYTES(HEAD "\0\4\4nameX"), NULL, 0 },
	{ BYTES(HEAD "\0\xff\xff\xff\xff\x0f\4nameX"), NULL, 0 },
	{ BYTES(HEAD "\0\xff\xff\xff\xff\x7f\4nameX"), NULL, 0 },
	{ BYTES(HEAD "\0\6\x84\x80\x80\x80\x80\x80\0nameX"), NULL, 0 },
	{ BYTES(HEAD "\0"), NULL, 0 },
	{ BYTES(HEAD "\0\x80"), NULL, 0 },
	{ BYTES(HEAD "\1" LONG_LEB "\0\x80\x80\x80\x80\x80"), NULL, 0 },
};

struct memory {
	const char *bytes;
	size_t n;
	unsigned int n_reads, n_left;
};

static bool read_memory(void *data, uint32_t off, void *dst, size_t n)
{
	struct memory *m = data;

	assert_true(off <= m->n && n <= m->n - off);
	m->n_reads++;
	if (m->n_left && --m->n_left == 0)
		return false;
	memcpy(dst, m->bytes + off, n);
	return true;
}

static void test_modules(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(modules); i++) {
		struct memory m = { .bytes = modules[i].module, .n = modules[i].n };
		const struct wasm_bytes bytes = { read_memory, &m, (uint32_t)m.n };
		uint32_t off = 0, n = 0;
		int r = wasm_names_find(&bytes, &off, &n);

		if (r != (modules[i].section ? 0 : -ENOENT))
			fail_msg("row %zu: %d", i, r);
		if (r == 0 && (n != modules[i].n_section || off + n > m.n ||
			       memcmp(m.bytes + off, modules[i].section, n) != 0))
			fail_msg("row %zu: at %u, %u bytes", i, off, n);
	}
}

static void test_not_readable(void **state)
{
	struct memory m = { .bytes = HEAD TYPES "\0\6\4nameX", .n = 22 };
	const struct wasm_bytes bytes = { read_memory, &m, 22 };
	uint32_t off, n;

	(void)state;
	for (unsigned int i = 1; i <= 3; i++) {
		m.n_left = i;
		assert_int_equal(wasm_names_find(&bytes, &off, &n), -EAGAIN);
	}
	m.n_left = 0;
	assert_int_equal(wasm_names_find(&bytes, &off, &n), 0);
}

/* A module of sections without end is not read to its end. */
static void test_many_sections(void **state)
{
	static char module[200000] = HEAD;
	struct memory m = { .bytes = module, .n = sizeof(module) };
	const struct wasm_bytes bytes = { read_memory, &m, sizeof(module) };
	uint32_t off, n;

	(void)state;
	for (size_t i = 8; i + 2 <= sizeof(module); i += 2)
		module[i] = 1;
	assert_int_equal(wasm_names_find(&bytes, &off, &n), -ENOENT);
	assert_true(m.n_reads < 300);
}

/* "1=a 2=b ": functions, and their names. */
static const struct {
	const char *section;
	size_t n;
	const char *names;
} sections[] = {
	{ BYTES("\1\4\1\0\1a"), "0=a " },
	{ BYTES("\1\7\2\0\1a\1\1b"), "0=a 1=b " },
	{ BYTES("\1\5\1\x85\1\1a"), "133=a " },
	{ BYTES("\1\6\1\2\3a.b"), "2=a.b " },
	{ BYTES("\1\5\1\1\2\xc3\xa4"), "1=\xc3\xa4 " },
	/* The module's name, locals, what comes later, and two parts of functions. */
	{ BYTES("\0\2\1m\1\4\1\3\1a\2\3\1\0\0\7\1\0"), "3=a " },
	{ BYTES("\1\4\1\3\1a\1\4\1\2\1b"), "2=b 3=a " },
	/* In no order. */
	{ BYTES("\1\x0a\3\7\1a\5\1b\6\1c"), "5=b 6=c 7=a " },
	/* Two names of one function. */
	{ BYTES("\1\x0a\3\1\1a\1\1b\2\1c"), "2=c " },
	{ BYTES("\1\x0a\3\1\1a\2\1b\1\1a"), "2=b " },
	/* No names. */
	{ BYTES(""), "" },
	{ BYTES("\1\1\0"), "" },
	{ BYTES("\0\2\1m"), "" },
	{ BYTES("\1\3\1\1\0"), "" },
	{ BYTES("\1\6\2\1\0\2\1b"), "2=b " },
	{ BYTES("\1\7\2\1\1\xff\2\1b"), "2=b " },
	{ BYTES("\1\5\1\1\2\xc3("), "" },
	{ BYTES("\1\5\1\1\2\xc0\x80"), "" },
	{ BYTES("\1\6\1\1\3\xed\xa0\x80"), "" },
	/* Counts and lengths that are not true: what comes before them is. */
	{ BYTES("\1\4\x7f\1\1a"), "1=a " },
	{ BYTES("\1\7\1\1\1a\2\1b"), "1=a " },
	{ BYTES("\1\x08\xff\xff\xff\xff\x0f\1\1a"), "1=a " },
	{ BYTES("\1\7\2\1\1a\2\2b"), "1=a " },
	{ BYTES("\1\x0b\2\1\1a\2\xff\xff\xff\xff\x0f"
		"b"),
	  "1=a " },
	{ BYTES("\1\x05\1\1\1a"), "" },
	{ BYTES("\1\3\1\1\1a"), "" },
	{ BYTES("\1"), "" },
	{ BYTES("\1\x80"), "" },
	{ BYTES("\1\x80\x80\x80\x80\x80\1\4\1\1\1a"), "" },
	{ BYTES("\1\x84\x80\x80\x80\x10\1\1\1a"), "" },
	{ BYTES("\0\x7f\1\4\1\1\1a"), "" },
	/* A name of two parts is in none. */
	{ BYTES("\1\4\1\1\2a\1\4\1\2\1b"), "" },
};

static void show(const uint8_t *section, const struct wasm_name *names, size_t n, char *to,
		 size_t n_to)
{
	size_t at = 0;

	to[0] = '\0';
	for (size_t i = 0; i < n; i++)
		at += (size_t)snprintf(to + at, n_to - at, "%u=%.*s ", names[i].number,
				       (int)names[i].n, (const char *)section + names[i].at);
}

static void test_sections(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		const uint8_t *section = (const uint8_t *)sections[i].section;
		struct wasm_name *names;
		char seen[256];
		size_t n;

		assert_int_equal(wasm_names_read(section, (uint32_t)sections[i].n, 100, &names, &n),
				 0);
		show(section, names, n, seen, sizeof(seen));
		if (strcmp(seen, sections[i].names) != 0)
			fail_msg("row %zu: \"%s\", not \"%s\"", i, seen, sections[i].names);
		free(names);
	}
}

static void test_too_many(void **state)
{
	static const uint8_t section[] = "\1\x0a\3\1\1a\2\1b\3\1c";
	struct wasm_name *names;
	size_t n;

	(void)state;
	assert_int_equal(wasm_names_read(section, sizeof(section) - 1, 2, &names, &n), -E2BIG);
	assert_int_equal(wasm_names_read(section, sizeof(section) - 1, 3, &names, &n), 0);
	assert_int_equal(n, 3);
	free(names);
}

static const struct unit_test tests[] = {
	TEST(test_modules),  TEST(test_not_readable), TEST(test_many_sections),
	TEST(test_sections), TEST(test_too_many),
};

TEST_MAIN(tests)
