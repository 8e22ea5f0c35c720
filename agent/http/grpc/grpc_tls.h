/* SPDX-License-Identifier: Apache-2.0 */
/* TLS of a server of gRPC: what its connections share. */
#ifndef XAGENT_AGENT_HTTP_GRPC_GRPC_TLS_H
#define XAGENT_AGENT_HTTP_GRPC_GRPC_TLS_H

#include "agent/http/server_tls.h"

struct grpc_tls;

/* 0, -EINVAL with a sentence in `why`, or -ENOMEM. */
int grpc_tls_new(const struct http_server_tls *options, struct buf *why, struct grpc_tls **ret_tls);
struct grpc_tls *grpc_tls_ref(struct grpc_tls *tls); /* NULL stays NULL */
void grpc_tls_unref(struct grpc_tls *tls);	     /* NULL-safe */
DEFINE_CLEANUP(struct grpc_tls *, grpc_tls_unref);

/* NULL: no TLS. */
bool grpc_tls_equal(const struct grpc_tls *a, const struct grpc_tls *b);
bool grpc_tls_wants_certificate(const struct grpc_tls *tls);

/* Of one connection, before its handshake; it must end before `tls` does. 0 or -ENOMEM. */
int grpc_tls_session(const struct grpc_tls *tls, int fd, gnutls_session_t *ret_session);

#endif
