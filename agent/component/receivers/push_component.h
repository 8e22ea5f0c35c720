/* SPDX-License-Identifier: Apache-2.0 */
/* What is the same in all components that send profiles to servers: a pusher with the arguments of its time, and old ones that send what they have. */
#ifndef XAGENT_AGENT_COMPONENT_RECEIVERS_PUSH_COMPONENT_H
#define XAGENT_AGENT_COMPONENT_RECEIVERS_PUSH_COMPONENT_H

#include "agent/component/component.h"
#include "agent/component/http/http_client_args.h"
#include "agent/encode/profile.h"
#include "agent/push/push.h"

/* What arguments come to. */
struct push_plan {
	struct pusher_options options; /* but for what the component itself is called */
	enum profile_form form;	       /* that is sent */
	bool changes_labels;	       /* so that two series may become one */
	size_t n_without_url;	       /* endpoints that nothing can be sent to */
	uint64_t
		max_age_ns; /* from the moment a profile comes; 0: no other than that of all receivers */
};

struct push_component {
	/* In `arena`; what is not set is as PUSHER_OPTIONS_INIT has it. 0 or -ENOMEM. */
	int (*plan)(struct component *c, const void *args, struct river_arena *arena,
		    struct push_plan *plan);
	const char *also_exports; /* the receiver, under another name; NULL: none */
};

/* What every HTTP client has, as an endpoint has it. `client` is of the same arguments (http_client_args_options()); borrowed. */
void push_component_take_client(const struct http_client_args *args,
				const struct http_client_options *client,
				struct push_endpoint_options *o);

/* Of these those that say who the client is; borrowed. */
void push_component_take_credentials(const struct http_credentials *credentials,
				     struct push_endpoint_options *o);

/* For component_kind: all but the first as they are. */
int push_component_build(struct component *c, const struct push_component *kind, const void *args);
int push_component_run(struct component *c, struct buf *why);
int push_component_update(struct component *c, const void *args, struct buf *why);
void push_component_stop(struct component *c);
int push_component_exports(struct component *c, struct river_arena *arena,
			   const struct river_value **ret_exports);
void push_component_check(struct component *c);

#endif
