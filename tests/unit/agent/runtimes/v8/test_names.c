/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions in the memory of a process, which is made here: objects one behind the other from BASE on. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/runtimes/v8/names.h"
#include "agent/runtimes/v8/sources.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define BASE 0x10000
#define MEMORY_BYTES 32768

enum { SHARED = 288, SCOPE = 286, SCRIPT = 166, NO_STRING = 128 };
enum { FLAT = 40, WIDE = 32, CONS = 41, EXTERNAL = 42, SLICED = 43, THIN = 45, UNCACHED = 58 };

/* As V8 14.6 has it. */
static const struct v8_layout layout = {
	.type_shared = SHARED,
	.type_scope = SCOPE,
	.type_script = SCRIPT,
	.first_no_string = NO_STRING,
	.is_supported = 1,
	.map_type = 12,
	.function_shared = 32,
	.shared_name = 24,
	.shared_script = 40,
	.shared_parameters = 50,
	.shared_id = 60,
	.scope_n_locals = 3,
	.scope_locals = 6,
	.scope_positions = 4,
	.has_hashed_locals = 1,
	.script_source = 8,
	.script_name = 16,
	.script_line_ends = 56,
	.script_id = 64,
};

static struct {
	uint8_t bytes[MEMORY_BYTES];
	size_t n;
	size_t n_reads;
} memory;

static int read_memory(void *data, uint64_t addr, void *dst, size_t n)
{
	(void)data;
	memory.n_reads++;
	if (addr < BASE || addr - BASE > MEMORY_BYTES || n > MEMORY_BYTES - (addr - BASE))
		return -EFAULT;
	memcpy(dst, memory.bytes + (addr - BASE), n);
	return 0;
}

static const struct runtime_memory reading = { .read = read_memory };

static void put(uint64_t pointer, size_t at, const void *value, size_t n)
{
	memcpy(memory.bytes + (pointer - V8_TAG - BASE) + at, value, n);
}

static void put_word(uint64_t pointer, size_t at, uint64_t word)
{
	put(pointer, at, &word, sizeof(word));
}

static void put_int(uint64_t pointer, size_t at, uint32_t value)
{
	put(pointer, at, &value, sizeof(value));
}

/* A pointer to it: its map, and n bytes behind that. */
static uint64_t make(uint16_t type, size_t n)
{
	uint64_t map = BASE + memory.n + V8_TAG, object = map + 16;

	assert_true(memory.n + 32 + n <= MEMORY_BYTES);
	put(map, 12, &type, sizeof(type));
	put_word(object, 0, map);
	memory.n += 16 + ((8 + n + 7) & ~(size_t)7);
	return object;
}

static uint64_t make_flat(const char *text)
{
	uint64_t s = make(FLAT, 8 + strlen(text));

	put_int(s, V8_STRING_LENGTH, (uint32_t)strlen(text));
	put(s, V8_STRING_CHARS, text, strlen(text));
	return s;
}

static uint64_t make_string(uint16_t type, uint32_t length, uint64_t first, uint64_t second)
{
	uint64_t s = make(type, 24);

	put_int(s, V8_STRING_LENGTH, length);
	put_word(s, V8_STRING_FIRST, first);
	put_word(s, V8_STRING_SECOND, second);
	return s;
}

/* A function of script 7, which is its fourth literal. */
static uint64_t make_function(uint64_t name)
{
	uint64_t script = make(SCRIPT, 64), shared = make(SHARED, 64);

	put_word(script, 16, make_flat("/app/a.js"));
	put_word(script, 64, 7ULL << 32);
	put_word(shared, 24, name);
	put_word(shared, 40, script);
	put_int(shared, 50, 2);
	put_int(shared, 60, 4);
	return shared;
}

static uint64_t make_scope(uint32_t flags, uint32_t n_locals, size_t at, uint64_t name,
			   uint64_t inferred)
{
	uint64_t scope = make(SCOPE, 1024);

	put_word(scope, 8, flags);
	put_word(scope, 24, (uint64_t)n_locals << 32);
	put_word(scope, 8 * at, name);
	put_word(scope, 8 * (at + 2), inferred);
	return scope;
}

static uint32_t print(void)
{
	return v8_print_of(7ULL << 32, 4, 2);
}

static bool read_name(uint64_t shared, uint32_t of_print, char *to, size_t n)
{
	char buf[4096];
	struct code_text text;

	memory.n_reads = 0;
	if (!v8_name_read(&layout, &reading, shared - V8_TAG, of_print, buf, sizeof(buf), &text))
		return false;
	assert_true(text.n_name < n);
	memcpy(to, text.name, text.n_name);
	to[text.n_name] = '\0';
	assert_int_equal(text.n_file, strlen("/app/a.js"));
	assert_memory_equal(text.file, "/app/a.js", text.n_file);
	return true;
}

/* NULL: it cannot be read. */
static void check(uint64_t name, const char *expected)
{
	char text[2048];

	assert_int_equal(read_name(make_function(name), print(), text, sizeof(text)), !!expected);
	if (expected)
		assert_string_equal(text, expected);
}

static int setup(void **state)
{
	(void)state;
	memset(&memory, 0, sizeof(memory));
	return 0;
}

static void test_strings(void **state)
{
	uint64_t hello = make_flat("hello"), wide = make(WIDE, 16), outside = make_flat("there");

	(void)state;
	put_int(wide, V8_STRING_LENGTH, 3);
	put(wide, V8_STRING_CHARS, u"a\u00e9\u4e2d", 6);
	check(hello, "hello");
	check(wide, "a\u00e9\u4e2d");
	check(make_string(THIN, 5, hello, 0), "hello");
	check(make_string(SLICED, 3, hello, 1ULL << 32), "ell");
	check(make_string(CONS, 8, hello, wide), "helloa\u00e9\u4e2d");
	check(make_string(CONS, 10, hello,
			  make_string(CONS, 5, make_string(SLICED, 2, hello, 0), hello)),
	      "hellohehello");
	check(make_string(EXTERNAL, 5, 0, outside - V8_TAG + V8_STRING_CHARS), "there");
	check(make_string(UNCACHED, 5, 0, outside - V8_TAG + V8_STRING_CHARS), NULL);
}

static void test_strings_that_lie(void **state)
{
	uint64_t hello = make_flat("hello"), circle = make_string(THIN, 5, 0, 0),
		 tree = make_string(CONS, 5, 0, 0), far = make_flat("x");

	(void)state;
	put_word(circle, V8_STRING_FIRST, circle);
	put_word(tree, V8_STRING_FIRST, tree);
	put_word(tree, V8_STRING_SECOND, tree);
	put_int(far, V8_STRING_LENGTH, UINT32_MAX);
	check(circle, NULL);
	assert_true(memory.n_reads < 400);
	check(tree, NULL);
	assert_true(memory.n_reads < 400);
	check(make_string(CONS, 6, hello, 0x7fffffffffff01), NULL);
	check(make_string(SLICED, 5, make_string(CONS, 10, hello, hello), 0), NULL);
	check(make_string(FLAT + 4, 5, hello, hello), NULL);
}

static void test_scopes(void **state)
{
	uint64_t name = make_flat("run"), guess = make_flat("a.run"), none = make_flat("");

	(void)state;
	check(0, "");
	check(make_scope(V8_SCOPE_HAS_NAME, 0, 6, name, guess), "run");
	check(make_scope(V8_SCOPE_HAS_NAME, 2, 10, name, guess), "run");
	check(make_scope(V8_SCOPE_HAS_NAME | V8_SCOPE_HAS_CLASS, 2, 11, name, guess), "run");
	check(make_scope(V8_SCOPE_HAS_NAME, 80, 87, name, guess), "run");
	check(make_scope(V8_SCOPE_HAS_NAME | V8_SCOPE_HAS_INFERRED, 0, 6, none, guess), "a.run");
	check(make_scope(V8_SCOPE_HAS_NAME, 0, 6, none, guess), "");
	check(make_scope(0, 0, 6, name, guess), "");
	check(make_scope(V8_SCOPE_HAS_NAME, UINT32_MAX, 6, name, guess), "");
}

/* It is another function by now, or none. */
static void test_print(void **state)
{
	uint64_t name = make_flat("run"), shared = make_function(name);
	char text[64];

	(void)state;
	assert_true(read_name(shared, print(), text, sizeof(text)));
	assert_false(read_name(shared, print() + 2, text, sizeof(text)));
	assert_false(read_name(name, print(), text, sizeof(text)));
	assert_false(read_name(0x7fffffffff01, print(), text, sizeof(text)));
	put_int(shared, 60, 5);
	assert_false(read_name(shared, print(), text, sizeof(text)));
}

static const struct unnamed {
	const char *file;
	uint32_t line;
	const char *expected;
} unnamed[] = {
	{ "", 0, "<anonymous>" },
	{ "", 12, "<anonymous>" },
	{ "/app/lib/a.js", 12, "<anonymous> (a.js:12)" },
	{ "/app/lib/a.js", 0, "<anonymous> (a.js)" },
	{ "file:///app/b.mjs", 3, "<anonymous> (b.mjs:3)" },
	{ "evalmachine.<anonymous>", 1, "<anonymous> (evalmachine.<anonymous>:1)" },
	{ "node:internal/process/task_queues", 95,
	  "<anonymous> (node:internal/process/task_queues:95)" },
	{ "/app/", 2, "<anonymous> (/app/:2)" },
};

/* A function that was assigned to nothing is known by its place. */
static void test_unnamed(void **state)
{
	char text[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(unnamed); i++) {
		const struct code_text of = { .file = unnamed[i].file,
					      .n_file = strlen(unnamed[i].file),
					      .line = unnamed[i].line };

		assert_int_equal(v8_name_unnamed(&of, text, sizeof(text)),
				 strlen(unnamed[i].expected));
		assert_string_equal(text, unnamed[i].expected);
	}
}

static void test_unnamed_without_room(void **state)
{
	const struct code_text of = { .file = "/app/a.js", .n_file = 9, .line = 12 };
	char text[16];

	(void)state;
	assert_int_equal(v8_name_unnamed(&of, text, sizeof(text)), 15);
	assert_string_equal(text, "<anonymous> (a.");
}

#define SOURCE "class A { run() {} get x() {} static y() {} }"

/* Of that source, the function that lies there. */
static struct source_function function_of(uint64_t shared, const char *place)
{
	const char *begin = strstr(SOURCE, place);
	const char *end = strchr(begin, '}');

	return (struct source_function){ .address = shared - V8_TAG,
					 .print = print(),
					 .source = 7,
					 .n_source = strlen(SOURCE),
					 .begin = (uint32_t)(begin - SOURCE),
					 .end = (uint32_t)(end + 1 - SOURCE) };
}

static uint64_t make_of_source(uint64_t source)
{
	uint64_t shared = make_function(make_flat("run")), script;

	memcpy(&script, memory.bytes + (shared - V8_TAG - BASE) + 40, sizeof(script));
	put_word(script, 8, source);
	return shared;
}

static void check_whole(const struct source_facts *facts, const struct source_function *f,
			const char *sent, const char *expected)
{
	const struct code_text text = { .name = sent, .n_name = strlen(sent) };
	char whole[64];
	size_t n = v8_name_in_source(facts, f, &text, whole, sizeof(whole));

	assert_int_equal(n, strlen(expected));
	assert_memory_equal(whole, expected, n);
	/* No more than there is room for. */
	assert_int_equal(v8_name_in_source(facts, f, &text, whole, 2), 0);
}

/* A method is known by where it begins, where it ends, and its name. */
static void check_methods(uint64_t source)
{
	uint64_t shared = make_of_source(source);
	struct source_function run = function_of(shared, "() {} get"),
			       get = function_of(shared, "() {} static"),
			       last = function_of(shared, "() {} }");
	struct source_facts facts = { 0 };

	assert_int_equal(v8_source_read(&layout, &reading, &run, &facts), 0);
	check_whole(&facts, &run, "run", "A.run");
	check_whole(&facts, &get, "x", "A.get x");
	check_whole(&facts, &get, "get x", "A.get x");
	check_whole(&facts, &last, "y", "A.y");
	check_whole(&facts, &last, "x", "");
	run.end--;
	check_whole(&facts, &run, "run", "");
	run.end++;
	run.begin--;
	check_whole(&facts, &run, "run", "");
	run.begin = UINT32_MAX;
	check_whole(&facts, &run, "run", "");
	free(facts.bytes);
}

static void test_sources(void **state)
{
	uint64_t flat = make_flat(SOURCE), none = make_flat("");

	(void)state;
	check_methods(flat);
	check_methods(make_string(THIN, strlen(SOURCE), flat, 0));
	check_methods(make_string(CONS, strlen(SOURCE), flat, none));
	check_methods(make_string(EXTERNAL, strlen(SOURCE), 0, flat - V8_TAG + V8_STRING_CHARS));
}

#define ID "85314830-023f-4cf1-a267-535f4e37bb17"

/* Of the source, for a function of it that lies up to `end`: its id. */
static void check_id(uint64_t source, uint32_t n, uint32_t end, const char *expected)
{
	const struct source_function f = { .address = make_of_source(source) - V8_TAG,
					   .print = print(),
					   .source = 7,
					   .n_source = n,
					   .end = end };
	struct source_facts facts = { 0 };

	/* Of a long one the methods are not read. */
	assert_int_equal(v8_source_read(&layout, &reading, &f, &facts), end && n > V8_MAX_SOURCE);
	if (expected)
		assert_string_equal(v8_source_id(&facts), expected);
	else
		assert_null(v8_source_id(&facts));
	free(facts.bytes);
}

static void test_ids(void **state)
{
	static const char with[] = SOURCE "\n//# debugId=" ID "\n";
	const uint32_t n = (uint32_t)strlen(with);
	uint64_t flat = make_flat(with);

	(void)state;
	check_id(flat, n, 0, ID);
	check_id(flat, n, 5, ID);
	check_id(make_flat(SOURCE), strlen(SOURCE), 0, NULL);
	check_id(make_flat(SOURCE), strlen(SOURCE), 5, NULL);
}

/* Of a long one the end is read, also for a method: what is before that lies in no memory here. */
static void test_id_of_a_long_source(void **state)
{
	static const char last[] = "\n//# debugId=" ID "\n";
	uint64_t rest = make(0, RUNTIME_SOURCE_END), end = rest + 8 + RUNTIME_SOURCE_END;
	const uint32_t n = V8_MAX_SOURCE + 1;

	(void)state;
	put(end, -strlen(last), last, strlen(last));
	uint64_t outside = make_string(EXTERNAL, n, 0, end - V8_TAG - n);
	check_id(outside, n, 0, ID);
	check_id(outside, n, 5, ID);
}

/* Of what there is no room for no method is known; with more, all of it is. */
static void test_sources_within_a_bound(void **state)
{
	uint64_t shared = make_of_source(make_flat(SOURCE));
	struct source_function f = function_of(shared, "() {} get");
	struct runtime_memory bounded = reading;
	const struct code_text run = { .name = "run", .n_name = 3 };
	unsigned int n_parts = 0, n_named = 0;
	char whole[64];

	(void)state;
	for (bounded.max_bytes = 1; bounded.max_bytes <= 4096; bounded.max_bytes++) {
		struct source_facts facts = { 0 };
		int r = v8_source_read(&layout, &bounded, &f, &facts);
		size_t n = v8_name_in_source(&facts, &f, &run, whole, sizeof(whole));

		assert_in_range(r, 0, 1);
		assert_true(bounded.max_bytes >= 2 * strlen(SOURCE) || r == 1);
		assert_true(r == 1 || facts.n <= bounded.max_bytes / 4);
		assert_true(n == 0 || (n == strlen("A.run") && r == 0));
		n_parts += r;
		n_named += n > 0;
		free(facts.bytes);
	}
	assert_true(n_parts >= 2 * strlen(SOURCE));
	assert_true(n_named > 0);
}

/* It is read again, or not at all. */
static void test_sources_that_lie(void **state)
{
	uint64_t flat = make_flat(SOURCE), circle = make_string(THIN, strlen(SOURCE), 0, 0);
	struct source_facts facts = { 0 };
	uint64_t shared = make_of_source(flat);
	struct source_function f = function_of(shared, "() {} get");

	(void)state;
	f.print++;
	assert_int_equal(v8_source_read(&layout, &reading, &f, &facts), -EAGAIN);
	f.print--;
	f.n_source++;
	assert_int_equal(v8_source_read(&layout, &reading, &f, &facts), -EAGAIN);
	f.n_source = V8_MAX_SOURCE + 1;
	put_int(flat, V8_STRING_LENGTH, f.n_source);
	assert_int_equal(v8_source_read(&layout, &reading, &f, &facts), -EAGAIN);
	put_int(flat, V8_STRING_LENGTH, --f.n_source);
	assert_int_equal(v8_source_read(&layout, &reading, &f, &facts), -EAGAIN);
	put_word(circle, V8_STRING_FIRST, circle);
	f = function_of(make_of_source(circle), "() {} get");
	assert_int_equal(v8_source_read(&layout, &reading, &f, &facts), -EAGAIN);
	f = function_of(make_of_source(0), "() {} get");
	assert_int_equal(v8_source_read(&layout, &reading, &f, &facts), -EAGAIN);
	assert_null(facts.bytes);
}

static const struct unit_test tests[] = {
	TEST(test_unnamed),
	TEST(test_unnamed_without_room),
	TEST_WITH(test_strings, setup, NULL),
	TEST_WITH(test_strings_that_lie, setup, NULL),
	TEST_WITH(test_scopes, setup, NULL),
	TEST_WITH(test_print, setup, NULL),
	TEST_WITH(test_sources, setup, NULL),
	TEST_WITH(test_ids, setup, NULL),
	TEST_WITH(test_id_of_a_long_source, setup, NULL),
	TEST_WITH(test_sources_within_a_bound, setup, NULL),
	TEST_WITH(test_sources_that_lie, setup, NULL),
};

TEST_MAIN(tests)
