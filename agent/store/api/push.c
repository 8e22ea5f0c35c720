/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of one Push. */
#include "agent/store/api/push.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "agent/push/push.pb-c.h"
#include "agent/util/macro.h"

static void next_series(struct push *p);

static const Push__V1__PushRequest *request_of(const struct push *p)
{
	return (const Push__V1__PushRequest *)p->call.request;
}

/* ---- ingest thread ---- */

/* In the words of the ceiling that it met. */
static enum rpc_code fail_budget(struct push *p)
{
	struct api_job *job = &p->call.job;

	switch (p->budget.state) {
	case READ_BUDGET_INFLATED:
		return api_job_refuse(job, STORE_REQUEST_INFLATED,
				      "the request takes more than %zu MiB after decompression of "
				      "it and its profiles",
				      PUSH_MAX_INFLATED_BYTES >> 20);
	case READ_BUDGET_ELEMENTS:
		return api_job_refuse(job, STORE_REQUEST_ELEMENTS,
				      "the profiles of the request have more than %zu values",
				      PUSH_MAX_ELEMENTS);
	case READ_BUDGET_TIME:
		return api_job_refuse(job, STORE_REQUEST_TIME,
				      "the request takes more than %llu s to read",
				      PUSH_MAX_CPU_NS / NS_PER_S);
	case READ_BUDGET_STOPPED:
	case READ_BUDGET_LEFT:
		break;
	}
	return api_job_fail_errno(job, -ECANCELED);
}

static void read_run(struct store_task *task)
{
	struct push *p = CONTAINER_OF(task, struct push, task);

	read_budget_begin(&p->budget);
	if (!read_budget_goes_on_now(&p->budget))
		(void)fail_budget(p);
	else if (rpc_call_decode_received(&p->call) == RPC_ok &&
		 !read_budget_take_inflated(&p->budget, p->call.n_inflated_bytes))
		(void)fail_budget(p);
	else if (p->call.job.code == RPC_ok)
		(void)push_message_check(&p->call);
	read_budget_end(&p->budget);
}

static void labels_run(struct store_task *task)
{
	struct push *p = CONTAINER_OF(task, struct push, task);

	read_budget_begin(&p->budget);
	p->result = push_message_labels(request_of(p)->series[p->series], &p->why, &p->labels);
	read_budget_end(&p->budget);
}

/* ---- loop thread ---- */

static void submit(struct push *p, void (*run)(struct store_task *task),
		   void (*done)(struct store_task *task))
{
	p->task = (struct store_task){ .run = run, .done = done };
	store_task_submit(p->store, &p->task, STORE_TASK_FOREIGN);
}

/* What was not looked at any more. */
static void count_rest(struct push *p)
{
	const Push__V1__PushRequest *request = request_of(p);
	size_t n = 0;

	for (size_t i = p->series; i < request->n_series; i++)
		n += request->series[i]->n_samples;
	store_count_refused(p->store, INGEST_REFUSED_REQUEST, n - p->sample);
}

static void give_up(struct push *p)
{
	(void)fail_budget(p);
	count_rest(p);
	p->done(p);
}

/* PushResponse has no fields. */
static void answer(struct push *p)
{
	struct api_job *job = &p->call.job;

	if (p->sentences.len > 0) {
		(void)api_job_fail(job, RPC_invalid_argument, "%s", buf_str(&p->sentences));
	} else {
		job->content_type = connect_content_type(p->call.codec);
		if (p->call.codec != CONNECT_PROTO)
			(void)buf_append_str(&job->body, "{}");
	}
	p->done(p);
}

/* All profiles of a series are tried; the last reason is told. */
static void end_series(struct push *p)
{
	if (p->result == -EINVAL) {
		if (request_of(p)->n_series > 1)
			(void)buf_printf(&p->sentences, "%spush series with index %zu failed: ",
					 p->sentences.len ? "\n" : "", p->series);
		(void)buf_append_str(&p->sentences, buf_str(&p->why));
	}
	labels_unref(p->labels);
	p->labels = NULL;
	p->sample = 0;
	p->series++;
	next_series(p);
}

static void next_profile(struct push *p)
{
	const Push__V1__RawProfileSeries *series = request_of(p)->series[p->series];

	assert(p->sample <= series->n_samples);
	if (p->sample == series->n_samples) {
		end_series(p);
		return;
	}
	const ProtobufCBinaryData *pprof = &series->samples[p->sample]->raw_profile;

	buf_reset(&p->reason);
	p->put.labels = p->labels;
	p->put.pprof = pprof->data;
	p->put.n = pprof->len;
	store_put(p->store, &p->put);
}

static void put_done(struct store_put *put)
{
	struct push *p = CONTAINER_OF(put, struct push, put);

	p->sample++;
	if (put->result == STORE_OVER_BUDGET) {
		give_up(p);
		return;
	}
	if (put->result < 0) {
		(void)api_job_fail_errno(&p->call.job, put->result);
		p->done(p);
		return;
	}
	if (put->result == STORE_REFUSED) {
		buf_reset(&p->why);
		(void)buf_append_str(&p->why, buf_str(&p->reason));
		p->result = -EINVAL;
	}
	next_profile(p);
}

static void labels_done(struct store_task *task)
{
	struct push *p = CONTAINER_OF(task, struct push, task);
	size_t n = request_of(p)->series[p->series]->n_samples;

	if (p->result == -EINVAL) {
		store_count_refused(p->store, INGEST_REFUSED_LABELS, n);
		end_series(p);
	} else if (p->result < 0) {
		(void)api_job_fail_errno(&p->call.job, p->result);
		p->done(p);
	} else {
		next_profile(p);
	}
}

static void next_series(struct push *p)
{
	assert(p->series <= request_of(p)->n_series);
	if (p->series == request_of(p)->n_series) {
		answer(p);
		return;
	}
	buf_reset(&p->why);
	submit(p, labels_run, labels_done);
}

static void read_done(struct store_task *task)
{
	struct push *p = CONTAINER_OF(task, struct push, task);

	if (p->read)
		p->read(p);
	if (p->call.job.code == RPC_ok)
		next_series(p);
	else
		p->done(p);
}

void push_begin(struct push *p)
{
	assert(p->done && !p->call.request);
	submit(p, read_run, read_done);
}

void push_init(struct push *p, struct store *store, enum connect_codec codec,
	       const atomic_bool *stop)
{
	const struct read_budget_options options = { .inflated_bytes = PUSH_MAX_INFLATED_BYTES,
						     .elements = PUSH_MAX_ELEMENTS,
						     .cpu_ns = PUSH_MAX_CPU_NS,
						     .stop = stop };

	memset(p, 0, sizeof(*p));
	rpc_call_init(&p->call, &push_method, codec);
	read_budget_init(&p->budget, &options);
	p->store = store;
	buf_init(&p->why, API_MAX_WHY_BYTES);
	buf_init(&p->reason, API_MAX_WHY_BYTES);
	buf_init(&p->sentences, API_MAX_WHY_BYTES);
	p->put = (struct store_put){ .budget = &p->budget, .why = &p->reason, .done = put_done };
}

void push_fini(struct push *p)
{
	labels_unref(p->labels);
	buf_fini(&p->why);
	buf_fini(&p->reason);
	buf_fini(&p->sentences);
	rpc_call_fini(&p->call);
}
