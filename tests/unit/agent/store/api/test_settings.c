/* SPDX-License-Identifier: Apache-2.0 */
/* Settings: by name, the latest wins, and no more than there is room for. */
#include <stdio.h>
#include <string.h>

#include "agent/store/api/settings.h"
#include "tests/support/unit.h"

static void test_order(void **state)
{
	struct settings s = { 0 };

	(void)state;
	assert_int_equal(settings_set(&s, "b", "1", 10), SETTINGS_SET);
	assert_int_equal(settings_set(&s, "c", "2", 10), SETTINGS_SET);
	assert_int_equal(settings_set(&s, "a", "3", 10), SETTINGS_SET);
	assert_int_equal(s.n, 3);
	assert_string_equal(s.items[0].name, "a");
	assert_string_equal(s.items[1].name, "b");
	assert_string_equal(s.items[2].name, "c");
	settings_delete(&s, "b");
	settings_delete(&s, "bb");
	assert_int_equal(s.n, 2);
	assert_string_equal(s.items[1].name, "c");
	settings_fini(&s);
	assert_int_equal(s.n, 0);
}

static void test_latest(void **state)
{
	struct settings s = { 0 };

	(void)state;
	assert_int_equal(settings_set(&s, "a", "1", 10), SETTINGS_SET);
	assert_int_equal(settings_set(&s, "a", "2", 9), SETTINGS_NEWER);
	assert_string_equal(s.items[0].value, "1");
	assert_int_equal(settings_set(&s, "a", "3", 10), SETTINGS_SET);
	assert_string_equal(s.items[0].value, "3");
	assert_int_equal(s.n, 1);
	settings_fini(&s);
}

static void test_room(void **state)
{
	static char value[SETTINGS_MAX_VALUE_BYTES + 2], name[SETTINGS_MAX_NAME_BYTES + 2];
	struct settings s = { 0 };
	char number[16];

	(void)state;
	memset(value, 'v', sizeof(value) - 1);
	memset(name, 'n', sizeof(name) - 1);
	assert_int_equal(settings_set(&s, "a", value, 1), SETTINGS_TOO_LONG);
	assert_int_equal(settings_set(&s, "a", value + 1, 1), SETTINGS_SET);
	assert_int_equal(settings_set(&s, name, "v", 1), SETTINGS_TOO_LONG);
	assert_int_equal(settings_set(&s, name + 1, "v", 1), SETTINGS_SET);
	for (int i = 0; i < SETTINGS_MAX - 2; i++) {
		(void)snprintf(number, sizeof(number), "%d", i);
		assert_int_equal(settings_set(&s, number, "v", 1), SETTINGS_SET);
	}
	assert_int_equal(settings_set(&s, "one more", "v", 1), SETTINGS_FULL);
	assert_int_equal(settings_set(&s, "a", "v", 2), SETTINGS_SET);
	settings_delete(&s, "a");
	assert_int_equal(settings_set(&s, "one more", "v", 1), SETTINGS_SET);
	settings_fini(&s);
}

static const struct unit_test tests[] = {
	TEST(test_order),
	TEST(test_latest),
	TEST(test_room),
};

TEST_MAIN(tests)
