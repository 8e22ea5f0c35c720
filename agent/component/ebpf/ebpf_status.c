/* SPDX-License-Identifier: Apache-2.0 */
/* What others may see of a pyroscope.ebpf: its counters, its series, what it makes of a process, its debug information. */
#include "agent/component/ebpf/pyroscope_ebpf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "agent/component/ebpf/ebpf_private.h"
#include "agent/component/ebpf/host_report.h"
#include "agent/component/kinds.h"
#include "agent/component/target_maps.h"
#include "agent/profile/process_state.h"
#include "agent/util/file.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

/* The longest object below, with room. */
#define MAX_MEMBERS 16
/* /proc/version is one line. */
#define VERSION_MAX_BYTES 4096

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
	ebpf_metrics_runtimes(e->metrics, ret_status->runtimes);
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

struct members {
	struct river_arena *arena;
	struct river_member items[MAX_MEMBERS];
	size_t n;
	bool failed; /* memory is out */
};

static void put(struct members *m, const char *key, const struct river_value *v)
{
	if (v && m->n < MAX_MEMBERS)
		m->items[m->n++] = (struct river_member){ key, v };
	else
		m->failed = true;
}

static void put_number(struct members *m, const char *key, uint64_t n)
{
	put(m, key, river_value_uint(m->arena, n));
}

static void put_text(struct members *m, const char *key, struct str text)
{
	put(m, key, river_value_string(m->arena, text.p, text.n));
}

static const struct river_value *object(const struct members *m)
{
	return m->failed ? NULL : river_value_object(m->arena, m->items, m->n);
}

static void put_host(struct members *m)
{
	_cleanup_buf_ struct buf version = BUF_INIT(VERSION_MAX_BYTES);
	struct utsname u;

	if (uname(&u) == 0)
		put_text(m, "arch", str_from(u.machine));
	if (file_read(AT_FDCWD, "/proc/version", &version) == 0)
		put_text(m, "kernel", str_trim((struct str){ buf_str(&version), version.len }));
}

static const struct river_value *memory_object(struct river_arena *arena,
					       const struct session_memory *memory)
{
	struct members m = { .arena = arena };

	put_number(&m, "limit_bytes", memory->limit_bytes);
	put_number(&m, "arena_bytes", memory->arena_bytes);
	put_number(&m, "arena_used_bytes", memory->arena_used_bytes);
	put_number(&m, "interval_bytes", memory->interval_bytes);
	return object(&m);
}

static const struct river_value *unwind_object(struct river_arena *arena,
					       const struct session_memory *memory)
{
	struct members m = { .arena = arena };

	put_number(&m, "mappings", memory->n_mappings);
	put_number(&m, "files", memory->objects.n_files);
	put_number(&m, "files_loaded", memory->objects.n_by_state[OBJECT_LOADED]);
	put_number(&m, "files_without_room", memory->objects.n_by_state[OBJECT_NO_ROOM]);
	put_number(&m, "files_unreadable", memory->objects.n_by_state[OBJECT_UNREADABLE]);
	put_number(&m, "tables", memory->objects.n_tables);
	put_number(&m, "table_bytes", memory->objects.table_bytes);
	put_number(&m, "rows", memory->objects.n_rows);
	return object(&m);
}

static void put_session(struct members *m, struct session *session)
{
	struct session_memory memory = { 0 };

	session_memory(session, &memory);
	put(m, "memory", memory_object(m->arena, &memory));
	put(m, "unwind", unwind_object(m->arena, &memory));
	put_number(m, "processes", process_table_n(session_processes(session)));
	put_number(m, "sample_rate", sampler_hz(session_sampler(session)));
	put_number(m, "samples_waiting", session_n_waiting(session));
}

int ebpf_debug_info(struct river_arena *arena, const struct ebpf_args *args,
		    struct session *session, const struct host_view *view,
		    const struct river_value **ret_info)
{
	struct members facts = { .arena = arena };
	struct members all = { .arena = arena };
	const struct river_value *info;

	put_host(&facts);
	if (session)
		put_session(&facts, session);
	put(&all, "targets",
	    value_of_labels(arena, (struct labels *const *)args->targets.items,
			    args->targets.n_items));
	put(&all, "session", object(&facts));
	if (session)
		put(&all, "host", host_report_value(view, arena));
	info = object(&all);
	if (!info)
		return -ENOMEM;
	*ret_info = info;
	return 0;
}
