/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of names as runtimes write them, in UTF-8. */
#include <string.h>

#include "agent/runtimes/name_texts.h"
#include "tests/support/unit.h"

struct row {
	const char *name;
	enum wire_encoding encoding;
	const char *bytes;
	size_t n;
	const char *expected;
};

#define BYTES(text) (text), sizeof(text) - 1

static const struct row rows[] = {
	{ "nothing", WIRE_LATIN1, "", 0, "" },
	{ "utf8_as_it_is", WIRE_UTF8,
	  BYTES("gr\xc3\xb6\xc3\x9f"
		"e"),
	  "größe" },
	{ "latin1", WIRE_LATIN1,
	  BYTES("gr\xf6\xdf"
		"e"),
	  "größe" },
	{ "latin1_ascii", WIRE_LATIN1, BYTES("abc"), "abc" },
	{ "ucs2", WIRE_UCS2, BYTES("\xfd\x51\x70\x65"), "函数" },
	{ "ucs2_half_a_character", WIRE_UCS2, BYTES("a\0b"), "a" },
	{ "ucs2_surrogate", WIRE_UCS2,
	  BYTES("\x00\xd8"
		"a\0"),
	  "\xef\xbf\xbd"
	  "a" },
	{ "ucs4", WIRE_UCS4, BYTES("\x48\x03\x01\0a\0\0\0"),
	  "\xf0\x90\x8d\x88"
	  "a" },
	{ "ucs4_beyond_unicode", WIRE_UCS4, BYTES("\x00\x00\x11\0"), "\xef\xbf\xbd" },
	{ "java", WIRE_JAVA, BYTES("gr\xc3\xb6/\xe5\x87\xbd"), "grö/函" },
	{ "java_beyond_16_bits", WIRE_JAVA,
	  BYTES("\xed\xa0\x80\xed\xbd\x88"
		"a"),
	  "\xf0\x90\x8d\x88"
	  "a" },
	{ "java_half_a_character", WIRE_JAVA,
	  BYTES("\xed\xa0\x80"
		"a"),
	  "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
	  "a" },
	{ "java_nul", WIRE_JAVA,
	  BYTES("\xc0\x80"
		"a"),
	  "\xef\xbf\xbd"
	  "a" },
	{ "java_no_character", WIRE_JAVA,
	  BYTES("\xff"
		"a\xe5"),
	  "\xef\xbf\xbd"
	  "a\xef\xbf\xbd" },
	{ "java_class", WIRE_JAVA_CLASS, BYTES("java/util/Map$Entry"), "java.util.Map$Entry" },
	{ "java_hidden_class", WIRE_JAVA_CLASS, BYTES("a/B$$Lambda+0x00007f4c01003c00"),
	  "a.B$$Lambda" },
	{ "java_hidden_class_of_11", WIRE_JAVA_CLASS, BYTES("a/B$$Lambda$14/0x0000000800066840"),
	  "a.B$$Lambda" },
	{ "java_lambda_of_8", WIRE_JAVA_CLASS, BYTES("a/B$$Lambda$14"), "a.B$$Lambda" },
	{ "java_class_with_a_number", WIRE_JAVA_CLASS, BYTES("a/B$$Lambd$14"), "a.B$$Lambd$14" },
	{ "java_lambda_without_a_number", WIRE_JAVA_CLASS, BYTES("a/B$$Lambda$"), "a.B$$Lambda$" },
	{ "java_class_of_digits", WIRE_JAVA_CLASS, BYTES("14"), "14" },
	{ "ucs4_all_ones", WIRE_UCS4, BYTES("\xff\xff\xff\xff"), "\xef\xbf\xbd" },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	char to[64];
	size_t end = name_texts_utf8(row->bytes, row->n, row->encoding, to, 0, sizeof(to));

	assert_int_equal(end, strlen(row->expected));
	assert_memory_equal(to, row->expected, end);
}

/* A character is whole or not there. */
static void test_no_room(void **state)
{
	char to[4] = "....";

	(void)state;
	assert_int_equal(name_texts_utf8(BYTES("\xf6\xf6"), WIRE_LATIN1, to, 1, 4), 3);
	assert_memory_equal(to, ".\xc3\xb6.", 4);
	assert_int_equal(name_texts_utf8(BYTES("abcdef"), WIRE_UTF8, to, 2, 4), 4);
	assert_memory_equal(to + 2, "ab", 2);
	assert_int_equal(name_texts_utf8(BYTES("a"), WIRE_UTF8, to, 4, 4), 4);
}

static struct wire_name name;
static struct name_texts texts;

static void put(const char *scope, const char *function, const char *file, const char *lines)
{
	char *at = name.texts;

	memset(&name, 0, sizeof(name));
	name.n_scope = (uint16_t)strlen(scope);
	name.n_name = (uint16_t)strlen(function);
	name.n_file = (uint16_t)strlen(file);
	name.n_lines = (uint16_t)strlen(lines);
	name.line = 7;
	name.lines_format = 3;
	at = stpcpy(at, scope);
	at = stpcpy(at, function);
	at = stpcpy(at, file);
	(void)stpcpy(at, lines);
}

static void test_all_parts(void **state)
{
	struct code_text text;

	(void)state;
	put("app.models", "User.save", "/srv/app/models.py", "\x80\x01");
	name_texts_of(&name, &texts, &text);
	assert_int_equal(text.n_name, strlen("app.models.User.save"));
	assert_memory_equal(text.name, "app.models.User.save", text.n_name);
	assert_int_equal(text.n_file, strlen("/srv/app/models.py"));
	assert_memory_equal(text.file, "/srv/app/models.py", text.n_file);
	assert_int_equal(text.n_lines, 2);
	assert_memory_equal(text.lines, "\x80\x01", 2);
	assert_int_equal(text.line, 7);
	assert_int_equal(text.lines_format, 3);
}

static void test_no_scope(void **state)
{
	struct code_text text;

	(void)state;
	put("", "f", "", "");
	name_texts_of(&name, &texts, &text);
	assert_int_equal(text.n_name, 1);
	assert_int_equal(text.n_file, 0);
	assert_int_equal(text.n_lines, 0);
}

/* A name and its descriptor are one text in the record. */
static void test_arguments(void **state)
{
	struct code_text text;

	(void)state;
	put("a/B", "f(x(J)V", "", "");
	name.scope_encoding = WIRE_JAVA_CLASS;
	name.name_encoding = WIRE_JAVA;
	name.signature_at = 3;
	name_texts_of(&name, &texts, &text);
	assert_int_equal(text.n_name, strlen("a.B.f(x(long)"));
	assert_memory_equal(text.name, "a.B.f(x(long)", text.n_name);
	name.signature_at = name.n_name;
	name_texts_of(&name, &texts, &text);
	assert_int_equal(text.n_name, strlen("a.B.f(x(J)V(…)"));
}

static void test_compiled(void **state)
{
	struct code_text text;

	(void)state;
	put("a/B", "f(J)V", "", "");
	name.scope_encoding = WIRE_JAVA_CLASS;
	name.name_encoding = WIRE_JAVA;
	name.signature_at = 1;
	name.compiled_tier = 4;
	name_texts_of(&name, &texts, &text);
	assert_int_equal(text.n_name, strlen("[compiling a.B.f(long) (tier 4)]"));
	assert_memory_equal(text.name, "[compiling a.B.f(long) (tier 4)]", text.n_name);
	name.compiled_tier = 0;
	name_texts_of(&name, &texts, &text);
	assert_int_equal(text.n_name, strlen("a.B.f(long)"));
}

/* What fills its room was cut by the kernel half, and says so; all of it takes the most room in Latin-1. */
static void test_longest(void **state)
{
	struct code_text text;

	(void)state;
	memset(&name, 0, sizeof(name));
	memset(name.texts, 0xe4, sizeof(name.texts));
	name.n_scope = WIRE_SCOPE_BYTES;
	name.n_name = WIRE_NAME_BYTES;
	name.n_file = WIRE_FILE_BYTES;
	name.scope_encoding = name.name_encoding = name.file_encoding = WIRE_LATIN1;
	name_texts_of(&name, &texts, &text);
	assert_int_equal(text.n_name, 2 * (WIRE_SCOPE_BYTES + WIRE_NAME_BYTES) + 2 * 3 + 1);
	assert_memory_equal(text.name + text.n_name - 3, NAME_TEXTS_ELLIPSIS, 3);
	assert_int_equal(text.n_file, 2 * WIRE_FILE_BYTES + 3);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_no_room),
	TEST(test_all_parts),
	TEST(test_no_scope),
	TEST(test_arguments),
	TEST(test_compiled),
	TEST(test_longest),
};

TEST_MAIN(tests)
