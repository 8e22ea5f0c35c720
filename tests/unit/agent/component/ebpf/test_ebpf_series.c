/* SPDX-License-Identifier: Apache-2.0 */
/* Series: equal sets are one, and there is a ceiling; the cap on them as it is counted, shown and said. */
#include <stdio.h>
#include <string.h>

#include "agent/component/ebpf/ebpf_private.h"
#include "agent/util/log.h"
#include "tests/support/unit.h"

static struct labels *make(const char *name, unsigned int number)
{
	struct labels *labels = NULL;
	char value[64];

	(void)snprintf(value, sizeof(value), "%s-%u", name, number);
	assert_int_equal(labels_new(&(struct label){ "service_name", value }, 1, &labels), 0);
	return labels;
}

static struct labels *named(struct labels *series, const char *name)
{
	_cleanup_(labels_unrefp) struct labels *more = NULL;
	struct labels *labels = NULL;

	assert_int_equal(labels_new(&(struct label){ "__name__", name }, 1, &more), 0);
	assert_int_equal(labels_merge(series, more, &labels), 0);
	return labels;
}

static void add_as(struct ebpf_series *s, unsigned int number, const char *name, uint64_t n)
{
	_cleanup_(labels_unrefp) struct labels *series = make("s", number);
	_cleanup_(labels_unrefp) struct labels *labels = named(series, name);

	ebpf_series_add(s, series, strcmp(name, "cpu") == 0 ? EVENT_CPU : EVENT_TRACEPOINT, labels,
			n);
}

static void add(struct ebpf_series *s, unsigned int number, uint64_t n)
{
	add_as(s, number, "cpu", n);
}

static const struct ebpf_series_entry *find_as(const struct ebpf_series *s, unsigned int number,
					       const char *name)
{
	_cleanup_(labels_unrefp) struct labels *series = make("s", number);
	_cleanup_(labels_unrefp) struct labels *labels = named(series, name);

	for (const struct list *at = s->ages.next; at != &s->ages; at = at->next) {
		const struct ebpf_series_entry *e = LIST_ENTRY(at, struct ebpf_series_entry, age);

		if (labels_equal(e->labels, labels))
			return e;
	}
	return NULL;
}

static const struct ebpf_series_entry *find(const struct ebpf_series *s, unsigned int number)
{
	return find_as(s, number, "cpu");
}

static void test_sums(void **state)
{
	struct ebpf_series s;

	(void)state;
	ebpf_series_init(&s);
	assert_null(find(&s, 1));
	add(&s, 1, 5);
	add(&s, 2, 1);
	add(&s, 1, 7);
	assert_int_equal(s.n, 2);
	assert_int_equal(find(&s, 1)->n_samples, 12);
	assert_int_equal(find(&s, 2)->n_samples, 1);
	assert_null(find(&s, 3));
	ebpf_series_fini(&s);
}

/* A label set has one of each name that its profiles have; its processes are those of all of them. */
static void test_names(void **state)
{
	struct ebpf_series s;

	(void)state;
	ebpf_series_init(&s);
	add_as(&s, 1, "cpu", 5);
	add_as(&s, 1, "fsyncs", 2);
	add_as(&s, 1, "cpu", 1);
	add_as(&s, 2, "cpu", 1);
	assert_int_equal(s.n, 3);
	assert_int_equal(find_as(&s, 1, "cpu")->n_samples, 6);
	assert_int_equal(find_as(&s, 1, "fsyncs")->n_samples, 2);
	_cleanup_(labels_unrefp) struct labels *series = make("s", 1);
	ebpf_series_count_process(&s, series);
	assert_int_equal(find_as(&s, 1, "cpu")->n_processes, 1);
	assert_int_equal(find_as(&s, 1, "fsyncs")->n_processes, 1);
	assert_int_equal(find_as(&s, 2, "cpu")->n_processes, 0);
	ebpf_series_fini(&s);
}

/* CPU profiles keep a target's name, other events have their own: the processes of the target are those of both, and of no other target. */
static void test_target_with_a_name(void **state)
{
	_cleanup_(labels_unrefp) struct labels *series = make("s", 1);
	_cleanup_(labels_unrefp) struct labels *own = named(series, "mine");
	struct ebpf_series s;

	(void)state;
	ebpf_series_init(&s);
	ebpf_series_add(&s, own, EVENT_CPU, own, 1);
	add_as(&s, 1, "cpu", 1);
	add_as(&s, 1, "fsyncs", 2);
	ebpf_series_count_process(&s, own);
	assert_int_equal(find_as(&s, 1, "mine")->n_processes, 1);
	assert_int_equal(find_as(&s, 1, "fsyncs")->n_processes, 1);
	assert_int_equal(find_as(&s, 1, "cpu")->n_processes, 0);
	ebpf_series_count_process(&s, series);
	assert_int_equal(find_as(&s, 1, "mine")->n_processes, 1);
	assert_int_equal(find_as(&s, 1, "fsyncs")->n_processes, 2);
	assert_int_equal(find_as(&s, 1, "cpu")->n_processes, 1);
	ebpf_series_fini(&s);
}

/* Who had no samples for the longest time goes first. */
static void test_ceiling(void **state)
{
	struct ebpf_series s;

	(void)state;
	ebpf_series_init(&s);
	for (unsigned int i = 0; i < EBPF_SERIES_MAX; i++)
		add(&s, i, 1);
	add(&s, 0, 1);
	add(&s, EBPF_SERIES_MAX, 1);
	assert_int_equal(s.n, EBPF_SERIES_MAX);
	assert_non_null(find(&s, 0));
	assert_null(find(&s, 1));
	assert_non_null(find(&s, 2));
	assert_non_null(find(&s, EBPF_SERIES_MAX));
	ebpf_series_fini(&s);
}

#define HOUR_NS (3600 * NS_PER_S)

struct fixture {
	struct component_env env;
	struct component c;
	struct labels *other;
	struct ebpf_cap cap;
};

static struct labels *make_service(const char *name)
{
	struct labels *l = NULL;

	assert_int_equal(labels_new(&(struct label){ "service_name", name }, 1, &l), 0);
	return l;
}

static void set_up(struct fixture *f)
{
	log_configure(LOG_LEVEL_WARN, LOG_FORMAT_LOGFMT);
	assert_int_equal(telemetry_new(&f->env.telemetry), 0);
	f->c = (struct component){ .env = &f->env,
				   .id = "m.x/pyroscope.ebpf.e",
				   .local_id = "pyroscope.ebpf.e",
				   .path = "/m.x" };
	f->other = make_service(SERIES_CAP_OTHER);
}

static void tear_down(struct fixture *f)
{
	ebpf_cap_fini(&f->cap);
	labels_unref(f->other);
	telemetry_free(f->env.telemetry);
}

FIXTURE(struct fixture, set_up, tear_down)

/* n services, the one with number i has i samples. */
static void apply(struct fixture *f, unsigned int n, size_t max, uint64_t now_ns)
{
	_cleanup_(interval_freep) struct interval *i = NULL;

	assert_int_equal(interval_new(NS_PER_S, (size_t)1 << 20, &i), 0);
	for (unsigned int k = 1; k <= n; k++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "s%u", k);
		_cleanup_(labels_unrefp) struct labels *l = make_service(name);
		const struct frame_ref frame = frame_ref_of(FRAME_KIND_KERNEL, k);
		const int64_t value = 1;
		const struct samples samples = {
			.labels = l, .values = &value, .frames = &frame, .n_kernel = 1, .count = k
		};
		bool is_new;

		assert_int_equal(interval_add(i, &samples, &is_new), 0);
	}
	ebpf_cap_apply(&f->cap, &f->c, max, f->other, i, now_ns);
	assert_true(i->n_series <= max);
}

static void assert_counted(const struct fixture *f, uint64_t n_series, uint64_t n_samples)
{
	assert_int_equal(telemetry_get(f->env.telemetry, TELEMETRY_series_folded), n_series);
	assert_int_equal(telemetry_get(f->env.telemetry, TELEMETRY_samples_folded), n_samples);
}

static void assert_metric(const struct fixture *f, const char *line)
{
	_cleanup_buf_ struct buf text = BUF_INIT((size_t)1 << 20);

	assert_int_equal(telemetry_text(f->env.telemetry, &text), 0);
	assert_non_null(strstr(buf_str(&text), line));
}

/* How often it was said so far, in this process. */
static unsigned int n_said(void)
{
	_cleanup_buf_ struct buf lines = BUF_INIT(LOG_RECENT_MAX);
	unsigned int n = 0;

	assert_int_equal(log_recent(&lines), 0);
	for (const char *at = buf_str(&lines); (at = strstr(at, "more series than")); at++)
		n++;
	return n;
}

static void test_counts_and_shows(void **state)
{
	struct fixture *f = *state;

	apply(f, 3, 3, NS_PER_S);
	assert_counted(f, 0, 0);
	assert_metric(
		f,
		"xagent_series_active{component_path=\"/m.x\",component_id=\"pyroscope.ebpf.e\"} "
		"3\n");
	apply(f, 5, 3, 2 * NS_PER_S);
	/* s1 makes room for the others' one. */
	assert_counted(f, 3, 1 + 4 + 5);
	assert_metric(
		f,
		"xagent_series_active{component_path=\"/m.x\",component_id=\"pyroscope.ebpf.e\"} "
		"3\n");
	assert_metric(f, "\nxagent_samples_folded_total 10\n");
}

static void test_says_it_once_an_hour(void **state)
{
	_cleanup_buf_ struct buf lines = BUF_INIT(LOG_RECENT_MAX);
	unsigned int before = n_said();
	struct fixture *f = *state;

	apply(f, 2, 2, NS_PER_S);
	assert_int_equal(n_said(), before);
	apply(f, 4, 2, 2 * NS_PER_S);
	apply(f, 4, 2, 3 * NS_PER_S);
	apply(f, 4, 2, HOUR_NS);
	assert_int_equal(n_said(), before + 1);
	apply(f, 4, 2, HOUR_NS + 2 * NS_PER_S);
	assert_int_equal(n_said(), before + 2);
	assert_int_equal(log_recent(&lines), 0);
	assert_non_null(strstr(buf_str(&lines), "component_id=m.x/pyroscope.ebpf.e folded_series=3 "
						"folded_samples=8 max_series=2 biggest_folded=s4 "
						"fix="));
}

/* A reload with another number. */
static void test_another_number(void **state)
{
	struct fixture *f = *state;

	apply(f, 4, 2, NS_PER_S);
	assert_counted(f, 3, 6);
	apply(f, 4, 100, 2 * NS_PER_S);
	assert_counted(f, 3, 6);
	assert_metric(f, "component_id=\"pyroscope.ebpf.e\"} 5\n");
}

static const struct unit_test tests[] = {
	TEST(test_sums),
	TEST(test_names),
	TEST(test_target_with_a_name),
	TEST(test_ceiling),
	FIXTURE_TEST(test_counts_and_shows),
	FIXTURE_TEST(test_says_it_once_an_hour),
	FIXTURE_TEST(test_another_number),
};

TEST_MAIN(tests)
