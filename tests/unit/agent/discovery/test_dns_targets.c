/* SPDX-License-Identifier: Apache-2.0 */
/* Names looked up at a name server of our own, and what becomes of its answers. */
#include <errno.h>

#include "tests/support/loop_while.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/discovery/name_server.h"

#include "agent/discovery/dns_targets.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

static const struct zone_record zone[] = {
	ZONE_RECORD("web.example.", DNS_A, "\12\0\0\2"),
	ZONE_RECORD("web.example.", DNS_A, "\12\0\0\1"),
	ZONE_RECORD("web.example.", DNS_AAAA, "\x20\1\xd\xb8\0\0\0\0\0\0\0\0\0\0\0\1"),
	ZONE_RECORD("_x._tcp.example.", DNS_SRV, "\0\1\0\2\x1f\x90\3Pod\xc0\x14"),
	ZONE_RECORD("_x._tcp.example.", DNS_SRV, "\0\1\0\2\x1f\x91\3pod\xc0\x14"),
	ZONE_RECORD("_none._tcp.example.", DNS_SRV, "\0\0\0\0\0\0\0"),
	ZONE_RECORD("example.", DNS_MX, "\0\12\4mail\xc0\x0c"),
	ZONE_RECORD("example.", DNS_NS, "\2ns\xc0\x0c"),
	ZONE_RECORD("short.b.example.", DNS_A, "\12\0\0\3"),
};

struct place {
	struct loop *loop;
	struct name_server server;
	struct dns_config config;
	struct dns_targets *targets;
	unsigned int n_answers, n_changes;
};

static void on_answer(bool changed, void *data)
{
	struct place *p = data;

	p->n_answers++;
	p->n_changes += changed;
}

static void set_up(struct place *p)
{
	assert_int_equal(loop_new(&p->loop), 0);
	name_server_init(&p->server, p->loop);
	p->server.zone = zone;
	p->server.n_zone = ARRAY_SIZE(zone);
	dns_config_read(STR_LIT("search a.example b.example\n"), &p->config);
	p->config.port = p->server.port;
}

static void tear_down(struct place *p)
{
	dns_targets_free(p->targets);
	name_server_fini(&p->server);
	loop_free(p->loop);
}

FIXTURE(struct place, set_up, tear_down)

/* What no test waits for, but for those whose server is silent. */
#define LONG_NS (60 * NS_PER_S)

static void open_targets(struct place *p, enum dns_type type, const char *const *names,
			 size_t n_names, uint64_t interval_ns)
{
	struct dns_targets_options options = {
		.names = names,
		.n_names = n_names,
		.type = type,
		.port = 80,
		.refresh_interval_ns = interval_ns,
		.config = &p->config,
		.timeout_ns = p->server.mood == MOOD_SILENT ? 20 * NS_PER_MS : 10 * NS_PER_S,
	};

	assert_int_equal(dns_targets_new(p->loop, &options, on_answer, p, &p->targets), 0);
}

static void begin(struct place *p, enum dns_type type, const char *const *name,
		  uint64_t interval_ns)
{
	open_targets(p, type, name, 1, interval_ns);
	dns_targets_start(p->targets);
}

static void wait_answers(struct place *p, unsigned int n)
{
	LOOP_WHILE(p->loop, p->n_answers < n);
	assert_true(p->n_answers >= n);
}

/* Every label but the name, "a=b c=d" a target, a line each. */
static void write_targets(const struct place *p, struct buf *out)
{
	_cleanup_target_list_ struct target_list list = { 0 };

	assert_int_equal(dns_targets_get(p->targets, &list), 0);
	for (size_t i = 0; i < list.n; i++) {
		for (size_t k = 0; k < list.items[i]->n; k++)
			(void)buf_printf(out, "%s=%s ", list.items[i]->items[k].name,
					 list.items[i]->items[k].value);
		(void)buf_append_char(out, '\n');
	}
}

static void assert_targets(const struct place *p, const char *expected)
{
	_cleanup_buf_ struct buf text = BUF_INIT(10000);

	write_targets(p, &text);
	assert_string_equal(buf_str(&text), expected);
}

static const struct row {
	const char *title;
	enum dns_type type;
	const char *name;
	enum mood mood;
	const char *expected; /* targets */
	const char *asked;
} rows[] = {
	{ "A", DNS_A, "web.example", MOOD_ANSWER,
	  "__address__=10.0.0.1:80 __meta_dns_name=web.example \n"
	  "__address__=10.0.0.2:80 __meta_dns_name=web.example \n",
	  "web.example./1 " },
	{ "AAAA", DNS_AAAA, "web.example", MOOD_ANSWER,
	  "__address__=[2001:db8::1]:80 __meta_dns_name=web.example \n", "web.example./28 " },
	{ "SRV", DNS_SRV, "_x._tcp.example", MOOD_ANSWER,
	  "__address__=Pod.example:8080 __meta_dns_name=_x._tcp.example "
	  "__meta_dns_srv_record_port=8080 __meta_dns_srv_record_target=Pod.example. \n"
	  "__address__=pod.example:8081 __meta_dns_name=_x._tcp.example "
	  "__meta_dns_srv_record_port=8081 __meta_dns_srv_record_target=pod.example. \n",
	  "_x._tcp.example./33 " },
	{ "SRV of nothing", DNS_SRV, "_none._tcp.example.", MOOD_ANSWER, "",
	  "_none._tcp.example./33 " },
	{ "MX", DNS_MX, "example.", MOOD_ANSWER,
	  "__address__=mail.example:80 __meta_dns_mx_record_target=mail.example. "
	  "__meta_dns_name=example. \n",
	  "example./15 " },
	{ "NS", DNS_NS, "example.", MOOD_ANSWER,
	  "__address__=ns.example:80 __meta_dns_name=example. "
	  "__meta_dns_ns_record_target=ns.example. \n",
	  "example./2 " },
	{ "no record of the type", DNS_MX, "web.example", MOOD_ANSWER, "", "web.example./15 " },
	{ "search list", DNS_A, "short", MOOD_ANSWER,
	  "__address__=10.0.0.3:80 __meta_dns_name=short \n",
	  "short.a.example./1 short.b.example./1 " },
	{ "no such name", DNS_A, "no.such", MOOD_ANSWER, "",
	  "no.such./1 no.such.a.example./1 no.such.b.example./1 " },
	{ "no such full name", DNS_A, "no.", MOOD_ANSWER, "", "no./1 " },
	{ "truncated", DNS_A, "web.example", MOOD_TRUNCATE,
	  "__address__=10.0.0.1:80 __meta_dns_name=web.example \n"
	  "__address__=10.0.0.2:80 __meta_dns_name=web.example \n",
	  "web.example./1 +web.example./1 " },
	{ "lies", DNS_AAAA, "web.example", MOOD_LIE_FIRST,
	  "__address__=[2001:db8::1]:80 __meta_dns_name=web.example \n", "web.example./28 " },
};

static void test_answer(void **state)
{
	const struct row *row = *state;
	struct place *p;
	void *own;

	(void)setup(&own);
	p = own;
	p->server.mood = row->mood;
	begin(p, row->type, &row->name, LONG_NS);
	wait_answers(p, 1);
	assert_string_equal(dns_targets_name(p->targets, 0).problem, "");
	assert_targets(p, row->expected);
	assert_string_equal(buf_str(&p->server.asked), row->asked);
	(void)teardown(&own);
}

#define LABEL_64 "aaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbccccccccccccccccdddddddddddddddd"

static const struct bad_row {
	const char *title;
	const char *name;
	enum mood mood;
	const char *problem;
} bad_rows[] = {
	{ "silent", "web.example.", MOOD_SILENT,
	  "name server 127.0.0.1: Timeout while contacting DNS servers" },
	{ "refused", "web.example.", MOOD_REFUSE,
	  "name server 127.0.0.1: DNS server refused query" },
	{ "garbage", "web.example.", MOOD_GARBAGE,
	  "name server 127.0.0.1: Misformatted DNS reply" },
	{ "truncated over TCP", "web.example.", MOOD_TRUNCATE_TWICE,
	  "name server 127.0.0.1: Misformatted DNS reply" },
	{ "hangs up", "web.example.", MOOD_HANG_UP,
	  "name server 127.0.0.1: Could not contact DNS servers" },
	{ "empty label", "a..b", MOOD_ANSWER, "a..b.b.example is no domain name" },
	{ "empty label first", ".a.", MOOD_ANSWER, ".a. is no domain name" },
	{ "empty label last", "a..", MOOD_ANSWER, "a.. is no domain name" },
	{ "empty", "", MOOD_ANSWER, " is no domain name" },
	{ "long label", LABEL_64 ".", MOOD_ANSWER, LABEL_64 ". is no domain name" },
};

/* What went wrong takes nothing away. */
static void test_failure(void **state)
{
	static const char *const good = "web.example";
	const struct bad_row *row = *state;
	struct dns_targets *first;
	struct place *p;
	void *own;

	(void)setup(&own);
	p = own;
	begin(p, DNS_AAAA, &good, LONG_NS);
	wait_answers(p, 1);
	first = p->targets;
	p->server.mood = row->mood;
	open_targets(p, DNS_AAAA, (const char *const[]){ good, row->name }, 2, LONG_NS);
	dns_targets_inherit(p->targets, first);
	dns_targets_free(first);
	dns_targets_start(p->targets);
	wait_answers(p, 3);
	assert_string_equal(dns_targets_name(p->targets, 1).problem, row->problem);
	assert_targets(p, "__address__=[2001:db8::1]:80 __meta_dns_name=web.example \n");
	(void)teardown(&own);
}

static void test_refreshed(void **state)
{
	static const char *const name = "web.example";
	struct place *p = *state;

	begin(p, DNS_A, &name, 10 * NS_PER_MS);
	wait_answers(p, 1);
	assert_int_equal(p->n_changes, 1);
	/* The same in another order is the same. */
	p->server.zone = (const struct zone_record[]){ zone[1], zone[0], zone[2] };
	p->server.n_zone = 3;
	wait_answers(p, p->n_answers + 2);
	assert_int_equal(p->n_changes, 1);
	/* One less, then none. */
	p->server.n_zone = 1;
	wait_answers(p, p->n_answers + 2);
	assert_int_equal(p->n_changes, 2);
	assert_targets(p, "__address__=10.0.0.1:80 __meta_dns_name=web.example \n");
	p->server.n_zone = 0;
	wait_answers(p, p->n_answers + 2);
	assert_int_equal(p->n_changes, 3);
	assert_targets(p, "");
}

/* The loopback interface has this address, too; there is no name server at it. */
#define NOBODY "127.0.0.2"

/* The second server, when the first is not there. */
static void test_next_server(void **state)
{
	static const char *const name = "web.example";
	struct place *p = *state;

	(void)strcpy(p->config.servers[0], NOBODY);
	(void)strcpy(p->config.servers[1], "127.0.0.1");
	p->config.n_servers = 2;
	begin(p, DNS_AAAA, &name, LONG_NS);
	wait_answers(p, 1);
	assert_string_equal(dns_targets_name(p->targets, 0).problem, "");
	assert_targets(p, "__address__=[2001:db8::1]:80 __meta_dns_name=web.example \n");
}

static void test_nobody_there(void **state)
{
	static const char *const name = "web.example";
	struct place *p = *state;

	(void)strcpy(p->config.servers[0], NOBODY);
	begin(p, DNS_A, &name, LONG_NS);
	wait_answers(p, 1);
	assert_string_equal(dns_targets_name(p->targets, 0).problem,
			    "name server 127.0.0.2: Could not contact DNS servers");
}

/* More than are asked at once; in their order. */
static void test_many_names(void **state)
{
	enum { N = 100 };
	struct place *p = *state;
	const char *names[N];
	_cleanup_target_list_ struct target_list list = { 0 };

	for (size_t i = 0; i < N; i++)
		names[i] = i % 2 ? "web.example." : "short.b.example.";
	open_targets(p, DNS_A, names, N, LONG_NS);
	dns_targets_start(p->targets);
	wait_answers(p, N);
	assert_int_equal(dns_targets_get(p->targets, &list), 0);
	assert_int_equal(list.n, N / 2 * 3);
	assert_string_equal(labels_get(list.items[0], "__address__"), "10.0.0.3:80");
	assert_string_equal(labels_get(list.items[1], "__address__"), "10.0.0.1:80");
	/* In the middle of it. */
	dns_targets_start(p->targets);
	(void)loop_run_once(p->loop, 0);
}

static void test_too_many_names(void **state)
{
	struct dns_targets_options options = { .n_names = DNS_TARGETS_MAX_NAMES + 1 };
	struct place *p = *state;

	assert_int_equal(dns_targets_new(p->loop, &options, on_answer, p, &p->targets), -E2BIG);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_refreshed),
	FIXTURE_TEST(test_next_server),
	FIXTURE_TEST(test_nobody_there),
	FIXTURE_TEST(test_many_names),
	FIXTURE_TEST(test_too_many_names),
	TEST_ROWS(test_answer, rows, title),
	TEST_ROWS(test_failure, bad_rows, title),
};

TEST_MAIN(tests)
