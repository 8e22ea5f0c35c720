/* SPDX-License-Identifier: Apache-2.0 */
/* Answers that are made on a thread of their own. */
#include "agent/http/answer_queue.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "agent/http/refusal.h"
#include "agent/util/macro.h"

struct answer_queue {
	struct worker *worker;
	struct loop_timer *turn; /* of the loop: the next piece */
	struct list waiting;
	size_t n_waiting;
	struct answer_job *running; /* NULL: none */
	bool is_making;		    /* it is with the worker */
	struct http_counts counts;
	atomic_bool stop;
};

static void on_turn(void *data);

int answer_queue_new(struct loop *loop, struct telemetry *telemetry, struct answer_queue **ret_queue)
{
	_cleanup_(answer_queue_freep) struct answer_queue *q = calloc(1, sizeof(*q));

	if (!q)
		return -ENOMEM;
	list_init(&q->waiting);
	http_counts_init(&q->counts, telemetry);
	int r = loop_timer_new(loop, on_turn, q, &q->turn);
	if (r == 0)
		r = worker_new(loop, 1, &q->worker);
	if (r < 0)
		return r;
	*ret_queue = TAKE_PTR(q);
	return 0;
}

/* Whatever was in it before, compressed perhaps. */
static void refuse(struct http_answer *answer, const char *text)
{
	answer->status = 503;
	answer->content_type = "text/plain; charset=utf-8";
	answer->location = NULL;
	answer->n_headers = 0;
	answer->is_gzip = false;
	answer->retry_after = "1";
	buf_reset(&answer->body);
	(void)buf_append_str(&answer->body, text);
}

static void end_job(struct answer_job *job)
{
	http_later_send(TAKE_PTR(job->later));
	job->free(job);
}

/* From a callback of the loop, so that nothing of this runs within a handler. */
static void go_on_soon(struct answer_queue *q)
{
	if (!q->is_making && (q->running || q->n_waiting > 0))
		loop_timer_arm(q->turn, 0);
}

static void job_run(struct worker_job *worker_job)
{
	struct answer_job *job = CONTAINER_OF(worker_job, struct answer_job, worker_job);
	struct http_answer *answer = http_later_answer(job->later);

	assert(!answer->is_gzip);
	job->make(job, answer);
	if (job->takes_gzip && !answer->is_gzip)
		http_answer_gzip(answer);
}

static void job_done(struct worker_job *worker_job)
{
	struct answer_job *job = CONTAINER_OF(worker_job, struct answer_job, worker_job);

	job->queue->is_making = false;
	go_on_soon(job->queue);
}

static void take_next(struct answer_queue *q)
{
	while (!q->running && q->n_waiting > 0) {
		struct answer_job *job = LIST_ENTRY(q->waiting.next, struct answer_job, node);

		list_remove(&job->node);
		q->n_waiting--;
		if (http_later_is_awaited(job->later))
			q->running = job;
		else
			end_job(job);
	}
}

static void on_turn(void *data)
{
	struct answer_queue *q = data;

	take_next(q);
	struct answer_job *job = q->running;
	if (!job)
		return;
	switch (job->look(job, http_later_answer(job->later))) {
	case ANSWER_LOOK:
		go_on_soon(q);
		return;
	case ANSWER_MAKE:
		/* It takes one at a time, and there is none. */
		q->is_making = true;
		job->worker_job = (struct worker_job){ .run = job_run, .done = job_done };
		(void)worker_submit(q->worker, &job->worker_job);
		return;
	case ANSWER_SEND:
		q->running = NULL;
		end_job(job);
		go_on_soon(q);
		return;
	}
}

void answer_queue_put(struct answer_queue *q, struct answer_job *job, const struct http_call *call,
		      struct http_answer *answer)
{
	if (q->n_waiting >= ANSWER_QUEUE_MAX_WAITING) {
		http_counts_refused(&q->counts, HTTP_REFUSED_queue_full);
		refuse(answer, "others wait for such answers already: ask again later\n");
	} else if (http_call_later(call, &job->later) < 0) {
		refuse(answer, "there is no memory for the answer: ask again later\n");
	}
	if (!job->later) {
		job->free(job);
		return;
	}
	job->queue = q;
	job->stop = &q->stop;
	job->takes_gzip = http_call_takes_gzip(call);
	list_push_back(&q->waiting, &job->node);
	q->n_waiting++;
	go_on_soon(q);
}

static void end_unmade(struct answer_job *job)
{
	refuse(http_later_answer(job->later), "the agent is ending\n");
	end_job(job);
}

void answer_queue_free(struct answer_queue *q)
{
	if (!q)
		return;
	atomic_store(&q->stop, true);
	worker_free(q->worker);
	if (q->running)
		end_unmade(q->running);
	LIST_FOREACH (&q->waiting, at) {
		list_remove(at);
		end_unmade(LIST_ENTRY(at, struct answer_job, node));
	}
	loop_timer_free(q->turn);
	free(q);
}
