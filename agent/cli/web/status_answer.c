/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent at one glance, over HTTP.
 *
 *	processes that live (worker) ─► counted by series, in pieces, then all facts at once (loop) ─► written (worker)
 */
#include "agent/cli/web/status_answer.h"

#include <stdlib.h>

#include "agent/cli/run/agent.h"
#include "agent/cli/web/answer_json.h"
#include "agent/cli/web/status_json.h"
#include "agent/process/proc.h"
#include "agent/util/macro.h"

enum phase { PHASE_BEGIN, PHASE_LIST, PHASE_COUNT, PHASE_WRITE };

struct status {
	struct answer_job job;
	struct agent *agent; /* the loop's, but for what never changes */
	enum phase phase;
	uint32_t *pids; /* owned */
	size_t n_pids;
	size_t at;
	struct status_facts facts;
	bool no_memory;
};

static void make(struct answer_job *job, struct http_answer *answer)
{
	struct status *s = CONTAINER_OF(job, struct status, job);

	/* Without a look at /proc there are no processes in the answer. */
	if (s->phase == PHASE_LIST)
		(void)proc_list_pids("/proc", &s->pids, &s->n_pids);
	else
		answer_json(answer, s->no_memory ? NULL : status_json(s->agent, &s->facts));
}

static enum answer_step look(struct answer_job *job, struct http_answer *answer)
{
	struct status *s = CONTAINER_OF(job, struct status, job);

	switch (s->phase) {
	case PHASE_BEGIN:
		http_answer_add_header(answer, "Cache-Control", "no-store");
		s->phase = PHASE_LIST;
		return ANSWER_MAKE;
	case PHASE_LIST:
		status_count_none(s->agent);
		s->phase = PHASE_COUNT;
		return ANSWER_LOOK;
	case PHASE_COUNT:
		if (!status_count_some(s->agent, s->pids, s->n_pids, &s->at))
			return ANSWER_LOOK;
		s->no_memory = !status_facts_take(&s->facts, s->agent);
		s->phase = PHASE_WRITE;
		return ANSWER_MAKE;
	case PHASE_WRITE:
		break;
	}
	return ANSWER_SEND;
}

static void job_free(struct answer_job *job)
{
	struct status *s = CONTAINER_OF(job, struct status, job);

	status_facts_fini(&s->facts);
	free(s->pids);
	free(s);
}

void status_answer(const struct http_call *call, struct http_answer *answer, void *data)
{
	struct agent *a = data;
	struct status *s = calloc(1, sizeof(*s));

	if (!s) {
		answer->body.failed = true;
		return;
	}
	s->job = (struct answer_job){ .look = look, .make = make, .free = job_free };
	s->agent = a;
	answer_queue_put(a->answers, &s->job, call, answer);
}
