/* SPDX-License-Identifier: Apache-2.0 */
/* Ids of scripts, by their last lines. */
#include <string.h>

#include "agent/runtimes/v8/debug_id.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define ID "85314830-023f-4cf1-a267-535f4e37bb17"
#define OTHER "00000000-1111-2222-3333-abcdefabcdef"
#define LINE "//# debugId=" ID

/* NULL: it has none. */
static const struct row {
	const char *source;
	const char *id;
} rows[] = {
	{ "f();\n" LINE, ID },
	{ "f();\n" LINE "\n", ID },
	{ "f();\r\n" LINE "\r\n\r\n", ID },
	{ "f();\n" LINE "\n//# sourceMappingURL=a.js.map\n", ID },
	{ "f();\n//# sourceMappingURL=a.js.map\n" LINE, ID },
	{ "f();\n\t" LINE " \t\n", ID },
	{ LINE, ID },
	{ "f();\n//@ debugId=" ID, ID },
	{ "f();\n//# debugId=85314830-023F-4CF1-A267-535F4E37BB17\n", ID },
	/* The last one. */
	{ "f();\n//# debugId=" OTHER "\n" LINE "\n", ID },
	{ "f();\n" LINE "\n//# debugId=of no kind\n", ID },
	/* None. */
	{ "", NULL },
	{ "\n", NULL },
	{ "f();\n", NULL },
	{ "f();\n//# sourceMappingURL=a.js.map\n", NULL },
	{ LINE "\nf();\n", NULL },
	{ "f(); " LINE "\n", NULL },
	{ "f(`\n" LINE "\n`);\n", NULL },
	{ "/*\n" LINE "\n*/\n", NULL },
	{ "// " LINE "\n", NULL },
	{ "f();\n//# debugId= " ID "\n", NULL },
	{ "f();\n//# debugid=" ID "\n", NULL },
	{ "f();\n" LINE "0\n", NULL },
	{ "f();\n" LINE " x\n", NULL },
	{ "f();\n//# debugId=85314830-023f-4cf1-a267-535f4e37bb1\n", NULL },
	{ "f();\n//# debugId=85314830-023f-4cf1-a267-535f4e37bb1g\n", NULL },
	{ "f();\n//# debugId=85314830_023f-4cf1-a267-535f4e37bb17\n", NULL },
	{ "f();\n//# debugId=853148300023f-4cf1-a267-535f4e37bb17\n", NULL },
};

static void check(const struct source *s, bool is_whole, const char *of, const char *id)
{
	char seen[DEBUG_ID_BYTES] = "";

	if (debug_id_find(s, is_whole, seen) != !!id || (id && strcmp(seen, id) != 0))
		fail_msg("\"%s\" has \"%s\"", of, seen);
}

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct source s = { rows[i].source, (uint32_t)strlen(rows[i].source), false };

		check(&s, true, rows[i].source, rows[i].id);
	}
}

static void test_wide(void **state)
{
	uint16_t wide[256];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct source s = { wide, (uint32_t)strlen(rows[i].source), true };

		for (uint32_t k = 0; k < s.n; k++)
			wide[k] = (uint8_t)rows[i].source[k];
		check(&s, true, rows[i].source, rows[i].id);
		/* A character that has the same lower byte is another one. */
		if (s.n) {
			wide[s.n / 2] |= 0x4e00;
			s.n /= 2;
			check(&s, false, rows[i].source, NULL);
		}
	}
}

/* A line that begins before what was read may be anything. */
static void test_part(void **state)
{
	static const char source[] = "x\n" LINE "\n";
	const struct source with_line = { source + 1, sizeof(source) - 2, false };
	const struct source without = { source + 2, sizeof(source) - 3, false };

	(void)state;
	check(&with_line, false, source, ID);
	check(&without, false, source, NULL);
	check(&without, true, source, ID);
}

static const struct unit_test tests[] = {
	TEST(test_rows),
	TEST(test_wide),
	TEST(test_part),
};

TEST_MAIN(tests)
