/* SPDX-License-Identifier: Apache-2.0 */
/* A kubeconfig. Where a setting is there as data and as a file, data wins, as in kubectl; a token's file wins over the token. */
#include "agent/discovery/kube_config.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <string.h>

#include "agent/discovery/kube_yaml.h"
#include "agent/http/url.h"

/* What programs would have to be run for, or other people asked. */
#define INSTEAD                                                                             \
	"is not supported: give the user a token (kubectl create token NAME), a tokenFile " \
	"or a client certificate"

struct reader {
	struct kube_yaml yaml;
	struct kube_access *access;
};

static const char *keep(struct reader *r, const char *text, size_t n)
{
	const char *copy = arena_strndup(&r->access->texts, text, n);

	if (!copy)
		kube_yaml_fail(&r->yaml, -ENOMEM, NULL, "out of memory");
	return copy;
}

static const char *text(struct reader *r, const struct river_yaml_node *map, const char *key)
{
	const char *value = kube_yaml_text(&r->yaml, map, key);

	return value ? keep(r, value, strlen(value)) : NULL;
}

/* A relative path begins where the kubeconfig lies. */
static const char *path(struct reader *r, const struct river_yaml_node *map, const char *key)
{
	const char *value = kube_yaml_text(&r->yaml, map, key);
	const char *own = r->yaml.path;
	const char *slash = strrchr(own, '/');

	if (!value)
		return NULL;
	if (*value == '/' || !slash)
		return keep(r, value, strlen(value));
	size_t n = (size_t)(slash + 1 - own);
	char *joined = arena_alloc(&r->access->texts, n + strlen(value) + 1);
	if (!joined) {
		kube_yaml_fail(&r->yaml, -ENOMEM, NULL, "out of memory");
		return NULL;
	}
	memcpy(joined, own, n);
	memcpy(joined + n, value, strlen(value) + 1);
	return joined;
}

static const char *take_pem(struct reader *r, const struct river_yaml_node *at, const char *key,
			    const gnutls_datum_t *plain)
{
	const char *pem = keep(r, (const char *)plain->data, plain->size);

	if (pem && (strlen(pem) != plain->size || !strstr(pem, "-----BEGIN "))) {
		kube_yaml_fail(&r->yaml, -EINVAL, at, "\"%s\" holds no PEM text", key);
		return NULL;
	}
	return pem;
}

static const char *pem(struct reader *r, const struct river_yaml_node *map, const char *key)
{
	const char *value = kube_yaml_text(&r->yaml, map, key);
	const struct river_yaml_node *at = kube_yaml_get(&r->yaml, map, key);
	gnutls_datum_t coded, plain;
	const char *result;

	if (!value)
		return NULL;
	coded = (gnutls_datum_t){ .data = (void *)value, .size = (unsigned int)strlen(value) };
	if (gnutls_base64_decode2(&coded, &plain) < 0) {
		kube_yaml_fail(&r->yaml, -EINVAL, at, "\"%s\" is not base64", key);
		return NULL;
	}
	result = take_pem(r, at, key, &plain);
	gnutls_free(plain.data);
	return result;
}

static void take_server(struct reader *r, const struct river_yaml_node *cluster)
{
	const struct river_yaml_node *at = kube_yaml_get(&r->yaml, cluster, "server");
	const char *server = kube_yaml_text(&r->yaml, cluster, "server");
	enum url_problem problem;
	struct url url;

	if (!server) {
		kube_yaml_fail(&r->yaml, -EINVAL, cluster, "the cluster has no \"server\"");
		return;
	}
	problem = url_parse(str_from(server), &url);
	if (problem != URL_OK) {
		kube_yaml_fail(&r->yaml, -EINVAL, at, "\"server\": %s", url_problem_text(problem));
		return;
	}
	size_t n = strlen(server);
	while (n > 0 && server[n - 1] == '/')
		n--;
	r->access->server = keep(r, server, n);
}

static void take_cluster(struct reader *r, const struct river_yaml_node *cluster)
{
	struct http_tls_options *tls = &r->access->tls;

	take_server(r, cluster);
	tls->ca_pem = pem(r, cluster, "certificate-authority-data");
	if (!tls->ca_pem)
		tls->ca_file = path(r, cluster, "certificate-authority");
	tls->server_name = text(r, cluster, "tls-server-name");
	tls->insecure_skip_verify = kube_yaml_bool(&r->yaml, cluster, "insecure-skip-tls-verify");
	r->access->proxy_url = text(r, cluster, "proxy-url");
}

static void take_certificate(struct reader *r, const struct river_yaml_node *user)
{
	struct http_tls_options *tls = &r->access->tls;

	tls->cert_pem = pem(r, user, "client-certificate-data");
	if (!tls->cert_pem)
		tls->cert_file = path(r, user, "client-certificate");
	tls->key_pem = pem(r, user, "client-key-data");
	if (!tls->key_pem)
		tls->key_file = path(r, user, "client-key");
	bool cert = tls->cert_pem || tls->cert_file;
	bool key = tls->key_pem || tls->key_file;
	if (cert != key)
		kube_yaml_fail(&r->yaml, -EINVAL, user, "the user has a client %s without its %s",
			       cert ? "certificate" : "key", cert ? "key" : "certificate");
}

/* At most one way to be let in by a header: what would be asked for by a program is left alone where there is another. */
static void take_credentials(struct reader *r, const struct river_yaml_node *user)
{
	struct http_credentials *c = &r->access->credentials;

	c->bearer_token_file = path(r, user, "tokenFile");
	if (!c->bearer_token_file)
		c->bearer_token = text(r, user, "token");
	if (c->bearer_token_file || c->bearer_token)
		return;
	c->basic_username = text(r, user, "username");
	c->basic_password = text(r, user, "password");
}

static bool can_log_in(const struct kube_access *a)
{
	return a->credentials.bearer_token || a->credentials.bearer_token_file ||
	       a->credentials.basic_username || a->tls.cert_pem || a->tls.cert_file;
}

static void refuse_what_is_missing(struct reader *r, const struct river_yaml_node *user)
{
	const struct river_yaml_node *exec = kube_yaml_get(&r->yaml, user, "exec");
	const struct river_yaml_node *provider = kube_yaml_get(&r->yaml, user, "auth-provider");
	const struct river_yaml_node *as = kube_yaml_get(&r->yaml, user, "as");

	if (as)
		kube_yaml_fail(&r->yaml, -ENOTSUP, as, "to act \"as\" another user " INSTEAD);
	if (can_log_in(r->access))
		return;
	if (exec)
		kube_yaml_fail(&r->yaml, -ENOTSUP, exec,
			       "a user whose credentials a program makes (\"exec\") " INSTEAD);
	if (provider)
		kube_yaml_fail(&r->yaml, -ENOTSUP, provider,
			       "a user of an \"auth-provider\" " INSTEAD);
}

static void take_context(struct reader *r, const struct river_yaml_node *context)
{
	const char *cluster = kube_yaml_text(&r->yaml, context, "cluster");
	const char *user = kube_yaml_text(&r->yaml, context, "user");
	const struct river_yaml_node *its_user;

	r->access->own_namespace = text(r, context, "namespace");
	if (!cluster) {
		kube_yaml_fail(&r->yaml, -EINVAL, context, "the context has no \"cluster\"");
		return;
	}
	take_cluster(r, kube_yaml_named(&r->yaml, "clusters", cluster, "cluster"));
	if (!user)
		return;
	its_user = kube_yaml_named(&r->yaml, "users", user, "user");
	take_certificate(r, its_user);
	take_credentials(r, its_user);
	refuse_what_is_missing(r, its_user);
}

int kube_config_read(const char *bytes, size_t n, const char *its_path, struct buf *why,
		     struct kube_access *access)
{
	struct reader r = { .access = access };
	const struct river_yaml_node *root;
	const char *current;

	kube_yaml_open(&r.yaml, bytes, n, its_path, why);
	root = kube_yaml_root(&r.yaml);
	if (!root)
		kube_yaml_fail(&r.yaml, -EINVAL, NULL, "the kubeconfig is empty");
	current = kube_yaml_text(&r.yaml, root, "current-context");
	if (current)
		take_context(&r, kube_yaml_named(&r.yaml, "contexts", current, "context"));
	else
		kube_yaml_fail(
			&r.yaml, -EINVAL, NULL,
			"no current-context is set: kubectl config use-context NAME sets it");
	kube_yaml_close(&r.yaml);
	return r.yaml.error;
}
