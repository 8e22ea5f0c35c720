/* SPDX-License-Identifier: Apache-2.0 */
/* Components as JSON over HTTP: as of the moment when it is their turn. */
#include "agent/cli/web/components_answer.h"

#include <stdlib.h>
#include <string.h>

#include "agent/cli/run/agent.h"
#include "agent/cli/web/answer_json.h"
#include "agent/cli/web/disclosure.h"
#include "agent/component/json/component_json.h"
#include "agent/util/macro.h"

/* Of ids that are asked for; longer ones do not exist. */
#define ID_MAX_BYTES ((size_t)64 << 10)

struct asked {
	struct answer_job job;
	struct agent *agent;
	enum disclosure to;
	char *module_id, *local_id; /* owned */
	struct component_snapshot *snapshot;
	size_t i; /* of the one that is asked for */
};

static bool find(const struct asked *q, size_t *ret_i)
{
	_cleanup_buf_ struct buf id = BUF_INIT(ID_MAX_BYTES);
	struct graph_view view;

	(void)buf_printf(&id, "%s%s%s", q->module_id, *q->module_id ? "/" : "", q->local_id);
	if (!graph_find(q->agent->graph, buf_str(&id), ret_i))
		return false;
	graph_view(q->agent->graph, *ret_i, &view);
	return view.class == GRAPH_COMPONENT;
}

static bool is_there(struct asked *q, struct http_answer *answer)
{
	if (!graph_has_module(q->agent->graph, q->module_id)) {
		answer->status = 500;
		(void)buf_printf(&answer->body, "module \"%s\" not found\n", q->module_id);
		return false;
	}
	if (!*q->local_id || find(q, &q->i))
		return true;
	answer->status = 404;
	(void)buf_append_str(&answer->body, "404 page not found\n");
	return false;
}

static int take(struct asked *q)
{
	struct graph *g = q->agent->graph;

	graph_check(g);
	int r = component_snapshot_new(g, &q->snapshot);
	if (r < 0 || !*q->local_id || q->to != DISCLOSE_ALL)
		return r;
	return component_snapshot_add_detail(q->snapshot, g, q->i);
}

static enum answer_step look(struct answer_job *job, struct http_answer *answer)
{
	struct asked *q = CONTAINER_OF(job, struct asked, job);

	if (q->snapshot || !is_there(q, answer))
		return ANSWER_SEND;
	if (take(q) == 0)
		return ANSWER_MAKE;
	answer->body.failed = true;
	return ANSWER_SEND;
}

static void make(struct answer_job *job, struct http_answer *answer)
{
	struct asked *q = CONTAINER_OF(job, struct asked, job);

	answer_json(answer, *q->local_id ? component_json(q->snapshot, q->i)
					 : components_json(q->snapshot, q->module_id));
}

static void asked_free(struct answer_job *job)
{
	struct asked *q = CONTAINER_OF(job, struct asked, job);

	component_snapshot_free(q->snapshot);
	free(q->module_id);
	free(q->local_id);
	free(q);
}

void components_answer(struct agent *a, const char *module_id, const char *local_id,
		       const struct http_call *call, struct http_answer *answer)
{
	struct asked *q = calloc(1, sizeof(*q));

	if (!q) {
		answer->body.failed = true;
		return;
	}
	q->job = (struct answer_job){ .look = look, .make = make, .free = asked_free };
	q->agent = a;
	q->to = disclosure_to(call);
	q->module_id = strdup(module_id);
	q->local_id = strdup(local_id);
	if (q->module_id && q->local_id) {
		answer_queue_put(a->answers, &q->job, call, answer);
		return;
	}
	asked_free(&q->job);
	answer->body.failed = true;
}
