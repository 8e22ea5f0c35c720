/* SPDX-License-Identifier: Apache-2.0 */
/* The stacks of all threads of a process at one moment. */
#include "agent/cli/inspect/stack_snapshot.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "agent/cli/threads/ptrace_threads.h"
#include "agent/process/thread_memory.h"
#include "agent/cli/threads/thread_regs.h"
#include "agent/cli/threads/thread_state.h"
#include "agent/unwind/host_walk.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"
#include "agent/util/user_space.h"

/* /proc/PID/task/TID/syscall: nine numbers of at most 18 digits. */
#define SYSCALL_TEXT_BYTES 256
/* Stopping takes milliseconds, or GIVE_UP_NS of ptrace_threads.c more than once where threads come and go. But ptrace(2) waits for the end of an
 * execve(2), and that for a file system which may never answer. */
#define STOP_PATIENCE_S 10

/* Who waits and who traces settle by one exchange whose the rest is. */
enum phase { PHASE_STOPPING, PHASE_READING, PHASE_GIVEN_UP };

struct taking {
	_Atomic enum phase phase;
	struct inspect_context *context;
	uint32_t pid;
	struct stack_snapshot snapshot;
	struct thread_memory memory;
	uint64_t user_mask; /* the bits of its addresses */
	size_t n_own;	    /* frames of the thread that is walked */
	bool no_memory;
	int result;
};

void stack_snapshot_fini(struct stack_snapshot *s)
{
	process_unref(s->process);
	free(s->threads);
	free(s->frames);
	*s = (struct stack_snapshot){ 0 };
}

static int read_memory(void *data, uint64_t addr, void *dst, size_t n)
{
	struct taking *t = data;

	return thread_memory_read(&t->memory, addr, dst, n);
}

static bool reserve_frame(struct taking *t)
{
	struct stack_snapshot *s = &t->snapshot;
	size_t cap = MAX_OF(s->cap_frames * 2, (size_t)1024);

	if (s->n_frames < s->cap_frames)
		return true;
	struct stack_frame *grown = reallocarray(s->frames, cap, sizeof(*grown));
	t->no_memory = !grown;
	if (!grown)
		return false;
	s->frames = grown;
	s->cap_frames = cap;
	return true;
}

static bool add_frame(void *data, struct frame_ref frame, uint64_t pc)
{
	struct taking *t = data;

	if (t->n_own == WIRE_MAX_USER_FRAMES || !reserve_frame(t))
		return false;
	t->n_own++;
	t->snapshot.frames[t->snapshot.n_frames++] = (struct stack_frame){ frame, pc };
	return true;
}

static enum stop_reason walk(struct taking *t, uint32_t tid, const struct thread_regs *regs)
{
	struct host_walk_options o = {
		.process = t->snapshot.process,
		.mappings = t->snapshot.process->mappings,
		.objects = t->context->objects,
		.read = read_memory,
		.on_frame = add_frame,
		.data = t,
		.flags = WIRE_USER_UNWOUND_EXACT,
		.user_mask = t->user_mask,
		.after_syscall = regs->after_syscall,
	};

	t->memory.tid = tid;
	t->memory.page = 0;
	t->n_own = 0;
	enum stop_reason end = host_walk(&o, &regs->regs);
	/* Nothing was copied here: it is the process's own memory that could not be read. */
	return end == STOP_REASON_COPY_END ? STOP_REASON_STACK_READ : end;
}

/* Of a thread that waits in the kernel. */
static int read_syscall(uint32_t pid, uint32_t tid, struct thread_regs *ret_regs)
{
	_cleanup_buf_ struct buf text = BUF_INIT(SYSCALL_TEXT_BYTES);
	int r = thread_read(pid, tid, "syscall", &text);

	return r < 0 ? r : thread_regs_parse((struct str){ buf_str(&text), text.len }, ret_regs);
}

static void take_waiting(struct taking *t, struct stack_thread *thread)
{
	struct thread_regs regs;

	thread->outcome = STACK_NONE;
	if (read_syscall(t->pid, thread->tid, &regs) < 0)
		return;
	thread->outcome = STACK_PARTIAL;
	thread->end = walk(t, thread->tid, &regs);
	/* Whatever else was met: with all registers it would have gone on. */
	if (thread->end != STOP_REASON_ROOT && thread->end != STOP_REASON_DEPTH)
		thread->end = STOP_REASON_REGISTER;
}

/* False: the thread is gone. */
static bool take_stopped(struct taking *t, struct stack_thread *thread)
{
	struct thread_regs regs;
	int r = thread_regs_read(thread->tid, &regs);

	if (r < 0)
		return false;
	thread->outcome = STACK_WALKED;
	thread->end = r == THREAD_REGS_COMPAT ? STOP_REASON_COMPAT : walk(t, thread->tid, &regs);
	return true;
}

static void take_thread(struct taking *t, const struct ptrace_thread *from)
{
	struct stack_snapshot *s = &t->snapshot;
	struct stack_thread thread = { .tid = from->tid, .first = s->n_frames };

	if (from->state == PTRACE_THREAD_GONE)
		return;
	if (from->state == PTRACE_THREAD_AWAITED)
		take_waiting(t, &thread);
	else if (!take_stopped(t, &thread))
		return;
	/* Now, because it may end as soon as it goes on. */
	thread_name(t->pid, thread.tid, thread.name, sizeof(thread.name));
	thread.n = s->n_frames - thread.first;
	s->threads[s->n_threads++] = thread;
}

static int take_all(struct taking *t, const struct ptrace_threads *threads)
{
	struct stack_snapshot *s = &t->snapshot;

	s->threads = calloc(MAX_OF(threads->n, (size_t)1), sizeof(*s->threads));
	/* Files stay open and known: only the list of mappings is read. */
	struct process *p = inspect_context_process(t->context, t->pid);
	if (!s->threads || !p)
		return -ENOMEM;
	s->process = process_ref(p);
	for (size_t i = 0; i < threads->n; i++)
		take_thread(t, &threads->items[i]);
	if (t->no_memory)
		return -ENOMEM;
	return s->n_threads ? 0 : -ESRCH;
}

static void taking_free(struct taking *t)
{
	if (t)
		stack_snapshot_fini(&t->snapshot);
	free(t);
}
DEFINE_CLEANUP(struct taking *, taking_free);

static bool settle(struct taking *t, enum phase phase)
{
	enum phase stopping = PHASE_STOPPING;

	return atomic_compare_exchange_strong(&t->phase, &stopping, phase);
}

/* From here on nothing waits for long: memory is read by readers. */
static void read_stopped(struct taking *t, const struct ptrace_threads *threads)
{
	if (t->result == 0)
		t->result = take_all(t, threads);
	t->snapshot.is_unanswered = t->memory.unanswered;
}

static void *trace(void *data)
{
	_cleanup_ptrace_threads_ struct ptrace_threads threads = { 0 };
	struct taking *t = data;
	uint64_t begin_ns = clock_mono_ns();

	t->result = ptrace_threads_stop(&threads, t->pid);
	bool is_wanted = settle(t, PHASE_READING);
	if (is_wanted)
		read_stopped(t, &threads);
	ptrace_threads_release(&threads);
	if (is_wanted)
		t->snapshot.stopped_ns = clock_mono_ns() - begin_ns;
	else
		taking_free(t);
	return NULL;
}

/* 0; -ETIMEDOUT: it is the tracer's now. */
static int await(pthread_t tracer, struct taking *t)
{
	struct timespec end;

	(void)clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += STOP_PATIENCE_S;
	if (pthread_clockjoin_np(tracer, NULL, CLOCK_MONOTONIC, &end) == 0)
		return 0;
	if (settle(t, PHASE_GIVEN_UP)) {
		(void)pthread_detach(tracer);
		return -ETIMEDOUT;
	}
	(void)pthread_join(tracer, NULL);
	return 0;
}

/* SIGCHLD is blocked in all threads, so that the tracing one can wait for it. Takes `t` when it returns -ETIMEDOUT. */
static int run_tracer(struct taking *t)
{
	sigset_t child, before;
	pthread_t tracer;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	(void)pthread_sigmask(SIG_BLOCK, &child, &before);
	int r = -pthread_create(&tracer, NULL, trace, t);
	if (r == 0)
		r = await(tracer, t);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r < 0 ? r : t->result;
}

/* So that what takes long (reading headers, finding tables) has been done before the threads are stopped. */
static void load_rules(struct inspect_context *w, uint32_t pid)
{
	struct process *p = inspect_context_process(w, pid);
	struct unwind_rule rule;

	for (uint32_t i = 0; p && p->mappings && i < p->mappings->n; i++) {
		const struct mapping *m = &p->mappings->items[i];

		if (m->file)
			(void)object_tables_rule(w->objects, p, m->file, m->file_off, false, &rule);
	}
}

int stack_snapshot_take(struct inspect_context *w, uint32_t pid,
			struct stack_snapshot *ret_snapshot)
{
	_cleanup_(taking_freep) struct taking *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->context = w;
	t->pid = t->memory.pid = pid;
	t->user_mask = user_space_mask();
	load_rules(w, pid);
	int r = run_tracer(t);
	if (r == -ETIMEDOUT)
		(void)TAKE_PTR(t);
	if (r < 0)
		return r;
	*ret_snapshot = t->snapshot;
	t->snapshot = (struct stack_snapshot){ 0 };
	return 0;
}

struct mapped_file *stack_frame_file(const struct stack_snapshot *s, struct frame_ref frame,
				     uint64_t *ret_file_off)
{
	const struct mappings *m = s->process->mappings;
	uint32_t id = frame_ref_file_id(frame);

	*ret_file_off = frame_ref_file_off(frame);
	for (uint32_t i = 0; m && i < m->n; i++)
		if (m->items[i].file && m->items[i].file->id == id)
			return m->items[i].file;
	return NULL;
}
