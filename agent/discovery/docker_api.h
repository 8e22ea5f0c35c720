/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to Docker's API, and what its answers mean. Loop thread only. */
#ifndef XAGENT_AGENT_DISCOVERY_DOCKER_API_H
#define XAGENT_AGENT_DISCOVERY_DOCKER_API_H

#include <jansson.h>

#include "agent/http/client.h"
#include "agent/http/credentials.h"

/* Containers are told with some 2 KiB each: as many as nobody has on a host. */
#define DOCKER_MAX_ANSWER_BYTES ((size_t)16 << 20)
/* "/v1.44" */
#define DOCKER_VERSION_MAX_BYTES 16

/* Where Docker is, and who asks. Texts are borrowed. */
struct docker_server {
	struct http_request_options request; /* url (up to the path), unix_socket, headers, TLS … */
	struct http_credentials credentials;
};

/* `path` with its query goes behind the server's URL. `o` has what differs from request to request: on_data, on_open, timeout_ns. 0, or
 * -errno with a sentence in `error`, which has HTTP_MAX_ERROR_BYTES bytes. */
int docker_api_get(struct http_client *http, const struct docker_server *server, const char *path,
		   const struct http_request_options *o, http_done_fn done, void *data, char *error,
		   struct http_request **ret_request);

/* Appends text as a value of a query (RFC 3986 §2.1). 0 or what buf_append returns. */
int docker_api_escape(struct buf *out, const char *text);

/* The path's beginning for a daemon whose answer to /_ping has this Api-Version: the newest that both know, or, with `newest`, the
 * daemon's own; "" (any) when it names none. */
void docker_api_version(const char *api_version, bool newest, char *ret_path);

/* True when there is an answer with a 2xx status; else `why` says what is wrong, with Docker's own words where it has any. */
bool docker_api_succeeded(const struct http_result *result, const char *question, char *why);

/* The answer as JSON, or NULL with `why`. */
json_t *docker_api_json(const struct http_result *result, const char *question, char *why);

/* Whether something of what containers' targets are made of may be different after it. Pure. */
bool docker_event_matters(const json_t *event);

#endif
