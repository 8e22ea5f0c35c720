/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that takes jobs from a queue and gives them back by another one. */
#include "agent/util/worker.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#include "agent/util/reader.h"

struct worker {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake; /* both directions: few waiters, rare events */
	struct list todo;
	struct list finished;
	size_t n_jobs; /* submitted and not yet delivered; loop thread only */
	size_t max_jobs;
	bool stop;
	bool started;
	int event_fd;
	struct loop_io *io;
};

static void *worker_main(void *arg)
{
	struct worker *w = arg;

	reader_thread_is_patient();
	pthread_mutex_lock(&w->lock);
	for (;;) {
		while (list_empty(&w->todo) && !w->stop)
			pthread_cond_wait(&w->wake, &w->lock);
		if (list_empty(&w->todo))
			break;
		struct worker_job *job = LIST_ENTRY(w->todo.next, struct worker_job, node);
		list_remove(&job->node);
		pthread_mutex_unlock(&w->lock);
		job->run(job);
		pthread_mutex_lock(&w->lock);
		list_push_back(&w->finished, &job->node);
		pthread_cond_broadcast(&w->wake);
		(void)eventfd_write(w->event_fd, 1);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

static struct worker_job *worker_pop_finished(struct worker *w)
{
	struct worker_job *job = NULL;

	pthread_mutex_lock(&w->lock);
	if (!list_empty(&w->finished)) {
		job = LIST_ENTRY(w->finished.next, struct worker_job, node);
		list_remove(&job->node);
	}
	pthread_mutex_unlock(&w->lock);
	return job;
}

static void worker_deliver(struct worker *w)
{
	for (struct worker_job *job; (job = worker_pop_finished(w));) {
		w->n_jobs--;
		job->done(job);
	}
}

static void worker_on_event(uint32_t events, void *data)
{
	struct worker *w = data;
	eventfd_t n;

	(void)events;
	(void)eventfd_read(w->event_fd, &n);
	worker_deliver(w);
}

/* The worker takes no signals: they are the loop's. */
static int worker_start(struct worker *w)
{
	sigset_t all;
	sigset_t before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int r = pthread_create(&w->thread, NULL, worker_main, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	w->started = r == 0;
	if (w->started)
		(void)pthread_setname_np(w->thread, "xagent-worker");
	return -r;
}

int worker_new(struct loop *loop, size_t max_jobs, struct worker **ret_worker)
{
	_cleanup_(worker_freep) struct worker *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	list_init(&w->todo);
	list_init(&w->finished);
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->wake, NULL);
	w->max_jobs = max_jobs;
	w->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->event_fd < 0)
		return -errno;
	int r = loop_io_new(loop, w->event_fd, EPOLLIN, worker_on_event, w, &w->io);
	if (r == 0)
		r = worker_start(w);
	if (r < 0)
		return r;
	*ret_worker = TAKE_PTR(w);
	return 0;
}

void worker_free(struct worker *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->stop = true;
	pthread_cond_broadcast(&w->wake);
	pthread_mutex_unlock(&w->lock);
	if (w->started)
		pthread_join(w->thread, NULL);
	worker_deliver(w);
	loop_io_free(w->io);
	cleanup_close_p(&w->event_fd);
	pthread_cond_destroy(&w->wake);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

bool worker_has_room(const struct worker *w)
{
	return w->n_jobs < w->max_jobs;
}

int worker_submit(struct worker *w, struct worker_job *job)
{
	if (!worker_has_room(w))
		return -EAGAIN;
	w->n_jobs++;
	list_init(&job->node);
	pthread_mutex_lock(&w->lock);
	list_push_back(&w->todo, &job->node);
	pthread_cond_broadcast(&w->wake);
	pthread_mutex_unlock(&w->lock);
	return 0;
}

void worker_drain_while(struct worker *w, bool (*busy)(const void *data), const void *data)
{
	while (w->n_jobs > 0 && busy(data)) {
		pthread_mutex_lock(&w->lock);
		while (list_empty(&w->finished))
			pthread_cond_wait(&w->wake, &w->lock);
		pthread_mutex_unlock(&w->lock);
		worker_deliver(w);
	}
}

static bool always(const void *data)
{
	(void)data;
	return true;
}

void worker_drain(struct worker *w)
{
	worker_drain_while(w, always, NULL);
}

size_t worker_n_jobs(const struct worker *w)
{
	return w->n_jobs;
}
