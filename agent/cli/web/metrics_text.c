/* SPDX-License-Identifier: Apache-2.0 */
/* /metrics. The loop copies the numbers; they are sorted and written elsewhere. */
#include "agent/cli/run/agent.h"

#include <stdlib.h>
#include <string.h>

#include "agent/util/macro.h"

struct metrics_job {
	struct answer_job job;
	struct agent *agent;
	struct telemetry_snapshot *snapshot; /* NULL: not yet */
	char config_hash[CONFIG_HASH_BYTES];
};

/* Not a series: those stay for ever, and each configuration would be another one. */
static int put_config_hash(const char *hash, struct buf *out)
{
	if (!*hash)
		return 0;
	return buf_printf(out,
			  "# HELP xagent_config_hash Always 1; which configuration is loaded.\n"
			  "# TYPE xagent_config_hash gauge\n"
			  "xagent_config_hash{cluster_name=\"\",sha256=\"%s\"} 1\n",
			  hash);
}

int agent_metrics_write(struct telemetry_snapshot *snapshot, const char *config_hash,
			struct buf *out)
{
	int r = telemetry_snapshot_text(snapshot, out);

	return r < 0 ? r : put_config_hash(config_hash, out);
}

static enum answer_step look(struct answer_job *job, struct http_answer *answer)
{
	struct metrics_job *m = CONTAINER_OF(job, struct metrics_job, job);

	if (m->snapshot)
		return ANSWER_SEND;
	answer->content_type = "text/plain; version=0.0.4; charset=utf-8";
	memcpy(m->config_hash, m->agent->config_hash, sizeof(m->config_hash));
	if (telemetry_snapshot_new(m->agent->telemetry, &m->snapshot) == 0)
		return ANSWER_MAKE;
	answer->body.failed = true;
	return ANSWER_SEND;
}

static void make(struct answer_job *job, struct http_answer *answer)
{
	struct metrics_job *m = CONTAINER_OF(job, struct metrics_job, job);

	(void)agent_metrics_write(m->snapshot, m->config_hash, &answer->body);
}

static void job_free(struct answer_job *job)
{
	struct metrics_job *m = CONTAINER_OF(job, struct metrics_job, job);

	telemetry_snapshot_free(m->snapshot);
	free(m);
}

void agent_answer_metrics(const struct http_call *call, struct http_answer *answer, void *data)
{
	struct agent *a = data;
	struct metrics_job *m = calloc(1, sizeof(*m));

	if (!m) {
		answer->body.failed = true;
		return;
	}
	m->job = (struct answer_job){ .look = look, .make = make, .free = job_free };
	m->agent = a;
	answer_queue_put(a->metrics, &m->job, call, answer);
}
