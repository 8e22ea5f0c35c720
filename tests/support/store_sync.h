/* SPDX-License-Identifier: Apache-2.0 */
/* A store whose callers wait: one profile in, one view out. */
#ifndef XAGENT_TESTS_SUPPORT_STORE_SYNC_H
#define XAGENT_TESTS_SUPPORT_STORE_SYNC_H

#include <errno.h>

#include "agent/store/store.h"

/* Begins as a failure, so that what is never done is seen. */
static inline void store_sync_put_done(struct store_put *put)
{
	(void)put;
}

/* As this agent's own. enum store_outcome or -errno. */
static inline int store_sync_put(struct store *s, const struct labels *labels, const uint8_t *pprof,
				 size_t n, struct buf *why)
{
	struct store_put put = { .labels = labels,
				 .pprof = pprof,
				 .n = n,
				 .why = why,
				 .done = store_sync_put_done,
				 .result = -EINPROGRESS };

	store_put(s, &put);
	store_drain(s);
	return put.result;
}

/* The profile itself. */
static inline int store_sync_put_profile(struct store *s, const struct profile *profile,
					 struct buf *why)
{
	struct store_put put = {
		.profile = profile, .why = why, .done = store_sync_put_done, .result = -EINPROGRESS
	};

	store_put(s, &put);
	store_drain(s);
	return put.result;
}

static inline void store_sync_view_done(struct store_view_request *request)
{
	(void)request;
}

/* 0 or -errno. */
static inline int store_sync_view(struct store *s, int64_t start_ms, int64_t end_ms,
				  struct store_view *ret_view)
{
	struct store_view_request request = { .start_ms = start_ms,
					      .end_ms = end_ms,
					      .done = store_sync_view_done,
					      .result = -EINPROGRESS };

	store_view_request(s, &request);
	store_drain(s);
	if (request.result == 0)
		*ret_view = request.view;
	return request.result;
}

#endif
