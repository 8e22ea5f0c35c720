/* SPDX-License-Identifier: Apache-2.0 */
/* What is written to standard error. The sink is one a process, so each case runs in a child of its own. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/util/buf.h"
#include "agent/util/clock.h"
#include "agent/util/file.h"
#include "agent/util/log.h"
#include "agent/util/str.h"
#include "tests/support/unit.h"

#define OUTPUT_MAX ((size_t)2 << 20)

typedef void (*case_fn)(void);

/* Everything that the child writes to its standard error. */
static void capture(case_fn fn, struct buf *out)
{
	int fds[2];
	int status = -1;

	assert_int_equal(pipe(fds), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)dup2(fds[1], STDERR_FILENO);
		(void)close(fds[0]);
		(void)close(fds[1]);
		fn();
		_exit(0);
	}
	(void)close(fds[1]);
	assert_int_equal(file_read_fd(fds[0], out), 0);
	(void)close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status != 0)
		fail_msg("the child ended with %d:\n%s", status, buf_str(out));
}

/* Cuts the time of each line off: `before` + 2026-01-02T03:04:05.678Z + `behind`. */
static void without_times(const struct buf *out, const char *before, const char *behind,
			  struct buf *ret_text)
{
	static const char shape[] = "0000-00-00T00:00:00.000Z";
	struct str line;

	for (struct str rest = { buf_str(out), out->len };
	     str_split(&rest, '\n', &line) && rest.p;) {
		assert_true(str_starts_with(line, str_from(before)));
		line.p += strlen(before);
		line.n -= strlen(before);
		assert_true(line.n > sizeof(shape));
		for (size_t i = 0; i < sizeof(shape) - 1; i++)
			assert_true(shape[i] == '0' ? isdigit((unsigned char)line.p[i])
						    : line.p[i] == shape[i]);
		line.p += sizeof(shape) - 1;
		line.n -= sizeof(shape) - 1;
		assert_true(str_starts_with(line, str_from(behind)));
		assert_int_equal(
			buf_append(ret_text, line.p + strlen(behind), line.n - strlen(behind) + 1),
			0);
	}
}

static void configure_logfmt(void)
{
	log_configure(LOG_LEVEL_DEBUG, LOG_FORMAT_LOGFMT);
}

static void configure_json(void)
{
	log_configure(LOG_LEVEL_DEBUG, LOG_FORMAT_JSON);
}

static void write_plain(void)
{
	log_info("profile pushed", LOG_STR("endpoint", "http://h"), LOG_UINT("bytes", UINT64_MAX));
}

static void write_bare(void)
{
	log_warn("x");
}

static void write_numbers(void)
{
	log_error("n", LOG_INT("i", INT64_MIN), LOG_UINT("u", 0), LOG_FLOAT("f", 0.5),
		  LOG_FLOAT("g", 1e21));
}

static void write_strings(void)
{
	log_debug("s", LOG_STR("empty", ""), LOG_STR("null", NULL), LOG_STR("blank", "a b"),
		  LOG_STR("eq", "a=b"), LOG_STR("quote", "a\"b"), LOG_STR("backslash", "a\\b"),
		  LOG_STR("utf8", "\xc3\xa4"));
}

static void write_controls(void)
{
	log_debug("c", LOG_STR("line", "a\nb"), LOG_STR("tab", "\t"), LOG_STR("esc", "\033[31m"),
		  LOG_STR("del", "\177"));
}

static void write_errnos(void)
{
	log_error("e", LOG_ERR(-ENOENT));
	log_error("e", LOG_ERR(EACCES));
}

struct line_row {
	const char *name;
	case_fn write;
	const char *logfmt;
	const char *json;
};

static const struct line_row line_rows[] = {
	{ "line_plain", write_plain,
	  "level=info msg=\"profile pushed\" endpoint=http://h bytes=18446744073709551615\n",
	  "\"level\":\"info\",\"msg\":\"profile "
	  "pushed\",\"endpoint\":\"http://h\",\"bytes\":18446744073709551615}\n" },
	{ "line_bare", write_bare, "level=warn msg=x\n", "\"level\":\"warn\",\"msg\":\"x\"}\n" },
	{ "line_numbers", write_numbers,
	  "level=error msg=n i=-9223372036854775808 u=0 f=0.5 g=1e+21\n",
	  "\"level\":\"error\",\"msg\":\"n\",\"i\":-9223372036854775808,\"u\":0,\"f\":0.5,\"g\":1e+"
	  "21}\n" },
	{ "line_strings", write_strings,
	  "level=debug msg=s empty=\"\" null=\"\" blank=\"a b\" eq=\"a=b\" quote=\"a\\\"b\" "
	  "backslash=a\\b utf8=\xc3\xa4\n",
	  "\"level\":\"debug\",\"msg\":\"s\",\"empty\":\"\",\"null\":\"\",\"blank\":\"a "
	  "b\",\"eq\":\"a=b\","
	  "\"quote\":\"a\\\"b\",\"backslash\":\"a\\\\b\",\"utf8\":\"\xc3\xa4\"}\n" },
	{ "line_controls", write_controls,
	  "level=debug msg=c line=\"a\\nb\" tab=\"\\t\" esc=\"\\u001b[31m\" del=\"\\u007f\"\n",
	  "\"level\":\"debug\",\"msg\":\"c\",\"line\":\"a\\nb\",\"tab\":\"\\t\",\"esc\":\"\\u001b["
	  "31m\",\"del\":\"\\u007f\"}\n" },
	{ "line_errnos", write_errnos,
	  "level=error msg=e err=\"No such file or directory\"\nlevel=error msg=e err=\"Permission "
	  "denied\"\n",
	  "\"level\":\"error\",\"msg\":\"e\",\"err\":\"No such file or directory\"}\n"
	  "\"level\":\"error\",\"msg\":\"e\",\"err\":\"Permission denied\"}\n" },
};

static const struct line_row *the_row;

static void row_in_logfmt(void)
{
	configure_logfmt();
	the_row->write();
}

static void row_in_json(void)
{
	configure_json();
	the_row->write();
}

/* Held until the format is known. */
static void row_held_json(void)
{
	the_row->write();
	configure_json();
}

static void check_text(case_fn fn, const char *before, const char *behind, const char *expected)
{
	_cleanup_buf_ struct buf out = BUF_INIT(OUTPUT_MAX);
	_cleanup_buf_ struct buf text = BUF_INIT(OUTPUT_MAX);

	capture(fn, &out);
	without_times(&out, before, behind, &text);
	assert_string_equal(buf_str(&text), expected);
}

#define CHECK_LOGFMT(fn, expected) check_text((fn), "ts=", " ", (expected))
#define CHECK_JSON(fn, expected) check_text((fn), "{\"ts\":\"", "\",", (expected))

static void test_line(void **state)
{
	the_row = *state;
	CHECK_LOGFMT(row_in_logfmt, the_row->logfmt);
	CHECK_JSON(row_in_json, the_row->json);
	CHECK_JSON(row_held_json, the_row->json);
}

static void write_all_levels(void)
{
	log_error("one");
	log_warn("two");
	log_info("three");
	log_info_always("four");
	log_debug("five");
}

static void at_warn(void)
{
	log_configure(LOG_LEVEL_WARN, LOG_FORMAT_LOGFMT);
	write_all_levels();
}

static void held_then_warn(void)
{
	write_all_levels();
	log_configure(LOG_LEVEL_WARN, LOG_FORMAT_LOGFMT);
}

static void test_level(void **state)
{
	(void)state;
	CHECK_LOGFMT(at_warn, "level=error msg=one\nlevel=warn msg=two\n");
	CHECK_LOGFMT(held_then_warn, "level=error msg=one\nlevel=warn msg=two\n");
}

static void held_and_ended(void)
{
	write_all_levels();
	log_flush_held();
	log_flush_held();
}

static void held_for_ever(void)
{
	write_all_levels();
}

static void configured_and_flushed(void)
{
	log_warn("held");
	configure_logfmt();
	log_warn("written");
	log_flush_held();
	configure_logfmt();
}

static void test_held(void **state)
{
	(void)state;
	/* The process ends before it was configured: what is usual is said. */
	CHECK_LOGFMT(held_and_ended, "level=error msg=one\nlevel=warn msg=two\nlevel=info "
				     "msg=three\nlevel=info msg=four\n");
	CHECK_LOGFMT(held_for_ever, "");
	CHECK_LOGFMT(configured_and_flushed, "level=warn msg=held\nlevel=warn msg=written\n");
}

static void reloaded(void)
{
	log_configure(LOG_LEVEL_ERROR, LOG_FORMAT_LOGFMT);
	log_info("one");
	log_configure(LOG_LEVEL_INFO, LOG_FORMAT_LOGFMT);
	log_info("two");
}

static void test_reload(void **state)
{
	(void)state;
	CHECK_LOGFMT(reloaded, "level=info msg=two\n");
}

static void check_enabled(void)
{
	bool before = log_enabled(LOG_LEVEL_DEBUG);

	log_configure(LOG_LEVEL_WARN, LOG_FORMAT_LOGFMT);
	if (before && log_enabled(LOG_LEVEL_WARN) && !log_enabled(LOG_LEVEL_INFO))
		log_error("right");
}

static void test_enabled(void **state)
{
	enum log_level level = LOG_LEVEL_MAX;

	(void)state;
	CHECK_LOGFMT(check_enabled, "level=error msg=right\n");
	assert_true(log_level_parse("debug", &level));
	assert_int_equal(level, LOG_LEVEL_DEBUG);
	assert_true(log_level_parse("error", &level));
	assert_int_equal(level, LOG_LEVEL_ERROR);
	assert_false(log_level_parse("Error", &level));
	assert_false(log_level_parse("", &level));
	assert_int_equal(level, LOG_LEVEL_ERROR);
}

static const char *long_text(size_t n)
{
	static char text[64 * 1024];

	memset(text, 'x', n);
	text[n] = '\0';
	return text;
}

static void hold_too_much(void)
{
	/* A large line that finds no room, then small ones that would. */
	for (int i = 0; i < 30; i++)
		log_debug("large", LOG_STR("text", long_text(15000)));
	for (int i = 0; i < 30; i++)
		log_debug("small");
	configure_logfmt();
	log_debug("end");
}

/* What is held has a ceiling; each line is there as a whole or not at all. */
static void test_held_ceiling(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(OUTPUT_MAX);
	_cleanup_buf_ struct buf text = BUF_INIT(OUTPUT_MAX);
	size_t n_large = 0, n_small = 0;
	struct str line;

	(void)state;
	capture(hold_too_much, &out);
	without_times(&out, "ts=", " ", &text);
	for (struct str rest = { buf_str(&text), text.len };
	     str_split(&rest, '\n', &line) && rest.p;) {
		n_large += str_starts_with(line, STR_LIT("level=debug msg=large text=xxx")) &&
			   line.n > 15000;
		n_small += str_eq(line, STR_LIT("level=debug msg=small"));
	}
	assert_in_range(n_large, 10, 17);
	assert_true(str_ends_with((struct str){ buf_str(&text), text.len },
				  STR_LIT("level=debug msg=end\n")));
	size_t n_lines = 0;
	for (const char *p = buf_str(&text); (p = strchr(p, '\n')); p++)
		n_lines++;
	assert_int_equal(n_lines, n_large + n_small + 1);
}

static void write_long_lines(void)
{
	configure_logfmt();
	log_info("long", LOG_STR("text", long_text(20000)));
	log_info("long", LOG_STR("text", long_text(20000)), LOG_STR("next", "a b"));
	log_info("next");
}

/* A line is cut at its ceiling, but it is still one line. */
static void test_line_ceiling(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(OUTPUT_MAX);
	_cleanup_buf_ struct buf text = BUF_INIT(OUTPUT_MAX);
	struct str rest, line;

	(void)state;
	capture(write_long_lines, &out);
	without_times(&out, "ts=", " ", &text);
	rest = (struct str){ buf_str(&text), text.len };
	for (int i = 0; i < 2; i++) {
		assert_true(str_split(&rest, '\n', &line));
		assert_true(line.n <= 16 * 1024);
		assert_true(str_starts_with(line, STR_LIT("level=info msg=long text=")));
	}
	assert_true(str_eq(rest, STR_LIT("level=info msg=next\n")));
}

static void write_again_and_again(void)
{
	configure_logfmt();
	for (int i = 0; i < LOG_BURST + 5; i++)
		log_warn("w", LOG_INT("i", i));
	for (int i = 0; i < LOG_BURST + 5; i++)
		log_debug("d");
	for (int i = 0; i < LOG_BURST + 5; i++)
		log_info_always("a");
	log_warn("another place");
}

static size_t count_of(const struct buf *text, const char *what)
{
	size_t n = 0;

	for (const char *p = buf_str(text); (p = strstr(p, what)); p++)
		n++;
	return n;
}

static void test_call_site_is_limited(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(OUTPUT_MAX);

	(void)state;
	capture(write_again_and_again, &out);
	assert_int_equal(count_of(&out, "msg=w "), LOG_BURST);
	assert_int_equal(count_of(&out, " i=9\n"), 1);
	assert_int_equal(count_of(&out, "msg=d\n"), LOG_BURST + 5);
	assert_int_equal(count_of(&out, "msg=a\n"), LOG_BURST + 5);
	assert_int_equal(count_of(&out, "msg=\"another place\""), 1);
}

static void write_repeated(void)
{
	struct ratelimit limit = { .interval_ns = 50 * NS_PER_MS, .burst = 2 };
	const struct log_field none = { .key = NULL };

	configure_logfmt();
	for (int i = 0; i < 5; i++)
		log_write(LOG_LEVEL_INFO, &limit, "r", &none);
	for (uint64_t end = clock_mono_ns() + 60 * NS_PER_MS; clock_mono_ns() < end;)
		;
	log_write(LOG_LEVEL_INFO, &limit, "r", &none);
	log_write(LOG_LEVEL_INFO, &limit, "r", &none);
}

static void test_repeated_is_told(void **state)
{
	(void)state;
	CHECK_LOGFMT(write_repeated, "level=info msg=r\nlevel=info msg=r\n"
				     "level=info msg=r repeated=3\nlevel=info msg=r\n");
}

static const struct unit_test tests[] = {
	TEST(test_level),
	TEST(test_held),
	TEST(test_reload),
	TEST(test_enabled),
	TEST(test_held_ceiling),
	TEST(test_line_ceiling),
	TEST(test_call_site_is_limited),
	TEST(test_repeated_is_told),
	TEST_ROWS(test_line, line_rows, name),
};

TEST_MAIN(tests)
