/* SPDX-License-Identifier: Apache-2.0 */
/* The ports of a container as Docker's list has them: in no order, several times, malformed. */
#include <stdlib.h>

#include "agent/discovery/docker_ports.h"
#include "agent/util/buf.h"
#include "tests/support/unit.h"

#define TCP(private) "{\"PrivatePort\":" private ",\"Type\":\"tcp\"}"
#define PUBLISHED(private, ip, public)                                                   \
	"{\"IP\":\"" ip "\",\"PrivatePort\":" private ",\"PublicPort\":" public ",\"Type\":" \
	"\"tcp\"}"

static const struct row {
	const char *name;
	const char *json;
	const char *expected; /* "private" or "private>public@address", one a line */
} rows[] = {
	{ "none", "[]", "" },
	{ "one", "[" TCP("80") "]", "80\n" },
	{ "a published one", "[" PUBLISHED("80", "0.0.0.0", "8080") "]", "80>8080@0.0.0.0\n" },
	{ "in order", "[" TCP("443") "," TCP("80") "," TCP("8080") "]", "80\n443\n8080\n" },
	{ "both versions of IP",
	  "[" PUBLISHED("80", "::", "8080") "," PUBLISHED("80", "0.0.0.0", "8080") "]",
	  "80>8080@0.0.0.0\n" },
	{ "published twice at one address",
	  "[" PUBLISHED("80", "0.0.0.0", "9090") "," PUBLISHED("80", "0.0.0.0", "8080") "]",
	  "80>8080@0.0.0.0\n" },
	{ "published after all", "[" TCP("80") "," PUBLISHED("80", "10.0.0.1", "8080") "]",
	  "80>8080@10.0.0.1\n" },
	{ "published without an address",
	  "[{\"PrivatePort\":80,\"PublicPort\":8080,\"Type\":\"tcp\"}]", "80>8080@-\n" },
	{ "an address that is no text",
	  "[{\"IP\":1,\"PrivatePort\":80,\"PublicPort\":8080,\"Type\":\"tcp\"}]", "80>8080@-\n" },
	{ "the first and the last", "[" TCP("65535") "," TCP("1") "]", "1\n65535\n" },
	{ "other protocols",
	  "[{\"PrivatePort\":53,\"Type\":\"udp\"},{\"PrivatePort\":54,\"Type\":\"sctp\"},"
	  "{\"PrivatePort\":55,\"Type\":\"TCP\"},{\"PrivatePort\":56},"
	  "{\"PrivatePort\":57,\"Type\":6}," TCP("58") "]",
	  "58\n" },
	{ "numbers that are no ports",
	  "[" TCP("0") "," TCP("-1") "," TCP("65536") "," TCP("4294967376") ","
	  TCP("9223372036854775807") "," TCP("80.5") "," TCP("\"80\"") "," TCP("null") "]",
	  "" },
	{ "a public number that is no port",
	  "[" PUBLISHED("80", "0.0.0.0", "65536") "," PUBLISHED("81", "0.0.0.0", "\"1\"") "]",
	  "80\n81\n" },
	{ "what are no objects", "[1,\"80/tcp\",null,[],[80]," TCP("80") "]", "80\n" },
	{ "null", "null", "" },
	{ "an object", "{\"80/tcp\":[]}", "" },
	{ "a text", "\"80/tcp\"", "" },
};

static void write_ports(const struct docker_port *ports, size_t n, struct buf *out)
{
	for (size_t i = 0; i < n; i++) {
		const struct docker_port *p = &ports[i];

		(void)buf_printf(out, "%u", p->private_port);
		if (p->public_port)
			(void)buf_printf(out, ">%u@%s", p->public_port,
					 p->public_ip ? p->public_ip : "-");
		(void)buf_append_str(out, "\n");
	}
}

static void test_row(void **state)
{
	const struct row *row = *state;
	json_t *json = json_loads(row->json, JSON_DECODE_ANY, NULL);
	_cleanup_buf_ struct buf text = BUF_INIT(4096);
	struct docker_port *ports = NULL;
	size_t n = 77;

	assert_non_null(json);
	assert_int_equal(docker_ports_make(json, &ports, &n), 0);
	write_ports(ports, n, &text);
	assert_string_equal(buf_str(&text), row->expected);
	free(ports);
	json_decref(json);
}

static void test_not_told(void **state)
{
	struct docker_port *ports = NULL;
	size_t n = 77;

	(void)state;
	assert_int_equal(docker_ports_make(NULL, &ports, &n), 0);
	assert_int_equal(n, 0);
	free(ports);
}

/* Every port there is, on three addresses, the last one first. */
static void test_all(void **state)
{
	static const char *const addresses[] = { "::", "10.0.0.1", "0.0.0.0" };
	json_t *json = json_array();
	struct docker_port *ports = NULL;
	size_t n = 0;

	(void)state;
	for (int port = 65535; port > 0; port--)
		for (size_t i = 0; i < 3; i++)
			assert_int_equal(
				json_array_append_new(
					json, json_pack("{s:s, s:i, s:i, s:s}", "IP", addresses[i],
							"PrivatePort", port, "PublicPort", port,
							"Type", "tcp")),
				0);
	assert_int_equal(docker_ports_make(json, &ports, &n), 0);
	assert_int_equal(n, 65535);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(ports[i].private_port, i + 1);
		assert_string_equal(ports[i].public_ip, "0.0.0.0");
	}
	free(ports);
	json_decref(json);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_not_told),
	TEST(test_all),
};

TEST_MAIN(tests)
