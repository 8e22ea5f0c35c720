/* SPDX-License-Identifier: Apache-2.0 */
/* Trees for the tests of flame graphs. */
#ifndef XAGENT_TESTS_UNIT_AGENT_DRAW_GRAPH_H
#define XAGENT_TESTS_UNIT_AGENT_DRAW_GRAPH_H

#include <string.h>

#include "agent/draw/flame_facts.h"
#include "agent/store/tree/call_tree.h"
#include "tests/support/unit.h"

static const struct flame_facts graph_facts = { .subject = "make",
						.host = "web-1",
						.end_real_ns = 1700000000000000000ULL,
						.elapsed_ns = 6300000000ULL,
						.n_samples = 612,
						.hz = 100,
						.exporter = "xagent 1.2.3" };

static inline struct call_tree *graph_new(void)
{
	struct call_tree *tree = NULL;

	assert_int_equal(call_tree_new(NULL, (size_t)64 << 20, &tree), 0);
	return tree;
}

/* A stack, outermost first, ended by NULL. */
static inline void graph_add(struct call_tree *tree, int64_t n, const char *const *names)
{
	uint32_t name, node = CALL_ROOT;

	for (; *names; names++) {
		assert_int_equal(call_tree_name(tree, *names, strlen(*names), &name), 0);
		assert_int_equal(call_tree_child(tree, node, name, &node), 0);
	}
	call_tree_add(tree, node, CALL_LEFT, n);
}

#define STACK(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* What a name may be made of by whoever is profiled. */
struct hostile {
	const char *name; /* of the test */
	const char *text;
};

static const struct hostile hostiles[] = {
	{ "end of a script", "</script><b>\"&" },
	{ "what folded stacks are parted by", "a;b 7" },
	{ "end of a string", "'); alert(1); ('" },
	{ "end of CDATA", "]]>" },
	{ "comment", "<!--" },
	{ "end of a comment", "--><svg onload=\"x\">" },
	{ "backslashes", "\\\"\\u0000" },
	{ "placeholders", "${x}{{y}}" },
	{ "line separators", "\xe2\x80\xa8\xe2\x80\xa9" },
	{ "above 16 bits", "\xf0\x9f\x94\xa5" },
	{ "no character", "\xef\xbf\xbf" },
	{ "no UTF-8", "\xff\xfe" },
	{ "control characters", "a\nb\tc\x01" },
	{ "format", "%s%n" },
	{ "template", "operator<< <char, std::char_traits<char> >" },
};

#endif
