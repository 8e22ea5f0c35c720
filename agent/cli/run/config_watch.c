/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inotify on the way to the configuration: on each directory in which a name of that way is looked up (symlink_walk.h), on the
 * directory of a configuration of many files, and on the files themselves, which may be written to through another name.
 *
 * An event only says that it is time to look. Once no more came for a moment, the files are read; what was loaded or refused
 * before is not loaded again. So nothing is lost by events of others in these directories, and an editor that writes a file in
 * steps causes one load.
 */
#include "agent/cli/run/config_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>

#include "agent/cli/run/agent.h"
#include "agent/cli/run/symlink_walk.h"
#include "agent/util/clock.h"
#include "agent/util/log.h"

/* Quiet for this long means that whoever writes is done; and at the latest after the second. */
#define QUIET_NS (200 * NS_PER_MS)
#define PATIENCE_NS (2 * NS_PER_S)
/* The names of a path and of its links, and every file of a directory. */
#define MAX_WATCHES (SYMLINK_WALK_MAX_LINKS * 16 + CONFIG_FILES_MAX)

#define ENTRY_EVENTS                                                                             \
	(IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CLOSE_WRITE | IN_DELETE_SELF | \
	 IN_MOVE_SELF | IN_ONLYDIR)
#define FILE_EVENTS (IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF)

/* One name that matters; "" stands for each name of the directory, and for the watched file itself. */
struct watched {
	int wd;
	char name[NAME_MAX + 1];
};

struct config_watch {
	struct agent *a;
	int fd;
	struct loop_io *io;
	struct loop_timer *timer;
	uint64_t first_event_ns; /* of those not looked at; 0: none */
	struct watched *items;
	size_t n;
	bool full_said;
};

static bool is_watched(const struct config_watch *w, int wd, const char *name)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->items[i].wd == wd &&
		    (!w->items[i].name[0] || strcmp(w->items[i].name, name) == 0))
			return true;
	return false;
}

static void watch(struct config_watch *w, const char *path, const char *name, uint32_t events)
{
	int wd = w->n < MAX_WATCHES ? inotify_add_watch(w->fd, path, events) : -1;
	struct watched *items;

	if (wd < 0) {
		if (!w->full_said && (errno == ENOSPC || w->n >= MAX_WATCHES))
			log_warn("not all changes of the configuration will be seen: "
				 "fs.inotify.max_user_watches is reached");
		w->full_said = true;
		return;
	}
	if (is_watched(w, wd, name))
		return;
	items = reallocarray(w->items, w->n + 1, sizeof(*items));
	if (!items)
		return;
	w->items = items;
	items[w->n] = (struct watched){ .wd = wd };
	(void)snprintf(items[w->n++].name, sizeof(items->name), "%s", name);
}

static void on_step(const char *dir, const char *name, int last, void *data)
{
	(void)last;
	/* One directory may be watched for several names; the mask is the same, so none of them is lost. */
	watch(data, dir, name, ENTRY_EVENTS);
}

static void watch_files(struct config_watch *w, const char *path)
{
	_cleanup_config_texts_ struct config_texts names = { 0 };

	if (config_names_read(path, &names) < 0)
		return;
	for (size_t i = 0; i < names.n; i++) {
		(void)symlink_walk(names.sources[i].file, on_step, w);
		watch(w, names.sources[i].file, "", FILE_EVENTS);
	}
}

static void drop_watches(struct config_watch *w)
{
	for (size_t i = 0; i < w->n; i++)
		(void)inotify_rm_watch(w->fd, w->items[i].wd);
	free(w->items);
	w->items = NULL;
	w->n = 0;
}

void config_watch_look(struct config_watch *w)
{
	const char *path = w->a->options.config.path;

	drop_watches(w);
	(void)symlink_walk(path, on_step, w);
	watch(w, path, "", ENTRY_EVENTS);
	watch_files(w, path);
}

static bool matters(const struct config_watch *w, const struct inotify_event *event)
{
	if (event->mask & IN_Q_OVERFLOW)
		return true;
	/* Of a watch that we took back ourselves. */
	if (event->mask & IN_IGNORED)
		return false;
	for (size_t i = 0; i < w->n; i++) {
		const struct watched *item = &w->items[i];

		if (item->wd != event->wd)
			continue;
		if (!item->name[0] || event->len == 0 || strcmp(item->name, event->name) == 0)
			return true;
	}
	return false;
}

static void arm(struct config_watch *w)
{
	uint64_t now = clock_mono_ns();

	if (w->first_event_ns == 0)
		w->first_event_ns = now;
	uint64_t latest = w->first_event_ns + PATIENCE_NS;
	loop_timer_arm(w->timer, now + QUIET_NS < latest ? now + QUIET_NS : latest);
}

static void on_events(uint32_t events, void *data)
{
	struct config_watch *w = data;
	union {
		struct inotify_event event; /* for its alignment */
		char bytes[16 * (sizeof(struct inotify_event) + NAME_MAX + 1)];
	} u;
	bool yes = false;
	ssize_t n;

	(void)events;
	while ((n = read(w->fd, u.bytes, sizeof(u.bytes))) > 0)
		for (char *at = u.bytes; at < u.bytes + n;) {
			const struct inotify_event *event = (const struct inotify_event *)at;

			yes = yes || matters(w, event);
			at += sizeof(*event) + event->len;
		}
	if (yes)
		arm(w);
}

/* Whether what lies there is other than what was last loaded or refused. */
static bool has_changed(const struct config_watch *w)
{
	_cleanup_config_texts_ struct config_texts texts = { 0 };
	_cleanup_buf_ struct buf why = BUF_INIT(8192);
	char hash[CONFIG_HASH_BYTES] = "";

	if (config_texts_read(&w->a->options.config, &why, &texts) == 0)
		config_texts_hash(&texts, hash);
	return strcmp(hash, w->a->tried_hash) != 0;
}

static void on_timer(void *data)
{
	struct config_watch *w = data;
	_cleanup_buf_ struct buf why = BUF_INIT(AGENT_WHY_MAX_BYTES);

	w->first_event_ns = 0;
	config_watch_look(w);
	if (!w->a->ready || !has_changed(w))
		return;
	log_info_always("the configuration has changed, loading it",
			LOG_STR("path", w->a->options.config.path));
	(void)agent_reload(w->a, &why);
}

int config_watch_new(struct agent *a, struct config_watch **ret_watch)
{
	_cleanup_(config_watch_freep) struct config_watch *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return -ENOMEM;
	w->a = a;
	w->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (w->fd < 0)
		return -errno;
	r = loop_timer_new(a->loop, on_timer, w, &w->timer);
	if (r < 0)
		return r;
	r = loop_io_new(a->loop, w->fd, EPOLLIN, on_events, w, &w->io);
	if (r < 0)
		return r;
	*ret_watch = TAKE_PTR(w);
	return 0;
}

void config_watch_free(struct config_watch *w)
{
	if (!w)
		return;
	loop_io_free(w->io);
	loop_timer_free(w->timer);
	if (w->fd >= 0)
		(void)close(w->fd);
	free(w->items);
	free(w);
}
