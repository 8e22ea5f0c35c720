/* SPDX-License-Identifier: Apache-2.0 */
/* Pushes that come over HTTP. */
#include "agent/store/api/push_receive.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "agent/store/api/push.h"
#include "agent/store/ingest/ingest_inflate.h"
#include "agent/util/macro.h"

struct pushes {
	struct store *store;
	struct list waiting, reading;
	size_t n, n_held_bytes;
	bool starting;
	atomic_bool stop; /* for those that are read */
};

struct received_push {
	struct list node;
	struct pushes *pushes;
	struct push push;
	uint64_t peer;
	size_t n_held_bytes; /* of its message; before that is there, as it says itself */
};

int pushes_new(struct store *store, struct pushes **ret_pushes)
{
	struct pushes *all = calloc(1, sizeof(*all));

	if (!all)
		return -ENOMEM;
	all->store = store;
	list_init(&all->waiting);
	list_init(&all->reading);
	*ret_pushes = all;
	return 0;
}

/* A gzip member ends with its length (RFC 1952 2.3.1). It may be a lie: then it becomes true when the message is there. */
static size_t expected_bytes(const struct rpc_call *call)
{
	const uint8_t *bytes = (const uint8_t *)buf_str(&call->received);
	size_t n = call->received.len;

	if (call->is_gzip && n >= 4 && inflate_is_gzip(bytes, n))
		n = (size_t)bytes[n - 4] | (size_t)bytes[n - 3] << 8 | (size_t)bytes[n - 2] << 16 |
		    (size_t)bytes[n - 1] << 24;
	return MIN_OF(n, RPC_MAX_PUSH_BYTES);
}

static void send_answer(struct received_push *r)
{
	struct api_job *job = &r->push.call.job;

	assert(r->pushes->n > 0);
	api_job_answer(job, http_later_answer(job->later));
	store_count_request(r->pushes->store, job->refusal);
	http_later_send(TAKE_PTR(job->later));
	r->pushes->n--;
	push_fini(&r->push);
	free(r);
}

static void start_next(struct pushes *all);

static void hold(struct received_push *r, size_t n_bytes)
{
	r->pushes->n_held_bytes += n_bytes - r->n_held_bytes;
	r->n_held_bytes = n_bytes;
}

static void on_read(struct push *push)
{
	struct received_push *r = CONTAINER_OF(push, struct received_push, push);
	const struct proto_budget *budget = &push->call.budget;

	hold(r, push->call.request ? budget->max_bytes - budget->left_bytes : 0);
	start_next(r->pushes);
}

static void on_done(struct push *push)
{
	struct received_push *r = CONTAINER_OF(push, struct received_push, push);
	struct pushes *all = r->pushes;

	hold(r, 0);
	list_remove(&r->node);
	send_answer(r);
	start_next(all);
}

static enum rpc_code check_wanted(struct api_job *job)
{
	if (!http_later_is_awaited(job->later))
		return api_job_fail(job, RPC_canceled, "nobody waits for it");
	if (clock_mono_ns() >= job->deadline_ns)
		return api_job_fail(job, RPC_deadline_exceeded,
				    "its time was over before its turn");
	return RPC_ok;
}

/* The first of those that wait, if it fits. */
static bool start_first(struct pushes *all)
{
	struct received_push *r = LIST_ENTRY(all->waiting.next, struct received_push, node);
	size_t n_bytes = expected_bytes(&r->push.call);

	if (!list_empty(&all->reading) && all->n_held_bytes + n_bytes > PUSH_MAX_HELD_BYTES)
		return false;
	list_remove(&r->node);
	if (check_wanted(&r->push.call.job) != RPC_ok) {
		send_answer(r);
		return true;
	}
	list_push_back(&all->reading, &r->node);
	hold(r, n_bytes);
	push_begin(&r->push);
	return true;
}

static void start_next(struct pushes *all)
{
	if (all->starting)
		return;
	all->starting = true;
	while (!list_empty(&all->waiting) && start_first(all))
		;
	all->starting = false;
}

static size_t n_of_peer(const struct list *list, uint64_t peer)
{
	size_t n = 0;

	LIST_FOREACH (list, node)
		n += LIST_ENTRY(node, struct received_push, node)->peer == peer;
	return n;
}

static enum rpc_code check_room(const struct pushes *all, struct received_push *r)
{
	struct api_job *job = &r->push.call.job;
	size_t n_of_one = n_of_peer(&all->waiting, r->peer) + n_of_peer(&all->reading, r->peer);

	if (all->n >= PUSH_MAX_AT_ONCE)
		return api_job_refuse(job, STORE_REQUEST_QUEUE, "%zu pushes wait already", all->n);
	if (r->peer && n_of_one >= PUSH_MAX_OF_ONE_PEER)
		return api_job_refuse(job, STORE_REQUEST_QUEUE,
				      "%zu pushes of this address wait already", n_of_one);
	return RPC_ok;
}

static enum rpc_code receive(struct received_push *r, const struct http_call *call)
{
	struct api_job *job = &r->push.call.job;

	if (rpc_call_receive(&r->push.call, call) != RPC_ok)
		return job->code;
	if (check_room(r->pushes, r) != RPC_ok) {
		job->retry_after = API_RETRY_AFTER;
		return job->code;
	}
	int error = http_call_later(call, &job->later);
	return error < 0 ? api_job_fail_errno(job, error) : RPC_ok;
}

void push_handle(struct pushes *all, const struct http_call *call, struct http_answer *answer)
{
	enum connect_codec codec;

	if (!rpc_read_codec(call, answer, &codec))
		return;
	struct received_push *r = calloc(1, sizeof(*r));
	if (!r) {
		answer->body.failed = true;
		return;
	}
	r->pushes = all;
	r->peer = http_call_peer(call);
	push_init(&r->push, all->store, codec, &all->stop);
	r->push.read = on_read;
	r->push.done = on_done;
	if (receive(r, call) != RPC_ok) {
		api_job_answer(&r->push.call.job, answer);
		store_count_request(all->store, r->push.call.job.refusal);
		push_fini(&r->push);
		free(r);
		return;
	}
	all->n++;
	list_push_back(&all->waiting, &r->node);
	start_next(all);
}

void pushes_free(struct pushes *all)
{
	if (!all)
		return;
	atomic_store(&all->stop, true);
	LIST_FOREACH (&all->waiting, node) {
		struct received_push *r = LIST_ENTRY(node, struct received_push, node);

		(void)api_job_fail_errno(&r->push.call.job, -ECANCELED);
		list_remove(node);
		send_answer(r);
	}
	store_drain(all->store);
	assert(all->n == 0 && all->n_held_bytes == 0 && list_empty(&all->reading));
	free(all);
}
