/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions of WebAssembly, by a module in the memory of a process, which is made here: its script first, and what that leads to. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/runtimes/v8/sources.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define BASE 0x10000
#define MEMORY_BYTES 8192

enum { SCRIPT = 166, FOREIGN = 200, NO_STRING = 128, FLAT = 40, CONS = 41 };
/* Where what is. */
enum {
	SCRIPT_AT = BASE + 0x100 + V8_TAG,
	FOREIGN_AT = BASE + 0x200 + V8_TAG,
	NAME_AT = BASE + 0x300 + V8_TAG,
	OTHER_AT = BASE + 0x340 + V8_TAG,
	MANAGED_AT = BASE + 0x400,
	SHARED_AT = BASE + 0x440,
	MODULE_AT = BASE + 0x480,
	OWNED_AT = BASE + 0x600,
	BYTES_AT = BASE + 0x800,
	FREE_AT = BASE + 0x1000
};

static const struct v8_layout layout = {
	.type_script = SCRIPT,
	.first_no_string = NO_STRING,
	.is_supported = 1,
	.map_type = 12,
	.shared_id = 60,
	.script_name = 16,
	.script_id = 64,
	.wasm_instance = 104,
	.wasm_module = 32,
	.wasm_script = 32,
	.wasm_managed = 80,
	.wasm_tree = 320,
	.wasm_bytes = 232,
};

static struct {
	uint8_t bytes[MEMORY_BYTES];
	uint64_t change_at; /* once that was read, the module is another one's */
} memory;

static void put(uint64_t at, const void *value, size_t n)
{
	memcpy(memory.bytes + (at - BASE), value, n);
}

static void put_word(uint64_t at, uint64_t word)
{
	put(at, &word, sizeof(word));
}

static int read_memory(void *data, uint64_t addr, void *dst, size_t n)
{
	(void)data;
	if (addr < BASE || addr - BASE > MEMORY_BYTES || n > MEMORY_BYTES - (addr - BASE))
		return -EFAULT;
	memcpy(dst, memory.bytes + (addr - BASE), n);
	if (addr == memory.change_at)
		put_word(SCRIPT_AT - V8_TAG + layout.script_id, 8ULL << 32);
	return 0;
}

static struct runtime_memory reading = { .read = read_memory };

/* Its map is in the word before. */
static void make(uint64_t pointer, uint16_t type)
{
	uint64_t map = pointer - 32;

	put(map - V8_TAG + layout.map_type, &type, sizeof(type));
	put_word(pointer - V8_TAG, map);
}

static void make_flat(uint64_t pointer, const char *text)
{
	uint32_t n = (uint32_t)strlen(text);

	make(pointer, FLAT);
	put(pointer - V8_TAG + V8_STRING_LENGTH, &n, sizeof(n));
	put(pointer - V8_TAG + V8_STRING_CHARS, text, n);
}

#define MODULE_HEAD "\0asm\1\0\0\0"
#define BYTES(text) (text), sizeof(text) - 1
#define NAMES "\0\x12\4name\1\x0b\2\1\3run\2\3add"

/* Script 7, of a module of these bytes. */
static struct source_function make_module(const char *bytes, size_t n)
{
	memset(&memory, 0, sizeof(memory));
	reading.max_bytes = 0;
	make(SCRIPT_AT, SCRIPT);
	make(FOREIGN_AT, FOREIGN);
	make_flat(NAME_AT, "wasm://wasm/0123abcd");
	put_word(SCRIPT_AT - V8_TAG + layout.script_name, NAME_AT);
	put_word(SCRIPT_AT - V8_TAG + layout.script_id, 7ULL << 32);
	put_word(SCRIPT_AT - V8_TAG + layout.wasm_managed, FOREIGN_AT);
	put_word(FOREIGN_AT - V8_TAG + V8_FOREIGN_DATA, MANAGED_AT);
	put_word(MANAGED_AT + V8_MANAGED_POINTER, SHARED_AT);
	put_word(SHARED_AT, MODULE_AT);
	put_word(MODULE_AT + layout.wasm_bytes, OWNED_AT);
	put_word(OWNED_AT, BYTES_AT);
	put_word(OWNED_AT + 8, n);
	put(BYTES_AT, bytes, n);
	return (struct source_function){ .address = SCRIPT_AT,
					 .print = 1,
					 .source = v8_wasm_source(7ULL << 32, BYTES_AT),
					 .n_source = (uint32_t)n,
					 .begin = 1,
					 .end = 2 };
}

static const char *name_of(const struct source_facts *facts, struct source_function f,
			   uint32_t number, const char *file)
{
	static char to[4096];
	const struct code_text text = {
		.name = "wasm-function[1]", .n_name = 16, .file = file, .n_file = strlen(file)
	};

	f.begin = number;
	f.end = number + 1;
	size_t n = v8_name_in_source(facts, &f, &text, to, sizeof(to) - 1);
	to[n] = '\0';
	return to;
}

static void test_names(void **state)
{
	const struct source_function f = make_module(BYTES(MODULE_HEAD NAMES));
	struct source_facts facts;

	(void)state;
	assert_int_equal(v8_source_read(&layout, &reading, &f, &facts), 0);
	assert_string_equal(name_of(&facts, f, 1, "wasm://wasm/0123abcd"), "run");
	assert_string_equal(name_of(&facts, f, 2, "wasm://wasm/0123abcd"), "add");
	/* The module's own name was cut, or could not be joined. */
	assert_string_equal(name_of(&facts, f, 2, "wasm://wasm/mod-0123abcd"), "add");
	/* Without a name; and of other modules. */
	assert_string_equal(name_of(&facts, f, 3, "wasm://wasm/0123abcd"), "");
	assert_string_equal(name_of(&facts, f, 1, "wasm://wasm/0123abce"), "");
	assert_string_equal(name_of(&facts, f, 1, "wasm://wasm/"), "");
	assert_string_equal(name_of(&facts, f, 1, "file:///0123abcd"), "");
	assert_string_equal(name_of(&facts, f, 1, ""), "");
	assert_null(v8_source_id(&facts));
	free(facts.bytes);
}

/* Compiled from an address: that is its name. */
static void test_streamed(void **state)
{
	const struct source_function f = make_module(BYTES(MODULE_HEAD NAMES));
	struct source_facts facts;

	(void)state;
	make_flat(NAME_AT, "http://a/m.wasm");
	assert_int_equal(v8_source_read(&layout, &reading, &f, &facts), 0);
	assert_string_equal(name_of(&facts, f, 1, "http://a/m.wasm"), "run");
	assert_string_equal(name_of(&facts, f, 1, "http://b/m.wasm"), "");
	free(facts.bytes);
}

static void test_without_names(void **state)
{
	const struct source_function f = make_module(BYTES(MODULE_HEAD));
	struct source_facts facts;

	(void)state;
	assert_int_equal(v8_source_read(&layout, &reading, &f, &facts), 0);
	assert_string_equal(name_of(&facts, f, 1, "wasm://wasm/0123abcd"), "");
	free(facts.bytes);
}

/* What leads to its bytes leads elsewhere, or it is another module. */
static void test_gone(void **state)
{
	static const struct {
		uint64_t at, word;
	} rows[] = {
		{ SCRIPT_AT - V8_TAG, 0 },
		{ SCRIPT_AT - V8_TAG, FOREIGN_AT - 32 },
		{ SCRIPT_AT - V8_TAG + 64, 8ULL << 32 },
		{ SCRIPT_AT - V8_TAG + 80, 0 },
		{ FOREIGN_AT - V8_TAG + V8_FOREIGN_DATA, 0 },
		{ MANAGED_AT + V8_MANAGED_POINTER, 0 },
		{ SHARED_AT, 0 },
		{ SHARED_AT, FREE_AT },
		{ MODULE_AT + 232, 0 },
		{ OWNED_AT, FREE_AT },
		{ OWNED_AT + 8, 1 },
		{ OWNED_AT + 8, 1ULL << 40 },
	};
	struct source_facts facts;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct source_function f = make_module(BYTES(MODULE_HEAD NAMES));

		put_word(rows[i].at, rows[i].word);
		if (v8_source_read(&layout, &reading, &f, &facts) != -EAGAIN)
			fail_msg("row %zu is read", i);
	}
}

static void test_changed_meanwhile(void **state)
{
	const struct source_function f = make_module(BYTES(MODULE_HEAD NAMES));
	struct source_facts facts;

	(void)state;
	memory.change_at = BYTES_AT;
	assert_int_equal(v8_source_read(&layout, &reading, &f, &facts), -EAGAIN);
}

/* Its bytes are said to be where nothing can be read. */
static void test_not_readable(void **state)
{
	struct source_function f = make_module(BYTES(MODULE_HEAD NAMES));
	struct source_facts facts;

	(void)state;
	put_word(OWNED_AT, BASE + MEMORY_BYTES);
	f.source = v8_wasm_source(7ULL << 32, BASE + MEMORY_BYTES);
	assert_int_equal(v8_source_read(&layout, &reading, &f, &facts), -EAGAIN);
}

/* There is no room for the names; then functions have their numbers. */
static void test_no_room(void **state)
{
	const struct source_function f = make_module(BYTES(MODULE_HEAD NAMES));
	struct source_facts facts;

	(void)state;
	for (reading.max_bytes = 16; reading.max_bytes < 400; reading.max_bytes += 8) {
		int r = v8_source_read(&layout, &reading, &f, &facts);

		assert_in_range(r, 0, 1);
		assert_string_equal(name_of(&facts, f, 1, "wasm://wasm/0123abcd"),
				    r == 0 ? "run" : "");
		free(facts.bytes);
	}
}

/* Cut where a character ends. */
static void test_long_name(void **state)
{
	static char bytes[8 + 3 + 5 + 3 + 1 + 1 + 2 + 2001];
	static const char begin[] = MODULE_HEAD "\0\xdd\x0f\4name\1\xd5\x0f\1\1\xd1\x0f";
	struct source_facts facts;
	char expected[1024];

	(void)state;
	memcpy(bytes, begin, sizeof(begin) - 1);
	bytes[sizeof(begin) - 1] = 'x';
	for (size_t i = sizeof(begin); i + 1 < sizeof(bytes); i += 2)
		memcpy(bytes + i, "\xc3\xa4", 2);
	const struct source_function f = make_module(bytes, sizeof(bytes));
	assert_int_equal(v8_source_read(&layout, &reading, &f, &facts), 0);
	memcpy(expected, bytes + sizeof(begin) - 1, 1023);
	expected[1023] = '\0';
	assert_string_equal(name_of(&facts, f, 1, "wasm://wasm/0123abcd"), expected);
	free(facts.bytes);
}

static const struct unit_test tests[] = {
	TEST(test_names),   TEST(test_streamed),	  TEST(test_without_names),
	TEST(test_gone),    TEST(test_changed_meanwhile), TEST(test_not_readable),
	TEST(test_no_room), TEST(test_long_name),
};

TEST_MAIN(tests)
