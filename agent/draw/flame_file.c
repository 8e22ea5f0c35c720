/* SPDX-License-Identifier: Apache-2.0 */
/* A tree as the one file that a person asked for. */
#include "agent/draw/flame_file.h"

#include <assert.h>

#include "agent/draw/flame_svg.h"
#include "agent/draw/speedscope.h"
#include "agent/page/page.h"
#include "agent/store/tree/flamebearer.h"

/* What the page moves through without delay; what is rarer becomes `other`. */
#define PAGE_MAX_NODES 100000
#define TEXT_MAX_BYTES 16384

static int put_page(const char *json, const struct flame_facts *facts, struct buf *out)
{
	_cleanup_buf_ struct buf title = BUF_INIT(TEXT_MAX_BYTES);

	flame_facts_line(facts, &title);
	return page_standalone(&(struct page_profile){ .title = buf_str(&title),
						       .unit = event_text_unit(&facts->event, 0),
						       .flamebearer_json = json },
			       out);
}

/* Where most nodes have one sample each, none of them is rarer than the others: fewer are asked for until that helps. */
static int prune(struct call_tree *tree)
{
	int r = 0;

	for (size_t n = PAGE_MAX_NODES; r == 0 && n > 0 && call_tree_n_nodes(tree) > PAGE_MAX_NODES;
	     n /= 2)
		r = call_tree_prune(tree, n);
	return r;
}

static int put_html(struct call_tree *tree, const struct flame_facts *facts, struct buf *out)
{
	_cleanup_buf_ struct buf json = BUF_INIT(out->max_bytes);
	struct flamebearer f = { 0 };
	int r = prune(tree);

	if (r == 0)
		r = flamebearer_new(tree, &f);
	if (r < 0)
		return r;
	r = flamebearer_json(&f, &json);
	flamebearer_fini(&f);
	return r < 0 ? r : put_page(buf_str(&json), facts, out);
}

static int finish(struct flame_tree *tree, const struct flame_facts *facts,
		  struct flame_facts *ret_counted)
{
	int r = call_tree_finish(tree->calls);

	if (r < 0)
		return r;
	*ret_counted = *facts;
	ret_counted->n_samples = (uint64_t)call_tree_node(tree->calls, CALL_ROOT)->total[CALL_LEFT];
	return 0;
}

int flame_file_html(struct flame_tree *tree, const struct flame_facts *facts, struct buf *out)
{
	struct flame_facts counted;
	int r = finish(tree, facts, &counted);

	return r < 0 ? r : put_html(tree->calls, &counted, out);
}

int flame_file_svg(struct flame_tree *tree, const struct flame_facts *facts, struct buf *out)
{
	struct flame_facts counted;
	int r = finish(tree, facts, &counted);

	return r < 0 ? r : flame_svg(tree, &counted, out);
}

int flame_file_speedscope(struct flame_tree *const *trees, const struct flame_facts *facts,
			  size_t n, struct buf *out)
{
	struct flame_facts counted[FLAME_FILE_MAX];
	struct speedscope_part parts[FLAME_FILE_MAX];
	int r = 0;

	assert(n > 0 && n <= FLAME_FILE_MAX);
	for (size_t i = 0; r == 0 && i < n; i++) {
		r = finish(trees[i], &facts[i], &counted[i]);
		parts[i] = (struct speedscope_part){ trees[i]->calls, &counted[i] };
	}
	return r < 0 ? r : speedscope_json(parts, n, out);
}
