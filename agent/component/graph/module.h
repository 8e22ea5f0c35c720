/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bodies with blocks of their own: the root, what a declare makes of each use, what foreach makes of each item, what an import brings.
 *
 *	root ─owner─► x "a" ─module "x.a"─► argument.p, inner components, export.e
 *	     ─owner─► foreach "f" ─module "foreach.f/foreach_1_1"─► components of the template
 *	     ─owner─► import.file "n" ─module "import.file.n"─► declares
 *
 * A module is of one load, nodes outlive loads: who is called as before in the module of the same id is kept. Private to the graph's files.
 */
#ifndef XAGENT_AGENT_COMPONENT_GRAPH_MODULE_H
#define XAGENT_AGENT_COMPONENT_GRAPH_MODULE_H

#include "agent/component/graph/node.h"
#include "agent/util/hash.h"

enum module_kind { MODULE_ROOT, MODULE_DECLARED, MODULE_FOREACH, MODULE_IMPORT };

struct module {
	enum module_kind kind;
	const char *id;	      /* "" at the root */
	struct node *owner;   /* NULL at the root */
	struct module *next;  /* of the same owner */
	struct module *every; /* of the same load */
	/* Where a declared name is looked up next: for a module of a declare where that stands; NULL: nowhere. */
	struct module *lexical;
	struct module *outer;		     /* foreach: what its components may refer to besides */
	const char *path;		     /* module_path */
	const char *var;		     /* foreach; else NULL */
	const struct river_value *var_value; /* in the load's arena */
	uint64_t content_hash;		     /* import: of what was read */
	unsigned int depth;
	struct nodes nodes; /* in order of evaluation, once sorted */
};

/* The parsed texts that blocks point into, and what is made of them. */
struct load {
	struct river_arena arena;
	struct module *root;
	struct module *modules; /* all of them */
	struct nodes
		nodes;	/* all of them, owners before what is in their modules; then the graph's */
	size_t n_added; /* nodes, also those that are not in the order yet */
	struct hash_table ids;
	struct river_source *sources; /* kept when what is made of them may change: in the arena */
	size_t n_sources;
};

int load_new(struct load **ret_load);
/* Not the nodes. NULL-safe. */
void load_free(struct load *load);

/* In the load's arena; depth and path follow from `like`, NULL for the root. NULL: memory. */
struct module *module_new(struct load *load, enum module_kind kind, const char *id,
			  struct node *owner, const struct module *like);

/* Makes a node known under its id. 0 or -ENOMEM. */
int load_add_id(struct load *load, struct node *node);
/* By whole id. NULL-safe, NULL: none. */
struct node *load_find(const struct load *load, const char *id);
/* By a block's name and label in its module. */
struct node *module_find(const struct load *load, const struct module *m, const char *kind,
			 const char *label);

/* What a chain of names means: the node whose id is its first parts, here or, for foreach, outside. */
struct node *module_find_reference(const struct load *load, const struct module *m,
				   const struct river_reference *ref);

/* The `declare` or import that the first part of a block's name means, or NULL: then it is of a kind. */
struct node *module_find_declared(const struct load *load, const struct module *m,
				  const char *name);

/* The declare that the name of a block means, its import already read; NULL: there is none. */
const struct node *module_find_declare(const struct load *load, const struct module *m,
				       const struct river_stmt *use);

/* A name that stands for a value without being a component's. */
const struct river_value *module_variable(const struct module *m, struct river_arena *arena,
					  const char *name);
bool module_has_variable(const struct module *m, const char *name);

#endif
