/* SPDX-License-Identifier: Apache-2.0 */
/* What evaluated blocks make: modules of a declare, of the items of a foreach, of an import. */
#include <errno.h>
#include <string.h>

#include "agent/component/graph/foreach.h"
#include "agent/component/graph/graph_private.h"
#include "agent/component/graph/import.h"
#include "agent/component/graph/module_kinds.h"

static bool has_failed(const struct module *m)
{
	for (size_t i = 0; i < m->nodes.n; i++)
		if (m->nodes.items[i]->failed)
			return true;
	return false;
}

/* What a module's own blocks got wrong, or cannot know yet, makes its owner wrong. */
static int add_module(struct building *b, struct node *owner, struct module *m,
		      const struct river_body *const *bodies, size_t n_bodies)
{
	struct module **at = &owner->next_source.modules;
	size_t n_errors = b->diags->n_errors;
	int r;

	while (*at)
		at = &(*at)->next;
	*at = m;
	r = building_add_module(b, m, bodies, n_bodies);
	if (r < 0)
		return r;
	return b->diags->n_errors > n_errors || has_failed(m) ? RIVER_INVALID : RIVER_OK;
}

/* The new module stands in that of its owner, whatever text it comes from. */
static struct module *new_module(struct building *b, struct node *owner, enum module_kind kind,
				 const char *id, const struct module *like)
{
	struct module *m = module_new(b->load, kind, id, owner, like);

	if (m)
		m->depth = owner->next_source.module->depth + 1;
	return m;
}

static const struct river_range *attribute_range(const struct river_stmt *block, const char *name)
{
	for (size_t i = 0; i < block->body.n_stmts; i++)
		if (strcmp(block->body.stmts[i]->name, name) == 0)
			return &block->body.stmts[i]->range;
	return &block->range;
}

static int check_given(struct building *b, const struct node *node, const struct module *m)
{
	const struct declared_args *args = node->next_args ? node->next_args : node->args;
	int outcome = RIVER_OK;

	for (size_t i = 0; i < river_value_len(args->values); i++) {
		const char *name = river_value_key(args->values, i);

		if (module_find(b->load, m, "argument", name))
			continue;
		int r = river_diag_add(b->diags, RIVER_SEVERITY_ERROR,
				       attribute_range(node->next_source.block, name),
				       "Provided argument \"%s\" is not defined in the module",
				       name);
		if (r < 0)
			return r;
		outcome = RIVER_INVALID;
	}
	return outcome;
}

static int report_no_declare(struct building *b, struct node *node)
{
	const char *dot = strchr(node->name, '.');
	int n = dot ? (int)(dot - node->name) : 0;
	_cleanup_buf_ struct buf what = BUF_INIT((size_t)1 << 20);

	(void)buf_printf(&what,
			 "loading custom component config: custom component config not found in "
			 "the registry, namespace: \"%.*s\", componentName: \"%s\"",
			 n, node->name, dot ? dot + 1 : node->name);
	int r = building_wrap(b, node, buf_str(&what));
	return r < 0 ? r : RIVER_INVALID;
}

static int expand_declared(struct building *b, struct node *node)
{
	struct module *here = node->next_source.module;
	const struct node *declare = module_find_declare(b->load, here, node->next_source.block);
	struct module *m;
	int r;

	if (!declare)
		return report_no_declare(b, node);
	m = new_module(b, node, MODULE_DECLARED, node->id, declare->next_source.module);
	if (!m)
		return -ENOMEM;
	m->lexical = declare->next_source.module;
	r = add_module(b, node, m,
		       &(const struct river_body *){ &declare->next_source.block->body }, 1);
	if (r < 0)
		return r;
	int given = check_given(b, node, m);
	return given == RIVER_OK ? r : given;
}

/* How many of the items before it have the same name, and itself. */
static size_t count_like(const struct module *modules, const char *prefix)
{
	size_t n_prefix = strlen(prefix), n = 1;

	for (; modules; modules = modules->next)
		n += strncmp(modules->id, prefix, n_prefix) == 0 &&
		     strchr(modules->id + n_prefix, '_') == NULL;
	return n;
}

static int expand_item(struct building *b, struct node *node, const struct foreach_args *args,
		       const struct river_value *item)
{
	const struct river_stmt *template = foreach_template(node->next_source.block);
	struct module *here = node->next_source.module, *m;
	_cleanup_buf_ struct buf id = BUF_INIT((size_t)4 << 20);

	if (buf_printf(&id, "%s/", node->id) < 0 || foreach_child_id(args, item, &id) < 0 ||
	    buf_printf(&id, "%zu", count_like(node->next_source.modules, buf_str(&id))) < 0)
		return -ENOMEM;
	m = new_module(b, node, MODULE_FOREACH, buf_str(&id), here);
	if (!m)
		return -ENOMEM;
	m->lexical = m->outer = here;
	m->var = river_arena_strndup(&b->load->arena, args->var, strlen(args->var));
	m->var_value = river_value_copy(&b->load->arena, item);
	if (!m->var || !m->var_value)
		return -ENOMEM;
	return add_module(b, node, m, &(const struct river_body *){ &template->body }, 1);
}

static int expand_foreach(struct building *b, struct node *node)
{
	const struct foreach_args *args = node->next_args ? node->next_args : node->args;
	size_t n = river_value_len(args->collection);
	int outcome = RIVER_OK;

	/* An item counts like a block, also without one: ids of items are compared with each other. */
	b->load->n_added += n;
	if (b->load->n_added > GRAPH_MAX_COMPONENTS) {
		int r = building_wrap(b, node, "the collections have too many items");

		return r < 0 ? r : RIVER_INVALID;
	}
	for (size_t i = 0; i < n; i++) {
		int r = expand_item(b, node, args, river_value_item(args->collection, i));

		if (r < 0)
			return r;
		if (r != RIVER_OK)
			outcome = r;
	}
	return outcome;
}

static int parse_text(struct building *b, const struct river_source *source,
		      const struct river_body **ret_body)
{
	const struct river_file *file;
	int r = river_parse(source->file, source->text, source->len, &b->load->arena, b->diags,
			    &file);

	if (r == RIVER_OK)
		r = river_file_require_blocks(file, b->diags);
	if (r >= 0)
		*ret_body = &file->body;
	return r;
}

static int parse_texts(struct building *b, const struct import_texts *texts,
		       const struct river_body **bodies)
{
	int outcome = RIVER_OK;

	for (size_t i = 0; i < texts->n; i++) {
		int r = parse_text(b, &texts->sources[i], &bodies[i]);

		if (r < 0)
			return r;
		if (r != RIVER_OK)
			outcome = r;
	}
	return outcome;
}

static int expand_texts(struct building *b, struct node *node, const struct import_texts *texts)
{
	const struct river_body **bodies = river_arena_alloc(
		&b->load->arena, (texts->n + 1) * sizeof(const struct river_body *));
	struct module *m = new_module(b, node, MODULE_IMPORT, node->id, node->next_source.module);
	int r = m && bodies ? parse_texts(b, texts, bodies) : -ENOMEM;

	if (r != RIVER_OK)
		return r;
	m->content_hash = texts->hash;
	if (texts->path)
		m->path = texts->path;
	return add_module(b, node, m, bodies, texts->n);
}

static int expand_import(struct building *b, struct node *node)
{
	const void *args = node->next_args ? node->next_args : node->args;
	_cleanup_buf_ struct buf why = BUF_INIT((size_t)64 * 1024);
	struct import_texts texts;
	int r = import_read(node->c.kind, args, &b->load->arena, &why, &texts);

	if (r == 0)
		return expand_texts(b, node, &texts);
	r = building_wrap(b, node, why.len ? buf_str(&why) : strerror(-r));
	return r < 0 ? r : RIVER_INVALID;
}

static int report_depth(struct building *b, struct node *node)
{
	int r = building_wrap(b, node, "modules are nested too deeply");

	return r < 0 ? r : RIVER_INVALID;
}

int building_expand(struct building *b, struct node *node)
{
	bool expands = node->role == NODE_DECLARED || node->role == NODE_FOREACH ||
		       node->role == NODE_IMPORT;

	if (!expands)
		return RIVER_OK;
	if (node->next_source.module->depth >= GRAPH_MAX_MODULE_DEPTH)
		return report_depth(b, node);
	if (node->role == NODE_DECLARED)
		return expand_declared(b, node);
	return node->role == NODE_FOREACH ? expand_foreach(b, node) : expand_import(b, node);
}
