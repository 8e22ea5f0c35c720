/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of one kind, kept up to date: what is common to listing (kube_list.c) and watching (kube_stream.c), and what happens after
 * a failure.
 */
#include "agent/discovery/kube_watch_private.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "agent/http/retry_after.h"
#include "agent/util/clock.h"

static void go_on(struct kube_watch *w)
{
	if (w->next == KUBE_NEXT_LIST)
		kube_list_begin(w);
	else
		kube_stream_begin(w);
}

static void on_timer(void *data)
{
	struct kube_watch *w = data;

	if (w->status.state != KUBE_WATCHING)
		go_on(w);
	else if (w->opened)
		kube_watch_settle(w);
}

void kube_watch_hear(struct kube_watch *w)
{
	w->status.event_ns = clock_mono_ns();
}

void kube_watch_recover(struct kube_watch *w)
{
	bool was_failed = w->status.failed;

	w->status.failed = false;
	if (was_failed)
		w->o.ops->told(w->o.data);
}

void kube_watch_settle(struct kube_watch *w)
{
	w->n_failures = 0;
	kube_watch_recover(w);
}

static uint64_t next_random(struct kube_watch *w)
{
	w->random = w->random * 6364136223846793005ULL + 1442695040888963407ULL; /* Knuth's MMIX */
	return w->random >> 16;
}

/* A watch that worked and was cut: servers restart, and so do what is between them and us. What follows tells. */
static bool is_ordinary(const struct kube_watch *w)
{
	return w->n_failures == 1 && w->opened && w->next == KUBE_NEXT_WATCH;
}

uint64_t kube_watch_server_wait_ns(const struct http_result *result)
{
	uint64_t wait_ns = 0;

	(void)retry_after_parse(str_from(result->retry_after), clock_real_ns(), &wait_ns);
	return wait_ns;
}

void kube_watch_fail(struct kube_watch *w, enum kube_next next, uint64_t server_wait_ns)
{
	uint64_t wait;

	assert(!w->request);
	w->n_failures++;
	wait = retry_wait_ns(&w->o.timing.retry, w->n_failures, next_random(w), server_wait_ns);
	w->next = next;
	w->status.state = KUBE_WAITING;
	loop_timer_arm(w->timer, clock_mono_ns() + wait);
	if (is_ordinary(w))
		return;
	w->status.failed = true;
	w->o.ops->told(w->o.data);
}

void kube_watch_expire(struct kube_watch *w)
{
	assert(!w->request);
	buf_reset(&w->error);
	(void)buf_printf(&w->error, "the API server has forgotten version %s of %s (410)",
			 buf_str(&w->version), kube_resource_name(w->o.query.resource));
	if (w->n_failures > 0) {
		kube_watch_fail(w, KUBE_NEXT_LIST, 0);
		return;
	}
	w->n_failures++;
	w->next = KUBE_NEXT_LIST;
	w->status.state = KUBE_WAITING;
	loop_timer_arm(w->timer, clock_mono_ns());
}

bool kube_watch_answered(const struct http_result *result)
{
	return result->outcome == HTTP_DONE && result->status >= 200 && result->status < 300;
}

void kube_watch_describe_read_error(struct kube_watch *w, const char *what)
{
	const char *name = kube_resource_name(w->o.query.resource);

	if (w->read_error == -EMSGSIZE)
		(void)buf_printf(&w->error, "the %s of %s has an object larger than %zu bytes",
				 what, name, KUBE_MAX_OBJECT_BYTES);
	else
		(void)buf_printf(&w->error, "the %s of %s makes no sense: %s", what, name,
				 strerrordesc_np(-w->read_error));
}

int kube_watch_new(const struct kube_watch_options *options, struct kube_watch **ret_watch)
{
	_cleanup_(kube_watch_freep) struct kube_watch *w = calloc(1, sizeof(*w));
	int r;

	assert(options->api && options->ops);
	if (!w)
		return -ENOMEM;
	w->o = *options;
	json_items_init(&w->items, KUBE_MAX_OBJECT_BYTES);
	json_stream_init(&w->stream, KUBE_MAX_OBJECT_BYTES);
	buf_init(&w->version, KUBE_MAX_VERSION_BYTES);
	buf_init(&w->token, KUBE_MAX_TOKEN_BYTES);
	buf_init(&w->error, KUBE_WATCH_MAX_ERROR);
	(void)!getrandom(&w->random, sizeof(w->random), GRND_NONBLOCK);
	r = loop_timer_new(w->o.api->loop, on_timer, w, &w->timer);
	if (r < 0)
		return r;
	w->status.state = KUBE_LISTING;
	loop_timer_arm(w->timer, clock_mono_ns());
	*ret_watch = TAKE_PTR(w);
	return 0;
}

void kube_watch_free(struct kube_watch *w)
{
	if (!w)
		return;
	http_request_cancel(w->request);
	loop_timer_free(w->timer);
	json_items_fini(&w->items);
	json_stream_fini(&w->stream);
	buf_fini(&w->version);
	buf_fini(&w->token);
	buf_fini(&w->error);
	free(w);
}

struct kube_watch_status kube_watch_status(const struct kube_watch *w)
{
	struct kube_watch_status status = w->status;

	status.error = buf_str(&w->error);
	status.version = buf_str(&w->version);
	status.n_too_large = w->items.n_too_large + w->status.n_too_large;
	return status;
}
