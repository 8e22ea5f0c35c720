/* SPDX-License-Identifier: Apache-2.0 */
/* One Push from its bytes into a store: bombs in each of its layers, a table of ceilings, what is kept all the same, and who goes first. */
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "agent/push/push.pb-c.h"
#include "agent/store/api/push.h"
#include "agent/util/macro.h"
#include "tests/support/made_profile.h"
#include "tests/support/unit.h"

#define NOW_MS INT64_C(1700000000000)
#define METRIC(name) "xagent_store_" name
#define LABELS "component_path=\"/\",component_id=\"pyroscope.store\"} "

static uint64_t now_ns(void)
{
	return (uint64_t)NOW_MS * NS_PER_MS;
}

struct context {
	struct loop *loop;
	struct worker *worker;
	struct telemetry *telemetry;
	struct store *store;
	atomic_bool stop;
	struct push push;
	size_t n_done;
	struct buf body;
};

static void set_up(struct context *w)
{
	struct store_options options = STORE_OPTIONS_INIT;
	_cleanup_buf_ struct buf why = BUF_INIT(1000);

	options.now_ns = now_ns;
	buf_init(&w->body, (size_t)64 << 20);
	assert_int_equal(loop_new(&w->loop), 0);
	assert_int_equal(worker_new(w->loop, 4, &w->worker), 0);
	assert_int_equal(telemetry_new(&w->telemetry), 0);
	assert_int_equal(store_new(w->loop, w->worker, w->telemetry, &options, &why, &w->store), 0);
}

static void tear_down(struct context *w)
{
	store_free(w->store);
	telemetry_free(w->telemetry);
	worker_free(w->worker);
	loop_free(w->loop);
	buf_fini(&w->body);
}

FIXTURE(struct context, set_up, tear_down)

static double metric_of(struct context *w, const char *series)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 20);

	assert_int_equal(telemetry_text(w->telemetry, &text), 0);
	const char *line = strstr(buf_str(&text), series);
	if (!line)
		fail_msg("no series %s", series);
	return strtod(line + strlen(series), NULL);
}

/* ---- requests ---- */

static void gzip(const void *bytes, size_t n, struct buf *out)
{
	z_stream z = { .next_in = (Bytef *)bytes, .avail_in = (uInt)n };

	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY), Z_OK);
	size_t room = deflateBound(&z, n);

	assert_int_equal(buf_reserve(out, room), 0);
	z.next_out = (Bytef *)out->data + out->len;
	z.avail_out = (uInt)room;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	out->len += room - z.avail_out;
	(void)deflateEnd(&z);
}

static void put_varint(struct buf *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		(void)buf_append_char(out, (char)(value | 0x80));
	(void)buf_append_char(out, (char)value);
}

static void put_part(struct buf *out, unsigned int field, const void *bytes, size_t n)
{
	put_varint(out, field << 3 | 2);
	put_varint(out, n);
	assert_int_equal(buf_append(out, bytes, n), 0);
}

/* One series of so many times the same profile. */
static void put_series(struct buf *out, const void *pprof, size_t n, size_t times)
{
	_cleanup_buf_ struct buf series = BUF_INIT((size_t)64 << 20), sample = BUF_INIT(n + 20);

	put_part(&series, 1, "\x0a\x08__name__\x12\x0bprocess_cpu", 23);
	put_part(&series, 1,
		 "\x0a\x0cservice_name\x12\x01"
		 "a",
		 17);
	put_part(&sample, 1, pprof, n);
	for (size_t i = 0; i < times; i++)
		put_part(&series, 2, buf_str(&sample), sample.len);
	put_part(out, 1, buf_str(&series), series.len);
}

static void on_done(struct push *push)
{
	CONTAINER_OF(push, struct context, push)->n_done++;
}

static void begin(struct context *w, const struct buf *body, bool is_gzip)
{
	push_init(&w->push, w->store, CONNECT_PROTO, &w->stop);
	w->push.done = on_done;
	w->push.call.is_gzip = is_gzip;
	buf_init(&w->push.call.received, (size_t)64 << 20);
	assert_int_equal(buf_append(&w->push.call.received, buf_str(body), body->len), 0);
	w->n_done = 0;
	push_begin(&w->push);
}

static const struct api_job *run(struct context *w, const struct buf *body, bool is_gzip)
{
	begin(w, body, is_gzip);
	store_drain(w->store);
	assert_int_equal(w->n_done, 1);
	return &w->push.call.job;
}

static const struct api_job *run_gzip(struct context *w, const struct buf *body)
{
	_cleanup_buf_ struct buf packed = BUF_INIT((size_t)64 << 20);

	gzip(buf_str(body), body->len, &packed);
	return run(w, &packed, true);
}

static void assert_refused(struct context *w, enum store_request_refusal refusal, const char *words)
{
	const struct api_job *job = &w->push.call.job;

	assert_int_equal(job->code, RPC_resource_exhausted);
	assert_int_equal(job->refusal, refusal);
	if (!strstr(buf_str(&job->why), words))
		fail_msg("%s", buf_str(&job->why));
	push_fini(&w->push);
}

static void assert_accounted(struct context *w, size_t n_received, size_t n_kept)
{
	struct store_stats stats;

	store_stats(w->store, &stats);
	assert_int_equal(stats.n_received_profiles, n_received);
	assert_int_equal(stats.n_profiles, n_kept);
	assert_int_equal(stats.n_refused_profiles, n_received - n_kept);
}

static void make_sound(struct buf *out, int64_t time_ms)
{
	struct made_profile made;
	size_t n;

	made_profile_init(&made, "cpu/nanoseconds", "cpu/nanoseconds", time_ms);
	made_profile_sample(&made, "main;f", (const int64_t[]){ 10 }, NULL);
	_cleanup_free_ uint8_t *bytes = made_profile_gzip(&made, &n);

	assert_int_equal(buf_append(out, bytes, n), 0);
	made_profile_fini(&made);
}

/* ---- bombs ---- */

/* A few kilobytes: 1,024 times 4 MiB in two layers of gzip. A text of 4 MiB is cheap to unpack, so that nothing else is in the way. */
static void test_profiles_that_inflate(void **state)
{
	struct context *w = *state;
	_cleanup_buf_ struct buf plain = BUF_INIT((size_t)8 << 20),
				 packed = BUF_INIT((size_t)8 << 20),
				 body = BUF_INIT((size_t)16 << 20),
				 bomb = BUF_INIT((size_t)64 << 20);
	_cleanup_free_ char *zeros = calloc(1, INGEST_MAX_PLAIN_BYTES);

	put_part(&plain, 6, zeros, INGEST_MAX_PLAIN_BYTES - 16);
	gzip(buf_str(&plain), plain.len, &packed);
	put_series(&body, buf_str(&packed), packed.len, PUSH_MAX_PROFILES);
	gzip(buf_str(&body), body.len, &bomb);
	assert_true(bomb.len < 64 << 10);
	(void)run(w, &bomb, true);
	/* Of all profiles so many were opened; the outer layer took some, too. */
	size_t n_opened = (PUSH_MAX_INFLATED_BYTES - body.len) / plain.len;

	assert_int_equal(w->push.sample, n_opened + 1);
	assert_refused(w, STORE_REQUEST_INFLATED, "more than 64 MiB after decompression");
	assert_accounted(w, PUSH_MAX_PROFILES, 0);
	assert_int_equal(
		metric_of(w, METRIC("refused_profiles_total{reason=\"request_limit\"," LABELS)),
		PUSH_MAX_PROFILES - n_opened);
}

/* What is damaged at its end was inflated all the same. */
static void test_damaged_profiles_that_inflate(void **state)
{
	struct context *w = *state;
	_cleanup_buf_ struct buf packed = BUF_INIT((size_t)8 << 20),
				 body = BUF_INIT((size_t)16 << 20);
	_cleanup_free_ char *zeros = calloc(1, INGEST_MAX_PLAIN_BYTES);

	gzip(zeros, INGEST_MAX_PLAIN_BYTES, &packed);
	packed.data[packed.len - 6] ^= 1;
	put_series(&body, buf_str(&packed), packed.len, PUSH_MAX_PROFILES);
	(void)run_gzip(w, &body);
	assert_refused(w, STORE_REQUEST_INFLATED, "more than 64 MiB after decompression");
}

/* 4 M series of two bytes each, as large as a message may be: nothing is unpacked. */
static void test_empty_series(void **state)
{
	struct context *w = *state;

	while (w->body.len < RPC_MAX_PUSH_BYTES)
		(void)buf_append(&w->body, "\x0a\x00", 2);
	(void)run_gzip(w, &w->body);
	assert_null(w->push.call.request);
	assert_int_equal(w->push.call.budget.left_bytes, w->push.call.budget.max_bytes);
	assert_refused(w, STORE_REQUEST_ELEMENTS, "more than 65536 values");
}

static void test_message_size(void **state)
{
	struct context *w = *state;

	while (w->body.len <= RPC_MAX_PUSH_BYTES)
		(void)buf_append(&w->body, "\x0a\x00", 2);
	(void)run_gzip(w, &w->body);
	assert_refused(w, STORE_REQUEST_SIZE, "message size after decompression is larger");
	(void)run(w, &w->body, false);
	assert_refused(w, STORE_REQUEST_SIZE, "is larger than 8388608");
}

/* Profiles of empty samples: each is refused by what it would take, and none is unpacked. */
static void test_profiles_of_empty_samples(void **state)
{
	struct context *w = *state;
	_cleanup_buf_ struct buf plain = BUF_INIT((size_t)8 << 20),
				 packed = BUF_INIT((size_t)8 << 20);

	while (plain.len < INGEST_MAX_PLAIN_BYTES)
		(void)buf_append(&plain, "\x12\x00", 2);
	gzip(buf_str(&plain), plain.len, &packed);
	put_series(&w->body, buf_str(&packed), packed.len, 4);
	const struct api_job *job = run_gzip(w, &w->body);

	assert_int_equal(job->code, RPC_invalid_argument);
	assert_string_equal(buf_str(&job->why), "the profile takes more than 48 MiB unpacked");
	push_fini(&w->push);
	assert_accounted(w, 4, 0);
}

/* Numbers of one byte, packed: as many as there is room for, in profile after profile. */
static void test_elements(void **state)
{
	struct context *w = *state;
	size_t n = INGEST_MAX_PLAIN_BYTES - 16, times = PUSH_MAX_ELEMENTS / n + 1;
	_cleanup_buf_ struct buf plain = BUF_INIT((size_t)8 << 20),
				 packed = BUF_INIT((size_t)8 << 20);
	_cleanup_free_ char *ones = malloc(n);

	assert_non_null(ones);
	memset(ones, 1, n);
	put_part(&plain, 13, ones, n); /* comments */
	gzip(buf_str(&plain), plain.len, &packed);
	put_series(&w->body, buf_str(&packed), packed.len, times);
	(void)run_gzip(w, &w->body);
	assert_int_equal(w->push.sample, times);
	assert_refused(w, STORE_REQUEST_ELEMENTS, "more than 16777216 values");
	put_series(&w->body, "", 0, 1);
	assert_accounted(w, times, 0);
}

/* ---- ceilings of one request ---- */

struct count_row {
	const char *name;
	size_t n_series, n_profiles;
	enum rpc_code code;
	const char *words;
};

static const struct count_row count_rows[] = {
	{ "as many series as it may have", PUSH_MAX_SERIES, 1, RPC_ok, "" },
	{ "one series more", PUSH_MAX_SERIES + 1, 0, RPC_invalid_argument,
	  "more than 1024 series" },
	{ "as many profiles as it may have", 1, PUSH_MAX_PROFILES, RPC_ok, "" },
	{ "one profile more", 1, PUSH_MAX_PROFILES + 1, RPC_invalid_argument,
	  "more than 1024 profiles" },
	{ "none", 1, 0, RPC_invalid_argument, "no profiles received" },
};

static void test_counts(void **state)
{
	const struct count_row *row = *state;
	_cleanup_buf_ struct buf pprof = BUF_INIT(100000), body = BUF_INIT((size_t)8 << 20);
	void *own = NULL;

	(void)setup(&own);
	struct context *w = own;

	make_sound(&pprof, NOW_MS);
	for (size_t i = 0; i < row->n_series; i++)
		put_series(&body, buf_str(&pprof), pprof.len,
			   row->n_profiles > 0 ? row->n_profiles : i == 0 && row->n_series > 1);
	const struct api_job *job = run(w, &body, false);

	assert_int_equal(job->code, row->code);
	assert_non_null(strstr(buf_str(&job->why), row->words));
	push_fini(&w->push);
	(void)teardown(&own);
}

/* The message itself, series of two values each (a sample in it), and what is left. */
static void test_elements_of_message(void **state)
{
	struct context *w = *state;

	for (size_t i = 0; i < (RPC_MAX_ELEMENTS - 2) / 2; i++)
		(void)buf_append(&w->body, "\x0a\x02\x12\x00", 4);
	(void)buf_append(&w->body, "\x0a\x00", 2);
	/* As many as it may have: then its series are too many. */
	assert_int_equal(run(w, &w->body, false)->code, RPC_invalid_argument);
	assert_int_equal(w->push.call.n_elements, RPC_MAX_ELEMENTS);
	push_fini(&w->push);
	(void)buf_append(&w->body, "\x0a\x00", 2);
	(void)run(w, &w->body, false);
	assert_refused(w, STORE_REQUEST_ELEMENTS, "more than 65536 values");
}

/* ---- what is kept ---- */

/* What came before the end of the budget stays, and the same request again finds it there. */
static void test_kept_before(void **state)
{
	struct context *w = *state;
	_cleanup_buf_ struct buf sound = BUF_INIT(100000), plain = BUF_INIT((size_t)8 << 20),
				 packed = BUF_INIT((size_t)8 << 20);
	_cleanup_free_ char *zeros = calloc(1, INGEST_MAX_PLAIN_BYTES);

	make_sound(&sound, NOW_MS);
	put_series(&w->body, buf_str(&sound), sound.len, 1);
	gzip(zeros, INGEST_MAX_PLAIN_BYTES, &packed);
	put_series(&w->body, buf_str(&packed), packed.len, 20);
	put_series(&w->body, buf_str(&sound), sound.len, 3);
	(void)run(w, &w->body, false);
	assert_refused(w, STORE_REQUEST_INFLATED, "64 MiB");
	assert_accounted(w, 24, 1);
	(void)run(w, &w->body, false);
	push_fini(&w->push);
	assert_int_equal(metric_of(w, METRIC("repeated_profiles_total{" LABELS)), 1);
}

static void test_time(void **state)
{
	struct context *w = *state;
	_cleanup_buf_ struct buf sound = BUF_INIT(100000);

	make_sound(&sound, NOW_MS);
	put_series(&w->body, buf_str(&sound), sound.len, 2);
	begin(w, &w->body, false);
	/* The first step has begun perhaps; a nanosecond is over with it. */
	w->push.budget.left.cpu_ns = 1;
	store_drain(w->store);
	assert_refused(w, STORE_REQUEST_TIME, "more than 5 s");
}

/* ---- who goes first ---- */

struct blocker {
	struct store_task task;
	int fds[2];
};

static void blocker_run(struct store_task *task)
{
	struct pollfd fd = { .fd = CONTAINER_OF(task, struct blocker, task)->fds[0],
			     .events = POLLIN };

	(void)poll(&fd, 1, 10000);
}

static void blocker_done(struct store_task *task)
{
	struct blocker *b = CONTAINER_OF(task, struct blocker, task);

	(void)close(b->fds[0]);
	(void)close(b->fds[1]);
}

/* The ingest thread does nothing until a byte comes. */
static void block(struct context *w, struct blocker *b)
{
	*b = (struct blocker){ .task = { .run = blocker_run, .done = blocker_done } };
	assert_int_equal(pipe2(b->fds, O_CLOEXEC), 0);
	store_task_submit(w->store, &b->task, STORE_TASK_FOREIGN);
}

static void unblock(struct blocker *b)
{
	assert_int_equal(write(b->fds[1], "x", 1), 1);
}

struct own {
	struct store_put put;
	struct context *w;
	uint64_t n_received; /* with it, when it was in */
};

static void own_done(struct store_put *put)
{
	struct own *own = CONTAINER_OF(put, struct own, put);

	struct store_stats stats;

	store_stats(own->w->store, &stats);
	own->n_received = stats.n_received_profiles;
}

/* This agent's profile comes last, and is in before the first of the push. */
static void test_own_first(void **state)
{
	static const struct label items[] = { { "__name__", "process_cpu" } };
	struct context *w = *state;
	_cleanup_(labels_unrefp) struct labels *labels = NULL;
	_cleanup_buf_ struct buf sound = BUF_INIT(100000), why = BUF_INIT(1000);
	struct own own = { .w = w };
	struct blocker b;

	assert_int_equal(labels_new(items, ARRAY_SIZE(items), &labels), 0);
	make_sound(&sound, NOW_MS);
	put_series(&w->body, buf_str(&sound), sound.len, PUSH_MAX_PROFILES);
	block(w, &b);
	begin(w, &w->body, false);
	own.put = (struct store_put){ .labels = labels,
				      .pprof = (const uint8_t *)sound.data,
				      .n = sound.len,
				      .done = own_done,
				      .why = &why };
	store_put(w->store, &own.put);
	unblock(&b);
	store_drain(w->store);
	assert_int_equal(own.put.result, STORE_KEPT);
	/* Only itself had come in when it was done. */
	assert_int_equal(own.n_received, 1);
	assert_int_equal(w->n_done, 1);
	push_fini(&w->push);
	assert_int_equal(metric_of(w, METRIC("repeated_profiles_total{" LABELS)),
			 PUSH_MAX_PROFILES - 1);
}

/* Whoever waits for it: `unavailable`, whatever step it is in, and what was not looked at is counted. */
static void test_stopped(void **state)
{
	struct context *w = *state;
	_cleanup_buf_ struct buf sound = BUF_INIT(100000);
	struct blocker b;

	make_sound(&sound, NOW_MS);
	put_series(&w->body, buf_str(&sound), sound.len, 10);
	block(w, &b);
	begin(w, &w->body, false);
	atomic_store(&w->stop, true);
	unblock(&b);
	store_drain(w->store);
	assert_int_equal(w->push.call.job.code, RPC_unavailable);
	push_fini(&w->push);
	assert_accounted(w, 0, 0);
	/* In the middle: the message is there. */
	atomic_store(&w->stop, false);
	begin(w, &w->body, false);
	while (!w->push.call.request)
		assert_int_equal(loop_run_once(w->loop, 100), 0);
	atomic_store(&w->stop, true);
	store_drain(w->store);
	assert_int_equal(w->push.call.job.code, RPC_unavailable);
	push_fini(&w->push);
	struct store_stats stats;
	store_stats(w->store, &stats);
	assert_int_equal(stats.n_received_profiles, 10);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_profiles_that_inflate),
	FIXTURE_TEST(test_damaged_profiles_that_inflate),
	FIXTURE_TEST(test_empty_series),
	FIXTURE_TEST(test_message_size),
	FIXTURE_TEST(test_profiles_of_empty_samples),
	FIXTURE_TEST(test_elements),
	FIXTURE_TEST(test_elements_of_message),
	FIXTURE_TEST(test_kept_before),
	FIXTURE_TEST(test_time),
	FIXTURE_TEST(test_own_first),
	FIXTURE_TEST(test_stopped),
	TEST_ROWS(test_counts, count_rows, name),
};

TEST_MAIN(tests)
