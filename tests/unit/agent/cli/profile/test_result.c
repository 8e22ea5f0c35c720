/* SPDX-License-Identifier: Apache-2.0 */
/* Builds in files: one as a rule, more when memory for stacks ran out. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/cli/profile/result.h"
#include "tests/support/unit.h"
#include "tests/support/xml_check.h"
#include "tests/unit/agent/draw/graph.h"
#include "tests/unit/agent/cli/place.h"

static int write_text(struct result *r, const char *text, struct buf *why)
{
	struct built part = { .bytes = (uint8_t *)text, .n_bytes = strlen(text) };
	const struct build build = { .first = &part };

	return result_write(r, &build, why);
}

static void test_text_goes_behind_text(void **state)
{
	const struct place *p = *state;
	struct result r = { .file = p->file, .format = PROFILE_TABLE };
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	assert_int_equal(write_text(&r, "a;b 1\n", &why), 0);
	assert_int_equal(write_text(&r, "a;c 2\n", &why), 0);
	assert_content(p->file, "a;b 1\na;c 2\n");
	assert_int_equal(r.n_files, 1);
}

/* Whatever the number of profiles that the stacks took, each has one line; nothing is written before the end. */
static void test_folded_stacks_are_one_list(void **state)
{
	const struct place *p = *state;
	struct result r = { 0 };
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	assert_int_equal(result_init(&r, p->file, PROFILE_FOLDED), 0);
	assert_int_equal(write_text(&r, "a;b 1\na;d 4\n", &why), 0);
	assert_int_equal(write_text(&r, "a;b 2\na;c 3\n", &why), 0);
	assert_int_equal(access(p->file, F_OK), -1);
	assert_int_equal(result_end(&r, NULL, &why), 0);
	assert_content(p->file, "a;b 3\na;c 3\na;d 4\n");
	assert_int_equal(r.n_files, 1);
	result_fini(&r);
}

/* Of a run without samples. */
static void test_no_folded_stacks(void **state)
{
	const struct place *p = *state;
	struct result r = { 0 };
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	assert_int_equal(result_init(&r, p->file, PROFILE_FOLDED), 0);
	assert_int_equal(write_text(&r, "", &why), 0);
	assert_int_equal(result_end(&r, NULL, &why), 0);
	assert_content(p->file, "");
	assert_int_equal(r.n_files, 1);
	result_fini(&r);
}

static void test_pprof_goes_beside_pprof(void **state)
{
	const struct place *p = *state;
	struct result r = { .file = p->file, .format = PROFILE_PPROF };
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	assert_int_equal(write_text(&r, "one", &why), 0);
	assert_int_equal(write_text(&r, "two", &why), 0);
	assert_content(p->file, "one");
	assert_content(p->second, "two");
	assert_int_equal(r.n_files, 2);
}

/* Parts of one build are treated the same. */
static void test_parts_of_one_build(void **state)
{
	const struct place *p = *state;
	struct result r = { .file = p->file, .format = PROFILE_PPROF };
	struct built second = { .bytes = (uint8_t *)"two", .n_bytes = 3 };
	struct built first = { .bytes = (uint8_t *)"one", .n_bytes = 3, .next = &second };
	const struct build build = { .first = &first };
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	assert_int_equal(result_write(&r, &build, &why), 0);
	assert_content(p->file, "one");
	assert_content(p->second, "two");
}

static void test_empty_build(void **state)
{
	const struct place *p = *state;
	struct result r = { .file = p->file, .format = PROFILE_PPROF };
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	assert_int_equal(result_write(&r, &(struct build){ 0 }, &why), 0);
	assert_int_equal(r.n_files, 0);
	assert_int_equal(access(p->file, F_OK), -1);
}

static void test_one_pprof_on_standard_output(void **state)
{
	struct result r = { .format = PROFILE_PPROF, .n_files = 1 };
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	(void)state;
	assert_int_equal(write_text(&r, "two", &why), -EFBIG);
	assert_string_equal(buf_str(&why),
			    "too many different stacks for one pprof on standard output: use -o");
}

static void test_name_ceiling(void **state)
{
	_cleanup_buf_ struct buf why = BUF_INIT((size_t)4 * PATH_MAX);
	char name[PATH_MAX + 1];
	struct result r = { .file = name, .format = PROFILE_PPROF };

	(void)state;
	memset(name, 'x', PATH_MAX);
	name[PATH_MAX] = '\0';
	assert_int_equal(write_text(&r, "one", &why), -ENAMETOOLONG);
	assert_int_equal(r.n_files, 0);
}

static void test_failure_is_told(void **state)
{
	struct result r = { .file = "/dev/full", .format = PROFILE_TABLE };
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	(void)state;
	assert_int_equal(write_text(&r, "one", &why), -ENOSPC);
	assert_string_equal(buf_str(&why), "cannot write /dev/full: No space left on device");
	assert_int_equal(r.n_files, 0);
}

static void read_back(const char *path, struct buf *out)
{
	assert_int_equal(file_read(AT_FDCWD, path, out), 0);
}

/* Interval after interval grows into one tree; nothing is written before its end. */
static void test_graph_is_written_at_the_end(void **state)
{
	const struct place *p = *state;
	struct result r = { 0 };
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	_cleanup_buf_ struct buf content = BUF_INIT(65536);

	assert_int_equal(result_init(&r, p->file, PROFILE_SVG), 0);
	assert_ptr_equal(result_build_data(&r), &r.tree);
	for (int i = 0; i < 3; i++) {
		graph_add(r.tree.calls, 2, STACK("make", "main"));
		assert_int_equal(result_write(&r, &(struct build){ 0 }, &why), 0);
	}
	assert_int_equal(access(p->file, F_OK), -1);
	assert_int_equal(result_end(&r, &graph_facts, &why), 0);
	assert_int_equal(r.n_files, 1);
	read_back(p->file, &content);
	assert_true(xml_is_well_formed(content.data, content.len));
	assert_non_null(strstr(content.data, "<title>main: 6 samples"));
	/* What is said is what is in it. */
	assert_non_null(strstr(content.data, ">6 samples in 6.3 s"));
	result_fini(&r);
}

static void test_every_graph_without_samples_is_a_file(void **state)
{
	const struct place *p = *state;

	for (unsigned int i = PROFILE_FORMAT_UNSET + 1; i < PROFILE_FORMAT_MAX; i++) {
		_cleanup_buf_ struct buf why = BUF_INIT(4096);
		_cleanup_buf_ struct buf content = BUF_INIT((size_t)4 << 20);
		struct result r = { 0 };

		if (!profile_format_is_graph(i))
			continue;
		assert_int_equal(result_init(&r, p->file, i), 0);
		assert_int_equal(result_end(&r, &graph_facts, &why), 0);
		read_back(p->file, &content);
		assert_non_null(strstr(content.data, "0 samples in 6.3 s at 100 Hz"));
		result_fini(&r);
	}
}

static void test_end_of_what_is_no_graph(void **state)
{
	const struct place *p = *state;
	struct result r = { 0 };
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	assert_int_equal(result_init(&r, p->file, PROFILE_FOLDED), 0);
	assert_null(r.tree.calls);
	assert_int_equal(result_end(&r, &graph_facts, &why), 0);
	assert_int_equal(r.n_files, 0);
	assert_int_equal(access(p->file, F_OK), -1);
	result_fini(&r);
}

static void test_graph_that_cannot_be_written(void **state)
{
	struct result r = { 0 };
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	(void)state;
	assert_int_equal(result_init(&r, "/dev/full", PROFILE_SPEEDSCOPE), 0);
	assert_int_equal(result_end(&r, &graph_facts, &why), -ENOSPC);
	assert_string_equal(buf_str(&why), "cannot write /dev/full: No space left on device");
	assert_int_equal(r.n_files, 0);
	result_fini(&r);
}

/* Every format is built by something. */
static void test_builds(void **state)
{
	(void)state;
	for (unsigned int i = PROFILE_FORMAT_UNSET + 1; i < PROFILE_FORMAT_MAX; i++)
		assert_non_null(result_build_fn(&(struct result){ .format = i }));
}

static const struct unit_test tests[] = {
	TEST_WITH(test_text_goes_behind_text, place_setup, place_teardown),
	TEST_WITH(test_folded_stacks_are_one_list, place_setup, place_teardown),
	TEST_WITH(test_no_folded_stacks, place_setup, place_teardown),
	TEST_WITH(test_pprof_goes_beside_pprof, place_setup, place_teardown),
	TEST_WITH(test_parts_of_one_build, place_setup, place_teardown),
	TEST_WITH(test_empty_build, place_setup, place_teardown),
	TEST_WITH(test_one_pprof_on_standard_output, place_setup, place_teardown),
	TEST_WITH(test_name_ceiling, place_setup, place_teardown),
	TEST_WITH(test_failure_is_told, place_setup, place_teardown),
	TEST_WITH(test_graph_is_written_at_the_end, place_setup, place_teardown),
	TEST_WITH(test_every_graph_without_samples_is_a_file, place_setup, place_teardown),
	TEST_WITH(test_end_of_what_is_no_graph, place_setup, place_teardown),
	TEST_WITH(test_graph_that_cannot_be_written, place_setup, place_teardown),
	TEST_WITH(test_builds, place_setup, place_teardown),
};

TEST_MAIN(tests)
