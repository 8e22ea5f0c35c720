/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to the store that take a while. */
#include "agent/store/api_queue.h"

#include <errno.h>
#include <string.h>

#include "agent/util/macro.h"

struct api_queue {
	struct store *store;
	struct worker *worker;
	struct list waiting;
	size_t n_waiting;
	struct api_job *running; /* NULL: none */
	bool closing;
};

void api_job_init(struct api_job *job)
{
	*job = (struct api_job){
		.deadline_ns = UINT64_MAX,
		.why = BUF_INIT(API_MAX_WHY_BYTES),
		.body = BUF_INIT(HTTP_SERVER_MAX_ANSWER_BYTES),
	};
	list_init(&job->node);
}

void api_job_fini(struct api_job *job)
{
	store_view_fini(&job->view);
	buf_fini(&job->why);
	buf_fini(&job->body);
}

enum rpc_code api_job_fail(struct api_job *job, enum rpc_code code, const char *fmt, ...)
{
	va_list ap;

	job->code = code;
	buf_reset(&job->why);
	va_start(ap, fmt);
	(void)buf_vprintf(&job->why, fmt, ap);
	va_end(ap);
	return code;
}

enum rpc_code api_job_fail_errno(struct api_job *job, int error)
{
	if (error == -ENOBUFS)
		return api_job_fail(job, RPC_resource_exhausted,
				    "the answer is too large: ask for a shorter time or less");
	if (error == -ETIMEDOUT)
		return api_job_fail(job, RPC_resource_exhausted,
				    "a regular expression takes too long: make it simpler");
	return api_job_fail(job, RPC_resource_exhausted, "%s", strerrordesc_np(-error));
}

void api_job_answer(struct api_job *job, struct http_answer *answer)
{
	if (job->code == RPC_ok && job->body.failed)
		(void)api_job_fail_errno(job, -ENOBUFS);
	answer->status = rpc_code_status(job->code);
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

static void end_job(struct api_job *job)
{
	api_job_answer(job, http_later_answer(job->later));
	http_later_send(TAKE_PTR(job->later));
	job->free(job);
}

static void run_job(struct worker_job *worker_job)
{
	struct api_job *job = CONTAINER_OF(worker_job, struct api_job, worker_job);

	job->run(job);
}

static void start_next(struct api_queue *q);

static void job_done(struct worker_job *worker_job)
{
	struct api_job *job = CONTAINER_OF(worker_job, struct api_job, worker_job);
	struct api_queue *q = job->queue;

	q->running = NULL;
	end_job(job);
	if (!q->closing)
		start_next(q);
}

/* RPC_ok: the worker has it. */
static enum rpc_code start_job(struct api_queue *q, struct api_job *job)
{
	if (!http_later_is_awaited(job->later))
		return api_job_fail(job, RPC_canceled, "nobody waits for it");
	if (clock_mono_ns() >= job->deadline_ns)
		return api_job_fail(job, RPC_deadline_exceeded,
				    "its time was over before its turn");
	int r = store_view_take(q->store, job->start_ms, job->end_ms, &job->view);
	if (r < 0)
		return api_job_fail_errno(job, r);
	job->worker_job.run = run_job;
	job->worker_job.done = job_done;
	q->running = job;
	if (worker_submit(q->worker, &job->worker_job) == 0)
		return RPC_ok;
	q->running = NULL;
	return api_job_fail(job, RPC_unavailable, "the store is busy with its files");
}

static void start_next(struct api_queue *q)
{
	while (!q->running && !list_empty(&q->waiting)) {
		struct api_job *job = LIST_ENTRY(q->waiting.next, struct api_job, node);

		list_remove(&job->node);
		q->n_waiting--;
		if (start_job(q, job) != RPC_ok)
			end_job(job);
	}
}

void api_queue_put(struct api_queue *q, struct api_job *job, const struct http_call *call,
		   struct http_answer *answer)
{
	int r = 0;

	if (q->n_waiting >= API_MAX_WAITING)
		(void)api_job_fail(job, RPC_resource_exhausted, "%zu queries wait already",
				   q->n_waiting);
	else
		r = http_call_later(call, &job->later);
	if (r < 0)
		(void)api_job_fail_errno(job, r);
	if (!job->later) {
		api_job_answer(job, answer);
		job->free(job);
		return;
	}
	job->queue = q;
	list_push_back(&q->waiting, &job->node);
	q->n_waiting++;
	start_next(q);
}

static bool is_running(const void *data)
{
	return ((const struct api_queue *)data)->running;
}

void api_queue_free(struct api_queue *q)
{
	if (!q)
		return;
	q->closing = true;
	worker_drain_while(q->worker, is_running, q);
	LIST_FOREACH (&q->waiting, at) {
		struct api_job *job = LIST_ENTRY(at, struct api_job, node);

		(void)api_job_fail(job, RPC_unavailable, "the store is closing");
		list_remove(at);
		end_job(job);
	}
	free(q);
}
