/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a process is profiled, as JSON. */
#include "agent/cli/web/process_json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/cli/inspect/process_series.h"
#include "agent/component/kinds.h"
#include "agent/process/proc.h"
#include "agent/util/clock.h"

/* Two sentences with a path in each. */
#define SENTENCE_MAX_BYTES ((size_t)16 << 10)

static int rank(const struct ebpf_judgement *j)
{
	static const int ranks[] = {
		[EBPF_UNTARGETED] = 0, [EBPF_UNDECIDED] = 1, [EBPF_PROFILED] = 2
	};

	return 2 * ranks[j->verdict] + (j->n_samples > 0);
}

static void keep_text(char **to, const char *text)
{
	free(*to);
	*to = strdup(text);
}

/* Of several components the one that does most for it. */
void process_found_judge(const struct graph *g, struct process_table *processes,
			 struct process_found *f)
{
	struct ebpf_judgement *best = &f->judgement;

	for (size_t i = 0; i < graph_n(g); i++) {
		const struct component *c = graph_component(g, i);
		_cleanup_judgement_ struct ebpf_judgement j = { 0 };

		if (c->kind == &pyroscope_ebpf_kind && !f->component_id)
			keep_text(&f->problem, c->health.message);
		if (pyroscope_ebpf_judge(c, processes, f->process, &j) < 0 ||
		    (f->component_id && rank(&j) <= rank(best)))
			continue;
		keep_text(&f->component_id, c->id);
		ebpf_judgement_fini(best);
		*best = j;
		j.labels = NULL;
	}
}

/* It is there, and no thread of it lives. */
static bool is_zombie(uint32_t pid)
{
	_cleanup_proc_ struct proc proc = PROC_NONE;

	return proc_open("/proc", pid, &proc) == -ESRCH;
}

int process_found_look(struct process_table *processes, struct process_found *f)
{
	f->process = process_table_get(processes, f->pid, NULL);
	if (!f->process)
		return -ENOMEM;
	f->facts.pid = f->pid;
	f->facts.ended = is_zombie(f->pid);
	f->facts.kernel_thread = process_identity(processes, f->process)->kernel_thread;
	return 0;
}

static json_t *describe(const struct process *p, const struct process_identity *id,
			const char *service, const char *source)
{
	return json_pack("{s:I, s:s, s:s, s:s, s:s}", "pid", (json_int_t)p->pid, "name", id->comm,
			 "exe", id->exe, "service_name", service, "service_name_source", source);
}

static json_t *describe_series(struct process_table *processes, struct telemetry *telemetry,
			       struct process *p, const struct ebpf_judgement *j)
{
	const struct process_identity *id = process_identity(processes, p);
	const char *given = j->labels ? labels_get(j->labels, "service_name") : NULL;
	_cleanup_process_series_ struct process_series series = { 0 };

	if (process_series_find(processes, p, telemetry, &series) < 0)
		return describe(p, id, given ? given : "", "");
	bool is_own = !given || strcmp(given, series.name.text) == 0;
	return describe(p, id, is_own ? series.name.text : given,
			is_own ? service_name_source_word(series.name.source) : "configuration");
}

static void finish_facts(struct process_found *f)
{
	const struct ebpf_judgement *j = &f->judgement;
	uint64_t now_ns = clock_mono_ns();

	f->facts.component_id = f->component_id;
	f->facts.problem = f->problem;
	f->facts.verdict = j->verdict;
	f->facts.kernel_left_out = j->kernel_left_out;
	f->facts.n_samples = j->n_samples;
	f->facts.idle_ns = now_ns > j->sampled_ns ? now_ns - j->sampled_ns : 0;
}

json_t *process_found_json(struct process_table *processes, struct telemetry *telemetry,
			   struct process_found *f)
{
	_cleanup_buf_ struct buf why = BUF_INIT(SENTENCE_MAX_BYTES);
	_cleanup_buf_ struct buf fix = BUF_INIT(SENTENCE_MAX_BYTES);

	finish_facts(f);
	bool profiled = why_missing(&f->facts, &why, &fix);
	json_t *one = describe_series(processes, telemetry, f->process, &f->judgement);
	if (one && json_object_update_new(one, json_pack("{s:b, s:s, s:s}", "profiled", profiled,
							 "why", buf_str(&why), "fix",
							 buf_str(&fix))) == 0)
		return one;
	json_decref(one);
	return NULL;
}

void process_found_fini(struct process_found *f)
{
	ebpf_judgement_fini(&f->judgement);
	free(f->component_id);
	free(f->problem);
}
