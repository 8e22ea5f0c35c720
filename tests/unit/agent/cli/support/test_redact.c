/* SPDX-License-Identifier: Apache-2.0 */
/* What leaves the house has no secret in it. */
#include <errno.h>
#include <string.h>

#include "agent/cli/support/redact.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

/* The word that is nowhere afterwards; the longest one that a row has. */
#define SECRET "hunter2hunter2"
#define WRITE(inner) \
	"pyroscope.write \"w\" {\n\tendpoint {\n\t\turl = \"http://h\"\n" inner "\t}\n}\n"

static const struct row {
	const char *name;
	const char *config;
	const char *kept; /* what is still there, NULL: nothing in particular */
} rows[] = {
	{ "basic auth", WRITE("basic_auth {\nusername = \"me\"\npassword = \"" SECRET "\"\n}\n"),
	  "username = \"me\"\npassword = \"(secret)\"" },
	{ "bearer token", WRITE("bearer_token = \"" SECRET "\"\n"), "bearer_token = \"(secret)\"" },
	{ "authorization",
	  WRITE("authorization {\ntype = \"Bearer\"\ncredentials = \"" SECRET "\"\n}\n"),
	  "type = \"Bearer\"" },
	{ "oauth2", WRITE("oauth2 {\nclient_id = \"me\"\nclient_secret = \"" SECRET "\"\n}\n"),
	  "client_id = \"me\"" },
	{ "headers", WRITE("headers = {\"Authorization\" = \"Bearer " SECRET "\"}\n"),
	  "headers = \"(secret)\"" },
	{ "parameters of oauth2",
	  WRITE("oauth2 {\nendpoint_params = {\"password\" = \"" SECRET "\"}\n}\n"),
	  "endpoint_params = \"(secret)\"" },
	{ "tls key", WRITE("tls_config {\nkey_pem = `" SECRET "`\n}\n"), "key_pem = \"(secret)\"" },
	{ "expression", WRITE("bearer_token = \"" SECRET "\" + sys.env(\"TAIL\")\n"),
	  "bearer_token = \"(secret)\"\n" },
	{ "call", WRITE("bearer_token = string.format(\"%s\", \"" SECRET "\")\n"), "(secret)" },
	{ "in brackets", WRITE("bearer_token = ((\"" SECRET "\"))\n"), "(secret)" },
	{ "of several lines",
	  WRITE("bearer_token = [\n\"a\", // " SECRET "\n\"" SECRET "\",\n][1]\n"), "(secret)" },
	{ "name", WRITE("bearer_token = local.file.token.content\n"),
	  "bearer_token = local.file.token.content\n" },
	{ "http client block",
	  "remote.http \"r\" {\nurl = \"http://h\"\nclient {\nbasic_auth {\npassword = \"" SECRET
	  "\"\n}\n}\n}\n",
	  "url = \"http://h\"" },
	{ "header lists",
	  "remote.http \"r\" {\nurl = \"http://h\"\nclient {\nhttp_headers = {\"X-Key\" = "
	  "[\"" SECRET "\"]}\n}\n}\n",
	  "http_headers = \"(secret)\"" },
	{ "http server",
	  "http {\nauth {\nbasic {\nusername = \"me\"\npassword = \"" SECRET "\"\n}\n}\n}\n",
	  "username = \"me\"" },
	{ "declared component",
	  "declare \"d\" {\nargument \"p\" { }\n}\nd \"x\" {\np = \"" SECRET "\"\n}\n",
	  "p = \"(secret)\"" },
	{ "default of an argument",
	  "declare \"d\" {\nargument \"p\" {\ndefault = \"" SECRET "\"\n}\n}\n",
	  "default = \"(secret)\"" },
	{ "inside of a declare", "declare \"d\" {\n" WRITE("bearer_token = \"" SECRET "\"\n") "}\n",
	  "url = \"http://h\"" },
	{ "foreach",
	  "foreach \"f\" {\ncollection = [{p = \"" SECRET "\"}]\nvar = \"each\"\ntemplate { }\n}\n",
	  "template" },
	{ "configuration in a text",
	  "import.string \"s\" {\ncontent = `declare \"d\" {" WRITE("bearer_token = \"" SECRET
								    "\"\n") "}`\n}\n",
	  "import.string" },
	{ "unknown block", "who.knows \"x\" {\nb {\np = \"" SECRET "\"\n}\n}\n", "who.knows" },
	{ "attribute at the top", "p = \"" SECRET "\"\n", "p = " },
	{ "line comment", "// password = \"" SECRET "\"\nlogging { }\n",
	  "// (left out)\nlogging { }" },
	{ "block comment", "/* " SECRET "\n" SECRET " */ logging { }\n",
	  "/* (left out) */ logging" },
	{ "comment at the end", "logging { } // " SECRET, "// (left out)" },
	{ "login in a URL", "remote.http \"r\" {\nurl = \"http://me:" SECRET "@h/x\"\n}\n",
	  "url = \"http://(secret)@h/x\"" },
	{ "token in a URL", "remote.http \"r\" {\nurl = \"https://" SECRET "@h/x\"\n}\n",
	  "url = \"https://(secret)@h/x\"" },
};

static void assert_gone(const char *text)
{
	if (strstr(text, SECRET))
		fail_msg("there it is: %s", text);
}

static void test_config(void **state)
{
	const struct row *row = *state;
	_cleanup_redactor_ struct redactor r = { 0 };
	_cleanup_buf_ struct buf first = BUF_INIT((size_t)1 << 20);
	_cleanup_buf_ struct buf out = BUF_INIT((size_t)1 << 20);

	assert_int_equal(redact_config(&r, row->config, strlen(row->config), &first),
			 REDACTED_TEXT);
	assert_int_equal(redact_text(&r, buf_str(&first), first.len, &out), 0);
	assert_gone(buf_str(&out));
	if (!strstr(buf_str(&out), row->kept))
		fail_msg("\"%s\" is not in: %s", row->kept, buf_str(&out));
}

/* What the rows above remember is found in a log, too, where it is no comment or part of a URL. */
static const char *elsewhere(const char *config, const char *text, struct buf *out)
{
	_cleanup_redactor_ struct redactor r = { 0 };
	_cleanup_buf_ struct buf ignored = BUF_INIT((size_t)1 << 20);

	assert_true(redact_config(&r, config, strlen(config), &ignored) >= 0);
	buf_reset(out);
	assert_int_equal(redact_text(&r, text, strlen(text), out), 0);
	return buf_str(out);
}

static void test_other_members(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT((size_t)1 << 20);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (strstr(rows[i].config, "//h") == NULL || strstr(rows[i].config, "@h"))
			continue;
		if (strstr(rows[i].config, SECRET) && !strstr(rows[i].config, "Bearer " SECRET))
			assert_string_equal(elsewhere(rows[i].config, "x " SECRET " y", &out),
					    "x (secret) y");
	}
}

static void test_spellings(void **state)
{
	static const char config[] = WRITE("bearer_token = \"say \\\"friend\\\" \\u00e4 and\"\n");
	_cleanup_buf_ struct buf out = BUF_INIT((size_t)1 << 20);

	(void)state;
	assert_string_equal(elsewhere(config, "<say \"friend\" \u00e4 and>", &out), "<(secret)>");
	assert_string_equal(elsewhere(config, "<say \\\"friend\\\" \u00e4 and>", &out),
			    "<(secret)>");
	assert_string_equal(elsewhere(config, "<say \\\"friend\\\" \\u00e4 and>", &out),
			    "<(secret)>");
}

static void test_names_of_headers_and_short_texts_stay(void **state)
{
	static const char config[] =
		"d \"x\" {\np = {\"service_name\" = \"" SECRET "\", \"b\" = \"short\"}\n}\n";
	_cleanup_buf_ struct buf out = BUF_INIT((size_t)1 << 20);

	(void)state;
	assert_string_equal(elsewhere(config, "service_name=\"" SECRET "\" short", &out),
			    "service_name=\"(secret)\" short");
}

static void test_longest_wins(void **state)
{
	static const char config[] =
		"d \"x\" {\np = [\"" SECRET "\", \"" SECRET " and more\"]\n}\n";
	_cleanup_buf_ struct buf out = BUF_INIT((size_t)1 << 20);

	(void)state;
	assert_string_equal(elsewhere(config, SECRET " and more, " SECRET, &out),
			    "(secret), (secret)");
}

/* It cannot be told what is secret in it, but what is quoted may be. */
static void test_broken_configuration(void **state)
{
	static const char config[] = "pyroscope.write \"default\" {\n\tpassword = \"" SECRET
				     "\"\n\ttoken = \"not ended\n\tother = `" SECRET "2`\n";
	_cleanup_redactor_ struct redactor r = { 0 };
	_cleanup_buf_ struct buf out = BUF_INIT((size_t)1 << 20);

	(void)state;
	assert_int_equal(redact_config(&r, config, strlen(config), &out), REDACT_UNREADABLE);
	assert_int_equal(out.len, 0);
	assert_string_equal(elsewhere(config, "default " SECRET " not ended " SECRET "2", &out),
			    "default (secret) (secret) (secret)");
}

static void test_too_many(void **state)
{
	_cleanup_redactor_ struct redactor r = { 0 };
	_cleanup_buf_ struct buf config = BUF_INIT((size_t)1 << 20);
	_cleanup_buf_ struct buf out = BUF_INIT((size_t)1 << 20);

	(void)state;
	(void)buf_append_str(&config, "d \"x\" {\np = [");
	for (int i = 0; i < 5000; i++)
		(void)buf_printf(&config, "\"secret%d\",", i);
	(void)buf_append_str(&config, "]\n}\n");
	assert_int_equal(redact_config(&r, buf_str(&config), config.len, &out), -E2BIG);
}

static void test_empty(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(64);

	(void)state;
	assert_string_equal(elsewhere("", "://@ ://a@", &out), "://@ ://(secret)@");
}

static const struct unit_test tests[] = {
	TEST(test_other_members),
	TEST(test_spellings),
	TEST(test_names_of_headers_and_short_texts_stay),
	TEST(test_longest_wins),
	TEST(test_broken_configuration),
	TEST(test_too_many),
	TEST(test_empty),
	TEST_ROWS(test_config, rows, name),
};

TEST_MAIN(tests)
