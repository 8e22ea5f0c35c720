/* SPDX-License-Identifier: Apache-2.0 */
/* An endpoint begins and ends. */
#include <errno.h>
#include <stdlib.h>

#include "agent/http/url.h"
#include "agent/push/endpoint_private.h"
#include "agent/util/log.h"
#include "agent/util/macro.h"

static int endpoint_make_url(struct push_endpoint *e)
{
	_cleanup_buf_ struct buf joined = BUF_INIT(2 * URL_MAX_BYTES);
	struct url url;

	if (url_parse(str_from(e->options.url), &url) != URL_OK)
		return -EINVAL;
	int r = url_join(&joined, &url, e->ctx->protocol->path);
	if (r < 0)
		return r;
	e->target_url = buf_take(&joined);
	return e->target_url ? 0 : -ENOMEM;
}

static void endpoint_warn_about_headers(const struct push_endpoint *e,
					const struct http_header *headers, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (push_header_is_ours(e->ctx->protocol, headers[i].name))
			log_warn("header is set by xagent, the configured value is not used",
				 LOG_STR("header", headers[i].name));
}

static int endpoint_make_token_source(struct push_endpoint *e,
				      const struct http_oauth2_options *options)
{
	if (!options)
		return 0;
	struct http_oauth2_options o = *options;
	o.user_agent = e->ctx->user_agent;
	o.timeout_ns = e->options.remote_timeout_ns;
	return http_oauth2_new(e->ctx->loop, e->ctx->http, &o, &e->options.token_source);
}

static int endpoint_init(struct push_endpoint *e, const struct push_endpoint_options *options)
{
	int r = push_endpoint_options_copy(options, &e->options);

	if (r == 0)
		r = endpoint_make_url(e);
	if (r == 0)
		r = endpoint_make_token_source(e, options->oauth2);
	if (r == 0)
		r = loop_timer_new(e->ctx->loop, endpoint_on_timer, e, &e->timer);
	if (r < 0)
		return r;
	push_metrics_init(&e->metrics, e->ctx->telemetry, e->options.url, e->ctx->component_path,
			  e->ctx->component_id);
	r = e->options.spool_path ? endpoint_spool_new(e) : 0;
	if (r < 0)
		return r;
	endpoint_warn_about_headers(e, e->options.headers, e->options.n_headers);
	endpoint_warn_about_headers(e, e->options.http_headers, e->options.n_http_headers);
	return 0;
}

int push_endpoint_new(struct push_context *ctx, const struct push_endpoint_options *options,
		      struct push_endpoint **ret_endpoint)
{
	_cleanup_(push_endpoint_freep) struct push_endpoint *e = calloc(1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	e->ctx = ctx;
	list_init(&e->flights);
	push_queue_init(&e->queue, ctx->max_queue_items, ctx->max_queue_bytes);
	for (size_t i = 0; i < ARRAY_SIZE(e->refusals); i++)
		e->refusals[i] =
			(struct ratelimit){ .interval_ns = ctx->log_interval_ns, .burst = 1 };
	int r = endpoint_init(e, options);
	if (r < 0)
		return r;
	*ret_endpoint = TAKE_PTR(e);
	return 0;
}

void push_endpoint_free(struct push_endpoint *e)
{
	if (!e)
		return;
	if (e->metrics.sent_bytes)
		push_endpoint_give_up(e);
	spool_free(e->spool);
	push_queue_fini(&e->queue);
	loop_timer_free(e->timer);
	free(e->target_url);
	http_oauth2_free(e->options.token_source);
	push_endpoint_options_fini(&e->options);
	free(e);
}
