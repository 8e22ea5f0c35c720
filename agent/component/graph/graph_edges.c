/* SPDX-License-Identifier: Apache-2.0 */
/* Which block refers to which. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/component/graph/foreach.h"
#include "agent/component/graph/graph_private.h"
#include "agent/util/log.h"

/* Up to the start of the last name. */
static struct river_range reference_range(const struct river_reference *ref)
{
	struct river_range range = ref->parts[0].range;

	range.end = ref->parts[ref->n_parts - 1].range.start;
	return range;
}

/* As far as the reader of the message needs it: chains are as long as the parser's depth. */
static void put_chain(struct buf *b, const struct river_reference *ref)
{
	for (size_t i = 0; i < ref->n_parts; i++)
		(void)buf_printf(b, "%s%s", i ? "." : "", ref->parts[i].text);
}

static int report_missing(struct building *b, const struct river_reference *ref)
{
	_cleanup_buf_ struct buf chain = BUF_INIT((size_t)64 * 1024);
	struct river_range range = reference_range(ref);

	b->node->failed = true;
	put_chain(&chain, ref);
	return river_diag_add(b->diags, RIVER_SEVERITY_ERROR, &range,
			      "component \"%s\" does not exist or is out of scope",
			      buf_str(&chain));
}

/* Its first name alone: what is not in a namespace is found out when it is evaluated. */
static enum river_stdlib_status stdlib_status(const struct river_reference *ref)
{
	return river_stdlib_find(&(struct river_reference){ ref->parts, 1 });
}

static int add_dep(struct building *b, struct node *dep, const struct river_reference *ref)
{
	if (dep == b->node) {
		b->node->refers_to_self = true;
		return 0;
	}
	if (!b->quiet && stdlib_status(ref) != RIVER_STDLIB_NONE)
		log_warn("a component is shadowing an existing stdlib name",
			 LOG_STR("component_id", b->node->id), LOG_STR("component", dep->name),
			 LOG_STR("stdlib_name", ref->parts[0].text));
	return node_source_add(&b->node->next_source, dep);
}

static int on_reference(void *ctx, const struct river_reference *ref)
{
	struct building *b = ctx;
	const struct module *m = b->node->next_source.module;
	struct node *dep = module_find_reference(b->load, m, ref);

	if (dep)
		return add_dep(b, dep, ref);
	if (b->quiet || module_has_variable(m, ref->parts[0].text))
		return 0;
	switch (stdlib_status(ref)) {
	case RIVER_STDLIB_CURRENT:
		return 0;
	case RIVER_STDLIB_DEPRECATED:
		log_warn("this stdlib function is deprecated; please refer to the documentation "
			 "for updated usage and alternatives",
			 LOG_STR("component_id", b->node->id),
			 LOG_STR("function", ref->parts[0].text));
		return 0;
	case RIVER_STDLIB_NONE:
		break;
	}
	return report_missing(b, ref);
}

/* Declares that the blocks of a body are called after: by these, declares that use each other are a cycle. */
static int find_uses(struct building *b, const struct river_body *body)
{
	const struct module *m = b->node->next_source.module;
	int r = 0;

	for (size_t i = 0; r == 0 && b->has_declared && i < body->n_stmts; i++) {
		const struct river_stmt *stmt = body->stmts[i];
		struct node *dep;

		if (stmt->kind != RIVER_STMT_BLOCK)
			continue;
		dep = module_find_declared(b->load, m, stmt->parts[0].text);
		if (strcmp(stmt->name, "declare") == 0 || strcmp(stmt->name, "foreach") == 0 ||
		    strcmp(stmt->name, "template") == 0)
			r = find_uses(b, &stmt->body);
		else if (dep == b->node)
			b->node->refers_to_self = true;
		else if (dep)
			r = node_source_add(&b->node->next_source, dep);
	}
	return r;
}

/* Outside of it everything that its template refers to; what is inside is looked at when there is an inside. */
static int find_foreach(struct building *b)
{
	const struct river_stmt *block = b->node->next_source.block;
	int r = 0;

	for (size_t i = 0; r == 0 && i < block->body.n_stmts; i++) {
		const struct river_stmt *stmt = block->body.stmts[i];

		b->quiet = stmt->kind == RIVER_STMT_BLOCK;
		r = b->quiet ? river_body_references(&stmt->body, on_reference, b)
			     : river_expr_references(stmt->value, on_reference, b);
	}
	b->quiet = false;
	return r < 0 ? r : find_uses(b, &block->body);
}

/* A block of a module waits for what the owner got; a use of a declare for the declare. */
static int find_owner(struct building *b)
{
	struct node_source *source = &b->node->next_source;
	struct node *declared;

	if (b->node->role == NODE_ARGUMENT && source->module->owner)
		return node_source_add(source, source->module->owner);
	if (b->node->role != NODE_DECLARED)
		return 0;
	declared = module_find_declared(b->load, source->module, source->block->parts[0].text);
	return declared ? node_source_add(source, declared) : 0;
}

static int find_edges(struct building *b)
{
	const struct river_body *body = &b->node->next_source.block->body;
	int r = find_owner(b);

	if (r < 0)
		return r;
	if (b->node->role == NODE_DECLARE)
		return find_uses(b, body);
	if (b->node->role == NODE_FOREACH)
		return find_foreach(b);
	return river_body_references(body, on_reference, b);
}

int building_find_edges(struct building *b, struct module *m)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < m->nodes.n; i++) {
		b->node = m->nodes.items[i];
		r = find_edges(b);
	}
	return r;
}
