/* SPDX-License-Identifier: Apache-2.0 */
/* How the API server of Kubernetes is reached. */
#include "agent/discovery/kube_access.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "agent/discovery/kube_config.h"
#include "agent/http/url.h"
#include "agent/util/file.h"
#include "agent/util/str.h"

/* Clusters come with a certificate of some KiB each; thousands of them still fit. */
#define CONFIG_MAX_BYTES ((size_t)4 << 20)
#define TEXTS_MAX_BYTES ((size_t)8 << 20)
/* RFC 1123 §2.1: a label of a DNS name, which a namespace is. */
#define NAMESPACE_MAX_BYTES 63

#define OTHERWISE "; outside of a cluster set kubeconfig_file or api_server"

static int read_config(const char *path, struct buf *why, struct kube_access *access)
{
	_cleanup_buf_ struct buf text = BUF_INIT(CONFIG_MAX_BYTES);
	int r = file_read(AT_FDCWD, path, &text);

	if (r < 0) {
		(void)buf_printf(why, "cannot read the kubeconfig %s: %s", path,
				 strerrordesc_np(-r));
		return r;
	}
	return kube_config_read(buf_str(&text), text.len, path, why, access);
}

static const char *variable(const char *name, struct buf *why)
{
	const char *value = getenv(name);

	if (value && *value)
		return value;
	(void)buf_printf(why, "this is no pod of Kubernetes: %s is not set" OTHERWISE, name);
	return NULL;
}

static int find_server(struct buf *why, struct kube_access *access)
{
	const char *host = variable("KUBERNETES_SERVICE_HOST", why);
	const char *port = host ? variable("KUBERNETES_SERVICE_PORT", why) : NULL;
	_cleanup_buf_ struct buf server = BUF_INIT(URL_MAX_BYTES);
	struct url url;

	if (!port)
		return -ENOENT;
	int r = buf_printf(&server, strchr(host, ':') ? "https://[%s]:%s" : "https://%s:%s", host,
			   port);
	enum url_problem problem = url_parse(str_from(buf_str(&server)), &url);
	if (r < 0 || problem != URL_OK) {
		(void)buf_printf(why, "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT: %s",
				 url_problem_text(r < 0 ? URL_TOO_LONG : problem));
		return -EINVAL;
	}
	access->server = arena_strndup(&access->texts, server.data, server.len);
	return access->server ? 0 : -ENOMEM;
}

static const char *file_of(struct kube_access *access, const char *dir, const char *name)
{
	size_t n = strlen(dir);
	char *path = arena_alloc(&access->texts, n + 1 + strlen(name) + 1);

	if (!path)
		return NULL;
	memcpy(path, dir, n);
	path[n] = '/';
	memcpy(path + n + 1, name, strlen(name) + 1);
	return path;
}

/* It is read again with each request; now it is looked at alone. */
static int need_file(const char *path, const char *what, struct buf *why)
{
	if (!path)
		return -ENOMEM;
	if (access(path, R_OK) == 0)
		return 0;
	int r = -errno;
	(void)buf_printf(
		why,
		"the pod has no %s of a service account: %s: %s; set serviceAccountName and "
		"automountServiceAccountToken: true in its spec, or kubeconfig_file here",
		what, path, strerrordesc_np(-r));
	return r;
}

static int find_files(const char *dir, struct buf *why, struct kube_access *access)
{
	const char *token = file_of(access, dir, "token");
	const char *ca = file_of(access, dir, "ca.crt");
	int r = need_file(token, "token", why);

	if (r < 0)
		return r;
	r = need_file(ca, "certificate authority", why);
	if (r < 0)
		return r;
	access->credentials.bearer_token_file = token;
	access->tls.ca_file = ca;
	return 0;
}

/* Only who asks for the own namespace misses it. */
static int find_namespace(const char *dir, struct kube_access *access)
{
	_cleanup_buf_ struct buf text = BUF_INIT(NAMESPACE_MAX_BYTES + 1);
	const char *path = file_of(access, dir, "namespace");

	if (!path)
		return -ENOMEM;
	if (file_read(AT_FDCWD, path, &text) < 0)
		return 0;
	struct str name = str_trim((struct str){ buf_str(&text), text.len });
	if (name.n == 0)
		return 0;
	access->own_namespace = arena_strndup(&access->texts, name.p, name.n);
	return access->own_namespace ? 0 : -ENOMEM;
}

static int in_cluster(const char *dir, struct buf *why, struct kube_access *access)
{
	int r = find_server(why, access);

	if (r < 0)
		return r;
	r = find_files(dir, why, access);
	if (r < 0)
		return r;
	return find_namespace(dir, access);
}

int kube_access_find(const struct kube_access_options *o, struct buf *why,
		     struct kube_access *ret_access)
{
	const char *dir =
		o->service_account_dir ? o->service_account_dir : KUBE_SERVICE_ACCOUNT_DIR;
	struct kube_access access = { 0 };
	int r;

	arena_init(&access.texts, TEXTS_MAX_BYTES);
	r = o->kubeconfig_file && *o->kubeconfig_file
		    ? read_config(o->kubeconfig_file, why, &access)
		    : in_cluster(dir, why, &access);
	if (r < 0) {
		if (why->len == 0)
			(void)buf_append_str(why, strerrordesc_np(-r));
		kube_access_fini(&access);
		return r;
	}
	*ret_access = access;
	return 0;
}

void kube_access_fini(struct kube_access *access)
{
	arena_fini(&access->texts);
	*access = (struct kube_access){ 0 };
}
