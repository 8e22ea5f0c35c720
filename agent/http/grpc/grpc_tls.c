/* SPDX-License-Identifier: Apache-2.0 */
/* TLS of a server of gRPC. */
#include "agent/http/grpc/grpc_tls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/macro.h"

struct grpc_tls {
	unsigned int n_refs;
	struct server_tls *texts;
	gnutls_certificate_credentials_t credentials;
	gnutls_priority_t priority;
};

static gnutls_datum_t datum(const char *text)
{
	return (gnutls_datum_t){ (unsigned char *)text, (unsigned int)strlen(text) };
}

/* server_tls_new() has tried them all, so what fails here is memory. */
static int load(struct grpc_tls *tls)
{
	const struct server_tls *t = tls->texts;
	gnutls_datum_t cert = datum(t->cert_pem), key = datum(t->key_pem);
	gnutls_datum_t ca = datum(t->client_ca_pem ? t->client_ca_pem : "");

	if (gnutls_certificate_allocate_credentials(&tls->credentials) < 0)
		return -ENOMEM;
	if (gnutls_certificate_set_x509_key_mem(tls->credentials, &cert, &key,
						GNUTLS_X509_FMT_PEM) < 0)
		return -ENOMEM;
	if (t->client_ca_pem &&
	    gnutls_certificate_set_x509_trust_mem(tls->credentials, &ca, GNUTLS_X509_FMT_PEM) < 0)
		return -ENOMEM;
	return gnutls_priority_init(&tls->priority, t->priorities, NULL) < 0 ? -ENOMEM : 0;
}

int grpc_tls_new(const struct http_server_tls *options, struct buf *why, struct grpc_tls **ret_tls)
{
	_cleanup_(grpc_tls_unrefp) struct grpc_tls *tls = calloc(1, sizeof(*tls));

	if (!tls)
		return -ENOMEM;
	tls->n_refs = 1;
	int r = server_tls_new(options, why, &tls->texts);
	r = r < 0 ? r : load(tls);
	if (r == 0)
		*ret_tls = TAKE_PTR(tls);
	return r;
}

struct grpc_tls *grpc_tls_ref(struct grpc_tls *tls)
{
	if (tls)
		tls->n_refs++;
	return tls;
}

void grpc_tls_unref(struct grpc_tls *tls)
{
	if (!tls || --tls->n_refs > 0)
		return;
	if (tls->priority)
		gnutls_priority_deinit(tls->priority);
	if (tls->credentials)
		gnutls_certificate_free_credentials(tls->credentials);
	server_tls_free(tls->texts);
	free(tls);
}

bool grpc_tls_equal(const struct grpc_tls *a, const struct grpc_tls *b)
{
	return server_tls_equal(a ? a->texts : NULL, b ? b->texts : NULL);
}

bool grpc_tls_wants_certificate(const struct grpc_tls *tls)
{
	return tls && server_tls_wants_certificate(tls->texts);
}

int grpc_tls_session(const struct grpc_tls *tls, int fd, gnutls_session_t *ret_session)
{
	static const gnutls_datum_t h2 = { (unsigned char *)"h2", 2 };
	gnutls_session_t s;

	if (gnutls_init(&s, GNUTLS_SERVER | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL) < 0)
		return -ENOMEM;
	if (gnutls_priority_set(s, tls->priority) < 0 ||
	    gnutls_credentials_set(s, GNUTLS_CRD_CERTIFICATE, tls->credentials) < 0 ||
	    gnutls_alpn_set_protocols(s, &h2, 1, GNUTLS_ALPN_MANDATORY) < 0) {
		gnutls_deinit(s);
		return -ENOMEM;
	}
	server_tls_prepare(tls->texts, s);
	gnutls_transport_set_int(s, fd);
	*ret_session = s;
	return 0;
}
