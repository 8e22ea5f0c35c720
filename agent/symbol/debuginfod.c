/* SPDX-License-Identifier: Apache-2.0 */
/* Debug files from a debuginfod server: what is asked for, and the thread that fetches it. */
#include "agent/symbol/debuginfod.h"

#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "agent/symbol/debuginfod_cache.h"
#include "agent/symbol/debuginfod_fetch.h"
#include "agent/util/hash.h"
#include "agent/util/list.h"
#include "agent/util/macro.h"

/* Build ids that are remembered; a host runs programs of some thousand files. */
#define MAX_ENTRIES ((size_t)8192)
/* A server that was away may be back soon: a failure holds for this part of what "none" does. */
#define FAILURE_PART 12
/* Less is left of the share: then wait for the next. */
#define MIN_REQUEST_NS NS_PER_S

struct entry {
	struct hash_node node;
	struct list queue; /* linked while is_waiting */
	bool is_waiting;   /* or being fetched */
	uint64_t until_ns; /* "none" holds, when it is not waiting */
	char build_id[];
};

struct debuginfod {
	struct debuginfod_options options;
	char *urls[DEBUGINFOD_MAX_URLS]; /* owned */
	int dir_fd;
	bool has_curl;
	bool has_thread;
	pthread_t thread;
	atomic_bool stop;

	pthread_mutex_t lock; /* all below */
	pthread_cond_t wake;
	struct hash_table entries;
	struct list queue;
	/* Thread only. */
	uint64_t share_began_ns;
	uint64_t share_used_ns;
};

static void count(struct debuginfod *d, enum telemetry_counter counter, uint64_t n)
{
	if (d->options.telemetry && n > 0)
		telemetry_count(d->options.telemetry, counter, n);
}

static struct entry *find_entry(const struct debuginfod *d, const char *build_id)
{
	HASH_FOREACH_MATCH (&d->entries, hash_str(build_id), node) {
		struct entry *e = CONTAINER_OF(node, struct entry, node);

		if (strcmp(e->build_id, build_id) == 0)
			return e;
	}
	return NULL;
}

static void remove_entry(struct debuginfod *d, struct entry *e)
{
	hash_remove(&d->entries, &e->node);
	free(e);
}

static void forget_expired(struct debuginfod *d, uint64_t now_ns)
{
	HASH_FOREACH (&d->entries, node) {
		struct entry *e = CONTAINER_OF(node, struct entry, node);

		if (!e->is_waiting && e->until_ns <= now_ns)
			remove_entry(d, e);
	}
}

static struct entry *add_entry(struct debuginfod *d, const char *build_id, uint64_t now_ns)
{
	size_t n = strlen(build_id) + 1;

	if (d->entries.n >= MAX_ENTRIES)
		forget_expired(d, now_ns);
	struct entry *e = d->entries.n < MAX_ENTRIES ? calloc(1, sizeof(*e) + n) : NULL;
	if (!e)
		return NULL;
	memcpy(e->build_id, build_id, n);
	list_init(&e->queue);
	if (hash_insert(&d->entries, &e->node, hash_str(build_id)) < 0) {
		free(e);
		return NULL;
	}
	return e;
}

/* Under the lock. What finds no room is asked for again by whoever wants it. */
static void enqueue(struct debuginfod *d, const char *build_id, uint64_t now_ns)
{
	struct entry *e = find_entry(d, build_id);

	if (!e)
		e = add_entry(d, build_id, now_ns);
	if (!e || e->is_waiting)
		return;
	e->is_waiting = true;
	list_push_back(&d->queue, &e->queue);
	(void)pthread_cond_signal(&d->wake);
}

/* Under the lock. 0: nothing is known. */
static int known(const struct debuginfod *d, const char *build_id, uint64_t now_ns)
{
	const struct entry *e = find_entry(d, build_id);

	if (e && e->is_waiting)
		return DEBUGINFOD_PENDING;
	return e && now_ns < e->until_ns ? DEBUGINFOD_NONE : 0;
}

int debuginfod_ask(struct debuginfod *d, const char *build_id, int *ret_fd)
{
	uint64_t now_ns = clock_mono_ns();

	if (!debuginfod_is_build_id(build_id))
		return DEBUGINFOD_NONE;
	(void)pthread_mutex_lock(&d->lock);
	int r = known(d, build_id, now_ns);
	(void)pthread_mutex_unlock(&d->lock);
	if (r != 0)
		return r;
	/* A small read of a local file. */
	if (debuginfod_cache_get(d->dir_fd, build_id, ret_fd) == 0)
		return 0;
	(void)pthread_mutex_lock(&d->lock);
	enqueue(d, build_id, now_ns);
	(void)pthread_mutex_unlock(&d->lock);
	return DEBUGINFOD_PENDING;
}

/* What one request may take now; 0: the share of this time is used up, which ends at *ret_again_ns. */
static uint64_t request_ns(struct debuginfod *d, uint64_t now_ns, uint64_t *ret_again_ns)
{
	const struct debuginfod_options *o = &d->options;

	if (now_ns - d->share_began_ns >= o->share_every_ns) {
		d->share_began_ns = now_ns;
		d->share_used_ns = 0;
	}
	*ret_again_ns = d->share_began_ns + o->share_every_ns;
	uint64_t left = o->share_ns - MIN_OF(d->share_used_ns, o->share_ns);
	uint64_t ns = MIN_OF(left, o->timeout_ns);
	return ns < MIN_OF(MIN_REQUEST_NS, o->timeout_ns) ? 0 : ns;
}

static void wait_until(struct debuginfod *d, uint64_t at_ns)
{
	struct timespec at = { .tv_sec = (time_t)(at_ns / NS_PER_S),
			       .tv_nsec = (long)(at_ns % NS_PER_S) };

	while (!atomic_load(&d->stop) && clock_mono_ns() < at_ns)
		(void)pthread_cond_timedwait(&d->wake, &d->lock, &at);
}

/* One server, within `ns`. */
static int fetch_from(struct debuginfod *d, const char *url, const char *build_id, uint64_t ns)
{
	_cleanup_close_ int fd = -1;
	uint64_t n_bytes;
	int r = debuginfod_cache_begin(d->dir_fd, &fd);

	if (r < 0)
		return r;
	r = debuginfod_fetch(
		&(struct debuginfod_fetch){
			.url = url,
			.build_id = build_id,
			.fd = fd,
			.timeout_ns = ns,
			.max_bytes = MIN_OF(d->options.max_file_bytes, d->options.max_cache_bytes),
			.stop = &d->stop,
		},
		&n_bytes);
	count(d, TELEMETRY_debuginfod_bytes, n_bytes);
	if (r != 0) {
		debuginfod_cache_abort(d->dir_fd);
		return r;
	}
	r = debuginfod_cache_commit(d->dir_fd, fd, build_id);
	/* Not what was asked for: another answer may follow a proxy's mistake, but not soon. */
	return r == DEBUGINFOD_NONE ? DEBUGINFOD_FETCH_ABSENT : r;
}

/* All servers. 0: it is in the cache now; else how long that holds that it is not. */
static uint64_t fetch(struct debuginfod *d, const char *build_id, uint64_t ns)
{
	uint64_t began_ns = clock_mono_ns(), used_ns = 0;
	bool is_absent = true;
	int r = DEBUGINFOD_FETCH_ABSENT;

	for (size_t i = 0; r != 0 && i < d->options.n_urls && used_ns < ns; i++) {
		r = fetch_from(d, d->urls[i], build_id, ns - used_ns);
		is_absent = is_absent && r == DEBUGINFOD_FETCH_ABSENT;
		used_ns = clock_mono_ns() - began_ns;
	}
	d->share_used_ns += used_ns;
	count(d, TELEMETRY_debuginfod_asked, 1);
	count(d, TELEMETRY_debuginfod_found, r == 0);
	count(d, TELEMETRY_debuginfod_failed, r != 0 && !is_absent);
	if (r == 0) {
		debuginfod_cache_trim(d->dir_fd, d->options.max_cache_bytes);
		return 0;
	}
	return is_absent ? d->options.negative_ns : d->options.negative_ns / FAILURE_PART;
}

/* Under the lock, which is let go meanwhile. The entry stays where it is: it is waiting. */
static void serve(struct debuginfod *d, struct entry *e)
{
	uint64_t again_ns, ns = request_ns(d, clock_mono_ns(), &again_ns);

	if (ns == 0) {
		wait_until(d, again_ns);
		return;
	}
	list_remove(&e->queue);
	(void)pthread_mutex_unlock(&d->lock);
	uint64_t none_ns = fetch(d, e->build_id, ns);
	(void)pthread_mutex_lock(&d->lock);
	e->is_waiting = false;
	e->until_ns = clock_mono_ns() + none_ns;
	if (none_ns == 0)
		remove_entry(d, e);
}

static void *run(void *data)
{
	struct debuginfod *d = data;

	(void)pthread_setname_np(pthread_self(), "debuginfod");
	(void)pthread_mutex_lock(&d->lock);
	while (!atomic_load(&d->stop)) {
		if (list_empty(&d->queue))
			(void)pthread_cond_wait(&d->wake, &d->lock);
		else
			serve(d, LIST_ENTRY(d->queue.next, struct entry, queue));
	}
	(void)pthread_mutex_unlock(&d->lock);
	return NULL;
}

/* Signals are the loop's. */
static int start_thread(struct debuginfod *d)
{
	sigset_t all, before;

	sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	int r = -pthread_create(&d->thread, NULL, run, d);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	d->has_thread = r == 0;
	return r;
}

static void init_lock(struct debuginfod *d)
{
	pthread_condattr_t attr;

	(void)pthread_mutex_init(&d->lock, NULL);
	(void)pthread_condattr_init(&attr);
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&d->wake, &attr);
	(void)pthread_condattr_destroy(&attr);
}

static int copy_urls(struct debuginfod *d, const struct debuginfod_options *o)
{
	for (size_t i = 0; i < o->n_urls; i++) {
		if (!debuginfod_url_is_valid(o->urls[i]))
			return -EINVAL;
		d->urls[i] = strdup(o->urls[i]);
		if (!d->urls[i])
			return -ENOMEM;
	}
	return 0;
}

static int debuginfod_open(struct debuginfod *d, const struct debuginfod_options *o)
{
	int r = copy_urls(d, o);

	if (r < 0)
		return r;
	r = debuginfod_cache_open(o->cache_dir, &d->dir_fd);
	if (r < 0)
		return r;
	/* Counted: whoever else uses libcurl may come and go. */
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return -ENOMEM;
	d->has_curl = true;
	return start_thread(d);
}

int debuginfod_new(const struct debuginfod_options *o, struct debuginfod **ret_debuginfod)
{
	if (o->n_urls == 0 || o->n_urls > DEBUGINFOD_MAX_URLS || !o->cache_dir)
		return -EINVAL;
	_cleanup_(debuginfod_freep) struct debuginfod *d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	d->dir_fd = -1;
	list_init(&d->queue);
	init_lock(d);
	d->options = *o;
	d->options.urls = NULL;
	d->options.cache_dir = NULL;
	int r = debuginfod_open(d, o);
	if (r < 0)
		return r;
	*ret_debuginfod = TAKE_PTR(d);
	return 0;
}

static void stop_thread(struct debuginfod *d)
{
	(void)pthread_mutex_lock(&d->lock);
	atomic_store(&d->stop, true);
	(void)pthread_cond_signal(&d->wake);
	(void)pthread_mutex_unlock(&d->lock);
	(void)pthread_join(d->thread, NULL);
}

void debuginfod_free(struct debuginfod *d)
{
	if (!d)
		return;
	if (d->has_thread)
		stop_thread(d);
	if (d->has_curl)
		curl_global_cleanup();
	HASH_FOREACH (&d->entries, node)
		free(CONTAINER_OF(node, struct entry, node));
	hash_fini(&d->entries);
	for (size_t i = 0; i < DEBUGINFOD_MAX_URLS; i++)
		free(d->urls[i]);
	if (d->dir_fd >= 0)
		(void)close(d->dir_fd);
	(void)pthread_cond_destroy(&d->wake);
	(void)pthread_mutex_destroy(&d->lock);
	free(d);
}
