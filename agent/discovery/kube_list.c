/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Listing: page after page, each object handed on as it comes; the last page makes the list whole.
 *
 * The first list may be as old as the server has it at hand, as that of other clients is: a cluster's agents that start together must not
 * all make its store be read. After that a watch has said what is newer, so only the newest will do.
 */
#include "agent/discovery/kube_watch_private.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "agent/discovery/kube_event.h"
#include "agent/discovery/kube_refusal.h"
#include "agent/http/url.h"
#include "agent/util/clock.h"

#define VERSION_AT_HAND "0"
#define VERSION_NEWEST ""

static void ask_page(struct kube_watch *w);

static int on_item(json_t *item, void *data)
{
	struct kube_watch *w = data;

	w->o.ops->listed(item, w->o.data);
	return 0;
}

static bool on_data(const char *bytes, size_t n, void *data)
{
	struct kube_watch *w = data;
	int r = json_items_feed(&w->items, bytes, n, on_item, w);

	if (r < 0)
		w->read_error = r;
	return r == 0;
}

static void fail(struct kube_watch *w, const struct http_result *result)
{
	buf_reset(&w->error);
	if (w->read_error < 0)
		kube_watch_describe_read_error(w, "list");
	else
		kube_refusal_describe(&w->o.query, "list", result, &w->error);
	kube_watch_fail(w, KUBE_NEXT_LIST, kube_watch_server_wait_ns(result));
}

static void take_list(struct kube_watch *w)
{
	w->status.known = true;
	kube_watch_hear(w);
	kube_watch_recover(w);
	w->o.ops->replace(w->o.data);
	kube_stream_begin(w);
}

/* What a page says about itself, kept. 0, or -errno: too long, or too many pages. */
static int keep(struct kube_watch *w, const struct kube_page *page)
{
	int r;

	buf_reset(&w->version);
	buf_reset(&w->token);
	w->n_pages++;
	r = buf_append_str(&w->version, page->version);
	if (r < 0)
		return r;
	r = buf_append_str(&w->token, page->next);
	if (r < 0)
		return r;
	if (w->token.len > 0 && w->n_pages >= KUBE_MAX_PAGES)
		return -E2BIG;
	return w->version.len == 0 ? -EBADMSG : 0;
}

static void take_page(struct kube_watch *w, const struct http_result *result)
{
	json_t *rest = NULL;
	int r = json_items_end(&w->items, &rest);

	if (r == 0) {
		struct kube_page page = kube_page_read(rest);

		r = keep(w, &page);
	}
	json_decref(rest);
	if (r < 0) {
		w->read_error = r;
		fail(w, result);
	} else if (w->token.len > 0) {
		ask_page(w);
	} else {
		take_list(w);
	}
}

static void on_done(const struct http_result *result, void *data)
{
	struct kube_watch *w = data;

	w->request = NULL;
	if (w->read_error == 0 && kube_watch_answered(result))
		take_page(w, result);
	else if (w->read_error == 0 && kube_refusal_is_gone(result))
		kube_watch_expire(w);
	else
		fail(w, result);
}

static int start(struct kube_watch *w, char *error)
{
	_cleanup_buf_ struct buf path = BUF_INIT(URL_MAX_BYTES);
	const char *version = w->status.known ? VERSION_NEWEST : VERSION_AT_HAND;
	int r = kube_query_list(&w->o.query, version, buf_str(&w->token), &path);
	struct kube_call call = {
		.path = buf_str(&path),
		.on_data = on_data,
		.idle_timeout_ns = w->o.timing.list_idle_timeout_ns,
		.timeout_ns = w->o.timing.list_timeout_ns,
	};

	if (r < 0) {
		(void)snprintf(error, HTTP_MAX_ERROR_BYTES,
			       "cannot list: the selectors are too long");
		return r;
	}
	return kube_api_get(w->o.api, &call, on_done, w, &w->request, error);
}

static void ask_page(struct kube_watch *w)
{
	char error[HTTP_MAX_ERROR_BYTES];

	assert(!w->request);
	json_items_reset(&w->items);
	w->read_error = 0;
	w->status.n_lists++;
	if (start(w, error) == 0)
		return;
	buf_reset(&w->error);
	(void)buf_printf(&w->error, "%.700s", error);
	kube_watch_fail(w, KUBE_NEXT_LIST, 0);
}

void kube_list_begin(struct kube_watch *w)
{
	assert(!w->request);
	w->status.state = KUBE_LISTING;
	w->n_pages = 0;
	w->opened = false;
	buf_reset(&w->token);
	w->o.ops->begin(w->o.data);
	ask_page(w);
}
