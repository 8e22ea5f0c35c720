/* SPDX-License-Identifier: Apache-2.0 */
/* Passwords on a command line: what others see of it, and what we have. */
#include <stdlib.h>
#include <string.h>

#include "agent/cli/argv_secrets.h"
#include "tests/support/unit.h"

struct row {
	const char *name;
	const char *given;
	const char *seen; /* NULL: as given */
};

static const struct row rows[] = {
	{ "flag", "--push.url=https://me:secret@host:4040/a", "--push.url=https://*********@host:4040/a" },
	{ "value_alone", "http://me:secret@host", "http://*********@host" },
	{ "token", "https://glc_token@host", "https://*********@host" },
	{ "at_in_password", "https://me:se@cret@host", "https://**********@host" },
	{ "two_urls", "http://a:b@x http://c:d@y", "http://***@x http://***@y" },
	{ "second_of_two", "http://x http://c:d@y", "http://x http://***@y" },
	{ "other_scheme", "socks5://u:p@proxy:1080", "socks5://***@proxy:1080" },
	{ "empty_password", "http://me:@host", "http://***@host" },
	{ "nobody", "http://@host", NULL },
	{ "no_user", "https://host:4040/path", NULL },
	{ "at_in_path", "https://host/a@b", NULL },
	{ "at_in_query", "https://host?mail=a@b", NULL },
	{ "mail", "me@host", NULL },
	{ "nothing_behind", "http://", NULL },
	{ "empty", "", NULL },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	char program[] = "xagent";
	char *original = strdup(row->given);
	char *argv[] = { program, original, NULL };

	assert_non_null(original);
	assert_int_equal(argv_secrets_hide(2, argv), row->seen ? 1 : 0);
	/* The kernel shows the one, we read the other. */
	assert_string_equal(original, row->seen ? row->seen : row->given);
	assert_string_equal(argv[1], row->given);
	if (argv[1] != original)
		free(argv[1]);
	free(original);
}

/* What another program is to be told is not ours to change, nor is our own name. */
static void test_others_arguments(void **state)
{
	char text[] = "http://a:b@c";
	char dashes[] = "--";
	char *argv[] = { text, dashes, text, NULL };

	(void)state;
	assert_int_equal(argv_secrets_hide(3, argv), 0);
	assert_string_equal(text, "http://a:b@c");
	assert_int_equal(argv_secrets_hide(0, argv), 0);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_others_arguments),
};

TEST_MAIN(tests)
