/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store over HTTP, as a Pyroscope server answers: queries and Push by Connect (proto and JSON), /ready,
 * /api/v1/status/buildinfo.
 *
 * Queries run on the store's worker, pushes on its ingest thread; their answers come when they are done. Loop thread.
 */
#ifndef XAGENT_AGENT_STORE_API_API_H
#define XAGENT_AGENT_STORE_API_API_H

#include "agent/http/server.h"
#include "agent/store/store.h"

struct store_api;

/* All are borrowed and outlive it. 0; -EEXIST: another one answers there; -errno. */
int store_api_new(struct store *store, struct worker *worker, struct http_server *server,
		  const char *version, struct store_api **ret_api);
/* Those that wait or run are answered `unavailable`; the latter end within a moment. NULL-safe. */
void store_api_free(struct store_api *api);
DEFINE_CLEANUP(struct store_api *, store_api_free);

#endif
