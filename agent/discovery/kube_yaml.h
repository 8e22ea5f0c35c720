/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a kubeconfig says, asked for by keys, with the line of what is wrong.
 *
 * The first mistake is kept, as one line "file:line: text"; what is asked for after it is not there. So a reader may ask for all it
 * wants and look once. Aliases are followed. Pure.
 */
#ifndef XAGENT_AGENT_DISCOVERY_KUBE_YAML_H
#define XAGENT_AGENT_DISCOVERY_KUBE_YAML_H

#include <stdbool.h>

#include "agent/util/buf.h"
#include "river-config/yaml_node.h"

struct kube_yaml {
	struct river_arena arena;
	struct river_yaml_node *root; /* NULL: there is none */
	const char *path;	      /* borrowed: how messages call it */
	struct buf *why;	      /* borrowed */
	int error;		      /* of the first mistake; 0: none yet */
};

/* The first document of the text. What is wrong with it is in y->error; y is to be closed in any case. */
void kube_yaml_open(struct kube_yaml *y, const char *text, size_t n, const char *path,
		    struct buf *why);
void kube_yaml_close(struct kube_yaml *y);

/* NULL where there is none, and after a mistake. All below take NULL for a node that is not there. */
const struct river_yaml_node *kube_yaml_root(struct kube_yaml *y);
/* The value of a key; NULL: none, or YAML's null. */
const struct river_yaml_node *kube_yaml_get(struct kube_yaml *y, const struct river_yaml_node *map,
					    const char *key);
/* Borrowed of the tree; NULL: none, or an empty text. */
const char *kube_yaml_text(struct kube_yaml *y, const struct river_yaml_node *map, const char *key);
bool kube_yaml_bool(struct kube_yaml *y, const struct river_yaml_node *map, const char *key);
/* `what` of the entry of the list `key` whose `name` is that: clusters, users and contexts are such lists. A mistake if there is none. */
const struct river_yaml_node *kube_yaml_named(struct kube_yaml *y, const char *key,
					      const char *name, const char *what);

/* A mistake at a node; NULL: of the whole file. */
void kube_yaml_fail(struct kube_yaml *y, int error, const struct river_yaml_node *at,
		    const char *fmt, ...) __attribute__((format(printf, 4, 5)));

#endif
