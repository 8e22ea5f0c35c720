/* SPDX-License-Identifier: Apache-2.0 */
/* One connection of a server of gRPC, and its calls. Inside of agent/http/grpc. Loop thread. */
#ifndef XAGENT_AGENT_HTTP_GRPC_GRPC_LINK_H
#define XAGENT_AGENT_HTTP_GRPC_GRPC_LINK_H

#include <nghttp2/nghttp2.h>

#include "agent/http/access.h"
#include "agent/http/budget.h"
#include "agent/http/connections.h"
#include "agent/http/grpc/grpc_frames.h"
#include "agent/http/grpc/grpc_server.h"
#include "agent/http/grpc/grpc_tls.h"
#include "agent/util/list.h"
#include "agent/util/str.h"

/* Paths of services have some 80. */
#define GRPC_PATH_BYTES 256
/* Names and values of a call, with 32 bytes for each as HTTP/2 counts; nghttp2 ends what has 64 KiB. */
#define GRPC_MAX_HEADER_BYTES ((size_t)16 << 10)
/* Of the sentence for what is refused before its handler, with its NUL. */
#define GRPC_REFUSAL_BYTES 192
/* Of the sentence in an answer, before it is escaped. */
#define GRPC_MAX_MESSAGE_BYTES ((size_t)1024)

struct grpc_server {
	struct loop *loop;
	struct grpc_server_options options; /* of which `listen` is not kept */
	struct grpc_service service;
	int fd;
	uint16_t port;
	bool loopback;
	bool deaf; /* the listening socket is not watched, for the lack of descriptors or memory */
	struct loop_io *io;
	struct loop_timer *timer;
	struct grpc_tls *tls; /* of the next connections; NULL: none */
	struct access access;
	nghttp2_session_callbacks *callbacks;
	struct connections connections;
	struct http_counts counts;
	struct http_budget bodies;
	struct list links, calls;
	size_t n_links;
};

enum grpc_stream_state {
	GRPC_RECEIVES,
	GRPC_DRAINS, /* is refused, and may send the rest of its body first */
	GRPC_WAITS,  /* for the handler's answer */
	GRPC_ANSWERS,
};

struct grpc_stream {
	struct list node; /* the link's */
	struct grpc_link *link;
	int32_t id;
	enum grpc_stream_state state;
	uint64_t deadline_ns; /* UINT64_MAX: none */
	/* Of its headers. */
	char path[GRPC_PATH_BYTES]; /* "": none, or a longer one */
	size_t n_header_bytes;
	bool is_post, is_grpc, is_gzip, is_encoding_unknown, is_allowed;
	struct grpc_frames frames;
	size_t n_body;		/* of the budget */
	struct grpc_call *call; /* NULL: the handler has none of it */
	/* Once it is refused. */
	enum grpc_code code;
	unsigned int http_status; /* of what is no call of gRPC; 0: it is one */
	char refusal[GRPC_REFUSAL_BYTES];
	size_t n_drained;
};

/* A call with its handler. */
struct grpc_call {
	struct list node;	    /* the server's */
	struct grpc_server *server; /* NULL: has ended */
	struct grpc_stream *stream; /* NULL: nobody waits */
	struct buf message;
	size_t n_body; /* of the budget */
	bool is_gzip;
};

struct grpc_link {
	struct list node; /* the server's */
	struct grpc_server *server;
	int fd;
	struct loop_io *io;
	struct grpc_tls *tls;
	gnutls_session_t tls_session; /* NULL: plain text */
	bool is_shaking_hands;
	nghttp2_session *session;
	struct list streams;
	size_t n_waiting; /* of them */
	struct buf out;	  /* on its way to the socket */
	size_t n_sent;	  /* of it */
	struct connection connection;
	uint64_t opened_ns, heard_ns, idle_ns; /* since when */
	uint64_t end_ns;    /* of its calls, once it takes no more; UINT64_MAX: none */
	double frames_left; /* see grpc_link_charge() */
	uint64_t charged_ns;
	bool is_asked;	 /* for a sign of life */
	bool is_closing; /* takes no further call */
	bool is_flooding;
	bool is_busy; /* inside of its own functions */
	bool is_ended;
};

/* Takes the socket in any case. */
void grpc_link_open(struct grpc_server *server, int fd, const struct sockaddr *address);
/* Calls that wait are forgotten. */
void grpc_link_free(struct grpc_link *link);
/* Sends what is due, and ends it if that is over. It may be freed then. */
void grpc_link_flush(struct grpc_link *link);
/* Takes no further call; ends when those it has have, `grace_ns` later at the latest. */
void grpc_link_close(struct grpc_link *link, uint64_t now_ns, uint64_t grace_ns);
/* Deadlines of calls, signs of life, age. It may be freed then. */
void grpc_link_look(struct grpc_link *link, uint64_t now_ns);
/* One frame more that may cost more than it brings. */
void grpc_link_charge(struct grpc_link *link, uint64_t now_ns);
/* A call was answered. */
void grpc_link_credit(struct grpc_link *link);

/* 0 or -ENOMEM. */
int grpc_session_callbacks(nghttp2_session_callbacks **ret_callbacks);
int grpc_session_new(struct grpc_link *link);

/* For the callbacks of the session. NULL: no memory. */
struct grpc_stream *grpc_stream_open(struct grpc_link *link, int32_t id, uint64_t now_ns);
void grpc_stream_close(struct grpc_stream *stream);
/* False: too many. */
bool grpc_stream_header(struct grpc_stream *stream, struct str name, struct str value);
void grpc_stream_headers_done(struct grpc_stream *stream);
void grpc_stream_bytes(struct grpc_stream *stream, const void *bytes, size_t n);
void grpc_stream_end(struct grpc_stream *stream);

/* Submits it to the session. */
void grpc_answer_send(struct grpc_stream *stream, const struct grpc_answer *answer);
/* An HTTP status alone, for what is no call of gRPC. */
void grpc_answer_http(struct grpc_stream *stream, unsigned int status);
/* No more of its body is wanted: after the answer. */
void grpc_answer_reset(struct grpc_stream *stream);

#endif
