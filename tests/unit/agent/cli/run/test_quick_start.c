/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration that is not in a file, and what is said about it. */
#include <errno.h>
#include <string.h>

#include "agent/cli/run/quick_start.h"
#include "agent/util/macro.h"
#include "river-config/river.h"
#include "tests/support/unit.h"

static void assert_contains(const struct buf *text, const char *part)
{
	if (!strstr(buf_str(text), part))
		fail_msg("no \"%s\" in:\n%s", part, buf_str(text));
}

static void test_text(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(65536);

	(void)state;
	assert_int_equal(quick_start_text(&(struct quick_start_servers){ 0 }, &out), 0);
	assert_contains(&out, "forward_to       = [pyroscope.store.host.receiver]\n");
	assert_contains(&out, "pyroscope.store \"host\" { }\n");
	assert_contains(&out, "collect_interval = \"5s\"\n");
	assert_null(strstr(buf_str(&out), "pyroscope.write"));
}

static void test_push(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(65536);

	(void)state;
	assert_int_equal(
		quick_start_text(&(struct quick_start_servers){ .push_url = "http://h:4040/x?a=b" },
				 &out),
		0);
	assert_contains(&out, "[pyroscope.store.host.receiver, pyroscope.write.server.receiver]");
	assert_contains(&out, "\t\turl = \"http://h:4040/x?a=b\"\n");
	assert_null(strstr(buf_str(&out), "basic_auth"));
}

static void test_push_with_password(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(65536);

	(void)state;
	assert_int_equal(quick_start_text(
				 &(struct quick_start_servers){
					 .push_url = "https://us%40er:p%22%5Cw:%@h/x" },
				 &out),
			 0);
	assert_contains(&out, "\t\turl = \"https://h/x\"\n");
	assert_contains(&out, "\t\tbasic_auth {\n\t\t\tusername = \"us@er\"\n");
	assert_contains(&out, "\t\t\tpassword = \"p\\\"\\\\w:%\"\n");
}

static void test_otlp(void **state)
{
	const struct quick_start_servers otlp = { .otlp_url = "https://u:p@h:4318/x" };
	const struct quick_start_servers both = { "http://h:4040", "http://h:4318" };
	_cleanup_buf_ struct buf out = BUF_INIT(65536);

	(void)state;
	assert_int_equal(quick_start_text(&otlp, &out), 0);
	assert_contains(&out, "[pyroscope.store.host.receiver, "
			      "otelcol.exporter.otlphttp.server.input]");
	assert_contains(&out, "otelcol.exporter.otlphttp \"server\" {\n\tclient {\n"
			      "\t\tendpoint = \"https://h:4318/x\"\n");
	assert_contains(&out, "\t\tbasic_auth {\n\t\t\tusername = \"u\"\n");
	assert_null(strstr(buf_str(&out), "pyroscope.write"));
	buf_reset(&out);
	assert_int_equal(quick_start_text(&both, &out), 0);
	assert_contains(&out, "pyroscope.write.server.receiver, "
			      "otelcol.exporter.otlphttp.server.input]");
}

static void test_ceiling(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(64);

	(void)state;
	assert_int_equal(quick_start_text(&(struct quick_start_servers){ 0 }, &out), -ENOBUFS);
}

static const struct url_row {
	const char *url;
	const char *problem; /* NULL: none */
} urls[] = {
	{ "http://127.0.0.1:4040", NULL },
	{ "https://user:secret@profiles.example.com/p", NULL },
	{ "https://user@h", NULL },
	{ "", "is empty" },
	{ "127.0.0.1:4040", "http://" },
	{ "ftp://h", "http://" },
	{ "http://", "host" },
	{ "http://u:p@", "host" },
	{ "http://u:p@x@h", "%XX" },
	{ "http://u:p\"@h", "%XX" },
	{ "http://u:p w@h", "%XX" },
};

static void test_url(void **state)
{
	const struct url_row *row = *state;
	const char *problem = quick_start_url_problem(row->url);

	if (!row->problem) {
		assert_null(problem);
		return;
	}
	assert_non_null(problem);
	if (!strstr(problem, row->problem))
		fail_msg("%s", problem);
}

static void test_long_url(void **state)
{
	char url[8192] = "http://h/";

	(void)state;
	memset(url + strlen(url), 'x', sizeof(url) - strlen(url) - 1);
	url[sizeof(url) - 1] = '\0';
	assert_non_null(quick_start_url_problem(url));
}

static void test_address(void **state)
{
	static const struct {
		const char *listen, *prefix, *expected;
	} rows[] = {
		{ "127.0.0.1:12345", "", "http://127.0.0.1:7/" },
		{ "0.0.0.0:0", "", "http://127.0.0.1:7/" },
		{ ":12345", "/ui", "http://127.0.0.1:7/ui/" },
		{ "[::]:1", "", "http://127.0.0.1:7/" },
		{ "[::1]:0", "/a/b", "http://[::1]:7/a/b/" },
		{ "localhost:12345", "", "http://localhost:7/" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_buf_ struct buf out = BUF_INIT(4096);

		quick_start_put_address(rows[i].listen, 7, rows[i].prefix, &out);
		assert_string_equal(buf_str(&out), rows[i].expected);
	}
}

static void test_words(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(4096);

	(void)state;
	quick_start_put_begin(
		"http://a:1/",
		&(struct quick_start_servers){ .push_url = "https://user:secret@h/x" }, &out);
	assert_contains(&out, "xagent: flame graphs of this host: http://a:1/\n");
	assert_contains(&out, "profiles also go to https://h/x;");
	assert_null(strstr(buf_str(&out), "secret"));
	assert_contains(&out, "password_file in a configuration never shows it\n");
	buf_reset(&out);
	quick_start_put_begin("http://a:1/",
			      &(struct quick_start_servers){ .push_url = "https://h/x",
							     .otlp_url = "https://me:pw@o" },
			      &out);
	assert_contains(&out, "profiles also go to https://h/x; profiles also go to https://o;");
	assert_contains(&out, "the password in --otlp.endpoint is hidden");
	assert_null(strstr(buf_str(&out), "--push.url"));
	assert_null(strstr(buf_str(&out), "pw"));
	buf_reset(&out);
	quick_start_put_begin("http://a:1/", &(struct quick_start_servers){ 0 }, &out);
	assert_null(strstr(buf_str(&out), "password"));
	assert_null(strstr(buf_str(&out), "also"));
}

static const struct unit_test tests[] = {
	TEST(test_text),    TEST(test_push),	TEST(test_push_with_password),
	TEST(test_otlp),    TEST(test_ceiling), TEST(test_long_url),
	TEST(test_address), TEST(test_words),	TEST_ROWS(test_url, urls, url),
};

TEST_MAIN(tests)
