/* SPDX-License-Identifier: Apache-2.0 */
/* The older YAML, read and written in this language: what comes out is parsed again. */
#include <errno.h>
#include <string.h>

#include "agent/cli/config/old_river.h"
#include "river-config/river.h"
#include "tests/support/unit.h"

#define PROGRAM(more) "ebpf:\n  programs:\n    - name: profile\n" more
#define TARGETS(more) PROGRAM("      targets:\n" more)

struct converted {
	struct buf notes, river;
	int result;
};

static void convert(const char *yaml, size_t n, struct converted *c)
{
	struct old_notes notes = { .file = "f", .out = &c->notes };
	struct old_yaml y;

	buf_init(&c->notes, (size_t)1 << 20);
	buf_init(&c->river, (size_t)1 << 20);
	c->result = old_yaml_read(yaml, n, &notes, &y);
	if (c->result < 0)
		return;
	c->result = old_river_write(&y, &notes, &c->river);
	old_yaml_fini(&y);
}

static void converted_fini(struct converted *c)
{
	buf_fini(&c->notes);
	buf_fini(&c->river);
}

static void assert_parses(const struct buf *river)
{
	const struct river_file *file;
	struct river_arena arena;
	struct river_diags diags;

	river_arena_init(&arena, (size_t)64 << 20);
	river_diags_init(&diags, &arena);
	int r = river_parse("", buf_str(river), river->len, &arena, &diags, &file);
	river_arena_fini(&arena);
	if (r != RIVER_OK)
		fail_msg("this is not the language: %s", buf_str(river));
}

static const struct row {
	const char *yaml;
	const char *river; /* a part of what comes out; NULL: refused */
	const char *notes; /* a part of what is said */
} rows[] = {
	{ PROGRAM(""),
	  "\ttargets = []\n\ttargets_only = false\n\tdefault_target = {\n"
	  "\t\t\"service_name\" = \"xm_host_\" + constants.hostname,\n\t}\n",
	  "Warning: f: there is no URL of a server" },
	{ PROGRAM("      gather_interval: 5s\n      sample_rate: 49\n"),
	  "\tcollect_interval = \"5s\"\n\tsample_rate = 49\n", "" },
	{ PROGRAM("      args:\n        gather_interval: 90\n        private: {sample_rate: "
		  "10000}\n"),
	  "\tcollect_interval = \"1m30s\"\n\tsample_rate = 10000\n", "" },
	{ PROGRAM("      pyroscope_server_addr: http://h:4040/\\x\n"),
	  "url = \"http://h:4040/\\\\x\"", "" },
	{ "net: {pyroscope: \"http://a\"}\n" PROGRAM(""), "url = \"http://a\"", "" },
	{ TARGETS("        - {name: web, match: MatchTargetComm, val: nginx}\n"),
	  "\trule {\n\t\tsource_labels = [\"__meta_process_exe\"]\n\t\tregex         = "
	  "\"(?:.*/)?nginx\"\n"
	  "\t\ttarget_label  = \"service_name\"\n\t\treplacement   = \"web\"\n\t}\n",
	  "f:5:11: target \"web\": processes are found by the name of the program's file" },
	{ TARGETS("        - {name: a$b, type: Comm, value: a.b+c}\n"),
	  "regex         = \"(?:.*/)?a\\\\.b\\\\+c\"\n\t\ttarget_label  = "
	  "\"service_name\"\n\t\treplacement   = \"a$$b\"",
	  "" },
	{ TARGETS("        - {name: a, match: Comm, val: fifteen-letters}\n"),
	  "fifteen-letters[^/]*\"", "" },
	{ TARGETS("        - {name: a, match: MatchTargetPgID, val: 4711, labels: [{l_name: team, "
		  "l_val: \"x\\ny\"}]}\n"),
	  "\"__process_pid__\" = \"4711\",\n\t\t\t\"service_name\" = "
	  "\"a_pgid_4711\",\n\t\t\t\"team\" = \"x\\x0ay\",\n",
	  "only its leader is found" },
	{ TARGETS("        - {name: a, match: MatchTargetPidNS, val: 4026532197}\n"),
	  "\t\t// \t\"__container_id__\" = \"64 hexadecimal digits\",", "cannot be expressed" },
	{ TARGETS("        - {name: a, match: Comm, val: x}\n        - {name: b, match: PgID, val: "
		  "1}\n"),
	  "targets = array.concat(discovery.relabel.by_name.output, [\n", "" },
	{ TARGETS("        - {name: rest, match: MatchTargetNone, labels: {a: b}}\n"),
	  "default_target = {\n\t\t\"service_name\" = \"rest\",\n\t\t\"a\" = \"b\",\n\t}\n", "" },
	{ TARGETS("        - {name: host, match: None, labels: {a: b}}\n"),
	  "\"service_name\" = \"xm_host_\" + constants.hostname,\n\t\t\"a\" = \"b\",\n", "" },
	{ TARGETS("        - {name: a, match: Comm, val: x}\n        - {name: b, match: Comm, val: "
		  "x}\n"),
	  "\"a\"", "target \"b\" is left out: an earlier one has its processes" },
	{ "ebpf:\n  programs:\n    - {name: malloc}\n    - {profile: {sample_rate: 7}}\n",
	  "sample_rate = 7\n", "f:3:7: program \"malloc\" is left out" },
	{ PROGRAM("      enabled: true\n      filter_scope_type: 3\n"), "targets = []",
	  "f:5:26: filter_scope_type 3 is left out" },
	{ PROGRAM("      sample_rate: ~\n      gather_interval:\n      targets: null\n"),
	  "targets = []", "" },
	{ "", NULL, "Error: f: ebpf.programs must be a list of programs" },
	{ "[a", NULL, "Error: f:2:1: did not find expected ',' or ']'" },
	{ "ebpf: 1", NULL, "Error: f:1:1: ebpf.programs must be a list of programs" },
	{ "ebpf:\n  programs: {}", NULL,
	  "Error: f:2:13: ebpf.programs must be a list of programs" },
	{ PROGRAM("      enabled: false\n"), NULL,
	  "f:3:5: there is no enabled program \"profile\"" },
	{ PROGRAM("    - name: profile\n"), NULL,
	  "f:4:7: there is more than one program \"profile\"" },
	{ PROGRAM("      sample_rate: 0\n"), NULL,
	  "f:4:20: sample_rate must be a number from 1 to 10000" },
	{ PROGRAM("      sample_rate: 10001\n"), NULL, "sample_rate must be" },
	{ PROGRAM("      sample_rate: [1]\n"), NULL, "sample_rate must be" },
	{ PROGRAM("      gather_interval: soon\n"), NULL, "f:4:24: gather_interval must be" },
	{ PROGRAM("      targets: {}\n"), NULL, "targets must be a list" },
	{ TARGETS("        - {match: Comm, val: x}\n"), NULL, "f:5:11: the target has no name" },
	{ TARGETS("        - {name: a, match: Comm}\n"), NULL, "the target has no val" },
	{ TARGETS("        - {name: a, val: x}\n"), NULL, "the target has no match" },
	{ TARGETS("        - {name: a, match: Who, val: x}\n"), NULL,
	  "f:5:28: match must be one of" },
	{ TARGETS("        - {name: a, match: [x], val: x}\n"), NULL, "match must be one of" },
	{ TARGETS("        - nothing\n"), NULL, "the target has no name" },
	{ TARGETS("        - {name: a, match: None, labels: x}\n"), NULL, "labels must be a list" },
	{ TARGETS("        - {name: a, match: None, labels: [x]}\n"), NULL,
	  "a label is a l_name and a l_val" },
	{ TARGETS("        - {name: a, match: None, labels: {a: [x]}}\n"), NULL,
	  "a label is a l_name and a l_val" },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	struct converted c;

	convert(row->yaml, strlen(row->yaml), &c);
	if (!strstr(buf_str(&c.notes), row->notes))
		fail_msg("\"%s\" is not in: %s", row->notes, buf_str(&c.notes));
	assert_int_equal(c.result, row->river ? 0 : -EINVAL);
	assert_int_equal(strstr(buf_str(&c.notes), "Error: ") != NULL, !row->river);
	if (row->river) {
		assert_parses(&c.river);
		if (!strstr(buf_str(&c.river), row->river))
			fail_msg("\"%s\" is not in: %s", row->river, buf_str(&c.river));
	}
	converted_fini(&c);
}

static void test_too_many_targets(void **state)
{
	_cleanup_buf_ struct buf yaml = BUF_INIT((size_t)1 << 20);
	struct converted c;

	(void)state;
	(void)buf_append_str(&yaml, TARGETS(""));
	for (int i = 0; i <= OLD_YAML_MAX_ITEMS; i++)
		(void)buf_append_str(&yaml, "        - {name: a, match: None}\n");
	convert(buf_str(&yaml), yaml.len, &c);
	assert_non_null(strstr(buf_str(&c.notes), "there are more than 1000 targets"));
	assert_int_equal(c.result, -EINVAL);
	converted_fini(&c);
}

/* Each level of aliases would be walked four times as often as the one above it. */
static void test_aliases_do_not_multiply(void **state)
{
	_cleanup_buf_ struct buf yaml = BUF_INIT((size_t)1 << 20);
	struct converted c;

	(void)state;
	(void)buf_append_str(&yaml, "ebpf:\n  programs:\n    - {name: profile");
	for (int i = 0; i < 100; i++)
		(void)buf_printf(&yaml, ", args: &a%d {sample_rate: 5", i);
	for (int i = 99; i >= 0; i--)
		(void)buf_printf(&yaml, "}, private: *a%d, profile: *a%d, ebpf_prog: *a%d", i, i,
				 i);
	(void)buf_append_str(&yaml, "}\n");
	convert(buf_str(&yaml), yaml.len, &c);
	assert_int_equal(c.result, 0);
	assert_non_null(strstr(buf_str(&c.river), "sample_rate = 5\n"));
	converted_fini(&c);
}

static const struct unit_test tests[] = {
	TEST(test_too_many_targets),
	TEST(test_aliases_do_not_multiply),
	TEST_ROWS(test_row, rows, yaml),
};

TEST_MAIN(tests)
