/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON objects one after the other, as they arrive: a Kubernetes watch, Docker's events. Each ends with its line; blank lines between them mean
 * nothing. Loop thread only.
 */
#ifndef XAGENT_AGENT_DISCOVERY_JSON_STREAM_H
#define XAGENT_AGENT_DISCOVERY_JSON_STREAM_H

#include <jansson.h>

#include "agent/util/buf.h"

struct json_stream {
	struct buf line; /* the object that is not whole yet */
};

/* No object is larger than max_bytes. */
void json_stream_init(struct json_stream *s, size_t max_bytes);
void json_stream_fini(struct json_stream *s);
/* A new connection begins: what is left of the old one is forgotten. */
void json_stream_reset(struct json_stream *s);

/* Calls fn for each object that is whole now; borrowed for the call, in which the stream may not be touched. 0; -EMSGSIZE: an object is
 * too large; -EBADMSG: that is no JSON object; -ENOMEM; what fn returned, if negative, at once. After a failure: reset. */
typedef int (*json_stream_fn)(json_t *object, void *data);
int json_stream_feed(struct json_stream *s, const char *bytes, size_t n, json_stream_fn fn,
		     void *data);

#endif
