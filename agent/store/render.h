/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET /pyroscope/render and /pyroscope/render-diff: a flame graph, and what it was over time, as older clients ask for it. Inside of
 * the read API.
 */
#ifndef XAGENT_AGENT_STORE_RENDER_H
#define XAGENT_AGENT_STORE_RENDER_H

#include "agent/store/api_queue.h"

/* Of a query, as a whole URL has it. */
#define RENDER_MAX_QUERY_BYTES 4096

/* An HTTP handler's work. */
void render_handle(struct api_queue *queue, int64_t now_ms, const struct http_call *call,
		   struct http_answer *answer);
void render_diff_handle(struct api_queue *queue, int64_t now_ms, const struct http_call *call,
			struct http_answer *answer);

#endif
