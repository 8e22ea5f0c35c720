/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Push: profiles of other agents into the store.
 *
 * As in the real server each series is for itself: what is good is kept although the request failed, and the answer tells of what was
 * not.
 */
#include <errno.h>
#include <string.h>

#include "agent/push/push.pb-c.h"
#include "agent/store/api_methods.h"

/* More series would be more than one answer can tell of; and each profile is unpacked while all else waits. */
#define PUSH_MAX_SERIES 1024
#define PUSH_MAX_PROFILES 1024

static const Push__V1__PushRequest *request_of(const struct rpc_call *call)
{
	return (const Push__V1__PushRequest *)call->request;
}

enum rpc_code push_check(struct rpc_call *call)
{
	const Push__V1__PushRequest *r = request_of(call);
	size_t n_profiles = 0;

	for (size_t i = 0; i < r->n_series; i++)
		n_profiles += r->series[i]->n_samples;
	if (n_profiles == 0)
		return api_job_fail(&call->job, RPC_invalid_argument, "no profiles received");
	if (r->n_series > PUSH_MAX_SERIES)
		return api_job_fail(&call->job, RPC_invalid_argument,
				    "more than %d series in one request", PUSH_MAX_SERIES);
	if (n_profiles > PUSH_MAX_PROFILES)
		return api_job_fail(&call->job, RPC_invalid_argument,
				    "more than %d profiles in one request", PUSH_MAX_PROFILES);
	return RPC_ok;
}

/* The first name that comes twice; NULL: none. */
static const char *repeated_name(const Push__V1__RawProfileSeries *series)
{
	for (size_t i = 0; i < series->n_labels; i++)
		for (size_t j = 0; j < i; j++)
			if (strcmp(series->labels[i]->name, series->labels[j]->name) == 0)
				return series->labels[i]->name;
	return NULL;
}

/* 0; -EINVAL with a sentence in `why`; -ENOMEM. */
static int make_labels(const Push__V1__RawProfileSeries *series, struct buf *why,
		       struct labels **ret_labels)
{
	struct label items[LABELS_MAX];
	const char *repeated;

	if (series->n_labels == 0) {
		(void)buf_append_str(why, "error at least one label pair is required per profile");
		return -EINVAL;
	}
	if (series->n_labels > LABELS_MAX) {
		(void)buf_printf(why, "profile series has %zu label names; limit %d",
				 series->n_labels, LABELS_MAX);
		return -EINVAL;
	}
	repeated = repeated_name(series);
	if (repeated) {
		(void)buf_printf(why, "profile has duplicate label name: '%.100s'", repeated);
		return -EINVAL;
	}
	for (size_t i = 0; i < series->n_labels; i++) {
		items[i] = (struct label){ series->labels[i]->name, series->labels[i]->value };
		/* One that is missing is made up; one that is empty is a mistake. */
		if (strcmp(items[i].name, "service_name") == 0 && !*items[i].value) {
			(void)buf_append_str(why, "service name is not provided");
			return -EINVAL;
		}
	}
	return labels_new(items, series->n_labels, ret_labels);
}

/* 0, or as make_labels(). All samples are tried; the last reason is told. */
static int put_series(struct store *store, const Push__V1__RawProfileSeries *series,
		      struct buf *why)
{
	_cleanup_(labels_unrefp) struct labels *labels = NULL;
	int result = make_labels(series, why, &labels);

	if (result == -EINVAL)
		store_count_refused(store, series->n_samples);
	for (size_t i = 0; labels && i < series->n_samples; i++) {
		const ProtobufCBinaryData *pprof = &series->samples[i]->raw_profile;
		_cleanup_buf_ struct buf reason = BUF_INIT(API_MAX_WHY_BYTES);
		int r = store_put(store, labels, pprof->data, pprof->len, &reason);

		if (r < 0)
			return r;
		if (r != STORE_REFUSED)
			continue;
		buf_reset(why);
		(void)buf_append_str(why, buf_str(&reason));
		result = -EINVAL;
	}
	return result;
}

enum rpc_code push_at_once(struct rpc_call *call, struct store *store)
{
	const Push__V1__PushRequest *request = request_of(call);
	_cleanup_buf_ struct buf sentences = BUF_INIT(API_MAX_WHY_BYTES);

	for (size_t i = 0; i < request->n_series; i++) {
		_cleanup_buf_ struct buf why = BUF_INIT(API_MAX_WHY_BYTES);
		int r = put_series(store, request->series[i], &why);

		if (r == 0)
			continue;
		if (r != -EINVAL)
			return api_job_fail_errno(&call->job, r);
		if (request->n_series > 1)
			(void)buf_printf(&sentences, "%spush series with index %zu failed: ",
					 sentences.len ? "\n" : "", i);
		(void)buf_append_str(&sentences, buf_str(&why));
	}
	if (sentences.len > 0)
		return api_job_fail(&call->job, RPC_invalid_argument, "%s", buf_str(&sentences));
	/* PushResponse has no fields. */
	call->job.content_type = connect_content_type(call->codec);
	if (call->codec != CONNECT_PROTO)
		(void)buf_append_str(&call->job.body, "{}");
	return RPC_ok;
}
