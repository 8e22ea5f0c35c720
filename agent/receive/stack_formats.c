/* SPDX-License-Identifier: Apache-2.0 */
/* Formats of stacks. */
#include "agent/receive/stack_formats.h"

#include <errno.h>
#include <stdlib.h>

/* ---- text ---- */

static bool next_line(struct str *rest, struct str *ret_line)
{
	if (!str_split(rest, '\n', ret_line))
		return false;
	if (ret_line->n > 0 && ret_line->p[ret_line->n - 1] == '\r')
		ret_line->n--;
	return true;
}

/* False: the line has no blank. */
static bool split_count(struct str line, struct str *ret_stack, struct str *ret_count)
{
	for (size_t i = line.n; i > 0; i--) {
		if (line.p[i - 1] != ' ')
			continue;
		*ret_stack = (struct str){ line.p, i - 1 };
		*ret_count = (struct str){ line.p + i, line.n - i };
		return true;
	}
	return false;
}

int stack_read_groups(struct str text, struct stack_profile *profile, struct buf *why)
{
	struct str line, stack, count;
	uint64_t value;
	int r = 0;

	while (r == 0 && next_line(&text, &line)) {
		if (!split_count(line, &stack, &count))
			continue;
		if (str_parse_u64(count, 10, INT64_MAX, &value) < 0) {
			(void)buf_printf(why, "\"%.*s\" is not the count of a stack",
					 (int)(count.n < 64 ? count.n : 64), count.p);
			return -EBADMSG;
		}
		r = stack_profile_add_text(profile, stack, value);
	}
	return r;
}

int stack_read_lines(struct str text, struct stack_profile *profile, struct buf *why)
{
	struct str line;
	int r = 0;

	(void)why;
	while (r == 0 && next_line(&text, &line))
		r = stack_profile_add_text(profile, line, 1);
	return r;
}

/* ---- nodes ---- */

struct level {
	uint64_t n_left; /* children that are to come */
	size_t n_before; /* bytes of the stack without it */
};

struct walk {
	struct str rest;
	struct stack_profile *profile;
	bool is_tree;
	struct buf *why;
	struct buf stack;
	struct level levels[STACK_FORMAT_MAX_DEPTH];
	size_t depth;
};

static bool get_varint(struct str *s, uint64_t *ret)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 64 && s->n > 0; shift += 7) {
		uint8_t byte = (uint8_t)*s->p;

		s->p++;
		s->n--;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*ret = value;
			return true;
		}
	}
	return false;
}

static int complain(struct walk *w, const char *text)
{
	(void)buf_append_str(w->why, text);
	return -EBADMSG;
}

struct node {
	struct str name;
	uint64_t value, n_children;
};

static int get_node(struct walk *w, struct node *ret)
{
	uint64_t n;

	if (!get_varint(&w->rest, &n) || n > w->rest.n)
		return complain(w, "it ends within a node");
	ret->name = (struct str){ w->rest.p, n };
	w->rest.p += n;
	w->rest.n -= n;
	if (!get_varint(&w->rest, &ret->value) || !get_varint(&w->rest, &ret->n_children))
		return complain(w, "it ends within a node");
	return 0;
}

/* In a tree nodes are frames: below the first, which has no name. */
static int append_name(struct walk *w, struct str name)
{
	int r = 0;

	if (w->is_tree && w->depth > 1)
		r = buf_append_char(&w->stack, ';');
	if (r == 0 && !(w->is_tree && w->depth == 0))
		r = buf_append(&w->stack, name.p, name.n);
	return r == -ENOBUFS ? complain(w, "a stack is too long") : r;
}

/* Back to the next that has children to come. */
static void ascend(struct walk *w)
{
	while (w->depth > 0 && w->levels[w->depth - 1].n_left == 0)
		w->depth--;
	if (w->depth == 0)
		return;
	w->levels[w->depth - 1].n_left--;
	w->stack.len = w->levels[w->depth - 1].n_before;
	if (w->stack.data)
		w->stack.data[w->stack.len] = '\0';
}

static int walk_node(struct walk *w)
{
	struct node node;
	int r = get_node(w, &node);

	if (r == 0)
		r = append_name(w, node.name);
	if (r == 0)
		r = stack_profile_add_text(
			w->profile, (struct str){ buf_str(&w->stack), w->stack.len }, node.value);
	if (r < 0)
		return r;
	if (w->depth == STACK_FORMAT_MAX_DEPTH)
		return complain(w, "it is too deep");
	w->levels[w->depth++] = (struct level){ node.n_children, w->stack.len };
	ascend(w);
	return 0;
}

/* Nothing is no profile; else it ends with the last node of the first. */
static int read_nodes(struct str bytes, bool is_tree, struct stack_profile *profile,
		      struct buf *why)
{
	struct walk *w = calloc(1, sizeof(*w));
	int r = 0;

	if (!w)
		return -ENOMEM;
	w->rest = bytes;
	w->profile = profile;
	w->is_tree = is_tree;
	w->why = why;
	buf_init(&w->stack, STACK_FORMAT_MAX_STACK);
	do
		r = w->rest.n > 0 ? walk_node(w) : 0;
	while (r == 0 && w->depth > 0 && w->rest.n > 0);
	if (r == 0 && w->depth > 0)
		r = complain(w, "nodes are missing at its end");
	buf_fini(&w->stack);
	free(w);
	return r;
}

int stack_read_trie(struct str bytes, struct stack_profile *profile, struct buf *why)
{
	return read_nodes(bytes, false, profile, why);
}

int stack_read_tree(struct str bytes, struct stack_profile *profile, struct buf *why)
{
	return read_nodes(bytes, true, profile, why);
}
