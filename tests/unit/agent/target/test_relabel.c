/* SPDX-License-Identifier: Apache-2.0 */
/* Relabel rules: every action and its corners, order, ceilings; MD5; cases; what 10,000 targets cost. */
#include "tests/support/unit.h"
#include "tests/unit/agent/target/make_labels.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "agent/target/relabel.h"
#include "agent/target/relabel_case.h"
#include "agent/util/label_name.h"
#include "agent/util/macro.h"

#define DROPPED "(dropped)"
#define SOURCES_MAX 4
#define RULES_MAX 4

/* A rule of a table: zero is the default. */
struct rule {
	enum relabel_action action;
	const char *sources; /* a,b */
	const char *regex, *target, *replacement, *separator;
	uint64_t modulus;
};

struct row {
	const char *name;
	const char *labels;
	struct rule rules[RULES_MAX]; /* up to one that is all zero */
	const char *expected;
};

#define IN "a=1|b=two|c=x-y"

static const struct row rows[] = {
	{ "no rule", IN, { { 0 } }, IN },
	{ "no labels", "", { { 0 } }, "" },
	/* replace */
	{ "copy", IN, { { .sources = "a", .target = "d" } }, IN "|d=1" },
	{ "copy over", IN, { { .sources = "b", .target = "a" } }, "a=two|b=two|c=x-y" },
	{ "part",
	  IN,
	  { { .sources = "c", .regex = "(.)-(.)", .target = "d", .replacement = "$2/$1" } },
	  IN "|d=y/x" },
	{ "no match", IN, { { .sources = "a", .regex = "2", .target = "d" } }, IN },
	{ "two sources", IN, { { .sources = "a,b", .target = "d" } }, IN "|d=1;two" },
	{ "separator",
	  IN,
	  { { .sources = "a,b", .separator = "<>", .target = "d" } },
	  IN "|d=1<>two" },
	{ "empty separator",
	  IN,
	  { { .sources = "a,b", .separator = "", .target = "d" } },
	  IN "|d=1two" },
	{ "absent sources", IN, { { .sources = "x,a,y", .target = "d" } }, IN "|d=;1;" },
	{ "no source: a text", IN, { { .target = "d", .replacement = "text" } }, IN "|d=text" },
	{ "no source and a regex that wants one",
	  IN,
	  { { .regex = ".+", .target = "d", .replacement = "text" } },
	  IN },
	{ "empty result removes", IN, { { .sources = "x", .target = "a" } }, "b=two|c=x-y" },
	{ "empty replacement removes", IN, { { .target = "b", .replacement = "" } }, "a=1|c=x-y" },
	{ "empty result for what is absent", IN, { { .sources = "x", .target = "d" } }, IN },
	{ "target is a template",
	  "k=name|v=1",
	  { { .sources = "k,v", .regex = "(.*);(.*)", .target = "x_${1}", .replacement = "$2" } },
	  "k=name|v=1|x_name=1" },
	{ "target of one group",
	  "k=name",
	  { { .sources = "k", .target = "$1", .replacement = "1" } },
	  "k=name|name=1" },
	{ "target becomes invalid",
	  IN,
	  { { .sources = "c", .target = "$1", .replacement = "1" } },
	  IN },
	{ "target becomes empty",
	  IN,
	  { { .sources = "x", .target = "$1", .replacement = "1" } },
	  IN },
	{ "target begins with a digit",
	  IN,
	  { { .sources = "a", .target = "${1}a", .replacement = "1" } },
	  IN },
	{ "target becomes what removes",
	  "k=a|a=1",
	  { { .sources = "k", .target = "$1", .replacement = "" } },
	  "k=a" },
	{ "named group",
	  IN,
	  { { .sources = "c", .regex = "(?P<l>.)-.", .target = "d", .replacement = "$l" } },
	  IN "|d=x" },
	{ "the dot takes newlines",
	  "a=1\n2",
	  { { .sources = "a", .regex = "1.2", .target = "d", .replacement = "yes" } },
	  "a=1\n2|d=yes" },
	{ "anchored",
	  IN,
	  { { .sources = "b", .regex = "w", .target = "d", .replacement = "yes" } },
	  IN },
	{ "unicode",
	  "a=gr\xc3\xbc\xc3\x9f",
	  { { .sources = "a", .regex = "gr(.)(.)", .target = "d", .replacement = "$2$1" } },
	  "a=gr\xc3\xbc\xc3\x9f|d=\xc3\x9f\xc3\xbc" },
	{ "a value that is no UTF-8",
	  "a=x\xffy",
	  { { .sources = "a", .regex = "x(.*)", .target = "d" } },
	  "a=x\xffy|d=\xffy" },
	/* keep, drop */
	{ "keep", IN, { { .action = RELABEL_KEEP, .sources = "b", .regex = "two" } }, IN },
	{ "keep not", IN, { { .action = RELABEL_KEEP, .sources = "b", .regex = "tw" } }, DROPPED },
	{ "keep what is absent",
	  IN,
	  { { .action = RELABEL_KEEP, .sources = "x", .regex = "" } },
	  IN },
	{ "keep what is there",
	  IN,
	  { { .action = RELABEL_KEEP, .sources = "x", .regex = ".+" } },
	  DROPPED },
	{ "drop", IN, { { .action = RELABEL_DROP, .sources = "b", .regex = "t.*" } }, DROPPED },
	{ "drop not", IN, { { .action = RELABEL_DROP, .sources = "b", .regex = "t" } }, IN },
	{ "drop with no source", IN, { { .action = RELABEL_DROP } }, DROPPED },
	/* keepequal, dropequal */
	{ "keepequal",
	  "a=1|b=1",
	  { { .action = RELABEL_KEEPEQUAL, .sources = "a", .target = "b" } },
	  "a=1|b=1" },
	{ "keepequal not",
	  IN,
	  { { .action = RELABEL_KEEPEQUAL, .sources = "a", .target = "b" } },
	  DROPPED },
	{ "keepequal, both absent",
	  IN,
	  { { .action = RELABEL_KEEPEQUAL, .sources = "x", .target = "y" } },
	  IN },
	{ "keepequal, joined",
	  "a=1|b=2|c=1;2",
	  { { .action = RELABEL_KEEPEQUAL, .sources = "a,b", .target = "c" } },
	  "a=1|b=2|c=1;2" },
	{ "dropequal",
	  "a=1|b=1",
	  { { .action = RELABEL_DROPEQUAL, .sources = "a", .target = "b" } },
	  DROPPED },
	{ "dropequal not",
	  IN,
	  { { .action = RELABEL_DROPEQUAL, .sources = "a", .target = "b" } },
	  IN },
	/* hashmod; @hash: see expected_of() */
	{ "hashmod",
	  "a=1",
	  { { .action = RELABEL_HASHMOD, .sources = "a", .target = "h", .modulus = 1000 } },
	  "a=1|h=@hash" },
	{ "hashmod 1",
	  IN,
	  { { .action = RELABEL_HASHMOD, .sources = "a", .target = "h", .modulus = 1 } },
	  IN "|h=0" },
	/* labelmap */
	{ "labelmap",
	  "__meta_a=1|__meta_b=2|c=3",
	  { { .action = RELABEL_LABELMAP, .regex = "__meta_(.+)" } },
	  "__meta_a=1|__meta_b=2|a=1|b=2|c=3" },
	{ "labelmap with a replacement",
	  "a=1",
	  { { .action = RELABEL_LABELMAP, .regex = "(.)", .replacement = "x_${1}_$0" } },
	  "a=1|x_a_a=1" },
	{ "labelmap: names are anchored",
	  "ab=1",
	  { { .action = RELABEL_LABELMAP, .regex = "a", .replacement = "x" } },
	  "ab=1" },
	{ "labelmap over one name: the last by name wins",
	  "a1=1|a2=2|a3=3",
	  { { .action = RELABEL_LABELMAP, .regex = "a.", .replacement = "x" } },
	  "a1=1|a2=2|a3=3|x=3" },
	{ "labelmap: what changed before comes last",
	  "a1=1|a2=2",
	  { { .target = "a1", .replacement = "new" },
	    { .action = RELABEL_LABELMAP, .regex = "a.", .replacement = "x" } },
	  "a1=new|a2=2|x=new" },
	{ "labelmap sees labels as they were",
	  "a=1|b=2",
	  { { .action = RELABEL_LABELMAP, .regex = "a|b", .replacement = "b" } },
	  "a=1|b=2" },
	{ "labelmap onto what it has not seen yet",
	  "a=1|ab=2",
	  { { .action = RELABEL_LABELMAP, .regex = "(a)b?", .replacement = "${1}b" } },
	  "a=1|ab=2" },
	{ "labelmap to a new name that it would match",
	  "aa=1",
	  { { .action = RELABEL_LABELMAP, .regex = "a(a+)" } },
	  "a=1|aa=1" },
	/* labeldrop, labelkeep */
	{ "labeldrop", IN, { { .action = RELABEL_LABELDROP, .regex = "a|b" } }, "c=x-y" },
	{ "labeldrop of all is no drop",
	  IN,
	  { { .action = RELABEL_LABELDROP, .regex = ".*" } },
	  "" },
	{ "labelkeep", IN, { { .action = RELABEL_LABELKEEP, .regex = "a|b" } }, "a=1|b=two" },
	{ "labelkeep of none", IN, { { .action = RELABEL_LABELKEEP, .regex = "x" } }, "" },
	{ "labeldrop of what was added",
	  IN,
	  { { .target = "d", .replacement = "1" }, { .action = RELABEL_LABELDROP, .regex = "d" } },
	  IN },
	{ "labeldrop of what was changed",
	  IN,
	  { { .target = "a", .replacement = "9" }, { .action = RELABEL_LABELDROP, .regex = "a" } },
	  "b=two|c=x-y" },
	/* lowercase, uppercase */
	{ "lowercase",
	  "a=\xc3\x84"
	  "B1",
	  { { .action = RELABEL_LOWERCASE, .sources = "a", .target = "d" } },
	  "a=\xc3\x84"
	  "B1|d=\xc3\xa4"
	  "b1" },
	{ "uppercase",
	  "a=\xc3\xa4"
	  "b\xc3\x9f",
	  { { .action = RELABEL_UPPERCASE, .sources = "a", .target = "a" } },
	  "a=\xc3\x84"
	  "B\xc3\x9f" },
	{ "uppercase of two",
	  "a=x|b=y",
	  { { .action = RELABEL_UPPERCASE, .sources = "a,b", .target = "d" } },
	  "a=x|b=y|d=X;Y" },
	{ "lowercase of nothing removes",
	  IN,
	  { { .action = RELABEL_LOWERCASE, .sources = "x", .target = "a" } },
	  "b=two|c=x-y" },
	/* one after the other */
	{ "later rules see what earlier ones made",
	  "__meta_process_exe=/usr/bin/env",
	  { { .sources = "__meta_process_exe", .regex = "(?:.*/)?([^/]+)", .target = "exe" },
	    { .sources = "exe", .target = "service_name", .replacement = "host/$1" },
	    { .action = RELABEL_LABELDROP, .regex = "exe" } },
	  "__meta_process_exe=/usr/bin/env|service_name=host/env" },
	{ "rules behind a drop are not run",
	  IN,
	  { { .action = RELABEL_DROP, .sources = "a", .regex = "1" },
	    { .target = "d", .replacement = "1" } },
	  DROPPED },
	{ "removed and set again",
	  IN,
	  { { .target = "a", .replacement = "" }, { .target = "a", .replacement = "2" } },
	  "a=2|b=two|c=x-y" },
};

static void split_sources(char *text, const char **sources, struct relabel_config *config)
{
	char *rest = text;

	while (rest && *rest)
		sources[config->n_source_labels++] = strsep(&rest, ",");
	config->source_labels = sources;
}

static bool is_rule(const struct rule *rule)
{
	return rule->action || rule->sources || rule->regex || rule->target;
}

static struct relabel_rules *make_rules(const struct rule *rules, size_t n_rules)
{
	struct relabel_config configs[RULES_MAX] = { 0 };
	const char *sources[RULES_MAX][SOURCES_MAX];
	char *texts[RULES_MAX] = { NULL };
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	struct relabel_rules *made = NULL;
	size_t n = 0;

	for (; n < n_rules && is_rule(&rules[n]); n++) {
		const struct rule *rule = &rules[n];

		configs[n] = RELABEL_CONFIG_INIT;
		configs[n].action = rule->action;
		configs[n].modulus = rule->modulus;
		configs[n].regex = rule->regex ? rule->regex : configs[n].regex;
		configs[n].target_label = rule->target ? rule->target : configs[n].target_label;
		configs[n].replacement =
			rule->replacement ? rule->replacement : configs[n].replacement;
		configs[n].separator = rule->separator ? rule->separator : configs[n].separator;
		texts[n] = strdup(rule->sources ? rule->sources : "");
		split_sources(texts[n], sources[n], &configs[n]);
	}
	int r = relabel_rules_new(configs, n, &why, &made);
	for (size_t i = 0; i < n; i++)
		free(texts[i]);
	assert_string_equal(buf_str(&why), "");
	assert_int_equal(r, 0);
	return made;
}

/* The last 8 bytes of md5("1") (c4ca4238a0b923820dcc509a6f75849b), modulo 1000. */
static const char *expected_of(const char *text, char *out, size_t size)
{
	const char *at = strstr(text, "@hash");

	if (!at)
		return text;
	(void)snprintf(out, size, "%.*s%" PRIu64, (int)(at - text), text,
		       UINT64_C(0x0dcc509a6f75849b) % 1000);
	return out;
}

static void test_row(void **state)
{
	const struct row *row = *state;
	_cleanup_(relabel_rules_freep) struct relabel_rules *rules =
		make_rules(row->rules, RULES_MAX);
	_cleanup_(labels_unrefp) struct labels *in = make_labels(row->labels), *out = NULL;
	struct relabel_pass pass = RELABEL_PASS_INIT;
	char expected[256];
	int r = relabel_rules_apply(rules, in, &pass, &out);

	if (strcmp(row->expected, DROPPED) == 0) {
		assert_int_equal(r, RELABEL_DROPPED);
		assert_null(out);
	} else {
		assert_int_equal(r, RELABEL_KEPT);
		assert_labels(out, expected_of(row->expected, expected, sizeof(expected)));
	}
	assert_int_equal(pass.n_given_up + pass.n_too_long, 0);
}

static void test_unchanged_is_the_same(void **state)
{
	static const struct rule keep[] = { { .action = RELABEL_KEEP } };
	_cleanup_(relabel_rules_freep) struct relabel_rules *rules = make_rules(keep, 1);
	_cleanup_(labels_unrefp) struct labels *in = make_labels(IN), *out = NULL;
	struct relabel_pass pass = RELABEL_PASS_INIT;

	(void)state;
	assert_int_equal(relabel_rules_apply(rules, in, &pass, &out), RELABEL_KEPT);
	assert_ptr_equal(in, out);
}

/* A value that doubles with every rule. */
static void test_too_long(void **state)
{
	struct relabel_config configs[40];
	_cleanup_(relabel_rules_freep) struct relabel_rules *rules = NULL;
	_cleanup_(labels_unrefp) struct labels *in = make_labels("a=12345678"), *out = NULL;
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	struct relabel_pass pass = RELABEL_PASS_INIT;
	const char *sources[] = { "a" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(configs); i++) {
		configs[i] = RELABEL_CONFIG_INIT;
		configs[i].source_labels = sources;
		configs[i].n_source_labels = 1;
		configs[i].target_label = "a";
		configs[i].replacement = "$1$1";
	}
	assert_int_equal(relabel_rules_new(configs, ARRAY_SIZE(configs), &why, &rules), 0);
	assert_int_equal(relabel_rules_apply(rules, in, &pass, &out), RELABEL_KEPT);
	/* 8 bytes, 13 times doubled, are all that may be; one more would be too many for the NUL. */
	assert_in_range(strlen(labels_get(out, "a")), RELABEL_VALUE_MAX / 2, RELABEL_VALUE_MAX);
	assert_in_range(pass.n_too_long, 26, 28);
}

static void test_too_many_labels(void **state)
{
	static const struct rule map[] = {
		{ .action = RELABEL_LABELMAP, .regex = "(.*)", .replacement = "x$1" },
	};
	_cleanup_(relabel_rules_freep) struct relabel_rules *rules = make_rules(map, 1);
	_cleanup_(labels_unrefp) struct labels *in = NULL, *out = NULL;
	_cleanup_buf_ struct buf text = BUF_INIT((size_t)1 << 16);
	struct relabel_pass pass = RELABEL_PASS_INIT;

	(void)state;
	for (int i = 0; i < 300; i++)
		(void)buf_printf(&text, "%sa%d=1", i ? "|" : "", i);
	in = make_labels(buf_str(&text));
	assert_int_equal(relabel_rules_apply(rules, in, &pass, &out), -E2BIG);
	assert_null(out);
}

static void test_too_many_rules(void **state)
{
	_cleanup_free_ struct relabel_config *configs =
		calloc(RELABEL_RULES_MAX + 1, sizeof(*configs));
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	struct relabel_rules *rules = NULL;

	(void)state;
	assert_int_equal(relabel_rules_new(configs, RELABEL_RULES_MAX + 1, &why, &rules), -E2BIG);
	assert_null(rules);
}

static void test_names(void **state)
{
	static const char *const names[] = { "a", "_", "__x", "aB9_" };
	static const char *const no_names[] = {
		"", "9", "9a", "a-b", "a:b", "a b", "\xc3\xa4", "$1"
	};
	static const char *const templates[] = { "a",	  "$1",	  "${1}",  "a$1",    "$1a",
						 "${1}9", "$a$b", "$name", "${x_1}", "__$1_" };
	static const char *const no_templates[] = { "",	  "$",	 "9$1", "${}",	 "${1", "$-",
						    "a-", "$1-", "$$",	"${1-}", "{1}" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_true(label_name_is_valid(names[i]) && relabel_is_name_template(names[i]));
	for (size_t i = 0; i < ARRAY_SIZE(no_names); i++)
		assert_false(label_name_is_valid(no_names[i]));
	for (size_t i = 0; i < ARRAY_SIZE(templates); i++)
		assert_true(relabel_is_name_template(templates[i]));
	for (size_t i = 0; i < ARRAY_SIZE(no_templates); i++)
		assert_false(relabel_is_name_template(no_templates[i]));
}

static void test_actions(void **state)
{
	enum relabel_action action;

	(void)state;
	for (int i = 0; i < RELABEL_ACTION_MAX; i++) {
		assert_true(relabel_action_parse(relabel_action_text(i), &action));
		assert_int_equal(action, i);
	}
	assert_true(relabel_action_parse("LabelDrop", &action));
	assert_int_equal(action, RELABEL_LABELDROP);
	assert_false(relabel_action_parse("", &action));
	assert_false(relabel_action_parse("keep ", &action));
}

static void test_cases(void **state)
{
	static const struct {
		const char *text, *upper, *lower;
	} texts[] = {
		{ "aZ9-", "AZ9-", "az9-" },
		{ "\xc3\xa9\xc3\x89", "\xc3\x89\xc3\x89", "\xc3\xa9\xc3\xa9" },
		{ "\xce\xa9\xcf\x82", "\xce\xa9\xce\xa3", "\xcf\x89\xcf\x82" },
		{ "\xc7\x85", "\xc7\x84", "\xc7\x86" }, /* a title case */
		{ "\xf0\x90\x90\xa8", "\xf0\x90\x90\x80", "\xf0\x90\x90\xa8" },
		{ "\xff"
		  "a",
		  "\xef\xbf\xbd"
		  "A",
		  "\xef\xbf\xbd"
		  "a" },
		{ "\xe6\x97\xa5", "\xe6\x97\xa5", "\xe6\x97\xa5" },
	};
	_cleanup_buf_ struct buf out = BUF_INIT(64);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		buf_reset(&out);
		assert_int_equal(relabel_append_upper(&out, texts[i].text, strlen(texts[i].text)),
				 0);
		assert_string_equal(buf_str(&out), texts[i].upper);
		buf_reset(&out);
		assert_int_equal(relabel_append_lower(&out, texts[i].text, strlen(texts[i].text)),
				 0);
		assert_string_equal(buf_str(&out), texts[i].lower);
	}
}

#define N_TARGETS 10000

/* Printed, not judged. */
static void test_cost(void **state)
{
	static const struct rule usual[] = {
		{ .sources = "__meta_process_exe",
		  .regex = "(?:.*/)?([^/]+)",
		  .target = "service_name" },
		{ .action = RELABEL_DROP,
		  .sources = "service_name",
		  .regex = "(kworker|sshd|cron).*" },
		{ .action = RELABEL_LABELMAP, .regex = "__meta_process_(.+)" },
		{ .action = RELABEL_LABELDROP, .regex = "cwd|commandline" },
	};
	_cleanup_(relabel_rules_freep) struct relabel_rules *rules = make_rules(usual, 4);
	_cleanup_(labels_unrefp) struct labels *in = make_labels(
		"__process_pid__=4711|__container_id__=0123456789abcdef0123456789abcdef0123456789"
		"abcdef0123456789abcdef|__meta_process_exe=/usr/lib/postgresql/15/bin/postgres|"
		"__meta_process_cwd=/var/lib/postgresql/15/main|__meta_process_commandline="
		"/usr/lib/postgresql/15/bin/postgres -D /var/lib/postgresql/15/main|"
		"__meta_process_uid=110");
	struct relabel_pass pass = RELABEL_PASS_INIT;
	struct timespec from, to;

	(void)state;
	(void)clock_gettime(CLOCK_MONOTONIC, &from);
	for (int i = 0; i < N_TARGETS; i++) {
		_cleanup_(labels_unrefp) struct labels *out = NULL;

		assert_int_equal(relabel_rules_apply(rules, in, &pass, &out), RELABEL_KEPT);
		assert_string_equal(labels_get(out, "service_name"), "postgres");
	}
	(void)clock_gettime(CLOCK_MONOTONIC, &to);
	assert_int_equal(pass.n_steps, RELABEL_PASS_STEPS);
	print_message("%d targets, 4 rules: %.1f ms\n", N_TARGETS,
		      (double)(to.tv_sec - from.tv_sec) * 1e3 +
			      (double)(to.tv_nsec - from.tv_nsec) / 1e6);
}

static const struct unit_test tests[] = {
	TEST(test_unchanged_is_the_same),
	TEST(test_too_long),
	TEST(test_too_many_labels),
	TEST(test_too_many_rules),
	TEST(test_names),
	TEST(test_actions),
	TEST(test_cases),
	TEST(test_cost),
	TEST_ROWS(test_row, rows, name),
};

TEST_MAIN(tests)
