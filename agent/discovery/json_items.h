/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list of the Kubernetes API as it arrives: the objects in the array `items` of the one object that an answer is, each as soon as it is
 * whole. So a list of ten thousand pods needs the memory of one of them. Loop thread only.
 *
 *	{"kind": "PodList", "metadata": {…}, "items": [ {…}, {…} ]}
 */
#ifndef XAGENT_AGENT_DISCOVERY_JSON_ITEMS_H
#define XAGENT_AGENT_DISCOVERY_JSON_ITEMS_H

#include <jansson.h>
#include <stdbool.h>

#include "agent/util/buf.h"

/* All but the items: kind, version, and what the list says about itself; some hundred bytes. */
#define JSON_ITEMS_MAX_REST_BYTES ((size_t)64 << 10)
#define JSON_ITEMS_MAX_KEY_BYTES 8

/* Whether an item is known by its text, which is then not parsed: 1, 0 or -errno. */
typedef int (*json_items_known_fn)(const char *text, size_t n, void *data);

struct json_items {
	json_items_known_fn known; /* NULL: none is; set after init, `data` is that of feed */
	struct buf item;	   /* the one that is not whole yet */
	struct buf rest;	   /* the answer without its items */
	unsigned int depth;
	bool in_string, escaped, in_items, in_item;
	bool skipping;			    /* the item is too large */
	char key[JSON_ITEMS_MAX_KEY_BYTES]; /* the last text at the top, as far as it fits */
	size_t n_key;
	size_t n_too_large; /* items that were left out; since init */
};

/* No item is larger than max_item_bytes; larger ones are left out and counted. */
void json_items_init(struct json_items *s, size_t max_item_bytes);
void json_items_fini(struct json_items *s);
/* Another answer begins. */
void json_items_reset(struct json_items *s);

/* Calls fn for each item that is whole now; borrowed for the call, in which the stream may not be touched. 0; -EBADMSG: that is no
 * such answer; -EMSGSIZE: there is too much beside the items; -ENOMEM; what fn returned, if negative, at once. After a failure: reset. */
typedef int (*json_items_fn)(json_t *item, void *data);
int json_items_feed(struct json_items *s, const char *bytes, size_t n, json_items_fn fn,
		    void *data);

/* The answer has ended: all but its items, to be released with json_decref. 0, -EBADMSG (it was not whole), -ENOMEM. */
int json_items_end(struct json_items *s, json_t **ret_rest);

#endif
