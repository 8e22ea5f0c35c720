/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Prometheus text, exposition format 0.0.4: one HELP and TYPE a family, then its series.
 *
 * Families are in the order of their names and series in the order of their label values, so that
 * two texts can be compared.
 *
 * The numbers are copied first, by the loop thread; sorting and writing cost ten times as much, and may be done elsewhere: what a series is
 * called never changes, and no series goes.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/telemetry/metric.h"
#include "agent/telemetry/telemetry.h"

struct row {
	const struct metric *m; /* for its names */
	uint64_t bits;		/* of a histogram: its sum */
	uint64_t *counts;	/* of a histogram; borrowed from the snapshot */
};

struct telemetry_snapshot {
	size_t n;
	struct row *rows;
	uint64_t *counts; /* of all histograms */
};

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

static void text_histogram(struct buf *out, const struct row *row)
{
	const struct metric *m = row->m;
	uint64_t n = 0;
	char le[32];

	for (size_t i = 0; i <= METRIC_N_BUCKETS; i++) {
		n += row->counts[i];
		if (i < METRIC_N_BUCKETS)
			(void)snprintf(le, sizeof(le), "%g", metric_buckets[i]);
		text_number(out, m, "_bucket", i < METRIC_N_BUCKETS ? le : "+Inf", n);
	}
	(void)buf_printf(out, "%s_sum", m->family->name);
	text_labels(out, m, NULL);
	(void)buf_append_char(out, ' ');
	text_double(out, metric_double(row->bits));
	(void)buf_append_char(out, '\n');
	text_number(out, m, "_count", NULL, n);
}

static void text_gauge(struct buf *out, const struct row *row)
{
	(void)buf_append_str(out, row->m->family->name);
	text_labels(out, row->m, NULL);
	(void)buf_append_char(out, ' ');
	text_double(out, metric_double(row->bits));
	(void)buf_append_char(out, '\n');
}

static void text_series(struct buf *out, const struct row *row)
{
	switch (row->m->family->type) {
	case METRIC_COUNTER:
		text_number(out, row->m, "", NULL, row->bits);
		return;
	case METRIC_SECONDS:
	case METRIC_GAUGE:
		text_gauge(out, row);
		return;
	case METRIC_HISTOGRAM:
		text_histogram(out, row);
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
	const struct metric *a = ((const struct row *)left)->m;
	const struct metric *b = ((const struct row *)right)->m;
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

static size_t count_histograms(const struct telemetry *t)
{
	size_t n = 0;

	HASH_FOREACH (&t->series, node)
		n += CONTAINER_OF(node, struct metric, node)->histogram != NULL;
	return n;
}

static struct row read_row(const struct metric *m, uint64_t *counts)
{
	const struct metric_histogram *h = m->histogram;
	struct row row = { .m = m, .counts = counts };

	row.bits = atomic_load_explicit(h ? &h->sum_bits : &m->bits, memory_order_relaxed);
	for (size_t i = 0; h && i <= METRIC_N_BUCKETS; i++)
		counts[i] = atomic_load_explicit(&h->counts[i], memory_order_relaxed);
	return row;
}

int telemetry_snapshot_new(struct telemetry *t, struct telemetry_snapshot **ret_snapshot)
{
	_cleanup_(telemetry_snapshot_freep) struct telemetry_snapshot *s = calloc(1, sizeof(*s));

	text_scrape(t);
	if (!s)
		return -ENOMEM;
	s->rows = calloc(t->series.n, sizeof(*s->rows));
	s->counts = calloc(count_histograms(t) * (METRIC_N_BUCKETS + 1) + 1, sizeof(*s->counts));
	if (!s->rows || !s->counts)
		return -ENOMEM;
	uint64_t *counts = s->counts;
	HASH_FOREACH (&t->series, node) {
		const struct metric *m = CONTAINER_OF(node, struct metric, node);

		s->rows[s->n++] = read_row(m, counts);
		counts += m->histogram ? METRIC_N_BUCKETS + 1 : 0;
	}
	*ret_snapshot = TAKE_PTR(s);
	return 0;
}

void telemetry_snapshot_free(struct telemetry_snapshot *s)
{
	if (!s)
		return;
	free(s->rows);
	free(s->counts);
	free(s);
}

int telemetry_snapshot_text(struct telemetry_snapshot *s, struct buf *out)
{
	const char *family = "";

	qsort(s->rows, s->n, sizeof(*s->rows), text_compare);
	for (size_t i = 0; i < s->n && !out->failed; i++) {
		const struct metric_family *own = s->rows[i].m->family;

		if (strcmp(family, own->name) != 0)
			text_head(out, own);
		family = own->name;
		text_series(out, &s->rows[i]);
	}
	return out->failed ? -ENOBUFS : 0;
}

int telemetry_text(struct telemetry *t, struct buf *out)
{
	_cleanup_(telemetry_snapshot_freep) struct telemetry_snapshot *s = NULL;
	int r = telemetry_snapshot_new(t, &s);

	return r < 0 ? r : telemetry_snapshot_text(s, out);
}
