/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles that came from outside: to servers as they came, to the store, to exporters of OpenTelemetry in their form. */
#include "tests/support/made_profile.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/component/real_graph.h"

#include "agent/component/receivers/moments.h"
#include "agent/component/receivers/received.h"
#include "agent/encode/otlp_form.h"
#include "agent/store/ingest/ingest_tables.h"
#include "agent/util/clock.h"

/* A receiver that keeps what it gets. */
#define KEPT_MAX 8
struct keeper {
	struct receiver receiver;
	struct profile *profile;	 /* the last */
	struct profile *first[KEPT_MAX]; /* the first ones */
	unsigned int n;
	size_t room;
};

static void keep(struct receiver *receiver, struct profile *profile, uint64_t deadline_ns)
{
	struct keeper *k = CONTAINER_OF(receiver, struct keeper, receiver);

	(void)deadline_ns;
	profile_unref(k->profile);
	k->profile = profile_ref(profile);
	if (k->n < KEPT_MAX)
		k->first[k->n] = profile_ref(profile);
	k->n++;
}

static void keeper_fini(struct keeper *k)
{
	for (size_t i = 0; i < KEPT_MAX; i++)
		profile_unref(k->first[i]);
	profile_unref(k->profile);
}

static bool has_room(const struct receiver *receiver, size_t n_bytes)
{
	return n_bytes <= CONTAINER_OF((struct receiver *)receiver, struct keeper, receiver)->room;
}

static void no_stats(const struct receiver *receiver, struct receiver_stats *ret_stats)
{
	(void)receiver;
	*ret_stats = (struct receiver_stats){ 0 };
}

#define KEEPER(bits)                                            \
	((struct keeper){ .receiver = { .receive = keep,        \
					.wants = (bits),        \
					.stats = no_stats,      \
					.has_room = has_room }, \
			  .room = SIZE_MAX })

struct context {
	struct fixture *f;
	struct component component;
	struct received *received;
	struct keeper bytes, otlp;
	void *items[3];
	struct river_capsules to;
	struct shared_bytes *sent;
};

static int setup_context(void **state)
{
	struct context *w = calloc(1, sizeof(*w));
	void *fixture = NULL;

	assert_non_null(w);
	assert_int_equal(setup(&fixture), 0);
	w->f = fixture;
	w->component =
		(struct component){ .env = &w->f->env, .id = "c", .local_id = "c", .path = "/" };
	w->bytes = KEEPER(PROFILE_WANT(FORM_PPROF));
	w->otlp = KEEPER(PROFILE_WANT(FORM_OTLP));
	w->items[0] = &w->bytes.receiver;
	w->items[2] = &w->otlp.receiver;
	w->to = (struct river_capsules){ w->items, 2 };
	assert_int_equal(received_new(&w->component, &w->received), 0);
	received_forward_to(w->received, &w->to);
	*state = w;
	return 0;
}

static int teardown_context(void **state)
{
	struct context *w = *state;
	void *fixture = w->f;

	received_free(w->received);
	keeper_fini(&w->bytes);
	keeper_fini(&w->otlp);
	shared_bytes_unref(w->sent);
	(void)teardown(&fixture);
	free(w);
	return 0;
}

/* The data becomes the context's. */
static void deliver_data(struct context *w, const char *service, uint8_t *data, size_t n)
{
	const struct label items[] = { { "__name__", "process_cpu" }, { "service_name", service } };
	struct labels *labels = NULL;
	struct profile *p = NULL;

	shared_bytes_unref(w->sent);
	assert_int_equal(shared_bytes_new(data, n, &w->sent), 0);
	assert_int_equal(labels_new(items, ARRAY_SIZE(items), &labels), 0);
	assert_int_equal(profile_of_pprof(w->sent, labels, clock_real_ns(), &p), 0);
	labels_unref(labels);
	received_deliver(w->received, &p, clock_real_ns() + RECEIVER_DEADLINE_NS);
	assert_null(p);
}

/* NULL: a profile. */
static void deliver_of(struct context *w, const char *service, const char *bytes)
{
	struct made_profile made;
	size_t n = bytes ? strlen(bytes) : 0;
	uint8_t *data = bytes ? (uint8_t *)strdup(bytes) : NULL;

	made_profile_init(&made, "cpu/nanoseconds", "cpu/nanoseconds", 1700000000000);
	made.message.period = 10;
	made_profile_sample(&made, "main;f", (const int64_t[]){ 20 }, NULL);
	data = data ? data : made_profile_gzip(&made, &n);
	made_profile_fini(&made);
	deliver_data(w, service, data, n);
}

/* Samples of values 10, 20, …, each in a function of its own with a name that gzip halves. */
static void deliver_large(struct context *w, unsigned int n_samples)
{
	struct made_profile made;
	char name[512];
	uint64_t random = 1;
	size_t n;

	made_profile_init(&made, "cpu/nanoseconds", "cpu/nanoseconds", 1700000000000);
	made.message.period = 10;
	for (unsigned int i = 1; i <= n_samples; i++) {
		for (size_t k = 0; k < sizeof(name) - 1; k++) {
			random = random * 6364136223846793005ULL + 1442695040888963407ULL;
			name[k] = "abcdefghijklmnop"[random >> 60];
		}
		name[sizeof(name) - 1] = '\0';
		made_profile_sample(&made, name, (const int64_t[]){ 10 * (int64_t)i }, NULL);
	}
	uint8_t *data = made_profile_gzip(&made, &n);
	made_profile_fini(&made);
	deliver_data(w, "large", data, n);
}

static void deliver(struct context *w, const char *bytes)
{
	deliver_of(w, "s", bytes);
}

static void settle(struct context *w, unsigned int n)
{
	uint64_t end_ns = clock_mono_ns() + 10 * NS_PER_S;

	while (w->bytes.n < n) {
		assert_true(clock_mono_ns() < end_ns);
		assert_int_equal(loop_run_once(w->f->env.loop, 100), 0);
	}
}

static double metric(struct context *w, const char *line)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 20);

	assert_int_equal(telemetry_text(w->f->env.telemetry, &text), 0);
	const char *at = strstr(buf_str(&text), line);
	assert_non_null(at);
	return strtod(at + strlen(line), NULL);
}

static double n_not_encoded(struct context *w)
{
	return metric(w, "\nxagent_received_profiles_not_encoded_total{"
			 "component_path=\"/\",component_id=\"c\"} ");
}

#define MOVED(result)                                                                     \
	"\nxagent_received_profiles_moved_total{component_path=\"/\",component_id=\"c\"," \
	"result=\"" result "\"} "

/* At once, and the very bytes. */
static void test_as_it_came(void **state)
{
	struct context *w = *state;

	deliver(w, NULL);
	assert_int_equal(w->bytes.n, 1);
	assert_ptr_equal(profile_form(w->bytes.profile, FORM_PPROF), w->sent);
	assert_true(w->bytes.profile->is_foreign);
	assert_string_equal(labels_get(w->bytes.profile->labels, "service_name"), "s");
	deliver(w, "not a profile");
	assert_ptr_equal(profile_form(w->bytes.profile, FORM_PPROF), w->sent);
	assert_true(n_not_encoded(w) == 0);
}

static void test_another_form(void **state)
{
	struct context *w = *state;

	w->to.n_items = 3;
	deliver(w, NULL);
	assert_int_equal(w->bytes.n, 0);
	settle(w, 1);
	assert_ptr_equal(profile_form(w->bytes.profile, FORM_PPROF), w->sent);
	assert_int_equal(w->otlp.n, 1);
	const struct shared_bytes *form = profile_form(w->otlp.profile, FORM_OTLP);
	assert_non_null(form);
	assert_non_null(memmem(form->data, form->n, "main", 4));
	assert_null(w->otlp.profile->tables);
	assert_true(n_not_encoded(w) == 0);
}

/* Who takes it as it is has it all the same. */
static void test_no_other_form(void **state)
{
	struct context *w = *state;

	w->to.n_items = 3;
	deliver(w, "not a profile");
	settle(w, 1);
	assert_ptr_equal(profile_form(w->bytes.profile, FORM_PPROF), w->sent);
	assert_int_equal(w->otlp.n, 1);
	assert_null(profile_form(w->otlp.profile, FORM_OTLP));
	assert_true(n_not_encoded(w) == 1);
}

/* Those that wait when it ends are delivered. */
static void test_end(void **state)
{
	struct context *w = *state;

	w->to.n_items = 3;
	for (int i = 0; i < 5; i++)
		deliver(w, NULL);
	received_free(w->received);
	w->received = NULL;
	assert_int_equal(w->bytes.n, 5);
	assert_int_equal(w->otlp.n, 5);
	assert_non_null(profile_form(w->otlp.profile, FORM_OTLP));
}

/* One that is full holds nobody back. */
static void test_room(void **state)
{
	struct context *w = *state;

	assert_true(received_has_room(w->received, 1 << 20));
	w->bytes.room = 10;
	assert_true(received_has_room(w->received, 10));
	assert_false(received_has_room(w->received, 11));
	w->to.n_items = 3;
	assert_true(received_has_room(w->received, 11));
	assert_false(received_has_room(w->received, (size_t)1 << 30));
	w->to.n_items = 0;
	assert_true(received_has_room(w->received, 11));
}

/* What a server reads in the bytes, in milliseconds after the first. */
static int64_t moved_by(struct context *w)
{
	const struct shared_bytes *bytes = profile_form(w->bytes.profile, FORM_PPROF);
	_cleanup_(pprof_builder_freep) struct pprof_builder *tables = NULL;
	_cleanup_buf_ struct buf why = BUF_INIT(1000);
	struct pprof_bytes plain;

	assert_int_equal(ingest_tables(bytes->data, bytes->n, 1, NULL, &why, &tables),
			 INGEST_OPENED);
	assert_int_equal(pprof_builder_encode_plain(tables, &plain), 0);
	Perftools__Profiles__Profile *message =
		perftools__profiles__profile__unpack(NULL, plain.n, plain.data);
	int64_t ms = message->time_nanos / (int64_t)NS_PER_MS - 1700000000000;
	assert_int_equal(message->n_sample, 1);
	if (ms > 0)
		assert_int_equal(w->bytes.profile->time_ns, (uint64_t)message->time_nanos);
	perftools__profiles__profile__free_unpacked(message, NULL);
	pprof_bytes_fini(&plain);
	return ms;
}

/* Those of other series get other milliseconds; one that was sent again has the one that it had. */
static void test_times_apart(void **state)
{
	static const struct {
		const char *service;
		int64_t moved_ms;
	} rows[] = { { "a", 0 }, { "b", 1 }, { "c", 2 }, { "b", 1 }, { "a", 0 }, { "d", 3 } };
	struct context *w = *state;

	w->bytes.receiver.wants |= PROFILE_WANT_APART;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		deliver_of(w, rows[i].service, NULL);
		settle(w, i + 1);
		assert_string_equal(labels_get(w->bytes.profile->labels, "service_name"),
				    rows[i].service);
		assert_int_equal(moved_by(w), rows[i].moved_ms);
	}
	assert_true(metric(w, MOVED("moved")) == 4);
	deliver(w, "not a profile");
	settle(w, ARRAY_SIZE(rows) + 1);
	assert_ptr_equal(profile_form(w->bytes.profile, FORM_PPROF), w->sent);
}

/* The form for another server has the same time, and a second is all that any moves. */
static void test_a_crowd(void **state)
{
	enum { N = MOMENTS_MAX_MOVE_MS + 20 };
	struct context *w = *state;
	char service[16];

	w->to.n_items = 3;
	w->bytes.receiver.wants |= PROFILE_WANT_APART;
	for (unsigned int i = 0; i < N; i++) {
		(void)snprintf(service, sizeof(service), "s%u", i);
		deliver_of(w, service, NULL);
		settle(w, i + 1);
	}
	assert_non_null(profile_form(w->otlp.profile, FORM_OTLP));
	assert_true(metric(w, MOVED("moved")) == MOMENTS_MAX_MOVE_MS);
	assert_true(metric(w, MOVED("crowded")) == N - 1 - MOMENTS_MAX_MOVE_MS);
	assert_int_equal(moved_by(w), 0);
}

/* What a server reads: the sum of its values, its time and its size. */
static int64_t read_part(const struct profile *p, int64_t *ret_time_ns, size_t *ret_n)
{
	const struct shared_bytes *bytes = profile_form(p, FORM_PPROF);
	_cleanup_(pprof_builder_freep) struct pprof_builder *tables = NULL;
	_cleanup_buf_ struct buf why = BUF_INIT(1000);
	struct pprof_bytes plain;
	int64_t sum = 0;

	assert_int_equal(ingest_tables(bytes->data, bytes->n, 1, NULL, &why, &tables),
			 INGEST_OPENED);
	assert_int_equal(pprof_builder_encode_plain(tables, &plain), 0);
	Perftools__Profiles__Profile *message =
		perftools__profiles__profile__unpack(NULL, plain.n, plain.data);
	for (size_t i = 0; i < message->n_sample; i++)
		sum += message->sample[i]->value[0];
	*ret_time_ns = message->time_nanos;
	*ret_n = plain.n;
	perftools__profiles__profile__free_unpacked(message, NULL);
	pprof_bytes_fini(&plain);
	return sum;
}

#define DIVIDED                                                      \
	"\nxagent_received_profiles_divided_total{component_path=\"" \
	"/\",component_id=\"c\"} "

/* 2 MB, of which a server with its default of a burst takes no part: two that it takes, to the last sample, one after the other. */
static void test_large(void **state)
{
	enum { N = 3800 };
	struct context *w = *state;
	int64_t sum = 0;

	w->to.n_items = 3;
	deliver_large(w, N);
	settle(w, 2);
	assert_int_equal(w->bytes.n, 2);
	assert_int_equal(w->otlp.n, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct profile *p = w->bytes.first[i];
		int64_t time_ns;
		size_t n;

		sum += read_part(p, &time_ns, &n);
		assert_in_range(n, 1, 1400000);
		assert_int_equal(time_ns, (1700000000000 + (int64_t)i) * (int64_t)NS_PER_MS);
		assert_int_equal(p->time_ns, time_ns);
		assert_true(p->is_foreign);
		assert_string_equal(labels_get(p->labels, "service_name"), "large");
		assert_non_null(profile_form(w->otlp.first[i], FORM_OTLP));
	}
	assert_int_equal(sum, 10 * N * (N + 1) / 2);
	assert_true(metric(w, DIVIDED) == 1);
	assert_true(n_not_encoded(w) == 0);
}

/* More samples than a profile may have, in few bytes: its frames are the same, its labels are not. */
static void test_many_samples(void **state)
{
	enum { N = 17000 };
	struct context *w = *state;
	struct made_profile made;
	int64_t time_ns, sum = 0;
	char label[32];
	size_t n;

	made_profile_init(&made, "cpu/nanoseconds", "cpu/nanoseconds", 1700000000000);
	made.message.period = 10;
	for (unsigned int i = 0; i < N; i++) {
		(void)snprintf(label, sizeof(label), "id=%08x", i * 2654435761U);
		made_profile_sample(&made, "main", (const int64_t[]){ 10 }, label);
	}
	uint8_t *data = made_profile_gzip(&made, &n);
	made_profile_fini(&made);
	deliver_data(w, "many", data, n);
	settle(w, 2);
	for (size_t i = 0; i < 2; i++)
		sum += read_part(w->bytes.first[i], &time_ns, &n);
	assert_int_equal(sum, 10 * N);
	assert_int_equal(time_ns, 1700000000001 * (int64_t)NS_PER_MS);
}

/* One that may be too large and is not, and one that is so large that nobody reads it, go on as they came. */
static void test_not_divided(void **state)
{
	struct context *w = *state;

	deliver_large(w, 1000);
	settle(w, 1);
	assert_ptr_equal(profile_form(w->bytes.profile, FORM_PPROF), w->sent);
	deliver_large(w, 9000);
	settle(w, 2);
	assert_ptr_equal(profile_form(w->bytes.profile, FORM_PPROF), w->sent);
	assert_true(metric(w, DIVIDED) == 0);
	assert_true(n_not_encoded(w) == 0);
}

/* More than the worker takes: none is lost, those beyond have no other form. */
static void test_more_than_there_is_room(void **state)
{
	struct context *w = *state;

	w->to.n_items = 3;
	for (int i = 0; i < 200; i++)
		deliver(w, NULL);
	settle(w, 200);
	assert_int_equal(w->otlp.n, 200);
	assert_in_range((int)n_not_encoded(w), 1, 200 - 64);
}

static const struct unit_test tests[] = {
	TEST_WITH(test_as_it_came, setup_context, teardown_context),
	TEST_WITH(test_another_form, setup_context, teardown_context),
	TEST_WITH(test_no_other_form, setup_context, teardown_context),
	TEST_WITH(test_end, setup_context, teardown_context),
	TEST_WITH(test_room, setup_context, teardown_context),
	TEST_WITH(test_times_apart, setup_context, teardown_context),
	TEST_WITH(test_a_crowd, setup_context, teardown_context),
	TEST_WITH(test_large, setup_context, teardown_context),
	TEST_WITH(test_many_samples, setup_context, teardown_context),
	TEST_WITH(test_not_divided, setup_context, teardown_context),
	TEST_WITH(test_more_than_there_is_room, setup_context, teardown_context),
};

TEST_MAIN(tests)
