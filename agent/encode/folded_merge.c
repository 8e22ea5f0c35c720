/* SPDX-License-Identifier: Apache-2.0 */
/* Two sorted lists of lines "stack count" become one; counts of a stack that is in both are added. */
#include "agent/encode/folded_merge.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A line of a list, and what is behind it. */
struct cursor {
	struct str rest, stack;
	int64_t count;
	bool is_line; /* false: the list has ended */
};

/* Names may hold blanks: the count is behind the last one. A text of our own, and followed by a line break or a NUL: it is not checked again. */
static void step(struct cursor *c)
{
	struct str line;

	c->is_line = c->rest.n > 0 && str_split(&c->rest, '\n', &line);
	if (!c->is_line)
		return;
	const char *blank = memrchr(line.p, ' ', line.n);
	c->stack = (struct str){ line.p, blank ? (size_t)(blank - line.p) : line.n };
	c->count = blank ? strtoll(blank, NULL, 10) : 0;
}

/* As strcmp(). */
static int compare(struct str a, struct str b)
{
	int r = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);

	return r ? r : (a.n > b.n) - (a.n < b.n);
}

/* Which is next: < 0 the line of a, > 0 that of b, 0 both. */
static int order(const struct cursor *a, const struct cursor *b)
{
	if (!a->is_line || !b->is_line)
		return a->is_line ? -1 : 1;
	return compare(a->stack, b->stack);
}

int folded_merge(struct str a, struct str b, struct buf *out)
{
	struct cursor x = { .rest = a }, y = { .rest = b };
	int r = 0;

	step(&x);
	step(&y);
	while (r == 0 && (x.is_line || y.is_line)) {
		int which = order(&x, &y);
		const struct str stack = which <= 0 ? x.stack : y.stack;
		int64_t count = (which <= 0 ? x.count : 0) + (which >= 0 ? y.count : 0);

		r = buf_append(out, stack.p, stack.n);
		if (r == 0)
			r = buf_printf(out, " %" PRIi64 "\n", count);
		if (which <= 0)
			step(&x);
		if (which >= 0)
			step(&y);
	}
	return r;
}
