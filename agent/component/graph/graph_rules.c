/* SPDX-License-Identifier: Apache-2.0 */
/* What a block is, whether it may stand where it does, and what its label may be. */
#include "agent/component/graph/graph_rules.h"

#include <string.h>

#include "agent/component/graph/foreach.h"
#include "agent/component/graph/import.h"
#include "agent/component/graph/module_kinds.h"
#include "agent/component/unsupported.h"
#include "agent/util/log.h"

#define ERROR(b, at, ...) river_diag_add((b)->diags, RIVER_SEVERITY_ERROR, (at), __VA_ARGS__)

static const struct special {
	const struct component_kind *kind;
	enum node_role role;
} specials[] = {
	{ &declare_kind, NODE_DECLARE },    { &argument_kind, NODE_ARGUMENT },
	{ &export_kind, NODE_EXPORT },	    { &foreach_kind, NODE_FOREACH },
	{ &import_file_kind, NODE_IMPORT }, { &import_string_kind, NODE_IMPORT },
	{ &import_http_kind, NODE_IMPORT }, { &import_git_kind, NODE_IMPORT },
};

static const struct special *find_special(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(specials); i++)
		if (strcmp(specials[i].kind->name, name) == 0)
			return &specials[i];
	return NULL;
}

static bool is_one_of(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static enum graph_class class_of(const char *name)
{
	static const char *const config[] = { "logging", "tracing" };
	static const char *const services[] = { "http", "livedebugging", "remotecfg" };

	if (is_one_of(name, config, ARRAY_SIZE(config)))
		return GRAPH_CONFIG;
	return is_one_of(name, services, ARRAY_SIZE(services)) ? GRAPH_SERVICE : GRAPH_COMPONENT;
}

struct river_range range_first_bytes(const struct river_range *of, size_t n)
{
	struct river_range range = { .file = of->file, .start = of->start, .end = of->start };

	range.end.offset += (uint32_t)n - 1;
	range.end.column += (uint32_t)n - 1;
	return range;
}

struct river_range block_name_range(const struct river_stmt *block)
{
	return range_first_bytes(&block->name_range, strlen(block->name));
}

static int report_unknown(struct building *b, const struct river_stmt *block)
{
	const char *nearest = component_kind_suggest(block->name);
	struct river_range range = block_name_range(block);

	if (component_is_known_elsewhere(block->name))
		return ERROR(b, &range, "component \"%s\" is not supported by xagent", block->name);
	if (nearest)
		log_debug("a component has a name alike", LOG_STR("component", block->name),
			  LOG_STR("known", nearest));
	return ERROR(b, &range, "cannot find the definition of component name \"%s\"", block->name);
}

static int report_unstable(struct building *b, const struct river_stmt *block,
			   const struct found *found)
{
	const char *level = stability_text(found->kind->stability);
	const char *quote = found->role == NODE_COMPONENT ? "\"" : "";
	struct river_range range = block_name_range(block);

	return ERROR(b, &range,
		     "%s%s%s%s is at stability level \"%s\", which is below the minimum allowed "
		     "stability level \"%s\". Use --stability.level command-line flag to enable "
		     "\"%s\" features",
		     *quote ? "component " : "", quote, block->name, quote, level,
		     stability_text(b->g->env->stability), level);
}

/* A use of a declare may do without; all others have one or must not. */
static int check_label(struct building *b, const struct river_stmt *block, struct found *found)
{
	bool labelled = block->label && *block->label;
	bool component = found->role == NODE_COMPONENT && found->class == GRAPH_COMPONENT;
	struct river_range range = block_name_range(block);
	int r;

	if (found->role == NODE_DECLARED || labelled == found->kind->wants_label)
		return 0;
	if (component && !labelled)
		r = ERROR(b, &range, "component \"%s\" must have a label", block->name);
	else if (!labelled)
		r = ERROR(b, &block->head_range, "block \"%s\" requires non-empty label",
			  block->name);
	else
		r = ERROR(b, &block->head_range, "block \"%s\" requires empty label", block->name);
	found->kind = NULL;
	return r;
}

/* What may stand where. */
static int check_place(struct building *b, const struct module *m, const struct river_stmt *block,
		       struct found *found)
{
	bool in_module = m->kind == MODULE_DECLARED || m->kind == MODULE_FOREACH;
	int r;

	if (m->kind == MODULE_IMPORT && found->role != NODE_DECLARE && found->role != NODE_IMPORT)
		r = ERROR(b, &block->head_range,
			  "only declare and import blocks are allowed in a module");
	else if (m->kind == MODULE_ROOT &&
		 (found->role == NODE_ARGUMENT || found->role == NODE_EXPORT))
		r = ERROR(b, &block->range, "%s blocks only allowed inside a module", block->name);
	else if (in_module && found->role == NODE_COMPONENT && found->class == GRAPH_SERVICE)
		r = ERROR(b, &block->range, "service blocks not allowed inside a module: \"%s\"",
			  block->name);
	else if (in_module && found->role == NODE_COMPONENT && found->class == GRAPH_CONFIG)
		r = ERROR(b, &block->range, "%s block not allowed inside a module", block->name);
	else
		return 0;
	found->kind = NULL;
	return r;
}

static int check_declare(struct building *b, const struct river_stmt *block, struct found *found)
{
	struct river_range range = block_name_range(block);

	if (found->role != NODE_DECLARE || strcmp(block->label, "declare") != 0)
		return 0;
	found->kind = NULL;
	return ERROR(b, &range, "'declare' is not a valid label for a declare block");
}

static bool is_declared(struct building *b, const struct module *m, const struct river_stmt *block)
{
	return b->has_declared && module_find_declared(b->load, m, block->parts[0].text);
}

static struct found find_kind(struct building *b, const struct module *m,
			      const struct river_stmt *block)
{
	const struct special *special = find_special(block->name);
	enum graph_class class = class_of(block->name);

	if (special)
		return (struct found){ special->kind, special->role, GRAPH_CONFIG };
	/* Names of configuration blocks and services are nobody else's. */
	if (class == GRAPH_COMPONENT && is_declared(b, m, block))
		return (struct found){ &declared_kind, NODE_DECLARED, GRAPH_COMPONENT };
	return (struct found){ component_kind_find(block->name), NODE_COMPONENT, class };
}

static int check_all(struct building *b, const struct module *m, const struct river_stmt *block,
		     struct found *found)
{
	int r = check_place(b, m, block, found);

	if (r < 0 || !found->kind)
		return r;
	if (found->kind->stability > b->g->env->stability) {
		r = report_unstable(b, block, found);
		found->kind = NULL;
		return r;
	}
	r = check_label(b, block, found);
	if (r < 0 || !found->kind)
		return r;
	return check_declare(b, block, found);
}

bool block_is_special(const struct river_stmt *block)
{
	return find_special(block->name) != NULL;
}

int building_identify(struct building *b, const struct module *m, const struct river_stmt *block,
		      struct found *ret_found)
{
	*ret_found = find_kind(b, m, block);
	return ret_found->kind ? check_all(b, m, block, ret_found) : report_unknown(b, block);
}
