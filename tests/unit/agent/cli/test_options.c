/* SPDX-License-Identifier: Apache-2.0 */
/* Table tests of flags: words in, a line of what was understood out. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/cli/options.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define MAX_WORDS 12

struct target {
	bool all;
	bool wide;
	const char *name;
	int number; /* of digits parsed; several add up */
};

static int parse_digit(const char *value, void *member)
{
	if (value[0] < '0' || value[0] > '9' || value[1])
		return -EINVAL;
	*(int *)member += value[0] - '0';
	return 0;
}

static const struct cli_flag flags[] = {
	{ "all", 'a', CLI_SWITCH, offsetof(struct target, all), NULL, NULL },
	{ "wide", 'w', CLI_SWITCH, offsetof(struct target, wide), NULL, NULL },
	{ "name", 'n', CLI_TEXT, offsetof(struct target, name), "a name", NULL },
	{ "old-name", 0, CLI_TEXT, offsetof(struct target, name), "a name", NULL },
	{ "server.digit", 'd', CLI_PARSED, offsetof(struct target, number), "a digit",
	  parse_digit },
	{ "reporting", 0, CLI_IGNORED_SWITCH, 0, NULL, NULL },
	{ "storage", 0, CLI_IGNORED, 0, "a directory", NULL },
};

struct row {
	const char *name;
	const char *words[MAX_WORDS];
	const char *expected; /* see show(); or, when it begins with '!', the error */
};

static const struct row rows[] = {
	{ "nothing", { NULL }, "name=- number=0 words= rest=-" },
	{ "letters", { "-a", "-n", "x" }, "all name=x number=0 words= rest=-" },
	{ "letters together", { "-awn", "x" }, "all wide name=x number=0 words= rest=-" },
	{ "value attached", { "-nx" }, "name=x number=0 words= rest=-" },
	{ "value that looks like a flag", { "-n", "-a" }, "name=-a number=0 words= rest=-" },
	{ "value that is two dashes", { "-n", "--" }, "name=-- number=0 words= rest=-" },
	{ "long with equals", { "--name=x=y" }, "name=x=y number=0 words= rest=-" },
	{ "long with a word", { "--name", "x" }, "name=x number=0 words= rest=-" },
	{ "empty value", { "--name=" }, "name= number=0 words= rest=-" },
	{ "dots in the name", { "--server.digit=7" }, "name=- number=7 words= rest=-" },
	{ "parsed each time", { "-d1", "-d", "2" }, "name=- number=3 words= rest=-" },
	{ "last text wins", { "-n", "x", "-n", "y" }, "name=y number=0 words= rest=-" },
	{ "alias", { "--old-name=x" }, "name=x number=0 words= rest=-" },
	{ "switch on", { "--all=true" }, "all name=- number=0 words= rest=-" },
	{ "switch off", { "-a", "--all=false" }, "name=- number=0 words= rest=-" },
	{ "switch takes no word", { "--all", "false" }, "all name=- number=0 words=false rest=-" },
	{ "ignored",
	  { "--reporting", "--reporting=false", "--storage", "/x" },
	  "name=- number=0 words= rest=-" },
	{ "flags after words",
	  { "one", "-a", "two", "-nx" },
	  "all name=x number=0 words=one,two rest=-" },
	{ "a single dash", { "-" }, "name=- number=0 words=- rest=-" },
	{ "two dashes",
	  { "-a", "--", "-w", "--name" },
	  "all name=- number=0 words= rest=-w,--name" },
	{ "words and two dashes",
	  { "one", "--", "two", "--" },
	  "name=- number=0 words=one rest=two,--" },
	{ "two dashes alone", { "--" }, "name=- number=0 words= rest=" },
	{ "unknown letter", { "-x" }, "!unknown flag -x" },
	{ "unknown letter among others", { "-axw" }, "!unknown flag -x" },
	{ "unknown name", { "--frobnicate" }, "!unknown flag --frobnicate" },
	{ "unknown name with a value", { "--frobnicate=1" }, "!unknown flag --frobnicate" },
	{ "misspelled", { "--nmae=1" }, "!unknown flag --nmae, did you mean --name?" },
	{ "misspelled long",
	  { "--server.digits=1" },
	  "!unknown flag --server.digits, did you mean --server.digit?" },
	{ "abbreviated", { "--serv=1" }, "!unknown flag --serv, did you mean --server.digit?" },
	{ "abbreviated switch", { "--al" }, "!unknown flag --al, did you mean --all?" },
	{ "no value", { "-n" }, "!-n wants a name" },
	{ "no value of a long one", { "--name" }, "!--name wants a name" },
	{ "no value of an ignored one", { "--storage" }, "!--storage wants a directory" },
	{ "bad value", { "-d", "ten" }, "!-d wants a digit, not \"ten\"" },
	{ "bad value of a long one",
	  { "--server.digit=ten" },
	  "!--server.digit wants a digit, not \"ten\"" },
	{ "empty bad value", { "-d", "" }, "!-d wants a digit, not \"\"" },
	{ "bad switch", { "--all=yes" }, "!--all wants true or false, not \"yes\"" },
	{ "bad ignored switch",
	  { "--reporting=1" },
	  "!--reporting wants true or false, not \"1\"" },
};

static void show_list(struct buf *b, const char *const *items, size_t n)
{
	for (size_t i = 0; i < n; i++)
		(void)buf_printf(b, "%s%s", i ? "," : "", items[i]);
}

static void show(struct buf *b, const struct target *t, const struct cli_words *w)
{
	size_t n_rest = 0;

	(void)buf_printf(b, "%s%sname=%s number=%d words=", t->all ? "all " : "",
			 t->wide ? "wide " : "", t->name ? t->name : "-", t->number);
	show_list(b, w->items, w->n);
	(void)buf_append_str(b, " rest=");
	if (!w->rest) {
		(void)buf_append_str(b, "-");
		return;
	}
	while (w->rest[n_rest])
		n_rest++;
	show_list(b, (const char *const *)w->rest, n_rest);
}

static int make_argv(const struct row *row, char **argv)
{
	int n = 1;

	argv[0] = (char *)"test";
	for (; n <= MAX_WORDS && row->words[n - 1]; n++)
		argv[n] = (char *)row->words[n - 1];
	argv[n] = NULL;
	return n;
}

static void test_row(void **state)
{
	const struct row *row = *state;
	_cleanup_buf_ struct buf got = BUF_INIT(4096);
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	_cleanup_words_ struct cli_words words = { 0 };
	struct target t = { 0 };
	char *argv[MAX_WORDS + 2];
	int argc = make_argv(row, argv);
	int r = cli_options_parse(flags, ARRAY_SIZE(flags), argc, argv, &t, &words, &why);

	if (row->expected[0] == '!') {
		assert_int_equal(r, -EINVAL);
		assert_string_equal(buf_str(&why), row->expected + 1);
		assert_null(words.items);
		return;
	}
	assert_string_equal(buf_str(&why), "");
	assert_int_equal(r, 0);
	show(&got, &t, &words);
	assert_string_equal(buf_str(&got), row->expected);
}

/* Order and argv are the same whatever the environment says. */
static void test_posixly_correct(void **state)
{
	const struct row row = { "", { "one", "-a" }, NULL };
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	_cleanup_words_ struct cli_words words = { 0 };
	struct target t = { 0 };
	char *argv[MAX_WORDS + 2];
	int argc = make_argv(&row, argv);

	(void)state;
	setenv("POSIXLY_CORRECT", "1", 1);
	int r = cli_options_parse(flags, ARRAY_SIZE(flags), argc, argv, &t, &words, &why);
	unsetenv("POSIXLY_CORRECT");
	assert_int_equal(r, 0);
	assert_true(t.all);
	assert_int_equal(words.n, 1);
	assert_string_equal(argv[1], "one");
	assert_string_equal(argv[2], "-a");
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_posixly_correct),
};

TEST_MAIN(tests)
