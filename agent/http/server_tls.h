/* SPDX-License-Identifier: Apache-2.0 */
/* TLS of the server: from options to what libmicrohttpd and GnuTLS need. */
#ifndef XAGENT_AGENT_HTTP_SERVER_TLS_H
#define XAGENT_AGENT_HTTP_SERVER_TLS_H

#include <gnutls/gnutls.h>

#include "agent/http/server.h"

struct server_tls {
	char *cert_pem, *key_pem, *client_ca_pem;
	char *priorities; /* GnuTLS's word for versions, suites and groups */
	enum http_client_auth client_auth;
};

/* Copies and checks; 0, -EINVAL with a sentence in `why`, or -ENOMEM. */
int server_tls_new(const struct http_server_tls *options, struct buf *why,
		   struct server_tls **ret_tls);
void server_tls_free(struct server_tls *tls);
DEFINE_CLEANUP(struct server_tls *, server_tls_free);

/* NULL: no TLS. */
bool server_tls_equal(const struct server_tls *a, const struct server_tls *b);

/* Whether nobody gets in without a certificate that a trusted authority signed; NULL: no. */
bool server_tls_wants_certificate(const struct server_tls *tls);

/* For each connection, before its handshake. */
void server_tls_prepare(const struct server_tls *tls, gnutls_session_t session);

#endif
