/* SPDX-License-Identifier: Apache-2.0 */
/* The store in memory: what is kept, what goes out and when, and that it never takes more than it may. */
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/store.h"
#include "agent/util/macro.h"
#include "tests/support/alloc_fail.h"
#include "tests/support/made_profile.h"
#include "tests/support/store_sync.h"
#include "tests/support/unit.h"

#define T0_MS INT64_C(1700000000000)
#define MINUTE_MS (60 * 1000)

/* The clock of a store takes no argument. */
static int64_t now_ms;

static uint64_t now_ns(void)
{
	return (uint64_t)now_ms * NS_PER_MS;
}

struct context {
	struct loop *loop;
	struct worker *worker;
	struct telemetry *telemetry;
	struct store *store;
	struct buf why;
};

static void set_up(struct context *w)
{
	now_ms = T0_MS;
	w->why = BUF_INIT(10000);
	assert_int_equal(loop_new(&w->loop), 0);
	assert_int_equal(worker_new(w->loop, 4, &w->worker), 0);
	assert_int_equal(telemetry_new(&w->telemetry), 0);
}

static void tear_down(struct context *w)
{
	store_free(w->store);
	telemetry_free(w->telemetry);
	worker_free(w->worker);
	loop_free(w->loop);
	buf_fini(&w->why);
}

FIXTURE(struct context, set_up, tear_down)

static void start(struct context *w, size_t max_bytes)
{
	struct store_options options = STORE_OPTIONS_INIT;

	options.max_bytes = max_bytes;
	options.segment_ns = 600 * NS_PER_S;
	options.now_ns = now_ns;
	assert_int_equal(store_new(w->loop, w->worker, w->telemetry, &options, &w->why, &w->store),
			 0);
}

static struct store_stats stats_of(struct context *w)
{
	struct store_stats stats;

	store_stats(w->store, &stats);
	return stats;
}

static struct labels *service_labels(const char *service)
{
	const struct label items[] = { { "__name__", "process_cpu" }, { "service_name", service } };
	struct labels *labels;

	assert_int_equal(labels_new(items, ARRAY_SIZE(items), &labels), 0);
	return labels;
}

static int put_made(struct context *w, const char *service, const struct made_profile *made)
{
	struct labels *labels = service_labels(service);
	size_t n;
	uint8_t *bytes = made_profile_gzip(made, &n);
	int r = store_sync_put(w->store, labels, bytes, n, &w->why);

	free(bytes);
	labels_unref(labels);
	return r;
}

static int put(struct context *w, const char *service, int64_t time_ms, const char *stack)
{
	struct made_profile made;

	made_profile_init(&made, "cpu/nanoseconds", "cpu/nanoseconds", time_ms);
	made_profile_sample(&made, stack, (const int64_t[]){ 10 }, NULL);
	int r = put_made(w, service, &made);

	made_profile_fini(&made);
	return r;
}

static uint64_t n_in_view(struct context *w, int64_t start_ms, int64_t end_ms)
{
	struct store_view view;
	uint64_t n = 0;

	assert_int_equal(store_sync_view(w->store, start_ms, end_ms, &view), 0);
	for (size_t i = 0; i < view.n; i++)
		for (size_t j = 0; j < segment_n_series(view.segments[i]); j++) {
			struct segment_series x;
			struct segment_slot slot;

			segment_series(view.segments[i], j, &x);
			for (size_t k = x.first_slot; k < x.first_slot + x.n_slots; k++) {
				segment_slot(view.segments[i], k, &slot);
				n += slot.n_profiles;
			}
		}
	store_view_fini(&view);
	return n;
}

static double metric_of(struct context *w, const char *line)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 20);
	double value = -1;

	assert_int_equal(telemetry_text(w->telemetry, &text), 0);
	char *found = strstr(text.data, line);

	if (found)
		value = strtod(strchr(found, '}') + 1, NULL);
	return value;
}

#define METRIC(name) \
	"\nxagent_store_" name "{component_path=\"/\",component_id=\"pyroscope.store\"}"
#define METRIC_BY(name, reason)                    \
	"\nxagent_store_" name "{reason=\"" reason \
	"\",component_path=\"/\",component_id=\"pyroscope.store\"}"

static void test_put(void **state)
{
	struct context *w = *state;

	start(w, 1 << 20);
	assert_int_equal(n_in_view(w, 0, INT64_MAX), 0);
	assert_int_equal(stats_of(w).oldest_ms, 0);
	assert_int_equal(put(w, "a", T0_MS - 5000, "main;f"), STORE_KEPT);
	assert_int_equal(put(w, "a", T0_MS, "main;f"), STORE_KEPT);
	assert_int_equal(put(w, "a", T0_MS, "main;g"), STORE_REPEATED);
	assert_int_equal(put(w, "a", T0_MS + 1, "main;g"), STORE_KEPT);
	assert_int_equal(put(w, "b", T0_MS, "main;f"), STORE_KEPT);
	assert_int_equal(put(w, "b", T0_MS + 11 * MINUTE_MS, "main;f"), STORE_REFUSED);
	struct store_stats stats = stats_of(w);

	assert_int_equal(stats.n_profiles, 4);
	assert_int_equal(stats.n_samples, 4);
	assert_int_equal(stats.n_series, 2);
	assert_int_equal(stats.n_received_profiles, 6);
	assert_int_equal(stats.n_refused_profiles, 1);
	assert_true(stats.n_received_bytes > 100);
	assert_int_equal(stats.oldest_ms, T0_MS - 5000);
	assert_int_equal(stats.newest_ms, T0_MS + 1);
	assert_int_equal(n_in_view(w, 0, INT64_MAX), 4);
	assert_int_equal(n_in_view(w, T0_MS + 2, INT64_MAX), 0);
	assert_int_equal(n_in_view(w, 0, T0_MS - 5001), 0);
}

static void test_metrics(void **state)
{
	struct context *w = *state;

	start(w, 1 << 20);
	(void)put(w, "a", T0_MS, "main;f");
	(void)put(w, "a", T0_MS, "main;f");
	(void)put(w, "a", T0_MS - 7 * 60 * MINUTE_MS, "main;f");
	assert_int_equal(metric_of(w, METRIC("received_profiles_total")), 3);
	assert_true(metric_of(w, METRIC("received_bytes_total")) > 100);
	assert_int_equal(metric_of(w, METRIC("repeated_profiles_total")), 1);
	assert_int_equal(
		metric_of(w, METRIC_BY("refused_profiles_total", "not_in_ingestion_window")), 1);
	assert_int_equal(metric_of(w, METRIC_BY("refused_profiles_total", "invalid_labels")), 0);
	assert_int_equal(metric_of(w, METRIC_BY("refused_profiles_total", "malformed_profile")), 0);
	assert_int_equal(metric_of(w, METRIC_BY("refused_profiles_total", "profile_size_limit")),
			 0);
	assert_int_equal(metric_of(w, METRIC_BY("refused_profiles_total", "samples_limit")), 0);
	assert_int_equal(metric_of(w, METRIC_BY("refused_profiles_total", "store_limit")), 0);
	assert_int_equal(metric_of(w, METRIC("profiles")), 1);
	assert_int_equal(metric_of(w, METRIC("samples")), 1);
	assert_int_equal(metric_of(w, METRIC("series")), 1);
	assert_int_equal(metric_of(w, METRIC("segments")), 0);
	assert_int_equal(metric_of(w, METRIC("max_bytes")), 1 << 20);
	assert_int_equal(metric_of(w, METRIC("bytes")), stats_of(w).bytes);
	assert_int_equal(metric_of(w, METRIC("disk_bytes")), 0);
	assert_int_equal(metric_of(w, METRIC("disk_files")), 0);
	assert_int_equal(metric_of(w, METRIC("disk_written_bytes_total")), 0);
	assert_int_equal(metric_of(w, METRIC("disk_errors_total")), 0);
	assert_int_equal(metric_of(w, METRIC("disk_damaged_files_total")), 0);
	now_ms += 7 * 60 * MINUTE_MS;
	(void)put(w, "b", now_ms, "main;f");
	assert_int_equal(metric_of(w, METRIC_BY("evicted_profiles_total", "age")), 1);
	assert_int_equal(metric_of(w, METRIC_BY("evicted_profiles_total", "bytes")), 0);
}

/* Each sample type and each set of sample labels is a profile; a second one is a repetition only of those that are there. */
static void test_several_series(void **state)
{
	struct context *w = *state;
	struct made_profile made;

	start(w, 1 << 20);
	made_profile_init(&made, "alloc_objects/count alloc_space/bytes", "space/bytes", T0_MS);
	made_profile_sample(&made, "main;f", (const int64_t[]){ 1, 64 }, NULL);
	made_profile_sample(&made, "main;g", (const int64_t[]){ 0, 8 }, "thread=a");
	/* One number below zero, and all of the sample goes. */
	made_profile_sample(&made, "main;h", (const int64_t[]){ 5, -1 }, NULL);
	assert_int_equal(put_made(w, "a", &made), STORE_KEPT);
	assert_int_equal(stats_of(w).n_series, 3);
	assert_int_equal(stats_of(w).n_profiles, 3);
	assert_int_equal(stats_of(w).n_samples, 3);
	assert_int_equal(put_made(w, "a", &made), STORE_REPEATED);
	made_profile_sample(&made, "main;g", (const int64_t[]){ 1, 8 }, "thread=b");
	assert_int_equal(put_made(w, "a", &made), STORE_KEPT);
	assert_int_equal(stats_of(w).n_profiles, 5);
	made_profile_fini(&made);
}

static void test_closed_head(void **state)
{
	struct context *w = *state;

	start(w, 1 << 20);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(put(w, "a", now_ms, "main;f"), STORE_KEPT);
		now_ms += 11 * MINUTE_MS;
	}
	/* The third is still in the head. */
	assert_int_equal(stats_of(w).n_segments, 2);
	assert_int_equal(stats_of(w).n_profiles, 3);
	assert_int_equal(n_in_view(w, 0, INT64_MAX), 3);
	assert_int_equal(n_in_view(w, T0_MS, T0_MS), 1);
	assert_int_equal(put(w, "a", T0_MS, "main;f"), STORE_REPEATED);
	assert_int_equal(put(w, "b", T0_MS, "main;f"), STORE_KEPT);
	assert_int_equal(put(w, "a", T0_MS + 1, "main;f"), STORE_KEPT);
	assert_int_equal(n_in_view(w, T0_MS, T0_MS + 1), 3);
}

/* A view is by time, also when something came late. */
static void test_view_order(void **state)
{
	struct context *w = *state;
	struct store_view view;

	start(w, 1 << 20);
	for (int i = 0; i < 4; i++) {
		(void)put(w, "a", now_ms, "main;f");
		now_ms += 11 * MINUTE_MS;
	}
	(void)put(w, "a", T0_MS - MINUTE_MS, "main;f");
	now_ms += 11 * MINUTE_MS;
	(void)put(w, "a", now_ms, "main;f");
	assert_int_equal(store_sync_view(w->store, 0, INT64_MAX, &view), 0);
	assert_int_equal(view.n, 6);
	for (size_t i = 1; i < view.n; i++)
		assert_true(segment_first_ms(view.segments[i - 1]) <=
			    segment_first_ms(view.segments[i]));
	assert_int_equal(segment_first_ms(view.segments[0]), T0_MS - MINUTE_MS);
	store_view_fini(&view);
	store_view_fini(NULL);
}

static void test_copy_of_the_head(void **state)
{
	struct context *w = *state;
	struct store_view first, second, third;

	start(w, 1 << 20);
	(void)put(w, "a", T0_MS, "main;f");
	size_t before = stats_of(w).bytes;

	assert_int_equal(store_sync_view(w->store, 0, INT64_MAX, &first), 0);
	assert_int_equal(store_sync_view(w->store, 0, INT64_MAX, &second), 0);
	assert_ptr_equal(first.segments[0], second.segments[0]);
	/* It is counted, and so is the order of texts that making it leaves behind. */
	assert_in_range(stats_of(w).bytes, before + segment_bytes(first.segments[0]),
			before + segment_bytes(first.segments[0]) + 1000);
	(void)put(w, "a", T0_MS + 1, "main;g");
	assert_int_equal(store_sync_view(w->store, 0, INT64_MAX, &third), 0);
	assert_ptr_not_equal(first.segments[0], third.segments[0]);
	assert_int_equal(segment_last_ms(first.segments[0]), T0_MS);
	assert_int_equal(segment_last_ms(third.segments[0]), T0_MS + 1);
	store_view_fini(&first);
	store_view_fini(&second);
	store_view_fini(&third);
}

static void test_age(void **state)
{
	struct context *w = *state;
	struct store_view view;

	start(w, 1 << 20);
	for (int i = 0; i < 3; i++) {
		(void)put(w, "a", now_ms, "main;f");
		now_ms += 11 * MINUTE_MS;
	}
	assert_int_equal(store_sync_view(w->store, 0, INT64_MAX, &view), 0);
	now_ms = T0_MS + 6 * 60 * MINUTE_MS + 1;
	(void)put(w, "b", now_ms, "main;f");
	assert_int_equal(stats_of(w).n_profiles, 3);
	assert_int_equal(stats_of(w).n_evicted_profiles, 1);
	assert_int_equal(stats_of(w).oldest_ms, T0_MS + 11 * MINUTE_MS);
	/* Who looks at it still has it. */
	assert_int_equal(view.n, 3);
	assert_int_equal(segment_first_ms(view.segments[0]), T0_MS);
	store_view_fini(&view);
	now_ms += 7 * 60 * MINUTE_MS;
	store_set_bounds(w->store, 1 << 20, 6 * 3600 * NS_PER_S);
	assert_int_equal(stats_of(w).n_profiles, 0);
	assert_int_equal(stats_of(w).n_segments, 0);
}

static void put_large(struct context *w, const char *service, unsigned int seed, int n_stacks)
{
	struct made_profile made;
	char stack[200];

	made_profile_init(&made, "cpu/nanoseconds", "cpu/nanoseconds", now_ms);
	for (int i = 0; i < n_stacks; i++) {
		(void)snprintf(stack, sizeof(stack), "main;serve_%u;handle_%u_%d;work_%d", seed,
			       seed, i, i);
		made_profile_sample(&made, stack, (const int64_t[]){ 10 * (i + 1) }, NULL);
	}
	assert_int_equal(put_made(w, service, &made), STORE_KEPT);
	made_profile_fini(&made);
}

/* 1,000 series into a store that has room for a part of them. */
static void test_bound(void **state)
{
	struct context *w = *state;
	const size_t max = 512 << 10;
	char service[32];

	start(w, max);
	for (unsigned int i = 0; i < 3000; i++) {
		now_ms += 100;
		(void)snprintf(service, sizeof(service), "service-%u", i % 1000);
		put_large(w, service, i % 50, 3);
		assert_true(stats_of(w).bytes <= max);
		if (i % 500 == 0) {
			(void)n_in_view(w, 0, INT64_MAX);
			assert_true(stats_of(w).bytes <= max);
		}
	}
	/* The copy of the head that a view wants may push out some more. */
	uint64_t n = n_in_view(w, 0, INT64_MAX);
	struct store_stats stats = stats_of(w);

	assert_int_equal(n, stats.n_profiles);
	assert_true(stats.n_evicted_profiles > 0);
	assert_true(stats.bytes > max / 2);
	assert_int_equal(stats.n_profiles + stats.n_evicted_profiles, 3000);
	assert_int_equal(stats.newest_ms, now_ms);
	assert_int_equal(metric_of(w, METRIC_BY("evicted_profiles_total", "bytes")),
			 stats.n_evicted_profiles);
	store_set_bounds(w->store, max / 2, 6 * 3600 * NS_PER_S);
	assert_true(stats_of(w).bytes <= max / 2);
	assert_true(stats_of(w).n_profiles > 0);
}

/* A profile of hours ago comes with the newest ones: what goes first are still those that have nothing newer. */
static void test_late_profile(void **state)
{
	struct context *w = *state;
	const size_t max = 4 << 20;

	start(w, max);
	now_ms += 5 * 60 * MINUTE_MS;
	put_large(w, "old", 1, 3000);
	now_ms += 11 * MINUTE_MS;
	assert_int_equal(put(w, "late", now_ms - 4 * 60 * MINUTE_MS, "main;f"), STORE_KEPT);
	put_large(w, "new", 2, 3000);
	now_ms += 11 * MINUTE_MS;
	put_large(w, "head", 3, 3000);
	/* The head is one of them. */
	assert_int_equal(stats_of(w).n_segments, 3);
	store_set_bounds(w->store, stats_of(w).bytes - 1, 6 * 3600 * NS_PER_S);
	assert_int_equal(stats_of(w).n_segments, 2);
	assert_int_equal(stats_of(w).oldest_ms, T0_MS + 71 * MINUTE_MS);
	assert_int_equal(stats_of(w).n_profiles, 3);
}

/* One whose names alone pass what a head may take: refused, and all others stay. */
static void test_no_room(void **state)
{
	struct context *w = *state;
	struct made_profile made;
	char name[300];

	start(w, 256 << 10);
	(void)put(w, "a", T0_MS, "main;f");
	made_profile_init(&made, "cpu/nanoseconds", "cpu/nanoseconds", T0_MS);
	for (int i = 0; i < 600; i++) {
		(void)snprintf(name, sizeof(name), "%0200d", i);
		made_profile_sample(&made, name, (const int64_t[]){ 10 }, NULL);
	}
	assert_int_equal(put_made(w, "b", &made), STORE_REFUSED);
	assert_string_equal(buf_str(&w->why),
			    "the profile needs more than its share of the store's 256 KiB");
	made_profile_fini(&made);
	assert_int_equal(stats_of(w).n_refused_profiles, 1);
	assert_int_equal(metric_of(w, METRIC_BY("refused_profiles_total", "store_limit")), 1);
	assert_int_equal(stats_of(w).n_profiles, 1);
	assert_true(stats_of(w).bytes <= 256 << 10);
	assert_int_equal(put(w, "b", T0_MS, "main;f"), STORE_KEPT);
}

/* Large profiles that are refused again and again: the head stays open, and nothing of them is kept. */
static void test_refused_again(void **state)
{
	struct context *w = *state;
	struct made_profile made;
	char name[300];

	start(w, 256 << 10);
	made_profile_init(&made, "cpu/nanoseconds", "cpu/nanoseconds", T0_MS);
	for (int i = 0; i < 600; i++) {
		(void)snprintf(name, sizeof(name), "%0200d", i);
		made_profile_sample(&made, name, (const int64_t[]){ 10 }, NULL);
	}
	assert_int_equal(put(w, "a", T0_MS, "main;f"), STORE_KEPT);
	size_t bytes = stats_of(w).bytes;

	for (int i = 1; i <= 20; i++) {
		buf_reset(&w->why);
		assert_int_equal(put_made(w, "b", &made), STORE_REFUSED);
		assert_int_equal(put(w, "a", T0_MS + i, "main;f"), STORE_KEPT);
	}
	assert_true(stats_of(w).bytes < bytes + 2000);
	assert_int_equal(stats_of(w).n_segments, 0);
	assert_int_equal(stats_of(w).n_evicted_profiles, 0);
	assert_int_equal(n_in_view(w, 0, INT64_MAX), 21);
	made_profile_fini(&made);
}

/* One that a closed segment has leaves nothing in the head that is new since. */
static void test_repeated_again(void **state)
{
	struct context *w = *state;
	char stack[200];

	start(w, 8 << 20);
	assert_int_equal(put(w, "a", T0_MS, "main;f;g;h"), STORE_KEPT);
	now_ms += 11 * MINUTE_MS;
	assert_int_equal(put(w, "b", now_ms, "main"), STORE_KEPT);
	assert_int_equal(stats_of(w).n_segments, 1);
	put_large(w, "a", 1, 500);
	size_t bytes = stats_of(w).bytes;

	for (int i = 0; i < 100; i++) {
		(void)snprintf(stack, sizeof(stack), "main;%0150d", i);
		assert_int_equal(put(w, "a", T0_MS, stack), STORE_REPEATED);
	}
	assert_int_equal(stats_of(w).bytes, bytes);
	assert_int_equal(stats_of(w).n_series, 2);
	assert_int_equal(n_in_view(w, 0, INT64_MAX), 3);
}

/* A clock that goes back: nothing is lost, nothing waits for a time that comes again. */
static void test_clock_set_back(void **state)
{
	struct context *w = *state;

	start(w, 1 << 20);
	(void)put(w, "a", now_ms, "main;f");
	now_ms -= 5 * MINUTE_MS;
	assert_int_equal(put(w, "a", now_ms, "main;f"), STORE_KEPT);
	assert_int_equal(stats_of(w).n_segments, 1);
	assert_int_equal(n_in_view(w, 0, INT64_MAX), 2);
}

static void test_options(void **state)
{
	const struct store_options good = STORE_OPTIONS_INIT;
	struct store_options bad[] = { good, good, good, good, good, good, good };
	struct context *w = *state;

	bad[0].max_bytes = (256 << 10) - 1;
	bad[1].max_bytes = ((size_t)4 << 30) + 1;
	bad[2].max_age_ns = 0;
	bad[3].max_age_ns = 721 * 3600 * NS_PER_S;
	bad[4].slot_ns = 0;
	bad[5].slot_ns = good.segment_ns + 1;
	bad[6].segment_ns = 25 * 3600 * NS_PER_S;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		buf_reset(&w->why);
		assert_int_equal(
			store_new(w->loop, w->worker, w->telemetry, &bad[i], &w->why, &w->store),
			-EINVAL);
		assert_true(w->why.len > 0);
	}
}

static void test_no_memory(void **state)
{
	struct context *w = *state;
	struct labels *labels = service_labels("a");
	struct made_profile made;
	struct store_view view;
	size_t n, n_failed = 0;

	start(w, 1 << 20);
	for (size_t nth = 1;; nth++) {
		now_ms += 1000;
		made_profile_init(&made, "cpu/nanoseconds samples/count", "cpu/nanoseconds",
				  now_ms);
		made_profile_sample(&made, "main;f", (const int64_t[]){ 1, 2 }, "a.b=c");
		made_profile_sample(&made, "main;g;h", (const int64_t[]){ 1, 2 }, NULL);
		uint8_t *bytes = made_profile_gzip(&made, &n);

		made_profile_fini(&made);
		alloc_fail_arm(nth);
		int r = store_sync_put(w->store, labels, bytes, n, &w->why);
		int r_view = store_sync_view(w->store, 0, INT64_MAX, &view);
		bool failed = alloc_fail_disarm();

		free(bytes);
		if (r_view == 0)
			store_view_fini(&view);
		assert_true(r == STORE_KEPT || r == -ENOMEM);
		assert_true(r_view == 0 || r_view == -ENOMEM);
		n_failed += r < 0 || r_view < 0;
		if (!failed)
			break;
		/* Each attempt begins with an empty head. */
		now_ms += 11 * MINUTE_MS;
	}
	assert_true(n_failed > 10);
	labels_unref(labels);
}

/* The ingest thread stays in it until it is opened. */
struct gate {
	struct store_task task;
	atomic_bool open;
};

static void gate_run(struct store_task *task)
{
	struct gate *gate = CONTAINER_OF(task, struct gate, task);

	while (!atomic_load(&gate->open))
		sched_yield();
}

static void gate_done(struct store_task *task)
{
	(void)task;
}

/* Behind the gate is a put that keeps nothing, and evicts what has grown old meanwhile. */
static void test_view_of_a_head_that_is_evicted(void **state)
{
	struct context *w = *state;
	struct gate gate = { .task = { .run = gate_run, .done = gate_done } };
	struct store_view_request request = { .end_ms = INT64_MAX,
					      .done = store_sync_view_done,
					      .result = -EINPROGRESS };
	struct labels *labels = service_labels("a");
	struct store_put refused = { .labels = labels,
				     .pprof = (const uint8_t *)"x",
				     .n = 1,
				     .why = &w->why,
				     .done = store_sync_put_done };

	start(w, 1 << 20);
	store_set_bounds(w->store, 1 << 20, MINUTE_MS * NS_PER_MS);
	assert_int_equal(put(w, "a", T0_MS, "main;f"), STORE_KEPT);
	store_task_submit(w->store, &gate.task, STORE_TASK_OWN);
	store_put(w->store, &refused);
	store_view_request(w->store, &request);
	assert_int_equal(request.result, -EINPROGRESS);
	now_ms += MINUTE_MS + 1;
	atomic_store(&gate.open, true);
	store_drain(w->store);
	assert_int_equal(refused.result, STORE_REFUSED);
	assert_int_equal(stats_of(w).n_profiles, 0);
	assert_int_equal(request.result, 0);
	assert_int_equal(request.view.n, 0);
	store_view_fini(&request.view);
	labels_unref(labels);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_put),
	FIXTURE_TEST(test_metrics),
	FIXTURE_TEST(test_several_series),
	FIXTURE_TEST(test_closed_head),
	FIXTURE_TEST(test_view_order),
	FIXTURE_TEST(test_copy_of_the_head),
	FIXTURE_TEST(test_view_of_a_head_that_is_evicted),
	FIXTURE_TEST(test_age),
	FIXTURE_TEST(test_bound),
	FIXTURE_TEST(test_late_profile),
	FIXTURE_TEST(test_no_room),
	FIXTURE_TEST(test_refused_again),
	FIXTURE_TEST(test_repeated_again),
	FIXTURE_TEST(test_clock_set_back),
	FIXTURE_TEST(test_options),
	FIXTURE_TEST(test_no_memory),
};

TEST_MAIN(tests)
