/* SPDX-License-Identifier: Apache-2.0 */
/* What a load logs about names. */
#include "tests/support/unit.h"
#include "tests/unit/agent/component/graph/tiny_graph.h"

#include <sys/mman.h>
#include <unistd.h>

static const struct row {
	const char *name;
	const char *text;
	const char *expected; /* the line without its time */
} rows[] = {
	{ "nothing", "test.any \"a\" { text = sys.env(\"HOME\") }\n", "" },
	{ "a deprecated name", "test.any \"a\" { text = env(\"HOME\") }\n",
	  "level=warn msg=\"this stdlib function is deprecated; please refer to the documentation "
	  "for updated usage and alternatives\" component_id=test.any.a function=env\n" },
	{ "a component of the library's name",
	  "declare \"sys\" { export \"e\" { value = \"1\" } }\nsys \"s\" { }\n"
	  "test.any \"a\" { text = sys.s.e }\n",
	  "level=warn msg=\"a component is shadowing an existing stdlib name\" "
	  "component_id=test.any.a component=sys stdlib_name=sys\n" },
};

/* Standard error goes to a file meanwhile. */
static void load_and_read(struct fixture *f, const char *text, struct buf *ret_log)
{
	int log = memfd_create("log", MFD_CLOEXEC), saved = dup(STDERR_FILENO);
	char bytes[4096];

	assert_true(log >= 0 && saved >= 0);
	assert_int_equal(dup2(log, STDERR_FILENO), STDERR_FILENO);
	int r = load(f, text);
	assert_int_equal(dup2(saved, STDERR_FILENO), STDERR_FILENO);
	assert_int_equal(r, RIVER_OK);
	ssize_t n = pread(log, bytes, sizeof(bytes), 0);
	assert_true(n >= 0);
	assert_int_equal(buf_append(ret_log, bytes, (size_t)n), 0);
	(void)close(log);
	(void)close(saved);
}

static void test_log(void **state)
{
	const struct row *row = *state;
	_cleanup_buf_ struct buf log = BUF_INIT(65536);
	void *fixture;

	assert_int_equal(setup(&fixture), 0);
	log_configure(LOG_LEVEL_WARN, LOG_FORMAT_LOGFMT);
	load_and_read(fixture, row->text, &log);
	const char *line = strstr(buf_str(&log), "level=");
	assert_string_equal(line ? line : "", row->expected);
	assert_int_equal(teardown(&fixture), 0);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_log, rows, name),
};

TEST_MAIN(tests)
