/* SPDX-License-Identifier: Apache-2.0 */
/* One look at Docker's containers and networks. */
#include "agent/discovery/docker_list.h"

#include <errno.h>

#include "agent/util/clock.h"

#define CONTAINERS "/containers/json"
#define NETWORKS "/networks"
/* Far more than a URL may have: whoever asks tells that. */
#define PATH_MAX_BYTES ((size_t)1 << 20)
/* A daemon that starts a hundred containers at once takes seconds for a list. */
#define TIMEOUT_NS (30 * NS_PER_S)

void docker_list_init(struct docker_list *l, struct http_client *http, docker_list_fn fn,
		      void *data)
{
	*l = (struct docker_list){ .http = http, .fn = fn, .data = data };
}

static void forget(struct docker_list *l)
{
	json_decref(TAKE_PTR(l->containers));
	json_decref(TAKE_PTR(l->networks));
	*l->why = *l->networks_why = '\0';
	l->status = 0;
	l->work_ns = 0;
	l->networks_refused = false;
}

void docker_list_cancel(struct docker_list *l)
{
	http_request_cancel(TAKE_PTR(l->containers_request));
	http_request_cancel(TAKE_PTR(l->networks_request));
	forget(l);
}

bool docker_list_is_busy(const struct docker_list *l)
{
	return l->containers_request || l->networks_request;
}

static json_t *read_answer(struct docker_list *l, const struct http_result *result,
			   const char *question, char *why)
{
	uint64_t begin_ns = clock_mono_ns();
	json_t *json = docker_api_json(result, question, why);

	l->work_ns += clock_mono_ns() - begin_ns;
	return json;
}

static void on_containers(const struct http_result *result, void *data)
{
	struct docker_list *l = data;

	l->containers_request = NULL;
	l->status = result->status;
	l->containers = read_answer(l, result, "GET " CONTAINERS, l->why);
	if (!docker_list_is_busy(l))
		l->fn(l, l->data);
}

static void on_networks(const struct http_result *result, void *data)
{
	struct docker_list *l = data;

	l->networks_request = NULL;
	l->networks_refused = result->outcome == HTTP_DONE && result->status / 100 == 4;
	l->networks = read_answer(l, result, "GET " NETWORKS, l->networks_why);
	if (!docker_list_is_busy(l))
		l->fn(l, l->data);
}

static int containers_path(struct buf *out, const char *version, const char *filters)
{
	int r = buf_printf(out, "%s" CONTAINERS, version);

	if (r < 0 || !*filters)
		return r;
	r = buf_append_str(out, "?filters=");
	if (r < 0)
		return r;
	return docker_api_escape(out, filters);
}

static int ask_containers(struct docker_list *l, const struct docker_server *server,
			  const char *version, const char *filters)
{
	const struct http_request_options o = { .timeout_ns = TIMEOUT_NS };
	_cleanup_buf_ struct buf path = BUF_INIT(PATH_MAX_BYTES);
	int r = containers_path(&path, version, filters);

	if (r < 0) {
		(void)snprintf(l->why, sizeof(l->why),
			       "cannot ask Docker: the filters are too long");
		return r;
	}
	return docker_api_get(l->http, server, buf_str(&path), &o, on_containers, l, l->why,
			      &l->containers_request);
}

static int ask_networks(struct docker_list *l, const struct docker_server *server,
			const char *version)
{
	const struct http_request_options o = { .timeout_ns = TIMEOUT_NS };
	_cleanup_buf_ struct buf path = BUF_INIT(PATH_MAX_BYTES);
	int r = buf_printf(&path, "%s" NETWORKS, version);

	if (r < 0)
		return r;
	return docker_api_get(l->http, server, buf_str(&path), &o, on_networks, l, l->why,
			      &l->networks_request);
}

int docker_list_ask(struct docker_list *l, const struct docker_server *server, const char *version,
		    const char *filters)
{
	docker_list_cancel(l);
	int r = ask_containers(l, server, version, filters);
	if (r < 0)
		return r;
	r = ask_networks(l, server, version);
	if (r < 0)
		http_request_cancel(TAKE_PTR(l->containers_request));
	return r;
}
