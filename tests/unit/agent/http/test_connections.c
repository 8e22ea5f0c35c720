/* SPDX-License-Identifier: Apache-2.0 */
/* Which connection goes when there are too many, and when each is late. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "agent/http/connections.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define MAX 8

struct fixture {
	struct loop *loop;
	struct telemetry *telemetry;
	struct http_counts counts;
	struct connections set;
	struct connection c[MAX];
	int other[MAX]; /* the clients' ends */
	size_t n;
};

static const struct connections_options options = {
	.max = MAX,
	.request_ns = 100,
	.idle_ns = 300,
	.body_ns = 200,
	.answer_ns = 400,
	.answer_bytes_per_s = 1000,
};

static void set_up(struct fixture *f)
{
	assert_int_equal(loop_new(&f->loop), 0);
	assert_int_equal(telemetry_new(&f->telemetry), 0);
	http_counts_init(&f->counts, f->telemetry);
	assert_int_equal(connections_init(&f->set, f->loop, &options, &f->counts), 0);
}

static void tear_down(struct fixture *f)
{
	for (size_t i = 0; i < f->n; i++) {
		int fd = f->c[i].fd;

		connection_close(&f->set, &f->c[i]);
		connection_close(&f->set, &f->c[i]);
		(void)close(fd);
		(void)close(f->other[i]);
	}
	assert_int_equal(f->set.n, 0);
	connections_fini(&f->set);
	telemetry_free(f->telemetry);
	loop_free(f->loop);
}

FIXTURE(struct fixture, set_up, tear_down)

static struct connection *come(struct fixture *f, const char *address, uint64_t now_ns)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} a = { 0 };
	int ends[2];

	assert_true(f->n < MAX);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	a.any.sa_family = strchr(address, ':') ? AF_INET6 : AF_INET;
	assert_int_equal(inet_pton(a.any.sa_family, address,
				   a.any.sa_family == AF_INET6 ? (void *)&a.v6.sin6_addr
							       : (void *)&a.v4.sin_addr),
			 1);
	f->other[f->n] = ends[1];
	connection_open(&f->set, &f->c[f->n], ends[0], &a.any, now_ns);
	return &f->c[f->n++];
}

static bool has_ended(const struct fixture *f, const struct connection *c)
{
	char byte;

	return recv(f->other[c - f->c], &byte, 1, MSG_DONTWAIT) == 0;
}

static double n_ended(const struct fixture *f, enum http_connection_end why)
{
	return metric_value(f->counts.ended[why]);
}

/* Connections from 0 on, a letter each: its address, then what it does. */
struct row {
	const char *name;
	const char *const connections[MAX];
	int victim; /* -1: nobody; the newest is the last one */
};

static const struct row rows[] = {
	{ "alone", { "A1.1.1.1" }, -1 },
	{ "the oldest of one address", { "A1.1.1.1", "A1.1.1.1", "A1.1.1.1" }, 0 },
	{ "the newest is never it", { "W1.1.1.1", "A1.1.1.1" }, -1 },
	{ "of the address with most", { "A1.1.1.1", "A2.2.2.2", "A2.2.2.2", "A3.3.3.3" }, 1 },
	{ "the newest one's address counts", { "A1.1.1.1", "A2.2.2.2", "A2.2.2.2" }, 1 },
	{ "who asks before who sends", { "S1.1.1.1", "R1.1.1.1", "A1.1.1.1", "A2.2.2.2" }, 2 },
	{ "the address counts before the state", { "S1.1.1.1", "S1.1.1.1", "A2.2.2.2", "A3.3.3.3" },
	  0 },
	{ "who waits for us stays", { "W1.1.1.1", "W1.1.1.1", "R1.1.1.1", "A2.2.2.2" }, 2 },
	{ "an IPv6 network is one", { "A1.1.1.1", "Afd00::1", "Afd00::2", "A1.1.1.2" }, 1 },
	{ "networks are several", { "A1.1.1.1", "Afd00:0:0:1::1", "Afd00:0:0:2::1", "A1.1.1.2" }, 0 },
	{ "IPv4 in IPv6 is IPv4", { "A2.2.2.2", "A::ffff:1.1.1.1", "A1.1.1.1", "A3.3.3.3" }, 1 },
};

static void act(struct fixture *f, struct connection *c, char what, uint64_t now_ns)
{
	if (what == 'S')
		connection_sends(&f->set, c, now_ns);
	else if (what == 'R')
		connection_reads(&f->set, c, 0, now_ns);
	else if (what == 'W')
		connection_waits(c, now_ns);
}

static void test_victim(void **state)
{
	const struct row *row = *state;
	void *own = NULL;

	assert_int_equal(setup(&own), 0);
	struct fixture *f = own;
	for (size_t i = 0; i < MAX && row->connections[i]; i++)
		act(f, come(f, row->connections[i] + 1, i), *row->connections[i], i);
	struct connection *victim = connections_victim(&f->set, &f->c[f->n - 1]);
	assert_int_equal(victim ? victim - f->c : -1, row->victim);
	(void)teardown(&own);
}

struct peer_row {
	const char *a, *b;
	bool same;
};

static const struct peer_row peer_rows[] = {
	{ "1.2.3.4", "1.2.3.4", true },	       { "1.2.3.4", "1.2.3.5", false },
	{ "::ffff:1.2.3.4", "1.2.3.4", true }, { "fd00::1", "fd00::ffff:2", true },
	{ "fd00::1", "fd00:0:0:1::1", false }, { "::1", "::1", true },
	{ "::1", "127.0.0.1", false },	       { "::1", "fd00::1", false },
};

/* The number that pushes are counted by. */
static void test_peer(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(peer_rows); i++) {
		const struct peer_row *row = &peer_rows[i];
		void *own = NULL;

		assert_int_equal(setup(&own), 0);
		uint64_t a = connection_peer(come(own, row->a, 0));
		uint64_t b = connection_peer(come(own, row->b, 0));
		assert_true(a != 0 && b != 0);
		assert_int_equal(a == b, row->same);
		(void)teardown(&own);
	}
	assert_int_equal(connection_peer(&(struct connection){ 0 }), 0);
}

static void test_one_too_many(void **state)
{
	struct fixture *f = *state;

	f->set.options.max = 3;
	for (int i = 0; i < MAX; i++)
		(void)come(f, "1.1.1.1", (uint64_t)i);
	assert_int_equal(f->set.n, 3);
	for (int i = 0; i < MAX; i++)
		assert_int_equal(has_ended(f, &f->c[i]), i < MAX - 3);
	assert_int_equal(n_ended(f, HTTP_ENDED_crowded), MAX - 3);
}

static void test_late(void **state)
{
	struct fixture *f = *state;
	struct connection *first = come(f, "1.1.1.1", 0), *sends = come(f, "1.1.1.1", 0),
			  *waits = come(f, "1.1.1.1", 0), *reads = come(f, "1.1.1.1", 0),
			  *again = come(f, "1.1.1.1", 0);

	connection_sends(&f->set, sends, 0);
	connection_waits(waits, 0);
	connection_reads(&f->set, reads, 1000, 0);
	connection_asks_again(&f->set, again, 0);
	connections_end_late(&f->set, 99);
	assert_int_equal(f->set.n, 5);
	connections_end_late(&f->set, 100);
	assert_true(has_ended(f, first));
	assert_int_equal(f->set.n, 4);
	connections_end_late(&f->set, 200);
	assert_true(has_ended(f, sends));
	connections_end_late(&f->set, 300);
	assert_true(has_ended(f, again));
	connections_end_late(&f->set, 400);
	assert_false(has_ended(f, reads));
	connections_end_late(&f->set, 400 + 1000000000ull);
	assert_true(has_ended(f, reads));
	connections_end_late(&f->set, UINT64_MAX - 1);
	assert_false(has_ended(f, waits));
	assert_int_equal(n_ended(f, HTTP_ENDED_late_request), 1);
	assert_int_equal(n_ended(f, HTTP_ENDED_late_body), 1);
	assert_int_equal(n_ended(f, HTTP_ENDED_late_reader), 1);
	assert_int_equal(n_ended(f, HTTP_ENDED_idle), 1);
	assert_int_equal(n_ended(f, HTTP_ENDED_crowded), 0);
}

/* Who has left holds nothing; who sends no more and waits for an answer is no such one. */
static void test_gone(void **state)
{
	struct fixture *f = *state;
	struct connection *asks = come(f, "1.1.1.1", 0), *sends = come(f, "1.1.1.1", 0),
			  *unread = come(f, "1.1.1.1", 0), *reads = come(f, "1.1.1.1", 0),
			  *stays = come(f, "1.1.1.1", 0);

	connection_sends(&f->set, sends, 0);
	connection_reads(&f->set, reads, 0, 0);
	assert_int_equal(send(f->other[unread - f->c], "G", 1, 0), 1);
	for (int i = 0; i < 4; i++)
		assert_int_equal(shutdown(f->other[i], SHUT_WR), 0);
	connections_end_late(&f->set, 1);
	assert_true(has_ended(f, asks) && has_ended(f, sends));
	assert_false(has_ended(f, unread) || has_ended(f, reads) || has_ended(f, stays));
	assert_int_equal(n_ended(f, HTTP_ENDED_gone), 2);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_gone),
	FIXTURE_TEST(test_one_too_many),
	FIXTURE_TEST(test_late),
	TEST(test_peer),
	TEST_ROWS(test_victim, rows, name),
};

TEST_MAIN(tests)
