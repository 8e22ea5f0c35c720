/* SPDX-License-Identifier: Apache-2.0 */
/* The files in the program are those of the folder; a standalone file holds what its marks name, and no text ends it early. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "agent/page/page.h"
#include "agent/util/file.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"
#include "tests/support/unit.h"

/* From the top of the repository, where the tests run. */
#define FOLDER "agent/page/"

static bool is_part_of_the_page(const char *name)
{
	static const char *const ends[] = { ".html", ".css", ".js", ".svg" };

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (str_ends_with(str_from(name), str_from(ends[i])))
			return true;
	return false;
}

static void test_every_file_is_there(void **state)
{
	DIR *folder = opendir(FOLDER);
	size_t n_files, n = 0;

	(void)state;
	if (!folder) {
		print_message("skip: not at the top of the repository\n");
		skip();
	}
	for (const struct dirent *e = readdir(folder); e; e = readdir(folder)) {
		if (!is_part_of_the_page(e->d_name))
			continue;
		if (!page_find(e->d_name))
			fail_msg("%s is not in files.c", e->d_name);
		n++;
	}
	(void)closedir(folder);
	(void)page_files(&n_files);
	assert_int_equal(n, n_files);
}

static void test_files_are_unchanged(void **state)
{
	size_t n;
	const struct page_file *files = page_files(&n);

	(void)state;
	assert_true(n > 0);
	for (size_t i = 0; i < n; i++) {
		_cleanup_buf_ struct buf text = BUF_INIT((size_t)8 << 20);
		char path[256];

		(void)snprintf(path, sizeof(path), FOLDER "%s", files[i].name);
		assert_int_equal(file_read(AT_FDCWD, path, &text), 0);
		assert_int_equal(files[i].n, text.len);
		assert_memory_equal(files[i].bytes, buf_str(&text), text.len);
	}
}

static void test_find(void **state)
{
	(void)state;
	assert_string_equal(page_find("index.html")->content_type, "text/html; charset=utf-8");
	assert_string_equal(page_find("tree.js")->content_type, "text/javascript; charset=utf-8");
	assert_string_equal(page_find("page.css")->content_type, "text/css; charset=utf-8");
	assert_null(page_find(""));
	assert_null(page_find("page.h"));
	assert_null(page_find("../page/index.html"));
}

static const struct page_profile profile = {
	.title = "a <b> \"c\" \\ \n \xff \xc3\xa9",
	.unit = "samples",
	.flamebearer_json = "{\"names\":[\"total\",\"x</script><!--y\"],\"levels\":[[0,1,0,0]]}",
};

static size_t count(const char *text, const char *word)
{
	size_t n = 0;

	for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
		n++;
	return n;
}

static void test_standalone(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT((size_t)8 << 20);
	const char *const scripts[] = { "format.js", "tree.js", "flame.js", "standalone.js" };

	(void)state;
	assert_int_equal(page_standalone(&profile, &out), 0);
	assert_int_equal(count(buf_str(&out), "\n<!-- xagent:"), 0);
	assert_int_equal(count(buf_str(&out),
			       "<script type=\"application/json\" id=\"xagent-profile\">"
			       "{\"title\":\"a \\u003cb> \\\"c\\\" \\\\ \\u000a "
			       "\xef\xbf\xbd \xc3\xa9\",\"unit\":\"samples\",\"flamebearer\":{"
			       "\"names\":[\"total\",\"x\\u003c/script>\\u003c!--y\"],"
			       "\"levels\":[[0,1,0,0]]}}</script>\n"),
			 1);
	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++) {
		const struct page_file *file = page_find(scripts[i]);

		assert_non_null(memmem(buf_str(&out), out.len, file->bytes, file->n));
	}
	assert_int_equal(count(buf_str(&out), "\n<script>\n"),
			 count(buf_str(&out), "</script>\n") - 1);
	/* Nobody is asked for anything. */
	assert_int_equal(count(buf_str(&out), "\n<script src="), 0);
	assert_int_equal(count(buf_str(&out), "\n<link rel=\"stylesheet"), 0);
}

/* The files are put between tags, as they are. */
static void test_no_script_ends_itself(void **state)
{
	size_t n;
	const struct page_file *files = page_files(&n);

	(void)state;
	for (size_t i = 0; i < n; i++)
		if (strstr(files[i].content_type, "javascript")) {
			assert_null(memmem(files[i].bytes, files[i].n, "</script", 8));
			assert_null(memmem(files[i].bytes, files[i].n, "<!--", 4));
		}
}

static void test_ceiling(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(4096);

	(void)state;
	assert_int_equal(page_standalone(&profile, &out), -ENOBUFS);
}

static const struct unit_test tests[] = {
	TEST(test_every_file_is_there),
	TEST(test_files_are_unchanged),
	TEST(test_find),
	TEST(test_standalone),
	TEST(test_no_script_ends_itself),
	TEST(test_ceiling),
};

TEST_MAIN(tests)
