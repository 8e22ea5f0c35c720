/* SPDX-License-Identifier: Apache-2.0 */
/* Which stacks, by the functions in them: bits of each function, and of a node those of all on its way to the root. */
#include "agent/store/query/query_frames.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/target/relabel_regex.h"
#include "agent/util/macro.h"

#define MAX_REGEX_BYTES (128 << 10)

struct condition {
	const char *name;	     /* borrowed; of an expression NULL */
	struct relabel_regex *regex; /* NULL: a name */
};

struct query_frames {
	struct condition items[QUERY_FRAMES_MAX];
	size_t n;
	uint64_t wanted, unwanted; /* bits of conditions */
	struct relabel_pass pass;
};

int query_frames_new(struct query_frames **ret_frames)
{
	struct query_frames *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->pass = RELABEL_PASS_INIT;
	*ret_frames = f;
	return 0;
}

void query_frames_free(struct query_frames *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->n; i++)
		relabel_regex_free(f->items[i].regex);
	free(f);
}

/* Expressions are anchored there, so others stand around it. Alone first: what is wrong with it might be right within. */
static int compile(const char *text, struct buf *why, struct relabel_regex **ret_regex)
{
	_cleanup_buf_ struct buf whole = BUF_INIT(MAX_REGEX_BYTES);
	struct relabel_regex *alone = NULL;
	int r = relabel_regex_new(text, why, &alone);

	relabel_regex_free(alone);
	if (r != 0)
		return r;
	(void)buf_printf(&whole, ".*?(?:%s).*", text);
	return whole.failed ? -ENOMEM : relabel_regex_new(buf_str(&whole), why, ret_regex);
}

int query_frames_add(struct query_frames *f, const char *text, bool is_regex, bool is_wanted,
		     struct buf *why)
{
	struct condition c = { .name = is_regex ? NULL : text };
	int r = 0;

	if (f->n == QUERY_FRAMES_MAX) {
		(void)buf_printf(why, "more than %d function names", QUERY_FRAMES_MAX);
		return QUERY_FRAMES_WRONG;
	}
	if (is_regex)
		r = compile(text, why, &c.regex);
	if (r != 0)
		return r < 0 ? r : QUERY_FRAMES_WRONG;
	*(is_wanted ? &f->wanted : &f->unwanted) |= 1ULL << f->n;
	f->items[f->n++] = c;
	return QUERY_FRAMES_ADDED;
}

static bool meets(struct query_frames *f, const struct condition *c, const struct segment *s,
		  uint32_t name, uint32_t wanted)
{
	const char *text = segment_text(s, name);

	if (!c->regex)
		return name == wanted;
	return relabel_regex_match(c->regex, text, strlen(text), &f->pass, NULL);
}

/* Equal texts of a segment have equal numbers. */
static void mark_functions(struct query_frames *f, size_t condition, const struct segment *s,
			   uint64_t *bits)
{
	const struct condition *c = &f->items[condition];
	uint32_t wanted = c->regex ? SEGMENT_NONE : segment_find_text(s, c->name);

	if (!c->regex && wanted == SEGMENT_NONE)
		return;
	for (uint32_t i = 0; i < segment_n_functions(s) && f->pass.n_given_up == 0; i++)
		if (meets(f, c, s, segment_function(s, i).name, wanted))
			bits[i] |= 1ULL << condition;
}

static uint64_t bits_of_location(const struct segment *s, uint32_t location,
				 const uint64_t *functions)
{
	struct segment_location l;
	uint64_t bits = 0;

	segment_location(s, location, &l);
	for (size_t i = 0; i < l.n_lines; i++)
		bits |= functions[l.lines[i].function];
	return bits;
}

int query_frames_keep(struct query_frames *f, const struct segment *s, struct query_memory *memory,
		      bool *within)
{
	size_t n = segment_n_nodes(s);
	_cleanup_query_free_ uint64_t *nodes = query_calloc(memory, n, sizeof(*nodes));
	_cleanup_query_free_ uint64_t *functions =
		query_calloc(memory, segment_n_functions(s) + 1, sizeof(*functions));

	if (!nodes || !functions)
		return -ENOMEM;
	for (size_t i = 0; i < f->n; i++)
		mark_functions(f, i, s, functions);
	/* A parent has a smaller number than its children. */
	for (uint32_t i = 0; i < n; i++) {
		struct segment_node node = segment_node(s, i);

		if (i != SEGMENT_ROOT)
			nodes[i] =
				nodes[node.parent] | bits_of_location(s, node.location, functions);
		within[i] &= (nodes[i] & f->wanted) == f->wanted && !(nodes[i] & f->unwanted);
	}
	return f->pass.n_given_up > 0 ? -ETIMEDOUT : 0;
}
