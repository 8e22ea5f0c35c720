/* SPDX-License-Identifier: Apache-2.0 */
/* One look at Docker's containers and networks: two questions, one answer. For the watch. */
#ifndef XAGENT_AGENT_DISCOVERY_DOCKER_LIST_H
#define XAGENT_AGENT_DISCOVERY_DOCKER_LIST_H

#include "agent/discovery/docker_api.h"

struct docker_list;

/* Both questions have ended. May begin the next look. */
typedef void (*docker_list_fn)(struct docker_list *list, void *data);

struct docker_list {
	struct http_client *http;
	docker_list_fn fn;
	void *data;
	struct http_request *containers_request, *networks_request; /* NULL: not under way */
	json_t *containers;		/* NULL: there is no list, and `why` says why not */
	json_t *networks;		/* NULL: likewise */
	char why[HTTP_MAX_ERROR_BYTES]; /* there are no containers */
	char networks_why[HTTP_MAX_ERROR_BYTES]; /* there are no networks */
	unsigned int status;			 /* of the containers' answer; 0: none */
	uint64_t work_ns;			 /* that it took to read the answers */
	bool networks_refused;			 /* somebody does not want that to be asked */
};

void docker_list_init(struct docker_list *list, struct http_client *http, docker_list_fn fn,
		      void *data);
/* Ends the look that is under way, and forgets what came. */
void docker_list_cancel(struct docker_list *list);
bool docker_list_is_busy(const struct docker_list *list);

/* `version` is the beginning of paths; `filters` JSON, or "". 0, or -errno with `why`. */
int docker_list_ask(struct docker_list *list, const struct docker_server *server,
		    const char *version, const char *filters);

#endif
