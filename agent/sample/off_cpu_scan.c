/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that looks at waits which are not over. */
#include "agent/sample/off_cpu_scan.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "agent/sample/iterator.h"
#include "agent/sample/sampler.h"
#include "agent/sample/waiting_walk.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"
#include "bpf/sample.skel.h"

struct off_cpu_scan {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_wanted, is_busy, is_ending;
	struct sample_bpf *bpf; /* borrowed; not touched once it is ending */
	struct bpf_link *sum, *open;
	bool is_predicted;
	bool is_glancing;	/* it reads others' memory, although nobody waits for it */
	uint64_t glance_due_ns; /* 0: at once */
	/* With frames of runtimes: it takes the verifier a second, so it is loaded when a process with a runtime waits. */
	struct bpf_link *walk; /* NULL: not loaded */
	bool is_walk_tried;
	unsigned int n_sums; /* before any look */
};

/* Nobody has ended it since. */
#define WALK_DELAY_NS (100 * NS_PER_MS)
/* For three seconds it is found out whether a process with a runtime waits: the first look, which may be the only one, is to have its frames. */
#define SUM_NS (200 * NS_PER_MS)
#define MAX_SUMS 15

/* Long waits of which a short one was predicted are found so soon, and that old. */
#define GLANCE_NS (100 * NS_PER_MS)
#define GLANCE_AGE_NS (50 * NS_PER_MS)
#define GLANCE_SAMPLES 64
/* Of many tasks it takes long: a glance is to take no more than this part of the time. */
#define GLANCE_PART 200

/* The step with which as many are taken as there may be. */
static uint64_t step_ns(const struct sample_bpf *bpf)
{
	if (bpf->bss->off_cpu_open_n <= OFF_CPU_SCAN_SAMPLES)
		return 0;
	return MIN_OF(MAX_OF(bpf->bss->off_cpu_open_sum_ns / OFF_CPU_SCAN_SAMPLES,
			     bpf->rodata->off_cpu_mean_ns),
		      SAMPLER_OFF_CPU_MAX_MEAN_NS);
}

static uint32_t random_start(void)
{
	uint32_t r = 0;

	/* Without it the first step is at the first wait: a look is worth more than that. */
	if (getrandom(&r, sizeof(r), GRND_NONBLOCK) != (ssize_t)sizeof(r))
		return 0;
	return r;
}

/* Before each of the two runs. False: it is ending. */
static bool set_step(struct off_cpu_scan *s, bool is_summed)
{
	pthread_mutex_lock(&s->lock);
	bool goes_on = !s->is_ending;
	if (goes_on && !is_summed) {
		s->bpf->bss->off_cpu_open_sum_ns = s->bpf->bss->off_cpu_open_n = 0;
		s->bpf->bss->off_cpu_open_n_runtime = 0;
	} else if (goes_on) {
		s->bpf->bss->off_cpu_open_step_ns = step_ns(s->bpf);
		s->bpf->bss->off_cpu_open_at = random_start();
		s->bpf->bss->off_cpu_look_is_end = 1;
	}
	pthread_mutex_unlock(&s->lock);
	return goes_on;
}

static bool sum_up(struct off_cpu_scan *s)
{
	return set_step(s, false) && iterator_run(s->sum) == 0;
}

static void look(struct off_cpu_scan *s)
{
	if (sum_up(s) && set_step(s, true))
		(void)iterator_run(s->walk ? s->walk : s->open);
}

static uint64_t own_cpu_ns(void)
{
	struct timespec t = { 0 };

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* Locked, and unlocked meanwhile. */
static void glance(struct off_cpu_scan *s)
{
	uint64_t before_ns = own_cpu_ns();

	s->bpf->bss->off_cpu_look_is_end = 0;
	/* Of those that began before the profile nothing is decided yet. */
	s->bpf->bss->off_cpu_look_age_ns = s->glance_due_ns ? GLANCE_AGE_NS : 0;
	s->bpf->bss->off_cpu_look_samples = s->glance_due_ns ? GLANCE_SAMPLES : OFF_CPU_SCAN_SAMPLES;
	s->bpf->bss->off_cpu_look_n = 0;
	s->is_glancing = true;
	pthread_mutex_unlock(&s->lock);
	(void)iterator_run(s->walk ? s->walk : s->open);
	s->glance_due_ns = clock_mono_ns() +
			   MAX_OF(GLANCE_NS, GLANCE_PART * (own_cpu_ns() - before_ns));
	pthread_mutex_lock(&s->lock);
	s->is_glancing = false;
	pthread_cond_broadcast(&s->changed);
}

static void wait_for_end(struct off_cpu_scan *s, uint64_t ns)
{
	uint64_t end_ns = clock_real_ns() + ns;
	const struct timespec until = { (time_t)(end_ns / NS_PER_S), (long)(end_ns % NS_PER_S) };

	while (!s->is_ending && !s->is_wanted &&
	       pthread_cond_timedwait(&s->changed, &s->lock, &until) == 0)
		;
}

/* Locked, and unlocked while it is loaded. */
static void load_walk(struct off_cpu_scan *s)
{
	struct waiting_bpf *walk = NULL;

	if (s->is_walk_tried || s->bpf->bss->off_cpu_open_n_runtime == 0)
		return;
	wait_for_end(s, WALK_DELAY_NS);
	if (s->is_ending || s->is_wanted)
		return;
	s->is_walk_tried = true;
	if (waiting_walk_open(s->bpf, &walk) < 0)
		return;
	pthread_mutex_unlock(&s->lock);
	s->walk = waiting_walk_load(walk);
	pthread_mutex_lock(&s->lock);
}

/* Whether a process with a runtime waits is still to be found out. */
static bool looks_for_runtime(const struct off_cpu_scan *s)
{
	return !s->is_walk_tried && s->n_sums < MAX_SUMS;
}

/* Locked, and unlocked meanwhile. */
static void look_for_runtime(struct off_cpu_scan *s)
{
	s->n_sums++;
	pthread_mutex_unlock(&s->lock);
	bool is_summed = sum_up(s);
	pthread_mutex_lock(&s->lock);
	if (is_summed && !s->is_ending)
		load_walk(s);
}

/* When there is something to be done between looks; UINT64_MAX: never. */
static uint64_t due_ns(const struct off_cpu_scan *s)
{
	if (s->is_predicted)
		return s->glance_due_ns;
	return looks_for_runtime(s) ? clock_mono_ns() + SUM_NS : UINT64_MAX;
}

/* Locked, and unlocked meanwhile. */
static void wait_for_look(struct off_cpu_scan *s)
{
	uint64_t until_ns = due_ns(s), now_ns = clock_mono_ns();

	if (until_ns == UINT64_MAX)
		pthread_cond_wait(&s->changed, &s->lock);
	else if (now_ns < until_ns)
		wait_for_end(s, until_ns - now_ns);
	if (s->is_ending || s->is_wanted)
		return;
	if (s->is_predicted)
		glance(s);
	if (looks_for_runtime(s) && !s->is_ending && !s->is_wanted)
		look_for_runtime(s);
}

static void *scan_main(void *data)
{
	struct off_cpu_scan *s = data;

	pthread_mutex_lock(&s->lock);
	while (!s->is_ending) {
		if (!s->is_wanted) {
			wait_for_look(s);
			continue;
		}
		s->is_wanted = false;
		pthread_mutex_unlock(&s->lock);
		look(s);
		pthread_mutex_lock(&s->lock);
		s->is_busy = s->is_wanted;
		pthread_cond_broadcast(&s->changed);
		if (!s->is_ending)
			load_walk(s);
	}
	s->is_busy = false;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

static void scan_destroy(struct off_cpu_scan *s)
{
	(void)bpf_link__destroy(s->sum);
	(void)bpf_link__destroy(s->open);
	(void)bpf_link__destroy(s->walk);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->changed);
	free(s);
}

/* Signals are the loop's. */
static int start_thread(struct off_cpu_scan *s)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int r = pthread_create(&s->thread, NULL, scan_main, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r == 0)
		(void)pthread_setname_np(s->thread, "xagent-waits");
	return -r;
}

int off_cpu_scan_new(struct sample_bpf *bpf, const struct bpf_program *sum,
		     const struct bpf_program *look, bool is_predicted,
		     struct off_cpu_scan **ret_scan)
{
	struct off_cpu_scan *s = calloc(1, sizeof(*s));
	int r = 0;

	if (!s)
		return -ENOMEM;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	s->bpf = bpf;
	s->is_predicted = is_predicted;
	s->sum = bpf_program__attach_iter(sum, NULL);
	s->open = s->sum ? bpf_program__attach_iter(look, NULL) : NULL;
	if (!s->open)
		r = -errno;
	if (r == 0)
		r = start_thread(s);
	if (r < 0) {
		scan_destroy(s);
		return r;
	}
	*ret_scan = s;
	return 0;
}

void off_cpu_scan_free(struct off_cpu_scan *s)
{
	struct timespec until;

	if (!s)
		return;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec++;
	pthread_mutex_lock(&s->lock);
	s->is_ending = true;
	pthread_cond_broadcast(&s->changed);
	while ((s->is_busy || s->is_glancing) &&
	       pthread_cond_timedwait(&s->changed, &s->lock, &until) == 0)
		;
	bool is_stuck = s->is_busy || s->is_glancing;
	pthread_mutex_unlock(&s->lock);
	if (is_stuck) {
		/* It is in the kernel, and has what it needs: memory and programs stay with it. */
		(void)pthread_detach(s->thread);
		return;
	}
	(void)pthread_join(s->thread, NULL);
	scan_destroy(s);
}

void off_cpu_scan_begin(struct off_cpu_scan *s)
{
	pthread_mutex_lock(&s->lock);
	if (!s->is_busy) {
		s->is_wanted = s->is_busy = true;
		pthread_cond_broadcast(&s->changed);
	}
	pthread_mutex_unlock(&s->lock);
}

bool off_cpu_scan_is_busy(struct off_cpu_scan *s)
{
	pthread_mutex_lock(&s->lock);
	bool is_busy = s->is_busy;
	pthread_mutex_unlock(&s->lock);
	return is_busy;
}
