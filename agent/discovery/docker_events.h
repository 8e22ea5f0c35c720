/* SPDX-License-Identifier: Apache-2.0 */
/* Docker's stream of events, as long as it goes on. For the watch. */
#ifndef XAGENT_AGENT_DISCOVERY_DOCKER_EVENTS_H
#define XAGENT_AGENT_DISCOVERY_DOCKER_EVENTS_H

#include "agent/discovery/docker_api.h"
#include "agent/discovery/json_stream.h"

enum docker_events_news {
	DOCKER_EVENTS_OPEN,   /* from now on nothing is missed */
	DOCKER_EVENTS_CHANGE, /* something of the containers is different */
	DOCKER_EVENTS_END,    /* it is not open any more, or could not be opened */
};

/* OPEN and CHANGE come in the middle of libcurl's work: no request may be started or ended in them. */
typedef void (*docker_events_fn)(enum docker_events_news news, void *data);

struct docker_events {
	struct http_client *http;
	docker_events_fn fn;
	void *data;
	struct http_request *request; /* NULL: none */
	struct json_stream stream;
	uint64_t opened_ns; /* 0: not open */
	uint64_t n_changes;
	char why[HTTP_MAX_ERROR_BYTES]; /* it ended */
	bool refused;			/* it was never open: the answer was another one */
	unsigned int status;		/* of the answer; 0: none */
};

void docker_events_init(struct docker_events *e, struct http_client *http, docker_events_fn fn,
			void *data);
void docker_events_fini(struct docker_events *e);
/* Without END. */
void docker_events_cancel(struct docker_events *e);

/* 0, or -errno with `why`. */
int docker_events_ask(struct docker_events *e, const struct docker_server *server,
		      const char *version);

#endif
