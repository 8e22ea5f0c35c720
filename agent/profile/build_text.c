/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles as text: folded stacks and a table. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/profile/build.h"
#include "agent/profile/hot.h"
#include "agent/util/str.h"

#define TEXT_MAX_BYTES ((size_t)256 << 20)
#define TABLE_MAX_BYTES ((size_t)64 << 20)
#define TABLE_ROWS 40

/* Semicolons and line breaks separate things in folded stacks. */
static void put_name(struct buf *b, const char *name)
{
	for (; *name; name++)
		(void)buf_append_char(b, *name == ';' || *name == '\n' ? ':' : *name);
}

static void put_stack(struct buf *b, const struct named_stack *named)
{
	for (uint32_t i = named->n; i-- > 0;)
		for (uint32_t k = named->items[i]->n; k-- > 0;) {
			(void)buf_append_char(b, ';');
			put_name(b, named->items[i]->items[k].function);
		}
}

struct folded_line {
	char *stack; /* owned */
	uint64_t count;
};

struct folded {
	struct folded_line *lines;
	size_t n;
	size_t cap;
};

static void folded_fini(struct folded *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->lines[i].stack);
	free(f->lines);
}

static int folded_put(struct folded *f, char *stack, uint64_t count)
{
	if (f->n == f->cap) {
		size_t cap = f->cap ? f->cap * 2 : 64;
		struct folded_line *lines = reallocarray(f->lines, cap, sizeof(*lines));

		if (!lines) {
			free(stack);
			return -ENOMEM;
		}
		f->lines = lines;
		f->cap = cap;
	}
	f->lines[f->n++] = (struct folded_line){ stack, count };
	return 0;
}

static int folded_add(struct folded *f, const char *root, const struct named_stack *named,
		      uint64_t count)
{
	_cleanup_buf_ struct buf b = BUF_INIT(TEXT_MAX_BYTES);

	put_name(&b, root);
	put_stack(&b, named);
	char *stack = b.failed ? NULL : buf_take(&b);
	return stack ? folded_put(f, stack, count) : -ENOMEM;
}

static int folded_compare(const void *a, const void *b)
{
	return strcmp(((const struct folded_line *)a)->stack,
		      ((const struct folded_line *)b)->stack);
}

static void folded_collect(struct folded *f, const struct interval *interval, struct namer *namer,
			   struct build *build)
{
	struct named_stack named;

	for (const struct series *s = interval->series; s; s = s->next)
		for (const struct stack *stack = s->stacks; stack; stack = stack->next) {
			if (namer_stack(namer, stack, &named) < 0 ||
			    folded_add(f, series_name(s), &named, (uint64_t)stack_weight(stack)) <
				    0)
				build->summary.n_failed += stack->count;
			else
				build->summary.n_samples += stack->count;
		}
}

static void folded_write(struct folded *f, struct buf *out)
{
	if (f->n)
		qsort(f->lines, f->n, sizeof(*f->lines), folded_compare);
	for (size_t i = 0, next; i < f->n; i = next) {
		uint64_t count = 0;

		for (next = i; next < f->n && strcmp(f->lines[next].stack, f->lines[i].stack) == 0;
		     next++)
			count += f->lines[next].count;
		(void)buf_printf(out, "%s %" PRIu64 "\n", f->lines[i].stack, count);
	}
}

static void put_text(struct buf *out, const struct interval *interval, struct build *build)
{
	size_t n = out->len;
	bool failed = out->failed;
	char *text = failed ? NULL : buf_take(out);

	if (!text || build_put(build, &(struct built){ .bytes = (uint8_t *)text,
						       .n_bytes = n,
						       .n_samples = build->summary.n_samples,
						       .time_ns = interval->end_real_ns }) < 0) {
		build->summary.n_failed += build->summary.n_samples;
		build->summary.n_samples = 0;
	}
}

void build_folded(const struct interval *interval, struct namer *namer, struct build *build)
{
	_cleanup_buf_ struct buf out = BUF_INIT(TEXT_MAX_BYTES);
	struct folded f = { 0 };

	folded_collect(&f, interval, namer, build);
	folded_write(&f, &out);
	folded_fini(&f);
	put_text(&out, interval, build);
}

static void put_table_row(struct buf *out, const struct hot *h, uint64_t all)
{
	struct str object = str_basename(str_from(h->path));

	(void)buf_printf(out, "%6.2f%% %6.2f%% %8" PRIu64 "  %s  (%.*s)\n",
			 100.0 * (double)h->self / (double)all,
			 100.0 * (double)h->total / (double)all, h->self, h->function,
			 (int)object.n, object.p);
}

static void put_table(struct buf *out, const struct hot_table *t)
{
	_cleanup_free_ const struct hot **rows = NULL;
	size_t n = 0;

	(void)buf_append_str(out, "   SELF   TOTAL  SAMPLES  FUNCTION (OBJECT)\n");
	if (hot_sorted(t, &rows, &n) < 0)
		return;
	for (size_t i = 0; i < n && i < TABLE_ROWS; i++)
		put_table_row(out, rows[i], t->total);
	if (n > TABLE_ROWS)
		(void)buf_printf(out, "… and %zu more functions\n", n - TABLE_ROWS);
}

void build_table(const struct interval *interval, struct namer *namer, struct build *build)
{
	_cleanup_buf_ struct buf out = BUF_INIT(TEXT_MAX_BYTES);
	struct hot_table hot;

	hot_init(&hot, TABLE_MAX_BYTES);
	for (const struct series *s = interval->series; s; s = s->next) {
		if (hot_add_series(&hot, s, namer) < 0)
			build->summary.n_failed += s->n_samples;
		else
			build->summary.n_samples += s->n_samples;
	}
	put_table(&out, &hot);
	hot_fini(&hot);
	put_text(&out, interval, build);
}
