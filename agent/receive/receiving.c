/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of others that come over HTTP. */
#include "agent/receive/receiving.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/receive/otlp_grpc.h"
#include "agent/receive/receive_job.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

/* Seconds. A queue of requests is read in less; a server that is away takes longer. */
#define RETRY_SOON 1
#define RETRY_LATER 5
/* As pushes have it, gzip'd or not. */
#define PUSH_MAX_BODY RPC_MAX_PUSH_BYTES
#define REFUSAL_MAX_BYTES 200

/* Formats of the metrics: a Push, OTLP by HTTP and by gRPC, and those of /ingest behind them. */
enum {
	FORMAT_PUSH,
	FORMAT_OTLP,
	FORMAT_OTLP_GRPC,
	FORMAT_INGEST,
	FORMAT_MAX = FORMAT_INGEST + INGEST_FORMAT_MAX
};
enum { TRANSPORT_HTTP, TRANSPORT_GRPC, TRANSPORT_MAX };

struct receiving {
	struct receiving_callbacks callbacks;
	struct worker *worker;
	char *component_path, *component_id;
	struct metric *profiles[FORMAT_MAX], *bytes[FORMAT_MAX];
	struct metric *refused[TRANSPORT_MAX][RECEIVE_REFUSAL_MAX];
	size_t otlp_max_bytes, grpc_max_bytes;
	uint64_t n_profiles, n_requests, n_refused;
	char last_refusal[REFUSAL_MAX_BYTES];
	atomic_bool stop;
};

#define FAMILY(variable, name, text, label)                                                    \
	static const struct metric_family variable = { name,                                   \
						       text,                                   \
						       METRIC_COUNTER,                         \
						       { label, "transport", "component_path", \
							 "component_id" } }
FAMILY(profiles_family, "xagent_received_profiles_total", "Profiles of others that were taken.",
       "format");
FAMILY(bytes_family, "xagent_received_bytes_total",
       "Bytes of profiles of others that were taken, as they go on.", "format");
FAMILY(refused_family, "xagent_received_requests_refused_total",
       "Requests with profiles of others that were refused, as a whole or in part.", "reason");
#undef FAMILY

static const char *format_text(size_t format)
{
	switch (format) {
	case FORMAT_PUSH:
		return "push";
	case FORMAT_OTLP:
	case FORMAT_OTLP_GRPC:
		return "otlp";
	default:
		return ingest_format_text((enum ingest_format)(format - FORMAT_INGEST));
	}
}

static const char *transport_text(size_t transport)
{
	return transport == TRANSPORT_GRPC ? "grpc" : "http";
}

static void make_format(struct receiving *r, struct telemetry *t, size_t format)
{
	size_t transport = format == FORMAT_OTLP_GRPC ? TRANSPORT_GRPC : TRANSPORT_HTTP;
	const char *const labels[] = { format_text(format), transport_text(transport),
				       r->component_path, r->component_id };

	r->profiles[format] = telemetry_series(t, &profiles_family, labels);
	r->bytes[format] = telemetry_series(t, &bytes_family, labels);
}

static void make_refusals(struct receiving *r, struct telemetry *t, size_t transport)
{
	static const char *const reasons[] = {
#define REASON_ROW(NAME, text) [RECEIVE_REFUSED_##NAME] = (text),
		RECEIVE_REFUSALS(REASON_ROW)
#undef REASON_ROW
	};

	for (size_t i = RECEIVE_TAKEN + 1; i < RECEIVE_REFUSAL_MAX; i++)
		r->refused[transport][i] = telemetry_series(
			t, &refused_family,
			(const char *const[]){ reasons[i], transport_text(transport),
					       r->component_path, r->component_id });
}

static void make_metrics(struct receiving *r, struct telemetry *t)
{
	for (size_t i = 0; i < FORMAT_MAX; i++)
		make_format(r, t, i);
	for (size_t i = 0; i < TRANSPORT_MAX; i++)
		make_refusals(r, t, i);
}

/* ---- the end of a request ---- */

static void count_refused(struct receiving *r, const struct receive_job *job)
{
	const char *why = job->is_push && job->call.job.code != RPC_ok ? buf_str(&job->call.job.why)
								       : buf_str(&job->verdict.why);

	r->n_refused++;
	metric_add(r->refused[job->grpc ? TRANSPORT_GRPC : TRANSPORT_HTTP][job->verdict.refusal],
		   1);
	str_copy_utf8(r->last_refusal, sizeof(r->last_refusal), str_from(why));
}

/* 0: nobody knows. */
static unsigned int retry_s(const struct receive_job *job)
{
	switch (job->verdict.refusal) {
	case RECEIVE_REFUSED_RECEIVERS_FULL:
		return RETRY_LATER;
	case RECEIVE_REFUSED_QUEUE_FULL:
	case RECEIVE_REFUSED_MEMORY:
		return RETRY_SOON;
	default:
		return 0;
	}
}

static void finish_http(struct receive_job *job, struct http_answer *answer)
{
	static const char *const texts[] = { [0] = NULL, [RETRY_SOON] = "1", [RETRY_LATER] = "5" };

	receive_job_answer(job, answer);
	answer->retry_after = texts[retry_s(job)];
}

/* `answer`: of who does not wait for a later one. */
static void end_job(struct receive_job *job, struct http_answer *answer)
{
	if (job->verdict.refusal != RECEIVE_TAKEN)
		count_refused(job->receiving, job);
	if (job->grpc)
		otlp_grpc_answer(job->grpc, &job->verdict, retry_s(job));
	else
		finish_http(job, job->later ? http_later_answer(job->later) : answer);
	http_later_send(TAKE_PTR(job->later));
	receive_job_free(job);
}

static size_t format_of(const struct receive_job *job)
{
	if (job->is_push)
		return FORMAT_PUSH;
	if (job->is_otlp)
		return job->grpc ? FORMAT_OTLP_GRPC : FORMAT_OTLP;
	return FORMAT_INGEST + ingest_meta_read(&job->query, 0).format;
}

static void deliver(struct receiving *r, const struct receive_job *job)
{
	size_t format = format_of(job);

	for (size_t i = 0; i < job->items.n; i++)
		r->callbacks.deliver(r->callbacks.data, &job->items.items[i]);
	r->n_profiles += job->items.n;
	metric_add(r->profiles[format], job->items.n);
	metric_add(r->bytes[format], job->items.n_bytes);
}

static void refuse_room(struct receive_job *job)
{
	receive_job_refuse(job, RECEIVE_REFUSED_RECEIVERS_FULL, 429,
			   "whoever the profiles are sent to has no room for more: send them again "
			   "later");
}

static void run(struct worker_job *worker_job)
{
	receive_job_read(CONTAINER_OF(worker_job, struct receive_job, worker_job));
}

static void done(struct worker_job *worker_job)
{
	struct receive_job *job = CONTAINER_OF(worker_job, struct receive_job, worker_job);
	struct receiving *r = job->receiving;

	if (atomic_load(&r->stop))
		receive_job_refuse(job, RECEIVE_REFUSED_LATE, 503, "the receiver is closing");
	else if (job->items.n > 0 && !r->callbacks.has_room(r->callbacks.data, job->items.n_bytes))
		refuse_room(job);
	deliver(r, job);
	end_job(job, NULL);
}

/* ---- its beginning ---- */

/* Whether it may wait to be read; else it is refused. */
static bool is_admitted(struct receiving *r, struct receive_job *job)
{
	size_t n_body = job->is_push ? job->call.received.len : job->body.len;

	r->n_requests++;
	job->receiving = r;
	job->stop = &r->stop;
	job->worker_job = (struct worker_job){ .run = run, .done = done };
	if (job->verdict.refusal != RECEIVE_TAKEN)
		return false; /* its headers are wrong */
	if (!r->callbacks.has_room(r->callbacks.data, n_body))
		refuse_room(job);
	else if (!worker_has_room(r->worker))
		receive_job_refuse(job, RECEIVE_REFUSED_QUEUE_FULL, 429,
				   "too many requests wait already: send it again later");
	return job->verdict.refusal == RECEIVE_TAKEN;
}

static void submit(struct receiving *r, struct receive_job *job)
{
	int e = worker_submit(r->worker, &job->worker_job);

	assert(e == 0);
	(void)e;
}

/* Later, if it can; else it is answered here and now. */
static void begin(struct receiving *r, struct receive_job *job, const struct http_call *call,
		  struct http_answer *answer)
{
	bool admitted = is_admitted(r, job);

	if (admitted && http_call_later(call, &job->later) < 0) {
		admitted = false;
		receive_job_refuse(job, RECEIVE_REFUSED_MEMORY, 503,
				   "there is no memory for it now");
	}
	if (admitted)
		submit(r, job);
	else
		end_job(job, answer);
}

static void on_push(const struct http_call *call, struct http_answer *answer, void *data)
{
	struct receive_job *job = NULL;

	if (receive_job_push(call, answer, &job) < 0)
		answer->body.failed = true;
	if (job)
		begin(data, job, call, answer);
}

static void on_ingest(const struct http_call *call, struct http_answer *answer, void *data)
{
	struct receive_job *job = NULL;

	const struct receiving *r = data;

	if (receive_job_ingest(call, &job) < 0)
		answer->body.failed = true;
	if (!job)
		return;
	job->query.may_relay = r->callbacks.may_relay(r->callbacks.data);
	begin(data, job, call, answer);
}

static void on_otlp(const struct http_call *call, struct http_answer *answer, void *data)
{
	struct receiving *r = data;
	struct receive_job *job = NULL;

	if (receive_job_otlp(call, r->otlp_max_bytes, &job) < 0)
		answer->body.failed = true;
	if (job)
		begin(r, job, call, answer);
}

int receiving_add_otlp_route(struct receiving *r, struct http_server *server, size_t max_bytes)
{
	const struct http_route route = { .method = "POST",
					  .path = OTLP_REQUEST_PATH,
					  .fn = on_otlp,
					  .data = r,
					  .max_body_bytes = max_bytes,
					  .effect = HTTP_CHANGES };

	r->otlp_max_bytes = max_bytes;
	return http_server_add_route(server, &route);
}

static const char *refuse_path(const char *path, void *data)
{
	(void)data;
	return otlp_grpc_refusal(path);
}

static void on_grpc(struct grpc_call *call, void *data)
{
	static const struct grpc_answer no_memory = { .code = GRPC_UNAVAILABLE,
						      .message = "there is no memory for it now" };
	struct receiving *r = data;
	struct receive_job *job = receive_job_grpc(call, r->grpc_max_bytes);

	if (!job)
		grpc_call_answer(call, &no_memory);
	else if (is_admitted(r, job))
		submit(r, job);
	else
		end_job(job, NULL);
}

struct grpc_service receiving_grpc_service(struct receiving *r, size_t max_bytes)
{
	r->grpc_max_bytes = max_bytes;
	return (struct grpc_service){ .refusal = refuse_path, .call = on_grpc, .data = r };
}

int receiving_add_routes(struct receiving *r, struct http_server *server)
{
	const struct http_route routes[] = {
		{ .method = "POST",
		  .path = push_method.path,
		  .fn = on_push,
		  .data = r,
		  .max_body_bytes = PUSH_MAX_BODY,
		  .effect = HTTP_CHANGES },
		{ .method = "POST",
		  .path = "/ingest",
		  .fn = on_ingest,
		  .data = r,
		  .max_body_bytes = INGEST_MAX_BODY,
		  .effect = HTTP_CHANGES },
		{ .method = "POST",
		  .path = "/pyroscope/ingest",
		  .fn = on_ingest,
		  .data = r,
		  .max_body_bytes = INGEST_MAX_BODY,
		  .effect = HTTP_CHANGES },
	};

	return http_server_add_routes(server, routes, ARRAY_SIZE(routes));
}

/* ---- its life ---- */

int receiving_new(struct loop *loop, struct telemetry *telemetry, const char *component_path,
		  const char *component_id, const struct receiving_callbacks *callbacks,
		  struct receiving **ret_receiving)
{
	_cleanup_(receiving_freep) struct receiving *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->callbacks = *callbacks;
	r->component_path = strdup(component_path);
	r->component_id = strdup(component_id);
	if (!r->component_path || !r->component_id)
		return -ENOMEM;
	int e = worker_new(loop, RECEIVE_MAX_WAITING, &r->worker);
	if (e < 0)
		return e;
	make_metrics(r, telemetry);
	*ret_receiving = TAKE_PTR(r);
	return 0;
}

void receiving_free(struct receiving *r)
{
	if (!r)
		return;
	atomic_store(&r->stop, true);
	worker_free(r->worker);
	free(r->component_path);
	free(r->component_id);
	free(r);
}

void receiving_stats(const struct receiving *r, struct receiving_stats *ret_stats)
{
	*ret_stats = (struct receiving_stats){ .n_profiles = r->n_profiles,
					       .n_requests = r->n_requests,
					       .n_refused = r->n_refused,
					       .n_waiting = worker_n_jobs(r->worker),
					       .last_refusal = r->last_refusal };
}
