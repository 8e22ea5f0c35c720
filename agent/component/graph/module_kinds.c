/* SPDX-License-Identifier: Apache-2.0 */
/* declare, argument, export, and the use of a declare. */
#include "agent/component/graph/module_kinds.h"

#include <errno.h>
#include <string.h>

#include "agent/component/graph/module.h"

int idle_build(struct component *c, const void *args, struct buf *why)
{
	(void)c;
	(void)args;
	(void)why;
	return 0;
}

int idle_run(struct component *c, struct buf *why)
{
	(void)why;
	component_set_health(c, HEALTH_HEALTHY, "started component");
	return 0;
}

int idle_update(struct component *c, const void *args, struct buf *why)
{
	(void)c;
	(void)args;
	(void)why;
	return 0;
}

void idle_stop(struct component *c)
{
	(void)c;
}

/* What is being loaded is what others are to see. */
static const void *newest_args(const struct node *node)
{
	return node->next_args ? node->next_args : node->args;
}

struct declare_args {
	bool none;
};

static const struct river_schema declare_schema = { .name = "declare",
						    .size = sizeof(struct declare_args) };

const struct component_kind declare_kind = {
	.name = "declare",
	.schema = &declare_schema,
	.wants_label = true,
	.build = idle_build,
	.run = idle_run,
	.update = idle_update,
	.stop = idle_stop,
};

static const struct river_field argument_fields[] = {
	RIVER_FIELD_BOOL(struct argument_args, optional, "optional"),
	RIVER_FIELD_VALUE(struct argument_args, def, "default"),
	RIVER_FIELD_STRING(struct argument_args, comment, "comment"),
};

static const struct river_schema argument_schema =
	RIVER_SCHEMA(struct argument_args, "argument", argument_fields);

static const struct river_field argument_value_fields[] = {
	RIVER_FIELD_VALUE(struct argument_args, value, "value"),
};

const struct river_schema argument_whole_schema =
	RIVER_SCHEMA(struct argument_args, "argument", argument_value_fields);

static int argument_exports(struct component *c, struct river_arena *arena,
			    const struct river_value **ret_exports)
{
	const struct argument_args *args = newest_args(CONTAINER_OF(c, struct node, c));
	struct river_member member = { "value", args->value };

	*ret_exports = river_value_object(arena, &member, 1);
	return *ret_exports ? 0 : -ENOMEM;
}

const struct component_kind argument_kind = {
	.name = "argument",
	.schema = &argument_schema,
	.wants_label = true,
	.build = idle_build,
	.run = idle_run,
	.update = idle_update,
	.stop = idle_stop,
	.exports = argument_exports,
};

static const struct river_value *given_value(const struct node_source *source, const char *name)
{
	const struct node *owner = source->module->owner;
	const struct declared_args *args =
		owner && owner->role == NODE_DECLARED ? newest_args(owner) : NULL;

	return args && args->values ? river_value_find(args->values, name) : NULL;
}

static int take_value(struct node *node, const struct node_source *source,
		      struct river_diags *diags)
{
	struct argument_args *args = node->next_args;
	const struct river_value *given = given_value(source, node->c.label);

	args->value = args->def;
	if (given) {
		args->value = river_value_copy(&node->next_memory->arena, given);
		return args->value ? RIVER_OK : -ENOMEM;
	}
	if (args->optional)
		return RIVER_OK;
	int r = river_diag_add(diags, RIVER_SEVERITY_ERROR, node_range(source),
			       "missing required argument \"%s\" to module", node->c.label);
	return r < 0 ? r : RIVER_INVALID;
}

int argument_decode(struct node *node, const struct node_source *source,
		    const struct river_scope *scope, struct river_diags *diags)
{
	int r = river_decode_block(source->block, &argument_schema, scope, &node->next_memory->arena, diags,
				   node->next_args);

	return r == RIVER_OK ? take_value(node, source, diags) : r;
}

static const struct river_field export_fields[] = {
	RIVER_FIELD_VALUE(struct export_args, value, "value", .flags = RIVER_REQUIRED),
};

static const struct river_schema export_schema =
	RIVER_SCHEMA(struct export_args, "export", export_fields);

const struct component_kind export_kind = {
	.name = "export",
	.schema = &export_schema,
	.wants_label = true,
	.build = idle_build,
	.run = idle_run,
	.update = idle_update,
	.stop = idle_stop,
};

static const struct river_field declared_fields[] = {
	RIVER_FIELD_VALUE(struct declared_args, values, "values"),
};

static const struct river_schema declared_schema =
	RIVER_SCHEMA(struct declared_args, "declared", declared_fields);

static const struct nodes *module_nodes(const struct node *owner)
{
	static const struct nodes none;
	const struct module *next = owner->next_source.modules;
	const struct module *m = next ? next : owner->source.modules;

	return m ? &m->nodes : &none;
}

static int declared_exports(struct component *c, struct river_arena *arena,
			    const struct river_value **ret_exports)
{
	const struct nodes *nodes = module_nodes(CONTAINER_OF(c, struct node, c));
	struct river_member *members = river_arena_alloc(arena, (nodes->n + 1) * sizeof(*members));
	size_t n = 0;

	for (size_t i = 0; members && i < nodes->n; i++) {
		const struct node *node = nodes->items[i];
		const struct export_args *args =
			node->role == NODE_EXPORT ? newest_args(node) : NULL;

		if (args)
			members[n++] = (struct river_member){ node->c.label, args->value };
	}
	*ret_exports = members ? river_value_object(arena, members, n) : NULL;
	return *ret_exports ? 0 : -ENOMEM;
}

const struct component_kind declared_kind = {
	.name = "declared",
	.schema = &declared_schema,
	.build = idle_build,
	.run = idle_run,
	.update = idle_update,
	.stop = idle_stop,
	.exports = declared_exports,
};

/* A copy: exports that it is made of change. */
int declared_decode(const struct river_stmt *block, const struct river_scope *scope,
		    struct river_arena *arena, struct river_diags *diags, struct declared_args *ret)
{
	const struct river_value *values;
	int r = river_eval_attributes(&block->body, scope, arena, diags, &values);

	if (r != RIVER_OK)
		return r;
	ret->values = river_value_copy(arena, values);
	return ret->values ? RIVER_OK : -ENOMEM;
}
