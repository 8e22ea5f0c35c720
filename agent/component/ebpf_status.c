/* SPDX-License-Identifier: Apache-2.0 */
/* What others may see of a pyroscope.ebpf. */
#include "agent/component/pyroscope_ebpf.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/component/ebpf_private.h"
#include "agent/component/kinds.h"
#include "agent/profile/process_state.h"
#include "agent/util/macro.h"

static struct ebpf *running(const struct component *c)
{
	struct ebpf *e = c->kind == &pyroscope_ebpf_kind ? c->state : NULL;

	return e && e->session ? e : NULL;
}

bool pyroscope_ebpf_status(const struct component *c, struct ebpf_status *ret_status)
{
	const struct ebpf *e = running(c);

	if (!e)
		return false;
	*ret_status = (struct ebpf_status){
		.n_waiting = session_n_waiting(e->session),
		.interval_ns = (uint64_t)e->args->collect_interval_ns,
		.kernel_hidden = e->kernel_hidden_said,
		.view = &e->view,
	};
	ebpf_metrics_sums(e->metrics, &ret_status->counters, &ret_status->n_missed,
			  ret_status->ends);
	return true;
}

static const struct process_state *process_state_of(const struct ebpf *e, uint32_t pid)
{
	const struct process *p = process_table_find(session_processes(e->session), pid);

	return p ? p->user : NULL;
}

static struct labels *series_of(const struct ebpf *e, uint32_t pid)
{
	const struct process_state *k = process_state_of(e, pid);

	return k && !k->undecided ? k->labels : NULL;
}

const char *pyroscope_ebpf_service_of(const struct component *c, uint32_t pid)
{
	const struct ebpf *e = running(c);
	const struct labels *labels = e ? series_of(e, pid) : NULL;

	return labels ? labels_get(labels, "service_name") : NULL;
}

static void count_process(struct ebpf *e, uint32_t pid)
{
	struct labels *labels = series_of(e, pid);

	if (labels)
		ebpf_series_count_process(&e->series, labels);
}

void pyroscope_ebpf_count_none(const struct component *c)
{
	struct ebpf *e = running(c);

	if (!e)
		return;
	LIST_FOREACH (&e->series.ages, at)
		LIST_ENTRY(at, struct ebpf_series_entry, age)->n_processes = 0;
}

void pyroscope_ebpf_count(const struct component *c, const uint32_t *pids, size_t n)
{
	struct ebpf *e = running(c);

	for (size_t i = 0; e && i < n; i++)
		count_process(e, pids[i]);
}

static int by_samples(const void *a, const void *b)
{
	const struct ebpf_target *left = a;
	const struct ebpf_target *right = b;

	return (left->n_samples < right->n_samples) - (left->n_samples > right->n_samples);
}

int pyroscope_ebpf_targets(const struct component *c, size_t max, struct ebpf_target **ret_targets,
			   size_t *ret_n)
{
	struct ebpf *e = running(c);
	struct ebpf_target *targets = calloc(e ? e->series.n + 1 : 1, sizeof(*targets));
	size_t n = 0;

	if (!targets)
		return -ENOMEM;
	for (struct list *at = e ? e->series.ages.next : NULL; e && at != &e->series.ages;
	     at = at->next) {
		const struct ebpf_series_entry *entry =
			LIST_ENTRY(at, struct ebpf_series_entry, age);

		targets[n++] =
			(struct ebpf_target){ entry->labels, entry->n_processes, entry->n_samples };
	}
	qsort(targets, n, sizeof(*targets), by_samples);
	n = MIN_OF(n, max);
	for (size_t i = 0; i < n; i++)
		(void)labels_ref(targets[i].labels);
	*ret_targets = targets;
	*ret_n = n;
	return 0;
}

void pyroscope_ebpf_targets_free(struct ebpf_target *targets, size_t n)
{
	for (size_t i = 0; i < n; i++)
		labels_unref(targets[i].labels);
	free(targets);
}

void ebpf_judgement_fini(struct ebpf_judgement *j)
{
	labels_unref(j->labels);
	*j = (struct ebpf_judgement){ 0 };
}

/* As of its last sample. False: it has had none since its exec, or the targets are others now. */
static bool recall(const struct ebpf *e, const struct process *p, struct ebpf_judgement *j)
{
	const struct process_state *k = process_state_of(e, p->pid);

	if (!k)
		return false;
	j->n_samples = k->n_samples;
	j->sampled_ns = k->sampled_ns;
	if (!k->undecided)
		return false;
	j->verdict = EBPF_UNDECIDED;
	return true;
}

int pyroscope_ebpf_judge(const struct component *c, struct process_table *processes,
			 struct process *p, struct ebpf_judgement *ret_judgement)
{
	struct ebpf *e = running(c);
	struct ebpf_judgement j = { 0 };
	int r;

	if (!e)
		return -ENOENT;
	j.kernel_left_out = !ebpf_args_kernel(e->args);
	if (!recall(e, p, &j)) {
		r = target_set_match(e->targets, processes, p, &j.labels);
		if (r < 0)
			return r;
		j.verdict = r == TARGET_NONE ? EBPF_UNTARGETED : EBPF_PROFILED;
		j.by_target = r == TARGET_FOUND;
	}
	*ret_judgement = j;
	return 0;
}
