/* SPDX-License-Identifier: Apache-2.0 */
/* Call trees from text and to text. */
#ifndef XAGENT_TESTS_UNIT_AGENT_STORE_TREE_TREE_TEXT_H
#define XAGENT_TESTS_UNIT_AGENT_STORE_TREE_TREE_TEXT_H

#include <inttypes.h>
#include <string.h>

#include "agent/store/tree/call_tree.h"
#include "agent/util/buf.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"
#include "tests/support/unit.h"

/* Lines "root;…;leaf value". */
static inline void tree_put(struct call_tree *t, enum call_side side, const char *folded)
{
	struct str rest = str_from(folded), line, frame;

	while (str_split(&rest, '\n', &line)) {
		const char *blank = line.n ? memrchr(line.p, ' ', line.n) : NULL;
		uint32_t node = CALL_ROOT, name;
		struct str value;
		uint64_t self;

		if (!blank)
			continue;
		value = (struct str){ blank + 1, (size_t)(line.p + line.n - blank - 1) };
		assert_int_equal(str_parse_u64(value, 10, INT64_MAX, &self), 0);
		line.n = (size_t)(blank - line.p);
		while (str_split(&line, ';', &frame)) {
			assert_int_equal(call_tree_name(t, frame.p, frame.n, &name), 0);
			assert_int_equal(call_tree_child(t, node, name, &node), 0);
		}
		call_tree_add(t, node, side, (int64_t)self);
	}
}

static inline void tree_text_numbers(const int64_t *sides, bool both, struct buf *out)
{
	(void)buf_printf(out, " %" PRId64, sides[CALL_LEFT]);
	if (both)
		(void)buf_printf(out, "/%" PRId64, sides[CALL_RIGHT]);
}

/* A line a node, before its children: a dot for each node above it, name, self, total. */
static inline void tree_text(const struct call_tree *t, bool both, struct buf *out)
{
	uint32_t at = CALL_ROOT;
	int depth = 0;

	while (at != CALL_NONE) {
		const struct call_node *node = call_tree_node(t, at);

		for (int i = 0; i < depth; i++)
			(void)buf_append_char(out, '.');
		(void)buf_append_str(out, call_tree_text(t, node->name));
		tree_text_numbers(node->self, both, out);
		tree_text_numbers(node->total, both, out);
		(void)buf_append_char(out, '\n');
		if (node->first_child != CALL_NONE) {
			at = node->first_child;
			depth++;
			continue;
		}
		while (at != CALL_ROOT && call_tree_node(t, at)->next == CALL_NONE) {
			at = call_tree_node(t, at)->parent;
			depth--;
		}
		at = call_tree_node(t, at)->next;
	}
}

#endif
