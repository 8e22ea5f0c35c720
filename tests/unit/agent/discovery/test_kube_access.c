/* SPDX-License-Identifier: Apache-2.0 */
/* Where the API server is, and who we are there: from a pod's files and variables, and from kubeconfigs. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/discovery/kube_access.h"
#include "agent/discovery/kube_config.h"
#include "agent/util/file.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unit.h"

#define WHY_MAX 4096
#define PEM "-----BEGIN CERTIFICATE-----\nQQ==\n"
#define PEM_BASE64 "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tClFRPT0K"

/* The kubeconfig around one cluster, user and context. */
#define CONFIG(cluster, user, context)                                                       \
	"apiVersion: v1\nkind: Config\ncurrent-context: here\n"                              \
	"contexts:\n- name: there\n  context: { cluster: none, user: none }\n- name: here\n" \
	"  context: { cluster: c, user: u" context " }\n"                                    \
	"clusters:\n- name: other\n  cluster: { server: 'http://wrong' }\n- name: c\n"       \
	"  cluster: { " cluster " }\n"                                                       \
	"users:\n- name: other\n  user: { token: wrong }\n- name: u\n  user: { " user " }\n"
#define SERVER "server: 'https://api:6443'"

struct row {
	const char *name, *text;
	const char *expected; /* what is set, in the order of the struct; or what is wrong */
	int error;
};

static const struct row rows[] = {
	{ "a token", CONFIG(SERVER, "token: secret", ", namespace: shop"),
	  "server=https://api:6443 token=secret namespace=shop", 0 },
	{ "as JSON",
	  "{\"current-context\":\"x\",\"contexts\":[{\"name\":\"x\",\"context\":{\"cluster\":\"c\","
	  "\"user\":\"u\"}}],\"clusters\":[{\"name\":\"c\",\"cluster\":{\"server\":\"http://a\"}}],"
	  "\"users\":[{\"name\":\"u\",\"user\":{\"token\":\"t\"}}]}",
	  "server=http://a token=t", 0 },
	{ "a path and slashes behind it",
	  CONFIG("server: 'https://rancher/k8s/clusters/c-1//'", "token: t", ""),
	  "server=https://rancher/k8s/clusters/c-1 token=t", 0 },
	{ "IPv6", CONFIG("server: 'https://[fd00::1]:6443'", "token: t", ""),
	  "server=https://[fd00::1]:6443 token=t", 0 },
	{ "everything of a cluster",
	  CONFIG(SERVER ", certificate-authority: /etc/ca, tls-server-name: kube, "
			"insecure-skip-tls-verify: true, proxy-url: 'http://proxy:3128'",
		 "token: t", ""),
	  "server=https://api:6443 token=t ca_file=/etc/ca server_name=kube insecure "
	  "proxy=http://proxy:3128",
	  0 },
	{ "relative paths begin at the file",
	  CONFIG(SERVER ", certificate-authority: pki/ca.crt",
		 "client-certificate: ../c.crt, client-key: c.key", ""),
	  "server=https://api:6443 ca_file=/home/me/.kube/pki/ca.crt "
	  "cert_file=/home/me/.kube/../c.crt key_file=/home/me/.kube/c.key",
	  0 },
	{ "data go before files",
	  CONFIG(SERVER ", certificate-authority: x, certificate-authority-data: " PEM_BASE64,
		 "client-certificate: x, client-certificate-data: " PEM_BASE64
		 ", client-key: x, client-key-data: " PEM_BASE64,
		 ""),
	  "server=https://api:6443 ca=" PEM " cert=" PEM " key=" PEM, 0 },
	{ "data of several lines",
	  CONFIG(SERVER ", certificate-authority-data: \"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t\\n"
			"ClFRPT0K\\n\"",
		 "token: t", ""),
	  "server=https://api:6443 token=t ca=" PEM, 0 },
	{ "a token's file goes before the token",
	  CONFIG(SERVER, "token: old, tokenFile: /run/token", ""),
	  "server=https://api:6443 token_file=/run/token", 0 },
	{ "name and password", CONFIG(SERVER, "username: me, password: p w", ""),
	  "server=https://api:6443 user=me password=p w", 0 },
	{ "nobody", CONFIG(SERVER, "", ""), "server=https://api:6443", 0 },
	{ "null is not set",
	  CONFIG(SERVER ", certificate-authority: null, proxy-url: ~", "token: t, exec: null", ""),
	  "server=https://api:6443 token=t", 0 },
	{ "a token makes the program needless",
	  CONFIG(SERVER, "token: t, exec: { command: aws }", ""), "server=https://api:6443 token=t",
	  0 },
	{ "anchors",
	  "a: &a { server: 'https://a' }\ncurrent-context: x\ncontexts: [{ name: x, "
	  "context: { cluster: c } }]\nclusters: [{ name: c, cluster: *a }]\n",
	  "server=https://a", 0 },

	{ "empty", "", "/home/me/.kube/config: the kubeconfig is empty", -EINVAL },
	{ "a text alone", "hello",
	  "/home/me/.kube/config:1: a mapping with the key \"current-context\" is expected",
	  -EINVAL },
	{ "broken", "a: b\nc: [\n",
	  "/home/me/.kube/config:3: this is not YAML: did not find expected node content",
	  -EINVAL },
	{ "no current-context", "clusters: []\n",
	  "/home/me/.kube/config: no current-context is set: kubectl config use-context NAME "
	  "sets it",
	  -EINVAL },
	{ "no such context", "current-context: x\ncontexts:\n- name: y\n",
	  "/home/me/.kube/config:3: there is no context named \"x\" in \"contexts\"", -ENOENT },
	{ "no contexts", "current-context: x\n",
	  "/home/me/.kube/config: there is no context named \"x\" in \"contexts\"", -ENOENT },
	{ "contexts are no list", "current-context: x\ncontexts: { x: {} }\n",
	  "/home/me/.kube/config:2: \"contexts\" must be a list", -EINVAL },
	{ "a context that is a text", "current-context: x\ncontexts:\n- x\n",
	  "/home/me/.kube/config:3: a mapping with the key \"name\" is expected", -EINVAL },
	{ "a context without a cluster",
	  "current-context: x\ncontexts:\n- name: x\n  context: { user: u }\n",
	  "/home/me/.kube/config:4: the context has no \"cluster\"", -EINVAL },
	{ "no such cluster",
	  "current-context: x\ncontexts:\n- { name: x, context: { cluster: c } }\n"
	  "clusters: [ { name: d } ]\n",
	  "/home/me/.kube/config:4: there is no cluster named \"c\" in \"clusters\"", -ENOENT },
	{ "no such user",
	  "current-context: x\ncontexts:\n- { name: x, context: { cluster: c, user: u } }\n"
	  "clusters: [ { name: c, cluster: { server: 'http://a' } } ]\nusers: []\n",
	  "/home/me/.kube/config:5: there is no user named \"u\" in \"users\"", -ENOENT },
	{ "no server", CONFIG("proxy-url: x", "", ""),
	  "/home/me/.kube/config:13: the cluster has no \"server\"", -EINVAL },
	{ "a server without a scheme", CONFIG("server: 'api:6443'", "", ""),
	  "/home/me/.kube/config:13: \"server\": ", -EINVAL },
	{ "a list for a text", CONFIG(SERVER, "token: [ t ]", ""),
	  "/home/me/.kube/config:18: \"token\" must be a text", -EINVAL },
	{ "a NUL in a text", CONFIG(SERVER, "token: \"a\\0b\"", ""),
	  "/home/me/.kube/config:18: \"token\" has a NUL character", -EINVAL },
	{ "neither true nor false", CONFIG(SERVER ", insecure-skip-tls-verify: maybe", "", ""),
	  "/home/me/.kube/config:13: \"insecure-skip-tls-verify\" must be true or false", -EINVAL },
	{ "no base64", CONFIG(SERVER ", certificate-authority-data: '***'", "", ""),
	  "/home/me/.kube/config:13: \"certificate-authority-data\" is not base64", -EINVAL },
	{ "no PEM", CONFIG(SERVER ", certificate-authority-data: aGVsbG8=", "", ""),
	  "/home/me/.kube/config:13: \"certificate-authority-data\" holds no PEM text", -EINVAL },
	{ "a certificate without its key", CONFIG(SERVER, "client-certificate: c", ""),
	  "/home/me/.kube/config:18: the user has a client certificate without its key", -EINVAL },
	{ "a key without its certificate", CONFIG(SERVER, "client-key: c", ""),
	  "/home/me/.kube/config:18: the user has a client key without its certificate", -EINVAL },
	{ "a program makes the credentials", CONFIG(SERVER, "exec: { command: aws }", ""),
	  "/home/me/.kube/config:18: a user whose credentials a program makes (\"exec\") is not "
	  "supported: give the user a token (kubectl create token NAME), a tokenFile or a client "
	  "certificate",
	  -ENOTSUP },
	{ "a provider makes the credentials", CONFIG(SERVER, "auth-provider: { name: gcp }", ""),
	  "/home/me/.kube/config:18: a user of an \"auth-provider\" is not supported: ", -ENOTSUP },
	{ "as another user", CONFIG(SERVER, "token: t, as: admin", ""),
	  "/home/me/.kube/config:18: to act \"as\" another user is not supported: ", -ENOTSUP },
};

static void say(struct buf *out, const char *name, const char *value)
{
	if (value)
		assert_int_equal(buf_printf(out, "%s%s%s", out->len ? " " : "", name, value), 0);
}

static void print(const struct kube_access *a, struct buf *out)
{
	say(out, "server=", a->server);
	say(out, "token=", a->credentials.bearer_token);
	say(out, "token_file=", a->credentials.bearer_token_file);
	say(out, "user=", a->credentials.basic_username);
	say(out, "password=", a->credentials.basic_password);
	say(out, "ca=", a->tls.ca_pem);
	say(out, "ca_file=", a->tls.ca_file);
	say(out, "cert=", a->tls.cert_pem);
	say(out, "cert_file=", a->tls.cert_file);
	say(out, "key=", a->tls.key_pem);
	say(out, "key_file=", a->tls.key_file);
	say(out, "server_name=", a->tls.server_name);
	say(out, "insecure", a->tls.insecure_skip_verify ? "" : NULL);
	say(out, "proxy=", a->proxy_url);
	say(out, "namespace=", a->own_namespace);
}

/* A message that ends in ": " is the beginning of one. */
static void assert_message(const char *text, const char *expected)
{
	size_t n = strlen(expected);

	if (n > 2 && strcmp(expected + n - 2, ": ") == 0)
		assert_true(strncmp(text, expected, n) == 0 && strlen(text) > n);
	else
		assert_string_equal(text, expected);
}

static void test_row(void **state)
{
	const struct row *row = *state;
	_cleanup_buf_ struct buf why = BUF_INIT(WHY_MAX);
	_cleanup_buf_ struct buf found = BUF_INIT(WHY_MAX);
	struct kube_access a = { 0 };

	arena_init(&a.texts, 1 << 20);
	int r = kube_config_read(row->text, strlen(row->text), "/home/me/.kube/config", &why, &a);
	if (r == 0)
		print(&a, &found);
	kube_access_fini(&a);
	assert_message(r < 0 ? buf_str(&why) : buf_str(&found), row->expected);
	assert_int_equal(r, row->error);
	assert_null(strchr(buf_str(&why), '\n'));
}

/* A directory like the one a pod finds its service account in; also for kubeconfigs. */
struct place {
	char dir[64];
};

static void set_up(struct place *p)
{
	temp_dir_make(p->dir);
	(void)setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1", 1);
	(void)setenv("KUBERNETES_SERVICE_PORT", "443", 1);
}

static void tear_down(struct place *p)
{
	(void)unsetenv("KUBERNETES_SERVICE_HOST");
	(void)unsetenv("KUBERNETES_SERVICE_PORT");
	assert_int_equal(temp_dir_remove(p->dir), 0);
}

FIXTURE(struct place, set_up, tear_down)

static void put(const struct place *p, const char *name, const char *text)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/%s", p->dir, name);
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(file_write_fd(fd, text, strlen(text)), 0);
}

static int find(const struct place *p, const char *config, struct buf *text)
{
	char path[256] = "";
	struct kube_access_options o = { .kubeconfig_file = path, .service_account_dir = p->dir };
	struct kube_access a;

	if (config)
		(void)snprintf(path, sizeof(path), "%s/%s", p->dir, config);
	int r = kube_access_find(&o, text, &a);
	if (r == 0) {
		assert_int_equal(text->len, 0);
		print(&a, text);
		kube_access_fini(&a);
	}
	return r;
}

/* '@' stands for the place. */
static void assert_found(const struct place *p, const char *config, const char *pattern)
{
	_cleanup_buf_ struct buf text = BUF_INIT(WHY_MAX);
	_cleanup_buf_ struct buf expected = BUF_INIT(WHY_MAX);

	for (; *pattern; pattern++)
		if (*pattern == '@')
			assert_int_equal(buf_append_str(&expected, p->dir), 0);
		else
			assert_int_equal(buf_append_char(&expected, *pattern), 0);
	assert_int_equal(find(p, config, &text), 0);
	assert_string_equal(buf_str(&text), buf_str(&expected));
}

static void assert_missing(const struct place *p, const char *config, int error, const char *part)
{
	_cleanup_buf_ struct buf text = BUF_INIT(WHY_MAX);

	assert_int_equal(find(p, config, &text), error);
	if (!strstr(buf_str(&text), part))
		fail_msg("\"%s\" does not say \"%s\"", buf_str(&text), part);
	assert_null(strchr(buf_str(&text), '\n'));
}

static void test_in_cluster(void **state)
{
	const struct place *p = *state;

	put(p, "token", "t\n");
	put(p, "ca.crt", PEM);
	put(p, "namespace", "shop\n");
	assert_found(p, NULL,
		     "server=https://10.96.0.1:443 token_file=@/token ca_file=@/ca.crt "
		     "namespace=shop");
	(void)setenv("KUBERNETES_SERVICE_HOST", "fd00::1", 1);
	assert_found(p, NULL,
		     "server=https://[fd00::1]:443 token_file=@/token ca_file=@/ca.crt "
		     "namespace=shop");
}

static void test_in_cluster_without_namespace(void **state)
{
	const struct place *p = *state;

	put(p, "token", "t");
	put(p, "ca.crt", PEM);
	assert_found(p, NULL, "server=https://10.96.0.1:443 token_file=@/token ca_file=@/ca.crt");
	put(p, "namespace", "\n");
	assert_found(p, NULL, "server=https://10.96.0.1:443 token_file=@/token ca_file=@/ca.crt");
}

static void test_missing_variables(void **state)
{
	const struct place *p = *state;

	(void)unsetenv("KUBERNETES_SERVICE_PORT");
	assert_missing(p, NULL, -ENOENT, "KUBERNETES_SERVICE_PORT is not set");
	(void)setenv("KUBERNETES_SERVICE_PORT", "https", 1);
	assert_missing(p, NULL, -EINVAL, "KUBERNETES_SERVICE_PORT: ");
	(void)setenv("KUBERNETES_SERVICE_HOST", "", 1);
	assert_missing(p, NULL, -ENOENT,
		       "KUBERNETES_SERVICE_HOST is not set; outside of a cluster set "
		       "kubeconfig_file or api_server");
}

static void test_missing_files(void **state)
{
	const struct place *p = *state;

	assert_missing(p, NULL, -ENOENT, "/token: No such file or directory; set serviceAccount");
	put(p, "token", "t");
	assert_missing(p, NULL, -ENOENT, "/ca.crt: No such file or directory; set serviceAccount");
}

static void test_kubeconfig_file(void **state)
{
	const struct place *p = *state;

	put(p, "config", CONFIG(SERVER ", certificate-authority: ca", "tokenFile: t", ""));
	assert_found(p, "config", "server=https://api:6443 token_file=@/t ca_file=@/ca");
	assert_missing(p, "none", -ENOENT, "cannot read the kubeconfig /tmp/");
	assert_missing(p, ".", -EISDIR, "/.: Is a directory");
	put(p, "config", "a: [");
	assert_missing(p, "config", -EINVAL, "/config:");
}

static void test_kubeconfig_too_large(void **state)
{
	const struct place *p = *state;
	size_t n = ((size_t)4 << 20) + 1;
	_cleanup_free_ char *text = calloc(1, n + 1);

	assert_non_null(text);
	memset(text, '#', n);
	put(p, "config", text);
	assert_missing(p, "config", -ENOBUFS, "cannot read the kubeconfig /tmp/");
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_in_cluster),
	FIXTURE_TEST(test_in_cluster_without_namespace),
	FIXTURE_TEST(test_missing_variables),
	FIXTURE_TEST(test_missing_files),
	FIXTURE_TEST(test_kubeconfig_file),
	FIXTURE_TEST(test_kubeconfig_too_large),
	TEST_ROWS(test_row, rows, name),
};

TEST_MAIN(tests)
