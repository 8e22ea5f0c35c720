/* SPDX-License-Identifier: Apache-2.0 */
/* One request from its handler to its answer. */
#include "agent/receive/receive_job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/push/push.pb-c.h"
#include "agent/store/otlp/otlp_read.h"
#include "agent/util/clock.h"

#define TEXTS_MAX_BYTES ((size_t)512 << 10)

static struct receive_job *new_job(bool is_push)
{
	struct receive_job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	job->is_push = is_push;
	job->verdict = RECEIVE_VERDICT_INIT;
	arena_init(&job->texts, TEXTS_MAX_BYTES);
	job->body = BUF_INIT(0);
	return job;
}

void receive_job_free(struct receive_job *job)
{
	if (job->is_push)
		rpc_call_fini(&job->call);
	arena_fini(&job->texts);
	buf_fini(&job->body);
	receive_items_fini(&job->items);
	buf_fini(&job->verdict.why);
	free(job);
}

/* ---- loop thread ---- */

int receive_job_push(const struct http_call *call, struct http_answer *answer,
		     struct receive_job **ret_job)
{
	enum connect_codec codec;

	*ret_job = NULL;
	if (!rpc_read_codec(call, answer, &codec))
		return 0;
	struct receive_job *job = new_job(true);
	if (!job)
		return -ENOMEM;
	rpc_call_init(&job->call, &push_method, codec);
	if (rpc_call_receive(&job->call, call) != RPC_ok)
		receive_verdict_set(&job->verdict, RECEIVE_REFUSED_METADATA, 400);
	*ret_job = job;
	return 0;
}

/* NULL stays NULL. */
static bool copy(struct receive_job *job, const char *text, const char **ret)
{
	*ret = text ? arena_strndup(&job->texts, text, strlen(text)) : NULL;
	return !text || *ret;
}

int receive_job_ingest(const struct http_call *call, struct receive_job **ret_job)
{
	struct receive_job *job = new_job(false);
	struct ingest_query *q = job ? &job->query : NULL;

	if (!job)
		return -ENOMEM;
	if (!copy(job, http_call_query(call, "name"), &q->name) ||
	    !copy(job, http_call_query(call, "from"), &q->from) ||
	    !copy(job, http_call_query(call, "until"), &q->until) ||
	    !copy(job, http_call_query(call, "sampleRate"), &q->sample_rate) ||
	    !copy(job, http_call_query(call, "spyName"), &q->spy_name) ||
	    !copy(job, http_call_query(call, "format"), &q->format) ||
	    !copy(job, http_call_header(call, "Content-Type"), &q->content_type) ||
	    !copy(job, http_call_header(call, "Content-Encoding"), &q->content_encoding)) {
		receive_job_free(job);
		return -ENOMEM;
	}
	http_call_take_body(call, &job->body);
	*ret_job = job;
	return 0;
}

int receive_job_otlp(const struct http_call *call, size_t max_plain_bytes,
		     struct receive_job **ret_job)
{
	struct receive_job *job = new_job(false);

	if (!job)
		return -ENOMEM;
	job->is_otlp = true;
	job->otlp.max_plain_bytes = max_plain_bytes;
	otlp_headers_read(call, &job->otlp, &job->verdict);
	http_call_take_body(call, &job->body);
	*ret_job = job;
	return 0;
}

struct receive_job *receive_job_grpc(struct grpc_call *call, size_t max_plain_bytes)
{
	struct receive_job *job = new_job(false);

	if (!job)
		return NULL;
	job->is_otlp = true;
	job->otlp = (struct otlp_headers){ .is_gzip = grpc_call_is_gzip(call),
					   .max_plain_bytes = max_plain_bytes };
	grpc_call_take_message(call, &job->body);
	job->grpc = call;
	return job;
}

/* ---- any thread ---- */

void receive_job_refuse(struct receive_job *job, enum receive_refusal refusal, unsigned int status,
			const char *why)
{
	receive_verdict_set(&job->verdict, refusal, status);
	buf_reset(&job->verdict.why);
	(void)buf_append_str(&job->verdict.why, why);
	receive_items_fini(&job->items);
}

/* The bytes are the message's, and become the item's. */
static int take_profile(struct receive_job *job, struct labels *labels, Push__V1__RawSample *sample)
{
	uint8_t *data = sample->raw_profile.data;
	size_t n = sample->raw_profile.len;

	if (n == 0)
		return 0;
	sample->raw_profile = (ProtobufCBinaryData){ 0 };
	return receive_items_add(&job->items, labels, data, n, clock_real_ns());
}

/* What is wrong with one says nothing about the others. */
static void tell(struct receive_job *job, size_t at, size_t n, const char *why)
{
	struct buf *out = &job->verdict.why;

	receive_verdict_set(&job->verdict, RECEIVE_REFUSED_METADATA, 400);
	if (n > 1)
		(void)buf_printf(out, "%spush series with index %zu failed: ", out->len ? "\n" : "",
				 at);
	(void)buf_append_str(out, why);
}

static int take_series(struct receive_job *job, const Push__V1__PushRequest *request, size_t at)
{
	const Push__V1__RawProfileSeries *series = request->series[at];
	_cleanup_(labels_unrefp) struct labels *labels = NULL;
	_cleanup_buf_ struct buf why = BUF_INIT(RECEIVE_MAX_WHY);
	int r = push_message_labels(series, &why, &labels);

	if (r == -EINVAL) {
		tell(job, at, request->n_series, buf_str(&why));
		return 0;
	}
	for (size_t i = 0; r == 0 && i < series->n_samples; i++)
		r = take_profile(job, labels, series->samples[i]);
	return r;
}

static void take_request(struct receive_job *job)
{
	const Push__V1__PushRequest *request = (const Push__V1__PushRequest *)job->call.request;
	int r = 0;

	for (size_t i = 0; r == 0 && i < request->n_series; i++)
		r = take_series(job, request, i);
	if (r < 0)
		receive_job_refuse(job, RECEIVE_REFUSED_MEMORY, 503,
				   "there is no memory for it now");
}

static void read_push(struct receive_job *job)
{
	struct rpc_call *call = &job->call;

	if (call->job.code != RPC_ok)
		return;
	if (clock_mono_ns() >= call->job.deadline_ns) {
		(void)api_job_fail(&call->job, RPC_deadline_exceeded,
				   "its time was over before its turn");
		receive_verdict_set(&job->verdict, RECEIVE_REFUSED_LATE, 504);
		return;
	}
	if (rpc_call_decode_received(call) == RPC_ok && push_message_check(call) == RPC_ok) {
		take_request(job);
		return;
	}
	receive_verdict_set(&job->verdict,
			    call->job.refusal != STORE_REQUEST_TAKEN ? RECEIVE_REFUSED_LIMITS
								     : RECEIVE_REFUSED_MALFORMED,
			    rpc_code_status(call->job.code));
}

static void read_body(struct receive_job *job)
{
	const struct read_budget_options options = { .inflated_bytes = RECEIVE_MAX_INFLATED,
						     .elements = job->is_otlp
									 ? OTLP_READ_MAX_ELEMENTS
									 : RECEIVE_MAX_ELEMENTS,
						     .cpu_ns = RECEIVE_MAX_CPU_NS,
						     .stop = job->stop };
	const struct str body = { buf_str(&job->body), job->body.len };
	struct read_budget budget;

	read_budget_init(&budget, &options);
	read_budget_begin(&budget);
	if (job->is_otlp)
		otlp_request_read(&job->otlp, body, clock_real_ns(), &budget, &job->items,
				  &job->verdict);
	else
		ingest_request_read(&job->query, body, clock_real_ns(), &budget, &job->items,
				    &job->verdict);
	read_budget_end(&budget);
	buf_fini(&job->body);
	job->body = BUF_INIT(0);
}

void receive_job_read(struct receive_job *job)
{
	if (job->is_push)
		read_push(job);
	else
		read_body(job);
}

/* ---- the answer ---- */

static enum rpc_code code_of(unsigned int status)
{
	switch (status) {
	case 400:
	case 415:
		return RPC_invalid_argument;
	case 429:
		return RPC_resource_exhausted;
	case 503:
		return RPC_unavailable;
	default:
		return RPC_unknown;
	}
}

/* Of a Push whose message says nothing wrong: PushResponse has no fields. */
static void answer_push(struct receive_job *job, struct http_answer *answer)
{
	struct api_job *api = &job->call.job;

	if (api->code == RPC_ok && job->verdict.refusal != RECEIVE_TAKEN)
		(void)api_job_fail(api, code_of(job->verdict.status), "%s",
				   buf_str(&job->verdict.why));
	if (api->code == RPC_ok) {
		api->content_type = connect_content_type(job->call.codec);
		if (job->call.codec != CONNECT_PROTO)
			(void)buf_append_str(&api->body, "{}");
	}
	api_job_answer(api, answer);
}

void receive_job_answer(struct receive_job *job, struct http_answer *answer)
{
	if (job->is_push) {
		answer_push(job, answer);
		return;
	}
	if (job->is_otlp) {
		otlp_request_answer(&job->otlp, &job->verdict, answer);
		return;
	}
	answer->status = job->verdict.status;
	if (job->verdict.refusal == RECEIVE_TAKEN)
		return;
	answer->content_type = "application/json";
	(void)connect_put_error(&answer->body, code_of(job->verdict.status),
				buf_str(&job->verdict.why));
}
