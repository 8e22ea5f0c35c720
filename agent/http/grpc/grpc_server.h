/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server of unary gRPC calls: HTTP/2 by nghttp2 (in plain text with prior knowledge, or by TLS) driven by our loop.
 *
 *	headers ──► refused at once, or ──► message, up to its ceiling ──► handler ──► answer, at once or later
 *
 * A call that is answered well gets an empty message: what OTLP's services say when all is taken. Loop thread.
 */
#ifndef XAGENT_AGENT_HTTP_GRPC_GRPC_SERVER_H
#define XAGENT_AGENT_HTTP_GRPC_GRPC_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/http/server.h"
#include "agent/util/buf.h"
#include "agent/util/loop.h"

/* Of google.rpc.Code, those that are used. */
enum grpc_code {
	GRPC_OK = 0,
	GRPC_INVALID_ARGUMENT = 3,
	GRPC_RESOURCE_EXHAUSTED = 8,
	GRPC_UNIMPLEMENTED = 12,
	GRPC_INTERNAL = 13,
	GRPC_UNAVAILABLE = 14,
	GRPC_UNAUTHENTICATED = 16,
};

struct grpc_server_options {
	const char *listen; /* as of struct http_server_options */
	/* One more ends another one, but none that waits for an answer. */
	unsigned int max_connections;
	unsigned int max_streams;	/* calls under way in one connection */
	size_t max_message_bytes;	/* as received, compressed or not */
	size_t max_bodies_bytes;	/* of all calls together, until they are answered */
	unsigned int request_timeout_s; /* from the connection to the client's first settings */
	unsigned int body_timeout_s;	/* from the headers of a call to its end */
	uint64_t ping_ns; /* without a word from the client until it is asked for a sign of life */
	uint64_t pong_ns; /* until it has given one */
	uint64_t max_idle_ns;	     /* without a call; UINT64_MAX: any time */
	uint64_t max_age_ns;	     /* of a connection; UINT64_MAX: any age */
	uint64_t age_grace_ns;	     /* for calls under way then; UINT64_MAX: any time */
	struct telemetry *telemetry; /* borrowed; NULL: nothing is counted */
};

/* What the reference's receiver has. */
#define GRPC_SERVER_OPTIONS_INIT                                               \
	((struct grpc_server_options){ .listen = "127.0.0.1:4317",             \
				       .max_connections = 256,                 \
				       .max_streams = 100,                     \
				       .max_message_bytes = 4 << 20,           \
				       .max_bodies_bytes = 16 << 20,           \
				       .request_timeout_s = 10,                \
				       .body_timeout_s = 30,                   \
				       .ping_ns = UINT64_C(7200) * 1000000000, \
				       .pong_ns = UINT64_C(20) * 1000000000,   \
				       .max_idle_ns = UINT64_MAX,              \
				       .max_age_ns = UINT64_MAX,               \
				       .age_grace_ns = UINT64_MAX })

struct grpc_call;
struct grpc_server;

struct grpc_answer {
	enum grpc_code code;
	const char *message; /* a sentence; NULL or "": none */
	const void *details; /* a packed google.rpc.Status; NULL: none */
	size_t n_details;
};

struct grpc_service {
	/* NULL: calls of this path are taken. Else why not: they are answered UNIMPLEMENTED. */
	const char *(*refusal)(const char *path, void *data);
	/* With its whole message. It is answered once, now or later. */
	void (*call)(struct grpc_call *call, void *data);
	void *data;
};

bool grpc_call_is_gzip(const struct grpc_call *call);
/* Moves the message to the caller. It stays in the account of bodies until the answer. */
void grpc_call_take_message(struct grpc_call *call, struct buf *ret_message);
/* Sends the answer, if anybody still waits for it, and frees the call: once for each, whatever became of client and server. */
void grpc_call_answer(struct grpc_call *call, const struct grpc_answer *answer);

/* The service is copied. Results as of http_server_new(). */
int grpc_server_new(struct loop *loop, const struct grpc_server_options *options,
		    const struct grpc_service *service, struct grpc_server **ret_server,
		    char *error);
/* Closes every connection. Not from within a handler. NULL-safe. */
void grpc_server_free(struct grpc_server *server);
DEFINE_CLEANUP(struct grpc_server *, grpc_server_free);

uint16_t grpc_server_port(const struct grpc_server *server);
size_t grpc_server_n_connections(const struct grpc_server *server);

/* Who may call, for the next call; `tls` for the next connections: clients with open ones are asked to come anew. NULL: no TLS. Paths mean nothing.
 * Results as of http_server_secure(). */
int grpc_server_secure(struct grpc_server *server, const struct http_access *access,
		       const struct http_server_tls *tls, struct buf *why);

/* Whether others than this host can reach it, and nobody is asked for a certificate or a password. */
bool grpc_server_is_open(const struct grpc_server *server);

#endif
