/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of sources: whose it is, and what goes when there is too much. */
#include <stdlib.h>

#include "agent/runtimes/source_table.h"
#include "tests/support/unit.h"

#define MAX_BYTES ((size_t)512 * 1024)

static struct source_table table = { .max_bytes = MAX_BYTES };

static int clear(void **state)
{
	(void)state;
	source_table_clear(&table);
	assert_int_equal(table.n_bytes, 0);
	return 0;
}

static struct source_function source(uint32_t number)
{
	return (struct source_function){ .source = number, .n_source = 10, .end = 5 };
}

static size_t put(uint32_t pid, uint32_t number, size_t n)
{
	const struct source_function f = source(number);
	struct source_facts facts = { calloc(1, n), n };

	assert_non_null(facts.bytes);
	return source_table_put(&table, pid, 1, &f, facts);
}

/* Of the bytes; 0: it is not known. */
static size_t known(uint32_t pid, uint32_t exec_id, uint32_t number)
{
	const struct source_function f = source(number);
	const struct source_facts *facts = source_table_find(&table, pid, exec_id, &f);

	return facts ? facts->n : 0;
}

static void test_whose(void **state)
{
	struct source_function other = source(1);

	(void)state;
	put(7, 1, 3);
	assert_int_equal(known(7, 1, 1), 3);
	assert_int_equal(known(7, 2, 1), 0);
	assert_int_equal(known(8, 1, 1), 0);
	assert_int_equal(known(7, 1, 2), 0);
	other.n_source++;
	assert_null(source_table_find(&table, 7, 1, &other));
	/* Read again. */
	put(7, 1, 5);
	assert_int_equal(known(7, 1, 1), 5);
	assert_int_equal(table.n_bytes, 5);
}

/* Who wants the end alone takes the whole; the other way it would be half. */
static void test_ends(void **state)
{
	struct source_function whole = source(1), end = source(1);
	struct source_facts facts = { calloc(1, 2), 2 };

	(void)state;
	end.end = 0;
	assert_non_null(facts.bytes);
	source_table_put(&table, 7, 1, &end, facts);
	assert_null(source_table_find(&table, 7, 1, &whole));
	assert_int_equal(source_table_find(&table, 7, 1, &end)->n, 2);
	put(7, 1, 3);
	assert_int_equal(source_table_find(&table, 7, 1, &whole)->n, 3);
	assert_int_equal(source_table_find(&table, 7, 1, &end)->n, 3);
	assert_int_equal(table.n_bytes, 5);
}

static void test_oldest_goes(void **state)
{
	(void)state;
	for (uint32_t i = 1; i <= SOURCE_TABLE_SLOTS; i++)
		put(7, i, i);
	assert_int_equal(known(7, 1, 1), 1);
	put(7, 1000, 4);
	assert_int_equal(known(7, 1, 1), 1);
	assert_int_equal(known(7, 1, 2), 0);
	assert_int_equal(known(7, 1, 3), 3);
	assert_int_equal(known(7, 1, 1000), 4);
}

static void test_bytes(void **state)
{
	(void)state;
	put(7, 1, MAX_BYTES / 2);
	put(7, 2, MAX_BYTES / 2);
	put(7, 3, 1);
	assert_int_equal(known(7, 1, 1), 0);
	assert_int_equal(known(7, 1, 3), 1);
	put(7, 4, MAX_BYTES);
	assert_int_equal(known(7, 1, 2), 0);
	assert_int_equal(known(7, 1, 4), MAX_BYTES);
	put(7, 5, MAX_BYTES + 1);
	const struct source_function f = source(5);
	const struct source_facts *facts = source_table_find(&table, 7, 1, &f);
	assert_non_null(facts);
	assert_null(facts->bytes);
	/* Of nobody. */
	put(0, 6, 1);
	assert_int_equal(known(0, 1, 6), 0);
	assert_int_equal(table.n_bytes, MAX_BYTES);
}

/* What is forgotten is told, to be counted. */
static void test_dropped(void **state)
{
	(void)state;
	for (uint32_t i = 1; i <= 4; i++)
		assert_int_equal(put(7, i, MAX_BYTES / 4), 0);
	assert_int_equal(put(7, 4, MAX_BYTES / 4), 0);
	assert_int_equal(put(7, 5, 1), 1);
	assert_int_equal(put(7, 6, MAX_BYTES), 4);
	assert_int_equal(put(7, 7, MAX_BYTES + 1), 1);
	assert_int_equal(put(0, 8, 10), 1);
	assert_true(table.n_bytes <= MAX_BYTES);
}

static const struct unit_test tests[] = {
	TEST_WITH(test_whose, NULL, clear),
	TEST_WITH(test_ends, NULL, clear),
	TEST_WITH(test_oldest_goes, NULL, clear),
	TEST_WITH(test_bytes, NULL, clear),
	TEST_WITH(test_dropped, NULL, clear),
};

TEST_MAIN(tests)
