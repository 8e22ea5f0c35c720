/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discovery.file: targets that files list.
 *
 * A file is read when inotify says that it is another one, and all of them every refresh_interval, for what inotify cannot see.
 */
#include "agent/component/kinds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/component/file/path_watch.h"
#include "agent/component/target_maps.h"
#include "agent/discovery/file_targets.h"
#include "agent/util/clock.h"
#include "agent/util/log.h"

/* A quarter of the inotify instances that Linux lets a user have (fs.inotify.max_user_instances is 128). */
#define MAX_WATCHES 32

struct file_args {
	struct river_strings files;
	int64_t refresh_interval_ns;
};

struct file_discovery {
	struct component *c;
	const struct file_args *args;
	struct file_targets targets;
	struct path_watch *watches[MAX_WATCHES];
	size_t n_watches;
	struct loop_timer *timer;
	bool running;
};

static const char *validate_files(const void *field, struct river_arena *arena)
{
	const struct river_strings *files = field;
	_cleanup_buf_ struct buf text = BUF_INIT(COMPONENT_MESSAGE_MAX);

	if (files->n_items == 0)
		return "files must contain at least one path name";
	for (size_t i = 0; i < files->n_items; i++) {
		if (file_targets_path_ok(files->items[i]))
			continue;
		(void)buf_printf(&text, "path name \"%.300s\" is not valid for file discovery",
				 files->items[i]);
		const char *copy = river_arena_strndup(arena, buf_str(&text), text.len);
		return copy ? copy : "a path name is not valid for file discovery";
	}
	return NULL;
}

static const char *validate_interval(const void *field, struct river_arena *arena)
{
	(void)arena;
	return *(const int64_t *)field > 0 ? NULL : "refresh_interval must be greater than 0";
}

static const struct river_field file_fields[] = {
	RIVER_FIELD_STRING_LIST(struct file_args, files, "files", .flags = RIVER_REQUIRED,
				.validate = validate_files),
	RIVER_FIELD_DURATION(struct file_args, refresh_interval_ns, "refresh_interval", .def = "5m",
			     .validate = validate_interval),
};

static const struct river_schema file_schema =
	RIVER_SCHEMA(struct file_args, "discovery.file", file_fields);

static void log_problems(const struct file_discovery *d)
{
	for (size_t i = 0; i < d->targets.n_files; i++) {
		const struct file_targets_file *f = &d->targets.files[i];

		if (f->problem_is_new)
			log_warn("cannot take targets from a file, its last ones stay",
				 LOG_STR("component_id", d->c->id), LOG_STR("path", f->path),
				 LOG_STR("reason", f->problem));
	}
}

/* The first problem, and how many more there are; 0 of them: nothing. */
static size_t describe_problems(const struct file_targets *t, struct buf *text)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_files; i++) {
		const struct file_targets_file *f = &t->files[i];

		if (f->problem && n++ == 0)
			(void)buf_printf(text, "%.200s: %.200s", f->path, f->problem);
	}
	if (n > 1)
		(void)buf_printf(text, "; and %zu more files", n - 1);
	if (t->n_files_left_out > 0)
		(void)buf_printf(text, "%s%zu files left out: more than %d", n > 0 ? "; " : "",
				 t->n_files_left_out, FILE_TARGETS_MAX_FILES);
	return n + t->n_files_left_out;
}

static void tell(struct file_discovery *d)
{
	_cleanup_buf_ struct buf text = BUF_INIT(COMPONENT_MESSAGE_MAX);
	bool bad = describe_problems(&d->targets, &text) > 0;

	log_problems(d);
	if (!bad)
		(void)buf_printf(&text, "%zu targets from %zu files", d->targets.n_targets,
				 d->targets.n_files);
	component_set_health(d->c, bad ? HEALTH_UNHEALTHY : HEALTH_HEALTHY, buf_str(&text));
}

static void refresh(struct file_discovery *d)
{
	bool changed = false;
	int r = file_targets_refresh(&d->targets, d->args->files.items, d->args->files.n_items,
				     &changed);

	if (r < 0) {
		component_set_health(d->c, HEALTH_UNHEALTHY, "not enough memory");
		log_error("cannot read the files", LOG_STR("component_id", d->c->id), LOG_ERR(r));
	} else {
		tell(d);
	}
	if (changed)
		component_exports_changed(d->c);
}

static void on_changed(void *data)
{
	refresh(data);
}

static void on_timer(void *data)
{
	struct file_discovery *d = data;

	loop_timer_arm(d->timer, clock_mono_ns() + (uint64_t)d->args->refresh_interval_ns);
	refresh(d);
}

/* What has to be watched for a name: itself, or of a pattern the directory, whose slash is cut. */
static void watched_path(const char *file, struct buf *path)
{
	const char *slash = strrchr(file, '/');

	if (!file_targets_is_pattern(file))
		(void)buf_append_str(path, file);
	else if (!slash)
		(void)buf_append_char(path, '.');
	else
		(void)buf_append(path, file, slash == file ? 1 : (size_t)(slash - file));
}

static bool is_watched(const struct file_discovery *d, size_t n_files, const char *path)
{
	for (size_t i = 0; i < n_files; i++) {
		_cleanup_buf_ struct buf other = BUF_INIT(1 << 16);

		watched_path(d->args->files.items[i], &other);
		if (strcmp(buf_str(&other), path) == 0)
			return true;
	}
	return false;
}

/* Without a watch a file is still read every refresh_interval. */
static int add_watch(struct file_discovery *d, const char *path)
{
	int r;

	if (d->n_watches == MAX_WATCHES)
		return -ENOSPC;
	r = path_watch_new(d->c->env->loop, path, on_changed, d, &d->watches[d->n_watches]);
	if (r < 0)
		return r;
	d->n_watches++;
	return 0;
}

static void watch_file(struct file_discovery *d, size_t i_file)
{
	_cleanup_buf_ struct buf path = BUF_INIT(1 << 16);
	int r;

	watched_path(d->args->files.items[i_file], &path);
	if (is_watched(d, i_file, buf_str(&path)))
		return;
	r = add_watch(d, buf_str(&path));
	if (r < 0)
		log_warn("cannot watch the path, it is read every refresh_interval",
			 LOG_STR("component_id", d->c->id), LOG_STR("path", buf_str(&path)),
			 LOG_ERR(r));
}

static void unwatch(struct file_discovery *d)
{
	while (d->n_watches > 0) {
		d->n_watches--;
		path_watch_free(TAKE_PTR(d->watches[d->n_watches]));
	}
}

static void begin(struct file_discovery *d)
{
	unwatch(d);
	for (size_t i = 0; i < d->args->files.n_items; i++)
		watch_file(d, i);
	on_timer(d);
}

static int file_build(struct component *c, const void *args, struct buf *why)
{
	struct file_discovery *d = calloc(1, sizeof(*d));

	(void)why;
	if (!d)
		return -ENOMEM;
	c->state = d;
	d->c = c;
	d->args = args;
	file_targets_init(&d->targets);
	return loop_timer_new(c->env->loop, on_timer, d, &d->timer);
}

static int file_run(struct component *c, struct buf *why)
{
	struct file_discovery *d = c->state;

	(void)why;
	d->running = true;
	begin(d);
	return 0;
}

static int file_update(struct component *c, const void *args, struct buf *why)
{
	struct file_discovery *d = c->state;

	(void)why;
	d->args = args;
	if (d->running)
		begin(d);
	return 0;
}

static void file_stop(struct component *c)
{
	struct file_discovery *d = c->state;

	if (!d)
		return;
	unwatch(d);
	loop_timer_free(d->timer);
	file_targets_fini(&d->targets);
	free(d);
	c->state = NULL;
}

static int file_exports(struct component *c, struct river_arena *arena,
			const struct river_value **ret_exports)
{
	const struct file_discovery *d = c->state;
	_cleanup_target_list_ struct target_list list = { 0 };
	int r = file_targets_get(&d->targets, &list);

	return r < 0 ? r : target_maps_export(arena, list.items, list.n, ret_exports);
}

static const struct river_value *file_value(struct river_arena *arena,
					    const struct file_targets_file *f)
{
	const char *problem = f->problem ? f->problem : "";
	struct river_member members[] = {
		{ "path", river_value_string(arena, f->path, strlen(f->path)) },
		{ "targets", river_value_uint(arena, f->targets.n) },
		{ "problem", river_value_string(arena, problem, strlen(problem)) },
	};

	return members[0].value && members[1].value && members[2].value
		       ? river_value_object(arena, members, 3)
		       : NULL;
}

static int file_debug(struct component *c, struct river_arena *arena,
		      const struct river_value **ret_info)
{
	const struct file_discovery *d = c->state;
	size_t n = d ? d->targets.n_files : 0;
	const struct river_value **items = river_arena_alloc(arena, (n + 1) * sizeof(*items));
	struct river_member member = { .key = "files" };

	for (size_t i = 0; items && i < n; i++) {
		items[i] = file_value(arena, &d->targets.files[i]);
		if (!items[i])
			return -ENOMEM;
	}
	member.value = items ? river_value_array(arena, items, n) : NULL;
	*ret_info = member.value ? river_value_object(arena, &member, 1) : NULL;
	return *ret_info ? 0 : -ENOMEM;
}

const struct component_kind discovery_file_kind = {
	.name = "discovery.file",
	.schema = &file_schema,
	.wants_label = true,
	.finds_containers = true,
	.build = file_build,
	.run = file_run,
	.update = file_update,
	.stop = file_stop,
	.exports = file_exports,
	.debug_info = file_debug,
};
