/* SPDX-License-Identifier: Apache-2.0 */
/* The cap on series as pyroscope.ebpf has it: what is counted, shown and said. */
#include <stdio.h>
#include <string.h>

#include "agent/component/ebpf_cap.h"
#include "agent/util/log.h"
#include "tests/support/unit.h"

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
	FIXTURE_TEST(test_counts_and_shows),
	FIXTURE_TEST(test_says_it_once_an_hour),
	FIXTURE_TEST(test_another_number),
};

TEST_MAIN(tests)
