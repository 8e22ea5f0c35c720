/* SPDX-License-Identifier: Apache-2.0 */
/* The pods of one node. */
#include "agent/discovery/kubelet.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/discovery/kubelet_refusal.h"
#include "agent/http/url.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

#define PROBLEM_MAX_BYTES (2 * HTTP_MAX_ERROR_BYTES)

struct kubelet {
	struct http_client *http;
	struct kubelet_options options;
	struct buf url;
	struct http_oauth2 *tokens;
	struct http_request *request; /* NULL: none is under way */
	struct loop_timer *timer;
	struct kubelet_pods *pods;
	struct target_list targets;
	kubelet_fn fn;
	void *data;
};

/* True when the targets are others now. */
static bool take(struct kubelet *k, struct target_list *list)
{
	struct target_list old = k->targets;

	if (target_list_equal(list, &old))
		return false;
	k->targets = *list;
	*list = old;
	return true;
}

static bool on_data(const char *bytes, size_t n, void *data)
{
	struct kubelet *k = data;

	return kubelet_pods_feed(k->pods, bytes, n) == 0;
}

static void on_done(const struct http_result *result, void *data)
{
	_cleanup_buf_ struct buf why = BUF_INIT(PROBLEM_MAX_BYTES);
	_cleanup_target_list_ struct target_list list = { 0 };
	struct kubelet *k = data;
	bool changed = false;

	k->request = NULL;
	/* Who stopped it knows why. */
	if (result->outcome != HTTP_STOPPED)
		kubelet_refusal_describe(result, &k->options.credentials, &why);
	if (why.len == 0 && kubelet_pods_end(k->pods, &why, &list) == 0)
		changed = take(k, &list);
	k->fn(changed, why.len > 0 ? buf_str(&why) : NULL, k->data);
}

static int ask(struct kubelet *k, char *error)
{
	struct http_request_options o = k->options.request;
	_cleanup_(http_secrets_fini) struct http_secrets secrets = HTTP_SECRETS_INIT;

	o.url = buf_str(&k->url);
	o.oauth2 = k->tokens;
	o.timeout_ns = KUBELET_TIMEOUT_NS;
	o.on_data = on_data;
	kubelet_pods_begin(k->pods);
	int r = http_secrets_read(&k->options.credentials, &secrets, &o, error);
	if (r < 0)
		return r;
	return http_request_start(k->http, &o, on_done, k, &k->request);
}

static void on_timer(void *data)
{
	char error[HTTP_MAX_ERROR_BYTES] = "";
	struct kubelet *k = data;
	int r = 0;

	loop_timer_arm(k->timer, clock_mono_ns() + MAX_OF(k->options.refresh_interval_ns,
							  KUBELET_MIN_INTERVAL_NS));
	if (!k->request)
		r = ask(k, error);
	if (r < 0 && !*error)
		(void)snprintf(error, sizeof(error), "cannot make the request: %s",
			       strerrordesc_np(-r));
	if (r < 0)
		k->fn(false, error, k->data);
}

void kubelet_start(struct kubelet *k)
{
	on_timer(k);
}

static int make_url(struct kubelet *k)
{
	struct url url;

	buf_init(&k->url, URL_MAX_BYTES + sizeof("/pods"));
	if (url_parse(str_from(k->options.request.url), &url) != URL_OK)
		return -EINVAL;
	return url_join(&k->url, &url, "/pods");
}

static int open_tokens(struct kubelet *k, struct loop *loop)
{
	struct http_oauth2_options o;

	if (!k->options.oauth2)
		return 0;
	o = *k->options.oauth2;
	o.user_agent = k->options.request.user_agent;
	o.timeout_ns = KUBELET_TIMEOUT_NS;
	return http_oauth2_new(loop, k->http, &o, &k->tokens);
}

int kubelet_new(struct loop *loop, struct http_client *http, const struct kubelet_options *options,
		kubelet_fn fn, void *data, struct kubelet **ret_kubelet)
{
	_cleanup_(kubelet_freep) struct kubelet *k = calloc(1, sizeof(*k));

	assert(fn);
	if (!k)
		return -ENOMEM;
	k->http = http;
	k->options = *options;
	k->fn = fn;
	k->data = data;
	int r = make_url(k);
	if (r < 0)
		return r;
	r = kubelet_pods_new(&k->options.namespaces, &k->pods);
	if (r < 0)
		return r;
	r = loop_timer_new(loop, on_timer, k, &k->timer);
	if (r < 0)
		return r;
	r = open_tokens(k, loop);
	if (r < 0)
		return r;
	*ret_kubelet = TAKE_PTR(k);
	return 0;
}

void kubelet_free(struct kubelet *k)
{
	if (!k)
		return;
	http_request_cancel(k->request);
	http_oauth2_free(k->tokens);
	loop_timer_free(k->timer);
	kubelet_pods_free(k->pods);
	target_list_fini(&k->targets);
	buf_fini(&k->url);
	free(k);
}

const struct target_list *kubelet_targets(const struct kubelet *k)
{
	return &k->targets;
}

void kubelet_inherit(struct kubelet *k, struct kubelet *from)
{
	target_list_fini(&k->targets);
	k->targets = from->targets;
	from->targets = (struct target_list){ 0 };
}
