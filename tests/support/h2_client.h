/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client of HTTP/2 in plain text in the loop of the test, that calls a server of gRPC by nghttp2, or sends it what bytes the test likes.
 */
#ifndef XAGENT_TESTS_SUPPORT_H2_CLIENT_H
#define XAGENT_TESTS_SUPPORT_H2_CLIENT_H

#include <nghttp2/nghttp2.h>

#include "agent/util/buf.h"
#include "agent/util/loop.h"

struct h2_client {
	struct loop *loop;
	struct loop_io *io;
	int fd;
	nghttp2_session *session;     /* NULL: raw bytes alone */
	bool is_closed;		      /* by the server */
	bool is_silent;		      /* sends nothing by itself */
	unsigned int n_answers, n_ok; /* calls that have ended; with grpc-status 0 */
	/* Of the last one. */
	int http_status, grpc_status; /* -1: none */
	uint32_t reset;		      /* the code with which it was closed */
	char message[512], details[1024], body[64];
	size_t n_body; /* as much as `body` has room for */
	int goaway; /* the code of GOAWAY; -1: none came */
};

/* A call: its headers, and its body as bytes. */
struct h2_call {
	const char *path, *method, *type, *encoding; /* encoding NULL: none */
	const char *padding;			     /* of one more header; NULL: none */
	const void *body;
	size_t n_body;
	bool is_open; /* the end of the stream never comes */
};

void h2_client_open(struct h2_client *c, struct loop *loop, uint16_t port);
/* Without a session. */
void h2_client_open_raw(struct h2_client *c, struct loop *loop, uint16_t port);
void h2_client_close(struct h2_client *c);
/* The stream. The body is borrowed until the answer. */
int32_t h2_client_call(struct h2_client *c, const struct h2_call *call);
/* Sends what is queued. */
void h2_client_flush(struct h2_client *c);
/* Of raw bytes: all of them, or as many as the socket takes. */
size_t h2_client_send(struct h2_client *c, const void *bytes, size_t n);

/* The frame of gRPC around a message, appended. */
void h2_put_message(struct buf *out, const void *bytes, size_t n, bool is_compressed);

#endif
