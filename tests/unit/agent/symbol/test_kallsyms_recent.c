/* SPDX-License-Identifier: Apache-2.0 */
/* Names that were asked for lately: what is known is right, and no more than there is room for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/symbol/kallsyms.h"
#include "agent/symbol/kallsyms_recent.h"
#include "tests/support/unit.h"

#define BASE 0xffffffff81000000UL

static void what_is_put_is_known(void **state)
{
	struct kallsyms_recent r;

	(void)state;
	kallsyms_recent_init(&r, KALLSYMS_RECENT_BYTES);
	assert_null(kallsyms_recent_get(&r, 7));
	kallsyms_recent_put(&r, 7, "seven");
	kallsyms_recent_put(&r, 0, "");
	kallsyms_recent_put(&r, UINT32_MAX - 1, "last");
	assert_string_equal(kallsyms_recent_get(&r, 7), "seven");
	assert_string_equal(kallsyms_recent_get(&r, 0), "");
	assert_string_equal(kallsyms_recent_get(&r, UINT32_MAX - 1), "last");
	assert_null(kallsyms_recent_get(&r, 8));
	kallsyms_recent_fini(&r);
	assert_null(kallsyms_recent_get(&r, 7));
	kallsyms_recent_fini(&r);
}

static void name_of(char *name, size_t n, uint32_t number)
{
	(void)snprintf(name, n, "function_number_%x", number * 2654435761u);
}

/* Who comes when all places are taken, and when there is no room for the name, pushes others out; nobody gets another one's name. */
static void more_than_there_is_room_for(void **state)
{
	struct kallsyms_recent r;
	size_t n_known = 0;
	char name[64];

	(void)state;
	kallsyms_recent_init(&r, KALLSYMS_RECENT_BYTES);
	for (uint32_t i = 0; i < 20000; i++) {
		name_of(name, sizeof(name), i);
		kallsyms_recent_put(&r, i, name);
		assert_string_equal(kallsyms_recent_get(&r, i), name);
		assert_true(kallsyms_recent_bytes(&r) <= KALLSYMS_RECENT_BYTES);
	}
	for (uint32_t i = 0; i < 20000; i++) {
		const char *known = kallsyms_recent_get(&r, i);

		name_of(name, sizeof(name), i);
		if (known)
			assert_string_equal(known, name);
		n_known += known != NULL;
	}
	assert_true(n_known > 0 && n_known <= 1u << KALLSYMS_RECENT_SLOTS_BITS);
	kallsyms_recent_fini(&r);
}

static void longest_names(void **state)
{
	size_t n = KALLSYMS_RECENT_TEXT_BYTES;
	char *name = malloc(n + 1);
	struct kallsyms_recent r;

	(void)state;
	assert_non_null(name);
	memset(name, 'x', n);
	name[n] = '\0';
	kallsyms_recent_init(&r, KALLSYMS_RECENT_BYTES);
	kallsyms_recent_put(&r, 1, name);
	assert_null(kallsyms_recent_get(&r, 1));
	kallsyms_recent_put(&r, 2, name + 1);
	assert_string_equal(kallsyms_recent_get(&r, 2), name + 1);
	kallsyms_recent_put(&r, 3, "one more");
	assert_null(kallsyms_recent_get(&r, 2));
	assert_string_equal(kallsyms_recent_get(&r, 3), "one more");
	kallsyms_recent_fini(&r);
	free(name);
}

static void without_room(void **state)
{
	struct kallsyms_recent r;

	(void)state;
	kallsyms_recent_init(&r, KALLSYMS_RECENT_BYTES - 1);
	kallsyms_recent_put(&r, 1, "");
	assert_null(kallsyms_recent_get(&r, 1));
	assert_int_equal(kallsyms_recent_bytes(&r), 0);
	kallsyms_recent_fini(&r);
}

/* A name that is known needs nothing to read it with. */
static void index_unpacks_once(void **state)
{
	struct kallsyms_parser *parser = NULL;
	struct kallsyms_symbol symbol;
	struct kallsyms *k = NULL;
	char line[64];

	(void)state;
	assert_int_equal(kallsyms_parser_new(KALLSYMS_MAX_BYTES, &parser), 0);
	for (size_t i = 0; i < 1000; i++) {
		int n = snprintf(line, sizeof(line), "%lx T f%zu\n", BASE + 16 * i, i);

		assert_int_equal(kallsyms_parser_feed(parser, line, (size_t)n), 0);
	}
	assert_int_equal(kallsyms_parser_finish_take(parser, &k), 0);
	assert_true(kallsyms_find(k, BASE + 16 * 700, &symbol));
	kallsyms_rest(k);
	size_t rested = kallsyms_bytes(k);
	assert_true(kallsyms_find(k, BASE + 16 * 700 + 5, &symbol));
	assert_string_equal(symbol.name, "f700");
	assert_int_equal(kallsyms_bytes(k), rested);
	assert_true(kallsyms_find(k, BASE + 16 * 3, &symbol));
	assert_string_equal(symbol.name, "f3");
	assert_true(kallsyms_bytes(k) > rested);
	kallsyms_free(k);
}

static const struct unit_test tests[] = {
	TEST(what_is_put_is_known),
	TEST(more_than_there_is_room_for),
	TEST(longest_names),
	TEST(without_room),
	TEST(index_unpacks_once),
};

TEST_MAIN(tests)
