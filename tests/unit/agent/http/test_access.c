/* SPDX-License-Identifier: Apache-2.0 */
/* Which requests are let in. */
#include <string.h>

#include "agent/http/access.h"
#include "tests/support/unit.h"

/* base64 of "u:p", "u:x", "x:p", "u:", ":p", "u", "u:p:q", "ü:päß" (UTF-8) */
#define U_P "dTpw"
#define U_X "dTp4"
#define X_P "eDpw"
#define U_ "dTo="
#define _P "OnA="
#define U "dQ=="
#define U_P_Q "dTpwOnE="
#define UTF8 "w7w6cMOkw58="

static const struct row {
	const char *name, *username, *password;
	const char *paths[3];
	bool except_paths;
	const char *path, *authorization;
	bool allowed;
} rows[] = {
	{ "no password is wanted", NULL, NULL, { NULL }, false, "/metrics", NULL, true },
	{ "none given", "u", "p", { NULL }, false, "/metrics", NULL, false },
	{ "right", "u", "p", { NULL }, false, "/metrics", "Basic " U_P, true },
	{ "right, lower case", "u", "p", { NULL }, false, "/metrics", "basic " U_P, true },
	{ "wrong password", "u", "p", { NULL }, false, "/metrics", "Basic " U_X, false },
	{ "wrong user", "u", "p", { NULL }, false, "/metrics", "Basic " X_P, false },
	{ "empty password", "u", "p", { NULL }, false, "/metrics", "Basic " U_, false },
	{ "empty user", "u", "p", { NULL }, false, "/metrics", "Basic " _P, false },
	{ "no colon", "u", "", { NULL }, false, "/metrics", "Basic " U, false },
	{ "empty password wanted", "u", "", { NULL }, false, "/metrics", "Basic " U_, true },
	{ "colon in the password", "u", "p:q", { NULL }, false, "/metrics", "Basic " U_P_Q, true },
	{ "beginning of the password",
	  "u",
	  "p:q",
	  { NULL },
	  false,
	  "/metrics",
	  "Basic " U_P,
	  false },
	{ "UTF-8", "\xc3\xbc", "p\xc3\xa4\xc3\x9f", { NULL }, false, "/", "Basic " UTF8, true },
	{ "other scheme", "u", "p", { NULL }, false, "/metrics", "Bearer " U_P, false },
	{ "no scheme", "u", "p", { NULL }, false, "/metrics", U_P, false },
	{ "not base64", "u", "p", { NULL }, false, "/metrics", "Basic ***", false },
	{ "nothing after the scheme", "u", "p", { NULL }, false, "/metrics", "Basic ", false },
	{ "text behind", "u", "p", { NULL }, false, "/metrics", "Basic " U_P "!", false },
	{ "listed path", "u", "p", { "/metrics" }, false, "/metrics", NULL, false },
	{ "below a listed path", "u", "p", { "/metrics" }, false, "/metrics/x", NULL, false },
	{ "a beginning is enough", "u", "p", { "/metrics" }, false, "/metricsx", NULL, false },
	{ "other path", "u", "p", { "/metrics" }, false, "/-/ready", NULL, true },
	{ "second path", "u", "p", { "/metrics", "/-/" }, false, "/-/ready", NULL, false },
	{ "listed path, right", "u", "p", { "/metrics" }, false, "/metrics", "Basic " U_P, true },
	{ "free path", "u", "p", { "/-/ready" }, true, "/-/ready", NULL, true },
	{ "not a free path", "u", "p", { "/-/ready" }, true, "/-/reload", NULL, false },
	{ "all but none", "u", "p", { NULL }, true, "/metrics", NULL, false },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	struct http_access options = { .username = row->username,
				       .password = row->password,
				       .paths = row->paths,
				       .except_paths = row->except_paths };
	struct access access;

	while (row->paths[options.n_paths])
		options.n_paths++;
	assert_int_equal(access_init(&access, &options), 0);
	assert_int_equal(access_allows(&access, row->path, row->authorization), row->allowed);
	access_fini(&access);
}

/* A token is compared with all that stands around it. */
static void test_whole_header(void **state)
{
	static const struct {
		const char *authorization;
		bool allowed;
	} headers[] = {
		{ "Bearer t", true },  { NULL, false },		{ "", false },
		{ "Bearer", false },   { "Bearer ", false },	{ "Bearer tt", false },
		{ "bearer t", false }, { "Basic t", false },	{ "Bearer t ", false },
		{ "t", false },	       { "Basic OnQ=", false },
	};
	const struct http_access options = { .authorization = "Bearer t" };
	struct access access;

	(void)state;
	assert_int_equal(access_init(&access, &options), 0);
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		assert_int_equal(access_allows(&access, "/", headers[i].authorization),
				 headers[i].allowed);
	access_fini(&access);
}

static void test_header_ceiling(void **state)
{
	const struct http_access options = { .username = "", .password = "" };
	char header[ACCESS_MAX_HEADER_BYTES + 2];
	struct access access;

	(void)state;
	assert_int_equal(access_init(&access, &options), 0);
	memset(header, 'A', sizeof(header) - 1);
	memcpy(header, "Basic ", 6);
	header[sizeof(header) - 1] = '\0';
	assert_false(access_allows(&access, "/", header));
	/* "Og==" is ":". */
	assert_true(access_allows(&access, "/", "Basic Og=="));
	access_fini(&access);
}

static const struct unit_test tests[] = {
	TEST(test_whole_header),
	TEST(test_header_ceiling),
	TEST_ROWS(test_row, rows, name),
};

TEST_MAIN(tests)
