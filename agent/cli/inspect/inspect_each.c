/* SPDX-License-Identifier: Apache-2.0 */
/* A subcommand whose words are process ids: the ids, what keeps us from a process, and the tables of the profiler for those that are looked at. */
#include "agent/cli/inspect/inspect_each.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent/cli/cli.h"
#include "agent/cli/options.h"
#include "agent/cli/proc_status.h"
#include "agent/process/proc.h"
#include "agent/symbol/debug_open.h"
#include "agent/util/cleanup.h"
#include "agent/util/clock.h"
#include "agent/util/file.h"
#include "agent/util/macro.h"
#include "agent/util/reader.h"
#include "agent/util/str.h"

#define MESSAGE_MAX_BYTES 8192
/* Documentation/admin-guide/LSM/Yama.rst: 0 the same user, 1 descendants only, 2 CAP_SYS_PTRACE only, 3 nobody. */
#define PTRACE_SCOPE "/proc/sys/kernel/yama/ptrace_scope"
#define PTRACE_SCOPE_NOBODY 3
/* Nothing is put into the arena, so one slot for all files is as good as many. */
#define MAX_OBJECTS (WIRE_OBJECT_FIRST + 1)

void inspect_pids_fini(struct inspect_pids *p)
{
	free(p->items);
	*p = (struct inspect_pids){ 0 };
}

static int fail(struct buf *why, int r, const char *text)
{
	(void)buf_append_str(why, text);
	return r;
}

int inspect_pids_parse(const struct cli_words *words, struct inspect_pids *ret_pids,
		       struct buf *why)
{
	_cleanup_inspect_pids_ struct inspect_pids p = { 0 };
	uint64_t pid;

	if (words->n == 0 || words->rest)
		return fail(why, -EINVAL, "wants process ids");
	p.items = calloc(words->n, sizeof(*p.items));
	if (!p.items)
		return fail(why, -ENOMEM, strerror(ENOMEM));
	for (; p.n < words->n; p.n++) {
		const char *word = words->items[p.n];

		if (str_parse_u64(str_from(word), 10, INT32_MAX, &pid) < 0 || pid == 0) {
			(void)buf_printf(why, "wants process ids, not \"%.100s\"", word);
			return -EINVAL;
		}
		p.items[p.n] = (uint32_t)pid;
	}
	*ret_pids = p;
	p = (struct inspect_pids){ 0 };
	return 0;
}

/* `leader`: of the process whose thread `pid` may be. */
static int check_proc(uint32_t pid, uint32_t leader, struct buf *why)
{
	_cleanup_proc_ struct proc proc = PROC_NONE;

	if (leader != pid) {
		(void)buf_printf(why, "%" PRIu32 " is a thread of process %" PRIu32, pid, leader);
		return -ESRCH;
	}
	int r = proc_open("/proc", pid, &proc);
	if (r == -ENOENT || r == -ESRCH)
		(void)buf_printf(why, "process %" PRIu32 " has ended", pid);
	else if (reader_is_passing(r))
		(void)buf_printf(why,
				 "process %" PRIu32 ": /proc does not answer for it; a file system "
				 "that it uses may be silent (FUSE, NFS)",
				 pid);
	else if (r < 0)
		(void)buf_printf(why, "process %" PRIu32 ": %s", pid, strerror(-r));
	else if (proc.kernel_thread)
		(void)buf_printf(why, "%" PRIu32 " (%s) is a kernel thread: it runs no user code",
				 pid, proc.comm);
	return why->len ? -ESRCH : 0;
}

int inspect_pid_check(uint32_t pid, struct buf *why)
{
	uint32_t leader;

	if (proc_status_number(pid, "Tgid:", &leader) == 0)
		return check_proc(pid, leader, why);
	(void)buf_printf(why, "there is no process %" PRIu32, pid);
	return -ESRCH;
}

void inspect_pid_needs(struct buf *why)
{
	uint64_t scope;

	if (geteuid() == 0)
		(void)buf_append_str(why, "CAP_SYS_PTRACE, and that no security module forbids it");
	else if (file_read_u64(PTRACE_SCOPE, &scope) < 0)
		(void)buf_append_str(why, "root, CAP_SYS_PTRACE, or the same user");
	else if (scope >= PTRACE_SCOPE_NOBODY)
		(void)buf_printf(why, "kernel.yama.ptrace_scope below %d", PTRACE_SCOPE_NOBODY);
	else
		(void)buf_printf(why,
				 "root, CAP_SYS_PTRACE, or the same user and "
				 "kernel.yama.ptrace_scope = 0 (it is %" PRIu64 ")",
				 scope);
}

/* The tracer is a thread; people know its process. */
static bool explain_tracer(uint32_t pid, struct buf *why)
{
	uint32_t tracer = 0, process;

	if (proc_status_number(pid, "TracerPid:", &tracer) < 0 || tracer == 0)
		return false;
	if (proc_status_number(tracer, "Tgid:", &process) < 0)
		process = tracer;
	(void)buf_printf(why,
			 "process %" PRIu32 " is traced by process %" PRIu32
			 " already, and there can be one tracer only",
			 pid, process);
	return true;
}

void inspect_pid_explain(uint32_t pid, int error, struct buf *why)
{
	if (error == -ESRCH) {
		(void)buf_printf(why, "process %" PRIu32 " has ended", pid);
	} else if (error == -ETIMEDOUT) {
		(void)buf_printf(why,
				 "process %" PRIu32
				 " could not be stopped in time: does it begin a "
				 "program on a file system (FUSE or NFS) that does not answer?",
				 pid);
	} else if (error != -EPERM && error != -EACCES) {
		(void)buf_printf(why, "process %" PRIu32 ": %s", pid, strerror(-error));
	} else if (pid == (uint32_t)getpid()) {
		(void)buf_printf(why, "process %" PRIu32 " is this one: it cannot stop itself",
				 pid);
	} else if (!explain_tracer(pid, why)) {
		(void)buf_printf(why, "not permitted to stop process %" PRIu32 ": it takes ", pid);
		inspect_pid_needs(why);
	}
}

/* A descriptor for each mapped file; some programs map thousands. */
static void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

static int init_objects(struct inspect_context *w)
{
	struct kernel_arena_options arena = { .segments_fd = -1, .max_segments = 1 };
	struct object_tables_options objects = {
		.objects_fd = -1,
		.max_objects = MAX_OBJECTS,
		.processes = w->processes,
		.telemetry = w->telemetry,
	};
	int r = kernel_arena_new(&arena, &w->arena);

	objects.arena = w->arena;
	return r < 0 ? r : object_tables_new(&objects, &w->objects);
}

int inspect_context_init(struct inspect_context *w)
{
	struct symbol_store_options symbols = SYMBOL_STORE_OPTIONS_INIT;

	*w = (struct inspect_context){ 0 };
	raise_file_limit();
	int r = telemetry_new(&w->telemetry);
	if (r < 0)
		return r;
	r = process_table_new(&(struct process_table_options){ .telemetry = w->telemetry },
			      &w->processes);
	if (r < 0)
		return r;
	r = init_objects(w);
	if (r < 0)
		return r;
	return symbol_store_new(&symbols, &w->symbols);
}

void inspect_context_fini(struct inspect_context *w)
{
	symbol_store_free(w->symbols);
	object_tables_free(w->objects);
	kernel_arena_free(w->arena);
	process_table_free(w->processes);
	telemetry_free(w->telemetry);
	*w = (struct inspect_context){ 0 };
}

struct process *inspect_context_process(struct inspect_context *w, uint32_t pid)
{
	struct process *p;

	process_table_distrust(w->processes);
	p = process_table_get(w->processes, pid, NULL);
	for (uint32_t i = 0; p && p->mappings && i < p->mappings->n; i++) {
		struct mapped_file *f = p->mappings->items[i].file;

		if (!f)
			continue;
		(void)process_open_file(w->processes, p, f);
		debug_open(f, pid, clock_mono_ns(), NULL);
	}
	return p;
}

struct args {
	bool help;
};

static const struct cli_flag flags[] = {
	{ "help", 'h', CLI_SWITCH, offsetof(struct args, help), NULL, NULL },
};

static void complain(struct buf *why)
{
	(void)fprintf(stderr, "xagent: %s\n", buf_str(why));
	buf_reset(why);
}

static int show_all(const struct inspect_pids *pids, inspect_show_fn show, struct buf *why)
{
	_cleanup_inspect_context_ struct inspect_context w = { 0 };
	bool is_first = true;
	int code = 0;
	int r = inspect_context_init(&w);

	if (r < 0) {
		(void)buf_append_str(why, strerror(-r));
		complain(why);
		return CLI_EXIT_FAILURE;
	}
	for (size_t i = 0; i < pids->n; i++) {
		if (show(&w, pids->items[i], is_first, why) == 0) {
			is_first = false;
			continue;
		}
		complain(why);
		code = CLI_EXIT_FAILURE;
	}
	return code;
}

int inspect_each(const char *command, const char *help, inspect_show_fn show, int argc, char **argv)
{
	_cleanup_words_ struct cli_words words = { 0 };
	_cleanup_inspect_pids_ struct inspect_pids pids = { 0 };
	_cleanup_buf_ struct buf why = BUF_INIT(MESSAGE_MAX_BYTES);
	struct args a = { 0 };
	int r = cli_options_parse(flags, ARRAY_SIZE(flags), argc, argv, &a, &words, &why);

	if (r < 0)
		return cli_usage_error(command, &why);
	if (a.help)
		return fputs(help, stdout) < 0 ? CLI_EXIT_FAILURE : 0;
	if (inspect_pids_parse(&words, &pids, &why) < 0)
		return cli_usage_error(command, &why);
	return show_all(&pids, show, &why);
}
