/* SPDX-License-Identifier: Apache-2.0 */
/* A kubelet that answers, refuses, changes its mind and goes away. */
#include <fcntl.h>

#include "agent/discovery/kubelet.h"
#include "agent/http/server.h"
#include "agent/util/file.h"
#include "agent/util/str.h"
#include "tests/support/loop_while.h"
#include "tests/support/unit.h"

#define NEVER_NS (3600ULL * 1000000000)

#define POD(name, id)                                                                            \
	"{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"shop\"},\"spec\":{\"containers\":" \
	"[{\"name\":\"c\"}]},\"status\":{\"podIP\":\"10.0.0.1\",\"containerStatuses\":[{"        \
	"\"name\":\"c\",\"containerID\":\"containerd://" id "\"}]}}"
#define LIST(pods) "{\"kind\":\"PodList\",\"items\":[" pods "]}"

struct place {
	struct loop *loop;
	struct http_client *http;
	struct http_server *server;
	struct kubelet *kubelet;
	char url[64];
	/* The stand-in's. */
	unsigned int status;
	const char *body;
	unsigned int n_asked;
	char authorization[256];
	/* What the engine told last. */
	unsigned int n_told, n_changed;
	char problem[2048];
};

static void answer(const struct http_call *call, struct http_answer *ret, void *data)
{
	const char *authorization = http_call_header(call, "Authorization");
	struct place *p = data;

	p->n_asked++;
	(void)snprintf(p->authorization, sizeof(p->authorization), "%s",
		       authorization ? authorization : "");
	ret->status = p->status;
	ret->content_type = "application/json";
	(void)buf_append_str(&ret->body, p->body);
}

static void told(bool changed, const char *problem, void *data)
{
	struct place *p = data;

	p->n_told++;
	p->n_changed += changed;
	(void)snprintf(p->problem, sizeof(p->problem), "%s", problem ? problem : "");
}

static void set_up(struct place *p)
{
	struct http_server_options options = HTTP_SERVER_OPTIONS_INIT;
	char error[HTTP_SERVER_MAX_ERROR_BYTES];

	options.listen = "127.0.0.1:0";
	p->status = 200;
	p->body = LIST(POD("web", "1"));
	assert_int_equal(loop_new(&p->loop), 0);
	assert_int_equal(http_client_new(p->loop, &p->http), 0);
	assert_int_equal(http_server_new(p->loop, &options, &p->server, error), HTTP_LISTENING);
	assert_int_equal(http_server_add_route(p->server, &(struct http_route){ .method = "GET",
										.path = "/node/pods",
										.fn = answer,
										.data = p }),
			 0);
	(void)snprintf(p->url, sizeof(p->url), "http://127.0.0.1:%u/node/",
		       http_server_port(p->server));
}

static void tear_down(struct place *p)
{
	kubelet_free(p->kubelet);
	http_server_free(p->server);
	http_client_free(p->http);
	loop_free(p->loop);
}

FIXTURE(struct place, set_up, tear_down)

static struct kubelet *engine(struct place *p, uint64_t interval_ns,
			      const struct http_credentials *credentials)
{
	struct kubelet_options o = {
		.refresh_interval_ns = interval_ns,
		.request = { .url = p->url, .user_agent = "test" },
	};
	struct kubelet *k = NULL;

	if (credentials)
		o.credentials = *credentials;
	assert_int_equal(kubelet_new(p->loop, p->http, &o, told, p, &k), 0);
	return k;
}

static void wait_told(struct place *p, unsigned int n)
{
	LOOP_WHILE(p->loop, p->n_told < n);
	assert_true(p->n_told >= n);
}

static void ask(struct place *p)
{
	unsigned int n = p->n_told;

	kubelet_start(p->kubelet);
	wait_told(p, n + 1);
}

static void assert_targets(struct place *p, size_t n, const char *first_id)
{
	const struct target_list *list = kubelet_targets(p->kubelet);

	assert_int_equal(list->n, n);
	if (n > 0)
		assert_string_equal(
			labels_get(list->items[0], "__meta_kubernetes_pod_container_id"), first_id);
}

static void test_answer(void **state)
{
	struct place *p = *state;

	p->kubelet = engine(p, NEVER_NS, NULL);
	assert_targets(p, 0, NULL);
	ask(p);
	assert_string_equal(p->problem, "");
	assert_int_equal(p->n_changed, 1);
	assert_targets(p, 1, "containerd://1");
	assert_string_equal(p->authorization, "");
}

/* It has no watch: it is asked again and again. */
static void test_interval(void **state)
{
	struct place *p = *state;

	p->kubelet = engine(p, 1, NULL);
	kubelet_start(p->kubelet);
	wait_told(p, 2);
	assert_int_equal(p->n_changed, 1);
}

/* A pod that restarts has another container; one that is the same is no news. */
static void test_change(void **state)
{
	struct place *p = *state;

	p->kubelet = engine(p, NEVER_NS, NULL);
	ask(p);
	assert_int_equal(p->n_changed, 1);
	p->body = LIST(POD("web", "2") "," POD("db", "3"));
	ask(p);
	assert_int_equal(p->n_changed, 2);
	assert_targets(p, 2, "containerd://3");
	p->body = LIST(POD("db", "3") "," POD("web", "2"));
	ask(p);
	assert_int_equal(p->n_changed, 2);
	p->body = LIST("");
	ask(p);
	assert_int_equal(p->n_changed, 3);
	assert_targets(p, 0, NULL);
}

static void test_refusals_keep_targets(void **state)
{
	struct place *p = *state;

	p->kubelet = engine(p, NEVER_NS, NULL);
	ask(p);
	p->status = 401;
	p->body = "Unauthorized";
	ask(p);
	assert_non_null(strstr(p->problem, "(401)"));
	p->status = 403;
	ask(p);
	assert_non_null(strstr(p->problem, "nodes/proxy"));
	p->status = 200;
	p->body = "<html>";
	ask(p);
	assert_non_null(strstr(p->problem, "no list of pods"));
	/* Nobody reads the rest of this one. */
	p->body = LIST("1," POD("web", "2"));
	ask(p);
	assert_string_equal(p->problem, "the answer is no list of pods");
	assert_targets(p, 1, "containerd://1");
	assert_int_equal(p->n_changed, 1);
	p->body = LIST(POD("web", "9"));
	ask(p);
	assert_string_equal(p->problem, "");
	assert_targets(p, 1, "containerd://9");
}

static void test_nobody_there(void **state)
{
	struct place *p = *state;

	p->kubelet = engine(p, NEVER_NS, NULL);
	ask(p);
	http_server_free(TAKE_PTR(p->server));
	ask(p);
	assert_non_null(strstr(p->problem, "cannot connect"));
	assert_non_null(strstr(p->problem, "hostNetwork"));
	assert_targets(p, 1, "containerd://1");
}

static void put(const char *path, const char *text)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(file_write_fd(fd, text, strlen(text)), 0);
}

/* Kubernetes replaces a pod's token long before it ends. */
static void test_rotated_token(void **state)
{
	struct place *p = *state;
	char path[] = "/tmp/test_kubelet.XXXXXX";
	_cleanup_close_ int fd = mkstemp(path);

	assert_true(fd >= 0);
	put(path, "first\n");
	p->kubelet = engine(p, NEVER_NS, &(struct http_credentials){ .bearer_token_file = path });
	ask(p);
	assert_string_equal(p->authorization, "Bearer first");
	put(path, "second\n");
	ask(p);
	assert_string_equal(p->authorization, "Bearer second");
	assert_int_equal(unlink(path), 0);
	ask(p);
	assert_int_equal(p->n_asked, 2);
	assert_non_null(strstr(p->problem, path));
	assert_targets(p, 1, "containerd://1");
}

static void test_inherit(void **state)
{
	struct place *p = *state;

	p->kubelet = engine(p, NEVER_NS, NULL);
	ask(p);
	struct kubelet *next = engine(p, NEVER_NS, NULL);
	kubelet_inherit(next, p->kubelet);
	kubelet_free(p->kubelet);
	p->kubelet = next;
	assert_targets(p, 1, "containerd://1");
	ask(p);
	assert_int_equal(p->n_changed, 1);
}

/* One that is freed while it asks is not told. */
static void test_freed_while_asking(void **state)
{
	struct place *p = *state;

	p->kubelet = engine(p, NEVER_NS, NULL);
	kubelet_start(p->kubelet);
	kubelet_start(p->kubelet);
	kubelet_free(TAKE_PTR(p->kubelet));
	for (int i = 0; i < 10; i++)
		assert_true(loop_run_once(p->loop, 1) >= 0);
	assert_int_equal(p->n_told, 0);
}

static void test_bad_url(void **state)
{
	struct place *p = *state;
	struct kubelet_options o = { .request = { .url = "localhost:10250" } };
	struct kubelet *k = NULL;

	assert_int_equal(kubelet_new(p->loop, p->http, &o, told, p, &k), -EINVAL);
	assert_null(k);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_answer),
	FIXTURE_TEST(test_interval),
	FIXTURE_TEST(test_change),
	FIXTURE_TEST(test_refusals_keep_targets),
	FIXTURE_TEST(test_nobody_there),
	FIXTURE_TEST(test_rotated_token),
	FIXTURE_TEST(test_inherit),
	FIXTURE_TEST(test_freed_while_asking),
	FIXTURE_TEST(test_bad_url),
};

TEST_MAIN(tests)
