/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether processes are profiled, over HTTP.
 *
 *	search /proc (worker) ─► service names, in pieces (loop) ─► look at those found (worker) ─► judge them, in pieces (loop) ─► write (worker)
 */
#include "agent/cli/web/process_answer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/cli/proc_status.h"
#include "agent/cli/run/agent.h"
#include "agent/cli/web/answer_json.h"
#include "agent/cli/web/disclosure.h"
#include "agent/cli/web/process_json.h"
#include "agent/component/ebpf/host_report.h"
#include "agent/process/proc.h"
#include "agent/util/macro.h"

#define WHY_MAX_BYTES ((size_t)16 << 10)
/* Pieces of the loop: a service name is looked up in half a microsecond; a process is judged by all relabelling rules. */
#define NAMES_A_TURN 1024
#define JUDGED_A_TURN 4

enum phase { PHASE_BEGIN, PHASE_SEARCH, PHASE_NAMES, PHASE_LOOK, PHASE_JUDGE, PHASE_WRITE };

struct search {
	struct answer_job job;
	struct graph *graph; /* borrowed; the loop's */
	enum disclosure to;
	uint32_t pid; /* 0: by name */
	char *text;   /* owned */
	enum phase phase;
	struct telemetry *telemetry;
	struct process_table *processes;
	uint32_t *pids; /* owned; all that there are */
	bool *matches;	/* owned; by what /proc tells */
	size_t n_pids;
	size_t at; /* of pids, then of found */
	size_t n_matching;
	struct process_found found[PROCESS_ANSWER_MAX];
	size_t n_found;
	struct buf why;
	int error; /* the first */
};

static void note_error(struct search *s, int r)
{
	if (s->error == 0 && r < 0)
		s->error = r;
}

static void add(struct search *s, uint32_t pid)
{
	if (s->n_matching++ < PROCESS_ANSWER_MAX)
		s->found[s->n_found++].pid = pid;
}

static void explain_by_name(struct search *s)
{
	if (s->n_matching == 0)
		(void)buf_printf(&s->why,
				 "no process has this in its name, executable%s or service name",
				 s->to == DISCLOSE_ALL ? ", command line" : "");
	else if (s->n_matching > PROCESS_ANSWER_MAX)
		(void)buf_printf(&s->why, "the first %d of %zu", PROCESS_ANSWER_MAX, s->n_matching);
}

static void write_all(struct search *s, struct http_answer *answer)
{
	json_t *array = json_array();

	for (size_t i = 0; i < s->n_found && s->error == 0 && !atomic_load(s->job.stop); i++)
		if (json_array_append_new(array, process_found_json(s->processes, s->telemetry,
								    &s->found[i])) < 0)
			s->error = -ENOMEM;
	if (!s->pid)
		explain_by_name(s);
	json_t *json = s->error ? NULL : json_pack("{s:O}", "processes", array);
	if (json && s->why.len > 0)
		(void)json_object_set_new(json, "why", json_string(buf_str(&s->why)));
	answer_json(answer, json);
	json_decref(array);
}

static void search_by_pid(struct search *s)
{
	struct host_view view;
	uint32_t leader;

	if (proc_status_number(s->pid, "Tgid:", &leader) == 0) {
		if (leader != s->pid)
			(void)buf_printf(&s->why, "%" PRIu32 " is a thread of process %" PRIu32,
					 s->pid, leader);
		add(s, leader);
		return;
	}
	host_report_read(&view);
	why_unknown(s->pid, &view, &s->why);
}

static bool commandline_has(const struct proc *proc, const char *text)
{
	_cleanup_buf_ struct buf words = BUF_INIT(PROC_CMDLINE_MAX);

	(void)proc_read_arguments(proc, &words, NULL);
	for (size_t i = 0; i < words.len; i++)
		if (!words.data[i])
			words.data[i] = ' ';
	return strcasestr(buf_str(&words), text);
}

static bool has_text(const struct search *s, uint32_t pid, bool *ret_thread_groups)
{
	_cleanup_proc_ struct proc proc = PROC_NONE;

	*ret_thread_groups = proc_open("/proc", pid, &proc) == 0;
	if (!*ret_thread_groups)
		return false;
	return strcasestr(proc.comm, s->text) || (proc.exe && strcasestr(proc.exe, s->text)) ||
	       (s->to == DISCLOSE_ALL && commandline_has(&proc, s->text));
}

/* Those that have ended meanwhile are left out. */
static void search_by_name(struct search *s)
{
	_cleanup_free_ uint32_t *pids = NULL;
	size_t n = 0, n_thread_groups = 0;
	int r = process_list_pids(s->processes, &pids, &n);

	if (r == 0)
		s->matches = calloc(n + 1, sizeof(*s->matches));
	note_error(s, r == 0 && !s->matches ? -ENOMEM : r);
	for (size_t i = 0; s->matches && i < n && !atomic_load(s->job.stop); i++) {
		bool thread_groups;

		s->matches[n_thread_groups] = has_text(s, pids[i], &thread_groups);
		pids[n_thread_groups] = pids[i];
		n_thread_groups += thread_groups;
	}
	s->n_pids = n_thread_groups;
	s->pids = TAKE_PTR(pids);
}

static bool has_service(const struct search *s, uint32_t pid)
{
	for (size_t i = 0; i < graph_n(s->graph); i++) {
		const char *name = pyroscope_ebpf_service_of(graph_component(s->graph, i), pid);

		if (name && strcasestr(name, s->text))
			return true;
	}
	return false;
}

/* False: there are more. */
static bool look_up_names(struct search *s)
{
	size_t end = MIN_OF(s->at + NAMES_A_TURN, s->n_pids);

	for (; s->at < end; s->at++)
		if (s->matches[s->at] || has_service(s, s->pids[s->at]))
			add(s, s->pids[s->at]);
	return s->at == s->n_pids;
}

static bool judge_some(struct search *s)
{
	size_t end = MIN_OF(s->at + JUDGED_A_TURN, s->n_found);

	for (; s->at < end; s->at++)
		if (s->found[s->at].process)
			process_found_judge(s->graph, s->processes, &s->found[s->at]);
	return s->at == s->n_found;
}

static int make_table(struct search *s)
{
	int r = telemetry_new(&s->telemetry);

	if (r < 0)
		return r;
	return process_table_new(
		&(struct process_table_options){ .no_mappings = true, .telemetry = s->telemetry },
		&s->processes);
}

static void make(struct answer_job *job, struct http_answer *answer)
{
	struct search *s = CONTAINER_OF(job, struct search, job);

	switch (s->phase) {
	case PHASE_SEARCH:
		note_error(s, make_table(s));
		if (s->error == 0 && s->pid)
			search_by_pid(s);
		else if (s->error == 0)
			search_by_name(s);
		return;
	case PHASE_LOOK:
		for (size_t i = 0; i < s->n_found && !atomic_load(s->job.stop); i++)
			note_error(s, process_found_look(s->processes, &s->found[i]));
		return;
	case PHASE_WRITE:
		write_all(s, answer);
		return;
	case PHASE_NAMES:
	case PHASE_JUDGE:
	case PHASE_BEGIN:
		return;
	}
}

static enum answer_step go_to(struct search *s, enum phase phase)
{
	s->phase = phase;
	s->at = 0;
	return phase == PHASE_NAMES || phase == PHASE_JUDGE ? ANSWER_LOOK : ANSWER_MAKE;
}

/* What was begun has been done. */
static enum answer_step look(struct answer_job *job, struct http_answer *answer)
{
	struct search *s = CONTAINER_OF(job, struct search, job);

	switch (s->phase) {
	case PHASE_BEGIN:
		answer->content_type = "application/json";
		http_answer_add_header(answer, "Cache-Control", "no-store");
		return go_to(s, PHASE_SEARCH);
	case PHASE_SEARCH:
		return go_to(s, PHASE_NAMES);
	case PHASE_NAMES:
		return look_up_names(s) ? go_to(s, PHASE_LOOK) : ANSWER_LOOK;
	case PHASE_LOOK:
		return go_to(s, PHASE_JUDGE);
	case PHASE_JUDGE:
		return judge_some(s) ? go_to(s, PHASE_WRITE) : ANSWER_LOOK;
	case PHASE_WRITE:
		break;
	}
	return ANSWER_SEND;
}

static void job_free(struct answer_job *job)
{
	struct search *s = CONTAINER_OF(job, struct search, job);

	for (size_t i = 0; i < s->n_found; i++)
		process_found_fini(&s->found[i]);
	process_table_free(s->processes);
	telemetry_free(s->telemetry);
	buf_fini(&s->why);
	free(s->matches);
	free(s->pids);
	free(s->text);
	free(s);
}

void process_answer(struct agent *a, uint32_t pid, const char *name, const struct http_call *call,
		    struct http_answer *answer)
{
	struct search *s = calloc(1, sizeof(*s));
	char *text = strdup(name ? name : "");

	if (!s || !text) {
		free(text);
		free(s);
		answer->body.failed = true;
		return;
	}
	*s = (struct search){ .graph = a->graph,
			      .to = disclosure_to(call),
			      .pid = pid,
			      .text = text,
			      .phase = PHASE_BEGIN,
			      .why = BUF_INIT(WHY_MAX_BYTES) };
	s->job = (struct answer_job){ .look = look, .make = make, .free = job_free };
	answer_queue_put(a->answers, &s->job, call, answer);
}
