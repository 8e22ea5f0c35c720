/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a run: one for each event where the format holds one event, else one. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/cli/profile/results.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/cli/place.h"
#include "tests/unit/agent/draw/graph.h"

struct name_row {
	enum profile_format format;
	const char *path, *expected;
};

static const struct name_row name_rows[] = {
	{ PROFILE_HTML, "app.html", "app.x.html" },
	{ PROFILE_HTML, "a.b/app.htm", "a.b/app.x.htm" },
	{ PROFILE_PPROF, "/tmp/app.pb.gz", "/tmp/app.x.pb.gz" },
	{ PROFILE_PPROF, "app", "app.x" },
	{ PROFILE_PPROF, "a.b/app", "a.b/app.x" },
	{ PROFILE_FOLDED, "app.folded", "app.x.folded" },
	{ PROFILE_FOLDED, ".hidden", ".hidden.x" },
	{ PROFILE_FOLDED, "a.html", "a.x.html" },
	{ PROFILE_SVG, ".svg", ".x.svg" },
};

static void test_name(void **state)
{
	const struct name_row *row = *state;
	_cleanup_buf_ struct buf out = BUF_INIT(4096);

	profile_format_file_of(row->format, row->path, "x", &out);
	assert_string_equal(buf_str(&out), row->expected);
}

struct context {
	struct place *place;
	struct profile_args args;
	struct results results;
	char cpu[128], waits[128];
};

static void context_open(struct context *c, enum profile_format format, const char *events)
{
	c->args.format = format;
	assert_int_equal(event_list_parse(events, &c->args.events), 0);
	assert_int_equal(results_init(&c->results, &c->args), 0);
}

static int setup(void **state)
{
	struct context *c = calloc(1, sizeof(*c));

	if (!c || place_setup((void **)&c->place) < 0)
		return -1;
	(void)snprintf(c->cpu, sizeof(c->cpu), "%s.cpu", c->place->file);
	(void)snprintf(c->waits, sizeof(c->waits), "%s.off_cpu", c->place->file);
	c->args.output = c->place->file;
	*state = c;
	return 0;
}

static int teardown(void **state)
{
	struct context *c = *state;

	results_fini(&c->results);
	event_list_fini(&c->args.events);
	(void)unlink(c->cpu);
	(void)unlink(c->waits);
	int r = place_teardown((void **)&c->place);
	free(c);
	return r;
}

static struct built part(enum event event, uint16_t source, const char *text)
{
	return (struct built){ .event = event,
			       .source = source,
			       .bytes = (uint8_t *)text,
			       .n_bytes = strlen(text),
			       .n_samples = 1 };
}

/* What a build has of two events. */
static int write_two(struct context *c, struct buf *why)
{
	struct built waits = part(EVENT_OFF_CPU, EVENT_SOURCE_OFF_CPU, "waits 1\n");
	struct built cpu = part(EVENT_CPU, EVENT_SOURCE_TICKS, "cpu 1\n");

	cpu.next = &waits;
	return results_write(&c->results, &(struct build){ .first = &cpu }, why);
}

static void test_one_event_is_one_file(void **state)
{
	struct context *c = *state;
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	struct built cpu = part(EVENT_CPU, EVENT_SOURCE_TICKS, "cpu 1\n");

	context_open(c, PROFILE_FOLDED, "cpu");
	assert_int_equal(results_check(&c->results, &why), 0);
	assert_int_equal(results_write(&c->results, &(struct build){ .first = &cpu }, &why), 0);
	assert_int_equal(results_end(&c->results, &graph_facts, &why), 0);
	assert_content(c->place->file, "cpu 1\n");
	assert_int_equal(results_n_files(&c->results), 1);
}

static void test_a_file_for_each_event(void **state)
{
	struct context *c = *state;
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	context_open(c, PROFILE_FOLDED, "off_cpu,cpu,locks");
	assert_int_equal(results_check(&c->results, &why), 0);
	assert_int_equal(write_two(c, &why), 0);
	assert_int_equal(write_two(c, &why), 0);
	assert_int_equal(results_end(&c->results, &graph_facts, &why), 0);
	assert_content(c->cpu, "cpu 2\n");
	assert_content(c->waits, "waits 2\n");
	assert_int_equal(results_n_files(&c->results), 2);
	assert_int_equal(access(c->place->file, F_OK), -1);
}

/* In the order that was asked for; one without samples and one that the kernel has refused have a heading, too. */
static void test_tables(void **state)
{
	struct context *c = *state;
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	context_open(c, PROFILE_TABLE, "off_cpu,cpu,locks,tcp");
	results_miss(&c->results, 3);
	assert_int_equal(write_two(c, &why), 0);
	assert_content(c->place->file, "Off-CPU time: 1 sample\nwaits 1\n\n"
				       "CPU time: 1 sample\ncpu 1\n\n"
				       "Waits for locks: 0 samples\n\n"
				       "TCP connections: not to be had on this kernel\n");
	assert_int_equal(results_n_files(&c->results), 1);
}

/* Graphs are written at the end: each of its own tree. */
static void test_graphs(void **state)
{
	struct context *c = *state;
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	_cleanup_buf_ struct buf svg = BUF_INIT((size_t)1 << 20);

	context_open(c, PROFILE_SVG, "cpu,off_cpu,locks");
	results_miss(&c->results, 2);
	graph_add(c->results.parts[0].result.tree.calls, 2, STACK("make", "main"));
	graph_add(c->results.parts[1].result.tree.calls, 7, STACK("make", "sleep"));
	assert_int_equal(results_end(&c->results, &graph_facts, &why), 0);
	assert_int_equal(results_n_files(&c->results), 2);
	assert_int_equal(file_read(AT_FDCWD, c->waits, &svg), 0);
	assert_non_null(strstr(svg.data, "Off-CPU time of make"));
	assert_non_null(strstr(svg.data, ">7 nanoseconds in 6.3 s"));
	assert_null(strstr(svg.data, "main"));
	buf_reset(&svg);
	assert_int_equal(file_read(AT_FDCWD, c->cpu, &svg), 0);
	assert_non_null(strstr(svg.data, "CPU time of make"));
}

static void test_speedscope_is_one_file(void **state)
{
	struct context *c = *state;
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	_cleanup_buf_ struct buf json = BUF_INIT((size_t)1 << 20);

	context_open(c, PROFILE_SPEEDSCOPE, "cpu,off_cpu");
	graph_add(c->results.parts[1].result.tree.calls, 7, STACK("make", "sleep"));
	assert_int_equal(results_end(&c->results, &graph_facts, &why), 0);
	assert_int_equal(results_n_files(&c->results), 1);
	assert_int_equal(file_read(AT_FDCWD, c->place->file, &json), 0);
	assert_non_null(strstr(json.data, "CPU time of make: 0 samples"));
	assert_non_null(strstr(json.data, "Off-CPU time of make: 7 nanoseconds"));
}

/* A device is no place for several; a table is one. */
static void test_device(void **state)
{
	static const struct {
		enum profile_format format;
		const char *events;
		int expected;
	} rows[] = {
		{ PROFILE_FOLDED, "cpu,locks", -EINVAL },
		{ PROFILE_HTML, "cpu,locks", -EINVAL },
		{ PROFILE_TABLE, "cpu,locks", 0 },
		{ PROFILE_OTLP, "cpu,locks", 0 },
		{ PROFILE_FOLDED, "cpu", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_buf_ struct buf why = BUF_INIT(4096);
		struct profile_args args = { .output = "/dev/null", .format = rows[i].format };
		struct results results = { 0 };

		assert_int_equal(event_list_parse(rows[i].events, &args.events), 0);
		assert_int_equal(results_init(&results, &args), 0);
		assert_int_equal(results_check(&results, &why), rows[i].expected);
		assert_int_equal(why.len > 0, rows[i].expected < 0);
		results_fini(&results);
		event_list_fini(&args.events);
	}
	(void)state;
}

static void test_no_such_directory(void **state)
{
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	struct context *c = *state;

	c->args.output = "/nonexistent/a.html";
	context_open(c, PROFILE_HTML, "cpu,locks");
	assert_int_equal(results_check(&c->results, &why), -ENOENT);
	assert_non_null(strstr(buf_str(&why), "/nonexistent"));
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_name, name_rows, path),
	TEST_WITH(test_one_event_is_one_file, setup, teardown),
	TEST_WITH(test_a_file_for_each_event, setup, teardown),
	TEST_WITH(test_tables, setup, teardown),
	TEST_WITH(test_graphs, setup, teardown),
	TEST_WITH(test_speedscope_is_one_file, setup, teardown),
	TEST_WITH(test_no_such_directory, setup, teardown),
	TEST(test_device),
};

TEST_MAIN(tests)
