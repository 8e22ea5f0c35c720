/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to the store that take a while. */
#include "agent/store/api/api_queue.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "agent/store/query/query.h"
#include "agent/util/macro.h"

struct api_queue {
	struct store *store;
	struct worker *worker;
	struct list waiting;
	size_t n_waiting;
	struct api_job *running; /* NULL: none */
	bool closing;
	bool starting;	  /* within start_next() */
	atomic_bool stop; /* for the one that runs */
};

void api_job_init(struct api_job *job)
{
	*job = (struct api_job){
		.deadline_ns = UINT64_MAX,
		.why = BUF_INIT(API_MAX_WHY_BYTES),
		.memory = { .max_bytes = QUERY_MAX_BYTES },
		.body = BUF_INIT(API_MAX_ANSWER_BYTES),
	};
	list_init(&job->node);
}

void api_job_fini(struct api_job *job)
{
	store_view_fini(&job->view);
	buf_fini(&job->why);
	buf_fini(&job->body);
}

static enum rpc_code fail(struct api_job *job, enum rpc_code code, const char *fmt, va_list ap)
{
	job->code = code;
	buf_reset(&job->why);
	(void)buf_vprintf(&job->why, fmt, ap);
	return code;
}

enum rpc_code api_job_fail(struct api_job *job, enum rpc_code code, const char *fmt, ...)
{
	va_list ap;

	assert(code != RPC_ok && code < RPC_CODE_MAX);
	va_start(ap, fmt);
	(void)fail(job, code, fmt, ap);
	va_end(ap);
	return code;
}

enum rpc_code api_job_refuse(struct api_job *job, enum store_request_refusal refusal,
			     const char *fmt, ...)
{
	va_list ap;

	assert(refusal != STORE_REQUEST_TAKEN && refusal < STORE_REQUEST_MAX);
	job->refusal = refusal;
	va_start(ap, fmt);
	(void)fail(job, RPC_resource_exhausted, fmt, ap);
	va_end(ap);
	return RPC_resource_exhausted;
}

enum rpc_code api_job_fail_errno(struct api_job *job, int error)
{
	assert(error < 0);
	if (error == -ENOBUFS || (error == -ENOMEM && job->memory.full))
		return api_job_refuse(job, STORE_REQUEST_QUERY,
				      "the answer is too large: ask for a shorter time or less");
	if (error == -ECANCELED)
		return api_job_fail(job, RPC_unavailable, "the store is closing");
	if (error == -ETIMEDOUT)
		return api_job_fail(job, RPC_resource_exhausted,
				    "a regular expression takes too long: make it simpler");
	return api_job_fail(job, RPC_resource_exhausted, "%s", strerrordesc_np(-error));
}

void api_job_answer(struct api_job *job, struct http_answer *answer)
{
	assert(!job->is_answered);
	if (job->code == RPC_ok && job->body.failed)
		(void)api_job_fail_errno(job, -ENOBUFS);
	answer->status = rpc_code_status(job->code);
	answer->retry_after = job->retry_after;
	job->is_answered = true;
	if (job->code == RPC_ok) {
		answer->content_type = job->content_type;
		buf_fini(&answer->body);
		answer->body = job->body;
		job->body = BUF_INIT(0);
		return;
	}
	answer->content_type = "application/json";
	(void)connect_put_error(&answer->body, job->code, buf_str(&job->why));
}

int api_queue_new(struct store *store, struct worker *worker, struct api_queue **ret_queue)
{
	struct api_queue *q = calloc(1, sizeof(*q));

	if (!q)
		return -ENOMEM;
	q->store = store;
	q->worker = worker;
	list_init(&q->waiting);
	*ret_queue = q;
	return 0;
}

static void end_job(struct api_queue *q, struct api_job *job)
{
	if (!job->is_answered)
		api_job_answer(job, http_later_answer(job->later));
	store_count_request(q->store, job->refusal);
	http_later_send(TAKE_PTR(job->later));
	job->free(job);
}

static void start_next(struct api_queue *q);

static void end_running(struct api_queue *q)
{
	struct api_job *job = q->running;

	assert(job);
	q->running = NULL;
	end_job(q, job);
	if (!q->closing)
		start_next(q);
}

static void submit(struct api_job *job, void (*run)(struct worker_job *job),
		   void (*done)(struct worker_job *job))
{
	job->worker_job = (struct worker_job){ .run = run, .done = done };
	if (worker_submit(job->queue->worker, &job->worker_job) == 0)
		return;
	(void)api_job_fail(job, RPC_unavailable, "the store is busy with its files");
	end_running(job->queue);
}

static void run_job(struct worker_job *worker_job)
{
	struct api_job *job = CONTAINER_OF(worker_job, struct api_job, worker_job);

	job->run(job);
	api_job_answer(job, http_later_answer(job->later));
	if (job->takes_gzip)
		http_answer_gzip(http_later_answer(job->later));
}

static void job_done(struct worker_job *worker_job)
{
	end_running(CONTAINER_OF(worker_job, struct api_job, worker_job)->queue);
}

static void on_view(struct store_view_request *wanted)
{
	struct api_job *job = CONTAINER_OF(wanted, struct api_job, wanted);

	assert(job->waits_for_view && job->queue->running == job);
	job->waits_for_view = false;
	job->view = wanted->view;
	if (wanted->result == 0) {
		submit(job, run_job, job_done);
		return;
	}
	(void)api_job_fail_errno(job, wanted->result);
	end_running(job->queue);
}

static void want_view(struct api_job *job)
{
	struct api_queue *q = job->queue;

	if (job->at_once) {
		job->at_once(job, q->store);
		end_running(q);
		return;
	}
	job->waits_for_view = true;
	job->wanted = (struct store_view_request){ .start_ms = job->start_ms,
						   .end_ms = job->end_ms,
						   .done = on_view };
	store_view_request(q->store, &job->wanted);
}

static void prepare_job(struct worker_job *worker_job)
{
	struct api_job *job = CONTAINER_OF(worker_job, struct api_job, worker_job);

	job->prepare(job);
}

static void job_prepared(struct worker_job *worker_job)
{
	struct api_job *job = CONTAINER_OF(worker_job, struct api_job, worker_job);

	if (job->code == RPC_ok && job->queue->closing)
		(void)api_job_fail_errno(job, -ECANCELED);
	if (job->code == RPC_ok)
		want_view(job);
	else
		end_running(job->queue);
}

static void start_job(struct api_queue *q, struct api_job *job)
{
	assert(!q->running);
	q->running = job;
	if (!http_later_is_awaited(job->later))
		(void)api_job_fail(job, RPC_canceled, "nobody waits for it");
	else if (clock_mono_ns() >= job->deadline_ns)
		(void)api_job_fail(job, RPC_deadline_exceeded, "its time was over before its turn");
	if (job->code != RPC_ok)
		end_running(q);
	else if (job->prepare)
		submit(job, prepare_job, job_prepared);
	else
		want_view(job);
}

/* What ends at once begins the next from within: that is for this loop. */
static void start_next(struct api_queue *q)
{
	if (q->starting)
		return;
	q->starting = true;
	while (!q->running && !list_empty(&q->waiting)) {
		struct api_job *job = LIST_ENTRY(q->waiting.next, struct api_job, node);

		list_remove(&job->node);
		q->n_waiting--;
		start_job(q, job);
	}
	q->starting = false;
}

/* Who keeps more may look at more. */
static size_t max_query_bytes(const struct store *store)
{
	struct store_stats stats;

	store_stats(store, &stats);
	return MAX_OF(QUERY_MAX_BYTES, stats.max_bytes);
}

void api_queue_put(struct api_queue *q, struct api_job *job, const struct http_call *call,
		   struct http_answer *answer)
{
	int r = 0;

	assert((job->run || job->at_once) && job->free && !job->later);
	if (q->n_waiting >= API_MAX_WAITING)
		(void)api_job_refuse(job, STORE_REQUEST_QUEUE, "%zu queries wait already",
				     q->n_waiting);
	else
		r = http_call_later(call, &job->later);
	if (r < 0)
		(void)api_job_fail_errno(job, r);
	if (!job->later) {
		job->retry_after = API_RETRY_AFTER;
		api_job_answer(job, answer);
		store_count_request(q->store, job->refusal);
		job->free(job);
		return;
	}
	job->queue = q;
	job->stop = &q->stop;
	job->memory.max_bytes = max_query_bytes(q->store);
	job->takes_gzip = http_call_takes_gzip(call);
	list_push_back(&q->waiting, &job->node);
	q->n_waiting++;
	start_next(q);
}

static bool is_running(const void *data)
{
	return ((const struct api_queue *)data)->running;
}

static void refuse_closing(struct api_queue *q, struct api_job *job)
{
	(void)api_job_fail_errno(job, -ECANCELED);
	end_job(q, job);
}

void api_queue_free(struct api_queue *q)
{
	if (!q)
		return;
	q->closing = true;
	atomic_store(&q->stop, true);
	if (q->running && q->running->waits_for_view) {
		list_remove(&q->running->wanted.node);
		refuse_closing(q, TAKE_PTR(q->running));
	}
	worker_drain_while(q->worker, is_running, q);
	LIST_FOREACH (&q->waiting, at) {
		list_remove(at);
		refuse_closing(q, LIST_ENTRY(at, struct api_job, node));
	}
	assert(!q->running && list_empty(&q->waiting));
	free(q);
}
