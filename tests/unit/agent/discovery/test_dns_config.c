/* SPDX-License-Identifier: Apache-2.0 */
/* resolv.conf, and which names it makes of one. */
#include <errno.h>
#include <string.h>

#include "agent/discovery/dns_config.h"
#include "agent/util/buf.h"
#include "tests/support/unit.h"

static const struct row {
	const char *title, *text, *expected; /* servers; search; ndots */
} rows[] = {
	{ "empty", "", "127.0.0.1;;1" },
	{ "as it is on most hosts",
	  "# made\nnameserver 10.0.0.1\nnameserver\tfe80::1\noptions edns0 trust-ad\n"
	  "search a.example b.example\n",
	  "10.0.0.1 fe80::1;a.example b.example;1" },
	{ "as it is in a pod",
	  "search d.svc.cluster.local svc.cluster.local\nnameserver 10.96.0.10\n"
	  "options ndots:5\n",
	  "10.96.0.10;d.svc.cluster.local svc.cluster.local;5" },
	{ "three servers at most",
	  "nameserver 1.1.1.1\nnameserver 2.2.2.2\nnameserver 3.3.3.3\nnameserver 4.4.4.4\n",
	  "1.1.1.1 2.2.2.2 3.3.3.3;;1" },
	{ "no address",
	  "nameserver here\nnameserver 1.2.3\nnameserver\n"
	  "nameserver ::1\nnameserver ::%lo\nnameserver fe80::1%lo\n"
	  "nameserver fe80::1:2:3:4:5%a-very-long-interface-that-cannot-be-any\n",
	  "::1 ::%lo fe80::1%lo;;1" },
	{ "the last search counts", "search a b\nsearch c.\nsearch d . e.\n", "127.0.0.1;d e;1" },
	{ "domain", "search a b\ndomain c d\n", "127.0.0.1;c;1" },
	{ "ndots", "options ndots:99 timeout:1\n", "127.0.0.1;;15" },
	{ "wrong ndots", "options ndots:x ndots: ndots:-1\n", "127.0.0.1;;1" },
	{ "comments", ";nameserver 1.1.1.1\n# nameserver 1.1.1.1\n \nxnameserver 1.1.1.1\n",
	  "127.0.0.1;;1" },
	{ "carriage returns", "nameserver 1.1.1.1\r\nsearch a\r\n", "1.1.1.1;a;1" },
};

static void write_config(const struct dns_config *c, struct buf *out)
{
	for (size_t i = 0; i < c->n_servers; i++)
		(void)buf_printf(out, "%s%s", i > 0 ? " " : "", c->servers[i]);
	for (size_t i = 0; i < c->n_search; i++)
		(void)buf_printf(out, "%s%s", i > 0 ? " " : ";", c->search[i]);
	(void)buf_printf(out, "%s%u", c->n_search > 0 ? ";" : ";;", c->ndots);
}

static void test_read(void **state)
{
	const struct row *row = *state;
	_cleanup_buf_ struct buf text = BUF_INIT(10000);
	struct dns_config config;

	dns_config_read(str_from(row->text), &config);
	write_config(&config, &text);
	assert_string_equal(buf_str(&text), row->expected);
	assert_int_equal(config.port, 53);
}

static void test_search_list_is_bounded(void **state)
{
	_cleanup_buf_ struct buf text = BUF_INIT(10000);
	struct dns_config config;

	(void)state;
	(void)buf_append_str(&text, "search");
	for (int i = 0; i < DNS_MAX_SEARCH + 1; i++)
		(void)buf_printf(&text, " d%d", i);
	dns_config_read((struct str){ buf_str(&text), text.len }, &config);
	assert_int_equal(config.n_search, DNS_MAX_SEARCH);
}

static void test_load(void **state)
{
	struct dns_config config;

	(void)state;
	assert_int_equal(dns_config_load("/nowhere", &config), -ENOENT);
	assert_int_equal(config.n_servers, 1);
}

static const struct name_row {
	const char *title, *text, *name, *expected;
} names[] = {
	{ "short", "search a b\n", "x", "x.a x.b x" },
	{ "with a dot", "search a b\n", "x.y", "x.y x.y.a x.y.b" },
	{ "full", "search a b\n", "x.", "x." },
	{ "ndots", "search a\noptions ndots:2\n", "x.y", "x.y.a x.y" },
	{ "ndots reached", "search a\noptions ndots:2\n", "x.y.z", "x.y.z x.y.z.a" },
	{ "no ndots", "search a\noptions ndots:0\n", "x", "x x.a" },
	{ "no search", "", "x", "x" },
};

static void test_candidates(void **state)
{
	const struct name_row *row = *state;
	_cleanup_buf_ struct buf text = BUF_INIT(10000);
	struct dns_config config;
	char candidate[64];

	dns_config_read(str_from(row->text), &config);
	for (size_t i = 0;
	     dns_config_candidate(&config, row->name, i, candidate, sizeof(candidate)); i++)
		(void)buf_printf(&text, "%s%s", i > 0 ? " " : "", candidate);
	assert_string_equal(buf_str(&text), row->expected);
}

static const struct unit_test tests[] = {
	TEST(test_search_list_is_bounded),
	TEST(test_load),
	TEST_ROWS(test_read, rows, title),
	TEST_ROWS(test_candidates, names, title),
};

TEST_MAIN(tests)
