/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON of a flame graph, and the bytes of a tree. */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/query/query_memory.h"
#include "agent/store/tree/flamebearer.h"

/* Texts of profiles are valid UTF-8, so only these need an escape (RFC 8259, 7). */
static int put_string(struct buf *out, const char *s)
{
	(void)buf_append_char(out, '"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			(void)buf_printf(out, "\\%c", *s);
		else if ((unsigned char)*s < 0x20)
			(void)buf_printf(out, "\\u%04x", (unsigned int)(unsigned char)*s);
		else
			(void)buf_append_char(out, *s);
	}
	return buf_append_char(out, '"');
}

/* Half of the time of a large answer went into printf. */
static void put_number(struct buf *out, int64_t value)
{
	char text[24];
	size_t at = sizeof(text);
	uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;

	do
		text[--at] = (char)('0' + rest % 10);
	while (rest /= 10);
	if (value < 0)
		text[--at] = '-';
	(void)buf_append(out, text + at, sizeof(text) - at);
}

static void put_level(struct buf *out, const struct flame_level *level)
{
	(void)buf_append_char(out, '[');
	for (size_t i = 0; i < level->n && !out->failed; i++) {
		if (i > 0)
			(void)buf_append_char(out, ',');
		put_number(out, level->values[i]);
	}
	(void)buf_append_char(out, ']');
}

int flamebearer_json(const struct flamebearer *f, struct buf *out)
{
	(void)buf_append_str(out, "{\"names\":[");
	for (size_t i = 0; i < f->n_names && !out->failed; i++) {
		if (i > 0)
			(void)buf_append_char(out, ',');
		(void)put_string(out, f->names[i]);
	}
	(void)buf_append_str(out, "],\"levels\":[");
	for (size_t i = 0; i < f->n_levels && !out->failed; i++) {
		if (i > 0)
			(void)buf_append_char(out, ',');
		put_level(out, &f->levels[i]);
	}
	(void)buf_printf(out, "],\"numTicks\":%" PRId64 ",\"maxSelf\":%" PRId64 "}", f->total,
			 f->max_self);
	return out->failed ? -ENOBUFS : 0;
}

static void put_varint(struct buf *out, uint64_t value)
{
	char bytes[10];
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		bytes[n++] = (char)(value | 0x80);
	bytes[n++] = (char)value;
	(void)buf_append(out, bytes, n);
}

static size_t push_children(const struct call_tree *tree, const struct call_node *node,
			    uint32_t *stack)
{
	size_t n = 0;

	for (uint32_t c = node->first_child; c != CALL_NONE; c = call_tree_node(tree, c)->next)
		stack[n++] = c;
	return n;
}

/* The root has no name; children come with the last name first. */
int call_tree_bytes(const struct call_tree *tree, struct buf *out)
{
	_cleanup_query_free_ uint32_t *stack =
		query_malloc(call_tree_memory(tree), call_tree_n_nodes(tree), sizeof(*stack));
	size_t n = 1;

	assert(call_tree_is_finished(tree));
	if (!stack)
		return -ENOMEM;
	stack[0] = CALL_ROOT;
	if (call_tree_n_nodes(tree) == 1)
		return 0;
	while (n > 0 && !out->failed) {
		uint32_t at = stack[--n];
		const struct call_node *node = call_tree_node(tree, at);
		const char *name = at == CALL_ROOT ? "" : call_tree_text(tree, node->name);
		size_t n_children = push_children(tree, node, stack + n);

		put_varint(out, strlen(name));
		(void)buf_append_str(out, name);
		put_varint(out, (uint64_t)node->self[CALL_LEFT]);
		put_varint(out, n_children);
		n += n_children;
	}
	return out->failed ? -ENOBUFS : 0;
}
