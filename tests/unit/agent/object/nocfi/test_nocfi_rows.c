/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that are kept: whole functions or nothing, within a ceiling. */
#include <errno.h>

#include "agent/object/nocfi/nocfi_rows.h"
#include "tests/support/unit.h"

#define N_ROWS 10

static int add(struct nocfi_rows *rows, uint64_t vaddr)
{
	struct unwind_rule rule = { .cfa = RULE_CFA_REG, .cfa_off = (int32_t)vaddr * 8 };

	return nocfi_rows_add(vaddr, &rule, rows);
}

/* The result of the first row that could not be added. */
static int add_function(struct nocfi_rows *rows, uint64_t vaddr, size_t n, uint32_t *ret_ref)
{
	int r = 0;

	nocfi_rows_begin(rows);
	for (size_t i = 0; i < n && r == 0; i++)
		r = add(rows, vaddr + i);
	if (r < 0)
		nocfi_rows_drop(rows);
	*ret_ref = r < 0 ? 0 : nocfi_rows_keep(rows);
	return r;
}

struct seen {
	uint64_t first;
	size_t n;
	int result;
};

static int see(uint64_t vaddr, const struct unwind_rule *rule, void *data)
{
	struct seen *seen = data;

	assert_int_equal(rule->cfa_off, (int32_t)vaddr * 8);
	if (seen->n == 0)
		seen->first = vaddr;
	assert_int_equal(vaddr, seen->first + seen->n);
	seen->n++;
	return seen->result;
}

static void check(const struct nocfi_rows *rows, uint32_t ref, uint64_t first, size_t n)
{
	struct seen seen = { 0 };

	assert_true(nocfi_rows_has(rows, ref));
	assert_int_equal(nocfi_rows_foreach(rows, ref, see, &seen), 0);
	assert_int_equal(seen.first, first);
	assert_int_equal(seen.n, n);
}

static void keeps_functions_apart(void **state)
{
	struct nocfi_rows rows = { .max_bytes = (size_t)1 << 20 };
	struct seen seen = { .result = -ECANCELED };
	uint32_t a, b, none;

	(void)state;
	assert_false(nocfi_rows_has(&rows, 1));
	assert_int_equal(add_function(&rows, 100, 3, &a), 0);
	assert_int_equal(add_function(&rows, 0, 0, &none), 0);
	assert_int_equal(none, 0);
	assert_int_equal(add_function(&rows, 200, 1000, &b), 0);
	check(&rows, a, 100, 3);
	check(&rows, b, 200, 1000);
	assert_false(nocfi_rows_has(&rows, 0));
	assert_false(nocfi_rows_has(&rows, 1004));
	assert_int_equal(nocfi_rows_foreach(&rows, b, see, &seen), -ECANCELED);
	assert_int_equal(seen.n, 1);
	nocfi_rows_fini(&rows);
	assert_false(nocfi_rows_has(&rows, a));
}

/* A function that has no room leaves nothing behind; a smaller one behind it still has. */
static void full(void **state)
{
	struct nocfi_rows rows = { .max_bytes = N_ROWS * sizeof(struct nocfi_row) + 1 };
	uint32_t a, b, c, d;

	(void)state;
	assert_int_equal(add_function(&rows, 100, N_ROWS - 2, &a), 0);
	assert_int_equal(add_function(&rows, 200, 3, &b), -ENOSPC);
	assert_int_equal(add_function(&rows, 300, 2, &c), 0);
	assert_int_equal(add_function(&rows, 400, 1, &d), -ENOSPC);
	assert_int_equal(rows.cap, N_ROWS);
	assert_int_equal(rows.n, N_ROWS);
	check(&rows, a, 100, N_ROWS - 2);
	check(&rows, c, 300, 2);
	nocfi_rows_fini(&rows);
}

static void no_room_at_all(void **state)
{
	struct nocfi_rows rows = { .max_bytes = sizeof(struct nocfi_row) - 1 };
	uint32_t ref;

	(void)state;
	assert_int_equal(add_function(&rows, 100, 1, &ref), -ENOSPC);
	assert_null(rows.items);
	nocfi_rows_fini(&rows);
}

static const struct unit_test tests[] = {
	TEST(keeps_functions_apart),
	TEST(full),
	TEST(no_room_at_all),
};

TEST_MAIN(tests)
