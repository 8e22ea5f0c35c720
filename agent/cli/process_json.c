/* SPDX-License-Identifier: Apache-2.0 */
/* Whether processes are profiled, as JSON. */
#include "agent/cli/process_json.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "agent/cli/process_series.h"
#include "agent/cli/proc_status.h"
#include "agent/cli/why_missing.h"
#include "agent/component/host_report.h"
#include "agent/component/kinds.h"
#include "agent/process/proc.h"
#include "agent/util/clock.h"
#include "agent/util/file.h"

/* Two sentences with a path in each. */
#define SENTENCE_MAX_BYTES ((size_t)16 << 10)

/* A look at processes that leaves no trace in what profiles. */
struct look {
	struct graph *graph;
	struct telemetry *telemetry;
	struct process_table *processes;
	json_t *found; /* array */
	size_t n_matching;
};

static int look_init(struct look *l, struct graph *g)
{
	*l = (struct look){ .graph = g, .found = json_array() };
	int r = telemetry_new(&l->telemetry);

	if (r == 0)
		r = process_table_new(&(struct process_table_options){ .no_mappings = true,
								       .telemetry = l->telemetry },
				      &l->processes);
	return r == 0 && !l->found ? -ENOMEM : r;
}

static void look_fini(struct look *l)
{
	process_table_free(l->processes);
	telemetry_free(l->telemetry);
	json_decref(l->found);
}

static int rank(const struct ebpf_judgement *j)
{
	static const int ranks[] = {
		[EBPF_UNTARGETED] = 0, [EBPF_UNDECIDED] = 1, [EBPF_PROFILED] = 2
	};

	return 2 * ranks[j->verdict] + (j->n_samples > 0);
}

/* Of several components the one that does most for it. */
static void judge(const struct look *l, struct process *p, struct why_missing *f,
		  struct ebpf_judgement *best)
{
	for (size_t i = 0; i < graph_n(l->graph); i++) {
		const struct component *c = graph_component(l->graph, i);
		_cleanup_judgement_ struct ebpf_judgement j = { 0 };

		if (c->kind == &pyroscope_ebpf_kind && !f->component_id)
			f->problem = c->health.message;
		if (pyroscope_ebpf_judge(c, l->processes, p, &j) < 0 ||
		    (f->component_id && rank(&j) <= rank(best)))
			continue;
		f->component_id = c->id;
		ebpf_judgement_fini(best);
		*best = j;
		j.labels = NULL;
	}
}

static bool is_zombie(uint32_t pid)
{
	_cleanup_buf_ struct buf text = BUF_INIT(PROC_STAT_MAX);
	struct proc_stat stat;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", pid);
	return file_read(AT_FDCWD, path, &text) == 0 &&
	       proc_stat_parse((struct str){ buf_str(&text), text.len }, &stat) == 0 &&
	       stat.state == 'Z' && stat.n_threads <= 1;
}

static json_t *describe(const struct process *p, const struct process_identity *id,
			const char *service, const char *source)
{
	return json_pack("{s:I, s:s, s:s, s:s, s:s}", "pid", (json_int_t)p->pid, "name", id->comm,
			 "exe", id->exe, "service_name", service, "service_name_source", source);
}

static json_t *describe_series(struct look *l, struct process *p, const struct ebpf_judgement *j)
{
	const struct process_identity *id = process_identity(l->processes, p);
	const char *given = j->labels ? labels_get(j->labels, "service_name") : NULL;
	_cleanup_process_series_ struct process_series series = { 0 };

	if (process_series_find(l->processes, p, l->telemetry, &series) < 0)
		return describe(p, id, given ? given : "", "");
	bool is_own = !given || strcmp(given, series.name.text) == 0;
	return describe(p, id, is_own ? series.name.text : given,
			is_own ? service_name_source_word(series.name.source) : "configuration");
}

static int add(struct look *l, uint32_t pid)
{
	_cleanup_buf_ struct buf why = BUF_INIT(SENTENCE_MAX_BYTES);
	_cleanup_buf_ struct buf fix = BUF_INIT(SENTENCE_MAX_BYTES);
	_cleanup_judgement_ struct ebpf_judgement j = { 0 };
	struct process *p = process_table_get(l->processes, pid, NULL);
	struct why_missing f = { .pid = pid, .ended = is_zombie(pid) };
	uint64_t now_ns = clock_mono_ns();

	if (!p)
		return -ENOMEM;
	f.kernel_thread = process_identity(l->processes, p)->kernel_thread;
	judge(l, p, &f, &j);
	f.verdict = j.verdict;
	f.kernel_left_out = j.kernel_left_out;
	f.n_samples = j.n_samples;
	f.idle_ns = now_ns > j.sampled_ns ? now_ns - j.sampled_ns : 0;
	bool profiled = why_missing(&f, &why, &fix);
	json_t *one = describe_series(l, p, &j);
	int r = one ? json_object_update_new(one,
					     json_pack("{s:b, s:s, s:s}", "profiled", profiled,
						       "why", buf_str(&why), "fix", buf_str(&fix)))
		    : -1;
	return json_array_append_new(l->found, one) < 0 || r < 0 ? -ENOMEM : 0;
}

static json_t *answer(const struct look *l, int r, const struct buf *why)
{
	json_t *json = r < 0 ? NULL : json_pack("{s:O}", "processes", l->found);

	if (json && why->len > 0)
		(void)json_object_set_new(json, "why", json_string(buf_str(why)));
	return json;
}

static int look_at(struct look *l, uint32_t pid, struct buf *why)
{
	uint32_t leader;
	struct host_view view;

	if (proc_status_number(pid, "Tgid:", &leader) == 0) {
		if (leader != pid)
			(void)buf_printf(why, "%" PRIu32 " is a thread of process %" PRIu32, pid,
					 leader);
		return add(l, leader);
	}
	host_report_read(&view);
	why_unknown(pid, &view, why);
	return 0;
}

json_t *process_json(struct graph *g, uint32_t pid)
{
	_cleanup_buf_ struct buf why = BUF_INIT(SENTENCE_MAX_BYTES);
	_cleanup_(look_fini) struct look l = { 0 };
	int r = look_init(&l, g);

	if (r == 0)
		r = look_at(&l, pid, &why);
	return answer(&l, r, &why);
}

static bool has_service(const struct look *l, uint32_t pid, const char *text)
{
	for (size_t i = 0; i < graph_n(l->graph); i++) {
		const char *name = pyroscope_ebpf_service_of(graph_component(l->graph, i), pid);

		if (name && strcasestr(name, text))
			return true;
	}
	return false;
}

static bool has_text(const struct look *l, uint32_t pid, const char *text)
{
	_cleanup_buf_ struct buf words = BUF_INIT(PROC_CMDLINE_MAX);
	_cleanup_buf_ struct buf exe = BUF_INIT(PROC_CMDLINE_MAX);
	_cleanup_proc_ struct proc proc = PROC_NONE;

	if (proc_open("/proc", pid, &proc) < 0)
		return false;
	(void)proc_read_link(&proc, "exe", &exe);
	(void)proc_read_file(&proc, "cmdline", &words);
	for (size_t i = 0; i < words.len; i++)
		if (!words.data[i])
			words.data[i] = ' ';
	return strcasestr(proc.comm, text) || strcasestr(buf_str(&exe), text) ||
	       strcasestr(buf_str(&words), text) || has_service(l, pid, text);
}

static int look_through(struct look *l, const char *text)
{
	_cleanup_free_ uint32_t *pids = NULL;
	size_t n = 0;
	int r = process_list_pids(l->processes, &pids, &n);

	for (size_t i = 0; r == 0 && i < n; i++)
		if (has_text(l, pids[i], text) && l->n_matching++ < PROCESS_JSON_MAX)
			r = add(l, pids[i]);
	return r;
}

json_t *process_json_by_name(struct graph *g, const char *text)
{
	_cleanup_buf_ struct buf why = BUF_INIT(SENTENCE_MAX_BYTES);
	_cleanup_(look_fini) struct look l = { 0 };
	int r = look_init(&l, g);

	if (r == 0)
		r = look_through(&l, text);
	if (l.n_matching == 0)
		(void)buf_append_str(&why, "no process has this in its name, executable, command "
					   "line or service name");
	else if (l.n_matching > PROCESS_JSON_MAX)
		(void)buf_printf(&why, "the first %d of %zu", PROCESS_JSON_MAX, l.n_matching);
	return answer(&l, r, &why);
}
