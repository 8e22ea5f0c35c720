/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells when a file may be another one.
 *
 * After each change the way to the file is walked again. Watches are added before those that are needed no more are removed, and
 * all of it before the caller is told and reads: what changes meanwhile is told once more.
 */
#include "agent/component/file/path_watch.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include "agent/util/buf.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

/* So long a writer has to finish what it began: one write is often several changes. */
#define SETTLE_NS (30 * NS_PER_MS)
/* The kernel follows as many links (path_resolution(7)). */
#define MAX_LINKS 40
/* Each link and the file; the file once more for what is written into it. */
#define MAX_WATCHES (MAX_LINKS + 2)
#define EVENT_BYTES (16 * (sizeof(struct inotify_event) + NAME_MAX + 1))

#define DIRECTORY_EVENTS                                                                       \
	(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | \
	 IN_ONLYDIR)
/* Also of a directory: then the file is whatever is in it. */
#define FILE_EVENTS                                                                           \
	(IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_CREATE | \
	 IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO)

struct watched {
	int wd;
	char *name; /* in a directory; NULL: everything about it */
};

struct path_watch {
	int fd;
	struct loop_io *io;
	struct loop_timer *timer;
	bool armed;
	char *path;
	struct watched items[MAX_WATCHES];
	size_t n;
	void (*changed)(void *data);
	void *data;
};

/* The way to the file: what is done, without links, and what is left. */
struct way {
	struct path_watch *w;
	struct buf done;
	struct buf rest;
	unsigned int n_links;
};

static int watch_add(struct path_watch *w, const char *path, uint32_t events, const char *name)
{
	struct watched item = { .wd = -1, .name = NULL };

	if (w->n == MAX_WATCHES)
		return -ELOOP;
	item.wd = inotify_add_watch(w->fd, path, events);
	if (item.wd < 0)
		return -errno;
	if (name) {
		item.name = strdup(name);
		if (!item.name)
			return -ENOMEM;
	}
	w->items[w->n++] = item;
	return 0;
}

/* Cuts the first name off what is left; false at the end. */
static bool way_next(struct way *way, char *name, size_t n_name)
{
	const char *text = buf_str(&way->rest);
	size_t skip = strspn(text, "/");
	size_t n = strcspn(text + skip, "/");

	if (n == 0 || n >= n_name)
		return false;
	memcpy(name, text + skip, n);
	name[n] = '\0';
	_cleanup_buf_ struct buf rest = BUF_INIT(way->rest.max_bytes);
	(void)buf_append_str(&rest, text + skip + n);
	buf_reset(&way->rest);
	(void)buf_append_str(&way->rest, buf_str(&rest));
	return true;
}

static bool way_is_at_end(const struct way *way)
{
	const char *text = buf_str(&way->rest);

	return text[strspn(text, "/")] == '\0';
}

static const char *way_directory(const struct way *way)
{
	return way->done.len > 0 ? buf_str(&way->done) : ".";
}

static int follow(struct way *way, const char *link)
{
	_cleanup_buf_ struct buf rest = BUF_INIT(way->rest.max_bytes);
	char target[PATH_MAX];
	ssize_t n = readlink(link, target, sizeof(target) - 1);

	if (n < 0)
		return -errno;
	if (++way->n_links > MAX_LINKS)
		return -ELOOP;
	target[n] = '\0';
	(void)buf_printf(&rest, "%s%s", target, buf_str(&way->rest));
	buf_reset(&way->rest);
	if (target[0] == '/') {
		buf_reset(&way->done);
		(void)buf_append_char(&way->done, '/');
	}
	return buf_append_str(&way->rest, buf_str(&rest));
}

/* One name on the way: 1 when it was the last that there is. */
static int step(struct way *way, const char *name)
{
	_cleanup_buf_ struct buf path = BUF_INIT(2 * PATH_MAX);
	struct stat st;

	(void)buf_printf(&path, "%s%s%s", buf_str(&way->done),
			 way->done.len && way->done.data[way->done.len - 1] != '/' ? "/" : "",
			 name);
	bool there = lstat(buf_str(&path), &st) == 0;
	bool link = there && S_ISLNK(st.st_mode);
	bool last = !there || (!link && way_is_at_end(way));
	int r = link || last ? watch_add(way->w, way_directory(way), DIRECTORY_EVENTS, name) : 0;
	if (r < 0)
		return r;
	if (link)
		return follow(way, buf_str(&path));
	if (there && last)
		(void)watch_add(way->w, buf_str(&path), FILE_EVENTS, NULL);
	if (last)
		return 1;
	buf_reset(&way->done);
	return buf_append_str(&way->done, buf_str(&path));
}

static void way_fini(struct way *way)
{
	buf_fini(&way->done);
	buf_fini(&way->rest);
}

static int walk(struct path_watch *w)
{
	_cleanup_(way_fini) struct way way = {
		.w = w,
		.done = BUF_INIT(2 * PATH_MAX),
		.rest = BUF_INIT(4 * PATH_MAX),
	};
	char name[NAME_MAX + 1];
	int r = 0;

	if (w->path[0] == '/')
		(void)buf_append_char(&way.done, '/');
	(void)buf_append_str(&way.rest, w->path);
	while (r == 0 && way_next(&way, name, sizeof(name)))
		r = step(&way, name);
	return r < 0 ? r : 0;
}

static bool is_watched(const struct path_watch *w, int wd)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->items[i].wd == wd)
			return true;
	return false;
}

static int watch_again(struct path_watch *w)
{
	struct watched old[MAX_WATCHES];
	size_t n_old = w->n;

	memcpy(old, w->items, sizeof(old));
	w->n = 0;
	int r = walk(w);
	for (size_t i = 0; i < n_old; i++) {
		if (!is_watched(w, old[i].wd))
			(void)inotify_rm_watch(w->fd, old[i].wd);
		free(old[i].name);
	}
	return r;
}

static bool concerns(const struct path_watch *w, const struct inotify_event *e)
{
	if (e->mask & IN_Q_OVERFLOW)
		return true;
	for (size_t i = 0; i < w->n; i++) {
		const struct watched *item = &w->items[i];

		if (item->wd != e->wd)
			continue;
		if (!item->name || e->len == 0 || strcmp(item->name, e->name) == 0)
			return true;
	}
	return false;
}

static void on_events(uint32_t events, void *data)
{
	struct path_watch *w = data;
	union {
		struct inotify_event event;
		char bytes[EVENT_BYTES];
	} read_;
	bool concerned = false;
	ssize_t n = read(w->fd, read_.bytes, sizeof(read_.bytes));

	(void)events;
	for (ssize_t at = 0; at < n;) {
		const struct inotify_event *e = (const void *)(read_.bytes + at);

		concerned |= concerns(w, e);
		at += (ssize_t)(sizeof(*e) + e->len);
	}
	/* Not put off again: a file that is always written to would never be read. */
	if (!concerned || w->armed)
		return;
	w->armed = true;
	loop_timer_arm(w->timer, clock_mono_ns() + SETTLE_NS);
}

static void on_timer(void *data)
{
	struct path_watch *w = data;

	w->armed = false;
	(void)watch_again(w);
	w->changed(w->data);
}

static int watch_open(struct path_watch *w, struct loop *loop, const char *path)
{
	w->path = strdup(path);
	if (!w->path)
		return -ENOMEM;
	w->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (w->fd < 0)
		return -errno;
	int r = loop_timer_new(loop, on_timer, w, &w->timer);
	if (r < 0)
		return r;
	r = loop_io_new(loop, w->fd, EPOLLIN, on_events, w, &w->io);
	if (r < 0)
		return r;
	return watch_again(w);
}

int path_watch_new(struct loop *loop, const char *path, void (*changed)(void *data), void *data,
		   struct path_watch **ret_watch)
{
	_cleanup_(path_watch_freep) struct path_watch *w = calloc(1, sizeof(*w));

	assert(changed);
	if (!w)
		return -ENOMEM;
	w->fd = -1;
	w->changed = changed;
	w->data = data;
	int r = watch_open(w, loop, path);
	if (r < 0)
		return r;
	*ret_watch = TAKE_PTR(w);
	return 0;
}

void path_watch_free(struct path_watch *w)
{
	if (!w)
		return;
	loop_io_free(w->io);
	loop_timer_free(w->timer);
	if (w->fd >= 0)
		(void)close(w->fd);
	for (size_t i = 0; i < w->n; i++)
		free(w->items[i].name);
	free(w->path);
	free(w);
}
