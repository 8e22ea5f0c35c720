/* SPDX-License-Identifier: Apache-2.0 */
/* A pusher with a spool: what the server does not take waits on disk, arrives once, or is counted. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/http/server.h"
#include "agent/push/push.h"
#include "agent/push/push.pb-c.h"
#include "agent/util/clock.h"
#include "agent/util/hash.h"
#include "tests/support/unit.h"

#define HOUR_NS (3600 * NS_PER_S)
#define MAX_PROFILES 4096

struct fixture {
	struct loop *loop;
	struct telemetry *telemetry;
	struct http_client *http;
	struct http_server *server;
	struct pusher *pusher;
	struct push_endpoint_options endpoint;
	struct pusher_options options;
	char top[64], path[80], url[64];
	unsigned int status;
	unsigned int seen[MAX_PROFILES]; /* by the number in the profile */
	unsigned int order[MAX_PROFILES];
	unsigned int n_seen;
	bool flushed;
};

static void answer_push(const struct http_call *call, struct http_answer *answer, void *data)
{
	struct fixture *f = data;
	size_t n;
	const void *body = http_call_body(call, &n);
	Push__V1__PushRequest *rq = push__v1__push_request__unpack(NULL, n, body);
	uint32_t number;

	assert_non_null(rq);
	memcpy(&number, rq->series[0]->samples[0]->raw_profile.data, sizeof(number));
	assert_in_range(number, 0, MAX_PROFILES - 1);
	push__v1__push_request__free_unpacked(rq, NULL);
	answer->status = f->status;
	answer->content_type = "application/proto";
	if (f->status != 200)
		return;
	f->seen[number]++;
	f->order[f->n_seen++] = number;
}

static void set_up(struct fixture *f)
{
	struct http_server_options options = HTTP_SERVER_OPTIONS_INIT;
	const struct http_route route = { .method = "POST",
					  .path = "/push.v1.PusherService/Push",
					  .fn = answer_push,
					  .data = f,
					  .max_body_bytes = 1 << 20 };
	char error[HTTP_SERVER_MAX_ERROR_BYTES];

	f->status = 503;
	assert_int_equal(loop_new(&f->loop), 0);
	assert_int_equal(telemetry_new(&f->telemetry), 0);
	assert_int_equal(http_client_new(f->loop, &f->http), 0);
	options.listen = "127.0.0.1:0";
	assert_int_equal(http_server_new(f->loop, &options, &f->server, error), HTTP_LISTENING);
	assert_int_equal(http_server_add_route(f->server, &route), 0);
	(void)snprintf(f->top, sizeof(f->top), "/tmp/test_spool.XXXXXX");
	assert_non_null(mkdtemp(f->top));
	(void)snprintf(f->path, sizeof(f->path), "%s/spool", f->top);
	(void)snprintf(f->url, sizeof(f->url), "http://127.0.0.1:%u", http_server_port(f->server));
	f->endpoint = PUSH_ENDPOINT_OPTIONS_INIT;
	f->endpoint.url = f->url;
	f->endpoint.backoff.min_ns = NS_PER_MS;
	f->endpoint.backoff.max_ns = 4 * NS_PER_MS;
	f->endpoint.spool_path = f->path;
	f->endpoint.spool_max_bytes = 64 << 20;
	f->endpoint.spool_max_age_ns = HOUR_NS;
	f->options = PUSHER_OPTIONS_INIT;
	f->options.endpoints = &f->endpoint;
	f->options.n_endpoints = 1;
}

static size_t remove_files(const char *path)
{
	DIR *d = opendir(path);
	size_t n = 0;

	for (struct dirent *e; d && (e = readdir(d));)
		if (e->d_name[0] != '.')
			n += unlinkat(dirfd(d), e->d_name, 0) == 0;
	if (d)
		(void)closedir(d);
	(void)rmdir(path);
	return n;
}

static void tear_down(struct fixture *f)
{
	pusher_free(f->pusher);
	http_client_free(f->http);
	http_server_free(f->server);
	telemetry_free(f->telemetry);
	loop_free(f->loop);
	(void)remove_files(f->path);
	(void)remove_files(f->top);
}

FIXTURE(struct fixture, set_up, tear_down)

static void make_pusher(struct fixture *f)
{
	assert_int_equal(pusher_new(f->loop, f->http, f->telemetry, &f->options, &f->pusher), 0);
}

static void push(struct fixture *f, uint32_t number, size_t n, uint64_t deadline_ns)
{
	static const struct push_label labels[] = { { "service_name", "s" },
						    { "__name__", "process_cpu" } };
	uint8_t *bytes = malloc(n);
	struct push_item item = { .labels = labels, .n_labels = 2, .n_samples = 1 };

	assert_non_null(bytes);
	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)hash_u64(number * 7 + i);
	memcpy(bytes, &number, sizeof(number));
	item.deadline_ns = deadline_ns;
	assert_int_equal(shared_bytes_new(bytes, n, &item.bytes), 0);
	assert_int_equal(pusher_push(f->pusher, &item), 0);
	shared_bytes_unref(item.bytes);
}

static void push_many(struct fixture *f, uint32_t from, uint32_t to, size_t n)
{
	for (uint32_t i = from; i < to; i++)
		push(f, i, n, clock_real_ns() + HOUR_NS);
}

static struct push_endpoint_stats stats(struct fixture *f)
{
	struct push_endpoint_stats s;

	pusher_stats(f->pusher, 0, &s);
	return s;
}

static double value_of(struct fixture *f, const char *series)
{
	_cleanup_buf_ struct buf out = BUF_INIT(8 << 20);

	assert_int_equal(telemetry_text(f->telemetry, &out), 0);
	const char *at = strstr(buf_str(&out), series);
	if (!at)
		fail_msg("no %s in %s", series, buf_str(&out));
	return strtod(strchr(at, '}') + 1, NULL);
}

static double dropped(struct fixture *f, const char *cause)
{
	char series[160];

	(void)snprintf(series, sizeof(series),
		       "\nxagent_push_dropped_profiles_total{endpoint=\"%s\",cause=\"%s\"", f->url,
		       cause);
	return value_of(f, series);
}

static double spooled(struct fixture *f)
{
	return value_of(f, "\nxagent_push_spool_profiles{");
}

static double in_memory(struct fixture *f)
{
	return value_of(f, "\npyroscope_write_queue_profiles{");
}

#define RUN_UNTIL(f, condition)                                           \
	do {                                                              \
		uint64_t end_ = clock_mono_ns() + 20 * NS_PER_S;          \
		while (!(condition) && clock_mono_ns() < end_)            \
			assert_int_equal(loop_run_once((f)->loop, 5), 0); \
		assert_true(condition);                                   \
	} while (0)

static void assert_each_once(const struct fixture *f, unsigned int n)
{
	assert_int_equal(f->n_seen, n);
	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(f->seen[i], 1);
}

static void on_flushed(void *data)
{
	struct fixture *f = data;

	f->flushed = true;
	pusher_free(f->pusher);
	f->pusher = NULL;
}

static void end_run(struct fixture *f)
{
	f->flushed = false;
	pusher_flush(f->pusher, clock_mono_ns() + 200 * NS_PER_MS, on_flushed, f);
	RUN_UNTIL(f, f->flushed);
}

static void test_outage_is_on_disk(void **state)
{
	struct fixture *f = *state;

	make_pusher(f);
	push_many(f, 0, 200, 500);
	/* All but the one that probes. */
	RUN_UNTIL(f, spooled(f) == 200 && in_memory(f) <= 1);
	assert_true(value_of(f, "\nxagent_push_spool_bytes{") > 200 * 500);
	assert_int_equal(stats(f).queued_profiles, 200);
	f->status = 200;
	RUN_UNTIL(f, stats(f).sent_profiles == 200);
	assert_each_once(f, 200);
	assert_int_equal(stats(f).dropped_profiles, 0);
	RUN_UNTIL(f, spooled(f) == 0 && value_of(f, "\nxagent_push_spool_bytes{") == 0);
	end_run(f);
	assert_int_equal(remove_files(f->path), 0);
}

static void test_nothing_on_disk_without_outage(void **state)
{
	struct fixture *f = *state;

	f->status = 200;
	make_pusher(f);
	push_many(f, 0, 20, 500);
	RUN_UNTIL(f, stats(f).sent_profiles == 20);
	assert_int_equal(access(f->path, F_OK), -1);
}

static void test_next_run_sends_it(void **state)
{
	struct fixture *f = *state;

	make_pusher(f);
	push_many(f, 0, 50, 500);
	end_run(f);
	assert_true(dropped(f, "shutdown") == 0);
	make_pusher(f);
	RUN_UNTIL(f, value_of(f, "\nxagent_push_spool_found_profiles_total{") == 50);
	f->status = 200;
	push_many(f, 50, 60, 500);
	RUN_UNTIL(f, f->n_seen == 60);
	assert_each_once(f, 60);
	end_run(f);
	make_pusher(f);
	push_many(f, 60, 61, 500);
	RUN_UNTIL(f, f->n_seen == 61);
	assert_each_once(f, 61);
}

/* Newest first, but the oldest does not wait for the last. */
static void test_order(void **state)
{
	struct fixture *f = *state;
	unsigned int newest = 0, oldest = 0;

	f->options.max_in_flight = 1;
	make_pusher(f);
	push_many(f, 0, 100, 500);
	end_run(f);
	f->status = 200;
	make_pusher(f);
	RUN_UNTIL(f, f->n_seen == 100);
	assert_each_once(f, 100);
	for (unsigned int i = 0; i < 20; i++) {
		newest += f->order[i] >= 80;
		oldest += f->order[i] < 20;
	}
	assert_true(newest >= 12);
	assert_true(oldest >= 1);
}

static void test_bounded_by_bytes(void **state)
{
	struct fixture *f = *state;

	f->endpoint.spool_max_bytes = 1 << 20;
	make_pusher(f);
	for (uint32_t i = 0; i < 1000; i++) {
		push_many(f, i, i + 1, 4000);
		assert_int_equal(loop_run_once(f->loop, 0), 0);
	}
	RUN_UNTIL(f, in_memory(f) <= 1);
	assert_true(value_of(f, "\nxagent_push_spool_bytes{") <= 1 << 20);
	struct push_endpoint_stats s = stats(f);
	assert_true(s.dropped_profiles > 0);
	assert_true(dropped(f, "spool_full") == (double)s.dropped_profiles);
	assert_int_equal(s.queued_profiles + s.dropped_profiles, 1000);
	f->status = 200;
	RUN_UNTIL(f, stats(f).queued_profiles == 0);
	s = stats(f);
	assert_int_equal(s.sent_profiles + s.dropped_profiles, 1000);
	assert_int_equal(f->n_seen, s.sent_profiles);
	/* The oldest went. */
	assert_int_equal(f->seen[999], 1);
	assert_int_equal(f->seen[0], 0);
}

static void test_bounded_by_age(void **state)
{
	struct fixture *f = *state;

	f->endpoint.spool_max_age_ns = 300 * NS_PER_MS;
	make_pusher(f);
	push_many(f, 0, 20, 500);
	RUN_UNTIL(f, spooled(f) == 20);
	RUN_UNTIL(f, stats(f).queued_profiles == 0);
	assert_true(dropped(f, "too_old") == 20);
	f->status = 200;
	push_many(f, 20, 21, 500);
	RUN_UNTIL(f, stats(f).sent_profiles == 1);
	assert_int_equal(f->n_seen, 1);
}

static void test_no_disk(void **state)
{
	struct fixture *f = *state;

	/* A file where the directory should be. */
	(void)close(open(f->path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	make_pusher(f);
	push_many(f, 0, 20, 500);
	RUN_UNTIL(f, value_of(f, "\nxagent_push_spool_failing{") == 1);
	assert_int_equal(stats(f).queued_profiles, 20);
	assert_true(spooled(f) == 0);
	f->status = 200;
	RUN_UNTIL(f, stats(f).sent_profiles == 20);
	assert_each_once(f, 20);
	assert_int_equal(unlink(f->path), 0);
}

static void test_directory_removed(void **state)
{
	struct fixture *f = *state;

	make_pusher(f);
	push_many(f, 0, 20, 500);
	RUN_UNTIL(f, spooled(f) == 20);
	assert_int_equal(remove_files(f->path), 1);
	push_many(f, 20, 30, 500);
	/* What was in it is lost, and that is said; what came later is not. */
	RUN_UNTIL(f, dropped(f, "spool_damaged") >= 19);
	f->status = 200;
	RUN_UNTIL(f, stats(f).queued_profiles == 0);
	struct push_endpoint_stats s = stats(f);
	assert_int_equal(s.sent_profiles + s.dropped_profiles, 30);
	for (unsigned int i = 20; i < 30; i++)
		assert_int_equal(f->seen[i], 1);
}

static void flip_in(const char *path, off_t at)
{
	char name[160];
	uint8_t byte;

	(void)snprintf(name, sizeof(name), "%s/spool-%016x.seg", path, 1);
	int fd = open(name, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &byte, 1, at), 1);
	byte ^= 1;
	assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	(void)close(fd);
}

static void test_damage_is_counted(void **state)
{
	struct fixture *f = *state;

	make_pusher(f);
	push_many(f, 0, 20, 500);
	end_run(f);
	flip_in(f->path, 2000);
	f->status = 200;
	make_pusher(f);
	RUN_UNTIL(f, f->n_seen == 19 && dropped(f, "spool_damaged") == 1);
	end_run(f);
	assert_int_equal(remove_files(f->path), 0);
}

/* More failures than max_backoff_retries: the server was away, and the profiles waited. */
static void test_outage_is_no_attempt(void **state)
{
	struct fixture *f = *state;

	f->endpoint.backoff.max_attempts = 3;
	make_pusher(f);
	push_many(f, 0, 3, 500);
	RUN_UNTIL(f, stats(f).n_failures > 30);
	assert_true(dropped(f, "attempts") <= 1);
	unsigned int lost = (unsigned int)stats(f).dropped_profiles;
	f->status = 200;
	RUN_UNTIL(f, stats(f).sent_profiles == 3 - lost);
	/* An answer that is about the profile counts. */
	f->status = 500;
	push_many(f, 3, 4, 500);
	RUN_UNTIL(f, stats(f).dropped_profiles == lost + 1);
	assert_true(dropped(f, "attempts") == lost + 1);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_outage_is_on_disk), FIXTURE_TEST(test_nothing_on_disk_without_outage),
	FIXTURE_TEST(test_next_run_sends_it), FIXTURE_TEST(test_order),
	FIXTURE_TEST(test_bounded_by_bytes),  FIXTURE_TEST(test_bounded_by_age),
	FIXTURE_TEST(test_no_disk),	      FIXTURE_TEST(test_directory_removed),
	FIXTURE_TEST(test_damage_is_counted), FIXTURE_TEST(test_outage_is_no_attempt),
};

TEST_MAIN(tests)
