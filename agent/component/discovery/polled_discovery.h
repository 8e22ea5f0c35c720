/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What discoveries have in common that ask one server for its list again and again: discovery.http, discovery.kubelet.
 *
 * Each brings an engine, by a table of functions; arguments, life, health and exports are these. The functions of a kind below are to be
 * put into its struct component_kind, its `build` calls polled_build().
 */
#ifndef XAGENT_AGENT_COMPONENT_DISCOVERY_POLLED_DISCOVERY_H
#define XAGENT_AGENT_COMPONENT_DISCOVERY_POLLED_DISCOVERY_H

#include "agent/component/component.h"
#include "agent/component/http/http_client_args.h"
#include "agent/target/target_list.h"

/* First in the arguments of each. */
struct polled_args {
	const char *url;
	int64_t refresh_interval_ns;
	struct http_client_args client;
};

/* For the schema of a struct that begins with it. A sentence for the user (static), or NULL. */
const char *polled_args_validate(const void *self, struct river_arena *arena);

/* As an engine wants them: pointers into arguments and arena. */
struct polled_request {
	struct http_request_options request;
	struct http_credentials credentials;
	const struct http_oauth2_options *oauth2; /* NULL: none */
};

/* After each answer, or what came instead: `problem` is a sentence, or NULL. `changed`: the targets are others now. */
typedef void (*polled_answer_fn)(bool changed, const char *problem, void *data);

struct polled_ops {
	const char *trouble; /* what is said in the log when there is no list */
	const char *over;    /* … and when there is one again */
	/* Nothing is asked yet. 0 or -errno. */
	int (*open)(const struct component_env *env, const void *args,
		    const struct polled_request *request, polled_answer_fn fn, void *data,
		    void **ret_engine);
	void (*free)(void *engine); /* NULL-safe */
	void (*start)(void *engine);
	void (*inherit)(void *engine, void *from); /* what that one has found */
	const struct target_list *(*targets)(const void *engine);
};

int polled_build(struct component *c, const void *args, const struct polled_ops *ops);
int polled_run(struct component *c, struct buf *why);
int polled_update(struct component *c, const void *args, struct buf *why);
void polled_stop(struct component *c);
int polled_exports(struct component *c, struct river_arena *arena,
		   const struct river_value **ret_exports);
/* { url, targets } */
int polled_debug_info(struct component *c, struct river_arena *arena,
		      const struct river_value **ret_info);

#endif
