/* SPDX-License-Identifier: Apache-2.0 */
/* TCP connections: what is told of them, and which are one. */
#include "agent/profile/tcp_table.h"
#include "tests/support/unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

struct row {
	const char *name;
	const char *local, *peer; /* IPv6 */
	struct tcp_connection c;
	const char *whole, *of_peer;
};

#define PORTS(own, other)                                 \
	{                                                 \
		.local_port = (own), .peer_port = (other) \
	}

static const struct row rows[] = {
	{ "connect",
	  "::ffff:10.0.0.2",
	  "::ffff:10.0.0.1",
	  { .ends = PORTS(40000, 80), .kind = WIRE_TCP_CONNECT, .pid = 17, .comm = "curl" },
	  "connect 10.0.0.2:40000 -> 10.0.0.1:80 by curl[17]",
	  "connect 10.0.0.1:80" },
	{ "connect over IPv6",
	  "2001:db8::2",
	  "2001:db8::1",
	  { .ends = PORTS(40000, 80), .kind = WIRE_TCP_CONNECT, .pid = 17, .comm = "curl" },
	  "connect [2001:db8::2]:40000 -> [2001:db8::1]:80 by curl[17]",
	  "connect [2001:db8::1]:80" },
	{ "connect that failed",
	  "::ffff:0.0.0.0",
	  "::ffff:10.0.0.1",
	  { .ends = PORTS(0, 80),
	    .kind = WIRE_TCP_CONNECT,
	    .error = ECONNREFUSED,
	    .pid = 17,
	    .comm = "curl" },
	  "connect 10.0.0.1:80 ECONNREFUSED by curl[17]",
	  "connect 10.0.0.1:80 ECONNREFUSED" },
	{ "accept",
	  "::ffff:10.0.0.1",
	  "::ffff:10.0.0.2",
	  { .ends = PORTS(80, 40000), .kind = WIRE_TCP_ACCEPT, .pid = 1, .comm = "nginx" },
	  "accept 10.0.0.2:40000 -> 10.0.0.1:80 by nginx[1]",
	  "accept 10.0.0.2 on 80" },
	{ "accept over IPv6",
	  "::1",
	  "::1",
	  { .ends = PORTS(80, 40000), .kind = WIRE_TCP_ACCEPT, .pid = 1, .comm = "nginx" },
	  "accept [::1]:40000 -> [::1]:80 by nginx[1]",
	  "accept [::1] on 80" },
	{ "retransmit",
	  "::ffff:10.0.0.1",
	  "::ffff:10.0.0.2",
	  { .ends = PORTS(80, 40000), .kind = WIRE_TCP_RETRANSMIT },
	  "retransmit 10.0.0.1:80 -> 10.0.0.2:40000",
	  "retransmit 10.0.0.2" },
	{ "name of a hostile process",
	  "::1",
	  "::1",
	  { .ends = PORTS(1, 2),
	    .kind = WIRE_TCP_CONNECT,
	    .pid = 1,
	    .comm = "a\033[2J\nb;0123456" },
	  "connect [::1]:1 -> [::1]:2 by a?[2J?b;0123456[1]",
	  "connect [::1]:2" },
};

static struct tcp_connection connection_of(const struct row *row)
{
	struct tcp_connection c = row->c;

	assert_int_equal(inet_pton(AF_INET6, row->local, c.ends.local), 1);
	assert_int_equal(inet_pton(AF_INET6, row->peer, c.ends.peer), 1);
	return c;
}

static void test_texts(void **state)
{
	const struct row *row = *state;
	_cleanup_buf_ struct buf text = BUF_INIT(256);
	struct tcp_connection c = connection_of(row);

	tcp_connection_text(&c, &text);
	assert_string_equal(buf_str(&text), row->whole);
	buf_reset(&text);
	c = tcp_connection_peer(&c);
	tcp_connection_text(&c, &text);
	assert_string_equal(buf_str(&text), row->of_peer);
}

/* To the peer it is one, whatever port the kernel has chosen. */
static void test_equal_ones_are_one(void **state)
{
	_cleanup_(arena_fini) struct arena arena;
	struct tcp_table table = { 0 };
	struct tcp_connection c = connection_of(&rows[0]), peer;
	uint32_t first, second;

	(void)state;
	arena_init(&arena, (size_t)1 << 20);
	assert_int_equal(tcp_table_get(&table, &arena, &c, &first), 0);
	c.ends.local_port++;
	assert_int_equal(tcp_table_get(&table, &arena, &c, &second), 0);
	assert_int_not_equal(first, second);
	peer = tcp_connection_peer(&c);
	assert_int_equal(tcp_table_get(&table, &arena, &peer, &first), 0);
	c.ends.local_port++;
	peer = tcp_connection_peer(&c);
	assert_int_equal(tcp_table_get(&table, &arena, &peer, &second), 0);
	assert_int_equal(first, second);
	assert_int_equal(tcp_table_at(&table, first)->ends.peer_port, 80);
	assert_null(tcp_table_at(&table, 3));
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_texts, rows, name),
	TEST(test_equal_ones_are_one),
};

TEST_MAIN(tests)
