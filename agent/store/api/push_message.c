/* SPDX-License-Identifier: Apache-2.0 */
/* A Push as a message. */
#include "agent/store/api/push_message.h"

#include <errno.h>
#include <string.h>

#include "agent/push/push.pb-c.h"
#include "agent/store/api/api_methods.h"

const struct rpc_method push_method = {
	.path = RPC_PUSHER "/Push",
	.request = &push__v1__push_request__descriptor,
	.max_bytes = RPC_MAX_PUSH_BYTES,
};

enum rpc_code push_message_check(struct rpc_call *call)
{
	const Push__V1__PushRequest *r = (const Push__V1__PushRequest *)call->request;
	struct api_job *job = &call->job;
	size_t n_profiles = 0;

	for (size_t i = 0; i < r->n_series; i++)
		n_profiles += r->series[i]->n_samples;
	if (n_profiles == 0)
		return api_job_fail(job, RPC_invalid_argument, "no profiles received");
	if (r->n_series > PUSH_MAX_SERIES)
		return api_job_fail(job, RPC_invalid_argument, "more than %d series in one request",
				    PUSH_MAX_SERIES);
	if (n_profiles > PUSH_MAX_PROFILES)
		return api_job_fail(job, RPC_invalid_argument,
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

int push_message_labels(const Push__V1__RawProfileSeries *series, struct buf *why,
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
