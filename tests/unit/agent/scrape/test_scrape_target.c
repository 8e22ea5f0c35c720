/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of a target: the address and the series of each profile. */
#include "tests/support/unit.h"

#include <stdio.h>
#include <string.h>

#include "agent/scrape/scrape_target.h"
#include "agent/scrape/scrape_url.h"
#include "agent/util/macro.h"

#define MAX_LABELS 64

static const char *const params_a[] = { "1", "2" }, *const params_b[] = { "x y" };
static const struct scrape_param params[] = { { "a", params_a, 2 }, { "b", params_b, 1 } };
static const struct scrape_profile profiles[] = {
	{ "memory", "/debug/pprof/allocs", true, false },
	{ "process_cpu", "/debug/pprof/profile", true, true },
	{ "godeltaprof_memory", "/debug/pprof/delta_heap", true, false },
	{ "goroutine", "/debug/pprof/goroutine", true, false },
	{ "wall", "debug//wall/", true, true },
};

enum { MEMORY, CPU, GODELTA, GOROUTINE, WALL };

/* "name=value name=value" */
static struct labels *labels_of(const char *text)
{
	struct label items[MAX_LABELS];
	struct labels *l = NULL;
	char copy[2048], *rest = copy;
	size_t n = 0;

	(void)snprintf(copy, sizeof(copy), "%s", text);
	for (char *one; (one = strsep(&rest, " "));) {
		items[n].name = strsep(&one, "=");
		items[n++].value = one ? one : "";
	}
	assert_int_equal(labels_new(items, n, &l), 0);
	return l;
}

static void print_labels(const struct labels *l, char *out, size_t n_out)
{
	size_t n = 0;

	*out = '\0';
	for (size_t i = 0; i < l->n && n < n_out; i++)
		n += (size_t)snprintf(out + n, n_out - n, "%s%s=%s", i ? " " : "", l->items[i].name,
				      l->items[i].value);
}

static const struct row {
	const char *name, *labels;
	int profile;
	bool with_params;
	const char *prefix;
	const char *url;    /* NULL: refused */
	const char *series; /* NULL: not looked at; of one that is refused what is said */
	int seconds;
	bool cumulative;
} rows[] = {
	{ "memory", "__address__=h:6060", MEMORY, false, "", "http://h:6060/debug/pprof/allocs",
	  "__delta__=false __name__=memory instance=h:6060 job=j service_name=unspecified", 0,
	  true },
	{ "CPU", "__address__=h:6060 service_name=s job=k instance=i region=r", CPU, false, "",
	  "http://h:6060/debug/pprof/profile?seconds=14",
	  "__name__=process_cpu instance=i job=k region=r service_name=s", 14, false },
	{ "goroutine", "__address__=h:6060", GOROUTINE, false, "",
	  "http://h:6060/debug/pprof/goroutine",
	  "__name__=goroutine instance=h:6060 job=j service_name=unspecified", 0, false },
	{ "the target makes the difference", "__address__=h:6060", GODELTA, false, "",
	  "http://h:6060/debug/pprof/delta_heap",
	  "__delta__=false __name__=memory instance=h:6060 job=j service_name=unspecified", 0,
	  false },
	{ "the port of http", "__address__=h", MEMORY, false, "", "http://h:80/debug/pprof/allocs",
	  "__delta__=false __name__=memory instance=h:80 job=j service_name=unspecified", 0, true },
	{ "the port of https", "__address__=[::1] __scheme__=https", MEMORY, false, "",
	  "https://[::1]:443/debug/pprof/allocs", NULL, 0, true },
	{ "a path of its own, below its prefix",
	  "__address__=h:1 __profile_path__=/x/../heap __profile_path_prefix__=/a/", MEMORY, false,
	  "/ignored", "http://h:1/a/heap", NULL, 0, true },
	{ "a prefix", "__address__=h:1", WALL, false, "/mimir-prometheus/",
	  "http://h:1/mimir-prometheus/debug/wall/?seconds=14", NULL, 14, false },
	{ "what may not stand in a path", "__address__=h:1 __profile_path__=/a%2Fb/c?d", MEMORY,
	  false, "", "http://h:1/a%2Fb/c%3Fd", NULL, 0, true },
	{ "parameters", "__address__=h:1 __param_a=mine __param_c=3", CPU, true, "",
	  "http://h:1/debug/pprof/profile?a=1&a=2&b=x+y&c=3&seconds=14", NULL, 14, false },
	{ "seconds of the target", "__address__=h:1 __param_seconds=5", CPU, false, "",
	  "http://h:1/debug/pprof/profile?seconds=5", NULL, 5, false },
	{ "a difference that the target makes on request", "__address__=h:1 __param_seconds=5",
	  MEMORY, false, "", "http://h:1/debug/pprof/allocs?seconds=5", NULL, 5, false },
	{ "no end of seconds", "__address__=h:1 __param_seconds=99999999999999999999999", CPU,
	  false, "", "http://h:1/debug/pprof/profile?seconds=99999999999999999999999", NULL,
	  SCRAPE_MAX_SECONDS, false },
	{ "seconds that are none", "__address__=h:1 __param_seconds=x", MEMORY, false, "",
	  "http://h:1/debug/pprof/allocs?seconds=x", NULL, 0, true },
	{ "another name", "__address__=h:1 __name__=process_cpu", MEMORY, false, "",
	  "http://h:1/debug/pprof/allocs?seconds=14",
	  "__name__=process_cpu instance=h:1 job=j service_name=unspecified", 14, false },
	{ "a pod's annotation",
	  "__address__=h:1 __meta_kubernetes_pod_annotation_pyroscope_io_service_name=a "
	  "__meta_kubernetes_namespace=n __meta_kubernetes_pod_container_name=c",
	  GOROUTINE, false, "", "http://h:1/debug/pprof/goroutine",
	  "__name__=goroutine instance=h:1 job=j service_name=a", 0, false },
	{ "a pod's container",
	  "__address__=h:1 __meta_docker_container_name=/d __meta_kubernetes_namespace=n "
	  "__meta_kubernetes_pod_container_name=c",
	  GOROUTINE, false, "", "http://h:1/debug/pprof/goroutine",
	  "__name__=goroutine instance=h:1 job=j service_name=n/c", 0, false },
	{ "Docker", "__address__=h:1 __meta_docker_container_name=/d", GOROUTINE, false, "",
	  "http://h:1/debug/pprof/goroutine",
	  "__name__=goroutine instance=h:1 job=j service_name=/d", 0, false },
	{ "Swarm",
	  "__address__=h:1 __meta_dockerswarm_service_name=s "
	  "__meta_dockerswarm_container_label_service_name=l",
	  GOROUTINE, false, "", "http://h:1/debug/pprof/goroutine",
	  "__name__=goroutine instance=h:1 job=j service_name=l", 0, false },
	{ "names that servers do not take", "__address__=h:1 a.b=c 1x=y", GOROUTINE, false, "",
	  "http://h:1/debug/pprof/goroutine",
	  "_1x=y __name__=goroutine a_b=c instance=h:1 job=j service_name=unspecified", 0, false },
	{ "no address", "service_name=s", MEMORY, false, "", NULL, "no address", 0, false },
	{ "an address with a path", "__address__=h:1/x", MEMORY, false, "", NULL,
	  "not a valid hostname", 0, false },
	{ "an address with a path only", "__address__=http://h", MEMORY, false, "", NULL,
	  "not a valid hostname", 0, false },
	{ "a scheme that nobody speaks", "__address__=h:1 __scheme__=ftp", MEMORY, false, "", NULL,
	  "ftp://h:1/debug/pprof/allocs: ", 0, false },
	{ "a port that is none", "__address__=h:99999", MEMORY, false, "", NULL,
	  "http://h:99999/debug/pprof/allocs: ", 0, false },
	{ "IPv6 without brackets", "__address__=::1", MEMORY, false, "", NULL, "http://::1/", 0,
	  false },
};

static int make(const struct row *row, struct buf *why, struct scrape_target *t)
{
	const struct scrape_rules rules = {
		.job_name = "j",
		.scheme = "http",
		.path_prefix = row->prefix,
		.params = params,
		.n_params = row->with_params ? ARRAY_SIZE(params) : 0,
		.profiles = profiles,
		.n_profiles = ARRAY_SIZE(profiles),
		.seconds = 14,
	};
	struct labels *l = labels_of(row->labels);
	int r = scrape_target_make(&rules, &profiles[row->profile], l, why, t);

	labels_unref(l);
	return r;
}

static void test_row(void **state)
{
	const struct row *row = *state;
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	struct scrape_target t;
	char text[4096];
	int r = make(row, &why, &t);

	if (!row->url) {
		assert_int_equal(r, SCRAPE_TARGET_WRONG);
		assert_non_null(strstr(buf_str(&why), row->series));
		return;
	}
	assert_string_equal(buf_str(&why), "");
	assert_int_equal(r, SCRAPE_TARGET_MADE);
	assert_string_equal(t.url, row->url);
	assert_int_equal(t.seconds, row->seconds);
	assert_int_equal(t.cumulative, row->cumulative);
	print_labels(t.series, text, sizeof(text));
	if (row->series)
		assert_string_equal(text, row->series);
	scrape_target_fini(&t);
}

/* The first row with that name. */
static void make_named(const char *name, struct scrape_target *t)
{
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (strcmp(rows[i].name, name) == 0) {
			assert_int_equal(make(&rows[i], &why, t), SCRAPE_TARGET_MADE);
			return;
		}
	fail_msg("no row %s", name);
}

static void test_equal(void **state)
{
	struct scrape_target a, again, other;

	(void)state;
	make_named("memory", &a);
	make_named("memory", &again);
	make_named("CPU", &other);
	assert_true(scrape_target_equal(&a, &again));
	assert_true(scrape_target_is_at(&a, &again));
	assert_false(scrape_target_equal(&a, &other));
	assert_false(scrape_target_is_at(&a, &other));
	scrape_target_fini(&a);
	scrape_target_fini(&again);
	scrape_target_fini(&other);
}

/* Targets of a fleet are not all asked at the same moment: each tenth of an interval has some. */
static void test_spread(void **state)
{
	enum { N = 1000, PARTS = 10 };
	size_t n[PARTS] = { 0 };

	(void)state;
	for (int i = 0; i < N; i++) {
		_cleanup_buf_ struct buf why = BUF_INIT(4096);
		struct scrape_target t;
		char labels[64];

		(void)snprintf(labels, sizeof(labels), "__address__=10.0.%d.%d:6060", i / 250,
			       i % 250);
		const struct row row = { .labels = labels, .prefix = "" };
		assert_int_equal(make(&row, &why, &t), SCRAPE_TARGET_MADE);
		n[t.hash % 15000000000 / (15000000000 / PARTS)]++;
		scrape_target_fini(&t);
	}
	for (size_t i = 0; i < PARTS; i++)
		assert_in_range(n[i], N / PARTS / 2, N / PARTS * 2);
}

static void test_many_labels(void **state)
{
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	static char names[LABELS_RAW_MAX][16];
	struct label items[LABELS_RAW_MAX];
	const struct scrape_rules rules = { .job_name = "j",
					    .scheme = "http",
					    .path_prefix = "",
					    .profiles = profiles,
					    .n_profiles = 1 };
	struct labels *l;
	struct scrape_target t;

	(void)state;
	for (size_t i = 0; i < LABELS_RAW_MAX; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "l%zu", i);
		items[i] = (struct label){ names[i], "v" };
	}
	items[0] = (struct label){ "__address__", "h:1" };
	assert_int_equal(labels_new(items, 40, &l), 0);
	assert_int_equal(scrape_target_make(&rules, &profiles[MEMORY], l, &why, &t), 0);
	assert_int_equal(t.series->n, LABELS_MAX);
	assert_string_equal(labels_get(t.series, "__name__"), "memory");
	assert_string_equal(labels_get(t.series, "__delta__"), "false");
	assert_string_equal(labels_get(t.series, "service_name"), "unspecified");
	scrape_target_fini(&t);
	labels_unref(l);
	assert_int_equal(labels_new(items, LABELS_RAW_MAX, &l), 0);
	assert_int_equal(scrape_target_make(&rules, &profiles[MEMORY], l, &why, &t),
			 SCRAPE_TARGET_WRONG);
	labels_unref(l);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_equal),
	TEST(test_spread),
	TEST(test_many_labels),
};

TEST_MAIN(tests)
