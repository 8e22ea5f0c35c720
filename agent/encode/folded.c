/* SPDX-License-Identifier: Apache-2.0 */
/* A profile as folded stacks: a line each, sorted, equal ones summed. */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/encode/profile.h"
#include "agent/util/buf.h"

#define TEXT_MAX_BYTES ((size_t)256 << 20)

struct folded_line {
	char *stack; /* owned */
	int64_t count;
};

struct folded {
	struct folded_line *lines;
	size_t n;
};

static void folded_fini(struct folded *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->lines[i].stack);
	free(f->lines);
}

/* Semicolons and line breaks separate things in folded stacks. */
static void put_name(struct buf *b, const char *name)
{
	for (; *name; name++)
		(void)buf_append_char(b, *name == ';' || *name == '\n' ? ':' : *name);
}

static void put_location(struct buf *b, const struct pprof_builder *tables, uint64_t id)
{
	for (size_t k = pprof_builder_n_lines(tables, id); k-- > 0;) {
		(void)buf_append_char(b, ';');
		put_name(b, pprof_builder_line_function(tables, id, k));
	}
}

/* In front stands the series: where a profile is of several, a label tells which. */
static const char *root_of(const struct profile *p, size_t i)
{
	const char *root = pprof_builder_sample_label(p->tables, i, "process");

	if (!root && p->labels)
		root = labels_get(p->labels, "service_name");
	return root ? root : "process";
}

/* Samples of CPU time; of other events the sum of their first value, as their period is 1. */
static int put_sample(struct folded *f, const struct profile *p, size_t i)
{
	_cleanup_buf_ struct buf b = BUF_INIT(TEXT_MAX_BYTES);
	struct pprof_sample sample;

	assert(f->n < pprof_builder_n_samples(p->tables) && pprof_builder_period(p->tables) > 0);
	pprof_builder_read_sample(p->tables, i, &sample);
	put_name(&b, root_of(p, i));
	for (size_t k = sample.n_locations; k-- > 0;)
		put_location(&b, p->tables, sample.location_ids[k]);
	char *stack = b.failed ? NULL : buf_take(&b);
	if (!stack)
		return -ENOMEM;
	f->lines[f->n++] =
		(struct folded_line){ stack, sample.values[0] / pprof_builder_period(p->tables) };
	return 0;
}

static int folded_compare(const void *a, const void *b)
{
	return strcmp(((const struct folded_line *)a)->stack,
		      ((const struct folded_line *)b)->stack);
}

static void put_lines(const struct folded *f, struct buf *out)
{
	for (size_t i = 0, next; i < f->n; i = next) {
		int64_t count = 0;

		for (next = i; next < f->n && strcmp(f->lines[next].stack, f->lines[i].stack) == 0;
		     next++)
			count += f->lines[next].count;
		(void)buf_printf(out, "%s %" PRIi64 "\n", f->lines[i].stack, count);
	}
}

static int take_text(struct buf *out, struct pprof_bytes *ret_bytes)
{
	size_t n = out->len;
	char *text = out->failed ? NULL : buf_take(out);

	if (!text)
		return -ENOMEM;
	*ret_bytes = (struct pprof_bytes){ (uint8_t *)text, n };
	return 0;
}

int encode_folded(const struct profile *p, struct pprof_bytes *ret_bytes)
{
	size_t n = pprof_builder_n_samples(p->tables);
	_cleanup_(folded_fini) struct folded f = { .lines = calloc(n + 1, sizeof(*f.lines)) };
	_cleanup_buf_ struct buf out = BUF_INIT(TEXT_MAX_BYTES);
	int r = f.lines ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < n; i++)
		r = put_sample(&f, p, i);
	if (r < 0)
		return r;
	qsort(f.lines, f.n, sizeof(*f.lines), folded_compare);
	put_lines(&f, &out);
	return take_text(&out, ret_bytes);
}
