/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS of the server.
 *
 * libmicrohttpd takes certificate, key and priorities when it starts, and says nothing but "no" when one of them is of no use. So
 * they are tried here first. Of client certificates it knows only "optional": what is wanted is set on each session instead.
 */
#include "agent/http/server_tls.h"

#include <errno.h>
#include <gnutls/x509.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/macro.h"
#include "agent/util/str.h"

/* Go's names (crypto/tls) of suites, and the pieces of which GnuTLS makes the same. */
static const struct {
	const char *name;
	const char *priorities;
} suites[] = {
	{ "TLS_RSA_WITH_AES_128_CBC_SHA", ":+RSA:+AES-128-CBC:+SHA1" },
	{ "TLS_RSA_WITH_AES_256_CBC_SHA", ":+RSA:+AES-256-CBC:+SHA1" },
	{ "TLS_RSA_WITH_AES_128_GCM_SHA256", ":+RSA:+AES-128-GCM:+AEAD" },
	{ "TLS_RSA_WITH_AES_256_GCM_SHA384", ":+RSA:+AES-256-GCM:+AEAD" },
	{ "TLS_AES_128_GCM_SHA256", ":+AES-128-GCM:+AEAD" },
	{ "TLS_AES_256_GCM_SHA384", ":+AES-256-GCM:+AEAD" },
	{ "TLS_CHACHA20_POLY1305_SHA256", ":+CHACHA20-POLY1305:+AEAD" },
	{ "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", ":+ECDHE-ECDSA:+AES-128-CBC:+SHA1" },
	{ "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", ":+ECDHE-ECDSA:+AES-256-CBC:+SHA1" },
	{ "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", ":+ECDHE-RSA:+AES-128-CBC:+SHA1" },
	{ "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", ":+ECDHE-RSA:+AES-256-CBC:+SHA1" },
	{ "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", ":+ECDHE-ECDSA:+AES-128-GCM:+AEAD" },
	{ "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", ":+ECDHE-ECDSA:+AES-256-GCM:+AEAD" },
	{ "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", ":+ECDHE-RSA:+AES-128-GCM:+AEAD" },
	{ "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", ":+ECDHE-RSA:+AES-256-GCM:+AEAD" },
	{ "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", ":+ECDHE-RSA:+CHACHA20-POLY1305:+AEAD" },
	{ "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
	  ":+ECDHE-ECDSA:+CHACHA20-POLY1305:+AEAD" },
};

static const struct {
	const char *name;
	const char *priorities;
} curves[] = {
	{ "CurveP256", ":+GROUP-SECP256R1" },
	{ "CurveP384", ":+GROUP-SECP384R1" },
	{ "CurveP521", ":+GROUP-SECP521R1" },
	/* As the collector calls them. */
	{ "P256", ":+GROUP-SECP256R1" },
	{ "P384", ":+GROUP-SECP384R1" },
	{ "P521", ":+GROUP-SECP521R1" },
	{ "X25519", ":+GROUP-X25519" },
};

static const char *suite_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(suites); i++)
		if (strcmp(suites[i].name, name) == 0)
			return suites[i].priorities;
	return NULL;
}

static const char *curve_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(curves); i++)
		if (strcmp(curves[i].name, name) == 0)
			return curves[i].priorities;
	return NULL;
}

bool http_server_knows_suite(const char *name)
{
	return suite_find(name) != NULL;
}

bool http_server_knows_curve(const char *name)
{
	return curve_find(name) != NULL;
}

/* Version 1.3 has nothing but these; with none of them it could be agreed on and then not be spoken. */
static bool allows_1_3(const struct http_server_tls *o)
{
	for (size_t i = 0; i < o->n_cipher_suites; i++)
		if (strstr(o->cipher_suites[i], "_GCM_") ||
		    strstr(o->cipher_suites[i], "_CHACHA20_"))
			return true;
	return o->n_cipher_suites == 0;
}

static void put_versions(struct buf *out, const struct http_server_tls *o)
{
	static const char *const names[] = {
		[HTTP_TLS10] = ":+VERS-TLS1.0",
		[HTTP_TLS11] = ":+VERS-TLS1.1",
		[HTTP_TLS12] = ":+VERS-TLS1.2",
		[HTTP_TLS13] = ":+VERS-TLS1.3",
	};
	enum http_tls_version from =
		o->min_version == HTTP_TLS_DEFAULT ? HTTP_TLS12 : o->min_version;
	enum http_tls_version to = o->max_version == HTTP_TLS_DEFAULT ? HTTP_TLS13 : o->max_version;

	if (to == HTTP_TLS13 && !allows_1_3(o))
		to = HTTP_TLS12;
	(void)buf_append_str(out, ":-VERS-ALL");
	for (enum http_tls_version v = to; v >= from; v--)
		(void)buf_append_str(out, names[v]);
	/* The oldest two sign with SHA-1, which GnuTLS does not do unasked. */
	if (from < HTTP_TLS12)
		(void)buf_append_str(
			out, ":%VERIFY_ALLOW_SIGN_WITH_SHA1:+SIGN-RSA-SHA1:+SIGN-ECDSA-SHA1");
}

/* Suites of version 1.3 cannot be chosen, so the pieces of what is chosen are kept, and key exchanges only where one is named. */
static void put_suites(struct buf *out, const struct http_server_tls *o)
{
	bool exchange = false;

	if (o->n_cipher_suites == 0)
		return;
	for (size_t i = 0; i < o->n_cipher_suites; i++)
		exchange |= strstr(o->cipher_suites[i], "_WITH_") != NULL;
	(void)buf_printf(out, ":-CIPHER-ALL:-MAC-ALL%s", exchange ? ":-KX-ALL" : "");
	for (size_t i = 0; i < o->n_cipher_suites; i++) {
		const char *pieces = suite_find(o->cipher_suites[i]);

		(void)buf_append_str(out, pieces ? pieces : "");
	}
}

static void put_curves(struct buf *out, const struct http_server_tls *o)
{
	if (o->n_curves > 0)
		(void)buf_append_str(out, ":-GROUP-ALL");
	for (size_t i = 0; i < o->n_curves; i++) {
		const char *pieces = curve_find(o->curves[i]);

		(void)buf_append_str(out, pieces ? pieces : "");
	}
}

static int make_priorities(struct server_tls *tls, const struct http_server_tls *o, struct buf *why)
{
	_cleanup_buf_ struct buf text = BUF_INIT(8192);
	gnutls_priority_t priority = NULL;

	(void)buf_append_str(&text, "NORMAL");
	put_versions(&text, o);
	put_suites(&text, o);
	put_curves(&text, o);
	if (text.failed)
		return -ENOMEM;
	int r = gnutls_priority_init(&priority, buf_str(&text), NULL);
	if (r < 0) {
		(void)buf_printf(why, "versions and cipher suites do not go together: %s",
				 gnutls_strerror(r));
		return -EINVAL;
	}
	gnutls_priority_deinit(priority);
	tls->priorities = buf_take(&text);
	return tls->priorities ? 0 : -ENOMEM;
}

static gnutls_datum_t datum(const char *text)
{
	return (gnutls_datum_t){ (unsigned char *)text, (unsigned int)strlen(text) };
}

static int check_pair(gnutls_certificate_credentials_t credentials, const struct server_tls *tls,
		      struct buf *why)
{
	gnutls_datum_t cert = datum(tls->cert_pem), key = datum(tls->key_pem);
	int r = gnutls_certificate_set_x509_key_mem(credentials, &cert, &key, GNUTLS_X509_FMT_PEM);

	if (r >= 0)
		return 0;
	if (r == GNUTLS_E_CERTIFICATE_KEY_MISMATCH)
		(void)buf_append_str(why, "tls: private key does not match public key");
	else if (!strstr(tls->cert_pem, "-----BEGIN"))
		(void)buf_append_str(why, "tls: failed to find any PEM data in certificate input");
	else if (!strstr(tls->key_pem, "-----BEGIN"))
		(void)buf_append_str(why, "tls: failed to find any PEM data in key input");
	else
		(void)buf_printf(why, "tls: certificate and key cannot be used: %s",
				 gnutls_strerror(r));
	return -EINVAL;
}

static int check_ca(gnutls_certificate_credentials_t credentials, const struct server_tls *tls,
		    struct buf *why)
{
	gnutls_datum_t ca = datum(tls->client_ca_pem ? tls->client_ca_pem : "");

	if (!tls->client_ca_pem)
		return 0;
	if (gnutls_certificate_set_x509_trust_mem(credentials, &ca, GNUTLS_X509_FMT_PEM) > 0)
		return 0;
	(void)buf_append_str(why, "the client CA holds no certificate");
	return -EINVAL;
}

static int check(const struct server_tls *tls, struct buf *why)
{
	gnutls_certificate_credentials_t credentials = NULL;

	if (gnutls_certificate_allocate_credentials(&credentials) < 0)
		return -ENOMEM;
	int r = check_pair(credentials, tls, why);
	if (r == 0)
		r = check_ca(credentials, tls, why);
	gnutls_certificate_free_credentials(credentials);
	return r;
}

int server_tls_new(const struct http_server_tls *o, struct buf *why, struct server_tls **ret_tls)
{
	_cleanup_(server_tls_freep) struct server_tls *tls = calloc(1, sizeof(*tls));

	if (!tls)
		return -ENOMEM;
	tls->client_auth = o->client_auth;
	tls->cert_pem = strdup(o->cert_pem);
	tls->key_pem = strdup(o->key_pem);
	if (o->client_ca_pem)
		tls->client_ca_pem = strdup(o->client_ca_pem);
	if (!tls->cert_pem || !tls->key_pem || (o->client_ca_pem && !tls->client_ca_pem))
		return -ENOMEM;
	int r = make_priorities(tls, o, why);
	if (r == 0)
		r = check(tls, why);
	if (r < 0)
		return r;
	*ret_tls = TAKE_PTR(tls);
	return 0;
}

void server_tls_free(struct server_tls *tls)
{
	if (!tls)
		return;
	if (tls->key_pem)
		gnutls_memset(tls->key_pem, 0, strlen(tls->key_pem));
	free(tls->cert_pem);
	free(tls->key_pem);
	free(tls->client_ca_pem);
	free(tls->priorities);
	free(tls);
}

static bool texts_equal(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

bool server_tls_wants_certificate(const struct server_tls *tls)
{
	return tls && tls->client_auth == HTTP_CLIENT_AUTH_REQUIRE_AND_VERIFY;
}

bool server_tls_equal(const struct server_tls *a, const struct server_tls *b)
{
	if (!a || !b)
		return a == b;
	return texts_equal(a->cert_pem, b->cert_pem) && texts_equal(a->key_pem, b->key_pem) &&
	       texts_equal(a->client_ca_pem, b->client_ca_pem) &&
	       texts_equal(a->priorities, b->priorities) && a->client_auth == b->client_auth;
}

/* Called in the handshake when the client has sent a certificate. Not 0: the handshake fails. */
static int verify(gnutls_session_t session)
{
	unsigned int status = 0;

	return gnutls_certificate_verify_peers2(session, &status) < 0 || status != 0;
}

static int verify_if_given(gnutls_session_t session)
{
	unsigned int n = 0;

	return gnutls_certificate_get_peers(session, &n) && n > 0 ? verify(session) : 0;
}

void server_tls_prepare(const struct server_tls *tls, gnutls_session_t session)
{
	switch (tls->client_auth) {
	case HTTP_CLIENT_AUTH_NONE:
		gnutls_certificate_server_set_request(session, GNUTLS_CERT_IGNORE);
		return;
	case HTTP_CLIENT_AUTH_REQUEST:
		gnutls_certificate_server_set_request(session, GNUTLS_CERT_REQUEST);
		return;
	case HTTP_CLIENT_AUTH_REQUIRE_ANY:
		gnutls_certificate_server_set_request(session, GNUTLS_CERT_REQUIRE);
		return;
	case HTTP_CLIENT_AUTH_VERIFY_IF_GIVEN:
		gnutls_certificate_server_set_request(session, GNUTLS_CERT_REQUEST);
		gnutls_session_set_verify_function(session, verify_if_given);
		return;
	case HTTP_CLIENT_AUTH_REQUIRE_AND_VERIFY:
		gnutls_certificate_server_set_request(session, GNUTLS_CERT_REQUIRE);
		gnutls_session_set_verify_function(session, verify);
		return;
	}
}
