/* SPDX-License-Identifier: Apache-2.0 */
/* From the labels of a target to what is scraped of it. */
#include "agent/scrape/scrape_target.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/http/url.h"
#include "agent/scrape/scrape_url.h"
#include "agent/target/label_sanitizer.h"
#include "agent/util/hash.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

#define PARAM_PREFIX "__param_"
#define SECONDS "seconds"
#define NUMBER_BYTES 24

/* A target's label, or what takes its place. */
static const char *get(const struct labels *l, const char *name, const char *otherwise)
{
	const char *value = labels_get(l, name);

	return value ? value : otherwise ? otherwise : "";
}

/* ---- its address ----------------------------------------------------------------------------------------------------------------- */

struct query {
	struct scrape_url_pair pairs[SCRAPE_MAX_PARAMS];
	size_t n;
	char seconds[NUMBER_BYTES];
};

static bool add_pair(struct query *q, const char *key, const char *value)
{
	if (q->n == SCRAPE_MAX_PARAMS)
		return false;
	q->pairs[q->n] = (struct scrape_url_pair){ key, value, q->n };
	q->n++;
	return true;
}

static const char *pair_of(const struct query *q, const char *key)
{
	for (size_t i = 0; i < q->n; i++)
		if (strcmp(q->pairs[i].key, key) == 0)
			return q->pairs[i].value;
	return NULL;
}

static bool add_params(struct query *q, const struct scrape_rules *rules)
{
	for (size_t i = 0; i < rules->n_params; i++)
		for (size_t v = 0; v < rules->params[i].n_values; v++)
			if (!add_pair(q, rules->params[i].key, rules->params[i].values[v]))
				return false;
	return true;
}

/* Those of the target, where the configuration has none of that name. */
static bool add_label_params(struct query *q, const struct labels *from)
{
	size_t n_prefix = strlen(PARAM_PREFIX);

	for (size_t i = 0; i < from->n; i++) {
		const char *name = from->items[i].name;

		if (strncmp(name, PARAM_PREFIX, n_prefix) == 0 && !pair_of(q, name + n_prefix) &&
		    !add_pair(q, name + n_prefix, from->items[i].value))
			return false;
	}
	return true;
}

static bool add_seconds(struct query *q, const struct scrape_rules *rules, bool over_time)
{
	if (!over_time || pair_of(q, SECONDS))
		return true;
	(void)snprintf(q->seconds, sizeof(q->seconds), "%llu", (unsigned long long)rules->seconds);
	return add_pair(q, SECONDS, q->seconds);
}

static uint64_t seconds_of(const struct query *q)
{
	uint64_t seconds = 0;
	const char *text = pair_of(q, SECONDS);
	int r = text ? str_parse_u64(str_from(text), 10, SCRAPE_MAX_SECONDS, &seconds) : 0;

	return r == -ERANGE ? SCRAPE_MAX_SECONDS : seconds;
}

/* host:port: the port of the scheme where it has none. */
static bool put_address(const struct scrape_rules *rules, const struct labels *from,
			struct buf *why, struct buf *out)
{
	const char *address = get(from, "__address__", NULL);
	bool https = strcmp(get(from, "__scheme__", rules->scheme), "https") == 0;

	if (!*address)
		(void)buf_append_str(why, "no address: the target has no label __address__ with "
					  "host:port");
	else if (strchr(address, '/'))
		(void)buf_printf(why,
				 "\"%.200s\" is not a valid hostname: __address__ is host:port, "
				 "the rest belongs into scheme, path_prefix and path",
				 address);
	(void)buf_append_str(out, address);
	if (scrape_url_wants_port(address))
		(void)buf_append_str(out, https ? ":443" : ":80");
	return why->len == 0;
}

/* Of a profile that is called so. */
static bool is_over_time(const struct scrape_rules *rules, const char *name)
{
	for (size_t i = 0; i < rules->n_profiles; i++)
		if (strcmp(rules->profiles[i].name, name) == 0)
			return rules->profiles[i].over_time;
	return false;
}

static bool put_url(const struct scrape_rules *rules, const struct scrape_profile *profile,
		    const struct labels *from, const char *address, struct query *q,
		    struct buf *out)
{
	const char *scheme = get(from, "__scheme__", rules->scheme);

	(void)buf_printf(out, "%s://%s", scheme, address);
	scrape_url_path(out, get(from, "__profile_path_prefix__", rules->path_prefix),
			get(from, "__profile_path__", profile->path));
	if (!add_params(q, rules) || !add_label_params(q, from) ||
	    !add_seconds(q, rules, is_over_time(rules, get(from, "__name__", profile->name))))
		return false;
	scrape_url_query(out, q->pairs, q->n);
	return true;
}

static bool check_url(const struct buf *out, bool complete, struct buf *why)
{
	enum url_problem problem;
	struct url url;

	if (!complete) {
		(void)buf_printf(why, "more than %d parameters", SCRAPE_MAX_PARAMS);
		return false;
	}
	problem = url_parse((struct str){ buf_str(out), out->len }, &url);
	if (problem != URL_OK)
		(void)buf_printf(why, "%.300s: %s", buf_str(out), url_problem_text(problem));
	return problem == URL_OK;
}

/* ---- its labels ------------------------------------------------------------------------------------------------------------------ */

static const char *infer_service_name(const struct labels *l, struct buf *memory)
{
	static const char *const names[] = {
		"__meta_docker_container_name",
		"__meta_dockerswarm_container_label_service_name",
		"__meta_dockerswarm_service_name",
	};
	const char *annotation =
		labels_get(l, "__meta_kubernetes_pod_annotation_pyroscope_io_service_name");
	const char *namespace = labels_get(l, "__meta_kubernetes_namespace");
	const char *container = labels_get(l, "__meta_kubernetes_pod_container_name");

	if (annotation)
		return annotation;
	if (namespace && container) {
		(void)buf_printf(memory, "%s/%s", namespace, container);
		return buf_str(memory);
	}
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (labels_get(l, names[i]))
			return labels_get(l, names[i]);
	return "unspecified";
}

/* That a target makes the differences itself (github.com/grafana/pyroscope-go/godeltaprof) is not told of. */
static const char *name_of_series(const char *name, bool *ret_made_there)
{
	static const char *const names[][2] = {
		{ "godeltaprof_memory", "memory" },
		{ "godeltaprof_block", "block" },
		{ "godeltaprof_mutex", "mutex" },
	};

	*ret_made_there = true;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(name, names[i][0]) == 0)
			return names[i][1];
	*ret_made_there = false;
	return name;
}

static bool counts_from_start(const char *name)
{
	return strcmp(name, "memory") == 0 || strcmp(name, "block") == 0 ||
	       strcmp(name, "mutex") == 0;
}

/* What every target's labels are, and of which it may have its own. */
static int clean_labels(const struct scrape_rules *rules, const struct labels *from,
			const char *address, const char *name, struct labels **ret_labels)
{
	_cleanup_buf_ struct buf service = BUF_INIT(2 * LABEL_VALUE_MAX + 2);
	struct label items[LABELS_RAW_MAX + 5];
	struct label_sanitizer_report report;
	size_t n = 0;

	items[n++] = (struct label){ "job", rules->job_name };
	items[n++] = (struct label){ "instance", address };
	items[n++] = (struct label){ "service_name", infer_service_name(from, &service) };
	for (size_t i = 0; i < from->n; i++)
		if (strncmp(from->items[i].name, "__", 2) != 0)
			items[n++] = from->items[i];
	items[n++] = (struct label){ "__name__", name };
	if (counts_from_start(name))
		items[n++] = (struct label){ "__delta__", "false" };
	return service.failed ? -ENOMEM : label_sanitizer_clean(items, n, &report, ret_labels);
}

/* Of what is public in them. */
static uint64_t hash_of(const char *url, const struct labels *series)
{
	uint64_t hash = hash_str(url);

	for (size_t i = 0; i < series->n; i++) {
		const struct label *l = &series->items[i];

		if (strncmp(l->name, "__", 2) == 0)
			continue;
		hash = hash_bytes(l->name, strlen(l->name), hash);
		hash = hash_bytes(l->value, strlen(l->value), hash);
	}
	return hash;
}

/* A clean set has no name where it is that of CPU profiles. */
static int make_series(const struct scrape_rules *rules, const char *name, const char *address,
		       struct scrape_target *t)
{
	_cleanup_(labels_unrefp) struct labels *clean = NULL, *named = NULL;
	int r = clean_labels(rules, t->from, address, name, &clean);

	if (r == 0)
		r = labels_new(&(struct label){ "__name__", get(clean, "__name__", "process_cpu") },
			       1, &named);
	if (r == 0)
		r = labels_merge(clean, named, &t->series);
	if (r < 0)
		return r;
	t->hash = hash_of(t->url, t->series);
	t->name = get(t->series, "__name__", NULL);
	return 0;
}

static int fill(const struct scrape_rules *rules, const struct scrape_profile *profile,
		struct buf *why, struct scrape_target *t)
{
	_cleanup_buf_ struct buf address = BUF_INIT(URL_MAX_BYTES), url = BUF_INIT(16384);
	struct query q = { .n = 0 };
	bool made_there;

	if (!put_address(rules, t->from, why, &address))
		return SCRAPE_TARGET_WRONG;
	bool complete = put_url(rules, profile, t->from, buf_str(&address), &q, &url);
	if (!check_url(&url, complete, why))
		return SCRAPE_TARGET_WRONG;
	const char *name = name_of_series(get(t->from, "__name__", profile->name), &made_there);
	t->seconds = seconds_of(&q);
	t->cumulative = counts_from_start(name) && !made_there && t->seconds == 0;
	t->url = buf_take(&url);
	if (!t->url)
		return -ENOMEM;
	int r = make_series(rules, name, buf_str(&address), t);
	if (r == -E2BIG)
		(void)buf_append_str(why, "the target has too many labels");
	return r == -E2BIG ? SCRAPE_TARGET_WRONG : r;
}

int scrape_target_make(const struct scrape_rules *rules, const struct scrape_profile *profile,
		       struct labels *from, struct buf *why, struct scrape_target *ret_target)
{
	struct scrape_target t = { .from = labels_ref(from) };
	int r = fill(rules, profile, why, &t);

	if (r != SCRAPE_TARGET_MADE) {
		scrape_target_fini(&t);
		return r;
	}
	*ret_target = t;
	return SCRAPE_TARGET_MADE;
}

void scrape_target_fini(struct scrape_target *t)
{
	free(t->url);
	labels_unref(t->series);
	labels_unref(t->from);
	*t = (struct scrape_target){ 0 };
}

bool scrape_target_is_at(const struct scrape_target *a, const struct scrape_target *b)
{
	return a->hash == b->hash && strcmp(a->url, b->url) == 0;
}

bool scrape_target_equal(const struct scrape_target *a, const struct scrape_target *b)
{
	return scrape_target_is_at(a, b) && a->cumulative == b->cumulative &&
	       labels_equal(a->series, b->series);
}
