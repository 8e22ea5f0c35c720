/* SPDX-License-Identifier: Apache-2.0 */
/* `xagent inspect stack`: the present stacks of processes, walked and named by what the profiler walks and names with. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "agent/cli/inspect/inspect.h"
#include "agent/cli/inspect/inspect_each.h"
#include "agent/cli/inspect/stack_snapshot.h"
#include "agent/cli/inspect/stack_text.h"
#include "agent/process/jit_files.h"
#include "agent/unwind/host_walk.h"
#include "agent/util/file.h"
#include "agent/util/macro.h"

/* Written in pieces of this size; a stack of 1000 frames with long names is some 300 KiB. */
#define OUTPUT_BYTES ((size_t)64 * 1024)
#define STACK_MAX_BYTES ((size_t)64 << 20)

static const char help[] =
	"xagent inspect stack: the present stacks of all threads of a process\n"
	"\n"
	"Usage:\n"
	"  xagent inspect stack PID…\n"
	"\n"
	"For each thread, innermost frame first:\n"
	"  thread TID NAME\n"
	"  #N  ADDRESS FUNCTION (FILE)\n"
	"  [REASON]               the walk went no further; without it the stack is complete\n"
	"ADDRESS is where the thread goes on in that frame: of callers, the return address. "
	"Functions\n"
	"that were inlined into another have no frame.\n"
	"\n"
	"The process is stopped for some milliseconds, as by a debugger, and goes on as before. "
	"Stacks\n"
	"are walked by the same code and rules as in profiles. A thread that waits "
	"uninterruptibly in the\n"
	"kernel cannot be stopped: its stack is walked from what /proc tells of it.\n"
	"\n"
	"Flags:\n"
	"  -h, --help             this text\n"
	"\n"
	"It takes root, CAP_SYS_PTRACE, or the same user where kernel.yama.ptrace_scope allows "
	"it; a\n"
	"process that is being debugged cannot be looked at. Exit code: 0, or 1 when one of the "
	"processes\n"
	"could not be looked at; the others still are.\n"
	"\n"
	"Examples:\n"
	"  xagent inspect stack 4711\n"
	"  xagent inspect stack $(pgrep nginx) | less\n";

struct printing {
	struct inspect_context *context;
	const struct stack_snapshot *snapshot;
	const struct jit_files *jit; /* NULL: none */
	struct buf *out;
};

static const char *name_without_file(const struct printing *p, struct frame_ref frame)
{
	uint64_t pc = frame_ref_value(frame);
	const struct mapping *m = mappings_find(p->snapshot->process->mappings, pc);
	struct frames names;

	if (frame_ref_kind(frame) != FRAME_KIND_MEMORY)
		return symbol_frame_unknown().function;
	symbol_resolve_anon(p->context->symbols, p->jit, pc, NULL, m ? m->name : NULL, &names);
	return names.items[names.n - 1].function;
}

static void print_frame(const struct printing *p, const struct stack_thread *thread, size_t i)
{
	const struct stack_frame *f = &p->snapshot->frames[thread->first + i];
	struct frames names;
	uint64_t file_off;
	struct mapped_file *file = stack_frame_file(p->snapshot, f->frame, &file_off);

	if (!file) {
		stack_text_frame(p->out, i, thread->n, f->pc, name_without_file(p, f->frame), NULL);
		return;
	}
	symbol_resolve_user(p->context->symbols, file, file_off, &names);
	/* The last is the function that has the frame. */
	const struct frame *own = &names.items[names.n - 1];
	stack_text_frame(p->out, i, thread->n, f->pc, own->function, own->object->path);
}

static void print_thread(const struct printing *p, const struct stack_thread *thread)
{
	stack_text_thread(p->out, thread->tid, thread->name);
	for (size_t i = 0; i < thread->n; i++)
		print_frame(p, thread, i);
	if (thread->outcome == STACK_NONE)
		(void)buf_append_str(p->out, "[it could not be stopped]\n");
	else
		stack_text_end(p->out, thread->end);
}

static int flush(struct buf *out)
{
	int r = file_write_fd(STDOUT_FILENO, buf_str(out), out->len);

	buf_reset(out);
	return r;
}

static int print_snapshot(const struct printing *p)
{
	int r = 0;

	symbol_store_begin(p->context->symbols);
	for (size_t i = 0; i < p->snapshot->n_threads && r == 0; i++) {
		if (i > 0)
			(void)buf_append_char(p->out, '\n');
		print_thread(p, &p->snapshot->threads[i]);
		if (p->out->len >= OUTPUT_BYTES)
			r = flush(p->out);
	}
	symbol_store_end(p->context->symbols);
	return r < 0 ? r : flush(p->out);
}

static int fail_unanswered(uint32_t pid, struct buf *why)
{
	(void)buf_printf(why,
			 "process %" PRIu32
			 ": not all of its memory was read, and stacks may be cut: a "
			 "file system that it has mapped (FUSE or NFS?) did not answer in time",
			 pid);
	return -ETIMEDOUT;
}

static int show(struct inspect_context *w, uint32_t pid, bool is_first, struct buf *why)
{
	_cleanup_stack_snapshot_ struct stack_snapshot snapshot = { 0 };
	_cleanup_buf_ struct buf out = BUF_INIT(STACK_MAX_BYTES);
	_cleanup_(jit_files_unrefp) struct jit_files *jit = NULL;
	struct printing p = { .context = w, .snapshot = &snapshot, .out = &out };
	int r = inspect_pid_check(pid, why);

	if (r < 0)
		return r;
	r = stack_snapshot_take(w, pid, &snapshot);
	if (r < 0) {
		inspect_pid_explain(pid, r, why);
		return r;
	}
	if (!is_first)
		(void)buf_append_char(&out, '\n');
	(void)jit_files_open(w->processes, snapshot.process, &jit);
	p.jit = jit;
	r = print_snapshot(&p);
	if (r < 0)
		(void)buf_printf(why, "cannot write: %s", strerror(-r));
	else if (snapshot.is_unanswered)
		r = fail_unanswered(pid, why);
	return r;
}

int inspect_stack(int argc, char **argv)
{
	return inspect_each("inspect stack", help, show, argc, argv);
}
