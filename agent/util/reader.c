/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that may be lost.
 *
 * One lock for all of it, which nobody holds while a call runs. A thread is idle, or it runs a call that somebody waits for, or it is lost.
 */
#include "agent/util/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "agent/util/buf.h"
#include "agent/util/clock.h"
#include "agent/util/file.h"
#include "agent/util/log.h"
#include "agent/util/reader_private.h"
#include "agent/util/str.h"

/* The loop samples, answers and listens: a tenth of a second is not noticed, and 5 % of its time is little enough. */
#define LOOP_PATIENCE                                                          \
	{                                                                      \
		.most_ns = 100 * NS_PER_MS, .least_ns = 2 * NS_PER_MS,         \
		.share = { .burst_ns = 500 * NS_PER_MS, .refill_percent = 5 }, \
	}
/* Names of an interval may be late, the next one is collected meanwhile. */
#define WORKER_PATIENCE                                                       \
	{                                                                     \
		.most_ns = 2 * NS_PER_S, .least_ns = 20 * NS_PER_MS,          \
		.share = { .burst_ns = 10 * NS_PER_S, .refill_percent = 10 }, \
	}

struct reader {
	struct list node; /* of the idle ones */
	pthread_t thread; /* set by itself, before it is idle */
	pthread_cond_t wake;
	struct reader_call *call; /* NULL: idle */
	pid_t tid;
	/* It is inside of call->run(). Before and behind it nothing but our lock keeps it; while we hold that, what was left is not entered. */
	atomic_bool is_inside;
	bool stop;
};

static struct {
	pthread_mutex_t lock;
	pthread_once_t once;
	struct list idle;
	uint32_t n_idle;
	uint32_t n_threads;
	pthread_cond_t changed; /* a call runs no more */
	struct reader_losses losses[2]; /* see losses_of() */
	bool said_full;
	uint64_t n_returned;
	struct reader_stats stats; /* what is counted only */
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT };

/* What waits for the lock of credentials is lost to another one than what waits for mappings and files: who a process is stays known while its
 * mappings cannot be read. The lock is held. */
static struct reader_losses *losses_of(const struct reader_subject *s)
{
	return &pool.losses[s->reason == READER_stat];
}

static uint32_t n_lost(void)
{
	return pool.losses[false].n + pool.losses[true].n;
}

static _Thread_local bool is_reader;
static _Thread_local uint64_t n_failed;
static _Thread_local struct reader_patience patience = LOOP_PATIENCE;
static _Thread_local struct {
	void (*fn)(void *data);
	void *data;
} meanwhile;

/* On the stack of who waits. */
struct reader_wait {
	const struct reader_subject *subject;
	struct reader_running running;
	bool is_done;
	pthread_cond_t done;
};

const char *reader_reason_name(enum reader_reason reason)
{
	static const char *const names[] = {
#define READER_REASON_NAME(name, what) [READER_##name] = #name,
		READER_REASONS(READER_REASON_NAME)
#undef READER_REASON_NAME
	};

	return names[reason];
}

void reader_thread_is_patient(void)
{
	patience = (struct reader_patience)WORKER_PATIENCE;
}

void reader_meanwhile(void (*fn)(void *data), void *data)
{
	meanwhile.fn = fn;
	meanwhile.data = data;
}

void reader_in_place(void)
{
	is_reader = true;
}

bool reader_is_in_place(void)
{
	return is_reader;
}

static void before_fork(void)
{
	pthread_mutex_lock(&pool.lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&pool.lock);
}

static void init_cond(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	(void)pthread_condattr_init(&attr);
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	(void)pthread_cond_init(cond, &attr);
	(void)pthread_condattr_destroy(&attr);
}

/* A child has none of the threads; what they hold it does not free. */
static void in_child(void)
{
	list_init(&pool.idle);
	pool.n_idle = pool.n_threads = 0;
	memset(pool.losses, 0, sizeof(pool.losses));
	init_cond(&pool.changed);
	pthread_mutex_unlock(&pool.lock);
}

static void init_pool(void)
{
	list_init(&pool.idle);
	init_cond(&pool.changed);
	(void)pthread_atfork(before_fork, after_fork, in_child);
}

/* The call has run. The lock is held, and let go where a given-up call is freed: what it holds may keep the thread, which is lost until then. */
static void finish(struct reader_call *call)
{
	if (call->wait) {
		call->wait->is_done = true;
		pthread_cond_signal(&call->wait->done);
		return;
	}
	struct reader_lost *lost = call->lost;
	pthread_mutex_unlock(&pool.lock);
	call->free(call);
	pthread_mutex_lock(&pool.lock);
	reader_losses_remove(losses_of(&lost->subject), lost);
	pthread_cond_broadcast(&pool.changed);
	pool.n_returned++;
	pool.said_full = pool.said_full && n_lost() > READER_MAX_LOST / 2;
}

static void serve(void *data)
{
	struct reader *r = data;
	uint64_t counted_ns = 0;

	is_reader = true;
	pthread_mutex_lock(&pool.lock);
	r->tid = (pid_t)syscall(SYS_gettid);
	for (;;) {
		while (!r->call && !r->stop)
			pthread_cond_wait(&r->wake, &pool.lock);
		if (!r->call)
			break;
		struct reader_call *call = r->call;
		atomic_store(&r->is_inside, true);
		pthread_mutex_unlock(&pool.lock);
		call->run(call);
		atomic_store(&r->is_inside, false);
		pthread_mutex_lock(&pool.lock);
		finish(call);
		r->call = NULL;
		pool.stats.cpu_ns += clock_thread_ns() - counted_ns;
		counted_ns = clock_thread_ns();
		if (pool.n_idle >= READER_MAX_IDLE)
			break;
		list_push_front(&pool.idle, &r->node);
		pool.n_idle++;
	}
	pool.n_threads--;
	pthread_mutex_unlock(&pool.lock);
}

static void *reader_main(void *arg)
{
	struct reader *r = arg;

	r->thread = pthread_self();
	(void)pthread_setname_np(r->thread, "xagent-reader");
	reader_run_apart(serve, r);
	if (!r->stop)
		(void)pthread_detach(pthread_self());
	if (!r->stop)
		free(r);
	return NULL;
}

/* Signals are the loop's. The lock is not held. A reader that was started is its own: it may have run its call, and be gone. */
static int start(struct reader *r)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, before;

	sigfillset(&all);
	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setstacksize(&attr, READER_STACK_BYTES);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int error = pthread_create(&thread, &attr, reader_main, r);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	(void)pthread_attr_destroy(&attr);
	return error == 0 ? 0 : -EAGAIN;
}

static struct reader *take_idle(void)
{
	struct reader *r = NULL;

	if (pool.n_idle > 0) {
		r = LIST_ENTRY(pool.idle.next, struct reader, node);
		list_remove(&r->node);
		pool.n_idle--;
	}
	return r;
}

/* Gives the call to a thread, which is there for as long as the call is not done. The lock is held, and let go meanwhile. */
static int hand_over(struct reader_call *call, struct reader **ret_reader)
{
	struct reader *r = take_idle();

	if (r) {
		r->call = call;
		(void)pthread_cond_signal(&r->wake);
		*ret_reader = r;
		return 0;
	}
	r = calloc(1, sizeof(*r));
	if (!r)
		return -EAGAIN;
	pool.n_threads++;
	pthread_mutex_unlock(&pool.lock);
	list_init(&r->node);
	(void)pthread_cond_init(&r->wake, NULL);
	r->call = call;
	int error = start(r);
	pthread_mutex_lock(&pool.lock);
	if (error < 0) {
		pool.n_threads--;
		free(r);
		return error;
	}
	*ret_reader = r;
	return 0;
}

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / NS_PER_S),
				  .tv_nsec = (long)(ns % NS_PER_S) };
}

/* The lock is held, and let go meanwhile: others look at what is known of a call that runs. */
static void find_blame(struct reader_wait *w)
{
	const struct reader_subject *s = w->subject;
	struct reader_blame blame;

	if (w->running.is_blamed)
		return;
	pthread_mutex_unlock(&pool.lock);
	blame = s->pid ? reader_blame_of_process("/proc", s->pid) : reader_blame_of_device(s->dev);
	pthread_mutex_lock(&pool.lock);
	w->running.blame = blame;
	w->running.is_blamed = true;
}

static void read_comm(uint32_t pid, char ret_comm[static 64])
{
	_cleanup_buf_ struct buf b = BUF_INIT(63);
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	if (pid)
		(void)file_read(AT_FDCWD, path, &b);
	str_copy_utf8(ret_comm, 64, str_trim((struct str){ buf_str(&b), b.len }));
}

static void say_lost(const struct reader_subject *s, uint64_t lost_ns)
{
	char comm[64], device[32] = "";

	read_comm(s->pid, comm);
	if (s->dev)
		(void)snprintf(device, sizeof(device), "%u:%u", major(s->dev), minor(s->dev));
	log_warn("a read does not return; its process or file system is avoided until it does",
		 LOG_STR("reason", reader_reason_name(s->reason)), LOG_UINT("pid", s->pid),
		 LOG_STR("comm", comm), LOG_STR("device", device),
		 LOG_UINT("lost_ms", lost_ns / NS_PER_MS));
}

/* The lock is held. */
static const struct reader_lost *next_to_say(uint64_t now_ns)
{
	const struct reader_lost *lost = reader_losses_to_say(&pool.losses[false], now_ns);

	return lost ? lost : reader_losses_to_say(&pool.losses[true], now_ns);
}

static void say_those_lost(void)
{
	const struct reader_lost *lost;
	struct reader_subject subject;
	uint64_t now_ns = clock_mono_ns(), lost_ns = 0;

	do {
		pthread_mutex_lock(&pool.lock);
		lost = n_lost() > 0 ? next_to_say(now_ns) : NULL;
		if (lost) {
			subject = lost->subject;
			lost_ns = now_ns - lost->begin_ns;
		}
		pthread_mutex_unlock(&pool.lock);
		if (lost)
			say_lost(&subject, lost_ns);
	} while (lost);
}

static void say_full(void)
{
	log_error("too many reads did not return: processes and files that are not known yet stay "
		  "unknown. "
		  "Find the file systems that do not answer (FUSE, NFS) and end their servers, or "
		  "unmount them by force",
		  LOG_UINT("lost", READER_MAX_LOST));
}

/* The lock is held, and let go. */
static void do_meanwhile(void)
{
	pthread_mutex_unlock(&pool.lock);
	meanwhile.fn(meanwhile.data);
	pthread_mutex_lock(&pool.lock);
}

/* True when it has run in time. The lock is held, and let go meanwhile. */
static bool wait_for(struct reader_wait *w, uint64_t end_ns)
{
	bool is_over = false;

	while (!w->is_done && !is_over) {
		uint64_t next_ns = clock_mono_ns() + READER_MEANWHILE_NS;
		struct timespec until =
			timespec_of(meanwhile.fn ? MIN_OF(next_ns, end_ns) : end_ns);

		if (pthread_cond_timedwait(&w->done, &pool.lock, &until) != ETIMEDOUT)
			continue;
		is_over = !meanwhile.fn || next_ns >= end_ns;
		if (!is_over && !w->is_done)
			do_meanwhile();
	}
	return w->is_done;
}

/* The lock is held. */
static void give_up(struct reader_call *call, struct reader_wait *w)
{
	call->lost = reader_losses_add(losses_of(w->subject), w->subject, &w->running.blame,
				       clock_mono_ns());
	call->wait = NULL;
	pool.stats.n_given_up[w->subject->reason]++;
}

/* By its state (proc_pid_stat(5)). */
static bool has_state_running(const struct reader *r)
{
	_cleanup_buf_ struct buf b = BUF_INIT(1024);
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", r->tid);
	if (file_read(AT_FDCWD, path, &b) < 0)
		return false;
	const char *behind_name = strrchr(buf_str(&b), ')');
	return behind_name && strncmp(behind_name, ") R", 3) == 0;
}

/* It computes, or waits for a CPU or for our lock, for which it sleeps: so whether it is inside is asked behind its state. The lock is held. */
static bool is_running(const struct reader *r)
{
	return has_state_running(r) || !atomic_load(&r->is_inside);
}

/* The call is with r until it is done. 0 or -ETIMEDOUT. The lock is held, and let go meanwhile. */
static int await(struct reader_call *call, struct reader_wait *w, struct reader *r, uint64_t end_ns)
{
	uint64_t most_ns = clock_mono_ns() + READER_MOST_RUN_NS;

	bool is_done = wait_for(w, end_ns);
	while (!is_done && clock_mono_ns() < most_ns && is_running(r))
		is_done = wait_for(w, clock_mono_ns() + 2 * READER_MEANWHILE_NS);
	if (!is_done)
		find_blame(w);
	if (!w->is_done)
		give_up(call, w);
	return w->is_done ? 0 : -ETIMEDOUT;
}

/* Until those that run do not stand in its way. The lock is held, and let go meanwhile. */
static enum reader_verdict judge(const struct reader_wait *w, uint64_t end_ns)
{
	struct timespec end = timespec_of(end_ns);
	enum reader_verdict verdict;
	int r = 0;

	while ((verdict = reader_losses_admit(losses_of(w->subject), w->subject,
					      &w->running.blame, clock_mono_ns())) ==
		       READER_CROWDED &&
	       r != ETIMEDOUT)
		r = pthread_cond_timedwait(&pool.changed, &pool.lock, &end);
	return verdict;
}

/*
 * 0 or -EHOSTDOWN. Who is to blame is asked for only where it matters: not for a call that is alone and before which none was lost. So one at
 * most runs of which that is not known. The lock is held, and let go meanwhile.
 */
static int admit(struct reader_wait *w, uint64_t end_ns, bool *ret_say_full)
{
	const struct reader_losses *losses = losses_of(w->subject);

	if (losses->n > 0 || losses->running)
		find_blame(w);
	if (judge(w, end_ns) == READER_ADMITTED)
		return 0;
	pool.stats.n_avoided++;
	*ret_say_full = losses->n >= READER_MAX_LOST && !pool.said_full;
	pool.said_full = pool.said_full || *ret_say_full;
	return -EHOSTDOWN;
}

static int run_by_reader(struct reader_call *call, struct reader_wait *w, bool *ret_say_full)
{
	uint64_t begin_ns = clock_mono_ns();
	uint64_t end_ns = begin_ns + reader_patience_limit(&patience, begin_ns);

	pthread_mutex_lock(&pool.lock);
	/* At least half of the time is for the call itself. */
	struct reader *reader = NULL;
	int r = admit(w, begin_ns + (end_ns - begin_ns) / 2, ret_say_full);
	if (r == 0) {
		reader_losses_enter(losses_of(w->subject), &w->running);
		r = hand_over(call, &reader);
		if (r == 0)
			r = await(call, w, reader, end_ns);
		reader_losses_leave(losses_of(w->subject), &w->running);
		pthread_cond_broadcast(&pool.changed);
	}
	pthread_mutex_unlock(&pool.lock);
	uint64_t now_ns = clock_mono_ns();
	reader_patience_spend(&patience, now_ns, now_ns - begin_ns);
	return r;
}

int reader_run(struct reader_call *call, const struct reader_subject *subject)
{
	struct reader_wait w = { .subject = subject };
	bool is_full = false;

	if (is_reader) {
		call->run(call);
		return 0;
	}
	(void)pthread_once(&pool.once, init_pool);
	init_cond(&w.done);
	call->wait = &w;
	int r = run_by_reader(call, &w, &is_full);
	(void)pthread_cond_destroy(&w.done);
	if (r < 0)
		n_failed++;
	if (r < 0 && r != -ETIMEDOUT)
		call->free(call);
	say_those_lost();
	if (is_full)
		say_full();
	return r;
}

uint64_t reader_n_failed(void)
{
	return n_failed;
}

uint64_t reader_n_returned(void)
{
	return __atomic_load_n(&pool.n_returned, __ATOMIC_RELAXED);
}

struct reader_stats reader_get_stats(void)
{
	pthread_mutex_lock(&pool.lock);
	struct reader_stats stats = pool.stats;
	stats.n_lost = n_lost();
	stats.n_threads = pool.n_threads;
	pthread_mutex_unlock(&pool.lock);
	stats.n_to_close = reader_n_to_close();
	return stats;
}

void reader_stop(void)
{
	struct reader *r;

	do {
		pthread_mutex_lock(&pool.lock);
		r = take_idle();
		if (r)
			r->stop = true;
		if (r)
			pthread_cond_signal(&r->wake);
		pthread_mutex_unlock(&pool.lock);
		if (r)
			(void)pthread_join(r->thread, NULL);
		free(r);
	} while (r);
}
