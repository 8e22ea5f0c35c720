/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles of others: as to a Pyroscope server, Push by Connect (proto and JSON) and /ingest, or as to one of OpenTelemetry, by HTTP or gRPC.
 *
 *	arrives ──► waits, as it was received ──► is read (worker) ──► has its profiles delivered ──► answered
 *
 * One request is read at a time. A request is answered when whoever takes its profiles has taken them, which says nothing of what becomes of
 * them later. Where nobody has room, or too many wait already, it is answered 429 with Retry-After, and none of its profiles is taken.
 *
 * Metrics (labels component_path, component_id, and transport: http, grpc):
 *	xagent_received_profiles_total, _bytes_total	by `format`: push, otlp, groups, lines, trie, tree, pprof, speedscope
 *	xagent_received_requests_refused_total		by `reason`, see refused.h
 *
 * Loop thread.
 */
#ifndef XAGENT_AGENT_RECEIVE_RECEIVING_H
#define XAGENT_AGENT_RECEIVE_RECEIVING_H

#include "agent/http/grpc/grpc_server.h"
#include "agent/http/server.h"
#include "agent/receive/items.h"
#include "agent/telemetry/telemetry.h"

/* Requests that wait to be read, the one that is read among them; their bodies are within the server's budget. */
#define RECEIVE_MAX_WAITING 256

struct receiving;

struct receiving_callbacks {
	/* Whether so many bytes would be taken by anybody without dropping others. */
	bool (*has_room)(void *data, size_t n_bytes);
	/* Whether anybody sends on what nobody here reads. */
	bool (*may_relay)(void *data);
	/* References are the item's; it may take its own. */
	void (*deliver)(void *data, const struct receive_item *item);
	void *data;
};

struct receiving_stats {
	uint64_t n_profiles, n_requests, n_refused;
	size_t n_waiting;
	const char *last_refusal; /* borrowed until the loop goes on; "" when there was none */
};

/* Texts are copied. 0 or -errno. */
int receiving_new(struct loop *loop, struct telemetry *telemetry, const char *component_path,
		  const char *component_id, const struct receiving_callbacks *callbacks,
		  struct receiving **ret_receiving);
/* Those that wait are answered `unavailable`. Servers that it answers for have ended, or have lost its routes. NULL-safe. */
void receiving_free(struct receiving *r);
DEFINE_CLEANUP(struct receiving *, receiving_free);

/* Its routes at a server: those of a Pyroscope server, or the one of OTLP, for requests of max_bytes at most, gzip'd or not. 0 or -errno. */
int receiving_add_routes(struct receiving *r, struct http_server *server);
int receiving_add_otlp_route(struct receiving *r, struct http_server *server, size_t max_bytes);

/* OTLP by gRPC, for messages of max_bytes at most when they are inflated. Borrows `r`. */
struct grpc_service receiving_grpc_service(struct receiving *r, size_t max_bytes);

void receiving_stats(const struct receiving *r, struct receiving_stats *ret_stats);

#endif
