/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What readers have read of files lately, in windows.
 *
 * Symbols and their names are a few bytes each, here and there in a file. On ext4 that is a system call each; where a reader has to be asked (overlayfs:
 * the files of all containers) it would be some 20 µs. A window is believed as long as the file has the size and times that it had, and a
 * second at most.
 */
#include <pthread.h>
#include <string.h>

#include "agent/util/clock.h"
#include "agent/util/macro.h"
#include "agent/util/reader_private.h"

/* 256 KiB, touched as far as they are used: a search goes back and forth between a symbol table, its names and a few sections. */
#define N_WINDOWS 8
#define MAX_AGE_NS NS_PER_S

struct window {
	struct stat st; /* as it was when it was read; st_ino 0: unused */
	uint64_t file_off;
	uint64_t read_ns;
	uint64_t used; /* when it was asked for last, in questions */
	size_t n;
};

static struct {
	pthread_mutex_t lock;
	uint64_t n_questions;
	struct window windows[N_WINDOWS];
	unsigned char bytes[N_WINDOWS][READER_WINDOW_BYTES];
} cache = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool is_same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool is_of(const struct window *w, const struct stat *st, uint64_t file_off)
{
	return w->st.st_ino == st->st_ino && w->st.st_dev == st->st_dev && st->st_ino != 0 &&
	       w->file_off == file_off && w->st.st_size == st->st_size &&
	       is_same_time(w->st.st_mtim, st->st_mtim) && is_same_time(w->st.st_ctim, st->st_ctim);
}

/* The one that has it, or NULL. */
static struct window *find(const struct stat *st, uint64_t file_off)
{
	for (size_t i = 0; i < N_WINDOWS; i++)
		if (is_of(&cache.windows[i], st, file_off))
			return &cache.windows[i];
	return NULL;
}

static struct window *least_used(void)
{
	struct window *least = &cache.windows[0];

	for (size_t i = 1; i < N_WINDOWS; i++)
		if (cache.windows[i].used < least->used)
			least = &cache.windows[i];
	return least;
}

ssize_t reader_cache_get(const struct stat *st, uint64_t file_off, void *dst, size_t n)
{
	uint64_t in_window = file_off % READER_WINDOW_BYTES;
	ssize_t got = -1;

	pthread_mutex_lock(&cache.lock);
	struct window *w = find(st, file_off - in_window);
	if (w && clock_mono_ns() - w->read_ns <= MAX_AGE_NS) {
		got = in_window < w->n ? (ssize_t)MIN_OF(n, w->n - in_window) : 0;
		memcpy(dst, cache.bytes[w - cache.windows] + in_window, (size_t)got);
		w->used = ++cache.n_questions;
	}
	pthread_mutex_unlock(&cache.lock);
	return got;
}

void reader_cache_put(const struct stat *st, uint64_t file_off, const void *bytes, size_t n)
{
	pthread_mutex_lock(&cache.lock);
	struct window *w = find(st, file_off);
	if (!w)
		w = least_used();
	*w = (struct window){ .st = *st,
			      .file_off = file_off,
			      .read_ns = clock_mono_ns(),
			      .used = ++cache.n_questions,
			      .n = n };
	memcpy(cache.bytes[w - cache.windows], bytes, n);
	pthread_mutex_unlock(&cache.lock);
}
