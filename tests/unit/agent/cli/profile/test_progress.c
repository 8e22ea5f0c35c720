/* SPDX-License-Identifier: Apache-2.0 */
/* The progress line on a real (pseudo) terminal. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "agent/cli/profile/progress.h"
#include "tests/support/unit.h"

struct terminal {
	int master;
	int slave;
};

static int setup(void **state)
{
	struct terminal *t = malloc(sizeof(*t));
	const struct winsize size = { .ws_row = 24, .ws_col = 20 };

	if (!t)
		return -1;
	t->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (t->master < 0 || grantpt(t->master) < 0 || unlockpt(t->master) < 0)
		return -1;
	t->slave = open(ptsname(t->master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	*state = t;
	return t->slave < 0 ? -1 : ioctl(t->slave, TIOCSWINSZ, &size);
}

static int teardown(void **state)
{
	struct terminal *t = *state;

	(void)close(t->master);
	(void)close(t->slave);
	free(t);
	return 0;
}

static void assert_seen(const struct terminal *t, const char *expected)
{
	char seen[256];
	ssize_t n = read(t->master, seen, sizeof(seen) - 1);

	assert_true(n >= 0);
	seen[n] = '\0';
	assert_string_equal(seen, expected);
}

static void test_show_and_clear(void **state)
{
	const struct terminal *t = *state;
	struct progress p = { .fd = t->slave };

	progress_clear(&p);
	progress_show(&p, "1.0s  3 samples");
	assert_seen(t, "\r1.0s  3 samples\x1b[K\r");
	progress_clear(&p);
	assert_seen(t, "\r\x1b[K");
	progress_clear(&p);
	progress_show(&p, "x");
	assert_seen(t, "\rx\x1b[K\r");
}

static void test_cut_to_the_width(void **state)
{
	const struct terminal *t = *state;
	struct progress p = { .fd = t->slave };

	progress_show(&p, "0123456789012345678901234567890");
	assert_seen(t, "\r0123456789012345678\x1b[K\r");
}

/* A command may be called whatever it likes. */
static void test_no_escapes_of_others(void **state)
{
	const struct terminal *t = *state;
	struct progress p = { .fd = t->slave };

	progress_show(&p, "a\x1b[2Jb");
	assert_seen(t, "\ra?[2Jb\x1b[K\r");
}

static void test_where_it_makes_sense(void **state)
{
	const struct terminal *t = *state;
	int fds[2];

	setenv("TERM", "xterm", 1);
	assert_true(progress_is_possible(t->slave));
	setenv("TERM", "dumb", 1);
	assert_false(progress_is_possible(t->slave));
	unsetenv("TERM");
	assert_true(progress_is_possible(t->slave));
	assert_int_equal(pipe(fds), 0);
	assert_false(progress_is_possible(fds[1]));
	(void)close(fds[0]);
	(void)close(fds[1]);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_show_and_clear),
	FIXTURE_TEST(test_cut_to_the_width),
	FIXTURE_TEST(test_no_escapes_of_others),
	FIXTURE_TEST(test_where_it_makes_sense),
};

TEST_MAIN(tests)
