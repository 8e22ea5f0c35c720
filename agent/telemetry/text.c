/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Prometheus text, exposition format 0.0.4: one HELP and TYPE a family, then its series.
 *
 * Families are in the order of their names and series in the order of their label values, so that
 * two texts can be compared.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/telemetry/metric.h"
#include "agent/telemetry/telemetry.h"

static const char *const telemetry_type_names[] = {
	[METRIC_COUNTER] = "counter",
	[METRIC_SECONDS] = "counter",
	[METRIC_GAUGE] = "gauge",
	[METRIC_HISTOGRAM] = "histogram",
};

static void text_escaped(struct buf *out, const char *s, bool quotes)
{
	for (; *s; s++) {
		if (*s == '\n')
			(void)buf_append_str(out, "\\n");
		else if (*s == '\\')
			(void)buf_append_str(out, "\\\\");
		else if (*s == '"' && quotes)
			(void)buf_append_str(out, "\\\"");
		else
			(void)buf_append_char(out, *s);
	}
}

/* The shortest of 15 and 17 digits that reads back as the same number. */
static void text_double(struct buf *out, double value)
{
	char digits[32];

	if (isnan(value)) {
		(void)buf_append_str(out, "NaN");
		return;
	}
	if (isinf(value)) {
		(void)buf_append_str(out, value > 0 ? "+Inf" : "-Inf");
		return;
	}
	(void)snprintf(digits, sizeof(digits), "%.15g", value);
	if (strtod(digits, NULL) != value)
		(void)snprintf(digits, sizeof(digits), "%.17g", value);
	(void)buf_append_str(out, digits);
}

/* `le` is the extra label of a histogram's bucket, or NULL. */
static void text_labels(struct buf *out, const struct metric *m, const char *le)
{
	const char *sep = "{";

	for (size_t i = 0; i < m->n_values; i++) {
		(void)buf_printf(out, "%s%s=\"", sep, m->family->label_names[i]);
		text_escaped(out, m->values[i], true);
		(void)buf_append_char(out, '"');
		sep = ",";
	}
	if (le) {
		(void)buf_printf(out, "%sle=\"%s\"", sep, le);
		sep = ",";
	}
	if (*sep == ',')
		(void)buf_append_char(out, '}');
}

static void text_number(struct buf *out, const struct metric *m, const char *suffix, const char *le,
			uint64_t n)
{
	(void)buf_printf(out, "%s%s", m->family->name, suffix);
	text_labels(out, m, le);
	(void)buf_printf(out, " %" PRIu64 "\n", n);
}

static void text_histogram(struct buf *out, const struct metric *m)
{
	uint64_t n = 0;
	char le[32];

	for (size_t i = 0; i <= METRIC_N_BUCKETS; i++) {
		n += atomic_load_explicit(&m->histogram->counts[i], memory_order_relaxed);
		if (i < METRIC_N_BUCKETS)
			(void)snprintf(le, sizeof(le), "%g", metric_buckets[i]);
		text_number(out, m, "_bucket", i < METRIC_N_BUCKETS ? le : "+Inf", n);
	}
	(void)buf_printf(out, "%s_sum", m->family->name);
	text_labels(out, m, NULL);
	(void)buf_append_char(out, ' ');
	text_double(out, metric_double(atomic_load_explicit(&m->histogram->sum_bits,
							    memory_order_relaxed)));
	(void)buf_append_char(out, '\n');
	text_number(out, m, "_count", NULL, n);
}

static void text_gauge(struct buf *out, const struct metric *m)
{
	(void)buf_append_str(out, m->family->name);
	text_labels(out, m, NULL);
	(void)buf_append_char(out, ' ');
	text_double(out, metric_value(m));
	(void)buf_append_char(out, '\n');
}

static void text_series(struct buf *out, const struct metric *m)
{
	switch (m->family->type) {
	case METRIC_COUNTER:
		text_number(out, m, "", NULL, atomic_load_explicit(&m->bits, memory_order_relaxed));
		return;
	case METRIC_SECONDS:
	case METRIC_GAUGE:
		text_gauge(out, m);
		return;
	case METRIC_HISTOGRAM:
		text_histogram(out, m);
		return;
	}
}

static void text_head(struct buf *out, const struct metric_family *family)
{
	(void)buf_printf(out, "# HELP %s ", family->name);
	text_escaped(out, family->help, false);
	(void)buf_printf(out, "\n# TYPE %s %s\n", family->name, telemetry_type_names[family->type]);
}

static int text_compare(const void *left, const void *right)
{
	const struct metric *a = *(const struct metric *const *)left;
	const struct metric *b = *(const struct metric *const *)right;
	int order = strcmp(a->family->name, b->family->name);

	for (size_t i = 0; order == 0 && i < a->n_values && i < b->n_values; i++)
		order = strcmp(a->values[i], b->values[i]);
	return order;
}

static void text_scrape(struct telemetry *t)
{
	LIST_FOREACH (&t->scrapes, node) {
		struct telemetry_scrape *s = LIST_ENTRY(node, struct telemetry_scrape, node);

		s->fn(t, s->data);
	}
}

int telemetry_text(struct telemetry *t, struct buf *out)
{
	const char *family = "";
	size_t n = 0;

	text_scrape(t);
	_cleanup_free_ struct metric **sorted = calloc(t->series.n, sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	HASH_FOREACH (&t->series, node) {
		sorted[n++] = CONTAINER_OF(node, struct metric, node);
	}
	qsort(sorted, n, sizeof(struct metric *), text_compare);
	for (size_t i = 0; i < n && !out->failed; i++) {
		if (strcmp(family, sorted[i]->family->name) != 0)
			text_head(out, sorted[i]->family);
		family = sorted[i]->family->name;
		text_series(out, sorted[i]);
	}
	return out->failed ? -ENOBUFS : 0;
}
